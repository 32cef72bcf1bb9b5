/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage for scripts: a workflow with a few variables and inputs, stopped inside one activity,
 * from which a test evaluates what it likes. One stage per thread; they may share the language.
 */
#ifndef PAWL_TESTS_UNIT_EXPRESSIONS_STAGE_H
#define PAWL_TESTS_UNIT_EXPRESSIONS_STAGE_H

#include "engine/run/instance.h"
#include "expressions/javascript/javascript.h"
#include "lib/rig.h"

#include <stdio.h>

struct stage {
    struct rig rig;
    void (*play)(struct stage *stage);
    struct pawl_context *context; /* while the play is on */
    void *arg;
};

static inline int stage_execute(struct pawl_context *context)
{
    const struct pawl_engine *engine = pawl__context_engine(context);
    struct stage *stage = (struct stage *)((uintptr_t)engine - offsetof(struct stage, rig.engine));

    stage->context = context;
    stage->play(stage);
    context->burst->exception = NULL;
    return pawl__complete(context, NULL);
}

static const struct pawl_activity stage_activity = {
    .type = "Test.Stage",
    .version = 1,
    .execute = stage_execute,
};

#define STAGE_VARIABLE(name, type, value)                                                          \
    "{'id':'v-" name "','name':'" name "','typeName':'" type "','value':" value "}"

static const char stage_definition[] = RIG_WORKFLOW(
    "'toolVersion':'3.6.0.0','inputs':[{'name':'Who','type':'String'},{'name':'Qty','type':'"
    "Int32'}"
    "],'variables':[" STAGE_VARIABLE("N", "Int32", "1") "," STAGE_VARIABLE("Doc", "JsonObject", "'{\\u0022a\\u0022:{\\u0022b\\u0022:[1,{\\u0022c\\u0022:[]}]},\\u0022d\\u0022:{}}'") "," STAGE_VARIABLE(
        "Name", "String",
        "'abc'") "," STAGE_VARIABLE("Obj", "Object",
                                    "null") "," STAGE_VARIABLE("When", "DateTime",
                                                               "'2024-02-29T12:00:"
                                                               "00Z'") "," STAGE_VARIABLE("Data",
                                                                                          "ByteArra"
                                                                                          "y",
                                                                                          "'SGVsbG8"
                                                                                          "='") "," STAGE_VARIABLE("Words",
                                                                                                                   "List<String>",
                                                                                                                   "'[\\u0022a\\u0022,\\u0022b\\u0022]'") "],",
    RIG_SEQUENCE("q", "{'id':'stage','type':'Test.Stage','name':'Stage'}"));

/* Runs `play` inside the activity. `js` is borrowed. */
static inline void stage_run(struct stage *stage, struct pawl_javascript *js,
                             void (*play)(struct stage *stage))
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .instance_id = {"i1", 2}};

    rig_init(&stage->rig);
    assert_code(pawl__engine_add_activity(&stage->rig.engine, &stage_activity), PAWL_OK);
    assert_code(pawl__javascript_register(&stage->rig.engine, js), PAWL_OK);
    stage->play = play;
    rig_load(&stage->rig, stage_definition);
    assert_code(rig_parse(&stage->rig, pawl__str("{'Who':'Bob','Qty':3}"), &event.input), PAWL_OK);
    assert_code(rig_open(&stage->rig, &event), PAWL_OK);
    (void)rig_finish(&stage->rig);
    assert_non_null(stage->context);
    rig_release(&stage->rig);
}

/* What a script answers, as JSON, or "Type: message" of what it raised. In the burst's arena. */
static inline const char *stage_evaluate(struct stage *stage, const char *source)
{
    struct pawl_arena *arena = pawl__context_arena(stage->context);
    struct pawl_javascript_run run = {.source = pawl__str(source), .takes_outcomes = true};
    const struct pawl_exception *raised;
    const char *shown;
    struct pawl_buf text;
    int status = pawl__javascript_run(stage->context, &run);

    if (status == ENGINE_RAISED) {
        raised = stage->context->burst->exception;
        shown = pawl__arena_printf(arena, "%.*s: %.*s", PAWL_STR_ARG(raised->type),
                                   PAWL_STR_ARG(raised->message));
    } else {
        assert_code(status, PAWL_OK);
        pawl__buf_init(&text, arena->alloc, (size_t)1 << 30);
        pawl__json_write(&text, &run.result.json, PAWL_JSON_ESCAPE_MINIMAL);
        shown = pawl__arena_str(arena, pawl__str(pawl__buf_cstr(&text))).ptr;
        pawl__buf_release(&text);
    }
    assert_non_null(shown);
    return shown;
}

#define assert_evaluates(stage, source, expected)                                                  \
    assert_string_equal(stage_evaluate((stage), (source)), (expected))

#endif
