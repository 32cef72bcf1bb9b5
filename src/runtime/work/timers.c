/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When bookmarks and triggers are due that time alone resumes or fires; see definitions.h. Pure:
 * the time is given, nothing is kept.
 */
#include "runtime/definitions/definitions.h"

#include "base/stimuli.h"
#include "base/time/cron.h"
#include "base/time/datetime.h"
#include "base/time/duration.h"

/* The instant in a payload; INT64_MAX when there is none. */
static int64_t instant(const struct pawl_json *payload, const char *key)
{
    const struct pawl_json *text = pawl__json_get_nocase(payload, pawl__str(key));
    struct pawl_datetime at;

    if (pawl__datetime_parse(pawl__json_str(text), &at, NULL) != PAWL_OK)
        return INT64_MAX;
    return pawl__datetime_utc_ticks(at);
}

static int64_t cron_next(const struct pawl_json *payload, int64_t now)
{
    struct pawl_str text =
        pawl__json_str(pawl__json_get_nocase(payload, pawl__str("cronExpression")));
    struct pawl_cron cron;
    int64_t next;

    if (pawl__cron_parse(text, &cron, NULL, NULL) != PAWL_OK ||
        !pawl__cron_next(&cron, NULL, now, &next))
        return INT64_MAX;
    return next;
}

int64_t pawl__bookmark_due(struct pawl_str name, const struct pawl_json *payload)
{
    if (pawl__str_is(name, PAWL_STIMULUS_DELAY) || pawl__str_is(name, PAWL_STIMULUS_TIMER))
        return instant(payload, "resumeAt");
    if (pawl__str_is(name, PAWL_STIMULUS_START_AT) || pawl__str_is(name, PAWL_STIMULUS_CRON))
        return instant(payload, "executeAt");
    return INT64_MAX;
}

int64_t pawl__trigger_due(struct pawl_str name, const struct pawl_json *payload, int64_t now)
{
    if (pawl__str_is(name, PAWL_STIMULUS_TIMER))
        return instant(payload, "startAt");
    if (pawl__str_is(name, PAWL_STIMULUS_START_AT))
        return instant(payload, "executeAt");
    if (pawl__str_is(name, PAWL_STIMULUS_CRON))
        return cron_next(payload, now);
    return INT64_MAX;
}

/* Cron counts in whole seconds: the part of one that has passed does not cost the next time. */
static int64_t cron_again(const struct pawl_json *payload, int64_t now, int64_t interval_min)
{
    int64_t second = now - now % PAWL_TICKS_PER_SECOND;
    int64_t next = cron_next(payload, now);

    if (second > PAWL_DATETIME_TICKS_MAX - interval_min || next >= second + interval_min)
        return next;
    return cron_next(payload, second + interval_min - 1);
}

static bool read_interval(const struct pawl_json *payload, int64_t *interval)
{
    const struct pawl_json *text = pawl__json_get_nocase(payload, pawl__str("interval"));

    return pawl__duration_parse_constant(pawl__json_str(text), interval, NULL) == PAWL_OK &&
           *interval > 0;
}

int64_t pawl__trigger_due_again(struct pawl_str name, const struct pawl_json *payload, int64_t now,
                                int64_t interval_min)
{
    int64_t interval;

    if (now > PAWL_DATETIME_TICKS_MAX)
        return INT64_MAX;
    if (pawl__str_is(name, PAWL_STIMULUS_CRON))
        return cron_again(payload, now, interval_min);
    if (!pawl__str_is(name, PAWL_STIMULUS_TIMER) || !read_interval(payload, &interval))
        return INT64_MAX;
    if (interval < interval_min)
        interval = interval_min;
    return interval > PAWL_DATETIME_TICKS_MAX - now ? INT64_MAX : now + interval;
}

bool pawl__trigger_is_raised(struct pawl_str name, const struct pawl_json *payload,
                             int64_t interval_min)
{
    int64_t interval;

    return pawl__str_is(name, PAWL_STIMULUS_TIMER) && read_interval(payload, &interval) &&
           interval < interval_min;
}

int64_t pawl__ticks_to_us(int64_t ticks)
{
    int64_t since, us;

    if (ticks == INT64_MAX)
        return PAWL_TIME_NEVER;
    if (ticks < INT64_MIN + PAWL_DATETIME_UNIX_EPOCH_TICKS)
        return INT64_MIN / PAWL_TICKS_PER_US;
    since = ticks - PAWL_DATETIME_UNIX_EPOCH_TICKS;
    us = since / PAWL_TICKS_PER_US;
    /* Division goes towards zero: upwards already where the number is negative. */
    return since > 0 && since % PAWL_TICKS_PER_US != 0 ? us + 1 : us;
}

int64_t pawl__us_to_ticks(int64_t us)
{
    if (us >= (INT64_MAX - PAWL_DATETIME_UNIX_EPOCH_TICKS) / PAWL_TICKS_PER_US)
        return INT64_MAX;
    if (us <= INT64_MIN / PAWL_TICKS_PER_US)
        return INT64_MIN + PAWL_DATETIME_UNIX_EPOCH_TICKS;
    return us * PAWL_TICKS_PER_US + PAWL_DATETIME_UNIX_EPOCH_TICKS;
}
