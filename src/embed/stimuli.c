/* SPDX-License-Identifier: Apache-2.0 */
/* Events, stimuli for activities of the program's own, and tasks that were done. */
#include "embed/embed.h"

#include "operations/tasks.h"

static void copy_result(const struct pawl_send_result *sent, struct pawl_send_outcome *out)
{
    if (out)
        *out = (struct pawl_send_outcome){sent->started, sent->resumed, sent->parked};
}

static const struct pawl_send_options no_options = {0};

/* A call that sends. Not PAWL_OK: there is nothing to end. `value` is where the payload is read to.
 */
static int begin(struct embed_call *call, struct pawl *pawl, struct pawl_send_request *request,
                 const struct pawl_send_options *options, const char *payload,
                 struct pawl_json *value, struct pawl_error *err)
{
    const struct embed_text texts[] = {{options->correlation_id, "the correlation id"},
                                       {options->instance_id, "the instance's id"},
                                       {options->idempotency_key, "the idempotency key"}};
    int status = pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(call, pawl, err);
    if (status != PAWL_OK)
        return status;
    request->input = pawl__json_object();
    request->correlation_id = pawl__str(options->correlation_id);
    request->instance_id = pawl__str(options->instance_id);
    request->idempotency_key = pawl__str(options->idempotency_key);
    request->detached = options->detached != 0;
    status = pawl__json_text_read(&call->arena, payload, "the payload", value, err);
    if (payload && *payload)
        request->payload = value;
    return status == PAWL_OK ? PAWL_OK : pawl__embed_end(call, status);
}

int pawl_event_send(struct pawl *pawl, const char *name, const char *payload,
                    const struct pawl_send_options *options, struct pawl_send_outcome *out,
                    struct pawl_error *err)
{
    struct pawl_send_request request = {.name = pawl__str(name)};
    struct pawl_send_result sent = {0};
    struct pawl_json value;
    struct embed_call call;
    int status = pawl__embed_check_text(pawl, name, "the event's name", err);

    if (status == PAWL_OK)
        status =
            begin(&call, pawl, &request, options ? options : &no_options, payload, &value, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__embed_end(&call, pawl__op_event_send(&call.op, &request, &sent));
    if (status == PAWL_OK)
        copy_result(&sent, out);
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
    struct pawl_send_request request = {.name = pawl__str(name)};
    struct pawl_event_result result = {.count = 0};
    struct pawl_json value;
    struct embed_call call;
    int status = pawl__embed_check_text(pawl, name, "the event's name", err);

    if (status == PAWL_OK)
        status =
            begin(&call, pawl, &request, options ? options : &no_options, payload, &value, err);
    if (status != PAWL_OK)
        return status;
    call.op.deadline_ns = pawl__embed_after_ms(pawl, timeout_ms);
    status = pawl__op_event_send_wait(&call.op, &request, !pawl->duty, &result);
    for (size_t i = 0; status == PAWL_OK && each && i < result.count; i++) {
        const struct pawl_event_outcome *one = &result.instances[i];

        each(ctx, &(struct pawl_event_instance){.instance_id = one->instance_id,
                                                .is_started = one->is_started,
                                                .result = one->status,
                                                .status = status_of(one->sub_status),
                                                .incident_count = one->incident_count});
    }
    if (status == PAWL_OK)
        copy_result(&result.sent, out);
    return pawl__embed_end(&call, status);
}

int pawl_stimulus_send(struct pawl *pawl, const char *name, const char *payload, const char *input,
                       const struct pawl_send_options *options, struct pawl_send_outcome *out,
                       struct pawl_error *err)
{
    struct pawl_send_request request = {.name = pawl__str(name)};
    struct pawl_send_result sent = {0};
    struct pawl_json value;
    struct embed_call call;
    int status = pawl__embed_check_text(pawl, name, "the stimulus' name", err);

    if (status == PAWL_OK)
        status =
            begin(&call, pawl, &request, options ? options : &no_options, payload, &value, err);
    if (status != PAWL_OK)
        return status;
    request.payload = &value; /* of a stimulus, null counts too */
    status = pawl__embed_parse_object(&call.arena, input, "the input", &request.input, err);
    if (status == PAWL_OK)
        status = pawl__op_stimulus_send(&call.op, &request, &sent);
    if (status == PAWL_OK)
        copy_result(&sent, out);
    return pawl__embed_end(&call, status);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

int pawl_task_complete(struct pawl *pawl, const char *task_id, const char *result,
                       struct pawl_send_outcome *out, struct pawl_error *err)
{
    struct pawl_send_result sent = {0};
    struct pawl_json value;
    struct embed_call call;
    int status = pawl__embed_check_text(pawl, task_id, "the task's id", err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__json_text_read(&call.arena, result, "the result", &value, err);
    if (status == PAWL_OK)
        status = pawl__op_task_complete(&call.op, pawl__str(task_id), &value, false, &sent);
    if (status == PAWL_OK)
        copy_result(&sent, out);
    return pawl__embed_end(&call, status);
}
