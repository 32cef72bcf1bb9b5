/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash/stimulus.h"
#include "lib/test.h"

#include <stdlib.h>

struct vectors {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_json list;
};

/* tests/data/hash-vectors.json: stimulus hashes that a live Elsa computed. */
static int load_vectors(void **state)
{
    struct vectors *vectors = calloc(1, sizeof *vectors);
    struct pawl_error err = PAWL_ERROR_INIT;
    char path[512];
    struct pawl_str text;

    assert_non_null(vectors);
    test_allocator_init(&vectors->alloc);
    pawl__arena_init(&vectors->arena, &vectors->alloc.base, (size_t)64 << 20);
    text = test_read_file(test_data_path(path, sizeof path, "hash-vectors.json"));
    assert_ok(pawl__json_parse(&vectors->arena, text, NULL, &vectors->list, NULL, &err), &err);
    free((void *)(uintptr_t)text.ptr);
    *state = vectors;
    return 0;
}

static int free_vectors(void **state)
{
    struct vectors *vectors = *state;

    pawl__arena_release(&vectors->arena);
    assert_int_equal(vectors->alloc.live_count, 0);
    free(vectors);
    return 0;
}

static struct pawl_str text_of(const struct pawl_json *vector, const char *key)
{
    return pawl__json_str(pawl__json_get_text(vector, key));
}

static void every_recorded_text_gives_its_recorded_hash(void **state)
{
    struct vectors *vectors = *state;

    assert_int_equal(pawl__json_len(&vectors->list), 330);
    for (uint32_t i = 0; i < pawl__json_len(&vectors->list); i++) {
        const struct pawl_json *vector = pawl__json_at(&vectors->list, i);
        char hash[PAWL_SHA256_TEXT_SIZE];

        pawl__sha256_text(text_of(vector, "hashInput"), PAWL_HEX_UPPER, hash);
        assert_str(text_of(vector, "hash"), hash);
    }
}

static void every_payload_of_elsas_own_types_gives_its_recorded_text_and_hash(void **state)
{
    struct vectors *vectors = *state;
    int checked = 0;

    for (uint32_t i = 0; i < pawl__json_len(&vectors->list); i++) {
        const struct pawl_json *vector = pawl__json_at(&vectors->list, i);
        const struct pawl_json *payload = pawl__json_get_text(vector, "payload");
        struct pawl_buf text;
        char hash[PAWL_SHA256_TEXT_SIZE];

        if (!pawl__json_true(pawl__json_get_text(vector, "portable")))
            continue;
        pawl__buf_init(&text, &vectors->alloc.base, 1 << 20);
        pawl__stimulus_text(&text, text_of(vector, "name"), payload,
                            text_of(vector, "activityInstanceId"));
        assert_code(text.status, PAWL_OK);
        assert_str(text_of(vector, "hashInput"), pawl__buf_cstr(&text));
        assert_code(pawl__stimulus_hash(&vectors->alloc.base, text_of(vector, "name"), payload,
                                        text_of(vector, "activityInstanceId"), hash),
                    PAWL_OK);
        assert_str(text_of(vector, "hash"), hash);
        pawl__buf_release(&text);
        checked++;
    }
    assert_int_equal(checked, 309);
}

static const char *text_for(struct pawl_arena *arena, struct pawl_buf *text, const char *payload)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json json;

    assert_ok(pawl__json_parse(arena, pawl__str(payload), NULL, &json, NULL, &err), &err);
    pawl__buf_clear(text);
    pawl__stimulus_text(text, pawl__str("MyApp.Approval"), &json, pawl__str(""));
    return pawl__buf_cstr(text);
}

static void payloads_of_other_activities_tell_different_values_apart(void **state)
{
    struct vectors *vectors = *state;
    struct pawl_buf text;

    pawl__buf_init(&text, &vectors->alloc.base, 1 << 20);
    assert_string_equal(
        text_for(&vectors->arena, &text, "{\"orderId\":17,\"approver\":\"Zo\u00EB\"}"),
        "MyApp.Approval|{\"OrderId\":17,\"Approver\":\"Zo\\u00EB\"}");
    assert_string_equal(text_for(&vectors->arena, &text, "{\"a\":null,\"_type\":\"X\"}"),
                        "MyApp.Approval|{\"A\":null}");
    assert_string_equal(text_for(&vectors->arena, &text, "42"), "MyApp.Approval|42");
    assert_string_equal(text_for(&vectors->arena, &text, "true"), "MyApp.Approval|true");
    assert_string_equal(text_for(&vectors->arena, &text, "[1,\"b\"]"), "MyApp.Approval|[1,\"b\"]");
    pawl__buf_release(&text);
}

static int hash_event(struct test_allocator *alloc, void *arg)
{
    char hash[PAWL_SHA256_TEXT_SIZE];

    return pawl__stimulus_hash(&alloc->base, pawl__str("Elsa.Event"), arg, pawl__str(""), hash);
}

static void a_refused_allocation_is_answered_as_such(void **state)
{
    struct vectors *vectors = *state;
    struct pawl_json *payload = pawl__json_get_text(pawl__json_at(&vectors->list, 0), "payload");

    test_sweep_allocations(hash_event, payload, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_text_gives_its_recorded_hash),
        cmocka_unit_test(every_payload_of_elsas_own_types_gives_its_recorded_text_and_hash),
        cmocka_unit_test(payloads_of_other_activities_tell_different_values_apart),
        cmocka_unit_test(a_refused_allocation_is_answered_as_such),
    };

    return cmocka_run_group_tests_name("base/stimulus", tests, load_vectors, free_vectors);
}
