/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large and endless workflows: they run, in bounded memory, and can be stopped. Times are not
 * asserted; what would be quadratic takes so long that a test run shows it.
 */
#include "lib/rig.h"

#include <string.h>

#define LARGE 10000u

/* Builds a definition from pieces, with ' for ". */
static void load_built(struct rig *rig, struct pawl_buf *text)
{
    assert_code(text->status, PAWL_OK);
    assert_ok(rig_try_load(rig, pawl__buf_peek(text)), &rig->err);
    pawl__buf_release(text);
}

static void open_text(struct rig *rig, struct pawl_buf *text, const char *root)
{
    pawl__buf_init(text, rig->alloc, (size_t)64 << 20);
    pawl__buf_printf(text, "{'definitionId':'d','id':'d:1','version':1,'root':%s", root);
}

static size_t count_lines(const struct rig *rig)
{
    struct pawl_str lines = pawl__buf_peek(&rig->lines);
    size_t count = 0;

    for (size_t i = 0; i < lines.len; i++)
        count += lines.ptr[i] == '\n';
    return count;
}

/* Runs to the end, closing and opening again after each yield. */
static enum pawl_step run_reopened(struct rig *rig, uint32_t *contexts_most)
{
    enum pawl_step step;

    *contexts_most = 0;
    do {
        uint32_t contexts;

        assert_ok(rig_open(rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig->err);
        step = rig_step(rig);
        rig_close(rig);
        contexts = pawl__json_len(rig_at(rig, "activityExecutionContexts"));
        if (contexts > *contexts_most)
            *contexts_most = contexts;
    } while (step == PAWL_STEP_YIELD);
    return step;
}

static void a_long_sequence_runs(void **state)
{
    struct pawl_buf text;
    uint32_t contexts;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = 1000;
    open_text(&rig, &text, "{'type':'Elsa.Sequence','activities':[");
    for (unsigned i = 0; i < LARGE; i++)
        pawl__buf_printf(&text, "%s{'type':'Elsa.WriteLine'}", i ? "," : "");
    pawl__buf_printf(&text, "]}}");
    load_built(&rig, &text);
    assert_int_equal(run_reopened(&rig, &contexts), PAWL_STEP_DONE);
    assert_int_equal(count_lines(&rig), LARGE);
    assert_true(contexts <= 3);
    rig_release(&rig);
}

static void a_long_chain_in_a_flowchart_runs(void **state)
{
    struct pawl_buf text;
    uint32_t contexts;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    open_text(&rig, &text, "{'id':'F','type':'Elsa.Flowchart','activities':[");
    for (unsigned i = 0; i < LARGE; i++)
        pawl__buf_printf(&text, "%s{'id':'a%u','type':'Elsa.WriteLine'}", i ? "," : "", i);
    pawl__buf_printf(&text, "],'connections':[");
    for (unsigned i = 0; i + 1 < LARGE; i++)
        pawl__buf_printf(&text,
                         "%s{'source':{'activity':'a%u','port':'Done'},"
                         "'target':{'activity':'a%u','port':'In'}}",
                         i ? "," : "", i, i + 1);
    pawl__buf_printf(&text, "]}}");
    load_built(&rig, &text);
    assert_int_equal(run_reopened(&rig, &contexts), PAWL_STEP_DONE);
    assert_int_equal(count_lines(&rig), LARGE);
    assert_true(contexts <= 3);
    rig_release(&rig);
}

static uint32_t count_yields(struct rig *rig, enum pawl_step end)
{
    enum pawl_step step;
    uint32_t yields = 0;

    for (;; yields++) {
        assert_ok(rig_open(rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig->err);
        step = rig_step(rig);
        rig_close(rig);
        if (step != PAWL_STEP_YIELD)
            break;
    }
    assert_int_equal(step, end);
    return yields;
}

/* To store all that waits each time that a few more wait would take time by the square. */
static void many_waiting_branches_are_rarely_stored(void **state)
{
    static const struct {
        unsigned waiting, rounds;
        uint32_t yields_min, yields_max;
    } rows[] = {
        {900, 0, 0, 0},     /* few */
        {9000, 0, 0, 0},    /* each waits: twice as many are never run */
        {25000, 0, 2, 2},   /* but for others, ten times as long is enough */
        {1500, 8000, 2, 3}, /* a loop beside them yields after twice as many */
        {500, 8000, 8, 9},  /* beside few as ever */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pawl_buf text;
        uint32_t yields;
        struct rig rig;

        rig_init(&rig);
        rig.engine.yield_after = 1000;
        open_text(&rig, &text, "{'id':'P','type':'Elsa.Parallel','activities':[");
        for (unsigned j = 0; j < rows[i].waiting; j++)
            pawl__buf_printf(&text, "{'id':'e%u','type':'Elsa.Event','eventName':%s},", j,
                             RIG_INPUT("String", "Literal", "'go'"));
        pawl__buf_printf(&text, "{'id':'f','type':'Elsa.For','start':%s,'end':",
                         RIG_INPUT("Int32", "Literal", "1"));
        pawl__buf_printf(&text, "{'typeName':'Int32','expression':{'type':'Literal','value':%u}},",
                         rows[i].rounds);
        pawl__buf_printf(&text, "'body':{'id':'w','type':'Elsa.WriteLine'}}]}}");
        load_built(&rig, &text);
        yields = count_yields(&rig, PAWL_STEP_IDLE);
        assert_in_range(yields, rows[i].yields_min, rows[i].yields_max);
        rig_release(&rig);
    }
}

static void many_branches_wait_and_end(void **state)
{
    struct pawl_buf text;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    open_text(&rig, &text, "{'id':'F','type':'Elsa.Fork','joinMode':'WaitAny','branches':[");
    for (unsigned i = 0; i < 2000; i++)
        pawl__buf_printf(&text, "%s{'id':'e%u','type':'Elsa.Event','eventName':%s}", i ? "," : "",
                         i, RIG_INPUT("String", "Literal", "'go'"));
    pawl__buf_printf(&text, "]}}");
    load_built(&rig, &text);
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 2000);
    assert_int_equal(rig_resume(&rig, "e1000"), PAWL_STEP_DONE);
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 0);
    rig_release(&rig);
}

static void deep_nesting_runs(void **state)
{
    struct pawl_buf text;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    open_text(&rig, &text, "");
    for (unsigned i = 0; i < 400; i++)
        pawl__buf_printf(&text, "{'type':'Elsa.Sequence','activities':[");
    pawl__buf_printf(&text, "{'type':'Elsa.WriteLine'}");
    for (unsigned i = 0; i < 400; i++)
        pawl__buf_printf(&text, "]}");
    pawl__buf_printf(&text, "}");
    load_built(&rig, &text);
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_int_equal(count_lines(&rig), 1);
    rig_release(&rig);
}

static void nesting_without_end_is_refused(void **state)
{
    struct pawl_buf text;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    open_text(&rig, &text, "");
    for (unsigned i = 0; i < 1000; i++)
        pawl__buf_printf(&text, "{'type':'Elsa.Sequence','activities':[");
    for (unsigned i = 0; i < 1000; i++)
        pawl__buf_printf(&text, "]}");
    pawl__buf_printf(&text, "}");
    assert_code(rig_try_load(&rig, pawl__buf_peek(&text)), PAWL_ELIMIT);
    assert_non_null(strstr(rig.err.msg, "deep"));
    pawl__buf_release(&text);
    rig_release(&rig);
}

#define ENDLESS                                                                                    \
    RIG_WORKFLOW("",                                                                               \
                 "{'id':'W','type':'Elsa.While','condition':" RIG_INPUT(                           \
                     "Boolean", "Literal",                                                         \
                     "true") ",'body':" RIG_SEQUENCE("S", "{'id':'n','type':'Elsa.SetName'}") "}")

static void an_endless_loop_yields_in_bounded_memory_and_can_be_cancelled(void **state)
{
    size_t bytes = 0;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = 1000;
    rig_load(&rig, ENDLESS);
    for (int i = 0; i < 20; i++) {
        assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
        assert_int_equal(rig_step(&rig), PAWL_STEP_YIELD);
        rig_close(&rig);
        pawl__buf_clear(&rig.journal);
        /* The numbers in the state get a few digits longer, nothing else. */
        if (bytes == 0)
            bytes = rig.state_arena.held_bytes;
        assert_true(rig.state_arena.held_bytes <= bytes);
    }
    assert_int_equal(rig_cancel(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Cancelled");
    rig_release(&rig);
}

static void a_burst_has_a_limit(void **state)
{
    enum pawl_step step;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = UINT32_MAX;
    rig.engine.burst_bytes_max = (size_t)1 << 20;
    rig_load(&rig, ENDLESS);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    assert_code(rig_try_step(&rig, &step), PAWL_ELIMIT);
    assert_true(strlen(rig.err.msg) > 0);
    rig_release(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_sequence_runs),
        cmocka_unit_test(a_long_chain_in_a_flowchart_runs),
        cmocka_unit_test(many_waiting_branches_are_rarely_stored),
        cmocka_unit_test(many_branches_wait_and_end),
        cmocka_unit_test(deep_nesting_runs),
        cmocka_unit_test(nesting_without_end_is_refused),
        cmocka_unit_test(an_endless_loop_yields_in_bounded_memory_and_can_be_cancelled),
        cmocka_unit_test(a_burst_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
