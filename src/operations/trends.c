/* SPDX-License-Identifier: Apache-2.0 */
/* Counts over time; see trends.h. */
#include "operations/trends.h"

#include "base/error.h"
#include "operations/query.h"

/* Instances of one period, by a time, a sub-status ("": any) and incidents (-1: whichever). */
static int count_one(const struct pawl_op *op, const struct pawl_trend_bucket *bucket, int which,
                     const char *sub_status, int has_incidents, uint64_t *out)
{
    struct pawl_instance_time times[2] = {{.compare = PAWL_GE, .us = bucket->from_us},
                                          {.compare = PAWL_LT, .us = bucket->to_us}};
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

static int count_bucket(const struct pawl_op *op, struct pawl_trend_bucket *to)
{
    int status = count_one(op, to, PAWL_INSTANCE_CREATED, "", -1, &to->created);

    if (status == PAWL_OK)
        status = count_one(op, to, PAWL_INSTANCE_ENDED, "Finished", -1, &to->finished);
    if (status == PAWL_OK)
        status = count_one(op, to, PAWL_INSTANCE_ENDED, "Faulted", -1, &to->faulted);
    if (status == PAWL_OK)
        status = count_one(op, to, PAWL_INSTANCE_UPDATED, "Suspended", -1, &to->suspended);
    if (status == PAWL_OK)
        status = count_one(op, to, PAWL_INSTANCE_CREATED, "", 1, &to->incidents);
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
        status = count_bucket(op, &buckets[i]);
    }
    if (status == PAWL_OK)
        *out = buckets;
    return status;
}
