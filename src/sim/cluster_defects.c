/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defects that Pawl once had, put back around sound code, for the simulated cluster: whatever would
 * bring one of them back must be found. As in cluster_bugs.c no sound code has a switch for them.
 */
#include "sim/cluster_private.h"

#include "base/alloc.h"
#include "base/error.h"

#define WOKEN_MAX 1000u

struct defect_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_store_ops ops;
    struct pawl_env *env;
};

static struct defect_store *cast(struct pawl_store *store)
{
    return (struct defect_store *)(void *)store;
}

/* ---- a bookmark wakes all that is parked under its hash ------------------------------------ */

static int make_due(struct pawl_store *store, const struct pawl_work_row *parked,
                    int64_t deadline_ns)
{
    struct pawl_work_row row = *parked;
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN,
                                 .done = &parked->id,
                                 .done_count = 1,
                                 .done_owner = 0,
                                 .changes = &change,
                                 .change_count = 1};
    struct pawl_commit *member = &commit;

    row.due_us = row.created_us;
    return pawl_store_apply(store->inner, &member, 1, deadline_ns, NULL);
}

static void wake_all(struct pawl_store *store, struct pawl_str hash, int64_t deadline_ns)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_WORK, "hash"), .value = {.text = hash}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "due_us"),
         .value = {.integer = PAWL_TIME_NEVER}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .limit = WOKEN_MAX};
    struct pawl_arena arena;
    struct pawl_rows rows = {0};
    int status;

    pawl__arena_init(&arena, &cast(store)->env->alloc, ARENA_BYTES_MAX);
    status = pawl_store_find(store->inner, &query, &arena, &rows, deadline_ns, NULL);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        status = make_due(store, &((const struct pawl_work_row *)rows.rows)[i], deadline_ns);
    pawl__arena_release(&arena);
}

static int apply_and_wake(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        for (size_t k = 0; commits[i]->status == PAWL_OK && k < commits[i]->change_count; k++) {
            const struct pawl_change *change = &commits[i]->changes[k];

            if (change->table == PAWL_TABLE_BOOKMARKS && change->kind != PAWL_CHANGE_DELETE &&
                change->kind != PAWL_CHANGE_DELETE_OWNED)
                wake_all(store, ((const struct pawl_bookmark_row *)change->row)->hash, deadline_ns);
        }
    }
    return status;
}

/* ---- parked mail that expires is taken and not done ---------------------------------------- */

static int take_but_mail(struct pawl_store *store, const struct pawl_take *take,
                         struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    struct pawl_taken taken;
    struct pawl_work_row *kept;
    size_t count = 0;
    int status = pawl_store_take(store->inner, take, arena, &taken, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    kept = pawl__arena_alloc_array(arena, taken.work_count + 1, sizeof *kept);
    if (!kept)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i < taken.work_count; i++)
        if (taken.work[i].instance_id.len == 0 || taken.work[i].due_us != PAWL_TIME_NEVER)
            kept[count++] = taken.work[i];
    taken.work = kept;
    taken.work_count = count;
    *out = taken;
    return PAWL_OK;
}

/* ---- a node is not told that its incarnation is over ---------------------------------------- */

static int lease_untold(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int status = pawl_store_lease(store->inner, lease, deadline_ns, err);

    return status == PAWL_ECONFLICT && lease->kind == PAWL_LEASE_RENEW
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "the lease was not renewed")
               : status;
}

/* ---- what is to be cancelled is not seen between commits ------------------------------------ */

static int find_no_cancelled(struct pawl_store *store, const struct pawl_query *query,
                             struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                             struct pawl_error *err)
{
    int status = pawl_store_find(store->inner, query, arena, out, deadline_ns, err);

    if (status != PAWL_OK || query->table != PAWL_TABLE_INSTANCES)
        return status;
    for (size_t i = 0; i < query->condition_count; i++)
        if (query->conditions[i].column ==
                pawl_table_column(PAWL_TABLE_INSTANCES, "cancel_requested") &&
            (query->conditions[i].value.integer != 0 || query->conditions[i].compare != PAWL_EQ))
            *out = (struct pawl_rows){.rows = out->rows};
    return PAWL_OK;
}

/* ---- what was sent once takes effect as often as it is sent --------------------------------- */

static bool is_guard(const struct pawl_change *change)
{
    return change->table == PAWL_TABLE_RESERVATIONS && change->kind == PAWL_CHANGE_INSERT &&
           pawl__str_starts(((const struct pawl_reservation_row *)change->row)->key,
                            pawl__str("commit:"));
}

static int apply_one_without_guard(struct pawl_store *store, struct pawl_commit *commit,
                                   int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_commit copy = *commit, *member = &copy;
    struct pawl_change *changes;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &cast(store)->env->alloc, ARENA_BYTES_MAX);
    changes = pawl__arena_alloc_array(&arena, commit->change_count + 1, sizeof *changes);
    if (!changes) {
        pawl__arena_release(&arena);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    copy.change_count = 0;
    for (size_t i = 0; i < commit->change_count; i++)
        if (!is_guard(&commit->changes[i]))
            changes[copy.change_count++] = commit->changes[i];
    copy.changes = changes;
    status = pawl_store_apply(store->inner, &member, 1, deadline_ns, err);
    if (status == PAWL_OK) {
        commit->status = copy.status;
        commit->cancel_requested = copy.cancel_requested;
        commit->has_mail = copy.has_mail;
        commit->has_expired = copy.has_expired;
        commit->error = copy.error;
    }
    pawl__arena_release(&arena);
    return status;
}

static int apply_without_guard(struct pawl_store *store, struct pawl_commit *const *commits,
                               size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = apply_one_without_guard(store, commits[i], deadline_ns, err);
    return status;
}

/* ---- a start that is given up takes the next tick with it ----------------------------------- */

static bool gives_up_a_start(const struct pawl_commit *commit)
{
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];

        if (change->table == PAWL_TABLE_DEAD_LETTERS && change->kind == PAWL_CHANGE_ADD &&
            pawl__str_is(((const struct pawl_dead_letter_row *)change->row)->kind, "start"))
            return true;
    }
    return false;
}

static void end_ticks(struct pawl_store *store, int64_t deadline_ns)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
                                             .value = {.text = pawl__str("tick")}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};
    struct pawl_arena arena;
    struct pawl_rows rows = {0};
    int status;

    pawl__arena_init(&arena, &cast(store)->env->alloc, ARENA_BYTES_MAX);
    status = pawl_store_find(store->inner, &query, &arena, &rows, deadline_ns, NULL);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK,
                                           &((const struct pawl_work_row *)rows.rows)[i]};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
        struct pawl_commit *member = &commit;

        status = pawl_store_apply(store->inner, &member, 1, deadline_ns, NULL);
    }
    pawl__arena_release(&arena);
}

static int apply_and_end_ticks(struct pawl_store *store, struct pawl_commit *const *commits,
                               size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        if (commits[i]->status == PAWL_OK && gives_up_a_start(commits[i]))
            end_ticks(store, deadline_ns);
    return status;
}

/* ---- a lost answer to a commit counts as "nothing happened" --------------------------------- */

static int apply_and_deny(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);

    return pawl_error_class(status) == PAWL_CLASS_UNKNOWN
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "the commits were not made")
               : status;
}

/* ------------------------------------------------------------------------------------------ */

static void defect_close(struct pawl_store *store)
{
    struct pawl_env *env = cast(store)->env;

    pawl_store_close(store->inner);
    pawl__free(&env->alloc, cast(store), sizeof(struct defect_store));
}

int pawl__cluster_defect_store_new(struct pawl_env *env, struct pawl_store *inner,
                                   enum pawl_cluster_bug bug, struct pawl_store **out,
                                   struct pawl_error *err)
{
    struct defect_store *defect = pawl__alloc_zeroed(&env->alloc, sizeof *defect);

    if (!defect)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__sim_forward_init(&defect->ops);
    defect->ops.close = defect_close;
    if (bug == PAWL_CLUSTER_BUG_WAKES_ALL)
        defect->ops.apply = apply_and_wake;
    else if (bug == PAWL_CLUSTER_BUG_WRONG_CLASS)
        defect->ops.apply = apply_and_deny;
    else if (bug == PAWL_CLUSTER_BUG_MAIL_STAYS)
        defect->ops.take = take_but_mail;
    else if (bug == PAWL_CLUSTER_BUG_UNTOLD)
        defect->ops.lease = lease_untold;
    else if (bug == PAWL_CLUSTER_BUG_CANCEL_UNSEEN)
        defect->ops.find = find_no_cancelled;
    else if (bug == PAWL_CLUSTER_BUG_SENT_TWICE)
        defect->ops.apply = apply_without_guard;
    else if (bug == PAWL_CLUSTER_BUG_TICKS_END)
        defect->ops.apply = apply_and_end_ticks;
    defect->env = env;
    defect->base = (struct pawl_store){
        .ops = &defect->ops, .caps = inner->caps, .inner = inner, .name = "defect"};
    *out = &defect->base;
    return PAWL_OK;
}
