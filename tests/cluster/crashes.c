/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash sweep: a node that kills itself right before its first, second, … call that writes
 * (apply, claim, take, lease), or right after it took effect; then a node that is left alone. The
 * account must be that of a run in which nobody died.
 *
 * Under the same node id the second one has all that the first one held at once; under another id
 * it must wait for the first one's lease, of a second, to end.
 *
 * The same with power cuts, on a disk that forgets what was not synced (power/disk.h). What the
 * node that died had accepted must be there.
 *
 * The same with distributed locks, of files and of the store's own server: calls to the lock
 * service are among those at which the node dies, and whoever goes on finds locks that a dead node
 * held.
 *
 *     CRASHES_STORE   postgres: on a server; power: on SQLite, with power cuts; locks: with
 *                     distributed locks, on both; else on SQLite
 *     CRASHES_EVERY   how many calls apart, with a server and with leases; 1: all
 */
#include "cluster/child.h"
#include "cluster/lines.h"
#include "cluster/outside.h"
#include "cluster/places.h"
#include "cluster/scenario.h"
#include "lib/test.h"
#include "runtime/runtime.h"
#include "stores/stores.h"

#include "base/arena.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CALLS_MAX 1000u

/* How a node is started, beside what it is to do. */
struct setting {
    const char *store;
    const char *locks; /* NULL: none */
    const char *url;   /* of the server outside */
};

struct sweep {
    const struct place *place;
    enum place_locks locks;
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

/* ---- looking at the store of a node that died ------------------------------------------------ */

struct looker {
    struct pawl_env *env;
    struct pawl_store *store;
};

static void looker_open(struct looker *looker, const char *uri)
{
    static const char sqlite[] = "sqlite:";
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    assert_ok(pawl_system_env_open(&looker->env, &err), &err);
    if (strncmp(uri, sqlite, sizeof sqlite - 1) == 0)
        status = pawl__sqlite_store_open(looker->env, pawl__str(uri + sizeof sqlite - 1), &options,
                                         &looker->store, &err);
    else
        status =
            pawl__postgres_store_open(looker->env, pawl__str(uri), &options, &looker->store, &err);
    assert_ok(status, &err);
}

static void looker_close(struct looker *looker)
{
    pawl_store_close(looker->store);
    pawl_system_env_close(looker->env);
}

static unsigned count_rows(struct looker *looker, enum pawl_table table, const char *column,
                           struct pawl_str value)
{
    const struct pawl_condition condition = {.column = pawl_table_column(table, column),
                                             .value = {.text = value}};
    const struct pawl_query query = {
        .table = table, .flags = PAWL_QUERY_COUNT, .conditions = &condition, .condition_count = 1};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;

    pawl__arena_init(&arena, &looker->env->alloc, (size_t)1 << 20);
    assert_ok(pawl_store_find(looker->store, &query, &arena, &rows, PAWL_FOREVER, &err), &err);
    pawl__arena_release(&arena);
    return (unsigned)rows.total;
}

/* Lines whose rows are in the store: they are written once more, or for the first time. */
static unsigned count_lines_left(const char *uri)
{
    struct looker looker;
    unsigned left;

    looker_open(&looker, uri);
    left = count_rows(&looker, PAWL_TABLE_WORK, "kind", pawl__str(PAWL_WORK_CONSOLE));
    looker_close(&looker);
    return left;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* From "--" to before "calls". */
static const char *account_in(char *output)
{
    char *account = strstr(output, "--\n"), *end = account ? strstr(account, "calls ") : NULL;

    if (!end)
        return "none";
    *end = '\0';
    return account;
}

/* A run that must end well; its account is in `output`, and what it wrote in `lines`. */
static void run_to_end(const struct setting *setting, const char *node, const char *what,
                       char *output, struct lines *lines)
{
    const char *const arguments[] = {
        setting->store, "--node",     node,
        "--url",        setting->url, "--patience",
        "30",           "--account",  setting->locks ? "--locks" : NULL,
        setting->locks, NULL};
    struct child child;
    int status;

    child_start(&child, arguments);
    child_read_all(&child, output);
    status = child_wait(&child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: the node that went on ended with status %d:\n%s", what, status, output);
    *lines = (struct lines){0};
    lines_read(lines, output);
}

/* False: it ended before the nth call. */
static bool run_to_crash(const struct sweep *sweep, const struct setting *setting, unsigned n,
                         struct lines *lines)
{
    char number[16], output[CHILD_OUTPUT_MAX];
    const char *const arguments[] = {
        setting->store, "--node",     "a",         "--url", setting->url,
        "--lease",      sweep->lease, sweep->when, number,  setting->locks ? "--locks" : NULL,
        setting->locks, NULL};
    struct child child;
    int status;

    (void)snprintf(number, sizeof number, "%u", n);
    child_start(&child, arguments);
    child_read_all(&child, output);
    status = child_wait(&child);
    *lines = (struct lines){0};
    lines_read(lines, output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("%s %u: the node ended with status %d, not killed:\n%s", sweep->when, n, status,
                 output);
    return true;
}

/* An empty store, and a server outside. */
static struct setting begin(const struct sweep *sweep, char *store, char *locks,
                            struct test_http **server)
{
    struct setting setting = {.store = place_fresh(sweep->place, store)};

    *server = outside_start();
    setting.url = test_http_url(*server);
    setting.locks = place_locks(sweep->place, sweep->locks, store, locks);
    return setting;
}

static void sweep_calls(const struct sweep *sweep)
{
    char store[PLACE_URI_MAX], locks[PLACE_URI_MAX], what[64];
    char expected[CHILD_OUTPUT_MAX], output[CHILD_OUTPUT_MAX];
    const char *account;
    struct test_http *server;
    struct setting setting = begin(sweep, store, locks, &server);
    unsigned n, crashes = 0, repeated = 0, resent = 0, left;
    struct lines before, after;
    unsigned first = 1 + (unsigned)(test_rotation() % sweep->every);
    bool crashed = true;

    run_to_end(&setting, "a", "undisturbed", expected, &after);
    assert_int_equal(lines_check(&(struct lines){0}, &after, 0, "undisturbed"), 0);
    assert_int_equal(outside_end(server, "undisturbed"), 0);
    account = account_in(expected);
    for (n = first; crashed && n < CALLS_MAX; n += sweep->every) {
        setting = begin(sweep, store, locks, &server);
        crashed = run_to_crash(sweep, &setting, n, &before);
        (void)snprintf(what, sizeof what, "killed %s call %u", sweep->when + 2, n);
        left = crashed ? count_lines_left(store) : 0;
        run_to_end(&setting, sweep->other, what, output, &after);
        if (strcmp(account_in(output), account) != 0)
            fail_msg("%s, the account is\n%s\nnot\n%s", what, account_in(output), account);
        repeated += lines_check(&before, &after, left, what);
        resent += outside_end(server, what);
        crashes += crashed;
    }
    assert_false(crashed);
    print_message("# %s%s, %s: %u crashes at calls %u, %u, … %u; %u lines repeated, %u requests\n",
                  sweep->place->name, sweep->locks == PLACE_UNLOCKED ? "" : " with locks",
                  sweep->when + 2, crashes, first, first + sweep->every, n - 2 * sweep->every,
                  repeated, resent);
}

/* ---- power cuts ------------------------------------------------------------------------------ */

#define CUTS 60u

static uint64_t count_disk_calls(const char *store, const char *url)
{
    const char *const arguments[] = {store, "--node", "a", "--url", url, "--cut", "0", NULL};
    char output[CHILD_OUTPUT_MAX];
    struct child child;
    const char *said;

    child_start(&child, arguments);
    child_read_all(&child, output);
    assert_int_equal(child_wait(&child), 0);
    said = strstr(output, "disk ");
    assert_non_null(said);
    return strtoull(said + 5, NULL, 10);
}

/* All that the output says was accepted. Returns how much that is. */
static unsigned check_accepted(const char *uri, const char *output, const char *what)
{
    static const char word[] = "accepted ";
    struct looker looker;
    unsigned count = 0;

    looker_open(&looker, uri);
    for (const char *at = output; (at = strstr(at, word)) != NULL; count++) {
        at += sizeof word - 1;
        if (count_rows(&looker, PAWL_TABLE_RESERVATIONS, "key",
                       pawl__str_make(at, strcspn(at, "\n"))) == 0)
            fail_msg("%s: %.*s was accepted, and is not there", what, (int)strcspn(at, "\n"), at);
    }
    looker_close(&looker);
    return count;
}

/* Returns how much had been accepted. */
static unsigned cut_power(const struct place *place, uint64_t at, const char *expected)
{
    char store[PLACE_URI_MAX], output[CHILD_OUTPUT_MAX], number[24], manner[4], what[64];
    struct test_http *server = outside_start();
    const char *const arguments[] = {place_fresh(place, store),
                                     "--node",
                                     "a",
                                     "--url",
                                     test_http_url(server),
                                     "--cut",
                                     number,
                                     "--manner",
                                     manner,
                                     NULL};
    const struct setting setting = {.store = store, .url = test_http_url(server)};
    struct lines before = {0}, after;
    unsigned accepted, left;
    struct child child;
    int status;

    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)at);
    (void)snprintf(manner, sizeof manner, "%u", (unsigned)(at % 3));
    (void)snprintf(what, sizeof what, "power cut at call %s, manner %s", number, manner);
    child_start(&child, arguments);
    child_read_all(&child, output);
    status = child_wait(&child);
    if (!WIFSIGNALED(status) && status != 0)
        fail_msg("%s: the node ended with status %d:\n%s", what, status, output);
    lines_read(&before, output);
    accepted = check_accepted(store, output, what);
    left = count_lines_left(store);
    run_to_end(&setting, "a", what, output, &after);
    if (strcmp(account_in(output), expected) != 0)
        fail_msg("%s, the account is\n%s\nnot\n%s", what, account_in(output), expected);
    (void)lines_check(&before, &after, left, what);
    (void)outside_end(server, what);
    return accepted;
}

static void a_node_goes_on_after_a_power_cut(void **state)
{
    const struct places *places = *state;
    struct test_http *server = outside_start();
    char store[PLACE_URI_MAX], output[CHILD_OUTPUT_MAX];
    unsigned cuts = 0, accepted = 0;
    struct setting setting;
    const char *expected;
    uint64_t calls, step, at;
    struct lines lines;

    setting = (struct setting){.store = place_fresh(&places->sqlite, store),
                               .url = test_http_url(server)};
    run_to_end(&setting, "a", "undisturbed", output, &lines);
    expected = account_in(output);
    (void)outside_end(server, "undisturbed");
    server = outside_start();
    calls = count_disk_calls(place_fresh(&places->sqlite, store), test_http_url(server));
    (void)outside_end(server, "counted");
    step = calls / CUTS + 1;
    for (at = 1 + test_rotation() % step; at <= calls; at += step, cuts++)
        accepted += cut_power(&places->sqlite, at, expected);
    print_message("# %u power cuts, one each %llu of %llu calls; %u starts and events accepted\n",
                  cuts, (unsigned long long)step, (unsigned long long)calls, accepted);
    assert_true(accepted > cuts);
}

/* ---- deaths ---------------------------------------------------------------------------------- */

/* Both before and after the calls. `another`: under another id than that of the node that died. */
static void sweep_locked(const struct place *place, enum place_locks locks, bool another,
                         unsigned step)
{
    struct sweep sweep = {
        .place = place,
        .locks = locks,
        .other = another ? "b" : "a",
        .lease = another ? "1000" : "10000",
        .every = step,
    };

    sweep.when = "--before";
    sweep_calls(&sweep);
    sweep.when = "--after";
    sweep_calls(&sweep);
}

static void sweep_place(const struct place *place, bool another, unsigned step)
{
    sweep_locked(place, PLACE_UNLOCKED, another, step);
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

static void a_node_that_comes_back_goes_on_with_file_locks(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->sqlite, PLACE_LOCKED_BY_FILES, false, every(29));
}

static void another_node_takes_over_with_file_locks(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->sqlite, PLACE_LOCKED_BY_FILES, true, every(61));
}

static void a_node_that_comes_back_goes_on_with_locks_of_claims(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->postgres, PLACE_LOCKED_BY_CLAIMS, false, every(41));
}

static void another_node_takes_over_with_locks_of_claims(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->postgres, PLACE_LOCKED_BY_CLAIMS, true, every(61));
}

static void another_node_takes_over_with_postgres_locks(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->postgres, PLACE_LOCKED_BY_POSTGRES, true, every(61));
}

int main(void)
{
    const char *store = getenv("CRASHES_STORE");
    const struct CMUnitTest sqlite[] = {
        cmocka_unit_test(a_node_that_comes_back_goes_on_on_sqlite),
        cmocka_unit_test(another_node_takes_over_on_sqlite),
    };
    const struct CMUnitTest power[] = {
        cmocka_unit_test(a_node_goes_on_after_a_power_cut),
    };
    const struct CMUnitTest postgres[] = {
        cmocka_unit_test(a_node_that_comes_back_goes_on_on_postgres),
        cmocka_unit_test(another_node_takes_over_on_postgres),
    };

    const struct CMUnitTest locks[] = {
        cmocka_unit_test(a_node_that_comes_back_goes_on_with_file_locks),
        cmocka_unit_test(another_node_takes_over_with_file_locks),
        cmocka_unit_test(a_node_that_comes_back_goes_on_with_locks_of_claims),
        cmocka_unit_test(another_node_takes_over_with_locks_of_claims),
        cmocka_unit_test(another_node_takes_over_with_postgres_locks),
    };

    if (store && strcmp(store, "locks") == 0)
        return cmocka_run_group_tests(locks, places_set_up, places_tear_down);
    if (store && strcmp(store, "power") == 0)
        return cmocka_run_group_tests(power, places_set_up, places_tear_down);
    if (store && strcmp(store, "postgres") == 0)
        return cmocka_run_group_tests(postgres, places_set_up, places_tear_down);
    return cmocka_run_group_tests(sqlite, places_set_up, places_tear_down);
}
