/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the files of this folder: how operations ask the store. A query is made, narrowed by
 * conditions, and asked once for a page, for all rows that one query returns, or for their number.
 *
 *     struct op_query query;
 *
 *     op_query_init(&query, PAWL_TABLE_INSTANCES, "created_us", true);
 *     op_where_text(&query, "status", PAWL_EQ, pawl__str("Running"));
 *     status = op_find_page(op, &query, &request->page, &rows, &out->page);
 */
#ifndef PAWL_OPERATIONS_QUERY_H
#define PAWL_OPERATIONS_QUERY_H

#include "operations/operation.h"

#include <pawl/ext/store.h>

struct pawl_definitions;
struct pawl_runtime;

/* What a started host has; never NULL. */
struct pawl_env *op_env(const struct pawl_op *op);
struct pawl_store *op_store(const struct pawl_op *op);
struct pawl_runtime *op_runtime(const struct pawl_op *op);
struct pawl_definitions *op_definitions(const struct pawl_op *op);
/* The store's clock. */
PAWL_MUST_CHECK int op_now(const struct pawl_op *op, int64_t *now_us);

struct op_query {
    struct pawl_query query;
    /* The last one takes what is too much: then asking is PAWL_EINVAL. */
    struct pawl_condition conditions[PAWL_STORE_CONDITIONS_MAX + 1];
    uint32_t any; /* groups of alternatives so far */
    bool descending;
};

/* By this column (NULL: the key); columns of bytes are not read unless op_with_bytes() says so. */
void op_query_init(struct op_query *query, enum pawl_table table, const char *order,
                   bool descending);
void op_with_bytes(struct op_query *query);

/* Each narrows; the text and the values are borrowed until the query was asked. */
void op_where_text(struct op_query *query, const char *column, enum pawl_compare compare,
                   struct pawl_str text);
/* The same, unless the text is "": then any value will do. */
void op_where_given(struct op_query *query, const char *column, struct pawl_str text);
void op_where_int(struct op_query *query, const char *column, enum pawl_compare compare,
                  int64_t value);
/* Less than `from`, or `to` and more. */
void op_where_outside(struct op_query *query, const char *column, int64_t from, int64_t to);
/* One of these texts. None: nothing matches. PAWL_EINVAL: more than one query takes. */
PAWL_MUST_CHECK int op_where_in(const struct pawl_op *op, struct op_query *query,
                                const char *column, const struct pawl_str *texts, size_t count);
/* One of these columns, ended by NULL, has the text in it. */
void op_where_contains(struct op_query *query, const char *const *columns, struct pawl_str text);

PAWL_MUST_CHECK int op_find_page(const struct pawl_op *op, struct op_query *query,
                                 const struct pawl_page_request *request, struct pawl_rows *rows,
                                 struct pawl_page *page);
/* At most `limit` rows (0: as many as one query returns), without paging. */
PAWL_MUST_CHECK int op_find_all(const struct pawl_op *op, struct op_query *query, uint32_t limit,
                                struct pawl_rows *rows);
PAWL_MUST_CHECK int op_count(const struct pawl_op *op, struct op_query *query, uint64_t *count);

#endif
