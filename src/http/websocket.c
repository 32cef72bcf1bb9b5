/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket on a stream; see websocket.h.
 *
 * The loop reads frames and sends what is queued. The exchange is either with the loop, or `busy`:
 * on its way to a worker or on one, which handles all there is and hands it back. Meanwhile the
 * loop reads pings and pongs, up to the next other frame. When the
 * connection is lost, or closed by both sides, the socket is `over`; the worker calls `closed` and
 * ends the exchange.
 */
#include "http/websocket.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/hash/sha1.h"
#include "http/private.h"
#include "http/stream.h"

#include <stdio.h>

#define MESSAGE_BYTES_DEFAULT ((size_t)1 << 20)
#define KEY_BYTES 16
#define ACCEPT_SIZE 29

struct pawl_websocket {
    struct pawl_exchange *exchange;
    const struct pawl_websocket_handler *handler;
    void *ctx;
    struct pawl_frames frames; /* the loop's; the message is the worker's while busy */
    bool pinged;               /* the loop's: nothing came since the last ping */
    bool held;                 /* the loop's: what is next has to wait */

    /* Guarded by server->mutex. In words of their own: a compiler reads several flags at once, with
     * whatever is beside them. */
    _Alignas(int64_t) int code;
    bool busy, has_message, has_room, wants_room;
    bool close_sent, close_received;
    bool over;
};

static struct pawl_server *server_of(const struct pawl_websocket *socket)
{
    return socket->exchange->server;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* "keep-alive, Upgrade" has "upgrade". */
static bool list_has(struct pawl_str list, const char *word)
{
    size_t at = 0;

    while (list.ptr && at <= list.len) {
        size_t comma = pawl__str_find(list, ',', at);
        struct pawl_str item = pawl__str_trim(pawl__str_slice(list, at, comma));

        if (pawl__str_equal_nocase(item, pawl__str(word)))
            return true;
        if (comma == SIZE_MAX)
            break;
        at = comma + 1;
    }
    return false;
}

/* 0, or the status that refuses the request. */
static int check_request(struct pawl_exchange *exchange, const char **detail)
{
    struct pawl_str key = pawl__exchange_field(exchange, "sec-websocket-key");
    unsigned char bytes[KEY_BYTES + 2];

    *detail = "This is a WebSocket: ask for it with Upgrade and Sec-WebSocket-Version 13.";
    if (!pawl__str_is(pawl__exchange_method(exchange), "GET"))
        return 405;
    if (!list_has(pawl__exchange_field(exchange, "upgrade"), "websocket") ||
        !list_has(pawl__exchange_field(exchange, "connection"), "upgrade") ||
        !pawl__str_is(pawl__exchange_field(exchange, "sec-websocket-version"), "13"))
        return 426;
    *detail = "Sec-WebSocket-Key is not 16 bytes in base64.";
    if (exchange->framing.minor == 0 || !key.ptr || key.len != pawl__base64_len(KEY_BYTES) ||
        pawl__base64_decode(key, bytes) != KEY_BYTES)
        return 400;
    return 0;
}

static void refuse(struct pawl_exchange *exchange, int status, const char *detail)
{
    if (status == 426) {
        pawl__exchange_add_field(exchange, "Upgrade", "websocket");
        pawl__exchange_add_field(exchange, "Connection", "Upgrade");
        pawl__exchange_add_field(exchange, "Sec-WebSocket-Version", "13");
    }
    pawl__exchange_refuse(exchange, status, detail);
}

static void add_fields(struct pawl_exchange *exchange, const char *protocol)
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    struct pawl_str key = pawl__exchange_field(exchange, "sec-websocket-key");
    unsigned char digest[PAWL_SHA1_BYTES];
    char joined[96], accept[ACCEPT_SIZE] = "";

    (void)snprintf(joined, sizeof joined, "%.*s%s", PAWL_STR_ARG(key), guid);
    pawl__sha1(pawl__str(joined), digest);
    pawl__base64_encode(digest, sizeof digest, accept);
    pawl__exchange_add_field(exchange, "Upgrade", "websocket");
    pawl__exchange_add_field(exchange, "Connection", "Upgrade");
    pawl__exchange_add_field(exchange, "Sec-WebSocket-Accept", accept);
    if (protocol)
        pawl__exchange_add_field(exchange, "Sec-WebSocket-Protocol", protocol);
}

static struct pawl_websocket *make_socket(struct pawl_exchange *exchange,
                                          const struct pawl_websocket_handler *handler, void *ctx)
{
    const struct pawl_allocator *alloc = &exchange->server->env->alloc;
    struct pawl_websocket *socket = pawl__alloc_zeroed(alloc, sizeof *socket);

    if (!socket)
        return NULL;
    socket->exchange = exchange;
    socket->handler = handler;
    socket->ctx = ctx;
    pawl__frames_init(&socket->frames, alloc,
                      handler->message_bytes_max > 0 ? handler->message_bytes_max
                                                     : MESSAGE_BYTES_DEFAULT);
    return socket;
}

int pawl__websocket_accept(struct pawl_exchange *exchange,
                           const struct pawl_websocket_handler *handler, void *ctx,
                           const char *protocol, struct pawl_websocket **out)
{
    const struct pawl_allocator *alloc = &exchange->server->env->alloc;
    const char *detail;
    struct pawl_websocket *socket;
    int status = check_request(exchange, &detail);

    if (status != 0) {
        refuse(exchange, status, detail);
        return PAWL_EINVAL;
    }
    socket = make_socket(exchange, handler, ctx);
    *out = socket; /* before anything can happen to it */
    add_fields(exchange, protocol);
    status = socket ? pawl__stream_switch(exchange, socket) : PAWL_ENOMEM;
    if (status == PAWL_OK)
        return PAWL_OK;
    pawl__free(alloc, socket, sizeof *socket);
    *out = NULL;
    if (status == PAWL_EUNAVAILABLE) {
        pawl__exchange_end(exchange, false);
        return status;
    }
    pawl__buf_clear(&exchange->fields_out);
    refuse(exchange, 503, pawl__request_refusal_detail(503));
    return PAWL_ENOMEM;
}

/* ---- sending ----------------------------------------------------------------------------- */

/* With the mutex held. */
static int queue_frame(struct pawl_websocket *socket, enum pawl_frame_kind kind,
                       struct pawl_str payload)
{
    struct stream *stream = socket->exchange->stream;
    size_t before = stream->queue.len;

    if (!pawl__buf_reserve(&stream->queue, payload.len + PAWL_FRAME_HEADER_MAX)) {
        stream->queue.status = PAWL_OK;
        return PAWL_ENOMEM;
    }
    pawl__frame_write(&stream->queue, kind, payload);
    stream->pending += stream->queue.len - before;
    pawl__exchange_hold(socket->exchange, stream->pending);
    return PAWL_OK;
}

static int check_room(struct pawl_websocket *socket, size_t size_bytes)
{
    uint64_t max = server_of(socket)->limits.stream_bytes_max;
    uint64_t pending = socket->exchange->stream->pending;

    if (!socket->exchange->connection || socket->close_sent)
        return PAWL_EUNAVAILABLE;
    if (size_bytes > max)
        return PAWL_ELIMIT;
    if (pending + size_bytes <= max || pending == 0)
        return PAWL_OK;
    socket->wants_room = true;
    return PAWL_EBUSY;
}

int pawl__websocket_send(struct pawl_websocket *socket, bool text, struct pawl_str bytes)
{
    struct pawl_server *server = server_of(socket);
    bool wake = false;
    int status;

    if (text && !pawl__utf8_valid(bytes))
        return PAWL_EINVAL;
    pawl__server_lock(server);
    status = check_room(socket, bytes.len);
    if (status == PAWL_OK)
        status = queue_frame(socket, text ? PAWL_FRAME_TEXT : PAWL_FRAME_BINARY, bytes);
    if (status == PAWL_OK)
        wake = pawl__connection_post(socket->exchange->connection);
    pawl__server_unlock(server);
    if (wake)
        pawl__poller_wake(server->poller);
    return status;
}

/* With the mutex held. `code` NO_CODE: a close without one. */
static void queue_close(struct pawl_websocket *socket, int code, const char *reason)
{
    char payload[PAWL_FRAME_CONTROL_MAX];
    size_t len = strlen(reason) < sizeof payload - 2 ? strlen(reason) : sizeof payload - 2;

    if (socket->close_sent)
        return;
    payload[0] = (char)(code >> 8 & 0xff);
    payload[1] = (char)(code & 0xff);
    memcpy(payload + 2, reason, len);
    (void)!queue_frame(socket, PAWL_FRAME_CLOSE,
                       pawl__str_make(payload, code == PAWL_CLOSE_NO_CODE ? 0 : len + 2));
    socket->close_sent = true;
    if (socket->code == 0)
        socket->code = code;
}

void pawl__websocket_close(struct pawl_websocket *socket, int code, const char *reason)
{
    struct pawl_server *server = server_of(socket);
    bool wake = false;

    PAWL_ASSERT(pawl__close_code_is_valid(code));
    pawl__server_lock(server);
    if (socket->exchange->connection) {
        queue_close(socket, code, reason);
        wake = pawl__connection_post(socket->exchange->connection);
    }
    pawl__server_unlock(server);
    if (wake)
        pawl__poller_wake(server->poller);
}

/* ---- workers ----------------------------------------------------------------------------- */

/* With the mutex held; released during calls. */
static void handle_all(struct pawl_websocket *socket)
{
    struct pawl_server *server = server_of(socket);
    const struct pawl_websocket_handler *handler = socket->handler;

    while (socket->has_message || socket->has_room) {
        bool message = socket->has_message;

        pawl__server_unlock(server);
        if (message)
            handler->message(socket, socket->ctx, socket->frames.message_kind == PAWL_FRAME_TEXT,
                             pawl__buf_peek(&socket->frames.message));
        else if (handler->writable)
            handler->writable(socket, socket->ctx);
        pawl__server_lock(server);
        if (message)
            socket->has_message = false;
        else
            socket->has_room = false;
    }
}

static void end(struct pawl_websocket *socket)
{
    struct pawl_exchange *exchange = socket->exchange;

    socket->handler->closed(socket, socket->ctx,
                            socket->code == 0 ? PAWL_CLOSE_ABNORMAL : socket->code);
    pawl__frames_release(&socket->frames);
    pawl__free(&exchange->server->env->alloc, socket, sizeof *socket);
    pawl__exchange_end(exchange, false);
}

static void run(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_websocket *socket = ctx;
    struct pawl_server *server = exchange->server;
    bool over, wake = false;

    pawl__server_lock(server);
    handle_all(socket);
    over = socket->over;
    if (!over) {
        socket->busy = false;
        wake = pawl__connection_post(exchange->connection); /* it reads on */
    }
    pawl__server_unlock(server);
    if (over)
        end(socket);
    else if (wake)
        pawl__poller_wake(server->poller);
}

/* With the mutex held. */
static void call_worker(struct pawl_websocket *socket)
{
    if (socket->busy)
        return;
    socket->busy = true;
    socket->exchange->resume = run;
    socket->exchange->resume_ctx = socket;
    pawl__list_push_back(&server_of(socket)->resumable, &socket->exchange->link);
}

/* ---- the loop ---------------------------------------------------------------------------- */

void pawl__websocket_lost(struct pawl_websocket *socket)
{
    socket->over = true;
    call_worker(socket);
}

void pawl__websocket_sent(struct pawl_websocket *socket)
{
    if (!socket->wants_room ||
        socket->exchange->stream->pending > server_of(socket)->limits.stream_bytes_max / 2)
        return;
    socket->wants_room = false;
    socket->has_room = true;
    call_worker(socket);
}

/* One that has only ended its side still gets what the message leads to. */
static bool has_ended(const struct pawl_websocket *socket)
{
    const struct pawl_connection *connection = socket->exchange->connection;

    return connection && connection->ended;
}

bool pawl__websocket_reads(struct pawl_websocket *socket)
{
    bool reads;

    pawl__server_lock(server_of(socket));
    reads = !(socket->busy && (socket->held || has_ended(socket))) && !socket->close_received;
    pawl__server_unlock(server_of(socket));
    return reads;
}

bool pawl__websocket_is_closed(struct pawl_websocket *socket)
{
    bool closed;

    pawl__server_lock(server_of(socket));
    closed = socket->close_sent && socket->close_received && !socket->busy;
    pawl__server_unlock(server_of(socket));
    return closed;
}

bool pawl__websocket_is_closing(struct pawl_websocket *socket)
{
    bool closing;

    pawl__server_lock(server_of(socket));
    closing = socket->close_sent;
    pawl__server_unlock(server_of(socket));
    return closing;
}

bool pawl__websocket_ping(struct pawl_websocket *socket)
{
    bool queued;

    if (socket->pinged)
        return false;
    socket->pinged = true;
    pawl__server_lock(server_of(socket));
    queued = queue_frame(socket, PAWL_FRAME_PING, pawl__str("")) == PAWL_OK;
    pawl__server_unlock(server_of(socket));
    return queued;
}

/* With the mutex held. A client that sends pings and does not read is not waited for. */
static bool handle_control(struct pawl_websocket *socket)
{
    const struct pawl_frames *frames = &socket->frames;
    struct pawl_str payload = pawl__str_make(frames->control, frames->control_len);
    int code;

    switch (frames->kind) {
    case PAWL_FRAME_PING:
        if (socket->close_sent)
            return true;
        return socket->exchange->stream->pending < server_of(socket)->limits.stream_bytes_max &&
               queue_frame(socket, PAWL_FRAME_PONG, payload) == PAWL_OK;
    case PAWL_FRAME_CLOSE:
        code = pawl__frames_close_code(frames);
        socket->close_received = true;
        if (socket->code == 0)
            socket->code = code;
        queue_close(socket, code, "");
        return true;
    default: /* a pong */
        return true;
    }
}

/* With the mutex held. false: nothing more is to be read. */
static bool handle_result(struct pawl_websocket *socket, enum pawl_frame_result result)
{
    switch (result) {
    case PAWL_FRAME_MESSAGE:
        if (socket->close_sent)
            return true; /* too late */
        socket->has_message = true;
        call_worker(socket);
        return false;
    case PAWL_FRAME_BAD:
        queue_close(socket, socket->frames.code, "");
        socket->code = socket->frames.code;
        socket->close_received = true; /* nothing more is read */
        return false;
    case PAWL_FRAME_HELD:
        socket->held = true;
        return false;
    case PAWL_FRAME_MORE:
    case PAWL_FRAME_CONTROL:
        break;
    }
    return !socket->close_received;
}

static bool is_busy(struct pawl_websocket *socket)
{
    bool busy;

    pawl__server_lock(server_of(socket));
    busy = socket->busy;
    pawl__server_unlock(server_of(socket));
    return busy;
}

bool pawl__websocket_feed(struct pawl_websocket *socket, const char *bytes, size_t size_bytes,
                          size_t *used)
{
    struct pawl_server *server = server_of(socket);
    bool goes_on = true, alive = true;

    *used = 0;
    socket->pinged = false;
    socket->held = false;
    while (alive && goes_on) {
        size_t count;
        enum pawl_frame_result result;

        socket->frames.holds = is_busy(socket);
        result = pawl__frames_feed(&socket->frames, bytes + *used, size_bytes - *used, &count);
        *used += count;
        if (result == PAWL_FRAME_MORE)
            return true;
        pawl__server_lock(server);
        if (result == PAWL_FRAME_CONTROL)
            alive = handle_control(socket);
        goes_on = handle_result(socket, result);
        pawl__server_unlock(server);
    }
    return alive;
}
