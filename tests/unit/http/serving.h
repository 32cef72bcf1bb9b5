/* SPDX-License-Identifier: Apache-2.0 */
/* A server on loopback with some routes, and a client that speaks to it byte by byte. */
#ifndef PAWL_TESTS_UNIT_HTTP_SERVING_H
#define PAWL_TESTS_UNIT_HTTP_SERVING_H

#include "base/buf.h"
#include "http/server.h"
#include "lib/test.h"
#include "os/socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARKED_MAX 64
#define BIG_BYTES ((size_t)32 << 20)

struct serving {
    struct test_allocator alloc;
    struct pawl_env *env;
    struct pawl_allocator env_alloc; /* the environment's own */
    struct pawl_server *server;
    struct pawl_server_options options;
    struct pawl_error err;
    uint16_t port;
    /* Guarded by the mutex. */
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    struct pawl_exchange *parked[PARKED_MAX];
    int parked_count, gone_count, answered_count, last_status;
    bool gate_open;
};

struct client {
    struct serving *s;
    struct pawl_socket socket;
    struct pawl_buf in;
    size_t awaited; /* length of the answer that is being read; 0: not known */
};

/* ---- routes ------------------------------------------------------------------------------ */

static inline void serve_hello(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__buf_text(pawl__exchange_out(exchange), "hello");
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    pawl__exchange_respond(exchange, 200);
}

static inline void serve_echo(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__buf_str(pawl__exchange_out(exchange), pawl__exchange_body(exchange));
    pawl__exchange_respond(exchange, 200);
}

/* What the handler sees of a request. */
static inline void serve_show(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_buf *out = pawl__exchange_out(exchange);
    struct pawl_str name, value;

    (void)ctx;
    pawl__buf_str(out, pawl__exchange_method(exchange));
    pawl__buf_byte(out, ' ');
    pawl__buf_str(out, pawl__exchange_path(exchange));
    pawl__buf_byte(out, '?');
    pawl__buf_str(out, pawl__exchange_query(exchange));
    pawl__buf_text(out, " id=");
    pawl__buf_str(out, pawl__exchange_parameter(exchange, "id"));
    for (size_t i = 0; i < pawl__exchange_field_count(exchange); i++) {
        pawl__exchange_field_at(exchange, i, &name, &value);
        pawl__buf_printf(out, " %.*s=[%.*s]", PAWL_STR_ARG(name), PAWL_STR_ARG(value));
    }
    pawl__exchange_respond(exchange, 200);
}

static inline void serve_big(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_buf *out = pawl__exchange_out(exchange);
    char *to = pawl__buf_reserve(out, BIG_BYTES);

    (void)ctx;
    if (to) {
        memset(to, 'b', BIG_BYTES);
        out->len += BIG_BYTES;
    }
    pawl__exchange_respond(exchange, 200);
}

static inline void note_gone(void *ctx)
{
    struct serving *s = ctx;

    pawl_mutex_lock_always(s->env, s->mutex);
    s->gone_count++;
    pawl_cond_broadcast(s->env, s->cond);
    pawl_mutex_unlock(s->env, s->mutex);
}

/* Put aside: somebody responds later, or nobody waits any more. */
static inline void serve_park(struct pawl_exchange *exchange, void *ctx)
{
    struct serving *s = ctx;

    if (!pawl__exchange_on_gone(exchange, note_gone, s))
        note_gone(s);
    pawl_mutex_lock_always(s->env, s->mutex);
    PAWL_ASSERT(s->parked_count < PARKED_MAX);
    s->parked[s->parked_count++] = exchange;
    pawl_cond_broadcast(s->env, s->cond);
    pawl_mutex_unlock(s->env, s->mutex);
}

/* Holds its thread until the gate opens. */
static inline void serve_gate(struct pawl_exchange *exchange, void *ctx)
{
    struct serving *s = ctx;

    pawl_mutex_lock_always(s->env, s->mutex);
    s->parked_count++;
    pawl_cond_broadcast(s->env, s->cond);
    while (!s->gate_open)
        (void)!pawl_cond_wait(s->env, s->cond, s->mutex, PAWL_FOREVER);
    s->parked_count--;
    pawl_mutex_unlock(s->env, s->mutex);
    pawl__exchange_respond(exchange, 204);
}

static inline void serve_wrong_field(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__exchange_add_field(exchange, "Location", "/a\r\nSet-Cookie: x");
    pawl__exchange_respond(exchange, 302);
}

static inline int admit(void *ctx, struct pawl_exchange *exchange, const char **detail)
{
    struct pawl_str key = pawl__exchange_field(exchange, "authorization");

    (void)ctx;
    *detail = "Who are you?";
    if (!key.ptr)
        return 401;
    *detail = "Not for you.";
    return pawl__str_is(key, "right") ? 0 : 403;
}

static inline void observe(void *ctx, const struct pawl_exchange *exchange, int status,
                           int64_t duration_ns)
{
    struct serving *s = ctx;

    (void)exchange;
    (void)duration_ns;
    pawl_mutex_lock_always(s->env, s->mutex);
    s->answered_count++;
    s->last_status = status;
    pawl_mutex_unlock(s->env, s->mutex);
}

static const struct pawl_route serving_routes[] = {
    {.method = "GET", .path = "/hello", .handle = serve_hello},
    {.method = "GET", .path = "/loop", .handle = serve_hello, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "POST", .path = "/echo", .handle = serve_echo},
    {.method = "PUT", .path = "/small", .handle = serve_echo, .body_bytes_max = 4},
    {.method = "GET", .path = "/show/{id}", .handle = serve_show},
    {.method = "GET", .path = "/big", .handle = serve_big},
    {.method = "GET", .path = "/park", .handle = serve_park, .flags = PAWL_ROUTE_NO_DEADLINE},
    {.method = "GET", .path = "/late", .handle = serve_park, .deadline_ms = 20},
    {.method = "GET", .path = "/gate", .handle = serve_gate},
    {.method = "GET", .path = "/wrong", .handle = serve_wrong_field},
    {.method = "POST", .path = "/secret", .handle = serve_echo, .permission = "read:secrets"},
};

/* ---- the server -------------------------------------------------------------------------- */

static inline int64_t soon_ns(struct serving *s)
{
    return pawl_env_monotonic_ns(s->env) + INT64_C(120000000000); /* only a hang takes so long */
}

static inline void serving_open(struct serving *s)
{
    memset(s, 0, sizeof *s);
    test_allocator_init(&s->alloc);
    assert_ok(pawl_system_env_open(&s->env, &s->err), &s->err);
    s->env_alloc = s->env->alloc;
    s->env->alloc = s->alloc.base;
    assert_code(pawl_mutex_new(s->env, "serving", &s->mutex), PAWL_OK);
    assert_code(pawl_cond_new(s->env, "serving", &s->cond), PAWL_OK);
    s->options = (struct pawl_server_options){
        .routes = serving_routes,
        .route_count = sizeof serving_routes / sizeof serving_routes[0],
        .ctx = s,
        .admit = admit,
        .observe = observe,
        .limits = pawl__server_limits(),
    };
    s->options.limits.threads_max = 4;
    s->options.limits.linger_ms = 60000; /* until the client has ended too */
    /* A client that stands still with its machine is not a slow one: tests of limits set theirs. */
    s->options.limits.head_ms = 600000;
    s->options.limits.body_ms = 600000;
    s->options.limits.request_ms = 600000;
    s->options.limits.send_ms = 600000;
    s->options.limits.idle_ms = 600000;
}

static inline void serving_start_at(struct serving *s, const char *where)
{
    assert_ok(pawl__server_new(s->env, &s->options, &s->server, &s->err), &s->err);
    assert_ok(pawl__server_listen(s->server, where, &s->err), &s->err);
    s->port = pawl__server_port(s->server, 0);
    assert_ok(pawl__server_start(s->server, &s->err), &s->err);
}

static inline void serving_start(struct serving *s)
{
    serving_start_at(s, "127.0.0.1:0");
}

static inline void serving_close(struct serving *s)
{
    pawl__server_close(s->server);
    pawl_cond_free(s->env, s->cond);
    pawl_mutex_free(s->env, s->mutex);
    s->env->alloc = s->env_alloc;
    assert_int_equal(s->alloc.live_count, 0);
    pawl_system_env_close(s->env);
}

/* Waits until *count is at least so many. */
static inline void await_count(struct serving *s, const int *count, int least)
{
    int64_t deadline_ns = soon_ns(s);
    int status = PAWL_OK;

    pawl_mutex_lock_always(s->env, s->mutex);
    while (*count < least && status == PAWL_OK)
        status = pawl_cond_wait(s->env, s->cond, s->mutex, deadline_ns);
    pawl_mutex_unlock(s->env, s->mutex);
    assert_code(status, PAWL_OK);
}

static inline void respond_parked(struct serving *s, int index)
{
    pawl__buf_text(pawl__exchange_out(s->parked[index]), "parked");
    pawl__exchange_respond(s->parked[index], 200);
}

/* Waits until the server has so many connections. */
static inline void await_connections(struct serving *s, uint64_t count)
{
    int64_t deadline_ns = soon_ns(s);
    struct pawl_server_figures figures;

    do {
        pawl__server_figures(s->server, &figures);
        assert_code(pawl_env_sleep_until(s->env, pawl_env_monotonic_ns(s->env) + 1000000), PAWL_OK);
    } while (figures.connections != count && pawl_env_monotonic_ns(s->env) < deadline_ns);
    assert_int_equal(figures.connections, count);
}

/* ---- the client -------------------------------------------------------------------------- */

static inline void client_open(struct client *c, struct serving *s)
{
    const struct pawl_socket_wait wait = {s->env, NULL, soon_ns(s)};

    memset(c, 0, sizeof *c);
    c->s = s;
    c->socket.fd = -1;
    assert_ok(pawl__socket_connect("127.0.0.1", s->port, &wait, &c->socket, &s->err), &s->err);
    pawl__buf_init(&c->in, &s->alloc.base, BIG_BYTES + 65536);
}

static inline void client_close(struct client *c)
{
    pawl__socket_close(&c->socket);
    pawl__buf_release(&c->in);
}

/* What the server does not take any more is no failure: it may have answered already. */
static inline void client_send_bytes(struct client *c, const char *bytes, size_t size)
{
    const struct pawl_socket_wait wait = {c->s->env, NULL, soon_ns(c->s)};
    size_t written;

    if (pawl__socket_write(&c->socket, bytes, size, &wait, &written, NULL) == PAWL_ETIMEDOUT)
        fail_msg("the server does not read");
}

static inline void client_send(struct client *c, const char *text)
{
    client_send_bytes(c, text, strlen(text));
}

/* false: the server has ended, or aborted. */
static inline bool client_read(struct client *c)
{
    const struct pawl_socket_wait wait = {c->s->env, NULL, soon_ns(c->s)};
    size_t got = 0;
    char *to = pawl__buf_reserve(&c->in, 65536);
    int status;

    assert_non_null(to);
    status = pawl__socket_read(&c->socket, to, 65536, &wait, &got, NULL);
    if (status == PAWL_ETIMEDOUT)
        fail_msg("no answer; so far: %s", pawl__buf_cstr(&c->in));
    c->in.len += got;
    return status == PAWL_OK && got > 0;
}

/* From its head; 0: that is not complete. */
static inline size_t answer_total(struct client *c, bool head)
{
    const char *text = pawl__buf_cstr(&c->in);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = strstr(text, "Content-Length: ");
    size_t total;

    if (!end)
        return 0;
    total = (size_t)(end - text) + 4;
    if (length && length < end && !head)
        total += strtoul(length + 16, NULL, 10);
    return total;
}

/* The answer's length in `in` once it is complete; 0 before. A long one is searched once. */
static inline size_t answer_length(struct client *c, bool head)
{
    size_t total = c->awaited > 0 ? c->awaited : answer_total(c, head);
    bool complete = total > 0 && c->in.len >= total;

    c->awaited = complete ? 0 : total;
    return complete ? total : 0;
}

/*
 * Waits for one answer, which stays borrowed until the next call; `head`: to HEAD. The empty string
 * when the connection ended before.
 */
static inline struct pawl_str client_answer_to(struct client *c, struct pawl_buf *keep, bool head)
{
    size_t length;

    pawl__buf_clear(keep);
    while ((length = answer_length(c, head)) == 0) {
        if (!client_read(c))
            return pawl__str("");
    }
    pawl__buf_append(keep, c->in.ptr, length);
    memmove(c->in.ptr, c->in.ptr + length, c->in.len - length);
    c->in.len -= length;
    (void)pawl__buf_cstr(keep);
    return pawl__buf_peek(keep);
}

static inline int status_of(struct pawl_str answer)
{
    return answer.len > 12 ? (int)strtol(answer.ptr + 9, NULL, 10) : 0;
}

/* The status of the next answer; 0: the connection ended. The text goes to `text`, cut. */
static inline int client_status(struct client *c, char *text, size_t size)
{
    struct pawl_buf keep;
    struct pawl_str answer;
    int status;

    pawl__buf_init(&keep, &c->s->alloc.base, BIG_BYTES + 65536);
    answer = client_answer_to(c, &keep, false);
    status = status_of(answer);
    if (text)
        (void)snprintf(text, size, "%.*s", PAWL_STR_ARG(answer));
    pawl__buf_release(&keep);
    return status;
}

static inline void assert_ended(struct client *c)
{
    while (client_read(c))
        continue;
    assert_int_equal(c->in.len, 0);
}

/* One request on a connection of its own. */
static inline int ask(struct serving *s, const char *request, char *text, size_t size)
{
    struct client c;
    int status;

    client_open(&c, s);
    client_send(&c, request);
    status = client_status(&c, text, size);
    client_close(&c);
    return status;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

#endif
