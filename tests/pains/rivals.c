/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several nodes want the same: activation strategies in a storm from threads and from processes,
 * one bookmark resumed twice at once, a tick of the clock on many nodes of which one dies, and
 * cancelling what another node runs.
 */
#include "cluster/places.h"
#include "lib/clock.h"
#include "pains/stage.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */
#define RIVALS 4u
#define EVENTS 20u
#define CORRELATIONS 5u

/* ---- activation ---------------------------------------------------------------------------- */

struct rival {
    struct stage_options options;
    char node[16];
    bool correlated;
    int status;
};

static int send_and_work(struct rival *rival, struct stage *stage)
{
    struct pawl_worked worked;
    int status = PAWL_OK;

    for (unsigned i = 0; i < EVENTS && status == PAWL_OK; i++) {
        char correlation[16] = "";
        struct pawl_stimulus stimulus = {0};

        if (rival->correlated)
            (void)snprintf(correlation, sizeof correlation, "c%u", i % CORRELATIONS);
        stimulus.correlation_id = pawl__str(correlation);
        status = pawl__runtime_send_event(stage->runtime, pawl__str("Fire"), NULL, &stimulus, NULL,
                                          stage_later(stage), &stage->err);
        if (status == PAWL_OK && i % 4 == 3)
            status = pawl__runtime_drain(stage->runtime, &worked, stage_later(stage), &stage->err);
    }
    return status;
}

static void *run_rival(void *arg)
{
    struct rival *rival = arg;
    struct stage stage;

    rival->status = stage_try_open(&stage, &rival->options);
    if (rival->status != PAWL_OK)
        return NULL;
    rival->status = send_and_work(rival, &stage);
    stage_close(&stage);
    return NULL;
}

static void set_rivals(struct rival *rivals, const struct stage_options *options, bool correlated)
{
    for (unsigned i = 0; i < RIVALS; i++) {
        rivals[i] = (struct rival){.options = *options, .correlated = correlated};
        (void)snprintf(rivals[i].node, sizeof rivals[i].node, "rival-%u", i);
        rivals[i].options.node = rivals[i].node;
    }
}

static void storm_of_threads(struct rival *rivals)
{
    pthread_t threads[RIVALS];

    for (unsigned i = 0; i < RIVALS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_rival, &rivals[i]), 0);
    for (unsigned i = 0; i < RIVALS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < RIVALS; i++)
        assert_ok(rivals[i].status, NULL);
}

static void storm_of_processes(struct rival *rivals)
{
    pid_t pids[RIVALS];

    for (unsigned i = 0; i < RIVALS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            (void)run_rival(&rivals[i]);
            _exit(-rivals[i].status);
        }
    }
    for (unsigned i = 0; i < RIVALS; i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_ok(-WEXITSTATUS(status), NULL);
    }
}

#define ACTIVATED(strategy)                                                                        \
    DEFINITION("d", "'options':{'activationStrategyType':'" strategy "'},",                        \
               TRIGGER("t", "Fire") "," RIG_EVENT("e", "Never"))

static void storm(const struct stage_options *options, bool correlated)
{
    struct rival rivals[RIVALS];
    struct stage stage;

    stage_open(&stage, options);
    stage_publish(&stage, correlated ? ACTIVATED("CorrelatedSingletonStrategy")
                                     : ACTIVATED("SingletonStrategy"));
    set_rivals(rivals, options, correlated);
    if (options->uri) {
        /* A process is made of one thread: the node's own are gone before. */
        stage_close(&stage);
        storm_of_processes(rivals);
        stage_open(&stage, options);
    } else {
        storm_of_threads(rivals);
    }
    stage_drain(&stage);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_INSTANCES), correlated ? CORRELATIONS : 1);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_BOOKMARKS), correlated ? CORRELATIONS : 1);
    stage_close(&stage);
}

static void storm_in_memory(bool correlated)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct stage_options options = {0};

    assert_ok(pawl_system_env_open(&options.env, &err), &err);
    assert_ok(pawl__memory_database_new(options.env, &options.database, &err), &err);
    storm(&options, correlated);
    pawl__memory_database_free(options.database);
    pawl_system_env_close(options.env);
}

static void storm_on(const struct place *place, bool correlated)
{
    char uri[PLACE_URI_MAX];
    const struct stage_options options = {.uri = place_fresh(place, uri)};

    storm(&options, correlated);
}

static void a_singleton_is_one_in_a_storm_of_threads(void **state)
{
    (void)state;
    storm_in_memory(false);
}

static void a_correlated_singleton_is_one_each_in_a_storm_of_threads(void **state)
{
    (void)state;
    storm_in_memory(true);
}

static void a_singleton_is_one_in_a_storm_of_processes(void **state)
{
    const struct places *places = *state;

    storm_on(&places->sqlite, false);
}

static void a_correlated_singleton_is_one_each_in_a_storm_of_processes(void **state)
{
    const struct places *places = *state;

    storm_on(&places->sqlite, true);
}

static void a_singleton_is_one_in_a_storm_of_processes_on_postgres(void **state)
{
    const struct places *places = *state;

    storm_on(&places->postgres, false);
}

/* ---- one bookmark -------------------------------------------------------------------------- */

struct resume {
    struct stage *stage;
    const char *bookmark_id;
    int status;
};

static void *run_resume(void *arg)
{
    struct resume *resume = arg;
    const struct pawl_run run = {.bookmark_id = pawl__str(resume->bookmark_id)};
    struct pawl_outcome outcome;

    resume->status = pawl__runtime_run(resume->stage->runtime, pawl__str("counts"), &run, &outcome,
                                       stage_later(resume->stage), NULL);
    return NULL;
}

static const char *bookmark_id(struct stage *stage)
{
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS};
    const struct pawl_bookmark_row *row;
    struct pawl_rows rows;

    assert_ok(pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage),
                              &stage->err),
              &stage->err);
    assert_int_equal(rows.count, 1);
    row = rows.rows;
    return pawl__arena_str(&stage->arena, row->id).ptr;
}

static void a_bookmark_that_two_nodes_resume_at_once_is_resumed_once(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct stage_options options = {0};
    struct stage nodes[2];

    (void)state;
    assert_ok(pawl_system_env_open(&options.env, &err), &err);
    assert_ok(pawl__memory_database_new(options.env, &options.database, &err), &err);
    stage_open(&nodes[0], &options);
    options.node = "b";
    stage_open(&nodes[1], &options);
    stage_publish(&nodes[0], COUNTING("d"));
    stage_start(&nodes[0], "d", "counts");
    for (unsigned round = 1; round <= 50; round++) {
        const char *id = bookmark_id(&nodes[0]);
        /* Two nodes, and two threads of each. */
        struct resume resumes[4];
        pthread_t threads[4];
        char expected[16];

        for (unsigned i = 0; i < 4; i++) {
            resumes[i] = (struct resume){&nodes[i % 2], id, PAWL_OK};
            assert_int_equal(pthread_create(&threads[i], NULL, run_resume, &resumes[i]), 0);
        }
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_ok(resumes[i].status, NULL);
        }
        (void)snprintf(expected, sizeof expected, "%u", round);
        assert_string_equal(stage_name(&nodes[0], "counts"), expected);
    }
    stage_close(&nodes[1]);
    stage_close(&nodes[0]);
    pawl__memory_database_free(options.database);
    pawl_system_env_close(options.env);
}

/* ---- under a clock that the test moves ------------------------------------------------------ */

struct fixture {
    struct test_clock *clock;
    struct stage_options options;
    struct stage nodes[3];
    unsigned lines;
    unsigned cancel_at; /* this line makes another node cancel */
};

static int line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;

    (void)text;
    if (++f->lines == f->cancel_at)
        assert_ok(pawl__runtime_cancel(f->nodes[1].runtime, instance_id, stage_later(&f->nodes[1]),
                                       &f->nodes[1].err),
                  &f->nodes[1].err);
    return PAWL_OK;
}

static void begin(struct fixture *f)
{
    static const char *const names[] = {"a", "b", "c"};
    struct pawl_error err = PAWL_ERROR_INIT;

    *f = (struct fixture){0};
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->options.env = test_clock_env(f->clock);
    f->options.hooks = (struct pawl_runtime_hooks){.line = line, .ctx = f};
    f->options.yield_after = 1;
    assert_ok(pawl__memory_database_new(f->options.env, &f->options.database, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        f->options.node = names[i];
        stage_open(&f->nodes[i], &f->options);
    }
}

static void end(struct fixture *f)
{
    for (unsigned i = 0; i < 3; i++)
        stage_close(&f->nodes[i]);
    pawl__memory_database_free(f->options.database);
    test_clock_close(f->clock);
}

#define CRON                                                                                       \
    DEFINITION("d", "",                                                                            \
               "{'id':'c','type':'Elsa.Cron','customProperties':{'canStartWorkflow':true},"        \
               "'cronExpression':" TEXT("0 * * * * *") "}")

static void *drain_node(void *arg)
{
    struct stage *stage = arg;
    struct pawl_worked worked;

    (void)!pawl__runtime_drain(stage->runtime, &worked, stage_later(stage), NULL);
    return NULL;
}

static void drain_all(struct fixture *f)
{
    pthread_t threads[3];

    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, drain_node, &f->nodes[i]), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_tick_on_three_nodes_starts_one_instance(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    stage_publish(&f.nodes[0], CRON);
    for (unsigned i = 1; i <= 10; i++) {
        test_clock_advance(f.clock, 60 * SECOND);
        drain_all(&f);
        assert_int_equal(stage_count(&f.nodes[0], PAWL_TABLE_INSTANCES), i);
    }
    assert_int_equal(stage_count(&f.nodes[0], PAWL_TABLE_WORK), 1);
    end(&f);
}

static void a_tick_that_a_dying_node_took_starts_one_instance_elsewhere(void **state)
{
    struct pawl_lease dead = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("dead"), .ttl_us = 10000000};
    struct pawl_take take = {.limit = 10};
    struct pawl_taken taken;
    struct fixture f;
    struct stage *a = &f.nodes[0];

    (void)state;
    begin(&f);
    stage_publish(a, CRON);
    test_clock_advance(f.clock, 60 * SECOND);
    assert_ok(pawl_store_lease(a->store, &dead, stage_later(a), &a->err), &a->err);
    take.owner = dead.incarnation;
    assert_ok(pawl_store_take(a->store, &take, &a->arena, &taken, stage_later(a), &a->err),
              &a->err);
    assert_int_equal(taken.work_count, 1);
    drain_all(&f);
    assert_int_equal(stage_count(a, PAWL_TABLE_INSTANCES), 0);
    test_clock_advance(f.clock, 11 * SECOND);
    drain_all(&f);
    assert_int_equal(stage_count(a, PAWL_TABLE_INSTANCES), 1);
    assert_int_equal(stage_count(a, PAWL_TABLE_WORK), 1);
    end(&f);
}

static void cancelling_on_another_node_wins_within_one_activity(void **state)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("busy")};
    struct pawl_outcome outcome;
    struct fixture f;
    struct stage *a = &f.nodes[0];

    (void)state;
    begin(&f);
    f.cancel_at = 3;
    stage_publish(a,
                  DEFINITION("d", "",
                             "{'id':'l','type':'Elsa.While','condition':" RIG_INPUT(
                                 "Boolean", "Literal", "true") ",'body':" RIG_WRITE("w", "x") "}"));
    assert_ok(pawl__runtime_start(a->runtime, &what, &outcome, stage_later(a), &a->err), &a->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_CANCELLED);
    assert_in_range(f.lines, 3, 4);
    drain_all(&f);
    assert_string_equal(stage_sub_status(a, "busy"), "Cancelled");
    assert_int_equal(stage_count(a, PAWL_TABLE_WORK), 0);
    end(&f);
}

static void a_version_published_on_one_node_is_served_by_the_others_within_a_second(void **state)
{
    struct fixture f;
    struct stage *b = &f.nodes[1];
    struct pawl_instance_row row = {0};
    char id[32];

    (void)state;
    begin(&f);
    stage_publish(&f.nodes[0], DEFINITION("d", "", RIG_WRITE("w", "1")));
    stage_start(b, "d", "old");
    stage_publish(
        &f.nodes[0],
        "{'definitionId':'d','id':'d:2','version':2,'name':'d','root':" RIG_WRITE("w", "2") "}");
    /* It is asked for all the time: that must not keep the old one alive. */
    for (unsigned i = 0; i <= 10; i++) {
        (void)snprintf(id, sizeof id, "i%u", i);
        stage_start(b, "d", id);
        test_clock_advance(f.clock, SECOND / 10 + 1);
    }
    stage_start(b, "d", "new");
    assert_ok(pawl__runtime_show(b->runtime, pawl__str("new"), &b->arena, &row, NULL,
                                 stage_later(b), &b->err),
              &b->err);
    assert_int_equal(row.version, 2);
    end(&f);
}

/* ---- a long burst -------------------------------------------------------------------------- */

#define OTHERS 50u

struct holding {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    unsigned others; /* lines of the others so far */
    bool is_over;    /* the long one has gone on */
};

/* The long one stands in its burst until all others are through. */
static int hold(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct holding *holding = ctx;

    (void)instance_id;
    (void)pthread_mutex_lock(&holding->mutex);
    if (!pawl__str_is(text, "long"))
        holding->others++;
    while (pawl__str_is(text, "long") && holding->others < OTHERS)
        (void)pthread_cond_wait(&holding->cond, &holding->mutex);
    holding->is_over = holding->is_over || pawl__str_is(text, "long");
    (void)pthread_cond_broadcast(&holding->cond);
    (void)pthread_mutex_unlock(&holding->mutex);
    return PAWL_OK;
}

/* Fails by the program's time limit: the long one would wait for ever. */
static void a_burst_that_takes_long_holds_up_nobody(void **state)
{
    struct holding holding = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    const struct stage_options options = {.hooks = {.line = hold, .ctx = &holding}};
    const struct pawl_pool_options threads = {.workers = 2};
    struct pawl_outcome outcome;
    struct pawl_pool *pool;
    struct stage stage;

    (void)state;
    stage_open(&stage, &options);
    stage_publish(&stage, DEFINITION("long", "", RIG_WRITE("w", "long")));
    stage_publish(&stage, DEFINITION("short", "", RIG_WRITE("w", "short")));
    for (unsigned i = 0; i <= OTHERS; i++) {
        const struct pawl_start what = {.definition_id = pawl__str(i == 0 ? "long" : "short")};

        assert_ok(
            pawl__runtime_create(stage.runtime, &what, &outcome, stage_later(&stage), &stage.err),
            &stage.err);
    }
    assert_ok(pawl__pool_open(stage.env, stage.runtime, &threads, &pool, &stage.err), &stage.err);
    assert_int_equal(pthread_mutex_lock(&holding.mutex), 0);
    while (holding.others < OTHERS || !holding.is_over)
        assert_int_equal(pthread_cond_wait(&holding.cond, &holding.mutex), 0);
    assert_int_equal(pthread_mutex_unlock(&holding.mutex), 0);
    pawl__pool_close(pool);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_INSTANCES), OTHERS + 1);
    assert_int_equal(holding.others, OTHERS);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_DEAD_LETTERS), 0);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_singleton_is_one_in_a_storm_of_threads),
        cmocka_unit_test(a_correlated_singleton_is_one_each_in_a_storm_of_threads),
        cmocka_unit_test(a_singleton_is_one_in_a_storm_of_processes),
        cmocka_unit_test(a_correlated_singleton_is_one_each_in_a_storm_of_processes),
        cmocka_unit_test(a_singleton_is_one_in_a_storm_of_processes_on_postgres),
        cmocka_unit_test(a_burst_that_takes_long_holds_up_nobody),
        cmocka_unit_test(a_bookmark_that_two_nodes_resume_at_once_is_resumed_once),
        cmocka_unit_test(a_tick_on_three_nodes_starts_one_instance),
        cmocka_unit_test(a_tick_that_a_dying_node_took_starts_one_instance_elsewhere),
        cmocka_unit_test(cancelling_on_another_node_wins_within_one_activity),
        cmocka_unit_test(a_version_published_on_one_node_is_served_by_the_others_within_a_second),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
