/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying commits, and resolving those of which nobody knows whether they took effect.
 *
 * Resolution rests on what only one try can have written:
 *   - a revision, and the fence and the incarnation by which it was written: under one fence an
 *     incarnation writes one commit at a time. The fence of a visit is the node's own, and the
 *     store may have granted the same: such a commit is known by the reservation that it inserts;
 *   - rows that the commit inserts: all or none of them are there. Work may be done and gone; so a
 *     commit that adds some, and has nothing else to be known by, inserts a reservation;
 *   - the record of what an operator changes (runtime/audit.h): nobody else writes it, and it is
 *     kept. It is all that is left of a deletion.
 * What others have overwritten since proves nothing; the outcome is then PAWL_EUNKNOWN, never a
 * guess.
 */
#include "runtime/commit/commit.h"

#include "base/error.h"

#include <stddef.h>

/* ---- copying ----------------------------------------------------------------------------- */

static void copy_column(const struct pawl_column *column, const void *from, void *to,
                        struct pawl_arena *arena)
{
    const char *source = (const char *)from + column->offset;
    char *target = (char *)to + column->offset;
    struct pawl_str text;

    if (column->type == PAWL_COLUMN_INT) {
        memcpy(target, source, sizeof(int64_t));
        return;
    }
    memcpy(&text, source, sizeof text);
    text = pawl__arena_str(arena, text);
    memcpy(target, &text, sizeof text);
}

/* The first `column_count` columns; the rest is 0. NULL: the arena says why. */
static void *copy_row(enum pawl_table table, const void *row, uint32_t column_count,
                      struct pawl_arena *arena)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    void *copy = pawl__arena_alloc_zeroed(arena, info->row_size);

    for (uint32_t i = 0; copy && i < column_count; i++)
        copy_column(&info->columns[i], row, copy, arena);
    return arena->status == PAWL_OK ? copy : NULL;
}

static const void *copy_change_row(const struct pawl_change *change, struct pawl_arena *arena)
{
    const struct pawl_table_info *info = pawl_table_info(change->table);
    void *row;

    if (change->kind == PAWL_CHANGE_DELETE)
        return copy_row(change->table, change->row, info->key_count, arena);
    if (change->kind != PAWL_CHANGE_DELETE_OWNED)
        return copy_row(change->table, change->row, info->column_count, arena);
    row = copy_row(change->table, change->row, 0, arena);
    if (row)
        copy_column(&info->columns[pawl_table_column(change->table, "instance_id")], change->row,
                    row, arena);
    return row;
}

/* Whether apply() stores the instance's columns, or reads its guard alone. */
static bool stores_columns(const struct pawl_commit *commit)
{
    return commit->kind == PAWL_COMMIT_CREATE ||
           (commit->kind == PAWL_COMMIT_ADVANCE && !(commit->flags & PAWL_COMMIT_KEEP));
}

static struct pawl_instance_row *copy_instance(const struct pawl_commit *commit,
                                               struct pawl_arena *arena)
{
    const struct pawl_table_info *info = pawl_table_info(PAWL_TABLE_INSTANCES);
    struct pawl_instance_row *row =
        copy_row(PAWL_TABLE_INSTANCES, commit->instance,
                 stores_columns(commit) ? info->column_count : info->key_count, arena);

    if (!row || stores_columns(commit))
        return row;
    row->owner = commit->instance->owner;
    row->fence = commit->instance->fence;
    row->revision = commit->instance->revision;
    row->updated_us = commit->instance->updated_us;
    row->failures = commit->instance->failures;
    row->retry_us = commit->instance->retry_us;
    row->trouble = pawl__arena_str(arena, commit->instance->trouble);
    row->alone = commit->instance->alone;
    if (commit->flags & PAWL_COMMIT_END) {
        row->status = pawl__arena_str(arena, commit->instance->status);
        row->sub_status = pawl__arena_str(arena, commit->instance->sub_status);
        row->runnable = commit->instance->runnable;
        row->finished_us = commit->instance->finished_us;
    }
    return row;
}

static struct pawl_str *copy_done(const struct pawl_commit *commit, struct pawl_arena *arena)
{
    struct pawl_str *done = pawl__arena_alloc_array(arena, commit->done_count, sizeof *done);

    for (size_t i = 0; done && i < commit->done_count; i++)
        done[i] = pawl__arena_str(arena, commit->done[i]);
    return done;
}

static struct pawl_change *copy_changes(const struct pawl_commit *commit, struct pawl_arena *arena)
{
    struct pawl_change *changes =
        pawl__arena_alloc_array(arena, commit->change_count, sizeof *changes);

    for (size_t i = 0; changes && i < commit->change_count; i++) {
        changes[i] = commit->changes[i];
        changes[i].row = copy_change_row(&commit->changes[i], arena);
    }
    return changes;
}

int pawl__commit_copy(const struct pawl_commit *commit, struct pawl_arena *arena,
                      struct pawl_commit *out)
{
    struct pawl_commit copy = {
        .kind = commit->kind,
        .flags = commit->flags,
        .done_count = commit->done_count,
        .done_owner = commit->done_owner,
        .stamp_value = commit->stamp_value,
        .visited_us = commit->visited_us,
        .change_count = commit->change_count,
    };

    copy.stamp = pawl__arena_str(arena, commit->stamp);
    if (commit->instance)
        copy.instance = copy_instance(commit, arena);
    if (commit->done_count > 0)
        copy.done = copy_done(commit, arena);
    if (commit->change_count > 0)
        copy.changes = copy_changes(commit, arena);
    if (arena->status != PAWL_OK)
        return arena->status;
    *out = copy;
    return PAWL_OK;
}

/* ---- guarding ---------------------------------------------------------------------------- */

static bool adds_row(const struct pawl_change *change)
{
    return change->kind == PAWL_CHANGE_INSERT || change->kind == PAWL_CHANGE_ADD ||
           change->kind == PAWL_CHANGE_PUT;
}

bool pawl__commit_may_repeat(const struct pawl_commit *commit)
{
    bool adds_work = false;

    /* An instance's own commits are known by its revision; asking for a cancellation is not one. */
    if ((commit->kind != PAWL_COMMIT_PLAIN && commit->kind != PAWL_COMMIT_CANCEL) ||
        commit->done_count > 0 || commit->stamp.len > 0)
        return false;
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];

        if ((change->table == PAWL_TABLE_RESERVATIONS || change->table == PAWL_TABLE_AUDIT) &&
            change->kind == PAWL_CHANGE_INSERT)
            return false;
        adds_work |= change->table == PAWL_TABLE_WORK && adds_row(change);
    }
    return adds_work;
}

int pawl__commit_guard(const struct pawl_commit *commit, struct pawl_str key, int64_t expires_us,
                       struct pawl_arena *arena, struct pawl_commit_guard *guard)
{
    struct pawl_change *changes =
        pawl__arena_alloc_array(arena, commit->change_count + 1, sizeof *changes);

    if (!changes)
        return pawl__arena_status(arena);
    guard->reservation = (struct pawl_reservation_row){.key = key, .expires_us = expires_us};
    changes[0] =
        (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &guard->reservation};
    memcpy(changes + 1, commit->changes, commit->change_count * sizeof *changes);
    guard->commit = *commit;
    guard->commit.changes = changes;
    guard->commit.change_count = commit->change_count + 1;
    return PAWL_OK;
}

/* ---- reading what is stored -------------------------------------------------------------- */

/* One row by its key; *found NULL when there is none. */
static int find_row(struct pawl_store *store, enum pawl_table table, const void *key,
                    struct pawl_arena *arena, int64_t deadline_ns, const void **found,
                    struct pawl_error *err)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    struct pawl_condition conditions[2] = {0};
    struct pawl_query query = {
        .table = table, .conditions = conditions, .condition_count = info->key_count, .limit = 1};
    struct pawl_rows rows = {0};
    int status;

    PAWL_ASSERT(info->key_count <= sizeof conditions / sizeof conditions[0]);
    for (uint32_t i = 0; i < info->key_count; i++) {
        const char *at = (const char *)key + info->columns[i].offset;

        conditions[i].column = i;
        conditions[i].compare = PAWL_EQ;
        if (info->columns[i].type == PAWL_COLUMN_INT)
            memcpy(&conditions[i].value.integer, at, sizeof(int64_t));
        else
            memcpy(&conditions[i].value.text, at, sizeof(struct pawl_str));
    }
    status = pawl_store_find(store, &query, arena, &rows, deadline_ns, err);
    if (status == PAWL_OK)
        *found = rows.count > 0 ? rows.rows : NULL;
    return status;
}

/* Whether `stored` is what a store makes of `given`: a NUL in text becomes U+FFFD. */
static bool text_is_stored_as(struct pawl_str given, struct pawl_str stored)
{
    static const struct pawl_str replacement = PAWL_STR_LIT("\xEF\xBF\xBD");
    size_t at = 0;

    if (pawl__str_find(given, '\0', 0) == SIZE_MAX)
        return pawl__str_equal(given, stored);
    for (size_t i = 0; i < given.len; i++) {
        struct pawl_str one = given.ptr[i] ? pawl__str_slice(given, i, i + 1) : replacement;

        if (!pawl__str_starts(pawl__str_slice(stored, at, stored.len), one))
            return false;
        at += one.len;
    }
    return at == stored.len;
}

static bool column_is_stored_as(const struct pawl_column *column, const void *given,
                                const void *stored)
{
    const char *a = (const char *)given + column->offset;
    const char *b = (const char *)stored + column->offset;
    struct pawl_str text_a, text_b;

    if (column->type == PAWL_COLUMN_INT)
        return memcmp(a, b, sizeof(int64_t)) == 0;
    memcpy(&text_a, a, sizeof text_a);
    memcpy(&text_b, b, sizeof text_b);
    return column->type == PAWL_COLUMN_TEXT ? text_is_stored_as(text_a, text_b)
                                            : pawl__str_equal(text_a, text_b);
}

/* The times of work that is due at once are the store's if its clock is behind (stores/clock.h). */
static bool has_times_of_the_store(enum pawl_table table, const struct pawl_column *column,
                                   const void *given)
{
    const struct pawl_work_row *work = given;

    return table == PAWL_TABLE_WORK && work->due_us <= work->created_us &&
           (column->offset == offsetof(struct pawl_work_row, due_us) ||
            column->offset == offsetof(struct pawl_work_row, created_us));
}

static bool row_is_stored_as(enum pawl_table table, const void *given, const void *stored)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++)
        if (!has_times_of_the_store(table, &info->columns[i], given) &&
            !column_is_stored_as(&info->columns[i], given, stored))
            return false;
    return true;
}

/* ---- resolving --------------------------------------------------------------------------- */

/* Somebody else may have written what is there since. */
#define UNDECIDED 1

/*
 * What the rows that the commit inserts say. One that is there as given: it took. A reservation
 * that is there otherwise, which nobody changes once it is made: it did not, and never will.
 */
static int resolve_by_inserts(struct pawl_store *store, const struct pawl_commit *commit,
                              struct pawl_arena *arena, int64_t deadline_ns, int *outcome,
                              struct pawl_error *err)
{
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];
        const void *stored = NULL;
        int status;

        if (change->kind != PAWL_CHANGE_INSERT)
            continue;
        status = find_row(store, change->table, change->row, arena, deadline_ns, &stored, err);
        if (status != PAWL_OK)
            return status;
        if (!stored)
            continue;
        if (row_is_stored_as(change->table, change->row, stored)) {
            *outcome = PAWL_OK;
            return PAWL_OK;
        }
        if (change->table == PAWL_TABLE_RESERVATIONS) {
            *outcome = commit->status;
            return PAWL_OK;
        }
    }
    *outcome = UNDECIDED;
    return PAWL_OK;
}

static const struct pawl_change *find_record(const struct pawl_commit *commit)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (commit->changes[i].table == PAWL_TABLE_AUDIT &&
            commit->changes[i].kind != PAWL_CHANGE_DELETE)
            return &commit->changes[i];
    return NULL;
}

/* What the record says: there as given, it took; else it did not. */
static int resolve_by_record(struct pawl_store *store, const struct pawl_commit *commit,
                             struct pawl_arena *arena, int64_t deadline_ns, int *outcome,
                             struct pawl_error *err)
{
    const struct pawl_change *record = find_record(commit);
    const void *stored = NULL;
    int status;

    *outcome = UNDECIDED;
    if (!record)
        return PAWL_OK;
    status = find_row(store, record->table, record->row, arena, deadline_ns, &stored, err);
    if (status == PAWL_OK)
        *outcome = stored && row_is_stored_as(record->table, record->row, stored) ? PAWL_OK
                                                                                  : commit->status;
    return status;
}

static int resolve_advance(struct pawl_commit *commit, const struct pawl_instance_row *stored)
{
    const struct pawl_instance_row *given = commit->instance;

    if (!stored)
        return UNDECIDED;
    /* Nobody wrote it: then not we either, and its owner or fence is no longer ours. */
    if (stored->revision <= given->revision)
        return commit->status;
    /* Fences grow: all revisions since ours were written under it. By us, if the incarnation says
     * so too: a server that crashed forgets a claim that was not synced, and issues its fence
     * again. */
    if (stored->revision_fence == given->fence && stored->revision_owner == given->owner) {
        commit->cancel_requested = stored->cancel_requested != 0;
        commit->has_mail = true; /* perhaps: looking for nothing costs less than not looking */
        return PAWL_OK;
    }
    /* Exactly the one that would be ours, and somebody else's. */
    if (stored->revision == given->revision + 1)
        return commit->status;
    return UNDECIDED;
}

static int resolve_create(struct pawl_commit *commit, const struct pawl_instance_row *stored)
{
    struct pawl_instance_row given = *commit->instance;

    if (!stored)
        return UNDECIDED;
    if (stored->created_us != given.created_us ||
        !text_is_stored_as(given.parent_id, stored->parent_id))
        return commit->status;
    if (stored->revision > 1)
        return UNDECIDED;
    /* What others may change without writing a revision. */
    given.owner = stored->owner;
    given.fence = stored->fence;
    given.revision = stored->revision;
    given.revision_fence = stored->revision_fence;
    given.revision_owner = stored->revision_owner;
    given.takeovers = stored->takeovers;
    given.cancel_requested = stored->cancel_requested;
    if (!row_is_stored_as(PAWL_TABLE_INSTANCES, &given, stored))
        return commit->status;
    commit->cancel_requested = stored->cancel_requested != 0;
    commit->has_mail = true;
    return PAWL_OK;
}

/* Without a record: it is gone, by whomever, which is all that a commit without further changes
 * wanted. */
static int resolve_delete(const struct pawl_commit *commit, const struct pawl_instance_row *stored)
{
    if (stored)
        return commit->status;
    return commit->change_count == 0 && commit->done_count == 0 && commit->stamp.len == 0
               ? PAWL_OK
               : UNDECIDED;
}

static bool has_reservation(const struct pawl_commit *commit)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (commit->changes[i].kind == PAWL_CHANGE_INSERT &&
            commit->changes[i].table == PAWL_TABLE_RESERVATIONS)
            return true;
    return false;
}

static int resolve_by_instance(struct pawl_store *store, struct pawl_commit *commit,
                               struct pawl_arena *arena, int64_t deadline_ns, int *outcome,
                               struct pawl_error *err)
{
    const void *stored = NULL;
    int status =
        find_row(store, PAWL_TABLE_INSTANCES, commit->instance, arena, deadline_ns, &stored, err);

    if (status != PAWL_OK)
        return status;
    switch (commit->kind) {
    case PAWL_COMMIT_CREATE:
        *outcome = resolve_create(commit, stored);
        break;
    case PAWL_COMMIT_ADVANCE:
        *outcome = resolve_advance(commit, stored);
        break;
    case PAWL_COMMIT_DELETE:
        *outcome = resolve_delete(commit, stored);
        break;
    case PAWL_COMMIT_CANCEL: /* not there now is the answer now; else its reservation tells */
        *outcome = commit->status == PAWL_ENOTFOUND ? commit->status : UNDECIDED;
        break;
    case PAWL_COMMIT_PLAIN:
        *outcome = UNDECIDED;
        break;
    }
    return PAWL_OK;
}

/*
 * The fence of a visit is its node's own: the store may have granted it for a claim, too, and what
 * was written under that claim looks like the visit's. So nothing but the reservation shows that it
 * took. A step of the clock may have deleted that: its absence alone shows nothing.
 */
static int resolve_visit(struct pawl_store *store, struct pawl_commit *commit,
                         struct pawl_arena *arena, int64_t deadline_ns, int *outcome,
                         struct pawl_error *err)
{
    const struct pawl_instance_row *instance;
    const void *stored = NULL;
    int by_instance, status = resolve_by_inserts(store, commit, arena, deadline_ns, outcome, err);

    if (status == PAWL_OK)
        status = find_row(store, PAWL_TABLE_INSTANCES, commit->instance, arena, deadline_ns,
                          &stored, err);
    if (status != PAWL_OK)
        return status;
    instance = stored;
    if (*outcome == PAWL_OK) {
        commit->cancel_requested = instance && instance->cancel_requested != 0;
        commit->has_mail = true;
    } else if (*outcome == UNDECIDED) {
        by_instance = resolve_advance(commit, instance);
        *outcome = by_instance == PAWL_OK ? UNDECIDED : by_instance;
    }
    return PAWL_OK;
}

/* The row that the commit itself puts in place of work that it finishes; NULL. */
static const struct pawl_work_row *find_put_back(const struct pawl_commit *commit,
                                                 struct pawl_str id)
{
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];
        const struct pawl_work_row *row = change->row;

        if (change->table == PAWL_TABLE_WORK && change->kind != PAWL_CHANGE_DELETE &&
            change->kind != PAWL_CHANGE_DELETE_OWNED && pawl__str_equal(row->id, id))
            return row;
    }
    return NULL;
}

/*
 * Work that is still there was not finished by this commit; unless the commit put it back for
 * another time: then it is there as given if it took.
 */
static int resolve_by_done(struct pawl_store *store, const struct pawl_commit *commit,
                           struct pawl_arena *arena, int64_t deadline_ns, int *outcome,
                           struct pawl_error *err)
{
    for (size_t i = 0; i < commit->done_count; i++) {
        const struct pawl_work_row *back = find_put_back(commit, commit->done[i]);
        const struct pawl_work_row key = {.id = commit->done[i]};
        const void *stored = NULL;
        int status = find_row(store, PAWL_TABLE_WORK, &key, arena, deadline_ns, &stored, err);

        if (status != PAWL_OK)
            return status;
        if (!stored)
            continue;
        if (!back || row_is_stored_as(PAWL_TABLE_WORK, back, stored)) {
            *outcome = back ? PAWL_OK : commit->status;
            return PAWL_OK;
        }
    }
    *outcome = UNDECIDED;
    return PAWL_OK;
}

int pawl__commit_resolve(struct pawl_store *store, struct pawl_commit *commit,
                         struct pawl_arena *arena, int64_t deadline_ns, int *outcome,
                         struct pawl_error *err)
{
    bool is_visit = (commit->flags & PAWL_COMMIT_VISITED) && has_reservation(commit);
    int found = UNDECIDED;
    int status = PAWL_OK;

    PAWL_ASSERT(commit->status != PAWL_OK);
    /* Of one that creates or advances, what goes with the answer is read from the instance. */
    if (is_visit)
        status = resolve_visit(store, commit, arena, deadline_ns, &found, err);
    else if (commit->kind != PAWL_COMMIT_CREATE && commit->kind != PAWL_COMMIT_ADVANCE)
        status = resolve_by_record(store, commit, arena, deadline_ns, &found, err);
    if (status == PAWL_OK && found == UNDECIDED && commit->instance && !is_visit)
        status = resolve_by_instance(store, commit, arena, deadline_ns, &found, err);
    if (status == PAWL_OK && found == UNDECIDED)
        status = resolve_by_record(store, commit, arena, deadline_ns, &found, err);
    if (status == PAWL_OK && found == UNDECIDED && !is_visit)
        status = resolve_by_inserts(store, commit, arena, deadline_ns, &found, err);
    if (status == PAWL_OK && found == UNDECIDED)
        status = resolve_by_done(store, commit, arena, deadline_ns, &found, err);
    if (status == PAWL_OK)
        *outcome = found == UNDECIDED ? PAWL_EUNKNOWN : found;
    return status;
}
