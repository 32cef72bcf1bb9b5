/* SPDX-License-Identifier: Apache-2.0 */
/* Events, stimuli for activities of the program's own, and reports of tasks. */
#include "embed/embed.h"

#include "operations/tasks.h"

static void answer(const struct pawl_send_result *sent, struct pawl_send_outcome *out)
{
    if (out)
        *out = (struct pawl_send_outcome){sent->started, sent->resumed, sent->parked};
}

static struct pawl_send_request addressed(const char *name, const struct pawl_send_options *options)
{
    struct pawl_send_request request = {.name = pawl__str(name), .input = pawl__json_object()};

    if (options) {
        request.correlation_id = pawl__str(options->correlation_id);
        request.instance_id = pawl__str(options->instance_id);
        request.idempotency_key = pawl__str(options->idempotency_key);
    }
    return request;
}

static int check_options(const struct pawl_send_options *options, struct pawl_error *err)
{
    int status = PAWL_OK;

    if (!options)
        return PAWL_OK;
    status = pawl__text_check_utf8(options->correlation_id, "the correlation id", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(options->instance_id, "the instance's id", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(options->idempotency_key, "the idempotency key", err);
    return status;
}

int pawl_event_send(struct pawl *pawl, const char *name, const char *payload,
                    const struct pawl_send_options *options, struct pawl_send_outcome *out,
                    struct pawl_error *err)
{
    struct pawl_send_request request;
    struct pawl_send_result sent = {0};
    struct pawl_json value;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, name, "the event's name", err);

    if (status == PAWL_OK)
        status = check_options(options, err);
    if (status != PAWL_OK)
        return status;
    request = addressed(name, options);
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__json_text_read(&arena, payload, "the payload", &value, err);
    if (payload && *payload)
        request.payload = &value;
    if (status == PAWL_OK)
        status = pawl__op_event_send(&op, &request, &sent);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        answer(&sent, out);
    return status;
}

static enum pawl_instance_status status_of(enum pawl_sub_status status)
{
    return pawl__embed_status(pawl__str(pawl__sub_status_name(status)));
}

int pawl_event_send_wait(struct pawl *pawl, const char *name, const char *payload,
                         const struct pawl_send_options *options, int64_t timeout_ms,
                         void (*each)(void *ctx, const struct pawl_event_instance *instance),
                         void *ctx, struct pawl_send_outcome *out, struct pawl_error *err)
{
    struct pawl_event_result result = {.count = 0};
    struct pawl_send_request request;
    struct pawl_json value;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, name, "the event's name", err);

    if (status == PAWL_OK)
        status = check_options(options, err);
    if (status != PAWL_OK)
        return status;
    request = addressed(name, options);
    op = pawl__embed_begin(pawl, &arena, err);
    op.deadline_ns = pawl__embed_after_ms(pawl, timeout_ms);
    status = pawl__json_text_read(&arena, payload, "the payload", &value, err);
    if (payload && *payload)
        request.payload = &value;
    if (status == PAWL_OK)
        status = pawl__op_event_send_wait(&op, &request, !pawl->duty, &result);
    for (size_t i = 0; status == PAWL_OK && each && i < result.count; i++) {
        const struct pawl_event_outcome *one = &result.instances[i];

        each(ctx, &(struct pawl_event_instance){.instance_id = one->instance_id,
                                                .is_started = one->is_started,
                                                .result = one->status,
                                                .status = status_of(one->sub_status),
                                                .incident_count = one->incident_count});
    }
    if (status == PAWL_OK)
        answer(&result.sent, out);
    pawl__arena_release(&arena);
    return status;
}

int pawl_stimulus_send(struct pawl *pawl, const char *name, const char *payload, const char *input,
                       const struct pawl_send_options *options, struct pawl_send_outcome *out,
                       struct pawl_error *err)
{
    struct pawl_send_request request;
    struct pawl_send_result sent = {0};
    struct pawl_json value;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, name, "the stimulus' name", err);

    if (status == PAWL_OK)
        status = check_options(options, err);
    if (status != PAWL_OK)
        return status;
    request = addressed(name, options);
    request.payload = &value;
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__json_text_read(&arena, payload, "the payload", &value, err);
    if (status == PAWL_OK)
        status = pawl__embed_parse_object(&arena, input, "the input", &request.input, err);
    if (status == PAWL_OK)
        status = pawl__op_stimulus_send(&op, &request, &sent);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        answer(&sent, out);
    return status;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

int pawl_task_report(struct pawl *pawl, const char *task_id, const char *result,
                     struct pawl_send_outcome *out, struct pawl_error *err)
{
    struct pawl_send_result sent = {0};
    struct pawl_json value;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, task_id, "the task's id", err);

    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__json_text_read(&arena, result, "the result", &value, err);
    if (status == PAWL_OK)
        status = pawl__op_task_report(&op, pawl__str(task_id), &value, &sent);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        answer(&sent, out);
    return status;
}
