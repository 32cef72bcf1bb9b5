/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cron expressions: what is refused says where and in printable words; of what is accepted the
 * occurrences move forward, and each satisfies the expression.
 */
#include "base/time/cron.h"

#include "base/time/datetime.h"
#include "base/time/timezone.h"
#include "fuzz/fuzz.h"

#define ROUNDS 4

static void check_refused(struct pawl_str text, int status, size_t at, const struct pawl_error *err)
{
    FUZZ_DEMAND(status == PAWL_EPARSE);
    FUZZ_DEMAND(at <= text.len);
    FUZZ_DEMAND(pawl__utf8_valid(pawl__str(err->msg)));
    for (const char *c = err->msg; *c; c++)
        FUZZ_DEMAND((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_matches(const struct pawl_cron *cron, int64_t ticks)
{
    struct pawl_datetime value = {.ticks = ticks, .kind = PAWL_DATETIME_UTC};
    struct pawl_civil civil;

    pawl__datetime_civil(value, &civil);
    FUZZ_DEMAND(civil.tick == 0);
    FUZZ_DEMAND(cron->seconds >> civil.second & 1);
    FUZZ_DEMAND(cron->minutes >> civil.minute & 1);
    FUZZ_DEMAND(cron->hours >> civil.hour & 1);
    FUZZ_DEMAND(cron->months >> civil.month & 1);
    FUZZ_DEMAND(cron->weekdays >> pawl__datetime_weekday(value) & 1);
    FUZZ_DEMAND(cron->day_last || cron->day_nearest || (cron->days >> civil.day & 1));
}

static void check_occurrences(const struct pawl_cron *cron, const struct pawl_timezone *zone,
                              int64_t at)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t next;

        if (!pawl__cron_next(cron, zone, at, &next))
            return;
        FUZZ_DEMAND(next > at && next <= PAWL_DATETIME_TICKS_MAX);
        if (!zone)
            check_matches(cron, next);
        at = next;
    }
}

/* The first 8 bytes are the moment to start from, the rest is the expression. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_timezone *zone = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_cron cron;
    struct pawl_str text;
    uint64_t start = 0;
    size_t at = 0;
    int status;

    if (size < 8)
        return 0;
    for (size_t i = 0; i < 8; i++)
        start = start << 8 | data[i];
    text = pawl__str_make((const char *)data + 8, size - 8);
    status = pawl__cron_parse(text, &cron, &at, &err);
    if (status != PAWL_OK) {
        check_refused(text, status, at, &err);
        return 0;
    }
    start %= (uint64_t)PAWL_DATETIME_TICKS_MAX;
    FUZZ_DEMAND(pawl__timezone_new_posix(&alloc, pawl__str("CET-1CEST,M3.5.0,M10.5.0/3"), &zone,
                                         NULL) == PAWL_OK);
    check_occurrences(&cron, NULL, (int64_t)start);
    check_occurrences(&cron, zone, (int64_t)start);
    pawl__timezone_free(zone);
    return 0;
}
