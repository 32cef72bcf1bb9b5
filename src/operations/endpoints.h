/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflows as HTTP endpoints (docs/design/0018-http-endpoints.md): which one a request is for, and
 * its delivery. An interface finds the endpoint, checks what it demands, then hands it the request:
 *
 *     pawl__op_endpoint_find(op, &question, &endpoint)       404, 500
 *     …  authorize, policy, signature                        401, 403
 *     pawl__op_endpoint_kept(op, …, &request, key, &kept)    a reply that the request got before
 *     pawl__op_endpoint_request(op, &endpoint, &request, key, done, ctx)    413, 415
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
    bool is_trigger;             /* else a bookmark, */
    struct pawl_str bookmark_id; /* this one */
    int64_t bookmark_created_us;
    struct pawl_str hash;
    struct pawl_str correlation_id;
    bool authorize;
    struct pawl_str policy;     /* "": none */
    int64_t timeout_ns;         /* 0: the setting's */
    struct pawl_json signature; /* null: none */
    struct pawl_json limits;    /* base/http_limits.h */
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
 * this returns PAWL_OK, `done` was called, or will be, once; else it is not called. A request over
 * the limits of an endpoint that is waited at is replied to at once, and not delivered.
 * PAWL_ENOTFOUND: somebody else was quicker. PAWL_ECONFLICT: the key was used for another request,
 * or its reply is not there yet. PAWL_EEXISTS: the activation strategy lets no instance start, or
 * there is one with the id. PAWL_EBUSY, PAWL_EUNAVAILABLE: too many wait, or the node is paused.
 */
PAWL_MUST_CHECK int pawl__op_endpoint_request(const struct pawl_op *op,
                                              const struct pawl_endpoint *endpoint,
                                              const struct pawl_json *request, struct pawl_str key,
                                              pawl_endpoint_done_fn *done, void *ctx);

/* What a request with a key was replied. In op->arena. */
struct pawl_kept_reply {
    struct pawl_endpoint demands; /* what it was let in by: authorize, policy, signature alone */
    struct pawl_json reply;
};

/*
 * The reply that the same request with the same key got before. Whoever sends it must meet the
 * demands now, too. `hash`: of the endpoint; "": of any that the question matches, for when nobody
 * waits there any more. PAWL_ENOTFOUND: there is none. PAWL_ECONFLICT: it was another request.
 * PAWL_EEXISTS: it was replied to, and the reply was too large to be kept.
 */
PAWL_MUST_CHECK int pawl__op_endpoint_kept(const struct pawl_op *op,
                                           const struct pawl_endpoint_question *question,
                                           struct pawl_str hash, const struct pawl_json *request,
                                           struct pawl_str key, struct pawl_kept_reply *out);

#endif
