/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing, retracting, indexing and deleting definitions. How a change is made is in change.c;
 * those that use a published one as an activity are brought up to date in users.c.
 */
#include "runtime/definitions/private.h"

#include "runtime/tenant.h"

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

/* ---- publishing -------------------------------------------------------------------------- */

static bool is_invalid(const struct pawl_problems *problems)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        if (problems->items[i].level == PAWL_PROBLEM_INVALID)
            return true;
    }
    return false;
}

int pawl__definition_validate(struct definition_change *change,
                              const struct pawl_definition_row *row, struct pawl_problems *problems,
                              bool *succeeded, struct pawl_graph **graph)
{
    struct pawl_graph *loaded;
    struct pawl_json json;
    int status = pawl__definition_read(&change->call, row, &json);

    if (status == PAWL_OK)
        status =
            pawl__definition_load(&change->call, change->stamp, &json, problems, NULL, &loaded);
    if (status != PAWL_OK)
        return status;
    status = pawl__definition_check_routes(change, row, loaded, problems);
    if (status != PAWL_OK) {
        pawl__graph_unref(loaded);
        return status;
    }
    *succeeded = change->call.definitions->options.keep_invalid || !is_invalid(problems);
    if (*succeeded)
        *graph = loaded;
    else
        pawl__graph_unref(loaded);
    return PAWL_OK;
}

int pawl__definition_note_published(struct definition_change *change,
                                    const struct pawl_definition_row *row, struct pawl_arena *arena,
                                    struct definition_published *out)
{
    struct pawl_json json;
    int status = pawl__definition_read(&change->call, row, &json);

    if (status != PAWL_OK)
        return status;
    *out = (struct definition_published){
        .definition_id = pawl__arena_str(arena, row->definition_id),
        .version_id = pawl__arena_str(arena, row->id),
        .version = row->version,
        .updates =
            pawl__json_true(member(member(&json, "options"), "autoUpdateConsumingWorkflows")),
    };
    return arena->status == PAWL_OK ? PAWL_OK : pawl__error_code(change->call.err, arena->status);
}

/* ---- one version --------------------------------------------------------------------------- */

int pawl__definition_plan_published(struct definition_change *change,
                                    struct pawl_definition_row *row, bool planned,
                                    struct definition_publishing *publishing)
{
    struct pawl_problems problems = {.arena = publishing->arena, .most = DEFINITION_PROBLEMS_MAX};
    struct pawl_graph *graph = NULL;
    bool succeeded = false, lost;
    int status = pawl__definition_validate(change, row, &problems, &succeeded, &graph);

    if (status == PAWL_OK && succeeded && !planned)
        status = pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, row);
    if (status == PAWL_OK && succeeded)
        status = pawl__definition_plan_others(change, row, &lost);
    if (status == PAWL_OK && succeeded)
        status = pawl__definition_plan_triggers(change, row->definition_id, row->id, graph);
    if (status == PAWL_OK && succeeded)
        status =
            pawl__definition_note_published(change, row, publishing->notes, &publishing->published);
    pawl__graph_unref(graph);
    publishing->said = (struct pawl_publication){succeeded, problems, {NULL, 0}};
    return status;
}

/* The version that is meant, as it is in this attempt. */
static int version_to_publish(struct definition_change *change,
                              const struct definition_publishing *publishing,
                              const struct pawl_definition_row **out)
{
    const struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", publishing->definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_latest", PAWL_NE, 0),
    };
    bool by_id = publishing->version_id.len > 0;
    int status = by_id ? pawl__definition_by_id(&change->call, publishing->version_id, out)
                       : pawl__definition_first(&change->call, conditions, 2, out);

    if (status != PAWL_OK || *out)
        return status;
    return by_id ? pawl__error_set(change->call.err, PAWL_ENOTFOUND,
                                   "there is no definition version %.*s to publish",
                                   PAWL_STR_ARG(publishing->version_id))
                 : pawl__error_set(change->call.err, PAWL_ENOTFOUND,
                                   "there is no definition %.*s to publish",
                                   PAWL_STR_ARG(publishing->definition_id));
}

static int attempt_publish(struct definition_change *change, void *request)
{
    struct definition_publishing *publishing = request;
    const struct pawl_definition_row *there;
    struct pawl_definition_row *row;
    int status = version_to_publish(change, publishing, &there);

    if (status != PAWL_OK)
        return status;
    status = pawl__definition_copy(change, there, &row);
    if (status != PAWL_OK)
        return status;
    row->is_latest = row->is_published = 1;
    publishing->chosen_id = pawl__arena_str(publishing->arena, row->id);
    if (publishing->arena->status != PAWL_OK)
        return pawl__error_code(change->call.err, publishing->arena->status);
    return pawl__definition_plan_published(change, row, there->is_latest && there->is_published,
                                           publishing);
}

/* Of what failed behind the commit. */
static int tell_published(const struct definition_publishing *publishing, int status,
                          struct pawl_error *err)
{
    static const char format[] = "version %.*s is published, but not all that use it were updated: "
                                 "publish it again";
    struct pawl_str id = publishing->published.version_id;

    return pawl__error_says_unchanged(status)
               ? pawl__error_after_commit(err, status, format, PAWL_STR_ARG(id))
               : pawl__error_prefix(err, status, format, PAWL_STR_ARG(id));
}

int pawl__definition_publishing(struct pawl_definitions *definitions, struct pawl_audit *by,
                                definition_attempt attempt, void *request,
                                struct definition_publishing *publishing, int64_t deadline_ns,
                                struct pawl_error *err)
{
    struct definition_change change;
    struct pawl_arena notes;
    int status;

    pawl__arena_init(&notes, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    publishing->notes = &notes;
    pawl__definition_change_open(&change, definitions, by, deadline_ns, err);
    change.call.beside = publishing->beside;
    status = pawl__definition_change(&change, attempt, request);
    pawl__definition_change_close(&change);
    if (status == PAWL_OK && publishing->said.succeeded && publishing->published.updates) {
        status = pawl__definition_update_users(definitions, by, &publishing->published,
                                               publishing->arena, &publishing->said.updated,
                                               deadline_ns, err);
        if (status != PAWL_OK)
            status = tell_published(publishing, status, err);
    }
    pawl__arena_release(&notes);
    publishing->notes = NULL;
    return status;
}

int pawl__definitions_publish(struct pawl_definitions *definitions, struct pawl_str version_id,
                              struct pawl_arena *arena, struct pawl_publication *said,
                              int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__definitions_publish_by(definitions, NULL, version_id, arena, said, deadline_ns,
                                        err);
}

int pawl__definitions_publish_by(struct pawl_definitions *definitions, struct pawl_audit *by,
                                 struct pawl_str version_id, struct pawl_arena *arena,
                                 struct pawl_publication *said, int64_t deadline_ns,
                                 struct pawl_error *err)
{
    struct definition_publishing publishing = {.version_id = version_id, .arena = arena};
    int status = pawl__definition_publishing(definitions, by, attempt_publish, &publishing,
                                             &publishing, deadline_ns, err);

    if (status == PAWL_OK && said)
        *said = publishing.said;
    return status;
}

int pawl__definitions_publish_latest(struct pawl_definitions *definitions, struct pawl_audit *by,
                                     struct pawl_str definition_id, struct pawl_arena *arena,
                                     struct pawl_str *version_id, struct pawl_publication *said,
                                     int64_t deadline_ns, struct pawl_error *err)
{
    struct definition_publishing publishing = {
        .version_id = {"", 0}, .definition_id = definition_id, .arena = arena};
    int status = pawl__definition_publishing(definitions, by, attempt_publish, &publishing,
                                             &publishing, deadline_ns, err);

    if (status == PAWL_OK && said)
        *said = publishing.said;
    if (status == PAWL_OK && version_id)
        *version_id = publishing.chosen_id;
    return status;
}

int pawl__definitions_validate(struct pawl_definitions *definitions,
                               const struct pawl_json *definition, struct pawl_arena *arena,
                               struct pawl_publication *said, int64_t deadline_ns,
                               struct pawl_error *err)
{
    const struct definition_call call = {definitions, arena, deadline_ns, err, NULL};
    struct pawl_graph *graph = NULL;
    int64_t stamp;
    int status = pawl__definition_stamp(&call, &stamp);

    *said =
        (struct pawl_publication){.problems = {.arena = arena, .most = DEFINITION_PROBLEMS_MAX}};
    if (status == PAWL_OK)
        status = pawl__tenant_check(definition, "the definition", err);
    if (status == PAWL_OK)
        status = pawl__definition_load(&call, stamp, definition, &said->problems, NULL, &graph);
    pawl__graph_unref(graph);
    said->succeeded =
        status == PAWL_OK && (definitions->options.keep_invalid || !is_invalid(&said->problems));
    return status;
}

/* ---- indexing, retracting, deleting ------------------------------------------------------ */

static int none_published(struct definition_change *change, struct pawl_str definition_id)
{
    return pawl__error_set(change->call.err, PAWL_ENOTFOUND,
                           "no version of the definition %.*s is published",
                           PAWL_STR_ARG(definition_id));
}

static int attempt_index(struct definition_change *change, void *request)
{
    const struct pawl_str *definition_id = request;
    const struct pawl_definition_row *row;
    struct pawl_graph *graph;
    struct pawl_json json;
    int status = pawl__definition_published(&change->call, *definition_id, &row);

    if (status != PAWL_OK)
        return status;
    if (!row)
        return none_published(change, *definition_id);
    status = pawl__definition_read(&change->call, row, &json);
    if (status == PAWL_OK)
        status = pawl__definition_load(&change->call, change->stamp, &json, NULL, NULL, &graph);
    if (status != PAWL_OK)
        return status;
    status = pawl__definition_plan_triggers(change, row->definition_id, row->id, graph);
    pawl__graph_unref(graph);
    return status;
}

static int attempt_retract(struct definition_change *change, void *request)
{
    const struct pawl_str *definition_id = request;
    const struct pawl_definition_row *there;
    struct pawl_definition_row *row;
    int status = pawl__definition_published(&change->call, *definition_id, &there);

    if (status != PAWL_OK)
        return status;
    if (!there)
        return change->unknown ? PAWL_OK : none_published(change, *definition_id);
    status = pawl__definition_copy(change, there, &row);
    if (status != PAWL_OK)
        return status;
    row->is_published = 0;
    status = pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, row);
    return status == PAWL_OK
               ? pawl__definition_plan_triggers(change, row->definition_id, row->id, NULL)
               : status;
}

static int plan_deletions(struct definition_change *change, const struct pawl_rows *rows)
{
    const struct pawl_definition_row *all = rows->rows;
    int status = PAWL_OK;

    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++)
        status = pawl__definition_plan(change, PAWL_CHANGE_DELETE, PAWL_TABLE_DEFINITIONS, &all[i]);
    return status;
}

static int attempt_delete(struct definition_change *change, void *request)
{
    const struct pawl_str *definition_id = request;
    const struct pawl_condition condition =
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", *definition_id);
    struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS,
        .flags = PAWL_QUERY_BRIEF,
        .conditions = &condition,
        .condition_count = 1,
        .limit = PAWL_STORE_ROWS_MAX,
    };
    struct pawl_rows rows;
    int status;

    do {
        status = pawl__definition_query(&change->call, &query, &rows);
        if (status == PAWL_OK)
            status = plan_deletions(change, &rows);
        if (status == PAWL_OK && rows.count > 0)
            query.after = (const struct pawl_definition_row *)rows.rows + (rows.count - 1);
    } while (status == PAWL_OK && rows.count == PAWL_STORE_ROWS_MAX);
    if (status != PAWL_OK)
        return status;
    if (change->count == 0 && !change->unknown)
        return pawl__error_set(change->call.err, PAWL_ENOTFOUND, "there is no definition %.*s",
                               PAWL_STR_ARG(*definition_id));
    return pawl__definition_plan_triggers(change, *definition_id, pawl__str(""), NULL);
}

static int change_by_id(struct pawl_definitions *definitions, struct pawl_audit *by,
                        definition_attempt attempt, struct pawl_str definition_id,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct definition_change change;
    int status;

    pawl__definition_change_open(&change, definitions, by, deadline_ns, err);
    status = pawl__definition_change(&change, attempt, &definition_id);
    pawl__definition_change_close(&change);
    return status;
}

int pawl__definitions_index(struct pawl_definitions *definitions, struct pawl_str definition_id,
                            int64_t deadline_ns, struct pawl_error *err)
{
    return change_by_id(definitions, NULL, attempt_index, definition_id, deadline_ns, err);
}

int pawl__definitions_retract(struct pawl_definitions *definitions, struct pawl_str definition_id,
                              int64_t deadline_ns, struct pawl_error *err)
{
    return change_by_id(definitions, NULL, attempt_retract, definition_id, deadline_ns, err);
}

int pawl__definitions_retract_by(struct pawl_definitions *definitions, struct pawl_audit *by,
                                 struct pawl_str definition_id, int64_t deadline_ns,
                                 struct pawl_error *err)
{
    return change_by_id(definitions, by, attempt_retract, definition_id, deadline_ns, err);
}

int pawl__definitions_delete(struct pawl_definitions *definitions, struct pawl_str definition_id,
                             int64_t deadline_ns, struct pawl_error *err)
{
    return change_by_id(definitions, NULL, attempt_delete, definition_id, deadline_ns, err);
}

int pawl__definitions_delete_by(struct pawl_definitions *definitions, struct pawl_audit *by,
                                struct pawl_str definition_id, int64_t deadline_ns,
                                struct pawl_error *err)
{
    return change_by_id(definitions, by, attempt_delete, definition_id, deadline_ns, err);
}
