/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP driver and a server on loopback that answers and misbehaves, for tests of the one with
 * the other. */
#ifndef TEST_UNIT_DRIVERS_FETCHING_H
#define TEST_UNIT_DRIVERS_FETCHING_H

#include "drivers/curl.h"
#include "lib/test.h"
#include "servers/http.h"

#include <stdio.h>
#include <stdlib.h>

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

static inline int open_fixture(void **state)
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

static inline int close_fixture(void **state)
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

static inline void open_with(struct fixture *f, const struct pawl_curl_options *options)
{
    assert_ok(pawl__curl_open(f->env, options, &f->executor, &f->err), &f->err);
}

static inline void on_done(void *ctx, const struct pawl_http_answer *answer)
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

static inline void wait_ended(struct fixture *f, uint32_t count)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(f->env) + MINUTE_NS;
    int status = pawl_mutex_lock(f->env, f->mutex);

    assert_ok(status, NULL);
    while (f->ended < count && status == PAWL_OK)
        status = pawl_cond_wait(f->env, f->cond, f->mutex, deadline_ns);
    pawl_mutex_unlock(f->env, f->mutex);
    assert_ok(status, NULL);
}

static inline uint64_t begin_in(struct fixture *f, const char *scope, const char *method,
                                const char *path, const char *body)
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

static inline uint64_t begin(struct fixture *f, const char *method, const char *path,
                             const char *body)
{
    return begin_in(f, "", method, path, body);
}

/* A GET for a definition. */
static inline void fetch_in(struct fixture *f, const char *scope, const char *path)
{
    uint32_t before = f->ended;

    (void)begin_in(f, scope, "GET", path, NULL);
    wait_ended(f, before + 1);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
}

static inline void fetch(struct fixture *f, const char *method, const char *path, const char *body)
{
    uint32_t before = f->ended;

    (void)begin(f, method, path, body);
    wait_ended(f, before + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

#endif
