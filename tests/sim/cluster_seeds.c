/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many simulated clusters: none may break a promise, the same seed is the same run, and bugs that
 * are planted are found. SIM_CLUSTER_SEEDS says how many seeds (300), SIM_FROM which is the first,
 * SIM_DELIVERY (direct, rows) how events are delivered where that is not left to chance.
 * With --alone only seeds of nodes without locks, with --more all the rest.
 */
#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/test.h"
#include "sim/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS_DEFAULT 300
#define DISTRIBUTED_DEFAULT 100
/* Within which a planted bug must be found. */
#define BUG_SEEDS_MAX 1000
#define CLOCK_SEEDS 20

#define N(value) ((unsigned long long)(value))

struct fixture {
    struct test_allocator alloc;
    struct pawl_engine engine;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    test_allocator_init(&f->alloc);
    pawl__engine_init(&f->engine, &f->alloc.base, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl__engine_release(&f->engine);
    assert_int_equal(f->alloc.live_count, 0);
    free(f);
    return 0;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static enum pawl_cluster_delivery chosen_delivery(void)
{
    const char *name = getenv("SIM_DELIVERY");

    if (!name || !*name)
        return PAWL_CLUSTER_MIXED;
    return strcmp(name, "rows") == 0 ? PAWL_CLUSTER_ROWS : PAWL_CLUSTER_DIRECT;
}

/* Also demands that all memory came back. */
static int run(struct fixture *f, const struct pawl_cluster_options *options,
               struct pawl_cluster_report *report, struct pawl_error *err)
{
    struct pawl_cluster_options all = *options;
    struct test_allocator alloc;
    int status;

    all.engine = &f->engine;
    test_allocator_init(&alloc);
    status = pawl__cluster_run(&alloc.base, &all, report, err);
    assert_int_equal(alloc.live_count, 0);
    return status;
}

static void add(struct pawl_cluster_report *sum, const struct pawl_cluster_report *report)
{
    sum->step_count += report->step_count;
    sum->started += report->started;
    sum->cancelled += report->cancelled;
    sum->deleted += report->deleted;
    sum->retried += report->retried;
    sum->delivered += report->delivered;
    sum->direct += report->direct;
    sum->folds += report->folds;
    sum->applied += report->applied;
    sum->ticks += report->ticks;
    sum->singles += report->singles;
    sum->children += report->children;
    sum->dead += report->dead;
    sum->crashes += report->crashes;
    sum->drains += report->drains;
    sum->pauses += report->pauses;
    sum->shifts += report->shifts;
    sum->failed += report->failed;
    sum->lost += report->lost;
    sum->lock_failed += report->lock_failed;
    sum->lock_twice += report->lock_twice;
    sum->lock_lost += report->lock_lost;
    sum->lock_outages += report->lock_outages;
    sum->keyless += report->keyless;
    sum->unsure += report->unsure;
    sum->ran += report->ran;
    sum->replayed += report->replayed;
    sum->refreshed += report->refreshed;
    sum->retried_aside += report->retried_aside;
    sum->answers += report->answers;
    sum->births += report->births;
    sum->orders += report->orders;
    sum->loops += report->loops;
    sum->outages += report->outages;
    sum->superseded += report->superseded;
    sum->damaged += report->damaged;
    sum->ended_beside += report->ended_beside;
    sum->half_sent += report->half_sent;
    sum->locked += report->locked;
    sum->broken += report->broken;
    sum->server_crashes += report->server_crashes;
    sum->forgotten += report->forgotten;
    sum->visited += report->visited;
    sum->failovers += report->failovers;
    sum->start_failures += report->start_failures;
}

static void print_more(const struct pawl_cluster_report *sum)
{
    print_message(
        "# %llu events were delivered without a row, %llu of them without a claim before; "
        "%llu commits had several events\n",
        N(sum->direct), N(sum->visited), N(sum->folds));
    print_message("# without a key: %llu, unsure %llu; %llu told to run, %llu answers to requests, "
                  "%llu births, %llu orders, %llu loops; operators: %llu letters replayed, %llu "
                  "refreshes, %llu set aside and run again\n",
                  N(sum->keyless), N(sum->unsure), N(sum->ran), N(sum->answers), N(sum->births),
                  N(sum->orders), N(sum->loops), N(sum->replayed), N(sum->refreshed),
                  N(sum->retried_aside));
    print_message("# %llu outages, %llu superseded, %llu loads failed, %llu half-sent batches, "
                  "%llu calls that "
                  "waited for their rows, %llu sessions ended; server: %llu crashes, %llu claims "
                  "and takes forgotten, %llu failovers; %llu starts failed\n",
                  N(sum->outages), N(sum->superseded), N(sum->damaged), N(sum->half_sent),
                  N(sum->locked), N(sum->broken), N(sum->server_crashes), N(sum->forgotten),
                  N(sum->failovers), N(sum->start_failures));
}

/* Of many seeds: each feature has something to show. */
static void assert_all_happened(const struct pawl_cluster_report *sum, uint64_t seeds,
                                const struct pawl_cluster_options *options)
{
    assert_true(sum->keyless > seeds && sum->unsure > seeds / 20 && sum->ran > seeds / 10);
    assert_true(sum->answers > seeds && sum->births > seeds && sum->orders > seeds / 10);
    assert_true(sum->outages > seeds / 10 && sum->damaged > seeds / 10 && sum->loops > seeds / 20);
    assert_true(sum->superseded > seeds / 100);
    assert_true(sum->half_sent > seeds / 10 && sum->locked > 0 && sum->broken > 0);
    assert_true(sum->server_crashes > seeds / 10 && sum->forgotten > seeds / 50);
    assert_true(sum->failovers > seeds / 10 && sum->start_failures > seeds / 50);
    assert_true(sum->replayed > seeds / 10 && sum->refreshed > seeds / 10);
    assert_true(sum->folds > seeds);
    /* Where locks decide, nothing is visited. */
    if (options->distributed || options->delivery == PAWL_CLUSTER_ROWS)
        assert_int_equal(sum->visited, 0);
    else
        assert_true(sum->visited > seeds / 2);
}

static void run_seeds(struct fixture *f, uint64_t seeds, struct pawl_cluster_options options,
                      struct pawl_cluster_report *out)
{
    struct pawl_cluster_report report, sum = {0};
    struct pawl_error err = PAWL_ERROR_INIT;

    for (uint64_t i = 0; i < seeds; i++, options.seed++) {
        assert_ok(run(f, &options, &report, &err), &err);
        add(&sum, &report);
    }
    *out = sum;
    print_message("# %llu seeds, %llu steps: %llu started, %llu events delivered, %llu applied, "
                  "%llu ticks, %llu singletons, %llu children, %llu dead letters, %llu retries; "
                  "%llu crashes, %llu drains, %llu pauses, %llu calls failed, %llu answers lost\n",
                  N(seeds), N(sum.step_count), N(sum.started), N(sum.delivered), N(sum.applied),
                  N(sum.ticks), N(sum.singles), N(sum.children), N(sum.dead), N(sum.retried),
                  N(sum.crashes), N(sum.drains), N(sum.pauses), N(sum.failed), N(sum.lost));
    /* A simulation in which nothing goes wrong, or nothing happens, shows nothing. */
    assert_true(sum.started > 10 * seeds && sum.applied > 20 * seeds && sum.retried > seeds);
    assert_true(sum.ticks > seeds && sum.singles > seeds && sum.children > seeds);
    assert_true(sum.dead > seeds / 10 && sum.cancelled > seeds / 10 && sum.deleted > seeds / 10);
    assert_true(sum.crashes > seeds && sum.drains > seeds / 4 && sum.pauses > seeds);
    assert_true(sum.failed > 5 * seeds && sum.lost > 5 * seeds && sum.shifts > seeds / 2);
    print_more(&sum);
    if (seeds >= 100)
        assert_all_happened(&sum, seeds, &options);
}

static void no_seed_breaks_a_promise(void **state)
{
    const struct pawl_cluster_options options = {.seed = from_environment("SIM_FROM", 0),
                                                 .delivery = chosen_delivery()};
    struct pawl_cluster_report sum;

    run_seeds(*state, from_environment("SIM_CLUSTER_SEEDS", SEEDS_DEFAULT), options, &sum);
}

/* Whatever the lock service does: it loses, grants twice, cannot be reached. */
static void no_seed_of_distributed_nodes_breaks_a_promise(void **state)
{
    const struct pawl_cluster_options options = {.seed = from_environment("SIM_FROM", 0),
                                                 .distributed = true};
    uint64_t seeds = from_environment("SIM_CLUSTER_SEEDS", DISTRIBUTED_DEFAULT);
    struct pawl_cluster_report sum;

    run_seeds(*state, seeds, options, &sum);
    print_message("# locks: %llu calls failed, %llu granted to anybody, %llu lost, %llu outages\n",
                  N(sum.lock_failed), N(sum.lock_twice), N(sum.lock_lost), N(sum.lock_outages));
    assert_true(sum.lock_failed > 10 * seeds && sum.lock_twice > seeds);
    assert_true(sum.lock_outages > seeds && sum.lock_lost > 0);
}

static void the_same_seed_is_the_same_run(void **state)
{
    struct pawl_cluster_report first, second;
    struct pawl_error err = PAWL_ERROR_INIT;
    uint64_t before = 0;

    for (uint64_t seed = 0; seed < 10; seed++) {
        struct pawl_cluster_options options = {.seed = seed};

        options.distributed = seed % 2 == 1;
        assert_ok(run(*state, &options, &first, &err), &err);
        assert_ok(run(*state, &options, &second, &err), &err);
        assert_memory_equal(&first, &second, sizeof first);
        assert_true(first.trace_hash != before);
        before = first.trace_hash;
    }
}

static void without_faults_nobody_asks_twice(void **state)
{
    struct pawl_cluster_report report;
    struct pawl_error err = PAWL_ERROR_INIT;

    for (uint64_t seed = 0; seed < 20; seed++) {
        const struct pawl_cluster_options options = {.seed = seed, .calm = true};

        assert_ok(run(*state, &options, &report, &err), &err);
        assert_int_equal(report.crashes + report.failed + report.lost + report.pauses, 0);
        assert_true(report.started > 0 && report.applied > 0);
    }
}

static void no_clock_that_is_set_back_holds_or_reorders_what_was_accepted(void **state)
{
    struct pawl_cluster_report report = {0}, sum = {0};
    struct pawl_error err = PAWL_ERROR_INIT;

    for (uint64_t seed = 0; seed < CLOCK_SEEDS; seed++) {
        const struct pawl_cluster_options options = {.seed = seed,
                                                     .features = PAWL_CLUSTER_CLOCK,
                                                     .delivery = seed % 2 ? PAWL_CLUSTER_ROWS
                                                                          : PAWL_CLUSTER_MIXED};
        int status = run(*state, &options, &report, &err);

        if (status != PAWL_OK)
            print_message("# seed %llu: %s\n", N(seed), report.violation);
        assert_ok(status, &err);
        add(&sum, &report);
    }
    assert_true(sum.shifts > 0 && sum.applied > 0);
}

/* With `features` alone beside what all runs have: what it takes to find it. */
static void find_bug(struct fixture *f, enum pawl_cluster_bug bug, uint32_t features,
                     const char *name, const char *finding)
{
    struct pawl_cluster_options options = {
        .bug = bug, .features = features, .distributed = bug == PAWL_CLUSTER_BUG_LOCKED};
    struct pawl_cluster_report report = {0};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = PAWL_OK;

    for (; options.seed < BUG_SEEDS_MAX && status == PAWL_OK; options.seed++)
        status = run(f, &options, &report, &err);
    assert_code(status, PAWL_ECORRUPT);
    assert_true(report.violations > 0);
    print_message("# %s is found after %llu seeds: %s\n", name, N(options.seed), report.violation);
    assert_non_null(strstr(report.violation, finding));
}

static void work_that_waits_for_signals_only_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_EDGE_ONLY, PAWL_CLUSTER_PLAIN, "waking by signals only", "");
}

static void mail_that_is_deleted_apart_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_SPLIT, PAWL_CLUSTER_PLAIN, "deleting outside of the commit",
             "");
}

static void work_that_is_taken_twice_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_TWICE, PAWL_CLUSTER_PLAIN, "taking without marking", "");
}

static void recovery_by_age_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_AGE, PAWL_CLUSTER_PLAIN, "recovery by age", "");
}

static void locks_that_stand_for_ever_are_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_LOCKED, PAWL_CLUSTER_PLAIN, "trusting locks for ever", "");
}

static void leases_that_wait_for_locked_rows_are_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_LOCK_WAITS, PAWL_CLUSTER_HALF_SENT,
             "leases behind locked rows", "lost its lease though nothing was done to it");
}

static void a_state_that_was_not_loaded_and_is_written_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_LOST_STATE, PAWL_CLUSTER_LOADS, "writing what was not loaded",
             "was written without a state");
}

static void a_failover_that_is_taken_for_a_refusal_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_READ_ONLY, PAWL_CLUSTER_FAILOVERS, "a failover as a refusal",
             "");
}

static void a_bookmark_that_wakes_what_does_not_match_it_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_WAKES_ALL, PAWL_CLUSTER_PARKED, "waking by hash alone",
             "was put aside");
}

static void parked_mail_that_never_expires_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_MAIL_STAYS, PAWL_CLUSTER_PLAIN, "mail that never expires",
             "is due and was not done");
}

static void a_node_that_does_not_know_that_it_was_superseded_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_UNTOLD, PAWL_CLUSTER_NAMESAKES, "a superseded node",
             "is up and has no lease");
}

static void a_loop_that_keeps_its_worker_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_NEVER_YIELDS, PAWL_CLUSTER_LOOPS, "a loop without a yield",
             "");
}

static void a_cancellation_that_does_not_reach_its_burst_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_CANCEL_UNSEEN, PAWL_CLUSTER_LOOPS, "an unseen cancellation",
             "after it was to be cancelled");
}

static void an_event_without_a_key_that_takes_effect_twice_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_SENT_TWICE, PAWL_CLUSTER_OUTAGES, "effects without a guard",
             "");
}

static void a_trigger_that_ends_with_its_starts_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_TICKS_END, PAWL_CLUSTER_STARTS, "ticks that end", "");
}

static void a_lost_answer_that_is_taken_for_a_refusal_is_found(void **state)
{
    find_bug(*state, PAWL_CLUSTER_BUG_WRONG_CLASS, PAWL_CLUSTER_OUTAGES, "a wrong class", "");
}

static void sizes_out_of_range_are_refused(void **state)
{
    const struct pawl_cluster_options options = {.nodes = PAWL_CLUSTER_NODES_MAX + 1};
    struct pawl_cluster_report report;
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_code(run(*state, &options, &report, &err), PAWL_EINVAL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest alone[] = {cmocka_unit_test(no_seed_breaks_a_promise)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_is_the_same_run),
        cmocka_unit_test(without_faults_nobody_asks_twice),
        cmocka_unit_test(no_clock_that_is_set_back_holds_or_reorders_what_was_accepted),
        cmocka_unit_test(work_that_waits_for_signals_only_is_found),
        cmocka_unit_test(mail_that_is_deleted_apart_is_found),
        cmocka_unit_test(work_that_is_taken_twice_is_found),
        cmocka_unit_test(recovery_by_age_is_found),
        cmocka_unit_test(locks_that_stand_for_ever_are_found),
        cmocka_unit_test(leases_that_wait_for_locked_rows_are_found),
        cmocka_unit_test(a_state_that_was_not_loaded_and_is_written_is_found),
        cmocka_unit_test(a_failover_that_is_taken_for_a_refusal_is_found),
        cmocka_unit_test(a_bookmark_that_wakes_what_does_not_match_it_is_found),
        cmocka_unit_test(parked_mail_that_never_expires_is_found),
        cmocka_unit_test(a_node_that_does_not_know_that_it_was_superseded_is_found),
        cmocka_unit_test(a_loop_that_keeps_its_worker_is_found),
        cmocka_unit_test(a_cancellation_that_does_not_reach_its_burst_is_found),
        cmocka_unit_test(an_event_without_a_key_that_takes_effect_twice_is_found),
        cmocka_unit_test(a_trigger_that_ends_with_its_starts_is_found),
        cmocka_unit_test(a_lost_answer_that_is_taken_for_a_refusal_is_found),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(no_seed_of_distributed_nodes_breaks_a_promise),
    };
    const char *part = argc > 1 ? argv[1] : "";
    int failed = 0;

    if (strcmp(part, "--more") != 0)
        failed = cmocka_run_group_tests(alone, set_up, tear_down);
    if (strcmp(part, "--alone") != 0)
        failed += cmocka_run_group_tests(tests, set_up, tear_down);
    return failed;
}
