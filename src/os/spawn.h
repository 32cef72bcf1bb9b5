/* SPDX-License-Identifier: Apache-2.0 */
/* Starts every thread of this program, for all environments. */
#ifndef PAWL_OS_SPAWN_H
#define PAWL_OS_SPAWN_H

#include <pawl/error.h>

#include <pthread.h>

/* What Linux keeps of a thread's name, the NUL included. */
#define PAWL_SPAWN_NAME_SIZE 16

/*
 * Starts a POSIX thread with our stack size and with all signals blocked that another thread can
 * handle. `name` is used only in the message. PAWL_EUNAVAILABLE when the system gives no thread.
 */
PAWL_MUST_CHECK int pawl__spawn(const char *name, void *(*run)(void *arg), void *arg,
                                pthread_t *out, struct pawl_error *err);

/* Names the calling thread for debuggers and `top -H`; cut to 15 bytes. */
void pawl__spawn_name_self(const char *name);

#endif
