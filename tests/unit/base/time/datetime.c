/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time/datetime.h"
#include "lib/test.h"

#include <jansson.h>
#include <stdio.h>
#include <time.h>

static struct pawl_datetime parse(const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_datetime value = {0};

    assert_ok(pawl__datetime_parse(pawl__str(text), &value, &err), &err);
    return value;
}

static void assert_format(struct pawl_datetime value, const char *expected)
{
    char text[PAWL_DATETIME_TEXT_SIZE];

    size_t length = pawl__datetime_format(value, text);

    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

/* Day by day through the whole range, against a calendar that only counts. */
static void knows_every_day_from_year_1_to_9999(void **state)
{
    int64_t days = 0;
    int weekday = 1;

    (void)state;
    for (int64_t year = 1; year <= 9999; year++) {
        for (int month = 1; month <= 12; month++) {
            int count = month == 2 ? 28 + pawl__year_is_leap(year) : 30 + (month + (month > 7)) % 2;

            assert_int_equal(pawl__month_days(year, month), count);
            for (int day = 1; day <= count; day++, days++, weekday = (weekday + 1) % 7) {
                int64_t y;
                int m, d;

                pawl__civil_from_days(days, &y, &m, &d);
                if (y != year || m != month || d != day ||
                    pawl__days_from_civil(year, month, day) != days ||
                    pawl__days_weekday(days) != weekday)
                    fail_msg("day %lld is %lld-%d-%d, expected %lld-%d-%d", (long long)days,
                             (long long)y, m, d, (long long)year, month, day);
            }
        }
    }
    assert_int_equal(days, 3652059);
    assert_true(days * PAWL_TICKS_PER_DAY == PAWL_DATETIME_TICKS_MAX + 1);
}

static void knows_leap_years_and_days_before_year_1(void **state)
{
    int64_t year;
    int month, day;

    (void)state;
    assert_true(pawl__year_is_leap(2000) && pawl__year_is_leap(2024) && pawl__year_is_leap(0));
    assert_false(pawl__year_is_leap(1900) || pawl__year_is_leap(2023));
    pawl__civil_from_days(-1, &year, &month, &day);
    assert_true(year == 0 && month == 12 && day == 31);
    assert_int_equal(pawl__days_weekday(-1), 0);
    for (int64_t days = -1000000; days < 0; days += 37) {
        pawl__civil_from_days(days, &year, &month, &day);
        assert_true(pawl__days_from_civil(year, month, day) == days);
    }
    assert_int_equal(pawl__days_from_civil(1970, 1, 1), PAWL_DATETIME_UNIX_EPOCH_DAYS);
}

static void reads_and_writes_what_system_text_json_writes(void **state)
{
    static const char *const texts[] = {
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59.9999999",
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05+00:00",
        "2026-01-02T03:04:05.12+00:00",
        "2026-01-02T03:04:05.0000001-05:30",
        "2024-02-29T23:59:59.999+14:00",
        "2000-02-29T00:00:00-14:00",
        "9999-12-31T23:59:59.9999999+14:00",
        "0001-01-01T00:00:00-14:00",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_format(parse(texts[i]), texts[i]);
}

static void reads_what_people_write(void **state)
{
    static const struct {
        const char *text, *as;
    } cases[] = {
        {"2026-01-02", "2026-01-02T00:00:00"},
        {"2026-01-02T03:04", "2026-01-02T03:04:00"},
        {"2026-01-02 03:04", "2026-01-02T03:04:00"},
        {"2026-01-02t03:04z", "2026-01-02T03:04:00Z"},
        {"2026-01-02T03:04:05.1", "2026-01-02T03:04:05.1"},
        {"2026-01-02T03:04:05.1000", "2026-01-02T03:04:05.1"},
        {"2026-01-02T03:04:05.0000000Z", "2026-01-02T03:04:05Z"},
        {"2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.1234567Z"},
        {"2026-01-02T03:04:05.9999999999999999Z", "2026-01-02T03:04:05.9999999Z"},
        {"2026-01-02T03:04:05.00000009Z", "2026-01-02T03:04:05Z"},
        {"2026-01-02T03:04+0230", "2026-01-02T03:04:00+02:30"},
        {"2026-01-02T03:04:05-05", "2026-01-02T03:04:05-05:00"},
        {"2026-01-02T03:04:05-00:00", "2026-01-02T03:04:05+00:00"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_format(parse(cases[i].text), cases[i].as);
}

static void refuses_what_is_no_date_and_says_where(void **state)
{
    static const struct {
        const char *text, *expected;
        int at;
    } cases[] = {
        {"", "a year of four digits", 1},
        {"notadate", "a year of four digits", 1},
        {"0000-01-01", "a year of four digits", 1},
        {"26-01-02", "a year of four digits", 3},
        {"2026/01/02", "'-' behind the year", 5},
        {"2026-13-01", "a month", 6},
        {"2026-00-01", "a month", 6},
        {"2026-1-01", "a month", 7},
        {"2026-01-32", "a day", 9},
        {"2026-01-00", "a day", 9},
        {"2026-02-29", "a day that this month has", 9},
        {"1900-02-29", "a day that this month has", 9},
        {"2026-04-31", "a day that this month has", 9},
        {"2026-01-02X", "'T' and a time", 11},
        {"2026-01-02Z", "'T' and a time", 11},
        {"2026-01-02T", "an hour", 12},
        {"2026-01-02T24:00", "an hour", 12},
        {"2026-01-02T03", "':' behind the hour", 14},
        {"2026-01-02T03:60", "a minute", 15},
        {"2026-01-02T03:04:60", "a second", 18},
        {"2026-01-02T03:04:05.", "a digit", 21},
        {"2026-01-02T03:04:05.12345678901234567", "the end", 37},
        {"2026-01-02T03:04:05,5", "the end", 20},
        {"2026-01-02T03:04:05+15:00", "hours of the offset", 21},
        {"2026-01-02T03:04:05+14:01", "an offset of 14 hours", 20},
        {"2026-01-02T03:04:05+01:60", "minutes of the offset", 24},
        {"2026-01-02T03:04:05+01:", "minutes of the offset", 24},
        {"2026-01-02T03:04:05+1", "hours of the offset", 22},
        {"2026-01-02T03:04:05Zx", "the end", 21},
        {"2026-01-02T03:04:05 ", "the end", 20},
        {" 2026-01-02", "a year of four digits", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_datetime value;
        char at[32];

        assert_code(pawl__datetime_parse(pawl__str(cases[i].text), &value, &err), PAWL_EPARSE);
        (void)snprintf(at, sizeof at, "at character %d ", cases[i].at);
        if (!strstr(err.msg, cases[i].expected) || !strstr(err.msg, at))
            fail_msg("\"%s\": %s; expected %s %s", cases[i].text, err.msg, cases[i].expected, at);
    }
}

static void refuses_instants_outside_its_years(void **state)
{
    struct pawl_datetime value;

    (void)state;
    assert_code(pawl__datetime_parse(pawl__str("0001-01-01T00:00:00+00:01"), &value, NULL),
                PAWL_EPARSE);
    assert_code(pawl__datetime_parse(pawl__str("9999-12-31T23:59:59-00:01"), &value, NULL),
                PAWL_EPARSE);
}

static void reads_bytes_with_a_nul_and_without_an_end(void **state)
{
    struct pawl_datetime value;

    (void)state;
    assert_code(pawl__datetime_parse(pawl__str_make("2026-01-02\0", 11), &value, NULL),
                PAWL_EPARSE);
    assert_ok(pawl__datetime_parse(pawl__str_make("2026-01-02T03:04", 10), &value, NULL), NULL);
    assert_format(value, "2026-01-02T00:00:00");
}

static void writes_the_fixed_form(void **state)
{
    char text[PAWL_DATETIME_TEXT_SIZE];

    (void)state;
    (void)pawl__datetime_format_fixed(parse("2026-01-02T03:04:05.12Z"), text);
    assert_string_equal(text, "2026-01-02T03:04:05.1200000Z");
    assert_int_equal(pawl__datetime_format_fixed(parse("2026-01-02T03:04:05-05:30"), text), 33);
    assert_string_equal(text, "2026-01-02T03:04:05.0000000-05:30");
    (void)pawl__datetime_format_fixed(parse("2026-01-02"), text);
    assert_string_equal(text, "2026-01-02T00:00:00.0000000");
}

static void reads_back_random_values(void **state)
{
    uint64_t random = 3;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct pawl_datetime value = {0}, again;
        char text[PAWL_DATETIME_TEXT_SIZE];

        value.ticks =
            PAWL_TICKS_PER_DAY +
            (int64_t)(test_random(&random) % (PAWL_DATETIME_TICKS_MAX - 2 * PAWL_TICKS_PER_DAY));
        value.kind = (enum pawl_datetime_kind)(test_random(&random) % 3);
        if (value.kind == PAWL_DATETIME_OFFSET)
            value.offset_minutes = (int)(test_random(&random) % 1681) - 840;
        if (i % 2)
            value.ticks -= value.ticks % PAWL_TICKS_PER_MS;
        (void)(i % 3 ? pawl__datetime_format(value, text)
                     : pawl__datetime_format_fixed(value, text));
        again = parse(text);
        assert_true(again.ticks == value.ticks && again.kind == value.kind &&
                    again.offset_minutes == value.offset_minutes);
    }
}

static void takes_apart_and_puts_together(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_civil civil, bad;
    struct pawl_datetime value = parse("2024-12-31T23:58:59.1234567+05:30"), made;

    (void)state;
    pawl__datetime_civil(value, &civil);
    assert_true(civil.year == 2024 && civil.month == 12 && civil.day == 31 && civil.hour == 23 &&
                civil.minute == 58 && civil.second == 59 && civil.tick == 1234567);
    assert_int_equal(pawl__datetime_day_of_year(value), 366);
    assert_int_equal(pawl__datetime_weekday(value), 2);
    assert_int_equal(pawl__datetime_weekday(parse("2026-01-04")), 0);
    assert_int_equal(pawl__datetime_day_of_year(parse("2026-03-01")), 60);
    assert_ok(pawl__datetime_make(&civil, PAWL_DATETIME_OFFSET, 330, &made, &err), &err);
    assert_int_equal(pawl__datetime_compare(made, value), 0);
    assert_format(made, "2024-12-31T23:58:59.1234567+05:30");
    assert_code(pawl__datetime_make(&civil, PAWL_DATETIME_OFFSET, 841, &made, &err), PAWL_EINVAL);
    bad = civil;
    bad.month = 13;
    assert_code(pawl__datetime_make(&bad, PAWL_DATETIME_UTC, 0, &made, &err), PAWL_EINVAL);
    assert_non_null(strstr(err.msg, "month"));
    bad = civil;
    bad.year = 10000;
    assert_code(pawl__datetime_make(&bad, PAWL_DATETIME_UTC, 0, &made, &err), PAWL_EINVAL);
    bad = civil;
    bad.tick = 10000000;
    assert_code(pawl__datetime_make(&bad, PAWL_DATETIME_UTC, 0, &made, &err), PAWL_EINVAL);
    civil = (struct pawl_civil){.year = 1, .month = 1, .day = 1};
    assert_code(pawl__datetime_make(&civil, PAWL_DATETIME_OFFSET, 60, &made, &err), PAWL_ELIMIT);
}

static void adds_within_its_years_only(void **state)
{
    struct pawl_datetime value = parse("2026-01-02T03:04:05+02:00"), out = value;

    (void)state;
    assert_ok(pawl__datetime_add(value, 90 * PAWL_TICKS_PER_MINUTE, &out, NULL), NULL);
    assert_format(out, "2026-01-02T04:34:05+02:00");
    assert_ok(pawl__datetime_add(value, -2 * PAWL_TICKS_PER_DAY, &out, NULL), NULL);
    assert_format(out, "2025-12-31T03:04:05+02:00");
    assert_code(pawl__datetime_add(value, INT64_MAX, &out, NULL), PAWL_ELIMIT);
    assert_code(pawl__datetime_add(value, INT64_MIN, &out, NULL), PAWL_ELIMIT);
    assert_code(pawl__datetime_add(parse("9999-12-31T23:59:59.9999999Z"), 1, &out, NULL),
                PAWL_ELIMIT);
    assert_code(pawl__datetime_add(parse("0001-01-01T02:00:00+02:00"), -1, &out, NULL),
                PAWL_ELIMIT);
    assert_format(out, "2025-12-31T03:04:05+02:00");
    assert_true(pawl__datetime_difference(parse("9999-12-31T23:59:59.9999999Z"),
                                          parse("0001-01-01")) == PAWL_DATETIME_TICKS_MAX);
    assert_true(pawl__datetime_difference(parse("2026-01-02T03:04:05+02:00"),
                                          parse("2026-01-02T01:04:05Z")) == 0);
}

static void adds_months_as_dotnet_does(void **state)
{
    static const struct {
        const char *from;
        int months;
        const char *to;
    } cases[] = {
        {"2024-01-31T10:00:00", 1, "2024-02-29T10:00:00"},
        {"2023-01-31T10:00:00", 1, "2023-02-28T10:00:00"},
        {"2024-02-29T10:00:00", 12, "2025-02-28T10:00:00"},
        {"2024-03-31T10:00:00", -1, "2024-02-29T10:00:00"},
        {"2024-01-15T10:00:00", -13, "2022-12-15T10:00:00"},
        {"2024-12-15T10:00:00", 1, "2025-01-15T10:00:00"},
        {"0001-01-01T00:00:00", 119987, "9999-12-01T00:00:00"},
    };
    struct pawl_datetime out;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(pawl__datetime_add_months(parse(cases[i].from), cases[i].months, &out, NULL),
                  NULL);
        assert_format(out, cases[i].to);
    }
    assert_code(pawl__datetime_add_months(parse("9999-12-01"), 1, &out, NULL), PAWL_ELIMIT);
    assert_code(pawl__datetime_add_months(parse("0001-01-01"), -1, &out, NULL), PAWL_ELIMIT);
    assert_code(pawl__datetime_add_months(parse("2026-01-01"), INT64_MIN, &out, NULL), PAWL_ELIMIT);
}

static void compares_and_shifts_instants(void **state)
{
    struct pawl_datetime berlin = parse("2026-01-02T03:04:05+01:00"), out;

    (void)state;
    assert_int_equal(pawl__datetime_compare(berlin, parse("2026-01-02T02:04:05Z")), 0);
    assert_true(pawl__datetime_compare(berlin, parse("2026-01-02T03:04:05Z")) < 0);
    assert_true(pawl__datetime_compare(parse("2026-01-02T03:04:05"), berlin) > 0);
    assert_ok(pawl__datetime_to_offset(berlin, -300, &out, NULL), NULL);
    assert_format(out, "2026-01-01T21:04:05-05:00");
    assert_code(pawl__datetime_to_offset(berlin, -841, &out, NULL), PAWL_EINVAL);
    assert_code(pawl__datetime_to_offset(berlin, INT32_MIN, &out, NULL), PAWL_EINVAL);
    assert_code(pawl__datetime_to_offset(parse("0001-01-01T00:00:00Z"), -1, &out, NULL),
                PAWL_ELIMIT);
}

static void converts_unix_times_both_ways(void **state)
{
    struct pawl_datetime out;
    int64_t ns = 7;

    (void)state;
    assert_format(pawl__datetime_from_unix_ns(0), "1970-01-01T00:00:00Z");
    assert_format(pawl__datetime_from_unix_ns(-1), "1969-12-31T23:59:59.9999999Z");
    assert_format(pawl__datetime_from_unix_ns(INT64_C(1767323045123456789)),
                  "2026-01-02T03:04:05.1234567Z");
    assert_format(pawl__datetime_from_unix_ns(INT64_MAX), "2262-04-11T23:47:16.8547758Z");
    assert_format(pawl__datetime_from_unix_ns(INT64_MIN), "1677-09-21T00:12:43.1452241Z");
    assert_ok(pawl__datetime_from_unix_ms(-1, &out, NULL), NULL);
    assert_format(out, "1969-12-31T23:59:59.999Z");
    assert_true(pawl__datetime_to_unix_ms(parse("1969-12-31T23:59:59.9995Z")) == -1);
    assert_true(pawl__datetime_to_unix_ms(parse("2026-01-02T03:04:05.9999+01:00")) ==
                INT64_C(1767319445999));
    assert_ok(pawl__datetime_to_unix_ns(parse("2026-01-02T03:04:05.1234567Z"), &ns, NULL), NULL);
    assert_true(ns == INT64_C(1767323045123456700));
    assert_code(pawl__datetime_to_unix_ns(parse("2263-01-01"), &ns, NULL), PAWL_ELIMIT);
    assert_code(pawl__datetime_to_unix_ns(parse("0001-01-01"), &ns, NULL), PAWL_ELIMIT);
    assert_true(ns == INT64_C(1767323045123456700));
    assert_code(pawl__datetime_from_unix_ms(INT64_MAX, &out, NULL), PAWL_ELIMIT);
    assert_code(pawl__datetime_from_unix_ms(INT64_C(253402300800000), &out, NULL), PAWL_ELIMIT);
    assert_ok(pawl__datetime_from_unix_ms(INT64_C(253402300799999), &out, NULL), NULL);
    assert_code(pawl__datetime_from_utc_ticks(-1, &out, NULL), PAWL_ELIMIT);
}

static void agrees_with_the_c_library_on_utc(void **state)
{
    uint64_t random = 11;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t s = (int64_t)(test_random(&random) % INT64_C(253402300800));
        time_t t = (time_t)s;
        struct pawl_datetime value;
        struct pawl_civil civil;
        struct tm tm;

        assert_ok(pawl__datetime_from_unix_ms(s * 1000, &value, NULL), NULL);
        assert_non_null(gmtime_r(&t, &tm));
        pawl__datetime_civil(value, &civil);
        assert_true(civil.year == tm.tm_year + 1900 && civil.month == tm.tm_mon + 1 &&
                    civil.day == tm.tm_mday && civil.hour == tm.tm_hour &&
                    civil.minute == tm.tm_min && civil.second == tm.tm_sec);
        assert_int_equal(pawl__datetime_weekday(value), tm.tm_wday);
        assert_int_equal(pawl__datetime_day_of_year(value), tm.tm_yday + 1);
    }
}

/* Whether a text has the form that System.Text.Json writes, judged by shape alone. */
static bool looks_written(const char *text)
{
    static const char shape[] = "0000-00-00T00:00:00";

    if (strlen(text) < sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';

        if (shape[i] == '0' ? !digit : text[i] != shape[i])
            return false;
    }
    return strspn(text + sizeof shape - 1, "0123456789.:+-Z") == strlen(text + sizeof shape - 1);
}

static void walk(json_t *node, size_t *count)
{
    const char *key;
    json_t *child;
    size_t i;

    if (json_is_object(node)) {
        json_object_foreach(node, key, child) walk(child, count);
    } else if (json_is_array(node)) {
        json_array_foreach(node, i, child) walk(child, count);
    } else if (json_is_string(node) && looks_written(json_string_value(node))) {
        struct pawl_datetime value = parse(json_string_value(node));
        char shorter[PAWL_DATETIME_TEXT_SIZE], fixed[PAWL_DATETIME_TEXT_SIZE];

        (void)pawl__datetime_format(value, shorter);
        (void)pawl__datetime_format_fixed(value, fixed);
        if (strcmp(json_string_value(node), shorter) != 0)
            assert_string_equal(json_string_value(node), fixed);
        ++*count;
    }
}

static void reads_and_writes_the_recorded_times_unchanged(void **state)
{
    char path[1024];
    size_t count = 0;
    json_t *root;

    (void)state;
    root = json_load_file(test_data_path(path, sizeof path, "hash-vectors.json"), JSON_ALLOW_NUL,
                          NULL);
    assert_non_null(root);
    walk(root, &count);
    json_decref(root);
    assert_true(count > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_every_day_from_year_1_to_9999),
        cmocka_unit_test(knows_leap_years_and_days_before_year_1),
        cmocka_unit_test(reads_and_writes_what_system_text_json_writes),
        cmocka_unit_test(reads_what_people_write),
        cmocka_unit_test(refuses_what_is_no_date_and_says_where),
        cmocka_unit_test(refuses_instants_outside_its_years),
        cmocka_unit_test(reads_bytes_with_a_nul_and_without_an_end),
        cmocka_unit_test(writes_the_fixed_form),
        cmocka_unit_test(reads_back_random_values),
        cmocka_unit_test(takes_apart_and_puts_together),
        cmocka_unit_test(adds_within_its_years_only),
        cmocka_unit_test(adds_months_as_dotnet_does),
        cmocka_unit_test(compares_and_shifts_instants),
        cmocka_unit_test(converts_unix_times_both_ways),
        cmocka_unit_test(agrees_with_the_c_library_on_utc),
        cmocka_unit_test(reads_and_writes_the_recorded_times_unchanged),
    };

    return cmocka_run_group_tests_name("base/datetime", tests, NULL, NULL);
}
