/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A refresher that lets one node at a time refresh the same definitions: the lock is named after
 * their ids, sorted by their bytes, so that the same set has the same lock however it was given.
 */
#include "distributed/distributed.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"

#include <stdlib.h>

struct distributed_refresher {
    struct pawl_refresher base;
    struct pawl_refresher *inner;
    struct pawl_distribution distribution;
};

static int by_bytes(const void *a, const void *b)
{
    return pawl__str_compare(*(const struct pawl_str *)a, *(const struct pawl_str *)b);
}

/* In the arena. */
static int name_of(const struct pawl_refresh *what, struct pawl_arena *arena, struct pawl_str *out,
                   struct pawl_error *err)
{
    struct pawl_str *sorted;
    struct pawl_buf buf;
    int status;

    if (what->count == 0) {
        *out = pawl__str(PAWL_DISTRIBUTED_REFRESHER_LOCK "All");
        return PAWL_OK;
    }
    sorted = pawl__arena_alloc_array(arena, what->count, sizeof *sorted);
    if (!sorted)
        return pawl__error_code(err, pawl__arena_status(arena));
    memcpy(sorted, what->ids, what->count * sizeof *sorted);
    qsort(sorted, what->count, sizeof *sorted, by_bytes);
    pawl__buf_init(&buf, arena->alloc, PAWL_LOCK_NAME_MAX);
    pawl__buf_str(&buf, pawl__str(PAWL_DISTRIBUTED_REFRESHER_LOCK));
    for (size_t i = 0; i < what->count; i++) {
        if (i > 0)
            pawl__buf_byte(&buf, ',');
        pawl__buf_str(&buf, sorted[i]);
    }
    status = buf.status;
    if (status == PAWL_OK) {
        *out = pawl__arena_str(arena, pawl__buf_peek(&buf));
        status = out->ptr ? PAWL_OK : pawl__arena_status(arena);
    }
    pawl__buf_release(&buf);
    if (status == PAWL_ELIMIT)
        return pawl__error_set(err, status,
                               "%zu definitions are too many to refresh by name: refresh fewer at "
                               "a time, or all",
                               what->count);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* Another node is refreshing: all requested ids are reported. */
static int in_progress(const struct pawl_refresh *what, struct pawl_arena *arena,
                       struct pawl_refreshed *out, struct pawl_error *err)
{
    struct pawl_str *ids = pawl__arena_alloc_array(arena, what->count + 1, sizeof *ids);

    for (size_t i = 0; ids && i < what->count; i++)
        ids[i] = pawl__arena_str(arena, what->ids[i]);
    if (arena->status != PAWL_OK)
        return pawl__error_code(err, pawl__arena_status(arena));
    *out = (struct pawl_refreshed){
        .not_found = ids, .not_found_count = what->count, .in_progress = true};
    return PAWL_OK;
}

static int refresh(struct pawl_refresher *base, const struct pawl_refresh *what,
                   struct pawl_arena *arena, struct pawl_refreshed *out, int64_t deadline_ns,
                   struct pawl_error *err)
{
    struct distributed_refresher *refresher = (struct distributed_refresher *)(void *)base;
    const struct pawl_distribution *d = &refresher->distribution;
    struct pawl_lock lock;
    struct pawl_str name = pawl__str("");
    int status = name_of(what, arena, &name, err);

    if (status == PAWL_OK)
        status = pawl__locks_try(d->locks, name, 0, &lock, err);
    if (status == PAWL_EBUSY) {
        if (d->log)
            pawl_log(d->log, PAWL_LOG_INFO, "another node is refreshing these definitions",
                     pawl__log_str("lock", name));
        return in_progress(what, arena, out, err);
    }
    if (status != PAWL_OK)
        return status;
    status = pawl__refresher_refresh(refresher->inner, what, arena, out, deadline_ns, err);
    pawl__distributed_release(d, name, lock);
    return status;
}

static void close_refresher(struct pawl_refresher *base)
{
    struct distributed_refresher *refresher = (struct distributed_refresher *)(void *)base;

    pawl__refresher_close(refresher->inner);
    pawl__free(&refresher->distribution.env->alloc, refresher, sizeof *refresher);
}

static const struct pawl_refresher_ops ops = {PAWL_REFRESHER_VERSION, close_refresher, refresh};

int pawl__distributed_refresher_new(const struct pawl_distribution *distribution,
                                    struct pawl_refresher *inner, struct pawl_refresher **out,
                                    struct pawl_error *err)
{
    struct distributed_refresher *refresher =
        pawl__alloc_zeroed(&distribution->env->alloc, sizeof *refresher);

    if (!refresher)
        return pawl__error_code(err, PAWL_ENOMEM);
    *refresher = (struct distributed_refresher){{&ops, "distributed"}, inner, *distribution};
    *out = &refresher->base;
    return PAWL_OK;
}
