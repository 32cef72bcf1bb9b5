/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applying commits to the memory store, one after the other. Each is checked, then written by
 * changes that can be taken back; only what cannot fail comes after that. So a commit that is
 * dropped, for whatever reason, leaves nothing behind.
 */
#include "base/error.h"
#include "stores/memory_private.h"

struct applying {
    struct pawl_memory_database *db;
    struct memdb_changes changes;
    struct pawl_arena scratch;
    struct pawl_commit *commit;
    struct pawl_str instance_id; /* clean */
    struct memdb_row *instance;  /* as it is before the commit, then as it is after */
    int64_t now_us;
    bool signal; /* something that wait() waits for */
};

static int no_memory(struct applying *a)
{
    return pawl__error_code(&a->commit->error, PAWL_ENOMEM);
}

/* ---- guards ------------------------------------------------------------------------------- */

static int check_owner(const struct applying *a)
{
    const struct pawl_instance_row *mine = a->commit->instance, *row;

    if (!a->instance)
        return PAWL_ECONFLICT;
    row = memdb_instance_data(a->instance);
    if (a->commit->flags & PAWL_COMMIT_VISITED)
        return mine->owner != 0 && row->owner == 0 && row->fence < mine->fence &&
                       row->revision == mine->revision && row->updated_us == a->commit->visited_us
                   ? PAWL_OK
                   : PAWL_ECONFLICT;
    if (mine->owner == 0 || row->owner != mine->owner || row->fence != mine->fence ||
        row->revision != mine->revision)
        return PAWL_ECONFLICT;
    return PAWL_OK;
}

static int find_instance(struct applying *a)
{
    struct pawl_commit *commit = a->commit;

    if (commit->kind == PAWL_COMMIT_PLAIN)
        return PAWL_OK;
    if (!commit->instance)
        return pawl__error_set(&commit->error, PAWL_EINVAL, "a commit of this kind needs a row");
    a->instance_id = pawl__memdb_clean(&a->scratch, commit->instance->id);
    if (!a->instance_id.ptr)
        return no_memory(a);
    a->instance = pawl__memdb_instance(a->db, a->instance_id);
    switch (commit->kind) {
    case PAWL_COMMIT_ADVANCE:
    case PAWL_COMMIT_DELETE:
        return check_owner(a);
    case PAWL_COMMIT_CREATE:
        if (!a->instance)
            return PAWL_OK;
        return pawl__error_set(&commit->error, PAWL_EEXISTS, "instance %.*s already exists",
                               PAWL_STR_ARG(a->instance_id));
    case PAWL_COMMIT_CANCEL:
        if (a->instance)
            return PAWL_OK;
        return pawl__error_set(&commit->error, PAWL_ENOTFOUND, "there is no instance %.*s",
                               PAWL_STR_ARG(a->instance_id));
    case PAWL_COMMIT_PLAIN:
        break;
    }
    return pawl__error_set(&commit->error, PAWL_EINVAL, "there is no such kind of commit: %d",
                           (int)commit->kind);
}

/* Work that is done is guarded and goes first: a change may put it back, for another time. */
static int remove_done(struct applying *a)
{
    const struct pawl_commit *commit = a->commit;

    for (size_t i = 0; i < commit->done_count; i++) {
        struct pawl_str id = pawl__memdb_clean(&a->scratch, commit->done[i]);
        struct memdb_row *row;

        if (!id.ptr)
            return no_memory(a);
        row = pawl__memdb_work(a->db, id);
        if (!row || memdb_work_data(row)->owner != commit->done_owner)
            return PAWL_ECONFLICT;
        pawl__memdb_remove(&a->changes, row);
    }
    return PAWL_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void set_exists_error(struct applying *a, const struct pawl_table_info *info,
                             const void *row)
{
    const struct pawl_column *key = &info->columns[0];

    if (key->type == PAWL_COLUMN_INT)
        (void)pawl__error_set(&a->commit->error, PAWL_EEXISTS, "table %s already has this %s: %lld",
                              info->name, key->name, (long long)memdb_int(row, key));
    else
        (void)pawl__error_set(&a->commit->error, PAWL_EEXISTS, "table %s already has this %s: %.*s",
                              info->name, key->name, PAWL_STR_ARG(memdb_text(row, key)));
}

static int insert(struct applying *a, struct memdb_row *row)
{
    const struct pawl_table_info *info;
    int status;

    if (!row)
        return no_memory(a);
    status = pawl__memdb_insert(&a->changes, row);
    if (status == PAWL_OK)
        return PAWL_OK;
    info = pawl_table_info(row->table);
    if (status == PAWL_EEXISTS)
        set_exists_error(a, info, row->data);
    else
        (void)pawl__error_code(&a->commit->error, status);
    pawl__memdb_row_free(a->db, row);
    return status;
}

static int replace(struct applying *a, struct memdb_row *old, enum pawl_table table,
                   const void *data)
{
    struct memdb_row *row = pawl__memdb_row_new(a->db, table, data);

    if (row && old)
        pawl__memdb_remove(&a->changes, old);
    return insert(a, row);
}

static int move_stamp(struct applying *a)
{
    struct pawl_stamp_row stamp = {0};
    struct memdb_row *old;

    if (a->commit->stamp.len == 0)
        return PAWL_OK;
    stamp.name = pawl__memdb_clean(&a->scratch, a->commit->stamp);
    if (!stamp.name.ptr)
        return no_memory(a);
    old = pawl__memdb_first(a->db, PAWL_TABLE_STAMPS, 0, &stamp);
    if (old)
        stamp.value = ((const struct pawl_stamp_row *)old->data)->value;
    if (stamp.value != a->commit->stamp_value)
        return PAWL_ECONFLICT;
    stamp.value++;
    a->signal = true;
    return replace(a, old, PAWL_TABLE_STAMPS, &stamp);
}

static int create(struct applying *a)
{
    struct pawl_instance_row row = *a->commit->instance;

    row.fence = row.revision = row.revision_fence = 1;
    row.revision_owner = row.owner;
    if (a->commit->flags & PAWL_COMMIT_RELEASE)
        row.owner = 0;
    return replace(a, NULL, PAWL_TABLE_INSTANCES, &row);
}

/* What PAWL_COMMIT_SET_ASIDE and PAWL_COMMIT_END write beside a state that is kept. */
static void write_beside(const struct pawl_commit *commit, struct pawl_instance_row *row)
{
    const struct pawl_instance_row *given = commit->instance;

    if ((~commit->flags & (PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE)) != 0)
        return;
    row->failures = given->failures;
    row->retry_us = given->retry_us;
    row->trouble = given->trouble;
    row->alone = given->alone;
    if (!(commit->flags & PAWL_COMMIT_END))
        return;
    row->takeovers = 0;
    row->status = given->status;
    row->sub_status = given->sub_status;
    row->runnable = given->runnable;
    row->updated_us = given->updated_us;
    row->finished_us = given->finished_us;
}

static int advance(struct applying *a)
{
    const struct pawl_instance_row *old = memdb_instance_data(a->instance);
    struct pawl_instance_row row = *a->commit->instance;
    bool reopens = (a->commit->flags & (PAWL_COMMIT_KEEP | PAWL_COMMIT_REOPEN)) == //
                   PAWL_COMMIT_REOPEN;

    row.takeovers = row.failures = row.retry_us = row.alone =
        0; /* a step was taken: that is over */
    row.trouble = pawl__str("");
    if (a->commit->flags & PAWL_COMMIT_KEEP)
        row = *old;
    write_beside(a->commit, &row);
    row.created_us = old->created_us;
    row.cancel_requested = reopens ? 0 : old->cancel_requested;
    row.parent_id = old->parent_id;
    row.id_hash = old->id_hash;
    row.definition_id = old->definition_id;
    row.is_system = old->is_system;
    if (!(a->commit->flags & PAWL_COMMIT_VISITED)) {
        row.fence = old->fence;
        row.owner = old->owner;
    }
    row.revision_fence = row.fence;
    row.revision_owner = row.owner;
    row.revision = old->revision + 1;
    if (a->commit->flags & PAWL_COMMIT_RELEASE)
        row.owner = 0;
    return replace(a, a->instance, PAWL_TABLE_INSTANCES, &row);
}

/* All rows of a table whose instance_id is `id`, which is clean. */
static void remove_owned(struct applying *a, enum pawl_table which, struct pawl_str id)
{
    const struct memdb_table *table = &a->db->tables[which];
    uint32_t column = pawl_table_column(which, "instance_id");
    uint32_t index = pawl__memdb_index_of(table, column);
    _Alignas(max_align_t) char probe[PAWL_ROW_SIZE_MAX] = {0};
    struct memdb_row *row;

    if (id.len == 0)
        return; /* rows of no instance are nobody's */
    memcpy(probe + table->info->columns[column].offset, &id, sizeof id);
    while ((row = pawl__memdb_first(a->db, which, index, probe)))
        pawl__memdb_remove(&a->changes, row);
}

static void delete_instance(struct applying *a)
{
    pawl__memdb_remove(&a->changes, a->instance);
    for (int table = 0; table < PAWL_TABLE_COUNT; table++)
        if (pawl_table_info((enum pawl_table)table)->goes_with_instance)
            remove_owned(a, (enum pawl_table)table, a->instance_id);
    a->instance = NULL;
}

static int write_instance(struct applying *a)
{
    int status = PAWL_OK;

    if (a->commit->kind == PAWL_COMMIT_CREATE)
        status = create(a);
    else if (a->commit->kind == PAWL_COMMIT_ADVANCE)
        status = advance(a);
    else if (a->commit->kind == PAWL_COMMIT_DELETE)
        delete_instance(a);
    return status;
}

/* ---- changes ------------------------------------------------------------------------------ */

static bool is_changeable(enum pawl_table table)
{
    return (unsigned)table < PAWL_TABLE_COUNT && table != PAWL_TABLE_INSTANCES &&
           table != PAWL_TABLE_NODES && table != PAWL_TABLE_STAMPS;
}

static bool has_owner_column(enum pawl_table table)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++)
        if (strcmp(info->columns[i].name, "instance_id") == 0)
            return true;
    return false;
}

/* By the key, which is all that may be looked at. */
static int delete_row(struct applying *a, const struct pawl_change *change)
{
    const struct pawl_table_info *info = pawl_table_info(change->table);
    struct memdb_row *row;
    void *probe = pawl__arena_alloc_zeroed(&a->scratch, info->row_size);

    if (!probe)
        return no_memory(a);
    for (uint32_t i = 0; i < info->key_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        void *member = (char *)probe + column->offset;
        struct pawl_str clean;
        int64_t number;

        if (column->type == PAWL_COLUMN_INT) {
            number = memdb_int(change->row, column);
            memcpy(member, &number, sizeof number);
            continue;
        }
        clean = pawl__memdb_clean(&a->scratch, memdb_text(change->row, column));
        if (!clean.ptr)
            return no_memory(a);
        memcpy(member, &clean, sizeof clean);
    }
    row = pawl__memdb_first(a->db, change->table, 0, probe);
    if (row)
        pawl__memdb_remove(&a->changes, row);
    return PAWL_OK;
}

static int delete_owned(struct applying *a, const struct pawl_change *change)
{
    const struct pawl_table_info *info = pawl_table_info(change->table);
    struct pawl_str id;

    if (!has_owner_column(change->table))
        return pawl__error_set(&a->commit->error, PAWL_EINVAL,
                               "rows of table %s belong to no instance", info->name);
    id = memdb_text(change->row, &info->columns[pawl_table_column(change->table, "instance_id")]);
    id = pawl__memdb_clean(&a->scratch, id);
    if (!id.ptr)
        return no_memory(a);
    remove_owned(a, change->table, id);
    return PAWL_OK;
}

static int put_row(struct applying *a, const struct pawl_change *change)
{
    struct memdb_row *row, *old = NULL;
    int status;

    if (change->kind == PAWL_CHANGE_INSERT && change->table == PAWL_TABLE_RESERVATIONS &&
        ((const struct pawl_reservation_row *)change->row)->expires_us <= a->now_us) {
        a->commit->has_expired = true;
        return pawl__error_set(&a->commit->error, PAWL_ECONFLICT, PAWL_STORE_EXPIRED);
    }
    row = pawl__memdb_row_new(a->db, change->table, change->row);
    if (row && change->table == PAWL_TABLE_WORK)
        pawl__store_clock_limit(memdb_work_data(row), a->now_us);
    if (row && change->kind != PAWL_CHANGE_INSERT)
        old = pawl__memdb_first(a->db, change->table, 0, row->data);
    if (old && change->kind == PAWL_CHANGE_PUT)
        pawl__memdb_remove(&a->changes, old);
    if (row && change->kind == PAWL_CHANGE_ADD) {
        status = pawl__memdb_insert(&a->changes, row);
        if (status == PAWL_OK)
            return PAWL_OK;
        pawl__memdb_row_free(a->db, row);
        return status == PAWL_EEXISTS ? PAWL_OK : pawl__error_code(&a->commit->error, status);
    }
    return insert(a, row);
}

static int make_change(struct applying *a, const struct pawl_change *change)
{
    if (!is_changeable(change->table))
        return pawl__error_set(&a->commit->error, PAWL_EINVAL, "table %d is not written by changes",
                               (int)change->table);
    switch (change->kind) {
    case PAWL_CHANGE_INSERT:
    case PAWL_CHANGE_ADD:
    case PAWL_CHANGE_PUT:
        return put_row(a, change);
    case PAWL_CHANGE_DELETE:
        return delete_row(a, change);
    case PAWL_CHANGE_DELETE_OWNED:
        return delete_owned(a, change);
    }
    return pawl__error_set(&a->commit->error, PAWL_EINVAL, "there is no such kind of change: %d",
                           (int)change->kind);
}

/* ---- what cannot fail --------------------------------------------------------------------- */

/* Parked work of exactly this hash, correlation and instance. */
static void wake_exactly(struct applying *a, const struct pawl_work_row *probe,
                         struct pawl_str activity_instance_id)
{
    struct memdb_row *row;

    for (row = pawl__memdb_first(a->db, PAWL_TABLE_WORK, MEMDB_WORK_WAITING, probe); row;
         row = pawl__memdb_next(a->db, row, MEMDB_WORK_WAITING, probe)) {
        const struct pawl_work_row *work = memdb_work_data(row);

        if (work->due_us != PAWL_TIME_NEVER || work->owner != 0 ||
            (work->activity_instance_id.len > 0 &&
             !pawl__str_equal(work->activity_instance_id, activity_instance_id)))
            continue;
        pawl__memdb_set_due(a->db, row, a->now_us);
        a->signal = true;
    }
}

static void wake_parked(struct applying *a, const struct pawl_bookmark_row *bookmark)
{
    struct pawl_work_row probe = {.hash = bookmark->hash};

    if (bookmark->hash.len == 0)
        return;
    /* Of any correlation and instance, of one of both, of this one. */
    for (int which = 0; which < 4; which++) {
        if (((which & 1) && bookmark->correlation_id.len == 0) ||
            ((which & 2) && bookmark->instance_id.len == 0))
            continue;
        probe.correlation_id = which & 1 ? bookmark->correlation_id : pawl__str("");
        probe.instance_id = which & 2 ? bookmark->instance_id : pawl__str("");
        wake_exactly(a, &probe, bookmark->activity_instance_id);
    }
}

static bool has_mail(const struct applying *a, struct pawl_str id)
{
    const struct pawl_work_row probe = {.instance_id = id};
    uint32_t index = pawl__memdb_index_of(&a->db->tables[PAWL_TABLE_WORK],
                                          pawl_table_column(PAWL_TABLE_WORK, "instance_id"));
    const struct memdb_row *row = pawl__memdb_first(a->db, PAWL_TABLE_WORK, index, &probe);

    while (row && memdb_work_data(row)->due_us > a->now_us)
        row = pawl__memdb_next(a->db, row, index, &probe);
    return row != NULL;
}

static void fill_result(struct applying *a)
{
    struct pawl_commit *commit = a->commit;
    const struct pawl_instance_row *row;

    if (commit->kind != PAWL_COMMIT_CREATE && commit->kind != PAWL_COMMIT_ADVANCE)
        return;
    a->instance = pawl__memdb_instance(a->db, a->instance_id);
    PAWL_ASSERT(a->instance);
    row = memdb_instance_data(a->instance);
    commit->cancel_requested = row->cancel_requested != 0;
    commit->has_mail = has_mail(a, a->instance_id);
    if (row->owner == 0 && (commit->has_mail || row->runnable))
        a->signal = true;
}

static void finish(struct applying *a)
{
    for (const struct memdb_row *row = a->changes.log; row; row = row->log_next) {
        if (row->log == MEMDB_LOG_REMOVED)
            continue;
        if (row->table == PAWL_TABLE_BOOKMARKS)
            wake_parked(a, row->data);
        else if (row->table == PAWL_TABLE_REPLIES ||
                 (row->table == PAWL_TABLE_WORK && memdb_work_data(row)->due_us != PAWL_TIME_NEVER))
            a->signal = true;
    }
    if (a->commit->kind == PAWL_COMMIT_CANCEL) {
        PAWL_ASSERT(a->instance);
        memdb_instance_data(a->instance)->cancel_requested = 1;
        a->signal = true;
    }
    fill_result(a);
    pawl__memdb_keep_changes(&a->changes);
}

/* ---- one, and all ------------------------------------------------------------------------- */

static int apply_one(struct applying *a)
{
    int status = pawl__store_check_commit(a->commit, &a->commit->error);

    if (status == PAWL_OK)
        status = find_instance(a);

    if (status == PAWL_OK)
        status = remove_done(a);
    if (status == PAWL_OK)
        status = move_stamp(a);
    if (status == PAWL_OK)
        status = write_instance(a);
    for (size_t i = 0; i < a->commit->change_count && status == PAWL_OK; i++)
        status = make_change(a, &a->commit->changes[i]);
    if (status == PAWL_OK)
        finish(a);
    else
        pawl__memdb_undo_changes(&a->changes);
    return status;
}

int pawl__memdb_apply(struct pawl_store *base, struct pawl_commit *const *commits, size_t count,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_memory_database *db = store->database;
    bool signal = false, applied = false;
    int status;

    (void)deadline_ns;
    if (count > PAWL_STORE_BATCH_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu commits at once; %d are allowed", count,
                               PAWL_STORE_BATCH_MAX);
    status = pawl__memdb_enter(store, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct applying a = {.db = db, .changes = {.db = db}, .commit = commits[i]};

        pawl__arena_init(&a.scratch, &db->env->alloc, MEMDB_SCRATCH_BYTES_MAX);
        a.now_us = pawl__memdb_now_us(db);
        commits[i]->cancel_requested = commits[i]->has_mail = commits[i]->has_expired = false;
        commits[i]->error = (struct pawl_error)PAWL_ERROR_INIT;
        commits[i]->status = apply_one(&a);
        applied = applied || commits[i]->status == PAWL_OK;
        signal = signal || (a.signal && commits[i]->status == PAWL_OK);
        pawl__arena_release(&a.scratch);
    }
    if (applied)
        pawl__memdb_synced(db);
    if (signal)
        pawl__memdb_signal(db);
    return pawl__memdb_leave(store, PAWL_OK, err);
}
