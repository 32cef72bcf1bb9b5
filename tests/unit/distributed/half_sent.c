/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole node on PostgreSQL beside one that stands still with half of a batch sent and has rows of
 * its instances locked: the healthy one keeps its lease, starts and finishes other instances, and
 * takes over what the other had when that one's lease is over.
 */
#include "lib/proxy.h"
#include "runtime/node/pool.h"
#include "runtime/work/requests.h"
#include "servers/postgres.h"

#define HELD 4
#define OTHERS 12
#define LEASE_US INT64_C(2000000)
/* More than libpq sends at a time and the proxy lets through. */
#define STATE_BYTES ((size_t)200 << 10)
#define PASSED_BYTES ((size_t)48 << 10)

struct cluster {
    struct fixture f; /* of requests.h: node a is the healthy one */
    struct test_postgres server;
    struct test_proxy *proxy;
    struct pawl_store *slow;
    int64_t slow_node;
    struct pawl_pool *pool;
    char *state;
    struct pawl_claim claims[HELD];
    struct pawl_commit commits[HELD];
    struct pawl_commit *list[HELD];
    int applied;
};

static void open_healthy(struct cluster *c)
{
    const struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE};
    const struct pawl_runtime_options options = {
        .node_id = S("healthy"), .lease_us = LEASE_US, .hooks = {.line = on_line, .ctx = &c->f}};
    struct fixture *f = &c->f;
    char uri[160];

    (void)test_postgres_uri(&c->server, "postgres", uri, sizeof uri);
    assert_ok(pawl__postgres_store_open(f->env, pawl__str(uri), &create, &f->a.store, &f->err),
              &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &f->a.runtime, &f->err),
              &f->err);
}

static void open_slow(struct cluster *c)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = S("slow"), .ttl_us = LEASE_US, .info = S("{}")};
    struct fixture *f = &c->f;
    char uri[160];

    (void)snprintf(uri, sizeof uri, "postgres://" TEST_POSTGRES_USER "@127.0.0.1:%u/postgres",
                   (unsigned)test_proxy_port(c->proxy));
    assert_ok(pawl__postgres_store_open(f->env, pawl__str(uri), NULL, &c->slow, &f->err), &f->err);
    assert_ok(pawl_store_lease(c->slow, &lease, later(f), &f->err), &f->err);
    c->slow_node = lease.incarnation;
}

static int set_up_cluster(void **state)
{
    struct cluster *c = calloc(1, sizeof *c);

    assert_non_null(c);
    assert_ok(pawl_system_env_open(&c->f.env, &c->f.err), &c->f.err);
    fixture_open(&c->f);
    node_close(&c->f.a);
    test_postgres_start(&c->server, NULL);
    c->proxy = test_proxy_start(c->server.port);
    c->state = calloc(1, STATE_BYTES);
    assert_non_null(c->state);
    open_healthy(c);
    *state = c;
    return 0;
}

static int tear_down_cluster(void **state)
{
    struct cluster *c = *state;

    test_proxy_limit(c->proxy, SIZE_MAX);
    node_close(&c->f.a);
    pawl_store_close(c->slow);
    pawl__memory_database_free(c->f.database);
    pawl__engine_release(&c->f.engine);
    pawl__arena_release(&c->f.arena);
    pawl_system_env_close(c->f.env);
    test_proxy_stop(c->proxy);
    test_postgres_stop(&c->server);
    free(c->state);
    free(c);
    return 0;
}

static void start_as(struct fixture *f, const char *definition_id, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id),
                                    .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
}

static void apply_half(void *arg)
{
    struct cluster *c = arg;

    c->applied = pawl_store_apply(c->slow, c->list, HELD,
                                  pawl_env_monotonic_ns(c->f.env) + 300 * SECOND, NULL);
}

/* The slow node claims them and stands still in the middle of its commit. */
static void hold_rows(struct cluster *c, struct pawl_thread **thread)
{
    struct fixture *f = &c->f;
    int64_t now_us;

    for (int i = 0; i < HELD; i++)
        c->claims[i].id = pawl__str(pawl__arena_printf(&f->arena, "held%d", i));
    assert_ok(pawl_store_claim(c->slow, c->slow_node, c->claims, HELD, &f->arena, &now_us, later(f),
                               &f->err),
              &f->err);
    for (int i = 0; i < HELD; i++) {
        assert_code(c->claims[i].status, PAWL_OK);
        c->claims[i].row.state = pawl__str_make(c->state, STATE_BYTES);
        c->commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                             .flags = PAWL_COMMIT_RELEASE | PAWL_COMMIT_UNASKED,
                                             .instance = &c->claims[i].row};
        c->list[i] = &c->commits[i];
    }
    test_proxy_limit(c->proxy, PASSED_BYTES);
    assert_ok(pawl_thread_start(f->env, "half", apply_half, c, thread, &f->err), &f->err);
    test_proxy_await_held(c->proxy);
}

static void await_finished(struct fixture *f, const char *id)
{
    int64_t until_ns = later(f);

    while (strcmp(sub_status(f, id), "Finished") != 0) {
        assert_true(pawl__runtime_may_go_on(f->a.runtime));
        assert_true(pawl_env_monotonic_ns(f->env) < until_ns);
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 50), NULL);
    }
}

static void a_node_that_stands_still_in_a_commit_holds_up_no_other(void **state)
{
    const struct pawl_pool_options options = {.workers = 4};
    struct cluster *c = *state;
    struct fixture *f = &c->f;
    struct pawl_thread *thread = NULL;

    publish(f, DEFINITION("held", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    publish(f, DEFINITION("other", RIG_WRITE("w", "other")));
    for (int i = 0; i < HELD; i++)
        start_as(f, "held", pawl__arena_printf(&f->arena, "held%d", i));
    open_slow(c);
    hold_rows(c, &thread);
    assert_ok(pawl__pool_open(f->env, f->a.runtime, &options, &c->pool, &f->err), &f->err);
    /* Mail for rows that are locked: every worker meets one. */
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, NULL, NULL, later(f),
                                       &f->err),
              &f->err);
    for (int i = 0; i < OTHERS; i++) {
        const char *id = pawl__arena_printf(&f->arena, "other%d", i);

        start_as(f, "other", id);
        await_finished(f, id);
    }
    for (int i = 0; i < HELD; i++)
        await_finished(f, pawl__arena_printf(&f->arena, "held%d", i));
    pawl__pool_close(c->pool);
    test_proxy_limit(c->proxy, SIZE_MAX);
    pawl_thread_join(f->env, thread);
    assert_true(c->applied != PAWL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_that_stands_still_in_a_commit_holds_up_no_other,
                                        set_up_cluster, tear_down_cluster),
    };

    return cmocka_run_group_tests_name("distributed/half_sent", tests, NULL, NULL);
}
