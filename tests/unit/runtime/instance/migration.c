/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that a live Elsa exported, exported again by Pawl and taken over by another store: they
 * end as they ended there. Skipped where the recordings are not there. Of the recorded cases these
 * take part: what they need is built in, and events, timers and the end of children move them on.
 */
#include "runtime/places.h"

#include <unistd.h>

#define SUITE TEST_RECORDINGS_DIR "/migration/"
/* So many take part at least, else the selection is wrong. */
#define CASES_MIN 40

static struct pawl_json read_json(struct fixture *f, struct pawl_arena *arena, const char *folder,
                                  struct pawl_str name)
{
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_json value;
    struct pawl_str text;
    char path[512];

    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    assert_true(snprintf(path, sizeof path, SUITE "%s%.*s", folder, PAWL_STR_ARG(name)) > 0);
    text = test_read_file(path);
    assert_ok(pawl__json_parse(arena, pawl__arena_str(arena, text), &limits, &value, NULL, &f->err),
              &f->err);
    free((void *)(uintptr_t)text.ptr);
    return value;
}

static struct pawl_str text_at(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static bool is_known(struct pawl_str need)
{
    static const char *const known[] = {"event", "child", "timer", "state-machine",
                                        "workflow-as-activity"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (pawl__str_is(need, known[i]))
            return true;
    }
    return false;
}

/* Only events and what is expected between them. */
static bool takes_part(const struct pawl_json *one)
{
    const struct pawl_json *needs = pawl__json_get_text(one, "requires");
    const struct pawl_json *steps = pawl__json_get_text(one, "steps");

    for (uint32_t i = 0; i < pawl__json_len(needs); i++) {
        if (!is_known(pawl__json_str(pawl__json_at(needs, i))))
            return false;
    }
    for (uint32_t i = 0; i < pawl__json_len(steps); i++) {
        const struct pawl_json *step = pawl__json_at(steps, i);

        if (!pawl__json_get_text(step, "event") && !pawl__json_get_text(step, "expect"))
            return false;
    }
    return true;
}

static void publish_all(struct fixture *f, struct place *place, const struct pawl_json *one)
{
    const struct pawl_json *names = pawl__json_get_text(one, "definitions");

    for (uint32_t i = 0; i < pawl__json_len(names); i++) {
        struct pawl_json definition =
            read_json(f, &f->arena, "definitions/", pawl__json_str(pawl__json_at(names, i)));

        publish_json(f, place, &definition);
    }
}

/* From Elsa's file to here, from here to there, and what there exports is the same text. */
static struct pawl_str move(struct fixture *f, struct pawl_str name)
{
    struct pawl_json file = read_json(f, &f->arena, "exports/", name), first, second;
    struct pawl_outcome outcome;
    struct pawl_str id;

    assert_ok(pawl__runtime_import(f->here.runtime, &file, &outcome, later(f), &f->err), &f->err);
    id = pawl__arena_str(&f->arena, pawl__str(outcome.instance_id));
    first = exported(f, &f->here, id);
    take_over(f, &f->there, text_of(f, &first));
    second = exported(f, &f->there, id);
    assert_str(text_of(f, &second), text_of(f, &first).ptr);
    return id;
}

static void take_steps(struct fixture *f, const struct pawl_json *one)
{
    const struct pawl_json *steps = pawl__json_get_text(one, "steps");

    drain(f, &f->there);
    for (uint32_t i = 0; i < pawl__json_len(steps); i++) {
        const struct pawl_json *step = pawl__json_at(steps, i);
        const struct pawl_stimulus stimulus = {.correlation_id = text_at(step, "correlationId")};

        if (!pawl__json_get_text(step, "event"))
            continue;
        assert_ok(pawl__runtime_send_event(f->there.runtime, text_at(step, "event"),
                                           pawl__json_get_text(step, "payload"), &stimulus, NULL,
                                           later(f), &f->err),
                  &f->err);
        drain(f, &f->there);
    }
}

static void check_lines(struct fixture *f, const struct pawl_json *expect)
{
    const struct pawl_json *lines = pawl__json_get_text(expect, "lines");
    struct pawl_buf buf;

    pawl__buf_init(&buf, &f->env->alloc, (size_t)1 << 20);
    for (uint32_t i = 0; i < pawl__json_len(lines); i++) {
        pawl__buf_str(&buf, pawl__json_str(pawl__json_at(lines, i)));
        pawl__buf_byte(&buf, '\n');
    }
    assert_str(pawl__buf_peek(&buf), f->lines);
    pawl__buf_release(&buf);
}

/* Line by line in order, but where several instances print: there the recordings leave it open. */
static void run_case(const struct pawl_json *one)
{
    const struct pawl_json *expect = pawl__json_get_text(one, "expect");
    const struct pawl_json *others = pawl__json_get_text(one, "alsoImport");
    struct fixture *f;
    struct pawl_str id;
    void *state;

    (void)set_up(&state);
    f = state;
    publish_all(f, &f->here, one);
    publish_all(f, &f->there, one);
    id = move(f, text_at(one, "export"));
    for (uint32_t i = 0; i < pawl__json_len(others); i++)
        (void)move(f, pawl__json_str(pawl__json_at(others, i)));
    take_steps(f, one);
    assert_true(pawl__str_equal(sub_status(f, &f->there, id), text_at(expect, "subStatus")));
    if (pawl__json_len(others) == 0)
        check_lines(f, expect);
    (void)tear_down(&state);
}

static void what_elsa_exported_ends_alike_after_two_moves(void **state)
{
    struct fixture *f = *state;
    struct pawl_json cases;
    uint32_t count = 0;

    if (access(SUITE "cases.json", R_OK) != 0)
        skip();
    cases = read_json(f, &f->arena, "", pawl__str("cases.json"));
    for (uint32_t i = 0; i < pawl__json_len(&cases); i++) {
        const struct pawl_json *one = pawl__json_at(&cases, i);

        if (!takes_part(one))
            continue;
        print_message("%.*s\n", PAWL_STR_ARG(text_at(one, "id")));
        run_case(one);
        count++;
    }
    assert_true(count >= CASES_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_elsa_exported_ends_alike_after_two_moves, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("runtime/migration", tests, NULL, NULL);
}
