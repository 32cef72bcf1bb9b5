/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' activity types; see vocabulary.h. */
#include "lib/vocabulary.h"

#include "activities/activities.h"
#include "expressions/expressions.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define INPUTS(array) .inputs = (array), .input_count = COUNT(array)
#define OUTPUTS(array) .outputs = (array), .output_count = COUNT(array)
#define PORTS(array) .ports = (array), .port_count = COUNT(array)

/* ---- types with places of their own ------------------------------------------------------ */

/* cases: [{label, condition, activity}] */
static int load_cases(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_json *cases = pawl__json_get_nocase(node->json, pawl__str("cases"));

    for (uint32_t i = 0; i < pawl__json_len(cases); i++) {
        const struct pawl_json *one = pawl__json_at(cases, i);
        const char *label = pawl__json_str(pawl__json_get_text(one, "label")).ptr;
        const char *place =
            pawl__arena_printf(pawl__loader_arena(loader), "%s/cases/%u", node->pointer.ptr, i);
        const char *condition = place ? pawl__loader_pointer(loader, place, "condition") : NULL;
        const char *activity = place ? pawl__loader_pointer(loader, place, "activity") : NULL;
        struct pawl_expression expression;
        struct pawl_node *child;
        int status;

        if (!condition || !activity)
            return pawl__loader_arena(loader)->status;
        status = pawl__loader_expression(loader, node, pawl__json_get_text(one, "condition"),
                                         condition, &expression);
        if (status == PAWL_OK)
            status = pawl__loader_child(loader, node, label ? label : "",
                                        pawl__json_get_text(one, "activity"), activity, &child);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int load_parts(struct pawl_loader *loader, struct pawl_node *node, const char *list,
                      const char *first, const char *second)
{
    const struct pawl_json *array = pawl__json_get_text(node->json, list);
    const char *const parts[] = {first, second};

    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        for (int p = 0; p < 2; p++) {
            const char *place = pawl__arena_printf(pawl__loader_arena(loader), "%s/%s/%u/%s",
                                                   node->pointer.ptr, list, i, parts[p]);
            const struct pawl_json *json = pawl__json_get_text(pawl__json_at(array, i), parts[p]);
            struct pawl_node *child;
            int status;

            if (!place)
                return pawl__loader_arena(loader)->status;
            status = pawl__loader_child(loader, node, parts[p], json, place, &child);
            if (status != PAWL_OK)
                return status;
        }
    }
    return PAWL_OK;
}

static int load_machine(struct pawl_loader *loader, struct pawl_node *node)
{
    int status = load_parts(loader, node, "states", "entry", "exit");

    return status == PAWL_OK ? load_parts(loader, node, "transitions", "trigger", "action")
                             : status;
}

static int load_codes(struct pawl_loader *loader, struct pawl_node *node)
{
    return load_parts(loader, node, "expectedStatusCodes", "activity", "none");
}

/* ---- descriptors ------------------------------------------------------------------------- */

static const struct pawl_port_descriptor root[] = {{.name = "Root", .hidden = true}};
static const struct pawl_port_descriptor activities[] = {{.name = "Activities", .many = true}};
static const struct pawl_port_descriptor branches[] = {{.name = "Branches", .many = true}};
static const struct pawl_port_descriptor body[] = {{.name = "Body"}};
static const struct pawl_port_descriptor then_else[] = {{.name = "Then"}, {.name = "Else"}};
static const struct pawl_port_descriptor otherwise[] = {{.name = "Default"}};
static const struct pawl_port_descriptor true_false[] = {{.name = "True", .flow = true},
                                                         {.name = "False", .flow = true}};
static const struct pawl_port_descriptor child_ports[] = {{.name = "ChildCompleted"},
                                                          {.name = "ChildFaulted"}};

static const struct pawl_input_descriptor text[] = {{.name = "Text", .type = &pawl__type_string}};
static const struct pawl_input_descriptor condition[] = {
    {.name = "Condition", .type = &pawl__type_boolean, .default_json = "false"}};
static const struct pawl_input_descriptor mode[] = {
    {.name = "Mode", .type = &pawl__type_flow_join_mode, .default_json = "\"WaitAny\""}};
static const struct pawl_input_descriptor event_name[] = {
    {.name = "EventName", .type = &pawl__type_string, .flags = PAWL_INPUT_REQUIRED}};
static const struct pawl_input_descriptor set_variable[] = {
    {.name = "Variable", .type = &pawl__type_object, .flags = PAWL_INPUT_NAKED},
    {.name = "Value", .type = &pawl__type_object}};
static const struct pawl_input_descriptor script[] = {
    {.name = "Script", .type = &pawl__type_string}};
static const struct pawl_output_descriptor result[] = {
    {.name = "Result", .type = &pawl__type_object}};
static const struct pawl_output_descriptor current_value[] = {
    {.name = "CurrentValue", .type = &pawl__type_object}};

static const struct pawl_activity types[] = {
    {.type = "Elsa.Workflow", .version = 1, .flags = PAWL_ACTIVITY_COMPOSITE, PORTS(root)},
    {.type = "Elsa.WorkflowDefinitionActivity", .version = 1, .flags = PAWL_ACTIVITY_COMPOSITE},
    {.type = "Elsa.NotFoundActivity", .version = 1},
    {.type = "Elsa.Sequence", .version = 1, .flags = PAWL_ACTIVITY_CONTAINER, PORTS(activities)},
    {.type = "Elsa.Flowchart", .version = 1, .flags = PAWL_ACTIVITY_CONTAINER, PORTS(activities)},
    {.type = "Elsa.Parallel", .version = 1, .flags = PAWL_ACTIVITY_CONTAINER, PORTS(activities)},
    {.type = "Elsa.Fork", .version = 1, PORTS(branches)},
    {.type = "Elsa.If", .version = 1, INPUTS(condition), OUTPUTS(result), PORTS(then_else)},
    {.type = "Elsa.While", .version = 1, INPUTS(condition), PORTS(body)},
    {.type = "Elsa.For", .version = 1, OUTPUTS(current_value), PORTS(body)},
    {.type = "Elsa.ForEach", .version = 1, OUTPUTS(current_value), PORTS(body)},
    {.type = "Elsa.ParallelForEach", .version = 1, PORTS(body)},
    {.type = "Elsa.FlowNode", .version = 1, PORTS(body)},
    {.type = "Elsa.Switch", .version = 1, PORTS(otherwise), .load = load_cases},
    {.type = "Elsa.StateMachine", .version = 1, .load = load_machine},
    {.type = "Elsa.SendHttpRequest", .version = 1, .load = load_codes},
    {.type = "Elsa.BulkDispatchWorkflows", .version = 1, PORTS(child_ports)},
    {.type = "Elsa.FlowDecision", .version = 1, INPUTS(condition), PORTS(true_false)},
    {.type = "Elsa.FlowJoin", .version = 1, INPUTS(mode)},
    {.type = "Elsa.WriteLine", .version = 1, INPUTS(text)},
    {.type = "Elsa.Event",
     .version = 1,
     .kind = PAWL_ACTIVITY_TRIGGER,
     INPUTS(event_name),
     OUTPUTS(result)},
    {.type = "Elsa.SetVariable", .version = 1, INPUTS(set_variable)},
    {.type = "Elsa.RunJavaScript", .version = 1, INPUTS(script), OUTPUTS(result)},
    {.type = "Elsa.Start", .version = 1, .flags = PAWL_ACTIVITY_START},
    {.type = "Elsa.End", .version = 1, .flags = PAWL_ACTIVITY_TERMINAL},
    {.type = "Elsa.Break", .version = 1, .flags = PAWL_ACTIVITY_TERMINAL},
};

static const struct pawl_expression_ops languages[] = {
    {.type = "Literal"}, {.type = "Object"},     {.type = "Json"},   {.type = "Variable"},
    {.type = "Input"},   {.type = "JavaScript"}, {.type = "Liquid"},
};

int vocabulary_init(struct pawl_engine *engine, const struct pawl_allocator *alloc)
{
    int status = PAWL_OK;

    pawl__engine_init(engine, alloc, (struct pawl_hash_seed){7, 11});
    for (size_t i = 0; i < COUNT(types) && status == PAWL_OK; i++)
        status = pawl__engine_add_activity(engine, &types[i]);
    for (size_t i = 0; i < COUNT(languages) && status == PAWL_OK; i++)
        status = pawl__engine_add_expression(engine, &languages[i]);
    return status;
}

int vocabulary_init_built_in(struct pawl_engine *engine, const struct pawl_allocator *alloc)
{
    int status;

    pawl__engine_init(engine, alloc, (struct pawl_hash_seed){7, 11});
    status = pawl__activities_register(engine);
    for (size_t i = 0; i < COUNT(languages) && status == PAWL_OK; i++)
        status = pawl__engine_add_expression(engine, &languages[i]);
    return status == PAWL_OK ? pawl__expressions_register(engine) : status;
}
