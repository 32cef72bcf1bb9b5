/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that this one starts and looks after, in the background: no shell, nothing inherited but
 * the variables of the environment. One dies with the thread that started it. (A command in the
 * foreground, with our own streams: child.h.)
 */
#ifndef PAWL_OS_PROGRAM_H
#define PAWL_OS_PROGRAM_H

#include <pawl/error.h>

#include <stdbool.h>
#include <stddef.h>

struct pawl_program {
    long pid; /* 0: none, or its end was seen */
};

enum pawl_program_signal {
    PAWL_PROGRAM_TERMINATE, /* SIGTERM: to end in order */
    PAWL_PROGRAM_KILL,      /* SIGKILL */
    PAWL_PROGRAM_CONTINUE,  /* SIGCONT */
};

/* The path of the running program itself. PAWL_ENOTFOUND, PAWL_ELIMIT: longer than `size`. */
PAWL_MUST_CHECK int pawl__program_own_path(char *out, size_t size, struct pawl_error *err);

/*
 * Starts argv[0], a path, with standard output and error appended to the file `output` (NULL:
 * nowhere) and no standard input. PAWL_EUNAVAILABLE: the system has no more processes. A program
 * that cannot be run ends with 127.
 */
PAWL_MUST_CHECK int pawl__program_start(const char *const *argv, const char *output,
                                        struct pawl_program *out, struct pawl_error *err);
/* SIGSTOP, and waits until it has stopped. False: it has ended. */
bool pawl__program_pause(struct pawl_program *program);
/* Nothing when it has ended. */
void pawl__program_signal(const struct pawl_program *program, enum pawl_program_signal which);
/*
 * Whether it has ended; does not wait. *code (NULL allowed) is its exit code, or 128 and the number
 * of the signal that ended it, as shells count. True of none: 0.
 */
bool pawl__program_has_ended(struct pawl_program *program, int *code);

#endif
