/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the dashboard; see dashboard.h. */
#include "views/dashboard.h"

#include "views/instances.h"

static struct pawl_json view_capability(struct pawl_builder *b, const char *status)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_name(b, &out, "status", status);
    return out;
}

static void put_range(struct pawl_builder *b, struct pawl_json *to,
                      const struct pawl_dashboard_range *range, int64_t now_us)
{
    pawl__view_time(b, to, "from", now_us - range->period_us * range->count);
    pawl__view_time(b, to, "to", now_us);
}

static struct pawl_json view_runtime(struct pawl_builder *b,
                                     const struct pawl_cluster_status *status)
{
    struct pawl_json out = pawl__json_object();
    const char *reason = status->pause       ? "AdministrativePause"
                         : status->is_ending ? "Drain"
                                             : "None";

    pawl__build_name(b, &out, "status", status->is_accepting ? "AcceptingWork" : "Paused");
    pawl__build_bool(b, &out, "isAcceptingWork", status->is_accepting);
    pawl__build_int(b, &out, "activeExecutionCycleCount", (int64_t)status->runs);
    pawl__build_int(b, &out, "ingressSourceCount", 3);
    pawl__build_int(b, &out, "failedIngressSourceCount", 0);
    pawl__build_name(b, &out, "reason", reason);
    return out;
}

static struct pawl_json view_instances(struct pawl_builder *b, const struct pawl_dashboard *seen)
{
    struct pawl_json out = pawl__json_object();
    const uint64_t *counts = seen->counts.instances;

    pawl__build_int(b, &out, "running",
                    (int64_t)(counts[PAWL_COUNTED_PENDING] + counts[PAWL_COUNTED_EXECUTING]));
    pawl__build_int(b, &out, "completed", (int64_t)counts[PAWL_COUNTED_FINISHED]);
    pawl__build_int(b, &out, "faulted", (int64_t)counts[PAWL_COUNTED_FAULTED]);
    pawl__build_int(b, &out, "suspended", (int64_t)counts[PAWL_COUNTED_SUSPENDED]);
    pawl__build_int(b, &out, "interrupted", 0);
    pawl__build_int(b, &out, "incidentBearing", (int64_t)seen->with_incidents);
    return out;
}

/* Logs are kept by whoever collects them. */
static struct pawl_json view_logs(struct pawl_builder *b, const char *const *counts)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "capability", view_capability(b, "NotInstalled"));
    for (; *counts; counts++)
        pawl__build_int(b, &out, *counts, 0);
    return out;
}

static struct pawl_json view_diagnostics(struct pawl_builder *b)
{
    static const char *const structured[] = {
        "sourceCount",       "staleSourceCount",  "recentErrorOrCriticalCount",
        "droppedWriteCount", "droppedEventCount", NULL};
    static const char *const console[] = {"sourceCount", "staleSourceCount", "recentStderrCount",
                                          "droppedLineCount", NULL};
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "structuredLogs", view_logs(b, structured));
    pawl__build(b, &out, "consoleLogs", view_logs(b, console));
    return out;
}

struct pawl_json pawl__view_dashboard(struct pawl_builder *b,
                                      const struct pawl_dashboard_range *range,
                                      const struct pawl_dashboard *seen)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "capability", view_capability(b, "Available"));
    pawl__build_name(b, &out, "backendName", "Pawl");
    pawl__build_name(b, &out, "environmentName", "Production");
    pawl__build(b, &out, "runtime", view_runtime(b, &seen->cluster));
    pawl__build(b, &out, "workflowInstances", view_instances(b, seen));
    pawl__build(b, &out, "diagnostics", view_diagnostics(b));
    pawl__build(b, &out, "metrics", pawl__json_array());
    pawl__build(b, &out, "panels", pawl__json_array());
    pawl__build_name(b, &out, "appliedRange", range->name);
    put_range(b, &out, range, seen->counts.now_us);
    return out;
}

static void add_finding(struct pawl_builder *b, struct pawl_json *to, const char *kind,
                        const char *severity, const char *message, uint64_t count)
{
    struct pawl_json one = pawl__json_object();

    if (count == 0)
        return;
    pawl__build_name(b, &one, "kind", kind);
    pawl__build_name(b, &one, "severity", severity);
    pawl__build_name(b, &one, "message", message);
    pawl__build_int(b, &one, "count", (int64_t)count);
    pawl__build_append(b, to, one);
}

struct pawl_json pawl__view_attention(struct pawl_builder *b,
                                      const struct pawl_dashboard_range *range,
                                      const struct pawl_overview *seen)
{
    struct pawl_json out = pawl__json_object(), findings = pawl__json_array();

    add_finding(b, &findings, "Paused", "Warning", "The nodes are paused.", seen->pause != NULL);
    add_finding(b, &findings, "SetAside", "Error", "Instances wait for an operator.",
                seen->set_aside);
    add_finding(b, &findings, "DeadLetters", "Warning", "Work was given up.",
                seen->work.dead_letters);
    add_finding(b, &findings, "Faulted", "Warning", "Instances have faulted.",
                seen->instances[PAWL_COUNTED_FAULTED]);
    pawl__build(b, &out, "findings", findings);
    pawl__build(b, &out, "capability", view_capability(b, "Available"));
    pawl__build_name(b, &out, "appliedRange", range->name);
    return out;
}

struct pawl_json pawl__view_recent(struct pawl_builder *b, const struct pawl_dashboard_range *range,
                                   const struct pawl_recent *recent)
{
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();

    for (size_t i = 0; i < recent->instances.count; i++)
        pawl__build_append(b, &items, pawl__view_instance_summary(b, &recent->instances.rows[i]));
    pawl__build(b, &out, "items", items);
    pawl__build_name(b, &out, "appliedRange", range->name);
    put_range(b, &out, range, recent->now_us);
    return out;
}

struct pawl_json pawl__view_trends(struct pawl_builder *b, const struct pawl_dashboard_range *range,
                                   const struct pawl_trend_bucket *buckets)
{
    struct pawl_json out = pawl__json_object(), list = pawl__json_array();

    for (uint32_t i = 0; i < range->count; i++) {
        const struct pawl_trend_bucket *bucket = &buckets[i];
        struct pawl_json one = pawl__json_object();

        pawl__view_time(b, &one, "from", bucket->from_us);
        pawl__view_time(b, &one, "to", bucket->to_us);
        pawl__build_int(b, &one, "createdOrStarted", (int64_t)bucket->created);
        pawl__build_int(b, &one, "finished", (int64_t)bucket->finished);
        pawl__build_int(b, &one, "faulted", (int64_t)bucket->faulted);
        pawl__build_int(b, &one, "suspended", (int64_t)bucket->suspended);
        pawl__build_int(b, &one, "incidentBearing", (int64_t)bucket->incidents);
        pawl__build_append(b, &list, one);
    }
    pawl__build(b, &out, "buckets", list);
    pawl__build_name(b, &out, "appliedRange", range->name);
    pawl__build_name(b, &out, "granularity", range->granularity);
    pawl__view_time(b, &out, "from", buckets[0].from_us);
    pawl__view_time(b, &out, "to", buckets[range->count - 1].to_us);
    return out;
}

struct pawl_json pawl__view_hotspots(struct pawl_builder *b,
                                     const struct pawl_dashboard_range *range,
                                     const struct pawl_hotspots *hotspots)
{
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();

    for (size_t i = 0; i < hotspots->definitions.count; i++) {
        const struct pawl_definition_counts *counts = &hotspots->definitions.rows[i];
        struct pawl_json one = pawl__json_object();

        if (counts->instances[PAWL_COUNTED_FAULTED] == 0)
            continue;
        pawl__view_text(b, &one, "definitionId", counts->definition_id);
        pawl__view_text(b, &one, "name", counts->name);
        pawl__build_int(b, &one, "count", (int64_t)counts->instances[PAWL_COUNTED_FAULTED]);
        pawl__build_append(b, &items, one);
    }
    pawl__build(b, &out, "items", items);
    pawl__build_name(b, &out, "appliedRange", range->name);
    pawl__build_name(b, &out, "metric", "Faults");
    put_range(b, &out, range, hotspots->now_us);
    return out;
}
