/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions of activities: the newest form of each record that commits have written, in the order
 * in which they began. They are read with the whole journal, which has a limit
 * (`journal.max_records`).
 */
#include "operations/journal.h"

#include "base/error.h"
#include "operations/query.h"
#include "runtime/runtime.h"

/* Of a list over all instances: they are in the journals of these, and read as a whole. */
#define ALL_INSTANCES_MAX 1000u
#define ALL_RECORDS_MAX 10000u
/* Of one chain of executions that scheduled each other. */
#define STACK_MAX 1000u

static struct pawl_str text_of(const struct pawl_json *record, const char *key)
{
    return pawl__json_str(pawl__json_get_text(record, key));
}

static int read_all(const struct pawl_op *op, struct pawl_str instance_id,
                    struct pawl_json *records)
{
    struct pawl_json log;

    return pawl__runtime_journal(op_runtime(op), instance_id, op->arena, &log, records,
                                 op->deadline_ns, op->err);
}

static int add_records(const struct pawl_op *op, const struct pawl_json *from, struct pawl_json *to)
{
    int status = PAWL_OK;

    if (pawl__json_len(from) > ALL_RECORDS_MAX - pawl__json_len(to))
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "there are more than %u executions: name an instance",
                               ALL_RECORDS_MAX);
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(from); i++)
        status = pawl__json_append(op->arena, to, *pawl__json_at(from, i));
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

/* Of all instances, the oldest first. */
static int read_everybody(const struct pawl_op *op, struct pawl_json *out)
{
    struct pawl_json records, all = pawl__json_array();
    const struct pawl_instance_row *instances;
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_INSTANCES, "created_us", false);
    status = op_find_all(op, &query, ALL_INSTANCES_MAX + 1, &rows);
    if (status == PAWL_OK && rows.count > ALL_INSTANCES_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "there are more than %u instances: name the one whose executions "
                               "are meant",
                               ALL_INSTANCES_MAX);
    instances = rows.rows;
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        status = read_all(op, instances[i].id, &records);
        if (status == PAWL_OK)
            status = add_records(op, &records, &all);
        else if (status == PAWL_ENOTFOUND) /* it was deleted meanwhile */
            status = PAWL_OK;
    }
    if (status == PAWL_OK)
        *out = all;
    return status;
}

static int read_named(const struct pawl_op *op, struct pawl_str instance_id,
                      struct pawl_json *records)
{
    return instance_id.len > 0 ? read_all(op, instance_id, records) : read_everybody(op, records);
}

static bool is_completed(const struct pawl_json *record)
{
    return text_of(record, "completedAt").len > 0;
}

static bool matches(const struct pawl_execution_query *query, const struct pawl_json *record)
{
    return (query->node_id.len == 0 ||
            pawl__str_equal(query->node_id, text_of(record, "activityNodeId"))) &&
           (query->activity_id.len == 0 ||
            pawl__str_equal(query->activity_id, text_of(record, "activityId"))) &&
           (query->is_completed < 0 || is_completed(record) == (query->is_completed != 0));
}

int pawl__op_executions_list(const struct pawl_op *op, const struct pawl_execution_query *query,
                             struct pawl_json *out)
{
    struct pawl_json records, found = pawl__json_array();
    int status = read_named(op, query->instance_id, &records);

    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&records); i++) {
        const struct pawl_json *record = pawl__json_at(&records, i);

        if (matches(query, record) && pawl__json_append(op->arena, &found, *record) != PAWL_OK)
            status = pawl__error_code(op->err, pawl__arena_status(op->arena));
    }
    if (status == PAWL_OK)
        *out = found;
    return status;
}

static const struct pawl_json *find(const struct pawl_json *records, struct pawl_str id)
{
    for (uint32_t i = 0; id.len > 0 && i < pawl__json_len(records); i++) {
        if (pawl__str_equal(text_of(pawl__json_at(records, i), "id"), id))
            return pawl__json_at(records, i);
    }
    return NULL;
}

/* ---- by id alone ---------------------------------------------------------------------------- */

/* Instances of one hash that are asked: with 2^32 of them there are one or two. */
#define CANDIDATES_MAX 100u

/* Of those whose ids of executions have this hash, the one that has it. */
static int ask_instances(const struct pawl_op *op, struct pawl_str id, struct pawl_str *instance_id)
{
    int64_t hash = pawl__runtime_hash_of_execution(id);
    const struct pawl_instance_row *candidates;
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    if (hash == 0)
        return PAWL_OK;
    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_int(&query, "id_hash", PAWL_EQ, hash);
    status = op_find_all(op, &query, CANDIDATES_MAX, &rows);
    candidates = rows.rows;
    for (size_t i = 0; status == PAWL_OK && i < rows.count && instance_id->len == 0; i++) {
        struct pawl_json records;

        status = read_all(op, candidates[i].id, &records);
        if (status == PAWL_OK && find(&records, id))
            *instance_id = candidates[i].id;
        else if (status == PAWL_ENOTFOUND) /* it was deleted meanwhile */
            status = PAWL_OK;
    }
    return status;
}

static int ask_imported(const struct pawl_op *op, struct pawl_str id, struct pawl_str *instance_id)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_EXECUTIONS, NULL, false);
    op_where_text(&query, "id", PAWL_EQ, id);
    status = op_find_all(op, &query, 1, &rows);
    if (status == PAWL_OK && rows.count > 0)
        *instance_id = ((const struct pawl_execution_row *)rows.rows)->instance_id;
    return status;
}

int pawl__op_execution_locate(const struct pawl_op *op, struct pawl_str id,
                              struct pawl_str *instance_id)
{
    struct pawl_str found = pawl__str("");
    int status;

    if (id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "nothing says which execution");
    status = ask_instances(op, id, &found);
    if (status == PAWL_OK && found.len == 0)
        status = ask_imported(op, id, &found);
    if (status == PAWL_OK && found.len == 0)
        status = pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no execution %.*s",
                                 PAWL_STR_ARG(id));
    if (status == PAWL_OK)
        *instance_id = found;
    return status;
}

/* Reads the journal of the instance that is named, or else of the one that has the execution. */
static int read_of(const struct pawl_op *op, struct pawl_str *instance_id, struct pawl_str id,
                   struct pawl_json *records)
{
    int status = instance_id->len > 0 ? PAWL_OK : pawl__op_execution_locate(op, id, instance_id);

    return status == PAWL_OK ? read_all(op, *instance_id, records) : status;
}

static int unknown(const struct pawl_op *op, struct pawl_str instance_id, struct pawl_str id)
{
    return pawl__error_set(op->err, PAWL_ENOTFOUND, "instance %.*s has no execution %.*s",
                           PAWL_STR_ARG(instance_id), PAWL_STR_ARG(id));
}

int pawl__op_execution_show(const struct pawl_op *op, struct pawl_str instance_id,
                            struct pawl_str id, struct pawl_json *out)
{
    const struct pawl_json *record;
    struct pawl_json records;
    int status = read_of(op, &instance_id, id, &records);

    if (status != PAWL_OK)
        return status;
    record = find(&records, id);
    if (!record)
        return unknown(op, instance_id, id);
    *out = *record;
    return PAWL_OK;
}

/* Chains of instances that started each other, at the most. */
#define STACK_INSTANCES_MAX 100u

/*
 * What scheduled an execution: in the records that are there, or else in those of the instance that
 * it names, which are then there. *out NULL: nothing did.
 */
static int find_scheduler(const struct pawl_op *op, const struct pawl_json *record,
                          uint32_t *instances_left, struct pawl_json *records,
                          const struct pawl_json **out)
{
    struct pawl_str id = text_of(record, "schedulingActivityExecutionId");
    struct pawl_str other = text_of(record, "schedulingWorkflowInstanceId");
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op quiet = *op;
    int status = PAWL_OK;

    *out = find(records, id);
    if (*out || id.len == 0 || other.len == 0 || *instances_left == 0)
        return PAWL_OK;
    --*instances_left;
    quiet.err = &err;
    status = read_all(&quiet, other, records);
    if (status == PAWL_OK)
        *out = find(records, id);
    else if (status != PAWL_ENOTFOUND && op->err)
        *op->err = err;
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

int pawl__op_execution_stack(const struct pawl_op *op, struct pawl_str instance_id,
                             struct pawl_str id, bool across, struct pawl_json *out)
{
    struct pawl_json records, chain = pawl__json_array(), stack = pawl__json_array();
    const struct pawl_json *record;
    uint32_t instances_left = across ? STACK_INSTANCES_MAX : 0;
    int status = read_of(op, &instance_id, id, &records);

    if (status != PAWL_OK)
        return status;
    record = find(&records, id);
    if (!record)
        return unknown(op, instance_id, id);
    while (record && pawl__json_len(&chain) < STACK_MAX && status == PAWL_OK) {
        const struct pawl_json *last = record;

        status = pawl__json_append(op->arena, &chain, *record);
        if (status != PAWL_OK)
            return pawl__error_code(op->err, status);
        status = find_scheduler(op, last, &instances_left, &records, &record);
    }
    if (status != PAWL_OK)
        return status;
    for (uint32_t i = pawl__json_len(&chain); status == PAWL_OK && i > 0; i--)
        status = pawl__json_append(op->arena, &stack, *pawl__json_at(&chain, i - 1));
    if (status != PAWL_OK)
        return pawl__error_code(op->err, status);
    *out = stack;
    return PAWL_OK;
}

/* ---- report --------------------------------------------------------------------------------- */

static bool is_wanted(struct pawl_str node_id, const struct pawl_str *node_ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pawl__str_equal(node_id, node_ids[i]))
            return true;
    }
    return count == 0;
}

static struct pawl_execution_stats *stats_of(struct pawl_execution_stats *all, size_t *count,
                                             const struct pawl_json *record)
{
    struct pawl_str node_id = text_of(record, "activityNodeId");

    for (size_t i = 0; i < *count; i++) {
        if (pawl__str_equal(all[i].node_id, node_id))
            return &all[i];
    }
    all[*count] = (struct pawl_execution_stats){.activity_id = text_of(record, "activityId"),
                                                .node_id = node_id};
    return &all[(*count)++];
}

static void count_record(struct pawl_execution_stats *stats, const struct pawl_json *record)
{
    int64_t faults = 0;

    (void)pawl__json_to_int(pawl__json_get_text(record, "aggregateFaultCount"), &faults);
    stats->started++;
    if (pawl__json_get_text(record, "metadata"))
        stats->metadata = *pawl__json_get_text(record, "metadata");
    stats->completed += is_completed(record);
    stats->fault_count += faults;
    if (pawl__json_true(pawl__json_get_text(record, "hasBookmarks")))
        stats->is_blocked = true;
    if (pawl__str_is(text_of(record, "status"), "Faulted"))
        stats->is_faulted = true;
}

int pawl__op_executions_report(const struct pawl_op *op, struct pawl_str instance_id,
                               const struct pawl_str *node_ids, size_t node_count,
                               const struct pawl_execution_stats **out, size_t *count)
{
    struct pawl_execution_stats *all;
    struct pawl_json records;
    size_t found = 0;
    int status = read_named(op, instance_id, &records);

    if (status != PAWL_OK)
        return status;
    all = pawl__arena_alloc_array(op->arena, (size_t)pawl__json_len(&records) + 1, sizeof *all);
    if (!all)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (uint32_t i = 0; i < pawl__json_len(&records); i++) {
        const struct pawl_json *record = pawl__json_at(&records, i);

        if (is_wanted(text_of(record, "activityNodeId"), node_ids, node_count))
            count_record(stats_of(all, &found, record), record);
    }
    *out = all;
    *count = found;
    return PAWL_OK;
}
