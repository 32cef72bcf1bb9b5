/* SPDX-License-Identifier: Apache-2.0 */
/* Writing descriptors; see descriptor.h. */
#include "engine/descriptor.h"

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
        for (const char *const *name = input->type->names; *name; name++) {
            pawl__json_write_begin_object(json);
            write_text(json, "text", *name);
            write_text(json, "value", *name);
            pawl__json_write_end_object(json);
        }
        pawl__json_write_end_array(json);
        pawl__json_write_end_object(json);
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_object(json);
}

static void write_input(struct pawl_json_writer *json, const struct pawl_input_descriptor *input)
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
    pawl__json_write_int(json, 0);
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
    /* Elsa says nothing of a plain Result. */
    if (output->not_serializable || strcmp(output->name, "Result") != 0)
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
        write_input(json, &activity->inputs[i]);
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
    for (uint32_t i = 0; i < activity->port_count; i++)
        write_port(json, &activity->ports[i]);
    pawl__json_write_end_array(json);
}

void pawl__descriptor_write(struct pawl_json_writer *json, const struct pawl_activity *activity)
{
    static const char *const empty[] = {"customProperties", "constructionProperties"};
    struct pawl_str name = pawl__descriptor_name(activity);
    struct pawl_str type = pawl__str(activity->type);
    /* Composites keep variables too, but only plain containers are shown as such. */
    uint32_t container = activity->flags & (PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_COMPOSITE);

    pawl__json_write_begin_object(json);
    write_text(json, "typeName", activity->type);
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
    for (size_t i = 0; i < 2; i++) {
        pawl__json_write_key_text(json, empty[i]);
        pawl__json_write_begin_object(json);
        pawl__json_write_end_object(json);
    }
    write_bool(json, "isContainer", container == PAWL_ACTIVITY_CONTAINER);
    write_bool(json, "isBrowsable", !(activity->flags & PAWL_ACTIVITY_NOT_BROWSABLE));
    write_bool(json, "isStart", activity->flags & PAWL_ACTIVITY_START);
    write_bool(json, "isTerminal", activity->flags & PAWL_ACTIVITY_TERMINAL);
    pawl__json_write_end_object(json);
}
