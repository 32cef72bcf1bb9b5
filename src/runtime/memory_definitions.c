/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: versions, drafts, publishing, triggers, and graphs.
 *
 * Invariants: of one definition id at most one version is published and exactly one is the latest;
 * id, definitionId, version, isLatest and isPublished in a version's JSON are its own.
 */
#include "runtime/memory_private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/builder.h"

/* Problems of one definition that are kept; more are only counted. */
#define PROBLEMS_MAX 1000u

static const struct pawl_json *key(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

/* ---- finding ----------------------------------------------------------------------------- */

struct pawl_memory_definition *pawl__memory_definition(const struct pawl_memory *memory,
                                                       struct pawl_str definition_id,
                                                       enum pawl_memory_pick pick, int64_t version)
{
    struct pawl_memory_definition *definition;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        if (!pawl__str_equal(definition->definition_id, definition_id))
            continue;
        if (version > 0 ? definition->version == version
                        : (pick == PAWL_MEMORY_PUBLISHED ? definition->is_published
                                                         : definition->is_latest))
            return definition;
    }
    return NULL;
}

struct pawl_memory_definition *pawl__memory_version(const struct pawl_memory *memory,
                                                    struct pawl_str version_id)
{
    struct pawl_memory_definition *definition;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        if (pawl__str_equal(definition->version_id, version_id))
            return definition;
    }
    return NULL;
}

static struct pawl_memory_definition *highest(const struct pawl_memory *memory,
                                              struct pawl_str definition_id)
{
    struct pawl_memory_definition *definition, *best = NULL;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        if (pawl__str_equal(definition->definition_id, definition_id) &&
            (!best || definition->version > best->version))
            best = definition;
    }
    return best;
}

/* ---- versions ---------------------------------------------------------------------------- */

/* Writes a key under the spelling that is there, so that there is one of it. */
static void put(struct pawl_builder *b, struct pawl_json *object, const char *name,
                struct pawl_json value)
{
    struct pawl_json *there = pawl__json_get_nocase(object, pawl__str(name));

    if (there)
        *there = value;
    else
        pawl__build(b, object, name, value);
}

/* Any definition may embed any other: a change of one makes all graphs stale. */
static void forget_graphs(struct pawl_memory *memory)
{
    struct pawl_memory_definition *definition;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        pawl__graph_unref(definition->graph);
        definition->graph = NULL;
    }
    memory->catalog_valid = false;
}

static int write_flags(struct pawl_memory *memory, struct pawl_memory_definition *definition)
{
    struct pawl_builder b = {.arena = &memory->arena};

    put(&b, &definition->json, "id", pawl__json_string(definition->version_id));
    put(&b, &definition->json, "definitionId", pawl__json_string(definition->definition_id));
    put(&b, &definition->json, "version", pawl__json_int(definition->version));
    put(&b, &definition->json, "isLatest", pawl__json_bool(definition->is_latest));
    put(&b, &definition->json, "isPublished", pawl__json_bool(definition->is_published));
    forget_graphs(memory);
    return b.status;
}

/* Makes it the latest, published or not, of its versions. */
static int set_flags(struct pawl_memory *memory, struct pawl_memory_definition *definition,
                     bool published)
{
    struct pawl_memory_definition *other;
    int status = PAWL_OK;

    PAWL_LIST_FOR_EACH (other, &memory->definitions, link) {
        if (status != PAWL_OK || !pawl__str_equal(other->definition_id, definition->definition_id))
            continue;
        other->is_latest = other == definition;
        if (published)
            other->is_published = other == definition;
        if (!other->is_published)
            other->trigger_count = 0;
        status = write_flags(memory, other);
    }
    return status;
}

/* A copy of a definition as a version of its own, not yet flagged. */
static int add_version(struct pawl_memory *memory, const struct pawl_json *json,
                       struct pawl_str definition_id, struct pawl_str version_id, int64_t version,
                       struct pawl_memory_definition **out)
{
    struct pawl_memory_definition *definition;
    int status;

    definition = pawl__arena_alloc_zeroed(&memory->arena, sizeof *definition);
    if (!definition)
        return memory_status(&memory->arena);
    definition->definition_id = definition_id.len > 0
                                    ? pawl__arena_str(&memory->arena, definition_id)
                                    : pawl__memory_new_id(memory);
    definition->version_id = version_id.len > 0 ? pawl__arena_str(&memory->arena, version_id)
                                                : pawl__memory_new_id(memory);
    definition->version = version;
    if (!definition->definition_id.ptr || !definition->version_id.ptr)
        return memory_status(&memory->arena);
    status = pawl__json_copy(&memory->arena, json, &definition->json);
    if (status == PAWL_OK) {
        pawl__list_push_back(&memory->definitions, &definition->link);
        *out = definition;
    }
    return status;
}

/* The draft of a definition with this content: `last` itself unless it is published. */
static int draft_of(struct pawl_memory *memory, struct pawl_memory_definition *last,
                    const struct pawl_json *json, struct pawl_memory_definition **out)
{
    struct pawl_memory_definition *draft = last;
    int status;

    if (last->is_published)
        status = add_version(memory, json, last->definition_id, pawl__str(""), last->version + 1,
                             &draft);
    else
        status = pawl__json_copy(&memory->arena, json, &last->json);
    if (status == PAWL_OK)
        status = set_flags(memory, draft, false);
    if (status == PAWL_OK)
        *out = draft;
    return status;
}

int pawl__memory_import(struct pawl_memory *memory, const struct pawl_json *json,
                        struct pawl_memory_definition **out, struct pawl_error *err)
{
    struct pawl_str id = pawl__json_str(key(json, "definitionId"));
    struct pawl_memory_definition *last, *made;
    int status;

    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return pawl__error_set(err, PAWL_EPARSE, "a definition is an object, not %s",
                               pawl__json_type_name(json));
    last = id.len > 0 ? highest(memory, id) : NULL;
    if (last) {
        status = draft_of(memory, last, json, &made);
    } else {
        status = add_version(memory, json, id, pawl__json_str(key(json, "id")), 1, &made);
        if (status == PAWL_OK)
            status = set_flags(memory, made, false);
    }
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (out)
        *out = made;
    return PAWL_OK;
}

int pawl__memory_provide(struct pawl_memory *memory, const struct pawl_json *json,
                         struct pawl_memory_definition **out, struct pawl_error *err)
{
    struct pawl_str id = pawl__json_str(key(json, "definitionId"));
    struct pawl_memory_definition *last = id.len > 0 ? highest(memory, id) : NULL;
    struct pawl_memory_definition *made;
    int64_t version = 1;
    int status = PAWL_OK;

    (void)pawl__json_to_int(key(json, "version"), &version);
    made = pawl__memory_definition(memory, id, PAWL_MEMORY_LATEST, version);
    if (!made)
        status = add_version(memory, json, id, pawl__json_str(key(json, "id")), version, &made);
    else
        status = pawl__json_copy(&memory->arena, json, &made->json);
    if (status == PAWL_OK && (!last || last->version <= version))
        status = set_flags(memory, made, pawl__json_true(key(json, "isPublished")));
    else if (status == PAWL_OK)
        status = write_flags(memory, made);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (out)
        *out = made;
    return PAWL_OK;
}

int pawl__memory_draft(struct pawl_memory *memory, struct pawl_str definition_id,
                       struct pawl_memory_definition **out, struct pawl_error *err)
{
    struct pawl_memory_definition *last = highest(memory, definition_id);
    int status;

    if (!last)
        return pawl__error_set(err, PAWL_ENOTFOUND, "there is no definition %.*s",
                               PAWL_STR_ARG(definition_id));
    if (!last->is_published) {
        *out = last;
        return PAWL_OK;
    }
    status = draft_of(memory, last, &last->json, out);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static void delete_instances(struct pawl_memory *memory,
                             const struct pawl_memory_definition *definition)
{
    struct pawl_list_link *link = memory->instances.head.next, *next;

    for (; link != &memory->instances.head; link = next) {
        struct pawl_memory_instance *instance =
            PAWL_CONTAINER(link, struct pawl_memory_instance, link);

        next = link->next;
        if (instance->definition == definition)
            pawl__memory_free_instance(memory, instance);
    }
}

void pawl__memory_delete_definition(struct pawl_memory *memory, struct pawl_str definition_id)
{
    struct pawl_memory_definition *definition;

    forget_graphs(memory);
    while ((definition = highest(memory, definition_id)) != NULL) {
        delete_instances(memory, definition);
        pawl__list_remove(&definition->link);
    }
}

void pawl__memory_release_definitions(struct pawl_memory *memory)
{
    forget_graphs(memory);
}

/* ---- graphs and triggers ----------------------------------------------------------------- */

static int make_catalog(struct pawl_memory *memory)
{
    struct pawl_memory_definition *definition;
    int status = PAWL_OK;

    pawl__arena_reset(&memory->catalog_arena);
    pawl__catalog_init(&memory->catalog, &memory->catalog_arena);
    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        if (status == PAWL_OK)
            status = pawl__catalog_add(&memory->catalog, &definition->json);
    }
    memory->catalog_valid = status == PAWL_OK;
    return status;
}

int pawl__memory_graph(struct pawl_memory *memory, struct pawl_memory_definition *definition,
                       struct pawl_problems *problems, struct pawl_graph **out,
                       struct pawl_error *err)
{
    int status = PAWL_OK;

    if (!memory->catalog_valid)
        status = make_catalog(memory);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (!definition->graph || problems) {
        struct pawl_graph *graph;

        status = pawl__graph_load(memory->engine, memory->alloc, &definition->json,
                                  &memory->catalog.resolver, NULL, problems, &graph, err);
        if (status != PAWL_OK)
            return status;
        pawl__graph_unref(definition->graph);
        definition->graph = graph;
    }
    *out = definition->graph;
    return PAWL_OK;
}

int pawl__memory_index_triggers(struct pawl_memory *memory,
                                struct pawl_memory_definition *definition, struct pawl_error *err)
{
    int64_t now = pawl__memory_time(memory);
    struct pawl_memory_trigger *triggers;
    struct pawl_triggers found = {0};
    struct pawl_graph *graph = NULL;
    int status;

    definition->trigger_count = 0;
    if (!definition->is_published)
        return PAWL_OK;
    status = pawl__memory_graph(memory, definition, NULL, &graph, err);
    if (status == PAWL_OK)
        status = pawl__graph_triggers(graph, memory->alloc, now, &memory->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    triggers = pawl__arena_alloc_array(&memory->arena, found.count + 1u, sizeof *triggers);
    if (!triggers)
        return pawl__error_code(err, memory_status(&memory->arena));
    for (uint32_t i = 0; i < found.count; i++)
        triggers[i] = (struct pawl_memory_trigger){found.items[i],
                                                   pawl__memory_trigger_due(&found.items[i], now)};
    definition->triggers = triggers;
    definition->trigger_count = found.count;
    return PAWL_OK;
}

/* ---- publishing -------------------------------------------------------------------------- */

/* Points every use of a definition below `value` to one version of it. *found: there was one. */
static int update_uses(struct pawl_builder *b, struct pawl_json *value,
                       const struct pawl_memory_definition *to, bool *found)
{
    for (uint32_t i = 0; i < pawl__json_len(value) && b->status == PAWL_OK; i++)
        (void)update_uses(b, pawl__json_at(value, i), to, found);
    if (!pawl__json_is(value, PAWL_JSON_OBJECT) ||
        !pawl__str_equal(pawl__json_str(key(value, "workflowDefinitionId")), to->definition_id) ||
        !key(value, "type"))
        return b->status;
    *found = true;
    put(b, value, "version", pawl__json_int(to->version));
    put(b, value, "workflowDefinitionVersionId", pawl__json_string(to->version_id));
    put(b, value, "latestAvailablePublishedVersion", pawl__json_int(to->version));
    put(b, value, "latestAvailablePublishedVersionId", pawl__json_string(to->version_id));
    return b->status;
}

static int update_consumer(struct pawl_memory *memory, struct pawl_memory_definition *consumer,
                           const struct pawl_memory_definition *to, struct pawl_error *err)
{
    struct pawl_builder b = {.arena = &memory->arena};
    bool was_published = consumer->is_published, found = false;
    struct pawl_memory_definition *draft;
    struct pawl_json copy;
    int status = pawl__json_copy(&memory->arena, &consumer->json, &copy);

    if (status == PAWL_OK)
        status = update_uses(&b, pawl__json_get_nocase(&copy, pawl__str("root")), to, &found);
    if (status == PAWL_OK && found)
        status = draft_of(memory, consumer, &copy, &draft);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    return found && was_published ? pawl__memory_publish(memory, draft, NULL, err) : PAWL_OK;
}

/* The list grows while it is walked: new drafts come behind and use the new version already. */
static int update_consumers(struct pawl_memory *memory, const struct pawl_memory_definition *to,
                            struct pawl_error *err)
{
    const struct pawl_json *options = key(&to->json, "options");
    const struct pawl_list_link *last = memory->definitions.head.prev;
    struct pawl_memory_definition *consumer;
    int status = PAWL_OK;

    if (!pawl__json_true(key(options, "autoUpdateConsumingWorkflows")))
        return PAWL_OK;
    PAWL_LIST_FOR_EACH (consumer, &memory->definitions, link) {
        if (consumer->is_latest && !pawl__str_equal(consumer->definition_id, to->definition_id))
            status = update_consumer(memory, consumer, to, err);
        if (status != PAWL_OK || &consumer->link == last)
            break;
    }
    return status;
}

static bool is_invalid(const struct pawl_problems *problems)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        if (problems->items[i].level == PAWL_PROBLEM_INVALID)
            return true;
    }
    return false;
}

int pawl__memory_publish(struct pawl_memory *memory, struct pawl_memory_definition *definition,
                         struct pawl_memory_publication *said, struct pawl_error *err)
{
    struct pawl_problems problems = {.arena = &memory->arena, .most = PROBLEMS_MAX};
    struct pawl_graph *graph;
    bool succeeded;
    int status = pawl__memory_graph(memory, definition, &problems, &graph, err);

    if (status != PAWL_OK)
        return status;
    succeeded = !memory->refuse_invalid || !is_invalid(&problems);
    if (said)
        *said = (struct pawl_memory_publication){succeeded, problems};
    if (!succeeded)
        return PAWL_OK;
    status = set_flags(memory, definition, true);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__memory_index_triggers(memory, definition, err);
    return status == PAWL_OK ? update_consumers(memory, definition, err) : status;
}
