/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar, reading and writing ISO 8601, and arithmetic on instants. */
#include "base/time/datetime.h"

#include "base/assert.h"
#include "base/error.h"

#define DAYS_PER_400_YEARS INT64_C(146097)
#define FRACTION_DIGITS 7
#define FRACTION_DIGITS_READ_MAX 16 /* as System.Text.Json */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    return a - floor_div(a, b) * b;
}

bool pawl__year_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days of the year before the first of `month` (1 to 13). */
static int days_before_month(int64_t year, int month)
{
    static const short before[14] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

    return before[month] + (month > 2 && pawl__year_is_leap(year));
}

int pawl__month_days(int64_t year, int month)
{
    PAWL_ASSERT(month >= 1 && month <= 12);
    return days_before_month(year, month + 1) - days_before_month(year, month);
}

int64_t pawl__days_from_civil(int64_t year, int month, int day)
{
    int64_t y = year - 1; /* whole years since 0001-01-01 */

    PAWL_ASSERT(month >= 1 && month <= 12);
    return 365 * y + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) +
           days_before_month(year, month) + day - 1;
}

void pawl__civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t era = floor_div(days, DAYS_PER_400_YEARS);
    int64_t rest = days - era * DAYS_PER_400_YEARS;
    /* The last day of 400 years and of 4 years would count as a fifth century and year. */
    int64_t centuries = rest / 36524 - rest / 146096;
    int64_t fours, years;
    int m, in_year;

    rest -= centuries * 36524;
    fours = rest / 1461;
    rest -= fours * 1461;
    years = rest / 365 - rest / 1460;
    in_year = (int)(rest - years * 365);
    *year = era * 400 + centuries * 100 + fours * 4 + years + 1;
    m = in_year / 32 + 1; /* never too large, and too small by one at the most */
    if (in_year >= days_before_month(*year, m + 1))
        m++;
    *month = m;
    *day = in_year - days_before_month(*year, m) + 1;
}

int pawl__days_weekday(int64_t days)
{
    return (int)floor_mod(days + 1, 7);
}

void pawl__datetime_civil(struct pawl_datetime value, struct pawl_civil *out)
{
    int64_t in_day = value.ticks % PAWL_TICKS_PER_DAY;

    pawl__civil_from_days(value.ticks / PAWL_TICKS_PER_DAY, &out->year, &out->month, &out->day);
    out->hour = (int)(in_day / PAWL_TICKS_PER_HOUR);
    out->minute = (int)(in_day / PAWL_TICKS_PER_MINUTE % 60);
    out->second = (int)(in_day / PAWL_TICKS_PER_SECOND % 60);
    out->tick = (int)(in_day % PAWL_TICKS_PER_SECOND);
}

int pawl__datetime_weekday(struct pawl_datetime value)
{
    return pawl__days_weekday(value.ticks / PAWL_TICKS_PER_DAY);
}

int pawl__datetime_day_of_year(struct pawl_datetime value)
{
    struct pawl_civil civil;

    pawl__datetime_civil(value, &civil);
    return days_before_month(civil.year, civil.month) + civil.day;
}

static bool in_range(int64_t ticks)
{
    return ticks >= 0 && ticks <= PAWL_DATETIME_TICKS_MAX;
}

static int set_range_error(struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_ELIMIT, "the date lies outside the years 1 to 9999");
}

/* The first part of `civil` that is out of range; NULL when all are in theirs. */
static const char *bad_part(const struct pawl_civil *civil)
{
    if (civil->year < 1 || civil->year > 9999)
        return "year (1 to 9999)";
    if (civil->month < 1 || civil->month > 12)
        return "month (1 to 12)";
    if (civil->day < 1 || civil->day > pawl__month_days(civil->year, civil->month))
        return "day of the month";
    if (civil->hour < 0 || civil->hour > 23)
        return "hour (0 to 23)";
    if (civil->minute < 0 || civil->minute > 59)
        return "minute (0 to 59)";
    if (civil->second < 0 || civil->second > 59)
        return "second (0 to 59)";
    if (civil->tick < 0 || civil->tick >= PAWL_TICKS_PER_SECOND)
        return "fraction";
    return NULL;
}

static int64_t ticks_from_civil(const struct pawl_civil *civil)
{
    int64_t days = pawl__days_from_civil(civil->year, civil->month, civil->day);
    int64_t seconds = (days * 24 + civil->hour) * 3600 + civil->minute * 60 + civil->second;

    return seconds * PAWL_TICKS_PER_SECOND + civil->tick;
}

int pawl__datetime_make(const struct pawl_civil *civil, enum pawl_datetime_kind kind,
                        int32_t offset_minutes, struct pawl_datetime *out, struct pawl_error *err)
{
    struct pawl_datetime made = {0, kind == PAWL_DATETIME_OFFSET ? offset_minutes : 0, kind};
    const char *bad = bad_part(civil);

    if (bad)
        return pawl__error_set(err, PAWL_EINVAL, "no such date: %s is out of range", bad);
    if (made.offset_minutes < -PAWL_DATETIME_OFFSET_MINUTES_MAX ||
        made.offset_minutes > PAWL_DATETIME_OFFSET_MINUTES_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "the offset %d min exceeds 14 hours",
                               made.offset_minutes);
    made.ticks = ticks_from_civil(civil);
    if (!in_range(pawl__datetime_utc_ticks(made)))
        return set_range_error(err);
    *out = made;
    return PAWL_OK;
}

/* Reading: a cursor that notes the first thing it misses. */
struct reader {
    struct pawl_str text;
    size_t at;
    const char *missed; /* what was expected at `at`; NULL while all is well */
};

static char peek(const struct reader *reader)
{
    return reader->at < reader->text.len ? reader->text.ptr[reader->at] : '\0';
}

static bool at_digit(const struct reader *reader)
{
    char c = peek(reader);

    return c >= '0' && c <= '9';
}

static bool take(struct reader *reader, char c)
{
    if (reader->missed || reader->at >= reader->text.len || peek(reader) != c)
        return false;
    reader->at++;
    return true;
}

static void demand(struct reader *reader, char c, const char *what)
{
    if (!reader->missed && !take(reader, c))
        reader->missed = what;
}

/* Exactly `count` digits with a value from `low` to `high`; 0 otherwise, with `what` missed. */
static int number(struct reader *reader, int count, int low, int high, const char *what)
{
    size_t start = reader->at;
    int value = 0;

    if (reader->missed)
        return 0;
    for (int i = 0; i < count; i++) {
        if (!at_digit(reader)) {
            reader->missed = what;
            return 0;
        }
        value = value * 10 + (reader->text.ptr[reader->at++] - '0');
    }
    if (value < low || value > high) {
        reader->at = start;
        reader->missed = what;
        return 0;
    }
    return value;
}

static void read_date(struct reader *reader, struct pawl_civil *civil)
{
    size_t day_at;

    civil->year = number(reader, 4, 1, 9999, "a year of four digits (0001 to 9999)");
    demand(reader, '-', "'-' behind the year");
    civil->month = number(reader, 2, 1, 12, "a month (01 to 12)");
    demand(reader, '-', "'-' behind the month");
    day_at = reader->at;
    civil->day = number(reader, 2, 1, 31, "a day (01 to 31)");
    if (!reader->missed && civil->day > pawl__month_days(civil->year, civil->month)) {
        reader->at = day_at;
        reader->missed = "a day that this month has";
    }
}

static int read_fraction(struct reader *reader)
{
    int ticks = 0, count = 0;

    for (; at_digit(reader) && count < FRACTION_DIGITS_READ_MAX; count++, reader->at++) {
        if (count < FRACTION_DIGITS)
            ticks = ticks * 10 + (peek(reader) - '0');
    }
    if (count == 0)
        reader->missed = "a digit behind the point";
    for (; count < FRACTION_DIGITS; count++)
        ticks *= 10;
    return ticks;
}

static void read_time(struct reader *reader, struct pawl_civil *civil)
{
    civil->hour = number(reader, 2, 0, 23, "an hour (00 to 23)");
    demand(reader, ':', "':' behind the hour");
    civil->minute = number(reader, 2, 0, 59, "a minute (00 to 59)");
    if (!take(reader, ':'))
        return;
    civil->second = number(reader, 2, 0, 59, "a second (00 to 59)");
    if (take(reader, '.'))
        civil->tick = read_fraction(reader);
}

static void read_zone(struct reader *reader, struct pawl_datetime *value)
{
    size_t start = reader->at;
    int sign, hours, minutes = 0;

    if (take(reader, 'Z') || take(reader, 'z')) {
        value->kind = PAWL_DATETIME_UTC;
        return;
    }
    if (take(reader, '+'))
        sign = 1;
    else if (take(reader, '-'))
        sign = -1;
    else
        return;
    hours = number(reader, 2, 0, 14, "hours of the offset (00 to 14)");
    if (take(reader, ':') || at_digit(reader))
        minutes = number(reader, 2, 0, 59, "minutes of the offset (00 to 59)");
    value->kind = PAWL_DATETIME_OFFSET;
    value->offset_minutes = sign * (hours * 60 + minutes);
    if (!reader->missed && hours * 60 + minutes > PAWL_DATETIME_OFFSET_MINUTES_MAX) {
        reader->at = start;
        reader->missed = "an offset of 14 hours at the most";
    }
}

int pawl__datetime_parse(struct pawl_str text, struct pawl_datetime *out, struct pawl_error *err)
{
    struct reader reader = {.text = text};
    struct pawl_civil civil = {0};
    struct pawl_datetime value = {0, 0, PAWL_DATETIME_UNSPECIFIED};

    read_date(&reader, &civil);
    if (!reader.missed && reader.at < text.len) {
        if (take(&reader, 'T') || take(&reader, 't') || take(&reader, ' ')) {
            read_time(&reader, &civil);
            read_zone(&reader, &value);
        } else {
            reader.missed = "'T' and a time, or the end";
        }
    }
    if (!reader.missed && reader.at < text.len)
        reader.missed = "the end of the date and time";
    if (reader.missed)
        return pawl__error_set(
            err, PAWL_EPARSE, "not a date and time: expected %s at character %zu of \"%.*s\"",
            reader.missed, reader.at + 1, PAWL_STR_ARG(pawl__str_slice(text, 0, 64)));
    value.ticks = ticks_from_civil(&civil);
    if (!in_range(pawl__datetime_utc_ticks(value)))
        return pawl__error_set(
            err, PAWL_EPARSE,
            "not a date and time: \"%.*s\" in UTC lies outside the years 1 to 9999",
            PAWL_STR_ARG(text));
    *out = value;
    return PAWL_OK;
}

/* Writes `count` digits with leading zeros and returns what is behind them. */
static char *put(char *out, int64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--, value /= 10)
        out[i] = (char)('0' + value % 10);
    return out + count;
}

static char *put_zone(char *out, struct pawl_datetime value)
{
    int minutes = value.offset_minutes < 0 ? -value.offset_minutes : value.offset_minutes;

    switch (value.kind) {
    case PAWL_DATETIME_UNSPECIFIED:
        break;
    case PAWL_DATETIME_UTC:
        *out++ = 'Z';
        break;
    case PAWL_DATETIME_OFFSET:
        *out++ = value.offset_minutes < 0 ? '-' : '+';
        out = put(out, minutes / 60, 2);
        *out++ = ':';
        out = put(out, minutes % 60, 2);
        break;
    }
    return out;
}

static size_t format(struct pawl_datetime value, bool fixed, char *out)
{
    struct pawl_civil civil;
    char *to;

    PAWL_ASSERT(in_range(value.ticks));
    pawl__datetime_civil(value, &civil);
    to = put(out, civil.year, 4);
    *to++ = '-';
    to = put(to, civil.month, 2);
    *to++ = '-';
    to = put(to, civil.day, 2);
    *to++ = 'T';
    to = put(to, civil.hour, 2);
    *to++ = ':';
    to = put(to, civil.minute, 2);
    *to++ = ':';
    to = put(to, civil.second, 2);
    if (fixed || civil.tick != 0) {
        *to++ = '.';
        to = put(to, civil.tick, FRACTION_DIGITS);
        while (!fixed && to[-1] == '0')
            to--;
    }
    to = put_zone(to, value);
    *to = '\0';
    return (size_t)(to - out);
}

size_t pawl__datetime_format(struct pawl_datetime value, char out[PAWL_DATETIME_TEXT_SIZE])
{
    return format(value, false, out);
}

size_t pawl__datetime_format_fixed(struct pawl_datetime value, char out[PAWL_DATETIME_TEXT_SIZE])
{
    return format(value, true, out);
}

int64_t pawl__datetime_utc_ticks(struct pawl_datetime value)
{
    return value.ticks - value.offset_minutes * PAWL_TICKS_PER_MINUTE;
}

int pawl__datetime_compare(struct pawl_datetime a, struct pawl_datetime b)
{
    int64_t at = pawl__datetime_utc_ticks(a), bt = pawl__datetime_utc_ticks(b);

    return (at > bt) - (at < bt);
}

int pawl__datetime_add(struct pawl_datetime value, int64_t ticks, struct pawl_datetime *out,
                       struct pawl_error *err)
{
    struct pawl_datetime sum = value;

    if (__builtin_add_overflow(value.ticks, ticks, &sum.ticks) || !in_range(sum.ticks) ||
        !in_range(pawl__datetime_utc_ticks(sum)))
        return set_range_error(err);
    *out = sum;
    return PAWL_OK;
}

int pawl__datetime_add_months(struct pawl_datetime value, int64_t months, struct pawl_datetime *out,
                              struct pawl_error *err)
{
    struct pawl_civil civil;
    struct pawl_datetime moved = value;
    int64_t month;
    int days;

    if (months < -120000 || months > 120000)
        return set_range_error(err);
    pawl__datetime_civil(value, &civil);
    month = civil.year * 12 + civil.month - 1 + months;
    civil.year = floor_div(month, 12);
    civil.month = (int)floor_mod(month, 12) + 1;
    if (civil.year < 1 || civil.year > 9999)
        return set_range_error(err);
    days = pawl__month_days(civil.year, civil.month);
    if (civil.day > days)
        civil.day = days;
    moved.ticks = ticks_from_civil(&civil);
    if (!in_range(pawl__datetime_utc_ticks(moved)))
        return set_range_error(err);
    *out = moved;
    return PAWL_OK;
}

int64_t pawl__datetime_difference(struct pawl_datetime a, struct pawl_datetime b)
{
    return pawl__datetime_utc_ticks(a) - pawl__datetime_utc_ticks(b);
}

int pawl__datetime_to_offset(struct pawl_datetime value, int32_t offset_minutes,
                             struct pawl_datetime *out, struct pawl_error *err)
{
    int64_t ticks = pawl__datetime_utc_ticks(value) + offset_minutes * PAWL_TICKS_PER_MINUTE;

    if (offset_minutes < -PAWL_DATETIME_OFFSET_MINUTES_MAX ||
        offset_minutes > PAWL_DATETIME_OFFSET_MINUTES_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "the offset %d min exceeds 14 hours",
                               offset_minutes);
    if (!in_range(ticks))
        return set_range_error(err);
    *out = (struct pawl_datetime){ticks, offset_minutes, PAWL_DATETIME_OFFSET};
    return PAWL_OK;
}

int pawl__datetime_from_utc_ticks(int64_t ticks, struct pawl_datetime *out, struct pawl_error *err)
{
    if (!in_range(ticks))
        return set_range_error(err);
    *out = (struct pawl_datetime){ticks, 0, PAWL_DATETIME_UTC};
    return PAWL_OK;
}

struct pawl_datetime pawl__datetime_from_unix_ns(int64_t unix_ns)
{
    struct pawl_datetime made = {PAWL_DATETIME_UNIX_EPOCH_TICKS + floor_div(unix_ns, 100), 0,
                                 PAWL_DATETIME_UTC};

    return made;
}

int pawl__datetime_from_unix_ms(int64_t unix_ms, struct pawl_datetime *out, struct pawl_error *err)
{
    int64_t ticks;

    if (__builtin_mul_overflow(unix_ms, PAWL_TICKS_PER_MS, &ticks) ||
        __builtin_add_overflow(ticks, PAWL_DATETIME_UNIX_EPOCH_TICKS, &ticks))
        return set_range_error(err);
    return pawl__datetime_from_utc_ticks(ticks, out, err);
}

int pawl__datetime_to_unix_ns(struct pawl_datetime value, int64_t *unix_ns, struct pawl_error *err)
{
    int64_t ticks = pawl__datetime_utc_ticks(value) - PAWL_DATETIME_UNIX_EPOCH_TICKS;
    int64_t ns;

    if (__builtin_mul_overflow(ticks, INT64_C(100), &ns))
        return pawl__error_set(err, PAWL_ELIMIT,
                               "the date lies outside the years 1677 to 2262, which nanoseconds "
                               "since 1970 reach");
    *unix_ns = ns;
    return PAWL_OK;
}

int64_t pawl__datetime_to_unix_ms(struct pawl_datetime value)
{
    return floor_div(pawl__datetime_utc_ticks(value) - PAWL_DATETIME_UNIX_EPOCH_TICKS,
                     PAWL_TICKS_PER_MS);
}
