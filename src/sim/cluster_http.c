/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What answers the HTTP requests of simulated workflows: at once, always, and with the same. How
 * often it was asked does not matter, requests are sent at least once; that each answer reaches its
 * instance is what is looked at.
 */
#include "sim/cluster_private.h"

static int submit(struct pawl_http_executor *executor, const struct pawl_http_request *request,
                  pawl_http_done done, void *ctx, uint64_t *ticket, struct pawl_error *err)
{
    const struct pawl_http_answer answer = {
        .end = PAWL_HTTP_ANSWERED,
        .sent = true,
        .status = 200,
        .url = request->url,
        .body = pawl__str(""),
    };

    (void)executor;
    (void)err;
    *ticket = 1;
    done(ctx, &answer);
    return PAWL_OK;
}

/* Everything is done when submit() returns. */
static void cancel(struct pawl_http_executor *executor, uint64_t ticket)
{
    (void)executor;
    (void)ticket;
}

static void close_nothing(struct pawl_http_executor *executor)
{
    (void)executor;
}

static const struct pawl_http_executor_ops ops = {PAWL_HTTP_VERSION, close_nothing, submit, cancel};

struct pawl_http_executor pawl__cluster_http(void)
{
    return (struct pawl_http_executor){&ops};
}
