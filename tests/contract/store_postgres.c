/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract, kept by the PostgreSQL store on a private server. */
#include "contract/store.h"
#include "servers/postgres.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>

struct context {
    struct test_postgres server;
    unsigned schemas; /* made so far */
};

/* A schema is a database of its own as far as tables go, and is made in no time. */
struct database {
    unsigned number;
};

static int create(void *ctx, struct pawl_env *env, void **database, struct pawl_error *err)
{
    struct context *context = ctx;
    struct database *made = malloc(sizeof *made);
    char sql[64];

    (void)env;
    (void)err;
    if (!made)
        return PAWL_ENOMEM;
    if (context->server.daemon.pid == 0) {
        test_postgres_start(&context->server, NULL);
        /* What a server does with its disk is not the contract's: tests/power looks at that. */
        test_postgres_sql(&context->server, "ALTER SYSTEM SET fsync = off");
        test_postgres_sql(&context->server, "SELECT pg_reload_conf()");
    }
    made->number = context->schemas++;
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA t%u", made->number);
    test_postgres_sql(&context->server, sql);
    *database = made;
    return PAWL_OK;
}

static int open(void *ctx, void *database, struct pawl_env *env, struct pawl_store **out,
                struct pawl_error *err)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct context *context = ctx;
    char uri[256], full[320];

    (void)test_postgres_uri(&context->server, "postgres", uri, sizeof uri);
    (void)snprintf(full, sizeof full, "%s?options=-csearch_path%%3Dt%u", uri,
                   ((struct database *)database)->number);
    return pawl__postgres_store_open(env, pawl__str(full), &options, out, err);
}

static void destroy(void *ctx, void *database)
{
    struct context *context = ctx;
    char sql[64];

    (void)snprintf(sql, sizeof sql, "DROP SCHEMA t%u CASCADE",
                   ((struct database *)database)->number);
    test_postgres_sql(&context->server, sql);
    free(database);
}

int main(void)
{
    struct context context = {.schemas = 0};
    const struct contract_backend backend = {
        .name = "postgres",
        .ctx = &context,
        .create = create,
        .open = open,
        .destroy = destroy,
        .durable = true,
        .poison = {"\xFF", 1}, /* no UTF-8, and the server minds */
    };
    int failures = contract_store_run(&backend);

    test_postgres_stop(&context.server);
    return failures;
}
