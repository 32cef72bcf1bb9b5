/* SPDX-License-Identifier: Apache-2.0 */
/* Queue worker, refresher, reloader and the check of reach. */
#include "unit/distributed/members.h"

#define TRIGGERED(id, name) DEFINITION(id, "", TRIGGER("t", name) "," RIG_WRITE("w", "started"))

/* ---- queue worker --------------------------------------------------------------------------- */

static struct pawl_queue_worker *open_worker(struct cluster *c, struct member *member)
{
    struct pawl_queue_worker *worker;

    assert_ok(pawl__distributed_queue_worker_new(&member->distribution, &worker, &c->f->err),
              &c->f->err);
    return worker;
}

static void the_holder_has_the_turn_and_others_skip(void **state)
{
    struct cluster *c = *state;
    struct pawl_queue_worker *a = open_worker(c, &c->a), *b = open_worker(c, &c->b);
    struct pawl_queue_turn turn, other;
    struct pawl_lock lock;

    assert_ok(pawl__queue_worker_begin(a, &turn, 0, &c->f->err), &c->f->err);
    assert_int_equal(turn.part_from, 0);
    assert_int_equal(turn.part_to, 0); /* all parts */
    assert_false(turn.more);
    assert_code(pawl__queue_worker_begin(b, &other, 0, &c->f->err), PAWL_EBUSY);
    pawl__queue_worker_end(a, &turn);
    assert_ok(pawl__queue_worker_begin(b, &other, 0, &c->f->err), &c->f->err);
    pawl__queue_worker_end(b, &other);
    lock = hold(c, "DistributedBookmarkQueueWorker"); /* the reference's name */
    assert_code(pawl__queue_worker_begin(a, &turn, 0, &c->f->err), PAWL_EBUSY);
    let_go(c, lock);
    pawl__queue_worker_close(a);
    pawl__queue_worker_close(b);
}

static void partitions_cover_all_parts_in_one_round(void **state)
{
    static const uint32_t counts[] = {2, 3, 7, 1024};
    struct cluster *c = *state;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct pawl_queue_worker *worker;
        struct pawl_queue_turn turn;
        uint32_t next = 0, turns = 0;

        c->a.distribution.partitions = counts[i];
        worker = open_worker(c, &c->a);
        do {
            assert_ok(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), &c->f->err);
            assert_int_equal(turn.part_from, next);
            assert_true(turn.part_to > turn.part_from);
            next = turn.part_to;
            turns++;
            pawl__queue_worker_end(worker, &turn);
        } while (turn.more);
        assert_int_equal(turns, counts[i]);
        assert_int_equal(next, PAWL_QUEUE_PARTS);
        pawl__queue_worker_close(worker);
    }
    c->a.distribution.partitions = 1025;
    assert_code(pawl__distributed_queue_worker_new(&c->a.distribution,
                                                   &(struct pawl_queue_worker *){NULL}, &c->f->err),
                PAWL_EINVAL);
}

static void a_partition_that_another_node_is_at_is_skipped(void **state)
{
    struct cluster *c = *state;
    struct pawl_queue_worker *worker;
    struct pawl_queue_turn turn;
    struct pawl_lock locks[3];

    c->a.distribution.partitions = 3;
    worker = open_worker(c, &c->a);
    locks[0] = hold(c, "DistributedBookmarkQueueWorker:0");
    assert_ok(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), &c->f->err);
    assert_int_equal(turn.part_from, 1024 / 3);
    assert_true(turn.more);
    pawl__queue_worker_end(worker, &turn);
    locks[2] = hold(c, "DistributedBookmarkQueueWorker:2");
    assert_ok(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), &c->f->err);
    assert_int_equal(turn.part_from, 1024 / 3); /* 2 and 0 are others' */
    assert_false(turn.more);                    /* the round has ended on the way */
    pawl__queue_worker_end(worker, &turn);
    locks[1] = hold(c, "DistributedBookmarkQueueWorker:1");
    assert_code(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), PAWL_EBUSY);
    for (int i = 0; i < 3; i++)
        let_go(c, locks[i]);
    pawl__queue_worker_close(worker);
}

static void a_holder_that_is_paused_keeps_nobody_from_work_for_ever(void **state)
{
    struct cluster *c = *state;
    struct pawl_queue_worker *worker;
    struct pawl_queue_turn turn;
    int status;

    c->a.distribution.patience_ns = 20 * MS;
    worker = open_worker(c, &c->a);
    (void)hold(c, "DistributedBookmarkQueueWorker");
    assert_code(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), PAWL_EBUSY);
    while ((status = pawl__queue_worker_begin(worker, &turn, 0, &c->f->err)) == PAWL_EBUSY)
        assert_ok(pawl_env_sleep_until(c->f->env, pawl_env_monotonic_ns(c->f->env) + MS), NULL);
    assert_ok(status, &c->f->err);
    pawl__queue_worker_end(worker, &turn);
    assert_int_equal(said_count(&c->a.said, "lock is held for too long, continuing without"), 1);
    pawl__queue_worker_close(worker);
}

static void a_lock_service_that_fails_is_told(void **state)
{
    struct cluster *c = *state;
    struct pawl_queue_worker *worker = open_worker(c, &c->a);
    struct pawl_queue_turn turn;

    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 1, PAWL_LOCK_FAULT_BEFORE, 0);
    assert_code(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), PAWL_EUNAVAILABLE);
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 1, PAWL_LOCK_FAULT_AFTER, 0);
    assert_code(pawl__queue_worker_begin(worker, &turn, 0, &c->f->err), PAWL_EUNAVAILABLE);
    pawl__queue_worker_close(worker);
}

static void work_is_looked_for_without_a_lock_service_that_stays_away(void **state)
{
    struct cluster *c = *state;
    struct pawl_queue_worker *worker;
    struct pawl_queue_turn turn;
    int status;

    c->a.distribution.patience_ns = 20 * MS;
    worker = open_worker(c, &c->a);
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, UINT32_MAX, PAWL_LOCK_FAULT_BEFORE, 0);
    while ((status = pawl__queue_worker_begin(worker, &turn, 0, &c->f->err)) == PAWL_EUNAVAILABLE)
        assert_ok(pawl_env_sleep_until(c->f->env, pawl_env_monotonic_ns(c->f->env) + MS), NULL);
    assert_ok(status, &c->f->err);
    pawl__queue_worker_end(worker, &turn);
    assert_int_equal(said_count(&c->a.said, "lock service is unavailable, continuing without"), 1);
    pawl__queue_worker_close(worker);
}

/* ---- refresher ------------------------------------------------------------------------------ */

static struct pawl_refresher *open_refresher(struct cluster *c, struct member *member)
{
    struct pawl_refresher *local, *refresher;

    assert_ok(pawl__local_refresher_new(c->f->env, member->node.store,
                                        pawl__runtime_definitions(member->node.runtime), NULL,
                                        &local, &c->f->err),
              &c->f->err);
    assert_ok(pawl__distributed_refresher_new(&member->distribution, local, &refresher, &c->f->err),
              &c->f->err);
    return refresher;
}

static void a_refresh_that_is_in_progress_elsewhere_says_so_with_the_ids(void **state)
{
    const struct pawl_str ids[] = {pawl__str("y"), pawl__str("x"), pawl__str("Z")};
    const struct pawl_refresh some = {.ids = ids, .count = 3}, all = {.count = 0};
    struct cluster *c = *state;
    struct pawl_refresher *refresher = open_refresher(c, &c->a);
    struct pawl_refreshed told;
    struct pawl_lock lock;

    publish(c->f, TRIGGERED("x", "X"));
    publish(c->f, TRIGGERED("y", "Y"));
    lock = hold(c, "WorkflowDefinitionsRefresher:Z,x,y"); /* sorted by bytes */
    assert_ok(
        pawl__refresher_refresh(refresher, &some, &c->f->arena, &told, later(c->f), &c->f->err),
        &c->f->err);
    assert_true(told.in_progress);
    assert_int_equal(told.refreshed_count, 0);
    assert_int_equal(told.not_found_count, 3);
    assert_str(told.not_found[0], "y"); /* as they were asked for */
    assert_str(told.not_found[2], "Z");
    let_go(c, lock);
    assert_ok(
        pawl__refresher_refresh(refresher, &some, &c->f->arena, &told, later(c->f), &c->f->err),
        &c->f->err);
    assert_false(told.in_progress);
    assert_int_equal(told.refreshed_count, 2);
    assert_int_equal(told.not_found_count, 1);
    lock = hold(c, "WorkflowDefinitionsRefresher:All");
    assert_ok(
        pawl__refresher_refresh(refresher, &all, &c->f->arena, &told, later(c->f), &c->f->err),
        &c->f->err);
    assert_true(told.in_progress);
    assert_int_equal(told.not_found_count, 0);
    let_go(c, lock);
    assert_ok(
        pawl__refresher_refresh(refresher, &all, &c->f->arena, &told, later(c->f), &c->f->err),
        &c->f->err);
    assert_int_equal(told.refreshed_count, 2);
    assert_int_equal(said_count(&c->a.said, "another node is refreshing"), 2);
    pawl__refresher_close(refresher);
}

struct indexing {
    struct cluster *c;
    struct pawl_refresher *refresher;
    struct pawl_refreshed told;
    struct pawl_arena arena;
    struct pawl_error err;
    int status;
};

static void *index_it(void *arg)
{
    const struct pawl_str id = pawl__str("x");
    const struct pawl_refresh one = {.ids = &id, .count = 1};
    struct indexing *indexing = arg;

    indexing->status = pawl__refresher_refresh(indexing->refresher, &one, &indexing->arena,
                                               &indexing->told, PAWL_FOREVER, &indexing->err);
    return NULL;
}

/* Whether or not another one was at it: what there is then is one trigger. */
static void three_nodes_that_index_at_once_make_one_trigger(void **state)
{
    struct cluster *c = *state;
    struct member third;
    struct member *members[] = {&c->a, &c->b, &third};
    struct indexing indexing[3];
    pthread_t threads[3];

    member_open(c->f, c->space, &third, "three");
    publish(c->f, TRIGGERED("x", "X"));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++) {
            indexing[i] = (struct indexing){
                .c = c, .refresher = open_refresher(c, members[i]), .err = PAWL_ERROR_INIT};
            pawl__arena_init(&indexing[i].arena, &c->f->env->alloc, (size_t)1 << 20);
        }
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, index_it, &indexing[i]), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_ok(indexing[i].status, &indexing[i].err);
            assert_int_equal(indexing[i].told.refreshed_count + indexing[i].told.not_found_count,
                             1);
            assert_true(indexing[i].told.in_progress == (indexing[i].told.refreshed_count == 0));
            pawl__arena_release(&indexing[i].arena);
            pawl__refresher_close(indexing[i].refresher);
        }
        assert_int_equal(count(c->f, PAWL_TABLE_TRIGGERS), 1);
    }
    member_close(&third);
}

/* ---- reloader ------------------------------------------------------------------------------- */

struct counted {
    struct pawl_reloader base;
    int reloads;
    int answer;
};

static int count_reload(struct pawl_reloader *reloader, struct pawl_reloaded *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct counted *counted = (struct counted *)(void *)reloader;

    (void)deadline_ns;
    (void)err;
    counted->reloads++;
    *out = (struct pawl_reloaded){.provided = 7};
    return counted->answer;
}

static void close_counted(struct pawl_reloader *reloader)
{
    ((struct counted *)(void *)reloader)->reloads = -1;
}

static void a_reload_that_is_in_progress_elsewhere_is_left_to_it(void **state)
{
    static const struct pawl_reloader_ops ops = {PAWL_RELOADER_VERSION, close_counted,
                                                 count_reload};
    struct cluster *c = *state;
    struct counted counted = {.base = {&ops, "counted"}};
    struct pawl_reloader *reloader;
    struct pawl_reloaded told;
    struct pawl_lock lock;

    assert_ok(
        pawl__distributed_reloader_new(&c->a.distribution, &counted.base, &reloader, &c->f->err),
        &c->f->err);
    lock = hold(c, "WorkflowDefinitionsReloader");
    assert_ok(pawl__reloader_reload(reloader, &told, later(c->f), &c->f->err), &c->f->err);
    assert_true(told.in_progress);
    assert_int_equal(counted.reloads, 0);
    assert_int_equal(said_count(&c->a.said, "another node is reloading definitions"), 1);
    let_go(c, lock);
    assert_ok(pawl__reloader_reload(reloader, &told, later(c->f), &c->f->err), &c->f->err);
    assert_false(told.in_progress);
    assert_int_equal(told.provided, 7);
    counted.answer = PAWL_EUNAVAILABLE;
    assert_code(pawl__reloader_reload(reloader, &told, later(c->f), &c->f->err), PAWL_EUNAVAILABLE);
    lock = hold(c, "WorkflowDefinitionsReloader"); /* given back after a failure, too */
    let_go(c, lock);
    pawl__reloader_close(reloader);
    assert_int_equal(counted.reloads, -1);
}

/* ---- reach ---------------------------------------------------------------------------------- */

static void locks_must_reach_as_far_as_the_store(void **state)
{
    static const struct {
        uint32_t locks, store;
        bool reaches;
    } cases[] = {
        {0, 0, true},
        {0, PAWL_STORE_CAP_PROCESSES, false},
        {PAWL_LOCK_CAP_HOST, PAWL_STORE_CAP_PROCESSES, true},
        {PAWL_LOCK_CAP_NETWORK, PAWL_STORE_CAP_PROCESSES, true},
        {0, PAWL_STORE_CAP_PROCESSES | PAWL_STORE_CAP_MACHINES, false},
        {PAWL_LOCK_CAP_HOST, PAWL_STORE_CAP_PROCESSES | PAWL_STORE_CAP_MACHINES, false},
        {PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_NETWORK,
         PAWL_STORE_CAP_PROCESSES | PAWL_STORE_CAP_MACHINES, true},
    };
    struct cluster *c = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pawl_lock_provider_ops ops = {.caps = cases[i].locks},
                                            outer_ops = {.caps = PAWL_LOCK_CAP_NETWORK};
        struct pawl_lock_provider inner = {&ops, "inner", NULL};
        struct pawl_lock_provider outer = {&outer_ops, "decorator", &inner}; /* seen through */
        struct pawl_store store = {.caps = cases[i].store};
        int status =
            pawl__distributed_check_reach(&outer, &store, false, &c->a.said.log, &c->f->err);

        assert_code(status, cases[i].reaches ? PAWL_OK : PAWL_EINVAL);
        if (status != PAWL_OK) {
            assert_non_null(
                strstr(c->f->err.msg, "locks of kind 'inner' are not visible to the other"));
            assert_non_null(strstr(c->f->err.msg, "--set lock.allow_local=true"));
        }
        assert_ok(pawl__distributed_check_reach(&outer, &store, true, &c->a.said.log, &c->f->err),
                  &c->f->err);
    }
    assert_int_equal(said_count(&c->a.said, "which is allowed"), 3);
}

/* ---- memory --------------------------------------------------------------------------------- */

static int make_all(struct test_allocator *alloc, void *arg)
{
    struct cluster *c = arg;
    struct pawl_distribution distribution = c->a.distribution;
    struct test_clock *clock;
    struct pawl_queue_worker *worker = NULL;
    struct pawl_guard *guard = NULL;
    struct pawl_queue_turn turn;
    int status = test_clock_open(&alloc->base, WALL, &clock);

    if (status != PAWL_OK)
        return status;
    distribution.env = test_clock_env(clock);
    status = pawl__distributed_guard_new(&distribution, &guard, NULL);
    if (status == PAWL_OK)
        status = pawl__distributed_queue_worker_new(&distribution, &worker, NULL);
    if (status == PAWL_OK)
        status = pawl__queue_worker_begin(worker, &turn, 0, NULL);
    if (status == PAWL_OK)
        pawl__queue_worker_end(worker, &turn);
    pawl__queue_worker_close(worker);
    pawl__distributed_guard_free(guard);
    test_clock_close(clock);
    return status;
}

static void where_memory_is_short_nothing_is_left(void **state)
{
    test_sweep_allocations(make_all, *state, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(the_holder_has_the_turn_and_others_skip),
        CLUSTER_TEST(partitions_cover_all_parts_in_one_round),
        CLUSTER_TEST(a_partition_that_another_node_is_at_is_skipped),
        CLUSTER_TEST(a_holder_that_is_paused_keeps_nobody_from_work_for_ever),
        CLUSTER_TEST(a_lock_service_that_fails_is_told),
        CLUSTER_TEST(work_is_looked_for_without_a_lock_service_that_stays_away),
        CLUSTER_TEST(a_refresh_that_is_in_progress_elsewhere_says_so_with_the_ids),
        CLUSTER_TEST(three_nodes_that_index_at_once_make_one_trigger),
        CLUSTER_TEST(a_reload_that_is_in_progress_elsewhere_is_left_to_it),
        CLUSTER_TEST(locks_must_reach_as_far_as_the_store),
        CLUSTER_TEST(where_memory_is_short_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
