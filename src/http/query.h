/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a query, or of a form as application/x-www-form-urlencoded: percent signs decoded,
 * '+' as a space, names that come several times kept in order.
 */
#ifndef PAWL_HTTP_QUERY_H
#define PAWL_HTTP_QUERY_H

#include "base/arena.h"
#include "base/str.h"

#define PAWL_QUERY_FIELDS_MAX 1000

struct pawl_query_field {
    struct pawl_str name, value; /* UTF-8 without NUL */
};

struct pawl_query {
    struct pawl_query_field *fields;
    size_t count;
};

/*
 * Copies what it needs into the arena. PAWL_EPARSE: a percent sign without two digits, or bytes
 * that are not UTF-8 or NUL. PAWL_ELIMIT: too many fields. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__query_parse(struct pawl_str text, struct pawl_arena *arena,
                                      struct pawl_query *out);

/* The nth value of that name, without case, counted from 0; ptr is NULL when there is none. */
struct pawl_str pawl__query_nth(const struct pawl_query *query, const char *name, size_t nth);

static inline struct pawl_str pawl__query_value(const struct pawl_query *query, const char *name)
{
    return pawl__query_nth(query, name, 0);
}

/* Percent signs and two digits to bytes; `plus`: '+' to a space. As pawl__query_parse(). */
PAWL_MUST_CHECK int pawl__percent_decode(struct pawl_arena *arena, struct pawl_str text, bool plus,
                                         struct pawl_str *out);

#endif
