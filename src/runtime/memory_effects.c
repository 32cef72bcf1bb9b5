/* SPDX-License-Identifier: Apache-2.0 */
/* Effects: lines, events, tasks and children; what a child's end means to its parent. */
#include "runtime/memory_private.h"

#include "base/error.h"
#include "base/stimulus.h"
#include "engine/builder.h"

#define EVENT_INPUT "__EventPayloadWorkflowInput"

static struct pawl_json member(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_text(object, key);

    return value ? *value : pawl__json_null();
}

/* ---- events ------------------------------------------------------------------------------ */

int pawl__memory_push_event(struct pawl_memory *memory, const struct pawl_json *event)
{
    struct pawl_json payload = member(event, "payload");
    struct pawl_json name = pawl__json_object(), input = pawl__json_object();
    char hash[PAWL_SHA256_TEXT_SIZE];
    struct pawl_arena scratch;
    struct pawl_builder b = {.arena = &scratch};

    pawl__arena_init(&scratch, memory->alloc, MEMORY_BYTES_MAX);
    pawl__build(&b, &name, "eventName", member(event, "eventName"));
    pawl__build_name(&b, &name, "_type", "EventStimulus");
    if (pawl__json_is(&payload, PAWL_JSON_NULL))
        payload = pawl__json_object();
    pawl__build(&b, &input, EVENT_INPUT, payload);
    if (b.status == PAWL_OK)
        b.status =
            pawl__stimulus_hash(memory->alloc, pawl__str("Elsa.Event"), &name, pawl__str(""), hash);
    if (b.status == PAWL_OK)
        b.status = pawl__memory_push_stimulus(
            memory, &(struct pawl_memory_stimulus){
                        .hash = pawl__str(hash),
                        .correlation_id = memory_text(event, "correlationId"),
                        .instance_id = memory_text(event, "instanceId"),
                        .input = input,
                    });
    pawl__arena_release(&scratch);
    return b.status;
}

/* ---- children ---------------------------------------------------------------------------- */

bool pawl__memory_child_start(const struct pawl_memory *memory, const struct pawl_json *data,
                              struct pawl_memory_start *out)
{
    *out = (struct pawl_memory_start){
        .definition = pawl__memory_definition(memory, memory_text(data, "definitionId"),
                                              PAWL_MEMORY_PUBLISHED, 0),
        .instance_id = memory_text(data, "instanceId"),
        .correlation_id = memory_text(data, "correlationId"),
        .parent_instance_id = memory_text(data, "parentInstanceId"),
        .input = member(data, "input"),
        .properties = member(data, "properties"),
    };
    return out->definition != NULL;
}

int pawl__memory_child_result(const struct pawl_memory_instance *child, struct pawl_arena *arena,
                              struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};

    *out = pawl__json_object();
    pawl__build_text(&b, out, "workflowInstanceId", child->id);
    pawl__build(&b, out, "status", member(&child->state, "status"));
    pawl__build(&b, out, "subStatus", member(&child->state, "subStatus"));
    pawl__build(&b, out, "output", member(&child->state, "output"));
    return b.status;
}

/* Queues the resumption of the parent's bookmark of this name and payload, if it has one. */
static int resume_parent(struct pawl_memory *memory, struct pawl_memory_instance *parent,
                         const char *name, const struct pawl_json *payload,
                         const struct pawl_json *input)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(&parent->state, "bookmarks");
    char hash[PAWL_SHA256_TEXT_SIZE];
    int status = pawl__stimulus_hash(memory->alloc, pawl__str(name), payload, pawl__str(""), hash);

    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && status == PAWL_OK; i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__str_is(memory_text(bookmark, "hash"), hash))
            status =
                pawl__memory_push_resume(memory, parent, memory_text(bookmark, "id"), input, true);
    }
    return status;
}

static int notify(struct pawl_memory *memory, struct pawl_memory_instance *parent,
                  const struct pawl_memory_instance *child, struct pawl_builder *b)
{
    struct pawl_json output = member(&child->state, "output");
    struct pawl_json one = pawl__json_object(), all = pawl__json_object(),
                     told = pawl__json_object();

    pawl__build_text(b, &one, "childInstanceId", child->id);
    pawl__build_name(b, &one, "_type", "DispatchWorkflowStimulus");
    if (b->status == PAWL_OK)
        b->status = resume_parent(memory, parent, "Elsa.DispatchWorkflow", &one, &output);
    pawl__build_name(b, &one, "_type", "ExecuteWorkflowStimulus");
    if (b->status == PAWL_OK)
        b->status = resume_parent(memory, parent, "Elsa.ExecuteWorkflow", &one, &output);
    pawl__build_text(b, &all, "parentInstanceId", parent->id);
    pawl__build_name(b, &all, "_type", "BulkDispatchWorkflowsStimulus");
    pawl__build(b, &told, "WorkflowOutput", output);
    pawl__build_text(b, &told, "WorkflowInstanceId", child->id);
    pawl__build(b, &told, "WorkflowStatus", member(&child->state, "status"));
    pawl__build(b, &told, "WorkflowSubStatus", member(&child->state, "subStatus"));
    if (b->status == PAWL_OK)
        b->status = resume_parent(memory, parent, "Elsa.BulkDispatchWorkflows", &all, &told);
    return b->status;
}

/*
 * A dispatched child starts after the commit with the bookmark that waits for it, so a parent that
 * has no such bookmark now does not wait.
 */
int pawl__memory_notify_parent(struct pawl_memory *memory, const struct pawl_memory_instance *child)
{
    const struct pawl_json *properties = pawl__json_get_text(&child->state, "properties");
    struct pawl_memory_instance *parent;
    struct pawl_arena scratch;
    struct pawl_builder b = {.arena = &scratch};
    int status;

    if (!pawl__json_true(pawl__json_get_text(properties, "WaitForCompletion")))
        return PAWL_OK;
    parent = pawl__memory_instance(memory, memory_text(properties, "ParentInstanceId"));
    if (!parent || parent->is_final)
        return PAWL_OK;
    pawl__arena_init(&scratch, memory->alloc, MEMORY_BYTES_MAX);
    status = notify(memory, parent, child, &b);
    pawl__arena_release(&scratch);
    return status;
}

/* ---- performing -------------------------------------------------------------------------- */

static int write_line(struct pawl_memory *memory, struct pawl_str text)
{
    struct pawl_json line;
    int status;

    if (memory->hooks.line)
        memory->hooks.line(memory->hooks.ctx, text);
    if (!memory->keep)
        return PAWL_OK;
    status = pawl__json_string_copy(&memory->arena, text, &line);
    if (status == PAWL_OK)
        status = pawl__json_append(&memory->arena, &memory->lines, line);
    return status;
}

static int perform_one(struct pawl_memory *memory, const struct pawl_memory_run *run,
                       const struct pawl_effect *effect, struct pawl_error *err)
{
    struct pawl_memory_start start;

    switch (effect->kind) {
    case PAWL_EFFECT_CONSOLE:
        return write_line(memory, memory_text(&effect->data, "text"));
    case PAWL_EFFECT_STIMULUS:
        return pawl__memory_push_event(memory, &effect->data);
    case PAWL_EFFECT_CHILD:
        /* Deleted since it was found: as if it had been deleted just after it was started. */
        if (!pawl__memory_child_start(memory, &effect->data, &start))
            return PAWL_OK;
        return pawl__memory_push_start(memory, &start);
    case PAWL_EFFECT_TASK:
        if (memory->hooks.task)
            memory->hooks.task(memory->hooks.ctx, run->instance, &effect->data);
        return PAWL_OK;
    case PAWL_EFFECT_HTTP:
    case PAWL_EFFECT_REPLY:
    case PAWL_EFFECT_CALL:
        break;
    }
    return pawl__error_set(err, PAWL_EUNSUPPORTED,
                           "instance %.*s asks for an effect that only a server performs",
                           PAWL_STR_ARG(run->instance->id));
}

int pawl__memory_perform(struct pawl_memory *memory, const struct pawl_memory_run *run,
                         const struct pawl_batch *batch, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < batch->effect_count && status == PAWL_OK; i++)
        status = perform_one(memory, run, &batch->effects[i], err);
    if (status != PAWL_OK && status != PAWL_EUNSUPPORTED)
        (void)pawl__error_code(err, status);
    return status;
}
