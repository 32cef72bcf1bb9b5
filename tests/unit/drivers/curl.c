/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP driver against a server on loopback that answers and misbehaves. */
#include "drivers/curl.h"
#include "lib/test.h"
#include "os/library.h"
#include "os/socket.h"
#include "servers/http.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define S(text) PAWL_STR_LIT(text)
#define MINUTE_NS INT64_C(60000000000)
#define BODY_BYTES 1024

struct fixture {
    struct pawl_env *env;
    struct pawl_http_executor *executor;
    struct test_http *server;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *cond;
    uint32_t ended;
    struct pawl_http_answer answer; /* the last, without what is borrowed */
    char body[8192];
    char header[128]; /* X-Seen of the last answer */
    char url[256];
    struct pawl_error err;
};

static char filler[BODY_BYTES];

static const struct test_http_route routes[] = {
    {.path = S("/ok"),
     .status = 200,
     .content_type = S("text/plain"),
     .body = S("hello"),
     .headers = S("X-Seen: first\r\n")},
    {.path = S("/missing"), .status = 404, .body = S("no")},
    {.path = S("/once"),
     .status = 302,
     .headers = S("Location: /ok\r\nX-Seen: redirect\r\n"),
     .body = S("not this")},
    {.path = S("/round"), .status = 302, .headers = S("Location: /round\r\n")},
    {.path = S("/file"), .status = 302, .headers = S("Location: file:///etc/passwd\r\n")},
    {.path = S("/close"), .manner = TEST_HTTP_CLOSE},
    {.path = S("/hold"), .status = 200, .manner = TEST_HTTP_HOLD, .body = S("late")},
    {.path = S("/stall"), .status = 200, .manner = TEST_HTTP_STALL, .body = S("half and half")},
    {.path = S("/huge"),
     .status = 200,
     .manner = TEST_HTTP_HUGE,
     .body = {filler, BODY_BYTES},
     .repeat = 64},
    {.path = S("/keep"), .status = 200, .manner = TEST_HTTP_KEEP, .body = S("kept")},
    {.path = S("/keep-once"),
     .status = 302,
     .manner = TEST_HTTP_KEEP,
     .headers = S("Location: /keep\r\n")},
    {.path = S("/ends"), .status = 200, .manner = TEST_HTTP_END, .body = S("ended")},
    {.path = S("/surplus"),
     .status = 200,
     .manner = TEST_HTTP_SURPLUS,
     .body = S("own"),
     .surplus = S("HTTP/1.1 200 Stub\r\nContent-Length: 6\r\n\r\nstolen")},
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl_mutex_new(f->env, "test", &f->mutex), NULL);
    assert_ok(pawl_cond_new(f->env, "test", &f->cond), NULL);
    f->server = test_http_start(routes, sizeof routes / sizeof routes[0]);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    pawl_http_close(f->executor);
    test_http_stop(f->server);
    pawl_cond_free(f->env, f->cond);
    pawl_mutex_free(f->env, f->mutex);
    pawl_system_env_close(f->env);
    free(f);
    return 0;
}

static void open_with(struct fixture *f, const struct pawl_curl_options *options)
{
    assert_ok(pawl__curl_open(f->env, options, &f->executor, &f->err), &f->err);
}

static void on_done(void *ctx, const struct pawl_http_answer *answer)
{
    struct fixture *f = ctx;

    if (pawl_mutex_lock(f->env, f->mutex) != PAWL_OK)
        return;
    f->answer = *answer;
    f->header[0] = 0;
    for (size_t i = 0; i < answer->header_count; i++)
        if (pawl__str_is(answer->headers[i].name, "X-Seen"))
            (void)snprintf(f->header, sizeof f->header, "%.*s",
                           PAWL_STR_ARG(answer->headers[i].value));
    (void)snprintf(f->body, sizeof f->body, "%.*s", PAWL_STR_ARG(answer->body));
    (void)snprintf(f->url, sizeof f->url, "%.*s", PAWL_STR_ARG(answer->url));
    f->ended++;
    pawl_cond_broadcast(f->env, f->cond);
    pawl_mutex_unlock(f->env, f->mutex);
}

static void wait_ended(struct fixture *f, uint32_t count)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(f->env) + MINUTE_NS;
    int status = pawl_mutex_lock(f->env, f->mutex);

    assert_ok(status, NULL);
    while (f->ended < count && status == PAWL_OK)
        status = pawl_cond_wait(f->env, f->cond, f->mutex, deadline_ns);
    pawl_mutex_unlock(f->env, f->mutex);
    assert_ok(status, NULL);
}

static uint64_t begin_in(struct fixture *f, const char *scope, const char *method, const char *path,
                         const char *body)
{
    static const struct pawl_http_header headers[] = {{S("X-Test"), S("yes")},
                                                      {S("X-Empty"), S("")}};
    char url[512];
    struct pawl_http_request request = {.method = pawl__str(method),
                                        .headers = headers,
                                        .header_count = 2,
                                        .body = pawl__str(body),
                                        .has_body = body != NULL,
                                        .scope = pawl__str(scope)};
    uint64_t ticket = 0;

    (void)snprintf(url, sizeof url, "%s%s", path[0] == '/' ? test_http_url(f->server) : "", path);
    request.url = pawl__str(url);
    assert_ok(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err), &f->err);
    return ticket;
}

static uint64_t begin(struct fixture *f, const char *method, const char *path, const char *body)
{
    return begin_in(f, "", method, path, body);
}

/* A GET for a definition. */
static void fetch_in(struct fixture *f, const char *scope, const char *path)
{
    uint32_t before = f->ended;

    (void)begin_in(f, scope, "GET", path, NULL);
    wait_ended(f, before + 1);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
}

static void fetch(struct fixture *f, const char *method, const char *path, const char *body)
{
    uint32_t before = f->ended;

    (void)begin(f, method, path, body);
    wait_ended(f, before + 1);
}

static void an_answer_has_status_headers_and_body(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "GET", "/ok?a=b", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
    assert_int_equal(f->answer.status, 200);
    assert_string_equal(f->body, "hello");
    assert_string_equal(f->header, "first");
    assert_str(test_http_path(f->server, 0), "/ok?a=b");
    assert_str(test_http_header(f->server, 0, "X-Test"), "yes");
    assert_str(test_http_header(f->server, 0, "Expect"), "");
    fetch(f, "GET", "/missing", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
    assert_int_equal(f->answer.status, 404);
}

static void a_body_goes_out_as_it_is(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE", "GET"};
    struct fixture *f = *state;

    open_with(f, NULL);
    for (size_t i = 0; i < 5; i++) {
        fetch(f, methods[i], "/ok", "a=1\n");
        assert_int_equal(f->answer.status, 200);
        assert_str(test_http_method(f->server, i), methods[i]);
        assert_str(test_http_body(f->server, i), "a=1\n");
        assert_str(test_http_header(f->server, i, "Content-Length"), "4");
        assert_str(test_http_header(f->server, i, "Content-Type"), "");
    }
}

static void methods_without_a_body_are_sent(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "POST", "/ok", NULL);
    assert_str(test_http_header(f->server, 0, "Content-Length"), "0");
    assert_str(test_http_header(f->server, 0, "Content-Type"), "");
    fetch(f, "HEAD", "/ok", NULL);
    assert_str(test_http_method(f->server, 1), "HEAD");
    assert_int_equal(f->answer.status, 200);
    assert_string_equal(f->body, "");
    fetch(f, "OPTIONS", "/ok", NULL);
    assert_str(test_http_method(f->server, 2), "OPTIONS");
}

static void a_redirect_is_followed(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "POST", "/once", "x");
    assert_int_equal(f->answer.status, 200);
    assert_string_equal(f->body, "hello");
    assert_string_equal(f->header, "first");
    assert_non_null(strstr(f->url, "/ok"));
    assert_str(test_http_method(f->server, 1), "GET");
}

static void redirects_end(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "GET", "/round", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_TOO_LARGE);
    assert_int_equal(f->answer.error.code, PAWL_ELIMIT);
    assert_int_equal(test_http_count(f->server), PAWL_CURL_REDIRECTS + 1);
}

static void a_redirect_does_not_lead_to_files(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "GET", "/file", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_DENIED);
}

static void only_http_is_spoken(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "GET", "file:///etc/passwd", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_INVALID);
    assert_false(f->answer.sent);
    fetch(f, "GET", "http://[not-an-address/", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_INVALID);
}

static void nobody_there_is_told_from_nothing_heard(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch(f, "GET", "http://127.0.0.1:1/secret?password=x", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_CONNECT);
    assert_null(strstr(f->answer.error.msg, " ms")); /* the text is the same each time */
    assert_non_null(strstr(f->answer.error.msg, "onnect"));
    assert_int_equal(f->answer.error.code, PAWL_EUNAVAILABLE);
    assert_false(f->answer.sent);
    assert_non_null(strstr(f->answer.error.msg, "GET http://127.0.0.1:1/secret: "));
    assert_null(strstr(f->answer.error.msg, "password"));
    fetch(f, "POST", "/close", "x");
    assert_int_equal(f->answer.end, PAWL_HTTP_LOST);
    assert_int_equal(f->answer.error.code, PAWL_EUNKNOWN);
    assert_true(f->answer.sent);
}

static void time_runs_out_before_and_within_an_answer(void **state)
{
    const struct pawl_curl_options options = {.timeout_ns = 200000000};
    struct fixture *f = *state;

    open_with(f, &options);
    fetch(f, "GET", "/hold", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_TIMED_OUT);
    assert_int_equal(f->answer.error.code, PAWL_EUNKNOWN);
    assert_true(f->answer.sent);
    fetch(f, "GET", "/stall", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_TIMED_OUT);
}

static void a_large_answer_is_refused(void **state)
{
    const struct pawl_curl_options options = {.response_bytes_max = 64 * BODY_BYTES - 1};
    const struct pawl_curl_options enough = {.response_bytes_max = 64 * BODY_BYTES};
    struct fixture *f = *state;

    open_with(f, &options);
    fetch(f, "GET", "/huge", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_TOO_LARGE);
    assert_int_equal(f->answer.error.code, PAWL_ELIMIT);
    pawl_http_close(f->executor);
    open_with(f, &enough);
    fetch(f, "GET", "/huge", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
    assert_int_equal(f->answer.body.len, 64 * BODY_BYTES);
}

static void a_denied_address_is_not_connected_to(void **state)
{
    struct pawl_curl_options options = {0};
    struct fixture *f = *state;

    assert_ok(pawl__addresses_parse(pawl__str("loopback"), &options.deny, &f->err), &f->err);
    open_with(f, &options);
    fetch(f, "GET", "/ok", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_DENIED);
    assert_int_equal(f->answer.error.code, PAWL_EPERM);
    assert_false(f->answer.sent);
    fetch(f, "GET", "http://localhost:9/", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_DENIED);
    assert_int_equal(test_http_count(f->server), 0);
}

/* The stub speaks no TLS at all: whoever does not say what https demands is not talked to. */
static void https_needs_tls(void **state)
{
    struct fixture *f = *state;
    char url[128];

    open_with(f, NULL);
    (void)snprintf(url, sizeof url, "https%s/ok", test_http_url(f->server) + 4);
    (void)begin(f, "GET", url, NULL);
    test_http_release(f->server);
    pawl_http_close(f->executor);
    f->executor = NULL;
    assert_int_equal(f->ended, 1);
    assert_int_not_equal(f->answer.end, PAWL_HTTP_ANSWERED);
    assert_int_equal(test_http_count(f->server), 0);
}

static void a_request_can_be_given_up(void **state)
{
    struct fixture *f = *state;
    uint64_t ticket;

    open_with(f, NULL);
    ticket = begin(f, "GET", "/hold", NULL);
    test_http_wait(f->server, 1);
    pawl_http_cancel(f->executor, ticket);
    wait_ended(f, 1);
    assert_int_equal(f->answer.end, PAWL_HTTP_CANCELLED);
    assert_true(f->answer.sent);
    pawl_http_cancel(f->executor, ticket);
}

static void many_are_under_way_at_a_time(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    for (int i = 0; i < 32; i++)
        (void)begin(f, "GET", "/hold", NULL);
    test_http_wait(f->server, 32);
    assert_int_equal(f->ended, 0);
    test_http_release(f->server);
    wait_ended(f, 32);
    assert_string_equal(f->body, "late");
}

static void too_many_are_refused(void **state)
{
    const struct pawl_curl_options options = {.requests_max = 1};
    const struct pawl_http_request request = {.method = S("GET"), .url = S("http://127.0.0.1:1")};
    struct fixture *f = *state;
    uint64_t ticket = 7;

    open_with(f, &options);
    (void)begin(f, "GET", "/hold", NULL);
    assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err), PAWL_EBUSY);
    assert_int_equal(ticket, 7);
}

static void closing_ends_what_is_under_way(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    (void)begin(f, "GET", "/hold", NULL);
    test_http_wait(f->server, 1);
    pawl_http_close(f->executor);
    f->executor = NULL;
    assert_int_equal(f->ended, 1);
    assert_int_equal(f->answer.end, PAWL_HTTP_CANCELLED);
}

static void a_header_cannot_bring_another(void **state)
{
    const struct pawl_http_header header = {S("X"), S("a\r\nEvil: b")};
    const struct pawl_http_header name = {S("X Y"), S("a")};
    struct pawl_http_request request = {
        .method = S("GET"), .url = S("http://127.0.0.1:1"), .headers = &header, .header_count = 1};
    struct fixture *f = *state;
    uint64_t ticket;

    open_with(f, NULL);
    assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err), PAWL_EINVAL);
    request.headers = &name;
    assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err), PAWL_EINVAL);
    request.headers = NULL;
    request.header_count = 0;
    request.method = pawl__str("GE T");
    assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err), PAWL_EINVAL);
}

/* Another's answer could be had by a request hidden in a body. */
static void headers_that_frame_a_message_are_refused(void **state)
{
    static const char *const names[] = {
        "Content-Length", "content-length", "Transfer-Encoding", "Connection",      "TE",
        "Upgrade",        "Keep-Alive",     "Trailer",           "Proxy-Connection"};
    struct fixture *f = *state;
    uint64_t ticket;

    open_with(f, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct pawl_http_header header = {pawl__str(names[i]), S("0")};
        const struct pawl_http_request request = {.method = S("POST"),
                                                  .url = S("http://127.0.0.1:1"),
                                                  .headers = &header,
                                                  .header_count = 1};

        assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err),
                    PAWL_EINVAL);
        assert_non_null(strstr(f->err.msg, names[i]));
    }
}

/* ---- connections ------------------------------------------------------------------------- */

static void requests_of_one_scope_share_a_connection(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    for (int i = 0; i < 5; i++)
        fetch_in(f, "a", "/keep");
    assert_string_equal(f->body, "kept");
    assert_int_equal(test_http_connections(f->server), 1);
}

static void requests_of_different_scopes_do_not_share_a_connection(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    for (int i = 0; i < 3; i++) {
        fetch_in(f, "a", "/keep");
        fetch_in(f, "b", "/keep");
        fetch_in(f, "", "/keep");
    }
    assert_int_equal(test_http_count(f->server), 9);
    assert_int_equal(test_http_connections(f->server), 3);
}

static void a_surplus_response_is_not_given_to_another_scope(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch_in(f, "a", "/surplus");
    assert_string_equal(f->body, "own");
    test_http_release(f->server);
    test_http_wait_surplus(f->server);
    fetch_in(f, "b", "/keep");
    assert_string_equal(f->body, "kept");
}

static void a_surplus_response_is_not_given_to_the_next_request(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch_in(f, "a", "/surplus");
    assert_string_equal(f->body, "own");
    test_http_release(f->server);
    test_http_wait_surplus(f->server);
    fetch_in(f, "a", "/keep");
    assert_string_equal(f->body, "kept");
    fetch_in(f, "a", "/keep");
    assert_string_equal(f->body, "kept");
    assert_int_equal(test_http_connections(f->server), 2);
}

static void a_connection_that_the_server_ended_is_not_used_again(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    fetch_in(f, "a", "/ends");
    test_http_wait_open(f->server, 0);
    fetch_in(f, "a", "/keep");
    assert_string_equal(f->body, "kept");
    assert_int_equal(test_http_count(f->server), 2);
}

static void the_pool_that_was_not_used_for_longest_makes_room(void **state)
{
    const struct pawl_curl_options options = {.pools_max = 2};
    struct fixture *f = *state;

    open_with(f, &options);
    fetch_in(f, "a", "/keep");
    fetch_in(f, "b", "/keep");
    fetch_in(f, "a", "/keep");
    fetch_in(f, "c", "/keep");
    test_http_wait_open(f->server, 2);
    fetch_in(f, "a", "/keep");
    assert_int_equal(test_http_connections(f->server), 3);
    fetch_in(f, "b", "/keep");
    assert_int_equal(test_http_connections(f->server), 4);
}

static void a_scope_without_a_pool_has_connections_to_itself(void **state)
{
    const struct pawl_curl_options options = {.pools_max = 1};
    struct fixture *f = *state;

    open_with(f, &options);
    (void)begin_in(f, "a", "GET", "/hold", NULL);
    test_http_wait(f->server, 1);
    fetch_in(f, "b", "/keep");
    fetch_in(f, "c", "/keep");
    fetch_in(f, "b", "/keep");
    assert_string_equal(f->body, "kept");
    assert_int_equal(test_http_connections(f->server), 4);
    test_http_wait_open(f->server, 1);
}

static void connections_that_nobody_uses_are_closed(void **state)
{
    const struct pawl_curl_options options = {.idle_ns = 1};
    struct fixture *f = *state;

    open_with(f, &options);
    fetch_in(f, "a", "/keep");
    fetch_in(f, "b", "/keep");
    test_http_wait_open(f->server, 0);
}

static void idle_connections_of_all_scopes_are_bounded(void **state)
{
    static const char *const scopes[] = {"a", "b", "c", "d", "e", "f"};
    const struct pawl_curl_options options = {.connections_max = 2};
    struct fixture *f = *state;

    open_with(f, &options);
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        fetch_in(f, scopes[i], "/keep");
    test_http_wait_open(f->server, 2);
}

/* Its pool is in use by the request that is held, so that it cannot be given up as a whole. */
static void idle_connections_of_a_busy_scope_are_bounded(void **state)
{
    const struct pawl_curl_options options = {.connections_max = 1};
    struct fixture *f = *state;
    char url[128];

    open_with(f, &options);
    (void)snprintf(url, sizeof url, "http://localhost%s/keep",
                   strrchr(test_http_url(f->server), ':'));
    (void)begin_in(f, "a", "GET", "/hold", NULL);
    test_http_wait(f->server, 1);
    fetch_in(f, "a", "/keep");
    fetch_in(f, "a", url);
    assert_int_equal(test_http_connections(f->server), 3);
    test_http_wait_open(f->server, 2);
}

/* ---- names with several addresses ---------------------------------------------------------- */

#define TWO_ADDRESSES "two.test"
#define SLOW_NAME "slow.test"
#define LOOKUP_NS 400000000
#define SILENT_FILL 8

static atomic_int lookups; /* of SLOW_NAME, ended */

typedef int resolver(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int resolve_system(const char *name, const char *service, const struct addrinfo *hints,
                          struct addrinfo **out)
{
    resolver *system_resolver;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

    memcpy(&system_resolver, &symbol, sizeof symbol);
    return system_resolver(name, service, hints, out);
}

/*
 * libcurl resolves names by this one, which comes before the system's: TWO_ADDRESSES is ::1 and
 * 127.0.0.1, in this order; SLOW_NAME is found out not to exist.
 */
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **out)
{
    struct addrinfo both = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *second;
    int status;

    if (name && strcmp(name, SLOW_NAME) == 0) {
        const struct timespec delay = {.tv_nsec = LOOKUP_NS};

        (void)nanosleep(&delay, NULL);
        atomic_fetch_add(&lookups, 1);
        return EAI_NONAME;
    }
    if (!name || strcmp(name, TWO_ADDRESSES) != 0)
        return resolve_system(name, service, hints, out);
    status = resolve_system("127.0.0.1", service, &both, &second);
    if (status == 0)
        status = resolve_system("::1", service, &both, out);
    if (status == 0)
        (*out)->ai_next = second;
    return status;
}

/*
 * ::1 at the server's port with a full queue of connections: whoever connects to it hears nothing,
 * while 127.0.0.1 answers.
 */
struct silent_address {
    int listener;
    int fill[SILENT_FILL];
};

static void open_silent_address(struct fixture *f, struct silent_address *silent)
{
    const int on = 1;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const char *port = strrchr(test_http_url(f->server), ':') + 1;

    address.sin6_port = htons((uint16_t)strtoul(port, NULL, 10));
    silent->listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(silent->listener >= 0);
    assert_int_equal(
        setsockopt(silent->listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, (socklen_t)sizeof on), 0);
    assert_int_equal(bind(silent->listener, (struct sockaddr *)&address, (socklen_t)sizeof address),
                     0);
    assert_int_equal(listen(silent->listener, 0), 0);
    for (size_t i = 0; i < SILENT_FILL; i++) {
        silent->fill[i] = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(silent->fill[i] >= 0);
        (void)connect(silent->fill[i], (struct sockaddr *)&address, (socklen_t)sizeof address);
    }
}

static void close_silent_address(const struct silent_address *silent)
{
    for (size_t i = 0; i < SILENT_FILL; i++)
        (void)close(silent->fill[i]);
    (void)close(silent->listener);
}

static void an_unknown_host_is_looked_up_twice(void **state)
{
    struct fixture *f = *state;

    open_with(f, NULL);
    atomic_store(&lookups, 0);
    fetch(f, "GET", "http://" SLOW_NAME "/", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_CONNECT);
    assert_int_equal(atomic_load(&lookups), 2);
}

/* One lookup takes less than the limit, two take more. */
static void the_time_limit_is_of_both_lookups(void **state)
{
    const struct pawl_curl_options options = {.timeout_ns = LOOKUP_NS + LOOKUP_NS / 2};
    struct fixture *f = *state;

    open_with(f, &options);
    fetch(f, "GET", "http://" SLOW_NAME "/", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_TIMED_OUT);
}

static const char *at_two_addresses(struct fixture *f, const char *path, char url[128])
{
    (void)snprintf(url, 128, "http://" TWO_ADDRESSES "%s%s", strrchr(test_http_url(f->server), ':'),
                   path);
    return url;
}

static void a_name_with_a_silent_address_keeps_its_connection(void **state)
{
    struct fixture *f = *state;
    struct silent_address silent;
    char url[128];

    open_silent_address(f, &silent);
    open_with(f, NULL);
    for (int i = 0; i < 4; i++) {
        fetch_in(f, "a", at_two_addresses(f, "/keep", url));
        assert_string_equal(f->body, "kept");
    }
    assert_int_equal(test_http_connections(f->server), 1);
    pawl_http_close(f->executor);
    f->executor = NULL;
    test_http_wait_open(f->server, 0);
    close_silent_address(&silent);
}

static void a_redirect_of_a_name_with_a_silent_address_is_followed(void **state)
{
    struct fixture *f = *state;
    struct silent_address silent;
    char url[128];

    open_silent_address(f, &silent);
    open_with(f, NULL);
    fetch(f, "POST", at_two_addresses(f, "/keep-once", url), "x");
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
    assert_string_equal(f->body, "kept");
    assert_str(test_http_path(f->server, 1), "/keep");
    close_silent_address(&silent);
}

static void a_surplus_response_of_a_name_with_a_silent_address_is_not_used(void **state)
{
    struct fixture *f = *state;
    struct silent_address silent;
    char url[128];

    open_silent_address(f, &silent);
    open_with(f, NULL);
    fetch_in(f, "a", at_two_addresses(f, "/surplus", url));
    assert_string_equal(f->body, "own");
    test_http_release(f->server);
    test_http_wait_surplus(f->server);
    fetch_in(f, "a", at_two_addresses(f, "/keep", url));
    assert_string_equal(f->body, "kept");
    assert_int_equal(test_http_connections(f->server), 2);
    close_silent_address(&silent);
}

/* An environment with the system's threads and an allocator that refuses. */
static int open_and_close(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_env env = *f->env;
    struct pawl_curl_options options = {.ca_file = "/nowhere"};
    struct pawl_http_executor *executor = NULL;
    int status;

    (void)env;
    f->env->alloc = alloc->base;
    status = pawl__curl_open(f->env, &options, &executor, NULL);
    pawl_http_close(executor);
    f->env->alloc = env.alloc;
    return status;
}

static void memory_may_run_out_while_opening(void **state)
{
    test_sweep_allocations(open_and_close, *state, 100);
}

/* ---- what this process lacks ----------------------------------------------------------------- */

#define DESCRIPTORS_MAX 4096
#define ALLOCATIONS_MAX 5000

/* Of libcurl's allocations: the first that fails, and whether those behind it do. */
static atomic_long next_failure = LONG_MAX;
static atomic_bool goes_on;

static bool fails(void)
{
    long left = atomic_fetch_sub(&next_failure, 1);

    return left == 1 || (left < 1 && atomic_load(&goes_on));
}

static void *may_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static void *may_realloc(void *p, size_t size)
{
    return fails() ? NULL : realloc(p, size);
}

static void *may_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

static char *may_strdup(const char *text)
{
    return fails() ? NULL : strdup(text);
}

/* The driver's own call comes second, and libcurl counts. */
struct own_memory {
    struct pawl_library library;
    int (*curl_global_init_mem)(long flags, void *(*m)(size_t), void (*f)(void *),
                                void *(*r)(void *, size_t), char *(*s)(const char *),
                                void *(*c)(size_t, size_t));
    void (*curl_global_cleanup)(void);
};

static void open_own_memory(struct own_memory *own)
{
    const long everything = 3; /* CURL_GLOBAL_DEFAULT */
    static const struct pawl_library_symbol symbols[] = {
        PAWL_LIBRARY_SYMBOL(own_memory, curl_global_init_mem),
        PAWL_LIBRARY_SYMBOL(own_memory, curl_global_cleanup)};
    static const struct pawl_library_need need = {{"libcurl.so.4"}, "libcurl4", symbols, 2};

    assert_ok(pawl__library_open(&need, own, &own->library, NULL), NULL);
    assert_int_equal(own->curl_global_init_mem(everything, may_malloc, free, may_realloc,
                                               may_strdup, may_calloc),
                     0);
}

static void close_own_memory(struct own_memory *own)
{
    own->curl_global_cleanup();
    pawl__library_close(&own->library);
}

/* true: what fails is behind the end of the request. */
static bool fetch_with_failure(struct fixture *f, long number)
{
    static const struct pawl_http_header header = {S("X-Test"), S("yes")};
    struct pawl_http_request request = {.method = S("POST"),
                                        .headers = &header,
                                        .header_count = 1,
                                        .body = S("b"),
                                        .has_body = true};
    uint32_t before = f->ended;
    uint64_t ticket;
    bool is_behind;
    char url[512];
    int status;

    (void)snprintf(url, sizeof url, "%s/ok", test_http_url(f->server));
    request.url = pawl__str(url);
    atomic_store(&next_failure, number);
    status = pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err);
    if (status == PAWL_OK)
        wait_ended(f, before + 1);
    else
        assert_int_equal(pawl_error_class(status), PAWL_CLASS_TRANSIENT);
    is_behind = atomic_exchange(&next_failure, LONG_MAX) > 0;
    if (status != PAWL_OK)
        return is_behind;
    if (f->answer.end == PAWL_HTTP_ANSWERED) {
        assert_string_equal(f->body, "hello");
        assert_string_equal(f->header, "first");
    } else {
        assert_int_equal(f->answer.end, f->answer.sent ? PAWL_HTTP_LOST : PAWL_HTTP_NO_ROOM);
        assert_int_equal(f->answer.error.code, f->answer.sent ? PAWL_EUNKNOWN : PAWL_ENOMEM);
    }
    return is_behind;
}

/* The server's part is told from this node's wherever libcurl runs out of memory. */
static void sweep_memory(struct fixture *f, bool for_good)
{
    struct own_memory own;
    bool is_behind = false;
    int refusals = 0;

    open_own_memory(&own);
    atomic_store(&goes_on, for_good);
    for (long i = 1; i < ALLOCATIONS_MAX && !is_behind; i++) {
        open_with(f, NULL);
        is_behind = fetch_with_failure(f, i);
        refusals += f->answer.end == PAWL_HTTP_NO_ROOM;
        pawl_http_close(f->executor);
        f->executor = NULL;
    }
    close_own_memory(&own);
    assert_true(is_behind);
    assert_true(refusals > 10);
}

static void memory_that_libcurl_lacks_once_is_not_the_servers_fault(void **state)
{
    sweep_memory(*state, false);
}

static void memory_that_libcurl_lacks_for_long_is_not_the_servers_fault(void **state)
{
    sweep_memory(*state, true);
}

/* Of all that this process may have; the limit is lowered where there are very many. */
struct no_descriptors {
    struct rlimit before;
    int fds[DESCRIPTORS_MAX];
    int count;
};

static void take_descriptors(struct no_descriptors *none)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &none->before), 0);
    limit = none->before;
    if (limit.rlim_cur > DESCRIPTORS_MAX)
        limit.rlim_cur = DESCRIPTORS_MAX;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    none->count = 0;
    while (none->count < DESCRIPTORS_MAX &&
           (none->fds[none->count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        none->count++;
}

static void return_descriptors(struct no_descriptors *none)
{
    while (none->count > 0)
        (void)close(none->fds[--none->count]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none->before), 0);
}

static void without_descriptors_nothing_is_said_about_the_server(void **state)
{
    struct fixture *f = *state;
    struct no_descriptors none;
    char name[256];

    open_with(f, NULL);
    (void)snprintf(name, sizeof name, "http://localhost%s/ok",
                   strrchr(test_http_url(f->server), ':'));
    fetch(f, "GET", "file:///", NULL); /* loads the library */
    take_descriptors(&none);
    fetch(f, "GET", "/ok", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_NO_ROOM);
    assert_int_equal(f->answer.error.code, PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->answer.error.msg, "/ok: Too many open files; raise the limit"));
    fetch(f, "GET", name, NULL); /* looking up a name takes some as well */
    assert_int_equal(f->answer.end, PAWL_HTTP_NO_ROOM);
    assert_non_null(strstr(f->answer.error.msg, "/ok: Too many open files; raise the limit"));
    return_descriptors(&none);
    fetch(f, "GET", name, NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
}

/* Not even libcurl. */
static void without_descriptors_a_first_request_is_put_off(void **state)
{
    struct fixture *f = *state;
    struct pawl_http_request request = {.method = S("GET"), .url = S("http://127.0.0.1:1/")};
    struct no_descriptors none;
    uint64_t ticket;

    open_with(f, NULL);
    take_descriptors(&none);
    assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err),
                PAWL_EUNAVAILABLE);
    return_descriptors(&none);
    fetch_in(f, "", "/ok");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_has_status_headers_and_body),
        TEST(a_body_goes_out_as_it_is),
        TEST(methods_without_a_body_are_sent),
        TEST(a_redirect_is_followed),
        TEST(redirects_end),
        TEST(a_redirect_does_not_lead_to_files),
        TEST(only_http_is_spoken),
        TEST(nobody_there_is_told_from_nothing_heard),
        TEST(time_runs_out_before_and_within_an_answer),
        TEST(a_large_answer_is_refused),
        TEST(a_denied_address_is_not_connected_to),
        TEST(https_needs_tls),
        TEST(a_request_can_be_given_up),
        TEST(many_are_under_way_at_a_time),
        TEST(too_many_are_refused),
        TEST(closing_ends_what_is_under_way),
        TEST(a_header_cannot_bring_another),
        TEST(headers_that_frame_a_message_are_refused),
        TEST(requests_of_one_scope_share_a_connection),
        TEST(requests_of_different_scopes_do_not_share_a_connection),
        TEST(a_surplus_response_is_not_given_to_another_scope),
        TEST(a_surplus_response_is_not_given_to_the_next_request),
        TEST(a_connection_that_the_server_ended_is_not_used_again),
        TEST(the_pool_that_was_not_used_for_longest_makes_room),
        TEST(a_scope_without_a_pool_has_connections_to_itself),
        TEST(connections_that_nobody_uses_are_closed),
        TEST(idle_connections_of_all_scopes_are_bounded),
        TEST(idle_connections_of_a_busy_scope_are_bounded),
        TEST(an_unknown_host_is_looked_up_twice),
        TEST(the_time_limit_is_of_both_lookups),
        TEST(a_name_with_a_silent_address_keeps_its_connection),
        TEST(a_redirect_of_a_name_with_a_silent_address_is_followed),
        TEST(a_surplus_response_of_a_name_with_a_silent_address_is_not_used),
        TEST(memory_may_run_out_while_opening),
        TEST(memory_that_libcurl_lacks_once_is_not_the_servers_fault),
        TEST(memory_that_libcurl_lacks_for_long_is_not_the_servers_fault),
        TEST(without_descriptors_nothing_is_said_about_the_server),
        TEST(without_descriptors_a_first_request_is_put_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
