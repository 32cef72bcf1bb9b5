/* SPDX-License-Identifier: Apache-2.0 */
/* What a designer may choose from; see catalogs.h. */
#include "views/catalogs.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- expressions ---------------------------------------------------------------------------- */

static const struct {
    const char *type, *language; /* of the editor; NULL: none */
    bool is_serializable, is_browsable;
} expressions[] = {
    {"Literal", NULL, true, false},
    {"Object", "json", true, false},
    {"Json", "json", true, false},
    {"Delegate", NULL, false, false},
    {"Variable", NULL, true, true},
    {"Input", NULL, true, true},
    {"JavaScript", "javascript", true, true},
    {"Liquid", "liquid", true, true},
};

struct pawl_json pawl__view_expression_types(struct pawl_builder *b)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < COUNT(expressions); i++) {
        struct pawl_json one = pawl__json_object(), properties = pawl__json_object();

        pawl__build_name(b, &one, "type", expressions[i].type);
        pawl__build_name(b, &one, "displayName", expressions[i].type);
        pawl__build_bool(b, &one, "isSerializable", expressions[i].is_serializable);
        pawl__build_bool(b, &one, "isBrowsable", expressions[i].is_browsable);
        if (expressions[i].language)
            pawl__build_name(b, &properties, "MonacoLanguage", expressions[i].language);
        pawl__build(b, &one, "properties", properties);
        pawl__build_append(b, &out, one);
    }
    return out;
}

/* ---- variables ------------------------------------------------------------------------------ */

static const struct {
    const char *type, *title, *category, *description;
} variables[] = {
    {"Object", "Object", "Primitives", "Any value."},
    {"String", "String", "Primitives", "Text."},
    {"Boolean", "Boolean", "Primitives", "True or false."},
    {"Int32", "Int32", "Primitives", "A whole number of 32 bits."},
    {"Long", "Long", "Primitives", "A whole number of 64 bits."},
    {"Single", "Single", "Primitives", "A floating-point number of 32 bits."},
    {"Double", "Double", "Primitives", "A floating-point number of 64 bits."},
    {"Decimal", "Decimal", "Primitives", "A decimal number without rounding."},
    {"Guid", "Guid", "Primitives", "A unique identifier."},
    {"DateTime", "DateTime", "Primitives", "A date and a time."},
    {"DateTimeOffset", "DateTimeOffset", "Primitives",
     "A date and a time with its offset from UTC."},
    {"TimeSpan", "TimeSpan", "Primitives", "A length of time."},
    {"StringDictionary", "StringDictionary", "Lookups", "Texts by name."},
    {"ObjectDictionary", "ObjectDictionary", "Lookups", "Values by name."},
    {"JSON", "JSON", "Dynamic", "Any JSON value, read as an object."},
    {"JsonElement", "JsonElement", "Dynamic", "A JSON value that is only read."},
    {"JsonNode", "JsonNode", "Dynamic", "A JSON value that can be changed."},
    {"JsonObject", "JsonObject", "Dynamic", "A JSON object that can be changed."},
    {"ByteArray", "ByteArray", "Data", "Bytes."},
    {"Stream", "Stream", "Data", "Bytes that are read one after another."},
    {"Elsa.Workflows.LogPersistence.LogPersistenceMode, Elsa.Workflows.Core", "LogPersistenceMode",
     "System", "Whether a value is kept in the log."},
    {"Elsa.Http.HttpRouteData, Elsa.Http", "HttpRouteData", "HTTP", NULL},
    {"Microsoft.AspNetCore.Http.HttpRequest, Microsoft.AspNetCore.Http.Abstractions", "HttpRequest",
     "HTTP", NULL},
    {"Microsoft.AspNetCore.Http.HttpResponse, Microsoft.AspNetCore.Http.Abstractions",
     "HttpResponse", "HTTP", NULL},
    {"System.Net.Http.HttpResponseMessage, System.Net.Http", "HttpResponseMessage", "HTTP", NULL},
    {"Elsa.Http.HttpHeaders, Elsa.Http", "HttpHeaders", "HTTP", NULL},
    {"Microsoft.AspNetCore.Http.IFormFile, Microsoft.AspNetCore.Http.Features", "IFormFile", "HTTP",
     NULL},
    {"Elsa.Http.HttpFile, Elsa.Http", "HttpFile", "HTTP", NULL},
    {"Elsa.Http.Downloadable, Elsa.Http", "Downloadable", "HTTP", NULL},
};

struct pawl_json pawl__view_variable_types(struct pawl_builder *b)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < COUNT(variables); i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "typeName", variables[i].type);
        pawl__build_name(b, &one, "displayName", variables[i].title);
        pawl__build_name(b, &one, "category", variables[i].category);
        if (variables[i].description)
            pawl__build_name(b, &one, "description", variables[i].description);
        pawl__build_append(b, &out, one);
    }
    return out;
}

static struct pawl_str without(struct pawl_str name, const char *start, const char *end)
{
    struct pawl_str first = pawl__str(start), last = pawl__str(end);

    if (name.len > first.len + last.len && pawl__str_starts(name, first) &&
        pawl__str_equal(pawl__str_slice(name, name.len - last.len, name.len), last))
        return pawl__str_slice(name, first.len, name.len - last.len);
    return name;
}

bool pawl__catalog_has_type(struct pawl_str name)
{
    name = without(without(without(pawl__str_trim(name), "List<", ">"), "", "[]"), "", "?");
    if (pawl__str_equal_nocase(name, pawl__str("Int64")))
        return true;
    for (size_t i = 0; i < COUNT(variables); i++) {
        if (pawl__str_equal_nocase(name, pawl__str(variables[i].type)) ||
            pawl__str_equal_nocase(name, pawl__str(variables[i].title)))
            return true;
    }
    return false;
}

static const struct {
    const char *type, *title;
    int priority;
    bool is_deprecated;
} drivers[] = {
    {"Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core", "Workflow Instance", 5,
     false},
    {"Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core", "Memory", 0, false},
    {"Elsa.Workflows.Services.WorkflowStorageDriver, Elsa.Workflows.Core", "Workflow", -1, true},
};

struct pawl_json pawl__view_storage_drivers(struct pawl_builder *b)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < COUNT(drivers); i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "typeName", drivers[i].type);
        pawl__build_name(b, &one, "displayName", drivers[i].title);
        pawl__build_int(b, &one, "priority", drivers[i].priority);
        pawl__build_bool(b, &one, "deprecated", drivers[i].is_deprecated);
        pawl__build_append(b, &out, one);
    }
    return out;
}

/* ---- strategies ----------------------------------------------------------------------------- */

struct strategy {
    const char *title, *description, *name;
};

static const struct strategy activations[] = {
    {"Always", "Any number of instances may run.",
     "Elsa.Workflows.ActivationValidators.AllowAlwaysStrategy, Elsa.Workflows.Core"},
    {"Correlated singleton", "One running instance of the workflow for each correlation id.",
     "Elsa.Workflows.Runtime.ActivationValidators.CorrelatedSingletonStrategy, "
     "Elsa.Workflows.Runtime"},
    {"Correlation", "One running instance for each correlation id, of whatever workflow.",
     "Elsa.Workflows.Runtime.ActivationValidators.CorrelationStrategy, Elsa.Workflows.Runtime"},
    {"Singleton", "One running instance of the workflow.",
     "Elsa.Workflows.Runtime.ActivationValidators.SingletonStrategy, Elsa.Workflows.Runtime"},
};

static const struct strategy incidents[] = {
    {"Continue with incidents", "The incident is recorded and the other branches go on.",
     "ContinueWithIncidentsStrategy"},
    {"Fault", "The workflow ends as faulted.", "FaultStrategy"},
};

static const struct strategy logs[] = {
    {"Configuration", "",
     "Elsa.Workflows.LogPersistence.Strategies.Configuration, Elsa.Workflows.Core"},
    {"Exclude", "", "Elsa.Workflows.LogPersistence.Strategies.Exclude, Elsa.Workflows.Core"},
    {"Include", "", "Elsa.Workflows.LogPersistence.Strategies.Include, Elsa.Workflows.Core"},
    {"Inherit", "", "Elsa.Workflows.LogPersistence.Strategies.Inherit, Elsa.Workflows.Core"},
};

static const struct strategy workflow_commits[] = {
    {"Commit Before Workflow Execution", "Commits before the workflow runs.", "WorkflowExecuting"},
    {"Commit After Workflow Execution", "Commits after the workflow has run.", "WorkflowExecuted"},
    {"Commit Before Activity Execution", "Commits before each activity.", "ActivityExecuting"},
    {"Commit After Activity Execution", "Commits after each activity.", "ActivityExecuted"},
};

static const struct strategy activity_commits[] = {
    {"Commit Before And After", "Commits before and after the activity.", "CommitAlways"},
    {"Commit Later", "Leaves the commit to a later activity or to the end of the burst.",
     "CommitNever"},
    {"Commit Before", "Commits before the activity.", "Executing"},
    {"Commit After", "Commits after the activity.", "Executed"},
};

static struct pawl_json view_strategies(struct pawl_builder *b, const struct strategy *list,
                                        size_t count)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < count; i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "displayName", list[i].title);
        pawl__view_text(b, &one, "description", pawl__str(list[i].description));
        pawl__build_name(b, &one, "typeName", list[i].name);
        pawl__build_append(b, &out, one);
    }
    return out;
}

static struct pawl_json view_commits(struct pawl_builder *b, const struct strategy *list,
                                     size_t count)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < count; i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "name", list[i].name);
        pawl__build_name(b, &one, "displayName", list[i].title);
        pawl__build_name(b, &one, "description", list[i].description);
        pawl__build_append(b, &out, one);
    }
    return out;
}

struct pawl_json pawl__view_activation_strategies(struct pawl_builder *b)
{
    return view_strategies(b, activations, COUNT(activations));
}

struct pawl_json pawl__view_incident_strategies(struct pawl_builder *b)
{
    return view_strategies(b, incidents, COUNT(incidents));
}

struct pawl_json pawl__view_log_strategies(struct pawl_builder *b)
{
    return view_strategies(b, logs, COUNT(logs));
}

struct pawl_json pawl__view_workflow_commit_strategies(struct pawl_builder *b)
{
    return view_commits(b, workflow_commits, COUNT(workflow_commits));
}

struct pawl_json pawl__view_activity_commit_strategies(struct pawl_builder *b)
{
    return view_commits(b, activity_commits, COUNT(activity_commits));
}

/* ---- features ------------------------------------------------------------------------------- */

/* What of Elsa is here, by the names that its clients look for. */
static const char *const features[] = {
    "Expressions",
    "CommitStrategies",
    "Workflows",
    "Flowchart",
    "WorkflowRuntime",
    "WorkflowDefinitions",
    "WorkflowInstances",
    "WorkflowManagement",
    "Identity",
    "Alterations",
    "WorkflowsApi",
    "SasTokens",
    "DashboardApi",
    "Scheduling",
    "JavaScript",
    "Liquid",
    "Http",
    "Resilience",
    "RealTimeWorkflowUpdates",
};

struct pawl_json pawl__view_features(struct pawl_builder *b)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < COUNT(features); i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "name", features[i]);
        pawl__build_name(b, &one, "namespace", "Elsa");
        pawl__build_name(b, &one, "fullName", pawl__arena_printf(b->arena, "Elsa.%s", features[i]));
        pawl__build_name(b, &one, "displayName", features[i]);
        pawl__view_text(b, &one, "description", pawl__str(""));
        pawl__build_append(b, &out, one);
    }
    return out;
}
