/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instance as JSON with Elsa's keys. What Elsa keeps only in memory while a burst runs goes into
 * members named "pawl", one of the instance and one of each context, which exports leave out.
 */
#include "engine/builder.h"
#include "engine/run/instance.h"

/* ---- parts in Elsa's form ---------------------------------------------------------------- */

int pawl__incident_json(const struct pawl_burst *burst, const struct pawl_incident *incident,
                        struct pawl_arena *arena, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json exception = pawl__json_null();

    (void)burst;
    if (incident->stored.type == PAWL_JSON_OBJECT) {
        *out = incident->stored;
        return PAWL_OK;
    }
    *out = pawl__json_object();
    pawl__build_text(&b, out, "activityId", incident->node->id);
    pawl__build_text(&b, out, "activityNodeId", incident->node->node_id);
    pawl__build_text(&b, out, "activityInstanceId", incident->activity_instance_id);
    pawl__build_text(&b, out, "activityType", incident->node->type);
    pawl__build(&b, out, "message", pawl__json_string(incident->message));
    if (b.status == PAWL_OK)
        b.status = pawl__exception_json(incident->exception, arena, &exception);
    pawl__build(&b, out, "exception", exception);
    pawl__build_time(&b, out, "timestamp", incident->timestamp);
    return b.status;
}

static struct pawl_json bookmark_json(struct pawl_builder *b, const struct pawl_bookmark *bookmark)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_text(b, &out, "id", bookmark->id);
    pawl__build_text(b, &out, "name", bookmark->name);
    pawl__build_text(b, &out, "hash", bookmark->hash);
    if (bookmark->payload.type != PAWL_JSON_NULL)
        pawl__build(b, &out, "payload", bookmark->payload);
    pawl__build_text(b, &out, "activityId", bookmark->activity_id);
    pawl__build_text(b, &out, "activityNodeId", bookmark->activity_node_id);
    pawl__build_text(b, &out, "activityInstanceId", bookmark->activity_instance_id);
    pawl__build_time(b, &out, "createdAt", bookmark->created_at);
    pawl__build_bool(b, &out, "autoBurn", bookmark->auto_burn);
    pawl__build_text(b, &out, "callbackMethodName", bookmark->callback);
    pawl__build_bool(b, &out, "autoComplete", bookmark->auto_complete);
    if (bookmark->metadata.type == PAWL_JSON_OBJECT)
        pawl__build(b, &out, "metadata", bookmark->metadata);
    return out;
}

static void build_stored(struct pawl_builder *b, struct pawl_json *object, const char *key,
                         struct pawl_value value)
{
    struct pawl_json stored;

    if (pawl__value_is_null(value) || b->status != PAWL_OK)
        return;
    b->status = pawl__value_write(b->arena, value, &stored);
    pawl__build(b, object, key, stored);
}

static struct pawl_json variable_json(struct pawl_builder *b, const struct pawl_variable *variable)
{
    struct pawl_conversion how = {.arena = b->arena};
    struct pawl_json out = pawl__json_object();
    struct pawl_exception raised;
    struct pawl_json text = pawl__json_null();
    struct pawl_buf buf;

    pawl__build_text(b, &out, "id", variable->id);
    pawl__build_text(b, &out, "name", variable->name);
    pawl__build_name(b, &out, "typeName", "Object");
    if (b->status != PAWL_OK || pawl__value_is_null(variable->initial))
        return out;
    pawl__buf_init(&buf, b->arena->alloc, (size_t)64 << 20);
    b->status = pawl__convert_to_text(&how, variable->initial, &buf, &raised);
    if (b->status == ENGINE_RAISED)
        b->status = PAWL_OK;
    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&buf), &text);
    pawl__buf_release(&buf);
    pawl__build(b, &out, "value", text);
    return out;
}

static struct pawl_json variables_json(struct pawl_builder *b,
                                       const struct pawl_variable *variables, uint32_t count)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < count; i++)
        pawl__build_append(b, &array, variable_json(b, &variables[i]));
    return array;
}

/* ---- what only a burst in progress needs -------------------------------------------------- */

static struct pawl_json typed_variables_json(struct pawl_builder *b,
                                             const struct pawl_variable *variables, uint32_t count)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < count; i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_text(b, &one, "name", variables[i].name);
        pawl__build_typed(b, &one, "value", variables[i].initial);
        pawl__build_append(b, &array, one);
    }
    return array;
}

static struct pawl_json blocks_json(struct pawl_builder *b, const struct pawl_context *context)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < context->block_count; i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build(b, &one, "id", pawl__json_string(context->blocks[i].id));
        if (context->blocks[i].variable)
            pawl__build_text(b, &one, "name", context->blocks[i].variable->name);
        pawl__build_typed(b, &one, "value", context->blocks[i].value);
        pawl__build_append(b, &array, one);
    }
    return array;
}

static struct pawl_json inputs_json(struct pawl_builder *b, const struct pawl_context *context)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < context->node->activity->input_count; i++)
        pawl__build_append(b, &array, pawl__typed_json(b, context->inputs[i]));
    return array;
}

static void build_object(struct pawl_builder *b, struct pawl_json *out, const char *key,
                         const struct pawl_json *object)
{
    if (pawl__json_len(object) > 0)
        pawl__build(b, out, key, *object);
}

static struct pawl_json context_section(struct pawl_builder *b, const struct pawl_context *context)
{
    struct pawl_json out = pawl__json_object();
    struct pawl_json exception;

    pawl__build_int(b, &out, "order", (int64_t)context->order);
    pawl__build_text(b, &out, "scheduledBy", context->scheduled_by);
    pawl__build_text(b, &out, "scheduledByActivity", context->scheduled_by_activity);
    pawl__build_text(b, &out, "scheduledByInstance", context->scheduled_by_instance);
    build_object(b, &out, "input", &context->input);
    build_object(b, &out, "journal", &context->journal);
    build_object(b, &out, "outputs", &context->outputs);
    if (context->log_modes_known)
        pawl__build(b, &out, "logExcluded", context->log_excluded);
    if (context->record_taken)
        build_object(b, &out, "recordProperties", &context->record_properties);
    if (context->made_bookmark)
        pawl__build_bool(b, &out, "madeBookmark", true);
    if (context->inputs)
        pawl__build(b, &out, "inputs", inputs_json(b, context));
    if (context->block_count > 0)
        pawl__build(b, &out, "blocks", blocks_json(b, context));
    if (context->dynamic_count > 0)
        pawl__build(b, &out, "dynamic",
                    typed_variables_json(b, context->dynamic, context->dynamic_count));
    pawl__build_typed(b, &out, "tag", context->tag);
    if (context->exception && b->status == PAWL_OK) {
        b->status = pawl__exception_json(context->exception, b->arena, &exception);
        pawl__build(b, &out, "exception", exception);
    }
    return out;
}

static struct pawl_json output_records_json(struct pawl_builder *b, const struct pawl_burst *burst)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < burst->outputs.count; i++) {
        const struct pawl_output_record *record = &burst->outputs.items[i];
        struct pawl_json one = pawl__json_object();

        /* Nobody below a container that is gone can ask for it. */
        if (record->container && !pawl__list_linked(&record->container->link))
            continue;
        pawl__build_text(b, &one, "nodeId", record->node->node_id);
        pawl__build_text(b, &one, "contextId", record->context_id);
        if (record->container)
            pawl__build_text(b, &one, "containerId", record->container->id);
        pawl__build_text(b, &one, "name", record->name);
        pawl__build_typed(b, &one, "value", record->value);
        pawl__build_append(b, &array, one);
    }
    return array;
}

static struct pawl_json outcomes_json(struct pawl_builder *b, const struct pawl_outcomes *outcomes)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < outcomes->count; i++)
        pawl__build_append(b, &array, pawl__json_string(outcomes->names[i]));
    return array;
}

static struct pawl_json awaited_json(struct pawl_builder *b, const struct pawl_effect *effect)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_int(b, &out, "kind", effect->kind);
    pawl__build_text(b, &out, "id", effect->id);
    pawl__build(b, &out, "data", effect->data);
    return out;
}

static struct pawl_json burst_section(struct pawl_builder *b, const struct pawl_burst *burst)
{
    /* A result that was fed but not delivered is not kept: the effect is requested again. */
    bool awaits = burst->phase == PAWL_PHASE_AWAIT || burst->phase == PAWL_PHASE_DELIVER;
    struct pawl_json out = pawl__json_object();

    pawl__build_int(b, &out, "format", PAWL_STATE_FORMAT);
    pawl__build_int(b, &out, "effectNumber", (int64_t)burst->effect_number);
    pawl__build_int(b, &out, "contextOrder", (int64_t)burst->context_order);
    if (!burst->in_progress)
        return out;
    pawl__build_bool(b, &out, "inProgress", true);
    pawl__build_int(b, &out, "phase", awaits ? PAWL_PHASE_AWAIT : burst->phase);
    if (burst->current)
        pawl__build_text(b, &out, "current", burst->current->id);
    if (burst->current_resumed)
        pawl__build_bool(b, &out, "currentResumed", true);
    if (burst->resumed)
        pawl__build(b, &out, "resumed", bookmark_json(b, burst->resumed));
    if (burst->resume_pending)
        pawl__build_bool(b, &out, "resumePending", true);
    if (burst->job)
        pawl__build_bool(b, &out, "job", true);
    if (burst->job_answered)
        pawl__build(b, &out, "jobResult", burst->fed);
    if (burst->composite_set)
        pawl__build(b, &out, "composite",
                    burst->composite_default ? pawl__json_null()
                                             : outcomes_json(b, &burst->composite));
    if (awaits)
        pawl__build(b, &out, "awaited", awaited_json(b, &burst->awaited));
    pawl__build_text(b, &out, "trigger", burst->trigger_activity_id);
    build_object(b, &out, "input", &burst->input);
    if (burst->outputs.count > 0)
        pawl__build(b, &out, "outputs", output_records_json(b, burst));
    pawl__build_typed(b, &out, "lastResult", burst->last_result);
    return out;
}

/* ---- the whole --------------------------------------------------------------------------- */

static struct pawl_json context_json(struct pawl_builder *b, const struct pawl_context *context,
                                     bool internal)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_text(b, &out, "id", context->id);
    pawl__build_int(b, &out, "callStackDepth", context->depth);
    if (context->parent) {
        pawl__build_text(b, &out, "parentContextId", context->parent->id);
        pawl__build_text(b, &out, "scheduledActivityNodeId", context->node->node_id);
        pawl__build_text(b, &out, "ownerActivityNodeId", context->parent->node->node_id);
    } else {
        pawl__build_text(b, &out, "scheduledActivityNodeId", context->node->node_id);
    }
    pawl__build(b, &out, "properties", context->properties);
    pawl__build(b, &out, "metadata", context->metadata);
    pawl__build(b, &out, "activityState", context->activity_state);
    pawl__build(b, &out, "dynamicVariables",
                variables_json(b, context->dynamic, context->dynamic_count));
    pawl__build_name(b, &out, "status", pawl__activity_status_name(context->status));
    pawl__build_bool(b, &out, "isExecuting", context->is_executing);
    pawl__build_int(b, &out, "faultCount", context->fault_count);
    pawl__build_time(b, &out, "startedAt", context->started_at);
    pawl__build_time(b, &out, "completedAt", context->completed_at);
    build_stored(b, &out, "tag", context->tag);
    if (internal)
        pawl__build(b, &out, "pawl", context_section(b, context));
    return out;
}

/* Newest first, as Elsa lists them. Ended ones only while a burst is in progress. */
static struct pawl_json contexts_json(struct pawl_builder *b, const struct pawl_burst *burst,
                                      bool internal)
{
    struct pawl_json array = pawl__json_array();
    bool everything = internal && burst->in_progress;

    for (struct pawl_list_link *link = burst->contexts.head.prev; link != &burst->contexts.head;
         link = link->prev) {
        const struct pawl_context *context = PAWL_CONTAINER(link, struct pawl_context, link);

        if (everything || !context->parent || !pawl__context_ended(context))
            pawl__build_append(b, &array, context_json(b, context, everything));
    }
    return array;
}

static struct pawl_json callbacks_json(struct pawl_builder *b, const struct pawl_burst *burst)
{
    const struct pawl_callback_entry *entry;
    struct pawl_json array = pawl__json_array();

    PAWL_LIST_FOR_EACH (entry, &burst->callbacks, link) {
        struct pawl_json one = pawl__json_object();

        pawl__build_text(b, &one, "ownerInstanceId", entry->owner->id);
        pawl__build_text(b, &one, "childNodeId", entry->child->node_id);
        pawl__build_name(b, &one, "methodName", entry->method);
        build_stored(b, &one, "tag", entry->tag);
        pawl__build_append(b, &array, one);
    }
    return array;
}

static struct pawl_json queue_json(struct pawl_builder *b, const struct pawl_burst *burst,
                                   bool internal)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = burst->queue_head; i < burst->queue.count; i++) {
        const struct pawl_work_item *item = &burst->queue.items[i];
        struct pawl_json one = pawl__json_object();
        struct pawl_json section = pawl__json_object();

        pawl__build_text(b, &one, "activityNodeId", item->node->node_id);
        if (item->owner)
            pawl__build_text(b, &one, "ownerContextId", item->owner->id);
        build_stored(b, &one, "tag", item->tag);
        pawl__build(b, &one, "variables", variables_json(b, item->variables, item->variable_count));
        if (item->existing)
            pawl__build_text(b, &one, "existingActivityExecutionContextId", item->existing->id);
        build_object(b, &one, "input", &item->input);
        if (internal) {
            pawl__build_text(b, &section, "scheduledBy", item->scheduled_by);
            pawl__build_text(b, &section, "scheduledByActivity", item->scheduled_by_activity);
            pawl__build_text(b, &section, "scheduledByInstance", item->scheduled_by_instance);
            pawl__build_int(b, &section, "depth", item->depth);
            pawl__build_typed(b, &section, "tag", item->tag);
            pawl__build(b, &section, "variables",
                        typed_variables_json(b, item->variables, item->variable_count));
            pawl__build(b, &one, "pawl", section);
        }
        pawl__build_append(b, &array, one);
    }
    return array;
}

static struct pawl_json bookmarks_json(struct pawl_builder *b, const struct pawl_burst *burst)
{
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < burst->bookmarks.count; i++)
        pawl__build_append(b, &array, bookmark_json(b, &burst->bookmarks.items[i]));
    return array;
}

static struct pawl_json incidents_json(struct pawl_builder *b, const struct pawl_burst *burst)
{
    struct pawl_json array = pawl__json_array();
    struct pawl_json one;

    for (uint32_t i = 0; i < burst->incidents.count && b->status == PAWL_OK; i++) {
        b->status = pawl__incident_json(burst, &burst->incidents.items[i], b->arena, &one);
        pawl__build_append(b, &array, one);
    }
    return array;
}

/* The run's inputs that the definition declares with a persistent driver. */
static struct pawl_json persistent_input(struct pawl_builder *b, const struct pawl_burst *burst)
{
    const struct pawl_workflow *workflow = burst->graph->workflow;
    struct pawl_json out = pawl__json_object();

    if (burst->sub_status == PAWL_SUB_PENDING)
        return burst->input;
    for (uint32_t i = 0; i < workflow->input_count; i++) {
        const struct pawl_argument *argument = &workflow->inputs[i];
        const struct pawl_json *value = pawl__json_get_nocase(&burst->input, argument->name);

        if (value &&
            (argument->storage == PAWL_STORAGE_INSTANCE ||
             argument->storage == PAWL_STORAGE_WORKFLOW) &&
            b->status == PAWL_OK)
            b->status = pawl__json_set(b->arena, &out, argument->name, *value);
    }
    return out;
}

static void build_head(struct pawl_builder *b, const struct pawl_burst *burst,
                       struct pawl_json *out)
{
    bool final = pawl__sub_status_is_final(burst->sub_status);

    pawl__build_text(b, out, "id", burst->id);
    pawl__build_text(b, out, "definitionId", burst->definition_id);
    pawl__build_text(b, out, "definitionVersionId", burst->definition_version_id);
    pawl__build_int(b, out, "definitionVersion", burst->definition_version);
    pawl__build_text(b, out, "parentWorkflowInstanceId", burst->parent_instance_id);
    pawl__build_text(b, out, "correlationId", burst->correlation_id);
    if (burst->name.ptr)
        pawl__build(b, out, "name", pawl__json_string(burst->name));
    pawl__build_name(b, out, "status", final ? "Finished" : "Running");
    pawl__build_name(b, out, "subStatus", pawl__sub_status_name(burst->sub_status));
    pawl__build_bool(b, out, "isExecuting", burst->is_executing);
}

int pawl__burst_state(struct pawl_burst *burst, struct pawl_arena *arena, bool internal,
                      struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena, .fresh = true};

    *out = pawl__json_object();
    build_head(&b, burst, out);
    pawl__build(&b, out, "bookmarks", bookmarks_json(&b, burst));
    pawl__build(&b, out, "incidents", incidents_json(&b, burst));
    pawl__build_bool(&b, out, "isSystem", burst->is_system);
    pawl__build(&b, out, "completionCallbacks", callbacks_json(&b, burst));
    pawl__build(&b, out, "activityExecutionContexts", contexts_json(&b, burst, internal));
    pawl__build(&b, out, "scheduledActivities", queue_json(&b, burst, internal));
    pawl__build_int(&b, out, "executionLogSequence", burst->log_sequence);
    pawl__build(&b, out, "input", persistent_input(&b, burst));
    pawl__build(&b, out, "output", burst->output);
    pawl__build(&b, out, "properties", burst->properties);
    pawl__build_time(&b, out, "createdAt", burst->created_at);
    pawl__build_time(&b, out, "updatedAt", burst->updated_at);
    pawl__build_time(&b, out, "finishedAt", burst->finished_at);
    if (internal)
        pawl__build(&b, out, "pawl", burst_section(&b, burst));
    return b.status;
}
