/* SPDX-License-Identifier: Apache-2.0 */
#include "http/route.h"
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

static void handle(struct pawl_exchange *exchange, void *ctx)
{
    (void)exchange;
    (void)ctx;
}

#define ROUTE(verb, where)                                                                         \
    {                                                                                              \
        .method = (verb), .path = (where), .handle = handle                                        \
    }

static const struct pawl_route table[] = {
    ROUTE("GET", "/"),
    ROUTE("GET", "/definitions"),
    ROUTE("POST", "/definitions"),
    ROUTE("GET", "/definitions/{id}"),
    ROUTE("DELETE", "/definitions/{key}"),
    ROUTE("GET", "/definitions/count"),
    ROUTE("GET", "/definitions/{id}/versions/{version}"),
    ROUTE("GET", "/definitions/count/special"),
    ROUTE("GET", "/files/{path*}"),
    ROUTE("GET", "/{any}/versions"),
};

struct look {
    const char *method, *path;
    enum pawl_route_result result;
    const char *expected; /* the route's path, parameters behind it; or what is allowed */
};

static const struct look looks[] = {
    {"GET", "/", PAWL_ROUTE_FOUND, "/"},
    {"GET", "/definitions", PAWL_ROUTE_FOUND, "/definitions"},
    {"GET", "/Definitions/", PAWL_ROUTE_FOUND, "/definitions"},
    {"HEAD", "/definitions", PAWL_ROUTE_FOUND, "/definitions"},
    {"GET", "/definitions/a%2Fb", PAWL_ROUTE_FOUND, "/definitions/{id} id=a%2Fb"},
    {"DELETE", "/definitions/x", PAWL_ROUTE_FOUND, "/definitions/{key} key=x"},
    {"GET", "/definitions/count", PAWL_ROUTE_FOUND, "/definitions/count"},
    {"GET", "/definitions/count/versions/3", PAWL_ROUTE_FOUND,
     "/definitions/{id}/versions/{version} id=count version=3"},
    {"GET", "/files/a/b", PAWL_ROUTE_FOUND, "/files/{path*} path=a/b"},
    {"GET", "/files/", PAWL_ROUTE_FOUND, "/files/{path*} path="},
    {"GET", "/files", PAWL_ROUTE_FOUND, "/files/{path*} path="},
    {"GET", "/definitions/versions", PAWL_ROUTE_FOUND, "/definitions/{id} id=versions"},
    {"GET", "/other/versions", PAWL_ROUTE_FOUND, "/{any}/versions any=other"},
    {"PUT", "/definitions", PAWL_ROUTE_NO_METHOD, "POST, GET, HEAD"},
    {"DELETE", "/definitions/count", PAWL_ROUTE_FOUND, "/definitions/{key} key=count"},
    {"POST", "/definitions/count", PAWL_ROUTE_NO_METHOD, "GET, HEAD"},
    {"get", "/definitions", PAWL_ROUTE_NO_METHOD, "POST, GET, HEAD"},
    {"GET", "/definition", PAWL_ROUTE_NO_PATH, ""},
    {"GET", "/definitions//versions/1", PAWL_ROUTE_NO_PATH, ""},
    {"GET", "//definitions", PAWL_ROUTE_NO_PATH, ""},
    {"GET", "/definitions/x/y", PAWL_ROUTE_NO_PATH, ""},
    {"GET", "*", PAWL_ROUTE_NO_PATH, ""},
    {"GET", "", PAWL_ROUTE_NO_PATH, ""},
};

static void describe(const struct pawl_route_match *match, char *out, size_t size)
{
    int len = snprintf(out, size, "%s", match->route->path);

    for (uint32_t i = 0; i < match->parameter_count; i++)
        len += snprintf(out + len, size - (size_t)len, " %.*s=%.*s", PAWL_STR_ARG(match->names[i]),
                        PAWL_STR_ARG(match->values[i]));
}

static void a_path_has_one_route(void **state)
{
    struct test_allocator alloc;
    struct pawl_routes *routes;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    test_allocator_init(&alloc);
    assert_ok(pawl__routes_new(&alloc.base, table, sizeof table / sizeof table[0], &routes, &err),
              &err);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        struct pawl_route_match match;
        char seen[256] = "";
        enum pawl_route_result result = pawl__routes_match(routes, pawl__str(looks[i].method),
                                                           pawl__str(looks[i].path), &match);

        if (result == PAWL_ROUTE_FOUND)
            describe(&match, seen, sizeof seen);
        else if (result == PAWL_ROUTE_NO_METHOD)
            (void)snprintf(seen, sizeof seen, "%s", match.allow);
        if (result != looks[i].result || strcmp(seen, looks[i].expected) != 0)
            fail_msg("%s %s: %d, %s", looks[i].method, looks[i].path, (int)result, seen);
    }
    pawl__routes_free(routes);
    assert_int_equal(alloc.live_count, 0);
}

static void a_table_that_is_wrong_is_refused(void **state)
{
    static const struct pawl_route same[] = {ROUTE("GET", "/a/{x}"), ROUTE("GET", "/A/{y}")};
    static const struct pawl_route behind[] = {ROUTE("GET", "/a/{x*}/b")};
    static const struct pawl_route empty[] = {ROUTE("GET", "/a//b")};
    static const struct pawl_route without[] = {{.method = "GET", .path = "/a"}};
    struct test_allocator alloc;
    struct pawl_routes *routes;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    test_allocator_init(&alloc);
    assert_code(pawl__routes_new(&alloc.base, same, 2, &routes, &err), PAWL_EINVAL);
    assert_string_equal(err.msg, "routes GET /a/{x} and /A/{y} are the same");
    assert_code(pawl__routes_new(&alloc.base, behind, 1, &routes, &err), PAWL_EINVAL);
    assert_code(pawl__routes_new(&alloc.base, empty, 1, &routes, &err), PAWL_EINVAL);
    assert_code(pawl__routes_new(&alloc.base, without, 1, &routes, &err), PAWL_EINVAL);
    assert_int_equal(alloc.live_count, 0);
}

static int make_table(struct test_allocator *alloc, void *arg)
{
    struct pawl_routes *routes;
    int status =
        pawl__routes_new(&alloc->base, table, sizeof table / sizeof table[0], &routes, NULL);

    (void)arg;
    if (status == PAWL_OK)
        pawl__routes_free(routes);
    return status;
}

static void a_table_without_memory_fails(void **state)
{
    (void)state;
    test_sweep_allocations(make_table, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_one_route),
        cmocka_unit_test(a_table_that_is_wrong_is_refused),
        cmocka_unit_test(a_table_without_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
