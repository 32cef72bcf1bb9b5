/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RunTask requests a task from outside and waits for the result. Its effect:
 *
 *     {"taskId": "…", "taskName": "…", "payload": {…}}      payload absent: none
 *
 * The report resumes the bookmark with the input RunTaskInput.
 */
#include "activities/tasks.h"

#include "activities/children.h"
#include "activities/descriptor.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "engine/context.h"

static const struct pawl_input_descriptor inputs[] = {
    {
        .name = "TaskName",
        .type = &pawl__type_string,
        .description = "What is to be done.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_REQUIRED,
    },
    {
        .name = "Payload",
        .type = &pawl__type_object_dictionary,
        .description = "What is needed to do it.",
        .ui_hint = "dropdown",
    },
};

static const struct pawl_output_descriptor outputs[] = {
    {
        .name = "TaskId",
        .type = &pawl__type_string,
        .description = "The id by which the task is reported as done.",
    },
    {.name = "Result", .type = &pawl__type_object},
};

static int wait_for_task(struct pawl_context *context, struct pawl_str id, struct pawl_str name)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {.callback = "ResumeAsync",
                                      .payload = pawl__named_task_stimulus(&b, id, name)};

    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

static int request_task(struct pawl_context *context, struct pawl_str id, struct pawl_str name)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json request = pawl__json_object();
    struct pawl_value payload = pawl__input(context, "Payload");

    pawl__build_text(&b, &request, PAWL_STIMULUS_TASK_ID, id);
    pawl__build(&b, &request, PAWL_STIMULUS_TASK_NAME, pawl__json_string(name));
    if (!pawl__value_is_null(payload))
        pawl__build(&b, &request, "payload", payload.json);
    return b.status == PAWL_OK ? pawl__effect(context, PAWL_EFFECT_TASK, request) : b.status;
}

static int execute(struct pawl_context *context)
{
    struct pawl_str name = pawl__input_str(context, "TaskName");
    struct pawl_str id = pawl__new_id(context);
    int status;

    if (id.len == 0)
        return pawl__refused(pawl__context_arena(context));
    status = wait_for_task(context, id, name);
    if (status == PAWL_OK)
        status = pawl__output_set(context, "TaskId", pawl__value_string(id));
    if (status == PAWL_OK)
        status = request_task(context, id, name);
    return status;
}

static int task_done(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    const struct pawl_json *stored = pawl__run_input(context, PAWL_STIMULUS_TASK_INPUT);
    struct pawl_value result;
    int status;

    (void)bookmark;
    if (!stored)
        return pawl__raise(context, "KeyNotFoundException",
                           "The given key '" PAWL_STIMULUS_TASK_INPUT
                           "' was not present in the dictionary.");
    status = pawl__stored_value(pawl__context_arena(context), stored, &result);
    if (status == PAWL_OK)
        status = pawl__output_set(context, "Result", result);
    if (status == PAWL_OK)
        status = pawl__complete(context, NULL);
    return status;
}

static const struct pawl_resume_callback resumes[] = {
    {"ResumeAsync", task_done},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_run_task = {
    .type = PAWL_STIMULUS_TASK,
    .version = 1,
    .category = "Primitives",
    .description = "Asks for a task to be done and waits for its result.",
    PAWL_INPUTS(inputs),
    PAWL_OUTPUTS(outputs),
    .execute = execute,
    .resumes = resumes,
};
