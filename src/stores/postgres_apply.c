/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applying commits: one pipeline, one transaction, one round trip.
 *
 * First the rows that several batches may want are locked, each kind in its order, so that two
 * batches do not wait for each other: keys of reservations, instances, done work. Then each member
 * sends its guards and its changes as sql.h says; guards that do not hold turn the rest of their
 * member into nothing, and their answers say why. In a batch of several most guards and changes are
 * sent in bulk instead, one statement for all members, and so are those of a long commit that is
 * alone (postgres_many.c), but for members that change the same rows (postgres_conflicts.c). An
 * event that a caller delivers alone has one guard for its instance and its key; if that does not
 * hold, the member is sent again with both, which say why.
 *
 * Behind the sync, in a transaction of its own in the same flush, come the signals, which need no
 * durability: one NOTIFY (inside the first it would make all commits of the database queue up
 * behind one lock), and the wake-up of work that was parked by a transaction which this one could
 * not see and which could not see this one. Who parks work looks for bookmarks once more when it is
 * parked; so one of both sees the other. They are with the server when the commit is, and the
 * caller of a commit that succeeds does not wait for them; the next batch on that connection comes
 * behind them.
 *
 * A statement that fails takes the whole transaction back. Then its members are sent once more,
 * each in a transaction of its own but still in one flush, and the one that the database refuses
 * fails alone: PAWL_EBUSY when another transaction has locked one of its rows for longer than a
 * commit takes. A request to cancel does not wait at all for the row, which is another node's.
 * If the session ends among them, those that were answered keep their answers.
 */
#include "stores/postgres_apply.h"
#include "base/error.h"
#include "stores/sql_text.h"

/* Of members one by one that met a deadlock or the like. */
#define TRIES_MAX 2
/* Advisory locks that one batch takes: the server's table of locks is shared by all. */
#define LOCKED_KEYS_MAX 256

/* ---- looking at commits ------------------------------------------------------------------ */

/* Whether the commit leaves a runnable instance without an owner. */
static bool leaves_runnable(const struct pawl_commit *commit)
{
    bool released = (commit->flags & PAWL_COMMIT_RELEASE) || commit->instance->owner == 0;

    if (commit->kind != PAWL_COMMIT_CREATE && commit->kind != PAWL_COMMIT_ADVANCE)
        return false;
    return released && (commit->instance->runnable != 0 || (commit->flags & PAWL_COMMIT_KEEP));
}

/* Or is a reply that another node waits for. Work that bookmarks wake is not meant here: the
 * statement that wakes it notifies. */
static bool makes_due(const struct pawl_commit *commit)
{
    if (commit->stamp.len > 0 || commit->kind == PAWL_COMMIT_CANCEL ||
        (commit->instance && leaves_runnable(commit)))
        return true;
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_work_row *work = pawl__pg_new_work(&commit->changes[i]);

        /* Its owner handles it; if that dies, no notification is sent when its lease expires. */
        if (work && work->due_us != PAWL_TIME_NEVER && work->owner == 0)
            return true;
        if (commit->changes[i].table == PAWL_TABLE_REPLIES &&
            commit->changes[i].kind != PAWL_CHANGE_DELETE)
            return true;
    }
    return false;
}

size_t pawl__pg_row_bytes(enum pawl_table table, const void *row)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    size_t total = 0;

    for (uint32_t i = 0; i < info->column_count; i++)
        if (info->columns[i].type != PAWL_COLUMN_INT) {
            struct pawl_str text;

            memcpy(&text, (const char *)row + info->columns[i].offset, sizeof text);
            total += text.len < PG_ROW_BYTES_MAX ? text.len : PG_ROW_BYTES_MAX;
        }
    return total;
}

/* What cannot be sent at all. Whatever else is wrong with a commit, the database finds. */
static int check_commit(const struct pawl_sql *sql, const struct pawl_commit *commit,
                        struct pawl_error *err)
{
    bool writes_row = commit->kind == PAWL_COMMIT_CREATE || commit->kind == PAWL_COMMIT_ADVANCE;
    int status = pawl__store_check_commit(commit, err);

    if (status != PAWL_OK)
        return status;
    if (commit->kind != PAWL_COMMIT_PLAIN && !commit->instance)
        return pawl__error_set(err, PAWL_EINVAL, "a commit for an instance needs its row");
    if (writes_row &&
        pawl__pg_row_bytes(PAWL_TABLE_INSTANCES, commit->instance) >= PG_ROW_BYTES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "instance %.*s is larger than %zu bytes",
                               PAWL_STR_ARG(commit->instance->id), PG_ROW_BYTES_MAX);
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];

        if (!pawl__sql_change(sql, change->kind, change->table))
            return pawl__error_set(err, PAWL_EINVAL, "the table %s does not support this change",
                                   (unsigned)change->table < PAWL_TABLE_COUNT
                                       ? pawl_table_info(change->table)->name
                                       : "?");
        if (pawl__pg_adds_rows(change) &&
            pawl__pg_row_bytes(change->table, change->row) >= PG_ROW_BYTES_MAX)
            return pawl__error_set(err, PAWL_ELIMIT, "a row of %s is larger than %zu bytes",
                                   pawl_table_info(change->table)->name, PG_ROW_BYTES_MAX);
    }
    return PAWL_OK;
}

/* ---- locking first ----------------------------------------------------------------------- */

static int lock_rows(struct batch *b, enum pg_own own, const struct pawl_str *ids, size_t count)
{
    struct pawl_pq_param param;
    int status = count > 0 ? pawl__pg_texts(&b->call, ids, count, &param) : PAWL_OK;

    return status == PAWL_OK && count > 0 ? pawl__pg_own(&b->call, own, &param, 1) : status;
}

/* What the members [from, to) will want; ids, work and keys have room for all of it. */
struct wanted {
    struct pawl_str *ids, *work, *keys;
    size_t id_count, work_count, key_count;
    bool has_stamp;
};

static void collect_rows(struct wanted *w, const struct pawl_commit *commit)
{
    if (commit->kind == PAWL_COMMIT_ADVANCE || commit->kind == PAWL_COMMIT_DELETE)
        w->ids[w->id_count++] = commit->instance->id;
    for (size_t i = 0; i < commit->done_count; i++)
        w->work[w->work_count++] = commit->done[i];
    for (size_t i = 0; i < commit->change_count; i++)
        /* Past the limit the insert finds out by itself, by an error. */
        if (pawl__pg_is_guarded_insert(&commit->changes[i]) && w->key_count < LOCKED_KEYS_MAX)
            w->keys[w->key_count++] =
                ((const struct pawl_reservation_row *)commit->changes[i].row)->key;
    /* Stamps must be locked by name: one that does not exist yet has no row to lock. */
    if (commit->stamp.len > 0)
        w->keys[w->key_count++] = commit->stamp;
    w->has_stamp = w->has_stamp || commit->stamp.len > 0;
}

/*
 * A member alone locks its rows by using them: its instance is the last thing it waits for, but for
 * the one key that it may reserve. Whoever has inserted that has all instances that it needs.
 */
static int lock_rows_of(struct batch *b, size_t from, size_t to)
{
    struct pawl_arena *arena = &b->call.arena;
    struct wanted w = {0};
    size_t work_count = 0;
    int status;

    for (size_t i = from; i < to; i++)
        work_count += b->members[i].commit->done_count;
    w.ids = pawl__arena_alloc_array(arena, to - from, sizeof *w.ids);
    w.work = pawl__arena_alloc_array(arena, work_count + 1, sizeof *w.work);
    w.keys = pawl__arena_alloc_array(arena, LOCKED_KEYS_MAX + to - from, sizeof *w.keys);
    if (!w.ids || !w.work || !w.keys)
        return pawl__error_code(b->call.err, pawl__arena_status(arena));
    for (size_t i = from; i < to; i++)
        if (b->members[i].open)
            collect_rows(&w, b->members[i].commit);
    status = to - from > 1 || w.key_count > 1 || w.has_stamp
                 ? lock_rows(b, PG_LOCK_KEYS, w.keys, w.key_count)
                 : PAWL_OK;
    if (status == PAWL_OK && to - from > 1)
        status = lock_rows(b, PG_LOCK_INSTANCES, w.ids, w.id_count);
    if (status == PAWL_OK && to - from > 1)
        status = lock_rows(b, PG_LOCK_WORK, w.work, w.work_count);
    return status;
}

static size_t guarded_inserts(const struct pawl_commit *commit)
{
    size_t count = 0;

    for (size_t i = 0; i < commit->change_count; i++)
        count += pawl__pg_is_guarded_insert(&commit->changes[i]);
    return count;
}

/* ---- sending a member -------------------------------------------------------------------- */

static int send_guard(struct batch *b, const struct member *m, enum pawl_sql_name name,
                      struct pawl_sql_inputs *inputs)
{
    inputs->first = b->call.count == m->guard;
    return pawl__pg_named(&b->call, name, inputs);
}

static struct pawl_sql_inputs instance_inputs(const struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    bool release = (commit->flags & PAWL_COMMIT_RELEASE) != 0;
    struct pawl_sql_inputs inputs = {
        .row = commit->instance, .value = commit->visited_us, .member = m->number};

    if (commit->instance && !release)
        inputs.owner = commit->instance->owner;
    return inputs;
}

static int send_instance_guard(struct batch *b, const struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    struct pawl_sql_inputs inputs = instance_inputs(m);

    switch (commit->kind) {
    case PAWL_COMMIT_PLAIN:
        return b->call.count == m->guard ? send_guard(b, m, PAWL_SQL_MEMBER, &inputs) : PAWL_OK;
    case PAWL_COMMIT_CREATE:
        return send_guard(b, m, PAWL_SQL_CREATE, &inputs);
    case PAWL_COMMIT_ADVANCE:
        return send_guard(b, m, pawl__sql_advance(commit), &inputs);
    case PAWL_COMMIT_DELETE:
        return send_guard(b, m, PAWL_SQL_REMOVE, &inputs);
    case PAWL_COMMIT_CANCEL:
        return send_guard(b, m, PAWL_SQL_CANCEL, &inputs);
    }
    return PAWL_OK;
}

/* Its name, its value, and whether it is the member's first guard. */
static int send_stamp(struct batch *b, const struct member *m, enum pg_own own)
{
    const struct pawl_pq_param params[] = {
        {PAWL_PQ_TEXT, pawl__sql_clean(m->commit->stamp, &b->call.arena), 0},
        {PAWL_PQ_INT, {"", 0}, m->commit->stamp_value},
        {PAWL_PQ_INT, {"", 0}, b->call.count == m->guard}};

    if (m->commit->stamp.len == 0)
        return PAWL_OK;
    if (!params[0].bytes.ptr)
        return pawl__error_code(b->call.err, pawl__arena_status(&b->call.arena));
    return pawl__pg_own(&b->call, own, params, own == PG_STAMP_CHECK ? 3 : 2);
}

static const struct pawl_reservation_row *reservation_of(const struct pawl_commit *commit)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (pawl__pg_is_guarded_insert(&commit->changes[i]))
            return commit->changes[i].row;
    return NULL;
}

/* What an event that counts once does to an instance that nobody has: the usual commit of a caller
 * who is alone. */
static void choose_once(struct batch *b, struct member *m)
{
    const struct pawl_commit *commit = m->commit;

    m->is_once = !b->is_many && !b->asks_why && commit->kind == PAWL_COMMIT_ADVANCE &&
                 pawl__sql_advance(commit) == PAWL_SQL_ADVANCE_VISITED && commit->done_count == 0 &&
                 commit->stamp.len == 0 && guarded_inserts(commit) == 1;
}

static int send_once(struct batch *b, struct member *m)
{
    const struct pawl_reservation_row *reservation = reservation_of(m->commit);
    struct pawl_sql_inputs inputs = instance_inputs(m);

    m->guard = b->call.count;
    inputs.text = reservation->key;
    inputs.limit = reservation->expires_us;
    return pawl__pg_named(&b->call, PAWL_SQL_ADVANCE_VISITED_ONCE, &inputs);
}

static int send_guards(struct batch *b, struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    struct pawl_sql_inputs inputs = {.owner = commit->done_owner};
    int status = PAWL_OK;

    if (m->is_once)
        return send_once(b, m);
    m->guard = b->call.count;
    for (size_t i = 0; i < commit->done_count && status == PAWL_OK; i++) {
        inputs.id = commit->done[i];
        status = send_guard(b, m, PAWL_SQL_DONE_CHECK, &inputs);
    }
    if (status == PAWL_OK)
        status = send_stamp(b, m, PG_STAMP_CHECK);
    for (size_t i = 0; i < commit->change_count && status == PAWL_OK; i++) {
        const struct pawl_change *change = &commit->changes[i];

        if (!pawl__pg_is_guarded_insert(change))
            continue;
        inputs.row = change->row;
        inputs.first = b->call.count == m->guard;
        status = pawl__pg_statement(&b->call, PG_NUMBER_ABSENT + (uint32_t)change->table,
                                    pawl__sql_absent(b->call.pg->sql, change->table), &inputs);
    }
    return status == PAWL_OK ? send_instance_guard(b, m) : status;
}

/* Whether a change of the commit puts this row of work back, which it also finishes. */
static bool is_put_back(const struct pawl_commit *commit, struct pawl_str work_id)
{
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_work_row *work = pawl__pg_new_work(&commit->changes[i]);

        if (work && pawl__str_equal(work->id, work_id))
            return true;
    }
    return false;
}

bool pawl__pg_finishes(const struct pawl_commit *commit, struct pawl_str work_id)
{
    for (size_t i = 0; i < commit->done_count; i++)
        if (pawl__str_equal(commit->done[i], work_id))
            return true;
    return false;
}

static int send_change(struct batch *b, const struct pawl_change *change)
{
    const struct pawl_sql_inputs inputs = {.row = change->row};

    return pawl__pg_statement(
        &b->call,
        PG_NUMBER_CHANGE + (uint32_t)change->table * (PAWL_CHANGE_DELETE_OWNED + 1u) +
            (uint32_t)change->kind,
        pawl__sql_change(b->call.pg->sql, change->kind, change->table), &inputs);
}

/*
 * Work that the commit finishes and puts back is replaced, not deleted and inserted: who waits for
 * its row meanwhile, to delete it, follows the row to its new version, but does not see a new one.
 */
static int send_change_of(struct batch *b, const struct pawl_commit *commit,
                          const struct pawl_change *change)
{
    const struct pawl_work_row *work = pawl__pg_new_work(change);
    struct pawl_change put = *change;

    if (work && pawl__pg_finishes(commit, work->id))
        put.kind = PAWL_CHANGE_PUT;
    return send_change(b, &put);
}

/* What goes with an instance. */
static int send_removals(struct batch *b, const struct pawl_commit *commit)
{
    int status = PAWL_OK;

    for (int table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++) {
        struct pawl_owned_row row;
        const struct pawl_change removal = {PAWL_CHANGE_DELETE_OWNED, (enum pawl_table)table,
                                            row.bytes};

        if (pawl__sql_owned_row((enum pawl_table)table, commit->instance->id, &row))
            status = send_change(b, &removal);
    }
    return status;
}

static void note_bookmarks(struct batch *b, const struct member *m)
{
    for (size_t i = 0; i < m->commit->change_count; i++)
        if (pawl__pg_is_bookmark(&m->commit->changes[i])) {
            b->bookmarks[b->bookmark_count] = m->commit->changes[i].row;
            b->bookmark_members[b->bookmark_count++] = m->number;
        }
}

int pawl__pg_send_wake(struct batch *b, enum pg_own own, size_t from)
{
    static const char *const columns[] = {"id", "hash", "correlation_id", "instance_id",
                                          "activity_instance_id"};
    enum { TEXTS = sizeof columns / sizeof columns[0] };
    struct pawl_pq_param params[TEXTS + 1];
    const struct pawl_table_info *info = pawl_table_info(PAWL_TABLE_BOOKMARKS);
    size_t count = b->bookmark_count - from;
    struct pawl_str *texts;
    int status;

    if (count == 0)
        return PAWL_OK;
    texts = pawl__arena_alloc_array(&b->call.arena, count, sizeof *texts);
    if (!texts)
        return pawl__error_code(b->call.err, pawl__arena_status(&b->call.arena));
    for (size_t column = 0; column < TEXTS; column++) {
        size_t offset =
            info->columns[pawl_table_column(PAWL_TABLE_BOOKMARKS, columns[column])].offset;

        for (size_t i = 0; i < count; i++)
            memcpy(&texts[i], (const char *)b->bookmarks[from + i] + offset, sizeof texts[i]);
        status = pawl__pg_texts(&b->call, texts, count, &params[column]);
        if (status != PAWL_OK)
            return status;
    }
    status = pawl__pg_ints(&b->call, b->bookmark_members + from, count, &params[TEXTS]);
    return status == PAWL_OK ? pawl__pg_own(&b->call, own, params, TEXTS + 1) : status;
}

/* Its bookmarks and rows that are sent together with others' ask whether it has held. */
static int send_hold(struct batch *b, const struct member *m)
{
    const struct pawl_pq_param member = {PAWL_PQ_INT, {"", 0}, m->number};
    const struct pawl_commit *commit = m->commit;
    bool is_asked = b->is_many;

    if (commit->kind != PAWL_COMMIT_PLAIN && commit->kind != PAWL_COMMIT_CANCEL)
        return PAWL_OK; /* the guard of its instance said so */
    for (size_t i = 0; i < commit->change_count && !is_asked; i++)
        is_asked = pawl__pg_is_bookmark(&commit->changes[i]);
    return is_asked && commit->change_count > 0 ? pawl__pg_own(&b->call, PG_HOLD, &member, 1)
                                                : PAWL_OK;
}

int64_t pawl__pg_mail_limit(const struct pawl_commit *commit)
{
    int64_t limit = 1;

    for (size_t i = 0; i < commit->change_count; i++)
        limit += pawl__pg_is_own_mail(commit, &commit->changes[i]);
    return limit;
}

static int send_mail_question(struct batch *b, struct member *m)
{
    struct pawl_sql_inputs inputs = {0};

    if (!pawl__pg_asks_for_mail(m->commit))
        return PAWL_OK;
    inputs.id = m->commit->instance->id;
    inputs.limit = pawl__pg_mail_limit(m->commit);
    m->mail = b->call.count;
    return pawl__pg_named(&b->call, PAWL_SQL_MAIL_LEFT, &inputs);
}

static int send_changes(struct batch *b, const struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    int status = PAWL_OK;

    for (size_t i = 0; i < commit->change_count && status == PAWL_OK; i++)
        if (!pawl__pg_is_deferred(m, i))
            status = send_change_of(b, commit, &commit->changes[i]);
    return status;
}

static int send_member(struct batch *b, struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    struct pawl_sql_inputs inputs = {.owner = commit->done_owner};
    size_t first_bookmark = b->bookmark_count;
    int status = PAWL_OK;

    m->from = b->call.count;
    m->mail = SIZE_MAX;
    note_bookmarks(b, m);
    b->notify = b->notify || makes_due(commit);
    if (!m->is_guarded_in_bulk)
        status = send_guards(b, m);
    if (status == PAWL_OK && !m->is_guarded_in_bulk)
        status = send_hold(b, m);
    for (size_t i = 0; i < commit->done_count && status == PAWL_OK; i++) {
        inputs.id = commit->done[i];
        if (!is_put_back(commit, commit->done[i]))
            status = pawl__pg_named(&b->call, PAWL_SQL_DONE, &inputs);
    }
    if (status == PAWL_OK)
        status = send_stamp(b, m, PG_STAMP);
    if (status == PAWL_OK && commit->kind == PAWL_COMMIT_DELETE)
        status = send_removals(b, commit);
    if (status == PAWL_OK)
        status = send_changes(b, m);
    if (status == PAWL_OK && !b->is_many)
        status = pawl__pg_send_wake(b, PG_WAKE, first_bookmark);
    if (status == PAWL_OK && !b->is_many)
        status = send_mail_question(b, m);
    m->to = b->call.count;
    return status;
}

/* In a transaction of its own behind all others. */
static int send_signals(struct batch *b)
{
    int status = PAWL_OK;

    if (!b->notify && b->bookmark_count == 0)
        return PAWL_OK;
    if (b->bookmark_count > 0)
        status = pawl__pg_send_wake(b, PG_WAKE_LATE, 0);
    if (status == PAWL_OK && b->notify)
        status = pawl__pg_own(&b->call, PG_NOTIFY, NULL, 0);
    return status == PAWL_OK ? pawl__pg_sync(&b->call) : status;
}

/* ---- answers ----------------------------------------------------------------------------- */

/* `at`: of the guard that did not hold. */
static int instance_status(const struct batch *b, const struct pawl_commit *commit, size_t at)
{
    if (commit->kind == PAWL_COMMIT_CREATE)
        return PAWL_EEXISTS;
    if (commit->kind != PAWL_COMMIT_CANCEL)
        return PAWL_ECONFLICT;
    /* It exists: so another transaction has its row locked. */
    return pawl__pq_int(b->call.conn, at, 0, 1) != 0 ? PAWL_EBUSY : PAWL_ENOTFOUND;
}

/* The first guard that did not hold says why; they are in the order of send_guards(). */
static int guard_status(const struct batch *b, const struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    size_t at = m->guard, held = commit->done_count + (commit->stamp.len > 0);
    size_t reserved = m->is_once ? 0 : guarded_inserts(commit), count;

    count = held + reserved + (commit->kind != PAWL_COMMIT_PLAIN);
    for (size_t i = 0; i < count; i++, at++) {
        struct pawl_str said = pawl__pq_bytes(b->call.conn, at, 0, 0);

        if (pawl__str_is(said, "1"))
            continue;
        m->commit->has_expired = pawl__str_is(said, "2");
        return i < held || m->commit->has_expired ? PAWL_ECONFLICT
               : i < held + reserved              ? PAWL_EEXISTS
                                                  : instance_status(b, commit, at);
    }
    return PAWL_OK;
}

static int status_in_bulk(const struct batch *b, const struct member *m)
{
    struct pawl_commit *commit = m->commit;

    if (pawl__pg_has_held(b, m))
        return PAWL_OK;
    if (pawl__pg_is_barred(b, m, &commit->has_expired))
        return commit->has_expired ? PAWL_ECONFLICT : PAWL_EEXISTS;
    return instance_status(b, commit, m->guard);
}

static bool is_own_id(struct batch *b, const struct pawl_commit *commit, struct pawl_str id)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (pawl__pg_is_own_mail(commit, &commit->changes[i]) &&
            pawl__str_equal(
                pawl__sql_clean(pawl__pg_new_work(&commit->changes[i])->id, &b->call.arena), id))
            return true;
    return false;
}

static bool mail_is_left(struct batch *b, const struct member *m)
{
    bool is_of_all = m->mail == SIZE_MAX; /* the answer is for all members: which one, then which */
    size_t at = is_of_all ? b->mail : m->mail;
    size_t rows = at != SIZE_MAX ? pawl__pq_rows(b->call.conn, at) : 0;

    for (size_t row = 0; row < rows; row++)
        if ((!is_of_all || pawl__pq_int(b->call.conn, at, row, 0) == m->number) &&
            !is_own_id(b, m->commit, pawl__pq_bytes(b->call.conn, at, row, is_of_all)))
            return true;
    return false;
}

static void drop(struct pawl_commit *commit, int status, const struct pawl_error *why)
{
    commit->status = status;
    commit->cancel_requested = commit->has_mail = false;
    if (why)
        commit->error = *why;
    else if (commit->has_expired)
        (void)pawl__error_set(&commit->error, status, PAWL_STORE_EXPIRED);
    else if (status == PAWL_EEXISTS && commit->kind == PAWL_COMMIT_CREATE)
        (void)pawl__error_set(&commit->error, status,
                              "instance %.*s or a row of this commit already exists",
                              PAWL_STR_ARG(commit->instance->id));
    else if (status == PAWL_EBUSY)
        (void)pawl__error_set(&commit->error, status,
                              "instance %.*s is being written by another commit; try again",
                              PAWL_STR_ARG(commit->instance->id));
    else if (status == PAWL_ENOTFOUND)
        (void)pawl__error_set(&commit->error, status, "there is no instance %.*s",
                              PAWL_STR_ARG(commit->instance->id));
    else
        (void)pawl__error_code(&commit->error, status);
}

/* Of a member whose statements all succeeded. It stays open if it is not known yet why its guard
 * did not hold. */
static void fill_result(struct batch *b, struct member *m)
{
    struct pawl_commit *commit = m->commit;
    int status;
    bool has_row = commit->kind == PAWL_COMMIT_CREATE || commit->kind == PAWL_COMMIT_ADVANCE;
    size_t last = m->guard + commit->done_count + (commit->stamp.len > 0);

    commit->has_expired = false;
    if (m->is_once && !pawl__str_is(pawl__pq_bytes(b->call.conn, m->guard, 0, 0), "1")) {
        b->asks_why = true;
        return;
    }
    m->open = false;
    status = m->is_guarded_in_bulk ? status_in_bulk(b, m) : guard_status(b, m);
    if (status != PAWL_OK) {
        drop(commit, status, NULL);
        return;
    }
    last += m->is_once ? 0 : guarded_inserts(commit);
    commit->status = PAWL_OK;
    commit->cancel_requested = m->is_guarded_in_bulk
                                   ? pawl__pg_is_to_cancel(b, m)
                                   : has_row && pawl__pq_int(b->call.conn, last, 0, 1) != 0;
    commit->has_mail = pawl__pg_asks_for_mail(commit) && mail_is_left(b, m);
}

static void drop_open(struct batch *b, int status, const struct pawl_error *why)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].open) {
            b->members[i].open = false;
            drop(b->members[i].commit, status, why);
        }
}

/* ---- batches ----------------------------------------------------------------------------- */

static size_t open_count(const struct batch *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++)
        count += b->members[i].open;
    return count;
}

/* Ends what is queued as a transaction with changes. What fails until receive() is unknown. */
static int send_transaction(struct batch *b)
{
    b->is_sent = true;
    return pawl__pg_sync(&b->call);
}

/* Nobody waits for the signals behind a single transaction. */
static int receive(struct batch *b, bool first_only)
{
    int status = first_only ? pawl__pq_run_first(b->call.conn, true, &b->call.wait, b->call.err)
                            : pawl__pq_run(b->call.conn, true, &b->call.wait, b->call.err);

    b->is_sent = false;
    return status;
}

static int begin_batch(struct batch *b)
{
    b->bookmark_count = b->deferred_count = 0;
    b->notify = b->is_many = b->is_sent = false;
    b->mail = SIZE_MAX;
    for (size_t i = 0; i < b->count; i++) {
        b->members[i].is_guarded_in_bulk = b->members[i].is_once = false;
        b->members[i].defers = false;
    }
    return pawl__pg_again(&b->call);
}

/*
 * All members in one transaction. PAWL_OK: they are answered. *refused: the database took it back,
 * with this error; nothing happened.
 */
static int try_together(struct batch *b, bool *refused)
{
    int status = begin_batch(b), run;
    size_t last;

    *refused = false;
    if (status == PAWL_OK)
        status = pawl__pg_choose_deferred(b, open_count(b));
    if (status == PAWL_OK)
        status = lock_rows_of(b, 0, b->count);
    if (status == PAWL_OK && b->is_many)
        status = pawl__pg_guard_in_bulk(b);
    if (status == PAWL_OK && b->count == 1)
        choose_once(b, &b->members[0]);
    for (size_t i = 0; i < b->count && status == PAWL_OK; i++)
        if (b->members[i].open)
            status = send_member(b, &b->members[i]);
    if (status == PAWL_OK && b->is_many)
        status = pawl__pg_send_deferred(b);
    last = b->call.count;
    if (status == PAWL_OK)
        status = send_transaction(b);
    if (status == PAWL_OK)
        status = send_signals(b);
    if (status != PAWL_OK)
        return status;
    run = receive(b, true);
    pawl__pg_count(b->call.pg, 1, run == PAWL_OK);
    if (run != PAWL_OK && pawl__pq_synced(b->call.conn) == 0)
        return run;
    /* What comes behind the first sync may be lost: it is only a signal. */
    status = pawl__pg_first_error(&b->call, 0, last, b->call.err);
    *refused = status != PAWL_OK;
    /* Whether the session has survived is to be known before the members are sent once more. */
    if (*refused && pawl__pq_await(b->call.conn, &b->call.wait, NULL) != PAWL_OK)
        pawl__pq_break(b->call.conn);
    for (size_t i = 0; i < b->count && status == PAWL_OK; i++)
        if (b->members[i].open)
            fill_result(b, &b->members[i]);
    return status;
}

/* Whatever they need is prepared before: what is prepared in a transaction may fail with it. */
static int send_apart(struct batch *b, bool prepare)
{
    int status = PAWL_OK;

    b->call.prepare = prepare;
    b->call.count = b->bookmark_count = 0;
    for (size_t i = 0; i < b->count && status == PAWL_OK; i++) {
        size_t first = b->call.count;

        if (!b->members[i].open)
            continue;
        status = lock_rows_of(b, i, i + 1);
        if (status == PAWL_OK)
            status = send_member(b, &b->members[i]);
        b->members[i].from = first;
        if (status == PAWL_OK && !prepare)
            status = send_transaction(b);
    }
    if (status == PAWL_OK && prepare)
        status = pawl__pg_sync(&b->call);
    b->call.prepare = false;
    return status;
}

/* The open members whose transactions were answered: the first so many syncs behind that of what
 * was prepared. With `last` none of these stays open; else those may that the database refused for
 * now.
 */
static void fill_results(struct batch *b, size_t answered, bool last)
{
    int64_t syncs = 0;

    for (size_t i = 0; i < b->count && answered > 0; i++) {
        struct member *m = &b->members[i];
        struct pawl_error why = PAWL_ERROR_INIT;
        int failure;

        if (!m->open)
            continue;
        answered--;
        failure = pawl__pg_first_error(&b->call, m->from, m->to, &why);
        if (failure == PAWL_OK) {
            fill_result(b, m);
            syncs++;
        } else if (last || pawl_error_class(failure) != PAWL_CLASS_TRANSIENT) {
            m->open = false;
            drop(m->commit, failure, &why);
        }
        b->is_divided = b->is_divided || !m->open;
    }
    pawl__pg_count(b->call.pg, 1, syncs);
}

/* Each open member in a transaction of its own. What fails is of those that are open still: the
 * session may end when others were answered, or all of them and only the signals are lost. */
static int try_apart(struct batch *b, bool last)
{
    int status = begin_batch(b);
    size_t synced;

    if (status == PAWL_OK)
        status = send_apart(b, true);
    if (status == PAWL_OK)
        status = send_apart(b, false);
    if (status == PAWL_OK)
        status = send_signals(b);
    if (status != PAWL_OK)
        return status;
    status = receive(b, false);
    synced = pawl__pq_synced(b->call.conn);
    fill_results(b, synced > 0 ? synced - 1 : 0, last || status != PAWL_OK);
    return open_count(b) > 0 ? status : PAWL_OK;
}

/* The connection is lost, so which member is to blame cannot be found out: none is blamed for all.
 */
static int blame_nobody(struct batch *b, int status)
{
    enum pawl_error_class class = pawl_error_class(status);
    const struct pawl_error why = *b->call.err;

    /* A server that ends the session, or only reads, says the same to every member. */
    if (class == PAWL_CLASS_TRANSIENT || class == PAWL_CLASS_UNKNOWN)
        return status;
    return pawl__error_set(b->call.err, PAWL_EUNAVAILABLE,
                           "the connection was lost when a batch had been taken back; nothing of "
                           "it happened (%s)",
                           why.msg);
}

static int apply_batch(struct batch *b)
{
    bool refused = true;
    int status = try_together(b, &refused);

    if (status == PAWL_OK && b->asks_why)
        status = try_together(b, &refused);
    if (status == PAWL_OK || !refused)
        return status;
    if (pawl__pq_is_broken(b->call.conn))
        return blame_nobody(b, status);
    status = PAWL_OK;
    for (int tries = 1; open_count(b) > 0 && status == PAWL_OK; tries++)
        status = try_apart(b, tries == TRIES_MAX);
    return status;
}

int pawl__pg_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                   int64_t deadline_ns, struct pawl_error *err)
{
    struct batch b = {.count = count};
    /* What a try is refused with is no error of the call when another succeeds. */
    struct pawl_error failure = PAWL_ERROR_INIT;
    size_t changes = 0;
    int status;

    if (count > PAWL_STORE_BATCH_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu commits in one batch; at most %d", count,
                               PAWL_STORE_BATCH_MAX);
    if (count == 0)
        return PAWL_OK;
    status = pawl__pg_call_begin(&b.call, store, PG_COMMIT, true, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    b.call.err = &failure;
    for (size_t i = 0; i < count; i++)
        changes += commits[i]->change_count;
    b.members = pawl__arena_alloc_zeroed(&b.call.arena, count * sizeof *b.members);
    b.bookmarks = pawl__arena_alloc_array(&b.call.arena, changes + 1, sizeof(void *));
    b.bookmark_members = pawl__arena_alloc_array(&b.call.arena, changes + 1, sizeof(int64_t));
    if (!b.members || !b.bookmarks || !b.bookmark_members) {
        status = pawl__error_code(&failure, pawl__arena_status(&b.call.arena));
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        struct pawl_error why = PAWL_ERROR_INIT;
        int unfit = check_commit(b.call.pg->sql, commits[i], &why);

        b.members[i].commit = commits[i];
        b.members[i].number = (int64_t)i + 1;
        b.members[i].open = unfit == PAWL_OK;
        if (unfit != PAWL_OK)
            drop(commits[i], unfit, &why);
    }
    if (open_count(&b) > 0)
        status = apply_batch(&b);
    /* Queueing failed behind what was sent. */
    if (status != PAWL_OK && b.is_sent)
        status = pawl__error_after_commit(&failure, status, "changes were sent to PostgreSQL");
    if (status != PAWL_OK && b.is_divided) {
        drop_open(&b, status, &failure);
        status = PAWL_OK;
    }
out:
    pawl__pg_call_end(&b.call);
    if (status != PAWL_OK && err)
        *err = failure;
    return status;
}
