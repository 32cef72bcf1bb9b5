/* SPDX-License-Identifier: Apache-2.0 */
/* Visits of the SQLite store beside a writer: they go by a connection of their own. */
#include "base/arena.h"
#include "lib/test.h"
#include "os/shifted_env.h"
#include "stores/sqlite_private.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void add_waiting(struct pawl_store *store, struct pawl_error *err, int64_t now_us)
{
    struct pawl_str none = pawl__str("");
    struct pawl_instance_row row = {.id = pawl__str("i"),
                                    .status = pawl__str("Running"),
                                    .sub_status = pawl__str("Suspended"),
                                    .owner = 7,
                                    .created_us = now_us,
                                    .definition_id = pawl__str("d"),
                                    .version_id = pawl__str("d:1"),
                                    .parent_id = none,
                                    .correlation_id = none,
                                    .name = none,
                                    .state = pawl__str("s"),
                                    .counts = none,
                                    .trouble = none};
    struct pawl_bookmark_row bookmark = {.id = pawl__str("b"),
                                         .instance_id = row.id,
                                         .name = none,
                                         .hash = pawl__str("h"),
                                         .activity_id = none,
                                         .activity_instance_id = none,
                                         .correlation_id = none,
                                         .payload = none,
                                         .metadata = none};
    struct pawl_work_row mail = {.id = pawl__str("m"),
                                 .kind = pawl__str("resume"),
                                 .instance_id = row.id,
                                 .hash = none,
                                 .name = none,
                                 .correlation_id = none,
                                 .activity_instance_id = none,
                                 .bookmark_id = none,
                                 .definition_id = none,
                                 .payload = none,
                                 .error = none,
                                 .created_us = now_us,
                                 .due_us = now_us + 1800 * INT64_C(1000000),
                                 .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change changes[] = {
        {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &mail},
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE,
                                 .flags = PAWL_COMMIT_RELEASE,
                                 .instance = &row,
                                 .changes = changes,
                                 .change_count = 2},
                       *list = &commit;

    assert_ok(pawl_store_apply(store, &list, 1, PAWL_FOREVER, err), err);
    assert_ok(commit.status, &commit.error);
}

/* What was due before the clock was set back is moved by the next one who writes. Until then nobody
 * passes over it. */
static void a_visit_beside_a_writer_knows_that_the_clock_was_set_back(void **state)
{
    char folder[] = "/tmp/pawl-test-XXXXXX", path[64], command[64];
    struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_claim visit = {.id = pawl__str("i"), .hash = pawl__str("h"), .visits = true};
    struct pawl_sqlite_session writing;
    struct pawl_store_status seen;
    struct pawl_error error = PAWL_ERROR_INIT, *err = &error;
    struct pawl_shifted_env env;
    struct pawl_env *real;
    struct pawl_arena arena;
    struct pawl_store *store;
    int64_t now_us;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/pawl.db", folder);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_ok(pawl_system_env_open(&real, err), err);
    pawl__arena_init(&arena, &real->alloc, (size_t)1 << 20);
    pawl__shifted_env_init(&env, real);
    assert_ok(pawl__sqlite_store_open(&env.base, pawl__str(path), &options, &store, err), err);
    assert_ok(pawl_store_status(store, &seen, PAWL_FOREVER, err), err);
    add_waiting(store, err, seen.now_us);
    assert_ok(pawl__sqlite_session_write((struct pawl_sqlite_store *)store, false, PAWL_FOREVER,
                                         &writing, err),
              err);
    /* While somebody writes it goes by another connection. */
    assert_ok(pawl_store_claim(store, 7, &visit, 1, &arena, &now_us, PAWL_FOREVER, err), err);
    assert_int_equal(visit.status, PAWL_OK);
    env.monotonic_shift_ns = 3600 * INT64_C(1000000000);
    assert_ok(pawl_store_claim(store, 7, &visit, 1, &arena, &now_us, PAWL_FOREVER, err), err);
    assert_code(visit.status, PAWL_EBUSY);
    pawl__sqlite_session_end(&writing);
    pawl_store_close(store);
    pawl__arena_release(&arena);
    pawl_system_env_close(real);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_visit_beside_a_writer_knows_that_the_clock_was_set_back),
    };

    return cmocka_run_group_tests_name("stores/sqlite_visits", tests, NULL, NULL);
}
