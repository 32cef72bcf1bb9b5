/* SPDX-License-Identifier: Apache-2.0 */
/* Responses in pieces and server-sent events, on real sockets. */
#include "http/stream.h"
#include "unit/http/serving.h"

#include <stdatomic.h>

#define PIECE_BYTES 10000
#define LONG_BYTES ((size_t)20 << 20)

struct world {
    struct serving s;
    atomic_int calls;     /* of the function that goes on writing */
    atomic_int busy;      /* pieces that did not fit */
    atomic_int begun;     /* streams */
    atomic_int lost;      /* streams that found their client gone */
    atomic_size_t filled; /* most that was queued before it was full */
};

static struct world *world_of(void *ctx)
{
    return (struct world *)ctx; /* the server's ctx is its first member */
}

/* In handlers, which run on other threads than the test. */
#define DEMAND(call, code) PAWL_ASSERT((call) == (code))

/* The client may have gone. */
static void demand_written(int status, int expected)
{
    PAWL_ASSERT(status == expected || status == PAWL_EUNAVAILABLE);
}

static void serve_three(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    DEMAND(pawl__exchange_begin(exchange, 200, PAWL_LENGTH_UNKNOWN), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("one ")), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("")), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("two ")), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("three")), PAWL_OK);
    pawl__exchange_end(exchange, true);
}

static void serve_sized(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    DEMAND(pawl__exchange_begin(exchange, 200, 6), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("abc")), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("defg")), PAWL_EINVAL);
    demand_written(pawl__exchange_write(exchange, pawl__str("def")), PAWL_OK);
    pawl__exchange_end(exchange, true);
}

static void serve_short(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    DEMAND(pawl__exchange_begin(exchange, 200, 6), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("abc")), PAWL_OK);
    pawl__exchange_end(exchange, true);
}

static void serve_broken(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    DEMAND(pawl__exchange_begin(exchange, 200, PAWL_LENGTH_UNKNOWN), PAWL_OK);
    demand_written(pawl__exchange_write(exchange, pawl__str("abc")), PAWL_OK);
    pawl__exchange_end(exchange, false);
}

static void serve_wrong(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__exchange_add_field(exchange, "X", "a\r\nb");
    DEMAND(pawl__exchange_begin(exchange, 200, PAWL_LENGTH_UNKNOWN), PAWL_EINVAL);
    pawl__exchange_refuse(exchange, 500, "as expected");
}

/* As much as fits, and again when there is room. Where it is stands in the exchange's owner. */
static void go_on(struct pawl_exchange *exchange, void *ctx)
{
    struct world *w = ctx;
    static const char piece[PIECE_BYTES] = {0};
    size_t done = (size_t)(uintptr_t)pawl__exchange_owner(exchange), before = done;
    int status = PAWL_OK;

    atomic_fetch_add(&w->calls, 1);
    while (done < LONG_BYTES && status == PAWL_OK) {
        status = pawl__exchange_write(exchange, pawl__str_make(piece, sizeof piece));
        done += status == PAWL_OK ? sizeof piece : 0;
    }
    if (done - before > atomic_load(&w->filled))
        atomic_store(&w->filled, done - before);
    pawl__exchange_set_owner(exchange, (void *)(uintptr_t)done);
    if (status == PAWL_EBUSY) {
        atomic_fetch_add(&w->busy, 1);
        pawl__exchange_when_writable(exchange, go_on, w);
        return;
    }
    if (status == PAWL_EUNAVAILABLE)
        atomic_fetch_add(&w->lost, 1);
    pawl__exchange_end(exchange, status == PAWL_OK);
}

static void serve_long(struct pawl_exchange *exchange, void *ctx)
{
    DEMAND(pawl__exchange_begin(exchange, 200, PAWL_LENGTH_UNKNOWN), PAWL_OK);
    atomic_fetch_add(&world_of(ctx)->begun, 1);
    go_on(exchange, world_of(ctx));
}

static void serve_events(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str none = pawl__str("");

    DEMAND(pawl__events_begin(exchange), PAWL_OK);
    DEMAND(pawl__events_send(exchange, none, none, pawl__str("plain")), PAWL_OK);
    DEMAND(
        pawl__events_send(exchange, pawl__str("name"), pawl__str("7"), pawl__str("a\nb\r\nc\rd\n")),
        PAWL_OK);
    DEMAND(pawl__events_send(exchange, pawl__str("a\nb"), none, none), PAWL_EINVAL);
    serve_park(exchange, ctx);
}

static const struct pawl_route routes[] = {
    {.method = "GET", .path = "/three", .handle = serve_three},
    {.method = "GET", .path = "/loop", .handle = serve_three, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET", .path = "/sized", .handle = serve_sized},
    {.method = "GET", .path = "/short", .handle = serve_short},
    {.method = "GET", .path = "/broken", .handle = serve_broken},
    {.method = "GET", .path = "/wrong", .handle = serve_wrong},
    {.method = "GET", .path = "/long", .handle = serve_long},
    {.method = "GET", .path = "/events", .handle = serve_events},
    {.method = "GET", .path = "/hello", .handle = serve_hello},
};

static void open_world(struct world *w)
{
    serving_open(&w->s);
    w->s.options.routes = routes;
    w->s.options.route_count = sizeof routes / sizeof routes[0];
    atomic_init(&w->calls, 0);
    atomic_init(&w->busy, 0);
    atomic_init(&w->begun, 0);
    atomic_init(&w->lost, 0);
    atomic_init(&w->filled, 0);
}

/* Reads until the text is there. */
static void await_text(struct client *c, const char *text)
{
    while (!strstr(pawl__buf_cstr(&c->in), text)) {
        if (!client_read(c))
            fail_msg("the connection ended before \"%s\": %s", text, pawl__buf_cstr(&c->in));
    }
}

static void pieces_are_chunks_and_the_connection_stays(void **state)
{
    static const char *const paths[] = {GET("/three"), GET("/loop")};
    struct world w;
    struct client c;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    for (int i = 0; i < 4; i++) {
        client_send(&c, paths[i % 2]);
        await_text(&c, "\r\n\r\n4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n");
        assert_non_null(strstr(pawl__buf_cstr(&c.in), "Transfer-Encoding: chunked\r\n"));
        assert_null(strstr(pawl__buf_cstr(&c.in), "Content-Length"));
        pawl__buf_clear(&c.in);
    }
    client_send(&c, GET("/hello"));
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    client_close(&c);
    serving_close(&w.s);
}

static void pipelined_streams_come_in_order(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, GET("/three") GET("/sized") GET("/loop") GET("/hello"));
    await_text(&c, "\r\n\r\nhello");
    assert_true(strstr(c.in.ptr, "three") < strstr(c.in.ptr, "abcdef"));
    assert_true(strstr(c.in.ptr, "abcdef") < strstr(c.in.ptr, "\r\n\r\nhello"));
    client_close(&c);
    serving_close(&w.s);
}

static void a_length_is_kept(void **state)
{
    struct world w;
    struct client c;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, GET("/sized"));
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    assert_non_null(strstr(text, "Content-Length: 6\r\n"));
    assert_non_null(strstr(text, "\r\n\r\nabcdef"));
    client_send(&c, GET("/short")); /* fewer than promised: the client notices */
    assert_int_equal(client_status(&c, text, sizeof text), 0);
    client_close(&c);
    client_open(&c, &w.s);
    client_send(&c, GET("/broken"));
    while (client_read(&c))
        continue;
    assert_null(strstr(pawl__buf_cstr(&c.in), "0\r\n\r\n"));
    client_close(&c);
    assert_int_equal(ask(&w.s, GET("/wrong"), text, sizeof text), 500);
    serving_close(&w.s);
}

static void http_1_0_gets_bytes_until_the_end(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, "GET /three HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    while (client_read(&c))
        continue;
    assert_null(strstr(pawl__buf_cstr(&c.in), "chunked"));
    assert_non_null(strstr(pawl__buf_cstr(&c.in), "Connection: close\r\n"));
    assert_true(pawl__str_ends(pawl__buf_peek(&c.in), pawl__str("\r\n\r\none two three")));
    client_close(&c);
    serving_close(&w.s);
}

static void head_gets_no_pieces(void **state)
{
    struct world w;
    struct client c;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, "HEAD /three HTTP/1.1\r\nHost: x\r\n\r\n" GET("/hello"));
    await_text(&c, "\r\n\r\nhello");
    assert_null(strstr(pawl__buf_cstr(&c.in), "three"));
    client_close(&c);
    assert_int_equal(ask(&w.s, GET("/hello"), text, sizeof text), 200);
    serving_close(&w.s);
}

static size_t count_content(struct client *c)
{
    size_t total = 0, zero = 0;
    bool ends = false;

    while (!ends && client_read(c)) {
        for (size_t i = 0; i < c->in.len; i++)
            zero += c->in.ptr[i] == '\0';
        ends = pawl__str_ends(pawl__buf_peek(&c->in), pawl__str("\r\n0\r\n\r\n"));
        pawl__buf_clear(&c->in);
    }
    total = zero;
    return total;
}

static void a_long_stream_waits_for_its_client(void **state)
{
    struct world w;
    struct client c;
    char text[512];

    (void)state;
    open_world(&w);
    w.s.options.limits.threads_max = 1; /* none waits */
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, GET("/long"));
    while (atomic_load(&w.busy) == 0)
        assert_code(pawl_env_sleep_until(w.s.env, pawl_env_monotonic_ns(w.s.env) + 1000000),
                    PAWL_OK);
    assert_int_equal(ask(&w.s, GET("/hello"), text, sizeof text), 200);
    assert_int_equal(count_content(&c), (LONG_BYTES + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES);
    client_close(&c);
    assert_true(atomic_load(&w.calls) > 1);
    assert_true(atomic_load(&w.filled) < LONG_BYTES / 2);
    assert_int_equal(atomic_load(&w.lost), 0);
    serving_close(&w.s);
}

static void a_client_that_leaves_ends_its_stream(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (int i = 0; i < 3; i++) {
        client_open(&c, &w.s);
        client_send(&c, GET("/long"));
        while (atomic_load(&w.busy) <= i)
            assert_code(pawl_env_sleep_until(w.s.env, pawl_env_monotonic_ns(w.s.env) + 1000000),
                        PAWL_OK);
        client_close(&c); /* with unread bytes: a reset */
        await_connections(&w.s, 0);
    }
    while (atomic_load(&w.lost) < 3)
        assert_code(pawl_env_sleep_until(w.s.env, pawl_env_monotonic_ns(w.s.env) + 1000000),
                    PAWL_OK);
    serving_close(&w.s);
}

/* A response in pieces that is read up to some byte. */
static void hang_ups_within_a_stream_leave_nothing(void **state)
{
    static const char *const requests[] = {GET("/three"), GET("/sized"), GET("/long"),
                                           GET("/three") GET("/long")};
    struct world w;
    char text[512];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (size_t count = 0; count < 300; count += 7) {
        struct client c;

        client_open(&c, &w.s);
        client_send(&c, requests[count % 4]);
        while (c.in.len < count && !pawl__str_ends(pawl__buf_peek(&c.in), pawl__str("abcdef")) &&
               !pawl__str_ends(pawl__buf_peek(&c.in), pawl__str("0\r\n\r\n")) && client_read(&c))
            continue;
        client_close(&c);
    }
    await_connections(&w.s, 0);
    assert_int_equal(ask(&w.s, GET("/hello"), text, sizeof text), 200);
    serving_close(&w.s);
}

static void a_client_that_does_not_read_its_stream_is_aborted(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    w.s.options.limits.send_ms = 50;
    w.s.options.limits.rate_bytes_min = 1 << 30;
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, GET("/long"));
    await_connections(&w.s, 1);
    await_connections(&w.s, 0);
    client_close(&c);
    serving_close(&w.s);
}

static void events_have_names_ids_and_lines(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    w.s.options.limits.heartbeat_ms = 20;
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, GET("/events"));
    await_text(&c, "data: plain\n\n\r\n");
    await_text(&c, "id: 7\nevent: name\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n\r\n");
    await_text(&c, "3\r\n:\n\n\r\n"); /* a heartbeat */
    assert_non_null(strstr(pawl__buf_cstr(&c.in), "Content-Type: text/event-stream\r\n"));
    await_count(&w.s, &w.s.parked_count, 1);
    client_close(&c);
    await_count(&w.s, &w.s.gone_count, 1);
    await_connections(&w.s, 0);
    assert_code(pawl__events_send(w.s.parked[0], pawl__str(""), pawl__str(""), pawl__str("x")),
                PAWL_EUNAVAILABLE);
    pawl__exchange_end(w.s.parked[0], true);
    serving_close(&w.s);
}

static void a_drain_tells_streams_to_end(void **state)
{
    struct world w;
    struct client c;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    client_send(&c, GET("/events"));
    await_text(&c, "data: plain");
    await_count(&w.s, &w.s.parked_count, 1);
    assert_code(pawl__server_drain(w.s.server, pawl_env_monotonic_ns(w.s.env)), PAWL_ETIMEDOUT);
    await_count(&w.s, &w.s.gone_count, 1);
    assert_code(pawl__exchange_write(w.s.parked[0], pawl__str("data: bye\n\n")), PAWL_OK);
    pawl__exchange_end(w.s.parked[0], true);
    await_text(&c, "data: bye\n\n\r\n0\r\n\r\n");
    assert_code(pawl__server_drain(w.s.server, soon_ns(&w.s)), PAWL_OK);
    client_close(&c);
    serving_close(&w.s);
}

static void stopping_with_streams_leaves_nothing(void **state)
{
    struct world w;
    struct client c[4];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (int i = 0; i < 4; i++) {
        client_open(&c[i], &w.s);
        client_send(&c[i], GET("/long"));
    }
    /* Not those that found no room: one stream may have found none several times. */
    while (atomic_load(&w.begun) < 4)
        assert_code(pawl_env_sleep_until(w.s.env, pawl_env_monotonic_ns(w.s.env) + 1000000),
                    PAWL_OK);
    pawl__server_stop(w.s.server);
    for (int i = 0; i < 4; i++)
        client_close(&c[i]);
    assert_int_equal(atomic_load(&w.lost), 4);
    serving_close(&w.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_chunks_and_the_connection_stays),
        cmocka_unit_test(pipelined_streams_come_in_order),
        cmocka_unit_test(a_length_is_kept),
        cmocka_unit_test(http_1_0_gets_bytes_until_the_end),
        cmocka_unit_test(head_gets_no_pieces),
        cmocka_unit_test(a_long_stream_waits_for_its_client),
        cmocka_unit_test(a_client_that_leaves_ends_its_stream),
        cmocka_unit_test(hang_ups_within_a_stream_leave_nothing),
        cmocka_unit_test(a_client_that_does_not_read_its_stream_is_aborted),
        cmocka_unit_test(events_have_names_ids_and_lines),
        cmocka_unit_test(a_drain_tells_streams_to_end),
        cmocka_unit_test(stopping_with_streams_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
