/* SPDX-License-Identifier: Apache-2.0 */
/* Files in memory, by memfd_create; see memory_file.h. */
#include "os/memory_file.h"

#include "base/error.h"
#include "os/errno.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int pawl__memory_file_open(const char *name, int *out, struct pawl_error *err)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd < 0)
        return pawl__os_error(err, errno, "cannot make a file in memory");
    if (fcntl(fd, F_SETFL, O_APPEND) != 0) {
        int errnum = errno;

        (void)close(fd);
        return pawl__os_error(err, errnum, "cannot make a file in memory");
    }
    *out = fd;
    return PAWL_OK;
}

void pawl__memory_file_close(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

void pawl__memory_file_path(int fd, char out[PAWL_MEMORY_FILE_PATH_SIZE])
{
    (void)snprintf(out, PAWL_MEMORY_FILE_PATH_SIZE, "/proc/self/fd/%d", fd);
}

int pawl__memory_file_append(int fd, struct pawl_str bytes, struct pawl_error *err)
{
    ssize_t written;

    do {
        written = write(fd, bytes.ptr, bytes.len);
    } while (written < 0 && errno == EINTR);
    if (written < 0)
        return pawl__os_error(err, errno, "cannot write a file in memory");
    if ((size_t)written != bytes.len)
        return pawl__error_set(err, PAWL_ENOMEM, "cannot write a file in memory: no space");
    return PAWL_OK;
}

int pawl__memory_file_read(int fd, struct pawl_buf *out, struct pawl_error *err)
{
    char path[PAWL_MEMORY_FILE_PATH_SIZE];

    pawl__memory_file_path(fd, path);
    return pawl__file_read(path, out, err);
}
