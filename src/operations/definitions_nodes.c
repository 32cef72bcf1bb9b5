/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a definition's graph by their ids, and the way to them. */
#include "base/error.h"
#include "base/time/datetime.h"
#include "engine/written.h"
#include "operations/definitions_private.h"

/* ---- workflows as nodes ------------------------------------------------------------------------
 */

static bool is_workflow(const struct pawl_node *node)
{
    return !node->parent || pawl__str_is(node->type, PAWL_ACTIVITY_WORKFLOW);
}

static void put_text(struct pawl_builder *b, struct pawl_json *out, const char *key,
                     struct pawl_str text)
{
    pawl__build(b, out, key, pawl__json_string(text));
}

static void put_heads(struct pawl_builder *b, struct pawl_json *out,
                      const struct pawl_definition_row *row)
{
    struct pawl_json identity = pawl__json_object(), publication = pawl__json_object();

    put_text(b, &identity, "definitionId", row->definition_id);
    pawl__build_int(b, &identity, "version", row->version);
    put_text(b, &identity, "id", row->id);
    pawl__build(b, out, "identity", identity);
    pawl__build_bool(b, &publication, "isLatest", row->is_latest);
    pawl__build_bool(b, &publication, "isPublished", row->is_published);
    pawl__build(b, out, "publication", publication);
}

static void put_about(struct pawl_builder *b, struct pawl_json *out,
                      const struct pawl_definition_row *row, const struct pawl_workflow *workflow)
{
    struct pawl_json about = pawl__json_object(), handle = pawl__json_object();

    pawl__build_text(b, &about, "name", row->name);
    pawl__build_text(b, &about, "description", row->description);
    pawl__build_time(b, &about, "createdAt", pawl__us_to_ticks(row->created_us));
    pawl__build_text(b, &about, "toolVersion", workflow->tool_version);
    pawl__build(b, out, "workflowMetadata", about);
    pawl__build(b, out, "options", pawl__definition_options(b, workflow->json));
    pawl__build_bool(b, out, "isReadonly", row->is_readonly);
    pawl__build_bool(b, out, "isSystem", row->is_system);
    put_text(b, &handle, "definitionVersionId", row->id);
    pawl__build(b, out, "definitionHandle", handle);
}

/* Elsa's Workflow object: the definition as an activity. `is_asked_for`: by its own id. */
static struct pawl_json write_workflow(struct pawl_builder *b, const struct pawl_node *node,
                                       const struct pawl_definition_row *row, bool is_asked_for)
{
    const struct pawl_workflow *workflow = node->workflow;
    const struct pawl_json *custom =
        pawl__json_get_nocase(workflow->json, pawl__str("customProperties"));
    struct pawl_json out = pawl__json_object(), outcomes = pawl__json_array();

    for (uint32_t i = 0; i < workflow->outcome_count; i++)
        pawl__build_append(b, &outcomes, pawl__json_string(workflow->outcomes[i]));
    put_heads(b, &out, row);
    pawl__build(b, &out, "inputs",
                pawl__written_arguments(b, workflow->inputs, workflow->input_count, true));
    pawl__build(b, &out, "outputs",
                pawl__written_arguments(b, workflow->outputs, workflow->output_count, false));
    pawl__build(b, &out, "outcomes", outcomes);
    put_about(b, &out, row, workflow);
    if (is_asked_for)
        pawl__build(b, &out, "result", pawl__json_null());
    pawl__build(b, &out, "root",
                node->child_count > 0 ? pawl__written_activity(b, node->children[0])
                                      : pawl__json_null());
    put_text(b, &out, "id", node->id);
    put_text(b, &out, "nodeId", node->node_id);
    if (is_asked_for)
        pawl__build(b, &out, "name", pawl__json_null());
    put_text(b, &out, "type", pawl__str(PAWL_ACTIVITY_WORKFLOW));
    pawl__build_int(b, &out, "version", 1);
    pawl__build(b, &out, "customProperties",
                pawl__json_is(custom, PAWL_JSON_OBJECT) ? *custom : pawl__json_object());
    pawl__build(b, &out, "metadata", pawl__json_object());
    return out;
}

/* An activity that is a workflow, with what is in it. */
static struct pawl_json write_embedding(struct pawl_builder *b, const struct pawl_node *node,
                                        const struct pawl_definition_row *row)
{
    struct pawl_json brief = pawl__written_activity(b, node), out = pawl__json_object();

    for (uint32_t i = 0; i < pawl__json_len(&brief); i++) {
        const struct pawl_json_member *one = pawl__json_member(&brief, i);

        pawl__build_member(b, &out, one->key, one->value);
        if (pawl__str_is(one->key, "latestAvailablePublishedVersionId"))
            pawl__build(b, &out, "root", write_workflow(b, node->children[0], row, false));
    }
    return out;
}

/* ---- nodes -----------------------------------------------------------------------------------
 */

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
    struct pawl_definition_row row;
    bool embeds = !is_workflow(node) && node->workflow && node->child_count > 0;
    int status = PAWL_OK;

    if (is_workflow(node) || embeds)
        status = op_definition_row(
            op, &(struct pawl_definition_ref){.version_id = node->workflow->version_id}, &row);
    if (status != PAWL_OK)
        return status;
    if (is_workflow(node))
        made.activity = write_workflow(&b, node, &row, true);
    else if (embeds)
        made.activity = write_embedding(&b, node, &row);
    else
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

/* What is stepped into: not workflows, and not flowcharts, which are drawn by themselves. */
static bool is_step(const struct pawl_node *node)
{
    return !is_workflow(node) && !pawl__str_is(node->type, "Elsa.Flowchart");
}

int pawl__op_definition_path(const struct pawl_op *op, const struct pawl_definition_shown *shown,
                             struct pawl_str node_id, struct pawl_definition_path *out)
{
    const struct pawl_node *child = pawl__graph_node(shown->graph, node_id);
    const struct pawl_node *container = shown->graph->root;
    struct pawl_definition_path path = {.segment_count = 0};
    struct pawl_definition_node *segments;
    size_t depth = 0;
    int status;

    if (!child)
        return pawl__error_set(op->err, PAWL_EINVAL, "Unknown node ID");
    for (const struct pawl_node *node = child->parent; node; node = node->parent)
        depth += is_step(node);
    segments = pawl__arena_alloc_array(op->arena, depth + 1, sizeof *segments);
    if (!segments)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    path.segments = segments;
    path.segment_count = depth;
    for (const struct pawl_node *node = child; node->parent; node = node->parent) {
        if (!is_step(node->parent))
            continue;
        if (depth == path.segment_count)
            container = node->parent;
        segments[--depth] = brief_node(node->parent);
        segments[depth].port = node->port;
    }
    status = whole_node(op, child, &path.child);
    if (status == PAWL_OK)
        status = whole_node(op, container, &path.container);
    if (status == PAWL_OK)
        *out = path;
    return status;
}
