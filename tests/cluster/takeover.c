/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takeover between two processes on one store. The owner of an instance is stopped in the middle of
 * a burst, by SIGSTOP or for good; when its lease of a second is over another node finishes. A
 * stopped one that is continued finds its commit refused, and the store as the other left it.
 */
#include "cluster/child.h"
#include "cluster/places.h"
#include "cluster/scenario.h"
#include "lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The second step: before its commit there was one. */
#define HELD_AT "m2"

/* Main as the store has it. */
struct seen {
    int64_t owner;
    int64_t fence;
    int64_t revision;
    char sub_status[32];
    char counter[32];
};

static void look(const char *store, struct seen *seen)
{
    const struct scenario_options options = {.store = store, .node = "looker"};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_instance_row row;
    struct scenario *scenario;

    assert_ok(scenario_open(&options, &scenario, &err), &err);
    assert_ok(scenario_instance(scenario, SCENARIO_MAIN_ID, &row, &err), &err);
    *seen = (struct seen){.owner = row.owner, .fence = row.fence, .revision = row.revision};
    (void)snprintf(seen->sub_status, sizeof seen->sub_status, "%.*s", PAWL_STR_ARG(row.sub_status));
    (void)snprintf(seen->counter, sizeof seen->counter, "%.*s", PAWL_STR_ARG(row.name));
    scenario_close(scenario);
}

/* Owns main, and stands before its second commit. */
static void start_owner(struct child *owner, const char *store, struct seen *seen)
{
    const char *const arguments[] = {store,     "--node", "a",     "--lease", "1000",
                                     "--start", "--hold", HELD_AT, NULL};

    child_start(owner, arguments);
    child_await_line(owner, "held");
    look(store, seen);
    assert_true(seen->owner != 0);
    assert_true(seen->revision > 0);
    assert_string_equal(seen->sub_status, "Executing");
}

/* Drives everything to its end: main too, as soon as it can be had. */
static void finish_elsewhere(const char *store, struct seen *seen)
{
    const char *const arguments[] = {store,        "--node", "b",         "--lease", "1000",
                                     "--patience", "50",     "--account", NULL};
    char output[CHILD_OUTPUT_MAX];
    struct child other;
    int status;

    child_start(&other, arguments);
    child_read_all(&other, output);
    status = child_wait(&other);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the other node ended with status %d:\n%s", status, output);
    look(store, seen);
    assert_string_equal(seen->sub_status, "Finished");
    assert_string_equal(seen->counter, "9");
    assert_int_equal(seen->owner, 0);
}

static void pause_owner(const struct place *place)
{
    char store[PLACE_URI_MAX], output[CHILD_OUTPUT_MAX];
    struct seen before, finished, after;
    struct child owner;
    int status;

    start_owner(&owner, place_fresh(place, store), &before);
    assert_int_equal(kill(owner.pid, SIGSTOP), 0);
    finish_elsewhere(store, &finished);
    assert_true(finished.revision > before.revision);
    assert_true(finished.fence > before.fence);
    /* Behind the pause it commits what it did before. */
    child_tell(&owner);
    assert_int_equal(kill(owner.pid, SIGCONT), 0);
    child_read_all(&owner, output);
    status = child_wait(&owner);
    assert_true(WIFEXITED(status));
    assert_int_equal(-WEXITSTATUS(status), PAWL_EUNKNOWN); /* it has begun, and goes on elsewhere */
    assert_null(strstr(output, "line main begins"));       /* an effect of what was not committed */
    look(store, &after);
    assert_int_equal(after.revision, finished.revision);
    assert_int_equal(after.fence, finished.fence);
    assert_string_equal(after.counter, finished.counter);
}

static void kill_owner(const struct place *place)
{
    char store[PLACE_URI_MAX];
    struct seen before, finished;
    struct child owner;
    int status;

    start_owner(&owner, place_fresh(place, store), &before);
    assert_int_equal(kill(owner.pid, SIGKILL), 0);
    status = child_wait(&owner);
    assert_true(WIFSIGNALED(status));
    finish_elsewhere(store, &finished);
    assert_true(finished.revision > before.revision);
    assert_true(finished.fence > before.fence);
}

static void a_paused_owner_is_refused_on_sqlite(void **state)
{
    const struct places *places = *state;

    pause_owner(&places->sqlite);
}

static void a_paused_owner_is_refused_on_postgres(void **state)
{
    const struct places *places = *state;

    pause_owner(&places->postgres);
}

static void a_killed_burst_is_finished_by_another_process_on_sqlite(void **state)
{
    const struct places *places = *state;

    kill_owner(&places->sqlite);
}

static void a_killed_burst_is_finished_by_another_process_on_postgres(void **state)
{
    const struct places *places = *state;

    kill_owner(&places->postgres);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paused_owner_is_refused_on_sqlite),
        cmocka_unit_test(a_paused_owner_is_refused_on_postgres),
        cmocka_unit_test(a_killed_burst_is_finished_by_another_process_on_sqlite),
        cmocka_unit_test(a_killed_burst_is_finished_by_another_process_on_postgres),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
