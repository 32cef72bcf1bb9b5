/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL store when its own process has no memory left. */
#include "base/arena.h"
#include "lib/test.h"
#include "servers/postgres.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMBERS 4
/* More allocations than a commit makes. */
#define ROUNDS_MAX 300

struct fixture {
    struct test_postgres server;
    struct pawl_env *env;
    struct pawl_arena arena;
    struct pawl_error err;
    char uri[256];
};

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + INT64_C(60000000000);
}

static int try_open(struct fixture *f, struct pawl_store **out)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};

    return pawl__postgres_store_open(f->env, pawl__str(f->uri), &options, out, &f->err);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pawl_store *store = NULL;

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, NULL);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    (void)test_postgres_uri(&f->server, "postgres", f->uri, sizeof f->uri);
    assert_ok(try_open(f, &store), &f->err); /* makes the tables */
    pawl_store_close(store);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

static int use_a_little(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_allocator saved = f->env->alloc;
    struct pawl_store *store = NULL;
    struct pawl_arena arena;
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES};
    const struct pawl_take take = {.owner = 1, .limit = 5};
    struct pawl_instance_row row = {.id = pawl__str("sweep")};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};
    struct pawl_commit *const list[] = {&commit};
    struct pawl_claim claim = {.id = row.id};
    struct pawl_taken taken;
    struct pawl_rows rows;
    int64_t now_us;
    int status;

    f->env->alloc = alloc->base;
    pawl__arena_init(&arena, &alloc->base, (size_t)1 << 20);
    status = try_open(f, &store);
    if (status == PAWL_OK)
        status = pawl_store_apply(store, list, 1, soon(f), &f->err);
    if (status == PAWL_OK)
        status = pawl_store_claim(store, 1, &claim, 1, &arena, &now_us, soon(f), &f->err);
    if (status == PAWL_OK)
        status = pawl_store_take(store, &take, &arena, &taken, soon(f), &f->err);
    if (status == PAWL_OK)
        status = pawl_store_find(store, &query, &arena, &rows, soon(f), &f->err);
    pawl_store_close(store);
    pawl__arena_release(&arena);
    f->env->alloc = saved;
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    test_sweep_allocations(use_a_little, *state, 2000);
}

/* ---- what a commit without memory says ----------------------------------------------------- */

/* New instances that wait, so that more is sent behind their transaction. */
struct batch {
    struct pawl_instance_row rows[MEMBERS];
    struct pawl_bookmark_row bookmarks[MEMBERS];
    struct pawl_journal_row journals[MEMBERS];
    struct pawl_change changes[MEMBERS][2];
    struct pawl_commit commits[MEMBERS];
    struct pawl_commit *list[MEMBERS];
};

static struct batch *make_batch(struct fixture *f, const char *prefix, size_t round)
{
    struct batch *b = pawl__arena_alloc_zeroed(&f->arena, sizeof *b);

    assert_non_null(b);
    for (int i = 0; i < MEMBERS; i++) {
        struct pawl_str id =
            pawl__str(pawl__arena_printf(&f->arena, "%s-%zu-%d", prefix, round, i));

        b->rows[i] = (struct pawl_instance_row){.id = id, .state = pawl__str("{}")};
        b->journals[i] = (struct pawl_journal_row){.instance_id = id, .data = pawl__str("x")};
        b->bookmarks[i] =
            (struct pawl_bookmark_row){.id = id, .instance_id = id, .hash = pawl__str("h")};
        b->changes[i][0] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_JOURNAL, &b->journals[i]};
        b->changes[i][1] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &b->bookmarks[i]};
        b->commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                             .flags = PAWL_COMMIT_RELEASE,
                                             .instance = &b->rows[i],
                                             .changes = b->changes[i],
                                             .change_count = 2};
        b->list[i] = &b->commits[i];
    }
    return b;
}

/* What the member 1 of a batch has. */
enum trouble {
    NO_TROUBLE,
    TWICE, /* the same row twice: the transaction fails, each member is sent by itself */
    BUSY,  /* the database refuses it for now: it is sent a third time */
};

static bool is_told(const struct batch *b, enum trouble trouble)
{
    return trouble != BUSY || b->commits[1].status == PAWL_EBUSY;
}

static void assert_others_ok(const struct batch *b, size_t count, enum trouble trouble)
{
    for (size_t i = 0; i < count; i++)
        if (trouble == NO_TROUBLE || i != 1)
            assert_ok(b->commits[i].status, &b->commits[i].error);
}

/*
 * Refuses each allocation of a commit in turn. Whoever was told that nothing happened sends it
 * again, and that must not find what was stored. Ends with the first that lacks nothing.
 */
static void sweep(struct fixture *f, const char *prefix, size_t count, enum trouble trouble,
                  size_t *unknown_count)
{
    struct pawl_allocator saved = f->env->alloc;
    struct test_allocator alloc;
    bool is_over = false;
    int status;

    *unknown_count = 0;
    test_allocator_init(&alloc);
    for (size_t round = 1; !is_over; round++) {
        struct batch *b = make_batch(f, prefix, round);
        struct pawl_store *store = NULL;

        assert_true(round < ROUNDS_MAX);
        if (trouble == TWICE)
            b->changes[1][1] = b->changes[1][0];
        f->env->alloc = alloc.base;
        assert_ok(try_open(f, &store), &f->err);
        test_allocator_fail(&alloc, round, 1);
        status = pawl_store_apply(store, b->list, count, soon(f), &f->err);
        test_allocator_fail(&alloc, 0, 0);
        *unknown_count += status == PAWL_EUNKNOWN;
        is_over = status == PAWL_OK && is_told(b, trouble);
        if (status == PAWL_OK) {
            assert_others_ok(b, count, trouble);
        } else if (status != PAWL_EUNKNOWN) {
            assert_code(status, PAWL_ENOMEM);
            assert_ok(pawl_store_apply(store, b->list, count, soon(f), &f->err), &f->err);
            assert_others_ok(b, count, trouble);
        }
        pawl_store_close(store);
        f->env->alloc = saved;
    }
    assert_int_equal(alloc.live_count, 0);
}

static void a_commit_that_may_be_stored_is_not_said_to_have_failed(void **state)
{
    size_t unknown_count;

    sweep(*state, "one", 1, NO_TROUBLE, &unknown_count);
    assert_true(unknown_count > 0);
}

static void a_batch_that_may_be_stored_is_not_said_to_have_failed(void **state)
{
    size_t unknown_count;

    sweep(*state, "many", MEMBERS, NO_TROUBLE, &unknown_count);
    assert_true(unknown_count > 0);
}

static void members_that_may_be_stored_are_not_said_to_have_failed(void **state)
{
    size_t unknown_count;

    sweep(*state, "apart", MEMBERS, TWICE, &unknown_count);
    assert_true(unknown_count > 0);
}

/* One of them is sent once more: that must not become the answer of the others. */
static void members_that_are_stored_are_not_said_to_have_failed_with_another(void **state)
{
    struct fixture *f = *state;
    size_t unknown_count;

    test_postgres_sql(
        &f->server,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id LIKE "
        "'busy-%-1' THEN RAISE EXCEPTION 'not now' USING ERRCODE = '55P03'; END IF; RETURN NEW; "
        "END $$; CREATE TRIGGER refuse BEFORE INSERT ON pawl_instances FOR EACH ROW EXECUTE "
        "FUNCTION refuse()");
    sweep(f, "busy", MEMBERS, BUSY, &unknown_count);
    assert_true(unknown_count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(a_commit_that_may_be_stored_is_not_said_to_have_failed),
        cmocka_unit_test(a_batch_that_may_be_stored_is_not_said_to_have_failed),
        cmocka_unit_test(members_that_may_be_stored_are_not_said_to_have_failed),
        cmocka_unit_test(members_that_are_stored_are_not_said_to_have_failed_with_another),
    };

    return cmocka_run_group_tests_name("stores/postgres_memory", tests, set_up, tear_down);
}
