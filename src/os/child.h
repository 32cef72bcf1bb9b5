/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that this one starts and looks after: no shell, nothing inherited but the variables of
 * the environment. A child dies with the thread that started it.
 */
#ifndef PAWL_OS_CHILD_H
#define PAWL_OS_CHILD_H

#include <pawl/error.h>

#include <stdbool.h>
#include <stddef.h>

struct pawl_child {
    long pid; /* 0: none, or its end was seen */
};

enum pawl_child_signal {
    PAWL_CHILD_TERMINATE, /* SIGTERM: to end in order */
    PAWL_CHILD_KILL,      /* SIGKILL */
    PAWL_CHILD_CONTINUE,  /* SIGCONT */
};

/* The path of the running program itself. PAWL_ENOTFOUND, PAWL_ELIMIT: longer than `size`. */
PAWL_MUST_CHECK int pawl__child_own_path(char *out, size_t size, struct pawl_error *err);

/*
 * Starts argv[0], a path, with standard output and error appended to the file `output` (NULL:
 * nowhere) and no standard input. PAWL_EUNAVAILABLE: the system has no more processes. A program
 * that cannot be run ends with 127.
 */
PAWL_MUST_CHECK int pawl__child_start(const char *const *argv, const char *output,
                                      struct pawl_child *out, struct pawl_error *err);
/* SIGSTOP, and waits until it stands still. False: it has ended. */
bool pawl__child_pause(struct pawl_child *child);
/* Nothing when it has ended. */
void pawl__child_signal(const struct pawl_child *child, enum pawl_child_signal which);
/*
 * Whether it has ended; does not wait. *code (NULL allowed) is its exit code, or 128 and the number
 * of the signal that ended it, as shells count. True of no child: 0.
 */
bool pawl__child_has_ended(struct pawl_child *child, int *code);

#endif
