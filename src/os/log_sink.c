/* SPDX-License-Identifier: Apache-2.0 */
/* Writing log lines to a file descriptor; see log_sink.h. */
#include "os/log_sink.h"

#include <errno.h>
#include <unistd.h>

void pawl__log_fd_init(struct pawl_log_fd *sink, int fd)
{
    sink->fd = fd;
    atomic_init(&sink->lost_count, 0);
}

/* The rest after a short write (a full disk, a signal) is tried so that lines do not run together.
 */
static void fd_write(void *ctx, const char *line, size_t size_bytes)
{
    struct pawl_log_fd *sink = ctx;
    int saved = errno; /* logging between a failing call and the look at its errno is no trap */

    while (size_bytes > 0) {
        ssize_t count = write(sink->fd, line, size_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            atomic_fetch_add(&sink->lost_count, 1);
            break;
        }
        line += count;
        size_bytes -= (size_t)count;
    }
    errno = saved;
}

struct pawl_log_sink pawl__log_fd_sink(struct pawl_log_fd *sink)
{
    return (struct pawl_log_sink){fd_write, sink};
}
