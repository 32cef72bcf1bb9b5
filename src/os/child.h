/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program run by this one and waited for, with signals passed on: what a wrapper does such as
 * `pawl lock`. For programs, on their main thread; one at a time.
 *
 * While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process: those that were sent
 * to it alone are passed on, those of the terminal reach the child by themselves. When this process
 * is killed, the child gets SIGTERM.
 */
#ifndef PAWL_OS_CHILD_H
#define PAWL_OS_CHILD_H

#include <pawl/ext/env.h>

#include <stdbool.h>

struct pawl_child;

enum pawl_child_event {
    PAWL_CHILD_ENDED,
    PAWL_CHILD_WOKEN, /* pawl__child_wake() was called */
    PAWL_CHILD_LATE,  /* the deadline came */
};

/*
 * Looks for argv[0] as a shell does. `extra` (ended by NULL) are NAME=VALUE that it has besides
 * this program's variables, or in place of one of that name. PAWL_ENOTFOUND, PAWL_EPERM: cannot be
 * run.
 */
PAWL_MUST_CHECK int pawl__child_start(struct pawl_env *env, char *const *argv,
                                      const char *const *extra, struct pawl_child **out,
                                      struct pawl_error *err);
/* *code, once it ended: its exit code, or 128 and the number of the signal that ended it. */
PAWL_MUST_CHECK int pawl__child_wait(struct pawl_child *child, int64_t deadline_ns,
                                     enum pawl_child_event *event, int *code,
                                     struct pawl_error *err);
/* From any thread: the wait that is under way, or the next, ends. */
void pawl__child_wake(struct pawl_child *child);
/* Asks it to end, or ends it. */
void pawl__child_stop(struct pawl_child *child, bool kill_it);
/* Once it ended; signals are as they were. NULL allowed. */
void pawl__child_close(struct pawl_child *child);

#endif
