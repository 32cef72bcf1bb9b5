/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that smuggle, dawdle or go away: a clear answer or none, no leak, others unaffected. */
#include "unit/http/serving.h"

#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

static void assert_alive(struct serving *s)
{
    char text[512];

    assert_int_equal(ask(s, GET("/hello"), text, sizeof text), 200);
    assert_int_equal(ask(s, GET("/loop"), text, sizeof text), 200);
}

static int descriptor_count(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count;
}

static void reset_connection(struct client *c)
{
    const struct linger now = {.l_onoff = 1};

    (void)setsockopt(c->socket.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    client_close(c);
}

/* Behind each of these stands a request that must not be seen as one. */
struct smuggled {
    const char *name;
    const char *bytes;
    int status;
};

#define HIDDEN GET("/park")
#define POST_HEAD "POST /echo HTTP/1.1\r\nHost: x\r\n"

static const struct smuggled smuggled[] = {
    {"two lengths", POST_HEAD "Content-Length: 0\r\nContent-Length: 50\r\n\r\n" HIDDEN, 400},
    {"the same length twice", POST_HEAD "Content-Length: 0\r\nContent-Length: 0\r\n\r\n" HIDDEN,
     400},
    {"a list of lengths", POST_HEAD "Content-Length: 0, 50\r\n\r\n" HIDDEN, 400},
    {"length with a sign", POST_HEAD "Content-Length: +0\r\n\r\n" HIDDEN, 400},
    {"length in hexadecimal", POST_HEAD "Content-Length: 0x0\r\n\r\n" HIDDEN, 400},
    {"length with chunked",
     POST_HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400},
    {"chunked with length",
     POST_HEAD "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" HIDDEN, 400},
    {"chunked is not last",
     POST_HEAD "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" HIDDEN, 400},
    {"chunked twice",
     POST_HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
     400},
    {"chunked twice, once with a tab",
     POST_HEAD "Transfer-Encoding: chunked\t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
     400},
    {"another encoding before chunked",
     POST_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" HIDDEN, 501},
    {"chunked with a tab", POST_HEAD "Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n" HIDDEN, 400},
    {"chunked in quotes", POST_HEAD "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" HIDDEN, 501},
    {"chunked behind a fold", POST_HEAD "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" HIDDEN,
     400},
    {"chunked in HTTP/1.0",
     "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400},
    {"space before the colon", POST_HEAD "Content-Length : 0\r\n\r\n" HIDDEN, 400},
    {"a folded field", POST_HEAD "X: a\r\n Content-Length: 50\r\n\r\n" HIDDEN, 400},
    {"a field after a bare LF", POST_HEAD "X: a\nContent-Length: 50\r\n\r\n" HIDDEN, 400},
    {"a field after a bare CR", POST_HEAD "X: a\rContent-Length: 50\r\n\r\n" HIDDEN, 400},
    {"an empty line of LF alone", POST_HEAD "\nX: a\r\n\r\n" HIDDEN, 400},
    {"a request line with LF alone", "GET /hello HTTP/1.1\nHost: x\r\n\r\n" HIDDEN, 400},
    {"a field without a name", POST_HEAD ": 50\r\n\r\n" HIDDEN, 400},
    {"obs-text in a name", POST_HEAD "Content-Length\xa0: 50\r\n\r\n" HIDDEN, 400},
    {"a chunk's size in LF", POST_HEAD "Transfer-Encoding: chunked\r\n\r\n0\n\r\n" HIDDEN, 400},
    {"a chunk's size too large",
     POST_HEAD "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" HIDDEN, 400},
    {"a chunk longer than its size",
     POST_HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n" HIDDEN, 400},
    {"trailers that end in LF", POST_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\n" HIDDEN, 400},
    {"two hosts", "GET /hello HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" HIDDEN, 400},
    {"no host", "GET /hello HTTP/1.1\r\n\r\n" HIDDEN, 400},
    {"another version", "GET /hello HTTP/2.0\r\nHost: x\r\n\r\n" HIDDEN, 505},
    {"a fragment in the target", "GET /hello#x HTTP/1.1\r\nHost: x\r\n\r\n" HIDDEN, 400},
    {"no version", "GET /hello\r\n\r\n" HIDDEN, 400},
    {"a tunnel", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n" HIDDEN, 501},
};

static void smuggled_requests_are_not_seen(void **state)
{
    struct serving s;

    (void)state;
    serving_open(&s);
    serving_start(&s);
    for (size_t i = 0; i < sizeof smuggled / sizeof smuggled[0]; i++) {
        struct client c;
        char text[512];
        int status;

        client_open(&c, &s);
        client_send(&c, smuggled[i].bytes);
        status = client_status(&c, text, sizeof text);
        if (status != smuggled[i].status || !strstr(text, "Connection: close\r\n"))
            fail_msg("%s: %s", smuggled[i].name, text);
        assert_ended(&c); /* no second answer */
        client_close(&c);
    }
    await_connections(&s, 0);
    assert_int_equal(s.parked_count, 0);
    assert_alive(&s);
    serving_close(&s);
}

/* Obs-text in a value is nobody's framing: it is handed on as it is. */
static void obs_text_in_a_value_is_passed_on(void **state)
{
    struct serving s;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    assert_int_equal(
        ask(&s, "GET /show/1 HTTP/1.1\r\nHost: x\r\nX: \xff\xfe\r\n\r\n", text, sizeof text), 200);
    assert_non_null(strstr(text, "X=[\xff\xfe]"));
    serving_close(&s);
}

/* Many heads that never end, a byte from time to time: bytes buy no time. */
static void slow_heads_keep_nobody_else_waiting(void **state)
{
    enum { COUNT = 50 };
    struct serving s;
    struct client slow[COUNT];
    int over = 0;

    (void)state;
    serving_open(&s);
    s.options.limits.head_ms = 200;
    serving_start(&s);
    for (int i = 0; i < COUNT; i++) {
        client_open(&slow[i], &s);
        client_send(&slow[i], "GET /hello HTTP/1.1\r\nHost: x\r\nX: ");
    }
    assert_alive(&s);
    while (over < COUNT) { /* until the server has answered all of them */
        for (int i = 0; i < COUNT; i++) {
            if (slow[i].socket.fd < 0)
                continue;
            client_send(&slow[i], "a");
            if (pawl__socket_descriptor_has_input(slow[i].socket.fd)) {
                char text[512];

                assert_int_equal(client_status(&slow[i], text, sizeof text), 408);
                client_close(&slow[i]);
                over++;
            }
        }
    }
    assert_alive(&s);
    await_connections(&s, 0);
    serving_close(&s);
}

/* An answer of 32 MB that nobody reads: the connection is aborted, its memory is given back. */
static void a_client_that_does_not_read_is_aborted(void **state)
{
    struct serving s;
    struct client c;
    const int small = 4096;

    (void)state;
    serving_open(&s);
    s.options.limits.send_ms = 100;
    s.options.limits.rate_bytes_min = 1 << 30;
    serving_start(&s);
    client_open(&c, &s);
    (void)setsockopt(c.socket.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    client_send(&c, GET("/big") GET("/big"));
    assert_alive(&s);
    await_connections(&s, 0);
    while (client_read(&c))
        continue;
    assert_true(c.in.len < BIG_BYTES);
    client_close(&c);
    assert_alive(&s);
    serving_close(&s);
}

static void ask_without_reading(struct client *c, struct serving *s, const char *request)
{
    client_open(c, s);
    client_send(c, request);
}

static void await_responses(struct serving *s, int count)
{
    int64_t deadline_ns = soon_ns(s);
    int status = PAWL_OK;

    pawl_mutex_lock_always(s->env, s->mutex);
    while (s->answered_count < count && pawl_env_monotonic_ns(s->env) < deadline_ns) {
        pawl_mutex_unlock(s->env, s->mutex);
        status = pawl_env_sleep_until(s->env, pawl_env_monotonic_ns(s->env) + 1000000);
        pawl_mutex_lock_always(s->env, s->mutex);
    }
    pawl_mutex_unlock(s->env, s->mutex);
    assert_code(status, PAWL_OK);
}

/* The bytes that a client gets if it reads at last. */
static size_t read_all(struct client *c)
{
    while (c->in.len < BIG_BYTES && client_read(c))
        continue;
    return c->in.len;
}

/* Each is allowed by itself; together they may hold no more than one of them. */
static void unread_responses_are_bounded_together(void **state)
{
    enum { COUNT = 6 };
    struct serving s;
    struct client c[COUNT];
    struct pawl_server_figures figures;
    int complete = 0;

    (void)state;
    serving_open(&s);
    s.options.limits.send_ms = INT32_MAX;
    s.options.limits.replies_bytes_max = BIG_BYTES / 2;
    serving_start(&s);
    for (int i = 0; i < COUNT; i++)
        ask_without_reading(&c[i], &s, GET("/big"));
    await_responses(&s, COUNT);
    await_connections(&s, 1);
    assert_alive(&s);
    pawl__server_figures(s.server, &figures);
    assert_true(figures.reply_bytes > 0 && figures.reply_bytes < 3 * BIG_BYTES);
    for (int i = 0; i < COUNT; i++) {
        complete += read_all(&c[i]) >= BIG_BYTES;
        client_close(&c[i]);
    }
    assert_int_equal(complete, 1);
    await_connections(&s, 0);
    pawl__server_figures(s.server, &figures);
    assert_int_equal(figures.reply_bytes, 0);
    serving_close(&s);
}

static void who_reads_least_is_disconnected_first(void **state)
{
    struct serving s;
    struct client idle, reading;
    int64_t judged_ns;

    (void)state;
    serving_open(&s);
    s.options.limits.send_ms = INT32_MAX;
    s.options.limits.replies_bytes_max = BIG_BYTES / 2;
    serving_start(&s);
    ask_without_reading(&idle, &s, GET("/big"));
    judged_ns = pawl_env_monotonic_ns(s.env) + INT64_C(1500000000); /* old enough to be judged */
    while (pawl_env_monotonic_ns(s.env) < judged_ns)
        assert_alive(&s);
    ask_without_reading(&reading, &s, GET("/big"));
    assert_true(read_all(&reading) >= BIG_BYTES);
    assert_true(read_all(&idle) < BIG_BYTES);
    client_close(&reading);
    client_close(&idle);
    serving_close(&s);
}

/* A request is of no more use once it was responded to. */
static void an_unread_response_does_not_keep_its_request(void **state)
{
    static const char head[] = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n";
    struct serving s;
    struct client c;
    struct pawl_server_figures figures;
    char *body = calloc(1, 16000000);

    (void)state;
    assert_non_null(body);
    serving_open(&s);
    s.options.limits.send_ms = INT32_MAX;
    serving_start(&s);
    ask_without_reading(&c, &s, head);
    client_send_bytes(&c, body, 16000000);
    do
        pawl__server_figures(s.server, &figures);
    while (figures.reply_bytes == 0);
    assert_int_equal(figures.body_bytes, 0);
    client_close(&c);
    serving_close(&s);
    free(body);
}

/* A request cut at every byte, the connection closed or aborted there. */
static void hang_ups_at_every_byte_leave_nothing(void **state)
{
    static const char request[] = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                                  "\r\n3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n" GET("/hello");
    struct serving s;
    int before;

    (void)state;
    serving_open(&s);
    serving_start(&s);
    assert_alive(&s);
    await_connections(&s, 0);
    before = descriptor_count();
    for (size_t size = 0; size < sizeof request; size++) {
        struct client closed, reset;

        client_open(&closed, &s);
        client_open(&reset, &s);
        client_send_bytes(&closed, request, size);
        client_send_bytes(&reset, request, size);
        client_close(&closed);
        reset_connection(&reset);
    }
    assert_alive(&s);
    await_connections(&s, 0);
    assert_int_equal(descriptor_count(), before);
    serving_close(&s);
}

/* While its request is in hand, while it is answered, while the answer is sent. */
static void hang_ups_while_a_request_is_in_hand_are_told(void **state)
{
    struct serving s;
    int before;

    (void)state;
    serving_open(&s);
    serving_start(&s);
    assert_alive(&s);
    await_connections(&s, 0);
    before = descriptor_count();
    for (int i = 0; i < 20; i++) {
        struct client c;

        client_open(&c, &s);
        client_send(&c, GET("/park"));
        await_count(&s, &s.parked_count, i + 1);
        assert_false(pawl__exchange_is_gone(s.parked[i]));
        if (i % 2)
            reset_connection(&c);
        else
            client_close(&c);
        await_count(&s, &s.gone_count, i + 1);
        assert_true(pawl__exchange_is_gone(s.parked[i]));
        assert_false(pawl__exchange_on_gone(s.parked[i], note_gone, &s));
        respond_parked(&s, i);
    }
    for (int i = 0; i < 20; i++) {
        struct client c;

        client_open(&c, &s);
        client_send(&c, GET("/big"));
        if (i % 2)
            assert_true(client_read(&c));
        if (i % 4 < 2)
            reset_connection(&c);
        else
            client_close(&c);
    }
    assert_alive(&s);
    await_connections(&s, 0);
    assert_int_equal(descriptor_count(), before);
    serving_close(&s);
}

/* It has ended its side and waits for its answers. */
static void a_client_that_only_ended_its_side_is_answered(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, GET("/hello") GET("/loop") GET("/park"));
    pawl__socket_shutdown(&c.socket);
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    await_count(&s, &s.parked_count, 1);
    await_count(&s, &s.gone_count, 1);
    respond_parked(&s, 0);
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    assert_ended(&c);
    client_close(&c);
    await_connections(&s, 0);
    serving_close(&s);
}

static void stopping_hangs_up_on_everybody(void **state)
{
    struct serving s;
    struct client idle, half, parked;

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&idle, &s);
    client_open(&half, &s);
    client_open(&parked, &s);
    client_send(&half, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
    client_send(&parked, GET("/park"));
    await_count(&s, &s.parked_count, 1);
    await_connections(&s, 3);
    pawl__server_stop(s.server);
    assert_int_equal(s.gone_count, 1);
    assert_ended(&idle);
    assert_ended(&half);
    assert_ended(&parked);
    respond_parked(&s, 0); /* what was put aside has outlived its connection */
    client_close(&idle);
    client_close(&half);
    client_close(&parked);
    serving_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smuggled_requests_are_not_seen),
        cmocka_unit_test(obs_text_in_a_value_is_passed_on),
        cmocka_unit_test(slow_heads_keep_nobody_else_waiting),
        cmocka_unit_test(a_client_that_does_not_read_is_aborted),
        cmocka_unit_test(unread_responses_are_bounded_together),
        cmocka_unit_test(who_reads_least_is_disconnected_first),
        cmocka_unit_test(an_unread_response_does_not_keep_its_request),
        cmocka_unit_test(hang_ups_at_every_byte_leave_nothing),
        cmocka_unit_test(hang_ups_while_a_request_is_in_hand_are_told),
        cmocka_unit_test(a_client_that_only_ended_its_side_is_answered),
        cmocka_unit_test(stopping_hangs_up_on_everybody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
