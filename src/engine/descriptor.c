/* SPDX-License-Identifier: Apache-2.0 */
/* Writing descriptors; see descriptor.h. */
#include "engine/descriptor.h"

#include "engine/descriptor_private.h"

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

struct pawl_str pawl__descriptor_name(const struct pawl_activity *activity)
{
    struct pawl_str type = pawl__str(activity->type);

    for (size_t i = type.len; i > 0; i--) {
        if (type.ptr[i - 1] == '.')
            return pawl__str_slice(type, i, type.len);
    }
    return type;
}

void pawl__descriptor_title(struct pawl_buf *out, struct pawl_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        bool begins =
            i > 0 && is_upper(name.ptr[i]) &&
            (is_lower(name.ptr[i - 1]) ||
             (i + 1 < name.len && is_upper(name.ptr[i - 1]) && is_lower(name.ptr[i + 1])));

        if (begins)
            pawl__buf_byte(out, ' ');
        pawl__buf_byte(out, name.ptr[i]);
    }
}

const char *pawl__descriptor_kind(const struct pawl_activity *activity)
{
    static const char *const names[] = {"Action", "Trigger", "Job", "Task"};

    return names[activity->kind];
}

const char *pawl__descriptor_hint(const struct pawl_input_descriptor *input)
{
    if (input->ui_hint)
        return input->ui_hint;
    if (input->type && input->type->kind == PAWL_TYPE_BOOLEAN)
        return "checkbox";
    if (input->type &&
        (input->type->kind == PAWL_TYPE_ENUM || pawl__type_is_collection(input->type) ||
         input->type->kind == PAWL_TYPE_IDICTIONARY))
        return "dropdown";
    return "singleline";
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_text(struct pawl_json_writer *json, const char *key, const char *text)
{
    if (!text)
        return;
    pawl__json_write_key_text(json, key);
    pawl__json_write_string_text(json, text);
}

static void write_bool(struct pawl_json_writer *json, const char *key, bool value)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_bool(json, value);
}

/* `text`, or the title of `name` when there is none. */
static void write_title(struct pawl_json_writer *json, const char *text, struct pawl_str name)
{
    struct pawl_buf title;

    if (text) {
        write_text(json, "displayName", text);
        return;
    }
    pawl__buf_init(&title, json->out->alloc, 1 << 16);
    pawl__descriptor_title(&title, name);
    pawl__json_write_key_text(json, "displayName");
    pawl__json_write_string(json, pawl__buf_peek(&title));
    if (title.status != PAWL_OK && json->out->status == PAWL_OK)
        json->out->status = title.status;
    pawl__buf_release(&title);
}

/* Nullable value types are shown without the mark, as Elsa does. */
static void write_type(struct pawl_json_writer *json, const struct pawl_type *type)
{
    struct pawl_type shown = type ? *type : pawl__type_object;
    struct pawl_buf alias;

    shown.nullable = false;
    pawl__buf_init(&alias, json->out->alloc, 1 << 16);
    pawl__type_write(&alias, &shown);
    pawl__json_write_key_text(json, "typeName");
    pawl__json_write_string(json, pawl__buf_peek(&alias));
    if (alias.status != PAWL_OK && json->out->status == PAWL_OK)
        json->out->status = alias.status;
    pawl__buf_release(&alias);
}

/* Of members with one number the first, as .NET writes them. */
static const char *member_name(const struct pawl_type *type, size_t index)
{
    for (size_t i = 0; type->numbers && i < index; i++)
        if (type->numbers[i] == type->numbers[index])
            return type->names[i];
    return type->names[index];
}

static void write_specifications(struct pawl_json_writer *json,
                                 const struct pawl_input_descriptor *input)
{
    pawl__json_write_key_text(json, "uiSpecifications");
    if (input->options_json) {
        pawl__json_write_raw(json, pawl__str(input->options_json));
        return;
    }
    pawl__json_write_begin_object(json);
    if (input->type && input->type->kind == PAWL_TYPE_ENUM) {
        pawl__json_write_key_text(json, "dropdown");
        pawl__json_write_begin_object(json);
        pawl__json_write_key_text(json, "selectList");
        pawl__json_write_begin_object(json);
        pawl__json_write_key_text(json, "items");
        pawl__json_write_begin_array(json);
        for (size_t i = 0; input->type->names[i]; i++) {
            pawl__json_write_begin_object(json);
            write_text(json, "text", member_name(input->type, i));
            write_text(json, "value", member_name(input->type, i));
            pawl__json_write_end_object(json);
        }
        pawl__json_write_end_array(json);
        pawl__json_write_end_object(json);
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_object(json);
}

static void write_input(struct pawl_json_writer *json, const struct pawl_activity *activity,
                        const struct pawl_input_descriptor *input)
{
    pawl__json_write_begin_object(json);
    write_bool(json, "isWrapped", !(input->flags & PAWL_INPUT_NAKED));
    write_text(json, "uiHint", pawl__descriptor_hint(input));
    write_text(json, "category", input->category);
    if (input->default_json && !(input->flags & PAWL_INPUT_DEFAULT_HIDDEN)) {
        pawl__json_write_key_text(json, "defaultValue");
        pawl__json_write_raw(json, pawl__str(input->default_json));
    }
    write_text(json, "defaultSyntax", input->default_syntax);
    write_bool(json, "isReadOnly", input->flags & PAWL_INPUT_READ_ONLY);
    write_bool(json, "isSensitive", input->flags & PAWL_INPUT_SENSITIVE);
    write_bool(json, "autoEvaluate", !(input->flags & PAWL_INPUT_NO_AUTO_EVALUATE));
    write_specifications(json, input);
    write_text(json, "name", input->name);
    write_type(json, input->type);
    write_title(json, input->display_name, pawl__str(input->name));
    write_text(json, "description", input->description);
    pawl__json_write_key_text(json, "order");
    pawl__json_write_raw(json, pawl__str(descriptor_order(activity->type, input->name)));
    write_bool(json, "isBrowsable", !(input->flags & PAWL_INPUT_NOT_BROWSABLE));
    write_bool(json, "isSerializable", !(input->flags & PAWL_INPUT_NOT_SERIALIZABLE));
    write_bool(json, "isSynthetic", false);
    pawl__json_write_end_object(json);
}

static void write_output(struct pawl_json_writer *json, const struct pawl_output_descriptor *output)
{
    pawl__json_write_begin_object(json);
    write_text(json, "name", output->name);
    write_type(json, output->type);
    write_title(json, output->display_name, pawl__str(output->name));
    write_text(json, "description", output->description);
    pawl__json_write_key_text(json, "order");
    pawl__json_write_int(json, 0);
    write_bool(json, "isBrowsable", true);
    /* Elsa says nothing of a plain Result, nor of the Output of a Switch. */
    if (output->not_serializable ||
        (strcmp(output->name, "Result") != 0 && strcmp(output->name, "Output") != 0))
        write_bool(json, "isSerializable", !output->not_serializable);
    write_bool(json, "isSynthetic", false);
    pawl__json_write_end_object(json);
}

/* An embedded list of activities is no port to a designer. */
static void write_port(struct pawl_json_writer *json, const struct pawl_port_descriptor *port)
{
    if (port->many)
        return;
    pawl__json_write_begin_object(json);
    write_text(json, "name", port->name);
    write_text(json, "displayName", port->name);
    write_text(json, "type", port->flow ? "Flow" : "Embedded");
    write_bool(json, "isBrowsable", !port->hidden);
    pawl__json_write_end_object(json);
}

static void write_lists(struct pawl_json_writer *json, const struct pawl_activity *activity)
{
    pawl__json_write_key_text(json, "inputs");
    pawl__json_write_begin_array(json);
    for (uint32_t i = 0; i < activity->input_count; i++)
        write_input(json, activity, &activity->inputs[i]);
    pawl__json_write_end_array(json);
    pawl__json_write_key_text(json, "outputs");
    pawl__json_write_begin_array(json);
    for (uint32_t i = 0; i < activity->output_count; i++)
        write_output(json, &activity->outputs[i]);
    pawl__json_write_end_array(json);
    write_text(json, "kind", pawl__descriptor_kind(activity));
    write_bool(json, "runAsynchronously", false);
    pawl__json_write_key_text(json, "ports");
    pawl__json_write_begin_array(json);
    /* Elsa's flowcharts show where they start; no document of one has it. */
    if (strcmp(activity->type, "Elsa.Flowchart") == 0)
        write_port(json, &(struct pawl_port_descriptor){.name = "Start", .hidden = true});
    for (uint32_t i = 0; i < activity->port_count; i++)
        write_port(json, &activity->ports[i]);
    pawl__json_write_end_array(json);
}

/* The class of the type, and whether designers offer strategies of retries. */
static void write_properties(struct pawl_json_writer *json, const struct pawl_activity *activity)
{
    pawl__json_write_key_text(json, "customProperties");
    pawl__json_write_begin_object(json);
    write_text(json, "Type", descriptor_class(activity->type));
    if (descriptor_is_resilient(activity->type)) {
        write_bool(json, "Resilient", true);
        write_text(json, "ResilienceCategory", "HTTP");
    }
    pawl__json_write_end_object(json);
    pawl__json_write_key_text(json, "constructionProperties");
    pawl__json_write_begin_object(json);
    pawl__json_write_end_object(json);
}

void pawl__descriptor_write(struct pawl_json_writer *json, const struct pawl_activity *activity)
{
    struct pawl_str name = pawl__descriptor_name(activity);
    struct pawl_str type = pawl__str(activity->type);
    /* Composites keep variables too, but only plain containers are shown as such. */
    uint32_t container = activity->flags & (PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_COMPOSITE);

    pawl__json_write_begin_object(json);
    write_text(json, "typeName", activity->type);
    write_text(json, "clrType", descriptor_class(activity->type));
    pawl__json_write_key_text(json, "namespace");
    pawl__json_write_string(
        json, pawl__str_slice(type, 0, type.len > name.len ? type.len - name.len - 1 : 0));
    pawl__json_write_key_text(json, "name");
    pawl__json_write_string(json, name);
    pawl__json_write_key_text(json, "version");
    pawl__json_write_int(json, activity->version);
    write_text(json, "category", activity->category ? activity->category : "Miscellaneous");
    write_title(json, activity->display_name, name);
    write_text(json, "description", activity->description);
    write_lists(json, activity);
    write_properties(json, activity);
    write_bool(json, "isContainer", container == PAWL_ACTIVITY_CONTAINER);
    write_bool(json, "isBrowsable", !(activity->flags & PAWL_ACTIVITY_NOT_BROWSABLE));
    write_bool(json, "isStart", activity->flags & PAWL_ACTIVITY_START);
    write_bool(json, "isTerminal", activity->flags & PAWL_ACTIVITY_TERMINAL);
    pawl__json_write_end_object(json);
}

/* ---- definitions as activities ------------------------------------------------------------ */

static void write_key_json(struct pawl_json_writer *json, const char *key,
                           const struct pawl_json *value)
{
    if (pawl__json_type(value) == PAWL_JSON_NULL)
        return;
    pawl__json_write_key_text(json, key);
    pawl__json_write_value(json, value);
}

/* The trimmed text, left out when there is none. */
static void write_given(struct pawl_json_writer *json, const char *key, struct pawl_str text)
{
    text = pawl__str_trim(text);
    if (text.len == 0)
        return;
    pawl__json_write_key_text(json, key);
    pawl__json_write_string(json, text);
}

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* An input or an output that a definition declares. */
static void write_declared(struct pawl_json_writer *json, const struct pawl_json *declared,
                           bool is_input)
{
    struct pawl_str hint = text_of(declared, "uiHint"), type = text_of(declared, "type");
    struct pawl_str title = text_of(declared, "displayName");

    pawl__json_write_begin_object(json);
    if (is_input) {
        write_bool(json, "isWrapped", true);
        write_given(json, "uiHint", hint.len > 0 ? hint : pawl__str("singleline"));
        write_given(json, "category", text_of(declared, "category"));
        write_bool(json, "isSensitive", false);
        write_bool(json, "autoEvaluate", true);
    }
    write_given(json, "name", text_of(declared, "name"));
    write_given(json, "typeName", type.len > 0 ? type : pawl__str("Object"));
    write_given(json, "displayName", title.len > 0 ? title : text_of(declared, "name"));
    write_given(json, "description", text_of(declared, "description"));
    pawl__json_write_key_text(json, "order");
    pawl__json_write_int(json, 0);
    write_bool(json, "isBrowsable", true);
    write_bool(json, "isSynthetic", true);
    pawl__json_write_end_object(json);
}

static void write_declarations(struct pawl_json_writer *json, const char *key,
                               const struct pawl_json *list, bool is_input)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_begin_array(json);
    for (uint32_t i = 0; i < pawl__json_len(list); i++)
        write_declared(json, pawl__json_at(list, i), is_input);
    pawl__json_write_end_array(json);
}

static void write_outcomes(struct pawl_json_writer *json, const struct pawl_json *outcomes)
{
    pawl__json_write_key_text(json, "ports");
    pawl__json_write_begin_array(json);
    write_port(json, &(struct pawl_port_descriptor){.name = "Root", .hidden = true});
    for (uint32_t i = 0; i < pawl__json_len(outcomes); i++) {
        const struct pawl_json *name = pawl__json_at(outcomes, i);

        pawl__json_write_begin_object(json);
        write_key_json(json, "name", name);
        write_key_json(json, "displayName", name);
        write_text(json, "type", "Flow");
        write_bool(json, "isBrowsable", true);
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_array(json);
}

static void write_source(struct pawl_json_writer *json, const struct pawl_json *definition)
{
    pawl__json_write_key_text(json, "customProperties");
    pawl__json_write_begin_object(json);
    write_text(json, "RootType", "WorkflowDefinitionActivity");
    write_given(json, "WorkflowDefinitionId", text_of(definition, "definitionId"));
    write_given(json, "WorkflowDefinitionVersionId", text_of(definition, "id"));
    pawl__json_write_end_object(json);
    pawl__json_write_key_text(json, "constructionProperties");
    pawl__json_write_begin_object(json);
    write_given(json, "WorkflowDefinitionId", text_of(definition, "definitionId"));
    write_given(json, "WorkflowDefinitionVersionId", text_of(definition, "id"));
    write_key_json(json, "Version", pawl__json_get_text(definition, "version"));
    pawl__json_write_end_object(json);
}

void pawl__descriptor_write_workflow(struct pawl_json_writer *json, struct pawl_str type,
                                     const struct pawl_json *definition)
{
    struct pawl_str category =
        text_of(pawl__json_get_text(definition, "options"), "activityCategory");

    pawl__json_write_begin_object(json);
    write_given(json, "typeName", type);
    write_text(json, "clrType", "UnregisteredClrType:" DESCRIPTOR_WORKFLOW_CLASS);
    write_given(json, "name", type);
    write_key_json(json, "version", pawl__json_get_text(definition, "version"));
    write_given(json, "category", category.len > 0 ? category : pawl__str("Workflows"));
    write_given(json, "displayName", text_of(definition, "name"));
    write_given(json, "description", text_of(definition, "description"));
    write_declarations(json, "inputs", pawl__json_get_text(definition, "inputs"), true);
    write_declarations(json, "outputs", pawl__json_get_text(definition, "outputs"), false);
    write_text(json, "kind", "Action");
    write_bool(json, "runAsynchronously", false);
    write_outcomes(json, pawl__json_get_text(definition, "outcomes"));
    write_source(json, definition);
    write_bool(json, "isContainer", false);
    write_bool(json, "isBrowsable", true);
    write_bool(json, "isStart", false);
    write_bool(json, "isTerminal", false);
    pawl__json_write_end_object(json);
}
