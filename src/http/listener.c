/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepting. When no descriptor is left, or as many connections are refused as may be, accepting
 * stops: what is there goes on, and those outside wait in the system's queue. It goes on when a
 * connection ends, or after a while.
 */
#include "http/private.h"

#include <pawl/ext/log.h>

#define RETRY_NS (NS_PER_S / 2)

static void pause_accepting(struct pawl_server *server, struct listener *listener,
                            const struct pawl_error *err)
{
    listener->more = false;
    listener->paused = true;
    pawl__timers_set(&server->timers, &server->accept_timer, server->now_ns + RETRY_NS);
    if (!err)
        return;
    if (atomic_fetch_add(&server->accept_pauses, 1) == 0 && server->options.log)
        pawl_log(server->options.log, PAWL_LOG_WARN, "accepting stops until a connection ends",
                 pawl_log_error("error", err));
}

static bool accept_one(struct pawl_server *server, struct listener *listener)
{
    static const char full[] = "The server has as many connections as it may; try again later.";
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_peer peer;
    const char *refusal = server->connection_count >= server->limits.connections_max ? full : NULL;
    int fd, status;

    if (refusal && server->refused_count >= REFUSED_MAX) {
        pause_accepting(server, listener, NULL);
        return false;
    }
    status = pawl__poller_accept(server->poller, listener->fd, &fd, &peer, &err);
    if (status == PAWL_EBUSY) {
        listener->more = false;
        return false;
    }
    if (status != PAWL_OK) {
        pause_accepting(server, listener, &err);
        return false;
    }
    if (pawl__connection_open(server, fd, &peer, server->secure && !peer.local, refusal) != PAWL_OK)
        pawl__poller_drop(server->poller, fd, true);
    return true;
}

void pawl__listener_accept(struct pawl_server *server, struct listener *listener)
{
    for (int i = 0; i < ACCEPTS_PER_TURN && listener->more; i++) {
        if (!accept_one(server, listener))
            return;
    }
}

void pawl__listeners_resume(struct pawl_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct listener *listener = &server->listeners[i];

        listener->more = listener->more || listener->paused;
        listener->paused = false;
    }
}
