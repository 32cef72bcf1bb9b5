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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_that_a_killed_node_accepted_are_applied_once_on_sqlite),
        cmocka_unit_test(events_that_a_killed_node_accepted_are_applied_once_on_postgres),
        cmocka_unit_test(no_signal_of_sixteen_senders_is_lost_in_memory),
        cmocka_unit_test(no_signal_of_sixteen_senders_is_lost_on_sqlite),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
