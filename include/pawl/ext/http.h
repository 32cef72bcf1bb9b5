/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP executor sends the requests of workflows.
 *
 * The runtime submits a request once the commit that asks for it is durable, and a callback reports
 * the result. An executor stores nothing: a request that a crash interrupted is submitted to
 * another node's executor, so a server may see it twice, with the same Idempotency-Key.
 *
 * Three outcomes, not two: when there is no status, `sent` says whether the server may have
 * received the request. Calls may be made from any thread.
 */
#ifndef PAWL_EXT_HTTP_H
#define PAWL_EXT_HTTP_H

#include <pawl/error.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_HTTP_VERSION 1u

struct pawl_http_header {
    struct pawl_str name;
    struct pawl_str value;
};

/* Borrowed for the call of submit(). Nothing is added except what HTTP itself requires. */
struct pawl_http_request {
    struct pawl_str method;
    struct pawl_str url; /* http: or https: */
    const struct pawl_http_header *headers;
    size_t header_count;
    struct pawl_str body;
    bool has_body;
    /* Requests of different scopes never share a connection, not even one after the other, so that
     * none can receive a response meant for another. The runtime uses definition ids. */
    struct pawl_str scope;
};

enum pawl_http_end {
    PAWL_HTTP_ANSWERED,  /* with any status */
    PAWL_HTTP_CONNECT,   /* no connection: unknown host, refused, TLS not trusted */
    PAWL_HTTP_LOST,      /* the connection ended before the response was complete */
    PAWL_HTTP_TIMED_OUT, /* no response in time */
    PAWL_HTTP_TOO_LARGE, /* the response exceeds the limit, or there are too many redirects */
    PAWL_HTTP_DENIED,    /* an address that the configuration forbids; nothing was sent there */
    PAWL_HTTP_INVALID,   /* not a request that can be sent: its URL, method or a header */
    PAWL_HTTP_CANCELLED, /* by cancel(), or the executor is closing */
    /* This process has no memory or no descriptor for it, or could not read a file of its own. The
     * server has no part in that: the runtime sends it again later, as often as it takes. Never
     * together with `sent`: that is LOST. */
    PAWL_HTTP_NO_ROOM,
};

/* Borrowed for the call of done(). */
struct pawl_http_answer {
    enum pawl_http_end end;
    bool sent; /* the server may have received the request */
    /* ANSWERED: */
    int status;
    struct pawl_str url; /* after the last redirect */
    const struct pawl_http_header *headers;
    size_t header_count;
    struct pawl_str body;
    /* Otherwise: what happened, for people. */
    struct pawl_error error;
};

typedef void (*pawl_http_done)(void *ctx, const struct pawl_http_answer *answer);

struct pawl_http_executor;

struct pawl_http_executor_ops {
    uint32_t version; /* PAWL_HTTP_VERSION the table was written for */

    /* Cancels all requests in progress and calls `done` for each. No other call may be in progress.
     */
    void (*close)(struct pawl_http_executor *executor);

    /*
     * Begins a request. After PAWL_OK `done` is called exactly once, on a thread of the executor,
     * perhaps before this returns; it must not block for long. *ticket is for cancel(), and is
     * written before `done` can be called. On error nothing was begun: PAWL_EINVAL, its method, URL
     * or a header cannot be sent; PAWL_EBUSY, too many requests are in progress; PAWL_ENOMEM,
     * PAWL_EUNAVAILABLE, PAWL_EIO, this process lacks something for now: as PAWL_HTTP_NO_ROOM;
     * PAWL_EMISSING; PAWL_ESTOPPED.
     */
    int (*submit)(struct pawl_http_executor *executor, const struct pawl_http_request *request,
                  pawl_http_done done, void *ctx, uint64_t *ticket, struct pawl_error *err);

    /*
     * Cancels a request. When it returns, `done` was called and has returned, also in a stopped
     * environment. Must not be called from within `done`.
     */
    void (*cancel)(struct pawl_http_executor *executor, uint64_t ticket);
};

/* An executor embeds this as its first member. */
struct pawl_http_executor {
    const struct pawl_http_executor_ops *ops;
};

static inline void pawl_http_close(struct pawl_http_executor *executor)
{
    if (executor)
        executor->ops->close(executor);
}

PAWL_MUST_CHECK static inline int pawl_http_submit(struct pawl_http_executor *executor,
                                                   const struct pawl_http_request *request,
                                                   pawl_http_done done, void *ctx, uint64_t *ticket,
                                                   struct pawl_error *err)
{
    return executor->ops->submit(executor, request, done, ctx, ticket, err);
}

static inline void pawl_http_cancel(struct pawl_http_executor *executor, uint64_t ticket)
{
    executor->ops->cancel(executor, ticket);
}

#ifdef __cplusplus
}
#endif
#endif
