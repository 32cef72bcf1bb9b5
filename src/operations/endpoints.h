/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflows as HTTP endpoints (docs/design/0018-http-endpoints.md): which one a request is for, and
 * its delivery. An interface finds the endpoint, checks what it demands, then hands it the request:
 *
 *     pawl__op_endpoint_find(op, &question, &endpoint)       404, 500
 *     …  authorize, policy, signature, limits                401, 403, 413
 *     pawl__op_endpoint_request(op, &endpoint, &request, done, ctx)
 */
#ifndef PAWL_OPERATIONS_ENDPOINTS_H
#define PAWL_OPERATIONS_ENDPOINTS_H

#include "base/json/json.h"
#include "operations/operation.h"

struct pawl_endpoint_question {
    struct pawl_str method;
    struct pawl_str path;           /* behind the base path, still encoded */
    struct pawl_str instance_id;    /* "": any */
    struct pawl_str correlation_id; /* "": any; a new instance gets it */
};

/* What was found, and what it demands. In op->arena. */
struct pawl_endpoint {
    struct pawl_str template;      /* "/orders/{id}" */
    struct pawl_json route;        /* {"id": "42"} */
    struct pawl_str definition_id; /* of a trigger */
    struct pawl_str version_id;
    struct pawl_str activity_id;
    struct pawl_str instance_id; /* of a bookmark; of a trigger the one that was asked for */
    bool is_trigger;             /* else a bookmark */
    struct pawl_str hash;
    struct pawl_str correlation_id;
    bool authorize;
    struct pawl_str policy;     /* "": none */
    int64_t timeout_ns;         /* 0: the setting's */
    int64_t size_max;           /* -1: none */
    struct pawl_json signature; /* null: none */
};

/*
 * PAWL_ENOTFOUND: nobody waits for such a request. PAWL_ECONFLICT: several do, which op->err names.
 * PAWL_EINVAL: a path that no endpoint can have.
 */
PAWL_MUST_CHECK int pawl__op_endpoint_find(const struct pawl_op *op,
                                           const struct pawl_endpoint_question *question,
                                           struct pawl_endpoint *out);

/* The reply (base/http_message.h), borrowed for the call; NULL unless `status` is PAWL_OK:
 * PAWL_ETIMEDOUT, PAWL_EUNKNOWN (not known to be stored in time), PAWL_ESTOPPED. */
typedef void pawl_endpoint_done_fn(void *ctx, int status, const struct pawl_json *reply);

/*
 * Starts or resumes the instance with the request (base/http_message.h; what is known of the
 * endpoint and of who waits is filled in here). `key`: the caller's Idempotency-Key, "": none. When
 * this returns PAWL_OK, `done` was called, or will be, once; else it is not called. PAWL_ENOTFOUND:
 * somebody else was quicker. PAWL_ECONFLICT: the key was used for another request, or its reply is
 * not there yet. PAWL_EEXISTS: the activation strategy lets no instance start, or there is one with
 * the id. PAWL_EBUSY, PAWL_EUNAVAILABLE: too many wait, or the node is paused.
 */
PAWL_MUST_CHECK int pawl__op_endpoint_request(const struct pawl_op *op,
                                              const struct pawl_endpoint *endpoint,
                                              const struct pawl_json *request, struct pawl_str key,
                                              pawl_endpoint_done_fn *done, void *ctx);

/*
 * The reply that the same request with the same key got before, for when nobody waits for it any
 * more: `done` is called with it. PAWL_ENOTFOUND: there is none. PAWL_ECONFLICT: it was another
 * request.
 */
PAWL_MUST_CHECK int pawl__op_endpoint_reply(const struct pawl_op *op,
                                            const struct pawl_endpoint_question *question,
                                            const struct pawl_json *request, struct pawl_str key,
                                            pawl_endpoint_done_fn *done, void *ctx);

#endif
