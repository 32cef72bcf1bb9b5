/* SPDX-License-Identifier: Apache-2.0 */
/* Queries and forms; see query.h. */
#include "http/query.h"

#include "base/hex.h"

int pawl__percent_decode(struct pawl_arena *arena, struct pawl_str text, bool plus,
                         struct pawl_str *out)
{
    char *to = pawl__arena_alloc(arena, text.len + 1);
    size_t len = 0;

    if (!to)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < text.len; i++, len++) {
        int high, low;

        to[len] = plus && text.ptr[i] == '+' ? ' ' : text.ptr[i];
        if (text.ptr[i] == '\0')
            return PAWL_EPARSE;
        if (text.ptr[i] != '%')
            continue;
        high = i + 2 < text.len ? pawl__hex_value(text.ptr[i + 1]) : -1;
        low = i + 2 < text.len ? pawl__hex_value(text.ptr[i + 2]) : -1;
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return PAWL_EPARSE;
        to[len] = (char)(high << 4 | low);
        i += 2;
    }
    *out = pawl__str_make(to, len);
    return pawl__utf8_valid(*out) ? PAWL_OK : PAWL_EPARSE;
}

static size_t count_fields(struct pawl_str text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '&';
    return count;
}

/* "a=b&&c": a, c; nothing stands for nothing. */
static int add_field(struct pawl_query *query, struct pawl_arena *arena, struct pawl_str text)
{
    struct pawl_query_field *field = &query->fields[query->count];
    size_t equals = pawl__str_find(text, '=', 0);
    int status;

    if (text.len == 0)
        return PAWL_OK;
    status = pawl__percent_decode(arena, pawl__str_slice(text, 0, equals), true, &field->name);
    field->value = pawl__str("");
    if (status == PAWL_OK && equals != SIZE_MAX)
        status = pawl__percent_decode(arena, pawl__str_slice(text, equals + 1, text.len), true,
                                      &field->value);
    if (status == PAWL_OK)
        query->count++;
    return status;
}

int pawl__query_parse(struct pawl_str text, struct pawl_arena *arena, struct pawl_query *out)
{
    struct pawl_query query = {.count = 0};
    size_t room = count_fields(text);
    int status = PAWL_OK;

    if (room > PAWL_QUERY_FIELDS_MAX)
        return PAWL_ELIMIT;
    query.fields = pawl__arena_alloc(arena, room * sizeof *query.fields);
    if (!query.fields)
        return PAWL_ENOMEM;
    for (size_t at = 0; at < text.len && status == PAWL_OK;) {
        size_t end = pawl__str_find(text, '&', at);

        end = end == SIZE_MAX ? text.len : end;
        status = add_field(&query, arena, pawl__str_slice(text, at, end));
        at = end + 1;
    }
    if (status == PAWL_OK)
        *out = query;
    return status;
}

struct pawl_str pawl__query_nth(const struct pawl_query *query, const char *name, size_t nth)
{
    for (size_t i = 0; i < query->count; i++) {
        if (pawl__str_equal_nocase(query->fields[i].name, pawl__str(name)) && nth-- == 0)
            return query->fields[i].value;
    }
    return pawl__str_make(NULL, 0);
}
