/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored states: what is in them, what cannot be stored, what damaged ones do, and that the same
 * run gives the same bytes.
 */
#include "lib/rig.h"

#include "base/hash/sha256.h"

#include <string.h>

#define VARIABLE(id, type, value)                                                                  \
    "{'id':'" id "','name':'" id "','typeName':'" type "','value':" value                          \
    ",'storageDriverTypeName':'WorkflowInstanceStorageDriver'}"
#define SET(id, variable, type, value)                                                             \
    "{'id':'" id "','type':'Elsa.SetVariable','variable':{'id':'" variable "','name':'" variable   \
    "'},'value':" RIG_INPUT(type, "Literal", value) "}"

/* ---- what is stored ---------------------------------------------------------------------- */

static bool is_among(struct pawl_str key, const char *const *names)
{
    for (; *names; names++) {
        if (pawl__str_is(key, *names))
            return true;
    }
    return false;
}

static void assert_keys(const struct pawl_json *object, const char *const *names)
{
    assert_true(pawl__json_is(object, PAWL_JSON_OBJECT));
    for (uint32_t i = 0; i < pawl__json_len(object); i++) {
        if (!is_among(pawl__json_member(object, i)->key, names))
            fail_msg("key %s", pawl__json_member(object, i)->key.ptr);
    }
}

/* Those of the recorded exports. */
static const char *const state_keys[] = {"id",
                                         "definitionId",
                                         "definitionVersionId",
                                         "definitionVersion",
                                         "status",
                                         "subStatus",
                                         "isExecuting",
                                         "bookmarks",
                                         "incidents",
                                         "isSystem",
                                         "completionCallbacks",
                                         "activityExecutionContexts",
                                         "scheduledActivities",
                                         "executionLogSequence",
                                         "input",
                                         "output",
                                         "properties",
                                         "createdAt",
                                         "updatedAt",
                                         NULL};
static const char *const context_keys[] = {"id",
                                           "callStackDepth",
                                           "parentContextId",
                                           "scheduledActivityNodeId",
                                           "ownerActivityNodeId",
                                           "properties",
                                           "metadata",
                                           "activityState",
                                           "dynamicVariables",
                                           "status",
                                           "isExecuting",
                                           "faultCount",
                                           "startedAt",
                                           "tag",
                                           NULL};
static const char *const bookmark_keys[] = {"id",
                                            "name",
                                            "hash",
                                            "payload",
                                            "activityId",
                                            "activityNodeId",
                                            "activityInstanceId",
                                            "createdAt",
                                            "autoBurn",
                                            "callbackMethodName",
                                            "autoComplete",
                                            NULL};
static const char *const incident_keys[] = {
    "activityId", "activityNodeId", "activityInstanceId", "activityType",
    "message",    "exception",      "timestamp",          NULL};

static void an_export_has_exactly_the_known_keys(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW("'options':{'incidentStrategyType':'ContinueWithIncidentsStrategy'},",
                          RIG_PARALLEL("P", RIG_EVENT("e", "go") "," RIG_FAULT("f", "no"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_keys(&rig.state, state_keys);
    assert_int_equal(pawl__json_len(&rig.state), sizeof state_keys / sizeof *state_keys - 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_keys(pawl__json_at(rig_at(&rig, "activityExecutionContexts"), i), context_keys);
    assert_keys(rig_at(&rig, "bookmarks/0"), bookmark_keys);
    assert_keys(rig_at(&rig, "incidents/0"), incident_keys);
    rig_release(&rig);
}

static void keys_of_users_with_a_dollar_come_back(void **state)
{
    static const char *const text = RIG_WORKFLOW(
        "'variables':[" VARIABLE("v", "Object", "null") "],",
        RIG_SEQUENCE(
            "S",
            SET("set", "v", "Object", "{'$id':'7','a':{'$ref':'7'}}") "," RIG_EVENT(
                "e", "go") ",{'id':'w','type':'Elsa.WriteLine','text':" RIG_INPUT("String",
                                                                                  "Variable",
                                                                                  "{'id':'v','name'"
                                                                                  ":'v'}") "}"));
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, text);
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_int_equal(rig_resume(&rig, "e"), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Finished");
    assert_non_null(strstr(pawl__buf_cstr(&rig.lines), "$ref"));
    assert_non_null(strstr(pawl__buf_cstr(&rig.lines), "$id"));
    rig_release(&rig);
}

/* ---- what cannot be stored ---------------------------------------------------------------- */

static void assert_faults(struct rig *rig, const char *text, const char *message)
{
    rig_load(rig, text);
    assert_int_equal(rig_run(rig), PAWL_STEP_DONE);
    assert_at(rig, "subStatus", "Faulted");
    assert_at(rig, "incidents/0/message", message);
}

static void what_is_not_a_number_faults_and_the_instance_is_kept(void **state)
{
    static const char because[] = " is infinite or not a number (NaN), which cannot be stored: "
                                  "check the calculation that it comes from.";
    struct rig rig;

    (void)state;
    rig_init(&rig);
    assert_faults(&rig,
                  RIG_WORKFLOW("'variables':[" VARIABLE("v", "Double", "null") "],",
                               RIG_SEQUENCE("S", SET("set", "v", "String", "'NaN'"))),
                  pawl__arena_printf(&rig.arena, "Variable 'v'%s", because));
    assert_at(&rig, "incidents/0/activityId", "set");
    assert_at(&rig, "incidents/0/exception/type", "ArgumentException");
    assert_faults(&rig,
                  RIG_WORKFLOW("'variables':[" VARIABLE("v", "Double", "'Infinity'") "],",
                               RIG_SEQUENCE("S", RIG_WRITE("w", "never"))),
                  pawl__arena_printf(&rig.arena, "Variable 'v'%s", because));
    assert_lines(&rig, "");
    rig_release(&rig);
}

static void an_undefined_element_faults_and_the_instance_is_kept(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    assert_faults(&rig,
                  RIG_WORKFLOW("'variables':[" VARIABLE("v", "JsonElement", "null") "],",
                               RIG_SEQUENCE("S", SET("set", "v", "Object", "'no json'"))),
                  "Variable 'v' is an undefined JsonElement, which cannot be stored: give it a "
                  "value that is JSON.");
    rig_release(&rig);
}

static void exceptions_without_an_alias_are_stored_by_their_full_name(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", "{'id':'F','type':'Elsa.For','end':" RIG_INPUT(
                                        "Int32", "Literal",
                                        "99999999999") ",'body':" RIG_WRITE("w", "x") "}"));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "incidents/0/message", "Failed to evaluate activity input 'End'");
    assert_at(&rig, "incidents/0/exception/type",
              "UnregisteredClrType:Elsa.Workflows.Exceptions.InputEvaluationException, "
              "Elsa.Workflows.Core");
    assert_at(&rig, "incidents/0/exception/innerException/type",
              "UnregisteredClrType:System.OverflowException, System.Private.CoreLib");
    rig_release(&rig);
}

/* ---- damaged states ----------------------------------------------------------------------- */

static void damaged_states_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"[]", "instance state: expected an object"},
        {"{}", "instance state: the id is missing"},
        {"{'id':'i'}", "instance state: subStatus is missing or not a known name"},
        {"{'id':'i','subStatus':'Suspended','activityExecutionContexts':["
         "{'id':'c','scheduledActivityNodeId':'Workflow1'}]}",
         "instance state: an activity execution context has no known status"},
        {"{'id':'i','subStatus':'Suspended','activityExecutionContexts':["
         "{'id':'c','status':'Running','scheduledActivityNodeId':'Workflow1'},"
         "{'id':'c','status':'Running','scheduledActivityNodeId':'Workflow1:S'}]}",
         "instance state: two activity execution contexts have the same id"},
        {"{'id':'i','subStatus':'Executing','pawl':{'format':99}}",
         "instance state has format 99, this pawl knows 1: use a newer one"},
        {"{'id':'i','subStatus':'Executing','pawl':{'inProgress':true,'phase':2}}",
         "instance state: the burst in progress has no current activity"},
        {"{'id':'i','subStatus':'Executing','activityExecutionContexts':["
         "{'id':'c','status':'Running','scheduledActivityNodeId':'Workflow1'}],"
         "'pawl':{'inProgress':true,'phase':2,'current':'c','awaited':{'kind':0}}}",
         "instance state: the burst in progress awaits nothing that its activity could use"},
    };
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_WRITE("w", "x"))));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pawl_event event = {.kind = PAWL_EVENT_RUN};

        assert_code(rig_parse(&rig, pawl__str(rows[i].text), &rig.state), PAWL_OK);
        assert_true(rig_open(&rig, &event) < 0);
        assert_string_equal(rig.err.msg, rows[i].message);
    }
    rig_release(&rig);
}

static void odd_states_run(void **state)
{
    static const char *const rows[] = {
        /* Parents in a circle. */
        "{'id':'i','subStatus':'Suspended','activityExecutionContexts':["
        "{'id':'a','parentContextId':'b','status':'Running','scheduledActivityNodeId':'Workflow1'},"
        "{'id':'b','parentContextId':'a','status':'Running',"
        "'scheduledActivityNodeId':'Workflow1:S'}]}",
        /* Its own parent, properties of all wrong types. */
        "{'id':'i','subStatus':'Suspended','activityExecutionContexts':["
        "{'id':'a','parentContextId':'a','status':'Running','scheduledActivityNodeId':'Workflow1',"
        "'properties':{'Variables':[1]},'dynamicVariables':{},'tag':7,'faultCount':'many'}]}",
        /* Queued work of a context that is not there, and of an activity that is not there. */
        "{'id':'i','subStatus':'Suspended','scheduledActivities':["
        "{'activityNodeId':'Workflow1:S:w','ownerContextId':'gone'},{'activityNodeId':'gone'}]}",
        /* An ended parent of a live child; a bookmark of nobody. */
        "{'id':'i','subStatus':'Suspended','bookmarks':[{'id':'m','activityInstanceId':'z'}],"
        "'activityExecutionContexts':["
        "{'id':'a','parentContextId':'b','status':'Running',"
        "'scheduledActivityNodeId':'Workflow1:S:w'},"
        "{'id':'b','parentContextId':'c','status':'Completed',"
        "'scheduledActivityNodeId':'Workflow1:S'},"
        "{'id':'c','status':'Running','scheduledActivityNodeId':'Workflow1'}]}",
    };
    struct rig rig;

    (void)state;
    rig_init(&rig);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pawl_event event = {.kind = PAWL_EVENT_RESUME, .bookmark_id = pawl__str("m")};

        rig_load(&rig, RIG_WORKFLOW("'variables':[" VARIABLE("v", "String", "'x'") "],",
                                    RIG_SEQUENCE("S", RIG_WRITE("w", "x"))));
        assert_code(rig_parse(&rig, pawl__str(rows[i]), &rig.state), PAWL_OK);
        assert_ok(rig_open(&rig, &event), &rig.err);
        (void)rig_finish(&rig);
    }
    rig_release(&rig);
}

/* ---- the same bytes ----------------------------------------------------------------------- */

static const char everything[] = RIG_WORKFLOW(
    "'variables':[" VARIABLE("v", "Object", "null") "," VARIABLE("n", "Double", "'0.1'") "],",
    RIG_PARALLEL(
        "P",
        SET("set", "v", "Object", "{'a':[1,2.5,'x'],'b':{'c':null}}") "," RIG_SEQUENCE(
            "S",
            RIG_WRITE("w", "line") "," RIG_EVENT("e", "go") "," RIG_FAULT(
                "f", "no")) ","
                            "{'id':'F','type':'Elsa.For','start':" RIG_INPUT(
                                "Int32", "Literal",
                                "1") ",'end':" RIG_INPUT("Int32", "Literal",
                                                         "3") ",'body':" RIG_EVENT("b",
                                                                                   "loop") "}"));

/* Hashes the exported states of a whole life, and of a burst in progress. */
static void hash_life(struct rig *rig, char out[PAWL_SHA256_TEXT_SIZE])
{
    struct pawl_buf all;

    pawl__buf_init(&all, rig->alloc, (size_t)1 << 20);
    rig->seed = 7;
    rig_load(rig, everything);
    assert_ok(rig_open(rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig->err);
    assert_int_equal(rig_step(rig), PAWL_STEP_YIELD);
    pawl__json_write(&all, &rig->state, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(rig_finish(rig), PAWL_STEP_IDLE);
    pawl__json_write(&all, &rig->state, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(rig_resume(rig, "b"), PAWL_STEP_IDLE);
    pawl__json_write(&all, &rig->state, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(rig_resume(rig, "e"), PAWL_STEP_DONE);
    pawl__json_write(&all, &rig->state, PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(all.status, PAWL_OK);
    pawl__sha256_text(pawl__buf_peek(&all), PAWL_HEX_LOWER, out);
    pawl__buf_release(&all);
}

static void the_same_run_gives_the_same_bytes(void **state)
{
    /* The same with every compiler and sanitizer. It changes when the stored form does. */
    static const char known[] = "a144f215c65db6b2e7e7a501e43a9acff74203b277f4e128d54602ae0e647580";
    char first[PAWL_SHA256_TEXT_SIZE], second[PAWL_SHA256_TEXT_SIZE];
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = 5;
    hash_life(&rig, first);
    hash_life(&rig, second);
    assert_string_equal(first, second);
    assert_string_equal(first, known);
    rig_release(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_export_has_exactly_the_known_keys),
        cmocka_unit_test(keys_of_users_with_a_dollar_come_back),
        cmocka_unit_test(what_is_not_a_number_faults_and_the_instance_is_kept),
        cmocka_unit_test(an_undefined_element_faults_and_the_instance_is_kept),
        cmocka_unit_test(exceptions_without_an_alias_are_stored_by_their_full_name),
        cmocka_unit_test(damaged_states_are_refused_with_a_reason),
        cmocka_unit_test(odd_states_run),
        cmocka_unit_test(the_same_run_gives_the_same_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
