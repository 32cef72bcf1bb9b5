/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of requests; see credential.h. */
#include "api/credential.h"

enum pawl_scheme pawl__authorization_read(struct pawl_str field, struct pawl_str *out)
{
    size_t end;
    struct pawl_str word;

    field = pawl__str_trim(field);
    end = pawl__str_find(field, ' ', 0);
    word = pawl__str_slice(field, 0, end);
    *out = end == SIZE_MAX ? pawl__str("") : pawl__str_trim(pawl__str_slice(field, end, field.len));
    if (pawl__str_is(word, "ApiKey"))
        return PAWL_SCHEME_KEY;
    if (out->len > 0 && pawl__str_equal_nocase(word, pawl__str("Bearer")))
        return PAWL_SCHEME_BEARER;
    return PAWL_SCHEME_NONE;
}

/* "a=1; b=2" with ';', "a=1&b=2" with '&'. */
static struct pawl_str find_pair(struct pawl_str pairs, char separator, const char *name)
{
    size_t at = 0;

    while (at < pairs.len) {
        size_t end = pawl__str_find(pairs, separator, at);
        struct pawl_str pair = pawl__str_slice(pairs, at, end);
        size_t equals;

        pair = pawl__str_trim(pair);
        equals = pawl__str_find(pair, '=', 0);
        if (equals != SIZE_MAX && pawl__str_is(pawl__str_slice(pair, 0, equals), name))
            return pawl__str_slice(pair, equals + 1, pair.len);
        at = end == SIZE_MAX ? pairs.len : end + 1;
    }
    return pawl__str_make(NULL, 0);
}

struct pawl_str pawl__cookie_find(struct pawl_str field, const char *name)
{
    struct pawl_str value = find_pair(field, ';', name);

    if (value.ptr && value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        value = pawl__str_slice(value, 1, value.len - 1);
    return value;
}

struct pawl_str pawl__query_find(struct pawl_str query, const char *name)
{
    return find_pair(query, '&', name);
}
