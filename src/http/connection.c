/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a connection, on the loop: private.h shows its states and which thread may use what.
 *
 * Bytes are read into one buffer of the loop's and parsed from there; a connection that is idle has
 * nothing but its struct. What was read behind a complete request waits in `rest`, and nothing more
 * is read until the response is sent: a client that does not read cannot make the server read.
 */
#include "base/alloc.h"
#include "http/private.h"
#include "http/websocket.h"
#include "os/address.h"

#include <string.h>

/* Framing of chunks may be as long as this, and eight times the content. */
#define FRAMING_BYTES_MAX ((uint64_t)64 << 10)
#define LINGER_BYTES_MAX ((uint64_t)4 << 20)

static const char continue_head[] = "HTTP/1.1 100 Continue\r\n\r\n";

/* ---- moving ------------------------------------------------------------------------------ */

static const uint16_t moves[] = {
    [HANDSHAKE] = 1 << IDLE | 1 << LINGERING | 1 << DEAD,
    [IDLE] = 1 << HEAD | 1 << SENDING | 1 << DEAD,
    [HEAD] = 1 << BODY | 1 << SENDING | 1 << DEAD,
    [BODY] = 1 << HANDED | 1 << SENDING | 1 << DEAD,
    [HANDED] = 1 << IDLE | 1 << STREAMING | 1 << SENDING | 1 << DEAD,
    [STREAMING] = 1 << IDLE | 1 << LINGERING | 1 << DEAD,
    [SENDING] = 1 << IDLE | 1 << LINGERING | 1 << DEAD,
    [LINGERING] = 1 << DEAD,
    [DEAD] = 0,
};

void pawl__connection_move(struct pawl_connection *connection, enum connection_state to)
{
    PAWL_ASSERT(moves[connection->state] & 1 << to);
    connection->state = (uint8_t)to;
    connection->since_ns = connection->server->now_ns;
    connection->moved_bytes = 0;
}

void pawl__connection_set_timer(struct pawl_connection *connection, int64_t due_ns)
{
    pawl__timers_set(&connection->server->timers, &connection->timer, due_ns);
}

/* So long after the state began, and a second for every so many bytes that have moved since. */
int64_t pawl__connection_paced_ns(const struct pawl_connection *connection, int64_t ms)
{
    uint64_t rate = connection->server->limits.rate_bytes_min;

    return connection->since_ns + ms * NS_PER_MS +
           (int64_t)(rate > 0 ? connection->moved_bytes / rate : 0) * NS_PER_S;
}

static void set_state_timer(struct pawl_connection *connection)
{
    const struct pawl_server_limits *limits = &connection->server->limits;

    switch ((enum connection_state)connection->state) {
    case IDLE:
        pawl__connection_set_timer(connection, connection->since_ns + limits->idle_ms * NS_PER_MS);
        break;
    case HANDSHAKE:
    case HEAD:
        pawl__connection_set_timer(connection, connection->since_ns + limits->head_ms * NS_PER_MS);
        break;
    case BODY:
        pawl__connection_set_timer(connection,
                                   pawl__connection_paced_ns(connection, limits->body_ms));
        break;
    case SENDING:
        pawl__connection_set_timer(connection,
                                   pawl__connection_paced_ns(connection, limits->send_ms));
        break;
    case LINGERING:
        pawl__connection_set_timer(connection,
                                   connection->since_ns + limits->linger_ms * NS_PER_MS);
        break;
    case STREAMING:
        pawl__stream_set_timer(connection);
        break;
    case HANDED:
    case DEAD:
        break;
    }
}

/* ---- ending ------------------------------------------------------------------------------ */

static void free_rest(struct pawl_connection *connection)
{
    pawl__free(&connection->server->env->alloc, connection->rest, connection->rest_len);
    connection->rest = NULL;
    connection->rest_len = connection->rest_at = 0;
}

/* Takes the exchange back from its handler. false: the handler has responded, or is responding. */
bool pawl__connection_take_back(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    struct pawl_exchange *exchange = NULL;

    pawl__server_lock(server);
    if (connection->turn == TURN_HANDED) {
        exchange = connection->exchange;
        exchange->connection = NULL;
        connection->exchange = NULL;
        connection->turn = TURN_LOOP;
        if (pawl__list_linked(&connection->posted_link))
            pawl__list_remove(&connection->posted_link);
        pawl__exchange_hold(exchange, 0); /* nothing more is queued */
        pawl__stream_lost(exchange);
        pawl__exchange_tell_gone(exchange);
    }
    pawl__server_unlock(server);
    return exchange != NULL;
}

/* Waits for a thread that is writing the response now; it does not wait for the client.
 */
static void await_response(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;

    pawl__server_lock(server);
    connection->wanted = true;
    while (connection->turn == TURN_RESPONDING)
        pawl__server_await(server);
    connection->turn = TURN_LOOP;
    if (pawl__list_linked(&connection->posted_link))
        pawl__list_remove(&connection->posted_link);
    pawl__server_unlock(server);
}

void pawl__connection_drop(struct pawl_connection *connection, bool abort)
{
    struct pawl_server *server = connection->server;

    if (connection->state == DEAD ||
        (connection->state == HANDSHAKE && !pawl__handshake_stop(connection)))
        return;
    if ((connection->state == HANDED || connection->state == STREAMING) &&
        !pawl__connection_take_back(connection))
        await_response(connection);
    pawl__connection_move(connection, DEAD);
    pawl__transport_drop(connection, abort);
    pawl__timers_remove(&server->timers, &connection->timer);
    pawl__peers_remove(&server->peers, connection->peer_entry);
    pawl__exchange_free(connection->exchange);
    connection->exchange = NULL;
    free_rest(connection);
    if (pawl__list_linked(&connection->ready_link))
        pawl__list_remove(&connection->ready_link);
    pawl__list_remove(&connection->link);
    pawl__list_push_back(&server->dead, &connection->link);
    if (connection->refused)
        server->refused_count--;
    else
        server->connection_count--;
    atomic_store(&server->connections_now, server->connection_count);
    pawl__listeners_resume(server);
}

void pawl__connection_free(struct pawl_connection *connection)
{
    pawl__list_remove(&connection->link);
    pawl__free(&connection->server->env->alloc, connection, sizeof *connection);
}

/*
 * Closing with unread bytes would reset the connection and lose the response. So we end
 * our side and read for a while.
 */
void pawl__connection_linger(struct pawl_connection *connection)
{
    pawl__exchange_free(connection->exchange);
    connection->exchange = NULL;
    free_rest(connection);
    if (connection->ended) {
        pawl__connection_drop(connection, false);
        return;
    }
    pawl__transport_end(connection);
    pawl__connection_move(connection, LINGERING);
    set_state_timer(connection);
    pawl__connection_read(connection);
}

static void read_and_forget(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    size_t got = 0;
    int status =
        pawl__poller_read(server->poller, connection->fd, server->read_buffer, READ_BYTES, &got);

    connection->moved_bytes += got;
    if (status == PAWL_EBUSY)
        connection->readable = false;
    else if (status != PAWL_OK || got == 0 || connection->moved_bytes > LINGER_BYTES_MAX)
        pawl__connection_drop(connection, false);
}

/* ---- responses that the loop sends ------------------------------------------------------- */

/* Goes on sending a response that is complete. */
static void go_on_sending(struct pawl_connection *connection)
{
    struct pawl_exchange *exchange = connection->exchange;
    size_t before = exchange->sent;
    int status = pawl__response_send(exchange, connection);

    connection->moved_bytes += exchange->sent - before;
    if (status == PAWL_EBUSY)
        set_state_timer(connection);
    else if (status != PAWL_OK)
        pawl__connection_drop(connection, true);
    else if (!exchange->keep_alive)
        pawl__connection_linger(connection);
    else
        pawl__connection_become_idle(connection);
}

/* Responds with a problem. `close`: the rest of what the client sends cannot be parsed. */
static void refuse(struct pawl_connection *connection, int status, const char *detail, bool close)
{
    struct pawl_exchange *exchange = connection->exchange;

    if (!exchange)
        exchange = pawl__exchange_new(connection->server, connection, connection->server->now_ns);
    if (!exchange) {
        pawl__connection_drop(connection, true);
        return;
    }
    connection->exchange = exchange;
    exchange->keep_alive = !close && exchange->framing.keep_alive;
    if (status == 503)
        pawl__exchange_add_field(exchange, "Retry-After", "1");
    pawl__response_problem(exchange, status, detail);
    pawl__response_prepare(exchange, status);
    pawl__exchange_observe(exchange);
    pawl__connection_move(connection, SENDING);
    go_on_sending(connection);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* The next request can come. */
void pawl__connection_become_idle(struct pawl_connection *connection)
{
    pawl__exchange_free(connection->exchange);
    connection->exchange = NULL;
    pawl__connection_move(connection, IDLE);
    set_state_timer(connection);
    if (atomic_load(&connection->server->draining) ||
        (connection->ended && !connection->readable && !connection->rest))
        pawl__connection_drop(connection, false);
    else if (connection->rest || connection->readable)
        pawl__connection_read(connection);
}

/* Whatever a handler does next, the loop looks again when there is something to do here. */
static bool is_needed(const struct pawl_connection *connection)
{
    return connection->rest || connection->readable || connection->ended ||
           atomic_load(&connection->server->draining);
}

static void set_handed_timer(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    int64_t look_ns = server->now_ns + server->limits.idle_ms * NS_PER_MS;
    int64_t deadline_ns = connection->exchange->deadline_ns;

    pawl__connection_set_timer(connection, deadline_ns < look_ns ? deadline_ns : look_ns);
}

/* RESPONDED: the loop owns it again. false: a handler still has it; it will be posted if `needed`.
 */
static bool reclaim(struct pawl_connection *connection, bool needed)
{
    struct pawl_server *server = connection->server;
    bool responded;

    pawl__server_lock(server);
    responded = connection->turn == TURN_RESPONDED;
    if (responded)
        connection->turn = TURN_LOOP;
    else if (needed && connection->turn != TURN_LOOP)
        connection->wanted = true;
    pawl__server_unlock(server);
    return responded;
}

static void hand_over(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    struct pawl_exchange *exchange = connection->exchange;
    uint32_t flags = exchange->match.route->flags;
    bool on_loop = flags & PAWL_ROUTE_ON_LOOP;
    int status = PAWL_OK;

    (void)atomic_fetch_add(&server->requests_total, 1);
    pawl__connection_move(connection, HANDED);
    set_handed_timer(connection);
    pawl__server_lock(server);
    connection->turn = TURN_HANDED;
    connection->wanted = !on_loop && is_needed(connection);
    server->outstanding++;
    exchange->gone = connection->ended;
    pawl__server_unlock(server);
    if (on_loop)
        exchange->match.route->handle(exchange, server->options.ctx);
    else
        status = pawl__workers_push(
            flags & PAWL_ROUTE_COMPUTES ? server->computers : server->workers, &exchange->link);
    if (status != PAWL_OK) {
        pawl__server_lock(server);
        connection->turn = TURN_LOOP;
        server->outstanding--;
        pawl__server_unlock(server);
        refuse(connection, 503, "The server has more to do than it can; try again later.", false);
    } else if (on_loop && reclaim(connection, is_needed(connection))) {
        pawl__connection_become_idle(connection);
    }
}

static bool has_body(const struct pawl_exchange *exchange)
{
    return exchange->framing.chunked || exchange->framing.length > 0;
}

/* What does not fit is not worth waiting for: the client sends after a while anyway. */
static bool send_continue(struct pawl_connection *connection)
{
    size_t written = 0;
    int status =
        pawl__transport_write(connection, pawl__str(continue_head), pawl__str(""), &written);

    if (status != PAWL_OK || written == sizeof continue_head - 1)
        return true;
    pawl__connection_drop(connection, true);
    return false;
}

/* A head is complete. false: the connection does not go on with a body. */
static bool begin_body(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    struct pawl_exchange *exchange = connection->exchange;
    const struct pawl_route *route;
    const char *detail = "";
    bool expects;
    int status;

    exchange->framing = pawl__http_parser_framing(&connection->parser);
    expects = exchange->framing.minor > 0 && has_body(exchange) &&
              pawl__exchange_field(exchange, "expect").ptr;
    status = pawl__request_check(exchange, &detail);
    if (status != 0 && (has_body(exchange) || status == 400 || status >= 500)) {
        refuse(connection, status, detail, true);
        return false;
    }
    if (status != 0) { /* at the end of the message, which is here: the next may follow */
        exchange->refusal = status;
        exchange->refusal_detail = detail;
        pawl__connection_move(connection, BODY);
        return true;
    }
    route = exchange->match.route;
    exchange->keep_alive = exchange->framing.keep_alive;
    if (!(route->flags & PAWL_ROUTE_NO_DEADLINE))
        exchange->deadline_ns =
            server->now_ns +
            NS_PER_MS * (route->deadline_ms > 0 ? route->deadline_ms : server->limits.request_ms);
    pawl__connection_move(connection, BODY);
    set_state_timer(connection);
    return !expects || send_continue(connection);
}

static void refuse_bad(struct pawl_connection *connection)
{
    struct pawl_exchange *exchange = connection->exchange;

    if (exchange->refusal)
        refuse(connection, exchange->refusal, pawl__request_refusal_detail(exchange->refusal),
               true);
    else
        refuse(connection, 400, pawl__http_parser_problem(&connection->parser), true);
}

/* Keeps what was read behind a request. false: no memory. */
bool pawl__connection_keep_rest(struct pawl_connection *connection, const char *bytes,
                                size_t size_bytes)
{
    if (connection->rest) {
        connection->rest_at = connection->rest_len - (uint32_t)size_bytes;
        if (size_bytes == 0)
            free_rest(connection);
        return true;
    }
    if (size_bytes == 0)
        return true;
    connection->rest = pawl__alloc(&connection->server->env->alloc, size_bytes);
    if (!connection->rest)
        return false;
    memcpy(connection->rest, bytes, size_bytes);
    connection->rest_len = (uint32_t)size_bytes;
    return true;
}

static bool begin_head(struct pawl_connection *connection)
{
    connection->exchange =
        pawl__exchange_new(connection->server, connection, connection->server->now_ns);
    if (!connection->exchange) {
        pawl__connection_drop(connection, true);
        return false;
    }
    pawl__connection_move(connection, HEAD);
    set_state_timer(connection);
    pawl__http_parser_init(&connection->parser, pawl__request_sink, connection);
    return true;
}

static bool framing_is_excessive(const struct pawl_connection *connection)
{
    return connection->state == BODY &&
           pawl__http_parser_framing_bytes(&connection->parser) >
               FRAMING_BYTES_MAX + 8 * (uint64_t)connection->exchange->body.len;
}

/* All bytes of a piece are parsed, and the request goes on. */
static void end_piece(struct pawl_connection *connection)
{
    free_rest(connection);
    if (connection->state != BODY)
        return;
    connection->moved_bytes = connection->exchange->body.len;
    if (framing_is_excessive(connection))
        refuse(connection, 413, "The framing of the chunks is larger than the body.", true);
    else
        set_state_timer(connection);
}

/* How much of so many bytes may be parsed: of a head no more than its limit. */
static size_t share_of_head(const struct pawl_connection *connection, size_t size_bytes)
{
    uint64_t left = connection->server->limits.head_bytes_max - connection->moved_bytes;

    return connection->state != HEAD || size_bytes < left ? size_bytes : (size_t)left;
}

static void end_message(struct pawl_connection *connection)
{
    struct pawl_exchange *exchange = connection->exchange;

    if (exchange->refusal)
        refuse(connection, exchange->refusal, exchange->refusal_detail, false);
    else
        hand_over(connection);
}

/* Parses until the bytes or the request are over. */
static void feed(struct pawl_connection *connection, const char *bytes, size_t size_bytes)
{
    size_t at = 0, used;

    if (connection->state == IDLE && !begin_head(connection))
        return;
    for (;;) {
        size_t share = share_of_head(connection, size_bytes - at);
        enum pawl_http_parse result =
            pawl__http_parser_feed(&connection->parser, bytes + at, share, &used);

        at += used;
        if (connection->state == HEAD)
            connection->moved_bytes += used;
        switch (result) {
        case PAWL_HTTP_PARSE_MORE:
            if (at < size_bytes)
                refuse(connection, 431, pawl__request_refusal_detail(431), true);
            else
                end_piece(connection);
            return;
        case PAWL_HTTP_PARSE_HEAD:
            if (!begin_body(connection))
                return;
            break;
        case PAWL_HTTP_PARSE_END:
            if (pawl__connection_keep_rest(connection, bytes + at, size_bytes - at))
                end_message(connection);
            else
                pawl__connection_drop(connection, true);
            return;
        case PAWL_HTTP_PARSE_BAD:
            refuse_bad(connection);
            return;
        }
    }
}

static void read_and_feed(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    size_t got = 0;
    int status;

    if (connection->rest) {
        feed(connection, connection->rest + connection->rest_at,
             connection->rest_len - connection->rest_at);
        return;
    }
    status = pawl__transport_read(connection, server->read_buffer, READ_BYTES, &got);
    if (status == PAWL_EBUSY) {
        connection->readable = false;
        return;
    }
    if (status != PAWL_OK || got == 0) {
        pawl__connection_drop(connection, false);
        return;
    }
    /* Fewer than asked for: that was all, and more comes with an event. Not so the end, which may
     * have come before, and a record of TLS. */
    if (got < READ_BYTES && !connection->ended && !connection->tls)
        connection->readable = false;
    feed(connection, server->read_buffer, got);
}

void pawl__connection_read(struct pawl_connection *connection)
{
    if (!pawl__list_linked(&connection->ready_link))
        pawl__list_push_back(&connection->server->ready, &connection->ready_link);
}

/* One piece; if there is more, in the next turn. */
static void read_a_piece(struct pawl_connection *connection)
{
    if (connection->state == LINGERING)
        read_and_forget(connection);
    else
        read_and_feed(connection);
    if (connection->state == LINGERING || connection->state == IDLE || connection->state == HEAD ||
        connection->state == BODY) {
        if (connection->readable || connection->rest)
            pawl__connection_read(connection);
    }
}

/* ---- what happens to it ------------------------------------------------------------------ */

/* The handler, if one has the exchange, learns that nobody waits for it. */
void pawl__connection_tell_gone(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;

    pawl__server_lock(server);
    if (connection->turn == TURN_HANDED)
        pawl__exchange_tell_gone(connection->exchange);
    pawl__server_unlock(server);
}

/* While a handler has the exchange nothing is read. A client that ended its side may still read. */
static void event_in_hand(struct pawl_connection *connection, uint32_t what)
{
    if (reclaim(connection, is_needed(connection)))
        pawl__connection_become_idle(connection);
    else if (what & PAWL_POLL_BROKEN)
        pawl__connection_drop(connection, true);
    else if (what & PAWL_POLL_ENDED)
        pawl__connection_tell_gone(connection);
}

void pawl__connection_event(struct pawl_connection *connection, uint32_t what)
{
    if (connection->state == DEAD)
        return;
    if (what & (PAWL_POLL_READABLE | PAWL_POLL_ENDED))
        connection->readable = true;
    if (what & PAWL_POLL_ENDED)
        connection->ended = true;
    if (connection->state == HANDED)
        event_in_hand(connection, what);
    else if (connection->state == STREAMING)
        pawl__stream_event(connection, what);
    else if (what & PAWL_POLL_BROKEN)
        pawl__connection_drop(connection, true);
    else if (connection->state == HANDSHAKE)
        pawl__handshake_event(connection);
    else if (connection->state == SENDING)
        go_on_sending(connection);
    else if (connection->readable || connection->rest)
        read_a_piece(connection);
}

bool pawl__connection_post(struct pawl_connection *connection)
{
    if (pawl__list_linked(&connection->posted_link))
        return false;
    pawl__list_push_back(&connection->server->posted, &connection->posted_link);
    return true;
}

/* Posted by the thread that responded: the loop owns it again. Or by one that writes a stream. */
void pawl__connection_posted(struct pawl_connection *connection)
{
    if (connection->state == STREAMING) {
        pawl__stream_event(connection, 0);
        return;
    }
    if (connection->state == HANDSHAKE) {
        pawl__handshake_posted(connection);
        return;
    }
    if (connection->state != HANDED)
        return;
    if (connection->exchange && connection->exchange->stream) {
        pawl__connection_move(connection, STREAMING);
        if (atomic_load(&connection->server->draining))
            pawl__connection_drain(connection);
        pawl__stream_event(connection, 0);
        return;
    }
    if (!connection->exchange) {
        pawl__connection_become_idle(connection);
        return;
    }
    pawl__connection_move(connection, SENDING);
    go_on_sending(connection);
}

static void deadline_in_hand(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    int64_t since_ns;

    if (reclaim(connection, false)) {
        since_ns = connection->since_ns;
        pawl__connection_become_idle(connection);
        if (connection->state == IDLE) {
            connection->since_ns = since_ns;
            set_state_timer(connection);
        }
        return;
    }
    pawl__server_lock(server);
    since_ns = connection->turn == TURN_HANDED ? connection->exchange->deadline_ns : PAWL_FOREVER;
    pawl__server_unlock(server);
    if (since_ns > server->now_ns) {
        pawl__connection_set_timer(connection,
                                   server->now_ns + server->limits.idle_ms * NS_PER_MS < since_ns
                                       ? server->now_ns + server->limits.idle_ms * NS_PER_MS
                                       : since_ns);
        return;
    }
    if (pawl__connection_take_back(connection))
        refuse(connection, 504,
               "The request took longer than it may; what was begun goes on without a response.",
               true);
}

void pawl__connection_timer(struct pawl_connection *connection)
{
    switch ((enum connection_state)connection->state) {
    case HEAD:
        refuse(connection, 408, "The head of the request did not come in time.", true);
        break;
    case BODY:
        refuse(connection, 408, "The body of the request did not come in time.", true);
        break;
    case HANDED:
        deadline_in_hand(connection);
        break;
    case STREAMING:
        pawl__stream_timer(connection);
        break;
    case SENDING:
        pawl__connection_drop(connection, true);
        break;
    case HANDSHAKE:
    case IDLE:
    case LINGERING:
        pawl__connection_drop(connection, false);
        break;
    case DEAD:
        break;
    }
}

void pawl__connection_drain(struct pawl_connection *connection)
{
    if (connection->state == HANDED && reclaim(connection, true))
        pawl__connection_become_idle(connection);
    else if (connection->state == STREAMING && connection->exchange->stream->socket)
        pawl__websocket_close(connection->exchange->stream->socket, PAWL_CLOSE_GOING_AWAY, "");
    else if (connection->state == STREAMING)
        pawl__connection_tell_gone(connection);
    else if (connection->state == IDLE || connection->state == HANDSHAKE)
        pawl__connection_drop(connection, false);
}

/* ---- responses that are not read --------------------------------------------------------- */

/* What a client is taken to have read when it begins: a response that was just begun is not dropped
 * for one that nobody has read for a while. */
#define RATE_CREDIT_BYTES ((uint64_t)1 << 20)

static bool is_unread(const struct pawl_connection *connection)
{
    return connection->state == SENDING ||
           (connection->state == STREAMING && connection->exchange->stream->blocked);
}

/* Bytes per second since it did not fit at once. Those that have just begun are taken to read. */
static uint64_t rate_of(const struct pawl_connection *connection)
{
    int64_t ns = connection->server->now_ns - connection->since_ns;

    return (connection->moved_bytes + RATE_CREDIT_BYTES) / (1 + (uint64_t)(ns / NS_PER_S));
}

/* How long what it holds would be held. */
static uint64_t burden_of(const struct pawl_connection *connection)
{
    return atomic_load(&connection->exchange->reply_held) / (rate_of(connection) / 1024 + 1);
}

/* Whose end frees most for the least that is lost. NULL: at most one holds anything; that goes on,
 * whatever it holds. */
static struct pawl_connection *find_slowest(struct pawl_server *server)
{
    struct pawl_connection *connection, *slowest = NULL;
    uint32_t count = 0;

    PAWL_LIST_FOR_EACH (connection, &server->connections, link) {
        if (!is_unread(connection) || atomic_load(&connection->exchange->reply_held) == 0)
            continue;
        count++;
        if (!slowest || burden_of(connection) > burden_of(slowest))
            slowest = connection;
    }
    return count > 1 ? slowest : NULL;
}

void pawl__connections_relieve(struct pawl_server *server)
{
    struct pawl_connection *slowest;
    int64_t count = 0;

    while (atomic_load(&server->reply_bytes) > server->limits.replies_bytes_max &&
           (slowest = find_slowest(server)) != NULL) {
        pawl__connection_drop(slowest, true);
        count++;
    }
    if (count > 0 && server->options.log)
        pawl_log(server->options.log, PAWL_LOG_WARN,
                 "clients that read slowly were disconnected: unread responses held too much",
                 pawl_log_int("count", count));
}

/* ---- beginning --------------------------------------------------------------------------- */

static void begin(struct pawl_connection *connection, const char *refusal)
{
    struct pawl_server *server = connection->server;

    pawl__list_push_back(&server->connections, &connection->link);
    connection->refused = refusal != NULL;
    if (refusal)
        server->refused_count++;
    else
        server->connection_count++;
    atomic_store(&server->connections_now, server->connection_count);
    connection->since_ns = server->now_ns;
    set_state_timer(connection);
    if (refusal) {
        (void)atomic_fetch_add(&server->connections_refused, 1);
        refuse(connection, 503, refusal, true);
        return;
    }
    (void)atomic_fetch_add(&server->connections_total, 1);
}

/* A trusted proxy has the connections of all its clients. 0: any number. */
static uint32_t connections_max_of(const struct pawl_server *server, const struct pawl_peer *peer)
{
    const struct pawl_addresses *trusted = server->options.trusted_proxies;

    return trusted && pawl__addresses_have(trusted, peer->address)
               ? 0
               : server->limits.connections_per_address_max;
}

int pawl__connection_open(struct pawl_server *server, int fd, const struct pawl_peer *peer,
                          bool secure, const char *refusal)
{
    static const char too_many[] = "This address has as many connections as it may.";
    struct pawl_connection *connection =
        pawl__alloc_zeroed(&server->env->alloc, sizeof *connection);
    int status;

    if (!connection)
        return PAWL_ENOMEM;
    connection->server = server;
    connection->fd = fd;
    connection->peer = *peer;
    status = pawl__peers_add(&server->peers, peer, connections_max_of(server, peer),
                             &connection->peer_entry);
    if (status == PAWL_ELIMIT && !refusal)
        refusal = too_many;
    /* Refused ones stay for a while: they must not take the places of others. */
    if (status != PAWL_ENOMEM)
        status = refusal && server->refused_count >= REFUSED_MAX
                     ? PAWL_ELIMIT
                     : pawl__timers_add(&server->timers, &connection->timer);
    connection->state = secure ? HANDSHAKE : IDLE;
    if (status == PAWL_OK && secure && refusal)
        status = PAWL_ELIMIT; /* to refuse it would cost a handshake */
    if (status == PAWL_OK)
        status = pawl__poller_watch(server->poller, fd, connection, NULL);
    if (status != PAWL_OK) {
        pawl__timers_remove(&server->timers, &connection->timer);
        pawl__peers_remove(&server->peers, connection->peer_entry);
        pawl__free(&server->env->alloc, connection, sizeof *connection);
        return status;
    }
    begin(connection, refusal);
    return PAWL_OK;
}
