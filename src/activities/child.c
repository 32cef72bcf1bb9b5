/* SPDX-License-Identifier: Apache-2.0 */
/* DispatchWorkflow and ExecuteWorkflow: one other workflow, in an instance of its own. */
#include "activities/child.h"

#include "activities/children.h"
#include "activities/descriptor.h"
#include "base/stimuli.h"
#include "engine/builder.h"

#define RESUME "OnChildWorkflowCompletedAsync"

/* ---- the effect -------------------------------------------------------------------------- */

int pawl__child_merge(struct pawl_arena *arena, struct pawl_json *to, const struct pawl_json *from)
{
    return pawl__json_merge(arena, to, from, PAWL_JSON_MERGE_OVER);
}

static bool has_input(const struct pawl_context *context, const char *name)
{
    const struct pawl_activity *activity = context->node->activity;

    for (uint32_t i = 0; i < activity->input_count; i++) {
        if (strcmp(activity->inputs[i].name, name) == 0)
            return true;
    }
    return false;
}

int pawl__child_data(struct pawl_context *context, const struct pawl_child *child,
                     struct pawl_json *out)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_str parent = pawl__instance_id(context);
    struct pawl_json data = pawl__json_object();
    struct pawl_json input = pawl__json_object();
    struct pawl_json properties = pawl__json_object();

    b.status = pawl__child_merge(b.arena, &input, &child->input);
    pawl__build_text(&b, &input, "ParentInstanceId", parent);
    pawl__build_text(&b, &properties, "ParentInstanceId", parent);
    if (child->wait)
        pawl__build_bool(&b, &properties, "WaitForCompletion", true);
    if (has_input(context, "StartNewTrace") && pawl__input_true(context, "StartNewTrace"))
        pawl__build_bool(&b, &properties, "StartNewTrace", true);
    pawl__build_name(&b, &data, "mode", child->mode);
    pawl__build_text(&b, &data, "definitionId", pawl__input_str(context, "WorkflowDefinitionId"));
    pawl__build_text(&b, &data, "instanceId", child->instance_id);
    pawl__build_text(&b, &data, "correlationId", child->correlation_id);
    pawl__build(&b, &data, "input", input);
    pawl__build(&b, &data, "properties", properties);
    pawl__build_text(&b, &data, "parentInstanceId", parent);
    pawl__build_text(&b, &data, "schedulingActivityExecutionId", context->id);
    pawl__build_int(&b, &data, "callStackDepth", context->depth);
    pawl__build_bool(&b, &data, "waitForCompletion", child->wait);
    if (has_input(context, "ChannelName"))
        pawl__build_text(&b, &data, "channelName", pawl__input_str(context, "ChannelName"));
    *out = data;
    return b.status;
}

int pawl__child_find(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json data = pawl__json_object();

    pawl__build_name(&b, &data, "mode", "find");
    pawl__build_text(&b, &data, "definitionId", pawl__input_str(context, "WorkflowDefinitionId"));
    return b.status == PAWL_OK ? pawl__effect_await(context, PAWL_EFFECT_CHILD, data) : b.status;
}

int pawl__child_check(struct pawl_context *context, const struct pawl_json *result)
{
    const struct pawl_json *found = pawl__json_get_text(result, "found");
    struct pawl_str error = pawl__json_str(pawl__json_get_text(result, "error"));

    if (pawl__json_is(found, PAWL_JSON_BOOL) && !pawl__json_true(found))
        return pawl__raise(context, "Exception",
                           "No published version of workflow definition with ID %.*s found.",
                           PAWL_STR_ARG(pawl__input_str(context, "WorkflowDefinitionId")));
    if (error.len > 0)
        return pawl__raise(context, "Exception", "%.*s", PAWL_STR_ARG(error));
    return PAWL_OK;
}

/* ---- what both share --------------------------------------------------------------------- */

static int wait_for_child(struct pawl_context *context, struct pawl_str instance_id,
                          const char *payload_type)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {.callback = RESUME, .payload = pawl__json_object()};

    pawl__build_text(&b, &args.payload, PAWL_STIMULUS_CHILD_ID, instance_id);
    pawl__build_name(&b, &args.payload, PAWL_STIMULUS_TYPE, payload_type);
    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

/* The result is all that the resuming run got as input: the child's output, and what inputs of
 * this instance are kept. */
static int set_child_result(struct pawl_context *context)
{
    struct pawl_value result;
    int status =
        pawl__stored_value(pawl__context_arena(context), pawl__run_inputs(context), &result);

    return status == PAWL_OK ? pawl__output_set(context, "Result", result) : status;
}

static int child_completed(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    int status = set_child_result(context);

    (void)bookmark;
    if (status == PAWL_OK)
        status = pawl__complete(context, NULL);
    return status;
}

static const struct pawl_resume_callback resumes[] = {
    {RESUME, child_completed},
    {NULL, NULL},
};

static int new_child(struct pawl_context *context, const char *mode, struct pawl_child *child)
{
    *child = (struct pawl_child){
        .mode = mode,
        .instance_id = pawl__new_id(context),
        .correlation_id = pawl__input_str(context, "CorrelationId"),
        .input = pawl__input(context, "Input").json,
        .wait = pawl__input_true(context, "WaitForCompletion"),
    };
    return child->instance_id.len > 0 ? PAWL_OK : pawl__refused(pawl__context_arena(context));
}

/* ---- DispatchWorkflow -------------------------------------------------------------------- */

#define DEFINITION_INPUT                                                                           \
    {                                                                                              \
        .name = "WorkflowDefinitionId", .type = &pawl__type_string,                                \
        .display_name = "Workflow Definition", .description = "The workflow to start.",            \
        .ui_hint = "workflow-definition-picker", .flags = PAWL_INPUT_REQUIRED,                     \
    }
#define CORRELATION_INPUT                                                                          \
    {                                                                                              \
        .name = "CorrelationId", .type = &pawl__type_string, .display_name = "Correlation ID",     \
        .description = "The correlation id of the new instance.", .ui_hint = "singleline",         \
    }
#define INPUT_INPUT                                                                                \
    {                                                                                              \
        .name = "Input", .type = &pawl__type_object_dictionary,                                    \
        .description = "The input of the new instance.", .ui_hint = "dropdown",                    \
    }
#define WAIT_INPUT                                                                                 \
    {                                                                                              \
        .name = "WaitForCompletion", .type = &pawl__type_boolean,                                  \
        .display_name = "Wait for Completion",                                                     \
        .description = "Whether to go on only when the other workflow has ended.",                 \
        .ui_hint = "checkbox",                                                                     \
    }

static const struct pawl_input_descriptor dispatch_inputs[] = {
    DEFINITION_INPUT,
    CORRELATION_INPUT,
    INPUT_INPUT,
    WAIT_INPUT,
    {
        .name = "StartNewTrace",
        .type = &pawl__type_boolean,
        .description = "Whether the new instance begins a trace of its own.",
        .category = "Open Telemetry",
        .ui_hint = "checkbox",
    },
    {
        .name = "ChannelName",
        .type = &pawl__type_string,
        .display_name = "Channel",
        .description = "The queue that the start goes through.",
        .ui_hint = "dropdown",
        .options_json = "{\"dropdown\":{\"selectList\":{\"items\":["
                        "{\"text\":\"Default\",\"value\":\"\"}]}}}",
    },
};

static const struct pawl_output_descriptor dispatch_outputs[] = {
    {.name = "Result", .type = &pawl__type_object},
};

static int dispatch_found(struct pawl_context *context, const struct pawl_json *result)
{
    struct pawl_child child;
    struct pawl_json data;
    int status = pawl__child_check(context, result);

    if (status == PAWL_OK)
        status = new_child(context, "dispatch", &child);
    if (status == PAWL_OK)
        status = pawl__child_data(context, &child, &data);
    if (status == PAWL_OK)
        status = pawl__effect(context, PAWL_EFFECT_CHILD, data);
    if (status != PAWL_OK)
        return status;
    if (!child.wait)
        return pawl__complete(context, NULL);
    return wait_for_child(context, child.instance_id, PAWL_STIMULUS_DISPATCH_TYPE);
}

const struct pawl_activity pawl__activity_dispatch_workflow = {
    .type = PAWL_STIMULUS_DISPATCH,
    .version = 1,
    .category = "Composition",
    .description = "Has another workflow started, and waits for its end if wanted.",
    PAWL_INPUTS(dispatch_inputs),
    PAWL_OUTPUTS(dispatch_outputs),
    .execute = pawl__child_find,
    .effect_done = dispatch_found,
    .resumes = resumes,
};

/* ---- ExecuteWorkflow --------------------------------------------------------------------- */

static const struct pawl_type execute_result = {
    .kind = PAWL_TYPE_NAMED,
    .alias = "ExecuteWorkflowResult",
};

static const struct pawl_input_descriptor execute_inputs[] = {
    DEFINITION_INPUT,
    CORRELATION_INPUT,
    INPUT_INPUT,
    WAIT_INPUT,
};

static const struct pawl_output_descriptor execute_outputs[] = {
    {.name = "Result", .type = &execute_result},
};

static int execute_execute(struct pawl_context *context)
{
    struct pawl_child child;
    struct pawl_json data;
    int status = new_child(context, "execute", &child);

    if (status == PAWL_OK)
        status = pawl__child_data(context, &child, &data);
    return status == PAWL_OK ? pawl__effect_await(context, PAWL_EFFECT_CHILD, data) : status;
}

static int execute_ran(struct pawl_context *context, const struct pawl_json *result)
{
    struct pawl_str status_name = pawl__json_str(pawl__json_get_text(result, "status"));
    struct pawl_value value;
    int status = pawl__child_check(context, result);

    if (status != PAWL_OK)
        return status;
    if (pawl__input_true(context, "WaitForCompletion") && !pawl__str_is(status_name, "Finished"))
        return wait_for_child(context,
                              pawl__json_str(pawl__json_get_text(result, "workflowInstanceId")),
                              PAWL_STIMULUS_EXECUTE_TYPE);
    status = pawl__stored_value(pawl__context_arena(context), result, &value);
    if (status != PAWL_OK)
        return status;
    value.type = &execute_result;
    status = pawl__output_set(context, "Result", value);
    if (status == PAWL_OK)
        status = pawl__complete(context, NULL);
    return status;
}

/*
 * What is bound to the result is of its type, whose statuses are the first of their enums when
 * nothing says otherwise, as here: what resumes knows of the child's output only.
 */
static int bind_resumed(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_str reference = context->node->outputs[0].reference;
    struct pawl_value result;

    if (reference.len == 0)
        return PAWL_OK;
    b.status = pawl__stored_value(b.arena, pawl__run_inputs(context), &result);
    if (b.status != PAWL_OK)
        return b.status;
    result.type = &execute_result;
    b.status = pawl__json_copy(b.arena, &result.json, &result.json);
    if (!pawl__json_get_nocase(&result.json, pawl__str("status")))
        pawl__build_name(&b, &result.json, "status", "Running");
    if (!pawl__json_get_nocase(&result.json, pawl__str("subStatus")))
        pawl__build_name(&b, &result.json, "subStatus", "Pending");
    return b.status == PAWL_OK ? pawl__memory_set(context, reference, result) : b.status;
}

static int execute_completed(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    int status = set_child_result(context);

    (void)bookmark;
    if (status == PAWL_OK)
        status = bind_resumed(context);
    if (status == PAWL_OK)
        status = pawl__complete(context, NULL);
    return status;
}

static const struct pawl_resume_callback execute_resumes[] = {
    {RESUME, execute_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_execute_workflow = {
    .type = PAWL_STIMULUS_EXECUTE,
    .version = 1,
    .kind = PAWL_ACTIVITY_TASK,
    .category = "Composition",
    .description = "Runs another workflow, and waits for its end if wanted.",
    PAWL_INPUTS(execute_inputs),
    PAWL_OUTPUTS(execute_outputs),
    .execute = execute_execute,
    .effect_done = execute_ran,
    .resumes = execute_resumes,
};
