/* SPDX-License-Identifier: Apache-2.0 */
/* What containers and loops keep in stored state, and that they go on from what Elsa stored. */
#include "running.h"

#include <stdio.h>

#define LITERAL(value) "{'typeName':'Object','expression':{'type':'Literal','value':" value "}}"
#define EVENT(id) "{'id':'" id "','type':'Elsa.Event','eventName':" LITERAL("'go'") "}"
#define ITEMS "'items':{'typeName':'Object','expression':{'type':'Variable','value':{'id':'v'}}}"

static void check_property(struct running *running, const char *id, const char *key,
                           const char *expected)
{
    assert_string_equal(running_text(running, running_property(running, id, key)), expected);
}

static void a_sequence_points_to_its_next_child(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'s','type':'Elsa.Sequence','activities':[{'type':'Elsa.WriteLine'}," EVENT(
                      "e") ",{'type':'Elsa.WriteLine'}]}",
                  "");
    check_property(&running, "s", "CurrentIndex", "2");
    running_end(&running);
}

static void a_parallel_counts_down_and_a_fork_collects(void **state)
{
    struct running running;

    (void)state;
    running_begin(
        &running,
        "{'id':'p','type':'Elsa.Parallel','activities':[{'type':'Elsa.WriteLine'}," EVENT("e") "]}",
        "");
    check_property(&running, "p", "ScheduledChildren", "1");
    running_end(&running);
    running_begin(&running,
                  "{'id':'f','type':'Elsa.Fork','joinMode':'WaitAll','branches':[{'id':'w','type':"
                  "'Elsa.WriteLine'}," EVENT("e") "]}",
                  "");
    check_property(&running, "f", "Completed", "{'_items':['w'],'_type':'HashSet<String>'}");
    running_end(&running);
}

/* Elsa writes a set as $values; an older one wrote a plain list. */
static void a_fork_goes_on_from_a_set_however_it_was_stored(void **state)
{
    static const char *const forms[] = {"{'$id':'17','$values':['w'],'_type':'HashSet<String>'}",
                                        "{'_items':['w'],'_type':'HashSet<String>'}", "['w']"};

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct running running;
        struct pawl_json form;
        struct pawl_json *stored;

        running_begin(&running,
                      "{'id':'f','type':'Elsa.Fork','joinMode':'WaitAll','branches':[{'id':'w',"
                      "'type':'Elsa.WriteLine'}," EVENT("e") "]}",
                      "");
        assert_ok(running_parse(&running, forms[i], &form), &running.err);
        stored = running_property(&running, "f", "Completed");
        assert_non_null(stored);
        if (stored)
            *stored = form;
        assert_ok(running_resume(&running, "{}"), &running.err);
        assert_string_equal(running_sub_status(&running), "Finished");
        running_end(&running);
    }
}

static void a_switch_remembers_what_it_waits_for(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'x','type':'Elsa.Switch','mode':" LITERAL(
                      "'MatchAny'") ",'cases':[{'label':'A','condition':{'type':'Literal','value':"
                                    "true},'activity':" EVENT(
                                        "e") "},{'label':'B','condition':{'type':'Literal',"
                                             "'value':true},'activity':{'id':'w','type':"
                                             "'Elsa.WriteLine'}}]}",
                  "");
    check_property(&running, "x", "ScheduledActivityIds",
                   "{'_items':['e'],'_type':'HashSet<String>'}");
    assert_ok(running_resume(&running, "{}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

static void loops_keep_where_they_are(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'l','type':'Elsa.For','start':" LITERAL("3") ",'end':" LITERAL(
                      "9") ",'step':" LITERAL("3") ",'body':" EVENT("e") "}",
                  "");
    check_property(&running, "l", "CurrentStep", "3");
    assert_ok(running_resume(&running, "{}"), &running.err);
    check_property(&running, "l", "CurrentStep", "6");
    running_end(&running);
    running_begin(&running, "{'id':'l','type':'Elsa.ForEach'," ITEMS ",'body':" EVENT("e") "}",
                  "'variables':[{'id':'v','name':'V','typeName':'Object[]','value':'[1,2]'}],");
    check_property(&running, "l", "CurrentIndex", "1");
    running_end(&running);
}

static void a_for_that_would_leave_the_range_of_numbers_ends(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'l','type':'Elsa.For','start':" LITERAL("2147483646") ",'end':" LITERAL(
                      "2147483647") ",'body':{'type':'Elsa.WriteLine'}}",
                  "");
    assert_int_equal(pawl__json_len(&running.effects), 2);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

/* ---- ParallelForEach --------------------------------------------------------------------- */

#define TEXTS                                                                                      \
    "'variables':[{'id':'v','name':'V','typeName':'Object[]','value':'[\\'a\\',\\'b\\']'}],"

static void parallel_for_each_keeps_its_tags_as_islands(void **state)
{
    struct running running;
    struct pawl_str scheduled;
    struct pawl_str completed;

    (void)state;
    running_begin(&running,
                  "{'id':'l','type':'Elsa.ParallelForEach'," ITEMS ",'body':" EVENT("e") "}",
                  "'variables':[{'id':'v','name':'V','typeName':'Int32','isArray':true,'value':"
                  "'[5,6]'}],");
    scheduled = pawl__json_str(
        pawl__json_get_text(running_property(&running, "l", "ScheduledTagsProperty"), "_island"));
    assert_int_equal(scheduled.len, 2 * (36 + 2 + 3) + 4);
    assert_memory_equal(scheduled.ptr, "[\n  \"", 5);
    assert_memory_equal(scheduled.ptr + 42, ",\n  \"", 5);
    assert_true(pawl__str_ends(scheduled, pawl__str("\"\n]")));
    check_property(&running, "l", "CompletedTagsProperty", "{'_island':'[]','_type':'JsonArray'}");
    assert_ok(running_resume(&running, "{}"), &running.err);
    completed = pawl__json_str(
        pawl__json_get_text(running_property(&running, "l", "CompletedTagsProperty"), "_island"));
    assert_int_equal(completed.len, 36 + 2 + 3 + 3);
    assert_memory_equal(completed.ptr, scheduled.ptr, 42);
    assert_ok(running_resume(&running, "{}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

static void parallel_for_each_over_many_items_stays_small(void **state)
{
    const char *root =
        "{'id':'l','type':'Elsa.ParallelForEach'," ITEMS ",'body':{'type':'Elsa.Break'}}";
    struct running running;
    struct pawl_buf members;
    enum { ITEM_COUNT = 3000 };

    (void)state;
    assert_code(running_init(&running, NULL), PAWL_OK);
    pawl__buf_init(&members, &running.alloc.base, 1 << 20);
    pawl__buf_text(&members, "'variables':[{'id':'v','name':'V','typeName':'Object[]','value':'[0");
    for (int i = 1; i < ITEM_COUNT; i++)
        pawl__buf_printf(&members, ",%d", i);
    pawl__buf_text(&members, "]'}],");
    assert_ok(running_load(&running, root, pawl__buf_cstr(&members)), &running.err);
    /* Rewriting the list of tags each time would take 180 MB. */
    running.engine.burst_bytes_max = (size_t)48 << 20;
    assert_ok(running_start(&running), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    pawl__buf_release(&members);
    running_end(&running);
}

/* ---- StateMachine ------------------------------------------------------------------------ */

static void a_state_machine_knows_where_it_stands_by_state_and_tags(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'m','type':'Elsa.StateMachine','initialState':'A','states':[{'name':'A'},"
                  "{'name':'B'}],'transitions':[{'from':'A','to':'B','trigger':" EVENT(
                      "e") "},"
                           "{'name':'Again','from':'A','to':'A','trigger':" EVENT("f") "}]}",
                  "");
    check_property(&running, "m", "CurrentState", "'A'");
    assert_str(pawl__json_str(running_find(&running, "/completionCallbacks/1/methodName")),
               "OnTriggerCompletedAsync");
    assert_str(pawl__json_str(running_find(&running, "/completionCallbacks/1/tag")), "0:A->B");
    assert_str(pawl__json_str(running_find(&running, "/completionCallbacks/2/tag")), "1:Again");
    running_end(&running);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* clang-format off */
static const char everything[] =
    "{'id':'s','type':'Elsa.Sequence','variables':[{'id':'n','name':'N','typeName':'Int32'}],"
    "'activities':["
    "{'type':'Elsa.SetVariable','variable':{'id':'n'},'value':" LITERAL("'4'") "},"
    "{'type':'Elsa.If','condition':" LITERAL("true") ",'then':{'type':'Elsa.WriteLine'}},"
    "{'type':'Elsa.Switch','cases':[{'label':'A','condition':{'type':'Literal','value':true},"
    "'activity':{'type':'Elsa.Parallel','activities':[{'type':'Elsa.WriteLine'}]}}]},"
    "{'type':'Elsa.For','start':" LITERAL("1") ",'end':" LITERAL("2") ",'body':{'type':"
    "'Elsa.Sequence','activities':[{'type':'Elsa.Break'}]}},"
    "{'type':'Elsa.ForEach'," ITEMS ",'body':{'type':'Elsa.WriteLine'}},"
    "{'type':'Elsa.ParallelForEach'," ITEMS ",'body':{'type':'Elsa.WriteLine'}},"
    "{'type':'Elsa.While','condition':" LITERAL("false") ",'body':{'type':'Elsa.WriteLine'}},"
    "{'type':'Elsa.Fork','branches':[{'type':'Elsa.WriteLine'},{'type':'Elsa.WriteLine'}]},"
    "{'type':'Elsa.SetName','value':" LITERAL("'name'") "},"
    "{'type':'Elsa.Correlate','correlationId':" LITERAL("'c'") "},"
    "{'type':'Elsa.SetOutput','outputName':" LITERAL("'o'") ",'outputValue':" LITERAL("1") "},"
    "{'type':'Elsa.PublishEvent','eventName':" LITERAL("'e'") ",'payload':" LITERAL("'p'") "},"
    "{'type':'Elsa.StartAt','dateTime':" LITERAL("'2001-01-01T00:00:00Z'") "},"
    "{'type':'Elsa.StateMachine','initialState':'A','states':[{'name':'A','entry':{'type':"
    "'Elsa.WriteLine'}},{'name':'B'}],'transitions':[{'from':'A','to':'B','trigger':{'type':"
    "'Elsa.WriteLine'},'action':{'type':'Elsa.WriteLine'}}]},"
    "{'type':'Elsa.Parallel','activities':["
    "{'type':'Elsa.Delay'},{'type':'Elsa.Timer'},"
    "{'type':'Elsa.Cron','cronExpression':" LITERAL("'0 0 0 * * *'") "}," EVENT("e") ","
    "{'type':'Elsa.RunTask','taskName':" LITERAL("'t'") ",'payload':" LITERAL("'{}'") "},"
    "{'type':'Elsa.Sequence','activities':[{'type':'Elsa.ReadLine'},{'type':"
    "'Elsa.DispatchWorkflow','workflowDefinitionId':" LITERAL("'d'") "},{'type':'Elsa.Complete',"
    "'outcomes':" LITERAL("'x'") "}]}]}"
    "]}";
/* clang-format on */

static int run_everything(struct test_allocator *alloc, void *arg)
{
    struct running running;
    int status = running_init(&running, alloc);

    (void)arg;
    if (status == PAWL_OK)
        status = running_load(&running, everything, TEXTS);
    if (status == PAWL_OK)
        status = running_start(&running);
    if (status == PAWL_OK)
        status = running_feed(&running, "{'text':'typed'}");
    if (status == PAWL_OK)
        status = running_feed(&running, "{'found':true}");
    if (status == PAWL_OK)
        assert_string_equal(running_sub_status(&running), "Finished");
    running_release(&running);
    *alloc = running.alloc;
    alloc->base.ctx = alloc;
    return status;
}

static void every_refused_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(run_everything, NULL, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_points_to_its_next_child),
        cmocka_unit_test(a_parallel_counts_down_and_a_fork_collects),
        cmocka_unit_test(a_fork_goes_on_from_a_set_however_it_was_stored),
        cmocka_unit_test(a_switch_remembers_what_it_waits_for),
        cmocka_unit_test(loops_keep_where_they_are),
        cmocka_unit_test(a_for_that_would_leave_the_range_of_numbers_ends),
        cmocka_unit_test(parallel_for_each_keeps_its_tags_as_islands),
        cmocka_unit_test(parallel_for_each_over_many_items_stays_small),
        cmocka_unit_test(a_state_machine_knows_where_it_stands_by_state_and_tags),
        cmocka_unit_test(every_refused_allocation_is_reported_and_leaks_nothing),
    };

    return cmocka_run_group_tests_name("activities/containers", tests, NULL, NULL);
}
