/* SPDX-License-Identifier: Apache-2.0 */
#include "base/route/table.h"
#include "lib/test.h"

#include <stdio.h>

static const struct pawl_hash_seed seed = {3, 4};

static struct pawl_route_table *new_table(struct test_allocator *alloc,
                                          const char *const *templates, size_t count)
{
    struct pawl_route_table *table;
    struct pawl_error err;

    test_allocator_init(alloc);
    assert_code(pawl__route_table_new(&alloc->base, seed, &table), PAWL_OK);
    for (size_t i = 0; i < count; i++)
        assert_ok(pawl__route_table_add(table, pawl__str(templates[i]), NULL, &err), &err);
    return table;
}

static void free_table(struct test_allocator *alloc, struct pawl_route_table *table)
{
    pawl__route_table_free(table);
    assert_int_equal(alloc->live_count, 0);
}

struct seen {
    char text[1024];
    size_t take; /* the nth is taken; 0: none */
};

static bool see(struct pawl_str template, void *ctx)
{
    struct seen *seen = ctx;
    size_t len = strlen(seen->text);

    (void)snprintf(seen->text + len, sizeof seen->text - len, "%s%.*s", len > 0 ? " " : "",
                   PAWL_STR_ARG(template));
    return seen->take > 0 && --seen->take == 0;
}

/* All templates that the path matches, in their order. */
static const char *all(const struct pawl_route_table *table, const char *raw)
{
    static struct seen seen;
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_route_path path;

    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 16);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(pawl__route_path_read(pawl__str(raw), &arena, &path), PAWL_ROUTE_PATH_OK);
    assert_false(pawl__route_table_match(table, &path, see, &seen));
    pawl__arena_release(&arena);
    return seen.text;
}

static void finds_the_most_specific_template_first(void **state)
{
    static const char *const templates[] = {
        "/{*all}",         "/orders/{id}", "/orders/{number}", "/orders/new",
        "/orders/{n:int}", "/orders/v{x}", "/orders",          "/orders/{id}/items",
        "/{a}/new",        "/orders/{x?}", "/orders/{*rest}",
    };
    struct test_allocator alloc;
    struct pawl_route_table *table =
        new_table(&alloc, templates, sizeof templates / sizeof templates[0]);

    (void)state;
    assert_string_equal(all(table, "/ORDERS/new"),
                        "/orders/new /orders/{id} /orders/{number} /orders/{x?} /orders/{*rest} "
                        "/{a}/new /{*all}");
    assert_string_equal(all(table, "/orders/7"), "/orders/{n:int} /orders/{id} /orders/{number} "
                                                 "/orders/{x?} /orders/{*rest} /{*all}");
    assert_string_equal(all(table, "/orders/v7"),
                        "/orders/v{x} /orders/{id} /orders/{number} /orders/{x?} "
                        "/orders/{*rest} /{*all}");
    assert_string_equal(all(table, "/orders"), "/orders /orders/{x?} /orders/{*rest} /{*all}");
    assert_string_equal(all(table, "/orders/7/items"),
                        "/orders/{id}/items /orders/{*rest} /{*all}");
    assert_string_equal(all(table, "/x/new"), "/{a}/new /{*all}");
    assert_string_equal(all(table, "/"), "/{*all}");
    free_table(&alloc, table);
}

static void stops_at_the_one_that_is_taken(void **state)
{
    static const char *const templates[] = {"/a/{b}", "/a/b", "/{*r}"};
    struct test_allocator alloc;
    struct pawl_route_table *table = new_table(&alloc, templates, 3);
    struct pawl_route_path path = {.text = PAWL_STR_LIT("a/b"), .count = 2};
    struct seen seen = {.take = 2};

    (void)state;
    path.segments[0] = pawl__str_slice(path.text, 0, 1);
    path.segments[1] = pawl__str_slice(path.text, 2, 3);
    assert_true(pawl__route_table_match(table, &path, see, &seen));
    assert_string_equal(seen.text, "/a/b /a/{b}");
    free_table(&alloc, table);
}

static void a_template_is_there_once_and_leaves_nothing_behind(void **state)
{
    struct test_allocator alloc;
    struct pawl_route_table *table = new_table(&alloc, NULL, 0);
    size_t empty = pawl__route_table_bytes(table), once;
    struct pawl_error err;
    bool added;

    (void)state;
    assert_ok(pawl__route_table_add(table, pawl__str("/a/{b:int}/c"), &added, &err), &err);
    assert_true(added);
    once = pawl__route_table_bytes(table);
    for (int i = 0; i < 1000; i++) {
        assert_ok(pawl__route_table_add(table, pawl__str("/a/{b:int}/c"), &added, &err), &err);
        assert_false(added);
    }
    assert_int_equal(pawl__route_table_bytes(table), once);
    assert_int_equal(pawl__route_table_count(table), 1);
    assert_ok(pawl__route_table_add(table, pawl__str("/a/{x:int}"), &added, &err), &err);
    assert_code(pawl__route_table_add(table, pawl__str("/a/{"), &added, &err), PAWL_EINVAL);
    assert_true(pawl__route_table_remove(table, pawl__str("/a/{b:int}/c")));
    assert_false(pawl__route_table_remove(table, pawl__str("/a/{b:int}/c")));
    assert_string_equal(all(table, "/a/5/c"), "");
    assert_string_equal(all(table, "/a/5"), "/a/{x:int}");
    assert_true(pawl__route_table_remove(table, pawl__str("/a/{x:int}")));
    assert_int_equal(pawl__route_table_count(table), 0);
    assert_string_equal(all(table, "/a/5"), "");
    /* Its maps keep their slots. */
    assert_true(pawl__route_table_bytes(table) <= once && empty <= once);
    free_table(&alloc, table);
}

static void lists_what_it_has(void **state)
{
    static const char *const templates[] = {"/b", "/a", "/c/{d}"};
    struct test_allocator alloc;
    struct pawl_route_table *table = new_table(&alloc, templates, 3);
    struct seen seen = {.take = 0};

    (void)state;
    pawl__route_table_each(table, see, &seen);
    assert_string_equal(seen.text, "/b /a /c/{d}");
    free_table(&alloc, table);
}

static size_t visits;

static bool count_visit(struct pawl_str template, void *ctx)
{
    (void)template;
    (void)ctx;
    visits++;
    return false;
}

/* Each of many templates is found, alone, by its own path. */
static void tells_many_templates_apart(void **state)
{
    struct test_allocator alloc;
    struct pawl_route_table *table = new_table(&alloc, NULL, 0);
    char text[64];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(text, sizeof text, "/shop-%d/{id}/part/{p:int}", i);
        assert_code(pawl__route_table_add(table, pawl__str(text), NULL, NULL), PAWL_OK);
    }
    assert_true(pawl__route_table_bytes(table) < (size_t)2 << 20);
    for (int i = 0; i < 1000; i++) {
        struct pawl_route_path path;

        (void)snprintf(text, sizeof text, "/shop-%d/x/part/7", i);
        assert_int_equal(pawl__route_path_read(pawl__str(text), NULL, &path), PAWL_ROUTE_PATH_OK);
        visits = 0;
        assert_false(pawl__route_table_match(table, &path, count_visit, NULL));
        assert_int_equal(visits, 1);
    }
    free_table(&alloc, table);
}

static int add_some(struct test_allocator *alloc, void *arg)
{
    static const char *const templates[] = {"/a/{b}/c", "/a/{b:int}", "/a/b", "/{*r}", "/a/v{x}.y"};
    struct pawl_route_table *table;
    int status = pawl__route_table_new(&alloc->base, seed, &table);

    (void)arg;
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < 5 && status == PAWL_OK; i++)
        status = pawl__route_table_add(table, pawl__str(templates[i]), NULL, NULL);
    pawl__route_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_sweep_allocations(add_some, NULL, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_most_specific_template_first),
        cmocka_unit_test(stops_at_the_one_that_is_taken),
        cmocka_unit_test(a_template_is_there_once_and_leaves_nothing_behind),
        cmocka_unit_test(lists_what_it_has),
        cmocka_unit_test(tells_many_templates_apart),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("base/route_table", tests, NULL, NULL);
}
