/* SPDX-License-Identifier: Apache-2.0 */
/* What a dashboard shows; see dashboard.h. */
#include "operations/dashboard.h"

#include "base/error.h"
#include "operations/query.h"

#define MINUTE_US INT64_C(60000000)

static int count_with_incidents(const struct pawl_op *op, uint64_t *out)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list list;
    int status;

    query.has_incidents = 1;
    query.page.total_only = true;
    status = pawl__op_instances_list(op, &query, &list);
    if (status == PAWL_OK)
        *out = list.page.total;
    return status;
}

int pawl__op_dashboard(const struct pawl_op *op, struct pawl_dashboard *out)
{
    struct pawl_dashboard found = {.with_incidents = 0};
    int status = pawl__op_overview(op, 0, &found.counts);

    if (status == PAWL_OK)
        status = pawl__op_cluster_status(op, &found.cluster);
    if (status == PAWL_OK)
        status = count_with_incidents(op, &found.with_incidents);
    if (status == PAWL_OK)
        *out = found;
    return status;
}

int pawl__op_recent(const struct pawl_op *op, int64_t within_us, uint32_t limit,
                    struct pawl_recent *out)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_time since = {.which = PAWL_INSTANCE_UPDATED, .compare = PAWL_GE};
    struct pawl_recent found;
    int status = op_now(op, &found.now_us);

    if (status != PAWL_OK)
        return status;
    since.us = found.now_us - within_us;
    query.times = &since;
    query.time_count = 1;
    query.sort = PAWL_INSTANCES_BY_UPDATED;
    query.page.limit = limit;
    status = pawl__op_instances_list(op, &query, &found.instances);
    if (status == PAWL_OK)
        *out = found;
    return status;
}

int pawl__op_hotspots(const struct pawl_op *op, int64_t within_us, struct pawl_hotspots *out)
{
    struct pawl_count_query query = {.page = {.limit = PAWL_COUNT_PAGE_MAX}};
    struct pawl_hotspots found;
    int status = op_now(op, &found.now_us);

    if (status != PAWL_OK)
        return status;
    /* The counts of a whole minute serve all who ask in it. */
    query.from_us = (found.now_us - within_us) / MINUTE_US * MINUTE_US;
    status = pawl__op_count_by_definition(op, &query, &found.definitions);
    if (status == PAWL_OK)
        *out = found;
    return status;
}

/* Instances of one period (the last one has no end: a node's clock may be ahead), by a time, a
 * sub-status ("": any) and incidents (-1: whichever). */
static int count_one(const struct pawl_op *op, const struct pawl_trend_bucket *bucket, bool is_last,
                     unsigned which, const char *sub_status, int has_incidents, uint64_t *out)
{
    struct pawl_instance_time times[2] = {
        {.compare = PAWL_GE, .us = bucket->from_us},
        {.compare = PAWL_LT, .us = is_last ? PAWL_TIME_NEVER : bucket->to_us}};
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    const struct pawl_str wanted = pawl__str(sub_status);
    struct pawl_instance_list list;
    int status;

    times[0].which = times[1].which = which;
    query.times = times;
    query.time_count = 2;
    query.has_incidents = has_incidents;
    query.is_system = 0;
    if (wanted.len > 0) {
        query.sub_statuses = &wanted;
        query.sub_status_count = 1;
    }
    query.page = (struct pawl_page_request){.total_only = true};
    status = pawl__op_instances_list(op, &query, &list);
    if (status == PAWL_OK)
        *out = list.page.total;
    return status;
}

static int count_bucket(const struct pawl_op *op, bool is_last, struct pawl_trend_bucket *to)
{
    int status = count_one(op, to, is_last, PAWL_INSTANCE_CREATED, "", -1, &to->created);

    if (status == PAWL_OK)
        status = count_one(op, to, is_last, PAWL_INSTANCE_ENDED, "Finished", -1, &to->finished);
    if (status == PAWL_OK)
        status = count_one(op, to, is_last, PAWL_INSTANCE_ENDED, "Faulted", -1, &to->faulted);
    if (status == PAWL_OK)
        status = count_one(op, to, is_last, PAWL_INSTANCE_UPDATED, "Suspended", -1, &to->suspended);
    if (status == PAWL_OK)
        status = count_one(op, to, is_last, PAWL_INSTANCE_CREATED, "", 1, &to->incidents);
    return status;
}

int pawl__op_trends(const struct pawl_op *op, int64_t period_us, uint32_t count,
                    struct pawl_trend_bucket **out)
{
    struct pawl_trend_bucket *buckets;
    int64_t now_us;
    int status = op_now(op, &now_us);

    if (status != PAWL_OK)
        return status;
    if (period_us <= 0 || count == 0 || count > PAWL_TREND_BUCKETS_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %u periods are counted",
                               PAWL_TREND_BUCKETS_MAX);
    buckets = pawl__arena_alloc_array(op->arena, count, sizeof *buckets);
    if (!buckets)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        buckets[i] =
            (struct pawl_trend_bucket){.from_us = now_us - (int64_t)(count - i) * period_us,
                                       .to_us = now_us - (int64_t)(count - i - 1) * period_us};
        status = count_bucket(op, i + 1 == count, &buckets[i]);
    }
    if (status == PAWL_OK)
        *out = buckets;
    return status;
}
