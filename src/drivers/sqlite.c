/* SPDX-License-Identifier: Apache-2.0 */
/* Beside sqlite_log.c, the only file that includes <sqlite3.h>. */
#include "drivers/sqlite.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "drivers/sqlite_log.h"
#include "os/errno.h"
#include "os/file.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>

/* How long to sleep while another process writes: a sync takes a few milliseconds. */
#define BUSY_NS_MIN ((int64_t)500 * 1000)
#define BUSY_NS_MAX ((int64_t)10 * 1000 * 1000)
/* Instructions of SQLite's machine between looks at the deadline: about a millisecond. */
#define PROGRESS_STEPS 20000
/* Statements found again by the address of their text, which is compared too. */
#define RECENT 64

/* Of the Julian day 2440587.5. */
#define JULIAN_MS_1970 INT64_C(210866760000000)

struct pawl_sqlite {
    struct pawl_env *env;
    char *path;
    size_t path_size;
    sqlite3 *db;
    sqlite3_stmt *rollback;     /* made before it is needed: it works without memory */
    struct pawl_map statements; /* by text: struct pawl_sqlite_statement, which owns the text */
    struct pawl_sqlite_statement *recent[RECENT]; /* of those in `statements` */
    enum { SYNCS_UNKNOWN, SYNCS_NOT, SYNCS } syncs;
    int64_t deadline_ns;
    uint64_t jitter; /* state of a generator that only spreads sleeps */
    bool stopped;    /* a wait was: the SQLITE_BUSY that follows is that */
};

struct pawl_sqlite_statement {
    struct pawl_sqlite *owner;
    sqlite3_stmt *handle;
};

void pawl__sqlite_count_no_memory(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* fails if SQLite is in use: it counts on */
}

const char *pawl__sqlite_version(void)
{
    return sqlite3_libversion();
}

/* ---- errors ------------------------------------------------------------------------------ */

static bool no_room(int errnum)
{
    return errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG;
}

static bool deadline_over(struct pawl_sqlite *db)
{
    return db->deadline_ns != PAWL_FOREVER && pawl_env_monotonic_ns(db->env) >= db->deadline_ns;
}

static int set_full(const char *path, struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EUNAVAILABLE,
                           "%s: no room for more data; nothing was lost; free some space on this "
                           "disk, or raise the quota or file size limit, and try again",
                           path);
}

static int set_readonly(struct pawl_sqlite *db, struct pawl_error *err)
{
    return pawl__error_set(
        err, PAWL_EPERM, "%s: cannot be written; check the permissions of the file and its folder",
        db->path);
}

static int set_busy(struct pawl_sqlite *db, struct pawl_error *err)
{
    if (db->stopped)
        return pawl__error_code(err, PAWL_ESTOPPED);
    if (deadline_over(db))
        return pawl__error_set(err, PAWL_ETIMEDOUT,
                               "%s: another process kept the database locked until the deadline",
                               db->path);
    return pawl__error_set(err, PAWL_EBUSY,
                           "%s: another process has the database locked; try again", db->path);
}

/* Of the call that has just failed. SQLite itself does not remember that of a commit, but that of
 * other files than the database and its log. */
static int last_errno(struct pawl_sqlite *db)
{
    int errnum = pawl__sqlite_log_errno(db->db);

    return errnum != 0 ? errnum : sqlite3_system_errno(db->db);
}

static int set_disk_failed(struct pawl_sqlite *db, int result, struct pawl_error *err)
{
    /* The memory that processes share is a file, which is mapped. */
    if (result == SQLITE_IOERR_NOMEM || (result == SQLITE_IOERR_SHMMAP && last_errno(db) == ENOMEM))
        return pawl__error_code(err, PAWL_ENOMEM);
    /* A sync that fails for want of room says too late that what was written is not kept. */
    if (result != SQLITE_IOERR_FSYNC && result != SQLITE_IOERR_DIR_FSYNC && no_room(last_errno(db)))
        return set_full(db->path, err);
    return pawl__error_set(err, PAWL_EIO, "%s: %s; check the disk and the system's log", db->path,
                           sqlite3_errmsg(db->db));
}

static int set_cannot_open(struct pawl_sqlite *db, struct pawl_error *err)
{
    int errnum = sqlite3_system_errno(db->db);

    if (no_room(errnum))
        return set_full(db->path, err);
    if (errnum != 0)
        return pawl__os_error(err, errnum, "cannot open database %s", db->path);
    return pawl__error_set(err, PAWL_EUNAVAILABLE, "%s: %s", db->path, sqlite3_errmsg(db->db));
}

/* The code and message of the last SQLite result. */
static int set_error(struct pawl_sqlite *db, int result, struct pawl_error *err)
{
    const char *path = db->path, *words = sqlite3_errmsg(db->db);

    switch (result & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return set_busy(db, err);
    case SQLITE_INTERRUPT:
        return pawl__error_set(err, PAWL_ETIMEDOUT, "%s: not done before the deadline", path);
    case SQLITE_NOMEM:
        return pawl__error_code(err, PAWL_ENOMEM);
    case SQLITE_FULL:
        return set_full(path, err);
    case SQLITE_CANTOPEN:
        return set_cannot_open(db, err);
    case SQLITE_IOERR:
        return set_disk_failed(db, result, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return set_readonly(db, err);
    case SQLITE_NOTADB:
        return pawl__error_set(err, PAWL_ECORRUPT,
                               "%s: is not an SQLite database; give another path, or move the file "
                               "away to begin a new one",
                               path);
    case SQLITE_CORRUPT:
        return pawl__error_set(err, PAWL_ECORRUPT,
                               "%s: is damaged (%s); stop, keep a copy, and restore a backup", path,
                               words);
    case SQLITE_TOOBIG:
        return pawl__error_set(err, PAWL_ELIMIT, "%s: a value is too large to be stored", path);
    case SQLITE_CONSTRAINT:
        if (result == SQLITE_CONSTRAINT_PRIMARYKEY || result == SQLITE_CONSTRAINT_UNIQUE)
            return pawl__error_set(err, PAWL_EEXISTS, "%s: already exists (%s)", path, words);
        return pawl__error_set(err, PAWL_EINVAL, "%s: refused by the database (%s)", path, words);
    default:
        break;
    }
    return pawl__error_set(err, PAWL_EINTERNAL, "%s: SQLite error %d: %s", path, result, words);
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* Called by SQLite when another process has the lock: 0 gives up. */
static int wait_busy(void *ctx, int count)
{
    struct pawl_sqlite *db = ctx;
    int64_t now_ns = pawl_env_monotonic_ns(db->env),
            sleep_ns = BUSY_NS_MIN << (count < 5 ? count : 5);

    if (now_ns >= db->deadline_ns)
        return 0;
    if (sleep_ns > BUSY_NS_MAX)
        sleep_ns = BUSY_NS_MAX;
    db->jitter = db->jitter * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    sleep_ns = sleep_ns / 2 + (int64_t)((db->jitter >> 33) % (uint64_t)sleep_ns);
    if (sleep_ns > db->deadline_ns - now_ns)
        sleep_ns = db->deadline_ns - now_ns;
    if (pawl_env_sleep_until(db->env, now_ns + sleep_ns) != PAWL_OK) {
        db->stopped = true;
        return 0;
    }
    return 1;
}

/* Called while SQLite computes: not 0 interrupts it. */
static int check_deadline(void *ctx)
{
    return deadline_over(ctx);
}

void pawl__sqlite_set_deadline(struct pawl_sqlite *db, int64_t deadline_ns)
{
    db->deadline_ns = deadline_ns;
}

/* ---- connections ------------------------------------------------------------------------- */

static int copy_path(struct pawl_sqlite *db, const char *path, struct pawl_error *err)
{
    /* ":memory:" and the like have a meaning of their own to SQLite, and "file:" begins a URI for
     * it: then it would open another file than the one whose mode, links and removal we look at. */
    size_t prefix = path[0] == ':' || strncmp(path, "file:", 5) == 0 ? 2 : 0, length = strlen(path);

    if (length == 0)
        return pawl__error_set(err, PAWL_EINVAL, "the path of the database is empty");
    db->path_size = prefix + length + 1;
    db->path = pawl__alloc(&db->env->alloc, db->path_size);
    if (!db->path)
        return pawl__error_code(err, PAWL_ENOMEM);
    memcpy(db->path, "./", prefix);
    memcpy(db->path + prefix, path, length + 1);
    return PAWL_OK;
}

int pawl__sqlite_check_file(const char *path, struct pawl_error *err)
{
    struct pawl_file_identity found;

    pawl__file_identify(path, &found);
    if (found.inode != 0 && !found.is_regular)
        return pawl__error_set(err, PAWL_EINVAL,
                               "%s: is not a regular file but a folder, a device or a pipe; give "
                               "the path of a file",
                               path);
    if (found.is_regular && found.links > 1)
        return pawl__error_set(
            err, PAWL_ECONFLICT,
            "%s: the file has %llu names (hard links), and each would have a log of its own, which "
            "loses data: keep one name ('find -samefile' finds them), and copy a store by 'pawl "
            "store backup', not by a link",
            path, (unsigned long long)found.links);
    return PAWL_OK;
}

/* Whether there is a folder for the file to be in. */
static bool has_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char folder[PATH_MAX];
    bool there = true;

    if (length == 0 || length >= sizeof folder)
        return true; /* the root, or here; or too long to be looked at */
    memcpy(folder, path, length);
    folder[length] = '\0';
    return pawl__file_exists(folder, &there, NULL) != PAWL_OK || there;
}

/*
 * SQLite itself would make it readable for all; what it puts beside it has the same mode. It would
 * also follow a link that leads nowhere, and take ".." off the text of a path whose folder does not
 * exist: what cannot be made here is not left to it.
 */
static int make_file(const char *path, mode_t mode, struct pawl_error *err)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_file_identity found;
    int status = pawl__file_make(path, mode, &why);

    if (status == PAWL_OK)
        return PAWL_OK;
    pawl__file_identify(path, &found);
    if (found.inode != 0) /* it is there, and SQLite says whether it can be used */
        return PAWL_OK;
    if (status == PAWL_ENOTFOUND && !has_folder(path))
        return pawl__error_set(
            err, PAWL_ENOTFOUND,
            "cannot create database %s: its folder does not exist; make it first", path);
    if (err)
        *err = why;
    return status;
}

static int open_handle(struct pawl_sqlite *db, uint32_t flags, struct pawl_error *err)
{
    int how = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, result;

    if (flags & PAWL_SQLITE_READ)
        how |= SQLITE_OPEN_READONLY;
    else
        how |= SQLITE_OPEN_READWRITE | (flags & PAWL_SQLITE_CREATE ? SQLITE_OPEN_CREATE : 0);
    if (flags & PAWL_SQLITE_CREATE) {
        int status = make_file(db->path, flags >> 16 ? (mode_t)(flags >> 16) : 0600, err);

        if (status != PAWL_OK)
            return status;
    }
    result = sqlite3_open_v2(db->path, &db->db, how, pawl__sqlite_log_vfs());
    if (result != SQLITE_OK)
        return db->db ? set_error(db, result, err) : pawl__error_code(err, PAWL_ENOMEM);
    /* What may not be written SQLite opens for reading, and fails later. */
    if (!(flags & PAWL_SQLITE_READ) && sqlite3_db_readonly(db->db, "main") == 1)
        return set_readonly(db, err);
    (void)sqlite3_busy_handler(db->db, wait_busy, db);
    sqlite3_progress_handler(db->db, PROGRESS_STEPS, check_deadline, db);
    /* The file is not a program: no schema of it may change what our statements mean. */
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return PAWL_OK;
}

int pawl__sqlite_open(struct pawl_env *env, const char *path, uint32_t flags,
                      struct pawl_sqlite **out, struct pawl_error *err)
{
    struct pawl_sqlite *db = pawl__alloc_zeroed(&env->alloc, sizeof *db);
    struct pawl_hash_seed seed = {0, 0};
    int status;

    if (!db)
        return pawl__error_code(err, PAWL_ENOMEM);
    db->env = env;
    db->deadline_ns = PAWL_FOREVER;
    status = pawl_env_entropy(env, &seed, sizeof seed, err);
    if (status == PAWL_OK)
        status = pawl_env_entropy(env, &db->jitter, sizeof db->jitter, err);
    pawl__map_init(&db->statements, &env->alloc, seed);
    if (status == PAWL_OK)
        status = copy_path(db, path, err);
    if (status == PAWL_OK)
        status = open_handle(db, flags, err);
    if (status != PAWL_OK) {
        pawl__sqlite_close(db);
        return status;
    }
    *out = db;
    return PAWL_OK;
}

static void free_statement(struct pawl_sqlite *db, struct pawl_sqlite_statement *statement)
{
    (void)sqlite3_finalize(statement->handle);
    pawl__free(&db->env->alloc, statement, sizeof *statement);
}

static void forget_statements(struct pawl_sqlite *db)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &db->statements) {
        free_statement(db, entry->value);
    }
    pawl__map_clear(&db->statements);
    memset(db->recent, 0, sizeof db->recent);
}

void pawl__sqlite_close(struct pawl_sqlite *db)
{
    if (!db)
        return;
    forget_statements(db);
    pawl__map_release(&db->statements);
    (void)sqlite3_finalize(db->rollback);
    (void)sqlite3_close(db->db);
    pawl__free(&db->env->alloc, db->path, db->path_size);
    pawl__free(&db->env->alloc, db, sizeof *db);
}

/* ---- statements -------------------------------------------------------------------------- */

int pawl__sqlite_prepare(struct pawl_sqlite *db, const char *text,
                         struct pawl_sqlite_statement **out, struct pawl_error *err)
{
    struct pawl_sqlite_statement **recent = &db->recent[((uintptr_t)text >> 4) % RECENT];
    struct pawl_sqlite_statement *statement = *recent;
    int result, status;

    if (!statement || strcmp(sqlite3_sql(statement->handle), text) != 0)
        statement = pawl__map_get(&db->statements, pawl__str(text));
    if (statement) {
        *out = *recent = statement;
        return PAWL_OK;
    }
    if (db->statements.live_count >= PAWL_SQLITE_STATEMENTS_MAX)
        forget_statements(db);
    statement = pawl__alloc_zeroed(&db->env->alloc, sizeof *statement);
    if (!statement) {
        (void)pawl__error_code(err, PAWL_ENOMEM);
        return PAWL_ENOMEM;
    }
    statement->owner = db;
    result =
        sqlite3_prepare_v3(db->db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement->handle, NULL);
    if (result != SQLITE_OK)
        status = set_error(db, result, err);
    else /* The key is SQLite's own copy of the text, which lives as long as the statement. */
        status =
            pawl__map_put(&db->statements, pawl__str(sqlite3_sql(statement->handle)), statement);
    if (status != PAWL_OK) {
        free_statement(db, statement);
        if (result == SQLITE_OK)
            (void)pawl__error_code(err, status);
        return status;
    }
    *out = statement;
    return PAWL_OK;
}

void pawl__sqlite_reset(struct pawl_sqlite_statement *statement)
{
    if (statement)
        (void)sqlite3_reset(statement->handle);
}

static int bound(struct pawl_sqlite_statement *statement, int result, struct pawl_error *err)
{
    return result == SQLITE_OK ? PAWL_OK : set_error(statement->owner, result, err);
}

int pawl__sqlite_bind_text(struct pawl_sqlite_statement *statement, int number,
                           struct pawl_str text, struct pawl_error *err)
{
    return bound(statement,
                 sqlite3_bind_text64(statement->handle, number, text.len > 0 ? text.ptr : "",
                                     text.len, SQLITE_STATIC, SQLITE_UTF8),
                 err);
}

int pawl__sqlite_bind_bytes(struct pawl_sqlite_statement *statement, int number,
                            struct pawl_str bytes, struct pawl_error *err)
{
    return bound(statement,
                 sqlite3_bind_blob64(statement->handle, number, bytes.len > 0 ? bytes.ptr : "",
                                     bytes.len, SQLITE_STATIC),
                 err);
}

int pawl__sqlite_bind_int(struct pawl_sqlite_statement *statement, int number, int64_t value,
                          struct pawl_error *err)
{
    return bound(statement, sqlite3_bind_int64(statement->handle, number, value), err);
}

int pawl__sqlite_step(struct pawl_sqlite_statement *statement, bool *row, struct pawl_error *err)
{
    int result = sqlite3_step(statement->handle), status;

    if (result == SQLITE_ROW || result == SQLITE_DONE) {
        *row = result == SQLITE_ROW;
        return PAWL_OK;
    }
    status = set_error(statement->owner, result, err);
    (void)sqlite3_reset(statement->handle);
    return status;
}

int64_t pawl__sqlite_changes(struct pawl_sqlite *db)
{
    return sqlite3_changes64(db->db);
}

int64_t pawl__sqlite_column_int(struct pawl_sqlite_statement *statement, int column)
{
    return sqlite3_column_int64(statement->handle, column);
}

struct pawl_str pawl__sqlite_column_str(struct pawl_sqlite_statement *statement, int column)
{
    /* The pointer before the length: asking for the pointer is what may convert. */
    const char *ptr = sqlite3_column_blob(statement->handle, column);
    int length = sqlite3_column_bytes(statement->handle, column);

    if (length == 0)
        return pawl__str_make("", 0);
    return pawl__str_make(ptr, ptr ? (size_t)length : 0);
}

int pawl__sqlite_run(struct pawl_sqlite *db, const char *text, struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = true;
    int status = pawl__sqlite_prepare(db, text, &statement, err);

    while (status == PAWL_OK && row)
        status = pawl__sqlite_step(statement, &row, err);
    pawl__sqlite_reset(statement);
    return status;
}

int64_t pawl__sqlite_now_us(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_int64 julian_ms = 0;
    double days = 0;

    PAWL_ASSERT(vfs); /* without one no database was opened */
    if (vfs->iVersion >= 2 && vfs->xCurrentTimeInt64) {
        (void)vfs->xCurrentTimeInt64(vfs, &julian_ms);
    } else { /* as SQLite does itself */
        (void)vfs->xCurrentTime(vfs, &days);
        julian_ms = (sqlite3_int64)(days * 86400000.0);
    }
    return (julian_ms - JULIAN_MS_1970) * 1000;
}

/* SQLite does this when it prepares the statement, so it is no statement that is kept. */
int pawl__sqlite_set_syncs(struct pawl_sqlite *db, bool syncs, struct pawl_error *err)
{
    int result;

    if (db->syncs == (syncs ? SYNCS : SYNCS_NOT))
        return PAWL_OK;
    /* One that fails may have had its effect. */
    db->syncs = SYNCS_UNKNOWN;
    result = sqlite3_exec(db->db, syncs ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                          NULL, NULL, NULL);
    if (result != SQLITE_OK)
        return set_error(db, result, err);
    db->syncs = syncs ? SYNCS : SYNCS_NOT;
    return PAWL_OK;
}

/* ---- transactions ------------------------------------------------------------------------ */

bool pawl__sqlite_in_transaction(struct pawl_sqlite *db)
{
    return !sqlite3_get_autocommit(db->db);
}

/* A statement that expired, as settings and changes of the schema make it, is prepared anew when it
 * is run, and that takes memory. */
static int make_rollback(struct pawl_sqlite *db, struct pawl_error *err)
{
    int result;

    if (db->rollback && !sqlite3_expired(db->rollback))
        return PAWL_OK;
    (void)sqlite3_finalize(db->rollback);
    db->rollback = NULL;
    result =
        sqlite3_prepare_v3(db->db, "ROLLBACK", -1, SQLITE_PREPARE_PERSISTENT, &db->rollback, NULL);
    return result == SQLITE_OK ? PAWL_OK : set_error(db, result, err);
}

int pawl__sqlite_begin(struct pawl_sqlite *db, bool writes, struct pawl_error *err)
{
    int status = make_rollback(db, err);

    return status == PAWL_OK ? pawl__sqlite_run(db, writes ? "BEGIN IMMEDIATE" : "BEGIN", err)
                             : status;
}

void pawl__sqlite_rollback(struct pawl_sqlite *db)
{
    if (pawl__sqlite_in_transaction(db) && make_rollback(db, NULL) == PAWL_OK) {
        (void)sqlite3_step(db->rollback);
        (void)sqlite3_reset(db->rollback);
    }
}

/*
 * The commit is in the log before SQLite makes its index of the log longer. If there is no memory
 * or no room for that, the next one who writes replaces the commit, and a crash before that keeps
 * it. No room for the commit itself is definite.
 */
static bool may_be_in_log(int result, int status)
{
    bool is_index = result == SQLITE_IOERR_SHMSIZE || result == SQLITE_IOERR_SHMMAP ||
                    result == SQLITE_IOERR_SHMOPEN || result == SQLITE_IOERR_SHMLOCK;

    if (result == SQLITE_OK)
        return false; /* the commit was not begun */
    return status == PAWL_ENOMEM || status == PAWL_EIO || is_index;
}

/* `status`: what it failed with. */
static int set_commit_unknown(struct pawl_sqlite *db, int status, struct pawl_error *err)
{
    const char *what = "the disk failed", *mend = "check the disk and the system's log";

    if (status == PAWL_ENOMEM) {
        what = "there was no memory";
        mend = "give the process more";
    } else if (status == PAWL_EUNAVAILABLE) {
        what = "there was no room on the disk";
        mend = "make room";
    }
    return pawl__error_set(err, PAWL_EUNKNOWN,
                           "%s: %s while a commit was written, which may or may not be kept; %s",
                           db->path, what, mend);
}

int pawl__sqlite_commit(struct pawl_sqlite *db, struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    int64_t deadline_ns = db->deadline_ns;
    int status = pawl__sqlite_prepare(db, "COMMIT", &statement, err), result = SQLITE_OK;
    bool row = false;

    /* Once begun it is not interrupted: it takes as long as the disk takes. */
    db->deadline_ns = PAWL_FOREVER;
    if (status == PAWL_OK) {
        status = pawl__sqlite_step(statement, &row, err);
        result = status == PAWL_OK ? SQLITE_OK : sqlite3_extended_errcode(db->db);
        pawl__sqlite_reset(statement);
    }
    db->deadline_ns = deadline_ns;
    if (status == PAWL_OK)
        return PAWL_OK;
    pawl__sqlite_rollback(db);
    return may_be_in_log(result, status) ? set_commit_unknown(db, status, err) : status;
}
