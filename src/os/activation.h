/* SPDX-License-Identifier: Apache-2.0 */
/* The interface to a service manager: listening sockets, notifications, as systemd defines them. */
#ifndef PAWL_OS_ACTIVATION_H
#define PAWL_OS_ACTIVATION_H

#include <pawl/error.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * The sockets that this process was started with (LISTEN_PID, LISTEN_FDS), made non-blocking and
 * not inherited. *count 0: none. PAWL_EINVAL: one of them does not listen; PAWL_ELIMIT: more than
 * `max`. They belong to the caller; call it once.
 */
PAWL_MUST_CHECK int pawl__activation_sockets(int *out, size_t max, size_t *count,
                                             struct pawl_error *err);

/* Sends "READY=1" and the like to NOTIFY_SOCKET. false: there is none. */
bool pawl__activation_notify(const char *state);

/*
 * Raises the soft limit of descriptors to the hard one and returns it; what it is when that fails.
 */
size_t pawl__activation_raise_descriptors(void);

#endif
