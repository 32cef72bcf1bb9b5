/* SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "lib/test.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *text_of(double value, char room[PAWL_DECIMAL_SIZE + 1])
{
    room[pawl__decimal_from_double(value, room)] = '\0';
    return room;
}

static double read_double(const char *text)
{
    double value = NAN;

    if (!pawl__decimal_to_double(pawl__str(text), &value))
        return INFINITY;
    return value;
}

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void writes_integers(void **state)
{
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {7, "7"},
        {-1, "-1"},
        {10, "10"},
        {99, "99"},
        {100, "100"},
        {-12345, "-12345"},
        {9999, "9999"},
        {10000, "10000"},
        {123456789, "123456789"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    uint64_t random = 7;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char room[PAWL_DECIMAL_SIZE];

        assert_str(pawl__str_make(room, pawl__decimal_from_int(cases[i].value, room)),
                   cases[i].text);
    }
    for (int i = 0; i < 100000; i++) {
        int64_t value = (int64_t)test_random(&random) >> test_random(&random) % 64;
        char room[PAWL_DECIMAL_SIZE];
        char expected[32];
        int64_t back;

        (void)snprintf(expected, sizeof expected, "%" PRId64, value);
        assert_str(pawl__str_make(room, pawl__decimal_from_int(value, room)), expected);
        assert_true(pawl__decimal_to_int(pawl__str(expected), &back));
        assert_int_equal(back, value);
    }
}

static void writes_doubles_as_javascript_does(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {100.0, "100"},
        {123456789.125, "123456789.125"},
        {1e20, "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e21, "1e+21"},
        {1.5e21, "1.5e+21"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {-9.5e22, "-9.5e+22"},
        {0.000001, "0.000001"},
        {0.0000012345678901234567, "0.0000012345678901234567"},
        {-0.0000012345678901234567, "-0.0000012345678901234567"},
        {1e-7, "1e-7"},
        {1.25e-7, "1.25e-7"},
        {5e-324, "5e-324"},
        {-5e-324, "-5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {9007199254740991.0, "9007199254740991"},
        {9007199254740992.0, "9007199254740992"},
        {9007199254740994.0, "9007199254740994"},
        {9007199254740993.0, "9007199254740992"},
        {4503599627370495.5, "4503599627370495.5"},
        {2.2250738585072011e-308, "2.225073858507201e-308"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
        {8.41e21, "8.41e+21"},
        {2.0e-44, "2e-44"},
        {0.0341666666666667, "0.0341666666666667"},
        {1.0341666666666667, "1.0341666666666667"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char room[PAWL_DECIMAL_SIZE + 1];

        assert_string_equal(text_of(cases[i].value, room), cases[i].text);
    }
}

static void writes_nothing_for_what_is_not_finite(void **state)
{
    char room[PAWL_DECIMAL_SIZE];

    (void)state;
    assert_int_equal(pawl__decimal_from_double(INFINITY, room), 0);
    assert_int_equal(pawl__decimal_from_double(-INFINITY, room), 0);
    assert_int_equal(pawl__decimal_from_double(NAN, room), 0);
}

static size_t significant_digits(const char *text)
{
    size_t count = 0;
    size_t zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        if (*text == '0') {
            zeros += count > 0;
        } else {
            count += zeros + 1;
            zeros = 0;
        }
    }
    return count;
}

/* Whether digits * 10^exponent, or one more or less in the last digit, reads as the value. */
static bool reads_as(double value, const char *scientific, int off)
{
    char digits[32];
    char text[64];
    size_t count = 0;
    int places = 0;

    for (const char *p = scientific; *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9')
            digits[count++] = *p;
    }
    digits[count] = '\0';
    places = (int)count - 1;
    (void)snprintf(text, sizeof text, "%llde%d", atoll(digits) + off,
                   atoi(strchr(scientific, 'e') + 1) - places);
    return strtod(text, NULL) == value;
}

/*
 * Reads back; no text with one digit less does; and where printf's nearest of as many digits reads
 * back too, it is that one.
 */
static void check_shortest(double value)
{
    char room[PAWL_DECIMAL_SIZE + 1];
    char nearest[64];
    int digits;

    value = fabs(value);
    assert_true(strtod(text_of(value, room), NULL) == value);
    assert_true(to_bits(read_double(room)) == to_bits(value));
    digits = (int)significant_digits(room);
    (void)snprintf(nearest, sizeof nearest, "%.*e", digits - 1, value);
    if (reads_as(value, nearest, 0) && !pawl__decimal_equal(pawl__str(room), pawl__str(nearest)))
        fail_msg("%s is farther than %s", room, nearest);
    if (digits == 1)
        return;
    (void)snprintf(nearest, sizeof nearest, "%.*e", digits - 2, value);
    for (int off = -1; off <= 1; off++) {
        if (reads_as(value, nearest, off))
            fail_msg("%s is longer than %s", room, nearest);
    }
}

static void writes_the_shortest_text_that_reads_back(void **state)
{
    uint64_t random = 42;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        double value = from_bits(test_random(&random));

        if (isfinite(value) && value != 0)
            check_shortest(value);
    }
    for (int i = 0; i < 50000; i++) { /* of everyday size: few digits, or nearly */
        double value = (double)(test_random(&random) % 1000000) / 1000;

        if (value != 0)
            check_shortest(value);
        check_shortest(nextafter(value, 1e300));
    }
    for (int exponent = 0; exponent < 0x7FF; exponent++) { /* powers of two and their neighbours */
        uint64_t bits = (uint64_t)exponent << 52;

        check_shortest(from_bits(bits + 1));
        if (bits > 0) {
            check_shortest(from_bits(bits));
            check_shortest(from_bits(bits - 1));
        }
    }
}

static void reads_back_200000_random_doubles(void **state)
{
    uint64_t random = 2026;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        double value = from_bits(test_random(&random));
        char room[PAWL_DECIMAL_SIZE + 1];
        char longer[64];

        if (!isfinite(value))
            continue;
        (void)text_of(value, room);
        (void)snprintf(longer, sizeof longer, "%.17g", value);
        assert_true(significant_digits(room) <= significant_digits(longer));
        assert_true(to_bits(strtod(room, NULL)) == to_bits(value));
        assert_true(to_bits(read_double(room)) == to_bits(value));
        assert_true(to_bits(read_double(longer)) == to_bits(value));
    }
}

static void reads_doubles_correctly_rounded(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0e5",
        "1",
        "1.10",
        "1e2",
        "1E+2",
        "123456789012345678901234567890",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999",
        "9007199254740995",
        "9007199254740991.5",
        "4503599627370496.5",
        "4503599627370497.5",
        "1e22",
        "1e23",
        "8.5e22",
        "123e-25",
        "0.000000000000000000000000000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "2.47032822920623272088284396434110686183e-324",
        "1e-400",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "179769313486231580793728971405301e276",
        "6.9294956446009195e15",
        "3.4e-316",
        "7.2057594037927933e16",
        "0.1e-6",
        "100000000000000000000000000000000000000000e-40",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value;

        if (!pawl__decimal_to_double(pawl__str(texts[i]), &value))
            fail_msg("%s is refused", texts[i]);
        if (to_bits(value) != to_bits(strtod(texts[i], NULL)))
            fail_msg("%s reads as %.17g", texts[i], value);
    }
}

static void refuses_what_overflows_a_double(void **state)
{
    static const char *const texts[] = {
        "1e309",
        "-1e309",
        "1.7976931348623159e308",
        "1e400",
        "1e99999999999999999999",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
        "854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704"
        "342711559699508093042880177904174497792", /* half a unit past the largest */
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 42;

        if (pawl__decimal_to_double(pawl__str(texts[i]), &value))
            fail_msg("%s reads as %.17g", texts[i], value);
        assert_true(value == 42);
    }
}

/* The exact decimal text of the middle between a double and the next one, by printf's full digits.
 */
static void decides_halfway_cases_by_the_last_of_hundreds_of_digits(void **state)
{
    uint64_t random = 99;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = test_random(&random) & INT64_MAX;
        char middle[1200];
        double low, high;
        long double half;
        int length;

        if (i % 2) /* subnormal or small, where the digits are many */
            bits &= UINT64_C(0x003FFFFFFFFFFFFF);
        low = from_bits(bits);
        high = from_bits(bits + 1);
        if (!isfinite(low) || !isfinite(high))
            continue;
        half = ((long double)low + (long double)high) / 2; /* 64 bits hold it exactly */
        length = snprintf(middle, sizeof middle, "%.1080Le", half);
        assert_true(length > 0 && (size_t)length < sizeof middle);
        assert_true(read_double(middle) == (bits & 1 ? high : low));
        /* The last digit before the exponent is a 0; the least bit more decides. */
        *(strchr(middle, 'e') - 1) = '1';
        assert_true(read_double(middle) == high);
    }
}

static void agrees_with_strtod_on_random_texts(void **state)
{
    uint64_t random = 5;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        char text[1024];
        size_t len = 0;
        size_t digits = 1 + test_random(&random) % (i % 100 ? 40 : 900);
        size_t point = test_random(&random) % (digits + 1);
        double theirs, ours;

        if (test_random(&random) % 2)
            text[len++] = '-';
        text[len++] = point == 0 ? '0' : (char)('1' + test_random(&random) % 9);
        for (size_t k = 1; k < digits; k++) {
            if (k == point || (k == 1 && point == 0))
                text[len++] = '.';
            text[len++] = (char)('0' + test_random(&random) % 10);
        }
        (void)snprintf(text + len, sizeof text - len, "e%d",
                       (int)(test_random(&random) % 700) - 350);
        theirs = strtod(text, NULL);
        if (pawl__decimal_to_double(pawl__str(text), &ours))
            assert_true(to_bits(ours) == to_bits(theirs));
        else
            assert_true(isinf(theirs));
    }
}

static void reads_integers_however_they_are_written(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"0.000", 0},
        {"0e999999999999999999999", 0},
        {"1e2", 100},
        {"3.0", 3},
        {"-3.0", -3},
        {"12.5e1", 125},
        {"1200e-2", 12},
        {"0.00012e5", 12},
        {"100000000000000000000e-20", 1},
        {"9223372036854775807", INT64_MAX},
        {"9.223372036854775807e18", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775808.000", INT64_MIN},
        {"1e18", INT64_C(1000000000000000000)},
        {"1e00000000000000000000000000001", 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value;

        if (!pawl__decimal_to_int(pawl__str(cases[i].text), &value))
            fail_msg("%s is refused", cases[i].text);
        assert_int_equal(value, cases[i].value);
    }
}

static void refuses_what_is_no_int64(void **state)
{
    static const char *const texts[] = {
        "0.5",
        "1e-1",
        "12.51e1",
        "9223372036854775808",
        "-9223372036854775809",
        "12345678901234567890",
        "1e19",
        "1e400",
        "1e99999999999999999999",
        "-1e-99999999999999999999",
        "9223372036854775807.5",
        "99999999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t value = 42;

        if (pawl__decimal_to_int(pawl__str(texts[i]), &value))
            fail_msg("%s reads as %" PRId64, texts[i], value);
        assert_int_equal(value, 42);
    }
}

static void tells_equal_numbers_exactly_whatever_their_spelling(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"1", "1.0", true},
        {"1", "10e-1", true},
        {"100", "1e2", true},
        {"100", "1E+2", true},
        {"0", "-0.0e7", true},
        {"0.10", "0.1", true},
        {"1", "-1", false},
        {"1", "1.0000000000000000000000000000000000001", false},
        {"9007199254740993", "9007199254740992", false},
        {"123.456", "123456e-3", true},
        {"123.456", "0.00123456e+5", true},
        {"12", "1.2", false},
        {"1e999999999", "10e999999998", true},
        {"1e999999999", "1e999999998", false},
        {"1e99999999999999999999999999999999", "0.1e100000000000000000000000000000000", true},
        {"1e99999999999999999999999999999999", "0.1e100000000000000000000000000000001", false},
        {"1e-99999999999999999999999999999999", "1e99999999999999999999999999999999", false},
        {"1e-100000000000000000000000000000000", "10e-100000000000000000000000000000001", true},
        {"1e123456789012345678901234567890", "1e12345678901234567890123456789", false},
        {"1e-0", "1e0", true},
        {"101", "1.01e2", true},
        {"101", "11e1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_str a = pawl__str(cases[i].a);
        struct pawl_str b = pawl__str(cases[i].b);

        if (pawl__decimal_equal(a, b) != cases[i].equal ||
            pawl__decimal_equal(b, a) != cases[i].equal)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_integers),
        cmocka_unit_test(writes_doubles_as_javascript_does),
        cmocka_unit_test(writes_nothing_for_what_is_not_finite),
        cmocka_unit_test(writes_the_shortest_text_that_reads_back),
        cmocka_unit_test(reads_back_200000_random_doubles),
        cmocka_unit_test(reads_doubles_correctly_rounded),
        cmocka_unit_test(refuses_what_overflows_a_double),
        cmocka_unit_test(decides_halfway_cases_by_the_last_of_hundreds_of_digits),
        cmocka_unit_test(agrees_with_strtod_on_random_texts),
        cmocka_unit_test(reads_integers_however_they_are_written),
        cmocka_unit_test(refuses_what_is_no_int64),
        cmocka_unit_test(tells_equal_numbers_exactly_whatever_their_spelling),
    };

    return cmocka_run_group_tests_name("base/decimal", tests, NULL, NULL);
}
