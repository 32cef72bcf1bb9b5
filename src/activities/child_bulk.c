/* SPDX-License-Identifier: Apache-2.0 */
/* BulkDispatchWorkflows: one instance of another workflow for each item of a list. */
#include "activities/child.h"
#include "activities/children.h"
#include "activities/descriptor.h"
#include "base/stimuli.h"
#include "engine/builder.h"

#define DISPATCHED "DispatchedInstancesCountKey"
#define FINISHED "CompletedInstancesCountKey"

static const struct pawl_input_descriptor inputs[] = {
    {
        .name = "WorkflowDefinitionId",
        .type = &pawl__type_string,
        .display_name = "Workflow Definition",
        .description = "The workflow to start for each item.",
        .ui_hint = "workflow-definition-picker",
        .flags = PAWL_INPUT_REQUIRED,
    },
    {
        .name = "Items",
        .type = &pawl__type_object,
        .description = "What to start instances for.",
        .ui_hint = "singleline",
    },
    {
        .name = "DefaultItemInputKey",
        .type = &pawl__type_string,
        .default_json = "\"Item\"",
        .description = "The input that gets the item, unless the item is an object with keys.",
        .ui_hint = "singleline",
    },
    {
        .name = "CorrelationIdFunction",
        .type = &pawl__type_string,
        .display_name = "Correlation ID Function",
        .description = "The correlation id of each new instance; it may use the item.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_NO_AUTO_EVALUATE,
    },
    {
        .name = "Input",
        .type = &pawl__type_object_dictionary,
        .description = "Further input for all instances.",
        .ui_hint = "dropdown",
    },
    {
        .name = "WaitForCompletion",
        .type = &pawl__type_boolean,
        .default_json = "true",
        .display_name = "Wait for Completion",
        .description = "Whether to go on only when all instances have ended.",
        .ui_hint = "checkbox",
    },
    {
        .name = "StartNewTrace",
        .type = &pawl__type_boolean,
        .default_json = "false",
        .description = "Whether each instance begins a trace of its own.",
        .category = "Open Telemetry",
        .ui_hint = "checkbox",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    {
        .name = "ChannelName",
        .type = &pawl__type_string,
        .display_name = "Channel",
        .description = "The queue that the starts go through.",
        .ui_hint = "dropdown",
        .options_json = "{\"dropdown\":{\"selectList\":{\"items\":["
                        "{\"text\":\"Default\",\"value\":\"\"}]}}}",
    },
};

static const struct pawl_port_descriptor ports[] = {
    {.name = "ChildCompleted"},          {.name = "ChildFaulted"},
    {.name = "Completed", .flow = true}, {.name = "Canceled", .flow = true},
    {.name = "Done", .flow = true},
};

/* The item's own keys when it has some, else the item under the agreed key; over Input. */
static int item_input(struct pawl_context *context, struct pawl_value item, struct pawl_json *out)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_value shared = pawl__input(context, "Input");
    struct pawl_json input = pawl__json_object();
    struct pawl_json stored;
    int status = pawl__child_merge(arena, &input, &shared.json);

    if (status == PAWL_OK && pawl__json_is(&item.json, PAWL_JSON_OBJECT)) {
        status = pawl__child_merge(arena, &input, &item.json);
    } else if (status == PAWL_OK) {
        status = pawl__value_write(arena, item, &stored);
        if (status == PAWL_OK)
            status = pawl__json_set(arena, &input, pawl__input_str(context, "DefaultItemInputKey"),
                                    stored);
    }
    *out = input;
    return status;
}

static int item_correlation(struct pawl_context *context, struct pawl_value item,
                            struct pawl_str *out)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_json arguments = pawl__json_object();
    struct pawl_value value = pawl__value_null();
    int status = pawl__json_set_text(arena, &arguments, "Item", item.json);

    if (status != PAWL_OK)
        return status;
    context->arguments = arguments;
    status = pawl__input_evaluate(context, "CorrelationIdFunction", &value);
    context->arguments = pawl__json_null();
    if (status == ENGINE_RAISED)
        return pawl__raise_around(context, "InputEvaluationException",
                                  "Failed to evaluate activity input 'CorrelationIdFunction'");
    *out = pawl__json_str(&value.json);
    return status;
}

static int dispatch_item(struct pawl_context *context, struct pawl_value item, bool wait)
{
    struct pawl_child child = {
        .mode = "dispatch", .instance_id = pawl__new_id(context), .wait = wait};
    struct pawl_json data;
    int status;

    if (child.instance_id.len == 0)
        return pawl__refused(pawl__context_arena(context));
    status = item_input(context, item, &child.input);
    if (status == PAWL_OK)
        status = item_correlation(context, item, &child.correlation_id);
    if (status == PAWL_OK)
        status = pawl__child_data(context, &child, &data);
    if (status == PAWL_OK)
        status = pawl__effect(context, PAWL_EFFECT_CHILD, data);
    return status;
}

/* One bookmark for all: it stays until the last of them has ended. */
static int wait_for_all(struct pawl_context *context, uint32_t count)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {
        .callback = "OnChildWorkflowCompletedAsync", .payload = pawl__json_object(), .keep = true};

    pawl__build_text(&b, &args.payload, PAWL_STIMULUS_PARENT_ID, pawl__instance_id(context));
    pawl__build_int(&b, &args.payload, "scheduledInstanceIdsCount", count);
    pawl__build_name(&b, &args.payload, PAWL_STIMULUS_TYPE, PAWL_STIMULUS_BULK_TYPE);
    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

static int found(struct pawl_context *context, const struct pawl_json *result)
{
    struct pawl_value items = pawl__input(context, "Items");
    uint32_t count = pawl__json_is(&items.json, PAWL_JSON_ARRAY) ? pawl__json_len(&items.json) : 0;
    bool wait = pawl__input_true(context, "WaitForCompletion");
    int status = pawl__child_check(context, result);

    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = dispatch_item(context, pawl__element(items, i), wait);
    if (status == PAWL_OK)
        status = pawl__property_set(context, DISPATCHED, pawl__json_int(count));
    if (status != PAWL_OK)
        return status;
    return wait && count > 0 ? wait_for_all(context, count) : pawl__complete_with(context, "Done");
}

/* ---- ends of children -------------------------------------------------------------------- */

static int complete_if_all_finished(struct pawl_context *context)
{
    static const struct pawl_str names[] = {PAWL_STR_LIT("Completed"), PAWL_STR_LIT("Done")};
    static const struct pawl_outcomes outcomes = {.names = names, .count = PAWL_COUNT(names)};

    if (pawl__property_int(context, FINISHED, 0) < pawl__property_int(context, DISPATCHED, 0))
        return PAWL_OK;
    return pawl__complete(context, &outcomes);
}

static int port_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    (void)completion;
    return complete_if_all_finished(context);
}

/* The port for the way in which a child ended; NULL when there is none. */
static const struct pawl_node *port_for(const struct pawl_context *context)
{
    struct pawl_str how = pawl__json_str(pawl__run_input(context, "WorkflowSubStatus"));

    if (pawl__str_is(how, "Faulted"))
        return pawl__port_child(context->node, "ChildFaulted");
    if (pawl__str_is(how, "Finished"))
        return pawl__port_child(context->node, "ChildCompleted");
    return NULL;
}

static int child_ended(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    struct pawl_str id = pawl__json_str(pawl__run_input(context, "WorkflowInstanceId"));
    struct pawl_schedule_variable variable = {.name = "ChildInstanceId",
                                              .value = pawl__value_string(id)};
    struct pawl_schedule schedule = {.node = port_for(context),
                                     .callback = "OnChildFinishedCompletedAsync",
                                     .variables = &variable,
                                     .variable_count = 1,
                                     .input = *pawl__run_inputs(context)};
    int64_t finished = pawl__property_int(context, FINISHED, 0) + 1;
    int status = pawl__property_set(context, FINISHED, pawl__json_int(finished));

    (void)bookmark;
    if (status != PAWL_OK)
        return status;
    return schedule.node ? pawl__schedule(context, &schedule) : complete_if_all_finished(context);
}

static const struct pawl_completion_callback completions[] = {
    {"OnChildFinishedCompletedAsync", port_completed},
    {NULL, NULL},
};

static const struct pawl_resume_callback resumes[] = {
    {"OnChildWorkflowCompletedAsync", child_ended},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_bulk_dispatch_workflows = {
    .type = PAWL_STIMULUS_BULK,
    .version = 1,
    .kind = PAWL_ACTIVITY_TASK,
    .category = "Composition",
    .description = "Has another workflow started for each item of a list.",
    PAWL_INPUTS(inputs),
    PAWL_PORTS(ports),
    .execute = pawl__child_find,
    .effect_done = found,
    .completions = completions,
    .resumes = resumes,
};
