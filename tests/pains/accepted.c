/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was answered OK is done: events for one instance that waits, accepted by a process that dies
 * right after its last answer, by many senders at once, and by a store that is slow, refuses, and
 * loses answers.
 */
#include "cluster/places.h"
#include "pains/stage.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 1000u
#define SENDERS 16u

/* ---- the accepting process is killed ------------------------------------------------------- */

/* Accepts all and kills itself right after the last answer; ends otherwise when one is refused. */
static void accept_and_die(const char *uri)
{
    const struct stage_options options = {.uri = uri, .node = "accepts", .lease_us = 1000000};
    struct stage stage;

    if (stage_try_open(&stage, &options) != PAWL_OK)
        _exit(1);
    for (unsigned i = 0; i < EVENTS; i++) {
        if (stage_send(&stage, "Go", NULL, NULL) != PAWL_OK)
            _exit(2);
    }
    (void)kill(getpid(), SIGKILL);
}

static void accept_and_kill(const struct place *place)
{
    char uri[PLACE_URI_MAX];
    const struct stage_options options = {.uri = place_fresh(place, uri), .node = "b"};
    struct stage stage;
    int status;
    pid_t pid;

    stage_open(&stage, &options);
    stage_publish(&stage, COUNTING("d"));
    stage_start(&stage, "d", "counts");
    stage_close(&stage);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        accept_and_die(uri);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    stage_open(&stage, &options);
    stage_settle(&stage, true);
    assert_string_equal(stage_name(&stage, "counts"), "1000");
    assert_string_equal(stage_sub_status(&stage, "counts"), "Suspended");
    assert_int_equal(stage_count(&stage, PAWL_TABLE_BOOKMARKS), 1);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_DEAD_LETTERS), 0);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_WORK), 0);
    stage_close(&stage);
}

static void events_that_a_killed_node_accepted_are_applied_once_on_sqlite(void **state)
{
    const struct places *places = *state;

    accept_and_kill(&places->sqlite);
}

static void events_that_a_killed_node_accepted_are_applied_once_on_postgres(void **state)
{
    const struct places *places = *state;

    accept_and_kill(&places->postgres);
}

/* ---- many senders -------------------------------------------------------------------------- */

struct sender {
    struct stage *stage;
    unsigned count;
    unsigned accepted;
};

static void *send_all(void *arg)
{
    struct sender *sender = arg;

    for (unsigned i = 0; i < sender->count; i++)
        sender->accepted += stage_send(sender->stage, "Go", NULL, NULL) == PAWL_OK;
    return NULL;
}

/* While a pool delivers, and until it has delivered all. Answers how many were accepted. */
static unsigned send_from_threads(struct stage *stage, unsigned count)
{
    const struct pawl_pool_options options = {.workers = 4};
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    struct pawl_pool *pool;
    unsigned accepted = 0;

    assert_ok(pawl__pool_open(stage->env, stage->runtime, &options, &pool, &stage->err),
              &stage->err);
    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){stage, count / SENDERS + (i < count % SENDERS), 0};
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
    }
    for (unsigned i = 0; i < SENDERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        accepted += senders[i].accepted;
    }
    stage_settle(stage, false);
    pawl__pool_close(pool);
    return accepted;
}

static void storm(const struct place *place)
{
    char uri[PLACE_URI_MAX];
    struct stage_options options = {0};
    struct stage stage;

    if (place->kind != PLACE_MEMORY)
        options.uri = place_fresh(place, uri);
    stage_open(&stage, &options);
    stage_publish(&stage, COUNTING("d"));
    stage_start(&stage, "d", "counts");
    assert_int_equal(send_from_threads(&stage, EVENTS), EVENTS);
    assert_string_equal(stage_name(&stage, "counts"), "1000");
    assert_string_equal(stage_sub_status(&stage, "counts"), "Suspended");
    assert_int_equal(stage_count(&stage, PAWL_TABLE_WORK), 0);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_DEAD_LETTERS), 0);
    stage_close(&stage);
}

static void no_signal_of_sixteen_senders_is_lost_in_memory(void **state)
{
    const struct places *places = *state;

    storm(&places->memory);
}

static void no_signal_of_sixteen_senders_is_lost_on_sqlite(void **state)
{
    const struct places *places = *state;

    storm(&places->sqlite);
}

static void no_signal_of_sixteen_senders_is_lost_on_postgres(void **state)
{
    const struct places *places = *state;

    storm(&places->postgres);
}

/* ---- a store that is slow, refuses, and loses answers --------------------------------------- */

struct fault_plan {
    pthread_mutex_t mutex; /* guards what follows: several threads call the store */
    uint64_t random;
    bool disabled;
    unsigned faults;
};

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    const struct timespec late = {.tv_nsec = 200000};
    struct fault_plan *plan = ctx;
    uint64_t dice;
    bool hit;

    if (call == PAWL_STORE_CALL_LEASE || call == PAWL_STORE_CALL_WAIT ||
        pthread_mutex_lock(&plan->mutex) != 0)
        return false;
    dice = test_random(&plan->random) % 100;
    hit = !plan->disabled && dice < 6;
    plan->faults += hit;
    *how = dice < 3 ? PAWL_STORE_FAULT_BEFORE : PAWL_STORE_FAULT_AFTER;
    (void)pthread_mutex_unlock(&plan->mutex);
    if (dice >= 98)
        (void)nanosleep(&late, NULL); /* the store is slow, not the test */
    return hit;
}

/* As a caller does who wants it accepted: the key makes that safe. */
static void send_until_accepted(struct stage *stage, const char *event, const char *key)
{
    unsigned tries = 0;
    int status;

    do {
        status = stage_send(stage, event, key, NULL);
    } while (status != PAWL_OK && ++tries < 100);
    assert_ok(status, NULL);
}

static uint64_t count_finished(struct stage *stage)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "sub_status"),
        .value = {.text = pawl__str("Finished")}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage),
                              &stage->err),
              &stage->err);
    return rows.total;
}

static void triggers_under_faults_leave_nothing_stuck_and_nothing_double(void **state)
{
    const unsigned count = stage_size(2000, 50000);
    struct fault_plan plan = {.mutex = PTHREAD_MUTEX_INITIALIZER, .random = 5, .disabled = true};
    const struct stage_options options = {.faults = {.decide = decide, .ctx = &plan}};
    const struct pawl_pool_options threads = {.workers = 4};
    struct pawl_pool *pool;
    struct stage stage;

    (void)state;
    stage_open(&stage, &options);
    stage_publish(&stage, DEFINITION("d", "",
                                     TRIGGER("t", "Fire") "," //
                                     DELAY("w", "00:00:00.0010000")));
    assert_ok(pawl__pool_open(stage.env, stage.runtime, &threads, &pool, &stage.err), &stage.err);
    plan.disabled = false;
    for (unsigned i = 0; i < count; i++) {
        char key[32];

        (void)snprintf(key, sizeof key, "fire-%u", i);
        send_until_accepted(&stage, "Fire", key);
    }
    assert_int_equal(pthread_mutex_lock(&plan.mutex), 0);
    plan.disabled = true;
    assert_int_equal(pthread_mutex_unlock(&plan.mutex), 0);
    stage_settle(&stage, false);
    pawl__pool_close(pool);
    print_message("# %u triggers, %u faults\n", count, plan.faults);
    assert_true(plan.faults > count / 20);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_INSTANCES), count);
    assert_int_equal(count_finished(&stage), count);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_DEAD_LETTERS), 0);
    stage_close(&stage);
}

/* ---- quick resumes ------------------------------------------------------------------------- */

static void resume_quickly(const struct place *place, unsigned count)
{
    const struct pawl_pool_options threads = {.workers = 4};
    struct stage_options options = {0};
    char uri[PLACE_URI_MAX], id[32];
    struct pawl_pool *pool;
    struct stage stage;

    if (place->kind != PLACE_MEMORY)
        options.uri = place_fresh(place, uri);
    stage_open(&stage, &options);
    stage_publish(&stage, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "i%u", i);
        stage_start(&stage, "d", id);
    }
    assert_ok(pawl__pool_open(stage.env, stage.runtime, &threads, &pool, &stage.err), &stage.err);
    for (unsigned i = 0; i < count; i++) {
        struct pawl_stimulus to = {0};
        struct pawl_sent sent;

        (void)snprintf(id, sizeof id, "i%u", i);
        to.instance_id = pawl__str(id);
        assert_ok(pawl__runtime_send_event(stage.runtime, pawl__str("Go"), NULL, &to, &sent,
                                           stage_later(&stage), &stage.err),
                  &stage.err);
        assert_int_equal(sent.resumed, 1);
    }
    stage_settle(&stage, false);
    pawl__pool_close(pool);
    assert_int_equal(count_finished(&stage), count);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_BOOKMARKS), 0);
    stage_close(&stage);
}

static void resumes_that_were_answered_are_done_in_memory(void **state)
{
    const struct places *places = *state;

    resume_quickly(&places->memory, stage_size(200, 200000));
}

static void resumes_that_were_answered_are_done_on_sqlite(void **state)
{
    const struct places *places = *state;

    resume_quickly(&places->sqlite, stage_size(200, 20000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_that_a_killed_node_accepted_are_applied_once_on_sqlite),
        cmocka_unit_test(events_that_a_killed_node_accepted_are_applied_once_on_postgres),
        cmocka_unit_test(no_signal_of_sixteen_senders_is_lost_in_memory),
        cmocka_unit_test(no_signal_of_sixteen_senders_is_lost_on_sqlite),
        cmocka_unit_test(no_signal_of_sixteen_senders_is_lost_on_postgres),
        cmocka_unit_test(triggers_under_faults_leave_nothing_stuck_and_nothing_double),
        cmocka_unit_test(resumes_that_were_answered_are_done_in_memory),
        cmocka_unit_test(resumes_that_were_answered_are_done_on_sqlite),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
