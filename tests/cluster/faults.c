/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault sweep: the scenario in this process, with its first, second, … call to the store
 * refused once, and then with each done and its answer lost once. The node lives on and its caller
 * tries again, and the account must be that of a run without faults. Where answers are lost, events
 * have no keys: who sends one sends it once.
 *
 *     FAULTS_STORE   postgres: on a server; sqlite; else in memory
 *     FAULTS_EVERY   with a server, every so many-th call; 1: all
 */
#include "cluster/outside.h"
#include "cluster/places.h"
#include "cluster/scenario.h"
#include "lib/test.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT_BYTES_MAX ((size_t)1 << 20)
/* Far more than the scenario makes. */
#define CALLS_MAX 2000u
#define PATIENCE_NS INT64_C(60000000000)

struct sweep {
    pthread_mutex_t mutex; /* guards what follows: the keeper and the committer call too */
    unsigned calls;
    unsigned fault_at; /* 0: never */
    enum pawl_store_fault how;
    enum pawl_store_call hit; /* the call that had the fault */
    unsigned lines;
    unsigned resent;
};

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct sweep *sweep = ctx;
    bool hit;

    if (call == PAWL_STORE_CALL_WAIT)
        return false; /* nothing depends on it, and how often it is called depends on the weather */
    assert_int_equal(pthread_mutex_lock(&sweep->mutex), 0);
    hit = ++sweep->calls == sweep->fault_at;
    if (hit) {
        *how = sweep->how;
        sweep->hit = call;
    }
    assert_int_equal(pthread_mutex_unlock(&sweep->mutex), 0);
    return hit;
}

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct sweep *sweep = ctx;

    (void)instance_id;
    (void)text;
    assert_int_equal(pthread_mutex_lock(&sweep->mutex), 0);
    sweep->lines++;
    assert_int_equal(pthread_mutex_unlock(&sweep->mutex), 0);
    return PAWL_OK;
}

/* One run on a fresh store; false: it ended before the fault came. */
static bool run(struct sweep *sweep, const char *store, unsigned fault_at,
                enum pawl_store_fault how, struct pawl_buf *account)
{
    struct test_http *server = outside_start();
    const struct scenario_options options = {
        .store = store,
        .node = "a",
        .url = test_http_url(server),
        .keyless = how == PAWL_STORE_FAULT_AFTER,
        .faults = {.decide = decide, .ctx = sweep},
        .line = on_line,
        .ctx = sweep,
        .patience_ns = PATIENCE_NS,
    };
    struct pawl_error err = PAWL_ERROR_INIT;
    struct scenario *scenario = NULL;
    bool hit;
    int status;

    sweep->calls = sweep->lines = 0;
    sweep->fault_at = fault_at;
    sweep->how = how;
    status = scenario_open(&options, &scenario, &err);
    if (status == PAWL_OK)
        status = scenario_drive(scenario, &err);
    hit = fault_at > 0 && sweep->calls >= fault_at;
    pawl__buf_clear(account);
    if (scenario && scenario_account(scenario, account, NULL) != PAWL_OK)
        pawl__buf_text(account, "no account\n");
    scenario_close(scenario);
    if (status != PAWL_OK)
        fail_msg("call %u (%s) %s: %s\n%s", fault_at, pawl__store_call_name(sweep->hit),
                 how == PAWL_STORE_FAULT_BEFORE ? "refused" : "lost", err.msg,
                 pawl__buf_cstr(account));
    sweep->resent += outside_end(server, "a run with a fault");
    return hit;
}

static void sweep_store(const struct place *place, enum pawl_store_fault how, unsigned every)
{
    struct sweep sweep = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct test_allocator alloc;
    struct pawl_buf expected, account;
    char store[PLACE_URI_MAX];
    unsigned n = 0, most_lines = 0, faults = 0, first = 1 + (unsigned)(test_rotation() % every);
    bool hit = true;

    test_allocator_init(&alloc);
    pawl__buf_init(&expected, &alloc.base, ACCOUNT_BYTES_MAX);
    pawl__buf_init(&account, &alloc.base, ACCOUNT_BYTES_MAX);
    (void)run(&sweep, place_fresh(place, store), 0, how, &expected);
    assert_int_equal(sweep.lines, SCENARIO_LINES);
    for (n = first; hit && n < CALLS_MAX; n += every) {
        hit = run(&sweep, place_fresh(place, store), n, how, &account);
        faults += hit;
        if (!pawl__str_equal(pawl__buf_peek(&account), pawl__buf_peek(&expected)))
            fail_msg("call %u (%s) %s; the account is\n%s\nnot\n%s", n,
                     pawl__store_call_name(sweep.hit),
                     how == PAWL_STORE_FAULT_BEFORE ? "refused" : "lost", pawl__buf_cstr(&account),
                     pawl__buf_cstr(&expected));
        assert_in_range(sweep.lines, SCENARIO_LINES, SCENARIO_LINES + 1);
        if (sweep.lines > most_lines)
            most_lines = sweep.lines;
    }
    assert_false(hit);
    print_message("# %s: %u faults, at most %u lines instead of %u, %u requests repeated\n",
                  place->name, faults, most_lines, SCENARIO_LINES, sweep.resent);
    pawl__buf_release(&expected);
    pawl__buf_release(&account);
}

static unsigned every(void)
{
    const char *text = getenv("FAULTS_EVERY");

    return text && atoi(text) > 0 ? (unsigned)atoi(text) : 23;
}

static void a_refused_call_changes_nothing_in_memory(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->memory, PAWL_STORE_FAULT_BEFORE, 1);
}

static void a_lost_answer_changes_nothing_in_memory(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->memory, PAWL_STORE_FAULT_AFTER, 1);
}

static void a_refused_call_changes_nothing_on_sqlite(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->sqlite, PAWL_STORE_FAULT_BEFORE, 1);
}

static void a_lost_answer_changes_nothing_on_sqlite(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->sqlite, PAWL_STORE_FAULT_AFTER, 1);
}

static void a_refused_call_changes_nothing_on_postgres(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->postgres, PAWL_STORE_FAULT_BEFORE, every());
}

static void a_lost_answer_changes_nothing_on_postgres(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->postgres, PAWL_STORE_FAULT_AFTER, every());
}

int main(void)
{
    const char *store = getenv("FAULTS_STORE");
    const struct CMUnitTest memory[] = {
        cmocka_unit_test(a_refused_call_changes_nothing_in_memory),
        cmocka_unit_test(a_lost_answer_changes_nothing_in_memory),
    };
    const struct CMUnitTest sqlite[] = {
        cmocka_unit_test(a_refused_call_changes_nothing_on_sqlite),
        cmocka_unit_test(a_lost_answer_changes_nothing_on_sqlite),
    };
    const struct CMUnitTest server[] = {
        cmocka_unit_test(a_refused_call_changes_nothing_on_postgres),
        cmocka_unit_test(a_lost_answer_changes_nothing_on_postgres),
    };

    if (store && strcmp(store, "postgres") == 0)
        return cmocka_run_group_tests(server, places_set_up, places_tear_down);
    if (store && strcmp(store, "sqlite") == 0)
        return cmocka_run_group_tests(sqlite, places_set_up, places_tear_down);
    return cmocka_run_group_tests(memory, places_set_up, places_tear_down);
}
