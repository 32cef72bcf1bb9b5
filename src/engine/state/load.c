/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stored instance made ready to run: Elsa's form (with or without $id and $values), or our own
 * with the "pawl" members of a burst in progress.
 *
 * What no longer fits the definition is passed over, as Elsa does: contexts, callbacks and
 * queued work of activities that are gone; a context whose parent is gone becomes a root.
 */
#include "engine/builder.h"
#include "engine/run/instance.h"

#include "base/error.h"
#include "base/time/datetime.h"

struct loading {
    struct pawl_burst *burst;
    const struct pawl_json *state; /* copied, without references */
    struct pawl_map by_id;         /* -> struct pawl_context */
    struct pawl_error *err;
};

static int bad(struct loading *l, const char *what)
{
    return pawl__error_set(l->err, PAWL_EPARSE, "instance state: %s", what);
}

static struct pawl_context *context_with(const struct loading *l, struct pawl_str id)
{
    return id.len > 0 ? pawl__map_get(&l->by_id, id) : NULL;
}

/* ---- scalars ----------------------------------------------------------------------------- */

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(object, key));

    return text.len > 0 ? text : pawl__str("");
}

static int64_t int_of(const struct pawl_json *object, const char *key)
{
    int64_t value;

    return pawl__json_to_int(pawl__json_get_text(object, key), &value) ? value : 0;
}

static bool true_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_true(pawl__json_get_text(object, key));
}

/* Ticks in UTC; 0 when absent or no date. */
static int64_t time_of(const struct pawl_json *object, const char *key)
{
    struct pawl_datetime instant;
    struct pawl_str text = text_of(object, key);

    if (text.len == 0 || pawl__datetime_parse(text, &instant, NULL) != PAWL_OK)
        return 0;
    return pawl__datetime_utc_ticks(instant);
}

static struct pawl_json object_of(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_text(object, key);

    return pawl__json_is(value, PAWL_JSON_OBJECT) ? *value : pawl__json_object();
}

static const struct pawl_json *array_of(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_text(object, key);

    return pawl__json_is(value, PAWL_JSON_ARRAY) ? value : NULL;
}

static int sub_status_of(struct loading *l, enum pawl_sub_status *out)
{
    struct pawl_str name = text_of(l->state, "subStatus");

    for (int i = 0; i <= PAWL_SUB_INTERRUPTED; i++) {
        if (pawl__str_is(name, pawl__sub_status_name((enum pawl_sub_status)i))) {
            *out = (enum pawl_sub_status)i;
            return PAWL_OK;
        }
    }
    return bad(l, "subStatus is missing or not a known name");
}

static int activity_status_of(struct loading *l, const struct pawl_json *json,
                              enum pawl_activity_status *out)
{
    struct pawl_str name = text_of(json, "status");

    for (int i = 0; i <= PAWL_ACTIVITY_FAULTED; i++) {
        if (pawl__str_is(name, pawl__activity_status_name((enum pawl_activity_status)i))) {
            *out = (enum pawl_activity_status)i;
            return PAWL_OK;
        }
    }
    return bad(l, "an activity execution context has no known status");
}

static int stored_value(struct loading *l, const struct pawl_json *object, const char *key,
                        struct pawl_value *out)
{
    const struct pawl_json *json = pawl__json_get_text(object, key);

    *out = pawl__value_null();
    return json ? pawl__value_read(&l->burst->arena, json, out, l->err) : PAWL_OK;
}

static int typed_value(struct loading *l, const struct pawl_json *object, const char *key,
                       struct pawl_value *out)
{
    const struct pawl_json *json = pawl__json_get_text(object, key);
    int status = json ? pawl__typed_read(&l->burst->arena, json, out) : PAWL_OK;

    return status == PAWL_EPARSE ? bad(l, "a typed value of a burst in progress is damaged")
                                 : status;
}

/* ---- variables that came with a schedule ------------------------------------------------- */

static int load_variables(struct loading *l, const struct pawl_json *array,
                          const struct pawl_json *typed, struct pawl_variable **out,
                          uint32_t *count)
{
    const struct pawl_json *source = typed ? typed : array;
    int status = PAWL_OK;

    *count = pawl__json_len(source);
    *out = NULL;
    if (*count == 0)
        return PAWL_OK;
    *out = pawl__arena_alloc_array(&l->burst->arena, *count, sizeof **out);
    if (!*out)
        return pawl__arena_status(&l->burst->arena);
    for (uint32_t i = 0; i < *count && status == PAWL_OK; i++) {
        const struct pawl_json *one = pawl__json_at(source, i);
        struct pawl_value value = pawl__value_null();

        if (typed)
            status = typed_value(l, one, "value", &value);
        else if (pawl__json_get_text(one, "value"))
            value = pawl__value_from_json(*pawl__json_get_text(one, "value"));
        if (status == PAWL_OK)
            status = pawl__variable_make(&l->burst->arena, text_of(one, "name"), value, &(*out)[i]);
        if (status == PAWL_OK && text_of(one, "id").len > 0)
            (*out)[i].id = text_of(one, "id");
    }
    return status;
}

/* ---- contexts ---------------------------------------------------------------------------- */

/* The variable of a block: one in scope, or one of a loop beside it, known by its name only. */
static int block_variable(struct loading *l, struct pawl_context *context,
                          const struct pawl_json *json, const struct pawl_variable **out)
{
    struct pawl_str id = text_of(json, "id"), name = text_of(json, "name");
    struct pawl_variable *made;
    int status;

    *out = pawl__variable_with_id(context, id, NULL);
    if (*out || name.len == 0)
        return PAWL_OK;
    made = pawl__arena_alloc(&l->burst->arena, sizeof *made);
    if (!made)
        return pawl__arena_status(&l->burst->arena);
    status = pawl__variable_make(&l->burst->arena, name, pawl__value_null(), made);
    made->id = id;
    *out = made;
    return status;
}

static int load_blocks(struct loading *l, struct pawl_context *context,
                       const struct pawl_json *blocks)
{
    for (uint32_t i = 0; i < pawl__json_len(blocks); i++) {
        const struct pawl_json *one = pawl__json_at(blocks, i);
        struct pawl_str id = text_of(one, "id");
        const struct pawl_variable *variable = NULL;
        struct pawl_variable plain = {.id = id};
        struct pawl_value value = pawl__value_null();
        int status = typed_value(l, one, "value", &value);

        if (status == PAWL_OK)
            status = block_variable(l, context, one, &variable);
        if (status == PAWL_OK)
            status = pawl__memory_declare(context, variable ? variable : &plain, value);
        if (status != PAWL_OK)
            return status;
        if (!variable)
            pawl__memory_find(context, id, NULL)->variable = NULL;
    }
    return PAWL_OK;
}

static int load_inputs(struct loading *l, struct pawl_context *context,
                       const struct pawl_json *inputs)
{
    uint32_t count = context->node->activity->input_count;
    int status = PAWL_OK;

    if (!inputs)
        return PAWL_OK;
    context->inputs =
        pawl__arena_alloc_zeroed(&l->burst->arena, (count + 1u) * sizeof *context->inputs);
    if (!context->inputs)
        return pawl__arena_status(&l->burst->arena);
    for (uint32_t i = 0; i < count && i < pawl__json_len(inputs) && status == PAWL_OK; i++)
        status = pawl__typed_read(&l->burst->arena, pawl__json_at(inputs, i), &context->inputs[i]);
    return status == PAWL_EPARSE ? bad(l, "an evaluated input is damaged") : status;
}

static int load_exception(struct loading *l, const struct pawl_json *json,
                          const struct pawl_exception **out)
{
    struct pawl_exception *exception;
    int status = PAWL_OK;

    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return PAWL_OK;
    exception = pawl__arena_alloc_zeroed(&l->burst->arena, sizeof *exception);
    if (!exception)
        return pawl__arena_status(&l->burst->arena);
    exception->type = text_of(json, "type");
    exception->message = text_of(json, "message");
    status = load_exception(l, pawl__json_get_text(json, "innerException"), &exception->inner);
    *out = exception;
    return status;
}

/* The members that only a burst in progress has. */
static int load_context_section(struct loading *l, struct pawl_context *context,
                                const struct pawl_json *section)
{
    int status;

    context->order = (uint64_t)int_of(section, "order");
    context->scheduled_by = text_of(section, "scheduledBy");
    context->scheduled_by_activity = text_of(section, "scheduledByActivity");
    context->scheduled_by_instance = text_of(section, "scheduledByInstance");
    context->input = object_of(section, "input");
    context->journal = object_of(section, "journal");
    context->outputs = object_of(section, "outputs");
    context->log_modes_known = pawl__json_get_text(section, "logExcluded") != NULL;
    if (context->log_modes_known)
        context->log_excluded = *pawl__json_get_text(section, "logExcluded");
    context->record_properties = object_of(section, "recordProperties");
    context->record_taken = pawl__json_get_text(section, "recordProperties") != NULL;
    context->made_bookmark = true_of(section, "madeBookmark");
    context->tag = pawl__value_null();
    status = typed_value(l, section, "tag", &context->tag);
    if (status == PAWL_OK)
        status = load_inputs(l, context, array_of(section, "inputs"));
    if (status == PAWL_OK)
        status = load_exception(l, pawl__json_get_text(section, "exception"), &context->exception);
    return status;
}

static int load_context(struct loading *l, const struct pawl_json *json)
{
    const struct pawl_json *section = pawl__json_get_text(json, "pawl");
    const struct pawl_node *node =
        pawl__graph_node(l->burst->graph, text_of(json, "scheduledActivityNodeId"));
    struct pawl_context *context;
    int status;

    if (!node)
        return PAWL_OK;
    status = pawl__context_new(l->burst, node, NULL, &context);
    if (status != PAWL_OK)
        return status;
    context->id = text_of(json, "id");
    if (context->id.len == 0)
        return bad(l, "an activity execution context has no id");
    if (pawl__map_has(&l->by_id, context->id))
        return bad(l, "two activity execution contexts have the same id");
    status = pawl__map_put(&l->by_id, context->id, context);
    if (status != PAWL_OK)
        return status;
    context->depth = (uint32_t)int_of(json, "callStackDepth");
    context->properties = object_of(json, "properties");
    context->metadata = object_of(json, "metadata");
    context->activity_state = object_of(json, "activityState");
    context->is_executing = true_of(json, "isExecuting");
    context->fault_count = int_of(json, "faultCount");
    context->started_at = time_of(json, "startedAt");
    context->completed_at = time_of(json, "completedAt");
    status = activity_status_of(l, json, &context->status);
    if (status == PAWL_OK)
        status = stored_value(l, json, "tag", &context->tag);
    if (status == PAWL_OK)
        status = load_variables(l, array_of(json, "dynamicVariables"), array_of(section, "dynamic"),
                                &context->dynamic, &context->dynamic_count);
    if (status == PAWL_OK && section)
        status = load_context_section(l, context, section);
    return status;
}

/* A parent chain that closes on itself would never end a walk outward: it is cut. */
static bool makes_cycle(const struct pawl_context *context, const struct pawl_context *parent)
{
    return pawl__context_below(parent, context);
}

/*
 * States list the newest first, and that is the order in which Elsa has them after a
 * resume. A burst in progress keeps its order.
 */
static const struct pawl_json *nth_context(const struct loading *l, const struct pawl_json *array,
                                           uint32_t n)
{
    bool in_progress = true_of(pawl__json_get_text(l->state, "pawl"), "inProgress");

    return pawl__json_at(array, in_progress ? pawl__json_len(array) - 1 - n : n);
}

static void link_parents(struct loading *l, const struct pawl_json *array)
{
    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        const struct pawl_json *json = nth_context(l, array, i);
        struct pawl_context *context = context_with(l, text_of(json, "id"));
        struct pawl_context *parent = context_with(l, text_of(json, "parentContextId"));

        if (context && parent && !context->parent && !makes_cycle(context, parent))
            pawl__context_adopt(parent, context);
    }
}

static int load_contexts(struct loading *l)
{
    const struct pawl_json *array = array_of(l->state, "activityExecutionContexts");
    struct pawl_context *context;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(array) && status == PAWL_OK; i++)
        status = load_context(l, nth_context(l, array, i));
    if (status != PAWL_OK)
        return status;
    link_parents(l, array);
    PAWL_FOR_EACH_CONTEXT(context, l->burst)
    {
        pawl__context_review(context);
    }
    return PAWL_OK;
}

/* Variables: from the drivers at the start of a burst, as they were in the middle of one. */
static int load_memory(struct loading *l)
{
    const struct pawl_json *array = array_of(l->state, "activityExecutionContexts");
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(array) && status == PAWL_OK; i++) {
        const struct pawl_json *json = pawl__json_at(array, i);
        const struct pawl_json *section = pawl__json_get_text(json, "pawl");
        struct pawl_context *context = context_with(l, text_of(json, "id"));

        if (!context)
            continue;
        if (section)
            status = load_blocks(l, context, array_of(section, "blocks"));
        else if (!pawl__context_ended(context) || !context->parent)
            status = pawl__variables_load(context);
    }
    return status;
}

/* ---- bookmarks, callbacks, queue, incidents ---------------------------------------------- */

static void read_bookmark(const struct pawl_json *json, struct pawl_bookmark *out)
{
    const struct pawl_json *payload = pawl__json_get_text(json, "payload");

    *out = (struct pawl_bookmark){
        .id = text_of(json, "id"),
        .name = text_of(json, "name"),
        .hash = text_of(json, "hash"),
        .payload = payload ? *payload : pawl__json_null(),
        .activity_id = text_of(json, "activityId"),
        .activity_node_id = text_of(json, "activityNodeId"),
        .activity_instance_id = text_of(json, "activityInstanceId"),
        .created_at = time_of(json, "createdAt"),
        .auto_burn = true_of(json, "autoBurn"),
        .auto_complete = true_of(json, "autoComplete"),
        .callback = text_of(json, "callbackMethodName"),
    };
    if (pawl__json_is(pawl__json_get_text(json, "metadata"), PAWL_JSON_OBJECT))
        out->metadata = *pawl__json_get_text(json, "metadata");
}

static int load_bookmarks(struct loading *l)
{
    const struct pawl_json *array = array_of(l->state, "bookmarks");

    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        struct pawl_bookmark bookmark;
        int status;

        read_bookmark(pawl__json_at(array, i), &bookmark);
        bookmark.node = pawl__graph_node(l->burst->graph, bookmark.activity_node_id);
        bookmark.context = context_with(l, bookmark.activity_instance_id);
        status = pawl__bookmark_add(l->burst, &bookmark);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int load_callbacks(struct loading *l)
{
    const struct pawl_json *array = array_of(l->state, "completionCallbacks");
    struct pawl_burst *burst = l->burst;

    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        const struct pawl_json *json = pawl__json_at(array, i);
        struct pawl_context *owner = context_with(l, text_of(json, "ownerInstanceId"));
        const struct pawl_node *child =
            pawl__graph_node(burst->graph, text_of(json, "childNodeId"));
        struct pawl_value tag;
        int status;

        if (!owner || !child)
            continue;
        status = stored_value(l, json, "tag", &tag);
        if (status == PAWL_OK)
            status = pawl__callback_add(owner, child, text_of(json, "methodName").ptr, tag);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int load_queue(struct loading *l)
{
    const struct pawl_json *array = array_of(l->state, "scheduledActivities");
    struct pawl_burst *burst = l->burst;

    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        const struct pawl_json *json = pawl__json_at(array, i);
        const struct pawl_json *section = pawl__json_get_text(json, "pawl");
        struct pawl_work_item item = {
            .node = pawl__graph_node(burst->graph, text_of(json, "activityNodeId")),
            .owner = context_with(l, text_of(json, "ownerContextId")),
            .existing = context_with(l, text_of(json, "existingActivityExecutionContextId")),
            .input = object_of(json, "input"),
            .scheduled_by = text_of(section, "scheduledBy"),
            .scheduled_by_activity = text_of(section, "scheduledByActivity"),
            .scheduled_by_instance = text_of(section, "scheduledByInstance"),
            .depth = (uint32_t)int_of(section, "depth"),
        };
        int status;

        if (!item.node)
            continue;
        status = stored_value(l, json, "tag", &item.tag);
        if (status == PAWL_OK && section)
            status = typed_value(l, section, "tag", &item.tag);
        if (status == PAWL_OK)
            status = load_variables(l, array_of(json, "variables"), array_of(section, "variables"),
                                    &item.variables, &item.variable_count);
        if (status == PAWL_OK)
            status = pawl__queue_push(burst, &item);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int load_incidents(struct loading *l)
{
    const struct pawl_json *array = array_of(l->state, "incidents");
    struct pawl_burst *burst = l->burst;

    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        int status = VECTOR_GROW(burst, &burst->incidents);

        if (status != PAWL_OK)
            return status;
        if (pawl__json_is(pawl__json_at(array, i), PAWL_JSON_OBJECT))
            burst->incidents.items[burst->incidents.count++] =
                (struct pawl_incident){.stored = *pawl__json_at(array, i)};
    }
    return PAWL_OK;
}

/* ---- a burst in progress ----------------------------------------------------------------- */

static int load_outputs(struct loading *l, const struct pawl_json *array)
{
    struct pawl_burst *burst = l->burst;

    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        const struct pawl_json *json = pawl__json_at(array, i);
        struct pawl_output_record record = {
            .node = pawl__graph_node(burst->graph, text_of(json, "nodeId")),
            .context_id = text_of(json, "contextId"),
            .container = context_with(l, text_of(json, "containerId")),
            .name = text_of(json, "name"),
        };
        int status = typed_value(l, json, "value", &record.value);

        if (status == PAWL_OK && record.node)
            status = pawl__output_record_add(burst, &record);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int load_composite(struct loading *l, const struct pawl_json *section)
{
    const struct pawl_json *composite = pawl__json_get_text(section, "composite");
    struct pawl_str *names;

    if (!composite)
        return PAWL_OK;
    l->burst->composite_set = true;
    l->burst->composite_default = composite->type == PAWL_JSON_NULL;
    names =
        pawl__arena_alloc_array(&l->burst->arena, pawl__json_len(composite) + 1u, sizeof *names);
    if (!names)
        return pawl__arena_status(&l->burst->arena);
    for (uint32_t i = 0; i < pawl__json_len(composite); i++)
        names[i] = pawl__json_str(pawl__json_at(composite, i));
    l->burst->composite =
        (struct pawl_outcomes){.names = names, .count = pawl__json_len(composite)};
    return PAWL_OK;
}

static int load_resumed(struct loading *l, const struct pawl_json *section)
{
    const struct pawl_json *json = pawl__json_get_text(section, "resumed");
    struct pawl_bookmark *resumed;

    if (!json)
        return PAWL_OK;
    resumed = pawl__arena_alloc(&l->burst->arena, sizeof *resumed);
    if (!resumed)
        return pawl__arena_status(&l->burst->arena);
    read_bookmark(json, resumed);
    l->burst->resumed = resumed;
    l->burst->resume_pending = true_of(section, "resumePending");
    l->burst->job = true_of(section, "job");
    l->burst->job_answered = l->burst->job && pawl__json_get_text(section, "jobResult");
    if (l->burst->job_answered)
        l->burst->fed = *pawl__json_get_text(section, "jobResult");
    return PAWL_OK;
}

/* PAWL_EFFECT_REPLY + 1: none that is awaited. */
static enum pawl_effect_kind effect_kind_of(const struct pawl_json *json)
{
    int64_t kind = int_of(json, "kind");

    return (enum pawl_effect_kind)(kind >= 0 && kind <= PAWL_EFFECT_REPLY ? kind
                                                                          : PAWL_EFFECT_REPLY + 1);
}

static void load_awaited(struct loading *l, const struct pawl_json *section)
{
    const struct pawl_json *json = pawl__json_get_text(section, "awaited");
    const struct pawl_json *data = pawl__json_get_text(json, "data");

    l->burst->awaiting = json != NULL;
    l->burst->awaited = (struct pawl_effect){
        .kind = effect_kind_of(json),
        .id = text_of(json, "id"),
        .context_id = text_of(section, "current"),
        .data = data ? *data : pawl__json_null(),
    };
}

/* What is awaited and its waiter are consistent; a result is never stored undelivered. */
static bool awaits_well(const struct pawl_burst *burst)
{
    if (burst->phase != PAWL_PHASE_AWAIT)
        return burst->phase != PAWL_PHASE_DELIVER && !burst->awaiting;
    return burst->awaiting && burst->current->node->activity->effect_done != NULL &&
           burst->awaited.kind <= PAWL_EFFECT_REPLY;
}

bool pawl__state_is_newer(const struct pawl_json *state)
{
    return int_of(pawl__json_get_text(state, "pawl"), "format") > PAWL_STATE_FORMAT;
}

static int load_section(struct loading *l)
{
    const struct pawl_json *section = pawl__json_get_text(l->state, "pawl");
    struct pawl_burst *burst = l->burst;
    int64_t phase = int_of(section, "phase");
    int status;

    if (!section)
        return PAWL_OK;
    if (int_of(section, "format") > PAWL_STATE_FORMAT)
        return pawl__error_set(
            l->err, PAWL_EUNSUPPORTED,
            "instance state has format %lld, this pawl knows %d: use a newer one",
            (long long)int_of(section, "format"), PAWL_STATE_FORMAT);
    burst->effect_number = (uint64_t)int_of(section, "effectNumber");
    burst->context_order = (uint64_t)int_of(section, "contextOrder");
    burst->in_progress = true_of(section, "inProgress");
    if (!burst->in_progress)
        return PAWL_OK;
    burst->current = context_with(l, text_of(section, "current"));
    if (phase < 0 || phase > PAWL_PHASE_EXECUTED || (phase != PAWL_PHASE_NEXT && !burst->current))
        return bad(l, "the burst in progress has no current activity");
    burst->phase = (enum pawl_phase)phase;
    burst->current_resumed = true_of(section, "currentResumed");
    burst->trigger_activity_id = text_of(section, "trigger");
    burst->input = object_of(section, "input");
    load_awaited(l, section);
    if (!awaits_well(burst))
        return bad(l, "the burst in progress awaits nothing that its activity could use");
    status = load_resumed(l, section);
    if (status == PAWL_OK)
        status = load_composite(l, section);
    if (status == PAWL_OK)
        status = load_outputs(l, array_of(section, "outputs"));
    if (status == PAWL_OK)
        status = typed_value(l, section, "lastResult", &burst->last_result);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------- */

static int load_head(struct loading *l)
{
    struct pawl_burst *burst = l->burst;

    if (!pawl__json_is(l->state, PAWL_JSON_OBJECT))
        return bad(l, "expected an object");
    burst->id = text_of(l->state, "id");
    if (burst->id.len == 0)
        return bad(l, "the id is missing");
    burst->definition_id = text_of(l->state, "definitionId");
    burst->definition_version_id = text_of(l->state, "definitionVersionId");
    burst->definition_version = int_of(l->state, "definitionVersion");
    burst->parent_instance_id = text_of(l->state, "parentWorkflowInstanceId");
    burst->correlation_id = text_of(l->state, "correlationId");
    if (pawl__json_is(pawl__json_get_text(l->state, "name"), PAWL_JSON_STRING))
        burst->name = text_of(l->state, "name");
    burst->is_executing = true_of(l->state, "isExecuting");
    burst->is_system = true_of(l->state, "isSystem");
    burst->log_sequence = int_of(l->state, "executionLogSequence");
    burst->input = object_of(l->state, "input");
    burst->output = object_of(l->state, "output");
    burst->properties = object_of(l->state, "properties");
    burst->created_at = time_of(l->state, "createdAt");
    burst->updated_at = time_of(l->state, "updatedAt");
    burst->finished_at = time_of(l->state, "finishedAt");
    return sub_status_of(l, &burst->sub_status);
}

int pawl__state_load(struct pawl_burst *burst, const struct pawl_json *state,
                     struct pawl_error *err)
{
    struct loading l = {.burst = burst, .err = err};
    struct pawl_json *plain = pawl__arena_alloc(&burst->arena, sizeof *plain);
    int (*const parts[])(struct loading *) = {load_head,      load_contexts,  load_memory,
                                              load_bookmarks, load_callbacks, load_queue,
                                              load_incidents, load_section};
    int status;

    if (!plain)
        return pawl__arena_status(&burst->arena);
    /* Unreferencing shares what has no references, and the caller's state may go any time. */
    status = pawl__json_copy(&burst->arena, state, plain);
    if (status == PAWL_OK)
        status = pawl__json_unreference(&burst->arena, plain, plain, err);
    l.state = plain;
    pawl__map_init(&l.by_id, &burst->alloc, burst->engine->activities.seed);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == PAWL_OK; i++)
        status = parts[i](&l);
    pawl__map_release(&l.by_id);
    return status;
}
