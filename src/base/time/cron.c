/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the next occurrence. Reading expressions is in cron_parse.c.
 *
 * Works on clock readings, in seconds since 1970 as if the clock showed UTC; only
 * pawl__cron_next() knows of zones. The calendar repeats exactly every 400 years (146,097 days are
 * whole weeks), so a search that found nothing in that time never will.
 */
#include "base/time/cron.h"

#include "base/time/datetime.h"
#include "base/time/timezone.h"

#define DAY_S INT64_C(86400)
#define CYCLE_MONTHS (400 * 12)
#define YEAR_MAX 9999

/* The lowest bit of `bits` that is at or above `from`; -1 when there is none. */
static int next_bit(uint64_t bits, int from)
{
    if (from > 63)
        return -1;
    bits &= ~UINT64_C(0) << from;
    return bits ? __builtin_ctzll(bits) : -1;
}

/* The first second of a day at or after `from` that matches; -1 when there is none. */
static int find_time(const struct pawl_cron *cron, int from)
{
    int first_minute = next_bit(cron->minutes, 0);
    int first_second = next_bit(cron->seconds, 0);
    int hour = next_bit(cron->hours, from / 3600);

    if (hour == from / 3600) {
        int minute = next_bit(cron->minutes, from / 60 % 60);

        if (minute == from / 60 % 60) {
            int second = next_bit(cron->seconds, from % 60);

            if (second >= 0)
                return hour * 3600 + minute * 60 + second;
            minute = next_bit(cron->minutes, minute + 1);
        }
        if (minute >= 0)
            return hour * 3600 + minute * 60 + first_second;
        hour = next_bit(cron->hours, hour + 1);
    }
    return hour < 0 ? -1 : hour * 3600 + first_minute * 60 + first_second;
}

/* Saturday goes back to Friday and Sunday on to Monday, but never out of the month. */
static int nearest_weekday(int day, int day_count, int weekday)
{
    if (weekday == 6)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 0)
        return day < day_count ? day + 1 : day - 2;
    return day;
}

/* The days of one month that match, as bits; `first_weekday` is that of day 1. */
static uint64_t month_days(const struct pawl_cron *cron, int day_count, int first_weekday)
{
    uint64_t in_month = (UINT64_C(2) << day_count) - 2;
    uint64_t days = cron->days & in_month;

    if (cron->day_last) {
        int day = day_count - cron->last_offset;

        days = day >= 1 ? UINT64_C(1) << day : 0;
    }
    if (cron->day_nearest && days) {
        int day = __builtin_ctzll(days);

        days = UINT64_C(1) << nearest_weekday(day, day_count, (first_weekday + day - 1) % 7);
    }
    for (int day = next_bit(days, 1); day > 0; day = next_bit(days, day + 1)) {
        bool matches = cron->weekdays >> (first_weekday + day - 1) % 7 & 1;

        if (cron->nth && (day - 1) / 7 + 1 != cron->nth)
            matches = false;
        if (cron->weekday_last && day + 7 <= day_count)
            matches = false;
        if (!matches)
            days &= ~(UINT64_C(1) << day);
    }
    return days;
}

/* The first day at or after `from` (counted from 0001-01-01) that matches. */
static bool find_day(const struct pawl_cron *cron, int64_t from, int64_t *out)
{
    int64_t year;
    int month;
    int day;

    pawl__civil_from_days(from, &year, &month, &day);
    for (int i = 0; i <= CYCLE_MONTHS && year <= YEAR_MAX; i++) {
        if (cron->months >> month & 1) {
            int64_t first = pawl__days_from_civil(year, month, 1);
            uint64_t days =
                month_days(cron, pawl__month_days(year, month), pawl__days_weekday(first));

            day = next_bit(days, day);
            if (day > 0) {
                *out = first + day - 1;
                return true;
            }
        }
        day = 1;
        if (++month > 12) {
            month = 1;
            year++;
        }
    }
    return false;
}

/* The first clock reading at or after `from` that matches. */
static bool find(const struct pawl_cron *cron, int64_t from, int64_t *out)
{
    int64_t days = from / DAY_S - (from % DAY_S < 0);
    int time = (int)(from - days * DAY_S);
    int64_t day;

    days += PAWL_DATETIME_UNIX_EPOCH_DAYS;
    if (!find_day(cron, days, &day))
        return false;
    time = find_time(cron, day == days ? time : 0);
    if (time < 0) {
        if (!find_day(cron, day + 1, &day))
            return false;
        time = find_time(cron, 0);
    }
    *out = (day - PAWL_DATETIME_UNIX_EPOCH_DAYS) * DAY_S + time;
    return true;
}

/*
 * `after_s` reads `local_s`, a time that the clock shows twice. Looks for an occurrence in what is
 * left of both passes; when there is none *from is where to look on.
 */
static bool find_in_overlap(const struct pawl_cron *cron, const struct pawl_timezone *zone,
                            int64_t transition_s, int64_t after_s, int64_t local_s, int64_t *from,
                            int64_t *next_s)
{
    int32_t offset_before = pawl__timezone_at(zone, transition_s - 1).offset_s;
    int32_t offset_after = pawl__timezone_at(zone, transition_s).offset_s;
    int64_t end = transition_s + offset_before;
    int64_t start = local_s + 1;
    int64_t found;

    if (after_s < transition_s) {
        if (find(cron, start, &found) && found < end) {
            *next_s = found - offset_before;
            return true;
        }
        start = transition_s + offset_after;
    }
    if (cron->is_interval && find(cron, start, &found) && found < end) {
        *next_s = found - offset_after;
        return true;
    }
    *from = end;
    return false;
}

static bool next_in_zone(const struct pawl_cron *cron, const struct pawl_timezone *zone,
                         int64_t after_s, int64_t *next_s)
{
    int64_t local_s = after_s + pawl__timezone_at(zone, after_s).offset_s;
    struct pawl_local local = pawl__timezone_from_local(zone, local_s);
    int64_t from = local_s + 1;
    int64_t found;

    if (local.kind == PAWL_LOCAL_OVERLAP &&
        find_in_overlap(cron, zone, local.transition_s, after_s, local_s, &from, next_s))
        return true;
    if (!find(cron, from, &found))
        return false;
    local = pawl__timezone_from_local(zone, found);
    *next_s = local.kind == PAWL_LOCAL_GAP ? local.transition_s : local.earlier_s;
    return true;
}

bool pawl__cron_next(const struct pawl_cron *cron, const struct pawl_timezone *zone, int64_t after,
                     int64_t *next)
{
    int64_t ticks = after - PAWL_DATETIME_UNIX_EPOCH_TICKS;
    int64_t after_s = ticks / PAWL_TICKS_PER_SECOND - (ticks % PAWL_TICKS_PER_SECOND < 0);
    int64_t next_s;

    if (zone ? !next_in_zone(cron, zone, after_s, &next_s) : !find(cron, after_s + 1, &next_s))
        return false;
    *next = next_s * PAWL_TICKS_PER_SECOND + PAWL_DATETIME_UNIX_EPOCH_TICKS;
    return *next <= PAWL_DATETIME_TICKS_MAX;
}
