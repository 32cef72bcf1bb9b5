/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders over the system's calls; see file.h. Keeps no state but open handles. */
#include "os/file.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "os/errno.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK ((size_t)64 << 10)

struct pawl_file {
    struct pawl_allocator alloc;
    size_t size_bytes; /* of this struct with the path */
    int fd;
    char path[];
};

static int open_file(const char *path, int flags, mode_t mode)
{
    int fd;

    do {
        fd = open(path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Linux has closed the descriptor even when close() returns EINTR: once is right. */
static void close_file(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

/* ---- reading ----------------------------------------------------------------------------- */

static int read_failed(const char *path, struct pawl_buf *out, size_t len_before,
                       struct pawl_error *err)
{
    int status = out->status;
    size_t room = out->max - len_before;

    out->len = len_before;
    out->status = PAWL_OK;
    if (status == PAWL_ELIMIT)
        return pawl__error_set(err, status, "%s is larger than the %zu bytes allowed for it", path,
                               room);
    return pawl__error_set(err, status, "cannot read %s: %s", path, pawl_error_text(status));
}

/* Reads to the end: the size is not asked for, since files grow and those in /proc have none. */
static int read_all(int fd, const char *path, struct pawl_buf *out, struct pawl_error *err)
{
    size_t len_before = out->len;

    for (;;) {
        /* One byte more than fits, so that a file which is too large shows. */
        size_t room = out->max - out->len;
        size_t want = room < READ_CHUNK ? room : READ_CHUNK;
        char extra;
        char *to = want ? pawl__buf_reserve(out, want) : &extra;
        ssize_t got;

        if (!to)
            return read_failed(path, out, len_before, err);
        got = read(fd, to, want ? want : 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            return PAWL_OK;
        if (got < 0) {
            out->len = len_before;
            return pawl__os_error(err, errno, "cannot read %s", path);
        }
        if (want == 0) {
            out->status = PAWL_ELIMIT;
            return read_failed(path, out, len_before, err);
        }
        out->len += (size_t)got;
    }
}

/* Closes it. */
static int read_opened(int fd, const char *path, struct pawl_buf *out, struct pawl_error *err)
{
    int status;

    if (out->status != PAWL_OK)
        status = pawl__error_code(err, out->status); /* an earlier failure of the caller's buffer */
    else
        status = read_all(fd, path, out, err);
    close_file(fd);
    return status;
}

int pawl__file_read(const char *path, struct pawl_buf *out, struct pawl_error *err)
{
    int fd = open_file(path, O_RDONLY, 0);

    if (fd < 0)
        return pawl__os_error(err, errno, "cannot open %s", path);
    return read_opened(fd, path, out, err);
}

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO:
        return "a pipe";
    case S_IFDIR:
        return "a folder";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

/* Looks before it opens: opening a device may do something already. */
static int open_regular(const char *path, int *out, struct stat *info, struct pawl_error *err)
{
    int fd = -1;

    if (stat(path, info) != 0)
        return pawl__os_error(err, errno, "cannot open %s", path);
    if (S_ISREG(info->st_mode)) {
        fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
        if (fd < 0 || fstat(fd, info) != 0) {
            int status = pawl__os_error(err, errno, "cannot open %s", path);

            close_file(fd);
            return status;
        }
    }
    if (!S_ISREG(info->st_mode)) {
        close_file(fd);
        return pawl__error_set(err, PAWL_EINVAL, "%s is %s and not a file: it is not read", path,
                               kind_of(info->st_mode));
    }
    *out = fd;
    return PAWL_OK;
}

int pawl__file_read_regular(const char *path, struct pawl_buf *out, struct pawl_error *err)
{
    struct stat info;
    int fd = -1, status = open_regular(path, &fd, &info, err);

    return status == PAWL_OK ? read_opened(fd, path, out, err) : status;
}

static bool is_ours(const struct stat *info)
{
    return info->st_uid == geteuid() || info->st_uid == 0;
}

int pawl__file_read_trusted(const char *path, struct pawl_buf *out, struct pawl_error *err)
{
    struct stat link, info;
    int fd = -1, status = open_regular(path, &fd, &info, err);

    if (status != PAWL_OK)
        return status;
    if (lstat(path, &link) != 0)
        link = info;
    if (is_ours(&link) && is_ours(&info) && !(info.st_mode & S_IWOTH))
        return read_opened(fd, path, out, err);
    close_file(fd);
    if (is_ours(&link) && is_ours(&info))
        return pawl__error_set(err, PAWL_EPERM,
                               "%s is writable by everybody, so it is not trusted: "
                               "'chmod o-w' it, or remove it",
                               path);
    return pawl__error_set(err, PAWL_EPERM,
                           "%s belongs to another user (%lu), so it is not trusted: own it, "
                           "remove it, or name it with --config",
                           path, (unsigned long)(is_ours(&info) ? link.st_uid : info.st_uid));
}

/* ---- writing ----------------------------------------------------------------------------- */

/* PAWL_OK, or -1 with errno; *written says how far it came. */
static int write_all(int fd, struct pawl_str bytes, size_t *written)
{
    *written = 0;
    while (*written < bytes.len) {
        ssize_t count = write(fd, bytes.ptr + *written, bytes.len - *written);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        *written += (size_t)count;
    }
    return PAWL_OK;
}

/* Syncs the folder that `path` is in, so that a rename in it is durable. -1 with errno. */
static int sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int fd, rc, saved;

    if (!slash)
        (void)snprintf(folder, sizeof folder, ".");
    else
        (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                       path);
    fd = open_file(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return -1;
    rc = fsync(fd);
    saved = errno;
    close_file(fd);
    errno = saved;
    return rc;
}

/* Fills the temporary file behind `fd`. -1 with errno. */
static int fill(int fd, struct pawl_str bytes, mode_t mode)
{
    size_t written;

    if (fchmod(fd, mode) != 0 || write_all(fd, bytes, &written) != PAWL_OK)
        return -1;
    return fsync(fd);
}

static bool is_special(mode_t mode)
{
    return !S_ISREG(mode) && !S_ISDIR(mode);
}

int pawl__file_check_replaceable(const char *path, struct pawl_error *err)
{
    static const char proc[] = "/proc/";
    char target[sizeof proc] = "";
    struct stat info;

    if (lstat(path, &info) != 0)
        return PAWL_OK; /* whoever writes finds out why */
    if (S_ISLNK(info.st_mode)) {
        bool is_open = readlink(path, target, sizeof target - 1) > 0 && strcmp(target, proc) == 0;

        if (!is_open && (stat(path, &info) != 0 || !is_special(info.st_mode)))
            return PAWL_OK;
    } else if (!is_special(info.st_mode)) {
        return PAWL_OK;
    }
    return pawl__error_set(err, PAWL_EINVAL,
                           "%s is not an ordinary file, and would be replaced by one; name another",
                           path);
}

int pawl__file_write(const char *path, struct pawl_str bytes, mode_t mode, struct pawl_error *err)
{
    char temporary[PATH_MAX];
    int fd, rc, saved, status = pawl__file_check_replaceable(path, err);

    if (status != PAWL_OK)
        return status;
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary)
        return pawl__os_error(err, ENAMETOOLONG, "cannot write %s", path);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return pawl__os_error(err, errno, "cannot create a temporary file beside %s", path);
    rc = fill(fd, bytes, mode);
    saved = errno;
    close_file(fd);
    if (rc == 0) {
        rc = rename(temporary, path);
        saved = errno;
    }
    if (rc != 0) {
        (void)unlink(temporary);
        return pawl__os_error(err, saved, "cannot write %s", path);
    }
    if (sync_folder_of(path) != 0)
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "%s is written, but its folder could not be synced: after a power "
                               "failure it may be the old one; write it again",
                               path);
    return PAWL_OK;
}

int pawl__file_make(const char *path, mode_t mode, struct pawl_error *err)
{
    int fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY, mode);
    struct stat info;
    int status = PAWL_OK;

    if (fd >= 0) {
        if (fchmod(fd, mode) != 0)
            status = pawl__os_error(err, errno, "cannot set the mode of %s", path);
        close_file(fd);
        return status;
    }
    if (errno != EEXIST)
        return pawl__os_error(err, errno, "cannot create %s", path);
    if (stat(path, &info) != 0 && errno == ENOENT && lstat(path, &info) == 0)
        return pawl__error_set(
            err, PAWL_EINVAL,
            "%s is a symbolic link to a file that does not exist: create that file, "
            "or name it instead",
            path);
    return PAWL_OK;
}

bool pawl__file_is_regular(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

int pawl__file_shortage(void)
{
    int fd = open_file("/dev/null", O_RDONLY, 0);
    int errnum = fd < 0 ? errno : 0;

    if (fd >= 0)
        close_file(fd);
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM ? errnum : 0;
}

void pawl__file_identify(const char *path, struct pawl_file_identity *out)
{
    struct stat info;

    *out = (struct pawl_file_identity){.inode = 0};
    if (stat(path, &info) == 0)
        *out = (struct pawl_file_identity){.device = info.st_dev,
                                           .inode = info.st_ino,
                                           .links = info.st_nlink,
                                           .is_regular = S_ISREG(info.st_mode)};
}

int64_t pawl__file_size(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

int pawl__file_exists(const char *path, bool *out, struct pawl_error *err)
{
    struct stat info;

    if (lstat(path, &info) == 0) {
        *out = true;
        return PAWL_OK;
    }
    if (errno != ENOENT && errno != ENOTDIR)
        return pawl__os_error(err, errno, "cannot check for %s", path);
    *out = false;
    return PAWL_OK;
}

int pawl__file_remove(const char *path, struct pawl_error *err)
{
    if (unlink(path) != 0)
        return pawl__os_error(err, errno, "cannot remove %s", path);
    return PAWL_OK;
}

int pawl__file_rename(const char *from, const char *to, struct pawl_error *err)
{
    int status = pawl__file_check_replaceable(to, err);

    if (status != PAWL_OK)
        return status;
    if (rename(from, to) != 0)
        return pawl__os_error(err, errno, "cannot rename %s to %s", from, to);
    if (sync_folder_of(to) != 0)
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "%s is in place, but its folder could not be synced: after a "
                               "power failure it may be gone; create it again",
                               to);
    return PAWL_OK;
}

/* ---- folders ----------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int make_one(const char *path, mode_t mode, struct pawl_error *err)
{
    if (mkdir(path, mode) == 0 || (errno == EEXIST && is_folder(path)))
        return PAWL_OK;
    /* What exists and is no folder is the caller's mistake, not an answer. */
    return pawl__os_error(err, errno == EEXIST ? ENOTDIR : errno, "cannot create folder %s", path);
}

int pawl__folder_make(const char *path, mode_t mode, struct pawl_error *err)
{
    char part[PATH_MAX];
    size_t length = strlen(path);

    if (length == 0 || length >= sizeof part)
        return pawl__os_error(err, length ? ENAMETOOLONG : EINVAL, "cannot create folder \"%s\"",
                              path);
    for (size_t i = 1; i < length; i++) {
        int status;

        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        status = make_one(part, mode, err);
        if (status != PAWL_OK)
            return status;
    }
    return make_one(path, mode, err);
}

static int compare_names(const void *a, const void *b)
{
    return pawl__str_compare(*(const struct pawl_str *)a, *(const struct pawl_str *)b);
}

/* The next name worth listing; NULL at the end and, with errno set, on failure. */
static const char *next_name(DIR *folder)
{
    struct dirent *entry;

    do {
        errno = 0;
        entry = readdir(folder);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry ? entry->d_name : NULL;
}

/* A growing array in an arena: doubling, the old ones stay as garbage. PAWL_OK or arena->status. */
static int push(struct pawl_arena *arena, struct pawl_str **names, size_t *cap, size_t count,
                const char *name)
{
    struct pawl_str copy = pawl__arena_str(arena, pawl__str(name));

    if (!copy.ptr)
        return arena->status;
    if (count == *cap) {
        size_t cap_new = *cap ? *cap * 2 : 16;
        struct pawl_str *grown = pawl__arena_alloc_array(arena, cap_new, sizeof *grown);

        if (!grown)
            return arena->status;
        if (count > 0)
            memcpy(grown, *names, count * sizeof *grown);
        *names = grown;
        *cap = cap_new;
    }
    PAWL_ASSERT(*names);
    (*names)[count] = copy;
    return PAWL_OK;
}

static int list(DIR *folder, const char *path, struct pawl_arena *arena, struct pawl_str **names,
                size_t *count, struct pawl_error *err)
{
    struct pawl_str *found = NULL;
    size_t cap = 0, found_count = 0;
    const char *name;

    while ((name = next_name(folder))) {
        int status = found_count < PAWL_FOLDER_NAMES_MAX
                         ? push(arena, &found, &cap, found_count, name)
                         : PAWL_ELIMIT;

        if (status != PAWL_OK)
            return pawl__error_set(err, status, "cannot list folder %s: %s after %zu names", path,
                                   pawl_error_text(status), found_count);
        found_count++;
    }
    if (errno != 0)
        return pawl__os_error(err, errno, "cannot list folder %s", path);
    if (found)
        qsort(found, found_count, sizeof *found, compare_names);
    *names = found;
    *count = found_count;
    return PAWL_OK;
}

int pawl__folder_list(const char *path, struct pawl_arena *arena, struct pawl_str **names,
                      size_t *count, struct pawl_error *err)
{
    DIR *folder = opendir(path);
    int status;

    if (!folder)
        return pawl__os_error(err, errno, "cannot list folder %s", path);
    status = list(folder, path, arena, names, count, err);
    (void)closedir(folder);
    return status;
}

/* ---- appending --------------------------------------------------------------------------- */

static int open_handle(const struct pawl_allocator *alloc, const char *path, int flags, mode_t mode,
                       const char *purpose, struct pawl_file **out, struct pawl_error *err)
{
    size_t path_size = strlen(path) + 1;
    struct pawl_file *file = pawl__alloc(alloc, sizeof *file + path_size);

    if (!file)
        return pawl__error_code(err, PAWL_ENOMEM);
    file->alloc = *alloc;
    file->size_bytes = sizeof *file + path_size;
    memcpy(file->path, path, path_size);
    file->fd = open_file(path, flags, mode);
    if (file->fd < 0) {
        int status = pawl__os_error(err, errno, "cannot open %s%s", path, purpose);

        pawl__file_close(file);
        return status;
    }
    *out = file;
    return PAWL_OK;
}

int pawl__file_open(const struct pawl_allocator *alloc, const char *path, mode_t mode,
                    struct pawl_file **out, struct pawl_error *err)
{
    int status = pawl__file_make(path, mode, err);

    if (status != PAWL_OK)
        return status;
    return open_handle(alloc, path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0, " for appending", out,
                       err);
}

int pawl__file_open_read(const struct pawl_allocator *alloc, const char *path,
                         struct pawl_file **out, struct pawl_error *err)
{
    /* A folder can be opened but not read: say so now. */
    if (is_folder(path))
        return pawl__os_error(err, EISDIR, "cannot open %s", path);
    return open_handle(alloc, path, O_RDONLY, 0, "", out, err);
}

int pawl__file_next(struct pawl_file *file, void *out, size_t size_bytes, size_t *count,
                    struct pawl_error *err)
{
    size_t have = 0;

    while (have < size_bytes) {
        ssize_t got = read(file->fd, (char *)out + have, size_bytes - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pawl__os_error(err, errno, "cannot read %s", file->path);
        if (got == 0)
            break;
        have += (size_t)got;
    }
    *count = have;
    return PAWL_OK;
}

int pawl__file_append(struct pawl_file *file, struct pawl_str bytes, struct pawl_error *err)
{
    size_t written;

    if (write_all(file->fd, bytes, &written) == PAWL_OK)
        return PAWL_OK;
    if (written == 0)
        return pawl__os_error(err, errno, "cannot append to %s", file->path);
    return pawl__error_set(err, PAWL_EUNKNOWN, "only %zu of %zu bytes were appended to %s: %s",
                           written, bytes.len, file->path, strerrordesc_np(errno));
}

int pawl__file_sync(struct pawl_file *file, struct pawl_error *err)
{
    if (fsync(file->fd) == 0)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EIO, "cannot sync %s: %s; what was appended may be lost",
                           file->path, strerrordesc_np(errno));
}

void pawl__file_close(struct pawl_file *file)
{
    struct pawl_allocator alloc;

    if (!file)
        return;
    close_file(file->fd);
    alloc = file->alloc;
    pawl__free(&alloc, file, file->size_bytes);
}
