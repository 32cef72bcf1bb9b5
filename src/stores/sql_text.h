/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the text of one statement from a template. For what speaks SQL: sql*.c and postgres*.c.
 *
 * A template is SQL with these in braces:
 *     {now} {never}                 the clock; the largest time
 *     {tenant}                      the row is this tenant's, which never chooses an index of
 *                                   PostgreSQL (sql_schema.c)
 *     {is}                          equals, which never chooses an index of PostgreSQL
 *     {id} {text} {first} {owner} {value} {limit} {from} {to} {only} {kinds}
 *     {member}
 *                                   parameters from struct pawl_sql_inputs
 *     {.column}                     a parameter from the row
 *     {table}                       the table's name
 *     {columns}                     the columns that the statement returns
 *     {all} {values}                all columns; a parameter for each, from the row
 *     {created} {advanced}          of instances: what CREATE inserts, what ADVANCE sets
 *     {key} {keyed}                 the key's columns; each equal to the row's
 *     {replaced}                    of PUT: what is not the key becomes what was to be inserted
 *     {rows}                        FROM the rows of arrays (PostgreSQL): all parameters are
 *                                   columns of these, as is v.member, which a row belongs to
 *     {each}                        the same; parameters behind it are the arrays themselves
 *     {any column} {any key}        with {rows}: the column, or the first one of the key, is in
 *                                   the array
 *     {members} {listed}            the array of members; one more parameter
 */
#ifndef PAWL_STORES_SQL_TEXT_H
#define PAWL_STORES_SQL_TEXT_H

#include "base/buf.h"
#include "stores/sql.h"

#define PAWL_SQL_COLUMNS_ALL UINT64_MAX
/* All but bytes, which may be large: those of PAWL_QUERY_BRIEF. No table has so many columns. */
#define PAWL_SQL_COLUMNS_BRIEF (UINT64_C(1) << 63)
/* A statement's text at the most. */
#define PAWL_SQL_TEXT_MAX ((size_t)64 << 10)
/* The definitions of a take as text: far above what names have. */
#define PAWL_SQL_LIST_MAX ((size_t)64 << 20)

/* Expands `format` for a table into `out`, which lives in the arena, by way of `buf`. `columns` may
 * be PAWL_SQL_COLUMNS_ALL or _BRIEF. A NULL format makes a statement without text. */
PAWL_MUST_CHECK int pawl__sql_expand(enum pawl_sql_dialect dialect, const char *format,
                                     enum pawl_table table, uint64_t columns, struct pawl_buf *buf,
                                     struct pawl_arena *arena, struct pawl_sql_statement *out);

/* The templates of the named statements (sql_statements.c). */
struct pawl_sql_template {
    enum pawl_table table;
    uint64_t columns; /* 0: returns no row of the table */
    const char *sqlite;
    const char *postgres;
};
const struct pawl_sql_template *pawl__sql_template(enum pawl_sql_name name);

/* The statements of version 1 (sql_schema_1.c). */
const char *const *pawl__sql_first_schema(enum pawl_sql_dialect dialect, size_t *count);

/* NULs as U+FFFD; the same string when there is none. ptr is NULL when the arena is full. */
struct pawl_str pawl__sql_clean(struct pawl_str text, struct pawl_arena *arena);

/* Neither may an index be chosen by. */
#define PAWL_SQL_IS_POSTGRES "IS NOT DISTINCT FROM"
#define PAWL_SQL_TENANT_POSTGRES "tenant_id " PAWL_SQL_IS_POSTGRES " ''"
#define PAWL_SQL_TENANT_SQLITE "tenant_id = ''"
#define PAWL_SQL_NEVER "9223372036854775807"
/* In PostgreSQL: the members of the batch that have held, by their numbers, as "0,2,3". */
#define PAWL_SQL_MEMBERS "coalesce(nullif(current_setting('pawl.held', true), ''), '0')"
/* In a statement for many members: `member` is among them. The subquery is evaluated once. */
#define PAWL_SQL_IS_HELD(member)                                                                   \
    member " = ANY ((SELECT string_to_array(" PAWL_SQL_MEMBERS ", ',')::bigint[])::bigint[])"
/* In PostgreSQL: all guards of the member so far have held. */
#define PAWL_SQL_OK "current_setting('pawl.ok', true) = '1'"
/* In a guard itself, which may be the first. */
#define PAWL_SQL_HELD "({first} = 1 OR " PAWL_SQL_OK ")"
#define PAWL_SQL_GUARD(condition)                                                                  \
    "SELECT set_config('pawl.ok', CASE WHEN " PAWL_SQL_HELD " AND " condition                      \
    " THEN '1' ELSE '0' END, true)"

#endif
