/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was answered OK is done: events for one instance that waits, accepted by a process that dies
 * right after its last answer, by many senders at once, and by a store that is slow, refuses, and
 * loses answers.
 */
#include "cluster/places.h"
#include "pains/stage.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS 1000u

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_that_a_killed_node_accepted_are_applied_once_on_sqlite),
        cmocka_unit_test(events_that_a_killed_node_accepted_are_applied_once_on_postgres),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
