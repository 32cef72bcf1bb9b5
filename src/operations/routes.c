/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of workflows, from the rows of their triggers and bookmarks; see routes.h. */
#include "operations/routes.h"

#include "base/error.h"
#include "base/http_message.h"
#include "base/map.h"
#include "base/route/template.h"
#include "base/stimuli.h"
#include "host/host.h"
#include "operations/query.h"
#include "runtime/bytes.h"
#include "runtime/runtime.h"

#include <stdlib.h>

struct collecting {
    const struct pawl_op *op;
    struct pawl_map by_hash; /* struct pawl_endpoint_route */
    struct pawl_str base;    /* the path below which all are */
};

static int no_memory(const struct collecting *c)
{
    return pawl__error_code(c->op->err, pawl__arena_status(c->op->arena));
}

static struct pawl_str upper(struct pawl_arena *arena, struct pawl_str text)
{
    struct pawl_str copy = pawl__arena_str(arena, text);

    for (size_t i = 0; copy.ptr && i < copy.len; i++) {
        char *at = (char *)(uintptr_t)copy.ptr + i;

        *at = *at >= 'a' && *at <= 'z' ? (char)(*at & ~0x20) : *at;
    }
    return copy;
}

/* The route of a hash; made when it is the first of it. */
static int route_of(struct collecting *c, struct pawl_str hash, struct pawl_str payload,
                    struct pawl_endpoint_route **out)
{
    struct pawl_arena *arena = c->op->arena;
    struct pawl_endpoint_route *route = pawl__map_get(&c->by_hash, hash);
    struct pawl_json json;
    const char *path;
    int status;

    *out = route;
    if (route)
        return PAWL_OK;
    status = pawl__runtime_json_read(op_runtime(c->op), arena, payload, &json, c->op->err);
    if (status != PAWL_OK)
        return status;
    route = pawl__arena_alloc_zeroed(arena, sizeof *route);
    path = pawl__arena_printf(arena, "%.*s%.*s", PAWL_STR_ARG(c->base),
                              PAWL_STR_ARG(runtime_text(&json, PAWL_HTTP_PATH)));
    if (!route || !path)
        return no_memory(c);
    route->path = pawl__str(path);
    route->method = upper(arena, runtime_text(&json, PAWL_HTTP_METHOD));
    route->definition_id = route->activity_id = pawl__str("");
    route->authorize = pawl__json_true(pawl__json_get_text(&json, PAWL_HTTP_AUTHORIZE));
    route->policy = runtime_text(&json, PAWL_HTTP_POLICY);
    route->is_signed = pawl__json_get_text(&json, PAWL_HTTP_SIGNATURE) != NULL;
    status = pawl__map_put(&c->by_hash, hash, route);
    *out = route;
    return status == PAWL_OK && route->method.ptr ? PAWL_OK : no_memory(c);
}

static int collect_triggers(struct collecting *c)
{
    const struct pawl_trigger_row *rows;
    struct pawl_endpoint_route *route;
    struct pawl_rows found = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_TRIGGERS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "name", PAWL_EQ, pawl__str(PAWL_STIMULUS_HTTP_ENDPOINT));
    status = op_find_all(c->op, &query, 0, &found);
    rows = found.rows;
    for (size_t i = 0; i < found.count && status == PAWL_OK; i++) {
        status = route_of(c, rows[i].hash, rows[i].payload, &route);
        if (status == PAWL_OK) {
            route->definition_id = rows[i].definition_id;
            route->activity_id = rows[i].activity_id;
        }
    }
    return status;
}

static int collect_waits(struct collecting *c, bool *cut)
{
    const struct pawl_bookmark_row *rows;
    struct pawl_endpoint_route *route;
    struct pawl_rows found = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_BOOKMARKS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "name", PAWL_EQ, pawl__str(PAWL_STIMULUS_HTTP_ENDPOINT));
    status = op_find_all(c->op, &query, PAWL_ROUTES_WAITS_MAX, &found);
    rows = found.rows;
    *cut = found.count == PAWL_ROUTES_WAITS_MAX;
    for (size_t i = 0; i < found.count && status == PAWL_OK; i++) {
        status = route_of(c, rows[i].hash, rows[i].payload, &route);
        if (status == PAWL_OK)
            route->waiting++;
    }
    return status;
}

static int by_path(const void *a, const void *b)
{
    const struct pawl_endpoint_route *one = a, *other = b;
    int order = pawl__str_compare(one->path, other->path);

    return order != 0 ? order : pawl__str_compare(one->method, other->method);
}

static int list(struct collecting *c, struct pawl_endpoint_routes *out)
{
    struct pawl_endpoint_route *items =
        pawl__arena_alloc_array(c->op->arena, c->by_hash.live_count + 1u, sizeof *items);
    struct pawl_map_entry *entry;
    size_t count = 0;

    if (!items)
        return no_memory(c);
    PAWL_MAP_FOR_EACH (entry, &c->by_hash)
        items[count++] = *(const struct pawl_endpoint_route *)entry->value;
    if (count > 1)
        qsort(items, count, sizeof *items, by_path);
    out->items = items;
    out->count = count;
    return PAWL_OK;
}

int pawl__op_routes_list(const struct pawl_op *op, struct pawl_endpoint_routes *out)
{
    struct collecting c = {.op = op};
    struct pawl_endpoint_routes found = {.count = 0};
    int status;

    c.base = pawl__str_trim(pawl__str(pawl__configuration_text(pawl__host_configuration(op->host),
                                                               PAWL_SETTING_ID_ENDPOINTS_PATH)));
    while (c.base.len > 0 && c.base.ptr[c.base.len - 1] == '/')
        c.base.len--;
    pawl__map_init(&c.by_hash, &op_env(op)->alloc, (struct pawl_hash_seed){0x726f7574, 0x6573});
    status = collect_triggers(&c);
    if (status == PAWL_OK)
        status = collect_waits(&c, &found.cut);
    if (status == PAWL_OK)
        status = list(&c, &found);
    pawl__map_release(&c.by_hash);
    if (status == PAWL_OK)
        *out = found;
    return status;
}
