/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the connections of a flowchart, in every spelling that definitions in the field use:
 *
 *     [{"source": {"activity": "a", "port": "Done"}, "target": {"activity": "b", "port": "In"}}]
 *     {"$values": [...]}, one connection without an array, Pascal-cased keys
 *     [{"source": "a", "sourcePort": "Done", "target": "b", "targetPort": "In"}]      (old)
 *
 * plus those that were set aside in customProperties.notFoundConnections while an activity type was
 * missing: they count again when both ends are there. A connection to nowhere is left out and said.
 */
#include "activities/flowchart.h"

#include <inttypes.h>

struct reader {
    struct pawl_loader *loader;
    struct pawl_node *node;
    struct pawl_flowchart *chart;
    struct pawl_arena *arena;
    bool set_aside; /* reading notFoundConnections: unknown ends are no news */
};

struct endpoint {
    struct pawl_str activity;
    struct pawl_str port;
    bool flat;
};

int pawl__flowchart_ids(struct pawl_arena *arena, const struct pawl_node *node,
                        struct pawl_flow_names *out)
{
    struct pawl_flow_names ids = {0};

    ids.items = pawl__arena_alloc_array(arena, (size_t)node->child_count + 1, sizeof *ids.items);
    if (!ids.items)
        return pawl__flow_refused(arena);
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (node->children[i]->id.len > 0)
            ids.items[ids.count++] = (struct pawl_flow_name){node->children[i]->id, i};
    }
    pawl__flow_names_sort(&ids);
    *out = ids;
    return PAWL_OK;
}

/* ---- one connection ----------------------------------------------------------------------- */

static struct endpoint read_endpoint(const struct pawl_json *connection, const char *name,
                                     const char *port_name)
{
    const struct pawl_json *end = pawl__json_get_nocase(connection, pawl__str(name));
    struct endpoint out = {.flat = pawl__json_is(end, PAWL_JSON_STRING)};

    if (out.flat) {
        out.activity = pawl__json_str(end);
        out.port = pawl__json_str(pawl__json_get_nocase(connection, pawl__str(port_name)));
    } else if (pawl__json_is(end, PAWL_JSON_OBJECT)) {
        out.activity = pawl__json_str(pawl__json_get_nocase(end, pawl__str("activity")));
        out.port = pawl__json_str(pawl__json_get_nocase(end, pawl__str("port")));
    }
    return out;
}

static const char *make_key(struct pawl_arena *arena, const struct endpoint *source,
                            const struct endpoint *target)
{
    return pawl__arena_printf(arena, "%.*s%s%.*s->%.*s%s%.*s", PAWL_STR_ARG(source->activity),
                              source->port.len > 0 ? ":" : "", PAWL_STR_ARG(source->port),
                              PAWL_STR_ARG(target->activity), target->port.len > 0 ? ":" : "",
                              PAWL_STR_ARG(target->port));
}

static void report_unknown(const struct reader *reader, const struct endpoint *end,
                           const char *which, const char *pointer)
{
    /* Elsa refuses the old spelling here, so that publishing it must be refused too. */
    enum pawl_problem_level level = end->flat ? PAWL_PROBLEM_ERROR : PAWL_PROBLEM_WARNING;

    if (reader->set_aside)
        return;
    if (end->activity.len == 0)
        pawl__loader_problem(reader->loader, level, reader->node, pointer,
                             "the connection has no %s activity and is left out: give its id",
                             which);
    else
        pawl__loader_problem(reader->loader, level, reader->node, pointer,
                             "the connection's %s '%.*s' is not an activity of this flowchart: "
                             "the connection is left out",
                             which, PAWL_STR_ARG(end->activity));
}

static int read_connection(struct reader *reader, const struct pawl_json *json, const char *pointer)
{
    struct endpoint source = read_endpoint(json, "source", "sourcePort");
    struct endpoint target = read_endpoint(json, "target", "targetPort");
    struct pawl_flow_connection connection = {
        .source = pawl__flow_names_find(&reader->chart->ids, source.activity),
        .target = pawl__flow_names_find(&reader->chart->ids, target.activity),
        .source_port = source.port,
        .target_port = target.port,
    };
    const char *key;

    if (connection.source == PAWL_FLOW_NONE || connection.target == PAWL_FLOW_NONE) {
        if (connection.source == PAWL_FLOW_NONE)
            report_unknown(reader, &source, "source", pointer);
        if (connection.target == PAWL_FLOW_NONE)
            report_unknown(reader, &target, "target", pointer);
        return PAWL_OK;
    }
    key = make_key(reader->arena, &source, &target);
    if (!key)
        return pawl__flow_refused(reader->arena);
    connection.key = pawl__str(key);
    reader->chart->connections[reader->chart->connection_count++] = connection;
    return PAWL_OK;
}

/* ---- the list ----------------------------------------------------------------------------- */

/* The array in `json`, or NULL when it is not one; *one says that `json` is a connection itself. */
static const struct pawl_json *find_array(const struct pawl_json *json, bool *one)
{
    const struct pawl_json *values = pawl__json_get_text(json, "$values");

    *one = false;
    if (pawl__json_is(json, PAWL_JSON_ARRAY))
        return json;
    if (pawl__json_is(values, PAWL_JSON_ARRAY))
        return values;
    *one = pawl__json_get_nocase(json, pawl__str("source")) != NULL;
    return NULL;
}

static int read_list(struct reader *reader, const struct pawl_json *json, const char *pointer)
{
    bool one;
    const struct pawl_json *array = find_array(json, &one);
    const char *between = array == json ? "" : "/$values";
    int status = PAWL_OK;

    if (one)
        return read_connection(reader, json, pointer);
    for (uint32_t i = 0; i < pawl__json_len(array) && status == PAWL_OK; i++) {
        const char *place = pawl__arena_printf(reader->arena, "%s%s/%" PRIu32, pointer, between, i);

        status = place ? read_connection(reader, pawl__json_at(array, i), place)
                       : pawl__flow_refused(reader->arena);
    }
    return status;
}

static uint32_t count_list(const struct pawl_json *json)
{
    bool one;
    const struct pawl_json *array = find_array(json, &one);

    return one ? 1 : pawl__json_len(array);
}

static int make_keys(struct reader *reader)
{
    struct pawl_flowchart *chart = reader->chart;
    struct pawl_flow_names *keys = &chart->keys;

    if (!keys->items)
        keys->items = pawl__arena_alloc_array(reader->arena, (size_t)chart->connection_count + 1,
                                              sizeof *keys->items);
    if (!keys->items)
        return pawl__flow_refused(reader->arena);
    keys->count = chart->connection_count;
    for (uint32_t i = 0; i < keys->count; i++)
        keys->items[i] = (struct pawl_flow_name){chart->connections[i].key, i};
    pawl__flow_names_sort(keys);
    return PAWL_OK;
}

static bool is_same(const struct pawl_flow_connection *a, const struct pawl_flow_connection *b)
{
    return a->source == b->source && a->target == b->target &&
           pawl__str_equal(a->source_port, b->source_port) &&
           pawl__str_equal(a->target_port, b->target_port);
}

/* Equal connections have equal keys, and stand together once the keys are sorted, first first. */
static uint32_t drop_duplicates(struct pawl_flowchart *chart)
{
    struct pawl_flow_connection *all = chart->connections;
    uint32_t kept = 0;

    for (uint32_t i = 1; i < chart->keys.count; i++) {
        struct pawl_flow_connection *c = &all[chart->keys.items[i].place];

        if (is_same(c, &all[chart->keys.items[i - 1].place]))
            c->key = pawl__str("");
    }
    for (uint32_t i = 0; i < chart->connection_count; i++) {
        if (all[i].key.len > 0)
            all[kept++] = all[i];
    }
    return kept;
}

static int read_connections(struct reader *reader)
{
    const struct pawl_node *node = reader->node;
    const struct pawl_json *custom =
        pawl__json_get_nocase(node->json, pawl__str("customProperties"));
    const struct pawl_json *list = pawl__json_get_nocase(node->json, pawl__str("connections"));
    const struct pawl_json *aside = pawl__json_get_nocase(custom, pawl__str("notFoundConnections"));
    size_t most = (size_t)count_list(list) + count_list(aside) + 1;
    const char *pointer =
        pawl__arena_printf(reader->arena, "%.*s/connections", PAWL_STR_ARG(node->pointer));
    int status;

    reader->chart->connections =
        pawl__arena_alloc_array(reader->arena, most, sizeof *reader->chart->connections);
    if (!pointer || !reader->chart->connections)
        return pawl__flow_refused(reader->arena);
    status = read_list(reader, list, pointer);
    reader->set_aside = true;
    if (status == PAWL_OK)
        status = read_list(reader, aside, "");
    return status;
}

static int remove_duplicates(struct reader *reader)
{
    struct pawl_flowchart *chart = reader->chart;
    uint32_t kept;
    int status = make_keys(reader);

    if (status != PAWL_OK)
        return status;
    kept = drop_duplicates(chart);
    if (kept == chart->connection_count)
        return PAWL_OK;
    chart->connection_count = kept;
    return make_keys(reader);
}

/* ---- the start ---------------------------------------------------------------------------- */

/* The activity to begin with when no trigger says otherwise; NONE when there is none. */
static uint32_t find_start(const struct pawl_flowchart *chart, bool *is_target)
{
    struct pawl_node *const *activities = chart->node->children;
    uint32_t count = chart->node->child_count;

    for (uint32_t i = 0; i < count; i++) {
        if (activities[i]->activity->flags & PAWL_ACTIVITY_START)
            return i;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (activities[i]->can_start_workflow)
            return i;
    }
    for (uint32_t i = 0; i < chart->connection_count; i++)
        is_target[chart->connections[i].target] = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_target[i])
            return i;
    }
    return count > 0 ? 0 : PAWL_FLOW_NONE;
}

int pawl__flowchart_load(struct pawl_loader *loader, struct pawl_node *node)
{
    struct pawl_arena *arena = pawl__loader_arena(loader);
    struct pawl_flowchart *chart = pawl__arena_alloc_zeroed(arena, sizeof *chart);
    bool *is_target = pawl__arena_alloc_zeroed(arena, (size_t)node->child_count + 1);
    struct reader reader = {.loader = loader, .node = node, .chart = chart, .arena = arena};
    int status;

    if (!chart || !is_target)
        return pawl__flow_refused(arena);
    chart->node = node;
    status = pawl__flowchart_ids(arena, node, &chart->ids);
    chart->ids_complete = chart->ids.count == node->child_count;
    if (status == PAWL_OK)
        status = read_connections(&reader);
    if (status == PAWL_OK)
        status = remove_duplicates(&reader);
    if (status == PAWL_OK)
        status =
            pawl__flow_graph_build(arena, chart->connections, chart->connection_count,
                                   node->child_count, find_start(chart, is_target), &chart->graph);
    if (status == PAWL_OK)
        node->data = chart;
    return status;
}
