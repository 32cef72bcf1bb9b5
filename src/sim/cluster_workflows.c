/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated cluster runs. Small, without JavaScript, and such that the stored state tells
 * what happened: each notes it in a variable that the checker reads from every commit.
 */
#include "sim/cluster_private.h"

#include "base/error.h"

#define INPUT(type, kind, value)                                                                   \
    "{'typeName':'" type "','expression':{'type':'" kind "','value':" value "}}"
#define TEXT(value) INPUT("String", "Literal", "'" value "'")
#define NUMBER(value) INPUT("Int32", "Literal", value)
#define TRUE INPUT("Boolean", "Literal", "true")
#define TRIGGER "'customProperties':{'canStartWorkflow':true},"
#define VARIABLE(id, name, type)                                                                   \
    "{'id':'" id "','name':'" name "','typeName':'" type                                           \
    "','storageDriverTypeName':'WorkflowInstanceStorageDriver'}"
#define NOTES                                                                                      \
    "'variables':[" VARIABLE("notes", "Notes", "String") "," VARIABLE("got", "Got", "Object") "],"
/* Adds to the notes. */
#define NOTE(id, liquid)                                                                           \
    "{'id':'" id "','type':'Elsa.SetVariable','variable':{'id':'notes','name':'Notes','typeName':" \
    "'String'},'value':" INPUT("Object", "Liquid", "'{{ Variables.Notes }}<" liquid ">'") "}"
#define EVENT(id, more, name)                                                                      \
    "{'id':'" id "','type':'Elsa.Event'," more                                                     \
    "'eventName':" TEXT(name) ",'result':{'typeName':'Object','memoryReference':{'id':'got'}}}"
#define DELAY(id, span)                                                                            \
    "{'id':'" id "','type':'Elsa.Delay','timeSpan':" INPUT("TimeSpan", "Literal", "'" span "'") "}"
#define WRITE(id, text) "{'id':'" id "','type':'Elsa.WriteLine','text':" TEXT(text) "}"
#define REQUEST(id)                                                                                \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.SendHttpRequest','url':" INPUT("Uri", "Literal", "'http://there/'") "}"
#define SET(id, value)                                                                             \
    "{'id':'" id "','type':'Elsa.SetVariable','variable':{'id':'got','name':'Got','typeName':"     \
    "'Object'},'value':" TEXT(value) "}"
#define CHILD(id, type, definition)                                                                \
    "{'id':'" id "','type':'" type "','waitForCompletion':" TRUE                                   \
    ",'workflowDefinitionId':" TEXT(definition) "}"
#define SEQUENCE(id, activities)                                                                   \
    "{'id':'" id "','type':'Elsa.Sequence','activities':[" activities "]}"
/* A timer falls due while the other branch awaits something, and must not be forgotten. */
#define BESIDE_TIMER(id, branch)                                                                   \
    "{'id':'" id "','type':'Elsa.Parallel','activities':[" branch                                  \
    "," DELAY(id "t", "00:00:00.05") "]}"
#define TIMES(id, count, body)                                                                     \
    "{'id':'" id "','type':'Elsa.For','start':" NUMBER("1") ",'end':" NUMBER(                      \
        count) ",'outerBoundInclusive':" TRUE ",'body':" body "}"
#define DEFINITION(id, more, activities)                                                           \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "'," more                   \
    "'root':" SEQUENCE("root", activities) "}"

static const struct {
    const char *id;
    const char *text;
    const char *notes;
} flows[FLOW_COUNT] = {
    [FLOW_COUNTER] = {"counter",
                      DEFINITION("counter", NOTES,
                                 TIMES("loop", "100000",
                                       SEQUENCE("body", EVENT("e", "", "Signal") "," NOTE(
                                                            "n", "{{ Variables.Got.key }}")))),
                      NULL},
    [FLOW_DELAY] = {"delay",
                    DEFINITION(
                        "delay", NOTES,
                        DELAY("d", "00:00:15") "," NOTE("n", "slept") "," DELAY("d2", "00:00:01")),
                    "<slept>"},
    /* The last pause shows the notes, which go with the end. */
    [FLOW_PARENT] =
        {"parent",
         DEFINITION("parent", NOTES,
                    TIMES("loop", "2",
                          SEQUENCE("body", CHILD("c", "Elsa.DispatchWorkflow", "child") "," NOTE(
                                               "n", "child"))) "," DELAY("d", "00:00:01")),
         "<child><child>"},
    [FLOW_CHILD] = {"child", DEFINITION("child", "", DELAY("d", "00:00:03")), NULL},
    [FLOW_INLINE] =
        {"inline",
         DEFINITION(
             "inline", NOTES,
             BESIDE_TIMER(
                 "p", TIMES("loop", "2",
                            SEQUENCE("body",
                                     CHILD("c", "Elsa.ExecuteWorkflow", "leaf") "," NOTE(
                                         "n", "leaf")))) "," DELAY("d", "00:00:01")),
         "<leaf><leaf>"},
    [FLOW_LEAF] = {"leaf", DEFINITION("leaf", "", WRITE("w", "leaf")), NULL},
    [FLOW_PUBLISHER] = {"publisher",
                        DEFINITION(
                            "publisher", "",
                            "{'id':'p','type':'Elsa.PublishEvent','eventName':" TEXT("Single") "}"),
                        NULL},
    [FLOW_SINGLE] = {"single",
                     DEFINITION("single",
                                NOTES "'options':{'activationStrategyType':'SingletonStrategy'},",
                                EVENT("e", TRIGGER, "Single") "," DELAY("d", "00:00:07")),
                     NULL},
    [FLOW_CRON] = {"cron",
                   DEFINITION("cron", "",
                              "{'id':'c','type':'Elsa.Cron'," TRIGGER
                              "'cronExpression':" TEXT("0 * * * * *") "}," WRITE("w", "tick")),
                   NULL},
    [FLOW_STEPS] =
        {"steps",
         DEFINITION(
             "steps", NOTES "'options':{'commitStrategyName':'ActivityExecuted'},",
             NOTE("a", "a") "," WRITE("w", "step") "," NOTE("b", "b") "," NOTE("c", "c") "," DELAY(
                 "d", "00:00:02") "," NOTE("z", "z") "," DELAY("d2", "00:00:01")),
         "<a><b><c><z>"},
    [FLOW_ONCE] = {"once",
                   DEFINITION("once", NOTES,
                              EVENT("e", "", "Signal") "," NOTE(
                                  "n", "{{ Variables.Got.key }}") "," DELAY("d", "00:01:10")),
                   NULL},
    [FLOW_BIRTH] = {"birth",
                    DEFINITION("birth", NOTES,
                               EVENT("e", TRIGGER, "Birth") "," NOTE(
                                   "n", "{{ Variables.Got.key }}") "," DELAY("d", "00:00:01")),
                    NULL},
    [FLOW_ORDER] = {"order",
                    DEFINITION("order", NOTES,
                               EVENT("e", "", "Order") "," NOTE(
                                   "n", "{{ Variables.Got.key }}") "," DELAY("d", "00:00:01")),
                    NULL},
    [FLOW_HTTP] = {"http",
                   DEFINITION(
                       "http", NOTES,
                       BESIDE_TIMER(
                           "p",
                           TIMES("loop", "2",
                                 SEQUENCE("body", REQUEST("r") "," NOTE(
                                                      "n", "answer")))) "," DELAY("d", "00:00:01")),
                   "<answer><answer>"},
    [FLOW_LOOP] = {"loop",
                   DEFINITION("loop", NOTES,
                              "{'id':'w','type':'Elsa.While','condition':" TRUE
                              ",'body':" SET("s", "round") "}"),
                   NULL},
};

const char *pawl__flow_id(enum flow flow)
{
    return flows[flow].id;
}

enum flow pawl__flow_by_id(struct pawl_str id)
{
    for (int flow = 0; flow < FLOW_COUNT; flow++) {
        if (pawl__str_is(id, flows[flow].id))
            return (enum flow)flow;
    }
    return FLOW_COUNT;
}

const char *pawl__flow_text(enum flow flow)
{
    return flows[flow].text;
}

const char *pawl__flow_notes(enum flow flow)
{
    return flows[flow].notes;
}

static int publish(struct pawl_runtime *runtime, struct pawl_env *env, struct pawl_arena *arena,
                   const char *text, struct pawl_error *err)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(runtime);
    int64_t deadline_ns = pawl_env_monotonic_ns(env) + 60 * SECOND_NS;
    size_t len = strlen(text);
    char *copy = pawl__arena_alloc(arena, len + 1);
    struct pawl_publication said;
    struct pawl_definition_row row;
    struct pawl_json definition;
    int status;

    if (!copy)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i <= len; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    status = pawl__json_parse(arena, pawl__str_make(copy, len), NULL, &definition, NULL, err);
    if (status == PAWL_OK)
        status = pawl__definitions_import(definitions, &definition, arena, &row, deadline_ns, err);
    if (status == PAWL_OK)
        status = pawl__definitions_publish(definitions, row.id, arena, &said, deadline_ns, err);
    if (status == PAWL_OK && !said.succeeded)
        status = pawl__error_set(err, PAWL_EINVAL, "a workflow of the simulation is not valid: %s",
                                 text);
    return status;
}

int pawl__flows_publish(struct pawl_runtime *runtime, struct pawl_env *env, struct pawl_error *err)
{
    struct pawl_arena arena;
    int status = PAWL_OK;

    for (int flow = 0; flow < FLOW_COUNT && status == PAWL_OK; flow++) {
        pawl__arena_init(&arena, &env->alloc, ARENA_BYTES_MAX);
        status = publish(runtime, env, &arena, flows[flow].text, err);
        pawl__arena_release(&arena);
    }
    return status;
}
