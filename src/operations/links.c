/* SPDX-License-Identifier: Apache-2.0 */
/* What links do; see links.h. */
#include "operations/links.h"

#include "base/error.h"
#include "host/links.h"
#include "operations/instances.h"
#include "operations/query.h"

int pawl__op_link_make(const struct pawl_op *op, const struct pawl_link_request *request,
                       struct pawl_str *token)
{
    struct pawl_link link = {.event = request->event,
                             .bookmark_id = request->bookmark_id,
                             .instance_id = request->instance_id};

    if ((request->event.len > 0) == (request->bookmark_id.len > 0))
        return pawl__error_set(op->err, PAWL_EINVAL, "a link is for an event or for a bookmark");
    if (request->bookmark_id.len > 0 && request->instance_id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "a bookmark is of an instance: name it");
    if (request->life_s != 0)
        link.expires_s = pawl_env_wall_ns(op_env(op)) / 1000000000 + request->life_s;
    return pawl__link_make(op->host, &link, op->arena, token, op->deadline_ns, op->err);
}

static int read(const struct pawl_op *op, struct pawl_str token, bool is_event,
                struct pawl_link *out)
{
    int status = pawl__link_read(op->host, token, op->arena, out, op->deadline_ns, op->err);

    if (status == PAWL_OK && (is_event ? out->event : out->bookmark_id).len == 0)
        status = pawl__error_set(op->err, PAWL_EPERM, "Invalid token.");
    return status;
}

int pawl__op_link_send(const struct pawl_op *op, struct pawl_str token,
                       struct pawl_send_result *out)
{
    struct pawl_link link = {.event = pawl__str(""), .instance_id = pawl__str("")};
    int status = read(op, token, true, &link);
    const struct pawl_send_request send = {.name = link.event,
                                           .instance_id = link.instance_id,
                                           .correlation_id = pawl__str(""),
                                           .activity_instance_id = pawl__str(""),
                                           .idempotency_key = pawl__str(""),
                                           .detached = true};

    return status == PAWL_OK ? pawl__op_event_send(op, &send, out) : status;
}

int pawl__op_link_check(const struct pawl_op *op, struct pawl_str token)
{
    struct pawl_link link;

    return read(op, token, false, &link);
}

int pawl__op_link_resume(const struct pawl_op *op, struct pawl_str token,
                         const struct pawl_json *input)
{
    struct pawl_instance_result result;
    struct pawl_run run = {.activity_id = pawl__str(""), .activity_instance_id = pawl__str("")};
    struct pawl_link link;
    int status = read(op, token, false, &link);

    if (status != PAWL_OK)
        return status;
    run.bookmark_id = link.bookmark_id;
    run.input = input ? *input : pawl__json_null();
    status = pawl__op_instance_resume(op, link.instance_id, &run, false, &result);
    /* It has ended or gone: there is nothing to resume. */
    return status == PAWL_ECONFLICT || status == PAWL_ENOTFOUND ? PAWL_OK : status;
}
