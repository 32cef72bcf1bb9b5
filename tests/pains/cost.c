/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What things cost, in calls to the store, rows that it answers and bytes that are kept, never in
 * time: being ready, the first run, a resume among many, many runs.
 */
#include "lib/clock.h"
#include "pains/stage.h"
#include "runtime/node/retention.h"

#include <poll.h>
#include <stdlib.h>

#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */
#define CHUNK 1000u

struct fixture {
    struct test_allocator alloc;
    struct test_clock *clock;
    struct pawl_memory_database *database;
    struct stage_options options;
    struct stage stage;
};

static void begin(struct fixture *f)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    *f = (struct fixture){0};
    test_allocator_init(&f->alloc);
    assert_int_equal(test_clock_open(&f->alloc.base, WALL, &f->clock), PAWL_OK);
    assert_ok(pawl__memory_database_new(test_clock_env(f->clock), &f->database, &err), &err);
    f->options = (struct stage_options){
        .database = f->database, .env = test_clock_env(f->clock), .trace = true};
    stage_open(&f->stage, &f->options);
}

/* Another node, which knows nothing yet. */
static void reopen(struct fixture *f)
{
    stage_close(&f->stage);
    stage_open(&f->stage, &f->options);
}

static void end(struct fixture *f)
{
    stage_close(&f->stage);
    pawl__memory_database_free(f->database);
    test_clock_close(f->clock);
    assert_int_equal(f->alloc.live_count, 0);
}

/* Since the last look. Leases and waits are those of a thread that goes by the clock. */
static struct pawl_store_counts cost(struct fixture *f)
{
    struct pawl_store_counts counts;

    pawl__trace_store_counts(f->stage.store, &counts);
    counts.calls[PAWL_STORE_CALL_LEASE] = counts.calls[PAWL_STORE_CALL_WAIT] = 0;
    pawl__trace_store_reset(f->stage.store);
    return counts;
}

static void assert_same_cost(const struct pawl_store_counts *a, const struct pawl_store_counts *b)
{
    for (unsigned i = 0; i < PAWL_STORE_CALL_COUNT; i++) {
        if (a->calls[i] != b->calls[i])
            fail_msg("%llu calls of %s became %llu", (unsigned long long)a->calls[i],
                     pawl__store_call_name((enum pawl_store_call)i),
                     (unsigned long long)b->calls[i]);
    }
    if (a->rows != b->rows)
        fail_msg("%llu rows became %llu", (unsigned long long)a->rows, (unsigned long long)b->rows);
    assert_int_equal(a->commits, b->commits);
    assert_int_equal(a->claims, b->claims);
}

/* ---- ready --------------------------------------------------------------------------------- */

struct filling {
    struct pawl_instance_row instances[CHUNK];
    struct pawl_bookmark_row bookmarks[CHUNK];
    struct pawl_work_row timers[CHUNK];
    struct pawl_definition_row definitions[CHUNK];
    char ids[CHUNK][24];
};

static void load(struct fixture *f, enum pawl_table table, const void *rows, unsigned count)
{
    assert_ok(
        pawl_store_load(f->stage.store, table, rows, count, stage_later(&f->stage), &f->stage.err),
        &f->stage.err);
}

/* Instances that wait for a timer in a year, each of a definition of its own. */
static void fill(struct fixture *f, unsigned count)
{
    const int64_t in_a_year_us = (WALL + 365 * 86400 * SECOND) / 1000;
    struct filling *all = calloc(1, sizeof *all);

    assert_non_null(all);
    for (unsigned from = 0; from < count; from += CHUNK) {
        unsigned n = count - from < CHUNK ? count - from : CHUNK;

        for (unsigned i = 0; i < n; i++) {
            struct pawl_str id = pawl__str_make(
                all->ids[i], (size_t)snprintf(all->ids[i], sizeof all->ids[i], "%u", from + i));

            all->definitions[i] = (struct pawl_definition_row){
                .id = id, .definition_id = id, .version = 1, .is_latest = 1, .is_published = 1};
            all->instances[i] = (struct pawl_instance_row){.id = id,
                                                           .definition_id = id,
                                                           .version_id = id,
                                                           .version = 1,
                                                           .status = pawl__str("Running"),
                                                           .sub_status = pawl__str("Suspended"),
                                                           .fence = 1,
                                                           .revision = 1};
            all->bookmarks[i] = (struct pawl_bookmark_row){
                .id = id, .instance_id = id, .name = pawl__str("Elsa.Delay"), .hash = id};
            all->timers[i] = (struct pawl_work_row){.id = id,
                                                    .kind = pawl__str(PAWL_WORK_TIMER),
                                                    .instance_id = id,
                                                    .bookmark_id = id,
                                                    .due_us = in_a_year_us + i,
                                                    .expires_us = PAWL_TIME_NEVER};
        }
        load(f, PAWL_TABLE_DEFINITIONS, all->definitions, n);
        load(f, PAWL_TABLE_INSTANCES, all->instances, n);
        load(f, PAWL_TABLE_BOOKMARKS, all->bookmarks, n);
        load(f, PAWL_TABLE_WORK, all->timers, n);
    }
    free(all);
}

static struct pawl_store_counts cost_of_ready(unsigned timers)
{
    struct pawl_store_counts counts;
    struct pawl_worked worked;
    struct fixture f;

    begin(&f);
    fill(&f, timers);
    reopen(&f);
    assert_ok(pawl__runtime_work(f.stage.runtime, 0, &worked, stage_later(&f.stage), &f.stage.err),
              &f.stage.err);
    assert_int_equal(worked.done, 0);
    assert_true(worked.next_due_us != PAWL_TIME_NEVER);
    counts = cost(&f);
    end(&f);
    return counts;
}

static void being_ready_costs_the_same_with_many_timers(void **state)
{
    struct pawl_store_counts few = cost_of_ready(20),
                             many = cost_of_ready(stage_size(20000, 1000000));

    (void)state;
    assert_same_cost(&few, &many);
    assert_int_equal(many.rows, 0);
}

/* ---- runs ---------------------------------------------------------------------------------- */

static void the_first_run_costs_what_the_second_does(void **state)
{
    struct pawl_store_counts first, second, third;
    struct fixture f;

    (void)state;
    begin(&f);
    stage_publish(&f.stage, DEFINITION("d", "", RIG_WRITE("w", "1") "," RIG_WRITE("w2", "2")));
    reopen(&f);
    (void)cost(&f);
    stage_start(&f.stage, "d", "first");
    stage_drain(&f.stage);
    first = cost(&f);
    stage_start(&f.stage, "d", "second");
    stage_drain(&f.stage);
    second = cost(&f);
    stage_start(&f.stage, "d", "third");
    stage_drain(&f.stage);
    third = cost(&f);
    assert_same_cost(&second, &third);
    /* The definition: its stamp, which of its versions is published, that version. */
    assert_true(first.calls[PAWL_STORE_CALL_FIND] - second.calls[PAWL_STORE_CALL_FIND] <= 3);
    assert_true(first.rows - second.rows <= 3);
    first.calls[PAWL_STORE_CALL_FIND] = second.calls[PAWL_STORE_CALL_FIND];
    first.calls[PAWL_STORE_CALL_STATUS] = second.calls[PAWL_STORE_CALL_STATUS]; /* the clock */
    first.rows = second.rows;
    assert_same_cost(&first, &second);
    end(&f);
}

static void run_and_delete(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        stage_start(&f->stage, "d", "run");
        assert_ok(stage_send(&f->stage, "Go", NULL, NULL), NULL);
        stage_drain(&f->stage);
        assert_ok(pawl__runtime_delete(f->stage.runtime, pawl__str("run"), stage_later(&f->stage),
                                       &f->stage.err),
                  &f->stage.err);
    }
}

/* What keeps a send that is tried again from acting twice has an end. */
static void forget_sends(struct fixture *f)
{
    const struct pawl_retention_policy policy = {0};
    struct pawl_retained gone = {.more = true};

    test_clock_advance(f->clock, 7200 * SECOND);
    while (gone.more)
        assert_ok(pawl__runtime_retain(f->stage.runtime, &policy, &gone, stage_later(&f->stage),
                                       &f->stage.err),
                  &f->stage.err);
    assert_int_equal(stage_count(&f->stage, PAWL_TABLE_RESERVATIONS), 0);
}

/* Blocks of arenas that threads keep. */
#define KEPT_BYTES_MAX ((size_t)4 * 4096)

/* What stays: threads that go by the clock have some for a moment now and then. */
static size_t least_bytes(const struct fixture *f)
{
    size_t least = SIZE_MAX;

    for (int i = 0; i < 100; i++) {
        if (f->alloc.live_bytes < least)
            least = f->alloc.live_bytes;
        (void)poll(NULL, 0, 2);
    }
    return least;
}

static void many_runs_keep_no_memory(void **state)
{
    const unsigned count = stage_size(1000, 500000);
    size_t bytes;
    struct fixture f;

    (void)state;
    begin(&f);
    stage_publish(&f.stage, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    /* Twice: tables of a size to be expected have grown then. */
    for (int i = 0; i < 2; i++) {
        run_and_delete(&f, count);
        forget_sends(&f);
    }
    bytes = least_bytes(&f);
    run_and_delete(&f, count);
    forget_sends(&f);
    /* A thread that keeps a block from its first use on may have had that just now: a few in all.
     * What leaks with every run is more. */
    assert_in_range(least_bytes(&f), 0, bytes + KEPT_BYTES_MAX);
    end(&f);
}

/* ---- among many ---------------------------------------------------------------------------- */

static struct pawl_store_counts cost_of_resume(struct fixture *f, const char *id)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(id)};

    (void)cost(f);
    assert_ok(pawl__runtime_send_event(f->stage.runtime, pawl__str("Go"), NULL, &to, NULL,
                                       stage_later(&f->stage), &f->stage.err),
              &f->stage.err);
    stage_drain(&f->stage);
    return cost(f);
}

static void a_resume_costs_the_same_among_many(void **state)
{
    const unsigned sizes[] = {100, stage_size(10000, 200000)};
    struct pawl_store_counts costs[2];
    struct fixture f;
    unsigned made = 0;
    char id[32];

    (void)state;
    begin(&f);
    stage_publish(&f.stage, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_EVENT("e2", "On")));
    for (unsigned round = 0; round < 2; round++) {
        for (; made < sizes[round]; made++) {
            (void)snprintf(id, sizeof id, "i%u", made);
            stage_start(&f.stage, "d", id);
        }
        costs[round] = cost_of_resume(&f, id);
        assert_int_equal(costs[round].claims, 1);
    }
    assert_same_cost(&costs[0], &costs[1]);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(being_ready_costs_the_same_with_many_timers),
        cmocka_unit_test(the_first_run_costs_what_the_second_does),
        cmocka_unit_test(many_runs_keep_no_memory),
        cmocka_unit_test(a_resume_costs_the_same_among_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
