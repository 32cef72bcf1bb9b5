/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of parts; see multipart.h. Lines end in CRLF; nothing is repaired. */
#include "http/multipart.h"

#include <string.h>

#define BOUNDARY_MAX 70

/* ---- values with parameters -------------------------------------------------------------- */

/* A quoted string to its text: \" and \\ lose their backslash. */
static int unquote(struct pawl_arena *arena, struct pawl_str text, struct pawl_str *out)
{
    char *to;
    size_t len = 0;

    if (pawl__str_find(text, '\\', 0) == SIZE_MAX) {
        *out = text;
        return PAWL_OK;
    }
    to = arena ? pawl__arena_alloc(arena, text.len) : NULL;
    if (!to)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\' && i + 1 < text.len &&
            (text.ptr[i + 1] == '"' || text.ptr[i + 1] == '\\'))
            i++;
        to[len++] = text.ptr[i];
    }
    *out = pawl__str_make(to, len);
    return PAWL_OK;
}

/* Where a quoted string ends that begins behind `at`; SIZE_MAX: nowhere. */
static size_t end_of_quotes(struct pawl_str text, size_t at)
{
    for (; at < text.len; at++) {
        if (text.ptr[at] == '\\')
            at++;
        else if (text.ptr[at] == '"')
            return at;
    }
    return SIZE_MAX;
}

struct parameter {
    struct pawl_str name, value;
    bool quoted;
};

/*
 * The next parameter of `; name="value"; other=x`. PAWL_ENOTFOUND: no other. PAWL_EPARSE.
 */
static int next_parameter(struct pawl_str text, size_t *at, struct parameter *out)
{
    size_t equals, end;

    while (*at < text.len &&
           (text.ptr[*at] == ';' || text.ptr[*at] == ' ' || text.ptr[*at] == '\t'))
        (*at)++;
    if (*at >= text.len)
        return PAWL_ENOTFOUND;
    equals = pawl__str_find(text, '=', *at);
    if (equals == SIZE_MAX)
        return PAWL_EPARSE;
    out->name = pawl__str_trim(pawl__str_slice(text, *at, equals));
    out->quoted = equals + 1 < text.len && text.ptr[equals + 1] == '"';
    if (out->quoted) {
        end = end_of_quotes(text, equals + 2);
        if (end == SIZE_MAX)
            return PAWL_EPARSE;
        out->value = pawl__str_slice(text, equals + 2, end);
        *at = end + 1;
        return *at == text.len || text.ptr[*at] == ';' || text.ptr[*at] == ' ' ? PAWL_OK
                                                                               : PAWL_EPARSE;
    }
    end = pawl__str_find(text, ';', equals);
    end = end == SIZE_MAX ? text.len : end;
    out->value = pawl__str_trim(pawl__str_slice(text, equals + 1, end));
    *at = end;
    return PAWL_OK;
}

/* ---- opening ----------------------------------------------------------------------------- */

static bool is_boundary(struct pawl_str s)
{
    static const char others[] = "'()+_,-./:=? ";

    if (s.len == 0 || s.len > BOUNDARY_MAX || s.ptr[s.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!plain && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return true;
}

int pawl__multipart_open(struct pawl_str content_type, struct pawl_str body,
                         struct pawl_multipart *out)
{
    struct pawl_multipart multipart = {.rest = body};
    struct parameter parameter;
    size_t at = pawl__str_find(content_type, ';', 0);
    int status = PAWL_OK;

    if (at == SIZE_MAX ||
        !pawl__str_equal_nocase(pawl__str_trim(pawl__str_slice(content_type, 0, at)),
                                pawl__str("multipart/form-data")))
        return PAWL_EINVAL;
    while ((status = next_parameter(content_type, &at, &parameter)) == PAWL_OK) {
        if (!pawl__str_equal_nocase(parameter.name, pawl__str("boundary")))
            continue;
        if (multipart.boundary.len > 0) /* of two nobody knows which one counts */
            return PAWL_EINVAL;
        multipart.boundary = parameter.value;
        if (!is_boundary(multipart.boundary))
            return PAWL_EINVAL;
    }
    if (status != PAWL_ENOTFOUND || multipart.boundary.len == 0)
        return PAWL_EINVAL;
    *out = multipart;
    return PAWL_OK;
}

/* ---- parts ------------------------------------------------------------------------------- */

/* Where "--boundary" stands at the beginning of a line, from `from` on; SIZE_MAX. */
static size_t find_delimiter(const struct pawl_multipart *multipart, size_t from)
{
    struct pawl_str rest = multipart->rest, boundary = multipart->boundary;

    for (size_t at = from; at + 2 + boundary.len <= rest.len; at++) {
        const char *dash = memchr(rest.ptr + at, '-', rest.len - at);

        if (!dash)
            break;
        at = (size_t)(dash - rest.ptr);
        if (at + 2 + boundary.len > rest.len)
            break;
        if (dash[1] == '-' && memcmp(dash + 2, boundary.ptr, boundary.len) == 0 &&
            (at == 0 || (at >= 2 && memcmp(dash - 2, "\r\n", 2) == 0)))
            return at;
    }
    return SIZE_MAX;
}

/* Behind a delimiter: CRLF begins a part, "--" ends the form; what follows is nobody's. */
static int pass_delimiter(struct pawl_multipart *multipart, size_t at)
{
    struct pawl_str rest =
        pawl__str_slice(multipart->rest, at + 2 + multipart->boundary.len, multipart->rest.len);

    if (pawl__str_starts(rest, pawl__str("--"))) {
        multipart->ended = true;
        return PAWL_ENOTFOUND;
    }
    while (rest.len > 0 && (rest.ptr[0] == ' ' || rest.ptr[0] == '\t'))
        rest = pawl__str_slice(rest, 1, rest.len);
    if (!pawl__str_starts(rest, pawl__str("\r\n")))
        return PAWL_EPARSE;
    multipart->rest = pawl__str_slice(rest, 2, rest.len);
    return PAWL_OK;
}

/* Browsers of old sent "C:\folder\name". */
static struct pawl_str without_folders(struct pawl_str path)
{
    for (size_t i = path.len; i > 0; i--) {
        if (path.ptr[i - 1] == '/' || path.ptr[i - 1] == '\\')
            return pawl__str_slice(path, i, path.len);
    }
    return path;
}

static bool is_proper(struct pawl_str s)
{
    return pawl__utf8_valid(s) && pawl__str_find(s, '\0', 0) == SIZE_MAX;
}

static int read_disposition(struct pawl_str value, struct pawl_arena *arena, struct pawl_part *part)
{
    struct parameter parameter;
    size_t at = pawl__str_find(value, ';', 0);
    int status;

    if (at == SIZE_MAX || part->name.ptr ||
        !pawl__str_equal_nocase(pawl__str_trim(pawl__str_slice(value, 0, at)),
                                pawl__str("form-data")))
        return PAWL_EPARSE;
    while ((status = next_parameter(value, &at, &parameter)) == PAWL_OK) {
        bool is_name = pawl__str_equal_nocase(parameter.name, pawl__str("name"));
        struct pawl_str *to = is_name ? &part->name : &part->file_name;

        if (!is_name && !pawl__str_equal_nocase(parameter.name, pawl__str("filename")))
            continue;
        if (to->ptr || !is_proper(parameter.value))
            return PAWL_EPARSE;
        *to = parameter.value;
        if (parameter.quoted)
            status = unquote(arena, parameter.value, to);
        if (status != PAWL_OK)
            return status;
    }
    if (part->file_name.ptr)
        part->file_name = without_folders(part->file_name);
    return status == PAWL_ENOTFOUND && part->name.ptr ? PAWL_OK : PAWL_EPARSE;
}

static int read_field(struct pawl_str line, struct pawl_arena *arena, struct pawl_part *part)
{
    size_t colon = pawl__str_find(line, ':', 0);
    struct pawl_str name, value;

    if (colon == SIZE_MAX || colon == 0 || line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return PAWL_EPARSE;
    name = pawl__str_slice(line, 0, colon);
    value = pawl__str_trim(pawl__str_slice(line, colon + 1, line.len));
    if (pawl__str_equal_nocase(name, pawl__str("content-disposition")))
        return read_disposition(value, arena, part);
    if (pawl__str_equal_nocase(name, pawl__str("content-type")))
        part->content_type = value;
    return PAWL_OK;
}

static size_t find_line_end(struct pawl_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] == '\n' || (text.ptr[i] == '\r' && text.ptr[i + 1] != '\n'))
            return SIZE_MAX;
        if (text.ptr[i] == '\r')
            return i;
    }
    return SIZE_MAX;
}

/* Lines up to the empty one. */
static int read_head(struct pawl_multipart *multipart, struct pawl_arena *arena,
                     struct pawl_part *part)
{
    size_t total = 0;
    int status = PAWL_OK;

    for (;;) {
        size_t end = find_line_end(
            pawl__str_slice(multipart->rest, 0, PAWL_MULTIPART_HEAD_BYTES_MAX - total));
        struct pawl_str line = pawl__str_slice(multipart->rest, 0, end);

        if (end == SIZE_MAX)
            return multipart->rest.len > PAWL_MULTIPART_HEAD_BYTES_MAX - total ? PAWL_ELIMIT
                                                                               : PAWL_EPARSE;
        multipart->rest = pawl__str_slice(multipart->rest, end + 2, multipart->rest.len);
        total += end + 2;
        if (line.len == 0)
            return part->name.ptr ? PAWL_OK : PAWL_EPARSE;
        status = read_field(line, arena, part);
        if (status != PAWL_OK)
            return status;
    }
}

/* Up to the CRLF before the next delimiter, which stays. */
static int read_content(struct pawl_multipart *multipart, struct pawl_part *part)
{
    size_t at = find_delimiter(multipart, 0);

    if (at == SIZE_MAX || at == 1)
        return PAWL_EPARSE;
    part->content = pawl__str_slice(multipart->rest, 0, at > 1 ? at - 2 : 0);
    multipart->rest = pawl__str_slice(multipart->rest, at, multipart->rest.len);
    return PAWL_OK;
}

int pawl__multipart_next(struct pawl_multipart *multipart, struct pawl_arena *arena,
                         struct pawl_part *out)
{
    struct pawl_part part = {.name = {NULL, 0}};
    size_t at;
    int status;

    if (multipart->ended)
        return PAWL_ENOTFOUND;
    at = find_delimiter(multipart, 0);
    status = at == SIZE_MAX ? PAWL_EPARSE : pass_delimiter(multipart, at);
    if (status == PAWL_OK && multipart->count == PAWL_MULTIPART_PARTS_MAX)
        status = PAWL_ELIMIT;
    if (status == PAWL_OK)
        status = read_head(multipart, arena, &part);
    if (status == PAWL_OK)
        status = read_content(multipart, &part);
    if (status != PAWL_OK)
        return status;
    multipart->count++;
    *out = part;
    return PAWL_OK;
}
