/* SPDX-License-Identifier: Apache-2.0 */
/* A node (node.c) as a process of its own, with pipes to its standard input and output. */
#ifndef PAWL_TESTS_CLUSTER_CHILD_H
#define PAWL_TESTS_CLUSTER_CHILD_H

#include <sys/types.h>

#define CHILD_OUTPUT_MAX 65536

struct child {
    pid_t pid; /* 0: it was waited for */
    int in;    /* to it */
    int out;   /* from it */
};

/* `arguments` of node.c, the last one NULL. It ends when this process does. */
void child_start(struct child *child, const char *const *arguments);
/* All that it still writes, with a NUL, in `out` of CHILD_OUTPUT_MAX bytes. */
void child_read_all(struct child *child, char *out);
/* Reads until a line is this one; fails the test when the output ends before. */
void child_await_line(struct child *child, const char *line);
/* One byte to its standard input. */
void child_tell(struct child *child);
/* The status of waitpid(). */
int child_wait(struct child *child);

#endif
