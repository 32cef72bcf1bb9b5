/* SPDX-License-Identifier: Apache-2.0 */
/* One definition: its row, its JSON, its graph; the nodes of the graph by their ids. */
#include "base/error.h"
#include "engine/written.h"
#include "operations/definitions_private.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static int not_found(const struct pawl_op *op, const struct pawl_definition_ref *ref)
{
    if (ref->version_id.len > 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no definition version %.*s",
                               PAWL_STR_ARG(ref->version_id));
    if (ref->definition_id.len == 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no definition named %.*s",
                               PAWL_STR_ARG(ref->name));
    if (ref->versions.pick == PAWL_VERSIONS_NUMBER)
        return pawl__error_set(op->err, PAWL_ENOTFOUND,
                               "there is no version %lld of a definition %.*s",
                               (long long)ref->versions.number, PAWL_STR_ARG(ref->definition_id));
    if (ref->versions.pick == PAWL_VERSIONS_PUBLISHED)
        return pawl__error_set(op->err, PAWL_ENOTFOUND,
                               "no version of the definition %.*s is published",
                               PAWL_STR_ARG(ref->definition_id));
    return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no definition %.*s",
                           PAWL_STR_ARG(ref->definition_id));
}

int op_definition_row(const struct pawl_op *op, const struct pawl_definition_ref *ref,
                      struct pawl_definition_row *out)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    if (ref->version_id.len == 0 && ref->definition_id.len == 0 && ref->name.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "no definition id or name is given");
    op_query_init(&query, PAWL_TABLE_DEFINITIONS, "version", true);
    op_with_bytes(&query);
    if (ref->version_id.len > 0) {
        op_where_text(&query, "id", PAWL_EQ, ref->version_id);
    } else {
        op_where_given(&query, "definition_id", ref->definition_id);
        op_where_given(&query, "name", ref->name);
        op_where_versions(&query, &ref->versions);
    }
    status = op_find_all(op, &query, 1, &rows);
    if (status == PAWL_OK && rows.count == 0)
        return not_found(op, ref);
    if (status == PAWL_OK)
        *out = *(const struct pawl_definition_row *)rows.rows;
    return status;
}

int pawl__op_definition_find(const struct pawl_op *op, const struct pawl_definition_ref *ref,
                             struct pawl_definition_row *out)
{
    struct pawl_definition_row row;
    int status = op_definition_row(op, ref, &row);

    if (status == PAWL_OK)
        status = op_definition_in_step(op, &row);
    if (status == PAWL_OK)
        *out = row;
    return status;
}

/* One that comes from a provider which says so is not changed here. */
int op_definition_check_writable(const struct pawl_op *op, struct pawl_str definition_id)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    if (definition_id.len == 0)
        return PAWL_OK;
    op_query_init(&query, PAWL_TABLE_DEFINITIONS, NULL, false);
    op_where_text(&query, "definition_id", PAWL_EQ, definition_id);
    op_where_int(&query, "is_latest", PAWL_NE, 0);
    op_where_int(&query, "is_readonly", PAWL_NE, 0);
    status = op_find_all(op, &query, 1, &rows);
    if (status == PAWL_OK && rows.count > 0)
        return pawl__error_set(op->err, PAWL_EPERM, "the definition %.*s is read-only",
                               PAWL_STR_ARG(definition_id));
    return status;
}

/* ---- what it is made of ---------------------------------------------------------------------- */

static int write_parts(const struct pawl_op *op, struct pawl_definition_shown *shown)
{
    const struct pawl_workflow *workflow = shown->graph->workflow;
    const struct pawl_node *root = shown->graph->root;
    struct pawl_builder b = {.arena = op->arena};

    shown->variables =
        pawl__written_variables(&b, workflow->variables, workflow->variable_count,
                                pawl__json_get_nocase(&shown->json, pawl__str("variables")));
    shown->inputs = pawl__written_arguments(&b, workflow->inputs, workflow->input_count, true);
    shown->outputs = pawl__written_arguments(&b, workflow->outputs, workflow->output_count, false);
    shown->outcomes = pawl__json_array();
    for (uint32_t i = 0; i < workflow->outcome_count; i++)
        pawl__build_append(&b, &shown->outcomes, pawl__json_string(workflow->outcomes[i]));
    shown->root =
        root->child_count > 0 ? pawl__written_activity(&b, root->children[0]) : pawl__json_null();
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, b.status);
}

int pawl__op_definition_show_row(const struct pawl_op *op, const struct pawl_definition_row *row,
                                 struct pawl_definition_shown *out)
{
    struct pawl_definition_shown shown = {.row = *row};
    int status = pawl__definition_read_into(op->arena, row, &shown.json, op->err);

    if (status == PAWL_OK)
        status = pawl__definitions_graph(op_definitions(op), row->id, &shown.graph, op->deadline_ns,
                                         op->err);
    if (status != PAWL_OK)
        return status;
    status = write_parts(op, &shown);
    if (status == PAWL_OK)
        *out = shown;
    else
        pawl__graph_unref(shown.graph);
    return status;
}

int pawl__op_definition_show(const struct pawl_op *op, const struct pawl_definition_ref *ref,
                             struct pawl_definition_shown *out)
{
    struct pawl_definition_row row;
    int status = pawl__op_definition_find(op, ref, &row);

    return status == PAWL_OK ? pawl__op_definition_show_row(op, &row, out) : status;
}

void pawl__op_definition_release(struct pawl_definition_shown *shown)
{
    pawl__graph_unref(shown->graph);
    shown->graph = NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct pawl_definition_node brief_node(const struct pawl_node *node)
{
    return (struct pawl_definition_node){
        .node_id = node->node_id,
        .id = node->id,
        .type = node->type,
        .name = node->name,
        .port = node->parent ? node->port : pawl__str("Root"),
        .activity = pawl__json_null(),
    };
}

static int whole_node(const struct pawl_op *op, const struct pawl_node *node,
                      struct pawl_definition_node *out)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_definition_node made = brief_node(node);

    made.activity = pawl__written_activity(&b, node);
    if (b.status != PAWL_OK)
        return pawl__error_code(op->err, b.status);
    *out = made;
    return PAWL_OK;
}

int pawl__op_definition_node(const struct pawl_op *op, const struct pawl_definition_shown *shown,
                             struct pawl_str node_id, struct pawl_definition_node *out)
{
    const struct pawl_node *node = pawl__graph_node(shown->graph, node_id);

    return whole_node(op, node ? node : shown->graph->root, out);
}

int pawl__op_definition_path(const struct pawl_op *op, const struct pawl_definition_shown *shown,
                             struct pawl_str node_id, struct pawl_definition_path *out)
{
    const struct pawl_node *child = pawl__graph_node(shown->graph, node_id);
    struct pawl_definition_path path = {.segment_count = 0};
    struct pawl_definition_node *segments;
    size_t depth = 0;
    int status;

    if (!child)
        return pawl__error_set(op->err, PAWL_EINVAL, "Unknown node ID");
    for (const struct pawl_node *node = child; node->parent; node = node->parent)
        depth++;
    segments = pawl__arena_alloc_array(op->arena, depth + 1, sizeof *segments);
    if (!segments)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    path.segments = segments;
    path.segment_count = depth;
    for (const struct pawl_node *node = child; node->parent; node = node->parent) {
        segments[--depth] = brief_node(node->parent);
        segments[depth].port = node->port;
    }
    status = whole_node(op, child, &path.child);
    if (status == PAWL_OK)
        status = whole_node(op, child->parent ? child->parent : child, &path.container);
    if (status == PAWL_OK)
        *out = path;
    return status;
}
