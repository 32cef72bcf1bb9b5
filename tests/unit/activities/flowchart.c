/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flowcharts on the real engine. A chart is written as two texts:
 *
 *     activities   "a=line b=true c=event d=join:WaitAll": id, what it is, a detail
 *     connections  "a>b b:True>c"
 *
 * and what happened is a text too: the ids of the log in order, each with a sign of what it says:
 * `.` completed, `~` suspended, `^` resumed, `!` canceled, `#` faulted. Starts are left out.
 */
#include "activities/flowchart.h"
#include "activities/activities.h"
#include "engine/run/burst.h"
#include "expressions/expressions.h"
#include "lib/test.h"

#include <stdio.h>

#define NOW INT64_C(638000000000000000)

struct flow {
    struct test_allocator alloc;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_graph *graph;
    struct pawl_problems problems;
    struct pawl_json state; /* null: not started */
    struct pawl_buf trace;
    const char *mode; /* NULL: the default */
    const char *trigger;
    uint64_t seed;
    struct pawl_error err;
};

static void flow_init(struct flow *flow)
{
    struct pawl_hash_seed seed = {0};

    *flow = (struct flow){.seed = 1};
    test_allocator_init(&flow->alloc);
    pawl__arena_init(&flow->arena, &flow->alloc.base, (size_t)1 << 30);
    pawl__buf_init(&flow->trace, &flow->alloc.base, (size_t)1 << 24);
    pawl__engine_init(&flow->engine, &flow->alloc.base, seed);
    assert_code(pawl__activities_register(&flow->engine), PAWL_OK);
    assert_code(pawl__expressions_register(&flow->engine), PAWL_OK);
    flow->problems = (struct pawl_problems){.arena = &flow->arena, .most = 100};
}

static void flow_release(struct flow *flow)
{
    pawl__graph_unref(flow->graph);
    pawl__engine_release(&flow->engine);
    pawl__buf_release(&flow->trace);
    pawl__arena_release(&flow->arena);
    assert_int_equal(flow->alloc.live_count, 0);
}

/* ---- charts from text ---------------------------------------------------------------------- */

static void write_literal(struct pawl_buf *out, const char *key, const char *json)
{
    pawl__buf_printf(out,
                     ",\"%s\":{\"typeName\":\"Object\",\"expression\":{\"type\":\"Literal\","
                     "\"value\":%s}}",
                     key, json);
}

static void write_activity(struct pawl_buf *out, const char *id, const char *kind,
                           const char *detail)
{
    char quoted[64];

    snprintf(quoted, sizeof quoted, "\"%s\"", detail);
    pawl__buf_printf(out, "{");
    if (*id != '?')
        pawl__buf_printf(out, "\"id\":\"%s\",", id);
    if (strcmp(kind, "line") == 0) {
        pawl__buf_printf(out, "\"type\":\"Elsa.WriteLine\"");
        if (*detail)
            pawl__buf_printf(out, ",\"customProperties\":{\"mergeMode\":\"%s\"}", detail);
    } else if (strcmp(kind, "true") == 0 || strcmp(kind, "false") == 0) {
        pawl__buf_printf(out, "\"type\":\"Elsa.FlowDecision\"");
        write_literal(out, "condition", kind);
    } else if (strcmp(kind, "event") == 0 || strcmp(kind, "trigger") == 0) {
        pawl__buf_printf(out,
                         "\"type\":\"Elsa.Event\",\"customProperties\":"
                         "{\"canStartWorkflow\":%s}",
                         strcmp(kind, "trigger") == 0 ? "true" : "false");
        write_literal(out, "eventName", "\"Go\"");
    } else if (strcmp(kind, "join") == 0) {
        pawl__buf_printf(out, "\"type\":\"Elsa.FlowJoin\"");
        if (*detail)
            write_literal(out, "mode", quoted);
    } else if (strcmp(kind, "fork") == 0) {
        pawl__buf_printf(out, "\"type\":\"Elsa.FlowFork\"");
        if (*detail)
            write_literal(out, "branches", quoted);
    } else if (strcmp(kind, "waits") == 0) {
        pawl__buf_printf(out, "\"type\":\"Elsa.Sequence\",\"activities\":["
                              "{\"id\":\"inner\",\"type\":\"Elsa.Event\"}]");
    } else {
        pawl__buf_printf(out, "\"type\":\"Elsa.%s\"", kind);
    }
    pawl__buf_text(out, "}");
}

/* Cuts the next word off *text into `word`; false at the end. */
static bool next_word(const char **text, char *word, size_t size)
{
    size_t len;

    *text += strspn(*text, " ");
    len = strcspn(*text, " ");
    assert_true(len < size);
    memcpy(word, *text, len);
    word[len] = '\0';
    *text += len;
    return len > 0;
}

/* Cuts `word` at the first `sign` and answers what is behind it, "" when there is none. */
static char *cut(char *word, char sign)
{
    char *at = strchr(word, sign);

    if (!at)
        return word + strlen(word);
    *at = '\0';
    return at + 1;
}

static void write_activities(struct pawl_buf *out, const char *activities)
{
    char word[128];

    for (int i = 0; next_word(&activities, word, sizeof word); i++) {
        char *kind = cut(word, '=');
        char *detail = cut(kind, ':');

        pawl__buf_text(out, i ? "," : "");
        write_activity(out, word, kind, detail);
    }
}

static void write_connections(struct pawl_buf *out, const char *connections)
{
    char word[128];

    for (int i = 0; next_word(&connections, word, sizeof word); i++) {
        char *target = cut(word, '>');
        char *port = cut(word, ':');

        pawl__buf_printf(out, "%s{\"source\":{\"activity\":\"%s\"", i ? "," : "", word);
        if (*port)
            pawl__buf_printf(out, ",\"port\":\"%s\"", port);
        pawl__buf_printf(out, "},\"target\":{\"activity\":\"%s\",\"port\":\"In\"}}", target);
    }
}

static int load_text(struct flow *flow, struct pawl_str text)
{
    struct pawl_json definition;
    int status = pawl__json_parse(&flow->arena, text, NULL, &definition, NULL, &flow->err);

    if (status != PAWL_OK)
        return status;
    pawl__graph_unref(flow->graph);
    flow->graph = NULL;
    return pawl__graph_load(&flow->engine, &flow->alloc.base, &definition, NULL, NULL,
                            &flow->problems, &flow->graph, &flow->err);
}

static int try_chart(struct flow *flow, const char *activities, const char *connections,
                     bool connections_are_json)
{
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, &flow->alloc.base, (size_t)1 << 26);
    pawl__buf_text(&text, "{\"definitionId\":\"d\",\"id\":\"d1\",\"name\":\"D\",\"root\":{\"id\":"
                          "\"fc\",\"type\":\"Elsa.Flowchart\",\"activities\":[");
    write_activities(&text, activities);
    if (connections_are_json) {
        pawl__buf_printf(&text, "],%s}}", connections);
    } else {
        pawl__buf_text(&text, "],\"connections\":[");
        write_connections(&text, connections);
        pawl__buf_text(&text, "]}}");
    }
    status = text.status;
    if (status == PAWL_OK)
        status = load_text(flow, pawl__buf_peek(&text));
    pawl__buf_release(&text);
    return status;
}

static void chart(struct flow *flow, const char *activities, const char *connections)
{
    assert_ok(try_chart(flow, activities, connections, false), &flow->err);
    flow->state = pawl__json_null();
}

static void chart_json(struct flow *flow, const char *activities, const char *json)
{
    assert_ok(try_chart(flow, activities, json, true), &flow->err);
    flow->state = pawl__json_null();
}

/* ---- running ------------------------------------------------------------------------------- */

static void note(struct flow *flow, const struct pawl_log_record *record)
{
    static const char *const signs[][2] = {
        {"Completed", "."}, {"Suspended", "~"}, {"Resumed", "^"},
        {"Canceled", "!"},  {"Faulted", "#"},
    };

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (pawl__str_is(record->event, signs[i][0]))
            pawl__buf_printf(&flow->trace, "%s%.*s%s", flow->trace.len ? " " : "",
                             PAWL_STR_ARG(record->activity_id), signs[i][1]);
    }
}

static int step_through(struct flow *flow, struct pawl_burst *burst)
{
    enum pawl_step step = PAWL_STEP_YIELD;

    while (step != PAWL_STEP_IDLE && step != PAWL_STEP_DONE) {
        struct pawl_batch batch;
        int status = pawl__burst_step(burst, &step, &flow->err);

        if (status != PAWL_OK)
            return status;
        pawl__burst_batch(burst, &batch);
        for (uint32_t i = 0; i < batch.log_count; i++)
            note(flow, &batch.log[i]);
    }
    return PAWL_OK;
}

static int try_burst(struct flow *flow, struct pawl_event *event)
{
    bool is_new = flow->state.type == PAWL_JSON_NULL;
    struct pawl_burst *burst;
    struct pawl_json state;
    int status;

    event->now = NOW;
    event->seed = flow->seed++;
    pawl__buf_clear(&flow->trace);
    status = pawl__burst_open(flow->graph, &flow->alloc.base, is_new ? NULL : &flow->state, event,
                              &burst, &flow->err);
    if (status != PAWL_OK)
        return status;
    status = step_through(flow, burst);
    if (status == PAWL_OK)
        status = pawl__burst_state(burst, &flow->arena, true, &state);
    if (status == PAWL_OK)
        status = pawl__json_copy(&flow->arena, &state, &flow->state);
    pawl__burst_close(burst);
    return status == PAWL_OK ? flow->trace.status : status;
}

static int try_run(struct flow *flow)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .instance_id = pawl__str("i")};
    int status = PAWL_OK;

    event.trigger_activity_id = pawl__str(flow->trigger);
    event.properties = pawl__json_object();
    if (flow->mode)
        status = pawl__json_set_text(&flow->arena, &event.properties, "Flowchart:ExecutionMode",
                                     pawl__json_string(pawl__str(flow->mode)));
    return status == PAWL_OK ? try_burst(flow, &event) : status;
}

/* Runs a new instance of the chart, or resumes the bookmark of an activity, and answers the trace.
 */
static const char *run(struct flow *flow)
{
    flow->state = pawl__json_null();
    assert_ok(try_run(flow), &flow->err);
    return pawl__buf_cstr(&flow->trace);
}

static const char *resume(struct flow *flow, const char *activity)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(&flow->state, "bookmarks");
    struct pawl_event event = {.kind = PAWL_EVENT_RESUME};

    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__str_is(pawl__json_str(pawl__json_get_text(bookmark, "activityId")), activity))
            event.bookmark_id = pawl__json_str(pawl__json_get_text(bookmark, "id"));
    }
    assert_true(event.bookmark_id.len > 0);
    assert_ok(try_burst(flow, &event), &flow->err);
    return pawl__buf_cstr(&flow->trace);
}

static void check_sub_status(const struct flow *flow, const char *expected)
{
    assert_str(pawl__json_str(pawl__json_get_text(&flow->state, "subStatus")), expected);
}

static void check_incident(const struct flow *flow, const char *expected)
{
    assert_str(pawl__json_str(pawl__json_find(&flow->state, pawl__str("/incidents/0/message"))),
               expected);
}

/* A property of the flowchart's context, as JSON text. */
static void check_property(struct flow *flow, const char *key, const char *expected)
{
    const struct pawl_json *contexts =
        pawl__json_get_text(&flow->state, "activityExecutionContexts");
    const struct pawl_json *found = NULL;
    struct pawl_buf text;

    for (uint32_t i = 0; i < pawl__json_len(contexts); i++) {
        const struct pawl_json *context = pawl__json_at(contexts, i);

        if (pawl__str_is(pawl__json_str(pawl__json_get_text(context, "scheduledActivityNodeId")),
                         "Workflow1:fc"))
            found = pawl__json_get_text(pawl__json_get_text(context, "properties"), key);
    }
    assert_non_null(found);
    pawl__buf_init(&text, &flow->alloc.base, 1 << 20);
    pawl__json_write(&text, found, PAWL_JSON_ESCAPE_MINIMAL);
    assert_string_equal(pawl__buf_cstr(&text), expected);
    pawl__buf_release(&text);
}

/* ---- by counters --------------------------------------------------------------------------- */

#define JOIN_ACTIVITIES "s=Start a=line b=line c=line dec=false j=join:%s d=line e=line f=line"
#define JOIN_CONNECTIONS "s>a s>b s>c a>dec dec:True>j dec:False>d b>j c>j j>e d>f e>f"

static void a_dead_branch_decides_what_a_join_does(void **state)
{
    static const struct {
        const char *mode;
        const char *trace;
    } cases[] = {
        {"WaitAll", "s. a. b. c. dec. d. f. fc. Workflow1."},
        {"WaitAllActive", "s. a. b. c. dec. j. d. e. f. fc. Workflow1."},
        {"WaitAny", "s. a. b. c. dec. j. d. e. f. fc. Workflow1."},
    };
    struct flow flow;

    (void)state;
    flow_init(&flow);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char activities[128];

        snprintf(activities, sizeof activities, JOIN_ACTIVITIES, cases[i].mode);
        chart(&flow, activities, JOIN_CONNECTIONS);
        assert_string_equal(run(&flow), cases[i].trace);
        check_sub_status(&flow, "Finished");
    }
    flow_release(&flow);
}

static void ports_without_a_name_follow_only_the_default_outcome(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "a=line b=line c=line", "a>b a:Done>c");
    assert_string_equal(run(&flow), "a. b. c. fc. Workflow1.");
    chart(&flow, "a=true b=line c=line", "a>b a:True>c");
    assert_string_equal(run(&flow), "a. c. fc. Workflow1.");
    chart(&flow, "a=true b=line", "a:true>b");
    assert_string_equal(run(&flow), "a. fc. Workflow1.");
    flow_release(&flow);
}

static void a_way_back_keeps_its_mark_across_suspensions(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start e=event d=true", "s:Done>e e:Done>d d:True>e");
    assert_string_equal(run(&flow), "s. e~");
    for (int i = 0; i < 3; i++)
        assert_string_equal(resume(&flow, "e"), "e^ e. d. e~");
    check_property(&flow, "FlowScope",
                   "{\"activitiesVisitCount\":{\"s\":1,\"e\":1,\"d\":3},"
                   "\"connectionVisitCount\":{\"s:Done->e:In\":1,\"e:Done->d:In\":3,"
                   "\"d:True->e:In\":3},"
                   "\"connectionLastVisitFollowed\":{\"s:Done->e:In\":true,\"e:Done->d:In\":true,"
                   "\"d:True->e:In\":true},\"_type\":\"FlowScope\"}");
    check_sub_status(&flow, "Suspended");
    flow_release(&flow);
}

static void a_way_back_that_another_way_goes_round_is_a_fault(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start a=line b=line d=true", "s>a s>b a>d b>d d:True>a");
    assert_string_equal(run(&flow), "s. a. b. d. d#");
    check_sub_status(&flow, "Faulted");
    check_incident(&flow, "Invalid backward connection: Every path from the source ('d') must go "
                          "through the target ('a') when tracing back to the start.");
    flow_release(&flow);
}

/* It says so twice: the last cancelled one already finds nothing left to do. As recorded. */
static void the_end_cancels_what_still_waits(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start e=event f=line end=End", "s>e s>f f>end");
    assert_string_equal(run(&flow), "s. e~ f. end. e! fc. Workflow1. fc.");
    check_sub_status(&flow, "Finished");
    flow_release(&flow);
}

static void the_first_branch_to_arrive_cancels_the_others(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start e=event w=line j=join:WaitAny x=line", "s>e s>w e>j w>j j>x");
    assert_string_equal(run(&flow), "s. e~ w. e! j. x. fc. Workflow1.");
    check_sub_status(&flow, "Finished");
    assert_int_equal(pawl__json_len(pawl__json_get_text(&flow.state, "bookmarks")), 0);
    flow_release(&flow);
}

static void a_join_that_is_running_when_a_loser_is_cancelled_runs_twice(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start w=line e=event j=join:WaitAny x=line", "s>w s>e w>j e>j j>x");
    assert_string_equal(run(&flow), "s. w. e~ e! j. j. x. x. fc. Workflow1.");
    flow_release(&flow);
}

static void cancelling_what_contains_a_waiting_activity_is_a_fault(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start q=waits v=line w=line j=join:WaitAny", "s>q s>v v>w q>j w>j");
    assert_string_equal(run(&flow), "s. v. inner~ w. inner! w# q! w! j. j. fc. Workflow1.");
    check_incident(&flow, "Activity inner is not reachable from the flowchart graph. Unable to "
                          "schedule it's outbound activities.");
    flow_release(&flow);
}

static void a_faulted_activity_keeps_the_flowchart_open(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "s=Start f=Fault w=line", "s>f s>w");
    assert_string_equal(run(&flow), "s. f# w.");
    check_sub_status(&flow, "Faulted");
    flow_release(&flow);
}

static void a_dead_path_may_be_as_long_as_the_chart(void **state)
{
    enum { LENGTH = 20000 };
    struct pawl_buf text;
    struct flow flow;

    (void)state;
    flow_init(&flow);
    pawl__buf_init(&text, &flow.alloc.base, 1 << 26);
    pawl__buf_text(&text, "{\"definitionId\":\"d\",\"root\":{\"id\":\"fc\",\"type\":"
                          "\"Elsa.Flowchart\",\"activities\":["
                          "{\"id\":\"a\",\"type\":\"Elsa.FlowDecision\"},"
                          "{\"id\":\"x\",\"type\":\"Elsa.WriteLine\"}");
    for (int i = 0; i < LENGTH; i++)
        pawl__buf_printf(&text, ",{\"id\":\"n%d\",\"type\":\"Elsa.WriteLine\"}", i);
    pawl__buf_text(&text, "],\"connections\":["
                          "{\"source\":{\"activity\":\"a\",\"port\":\"True\"},"
                          "\"target\":{\"activity\":\"n0\"}},"
                          "{\"source\":{\"activity\":\"a\",\"port\":\"False\"},"
                          "\"target\":{\"activity\":\"x\"}}");
    for (int i = 0; i + 1 < LENGTH; i++)
        pawl__buf_printf(&text,
                         ",{\"source\":{\"activity\":\"n%d\"},\"target\":{\"activity\":\"n%d\"}}",
                         i, i + 1);
    pawl__buf_printf(&text,
                     ",{\"source\":{\"activity\":\"n%d\"},\"target\":{\"activity\":\"x\"}}]}}",
                     LENGTH - 1);
    assert_ok(load_text(&flow, pawl__buf_peek(&text)), &flow.err);
    assert_string_equal(run(&flow), "a. x. fc. Workflow1.");
    pawl__buf_release(&text);
    flow_release(&flow);
}

/* ---- where it starts ------------------------------------------------------------------------ */

static void it_starts_at_a_start_then_at_a_trigger_then_where_nothing_leads(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "a=line t=trigger s=Start", "");
    assert_string_equal(run(&flow), "s. fc. Workflow1.");
    chart(&flow, "a=line t=trigger", "");
    assert_string_equal(run(&flow), "t~");
    chart(&flow, "a=line b=line", "b>a");
    assert_string_equal(run(&flow), "b. a. fc. Workflow1.");
    chart(&flow, "a=event b=line", "a>b b>a");
    assert_string_equal(run(&flow), "a~");
    chart(&flow, "", "");
    assert_string_equal(run(&flow), "fc. Workflow1.");
    flow_release(&flow);
}

static void the_trigger_that_started_it_is_the_start(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.trigger = "t2";
    chart(&flow, "t1=trigger t2=trigger b=line", "t1>b t2>b");
    assert_string_equal(run(&flow), "t2. b. fc. Workflow1.");
    flow_release(&flow);
}

static void the_trigger_that_started_it_is_remembered_over_suspensions(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.trigger = "t2";
    /* From t1 alone e would be out of reach, and b would wait for t1. */
    chart(&flow, "t1=trigger t2=trigger e=event b=line", "t1>b t2>e e>b");
    assert_string_equal(run(&flow), "t2. e~");
    flow.trigger = NULL;
    assert_string_equal(resume(&flow, "e"), "e^ e. b. fc. Workflow1.");
    check_sub_status(&flow, "Finished");
    flow_release(&flow);
}

static void activities_without_an_id_are_given_one_and_counted(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "?=event b=line", "");
    assert_string_equal(run(&flow), "Event1~");
    assert_string_equal(resume(&flow, "Event1"), "Event1^ Event1. fc. Workflow1.");
    flow_release(&flow);
}

/* ---- spellings of connections -------------------------------------------------------------- */

/* Problems of connections and cases; others say that activities are out of reach. */
static bool is_ours(const struct pawl_problem *problem)
{
    return strstr(problem->pointer, "/connections") || strstr(problem->pointer, "/cases");
}

static uint32_t count_problems(const struct flow *flow)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < flow->problems.count; i++)
        count += is_ours(&flow->problems.items[i]);
    return count;
}

static void check_problem(const struct flow *flow, uint32_t number, enum pawl_problem_level level,
                          const char *pointer, const char *part)
{
    const struct pawl_problem *problem = flow->problems.items;

    for (; problem < flow->problems.items + flow->problems.count; problem++) {
        if (is_ours(problem) && number-- == 0)
            break;
    }
    assert_true(problem < flow->problems.items + flow->problems.count);
    assert_int_equal(problem->level, level);
    assert_string_equal(problem->pointer, pointer);
    assert_non_null(strstr(problem->message, part));
}

static void connections_are_read_in_every_spelling(void **state)
{
    static const char *const spellings[] = {
        "\"connections\":[{\"source\":{\"activity\":\"a\",\"port\":\"Done\"},\"target\":"
        "{\"activity\":\"b\",\"port\":\"In\"},\"vertices\":[{\"x\":1,\"y\":2}]}]",
        "\"connections\":[{\"source\":{\"activity\":\"a\",\"port\":null},\"target\":"
        "{\"activity\":\"b\"}}]",
        "\"connections\":[{\"Source\":{\"Activity\":\"a\",\"Port\":\"Done\"},\"Target\":"
        "{\"Activity\":\"b\",\"Port\":\"In\"}}]",
        "\"connections\":{\"$values\":[{\"source\":{\"activity\":\"a\"},\"target\":"
        "{\"activity\":\"b\"}}]}",
        "\"connections\":{\"source\":{\"activity\":\"a\"},\"target\":{\"activity\":\"b\"}}",
        "\"connections\":[{\"source\":\"a\",\"target\":\"b\",\"sourcePort\":\"Done\","
        "\"targetPort\":\"In\"}]",
        "\"connections\":[],\"customProperties\":{\"notFoundConnections\":[{\"source\":"
        "{\"activity\":\"a\"},\"target\":{\"activity\":\"b\"}}]}",
        "\"connections\":[{\"source\":{\"activity\":\"a\"},\"target\":{\"activity\":\"b\"}},"
        "{\"source\":{\"activity\":\"a\"},\"target\":{\"activity\":\"b\"}}]",
    };
    struct flow flow;

    (void)state;
    flow_init(&flow);
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        chart_json(&flow, "a=line b=line", spellings[i]);
        assert_string_equal(run(&flow), "a. b. fc. Workflow1.");
        assert_int_equal(count_problems(&flow), 0);
    }
    chart_json(&flow, "a=line b=line", "\"connections\":7");
    assert_string_equal(run(&flow), "a. fc. Workflow1.");
    flow_release(&flow);
}

static void connections_to_nowhere_are_left_out_and_said(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "a=line b=line", "a>gone a>b gone>b");
    assert_string_equal(run(&flow), "a. b. fc. Workflow1.");
    check_problem(&flow, 0, PAWL_PROBLEM_WARNING, "/root/connections/0", "target 'gone'");
    check_problem(&flow, 1, PAWL_PROBLEM_WARNING, "/root/connections/2", "source 'gone'");
    chart_json(&flow, "a=line b=line",
               "\"connections\":{\"$values\":[{\"source\":\"a\",\"target\":\"x\"}]}");
    check_problem(&flow, 2, PAWL_PROBLEM_ERROR, "/root/connections/$values/0", "target 'x'");
    chart_json(&flow, "a=line b=line", "\"connections\":[{\"source\":{},\"target\":5}]");
    check_problem(&flow, 3, PAWL_PROBLEM_WARNING, "/root/connections/0", "no source");
    check_problem(&flow, 4, PAWL_PROBLEM_WARNING, "/root/connections/0", "no target");
    flow_release(&flow);
}

/* ---- decisions, switches, forks, joins ------------------------------------------------------ */

static void a_fork_follows_its_branches_or_done(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "f=fork:A a=line b=line d=line", "f:B>b f:A>a f:Done>d");
    assert_string_equal(run(&flow), "f. a. fc. Workflow1.");
    chart(&flow, "f=fork a=line d=line n=line", "f:A>a f:Done>d f>n");
    assert_string_equal(run(&flow), "f. d. fc. Workflow1.");
    flow_release(&flow);
}

#define SWITCH                                                                                     \
    "{\"definitionId\":\"d\",\"root\":{\"id\":\"fc\",\"type\":\"Elsa.Flowchart\",\"activities\":[" \
    "{\"id\":\"w\",\"type\":\"Elsa.FlowSwitch\",\"mode\":{\"typeName\":\"Object\",\"expression\":" \
    "{\"type\":\"Literal\",\"value\":\"%s\"}},\"cases\":["                                         \
    "{\"label\":\"A\",\"condition\":{\"type\":\"Literal\",\"value\":%s}},"                         \
    "{\"label\":\"B\"},"                                                                           \
    "{\"label\":\"C\",\"condition\":{\"type\":\"Literal\",\"value\":%s}}]},"                       \
    "{\"id\":\"a\",\"type\":\"Elsa.WriteLine\"},{\"id\":\"b\",\"type\":\"Elsa.WriteLine\"},"       \
    "{\"id\":\"c\",\"type\":\"Elsa.WriteLine\"},{\"id\":\"d\",\"type\":\"Elsa.WriteLine\"}],"      \
    "\"connections\":["                                                                            \
    "{\"source\":{\"activity\":\"w\",\"port\":\"A\"},\"target\":{\"activity\":\"a\"}},"            \
    "{\"source\":{\"activity\":\"w\",\"port\":\"B\"},\"target\":{\"activity\":\"b\"}},"            \
    "{\"source\":{\"activity\":\"w\",\"port\":\"C\"},\"target\":{\"activity\":\"c\"}},"            \
    "{\"source\":{\"activity\":\"w\",\"port\":\"Default\"},\"target\":{\"activity\":\"d\"}}]}}"

static void a_switch_follows_the_first_match_all_matches_or_the_default(void **state)
{
    static const struct {
        const char *mode;
        const char *a;
        const char *c;
        const char *trace;
    } cases[] = {
        {"MatchFirst", "true", "true", "w. a. fc. Workflow1."},
        {"MatchAny", "true", "true", "w. a. c. fc. Workflow1."},
        {"MatchFirst", "false", "true", "w. c. fc. Workflow1."},
        {"MatchAny", "false", "false", "w. d. fc. Workflow1."},
    };
    struct flow flow;

    (void)state;
    flow_init(&flow);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];

        snprintf(text, sizeof text, SWITCH, cases[i].mode, cases[i].a, cases[i].c);
        assert_ok(load_text(&flow, pawl__str(text)), &flow.err);
        assert_string_equal(run(&flow), cases[i].trace);
    }
    check_problem(&flow, 0, PAWL_PROBLEM_WARNING, "/root/activities/0/cases/1/condition",
                  "has no condition");
    flow_release(&flow);
}

static void a_join_alone_completes_and_one_outside_a_flowchart_faults(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    chart(&flow, "j=join", "");
    assert_string_equal(run(&flow), "j. fc. Workflow1.");
    assert_ok(load_text(&flow, pawl__str("{\"definitionId\":\"d\",\"root\":{\"id\":\"q\",\"type\":"
                                         "\"Elsa.Sequence\",\"activities\":[{\"id\":\"j\","
                                         "\"type\":\"Elsa.FlowJoin\"}]}}")),
              &flow.err);
    assert_string_equal(run(&flow), "j#");
    check_incident(&flow, "Activity context is not a flowchart.");
    flow_release(&flow);
}

static void a_node_runs_its_body(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    assert_ok(load_text(&flow, pawl__str("{\"definitionId\":\"d\",\"root\":{\"id\":\"n\",\"type\":"
                                         "\"Elsa.FlowNode\",\"body\":{\"id\":\"b\",\"type\":"
                                         "\"Elsa.WriteLine\"}}}")),
              &flow.err);
    assert_string_equal(run(&flow), "b. n. Workflow1.");
    chart(&flow, "n=FlowNode b=line", "n>b");
    assert_string_equal(run(&flow), "n. b. fc. Workflow1.");
    flow_release(&flow);
}

/* ---- by tokens ----------------------------------------------------------------------------- */

static void tokens_are_kept_while_it_waits(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.mode = "tokenbased";
    chart(&flow, "s=Start e=event x=line", "s:Done>e e>x");
    assert_string_equal(run(&flow), "s. e~");
    check_property(&flow, "Flowchart.Tokens",
                   "{\"_items\":[{\"fromActivityId\":\"s\",\"outcome\":\"Done\",\"toActivityId\":"
                   "\"e\",\"consumed\":false,\"blocked\":false}],\"_type\":\"List<Token>\"}");
    assert_string_equal(resume(&flow, "e"), "e^ e. x. fc. Workflow1.");
    check_sub_status(&flow, "Finished");
    flow_release(&flow);
}

static void a_merge_of_a_way_not_taken_waits_for_ever(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.mode = "TokenBased";
    chart(&flow, "s=Start d=true x=line y=line m=line:Merge", "s>d d:True>x d:False>y x>m y>m");
    assert_string_equal(run(&flow), "s. d. x.");
    check_sub_status(&flow, "Suspended");
    chart(&flow, "s=Start d=true x=line y=line m=line", "s>d d:True>x d:False>y x>m y>m");
    assert_string_equal(run(&flow), "s. d. x. m. fc. Workflow1.");
    flow_release(&flow);
}

/* The flowchart completes on the way, before the winner is queued. As recorded. */
static void a_race_cancels_the_losers_and_a_cascade_lets_them_be(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.mode = "TokenBased";
    chart(&flow, "s=Start e=event w=line r=line:Race", "s>e s>w e>r w>r");
    assert_string_equal(run(&flow), "s. e~ w. e! fc. Workflow1. r.");
    chart(&flow, "s=Start e=event w=line r=line:Cascade", "s>e s>w e>r w>r");
    assert_string_equal(run(&flow), "s. e~ w. r.");
    /* The token of the late one stays: the flowchart never completes. As recorded. */
    assert_string_equal(resume(&flow, "e"), "e^ e.");
    check_sub_status(&flow, "Suspended");
    flow_release(&flow);
}

static void joins_merge_tokens(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.mode = "TokenBased";
    chart(&flow, "s=Start a=line b=line j=join:WaitAll x=line", "s>a s>b a>j b>j j>x");
    assert_string_equal(run(&flow), "s. a. b. j. x. fc. Workflow1.");
    chart(&flow, "s=Start e=event w=line j=join x=line", "s>e s>w e>j w>j j>x");
    assert_string_equal(run(&flow), "s. e~ w. e! fc. Workflow1. j. x.");
    flow_release(&flow);
}

static void loops_need_no_special_care(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.mode = "TokenBased";
    chart(&flow, "s=Start e=event d=true", "s:Done>e e:Done>d d:True>e");
    assert_string_equal(run(&flow), "s. e~");
    for (int i = 0; i < 3; i++)
        assert_string_equal(resume(&flow, "e"), "e^ e. d. e~");
    flow_release(&flow);
}

static void tokens_of_a_foreign_state_are_read(void **state)
{
    static const char *const forms[] = {
        "[{\"fromActivityId\":\"a\",\"toActivityId\":\"m\",\"consumed\":false,\"blocked\":false}]",
        "{\"$values\":[{\"fromActivityId\":\"a\",\"toActivityId\":\"m\",\"consumed\":false,"
        "\"blocked\":false}],\"_type\":\"List<Token>\"}",
    };
    struct flow flow;

    (void)state;
    flow_init(&flow);
    flow.mode = "TokenBased";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct pawl_json *contexts;
        struct pawl_json tokens;

        chart(&flow, "s=Start a=line e=event m=line:Merge", "s>a s>e a>m e>m");
        assert_string_equal(run(&flow), "s. a. e~");
        assert_code(pawl__json_parse(&flow.arena, pawl__str(forms[i]), NULL, &tokens, NULL, NULL),
                    PAWL_OK);
        contexts = pawl__json_get_text(&flow.state, "activityExecutionContexts");
        for (uint32_t k = 0; k < pawl__json_len(contexts); k++) {
            struct pawl_json *properties =
                pawl__json_get_text(pawl__json_at(contexts, k), "properties");

            if (pawl__json_get_text(properties, "Flowchart.Tokens"))
                assert_code(
                    pawl__json_set_text(&flow.arena, properties, "Flowchart.Tokens", tokens),
                    PAWL_OK);
        }
        assert_string_equal(resume(&flow, "e"), "e^ e. m. fc. Workflow1.");
    }
    flow_release(&flow);
}

/* ---- memory -------------------------------------------------------------------------------- */

static int load_and_run(struct test_allocator *alloc, void *arg)
{
    struct pawl_hash_seed seed = {0};
    struct flow flow = {.mode = arg, .seed = 1};
    int status;

    /* The sweep's allocator has the failures; the rest of the harness is the flow's. */
    test_allocator_init(&flow.alloc);
    flow.alloc.base = alloc->base;
    pawl__arena_init(&flow.arena, &alloc->base, (size_t)1 << 30);
    pawl__buf_init(&flow.trace, &alloc->base, (size_t)1 << 24);
    pawl__engine_init(&flow.engine, &alloc->base, seed);
    flow.problems = (struct pawl_problems){.arena = &flow.arena, .most = 100};
    status = pawl__activities_register(&flow.engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&flow.engine);
    if (status == PAWL_OK)
        status = try_chart(&flow, "s=Start e=event a=line d=false j=join y=line x=line",
                           "s>e s>a a>d d:True>y d:False>j e>j j>x y>x", false);
    if (status == PAWL_OK)
        status = try_run(&flow);
    pawl__graph_unref(flow.graph);
    pawl__engine_release(&flow.engine);
    pawl__buf_release(&flow.trace);
    pawl__arena_release(&flow.arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    char token[] = "TokenBased";

    (void)state;
    test_sweep_allocations(load_and_run, NULL, 2000);
    test_sweep_allocations(load_and_run, token, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_branch_decides_what_a_join_does),
        cmocka_unit_test(ports_without_a_name_follow_only_the_default_outcome),
        cmocka_unit_test(a_way_back_keeps_its_mark_across_suspensions),
        cmocka_unit_test(a_way_back_that_another_way_goes_round_is_a_fault),
        cmocka_unit_test(the_end_cancels_what_still_waits),
        cmocka_unit_test(the_first_branch_to_arrive_cancels_the_others),
        cmocka_unit_test(a_join_that_is_running_when_a_loser_is_cancelled_runs_twice),
        cmocka_unit_test(cancelling_what_contains_a_waiting_activity_is_a_fault),
        cmocka_unit_test(a_faulted_activity_keeps_the_flowchart_open),
        cmocka_unit_test(a_dead_path_may_be_as_long_as_the_chart),
        cmocka_unit_test(it_starts_at_a_start_then_at_a_trigger_then_where_nothing_leads),
        cmocka_unit_test(the_trigger_that_started_it_is_the_start),
        cmocka_unit_test(the_trigger_that_started_it_is_remembered_over_suspensions),
        cmocka_unit_test(activities_without_an_id_are_given_one_and_counted),
        cmocka_unit_test(connections_are_read_in_every_spelling),
        cmocka_unit_test(connections_to_nowhere_are_left_out_and_said),
        cmocka_unit_test(a_fork_follows_its_branches_or_done),
        cmocka_unit_test(a_switch_follows_the_first_match_all_matches_or_the_default),
        cmocka_unit_test(a_join_alone_completes_and_one_outside_a_flowchart_faults),
        cmocka_unit_test(a_node_runs_its_body),
        cmocka_unit_test(tokens_are_kept_while_it_waits),
        cmocka_unit_test(a_merge_of_a_way_not_taken_waits_for_ever),
        cmocka_unit_test(a_race_cancels_the_losers_and_a_cascade_lets_them_be),
        cmocka_unit_test(joins_merge_tokens),
        cmocka_unit_test(loops_need_no_special_care),
        cmocka_unit_test(tokens_of_a_foreign_state_are_read),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("activities/flowchart", tests, NULL, NULL);
}
