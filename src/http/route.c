/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of segments; see route.h. A path of n segments meets only nodes of depth n or less, each
 * once, so that a look costs no more than there are nodes, whatever the path.
 */
#include "http/route.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>

#define TREE_BYTES_MAX ((size_t)4 << 20)

enum segment_kind { LITERAL, PARAMETER, REST };

struct node {
    struct node *children, *sibling; /* literals, then the parameter, then the rest */
    struct endpoint *endpoints;
    struct pawl_str text; /* the literal */
    enum segment_kind kind;
};

struct endpoint {
    struct endpoint *next;
    const struct pawl_route *route;
};

struct pawl_routes {
    struct pawl_allocator alloc;
    struct pawl_arena arena;
    struct node root;
};

/* ---- building ---------------------------------------------------------------------------- */

/* The segment at *pos, which moves behind the slash that ends it. false: there is none. */
static bool next_segment(struct pawl_str path, size_t *pos, struct pawl_str *out)
{
    size_t end;

    if (*pos >= path.len)
        return false;
    end = pawl__str_find(path, '/', *pos);
    if (end == SIZE_MAX)
        end = path.len;
    *out = pawl__str_slice(path, *pos, end);
    *pos = end + 1;
    return true;
}

static enum segment_kind kind_of(struct pawl_str segment)
{
    if (segment.len < 3 || segment.ptr[0] != '{' || segment.ptr[segment.len - 1] != '}')
        return LITERAL;
    return segment.ptr[segment.len - 2] == '*' ? REST : PARAMETER;
}

static struct pawl_str parameter_name(struct pawl_str segment)
{
    return pawl__str_slice(segment, 1, segment.len - (kind_of(segment) == REST ? 2 : 1));
}

static struct node *add_child(struct pawl_routes *routes, struct node *parent,
                              struct pawl_str segment)
{
    enum segment_kind kind = kind_of(segment);
    struct node **at = &parent->children, *node;

    for (; *at && (*at)->kind <= kind; at = &(*at)->sibling) {
        if ((*at)->kind == kind &&
            (kind != LITERAL || pawl__str_equal_nocase((*at)->text, segment)))
            return *at;
    }
    node = pawl__arena_alloc_zeroed(&routes->arena, sizeof *node);
    if (!node)
        return NULL;
    node->kind = kind;
    node->text = segment;
    node->sibling = *at;
    *at = node;
    return node;
}

static int add_endpoint(struct pawl_routes *routes, struct node *node,
                        const struct pawl_route *route, struct pawl_error *err)
{
    struct endpoint *endpoint;

    for (endpoint = node->endpoints; endpoint; endpoint = endpoint->next) {
        if (strcmp(endpoint->route->method, route->method) == 0)
            return pawl__error_set(err, PAWL_EINVAL, "routes %s %s and %s are the same",
                                   route->method, endpoint->route->path, route->path);
    }
    endpoint = pawl__arena_alloc_zeroed(&routes->arena, sizeof *endpoint);
    if (!endpoint)
        return pawl__error_code(err, pawl__arena_status(&routes->arena));
    endpoint->route = route;
    endpoint->next = node->endpoints;
    node->endpoints = endpoint;
    return PAWL_OK;
}

static int add_route(struct pawl_routes *routes, const struct pawl_route *route,
                     struct pawl_error *err)
{
    struct pawl_str path = pawl__str(route->path), segment;
    struct node *node = &routes->root;
    uint32_t parameters = 0;
    size_t pos = 1;

    if (!route->handle || !route->method || path.len == 0 || path.ptr[0] != '/')
        return pawl__error_set(err, PAWL_EINVAL,
                               "route \"%s\" needs a method, a handler and a path from /",
                               route->path ? route->path : "");
    while (next_segment(path, &pos, &segment)) {
        if (segment.len == 0 || node->kind == REST ||
            (kind_of(segment) != LITERAL && ++parameters > PAWL_ROUTE_PARAMETERS_MAX))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "route %s: an empty segment, more than %d parameters, or "
                                   "something behind {name*}",
                                   route->path, PAWL_ROUTE_PARAMETERS_MAX);
        node = add_child(routes, node, segment);
        if (!node)
            return pawl__error_code(err, pawl__arena_status(&routes->arena));
    }
    return add_endpoint(routes, node, route, err);
}

int pawl__routes_new(const struct pawl_allocator *alloc, const struct pawl_route *table,
                     size_t count, struct pawl_routes **out, struct pawl_error *err)
{
    struct pawl_routes *routes = pawl__alloc_zeroed(alloc, sizeof *routes);
    int status = PAWL_OK;

    if (!routes)
        return pawl__error_code(err, PAWL_ENOMEM);
    routes->alloc = *alloc;
    pawl__arena_init(&routes->arena, &routes->alloc, TREE_BYTES_MAX);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = add_route(routes, &table[i], err);
    if (status == PAWL_OK)
        *out = routes;
    else
        pawl__routes_free(routes);
    return status;
}

void pawl__routes_free(struct pawl_routes *routes)
{
    struct pawl_allocator alloc;

    if (!routes)
        return;
    alloc = routes->alloc;
    pawl__arena_release(&routes->arena);
    pawl__free(&alloc, routes, sizeof *routes);
}

/* ---- matching ---------------------------------------------------------------------------- */

struct search {
    struct pawl_str method, path;
    struct pawl_route_match *match;
    const struct node *other; /* the first that has the path, but not the method */
};

static const struct pawl_route *route_of(const struct node *node, const char *method)
{
    for (const struct endpoint *e = node->endpoints; e; e = e->next) {
        if (strcmp(method, e->route->method) == 0)
            return e->route;
    }
    return NULL;
}

static bool method_fits(struct pawl_str method, const char *name)
{
    return pawl__str_is(method, name) || (pawl__str_is(method, "HEAD") && strcmp(name, "GET") == 0);
}

/* Whether this is the end of the search: the node's path is the request's, and so is a method. */
static bool settle(struct search *search, const struct node *node)
{
    for (const struct endpoint *e = node->endpoints; e; e = e->next) {
        if (method_fits(search->method, e->route->method)) {
            search->match->route = e->route;
            if (pawl__str_is(search->method, e->route->method))
                break;
        }
    }
    if (node->endpoints && !search->match->route && !search->other)
        search->other = node;
    return search->match->route != NULL;
}

static bool find(struct search *search, const struct node *node, size_t pos, uint32_t depth);

/* Where the search stands in the path. */
struct place {
    size_t pos;
    bool more; /* there is a segment at `pos`, and `next` is behind it */
    size_t next;
    struct pawl_str segment;
};

static bool find_child(struct search *search, const struct node *child, const struct place *place,
                       uint32_t depth)
{
    switch (child->kind) {
    case LITERAL:
        return place->more && pawl__str_equal_nocase(child->text, place->segment) &&
               find(search, child, place->next, depth);
    case PARAMETER:
        search->match->values[depth] = place->segment;
        return place->segment.len > 0 && find(search, child, place->next, depth + 1);
    case REST:
        search->match->values[depth] = pawl__str_slice(search->path, place->pos, search->path.len);
        return settle(search, child);
    }
    return false;
}

/* Goes at most as deep as the table's longest path. */
static bool find(struct search *search, const struct node *node, size_t pos, uint32_t depth)
{
    struct place place = {.pos = pos, .next = pos, .segment = pawl__str("")};

    if (pos >= search->path.len && settle(search, node))
        return true;
    place.more = next_segment(search->path, &place.next, &place.segment);
    for (const struct node *child = node->children; child; child = child->sibling) {
        if (find_child(search, child, &place, depth))
            return true;
    }
    return false;
}

static void add_allowed(char allow[PAWL_ROUTE_ALLOW_SIZE], const char *method)
{
    size_t len = strlen(allow);

    (void)snprintf(allow + len, PAWL_ROUTE_ALLOW_SIZE - len, "%s%s", len > 0 ? ", " : "", method);
}

static void set_allow(const struct node *node, struct pawl_route_match *match)
{
    match->allow[0] = '\0';
    for (const struct endpoint *e = node->endpoints; e; e = e->next) {
        add_allowed(match->allow, e->route->method);
        if (strcmp(e->route->method, "GET") == 0 && !route_of(node, "HEAD"))
            add_allowed(match->allow, "HEAD");
    }
}

/* Names are those of the route: routes of one shape may call their parameters differently. */
static void set_names(struct pawl_route_match *match)
{
    struct pawl_str path = pawl__str(match->route->path), segment;
    size_t pos = 1;

    match->parameter_count = 0;
    while (next_segment(path, &pos, &segment)) {
        if (kind_of(segment) != LITERAL)
            match->names[match->parameter_count++] = parameter_name(segment);
    }
}

enum pawl_route_result pawl__routes_match(const struct pawl_routes *routes, struct pawl_str method,
                                          struct pawl_str path, struct pawl_route_match *out)
{
    struct search search = {.method = method, .path = path, .match = out};

    out->route = NULL;
    out->parameter_count = 0;
    if (path.len == 0 || path.ptr[0] != '/')
        return PAWL_ROUTE_NO_PATH;
    if (find(&search, &routes->root, 1, 0)) {
        set_names(out);
        return PAWL_ROUTE_FOUND;
    }
    if (!search.other)
        return PAWL_ROUTE_NO_PATH;
    set_allow(search.other, out);
    return PAWL_ROUTE_NO_METHOD;
}
