/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime of one node as a feature. */
#include "host/features.h"

#include "activities/program/program.h"
#include "base/error.h"
#include "base/json/json.h"
#include "host/meter.h"
#include "host/tracer.h"
#include "os/process.h"
#include "runtime/node/client.h"

#include <pawl/version.h>

#define HOST_NAME_SIZE 256
/* A name of nothing but quotes still fits. */
#define INFO_BYTES_MAX ((size_t)4096)
/* A year: where nothing is stored, a clock that is set may jump further than any lease lasts. */
#define LEASE_EPHEMERAL_US INT64_C(31536000000000)
/* Of one call of an activity: its data and its result. */
#define CALL_BYTES_MAX ((size_t)1 << 30)
#define CALL_SEND_NS INT64_C(30000000000)

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

/* ---- hooks: each passes on to what is around the host ---------------------------------------- */

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);

    return around->line(around->ctx, instance_id, text);
}

static void on_task(void *ctx, struct pawl_str instance_id, const struct pawl_json *task)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);

    around->task(around->ctx, instance_id, task);
}

static void on_log(void *ctx, struct pawl_str instance_id, const struct pawl_workflow *workflow,
                   const struct pawl_log_record *record)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);

    pawl__measure_record(pawl__host_meter(ctx), record->activity_type, record->event);
    if (!around->step)
        return;
    around->step(around->ctx, &(struct pawl_trace){.instance_id = instance_id,
                                                   .definition_id = workflow->definition_id,
                                                   .activity_id = record->activity_id,
                                                   .activity_type = record->activity_type,
                                                   .event = record->event,
                                                   .message = record->message});
}

static void on_burst_begun(void *ctx, const struct pawl_instance_row *instance,
                           struct pawl_str cause, struct pawl_trace_context *span)
{
    (void)cause;
    pawl__trace_burst_begun(pawl__host_tracer(ctx), instance, span);
}

/* By which log lines of an instance and spans of its trace find each other. */
static void log_burst(const struct pawl_log *log, const struct pawl_instance_row *instance,
                      int64_t duration_ns, int status)
{
    struct pawl_trace_context whole;
    char trace[PAWL_TRACE_ID_SIZE];

    if (!pawl_log_enabled(log, PAWL_LOG_DEBUG))
        return;
    pawl__trace_of_instance(instance->id, &whole);
    pawl__trace_id_text(&whole, trace);
    pawl_log(log, PAWL_LOG_DEBUG, "burst",
             pawl_log_str("instance", instance->id.ptr, instance->id.len),
             pawl_log_text("trace", trace),
             pawl_log_str("definition", instance->definition_id.ptr, instance->definition_id.len),
             pawl_log_str("sub_status", instance->sub_status.ptr, instance->sub_status.len),
             pawl_log_duration_ns("duration", duration_ns),
             pawl_log_text("result", pawl_error_name(status)));
}

static void on_burst(void *ctx, const struct pawl_instance_row *instance,
                     const struct pawl_trace_context *span, struct pawl_str cause, int64_t begun_ns,
                     int64_t ended_ns, int status)
{
    log_burst(pawl__host_surroundings(ctx)->log, instance, ended_ns - begun_ns, status);
    pawl__measure_burst(pawl__host_meter(ctx), instance, ended_ns - begun_ns, status);
    pawl__trace_burst(pawl__host_tracer(ctx), pawl__runtime_node_id(pawl__host_node(ctx)), instance,
                      span, cause, begun_ns, ended_ns, status);
}

static void on_committed(void *ctx, const struct pawl_instance_row *instance,
                         const struct pawl_trace_context *span, int64_t begun_ns, int64_t ended_ns,
                         int status)
{
    (void)instance;
    pawl__trace_commit(pawl__host_tracer(ctx), span, begun_ns, ended_ns, status);
}

static void on_record(void *ctx, const struct pawl_instance_row *instance,
                      const struct pawl_trace_context *span, const struct pawl_log_record *record)
{
    (void)instance;
    pawl__trace_record(pawl__host_tracer(ctx), span, record);
}

static void on_request(void *ctx, struct pawl_str instance_id, struct pawl_trace_context *span)
{
    pawl__trace_of_instance(instance_id, span);
    pawl__tracer_new_span(pawl__host_tracer(ctx), span->span_id);
}

static void on_response(void *ctx, struct pawl_str instance_id,
                        const struct pawl_trace_context *span,
                        const struct pawl_http_request *request,
                        const struct pawl_http_answer *answer, int64_t begun_ns)
{
    pawl__trace_request(pawl__host_tracer(ctx), instance_id, span, request, answer, begun_ns,
                        pawl_env_monotonic_ns(pawl__host_env(ctx)));
}

static void on_begun(void *ctx, const struct pawl_work_row *work, int64_t late_us)
{
    pawl__measure_begun(pawl__host_meter(ctx),
                        pawl__str_is(work->kind, PAWL_WORK_TIMER) ||
                            pawl__str_is(work->kind, PAWL_WORK_TICK),
                        late_us);
}

static void on_waited(void *ctx, int64_t duration_ns)
{
    pawl__meter_observe_ns(pawl__host_meter(ctx), PAWL_METRIC_LOCK_WAIT_SECONDS, pawl__str(""),
                           duration_ns);
}

static void on_failure(void *ctx, struct pawl_str instance_id, const struct pawl_error *why)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);

    around->failed(around->ctx, instance_id, why);
}

static bool is_stopped(void *ctx)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);

    return around->stop(around->ctx);
}

static void on_end(void *ctx)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);

    around->ended(around->ctx);
}

/* Performs a function of the program's and makes its result durable. */
static int on_call(void *ctx, struct pawl_str instance_id, const struct pawl_json *call,
                   struct pawl_error *err)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(ctx);
    struct pawl_env *env = pawl__host_env(ctx);
    struct pawl_program_result result;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &env->alloc, CALL_BYTES_MAX);
    status = pawl__program_perform(around->activities, around->activity_count, &arena, instance_id,
                                   call, &result, err);
    if (status == PAWL_OK) {
        const struct pawl_stimulus stimulus = {.hash = pawl__str(result.hash),
                                               .instance_id = instance_id,
                                               .idempotency_key = result.key,
                                               .input = result.input,
                                               .first_wins = true};

        status = pawl__runtime_send(pawl__host_node(ctx), &stimulus, NULL,
                                    pawl_env_monotonic_ns(env) + CALL_SEND_NS, err);
    }
    pawl__arena_release(&arena);
    return status;
}

static struct pawl_runtime_hooks hooks_of(struct pawl_host *host)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(host);
    bool traces = pawl__host_tracer(host) != NULL;

    return (struct pawl_runtime_hooks){
        .line = around->line ? on_line : NULL,
        .task = around->task ? on_task : NULL,
        .call = around->activities ? on_call : NULL,
        .logged = around->step || around->measures ? on_log : NULL,
        .burst_begun = traces ? on_burst_begun : NULL,
        .burst = around->measures || traces ? on_burst : NULL,
        .committed = traces ? on_committed : NULL,
        .recorded = traces ? on_record : NULL,
        .request_begun = traces ? on_request : NULL,
        .request_ended = traces ? on_response : NULL,
        .begun = around->measures ? on_begun : NULL,
        .waited = around->measures ? on_waited : NULL,
        .failed = around->failed ? on_failure : NULL,
        .stop = around->stop ? is_stopped : NULL,
        .ended = around->ended ? on_end : NULL,
        .ctx = host,
    };
}

static enum pawl_delivery delivery_of(const struct pawl_configuration *configuration)
{
    const char *text = pawl__configuration_text(configuration, PAWL_SETTING_ID_DELIVERY);

    if (strcmp(text, "rows") == 0)
        return PAWL_DELIVERY_ROWS;
    return strcmp(text, "mixed") == 0 ? PAWL_DELIVERY_MIXED : PAWL_DELIVERY_DIRECT;
}

/* ---- opening -------------------------------------------------------------------------------- */

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
        .delivery = delivery_of(configuration),
        .claims_first = around->activity_count > 0,
        .works_itself = around->works_itself,
        .commit_batch =
            (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_COMMIT_BATCH),
        .log = around->log,
        .http = pawl__host_http(host),
        .guard = guard,
        .looks_only = around->looks_only,
        .heeds_pauses = !around->ephemeral,
        .stimulus_us =
            pawl__configuration_number(configuration, PAWL_SETTING_ID_STIMULUS_TTL) / 1000,
        .journal_max =
            pawl__configuration_number(configuration, PAWL_SETTING_ID_JOURNAL_MAX_RECORDS),
        .step_us = pawl__configuration_number(configuration, PAWL_SETTING_ID_STEP_DEADLINE) / 1000,
        .hooks = hooks_of(host),
        .definitions = {.keep_invalid = around->ephemeral},
        .no_journal = around->ephemeral,
    };
    struct pawl_runtime *node = NULL;
    char name[HOST_NAME_SIZE];
    struct pawl_buf info;
    int status;

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
                 ? pawl__runtime_open(pawl__host_env(host), pawl__host_engine(host),
                                      pawl__host_store(host), &options, &node, err)
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
    const struct pawl_workflow_runtime *runtime = pawl__host_runtime(host);

    return runtime ? runtime->node : NULL;
}
