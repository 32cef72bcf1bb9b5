/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network in memory: a poller whose connections are buffers, and the other ends of them.
 *
 * One server owns the poller; clients are threads of the same environment, or a test that calls in
 * turn. All waiting goes through the environment, so that on a baton a seed decides how requests,
 * answers and hang-ups meet. Every call is for any thread.
 *
 * As on a real network, a connection is a stream in each direction with a window: a side that does
 * not read lets the other wait.
 */
#ifndef PAWL_OS_MEMORY_NETWORK_H
#define PAWL_OS_MEMORY_NETWORK_H

#include "os/poller.h"

struct pawl_memory_network;

/* Unread bytes that a side takes, unless told otherwise. */
#define PAWL_MEMORY_WINDOW 4096

/* PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__memory_network_new(struct pawl_env *env,
                                             struct pawl_memory_network **out);
/* With everything that is still open in it, the poller included. NULL allowed. */
void pawl__memory_network_free(struct pawl_memory_network *network);

/* The network's, closed with it. */
struct pawl_poller *pawl__memory_network_poller(struct pawl_memory_network *network);

/* A listener for watch() and accept(), dropped as a connection is. PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__memory_network_listen(struct pawl_memory_network *network, int *out);

/*
 * So many accepted connections can be open; accept() is PAWL_EUNAVAILABLE beyond. At first there is
 * no limit.
 */
void pawl__memory_network_limit(struct pawl_memory_network *network, uint32_t accepted_max);

/* ---- the clients' ends -------------------------------------------------------------------- */

/* Waits to be accepted without waiting. PAWL_EUNAVAILABLE: nobody listens. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__memory_network_connect(struct pawl_memory_network *network, int listener,
                                                 int *out);
/* How many unread bytes this client takes. */
void pawl__memory_network_window(struct pawl_memory_network *network, int client, size_t bytes);

/*
 * Sends all, waiting until it fits. PAWL_ETIMEDOUT, PAWL_ESTOPPED; PAWL_EUNAVAILABLE: the server
 * has dropped the connection. With a deadline of INT64_MIN it never waits.
 */
PAWL_MUST_CHECK int pawl__memory_network_send(struct pawl_memory_network *network, int client,
                                              struct pawl_str bytes, int64_t deadline_ns);
/*
 * Waits for bytes. *got 0: the server has ended. PAWL_ETIMEDOUT, PAWL_ESTOPPED; PAWL_EUNAVAILABLE:
 * it was aborted.
 */
PAWL_MUST_CHECK int pawl__memory_network_receive(struct pawl_memory_network *network, int client,
                                                 void *to, size_t size_bytes, int64_t deadline_ns,
                                                 size_t *got);
/* Sends no more; still reads. */
void pawl__memory_network_end(struct pawl_memory_network *network, int client);
/* Gone. `abort`: the server cannot read what it has not read. */
void pawl__memory_network_hang_up(struct pawl_memory_network *network, int client, bool abort);

#endif
