/* SPDX-License-Identifier: Apache-2.0 */
/* Locks in a SQLite file: what is particular to it. What all providers do is in tests/contract. */
#include "drivers/sqlite.h"
#include "lib/clock.h"
#include "lib/test.h"
#include "locks/providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    char folder[64], path[96];
    struct pawl_lock_provider *provider;
    struct pawl_sqlite *db;
    struct pawl_error err;
};

static int open_fixture(void **state)
{
    const struct pawl_lock_provider_options options = {.ttl_ms = 60000};
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-sqlite-locks-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/l.db", f->folder);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__sqlite_locks_open(f->env, pawl__str(f->path), &options, &f->provider, &f->err),
              &f->err);
    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &f->db, &f->err), &f->err);
    pawl__sqlite_set_deadline(f->db, PAWL_FOREVER);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;
    char command[128];

    pawl__sqlite_close(f->db);
    f->provider->ops->close(f->provider);
    pawl_system_env_close(f->env);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static int take(struct fixture *f, struct pawl_lock_grant *grant, uint32_t flags, int64_t within_ms)
{
    *grant = (struct pawl_lock_grant){.name = pawl__str("x"), .owner = "me_1_x", .flags = flags};
    return f->provider->ops->try_(f->provider, grant,
                                  pawl_env_monotonic_ns(f->env) + within_ms * 1000000, &f->err);
}

static void give(struct fixture *f, struct pawl_lock_grant *grant)
{
    assert_ok(f->provider->ops->release(f->provider, grant, PAWL_FOREVER, &f->err), &f->err);
}

static void run(struct fixture *f, const char *text)
{
    assert_ok(pawl__sqlite_run(f->db, text, &f->err), &f->err);
}

/* Its clock says nothing here; the wall clock does. */
static void a_row_from_before_a_restart_ends_by_the_wall_clock(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant;

    run(f, "INSERT INTO pawl_locks VALUES (x'78', 'other', 'another start', 1, "
           "9223372036854775807, 1, 0)");
    assert_code(take(f, &grant, 0, 1000), PAWL_EBUSY);
    run(f, "UPDATE pawl_locks SET expires_ns = 9223372036854775807, expires_us = 1");
    assert_ok(take(f, &grant, 0, 1000), &f->err);
    give(f, &grant);
}

static void a_file_that_others_write_is_not_a_lock_that_others_hold(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant;

    run(f, "BEGIN IMMEDIATE");
    assert_code(take(f, &grant, 0, 20), PAWL_EUNAVAILABLE);
    assert_int_equal(f->err.code, PAWL_EUNAVAILABLE);
    pawl__sqlite_rollback(f->db);
    assert_ok(take(f, &grant, 0, 1000), &f->err);
    give(f, &grant);
}

static int64_t count_rows(struct fixture *f)
{
    struct pawl_sqlite_statement *statement;
    int64_t count;
    bool row;

    assert_ok(pawl__sqlite_prepare(f->db, "SELECT count(*) FROM pawl_locks", &statement, &f->err),
              &f->err);
    assert_ok(pawl__sqlite_step(statement, &row, &f->err), &f->err);
    count = pawl__sqlite_column_int(statement, 0);
    pawl__sqlite_reset(statement);
    return count;
}

static void a_row_stays_only_for_its_token(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant;
    uint64_t first;

    assert_ok(take(f, &grant, 0, 1000), &f->err);
    give(f, &grant);
    assert_int_equal(count_rows(f), 0);
    assert_ok(take(f, &grant, PAWL_LOCK_WANT_TOKEN, 1000), &f->err);
    first = grant.token;
    give(f, &grant);
    assert_int_equal(count_rows(f), 1);
    assert_ok(take(f, &grant, 0, 1000), &f->err);
    give(f, &grant);
    assert_ok(take(f, &grant, PAWL_LOCK_WANT_TOKEN, 1000), &f->err);
    assert_true(grant.token > first);
    give(f, &grant);
}

/* ---- memory ------------------------------------------------------------------------------ */

static int ignore(void *ctx, const struct pawl_lock_holder *holder)
{
    (void)ctx;
    (void)holder;
    return 0;
}

static int use(struct pawl_lock_provider *provider)
{
    struct pawl_lock_grant grant = {
        .name = pawl__str("x"), .owner = "me_1_x", .flags = PAWL_LOCK_WANT_TOKEN};
    const struct pawl_lock_provider_ops *ops = provider->ops;
    struct pawl_lock_status about;
    int status = ops->status(provider, &about, PAWL_FOREVER, NULL);
    int released;

    if (status == PAWL_OK)
        status = ops->try_(provider, &grant, PAWL_FOREVER, NULL);
    if (status != PAWL_OK)
        return status;
    status = ops->list(provider, 10, ignore, NULL, PAWL_FOREVER, NULL);
    released = ops->release(provider, &grant, PAWL_FOREVER, NULL);
    return status == PAWL_OK ? released : status;
}

struct kind {
    int (*open)(struct pawl_env *env, struct pawl_str path,
                const struct pawl_lock_provider_options *options, struct pawl_lock_provider **out,
                struct pawl_error *err);
    const char *folder;
    unsigned round;
};

static int live_with_little(struct test_allocator *alloc, void *arg)
{
    struct kind *kind = arg;
    struct pawl_lock_provider *provider;
    struct test_clock *clock;
    char path[128];
    int status = test_clock_open(&alloc->base, 0, &clock);

    if (status != PAWL_OK)
        return status;
    /* Of its own: what could not be given back in one round is not in the way of the next. */
    (void)snprintf(path, sizeof path, "%s/round-%u", kind->folder, kind->round++);
    status = kind->open(test_clock_env(clock), pawl__str(path), NULL, &provider, NULL);
    if (status == PAWL_OK) {
        status = use(provider);
        provider->ops->close(provider);
    }
    test_clock_close(clock);
    return status;
}

static void running_out_of_memory_is_an_error_like_any_other(void **state)
{
    struct fixture *f = *state;
    struct kind sqlite = {pawl__sqlite_locks_open, f->folder, 0};
    struct kind file = {pawl__file_locks_open, f->folder, 0};

    test_sweep_allocations(live_with_little, &sqlite, 200);
    file.round = 1000;
    test_sweep_allocations(live_with_little, &file, 200);
}

/* Somebody tidies up: the next one makes a new file, and the first must learn of it. */
static void a_file_that_is_removed_loses_what_is_held(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *other;
    struct pawl_lock_grant grant, *grants[] = {&grant};
    struct pawl_lock_grant theirs = {.name = pawl__str("x"), .owner = "other_2_y"};
    char command[128];

    assert_ok(take(f, &grant, 0, 1000), &f->err);
    assert_ok(f->provider->ops->renew(f->provider, grants, 1, PAWL_FOREVER, &f->err), &f->err);
    assert_code(grant.status, PAWL_OK);
    (void)snprintf(command, sizeof command, "rm -f '%s'*", f->path);
    assert_int_equal(system(command), 0);
    assert_ok(pawl__sqlite_locks_open(f->env, pawl__str(f->path), NULL, &other, &f->err), &f->err);
    assert_ok(other->ops->try_(other, &theirs, PAWL_FOREVER, &f->err), &f->err);
    assert_ok(f->provider->ops->renew(f->provider, grants, 1, PAWL_FOREVER, &f->err), &f->err);
    assert_code(grant.status, PAWL_ENOTFOUND);
    assert_code(f->provider->ops->release(f->provider, &grant, PAWL_FOREVER, &f->err),
                PAWL_ENOTFOUND);
    assert_code(take(f, &grant, 0, 1000), PAWL_EBUSY);
    assert_ok(other->ops->release(other, &theirs, PAWL_FOREVER, &f->err), &f->err);
    assert_ok(take(f, &grant, 0, 1000), &f->err);
    give(f, &grant);
    other->ops->close(other);
}

/* Each name would have a log of its own, and so its own holder of a lock. */
static void a_file_with_two_names_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *other = NULL;
    char path[128];

    (void)snprintf(path, sizeof path, "%s/other.db", f->folder);
    assert_int_equal(link(f->path, path), 0);
    assert_code(pawl__sqlite_locks_open(f->env, pawl__str(path), NULL, &other, &f->err),
                PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "2 names (hard links)"));
    assert_null(other);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_row_from_before_a_restart_ends_by_the_wall_clock),
        CASE(a_file_that_others_write_is_not_a_lock_that_others_hold),
        CASE(a_row_stays_only_for_its_token),
        CASE(a_file_that_is_removed_loses_what_is_held),
        CASE(a_file_with_two_names_is_refused),
        CASE(running_out_of_memory_is_an_error_like_any_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
