/* SPDX-License-Identifier: Apache-2.0 */
/* Elsa's dashboard: counts over a period that ends now. */
#include "views/dashboard.h"
#include "api/endpoint.h"
#include "api/private.h"

#define DASHBOARD API_ELSA "/dashboard"
#define READ "read:dashboard read:*"
#define RECENT_ROWS 20u
#define HOUR_US INT64_C(3600000000)

static const char *const range_names[] = {"1h", "24h", "7d", "30d", NULL};
static const struct pawl_range ranges[] = {
    {"1h", "minute", HOUR_US / 12, 12},
    {"24h", "hour", HOUR_US, 24},
    {"7d", "day", 24 * HOUR_US, 7},
    {"30d", "day", 24 * HOUR_US, 30},
};
#define USUAL_RANGE 1

struct range_request {
    int range;
};

static const struct api_field range_fields[] = {
    API_FIELD_CHOICE(struct range_request, range, "range", range_names, "range"),
};

static const struct pawl_range *range_of(const void *data)
{
    const struct range_request *request = data;

    return &ranges[request->range < 0 ? USUAL_RANGE : request->range];
}

static int64_t start_of(const struct pawl_range *range, int64_t now_us)
{
    return now_us - range->period_us * range->count;
}

static int count_with_incidents(struct api_call *call, uint64_t *out)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list list;
    int status;

    query.has_incidents = 1;
    query.page.total_only = true;
    status = pawl__op_instances_list(&call->op, &query, &list);
    if (status == PAWL_OK)
        *out = list.page.total;
    return status;
}

static void show_overview(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_cluster_status found;
    struct pawl_overview seen;
    uint64_t with_incidents = 0;
    struct pawl_json out;
    int status = pawl__op_overview(&call->op, 0, &seen);

    if (status == PAWL_OK)
        status = pawl__op_cluster_status(&call->op, &found);
    if (status == PAWL_OK)
        status = count_with_incidents(call, &with_incidents);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_dashboard(&b, range_of(data), &seen, &found, with_incidents);
    api_respond(call, &b, &out);
}

static void show_attention(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_overview seen;
    struct pawl_json out;
    int status = pawl__op_overview(&call->op, 0, &seen);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_attention(&b, range_of(data), &seen);
    api_respond(call, &b, &out);
}

static void show_recent(struct api_call *call, const void *data)
{
    const struct pawl_range *range = range_of(data);
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_cluster_status found;
    struct pawl_instance_time since = {.which = PAWL_INSTANCE_UPDATED, .compare = PAWL_GE};
    struct pawl_instance_list list;
    struct pawl_json out;
    int status = pawl__op_cluster_status(&call->op, &found);

    query.times = &since;
    query.time_count = 1;
    query.sort = PAWL_INSTANCES_BY_UPDATED;
    query.page.limit = RECENT_ROWS;
    if (status == PAWL_OK) {
        since.us = start_of(range, found.now_us);
        status = pawl__op_instances_list(&call->op, &query, &list);
    }
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_recent(&b, range, &list, found.now_us);
    api_respond(call, &b, &out);
}

static void show_trends(struct api_call *call, const void *data)
{
    const struct pawl_range *range = range_of(data);
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_trend_bucket *buckets;
    struct pawl_json out;
    int status = pawl__op_trends(&call->op, range->period_us, range->count, &buckets);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_trends(&b, range, buckets);
    api_respond(call, &b, &out);
}

static void show_hotspots(struct api_call *call, const void *data)
{
    const struct pawl_range *range = range_of(data);
    struct pawl_count_query query = {.page = {.limit = PAWL_COUNT_PAGE_MAX}};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_counts_list list;
    struct pawl_cluster_status found;
    struct pawl_json out;
    int status = pawl__op_cluster_status(&call->op, &found);

    if (status == PAWL_OK) {
        /* The counts of a whole minute serve all who ask in it. */
        query.from_us = start_of(range, found.now_us) / 60000000 * 60000000;
        status = pawl__op_count_by_definition(&call->op, &query, &list);
    }
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_hotspots(&b, range, &list, found.now_us);
    api_respond(call, &b, &out);
}

#define PANEL(method_, path_, body_, handle_, summary_)                                            \
    {                                                                                              \
        .method = (method_), .path = DASHBOARD path_, .permission = READ, .body = (body_),         \
        .handle = (handle_), API_FIELDS(struct range_request, range_fields),                       \
        .summary = (summary_), .result = "Dashboard"                                               \
    }

static const struct api_endpoint endpoints[] = {
    PANEL("GET", "/overview", API_BODY_IGNORED, show_overview, "Counts, and how the runtime is"),
    PANEL("GET", "/needs-attention", API_BODY_IGNORED, show_attention,
          "What an operator should look at"),
    PANEL("GET", "/recent-activity", API_BODY_IGNORED, show_recent, "The latest instances"),
    PANEL("POST", "/workflow-trends", API_BODY_OPTIONAL, show_trends,
          "Counts of instances over time"),
    PANEL("POST", "/workflow-hotspots", API_BODY_OPTIONAL, show_hotspots,
          "Definitions with the most faults"),
};
const struct api_family api_dashboard = API_FAMILY("Dashboard", endpoints);
