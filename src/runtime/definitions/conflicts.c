/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes that two definitions would have: a request could be for either, so the second one is not
 * published. Templates that differ in the names of their parameters alone are the same route. And
 * endpoints whose signature cannot be checked.
 */
#include "base/http_message.h"
#include "base/route/template.h"
#include "base/signature.h"
#include "base/stimuli.h"
#include "runtime/bytes.h"
#include "runtime/definitions/private.h"

struct checking {
    struct definition_change *change;
    const struct pawl_definition_row *row; /* that is to be published */
    struct pawl_problems *problems;
    const struct pawl_route_row *routes; /* all templates that have parameters */
    size_t route_count;
    bool has_routes; /* they were read */
};

static int no_memory(const struct checking *c, const struct pawl_arena *arena)
{
    return pawl__error_code(c->change->call.err, pawl__arena_status(arena));
}

/* ---- problems ------------------------------------------------------------------------------ */

static int add_problem(struct checking *c, enum pawl_problem_level level, struct pawl_str activity,
                       const char *message)
{
    struct pawl_problems *problems = c->problems;
    struct pawl_str id = pawl__arena_str(problems->arena, activity);

    if (problems->count >= problems->most) {
        problems->dropped++;
        return PAWL_OK;
    }
    if (problems->count == problems->cap) {
        struct pawl_problem *grown =
            pawl__arena_alloc_array(problems->arena, problems->cap + 8u, sizeof *grown);

        if (!grown)
            return no_memory(c, problems->arena);
        if (problems->count > 0)
            memcpy(grown, problems->items, problems->count * sizeof *grown);
        problems->items = grown;
        problems->cap += 8;
    }
    if (!id.ptr || !message)
        return no_memory(c, problems->arena);
    problems->items[problems->count++] = (struct pawl_problem){level, "", id.ptr, message};
    return PAWL_OK;
}

static struct pawl_str name_of(const struct pawl_definition_row *row)
{
    return row->name.len > 0 ? row->name : row->definition_id;
}

/* What Elsa says, word for word, and then who has it. */
static int add_conflict(struct checking *c, const struct pawl_trigger *trigger,
                        const struct pawl_trigger_row *other)
{
    const struct pawl_definition_row *there = NULL;
    struct pawl_arena *arena = c->problems->arena;
    struct pawl_str path = runtime_text(&trigger->payload, PAWL_HTTP_PATH);
    struct pawl_str method = runtime_text(&trigger->payload, PAWL_HTTP_METHOD);
    int status = pawl__definition_published(&c->change->call, other->definition_id, &there);

    if (status == PAWL_OK)
        status = add_problem(
            c, PAWL_PROBLEM_INVALID, trigger->activity_id,
            pawl__arena_printf(
                arena, "The %.*s path and %.*s method are already in use by another workflow!",
                PAWL_STR_ARG(path), PAWL_STR_ARG(method)));
    if (status != PAWL_OK)
        return status;
    return add_problem(
        c, PAWL_PROBLEM_WARNING, trigger->activity_id,
        pawl__arena_printf(arena, "\"%.*s\" has the route %.*s %.*s, which \"%.*s\" would have too",
                           PAWL_STR_ARG(there ? name_of(there) : other->definition_id),
                           PAWL_STR_ARG(method), PAWL_STR_ARG(path),
                           PAWL_STR_ARG(name_of(c->row))));
}

/* ---- who has it ---------------------------------------------------------------------------- */

/* A trigger of another definition with this hash; *out NULL: there is none. */
static int find_other(struct checking *c, struct pawl_str hash, const struct pawl_trigger_row **out)
{
    const struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_TRIGGERS, "hash", hash),
        {.column = pawl_table_column(PAWL_TABLE_TRIGGERS, "definition_id"),
         .compare = PAWL_NE,
         .value = {.text = c->row->definition_id}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_TRIGGERS,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .limit = 1};
    struct pawl_rows rows;
    int status = pawl__definition_query(&c->change->call, &query, &rows);

    *out = status == PAWL_OK && rows.count > 0 ? rows.rows : NULL;
    return status;
}

static int read_routes(struct checking *c)
{
    const struct pawl_query query = {
        .table = PAWL_TABLE_ROUTES, .flags = PAWL_QUERY_BRIEF, .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_rows rows;
    int status;

    if (c->has_routes)
        return PAWL_OK;
    status = pawl__definition_query(&c->change->call, &query, &rows);
    if (status != PAWL_OK)
        return status;
    c->routes = rows.rows;
    c->route_count = rows.count;
    c->has_routes = true;
    return PAWL_OK;
}

static int hash_of(struct checking *c, struct pawl_str path, struct pawl_str method,
                   char out[PAWL_SHA256_TEXT_SIZE])
{
    struct pawl_builder b = {.arena = c->change->call.arena};
    struct pawl_json stimulus = pawl__http_stimulus(&b, path, method);
    int status;

    pawl__http_stimulus_end(&b, &stimulus);
    status = pawl__built_stimulus_hash(&b, &c->change->call.definitions->env->alloc,
                                       PAWL_STIMULUS_HTTP_ENDPOINT, &stimulus, out);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(c->change->call.err, status);
}

/* Templates of the same shape with other names. */
static int find_alike(struct checking *c, const struct pawl_trigger *trigger,
                      const struct pawl_route_template *template,
                      const struct pawl_trigger_row **out)
{
    struct pawl_str path = runtime_text(&trigger->payload, PAWL_HTTP_PATH);
    struct pawl_route_template other;
    char hash[PAWL_SHA256_TEXT_SIZE];
    int status = read_routes(c);

    for (size_t i = 0; status == PAWL_OK && !*out && i < c->route_count; i++) {
        if (pawl__str_equal(c->routes[i].path, path) ||
            pawl__route_template_parse(c->routes[i].path, &other, NULL) != PAWL_OK ||
            pawl__route_template_compare(template, &other) != 0)
            continue;
        status =
            hash_of(c, c->routes[i].path, runtime_text(&trigger->payload, PAWL_HTTP_METHOD), hash);
        if (status == PAWL_OK)
            status = find_other(c, pawl__str(hash), out);
    }
    return status;
}

static int check_trigger(struct checking *c, const struct pawl_trigger *trigger)
{
    struct pawl_str path = runtime_text(&trigger->payload, PAWL_HTTP_PATH);
    const struct pawl_trigger_row *other = NULL;
    struct pawl_route_template template;
    struct pawl_error why = PAWL_ERROR_INIT;
    int status;

    if (pawl__route_template_parse(path, &template, &why) != PAWL_OK)
        return add_problem(c, PAWL_PROBLEM_ERROR, trigger->activity_id,
                           pawl__arena_str(c->problems->arena, pawl__str(why.msg)).ptr);
    status = find_other(c, trigger->hash, &other);
    if (status == PAWL_OK && !other && template.parameter_count > 0)
        status = find_alike(c, trigger, &template, &other);
    return status == PAWL_OK && other ? add_conflict(c, trigger, other) : status;
}

/* Of any endpoint, whether it starts the workflow or is waited at: the rule is part of the
 * definition. */
static int check_signature(struct checking *c, const struct pawl_node *node)
{
    const struct pawl_json *custom =
        pawl__json_get_nocase(node->json, pawl__str("customProperties"));
    const struct pawl_json *signature = pawl__json_get_nocase(custom, pawl__str("signature"));
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_signature_rule rule;

    if (!pawl__str_is(node->type, PAWL_STIMULUS_HTTP_ENDPOINT) || !signature ||
        pawl__json_is(signature, PAWL_JSON_NULL) ||
        pawl__signature_rule_read(signature, &rule, &why) == PAWL_OK)
        return PAWL_OK;
    return add_problem(c, PAWL_PROBLEM_INVALID, node->id,
                       pawl__arena_str(c->problems->arena, pawl__str(why.msg)).ptr);
}

int pawl__definition_check_routes(struct definition_change *change,
                                  const struct pawl_definition_row *row, struct pawl_graph *graph,
                                  struct pawl_problems *problems)
{
    struct checking c = {.change = change, .row = row, .problems = problems};
    struct pawl_triggers triggers = {0};
    int status = pawl__graph_triggers(graph, &change->call.definitions->env->alloc,
                                      pawl__us_to_ticks(change->now_us), &change->arena, &triggers,
                                      change->call.err);

    for (uint32_t i = 0; status == PAWL_OK && i < triggers.count; i++) {
        if (pawl__str_is(triggers.items[i].name, PAWL_STIMULUS_HTTP_ENDPOINT))
            status = check_trigger(&c, &triggers.items[i]);
    }
    for (uint32_t i = 0; status == PAWL_OK && i < graph->node_count; i++)
        status = check_signature(&c, graph->nodes[i]);
    return status;
}
