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

/*
 * A row is of a template and of a period, a day, which is its id. Who adds a trigger or bookmark
 * relies on the row of the period in which it does. So a row of an older period is needed for the
 * triggers and bookmarks that are stored by now, and for none that is still on its way: if there is
 * none, or a row of a later period, it is deleted.
 */
#define PAWL_ROUTE_PERIOD_US INT64_C(86400000000)
/* Periods after which nobody who relied on a row can still be on the way: the one that follows it,
 * and another one for clocks that differ. */
#define PAWL_ROUTE_PERIODS_KEPT 3

int64_t pawl__route_period(int64_t now_us);
/* As the id of a row: texts are in the order of periods. ptr NULL: the arena's status. */
struct pawl_str pawl__route_period_text(struct pawl_arena *arena, int64_t period);

/* Whether a trigger or bookmark of this name and payload needs a row, and whose: that of its
 * template, if that has parameters. Borrows the payload. Without the id. */
bool pawl__route_needs_row(struct pawl_str name, const struct pawl_json *payload,
                           struct pawl_route_row *row);
/* Adds the row of this period, unless this node has read it. `now_us`: the store's clock. */
void pawl__runtime_put_route(struct pawl_runtime *runtime, struct runtime_changes *changes,
                             struct pawl_str name, const struct pawl_json *payload, int64_t now_us);

/* routes_retention.c: deletes rows that nobody needs; some hundred are looked at, the next ones
 * with the next call. */
PAWL_MUST_CHECK int pawl__routes_retain(struct pawl_runtime *runtime, int64_t now_us,
                                        int64_t deadline_ns, struct pawl_error *err);

/* The row that pawl__routes_retain() has looked at last, of another call: a copy in `arena`; false:
 * it begins with the first one. And what it is now; NULL: none. */
bool pawl__routes_cursor(struct pawl_runtime *runtime, struct pawl_arena *arena,
                         struct pawl_route_row *out);
void pawl__routes_set_cursor(struct pawl_runtime *runtime, const struct pawl_route_row *row);

#endif
