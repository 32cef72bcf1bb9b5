/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, pauses and the store as a whole. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/nodes.h"
#include "operations/statistics.h"
#include "operations/store.h"
#include "views/nodes.h"
#include "views/statistics.h"
#include "views/store.h"

/* ---- listing -------------------------------------------------------------------------------- */

static int pass_node(struct embed_call *call, const struct pawl_node_shown *node,
                     int (*row)(void *ctx, const struct pawl_node_info *node), void *ctx)
{
    const struct pawl_pause none = {.by = pawl__str(""), .reason = pawl__str("")};
    const struct pawl_pause *pause = node->pause ? node->pause : &none;
    const struct pawl_node_info info = {
        .id = pawl__embed_str(call, node->row->id),
        .state = pawl__node_state_name(node->state),
        .incarnation = node->row->incarnation,
        .lease_left_us = node->left_us,
        .host = pawl__embed_str(call, node->host),
        .pid = node->pid,
        .version = pawl__embed_str(call, node->version),
        .instance_count = (int64_t)node->runs,
        .work_count = (int64_t)node->work,
        .paused_by = pawl__embed_str(call, pause->by),
        .reason = pawl__embed_str(call, pause->reason),
        .paused_us = pause->since_us,
    };
    int status = pawl__embed_check_memory(call);

    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_nodes_list(struct pawl *pawl, const struct pawl_node_filter *filter,
                    int (*row)(void *ctx, const struct pawl_node_info *node), void *ctx,
                    struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_node_filter all = {0};
    struct pawl_node_list found = {.count = 0};
    struct pawl_node_query query;
    struct embed_text texts[2];
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &all;
    texts[0] = (struct embed_text){filter->node_id, "the filter's node_id"};
    texts[1] = (struct embed_text){filter->after, "the filter's after"};
    query = (struct pawl_node_query){
        .id = pawl__str(filter->node_id),
        .with_gone = filter->with_gone != 0,
        .page = pawl__embed_page(filter->limit, filter->after, row != NULL, end)};
    status = pawl__embed_check_texts(texts, 2, err);
    if (status == PAWL_OK)
        status = pawl__op_nodes_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_node(&call, &found.nodes[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}

/* ---- documents ------------------------------------------------------------------------------ */

/* Makes a view in the builder's arena, with an operation on the program's store. */
typedef int (*viewer)(const struct pawl_op *op, int64_t since_us, struct pawl_builder *b,
                      struct pawl_json *out);

static int show(struct pawl *pawl, viewer view, int64_t since_us, char **json,
                struct pawl_error *err)
{
    struct pawl_json value = pawl__json_null();
    struct pawl_builder b;
    struct embed_call call;
    int status = pawl__embed_check_json(json, err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    b = (struct pawl_builder){.arena = &call.arena};
    status = view(&call.op, since_us, &b, &value);
    return pawl__embed_end_json(&call, status, &b, &value, json);
}

static int view_overview(const struct pawl_op *op, int64_t since_us, struct pawl_builder *b,
                         struct pawl_json *out)
{
    struct pawl_overview seen;
    int status = pawl__op_overview(op, since_us, &seen);

    if (status == PAWL_OK)
        *out = pawl__view_overview(b, &seen);
    return status;
}

static int view_status(const struct pawl_op *op, int64_t since_us, struct pawl_builder *b,
                       struct pawl_json *out)
{
    struct pawl_cluster_status seen;
    int status = pawl__op_cluster_status(op, &seen);

    (void)since_us;
    if (status == PAWL_OK)
        *out = pawl__view_status(b, &seen);
    return status;
}

static int view_store(const struct pawl_op *op, int64_t since_us, struct pawl_builder *b,
                      struct pawl_json *out)
{
    struct pawl_store_info *info = pawl__arena_alloc(op->arena, sizeof *info);
    int status;

    (void)since_us;
    if (!info)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = pawl__op_store_info(op, pawl__str(""), info);
    if (status == PAWL_OK)
        *out = pawl__view_store_info(b, info);
    return status;
}

int pawl_overview(struct pawl *pawl, int64_t since_us, char **json, struct pawl_error *err)
{
    return show(pawl, view_overview, since_us, json, err);
}

int pawl_cluster_status(struct pawl *pawl, char **json, struct pawl_error *err)
{
    return show(pawl, view_status, 0, json, err);
}

int pawl_store_info(struct pawl *pawl, char **json, struct pawl_error *err)
{
    return show(pawl, view_store, 0, json, err);
}

/* ---- pauses --------------------------------------------------------------------------------- */

int pawl_node_pause(struct pawl *pawl, const char *node_id, const char *reason,
                    struct pawl_error *err)
{
    const struct embed_text texts[] = {{node_id, "the id of the node"}, {reason, "the reason"}};
    struct pawl_pause paused;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__embed_check_texts(texts, 2, err);
    if (status == PAWL_OK)
        status = pawl__op_node_pause(&call.op, pawl__str(node_id), pawl__str(reason), &paused);
    return pawl__embed_end(&call, status);
}

int pawl_node_unpause(struct pawl *pawl, const char *node_id, struct pawl_error *err)
{
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__text_check_utf8(node_id, "the id of the node", err);
    if (status == PAWL_OK)
        status = pawl__op_node_unpause(&call.op, pawl__str(node_id));
    return pawl__embed_end(&call, status);
}

/* ---- the store ------------------------------------------------------------------------------ */

int pawl_store_backup(struct pawl *pawl, const char *path, struct pawl_error *err)
{
    struct pawl_store_copied copied;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    if (!path || !*path)
        status = pawl__error_set(err, PAWL_EINVAL, "no file for the backup is given");
    else
        status = pawl__op_store_backup(&call.op, pawl__str(""), path, NULL, &copied);
    return pawl__embed_end(&call, status);
}

static void ignore_finding(void *ctx, const char *finding)
{
    (void)ctx;
    (void)finding;
}

int pawl_store_check(struct pawl *pawl, void (*visit)(void *ctx, const char *finding), void *ctx,
                     uint64_t *count, struct pawl_error *err)
{
    struct pawl_store_checked checked;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_store_check(&call.op, pawl__str(""), visit ? visit : ignore_finding, ctx,
                                  &checked);
    if (status == PAWL_OK && count)
        *count = checked.findings;
    return pawl__embed_end(&call, status);
}
