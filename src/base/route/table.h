/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinct route templates, found by a path, most specific first (template.h says which that is).
 *
 * A template is in the table once, however often it is added. Finding costs a look into a hash map
 * per segment of the path and node it passes: how many templates there are does not matter, only
 * how many differ in what is no literal at the same place.
 *
 * Not for several threads: its owner locks.
 */
#ifndef PAWL_BASE_ROUTE_TABLE_H
#define PAWL_BASE_ROUTE_TABLE_H

#include "base/map.h"
#include "base/route/template.h"

/* Some 300 bytes each: a definition that makes a literal route for every instance is stopped here
 * rather than by the memory of the node. */
#define PAWL_ROUTE_TABLE_TEMPLATES_MAX ((uint32_t)1 << 20)

struct pawl_route_table;

PAWL_MUST_CHECK int pawl__route_table_new(const struct pawl_allocator *alloc,
                                          struct pawl_hash_seed seed,
                                          struct pawl_route_table **out);
void pawl__route_table_free(struct pawl_route_table *table); /* NULL allowed */

/*
 * Copies the template. *added (NULL allowed): it was not there. PAWL_EINVAL: it is no template;
 * PAWL_ELIMIT, PAWL_ENOMEM: the table is as before.
 */
PAWL_MUST_CHECK int pawl__route_table_add(struct pawl_route_table *table, struct pawl_str template,
                                          bool *added, struct pawl_error *err);

/* Whether it was there. */
bool pawl__route_table_remove(struct pawl_route_table *table, struct pawl_str template);

bool pawl__route_table_has(const struct pawl_route_table *table, struct pawl_str template);
uint32_t pawl__route_table_count(const struct pawl_route_table *table);

/* What the table holds, for measurements. */
size_t pawl__route_table_bytes(const struct pawl_route_table *table);

/* Calls `visit` for each, in the order in which they were added, until it returns true. The
 * function may not change the table. */
typedef bool (*pawl_route_visit)(struct pawl_str template, void *ctx);
void pawl__route_table_each(const struct pawl_route_table *table, pawl_route_visit visit,
                            void *ctx);

/*
 * Calls `visit` for each template that the path matches, the most specific first, until it returns
 * true: it may want another one, because this one has not the method. Those of one shape come in
 * the order of their text. Whether one was taken.
 */
bool pawl__route_table_match(const struct pawl_route_table *table,
                             const struct pawl_route_path *path, pawl_route_visit visit, void *ctx);

#endif
