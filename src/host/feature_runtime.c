/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime of one node as a feature. */
#include "host/features.h"

#include "base/error.h"
#include "base/json.h"
#include "os/process.h"
#include "runtime/client.h"

#include <pawl/version.h>

#define HOST_NAME_SIZE 256
/* A name of nothing but quotes still fits. */
#define INFO_BYTES_MAX ((size_t)4096)
/* A year: where nothing is stored, a clock that is set may jump further than any lease lasts. */
#define LEASE_EPHEMERAL_US INT64_C(31536000000000)

/* What a node tells of itself, for `pawl nodes`. */
static void write_info(struct pawl_host *host, const char *kind, const char *locks,
                       struct pawl_buf *out)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(host);
    struct pawl_json_writer json;
    char name[HOST_NAME_SIZE];

    pawl__process_host_name(name, sizeof name);
    pawl__json_writer_init(&json, out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "host");
    pawl__json_write_string_text(&json, name);
    pawl__json_write_key_text(&json, "pid");
    pawl__json_write_int(&json, pawl__process_id());
    pawl__json_write_key_text(&json, "version");
    pawl__json_write_string_text(&json, pawl_version());
    pawl__json_write_key_text(&json, "runtime");
    pawl__json_write_string_text(&json, kind);
    pawl__json_write_key_text(&json, "locks");
    pawl__json_write_string_text(&json, locks);
    pawl__json_write_key_text(&json, "stays");
    pawl__json_write_bool(&json, !around->transient);
    pawl__json_write_end_object(&json);
}

int pawl__host_open_runtime(struct pawl_host *host, const char *kind, const char *locks,
                            struct pawl_guard *guard, struct pawl_workflow_runtime **out,
                            struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    const struct pawl_surroundings *around = pawl__host_surroundings(host);
    struct pawl_runtime_options options = {
        .lease_us =
            around->ephemeral
                ? LEASE_EPHEMERAL_US
                : pawl__configuration_number(configuration, PAWL_SETTING_ID_NODE_LEASE) / 1000,
        .commit_batch =
            (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_COMMIT_BATCH),
        .log = around->log,
        .http = pawl__host_get(host, PAWL_SLOT_HTTP),
        .guard = guard,
        .looks_only = around->looks_only,
        .stimulus_us =
            pawl__configuration_number(configuration, PAWL_SETTING_ID_STIMULUS_TTL) / 1000,
        .journal_max =
            pawl__configuration_number(configuration, PAWL_SETTING_ID_JOURNAL_MAX_RECORDS),
        .step_us = pawl__configuration_number(configuration, PAWL_SETTING_ID_STEP_DEADLINE) / 1000,
        .hooks = {.line = around->line,
                  .task = around->task,
                  .call = around->call,
                  .ended = around->ended,
                  .ctx = around->ctx},
        .definitions = {.keep_invalid = around->ephemeral},
        .no_journal = around->ephemeral,
    };
    struct pawl_runtime *node = NULL;
    char name[HOST_NAME_SIZE];
    struct pawl_buf info;
    int status;

    if (around->hooks)
        options.hooks = *around->hooks;
    pawl__buf_init(&info, &pawl__host_env(host)->alloc, INFO_BYTES_MAX);
    write_info(host, kind, locks, &info);
    options.info = pawl__buf_peek(&info);
    if (!around->transient) {
        pawl__process_host_name(name, sizeof name);
        options.node_id =
            pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_NODE_ID));
        options.node_prefix = pawl__str(name);
    }
    status = info.status == PAWL_OK
                 ? pawl__runtime_open(pawl__host_env(host), pawl__host_get(host, PAWL_SLOT_ENGINE),
                                      pawl__host_get(host, PAWL_SLOT_STORE), &options, &node, err)
                 : pawl__error_code(err, info.status);
    pawl__buf_release(&info);
    if (status != PAWL_OK)
        return status;
    status = pawl__local_workflow_runtime_new(pawl__host_env(host), node, out, err);
    if (status != PAWL_OK)
        pawl__runtime_close(node);
    return status;
}

static int build_runtime(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    struct pawl_workflow_runtime *runtime;
    int status = pawl__host_open_runtime(host, "local", "", NULL, &runtime, err);

    (void)ctx;
    if (status == PAWL_OK)
        *service = runtime;
    return status;
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
