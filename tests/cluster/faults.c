/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault sweep: the scenario in this process, with its first, second, … call to the store
 * refused once, and then with each done and its answer lost once. The node lives on and its caller
 * tries again, and the account must be that of a run without faults: it performs no effect twice.
 * Where answers are lost, events have no keys: who sends one sends it once.
 *
 * The same with distributed locks, of files and of the store's own server; and with one call to the
 * lock service refused, or its answer lost.
 *
 *     FAULTS_STORE   postgres: on a server; sqlite; locks: both, with distributed locks; else in
 *                    memory
 *     FAULTS_EVERY   with a server and with locks, every so many-th call; 1: all
 */
#include "cluster/lines.h"
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
/* However long the machine stands still, nobody takes over. With locks a node waits for so long. */
#define LEASE_US INT64_C(600000000)

struct sweep {
    const struct place *place;
    enum place_locks locks;
    bool of_locks; /* calls to the lock service are counted and have faults, not the store's */
    pthread_mutex_t mutex; /* guards what follows: the keeper and the committer call too */
    unsigned calls;
    unsigned fault_at; /* 0: never */
    enum pawl_store_fault how;
    const char *hit; /* the call that had the fault */
    struct lines lines;
    unsigned resent;
};

/* Whether this call has the fault. */
static bool count_call(struct sweep *sweep, const char *name)
{
    bool hit;

    assert_int_equal(pthread_mutex_lock(&sweep->mutex), 0);
    hit = ++sweep->calls == sweep->fault_at;
    if (hit)
        sweep->hit = name;
    assert_int_equal(pthread_mutex_unlock(&sweep->mutex), 0);
    return hit;
}

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct sweep *sweep = ctx;

    /* Nothing depends on a wait, and how often it is called depends on the weather. */
    if (call == PAWL_STORE_CALL_WAIT || sweep->of_locks)
        return false;
    *how = sweep->how;
    return count_call(sweep, pawl__store_call_name(call));
}

static void decide_lock(void *ctx, enum pawl_lock_call call, struct pawl_lock_fault_order *order)
{
    struct sweep *sweep = ctx;

    if (sweep->of_locks && count_call(sweep, pawl__lock_call_name(call)))
        order->kind =
            sweep->how == PAWL_STORE_FAULT_BEFORE ? PAWL_LOCK_FAULT_BEFORE : PAWL_LOCK_FAULT_AFTER;
}

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct sweep *sweep = ctx;

    (void)instance_id;
    assert_int_equal(pthread_mutex_lock(&sweep->mutex), 0);
    lines_add(&sweep->lines, text);
    assert_int_equal(pthread_mutex_unlock(&sweep->mutex), 0);
    return PAWL_OK;
}

static const char *fate_of(const struct sweep *sweep)
{
    return sweep->how == PAWL_STORE_FAULT_BEFORE ? "refused" : "lost";
}

/* One run on a fresh store; false: it ended before the fault came. */
static bool run(struct sweep *sweep, unsigned fault_at, struct pawl_buf *account)
{
    char store[PLACE_URI_MAX], locks[PLACE_URI_MAX];
    struct test_http *server = outside_start();
    const struct scenario_options options = {
        .store = place_fresh(sweep->place, store),
        .locks = place_locks(sweep->place, sweep->locks, store, locks),
        .lock_faults = {.decide = decide_lock, .ctx = sweep},
        .node = "a",
        .lease_us = sweep->locks == PLACE_UNLOCKED ? LEASE_US : 0,
        .url = test_http_url(server),
        .keyless = sweep->how == PAWL_STORE_FAULT_AFTER,
        .faults = {.decide = decide, .ctx = sweep},
        .line = on_line,
        .ctx = sweep,
        .patience_ns = PATIENCE_NS,
    };
    struct pawl_error err = PAWL_ERROR_INIT;
    struct scenario *scenario = NULL;
    bool hit;
    int status;

    sweep->calls = 0;
    sweep->lines = (struct lines){0};
    sweep->fault_at = fault_at;
    status = scenario_open(&options, &scenario, &err);
    if (status == PAWL_OK)
        status = scenario_drive(scenario, &err);
    hit = fault_at > 0 && sweep->calls >= fault_at;
    pawl__buf_clear(account);
    if (scenario && scenario_account(scenario, account, NULL) != PAWL_OK)
        pawl__buf_text(account, "no account\n");
    scenario_close(scenario);
    if (status != PAWL_OK)
        fail_msg("call %u (%s) %s: %s\n%s", fault_at, sweep->hit, fate_of(sweep), err.msg,
                 pawl__buf_cstr(account));
    sweep->resent += outside_end(server, "a run with a fault");
    return hit;
}

static void sweep_calls(struct sweep *sweep, unsigned every)
{
    struct test_allocator alloc;
    struct pawl_buf expected, account;
    char what[64];
    unsigned n = 0, faults = 0, first = 1 + (unsigned)(test_rotation() % every);
    const struct lines none = {0};
    bool hit = true;

    test_allocator_init(&alloc);
    pawl__buf_init(&expected, &alloc.base, ACCOUNT_BYTES_MAX);
    pawl__buf_init(&account, &alloc.base, ACCOUNT_BYTES_MAX);
    (void)run(sweep, 0, &expected);
    (void)lines_check(&sweep->lines, &none, 0, "undisturbed");
    assert_true(sweep->calls > every); /* or there would be nothing to sweep */
    for (n = first; hit && n < CALLS_MAX; n += every) {
        hit = run(sweep, n, &account);
        faults += hit;
        if (!pawl__str_equal(pawl__buf_peek(&account), pawl__buf_peek(&expected)))
            fail_msg("call %u (%s) %s; the account is\n%s\nnot\n%s", n, sweep->hit, fate_of(sweep),
                     pawl__buf_cstr(&account), pawl__buf_cstr(&expected));
        (void)snprintf(what, sizeof what, "call %u %s", n, fate_of(sweep));
        (void)lines_check(&sweep->lines, &none, 0, what);
        if (sweep->resent > 0)
            fail_msg("%s: a request was sent again", what);
    }
    assert_false(hit);
    print_message("# %s%s: %u faults at calls %u, %u, … %u\n", sweep->place->name,
                  sweep->of_locks                  ? ", calls of locks"
                  : sweep->locks != PLACE_UNLOCKED ? " with locks"
                                                   : "",
                  faults, first, first + every, n - 2 * every);
    pawl__buf_release(&expected);
    pawl__buf_release(&account);
}

static void sweep_store(const struct place *place, enum pawl_store_fault how, unsigned every)
{
    struct sweep sweep = {.place = place, .how = how, .mutex = PTHREAD_MUTEX_INITIALIZER};

    sweep_calls(&sweep, every);
}

/* Each call refused, and each lost. `of_locks`: those to the lock service, not the store's. */
static void sweep_locked(const struct place *place, enum place_locks locks, bool of_locks,
                         unsigned every)
{
    static const enum pawl_store_fault all[] = {PAWL_STORE_FAULT_BEFORE, PAWL_STORE_FAULT_AFTER};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sweep sweep = {.place = place,
                              .locks = locks,
                              .of_locks = of_locks,
                              .how = all[i],
                              .mutex = PTHREAD_MUTEX_INITIALIZER};

        sweep_calls(&sweep, every);
    }
}

static unsigned every(unsigned otherwise)
{
    const char *text = getenv("FAULTS_EVERY");

    return text && atoi(text) > 0 ? (unsigned)atoi(text) : otherwise;
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

    sweep_store(&places->postgres, PAWL_STORE_FAULT_BEFORE, every(23));
}

static void a_lost_answer_changes_nothing_on_postgres(void **state)
{
    const struct places *places = *state;

    sweep_store(&places->postgres, PAWL_STORE_FAULT_AFTER, every(23));
}

static void a_fault_of_the_store_changes_nothing_with_file_locks(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->sqlite, PLACE_LOCKED_BY_FILES, false, every(11));
}

static void a_fault_of_file_locks_changes_nothing(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->sqlite, PLACE_LOCKED_BY_FILES, true, every(5));
}

static void a_fault_of_the_store_changes_nothing_with_locks_of_claims(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->postgres, PLACE_LOCKED_BY_CLAIMS, false, every(53));
}

static void a_fault_of_postgres_locks_changes_nothing(void **state)
{
    const struct places *places = *state;

    sweep_locked(&places->postgres, PLACE_LOCKED_BY_POSTGRES, true, every(17));
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

    const struct CMUnitTest locks[] = {
        cmocka_unit_test(a_fault_of_the_store_changes_nothing_with_file_locks),
        cmocka_unit_test(a_fault_of_file_locks_changes_nothing),
        cmocka_unit_test(a_fault_of_the_store_changes_nothing_with_locks_of_claims),
        cmocka_unit_test(a_fault_of_postgres_locks_changes_nothing),
    };

    if (store && strcmp(store, "locks") == 0)
        return cmocka_run_group_tests(locks, places_set_up, places_tear_down);
    if (store && strcmp(store, "postgres") == 0)
        return cmocka_run_group_tests(server, places_set_up, places_tear_down);
    if (store && strcmp(store, "sqlite") == 0)
        return cmocka_run_group_tests(sqlite, places_set_up, places_tear_down);
    return cmocka_run_group_tests(memory, places_set_up, places_tear_down);
}
