/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: what a designer may choose from. */
#include "api/items.h"
#include "http/client.h"
#include "operations/types.h"
#include "views/catalogs.h"

#define DESCRIPTORS API_ELSA "/descriptors"

/* ---- activities ----------------------------------------------------------------------------- */

struct type_request {
    struct pawl_str type, property;
    struct api_number version;
};

static const struct api_field type_fields[] = {
    API_FIELD(struct type_request, type, "type", API_TEXT, API_IN_PATH),
    API_FIELD(struct type_request, version, "version", API_NUMBER, API_IN_QUERY),
};

static const struct api_field option_fields[] = {
    API_FIELD(struct type_request, type, "type", API_TEXT, API_IN_PATH),
    API_FIELD(struct type_request, property, "property", API_TEXT, API_IN_PATH),
    API_FIELD(struct type_request, version, "version", API_NUMBER, 0),
};

/* Where endpoints are for this client: what a designer shows in front of their paths. */
static void complete_url(struct api_call *call, struct pawl_builder *b, struct pawl_json *options)
{
    struct pawl_json *line = pawl__json_get_text(options, "singleline");
    struct pawl_json *shown = pawl__json_get_text(line, "adornmentText");
    struct pawl_json text = pawl__json_null();
    struct pawl_buf url;

    if (!shown)
        return;
    pawl__buf_init(&url, call->arena.alloc, (size_t)64 << 10);
    pawl__exchange_base_url(call->exchange, &url);
    pawl__buf_text(&url, call->api->endpoints_base);
    pawl__buf_byte(&url, '/');
    if (b->status == PAWL_OK)
        b->status = url.status;
    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&url), &text);
    if (b->status == PAWL_OK)
        *shown = text;
    pawl__buf_release(&url);
}

static void complete_urls(struct api_call *call, struct pawl_builder *b, struct pawl_json *type)
{
    if (pawl__str_is(pawl__json_str(pawl__json_get_text(type, "typeName")), "Elsa.HttpEndpoint"))
        complete_url(call, b, pawl__json_find(type, pawl__str("/inputs/0/uiSpecifications")));
}

static void list_activities(struct api_call *call, const void *request)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items;
    int status = pawl__op_types_list(&call->op, &items);

    (void)request;
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&items); i++)
        complete_urls(call, &b, pawl__json_at(&items, i));
    if (status == PAWL_OK)
        api_respond_items(call, &b, items);
    else
        api_fail(call, status);
}

static void show_activity(struct api_call *call, const void *data)
{
    const struct type_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json shown;
    int status = pawl__op_type_show(&call->op, request->type, request->version.value, &shown);

    if (status == PAWL_OK)
        complete_urls(call, &b, &shown);
    if (status == PAWL_OK)
        api_respond(call, &b, &shown);
    else
        api_fail(call, status);
}

static void show_options(struct api_call *call, const void *data)
{
    const struct type_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), options;
    int status = pawl__op_type_options(&call->op, request->type, request->version.value,
                                       request->property, &options);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    complete_url(call, &b, &options);
    pawl__build(&b, &out, "items", options);
    api_respond(call, &b, &out);
}

/* ---- catalogs ------------------------------------------------------------------------------- */

static void respond_counted(struct api_call *call, struct pawl_json (*view)(struct pawl_builder *b))
{
    struct pawl_builder b = {.arena = &call->arena};

    api_respond_items(call, &b, view(&b));
}

/* Elsa does not count these two. */
static void respond_uncounted(struct api_call *call,
                              struct pawl_json (*view)(struct pawl_builder *b))
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    pawl__build(&b, &out, "items", view(&b));
    api_respond(call, &b, &out);
}

#define LIST(name, respond, view)                                                                  \
    static void name(struct api_call *call, const void *request)                                   \
    {                                                                                              \
        (void)request;                                                                             \
        respond(call, view);                                                                       \
    }
LIST(list_expressions, respond_counted, pawl__view_expression_types)
LIST(list_variables, respond_uncounted, pawl__view_variable_types)
LIST(list_drivers, respond_uncounted, pawl__view_storage_drivers)
LIST(list_activations, respond_counted, pawl__view_activation_strategies)
LIST(list_incidents, respond_counted, pawl__view_incident_strategies)
LIST(list_logs, respond_counted, pawl__view_log_strategies)
LIST(list_workflow_commits, respond_counted, pawl__view_workflow_commit_strategies)
LIST(list_activity_commits, respond_counted, pawl__view_activity_commit_strategies)
#undef LIST

/* ---- converters ----------------------------------------------------------------------------- */

struct converter_request {
    struct pawl_str source, destination;
};

static const struct api_field converter_fields[] = {
    API_FIELD(struct converter_request, source, "sourceType", API_TEXT, API_IN_QUERY),
    API_FIELD(struct converter_request, destination, "destinationType", API_TEXT, API_IN_QUERY),
};

/* The first of what is wrong with them, behind what was said before. */
static size_t add_faults(struct api_fault *faults, size_t count, struct pawl_str type,
                         const char *missing, const char *unknown)
{
    if (pawl__str_trim(type).len == 0)
        faults[count++] = (struct api_fault){"generalErrors", missing};
    else if (!pawl__catalog_has_type(type))
        faults[count++] = (struct api_fault){"generalErrors", unknown};
    return count;
}

/* Pawl converts by the types of values alone: there is nothing to choose. */
static void list_converters(struct api_call *call, const void *data)
{
    const struct converter_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct api_fault faults[2];
    size_t count = add_faults(faults, 0, request->source, "sourceType is required.",
                              "sourceType is not the name of a type.");

    count = add_faults(faults, count, request->destination, "destinationType is required.",
                       "destinationType is not the name of a type.");
    if (count > 0)
        api_refuse_all(call, 400, faults, count);
    else
        api_respond_items(call, &b, pawl__json_array());
}

/* ---- the table ------------------------------------------------------------------------------ */

#define CATALOG(path_, permission_, handle_, summary_)                                             \
    {                                                                                              \
        .method = "GET", .path = DESCRIPTORS path_, .permission = (permission_),                   \
        .handle = (handle_), .summary = (summary_), .result = "Items"                              \
    }

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = DESCRIPTORS "/activities",
     .permission = "read:activity-descriptors read:*",
     .handle = list_activities,
     .summary = "Types of activities that definitions can use",
     .result = "ActivityDescriptors"},
    {.method = "GET",
     .path = DESCRIPTORS "/activities/{type}",
     .permission = "read:activity-descriptors read:*",
     .handle = show_activity,
     API_FIELDS(struct type_request, type_fields),
     .summary = "One type of activities",
     .result = "ActivityDescriptor"},
    {.method = "POST",
     .path = DESCRIPTORS "/activities/{type}/options/{property}",
     .permission = "read:activity-descriptors-options read:*",
     .handle = show_options,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct type_request, option_fields),
     .summary = "What a designer offers for an input",
     .result = "Options"},
    CATALOG("/expression-descriptors", "read:expression-descriptors read:*", list_expressions,
            "Languages of expressions"),
    CATALOG("/variables", "read:variable-descriptors read:*", list_variables, "Types of variables"),
    CATALOG("/storage-drivers", "read:storage-drivers read:*", list_drivers,
            "Where variables are kept"),
    CATALOG("/workflow-activation-strategies", "read:workflow-activation-strategies",
            list_activations, "When a workflow may be started"),
    CATALOG("/incident-strategies", "read:incident-strategies", list_incidents,
            "What an incident does to a workflow"),
    CATALOG("/log-persistence-strategies", "read:log-persistence-strategies", list_logs,
            "What is kept in the log"),
    CATALOG("/commit-strategies/workflows", "read:commit-strategies", list_workflow_commits,
            "When workflows commit"),
    CATALOG("/commit-strategies/activities", "read:commit-strategies", list_activity_commits,
            "When activities commit"),
    {.method = "GET",
     .path = DESCRIPTORS "/output-converters",
     .permission = "read:output-converters read:*",
     .handle = list_converters,
     API_FIELDS(struct converter_request, converter_fields),
     .summary = "Converters between two types of values: none",
     .result = "Items"},
};
const struct api_family api_descriptors = API_FAMILY("Descriptors", endpoints);
