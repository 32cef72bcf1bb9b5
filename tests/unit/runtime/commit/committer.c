/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/commit/committer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit/runtime/desk.h"

#include <limits.h>

#define SECOND_NS (INT64_C(1000) * DESK_MS_NS)

/* ---- nobody waits for ever --------------------------------------------------------------- */

static void every_commit_is_answered_whoever_runs_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const struct pawl_committer_options options = {.threads = 1 + (uint32_t)(seed % 3),
                                                       .batch_max = 1 + (uint32_t)(seed % 4),
                                                       .leads = seed / 12 % 2 == 0};
        struct desk desk;

        desk_open(&desk, seed, &options);
        for (int i = 0; i < 5; i++)
            (void)desk_add_writer(&desk, 4, PAWL_FOREVER);
        desk_run(&desk);
        for (int i = 0; i < desk.writer_count; i++) {
            assert_int_equal(desk.writers[i].answer_count, 4);
            desk_check_writer(&desk, &desk.writers[i]);
        }
        desk_close(&desk);
    }
}

static void spurious_wakeups_and_pauses_do_no_harm(void **state)
{
    const struct pawl_baton_options shaky = {
        .spurious_ppm = 50000, .pause_ppm = 20000, .pause_ns_max = SECOND_NS};

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const struct pawl_committer_options options = {
            .threads = 2, .batch_max = 2, .leads = seed % 2 == 0};
        struct desk desk = {0};

        test_allocator_init(&desk.alloc);
        assert_ok(pawl__baton_new(&desk.alloc.base, seed, &shaky, &desk.baton), NULL);
        assert_ok(pawl__baton_env(desk.baton, "node", &desk.env), NULL);
        desk_open_store(&desk);
        assert_ok(pawl__committer_new(desk.env, desk.store, &options, &desk.committer, &desk.err),
                  &desk.err);
        for (int i = 0; i < 4; i++)
            (void)desk_add_writer(&desk, 3, i % 2 ? PAWL_FOREVER : SECOND_NS / 2);
        desk_run(&desk);
        for (int i = 0; i < desk.writer_count; i++)
            desk_check_writer(&desk, &desk.writers[i]);
        desk_close(&desk);
    }
}

/* ---- batches ----------------------------------------------------------------------------- */

/* A store that says what it was given: its first apply() stands until the others are queued. */
struct gate {
    struct pawl_store base;
    struct desk *desk;
    int applies;
    size_t sizes[64];
    bool shared; /* two commits of one call were about the same thing */
};

static struct gate *gate_of(struct pawl_store *store)
{
    return (struct gate *)(void *)store;
}

static bool same_thing(const struct pawl_commit *a, const struct pawl_commit *b)
{
    if (a->instance && b->instance && pawl__str_equal(a->instance->id, b->instance->id))
        return true;
    for (size_t i = 0; i < a->done_count; i++)
        for (size_t j = 0; j < b->done_count; j++)
            if (pawl__str_equal(a->done[i], b->done[j]))
                return true;
    return false;
}

static int gate_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct gate *gate = gate_of(store);

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            gate->shared = gate->shared || same_thing(commits[i], commits[j]);
    gate->sizes[gate->applies] = count;
    if (gate->applies++ == 0 &&
        pawl_env_sleep_until(gate->desk->env, pawl_env_monotonic_ns(gate->desk->env) + SECOND_NS) !=
            PAWL_OK)
        return PAWL_ESTOPPED;
    return pawl_store_apply(gate->desk->store, commits, count, deadline_ns, err);
}

static int gate_find(struct pawl_store *store, const struct pawl_query *query,
                     struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    return pawl_store_find(gate_of(store)->desk->store, query, arena, out, deadline_ns, err);
}

static const struct pawl_store_ops gate_ops = {
    .version = PAWL_STORE_VERSION, .apply = gate_apply, .find = gate_find};

static void open_gated(struct desk *desk, struct gate *gate, uint64_t seed,
                       const struct pawl_committer_options *options)
{
    *desk = (struct desk){0};
    *gate = (struct gate){.base = {.ops = &gate_ops, .name = "gate"}, .desk = desk};
    test_allocator_init(&desk->alloc);
    assert_ok(pawl__baton_new(&desk->alloc.base, seed, NULL, &desk->baton), NULL);
    assert_ok(pawl__baton_env(desk->baton, "node", &desk->env), NULL);
    desk_open_store(desk);
    assert_ok(pawl__committer_new(desk->env, &gate->base, options, &desk->committer, &desk->err),
              &desk->err);
}

static void what_comes_in_meanwhile_goes_out_together(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct gate gate;
        struct desk desk;
        size_t sum = 0;

        open_gated(&desk, &gate, seed, NULL);
        for (int i = 0; i < 10; i++)
            (void)desk_add_writer(&desk, 1, PAWL_FOREVER);
        /* The first stands for a second, in which all others arrive. */
        desk_run(&desk);
        assert_true(gate.applies <= 2);
        for (int i = 0; i < gate.applies; i++) {
            sum += gate.sizes[i];
            assert_true(gate.sizes[i] <= desk.counts.largest);
        }
        assert_int_equal(sum, 10);
        assert_int_equal(desk.counts.commits, 10);
        assert_int_equal(desk.counts.applies, gate.applies);
        desk_close(&desk);
    }
}

static void a_caller_who_is_alone_sends_its_commits_itself(void **state)
{
    const struct pawl_committer_options options = {.leads = true};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct desk desk;

        desk_open(&desk, seed, &options);
        (void)desk_add_writer(&desk, 4, PAWL_FOREVER);
        desk_run(&desk);
        desk_check_writer(&desk, &desk.writers[0]);
        assert_int_equal(desk.counts.commits, 4);
        assert_int_equal(desk.counts.applies, 4);
        assert_int_equal(desk.counts.led, 4);
        desk_close(&desk);
    }
}

static void what_comes_in_while_a_caller_sends_goes_out_together(void **state)
{
    const struct pawl_committer_options options = {.leads = true};
    uint64_t led = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct gate gate;
        struct desk desk;

        open_gated(&desk, &gate, seed, &options);
        for (int i = 0; i < 10; i++)
            (void)desk_add_writer(&desk, 1, PAWL_FOREVER);
        desk_run(&desk);
        assert_true(desk.counts.led <= 1);
        if (desk.counts.led > 0) {
            assert_int_equal(gate.applies, 2);
            assert_int_equal(gate.sizes[0], 1);
            assert_int_equal(gate.sizes[1], 9);
        }
        led += desk.counts.led;
        assert_int_equal(desk.counts.commits, 10);
        desk_close(&desk);
    }
    assert_true(led > 0);
}

static void commits_of_one_batch_are_about_different_things(void **state)
{
    static const struct pawl_str work[] = {PAWL_STR_LIT("work-0"), PAWL_STR_LIT("work-1")};

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const struct pawl_committer_options options = {.threads = 1 + (uint32_t)(seed % 2),
                                                       .leads = seed / 2 % 2 == 0};
        struct pawl_instance_row row = desk_row("a");
        struct request requests[9] = {0};
        struct gate gate;
        struct desk desk;
        int done = 0, refused = 0;

        open_gated(&desk, &gate, seed, &options);
        desk_create(&desk, "a");
        for (int i = 0; i < 2; i++) {
            struct pawl_work_row row_of_work = {
                .id = work[i], .kind = pawl__str("test"), .owner = DESK_OWNER};
            struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &row_of_work};
            struct pawl_commit commit = {.changes = &change, .change_count = 1};

            desk_put(&desk, &commit);
        }
        for (int i = 0; i < 9; i++) {
            requests[i].commit =
                i < 3 ? (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE, .instance = &row}
                      : (struct pawl_commit){
                            .done = &work[i % 2], .done_count = 1, .done_owner = DESK_OWNER};
            start_request(&desk, &requests[i]);
        }
        desk_run(&desk);
        for (int i = 0; i < 9; i++) {
            done += requests[i].answer == PAWL_OK;
            refused += requests[i].answer == PAWL_ECONFLICT;
            assert_int_equal(requests[i].commit.status, requests[i].answer);
        }
        assert_false(gate.shared);
        assert_int_equal(done, 3); /* one revision, and each piece of work once */
        assert_int_equal(refused, 6);
        assert_int_equal(desk_instance(&desk, "a").revision, 2);
        assert_int_equal(desk_read(&desk, PAWL_TABLE_WORK).count, 0);
        desk_close(&desk);
    }
}

static void too_many_are_refused_at_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        const struct pawl_committer_options options = {.queue_max = 4};
        struct gate gate;
        struct desk desk;
        int busy = 0;

        open_gated(&desk, &gate, seed, &options);
        for (int i = 0; i < 10; i++)
            (void)desk_add_writer(&desk, 1, PAWL_FOREVER);
        desk_run(&desk);
        for (int i = 0; i < 10; i++) {
            busy += desk.writers[i].answers[0] == PAWL_EBUSY;
            desk_check_writer(&desk, &desk.writers[i]);
        }
        assert_int_equal(busy, 6);
        desk_close(&desk);
    }
}

/* ---- what is busy alone ------------------------------------------------------------------ */

/* A store that has one instance locked until all other commits were applied, or for ever. */
struct lockbox {
    struct pawl_store base;
    struct desk *desk;
    int others, others_needed;
    int refusals;
    bool refused_others; /* a commit was sent together with the one that had been refused */
    /* The reply to the first call is lost, and all later ones are refused for good. */
    bool is_taken_away;
    int calls;
};

static int apply_and_lose(struct lockbox *box, struct pawl_commit *const *commits, size_t count,
                          int64_t deadline_ns, struct pawl_error *err)
{
    int status;

    if (box->calls++ > 0)
        return pawl__error_set(err, PAWL_EPERM, "not any more");
    status = pawl_store_apply(box->desk->store, commits, count, deadline_ns, err);
    return status == PAWL_OK ? pawl__error_code(err, PAWL_EUNKNOWN) : status;
}

static bool is_locked(const struct pawl_commit *commit)
{
    return commit->instance && pawl__str_is(commit->instance->id, "instance-0");
}

static int lockbox_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct lockbox *box = (struct lockbox *)(void *)store;
    struct pawl_commit *free_ones[PAWL_STORE_BATCH_MAX];
    size_t free_count = 0;

    if (box->is_taken_away)
        return apply_and_lose(box, commits, count, deadline_ns, err);
    for (size_t i = 0; i < count; i++) {
        if (!is_locked(commits[i]) || box->others >= box->others_needed) {
            free_ones[free_count++] = commits[i];
            continue;
        }
        box->refused_others = box->refused_others || (box->refusals > 0 && count > 1);
        box->refusals++;
        commits[i]->status = PAWL_EBUSY;
        commits[i]->error = (struct pawl_error){.code = PAWL_EBUSY, .msg = "locked"};
    }
    for (size_t i = 0; i < free_count; i++)
        box->others += !is_locked(free_ones[i]);
    return free_count > 0
               ? pawl_store_apply(box->desk->store, free_ones, free_count, deadline_ns, err)
               : PAWL_OK;
}

static int lockbox_find(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return pawl_store_find(((struct lockbox *)(void *)store)->desk->store, query, arena, out,
                           deadline_ns, err);
}

static const struct pawl_store_ops lockbox_ops = {
    .version = PAWL_STORE_VERSION, .apply = lockbox_apply, .find = lockbox_find};

static void open_lockbox(struct desk *desk, struct lockbox *box, uint64_t seed, int others_needed)
{
    const struct pawl_committer_options options = {.threads = 1 + (uint32_t)(seed % 2)};

    *desk = (struct desk){0};
    *box = (struct lockbox){.base = {.ops = &lockbox_ops, .name = "lockbox"},
                            .desk = desk,
                            .others_needed = others_needed};
    test_allocator_init(&desk->alloc);
    assert_ok(pawl__baton_new(&desk->alloc.base, seed, NULL, &desk->baton), NULL);
    assert_ok(pawl__baton_env(desk->baton, "node", &desk->env), NULL);
    desk_open_store(desk);
    assert_ok(pawl__committer_new(desk->env, &box->base, &options, &desk->committer, &desk->err),
              &desk->err);
}

static void a_commit_that_is_busy_is_applied_again_by_itself_and_holds_up_no_other(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct lockbox box;
        struct desk desk;

        open_lockbox(&desk, &box, seed, 5 * 8);
        for (int i = 0; i < 6; i++)
            (void)desk_add_writer(&desk, i == 0 ? 1 : 8, PAWL_FOREVER);
        desk_run(&desk);
        for (int i = 0; i < 6; i++) {
            assert_int_equal(desk.writers[i].answer_count, i == 0 ? 1 : 8);
            assert_code(desk.writers[i].answers[0], PAWL_OK);
            desk_check_writer(&desk, &desk.writers[i]);
        }
        assert_true(box.refusals >= 1);
        assert_false(box.refused_others);
        desk_close(&desk);
    }
}

static void a_commit_that_stays_busy_is_unavailable_at_its_deadline(void **state)
{
    struct lockbox box;
    struct desk desk;

    (void)state;
    open_lockbox(&desk, &box, 1, INT_MAX);
    (void)desk_add_writer(&desk, 1, 10 * SECOND_NS);
    desk_run(&desk);
    assert_code(desk.writers[0].answers[0], PAWL_EUNAVAILABLE);
    desk_check_writer(&desk, &desk.writers[0]);
    /* Spaced out: not all the time. */
    assert_true(box.refusals > 5 && box.refusals < 100);
    desk_close(&desk);
}

/* That later calls are refused says nothing about the first. */
static void a_commit_whose_reply_was_lost_is_unknown_when_the_store_refuses_all_more(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct lockbox box;
        struct desk desk;

        open_lockbox(&desk, &box, seed, 0);
        box.is_taken_away = true;
        (void)desk_add_writer(&desk, 1, 10 * SECOND_NS);
        desk_run(&desk);
        assert_code(desk.writers[0].answers[0], PAWL_EUNKNOWN);
        assert_int_equal(desk_instance(&desk, "instance-0").revision, 2);
        assert_int_equal(box.calls, 2);
        desk_close(&desk);
    }
}

/* ---- deadlines and ends ------------------------------------------------------------------ */

static void count_landed(void *ctx)
{
    ++*(unsigned *)ctx;
}

static void a_commit_that_lands_after_its_caller_left_is_told(void **state)
{
    unsigned landed = 0;
    const struct pawl_committer_options options = {.landed = count_landed, .landed_ctx = &landed};
    bool unknown = false;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct gate gate;
        struct desk desk;

        open_gated(&desk, &gate, seed, &options);
        (void)desk_add_writer(&desk, 1, SECOND_NS / 4);
        landed = 0;
        desk_run(&desk);
        desk_close(&desk);
        unknown = unknown || desk.writers[0].answers[0] == PAWL_EUNKNOWN;
        assert_int_equal(landed, desk.writers[0].answers[0] == PAWL_EUNKNOWN ? 1 : 0);
    }
    assert_true(unknown);
}

static void a_deadline_is_kept_while_others_are_applied(void **state)
{
    bool timed_out = false, unknown = false;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct gate gate;
        struct desk desk;
        int64_t start_ns;

        open_gated(&desk, &gate, seed, NULL);
        start_ns = pawl_env_monotonic_ns(desk.env);
        /* The first apply() stands for a second: some are in it, some wait behind it. */
        for (int i = 0; i < 4; i++)
            (void)desk_add_writer(&desk, 1, SECOND_NS / 4);
        desk_run(&desk);
        assert_true(gate.applies <= 1);
        assert_int_equal(pawl_env_monotonic_ns(desk.env), start_ns + SECOND_NS);
        for (int i = 0; i < 4; i++) {
            int answer = desk.writers[i].answers[0];

            timed_out = timed_out || answer == PAWL_ETIMEDOUT;
            unknown = unknown || answer == PAWL_EUNKNOWN;
            assert_true(answer == PAWL_ETIMEDOUT || answer == PAWL_EUNKNOWN);
            assert_int_equal(desk.writers[i].err.code, answer);
            desk_check_writer(&desk, &desk.writers[i]);
        }
        desk_close(&desk);
    }
    assert_true(timed_out && unknown);
}

static void a_deadline_that_is_past_sends_nothing(void **state)
{
    struct pawl_instance_row row = desk_row("a");
    struct request request = {.commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row},
                              .deadline_ns = 1};
    struct desk desk;

    (void)state;
    desk_open(&desk, 3, NULL);
    desk_create(&desk, "a");
    start_request(&desk, &request);
    desk_run(&desk);
    assert_code(request.answer, PAWL_ETIMEDOUT);
    assert_int_equal(desk.calls, 0);
    desk_close(&desk);
}

static void end_in_the_middle(void *arg)
{
    struct desk *desk = arg;

    if (pawl_env_sleep_until(desk->env, pawl_env_monotonic_ns(desk->env) + SECOND_NS / 2) ==
        PAWL_OK)
        end_committer(desk);
}

static void the_end_lets_those_who_wait_have_their_answers(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct pawl_thread *end;
        struct gate gate;
        struct desk desk;

        open_gated(&desk, &gate, seed, NULL);
        for (int i = 0; i < 5; i++)
            (void)desk_add_writer(&desk, 1, PAWL_FOREVER);
        /* Not after the writers, but while the first of them is applied and the others wait. */
        assert_ok(pawl_thread_start(desk.env, "end", end_in_the_middle, &desk, &end, &desk.err),
                  &desk.err);
        assert_ok(pawl__baton_run(desk.baton, &desk.err), &desk.err);
        assert_null(desk.committer);
        for (int i = 0; i < 5; i++) {
            assert_code(desk.writers[i].answers[0], PAWL_OK);
            desk_check_writer(&desk, &desk.writers[i]);
        }
        desk_close(&desk);
    }
}

struct stopper {
    struct desk *desk;
    int64_t after_ns;
};

static void run_stopper(void *arg)
{
    struct stopper *stopper = arg;
    struct desk *desk = stopper->desk;

    if (pawl_env_sleep_until(desk->env, pawl_env_monotonic_ns(desk->env) + stopper->after_ns) ==
        PAWL_OK)
        pawl__baton_env_stop(desk->env);
}

/* The database is on another machine: it goes on. */
static void a_stop_ends_all_waits_and_no_answer_is_wrong(void **state)
{
    int stopped = 0, unknown = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct pawl_store_fault_hooks hooks = {desk_decide, NULL, NULL};
        struct desk desk = {0};
        const struct pawl_committer_options options = {.leads = seed / 2 % 2 == 0};
        struct stopper stopper = {&desk, (int64_t)(seed % 20) * DESK_MS_NS};
        struct pawl_env *server;

        test_allocator_init(&desk.alloc);
        assert_ok(pawl__baton_new(&desk.alloc.base, seed, NULL, &desk.baton), NULL);
        assert_ok(pawl__baton_env(desk.baton, "server", &server), NULL);
        assert_ok(pawl__baton_env(desk.baton, "node", &desk.env), NULL);
        hooks.ctx = &desk;
        pawl__arena_init(&desk.arena, &desk.env->alloc, (size_t)4 << 20);
        assert_ok(pawl__memory_database_new(server, &desk.database, &desk.err), &desk.err);
        assert_ok(pawl__memory_store_open(desk.database, server, &desk.plain, &desk.err),
                  &desk.err);
        assert_ok(pawl__memory_store_open(desk.database, desk.env, &desk.store, &desk.err),
                  &desk.err);
        assert_ok(pawl__fault_store_new(desk.env, desk.store, &hooks, &desk.store, &desk.err),
                  &desk.err);
        assert_ok(pawl__committer_new(desk.env, desk.store, &options, &desk.committer, &desk.err),
                  &desk.err);
        /* Some answers are lost, so that tries are under way at all times. */
        desk.fail_from = 1;
        desk.fail_to = 1000;
        desk.how = seed % 2 ? PAWL_STORE_FAULT_AFTER : PAWL_STORE_FAULT_BEFORE;
        for (int i = 0; i < 5; i++)
            (void)desk_add_writer(&desk, 3, PAWL_FOREVER);
        desk_start(&desk, "stopper", run_stopper, &stopper);
        desk_run(&desk);
        for (int i = 0; i < 5; i++) {
            int answer = desk.writers[i].answers[desk.writers[i].answer_count - 1];

            stopped += answer == PAWL_ESTOPPED;
            unknown += answer == PAWL_EUNKNOWN;
            assert_true(answer == PAWL_ESTOPPED || answer == PAWL_EUNKNOWN);
            desk_check_writer(&desk, &desk.writers[i]);
        }
        desk_close(&desk);
    }
    assert_true(stopped > 0 && unknown > 0);
}

/* ---- faults ------------------------------------------------------------------------------ */

static void a_fault_at_any_call_is_no_failure(void **state)
{
    static const enum pawl_store_fault ways[] = {PAWL_STORE_FAULT_BEFORE, PAWL_STORE_FAULT_AFTER};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int how = 0; how < 2; how++) {
            bool more = true;

            for (int nth = 1; more; nth++) {
                const struct pawl_committer_options options = {.leads = seed % 2 == 0};
                struct desk desk;

                desk_open(&desk, seed, &options);
                desk.fail_from = desk.fail_to = nth;
                desk.how = ways[how];
                for (int i = 0; i < 3; i++)
                    (void)desk_add_writer(&desk, 3, 60 * SECOND_NS);
                desk_run(&desk);
                for (int i = 0; i < 3; i++) {
                    assert_int_equal(desk.writers[i].answer_count, 3);
                    assert_code(desk.writers[i].answers[2], PAWL_OK);
                    desk_check_writer(&desk, &desk.writers[i]);
                }
                assert_int_equal(desk.counts.commits, 9);
                assert_true(desk.counts.unknown <= 1);
                more = desk.calls >= nth;
                desk_close(&desk);
            }
        }
    }
}

static void faults_in_a_row_are_outlived(void **state)
{
    (void)state;
    for (int from = 1; from < 8; from++) {
        for (int how = 0; how < 2; how++) {
            const struct pawl_committer_options options = {.leads = from % 2 == 0};
            struct desk desk;

            desk_open(&desk, (uint64_t)from, &options);
            desk.fail_from = from;
            desk.fail_to = from + 5;
            desk.how = how ? PAWL_STORE_FAULT_AFTER : PAWL_STORE_FAULT_BEFORE;
            for (int i = 0; i < 3; i++)
                (void)desk_add_writer(&desk, 3, 60 * SECOND_NS);
            desk_run(&desk);
            for (int i = 0; i < 3; i++) {
                assert_code(desk.writers[i].answers[2], PAWL_OK);
                desk_check_writer(&desk, &desk.writers[i]);
            }
            desk_close(&desk);
        }
    }
}

static void check_away(bool leads)
{
    const struct pawl_committer_options options = {.leads = leads};
    struct desk desk;
    int64_t start_ns;

    desk_open(&desk, 1, &options);
    start_ns = pawl_env_monotonic_ns(desk.env);
    desk.fail_from = 1;
    desk.fail_to = 1000000;
    (void)desk_add_writer(&desk, 2, 5 * SECOND_NS);
    desk_run(&desk);
    assert_int_equal(desk.writers[0].answer_count, 1);
    assert_code(desk.writers[0].answers[0], PAWL_EUNAVAILABLE);
    assert_non_null(strstr(desk.writers[0].err.msg, "injected"));
    assert_int_equal(pawl_env_monotonic_ns(desk.env), start_ns + 5 * SECOND_NS);
    /* It was tried again and again, but not without pause. */
    assert_true(desk.calls > 5 && desk.calls < 100);
    desk_check_writer(&desk, &desk.writers[0]);
    desk_close(&desk);
}

static void a_store_that_is_away_is_unavailable_at_the_deadline(void **state)
{
    (void)state;
    check_away(false);
    check_away(true);
}

static void check_lost(bool leads)
{
    const struct pawl_committer_options options = {.leads = leads};
    struct desk desk;

    desk_open(&desk, 1, &options);
    desk.fail_from = 1;
    desk.fail_to = 1000000;
    desk.how = PAWL_STORE_FAULT_AFTER;
    (void)desk_add_writer(&desk, 2, 5 * SECOND_NS);
    desk_run(&desk);
    assert_int_equal(desk.writers[0].answer_count, 1);
    assert_code(desk.writers[0].answers[0], PAWL_EUNKNOWN);
    assert_int_equal(desk_instance(&desk, "instance-0").revision, 2);
    assert_true(desk.counts.unknown > 5);
    desk_close(&desk);
}

static void an_answer_that_stays_lost_is_unknown_at_the_deadline(void **state)
{
    (void)state;
    check_lost(false);
    check_lost(true);
}

/* ---- memory, threads --------------------------------------------------------------------- */

/* All of a committer's life, in a thread of the baton: its end waits. */
static void run_life(void *arg)
{
    const struct pawl_committer_options options = {.threads = 2, .leads = true};
    struct request *request = arg;
    struct desk *desk = request->desk;

    request->answer =
        pawl__committer_new(desk->env, desk->store, &options, &desk->committer, &request->err);
    if (request->answer == PAWL_OK)
        run_request(request);
    pawl__committer_free(desk->committer);
}

static int commit_with_little_memory(struct test_allocator *alloc, void *arg)
{
    struct pawl_instance_row row = desk_row("a");
    struct desk desk = {0};
    struct request request = {.desk = &desk,
                              .commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row},
                              .deadline_ns = 10 * SECOND_NS};
    struct pawl_thread *thread = NULL;
    int status = pawl__baton_new(&alloc->base, 1, NULL, &desk.baton);

    (void)arg;
    if (status == PAWL_OK)
        status = pawl__baton_env(desk.baton, "node", &desk.env);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(desk.env, &desk.store, NULL);
    if (status == PAWL_OK)
        status = pawl_thread_start(desk.env, "life", run_life, &request, &thread, NULL);
    if (status == PAWL_OK)
        status = pawl__baton_run(desk.baton, NULL);
    if (status == PAWL_OK)
        status = request.answer;
    /* The store's own failures are tried again until the deadline. */
    if (status == PAWL_EUNAVAILABLE)
        status = PAWL_ENOMEM;
    pawl_store_close(desk.store);
    pawl__baton_free(desk.baton);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    test_sweep_allocations(commit_with_little_memory, NULL, 400);
}

/* Without a fault between two committer threads; with lost answers between one. */
static void check_real_threads(uint32_t threads, bool leads, int fail_from, int fail_to)
{
    const struct pawl_committer_options options = {
        .threads = threads, .batch_max = 4, .leads = leads};
    struct desk desk = {0};

    assert_ok(pawl_system_env_open(&desk.env, &desk.err), &desk.err);
    desk_open_store(&desk);
    desk.fail_from = fail_from;
    desk.fail_to = fail_to;
    desk.how = PAWL_STORE_FAULT_AFTER;
    assert_ok(pawl__committer_new(desk.env, threads > 1 ? desk.store->inner : desk.store, &options,
                                  &desk.committer, &desk.err),
              &desk.err);
    for (int i = 0; i < 8; i++)
        (void)desk_add_writer(&desk, DESK_WRITES_MAX, PAWL_FOREVER);
    join_and_end(&desk);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(desk.writers[i].answer_count, DESK_WRITES_MAX);
        desk_check_writer(&desk, &desk.writers[i]);
    }
    assert_int_equal(desk.counts.commits, 8 * DESK_WRITES_MAX);
    desk_close(&desk);
}

static void real_threads_get_their_answers_too(void **state)
{
    (void)state;
    for (int leads = 0; leads < 2; leads++) {
        check_real_threads(2, leads, 0, 0);
        check_real_threads(1, leads, 5, 8);
    }
}

static void options_out_of_range_are_refused(void **state)
{
    const struct pawl_committer_options options = {.batch_max = PAWL_STORE_BATCH_MAX + 1};
    struct pawl_committer *committer = NULL;
    struct desk desk;

    (void)state;
    desk_open(&desk, 1, NULL);
    assert_code(pawl__committer_new(desk.env, desk.store, &options, &committer, &desk.err),
                PAWL_EINVAL);
    assert_null(committer);
    desk_run(&desk);
    desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_commit_is_answered_whoever_runs_first),
        cmocka_unit_test(spurious_wakeups_and_pauses_do_no_harm),
        cmocka_unit_test(what_comes_in_meanwhile_goes_out_together),
        cmocka_unit_test(a_caller_who_is_alone_sends_its_commits_itself),
        cmocka_unit_test(what_comes_in_while_a_caller_sends_goes_out_together),
        cmocka_unit_test(commits_of_one_batch_are_about_different_things),
        cmocka_unit_test(too_many_are_refused_at_once),
        cmocka_unit_test(a_commit_that_lands_after_its_caller_left_is_told),
        cmocka_unit_test(a_commit_that_is_busy_is_applied_again_by_itself_and_holds_up_no_other),
        cmocka_unit_test(a_commit_that_stays_busy_is_unavailable_at_its_deadline),
        cmocka_unit_test(a_commit_whose_reply_was_lost_is_unknown_when_the_store_refuses_all_more),
        cmocka_unit_test(a_deadline_is_kept_while_others_are_applied),
        cmocka_unit_test(a_deadline_that_is_past_sends_nothing),
        cmocka_unit_test(the_end_lets_those_who_wait_have_their_answers),
        cmocka_unit_test(a_stop_ends_all_waits_and_no_answer_is_wrong),
        cmocka_unit_test(a_fault_at_any_call_is_no_failure),
        cmocka_unit_test(faults_in_a_row_are_outlived),
        cmocka_unit_test(a_store_that_is_away_is_unavailable_at_the_deadline),
        cmocka_unit_test(an_answer_that_stays_lost_is_unknown_at_the_deadline),
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(real_threads_get_their_answers_too),
        cmocka_unit_test(options_out_of_range_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
