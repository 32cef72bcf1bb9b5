/* SPDX-License-Identifier: Apache-2.0 */
/* Schemes and passwords of URIs; see uri.h. */
#include "host/uri.h"

#define MASK "***"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct pawl_str pawl__uri_scheme(struct pawl_str uri)
{
    size_t colon = pawl__str_find(uri, ':', 0);
    struct pawl_str scheme = pawl__str_slice(uri, 0, colon);

    if (colon == SIZE_MAX || colon < 2 || !is_letter(uri.ptr[0]))
        return pawl__str("");
    for (size_t i = 1; i < scheme.len; i++) {
        char c = scheme.ptr[i];

        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.')
            return pawl__str("");
    }
    return scheme;
}

static bool contains(struct pawl_str s, const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; i + length <= s.len; i++)
        if (pawl__str_equal_nocase(pawl__str_slice(s, i, i + length), pawl__str(word)))
            return true;
    return false;
}

static bool is_secret(struct pawl_str name)
{
    return contains(name, "password") || contains(name, "secret") || contains(name, "token") ||
           contains(name, "key") || pawl__str_is(name, "sig") || pawl__str_is(name, "sas") ||
           pawl__str_is(name, "connection");
}

/* a=b&c=d, with the secret ones masked. */
static void mask_query(struct pawl_buf *out, struct pawl_str query)
{
    size_t at = 0;

    while (at < query.len) {
        size_t end = pawl__str_find(query, '&', at);
        struct pawl_str part = pawl__str_slice(query, at, end);
        size_t equals = pawl__str_find(part, '=', 0);

        if (equals != SIZE_MAX && is_secret(pawl__str_slice(part, 0, equals))) {
            pawl__buf_str(out, pawl__str_slice(part, 0, equals + 1));
            pawl__buf_text(out, MASK);
        } else {
            pawl__buf_str(out, part);
        }
        if (end == SIZE_MAX)
            return;
        pawl__buf_byte(out, '&');
        at = end + 1;
    }
}

/* Where the authority of scheme://authority/path ends; 0 when there is none. */
static size_t authority_end(struct pawl_str uri, size_t begin)
{
    size_t end = begin;

    while (end < uri.len && uri.ptr[end] != '/' && uri.ptr[end] != '?' && uri.ptr[end] != '#')
        end++;
    return end;
}

/* The last '@' before `end`: passwords that were not encoded may have one, hosts may not. */
static size_t find_at(struct pawl_str uri, size_t begin, size_t end)
{
    for (size_t i = end; i > begin; i--)
        if (uri.ptr[i - 1] == '@')
            return i - 1;
    return SIZE_MAX;
}

/* ---- keywords of libpq and of ODBC --------------------------------------------------------- */

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/* The next NAME=VALUE from *at on, with blanks around the '='; false when there is none. *value is
 * where its value begins, *end where it ends: of a quoted one behind the quote. */
static bool next_pair(struct pawl_str text, size_t *at, struct pawl_str *name, size_t *value,
                      size_t *end)
{
    size_t equals = pawl__str_find(text, '=', *at), last, first;

    if (equals == SIZE_MAX)
        return false;
    for (last = equals; last > *at && text.ptr[last - 1] == ' '; last--)
        continue;
    for (first = last; first > *at && is_word(text.ptr[first - 1]); first--)
        continue;
    *name = pawl__str_slice(text, first, last);
    for (*value = equals + 1; *value < text.len && text.ptr[*value] == ' '; ++*value)
        continue;
    *end = *value;
    if (*end < text.len && text.ptr[*end] == '\'') {
        for (++*end; *end < text.len && text.ptr[*end] != '\''; ++*end)
            if (text.ptr[*end] == '\\')
                ++*end;
        *end = *end < text.len ? *end + 1 : text.len;
    } else {
        while (*end < text.len && text.ptr[*end] != ' ' && text.ptr[*end] != ';')
            ++*end;
    }
    *at = *end;
    return true;
}

bool pawl__uri_is_keywords(struct pawl_str text)
{
    static const char *const names[] = {"host",    "hostaddr", "port",     "dbname",
                                        "user",    "password", "passfile", "service",
                                        "sslmode", "server",   "database", "pwd"};
    struct pawl_str name;
    size_t at = 0, value, end;

    if (pawl__uri_scheme(text).len > 0)
        return false;
    while (next_pair(text, &at, &name, &value, &end)) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (pawl__str_equal_nocase(name, pawl__str(names[i])))
                return true;
    }
    return false;
}

static void mask_keywords(struct pawl_buf *out, struct pawl_str text)
{
    struct pawl_str name;
    size_t at = 0, from = 0, value, end;

    while (next_pair(text, &at, &name, &value, &end)) {
        if (!is_secret(name) && !pawl__str_equal_nocase(name, pawl__str("pwd")))
            continue;
        pawl__buf_str(out, pawl__str_slice(text, from, value));
        pawl__buf_text(out, MASK);
        from = end;
    }
    pawl__buf_str(out, pawl__str_slice(text, from, SIZE_MAX));
}

void pawl__uri_mask(struct pawl_buf *out, struct pawl_str uri)
{
    size_t scheme = pawl__uri_scheme(uri).len, from = 0, query;

    if (pawl__uri_is_keywords(uri)) {
        mask_keywords(out, uri);
        return;
    }
    if (scheme > 0 && pawl__str_is(pawl__str_slice(uri, scheme, scheme + 3), "://")) {
        size_t begin = scheme + 3;
        size_t at = find_at(uri, begin, authority_end(uri, begin));
        size_t colon = pawl__str_find(uri, ':', begin);

        /* A '/' or '?' in a password that was not encoded: better too much hidden than too little.
         */
        if (at == SIZE_MAX && pawl__str_find(uri, '@', begin) != SIZE_MAX)
            at = find_at(uri, begin, uri.len);
        if (at != SIZE_MAX && colon < at) {
            pawl__buf_str(out, pawl__str_slice(uri, 0, colon + 1));
            pawl__buf_text(out, MASK);
            from = at;
        }
    }
    query = pawl__str_find(uri, '?', from);
    pawl__buf_str(out, pawl__str_slice(uri, from, query));
    if (query != SIZE_MAX) {
        pawl__buf_byte(out, '?');
        mask_query(out, pawl__str_slice(uri, query + 1, SIZE_MAX));
    }
}
