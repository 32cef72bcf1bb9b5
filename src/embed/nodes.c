/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, pauses and the store as a whole: operations and their views as JSON text. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/nodes.h"
#include "operations/statistics.h"
#include "operations/store.h"
#include "views/nodes.h"
#include "views/statistics.h"
#include "views/store.h"

/* ---- showing -------------------------------------------------------------------------------- */

/* Makes a view in the builder's arena, with an operation on the program's store. */
typedef int (*viewer)(const struct pawl_op *op, int64_t since_us, struct pawl_builder *b,
                      struct pawl_json *out);

static int show(struct pawl *pawl, viewer view, int64_t since_us, char **json,
                struct pawl_error *err)
{
    struct pawl_builder b = {.status = PAWL_OK};
    struct pawl_arena arena;
    struct pawl_json value;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && !json)
        status = pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put the JSON text");
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    b.arena = &arena;
    op = pawl__embed_op(pawl, &arena, err);
    status = view(&op, since_us, &b, &value);
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    if (status == PAWL_OK)
        status = pawl__embed_text(pawl, &value, json, err);
    pawl__arena_release(&arena);
    return status;
}

static int view_nodes(const struct pawl_op *op, int64_t since_us, struct pawl_builder *b,
                      struct pawl_json *out)
{
    const struct pawl_node_query query = {.with_instances = true,
                                          .page = {.limit = PAWL_PAGE_ROWS_MAX}};
    struct pawl_node_list nodes = {.count = 0};
    int status = pawl__op_nodes_list(op, &query, &nodes);

    (void)since_us;
    *out = pawl__json_array();
    for (size_t i = 0; status == PAWL_OK && i < nodes.count; i++)
        pawl__build_append(b, out, pawl__view_node(b, &nodes.nodes[i], true));
    return status;
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

int pawl_nodes_show(struct pawl *pawl, char **json, struct pawl_error *err)
{
    return show(pawl, view_nodes, 0, json, err);
}

int pawl_overview_show(struct pawl *pawl, int64_t since_us, char **json, struct pawl_error *err)
{
    return show(pawl, view_overview, since_us, json, err);
}

int pawl_status_show(struct pawl *pawl, char **json, struct pawl_error *err)
{
    return show(pawl, view_status, 0, json, err);
}

int pawl_store_show(struct pawl *pawl, char **json, struct pawl_error *err)
{
    return show(pawl, view_store, 0, json, err);
}

/* ---- pauses --------------------------------------------------------------------------------- */

static int check_texts(const struct pawl *pawl, const char *node_id, const char *by,
                       const char *reason, struct pawl_error *err)
{
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK)
        status = pawl__text_check_utf8(node_id, "the id of the node", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(by, "who pauses", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(reason, "the reason", err);
    return status;
}

int pawl_node_pause(struct pawl *pawl, const char *node_id, const char *by, const char *reason,
                    struct pawl_error *err)
{
    struct pawl_pause paused;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = check_texts(pawl, node_id, by, reason, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    if (by && *by)
        op.actor = pawl__str(by);
    status = pawl__op_node_pause(&op, pawl__str(node_id ? node_id : ""),
                                 pawl__str(reason ? reason : ""), &paused);
    pawl__arena_release(&arena);
    return status;
}

int pawl_node_unpause(struct pawl *pawl, const char *node_id, struct pawl_error *err)
{
    struct pawl_arena arena;
    struct pawl_op op;
    int status = check_texts(pawl, node_id, NULL, NULL, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__op_node_unpause(&op, pawl__str(node_id ? node_id : ""));
    pawl__arena_release(&arena);
    return status;
}

/* ---- the store ------------------------------------------------------------------------------ */

int pawl_store_save(struct pawl *pawl, const char *path, struct pawl_error *err)
{
    struct pawl_store_copied copied;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && (!path || !*path))
        status = pawl__error_set(err, PAWL_EINVAL, "no file for the backup is given");
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__op_store_backup(&op, pawl__str(""), path, NULL, &copied);
    pawl__arena_release(&arena);
    return status;
}

static void tell_nobody(void *ctx, const char *finding)
{
    (void)ctx;
    (void)finding;
}

int pawl_store_verify(struct pawl *pawl, void (*told)(void *ctx, const char *finding), void *ctx,
                      uint64_t *count, struct pawl_error *err)
{
    struct pawl_store_checked checked;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__op_store_check(&op, pawl__str(""), told ? told : tell_nobody, ctx, &checked);
    if (status == PAWL_OK && count)
        *count = checked.findings;
    pawl__arena_release(&arena);
    return status;
}
