/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash sweep: a node that kills itself right before its first, second, … call that writes
 * (apply, claim, take, lease), or right after it took effect; then a node that is left alone. The
 * account must be that of a run in which nobody died.
 *
 * Under the same node id the second one has all that the first one held at once; under another id
 * it must wait for the first one's lease, of a second, to end.
 *
 *     CRASHES_STORE   postgres: on a server; else on SQLite
 *     CRASHES_EVERY   how many calls apart, with a server and with leases; 1: all
 */
#include "cluster/child.h"
#include "cluster/outside.h"
#include "cluster/places.h"
#include "cluster/scenario.h"
#include "lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CALLS_MAX 1000u

struct sweep {
    const struct place *place;
    const char *when;  /* "--before", "--after" */
    const char *other; /* id of the node that goes on; "a" is the one that died */
    const char *lease; /* of the one that dies */
    unsigned every;
};

static unsigned every(unsigned otherwise)
{
    const char *text = getenv("CRASHES_EVERY");

    return text && atoi(text) > 0 ? (unsigned)atoi(text) : otherwise;
}

static unsigned lines_in(const char *output)
{
    unsigned lines = 0;

    for (const char *at = output; (at = strstr(at, "line ")) != NULL; at += 5)
        lines++;
    return lines;
}

/* From "--" to before "calls". */
static const char *account_in(char *output)
{
    char *account = strstr(output, "--\n"), *end = account ? strstr(account, "calls ") : NULL;

    if (!end)
        return "none";
    *end = '\0';
    return account;
}

/* A run that must end well; its account is in `output`. Answers how many lines it wrote. */
static unsigned run_to_end(const char *store, const char *url, const char *node, const char *what,
                           char *output)
{
    const char *const arguments[] = {store,        "--node", node,        "--url", url,
                                     "--patience", "30",     "--account", NULL};
    struct child child;
    int status;

    child_start(&child, arguments);
    child_read_all(&child, output);
    status = child_wait(&child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: the node that went on ended with status %d:\n%s", what, status, output);
    return lines_in(output);
}

/* False: it ended before the nth call. */
static bool run_to_crash(const struct sweep *sweep, const char *store, const char *url, unsigned n,
                         unsigned *lines)
{
    char number[16], output[CHILD_OUTPUT_MAX];
    const char *const arguments[] = {store,     "--node",     "a",         "--url", url,
                                     "--lease", sweep->lease, sweep->when, number,  NULL};
    struct child child;
    int status;

    (void)snprintf(number, sizeof number, "%u", n);
    child_start(&child, arguments);
    child_read_all(&child, output);
    status = child_wait(&child);
    *lines = lines_in(output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("%s %u: the node ended with status %d, not killed:\n%s", sweep->when, n, status,
                 output);
    return true;
}

static void sweep_calls(const struct sweep *sweep)
{
    char store[PLACE_URI_MAX], expected[CHILD_OUTPUT_MAX], output[CHILD_OUTPUT_MAX], what[64];
    const char *account;
    struct test_http *server = outside_start();
    unsigned n, crashes = 0, repeated = 0, resent = 0, lines = 0, before;
    unsigned first = 1 + (unsigned)(test_rotation() % sweep->every);
    bool crashed = true;

    lines = run_to_end(place_fresh(sweep->place, store), test_http_url(server), "a", "undisturbed",
                       expected);
    assert_int_equal(lines, SCENARIO_LINES);
    assert_int_equal(outside_end(server, "undisturbed"), 0);
    account = account_in(expected);
    for (n = first; crashed && n < CALLS_MAX; n += sweep->every) {
        (void)place_fresh(sweep->place, store);
        server = outside_start();
        crashed = run_to_crash(sweep, store, test_http_url(server), n, &before);
        (void)snprintf(what, sizeof what, "killed %s call %u", sweep->when + 2, n);
        lines = before + run_to_end(store, test_http_url(server), sweep->other, what, output);
        if (strcmp(account_in(output), account) != 0)
            fail_msg("%s, the account is\n%s\nnot\n%s", what, account_in(output), account);
        /* Effects are done at least once; again only those that were done before the death. */
        assert_in_range(lines, SCENARIO_LINES, SCENARIO_LINES + (crashed ? before : 0));
        repeated += lines - SCENARIO_LINES;
        resent += outside_end(server, what);
        crashes += crashed;
    }
    assert_false(crashed);
    print_message("# %s, %s: %u crashes at calls %u, %u, …; %u lines repeated, %u requests\n",
                  sweep->place->name, sweep->when + 2, crashes, first, first + sweep->every,
                  repeated, resent);
}

/* Both before and after the calls. `another`: under another id than that of the node that died. */
static void sweep_place(const struct place *place, bool another, unsigned step)
{
    struct sweep sweep = {
        .place = place,
        .other = another ? "b" : "a",
        .lease = another ? "1000" : "10000",
        .every = step,
    };

    sweep.when = "--before";
    sweep_calls(&sweep);
    sweep.when = "--after";
    sweep_calls(&sweep);
}

static void a_node_that_comes_back_goes_on_on_sqlite(void **state)
{
    const struct places *places = *state;

    sweep_place(&places->sqlite, false, 1);
}

static void another_node_takes_over_on_sqlite(void **state)
{
    const struct places *places = *state;

    sweep_place(&places->sqlite, true, every(13));
}

static void a_node_that_comes_back_goes_on_on_postgres(void **state)
{
    const struct places *places = *state;

    sweep_place(&places->postgres, false, every(11));
}

static void another_node_takes_over_on_postgres(void **state)
{
    const struct places *places = *state;

    sweep_place(&places->postgres, true, every(19));
}

int main(void)
{
    const char *store = getenv("CRASHES_STORE");
    const struct CMUnitTest sqlite[] = {
        cmocka_unit_test(a_node_that_comes_back_goes_on_on_sqlite),
        cmocka_unit_test(another_node_takes_over_on_sqlite),
    };
    const struct CMUnitTest postgres[] = {
        cmocka_unit_test(a_node_that_comes_back_goes_on_on_postgres),
        cmocka_unit_test(another_node_takes_over_on_postgres),
    };

    if (store && strcmp(store, "postgres") == 0)
        return cmocka_run_group_tests(postgres, places_set_up, places_tear_down);
    return cmocka_run_group_tests(sqlite, places_set_up, places_tear_down);
}
