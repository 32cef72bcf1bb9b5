/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time/duration.h"
#include "lib/test.h"

#include <stdlib.h>

#define DAY PAWL_TICKS_PER_DAY
#define HOUR PAWL_TICKS_PER_HOUR
#define MINUTE PAWL_TICKS_PER_MINUTE
#define SECOND PAWL_TICKS_PER_SECOND
#define MS PAWL_TICKS_PER_MS

struct good {
    const char *text;
    int64_t ticks;
};

struct bad {
    const char *text;
    int code;
};

static void check_good(int (*parse)(struct pawl_str, int64_t *, struct pawl_error *),
                       const struct good *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        int64_t ticks = 77;
        int status = parse(pawl__str(cases[i].text), &ticks, &err);

        if (status != PAWL_OK || ticks != cases[i].ticks)
            fail_msg("\"%s\": %lld ticks, %s; expected %lld", cases[i].text, (long long)ticks,
                     err.msg, (long long)cases[i].ticks);
    }
}

static void check_bad(int (*parse)(struct pawl_str, int64_t *, struct pawl_error *),
                      const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        int64_t ticks = 77;
        int status = parse(pawl__str(cases[i].text), &ticks, &err);

        if (status != cases[i].code || ticks != 77)
            fail_msg("\"%s\": %s (%s), expected %s", cases[i].text, pawl_error_name(status),
                     err.msg, pawl_error_name(cases[i].code));
        assert_int_equal(err.code, status);
    }
}

#define COUNT(cases) (sizeof(cases) / sizeof((cases)[0]))

static void reads_the_constant_form(void **state)
{
    static const struct good cases[] = {
        {"00:00:00", 0},
        {"01:30:00", 90 * MINUTE},
        {"1.02:03:04", DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND},
        {"-00:00:01", -SECOND},
        {"00:00:00.1000000", 100 * MS},
        {"00:00:00.1", 100 * MS},
        {"00:00:00.0000001", 1},
        {"23:59:59.9999999", DAY - 1},
        {"10675199.02:48:05.4775807", INT64_MAX},
        {"-10675199.02:48:05.4775808", INT64_MIN},
        {"0.00:00:01", SECOND},
    };

    (void)state;
    check_good(pawl__duration_parse_constant, cases, COUNT(cases));
}

static void refuses_all_but_the_constant_form(void **state)
{
    static const struct bad cases[] = {
        {"", PAWL_EPARSE},
        {"-", PAWL_EPARSE},
        {"1", PAWL_EPARSE},
        {"1:00:00", PAWL_EPARSE},
        {"01:00", PAWL_EPARSE},
        {" 01:00:00", PAWL_EPARSE},
        {"01:00:00 ", PAWL_EPARSE},
        {"+01:00:00", PAWL_EPARSE},
        {"--01:00:00", PAWL_EPARSE},
        {"01:00:00.", PAWL_EPARSE},
        {"01:00:00.12345678", PAWL_EPARSE},
        {"1.2.01:00:00", PAWL_EPARSE},
        {".01:00:00", PAWL_EPARSE},
        {"1:01:00:00", PAWL_EPARSE},
        {"24:00:00", PAWL_ELIMIT},
        {"00:60:00", PAWL_ELIMIT},
        {"00:00:60", PAWL_ELIMIT},
        {"10675199.02:48:05.4775808", PAWL_ELIMIT},
        {"-10675199.02:48:05.4775809", PAWL_ELIMIT},
        {"99999999.00:00:00", PAWL_ELIMIT},
    };

    (void)state;
    check_bad(pawl__duration_parse_constant, cases, COUNT(cases));
}

static void reads_what_timespan_parse_reads(void **state)
{
    static const struct good cases[] = {
        {"6", 6 * DAY},
        {"-6", -6 * DAY},
        {"0", 0},
        {"6:12", 6 * HOUR + 12 * MINUTE},
        {"6:12:14", 6 * HOUR + 12 * MINUTE + 14 * SECOND},
        {"6.12:14", 6 * DAY + 12 * HOUR + 14 * MINUTE},
        {"6:12:14:45", 6 * DAY + 12 * HOUR + 14 * MINUTE + 45 * SECOND},
        {"6.12:14:45", 6 * DAY + 12 * HOUR + 14 * MINUTE + 45 * SECOND},
        {"6:12:14:45.3448", 6 * DAY + 12 * HOUR + 14 * MINUTE + 45 * SECOND + 3448000},
        {"6.12:14:45.3448", 6 * DAY + 12 * HOUR + 14 * MINUTE + 45 * SECOND + 3448000},
        {"6:12:14.3448", 6 * HOUR + 12 * MINUTE + 14 * SECOND + 3448000},
        {"6:12:.3448", 6 * HOUR + 12 * MINUTE + 3448000},
        {"6.12:14:.3448", 6 * DAY + 12 * HOUR + 14 * MINUTE + 3448000},
        {"6:12:14:.3448", 6 * DAY + 12 * HOUR + 14 * MINUTE + 3448000},
        {" \t-1.02:03:04 \n", -(DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND)},
        {"24:00:00", 24 * DAY},
        {"-24:01:02", -(24 * DAY + HOUR + 2 * MINUTE)},
        {"00000001:1", HOUR + MINUTE},
        {"0:0:0.0000001", 1},
        {"0:0:0.00000001", 0},
        {"0:0:0.00000005", 1},
        {"0:0:0.09999999", 1000000},
        {"0:0:0.0123456789", 123457},
        {"0:0:0.00000000000000000000000001", 0},
        {"0:0:0.9999999", 9999999},
        {"10675199.02:48:05.4775807", INT64_MAX},
        {"-10675199.02:48:05.4775808", INT64_MIN},
    };

    (void)state;
    check_good(pawl__duration_parse, cases, COUNT(cases));
}

static void tells_malformed_from_too_large(void **state)
{
    static const struct bad cases[] = {
        {"", PAWL_EPARSE},
        {"   ", PAWL_EPARSE},
        {"-", PAWL_EPARSE},
        {"abc", PAWL_EPARSE},
        {"- 1", PAWL_EPARSE},
        {"+1", PAWL_EPARSE},
        {"1:", PAWL_EPARSE},
        {":1", PAWL_EPARSE},
        {"1.1", PAWL_EPARSE},
        {"1.1.1", PAWL_EPARSE},
        {"1:1.1", PAWL_EPARSE},
        {"1::1", PAWL_EPARSE},
        {"1:2:3:4:5", PAWL_EPARSE},
        {"1:2:3:4:5:6", PAWL_EPARSE},
        {"1.2.3:4:5", PAWL_EPARSE},
        {"1 :2", PAWL_EPARSE},
        {"1:2:3.", PAWL_EPARSE},
        {"1:2:3..4", PAWL_EPARSE},
        {"1:2:3,4", PAWL_EPARSE},
        {"10675200", PAWL_ELIMIT},
        {"268435456", PAWL_ELIMIT},
        {"99999999999999999999", PAWL_ELIMIT},
        {"24:00", PAWL_ELIMIT},
        {"1:60", PAWL_ELIMIT},
        {"1:1:60", PAWL_ELIMIT},
        {"24:24:00", PAWL_ELIMIT},
        {"0:0:0.12345678", PAWL_ELIMIT},
        {"1.24:00:00", PAWL_ELIMIT},
        {"10675199.02:48:05.4775808", PAWL_ELIMIT},
        {"-10675199.02:48:05.4775809", PAWL_ELIMIT},
    };

    (void)state;
    check_bad(pawl__duration_parse, cases, COUNT(cases));
}

static void reads_a_nul_as_any_other_wrong_byte(void **state)
{
    int64_t ticks;

    (void)state;
    assert_code(pawl__duration_parse(pawl__str_make("1:2\0", 4), &ticks, NULL), PAWL_EPARSE);
    assert_code(pawl__duration_parse_constant(pawl__str_make("01:02:03\0", 9), &ticks, NULL),
                PAWL_EPARSE);
    assert_code(pawl__duration_parse_human(pawl__str_make("1s\0", 3), &ticks, NULL), PAWL_EPARSE);
    assert_code(pawl__duration_parse(pawl__str_make(NULL, 0), &ticks, NULL), PAWL_EPARSE);
    assert_code(pawl__duration_parse_constant(pawl__str_make(NULL, 0), &ticks, NULL), PAWL_EPARSE);
    assert_code(pawl__duration_parse_human(pawl__str_make(NULL, 0), &ticks, NULL), PAWL_EPARSE);
}

static void writes_the_constant_form_and_reads_it_back(void **state)
{
    static const struct good cases[] = {
        {"00:00:00", 0},
        {"00:01:00", MINUTE},
        {"-1.02:03:04", -(DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND)},
        {"00:00:00.1000000", 100 * MS},
        {"42.00:00:00", 42 * DAY},
        {"10675199.02:48:05.4775807", INT64_MAX},
        {"-10675199.02:48:05.4775808", INT64_MIN},
    };
    uint64_t random = 3;
    char text[PAWL_DURATION_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(pawl__duration_format(cases[i].ticks, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    for (int i = 0; i < 100000; i++) {
        int64_t ticks = (int64_t)(test_random(&random)) >> test_random(&random) % 64;
        int64_t again = 0, lenient = 0;

        size_t length = pawl__duration_format(ticks, text);

        assert_int_equal(length, strlen(text));
        assert_ok(pawl__duration_parse_constant(pawl__str(text), &again, NULL), NULL);
        assert_ok(pawl__duration_parse(pawl__str(text), &lenient, NULL), NULL);
        assert_true(again == ticks && lenient == ticks);
    }
}

static void reads_durations_of_people(void **state)
{
    static const struct good good[] = {
        {"500ms", 500 * MS},
        {"10s", 10 * SECOND},
        {"5m", 5 * MINUTE},
        {"2h", 2 * HOUR},
        {"1d", DAY},
        {"1h30m", 90 * MINUTE},
        {"1d2h3m4s5ms6us", DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5 * MS + 60},
        {" 2m 3s ", 2 * MINUTE + 3 * SECOND},
        {"1.5s", 1500 * MS},
        {"0.1us", 1},
        {"0.25d", 6 * HOUR},
        {"-10s", -10 * SECOND},
        {"0", 0},
        {"0s", 0},
        {"90m", 90 * MINUTE},
        {"10675199d", 10675199 * DAY},
        {"1.00000000000000000001s", SECOND},
    };
    static const struct bad bad[] = {
        {"", PAWL_EPARSE},
        {"-", PAWL_EPARSE},
        {"10", PAWL_EPARSE},
        {"00", PAWL_EPARSE},
        {"s", PAWL_EPARSE},
        {"10 s", PAWL_EPARSE},
        {"10S", PAWL_EPARSE},
        {"10sec", PAWL_EPARSE},
        {"1.s", PAWL_EPARSE},
        {".5s", PAWL_EPARSE},
        {"30m1h", PAWL_EPARSE},
        {"1s1s", PAWL_EPARSE},
        {"1s-1ms", PAWL_EPARSE},
        {"1s,", PAWL_EPARSE},
        {"10675200d", PAWL_ELIMIT},
        {"99999999999999999999999s", PAWL_ELIMIT},
        {"18446744073709551615d", PAWL_ELIMIT},
        {"10675199d23h", PAWL_ELIMIT},
    };

    (void)state;
    check_good(pawl__duration_parse_human, good, COUNT(good));
    check_bad(pawl__duration_parse_human, bad, COUNT(bad));
}

static void writes_durations_for_people(void **state)
{
    static const struct good cases[] = {
        {"0s", 0},
        {"0.1us", 1},
        {"12.3us", 123},
        {"999.9us", 9999},
        {"1ms", MS},
        {"250ms", 250 * MS},
        {"1.235ms", 12345},
        {"1s", SECOND},
        {"1.5s", 1500 * MS},
        {"1s", SECOND + 4999},
        {"1.001s", SECOND + 5000},
        {"1s", 9999999},
        {"59.999s", 59999 * MS},
        {"1m", MINUTE - 1},
        {"1m", MINUTE},
        {"2m 3s", 2 * MINUTE + 3 * SECOND},
        {"2m 4s", 2 * MINUTE + 3500 * MS},
        {"1h", HOUR - 1},
        {"1h 30m", 90 * MINUTE},
        {"1d", DAY - 1},
        {"3d 4h", 3 * DAY + 4 * HOUR},
        {"-1.5s", -1500 * MS},
        {"10675199d 3h", INT64_MAX},
        {"-10675199d 3h", INT64_MIN},
    };
    char text[PAWL_DURATION_TEXT_SIZE];
    uint64_t random = 8;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(pawl__duration_format_human(cases[i].ticks, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    /* What was written is read back as the rounded value, and is then written the same. */
    for (int i = 0; i < 100000; i++) {
        int64_t ticks = (int64_t)(test_random(&random)) >> (test_random(&random) % 62 + 2);
        char again[PAWL_DURATION_TEXT_SIZE];
        int64_t read = 0;

        (void)pawl__duration_format_human(ticks, text);
        assert_ok(pawl__duration_parse_human(pawl__str(text), &read, NULL), NULL);
        (void)pawl__duration_format_human(read, again);
        assert_string_equal(again, text);
        assert_true(llabs(read - ticks) <= llabs(ticks) / 48);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_constant_form),
        cmocka_unit_test(refuses_all_but_the_constant_form),
        cmocka_unit_test(reads_what_timespan_parse_reads),
        cmocka_unit_test(tells_malformed_from_too_large),
        cmocka_unit_test(reads_a_nul_as_any_other_wrong_byte),
        cmocka_unit_test(writes_the_constant_form_and_reads_it_back),
        cmocka_unit_test(reads_durations_of_people),
        cmocka_unit_test(writes_durations_for_people),
    };

    return cmocka_run_group_tests_name("base/duration", tests, NULL, NULL);
}
