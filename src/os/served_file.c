/* SPDX-License-Identifier: Apache-2.0 */
/* Files below a folder; see served_file.h. Each segment is opened by itself, following no link. */
#include "os/served_file.h"

#include "base/error.h"
#include "os/errno.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE 256
#define NS_PER_S INT64_C(1000000000)

/* false: a name that does not exist here, whatever the folder has. */
static bool take_segment(struct pawl_str relative, size_t *at, char name[NAME_SIZE], bool *last)
{
    size_t slash = pawl__str_find(relative, '/', *at);
    size_t end = slash == SIZE_MAX ? relative.len : slash;
    size_t len = end - *at;

    if (len == 0 || len >= NAME_SIZE || relative.ptr[*at] == '.' ||
        memchr(relative.ptr + *at, '\0', len))
        return false;
    memcpy(name, relative.ptr + *at, len);
    name[len] = '\0';
    *last = slash == SIZE_MAX;
    *at = end + 1;
    return true;
}

static int not_found(struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_ENOTFOUND, "there is no such file");
}

/* Too few descriptors are the server's trouble; all else is as if nothing were there. */
static int fail(int error, struct pawl_error *err)
{
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
        return pawl__os_error(err, error, "cannot open a file");
    return not_found(err);
}

static int finish(int fd, struct pawl_served_file *out, struct pawl_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return not_found(err);
    }
    *out = (struct pawl_served_file){
        .fd = fd,
        .size_bytes = (uint64_t)info.st_size,
        .modified_ns = (int64_t)info.st_mtim.tv_sec * NS_PER_S + info.st_mtim.tv_nsec,
    };
    return PAWL_OK;
}

int pawl__served_file_open(const char *root, struct pawl_str relative, struct pawl_served_file *out,
                           struct pawl_error *err)
{
    /* Not to wait for a pipe that somebody put there. */
    const int file_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_SIZE];
    bool last = false;
    size_t at = 0;

    if (folder < 0)
        return fail(errno, err);
    while (!last) {
        int next, error;

        if (!take_segment(relative, &at, name, &last)) {
            (void)close(folder);
            return not_found(err);
        }
        next =
            openat(folder, name, last ? file_flags : O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        error = errno;
        (void)close(folder);
        if (next < 0)
            return fail(error, err);
        folder = next;
    }
    return finish(folder, out, err);
}

void pawl__served_file_close(struct pawl_served_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
}

int pawl__served_file_read(const struct pawl_served_file *file, uint64_t offset, void *to,
                           size_t size_bytes, size_t *got)
{
    size_t total = 0;

    while (total < size_bytes) {
        ssize_t count =
            pread(file->fd, (char *)to + total, size_bytes - total, (off_t)(offset + total));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return PAWL_EIO;
        if (count == 0)
            break;
        total += (size_t)count;
    }
    *got = total;
    return PAWL_OK;
}
