/* SPDX-License-Identifier: Apache-2.0 */
/* Several nodes on one store as a feature; see distributed/distributed.h. */
#include "distributed/distributed.h"

#include "base/error.h"
#include "host/features.h"

#include <string.h>

/* ---- from settings --------------------------------------------------------------------------- */

static int64_t number(const struct pawl_configuration *configuration, enum pawl_setting_id id)
{
    return pawl__configuration_number(configuration, id);
}

/* Whether the store's server is the lock service too, and both know what to do with tickets. */
static int may_use_tickets(struct pawl_host *host, const struct pawl_lock_provider *provider,
                           bool *may, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    const struct pawl_store *store = pawl__host_store(host);
    char uri[PAWL_LOCK_URI_SIZE];
    int status = pawl__host_lock_uri(configuration, uri, err);

    *may = status == PAWL_OK &&
           strcmp(uri, pawl__configuration_text(configuration, PAWL_SETTING_ID_STORE)) == 0 &&
           (store->caps & PAWL_STORE_CAP_TICKETS) &&
           (pawl_lock_caps(provider) & PAWL_LOCK_CAP_TICKET) && provider->ops->ticket;
    return status;
}

static int distribution_of(struct pawl_host *host, struct pawl_distribution *out,
                           struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_locks *locks = pawl__host_locks(host);

    if (!locks)
        return pawl__error_set(err, PAWL_EINVAL,
                               "a cluster needs locks: give --lock URI, or leave it out to use the "
                               "store's own");
    pawl__distribution_init(out, pawl__host_env(host), locks);
    out->log = pawl__host_surroundings(host)->log;
    out->retry.retries_max = (uint32_t)number(configuration, PAWL_SETTING_ID_LOCK_RETRIES);
    out->retry.delay_ns = number(configuration, PAWL_SETTING_ID_LOCK_RETRY_DELAY);
    out->acquire_ns = number(configuration, PAWL_SETTING_ID_LOCK_ACQUIRE_TIMEOUT);
    out->try_ns = number(configuration, PAWL_SETTING_ID_LOCK_TRY_WAIT);
    out->patience_ns = number(configuration, PAWL_SETTING_ID_LOCK_PATIENCE);
    if (out->patience_ns == 0)
        out->patience_ns = number(configuration, PAWL_SETTING_ID_NODE_LEASE);
    out->partitions = (uint32_t)number(configuration, PAWL_SETTING_ID_QUEUE_PARTITIONS);
    return may_use_tickets(host, pawl__locks_provider(locks), &out->tickets, err);
}

/* ---- runtime --------------------------------------------------------------------------------- */

static const char *kind_of(const struct pawl_lock_provider *provider)
{
    while (provider->inner)
        provider = provider->inner;
    return provider->kind;
}

static int open_runtime(struct pawl_host *host, const struct pawl_distribution *distribution,
                        struct pawl_workflow_runtime **out, struct pawl_error *err)
{
    struct pawl_lock_provider *provider = pawl__locks_provider(distribution->locks);
    struct pawl_workflow_runtime *local = NULL;
    struct pawl_guard *guard = NULL;
    int status = pawl__distributed_guard_new(distribution, &guard, err);

    if (status == PAWL_OK)
        status =
            pawl__host_open_runtime(host, "distributed", kind_of(provider), guard, &local, err);
    if (status == PAWL_OK)
        status = pawl__distributed_workflow_runtime_new(distribution->env, local, guard, out, err);
    if (status != PAWL_OK) {
        pawl__workflow_runtime_close(local);
        pawl__distributed_guard_free(guard);
    }
    return status;
}

static int build_runtime(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_workflow_runtime *runtime = NULL;
    struct pawl_distribution distribution;
    int status = distribution_of(host, &distribution, err);

    (void)ctx;
    if (status == PAWL_OK)
        status = pawl__distributed_check_reach(
            pawl__locks_provider(distribution.locks), pawl__host_store(host),
            number(configuration, PAWL_SETTING_ID_LOCK_ALLOW_LOCAL), distribution.log, err);
    if (status == PAWL_OK)
        status = open_runtime(host, &distribution, &runtime, err);
    if (status == PAWL_OK)
        *service = runtime;
    return status;
}

static void close_runtime(void *ctx, void *service)
{
    (void)ctx;
    pawl__workflow_runtime_close(service);
}

/* ---- queue worker, refresher, reloader ---------------------------------------------------------
 */

static int build_queue_worker(struct pawl_host *host, void *ctx, void **service,
                              struct pawl_error *err)
{
    struct pawl_queue_worker *worker = NULL;
    struct pawl_distribution distribution;
    int status = distribution_of(host, &distribution, err);

    (void)ctx;
    if (status == PAWL_OK)
        status = pawl__distributed_queue_worker_new(&distribution, &worker, err);
    if (status == PAWL_OK)
        *service = worker;
    return status;
}

static void close_queue_worker(void *ctx, void *service)
{
    (void)ctx;
    pawl__queue_worker_close(service);
}

static int wrap_refresher(struct pawl_host *host, void *ctx, void *inner, void **outer,
                          struct pawl_error *err)
{
    struct pawl_refresher *refresher = NULL;
    struct pawl_distribution distribution;
    int status = distribution_of(host, &distribution, err);

    (void)ctx;
    if (status == PAWL_OK)
        status = pawl__distributed_refresher_new(&distribution, inner, &refresher, err);
    if (status == PAWL_OK)
        *outer = refresher;
    return status;
}

static void close_refresher(void *ctx, void *outer)
{
    (void)ctx;
    pawl__refresher_close(outer);
}

static int wrap_reloader(struct pawl_host *host, void *ctx, void *inner, void **outer,
                         struct pawl_error *err)
{
    struct pawl_reloader *reloader = NULL;
    struct pawl_distribution distribution;
    int status = distribution_of(host, &distribution, err);

    (void)ctx;
    if (status == PAWL_OK)
        status = pawl__distributed_reloader_new(&distribution, inner, &reloader, err);
    if (status == PAWL_OK)
        *outer = reloader;
    return status;
}

static void close_reloader(void *ctx, void *outer)
{
    (void)ctx;
    pawl__reloader_close(outer);
}

/* ---- the feature ------------------------------------------------------------------------------
 */

static const struct pawl_service_factory runtime = {"distributed", build_runtime, close_runtime,
                                                    NULL};
static const struct pawl_service_factory queue_worker = {"distributed", build_queue_worker,
                                                         close_queue_worker, NULL};
static const struct pawl_service_decorator refresher = {"distributed", wrap_refresher,
                                                        close_refresher, NULL};
static const struct pawl_service_decorator reloader = {"distributed", wrap_reloader, close_reloader,
                                                       NULL};

static int apply(struct pawl_host *host, struct pawl_error *err)
{
    int status = pawl__host_replace(host, PAWL_SLOT_RUNTIME, &runtime, err);

    if (status == PAWL_OK)
        status = pawl__host_replace(host, PAWL_SLOT_QUEUE_WORKER, &queue_worker, err);
    if (status == PAWL_OK)
        status = pawl__host_decorate(host, PAWL_SLOT_REFRESHER, &refresher, err);
    if (status == PAWL_OK)
        status = pawl__host_decorate(host, PAWL_SLOT_RELOADER, &reloader, err);
    return status;
}

const struct pawl_feature pawl__feature_distributed = {"distributed", apply};
