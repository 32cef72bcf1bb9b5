/* SPDX-License-Identifier: Apache-2.0 */
/* How the node is, for probes. The words are those that probes of ASP.NET know. */
#include "operations/health.h"
#include "api/private.h"

#define ARENA_MAX ((size_t)64 << 10)

static void respond_healthy(struct pawl_exchange *exchange)
{
    pawl__buf_text(pawl__exchange_out(exchange), "Healthy");
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
    pawl__exchange_respond(exchange, 200);
}

void pawl__api_health_live(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    respond_healthy(exchange);
}

void pawl__api_health_ready(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_api *api = ctx;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    struct pawl_op op = {.host = api->host,
                         .arena = &arena,
                         .deadline_ns = pawl_env_monotonic_ns(api->env) + 2 * NS_PER_S,
                         .err = &err,
                         .log = api->log,
                         .actor = pawl__str("probe"),
                         .request_id = pawl__str("")};
    int status;

    if (atomic_load(&api->draining)) {
        pawl__exchange_refuse(exchange, 503, "The server drains.");
        return;
    }
    pawl__arena_init(&arena, &api->env->alloc, ARENA_MAX);
    status = pawl__op_ready(&op);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        respond_healthy(exchange);
    else
        pawl__exchange_refuse(exchange, 503, err.msg);
}
