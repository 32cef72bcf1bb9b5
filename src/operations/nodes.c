/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and their pauses; see nodes.h. */
#include "operations/nodes.h"

#include "base/error.h"
#include "base/json/json.h"
#include "host/host.h"
#include "locks/locks.h"
#include "operations/nodes_private.h"
#include "operations/query.h"
#include "operations/record.h"
#include "runtime/node/keeper.h"
#include "runtime/node/pause.h"
#include "runtime/runtime.h"

const char *pawl__node_state_name(enum pawl_node_state state)
{
    static const char *const names[] = {
        [PAWL_NODE_ALIVE] = "alive",
        [PAWL_NODE_PAUSED] = "paused",
        [PAWL_NODE_STUCK] = "stuck",
        [PAWL_NODE_GONE] = "gone",
    };

    return names[state];
}

/* Nodes that are read at a time to count them. */
#define COUNT_BATCH 1000u

/* ---- listing -------------------------------------------------------------------------------- */

struct nodes {
    const struct pawl_op *op;
    const struct pawl_node_query *query;
    const struct pawl_pause *pauses;
    size_t pause_count;
    int64_t now_us;
};

bool op_node_stays(const struct pawl_json *told)
{
    const struct pawl_json *stays = pawl__json_get_text(told, "stays");

    return !pawl__json_is(stays, PAWL_JSON_BOOL) || pawl__json_true(stays);
}

/* Members of the JSON that it told, where it told any. */
static void read_told(const struct nodes *nodes, struct pawl_node_shown *to)
{
    struct pawl_json told;

    if (pawl__json_parse(nodes->op->arena, to->row->info, NULL, &told, NULL, NULL) != PAWL_OK)
        told = pawl__json_object();
    to->host = pawl__json_str(pawl__json_get_text(&told, "host"));
    to->version = pawl__json_str(pawl__json_get_text(&told, "version"));
    to->runtime = pawl__json_str(pawl__json_get_text(&told, "runtime"));
    to->locks = pawl__json_str(pawl__json_get_text(&told, "locks"));
    (void)pawl__json_to_int(pawl__json_get_text(&told, "pid"), &to->pid);
    (void)pawl__json_to_int(pawl__json_get_text(&told, "stuck"), &to->stuck);
    to->stays = op_node_stays(&told);
}

static enum pawl_node_state state_of(const struct pawl_node_shown *node)
{
    if (node->left_us <= 0)
        return PAWL_NODE_GONE;
    if (node->stuck > 0)
        return PAWL_NODE_STUCK;
    return node->pause ? PAWL_NODE_PAUSED : PAWL_NODE_ALIVE;
}

static int count_runs(const struct pawl_op *op, int64_t incarnation, uint64_t *out)
{
    struct op_query query;

    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_int(&query, "owner", PAWL_EQ, incarnation);
    return op_count(op, &query, out);
}

static int count_held(const struct nodes *nodes, struct pawl_node_shown *node)
{
    struct op_query query;
    struct pawl_rows rows;
    int status = count_runs(nodes->op, node->row->incarnation, &node->runs);

    op_query_init(&query, PAWL_TABLE_WORK, NULL, false);
    op_where_int(&query, "owner", PAWL_EQ, node->row->incarnation);
    if (status == PAWL_OK)
        status = op_count(nodes->op, &query, &node->work);
    if (status != PAWL_OK || !nodes->query->with_instances || node->runs == 0)
        return status;
    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_int(&query, "owner", PAWL_EQ, node->row->incarnation);
    status = op_find_all(nodes->op, &query, PAWL_NODE_INSTANCES_MAX, &rows);
    if (status == PAWL_OK) {
        node->instances = rows.rows;
        node->instance_count = rows.count;
    }
    return status;
}

static int look_at(const struct nodes *nodes, const struct pawl_node_row *row,
                   struct pawl_node_shown *out, bool *shown)
{
    int status;

    *out = (struct pawl_node_shown){
        .row = row,
        .left_us = row->lease_us - nodes->now_us,
        .pause = pawl__pause_of(nodes->pauses, nodes->pause_count, row->id),
    };
    read_told(nodes, out);
    out->state = state_of(out);
    status = count_held(nodes, out);
    *shown = out->state != PAWL_NODE_GONE || nodes->query->with_gone || nodes->query->id.len > 0 ||
             out->runs + out->work > 0;
    return status;
}

/*
 * How many a list shows, wherever its page is: which of those that are gone have left something is
 * known only by looking at each.
 */
static int count_shown(const struct nodes *nodes, struct op_query *asked, uint64_t *out)
{
    struct pawl_page_request request = {.limit = COUNT_BATCH};
    struct pawl_node_query brief = *nodes->query;
    struct nodes each = *nodes;
    struct pawl_rows rows = {0};
    struct pawl_page page = {0};
    int status;

    *out = 0;
    brief.with_instances = false;
    each.query = &brief;
    do {
        struct op_query batch = *asked;

        status = op_find_page(nodes->op, &batch, &request, &rows, &page);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            const struct pawl_node_row *row = &((const struct pawl_node_row *)rows.rows)[i];
            struct pawl_node_shown node;
            bool shown = row->lease_us > nodes->now_us;

            if (!shown)
                status = look_at(&each, row, &node, &shown);
            *out += shown;
        }
        request.after = page.next;
    } while (status == PAWL_OK && request.after.len > 0);
    return status;
}

static int find_pauses(const struct pawl_op *op, const struct pawl_pause **out, size_t *count)
{
    return pawl__pauses_find(op_store(op), op->arena, out, count, op->deadline_ns, op->err);
}

int pawl__op_nodes_list(const struct pawl_op *op, const struct pawl_node_query *query,
                        struct pawl_node_list *out)
{
    struct nodes nodes = {.op = op, .query = query};
    struct pawl_node_list found = {.nodes = NULL};
    struct pawl_node_shown *infos = NULL;
    struct pawl_rows rows = {0};
    struct op_query asked, all;
    int status = op_now(op, &nodes.now_us);

    op_query_init(&asked, PAWL_TABLE_NODES, NULL, false);
    op_with_bytes(&asked);
    op_where_given(&asked, "id", query->id);
    if (query->without_gone)
        op_where_int(&asked, "lease_us", PAWL_GT, nodes.now_us);
    if (status == PAWL_OK)
        status = find_pauses(op, &nodes.pauses, &nodes.pause_count);
    all = asked;
    if (status == PAWL_OK)
        status = op_find_page(op, &asked, &query->page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    infos = pawl__arena_alloc_array(op->arena, rows.count + 1, sizeof *infos);
    if (!infos)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        bool shown = false;

        status = look_at(&nodes, &((const struct pawl_node_row *)rows.rows)[i], &infos[found.count],
                         &shown);
        found.count += shown;
    }
    /* More rows than are shown: the total is counted by them, not by rows. */
    if (status == PAWL_OK && found.page.total > found.count)
        status = count_shown(&nodes, &all, &found.page.total);
    if (status != PAWL_OK)
        return status;
    found.nodes = infos;
    found.pauses = nodes.pauses;
    found.pause_count = nodes.pause_count;
    found.now_us = nodes.now_us;
    *out = found;
    return PAWL_OK;
}

int pawl__op_nodes_working(const struct pawl_op *op, size_t *count)
{
    const struct pawl_node_query query = {.without_gone = true,
                                          .page = {.limit = PAWL_PAGE_ROWS_MAX}};
    struct pawl_node_list nodes = {0};
    int status = pawl__op_nodes_list(op, &query, &nodes);

    if (status != PAWL_OK)
        return status;
    *count = 0;
    for (size_t i = 0; i < nodes.count; i++)
        *count += nodes.nodes[i].stays && !nodes.nodes[i].pause;
    return PAWL_OK;
}

/* ---- pauses --------------------------------------------------------------------------------- */

static int check_there(const struct pawl_op *op, struct pawl_str node_id)
{
    struct op_query query;
    uint64_t count = 0;
    int status;

    op_query_init(&query, PAWL_TABLE_NODES, NULL, false);
    op_where_text(&query, "id", PAWL_EQ, node_id);
    status = op_count(op, &query, &count);
    if (status == PAWL_OK && count == 0)
        status = pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no node '%.*s'",
                                 PAWL_STR_ARG(node_id));
    return status;
}

int pawl__op_node_pause(const struct pawl_op *op, struct pawl_str node_id, struct pawl_str reason,
                        struct pawl_pause *out)
{
    const struct pawl_pause wanted = {.node_id = node_id, .by = op->actor, .reason = reason};
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json asked = pawl__json_object();
    struct op_record record;
    struct pawl_pause now = wanted;
    int status = node_id.len > 0 ? check_there(op, node_id) : PAWL_OK;

    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "pause", "node", node_id);
    pawl__build_text(&b, &asked, "reason", reason);
    if (status == PAWL_OK && reason.len > 0)
        status = op_record_asked(op, &record, &b, &asked);
    if (status == PAWL_OK)
        status = op_record_end(op, &record, true,
                               pawl__pause_begin(op_store(op), record.by, &wanted, op->arena, &now,
                                                 op->deadline_ns, op->err));
    pawl__runtime_look_for_pauses(op_runtime(op));
    if (status == PAWL_OK)
        *out = now;
    return status;
}

int pawl__op_node_unpause(const struct pawl_op *op, struct pawl_str node_id)
{
    struct op_record record;
    bool ended = false;
    int status = op_record_begin(op, &record, "unpause", "node", node_id);

    if (status != PAWL_OK)
        return status;
    status = pawl__pause_end(op_store(op), record.by, node_id, op->arena, &ended, op->deadline_ns,
                             op->err);
    pawl__runtime_look_for_pauses(op_runtime(op));
    if (status == PAWL_OK && !ended && node_id.len > 0)
        status = pawl__error_set(op->err, PAWL_ENOTFOUND, "node '%.*s' itself is not paused",
                                 PAWL_STR_ARG(node_id));
    else if (status == PAWL_OK && !ended)
        status = pawl__error_set(op->err, PAWL_ENOTFOUND, "the cluster is not paused");
    return op_record_end(op, &record, true, status);
}

int pawl__op_cluster_status(const struct pawl_op *op, struct pawl_cluster_status *out)
{
    struct pawl_runtime *node = op_runtime(op);
    struct pawl_cluster_status found = {.incarnation = pawl__runtime_incarnation(node),
                                        .is_ending = pawl__runtime_is_stopping(node)};
    int status = op_now(op, &found.now_us);

    if (status == PAWL_OK)
        status = find_pauses(op, &found.pauses, &found.pause_count);
    if (status == PAWL_OK && found.incarnation > 0)
        status = count_runs(op, found.incarnation, &found.runs);
    if (status != PAWL_OK)
        return status;
    found.pause =
        pawl__pause_of(found.pauses, found.pause_count, pawl__str(pawl__runtime_node_id(node)));
    found.spans_processes = op_store(op)->caps & PAWL_STORE_CAP_PROCESSES;
    found.spans_machines = op_store(op)->caps & PAWL_STORE_CAP_MACHINES;
    found.is_accepting = found.incarnation > 0 && !found.pause && !found.is_ending;
    *out = found;
    return PAWL_OK;
}

/* ---- as the API has it ---------------------------------------------------------------------- */

int pawl__op_runtime_resume(const struct pawl_op *op)
{
    struct pawl_str own = pawl__str(pawl__runtime_node_id(op_runtime(op)));
    struct pawl_cluster_status status;
    int code = pawl__op_cluster_status(op, &status);

    for (size_t i = 0; code == PAWL_OK && i < status.pause_count; i++) {
        struct pawl_str node_id = status.pauses[i].node_id;

        if (node_id.len > 0 && !pawl__str_equal(node_id, own))
            continue;
        code = pawl__op_node_unpause(op, node_id);
        /* Somebody else ended it meanwhile. */
        if (code == PAWL_ENOTFOUND)
            code = PAWL_OK;
    }
    return code;
}

/* How long it is between two looks whether a node still runs something. */
#define DRAIN_LOOK_NS INT64_C(20000000)

/* Time for a response after the last look. */
#define DRAIN_REST_NS INT64_C(2000000000)

static int await_idle(const struct pawl_op *op, struct pawl_drained *out)
{
    struct pawl_env *env = op_env(op);
    int64_t incarnation = pawl__runtime_incarnation(op_runtime(op));

    for (;;) {
        int status = count_runs(op, incarnation, &out->left);

        if (status != PAWL_OK || out->left == 0 ||
            pawl_env_monotonic_ns(env) >= op->deadline_ns - DRAIN_REST_NS)
            return status;
        status = pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + DRAIN_LOOK_NS);
        if (status != PAWL_OK)
            return pawl__error_code(op->err, status);
    }
}

int pawl__op_node_drain(const struct pawl_op *op, struct pawl_str reason, struct pawl_drained *out)
{
    struct pawl_str own = pawl__str(pawl__runtime_node_id(op_runtime(op)));
    struct pawl_drained drained = {.left = 0};
    struct pawl_pause pause;
    int status = op_now(op, &drained.started_us);

    if (status == PAWL_OK && pawl__runtime_incarnation(op_runtime(op)) <= 0)
        status = pawl__error_set(op->err, PAWL_EINVAL, "this process is no node: it runs nothing");
    if (status == PAWL_OK)
        status = pawl__op_node_pause(op, own, reason, &pause);
    if (status == PAWL_OK)
        status = op_now(op, &drained.paused_us);
    if (status == PAWL_OK)
        status = await_idle(op, &drained);
    if (status == PAWL_OK)
        status = op_now(op, &drained.completed_us);
    if (status == PAWL_OK)
        *out = drained;
    return status;
}

int pawl__op_cluster_probe(const struct pawl_op *op, struct pawl_str lock_name)
{
    struct pawl_locks *locks = pawl__host_locks(op->host);
    struct pawl_lease lease = {.kind = PAWL_LEASE_LEAVE, .node_id = pawl__str("nobody")};
    struct pawl_lock lock;
    int status = pawl_store_lease(op_store(op), &lease, op->deadline_ns, op->err);

    if (status == PAWL_OK && locks) {
        status = pawl__locks_acquire(locks, lock_name, 0, op->deadline_ns, NULL, &lock, op->err);
        if (status == PAWL_OK)
            status = pawl__locks_release(locks, lock, op->err);
    }
    return status;
}
