/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents that a live Elsa wrote or was given. Where there are no recordings the whole program is
 * skipped, and says so: cmocka's skip() would count as a failure in its TAP output.
 */
#include "base/json/json.h"
#include "fuzz/json_agree.h"
#include "lib/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)64 << 20)

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf text;
    struct pawl_buf first;
    struct pawl_buf again;
};

static void setup(struct fixture *fixture)
{
    test_allocator_init(&fixture->alloc);
    pawl__arena_init(&fixture->arena, &fixture->alloc.base, BYTES_MAX);
    pawl__buf_init(&fixture->text, &fixture->alloc.base, BYTES_MAX);
    pawl__buf_init(&fixture->first, &fixture->alloc.base, BYTES_MAX);
    pawl__buf_init(&fixture->again, &fixture->alloc.base, BYTES_MAX);
}

static void teardown(struct fixture *fixture)
{
    pawl__arena_release(&fixture->arena);
    pawl__buf_release(&fixture->text);
    pawl__buf_release(&fixture->first);
    pawl__buf_release(&fixture->again);
    assert_int_equal(fixture->alloc.live_bytes, 0);
}

/* The next number outside of strings at or after *at; empty at the end. */
static struct pawl_str next_number(struct pawl_str text, size_t *at)
{
    bool quoted = false;

    for (; *at < text.len; ++*at) {
        char c = text.ptr[*at];

        if (quoted && c == '\\') {
            ++*at;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '-' || (c >= '0' && c <= '9'))) {
            size_t start = *at;

            *at += strspn(text.ptr + *at, "0123456789+-.eE");
            return pawl__str_slice(text, start, *at);
        }
    }
    return pawl__str_make("", 0);
}

static void check_numbers_kept(struct pawl_str before, struct pawl_str after)
{
    size_t at_before = 0;
    size_t at_after = 0;
    struct pawl_str number;

    do {
        number = next_number(before, &at_before);
        assert_true(pawl__str_equal(number, next_number(after, &at_after)));
    } while (number.len > 0);
}

/* Written and parsed again it is the same, with every number as it was. */
static void check_round(struct fixture *fixture, struct pawl_str text, const char *path)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json_reader reader;
    struct pawl_json value, back;

    assert_ok(pawl__json_parse(&fixture->arena, text, NULL, &value, NULL, &err), &err);
    for (int escape = 0; escape <= PAWL_JSON_ESCAPE_ASCII; escape++) {
        pawl__buf_clear(&fixture->first);
        pawl__json_write(&fixture->first, &value, (enum pawl_json_escape)escape);
        assert_ok(pawl__json_parse(&fixture->arena, pawl__buf_peek(&fixture->first), NULL, &back,
                                   NULL, &err),
                  &err);
        if (!pawl__json_equal(&value, &back))
            fail_msg("%s comes back different", path);
        check_numbers_kept(text, pawl__str(pawl__buf_cstr(&fixture->first)));
    }
    pawl__json_reader_init(&reader, &fixture->arena, text, NULL);
    assert_true(json_reader_agrees(&reader, &value));
    assert_ok(json_reader_drain(&reader, &err), &err);
}

/* Copies with \u002B as '+': .NET writes the date-times it formats itself without escaping. */
static void without_plus_escapes(struct pawl_buf *out, struct pawl_str text)
{
    pawl__buf_clear(out);
    for (size_t i = 0; i < text.len;) {
        if (text.len - i >= 6 && memcmp(text.ptr + i, "\\u002B", 6) == 0) {
            pawl__buf_byte(out, '+');
            i += 6;
        } else {
            pawl__buf_byte(out, text.ptr[i++]);
        }
    }
}

/* Elsa's own bytes: all of an export must come back as it was. */
static void check_bytes(struct fixture *fixture, struct pawl_str text, const char *path)
{
    struct pawl_json value;

    assert_ok(pawl__json_parse(&fixture->arena, text, NULL, &value, NULL, NULL), NULL);
    pawl__buf_clear(&fixture->text);
    pawl__json_write(&fixture->text, &value, PAWL_JSON_ESCAPE_ASCII);
    without_plus_escapes(&fixture->first, text);
    without_plus_escapes(&fixture->again, pawl__buf_peek(&fixture->text));
    if (!pawl__str_equal(pawl__buf_peek(&fixture->first), pawl__buf_peek(&fixture->again)))
        fail_msg("%s is not written as it was", path);
}

/* Every .json file of a recordings folder. */
static void for_each_recording(const char *folder,
                               void (*check)(struct fixture *fixture, struct pawl_str text,
                                             const char *path))
{
    struct fixture fixture;
    char path[4096];
    struct dirent *entry;
    DIR *dir;
    int count = 0;

    (void)snprintf(path, sizeof path, "%s/%s", TEST_RECORDINGS_DIR, folder);
    dir = opendir(path);
    if (!dir)
        fail_msg("no recordings at %s", path);
    setup(&fixture);
    while ((entry = readdir(dir)) != NULL) {
        struct pawl_str text;

        if (!pawl__str_ends(pawl__str(entry->d_name), pawl__str(".json")))
            continue;
        assert_true((size_t)snprintf(path, sizeof path, "%s/%s/%s", TEST_RECORDINGS_DIR, folder,
                                     entry->d_name) < sizeof path);
        text = test_read_file(path);
        check(&fixture, text, path);
        pawl__arena_reset(&fixture.arena);
        free((char *)(uintptr_t)text.ptr);
        count++;
    }
    (void)closedir(dir);
    teardown(&fixture);
    assert_true(count > 0);
}

static void gives_recorded_definitions_back_with_every_number_as_it_was(void **state)
{
    (void)state;
    for_each_recording("conformance/definitions", check_round);
}

static void gives_generated_definitions_back_with_every_number_as_it_was(void **state)
{
    (void)state;
    for_each_recording("generated/definitions", check_round);
}

static void gives_recorded_api_traffic_back_with_every_number_as_it_was(void **state)
{
    (void)state;
    for_each_recording("golden/api", check_round);
}

static void writes_exported_instances_as_elsa_did(void **state)
{
    (void)state;
    for_each_recording("migration/exports", check_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_recorded_definitions_back_with_every_number_as_it_was),
        cmocka_unit_test(gives_generated_definitions_back_with_every_number_as_it_was),
        cmocka_unit_test(gives_recorded_api_traffic_back_with_every_number_as_it_was),
        cmocka_unit_test(writes_exported_instances_as_elsa_did),
    };

    if (access(TEST_RECORDINGS_DIR "/conformance/definitions", R_OK) != 0) {
        (void)printf("1..0 # SKIP no recordings at %s/conformance/definitions\n",
                     TEST_RECORDINGS_DIR);
        return 0;
    }
    return cmocka_run_group_tests_name("base/json_recordings", tests, NULL, NULL);
}
