/* SPDX-License-Identifier: Apache-2.0 */
/* Log records and activity records: taken from a burst, and as JSON with Elsa's keys. */
#include "engine/builder.h"
#include "engine/run/instance.h"
#include "engine/state/page.h"

struct pawl_record_owner pawl__record_owner(const struct pawl_burst *burst)
{
    return (struct pawl_record_owner){burst->definition_id, burst->definition_version_id, burst->id,
                                      burst->definition_version};
}

int pawl__log_record_json(const struct pawl_record_owner *owner,
                          const struct pawl_log_record *record, struct pawl_arena *arena,
                          struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};

    *out = pawl__json_object();
    pawl__build_text(&b, out, "id", record->id);
    pawl__build_text(&b, out, "workflowDefinitionId", owner->definition_id);
    pawl__build_text(&b, out, "workflowDefinitionVersionId", owner->version_id);
    pawl__build_text(&b, out, "workflowInstanceId", owner->instance_id);
    pawl__build_int(&b, out, "workflowVersion", owner->version);
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

int pawl__activity_record_take(const struct pawl_context *context, struct pawl_arena *arena,
                               struct pawl_activity_record *out)
{
    struct pawl_builder b = {.arena = arena};
    const struct pawl_node *node = context->node;

    *out = (struct pawl_activity_record){
        .id = context->id,
        .activity_id = node->id,
        .activity_type = node->type,
        .activity_name = node->name,
        .activity_node_id = node->node_id,
        .activity_version = node->version,
        .state = inputs_json(&b, context),
        .outputs = outputs_json(&b, context),
        .metadata = context->metadata,
        .has_internal = !pawl__log_is_excluded(context, "internal", pawl__str("")),
        .payload = context->journal,
        .properties = context->record_taken ? context->record_properties : context->properties,
        .has_exception = context->exception != NULL,
        .has_bookmarks = pawl__context_has_bookmark(context),
        .status = pawl__str(pawl__activity_status_name(context->status)),
        .started_at = context->started_at,
        .completed_at = context->completed_at,
        .fault_count = context->fault_count,
        .depth = context->depth,
        .scheduled_by = context->scheduled_by,
        .scheduled_by_activity = context->scheduled_by_activity,
        .scheduled_by_instance = context->scheduled_by_instance,
    };
    if (context->exception && b.status == PAWL_OK)
        b.status = pawl__exception_json(context->exception, arena, &out->exception);
    return b.status;
}

int pawl__activity_record_json(const struct pawl_record_owner *owner,
                               const struct pawl_activity_record *record, struct pawl_arena *arena,
                               struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};

    *out = pawl__json_object();
    pawl__build_text(&b, out, "id", record->id);
    pawl__build_text(&b, out, "workflowInstanceId", owner->instance_id);
    pawl__build_text(&b, out, "activityId", record->activity_id);
    pawl__build_text(&b, out, "activityNodeId", record->activity_node_id);
    pawl__build_text(&b, out, "activityType", record->activity_type);
    pawl__build_int(&b, out, "activityTypeVersion", record->activity_version);
    pawl__build_text(&b, out, "activityName", record->activity_name);
    pawl__build(&b, out, "activityState", record->state);
    pawl__build(&b, out, "outputs", record->outputs);
    if (record->has_internal) {
        pawl__build(&b, out, "payload", record->payload);
        pawl__build(&b, out, "properties", record->properties);
    }
    pawl__build(&b, out, "metadata", record->metadata);
    if (record->has_exception)
        pawl__build(&b, out, "exception", record->exception);
    pawl__build_time(&b, out, "startedAt", record->started_at);
    pawl__build_bool(&b, out, "hasBookmarks", record->has_bookmarks);
    pawl__build_text(&b, out, "status", record->status);
    pawl__build_int(&b, out, "aggregateFaultCount", record->fault_count);
    pawl__build_time(&b, out, "completedAt", record->completed_at);
    pawl__build_text(&b, out, "schedulingActivityExecutionId", record->scheduled_by);
    pawl__build_text(&b, out, "schedulingActivityId", record->scheduled_by_activity);
    pawl__build_text(&b, out, "schedulingWorkflowInstanceId", record->scheduled_by_instance);
    pawl__build_int(&b, out, "callStackDepth", record->depth);
    return b.status;
}
