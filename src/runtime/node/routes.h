/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The templates of HTTP endpoints that a node knows (docs/design/0018-http-endpoints.md): distinct
 * ones, in memory, read from the table of routes when its stamp has changed.
 */
#ifndef PAWL_RUNTIME_NODE_ROUTES_H
#define PAWL_RUNTIME_NODE_ROUTES_H

#include "runtime/runtime.h"

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
 * specific first. None: *out is empty, and PAWL_OK. `fresh`: reads the table first, if it has
 * changed; for the second look before a 404. PAWL_EINVAL: a path that no template may match, such
 * as one that is not well encoded.
 */
PAWL_MUST_CHECK int pawl__runtime_match_routes(struct pawl_runtime *runtime, struct pawl_str path,
                                               bool fresh, struct pawl_arena *arena,
                                               struct pawl_route_hits *out, int64_t deadline_ns,
                                               struct pawl_error *err);

#endif
