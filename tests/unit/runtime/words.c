/* SPDX-License-Identifier: Apache-2.0 */
/* The list of words is part of what stores have: a change makes them unreadable. */
#include "runtime/words.h"

#include "base/hash/checksum.h"
#include "lib/test.h"

#define COUNT 149u
#define SUM UINT64_C(0xfb088e2117bdde42)

static void the_list_is_the_one_that_stores_were_written_with(void **state)
{
    struct test_allocator alloc;
    struct pawl_words words;
    struct pawl_buf all;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&all, &alloc.base, (size_t)1 << 20);
    pawl__stored_words(&words);
    for (uint32_t i = 0; i < words.count; i++) {
        pawl__buf_str(&all, words.items[i]);
        pawl__buf_byte(&all, '\n');
    }
    assert_int_equal(words.count, COUNT);
    assert_int_equal(pawl__checksum(pawl__buf_peek(&all)), SUM);
    pawl__buf_release(&all);
}

static void no_word_is_there_twice(void **state)
{
    struct pawl_words words;

    (void)state;
    pawl__stored_words(&words);
    for (uint32_t i = 0; i < words.count; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_false(pawl__str_equal(words.items[i], words.items[j]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_the_one_that_stores_were_written_with),
        cmocka_unit_test(no_word_is_there_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
