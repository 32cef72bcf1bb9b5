/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as JSON, as Elsa writes them; see written.h. */
#include "engine/written.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "engine/value/type.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define ALIAS_BYTES_MAX ((size_t)1 << 16)

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

static bool is_set(const struct pawl_json *value)
{
    return value && !pawl__json_is(value, PAWL_JSON_NULL);
}

/* A member as it is written in `from`, if it is. */
static void put_set(struct pawl_builder *b, struct pawl_json *out, const struct pawl_json *from,
                    const char *key)
{
    const struct pawl_json *value = member(from, key);

    if (is_set(value))
        pawl__build(b, out, key, *value);
}

static void put_text(struct pawl_builder *b, struct pawl_json *out, const char *key,
                     struct pawl_str text)
{
    pawl__build(b, out, key, pawl__json_string(text));
}

/* ---- types, variables, arguments ---------------------------------------------------------------
 */

static void put_type(struct pawl_builder *b, struct pawl_json *object, const char *key,
                     const struct pawl_type *type)
{
    struct pawl_json value = pawl__json_null();
    struct pawl_buf alias;

    pawl__buf_init(&alias, b->arena->alloc, ALIAS_BYTES_MAX);
    pawl__type_write(&alias, type ? type : &pawl__type_object);
    if (b->status == PAWL_OK)
        b->status = alias.status;
    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&alias), &value);
    pawl__buf_release(&alias);
    pawl__build(b, object, key, value);
}

static const char *storage_name(enum pawl_storage storage)
{
    switch (storage) {
    case PAWL_STORAGE_NONE:
        break;
    case PAWL_STORAGE_INSTANCE:
        return "WorkflowInstanceStorageDriver";
    case PAWL_STORAGE_WORKFLOW:
        return "WorkflowStorageDriver";
    case PAWL_STORAGE_MEMORY:
        return "MemoryStorageDriver";
    }
    return NULL;
}

/* What is written of a variable: by its id, for want of one by its name. */
static const struct pawl_json *written_of(const struct pawl_variable *variable,
                                          const struct pawl_json *json)
{
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        const struct pawl_json *one = pawl__json_at(json, i);
        struct pawl_str id = pawl__json_str(member(one, "id"));

        if (id.len > 0 ? pawl__str_equal(id, variable->id)
                       : pawl__str_equal(pawl__json_str(member(one, "name")), variable->name))
            return one;
    }
    return NULL;
}

struct pawl_json pawl__written_variables(struct pawl_builder *b,
                                         const struct pawl_variable *variables, uint32_t count,
                                         const struct pawl_json *json)
{
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < count; i++) {
        const char *storage = storage_name(variables[i].storage);
        struct pawl_json one = pawl__json_object();

        put_text(b, &one, "id", variables[i].id);
        put_text(b, &one, "name", variables[i].name);
        put_type(b, &one, "typeName", variables[i].type);
        pawl__build_bool(b, &one, "isArray", false);
        put_set(b, &one, written_of(&variables[i], json), "value");
        if (storage)
            pawl__build_name(b, &one, "storageDriverTypeName", storage);
        pawl__build_append(b, &out, one);
    }
    return out;
}

struct pawl_json pawl__written_arguments(struct pawl_builder *b,
                                         const struct pawl_argument *arguments, uint32_t count,
                                         bool inputs)
{
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_json *json = arguments[i].json;
        const char *storage = storage_name(arguments[i].storage);
        struct pawl_json one = pawl__json_object();

        if (inputs)
            put_set(b, &one, json, "uiHint");
        if (inputs && storage)
            pawl__build_name(b, &one, "storageDriverType", storage);
        put_type(b, &one, "type", arguments[i].type);
        put_text(b, &one, "name", arguments[i].name);
        put_text(b, &one, "displayName", pawl__json_str(member(json, "displayName")));
        put_text(b, &one, "description", pawl__json_str(member(json, "description")));
        put_text(b, &one, "category", pawl__json_str(member(json, "category")));
        pawl__build_append(b, &out, one);
    }
    return out;
}

/* "SupportedMethods" -> "supportedMethods", in the arena. */
static const char *camel(struct pawl_builder *b, const char *name)
{
    char first = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
    const char *key = *name ? pawl__arena_printf(b->arena, "%c%s", first, name + 1) : "";

    if (!key && b->status == PAWL_OK)
        b->status = pawl__arena_status(b->arena);
    return key ? key : "";
}

static struct pawl_json text_of(struct pawl_builder *b, const struct pawl_json *value)
{
    struct pawl_json out = pawl__json_null();
    struct pawl_buf text;

    pawl__buf_init(&text, b->arena->alloc, TEXT_BYTES_MAX);
    pawl__json_write(&text, value, PAWL_JSON_ESCAPE_MINIMAL);
    if (b->status == PAWL_OK)
        b->status = text.status;
    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&text), &out);
    pawl__buf_release(&text);
    return out;
}

/* ---- expressions -------------------------------------------------------------------------------
 */

/* Variables and inputs are written as objects, also when the definition has them as text. */
static const struct pawl_json *object_in(struct pawl_builder *b, const struct pawl_json *value)
{
    struct pawl_json *parsed;

    if (!pawl__json_is(value, PAWL_JSON_STRING))
        return value;
    parsed = pawl__arena_alloc(b->arena, sizeof *parsed);
    if (!parsed) {
        b->status = pawl__arena_status(b->arena);
        return NULL;
    }
    return pawl__json_parse(b->arena, pawl__json_str(value), NULL, parsed, NULL, NULL) == PAWL_OK
               ? parsed
               : NULL;
}

static struct pawl_json variable_in(struct pawl_builder *b, const struct pawl_json *value)
{
    const struct pawl_json *from = object_in(b, value);
    struct pawl_json out = pawl__json_object();
    const struct pawl_type *type = NULL;

    if (!pawl__json_is(from, PAWL_JSON_OBJECT))
        return pawl__json_null();
    put_text(b, &out, "id", pawl__json_str(member(from, "id")));
    put_text(b, &out, "name", pawl__json_str(member(from, "name")));
    if (b->status == PAWL_OK &&
        pawl__type_find(b->arena, pawl__json_str(member(from, "typeName")), &type) == PAWL_ENOMEM)
        b->status = PAWL_ENOMEM;
    put_type(b, &out, "typeName", type);
    return out;
}

static struct pawl_json input_in(struct pawl_builder *b, const struct pawl_json *value)
{
    static const char *const texts[] = {"name", "displayName", "description", "category"};
    const struct pawl_json *from = object_in(b, value);
    struct pawl_json out = pawl__json_object();

    if (!pawl__json_is(from, PAWL_JSON_OBJECT) || !is_set(member(from, "type")))
        return pawl__json_null();
    if (is_set(member(from, "uiHint")))
        pawl__build(b, &out, "uiHint", *member(from, "uiHint"));
    pawl__build(b, &out, "type", *member(from, "type"));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        put_text(b, &out, texts[i], pawl__json_str(member(from, texts[i])));
    return out;
}

static struct pawl_json expression(struct pawl_builder *b, const struct pawl_expression *from)
{
    struct pawl_str type = pawl__str(from->ops->type);
    struct pawl_json out = pawl__json_object();
    struct pawl_json value = from->value;

    if (pawl__str_is(type, "Variable"))
        value = variable_in(b, &from->value);
    else if (pawl__str_is(type, "Input"))
        value = input_in(b, &from->value);
    put_text(b, &out, "type", type);
    if (is_set(&value))
        pawl__build(b, &out, "value", value);
    return out;
}

/* ---- inputs, outputs ------------------------------------------------------------------------- */

static struct pawl_json default_of(struct pawl_builder *b,
                                   const struct pawl_input_descriptor *descriptor)
{
    struct pawl_json value = pawl__json_null();

    if (descriptor->default_json && b->status == PAWL_OK)
        b->status = pawl__json_parse(b->arena, pawl__str(descriptor->default_json), NULL, &value,
                                     NULL, NULL);
    return value;
}

static struct pawl_json wrapped(struct pawl_builder *b, const struct pawl_node *node,
                                const struct pawl_input *input, const char *key)
{
    const struct pawl_json *written = member(node->json, key);
    struct pawl_json out = pawl__json_object(), literal = pawl__json_object();
    struct pawl_json value;

    if (!input->expression.ops && written)
        return pawl__json_null();
    put_type(b, &out, "typeName", input->descriptor->type);
    if (input->expression.ops) {
        pawl__build(b, &out, "expression", expression(b, &input->expression));
        return out;
    }
    value = default_of(b, input->descriptor);
    if (!input->descriptor->default_json)
        return pawl__json_null();
    pawl__build_name(b, &literal, "type", "Literal");
    if (is_set(&value)) /* a default of null is written without it */
        pawl__build(b, &literal, "value", value);
    pawl__build(b, &out, "expression", literal);
    return out;
}

/* A plain value that may contain activities, which are written as activities. */
static struct pawl_json plain(struct pawl_builder *b, const struct pawl_node *node,
                              const struct pawl_json *value, const char *pointer)
{
    struct pawl_json out;
    const char *below;

    for (uint32_t i = 0; i < node->child_count; i++) {
        if (pawl__str_is(node->children[i]->pointer, pointer))
            return pawl__written_activity(b, node->children[i]);
    }
    if (pawl__json_is(value, PAWL_JSON_ARRAY)) {
        out = pawl__json_array();
        for (uint32_t i = 0; i < pawl__json_len(value) && b->status == PAWL_OK; i++) {
            below = pawl__arena_printf(b->arena, "%s/%u", pointer, i);
            if (!below)
                b->status = pawl__arena_status(b->arena);
            else
                pawl__build_append(b, &out, plain(b, node, pawl__json_at(value, i), below));
        }
        return out;
    }
    if (!pawl__json_is(value, PAWL_JSON_OBJECT))
        return *value;
    out = pawl__json_object();
    for (uint32_t i = 0; i < pawl__json_len(value) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *one = pawl__json_member(value, i);

        below = pawl__arena_printf(b->arena, "%s/%.*s", pointer, PAWL_STR_ARG(one->key));
        if (!below)
            b->status = pawl__arena_status(b->arena);
        else if (is_set(&one->value)) {
            struct pawl_json made = plain(b, node, &one->value, below);

            if (b->status == PAWL_OK)
                b->status = pawl__json_set(b->arena, &out, one->key, made);
        }
    }
    return out;
}

static struct pawl_json naked(struct pawl_builder *b, const struct pawl_node *node,
                              const struct pawl_input *input, const char *key)
{
    const char *pointer;

    if (!is_set(input->naked))
        return default_of(b, input->descriptor);
    if (pawl__str_is(pawl__str(key), "variable"))
        return variable_in(b, input->naked);
    pointer = pawl__arena_printf(b->arena, "%.*s/%s", PAWL_STR_ARG(node->pointer), key);
    if (!pointer) {
        b->status = pawl__arena_status(b->arena);
        return pawl__json_null();
    }
    return plain(b, node, input->naked, pointer);
}

static void put_inputs(struct pawl_builder *b, struct pawl_json *out, const struct pawl_node *node)
{
    for (uint32_t i = 0; i < node->activity->input_count; i++) {
        const struct pawl_input *input = &node->inputs[i];
        const struct pawl_input_descriptor *descriptor = &node->activity->inputs[i];
        const char *key = descriptor->key ? descriptor->key : camel(b, descriptor->name);

        pawl__build(b, out, key,
                    descriptor->flags & PAWL_INPUT_NAKED ? naked(b, node, input, key)
                                                         : wrapped(b, node, input, key));
    }
}

static void put_outputs(struct pawl_builder *b, struct pawl_json *out, const struct pawl_node *node)
{
    for (uint32_t i = 0; i < node->activity->output_count; i++) {
        const struct pawl_output_descriptor *descriptor = &node->activity->outputs[i];
        struct pawl_json one = pawl__json_object(), reference = pawl__json_object();
        const char *key = camel(b, descriptor->name);

        if (node->outputs[i].reference.len == 0) {
            pawl__build(b, out, key, pawl__json_null());
            continue;
        }
        put_type(b, &one, "typeName", descriptor->type);
        put_text(b, &reference, "id", node->outputs[i].reference);
        pawl__build(b, &one, "memoryReference", reference);
        pawl__build(b, out, key, one);
    }
}

/* ---- ports, connections ---------------------------------------------------------------------- */

static void put_ports(struct pawl_builder *b, struct pawl_json *out, const struct pawl_node *node)
{
    for (uint32_t i = 0; i < node->activity->port_count; i++) {
        const struct pawl_port_descriptor *port = &node->activity->ports[i];
        struct pawl_json value = port->many ? pawl__json_array() : pawl__json_null();

        if (port->flow)
            continue;
        for (uint32_t j = 0; j < node->child_count; j++) {
            if (!pawl__str_is(node->children[j]->port, port->name))
                continue;
            if (port->many)
                pawl__build_append(b, &value, pawl__written_activity(b, node->children[j]));
            else
                value = pawl__written_activity(b, node->children[j]);
        }
        pawl__build(b, out, camel(b, port->name), value);
    }
}

static bool has_child(const struct pawl_node *node, struct pawl_str id)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (pawl__str_equal(node->children[i]->id, id))
            return true;
    }
    return false;
}

static struct pawl_json endpoint(struct pawl_builder *b, const struct pawl_json *from)
{
    struct pawl_json out = pawl__json_object();

    put_text(b, &out, "activity", pawl__json_str(member(from, "activity")));
    if (is_set(member(from, "port")))
        pawl__build(b, &out, "port", *member(from, "port"));
    return out;
}

/* Those whose ends are there. */
static struct pawl_json connections(struct pawl_builder *b, const struct pawl_node *node)
{
    const struct pawl_json *all = member(node->json, "connections");
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(all); i++) {
        const struct pawl_json *from = pawl__json_at(all, i);
        const struct pawl_json *source = member(from, "source"), *target = member(from, "target");
        const struct pawl_json *vertices = member(from, "vertices");
        struct pawl_json one = pawl__json_object();

        if (!has_child(node, pawl__json_str(member(source, "activity"))) ||
            !has_child(node, pawl__json_str(member(target, "activity"))))
            continue;
        pawl__build(b, &one, "source", endpoint(b, source));
        pawl__build(b, &one, "target", endpoint(b, target));
        pawl__build(b, &one, "vertices", is_set(vertices) ? *vertices : pawl__json_array());
        pawl__build_append(b, &out, one);
    }
    return out;
}

/* ---- what every activity has ----------------------------------------------------------------- */

static struct pawl_json custom_properties(struct pawl_builder *b, const struct pawl_node *node,
                                          bool is_flowchart)
{
    const struct pawl_json *from = member(node->json, "customProperties");
    struct pawl_json out = pawl__json_object();

    if (is_flowchart && !member(from, "notFoundConnections"))
        pawl__build(b, &out, "notFoundConnections", pawl__json_array());
    for (uint32_t i = 0; i < pawl__json_len(from) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *one = pawl__json_member(from, i);

        b->status = pawl__json_set(b->arena, &out, one->key, one->value);
    }
    if (!member(from, "canStartWorkflow"))
        pawl__build_bool(b, &out, "canStartWorkflow", node->can_start_workflow);
    if (!member(from, "runAsynchronously"))
        pawl__build_bool(b, &out, "runAsynchronously", node->run_asynchronously);
    return out;
}

static void put_common(struct pawl_builder *b, struct pawl_json *out, const struct pawl_node *node,
                       bool is_flowchart)
{
    const struct pawl_json *metadata = member(node->json, "metadata");
    int64_t version = node->version;

    (void)pawl__json_to_int(member(node->json, "version"), &version);
    put_text(b, out, "id", node->id);
    put_text(b, out, "nodeId", node->node_id);
    pawl__build(b, out, "name",
                node->name.len > 0 ? pawl__json_string(node->name) : pawl__json_null());
    put_text(b, out, "type", node->type);
    pawl__build_int(b, out, "version", version);
    pawl__build(b, out, "customProperties", custom_properties(b, node, is_flowchart));
    pawl__build(b, out, "metadata",
                pawl__json_is(metadata, PAWL_JSON_OBJECT) ? *metadata : pawl__json_object());
}

/* ---- kinds -------------------------------------------------------------------------------------
 */

/* One that was a placeholder already when it was saved has the original's text. */
static struct pawl_json original_of(struct pawl_builder *b, const struct pawl_node *node)
{
    const struct pawl_json *kept = member(node->json, "originalActivityJson");
    bool is_placeholder =
        pawl__str_is(pawl__json_str(member(node->json, "type")), PAWL_ACTIVITY_NOT_FOUND);

    return is_placeholder && pawl__json_is(kept, PAWL_JSON_STRING) ? *kept : text_of(b, node->json);
}

static struct pawl_json not_found(struct pawl_builder *b, const struct pawl_node *node)
{
    const char *title = pawl__arena_printf(b->arena, "Not Found: %.*s", PAWL_STR_ARG(node->type));
    const char *about =
        pawl__arena_printf(b->arena, "Could not find activity type %.*s with version %u",
                           PAWL_STR_ARG(node->type), node->version);
    struct pawl_json out = pawl__json_object(), metadata = pawl__json_object();

    if (!title || !about) {
        b->status = pawl__arena_status(b->arena);
        return out;
    }
    put_text(b, &out, "missingTypeName", node->type);
    pawl__build_int(b, &out, "missingTypeVersion", node->version);
    pawl__build(b, &out, "originalActivityJson", original_of(b, node));
    put_text(b, &out, "id", node->id);
    put_text(b, &out, "nodeId", node->node_id);
    pawl__build(b, &out, "name",
                node->name.len > 0 ? pawl__json_string(node->name) : pawl__json_null());
    pawl__build_name(b, &out, "type", PAWL_ACTIVITY_NOT_FOUND);
    pawl__build_int(b, &out, "version", 1);
    pawl__build(b, &out, "customProperties", custom_properties(b, node, false));
    pawl__build_name(b, &metadata, "displayText", title);
    pawl__build_name(b, &metadata, "description", about);
    pawl__build(b, &out, "metadata", metadata);
    return out;
}

/* What it uses, and which version of that there is; what is inside is another definition. */
static struct pawl_json embedded(struct pawl_builder *b, const struct pawl_node *node)
{
    const struct pawl_json *version = member(node->json, "latestAvailablePublishedVersion");
    const struct pawl_json *id = member(node->json, "latestAvailablePublishedVersionId");
    const struct pawl_workflow *workflow = node->workflow;
    struct pawl_json out = pawl__json_object();

    put_text(b, &out, "workflowDefinitionId", workflow->definition_id);
    put_text(b, &out, "workflowDefinitionVersionId", workflow->version_id);
    pawl__build(b, &out, "latestAvailablePublishedVersion",
                is_set(version) ? *version : pawl__json_int(workflow->version));
    pawl__build(b, &out, "latestAvailablePublishedVersionId",
                is_set(id) ? *id : pawl__json_string(workflow->version_id));
    put_inputs(b, &out, node);
    put_outputs(b, &out, node);
    put_common(b, &out, node, false);
    return out;
}

static struct pawl_json flowchart(struct pawl_builder *b, const struct pawl_node *node)
{
    struct pawl_json out = pawl__json_object();

    put_common(b, &out, node, true);
    put_ports(b, &out, node);
    pawl__build(b, &out, "variables",
                pawl__written_variables(b, node->variables, node->variable_count,
                                        member(node->json, "variables")));
    pawl__build(b, &out, "connections", connections(b, node));
    return out;
}

struct pawl_json pawl__written_activity(struct pawl_builder *b, const struct pawl_node *node)
{
    struct pawl_json out = pawl__json_object();

    if (b->status != PAWL_OK)
        return out;
    if (pawl__str_is(pawl__str(node->activity->type), PAWL_ACTIVITY_NOT_FOUND))
        return not_found(b, node);
    if (node->workflow)
        return embedded(b, node);
    if (pawl__str_is(node->type, "Elsa.Flowchart"))
        return flowchart(b, node);
    put_inputs(b, &out, node);
    put_ports(b, &out, node);
    if (node->activity->flags & PAWL_ACTIVITY_CONTAINER)
        pawl__build(b, &out, "variables",
                    pawl__written_variables(b, node->variables, node->variable_count,
                                            member(node->json, "variables")));
    put_outputs(b, &out, node);
    put_common(b, &out, node, false);
    return out;
}
