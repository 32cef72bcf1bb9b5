/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asks of the process it is: its standard streams and its signals. */
#ifndef PAWL_OS_PROCESS_H
#define PAWL_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * From now on a write to a pipe whose reader went away fails with EPIPE, and one to a file that may
 * not grow with EFBIG, instead of ending the process. For programs, at their start; a library does
 * not decide that.
 */
void pawl__process_ignore_write_signals(void);

/*
 * From now on blocks of 2 MB and more go back to the system when they are freed. By default glibc
 * learns to keep blocks of up to 32 MB, in an arena for each thread. For programs, at their start.
 */
void pawl__process_return_large_memory(void);

/* What this machine is called, cut to `size_bytes` with its NUL; "localhost" when it has no name.
 */
void pawl__process_host_name(char *out, size_t size_bytes);

/* The user that this process runs as, by the system's account of users, cut likewise; the number
 * when there is no name. */
void pawl__process_user_name(char *out, size_t size_bytes);

/* The number the system knows this process by. */
long pawl__process_id(void);

/* Processors that this process may use; 1 at the least. */
unsigned pawl__process_core_count(void);

/* A variable of the environment; NULL: not set. Borrowed for as long as nobody sets it. */
const char *pawl__process_variable(const char *name);

/* Whether it is a terminal; false also for an invalid descriptor. */
bool pawl__fd_is_terminal(int fd);

#endif
