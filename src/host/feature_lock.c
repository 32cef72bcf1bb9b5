/* SPDX-License-Identifier: Apache-2.0 */
/* The lock service and the locks on it as a feature. */
#include "base/error.h"
#include "host/features.h"
#include "host/lock_uri.h"
#include "host/store_uri.h"
#include "locks/locks.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000

/* ---- which one ------------------------------------------------------------------------------ */

static int put_uri(char out[PAWL_LOCK_URI_SIZE], const char *before, struct pawl_str uri,
                   const char *behind, struct pawl_error *err)
{
    int len = snprintf(out, PAWL_LOCK_URI_SIZE, "%s%.*s%s", before, PAWL_STR_ARG(uri), behind);

    if (len < 0 || len >= PAWL_LOCK_URI_SIZE)
        return pawl__error_set(err, PAWL_ELIMIT, "the lock URI is longer than %d bytes",
                               PAWL_LOCK_URI_SIZE);
    return PAWL_OK;
}

/* A server has locks of its own; beside a file there is room for another one. */
int pawl__host_lock_uri(const struct pawl_configuration *configuration,
                        char out[PAWL_LOCK_URI_SIZE], struct pawl_error *err)
{
    struct pawl_str own = pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_LOCK));
    struct pawl_str store =
        pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_STORE));
    const char *backend = NULL;
    int status;

    if (own.len > 0)
        return put_uri(out, "", own, "", err);
    status = pawl__host_store_backend(store, &backend, err);
    if (status != PAWL_OK)
        return status;
    if (strcmp(backend, "memory") == 0)
        return put_uri(out, "memory:", pawl__str(""), "", err);
    if (strcmp(backend, "sqlite") == 0)
        return put_uri(out, "sqlite:", pawl__host_store_path(store), ".locks", err);
    return put_uri(out, "", store, "", err);
}

/* ---- building ------------------------------------------------------------------------------- */

/*
 * Locks of a node that died should end when its lease does, not long after. Azure's leases have
 * bounds of their own.
 */
static int64_t ttl_ms(const struct pawl_configuration *configuration, const char *uri)
{
    const char *kind = "";
    bool follows = pawl__configuration_number(configuration, PAWL_SETTING_ID_DISTRIBUTED) &&
                   configuration->values[PAWL_SETTING_ID_LOCK_TTL].origin == PAWL_ORIGIN_DEFAULT &&
                   pawl__lock_uri_kind(pawl__str(uri), &kind, NULL) == PAWL_OK &&
                   strcmp(kind, "azure") != 0;

    return pawl__configuration_number(configuration, follows ? PAWL_SETTING_ID_NODE_LEASE
                                                             : PAWL_SETTING_ID_LOCK_TTL) /
           MS;
}

static int build_provider(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_lock_provider_options options = {
        .log = pawl__host_surroundings(host)->log,
        .is_shared = pawl__configuration_number(configuration, PAWL_SETTING_ID_LOCK_SHARED),
    };
    struct pawl_lock_provider *provider = NULL;
    char uri[PAWL_LOCK_URI_SIZE];
    int status = pawl__host_lock_uri(configuration, uri, err);

    (void)ctx;
    options.ttl_ms = status == PAWL_OK ? ttl_ms(configuration, uri) : 0;
    if (status == PAWL_OK)
        status =
            pawl__lock_open_uri(pawl__host_env(host), pawl__str(uri), &options, &provider, err);
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
    int status = pawl__locks_new(pawl__host_env(host), pawl__host_lock_provider(host), &options,
                                 &locks, err);

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
    char uri[PAWL_LOCK_URI_SIZE];
    const char *kind = NULL;
    int status = pawl__host_lock_uri(pawl__host_configuration(host), uri, err);

    if (status == PAWL_OK)
        status = pawl__lock_uri_kind(pawl__str(uri), &kind, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
        if (strcmp(providers[i].name, kind) != 0)
            continue;
        status = pawl__host_fill(host, PAWL_SLOT_LOCK_PROVIDER, &providers[i], err);
        return status == PAWL_OK ? pawl__host_fill(host, PAWL_SLOT_LOCK, &locks_on_it, err)
                                 : status;
    }
    return pawl__error_set(err, PAWL_EINTERNAL, "no feature provides the lock service '%s'", kind);
}

const struct pawl_feature pawl__feature_lock = {"lock", apply};
