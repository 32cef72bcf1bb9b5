/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out while the server serves: each allocation of a conversation fails once, and
 * from there on all of them. A client gets a whole response or the end of its connection; the next
 * one is served as before; nothing is left. The loop runs on this thread, on the network in memory,
 * whose own memory is another's.
 */
#include "http/server.h"
#include "http/stream.h"
#include "lib/test.h"
#include "os/memory_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECEIVED_MAX 65536
#define SWEEP_MAX 400

struct world {
    struct test_allocator alloc; /* the server's */
    struct pawl_env *env, *outside;
    struct pawl_allocator env_alloc;
    struct pawl_memory_network *network;
    struct pawl_server *server;
    int listener;
};

/* ---- routes, all on the loop -------------------------------------------------------------- */

static void serve_echo(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    pawl__buf_str(pawl__exchange_out(exchange), pawl__exchange_body(exchange));
    pawl__exchange_respond(exchange, 200);
}

static void serve_pieces(struct pawl_exchange *exchange, void *ctx)
{
    int status = pawl__exchange_begin(exchange, 200, PAWL_LENGTH_UNKNOWN);

    (void)ctx;
    if (status != PAWL_OK) {
        pawl__exchange_refuse(exchange, 503, "no memory");
        return;
    }
    for (int i = 0; i < 5 && status == PAWL_OK; i++)
        status = pawl__exchange_write(exchange, pawl__str("a piece of it "));
    pawl__exchange_end(exchange, status == PAWL_OK);
}

static void serve_event(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    if (pawl__events_begin(exchange) != PAWL_OK) {
        pawl__exchange_refuse(exchange, 503, "no memory");
        return;
    }
    pawl__exchange_end(exchange, pawl__events_send(exchange, pawl__str("n"), pawl__str(""),
                                                   pawl__str("a\nb")) == PAWL_OK);
}

static const struct pawl_route routes[] = {
    {.method = "POST", .path = "/echo/{id}", .handle = serve_echo, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET", .path = "/pieces", .handle = serve_pieces, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET", .path = "/event", .handle = serve_event, .flags = PAWL_ROUTE_ON_LOOP},
};

static const char *const conversations[] = {
    ("POST /echo/%41 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"
     "POST /echo/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
     "chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"),
    "GET /pieces HTTP/1.1\r\nHost: x\r\n\r\nGET /pieces HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /event HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "POST /echo/1 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
};

/* ---- the world --------------------------------------------------------------------------- */

static void open_world(struct world *w)
{
    struct pawl_server_options options = {
        .routes = routes,
        .route_count = sizeof routes / sizeof routes[0],
        .limits = pawl__server_limits(),
    };
    struct pawl_error err = PAWL_ERROR_INIT;

    memset(w, 0, sizeof *w);
    test_allocator_init(&w->alloc);
    assert_ok(pawl_system_env_open(&w->outside, &err), &err);
    assert_ok(pawl_system_env_open(&w->env, &err), &err);
    w->env_alloc = w->env->alloc;
    w->env->alloc = w->alloc.base;
    assert_code(pawl__memory_network_new(w->outside, &w->network), PAWL_OK);
    assert_code(pawl__memory_network_listen(w->network, &w->listener), PAWL_OK);
    options.poller = pawl__memory_network_poller(w->network);
    assert_ok(pawl__server_new(w->env, &options, &w->server, &err), &err);
    assert_ok(pawl__server_listen_descriptor(w->server, w->listener, &err), &err);
}

static void close_world(struct world *w)
{
    pawl__server_close(w->server);
    pawl__memory_network_free(w->network);
    w->env->alloc = w->env_alloc;
    assert_int_equal(w->alloc.live_count, 0);
    pawl_system_env_close(w->env);
    pawl_system_env_close(w->outside);
}

/* Sends all in two pieces and reads what comes. Whether the server ended the connection. */
static bool converse(struct world *w, const char *text, char *received)
{
    size_t len = 0, got, half = strlen(text) / 2;
    bool over = false;
    int fd;

    assert_code(pawl__memory_network_connect(w->network, w->listener, &fd), PAWL_OK);
    pawl__memory_network_window(w->network, fd, RECEIVED_MAX);
    for (int i = 0; i < 20; i++) {
        if (i < 2)
            over = pawl__memory_network_send(
                       w->network, fd, i == 0 ? pawl__str_make(text, half) : pawl__str(text + half),
                       INT64_MIN) == PAWL_EUNAVAILABLE ||
                   over;
        assert_code(pawl__server_turn(w->server, INT64_MIN), PAWL_OK);
        got = 1;
        while (len < RECEIVED_MAX - 1 && got > 0) {
            int status = pawl__memory_network_receive(w->network, fd, received + len,
                                                      RECEIVED_MAX - 1 - len, INT64_MIN, &got);

            if (status != PAWL_OK || got == 0) {
                over = over || status == PAWL_EUNAVAILABLE || (status == PAWL_OK && got == 0);
                break;
            }
            len += got;
        }
    }
    received[len] = '\0';
    pawl__memory_network_hang_up(w->network, fd, false);
    for (int i = 0; i < 4; i++)
        assert_code(pawl__server_turn(w->server, INT64_MIN), PAWL_OK);
    return over;
}

/* The status lines of what came, one behind the other. */
static int count_responses(const char *received)
{
    int count = 0;

    for (const char *at = received; (at = strstr(at, "HTTP/1.1 ")) != NULL; at++)
        count++;
    return count;
}

static void memory_that_runs_out_ends_one_conversation_only(void **state)
{
    static char whole[RECEIVED_MAX], received[RECEIVED_MAX];
    struct world w;

    (void)state;
    open_world(&w);
    for (size_t i = 0; i < sizeof conversations / sizeof conversations[0]; i++) {
        bool ended = converse(&w, conversations[i], whole);
        size_t n = 0, before;

        assert_true(count_responses(whole) > 0);
        do {
            for (int all = 0; all < 2; all++) {
                bool over;

                n += all == 0;
                before = w.alloc.request_count;
                test_allocator_fail(&w.alloc, n, all);
                over = converse(&w, conversations[i], received);
                test_allocator_fail(&w.alloc, 0, 0);
                /* Either all that comes otherwise, or a response that is one, or an end. */
                if (!over && count_responses(received) != count_responses(whole))
                    fail_msg("allocation %zu: neither a response nor an end: %s", n, received);
                assert_true(*received == '\0' ||
                            strncmp(received, "HTTP/1.1 ", strlen("HTTP/1.1 ")) == 0);
            }
            assert_true(n < SWEEP_MAX);
        } while (w.alloc.request_count - before >= n);
        assert_true(n > 2);
        assert_true(converse(&w, conversations[i], received) == ended);
        assert_int_equal(count_responses(received), count_responses(whole));
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_runs_out_ends_one_conversation_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
