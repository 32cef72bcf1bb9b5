/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP driver against a server on loopback that answers and misbehaves. */
#include "drivers/fetching.h"
#include "os/socket.h"

#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
