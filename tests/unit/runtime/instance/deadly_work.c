/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of work whose nodes die: those that kill them end as dead letters; those that were merely
 * taken when a node died are done, however often that happens.
 */
#include "engine/context.h"
#include "unit/runtime/nodes.h"

/* ---- what the store has -------------------------------------------------------------------- */

static void add_work(struct fixture *f, const char *id, const char *kind, const char *name,
                     const char *payload)
{
    const struct pawl_work_row row = {
        .id = pawl__str(id),
        .kind = pawl__str(kind),
        .name = pawl__str(name),
        .expires_us = PAWL_TIME_NEVER,
        .payload = pawl__str(payload),
    };
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
}

static struct pawl_rows rows_of(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows;
}

static struct pawl_work_row only_work(struct fixture *f)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_WORK);

    assert_int_equal(rows.count, 1);
    return *(const struct pawl_work_row *)rows.rows;
}

static struct pawl_dead_letter_row only_letter(struct fixture *f)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_DEAD_LETTERS);

    assert_int_equal(rows.count, 1);
    return *(const struct pawl_dead_letter_row *)rows.rows;
}

/* A node takes the row and is dead; `begins`: after it has said that it begins, as runtimes do. */
static void die_with(struct fixture *f, bool begins)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("dying"), .ttl_us = 1000000};
    struct pawl_take take = {.limit = 10};
    struct pawl_taken taken;

    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
    take.owner = lease.incarnation;
    assert_ok(pawl_store_take(f->a.store, &take, &f->arena, &taken, later(f), &f->err), &f->err);
    assert_int_equal(taken.work_count, 1);
    if (begins && taken.work[0].takeovers > 0) {
        struct pawl_work_row row = taken.work[0];
        const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
        struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN,
                                     .done = &row.id,
                                     .done_count = 1,
                                     .done_owner = row.owner,
                                     .changes = &change,
                                     .change_count = 1};
        struct pawl_commit *commits[] = {&commit};

        row.deaths += row.begun != 0;
        row.begun = row.takeovers;
        assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
        assert_code(commit.status, PAWL_OK);
    }
    lease.kind = PAWL_LEASE_LEAVE;
    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
}

/* ---- what kills its nodes ------------------------------------------------------------------ */

static void a_start_that_kills_its_nodes_becomes_a_dead_letter(void **state)
{
    struct fixture *f = *state;
    struct pawl_dead_letter_row letter;

    publish(f, DEFINITION("deadly", "", RIG_WRITE("w", "went")));
    add_work(f, "s", "start", "", "{\"definitionId\":\"deadly\",\"instanceId\":\"i\"}");
    for (int i = 0; i < 4; i++)
        die_with(f, true);
    drain(f);
    assert_string_equal(f->lines, "");
    assert_int_equal(rows_of(f, PAWL_TABLE_WORK).count, 0);
    letter = only_letter(f);
    assert_str(letter.kind, "start");
    assert_non_null(strstr(letter.error.ptr, "4 nodes in a row died while they did the start of "
                                             "instance i of definition deadly, the last one while "
                                             "it did nothing else"));
    /* An operator may try it again; here it does no harm. */
    assert_ok(pawl__runtime_replay(f->a.runtime, letter.id, NULL, later(f), &f->err), &f->err);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_effect_that_kills_its_nodes_becomes_a_dead_letter_of_its_instance(void **state)
{
    struct fixture *f = *state;
    struct pawl_dead_letter_row letter;

    add_work(f, "e", "console", "i", "{\"text\":\"deadly\"}");
    for (int i = 0; i < 4; i++)
        die_with(f, true);
    drain(f);
    assert_string_equal(f->lines, "");
    letter = only_letter(f);
    assert_str(letter.instance_id, "i");
    assert_non_null(strstr(letter.error.ptr, "4 nodes in a row died while they did a line of "
                                             "output of instance i"));
    /* Replayed it is an effect again, and no mail. */
    assert_ok(pawl__runtime_replay(f->a.runtime, letter.id, NULL, later(f), &f->err), &f->err);
    assert_int_equal(only_work(f).instance_id.len, 0);
    drain(f);
    assert_string_equal(f->lines, "deadly\n");
}

static void a_parent_is_told_that_the_child_it_awaits_killed_its_nodes(void **state)
{
    struct fixture *f = *state;
    struct pawl_rows mail;

    publish(f, DEFINITION("deadly", "", RIG_WRITE("w", "went")));
    add_work(f, "s", "start", "parent",
             "{\"definitionId\":\"deadly\",\"instanceId\":\"i\",\"mode\":\"execute\","
             "\"parentInstanceId\":\"parent\"}");
    for (int i = 0; i < 4; i++)
        die_with(f, true);
    /* The parent is not there: its mail is seen before it is dropped. */
    assert_ok(pawl__runtime_work(f->a.runtime, 1, &(struct pawl_worked){0}, later(f), &f->err),
              &f->err);
    assert_string_equal(f->lines, "");
    assert_str(only_letter(f).instance_id, "parent");
    mail = rows_of(f, PAWL_TABLE_WORK);
    for (size_t i = 0; i < mail.count; i++)
        assert_str(((const struct pawl_work_row *)mail.rows)[i].kind, "feed");
    drain(f);
    assert_string_equal(f->lines, "");
}

/* ---- what does not ------------------------------------------------------------------------- */

static void work_that_was_taken_by_a_thousand_nodes_that_died_is_done(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    add_work(f, "s", "start", "", "{\"definitionId\":\"d\"}");
    for (int i = 0; i < 1000; i++)
        die_with(f, false);
    assert_int_equal(only_work(f).takeovers, 999);
    assert_int_equal(only_work(f).deaths, 0);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(rows_of(f, PAWL_TABLE_DEAD_LETTERS).count, 0);
    assert_int_equal(rows_of(f, PAWL_TABLE_WORK).count, 0);
}

static void only_deaths_of_those_who_had_begun_count(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    add_work(f, "s", "start", "", "{\"definitionId\":\"d\"}");
    die_with(f, true);
    die_with(f, true);
    die_with(f, true);
    for (int i = 0; i < 100; i++)
        die_with(f, false);
    /* Tried alone once more, and done. */
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(rows_of(f, PAWL_TABLE_DEAD_LETTERS).count, 0);
}

/* What the next line hook finds of the line before it. */
static size_t lines_left;

static int count_work(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    lines_left = rows_of(ctx, PAWL_TABLE_WORK).count;
    on_line(ctx, instance_id, text);
    return PAWL_OK;
}

/* Whoever dies later, of something else, did not die of it. */
static void an_effect_of_a_dead_node_is_over_as_soon_as_it_was_performed(void **state)
{
    struct fixture *f = *state;
    struct pawl_runtime_options options = {.node_id = pawl__str("b"),
                                           .hooks = {.line = count_work, .ctx = f}};
    struct pawl_worked worked;
    struct pawl_runtime *b;

    add_work(f, "e", "console", "i", "{\"text\":\"first\"}");
    die_with(f, true);
    add_work(f, "f", "console", "i", "{\"text\":\"second\"}");
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &b, &f->err), &f->err);
    assert_ok(pawl__runtime_drain(b, &worked, later(f), &f->err), &f->err);
    pawl__runtime_close(b);
    assert_string_equal(f->lines, "first\nsecond\n");
    assert_int_equal(lines_left, 1);
    assert_int_equal(rows_of(f, PAWL_TABLE_WORK).count, 0);
}

/* What the row says while its instance runs. */
static struct pawl_work_row seen;

static void see_work(void *ctx, struct pawl_str instance_id, const struct pawl_workflow *workflow,
                     const struct pawl_log_record *record)
{
    (void)instance_id;
    (void)workflow;
    (void)record;
    seen = only_work(ctx);
}

static void see_start_after(struct fixture *f, int deaths)
{
    struct pawl_runtime_options options = {
        .node_id = pawl__str("b"), .hooks = {.line = on_line, .logged = see_work, .ctx = f}};
    struct pawl_worked worked;
    struct pawl_runtime *b;

    seen = (struct pawl_work_row){0};
    f->lines[0] = '\0';
    add_work(f, "s", "start", "", "{\"definitionId\":\"d\"}");
    for (int i = 0; i < deaths; i++)
        die_with(f, true);
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &b, &f->err), &f->err);
    assert_ok(pawl__runtime_drain(b, &worked, later(f), &f->err), &f->err);
    pawl__runtime_close(b);
    assert_string_equal(f->lines, "went\n");
}

static void a_node_says_durably_that_it_begins_what_a_dead_one_had(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    see_start_after(f, 0);
    assert_int_equal(seen.begun, 0); /* nobody died: no commit is spent on it */
    for (int i = 1; i <= 3; i++) {
        see_start_after(f, i);
        assert_int_equal(seen.takeovers, i);
        assert_int_equal(seen.begun, i);
        assert_int_equal(seen.deaths, i - 1);
    }
}

/* What an activity needs is away, for now. */
static bool is_away;

static int away_execute(struct pawl_context *context)
{
    (void)context;
    return is_away ? PAWL_EUNAVAILABLE : PAWL_OK;
}

static const struct pawl_activity away_activity = {
    .type = "Test.Away",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Test",
    .description = "Fails for a reason that passes.",
    .execute = away_execute,
};

/* It says that it begins, and does not come to an end. */
static void drain_in_the_middle(struct fixture *f, int64_t deaths)
{
    struct pawl_worked worked;
    struct node b;

    node_open(f, &b, "b");
    is_away = true;
    assert_ok(pawl__runtime_work(b.runtime, 0, &worked, later(f), &f->err), &f->err);
    is_away = false;
    assert_true(only_work(f).begun > 0);
    assert_int_equal(only_work(f).begun, only_work(f).takeovers);
    node_close(&b);
    assert_int_equal(only_work(f).owner, 0);
    assert_int_equal(only_work(f).begun, 0);
    assert_int_equal(only_work(f).deaths, deaths);
}

static void a_node_that_leaves_in_the_middle_of_work_did_not_die_of_it(void **state)
{
    struct fixture *f = *state;

    node_close(&f->a);
    assert_int_equal(pawl__engine_add_activity(&f->engine, &away_activity), PAWL_OK);
    node_open(f, &f->a, "a");
    publish(f, DEFINITION("d", "", "{'id':'x','type':'Test.Away'}," RIG_WRITE("w", "went")));
    add_work(f, "s", "start", "", "{\"definitionId\":\"d\"}");
    die_with(f, true);
    for (int i = 0; i < 5; i++)
        drain_in_the_middle(f, 0);
    /* Nor does it take back that others did. */
    die_with(f, true);
    for (int i = 0; i < 5; i++)
        drain_in_the_middle(f, 1);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(rows_of(f, PAWL_TABLE_DEAD_LETTERS).count, 0);
    assert_int_equal(rows_of(f, PAWL_TABLE_WORK).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_start_that_kills_its_nodes_becomes_a_dead_letter),
        TEST(an_effect_that_kills_its_nodes_becomes_a_dead_letter_of_its_instance),
        TEST(a_parent_is_told_that_the_child_it_awaits_killed_its_nodes),
        TEST(work_that_was_taken_by_a_thousand_nodes_that_died_is_done),
        TEST(only_deaths_of_those_who_had_begun_count),
        TEST(an_effect_of_a_dead_node_is_over_as_soon_as_it_was_performed),
        TEST(a_node_says_durably_that_it_begins_what_a_dead_one_had),
        TEST(a_node_that_leaves_in_the_middle_of_work_did_not_die_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
