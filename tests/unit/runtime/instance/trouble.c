/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that cannot be loaded, run or committed: their state is never touched, they are set
 * aside with growing delays or until an operator decides, and what kills its nodes is recognised.
 */
#include "base/error.h"
#include "engine/context.h"
#include "runtime/node/guard.h"
#include "unit/runtime/nodes.h"

#define HOUR (3600 * SECOND)

/* Only its beginning looks like zstd's. */
#define DAMAGED "\x28\xb5\x2f\xfd not a frame"

/* ---- what the store has -------------------------------------------------------------------- */

static struct pawl_instance_row read_instance(struct fixture *f, const char *id)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = pawl__str(id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return *(const struct pawl_instance_row *)rows.rows;
}

static const struct pawl_work_row *read_work(struct fixture *f, size_t count)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, count);
    return rows.rows;
}

/* Writes the state past the runtime, and lets everything else be as it is. */
static void write_state(struct fixture *f, const char *id, struct pawl_str bytes, int64_t runnable)
{
    struct pawl_instance_row before = read_instance(f, id);
    struct pawl_claim claim = {.id = pawl__str(id)};
    struct pawl_commit advance = {.kind = PAWL_COMMIT_ADVANCE, .instance = &claim.row};
    struct pawl_commit aside = {.kind = PAWL_COMMIT_ADVANCE,
                                .flags =
                                    PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_RELEASE,
                                .instance = &claim.row};
    struct pawl_commit *commits[] = {&advance};
    int64_t now_us;

    assert_ok(pawl_store_claim(f->a.store, pawl__runtime_incarnation(f->a.runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    claim.row.state = bytes;
    claim.row.runnable = runnable;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(advance.status, PAWL_OK);
    claim.row.revision++;
    claim.row.failures = before.failures;
    claim.row.retry_us = before.retry_us;
    claim.row.trouble = before.trouble;
    commits[0] = &aside;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(aside.status, PAWL_OK);
}

/* Returns the state as it was. */
static struct pawl_str damage(struct fixture *f, const char *id, int64_t runnable)
{
    struct pawl_str sound = read_instance(f, id).state;

    write_state(f, id, pawl__str(DAMAGED), runnable);
    return sound;
}

/* Whoever looks for work does so for hours. */
static void drain_for_hours(struct fixture *f)
{
    for (int i = 0; i < 8; i++) {
        drain(f);
        test_clock_advance(f->clock, HOUR);
    }
    drain(f);
}

static void create(struct fixture *f, const char *definition_id, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id),
                                    .instance_id = pawl__str(id)};

    assert_ok(pawl__runtime_create(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

static void assert_set_aside(struct fixture *f, const char *id)
{
    struct pawl_instance_row row = read_instance(f, id);

    assert_true(row.retry_us == PAWL_TIME_NEVER);
    assert_true(row.trouble.len > 0);
    assert_int_equal(row.owner, 0);
}

static void retry(struct fixture *f, const char *id)
{
    assert_ok(pawl__runtime_retry(f->a.runtime, pawl__str(id), NULL, 0, NULL, later(f), &f->err),
              &f->err);
}

/* ---- states that cannot be read ------------------------------------------------------------ */

static void a_state_that_cannot_be_read_is_kept_and_set_aside(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row row;
    struct pawl_str sound;
    int64_t revision;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "charged")));
    create(f, "d", "i");
    sound = damage(f, "i", 1);
    revision = read_instance(f, "i").revision;
    drain_for_hours(f);
    row = read_instance(f, "i");
    assert_str(row.state, DAMAGED);
    assert_int_equal(row.revision, revision + 1);
    assert_int_equal(row.failures, 1);
    assert_int_equal(row.runnable, 1);
    assert_set_aside(f, "i");
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_DEAD_LETTERS), 0);

    write_state(f, "i", sound, 1);
    drain_for_hours(f);
    assert_string_equal(f->lines, "");
    retry(f, "i");
    assert_string_equal(f->lines, "charged\n");
    row = read_instance(f, "i");
    assert_str(row.status, "Finished");
    assert_int_equal(row.retry_us + row.failures + (int64_t)row.trouble.len, 0);
}

static void a_damaged_instance_that_awaits_something_is_not_tried_in_a_loop(void **state)
{
    struct fixture *f = *state;
    int64_t revision;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "charged")));
    create(f, "d", "i");
    (void)damage(f, "i", 2);
    revision = read_instance(f, "i").revision;
    drain_for_hours(f);
    assert_int_equal(read_instance(f, "i").revision, revision + 1);
    assert_str(read_instance(f, "i").state, DAMAGED);
    assert_set_aside(f, "i");
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_DEAD_LETTERS), 0);
}

static void mail_of_an_instance_that_is_set_aside_stays(void **state)
{
    struct fixture *f = *state;
    struct pawl_worked worked;
    struct pawl_str sound;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    sound = damage(f, "i", 0);
    assert_int_equal(send(f, "Go").resumed, 1);
    drain_for_hours(f);
    assert_set_aside(f, "i");
    assert_int_equal(read_work(f, 1)->owner, 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    /* It is not taken to be put back. */
    assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
    assert_int_equal(worked.done, 0);

    write_state(f, "i", sound, 0);
    retry(f, "i");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* It is JSON, but not of this instance: its timer must not be taken for one that nobody awaits. */
static void a_state_of_no_instance_is_set_aside_and_its_timer_stays(void **state)
{
    static const char *const texts[] = {"", "null", "[]", "{}", "{\"id\":\"other\"}"};
    struct fixture *f = *state;
    struct pawl_str sound;

    publish(f, DEFINITION("d", "", DELAY("t", "00:01:00") "," RIG_WRITE("w", "woke")));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char id[] = {(char)('i' + i), '\0'};

        f->lines[0] = '\0';
        create(f, "d", id);
        drain(f);
        sound = read_instance(f, id).state;
        write_state(f, id, pawl__str(texts[i]), 0);
        drain_for_hours(f);
        assert_set_aside(f, id);
        assert_str(read_instance(f, id).state, texts[i]);
        assert_str(read_work(f, 1)->kind, PAWL_WORK_TIMER);

        write_state(f, id, sound, 0);
        retry(f, id);
        drain(f);
        assert_string_equal(f->lines, "woke\n");
        assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    }
}

static void a_caller_is_told_that_an_instance_is_set_aside(void **state)
{
    struct fixture *f = *state;
    const struct pawl_run run = {0};

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "charged")));
    create(f, "d", "i");
    (void)damage(f, "i", 1);
    drain(f);
    assert_code(pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, NULL, later(f), &f->err),
                PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "set aside"));
    assert_non_null(strstr(f->err.msg, "pawl retry"));
    /* Trying again what cannot be read changes nothing. */
    assert_code(pawl__runtime_retry(f->a.runtime, pawl__str("i"), NULL, 0, NULL, later(f), &f->err),
                PAWL_ECORRUPT);
    assert_str(read_instance(f, "i").state, DAMAGED);
    assert_set_aside(f, "i");
}

static void a_damaged_instance_can_be_deleted(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "charged")));
    create(f, "d", "i");
    (void)damage(f, "i", 1);
    drain(f);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 0);
}

/* ---- other failures ------------------------------------------------------------------------ */

static void delete_definition(struct fixture *f, const char *id)
{
    assert_ok(pawl__definitions_delete(pawl__runtime_definitions(f->a.runtime), pawl__str(id),
                                       later(f), &f->err),
              &f->err);
}

/* The missing definition is the instance's trouble, and no reason to delete the mail. */
static void mail_of_an_instance_whose_definition_is_gone_stays(void **state)
{
    struct fixture *f = *state;
    const char *definition = DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went"));

    publish(f, definition);
    create(f, "d", "i");
    drain(f);
    assert_int_equal(send(f, "Go").resumed, 1);
    delete_definition(f, "d");
    test_clock_advance(f->clock, 2 * SECOND);
    drain_for_hours(f);
    assert_set_aside(f, "i");
    (void)read_work(f, 1);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    publish(f, definition);
    retry(f, "i");
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* Memory that is refused to what is large, while `scarce`; and to everything in the middle of so
 * many commits. */
struct scarcity {
    struct pawl_allocator base;
    bool scarce;
    bool empty;
    int commits;
};

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    const struct scarcity *scarcity = ctx;

    if (new_size > old_size &&
        (scarcity->empty || (scarcity->scarce && new_size > (size_t)1 << 20)))
        return NULL;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static struct scarcity scarcity = {.base = {resize, &scarcity}};

static int set_up_scarce(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    scarcity.scarce = scarcity.empty = false;
    scarcity.commits = 0;
    assert_int_equal(test_clock_open(&scarcity.base, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    open_all(f);
    *state = f;
    return 0;
}

static struct pawl_json large(struct fixture *f)
{
    static char text[9 << 20];
    struct pawl_json object = pawl__json_object();

    memset(text, 'x', sizeof text);
    assert_ok(pawl__json_set_text(&f->arena, &object, "k",
                                  pawl__json_string(pawl__str_make(text, sizeof text))),
              NULL);
    return object;
}

static void start_large(struct fixture *f, const char *id)
{
    const struct pawl_start what = {
        .definition_id = pawl__str("d"), .instance_id = pawl__str(id), .input = large(f)};

    assert_ok(pawl__runtime_create(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

static void an_instance_goes_on_when_memory_suffices_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row before, row;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "charged")));
    start_large(f, "i");
    before = read_instance(f, "i");
    scarcity.scarce = true;
    for (int i = 0; i < 20; i++) {
        drain(f);
        test_clock_advance(f->clock, 60 * SECOND);
    }
    scarcity.scarce = false;
    row = read_instance(f, "i");
    assert_true(pawl__str_equal(row.state, before.state));
    assert_in_range(row.failures, 4, 12); /* ever longer pauses between them */
    assert_true(row.retry_us < PAWL_TIME_NEVER);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    drain_for_hours(f);
    assert_string_equal(f->lines, "charged\n");
    assert_str(read_instance(f, "i").status, "Finished");
}

static void run_out(void *ctx, struct pawl_str instance_id, const struct pawl_workflow *workflow,
                    const struct pawl_log_record *record)
{
    (void)ctx;
    (void)instance_id;
    (void)workflow;
    (void)record;
    scarcity.empty = scarcity.commits > 0;
}

static void recover(void *ctx, struct pawl_str instance_id, const struct pawl_error *why)
{
    (void)ctx;
    (void)instance_id;
    assert_code(why->code, PAWL_ENOMEM);
    scarcity.empty = false;
    scarcity.commits--;
}

static void errors_of_the_node_make_no_dead_letters(void **state)
{
    struct fixture *f = *state;
    struct pawl_runtime_options options = {
        .node_id = pawl__str("b"),
        .hooks = {.line = on_line, .logged = run_out, .failed = recover, .ctx = f}};
    struct pawl_runtime *b;
    struct pawl_worked worked;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    assert_int_equal(send(f, "Go").resumed, 1);
    scarcity.commits = 6;
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &b, &f->err), &f->err);
    for (int i = 0; i < 10; i++) {
        assert_ok(pawl__runtime_drain(b, &worked, later(f), &f->err), &f->err);
        test_clock_advance(f->clock, 60 * SECOND);
    }
    pawl__runtime_close(b);
    assert_int_equal(scarcity.commits, 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    assert_string_equal(f->lines, "went\n");
}

/* Sets what the row says of failures; what is written later may be any number. */
static void write_failures(struct fixture *f, const char *id, int64_t failures)
{
    struct pawl_claim claim = {.id = pawl__str(id)};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags =
                                     PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    assert_ok(pawl_store_claim(f->a.store, pawl__runtime_incarnation(f->a.runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    claim.row.failures = failures;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
}

static void a_stored_count_of_failures_may_be_any_number(void **state)
{
    static const int64_t counts[] = {INT64_MIN, -1, 63, 64, INT64_MAX};
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "charged")));
    start_large(f, "i");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct pawl_instance_row row;
        int64_t now_us = pawl_env_wall_ns(f->env) / 1000;

        write_failures(f, "i", counts[i]);
        scarcity.scarce = true;
        drain(f);
        scarcity.scarce = false;
        row = read_instance(f, "i");
        assert_in_range(row.failures, 1, 1000000);
        /* From a second up to 17 minutes. */
        assert_in_range(row.retry_us - now_us, 1000000, 1024000000);
        test_clock_advance(f->clock, HOUR);
    }
    drain(f);
    assert_string_equal(f->lines, "charged\n");
}

static void fail_start_after(struct fixture *f, int64_t attempts)
{
    const struct pawl_work_row row = {
        .id = pawl__str("s"),
        .kind = pawl__str(PAWL_WORK_START),
        .expires_us = PAWL_TIME_NEVER,
        .attempts = attempts,
        .payload = pawl__str("not JSON"),
    };
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    drain(f);
}

static void a_stored_count_of_attempts_may_be_any_number(void **state)
{
    static const int64_t few[] = {INT64_MIN, -64, -1}, many[] = {63, 64, INT64_MAX};
    struct fixture *f = *state;

    for (size_t i = 0; i < 3; i++) {
        fail_start_after(f, many[i]);
        assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
        assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), i + 1);
    }
    for (size_t i = 0; i < 3; i++) {
        int64_t now_us = pawl_env_wall_ns(f->env) / 1000;
        const struct pawl_work_row *work;

        fail_start_after(f, few[i]);
        work = read_work(f, 1);
        assert_int_equal(work->attempts, 1);
        assert_in_range(work->due_us - now_us, 1000000, 1024000000);
        drain_for_hours(f);
        assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    }
}

/* ---- ticks --------------------------------------------------------------------------------- */

/* Without its next tick a trigger would have ended. */
static void a_tick_that_fails_is_never_given_up(void **state)
{
    const struct pawl_trigger_row trigger = {
        .id = pawl__str("t"), .name = pawl__str("Elsa.Timer"), .payload = pawl__str("not JSON")};
    const struct pawl_work_row tick = {.id = pawl__str("tick:t"),
                                       .kind = pawl__str(PAWL_WORK_TICK),
                                       .name = pawl__str("t"),
                                       .expires_us = PAWL_TIME_NEVER,
                                       .attempts = 63};
    const struct pawl_change changes[] = {{PAWL_CHANGE_INSERT, PAWL_TABLE_TRIGGERS, &trigger},
                                          {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &tick}};
    struct pawl_commit commit = {.changes = changes, .change_count = 2};
    struct pawl_commit *commits[] = {&commit};
    struct fixture *f = *state;

    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    assert_str(read_work(f, 1)->kind, PAWL_WORK_TICK);
    assert_int_equal(read_work(f, 1)->owner, 0);
}

static void a_tick_that_is_late_does_not_move_the_next(void **state)
{
    struct fixture *f = *state;
    int64_t due_us;

    publish(f, DEFINITION("d", "",
                          "{'id':'t','type':'Elsa.Timer','customProperties':{'canStartWorkflow':"
                          "true},'interval':" RIG_INPUT("TimeSpan", "Literal",
                                                        "'00:01:00'") "}," //
                          RIG_WRITE("w", "ticked")));
    drain(f);
    due_us = read_work(f, 1)->due_us;
    test_clock_advance(f->clock, due_us * 1000 - pawl_env_wall_ns(f->env) + 20 * SECOND);
    drain(f);
    assert_int_equal(read_work(f, 1)->due_us - due_us, 60000000);
}

/* ---- our own errors ------------------------------------------------------------------------ */

static int break_execute(struct pawl_context *context)
{
    (void)context;
    return PAWL_EINTERNAL;
}

static const struct pawl_activity break_activity = {
    .type = "Test.Break",
    .version = 1,
    .category = "Test",
    .description = "Fails as only a bug does.",
    .execute = break_execute,
};

/* They are no spell of pressure on the node: trying again for ever would help nobody. */
static void an_instance_that_fails_with_an_internal_error_is_set_aside(void **state)
{
    struct fixture *f = *state;

    node_close(&f->a);
    assert_int_equal(pawl__engine_add_activity(&f->engine, &break_activity), PAWL_OK);
    node_open(f, &f->a, "a");
    publish(f, DEFINITION("d", "", "{'id':'b','type':'Test.Break'}"));
    create(f, "d", "i");
    for (int i = 0; i < 3; i++)
        drain_for_hours(f);
    assert_set_aside(f, "i");
}

/* Nothing else ends its wait. */
static void a_parent_learns_that_its_child_cannot_be_started_for_good(void **state)
{
    struct fixture *f = *state;

    node_close(&f->a);
    assert_int_equal(pawl__engine_add_activity(&f->engine, &break_activity), PAWL_OK);
    node_open(f, &f->a, "a");
    publish(f, DEFINITION("child", "", "{'id':'b','type':'Test.Break'}"));
    publish(f,
            DEFINITION("d", "",
                       "{'id':'c','type':'Elsa.ExecuteWorkflow','workflowDefinitionId':" RIG_INPUT(
                           "String", "Literal", "'child'") "}"));
    create(f, "d", "i");
    for (int i = 0; i < 12; i++)
        drain_for_hours(f);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
    assert_string_equal(sub_status(f, "i"), "Faulted");
}

/* ---- ids ------------------------------------------------------------------------------------ */

/* As only something else than a node can write it. */
static void an_instance_whose_id_is_too_long_is_refused_by_claims(void **state)
{
    struct fixture *f = *state;
    const struct pawl_run run = {0};
    struct pawl_instance_row row;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};
    struct pawl_commit *commits[] = {&commit};
    struct pawl_outcome outcome;
    struct pawl_worked worked;
    char id[4096];

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    create(f, "d", "i");
    drain(f);
    row = read_instance(f, "i");
    memset(id, 'x', sizeof id);
    row.id = pawl__str_make(id, sizeof id);
    row.owner = row.fence = row.revision = 0;
    row.status = pawl__str("Finished"); /* needs no state that says its id */
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    assert_code(pawl__runtime_run(f->a.runtime, row.id, &run, &outcome, later(f), &f->err),
                PAWL_EINVAL);
    assert_non_null(strstr(f->err.msg, "an instance id has at most"));
    assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
}

static void an_instance_that_is_set_aside_can_be_cancelled(void **state)
{
    struct fixture *f = *state;
    struct pawl_str sound;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    sound = damage(f, "i", 1);
    drain(f);
    assert_set_aside(f, "i");
    write_state(f, "i", sound, 1);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_string_equal(sub_status(f, "i"), "Cancelled");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Whoever names an activity wants that one, and not only that the instance goes on. */
static void a_retry_of_an_activity_of_what_is_set_aside_runs_that_activity(void **state)
{
    const struct pawl_str other = pawl__str("e"), faulted = pawl__str("x");
    struct fixture *f = *state;
    struct pawl_str sound;

    publish(f,
            DEFINITION("d", "'options':{'incidentStrategyType':'ContinueWithIncidentsStrategy'},",
                       RIG_PARALLEL("p", RIG_FAULT("x", "no") "," RIG_EVENT("e", "Go"))));
    create(f, "d", "i");
    drain(f);
    assert_int_equal(read_instance(f, "i").incident_count, 1);
    sound = damage(f, "i", 0);
    assert_int_equal(send(f, "Go").resumed, 1);
    drain(f);
    assert_set_aside(f, "i");
    write_state(f, "i", sound, 0);
    assert_code(
        pawl__runtime_retry(f->a.runtime, pawl__str("i"), &other, 1, NULL, later(f), &f->err),
        PAWL_ENOTFOUND);
    assert_set_aside(f, "i");
    assert_ok(
        pawl__runtime_retry(f->a.runtime, pawl__str("i"), &faulted, 1, NULL, later(f), &f->err),
        &f->err);
    assert_int_equal(read_instance(f, "i").incident_count, 2);
    assert_int_equal(read_instance(f, "i").retry_us, 0);
}

/* ---- what a node may not run --------------------------------------------------------------- */

/* Another node has the locks of all but the last. */
static int refuse(struct pawl_guard *guard, struct pawl_str id, enum pawl_guard_how how,
                  int64_t deadline_ns, struct pawl_guard_pass *out, struct pawl_error *err)
{
    (void)guard;
    (void)deadline_ns;
    (void)out;
    if (how == PAWL_GUARD_WAIT || pawl__str_is(id, "i8"))
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EBUSY, "refused");
}

static bool is_valid(struct pawl_guard *guard, struct pawl_guard_pass pass)
{
    (void)guard;
    (void)pass;
    return true;
}

static void leave(struct pawl_guard *guard, struct pawl_str id, struct pawl_guard_pass pass)
{
    (void)guard;
    (void)id;
    (void)pass;
}

static const struct pawl_guard_ops refusing = {PAWL_GUARD_VERSION, refuse, is_valid, NULL, leave};

static void refused_instances_do_not_hide_runnable_ones(void **state)
{
    struct fixture *f = *state;
    struct pawl_guard guard = {&refusing};
    struct pawl_worked worked;
    struct node b;
    char id[8];

    f->guard = &guard;
    node_open(f, &b, "b");
    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    for (int i = 0; i < 9; i++) {
        (void)snprintf(id, sizeof id, "i%d", i);
        create(f, "d", id);
    }
    for (int i = 0; i < 8 && f->lines[0] == '\0'; i++)
        assert_ok(pawl__runtime_work(b.runtime, 2, &worked, later(f), &f->err), &f->err);
    node_close(&b);
    assert_string_equal(f->lines, "went\n");
}

/* ---- what kills its nodes ------------------------------------------------------------------ */

/* A node claims the instance and is dead, before it commits anything. */
static void die_with(struct fixture *f, const char *id)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("dying"), .ttl_us = 1000000};
    struct pawl_claim claim = {.id = pawl__str(id)};
    int64_t now_us;

    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
    assert_ok(pawl_store_claim(f->a.store, lease.incarnation, &claim, 1, &f->arena, &now_us,
                               later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    lease.kind = PAWL_LEASE_LEAVE;
    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
}

/* As the runtime does it: claims, says that it runs the instance alone, and dies. */
static void die_alone_with(struct fixture *f, const char *id)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("dying"), .ttl_us = 1000000};
    struct pawl_claim claim = {.id = pawl__str(id)};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE,
                                 .instance = &claim.row};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
    assert_ok(pawl_store_claim(f->a.store, lease.incarnation, &claim, 1, &f->arena, &now_us,
                               later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    claim.row.alone = claim.row.takeovers;
    claim.row.trouble = pawl__str("is tried alone: as the runtime says it");
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    lease.kind = PAWL_LEASE_LEAVE;
    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
}

static void what_killed_the_node_that_ran_it_alone_is_set_aside(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    create(f, "d", "i");
    for (int i = 0; i < 3; i++)
        die_with(f, "i");
    die_alone_with(f, "i");
    drain_for_hours(f);
    assert_string_equal(f->lines, "");
    assert_set_aside(f, "i");
    assert_non_null(strstr(read_instance(f, "i").trouble.ptr, "4 nodes in a row died"));
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    /* An operator may try it again; here it does no harm. */
    retry(f, "i");
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(read_instance(f, "i").takeovers, 0);
}

/* What the line hook sees of the row while the instance runs. */
static struct pawl_str trouble_seen;

static void see_trouble(void *ctx, struct pawl_str instance_id,
                        const struct pawl_workflow *workflow, const struct pawl_log_record *record)
{
    struct fixture *f = ctx;

    (void)workflow;
    (void)record;
    trouble_seen = read_instance(f, instance_id.ptr).trouble;
}

static void a_suspect_is_run_alone_and_says_so_beforehand(void **state)
{
    struct fixture *f = *state;
    struct pawl_runtime_options options = {
        .node_id = pawl__str("b"), .hooks = {.line = on_line, .logged = see_trouble, .ctx = f}};
    struct pawl_runtime *b;
    struct pawl_worked worked;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    create(f, "d", "i");
    for (int i = 0; i < 3; i++)
        die_with(f, "i");
    trouble_seen = pawl__str("");
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &b, &f->err), &f->err);
    assert_ok(pawl__runtime_drain(b, &worked, later(f), &f->err), &f->err);
    pawl__runtime_close(b);
    assert_true(pawl__str_starts(trouble_seen, pawl__str("is tried alone: 3 nodes")));
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(read_instance(f, "i").trouble.len, 0);
}

static void a_thousand_deaths_of_healthy_nodes_set_nothing_aside(void **state)
{
    struct fixture *f = *state;
    int64_t steps = 0;

    publish(f, DEFINITION("d", "",
                          "{'id':'l','type':'Elsa.While','condition':" RIG_INPUT(
                              "Boolean", "Literal", "true") ",'body':" RIG_EVENT("e", "Go") "}"));
    create(f, "d", "busy");
    create(f, "d", "idle");
    drain(f);
    for (int i = 0; i < 1000; i++) {
        die_with(f, "busy");
        die_with(f, "idle");
        /* Now and then several in a row, before anybody has come to a step. */
        if (i % 7 < 4)
            continue;
        steps += send(f, "Go").resumed;
        drain(f);
        assert_int_equal(read_instance(f, "busy").retry_us, 0);
        assert_int_equal(read_instance(f, "idle").retry_us, 0);
        assert_int_equal(read_instance(f, "busy").takeovers, 0);
    }
    assert_true(steps > 800);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_state_that_cannot_be_read_is_kept_and_set_aside),
        TEST(a_damaged_instance_that_awaits_something_is_not_tried_in_a_loop),
        TEST(mail_of_an_instance_that_is_set_aside_stays),
        TEST(a_state_of_no_instance_is_set_aside_and_its_timer_stays),
        TEST(a_caller_is_told_that_an_instance_is_set_aside),
        TEST(a_damaged_instance_can_be_deleted),
        TEST(mail_of_an_instance_whose_definition_is_gone_stays),
        cmocka_unit_test_setup_teardown(an_instance_goes_on_when_memory_suffices_again,
                                        set_up_scarce, tear_down),
        cmocka_unit_test_setup_teardown(errors_of_the_node_make_no_dead_letters, set_up_scarce,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_stored_count_of_failures_may_be_any_number, set_up_scarce,
                                        tear_down),
        TEST(a_stored_count_of_attempts_may_be_any_number),
        TEST(a_tick_that_fails_is_never_given_up),
        TEST(a_tick_that_is_late_does_not_move_the_next),
        TEST(an_instance_that_fails_with_an_internal_error_is_set_aside),
        TEST(a_parent_learns_that_its_child_cannot_be_started_for_good),
        TEST(an_instance_whose_id_is_too_long_is_refused_by_claims),
        TEST(an_instance_that_is_set_aside_can_be_cancelled),
        TEST(a_retry_of_an_activity_of_what_is_set_aside_runs_that_activity),
        TEST(refused_instances_do_not_hide_runnable_ones),
        TEST(what_killed_the_node_that_ran_it_alone_is_set_aside),
        TEST(a_suspect_is_run_alone_and_says_so_beforehand),
        TEST(a_thousand_deaths_of_healthy_nodes_set_nothing_aside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
