/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/value/number.h"

#include "lib/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *decimal_text(const char *text, char out[PAWL_NET_DECIMAL_TEXT_SIZE])
{
    struct pawl_number_text scanned;
    struct pawl_net_decimal decimal;

    if (!pawl__number_scan(pawl__str(text), PAWL_NUMBER_FLOAT, &scanned))
        return "no number";
    if (!pawl__net_decimal_from_text(&scanned, &decimal))
        return "too large";
    pawl__net_decimal_format(&decimal, out);
    return out;
}

static void decimals_keep_their_digits_and_round_half_to_even(void **state)
{
    static const char *const rows[][2] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.00", "0.00"},
        {"1.10", "1.10"},
        {"007", "7"},
        {"-1e3", "-1000"},
        {"1.5e1", "15"},
        {"1e-3", "0.001"},
        {"12e-1", "1.2"},
        {"1e28", "10000000000000000000000000000"},
        {"1e29", "too large"},
        {"79228162514264337593543950335", "79228162514264337593543950335"},
        {"79228162514264337593543950336", "too large"},
        {"79228162514264337593543950335.4", "79228162514264337593543950335"},
        {"79228162514264337593543950335.5", "too large"},
        {"7922816251426433759354395033.5", "7922816251426433759354395033.5"},
        {"7.9228162514264337593543950335", "7.9228162514264337593543950335"},
        {"7.92281625142643375935439503354", "7.9228162514264337593543950335"},
        {"7.92281625142643375935439503356", "7.922816251426433759354395034"},
        {"0.12345678901234567890123456785", "0.1234567890123456789012345678"},
        {"0.12345678901234567890123456775", "0.1234567890123456789012345678"},
        {"0.123456789012345678901234567851", "0.1234567890123456789012345679"},
        {"1e-28", "0.0000000000000000000000000001"},
        {"5e-29", "0.0000000000000000000000000000"},
        {"6e-29", "0.0000000000000000000000000001"},
        {"1e-1000000", "0.0000000000000000000000000000"},
        {"0e1000000", "0"},
        {"1e99999999999999999999", "too large"},
        {"0.3333333333333333333333333333333", "0.3333333333333333333333333333"},
        {"1.", "1"},
        {".5", "0.5"},
        {"1e", "no number"},
        {"1 2", "no number"},
        {".", "no number"},
        {"", "no number"},
        {"1,0", "no number"},
        {"--1", "no number"},
    };
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(decimal_text(rows[i][0], text), rows[i][1]);
}

static void decimals_become_integers_half_to_even(void **state)
{
    static const struct {
        const char *text;
        bool fits;
        int64_t integer;
    } rows[] = {
        {"2.5", true, 2},
        {"3.5", true, 4},
        {"-2.5", true, -2},
        {"2.51", true, 3},
        {"0.5000000000000000000000000001", true, 1},
        {"9223372036854775807.4", true, INT64_MAX},
        {"9223372036854775807.5", false, 0},
        {"-9223372036854775808.5", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_number_text scanned;
        struct pawl_net_decimal decimal;
        int64_t integer = 0;

        assert_true(pawl__number_scan(pawl__str(rows[i].text), PAWL_NUMBER_FLOAT, &scanned));
        assert_true(pawl__net_decimal_from_text(&scanned, &decimal));
        assert_int_equal(pawl__net_decimal_to_int(&decimal, &integer), rows[i].fits);
        assert_true(integer == rows[i].integer);
    }
}

static void doubles_round_half_to_even(void **state)
{
    static const struct {
        double real;
        bool fits;
        int64_t integer;
    } rows[] = {
        {0.5, true, 0},
        {1.5, true, 2},
        {-1.5, true, -2},
        {-0.5, true, 0},
        {0.49999999999999994, true, 0},
        {4503599627370497.5, true, 4503599627370498},
        {9007199254740992.0, true, 9007199254740992},
        {9223372036854774784.0, true, 9223372036854774784},
        {9223372036854775808.0, false, 0},
        {-9223372036854775808.0, true, INT64_MIN},
        {HUGE_VAL, false, 0},
        {NAN, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t integer = 0;

        assert_int_equal(pawl__number_double_to_int(rows[i].real, &integer), rows[i].fits);
        assert_true(integer == rows[i].integer);
    }
}

static const char *double_text(struct pawl_buf *buf, double value, bool single)
{
    pawl__buf_clear(buf);
    pawl__number_write_double(buf, value, single);
    return pawl__buf_cstr(buf);
}

static void doubles_print_in_their_shortest_form(void **state)
{
    static const struct {
        double real;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {100, "100"},
        {0.1, "0.1"},
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1E-05"},
        {1.5e-7, "1.5E-07"},
        {1e15, "1000000000000000"},
        {1e16, "10000000000000000"},
        {1e17, "1E+17"},
        {123456789012345678.0, "1.2345678901234568E+17"},
        {12345678901234567.0, "12345678901234568"},
        {1.7976931348623157e308, "1.7976931348623157E+308"},
        {5e-324, "5E-324"},
        {HUGE_VAL, "Infinity"},
        {-HUGE_VAL, "-Infinity"},
        {NAN, "NaN"},
    };
    struct test_allocator alloc;
    struct pawl_buf buf;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(double_text(&buf, rows[i].real, false), rows[i].text);
    assert_string_equal(double_text(&buf, 123456789, true), "123456789");
    assert_string_equal(double_text(&buf, 1e9, true), "1E+09");
    pawl__buf_release(&buf);
}

/* The shortest digits of a float, by trying all lengths with the C library. */
static double shortest_single(float single)
{
    char text[40];

    for (int digits = 1; digits < 10; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, (double)single);
        if (strtof(text, NULL) == single)
            break;
    }
    return strtod(text, NULL);
}

static void floats_have_the_shortest_text_that_means_them(void **state)
{
    uint64_t random = 7;

    (void)state;
    assert_true(pawl__number_round_single(0.1) == 0.1);
    assert_true(pawl__number_round_single(16777217) == 16777216);
    assert_true(pawl__number_round_single(FLT_MAX) == 3.4028235e38);
    assert_true(isinf(pawl__number_round_single(1e39)));
    assert_true(isnan(pawl__number_round_single(NAN)));
    for (int i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)test_random(&random);
        float single;

        memcpy(&single, &bits, sizeof single);
        if (!isfinite(single))
            continue;
        if (pawl__number_round_single((double)single) != shortest_single(single))
            fail_msg("%a: %.17g, expected %.17g", (double)single,
                     pawl__number_round_single((double)single), shortest_single(single));
    }
}

static void doubles_become_decimals_of_fifteen_digits(void **state)
{
    static const struct {
        double real;
        int digits;
        const char *text;
    } rows[] = {
        {0.1, 15, "0.1"},
        {0.30000000000000004, 15, "0.3"},
        {123456789.123456789, 15, "123456789.123457"},
        {1e20, 15, "100000000000000000000"},
        {-2.5, 15, "-2.5"},
        {0, 15, "0"},
        {1e-30, 15, "0.0000000000000000000000000000"},
        {999999999999999.9, 15, "1000000000000000"},
        {1.23456789, 7, "1.234568"},
    };
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    struct pawl_net_decimal decimal;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(pawl__net_decimal_from_double(rows[i].real, rows[i].digits, &decimal));
        pawl__net_decimal_format(&decimal, text);
        assert_string_equal(text, rows[i].text);
    }
    assert_false(pawl__net_decimal_from_double(1e30, 15, &decimal));
    assert_false(pawl__net_decimal_from_double(NAN, 15, &decimal));
    assert_false(pawl__net_decimal_from_double(-HUGE_VAL, 15, &decimal));
}

static void texts_become_integers_or_say_why_not(void **state)
{
    static const struct {
        const char *text;
        int status;
        int64_t integer;
    } rows[] = {
        {"0", PAWL_OK, 0},
        {" -9223372036854775808 ", PAWL_OK, INT64_MIN},
        {"9223372036854775807", PAWL_OK, INT64_MAX},
        {"9223372036854775808", PAWL_ELIMIT, 0},
        {"-9223372036854775809", PAWL_ELIMIT, 0},
        {"00000000000000000000000001", PAWL_OK, 1},
        {"99999999999999999999x", PAWL_EPARSE, 0},
        {"+", PAWL_EPARSE, 0},
        {"", PAWL_EPARSE, 0},
        {"1.0", PAWL_EPARSE, 0},
    };
    int64_t integer;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        integer = 0;
        assert_code(pawl__number_parse_int(pawl__str(rows[i].text), &integer), rows[i].status);
        assert_true(integer == rows[i].integer);
    }
    assert_true(pawl__number_parse_hex(pawl__str("fF"), 16, &integer) && integer == 255);
    assert_true(pawl__number_parse_hex(pawl__str("8000"), 16, &integer) && integer == INT16_MIN);
    assert_true(pawl__number_parse_hex(pawl__str("FFFFFFFFFFFFFFFF"), 64, &integer) &&
                integer == -1);
    assert_false(pawl__number_parse_hex(pawl__str("10000"), 16, &integer));
    assert_false(pawl__number_parse_hex(pawl__str("g"), 16, &integer));
    assert_false(pawl__number_parse_hex(pawl__str(""), 16, &integer));
}

static void long_texts_become_the_nearest_double(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_number_text scanned;
    double real = 0;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    assert_true(pawl__number_scan(pawl__str("-1,234,567.25e-2"), PAWL_NUMBER_GROUPS, &scanned));
    assert_code(pawl__number_to_double(&arena, &scanned, &real), PAWL_OK);
    assert_true(real == -12345.6725);
    assert_true(pawl__number_scan(pawl__str("1e400"), PAWL_NUMBER_FLOAT, &scanned));
    assert_code(pawl__number_to_double(&arena, &scanned, &real), PAWL_OK);
    assert_true(isinf(real));
    assert_true(pawl__number_scan(pawl__str("000"), PAWL_NUMBER_FLOAT, &scanned));
    assert_code(pawl__number_to_double(&arena, &scanned, &real), PAWL_OK);
    assert_true(real == 0);
    assert_false(pawl__number_scan(pawl__str("1,000e2"), PAWL_NUMBER_AMOUNT, &scanned));
    assert_true(pawl__number_scan(pawl__str("1,000.5"), PAWL_NUMBER_AMOUNT, &scanned));
    pawl__arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_keep_their_digits_and_round_half_to_even),
        cmocka_unit_test(decimals_become_integers_half_to_even),
        cmocka_unit_test(doubles_round_half_to_even),
        cmocka_unit_test(doubles_print_in_their_shortest_form),
        cmocka_unit_test(floats_have_the_shortest_text_that_means_them),
        cmocka_unit_test(doubles_become_decimals_of_fifteen_digits),
        cmocka_unit_test(texts_become_integers_or_say_why_not),
        cmocka_unit_test(long_texts_become_the_nearest_double),
    };

    return cmocka_run_group_tests_name("engine/number", tests, NULL, NULL);
}
