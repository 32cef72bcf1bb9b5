/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commits in SQLite: all of a call in one transaction, which is synced once.
 *
 * Almost always every member holds. So the first try has no savepoints, which would copy every page
 * that is touched. A member that fails before it wrote anything is dropped on the spot; one that
 * fails later makes the whole transaction start again, carefully, with a savepoint for each.
 */
#include "base/error.h"
#include "stores/sqlite_private.h"

/* What became of a member; copied into the caller's commits once all of it is durable. */
struct verdict {
    int status;
    bool cancel_requested;
    bool has_mail;
    bool has_expired;
    bool wakes; /* a waiter may need it */
    struct pawl_error error;
};

struct member {
    struct pawl_sqlite_session *session;
    const struct pawl_commit *commit;
    struct verdict *verdict;
    bool wrote;
};

static const struct pawl_sql_statement *named(const struct member *m, enum pawl_sql_name name)
{
    return pawl__sql_statement(m->session->store->sql, name);
}

/* Errors of the member only; after others the transaction cannot continue. */
static bool is_its_own(int status)
{
    return status == PAWL_EEXISTS || status == PAWL_ECONFLICT || status == PAWL_ENOTFOUND ||
           status == PAWL_ELIMIT || status == PAWL_EINVAL;
}

/* Runs a statement that must change one row; otherwise returns `otherwise`. */
static int change_one(struct member *m, enum pawl_sql_name name, struct pawl_sql_inputs *inputs,
                      int otherwise, struct pawl_error *err)
{
    int status = pawl__sqlite_session_run(m->session, named(m, name), inputs, NULL, NULL, err);

    if (status != PAWL_OK)
        return status;
    if (pawl__sqlite_changes(m->session->db) != 1)
        return pawl__error_code(err, otherwise);
    m->wrote = true;
    return PAWL_OK;
}

static int finish_work(struct member *m, struct pawl_error *err)
{
    const struct pawl_commit *commit = m->commit;
    int status = PAWL_OK;

    for (size_t i = 0; i < commit->done_count && status == PAWL_OK; i++) {
        struct pawl_sql_inputs inputs = {.id = commit->done[i], .owner = commit->done_owner};

        status = change_one(m, PAWL_SQL_DONE, &inputs, PAWL_ECONFLICT, err);
    }
    return status;
}

static int move_stamp(struct member *m, struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.text = m->commit->stamp, .value = m->commit->stamp_value};
    int status;

    if (m->commit->stamp.len == 0)
        return PAWL_OK;
    status = pawl__sqlite_session_run(m->session, named(m, PAWL_SQL_STAMP_ENSURE), &inputs, NULL,
                                      NULL, err);
    if (status != PAWL_OK)
        return status;
    m->wrote |= pawl__sqlite_changes(m->session->db) > 0;
    m->verdict->wakes = true;
    return change_one(m, PAWL_SQL_STAMP, &inputs, PAWL_ECONFLICT, err);
}

/* A deleted instance takes along what is its own. */
static int delete_owned(struct member *m, struct pawl_error *err)
{
    struct pawl_sql *sql = m->session->store->sql;
    int status = PAWL_OK;

    for (int table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++) {
        struct pawl_owned_row row;
        struct pawl_sql_inputs inputs = {.row = row.bytes};

        if (!pawl__sql_owned_row((enum pawl_table)table, m->commit->instance->id, &row))
            continue;
        status = pawl__sqlite_session_run(
            m->session, pawl__sql_change(sql, PAWL_CHANGE_DELETE_OWNED, (enum pawl_table)table),
            &inputs, NULL, NULL, err);
    }
    return status;
}

static int write_instance(struct member *m, struct pawl_error *err)
{
    const struct pawl_commit *commit = m->commit;
    struct pawl_sql_inputs inputs = {.row = commit->instance, .value = commit->visited_us};
    bool releases = (commit->flags & PAWL_COMMIT_RELEASE) != 0;
    int status = pawl__store_check_commit(commit, err);

    if (status != PAWL_OK)
        return status;
    if (!commit->instance && commit->kind != PAWL_COMMIT_PLAIN)
        return pawl__error_set(err, PAWL_EINVAL, "a commit of this kind needs an instance");
    if (commit->instance && !releases)
        inputs.owner = commit->instance->owner;
    switch (commit->kind) {
    case PAWL_COMMIT_PLAIN:
        break;
    case PAWL_COMMIT_CREATE:
        status = change_one(m, PAWL_SQL_CREATE, &inputs, PAWL_EEXISTS, err);
        if (status == PAWL_EEXISTS)
            (void)pawl__error_set(err, PAWL_EEXISTS, "instance %.*s already exists",
                                  PAWL_STR_ARG(commit->instance->id));
        break;
    case PAWL_COMMIT_ADVANCE:
        status = change_one(m, pawl__sql_advance(commit), &inputs, PAWL_ECONFLICT, err);
        break;
    case PAWL_COMMIT_DELETE:
        status = change_one(m, PAWL_SQL_REMOVE, &inputs, PAWL_ECONFLICT, err);
        if (status == PAWL_OK)
            status = delete_owned(m, err);
        break;
    case PAWL_COMMIT_CANCEL:
        status = change_one(m, PAWL_SQL_CANCEL, &inputs, PAWL_ENOTFOUND, err);
        if (status == PAWL_ENOTFOUND)
            (void)pawl__error_set(err, PAWL_ENOTFOUND, "there is no instance %.*s",
                                  PAWL_STR_ARG(commit->instance->id));
        m->verdict->wakes = true;
        break;
    default:
        status = pawl__error_set(err, PAWL_EINVAL, "there is no such kind of commit: %d",
                                 (int)commit->kind);
        break;
    }
    return status;
}

static bool inserts(const struct pawl_change *change)
{
    return change->kind == PAWL_CHANGE_INSERT || change->kind == PAWL_CHANGE_ADD ||
           change->kind == PAWL_CHANGE_PUT;
}

static int write_change(struct member *m, const struct pawl_change *change, struct pawl_error *err)
{
    const struct pawl_sql_statement *statement =
        pawl__sql_change(m->session->store->sql, change->kind, change->table);
    struct pawl_sql_inputs inputs = {.row = change->row};
    struct pawl_work_row work;
    int status;

    if (inserts(change) && change->table == PAWL_TABLE_WORK) {
        work = *(const struct pawl_work_row *)change->row;
        pawl__store_clock_limit(&work, m->session->now_us);
        inputs.row = &work;
    }
    if (!statement)
        return pawl__error_set(err, PAWL_EINVAL, "a commit cannot make change %d of table %d",
                               (int)change->kind, (int)change->table);
    if (change->kind == PAWL_CHANGE_INSERT && change->table == PAWL_TABLE_RESERVATIONS &&
        ((const struct pawl_reservation_row *)change->row)->expires_us <= m->session->now_us) {
        m->verdict->has_expired = true;
        return pawl__error_set(err, PAWL_ECONFLICT, PAWL_STORE_EXPIRED);
    }
    status = pawl__sqlite_session_run(m->session, statement, &inputs, NULL, NULL, err);
    if (status != PAWL_OK)
        return status;
    m->wrote = true;
    if (inserts(change) && change->table == PAWL_TABLE_WORK)
        m->verdict->wakes |= ((const struct pawl_work_row *)change->row)->due_us != PAWL_TIME_NEVER;
    if (inserts(change) && change->table == PAWL_TABLE_REPLIES)
        m->verdict->wakes = true;
    return PAWL_OK;
}

/* Once all is written, the work among it too. */
static int wake_parked(struct member *m, const struct pawl_change *change, struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.row = change->row};
    struct pawl_sqlite_statement *statement = NULL;
    bool is_parked = false;
    int status;

    if (!inserts(change) || change->table != PAWL_TABLE_BOOKMARKS)
        return PAWL_OK;
    status = pawl__sqlite_session_run(m->session, named(m, PAWL_SQL_PARKED), &inputs, &statement,
                                      &is_parked, err);
    if (status != PAWL_OK)
        return status;
    pawl__sqlite_reset(statement);
    if (!is_parked)
        return PAWL_OK;
    status =
        pawl__sqlite_session_run(m->session, named(m, PAWL_SQL_WAKE), &inputs, NULL, NULL, err);
    if (status == PAWL_OK && pawl__sqlite_changes(m->session->db) > 0)
        m->verdict->wakes = true;
    return status;
}

/* Whether the instance is to be cancelled, and whether there is due work for it. */
static int read_flags_and_mail(struct member *m, struct pawl_error *err)
{
    const struct pawl_commit *commit = m->commit;
    struct pawl_sqlite_statement *statement = NULL;
    struct pawl_sql_inputs inputs = {.row = commit->instance};
    bool row = false;
    int status;

    if (commit->kind != PAWL_COMMIT_CREATE && commit->kind != PAWL_COMMIT_ADVANCE)
        return PAWL_OK;
    /* Nobody could ask for the end of what appears only now. */
    if (commit->kind == PAWL_COMMIT_CREATE && (commit->flags & PAWL_COMMIT_UNASKED)) {
        m->verdict->cancel_requested = commit->instance->cancel_requested != 0;
        return PAWL_OK;
    }
    status = pawl__sqlite_session_run(m->session, named(m, PAWL_SQL_AFTERWARDS), &inputs,
                                      &statement, &row, err);
    if (status == PAWL_OK && row) {
        m->verdict->cancel_requested = pawl__sqlite_column_int(statement, 0) != 0;
        m->verdict->has_mail = pawl__sqlite_column_int(statement, 1) != 0;
        pawl__sqlite_reset(statement);
    }
    return status;
}

/* An instance that is released with work left is due for others. */
static bool leaves_something(const struct member *m)
{
    const struct pawl_commit *commit = m->commit;

    if (commit->kind != PAWL_COMMIT_CREATE && commit->kind != PAWL_COMMIT_ADVANCE)
        return false;
    return (commit->flags & PAWL_COMMIT_RELEASE) &&
           (m->verdict->has_mail || commit->instance->runnable ||
            (commit->flags & PAWL_COMMIT_KEEP));
}

static int write_member(struct member *m, struct pawl_error *err)
{
    int status = write_instance(m, err);

    if (status == PAWL_OK)
        status = finish_work(m, err);
    if (status == PAWL_OK)
        status = move_stamp(m, err);
    for (size_t i = 0; i < m->commit->change_count && status == PAWL_OK; i++)
        status = write_change(m, &m->commit->changes[i], err);
    for (size_t i = 0; i < m->commit->change_count && status == PAWL_OK; i++)
        status = wake_parked(m, &m->commit->changes[i], err);
    if (status == PAWL_OK)
        status = read_flags_and_mail(m, err);
    if (status == PAWL_OK)
        m->verdict->wakes |= leaves_something(m);
    return status;
}

/* *again: a member failed after it had written, and there is no savepoint to go back to. */
static int write_all(struct pawl_sqlite_session *session, struct pawl_commit *const *commits,
                     size_t count, bool careful, struct verdict *verdicts, bool *again,
                     struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct verdict *verdict = &verdicts[i];
        struct member m = {session, commits[i], verdict, false};
        struct pawl_error why = PAWL_ERROR_INIT;

        *verdict = (struct verdict){0};
        if (careful)
            status = pawl__sqlite_run(session->db, "SAVEPOINT member", err);
        if (status != PAWL_OK)
            break;
        verdict->status = write_member(&m, &why);
        if (verdict->status != PAWL_OK) {
            if (!is_its_own(verdict->status) || !pawl__sqlite_in_transaction(session->db)) {
                if (err)
                    *err = why;
                return verdict->status;
            }
            *verdict = (struct verdict){
                .status = verdict->status, .has_expired = verdict->has_expired, .error = why};
            if (m.wrote && !careful) {
                *again = true;
                return PAWL_OK;
            }
            if (m.wrote)
                status = pawl__sqlite_run(session->db, "ROLLBACK TO member", err);
        }
        if (careful && status == PAWL_OK)
            status = pawl__sqlite_run(session->db, "RELEASE member", err);
    }
    return status;
}

/* Sets the results, and wakes waiters. */
static void publish(struct pawl_sqlite_store *store, struct pawl_commit *const *commits,
                    size_t count, const struct verdict *verdicts)
{
    bool wakes = false;

    for (size_t i = 0; i < count; i++) {
        commits[i]->status = verdicts[i].status;
        commits[i]->cancel_requested = verdicts[i].cancel_requested;
        commits[i]->has_mail = verdicts[i].has_mail;
        commits[i]->has_expired = verdicts[i].has_expired;
        commits[i]->error = verdicts[i].error;
        wakes |= verdicts[i].status == PAWL_OK && verdicts[i].wakes;
    }
    if (wakes)
        pawl__sqlite_store_notify(store);
}

int pawl__sqlite_store_apply(struct pawl_store *base, struct pawl_commit *const *commits,
                             size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sqlite_session session;
    struct verdict *verdicts;
    bool again = false, any = false;
    int status;

    if (count > PAWL_STORE_BATCH_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu commits at once; at most %d", count,
                               PAWL_STORE_BATCH_MAX);
    if (count == 0)
        return PAWL_OK;
    status = pawl__sqlite_session_write(store, true, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    verdicts = pawl__arena_alloc_array(&session.scratch, count, sizeof *verdicts);
    if (!verdicts) {
        status = pawl__error_code(err, pawl__arena_status(&session.scratch));
        goto out;
    }
    status = write_all(&session, commits, count, false, verdicts, &again, err);
    if (status == PAWL_OK && again) {
        pawl__sqlite_rollback(session.db);
        status = pawl__sqlite_session_again(&session, err);
        if (status == PAWL_OK)
            status = write_all(&session, commits, count, true, verdicts, &again, err);
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        any |= verdicts[i].status == PAWL_OK;
    if (any)
        status = pawl__sqlite_session_commit(&session, err);
    if (status == PAWL_OK)
        publish(store, commits, count, verdicts);
out:
    pawl__sqlite_session_end(&session);
    return status;
}
