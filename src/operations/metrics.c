/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics as text; see metrics.h. */
#include "operations/metrics.h"

#include "base/error.h"
#include "base/json/json.h"
#include "host/host.h"
#include "host/meter.h"
#include "operations/metrics_tasks.h"
#include "operations/query.h"
#include "operations/statistics.h"
#include "runtime/definitions/definitions.h"
#include "runtime/runtime.h"

#include <pawl/version.h>
#include <stdio.h>

#define SECOND_US 1e6

struct writing {
    struct pawl_buf *out;
    enum pawl_metric metric;
    const struct pawl_metric_info *info;
};

/* ---- text ----------------------------------------------------------------------------------- */

static void write_number(struct pawl_buf *out, double value)
{
    struct pawl_json_writer json;

    pawl__json_writer_init(&json, out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_double(&json, value);
    pawl__buf_byte(out, '\n');
}

static void write_escaped(struct pawl_buf *out, struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '\\' || c == '"')
            pawl__buf_byte(out, '\\');
        if (c == '\n')
            pawl__buf_text(out, "\\n");
        else
            pawl__buf_byte(out, c);
    }
}

/* "name_suffix{a="1",b="2",le="0.5"} "; `bound` NULL: none. */
static void write_name(const struct writing *w, const char *suffix, const struct pawl_str *labels,
                       const char *bound)
{
    struct pawl_str left = pawl__str(w->info->labels);
    bool any = false;

    pawl__buf_text(w->out, w->info->name);
    pawl__buf_text(w->out, suffix);
    for (size_t i = 0; left.len > 0; i++) {
        size_t end = pawl__str_find(left, ',', 0);

        pawl__buf_text(w->out, any ? "," : "{");
        pawl__buf_str(w->out, pawl__str_slice(left, 0, end));
        pawl__buf_text(w->out, "=\"");
        write_escaped(w->out, labels[i]);
        pawl__buf_byte(w->out, '"');
        any = true;
        left = end == SIZE_MAX ? pawl__str("") : pawl__str_slice(left, end + 1, left.len);
    }
    if (bound)
        pawl__buf_printf(w->out, "%sle=\"%s\"", any ? "," : "{", bound);
    pawl__buf_text(w->out, any || bound ? "} " : " ");
}

static void write_head(const struct writing *w)
{
    static const char *const types[] = {[PAWL_METRIC_COUNTER] = "counter",
                                        [PAWL_METRIC_GAUGE] = "gauge",
                                        [PAWL_METRIC_HISTOGRAM] = "histogram"};

    pawl__buf_printf(w->out, "# HELP %s %s\n# TYPE %s %s\n", w->info->name, w->info->help,
                     w->info->name, types[w->info->type]);
}

static void write_histogram(const struct writing *w, const struct pawl_series *series)
{
    size_t count;
    const double *bounds = pawl__metric_bounds(w->metric, &count);
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        char bound[32];

        sum += series->buckets[i];
        (void)snprintf(bound, sizeof bound, "%g", bounds[i]);
        write_name(w, "_bucket", series->labels, bound);
        pawl__buf_printf(w->out, "%llu\n", (unsigned long long)sum);
    }
    write_name(w, "_bucket", series->labels, "+Inf");
    pawl__buf_printf(w->out, "%llu\n", (unsigned long long)series->count);
    write_name(w, "_sum", series->labels, NULL);
    write_number(w->out, series->sum);
    write_name(w, "_count", series->labels, NULL);
    pawl__buf_printf(w->out, "%llu\n", (unsigned long long)series->count);
}

static void write_series(void *ctx, const struct pawl_series *series)
{
    const struct writing *w = ctx;

    if (w->info->type == PAWL_METRIC_HISTOGRAM) {
        write_histogram(w, series);
    } else {
        write_name(w, "", series->labels, NULL);
        pawl__buf_printf(w->out, "%llu\n", (unsigned long long)series->count);
    }
}

/* ---- gauges --------------------------------------------------------------------------------- */

struct gauges {
    const struct pawl_metrics_door *door;
    struct pawl_overview overview;
    struct op_task_names tasks;
    bool has_overview, has_tasks, has_lease;
    uint64_t hits, misses;
    double lease_remaining_s;
};

static void find_lease(const struct pawl_op *op, struct gauges *gauges)
{
    struct pawl_str own = pawl__str(pawl__runtime_node_id(op_runtime(op)));

    for (size_t i = 0; i < gauges->overview.nodes.count; i++) {
        const struct pawl_node_shown *node = &gauges->overview.nodes.nodes[i];

        if (pawl__str_equal(node->row->id, own)) {
            gauges->has_lease = true;
            gauges->lease_remaining_s = (double)node->left_us / SECOND_US;
        }
    }
}

/* What the store does not say is left out: the rest says why. */
static void find_gauges(const struct pawl_op *op, struct gauges *gauges)
{
    struct pawl_op quiet = *op;

    quiet.err = NULL;
    gauges->has_overview = pawl__op_overview(&quiet, 0, &gauges->overview) == PAWL_OK;
    if (gauges->has_overview)
        find_lease(op, gauges);
    gauges->has_tasks = op_count_tasks(&quiet, &gauges->tasks) == PAWL_OK;
    pawl__definitions_lookups(op_definitions(op), &gauges->hits, &gauges->misses);
}

static void write_labelled(struct writing *w, struct pawl_str label, double value)
{
    const struct pawl_str labels[PAWL_METRIC_LABELS_MAX] = {label};

    write_name(w, "", labels, NULL);
    write_number(w->out, value);
}

static void write_gauge(struct writing *w, const char *label, double value)
{
    write_labelled(w, pawl__str(label), value);
}

static void write_tasks(struct writing *w, const struct op_task_names *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        const struct op_task_name *one = &tasks->names[i];

        if (w->metric == PAWL_METRIC_TASKS_OPEN)
            write_labelled(w, one->name, (double)one->count);
        else if (one->oldest_us > 0)
            write_labelled(w, one->name, (double)(tasks->now_us - one->oldest_us) / SECOND_US);
    }
}

static void write_instances(struct writing *w, const struct gauges *gauges)
{
    for (unsigned i = 0; i < PAWL_COUNTED_COUNT; i++)
        write_gauge(w, pawl__counted_name((enum pawl_counted)i),
                    (double)gauges->overview.instances[i]);
}

static void write_from_store(struct writing *w, const struct gauges *gauges)
{
    const struct pawl_overview *seen = &gauges->overview;

    if (w->metric == PAWL_METRIC_WORK_DUE)
        write_gauge(w, "", (double)seen->work.due);
    else if (w->metric == PAWL_METRIC_WORK_OLDEST_SECONDS)
        write_gauge(w, "",
                    seen->work.oldest_due_us == 0
                        ? 0
                        : (double)(seen->counted_us - seen->work.oldest_due_us) / SECOND_US);
    else if (w->metric == PAWL_METRIC_DEAD_LETTERS)
        write_gauge(w, "", (double)seen->work.dead_letters);
    else if (w->metric == PAWL_METRIC_INSTANCES)
        write_instances(w, gauges);
}

static void write_hub(struct writing *w, const struct pawl_metrics_door *door)
{
    if (w->metric == PAWL_METRIC_HUB_INSTANCES) {
        write_gauge(w, "", (double)door->hub_instances);
        return;
    }
    write_gauge(w, "WebSockets", (double)door->hub_web_sockets);
    write_gauge(w, "ServerSentEvents", (double)door->hub_server_sent_events);
    write_gauge(w, "LongPolling", (double)door->hub_long_polling);
}

static void write_other(struct writing *w, const struct gauges *gauges)
{
    if (w->metric == PAWL_METRIC_HUB_CONNECTIONS || w->metric == PAWL_METRIC_HUB_INSTANCES)
        write_hub(w, gauges->door);
    else if (w->metric == PAWL_METRIC_BUILD_INFO)
        write_gauge(w, pawl_version(), 1);
    else if (w->metric == PAWL_METRIC_HTTP_CONNECTIONS)
        write_gauge(w, "", (double)gauges->door->http_connections);
    else if (w->metric == PAWL_METRIC_HTTP_QUEUE_LENGTH)
        write_gauge(w, "", (double)gauges->door->http_queue_length);
    else if ((w->metric == PAWL_METRIC_TASKS_OPEN || w->metric == PAWL_METRIC_TASK_WAIT_SECONDS) &&
             gauges->has_tasks)
        write_tasks(w, &gauges->tasks);
    else if (w->metric == PAWL_METRIC_LEASE_REMAINING_SECONDS && gauges->has_lease)
        write_gauge(w, "", gauges->lease_remaining_s);
    else if (w->metric == PAWL_METRIC_GRAPH_CACHE) {
        write_gauge(w, "true", (double)gauges->hits);
        write_gauge(w, "false", (double)gauges->misses);
    }
}

int pawl__op_metrics(const struct pawl_op *op, const struct pawl_metrics_door *door,
                     struct pawl_buf *out)
{
    struct pawl_meter *meter = pawl__host_meter(op->host);
    struct gauges gauges = {.door = door};

    if (!meter)
        return pawl__error_set(op->err, PAWL_EUNSUPPORTED, "nothing is measured here");
    find_gauges(op, &gauges);
    for (unsigned i = 0; i < PAWL_METRIC_COUNT; i++) {
        enum pawl_metric metric = (enum pawl_metric)i;
        struct writing w = {out, metric, pawl__metric_info(metric)};

        write_head(&w);
        pawl__meter_visit(meter, metric, write_series, &w);
        if (gauges.has_overview)
            write_from_store(&w, &gauges);
        write_other(&w, &gauges);
    }
    return out->status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, out->status);
}

/* ---- doors ---------------------------------------------------------------------------------- */

void pawl__op_count_login(struct pawl_host *host, const char *result)
{
    pawl__meter_count(pawl__host_meter(host), PAWL_METRIC_LOGINS, pawl__str(result), pawl__str(""),
                      pawl__str(""), 1);
}

void pawl__op_count_request(struct pawl_host *host, const char *route, struct pawl_str method,
                            int code, int64_t duration_ns)
{
    struct pawl_meter *meter = pawl__host_meter(host);
    char text[8];

    if (!meter)
        return;
    (void)snprintf(text, sizeof text, "%d", code);
    pawl__meter_count(meter, PAWL_METRIC_HTTP_REQUESTS, pawl__str(route), method, pawl__str(text),
                      1);
    pawl__meter_observe_ns(meter, PAWL_METRIC_HTTP_REQUEST_SECONDS, pawl__str(route), duration_ns);
}

static void count(struct pawl_host *host, enum pawl_metric metric, const char *label,
                  uint64_t value)
{
    pawl__meter_count(pawl__host_meter(host), metric, pawl__str(label), pawl__str(""),
                      pawl__str(""), value);
}

void pawl__op_count_hub_messages(struct pawl_host *host, const char *result, uint64_t value)
{
    count(host, PAWL_METRIC_HUB_MESSAGES, result, value);
}

void pawl__op_count_hub_look(struct pawl_host *host, const char *kind)
{
    count(host, PAWL_METRIC_HUB_LOOKS, kind, 1);
}
