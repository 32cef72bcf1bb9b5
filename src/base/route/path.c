/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of requests; see path.h. */
#include "base/route/path.h"

#include "base/hex.h"

/* One escape at `at`: -1 when it is none. */
static int escaped(struct pawl_str raw, size_t at)
{
    int high = at + 2 < raw.len ? pawl__hex_value(raw.ptr[at + 1]) : -1;
    int low = at + 2 < raw.len ? pawl__hex_value(raw.ptr[at + 2]) : -1;

    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static enum pawl_route_path_result decode(struct pawl_str raw, struct pawl_arena *arena,
                                          struct pawl_str *out)
{
    char *to;
    size_t len = 0;

    if (pawl__str_find(raw, '%', 0) == SIZE_MAX) {
        *out = raw;
    } else {
        to = pawl__arena_alloc(arena, raw.len);
        if (!to)
            return PAWL_ROUTE_PATH_NO_MEMORY;
        for (size_t i = 0; i < raw.len; i++) {
            int byte = raw.ptr[i] == '%' ? escaped(raw, i) : (unsigned char)raw.ptr[i];

            if (byte < 0)
                return PAWL_ROUTE_PATH_MALFORMED;
            if (raw.ptr[i] == '%' && byte != '/') {
                to[len++] = (char)byte;
                i += 2;
            } else {
                to[len++] = raw.ptr[i];
            }
        }
        *out = pawl__str_make(to, len);
    }
    if (pawl__str_find(*out, '\0', 0) != SIZE_MAX || !pawl__utf8_valid(*out))
        return PAWL_ROUTE_PATH_MALFORMED;
    return PAWL_ROUTE_PATH_OK;
}

static enum pawl_route_path_result split(struct pawl_route_path *path)
{
    for (size_t at = 0; at < path->text.len;) {
        size_t end = pawl__str_find(path->text, '/', at);
        struct pawl_str segment = pawl__str_slice(path->text, at, end);

        if (segment.len == 0)
            return PAWL_ROUTE_PATH_EMPTY_SEGMENT;
        if (pawl__str_is(segment, ".") || pawl__str_is(segment, ".."))
            return PAWL_ROUTE_PATH_DOTS;
        if (path->count == PAWL_ROUTE_SEGMENTS_MAX)
            return PAWL_ROUTE_PATH_TOO_LONG;
        path->segments[path->count++] = segment;
        at += segment.len + 1;
    }
    return PAWL_ROUTE_PATH_OK;
}

enum pawl_route_path_result pawl__route_path_read(struct pawl_str raw, struct pawl_arena *arena,
                                                  struct pawl_route_path *out)
{
    enum pawl_route_path_result result;

    out->count = 0;
    out->text = pawl__str("");
    if (raw.len > PAWL_ROUTE_PATH_BYTES_MAX)
        return PAWL_ROUTE_PATH_TOO_LONG;
    if (raw.len > 0 && raw.ptr[0] == '/')
        raw = pawl__str_slice(raw, 1, raw.len);
    if (raw.len == 0)
        return PAWL_ROUTE_PATH_OK;
    result = decode(raw, arena, &out->text);
    return result == PAWL_ROUTE_PATH_OK ? split(out) : result;
}

const char *pawl__route_path_result_text(enum pawl_route_path_result result)
{
    switch (result) {
    case PAWL_ROUTE_PATH_OK:
        return "well formed";
    case PAWL_ROUTE_PATH_EMPTY_SEGMENT:
        return "an empty segment";
    case PAWL_ROUTE_PATH_DOTS:
        return "a segment of dots";
    case PAWL_ROUTE_PATH_MALFORMED:
        return "an escape or a character that is not well formed";
    case PAWL_ROUTE_PATH_TOO_LONG:
        return "too long";
    case PAWL_ROUTE_PATH_NO_MEMORY:
        return "out of memory";
    }
    return "";
}
