/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program run by this one and waited for, with signals passed on: what a wrapper does such as
 * `pawl lock`. For programs, on their main thread; one at a time.
 *
 * The program and all that it starts are a process group of their own, which can be stopped as a
 * whole. While it runs, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTSTP do not end or stop this
 * process but are passed on to that group. The terminal, if there is one, is the group's while it
 * uses it: when its keys stop the group, this process and its own group stop, too; SIGCONT
 * continues both. When this process is killed, a guard that it forked ends the group: SIGTERM, then
 * SIGKILL. If the guard is killed too, only the first process of the group gets SIGTERM. What has
 * left the group (setsid, a shell with job control) is nobody's to end.
 */
#ifndef PAWL_OS_WRAPPED_H
#define PAWL_OS_WRAPPED_H

#include <pawl/ext/env.h>

#include <stdbool.h>

struct pawl_wrapped;

enum pawl_wrapped_event {
    PAWL_WRAPPED_ENDED, /* its first process; after pawl__wrapped_stop() all of its group */
    PAWL_WRAPPED_WOKEN, /* pawl__wrapped_wake() was called */
    PAWL_WRAPPED_LATE,  /* the deadline came */
};

/*
 * Looks for argv[0] as a shell does. `extra` (ended by NULL) are NAME=VALUE that it has besides
 * this program's variables, or in place of one of that name. `grace_ns` is how long the guard waits
 * from SIGTERM to SIGKILL. PAWL_ENOTFOUND, PAWL_EPERM: cannot be run.
 */
PAWL_MUST_CHECK int pawl__wrapped_start(struct pawl_env *env, char *const *argv,
                                        const char *const *extra, int64_t grace_ns,
                                        struct pawl_wrapped **out, struct pawl_error *err);
/* *code, once it ended: its exit code, or 128 and the number of the signal that ended it. */
PAWL_MUST_CHECK int pawl__wrapped_wait(struct pawl_wrapped *child, int64_t deadline_ns,
                                       enum pawl_wrapped_event *event, int *code,
                                       struct pawl_error *err);
/* From any thread: the wait that is under way, or the next, ends. */
void pawl__wrapped_wake(struct pawl_wrapped *child);
/* Asks all of its group to end, or ends them. */
void pawl__wrapped_stop(struct pawl_wrapped *child, bool kill_it);
/* Once it ended; signals are as they were. NULL allowed. */
void pawl__wrapped_close(struct pawl_wrapped *child);

#endif
