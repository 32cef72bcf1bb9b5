/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of header values, and the names of files in them. What is read here comes from
 * servers: it may be anything.
 */
#include "activities/http_client.h"

/* ---- parameters -------------------------------------------------------------------------- */

/* Where the quoted text that begins at `at` ends: behind its closing quote, or at the end. */
static size_t skip_quoted(struct pawl_str s, size_t at)
{
    for (at++; at < s.len && s.ptr[at] != '"'; at++) {
        if (s.ptr[at] == '\\')
            at++;
    }
    return at < s.len ? at + 1 : s.len;
}

/* The part up to the next ';' outside of quotes. */
static struct pawl_str next_part(struct pawl_str s, size_t *at)
{
    size_t from = *at, to = from;

    while (to < s.len && s.ptr[to] != ';')
        to = s.ptr[to] == '"' ? skip_quoted(s, to) : to + 1;
    *at = to < s.len ? to + 1 : s.len;
    return pawl__str_trim(pawl__str_slice(s, from, to));
}

/* Without quotes, and what is escaped in them as it is. */
static struct pawl_str unquote(struct pawl_arena *arena, struct pawl_str s)
{
    char *to;
    size_t len = 0;

    if (s.len == 0 || s.ptr[0] != '"')
        return pawl__arena_str(arena, s);
    to = pawl__arena_alloc_aligned(arena, s.len + 1, 1);
    if (!to)
        return pawl__str_make(NULL, 0);
    for (size_t i = 1; i < s.len && s.ptr[i] != '"'; i++) {
        if (s.ptr[i] == '\\' && i + 1 < s.len)
            i++;
        to[len++] = s.ptr[i];
    }
    to[len] = 0;
    return pawl__str_make(to, len);
}

struct pawl_str pawl__http_parameter(struct pawl_arena *arena, struct pawl_str header,
                                     const char *name)
{
    size_t at = 0;

    (void)next_part(header, &at); /* what the parameters are of */
    while (at < header.len) {
        struct pawl_str part = next_part(header, &at);
        size_t equals = pawl__str_find(part, '=', 0);

        if (equals != SIZE_MAX &&
            pawl__str_equal_nocase(pawl__str_trim(pawl__str_slice(part, 0, equals)),
                                   pawl__str(name)))
            return unquote(arena, pawl__str_trim(pawl__str_slice(part, equals + 1, part.len)));
    }
    return pawl__str_make(NULL, 0);
}

/* ---- names of files ---------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %41 is A; what is no such pair stays. ptr NULL: the arena's status. */
static struct pawl_str unescape(struct pawl_arena *arena, struct pawl_str s)
{
    char *to = pawl__arena_alloc_aligned(arena, s.len + 1, 1);
    size_t len = 0;

    if (!to)
        return pawl__str_make(NULL, 0);
    for (size_t i = 0; i < s.len; i++) {
        int high = s.ptr[i] == '%' && i + 2 < s.len ? hex_digit(s.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s.ptr[i + 2]) : -1;

        to[len++] = low >= 0 ? (char)(high * 16 + low) : s.ptr[i];
        if (low >= 0)
            i += 2;
    }
    to[len] = 0;
    return pawl__str_make(to, len);
}

/* The part behind the last separator of any system. */
static struct pawl_str last_segment(struct pawl_str s)
{
    size_t from = s.len;

    while (from > 0 && s.ptr[from - 1] != '/' && s.ptr[from - 1] != '\\')
        from--;
    return pawl__str_slice(s, from, s.len);
}

/* filename*=UTF-8''a%20b: only in that character set. */
static struct pawl_str extended_name(struct pawl_arena *arena, struct pawl_str disposition)
{
    static const char prefix[] = "utf-8''";
    struct pawl_str value = pawl__http_parameter(arena, disposition, "filename*");
    size_t len = sizeof prefix - 1;

    if (!value.ptr || !pawl__str_equal_nocase(pawl__str_slice(value, 0, len), pawl__str(prefix)))
        return pawl__str_make(NULL, 0);
    return unescape(arena, pawl__str_slice(value, len, value.len));
}

static bool is_name(struct pawl_str s)
{
    return s.ptr && s.len > 0 && pawl__utf8_valid(s) && !memchr(s.ptr, 0, s.len) &&
           !pawl__str_is(s, ".") && !pawl__str_is(s, "..");
}

/* The path of a URL: behind the host, before query and fragment. */
static struct pawl_str url_path(struct pawl_str url)
{
    size_t end = 0, host = 0;

    while (end < url.len && url.ptr[end] != '?' && url.ptr[end] != '#')
        end++;
    url = pawl__str_slice(url, 0, end);
    while (host + 2 < url.len && !(url.ptr[host] == '/' && url.ptr[host + 1] == '/'))
        host++;
    if (host + 2 >= url.len)
        return url;
    return pawl__str_slice(url, pawl__str_find(url, '/', host + 2), url.len);
}

struct pawl_str pawl__http_file_name(struct pawl_arena *arena, struct pawl_str disposition,
                                     struct pawl_str url)
{
    struct pawl_str name = last_segment(extended_name(arena, disposition));

    if (!is_name(name))
        name = last_segment(pawl__http_parameter(arena, disposition, "filename"));
    if (!is_name(name))
        name = last_segment(unescape(arena, last_segment(url_path(url))));
    if (arena->status != PAWL_OK)
        return pawl__str_make(NULL, 0);
    return pawl__arena_str(arena, is_name(name) ? name : pawl__str("file.dat"));
}
