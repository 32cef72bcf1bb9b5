/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates and times as .NET counts them: ticks of 100 ns since 0001-01-01T00:00:00 in the Gregorian
 * calendar, years 1 to 9999, no leap seconds.
 *
 * A value is a clock reading with what is known of its place: nothing (.NET's unspecified
 * DateTime), UTC (its Utc DateTime, written with Z), or an offset from UTC (DateTimeOffset, written
 * with +hh:mm). Invariant: both the reading and the instant in UTC lie in the years 1 to 9999, and
 * the offset is within 14 hours; it is 0 unless the kind is PAWL_DATETIME_OFFSET.
 *
 * Where an instant is asked of an unspecified value it counts as UTC. A caller that means another
 * zone puts it in first, see "base/time/timezone.h".
 */
#ifndef PAWL_BASE_TIME_DATETIME_H
#define PAWL_BASE_TIME_DATETIME_H

#include "base/str.h"

#include <pawl/error.h>

#define PAWL_TICKS_PER_US INT64_C(10)
#define PAWL_TICKS_PER_MS INT64_C(10000)
#define PAWL_TICKS_PER_SECOND INT64_C(10000000)
#define PAWL_TICKS_PER_MINUTE (60 * PAWL_TICKS_PER_SECOND)
#define PAWL_TICKS_PER_HOUR (60 * PAWL_TICKS_PER_MINUTE)
#define PAWL_TICKS_PER_DAY (24 * PAWL_TICKS_PER_HOUR)

#define PAWL_DATETIME_TICKS_MAX INT64_C(3155378975999999999)       /* 9999-12-31T23:59:59.9999999 */
#define PAWL_DATETIME_UNIX_EPOCH_TICKS INT64_C(621355968000000000) /* 1970-01-01 */
#define PAWL_DATETIME_UNIX_EPOCH_DAYS INT64_C(719162)
#define PAWL_DATETIME_OFFSET_MINUTES_MAX 840

/* The longest text and a NUL: 2026-01-02T03:04:05.1234567+02:00 */
#define PAWL_DATETIME_TEXT_SIZE 34

enum pawl_datetime_kind {
    PAWL_DATETIME_UNSPECIFIED,
    PAWL_DATETIME_UTC,
    PAWL_DATETIME_OFFSET,
};

struct pawl_datetime {
    int64_t ticks; /* the clock reading, 0 to PAWL_DATETIME_TICKS_MAX */
    int32_t offset_minutes;
    enum pawl_datetime_kind kind;
};

/* A clock reading in parts. */
struct pawl_civil {
    int64_t year;
    int month;  /* 1 to 12 */
    int day;    /* 1 to 31 */
    int hour;   /* 0 to 23 */
    int minute; /* 0 to 59 */
    int second; /* 0 to 59 */
    int tick;   /* 0 to 9,999,999 */
};

/*
 * The calendar. Days are counted from 0001-01-01, which is 0 and a Monday. These work for any year
 * that an int64 count of seconds reaches, also before year 1 (proleptic, with a year 0).
 */
bool pawl__year_is_leap(int64_t year);
int pawl__month_days(int64_t year, int month);
int64_t pawl__days_from_civil(int64_t year, int month, int day);
void pawl__civil_from_days(int64_t days, int64_t *year, int *month, int *day);
int pawl__days_weekday(int64_t days); /* 0 is Sunday, as in .NET and in cron */

/* The parts of the clock reading, its weekday (0 is Sunday) and its day of the year (from 1). */
void pawl__datetime_civil(struct pawl_datetime value, struct pawl_civil *out);
int pawl__datetime_weekday(struct pawl_datetime value);
int pawl__datetime_day_of_year(struct pawl_datetime value);

/* PAWL_EINVAL names the part that is out of range. `offset_minutes` is for PAWL_DATETIME_OFFSET. */
PAWL_MUST_CHECK int pawl__datetime_make(const struct pawl_civil *civil,
                                        enum pawl_datetime_kind kind, int32_t offset_minutes,
                                        struct pawl_datetime *out, struct pawl_error *err);

/*
 * Reads ISO 8601 in its extended form:
 *
 *     yyyy-MM-dd [ (T | blank) HH:mm [ :ss [ .f{1,16} ] ] [ Z | (+|-)HH [ [:]mm ] ] ]
 *
 * t and z may be small. Fraction digits behind the seventh are cut off, as System.Text.Json does
 * (no carry into the next second). 24:00 and second 60 are refused, so is white space around.
 * PAWL_EPARSE says what was expected at which character.
 */
PAWL_MUST_CHECK int pawl__datetime_parse(struct pawl_str text, struct pawl_datetime *out,
                                         struct pawl_error *err);

/*
 * As System.Text.Json writes it: the fraction without trailing zeros, absent when zero; then Z, or
 * the offset (+00:00 too), or nothing. Returns the length; `out` ends with a NUL.
 */
size_t pawl__datetime_format(struct pawl_datetime value, char out[PAWL_DATETIME_TEXT_SIZE]);
/* The same with all seven digits of the fraction: .NET's "O". */
size_t pawl__datetime_format_fixed(struct pawl_datetime value, char out[PAWL_DATETIME_TEXT_SIZE]);

/* Ticks of the instant in UTC. */
int64_t pawl__datetime_utc_ticks(struct pawl_datetime value);
/* Orders by instant. Negative, 0 or positive. */
int pawl__datetime_compare(struct pawl_datetime a, struct pawl_datetime b);

/* Kind and offset stay. PAWL_ELIMIT: the result is outside the years 1 to 9999. */
PAWL_MUST_CHECK int pawl__datetime_add(struct pawl_datetime value, int64_t ticks,
                                       struct pawl_datetime *out, struct pawl_error *err);
/* A day that the target month does not have becomes its last, as .NET's AddMonths does. */
PAWL_MUST_CHECK int pawl__datetime_add_months(struct pawl_datetime value, int64_t months,
                                              struct pawl_datetime *out, struct pawl_error *err);
/* Ticks from `b` to `a`. It never overflows. */
int64_t pawl__datetime_difference(struct pawl_datetime a, struct pawl_datetime b);

/* The same instant with another offset. PAWL_EINVAL past 14 hours, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__datetime_to_offset(struct pawl_datetime value, int32_t offset_minutes,
                                             struct pawl_datetime *out, struct pawl_error *err);

/* From ticks in UTC, as kind UTC. PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__datetime_from_utc_ticks(int64_t ticks, struct pawl_datetime *out,
                                                  struct pawl_error *err);
/* Nanoseconds are rounded down to ticks. All int64 nanoseconds are in range (1677 to 2262). */
struct pawl_datetime pawl__datetime_from_unix_ns(int64_t unix_ns);
PAWL_MUST_CHECK int pawl__datetime_from_unix_ms(int64_t unix_ms, struct pawl_datetime *out,
                                                struct pawl_error *err);
/* PAWL_ELIMIT outside the years 1677 to 2262. */
PAWL_MUST_CHECK int pawl__datetime_to_unix_ns(struct pawl_datetime value, int64_t *unix_ns,
                                              struct pawl_error *err);
/* Rounded down. */
int64_t pawl__datetime_to_unix_ms(struct pawl_datetime value);

#endif
