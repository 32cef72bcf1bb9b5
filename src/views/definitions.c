/* SPDX-License-Identifier: Apache-2.0 */
/* Views of workflow definitions; see definitions.h. */
#include "views/definitions.h"

#include "base/buf.h"

/* Of one definition; the parser's own limit. */
#define ROOT_BYTES_MAX ((size_t)64 << 20)

#define SCHEMA "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json"

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

/* ---- links ----------------------------------------------------------------------------------- */

struct link {
    const char *format; /* with the definition's id */
    const char *rel, *method;
    bool changes;
};

static void add_link(struct pawl_builder *b, struct pawl_json *links, const struct link *link,
                     struct pawl_str id)
{
    const char *at = strstr(link->format, "{}");
    const char *href = link->format;
    struct pawl_json one = pawl__json_object();

    if (at)
        href = pawl__arena_printf(b->arena, "%.*s%.*s%s", (int)(at - link->format), link->format,
                                  PAWL_STR_ARG(id), at + 2);
    if (!href) {
        b->status = pawl__arena_status(b->arena);
        return;
    }
    pawl__build_name(b, &one, "href", href);
    pawl__build_name(b, &one, "rel", link->rel);
    pawl__build_name(b, &one, "method", link->method);
    pawl__build_append(b, links, one);
}

static struct pawl_json make_links(struct pawl_builder *b, const struct link *links, size_t count,
                                   struct pawl_str id, bool readonly)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < count; i++) {
        if (!readonly || !links[i].changes)
            add_link(b, &out, &links[i], id);
    }
    return out;
}

static struct pawl_json links_of(struct pawl_builder *b, const struct pawl_definition_row *row,
                                 bool readonly)
{
    static const struct link links[] = {
        {"/workflow-definitions/{}", "self", "GET", false},
        {"/workflow-definitions/by-definition-id/{}", "self", "GET", false},
        {"/workflow-definitions/{}/versions", "versions", "GET", false},
        {"/workflow-definitions/{}/bulk-dispatch", "bulk-dispatch", "POST", false},
        {"/workflow-definitions/{}/dispatch", "dispatch", "POST", false},
        {"/workflow-definitions/{}/execute", "execute", "POST", false},
        {"/workflow-definitions/{}/export", "export", "POST", false},
        {"/workflow-definitions/{}/publish", "publish", "POST", true},
        {"/workflow-definitions/{}/retract", "retract", "POST", true},
        {"/workflow-definitions/{}", "delete", "DELETE", true},
        {"/workflow-definitions/{}/import", "import", "PUT", true},
        {"/workflow-definitions/{}/update-references", "update-references", "POST", true},
    };

    return make_links(b, links, sizeof links / sizeof links[0], row->definition_id,
                      readonly || row->is_readonly);
}

static struct pawl_json links_of_list(struct pawl_builder *b, bool readonly)
{
    static const struct link links[] = {
        {"/workflow-definitions", "self", "GET", false},
        {"/workflow-definitions/validation/is-name-unique", "is-name-unique", "GET", false},
        {"/workflow-definitions/query/count", "count", "GET", false},
        {"/workflow-definitions/many-by-id", "many-by-id", "GET", false},
        {"/bulk-actions/delete/workflow-definitions/by-definition-id",
         "bulk-delete-by-definition-id", "POST", true},
        {"/bulk-actions/delete/workflow-definitions/by-id", "bulk-delete-by-id", "POST", true},
        {"/bulk-actions/publish/workflow-definitions/by-definition-ids", "bulk-publish", "POST",
         true},
        {"/bulk-actions/retract/workflow-definitions/by-definition-ids", "bulk-retract", "POST",
         true},
        {"/workflow-definitions/import", "import", "POST", true},
        {"/workflow-definitions/import-files", "import-files", "POST", true},
        {"/workflow-definitions", "create", "POST", true},
    };

    return make_links(b, links, sizeof links / sizeof links[0], pawl__str(""), readonly);
}

/* ---- parts of a definition ---------------------------------------------------------------------
 */

static struct pawl_json object_of(const struct pawl_json *json, const char *key)
{
    const struct pawl_json *value = member(json, key);

    return pawl__json_is(value, PAWL_JSON_OBJECT) ? *value : pawl__json_object();
}

/* ---- definitions
 * --------------------------------------------------------------------------------- */

static void put_definition(struct pawl_builder *b, struct pawl_json *out,
                           const struct pawl_definition_shown *shown)
{
    const struct pawl_definition_row *row = &shown->row;
    const struct pawl_json *json = &shown->json;

    pawl__view_text(b, out, "id", row->id);
    pawl__view_text(b, out, "definitionId", row->definition_id);
    put_set(b, out, json, "name");
    put_set(b, out, json, "description");
    pawl__view_time(b, out, "createdAt", row->created_us);
    pawl__build_int(b, out, "version", row->version);
    put_set(b, out, json, "toolVersion");
    pawl__build(b, out, "variables", shown->variables);
    pawl__build(b, out, "inputs", shown->inputs);
    pawl__build(b, out, "outputs", shown->outputs);
    pawl__build(b, out, "outcomes", shown->outcomes);
    pawl__build(b, out, "customProperties", object_of(json, "customProperties"));
    pawl__build_bool(b, out, "isReadonly", row->is_readonly);
    pawl__build_bool(b, out, "isSystem", row->is_system);
    pawl__build_bool(b, out, "isLatest", row->is_latest);
    pawl__build_bool(b, out, "isPublished", row->is_published);
    pawl__build(b, out, "options", pawl__definition_options(b, json));
    pawl__build(b, out, "root", shown->root);
}

struct pawl_json pawl__view_definition(struct pawl_builder *b,
                                       const struct pawl_definition_shown *shown, bool readonly)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "links", links_of(b, &shown->row, readonly));
    put_definition(b, &out, shown);
    return out;
}

struct pawl_json pawl__view_definition_export(struct pawl_builder *b,
                                              const struct pawl_definition_shown *shown)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_name(b, &out, "$schema", SCHEMA);
    put_definition(b, &out, shown);
    return out;
}

static void put_summary(struct pawl_builder *b, struct pawl_json *out,
                        const struct pawl_definition_row *row)
{
    pawl__view_text(b, out, "id", row->id);
    pawl__view_text(b, out, "definitionId", row->definition_id);
    pawl__view_optional(b, out, "name", row->name);
    pawl__view_optional(b, out, "description", row->description);
    pawl__build_int(b, out, "version", row->version);
    pawl__view_optional(b, out, "toolVersion", row->tool_version);
    pawl__build_bool(b, out, "isLatest", row->is_latest);
    pawl__build_bool(b, out, "isPublished", row->is_published);
    pawl__view_optional(b, out, "providerName", row->provider);
    pawl__build_name(b, out, "materializerName", "Json");
    pawl__view_time(b, out, "createdAt", row->created_us);
    pawl__build_bool(b, out, "isReadonly", row->is_readonly);
}

struct pawl_json pawl__view_definition_summary(struct pawl_builder *b,
                                               const struct pawl_definition_row *row)
{
    struct pawl_json out = pawl__json_object();

    put_summary(b, &out, row);
    return out;
}

struct pawl_json pawl__view_definition_item(struct pawl_builder *b,
                                            const struct pawl_definition_row *row, bool readonly)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "links", links_of(b, row, readonly));
    pawl__build_bool(b, &out, "isMaterializerAvailable", true);
    put_summary(b, &out, row);
    return out;
}

struct pawl_json pawl__view_definition_list(struct pawl_builder *b,
                                            const struct pawl_definition_list *list, uint64_t total,
                                            bool readonly)
{
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();

    for (size_t i = 0; i < list->count; i++)
        pawl__build_append(b, &items, pawl__view_definition_item(b, &list->rows[i], readonly));
    pawl__build(b, &out, "items", items);
    pawl__build_int(b, &out, "totalCount", (int64_t)total);
    pawl__build(b, &out, "links", links_of_list(b, readonly));
    return out;
}

struct pawl_json pawl__view_definitions(struct pawl_builder *b,
                                        const struct pawl_definitions_shown *shown, bool readonly)
{
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();

    for (size_t i = 0; i < shown->count; i++)
        pawl__build_append(b, &items, pawl__view_definition(b, &shown->items[i], readonly));
    pawl__build(b, &out, "items", items);
    pawl__build_int(b, &out, "count", (int64_t)shown->count);
    return out;
}

static struct pawl_json array_of(const struct pawl_json *json, const char *key)
{
    const struct pawl_json *value = member(json, key);

    return pawl__json_is(value, PAWL_JSON_ARRAY) ? *value : pawl__json_array();
}

/* The root as text. */
static struct pawl_json root_text(struct pawl_builder *b, const struct pawl_json *json)
{
    const struct pawl_json *root = member(json, "root");
    struct pawl_json out = pawl__json_string(pawl__str(""));
    struct pawl_buf text;

    pawl__buf_init(&text, b->arena->alloc, ROOT_BYTES_MAX);
    pawl__json_write(&text, root ? root : &out, PAWL_JSON_ESCAPE_MINIMAL);
    if (b->status == PAWL_OK)
        b->status = text.status;
    if (b->status == PAWL_OK && root)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&text), &out);
    pawl__buf_release(&text);
    return out;
}

static struct pawl_json stored(struct pawl_builder *b, const struct pawl_definition_row *row)
{
    static const char *const lists[] = {"variables", "inputs", "outputs", "outcomes"};
    struct pawl_json out = pawl__json_object(), json = pawl__json_null();

    /* What is damaged is shown as far as the row has it. */
    if (b->status == PAWL_OK &&
        pawl__json_parse(b->arena, row->data, NULL, &json, NULL, NULL) == PAWL_ENOMEM)
        b->status = PAWL_ENOMEM;
    pawl__view_text(b, &out, "definitionId", row->definition_id);
    put_set(b, &out, &json, "name");
    put_set(b, &out, &json, "description");
    put_set(b, &out, &json, "toolVersion");
    pawl__build(b, &out, "options", pawl__definition_options(b, &json));
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        pawl__build(b, &out, lists[i], array_of(&json, lists[i]));
    pawl__build(b, &out, "customProperties", object_of(&json, "customProperties"));
    pawl__view_optional(b, &out, "providerName", row->provider);
    pawl__build_name(b, &out, "materializerName", "Json");
    pawl__build(b, &out, "stringData", root_text(b, &json));
    pawl__build_bool(b, &out, "isReadonly", row->is_readonly);
    pawl__build_bool(b, &out, "isSystem", row->is_system);
    pawl__view_time(b, &out, "createdAt", row->created_us);
    pawl__build_int(b, &out, "version", row->version);
    pawl__build_bool(b, &out, "isLatest", row->is_latest);
    pawl__build_bool(b, &out, "isPublished", row->is_published);
    pawl__view_text(b, &out, "id", row->id);
    return out;
}

struct pawl_json pawl__view_definitions_stored(struct pawl_builder *b,
                                               const struct pawl_definition_list *list)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < list->count; i++)
        pawl__build_append(b, &out, stored(b, &list->rows[i]));
    return out;
}

struct pawl_json pawl__view_definition_pair(struct pawl_builder *b,
                                            const struct pawl_definition_pair *pair)
{
    const struct pawl_definition_row *latest = pair->latest;
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "definitionId", latest->definition_id);
    pawl__build_int(b, &out, "latest", latest->version);
    pawl__build(b, &out, "published",
                pair->published ? pawl__json_int(pair->published->version) : pawl__json_null());
    pawl__view_text(b, &out, "name", latest->name);
    pawl__build_bool(b, &out, "usableAsActivity", latest->usable_as_activity);
    pawl__build_bool(b, &out, "isReadonly", latest->is_readonly);
    pawl__build_bool(b, &out, "isSystem", latest->is_system);
    pawl__view_time(b, &out, "createdAt", latest->created_us);
    return out;
}

/* ---- results
 * --------------------------------------------------------------------------------------- */

struct pawl_json pawl__view_problems(struct pawl_builder *b, const struct pawl_problems *problems)
{
    static const char *const levels[] = {
        [PAWL_PROBLEM_WARNING] = "Warning",
        [PAWL_PROBLEM_ERROR] = "Error",
        [PAWL_PROBLEM_INVALID] = "Invalid",
    };
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < problems->count; i++) {
        const struct pawl_problem *problem = &problems->items[i];
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "level", levels[problem->level]);
        pawl__build_name(b, &one, "pointer", problem->pointer ? problem->pointer : "");
        pawl__build_name(b, &one, "activityId", problem->activity_id ? problem->activity_id : "");
        pawl__build_name(b, &one, "message", problem->message ? problem->message : "");
        pawl__build_append(b, &out, one);
    }
    return out;
}

struct pawl_json pawl__view_definition_saved(struct pawl_builder *b,
                                             const struct pawl_definition_saved *saved,
                                             const struct pawl_definition_shown *shown)
{
    struct pawl_json out = pawl__json_object(), errors = pawl__json_array();
    const struct pawl_problems *problems = &saved->publication.problems;

    for (uint32_t i = 0; i < problems->count; i++) {
        if (problems->items[i].level == PAWL_PROBLEM_INVALID)
            pawl__build_append(b, &errors,
                               pawl__json_string(pawl__str(problems->items[i].message)));
    }
    pawl__build(b, &out, "workflowDefinition", pawl__view_definition(b, shown, false));
    pawl__build_bool(b, &out, "alreadyPublished", saved->already_published);
    pawl__build_int(b, &out, "consumingWorkflowCount", (int64_t)saved->consumer_count);
    pawl__build(b, &out, "validationErrors", errors);
    return out;
}

struct pawl_json pawl__view_ids(struct pawl_builder *b, const struct pawl_str *ids, size_t count)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < count; i++)
        pawl__build_append(b, &out, pawl__json_string(ids[i]));
    return out;
}

static void put_ids(struct pawl_builder *b, struct pawl_json *out, const char *key,
                    const struct pawl_definition_ids_list *list)
{
    pawl__build(b, out, key, pawl__view_ids(b, list->items, list->count));
}

static void put_under(struct pawl_builder *b, struct pawl_json *out, struct pawl_str key,
                      struct pawl_json value)
{
    if (b->status == PAWL_OK)
        b->status = pawl__json_set(b->arena, out, key, value);
}

/* What publishing said besides: by definition, only those of which there is something to say. */
static struct pawl_json warnings_of(struct pawl_builder *b,
                                    const struct pawl_definitions_published *done)
{
    struct pawl_json out = pawl__json_object();

    for (size_t i = 0; i < done->published.count; i++) {
        const struct pawl_problems *problems = &done->warnings[i];
        struct pawl_json messages = pawl__json_array();

        for (uint32_t j = 0; j < problems->count; j++)
            pawl__build_append(b, &messages,
                               pawl__json_string(pawl__str(problems->items[j].message)));
        if (problems->count > 0)
            put_under(b, &out, done->published.items[i], messages);
    }
    return out;
}

struct pawl_json pawl__view_definitions_published(struct pawl_builder *b,
                                                  const struct pawl_definitions_published *done)
{
    struct pawl_json out = pawl__json_object();

    put_ids(b, &out, "published", &done->published);
    put_ids(b, &out, "alreadyPublished", &done->already_published);
    put_ids(b, &out, "notFound", &done->not_found);
    put_ids(b, &out, "skipped", &done->skipped);
    put_ids(b, &out, "updatedConsumers", &done->updated_consumers);
    put_ids(b, &out, "failed", &done->failed);
    pawl__build(b, &out, "warnings", warnings_of(b, done));
    return out;
}

struct pawl_json pawl__view_definitions_retracted(struct pawl_builder *b,
                                                  const struct pawl_definitions_retracted *done)
{
    struct pawl_json out = pawl__json_object();

    put_ids(b, &out, "retracted", &done->retracted);
    put_ids(b, &out, "alreadyRetracted", &done->already_retracted);
    put_ids(b, &out, "skipped", &done->skipped);
    put_ids(b, &out, "notPublished", &done->not_published);
    put_ids(b, &out, "notFound", &done->not_found);
    if (done->failed.count > 0) /* which the reference does not have: there one ends the call */
        put_ids(b, &out, "failed", &done->failed);
    return out;
}

struct pawl_json pawl__view_refreshed(struct pawl_builder *b, const struct pawl_refreshed *done)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "refreshed", pawl__view_ids(b, done->refreshed, done->refreshed_count));
    pawl__build(b, &out, "notFound", pawl__view_ids(b, done->not_found, done->not_found_count));
    if (done->in_progress)
        pawl__build_name(b, &out, "status", "AlreadyInProgress");
    return out;
}

struct pawl_json pawl__view_reloaded(struct pawl_builder *b, const struct pawl_reloaded *done)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_int(b, &out, "provided", done->provided);
    pawl__build_int(b, &out, "failed", done->failed);
    pawl__build_bool(b, &out, "alreadyInProgress", done->in_progress);
    return out;
}

/* ---- nodes, paths ------------------------------------------------------------------------------
 */

struct pawl_json pawl__view_graph_node(struct pawl_builder *b,
                                       const struct pawl_definition_node *node)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "nodeId", node->node_id);
    pawl__view_text(b, &out, "port", node->port);
    pawl__build(b, &out, "activity", node->activity);
    return out;
}

struct pawl_json pawl__view_path(struct pawl_builder *b, const struct pawl_definition_path *path)
{
    struct pawl_json out = pawl__json_object(), segments = pawl__json_array();

    for (size_t i = 0; i < path->segment_count; i++) {
        const struct pawl_definition_node *node = &path->segments[i];
        struct pawl_json one = pawl__json_object();

        pawl__view_text(b, &one, "activityNodeId", node->node_id);
        pawl__view_text(b, &one, "activityId", node->id);
        pawl__view_text(b, &one, "activityType", node->type);
        pawl__view_text(b, &one, "portName", node->port);
        pawl__view_optional(b, &one, "activityName", node->name);
        pawl__build_append(b, &segments, one);
    }
    pawl__build(b, &out, "childNode", pawl__view_graph_node(b, &path->child));
    pawl__build(b, &out, "container", pawl__view_graph_node(b, &path->container));
    pawl__build(b, &out, "pathSegments", segments);
    return out;
}
