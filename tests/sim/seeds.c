/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many simulated runs: none may break a promise, the same seed is the same run, and bugs that are
 * planted are found. SIM_SEEDS says how many seeds (1,000), SIM_FROM which is the first (0).
 */
#include "lib/test.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS_DEFAULT 1000

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* Also demands that all memory came back. */
static int run(const struct pawl_sim_options *options, struct pawl_sim_report *report,
               struct pawl_error *err)
{
    struct test_allocator alloc;
    int status;

    test_allocator_init(&alloc);
    status = pawl__sim_run(&alloc.base, options, report, err);
    assert_int_equal(alloc.live_count, 0);
    return status;
}

static void add(struct pawl_sim_report *sum, const struct pawl_sim_report *report)
{
    sum->step_count += report->step_count;
    sum->acknowledged += report->acknowledged;
    sum->refused += report->refused;
    sum->unknown += report->unknown;
    sum->granted += report->granted;
    sum->crashes += report->crashes;
    sum->pauses += report->pauses;
    sum->shifts += report->shifts;
    sum->failed += report->failed;
    sum->lost += report->lost;
    sum->server_crashes += report->server_crashes;
    sum->forgotten += report->forgotten;
}

static void no_seed_breaks_a_promise(void **state)
{
    uint64_t seeds = from_environment("SIM_SEEDS", SEEDS_DEFAULT);
    struct pawl_sim_options options = {.seed = from_environment("SIM_FROM", 0)};
    struct pawl_sim_report report, sum = {0};
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    for (uint64_t i = 0; i < seeds; i++, options.seed++) {
        /* Small runs and many; now and then one more node or one less instance. */
        options.nodes = options.seed % 10 == 7 ? 3 : 2;
        options.instances = 1 + (uint32_t)(options.seed % 4);
        assert_ok(run(&options, &report, &err), &err);
        add(&sum, &report);
    }
    print_message("# %llu seeds, %llu steps: %llu acknowledged, %llu refused, %llu unknown; %llu "
                  "crashes, %llu pauses, %llu calls failed, %llu answers lost, %llu crashes of the "
                  "server, %llu claims forgotten\n",
                  (unsigned long long)seeds, (unsigned long long)sum.step_count,
                  (unsigned long long)sum.acknowledged, (unsigned long long)sum.refused,
                  (unsigned long long)sum.unknown, (unsigned long long)sum.crashes,
                  (unsigned long long)sum.pauses, (unsigned long long)sum.failed,
                  (unsigned long long)sum.lost, (unsigned long long)sum.server_crashes,
                  (unsigned long long)sum.forgotten);
    /* A simulation in which nothing goes wrong shows nothing. */
    assert_true(sum.acknowledged > 10 * seeds && sum.refused > seeds / 2);
    assert_true(sum.unknown > seeds / 10 && sum.crashes > seeds && sum.pauses > seeds / 2);
    assert_true(sum.failed > seeds && sum.lost > seeds && sum.shifts > seeds / 2);
    assert_true(sum.server_crashes > seeds / 2 && sum.forgotten > seeds / 10);
}

static void the_same_seed_is_the_same_run(void **state)
{
    struct pawl_sim_report first, second;
    struct pawl_error err = PAWL_ERROR_INIT;
    uint64_t before = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const struct pawl_sim_options options = {.seed = seed};

        assert_ok(run(&options, &first, &err), &err);
        assert_ok(run(&options, &second, &err), &err);
        assert_memory_equal(&first, &second, sizeof first);
        assert_true(first.trace_hash != before);
        before = first.trace_hash;
    }
}

static void without_faults_everything_is_acknowledged_or_refused(void **state)
{
    struct pawl_sim_report report;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const struct pawl_sim_options options = {.seed = seed, .calm = true};

        assert_ok(run(&options, &report, &err), &err);
        assert_int_equal(report.unknown, 0);
        assert_int_equal(report.crashes + report.failed + report.lost + report.pauses, 0);
        assert_int_equal(report.acknowledged, report.applied);
    }
}

static void find_bug(enum pawl_sim_bug bug, const char *name, const char *finding)
{
    struct pawl_sim_options options = {.bug = bug};
    struct pawl_sim_report report = {0};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = PAWL_OK;

    for (; options.seed < SEEDS_DEFAULT && status == PAWL_OK; options.seed++)
        status = run(&options, &report, &err);
    assert_code(status, PAWL_ECORRUPT);
    assert_true(report.violations > 0);
    print_message("# %s is found after %llu seeds: %s\n", name, (unsigned long long)options.seed,
                  report.violation);
    assert_non_null(strstr(report.violation, finding));
}

static void a_store_that_skips_the_revision_is_found(void **state)
{
    (void)state;
    find_bug(PAWL_SIM_BUG_SKIP_REVISION, "skipping the revision", "as the one after revision");
}

static void a_claim_that_steals_is_found(void **state)
{
    (void)state;
    find_bug(PAWL_SIM_BUG_STEAL, "stealing", "while its owner");
}

static void an_early_acknowledgement_is_found(void **state)
{
    (void)state;
    find_bug(PAWL_SIM_BUG_ACKNOWLEDGE_EARLY, "early acknowledgement", "was acknowledged");
}

static void trust_in_a_fence_that_a_server_forgot_is_found(void **state)
{
    (void)state;
    find_bug(PAWL_SIM_BUG_FENCE_ALONE, "trust in a fence alone", "acknowledged and never applied");
}

static void sizes_out_of_range_are_refused(void **state)
{
    const struct pawl_sim_options options = {.nodes = PAWL_SIM_NODES_MAX + 1};
    struct pawl_sim_report report;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_code(run(&options, &report, &err), PAWL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_is_the_same_run),
        cmocka_unit_test(without_faults_everything_is_acknowledged_or_refused),
        cmocka_unit_test(a_store_that_skips_the_revision_is_found),
        cmocka_unit_test(a_claim_that_steals_is_found),
        cmocka_unit_test(an_early_acknowledgement_is_found),
        cmocka_unit_test(trust_in_a_fence_that_a_server_forgot_is_found),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(no_seed_breaks_a_promise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
