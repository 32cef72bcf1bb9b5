/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves the references of stored documents, see pawl__json_unreference() in value.h.
 *
 * One pass in document order over a copy, in place. What a $ref means is shared, so the memory is
 * bounded by the document; the size and the depth that the result has when walked are counted, so
 * that a small document cannot unfold into one that takes forever.
 */
#include "base/error.h"
#include "base/map.h"
#include "engine/value/value.h"

/* What has an $id. `nodes` 0: still being read, so that a $ref to it is a cycle. */
struct target {
    struct pawl_json json;
    uint64_t nodes;
    uint32_t depth;
};

struct resolver {
    struct pawl_arena *arena;
    struct pawl_map targets; /* id -> struct target, in the arena */
    struct pawl_error *err;
};

/* How large a resolved value is. */
struct extent {
    uint64_t nodes;
    uint32_t depth;
};

static int resolve(struct resolver *resolver, struct pawl_json *json, uint32_t depth,
                   struct extent *extent);

static bool is_reference_key(struct pawl_str key)
{
    return pawl__str_is(key, "$id") || pawl__str_is(key, "$ref") || pawl__str_is(key, "$values");
}

static bool has_references(const struct pawl_json *json)
{
    bool object = pawl__json_is(json, PAWL_JSON_OBJECT);

    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        if (object && is_reference_key(pawl__json_member(json, i)->key))
            return true;
        if (has_references(pawl__json_at(json, i)))
            return true;
    }
    return false;
}

/* Adds a part that stands one level below. */
static int grow(struct resolver *resolver, struct extent *extent, struct extent part)
{
    extent->nodes += part.nodes;
    if (part.depth + 1 > extent->depth)
        extent->depth = part.depth + 1;
    if (extent->nodes > PAWL_UNREFERENCE_NODES_MAX)
        return pawl__error_set(resolver->err, PAWL_ELIMIT,
                               "references: the document unfolds to more than %d values",
                               PAWL_UNREFERENCE_NODES_MAX);
    return PAWL_OK;
}

static int follow(struct resolver *resolver, const struct pawl_json *ref, uint32_t depth,
                  struct pawl_json *out, struct extent *extent)
{
    struct pawl_str id = pawl__json_str(ref);
    const struct target *target = pawl__map_get(&resolver->targets, id);

    if (!target)
        return pawl__error_set(
            resolver->err, PAWL_EPARSE,
            "references: $ref \"%.*s\" names an $id that does not come before it",
            PAWL_STR_ARG(id));
    if (target->nodes == 0)
        return pawl__error_set(resolver->err, PAWL_EPARSE,
                               "references: $ref \"%.*s\" stands inside what it refers to",
                               PAWL_STR_ARG(id));
    if (depth + target->depth > PAWL_JSON_DEPTH_MAX)
        return pawl__error_set(resolver->err, PAWL_ELIMIT,
                               "references: the document unfolds to more than %d levels",
                               PAWL_JSON_DEPTH_MAX);
    *out = target->json;
    *extent = (struct extent){.nodes = target->nodes, .depth = target->depth};
    return PAWL_OK;
}

/* Enters an $id; NULL in *out when there is none. */
static int enter(struct resolver *resolver, const struct pawl_json *id, struct target **out)
{
    struct pawl_str name = pawl__json_str(id);

    *out = NULL;
    if (!pawl__json_is(id, PAWL_JSON_STRING))
        return PAWL_OK;
    if (pawl__map_has(&resolver->targets, name))
        return pawl__error_set(resolver->err, PAWL_EPARSE, "references: $id \"%.*s\" occurs twice",
                               PAWL_STR_ARG(name));
    *out = pawl__arena_alloc_zeroed(resolver->arena, sizeof **out);
    if (!*out)
        return resolver->arena->status;
    return pawl__map_put(&resolver->targets, name, *out);
}

static int resolve_items(struct resolver *resolver, struct pawl_json *container, uint32_t depth,
                         struct extent *extent)
{
    int status = PAWL_OK;

    *extent = (struct extent){.nodes = 1};
    for (uint32_t i = 0; i < pawl__json_len(container) && status == PAWL_OK; i++) {
        struct extent part;

        status = resolve(resolver, pawl__json_at(container, i), depth + 1, &part);
        if (status == PAWL_OK)
            status = grow(resolver, extent, part);
    }
    return status;
}

/* Takes $id and $values off an object, which may turn it into an array. */
static void strip(struct pawl_json *json)
{
    struct pawl_json *values;

    (void)pawl__json_remove(json, pawl__str("$id"));
    values = pawl__json_get_text(json, "$values");
    if (!pawl__json_is(values, PAWL_JSON_ARRAY))
        return;
    if (pawl__json_len(json) == 1) {
        *json = *values;
        return;
    }
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        struct pawl_json_member *member = pawl__json_member(json, i);

        if (pawl__str_is(member->key, "$values"))
            member->key = pawl__str("_items");
    }
}

static int resolve(struct resolver *resolver, struct pawl_json *json, uint32_t depth,
                   struct extent *extent)
{
    const struct pawl_json *ref = pawl__json_get_text(json, "$ref");
    struct target *target = NULL;
    int status;

    if (pawl__json_is(ref, PAWL_JSON_STRING))
        return follow(resolver, ref, depth, json, extent);
    status = enter(resolver, pawl__json_get_text(json, "$id"), &target);
    if (status != PAWL_OK)
        return status;
    if (pawl__json_is(json, PAWL_JSON_OBJECT))
        strip(json);
    status = resolve_items(resolver, json, depth, extent);
    if (status == PAWL_OK && target)
        *target = (struct target){.json = *json, .nodes = extent->nodes, .depth = extent->depth};
    return status;
}

int pawl__json_unreference(struct pawl_arena *arena, const struct pawl_json *in,
                           struct pawl_json *out, struct pawl_error *err)
{
    struct resolver resolver = {.arena = arena, .err = err};
    /* The order of a map does not depend on its seed, so an address will do. */
    struct pawl_hash_seed seed = {(uint64_t)(uintptr_t)arena, (uint64_t)(uintptr_t)&resolver};
    struct pawl_json resolved = pawl__json_null();
    struct extent extent;
    int status;

    if (!has_references(in)) {
        *out = *in;
        return PAWL_OK;
    }
    pawl__map_init(&resolver.targets, arena->alloc, seed);
    status = pawl__json_copy(arena, in, &resolved);
    if (status == PAWL_OK)
        status = resolve(&resolver, &resolved, 0, &extent);
    pawl__map_release(&resolver.targets);
    if (status == PAWL_OK)
        *out = resolved;
    return status;
}
