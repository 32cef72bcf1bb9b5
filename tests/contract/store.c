/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests of the store's contract for one backend: fixture, lists, runner. */
#include "contract/suite.h"

#include <stdio.h>
#include <stdlib.h>

#define TESTS_MAX 200
#define ARENA_BYTES_MAX ((size_t)512 << 20)

static const struct contract_test *const lists[] = {
    contract_commits, contract_random, contract_changes, contract_claims,
    contract_visits,  contract_takes,  contract_queries, contract_lists,
    contract_nodes,   contract_whole,  contract_tables,
};

struct one {
    const struct contract_backend *backend;
    void (*run)(struct contract *t);
};

static void set_up(struct contract *t, const struct contract_backend *backend)
{
    memset(t, 0, sizeof *t);
    t->backend = backend;
    assert_ok(pawl_system_env_open(&t->env, &t->err), &t->err);
    pawl__arena_init(&t->arena, &t->env->alloc, ARENA_BYTES_MAX);
    assert_ok(backend->create(backend->ctx, t->env, &t->database, &t->err), &t->err);
    assert_ok(backend->open(backend->ctx, t->database, t->env, &t->a, &t->err), &t->err);
    assert_ok(backend->open(backend->ctx, t->database, t->env, &t->b, &t->err), &t->err);
    t->node_a = join(t, t->a, "node-a", HOUR_US);
    t->node_b = join(t, t->b, "node-b", HOUR_US);
}

static void tear_down(struct contract *t)
{
    pawl_store_close(t->a);
    pawl_store_close(t->b);
    t->backend->destroy(t->backend->ctx, t->database);
    pawl__arena_release(&t->arena);
    pawl_system_env_close(t->env);
}

static void run_one(void **state)
{
    const struct one *one = *state;
    struct contract t;

    set_up(&t, one->backend);
    one->run(&t);
    tear_down(&t);
}

static bool has_need(const struct contract_backend *backend, enum contract_need need)
{
    return need == CONTRACT_NEEDS_NOTHING || (need == CONTRACT_NEEDS_DURABLE && backend->durable) ||
           (need == CONTRACT_NEEDS_POISON && backend->poison.len > 0);
}

int contract_store_run(const struct contract_backend *backend)
{
    static struct CMUnitTest tests[TESTS_MAX];
    static struct one ones[TESTS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const struct contract_test *test = lists[i]; test->name; test++) {
            if (!has_need(backend, test->need))
                continue;
            PAWL_ASSERT(count < TESTS_MAX);
            ones[count] = (struct one){.backend = backend, .run = test->run};
            tests[count] = (struct CMUnitTest){
                .name = test->name, .test_func = run_one, .initial_state = &ones[count]};
            count++;
        }
    }
    cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER")); /* NULL: all */
    return _cmocka_run_group_tests(backend->name, tests, count, NULL, NULL);
}
