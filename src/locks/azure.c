/* SPDX-License-Identifier: Apache-2.0 */
/* The provider on Azure blobs: its life and its table; see azure.h. */
#include "locks/azure.h"

#include "base/alloc.h"
#include "base/error.h"
#include "drivers/curl.h"
#include "locks/azure_private.h"
#include "os/process.h"

#include <inttypes.h>

#define CONNECT_NS INT64_C(10000000000)
#define REQUEST_NS INT64_C(60000000000)
#define PLACE_BYTES_MAX ((size_t)128 << 10)

static void close_locks(struct pawl_lock_provider *provider)
{
    struct azure_locks *locks = (struct azure_locks *)provider;
    struct pawl_env *env = locks->env;

    pawl_http_close(locks->http);
    pawl_cond_free(env, locks->ended);
    pawl_mutex_free(env, locks->mutex);
    pawl__arena_release(&locks->arena);
    pawl__free(&env->alloc, locks, sizeof *locks);
}

static int map_name(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                    size_t size, struct pawl_error *err)
{
    struct azure_locks *locks = (struct azure_locks *)provider;
    size_t units =
        locks->place.is_emulator ? PAWL_AZURE_LOCK_UNITS_MAX_EMULATOR : PAWL_AZURE_LOCK_UNITS_MAX;
    char path[PAWL_AZURE_LOCK_PATH_SIZE], key[PAWL_AZURE_LOCK_NAME_SIZE];
    size_t length;
    int status = pawl__lock_name_azure_path(name, units, path, err);

    if (status != PAWL_OK)
        return status;
    length = pawl__lock_name_azure(name, units, key);
    if (length >= size)
        return pawl__error_code(err, PAWL_ELIMIT);
    memcpy(out, key, length + 1);
    return PAWL_OK;
}

static const struct pawl_lock_provider_ops ops = {
    .version = PAWL_LOCK_VERSION,
    .caps = PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_NETWORK | PAWL_LOCK_CAP_LEASE | PAWL_LOCK_CAP_TOKEN |
            PAWL_LOCK_CAP_TOKEN_DURABLE | PAWL_LOCK_CAP_INSPECT,
    .close = close_locks,
    .status = pawl__azure_status_op,
    .map = map_name,
    .try_ = pawl__azure_try_op,
    .renew = pawl__azure_renew_op,
    .release = pawl__azure_release_op,
    .abandon = pawl__azure_abandon_op,
    .inspect = pawl__azure_inspect_op,
    .list = pawl__azure_list_op,
};

/* The service counts in seconds. */
static int choose_lease(struct azure_locks *locks, const struct pawl_lock_provider_options *options,
                        struct pawl_error *err)
{
    int64_t ttl_ms = locks->place.lease_s * 1000;

    if (ttl_ms == 0)
        ttl_ms = options && options->ttl_ms ? options->ttl_ms : PAWL_LOCK_TTL_MS_DEFAULT;
    if (ttl_ms < PAWL_AZURE_LEASE_MS_MIN || ttl_ms > PAWL_AZURE_LEASE_MS_MAX || ttl_ms % 1000 != 0)
        return pawl__error_set(
            err, PAWL_EINVAL,
            "a lease of Azure Storage lasts 15 to 60 whole seconds, not %" PRId64
            " ms; add ?lease=SECONDS to the lock's URI (an infinite lease is refused: a "
            "holder that dies would keep it)",
            ttl_ms);
    locks->ttl_ms = ttl_ms;
    return PAWL_OK;
}

static int make_parts(struct azure_locks *locks, struct pawl_error *err)
{
    const struct pawl_curl_options options = {
        .timeout_ns = REQUEST_NS, .connect_ns = CONNECT_NS, .ca_file = locks->place.ca_file};
    int status = pawl_mutex_new(locks->env, "azure locks", &locks->mutex);

    if (status == PAWL_OK)
        status = pawl_cond_new(locks->env, "azure answers", &locks->ended);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    return pawl__curl_open(locks->env, &options, &locks->http, err);
}

int pawl__azure_locks_open(struct pawl_env *env, struct pawl_str uri,
                           const struct pawl_lock_provider_options *options,
                           struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct azure_locks *locks = pawl__alloc_zeroed(&env->alloc, sizeof *locks);
    int status;

    if (!locks)
        return pawl__error_code(err, PAWL_ENOMEM);
    locks->base = (struct pawl_lock_provider){&ops, "azure", NULL};
    locks->env = env;
    pawl__arena_init(&locks->arena, &env->alloc, PLACE_BYTES_MAX);
    status = pawl__azure_place_read(uri, pawl__process_variable, &locks->arena, &locks->place, err);
    if (status == PAWL_OK)
        status = choose_lease(locks, options, err);
    if (status == PAWL_OK)
        status = make_parts(locks, err);
    if (status != PAWL_OK) {
        close_locks(&locks->base);
        return status;
    }
    *out = &locks->base;
    return PAWL_OK;
}
