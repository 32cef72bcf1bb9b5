/* SPDX-License-Identifier: Apache-2.0 */
/* What activities ask of the outside, and what they make of the answers. */
#include "running.h"

#define LITERAL(value) "{'typeName':'Object','expression':{'type':'Literal','value':" value "}}"
#define OBJECT(value) "{'typeName':'Object','expression':{'type':'Object','value':'" value "'}}"
#define VARIABLES(list) "'variables':[" list "],"
#define VARIABLE                                                                                   \
    "{'id':'v','name':'V','typeName':'Object',"                                                    \
    "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}"

static void a_line_is_written_by_an_effect(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, "{'type':'Elsa.WriteLine','text':" LITERAL("'hello'") "}", "");
    assert_string_equal(running_text(&running, &running.effects), "[{'text':'hello'}]");
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

static void a_line_that_is_read_becomes_the_result(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'type':'Elsa.ReadLine','result':{'typeName':'String','memoryReference':"
                  "{'id':'v'}}}",
                  VARIABLES(VARIABLE));
    assert_string_equal(running_text(&running, &running.awaited), "{'read':true}");
    assert_ok(running_feed(&running, "{'text':'typed'}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    assert_string_equal(
        running_text(&running, running_property(&running, "Workflow1", "Variables")),
        "{'v':'typed','_type':'VariablesDictionary'}");
    running_end(&running);
}

static void the_end_of_input_reads_as_nothing(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, "{'type':'Elsa.ReadLine'}", "");
    assert_ok(running_feed(&running, "null"), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

static void an_event_is_published_with_what_narrows_it(void **state)
{
    struct running running;

    (void)state;
    running_begin(
        &running,
        "{'type':'Elsa.PublishEvent','eventName':" LITERAL("'paid'") ",'correlationId':" LITERAL(
            "'c1'") ",'isLocalEvent':" LITERAL("true") ",'payload':" LITERAL("12") "}",
        "");
    assert_string_equal(
        running_text(&running, &running.effects),
        "[{'eventName':'paid','correlationId':'c1','instanceId':'parent','payload':12}]");
    running_end(&running);
}

static void a_blank_correlation_id_narrows_nothing(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'type':'Elsa.PublishEvent','eventName':" LITERAL(
                      "'paid'") ",'correlationId':" LITERAL("'  '") "}",
                  "");
    assert_string_equal(running_text(&running, &running.effects), "[{'eventName':'paid'}]");
    running_end(&running);
}

static void a_task_is_asked_for_and_waited_for_by_the_same_id(void **state)
{
    struct running running;
    struct pawl_str asked;
    struct pawl_str waited;

    (void)state;
    running_begin(&running, "{'type':'Elsa.RunTask','taskName':" LITERAL("'Print'") "}", "");
    asked = pawl__json_str(pawl__json_find(&running.effects, pawl__str("/0/taskId")));
    waited = pawl__json_str(running_find(&running, "/bookmarks/0/payload/taskId"));
    assert_true(asked.len > 0 && pawl__str_equal(asked, waited));
    assert_str(pawl__json_str(running_find(&running, "/bookmarks/0/payload/_type")),
               "RunTaskStimulus");
    assert_str(pawl__json_str(running_find(&running, "/bookmarks/0/callbackMethodName")),
               "ResumeAsync");
    running_end(&running);
}

/* ---- children ---------------------------------------------------------------------------- */

#define DISPATCH(wait)                                                                                                         \
    "{'id':'x','type':'Elsa.DispatchWorkflow','workflowDefinitionId':" LITERAL(                                                \
        "'other'") ",'correlationId':" LITERAL("'c1'") ",'input':" OBJECT("{}") ",'"                                           \
                                                                                "waitForCompletio"                             \
                                                                                "n':" LITERAL(wait) ",'channelName':" LITERAL( \
                                                                                    "'slow'") ",'"                             \
                                                                                              "st"                             \
                                                                                              "ar"                             \
                                                                                              "tN"                             \
                                                                                              "ew"                             \
                                                                                              "Tr"                             \
                                                                                              "ac"                             \
                                                                                              "e'"                             \
                                                                                              ":" LITERAL(                     \
                                                                                                  "true") "}"

static void a_dispatch_asks_first_whether_there_is_something_to_start(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, DISPATCH("false"), "");
    assert_string_equal(running_text(&running, &running.awaited),
                        "{'mode':'find','definitionId':'other'}");
    assert_int_equal(pawl__json_len(&running.effects), 0);
    assert_ok(running_feed(&running, "{'found':false}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Faulted");
    assert_str(pawl__json_str(running_find(&running, "/incidents/0/message")),
               "No published version of workflow definition with ID other found.");
    assert_int_equal(pawl__json_len(&running.effects), 0);
    running_end(&running);
}

static void a_dispatch_hands_over_everything_in_the_same_commit(void **state)
{
    struct running running;
    struct pawl_json *data;

    (void)state;
    running_begin(&running, DISPATCH("true"), "");
    assert_ok(running_feed(&running, "{'found':true}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Suspended");
    data = pawl__json_at(&running.effects, 0);
    assert_true(pawl__str_equal(
        pawl__json_str(pawl__json_get_text(data, "instanceId")),
        pawl__json_str(running_find(&running, "/bookmarks/0/payload/childInstanceId"))));
    (void)pawl__json_remove(data, pawl__str("instanceId"));
    assert_true(pawl__json_str(pawl__json_get_text(data, "schedulingActivityExecutionId")).len > 0);
    (void)pawl__json_remove(data, pawl__str("schedulingActivityExecutionId"));
    assert_string_equal(
        running_text(&running, data),
        "{'mode':'dispatch','definitionId':'other','correlationId':'c1','input':"
        "{'ParentInstanceId':'parent'},'properties':{'ParentInstanceId':'parent',"
        "'WaitForCompletion':true,'StartNewTrace':true},'parentInstanceId':'parent',"
        "'callStackDepth':1,'waitForCompletion':true,'channelName':'slow'}");
    running_end(&running);
}

static void a_dispatch_that_could_not_be_done_faults_with_its_message(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, DISPATCH("false"), "");
    assert_ok(running_feed(&running, "{'error':'the queue is full'}"), &running.err);
    assert_str(pawl__json_str(running_find(&running, "/incidents/0/message")), "the queue is full");
    running_end(&running);
}

#define EXECUTE                                                                                    \
    "{'id':'x','type':'Elsa.ExecuteWorkflow','workflowDefinitionId':" LITERAL(                     \
        "'other'") ",'waitForCompletion':" LITERAL("true") ",'result':{'typeName':'Object','"      \
                                                           "memoryReference':{'id':'v'}}}"

static void a_child_that_ended_gives_its_result_at_once(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, EXECUTE, VARIABLES(VARIABLE));
    assert_str(pawl__json_str(pawl__json_get_text(&running.awaited, "mode")), "execute");
    assert_ok(running_feed(&running,
                           "{'workflowInstanceId':'c','status':'Finished','subStatus':'Finished',"
                           "'output':{'N':{'_items':[1,2],'_type':'Object[]'}}}"),
              &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    assert_string_equal(
        running_text(&running, pawl__json_get_text(
                                   running_property(&running, "Workflow1", "Variables"), "v")),
        "{'workflowInstanceId':'c','status':'Finished','subStatus':'Finished',"
        "'output':{'N':[1,2]}}");
    running_end(&running);
}

static void a_child_that_goes_on_is_waited_for(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, EXECUTE, VARIABLES(VARIABLE));
    assert_ok(running_feed(&running, "{'workflowInstanceId':'c','status':'Running',"
                                     "'subStatus':'Suspended','output':{}}"),
              &running.err);
    assert_string_equal(running_sub_status(&running), "Suspended");
    assert_string_equal(running_text(&running, running_find(&running, "/bookmarks/0/payload")),
                        "{'childInstanceId':'c','_type':'ExecuteWorkflowStimulus'}");
    assert_ok(running_resume(&running, "{'Out':'bye'}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

static void bulk_dispatch_keeps_one_bookmark_until_the_last_child_has_ended(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'x','type':'Elsa.BulkDispatchWorkflows','workflowDefinitionId':" LITERAL(
                      "'other'") ",'items':{'typeName':'Object','expression':{'type':'Variable',"
                                 "'value':{'id':'v'}}}}",
                  "'variables':[{'id':'v','name':'V','typeName':'Int32','isArray':true,"
                  "'value':'[7,8]'}],");
    assert_ok(running_feed(&running, "{'found':true}"), &running.err);
    assert_int_equal(pawl__json_len(&running.effects), 2);
    assert_string_equal(
        running_text(&running, pawl__json_find(&running.effects, pawl__str("/1/input"))),
        "{'Item':8,'ParentInstanceId':'parent'}");
    assert_string_equal(running_text(&running, running_find(&running, "/bookmarks/0/payload")),
                        "{'parentInstanceId':'parent','scheduledInstanceIdsCount':2,"
                        "'_type':'BulkDispatchWorkflowsStimulus'}");
    assert_string_equal(running_text(&running, running_find(&running, "/bookmarks/0/autoBurn")),
                        "false");
    assert_ok(running_resume(&running, "{'WorkflowSubStatus':'Finished'}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Suspended");
    assert_string_equal(
        running_text(&running, running_property(&running, "x", "CompletedInstancesCountKey")), "1");
    assert_ok(running_resume(&running, "{'WorkflowSubStatus':'Faulted'}"), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

static void data_with_an_unknown_type_does_not_stop_an_instance(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, "{'type':'Elsa.Event','eventName':" LITERAL("'e'") "}", "");
    assert_ok(
        running_resume(&running, "{'__EventPayloadWorkflowInput':{'a':1,'_type':'No.Such.Type'}}"),
        &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    running_end(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_written_by_an_effect),
        cmocka_unit_test(a_line_that_is_read_becomes_the_result),
        cmocka_unit_test(the_end_of_input_reads_as_nothing),
        cmocka_unit_test(an_event_is_published_with_what_narrows_it),
        cmocka_unit_test(a_blank_correlation_id_narrows_nothing),
        cmocka_unit_test(a_task_is_asked_for_and_waited_for_by_the_same_id),
        cmocka_unit_test(a_dispatch_asks_first_whether_there_is_something_to_start),
        cmocka_unit_test(a_dispatch_hands_over_everything_in_the_same_commit),
        cmocka_unit_test(a_dispatch_that_could_not_be_done_faults_with_its_message),
        cmocka_unit_test(a_child_that_ended_gives_its_result_at_once),
        cmocka_unit_test(a_child_that_goes_on_is_waited_for),
        cmocka_unit_test(bulk_dispatch_keeps_one_bookmark_until_the_last_child_has_ended),
        cmocka_unit_test(data_with_an_unknown_type_does_not_stop_an_instance),
    };

    return cmocka_run_group_tests_name("activities/effects", tests, NULL, NULL);
}
