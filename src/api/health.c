/* SPDX-License-Identifier: Apache-2.0 */
/* How the node is, for probes. The words are those that probes of ASP.NET know. */
#include "operations/health.h"
#include "api/private.h"

#define ARENA_MAX ((size_t)64 << 10)

static void respond_health(struct pawl_exchange *exchange, const char *word)
{
    pawl__buf_text(pawl__exchange_out(exchange), word);
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    pawl__exchange_add_field(exchange, "Cache-Control", "no-store, no-cache");
    pawl__exchange_add_field(exchange, "Expires", "Thu, 01 Jan 1970 00:00:00 GMT");
    pawl__exchange_add_field(exchange, "Pragma", "no-cache");
    pawl__exchange_respond(exchange, 200);
}

void pawl__api_health_live(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    respond_health(exchange, "Healthy");
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
    bool is_paused = false;
    int status;

    if (atomic_load(&api->draining)) {
        pawl__exchange_refuse(exchange, 503, "The server drains.");
        return;
    }
    pawl__arena_init(&arena, &api->env->alloc, ARENA_MAX);
    status = pawl__op_ready(&op);
    if (status == PAWL_OK)
        is_paused = pawl__op_is_paused(&op);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        respond_health(exchange, is_paused ? "Degraded" : "Healthy");
    else
        pawl__exchange_refuse(exchange, 503, err.msg);
}
