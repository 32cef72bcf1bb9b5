/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that has found rows of work, and whose caller goes on late: others get on in between, on
 * the caller's thread.
 */
#ifndef PAWL_TESTS_UNIT_RUNTIME_SLOW_FIND_H
#define PAWL_TESTS_UNIT_RUNTIME_SLOW_FIND_H

#include <pawl/ext/store.h>

static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    void (*meanwhile)(void *ctx); /* called once, with the first that finds work */
    void *ctx;
} slow_find;

static inline int find_slowly(struct pawl_store *store, const struct pawl_query *query,
                              struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                              struct pawl_error *err)
{
    void (*meanwhile)(void *ctx) = slow_find.meanwhile;
    int status = slow_find.real->find(store, query, arena, out, deadline_ns, err);

    if (status != PAWL_OK || query->table != PAWL_TABLE_WORK || out->count == 0 || !meanwhile)
        return status;
    slow_find.meanwhile = NULL;
    meanwhile(slow_find.ctx);
    return status;
}

/* For as long as the store is open. */
static inline void let_find_be_slow(struct pawl_store *store, void (*meanwhile)(void *ctx),
                                    void *ctx)
{
    slow_find.real = store->ops;
    slow_find.ops = *store->ops;
    slow_find.ops.find = find_slowly;
    slow_find.meanwhile = meanwhile;
    slow_find.ctx = ctx;
    store->ops = &slow_find.ops;
}

#endif
