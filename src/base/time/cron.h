/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cron expressions, in the dialect of the Cronos library that Elsa uses.
 *
 *     second minute hour day-of-month month day-of-week     (six fields)
 *            minute hour day-of-month month day-of-week     (five: at second 0)
 *
 *     *  ?            every value; ? only for the two kinds of day
 *     5  MON  JAN     one value; names have three letters, in any case; Sunday is 0 and 7
 *     1-5  22-2       a range; one that runs backwards goes round the end
 *     3/5  1-9/2      every nth value, up to the end of the field or of the range; * before
 *                     the slash stands for the whole field
 *     1,5,10-12       any of these
 *     L  L-3          the last day of the month, or so many days before it
 *     15W  LW  L-3W   the weekday nearest to that day, within the same month
 *     FRI#2  5L       the second Friday, the last Friday of the month
 *     @every_second @every_minute @hourly @daily @midnight @weekly @monthly @yearly @annually
 *
 * When both kinds of day are given a date must satisfy both. Nothing is allocated.
 */
#ifndef PAWL_BASE_TIME_CRON_H
#define PAWL_BASE_TIME_CRON_H

#include "base/str.h"

#include <pawl/error.h>

struct pawl_timezone;

/* A parsed expression: one bit for each value that a field allows. */
struct pawl_cron {
    uint64_t seconds;
    uint64_t minutes;
    uint64_t hours;
    uint64_t days;     /* of the month, bits 1 to 31 */
    uint64_t months;   /* bits 1 to 12 */
    uint64_t weekdays; /* bits 0 (Sunday) to 6 */
    uint8_t nth;       /* of that weekday in the month, 1 to 5; 0 any */
    uint8_t last_offset;
    bool day_last;     /* L: the last day of the month, less last_offset; `days` is empty */
    bool day_nearest;  /* W */
    bool weekday_last; /* 5L */
    bool is_interval;  /* a star, range or step in the time of day: see pawl__cron_next() */
    bool has_seconds;  /* written with six fields */
};

/*
 * Reads an expression. PAWL_EPARSE: the message is worded as Cronos words it (definitions in the
 * field are judged by that text) and names the field; *at (NULL allowed) is the byte at which the
 * expression stops making sense, written on failure only.
 */
PAWL_MUST_CHECK int pawl__cron_parse(struct pawl_str text, struct pawl_cron *out, size_t *at,
                                     struct pawl_error *err);

/*
 * The first time after `after` (ticks, UTC; whole seconds are considered) that the expression
 * means on a clock of `zone` (borrowed for the call; NULL: UTC). false: never again before the
 * year 10000.
 *
 * When clocks are put forward, what falls into the gap happens once, at the jump. When they are put
 * back, intervals (every ten minutes, every hour from 1 to 5) go on through both passes of the
 * repeated hour, while fixed times (at 2:30) happen in the first pass only.
 */
bool pawl__cron_next(const struct pawl_cron *cron, const struct pawl_timezone *zone, int64_t after,
                     int64_t *next);

#endif
