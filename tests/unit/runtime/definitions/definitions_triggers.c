/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers of definitions in a store, and their timers. */
#include "base/time/datetime.h"
#include "unit/runtime/definitions/defining.h"

/* ---- triggers and their timers ------------------------------------------------------------- */

static void triggers_that_time_fires_get_a_timer(void **state)
{
    struct fixture *f = *state;
    const struct pawl_trigger_row *all;
    const struct pawl_work_row *work;
    int64_t now_us;
    int found = 0;

    define(f, "a",
           SEQUENCE(START_EVENT("e", "E") "," START_TIMER("t", "00:00:30") "," START_CRON(
               "c", "0 0 * * * *") "," START_AT("s", "2025-06-01T00:00:00Z")));
    all = triggers(f, 4);
    work = ticks(f, 3);
    now_us = store_now_us(f);
    for (int i = 0; i < 4; i++) {
        bool is_timer = pawl__str_is(all[i].name, "Elsa.Timer");
        bool is_cron = pawl__str_is(all[i].name, "Elsa.Cron");
        /* 2025-01-01T01:00:00Z, 2025-06-01T00:00:00Z */
        int64_t due_us = is_timer  ? now_us + 30 * SECOND_US
                         : is_cron ? INT64_C(1735693200000000)
                                   : INT64_C(1748736000000000);
        const char *id = pawl__arena_printf(&f->arena, "tick:%.*s:%lld", PAWL_STR_ARG(all[i].id),
                                            (long long)due_us);

        for (int j = 0; j < 3; j++) {
            if (!pawl__str_equal(work[j].name, all[i].id))
                continue;
            found++;
            assert_str(work[j].kind, PAWL_WORK_TICK);
            assert_int_equal(work[j].due_us, due_us);
            assert_str(work[j].id, id);
            assert_true(work[j].part >= 0 && work[j].part < 1024);
            assert_int_equal(work[j].expires_us, PAWL_TIME_NEVER);
            assert_int_equal(work[j].owner, 0);
        }
    }
    assert_int_equal(found, 3);
}

static void indexing_again_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_str timer_id, tick_id;
    int64_t before;

    define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00")));
    timer_id = triggers(f, 1)->id;
    tick_id = ticks(f, 1)->id;
    before = stamp(f);
    ten_seconds_pass(f);
    assert_ok(pawl__definitions_index(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
              &f->err);
    assert_true(pawl__str_equal(triggers(f, 1)->id, timer_id));
    assert_true(pawl__str_equal(ticks(f, 1)->id, tick_id));
    assert_int_equal(stamp(f), before);
}

static void the_next_version_keeps_triggers_that_stay_and_their_timers(void **state)
{
    struct fixture *f = *state;
    struct pawl_str timer_id, tick_id;
    struct pawl_definition_row next;

    define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00")));
    timer_id = triggers(f, 1)->id;
    tick_id = ticks(f, 1)->id;
    ten_seconds_pass(f);
    next = define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00") "," LINE("new")));
    assert_true(pawl__str_equal(triggers(f, 1)->id, timer_id));
    assert_true(pawl__str_equal(triggers(f, 1)->version_id, next.id));
    assert_true(pawl__str_equal(ticks(f, 1)->id, tick_id));
    ten_seconds_pass(f);
    define(f, "a", SEQUENCE(START_TIMER("t", "02:00:00")));
    assert_false(pawl__str_equal(triggers(f, 1)->id, timer_id));
    assert_int_equal(ticks(f, 1)->due_us, store_now_us(f) + 7200 * SECOND_US);
    assert_true(pawl__str_equal(ticks(f, 1)->name, triggers(f, 1)->id));
}

static void delete_ticks(struct fixture *f)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_WORK);
    const struct pawl_work_row *all = rows.rows;

    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &all[i]};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
        struct pawl_commit *const commits[] = {&commit};

        assert_ok(pawl_store_apply(f->store, commits, 1, PAWL_FOREVER, &f->err), &f->err);
        assert_ok(commit.status, &commit.error);
    }
}

static void a_timer_that_was_lost_is_set_again_and_one_that_fired_is_not(void **state)
{
    struct fixture *f = *state;

    define(f, "a",
           SEQUENCE(START_CRON("c", "0 0 * * * *") "," START_AT("s", "2025-01-01T00:00:00Z")));
    ticks(f, 2);
    delete_ticks(f);
    assert_ok(pawl__definitions_index(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
              &f->err);
    assert_int_equal(ticks(f, 1)->due_us, INT64_C(1735693200000000));
}

/* A workflow that is embedded twice brings its trigger twice, with the same activity id. */
static void the_same_trigger_twice_is_one(void **state)
{
    struct fixture *f = *state;

    import_with(f, "Child", USABLE, START_EVENT("e", "E"));
    define(f, "a",
           SEQUENCE("{'id':'use','type':'Child'},{'id':'again','type':'Child'}," START_EVENT(
               "other", "E")));
    triggers(f, 2);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void times_are_rounded_up_and_never_stays_never(void **state)
{
    (void)state;
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS), 0);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS + 1), 1);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS + 10), 1);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS - 1), 0);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS - 10), -1);
    assert_int_equal(pawl__ticks_to_us(INT64_MAX), PAWL_TIME_NEVER);
    assert_true(pawl__ticks_to_us(INT64_MIN) < 0);
    assert_int_equal(pawl__us_to_ticks(PAWL_TIME_NEVER), INT64_MAX);
    assert_int_equal(pawl__us_to_ticks(INT64_MAX - 1), INT64_MAX);
    assert_true(pawl__us_to_ticks(INT64_MIN) < 0);
    for (int64_t us = -3; us <= 3; us++)
        assert_int_equal(pawl__ticks_to_us(pawl__us_to_ticks(us)), us);
}

static void due_times_come_from_payloads(void **state)
{
    struct fixture *f = *state;
    const int64_t now = PAWL_DATETIME_UNIX_EPOCH_TICKS + 5 * PAWL_TICKS_PER_SECOND;
    struct pawl_json payload;

    assert_ok(parse(&f->arena,
                    "{'resumeAt':'1970-01-01T00:00:01Z','executeAt':'1970-01-01T00:00:02Z',"
                    "'startAt':'1970-01-01T00:00:03Z','interval':'00:01:00',"
                    "'cronExpression':'*/10 * * * * *'}",
                    &payload),
              NULL);
#define AT(seconds) (PAWL_DATETIME_UNIX_EPOCH_TICKS + (seconds)*PAWL_TICKS_PER_SECOND)
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Delay"), &payload), AT(1));
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Cron"), &payload), AT(2));
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Event"), &payload), INT64_MAX);
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Delay"), NULL), INT64_MAX);
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.Timer"), &payload, now), AT(3));
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.StartAt"), &payload, now), AT(2));
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.Cron"), &payload, now), AT(10));
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.Event"), &payload, now), INT64_MAX);
    assert_int_equal(
        pawl__trigger_due_again(pawl__str("Elsa.Timer"), &payload, now, PAWL_TICKS_PER_SECOND),
        AT(65));
    assert_int_equal(
        pawl__trigger_due_again(pawl__str("Elsa.Timer"), &payload, now, 90 * PAWL_TICKS_PER_SECOND),
        AT(95));
    assert_int_equal(
        pawl__trigger_due_again(pawl__str("Elsa.Cron"), &payload, now, PAWL_TICKS_PER_SECOND),
        AT(10));
    assert_int_equal(
        pawl__trigger_due_again(pawl__str("Elsa.StartAt"), &payload, now, PAWL_TICKS_PER_SECOND),
        INT64_MAX);
    assert_int_equal(pawl__trigger_due_again(pawl__str("Elsa.Timer"), &payload,
                                             PAWL_DATETIME_TICKS_MAX, PAWL_TICKS_PER_SECOND),
                     INT64_MAX);
    assert_true(
        pawl__trigger_is_raised(pawl__str("Elsa.Timer"), &payload, 61 * PAWL_TICKS_PER_SECOND));
    assert_false(
        pawl__trigger_is_raised(pawl__str("Elsa.Timer"), &payload, 60 * PAWL_TICKS_PER_SECOND));
    assert_false(
        pawl__trigger_is_raised(pawl__str("Elsa.Cron"), &payload, 61 * PAWL_TICKS_PER_SECOND));
#undef AT
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(triggers_that_time_fires_get_a_timer),
        TEST(indexing_again_changes_nothing),
        TEST(the_next_version_keeps_triggers_that_stay_and_their_timers),
        TEST(a_timer_that_was_lost_is_set_again_and_one_that_fired_is_not),
        TEST(the_same_trigger_twice_is_one),
        cmocka_unit_test(times_are_rounded_up_and_never_stays_never),
        TEST(due_times_come_from_payloads),
    };

    return cmocka_run_group_tests_name("runtime/definitions_triggers", tests, NULL, NULL);
}
