/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on locks in a SQLite file. */
#include "contract/lock_suite.h"
#include "drivers/sqlite.h"

#include <stdio.h>
#include <stdlib.h>

static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_sqlite_statement *statement;
    struct pawl_sqlite *db;
    bool row;

    assert_ok(pawl__sqlite_open(env, ctx, 0, &db, &err), &err);
    pawl__sqlite_set_deadline(db, PAWL_FOREVER);
    assert_ok(pawl__sqlite_prepare(db, "DELETE FROM pawl_locks WHERE name = ?1", &statement, &err),
              &err);
    assert_ok(pawl__sqlite_bind_bytes(statement, 1, name, &err), &err);
    assert_ok(pawl__sqlite_step(statement, &row, &err), &err);
    pawl__sqlite_reset(statement);
    assert_int_equal(pawl__sqlite_changes(db), 1);
    pawl__sqlite_close(db);
}

int main(void)
{
    struct lock_contract contract = {
        .title = "locks in SQLite", .ttl_ms = 2000, .take_away = take_away, .workers = 32};
    char folder[] = "/tmp/pawl-contract-XXXXXX", command[64], path[64];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(path, sizeof path, "%s/locks.db", folder);
    (void)snprintf(contract.uri, sizeof contract.uri, "sqlite:%s", path);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri, "sqlite:/nowhere/locks.db");
    contract.ctx = path;
    failed = lock_contract_main(&contract);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : 1;
}
