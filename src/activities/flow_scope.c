/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting and the join rules; see flow_scope.h. An array entry and its stored member change
 * together: first the stored one, which may fail, then the array.
 */
#include "activities/flow_scope.h"

#include <stdlib.h>

/* ---- names ------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
    return pawl__str_compare(((const struct pawl_flow_name *)a)->text,
                             ((const struct pawl_flow_name *)b)->text);
}

/* Equal texts keep the order of what they stand for. */
static int compare_all(const void *a, const void *b)
{
    const struct pawl_flow_name *left = a;
    const struct pawl_flow_name *right = b;
    int order = compare_names(a, b);

    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

void pawl__flow_names_sort(struct pawl_flow_names *names)
{
    if (names->count > 1)
        qsort(names->items, names->count, sizeof *names->items, compare_all);
}

uint32_t pawl__flow_names_find(const struct pawl_flow_names *names, struct pawl_str text)
{
    struct pawl_flow_name wanted = {.text = text};
    const struct pawl_flow_name *found = NULL;

    if (names->count > 0)
        found = bsearch(&wanted, names->items, names->count, sizeof *names->items, compare_names);
    return found ? found->place : PAWL_FLOW_NONE;
}

/* ---- reading ---------------------------------------------------------------------------- */

static int ensure_object(struct pawl_arena *arena, struct pawl_json *stored, const char *key)
{
    if (pawl__json_is(pawl__json_get_text(stored, key), PAWL_JSON_OBJECT))
        return PAWL_OK;
    return pawl__json_set_text(arena, stored, key, pawl__json_object());
}

static int ensure_stored(struct pawl_arena *arena, struct pawl_json *stored)
{
    int status = ensure_object(arena, stored, "activitiesVisitCount");

    if (status == PAWL_OK)
        status = ensure_object(arena, stored, "connectionVisitCount");
    if (status == PAWL_OK)
        status = ensure_object(arena, stored, "connectionLastVisitFollowed");
    if (status == PAWL_OK)
        status =
            pawl__json_set_text(arena, stored, "_type", pawl__json_string(pawl__str("FlowScope")));
    return status;
}

static void read_activities(struct pawl_flow_scope *scope, const struct pawl_flow_names *ids)
{
    uint32_t count = pawl__json_len(scope->stored_activities);

    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_json_member *member = pawl__json_member(scope->stored_activities, i);
        uint32_t place = pawl__flow_names_find(ids, member->key);

        if (place != PAWL_FLOW_NONE &&
            pawl__json_to_int(&member->value, &scope->activities[place].visits))
            scope->activities[place].slot = i + 1;
    }
}

static void read_connections(struct pawl_flow_scope *scope, const struct pawl_flow_names *keys)
{
    uint32_t count = pawl__json_len(scope->stored_connections);

    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_json_member *member = pawl__json_member(scope->stored_connections, i);
        uint32_t place = pawl__flow_names_find(keys, member->key);

        if (place != PAWL_FLOW_NONE &&
            pawl__json_to_int(&member->value, &scope->connections[place].visits))
            scope->connections[place].slot = i + 1;
    }
    count = pawl__json_len(scope->stored_followed);
    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_json_member *member = pawl__json_member(scope->stored_followed, i);
        uint32_t place = pawl__flow_names_find(keys, member->key);

        if (place != PAWL_FLOW_NONE) {
            scope->connections[place].followed = pawl__json_true(&member->value);
            scope->connections[place].followed_slot = i + 1;
        }
    }
}

int pawl__flow_scope_open(struct pawl_flow_scope *scope, struct pawl_arena *arena,
                          const struct pawl_flow_graph *graph, const struct pawl_flow_names *ids,
                          const struct pawl_flow_names *keys, struct pawl_json *stored)
{
    struct pawl_flow_scope opened = {.arena = arena, .graph = graph};
    int status = ensure_stored(arena, stored);

    if (status != PAWL_OK)
        return status;
    opened.activities = pawl__arena_alloc_zeroed(arena, ((size_t)graph->activity_count + 1) *
                                                            sizeof *opened.activities);
    opened.connections = pawl__arena_alloc_zeroed(arena, ((size_t)graph->connection_count + 1) *
                                                             sizeof *opened.connections);
    if (!opened.activities || !opened.connections)
        return pawl__flow_refused(arena);
    opened.stored_activities = pawl__json_get_text(stored, "activitiesVisitCount");
    opened.stored_connections = pawl__json_get_text(stored, "connectionVisitCount");
    opened.stored_followed = pawl__json_get_text(stored, "connectionLastVisitFollowed");
    read_activities(&opened, ids);
    read_connections(&opened, keys);
    *scope = opened;
    return PAWL_OK;
}

uint32_t pawl__flow_scope_first(const struct pawl_json *stored, const struct pawl_flow_names *ids)
{
    const struct pawl_json *visited = pawl__json_get_text(stored, "activitiesVisitCount");
    const struct pawl_json_member *first = NULL;

    if (pawl__json_is(visited, PAWL_JSON_OBJECT))
        first = pawl__json_member(visited, 0);
    return first ? pawl__flow_names_find(ids, first->key) : PAWL_FLOW_NONE;
}

/* ---- counting --------------------------------------------------------------------------- */

static int store(struct pawl_arena *arena, struct pawl_json *object, uint32_t *slot,
                 struct pawl_str key, struct pawl_json value)
{
    int status = PAWL_OK;

    if (*slot > 0) {
        pawl__json_member(object, *slot - 1)->value = value;
    } else {
        status = pawl__json_add(arena, object, key, value);
        if (status == PAWL_OK)
            *slot = pawl__json_len(object);
    }
    return status;
}

int pawl__flow_scope_visit(struct pawl_flow_scope *scope, uint32_t activity, struct pawl_str id)
{
    struct pawl_flow_activity_count *count = &scope->activities[activity];
    int status = store(scope->arena, scope->stored_activities, &count->slot, id,
                       pawl__json_int(count->visits + 1));

    if (status == PAWL_OK)
        count->visits++;
    return status;
}

int pawl__flow_scope_pass(struct pawl_flow_scope *scope, uint32_t connection, bool followed)
{
    struct pawl_flow_connection_count *count = &scope->connections[connection];
    struct pawl_str key = scope->graph->connections[connection].key;
    int status = store(scope->arena, scope->stored_connections, &count->slot, key,
                       pawl__json_int(count->visits + 1));

    if (status == PAWL_OK)
        status = store(scope->arena, scope->stored_followed, &count->followed_slot, key,
                       pawl__json_bool(followed));
    if (status == PAWL_OK) {
        count->visits++;
        count->followed = followed;
    }
    return status;
}

/* ---- deciding --------------------------------------------------------------------------- */

/* Every inbound connection was visited once more than the activity. */
static bool all_visited(const struct pawl_flow_scope *scope, struct pawl_flow_list inbound,
                        int64_t visits)
{
    for (uint32_t i = 0; i < inbound.count; i++) {
        if (scope->connections[inbound.items[i]].visits <= visits)
            return false;
    }
    return true;
}

/* How many of those that were visited most often, and more often than the activity, were followed.
 */
static uint32_t followed_count(const struct pawl_flow_scope *scope, struct pawl_flow_list inbound,
                               int64_t visits)
{
    int64_t most = visits;
    uint32_t count = 0;

    for (uint32_t i = 0; i < inbound.count; i++) {
        const struct pawl_flow_connection_count *c = &scope->connections[inbound.items[i]];

        if (c->visits > most) {
            most = c->visits;
            count = 0;
        }
        if (most > visits && c->visits == most && c->followed)
            count++;
    }
    return count;
}

enum pawl_flow_verdict pawl__flow_scope_verdict(const struct pawl_flow_scope *scope,
                                                enum pawl_join_mode mode, uint32_t connection)
{
    uint32_t target = scope->graph->connections[connection].target;
    struct pawl_flow_list inbound = pawl__flow_list(&scope->graph->forward_inbound, target);
    int64_t visits = scope->activities[target].visits;
    bool visited;
    uint32_t followed;

    if (mode == PAWL_JOIN_WAIT_ANY && scope->connections[connection].visits <= visits)
        return PAWL_FLOW_WAITS;
    visited = all_visited(scope, inbound, visits);
    if (!visited && mode != PAWL_JOIN_WAIT_ANY)
        return PAWL_FLOW_WAITS;
    followed = followed_count(scope, inbound, visits);
    if (mode == PAWL_JOIN_WAIT_ALL ? followed == inbound.count : followed > 0)
        return PAWL_FLOW_RUNS;
    return visited ? PAWL_FLOW_SKIPPED : PAWL_FLOW_WAITS;
}
