/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are refused or give a zone whose lookups hold together. Input that does not start with
 * "TZif" is read as a POSIX rule.
 */
#include "base/time/timezone.h"
#include "base/assert.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

static void check_instant(const struct pawl_timezone *zone, int64_t unix_s)
{
    struct pawl_timezone_info info = pawl__timezone_at(zone, unix_s);
    struct pawl_local local;
    int64_t next, reading;

    PAWL_ASSERT(info.offset_s > -172800 && info.offset_s < 172800);
    PAWL_ASSERT(strlen(info.abbreviation) < PAWL_TIMEZONE_BYTES_MAX);
    if (pawl__timezone_next_transition(zone, unix_s, &next))
        PAWL_ASSERT(next > unix_s || unix_s > PAWL_TIMEZONE_SECONDS_MAX);
    if (unix_s < -PAWL_TIMEZONE_SECONDS_MAX / 2 || unix_s > PAWL_TIMEZONE_SECONDS_MAX / 2)
        return;
    reading = unix_s + info.offset_s;
    local = pawl__timezone_from_local(zone, reading);
    PAWL_ASSERT(local.kind != PAWL_LOCAL_GAP);
    PAWL_ASSERT(local.earlier_s <= unix_s && unix_s <= local.later_s);
    local = pawl__timezone_from_local(zone, unix_s);
    PAWL_ASSERT(local.earlier_s <= local.later_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times[] = {INT64_MIN,  -2208988800, -1,           0,        1767322800,
                                    1774746000, 4102444800,  253402300799, INT64_MAX};
    struct pawl_allocator alloc = {resize, NULL};
    struct pawl_str bytes = pawl__str_make((const char *)data, size);
    struct pawl_timezone *zone = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    int64_t next = -2208988800;
    int status = size >= 4 && memcmp(data, "TZif", 4) == 0
                     ? pawl__timezone_new(&alloc, pawl__str("Fuzz"), bytes, &zone, &err)
                     : pawl__timezone_new_posix(&alloc, bytes, &zone, &err);

    if (status != PAWL_OK) {
        PAWL_ASSERT(err.code == status && err.msg[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        check_instant(zone, times[i]);
    for (int i = 0; i < 20 && pawl__timezone_next_transition(zone, next, &next); i++) {
        check_instant(zone, next - 1);
        check_instant(zone, next);
    }
    pawl__timezone_free(zone);
    return 0;
}
