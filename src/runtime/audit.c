/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what operators change; see audit.h. */
#include "runtime/audit.h"

#include "base/error.h"
#include "runtime/runtime_private.h"
#include "runtime/task.h"

#include <string.h>

struct pawl_change pawl__audit_change(const struct pawl_audit *audit, int64_t count, int64_t now_us,
                                      struct pawl_audit_row *row)
{
    *row = audit->row;
    row->count += count;
    if (row->created_us == 0)
        row->created_us = now_us;
    return (struct pawl_change){audit->is_stored ? PAWL_CHANGE_PUT : PAWL_CHANGE_INSERT,
                                PAWL_TABLE_AUDIT, row};
}

void pawl__audit_settle(struct pawl_audit *audit, const struct pawl_audit_row *row, int status)
{
    if (status == PAWL_OK)
        audit->row.count = row->count;
    else if (pawl_error_class(status) != PAWL_CLASS_UNKNOWN)
        return;
    audit->row.created_us = row->created_us;
    audit->is_stored = true;
}

/* *found NULL: there is none. */
static int find_record(struct pawl_store *store, struct pawl_str id, struct pawl_arena *arena,
                       const struct pawl_audit_row **found, int64_t deadline_ns,
                       struct pawl_error *err)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_AUDIT, "id"),
                                             .value = {.text = id}};
    const struct pawl_query query = {.table = PAWL_TABLE_AUDIT,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = 1};
    struct pawl_rows rows = {0};
    int status = pawl_store_find(store, &query, arena, &rows, deadline_ns, err);

    *found = status == PAWL_OK && rows.count > 0 ? rows.rows : NULL;
    return status;
}

int pawl__audit_is_stored(struct pawl_store *store, const struct pawl_audit_row *row,
                          struct pawl_arena *arena, bool *stored, int64_t deadline_ns,
                          struct pawl_error *err)
{
    const struct pawl_audit_row *found;
    int status = find_record(store, row->id, arena, &found, deadline_ns, err);

    if (status == PAWL_OK)
        *stored = found && found->created_us == row->created_us && found->count == row->count;
    return status;
}

int pawl__audit_is_used(struct pawl_store *store, struct pawl_str id, struct pawl_arena *arena,
                        bool *used, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_audit_row *found;
    int status = find_record(store, id, arena, &found, deadline_ns, err);

    if (status == PAWL_OK)
        *used = found != NULL;
    return status;
}

int pawl__runtime_commit_by(struct runtime_task *task, struct pawl_commit *commit,
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_commit recorded = *commit;
    struct pawl_audit_row row;
    struct pawl_change *changes;
    int64_t now_us;
    int status;

    if (!task->by)
        return pawl__runtime_commit(task->runtime, commit, deadline_ns, err);
    status = pawl__runtime_clock(task->runtime, &now_us, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    changes = pawl__arena_alloc_array(&task->arena, commit->change_count + 1, sizeof *changes);
    if (!changes)
        return pawl__error_code(err, pawl__arena_status(&task->arena));
    changes[0] = pawl__audit_change(task->by, 1, now_us, &row);
    if (commit->change_count > 0)
        memcpy(changes + 1, commit->changes, commit->change_count * sizeof *changes);
    recorded.changes = changes;
    recorded.change_count = commit->change_count + 1;
    status = pawl__runtime_commit(task->runtime, &recorded, deadline_ns, err);
    pawl__audit_settle(task->by, &row, status);
    if (status == PAWL_OK)
        task->by = NULL;
    commit->status = recorded.status;
    commit->cancel_requested = recorded.cancel_requested;
    commit->has_mail = recorded.has_mail;
    commit->has_expired = recorded.has_expired;
    commit->error = recorded.error;
    return status;
}
