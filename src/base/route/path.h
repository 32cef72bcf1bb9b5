/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a request as segments that templates are compared with.
 *
 * Percent signs are decoded once. "%2F" is not: an encoded slash stays part of its segment, as
 * three characters, so that a value can never add a segment. One slash at the end does not count.
 * What another server on the way may have read differently is refused rather than repaired:
 *
 *     "a//b"                                    PAWL_ROUTE_PATH_EMPTY_SEGMENT   no such route
 *     "a/./b", "a/../b", "a/%2e%2e/b"           PAWL_ROUTE_PATH_DOTS            no such route
 *     "%", "%g0", "%00", "%ff" (not UTF-8)      PAWL_ROUTE_PATH_MALFORMED       a bad request
 *     more than 32 segments, too long           PAWL_ROUTE_PATH_TOO_LONG        no such route
 */
#ifndef PAWL_BASE_ROUTE_PATH_H
#define PAWL_BASE_ROUTE_PATH_H

#include "base/arena.h"
#include "base/str.h"

/* Neither a template nor a path that can match one has more. */
#define PAWL_ROUTE_SEGMENTS_MAX 32
#define PAWL_ROUTE_PATH_BYTES_MAX ((size_t)8 << 10)

enum pawl_route_path_result {
    PAWL_ROUTE_PATH_OK,
    PAWL_ROUTE_PATH_EMPTY_SEGMENT,
    PAWL_ROUTE_PATH_DOTS,
    PAWL_ROUTE_PATH_MALFORMED,
    PAWL_ROUTE_PATH_TOO_LONG,
    PAWL_ROUTE_PATH_NO_MEMORY,
};

struct pawl_route_path {
    struct pawl_str text; /* decoded, without the slash it begins with */
    struct pawl_str segments[PAWL_ROUTE_SEGMENTS_MAX];
    size_t count;
};

/*
 * `raw` is what the request line has behind the base path, without the query: "", "/" or "/a/b".
 * What is decoded is in the arena, the rest borrows `raw`.
 */
enum pawl_route_path_result pawl__route_path_read(struct pawl_str raw, struct pawl_arena *arena,
                                                  struct pawl_route_path *out);

/* "an empty segment", for messages. */
const char *pawl__route_path_result_text(enum pawl_route_path_result result);

#endif
