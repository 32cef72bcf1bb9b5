/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions from a folder: which files, in which order, and what is made of bad ones. */
#include "host/folder_provider.h"

#include "lib/clock.h"
#include "lib/test.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seen {
    char text[512];
    int refuse; /* what the visitor answers */
};

static void note(struct seen *seen, const char *word, const char *place)
{
    size_t used = strlen(seen->text);
    const char *name = strrchr(place, '/');

    snprintf(seen->text + used, sizeof seen->text - used, "%s %s\n", word, name ? name + 1 : place);
}

static int visit(void *ctx, const char *place, const struct pawl_json *definition,
                 struct pawl_error *err)
{
    struct seen *seen = ctx;

    (void)err;
    note(seen, pawl__json_is(definition, PAWL_JSON_OBJECT) ? "read" : "odd", place);
    return seen->refuse;
}

static void unreadable(void *ctx, const char *place, const struct pawl_error *why)
{
    (void)why;
    note(ctx, "bad", place);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(pawl__file_write(path, pawl__str(text), 0600, NULL), NULL);
}

static int set_up(void **state)
{
    char *folder = strdup("/tmp/pawl-folder-XXXXXX");

    assert_non_null(mkdtemp(folder));
    put(folder, "b.json", "{}");
    put(folder, "a.json", "{\"definitionId\":\"a\"}");
    put(folder, "torn.json", "{");
    put(folder, "list.json", "[]");
    put(folder, "notes.txt", "{}");
    put(folder, ".hidden.json", "{}");
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"b.json",    "a.json",    "torn.json",
                                        "list.json", "notes.txt", ".hidden.json"};
    char path[256];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", (char *)*state, names[i]);
        assert_ok(pawl__file_remove(path, NULL), NULL);
    }
    assert_int_equal(rmdir(*state), 0);
    free(*state);
    return 0;
}

static int visit_over(const struct pawl_allocator *alloc, const char *folder, struct seen *seen)
{
    struct pawl_definition_provider *provider;
    struct test_clock *clock;
    int status;

    assert_int_equal(test_clock_open(alloc, 0, &clock), PAWL_OK);
    status = pawl__folder_provider_new(test_clock_env(clock), folder, &provider, NULL);
    if (status == PAWL_OK) {
        status = provider->visit(provider, visit, unreadable, seen, NULL);
        provider->close(provider);
    }
    test_clock_close(clock);
    return status;
}

static void the_json_files_of_a_folder_are_read_by_name(void **state)
{
    struct seen seen = {0};

    assert_code(visit_over(NULL, *state, &seen), PAWL_OK);
    assert_string_equal(seen.text, "read a.json\nread b.json\nbad list.json\nbad torn.json\n");
}

static void a_visitor_that_has_enough_ends_the_visit(void **state)
{
    struct seen seen = {.refuse = PAWL_EBUSY};

    assert_code(visit_over(NULL, *state, &seen), PAWL_EBUSY);
    assert_string_equal(seen.text, "read a.json\n");
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct seen seen = {0};

    (void)state;
    assert_code(visit_over(NULL, "/nowhere/at/all", &seen), PAWL_ENOTFOUND);
}

static int visit_again(struct test_allocator *alloc, void *arg)
{
    struct seen seen = {0};

    return visit_over(&alloc->base, arg, &seen);
}

static void every_refused_allocation_is_reported(void **state)
{
    test_sweep_allocations(visit_again, *state, 200);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_json_files_of_a_folder_are_read_by_name),
        TEST(a_visitor_that_has_enough_ends_the_visit),
        TEST(a_folder_that_is_not_there_is_an_error),
        TEST(every_refused_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
