/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity objects: which type is meant, the keys that all have, and the activities in their
 * ports. Recursive, one level per nested activity, bounded by the limits' depth_max.
 */
#include "engine/load/loader.h"

/* What the object's type turned out to be. */
struct meaning {
    const struct pawl_activity *activity;
    struct loader_source *source; /* a workflow used as an activity; else NULL */
    const struct pawl_json *json; /* what to read: of a placeholder, the activity it kept */
    struct pawl_str type;         /* unknown types: as written */
    bool missing;
};

/* ---- nodes ------------------------------------------------------------------------------- */

int pawl__loader_node(struct pawl_loader *loader, struct pawl_node *parent, struct pawl_str port,
                      const struct pawl_activity *activity, const struct pawl_json *json,
                      const char *pointer, struct pawl_node **out)
{
    struct pawl_node *node;

    if (loader->node_count >= loader->limits->nodes_max)
        return pawl__error_set(
            loader->err, PAWL_ELIMIT,
            "%s: the workflow has more than %u activities; split it into several", pointer,
            loader->limits->nodes_max);
    node = pawl__arena_alloc_zeroed(loader->arena, sizeof *node);
    if (!node)
        return loader_memory(loader);
    node->activity = activity;
    node->type = pawl__str(activity->type);
    node->version = activity->version;
    node->json = json;
    node->pointer = pawl__str(pointer);
    node->parent = parent;
    node->port = port;
    node->id = node->name = node->node_id = pawl__str("");
    node->commit_strategy = node->merge_mode = node->source = pawl__str("");
    loader->node_count++;
    *out = node;
    return PAWL_OK;
}

int pawl__loader_attach(struct pawl_loader *loader, struct pawl_node *child)
{
    struct pawl_node *parent = child->parent;
    uint32_t count = parent->child_count;

    /* The room is the next power of two, so that no count of it needs to be kept. */
    if ((count & (count - 1)) == 0) {
        struct pawl_node **grown = pawl__arena_alloc_array(
            loader->arena, count ? (size_t)count * 2 : 1, sizeof(struct pawl_node *));

        if (!grown)
            return loader_memory(loader);
        if (count > 0)
            memcpy(grown, parent->children, count * sizeof(struct pawl_node *));
        parent->children = grown;
    }
    parent->children[parent->child_count++] = child;
    return PAWL_OK;
}

/* ---- types ------------------------------------------------------------------------------- */

/*
 * Type and version, then the type alone; a known version id overrides both; the definition id is
 * the last resort. Our registry keeps the highest version of a type only.
 */
static int find_type(struct pawl_loader *loader, const struct pawl_json *json, const char *pointer,
                     struct meaning *meaning)
{
    const struct pawl_json *version_id = pawl__loader_get(json, "workflowDefinitionVersionId");
    struct pawl_workflow_reference reference = {
        .type = meaning->type,
        .version_id = pawl__json_str(version_id),
        .definition_id = pawl__json_str(pawl__loader_get(json, "workflowDefinitionId")),
    };
    int64_t version = 0;
    int status = PAWL_OK;

    if (pawl__json_to_int(pawl__loader_get(json, "version"), &version) && version > 0 &&
        version <= UINT32_MAX)
        reference.version = (uint32_t)version;
    meaning->activity = pawl__engine_activity(loader->engine, meaning->type);
    if (meaning->activity) {
        reference.type = reference.definition_id = pawl__str("");
        if (reference.version_id.len == 0)
            return PAWL_OK;
    }
    status = pawl__loader_source(loader, &reference, pointer, &meaning->source);
    if (status == PAWL_OK && meaning->source)
        meaning->activity = meaning->source->activity;
    return status;
}

static int use_placeholder(struct pawl_loader *loader, struct meaning *meaning)
{
    meaning->missing = true;
    meaning->activity = pawl__engine_activity(loader->engine, pawl__str(PAWL_ACTIVITY_NOT_FOUND));
    if (meaning->activity)
        return PAWL_OK;
    return pawl__error_set(loader->err, PAWL_EINVAL,
                           "unknown activity type '%.*s', and the engine has no type '%s' to stand "
                           "for it",
                           PAWL_STR_ARG(meaning->type), PAWL_ACTIVITY_NOT_FOUND);
}

static int type_of(struct pawl_loader *loader, const struct pawl_json *json, const char *pointer,
                   struct pawl_str *out)
{
    const struct pawl_json *type = pawl__loader_get(json, "type");

    if (!type)
        return pawl__loader_fail(loader, pointer,
                                 "an activity needs a \"type\", such as \"Elsa.WriteLine\"");
    return pawl__loader_str(loader, json, "type", pointer, out);
}

/* A placeholder that was saved keeps the activity as text; its type may be known by now. */
static int unwrap_placeholder(struct pawl_loader *loader, const char *pointer,
                              struct meaning *meaning)
{
    const struct pawl_json *kept = pawl__loader_get(meaning->json, "originalActivityJson");
    struct meaning inner = {.missing = false};
    struct pawl_json *parsed = pawl__arena_alloc(loader->arena, sizeof *parsed);
    int status;

    if (!parsed)
        return loader_memory(loader);
    meaning->type = pawl__json_str(pawl__loader_get(meaning->json, "missingTypeName"));
    status = pawl__json_parse(loader->arena, pawl__json_str(kept), NULL, parsed, NULL, NULL);
    if (status == PAWL_ENOMEM || loader->arena->status != PAWL_OK)
        return loader_memory(loader);
    if (status != PAWL_OK || !pawl__json_is(parsed, PAWL_JSON_OBJECT))
        return use_placeholder(loader, meaning);
    pawl__loader_strip(parsed);
    inner.json = parsed;
    inner.type = pawl__json_str(pawl__loader_get(parsed, "type"));
    /* A placeholder kept in a placeholder would come from nowhere but malice: no recursion. */
    if (pawl__str_is(inner.type, PAWL_ACTIVITY_NOT_FOUND))
        return use_placeholder(loader, meaning);
    status = find_type(loader, parsed, pointer, &inner);
    if (status != PAWL_OK)
        return status;
    if (inner.activity)
        *meaning = inner;
    return inner.activity ? PAWL_OK : use_placeholder(loader, meaning);
}

static int understand(struct pawl_loader *loader, const struct pawl_json *json, const char *pointer,
                      struct meaning *out)
{
    struct meaning meaning = {.json = json};
    int status = type_of(loader, json, pointer, &meaning.type);

    if (status != PAWL_OK)
        return status;
    if (pawl__str_is(meaning.type, PAWL_ACTIVITY_NOT_FOUND))
        status = unwrap_placeholder(loader, pointer, &meaning);
    else
        status = find_type(loader, json, pointer, &meaning);
    if (status == PAWL_OK && !meaning.activity)
        status = use_placeholder(loader, &meaning);
    if (status == PAWL_OK)
        *out = meaning;
    return status;
}

static void report_missing_type(struct pawl_loader *loader, const struct pawl_node *node)
{
    bool script =
        pawl__str_is(node->type, "Elsa.RunCSharp") || pawl__str_is(node->type, "Elsa.RunPython");

    pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, NULL,
                         "unknown activity type '%.*s': it faults when it runs%s",
                         PAWL_STR_ARG(node->type),
                         script ? "; use Elsa.RunJavaScript instead" : "");
}

/* ---- common keys ------------------------------------------------------------------------- */

/* customProperties first, then the same key on the activity itself, as old files have it. */
static bool read_flag(const struct pawl_json *json, const struct pawl_json *custom, const char *key)
{
    const struct pawl_json *value = pawl__loader_get(custom, key);

    return pawl__loader_true(value ? value : pawl__loader_get(json, key));
}

static int read_common(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_json *json = node->json;
    const struct pawl_json *custom = pawl__loader_get(json, "customProperties");
    int status = pawl__loader_str(loader, json, "id", node->pointer.ptr, &node->id);

    if (status == PAWL_OK)
        status = pawl__loader_str(loader, json, "name", node->pointer.ptr, &node->name);
    if (status != PAWL_OK)
        return status;
    if (pawl__str_trim(node->id).len == 0)
        node->id = pawl__str("");
    node->can_start_workflow = read_flag(json, custom, "canStartWorkflow");
    node->run_asynchronously = read_flag(json, custom, "runAsynchronously");
    node->commit_strategy = pawl__json_str(pawl__loader_get(custom, "commitStrategyName"));
    node->merge_mode = pawl__json_str(pawl__loader_get(custom, "mergeMode"));
    node->source = pawl__json_str(pawl__loader_get(custom, "source"));
    return PAWL_OK;
}

/* ---- ports ------------------------------------------------------------------------------- */

static int load_child(struct pawl_loader *loader, struct pawl_node *parent, const char *port,
                      const struct pawl_json *json, const char *pointer, struct pawl_node **out);

static int read_many(struct pawl_loader *loader, struct pawl_node *node,
                     const struct pawl_port_descriptor *port, const struct pawl_json *value,
                     const char *pointer)
{
    uint32_t count = pawl__json_len(value);

    if (!pawl__json_is(value, PAWL_JSON_ARRAY))
        return pawl__loader_fail(loader, pointer, "expected an array of activities, found %s",
                                 pawl__loader_found(value));
    for (uint32_t i = 0; i < count; i++) {
        const char *place = pawl__loader_element(loader, pointer, i);
        struct pawl_node *child = NULL;
        int status;

        if (!place)
            return loader_memory(loader);
        status = load_child(loader, node, port->name, pawl__json_at(value, i), place, &child);
        if (status != PAWL_OK)
            return status;
        if (!child)
            pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, place,
                                 "null is no activity: it is left out");
    }
    return PAWL_OK;
}

static int read_ports(struct pawl_loader *loader, struct pawl_node *node,
                      const struct loader_shape *shape)
{
    const struct pawl_activity *activity = node->activity;

    for (uint32_t i = 0; i < activity->port_count; i++) {
        const struct pawl_port_descriptor *port = &activity->ports[i];
        const struct pawl_json *value = pawl__loader_get(node->json, shape->port_keys[i]);
        struct pawl_node *child = NULL;
        const char *pointer;
        int status;

        if (port->flow || !value)
            continue;
        pointer = pawl__loader_pointer(loader, node->pointer.ptr, shape->port_keys[i]);
        if (!pointer)
            return loader_memory(loader);
        status = port->many ? read_many(loader, node, port, value, pointer)
                            : load_child(loader, node, port->name, value, pointer, &child);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* What the type's own load adds goes before the `declared` children. */
static int run_load(struct pawl_loader *loader, struct pawl_node *node)
{
    uint32_t declared = node->child_count;
    uint32_t own;
    struct pawl_node **ordered;
    int status;

    if (!node->activity->load)
        return PAWL_OK;
    status = node->activity->load(loader, node);
    if (status > 0)
        return pawl__error_set(loader->err, PAWL_EINTERNAL, "the load function of '%s' raised",
                               node->activity->type);
    own = node->child_count - declared;
    if (status != PAWL_OK || declared == 0 || own == 0)
        return status;
    ordered = pawl__arena_alloc_array(loader->arena, node->child_count, sizeof(struct pawl_node *));
    if (!ordered)
        return loader_memory(loader);
    memcpy(ordered, node->children + declared, own * sizeof(struct pawl_node *));
    memcpy(ordered + own, node->children, declared * sizeof(struct pawl_node *));
    node->children = ordered;
    return PAWL_OK;
}

/* ---- one activity ------------------------------------------------------------------------ */

static int read_body(struct pawl_loader *loader, struct pawl_node *node,
                     const struct meaning *meaning)
{
    const struct loader_shape *shape = NULL;
    int status = read_common(loader, node);

    if (status == PAWL_OK && meaning->missing)
        report_missing_type(loader, node);
    if (status == PAWL_OK)
        status = pawl__loader_shape(loader, node->activity, &shape);
    if (status == PAWL_OK)
        status = pawl__loader_inputs(loader, node, shape);
    if (status == PAWL_OK)
        status = pawl__loader_outputs(loader, node, shape);
    if (status != PAWL_OK || meaning->missing)
        return status;
    if (meaning->source)
        return pawl__loader_embed(loader, node, meaning->source);
    if (node->activity->flags & PAWL_ACTIVITY_CONTAINER)
        status = pawl__loader_variables(loader, node, node->json, node->pointer.ptr,
                                        &node->variables, &node->variable_count);
    if (status == PAWL_OK)
        status = read_ports(loader, node, shape);
    if (status == PAWL_OK)
        status = run_load(loader, node);
    return status;
}

static int load_object(struct pawl_loader *loader, struct pawl_node *parent, const char *port,
                       const struct pawl_json *json, const char *pointer, struct pawl_node **out)
{
    struct meaning meaning = {.json = json};
    struct pawl_node *node = NULL;
    int status = understand(loader, json, pointer, &meaning);

    if (status == PAWL_OK)
        status = pawl__loader_node(loader, parent, pawl__str(port), meaning.activity, meaning.json,
                                   pointer, &node);
    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(node);
    if (meaning.missing) {
        node->type = meaning.type;
        node->version = 0; /* whatever was written: Elsa says 0 too */
    }
    status = read_body(loader, node, &meaning);
    if (status == PAWL_OK)
        status = pawl__loader_attach(loader, node);
    if (status == PAWL_OK)
        *out = node;
    return status;
}

/* As pawl__loader_child, but `port` and `pointer` live as long as the graph. */
static int load_child(struct pawl_loader *loader, struct pawl_node *parent, const char *port,
                      const struct pawl_json *json, const char *pointer, struct pawl_node **out)
{
    int status;

    if (!json || pawl__json_is(json, PAWL_JSON_NULL)) {
        *out = NULL;
        return PAWL_OK;
    }
    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, pointer, "expected an activity object, found %s",
                                 pawl__loader_found(json));
    if (loader->depth >= loader->limits->depth_max)
        return pawl__error_set(loader->err, PAWL_ELIMIT,
                               "%.200s…: activities are nested deeper than %u levels; move the "
                               "inner ones into a workflow of their own",
                               pointer, loader->limits->depth_max);
    loader->depth++;
    status = load_object(loader, parent, port, json, pointer, out);
    loader->depth--;
    return status;
}

int pawl__loader_child(struct pawl_loader *loader, struct pawl_node *parent, const char *port,
                       const struct pawl_json *json, const char *pointer, struct pawl_node **out)
{
    struct pawl_str own_port = pawl__arena_str(loader->arena, pawl__str(port));
    struct pawl_str own_pointer = pawl__arena_str(loader->arena, pawl__str(pointer));

    if (!own_port.ptr || !own_pointer.ptr)
        return loader_memory(loader);
    return load_child(loader, parent, own_port.ptr, json, own_pointer.ptr, out);
}
