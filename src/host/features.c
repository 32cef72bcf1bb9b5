/* SPDX-License-Identifier: Apache-2.0 */
/* Environment and store as features; which of them a configuration wants. */
#include "host/features.h"

#include "base/error.h"
#include "host/backup.h"
#include "host/store_uri.h"

#include <string.h>

/* ---- environment ------------------------------------------------------------------------- */

static int build_environment(struct pawl_host *host, void *ctx, void **service,
                             struct pawl_error *err)
{
    (void)ctx;
    (void)err;
    *service = pawl__host_env(host);
    return PAWL_OK;
}

static const struct pawl_service_factory system_environment = {"system", build_environment, NULL,
                                                               NULL};
static const struct pawl_service_factory simulated_environment = {"simulated", build_environment,
                                                                  NULL, NULL};

static int apply_environment(struct pawl_host *host, struct pawl_error *err)
{
    bool simulated = pawl__host_env(host)->ops->caps & PAWL_ENV_CAP_SIMULATED;

    return pawl__host_fill(host, PAWL_SLOT_ENV,
                           simulated ? &simulated_environment : &system_environment, err);
}

const struct pawl_feature pawl__feature_environment = {"environment", apply_environment};

/* ---- store ------------------------------------------------------------------------------- */

static int build_store(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_str uri = pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_STORE));
    bool looks_only = pawl__host_surroundings(host)->looks_only;
    struct pawl_store_options options = {
        .flags = looks_only ? 0 : PAWL_STORE_OPEN_CREATE,
        .connections =
            (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_STORE_CONNECTIONS),
        .file_mode = (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_FILE_MODE),
    };
    struct pawl_store *store = NULL;
    int status = pawl__host_open_store(pawl__host_env(host), uri, &options, &store, err);

    (void)ctx;
    /* A look makes a store where there is none, but brings no older one up to date: the program
     * that it belongs to could not open it any more. */
    if (looks_only && status == PAWL_ENOTFOUND) {
        options.flags = PAWL_STORE_OPEN_CREATE;
        status = pawl__host_open_store(pawl__host_env(host), uri, &options, &store, err);
    }
    if (status != PAWL_OK)
        return status;
    status = pawl__backup_check_complete(pawl__host_env(host), store, err);
    if (status != PAWL_OK) {
        pawl_store_close(store);
        return status;
    }
    *service = store;
    return PAWL_OK;
}

static void close_store(void *ctx, void *service)
{
    (void)ctx;
    pawl_store_close(service);
}

/* By name of the backend, so that the composition shows it before anything is opened. */
static const struct pawl_service_factory stores[] = {
    {"memory", build_store, close_store, NULL},
    {"sqlite", build_store, close_store, NULL},
    {"postgres", build_store, close_store, NULL},
};

static int apply_store(struct pawl_host *host, struct pawl_error *err)
{
    const char *uri =
        pawl__configuration_text(pawl__host_configuration(host), PAWL_SETTING_ID_STORE);
    const char *backend = NULL;
    int status = pawl__host_store_backend(pawl__str(uri), &backend, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++)
        if (strcmp(stores[i].name, backend) == 0)
            return pawl__host_fill(host, PAWL_SLOT_STORE, &stores[i], err);
    return pawl__error_set(err, PAWL_EINTERNAL, "no feature provides the store '%s'", backend);
}

const struct pawl_feature pawl__feature_store = {"store", apply_store};

/* ---- trace ------------------------------------------------------------------------------- */

static int wrap_in_trace(struct pawl_host *host, void *ctx, void *inner, void **outer,
                         struct pawl_error *err)
{
    struct pawl_store *store = NULL;
    int status = pawl__trace_store_new(pawl__host_env(host), inner, &store, err);

    (void)ctx;
    if (status == PAWL_OK)
        *outer = store;
    return status;
}

static const struct pawl_service_decorator trace = {"trace", wrap_in_trace, close_store, NULL};

static int apply_trace(struct pawl_host *host, struct pawl_error *err)
{
    return pawl__host_decorate(host, PAWL_SLOT_STORE, &trace, err);
}

const struct pawl_feature pawl__feature_store_trace = {"store-trace", apply_trace};

/* ---- composition ------------------------------------------------------------------------- */

int pawl__host_compose(struct pawl_host *host, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    bool distributed = pawl__configuration_number(configuration, PAWL_SETTING_ID_DISTRIBUTED);
    int status = pawl__host_use(host, &pawl__feature_environment, err);

    if (status == PAWL_OK)
        status = pawl__host_use(host, &pawl__feature_store, err);
    if (status == PAWL_OK && pawl__configuration_number(configuration, PAWL_SETTING_ID_STORE_TRACE))
        status = pawl__host_use(host, &pawl__feature_store_trace, err);
    if (status == PAWL_OK && pawl__host_surroundings(host)->measures)
        status = pawl__host_use(host, &pawl__feature_measure, err);
    if (status == PAWL_OK && pawl__host_surroundings(host)->traces)
        status = pawl__host_trace(host, err);
    if (status == PAWL_OK)
        status = pawl__host_use(host, &pawl__feature_engine, err);
    if (status == PAWL_OK &&
        (distributed || pawl__configuration_text(configuration, PAWL_SETTING_ID_LOCK)[0]))
        status = pawl__host_use(host, &pawl__feature_lock, err);
    if (status == PAWL_OK)
        status = pawl__host_use(host, &pawl__feature_http, err);
    if (status == PAWL_OK)
        status = pawl__host_use(host, &pawl__feature_runtime, err);
    if (status == PAWL_OK)
        status = pawl__host_use(host, &pawl__feature_services, err);
    if (status == PAWL_OK && distributed)
        status = pawl__host_use(host, &pawl__feature_distributed, err);
    return status;
}
