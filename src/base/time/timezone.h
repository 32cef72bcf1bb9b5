/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones: the offset from UTC at an instant, and the instants at which a clock on the wall
 * shows a given time. Rules come as TZif bytes (RFC 8536, versions 1 to 4) or as a POSIX TZ string;
 * where these come from is not decided here, see "os/tzdata.h".
 *
 * Instants are seconds since 1970-01-01 UTC. Local readings are seconds too, counted as if the
 * clock on the wall showed UTC. Both are clamped to PAWL_TIMEZONE_SECONDS_MAX on either side of
 * 1970, far beyond the years 1 to 9999. A zone never changes once made, so threads may share it.
 */
#ifndef PAWL_BASE_TIME_TIMEZONE_H
#define PAWL_BASE_TIME_TIMEZONE_H

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

#define PAWL_TIMEZONE_SECONDS_MAX ((int64_t)1 << 40) /* about 35,000 years */

/* The largest real zone has 3.5 KB; what is much larger is no zone. */
#define PAWL_TIMEZONE_BYTES_MAX ((size_t)256 << 10)

struct pawl_timezone;

/* What a zone says of one instant. */
struct pawl_timezone_info {
    int32_t offset_s;         /* local minus UTC */
    bool is_dst;              /* by the zone's own word, which in Dublin means winter */
    const char *abbreviation; /* "CEST"; borrowed for the zone's life */
};

/*
 * Reads TZif bytes, which are copied. Zones with leap seconds ("right/…") are PAWL_EUNSUPPORTED,
 * anything malformed is PAWL_EPARSE and says what and where. `name` is copied; it is what messages
 * and pawl__timezone_name() call the zone.
 */
PAWL_MUST_CHECK int pawl__timezone_new(const struct pawl_allocator *alloc, struct pawl_str name,
                                       struct pawl_str tzif, struct pawl_timezone **out,
                                       struct pawl_error *err);

/*
 * Reads a POSIX TZ string such as "CET-1CEST,M3.5.0,M10.5.0/3" or "<+01>-1", with RFC 8536's
 * extension to times from -167 to 167 hours. A daylight name without rules gets those of the
 * United States, as POSIX systems do. The string is also the zone's name.
 */
PAWL_MUST_CHECK int pawl__timezone_new_posix(const struct pawl_allocator *alloc,
                                             struct pawl_str text, struct pawl_timezone **out,
                                             struct pawl_error *err);

/* UTC, without data from anywhere. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__timezone_new_utc(const struct pawl_allocator *alloc,
                                           struct pawl_timezone **out, struct pawl_error *err);

void pawl__timezone_free(struct pawl_timezone *zone); /* NULL allowed */

const char *pawl__timezone_name(const struct pawl_timezone *zone);

/* What holds at an instant: before the first transition what the zone started with, past the last
   what its rule says. */
struct pawl_timezone_info pawl__timezone_at(const struct pawl_timezone *zone, int64_t unix_s);

/* The first transition after `unix_s`; false when none comes. */
bool pawl__timezone_next_transition(const struct pawl_timezone *zone, int64_t unix_s,
                                    int64_t *transition_s);

enum pawl_local_kind {
    PAWL_LOCAL_UNIQUE,  /* the clock shows this time once */
    PAWL_LOCAL_GAP,     /* never: it was put forward past it */
    PAWL_LOCAL_OVERLAP, /* twice: it was put back over it */
};

/*
 * When a clock on the wall shows a given time.
 *     UNIQUE   `earlier_s` and `later_s` are the one instant.
 *     OVERLAP  they are the first and the last instant with this reading.
 *     GAP      they are the reading taken with the offset after and with the offset before the
 *              jump (02:30 at a jump from 02:00 to 03:00: an hour apart, around the jump).
 * `transition_s` is the instant of the jump; 0 for UNIQUE.
 */
struct pawl_local {
    enum pawl_local_kind kind;
    int64_t earlier_s;
    int64_t later_s;
    int64_t transition_s;
};

struct pawl_local pawl__timezone_from_local(const struct pawl_timezone *zone, int64_t local_s);

#endif
