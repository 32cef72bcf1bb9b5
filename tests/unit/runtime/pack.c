/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/pack.h"

#include "lib/test.h"

#include <stdlib.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_packer packer, other;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){0};
    test_allocator_init(&f->alloc);
    pawl__packer_init(&f->packer, &f->alloc.base);
    pawl__packer_init(&f->other, &f->alloc.base);
}

static void close_fixture(struct fixture *f)
{
    pawl__packer_release(&f->packer);
    pawl__packer_release(&f->other);
    assert_int_equal(f->alloc.live_count, 0);
}

/* A state as states are: it says the same again and again, with numbers in between. */
static struct pawl_str make_state(size_t length)
{
    static const char piece[] = "{\"id\":\"................\",\"status\":\"Running\"},";
    char *text = malloc(length + sizeof piece);
    uint64_t random = length + 1;

    assert_non_null(text);
    for (size_t used = 0; used < length; used += sizeof piece - 1) {
        memcpy(text + used, piece, sizeof piece);
        for (size_t i = 0; i < 16; i++)
            text[used + 7 + i] = "0123456789abcdef"[test_random(&random) % 16];
    }
    return pawl__str_make(text, length);
}

static void free_state(struct pawl_str text)
{
    free((void *)(uintptr_t)text.ptr);
}

static void short_texts_stay_as_they_are(void **state)
{
    struct pawl_str text = make_state(PAWL_PACK_PLAIN_MAX), packed, plain;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__pack(&f.packer, text, &packed, &f.err), &f.err);
    assert_ptr_equal(packed.ptr, text.ptr);
    assert_int_equal(packed.len, text.len);
    assert_ok(pawl__unpack(&f.packer, packed, PAWL_PACK_BYTES_MAX, &plain, &f.err), &f.err);
    assert_ptr_equal(plain.ptr, text.ptr);
    assert_ok(pawl__pack(&f.packer, pawl__str(""), &packed, &f.err), &f.err);
    assert_int_equal(packed.len, 0);
    assert_int_equal(f.alloc.request_count, 0);
    free_state(text);
    close_fixture(&f);
}

static void long_texts_become_a_frame_and_come_back(void **state)
{
    static const size_t lengths[] = {PAWL_PACK_PLAIN_MAX + 1, 10000, 300000};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct pawl_str text = make_state(lengths[i]), packed, plain;

        assert_ok(pawl__pack(&f.packer, text, &packed, &f.err), &f.err);
        assert_true(pawl__zstd_is_frame(packed));
        assert_true(packed.len < text.len / 2);
        assert_ok(pawl__unpack(&f.other, packed, text.len, &plain, &f.err), &f.err);
        assert_true(pawl__str_equal(plain, text));
        free_state(text);
    }
    close_fixture(&f);
}

static void bytes_that_begin_like_a_frame_come_back_too(void **state)
{
    static const struct pawl_str bytes = PAWL_STR_LIT("\x28\xB5\x2F\xFD is no frame");
    struct pawl_str packed, plain;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__pack(&f.packer, bytes, &packed, &f.err), &f.err);
    assert_false(pawl__str_equal(packed, bytes));
    assert_ok(pawl__unpack(&f.other, packed, 100, &plain, &f.err), &f.err);
    assert_true(pawl__str_equal(plain, bytes));
    close_fixture(&f);
}

static void damaged_frames_are_found(void **state)
{
    struct pawl_str text = make_state(9000), packed, plain = {0};
    struct fixture f;
    char *copy;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__pack(&f.packer, text, &packed, &f.err), &f.err);
    copy = malloc(packed.len);
    assert_non_null(copy);
    for (size_t at = 4; at < packed.len; at += 7) {
        memcpy(copy, packed.ptr, packed.len);
        copy[at] = (char)(copy[at] ^ 0x55);
        assert_true(pawl__unpack(&f.other, pawl__str_make(copy, packed.len), PAWL_PACK_BYTES_MAX,
                                 &plain, &f.err) != PAWL_OK);
        assert_null(plain.ptr);
    }
    assert_code(pawl__unpack(&f.other, pawl__str_slice(packed, 0, packed.len - 1),
                             PAWL_PACK_BYTES_MAX, &plain, &f.err),
                PAWL_ECORRUPT);
    assert_code(
        pawl__unpack(&f.other, pawl__str_slice(packed, 0, 4), PAWL_PACK_BYTES_MAX, &plain, &f.err),
        PAWL_ECORRUPT);
    free(copy);
    free_state(text);
    close_fixture(&f);
}

static void limits_hold_for_both_forms(void **state)
{
    struct pawl_str text = make_state(9000), packed, plain = {0};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__pack(&f.packer, text, &packed, &f.err), &f.err);
    assert_code(pawl__unpack(&f.other, packed, 8999, &plain, &f.err), PAWL_ELIMIT);
    assert_code(pawl__unpack(&f.other, pawl__str("{\"a\":1}"), 6, &plain, &f.err), PAWL_ELIMIT);
    assert_code(
        pawl__pack(&f.packer, pawl__str_make(text.ptr, PAWL_PACK_BYTES_MAX + 1), &plain, &f.err),
        PAWL_ELIMIT);
    assert_null(plain.ptr);
    free_state(text);
    close_fixture(&f);
}

static int pack_and_unpack(struct test_allocator *alloc, void *arg)
{
    const struct pawl_str *text = arg;
    struct pawl_packer packer, other;
    struct pawl_str packed, plain;
    int status;

    pawl__packer_init(&packer, &alloc->base);
    pawl__packer_init(&other, &alloc->base);
    status = pawl__pack(&packer, *text, &packed, NULL);
    if (status == PAWL_OK)
        status = pawl__unpack(&other, packed, PAWL_PACK_BYTES_MAX, &plain, NULL);
    pawl__packer_release(&packer);
    pawl__packer_release(&other);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    struct pawl_str text = make_state(9000);

    (void)state;
    test_sweep_allocations(pack_and_unpack, &text, 50);
    free_state(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_stay_as_they_are),
        cmocka_unit_test(long_texts_become_a_frame_and_come_back),
        cmocka_unit_test(bytes_that_begin_like_a_frame_come_back_too),
        cmocka_unit_test(damaged_frames_are_found),
        cmocka_unit_test(limits_hold_for_both_forms),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
