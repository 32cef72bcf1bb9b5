/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses in pieces and WebSockets on the loop: what was queued is sent, frames are read, clients
 * that do not read or are silent are dropped. The queue itself is in stream.c.
 */
#include "http/private.h"

/* What one connection may send at a time, in queues. */
#define PUMPS_PER_TURN 4

/* A client that does not read has send_ms, one that has read all is sent a heartbeat. */
void pawl__stream_set_timer(struct pawl_connection *connection)
{
    const struct pawl_server_limits *limits = &connection->server->limits;
    struct stream *stream = connection->exchange->stream;
    int64_t now_ns = connection->server->now_ns, due_ns = PAWL_FOREVER;

    if (stream->heartbeat || stream->socket)
        due_ns = now_ns + limits->heartbeat_ms * NS_PER_MS;
    if (stream->socket && pawl__websocket_is_closing(stream->socket)) {
        if (stream->closes_ns == 0) /* whatever the client sends from now on */
            stream->closes_ns = now_ns + limits->linger_ms * NS_PER_MS;
        due_ns = stream->closes_ns;
    }
    if (stream->blocked)
        due_ns = pawl__connection_paced_ns(connection, limits->send_ms);
    pawl__connection_set_timer(connection, due_ns);
}

/* A response in pieces is over, and all of it is sent. */
static void end_stream(struct pawl_connection *connection, bool aborted)
{
    if (aborted)
        pawl__connection_drop(connection, true);
    else if (!connection->exchange->keep_alive)
        pawl__connection_linger(connection);
    else
        pawl__connection_become_idle(connection);
}

/* The client does not read: from now on it has send_ms. */
static void note_blocked(struct pawl_connection *connection, uint64_t moved)
{
    struct stream *stream = connection->exchange->stream;

    if (!stream->blocked) {
        connection->since_ns = connection->server->now_ns;
        connection->moved_bytes = 0;
    }
    stream->blocked = true;
    connection->moved_bytes += moved;
    pawl__stream_set_timer(connection);
}

/* Sends what a handler has written; a share of it, if there is more and more. */
static void pump(struct pawl_connection *connection)
{
    struct pawl_exchange *exchange = connection->exchange;
    struct stream_progress progress = {.more = true};

    for (int i = 0; i < PUMPS_PER_TURN && progress.more; i++) {
        size_t before = exchange->sent;
        int status = pawl__response_send(exchange, connection);
        uint64_t moved = exchange->sent - before;

        if (status != PAWL_OK && status != PAWL_EBUSY) {
            pawl__connection_drop(connection, true);
            return;
        }
        pawl__stream_advance(exchange, moved, &progress);
        if (status == PAWL_EBUSY) {
            note_blocked(connection, moved);
            return;
        }
    }
    exchange->stream->blocked = false;
    if (progress.more) {
        pawl__connection_read(connection);
        return;
    }
    if (progress.ended) {
        end_stream(connection, progress.aborted);
    } else if (exchange->stream->socket && pawl__websocket_is_closed(exchange->stream->socket)) {
        (void)pawl__connection_take_back(connection);
        pawl__connection_linger(connection);
    } else {
        pawl__stream_set_timer(connection);
    }
}

/* Frames of a WebSocket: a piece, and if there is more, in the next turn. */
static void read_frames(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    struct pawl_websocket *socket = connection->exchange->stream->socket;
    const char *bytes =
        connection->rest ? connection->rest + connection->rest_at : server->read_buffer;
    size_t got = connection->rest_len - connection->rest_at, used = 0;
    int status = PAWL_OK;

    if (!pawl__websocket_reads(socket) || !(connection->rest || connection->readable))
        return;
    if (!connection->rest)
        status = pawl__transport_read(connection, server->read_buffer, READ_BYTES, &got);
    if (status == PAWL_EBUSY) {
        connection->readable = false;
        return;
    }
    if (status != PAWL_OK || got == 0 || !pawl__websocket_feed(socket, bytes, got, &used) ||
        !pawl__connection_keep_rest(connection, bytes + used, got - used)) {
        pawl__connection_drop(connection, true);
        return;
    }
    pump(connection);
    if (connection->state == STREAMING && pawl__websocket_reads(socket))
        pawl__connection_read(connection);
}

void pawl__stream_event(struct pawl_connection *connection, uint32_t what)
{
    if (what & PAWL_POLL_BROKEN) {
        pawl__connection_drop(connection, true);
        return;
    }
    if (what & PAWL_POLL_ENDED)
        pawl__connection_tell_gone(connection);
    pump(connection);
    if (connection->state == STREAMING && connection->exchange->stream->socket)
        read_frames(connection);
}

void pawl__stream_timer(struct pawl_connection *connection)
{
    struct pawl_websocket *socket = connection->exchange->stream->socket;

    if (connection->exchange->stream->blocked || (socket && pawl__websocket_is_closing(socket)) ||
        (socket && !pawl__websocket_ping(socket)))
        pawl__connection_drop(connection, true);
    else if (socket)
        pump(connection);
    else if (pawl__stream_beat(connection->exchange))
        pump(connection);
    else
        pawl__stream_set_timer(connection);
}
