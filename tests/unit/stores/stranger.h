/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of somebody else, on a connection of his own. */
#ifndef PAWL_TESTS_UNIT_STORES_STRANGER_H
#define PAWL_TESTS_UNIT_STORES_STRANGER_H

#include "drivers/libpq.h"
#include "lib/test.h"

static inline void run_as_stranger(struct pawl_env *env, struct pawl_pq_conn *conn,
                                   const char *text)
{
    const struct pawl_socket_wait wait = {env, NULL,
                                          pawl_env_monotonic_ns(env) + INT64_C(60000000000)};
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl__pq_begin(conn, &err), &err);
    assert_ok(pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, text, NULL, 0, &err), &err);
    assert_ok(pawl__pq_sync(conn, &err), &err);
    assert_ok(pawl__pq_run(conn, false, &wait, &err), &err);
    assert_ok(pawl__pq_status(conn, 0, &err), &err);
}

#endif
