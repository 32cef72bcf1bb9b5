/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time/cron.h"

#include "base/time/datetime.h"
#include "base/time/timezone.h"
#include "lib/test.h"

#include <stdio.h>

#define CENTRAL_EUROPE "CET-1CEST,M3.5.0,M10.5.0/3"
#define EASTERN "EST5EDT,M3.2.0,M11.1.0"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"

static struct pawl_cron parse(const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_cron cron = {0};

    assert_ok(pawl__cron_parse(pawl__str(text), &cron, NULL, &err), &err);
    return cron;
}

static int64_t ticks(const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_datetime value;

    assert_ok(pawl__datetime_parse(pawl__str(text), &value, &err), &err);
    return pawl__datetime_utc_ticks(value);
}

/* The next occurrence as text, in UTC; "never". */
static const char *next_text(const char *expression, const struct pawl_timezone *zone,
                             const char *after, char out[PAWL_DATETIME_TEXT_SIZE])
{
    struct pawl_cron cron = parse(expression);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_datetime value;
    int64_t next;

    if (!pawl__cron_next(&cron, zone, ticks(after), &next))
        return "never";
    assert_ok(pawl__datetime_from_utc_ticks(next, &value, &err), &err);
    (void)pawl__datetime_format(value, out);
    return out;
}

#define assert_next(expression, after, expected)                                                   \
    do {                                                                                           \
        char text[PAWL_DATETIME_TEXT_SIZE];                                                        \
        assert_string_equal(next_text(expression, NULL, after, text), expected);                   \
    } while (0)

static void finds_the_next_second_minute_hour_and_day(void **state)
{
    (void)state;
    assert_next("* * * * * *", "2026-03-04T05:06:07Z", "2026-03-04T05:06:08Z");
    assert_next("* * * * * *", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z");
    assert_next("0 * * * * *", "2026-03-04T05:06:00Z", "2026-03-04T05:07:00Z");
    assert_next("*/15 * * * * *", "2026-03-04T05:06:46Z", "2026-03-04T05:07:00Z");
    assert_next("5/20 * * * * *", "2026-03-04T05:06:25Z", "2026-03-04T05:06:45Z");
    assert_next("0 30 9-17 * * MON-FRI", "2026-03-06T17:30:00Z", "2026-03-09T09:30:00Z");
    assert_next("0 0 */6 * * *", "2026-03-04T18:00:00Z", "2026-03-05T00:00:00Z");
    assert_next("0 0 0 * * *", "2026-11-15T21:06:51.1355343Z", "2026-11-16T00:00:00Z");
    assert_next("59 59 23 31 12 *", "2026-12-31T23:59:58.9999999Z", "2026-12-31T23:59:59Z");
    assert_next("30 15 10 * * *", "2026-03-04T10:15:30Z", "2026-03-05T10:15:30Z");
    assert_next("30 15 10 * * *", "2026-03-04T10:15:31Z", "2026-03-05T10:15:30Z");
    assert_next("30 15,45 10 * * *", "2026-03-04T10:15:31Z", "2026-03-04T10:45:30Z");
    assert_next("10,20 15 10,12 * * *", "2026-03-04T10:15:20Z", "2026-03-04T12:15:10Z");
}

static void a_moment_within_a_second_counts_as_that_second(void **state)
{
    (void)state;
    assert_next("* * * * * *", "2026-03-04T05:06:07.9999999Z", "2026-03-04T05:06:08Z");
    assert_next("7 6 5 * * *", "2026-03-04T05:06:06.5Z", "2026-03-04T05:06:07Z");
    assert_next("7 6 5 * * *", "2026-03-04T05:06:07.5Z", "2026-03-05T05:06:07Z");
    assert_next("* * * * * *", "1969-12-31T23:59:58.5Z", "1969-12-31T23:59:59Z");
    assert_next("0 0 0 1 1 *", "0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z");
}

static void five_fields_mean_second_zero(void **state)
{
    (void)state;
    assert_next("*/5 * * * *", "2026-03-04T05:06:07Z", "2026-03-04T05:10:00Z");
    assert_next("0 12 * * 1", "2026-03-04T05:06:07Z", "2026-03-09T12:00:00Z");
    assert_false(parse("*/5 * * * *").has_seconds);
    assert_true(parse("0 */5 * * * *").has_seconds);
}

static void names_and_numbers_mean_the_same(void **state)
{
    (void)state;
    assert_next("0 0 0 1 JAN *", "2026-03-04T00:00:00Z", "2027-01-01T00:00:00Z");
    assert_next("0 0 0 * feb-apr,DEC Mon", "2026-04-28T00:00:00Z", "2026-12-07T00:00:00Z");
    assert_next("0 0 0 * * SUN", "2026-03-04T00:00:00Z", "2026-03-08T00:00:00Z");
    assert_next("0 0 0 * * 0", "2026-03-04T00:00:00Z", "2026-03-08T00:00:00Z");
    assert_next("0 0 0 * * 7", "2026-03-04T00:00:00Z", "2026-03-08T00:00:00Z");
    assert_next("0 0 0 * * 6-7", "2026-03-07T00:00:00Z", "2026-03-08T00:00:00Z");
    assert_int_equal(parse("0 0 0 * * 1-7").weekdays, 0x7f);
    assert_int_equal(parse("0 0 0 * * *").weekdays, 0x7f);
}

static void ranges_that_run_backwards_go_round(void **state)
{
    (void)state;
    assert_int_equal(parse("0 0 22-2 * * *").hours, 0xC00007);
    assert_int_equal(parse("0 0 22-3/2 * * *").hours, 0x400005);
    assert_int_equal(parse("0 0 0 * NOV-FEB *").months, 0x1806);
    assert_int_equal(parse("0 0 0 * * FRI-MON").weekdays, 0x63);
    assert_int_equal(parse("0 0 0 * * 6-1").weekdays, 0x43);
    assert_int_equal(parse("0 0 0 30-2 * *").days, (UINT64_C(3) << 30) | 6);
    assert_next("0 0 22-2 * * *", "2026-03-04T02:00:00Z", "2026-03-04T22:00:00Z");
}

static void steps_count_from_the_start_of_their_range(void **state)
{
    (void)state;
    assert_int_equal(parse("0 0 1-9/3 * * *").hours, 0x92);
    assert_int_equal(parse("0 0 20/2 * * *").hours, 0x500000);
    assert_int_equal(parse("0 0 0 */10 * *").days, (1 << 1) | (1 << 11) | (1 << 21) | (1U << 31));
    assert_int_equal(parse("0 0 0 1 */3 *").months, 0x492);
    assert_int_equal(parse("0 0 0 ?/10 * ?").days, (1 << 1) | (1 << 11) | (1 << 21) | (1U << 31));
    assert_int_equal(parse("0 0 5,1-3,20-22/2 * * *").hours, 0x50002E);
}

static void both_kinds_of_day_must_match(void **state)
{
    (void)state;
    assert_next("0 0 0 13 * FRI", "2026-03-13T00:00:00Z", "2026-11-13T00:00:00Z");
    assert_next("0 0 0 1 1 MON", "2026-03-13T00:00:00Z", "2029-01-01T00:00:00Z");
    assert_next("0 0 0 ? * ?", "2026-03-13T00:00:00Z", "2026-03-14T00:00:00Z");
    assert_next("0 0 0 L * FRI", "2026-03-13T00:00:00Z", "2026-07-31T00:00:00Z");
}

static void the_last_day_of_the_month_follows_the_calendar(void **state)
{
    (void)state;
    assert_next("0 0 0 L * *", "2026-02-01T00:00:00Z", "2026-02-28T00:00:00Z");
    assert_next("0 0 0 L * *", "2028-02-01T00:00:00Z", "2028-02-29T00:00:00Z");
    assert_next("0 0 0 L * *", "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z");
    assert_next("0 0 0 l-2 * *", "2026-04-01T00:00:00Z", "2026-04-28T00:00:00Z");
    assert_next("0 0 0 L-30 * *", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z");
    assert_next("0 0 0 L-30 4 *", "2026-02-01T00:00:00Z", "never");
    assert_next("0 0 0 L-0 2 *", "1999-03-01T00:00:00Z", "2000-02-29T00:00:00Z");
    assert_next("0 0 0 L-0 2 *", "2099-03-01T00:00:00Z", "2100-02-28T00:00:00Z");
}

static void the_nearest_weekday_stays_in_its_month(void **state)
{
    (void)state;
    /* 15 March 2026 is a Sunday, 15 August a Saturday. */
    assert_next("0 0 0 15W * *", "2026-03-01T00:00:00Z", "2026-03-16T00:00:00Z");
    assert_next("0 0 0 15W * *", "2026-08-01T00:00:00Z", "2026-08-14T00:00:00Z");
    assert_next("0 0 0 15w * *", "2026-04-01T00:00:00Z", "2026-04-15T00:00:00Z");
    /* 1 August 2026 is a Saturday, 31 May 2026 a Sunday, 28 February 2026 a Saturday. */
    assert_next("0 0 0 1W * *", "2026-07-30T00:00:00Z", "2026-08-03T00:00:00Z");
    assert_next("0 0 0 LW * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z");
    assert_next("0 0 0 31W * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z");
    assert_next("0 0 0 LW * *", "2026-02-01T00:00:00Z", "2026-02-27T00:00:00Z");
    assert_next("0 0 0 31W * *", "2026-04-01T00:00:00Z", "2026-05-29T00:00:00Z");
    assert_next("0 0 0 L-2W * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z");
    /* The shifted day has passed, the named one has not: on to the next month. */
    assert_next("0 0 0 15W * *", "2026-08-14T12:00:00Z", "2026-09-15T00:00:00Z");
    assert_next("0 0 0 15W * MON", "2026-03-01T00:00:00Z", "2026-03-16T00:00:00Z");
}

static void the_nth_and_the_last_weekday_of_a_month_are_found(void **state)
{
    (void)state;
    assert_next("0 0 0 * * MON#1", "2026-03-03T00:00:00Z", "2026-04-06T00:00:00Z");
    assert_next("0 0 0 * * 5#2", "2026-03-03T00:00:00Z", "2026-03-13T00:00:00Z");
    assert_next("0 0 0 * * SUN#5", "2026-04-01T00:00:00Z", "2026-05-31T00:00:00Z");
    assert_next("0 0 0 * * 7#5", "2026-04-01T00:00:00Z", "2026-05-31T00:00:00Z");
    assert_next("0 0 0 * * 5L", "2026-03-03T00:00:00Z", "2026-03-27T00:00:00Z");
    assert_next("0 0 0 * * FRIL", "2026-03-27T00:00:00Z", "2026-04-24T00:00:00Z");
    assert_next("0 0 0 ? 2 MON#5", "2026-03-03T00:00:00Z", "2044-02-29T00:00:00Z");
}

static void dates_that_do_not_exist_never_come(void **state)
{
    (void)state;
    assert_next("0 0 0 30 2 *", "2026-03-03T00:00:00Z", "never");
    assert_next("0 0 0 31 4,6,9,11 *", "2026-03-03T00:00:00Z", "never");
    assert_next("0 0 0 1 * MON#2", "2026-03-03T00:00:00Z", "never");
    assert_next("0 0 0 1 * 1L", "2026-03-03T00:00:00Z", "never");
    assert_next("0 0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z");
    assert_next("0 0 0 29 2 SAT", "2026-03-01T00:00:00Z", "2048-02-29T00:00:00Z");
    assert_next("0 0 0 * * *", "9999-12-31T12:00:00Z", "never");
    assert_next("0 0 13 * * *", "9999-12-31T12:00:00Z", "9999-12-31T13:00:00Z");
    assert_next("* * * * * *", "9999-12-31T23:59:59Z", "never");
}

static void macros_stand_for_expressions(void **state)
{
    (void)state;
    assert_next("@every_second", "2026-03-04T05:06:07Z", "2026-03-04T05:06:08Z");
    assert_next("@every_minute", "2026-03-04T05:06:07Z", "2026-03-04T05:07:00Z");
    assert_next("@hourly", "2026-03-04T05:06:07Z", "2026-03-04T06:00:00Z");
    assert_next("@daily", "2026-03-04T05:06:07Z", "2026-03-05T00:00:00Z");
    assert_next(" @Midnight ", "2026-03-04T05:06:07Z", "2026-03-05T00:00:00Z");
    assert_next("@weekly", "2026-03-04T05:06:07Z", "2026-03-08T00:00:00Z");
    assert_next("@MONTHLY", "2026-03-04T05:06:07Z", "2026-04-01T00:00:00Z");
    assert_next("@yearly", "2026-03-04T05:06:07Z", "2027-01-01T00:00:00Z");
    assert_next("@annually", "2026-03-04T05:06:07Z", "2027-01-01T00:00:00Z");
}

static void blanks_around_and_between_fields_do_not_matter(void **state)
{
    (void)state;
    assert_next("  0\t0   0 * * *  ", "2026-03-04T05:06:07Z", "2026-03-05T00:00:00Z");
    assert_next("\t@daily", "2026-03-04T05:06:07Z", "2026-03-05T00:00:00Z");
}

static void refuses_what_it_cannot_read_and_names_the_field(void **state)
{
#define FORMAT "The given cron expression has an invalid format. "
    static const struct {
        const char *text;
        size_t at;
        const char *message;
    } cases[] = {
        {"", 0, FORMAT "The expression is empty."},
        {"   ", 3, FORMAT "The expression is empty."},
        {"invalid", 0, FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"60 * * * * *", 0,
         FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"* 60 * * * *", 2,
         FORMAT "Minutes: Value must be a number between 0 and 59 (all inclusive)."},
        {"* * 25 * * *", 4,
         FORMAT "Hours: Value must be a number between 0 and 23 (all inclusive)."},
        {"* * * 0 * *", 6,
         FORMAT "Days of month: Value must be a number between 1 and 31 (all inclusive)."},
        {"* * * 32 * *", 6,
         FORMAT "Days of month: Value must be a number between 1 and 31 (all inclusive)."},
        {"* * * * 13 *", 8,
         FORMAT "Months: Value must be a number between 1 and 12 (all inclusive)."},
        {"* * * * JUX *", 8,
         FORMAT "Months: Value must be a number between 1 and 12 (all inclusive)."},
        {"* * * * * 8", 10,
         FORMAT "Days of week: Value must be a number between 0 and 7 (all inclusive)."},
        {"* * * * * 1#6", 12,
         FORMAT "Days of week: Value must be a number between 1 and 5 (all inclusive)."},
        {"* * * L-31 * *", 8,
         FORMAT "Days of month: Value must be a number between 0 and 30 (all inclusive)."},
        {"*/0 * * * * *", 2,
         FORMAT "Seconds: Value must be a number between 1 and 59 (all inclusive)."},
        {"*/60 * * * * *", 2,
         FORMAT "Seconds: Value must be a number between 1 and 59 (all inclusive)."},
        {"001 * * * * *", 0,
         FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"1- * * * * *", 2,
         FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"1, * * * * *", 2,
         FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"-1 * * * * *", 0,
         FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"? * * * * *", 0,
         FORMAT "Seconds: Value must be a number between 0 and 59 (all inclusive)."},
        {"1x * * * * *", 1, FORMAT "Seconds: Unexpected character 'x'."},
        {"*,1 * * * * *", 1, FORMAT "Seconds: Unexpected character ','."},
        {"* * * 1,L * *", 8,
         FORMAT "Days of month: Value must be a number between 1 and 31 (all inclusive)."},
        {"* * * 15W,16 * *", 9, FORMAT "Days of month: Unexpected character ','."},
        {"* * * * * MONDAY", 13, FORMAT "Days of week: Unexpected character 'D'."},
        {"* * * * * 1\xC3\xA9", 11, FORMAT "Days of week: Unexpected character '\xC3\xA9'."},
        {"* * * * * *\n", 11, FORMAT "Days of week: Unexpected character U+000A."},
        {"* * * * * * *", 12, FORMAT "Unexpected character '*'."},
        {"@daily 1", 7, FORMAT "Unexpected character '1'."},
    };
#undef FORMAT

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_cron cron = {.nth = 99};
        size_t at = 999;

        assert_code(pawl__cron_parse(pawl__str(cases[i].text), &cron, &at, &err), PAWL_EPARSE);
        assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(at, cases[i].at);
        assert_int_equal(cron.nth, 99);
    }
}

static void says_what_to_write_when_fields_are_missing(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_cron cron;
    size_t at;

    (void)state;
    assert_code(pawl__cron_parse(pawl__str("* * * *"), &cron, &at, &err), PAWL_EPARSE);
    assert_non_null(strstr(err.msg, "Days of month: Unexpected end of the expression"));
    assert_non_null(strstr(err.msg, "six fields"));
    assert_int_equal(at, 7);
    assert_code(pawl__cron_parse(pawl__str("@sometimes"), &cron, &at, &err), PAWL_EPARSE);
    assert_non_null(strstr(err.msg, "'@sometimes'"));
    assert_non_null(strstr(err.msg, "@hourly"));
    assert_int_equal(at, 0);
    assert_code(pawl__cron_parse(pawl__str_make("* * * *\0* *", 11), &cron, &at, NULL),
                PAWL_EPARSE);
    assert_int_equal(at, 7);
}

/* ---- zones ------------------------------------------------------------------------------ */

static struct pawl_timezone *zone_new(struct test_allocator *alloc, const char *rule)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_timezone *zone = NULL;

    test_allocator_init(alloc);
    assert_ok(pawl__timezone_new_posix(&alloc->base, pawl__str(rule), &zone, &err), &err);
    return zone;
}

/* Walks through occurrences: the first after `after`, then each after the one before it. */
static void assert_walk(const char *rule, const char *expression, const char *after,
                        const char *const *expected)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = zone_new(&alloc, rule);
    char text[PAWL_DATETIME_TEXT_SIZE];
    char previous[PAWL_DATETIME_TEXT_SIZE];

    (void)snprintf(previous, sizeof previous, "%s", after);
    for (; *expected; expected++) {
        assert_string_equal(next_text(expression, zone, previous, text), *expected);
        memcpy(previous, text, sizeof previous);
    }
    pawl__timezone_free(zone);
    assert_int_equal(alloc.live_count, 0);
}

static void reads_the_clock_of_its_zone(void **state)
{
    (void)state;
    assert_walk(CENTRAL_EUROPE, "0 30 8 * * *", "2026-01-10T07:29:59Z",
                (const char *const[]){"2026-01-10T07:30:00Z", "2026-01-11T07:30:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 30 8 * * *", "2026-07-10T00:00:00Z",
                (const char *const[]){"2026-07-10T06:30:00Z", "2026-07-11T06:30:00Z", NULL});
    assert_walk(EASTERN, "0 0 23 L * *", "2026-01-10T00:00:00Z",
                (const char *const[]){"2026-02-01T04:00:00Z", "2026-03-01T04:00:00Z", NULL});
    assert_walk("UTC0", "0 0 0 * * *", "2026-01-10T00:00:00Z",
                (const char *const[]){"2026-01-11T00:00:00Z", NULL});
}

static void what_falls_into_the_gap_happens_once_at_the_jump(void **state)
{
    (void)state;
    /* 29 March 2026, 02:00 CET becomes 03:00 CEST at 01:00 UTC. */
    assert_walk(CENTRAL_EUROPE, "0 30 2 * * *", "2026-03-28T02:00:00Z",
                (const char *const[]){"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 30 2 * * *", "2026-03-29T00:59:59Z",
                (const char *const[]){"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 */20 * * * *", "2026-03-29T00:39:00Z",
                (const char *const[]){"2026-03-29T00:40:00Z", "2026-03-29T01:00:00Z",
                                      "2026-03-29T01:20:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 0 2,3 * * *", "2026-03-29T00:00:00Z",
                (const char *const[]){"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", NULL});
}

static void fixed_times_happen_in_the_first_pass_of_the_repeated_hour(void **state)
{
    (void)state;
    /* 25 October 2026, 03:00 CEST becomes 02:00 CET at 01:00 UTC. */
    assert_walk(CENTRAL_EUROPE, "0 30 2 * * *", "2026-10-24T22:00:00Z",
                (const char *const[]){"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 30 2 * * *", "2026-10-25T00:45:00Z",
                (const char *const[]){"2026-10-26T01:30:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 30 2 * * *", "2026-10-25T01:15:00Z",
                (const char *const[]){"2026-10-26T01:30:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 0,30 2,3 * * *", "2026-10-24T23:59:59Z",
                (const char *const[]){"2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z",
                                      "2026-10-25T02:00:00Z", "2026-10-25T02:30:00Z", NULL});
}

static void intervals_go_on_through_both_passes(void **state)
{
    (void)state;
    assert_walk(CENTRAL_EUROPE, "0 */30 * * * *", "2026-10-24T23:45:00Z",
                (const char *const[]){"2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z",
                                      "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z",
                                      "2026-10-25T02:00:00Z", NULL});
    assert_walk(CENTRAL_EUROPE, "0 45 1-3 * * *", "2026-10-25T00:00:00Z",
                (const char *const[]){"2026-10-25T00:45:00Z", "2026-10-25T01:45:00Z",
                                      "2026-10-25T02:45:00Z", NULL});
    assert_walk(EASTERN, "0 15 * * * *", "2026-11-01T05:00:00Z",
                (const char *const[]){"2026-11-01T05:15:00Z", "2026-11-01T06:15:00Z",
                                      "2026-11-01T07:15:00Z", NULL});
}

static void half_hour_jumps_are_handled_like_whole_ones(void **state)
{
    (void)state;
    /* 5 April 2026, 02:00 +11 becomes 01:30 +10:30 at 15:00 UTC of the 4th. */
    assert_walk(LORD_HOWE, "0 45 1 * * *", "2026-04-04T12:00:00Z",
                (const char *const[]){"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z", NULL});
    assert_walk(LORD_HOWE, "0 */15 * * * *", "2026-04-04T14:30:00Z",
                (const char *const[]){"2026-04-04T14:45:00Z", "2026-04-04T15:00:00Z",
                                      "2026-04-04T15:15:00Z", "2026-04-04T15:30:00Z", NULL});
    /* 4 October 2026, 02:00 +10:30 becomes 02:30 +11 at 15:30 UTC of the 3rd. */
    assert_walk(LORD_HOWE, "0 10 2 * * *", "2026-10-03T12:00:00Z",
                (const char *const[]){"2026-10-03T15:30:00Z", "2026-10-04T15:10:00Z", NULL});
}

/* Slow and plainly right: tries each second. */
static bool matches_second(const struct pawl_cron *cron, int64_t at)
{
    struct pawl_datetime value = {.ticks = at, .kind = PAWL_DATETIME_UTC};
    struct pawl_civil civil;
    int weekday = pawl__datetime_weekday(value);

    pawl__datetime_civil(value, &civil);
    return (cron->seconds >> civil.second & 1) && (cron->minutes >> civil.minute & 1) &&
           (cron->hours >> civil.hour & 1) && (cron->days >> civil.day & 1) &&
           (cron->months >> civil.month & 1) && (cron->weekdays >> weekday & 1);
}

static void agrees_with_trying_every_second(void **state)
{
    uint64_t random = 20260304;

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct pawl_cron cron = {.days = 0xFFFFFFFE, .months = 0x1FFE, .weekdays = 0x7F};
        int64_t at = ticks("2026-02-27T00:00:00Z") +
                     (int64_t)(test_random(&random) % 172800) * PAWL_TICKS_PER_SECOND;
        int64_t next;

        cron.seconds = test_random(&random) & test_random(&random) & 0x0FFFFFFFFFFFFFFF;
        cron.minutes = test_random(&random) & test_random(&random) & 0x0FFFFFFFFFFFFFFF;
        cron.hours = test_random(&random) & test_random(&random) & 0xFFFFFF;
        if (!cron.seconds || !cron.minutes || !cron.hours)
            continue;
        if (round % 3 == 0)
            cron.weekdays = 1 + test_random(&random) % 127;
        assert_true(pawl__cron_next(&cron, NULL, at, &next));
        for (at += PAWL_TICKS_PER_SECOND; at < next && !matches_second(&cron, at);)
            at += PAWL_TICKS_PER_SECOND;
        assert_int_equal(at, next);
        assert_true(matches_second(&cron, next));
    }
}

static void occurrences_always_move_forward_in_every_zone(void **state)
{
    static const char *const rules[] = {CENTRAL_EUROPE, EASTERN, LORD_HOWE, "UTC0"};
    static const char *const expressions[] = {"0 */17 * * * *", "0 30 2 * * *", "0 0 1-3 * * *",
                                              "15 59 1,2 * * *"};

    (void)state;
    for (size_t z = 0; z < 4; z++) {
        struct test_allocator alloc;
        struct pawl_timezone *zone = zone_new(&alloc, rules[z]);

        for (size_t e = 0; e < 4; e++) {
            struct pawl_cron cron = parse(expressions[e]);
            int64_t at = ticks("2026-01-01T00:00:00Z");
            int64_t end = ticks("2027-01-01T00:00:00Z");

            while (at < end) {
                int64_t next;

                assert_true(pawl__cron_next(&cron, zone, at, &next));
                assert_true(next > at);
                assert_true(next - at < 2 * PAWL_TICKS_PER_DAY);
                at = next;
            }
        }
        pawl__timezone_free(zone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_next_second_minute_hour_and_day),
        cmocka_unit_test(a_moment_within_a_second_counts_as_that_second),
        cmocka_unit_test(five_fields_mean_second_zero),
        cmocka_unit_test(names_and_numbers_mean_the_same),
        cmocka_unit_test(ranges_that_run_backwards_go_round),
        cmocka_unit_test(steps_count_from_the_start_of_their_range),
        cmocka_unit_test(both_kinds_of_day_must_match),
        cmocka_unit_test(the_last_day_of_the_month_follows_the_calendar),
        cmocka_unit_test(the_nearest_weekday_stays_in_its_month),
        cmocka_unit_test(the_nth_and_the_last_weekday_of_a_month_are_found),
        cmocka_unit_test(dates_that_do_not_exist_never_come),
        cmocka_unit_test(macros_stand_for_expressions),
        cmocka_unit_test(blanks_around_and_between_fields_do_not_matter),
        cmocka_unit_test(refuses_what_it_cannot_read_and_names_the_field),
        cmocka_unit_test(says_what_to_write_when_fields_are_missing),
        cmocka_unit_test(reads_the_clock_of_its_zone),
        cmocka_unit_test(what_falls_into_the_gap_happens_once_at_the_jump),
        cmocka_unit_test(fixed_times_happen_in_the_first_pass_of_the_repeated_hour),
        cmocka_unit_test(intervals_go_on_through_both_passes),
        cmocka_unit_test(half_hour_jumps_are_handled_like_whole_ones),
        cmocka_unit_test(agrees_with_trying_every_second),
        cmocka_unit_test(occurrences_always_move_forward_in_every_zone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
