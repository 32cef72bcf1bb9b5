/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancellations of bursts that run here. A burst learns of one with its next commit, which may be
 * far away; so a thread asks the store, with one query for all instances that have been in hand
 * since its last look, and flags those whose cancellation was requested. A burst looks at its flag
 * at every activity boundary; what it finds there only makes it commit, and that commit's result
 * decides.
 *
 * While nothing is in hand, or only what is soon done, nothing is asked.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/log.h"

/* Between two looks. */
#define PAUSE_NS INT64_C(250000000)
/* What one look may take. */
#define QUERY_NS INT64_C(5000000000)
/* Instances that one query names: as many as a pool has workers. Of more, each look names the next
 * ones, and begins anew behind the last. */
#define IDS_MAX 256u

/* With the mutex held. The ids of what was in hand at the last look too, copied. */
static struct pawl_datum *collect_ids(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                      size_t *count)
{
    struct pawl_datum *ids = pawl__arena_alloc_array(arena, IDS_MAX, sizeof *ids);
    struct runtime_running *running;
    size_t seen = 0;

    *count = 0;
    if (!ids)
        return NULL;
    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        if (running->was_seen && seen++ >= runtime->cancels_from && *count < IDS_MAX) {
            ids[*count] = (struct pawl_datum){.text = pawl__arena_str(arena, running->id)};
            if (ids[*count].text.ptr)
                ++*count;
        }
        running->was_seen = true;
    }
    runtime->cancels_from =
        seen > runtime->cancels_from + IDS_MAX ? runtime->cancels_from + IDS_MAX : 0;
    return ids;
}

static void flag_requested(struct pawl_runtime *runtime, struct pawl_arena *arena,
                           const struct pawl_datum *ids, size_t count)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"),
         .compare = PAWL_IN,
         .values = ids,
         .value_count = count},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "cancel_requested"),
         .compare = PAWL_NE,
         .value = {.integer = 0}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = sizeof conditions / sizeof conditions[0],
                                     .limit = IDS_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    int status = pawl_store_find(runtime->store, &query, arena, &rows,
                                 pawl_env_monotonic_ns(runtime->env) + QUERY_NS, &err);

    if (status != PAWL_OK && status != PAWL_ESTOPPED && runtime->log)
        pawl_log(runtime->log, PAWL_LOG_DEBUG, "cancellations not looked for",
                 pawl_log_error("error", &err));
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        pawl__runtime_flag_cancelled(runtime, ((const struct pawl_instance_row *)rows.rows)[i].id);
}

/* With the mutex held. False: it is time to end. */
static bool pause_for_next(struct pawl_runtime *runtime)
{
    int status = PAWL_OK;
    int64_t until;

    while (status == PAWL_OK && !runtime->cancels_stop && pawl__list_empty(&runtime->running)) {
        runtime->cancels_sleep = true;
        status = pawl_cond_wait(runtime->env, runtime->cancels, runtime->mutex, PAWL_FOREVER);
    }
    runtime->cancels_sleep = false;
    until = pawl_env_monotonic_ns(runtime->env) + PAUSE_NS;
    while (status == PAWL_OK && !runtime->cancels_stop)
        status = pawl_cond_wait(runtime->env, runtime->cancels, runtime->mutex, until);
    return !runtime->cancels_stop && status != PAWL_ESTOPPED;
}

static void look_for_cancellations(void *arg)
{
    struct pawl_runtime *runtime = arg;
    struct pawl_arena arena;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    while (pause_for_next(runtime)) {
        size_t count;
        const struct pawl_datum *ids = collect_ids(runtime, &arena, &count);

        if (count > 0) {
            pawl_mutex_unlock(runtime->env, runtime->mutex);
            flag_requested(runtime, &arena, ids, count);
            if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK) {
                pawl__arena_release(&arena);
                return;
            }
        }
        pawl__arena_release(&arena); /* it may be long until the next look */
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    pawl__arena_release(&arena);
}

void pawl__runtime_flag_cancelled(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    struct runtime_running *running;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        if (pawl__str_equal(running->id, instance_id))
            atomic_store(&running->cancelled, true);
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

void pawl__runtime_cancels_entered(struct pawl_runtime *runtime)
{
    if (!runtime->cancels_sleep)
        return;
    runtime->cancels_sleep = false;
    pawl_cond_broadcast(runtime->env, runtime->cancels);
}

int pawl__runtime_cancels_open(struct pawl_runtime *runtime, struct pawl_error *err)
{
    return pawl_thread_start(runtime->env, "pawl-cancels", look_for_cancellations, runtime,
                             &runtime->cancels_thread, err);
}

void pawl__runtime_cancels_close(struct pawl_runtime *runtime)
{
    if (!runtime->cancels_thread)
        return;
    if (pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
        runtime->cancels_stop = true;
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    }
    pawl_cond_broadcast(runtime->env, runtime->cancels);
    pawl_thread_join(runtime->env, runtime->cancels_thread);
    runtime->cancels_thread = NULL;
}
