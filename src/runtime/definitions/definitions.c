/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions in a store: the object's life, ids, and finding one version. The cache of graphs is
 * in graphs.c, what changes definitions in change.c, publish.c
 * and triggers.c.
 */
#include "runtime/definitions/private.h"

#include "base/alloc.h"

#define GRAPHS_DEFAULT 1000u
#define STALE_NS_DEFAULT INT64_C(1000000000)

/* ---- life -------------------------------------------------------------------------------- */

static int draw_entropy(void *ctx, void *out, size_t size_bytes, struct pawl_error *err)
{
    return pawl_env_entropy(ctx, out, size_bytes, err);
}

int pawl__definitions_new(struct pawl_env *env, const struct pawl_engine *engine,
                          struct pawl_store *store, const struct pawl_definitions_options *options,
                          struct pawl_definitions **out, struct pawl_error *err)
{
    struct pawl_definitions *definitions = pawl__alloc_zeroed(&env->alloc, sizeof *definitions);
    struct pawl_hash_seed seed;
    int status;

    if (!definitions)
        return pawl__error_code(err, PAWL_ENOMEM);
    definitions->env = env;
    definitions->engine = engine;
    definitions->store = store;
    if (options)
        definitions->options = *options;
    if (definitions->options.graphs_max == 0)
        definitions->options.graphs_max = GRAPHS_DEFAULT;
    if (definitions->options.stale_ns_max <= 0)
        definitions->options.stale_ns_max = STALE_NS_DEFAULT;
    definitions->seen_ns = INT64_MIN;
    if (definitions->options.seed != 0)
        pawl__id_source_init_seeded(&definitions->ids, 1, definitions->options.seed);
    else
        pawl__id_source_init(&definitions->ids, 0, (struct pawl_id_entropy){draw_entropy, env});
    status = pawl_env_entropy(env, &seed, sizeof seed, err);
    if (status == PAWL_OK) {
        status = pawl_mutex_new(env, "definitions", &definitions->lock);
        if (status != PAWL_OK)
            status = pawl__error_code(err, status);
    }
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, definitions, sizeof *definitions);
        return status;
    }
    pawl__map_init(&definitions->graphs, &env->alloc, seed);
    pawl__map_init(&definitions->published, &env->alloc, seed);
    pawl__map_init(&definitions->triggers, &env->alloc, seed);
    *out = definitions;
    return PAWL_OK;
}

void pawl__definitions_free(struct pawl_definitions *definitions)
{
    if (!definitions)
        return;
    pawl__definitions_release_graphs(definitions);
    pawl_mutex_free(definitions->env, definitions->lock);
    pawl__free(&definitions->env->alloc, definitions, sizeof *definitions);
}

int pawl__definition_new_id(const struct definition_call *call, bool uuid, struct pawl_str *out)
{
    struct pawl_definitions *definitions = call->definitions;
    int64_t now_ms = pawl_env_wall_ns(definitions->env) / 1000000;
    char text[PAWL_UUID_TEXT_SIZE];
    struct pawl_uuid id;
    struct pawl_str copy;
    int status = pawl__definitions_lock(definitions, call->err);

    if (status != PAWL_OK)
        return status;
    if (uuid)
        status = pawl__id_uuid(&definitions->ids, now_ms, &id, call->err);
    else
        status = pawl__id_random(&definitions->ids, text, call->err);
    pawl__definitions_unlock(definitions);
    if (status != PAWL_OK)
        return status;
    if (uuid)
        pawl__uuid_format(&id, text);
    copy = pawl__arena_str(call->arena, pawl__str(text));
    if (!copy.ptr)
        return pawl__error_code(call->err, pawl__arena_status(call->arena));
    *out = copy;
    return PAWL_OK;
}

/* ---- finding ----------------------------------------------------------------------------- */

/* One query, so that no change can come between: the better of at most two rows. */
static int pick_flagged(const struct definition_call *call, struct pawl_str definition_id,
                        const struct pawl_definition_row **out)
{
    struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_latest", PAWL_NE, 0),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_published", PAWL_NE, 0),
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS, .conditions = conditions, .condition_count = 3};
    const struct pawl_definition_row *all;
    struct pawl_rows rows;
    int status;

    conditions[1].any = conditions[2].any = 1;
    status = pawl__definition_query(call, &query, &rows);
    if (status != PAWL_OK)
        return status;
    all = rows.rows;
    *out = rows.count > 0 ? &all[0] : NULL;
    for (size_t i = 0; i < rows.count; i++) {
        if (all[i].is_latest)
            *out = &all[i];
    }
    return PAWL_OK;
}

static int find_row(const struct definition_call *call, struct pawl_str definition_id,
                    enum pawl_version_pick pick, int64_t version,
                    const struct pawl_definition_row **out)
{
    struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_latest", PAWL_NE, 0),
    };

    if (version > 0)
        conditions[1] = pawl__where_int(PAWL_TABLE_DEFINITIONS, "version", PAWL_EQ, version);
    else if (pick == PAWL_VERSIONS_PUBLISHED)
        return pawl__definition_published(call, definition_id, out);
    else if (pick == PAWL_VERSIONS_LATEST_OR_PUBLISHED)
        return pick_flagged(call, definition_id, out);
    return pawl__definition_first(call, conditions, 2, out);
}

int pawl__definitions_find(struct pawl_definitions *definitions, struct pawl_str definition_id,
                           enum pawl_version_pick pick, int64_t version, struct pawl_arena *arena,
                           struct pawl_definition_row *out, int64_t deadline_ns,
                           struct pawl_error *err)
{
    static const char *const picks[] = {
        [PAWL_VERSIONS_PUBLISHED] = "published version of the",
        [PAWL_VERSIONS_LATEST_OR_PUBLISHED] = "latest or published version of a",
        [PAWL_VERSIONS_NUMBER] = NULL,
    };
    const struct pawl_definition_row *row = NULL;
    struct pawl_arena scratch;
    const struct definition_call call = {definitions, &scratch, deadline_ns, err, NULL};
    int status;

    pawl__arena_init(&scratch, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    status = find_row(&call, definition_id, pick, version, &row);
    if (status == PAWL_OK && row)
        status = pawl__definition_answer(&call, row, arena, out);
    else if (status == PAWL_OK && version > 0)
        status =
            pawl__error_set(err, PAWL_ENOTFOUND, "there is no version %lld of a definition %.*s",
                            (long long)version, PAWL_STR_ARG(definition_id));
    else if (status == PAWL_OK)
        status = pawl__error_set(err, PAWL_ENOTFOUND, "there is no %s definition %.*s",
                                 picks[pick] ? picks[pick] : "latest version of a",
                                 PAWL_STR_ARG(definition_id));
    pawl__arena_release(&scratch);
    return status;
}
