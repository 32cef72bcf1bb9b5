/* SPDX-License-Identifier: Apache-2.0 */
/* A disk whose power can be cut, see disk.h. */
#include "power/disk.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 8
#define SECTOR 512
#define KINDS (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)

struct bytes {
    char *ptr;
    size_t len;
};

/* A write or, with data NULL, a truncation to `at`. */
struct change {
    struct change *next;
    size_t at, len;
    char *data;
};

struct entry {
    char path[PATH_MAX];
    struct bytes synced;
    struct change *first, **last; /* since then, the oldest first */
    bool is_there;                /* as far as the disk knows for certain */
    bool is_deleted;              /* which the disk may not know yet */
};

static struct {
    pthread_mutex_t mutex;
    sqlite3_vfs *real;
    struct disk_cut cut;
    struct entry *entries[FILES_MAX];
    uint64_t calls, random;
    bool is_cut;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct file {
    sqlite3_file base;
    struct entry *entry; /* NULL: not a file that survives anything */
    sqlite3_file real;   /* the system's; its size is known at run time only */
};

static struct file *cast(sqlite3_file *file)
{
    return (struct file *)(void *)file;
}

static void *must(void *ptr)
{
    if (!ptr)
        abort();
    return ptr;
}

static uint64_t draw(void)
{
    uint64_t z = (disk.random += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* ---- what the disk has ---------------------------------------------------------------------- */

static void resize(struct bytes *bytes, size_t len)
{
    bytes->ptr = must(realloc(bytes->ptr, len + 1));
    if (len > bytes->len)
        memset(bytes->ptr + bytes->len, 0, len - bytes->len);
    bytes->len = len;
}

static void write_at(struct bytes *bytes, size_t at, const char *data, size_t len)
{
    if (at + len > bytes->len)
        resize(bytes, at + len);
    memcpy(bytes->ptr + at, data, len);
}

static void apply(struct bytes *bytes, const struct change *change)
{
    if (change->data)
        write_at(bytes, change->at, change->data, change->len);
    else
        resize(bytes, change->at);
}

/* Sector by sector, each or not. */
static void apply_some(struct bytes *bytes, const struct change *change)
{
    size_t at = change->at, end = change->at + change->len;

    if (!change->data && draw() % 2)
        apply(bytes, change);
    while (change->data && at < end) {
        size_t next = (at / SECTOR + 1) * SECTOR;

        if (next > end)
            next = end;
        if (draw() % 2)
            write_at(bytes, at, change->data + (at - change->at), next - at);
        at = next;
    }
}

static void forget_changes(struct entry *entry)
{
    struct change *change = entry->first;

    while (change) {
        struct change *next = change->next;

        free(change->data);
        free(change);
        change = next;
    }
    entry->first = NULL;
    entry->last = &entry->first;
}

static void add_change(struct entry *entry, size_t at, const char *data, size_t len)
{
    struct change *change = must(calloc(1, sizeof *change));

    change->at = at;
    change->len = len;
    if (data) {
        change->data = must(malloc(len + 1));
        memcpy(change->data, data, len);
    }
    *entry->last = change;
    entry->last = &change->next;
}

/* Another file of that name may be made: a file system does not do that before the deletion. */
static void begin_anew(struct entry *entry)
{
    entry->is_deleted = entry->is_there = false;
    resize(&entry->synced, 0);
}

/* Names that were added and removed are certain, whatever the files have. */
static void sync_folder(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        struct entry *entry = disk.entries[i];

        if (entry && entry->is_deleted)
            begin_anew(entry);
        else if (entry)
            entry->is_there = entry->is_there || access(entry->path, F_OK) == 0;
    }
}

/* With the first sync of a file that it has made SQLite syncs the folder, too. */
static void sync_entry(struct entry *entry)
{
    for (const struct change *change = entry->first; change; change = change->next)
        apply(&entry->synced, change);
    forget_changes(entry);
    if (!entry->is_there)
        sync_folder();
}

/* ---- files by name --------------------------------------------------------------------------- */

static struct entry *find_entry(const char *path)
{
    for (size_t i = 0; i < FILES_MAX; i++)
        if (disk.entries[i] && strcmp(disk.entries[i]->path, path) == 0)
            return disk.entries[i];
    return NULL;
}

static void read_file(const char *path, struct bytes *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0)
        abort();
    resize(out, (size_t)info.st_size);
    if (pread(fd, out->ptr, out->len, 0) != (ssize_t)out->len)
        abort();
    (void)close(fd);
}

/* Of a file that is there before its first use all is on the disk. An empty one was made for the
 * database just now, outside SQLite. */
static struct entry *make_entry(const char *path)
{
    struct entry *entry = must(calloc(1, sizeof *entry));
    size_t i = 0;

    (void)snprintf(entry->path, sizeof entry->path, "%s", path);
    entry->last = &entry->first;
    entry->is_there = access(path, F_OK) == 0;
    if (entry->is_there)
        read_file(path, &entry->synced);
    while (i < FILES_MAX && disk.entries[i])
        i++;
    if (i == FILES_MAX)
        abort();
    disk.entries[i] = entry;
    return entry;
}

static void forget_entries(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (!disk.entries[i])
            continue;
        forget_changes(disk.entries[i]);
        free(disk.entries[i]->synced.ptr);
        free(disk.entries[i]);
        disk.entries[i] = NULL;
    }
}

static void write_file(const char *path, const struct bytes *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || pwrite(fd, bytes->ptr, bytes->len, 0) != (ssize_t)bytes->len)
        abort();
    (void)close(fd);
}

/* Whether something that no sync has made certain has happened. */
static bool has_happened(void)
{
    return disk.cut.manner == DISK_KEEPS_ALL || (disk.cut.manner == DISK_KEEPS_SOME && draw() % 2);
}

static void survive(struct entry *entry)
{
    char beside[PATH_MAX + 8];
    bool is_there = entry->is_there || (entry->first && has_happened());

    for (const struct change *change = entry->first; change; change = change->next) {
        if (disk.cut.manner == DISK_KEEPS_ALL)
            apply(&entry->synced, change);
        else if (disk.cut.manner == DISK_KEEPS_SOME)
            apply_some(&entry->synced, change);
    }
    if (entry->is_deleted && has_happened())
        is_there = false;
    if (is_there)
        write_file(entry->path, &entry->synced);
    else
        (void)unlink(entry->path);
    (void)snprintf(beside, sizeof beside, "%s-shm", entry->path);
    (void)unlink(beside);
}

/* ---- the cut --------------------------------------------------------------------------------- */

/* Under the mutex, after the change was noted. Whether the power is off. */
static bool count_call(void)
{
    if (!disk.is_cut && ++disk.calls == disk.cut.at) {
        disk.is_cut = true;
        if (disk.cut.happens)
            disk.cut.happens();
    }
    return disk.is_cut;
}

static bool is_off(void)
{
    bool is_cut;

    (void)pthread_mutex_lock(&disk.mutex);
    is_cut = disk.is_cut;
    (void)pthread_mutex_unlock(&disk.mutex);
    return is_cut;
}

/* ---- calls of a file ------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file)
{
    return cast(file)->real.pMethods ? cast(file)->real.pMethods->xClose(&cast(file)->real)
                                     : SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    return is_off() ? SQLITE_IOERR_READ
                    : cast(file)->real.pMethods->xRead(&cast(file)->real, out, len, at);
}

/* `data` NULL: a truncation. */
static int change_file(struct file *file, const void *data, int len, sqlite3_int64 at)
{
    const sqlite3_io_methods *real = file->real.pMethods;
    int result = SQLITE_IOERR_WRITE;

    (void)pthread_mutex_lock(&disk.mutex);
    if (!disk.is_cut) {
        if (file->entry)
            add_change(file->entry, (size_t)at, data, (size_t)len);
        if (!count_call())
            result =
                data ? real->xWrite(&file->real, data, len, at) : real->xTruncate(&file->real, at);
    }
    (void)pthread_mutex_unlock(&disk.mutex);
    return result;
}

static int file_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
    return change_file(cast(file), data, len, at);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return change_file(cast(file), NULL, 0, size);
}

/* The system's sync is not needed: this disk is the one that forgets. */
static int file_sync(sqlite3_file *file, int flags)
{
    int result = SQLITE_IOERR_FSYNC;

    (void)flags;
    (void)pthread_mutex_lock(&disk.mutex);
    if (!disk.is_cut && !count_call()) {
        if (cast(file)->entry)
            sync_entry(cast(file)->entry);
        result = SQLITE_OK;
    }
    (void)pthread_mutex_unlock(&disk.mutex);
    return result;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return is_off() ? SQLITE_IOERR_FSTAT
                    : cast(file)->real.pMethods->xFileSize(&cast(file)->real, size);
}

static int file_lock(sqlite3_file *file, int level)
{
    return is_off() ? SQLITE_IOERR_LOCK
                    : cast(file)->real.pMethods->xLock(&cast(file)->real, level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return cast(file)->real.pMethods->xUnlock(&cast(file)->real, level);
}

static int file_check_lock(sqlite3_file *file, int *out)
{
    return cast(file)->real.pMethods->xCheckReservedLock(&cast(file)->real, out);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return cast(file)->real.pMethods->xFileControl(&cast(file)->real, op, arg);
}

static int file_sector_size(sqlite3_file *file)
{
    return cast(file)->real.pMethods->xSectorSize(&cast(file)->real);
}

static int file_characteristics(sqlite3_file *file)
{
    return cast(file)->real.pMethods->xDeviceCharacteristics(&cast(file)->real);
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return is_off()
               ? SQLITE_IOERR_SHMMAP
               : cast(file)->real.pMethods->xShmMap(&cast(file)->real, page, size, extend, out);
}

static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return cast(file)->real.pMethods->xShmLock(&cast(file)->real, offset, n, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    cast(file)->real.pMethods->xShmBarrier(&cast(file)->real);
}

static int file_shm_unmap(sqlite3_file *file, int deletes)
{
    return cast(file)->real.pMethods->xShmUnmap(&cast(file)->real, deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* without memory-mapped reads and writes */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- calls of the system --------------------------------------------------------------------- */

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    struct file *own = cast(file);
    int result = SQLITE_CANTOPEN;

    (void)vfs;
    own->base.pMethods = NULL;
    own->entry = NULL;
    (void)pthread_mutex_lock(&disk.mutex);
    if (!disk.is_cut) {
        if (path && flags & KINDS) {
            own->entry = find_entry(path);
            if (!own->entry)
                own->entry = make_entry(path);
            if (own->entry->is_deleted)
                begin_anew(own->entry);
        }
        result = disk.real->xOpen(disk.real, path, &own->real, flags, out);
    }
    (void)pthread_mutex_unlock(&disk.mutex);
    if (result == SQLITE_OK)
        own->base.pMethods = &methods;
    return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_too)
{
    int result = SQLITE_IOERR_DELETE;
    struct entry *entry;

    (void)vfs;
    (void)pthread_mutex_lock(&disk.mutex);
    if (!disk.is_cut && !count_call()) {
        result = disk.real->xDelete(disk.real, path, sync_too);
        entry = find_entry(path);
        if (result == SQLITE_OK && sync_too)
            sync_folder();
        if (entry && result == SQLITE_OK) {
            forget_changes(entry);
            if (entry->is_there && !sync_too)
                entry->is_deleted = true;
            else
                begin_anew(entry);
        }
    }
    (void)pthread_mutex_unlock(&disk.mutex);
    return result;
}

static int check_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    (void)vfs;
    return is_off() ? SQLITE_IOERR_ACCESS : disk.real->xAccess(disk.real, path, flags, out);
}

void disk_install(void)
{
    static sqlite3_vfs vfs;

    if (disk.real)
        return;
    disk.real = must(sqlite3_vfs_find(NULL));
    vfs = *disk.real;
    vfs.pNext = NULL;
    vfs.zName = "disk";
    vfs.szOsFile = (int)offsetof(struct file, real) + disk.real->szOsFile;
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    vfs.xAccess = check_access;
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        abort();
}

void disk_begin(const struct disk_cut *cut)
{
    (void)pthread_mutex_lock(&disk.mutex);
    forget_entries();
    disk.cut = *cut;
    disk.random = cut->seed;
    disk.calls = 0;
    disk.is_cut = false;
    (void)pthread_mutex_unlock(&disk.mutex);
}

uint64_t disk_calls(void)
{
    uint64_t calls;

    (void)pthread_mutex_lock(&disk.mutex);
    calls = disk.calls;
    (void)pthread_mutex_unlock(&disk.mutex);
    return calls;
}

bool disk_is_cut(void)
{
    return is_off();
}

void disk_cut_next(enum disk_manner manner)
{
    (void)pthread_mutex_lock(&disk.mutex);
    disk.cut.at = disk.calls + 1;
    disk.cut.manner = manner;
    (void)pthread_mutex_unlock(&disk.mutex);
}

void disk_power_on(void)
{
    for (size_t i = 0; i < FILES_MAX; i++)
        if (disk.entries[i])
            survive(disk.entries[i]);
    forget_entries();
    disk.is_cut = false;
    disk.cut.at = 0;
}
