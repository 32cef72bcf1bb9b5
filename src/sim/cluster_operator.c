/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator of the simulated cluster: replays dead letters, works out triggers anew, and ends
 * workflows that never end, at any moment and at any node.
 */
#include "sim/cluster_private.h"

#include "base/error.h"
#include "runtime/definitions/refresher.h"

#define NAP_NS_MAX (INT64_C(12) * SECOND_NS)
#define RETRY_NS (SECOND_NS / 2)
#define CALL_NS (INT64_C(10) * SECOND_NS)
#define LETTERS_MAX 50u
#define LOOPS_MAX 64u

static int nap(struct cluster *cluster, int64_t most_ns)
{
    int64_t lot_ns = (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)most_ns);

    return pawl_env_sleep_until(cluster->users, pawl_env_monotonic_ns(cluster->users) + lot_ns);
}

/* ---- dead letters ------------------------------------------------------------------------ */

static void replay_letters(struct cluster *cluster, struct cluster_node *node)
{
    const struct pawl_query query = {.table = PAWL_TABLE_DEAD_LETTERS, .limit = LETTERS_MAX};
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &node->env.base.alloc, ARENA_BYTES_MAX);
    status = pawl_store_find(node->store, &query, &arena, &rows,
                             pawl_env_monotonic_ns(&node->env.base) + CALL_NS, NULL);
    for (size_t i = 0; status == PAWL_OK && i < rows.count && node->is_up; i++) {
        const struct pawl_dead_letter_row *letter =
            &((const struct pawl_dead_letter_row *)rows.rows)[i];

        if (letter->replayed_us != 0)
            continue;
        status = pawl__runtime_replay(node->runtime, letter->id, NULL,
                                      pawl_env_monotonic_ns(&node->env.base) + CALL_NS, NULL);
        pawl__cluster_say(&cluster->checker, "operator", "replays %.*s %.*s: %s",
                          PAWL_STR_ARG(letter->kind), PAWL_STR_ARG(letter->id),
                          status == PAWL_OK ? "done" : pawl_error_name(status));
        cluster->report->replayed += status == PAWL_OK;
        if (pawl_error_class(status) == PAWL_CLASS_DEFINITE && status != PAWL_ESTOPPED)
            status = PAWL_OK; /* that one was not to be */
    }
    pawl__arena_release(&arena);
}

/* ---- what was set aside ------------------------------------------------------------------- */

int pawl__cluster_retry_set_aside(struct cluster *cluster)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "retry_us"), .compare = PAWL_NE};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct cluster_node *node = pawl__cluster_pick_node(cluster);
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    int status;

    if (!node)
        return PAWL_OK;
    node->callers++;
    pawl__arena_init(&arena, &cluster->server->alloc, ARENA_BYTES_MAX);
    status = pawl_store_find(cluster->window, &query, &arena, &rows, PAWL_FOREVER, NULL);
    for (size_t i = 0; status == PAWL_OK && i < rows.count && node->is_up; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows.rows)[i];
        struct pawl_str id = row->id;
        int retried;

        /* It would run on this thread, and not come back. */
        if (pawl__flow_by_id(row->definition_id) == FLOW_LOOP)
            continue;
        retried = pawl__runtime_retry(node->runtime, id, NULL, 0, NULL,
                                      pawl_env_monotonic_ns(&node->env.base) + CALL_NS, NULL);
        cluster->report->retried_aside += retried == PAWL_OK;
        pawl__cluster_say(&cluster->checker, "operator", "tries %.*s again: %s", PAWL_STR_ARG(id),
                          retried == PAWL_OK ? "done" : pawl_error_name(retried));
    }
    pawl__arena_release(&arena);
    node->callers--;
    return status;
}

/* ---- definitions ------------------------------------------------------------------------- */

static void refresh(struct cluster *cluster, struct cluster_node *node)
{
    const struct pawl_refresh all = {0};
    struct pawl_refresher *refresher = NULL;
    struct pawl_refreshed refreshed;
    struct pawl_arena arena;
    struct pawl_env *env = &node->env.base;
    int status = pawl__local_refresher_new(
        env, node->store, pawl__runtime_definitions(node->runtime), NULL, &refresher, NULL);

    pawl__arena_init(&arena, &env->alloc, ARENA_BYTES_MAX);
    if (status == PAWL_OK)
        status = pawl__refresher_refresh(refresher, &all, &arena, &refreshed,
                                         pawl_env_monotonic_ns(env) + CALL_NS, NULL);
    pawl__cluster_say(&cluster->checker, "operator", "refreshes definitions at %s: %s", node->name,
                      status == PAWL_OK ? "done" : pawl_error_name(status));
    cluster->report->refreshed += status == PAWL_OK;
    pawl__arena_release(&arena);
    pawl__refresher_close(refresher);
}

void pawl__cluster_operator_run(void *arg)
{
    struct cluster *cluster = arg;

    while (!pawl__cluster_is_quiet(cluster) && nap(cluster, NAP_NS_MAX) == PAWL_OK) {
        struct cluster_node *node = pawl__cluster_pick_node(cluster);
        uint64_t lot = pawl__sim_lot(&cluster->chance, 3);

        if (!node)
            continue;
        node->callers++;
        if (lot == 0)
            replay_letters(cluster, node);
        else if (lot == 1)
            refresh(cluster, node);
        else
            (void)!pawl__cluster_retry_set_aside(cluster);
        node->callers--;
    }
}

/* ---- loops ------------------------------------------------------------------------------- */

static int cancel(struct cluster *cluster, struct pawl_str instance_id)
{
    int status = PAWL_EUNAVAILABLE;

    while (status != PAWL_OK && status != PAWL_ENOTFOUND) {
        struct cluster_node *node = pawl__cluster_pick_node(cluster);

        if (node) {
            node->callers++;
            status = pawl__runtime_cancel(node->runtime, instance_id,
                                          pawl_env_monotonic_ns(&node->env.base) + CALL_NS, NULL);
            node->callers--;
            pawl__cluster_say(&cluster->checker, "operator", "cancels %.*s at %s: %s",
                              PAWL_STR_ARG(instance_id), node->name,
                              status == PAWL_OK ? "done" : pawl_error_name(status));
        }
        if (status != PAWL_OK &&
            pawl_env_sleep_until(cluster->server,
                                 pawl_env_monotonic_ns(cluster->server) + RETRY_NS) != PAWL_OK)
            return PAWL_ESTOPPED;
    }
    return PAWL_OK;
}

int pawl__cluster_cancel_loops(struct cluster *cluster)
{
    struct pawl_str ids[LOOPS_MAX];
    struct pawl_map_entry *entry;
    size_t count = 0;
    int status = PAWL_OK;

    PAWL_MAP_FOR_EACH (entry, &cluster->checker.instances) {
        const struct known_instance *instance = entry->value;

        if (instance->flow == FLOW_LOOP && !instance->finished && !instance->deleted &&
            count < LOOPS_MAX)
            ids[count++] = instance->id;
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = cancel(cluster, ids[i]);
    return status;
}
