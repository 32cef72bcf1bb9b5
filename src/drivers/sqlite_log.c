/* SPDX-License-Identifier: Apache-2.0 */
/* Beside sqlite.c, the only file that includes <sqlite3.h>. */
#include "drivers/sqlite_log.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NAME "pawl-log"
/* Of each page in the log: its number, the size of the database if it commits or else 0, … */
#define FRAME_HEADER 24
/* SQLite's own files take no more than 0x1ffff bytes in a call. */
#define HELD_MAX 0x1f000
/* Which of the locks in shared memory is the one to write. */
#define WRITE_LOCK 0

/* A database, or its log; SQLite's own file is behind it. */
struct file {
    sqlite3_file base;
    struct file *other; /* of a database: its log; of a log: its database; NULL: not open */
    int errnum; /* of a database: why a call on it or its log failed last; 0: none ever did */
    /* Of a log: */
    unsigned char *held; /* what was not written yet, or NULL: nothing ever was */
    size_t held_bytes;
    sqlite3_int64 held_at; /* where it belongs */
    sqlite3_int64 end;     /* of what was written or held last */
    int failed; /* why something held was not written, until the lock to write is given back */
    sqlite3_int64 lost_at; /* where that would have begun */
    bool in_frame;         /* a header is the last thing that is held */
    bool commits;          /* which says that its page commits */
};

#define REAL_OFFSET ((sizeof(struct file) + 15) / 16 * 16)

static struct file *own(sqlite3_file *base)
{
    return (struct file *)(void *)base;
}

static sqlite3_file *real(sqlite3_file *base)
{
    return (sqlite3_file *)(void *)((char *)base + REAL_OFFSET);
}

/* Returns `result`, of a call on the file behind it that has just returned. */
static int note(struct file *database, int result)
{
    if ((result & 0xFF) == SQLITE_IOERR && result != SQLITE_IOERR_SHORT_READ && database)
        database->errnum = errno != 0 ? errno : EIO;
    return result;
}

/* ---- the log ----------------------------------------------------------------------------- */

static void drop(struct file *log)
{
    log->held_bytes = 0;
    log->in_frame = false;
    log->end = -1;
}

static int write_held(struct file *log)
{
    size_t bytes = log->held_bytes;
    int result;

    if (bytes == 0)
        return SQLITE_OK;
    log->held_bytes = 0;
    log->in_frame = false;
    result = note(
        log->other,
        real(&log->base)->pMethods->xWrite(real(&log->base), log->held, (int)bytes, log->held_at));
    if (result != SQLITE_OK) {
        drop(log);
        log->failed = result;
        log->lost_at = log->held_at;
    }
    return result;
}

static bool hold(struct file *log, const void *data, size_t bytes, sqlite3_int64 at)
{
    if (!log->held)
        log->held = sqlite3_malloc(HELD_MAX);
    if (!log->held)
        return false;
    if (log->held_bytes == 0)
        log->held_at = at;
    memcpy(log->held + log->held_bytes, data, bytes);
    log->held_bytes += bytes;
    log->end = at + (sqlite3_int64)bytes;
    return true;
}

static bool says_commit(const unsigned char *header)
{
    return header[4] | header[5] | header[6] | header[7];
}

/*
 * Only what is put behind the last page is held back. A header that is written elsewhere is one
 * that SQLite writes again, without its page, when a page changes twice in a transaction.
 */
static int write_log(sqlite3_file *base, const void *data, int bytes, sqlite3_int64 at)
{
    struct file *log = own(base);
    bool follows = at == log->end, is_header = follows && !log->in_frame && bytes == FRAME_HEADER;
    bool is_page = follows && log->in_frame;
    int result = log->failed; /* whoever goes on after that must not commit without it */

    if (result != SQLITE_OK)
        return result;
    if (!follows || log->held_bytes + (size_t)bytes > HELD_MAX)
        result = write_held(log);
    if (result != SQLITE_OK)
        return result;
    if ((is_header || is_page) && bytes <= HELD_MAX && hold(log, data, (size_t)bytes, at)) {
        if (is_header)
            log->commits = says_commit(data);
        log->in_frame = is_header;
        return is_page && log->commits ? write_held(log) : SQLITE_OK;
    }
    result = write_held(log);
    if (result == SQLITE_OK)
        result = note(log->other, real(base)->pMethods->xWrite(real(base), data, bytes, at));
    log->in_frame = false;
    log->end = result == SQLITE_OK ? at + bytes : -1;
    return result;
}

/*
 * SQLite may go on after a read that failed, with an index of its own in which the lost pages are.
 * The file has older ones in their place, or ends. What is before them is in the file, and a
 * rollback reads what was committed.
 */
static int read_log(sqlite3_file *base, void *data, int bytes, sqlite3_int64 at)
{
    struct file *log = own(base);
    int result = write_held(log);

    if (log->failed != SQLITE_OK && at + bytes > log->lost_at)
        result = log->failed;
    return result == SQLITE_OK
               ? note(log->other, real(base)->pMethods->xRead(real(base), data, bytes, at))
               : result;
}

static int truncate_log(sqlite3_file *base, sqlite3_int64 size)
{
    int result = write_held(own(base));

    return result == SQLITE_OK
               ? note(own(base)->other, real(base)->pMethods->xTruncate(real(base), size))
               : result;
}

static int sync_log(sqlite3_file *base, int flags)
{
    int result = write_held(own(base));

    return result == SQLITE_OK
               ? note(own(base)->other, real(base)->pMethods->xSync(real(base), flags))
               : result;
}

static int size_of_log(sqlite3_file *base, sqlite3_int64 *out)
{
    int result = write_held(own(base));

    return result == SQLITE_OK
               ? note(own(base)->other, real(base)->pMethods->xFileSize(real(base), out))
               : result;
}

static int close_log(sqlite3_file *base)
{
    struct file *log = own(base);

    if (log->other)
        log->other->other = NULL;
    sqlite3_free(log->held);
    return real(base)->pMethods->xClose(real(base));
}

/* ---- databases --------------------------------------------------------------------------- */

static int close_database(sqlite3_file *base)
{
    if (own(base)->other)
        own(base)->other->other = NULL;
    return real(base)->pMethods->xClose(real(base));
}

static int lock_shared_memory(sqlite3_file *base, int first, int count, int flags)
{
    /* What was not committed by now never will be. */
    if (first == WRITE_LOCK && flags & SQLITE_SHM_UNLOCK && flags & SQLITE_SHM_EXCLUSIVE &&
        own(base)->other && (own(base)->other->held_bytes > 0 || own(base)->other->failed)) {
        drop(own(base)->other);
        own(base)->other->failed = SQLITE_OK;
    }
    return note(own(base), real(base)->pMethods->xShmLock(real(base), first, count, flags));
}

/* ---- passed on --------------------------------------------------------------------------- */

static int read_file(sqlite3_file *base, void *data, int bytes, sqlite3_int64 at)
{
    return note(own(base), real(base)->pMethods->xRead(real(base), data, bytes, at));
}

static int write_file(sqlite3_file *base, const void *data, int bytes, sqlite3_int64 at)
{
    return note(own(base), real(base)->pMethods->xWrite(real(base), data, bytes, at));
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    return note(own(base), real(base)->pMethods->xTruncate(real(base), size));
}

static int sync_file(sqlite3_file *base, int flags)
{
    return note(own(base), real(base)->pMethods->xSync(real(base), flags));
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *out)
{
    return note(own(base), real(base)->pMethods->xFileSize(real(base), out));
}

static int lock_file(sqlite3_file *base, int level)
{
    return note(own(base), real(base)->pMethods->xLock(real(base), level));
}

static int unlock_file(sqlite3_file *base, int level)
{
    return note(own(base), real(base)->pMethods->xUnlock(real(base), level));
}

static int check_reserved(sqlite3_file *base, int *out)
{
    return note(own(base), real(base)->pMethods->xCheckReservedLock(real(base), out));
}

static int control_file(sqlite3_file *base, int what, void *arg)
{
    return real(base)->pMethods->xFileControl(real(base), what, arg);
}

static int sector_size(sqlite3_file *base)
{
    return real(base)->pMethods->xSectorSize(real(base));
}

static int characteristics(sqlite3_file *base)
{
    return real(base)->pMethods->xDeviceCharacteristics(real(base));
}

static int map_shared_memory(sqlite3_file *base, int page, int size, int extend,
                             void volatile **out)
{
    return note(own(base), real(base)->pMethods->xShmMap(real(base), page, size, extend, out));
}

static void order_shared_memory(sqlite3_file *base)
{
    real(base)->pMethods->xShmBarrier(real(base));
}

static int unmap_shared_memory(sqlite3_file *base, int delete_it)
{
    return real(base)->pMethods->xShmUnmap(real(base), delete_it);
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = close_log,
    .xRead = read_log,
    .xWrite = write_log,
    .xTruncate = truncate_log,
    .xSync = sync_log,
    .xFileSize = size_of_log,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

/* clang-format off */
#define DATABASE_METHODS                                                                           \
    .xClose = close_database, .xRead = read_file, .xWrite = write_file,                            \
    .xTruncate = truncate_file, .xSync = sync_file, .xFileSize = size_of_file,                     \
    .xLock = lock_file, .xUnlock = unlock_file, .xCheckReservedLock = check_reserved,              \
    .xFileControl = control_file, .xSectorSize = sector_size,                                      \
    .xDeviceCharacteristics = characteristics
/* clang-format on */

static const sqlite3_io_methods database_methods = {
    .iVersion = 2, /* without memory that is mapped to the file, which we do not use */
    DATABASE_METHODS,
    .xShmMap = map_shared_memory,
    .xShmLock = lock_shared_memory,
    .xShmBarrier = order_shared_memory,
    .xShmUnmap = unmap_shared_memory,
};

/* Of a file whose system has no shared memory: SQLite keeps no log for it then, and must see so. */
static const sqlite3_io_methods plain_methods = {
    .iVersion = 1,
    DATABASE_METHODS,
};

int pawl__sqlite_log_errno(struct sqlite3 *db)
{
    sqlite3_file *base = NULL;

    if (sqlite3_file_control(db, NULL, SQLITE_FCNTL_FILE_POINTER, &base) != SQLITE_OK || !base ||
        (base->pMethods != &database_methods && base->pMethods != &plain_methods))
        return 0;
    return own(base)->errnum;
}

/* ---- the layer --------------------------------------------------------------------------- */

static const sqlite3_io_methods *methods_above(const sqlite3_io_methods *system, bool is_log)
{
    if (is_log)
        return &log_methods;
    return system->iVersion >= 2 && system->xShmMap ? &database_methods : &plain_methods;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                     int *out_flags)
{
    bool is_log = flags & SQLITE_OPEN_WAL;
    sqlite3_vfs *system_vfs = vfs->pAppData;
    struct file *file = own(base), *database;
    int result;

    /* Others, as temporary files, are SQLite's own. */
    if (!is_log && !(flags & SQLITE_OPEN_MAIN_DB))
        return system_vfs->xOpen(system_vfs, path, base, flags, out_flags);
    *file = (struct file){.end = -1};
    result = system_vfs->xOpen(system_vfs, path, real(base), flags, out_flags);
    if (result != SQLITE_OK)
        return result;
    base->pMethods = methods_above(real(base)->pMethods, is_log);
    if (is_log) {
        database = own(sqlite3_database_file_object(path));
        file->other = database;
        database->other = file;
    }
    return SQLITE_OK;
}

/* The rest is the system's, which finds what is its own by the object that it registered. */
static sqlite3_vfs *below(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    return below(vfs)->xDelete(below(vfs), path, sync_folder);
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    return below(vfs)->xAccess(below(vfs), path, flags, out);
}

static int full_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
    return below(vfs)->xFullPathname(below(vfs), path, size, out);
}

static int random_bytes(sqlite3_vfs *vfs, int size, char *out)
{
    return below(vfs)->xRandomness(below(vfs), size, out);
}

static int sleep_us(sqlite3_vfs *vfs, int us)
{
    return below(vfs)->xSleep(below(vfs), us);
}

static int current_time(sqlite3_vfs *vfs, double *out)
{
    return below(vfs)->xCurrentTime(below(vfs), out);
}

static int last_error(sqlite3_vfs *vfs, int size, char *out)
{
    return below(vfs)->xGetLastError(below(vfs), size, out);
}

static int current_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *out)
{
    return below(vfs)->xCurrentTimeInt64(below(vfs), out);
}

/* One for the process, which SQLite keeps in its list. It loads no libraries. */
static void make_layer(void)
{
    sqlite3_vfs *system_vfs = sqlite3_vfs_find(NULL), *layer = sqlite3_malloc(sizeof *layer);

    if (!layer || !system_vfs) {
        sqlite3_free(layer);
        return;
    }
    /* The first version has no clock that counts milliseconds. */
    *layer = (sqlite3_vfs){.iVersion =
                               system_vfs->iVersion >= 2 && system_vfs->xCurrentTimeInt64 ? 2 : 1,
                           .szOsFile = (int)REAL_OFFSET + system_vfs->szOsFile,
                           .mxPathname = system_vfs->mxPathname,
                           .zName = NAME,
                           .pAppData = system_vfs,
                           .xOpen = open_file,
                           .xDelete = delete_file,
                           .xAccess = access_file,
                           .xFullPathname = full_path,
                           .xRandomness = random_bytes,
                           .xSleep = sleep_us,
                           .xCurrentTime = current_time,
                           .xGetLastError = last_error,
                           .xCurrentTimeInt64 = current_time_ms};
    if (sqlite3_vfs_register(layer, 0) != SQLITE_OK)
        sqlite3_free(layer);
}

const char *pawl__sqlite_log_vfs(void)
{
    sqlite3_mutex *mutex;
    bool there;

    if (sqlite3_initialize() != SQLITE_OK)
        return NULL;
    mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    sqlite3_mutex_enter(mutex);
    if (!sqlite3_vfs_find(NAME))
        make_layer();
    there = sqlite3_vfs_find(NAME) != NULL;
    sqlite3_mutex_leave(mutex);
    return there ? NAME : NULL;
}
