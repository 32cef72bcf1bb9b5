/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX TZ strings (POSIX.1-2017, 8.3; RFC 8536, 3.3) and the changes they describe. */
#include "base/time/tzrule.h"

#include "base/error.h"
#include "base/time/datetime.h"

#define DAY_S INT64_C(86400)
#define DEFAULT_RULES "M3.2.0,M11.1.0"

struct reader {
    struct pawl_str text;
    size_t at;
    const char *missed; /* what was expected at `at`; NULL while all is well */
};

static char peek(const struct reader *reader)
{
    return reader->at < reader->text.len ? reader->text.ptr[reader->at] : '\0';
}

static bool take(struct reader *reader, char c)
{
    if (reader->missed || reader->at >= reader->text.len || peek(reader) != c)
        return false;
    reader->at++;
    return true;
}

static void miss(struct reader *reader, const char *what)
{
    if (!reader->missed)
        reader->missed = what;
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One to three digits with a value from `low` to `high`. */
static int read_number(struct reader *reader, int low, int high, const char *what)
{
    size_t start = reader->at;
    int value = 0;

    if (reader->missed)
        return low;
    while (is_digit(peek(reader)) && reader->at - start < 3)
        value = value * 10 + (reader->text.ptr[reader->at++] - '0');
    if (reader->at == start || value < low || value > high) {
        reader->at = start;
        miss(reader, what);
        return low;
    }
    return value;
}

/* Three or more letters, or anything of letters, digits, + and - in angle brackets. */
static void read_name(struct reader *reader, char out[PAWL_TZRULE_NAME_SIZE])
{
    bool quoted = take(reader, '<');
    size_t start = reader->at, length;

    if (reader->missed)
        return;
    while (is_alpha(peek(reader)) ||
           (quoted && (is_digit(peek(reader)) || peek(reader) == '+' || peek(reader) == '-')))
        reader->at++;
    length = reader->at - start;
    if (length < 3 || length >= PAWL_TZRULE_NAME_SIZE) {
        reader->at = start;
        miss(reader, "the name of a zone of 3 to 15 characters");
        return;
    }
    memcpy(out, reader->text.ptr + start, length);
    out[length] = '\0';
    if (quoted && !take(reader, '>'))
        miss(reader, "'>'");
}

/* [+-]h[hh][:mm[:ss]] in seconds. */
static int32_t read_time(struct reader *reader, int hours_max, const char *what)
{
    bool negative = take(reader, '-');
    int32_t seconds;

    if (!negative)
        (void)take(reader, '+');
    seconds = read_number(reader, 0, hours_max, what) * 3600;
    if (take(reader, ':')) {
        seconds += read_number(reader, 0, 59, "minutes (0 to 59)") * 60;
        if (take(reader, ':'))
            seconds += read_number(reader, 0, 59, "seconds (0 to 59)");
    }
    return negative ? -seconds : seconds;
}

static void read_day(struct reader *reader, struct pawl_tzrule_day *day)
{
    if (take(reader, 'M')) {
        day->kind = PAWL_TZRULE_WEEKDAY;
        day->month = read_number(reader, 1, 12, "a month (1 to 12)");
        if (!take(reader, '.'))
            miss(reader, "'.' behind the month");
        day->week = read_number(reader, 1, 5, "a week (1 to 5)");
        if (!take(reader, '.'))
            miss(reader, "'.' behind the week");
        day->day = read_number(reader, 0, 6, "a weekday (0 to 6)");
    } else if (take(reader, 'J')) {
        day->kind = PAWL_TZRULE_JULIAN;
        day->day = read_number(reader, 1, 365, "a day of the year (1 to 365)");
    } else {
        day->kind = PAWL_TZRULE_ORDINAL;
        day->day = read_number(reader, 0, 365, "M, J or a day of the year (0 to 365)");
    }
    day->time_s = 2 * 3600;
    if (take(reader, '/'))
        day->time_s = read_time(reader, 167, "a time of the change (-167 to 167 hours)");
}

static void read_days(struct reader *reader, struct pawl_tzrule *rule)
{
    read_day(reader, &rule->start);
    if (!take(reader, ','))
        miss(reader, "',' and the end of daylight saving time");
    read_day(reader, &rule->end);
}

static void read_rule(struct reader *reader, struct pawl_tzrule *rule)
{
    static const char offset[] = "an offset (-24 to 24 hours)";

    read_name(reader, rule->std_name);
    rule->std_offset_s = -read_time(reader, 24, offset);
    if (reader->at == reader->text.len || reader->missed)
        return;
    rule->has_dst = true;
    read_name(reader, rule->dst_name);
    rule->dst_offset_s = rule->std_offset_s + 3600;
    if (reader->at < reader->text.len && peek(reader) != ',')
        rule->dst_offset_s = -read_time(reader, 24, offset);
    if (take(reader, ',')) {
        read_days(reader, rule);
    } else if (!reader->missed) {
        struct reader defaults = {.text = PAWL_STR_LIT(DEFAULT_RULES)};

        read_days(&defaults, rule);
    }
    if (reader->at < reader->text.len)
        miss(reader, "the end");
}

int pawl__tzrule_parse(struct pawl_str text, struct pawl_tzrule *out, struct pawl_error *err)
{
    struct reader reader = {.text = text};
    struct pawl_tzrule rule = {0};

    read_rule(&reader, &rule);
    if (reader.missed)
        return pawl__error_set(
            err, PAWL_EPARSE, "not a time zone rule: expected %s at character %zu of \"%.*s\"",
            reader.missed, reader.at + 1, PAWL_STR_ARG(pawl__str_slice(text, 0, 64)));
    *out = rule;
    return PAWL_OK;
}

/* Days since 0001-01-01 of the day in a year. */
static int64_t day_in_year(const struct pawl_tzrule_day *day, int64_t year)
{
    int64_t first = pawl__days_from_civil(year, 1, 1);
    int in_month;

    switch (day->kind) {
    case PAWL_TZRULE_JULIAN:
        return first + day->day - 1 + (day->day >= 60 && pawl__year_is_leap(year));
    case PAWL_TZRULE_ORDINAL:
        return first + day->day;
    case PAWL_TZRULE_WEEKDAY:
        break;
    }
    first = pawl__days_from_civil(year, day->month, 1);
    in_month = (day->day - pawl__days_weekday(first) + 7) % 7 + (day->week - 1) * 7;
    if (in_month >= pawl__month_days(year, day->month))
        in_month -= 7;
    return first + in_month;
}

struct change {
    int64_t at_s;
    bool to_dst;
};

static struct change change_in_year(const struct pawl_tzrule *rule, int64_t year, bool to_dst)
{
    const struct pawl_tzrule_day *day = to_dst ? &rule->start : &rule->end;
    int64_t days = day_in_year(day, year) - PAWL_DATETIME_UNIX_EPOCH_DAYS;
    int32_t offset_s = to_dst ? rule->std_offset_s : rule->dst_offset_s;
    struct change change = {days * DAY_S + day->time_s - offset_s, to_dst};

    return change;
}

/*
 * Times of change may lie a week outside their year. So the last one of either kind before an
 * instant belongs to the years from two before to one after it, and the next one of either kind to
 * those up to two after; one more year tells what holds behind that.
 */
#define YEARS_BEFORE 2
#define CHANGE_COUNT 12

/* In order of time; of two at once the one to daylight time is last and wins: a rule with an end
   and the next start at the same instant means daylight time all year (RFC 8536, 3.3.1). */
static void list_changes(const struct pawl_tzrule *rule, int64_t unix_s,
                         struct change changes[CHANGE_COUNT])
{
    int64_t year;
    int month, day;

    pawl__civil_from_days((unix_s + rule->std_offset_s + PAWL_DATETIME_UNIX_EPOCH_DAYS * DAY_S) /
                              DAY_S,
                          &year, &month, &day);
    for (int i = 0; i < CHANGE_COUNT; i++) {
        struct change change = change_in_year(rule, year - YEARS_BEFORE + i / 2, i % 2 == 0);
        int to = i;

        for (; to > 0 && (changes[to - 1].at_s > change.at_s ||
                          (changes[to - 1].at_s == change.at_s && changes[to - 1].to_dst));
             to--)
            changes[to] = changes[to - 1];
        changes[to] = change;
    }
}

static bool state_at(const struct change changes[CHANGE_COUNT], int64_t unix_s)
{
    bool dst = !changes[0].to_dst;

    for (int i = 0; i < CHANGE_COUNT && changes[i].at_s <= unix_s; i++)
        dst = changes[i].to_dst;
    return dst;
}

bool pawl__tzrule_is_dst(const struct pawl_tzrule *rule, int64_t unix_s)
{
    struct change changes[CHANGE_COUNT];

    if (!rule->has_dst)
        return false;
    list_changes(rule, unix_s, changes);
    return state_at(changes, unix_s);
}

bool pawl__tzrule_next(const struct pawl_tzrule *rule, int64_t unix_s, int64_t *change_s)
{
    struct change changes[CHANGE_COUNT];
    bool now;

    if (!rule->has_dst)
        return false;
    list_changes(rule, unix_s, changes);
    now = state_at(changes, unix_s);
    /* Not the last two: what stands after them is not in the list. */
    for (int i = 0; i < CHANGE_COUNT - 2; i++) {
        if (changes[i].at_s > unix_s && state_at(changes, changes[i].at_s) != now) {
            *change_s = changes[i].at_s;
            return true;
        }
    }
    return false;
}
