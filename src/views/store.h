/* SPDX-License-Identifier: Apache-2.0 */
/* Views of a whole store. */
#ifndef PAWL_VIEWS_STORE_H
#define PAWL_VIEWS_STORE_H

#include "operations/store.h"
#include "views/view.h"

/*
 * {"store", "backend", "server", "location", "schema", "sizeBytes", "now", "isComplete", "rows":
 * {table: count}, "nodes": [{id, incarnation, joinedAt, leaseEndsAt}]}
 */
struct pawl_json pawl__view_store_info(struct pawl_builder *b, const struct pawl_store_info *info);

#endif
