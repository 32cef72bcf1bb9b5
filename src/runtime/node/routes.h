/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The templates of HTTP endpoints that a node knows (docs/design/0018-http-endpoints.md): distinct
 * ones, in memory, read from the table of routes when its stamp has changed.
 */
#ifndef PAWL_RUNTIME_NODE_ROUTES_H
#define PAWL_RUNTIME_NODE_ROUTES_H

#include "base/json/json.h"
#include "runtime/runtime.h"

struct pawl_route_row;
struct runtime_changes;

/* A template that matches a path. In the caller's arena. */
struct pawl_route_hit {
    struct pawl_str template; /* in lower case, with one leading slash */
    struct pawl_json values;  /* {"id": "42"}: of its parameters, decoded */
};

struct pawl_route_hits {
    struct pawl_route_hit *items;
    size_t count;
};

/*
 * The templates that match `path`, which is behind the base path and still encoded, the most
 * specific first: the path itself, unless it has braces, then those with parameters. None: *out is
 * empty, and PAWL_OK; so for "//", segments of dots and more segments than a template may have.
 * What is known is half a second old at the most. `fresh`: not older than this call, for the second
 * look before a 404. PAWL_EINVAL: it is not well encoded, see base/route/path.h. An error of the
 * store, when it had to be asked.
 */
PAWL_MUST_CHECK int pawl__runtime_match_routes(struct pawl_runtime *runtime, struct pawl_str path,
                                               bool fresh, struct pawl_arena *arena,
                                               struct pawl_route_hits *out, int64_t deadline_ns,
                                               struct pawl_error *err);

/* ---- rows ---------------------------------------------------------------------------------- */

/* Whether a trigger or bookmark of this name and payload needs a row, and which: that of its
 * template, if that has parameters. Borrows the payload. */
bool pawl__route_needs_row(struct pawl_str name, const struct pawl_json *payload,
                           struct pawl_route_row *row);
/* Adds the row, unless this node has read it: rows of routes are never deleted. */
void pawl__runtime_put_route(struct pawl_runtime *runtime, struct runtime_changes *changes,
                             struct pawl_str name, const struct pawl_json *payload);

#endif
