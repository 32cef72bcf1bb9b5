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

/* true: the caller looks. Otherwise the exchange waits for who does, or was refused. */
static bool begin_look(struct pawl_api *api, struct pawl_exchange *exchange)
{
    struct api_probes *probes = &api->probes;
    bool looks, refused = false;

    pawl_mutex_lock_always(api->env, api->mutex);
    looks = !probes->looking;
    if (looks)
        probes->looking = true;
    else if (probes->count < API_PROBES_MAX)
        probes->waiting[probes->count++] = exchange;
    else
        refused = true;
    pawl_mutex_unlock(api->env, api->mutex);
    if (refused)
        pawl__exchange_refuse(exchange, 503, "Too many requests at this moment.");
    return looks;
}

static void respond(struct pawl_exchange *exchange, int status, const char *word,
                    const struct pawl_error *err)
{
    if (status == PAWL_OK)
        respond_health(exchange, word);
    else
        pawl__exchange_refuse(exchange, 503, err->msg);
}

static void end_look(struct pawl_api *api, int status, const char *word,
                     const struct pawl_error *err)
{
    struct pawl_exchange *waiting[API_PROBES_MAX];
    uint32_t count;

    pawl_mutex_lock_always(api->env, api->mutex);
    count = api->probes.count;
    memcpy(waiting, api->probes.waiting, count * sizeof waiting[0]);
    api->probes.count = 0;
    api->probes.looking = false;
    pawl_mutex_unlock(api->env, api->mutex);
    for (uint32_t i = 0; i < count; i++)
        respond(waiting[i], status, word, err);
}

/* Anybody may ask, and a store that hangs takes its time: one thread looks, for all who ask then.
 */
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
    const char *word;
    int status;

    if (atomic_load(&api->draining)) {
        pawl__exchange_refuse(exchange, 503, "The server is draining.");
        return;
    }
    if (!begin_look(api, exchange))
        return;
    pawl__arena_init(&arena, &api->env->alloc, ARENA_MAX);
    status = pawl__op_ready(&op);
    if (status == PAWL_OK)
        is_paused = pawl__op_is_paused(&op);
    pawl__arena_release(&arena);
    word = is_paused ? "Degraded" : "Healthy";
    respond(exchange, status, word, &err);
    end_look(api, status, word, &err);
}
