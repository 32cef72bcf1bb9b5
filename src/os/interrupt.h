/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C as a question: while one of these is open, SIGINT and SIGTERM do not end the process but
 * can be asked for, and end waits early. A second one, not at the same moment, ends the process
 * after all, as if nobody had been listening. For programs, at most one at a time; open it before
 * other threads are started, because they inherit which signals they leave to it.
 */
#ifndef PAWL_OS_INTERRUPT_H
#define PAWL_OS_INTERRUPT_H

#include <pawl/ext/env.h>

#include <stdbool.h>

struct pawl_interrupt;

/* PAWL_EUNAVAILABLE, PAWL_ENOMEM, PAWL_ESTOPPED: signals are as they were. */
PAWL_MUST_CHECK int pawl__interrupt_open(struct pawl_env *env, struct pawl_interrupt **out,
                                         struct pawl_error *err);
/* Signals are as they were before. NULL allowed. */
void pawl__interrupt_close(struct pawl_interrupt *interrupt);

/* Whether a signal has come. NULL: never. From any thread, cheap. */
bool pawl__interrupt_pending(const struct pawl_interrupt *interrupt);

/*
 * From now on SIGHUP does not end the process either but ends waits early; see
 * pawl__interrupt_take_hangup(). Before other threads are started. PAWL_EUNAVAILABLE.
 */
PAWL_MUST_CHECK int pawl__interrupt_watch_hangup(struct pawl_interrupt *interrupt,
                                                 struct pawl_error *err);
/* Whether SIGHUP has come since the last call. */
bool pawl__interrupt_take_hangup(struct pawl_interrupt *interrupt);

/* As if a signal had come, but a signal that comes afterwards is still the first. Any thread. */
void pawl__interrupt_raise(struct pawl_interrupt *interrupt);

/*
 * Waits until the deadline (monotonic) or until a signal has come, SIGHUP included. PAWL_OK in all
 * cases; PAWL_ESTOPPED.
 */
PAWL_MUST_CHECK int pawl__interrupt_wait(struct pawl_interrupt *interrupt, int64_t deadline_ns);

#endif
