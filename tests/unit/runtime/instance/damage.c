/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States that were damaged in the store and are still well-formed: noticed by their checksum; and
 * what an operator can do about an instance whose state cannot be read.
 */
#include "base/log.h"
#include "runtime/bytes.h"
#include "unit/runtime/nodes.h"

static struct pawl_rows rows_of(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows;
}

static struct pawl_instance_row row_of(struct fixture *f, const char *id)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_INSTANCES);
    const struct pawl_instance_row *row = rows.rows;

    for (size_t i = 0; i < rows.count; i++) {
        if (pawl__str_is(row[i].id, id))
            return row[i];
    }
    fail_msg("no instance %s", id);
    return (struct pawl_instance_row){0};
}

static void create(struct fixture *f, const char *definition_id, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id),
                                    .instance_id = pawl__str(id)};

    assert_ok(pawl__runtime_create(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

/* Writes a row's bytes past the runtime. */
static void write_row(struct fixture *f, const char *id, struct pawl_str state, int64_t sum,
                      struct pawl_str counts)
{
    struct pawl_claim claim = {.id = pawl__str(id)};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_RELEASE, .instance = &claim.row};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    assert_ok(pawl_store_claim(f->a.store, pawl__runtime_incarnation(f->a.runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    claim.row.state = state;
    claim.row.state_sum = sum;
    claim.row.counts = counts;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
}

static void write_state(struct fixture *f, const char *id, struct pawl_str bytes, int64_t sum)
{
    write_row(f, id, bytes, sum, row_of(f, id).counts);
}

/* The state with another value in it, a time: it can be read as before, and is of the instance. */
static struct pawl_str changed(struct fixture *f, const char *id)
{
    struct pawl_str bytes = pawl__arena_str(&f->arena, row_of(f, id).state);
    char *digit = memmem(bytes.ptr, bytes.len, "2026-01-", 8);

    assert_non_null(digit);
    *digit = '3';
    return bytes;
}

static void damage(struct fixture *f, const char *id)
{
    write_state(f, id, changed(f, id), row_of(f, id).state_sum);
}

/* ---- noticing ------------------------------------------------------------------------------ */

static void damage_in_a_well_formed_state_is_noticed(void **state)
{
    struct fixture *f = *state;
    struct pawl_str sound;
    struct pawl_json shown;
    struct pawl_instance_row row;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    sound = row_of(f, "i").state;
    damage(f, "i");
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "");
    row = row_of(f, "i");
    assert_true(row.retry_us == PAWL_TIME_NEVER);
    assert_non_null(strstr(row.trouble.ptr, "its state is damaged"));
    assert_false(pawl__runtime_is_state_sound(&row));
    assert_code(pawl__runtime_show(f->a.runtime, pawl__str("i"), &f->arena, &row, &shown, later(f),
                                   &f->err),
                PAWL_ECORRUPT);
    /* Repaired it goes on with the mail that waited. */
    write_state(f, "i", sound, row.state_sum);
    test_clock_advance(f->clock, 3600 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* The state as the next version may write it. */
static struct pawl_str newer_state(struct fixture *f, const struct pawl_instance_row *row)
{
    const struct pawl_json *section;
    struct pawl_json state, own;
    struct pawl_str text;

    assert_ok(pawl__runtime_state_read(f->a.runtime, &f->arena, row, &state, &f->err), &f->err);
    section = pawl__json_get_text(&state, "pawl");
    assert_non_null(section);
    own = *section;
    assert_ok(pawl__json_set_text(&f->arena, &own, "format", pawl__json_int(99)), NULL);
    assert_ok(pawl__json_set_text(&f->arena, &state, "pawl", own), NULL);
    text = pawl__runtime_json_text(&f->arena, &state);
    assert_non_null(text.ptr);
    return text;
}

/* A burst in progress has a part of its own. A node of that version goes on with it. */
static void a_state_of_a_newer_version_is_left_to_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome left, outcome;
    struct pawl_instance_row own, row;
    struct pawl_str newer;
    size_t lines;

    publish(f, DEFINITION("d", "",
                          "{'id':'f','type':'Elsa.For','end':" RIG_INPUT(
                              "Int32", "Literal", "29") ",'body':" RIG_WRITE("w", "") "}"));
    f->stop_after = 20;
    left = start(f, "d");
    assert_int_equal(left.sub_status, PAWL_SUB_EXECUTING);
    f->stopped = false;
    lines = strlen(f->lines);
    own = row_of(f, left.instance_id);
    newer = newer_state(f, &own);
    write_state(f, left.instance_id, newer, pawl__runtime_state_sum(newer));
    assert_code(pawl__runtime_run(f->a.runtime, pawl__str(left.instance_id), &(struct pawl_run){0},
                                  &outcome, later(f), &f->err),
                PAWL_ETIMEDOUT); /* it waits for another node */
    row = row_of(f, left.instance_id);
    assert_str(row.sub_status, "Executing");
    assert_str(row.trouble, "");
    assert_true(pawl__str_equal(row.state, newer));
    assert_int_equal(strlen(f->lines), lines);
    write_state(f, left.instance_id, own.state, own.state_sum);
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str(left.instance_id), &(struct pawl_run){0},
                                &outcome, later(f), &f->err),
              &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    assert_int_equal(strlen(f->lines), 30);
}

/* It is sound, and has its checksum. */
static void the_state_of_another_instance_is_not_run(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row row;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    create(f, "d", "j");
    drain(f);
    row = row_of(f, "i");
    write_state(f, "j", row.state, row.state_sum);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_str(row_of(f, "i").status, "Finished");
    row = row_of(f, "j");
    assert_str(row.status, "Running");
    assert_non_null(strstr(row.trouble.ptr, "is not the state of this instance"));
}

/* Frames and texts that are none, and JSON that is no table of counts. */
static void damaged_counts_begin_anew(void **state)
{
    static const char *const damaged[] = {
        "{\"",
        "\x28\xb5\x2f\xfd\x20",
        "7",
        "{\"workflow:main\":5}",
        "{\"s\":7,\"s:e\":[],\"s:w\":{\"Started\":9223372036854775807}}",
    };
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        char id[] = {'i', (char)('0' + i), 0};
        struct pawl_instance_row row;

        create(f, "d", id);
        drain(f);
        row = row_of(f, id);
        write_row(f, id, row.state, row.state_sum, pawl__str(damaged[i]));
        row = row_of(f, id);
        assert_code(pawl__runtime_check_counts(f->arena.alloc, &row), PAWL_ECORRUPT);
        (void)send(f, "Go");
        drain(f);
        assert_string_equal(f->lines, "went\n");
        f->lines[0] = 0;
        row = row_of(f, id);
        assert_str(row.status, "Finished");
        assert_code(pawl__runtime_check_counts(f->arena.alloc, &row), PAWL_OK);
    }
}

/* Of rows without a checksum. */
static void a_state_that_is_no_json_is_damaged(void **state)
{
    struct fixture *f = *state;
    struct pawl_json shown;
    struct pawl_instance_row row;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    write_state(f, "i", pawl__str("{\"id\":"), 0);
    assert_code(pawl__runtime_show(f->a.runtime, pawl__str("i"), &f->arena, &row, &shown, later(f),
                                   &f->err),
                PAWL_ECORRUPT);
    assert_int_equal(f->err.code, PAWL_ECORRUPT);
}

static void a_state_without_a_checksum_is_not_checked(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    write_state(f, "i", changed(f, "i"), 0);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_true(row_of(f, "i").state_sum != 0); /* written with the next step */
}

static void whoever_writes_a_state_writes_its_checksum(void **state)
{
    struct fixture *f = *state;
    struct pawl_rows rows;
    struct pawl_json exported;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_EVENT("g", "On")));
    create(f, "d", "pending");
    (void)start(f, "d");
    (void)send(f, "Go");
    create(f, "d", "exported");
    drain(f);
    assert_ok(pawl__runtime_export(f->a.runtime, pawl__str("exported"), &f->arena, &exported,
                                   later(f), &f->err),
              &f->err);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("exported"), later(f), &f->err),
              &f->err);
    assert_ok(pawl__runtime_import(f->a.runtime, &exported, NULL, later(f), &f->err), &f->err);
    rows = rows_of(f, PAWL_TABLE_INSTANCES);
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows.rows)[i];

        assert_true(row->state_sum != 0);
        assert_true(pawl__runtime_is_state_sound(row));
    }
}

/* ---- cancelling ---------------------------------------------------------------------------- */

static size_t letters_named(struct fixture *f, const char *instance_id)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_DEAD_LETTERS);
    const struct pawl_dead_letter_row *letter = rows.rows;
    size_t found = 0;

    for (size_t i = 0; i < rows.count; i++)
        found += pawl__str_is(letter[i].instance_id, instance_id);
    return found;
}

static void assert_ended_beside(struct fixture *f, const char *id, struct pawl_str bytes)
{
    struct pawl_instance_row row = row_of(f, id);

    assert_true(pawl__str_is(row.status, "Finished"));
    assert_true(pawl__str_is(row.sub_status, "Cancelled"));
    assert_int_equal(row.runnable, 0);
    assert_int_equal(row.owner, 0);
    assert_int_equal(row.retry_us, 0);
    assert_true(row.finished_us > 0);
    assert_non_null(strstr(row.trouble.ptr, "its state is damaged"));
    assert_true(pawl__str_equal(row.state, bytes));
}

static void a_damaged_instance_is_cancelled_and_its_bytes_stay(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_str bytes;

    publish(f, DEFINITION("d", "",
                          "{'id':'f','type':'Elsa.Fork','branches':[" RIG_EVENT(
                              "e", "Go") "," DELAY("t", "00:01:00") "]}"));
    create(f, "d", "i");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 2);
    damage(f, "i");
    bytes = row_of(f, "i").state;
    (void)send(f, "Go"); /* accepted: it waits beside what is set aside */
    drain(f);
    assert_true(row_of(f, "i").retry_us == PAWL_TIME_NEVER);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_ended_beside(f, "i", bytes);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(count(f, PAWL_TABLE_WORK),
                     1); /* the event, put off when it found the damage */
    test_clock_advance(f->clock, 3600 * SECOND);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(letters_named(f, "i"), 1);
    assert_string_equal(f->lines, "");
    assert_code(
        pawl__runtime_retry(f->a.runtime, pawl__str("i"), NULL, 0, &outcome, later(f), &f->err),
        PAWL_ECORRUPT);
    assert_non_null(strstr(f->err.msg, "'pawl rm i' removes this one"));
    assert_ended_beside(f, "i", bytes);
}

/* Nobody has noticed the damage before. More mail than one claim returns. */
static void all_events_of_a_damaged_instance_that_is_cancelled_become_dead_letters(void **state)
{
    struct fixture *f = *state;
    struct pawl_work_row mail[PAWL_CLAIM_MAIL_MAX + 10];
    struct pawl_change changes[PAWL_CLAIM_MAIL_MAX + 10];
    char ids[PAWL_CLAIM_MAIL_MAX + 10][24];
    struct pawl_commit commit = {.changes = changes, .change_count = PAWL_CLAIM_MAIL_MAX + 10};
    struct pawl_commit *commits[] = {&commit};
    struct pawl_str bytes;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    create(f, "d", "i");
    drain(f);
    damage(f, "i");
    bytes = row_of(f, "i").state;
    for (size_t i = 0; i < commit.change_count; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "m%zu", i);
        mail[i] = (struct pawl_work_row){.id = pawl__str(ids[i]),
                                         .kind = pawl__str(PAWL_WORK_RESUME),
                                         .instance_id = pawl__str("i"),
                                         .hash = pawl__str("h"),
                                         .expires_us = PAWL_TIME_NEVER};
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &mail[i]};
    }
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    drain(f);
    assert_ended_beside(f, "i", bytes);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(letters_named(f, "i"), commit.change_count);
}

static void a_parent_learns_that_its_damaged_child_was_cancelled(void **state)
{
    struct fixture *f = *state;
    struct pawl_rows rows;
    const struct pawl_instance_row *row;
    const char *child = NULL;

    publish(f, DEFINITION("c", "", RIG_EVENT("e", "Go")));
    publish(f,
            DEFINITION("p", "", CHILD("x", "Elsa.DispatchWorkflow", "c") "," RIG_WRITE("w", "on")));
    create(f, "p", "p1");
    drain(f);
    rows = rows_of(f, PAWL_TABLE_INSTANCES);
    row = rows.rows;
    for (size_t i = 0; i < rows.count; i++)
        if (pawl__str_is(row[i].definition_id, "c"))
            child = pawl__arena_printf(&f->arena, "%.*s", PAWL_STR_ARG(row[i].id));
    assert_non_null(child);
    damage(f, child);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(child), later(f), &f->err), &f->err);
    drain(f);
    assert_string_equal(f->lines, "on\n");
    assert_string_equal(sub_status(f, "p1"), "Finished");
}

/* What can be read again after all was ended by an operator all the same. */
static void what_was_ended_without_its_state_is_never_reopened(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row before;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    before = row_of(f, "i");
    damage(f, "i");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    write_state(f, "i", before.state, before.state_sum);
    assert_code(
        pawl__runtime_retry(f->a.runtime, pawl__str("i"), NULL, 0, &outcome, later(f), &f->err),
        PAWL_ECORRUPT);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "");
    assert_string_equal(sub_status(f, "i"), "Cancelled");
}

/* It needs no state for that, and would never get rid of it otherwise. */
static void a_damaged_instance_that_has_ended_drops_its_mail(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    create(f, "d", "i");
    drain(f);
    damage(f, "i");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(row_of(f, "i").retry_us, 0);
    assert_string_equal(sub_status(f, "i"), "Finished");
}

/* ---- timers -------------------------------------------------------------------------------- */

static void say(void *ctx, const char *line, size_t len)
{
    char *said = ctx;
    size_t before = strlen(said);

    if (before + len < 4096)
        memcpy(said + before, line, len);
}

/* The state as it was before the timer, whose row is still there. */
static void a_timer_whose_bookmark_the_state_lacks_is_dropped_with_a_warning(void **state)
{
    struct fixture *f = *state;
    char said[4096] = "";
    struct pawl_log_config config = {.env = f->env, .sink = {say, said}, .level = PAWL_LOG_WARN};
    struct pawl_log log;
    struct pawl_runtime_options options = {.node_id = pawl__str("b"), .log = &log};
    struct pawl_instance_row before;
    struct pawl_worked worked;
    struct pawl_runtime *b;

    pawl_log_init(&log, &config);
    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," DELAY("t", "00:01:00")));
    create(f, "d", "i");
    drain(f);
    before = row_of(f, "i");
    (void)send(f, "Go");
    drain(f);
    write_state(f, "i", before.state, before.state_sum);
    test_clock_advance(f->clock, 3600 * SECOND);
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &b, &f->err), &f->err);
    assert_ok(pawl__runtime_drain(b, &worked, later(f), &f->err), &f->err);
    pawl__runtime_close(b);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_non_null(strstr(said, "timer dropped: its bookmark is not in the state"));
    assert_non_null(strstr(said, "instance=i"));
    assert_non_null(strstr(said, "bookmark="));
}

/* Both are due when it is claimed; the event's burst ends the timer with its bookmark. */
static void a_timer_that_ended_with_its_bookmark_is_no_warning(void **state)
{
    struct fixture *f = *state;
    char said[4096] = "";
    struct pawl_log_config config = {.env = f->env, .sink = {say, said}, .level = PAWL_LOG_WARN};
    struct pawl_log log;
    struct pawl_runtime_options options = {
        .node_id = pawl__str("b"), .log = &log, .hooks = {.line = on_line, .ctx = f}};
    struct pawl_worked worked;
    struct pawl_runtime *b;

    pawl_log_init(&log, &config);
    publish(
        f,
        DEFINITION(
            "d", "",
            "{'id':'f','type':'Elsa.Fork','joinMode':" RIG_INPUT(
                "Elsa.Workflows.Activities.ForkJoinMode, Elsa.Workflows.Core", "Literal",
                "'WaitAny'") ",'branches':[" RIG_EVENT("e",
                                                       "Go") "," DELAY("t",
                                                                       "00:01:00") "]}," RIG_WRITE("w",
                                                                                                   "on")));
    create(f, "d", "i");
    drain(f);
    (void)send(f, "Go"); /* mail that is older than the timer */
    test_clock_advance(f->clock, 3600 * SECOND);
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &b, &f->err), &f->err);
    assert_ok(pawl__runtime_drain(b, &worked, later(f), &f->err), &f->err);
    pawl__runtime_close(b);
    assert_string_equal(f->lines, "on\n");
    assert_string_equal(said, "");
}

/* ---- bookmarks ----------------------------------------------------------------------------- */

static void an_end_deletes_bookmarks_that_the_state_does_not_name(void **state)
{
    struct fixture *f = *state;
    const struct pawl_bookmark_row stray = {.id = pawl__str("stray"),
                                            .instance_id = pawl__str("i")};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &stray};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    create(f, "d", "i");
    drain(f);
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 2);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(sub_status(f, "i"), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(damage_in_a_well_formed_state_is_noticed),
        TEST(the_state_of_another_instance_is_not_run),
        TEST(a_state_of_a_newer_version_is_left_to_others),
        TEST(damaged_counts_begin_anew),
        TEST(a_state_that_is_no_json_is_damaged),
        TEST(a_state_without_a_checksum_is_not_checked),
        TEST(whoever_writes_a_state_writes_its_checksum),
        TEST(a_damaged_instance_is_cancelled_and_its_bytes_stay),
        TEST(all_events_of_a_damaged_instance_that_is_cancelled_become_dead_letters),
        TEST(a_parent_learns_that_its_damaged_child_was_cancelled),
        TEST(what_was_ended_without_its_state_is_never_reopened),
        TEST(a_damaged_instance_that_has_ended_drops_its_mail),
        TEST(a_timer_whose_bookmark_the_state_lacks_is_dropped_with_a_warning),
        TEST(a_timer_that_ended_with_its_bookmark_is_no_warning),
        TEST(an_end_deletes_bookmarks_that_the_state_does_not_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
