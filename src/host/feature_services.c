/* SPDX-License-Identifier: Apache-2.0 */
/* The queue worker, the refresher and the reloader of one node as a feature. */
#include "host/features.h"
#include "host/folder_provider.h"
#include "runtime/node/queue_worker.h"
#include "runtime/runtime.h"

static int build_queue_worker(struct pawl_host *host, void *ctx, void **service,
                              struct pawl_error *err)
{
    struct pawl_queue_worker *worker;
    int status = pawl__local_queue_worker_new(pawl__host_env(host), &worker, err);

    (void)ctx;
    if (status == PAWL_OK)
        *service = worker;
    return status;
}

static void close_queue_worker(void *ctx, void *service)
{
    (void)ctx;
    pawl__queue_worker_close(service);
}

static int build_refresher(struct pawl_host *host, void *ctx, void **service,
                           struct pawl_error *err)
{
    struct pawl_runtime *node = pawl__host_node(host);
    struct pawl_refresher *refresher;
    int status = pawl__local_refresher_new(pawl__host_env(host), pawl__runtime_store(node),
                                           pawl__runtime_definitions(node),
                                           pawl__host_surroundings(host)->log, &refresher, err);

    (void)ctx;
    if (status == PAWL_OK)
        *service = refresher;
    return status;
}

static void close_refresher(void *ctx, void *service)
{
    (void)ctx;
    pawl__refresher_close(service);
}

static int build_reloader(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const char *path = pawl__configuration_text(pawl__host_configuration(host),
                                                PAWL_SETTING_ID_DEFINITIONS_FOLDER);
    struct pawl_definition_provider *provider = NULL;
    struct pawl_reloader *reloader;
    int status = PAWL_OK;

    (void)ctx;
    if (path[0])
        status = pawl__folder_provider_new(pawl__host_env(host), path, &provider, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__local_reloader_new(pawl__host_env(host),
                                      pawl__runtime_definitions(pawl__host_node(host)), provider,
                                      pawl__host_surroundings(host)->log, &reloader, err);
    if (status == PAWL_OK)
        *service = reloader;
    else if (provider)
        provider->close(provider);
    return status;
}

static void close_reloader(void *ctx, void *service)
{
    (void)ctx;
    pawl__reloader_close(service);
}

static const struct pawl_service_factory queue_worker = {"local", build_queue_worker,
                                                         close_queue_worker, NULL};
static const struct pawl_service_factory refresher = {"local", build_refresher, close_refresher,
                                                      NULL};
static const struct pawl_service_factory reloader = {"local", build_reloader, close_reloader, NULL};

static int apply(struct pawl_host *host, struct pawl_error *err)
{
    int status = pawl__host_fill(host, PAWL_SLOT_QUEUE_WORKER, &queue_worker, err);

    if (status == PAWL_OK)
        status = pawl__host_fill(host, PAWL_SLOT_REFRESHER, &refresher, err);
    if (status == PAWL_OK)
        status = pawl__host_fill(host, PAWL_SLOT_RELOADER, &reloader, err);
    return status;
}

const struct pawl_feature pawl__feature_services = {"services", apply};
