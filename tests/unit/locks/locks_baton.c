/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front end under the baton, with locks in memory: many seeds, nodes and threads; leases that
 * need renewing, and threads that stand still for longer than their lease.
 */
#include "lib/test.h"
#include "locks/locks.h"
#include "locks/providers.h"
#include "os/baton.h"

#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
#define NODES 3
#define THREADS 3
#define ROUNDS 4
#define NAMES 2

struct stage;

struct node {
    struct stage *stage;
    struct pawl_env *env;
    struct pawl_locks *locks;
    struct pawl_thread *main;
};

/* Who holds a name, as far as it knows; all under the baton, so plain memory will do. */
struct claim {
    struct pawl_locks *locks;
    struct pawl_lock lock;
    uint64_t token;
};

struct stage {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *world;
    struct pawl_lock_space *space;
    struct node nodes[NODES];
    int64_t ttl_ms;
    bool pauses;
    struct claim claims[NAMES][NODES * THREADS];
    uint64_t last_token[NAMES];
    size_t granted, lost, overlaps;
};

struct actor {
    struct node *node;
    size_t number;
    uint64_t random;
};

static void name_of(size_t i, char out[16])
{
    (void)snprintf(out, 16, "name-%zu", i);
}

static void work_under(struct actor *actor, size_t name, struct pawl_lock lock)
{
    struct stage *stage = actor->node->stage;
    struct pawl_locks *locks = actor->node->locks;
    uint64_t token = pawl__lock_token(locks, lock);
    int64_t until;

    stage->granted++;
    for (size_t i = 0; i < NODES * THREADS; i++) {
        const struct claim *other = &stage->claims[name][i];

        if (i != actor->number && other->locks && pawl__lock_valid(other->locks, other->lock) &&
            pawl__lock_valid(locks, lock))
            stage->overlaps++;
    }
    if (pawl__lock_valid(locks, lock)) {
        assert_true(token > stage->last_token[name]);
        stage->last_token[name] = token;
    }
    stage->claims[name][actor->number] = (struct claim){locks, lock, token};
    until = pawl_env_monotonic_ns(actor->node->env) +
            (int64_t)(test_random(&actor->random) % (uint64_t)(3000 * MS));
    assert_code(pawl_env_sleep_until(actor->node->env, until), PAWL_OK);
    stage->claims[name][actor->number].locks = NULL;
}

static void act(void *arg)
{
    struct actor *actor = arg;
    struct stage *stage = actor->node->stage;
    struct pawl_locks *locks = actor->node->locks;

    for (int round = 0; round < ROUNDS; round++) {
        size_t name = test_random(&actor->random) % NAMES;
        struct pawl_lock lock = {0};
        char text[16];
        int status;

        name_of(name, text);
        status = pawl__locks_acquire(locks, pawl__str(text), PAWL_LOCK_WANT_TOKEN, PAWL_FOREVER,
                                     NULL, &lock, NULL);
        if (stage->pauses && status == PAWL_EUNAVAILABLE)
            continue; /* it came too late to be of use */
        assert_code(status, PAWL_OK);
        work_under(actor, name, lock);
        status = pawl__locks_release(locks, lock, NULL);
        if (stage->pauses && status == PAWL_ENOTFOUND)
            stage->lost++;
        else
            assert_code(status, PAWL_OK);
        assert_int_equal(pawl__lock_state(locks, lock), PAWL_LOCK_GONE);
        assert_code(pawl__locks_release(locks, lock, NULL), PAWL_OK);
    }
}

static void run_node(void *arg)
{
    struct node *node = arg;
    struct stage *stage = node->stage;
    struct pawl_thread *threads[THREADS];
    struct pawl_lock_provider *provider;
    struct actor actors[THREADS];

    assert_code(pawl__memory_locks_open(stage->space, node->env, stage->ttl_ms, &provider, NULL),
                PAWL_OK);
    assert_code(pawl__locks_new(node->env, provider, NULL, &node->locks, NULL), PAWL_OK);
    for (size_t i = 0; i < THREADS; i++) {
        actors[i] = (struct actor){node, (size_t)(node - stage->nodes) * THREADS + i, 0};
        assert_code(pawl_env_entropy(node->env, &actors[i].random, sizeof actors[i].random, NULL),
                    PAWL_OK);
        assert_code(pawl_thread_start(node->env, "actor", act, &actors[i], &threads[i], NULL),
                    PAWL_OK);
    }
    for (size_t i = 0; i < THREADS; i++)
        pawl_thread_join(node->env, threads[i]);
    pawl__locks_free(node->locks);
}

static void run_seed(uint64_t seed, int64_t ttl_ms, bool pauses, size_t *lost)
{
    struct pawl_baton_options options = {.pause_ppm = pauses ? 2000 : 0, .pause_ns_max = 2500 * MS};
    struct stage *stage = calloc(1, sizeof *stage);
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_non_null(stage);
    test_allocator_init(&stage->alloc);
    stage->ttl_ms = ttl_ms;
    stage->pauses = pauses;
    assert_ok(pawl__baton_new(&stage->alloc.base, seed, &options, &stage->baton), NULL);
    assert_ok(pawl__baton_env(stage->baton, "space", &stage->world), NULL);
    assert_ok(pawl__lock_space_new(stage->world, &stage->space, &err), &err);
    for (size_t i = 0; i < NODES; i++) {
        struct node *node = &stage->nodes[i];
        char name[16];

        (void)snprintf(name, sizeof name, "node-%zu", i);
        node->stage = stage;
        assert_ok(pawl__baton_env(stage->baton, name, &node->env), NULL);
        assert_ok(pawl_thread_start(node->env, "main", run_node, node, &node->main, &err), &err);
    }
    if (pawl__baton_run(stage->baton, &err) != PAWL_OK)
        fail_msg("seed %llu: %s\n%.*s", (unsigned long long)seed, err.msg,
                 PAWL_STR_ARG(pawl__baton_report(stage->baton)));
    if (stage->overlaps)
        fail_msg("seed %llu: %zu overlaps", (unsigned long long)seed, stage->overlaps);
    if (!pauses)
        assert_int_equal(stage->granted, NODES * THREADS * ROUNDS);
    *lost += stage->lost;
    pawl__lock_space_free(stage->space);
    pawl__baton_free(stage->baton);
    assert_int_equal(stage->alloc.live_count, 0);
    free(stage);
}

static size_t seeds(void)
{
    const char *text = getenv("LOCK_SEEDS");

    return text ? strtoul(text, NULL, 10) : 150;
}

static void one_holder_at_a_time_and_nobody_waits_for_ever(void **state)
{
    size_t lost = 0;

    (void)state;
    for (size_t seed = 0; seed < seeds(); seed++)
        run_seed(seed, 0, false, &lost);
    assert_int_equal(lost, 0);
}

/* Work under a lock takes up to three times its lease. */
static void leases_are_renewed_in_time(void **state)
{
    size_t lost = 0;

    (void)state;
    for (size_t seed = 0; seed < seeds(); seed++)
        run_seed(seed, 1000, false, &lost);
    assert_int_equal(lost, 0);
}

static void a_holder_that_stood_still_too_long_knows_it(void **state)
{
    size_t lost = 0;

    (void)state;
    for (size_t seed = 0; seed < seeds(); seed++)
        run_seed(seed, 1000, true, &lost);
    print_message("# %zu locks were lost\n", lost);
    assert_true(lost > 0);
}

/* ---- first come first served ------------------------------------------------------------- */

#define QUEUE 8

struct line {
    struct test_allocator alloc;
    struct pawl_env *env;
    struct pawl_locks *locks;
    size_t served[QUEUE];
    size_t served_count;
};

struct customer {
    struct line *line;
    size_t number;
};

static void queue_up(void *arg)
{
    struct customer *customer = arg;
    struct line *line = customer->line;
    struct pawl_lock lock;
    int64_t start = PAWL_BATON_MONOTONIC_START_NS + (int64_t)(customer->number + 1) * 10 * MS;

    assert_code(pawl_env_sleep_until(line->env, start), PAWL_OK);
    assert_code(
        pawl__locks_acquire(line->locks, pawl__str("x"), 0, PAWL_FOREVER, NULL, &lock, NULL),
        PAWL_OK);
    line->served[line->served_count++] = customer->number;
    assert_code(pawl_env_sleep_until(line->env, pawl_env_monotonic_ns(line->env) + 1000 * MS),
                PAWL_OK);
    assert_code(pawl__locks_release(line->locks, lock, NULL), PAWL_OK);
}

static void serve(void *arg)
{
    struct line *line = arg;
    struct pawl_thread *threads[QUEUE];
    struct customer customers[QUEUE];
    struct pawl_lock_provider *provider;

    assert_code(pawl__memory_locks_new(line->env, 0, &provider, NULL), PAWL_OK);
    assert_code(pawl__locks_new(line->env, provider, NULL, &line->locks, NULL), PAWL_OK);
    for (size_t i = 0; i < QUEUE; i++) {
        customers[i] = (struct customer){line, i};
        assert_code(
            pawl_thread_start(line->env, "customer", queue_up, &customers[i], &threads[i], NULL),
            PAWL_OK);
    }
    for (size_t i = 0; i < QUEUE; i++)
        pawl_thread_join(line->env, threads[i]);
    pawl__locks_free(line->locks);
}

static void waiters_are_served_in_the_order_they_came(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        struct line line = {.served_count = 0};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *thread;
        struct pawl_baton *baton;

        test_allocator_init(&line.alloc);
        assert_ok(pawl__baton_new(&line.alloc.base, seed, NULL, &baton), NULL);
        assert_ok(pawl__baton_env(baton, "node", &line.env), NULL);
        assert_ok(pawl_thread_start(line.env, "main", serve, &line, &thread, &err), &err);
        assert_ok(pawl__baton_run(baton, &err), &err);
        assert_int_equal(line.served_count, QUEUE);
        for (size_t i = 0; i < QUEUE; i++)
            assert_int_equal(line.served[i], i);
        pawl__baton_free(baton);
        assert_int_equal(line.alloc.live_count, 0);
    }
}

/* ---- hand-over ---------------------------------------------------------------------------- */

/* Two who want one lock, of one node or of two. */
struct pair {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *world, *envs[2];
    struct pawl_lock_space *space;
    struct pawl_locks *locks[2];
    bool same_node;
    int64_t ttl_ms;
    int64_t released_ns, acquired_ns;
};

static void hold_first(void *arg)
{
    struct pair *pair = arg;
    struct pawl_lock lock;

    assert_code(
        pawl__locks_acquire(pair->locks[0], pawl__str("x"), 0, PAWL_FOREVER, NULL, &lock, NULL),
        PAWL_OK);
    assert_code(
        pawl_env_sleep_until(pair->envs[0], PAWL_BATON_MONOTONIC_START_NS + INT64_C(7777) * MS),
        PAWL_OK);
    pair->released_ns = pawl_env_monotonic_ns(pair->envs[0]);
    assert_code(pawl__locks_release(pair->locks[0], lock, NULL), PAWL_OK);
}

static void hold_second(void *arg)
{
    struct pair *pair = arg;
    int who = pair->same_node ? 0 : 1;
    struct pawl_lock lock;

    assert_code(pawl_env_sleep_until(pair->envs[who], PAWL_BATON_MONOTONIC_START_NS + 1000 * MS),
                PAWL_OK);
    assert_code(
        pawl__locks_acquire(pair->locks[who], pawl__str("x"), 0, PAWL_FOREVER, NULL, &lock, NULL),
        PAWL_OK);
    pair->acquired_ns = pawl_env_monotonic_ns(pair->envs[who]);
    assert_code(pawl__locks_release(pair->locks[who], lock, NULL), PAWL_OK);
}

static void run_pair(void *arg)
{
    struct pair *pair = arg;
    struct pawl_lock_provider *provider;
    struct pawl_thread *threads[2];

    for (int i = 0; i < 2; i++) {
        assert_code(
            pawl__memory_locks_open(pair->space, pair->envs[i], pair->ttl_ms, &provider, NULL),
            PAWL_OK);
        assert_code(pawl__locks_new(pair->envs[i], provider, NULL, &pair->locks[i], NULL), PAWL_OK);
    }
    assert_code(pawl_thread_start(pair->world, "first", hold_first, pair, &threads[0], NULL),
                PAWL_OK);
    assert_code(pawl_thread_start(pair->world, "second", hold_second, pair, &threads[1], NULL),
                PAWL_OK);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(pair->world, threads[i]);
    for (int i = 0; i < 2; i++)
        pawl__locks_free(pair->locks[i]);
}

/* The baton's clock stands still while anybody has something to do: no time passes in between. */
static void hand_over(bool same_node, int64_t ttl_ms)
{
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        struct pair pair = {.same_node = same_node, .ttl_ms = ttl_ms};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *thread;

        test_allocator_init(&pair.alloc);
        assert_ok(pawl__baton_new(&pair.alloc.base, seed, NULL, &pair.baton), NULL);
        assert_ok(pawl__baton_env(pair.baton, "world", &pair.world), NULL);
        assert_ok(pawl__baton_env(pair.baton, "one", &pair.envs[0]), NULL);
        assert_ok(pawl__baton_env(pair.baton, "two", &pair.envs[1]), NULL);
        assert_ok(pawl__lock_space_new(pair.world, &pair.space, &err), &err);
        assert_ok(pawl_thread_start(pair.world, "main", run_pair, &pair, &thread, &err), &err);
        assert_ok(pawl__baton_run(pair.baton, &err), &err);
        if (pair.acquired_ns != pair.released_ns)
            fail_msg("seed %llu: acquired %lld ns after the release", (unsigned long long)seed,
                     (long long)(pair.acquired_ns - pair.released_ns));
        pawl__lock_space_free(pair.space);
        pawl__baton_free(pair.baton);
        assert_int_equal(pair.alloc.live_count, 0);
    }
}

static void a_released_lock_is_acquired_by_another_node_at_that_moment(void **state)
{
    (void)state;
    hand_over(false, 0);
    hand_over(false, 1000);
}

static void a_released_lock_is_acquired_by_another_thread_at_that_moment(void **state)
{
    (void)state;
    hand_over(true, 0);
    hand_over(true, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_holder_at_a_time_and_nobody_waits_for_ever),
        cmocka_unit_test(leases_are_renewed_in_time),
        cmocka_unit_test(a_holder_that_stood_still_too_long_knows_it),
        cmocka_unit_test(waiters_are_served_in_the_order_they_came),
        cmocka_unit_test(a_released_lock_is_acquired_by_another_node_at_that_moment),
        cmocka_unit_test(a_released_lock_is_acquired_by_another_thread_at_that_moment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
