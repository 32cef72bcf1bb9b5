/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server under the baton, on a network in memory: clients send in pieces, read slowly, hang up,
 * wait for what another thread answers; deadlines come; the server drains. A seed decides how all
 * of that meets. Whoever waits for an answer gets one, whole, to its own request; nothing is left.
 */
#include "http/server.h"
#include "http/stream.h"
#include "http/websocket.h"
#include "lib/test.h"
#include "os/baton.h"
#include "os/memory_network.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 400
#define CLIENTS 3
#define REQUESTS 4
#define PARKED_MAX (CLIENTS * REQUESTS * 3)
#define NS_PER_MS INT64_C(1000000)

struct world {
    struct pawl_env *env;
    struct pawl_memory_network *network;
    struct pawl_server *server;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *cond;
    struct pawl_exchange *parked[PARKED_MAX];
    int parked_count, gone, clients_left;
    int sockets, in_message; /* WebSockets that are open; their messages in hand */
    bool stopped;
    int listener;
    atomic_bool ending; /* the server drains */
    uint64_t seed;
    struct pawl_thread *threads[CLIENTS + 2];
};

struct visitor {
    struct world *w;
    int number;
    uint64_t random;
    int fd;
    bool ended;
    char in[4096];
    size_t len;
};

/* ---- handlers ---------------------------------------------------------------------------- */

static void answer(struct pawl_exchange *exchange)
{
    pawl__buf_text(pawl__exchange_out(exchange), "for ");
    pawl__buf_str(pawl__exchange_out(exchange), pawl__exchange_query(exchange));
    pawl__buf_text(pawl__exchange_out(exchange), " ");
    pawl__buf_str(pawl__exchange_out(exchange), pawl__exchange_body(exchange));
    pawl__exchange_respond(exchange, 200);
}

static void handle_now(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    answer(exchange);
}

static void note_gone(void *ctx)
{
    struct world *w = ctx;

    pawl_mutex_lock_always(w->env, w->mutex);
    w->gone++;
    pawl_mutex_unlock(w->env, w->mutex);
}

static void handle_later(struct pawl_exchange *exchange, void *ctx)
{
    struct world *w = ctx;

    (void)pawl__exchange_on_gone(exchange, note_gone, w);
    pawl_mutex_lock_always(w->env, w->mutex);
    w->parked[w->parked_count++] = exchange;
    pawl_cond_broadcast(w->env, w->cond);
    pawl_mutex_unlock(w->env, w->mutex);
}

/* Another part of the program: answers what was put aside, some of it past its deadline. */
static void respond_later(void *arg)
{
    struct world *w = arg;
    uint64_t random = w->seed ^ 0x5eed;

    for (;;) {
        struct pawl_exchange *exchange = NULL;

        pawl_mutex_lock_always(w->env, w->mutex);
        while (w->parked_count == 0 && !w->stopped &&
               pawl_cond_wait(w->env, w->cond, w->mutex, PAWL_FOREVER) == PAWL_OK)
            continue;
        if (w->parked_count > 0)
            exchange = w->parked[--w->parked_count];
        pawl_mutex_unlock(w->env, w->mutex);
        if (!exchange)
            return;
        (void)!pawl_env_sleep_until(w->env, pawl_env_monotonic_ns(w->env) +
                                                (int64_t)(test_random(&random) % 300) * NS_PER_MS);
        (void)pawl__exchange_is_gone(exchange);
        answer(exchange);
    }
}

/* The same response in pieces of a few bytes; `owner` has what was written, and one. */
static void go_on_writing(struct pawl_exchange *exchange, void *ctx)
{
    char text[256];
    size_t begun = (size_t)(uintptr_t)pawl__exchange_owner(exchange), done = begun ? begun - 1 : 0;
    size_t size = (size_t)snprintf(text, sizeof text, "for %.*s %.*s",
                                   PAWL_STR_ARG(pawl__exchange_query(exchange)),
                                   PAWL_STR_ARG(pawl__exchange_body(exchange)));
    int status = PAWL_OK;

    if (begun == 0) {
        status = pawl__exchange_begin(exchange, 200, size);
        PAWL_ASSERT(status == PAWL_OK);
    }
    while (done < size && status == PAWL_OK) {
        size_t piece = size - done < 3 ? size - done : 3;

        status = pawl__exchange_write(exchange, pawl__str_make(text + done, piece));
        done += status == PAWL_OK ? piece : 0;
    }
    pawl__exchange_set_owner(exchange, (void *)(uintptr_t)(done + 1));
    if (status == PAWL_EBUSY)
        pawl__exchange_when_writable(exchange, go_on_writing, ctx);
    else
        pawl__exchange_end(exchange, status == PAWL_OK);
}

/* Says the same; closes when it is told to. */
static void echo_message(struct pawl_websocket *socket, void *ctx, bool text, struct pawl_str bytes)
{
    struct world *w = ctx;
    int status;

    pawl_mutex_lock_always(w->env, w->mutex);
    w->in_message++;
    PAWL_ASSERT(w->sockets > 0);
    pawl_mutex_unlock(w->env, w->mutex);
    status = pawl__websocket_send(socket, text, bytes);
    PAWL_ASSERT(status == PAWL_OK || status == PAWL_EBUSY || status == PAWL_EUNAVAILABLE);
    if (pawl__str_is(bytes, "bye"))
        pawl__websocket_close(socket, 4000, "bye");
    pawl_mutex_lock_always(w->env, w->mutex);
    w->in_message--;
    pawl_mutex_unlock(w->env, w->mutex);
}

static void note_closed(struct pawl_websocket *socket, void *ctx, int code)
{
    struct world *w = ctx;

    (void)socket;
    PAWL_ASSERT(code > 0);
    pawl_mutex_lock_always(w->env, w->mutex);
    w->sockets--;
    pawl_mutex_unlock(w->env, w->mutex);
}

static const struct pawl_websocket_handler socket_handler = {.message = echo_message,
                                                             .closed = note_closed};

static void handle_socket(struct pawl_exchange *exchange, void *ctx)
{
    struct world *w = ctx;
    struct pawl_websocket *socket;

    pawl_mutex_lock_always(w->env, w->mutex);
    w->sockets++;
    pawl_mutex_unlock(w->env, w->mutex);
    if (pawl__websocket_accept(exchange, &socket_handler, w, NULL, &socket) == PAWL_OK)
        return;
    pawl_mutex_lock_always(w->env, w->mutex);
    w->sockets--; /* it has gone already */
    pawl_mutex_unlock(w->env, w->mutex);
}

static const struct pawl_route routes[] = {
    {.method = "GET", .path = "/socket", .handle = handle_socket},
    {.method = "POST", .path = "/pool", .handle = handle_now},
    {.method = "POST", .path = "/loop", .handle = handle_now, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "POST", .path = "/pieces", .handle = go_on_writing},
    {.method = "POST", .path = "/later", .handle = handle_later, .deadline_ms = 200},
};

/* ---- clients ----------------------------------------------------------------------------- */

static uint64_t draw(struct visitor *v, uint64_t below)
{
    return test_random(&v->random) % below;
}

static void pause_a_little(struct visitor *v)
{
    if (draw(v, 3) == 0)
        (void)!pawl_env_sleep_until(v->w->env, pawl_env_monotonic_ns(v->w->env) +
                                                   (int64_t)draw(v, 20) * NS_PER_MS);
}

/* false: the server has hung up. */
static bool send_in_pieces(struct visitor *v, const char *text, size_t len)
{
    while (len > 0) {
        size_t size = 1 + draw(v, len);

        if (pawl__memory_network_send(v->w->network, v->fd, pawl__str_make(text, size),
                                      PAWL_FOREVER) != PAWL_OK)
            return false;
        text += size;
        len -= size;
        pause_a_little(v);
    }
    return true;
}

static size_t answer_length(const struct visitor *v)
{
    const char *end = strstr(v->in, "\r\n\r\n");
    const char *length = strstr(v->in, "Content-Length: ");
    size_t total;

    if (!end || !length)
        return 0;
    total = (size_t)(end - v->in) + 4 + strtoul(length + 16, NULL, 10);
    return v->len >= total ? total : 0;
}

/* 0: the connection ended without an answer. */
static int receive_answer(struct visitor *v, const char *expected)
{
    size_t length, got;
    int status;

    while ((length = answer_length(v)) == 0) {
        if (pawl__memory_network_receive(v->w->network, v->fd, v->in + v->len,
                                         1 + draw(v, sizeof v->in - 2 - v->len), PAWL_FOREVER,
                                         &got) != PAWL_OK ||
            got == 0)
            return 0;
        v->len += got;
        v->in[v->len] = '\0';
        pause_a_little(v);
    }
    status = (int)strtol(v->in + 9, NULL, 10);
    if (status == 200) {
        char whole[256];

        (void)snprintf(whole, sizeof whole, "\r\n\r\n%s", expected);
        if (length <= strlen(whole) ||
            memcmp(v->in + length - strlen(whole), whole, strlen(whole)) != 0) {
            (void)fprintf(stderr, "seed %llu: expected \"%s\" at the end of: %s\n",
                          (unsigned long long)v->w->seed, expected, v->in);
            abort();
        }
    }
    memmove(v->in, v->in + length, v->len - length + 1);
    v->len -= length;
    return status;
}

static bool connect_to_server(struct visitor *v)
{
    v->len = 0;
    v->in[0] = '\0';
    if (pawl__memory_network_connect(v->w->network, v->w->listener, &v->fd) != PAWL_OK)
        return false;
    pawl__memory_network_window(v->w->network, v->fd, 1 + draw(v, 200));
    return true;
}

static void hang_up(struct visitor *v)
{
    if (v->fd >= 0)
        pawl__memory_network_hang_up(v->w->network, v->fd, draw(v, 2) == 0);
    v->fd = -1;
}

static const char *const paths[] = {"/pool", "/loop", "/later", "/pieces"};

/* Writes a request and what its answer must say; returns which path it has. */
static size_t make_request(struct visitor *v, int number, char *request, size_t size,
                           char *expected, size_t expected_size)
{
    size_t path = draw(v, 4);

    (void)snprintf(request, size,
                   "POST %s?%d.%d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "4\r\nbody\r\n0\r\n\r\n",
                   paths[path], v->number, number);
    (void)snprintf(expected, expected_size, "for %d.%d body", v->number, number);
    return path;
}

/* One to three requests, one right behind the other. false: the connection is over. */
static bool visit(struct visitor *v, int round)
{
    char all[1024] = "", expected[3][64];
    size_t count = 1 + draw(v, 3), path[3], len = 0;

    for (size_t i = 0; i < count; i++) {
        path[i] = make_request(v, round * 10 + (int)i, all + len, sizeof all - len, expected[i],
                               sizeof expected[i]);
        len = strlen(all);
    }
    if (draw(v, 6) == 0) {
        (void)send_in_pieces(v, all, draw(v, len + 1));
        hang_up(v);
        return false;
    }
    if (!send_in_pieces(v, all, len))
        return false;
    v->ended = draw(v, 8) == 0;
    if (v->ended) /* answers are still read */
        pawl__memory_network_end(v->w->network, v->fd);
    for (size_t i = 0; i < count; i++) {
        int status = receive_answer(v, expected[i]);

        /* Nothing is refused but by the deadline of a route, or because the server ends. */
        PAWL_ASSERT(status == 200 || status == 0 || (status == 504 && path[i] == 2));
        PAWL_ASSERT(status != 0 || v->w->ending);
        if (status != 200)
            return false;
    }
    return true;
}

/* Frames that are cut and answered slowly; then a close by either side, or a hang-up. */
static void visit_socket(struct visitor *v)
{
    static const char request[] =
        "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    static const char frames[] = "\x81\x82\0\0\0\0hi\x89\x81\0\0\0\0p\x01\x81\0\0\0\0h"
                                 "\x80\x81\0\0\0\0o\x81\x83\0\0\0\0bye";
    static const char close_frame[] = "\x88\x82\0\0\0\0\x03\xe8";
    size_t got = 1, most = draw(v, 5) == 0 ? draw(v, sizeof frames) : sizeof frames - 1;

    if (!send_in_pieces(v, request, sizeof request - 1) || !send_in_pieces(v, frames, most))
        return;
    if (most == sizeof frames - 1 && draw(v, 2) == 0)
        (void)send_in_pieces(v, close_frame, sizeof close_frame - 1);
    if (draw(v, 4) == 0)
        return; /* hangs up */
    if (most < sizeof frames - 1)
        pawl__memory_network_end(v->w->network, v->fd);
    while (got > 0 && pawl__memory_network_receive(v->w->network, v->fd, v->in, sizeof v->in - 1,
                                                   PAWL_FOREVER, &got) == PAWL_OK)
        pause_a_little(v);
}

static void run_client(void *arg)
{
    struct visitor *v = arg;
    struct world *w = v->w;

    v->fd = -1;
    for (int i = 0; i < REQUESTS; i++) {
        if (v->fd < 0 && !connect_to_server(v))
            break; /* it drains */
        if (v->len == 0 && draw(v, 5) == 0) {
            visit_socket(v);
            hang_up(v);
            continue;
        }
        if (!visit(v, i) || v->ended || draw(v, 4) == 0)
            hang_up(v);
    }
    hang_up(v);
    pawl_mutex_lock_always(w->env, w->mutex);
    w->clients_left--;
    pawl_cond_broadcast(w->env, w->cond);
    pawl_mutex_unlock(w->env, w->mutex);
}

/* Ends the server, while clients still come or when they have gone. */
static void run_end(void *arg)
{
    struct world *w = arg;
    uint64_t random = w->seed ^ 0xe4d;
    int64_t start_ns = (int64_t)(test_random(&random) % 1000) * NS_PER_MS;

    (void)!pawl_env_sleep_until(w->env, pawl_env_monotonic_ns(w->env) + start_ns);
    w->ending = true;
    if (w->seed % 7 == 3)
        pawl__baton_env_stop(w->env); /* a crash: everything unwinds */
    (void)!pawl__server_drain(w->server, pawl_env_monotonic_ns(w->env) + 100 * NS_PER_MS);
    pawl_mutex_lock_always(w->env, w->mutex);
    while (w->clients_left > 0 &&
           pawl_cond_wait(w->env, w->cond, w->mutex,
                          pawl_env_monotonic_ns(w->env) + 60000 * NS_PER_MS) == PAWL_OK)
        continue;
    pawl_mutex_unlock(w->env, w->mutex);
    pawl__server_stop(w->server);
    pawl_mutex_lock_always(w->env, w->mutex);
    w->stopped = true;
    pawl_cond_broadcast(w->env, w->cond);
    pawl_mutex_unlock(w->env, w->mutex);
    pawl_thread_join(w->env, w->threads[CLIENTS]);
    while (w->parked_count > 0) /* it could not wait for these in a crash */
        answer(w->parked[--w->parked_count]);
    pawl__server_close(w->server);
    PAWL_ASSERT(w->sockets == 0 && w->in_message == 0);
}

/* ---- one seed ---------------------------------------------------------------------------- */

static void run_seed(uint64_t seed)
{
    const struct pawl_baton_options options = {.pause_ppm = seed % 2 ? 20000 : 0,
                                               .pause_ns_max = 50 * NS_PER_MS,
                                               .spurious_ppm = seed % 3 ? 0 : 10000};
    struct pawl_server_options server_options = {
        .routes = routes, .route_count = 5, .limits = pawl__server_limits()};
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct visitor visitors[CLIENTS];
    struct world w = {.seed = seed, .clients_left = CLIENTS};

    test_allocator_init(&alloc);
    assert_code(pawl__baton_new(&alloc.base, seed, &options, &baton), PAWL_OK);
    assert_code(pawl__baton_env(baton, "node", &w.env), PAWL_OK);
    assert_code(pawl_mutex_new(w.env, "world", &w.mutex), PAWL_OK);
    assert_code(pawl_cond_new(w.env, "world", &w.cond), PAWL_OK);
    assert_code(pawl__memory_network_new(w.env, &w.network), PAWL_OK);
    assert_code(pawl__memory_network_listen(w.network, &w.listener), PAWL_OK);
    server_options.ctx = &w;
    server_options.poller = pawl__memory_network_poller(w.network);
    server_options.limits.threads_max = 2;
    server_options.limits.linger_ms = 100;
    server_options.limits.stream_bytes_max = 8;
    if (seed % 5 == 0)
        pawl__memory_network_limit(w.network, 1); /* descriptors are scarce */
    assert_ok(pawl__server_new(w.env, &server_options, &w.server, &err), &err);
    assert_ok(pawl__server_listen_descriptor(w.server, w.listener, &err), &err);
    assert_ok(pawl__server_start(w.server, &err), &err);
    for (int i = 0; i < CLIENTS; i++) {
        visitors[i] = (struct visitor){.w = &w, .number = i, .random = seed * 100 + (uint64_t)i};
        assert_ok(pawl_thread_start(w.env, "client", run_client, &visitors[i], &w.threads[i], &err),
                  &err);
    }
    assert_ok(pawl_thread_start(w.env, "later", respond_later, &w, &w.threads[CLIENTS], &err),
              &err);
    assert_ok(pawl_thread_start(w.env, "end", run_end, &w, &w.threads[CLIENTS + 1], &err), &err);
    if (pawl__baton_run(baton, &err) != PAWL_OK)
        fail_msg("seed %llu: %s\n%.*s", (unsigned long long)seed, err.msg,
                 PAWL_STR_ARG(pawl__baton_report(baton)));
    pawl__memory_network_free(w.network);
    pawl_cond_free(w.env, w.cond);
    pawl_mutex_free(w.env, w.mutex);
    pawl__baton_free(baton);
    if (alloc.live_count > 0)
        fail_msg("seed %llu: %zu blocks are left", (unsigned long long)seed,
                 (size_t)alloc.live_count);
}

static void every_seed_ends_with_nothing_left(void **state)
{
    const char *one = getenv("SEED"), *many = getenv("SEEDS");
    uint64_t count = many ? strtoull(many, NULL, 10) : SEEDS;

    (void)state;
    if (one) {
        run_seed(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t seed = 0; seed < count; seed++)
        run_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_ends_with_nothing_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
