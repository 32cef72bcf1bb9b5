/* SPDX-License-Identifier: Apache-2.0 */
/* Log records and activity records as JSON with Elsa's keys. */
#include "engine/builder.h"
#include "engine/instance.h"

int pawl__log_record_json(const struct pawl_burst *burst, const struct pawl_log_record *record,
                          struct pawl_arena *arena, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};

    *out = pawl__json_object();
    pawl__build_text(&b, out, "id", record->id);
    pawl__build_text(&b, out, "workflowDefinitionId", burst->definition_id);
    pawl__build_text(&b, out, "workflowDefinitionVersionId", burst->definition_version_id);
    pawl__build_text(&b, out, "workflowInstanceId", burst->id);
    pawl__build_int(&b, out, "workflowVersion", burst->definition_version);
    pawl__build_text(&b, out, "activityInstanceId", record->activity_instance_id);
    pawl__build_text(&b, out, "parentActivityInstanceId", record->parent_activity_instance_id);
    pawl__build_text(&b, out, "activityId", record->activity_id);
    pawl__build_text(&b, out, "activityType", record->activity_type);
    pawl__build_int(&b, out, "activityTypeVersion", record->activity_version);
    pawl__build_text(&b, out, "activityName", record->activity_name);
    pawl__build_text(&b, out, "activityNodeId", record->activity_node_id);
    pawl__build_time(&b, out, "timestamp", record->timestamp);
    pawl__build_int(&b, out, "sequence", record->sequence);
    pawl__build_text(&b, out, "eventName", record->event);
    pawl__build_text(&b, out, "message", record->message);
    pawl__build_text(&b, out, "source", record->source);
    if (record->payload.type != PAWL_JSON_NULL)
        pawl__build(&b, out, "payload", record->payload);
    return b.status;
}

/* Every declared output is listed, those not set as null. */
static struct pawl_json outputs_json(struct pawl_builder *b, const struct pawl_context *context)
{
    const struct pawl_activity *activity = context->node->activity;
    struct pawl_json out = pawl__json_object();

    for (uint32_t i = 0; i < activity->output_count; i++) {
        struct pawl_str name = pawl__str(activity->outputs[i].name);
        const struct pawl_json *set = pawl__json_get(&context->outputs, name);

        if (pawl__log_is_excluded(context, "outputs", name))
            continue;
        pawl__build(b, &out, activity->outputs[i].name, set ? *set : pawl__json_null());
    }
    return out;
}

static struct pawl_json inputs_json(struct pawl_builder *b, const struct pawl_context *context)
{
    struct pawl_json out = pawl__json_object();

    if (pawl__json_is(&context->log_excluded, PAWL_JSON_NULL))
        return context->activity_state;
    for (uint32_t i = 0; i < pawl__json_len(&context->activity_state); i++) {
        const struct pawl_json_member *member = pawl__json_member(&context->activity_state, i);

        if (!pawl__log_is_excluded(context, "inputs", member->key) && b->status == PAWL_OK)
            b->status = pawl__json_set(b->arena, &out, member->key, member->value);
    }
    return out;
}

/* Journal and properties. */
static void build_internal(struct pawl_builder *b, struct pawl_json *out,
                           const struct pawl_context *context)
{
    if (pawl__log_is_excluded(context, "internal", pawl__str("")))
        return;
    pawl__build(b, out, "payload", context->journal);
    pawl__build(b, out, "properties",
                context->record_taken ? context->record_properties : context->properties);
}

int pawl__activity_record_json(const struct pawl_burst *burst, const struct pawl_context *context,
                               struct pawl_arena *arena, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};
    const struct pawl_node *node = context->node;
    struct pawl_json exception;

    *out = pawl__json_object();
    pawl__build_text(&b, out, "id", context->id);
    pawl__build_text(&b, out, "workflowInstanceId", burst->id);
    pawl__build_text(&b, out, "activityId", node->id);
    pawl__build_text(&b, out, "activityNodeId", node->node_id);
    pawl__build_text(&b, out, "activityType", node->type);
    pawl__build_int(&b, out, "activityTypeVersion", node->version);
    pawl__build_text(&b, out, "activityName", node->name);
    pawl__build(&b, out, "activityState", inputs_json(&b, context));
    pawl__build(&b, out, "outputs", outputs_json(&b, context));
    build_internal(&b, out, context);
    pawl__build(&b, out, "metadata", context->metadata);
    if (context->exception && b.status == PAWL_OK) {
        b.status = pawl__exception_json(context->exception, arena, &exception);
        pawl__build(&b, out, "exception", exception);
    }
    pawl__build_time(&b, out, "startedAt", context->started_at);
    pawl__build_bool(&b, out, "hasBookmarks", pawl__context_has_bookmark(context));
    pawl__build_name(&b, out, "status", pawl__activity_status_name(context->status));
    pawl__build_int(&b, out, "aggregateFaultCount", context->fault_count);
    pawl__build_time(&b, out, "completedAt", context->completed_at);
    pawl__build_text(&b, out, "schedulingActivityExecutionId", context->scheduled_by);
    pawl__build_text(&b, out, "schedulingActivityId", context->scheduled_by_activity);
    pawl__build_text(&b, out, "schedulingWorkflowInstanceId", context->scheduled_by_instance);
    pawl__build_int(&b, out, "callStackDepth", context->depth);
    return b.status;
}
