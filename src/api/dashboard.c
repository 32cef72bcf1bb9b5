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
static const struct pawl_dashboard_range ranges[] = {
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

static const struct pawl_dashboard_range *range_of(const void *data)
{
    const struct range_request *request = data;

    return &ranges[request->range < 0 ? USUAL_RANGE : request->range];
}

static int64_t length_of(const struct pawl_dashboard_range *range)
{
    return range->period_us * range->count;
}

static void show_overview(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_dashboard seen;
    struct pawl_json out;
    int status = pawl__op_dashboard(&call->op, &seen);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_dashboard(&b, range_of(data), &seen);
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
    const struct pawl_dashboard_range *range = range_of(data);
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_recent recent;
    struct pawl_json out;
    int status = pawl__op_recent(&call->op, length_of(range), RECENT_ROWS, &recent);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_recent(&b, range, &recent);
    api_respond(call, &b, &out);
}

static void show_trends(struct api_call *call, const void *data)
{
    const struct pawl_dashboard_range *range = range_of(data);
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
    const struct pawl_dashboard_range *range = range_of(data);
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_hotspots hotspots;
    struct pawl_json out;
    int status = pawl__op_hotspots(&call->op, length_of(range), &hotspots);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_hotspots(&b, range, &hotspots);
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
