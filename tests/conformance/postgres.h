/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PostgreSQL that cases are kept in: one server, one schema whose tables are emptied before
 * each case, and a clock that stands where the case's stands. The store reads the server's clock by
 * clock_timestamp(); a function of that name in the schema, found before the server's own, answers
 * what the case says.
 */
#ifndef PAWL_TESTS_CONFORMANCE_POSTGRES_H
#define PAWL_TESTS_CONFORMANCE_POSTGRES_H

#include "drivers/libpq.h"
#include "servers/postgres.h"

struct case_postgres {
    struct test_postgres server; /* unused: the caller has one */
    struct pawl_env *env;
    struct pawl_pq *pq;
    struct pawl_pq_conn *conn;
    char base_uri[256];
    char uri[384]; /* with the schema, for stores */
    bool has_schema;
    bool has_tables; /* a store was opened */
};

/* `uri` "": starts a server of its own. */
PAWL_MUST_CHECK int case_postgres_open(struct case_postgres *postgres, const char *uri,
                                       const struct pawl_allocator *alloc, struct pawl_error *err);
/* Removes the schema, ends the server if it is its own. */
void case_postgres_close(struct case_postgres *postgres);

/* Empties the tables. */
PAWL_MUST_CHECK int case_postgres_clear(struct case_postgres *postgres, struct pawl_error *err);
/* What time it is for the store. */
PAWL_MUST_CHECK int case_postgres_tell(struct case_postgres *postgres, int64_t now_us,
                                       struct pawl_error *err);

#endif
