/* SPDX-License-Identifier: Apache-2.0 */
/* The server that a case talks to, what it is told to answer, and what it was asked. */
#include "conformance/stub.h"

#include "conformance/expect.h"
#include "drivers/curl.h"
#include "engine/builder.h"

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* {"Name": "value"} as lines. */
static struct pawl_str header_lines(struct running *run, const struct pawl_json *headers)
{
    const char *lines = "";

    for (uint32_t i = 0; i < pawl__json_len(headers) && lines; i++) {
        const struct pawl_json_member *member = pawl__json_member(headers, i);

        lines =
            pawl__arena_printf(&run->arena, "%s%.*s: %.*s\r\n", lines, PAWL_STR_ARG(member->key),
                               PAWL_STR_ARG(pawl__json_str(&member->value)));
    }
    return pawl__str(lines);
}

static bool start_server(struct running *run, const struct pawl_json *list)
{
    uint32_t count = pawl__json_len(list);
    struct test_http_route *routes =
        pawl__arena_alloc_array(&run->arena, count + 1u, sizeof *routes);

    if (!routes)
        return differs(run, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_json *json = pawl__json_at(list, i);
        int64_t status = 200;

        (void)pawl__json_to_int(pawl__json_get_text(json, "status"), &status);
        routes[i] = (struct test_http_route){
            .method = text_of(json, "method"),
            .path = text_of(json, "path"),
            .status = (int)status,
            .content_type = text_of(json, "contentType"),
            .headers = header_lines(run, pawl__json_get_text(json, "headers")),
            .body = text_of(json, "body"),
        };
    }
    run->stub = test_http_start(routes, count);
    return true;
}

bool stub_open(struct running *run)
{
    const struct pawl_json *stub = pawl__json_get_text(run->json, "stub");
    struct pawl_error err = PAWL_ERROR_INIT;

    if (!has_text(pawl__json_get_text(run->json, "requires"), pawl__str("http-client")))
        return true;
    if (pawl__curl_open(run->suite->env, NULL, &run->http, &err) != PAWL_OK)
        return differs(run, "no requests can be sent: %s", err.msg);
    return !stub || start_server(run, pawl__json_get_text(stub, "routes"));
}

void stub_close(struct running *run)
{
    pawl_http_close(run->http);
    test_http_stop(run->stub);
}

struct pawl_json stub_input(struct running *run)
{
    const struct pawl_json *given = pawl__json_get_text(run->json, "input");
    struct pawl_builder b = {.arena = &run->arena};
    struct pawl_json input = pawl__json_object();

    if (!run->stub)
        return given ? *given : pawl__json_null();
    if (given)
        b.status = pawl__json_copy(b.arena, given, &input);
    pawl__build_text(&b, &input, "StubUrl", pawl__str(test_http_url(run->stub)));
    if (b.status != PAWL_OK)
        (void)differs(run, "out of memory");
    return input;
}

static bool same_request(struct running *run, uint32_t index, const struct pawl_json *wanted)
{
    const struct pawl_json *headers = pawl__json_get_text(wanted, "headers");
    const struct pawl_json *body = pawl__json_get_text(wanted, "body");

    if (!pawl__str_equal(test_http_method(run->stub, index), text_of(wanted, "method")) ||
        !pawl__str_equal(test_http_path(run->stub, index), text_of(wanted, "path")))
        return differs(run, "request %u is %.*s %.*s, not %s", index,
                       PAWL_STR_ARG(test_http_method(run->stub, index)),
                       PAWL_STR_ARG(test_http_path(run->stub, index)), shown(run, wanted));
    for (uint32_t i = 0; i < pawl__json_len(headers); i++) {
        const struct pawl_json_member *member = pawl__json_member(headers, i);
        struct pawl_str value = test_http_header(run->stub, index, member->key.ptr);

        if (!pawl__str_equal(value, pawl__json_str(&member->value)))
            return differs(run, "request %u has %.*s: %.*s", index, PAWL_STR_ARG(member->key),
                           PAWL_STR_ARG(value));
    }
    return !body || pawl__str_equal(test_http_body(run->stub, index), pawl__json_str(body)) ||
           differs(run, "the body of request %u differs", index);
}

bool expect_stub_requests(struct running *run, const struct pawl_json *list)
{
    size_t count = run->stub ? test_http_count(run->stub) : 0;

    if (count != pawl__json_len(list))
        return differs(run, "the stub got %zu requests, not %u", count, pawl__json_len(list));
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (!same_request(run, i, pawl__json_at(list, i)))
            return false;
    }
    return true;
}
