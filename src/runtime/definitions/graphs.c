/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graphs of definitions: loading them, and the cache.
 *
 * Invariants of the cache: `stamp` was read from the store before anything that is cached was read,
 * or what is cached was compared with rows that were read after it. So a look at the stamp that
 * finds it unmoved says that all of it is current. What was loaded while the stamp moved is handed
 * out and not kept.
 *
 * When the stamp has moved, graphs stay whose row has the same revision and the same flags. Those
 * that asked for other definitions while they were loaded are dropped without a look: which version
 * a name means depends on all definitions that can be used as activities. Graphs in use live on by
 * their references.
 */
#include "runtime/definitions/private.h"

#include "base/alloc.h"

/* ---- life -------------------------------------------------------------------------------- */

/* With the lock held, or nobody else there. */
static void drop(struct pawl_definitions *definitions, struct definition_graph *entry)
{
    const struct pawl_workflow *workflow = entry->graph->workflow;

    if (pawl__map_get(&definitions->published, workflow->definition_id) == entry)
        (void)pawl__map_remove(&definitions->published, workflow->definition_id);
    (void)pawl__map_remove(&definitions->graphs, workflow->version_id);
    pawl__graph_unref(entry->graph);
    pawl__free(&definitions->env->alloc, entry, sizeof *entry);
}

static void free_catalog(struct pawl_definitions *definitions, struct definition_catalog *catalog)
{
    pawl__arena_release(&catalog->arena);
    pawl__free(&definitions->env->alloc, catalog, sizeof *catalog);
}

static void unref_catalog(struct pawl_definitions *definitions, struct definition_catalog *catalog)
{
    if (catalog && atomic_fetch_sub(&catalog->references, 1) == 1)
        free_catalog(definitions, catalog);
}

void pawl__definitions_release_graphs(struct pawl_definitions *definitions)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &definitions->graphs)
        drop(definitions, entry->value);
    pawl__map_release(&definitions->graphs);
    pawl__map_release(&definitions->published);
    pawl__definitions_drop_triggers(definitions);
    pawl__map_release(&definitions->triggers);
    unref_catalog(definitions, definitions->catalog);
}

/* ---- the stamp --------------------------------------------------------------------------- */

void pawl__definitions_note_change(struct pawl_definitions *definitions)
{
    /* When the environment is going away nobody will read from the cache any more. */
    if (pawl__definitions_lock(definitions, NULL) != PAWL_OK)
        return;
    definitions->change_count++;
    definitions->seen_ns = INT64_MIN;
    pawl__definitions_unlock(definitions);
}

/* The ids of the graphs that stay if their rows did, as values of a condition. */
static int collect_ids(const struct definition_call *call, struct pawl_datum **ids, size_t *count)
{
    struct pawl_definitions *definitions = call->definitions;
    struct pawl_map_entry *entry;
    size_t used = 0;
    struct pawl_datum *values;
    int status = pawl__definitions_lock(definitions, call->err);

    if (status != PAWL_OK)
        return status;
    values =
        pawl__arena_alloc_array(call->arena, definitions->graphs.live_count + 1u, sizeof *values);
    PAWL_MAP_FOR_EACH (entry, &definitions->graphs) {
        const struct definition_graph *cached = entry->value;

        if (values && !cached->asked)
            values[used++] = (struct pawl_datum){.text = pawl__arena_str(call->arena, entry->key)};
    }
    pawl__definitions_unlock(definitions);
    if (call->arena->status != PAWL_OK)
        return pawl__error_code(call->err, call->arena->status);
    *ids = values;
    *count = used;
    return PAWL_OK;
}

/* With the lock held: notes which graphs are as these rows say. */
static void compare(struct pawl_definitions *definitions, const struct pawl_rows *rows)
{
    const struct pawl_definition_row *all = rows->rows;

    for (size_t i = 0; i < rows->count; i++) {
        struct definition_graph *cached = pawl__map_get(&definitions->graphs, all[i].id);

        if (cached && !cached->asked && cached->revision == all[i].revision &&
            cached->is_latest == (all[i].is_latest != 0) &&
            cached->is_published == (all[i].is_published != 0))
            cached->compared = definitions->compare_count;
    }
}

/* Rows of the given versions, without data, in pieces that a query takes. */
static int read_brief(const struct definition_call *call, const struct pawl_datum *ids,
                      size_t count, struct pawl_rows **out, size_t *pieces)
{
    size_t most = count / PAWL_STORE_VALUES_MAX + 1, used = 0;
    struct pawl_rows *rows = pawl__arena_alloc_array(call->arena, most, sizeof *rows);
    int status = PAWL_OK;

    if (!rows)
        return pawl__error_code(call->err, pawl__arena_status(call->arena));
    for (size_t at = 0; at < count && status == PAWL_OK; at += PAWL_STORE_VALUES_MAX) {
        size_t left = count - at;
        const struct pawl_condition condition = {
            .column = pawl_table_column(PAWL_TABLE_DEFINITIONS, "id"),
            .compare = PAWL_IN,
            .values = ids + at,
            .value_count = left < PAWL_STORE_VALUES_MAX ? left : PAWL_STORE_VALUES_MAX,
        };
        const struct pawl_query query = {
            .table = PAWL_TABLE_DEFINITIONS,
            .flags = PAWL_QUERY_BRIEF,
            .conditions = &condition,
            .condition_count = 1,
            .limit = PAWL_STORE_VALUES_MAX,
        };

        status = pawl__definition_query(call, &query, &rows[used++]);
    }
    *out = rows;
    *pieces = used;
    return status;
}

/* The stamp has moved: keeps what is the same in the store after that, drops the rest. */
static int forget(const struct definition_call *call, int64_t stamp, int64_t began_ns,
                  uint64_t change_count)
{
    struct pawl_definitions *definitions = call->definitions;
    struct pawl_map_entry *entry;
    struct pawl_datum *ids = NULL;
    struct pawl_rows *rows = NULL;
    size_t count = 0, pieces = 0;
    int status = collect_ids(call, &ids, &count);

    if (status == PAWL_OK)
        status = read_brief(call, ids, count, &rows, &pieces);
    if (status == PAWL_OK)
        status = pawl__definitions_lock(definitions, call->err);
    if (status != PAWL_OK)
        return status;
    definitions->compare_count++;
    for (size_t i = 0; i < pieces; i++)
        compare(definitions, &rows[i]);
    /* What came into the cache meanwhile was not compared, and goes as well. */
    PAWL_MAP_FOR_EACH (entry, &definitions->graphs) {
        struct definition_graph *cached = entry->value;

        if (cached->compared != definitions->compare_count)
            drop(definitions, cached);
    }
    pawl__definitions_drop_triggers(definitions);
    unref_catalog(definitions, definitions->catalog);
    definitions->catalog = NULL;
    definitions->stamp = stamp;
    definitions->seen_ns = definitions->change_count == change_count ? began_ns : INT64_MIN;
    pawl__definitions_unlock(definitions);
    return PAWL_OK;
}

static int check_stamp(const struct definition_call *call)
{
    struct pawl_definitions *definitions = call->definitions;
    int64_t began_ns = pawl_env_monotonic_ns(definitions->env), stamp;
    uint64_t change_count;
    bool moved;
    int status = pawl__definitions_lock(definitions, call->err);

    if (status != PAWL_OK)
        return status;
    change_count = definitions->change_count;
    pawl__definitions_unlock(definitions);
    status = pawl__definition_stamp(call, &stamp);
    if (status == PAWL_OK)
        status = pawl__definitions_lock(definitions, call->err);
    if (status != PAWL_OK)
        return status;
    moved = stamp != definitions->stamp;
    /* A change made here after the look began may be newer than what the look saw. */
    if (!moved && definitions->change_count == change_count && began_ns > definitions->seen_ns)
        definitions->seen_ns = began_ns;
    pawl__definitions_unlock(definitions);
    return moved ? forget(call, stamp, began_ns, change_count) : PAWL_OK;
}

int pawl__definitions_refresh(struct pawl_definitions *definitions, int64_t deadline_ns,
                              struct pawl_error *err)
{
    struct pawl_arena arena;
    const struct definition_call call = {definitions, &arena, deadline_ns, err, NULL};
    int status;

    pawl__arena_init(&arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    status = check_stamp(&call);
    pawl__arena_release(&arena);
    return status;
}

/* ---- workflows used as activities -------------------------------------------------------- */

static int add_page(struct definition_catalog *catalog, const struct pawl_rows *rows,
                    struct pawl_error *err)
{
    const struct pawl_definition_row *all = rows->rows;
    int status = PAWL_OK;

    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++) {
        struct pawl_json *json = pawl__arena_alloc(&catalog->arena, sizeof *json);

        if (!json)
            return pawl__error_code(err, pawl__arena_status(&catalog->arena));
        status = pawl__definition_read_into(&catalog->arena, &all[i], json, err);
        if (status == PAWL_EPARSE) {
            status = PAWL_OK; /* one that nobody can load is no activity */
            continue;
        }
        if (status == PAWL_OK) {
            status = pawl__catalog_add(&catalog->catalog, json);
            if (status != PAWL_OK)
                status = pawl__error_code(err, status);
        }
    }
    return status;
}

static int fill_catalog(const struct definition_call *call, struct definition_catalog *catalog)
{
    const struct pawl_condition condition =
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "usable_as_activity", PAWL_NE, 0);
    struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS,
        .conditions = &condition,
        .condition_count = 1,
        .limit = PAWL_STORE_ROWS_MAX,
    };
    struct pawl_rows rows = {0};
    int status;

    do {
        status = pawl__definition_query(call, &query, &rows);
        if (status == PAWL_OK)
            status = add_page(catalog, &rows, call->err);
        if (status == PAWL_OK && rows.count > 0)
            query.after = (const struct pawl_definition_row *)rows.rows + (rows.count - 1);
    } while (status == PAWL_OK && rows.count == PAWL_STORE_ROWS_MAX);
    return status;
}

/* A catalog read from the store, with one reference. Its rows live in an arena of their own. */
static int new_catalog(const struct definition_call *call, int64_t stamp,
                       struct definition_catalog **out)
{
    struct pawl_definitions *definitions = call->definitions;
    struct definition_catalog *catalog =
        pawl__alloc_zeroed(&definitions->env->alloc, sizeof *catalog);
    struct pawl_arena arena;
    const struct definition_call reading = {definitions, &arena, call->deadline_ns, call->err,
                                            NULL};
    int status;

    if (!catalog) {
        (void)pawl__error_code(call->err, PAWL_ENOMEM);
        return PAWL_ENOMEM;
    }
    pawl__arena_init(&catalog->arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    pawl__arena_init(&arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    pawl__catalog_init(&catalog->catalog, &catalog->arena);
    catalog->stamp = stamp;
    atomic_init(&catalog->references, 1);
    status = fill_catalog(&reading, catalog);
    pawl__arena_release(&arena);
    if (status != PAWL_OK) {
        free_catalog(definitions, catalog);
        return status;
    }
    *out = catalog;
    return PAWL_OK;
}

/* The resolver of one load. */
struct asking {
    const struct definition_call *call;
    int64_t stamp;
    struct definition_catalog *catalog; /* NULL until asked; one reference */
};

static int get_catalog(struct asking *asking)
{
    struct pawl_definitions *definitions = asking->call->definitions;
    struct definition_catalog *found = NULL;
    int status = pawl__definitions_lock(definitions, asking->call->err);

    if (status != PAWL_OK)
        return status;
    if (definitions->catalog && definitions->catalog->stamp == asking->stamp) {
        found = definitions->catalog;
        atomic_fetch_add(&found->references, 1);
    }
    pawl__definitions_unlock(definitions);
    if (!found) {
        status = new_catalog(asking->call, asking->stamp, &found);
        if (status == PAWL_OK && pawl__definitions_lock(definitions, NULL) == PAWL_OK) {
            unref_catalog(definitions, definitions->catalog);
            definitions->catalog = found;
            atomic_fetch_add(&found->references, 1);
            pawl__definitions_unlock(definitions);
        }
    }
    if (status == PAWL_OK)
        asking->catalog = found;
    return status;
}

static int resolve(void *ctx, const struct pawl_workflow_reference *reference,
                   const struct pawl_json **out, struct pawl_error *err)
{
    struct asking *asking = ctx;
    const struct pawl_workflow_resolver *resolver = asking->call->beside;
    int status = resolver ? resolver->find(resolver->ctx, reference, out, err) : PAWL_ENOTFOUND;

    if (status != PAWL_ENOTFOUND)
        return status;
    status = asking->catalog ? PAWL_OK : get_catalog(asking);
    if (status != PAWL_OK)
        return status;
    resolver = &asking->catalog->catalog.resolver;
    return resolver->find(resolver->ctx, reference, out, err);
}

int pawl__definition_load(const struct definition_call *call, int64_t stamp,
                          const struct pawl_json *json, struct pawl_problems *problems, bool *asked,
                          struct pawl_graph **out)
{
    struct pawl_definitions *definitions = call->definitions;
    struct asking asking = {.call = call, .stamp = stamp};
    const struct pawl_workflow_resolver resolver = {resolve, &asking};
    int status = pawl__graph_load(definitions->engine, &definitions->env->alloc, json, &resolver,
                                  NULL, problems, out, call->err);

    if (asked)
        *asked = asking.catalog != NULL;
    unref_catalog(definitions, asking.catalog);
    return status;
}

/* ---- graphs ------------------------------------------------------------------------------ */

/* With the lock held: the least recently used goes until there is room for one more. */
static void make_room(struct pawl_definitions *definitions)
{
    while (definitions->graphs.live_count >= definitions->options.graphs_max) {
        struct definition_graph *oldest = NULL;
        struct pawl_map_entry *entry;

        PAWL_MAP_FOR_EACH (entry, &definitions->graphs) {
            struct definition_graph *cached = entry->value;

            if (!oldest || cached->used < oldest->used)
                oldest = cached;
        }
        if (!oldest)
            return;
        drop(definitions, oldest);
    }
}

/* With the lock held. A cache that cannot grow is no failure: the graph is used all the same. */
static void cache_graph(struct pawl_definitions *definitions, const struct pawl_definition_row *row,
                        struct pawl_graph *graph, bool asked)
{
    const struct pawl_workflow *workflow = graph->workflow;
    struct definition_graph *cached = pawl__alloc_zeroed(&definitions->env->alloc, sizeof *cached);

    if (!cached)
        return;
    make_room(definitions);
    *cached = (struct definition_graph){
        .graph = graph,
        .revision = row->revision,
        .is_latest = row->is_latest != 0,
        .is_published = row->is_published != 0,
        .asked = asked,
        .used = ++definitions->use_count,
    };
    if (pawl__map_put(&definitions->graphs, workflow->version_id, cached) != PAWL_OK) {
        pawl__free(&definitions->env->alloc, cached, sizeof *cached);
        return;
    }
    (void)pawl__graph_ref(graph);
    if (cached->is_published) {
        /* The key is the graph's: one that is there goes with its own. */
        (void)pawl__map_remove(&definitions->published, workflow->definition_id);
        if (pawl__map_put(&definitions->published, workflow->definition_id, cached) != PAWL_OK)
            drop(definitions, cached);
    }
}

/* Hands out what was loaded, or what somebody else put into the cache first. Takes `graph`. */
static int return_graph(const struct definition_call *call, const struct pawl_definition_row *row,
                        struct pawl_graph *graph, bool asked, int64_t stamp,
                        struct pawl_graph **out)
{
    struct pawl_definitions *definitions = call->definitions;
    struct definition_graph *cached;
    int status = pawl__definitions_lock(definitions, call->err);

    if (status != PAWL_OK) {
        pawl__graph_unref(graph);
        return status;
    }
    if (definitions->stamp == stamp) {
        cached = pawl__map_get(&definitions->graphs, row->id);
        if (!cached) {
            cache_graph(definitions, row, graph, asked);
        } else if (cached->revision == row->revision) {
            pawl__graph_unref(graph);
            graph = pawl__graph_ref(cached->graph);
            cached->used = ++definitions->use_count;
        }
    }
    pawl__definitions_unlock(definitions);
    *out = graph;
    return PAWL_OK;
}

/* From the cache if that was current at `since_ns`; *out NULL: not there. *stamp: what is known. */
static int try_cache(const struct definition_call *call, const struct pawl_map *map,
                     struct pawl_str key, int64_t since_ns, bool *stale, int64_t *stamp,
                     struct pawl_graph **out)
{
    struct pawl_definitions *definitions = call->definitions;
    int status = pawl__definitions_lock(definitions, call->err);

    if (status != PAWL_OK)
        return status;
    *out = NULL;
    *stamp = definitions->stamp;
    *stale = definitions->seen_ns < since_ns;
    if (!*stale) {
        struct definition_graph *cached = pawl__map_get(map, key);

        if (cached) {
            cached->used = ++definitions->use_count;
            *out = pawl__graph_ref(cached->graph);
        }
        definitions->cache_counts[cached != NULL]++;
    }
    pawl__definitions_unlock(definitions);
    return PAWL_OK;
}

static int load_row(const struct definition_call *call, const struct pawl_definition_row *row,
                    int64_t stamp, struct pawl_graph **out)
{
    struct pawl_graph *graph;
    struct pawl_json json;
    bool asked;
    int status = pawl__definition_read(call, row, &json);

    if (status == PAWL_OK)
        status = pawl__definition_load(call, stamp, &json, NULL, &asked, &graph);
    return status == PAWL_OK ? return_graph(call, row, graph, asked, stamp, out) : status;
}

enum by { BY_VERSION, BY_DEFINITION };

static int find_graph(const struct definition_call *call, enum by by, struct pawl_str id,
                      struct pawl_graph **out)
{
    struct pawl_definitions *definitions = call->definitions;
    const struct pawl_map *map = by == BY_VERSION ? &definitions->graphs : &definitions->published;
    const struct pawl_definition_row *row;
    struct pawl_graph *found = NULL;
    int64_t stamp = 0;
    int64_t now_ns = pawl_env_monotonic_ns(definitions->env);
    bool stale = false;
    int status = try_cache(call, map, id, now_ns - definitions->options.stale_ns_max, &stale,
                           &stamp, &found);

    if (status == PAWL_OK && stale) {
        status = check_stamp(call);
        if (status == PAWL_OK)
            status = try_cache(call, map, id, now_ns, &stale, &stamp, &found);
    }
    if (status != PAWL_OK)
        return status;
    if (found) {
        *out = found;
        return PAWL_OK;
    }
    status = by == BY_VERSION ? pawl__definition_by_id(call, id, &row)
                              : pawl__definition_published(call, id, &row);
    if (status != PAWL_OK)
        return status;
    if (row)
        return load_row(call, row, stamp, out);
    if (by == BY_VERSION)
        return pawl__error_set(call->err, PAWL_ENOTFOUND, "there is no definition version %.*s",
                               PAWL_STR_ARG(id));
    return pawl__error_set(call->err, PAWL_ENOTFOUND,
                           "no version of the definition %.*s is published; publish one",
                           PAWL_STR_ARG(id));
}

static int answer_graph(struct pawl_definitions *definitions, enum by by, struct pawl_str id,
                        struct pawl_graph **out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_arena arena;
    const struct definition_call call = {definitions, &arena, deadline_ns, err, NULL};
    int status;

    pawl__arena_init(&arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    status = find_graph(&call, by, id, out);
    pawl__arena_release(&arena);
    return status;
}

int pawl__definitions_graph(struct pawl_definitions *definitions, struct pawl_str version_id,
                            struct pawl_graph **out, int64_t deadline_ns, struct pawl_error *err)
{
    return answer_graph(definitions, BY_VERSION, version_id, out, deadline_ns, err);
}

int pawl__definitions_published(struct pawl_definitions *definitions, struct pawl_str definition_id,
                                struct pawl_graph **out, int64_t deadline_ns,
                                struct pawl_error *err)
{
    return answer_graph(definitions, BY_DEFINITION, definition_id, out, deadline_ns, err);
}

void pawl__definitions_lookups(struct pawl_definitions *definitions, uint64_t *hits,
                               uint64_t *misses)
{
    *hits = *misses = 0;
    if (pawl__definitions_lock(definitions, NULL) != PAWL_OK)
        return;
    *hits = definitions->cache_counts[true];
    *misses = definitions->cache_counts[false];
    pawl__definitions_unlock(definitions);
}
