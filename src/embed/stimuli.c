/* SPDX-License-Identifier: Apache-2.0 */
/* Events, stimuli for activities of the program's own, and reports of tasks. */
#include "embed/embed.h"

#include "base/error.h"
#include "base/stimulus.h"
#include "engine/builder.h"

/* As the activity waits for it, see activities/tasks.c. */
#define TASK_NAME "Elsa.RunTask"
#define TASK_RESULT "RunTaskInput"

static void answer(const struct pawl_sent *sent, struct pawl_send_outcome *out)
{
    if (out)
        *out = (struct pawl_send_outcome){sent->started, sent->resumed, sent->parked};
}

static struct pawl_stimulus addressed(const struct pawl_send_options *options)
{
    struct pawl_stimulus stimulus = {.input = pawl__json_object()};

    if (options) {
        stimulus.correlation_id = pawl__str(options->correlation_id);
        stimulus.instance_id = pawl__str(options->instance_id);
        stimulus.idempotency_key = pawl__str(options->idempotency_key);
    }
    return stimulus;
}

static int check_options(const struct pawl_send_options *options, struct pawl_error *err)
{
    int status = PAWL_OK;

    if (!options)
        return PAWL_OK;
    status = pawl__embed_check_utf8(options->correlation_id, "the correlation id", err);
    if (status == PAWL_OK)
        status = pawl__embed_check_utf8(options->instance_id, "the instance's id", err);
    if (status == PAWL_OK)
        status = pawl__embed_check_utf8(options->idempotency_key, "the idempotency key", err);
    return status;
}

int pawl_event_send(struct pawl *pawl, const char *name, const char *payload,
                    const struct pawl_send_options *options, struct pawl_send_outcome *out,
                    struct pawl_error *err)
{
    const struct pawl_stimulus stimulus = addressed(options);
    bool has_payload = payload && *payload;
    struct pawl_sent sent = {0};
    struct pawl_json value;
    struct pawl_arena arena;
    int status = pawl__embed_check_text(pawl, name, "the event's name", err);

    if (status == PAWL_OK)
        status = check_options(options, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__embed_parse(&arena, payload, "the payload", &value, err);
    if (status == PAWL_OK)
        status =
            pawl__runtime_send_event(pawl->runtime, pawl__str(name), has_payload ? &value : NULL,
                                     &stimulus, &sent, pawl__embed_deadline(pawl), err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        answer(&sent, out);
    return status;
}

/* Sends what matches this name and payload. */
static int send_hashed(struct pawl *pawl, const char *name, const struct pawl_json *payload,
                       const struct pawl_stimulus *stimulus, struct pawl_send_outcome *out,
                       struct pawl_error *err)
{
    struct pawl_stimulus hashed = *stimulus;
    char hash[PAWL_SHA256_TEXT_SIZE];
    struct pawl_sent sent = {0};
    int status =
        pawl__stimulus_hash(&pawl->env->alloc, pawl__str(name), payload, pawl__str(""), hash);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    hashed.hash = pawl__str(hash);
    status = pawl__runtime_send(pawl->runtime, &hashed, &sent, pawl__embed_deadline(pawl), err);
    if (status == PAWL_OK)
        answer(&sent, out);
    return status;
}

int pawl_stimulus_send(struct pawl *pawl, const char *name, const char *payload, const char *input,
                       const struct pawl_send_options *options, struct pawl_send_outcome *out,
                       struct pawl_error *err)
{
    struct pawl_stimulus stimulus = addressed(options);
    struct pawl_json value;
    struct pawl_arena arena;
    int status = pawl__embed_check_text(pawl, name, "the stimulus' name", err);

    if (status == PAWL_OK)
        status = check_options(options, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__embed_parse(&arena, payload, "the payload", &value, err);
    if (status == PAWL_OK)
        status = pawl__embed_parse_object(&arena, input, "the input", &stimulus.input, err);
    if (status == PAWL_OK)
        status = send_hashed(pawl, name, &value, &stimulus, out, err);
    pawl__arena_release(&arena);
    return status;
}

int pawl_task_report(struct pawl *pawl, const char *task_id, const char *result,
                     struct pawl_send_outcome *out, struct pawl_error *err)
{
    struct pawl_stimulus stimulus = {.input = pawl__json_object()};
    struct pawl_json value, payload = pawl__json_object();
    struct pawl_builder b;
    struct pawl_arena arena;
    int status = pawl__embed_check_text(pawl, task_id, "the task's id", err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    b = (struct pawl_builder){.arena = &arena};
    status = pawl__embed_parse(&arena, result, "the result", &value, err);
    if (status == PAWL_OK) {
        pawl__build(&b, &stimulus.input, TASK_RESULT, value);
        pawl__build_text(&b, &payload, "taskId", pawl__str(task_id));
        pawl__build_name(&b, &payload, "_type", "RunTaskStimulus");
        stimulus.idempotency_key = pawl__str(pawl__arena_printf(&arena, "task:%s", task_id));
        if (b.status == PAWL_OK && arena.status != PAWL_OK)
            b.status = arena.status;
        status = b.status == PAWL_OK ? send_hashed(pawl, TASK_NAME, &payload, &stimulus, out, err)
                                     : pawl__error_code(err, b.status);
    }
    pawl__arena_release(&arena);
    return status;
}
