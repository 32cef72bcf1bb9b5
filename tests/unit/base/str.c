/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "lib/test.h"

static void makes_and_compares(void **state)
{
    struct pawl_str literal = PAWL_STR_LIT("abc");

    (void)state;
    assert_int_equal(literal.len, 3);
    assert_int_equal(pawl__str(NULL).len, 0);
    assert_non_null(pawl__str(NULL).ptr);
    assert_true(pawl__str_equal(pawl__str_make(NULL, 0), pawl__str("")));
    assert_true(pawl__str_is(pawl__str_make("abcd", 3), "abc"));
    assert_false(pawl__str_is(pawl__str("abc"), "abd"));
    assert_false(pawl__str_is(pawl__str("abc"), "ab"));
    assert_false(pawl__str_equal(pawl__str_make("a\0b", 3), pawl__str_make("a\0c", 3)));
}

static void folds_only_ascii_letters(void **state)
{
    (void)state;
    assert_true(pawl__str_equal_nocase(pawl__str("Content-Type"), pawl__str("cONTENT-tYPE")));
    assert_false(pawl__str_equal_nocase(pawl__str("a"), pawl__str("ab")));
    assert_false(pawl__str_equal_nocase(pawl__str("["), pawl__str("{")));
    assert_false(pawl__str_equal_nocase(pawl__str("@"), pawl__str("`")));
    assert_false(pawl__str_equal_nocase(pawl__str("\xC3\x84"), pawl__str("\xC3\xA4")));
    assert_true(pawl__str_equal_nocase(pawl__str_make(NULL, 0), pawl__str("")));
}

static void orders_by_bytes_with_prefixes_first(void **state)
{
    (void)state;
    assert_int_equal(pawl__str_compare(pawl__str("abc"), pawl__str("abc")), 0);
    assert_true(pawl__str_compare(pawl__str("ab"), pawl__str("abc")) < 0);
    assert_true(pawl__str_compare(pawl__str("abc"), pawl__str("ab")) > 0);
    assert_true(pawl__str_compare(pawl__str("b"), pawl__str("abc")) > 0);
    assert_true(pawl__str_compare(pawl__str("z"), pawl__str("\xC3\xA4")) < 0);
    assert_true(pawl__str_compare(pawl__str_make(NULL, 0), pawl__str("a")) < 0);
    assert_int_equal(pawl__str_compare(pawl__str_make(NULL, 0), pawl__str("")), 0);
}

static void knows_beginnings_and_ends(void **state)
{
    struct pawl_str s = pawl__str("workflow");

    (void)state;
    assert_true(pawl__str_starts(s, pawl__str("work")));
    assert_true(pawl__str_starts(s, pawl__str("")));
    assert_true(pawl__str_starts(s, s));
    assert_false(pawl__str_starts(s, pawl__str("workflows")));
    assert_false(pawl__str_starts(s, pawl__str("flow")));
    assert_true(pawl__str_ends(s, pawl__str("flow")));
    assert_true(pawl__str_ends(s, pawl__str("")));
    assert_false(pawl__str_ends(s, pawl__str("work")));
    assert_false(pawl__str_ends(pawl__str("w"), s));
    assert_true(pawl__str_starts(pawl__str_make(NULL, 0), pawl__str("")));
}

static void finds_bytes_from_anywhere(void **state)
{
    struct pawl_str s = pawl__str("a.b.c");

    (void)state;
    assert_int_equal(pawl__str_find(s, '.', 0), 1);
    assert_int_equal(pawl__str_find(s, '.', 1), 1);
    assert_int_equal(pawl__str_find(s, '.', 2), 3);
    assert_true(pawl__str_find(s, '.', 4) == SIZE_MAX);
    assert_true(pawl__str_find(s, '.', 99) == SIZE_MAX);
    assert_true(pawl__str_find(pawl__str_make(NULL, 0), '.', 0) == SIZE_MAX);
}

static void trims_and_slices_within_bounds(void **state)
{
    (void)state;
    assert_str(pawl__str_trim(pawl__str(" \t\r\n\v\f a b \n")), "a b");
    assert_str(pawl__str_trim(pawl__str("   ")), "");
    assert_str(pawl__str_trim(pawl__str("")), "");
    assert_str(pawl__str_slice(pawl__str("abcdef"), 2, 4), "cd");
    assert_str(pawl__str_slice(pawl__str("abcdef"), 2, 99), "cdef");
    assert_str(pawl__str_slice(pawl__str("abcdef"), 4, 2), "");
    assert_str(pawl__str_slice(pawl__str("abcdef"), 99, 100), "");
    assert_str(pawl__str_slice(pawl__str_make(NULL, 0), 0, 5), "");
}

/* A second opinion, by the definition: decode, then ask whether encoding gives the same bytes. */
static size_t slow_sequence(const unsigned char *p, size_t left)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t code;

    if (length == 0 || p[0] >= 0xF8 || left < length)
        return 0;
    code = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        code = code << 6 | (p[i] & 0x3Fu);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    return length == (code < 0x80 ? 1u : code < 0x800 ? 2u : code < 0x10000 ? 3u : 4u) ? length : 0;
}

static void accepts_exactly_the_well_formed_sequences(void **state)
{
    unsigned char p[4];

    (void)state;
    for (uint32_t bits = 0; bits < 1u << 24; bits++) {
        uint32_t top = bits >> 16;

        /* All first and second bytes; of the third and fourth only where the classes change. */
        p[0] = (unsigned char)top;
        p[1] = (unsigned char)(bits >> 8);
        p[2] = (unsigned char)(0x7F + (bits >> 4 & 15) * 5);
        p[3] = (unsigned char)(0x7F + (bits & 15) * 5);
        if ((bits & 0xFF) % 7 != 0 && (bits & 0xFF) != 0)
            continue;
        for (size_t length = 1; length <= 4; length++) {
            struct pawl_str s = pawl__str_make((const char *)p, length);
            size_t first = slow_sequence(p, length);
            size_t pos = 0;
            uint32_t code = pawl__utf8_next(s, &pos);

            assert_int_equal(pos, first ? first : 1);
            if (!first) {
                assert_int_equal(code, 0xFFFD);
                assert_int_equal(pawl__utf8_valid_prefix(s), 0);
            } else {
                char again[4];

                assert_int_equal(pawl__utf8_encode(code, again), first);
                assert_memory_equal(again, p, first);
                assert_true(pawl__utf8_valid_prefix(s) >= first);
            }
        }
    }
}

static void encodes_every_scalar_value_and_reads_it_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char bytes[4];
        size_t length, pos = 0;

        if (code == 0xD800)
            code = 0xE000;
        length = pawl__utf8_encode(code, bytes);
        assert_true(pawl__utf8_valid(pawl__str_make(bytes, length)));
        assert_int_equal(pawl__utf8_next(pawl__str_make(bytes, length), &pos), code);
        assert_int_equal(pos, length);
        assert_false(pawl__utf8_valid(pawl__str_make(bytes, length - (length > 1))) && length > 1);
    }
}

static void answers_where_validity_ends(void **state)
{
    char text[64];

    (void)state;
    assert_int_equal(pawl__utf8_valid_prefix(pawl__str_make(NULL, 0)), 0);
    assert_true(pawl__utf8_valid(pawl__str("gr\xC3\xBC\xC3\x9F dich, \xF0\x9F\x90\xBE")));
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'x', sizeof text);
        text[at] = '\xFF';
        assert_int_equal(pawl__utf8_valid_prefix(pawl__str_make(text, sizeof text)), at);
        if (at + 1 < sizeof text) { /* a good character across the eight-byte steps */
            text[at] = '\xC3';
            text[at + 1] = '\xA4';
            assert_true(pawl__utf8_valid(pawl__str_make(text, sizeof text)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_and_compares),
        cmocka_unit_test(folds_only_ascii_letters),
        cmocka_unit_test(orders_by_bytes_with_prefixes_first),
        cmocka_unit_test(knows_beginnings_and_ends),
        cmocka_unit_test(finds_bytes_from_anywhere),
        cmocka_unit_test(trims_and_slices_within_bounds),
        cmocka_unit_test(accepts_exactly_the_well_formed_sequences),
        cmocka_unit_test(encodes_every_scalar_value_and_reads_it_back),
        cmocka_unit_test(answers_where_validity_ends),
    };

    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
