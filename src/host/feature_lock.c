/* SPDX-License-Identifier: Apache-2.0 */
/* The lock service and the locks on it as a feature. */
#include "base/error.h"
#include "host/features.h"
#include "host/lock_uri.h"
#include "locks/locks.h"

#include <string.h>

#define MS 1000000

static int build_provider(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_str uri = pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_LOCK));
    struct pawl_lock_provider_options options = {
        .ttl_ms = pawl__configuration_number(configuration, PAWL_SETTING_ID_LOCK_TTL) / MS,
        .log = pawl__host_surroundings(host)->log,
    };
    struct pawl_lock_provider *provider = NULL;
    int status = pawl__lock_open_uri(pawl__host_env(host), uri, &options, &provider, err);

    (void)ctx;
    if (status == PAWL_OK)
        *service = provider;
    return status;
}

static void close_provider(void *ctx, void *service)
{
    struct pawl_lock_provider *provider = service;

    (void)ctx;
    provider->ops->close(provider);
}

static int build_locks(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_locks_options options = {
        .log = pawl__host_surroundings(host)->log,
        .poll_ms_max =
            pawl__configuration_number(configuration, PAWL_SETTING_ID_LOCK_POLL_MAX) / MS,
        .borrow = true,
    };
    struct pawl_locks *locks = NULL;
    int status = pawl__locks_new(
        pawl__host_env(host), pawl__host_get(host, PAWL_SLOT_LOCK_PROVIDER), &options, &locks, err);

    (void)ctx;
    if (status == PAWL_OK)
        *service = locks;
    return status;
}

static void free_locks(void *ctx, void *service)
{
    (void)ctx;
    pawl__locks_free(service);
}

/* By kind, so that the composition shows it before anything is opened. */
static const struct pawl_service_factory providers[] = {
    {"file", build_provider, close_provider, NULL},
    {"memory", build_provider, close_provider, NULL},
    {"sqlite", build_provider, close_provider, NULL},
    {"postgres", build_provider, close_provider, NULL},
    {"redis", build_provider, close_provider, NULL},
    {"sqlserver", build_provider, close_provider, NULL},
    {"azure", build_provider, close_provider, NULL},
};
static const struct pawl_service_factory locks_on_it = {"locks", build_locks, free_locks, NULL};

static int apply(struct pawl_host *host, struct pawl_error *err)
{
    const char *uri =
        pawl__configuration_text(pawl__host_configuration(host), PAWL_SETTING_ID_LOCK);
    const char *kind = NULL;
    int status = pawl__lock_uri_kind(pawl__str(uri), &kind, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
        if (strcmp(providers[i].name, kind) != 0)
            continue;
        status = pawl__host_fill(host, PAWL_SLOT_LOCK_PROVIDER, &providers[i], err);
        return status == PAWL_OK ? pawl__host_fill(host, PAWL_SLOT_LOCK, &locks_on_it, err)
                                 : status;
    }
    return pawl__error_set(err, PAWL_EINTERNAL, "no feature knows the lock service '%s'", kind);
}

const struct pawl_feature pawl__feature_lock = {"lock", apply};
