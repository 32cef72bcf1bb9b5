/* SPDX-License-Identifier: Apache-2.0 */
/* The server on real sockets: what HTTP promises. Limits and abuse are in limits.c and abuse.c. */
#include "http/private.h"
#include "unit/http/serving.h"

#include <unistd.h>

static void answers_and_keeps_the_connection(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    for (int i = 0; i < 3; i++) {
        client_send(&c, i % 2 ? GET("/loop") : GET("/hello"));
        assert_int_equal(client_status(&c, text, sizeof text), 200);
        assert_non_null(strstr(text, "HTTP/1.1 200 OK\r\nDate: "));
        assert_non_null(strstr(text, " GMT\r\nContent-Length: 5\r\n"));
        assert_non_null(strstr(text, "Content-Type: text/plain\r\n\r\nhello"));
        assert_null(strstr(text, "Connection:"));
    }
    client_send(&c, "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    assert_non_null(strstr(text, "Connection: close\r\n"));
    assert_ended(&c);
    client_close(&c);
    await_count(&s, &s.answered_count, 4);
    serving_close(&s);
}

static void http_1_0_ends_unless_asked_to_stay(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    assert_non_null(strstr(text, "Connection: keep-alive\r\n"));
    client_send(&c, "GET /hello HTTP/1.0\r\n\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    assert_ended(&c);
    client_close(&c);
    serving_close(&s);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    static const char requests[] =
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na" GET("/loop")
            GET("/nothing") "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "1\r\nb\r\n0\r\n\r\n" GET("/hello");
    static const char *const ends[] = {"\r\n\r\na", "hello", "path.\"}", "\r\n\r\nb", "hello"};
    struct serving s;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    /* In one piece, and in pieces of every size. */
    for (size_t step = sizeof requests - 1; step > 0; step = step * 2 / 3) {
        struct client c;

        client_open(&c, &s);
        for (size_t at = 0; at < sizeof requests - 1; at += step)
            client_send_bytes(&c, requests + at,
                              sizeof requests - 1 - at < step ? sizeof requests - 1 - at : step);
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            assert_int_equal(client_status(&c, text, sizeof text), i == 2 ? 404 : 200);
            assert_true(pawl__str_ends(pawl__str(text), pawl__str(ends[i])));
        }
        client_close(&c);
    }
    serving_close(&s);
}

static void head_has_the_length_and_no_body(void **state)
{
    struct serving s;
    struct client c;
    struct pawl_buf keep;
    struct pawl_str answer;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    pawl__buf_init(&keep, &s.alloc.base, 4096);
    client_send(&c, "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    answer = client_answer_to(&c, &keep, true);
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(keep.ptr, "Content-Length: 5\r\n"));
    client_send(&c, GET("/hello"));
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    pawl__buf_release(&keep);
    client_close(&c);
    serving_close(&s);
}

static void expectations_are_met_or_refused(void **state)
{
    struct serving s;
    struct client c;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\n");
    assert_int_equal(client_status(&c, text, sizeof text), 100);
    assert_string_equal(text, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(&c, "ok");
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    client_close(&c);
    /* Refused before a byte of the body was sent. */
    assert_int_equal(ask(&s,
                         "PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                         "Expect: 100-continue\r\n\r\n",
                         text, sizeof text),
                     413);
    assert_int_equal(
        ask(&s, "GET /hello HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n", text, sizeof text),
        417);
    serving_close(&s);
}

static void a_handler_sees_the_request(void **state)
{
    struct serving s;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    assert_int_equal(ask(&s, "GET /show/a%2Fb%C3%A4?q=%20 HTTP/1.1\r\nHost:  x \t\r\nX:\r\n\r\n",
                         text, sizeof text),
                     200);
    assert_true(pawl__str_ends(
        pawl__str(text), pawl__str("GET /show/a%2Fb%C3%A4?q=%20 id=a/b\xc3\xa4 Host=[x] X=[]")));
    assert_int_equal(
        ask(&s, "GET http://h/show/y?z HTTP/1.1\r\nHost: h\r\n\r\n", text, sizeof text), 200);
    assert_true(pawl__str_ends(pawl__str(text), pawl__str("GET /show/y?z id=y Host=[h]")));
    assert_int_equal(ask(&s, GET("/show/%zz"), text, sizeof text), 400);
    assert_int_equal(ask(&s, GET("/show/%00"), text, sizeof text), 400);
    assert_int_equal(ask(&s, GET("/show/%ff"), text, sizeof text), 400);
    assert_int_equal(ask(&s, GET("/show/%4"), text, sizeof text), 400);
    serving_close(&s);
}

static void unknown_paths_and_methods_are_told_apart(void **state)
{
    struct serving s;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    assert_int_equal(ask(&s, GET("/nothing"), text, sizeof text), 404);
    assert_non_null(strstr(text, "Content-Type: application/problem+json\r\n"));
    assert_non_null(strstr(text, "{\"title\":\"Not Found\",\"status\":404,\"detail\":\""));
    assert_int_equal(ask(&s, "DELETE /hello HTTP/1.1\r\nHost: x\r\n\r\n", text, sizeof text), 405);
    assert_non_null(strstr(text, "Allow: GET, HEAD\r\n"));
    serving_close(&s);
}

static void permissions_are_asked_before_the_body(void **state)
{
    static const char without[] = "POST /secret HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n";
    struct serving s;
    char text[512], request[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    (void)snprintf(request, sizeof request, "%s\r\n", without);
    assert_int_equal(ask(&s, request, text, sizeof text), 401);
    (void)snprintf(request, sizeof request, "%sAuthorization: wrong\r\n\r\n", without);
    assert_int_equal(ask(&s, request, text, sizeof text), 403);
    (void)snprintf(request, sizeof request, "%sAuthorization: right\r\n\r\n123456789", without);
    assert_int_equal(ask(&s, request, text, sizeof text), 200);
    serving_close(&s);
    serving_open(&s);
    s.options.admit = NULL; /* nobody can grant what a route needs */
    assert_code(pawl__server_new(s.env, &s.options, &s.server, &s.err), PAWL_EINVAL);
    s.server = NULL;
    serving_close(&s);
}

static void a_field_with_a_line_end_is_not_sent(void **state)
{
    struct serving s;
    char text[512];

    (void)state;
    serving_open(&s);
    serving_start(&s);
    assert_int_equal(ask(&s, GET("/wrong"), text, sizeof text), 500);
    assert_null(strstr(text, "Set-Cookie"));
    serving_close(&s);
}

static void a_waiting_request_holds_no_thread(void **state)
{
    struct serving s;
    struct client waiting[PARKED_MAX], c;
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.threads_max = 1;
    serving_start(&s);
    for (int i = 0; i < PARKED_MAX; i++) {
        client_open(&waiting[i], &s);
        client_send(&waiting[i], GET("/park"));
        await_count(&s, &s.parked_count, i + 1);
    }
    client_open(&c, &s);
    client_send(&c, GET("/hello"));
    assert_int_equal(client_status(&c, text, sizeof text), 200);
    client_close(&c);
    for (int i = PARKED_MAX - 1; i >= 0; i--) {
        respond_parked(&s, i);
        assert_int_equal(client_status(&waiting[i], text, sizeof text), 200);
        assert_non_null(strstr(text, "parked"));
        client_send(&waiting[i], GET("/hello"));
        assert_int_equal(client_status(&waiting[i], text, sizeof text), 200);
        client_close(&waiting[i]);
    }
    assert_int_equal(s.gone_count, 0);
    serving_close(&s);
}

static void the_loop_answers_when_all_workers_are_busy(void **state)
{
    struct serving s;
    struct client busy[2];
    char text[512];

    (void)state;
    serving_open(&s);
    s.options.limits.threads_max = 2;
    serving_start(&s);
    for (int i = 0; i < 2; i++) {
        client_open(&busy[i], &s);
        client_send(&busy[i], GET("/gate"));
    }
    await_count(&s, &s.parked_count, 2);
    assert_int_equal(ask(&s, GET("/loop"), text, sizeof text), 200);
    pawl_mutex_lock_always(s.env, s.mutex);
    s.gate_open = true;
    pawl_cond_broadcast(s.env, s.cond);
    pawl_mutex_unlock(s.env, s.mutex);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(client_status(&busy[i], text, sizeof text), 204);
        assert_null(strstr(text, "Content-Length"));
        client_close(&busy[i]);
    }
    serving_close(&s);
}

static void large_bodies_go_both_ways(void **state)
{
    const size_t size = (size_t)8 << 20;
    struct serving s;
    struct client c;
    struct pawl_buf keep;
    struct pawl_str answer;
    char *body = malloc(size), head[128];

    (void)state;
    assert_non_null(body);
    memset(body, 'x', size);
    serving_open(&s);
    serving_start(&s);
    client_open(&c, &s);
    pawl__buf_init(&keep, &s.alloc.base, BIG_BYTES + 65536);
    (void)snprintf(head, sizeof head,
                   "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", size);
    client_send(&c, head);
    client_send_bytes(&c, body, size);
    answer = client_answer_to(&c, &keep, false);
    assert_int_equal(status_of(answer), 200);
    assert_memory_equal(answer.ptr + answer.len - size, body, size);
    client_send(&c, GET("/big"));
    answer = client_answer_to(&c, &keep, false);
    assert_int_equal(status_of(answer), 200);
    assert_true(answer.len > BIG_BYTES);
    pawl__buf_release(&keep);
    client_close(&c);
    free(body);
    serving_close(&s);
}

static void listens_at_several_places(void **state)
{
    struct serving s;
    struct pawl_socket_wait wait;
    struct pawl_socket socket = PAWL_SOCKET_INIT;
    char folder[] = "/tmp/pawl-test-XXXXXX", place[128], text[512];
    size_t got;
    int status;

    (void)state;
    serving_open(&s);
    wait = (struct pawl_socket_wait){s.env, NULL, soon_ns(&s)};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(place, sizeof place, "unix:%s/socket", folder);
    assert_ok(pawl__server_new(s.env, &s.options, &s.server, &s.err), &s.err);
    assert_ok(pawl__server_listen(s.server, "127.0.0.1:0", &s.err), &s.err);
    assert_ok(pawl__server_listen(s.server, place, &s.err), &s.err);
    status = pawl__server_listen(s.server, "[::1]:0", &s.err); /* where there is IPv6 */
    assert_code(pawl__server_listen(s.server, "nowhere", &s.err), PAWL_EINVAL);
    assert_code(pawl__server_listen(s.server, "::1:80", &s.err), PAWL_EINVAL);
    assert_code(pawl__server_listen(s.server, "a:70000", &s.err), PAWL_EINVAL);
    assert_code(pawl__server_listen(s.server, "a:", &s.err), PAWL_EINVAL);
    assert_ok(pawl__server_start(s.server, &s.err), &s.err);
    s.port = pawl__server_port(s.server, 0);
    assert_int_equal(ask(&s, GET("/hello"), text, sizeof text), 200);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            assert_ok(pawl__socket_connect_unix(place + 5, &wait, &socket, &s.err), &s.err);
        else if (status == PAWL_OK)
            assert_ok(
                pawl__socket_connect("::1", pawl__server_port(s.server, 2), &wait, &socket, &s.err),
                &s.err);
        else
            break;
        assert_ok(
            pawl__socket_write(&socket, GET("/loop"), strlen(GET("/loop")), &wait, &got, &s.err),
            &s.err);
        assert_ok(pawl__socket_read(&socket, text, sizeof text, &wait, &got, &s.err), &s.err);
        assert_memory_equal(text, "HTTP/1.1 200 OK", 15);
        pawl__socket_close(&socket);
    }
    serving_close(&s);
    assert_int_equal(rmdir(folder), 0); /* the socket's file went with the server */
}

static void a_drain_lets_requests_end_and_closes_the_rest(void **state)
{
    struct serving s;
    struct client idle, answered, busy, c;
    char text[512];
    const struct pawl_socket_wait *wait;
    struct pawl_socket_wait later;

    (void)state;
    serving_open(&s);
    serving_start(&s);
    client_open(&idle, &s);
    client_open(&answered, &s);
    client_open(&busy, &s);
    client_send(&answered, GET("/hello"));
    assert_int_equal(client_status(&answered, text, sizeof text), 200);
    client_send(&busy, GET("/park"));
    await_count(&s, &s.parked_count, 1);
    await_connections(&s, 3);
    assert_code(pawl__server_drain(s.server, pawl_env_monotonic_ns(s.env)), PAWL_ETIMEDOUT);
    assert_ended(&idle);
    assert_ended(&answered);
    later = (struct pawl_socket_wait){s.env, NULL, soon_ns(&s)};
    wait = &later;
    c.socket.fd = -1;
    assert_int_not_equal(pawl__socket_connect("127.0.0.1", s.port, wait, &c.socket, &s.err),
                         PAWL_OK);
    respond_parked(&s, 0);
    assert_int_equal(client_status(&busy, text, sizeof text), 200);
    assert_non_null(strstr(text, "Connection: close\r\n"));
    client_close(&busy);
    assert_code(pawl__server_drain(s.server, soon_ns(&s)), PAWL_OK);
    client_close(&idle);
    client_close(&answered);
    serving_close(&s);
}

static int open_and_close(struct test_allocator *alloc, void *arg)
{
    struct serving *s = arg;
    struct pawl_server *server;
    struct pawl_allocator before = s->env->alloc;
    int status;

    s->env->alloc = alloc->base;
    status = pawl__server_new(s->env, &s->options, &server, NULL);
    if (status == PAWL_OK)
        pawl__server_close(server);
    s->env->alloc = before;
    return status;
}

static void opening_without_memory_fails(void **state)
{
    struct serving s;

    (void)state;
    serving_open(&s);
    test_sweep_allocations(open_and_close, &s, 100);
    serving_close(&s);
}

/* RFC 9110, 5.6.7 */
static void dates_are_in_the_form_of_the_standard(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } dates[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {951868799, "Tue, 29 Feb 2000 23:59:59 GMT"},
        {1763510405, "Wed, 19 Nov 2025 00:00:05 GMT"},
        {4102444799, "Thu, 31 Dec 2099 23:59:59 GMT"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        char text[PAWL_HTTP_DATE_SIZE];

        pawl__response_date(dates[i].seconds * NS_PER_S + 999999999, text);
        assert_string_equal(text, dates[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_in_the_form_of_the_standard),
        cmocka_unit_test(answers_and_keeps_the_connection),
        cmocka_unit_test(http_1_0_ends_unless_asked_to_stay),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(head_has_the_length_and_no_body),
        cmocka_unit_test(expectations_are_met_or_refused),
        cmocka_unit_test(a_handler_sees_the_request),
        cmocka_unit_test(unknown_paths_and_methods_are_told_apart),
        cmocka_unit_test(permissions_are_asked_before_the_body),
        cmocka_unit_test(a_field_with_a_line_end_is_not_sent),
        cmocka_unit_test(a_waiting_request_holds_no_thread),
        cmocka_unit_test(the_loop_answers_when_all_workers_are_busy),
        cmocka_unit_test(large_bodies_go_both_ways),
        cmocka_unit_test(listens_at_several_places),
        cmocka_unit_test(a_drain_lets_requests_end_and_closes_the_rest),
        cmocka_unit_test(opening_without_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
