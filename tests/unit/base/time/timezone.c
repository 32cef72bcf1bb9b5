/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time/timezone.h"
#include "base/time/datetime.h"
#include "lib/test.h"

#include <stdlib.h>

/* Seconds of an ISO text; used for instants (with Z) and for local readings (without). */
static int64_t at(const char *text)
{
    struct pawl_datetime value = {0};

    assert_ok(pawl__datetime_parse(pawl__str(text), &value, NULL), NULL);
    return pawl__datetime_to_unix_ms(value) / 1000;
}

static struct pawl_timezone *posix(struct test_allocator *alloc, const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_timezone *zone = NULL;

    test_allocator_init(alloc);
    assert_ok(pawl__timezone_new_posix(&alloc->base, pawl__str(text), &zone, &err), &err);
    return zone;
}

static void assert_at(const struct pawl_timezone *zone, const char *instant, int32_t offset_s,
                      bool is_dst, const char *abbreviation)
{
    struct pawl_timezone_info info = pawl__timezone_at(zone, at(instant));

    if (info.offset_s != offset_s || info.is_dst != is_dst ||
        strcmp(info.abbreviation, abbreviation) != 0)
        fail_msg("%s at %s: %d %d %s, expected %d %d %s", pawl__timezone_name(zone), instant,
                 info.offset_s, info.is_dst, info.abbreviation, offset_s, is_dst, abbreviation);
}

static void follows_a_rule_by_weekdays(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "CET-1CEST,M3.5.0,M10.5.0/3");

    (void)state;
    assert_string_equal(pawl__timezone_name(zone), "CET-1CEST,M3.5.0,M10.5.0/3");
    assert_at(zone, "2026-03-29T00:59:59Z", 3600, false, "CET");
    assert_at(zone, "2026-03-29T01:00:00Z", 7200, true, "CEST");
    assert_at(zone, "2026-10-25T00:59:59Z", 7200, true, "CEST");
    assert_at(zone, "2026-10-25T01:00:00Z", 3600, false, "CET");
    assert_at(zone, "0001-07-01T00:00:00Z", 7200, true, "CEST");
    assert_at(zone, "9999-12-31T23:59:59Z", 3600, false, "CET");
    pawl__timezone_free(zone);
    assert_int_equal(alloc.live_count, 0);
}

static void follows_a_rule_of_the_southern_half(void **state)
{
    struct test_allocator alloc;
    /* Lord Howe: half an hour of daylight saving time. */
    struct pawl_timezone *zone = posix(&alloc, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");

    (void)state;
    assert_at(zone, "2026-01-01T00:00:00Z", 39600, true, "+11");
    assert_at(zone, "2026-12-31T23:59:59Z", 39600, true, "+11");
    assert_at(zone, "2026-04-04T14:59:59Z", 39600, true, "+11");
    assert_at(zone, "2026-04-04T15:00:00Z", 37800, false, "+1030");
    assert_at(zone, "2026-10-03T15:29:59Z", 37800, false, "+1030");
    assert_at(zone, "2026-10-03T15:30:00Z", 39600, true, "+11");
    pawl__timezone_free(zone);
}

static void follows_days_of_the_year_with_and_without_leap_days(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "AAA0BBB,J60/0,J300/0");

    (void)state;
    assert_at(zone, "2023-02-28T23:59:59Z", 0, false, "AAA");
    assert_at(zone, "2023-03-01T00:00:00Z", 3600, true, "BBB");
    assert_at(zone, "2024-02-29T23:59:59Z", 0, false, "AAA");
    assert_at(zone, "2024-03-01T00:00:00Z", 3600, true, "BBB");
    pawl__timezone_free(zone);
    zone = posix(&alloc, "AAA0BBB,59/0,300/0");
    assert_at(zone, "2023-02-28T23:59:59Z", 0, false, "AAA");
    assert_at(zone, "2023-03-01T00:00:00Z", 3600, true, "BBB");
    assert_at(zone, "2024-02-28T23:59:59Z", 0, false, "AAA");
    assert_at(zone, "2024-02-29T00:00:00Z", 3600, true, "BBB");
    pawl__timezone_free(zone);
}

static void follows_times_before_midnight_and_days_later(void **state)
{
    struct test_allocator alloc;
    /* Nuuk: the day before the last Sunday, 22:00 local, written as -2 hours. */
    struct pawl_timezone *zone = posix(&alloc, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0");

    (void)state;
    assert_at(zone, "2026-03-29T00:59:59Z", -7200, false, "-02");
    assert_at(zone, "2026-03-29T01:00:00Z", -3600, true, "-01");
    assert_at(zone, "2026-10-25T00:59:59Z", -3600, true, "-01");
    assert_at(zone, "2026-10-25T01:00:00Z", -7200, false, "-02");
    pawl__timezone_free(zone);
    /* Jerusalem: the Friday before the last Sunday as the fourth Thursday and 26 hours. */
    zone = posix(&alloc, "IST-2IDT,M3.4.4/26,M10.5.0");
    assert_at(zone, "2026-03-26T23:59:59Z", 7200, false, "IST");
    assert_at(zone, "2026-03-27T00:00:00Z", 10800, true, "IDT");
    pawl__timezone_free(zone);
    /* A week later, across the end of the year. */
    zone = posix(&alloc, "AAA0BBB,J364/167,J100/0");
    assert_at(zone, "2026-01-05T22:59:59Z", 0, false, "AAA");
    assert_at(zone, "2026-01-05T23:00:00Z", 3600, true, "BBB");
    assert_at(zone, "2027-01-05T22:59:59Z", 0, false, "AAA");
    pawl__timezone_free(zone);
    /* The end of one year's daylight time after the start of the next: two hours of it a year. */
    zone = posix(&alloc, "AAA0BBB,0/8,J365/35");
    assert_at(zone, "2026-01-01T07:59:59Z", 0, false, "AAA");
    assert_at(zone, "2026-01-01T08:00:00Z", 3600, true, "BBB");
    assert_at(zone, "2026-01-01T09:59:59Z", 3600, true, "BBB");
    assert_at(zone, "2026-01-01T10:00:00Z", 0, false, "AAA");
    assert_at(zone, "2026-12-31T23:59:59Z", 0, false, "AAA");
    pawl__timezone_free(zone);
}

static void understands_winter_as_daylight_time_and_daylight_time_all_year(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "IST-1GMT0,M10.5.0,M3.5.0/1");
    int64_t next;

    (void)state;
    assert_at(zone, "2026-07-01T00:00:00Z", 3600, false, "IST");
    assert_at(zone, "2026-01-01T00:00:00Z", 0, true, "GMT");
    assert_at(zone, "2026-03-29T01:00:00Z", 3600, false, "IST");
    assert_at(zone, "2026-10-25T01:00:00Z", 0, true, "GMT");
    pawl__timezone_free(zone);
    zone = posix(&alloc, "EST5EDT,0/0,J365/25");
    for (int64_t t = at("2026-01-01T00:00:00Z"); t < at("2029-01-02T00:00:00Z"); t += 3600)
        assert_int_equal(pawl__timezone_at(zone, t).offset_s, -4 * 3600);
    assert_false(pawl__timezone_next_transition(zone, at("2026-01-01T00:00:00Z"), &next));
    pawl__timezone_free(zone);
}

static void gives_rules_of_the_united_states_where_none_are_given(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "EST5EDT");

    (void)state;
    assert_at(zone, "2026-03-08T06:59:59Z", -18000, false, "EST");
    assert_at(zone, "2026-03-08T07:00:00Z", -14400, true, "EDT");
    pawl__timezone_free(zone);
}

static void refuses_malformed_rules_and_says_where(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "the name of a zone of 3 to 15 characters at character 1"},
        {"AB1", "the name of a zone of 3 to 15 characters at character 1"},
        {"ABCDEFGHIJKLMNOP1", "the name of a zone of 3 to 15 characters at character 1"},
        {"<+1", "the name of a zone of 3 to 15 characters at character 2"},
        {"<+01", "'>' at character 5"},
        {"CET", "an offset (-24 to 24 hours) at character 4"},
        {"CET25", "an offset (-24 to 24 hours) at character 4"},
        {"CET-1:60", "minutes (0 to 59) at character 7"},
        {"CET-1:00:60", "seconds (0 to 59) at character 10"},
        {"CET-1,", "the name of a zone of 3 to 15 characters at character 6"},
        {"CET-1CEST,", "M, J or a day of the year (0 to 365) at character 11"},
        {"CET-1CEST,M3.5.0", "',' and the end of daylight saving time at character 17"},
        {"CET-1CEST,M13.5.0,M10.5.0", "a month (1 to 12) at character 12"},
        {"CET-1CEST,M3.6.0,M10.5.0", "a week (1 to 5) at character 14"},
        {"CET-1CEST,M3.5.7,M10.5.0", "a weekday (0 to 6) at character 16"},
        {"CET-1CEST,J0,J5", "a day of the year (1 to 365) at character 12"},
        {"CET-1CEST,366,J5", "M, J or a day of the year (0 to 365) at character 11"},
        {"CET-1CEST,J1/168,J5", "a time of the change (-167 to 167 hours) at character 14"},
        {"CET-1CEST,J1,J5x", "the end at character 16"},
    };
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_timezone *zone = NULL;

        assert_code(pawl__timezone_new_posix(&alloc.base, pawl__str(cases[i].text), &zone, &err),
                    PAWL_EPARSE);
        if (!strstr(err.msg, cases[i].message))
            fail_msg("%s: %s; expected %s", cases[i].text, err.msg, cases[i].message);
        assert_null(zone);
    }
    assert_int_equal(alloc.live_count, 0);
}

static void lists_the_transitions_one_after_the_other(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "CET-1CEST,M3.5.0,M10.5.0/3");
    int64_t t = at("2026-01-01T00:00:00Z"), next;

    (void)state;
    assert_true(pawl__timezone_next_transition(zone, t, &next));
    assert_true(next == at("2026-03-29T01:00:00Z"));
    assert_true(pawl__timezone_next_transition(zone, next - 1, &t));
    assert_true(t == next);
    assert_true(pawl__timezone_next_transition(zone, next, &t));
    assert_true(t == at("2026-10-25T01:00:00Z"));
    pawl__timezone_free(zone);
}

static void assert_local(const struct pawl_timezone *zone, const char *local,
                         enum pawl_local_kind kind, const char *earlier, const char *later,
                         const char *transition)
{
    struct pawl_local found = pawl__timezone_from_local(zone, at(local));

    assert_int_equal(found.kind, kind);
    assert_true(found.earlier_s == at(earlier));
    assert_true(found.later_s == at(later));
    assert_true(found.transition_s == (transition ? at(transition) : 0));
}

static void reports_gaps_and_overlaps(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "CET-1CEST,M3.5.0,M10.5.0/3");

    (void)state;
    assert_local(zone, "2026-03-29T01:59:59", PAWL_LOCAL_UNIQUE, "2026-03-29T00:59:59Z",
                 "2026-03-29T00:59:59Z", NULL);
    assert_local(zone, "2026-03-29T02:00:00", PAWL_LOCAL_GAP, "2026-03-29T00:00:00Z",
                 "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z");
    assert_local(zone, "2026-03-29T02:30:00", PAWL_LOCAL_GAP, "2026-03-29T00:30:00Z",
                 "2026-03-29T01:30:00Z", "2026-03-29T01:00:00Z");
    assert_local(zone, "2026-03-29T03:00:00", PAWL_LOCAL_UNIQUE, "2026-03-29T01:00:00Z",
                 "2026-03-29T01:00:00Z", NULL);
    assert_local(zone, "2026-10-25T01:59:59", PAWL_LOCAL_UNIQUE, "2026-10-24T23:59:59Z",
                 "2026-10-24T23:59:59Z", NULL);
    assert_local(zone, "2026-10-25T02:00:00", PAWL_LOCAL_OVERLAP, "2026-10-25T00:00:00Z",
                 "2026-10-25T01:00:00Z", "2026-10-25T01:00:00Z");
    assert_local(zone, "2026-10-25T02:59:59", PAWL_LOCAL_OVERLAP, "2026-10-25T00:59:59Z",
                 "2026-10-25T01:59:59Z", "2026-10-25T01:00:00Z");
    assert_local(zone, "2026-10-25T03:00:00", PAWL_LOCAL_UNIQUE, "2026-10-25T02:00:00Z",
                 "2026-10-25T02:00:00Z", NULL);
    pawl__timezone_free(zone);
}

static void utc_needs_nothing_and_never_changes(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = NULL;
    int64_t next;

    (void)state;
    test_allocator_init(&alloc);
    assert_ok(pawl__timezone_new_utc(&alloc.base, &zone, NULL), NULL);
    assert_string_equal(pawl__timezone_name(zone), "UTC");
    assert_at(zone, "2026-07-01T00:00:00Z", 0, false, "UTC");
    assert_false(pawl__timezone_next_transition(zone, INT64_MIN, &next));
    assert_local(zone, "2026-03-29T02:30:00", PAWL_LOCAL_UNIQUE, "2026-03-29T02:30:00Z",
                 "2026-03-29T02:30:00Z", NULL);
    pawl__timezone_free(zone);
    pawl__timezone_free(NULL);
    assert_int_equal(alloc.live_count, 0);
}

static void takes_any_number_for_a_time(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    struct test_allocator alloc;
    struct pawl_timezone *zone = posix(&alloc, "CET-1CEST,M3.5.0,M10.5.0/3");

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t next;

        assert_in_range(pawl__timezone_at(zone, times[i]).offset_s, 3600, 7200);
        assert_true(pawl__timezone_next_transition(zone, times[i], &next));
        assert_int_equal(pawl__timezone_from_local(zone, times[i]).kind, PAWL_LOCAL_UNIQUE);
    }
    pawl__timezone_free(zone);
}

/* Writing TZif: a header and the six arrays, with 32- or 64-bit times. */
struct tzif {
    unsigned char bytes[1024];
    size_t len;
};

static void put_be(struct tzif *out, uint64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--)
        out->bytes[out->len++] = (unsigned char)(value >> (8 * i));
}

struct transition {
    int64_t time;
    unsigned char type;
};

static void put_block(struct tzif *out, char version, int time_bytes, uint32_t leap_count,
                      const struct transition *transitions, uint32_t count)
{
    memcpy(out->bytes + out->len, "TZif", 4);
    out->len += 4;
    put_be(out, (unsigned char)version, 1);
    put_be(out, 0, 8);
    put_be(out, 0, 7);
    put_be(out, 0, 4);
    put_be(out, 0, 4);
    put_be(out, leap_count, 4);
    put_be(out, count, 4);
    put_be(out, 3, 4);
    put_be(out, 12, 4);
    for (uint32_t i = 0; i < count; i++)
        put_be(out, (uint64_t)transitions[i].time, time_bytes);
    for (uint32_t i = 0; i < count; i++)
        put_be(out, transitions[i].type, 1);
    put_be(out, 3208, 4); /* type 0: local mean time */
    put_be(out, 0, 2);
    put_be(out, 3600, 4);
    put_be(out, 4, 2);
    put_be(out, 7200, 4);
    put_be(out, 0x0108, 2);
    memcpy(out->bytes + out->len, "LMT\0CET\0DST\0", 12);
    out->len += 12;
    for (uint32_t i = 0; i < leap_count; i++) {
        put_be(out, 0, time_bytes);
        put_be(out, 0, 4);
    }
}

static const struct transition berlin[] = {
    {-2422054408, 1},
    {100, 2},
    {200, 1},
};

static void put_footer(struct tzif *out, const char *text)
{
    out->bytes[out->len++] = '\n';
    memcpy(out->bytes + out->len, text, strlen(text));
    out->len += strlen(text);
    out->bytes[out->len++] = '\n';
}

static int load(struct test_allocator *alloc, const struct tzif *tzif, struct pawl_timezone **zone,
                struct pawl_error *err)
{
    return pawl__timezone_new(&alloc->base, pawl__str("Test/Zone"),
                              pawl__str_make((const char *)tzif->bytes, tzif->len), zone, err);
}

static void reads_both_versions_of_tzif(void **state)
{
    for (int version = 1; version <= 3; version++) {
        struct tzif tzif = {.len = 0};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_timezone *zone = NULL;
        struct test_allocator alloc;
        int64_t next;

        (void)state;
        test_allocator_init(&alloc);
        put_block(&tzif, version == 1 ? '\0' : (char)('0' + version), 4, 0, berlin + 1, 2);
        if (version > 1) {
            put_block(&tzif, (char)('0' + version), 8, 0, berlin, 3);
            put_footer(&tzif, version == 2 ? "" : "XXX-2");
        }
        assert_ok(load(&alloc, &tzif, &zone, &err), &err);
        assert_string_equal(pawl__timezone_name(zone), "Test/Zone");
        assert_int_equal(pawl__timezone_at(zone, 99).offset_s, version == 1 ? 3208 : 3600);
        assert_int_equal(pawl__timezone_at(zone, 100).offset_s, 7200);
        assert_true(pawl__timezone_at(zone, 199).is_dst);
        assert_string_equal(pawl__timezone_at(zone, 199).abbreviation, "DST");
        assert_int_equal(pawl__timezone_at(zone, 201).offset_s, version == 3 ? 7200 : 3600);
        assert_string_equal(pawl__timezone_at(zone, INT64_MIN).abbreviation, "LMT");
        assert_true(pawl__timezone_next_transition(zone, 0, &next));
        assert_int_equal(next, 100);
        assert_false(pawl__timezone_next_transition(zone, 200, &next));
        pawl__timezone_free(zone);
        assert_int_equal(alloc.live_count, 0);
    }
}

/* Where the second block starts: behind a header, two transitions, three types, twelve letters. */
#define SECOND ((size_t)44 + 2 * 5 + 3 * 6 + 12)

/* Each single change that must not be believed. */
static void refuses_damaged_tzif(void **state)
{
    static const struct {
        size_t at;
        unsigned char value;
        const char *message;
    } cases[] = {
        {0, 'X', "no header"},
        {4, '1', "unknown version"},
        {44, 0, NULL}, /* the first block's contents do not matter */
        {24, 1, "data is cut off"},
        {SECOND + 39, 0, "impossible counts"},
        {SECOND + 39, 77, "data is cut off"},
        {SECOND + 43, 0, "impossible counts"},
        {SECOND + 27, 2, "impossible counts"},
        {SECOND + 44, 0x7F, "transitions that are not in order"},
        {SECOND + 44 + 24, 3, "an unknown type of local time"},
        {SECOND + 44 + 27, 0x7F, "an offset of more than a day"},
        {SECOND + 44 + 27 + 4, 2, "a daylight flag"},
        {SECOND + 44 + 27 + 5, 12, "an abbreviation without an end"},
        {SECOND + 44 + 27 + 18 + 11, 'x', "an abbreviation without an end"},
        {SECOND + 44 + 27 + 18 + 12, 'x', "no footer"},
        {SECOND + 44 + 27 + 18 + 13, '1', "not a time zone rule"},
    };
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tzif tzif = {.len = 0};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_timezone *zone = NULL;
        int status;

        put_block(&tzif, '2', 4, 0, berlin + 1, 2);
        assert_int_equal(tzif.len, SECOND);
        put_block(&tzif, '2', 8, 0, berlin, 3);
        put_footer(&tzif, "CET-1");
        tzif.bytes[cases[i].at] = cases[i].value;
        status = load(&alloc, &tzif, &zone, &err);
        if (!cases[i].message) {
            assert_code(status, PAWL_OK);
            pawl__timezone_free(zone);
            continue;
        }
        if (status != PAWL_EPARSE || !strstr(err.msg, cases[i].message))
            fail_msg("byte %zu: %s: %s; expected %s", cases[i].at, pawl_error_name(status), err.msg,
                     cases[i].message);
        assert_non_null(strstr(err.msg, "Test/Zone"));
    }
    assert_int_equal(alloc.live_count, 0);
}

static void refuses_every_truncation(void **state)
{
    struct test_allocator alloc;
    struct tzif whole = {.len = 0};

    (void)state;
    test_allocator_init(&alloc);
    put_block(&whole, '2', 4, 0, berlin + 1, 2);
    put_block(&whole, '2', 8, 0, berlin, 3);
    put_footer(&whole, "CET-1");
    for (size_t len = 0; len < whole.len; len++) {
        /* In memory of exactly that size, so that a read past the end shows. */
        char *exact = malloc(len ? len : 1);
        struct pawl_timezone *zone = NULL;

        assert_non_null(exact);
        memcpy(exact, whole.bytes, len);
        assert_code(pawl__timezone_new(&alloc.base, pawl__str("x"), pawl__str_make(exact, len),
                                       &zone, NULL),
                    PAWL_EPARSE);
        free(exact);
    }
    assert_int_equal(alloc.live_count, 0);
}

static void refuses_leap_seconds_and_giants(void **state)
{
    struct test_allocator alloc;
    struct tzif tzif = {.len = 0};
    struct pawl_timezone *zone = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    char *giant = calloc(1, PAWL_TIMEZONE_BYTES_MAX + 1);

    (void)state;
    test_allocator_init(&alloc);
    put_block(&tzif, '2', 4, 0, berlin + 1, 2);
    put_block(&tzif, '2', 8, 1, berlin, 3);
    put_footer(&tzif, "");
    assert_code(load(&alloc, &tzif, &zone, &err), PAWL_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "leap seconds"));
    assert_non_null(giant);
    assert_code(pawl__timezone_new(&alloc.base, pawl__str("x"),
                                   pawl__str_make(giant, PAWL_TIMEZONE_BYTES_MAX + 1), &zone, &err),
                PAWL_ELIMIT);
    free(giant);
}

static int make_all(struct test_allocator *alloc, void *arg)
{
    struct pawl_timezone *a = NULL, *b = NULL, *c = NULL;
    struct tzif tzif = {.len = 0};
    int status;

    (void)arg;
    put_block(&tzif, '\0', 4, 0, berlin + 1, 2);
    status = load(alloc, &tzif, &a, NULL);
    if (status == PAWL_OK)
        status = pawl__timezone_new_utc(&alloc->base, &b, NULL);
    if (status == PAWL_OK)
        status = pawl__timezone_new_posix(&alloc->base, pawl__str("CET-1"), &c, NULL);
    pawl__timezone_free(a);
    pawl__timezone_free(b);
    pawl__timezone_free(c);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(make_all, NULL, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_rule_by_weekdays),
        cmocka_unit_test(follows_a_rule_of_the_southern_half),
        cmocka_unit_test(follows_days_of_the_year_with_and_without_leap_days),
        cmocka_unit_test(follows_times_before_midnight_and_days_later),
        cmocka_unit_test(understands_winter_as_daylight_time_and_daylight_time_all_year),
        cmocka_unit_test(gives_rules_of_the_united_states_where_none_are_given),
        cmocka_unit_test(refuses_malformed_rules_and_says_where),
        cmocka_unit_test(lists_the_transitions_one_after_the_other),
        cmocka_unit_test(reports_gaps_and_overlaps),
        cmocka_unit_test(utc_needs_nothing_and_never_changes),
        cmocka_unit_test(takes_any_number_for_a_time),
        cmocka_unit_test(reads_both_versions_of_tzif),
        cmocka_unit_test(refuses_damaged_tzif),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(refuses_leap_seconds_and_giants),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/timezone", tests, NULL, NULL);
}
