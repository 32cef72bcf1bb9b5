/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of <pawl/ext/store.h> as tests. Every store passes all of them, on its real server.
 *
 * A backend writes one small program: it fills a struct contract_backend and answers what
 * contract_store_run() answers. store_memory.c is the shortest of these.
 */
#ifndef PAWL_TESTS_CONTRACT_STORE_H
#define PAWL_TESTS_CONTRACT_STORE_H

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

#include <stdbool.h>
#include <stdint.h>

struct contract_backend {
    const char *name; /* in reports */
    void *ctx;

    /* A new database without any rows. Called once or twice per test. */
    int (*create)(void *ctx, struct pawl_env *env, void **database, struct pawl_error *err);
    /* One more connection to it, as another node would open it. */
    int (*open)(void *ctx, void *database, struct pawl_env *env, struct pawl_store **out,
                struct pawl_error *err);
    /* After all its stores were closed. */
    void (*destroy)(void *ctx, void *database);

    /* It is all still there after every store was closed: the test opens it again. */
    bool durable;
    /* The value of a reservation that makes the database itself refuse; "": there is none. */
    struct pawl_str poison;
    /* Has the database refuse that value; NULL: it does so by itself. */
    int (*arm_poison)(void *ctx, void *database, struct pawl_env *env, struct pawl_error *err);
};

/* Runs all tests; answers the number of failures, for main(). */
int contract_store_run(const struct contract_backend *backend);

#endif
