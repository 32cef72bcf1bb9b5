/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing, retracting, indexing and deleting definitions, and bringing those up to date that use
 * a published one as an activity. How a change is made is in definitions_change.c.
 *
 * A definition and its triggers change in one commit. Each of those that use it changes in one of
 * its own, afterwards: publishing again goes on where it ended.
 */
#include "runtime/definitions_private.h"

/* Problems of one definition that are kept; more are only counted. */
#define PROBLEMS_MAX 1000u
/* Updates that one publishing may cause: workflows that use each other could go on for ever. */
#define UPDATES_MAX 10000u

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

/*
 * Loads a version as it will be once it is published. *succeeded: it may be published, and *graph
 * is the caller's.
 */
static int validate(struct definition_change *change, const struct pawl_definition_row *row,
                    struct pawl_problems *problems, bool *succeeded, struct pawl_graph **graph)
{
    struct pawl_graph *loaded;
    struct pawl_json json;
    int status = pawl__definition_read(&change->call, row, &json);

    if (status == PAWL_OK)
        status =
            pawl__definition_load(&change->call, change->stamp, &json, problems, NULL, &loaded);
    if (status != PAWL_OK)
        return status;
    *succeeded = change->call.definitions->options.keep_invalid || !is_invalid(problems);
    if (*succeeded)
        *graph = loaded;
    else
        pawl__graph_unref(loaded);
    return PAWL_OK;
}

/* A version that was published: what those that use it are to be told. */
struct published {
    struct pawl_str definition_id;
    struct pawl_str version_id;
    int64_t version;
    bool updates; /* it asks for that */
};

static int note_published(struct definition_change *change, const struct pawl_definition_row *row,
                          struct pawl_arena *arena, struct published *out)
{
    struct pawl_json json;
    int status = pawl__definition_read(&change->call, row, &json);

    if (status != PAWL_OK)
        return status;
    *out = (struct published){
        .definition_id = pawl__arena_str(arena, row->definition_id),
        .version_id = pawl__arena_str(arena, row->id),
        .version = row->version,
        .updates =
            pawl__json_true(member(member(&json, "options"), "autoUpdateConsumingWorkflows")),
    };
    return arena->status == PAWL_OK ? PAWL_OK : pawl__error_code(change->call.err, arena->status);
}

struct publishing {
    struct pawl_str version_id;
    struct pawl_arena *arena; /* of the problems */
    struct pawl_publication said;
    struct pawl_arena *notes;
    struct published published;
};

static int attempt_publish(struct definition_change *change, void *request)
{
    struct publishing *publishing = request;
    struct pawl_problems problems = {.arena = publishing->arena, .most = PROBLEMS_MAX};
    const struct pawl_definition_row *there;
    struct pawl_definition_row *row;
    struct pawl_graph *graph = NULL;
    bool succeeded = false, lost;
    int status = pawl__definition_by_id(&change->call, publishing->version_id, &there);

    if (status != PAWL_OK)
        return status;
    if (!there)
        return pawl__error_set(change->call.err, PAWL_ENOTFOUND,
                               "there is no definition version %.*s to publish",
                               PAWL_STR_ARG(publishing->version_id));
    status = pawl__definition_copy(change, there, &row);
    if (status != PAWL_OK)
        return status;
    row->is_latest = row->is_published = 1;
    status = validate(change, row, &problems, &succeeded, &graph);
    if (status == PAWL_OK && succeeded && (!there->is_latest || !there->is_published))
        status = pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, row);
    if (status == PAWL_OK && succeeded)
        status = pawl__definition_plan_others(change, row, &lost);
    if (status == PAWL_OK && succeeded)
        status = pawl__definition_plan_triggers(change, row->definition_id, row->id, graph);
    if (status == PAWL_OK && succeeded)
        status = note_published(change, row, publishing->notes, &publishing->published);
    pawl__graph_unref(graph);
    publishing->said = (struct pawl_publication){succeeded, problems};
    return status;
}

/* ---- those that use it ------------------------------------------------------------------- */

/* Points a use of a definition to one version of it. *changed: it did not. */
static int update_use(struct pawl_arena *arena, struct pawl_json *use, const struct published *to,
                      bool *changed)
{
    struct pawl_str before = pawl__json_str(member(use, "workflowDefinitionVersionId"));
    struct pawl_json id = pawl__json_string(to->version_id);
    int64_t version = 0;
    int status;

    if (pawl__json_to_int(member(use, "version"), &version) && version == to->version &&
        pawl__str_equal(before, to->version_id))
        return PAWL_OK;
    *changed = true;
    status = pawl__definition_put(arena, use, "version", pawl__json_int(to->version));
    if (status == PAWL_OK)
        status = pawl__definition_put(arena, use, "workflowDefinitionVersionId", id);
    if (status == PAWL_OK)
        status = pawl__definition_put(arena, use, "latestAvailablePublishedVersion",
                                      pawl__json_int(to->version));
    if (status == PAWL_OK)
        status = pawl__definition_put(arena, use, "latestAvailablePublishedVersionId", id);
    return status;
}

/* All uses below a value; as deep as a document may be. */
static int update_uses(struct pawl_arena *arena, struct pawl_json *value,
                       const struct published *to, bool *changed)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(value) && status == PAWL_OK; i++)
        status = update_uses(arena, pawl__json_at(value, i), to, changed);
    if (status != PAWL_OK || !pawl__json_is(value, PAWL_JSON_OBJECT) || !member(value, "type") ||
        !pawl__str_equal(pawl__json_str(member(value, "workflowDefinitionId")), to->definition_id))
        return status;
    return update_use(arena, value, to, changed);
}

static int update_definition(const struct definition_call *call, struct pawl_json *json,
                             const struct published *to, bool *changed)
{
    int status;

    *changed = false;
    status = update_uses(call->arena, pawl__json_get_nocase(json, pawl__str("root")), to, changed);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(call->err, status);
}

struct updating {
    struct pawl_str version_id; /* of the one that uses it */
    const struct published *to;
    struct pawl_arena *notes;
    struct published published; /* its new version; definition_id "": none was */
};

/* A new version of one that was published is published too, if it can be; else it stays a draft. */
static int publish_update(struct definition_change *change, struct pawl_definition_row *row,
                          struct updating *updating)
{
    struct pawl_problems problems = {.arena = &change->arena, .most = PROBLEMS_MAX};
    struct pawl_graph *graph = NULL;
    bool succeeded = false, lost;
    int status;

    row->is_published = 1;
    status = validate(change, row, &problems, &succeeded, &graph);
    if (pawl_error_class(status) == PAWL_CLASS_CALLER)
        status = PAWL_OK;
    if (status != PAWL_OK || !succeeded) {
        row->is_published = 0;
        return status;
    }
    /* The row is planned already, and is what the plan points to. */
    status = pawl__definition_plan_others(change, row, &lost);
    if (status == PAWL_OK)
        status = pawl__definition_plan_triggers(change, row->definition_id, row->id, graph);
    if (status == PAWL_OK)
        status = note_published(change, row, updating->notes, &updating->published);
    pawl__graph_unref(graph);
    return status;
}

static int attempt_update(struct definition_change *change, void *request)
{
    struct updating *updating = request;
    const struct pawl_definition_row *there, *last;
    struct pawl_definition_row base, *made;
    struct pawl_json json;
    bool changed = false;
    int status = pawl__definition_by_id(&change->call, updating->version_id, &there);

    updating->published = (struct published){0};
    if (status != PAWL_OK || !there || !there->is_latest)
        return status; /* gone, or another one is the latest: that one was or will be looked at */
    status = pawl__definition_read(&change->call, there, &json);
    if (status == PAWL_OK)
        status = update_definition(&change->call, &json, updating->to, &changed);
    if (status != PAWL_OK || !changed)
        return status;
    status = pawl__definition_highest(change, there->definition_id, &last);
    if (status != PAWL_OK)
        return status;
    base = *there;
    if (there->is_published && last)
        base.version = last->version;
    status = pawl__definition_plan_draft(change, &base, &json, &made);
    if (status == PAWL_OK && there->is_published)
        status = publish_update(change, made, updating);
    return status;
}

/* What one publishing causes: versions that were published, and who was updated for which. */
struct cascade {
    struct pawl_arena arena;
    struct published *published;
    uint32_t published_count;
    struct pair {
        struct pawl_str used;
        struct pawl_str user;
    } * done;
    uint32_t done_count;
};

/* Notes that `user` is updated for `used`; false: it was before. */
static bool note_pair(struct cascade *cascade, struct pawl_str used, struct pawl_str user)
{
    for (uint32_t i = 0; i < cascade->done_count; i++) {
        if (pawl__str_equal(cascade->done[i].used, used) &&
            pawl__str_equal(cascade->done[i].user, user))
            return false;
    }
    cascade->done[cascade->done_count++] =
        (struct pair){used, pawl__arena_str(&cascade->arena, user)};
    return true;
}

static int update_user(struct pawl_definitions *definitions, struct cascade *cascade,
                       const struct published *to, struct pawl_str version_id, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct updating updating = {.version_id = version_id, .to = to, .notes = &cascade->arena};
    struct definition_change change;
    int status;

    pawl__definition_change_open(&change, definitions, deadline_ns, err);
    status = pawl__definition_change(&change, attempt_update, &updating);
    pawl__definition_change_close(&change);
    if (status == PAWL_OK && updating.published.updates)
        cascade->published[cascade->published_count++] = updating.published;
    return status;
}

/* Of one page of latest versions: updates those that use `to`. */
static int update_page(const struct definition_call *call, struct cascade *cascade,
                       const struct published *to, const struct pawl_rows *rows)
{
    const struct pawl_definition_row *all = rows->rows;
    int status = PAWL_OK;

    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++) {
        struct pawl_json json;
        bool changed;

        if (pawl__str_equal(all[i].definition_id, to->definition_id))
            continue;
        status = pawl__definition_read(call, &all[i], &json);
        if (status == PAWL_EPARSE) {
            status = PAWL_OK; /* nobody can say what it uses */
            continue;
        }
        if (status == PAWL_OK)
            status = update_definition(call, &json, to, &changed);
        if (status != PAWL_OK || !changed)
            continue;
        if (cascade->done_count == UPDATES_MAX)
            return pawl__error_set(call->err, PAWL_ELIMIT,
                                   "more than %u definitions would be updated; turn off "
                                   "autoUpdateConsumingWorkflows where they use each other",
                                   UPDATES_MAX);
        if (note_pair(cascade, to->definition_id, all[i].definition_id))
            status = update_user(call->definitions, cascade, to, all[i].id, call->deadline_ns,
                                 call->err);
    }
    return status;
}

static int update_users(struct pawl_definitions *definitions, struct cascade *cascade,
                        const struct published *to, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_condition condition =
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_latest", PAWL_NE, 0);
    struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS,
        .conditions = &condition,
        .condition_count = 1,
        .limit = PAWL_STORE_ROWS_DEFAULT,
    };
    struct pawl_definition_row last = {0};
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    const struct definition_call call = {definitions, &arena, deadline_ns, err};
    int status = PAWL_OK;

    pawl__arena_init(&arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    do {
        pawl__arena_reset(&arena);
        status = pawl__definition_query(&call, &query, &rows);
        if (status == PAWL_OK)
            status = update_page(&call, cascade, to, &rows);
        if (status == PAWL_OK && rows.count > 0) {
            last.id =
                pawl__arena_str(&cascade->arena,
                                ((const struct pawl_definition_row *)rows.rows)[rows.count - 1].id);
            query.after = &last;
            if (!last.id.ptr)
                status = pawl__error_code(err, pawl__arena_status(&cascade->arena));
        }
    } while (status == PAWL_OK && rows.count == PAWL_STORE_ROWS_DEFAULT);
    pawl__arena_release(&arena);
    return status;
}

/*
 * Updates those that use it, then those that use these, and so on. One that uses several is updated
 * for each; but only once for the same one, since definitions that use each other would go on.
 */
static int update_all(struct pawl_definitions *definitions, struct cascade *cascade,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_arena *arena = &cascade->arena;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < cascade->published_count && status == PAWL_OK; i++)
        status = update_users(definitions, cascade, &cascade->published[i], deadline_ns, err);
    if (status == PAWL_OK && arena->status != PAWL_OK)
        status = pawl__error_code(err, arena->status);
    return status;
}

int pawl__definitions_publish(struct pawl_definitions *definitions, struct pawl_str version_id,
                              struct pawl_arena *arena, struct pawl_publication *said,
                              int64_t deadline_ns, struct pawl_error *err)
{
    struct cascade cascade = {0};
    struct publishing publishing = {
        .version_id = version_id, .arena = arena, .notes = &cascade.arena};
    struct definition_change change;
    int status;

    pawl__arena_init(&cascade.arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    pawl__definition_change_open(&change, definitions, deadline_ns, err);
    status = pawl__definition_change(&change, attempt_publish, &publishing);
    pawl__definition_change_close(&change);
    if (status == PAWL_OK && publishing.said.succeeded && publishing.published.updates) {
        cascade.published =
            pawl__arena_alloc_array(&cascade.arena, UPDATES_MAX + 1, sizeof *cascade.published);
        cascade.done = pawl__arena_alloc_array(&cascade.arena, UPDATES_MAX, sizeof *cascade.done);
        if (!cascade.published || !cascade.done) {
            status = pawl__error_code(err, pawl__arena_status(&cascade.arena));
        } else {
            cascade.published[cascade.published_count++] = publishing.published;
            status = update_all(definitions, &cascade, deadline_ns, err);
        }
        if (status != PAWL_OK)
            status = pawl__error_prefix(err, status,
                                        "version %.*s is published, but not all that use it were "
                                        "updated: publish it again",
                                        PAWL_STR_ARG(version_id));
    }
    pawl__arena_release(&cascade.arena);
    if (status == PAWL_OK && said)
        *said = publishing.said;
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

static int change_by_id(struct pawl_definitions *definitions, definition_attempt attempt,
                        struct pawl_str definition_id, int64_t deadline_ns, struct pawl_error *err)
{
    struct definition_change change;
    int status;

    pawl__definition_change_open(&change, definitions, deadline_ns, err);
    status = pawl__definition_change(&change, attempt, &definition_id);
    pawl__definition_change_close(&change);
    return status;
}

int pawl__definitions_index(struct pawl_definitions *definitions, struct pawl_str definition_id,
                            int64_t deadline_ns, struct pawl_error *err)
{
    return change_by_id(definitions, attempt_index, definition_id, deadline_ns, err);
}

int pawl__definitions_retract(struct pawl_definitions *definitions, struct pawl_str definition_id,
                              int64_t deadline_ns, struct pawl_error *err)
{
    return change_by_id(definitions, attempt_retract, definition_id, deadline_ns, err);
}

int pawl__definitions_delete(struct pawl_definitions *definitions, struct pawl_str definition_id,
                             int64_t deadline_ns, struct pawl_error *err)
{
    return change_by_id(definitions, attempt_delete, definition_id, deadline_ns, err);
}
