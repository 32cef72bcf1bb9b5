/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: their types, default values and storage drivers. */
#include "engine/convert/convert.h"
#include "engine/load/loader.h"

/* ---- storage ----------------------------------------------------------------------------- */

struct driver {
    const char *class_name;
    const char *clr_name; /* as older versions wrote it */
    enum pawl_storage storage;
};

/* In the order in which Elsa looks for a class name within a name. */
static const struct driver drivers[] = {
    {"WorkflowStorageDriver", "Elsa.Workflows.Services.WorkflowStorageDriver, Elsa.Workflows.Core",
     PAWL_STORAGE_WORKFLOW},
    {"WorkflowInstanceStorageDriver",
     "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core", PAWL_STORAGE_INSTANCE},
    {"MemoryStorageDriver", "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core",
     PAWL_STORAGE_MEMORY},
};

#define DRIVER_COUNT (sizeof drivers / sizeof drivers[0])

static bool contains_nocase(struct pawl_str text, struct pawl_str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (pawl__str_equal_nocase(pawl__str_slice(text, i, i + part.len), part))
            return true;
    }
    return false;
}

enum pawl_storage pawl__loader_storage(struct pawl_str name, bool loosely)
{
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(drivers[i].class_name)) ||
            pawl__str_equal_nocase(name, pawl__str(drivers[i].clr_name)))
            return drivers[i].storage;
    }
    for (size_t i = 0; i < DRIVER_COUNT && loosely; i++) {
        if (contains_nocase(name, pawl__str(drivers[i].class_name)))
            return drivers[i].storage;
    }
    return PAWL_STORAGE_NONE;
}

/* ---- one variable ------------------------------------------------------------------------ */

/* The place of a variable, for messages. */
struct site {
    const struct pawl_node *node; /* NULL: of the workflow */
    const struct pawl_json *json;
    const char *pointer;
};

static int find_type(struct pawl_loader *loader, const struct site *site,
                     const struct pawl_type **out)
{
    struct pawl_str alias;
    const struct pawl_type *type = &pawl__type_object;
    int status = pawl__loader_str(loader, site->json, "typeName", site->pointer, &alias);

    if (status == PAWL_OK && alias.len > 0)
        status = pawl__loader_type(loader, alias, &type);
    if (status != PAWL_OK)
        return status;
    if (!type)
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, site->node, site->pointer,
                             "unknown type '%.*s': %s", PAWL_STR_ARG(alias),
                             site->node ? "the variable is an Object" : "the variable is left out");
    if (!type && site->node)
        type = &pawl__type_object;
    if (type && !site->node && pawl__json_true(pawl__loader_get(site->json, "isArray")))
        return pawl__type_array_of(loader->arena, type, out);
    *out = type;
    return PAWL_OK;
}

/* A text that only the lenient converter takes is probably a slip. */
static int check_default(struct pawl_loader *loader, const struct site *site,
                         struct pawl_value text, const struct pawl_type *type)
{
    struct pawl_conversion strict = {.arena = loader->problems->arena, .strict = true};
    struct pawl_exception raised;
    struct pawl_value value;
    int status = pawl__convert(&strict, text, type, &value, &raised);

    if (status == ENGINE_RAISED) {
        struct pawl_str shown = pawl__loader_cut(pawl__json_str(&text.json), 60);

        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, site->node, site->pointer,
                             "the default value '%.*s' does not convert to the variable's type: "
                             "its zero value counts",
                             PAWL_STR_ARG(shown));
        return PAWL_OK;
    }
    /* Limits of the problems' arena are no failure of the load. */
    return status == PAWL_ENOMEM ? status : PAWL_OK;
}

static int read_default(struct pawl_loader *loader, const struct site *site,
                        const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_conversion how = {.arena = loader->arena, .strict = false};
    const struct pawl_json *json = pawl__loader_get(site->json, "value");
    struct pawl_exception raised;
    struct pawl_value value;
    struct pawl_str text;
    int status;

    *out = pawl__value_null();
    if (!json)
        return PAWL_OK;
    status = pawl__loader_text(loader, json, &text);
    if (status != PAWL_OK || pawl__str_trim(text).len == 0)
        return status;
    value = pawl__value_string(text);
    status = pawl__convert(&how, value, type, out, &raised);
    if (status == ENGINE_RAISED) {
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, site->node, site->pointer,
                             "the default value is not used: %.*s", PAWL_STR_ARG(raised.message));
        *out = pawl__value_null();
        return PAWL_OK;
    }
    if (status == PAWL_OK && loader->problems && loader->muted == 0)
        status = check_default(loader, site, value, type);
    return status;
}

static void check_storage(struct pawl_loader *loader, const struct site *site, struct pawl_str name,
                          enum pawl_storage storage)
{
    if (storage == PAWL_STORAGE_NONE && name.len > 0)
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, site->node, site->pointer,
                             "unknown storage driver '%.*s': the variable is not kept when the "
                             "workflow suspends",
                             PAWL_STR_ARG(name));
}

/* type NULL in *out: left out. */
static int read_variable(struct pawl_loader *loader, const struct site *site,
                         struct pawl_variable *out)
{
    struct pawl_variable variable = {.type = NULL};
    struct pawl_str driver;
    int status;

    if (!pawl__json_is(site->json, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, site->pointer, "expected a variable object, found %s",
                                 pawl__loader_found(site->json));
    status = pawl__loader_str(loader, site->json, "id", site->pointer, &variable.id);
    if (status == PAWL_OK)
        status = pawl__loader_str(loader, site->json, "name", site->pointer, &variable.name);
    if (status == PAWL_OK)
        status =
            pawl__loader_str(loader, site->json, "storageDriverTypeName", site->pointer, &driver);
    if (status == PAWL_OK)
        status = find_type(loader, site, &variable.type);
    if (status == PAWL_OK && variable.type)
        status = read_default(loader, site, variable.type, &variable.initial);
    if (status != PAWL_OK)
        return status;
    variable.storage = pawl__loader_storage(driver, !site->node);
    check_storage(loader, site, driver, variable.storage);
    *out = variable;
    return PAWL_OK;
}

/* Elsa names them when the container runs; the names are the same now. */
static int name_variables(struct pawl_loader *loader, struct pawl_variable *variables,
                          uint32_t count)
{
    uint32_t unnamed = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (pawl__str_trim(variables[i].name).len > 0)
            continue;
        variables[i].name = pawl__str(pawl__arena_printf(loader->arena, "Variable%u", ++unnamed));
        if (variables[i].name.len == 0)
            return loader_memory(loader);
    }
    return PAWL_OK;
}

int pawl__loader_variables(struct pawl_loader *loader, struct pawl_node *node,
                           const struct pawl_json *owner, const char *pointer,
                           struct pawl_variable **out, uint32_t *count)
{
    const struct pawl_json *array = pawl__loader_get(owner, "variables");
    uint32_t given = pawl__json_len(array);
    struct pawl_variable *variables;
    const char *place;

    *count = 0;
    if (!array)
        return PAWL_OK;
    place = pawl__loader_pointer(loader, pointer, "variables");
    if (place && given > PAWL_SCOPE_VARIABLES_MAX)
        return pawl__loader_fail(loader, place,
                                 "%u variables in one scope, at most %u are allowed; keep many "
                                 "values in one variable that is an object or an array",
                                 given, PAWL_SCOPE_VARIABLES_MAX);
    variables = pawl__arena_alloc_array(loader->arena, given, sizeof *variables);
    if (!place || !variables)
        return loader_memory(loader);
    if (!pawl__json_is(array, PAWL_JSON_ARRAY))
        return pawl__loader_fail(loader, place, "expected an array of variables, found %s",
                                 pawl__loader_found(array));
    for (uint32_t i = 0; i < given; i++) {
        struct site site = {node, pawl__json_at(array, i), pawl__loader_element(loader, place, i)};
        int status;

        if (!site.pointer)
            return loader_memory(loader);
        status = read_variable(loader, &site, &variables[*count]);
        if (status != PAWL_OK)
            return status;
        if (variables[*count].type)
            (*count)++;
    }
    *out = variables;
    return node ? name_variables(loader, variables, *count) : PAWL_OK;
}
