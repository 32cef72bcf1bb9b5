/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract, kept by the memory store. */
#include "contract/store.h"
#include "stores/stores.h"

static int create(void *ctx, struct pawl_env *env, void **database, struct pawl_error *err)
{
    struct pawl_memory_database *made;
    int status = pawl__memory_database_new(env, &made, err);

    (void)ctx;
    if (status == PAWL_OK)
        *database = made;
    return status;
}

static int open(void *ctx, void *database, struct pawl_env *env, struct pawl_store **out,
                struct pawl_error *err)
{
    (void)ctx;
    return pawl__memory_store_open(database, env, out, err);
}

static void destroy(void *ctx, void *database)
{
    (void)ctx;
    pawl__memory_database_free(database);
}

int main(void)
{
    static const struct contract_backend backend = {
        .name = "memory", .create = create, .open = open, .destroy = destroy};

    return contract_store_run(&backend);
}
