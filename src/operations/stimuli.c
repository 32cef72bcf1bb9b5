/* SPDX-License-Identifier: Apache-2.0 */
/* Sending; see stimuli.h. */
#include "operations/stimuli_private.h"

#include "base/error.h"
#include "base/hash/stimulus.h"
#include "operations/query.h"

static struct pawl_stimulus address(const struct pawl_op *op,
                                    const struct pawl_send_request *request)
{
    return (struct pawl_stimulus){
        .correlation_id = request->correlation_id,
        .instance_id = request->instance_id,
        .activity_instance_id = request->activity_instance_id,
        .idempotency_key = request->idempotency_key,
        .input = request->input,
        .detached = request->detached,
        .traceparent = op->traceparent,
    };
}

static int check_name(const struct pawl_op *op, const struct pawl_send_request *request,
                      const char *what)
{
    if (request->name.len > 0)
        return PAWL_OK;
    return pawl__error_set(op->err, PAWL_EINVAL, "%s needs a name", what);
}

static int finish(int status, const struct pawl_sent *sent, struct pawl_send_result *out)
{
    if (status == PAWL_OK)
        *out = (struct pawl_send_result){
            .started = sent->started, .resumed = sent->resumed, .parked = sent->parked};
    return status;
}

int op_event_send(const struct pawl_op *op, const struct pawl_send_request *request,
                  struct pawl_reach *reach, struct pawl_send_result *out)
{
    struct pawl_stimulus stimulus = address(op, request);
    struct pawl_sent sent = {0};
    int status = check_name(op, request, "an event");

    stimulus.reach = reach;
    if (status == PAWL_OK)
        status = pawl__runtime_send_event(op_runtime(op), request->name, request->payload,
                                          &stimulus, &sent, op->deadline_ns, op->err);
    return finish(status, &sent, out);
}

int pawl__op_event_send(const struct pawl_op *op, const struct pawl_send_request *request,
                        struct pawl_send_result *out)
{
    return op_event_send(op, request, NULL, out);
}

int pawl__op_stimulus_send(const struct pawl_op *op, const struct pawl_send_request *request,
                           struct pawl_send_result *out)
{
    struct pawl_stimulus stimulus = address(op, request);
    char hash[PAWL_SHA256_TEXT_SIZE];
    struct pawl_sent sent = {0};
    int status = check_name(op, request, "a stimulus");

    if (status != PAWL_OK)
        return status;
    status = pawl__stimulus_hash(&op_env(op)->alloc, request->name, request->payload, pawl__str(""),
                                 hash);
    if (status != PAWL_OK)
        return pawl__error_code(op->err, status);
    stimulus.hash = pawl__str(hash);
    if (pawl__json_is(&stimulus.input, PAWL_JSON_NULL))
        stimulus.input = pawl__json_object();
    status = pawl__runtime_send(op_runtime(op), &stimulus, &sent, op->deadline_ns, op->err);
    return finish(status, &sent, out);
}
