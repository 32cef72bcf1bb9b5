/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the processor by definition: ranks, and what a pool takes by them. */
#include "runtime/node/shares.h"
#include "runtime/node/pool.h"
#include "runtime/work/private.h"
#include "unit/runtime/nodes.h"

#define MS INT64_C(1000000)
#define SAYS(id, line) DEFINITION(id, "", RIG_WRITE("w", line))

/* ---- ranks --------------------------------------------------------------------------------- */

static struct pawl_shares *new_shares(struct fixture *f)
{
    struct pawl_shares *shares = NULL;

    assert_int_equal(pawl__shares_new(f->env, &shares), PAWL_OK);
    return shares;
}

static void charge(struct pawl_shares *shares, const char *id, int64_t ns, int times)
{
    for (int i = 0; i < times; i++)
        pawl__shares_charge(shares, pawl__str(id), ns, false);
}

static void fail_pieces(struct pawl_shares *shares, const char *id, int times)
{
    for (int i = 0; i < times; i++)
        pawl__shares_charge(shares, pawl__str(id), MS, true);
}

static enum pawl_rank rank(struct pawl_shares *shares, const char *id)
{
    return pawl__shares_rank(shares, pawl__str(id));
}

static void a_definition_whose_bursts_take_long_is_heavy(void **state)
{
    struct pawl_shares *shares = new_shares(*state);

    charge(shares, "light", MS, 100);
    assert_false(pawl__shares_matter(shares));
    assert_int_equal(pawl__shares_changes(shares), 0);
    charge(shares, "heavy", 1000 * MS, 1);
    assert_true(pawl__shares_matter(shares));
    assert_int_equal(pawl__shares_changes(shares), 1);
    assert_int_equal(rank(shares, "heavy"), PAWL_RANK_HEAVY);
    assert_int_equal(rank(shares, "light"), PAWL_RANK_NEW);
    assert_int_equal(rank(shares, "unknown"), PAWL_RANK_NEW);
    pawl__shares_free(shares);
}

static void one_slow_burst_makes_nothing_heavy(void **state)
{
    struct pawl_shares *shares = new_shares(*state);

    charge(shares, "first", 30 * MS, 1);
    charge(shares, "light", MS, 10);
    charge(shares, "light", 60 * MS, 1);
    assert_false(pawl__shares_matter(shares));
    pawl__shares_free(shares);
}

static void what_becomes_fast_is_light_again(void **state)
{
    struct pawl_shares *shares = new_shares(*state);

    charge(shares, "d", 1000 * MS, 1);
    charge(shares, "d", MS, 12);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_NEW);
    assert_false(pawl__shares_matter(shares));
    pawl__shares_free(shares);
}

static void heavy_ones_that_used_more_come_behind_those_that_used_less(void **state)
{
    struct fixture *f = *state;
    struct pawl_shares *shares = new_shares(f);
    const struct pawl_str *ids;
    size_t count;

    charge(shares, "little", 100 * MS, 1);
    charge(shares, "much", 100 * MS, 9);
    assert_int_equal(rank(shares, "little"), PAWL_RANK_HEAVY);
    assert_int_equal(rank(shares, "much"), PAWL_RANK_GREEDY);
    assert_int_equal(
        pawl__shares_list(shares, PAWL_RANK_HEAVY, PAWL_RANK_HEAVY, &f->arena, &ids, &count),
        PAWL_OK);
    assert_int_equal(count, 1);
    assert_str(ids[0], "little");
    pawl__shares_free(shares);
}

/* Until it has not used most of the time any more. */
static void a_light_one_that_uses_most_of_the_time_comes_behind_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_shares *shares = new_shares(f);

    charge(shares, "flood", 2 * MS, 3000);
    assert_int_equal(rank(shares, "flood"), PAWL_RANK_NEW); /* alone */
    charge(shares, "other", 2 * MS, 1);
    charge(shares, "flood", 2 * MS, 1);
    assert_int_equal(rank(shares, "flood"), PAWL_RANK_BUSY);
    assert_int_equal(rank(shares, "other"), PAWL_RANK_NEW);
    charge(shares, "other", 2 * MS, 1500);
    assert_int_equal(rank(shares, "flood"), PAWL_RANK_NEW);
    charge(shares, "flood", 2 * MS, 4500);
    assert_int_equal(rank(shares, "flood"), PAWL_RANK_BUSY);
    test_clock_advance(f->clock, 60 * SECOND);
    charge(shares, "other", 2 * MS, 1);
    assert_int_equal(rank(shares, "flood"), PAWL_RANK_NEW); /* that was long ago */
    pawl__shares_free(shares);
}

static void a_definition_that_fails_again_and_again_comes_behind_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_shares *shares = new_shares(f);

    fail_pieces(shares, "d", 4);
    assert_false(pawl__shares_matter(shares));
    fail_pieces(shares, "d", 1);
    assert_true(pawl__shares_matter(shares));
    assert_int_equal(rank(shares, "d"), PAWL_RANK_FAILING);
    charge(shares, "d", MS, 1);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_NEW); /* one that succeeds is a new try */
    assert_false(pawl__shares_matter(shares));
    fail_pieces(shares, "d", 20);
    charge(shares, "d", 1000 * MS, 1);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_HEAVY);
    pawl__shares_free(shares);
}

/* It is not put off for ever, and what is unknown has not failed. */
static void failures_of_long_ago_do_not_count(void **state)
{
    struct fixture *f = *state;
    struct pawl_shares *shares = new_shares(f);

    fail_pieces(shares, "d", 20);
    test_clock_advance(f->clock, 6 * SECOND);
    charge(shares, "other", MS, 1);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_FAILING);
    test_clock_advance(f->clock, 10 * SECOND);
    charge(shares, "other", MS, 1);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_NEW);
    assert_false(pawl__shares_matter(shares));
    fail_pieces(shares, "d", 1);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_FAILING);
    test_clock_advance(f->clock, 3600 * SECOND);
    charge(shares, "other", MS, 1);
    fail_pieces(shares, "d", 4);
    assert_int_equal(rank(shares, "d"), PAWL_RANK_NEW);
    pawl__shares_free(shares);
}

static void heavy_ones_are_owed_a_part_of_the_time(void **state)
{
    struct pawl_shares *shares = new_shares(*state);

    charge(shares, "light", MS, 1000);
    assert_false(pawl__shares_owe(shares)); /* to whom? */
    charge(shares, "heavy", 1000 * MS, 1);
    assert_false(pawl__shares_owe(shares));
    charge(shares, "light", MS, 3000);
    assert_true(pawl__shares_owe(shares));
    pawl__shares_settle(shares);
    assert_false(pawl__shares_owe(shares));
    /* A long time alone is not held against them for long. */
    charge(shares, "heavy", 1000 * MS, 1000);
    charge(shares, "light", MS, 4000);
    assert_true(pawl__shares_owe(shares));
    pawl__shares_free(shares);
}

static void no_more_definitions_are_known_than_there_may_be(void **state)
{
    struct fixture *f = *state;
    struct pawl_shares *shares = new_shares(f);
    const struct pawl_str *ids;
    size_t count;
    char id[16];

    for (unsigned i = 0; i < 2 * PAWL_SHARES_MAX; i++) {
        (void)snprintf(id, sizeof id, "d%u", i);
        charge(shares, id, 1000 * MS, 1);
    }
    assert_int_equal(rank(shares, "d0"), PAWL_RANK_NEW);
    assert_int_not_equal(rank(shares, id), PAWL_RANK_NEW);
    assert_int_equal(
        pawl__shares_list(shares, PAWL_RANK_NEW, PAWL_RANK_GREEDY, &f->arena, &ids, &count),
        PAWL_OK);
    assert_int_equal(count, PAWL_SHARES_MAX);
    pawl__shares_free(shares);
}

/* ---- the pool ------------------------------------------------------------------------------ */

/* Starts that are due one after the other, long ago. */
static void add_starts(struct fixture *f, const char *definition, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        struct pawl_work_row row = {
            .id = pawl__str(pawl__arena_printf(&f->arena, "start-%03d", i)),
            .kind = pawl__str(PAWL_WORK_START),
            .created_us = 1 + i,
            .due_us = 1 + i,
            .expires_us = PAWL_TIME_NEVER,
            .definition_id = pawl__str(definition),
            .payload =
                pawl__str(pawl__arena_printf(&f->arena, "{\"definitionId\":\"%s\"}", definition)),
        };
        const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &row};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
        struct pawl_commit *list = &commit;

        assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
        assert_int_equal(commit.status, PAWL_OK);
    }
}

/* Until nothing is due any more, by one worker. */
static void work_off(struct fixture *f, uint32_t take_max)
{
    const struct pawl_pool_options options = {
        .workers = 1, .take_max = take_max, .idle_ns_max = SECOND / 100};
    int64_t deadline_ns = later(f);
    struct pawl_pool *pool;
    char why[160] = "";

    assert_ok(pawl__pool_open(f->env, f->a.runtime, &options, &pool, &f->err), &f->err);
    while (count(f, PAWL_TABLE_WORK) > 0) {
        assert_true(pawl_env_monotonic_ns(f->env) < deadline_ns);
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + MS), NULL);
    }
    pawl__pool_close(pool);
    if (!pawl__runtime_check_idle(f->a.runtime, why, sizeof why))
        fail_msg("%s", why);
}

static void light_work_is_done_before_a_backlog_of_heavy_work(void **state)
{
    struct fixture *f = *state;

    publish(f, SAYS("hostile", "h"));
    publish(f, SAYS("honest", "o"));
    add_starts(f, "hostile", 0, 6);
    add_starts(f, "honest", 6, 3);
    charge(f->a.runtime->shares, "hostile", 1000 * MS, 1);
    work_off(f, 2);
    assert_string_equal(f->lines, "o\no\no\nh\nh\nh\nh\nh\nh\n");
}

/* The line of the first one is when it turns out to be heavy. */
static int on_heavy_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;

    if (pawl__str_is(text, "h"))
        charge(f->a.runtime->shares, "hostile", 1000 * MS, 1);
    return on_line(ctx, instance_id, text);
}

static void work_that_was_taken_before_it_was_known_to_be_heavy_is_given_back(void **state)
{
    struct fixture *f = *state;

    publish(f, SAYS("hostile", "h"));
    publish(f, SAYS("honest", "o"));
    f->a.runtime->options.hooks.line = on_heavy_line;
    add_starts(f, "hostile", 0, 4);
    add_starts(f, "honest", 4, 2);
    add_starts(f, "hostile", 6, 2);
    add_starts(f, "honest", 8, 3);
    work_off(f, 8);
    assert_string_equal(f->lines, "h\no\no\no\no\no\nh\nh\nh\nh\nh\n");
}

static void heavy_work_is_not_put_off_for_ever(void **state)
{
    struct fixture *f = *state;

    publish(f, SAYS("hostile", "h"));
    publish(f, SAYS("honest", "o"));
    charge(f->a.runtime->shares, "hostile", 1000 * MS, 1);
    charge(f->a.runtime->shares, "elsewhere", MS, 5000);
    add_starts(f, "honest", 0, 3);
    add_starts(f, "hostile", 3, 1);
    work_off(f, 1);
    assert_true(pawl__str_starts(pawl__str(f->lines), pawl__str("h\n")));
    assert_int_equal(strlen(f->lines), 8);
}

static void a_flood_of_light_work_does_not_hold_up_others(void **state)
{
    struct fixture *f = *state;

    publish(f, SAYS("flood", "f"));
    publish(f, SAYS("honest", "o"));
    charge(f->a.runtime->shares, "honest", MS, 1);
    charge(f->a.runtime->shares, "flood", MS, 5000);
    add_starts(f, "flood", 0, 5);
    add_starts(f, "honest", 5, 2);
    work_off(f, 2);
    assert_string_equal(f->lines, "o\no\nf\nf\nf\nf\nf\n");
}

/* Until then they are done in order. */
static void work_that_fails_again_and_again_is_done_after_other_work(void **state)
{
    struct fixture *f = *state;

    publish(f,
            DEFINITION(
                "failing", "",
                RIG_WRITE("w", "f") ",{\"id\":\"x\",\"type\":\"Elsa.Fault\",\"message\":\"m\"}"));
    publish(f, SAYS("honest", "o"));
    add_starts(f, "failing", 0, 9);
    add_starts(f, "honest", 9, 3);
    add_starts(f, "failing", 12, 1);
    work_off(f, 8); /* what was taken before that was known is given back */
    assert_string_equal(f->lines, "f\nf\nf\nf\nf\no\no\no\nf\nf\nf\nf\nf\n");
}

/* Its timer is due beside a start of another definition. */
static void mail_of_heavy_definitions_waits_for_light_work(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("hostile", "", DELAY("d", "00:00:00.0010000") "," RIG_WRITE("w", "h")));
    publish(f, SAYS("honest", "o"));
    (void)start(f, "hostile");
    charge(f->a.runtime->shares, "hostile", 1000 * MS, 1);
    assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 20 * MS), NULL);
    add_starts(f, "honest", 0, 2);
    work_off(f, 1);
    assert_string_equal(f->lines, "o\no\nh\n");
}

#define RUNNING(name) cmocka_unit_test_setup_teardown(name, set_up_running, tear_down)

/* Of a definition whose work is left out, a cancellation is taken and other mail is not. */
static void a_cancellation_does_not_wait_for_the_share_of_its_definition(void **state)
{
    static const char *const kinds[] = {PAWL_WORK_RUN, PAWL_WORK_CANCEL, PAWL_WORK_CANCEL_ONE};
    struct fixture *f = *state;
    const struct pawl_str heavy = pawl__str("d");
    const struct runtime_choice light = {.definitions = &heavy, .count = 1};
    struct pawl_outcome outcome;
    struct pawl_taken taken = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    outcome = start(f, "d");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct pawl_work_row row = {.id = pawl__str(kinds[i]),
                                          .kind = pawl__str(kinds[i]),
                                          .instance_id = pawl__str(outcome.instance_id),
                                          .due_us = (int64_t)i,
                                          .expires_us = PAWL_TIME_NEVER};
        const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &row};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};

        assert_ok(pawl__runtime_commit(f->a.runtime, &commit, later(f), &f->err), &f->err);
    }
    assert_ok(
        pawl__runtime_take(f->a.runtime, 10, NULL, &light, &f->arena, &taken, later(f), &f->err),
        &f->err);
    assert_int_equal(taken.work_count, 2);
    assert_str(taken.work[0].kind, PAWL_WORK_CANCEL);
    assert_str(taken.work[1].kind, PAWL_WORK_CANCEL_ONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_definition_whose_bursts_take_long_is_heavy),
        TEST(one_slow_burst_makes_nothing_heavy),
        TEST(what_becomes_fast_is_light_again),
        TEST(heavy_ones_that_used_more_come_behind_those_that_used_less),
        TEST(a_light_one_that_uses_most_of_the_time_comes_behind_others),
        TEST(a_definition_that_fails_again_and_again_comes_behind_others),
        TEST(failures_of_long_ago_do_not_count),
        TEST(heavy_ones_are_owed_a_part_of_the_time),
        TEST(no_more_definitions_are_known_than_there_may_be),
        RUNNING(light_work_is_done_before_a_backlog_of_heavy_work),
        RUNNING(work_that_was_taken_before_it_was_known_to_be_heavy_is_given_back),
        RUNNING(heavy_work_is_not_put_off_for_ever),
        RUNNING(a_flood_of_light_work_does_not_hold_up_others),
        RUNNING(work_that_fails_again_and_again_is_done_after_other_work),
        RUNNING(mail_of_heavy_definitions_waits_for_light_work),
        TEST(a_cancellation_does_not_wait_for_the_share_of_its_definition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
