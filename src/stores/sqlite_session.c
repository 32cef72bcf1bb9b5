/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions of the SQLite store, and running statements in them.
 *
 * Writers of this process queue on a condition; only the one whose turn it is asks SQLite for the
 * lock, which other processes may hold. So nobody spins on a neighbour's commit. Readers check a
 * connection out of a pool that grows to its maximum.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "stores/sqlite_private.h"

/* Text with NULs in it, of all rows of one call. */
#define SCRATCH_BYTES_MAX ((size_t)256 << 20)

static int set_wait_error(const struct pawl_sqlite_store *store, int status, const char *what,
                          struct pawl_error *err)
{
    if (status == PAWL_ETIMEDOUT)
        return pawl__error_set(err, PAWL_ETIMEDOUT, "%s: no %s was free until the deadline",
                               store->path, what);
    return pawl__error_code(err, status);
}

static void start(struct pawl_sqlite_session *session, struct pawl_sqlite_store *store)
{
    *session = (struct pawl_sqlite_session){.store = store};
    pawl__arena_init(&session->scratch, &store->env->alloc, SCRATCH_BYTES_MAX);
}

/* ---- the files --------------------------------------------------------------------------- */

/*
 * A file that is removed, or replaced by another, stays what the open connections write to, and all
 * of it is gone with the last of them: nothing fails. So the names are looked at now and then.
 */
#define LOOK_NS INT64_C(1000000000)
/* What begins each database file. */
#define HEADER_BYTES 100

int pawl__sqlite_store_note_files(struct pawl_sqlite_store *store, struct pawl_error *err)
{
    pawl__file_identify(store->path, &store->file);
    pawl__file_identify(store->log_path, &store->log);
    return store->file.inode != 0
               ? PAWL_OK
               : pawl__error_set(err, PAWL_ENOTFOUND,
                                 "%s: no file of that name was found after it was opened: it was "
                                 "removed meanwhile, or the path has '..' behind a folder that "
                                 "does not exist; check the path and try again",
                                 store->path);
}

static bool is_another(struct pawl_file_identity opened, const char *path)
{
    struct pawl_file_identity now;

    if (opened.inode == 0)
        return false;
    pawl__file_identify(path, &now);
    return !pawl__file_is_same(opened, now);
}

/* Under the lock. */
static int check_files(struct pawl_sqlite_store *store, struct pawl_error *err)
{
    int64_t now_ns = pawl_env_monotonic_ns(store->env);

    if (store->file.inode == 0) /* it is being opened */
        return PAWL_OK;
    if (store->looked_ns == 0 || now_ns - store->looked_ns >= LOOK_NS) {
        store->looked_ns = now_ns;
        if (store->log.inode == 0) /* SQLite makes it when it is first used */
            pawl__file_identify(store->log_path, &store->log);
        store->is_lost = is_another(store->file, store->path) ||
                         is_another(store->log, store->log_path) ||
                         pawl__file_size(store->path) < HEADER_BYTES;
    }
    return store->is_lost
               ? pawl__error_set(err, PAWL_EUNAVAILABLE,
                                 "%s, or its -wal file, was removed, replaced or emptied while in "
                                 "use: put the file back that was there, or stop every process "
                                 "that uses it and start again",
                                 store->path)
               : PAWL_OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

static int enter(struct pawl_sqlite_store *store, int64_t deadline_ns, struct pawl_error *err)
{
    int status = pawl_mutex_lock(store->env, store->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = check_files(store, err);
    if (status != PAWL_OK) {
        pawl_mutex_unlock(store->env, store->lock);
        return status;
    }
    store->writers_waiting++;
    while (store->writing && status == PAWL_OK)
        status = pawl_cond_wait(store->env, store->writer_free, store->lock, deadline_ns);
    store->writers_waiting--;
    if (!store->writing && status != PAWL_ESTOPPED) {
        store->writing = true;
        status = PAWL_OK;
    }
    pawl_mutex_unlock(store->env, store->lock);
    return status == PAWL_OK ? PAWL_OK : set_wait_error(store, status, "turn to write", err);
}

/* The writer's connection, if nobody has it or waits for it. */
static bool try_enter(struct pawl_sqlite_store *store)
{
    bool entered = false;

    if (pawl_mutex_lock(store->env, store->lock) != PAWL_OK)
        return false;
    if (!store->writing && store->writers_waiting == 0 && check_files(store, NULL) == PAWL_OK)
        entered = store->writing = true;
    pawl_mutex_unlock(store->env, store->lock);
    return entered;
}

/* Also when the environment is stopped: then nobody waits, and nobody writes any more. */
static void release_writer(struct pawl_sqlite_store *store)
{
    if (pawl_mutex_lock(store->env, store->lock) != PAWL_OK)
        return;
    store->writing = false;
    pawl_mutex_unlock(store->env, store->lock);
    pawl_cond_signal(store->env, store->writer_free);
}

int64_t pawl__sqlite_store_now_us(const struct pawl_sqlite_store *store)
{
    return store->env->ops->caps & PAWL_ENV_CAP_SIMULATED ? pawl_env_wall_ns(store->env) / 1000
                                                          : pawl__sqlite_now_us();
}

/* Of the writer: publishes the clock's reading to those who read. */
static void publish_clock(const struct pawl_sqlite_session *session)
{
    struct pawl_sqlite_store *store = session->store;

    pawl_mutex_lock_always(store->env, store->lock);
    pawl__store_clock_saw(&store->clock, session->now_us, session->now_ns);
    pawl_mutex_unlock(store->env, store->lock);
}

/* Part of the transaction that finds it; if that comes to nothing, the next one finds it too. */
static int move_back(struct pawl_sqlite_session *session, struct pawl_error *err)
{
    struct pawl_sql *sql = session->store->sql;
    struct pawl_sql_inputs inputs = {.value = pawl__store_clock_before_us(
                                         &session->store->clock, session->now_us, session->now_ns)};
    int status = pawl__sqlite_session_run(session, pawl__sql_statement(sql, PAWL_SQL_BACK_WORK),
                                          &inputs, NULL, NULL, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_session_run(
            session, pawl__sql_statement(sql, PAWL_SQL_BACK_INSTANCES), &inputs, NULL, NULL, err);
    inputs.value = PAWL_CLOCK_LEASE_US;
    if (status == PAWL_OK)
        status = pawl__sqlite_session_run(session, pawl__sql_statement(sql, PAWL_SQL_BACK_NODES),
                                          &inputs, NULL, NULL, err);
    return status;
}

int pawl__sqlite_session_again(struct pawl_sqlite_session *session, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = session->store;
    int status = pawl__sqlite_begin(session->db, true, err);
    int64_t before_ns;

    if (status != PAWL_OK)
        return status;
    /* One reading serves a whole transaction. */
    before_ns = pawl_env_monotonic_ns(store->env);
    session->now_us = pawl__sqlite_store_now_us(store);
    session->now_ns = pawl_env_monotonic_ns(store->env);
    session->is_back = pawl__store_clock_is_back(&store->clock, session->now_us, before_ns);
    if (session->is_back)
        return move_back(session, err);
    publish_clock(session);
    return PAWL_OK;
}

int pawl__sqlite_session_write(struct pawl_sqlite_store *store, bool durable, int64_t deadline_ns,
                               struct pawl_sqlite_session *out, struct pawl_error *err)
{
    int status;

    if (store->read_only)
        return pawl__error_set(err, PAWL_EPERM, "%s: was opened for reading only", store->path);
    status = enter(store, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    start(out, store);
    out->db = store->writer;
    out->durable = durable;
    pawl__sqlite_set_deadline(out->db, deadline_ns);
    status = pawl__sqlite_set_syncs(out->db, durable, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_session_again(out, err);
    if (status != PAWL_OK)
        pawl__sqlite_session_end(out);
    return status;
}

int pawl__sqlite_session_commit(struct pawl_sqlite_session *session, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = session->store;
    int status = pawl__sqlite_commit(session->db, err);

    if (status == PAWL_OK && session->is_back) {
        publish_clock(session);
        pawl__sqlite_store_notify(store);
    }
    if (status == PAWL_OK && session->durable &&
        pawl_mutex_lock(store->env, store->lock) == PAWL_OK) {
        store->syncs++;
        pawl_mutex_unlock(store->env, store->lock);
    }
    return status;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* An idle connection, or *db NULL: the caller may open one more, which is counted already. */
static int check_out(struct pawl_sqlite_store *store, int64_t deadline_ns, struct pawl_sqlite **db,
                     struct pawl_error *err)
{
    int status = pawl_mutex_lock(store->env, store->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = check_files(store, err);
    if (status != PAWL_OK) {
        pawl_mutex_unlock(store->env, store->lock);
        return status;
    }
    while (store->reader_idle == 0 && store->reader_open == store->reader_max && status == PAWL_OK)
        status = pawl_cond_wait(store->env, store->reader_free, store->lock, deadline_ns);
    *db = NULL;
    if (status != PAWL_ESTOPPED && store->reader_idle > 0) {
        *db = store->readers[--store->reader_idle];
        status = PAWL_OK;
    } else if (status != PAWL_ESTOPPED && store->reader_open < store->reader_max) {
        store->reader_open++;
        status = PAWL_OK;
    }
    pawl_mutex_unlock(store->env, store->lock);
    return status == PAWL_OK ? PAWL_OK : set_wait_error(store, status, "connection", err);
}

/* `db` NULL: it could not be opened after all. */
static void check_in(struct pawl_sqlite_store *store, struct pawl_sqlite *db)
{
    if (pawl_mutex_lock(store->env, store->lock) != PAWL_OK) {
        pawl__sqlite_close(db); /* stopped: nobody will ask for it */
        return;
    }
    if (db)
        store->readers[store->reader_idle++] = db;
    else
        store->reader_open--;
    pawl_mutex_unlock(store->env, store->lock);
    pawl_cond_signal(store->env, store->reader_free);
}

int pawl__sqlite_session_read(struct pawl_sqlite_store *store, bool one_moment, int64_t deadline_ns,
                              struct pawl_sqlite_session *out, struct pawl_error *err)
{
    struct pawl_sqlite *db = NULL;
    int status = check_out(store, deadline_ns, &db, err);

    if (status != PAWL_OK)
        return status;
    if (!db) {
        status = pawl__sqlite_store_connect(store, PAWL_SQLITE_READ, false, &db, err);
        if (status != PAWL_OK) {
            check_in(store, NULL);
            return status;
        }
    }
    start(out, store);
    out->db = db;
    pawl__sqlite_set_deadline(db, deadline_ns);
    if (one_moment)
        status = pawl__sqlite_begin(db, false, err);
    if (status == PAWL_OK)
        return PAWL_OK;
    pawl__sqlite_session_end(out);
    return status;
}

int pawl__sqlite_session_read_fast(struct pawl_sqlite_store *store, int64_t deadline_ns,
                                   struct pawl_sqlite_session *out, struct pawl_error *err)
{
    bool entered = try_enter(store);
    int status = PAWL_OK;

    if (entered) {
        start(out, store);
        out->db = store->writer;
        pawl__sqlite_set_deadline(out->db, deadline_ns);
    } else {
        status = pawl__sqlite_session_read(store, false, deadline_ns, out, err);
    }
    if (status != PAWL_OK)
        return status;
    out->now_ns = pawl_env_monotonic_ns(store->env);
    out->now_us = pawl__sqlite_store_now_us(store);
    pawl_mutex_lock_always(store->env, store->lock);
    out->is_back = pawl__store_clock_is_back(&store->clock, out->now_us, out->now_ns);
    pawl_mutex_unlock(store->env, store->lock);
    return PAWL_OK;
}

void pawl__sqlite_session_end(struct pawl_sqlite_session *session)
{
    struct pawl_sqlite_store *store = session->store;

    pawl__sqlite_set_deadline(session->db, PAWL_FOREVER);
    pawl__sqlite_rollback(session->db);
    pawl__arena_release(&session->scratch);
    if (session->db == store->writer)
        release_writer(store);
    else
        check_in(store, session->db);
}

/* ---- statements -------------------------------------------------------------------------- */

int pawl__sqlite_bind_values(struct pawl_sqlite_statement *statement,
                             const struct pawl_sql_value *values, uint32_t count,
                             struct pawl_error *err)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        int number = (int)i + 1;

        if (values[i].type == PAWL_COLUMN_INT)
            status = pawl__sqlite_bind_int(statement, number, values[i].integer, err);
        else if (values[i].type == PAWL_COLUMN_TEXT)
            status = pawl__sqlite_bind_text(statement, number, values[i].text, err);
        else
            status = pawl__sqlite_bind_bytes(statement, number, values[i].text, err);
    }
    return status;
}

int pawl__sqlite_session_run(struct pawl_sqlite_session *session,
                             const struct pawl_sql_statement *statement,
                             struct pawl_sql_inputs *inputs, struct pawl_sqlite_statement **out,
                             bool *row, struct pawl_error *err)
{
    struct pawl_sql_value values[PAWL_SQL_PARAMS_MAX];
    struct pawl_sqlite_statement *prepared = NULL;
    bool has_row = false;
    int status;

    inputs->now_us = session->now_us;
    status = pawl__sql_bind(statement, inputs, &session->scratch, values, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_prepare(session->db, statement->text, &prepared, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_bind_values(prepared, values, statement->param_count, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_step(prepared, &has_row, err);
    if (status != PAWL_OK || !has_row || !out)
        pawl__sqlite_reset(prepared);
    if (status != PAWL_OK)
        return status;
    if (out)
        *out = prepared;
    if (row)
        *row = has_row;
    return PAWL_OK;
}

int pawl__sqlite_row_read(struct pawl_sqlite_statement *statement, enum pawl_table table,
                          uint64_t columns, struct pawl_arena *arena, void *row,
                          struct pawl_error *err)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    int at = 0;

    for (uint32_t i = 0; i < info->column_count; i++) {
        struct pawl_sql_value value = {info->columns[i].type, {"", 0}, 0};

        if (columns >> i & 1) {
            if (value.type == PAWL_COLUMN_INT) {
                value.integer = pawl__sqlite_column_int(statement, at);
            } else {
                value.text = pawl__sqlite_column_str(statement, at);
                if (!value.text.ptr)
                    return pawl__error_code(err, PAWL_ENOMEM);
                value.text = pawl__arena_str(arena, value.text);
                if (!value.text.ptr)
                    return pawl__error_code(err, pawl__arena_status(arena));
            }
            at++;
        }
        pawl__sql_row_set(table, row, i, &value);
    }
    return PAWL_OK;
}

/* Room for one more of `count` in an array of the arena that grows by doubling. */
static void *grow(struct pawl_arena *arena, void *rows, size_t count, size_t *cap, size_t size)
{
    size_t wanted = *cap == 0 ? 8 : *cap * 2;
    void *more;

    if (count < *cap)
        return rows;
    more = pawl__arena_alloc_array(arena, wanted, size);
    if (more && count > 0)
        memcpy(more, rows, count * size);
    *cap = wanted;
    return more;
}

int pawl__sqlite_rows_read(struct pawl_sqlite_statement *statement, bool row, enum pawl_table table,
                           uint64_t columns, struct pawl_arena *arena, void **rows, size_t *count,
                           struct pawl_error *err)
{
    size_t size = pawl_table_info(table)->row_size, made = 0, cap = 0;
    char *array = NULL;
    int status = PAWL_OK;

    while (row && status == PAWL_OK) {
        array = grow(arena, array, made, &cap, size);
        if (!array) {
            status = pawl__error_code(err, pawl__arena_status(arena));
            break;
        }
        status = pawl__sqlite_row_read(statement, table, columns, arena, array + made * size, err);
        made++;
        if (status == PAWL_OK)
            status = pawl__sqlite_step(statement, &row, err);
    }
    pawl__sqlite_reset(statement);
    if (status != PAWL_OK)
        return status;
    *rows = array;
    *count = made;
    return PAWL_OK;
}
