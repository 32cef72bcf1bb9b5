/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket on real sockets; the frames themselves are tested in frame.c. */
#include "http/websocket.h"
#include "unit/http/serving.h"

#include <sys/socket.h>

struct world {
    struct serving s;
    struct pawl_websocket *socket; /* the last one; guarded by s.mutex */
    int opened, closed, last_code, messages, writable;
    bool hold;
};

static void lock(struct world *w)
{
    pawl_mutex_lock_always(w->s.env, w->s.mutex);
}

static void unlock(struct world *w)
{
    pawl_cond_broadcast(w->s.env, w->s.cond);
    pawl_mutex_unlock(w->s.env, w->s.mutex);
}

static void on_message(struct pawl_websocket *socket, void *ctx, bool text, struct pawl_str bytes)
{
    struct world *w = ctx;

    lock(w);
    w->messages++;
    pawl_cond_broadcast(w->s.env, w->s.cond);
    while (w->hold)
        (void)!pawl_cond_wait(w->s.env, w->s.cond, w->s.mutex, PAWL_FOREVER);
    unlock(w);
    if (pawl__str_is(bytes, "close"))
        pawl__websocket_close(socket, 3000, "as you say");
    else
        (void)!pawl__websocket_send(socket, text, bytes);
}

static void on_writable(struct pawl_websocket *socket, void *ctx)
{
    struct world *w = ctx;

    (void)socket;
    lock(w);
    w->writable++;
    unlock(w);
}

static void on_closed(struct pawl_websocket *socket, void *ctx, int code)
{
    struct world *w = ctx;

    lock(w);
    w->closed++;
    w->last_code = code;
    if (w->socket == socket)
        w->socket = NULL;
    unlock(w);
}

static const struct pawl_websocket_handler handler = {
    .message_bytes_max = 100000,
    .message = on_message,
    .writable = on_writable,
    .closed = on_closed,
};

static void serve_socket(struct pawl_exchange *exchange, void *ctx)
{
    struct world *w = ctx;
    struct pawl_websocket *socket;

    if (pawl__websocket_accept(exchange, &handler, w, "chat", &socket) != PAWL_OK)
        return;
    lock(w);
    w->opened++;
    w->socket = socket;
    unlock(w);
}

static const struct pawl_route routes[] = {
    {.method = "GET", .path = "/socket", .handle = serve_socket},
    {.method = "GET", .path = "/loop-socket", .handle = serve_socket, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET", .path = "/hello", .handle = serve_hello},
};

static void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    serving_open(&w->s);
    w->s.options.routes = routes;
    w->s.options.route_count = sizeof routes / sizeof routes[0];
}

#define FIELDS "Host: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define OPEN_REQUEST "GET /socket HTTP/1.1\r\n" FIELDS VERSION KEY "\r\n"

/* Reads until so many bytes are there. */
static void await_bytes(struct client *c, size_t count)
{
    while (c->in.len < count) {
        if (!client_read(c))
            fail_msg("the connection ended");
    }
}

static void drop_bytes(struct client *c, size_t count)
{
    memmove(c->in.ptr, c->in.ptr + count, c->in.len - count);
    c->in.len -= count;
}

static void open_socket(struct client *c, struct world *w)
{
    char text[512];

    client_open(c, &w->s);
    client_send(c, OPEN_REQUEST);
    assert_int_equal(client_status(c, text, sizeof text), 101);
}

static void send_frame(struct client *c, int first, const char *payload, size_t size)
{
    static const char mask[4] = {1, 2, 3, 4};
    char bytes[65536 + 8];
    size_t at = 0;

    assert_true(size < 65536);
    bytes[at++] = (char)first;
    if (size < 126) {
        bytes[at++] = (char)(0x80 | size);
    } else {
        bytes[at++] = (char)(0x80 | 126);
        bytes[at++] = (char)(size >> 8);
        bytes[at++] = (char)size;
    }
    memcpy(bytes + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < size; i++)
        bytes[at + i] = (char)(payload[i] ^ mask[i % 4]);
    client_send_bytes(c, bytes, at + size);
}

static void send_text(struct client *c, const char *text)
{
    send_frame(c, 0x81, text, strlen(text));
}

/* The next frame is this one; short ones only. */
static void expect_frame(struct client *c, int first, const char *payload, size_t size)
{
    await_bytes(c, 2 + size);
    assert_int_equal((unsigned char)c->in.ptr[0], first);
    assert_int_equal((unsigned char)c->in.ptr[1], size);
    assert_memory_equal(c->in.ptr + 2, payload, size);
    drop_bytes(c, 2 + size);
}

static void await_closed(struct world *w, int count, int code)
{
    await_count(&w->s, &w->closed, count);
    assert_int_equal(w->last_code, code);
}

static void a_handshake_is_as_the_rfc_has_it(void **state)
{
    struct world w;
    struct client c;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, OPEN_REQUEST);
    assert_int_equal(client_status(&c, text, sizeof text), 101);
    assert_non_null(strstr(text, "HTTP/1.1 101 Switching Protocols\r\n"));
    assert_non_null(strstr(text, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_non_null(strstr(text, "Upgrade: websocket\r\nConnection: Upgrade\r\n"));
    assert_non_null(strstr(text, "Sec-WebSocket-Protocol: chat\r\n"));
    assert_null(strstr(text, "chunked"));
    client_close(&c);
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    serving_close(&w.s);
}

static void improper_requests_are_refused(void **state)
{
    static const struct {
        const char *request;
        int status;
    } requests[] = {
        {GET("/socket"), 426},
        {"GET /socket HTTP/1.1\r\n" FIELDS "Sec-WebSocket-Version: 8\r\n" KEY "\r\n", 426},
        {"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n" VERSION KEY
         "\r\n",
         426},
        {"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n" VERSION KEY "\r\n", 426},
        {"GET /socket HTTP/1.1\r\n" FIELDS VERSION "\r\n", 400},
        {"GET /socket HTTP/1.1\r\n" FIELDS VERSION "Sec-WebSocket-Key: c2hvcnQ=\r\n\r\n", 400},
        {"GET /socket HTTP/1.1\r\n" FIELDS VERSION
         "Sec-WebSocket-Key: !!!!IHNhbXBsZSBub25jZQ==\r\n\r\n",
         400},
    };
    struct world w;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        assert_int_equal(ask(&w.s, requests[i].request, text, sizeof text), requests[i].status);
        if (requests[i].status == 426)
            assert_non_null(strstr(text, "Sec-WebSocket-Version: 13\r\n"));
    }
    assert_int_equal(w.opened, 0);
    serving_close(&w.s);
}

static void messages_go_both_ways(void **state)
{
    static char big[60000];
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "hello");
    expect_frame(&c, 0x81, "hello", 5);
    send_frame(&c, 0x02, "bi", 2);
    send_frame(&c, 0x89, "between", 7);
    send_frame(&c, 0x80, "nary", 4);
    expect_frame(&c, 0x8a, "between", 7);
    expect_frame(&c, 0x82, "binary", 6);
    memset(big, 'b', sizeof big);
    send_frame(&c, 0x82, big, sizeof big);
    await_bytes(&c, 4 + sizeof big);
    assert_memory_equal(c.in.ptr + 4, big, sizeof big);
    drop_bytes(&c, 4 + sizeof big);
    for (int i = 0; i < 100; i++) /* many at once are handled in order */
        send_text(&c, i % 2 ? "odd" : "even");
    for (int i = 0; i < 100; i++)
        expect_frame(&c, 0x81, i % 2 ? "odd" : "even", i % 2 ? 3 : 4);
    send_frame(&c, 0x88, "\x03\xe8", 2);
    expect_frame(&c, 0x88, "\x03\xe8", 2);
    assert_ended(&c);
    client_close(&c);
    await_closed(&w, 1, 1000);
    serving_close(&w.s);
}

static void frames_may_come_with_the_request(void **state)
{
    struct world w;
    struct client c;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send_bytes(&c, OPEN_REQUEST "\x81\x82\0\0\0\0hi\x88\x80\0\0\0\0",
                      sizeof OPEN_REQUEST - 1 + 14);
    assert_int_equal(client_status(&c, text, sizeof text), 101);
    expect_frame(&c, 0x81, "hi", 2);
    expect_frame(&c, 0x88, "", 0);
    assert_ended(&c);
    client_close(&c);
    await_closed(&w, 1, PAWL_CLOSE_NO_CODE);
    serving_close(&w.s);
}

static void the_server_can_close_first(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "close");
    expect_frame(&c, 0x88,
                 "\x0b\xb8"
                 "as you say",
                 12);
    send_text(&c, "too late"); /* is dropped */
    send_frame(&c, 0x88, "\x0b\xb8", 2);
    assert_ended(&c);
    client_close(&c);
    await_closed(&w, 1, 3000);
    assert_int_equal(w.messages, 1);
    serving_close(&w.s);
}

static void a_client_that_does_not_close_is_dropped(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    w.s.options.limits.linger_ms = 30;
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "close");
    await_closed(&w, 1, 3000);
    client_close(&c);
    serving_close(&w.s);
}

static void talking_on_after_a_close_buys_no_time(void **state)
{
    struct world w;
    struct client c;
    int closed = 0;

    (void)state;
    open_world(&w);
    w.s.options.limits.linger_ms = 100;
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "close");
    while (!closed) {
        send_text(&c, "more and more");
        assert_code(pawl_env_sleep_until(w.s.env, pawl_env_monotonic_ns(w.s.env) + 5000000),
                    PAWL_OK);
        lock(&w);
        closed = w.closed;
        unlock(&w);
    }
    assert_int_equal(w.last_code, 3000);
    client_close(&c);
    serving_close(&w.s);
}

static void violations_close_with_their_code(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    open_socket(&c, &w);
    send_frame(&c, 0x83, "", 0);
    expect_frame(&c, 0x88, "\x03\xea", 2);
    assert_ended(&c);
    client_close(&c);
    await_closed(&w, 1, 1002);
    open_socket(&c, &w);
    send_frame(&c, 0x81, "\xff", 1);
    expect_frame(&c, 0x88, "\x03\xef", 2);
    client_close(&c);
    await_closed(&w, 2, 1007);
    open_socket(&c, &w);
    for (int i = 0; i < 3; i++) {
        static char part[50000];

        send_frame(&c, i == 0 ? 0x02 : 0x00, part, sizeof part);
    }
    expect_frame(&c, 0x88, "\x03\xf1", 2);
    client_close(&c);
    await_closed(&w, 3, 1009);
    serving_close(&w.s);
}

/* Whether a client that replied to its first ping got a second one before it was dropped. */
static bool second_ping_comes(int heartbeat_ms)
{
    struct world w;
    struct client c;
    bool came;

    open_world(&w);
    w.s.options.limits.heartbeat_ms = heartbeat_ms;
    serving_start(&w.s);
    open_socket(&c, &w);
    expect_frame(&c, 0x89, "", 0);
    send_frame(&c, 0x8a, "", 0);
    while (c.in.len < 2 && client_read(&c))
        ;
    came = c.in.len >= 2;
    if (came)
        expect_frame(&c, 0x89, "", 0);
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    client_close(&c);
    serving_close(&w.s);
    return came;
}

/* A machine that stood still between the ping and its reply made the client a silent one: a longer
   heartbeat then tells the two apart. */
static void a_silent_client_is_pinged_and_dropped(void **state)
{
    int heartbeat_ms = 30;

    (void)state;
    while (!second_ping_comes(heartbeat_ms)) {
        heartbeat_ms *= 10;
        assert_true(heartbeat_ms <= 30000);
    }
}

static void release(struct world *w)
{
    lock(w);
    w->hold = false;
    unlock(w);
}

static void pings_are_answered_while_a_message_is_handled(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    w.hold = true;
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "first");
    await_count(&w.s, &w.messages, 1);
    send_frame(&c, 0x89, "a", 1);
    expect_frame(&c, 0x8a, "a", 1);
    send_text(&c, "second"); /* and this waits, with what is behind it */
    send_frame(&c, 0x89, "b", 1);
    release(&w);
    expect_frame(&c, 0x81, "first", 5);
    await_count(&w.s, &w.messages, 2);
    for (int i = 0; i < 2; i++) { /* in either order: the message is handled by another thread */
        await_bytes(&c, 3);
        if ((unsigned char)c.in.ptr[0] == 0x8a)
            expect_frame(&c, 0x8a, "b", 1);
        else
            expect_frame(&c, 0x81, "second", 6);
    }
    client_close(&c);
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    serving_close(&w.s);
}

static void a_client_that_answers_pings_is_kept_while_a_message_is_handled(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    w.hold = true;
    w.s.options.limits.heartbeat_ms = 2000;
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "held");
    await_count(&w.s, &w.messages, 1);
    expect_frame(&c, 0x89, "", 0);
    send_frame(&c, 0x8a, "", 0);
    expect_frame(&c, 0x89, "", 0);
    release(&w);
    expect_frame(&c, 0x81, "held", 4);
    client_close(&c);
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    serving_close(&w.s);
}

static void hang_ups_while_a_message_is_handled_are_told_afterwards(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    w.hold = true;
    serving_start(&w.s);
    open_socket(&c, &w);
    send_text(&c, "held");
    await_count(&w.s, &w.messages, 1);
    client_close(&c);
    await_connections(&w.s, 1); /* nothing is read meanwhile */
    assert_int_equal(w.closed, 0);
    release(&w);
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    await_connections(&w.s, 0);
    serving_close(&w.s);
}

static void a_client_that_does_not_read_makes_senders_wait(void **state)
{
    static char big[30000];
    struct world w;
    struct client c;
    int status = PAWL_OK, sent = 0;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    open_socket(&c, &w);
    await_count(&w.s, &w.opened, 1);
    while ((status = pawl__websocket_send(w.socket, false, pawl__str_make(big, sizeof big))) ==
           PAWL_OK)
        sent++;
    assert_code(status, PAWL_EBUSY);
    for (int i = 0; i < sent; i++) {
        await_bytes(&c, 4 + sizeof big);
        drop_bytes(&c, 4 + sizeof big);
    }
    await_count(&w.s, &w.writable, 1);
    assert_code(pawl__websocket_send(w.socket, true, pawl__str("\xff")), PAWL_EINVAL);
    assert_code(pawl__websocket_send(w.socket, true, pawl__str("again")), PAWL_OK);
    expect_frame(&c, 0x81, "again", 5);
    client_close(&c);
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    serving_close(&w.s);
}

static void a_flood_of_pings_that_nobody_reads_is_dropped(void **state)
{
    static char many[64 * 131];
    struct world w;
    struct client c;
    size_t at = 0;

    (void)state;
    open_world(&w);
    w.s.options.limits.stream_bytes_max = 4096;
    serving_start(&w.s);
    open_socket(&c, &w);
    for (int i = 0; i < 64; i++, at += 131) {
        many[at] = (char)0x89;
        many[at + 1] = (char)(0x80 | 125);
    }
    for (int i = 0; i < 100000 && w.s.server; i++) {
        const struct pawl_socket_wait wait = {w.s.env, NULL, soon_ns(&w.s)};
        size_t written;

        if (pawl__socket_write(&c.socket, many, sizeof many, &wait, &written, NULL) != PAWL_OK)
            break;
    }
    await_closed(&w, 1, PAWL_CLOSE_ABNORMAL);
    client_close(&c);
    serving_close(&w.s);
}

/* Opened, spoken to and cut at every byte, by a close or a reset. */
static void hang_ups_at_every_byte_leave_nothing(void **state)
{
    static const char bytes[] = OPEN_REQUEST "\x81\x82\0\0\0\0hi\x01\x81\0\0\0\0h\x89\x81\0\0\0\0p"
                                             "\x80\x81\0\0\0\0o\x88\x82\0\0\0\0\x03\xe8";
    struct world w;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (size_t at = 0; at < sizeof bytes; at++) {
        struct client c;

        client_open(&c, &w.s);
        client_send_bytes(&c, bytes, at);
        if (at % 2) {
            const struct linger now = {.l_onoff = 1};

            (void)setsockopt(c.socket.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        client_close(&c);
    }
    await_connections(&w.s, 0);
    assert_int_equal(ask(&w.s, GET("/hello"), text, sizeof text), 200);
    pawl__server_stop(w.s.server);
    assert_int_equal(w.closed, w.opened);
    serving_close(&w.s);
}

static void a_drain_closes_with_going_away(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    open_socket(&c, &w);
    await_count(&w.s, &w.opened, 1);
    assert_code(pawl__server_drain(w.s.server, pawl_env_monotonic_ns(w.s.env)), PAWL_ETIMEDOUT);
    expect_frame(&c, 0x88, "\x03\xe9", 2);
    send_frame(&c, 0x88, "\x03\xe9", 2);
    assert_ended(&c);
    client_close(&c);
    assert_code(pawl__server_drain(w.s.server, soon_ns(&w.s)), PAWL_OK);
    await_closed(&w, 1, PAWL_CLOSE_GOING_AWAY);
    serving_close(&w.s);
}

static void stopping_closes_every_socket(void **state)
{
    struct world w;
    struct client c[8];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (int i = 0; i < 8; i++)
        open_socket(&c[i], &w);
    await_count(&w.s, &w.opened, 8);
    pawl__server_stop(w.s.server);
    assert_int_equal(w.closed, 8);
    for (int i = 0; i < 8; i++)
        client_close(&c[i]);
    serving_close(&w.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handshake_is_as_the_rfc_has_it),
        cmocka_unit_test(improper_requests_are_refused),
        cmocka_unit_test(messages_go_both_ways),
        cmocka_unit_test(frames_may_come_with_the_request),
        cmocka_unit_test(the_server_can_close_first),
        cmocka_unit_test(a_client_that_does_not_close_is_dropped),
        cmocka_unit_test(talking_on_after_a_close_buys_no_time),
        cmocka_unit_test(violations_close_with_their_code),
        cmocka_unit_test(a_silent_client_is_pinged_and_dropped),
        cmocka_unit_test(pings_are_answered_while_a_message_is_handled),
        cmocka_unit_test(a_client_that_answers_pings_is_kept_while_a_message_is_handled),
        cmocka_unit_test(hang_ups_while_a_message_is_handled_are_told_afterwards),
        cmocka_unit_test(a_client_that_does_not_read_makes_senders_wait),
        cmocka_unit_test(a_flood_of_pings_that_nobody_reads_is_dropped),
        cmocka_unit_test(hang_ups_at_every_byte_leave_nothing),
        cmocka_unit_test(a_drain_closes_with_going_away),
        cmocka_unit_test(stopping_closes_every_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
