/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics, as data: to add one, add a row; everything else is made from it. What is counted as it
 * happens is kept by a meter; gauges are found out when somebody looks (operations/metrics.h).
 *
 * Values of labels are bounded: past PAWL_METER_SERIES_MAX of one metric they count as "other".
 */
#ifndef PAWL_HOST_METER_H
#define PAWL_HOST_METER_H

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

enum pawl_metric_type { PAWL_METRIC_COUNTER, PAWL_METRIC_GAUGE, PAWL_METRIC_HISTOGRAM };
/* Bounds of the buckets of a histogram. */
enum pawl_metric_unit { PAWL_UNIT_NONE, PAWL_UNIT_SECONDS, PAWL_UNIT_COUNT };

/* X(NAME of enum, name, type, unit, labels apart by commas, help) */
/* clang-format off */
#define PAWL_METRIC_LIST(X)                                                                        \
    X(BUILD_INFO, "pawl_build_info", GAUGE, NONE, "version", "The version that runs; always 1")    \
    X(HTTP_REQUESTS, "pawl_http_requests_total", COUNTER, NONE, "route,method,code",               \
      "Responses by route, method and status code")                                                \
    X(HTTP_REQUEST_SECONDS, "pawl_http_request_seconds", HISTOGRAM, SECONDS, "route",              \
      "Time from a request's first byte to its response")                                          \
    X(HTTP_CONNECTIONS, "pawl_http_connections", GAUGE, NONE, "", "Open connections")              \
    X(HTTP_QUEUE_LENGTH, "pawl_http_queue_length", GAUGE, NONE, "",                                \
      "Requests that wait for a thread")                                                           \
    X(HUB_CONNECTIONS, "pawl_hub_connections", GAUGE, NONE, "transport",                           \
      "Connections to the hub of instances")                                                       \
    X(HUB_INSTANCES, "pawl_hub_instances", GAUGE, NONE, "", "Instances that somebody watches")     \
    X(HUB_MESSAGES, "pawl_hub_messages_total", COUNTER, NONE, "result",                            \
      "Messages of the hub: sent, received, and dropped because a client does not read")           \
    X(HUB_LOOKS, "pawl_hub_looks_total", COUNTER, NONE, "kind",                                    \
      "Looks of the hub at the store, for all who watch")                                          \
    X(BURSTS, "pawl_bursts_total", COUNTER, NONE, "end",                                           \
      "Bursts of instances by what they ended with")                                               \
    X(BURST_SECONDS, "pawl_burst_seconds", HISTOGRAM, SECONDS, "", "Time that a burst took")       \
    X(ACTIVITIES, "pawl_activities_total", COUNTER, NONE, "type,end",                              \
      "Executions of activities by type and what they ended with")                                 \
    X(COMMITS, "pawl_commits_total", COUNTER, NONE, "result", "Commits by their result")           \
    X(COMMIT_SECONDS, "pawl_commit_seconds", HISTOGRAM, SECONDS, "",                               \
      "Time that the store took for commits that went together")                                   \
    X(COMMIT_BATCH_SIZE, "pawl_commit_batch_size", HISTOGRAM, COUNT, "",                           \
      "Commits that went to the store together")                                                   \
    X(STORE_CALLS, "pawl_store_calls_total", COUNTER, NONE, "call,result",                         \
      "Calls to the store by their result")                                                        \
    X(STORE_SECONDS, "pawl_store_seconds", HISTOGRAM, SECONDS, "call",                             \
      "Time that calls to the store took")                                                         \
    X(WORK_DUE, "pawl_work_due", GAUGE, NONE, "", "Rows of work that are due, in the store")       \
    X(WORK_OLDEST_SECONDS, "pawl_work_oldest_seconds", GAUGE, NONE, "",                            \
      "How long the oldest work that is due has waited")                                           \
    X(DUE_TO_START_SECONDS, "pawl_due_to_start_seconds", HISTOGRAM, SECONDS, "",                   \
      "Time from work being due to its beginning; the one to alert on")                            \
    X(TIMER_LATENESS_SECONDS, "pawl_timer_lateness_seconds", HISTOGRAM, SECONDS, "",               \
      "The same of timers alone")                                                                  \
    X(INSTANCES, "pawl_instances", GAUGE, NONE, "sub_status", "Instances in the store")            \
    X(DEAD_LETTERS, "pawl_dead_letters", GAUGE, NONE, "", "Work that was given up")                \
    X(TASKS_OPEN, "pawl_tasks_open", GAUGE, NONE, "name",                                          \
      "Tasks that workflows wait for; past 1,000 the rest is named other")                         \
    X(TASK_WAIT_SECONDS, "pawl_task_wait_seconds", GAUGE, NONE, "name",                            \
      "How long the oldest open task of each name has waited")                                     \
    X(SCRIPT_SECONDS, "pawl_script_seconds", HISTOGRAM, SECONDS, "",                               \
      "Time that an evaluation of JavaScript took")                                                \
    X(LOCK_WAIT_SECONDS, "pawl_lock_wait_seconds", HISTOGRAM, SECONDS, "",                         \
      "Time that instances waited for their locks")                                                \
    X(LEASE_REMAINING_SECONDS, "pawl_lease_remaining_seconds", GAUGE, NONE, "",                    \
      "How long this node's lease lasts without renewal")                                          \
    X(TAKEOVERS, "pawl_takeovers_total", COUNTER, NONE, "",                                        \
      "Instances that were claimed from a node that had died")                                     \
    X(FENCE_REFUSALS, "pawl_fence_refusals_total", COUNTER, NONE, "",                              \
      "Commits that the store refused because another node owns the instance")                     \
    X(GRAPH_CACHE, "pawl_graph_cache_total", COUNTER, NONE, "hit",                                 \
      "Lookups of definitions in memory")                                                          \
    X(LOGINS, "pawl_logins_total", COUNTER, NONE, "result", "Tries to sign in")                    \
    X(SPANS_DROPPED, "pawl_spans_dropped_total", COUNTER, NONE, "",                                \
      "Spans that were not sent to the collector")
/* clang-format on */

enum pawl_metric {
#define PAWL_METRIC_ENUM(id, name, type, unit, labels, help) PAWL_METRIC_##id,
    PAWL_METRIC_LIST(PAWL_METRIC_ENUM)
#undef PAWL_METRIC_ENUM
        PAWL_METRIC_COUNT
};

struct pawl_metric_info {
    const char *name;
    enum pawl_metric_type type;
    enum pawl_metric_unit unit;
    const char *labels;
    const char *help;
};
const struct pawl_metric_info *pawl__metric_info(enum pawl_metric metric);

#define PAWL_METRIC_LABELS_MAX 3
#define PAWL_METRIC_BUCKETS_MAX 16
#define PAWL_METER_SERIES_MAX 1000u

/* The upper bounds of a histogram's buckets, without the infinite one. */
const double *pawl__metric_bounds(enum pawl_metric metric, size_t *count);

/* One series, as of a moment. */
struct pawl_series {
    struct pawl_str labels[PAWL_METRIC_LABELS_MAX]; /* values */
    uint64_t count;                                 /* COUNTER: the value */
    double sum;
    uint64_t buckets[PAWL_METRIC_BUCKETS_MAX]; /* not cumulative */
};

struct pawl_meter;

PAWL_MUST_CHECK int pawl__meter_new(struct pawl_env *env, struct pawl_meter **out,
                                    struct pawl_error *err);
void pawl__meter_free(struct pawl_meter *meter); /* NULL allowed */

/*
 * Counts `value` more, or observes it once. Values of the labels in the order of the table; those
 * that a metric does not have are NULL or "". Any thread; NULL is allowed as the meter and does
 * nothing. What cannot be kept for lack of memory is not counted.
 */
void pawl__meter_count(struct pawl_meter *meter, enum pawl_metric metric, struct pawl_str first,
                       struct pawl_str second, struct pawl_str third, uint64_t value);
void pawl__meter_observe(struct pawl_meter *meter, enum pawl_metric metric, struct pawl_str first,
                         double value);
void pawl__meter_observe_ns(struct pawl_meter *meter, enum pawl_metric metric,
                            struct pawl_str first, int64_t ns);

/* Calls `visit` for each series of a metric, in the order in which they came. It must not wait. */
void pawl__meter_visit(struct pawl_meter *meter, enum pawl_metric metric,
                       void (*visit)(void *ctx, const struct pawl_series *series), void *ctx);

#endif
