/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses in pieces; see stream.h, and private.h for who may touch what.
 *
 * An exchange whose handler waits for room belongs to nobody: its stream has `writable` set. When
 * there is room, or the connection is lost, the loop moves it to `resumable`, and from there to the
 * workers.
 */
#include "http/stream.h"

#include "base/alloc.h"
#include "http/private.h"

#include <stdio.h>

/* A chunk's framing at the most: sixteen digits and two line ends. */
#define FRAMING_BYTES 20
/* stream_bytes_max is what bounds it; this is beyond any setting. */
#define QUEUE_BYTES_MAX (SIZE_MAX / 8)

static const char last_chunk[] = "0\r\n\r\n";

static void lock(const struct pawl_exchange *exchange)
{
    pawl__server_lock(exchange->server);
}

/* `wake`: the loop has something to do. */
static void unlock(const struct pawl_exchange *exchange, bool wake)
{
    struct pawl_server *server = exchange->server;

    pawl__server_unlock(server);
    if (wake)
        pawl__poller_wake(server->poller);
}

/* ---- handlers ---------------------------------------------------------------------------- */

static int begin(struct pawl_exchange *exchange, int status, uint64_t length, const char *heartbeat,
                 struct pawl_websocket *socket)
{
    const struct pawl_allocator *alloc = &exchange->server->env->alloc;
    struct stream *stream = pawl__alloc_zeroed(alloc, sizeof *stream);
    int result;
    bool lost, wake;

    PAWL_ASSERT(!exchange->stream);
    if (!stream)
        return PAWL_ENOMEM;
    pawl__buf_init(&stream->queue, alloc, QUEUE_BYTES_MAX);
    stream->left = length;
    stream->chunked = length == PAWL_LENGTH_UNKNOWN && exchange->framing.minor > 0 && !socket;
    stream->heartbeat = heartbeat;
    stream->socket = socket;
    result = pawl__response_begin(exchange, stream, status);
    if (result != PAWL_OK) {
        pawl__stream_free(exchange->server, stream);
        return result;
    }
    lock(exchange);
    exchange->stream = stream;
    stream->pending = exchange->head_out.len;
    exchange->deadline_ns = PAWL_FOREVER;
    lost = !exchange->connection;
    wake = !lost && pawl__connection_post(exchange->connection);
    unlock(exchange, wake);
    return lost && socket ? PAWL_EUNAVAILABLE : PAWL_OK;
}

int pawl__exchange_begin(struct pawl_exchange *exchange, int status, uint64_t length)
{
    return begin(exchange, status, length, NULL, NULL);
}

int pawl__stream_switch(struct pawl_exchange *exchange, struct pawl_websocket *socket)
{
    return begin(exchange, 101, PAWL_LENGTH_UNKNOWN, NULL, socket);
}

/* With the mutex held. */
static int append(struct pawl_exchange *exchange, struct pawl_str piece)
{
    struct stream *stream = exchange->stream;
    size_t before = stream->queue.len;
    char size[FRAMING_BYTES];

    if (!pawl__buf_reserve(&stream->queue, piece.len + FRAMING_BYTES)) {
        stream->queue.status = PAWL_OK;
        return PAWL_ENOMEM;
    }
    if (stream->chunked) {
        (void)snprintf(size, sizeof size, "%zx\r\n", piece.len);
        pawl__buf_text(&stream->queue, size);
    }
    pawl__buf_str(&stream->queue, piece);
    if (stream->chunked)
        pawl__buf_text(&stream->queue, "\r\n");
    stream->pending += stream->queue.len - before;
    pawl__exchange_hold(exchange, stream->pending);
    return PAWL_OK;
}

static int check_piece(const struct pawl_exchange *exchange, size_t size_bytes)
{
    const struct stream *stream = exchange->stream;
    uint64_t max = exchange->server->limits.stream_bytes_max;

    if (!exchange->connection)
        return PAWL_EUNAVAILABLE;
    if (size_bytes > stream->left)
        return PAWL_EINVAL;
    if (size_bytes > max)
        return PAWL_ELIMIT;
    return stream->pending + size_bytes > max && stream->pending > 0 ? PAWL_EBUSY : PAWL_OK;
}

int pawl__exchange_write(struct pawl_exchange *exchange, struct pawl_str piece)
{
    struct stream *stream = exchange->stream;
    bool wake = false;
    int status;

    if (piece.len == 0)
        return PAWL_OK;
    lock(exchange);
    status = check_piece(exchange, piece.len);
    if (status == PAWL_OK && !exchange->without_body)
        status = append(exchange, piece);
    if (status == PAWL_OK) {
        if (stream->left != PAWL_LENGTH_UNKNOWN)
            stream->left -= piece.len;
        wake = pawl__connection_post(exchange->connection);
    }
    unlock(exchange, wake);
    return status;
}

void pawl__exchange_when_writable(struct pawl_exchange *exchange,
                                  void (*writable)(struct pawl_exchange *exchange, void *ctx),
                                  void *ctx)
{
    struct pawl_server *server = exchange->server;
    bool lost, wake = false;

    lock(exchange);
    lost = !exchange->connection;
    if (!lost) {
        exchange->stream->writable = writable;
        exchange->stream->writable_ctx = ctx;
        wake = pawl__connection_post(exchange->connection);
    }
    pawl__server_unlock(server); /* from here on it is not the caller's */
    if (lost)
        writable(exchange, ctx);
    else if (wake)
        pawl__poller_wake(server->poller);
}

void pawl__exchange_end(struct pawl_exchange *exchange, bool complete)
{
    struct pawl_server *server = exchange->server;
    struct stream *stream = exchange->stream;
    bool lost, wake = false;

    pawl__exchange_observe(exchange);
    lock(exchange);
    while (exchange->telling)
        pawl__server_await(server);
    server->outstanding--;
    stream->aborted = !complete || (stream->left != PAWL_LENGTH_UNKNOWN && stream->left > 0) ||
                      (stream->chunked && !exchange->without_body && exchange->connection &&
                       !pawl__buf_reserve(&stream->queue, sizeof last_chunk));
    if (!stream->aborted && stream->chunked && !exchange->without_body) {
        pawl__buf_text(&stream->queue, last_chunk);
        stream->pending += sizeof last_chunk - 1;
    }
    stream->ended = true;
    lost = !exchange->connection;
    if (!lost) {
        exchange->connection->turn = TURN_LOOP;
        wake = pawl__connection_post(exchange->connection);
    }
    pawl__server_unlock(server); /* from here on the exchange is the loop's */
    if (lost)
        pawl__exchange_free(exchange);
    else if (wake)
        pawl__poller_wake(server->poller);
}

/* ---- the loop ---------------------------------------------------------------------------- */

void pawl__stream_free(struct pawl_server *server, struct stream *stream)
{
    if (!stream)
        return;
    pawl__buf_release(&stream->queue);
    pawl__free(&server->env->alloc, stream, sizeof *stream);
}

/* With the mutex held: whoever waited is called next. */
static void make_resumable(struct pawl_exchange *exchange)
{
    struct stream *stream = exchange->stream;

    exchange->resume = stream->writable;
    exchange->resume_ctx = stream->writable_ctx;
    stream->writable = NULL;
    pawl__list_push_back(&exchange->server->resumable, &exchange->link);
}

static void swap(struct pawl_buf *a, struct pawl_buf *b)
{
    struct pawl_buf kept = *a;

    *a = *b;
    *b = kept;
}

void pawl__stream_advance(struct pawl_exchange *exchange, uint64_t sent,
                          struct stream_progress *out)
{
    struct stream *stream = exchange->stream;

    lock(exchange);
    stream->pending -= sent;
    pawl__exchange_hold(exchange, stream->pending);
    if (exchange->sent == exchange->head_out.len + exchange->out.len) {
        exchange->sent = 0;
        pawl__buf_clear(&exchange->head_out);
        pawl__buf_clear(&exchange->out);
        swap(&exchange->out, &stream->queue);
    }
    if (stream->writable && stream->pending <= exchange->server->limits.stream_bytes_max / 2)
        make_resumable(exchange);
    if (stream->socket)
        pawl__websocket_sent(stream->socket);
    out->more = exchange->sent < exchange->head_out.len + exchange->out.len;
    out->ended = stream->ended;
    out->aborted = stream->aborted;
    unlock(exchange, false);
}

bool pawl__stream_beat(struct pawl_exchange *exchange)
{
    struct stream *stream = exchange->stream;
    bool beaten;

    lock(exchange);
    beaten = stream->heartbeat && stream->pending == 0 && !stream->ended &&
             append(exchange, pawl__str(stream->heartbeat)) == PAWL_OK;
    unlock(exchange, false);
    return beaten;
}

void pawl__stream_lost(struct pawl_exchange *exchange)
{
    if (exchange->stream && exchange->stream->writable)
        make_resumable(exchange);
    if (exchange->stream && exchange->stream->socket)
        pawl__websocket_lost(exchange->stream->socket);
}

static struct pawl_exchange *take_resumable(struct pawl_server *server)
{
    struct pawl_list_link *link;

    pawl__server_lock(server);
    link = pawl__list_pop_front(&server->resumable);
    pawl__server_unlock(server);
    return PAWL_CONTAINER(link, struct pawl_exchange, link);
}

void pawl__stream_resume_all(struct pawl_server *server)
{
    struct pawl_exchange *exchange;

    while ((exchange = take_resumable(server)) != NULL) {
        if (pawl__workers_push(server->workers, &exchange->link) == PAWL_OK)
            continue;
        pawl__server_lock(server);
        pawl__list_push_front(&server->resumable, &exchange->link);
        pawl__server_unlock(server);
        pawl__timers_set(&server->timers, &server->accept_timer, server->now_ns + NS_PER_S / 100);
        return;
    }
}

void pawl__stream_resume_here(struct pawl_server *server)
{
    struct pawl_exchange *exchange;

    while ((exchange = take_resumable(server)) != NULL)
        pawl__exchange_run(&exchange->link);
}

/* ---- events ------------------------------------------------------------------------------ */

static const char heartbeat[] = ":\n\n";

int pawl__events_begin(struct pawl_exchange *exchange)
{
    pawl__exchange_add_field(exchange, "Content-Type", "text/event-stream");
    pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
    pawl__exchange_add_field(exchange, "X-Accel-Buffering", "no"); /* of nginx */
    return begin(exchange, 200, PAWL_LENGTH_UNKNOWN, heartbeat, NULL);
}

static bool is_one_line(struct pawl_str s)
{
    return pawl__str_find(s, '\n', 0) == SIZE_MAX && pawl__str_find(s, '\r', 0) == SIZE_MAX &&
           pawl__str_find(s, '\0', 0) == SIZE_MAX;
}

/* CR, LF and CRLF each end a line for the client. */
static void write_data(struct pawl_buf *to, struct pawl_str data)
{
    size_t at = 0;

    do {
        size_t end = at;

        while (end < data.len && data.ptr[end] != '\n' && data.ptr[end] != '\r')
            end++;
        pawl__buf_text(to, "data: ");
        pawl__buf_str(to, pawl__str_slice(data, at, end));
        pawl__buf_byte(to, '\n');
        at = end + 1;
        if (end + 1 < data.len && data.ptr[end] == '\r' && data.ptr[end + 1] == '\n')
            at++;
    } while (at <= data.len);
    pawl__buf_byte(to, '\n');
}

int pawl__events_send(struct pawl_exchange *exchange, struct pawl_str name, struct pawl_str id,
                      struct pawl_str data)
{
    struct pawl_buf event;
    int status;

    if (!is_one_line(name) || !is_one_line(id))
        return PAWL_EINVAL;
    /* In the worst case each byte is a line of its own. */
    pawl__buf_init(&event, &exchange->server->env->alloc, name.len + id.len + data.len * 8 + 64);
    if (id.len > 0) {
        pawl__buf_text(&event, "id: ");
        pawl__buf_str(&event, id);
        pawl__buf_byte(&event, '\n');
    }
    if (name.len > 0) {
        pawl__buf_text(&event, "event: ");
        pawl__buf_str(&event, name);
        pawl__buf_byte(&event, '\n');
    }
    write_data(&event, data);
    status = event.status == PAWL_OK ? pawl__exchange_write(exchange, pawl__buf_peek(&event))
                                     : event.status;
    pawl__buf_release(&event);
    return status;
}
