/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning of TLS. A handshake costs most of a millisecond of processor time, so its steps run
 * on a few threads of their own: a flood of new connections delays neither the loop nor the
 * threads that run handlers.
 *
 *     waiting -- event --> shaking: queued, then on a thread -- posted --> waiting, or established
 *                            |                                            '-> lingering: failed
 *                            '-- to be dropped: at once when queued, else doomed until posted
 *
 * While it is `shaking` only that thread uses the session and its descriptor; events are noted in
 * `shake_again`. A connection has no session before its first bytes have come.
 */
#include "http/private.h"

void pawl__handshake_run(struct pawl_list_link *link)
{
    struct pawl_connection *connection =
        (struct pawl_connection *)(void *)((char *)link -
                                           offsetof(struct pawl_connection, shaking_link));
    struct pawl_server *server = connection->server;
    int status = connection->tls ? PAWL_OK : pawl__transport_secure(connection);

    if (status == PAWL_OK)
        status = pawl__transport_handshake(connection);
    pawl__server_lock(server);
    connection->shaken = status;
    (void)pawl__connection_post(connection);
    pawl__server_unlock(server);
    pawl__poller_wake(server->poller);
}

static void queue(struct pawl_connection *connection)
{
    connection->shake_again = false;
    connection->shaking = true;
    if (pawl__workers_push(connection->server->handshakers, &connection->shaking_link) == PAWL_OK)
        return;
    connection->shaking = false;
    pawl__connection_drop(connection, true);
}

void pawl__handshake_event(struct pawl_connection *connection)
{
    if (connection->shaking)
        connection->shake_again = true;
    else
        queue(connection);
}

bool pawl__handshake_stop(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;

    if (!connection->shaking)
        return true;
    if (pawl__workers_remove(server->handshakers, &connection->shaking_link)) {
        connection->shaking = false;
        return true;
    }
    pawl__server_lock(server);
    if (pawl__list_linked(&connection->posted_link)) {
        pawl__list_remove(&connection->posted_link);
        connection->shaking = false;
    }
    pawl__server_unlock(server);
    connection->doomed = connection->shaking;
    return !connection->shaking;
}

/* A client that fails gets to know why: the alert must not be lost. */
void pawl__handshake_posted(struct pawl_connection *connection)
{
    connection->shaking = false;
    if (connection->doomed) {
        pawl__connection_drop(connection, true);
    } else if (connection->shaken == PAWL_EBUSY) {
        if (connection->shake_again)
            queue(connection);
    } else if (connection->shaken != PAWL_OK) {
        pawl__connection_linger(connection);
    } else {
        connection->readable = true;
        pawl__connection_become_idle(connection);
    }
}
