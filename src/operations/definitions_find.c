/* SPDX-License-Identifier: Apache-2.0 */
/* One definition: its row, its JSON, its graph. */
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

/* ---- options --------------------------------------------------------------------------------- */

/* "Elsa.Workflows.IncidentStrategies.FaultStrategy, Elsa.Workflows.Core" -> "FaultStrategy". */
static struct pawl_str class_name(struct pawl_str name)
{
    size_t end = pawl__str_find(name, ',', 0), begin = 0;

    if (end == SIZE_MAX)
        end = name.len;
    for (size_t i = 0; i < end; i++) {
        if (name.ptr[i] == '.')
            begin = i + 1;
    }
    return pawl__str_slice(name, begin, end);
}

static void put_class(struct pawl_builder *b, struct pawl_json *out, const struct pawl_json *from,
                      const char *key)
{
    pawl__build_text(b, out, key,
                     class_name(pawl__json_str(pawl__json_get_nocase(from, pawl__str(key)))));
}

static void put_set(struct pawl_builder *b, struct pawl_json *out, const struct pawl_json *from,
                    const char *key)
{
    const struct pawl_json *value = pawl__json_get_nocase(from, pawl__str(key));

    if (pawl__json_type(value) != PAWL_JSON_NULL)
        pawl__build(b, out, key, *value);
}

struct pawl_json pawl__definition_options(struct pawl_builder *b,
                                          const struct pawl_json *definition)
{
    const struct pawl_json *options = pawl__json_get_nocase(definition, pawl__str("options"));
    const struct pawl_json *updates =
        pawl__json_get_nocase(options, pawl__str("autoUpdateConsumingWorkflows"));
    struct pawl_json out = pawl__json_object();

    put_class(b, &out, options, "activationStrategyType");
    put_set(b, &out, options, "usableAsActivity");
    pawl__build_bool(b, &out, "autoUpdateConsumingWorkflows", pawl__json_true(updates));
    put_set(b, &out, options, "activityCategory");
    put_class(b, &out, options, "incidentStrategyType");
    put_set(b, &out, options, "commitStrategyName");
    return out;
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

int pawl__op_definitions_show_rows(const struct pawl_op *op, const struct pawl_definition_row *rows,
                                   size_t count, struct pawl_definitions_shown *out)
{
    struct pawl_definitions_shown shown = {
        .items = pawl__arena_alloc_array(op->arena, count + 1, sizeof *shown.items)};
    int status = PAWL_OK;

    if (!shown.items)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        status = pawl__op_definition_show_row(op, &rows[i], &shown.items[i]);
        shown.count += status == PAWL_OK;
    }
    if (status == PAWL_OK)
        *out = shown;
    else
        pawl__op_definitions_release(&shown);
    return status;
}

int pawl__op_definitions_show(const struct pawl_op *op, const struct pawl_str *ids, size_t id_count,
                              struct pawl_definitions_shown *out)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_list list;
    int status;

    query.ids = ids;
    query.id_count = id_count;
    query.with_data = true;
    query.sort = PAWL_DEFINITIONS_BY_CREATED;
    query.page = (struct pawl_page_request){.limit = PAWL_PAGE_ROWS_MAX, .reversed = true};
    status = pawl__op_definitions_list(op, &query, &list);
    return status == PAWL_OK ? pawl__op_definitions_show_rows(op, list.rows, list.count, out)
                             : status;
}

void pawl__op_definitions_release(struct pawl_definitions_shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        pawl__op_definition_release(&shown->items[i]);
    shown->count = 0;
}
