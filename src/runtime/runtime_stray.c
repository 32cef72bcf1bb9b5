/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strays: work and instances that are this node's by the store, and that nobody here has in hand.
 *
 * What a living node has no other one takes. So whenever something may have stayed behind (the
 * answer to a take or a claim was lost, a commit that should have ended or released it failed) the
 * node notes that, and a little later asks the store what it has, and does that as if it had just
 * been taken. What some thread is doing after all is done by one of them: the guards see to that.
 */
#include "runtime/runtime_private.h"

#include "base/error.h"

/* Between a failure and the look at what it left behind: the store may need the time too. */
#define STRAY_NS INT64_C(1000000000)

void pawl__runtime_note_stray(struct pawl_runtime *runtime)
{
    int64_t at_ns = pawl_env_monotonic_ns(runtime->env) + STRAY_NS;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return; /* stopped: what it had is free when its lease ends */
    if (runtime->stray_ns == 0)
        runtime->stray_ns = at_ns;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

/* Whether it is time to look; then it is up to the caller. */
static bool take_note(struct pawl_runtime *runtime)
{
    int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
    bool due;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    due = runtime->stray_ns != 0 && now_ns >= runtime->stray_ns;
    if (due)
        runtime->stray_ns = 0;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return due;
}

static bool is_done(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    const struct runtime_done *done;
    bool found = false;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    PAWL_LIST_FOR_EACH (done, &runtime->done_effects, link)
        found = found || pawl__str_equal(done->id, work_id);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return found;
}

static int find_work(struct pawl_runtime *runtime, uint32_t limit, struct pawl_arena *arena,
                     struct pawl_taken *taken, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_WORK, "owner"),
         .value = {.integer = pawl__keeper_incarnation(runtime->keeper)}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "due_us"),
         .compare = PAWL_LE,
         .any = 1,
         .value = {.integer = taken->now_us}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "expires_us"),
         .compare = PAWL_LE,
         .any = 1,
         .value = {.integer = taken->now_us}},
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK,
        .conditions = conditions,
        .condition_count = sizeof conditions / sizeof conditions[0],
        .order = pawl_table_column(PAWL_TABLE_WORK, "due_us"),
        .limit = limit,
    };
    struct pawl_work_row *all;
    struct pawl_rows rows;
    int status = pawl_store_find(runtime->store, &query, arena, &rows, deadline_ns, err);

    if (status != PAWL_OK || rows.count == 0)
        return status;
    /* With what was just taken, which is among them if there was room. */
    all = pawl__arena_alloc_array(arena, rows.count + taken->work_count, sizeof *all);
    if (!all)
        return pawl__error_code(err, pawl__arena_status(arena));
    if (taken->work_count > 0)
        memcpy(all, taken->work, taken->work_count * sizeof *all);
    taken->work = all;
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_work_row *row = &((const struct pawl_work_row *)rows.rows)[i];
        bool known = is_done(runtime, row->id);

        for (size_t j = 0; j < taken->work_count && !known; j++)
            known = pawl__str_equal(all[j].id, row->id);
        if (!known)
            all[taken->work_count++] = *row;
    }
    return PAWL_OK;
}

static int find_instances(struct pawl_runtime *runtime, uint32_t limit, struct pawl_arena *arena,
                          struct pawl_taken *taken, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "owner"),
        .value = {.integer = pawl__keeper_incarnation(runtime->keeper)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES,
        .flags = PAWL_QUERY_BRIEF,
        .conditions = &condition,
        .condition_count = 1,
        .limit = limit,
    };
    struct pawl_str *all;
    struct pawl_rows rows;
    int status = pawl_store_find(runtime->store, &query, arena, &rows, deadline_ns, err);

    if (status != PAWL_OK || rows.count == 0)
        return status;
    all = pawl__arena_alloc_array(arena, rows.count + taken->runnable_count, sizeof *all);
    if (!all)
        return pawl__error_code(err, pawl__arena_status(arena));
    if (taken->runnable_count > 0)
        memcpy(all, taken->runnable, taken->runnable_count * sizeof *all);
    for (size_t i = 0; i < rows.count; i++)
        all[taken->runnable_count++] = ((const struct pawl_instance_row *)rows.rows)[i].id;
    taken->runnable = all;
    return PAWL_OK;
}

void pawl__runtime_add_strays(struct pawl_runtime *runtime, uint32_t limit,
                              struct pawl_arena *arena, struct pawl_taken *taken,
                              int64_t deadline_ns)
{
    int status;

    if (!take_note(runtime))
        return;
    pawl__runtime_flush_done(runtime, deadline_ns);
    status = find_work(runtime, limit, arena, taken, deadline_ns, NULL);
    if (status == PAWL_OK)
        status = find_instances(runtime, limit, arena, taken, deadline_ns, NULL);
    if (status != PAWL_OK)
        pawl__runtime_note_stray(runtime);
}
