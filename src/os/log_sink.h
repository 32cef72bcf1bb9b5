/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log sink that writes to a file descriptor: standard error, a file opened for appending, a
 * pipe. One line is one write(2), so that lines of threads and processes do not mix.
 *
 * A line that cannot be written is lost and counted; logging never stops the work that logs. A
 * process that logs to a pipe ignores SIGPIPE.
 */
#ifndef PAWL_OS_LOG_SINK_H
#define PAWL_OS_LOG_SINK_H

#include <pawl/ext/log.h>

#include <stdatomic.h>

struct pawl_log_fd {
    int fd; /* borrowed: the caller closes it */
    atomic_size_t lost_count;
};

void pawl__log_fd_init(struct pawl_log_fd *sink, int fd);
/* Borrows `sink` for as long as loggers use it. */
struct pawl_log_sink pawl__log_fd_sink(struct pawl_log_fd *sink);

#endif
