/* SPDX-License-Identifier: Apache-2.0 */
/* The log of an instance; see journal.h. */
#include "operations/journal.h"

#include "base/error.h"
#include "operations/instances.h"
#include "operations/query.h"
#include "runtime/runtime.h"

static int check_exists(const struct pawl_op *op, struct pawl_str instance_id)
{
    bool exists = false;
    int status = pawl__op_instance_exists(op, instance_id, &exists);

    if (status == PAWL_OK && !exists)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no instance %.*s",
                               PAWL_STR_ARG(instance_id));
    return status;
}

int pawl__op_journal_list(const struct pawl_op *op, const struct pawl_journal_query *query,
                          struct pawl_journal_list *out)
{
    const struct pawl_journal_request request = {
        .offset = query->offset,
        .limit = query->total_only  ? 1
                 : query->limit > 0 ? query->limit
                                    : PAWL_PAGE_ROWS_DEFAULT,
        .newest_first = query->newest_first,
        .with_total = !query->without_total,
        .activity_ids = query->activity_ids,
        .node_ids = query->node_ids,
        .events = query->events,
        .excluded_types = query->excluded_types,
        .activity_id_count = query->activity_id_count,
        .node_id_count = query->node_id_count,
        .event_count = query->event_count,
        .excluded_type_count = query->excluded_type_count,
    };
    struct pawl_journal_list found;
    int status;

    if (query->limit > PAWL_PAGE_ROWS_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "a page has at most %u records, not %u",
                               PAWL_PAGE_ROWS_MAX, query->limit);
    status = pawl__runtime_journal_page(op_runtime(op), query->instance_id, &request, op->arena,
                                        &found.records, &found.total, op->deadline_ns, op->err);
    if (status == PAWL_OK && query->must_exist && found.total == 0)
        status = check_exists(op, query->instance_id);
    if (query->total_only)
        found.records = pawl__json_array();
    if (status == PAWL_OK)
        *out = found;
    return status;
}

int pawl__op_journal_last(const struct pawl_op *op, struct pawl_str instance_id,
                          struct pawl_str activity_id, struct pawl_json *out)
{
    const struct pawl_str events[] = {pawl__str("Started"), pawl__str("Completed"),
                                      pawl__str("Faulted")};
    const struct pawl_journal_request request = {.limit = 1,
                                                 .newest_first = true,
                                                 .activity_ids = &activity_id,
                                                 .activity_id_count = 1,
                                                 .events = events,
                                                 .event_count = 3};
    struct pawl_json log;
    uint64_t seen;
    int status = pawl__runtime_journal_page(op_runtime(op), instance_id, &request, op->arena, &log,
                                            &seen, op->deadline_ns, op->err);

    if (status == PAWL_OK && pawl__json_len(&log) == 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND,
                               "activity %.*s of instance %.*s has no record of an execution",
                               PAWL_STR_ARG(activity_id), PAWL_STR_ARG(instance_id));
    if (status == PAWL_OK)
        *out = *pawl__json_at(&log, 0);
    return status;
}
