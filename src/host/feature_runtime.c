/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime of one node as a feature. */
#include "host/features.h"
#include "runtime/client.h"

static int build_runtime(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    const struct pawl_surroundings *around = pawl__host_surroundings(host);
    struct pawl_runtime_options options = {
        .lease_us = pawl__configuration_number(configuration, PAWL_SETTING_ID_NODE_LEASE) / 1000,
        .log = around->log,
        .journal_max =
            pawl__configuration_number(configuration, PAWL_SETTING_ID_JOURNAL_MAX_RECORDS),
        .hooks = {.line = around->line,
                  .task = around->task,
                  .call = around->call,
                  .ctx = around->ctx},
    };
    struct pawl_workflow_runtime *runtime = NULL;
    struct pawl_runtime *node = NULL;
    int status;

    (void)ctx;
    if (!around->transient)
        options.node_id =
            pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_NODE_ID));
    status = pawl__runtime_open(pawl__host_env(host), pawl__host_get(host, PAWL_SLOT_ENGINE),
                                pawl__host_get(host, PAWL_SLOT_STORE), &options, &node, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__local_workflow_runtime_new(pawl__host_env(host), node, &runtime, err);
    if (status != PAWL_OK) {
        pawl__runtime_close(node);
        return status;
    }
    *service = runtime;
    return PAWL_OK;
}

static void close_runtime(void *ctx, void *service)
{
    (void)ctx;
    pawl__workflow_runtime_close(service);
}

static const struct pawl_service_factory local = {"local", build_runtime, close_runtime, NULL};

static int apply_runtime(struct pawl_host *host, struct pawl_error *err)
{
    return pawl__host_fill(host, PAWL_SLOT_RUNTIME, &local, err);
}

const struct pawl_feature pawl__feature_runtime = {"runtime", apply_runtime};

struct pawl_runtime *pawl__host_node(struct pawl_host *host)
{
    const struct pawl_workflow_runtime *runtime = pawl__host_get(host, PAWL_SLOT_RUNTIME);

    return runtime ? runtime->node : NULL;
}
