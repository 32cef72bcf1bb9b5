/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of a POSIX TZ string: standard time and, if there is any, daylight saving time that
 * begins and ends each year on a day given by a formula. Used by "base/time/timezone.h" only.
 */
#ifndef PAWL_BASE_TIME_TZRULE_H
#define PAWL_BASE_TIME_TZRULE_H

#include "base/str.h"

#include <pawl/error.h>

/* Real abbreviations have six characters at the most. */
#define PAWL_TZRULE_NAME_SIZE 16

enum pawl_tzrule_day_kind {
    PAWL_TZRULE_JULIAN,  /* Jn: 1 to 365, February 29 is never counted */
    PAWL_TZRULE_ORDINAL, /* n: 0 to 365, it is */
    PAWL_TZRULE_WEEKDAY, /* Mm.w.d: the wth weekday d of month m; week 5 is the last */
};

struct pawl_tzrule_day {
    enum pawl_tzrule_day_kind kind;
    int day; /* of the year, or the weekday with 0 for Sunday */
    int month;
    int week;
    int32_t time_s; /* local time of the change, from midnight; may be negative or past 24 h */
};

struct pawl_tzrule {
    char std_name[PAWL_TZRULE_NAME_SIZE];
    char dst_name[PAWL_TZRULE_NAME_SIZE];
    int32_t std_offset_s; /* local minus UTC, the other way round than in the text */
    int32_t dst_offset_s;
    bool has_dst;
    struct pawl_tzrule_day start; /* by standard time */
    struct pawl_tzrule_day end;   /* by daylight saving time */
};

/* PAWL_EPARSE says what was expected at which character. */
PAWL_MUST_CHECK int pawl__tzrule_parse(struct pawl_str text, struct pawl_tzrule *out,
                                       struct pawl_error *err);

/* Whether daylight saving time holds at an instant (within PAWL_TIMEZONE_SECONDS_MAX). */
bool pawl__tzrule_is_dst(const struct pawl_tzrule *rule, int64_t unix_s);

/* The first change after `unix_s`; false when there is none. */
bool pawl__tzrule_next(const struct pawl_tzrule *rule, int64_t unix_s, int64_t *change_s);

#endif
