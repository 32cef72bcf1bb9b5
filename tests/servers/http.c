/* SPDX-License-Identifier: Apache-2.0 */
/* The stub server: a thread that accepts, and one for each connection; see http.h. */
#include "servers/http.h"

#include "lib/test.h"
#include "os/socket.h"

#include <stdio.h>
#include <stdlib.h>

#define CONNECTIONS_MAX 256
#define REQUESTS_MAX 256
#define REQUEST_BYTES_MAX (1 << 20)
#define MINUTE_NS INT64_C(60000000000)

struct request {
    char *bytes; /* all of it, NUL behind */
    size_t len;
    size_t head; /* bytes up to the empty line, that included */
};

struct connection {
    struct test_http *server;
    struct pawl_socket socket;
    struct pawl_thread *thread;
};

struct test_http {
    struct pawl_env *env;
    struct pawl_socket listener;
    struct pawl_waker waker;
    struct pawl_thread *thread;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *cond;
    struct test_http_route *routes;
    size_t route_count;
    struct request requests[REQUESTS_MAX];
    size_t request_count;
    bool released;
    bool surplus_begun;
    bool surplus_sent;
    bool stop;
    struct connection connections[CONNECTIONS_MAX];
    size_t connection_count;
    size_t ended_count; /* of those */
    char url[64];
};

/* ---- one connection ---------------------------------------------------------------------- */

static struct pawl_socket_wait patience(struct test_http *server)
{
    return (struct pawl_socket_wait){server->env, &server->waker,
                                     pawl_env_monotonic_ns(server->env) + MINUTE_NS};
}

static void send_bytes(struct connection *c, const char *bytes, size_t len)
{
    struct pawl_socket_wait wait = patience(c->server);
    size_t written;

    (void)!pawl__socket_write(&c->socket, bytes, len, &wait, &written, NULL);
}

static struct pawl_str header_of(const struct request *request, const char *name)
{
    struct pawl_str wanted = pawl__str(name);
    const char *line = strchr(request->bytes, '\n');

    while (line && line + 1 < request->bytes + request->head) {
        const char *begin = line + 1, *end = strchr(begin, '\n');
        struct pawl_str text = pawl__str_make(begin, end ? (size_t)(end - begin) : 0);
        size_t colon = pawl__str_find(text, ':', 0);

        if (colon != SIZE_MAX && pawl__str_equal_nocase(pawl__str_slice(text, 0, colon), wanted))
            return pawl__str_trim(pawl__str_slice(text, colon + 1, text.len));
        line = end;
    }
    return pawl__str("");
}

/* Reads until head and body are there. false: the other side ended, or time did. */
static bool read_request(struct connection *c, struct request *request)
{
    struct pawl_socket_wait wait = patience(c->server);
    size_t wanted = SIZE_MAX;

    request->bytes = calloc(1, REQUEST_BYTES_MAX + 1);
    while (request->bytes && request->len < wanted) {
        size_t got = 0;
        char *end;

        if (request->len == REQUEST_BYTES_MAX ||
            pawl__socket_read(&c->socket, request->bytes + request->len,
                              REQUEST_BYTES_MAX - request->len, &wait, &got, NULL) != PAWL_OK ||
            got == 0)
            return false;
        request->len += got;
        end = wanted == SIZE_MAX ? strstr(request->bytes, "\r\n\r\n") : NULL;
        if (end) {
            struct pawl_str length;

            request->head = (size_t)(end + 4 - request->bytes);
            length = header_of(request, "Content-Length");
            wanted = request->head + (length.len > 0 ? strtoul(length.ptr, NULL, 10) : 0);
        }
    }
    return request->bytes != NULL;
}

/* The first word and the second of the request line. */
static struct pawl_str word(const struct request *request, int number)
{
    const char *at = request->bytes, *end;

    if (!at)
        return pawl__str("");
    for (; number > 0 && *at; number--)
        at = strchr(at, ' ') ? strchr(at, ' ') + 1 : "";
    end = strpbrk(at, " \r");
    return pawl__str_make(at, end ? (size_t)(end - at) : 0);
}

static const struct test_http_route *find_route(const struct test_http *server,
                                                const struct request *request)
{
    static const struct test_http_route none = {.status = 404};
    struct pawl_str method = word(request, 0), path = word(request, 1);

    path = pawl__str_slice(path, 0, pawl__str_find(path, '?', 0));
    for (size_t i = 0; i < server->route_count; i++) {
        const struct test_http_route *route = &server->routes[i];

        if ((route->method.len == 0 || pawl__str_equal(route->method, method)) &&
            pawl__str_equal(route->path, path))
            return route;
    }
    return &none;
}

/* With the mutex held. */
static void hold(struct test_http *server)
{
    while (!server->released && !server->stop &&
           pawl_cond_wait(server->env, server->cond, server->mutex, PAWL_FOREVER) == PAWL_OK)
        continue;
}

static bool is_kept(const struct test_http_route *route)
{
    return route->manner == TEST_HTTP_KEEP || route->manner == TEST_HTTP_SURPLUS;
}

static void send_head(struct connection *c, const struct test_http_route *route)
{
    char head[4096];
    int len =
        snprintf(head, sizeof head, "HTTP/1.1 %d Stub\r\nConnection: %s\r\n%.*s", route->status,
                 is_kept(route) || route->manner == TEST_HTTP_END ? "keep-alive" : "close",
                 PAWL_STR_ARG(route->headers));

    if (route->content_type.len > 0)
        len += snprintf(head + len, sizeof head - (size_t)len, "Content-Type: %.*s\r\n",
                        PAWL_STR_ARG(route->content_type));
    if (route->manner == TEST_HTTP_HUGE)
        len += snprintf(head + len, sizeof head - (size_t)len, "Transfer-Encoding: chunked\r\n");
    else
        len += snprintf(head + len, sizeof head - (size_t)len, "Content-Length: %zu\r\n",
                        route->body.len);
    len += snprintf(head + len, sizeof head - (size_t)len, "\r\n");
    send_bytes(c, head, (size_t)len);
}

static void send_chunks(struct connection *c, const struct test_http_route *route)
{
    char size[32];
    int len = snprintf(size, sizeof size, "%zx\r\n", route->body.len);

    for (uint32_t i = 0; i < route->repeat; i++) {
        send_bytes(c, size, (size_t)len);
        send_bytes(c, route->body.ptr, route->body.len);
        send_bytes(c, "\r\n", 2);
    }
    send_bytes(c, "0\r\n\r\n", 5);
}

static void answer(struct connection *c, const struct test_http_route *route, bool is_head)
{
    struct test_http *server = c->server;
    size_t half = route->manner == TEST_HTTP_STALL ? route->body.len / 2 : 0;

    if (route->manner == TEST_HTTP_CLOSE)
        return;
    if (route->manner == TEST_HTTP_STALL) {
        send_head(c, route);
        send_bytes(c, route->body.ptr, half);
    }
    if (route->manner == TEST_HTTP_STALL || route->manner == TEST_HTTP_HOLD) {
        if (pawl_mutex_lock(server->env, server->mutex) != PAWL_OK)
            return;
        hold(server);
        pawl_mutex_unlock(server->env, server->mutex);
    }
    if (route->manner != TEST_HTTP_STALL)
        send_head(c, route);
    if (route->manner == TEST_HTTP_HUGE)
        send_chunks(c, route);
    else if (!is_head && route->body.len > half)
        send_bytes(c, route->body.ptr + half, route->body.len - half);
}

static void send_surplus(struct connection *c, const struct test_http_route *route)
{
    struct test_http *server = c->server;
    bool first;

    if (pawl_mutex_lock(server->env, server->mutex) != PAWL_OK)
        return;
    first = !server->surplus_begun;
    server->surplus_begun = true;
    if (first)
        hold(server);
    pawl_mutex_unlock(server->env, server->mutex);
    if (!first)
        return;
    send_bytes(c, route->surplus.ptr, route->surplus.len);
    if (pawl_mutex_lock(server->env, server->mutex) != PAWL_OK)
        return;
    server->surplus_sent = true;
    pawl_cond_broadcast(server->env, server->cond);
    pawl_mutex_unlock(server->env, server->mutex);
}

/* Whether another request may follow. */
static bool serve_one(struct connection *c)
{
    struct test_http *server = c->server;
    struct request request = {0};
    const struct test_http_route *route = NULL;
    bool is_head;

    if (!read_request(c, &request) || pawl_mutex_lock(server->env, server->mutex) != PAWL_OK) {
        free(request.bytes);
        return false;
    }
    if (server->request_count == REQUESTS_MAX) {
        pawl_mutex_unlock(server->env, server->mutex);
        free(request.bytes);
        return false;
    }
    route = find_route(server, &request);
    is_head = pawl__str_is(word(&request, 0), "HEAD");
    server->requests[server->request_count++] = request;
    pawl_cond_broadcast(server->env, server->cond);
    pawl_mutex_unlock(server->env, server->mutex);
    answer(c, route, is_head);
    if (route->manner == TEST_HTTP_SURPLUS)
        send_surplus(c, route);
    return is_kept(route);
}

static void serve(void *arg)
{
    struct connection *c = arg;
    struct test_http *server = c->server;

    while (serve_one(c))
        continue;
    pawl__socket_close(&c->socket);
    if (pawl_mutex_lock(server->env, server->mutex) != PAWL_OK)
        return;
    server->ended_count++;
    pawl_cond_broadcast(server->env, server->cond);
    pawl_mutex_unlock(server->env, server->mutex);
}

/* ---- the server -------------------------------------------------------------------------- */

/* Counted before it is served: whoever was answered finds its connection counted. */
static bool count_connection(struct test_http *server, int step)
{
    if (pawl_mutex_lock(server->env, server->mutex) != PAWL_OK)
        return false;
    server->connection_count += (size_t)step;
    pawl_mutex_unlock(server->env, server->mutex);
    return true;
}

static void accept_all(void *arg)
{
    struct test_http *server = arg;

    while (server->connection_count < CONNECTIONS_MAX) {
        struct connection *c = &server->connections[server->connection_count];
        struct pawl_socket_wait wait = {server->env, &server->waker, PAWL_FOREVER};

        c->server = server;
        if (pawl__socket_accept(&server->listener, &wait, &c->socket, NULL) != PAWL_OK)
            return;
        if (!count_connection(server, 1))
            return;
        if (pawl_thread_start(server->env, "stub", serve, c, &c->thread, NULL) != PAWL_OK) {
            (void)count_connection(server, -1);
            return;
        }
    }
}

struct test_http *test_http_start(const struct test_http_route *routes, size_t count)
{
    struct test_http *server = calloc(1, sizeof *server);
    struct pawl_error err = PAWL_ERROR_INIT;
    uint16_t port;

    assert_non_null(server);
    server->routes = calloc(count + 1, sizeof *routes);
    assert_non_null(server->routes);
    memcpy(server->routes, routes, count * sizeof *routes);
    server->route_count = count;
    assert_ok(pawl_system_env_open(&server->env, &err), &err);
    assert_ok(pawl_mutex_new(server->env, "stub", &server->mutex), NULL);
    assert_ok(pawl_cond_new(server->env, "stub", &server->cond), NULL);
    assert_ok(pawl__waker_init(&server->waker, &err), &err);
    assert_ok(pawl__socket_listen("127.0.0.1", 0, &server->listener, &err), &err);
    assert_ok(pawl__socket_port(&server->listener, &port, &err), &err);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u", port);
    assert_ok(pawl_thread_start(server->env, "stub", accept_all, server, &server->thread, &err),
              &err);
    return server;
}

void test_http_stop(struct test_http *server)
{
    if (!server)
        return;
    assert_ok(pawl_mutex_lock(server->env, server->mutex), NULL);
    server->stop = true;
    pawl_cond_broadcast(server->env, server->cond);
    pawl_mutex_unlock(server->env, server->mutex);
    pawl__waker_wake(&server->waker);
    pawl_thread_join(server->env, server->thread);
    for (size_t i = 0; i < server->connection_count; i++)
        pawl_thread_join(server->env, server->connections[i].thread);
    for (size_t i = 0; i < server->request_count; i++)
        free(server->requests[i].bytes);
    pawl__socket_close(&server->listener);
    pawl__waker_release(&server->waker);
    pawl_cond_free(server->env, server->cond);
    pawl_mutex_free(server->env, server->mutex);
    pawl_system_env_close(server->env);
    free(server->routes);
    free(server);
}

const char *test_http_url(const struct test_http *server)
{
    return server->url;
}

void test_http_release(struct test_http *server)
{
    assert_ok(pawl_mutex_lock(server->env, server->mutex), NULL);
    server->released = true;
    pawl_cond_broadcast(server->env, server->cond);
    pawl_mutex_unlock(server->env, server->mutex);
}

/* ---- looking ----------------------------------------------------------------------------- */

size_t test_http_count(struct test_http *server)
{
    size_t count;

    assert_ok(pawl_mutex_lock(server->env, server->mutex), NULL);
    count = server->request_count;
    pawl_mutex_unlock(server->env, server->mutex);
    return count;
}

void test_http_wait(struct test_http *server, size_t count)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(server->env) + MINUTE_NS;
    int status = pawl_mutex_lock(server->env, server->mutex);

    assert_ok(status, NULL);
    while (server->request_count < count && status == PAWL_OK)
        status = pawl_cond_wait(server->env, server->cond, server->mutex, deadline_ns);
    pawl_mutex_unlock(server->env, server->mutex);
    assert_ok(status, NULL);
}

size_t test_http_connections(struct test_http *server)
{
    size_t count;

    assert_ok(pawl_mutex_lock(server->env, server->mutex), NULL);
    count = server->connection_count;
    pawl_mutex_unlock(server->env, server->mutex);
    return count;
}

size_t test_http_open_connections(struct test_http *server)
{
    size_t count;

    assert_ok(pawl_mutex_lock(server->env, server->mutex), NULL);
    count = server->connection_count - server->ended_count;
    pawl_mutex_unlock(server->env, server->mutex);
    return count;
}

void test_http_wait_open(struct test_http *server, size_t count)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(server->env) + MINUTE_NS;
    int status = pawl_mutex_lock(server->env, server->mutex);

    assert_ok(status, NULL);
    while (server->connection_count - server->ended_count > count && status == PAWL_OK)
        status = pawl_cond_wait(server->env, server->cond, server->mutex, deadline_ns);
    pawl_mutex_unlock(server->env, server->mutex);
    assert_ok(status, NULL);
}

void test_http_wait_surplus(struct test_http *server)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(server->env) + MINUTE_NS;
    int status = pawl_mutex_lock(server->env, server->mutex);

    assert_ok(status, NULL);
    while (!server->surplus_sent && status == PAWL_OK)
        status = pawl_cond_wait(server->env, server->cond, server->mutex, deadline_ns);
    pawl_mutex_unlock(server->env, server->mutex);
    assert_ok(status, NULL);
}

/* Requests stay as they are once they are counted. */
static const struct request *request_at(struct test_http *server, size_t index)
{
    return index < test_http_count(server) ? &server->requests[index] : NULL;
}

struct pawl_str test_http_method(struct test_http *server, size_t index)
{
    const struct request *request = request_at(server, index);

    return request ? word(request, 0) : pawl__str("");
}

struct pawl_str test_http_path(struct test_http *server, size_t index)
{
    const struct request *request = request_at(server, index);

    return request ? word(request, 1) : pawl__str("");
}

struct pawl_str test_http_header(struct test_http *server, size_t index, const char *name)
{
    const struct request *request = request_at(server, index);

    return request ? header_of(request, name) : pawl__str("");
}

struct pawl_str test_http_body(struct test_http *server, size_t index)
{
    const struct request *request = request_at(server, index);

    return request ? pawl__str_make(request->bytes + request->head, request->len - request->head)
                   : pawl__str("");
}
