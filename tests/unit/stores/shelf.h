/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory store for tests of what is put around stores: in an environment of the baton (outside of
 * a run nothing waits), over an allocator that notices leaks.
 */
#ifndef PAWL_TESTS_UNIT_STORES_SHELF_H
#define PAWL_TESTS_UNIT_STORES_SHELF_H

#include "base/arena.h"
#include "lib/test.h"
#include "os/baton.h"
#include "stores/stores.h"

struct shelf {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env;
    struct pawl_memory_database *database;
    struct pawl_store *store; /* what the test has made of the memory store */
    struct pawl_store *plain; /* another handle, without anything around it */
    struct pawl_arena arena;
    struct pawl_error err;
};

static inline void shelf_open(struct shelf *shelf)
{
    *shelf = (struct shelf){0};
    test_allocator_init(&shelf->alloc);
    assert_ok(pawl__baton_new(&shelf->alloc.base, 1, NULL, &shelf->baton), NULL);
    assert_ok(pawl__baton_env(shelf->baton, "node", &shelf->env), NULL);
    assert_ok(pawl__memory_database_new(shelf->env, &shelf->database, &shelf->err), &shelf->err);
    assert_ok(pawl__memory_store_open(shelf->database, shelf->env, &shelf->store, &shelf->err),
              &shelf->err);
    assert_ok(pawl__memory_store_open(shelf->database, shelf->env, &shelf->plain, &shelf->err),
              &shelf->err);
    pawl__arena_init(&shelf->arena, &shelf->alloc.base, (size_t)1 << 20);
}

static inline void shelf_close(struct shelf *shelf)
{
    pawl_store_close(shelf->store);
    pawl_store_close(shelf->plain);
    pawl__memory_database_free(shelf->database);
    pawl__arena_release(&shelf->arena);
    pawl__baton_free(shelf->baton);
    assert_int_equal(shelf->alloc.live_count, 0);
}

static inline struct pawl_instance_row shelf_instance(const char *id)
{
    return (struct pawl_instance_row){.id = pawl__str(id),
                                      .definition_id = pawl__str("definition"),
                                      .status = pawl__str("Running"),
                                      .created_us = 1,
                                      .state = pawl__str("{}")};
}

/* The answer of apply(); the commit's own is in it. */
static inline int shelf_apply(struct pawl_store *store, struct pawl_commit *commit,
                              struct pawl_error *err)
{
    struct pawl_commit *commits[] = {commit};

    return pawl_store_apply(store, commits, 1, PAWL_FOREVER, err);
}

static inline void shelf_create(struct shelf *shelf, const char *id)
{
    struct pawl_instance_row row = shelf_instance(id);
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

    assert_ok(shelf_apply(shelf->plain, &commit, &shelf->err), &shelf->err);
    assert_code(commit.status, PAWL_OK);
}

static inline int64_t shelf_join(struct shelf *shelf, const char *node)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str(node), .ttl_us = 10000000};

    assert_ok(pawl_store_lease(shelf->plain, &lease, PAWL_FOREVER, &shelf->err), &shelf->err);
    return lease.incarnation;
}

/* As it is stored; the id is "" when there is none. */
static inline struct pawl_instance_row shelf_read(struct shelf *shelf, const char *id)
{
    struct pawl_condition condition = {.compare = PAWL_EQ, .value = {.text = pawl__str(id)}};
    struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows = {0};

    assert_ok(
        pawl_store_find(shelf->plain, &query, &shelf->arena, &rows, PAWL_FOREVER, &shelf->err),
        &shelf->err);
    return rows.count > 0 ? *(const struct pawl_instance_row *)rows.rows
                          : (struct pawl_instance_row){.id = pawl__str("")};
}

#endif
