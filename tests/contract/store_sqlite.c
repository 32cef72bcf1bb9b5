/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract, kept by the SQLite store, on a file of its own per test. */
#include "contract/store.h"
#include "drivers/sqlite.h"
#include "lib/test.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct file {
    char folder[64];
    char path[96];
};

static void destroy(void *ctx, void *database)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    struct file *file = database;
    char name[128];

    (void)ctx;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        (void)snprintf(name, sizeof name, "%s%s", file->path, suffixes[i]);
        (void)unlink(name);
    }
    (void)rmdir(file->folder);
    free(file);
}

static int open_file(void *ctx, void *database, struct pawl_env *env, struct pawl_store **out,
                     struct pawl_error *err)
{
    const struct file *file = database;
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};

    (void)ctx;
    return pawl__sqlite_store_open(env, pawl__str(file->path), &options, out, err);
}

static int create(void *ctx, struct pawl_env *env, void **database, struct pawl_error *err)
{
    struct file *file = calloc(1, sizeof *file);

    (void)ctx;
    (void)env;
    (void)err;
    if (!file)
        return PAWL_ENOMEM;
    /* What a disk does is not the contract's: tests/power looks at that. */
    (void)snprintf(file->folder, sizeof file->folder, "%s/pawl-contract-XXXXXX",
                   test_fast_folder());
    if (!mkdtemp(file->folder)) {
        free(file);
        return PAWL_EIO;
    }
    (void)snprintf(file->path, sizeof file->path, "%s/pawl.db", file->folder);
    *database = file;
    return PAWL_OK;
}

/* SQLite takes any text: it refuses what a trigger refuses. */
static int arm_poison(void *ctx, void *database, struct pawl_env *env, struct pawl_error *err)
{
    const struct file *file = database;
    struct pawl_sqlite *db;
    int status = pawl__sqlite_open(env, file->path, 0, &db, err);

    (void)ctx;
    if (status != PAWL_OK)
        return status;
    status = pawl__sqlite_run(db,
                              "CREATE TRIGGER refuse BEFORE INSERT ON pawl_reservations "
                              "WHEN NEW.value = 'poison' "
                              "BEGIN SELECT RAISE(ABORT, 'poison'); END",
                              err);
    pawl__sqlite_close(db);
    return status;
}

int main(void)
{
    static const struct contract_backend backend = {.name = "sqlite",
                                                    .create = create,
                                                    .open = open_file,
                                                    .destroy = destroy,
                                                    .durable = true,
                                                    .poison = PAWL_STR_LIT("poison"),
                                                    .arm_poison = arm_poison};

    return contract_store_run(&backend);
}
