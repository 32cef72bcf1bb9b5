/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions of the program's activities may do: the context API of the engine with text in
 * place of values, and with faults in place of assertions for what a program gets wrong.
 */
#include "activities/program/program.h"

#include "base/error.h"
#include "engine/builder.h"
#include "engine/context.h"

#include <stdarg.h>
#include <stdio.h>

#define FAULT "FaultException"

/* Longer messages are cut. */
#define MESSAGE_SIZE 2048

/* ---- results ------------------------------------------------------------------------------- */

static struct program_invocation *invocation_of(const struct pawl_context *context)
{
    return context ? context->scratch : NULL;
}

/* The first failure sticks. */
static int told(struct pawl_context *context, int status)
{
    struct program_invocation *invocation = invocation_of(context);

    if (status != PAWL_OK && invocation && invocation->status == PAWL_OK)
        invocation->status = status;
    return status;
}

/* PAWL_OK: a function is running for it, and nothing failed yet. */
static int ready(struct pawl_context *context)
{
    const struct program_invocation *invocation = invocation_of(context);

    return invocation ? invocation->status : PAWL_EINVAL;
}

/* The same, and it has not completed. */
static int changeable(struct pawl_context *context)
{
    int status = ready(context);

    return status == PAWL_OK && context->status != PAWL_ACTIVITY_RUNNING ? PAWL_EINVAL : status;
}

static const char *type_name(const struct pawl_context *context)
{
    return context->node->activity->type;
}

/* ---- values -------------------------------------------------------------------------------- */

static int write(struct pawl_context *context, const char *what, const char *name,
                 const struct pawl_json *json, const char **out)
{
    int status = pawl__json_text_write(pawl__context_arena(context), json, out);

    if (status == PAWL_EINVAL)
        status = pawl__raise(context, FAULT, "%s: %s '%s' is not a finite number",
                             type_name(context), what, name);
    return status;
}

static int parse(struct pawl_context *context, const char *what, const char *name, const char *json,
                 struct pawl_json *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status =
        pawl__json_text_read(pawl__context_arena(context), json, name ? name : what, out, &err);

    if (status == PAWL_EPARSE || status == PAWL_EINVAL)
        status = pawl__raise(context, FAULT, "%s: %s is not JSON: %s", type_name(context), what,
                             err.msg);
    return status;
}

/* Text of the program's that is not UTF-8 faults. */
static int check_text(struct pawl_context *context, const char *what, const char *text)
{
    if (!text || pawl__utf8_valid(pawl__str(text)))
        return PAWL_OK;
    return told(context,
                pawl__raise(context, FAULT, "%s: %s is not UTF-8", type_name(context), what));
}

static int convert(struct pawl_context *context, struct pawl_value value,
                   const struct pawl_type *type, struct pawl_value *out)
{
    const struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    int status = pawl__convert(&how, value, type, out, &raised);

    return status == ENGINE_RAISED ? pawl__raise_exception(context, &raised) : status;
}

/* ---- inputs -------------------------------------------------------------------------------- */

static int find_input(struct pawl_context *context, const char *name, const void *out,
                      struct pawl_value *value)
{
    const struct pawl_activity *activity;
    int status = ready(context);

    if (status != PAWL_OK)
        return status;
    if (!out)
        return PAWL_EINVAL;
    activity = context->node->activity;
    for (uint32_t i = 0; name && i < activity->input_count; i++) {
        if (strcmp(activity->inputs[i].name, name) == 0) {
            *value = pawl__input(context, name);
            return PAWL_OK;
        }
    }
    return told(context, pawl__raise(context, FAULT, "%s has no input '%s'", type_name(context),
                                     name ? name : "(null)"));
}

/* Converted; null stays null. */
static int read_input(struct pawl_context *context, const char *name, const void *out,
                      const struct pawl_type *type, struct pawl_value *value)
{
    struct pawl_value raw = pawl__value_null();
    int status = find_input(context, name, out, &raw);

    return status == PAWL_OK ? told(context, convert(context, raw, type, value)) : status;
}

int pawl_context_input(struct pawl_context *context, const char *name, const char **json)
{
    struct pawl_value value = pawl__value_null();
    int status = find_input(context, name, json, &value);

    return status == PAWL_OK ? told(context, write(context, "input", name, &value.json, json))
                             : status;
}

int pawl_context_input_text(struct pawl_context *context, const char *name, const char **text)
{
    struct pawl_value value = pawl__value_null();
    int status = read_input(context, name, text, &pawl__type_string, &value);

    if (status == PAWL_OK) /* strings of a DOM end in NUL */
        *text = pawl__value_is_null(value) ? "" : pawl__json_str(&value.json).ptr;
    return status;
}

int pawl_context_input_int(struct pawl_context *context, const char *name, int64_t *value)
{
    struct pawl_value found = pawl__value_null();
    int status = read_input(context, name, value, &pawl__type_int64, &found);

    if (status == PAWL_OK && !pawl__json_to_int(&found.json, value))
        *value = 0;
    return status;
}

int pawl_context_input_double(struct pawl_context *context, const char *name, double *value)
{
    struct pawl_value found = pawl__value_null();
    int status = read_input(context, name, value, &pawl__type_double, &found);

    if (status == PAWL_OK && !pawl__json_to_double(&found.json, value))
        *value = 0;
    return status;
}

int pawl_context_input_bool(struct pawl_context *context, const char *name, int *value)
{
    struct pawl_value found = pawl__value_null();
    int status = read_input(context, name, value, &pawl__type_boolean, &found);

    if (status == PAWL_OK)
        *value = pawl__json_true(&found.json);
    return status;
}

/* ---- outputs ------------------------------------------------------------------------------- */

static int find_output(struct pawl_context *context, const char *name,
                       const struct pawl_type **type)
{
    const struct pawl_activity *activity;
    int status = changeable(context);

    if (status != PAWL_OK)
        return status;
    activity = context->node->activity;
    for (uint32_t i = 0; name && i < activity->output_count; i++) {
        if (strcmp(activity->outputs[i].name, name) == 0) {
            *type = activity->outputs[i].type;
            return PAWL_OK;
        }
    }
    return pawl__raise(context, FAULT, "%s has no output '%s'", type_name(context),
                       name ? name : "(null)");
}

static int set_output(struct pawl_context *context, const char *name, const struct pawl_type *type,
                      struct pawl_value value)
{
    struct pawl_value converted;
    int status = convert(context, value, type, &converted);

    return status == PAWL_OK ? pawl__output_set(context, name, converted) : status;
}

int pawl_context_output(struct pawl_context *context, const char *name, const char *json)
{
    const struct pawl_type *type = NULL;
    struct pawl_json parsed;
    int status = find_output(context, name, &type);

    if (status == PAWL_EINVAL)
        return status;
    if (status == PAWL_OK)
        status = parse(context, "an output", name, json, &parsed);
    if (status == PAWL_OK)
        status = set_output(context, name, type, pawl__value_from_json(parsed));
    return told(context, status);
}

int pawl_context_output_text(struct pawl_context *context, const char *name, const char *text)
{
    const struct pawl_type *type = NULL;
    struct pawl_json copy;
    int status = find_output(context, name, &type);

    if (status == PAWL_EINVAL)
        return status;
    if (status == PAWL_OK)
        status = pawl__json_string_copy(pawl__context_arena(context), pawl__str(text), &copy);
    if (status == PAWL_OK)
        status = set_output(context, name, type, pawl__value_string(pawl__json_str(&copy)));
    else if (status == PAWL_EINVAL)
        status =
            pawl__raise(context, FAULT, "%s: output '%s' is not UTF-8", type_name(context), name);
    return told(context, status);
}

int pawl_context_output_int(struct pawl_context *context, const char *name, int64_t value)
{
    const struct pawl_type *type = NULL;
    int status = find_output(context, name, &type);

    if (status == PAWL_EINVAL)
        return status;
    if (status == PAWL_OK)
        status = set_output(context, name, type, pawl__value_int(value));
    return told(context, status);
}

int pawl_context_output_double(struct pawl_context *context, const char *name, double value)
{
    const struct pawl_type *type = NULL;
    int status = find_output(context, name, &type);

    if (status == PAWL_EINVAL)
        return status;
    if (status == PAWL_OK)
        status = set_output(context, name, type, pawl__value_double(value));
    return told(context, status);
}

/* ---- what becomes of it -------------------------------------------------------------------- */

int pawl_context_complete(struct pawl_context *context, const char *const *outcomes, size_t count)
{
    struct pawl_outcomes all = {0};
    struct pawl_str *names;
    int status = changeable(context);

    if (status != PAWL_OK || (count > 0 && !outcomes))
        return status == PAWL_OK ? PAWL_EINVAL : status;
    if (count == 0)
        return told(context, pawl__complete(context, NULL));
    names = pawl__arena_alloc_array(pawl__context_arena(context), count, sizeof *names);
    if (!names)
        return told(context, pawl__arena_status(pawl__context_arena(context)));
    for (size_t i = 0; i < count; i++) {
        status = check_text(context, "an outcome", outcomes[i]);
        if (status != PAWL_OK)
            return status;
        names[i] = pawl__arena_str(pawl__context_arena(context), pawl__str(outcomes[i]));
        if (!names[i].ptr)
            return told(context, pawl__arena_status(pawl__context_arena(context)));
    }
    all.names = names;
    all.count = (uint32_t)count;
    return told(context, pawl__complete(context, &all));
}

int pawl_context_fault(struct pawl_context *context, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;
    int status = changeable(context);

    if (status != PAWL_OK)
        return status;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format ? format : "fault", args);
    va_end(args);
    message[pawl__utf8_valid_prefix(pawl__str(message))] = '\0';
    return told(context, pawl__raise(context, FAULT, "%s", message));
}

int pawl_context_wait(struct pawl_context *context, const char *name, const char *payload)
{
    struct pawl_bookmark_args args = {.callback = PROGRAM_RESUME};
    int status = changeable(context);

    if (status != PAWL_OK)
        return status;
    status = check_text(context, "the name of what it waits for", name);
    if (status == PAWL_OK)
        status = parse(context, "what it waits for", NULL, payload, &args.payload);
    if (status == PAWL_OK && name && *name) {
        args.name = pawl__arena_str(pawl__context_arena(context), pawl__str(name)).ptr;
        if (!args.name)
            status = pawl__arena_status(pawl__context_arena(context));
    }
    if (status == PAWL_OK)
        status = pawl__bookmark_create(context, &args, NULL);
    return told(context, status);
}

static int call(struct pawl_context *context, struct pawl_json data)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_bookmark_args args = {.name = PROGRAM_CALL_NAME, .callback = PROGRAM_PERFORMED};
    struct pawl_str id = pawl__new_id(context);
    struct pawl_json request = pawl__json_object();
    struct pawl_builder b = {.arena = arena};

    if (id.len == 0)
        return pawl__arena_status(arena);
    pawl__build_text(&b, &request, "callId", id);
    pawl__build_name(&b, &request, "type", type_name(context));
    pawl__build(&b, &request, "data", data);
    if (b.status == PAWL_OK)
        b.status = pawl__program_call_payload(arena, id, &args.payload);
    if (b.status == PAWL_OK)
        b.status = pawl__bookmark_create(context, &args, NULL);
    return b.status == PAWL_OK ? pawl__effect(context, PAWL_EFFECT_CALL, request) : b.status;
}

int pawl_context_call(struct pawl_context *context, const char *data)
{
    struct pawl_json parsed;
    int status = changeable(context);

    if (status != PAWL_OK)
        return status;
    if (!invocation_of(context)->activity->type->perform)
        status =
            pawl__raise(context, FAULT, "%s has no function perform to call", type_name(context));
    if (status == PAWL_OK)
        status = parse(context, "the data of a call", NULL, data, &parsed);
    if (status == PAWL_OK)
        status = call(context, parsed);
    return told(context, status);
}

/* ---- what it knows ------------------------------------------------------------------------- */

static int check_key(struct pawl_context *context, const char *key, const void *out, bool changes)
{
    int status = changes ? changeable(context) : ready(context);

    if (status == PAWL_OK && (!key || !*key || !out))
        return PAWL_EINVAL;
    return status == PAWL_OK ? check_text(context, "a key or name", key) : status;
}

int pawl_context_memory(struct pawl_context *context, const char *key, const char **json)
{
    const struct pawl_json none = pawl__json_null();
    const struct pawl_json *value;
    int status = check_key(context, key, json, false);

    if (status != PAWL_OK)
        return status;
    value = pawl__property(context, key);
    return told(context, write(context, "memory", key, value ? value : &none, json));
}

int pawl_context_memory_set(struct pawl_context *context, const char *key, const char *json)
{
    struct pawl_json value;
    int status = check_key(context, key, key, true);

    if (status != PAWL_OK)
        return status;
    status = parse(context, "memory", key, json, &value);
    if (status == PAWL_OK)
        status = pawl__property_set(context, key, value);
    return told(context, status);
}

int pawl_context_variable(struct pawl_context *context, const char *name, const char **json)
{
    struct pawl_value value = pawl__value_null();
    int status = check_key(context, name, json, false);

    if (status != PAWL_OK)
        return status;
    (void)pawl__variable_get(context, pawl__str(name), &value);
    return told(context, write(context, "variable", name, &value.json, json));
}

int pawl_context_variable_set(struct pawl_context *context, const char *name, const char *json)
{
    struct pawl_str copy;
    struct pawl_json value;
    int status = check_key(context, name, name, true);

    if (status != PAWL_OK)
        return status;
    copy = pawl__arena_str(pawl__context_arena(context), pawl__str(name));
    if (!copy.ptr)
        return told(context, pawl__arena_status(pawl__context_arena(context)));
    status = parse(context, "a variable", name, json, &value);
    if (status == PAWL_OK)
        status = pawl__variable_set(context, copy, pawl__value_from_json(value));
    return told(context, status);
}

static const char *text_of(const struct pawl_context *context, struct pawl_str text)
{
    const char *copy = pawl__arena_str(pawl__context_arena(context), text).ptr;

    return copy ? copy : "";
}

const char *pawl_context_instance_id(struct pawl_context *context)
{
    return ready(context) == PAWL_EINVAL ? "" : text_of(context, pawl__instance_id(context));
}

const char *pawl_context_correlation_id(struct pawl_context *context)
{
    return ready(context) == PAWL_EINVAL ? "" : text_of(context, pawl__correlation_id(context));
}

const char *pawl_context_activity_id(struct pawl_context *context)
{
    return ready(context) == PAWL_EINVAL ? "" : text_of(context, context->node->id);
}
