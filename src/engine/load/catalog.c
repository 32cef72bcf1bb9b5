/* SPDX-License-Identifier: Apache-2.0 */
/* Finding definitions by the order of Elsa; see struct pawl_workflow_resolver. */
#include "engine/load/catalog.h"

static const struct pawl_json *member(const struct pawl_json *object, const char *key)
{
    return pawl__json_get_nocase(object, pawl__str(key));
}

bool pawl__catalog_usable(const struct pawl_json *definition)
{
    const struct pawl_json *usable = member(member(definition, "options"), "usableAsActivity");

    if (pawl__json_is(usable, PAWL_JSON_BOOL))
        return pawl__json_true(usable);
    return pawl__json_true(member(definition, "usableAsActivity"));
}

/* The better of two versions, of one type or of one definition: the higher. */
static const struct pawl_catalog_entry *newer(const struct pawl_catalog_entry *a,
                                              const struct pawl_catalog_entry *b)
{
    return !a || b->version > a->version ? b : a;
}

static const struct pawl_catalog_entry *find_type(const struct pawl_catalog *catalog,
                                                  const struct pawl_workflow_reference *reference)
{
    const struct pawl_catalog_entry *best = NULL;

    for (uint32_t i = 0; i < catalog->count; i++) {
        const struct pawl_catalog_entry *entry = &catalog->entries[i];

        if (!pawl__str_equal(entry->type, reference->type))
            continue;
        if (reference->version > 0 && entry->version == reference->version)
            return entry;
        best = newer(best, entry);
    }
    return best;
}

static const struct pawl_catalog_entry *find_version_id(const struct pawl_catalog *catalog,
                                                        struct pawl_str version_id)
{
    for (uint32_t i = 0; i < catalog->count; i++) {
        if (pawl__str_equal(catalog->entries[i].version_id, version_id))
            return &catalog->entries[i];
    }
    return NULL;
}

/* The published version of a definition, else the latest. */
static const struct pawl_catalog_entry *find_definition(const struct pawl_catalog *catalog,
                                                        struct pawl_str definition_id)
{
    const struct pawl_catalog_entry *published = NULL, *latest = NULL;

    for (uint32_t i = 0; i < catalog->count; i++) {
        const struct pawl_catalog_entry *entry = &catalog->entries[i];

        if (!pawl__str_equal(entry->definition_id, definition_id))
            continue;
        latest = newer(latest, entry);
        if (entry->published)
            published = newer(published, entry);
    }
    return published ? published : latest;
}

static int find(void *ctx, const struct pawl_workflow_reference *reference,
                const struct pawl_json **out, struct pawl_error *err)
{
    const struct pawl_catalog *catalog = ctx;
    const struct pawl_catalog_entry *entry = NULL, *exact = NULL;

    (void)err;
    if (reference->type.len > 0)
        entry = find_type(catalog, reference);
    if (reference->version_id.len > 0)
        exact = find_version_id(catalog, reference->version_id);
    if (exact)
        entry = exact;
    else if (entry && reference->version_id.len > 0 && entry->definition_id.len > 0)
        entry = find_definition(catalog, entry->definition_id);
    else if (!entry && reference->definition_id.len > 0)
        entry = find_definition(catalog, reference->definition_id);
    if (!entry)
        return PAWL_ENOTFOUND;
    *out = entry->definition;
    return PAWL_OK;
}

void pawl__catalog_init(struct pawl_catalog *catalog, struct pawl_arena *arena)
{
    *catalog = (struct pawl_catalog){.arena = arena, .resolver = {find, catalog}};
}

static int grow(struct pawl_catalog *catalog)
{
    uint32_t cap = catalog->cap ? catalog->cap * 2 : 8;
    struct pawl_catalog_entry *grown;

    if (catalog->count < catalog->cap)
        return PAWL_OK;
    grown = pawl__arena_alloc_array(catalog->arena, cap, sizeof *grown);
    if (!grown)
        return catalog->arena->status;
    if (catalog->count > 0)
        memcpy(grown, catalog->entries, catalog->count * sizeof *grown);
    catalog->entries = grown;
    catalog->cap = cap;
    return PAWL_OK;
}

int pawl__catalog_add(struct pawl_catalog *catalog, const struct pawl_json *definition)
{
    struct pawl_str name = pawl__str_trim(pawl__json_str(member(definition, "name")));
    struct pawl_catalog_entry entry = {
        .definition_id = pawl__json_str(member(definition, "definitionId")),
        .version_id = pawl__json_str(member(definition, "id")),
        .version = 1,
        .published = pawl__json_true(member(definition, "isPublished")),
        .definition = definition,
    };
    int status;

    if (!pawl__catalog_usable(definition))
        return PAWL_OK;
    status = grow(catalog);
    if (status != PAWL_OK)
        return status;
    (void)pawl__json_to_int(member(definition, "version"), &entry.version);
    entry.type = pawl__workflow_type_name(catalog->arena, name);
    if (!entry.type.ptr)
        return catalog->arena->status;
    catalog->entries[catalog->count++] = entry;
    return PAWL_OK;
}
