/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "unit/stores/shelf.h"

static void open_traced(struct shelf *shelf)
{
    shelf_open(shelf);
    assert_ok(pawl__trace_store_new(shelf->env, shelf->store, &shelf->store, &shelf->err),
              &shelf->err);
}

static struct pawl_store_counts counts_of(struct shelf *shelf)
{
    struct pawl_store_counts counts;

    pawl__trace_store_counts(shelf->store, &counts);
    return counts;
}

static void passes_capabilities_on_and_names_itself(void **state)
{
    struct shelf shelf;

    (void)state;
    open_traced(&shelf);
    assert_string_equal(shelf.store->name, "trace");
    assert_string_equal(shelf.store->inner->name, shelf.plain->name);
    assert_int_equal(shelf.store->caps, shelf.plain->caps);
    shelf_close(&shelf);
}

static void counts_calls_and_their_members(void **state)
{
    struct pawl_instance_row rows[] = {shelf_instance("a"), shelf_instance("b"),
                                       shelf_instance("a")};
    struct pawl_commit commits[3] = {0}, *all[3];
    struct pawl_claim claims[] = {{.id = pawl__str("a")}, {.id = pawl__str("nobody")}};
    struct pawl_store_counts counts;
    struct shelf shelf;
    int64_t now_us, owner;

    (void)state;
    open_traced(&shelf);
    owner = shelf_join(&shelf, "node");
    for (int i = 0; i < 3; i++) {
        commits[i] = (struct pawl_commit){
            .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &rows[i]};
        all[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(shelf.store, all, 2, PAWL_FOREVER, &shelf.err), &shelf.err);
    assert_ok(pawl_store_apply(shelf.store, &all[2], 1, PAWL_FOREVER, &shelf.err), &shelf.err);
    assert_code(commits[2].status, PAWL_EEXISTS);
    assert_ok(pawl_store_claim(shelf.store, owner, claims, 2, &shelf.arena, &now_us, PAWL_FOREVER,
                               &shelf.err),
              &shelf.err);
    counts = counts_of(&shelf);
    assert_int_equal(counts.calls[PAWL_STORE_CALL_APPLY], 2);
    assert_int_equal(counts.failures[PAWL_STORE_CALL_APPLY], 0);
    assert_int_equal(counts.commits, 2);
    assert_int_equal(counts.dropped, 1);
    assert_int_equal(counts.calls[PAWL_STORE_CALL_CLAIM], 1);
    assert_int_equal(counts.claims, 1);
    assert_int_equal(counts.rows, 1);
    assert_int_equal(counts.calls[PAWL_STORE_CALL_FIND], 0);
    assert_int_equal(counts.round_trips[PAWL_STORE_CALL_APPLY], 0);
    pawl__trace_store_reset(shelf.store);
    assert_int_equal(counts_of(&shelf).calls[PAWL_STORE_CALL_APPLY], 0);
    shelf_close(&shelf);
}

static void counts_failures(void **state)
{
    struct pawl_lease lease = {.kind = PAWL_LEASE_RENEW,
                               .node_id = pawl__str("stranger"),
                               .incarnation = 5,
                               .ttl_us = 1000};
    struct shelf shelf;

    (void)state;
    open_traced(&shelf);
    assert_true(pawl_store_lease(shelf.store, &lease, PAWL_FOREVER, NULL) != PAWL_OK);
    assert_int_equal(counts_of(&shelf).calls[PAWL_STORE_CALL_LEASE], 1);
    assert_int_equal(counts_of(&shelf).failures[PAWL_STORE_CALL_LEASE], 1);
    shelf_close(&shelf);
}

/* ---- round trips: a store that says that it has made some ---------------------------------- */

struct distant {
    struct pawl_store base;
    struct pawl_env *env;
    int64_t trips;
};

static struct distant *distant(struct pawl_store *store)
{
    return (struct distant *)(void *)store;
}

static void distant_close(struct pawl_store *store)
{
    struct pawl_env *env = distant(store)->env;

    pawl__free(&env->alloc, store, sizeof(struct distant));
}

static int distant_status(struct pawl_store *store, struct pawl_store_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    (void)deadline_ns;
    (void)err;
    *out = (struct pawl_store_status){.round_trips = ++distant(store)->trips};
    return PAWL_OK;
}

static int distant_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                         int64_t deadline_ns, struct pawl_error *err)
{
    (void)deadline_ns;
    (void)err;
    for (size_t i = 0; i < count; i++)
        commits[i]->status = PAWL_OK;
    distant(store)->trips += 3;
    return PAWL_OK;
}

static int distant_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                         struct pawl_error *err)
{
    (void)lease;
    (void)deadline_ns;
    (void)err;
    distant(store)->trips += 1;
    return PAWL_OK;
}

static int distant_find_many(struct pawl_store *store, const struct pawl_query *queries,
                             size_t count, struct pawl_arena *arena, struct pawl_rows *out,
                             int64_t deadline_ns, struct pawl_error *err)
{
    (void)queries;
    (void)arena;
    (void)deadline_ns;
    (void)err;
    for (size_t i = 0; i < count; i++)
        out[i] = (struct pawl_rows){.count = i + 1};
    distant(store)->trips += 1;
    return PAWL_OK;
}

static void counts_round_trips_without_its_own_questions(void **state)
{
    static const struct pawl_store_ops ops = {.version = PAWL_STORE_VERSION,
                                              .close = distant_close,
                                              .status = distant_status,
                                              .lease = distant_lease,
                                              .apply = distant_apply,
                                              .find_many = distant_find_many};
    const struct pawl_query queries[2] = {{.table = PAWL_TABLE_TRIGGERS},
                                          {.table = PAWL_TABLE_BOOKMARKS}};
    struct pawl_rows rows[2];
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN};
    struct pawl_store_status status;
    struct distant *inner;
    struct shelf shelf;

    (void)state;
    shelf_open(&shelf);
    pawl_store_close(shelf.store);
    inner = pawl__alloc_zeroed(&shelf.env->alloc, sizeof *inner);
    assert_non_null(inner);
    inner->base = (struct pawl_store){.ops = &ops, .name = "distant"};
    inner->env = shelf.env;
    assert_ok(pawl__trace_store_new(shelf.env, &inner->base, &shelf.store, &shelf.err), &shelf.err);
    for (int i = 0; i < 4; i++)
        assert_ok(shelf_apply(shelf.store, &commit, &shelf.err), &shelf.err);
    assert_ok(pawl_store_lease(shelf.store, &lease, PAWL_FOREVER, &shelf.err), &shelf.err);
    assert_ok(pawl_store_status(shelf.store, &status, PAWL_FOREVER, &shelf.err), &shelf.err);
    assert_int_equal(counts_of(&shelf).round_trips[PAWL_STORE_CALL_APPLY], 12);
    assert_int_equal(counts_of(&shelf).round_trips[PAWL_STORE_CALL_LEASE], 1);
    assert_int_equal(counts_of(&shelf).round_trips[PAWL_STORE_CALL_STATUS], 1);
    assert_ok(
        pawl_store_find_many(shelf.store, queries, 2, &shelf.arena, rows, PAWL_FOREVER, &shelf.err),
        &shelf.err);
    assert_int_equal(rows[1].count, 2);
    assert_int_equal(counts_of(&shelf).calls[PAWL_STORE_CALL_FIND], 1);
    assert_int_equal(counts_of(&shelf).round_trips[PAWL_STORE_CALL_FIND], 1);
    assert_int_equal(counts_of(&shelf).rows, 3);
    shelf_close(&shelf);
}

static void calls_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < PAWL_STORE_CALL_COUNT; i++)
        assert_true(strlen(pawl__store_call_name((enum pawl_store_call)i)) > 0);
    assert_string_equal(pawl__store_call_name(PAWL_STORE_CALL_APPLY), "apply");
}

static int make_and_close(struct test_allocator *alloc, void *arg)
{
    struct pawl_baton *baton = NULL;
    struct pawl_env *env = NULL;
    struct pawl_store *store = NULL, *traced = NULL;
    int status = pawl__baton_new(&alloc->base, 1, NULL, &baton);

    (void)arg;
    if (status == PAWL_OK)
        status = pawl__baton_env(baton, "node", &env);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(env, &store, NULL);
    if (status == PAWL_OK)
        status = pawl__trace_store_new(env, store, &traced, NULL);
    pawl_store_close(traced ? traced : store);
    pawl__baton_free(baton);
    return status;
}

static void without_memory_the_inner_store_stays_the_callers(void **state)
{
    (void)state;
    test_sweep_allocations(make_and_close, NULL, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_capabilities_on_and_names_itself),
        cmocka_unit_test(counts_calls_and_their_members),
        cmocka_unit_test(counts_failures),
        cmocka_unit_test(counts_round_trips_without_its_own_questions),
        cmocka_unit_test(calls_have_names),
        cmocka_unit_test(without_memory_the_inner_store_stays_the_callers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
