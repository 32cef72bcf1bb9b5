/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/zstd.h"
#include "lib/test.h"

#include <stdlib.h>

#define LIMIT ((size_t)16 << 20)

struct fixture {
    struct test_allocator alloc;
    struct pawl_zstd *zstd;
    struct pawl_buf packed, plain;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    assert_ok(pawl__zstd_new(&f->alloc.base, &f->zstd, NULL), NULL);
    pawl__buf_init(&f->packed, &f->alloc.base, LIMIT);
    pawl__buf_init(&f->plain, &f->alloc.base, LIMIT);
}

static void close_fixture(struct fixture *f)
{
    pawl__zstd_free(f->zstd);
    pawl__buf_release(&f->packed);
    pawl__buf_release(&f->plain);
    assert_int_equal(f->alloc.live_count, 0);
}

/* Text that compresses like a state does: repetitive, with numbers in it. */
static struct pawl_str make_text(size_t length)
{
    char *text = malloc(length + 64);
    uint64_t random = length + 1;
    size_t used = 0;

    assert_non_null(text);
    while (used < length) {
        static const char piece[] = "{\"id\":\"................\",\"status\":\"Running\"},";

        memcpy(text + used, piece, sizeof piece - 1);
        for (size_t i = 0; i < 16; i++)
            text[used + 7 + i] = "0123456789abcdef"[test_random(&random) % 16];
        used += sizeof piece - 1;
    }
    return pawl__str_make(text, length);
}

static void free_text(struct pawl_str text)
{
    free((void *)(uintptr_t)text.ptr);
}

static void gives_back_what_it_was_given(void **state)
{
    static const size_t lengths[] = {0, 1, 2, 100, 4095, 4096, 100000, 1000000};
    static const int levels[] = {PAWL_ZSTD_LEVEL_MIN, PAWL_ZSTD_LEVEL_DEFAULT, 9};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct pawl_str text = make_text(lengths[i]);

        for (size_t j = 0; j < sizeof levels / sizeof levels[0]; j++) {
            pawl__buf_clear(&f.packed);
            pawl__buf_clear(&f.plain);
            pawl__buf_text(&f.packed, "before");
            pawl__buf_text(&f.plain, "before");
            assert_ok(pawl__zstd_compress(f.zstd, text, levels[j], &f.packed, NULL), NULL);
            assert_true(pawl__zstd_is_frame(pawl__str_slice(pawl__buf_peek(&f.packed), 6, LIMIT)));
            if (lengths[i] > 1000)
                assert_true(f.packed.len < lengths[i] / 2);
            assert_ok(pawl__zstd_decompress(f.zstd,
                                            pawl__str_slice(pawl__buf_peek(&f.packed), 6, LIMIT),
                                            lengths[i], &f.plain, NULL),
                      NULL);
            assert_true(pawl__str_starts(pawl__buf_peek(&f.plain), pawl__str("before")));
            assert_true(pawl__str_equal(pawl__str_slice(pawl__buf_peek(&f.plain), 6, LIMIT), text));
        }
        free_text(text);
    }
    close_fixture(&f);
}

static void refuses_more_than_the_limit_before_taking_memory(void **state)
{
    struct fixture f;
    struct pawl_str text = make_text(1000000);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_buf small;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__zstd_compress(f.zstd, text, 3, &f.packed, NULL), NULL);
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), 999999, &f.plain, &err),
                PAWL_ELIMIT);
    assert_non_null(strstr(err.msg, "999999"));
    assert_int_equal(f.plain.cap, 0);
    assert_int_equal(f.plain.status, PAWL_OK);
    /* The buffer's own maximum counts too, and compressing respects it. */
    pawl__buf_init(&small, &f.alloc.base, 1000);
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), LIMIT, &small, &err),
                PAWL_ELIMIT);
    assert_code(pawl__zstd_compress(f.zstd, text, 3, &small, &err), PAWL_ELIMIT);
    assert_int_equal(small.len, 0);
    assert_ok(pawl__zstd_compress(f.zstd, pawl__str_slice(text, 0, 1500), 3, &small, &err), &err);
    assert_ok(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), 1000000, &f.plain, &err),
              &err);
    pawl__buf_release(&small);
    free_text(text);
    close_fixture(&f);
}

static void notices_every_flipped_bit_and_every_truncation(void **state)
{
    struct fixture f;
    struct pawl_str text = make_text(300);
    char damaged[1000];
    int refused = 0;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__zstd_compress(f.zstd, text, 3, &f.packed, NULL), NULL);
    assert_true(f.packed.len < sizeof damaged);
    pawl__buf_text(&f.plain, "x");
    for (size_t bit = 0; bit < f.packed.len * 8; bit++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        int status;

        memcpy(damaged, f.packed.ptr, f.packed.len);
        damaged[bit / 8] = (char)(damaged[bit / 8] ^ 1 << bit % 8);
        status = pawl__zstd_decompress(f.zstd, pawl__str_make(damaged, f.packed.len), LIMIT,
                                       &f.plain, &err);
        if (status == PAWL_OK) {
            /* A bit that decides nothing; the content must then be right. */
            assert_true(pawl__str_equal(pawl__str_slice(pawl__buf_peek(&f.plain), 1, LIMIT), text));
            f.plain.len = 1;
            continue;
        }
        if (status != PAWL_ELIMIT)
            assert_code(status, PAWL_ECORRUPT);
        assert_true(strncmp(err.msg, "zstd: ", 6) == 0);
        assert_int_equal(f.plain.len, 1);
        refused++;
    }
    assert_true((size_t)refused > f.packed.len * 8 * 95 / 100);
    for (size_t length = 0; length < f.packed.len; length++)
        assert_code(pawl__zstd_decompress(f.zstd, pawl__str_make(f.packed.ptr, length), LIMIT,
                                          &f.plain, NULL),
                    PAWL_ECORRUPT);
    free_text(text);
    close_fixture(&f);
}

static void wants_exactly_one_frame(void **state)
{
    struct fixture f;
    struct pawl_error err = PAWL_ERROR_INIT;
    size_t frame;

    (void)state;
    open_fixture(&f);
    assert_code(
        pawl__zstd_decompress(f.zstd, pawl__str("{\"plain\":\"json\"}"), LIMIT, &f.plain, &err),
        PAWL_ECORRUPT);
    assert_non_null(strstr(err.msg, "not a zstd frame"));
    assert_ok(pawl__zstd_compress(f.zstd, pawl__str("hello"), 3, &f.packed, NULL), NULL);
    frame = f.packed.len;
    pawl__buf_byte(&f.packed, 'x');
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), LIMIT, &f.plain, &err),
                PAWL_ECORRUPT);
    assert_non_null(strstr(err.msg, "1 bytes follow the frame"));
    f.packed.len = frame;
    assert_ok(pawl__zstd_compress(f.zstd, pawl__str("again"), 3, &f.packed, NULL), NULL);
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), LIMIT, &f.plain, &err),
                PAWL_ECORRUPT);
    assert_int_equal(f.plain.len, 0);
    close_fixture(&f);
}

/*
 * A frame as streaming writers make it, without the size of its content: magic, no flags, a window
 * of 2^(10 + window_log_over_10) bytes, then `block_count` blocks that each say "the letter a,
 * 100,000 times".
 */
static void put_unsized_frame(struct pawl_buf *out, unsigned window_log_over_10, int block_count)
{
    static const uint32_t size = 100000, run_length_block = 1;

    pawl__buf_append(out, "\x28\xB5\x2F\xFD\x00", 5);
    pawl__buf_byte(out, (char)(window_log_over_10 << 3));
    for (int i = 0; i < block_count; i++) {
        uint32_t header = size << 3 | run_length_block << 1 | (i == block_count - 1);

        pawl__buf_byte(out, (char)header);
        pawl__buf_byte(out, (char)(header >> 8));
        pawl__buf_byte(out, (char)(header >> 16));
        pawl__buf_byte(out, 'a');
    }
}

static void reads_frames_without_a_size_up_to_the_limit(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    put_unsized_frame(&f.packed, 10, 20);
    pawl__buf_text(&f.plain, "x");
    assert_ok(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), LIMIT, &f.plain, NULL),
              NULL);
    assert_int_equal(f.plain.len, 2000001);
    assert_int_equal(f.plain.ptr[2000000], 'a');
    f.plain.len = 1;
    assert_ok(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), 2000000, &f.plain, NULL),
              NULL);
    f.plain.len = 1;
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), 1999999, &f.plain, NULL),
                PAWL_ELIMIT);
    assert_int_equal(f.plain.len, 1);
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), 0, &f.plain, NULL),
                PAWL_ELIMIT);
    /* The context is fit for use after a failure. */
    assert_ok(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), LIMIT, &f.plain, NULL),
              NULL);
    close_fixture(&f);
}

static void refuses_bombs_without_a_size(void **state)
{
    struct fixture f;
    struct pawl_buf small;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    open_fixture(&f);
    put_unsized_frame(&f.packed, 10, 100000); /* 10 GB in 400 KB */
    pawl__buf_init(&small, &f.alloc.base, 1 << 20);
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), SIZE_MAX, &small, &err),
                PAWL_ELIMIT);
    assert_true(small.cap <= (1 << 20) + 1);
    assert_int_equal(small.len, 0);
    pawl__buf_clear(&f.packed);
    put_unsized_frame(&f.packed, 21, 1); /* asks for a window of 2 GB */
    assert_code(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), SIZE_MAX, &small, &err),
                PAWL_ELIMIT);
    pawl__buf_release(&small);
    close_fixture(&f);
}

static void refuses_levels_out_of_range(void **state)
{
    struct fixture f;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    open_fixture(&f);
    assert_code(pawl__zstd_compress(f.zstd, pawl__str("x"), 0, &f.packed, &err), PAWL_EINVAL);
    assert_code(pawl__zstd_compress(f.zstd, pawl__str("x"), 20, &f.packed, &err), PAWL_EINVAL);
    assert_int_equal(f.packed.len, 0);
    pawl__zstd_free(NULL);
    close_fixture(&f);
}

static void compresses_recorded_payloads_to_a_quarter(void **state)
{
    char path[1024];
    struct fixture f;
    struct pawl_str text;

    (void)state;
    open_fixture(&f);
    text = test_read_file(test_data_path(path, sizeof path, "hash-vectors.json"));
    assert_ok(pawl__zstd_compress(f.zstd, text, PAWL_ZSTD_LEVEL_DEFAULT, &f.packed, NULL), NULL);
    assert_true(f.packed.len < text.len / 4);
    assert_ok(pawl__zstd_decompress(f.zstd, pawl__buf_peek(&f.packed), LIMIT, &f.plain, NULL),
              NULL);
    assert_true(pawl__str_equal(pawl__buf_peek(&f.plain), text));
    free_text(text);
    close_fixture(&f);
}

static int round_trip(struct test_allocator *alloc, void *arg)
{
    struct pawl_zstd *zstd = NULL;
    struct pawl_buf packed, plain;
    int status = pawl__zstd_new(&alloc->base, &zstd, NULL);

    (void)arg;
    pawl__buf_init(&packed, &alloc->base, LIMIT);
    pawl__buf_init(&plain, &alloc->base, LIMIT);
    if (status == PAWL_OK)
        status = pawl__zstd_compress(zstd, pawl__str("some text some text"), 3, &packed, NULL);
    if (status == PAWL_OK)
        status = pawl__zstd_decompress(zstd, pawl__buf_peek(&packed), 100, &plain, NULL);
    if (status == PAWL_OK) {
        pawl__buf_clear(&packed);
        put_unsized_frame(&packed, 10, 3);
        status = packed.status;
    }
    if (status == PAWL_OK)
        status = pawl__zstd_decompress(zstd, pawl__buf_peek(&packed), LIMIT, &plain, NULL);
    if (status != PAWL_OK)
        assert_int_equal(plain.status, PAWL_OK);
    pawl__zstd_free(zstd);
    pawl__buf_release(&packed);
    pawl__buf_release(&plain);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(round_trip, NULL, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_it_was_given),
        cmocka_unit_test(refuses_more_than_the_limit_before_taking_memory),
        cmocka_unit_test(notices_every_flipped_bit_and_every_truncation),
        cmocka_unit_test(wants_exactly_one_frame),
        cmocka_unit_test(reads_frames_without_a_size_up_to_the_limit),
        cmocka_unit_test(refuses_bombs_without_a_size),
        cmocka_unit_test(refuses_levels_out_of_range),
        cmocka_unit_test(compresses_recorded_payloads_to_a_quarter),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("drivers/zstd", tests, NULL, NULL);
}
