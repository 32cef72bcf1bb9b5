/* SPDX-License-Identifier: Apache-2.0 */
/* flock(), and who else has one; see lock_file.h. */
#include "os/lock_file.h"

#include "base/error.h"
#include "os/errno.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* How often a file may be taken away under us before we say that something is wrong. */
#define TRIES_MAX 1000

/* Whether `owner` may have made a lock file of ours at `path`. */
static bool is_trusted(const char *path, uid_t owner)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    struct stat info;

    if (owner == geteuid() || owner == 0)
        return true;
    if (!slash || (size_t)(slash - path) + 1 >= sizeof folder)
        return false;
    (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return stat(folder, &info) == 0 && info.st_uid == owner;
}

static int refuse_link(const char *path, struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EPERM,
                           "the lock file %s is a symbolic link, which is not followed: remove "
                           "it, and check who may write to the folder",
                           path);
}

static int check_info(const char *path, const struct stat *info, uint32_t flags,
                      struct pawl_error *err)
{
    if (S_ISLNK(info->st_mode))
        return refuse_link(path, err);
    if (!S_ISREG(info->st_mode))
        return pawl__error_set(err, PAWL_EINVAL, "the lock file %s is not a regular file", path);
    if (!(flags & PAWL_LOCK_FILE_SHARED) && !is_trusted(path, info->st_uid))
        return pawl__error_set(err, PAWL_EPERM,
                               "the lock file %s belongs to another user (%lu): set lock.shared if "
                               "several users are to use these locks",
                               path, (unsigned long)info->st_uid);
    return PAWL_OK;
}

static int check_file(const char *path, int fd, uint32_t flags, struct pawl_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return pawl__os_error(err, errno, "cannot look at the lock file %s", path);
    return check_info(path, &info, flags, err);
}

static int open_file(const char *path, uint32_t flags, int *fd, struct pawl_error *err)
{
    const int always = O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK; /* a pipe must not block */
    int mode = flags & PAWL_LOCK_FILE_QUIET ? O_RDONLY : O_RDWR;
    int status;

    do
        *fd = open(path, mode | O_CREAT | always, flags & PAWL_LOCK_FILE_SHARED ? 0666 : 0600);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0 && (errno == EACCES || errno == EROFS)) /* another user's: locking it is enough */
        *fd = open(path, O_RDONLY | always);
    if (*fd < 0 && errno == ELOOP)
        return refuse_link(path, err);
    if (*fd < 0)
        return pawl__os_error(err, errno, "cannot open the lock file %s", path);
    status = check_file(path, *fd, flags, err);
    if (status != PAWL_OK)
        (void)close(*fd);
    return status;
}

int pawl__lock_file_make(const char *path, uint32_t flags, struct pawl_error *err)
{
    struct stat info;
    int fd;

    do
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                  flags & PAWL_LOCK_FILE_SHARED ? 0666 : 0600);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0)
        (void)close(fd);
    else if (errno != EEXIST)
        return PAWL_OK; /* the next open reports why it cannot be opened */
    if (lstat(path, &info) != 0)
        return pawl__os_error(err, errno, "cannot look at the lock file %s", path);
    return check_info(path, &info, flags, err);
}

int pawl__lock_file_is_there(const char *path, int locked, bool *there, struct pawl_error *err)
{
    struct stat ours, named;

    if (fstat(locked, &ours) != 0)
        return pawl__os_error(err, errno, "cannot look at the lock file %s", path);
    *there = false;
    if (ours.st_nlink == 0)
        return PAWL_OK;
    if (lstat(path, &named) == 0)
        *there = named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
    else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        return pawl__os_error(err, errno, "cannot look at the lock file %s", path);
    return PAWL_OK;
}

/*
 * The same, just after it was opened: a file with one name was not unlinked since, unless it was
 * renamed, which no holder of locks does.
 */
static int is_there_still(const char *path, int fd, uint32_t flags, bool *there,
                          struct pawl_error *err)
{
    struct stat ours;

    if (fstat(fd, &ours) != 0)
        return pawl__os_error(err, errno, "cannot look at the lock file %s", path);
    *there = ours.st_nlink == 1;
    if (*there && !(flags & PAWL_LOCK_FILE_THOROUGH))
        return PAWL_OK;
    return pawl__lock_file_is_there(path, fd, there, err);
}

int pawl__lock_file_take(const char *path, uint32_t flags, int *fd, struct pawl_error *err)
{
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        bool there = false;
        int file, rc;
        int status = open_file(path, flags, &file, err);

        if (status != PAWL_OK)
            return status;
        do
            rc = flock(file, LOCK_EX | LOCK_NB);
        while (rc != 0 && errno == EINTR);
        if (rc != 0) {
            int errnum = errno;

            (void)close(file);
            return errnum == EWOULDBLOCK
                       ? PAWL_EBUSY
                       : pawl__os_error(err, errnum, "cannot lock the file %s", path);
        }
        status = is_there_still(path, file, flags, &there, err);
        if (status == PAWL_OK && there) {
            *fd = file;
            return PAWL_OK;
        }
        pawl__lock_file_give(file);
        if (status != PAWL_OK)
            return status;
    }
    return pawl__error_set(
        err, PAWL_EUNAVAILABLE,
        "the lock file %s is removed as often as it is created: what removes it?", path);
}

int pawl__lock_file_open(const char *path, uint32_t flags, int locked, int *fd,
                         struct pawl_error *err)
{
    struct stat ours, theirs;
    int status = open_file(path, flags, fd, err);

    if (status != PAWL_OK)
        return status;
    if (fstat(locked, &ours) == 0 && fstat(*fd, &theirs) == 0 && ours.st_ino == theirs.st_ino &&
        ours.st_dev == theirs.st_dev)
        return PAWL_OK;
    (void)close(*fd);
    return pawl__error_set(err, PAWL_EUNAVAILABLE, "the lock file %s was removed", path);
}

void pawl__lock_file_give(int fd)
{
    if (fd < 0)
        return;
    (void)flock(fd, LOCK_UN);
    (void)close(fd);
}

void pawl__lock_file_close(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

int pawl__lock_file_read(int fd, char *out, size_t size, size_t *len, struct pawl_error *err)
{
    ssize_t got;

    do
        got = pread(fd, out, size, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return pawl__os_error(err, errno, "cannot read a lock file");
    *len = (size_t)got;
    return PAWL_OK;
}

int pawl__lock_file_write(int fd, struct pawl_str bytes, struct pawl_error *err)
{
    size_t done = 0;

    while (done < bytes.len) {
        ssize_t put = pwrite(fd, bytes.ptr + done, bytes.len - done, (off_t)done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return pawl__os_error(err, put < 0 ? errno : EIO, "cannot write a lock file");
        done += (size_t)put;
    }
    if (fdatasync(fd) != 0)
        return pawl__os_error(err, errno, "cannot write a lock file");
    return PAWL_OK;
}

/* ---- from outside ------------------------------------------------------------------------ */

/* The holder according to one line of /proc/locks:
 * "1: FLOCK  ADVISORY  WRITE 1234 08:02:5678 0 EOF". Lines of waiters have "->" second. */
static bool read_line(const char *line, const struct stat *file, bool *same_device, long *pid)
{
    unsigned long major_id, minor_id, inode;
    const char *at = strstr(line, "FLOCK");
    char *end;

    if (!at || strstr(line, "->"))
        return false;
    at = strstr(at, "WRITE");
    if (!at)
        return false;
    *pid = strtol(at + strlen("WRITE"), &end, 10);
    major_id = strtoul(end, &end, 16);
    minor_id = *end == ':' ? strtoul(end + 1, &end, 16) : 0;
    inode = *end == ':' ? strtoul(end + 1, &end, 10) : 0;
    *same_device = major(file->st_dev) == major_id && minor(file->st_dev) == minor_id;
    return inode == file->st_ino;
}

/* A device of another number counts when none has the right one: overlays show theirs. */
static void find_holder(const struct stat *file, struct pawl_lock_file_view *out)
{
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];

    if (!locks)
        return;
    while (fgets(line, sizeof line, locks)) {
        bool same_device;
        long pid;

        if (!read_line(line, file, &same_device, &pid))
            continue;
        out->held = true;
        out->pid = pid > 0 ? pid : 0;
        if (same_device)
            break;
    }
    (void)fclose(locks);
}

int pawl__lock_file_view(const char *path, struct pawl_lock_file_view *out, struct pawl_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    struct stat file;
    int status;

    if (fd < 0)
        return pawl__os_error(err, errno, "cannot open the lock file %s", path);
    *out = (struct pawl_lock_file_view){.pid = 0};
    if (fstat(fd, &file) != 0) {
        (void)close(fd);
        return pawl__os_error(err, errno, "cannot look at the lock file %s", path);
    }
    status = pawl__lock_file_read(fd, out->text, sizeof out->text - 1, &out->text_len, err);
    (void)close(fd);
    if (status == PAWL_OK)
        find_holder(&file, out);
    return status;
}

const char *pawl__folder_network(const char *path)
{
    static const struct {
        unsigned long type;
        const char *name;
    } kinds[] = {
        {0x6969, "nfs"},        {0xff534d42, "cifs"}, {0xfe534d42, "smb2"},  {0x517b, "smb"},
        {0x00c36400, "ceph"},   {0x01021997, "9p"},   {0x65735546, "fuse"},  {0x5346414f, "afs"},
        {0x0bd00bd0, "lustre"}, {0x01161970, "gfs2"}, {0x7461636f, "ocfs2"},
    };
    struct statfs info;

    if (statfs(path, &info) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((unsigned long)(uint32_t)info.f_type == kinds[i].type)
            return kinds[i].name;
    return NULL;
}
