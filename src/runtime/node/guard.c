/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the guard before an instance is touched; see guard.h. */
#include "runtime/node/private.h"

#include "runtime/task.h"
#include "runtime/work/private.h"

/* Whether the node that owns it is dead, by the store. A store that fails counts as no. */
static bool is_orphan(struct runtime_task *task, struct pawl_str instance_id)
{
    struct pawl_runtime *runtime = task->runtime;
    struct pawl_instance_row row;
    struct pawl_store_status seen;
    struct pawl_condition conditions[2] = {
        {.column = pawl_table_column(PAWL_TABLE_NODES, "incarnation")},
        {.column = pawl_table_column(PAWL_TABLE_NODES, "lease_us"), .compare = PAWL_GT},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_NODES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = conditions,
                                     .condition_count = 2};
    struct pawl_rows rows = {.total = 1};
    int status =
        pawl__runtime_show(runtime, instance_id, &task->arena, &row, NULL, task->deadline_ns, NULL);

    if (status == PAWL_OK && row.owner != 0)
        status = pawl_store_status(runtime->store, &seen, task->deadline_ns, NULL);
    if (status != PAWL_OK || row.owner == 0)
        return false;
    conditions[0].value.integer = row.owner;
    conditions[1].value.integer = seen.now_us;
    status = pawl_store_find(runtime->store, &query, &task->arena, &rows, task->deadline_ns, NULL);
    return status == PAWL_OK && rows.total == 0;
}

/* A lock that a dead node left does not keep a worker from what that node left with it. */
int pawl__runtime_pass(struct runtime_task *task, struct pawl_str instance_id,
                       enum pawl_guard_how how, struct pawl_guard_pass *out)
{
    struct pawl_runtime *runtime = task->runtime;
    const struct pawl_runtime_hooks *hooks = &runtime->options.hooks;
    bool tells = hooks->waited && runtime->options.guard;
    int64_t begun_ns = tells ? pawl_env_monotonic_ns(runtime->env) : 0;
    int status = pawl__guard_enter(runtime->options.guard, instance_id, how, task->deadline_ns, out,
                                   task->err);

    if (tells)
        hooks->waited(hooks->ctx, pawl_env_monotonic_ns(runtime->env) - begun_ns);
    if (status != PAWL_OK && task->is_direct)
        return status; /* and nothing is left: it becomes a row */
    if (status == PAWL_EBUSY && is_orphan(task, instance_id))
        return PAWL_OK;
    if (status != PAWL_OK && how == PAWL_GUARD_TRY)
        pawl__runtime_note_left(runtime);
    return status;
}

void pawl__runtime_unpass(struct runtime_task *task, struct pawl_str instance_id,
                          struct pawl_guard_pass pass)
{
    if (pass.ticket.key != 0)
        pawl_store_unlock(task->runtime->store, &pass.ticket);
    pawl__guard_leave(task->runtime->options.guard, instance_id, pass);
}
