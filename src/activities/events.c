/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event waits for a named event, PublishEvent sends one. The effect of PublishEvent:
 *
 *     {"eventName": "…",         matches triggers and bookmarks Elsa.Event of that name
 *      "correlationId": "…",     only instances with it; absent: all
 *      "instanceId": "…",        only this instance (a local event); absent: all
 *      "payload": …}             stored form; absent: none
 *
 * It is delivered by starts and resumes with the input __EventPayloadWorkflowInput, which is an
 * empty object when there is no payload, as in Elsa. An Event that is resumed without that
 * input (by its bookmark's id) has null as its result.
 */
#include "activities/events.h"

#include "activities/children.h"
#include "activities/descriptor.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "engine/context.h"

/* ---- Event ------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor event_inputs[] = {
    {
        .name = "EventName",
        .type = &pawl__type_string,
        .description = "The event to wait for.",
        .ui_hint = "singleline",
    },
};

static const struct pawl_output_descriptor event_outputs[] = {
    {.name = "Result", .type = &pawl__type_object},
};

static int event_received(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    const struct pawl_json *payload = pawl__run_input(context, PAWL_STIMULUS_EVENT_INPUT);
    struct pawl_value result = pawl__value_null();
    int status = PAWL_OK;

    (void)bookmark;
    if (payload)
        status = pawl__stored_value(pawl__context_arena(context), payload, &result);
    if (status == PAWL_OK)
        status = pawl__output_set(context, "Result", result);
    if (status == PAWL_OK)
        status = pawl__complete(context, NULL);
    return status;
}

static int event_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {.name = PAWL_STIMULUS_EVENT,
                                      .callback = "CompleteInternalAsync"};

    if (pawl__is_trigger_of_run(context))
        return event_received(context, NULL);
    args.payload = pawl__event_stimulus(&b, pawl__input_str(context, "EventName"));
    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

static int event_triggers(struct pawl_context *context, struct pawl_json *payloads)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};

    pawl__build_append(&b, payloads,
                       pawl__event_stimulus(&b, pawl__input_str(context, "EventName")));
    return b.status;
}

static const struct pawl_resume_callback event_resumes[] = {
    {"CompleteInternalAsync", event_received},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_event = {
    .type = PAWL_STIMULUS_EVENT,
    .version = 1,
    .kind = PAWL_ACTIVITY_TRIGGER,
    .category = "Primitives",
    .description = "Waits for an event.",
    PAWL_INPUTS(event_inputs),
    PAWL_OUTPUTS(event_outputs),
    .execute = event_execute,
    .triggers = event_triggers,
    .trigger_name = PAWL_STIMULUS_EVENT,
    .resumes = event_resumes,
};

/* ---- PublishEvent ------------------------------------------------------------------------ */

static const struct pawl_input_descriptor publish_inputs[] = {
    {
        .name = "EventName",
        .type = &pawl__type_string,
        .description = "The event to send.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_REQUIRED,
    },
    {
        .name = "CorrelationId",
        .type = &pawl__type_string,
        .description = "Only instances with this correlation id get the event; all when empty.",
        .ui_hint = "singleline",
    },
    {
        .name = "IsLocalEvent",
        .type = &pawl__type_boolean,
        .display_name = "Local event",
        .description = "Whether only this very instance gets the event.",
        .ui_hint = "checkbox",
    },
    {
        .name = "Payload",
        .type = &pawl__type_object,
        .description = "What goes with the event.",
        .ui_hint = "singleline",
    },
};

static int publish_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json event = pawl__json_object();
    struct pawl_json payload = pawl__json_null();
    struct pawl_str correlation_id = pawl__input_str(context, "CorrelationId");

    b.status = pawl__value_write(b.arena, pawl__input(context, "Payload"), &payload);
    pawl__build(&b, &event, PAWL_STIMULUS_EVENT_NAME,
                pawl__json_string(pawl__input_str(context, "EventName")));
    if (pawl__str_trim(correlation_id).len > 0)
        pawl__build_text(&b, &event, "correlationId", correlation_id);
    if (pawl__input_true(context, "IsLocalEvent"))
        pawl__build_text(&b, &event, "instanceId", pawl__instance_id(context));
    if (!pawl__json_is(&payload, PAWL_JSON_NULL))
        pawl__build(&b, &event, "payload", payload);
    return b.status == PAWL_OK ? pawl__effect(context, PAWL_EFFECT_STIMULUS, event) : b.status;
}

const struct pawl_activity pawl__activity_publish_event = {
    .type = "Elsa.PublishEvent",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Primitives",
    .description = "Sends an event.",
    PAWL_INPUTS(publish_inputs),
    .execute = publish_execute,
};
