/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a store, as data: what the structs of <pawl/ext/store.h> hold, column by column.
 * Schemas, statements and queries are made from this, so that a new column is added in one place:
 * at the end of its table, with the version of the schema that adds it.
 */
#include "base/arena.h"
#include "base/error.h"
#include "stores/stores.h"

/* clang-format off */
#define SINCE(version, type, row, column)                                                          \
    {#column, PAWL_COLUMN_##type, offsetof(struct row, column), version}
#define TEXT(row, column) SINCE(1, TEXT, row, column)
#define BYTES(row, column) SINCE(1, BYTES, row, column)
#define INT(row, column) SINCE(1, INT, row, column)
/* clang-format on */

static const struct pawl_column instance_columns[] = {
    TEXT(pawl_instance_row, id),
    TEXT(pawl_instance_row, definition_id),
    TEXT(pawl_instance_row, version_id),
    INT(pawl_instance_row, version),
    TEXT(pawl_instance_row, parent_id),
    TEXT(pawl_instance_row, status),
    TEXT(pawl_instance_row, sub_status),
    TEXT(pawl_instance_row, correlation_id),
    TEXT(pawl_instance_row, name),
    INT(pawl_instance_row, incident_count),
    INT(pawl_instance_row, is_system),
    INT(pawl_instance_row, created_us),
    INT(pawl_instance_row, updated_us),
    INT(pawl_instance_row, finished_us),
    INT(pawl_instance_row, owner),
    INT(pawl_instance_row, fence),
    INT(pawl_instance_row, revision),
    INT(pawl_instance_row, revision_fence),
    INT(pawl_instance_row, cancel_requested),
    INT(pawl_instance_row, runnable),
    BYTES(pawl_instance_row, state),
    BYTES(pawl_instance_row, counts),
    SINCE(2, INT, pawl_instance_row, revision_owner),
    SINCE(2, INT, pawl_instance_row, takeovers),
    SINCE(2, INT, pawl_instance_row, failures),
    SINCE(2, INT, pawl_instance_row, retry_us),
    SINCE(2, TEXT, pawl_instance_row, trouble),
    SINCE(2, INT, pawl_instance_row, alone),
    SINCE(2, INT, pawl_instance_row, state_sum),
    SINCE(2, INT, pawl_instance_row, id_hash),
};

static const struct pawl_column bookmark_columns[] = {
    TEXT(pawl_bookmark_row, id),
    TEXT(pawl_bookmark_row, instance_id),
    TEXT(pawl_bookmark_row, name),
    TEXT(pawl_bookmark_row, hash),
    TEXT(pawl_bookmark_row, activity_id),
    TEXT(pawl_bookmark_row, activity_instance_id),
    TEXT(pawl_bookmark_row, correlation_id),
    INT(pawl_bookmark_row, created_us),
    BYTES(pawl_bookmark_row, payload),
    BYTES(pawl_bookmark_row, metadata),
};

static const struct pawl_column work_columns[] = {
    TEXT(pawl_work_row, id),
    TEXT(pawl_work_row, kind),
    TEXT(pawl_work_row, instance_id),
    TEXT(pawl_work_row, bookmark_id),
    TEXT(pawl_work_row, hash),
    TEXT(pawl_work_row, correlation_id),
    TEXT(pawl_work_row, activity_instance_id),
    TEXT(pawl_work_row, name),
    INT(pawl_work_row, part),
    INT(pawl_work_row, created_us),
    INT(pawl_work_row, due_us),
    INT(pawl_work_row, expires_us),
    INT(pawl_work_row, attempts),
    INT(pawl_work_row, attempted_us),
    INT(pawl_work_row, owner),
    TEXT(pawl_work_row, error),
    BYTES(pawl_work_row, payload),
    SINCE(2, INT, pawl_work_row, takeovers),
    SINCE(2, INT, pawl_work_row, begun),
    SINCE(2, INT, pawl_work_row, deaths),
    SINCE(2, TEXT, pawl_work_row, definition_id),
};

static const struct pawl_column reservation_columns[] = {
    TEXT(pawl_reservation_row, key),
    TEXT(pawl_reservation_row, instance_id),
    TEXT(pawl_reservation_row, value),
    INT(pawl_reservation_row, expires_us),
};

static const struct pawl_column journal_columns[] = {
    TEXT(pawl_journal_row, instance_id), INT(pawl_journal_row, first_sequence),
    INT(pawl_journal_row, count),        INT(pawl_journal_row, from_us),
    INT(pawl_journal_row, to_us),        BYTES(pawl_journal_row, data),
};

static const struct pawl_column definition_columns[] = {
    TEXT(pawl_definition_row, id),
    TEXT(pawl_definition_row, definition_id),
    INT(pawl_definition_row, version),
    TEXT(pawl_definition_row, name),
    TEXT(pawl_definition_row, description),
    TEXT(pawl_definition_row, provider),
    INT(pawl_definition_row, is_latest),
    INT(pawl_definition_row, is_published),
    INT(pawl_definition_row, is_readonly),
    INT(pawl_definition_row, is_system),
    INT(pawl_definition_row, usable_as_activity),
    INT(pawl_definition_row, revision),
    INT(pawl_definition_row, created_us),
    BYTES(pawl_definition_row, data),
    SINCE(2, TEXT, pawl_definition_row, tool_version),
};

static const struct pawl_column trigger_columns[] = {
    TEXT(pawl_trigger_row, id),          TEXT(pawl_trigger_row, definition_id),
    TEXT(pawl_trigger_row, version_id),  TEXT(pawl_trigger_row, name),
    TEXT(pawl_trigger_row, activity_id), TEXT(pawl_trigger_row, hash),
    BYTES(pawl_trigger_row, payload),
};

static const struct pawl_column setting_columns[] = {
    TEXT(pawl_setting_row, key),
    BYTES(pawl_setting_row, value),
};

static const struct pawl_column dead_letter_columns[] = {
    TEXT(pawl_dead_letter_row, id),
    TEXT(pawl_dead_letter_row, work_id),
    TEXT(pawl_dead_letter_row, kind),
    TEXT(pawl_dead_letter_row, instance_id),
    TEXT(pawl_dead_letter_row, bookmark_id),
    TEXT(pawl_dead_letter_row, hash),
    TEXT(pawl_dead_letter_row, correlation_id),
    TEXT(pawl_dead_letter_row, activity_instance_id),
    TEXT(pawl_dead_letter_row, name),
    TEXT(pawl_dead_letter_row, reason),
    INT(pawl_dead_letter_row, created_us),
    INT(pawl_dead_letter_row, dead_us),
    INT(pawl_dead_letter_row, attempts),
    INT(pawl_dead_letter_row, attempted_us),
    INT(pawl_dead_letter_row, can_replay),
    INT(pawl_dead_letter_row, replayed_us),
    TEXT(pawl_dead_letter_row, replayed_id),
    TEXT(pawl_dead_letter_row, error),
    BYTES(pawl_dead_letter_row, payload),
};

static const struct pawl_column node_columns[] = {
    TEXT(pawl_node_row, id),      INT(pawl_node_row, incarnation), INT(pawl_node_row, joined_us),
    INT(pawl_node_row, lease_us), TEXT(pawl_node_row, info),
};

static const struct pawl_column stamp_columns[] = {
    TEXT(pawl_stamp_row, name),
    INT(pawl_stamp_row, value),
};

static const struct pawl_column route_columns[] = {
    SINCE(2, TEXT, pawl_route_row, path),
    SINCE(2, TEXT, pawl_route_row, method),
    SINCE(2, TEXT, pawl_route_row, id),
    SINCE(2, TEXT, pawl_route_row, instance_id),
    SINCE(2, TEXT, pawl_route_row, definition_id),
    SINCE(2, TEXT, pawl_route_row, hash),
    SINCE(2, BYTES, pawl_route_row, options),
};

static const struct pawl_column reply_columns[] = {
    SINCE(2, INT, pawl_reply_row, incarnation),
    SINCE(2, INT, pawl_reply_row, number),
    SINCE(2, INT, pawl_reply_row, expires_us),
    SINCE(2, BYTES, pawl_reply_row, data),
};

static const struct pawl_column task_columns[] = {
    SINCE(2, TEXT, pawl_task_row, id),
    SINCE(2, TEXT, pawl_task_row, instance_id),
    SINCE(2, TEXT, pawl_task_row, bookmark_id),
    SINCE(2, TEXT, pawl_task_row, name),
    SINCE(2, TEXT, pawl_task_row, correlation_id),
    SINCE(2, INT, pawl_task_row, created_us),
    SINCE(2, INT, pawl_task_row, due_us),
    SINCE(2, INT, pawl_task_row, expires_us),
    SINCE(2, INT, pawl_task_row, token),
    SINCE(2, INT, pawl_task_row, attempts),
    SINCE(2, TEXT, pawl_task_row, worker),
    SINCE(2, TEXT, pawl_task_row, error),
    SINCE(2, BYTES, pawl_task_row, progress),
    SINCE(2, BYTES, pawl_task_row, payload),
};

static const struct pawl_column plan_columns[] = {
    SINCE(2, TEXT, pawl_plan_row, id),          SINCE(2, TEXT, pawl_plan_row, status),
    SINCE(2, INT, pawl_plan_row, created_us),   SINCE(2, INT, pawl_plan_row, started_us),
    SINCE(2, INT, pawl_plan_row, completed_us), SINCE(2, INT, pawl_plan_row, job_count),
    SINCE(2, TEXT, pawl_plan_row, cursor),      SINCE(2, BYTES, pawl_plan_row, data),
};

static const struct pawl_column job_columns[] = {
    SINCE(2, TEXT, pawl_job_row, id),          SINCE(2, TEXT, pawl_job_row, plan_id),
    SINCE(2, TEXT, pawl_job_row, instance_id), SINCE(2, TEXT, pawl_job_row, status),
    SINCE(2, INT, pawl_job_row, created_us),   SINCE(2, INT, pawl_job_row, started_us),
    SINCE(2, INT, pawl_job_row, completed_us), SINCE(2, BYTES, pawl_job_row, log),
};

static const struct pawl_column consumer_columns[] = {
    SINCE(2, TEXT, pawl_consumer_row, version_id),
    SINCE(2, TEXT, pawl_consumer_row, used_id),
    SINCE(2, TEXT, pawl_consumer_row, definition_id),
    SINCE(2, TEXT, pawl_consumer_row, used_version_id),
    SINCE(2, INT, pawl_consumer_row, used_version),
    SINCE(2, INT, pawl_consumer_row, is_latest),
    SINCE(2, INT, pawl_consumer_row, is_published),
};

static const struct pawl_column incident_columns[] = {
    SINCE(2, TEXT, pawl_incident_row, instance_id),
    SINCE(2, INT, pawl_incident_row, number),
    SINCE(2, INT, pawl_incident_row, created_us),
    SINCE(2, TEXT, pawl_incident_row, fingerprint),
    SINCE(2, TEXT, pawl_incident_row, definition_id),
    SINCE(2, TEXT, pawl_incident_row, activity_id),
    SINCE(2, TEXT, pawl_incident_row, activity_type),
    SINCE(2, TEXT, pawl_incident_row, exception_type),
    SINCE(2, TEXT, pawl_incident_row, message),
};

static const struct pawl_column history_columns[] = {
    SINCE(2, TEXT, pawl_history_row, instance_id), SINCE(2, INT, pawl_history_row, revision),
    SINCE(2, INT, pawl_history_row, created_us),   SINCE(2, INT, pawl_history_row, expires_us),
    SINCE(2, INT, pawl_history_row, format),       SINCE(2, BYTES, pawl_history_row, data),
};

static const struct pawl_column audit_columns[] = {
    SINCE(2, TEXT, pawl_audit_row, id),     SINCE(2, INT, pawl_audit_row, created_us),
    SINCE(2, TEXT, pawl_audit_row, actor),  SINCE(2, TEXT, pawl_audit_row, door),
    SINCE(2, TEXT, pawl_audit_row, action), SINCE(2, TEXT, pawl_audit_row, kind),
    SINCE(2, TEXT, pawl_audit_row, target), SINCE(2, INT, pawl_audit_row, count),
    SINCE(2, TEXT, pawl_audit_row, result), SINCE(2, BYTES, pawl_audit_row, data),
};

static const struct pawl_column document_columns[] = {
    SINCE(2, TEXT, pawl_document_row, kind),      SINCE(2, TEXT, pawl_document_row, id),
    SINCE(2, TEXT, pawl_document_row, name),      SINCE(2, TEXT, pawl_document_row, lookup),
    SINCE(2, INT, pawl_document_row, revision),   SINCE(2, INT, pawl_document_row, created_us),
    SINCE(2, INT, pawl_document_row, updated_us), SINCE(2, INT, pawl_document_row, expires_us),
    SINCE(2, BYTES, pawl_document_row, data),
};

static const struct pawl_column statistic_columns[] = {
    SINCE(2, TEXT, pawl_statistic_row, kind),   SINCE(2, INT, pawl_statistic_row, minute_us),
    SINCE(2, TEXT, pawl_statistic_row, name),   SINCE(2, INT, pawl_statistic_row, source),
    SINCE(2, INT, pawl_statistic_row, count),   SINCE(2, INT, pawl_statistic_row, total),
    SINCE(2, INT, pawl_statistic_row, largest),
};

static const struct pawl_column execution_columns[] = {
    SINCE(2, TEXT, pawl_execution_row, id),
    SINCE(2, TEXT, pawl_execution_row, instance_id),
};

/* clang-format off */
#define TABLE_SINCE(version, text, one, keys, goes)                                                \
    {text, one##_columns, sizeof one##_columns / sizeof one##_columns[0], keys,                    \
     sizeof(struct pawl_##one##_row), version, goes}
#define TABLE(text, one, keys) TABLE_SINCE(1, text, one, keys, false)
/* Rows that go with the instance they name. */
#define TABLE_OWNED(text, one, keys) TABLE_SINCE(1, text, one, keys, true)
/* clang-format on */

static const struct pawl_table_info tables[PAWL_TABLE_COUNT] = {
    [PAWL_TABLE_INSTANCES] = TABLE("instances", instance, 1),
    [PAWL_TABLE_BOOKMARKS] = TABLE_OWNED("bookmarks", bookmark, 1),
    [PAWL_TABLE_WORK] = TABLE_OWNED("work", work, 1),
    [PAWL_TABLE_RESERVATIONS] = TABLE_OWNED("reservations", reservation, 1),
    [PAWL_TABLE_JOURNAL] = TABLE_OWNED("journal", journal, 2),
    [PAWL_TABLE_DEFINITIONS] = TABLE("definitions", definition, 1),
    [PAWL_TABLE_TRIGGERS] = TABLE("triggers", trigger, 1),
    [PAWL_TABLE_SETTINGS] = TABLE("settings", setting, 1),
    [PAWL_TABLE_DEAD_LETTERS] = TABLE("dead_letters", dead_letter, 1),
    [PAWL_TABLE_NODES] = TABLE("nodes", node, 1),
    [PAWL_TABLE_STAMPS] = TABLE("stamps", stamp, 1),
    [PAWL_TABLE_ROUTES] = TABLE_SINCE(2, "routes", route, 3, true),
    [PAWL_TABLE_REPLIES] = TABLE_SINCE(2, "replies", reply, 2, false),
    [PAWL_TABLE_TASKS] = TABLE_SINCE(2, "tasks", task, 1, true),
    [PAWL_TABLE_PLANS] = TABLE_SINCE(2, "plans", plan, 1, false),
    [PAWL_TABLE_JOBS] = TABLE_SINCE(2, "jobs", job, 1, false),
    [PAWL_TABLE_CONSUMERS] = TABLE_SINCE(2, "consumers", consumer, 2, false),
    [PAWL_TABLE_INCIDENTS] = TABLE_SINCE(2, "incidents", incident, 2, true),
    [PAWL_TABLE_HISTORY] = TABLE_SINCE(2, "history", history, 2, true),
    [PAWL_TABLE_AUDIT] = TABLE_SINCE(2, "audit", audit, 1, false),
    [PAWL_TABLE_DOCUMENTS] = TABLE_SINCE(2, "documents", document, 2, false),
    [PAWL_TABLE_STATISTICS] = TABLE_SINCE(2, "statistics", statistic, 4, false),
    [PAWL_TABLE_EXECUTIONS] = TABLE_SINCE(2, "executions", execution, 1, true),
};

#define FITS(row) _Static_assert(sizeof(struct row) <= PAWL_ROW_SIZE_MAX, "a larger row")
FITS(pawl_instance_row);
FITS(pawl_work_row);
FITS(pawl_dead_letter_row);
FITS(pawl_task_row);

const struct pawl_table_info *pawl_table_info(enum pawl_table table)
{
    PAWL_ASSERT((unsigned)table < PAWL_TABLE_COUNT);
    return &tables[table];
}

uint32_t pawl_table_column(enum pawl_table table, const char *name)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    uint32_t i = 0;

    while (i < info->column_count && strcmp(info->columns[i].name, name) != 0)
        i++;
    PAWL_ASSERT(i < info->column_count);
    return i;
}

void *pawl_arena_alloc(struct pawl_arena *arena, size_t size_bytes)
{
    return pawl__arena_alloc(arena, size_bytes);
}

int pawl__store_check_claims(const struct pawl_claim *claims, size_t count, struct pawl_error *err)
{
    if (count > PAWL_STORE_BATCH_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu claims at once; at most %d", count,
                               PAWL_STORE_BATCH_MAX);
    for (size_t i = 0; i < count; i++)
        if (claims[i].hash.len == 0 && claims[i].visits)
            return pawl__error_set(err, PAWL_EINVAL, "a visit names a bookmark");
        else if (claims[i].hash.len > 0 && (count > 1 || claims[i].ticket))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "a claim by a bookmark goes by itself and without a ticket");
    return PAWL_OK;
}

void pawl__store_fill_visit(struct pawl_claim *claim, int64_t owner,
                            const struct pawl_instance_row *row)
{
    claim->mail = NULL;
    claim->mail_count = 0;
    claim->status = row ? PAWL_OK : PAWL_EBUSY;
    claim->row = row ? *row : (struct pawl_instance_row){.id = claim->id};
    if (!row)
        return;
    claim->row.owner = owner;
    claim->row.fence = (row->fence > claim->seen_fence ? row->fence : claim->seen_fence) + 1;
}

int pawl__store_check_commit(const struct pawl_commit *commit, struct pawl_error *err)
{
    const uint32_t others =
        PAWL_COMMIT_KEEP | PAWL_COMMIT_REOPEN | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_END;

    if ((commit->flags & PAWL_COMMIT_VISITED) &&
        (commit->kind != PAWL_COMMIT_ADVANCE || (commit->flags & others)))
        return pawl__error_set(err, PAWL_EINVAL, "a visit ends with a commit that advances");
    return PAWL_OK;
}

int pawl__store_check_queries(size_t count, struct pawl_error *err)
{
    if (count > PAWL_STORE_QUERIES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu queries at once; at most %d", count,
                               PAWL_STORE_QUERIES_MAX);
    return PAWL_OK;
}

int pawl_store_find_each(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                         struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    struct pawl_rows found[PAWL_STORE_QUERIES_MAX];
    int status = pawl__store_check_queries(count, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl_store_find(store, &queries[i], arena, &found[i], deadline_ns, err);
    if (status == PAWL_OK && count > 0)
        memcpy(out, found, count * sizeof *out);
    return status;
}
