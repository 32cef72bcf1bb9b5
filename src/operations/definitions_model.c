/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions as designers send them: what is taken of such a model, and whether it can be saved.
 * What the engine can load is decided by loading it; this has only what loading does not look at.
 */
#include "base/error.h"
#include "operations/definitions_private.h"

#include <stdio.h>

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

static bool is_set(const struct pawl_json *value)
{
    return value && !pawl__json_is(value, PAWL_JSON_NULL);
}

/* ---- what is taken ----------------------------------------------------------------------------
 */

static struct pawl_json trimmed(const struct pawl_json *value)
{
    return pawl__json_is(value, PAWL_JSON_STRING)
               ? pawl__json_string(pawl__str_trim(pawl__json_str(value)))
               : pawl__json_null();
}

static struct pawl_json empty_sequence(struct pawl_builder *b)
{
    struct pawl_json root = pawl__json_object();

    pawl__build_name(b, &root, "type", PAWL_ACTIVITY_SEQUENCE);
    pawl__build_int(b, &root, "version", 1);
    pawl__build(b, &root, "activities", pawl__json_array());
    return root;
}

/* An expression of type Input whose value does not say of what type the input is. */
static bool is_untyped_input(const struct pawl_op *op, const struct pawl_json *expression)
{
    const struct pawl_json *value = member(expression, "value");
    struct pawl_json parsed;

    if (!pawl__str_is(pawl__json_str(member(expression, "type")), "Input") || !is_set(value))
        return false;
    if (!pawl__json_is(value, PAWL_JSON_STRING))
        return !is_set(member(value, "type"));
    return pawl__json_parse(op->arena, pawl__json_str(value), NULL, &parsed, NULL, NULL) !=
               PAWL_OK ||
           !is_set(member(&parsed, "type"));
}

/* Elsa's API loses the value of such an expression; the files of a folder keep it. */
static struct pawl_json without_untyped(const struct pawl_op *op, struct pawl_builder *b,
                                        const struct pawl_json *value)
{
    bool is_array = pawl__json_is(value, PAWL_JSON_ARRAY), is_untyped;
    struct pawl_json out = is_array ? pawl__json_array() : pawl__json_object();

    if (!is_array && !pawl__json_is(value, PAWL_JSON_OBJECT))
        return *value;
    for (uint32_t i = 0; is_array && i < pawl__json_len(value); i++)
        pawl__build_append(b, &out, without_untyped(op, b, pawl__json_at(value, i)));
    if (is_array)
        return out;
    is_untyped = is_untyped_input(op, value);
    for (uint32_t i = 0; i < pawl__json_len(value); i++) {
        const struct pawl_json_member *one = pawl__json_member(value, i);

        if (!is_untyped || !pawl__str_equal_nocase(one->key, pawl__str("value")))
            pawl__build_member(b, &out, one->key, without_untyped(op, b, &one->value));
    }
    return out;
}

int op_model_of(const struct pawl_op *op, const struct pawl_json *from, bool keeps_id,
                struct pawl_json *out)
{
    static const char *const edited[] = {"toolVersion", "customProperties", "variables", "inputs",
                                         "outputs",     "outcomes",         "options"};
    struct pawl_builder b = {.arena = op->arena};
    const struct pawl_json *root = member(from, "root");

    *out = pawl__json_object();
    if (keeps_id)
        pawl__build(&b, out, "id", trimmed(member(from, "id")));
    pawl__build(&b, out, "definitionId", trimmed(member(from, "definitionId")));
    pawl__build(&b, out, "name", trimmed(member(from, "name")));
    pawl__build(&b, out, "description", trimmed(member(from, "description")));
    for (size_t i = 0; i < sizeof edited / sizeof edited[0]; i++) {
        const struct pawl_json *value = member(from, edited[i]);

        if (is_set(value))
            pawl__build(&b, out, edited[i], *value);
    }
    pawl__build(&b, out, "root", is_set(root) ? without_untyped(op, &b, root) : empty_sequence(&b));
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, b.status);
}

/* ---- whether it can be saved ------------------------------------------------------------------
 */

/* The place, and the message that is to be behind it. */
static int refuse(const struct pawl_op *op, char *pointer, const char *place, const char *message)
{
    if (pointer)
        (void)snprintf(pointer, PAWL_DEFINITION_POINTER_SIZE, "%s", place);
    return pawl__error_set(op->err, PAWL_EPARSE, "%s (at %s)", message, place);
}

static int refuse_type(const struct pawl_op *op, char *pointer, const char *place,
                       const struct pawl_json *value, const char *wanted)
{
    char message[120];

    (void)snprintf(message, sizeof message, "%s is expected; this is a value of type '%s'", wanted,
                   pawl__json_type_name(value));
    return refuse(op, pointer, place, message);
}

/* "3.8", "3.8.0", "3.8.0.0": what .NET takes for a version, and Studio with it. */
static bool is_version(struct pawl_str text)
{
    size_t numbers = 0, digits = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && digits > 0) {
            numbers++;
            digits = 0;
        } else if (text.ptr[i] < '0' || text.ptr[i] > '9' || ++digits > 9) {
            return false;
        }
    }
    return digits > 0 && numbers >= 1 && numbers <= 3;
}

static int check_members(const struct pawl_op *op, const struct pawl_json *model, char *pointer)
{
    static const struct {
        const char *name;
        enum pawl_json_type type;
        const char *wanted;
    } members[] = {
        {"id", PAWL_JSON_STRING, "A string"},
        {"definitionId", PAWL_JSON_STRING, "A string"},
        {"name", PAWL_JSON_STRING, "A string"},
        {"description", PAWL_JSON_STRING, "A string"},
        {"toolVersion", PAWL_JSON_STRING, "A string"},
        {"variables", PAWL_JSON_ARRAY, "An array"},
        {"inputs", PAWL_JSON_ARRAY, "An array"},
        {"outputs", PAWL_JSON_ARRAY, "An array"},
        {"outcomes", PAWL_JSON_ARRAY, "An array"},
        {"customProperties", PAWL_JSON_OBJECT, "An object"},
        {"options", PAWL_JSON_OBJECT, "An object"},
        {"root", PAWL_JSON_OBJECT, "An object"},
    };
    char place[64];

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct pawl_json *value = member(model, members[i].name);

        (void)snprintf(place, sizeof place, "/%s", members[i].name);
        if (is_set(value) && !pawl__json_is(value, members[i].type))
            return refuse_type(op, pointer, place, value, members[i].wanted);
    }
    if (is_set(member(model, "toolVersion")) &&
        !is_version(pawl__json_str(member(model, "toolVersion"))))
        return refuse(op, pointer, "/toolVersion", "A version is 2 to 4 numbers with dots between");
    return PAWL_OK;
}

/* Objects with these texts. */
static int check_list(const struct pawl_op *op, const struct pawl_json *model, const char *name,
                      const char *type_key, char *pointer)
{
    const struct pawl_json *list = member(model, name);
    char place[64];

    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *one = pawl__json_at(list, i);

        (void)snprintf(place, sizeof place, "/%s/%u", name, i);
        if (!pawl__json_is(one, PAWL_JSON_OBJECT))
            return refuse_type(op, pointer, place, one, "An object");
        (void)snprintf(place, sizeof place, "/%s/%u/%s", name, i, type_key);
        if (pawl__json_str(member(one, type_key)).len == 0)
            return refuse(op, pointer, place, "It must say of what type it is");
    }
    return PAWL_OK;
}

/* Versions of activities: nobody sends them as text, and whoever does means something else. */
static int check_activity(const struct pawl_op *op, const struct pawl_json *activity,
                          const char *place, char *pointer)
{
    const struct pawl_json *version = member(activity, "version");
    const struct pawl_json *children = member(activity, "activities");
    char below[PAWL_DEFINITION_POINTER_SIZE];
    int status = PAWL_OK;

    if (!pawl__json_is(activity, PAWL_JSON_OBJECT))
        return refuse_type(op, pointer, place, activity, "An activity, an object,");
    if (pawl__json_str(member(activity, "type")).len == 0)
        return refuse(op, pointer, place, "An activity must have a type");
    if (is_set(version) && !pawl__json_is_number(version))
        return refuse_type(op, pointer, place, version, "A number as the version of an activity");
    for (uint32_t i = 0; status == PAWL_OK && pawl__json_is(children, PAWL_JSON_ARRAY) &&
                         i < pawl__json_len(children);
         i++) {
        (void)snprintf(below, sizeof below, "%.200s/activities/%u", place, i);
        status = check_activity(op, pawl__json_at(children, i), below, pointer);
    }
    return status;
}

/* The last problem is why it cannot be loaded; strategies that nobody knows are refused too. */
int op_model_check_loadable(const struct pawl_op *op, const struct pawl_json *model, char *pointer)
{
    static const char *const refused[] = {"/options/activationStrategyType",
                                          "/options/incidentStrategyType"};
    struct pawl_publication said = {.succeeded = false};
    int status = pawl__op_definition_validate(op, model, &said);
    const struct pawl_problems *problems = &said.problems;

    if (status == PAWL_EPARSE && problems->count > 0)
        return refuse(op, pointer, problems->items[problems->count - 1].pointer,
                      problems->items[problems->count - 1].message);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0] && status == PAWL_OK; i++) {
        for (uint32_t j = 0; j < problems->count; j++) {
            if (strcmp(problems->items[j].pointer, refused[i]) == 0)
                return refuse(op, pointer, refused[i], problems->items[j].message);
        }
    }
    return status;
}

int op_model_check(const struct pawl_op *op, const struct pawl_json *model, char *pointer)
{
    int status = check_members(op, model, pointer);

    if (status == PAWL_OK)
        status = check_list(op, model, "variables", "typeName", pointer);
    if (status == PAWL_OK)
        status = check_list(op, model, "inputs", "type", pointer);
    if (status == PAWL_OK)
        status = check_list(op, model, "outputs", "type", pointer);
    if (status == PAWL_OK && is_set(member(model, "root")))
        status = check_activity(op, member(model, "root"), "/root", pointer);
    return status;
}
