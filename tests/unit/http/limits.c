/* SPDX-License-Identifier: Apache-2.0 */
/* Each limit of the server: its status, and that others go on. */
#include "os/address.h"
#include "unit/http/serving.h"

#include <sys/resource.h>
#include <unistd.h>

/* The server still answers. */
static void assert_alive(struct serving *s)
{
    char text[512];

    assert_int_equal(ask(s, GET("/hello"), text, sizeof text), 200);
}

static void repeat(struct client *c, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        client_send(c, text);
}

static void a_large_head_is_431(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.head_bytes_max = 1000;
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "GET /hello HTTP/1.1\r\nHost: x\r\nX: ");
    repeat(&c, "aaaaaaaaaa", 100);
    assert_int_equal(client_status(&c, text, sizeof text), 431);
    assert_non_null(strstr(text, "Connection: close"));
    client_close(&c);
    /* White space is not kept, but it counts. */
    client_open(&c, &s);
    client_send(&c, "GET /hello HTTP/1.1\r\nHost: x\r\nX: ");
    repeat(&c, "          ", 100);
    assert_int_equal(client_status(&c, text, sizeof text), 431);
    client_close(&c);
    /* Empty lines before a request too. */
    client_open(&c, &s);
    repeat(&c, "\r\n\r\n\r\n\r\n\r\n", 101);
    assert_int_equal(client_status(&c, text, sizeof text), 431);
    client_close(&c);
    assert_alive(&s);
    serving_close(&s);
}

static void many_fields_are_431(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "GET /hello HTTP/1.1\r\nHost: x\r\n");
    repeat(&c, "A: b\r\n", 99);
    client_send(&c, "\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    client_send(&c, "GET /hello HTTP/1.1\r\nHost: x\r\n");
    repeat(&c, "A: b\r\n", 100);
    client_send(&c, "\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 431);
    client_close(&c);
    serving_close(&s);
}

static void a_long_target_is_414(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.target_bytes_max = 100;
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "GET /");
    repeat(&c, "aaaaaaaaaa", 10);
    assert_int_equal(client_status(&c, text, sizeof text), 414);
    client_close(&c);
    assert_alive(&s);
    serving_close(&s);
}

static void a_large_body_is_413(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.body_bytes_max = 1000;
    serving_start(&s);
    assert_int_equal(ask(&s, "PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd",
                         text, sizeof text),
                     200);
    assert_int_equal(ask(&s, "PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde",
                         text, sizeof text),
                     413);
    assert_int_equal(ask(&s,
                         "PUT /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                         text, sizeof text),
                     413);
    /* The answer arrives although the client does not stop sending. */
    client_open(&c, &s);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    repeat(&c, "0123456789012345678901234567890123456789", 1000);
    assert_int_equal(client_status(&c, text, sizeof text), 413);
    client_close(&c);
    assert_alive(&s);
    serving_close(&s);
}

static void framing_larger_than_its_content_is_413(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;");
    repeat(&c, "extensionsextensionsextensionsextensions", 2000);
    assert_int_equal(client_status(&c, text, sizeof text), 413);
    client_close(&c);
    /* Small chunks are not that. */
    client_open(&c, &s);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    repeat(&c, "1\r\na\r\n", 20000);
    client_send(&c, "0\r\n\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    client_close(&c);
    serving_close(&s);
}

static void all_bodies_together_are_bounded(void **state)
{
    static const char head[] = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 600\r\n\r\n";
    struct serving s;
    struct client holding, c;
    char text[512];
    struct pawl_server_figures figures = {0};

    (void)state;
    serving_open(&s);
    s.options.limits.bodies_bytes_max = 1000;
    serving_start(&s);
    client_open(&holding, &s);
    client_send(&holding, head);
    while (figures.body_bytes < 600)
        pawl__server_figures(s.server, &figures);
    client_open(&c, &s);
    client_send(&c, head);
    assert_int_equal(client_status(&c, text, sizeof text), 503);
    assert_non_null(strstr(text, "Retry-After: "));
    client_close(&c);
    client_close(&holding);
    await_connections(&s, 0);
    pawl__server_figures(s.server, &figures);
    assert_int_equal(figures.body_bytes, 0);
    serving_close(&s);
}

static void too_many_connections_are_503(void **state)
{
    struct serving s;
    struct client c[4];
    char text[512];

    (void)state;
    for (int per_address = 0; per_address < 2; per_address++) {
        serving_open(&s);
        if (per_address)
            s.options.limits.connections_per_address_max = 3;
        else
            s.options.limits.connections_max = 3;
        serving_start(&s);
        for (int i = 0; i < 3; i++) {
            client_open(&c[i], &s);
            client_send(&c[i], GET("/hello"));
            assert_int_equal(client_status(&c[i], text, sizeof text), 200);
        }
        client_open(&c[3], &s);
        assert_int_equal(client_status(&c[3], text, sizeof text), 503);
        assert_non_null(strstr(text, "Retry-After: "));
        assert_non_null(strstr(text, per_address ? "This address" : "The server"));
        assert_ended(&c[3]);
        client_close(&c[3]);
        /* Those that are there go on; one that ends makes room. */
        client_send(&c[0], GET("/hello"));
        assert_int_equal(client_status(&c[0], text, sizeof text), 200);
        client_close(&c[0]);
        await_connections(&s, 2);
        assert_alive(&s);
        client_close(&c[1]);
        client_close(&c[2]);
        serving_close(&s);
    }
}

static void a_trusted_proxy_may_have_many_connections(void **state)
{
    struct pawl_addresses proxies;
    struct serving s;
    struct client c[4];
    char text[512];

    (void)state;
    assert_code(pawl__addresses_parse(pawl__str("loopback"), &proxies, NULL), PAWL_OK);
    serving_open(&s);
    s.options.limits.connections_per_address_max = 1;
    s.options.trusted_proxies = &proxies;
    serving_start(&s);
    for (int i = 0; i < 4; i++) {
        client_open(&c[i], &s);
        client_send(&c[i], GET("/hello"));
        assert_int_equal(client_status(&c[i], text, sizeof text), 200);
    }
    for (int i = 0; i < 4; i++)
        client_close(&c[i]);
    serving_close(&s);
}

static void a_full_queue_is_503(void **state)
{
    struct serving s;
    struct client running, waiting, c;
    struct pawl_server_figures figures = {0};
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.threads_max = 1;
    s.options.limits.queue_max = 1;
    serving_start(&s);
    client_open(&running, &s);
    client_send(&running, GET("/gate"));
    await_count(&s, &s.parked_count, 1);
    client_open(&waiting, &s);
    client_send(&waiting, GET("/hello"));
    while (figures.queued == 0)
        pawl__server_figures(s.server, &figures);
    client_open(&c, &s);
    client_send(&c, GET("/hello"));
    assert_int_equal(client_status(&c, text, sizeof text), 503);
    assert_non_null(strstr(text, "Retry-After: "));
    client_send(&c, GET("/loop")); /* the connection stays, and the loop answers */
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    pawl_mutex_lock_always(s.env, s.mutex);
    s.gate_open = true;
    pawl_cond_broadcast(s.env, s.cond);
    pawl_mutex_unlock(s.env, s.mutex);
    assert_int_equal(client_status(&running, text, sizeof text), 204);
    assert_int_equal(client_status(&waiting, text, sizeof text), 200);
    client_close(&running);
    client_close(&waiting);
    client_close(&c);
    serving_close(&s);
}

static void a_slow_head_is_408(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.head_ms = 50;
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "GET /hello HTTP/1.1\r\nHo");
    assert_int_equal(client_status(&c, text, sizeof text), 408);
    assert_non_null(strstr(text, "Connection: close"));
    assert_ended(&c);
    client_close(&c);
    serving_close(&s);
}

static void a_slow_body_is_408(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.body_ms = 50;
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123");
    assert_int_equal(client_status(&c, text, sizeof text), 408);
    client_close(&c);
    serving_close(&s);
}

static void an_idle_connection_is_closed(void **state)
{
    struct serving s;
    struct client fresh, used;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.idle_ms = 50;
    serving_start(&s);
    client_open(&fresh, &s);
    client_open(&used, &s);
    client_send(&used, GET("/hello"));
    assert_int_equal(client_status(&used, text, sizeof text), 200);
    assert_ended(&fresh);
    assert_ended(&used);
    client_close(&fresh);
    client_close(&used);
    serving_close(&s);
}

static void a_request_past_its_deadline_is_504(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, GET("/late"));
    assert_int_equal(client_status(&c, text, sizeof text), 504);
    await_count(&s, &s.parked_count, 1);
    await_count(&s, &s.gone_count, 1);
    assert_true(pawl__exchange_is_gone(s.parked[0]));
    assert_ended(&c);
    client_close(&c);
    respond_parked(&s, 0); /* what was begun ends; nobody hears */
    assert_alive(&s);
    serving_close(&s);
}

/* Descriptors up to the one that is free next; a connection takes one here and one at the client.
 */
static void without_descriptors_accepting_waits(void **state)
{
    struct serving s;
    struct client first, second;
    struct pawl_server_figures figures = {0};
    struct rlimit before, limit;
    char text[512];
    int next;

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&first, &s);
    client_send(&first, GET("/hello"));
    assert_int_equal(client_status(&first, text, sizeof text), 200);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    next = dup(0);
    assert_true(next > 0);
    (void)close(next);
    limit = before;
    limit.rlim_cur = (rlim_t)next + 1; /* the client's end is the last */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    client_open(&second, &s);
    client_send(&second, GET("/hello"));
    while (figures.accept_pauses == 0)
        pawl__server_figures(s.server, &figures);
    client_send(&first, GET("/hello")); /* who is there is served */
    assert_int_equal(client_status(&first, text, sizeof text), 200);
    client_close(&first); /* two descriptors */
    assert_int_equal(client_status(&second, text, sizeof text), 200);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    client_close(&second);
    serving_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_head_is_431),
        cmocka_unit_test(many_fields_are_431),
        cmocka_unit_test(a_long_target_is_414),
        cmocka_unit_test(a_large_body_is_413),
        cmocka_unit_test(framing_larger_than_its_content_is_413),
        cmocka_unit_test(all_bodies_together_are_bounded),
        cmocka_unit_test(too_many_connections_are_503),
        cmocka_unit_test(a_trusted_proxy_may_have_many_connections),
        cmocka_unit_test(a_full_queue_is_503),
        cmocka_unit_test(a_slow_head_is_408),
        cmocka_unit_test(a_slow_body_is_408),
        cmocka_unit_test(an_idle_connection_is_closed),
        cmocka_unit_test(a_request_past_its_deadline_is_504),
        cmocka_unit_test(without_descriptors_accepting_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
