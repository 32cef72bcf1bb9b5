/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions that use another one as an activity: finding them, and pointing them to the version
 * that was published.
 *
 * A definition and its triggers change in one commit. Each of those that use it changes in one of
 * its own, afterwards: publishing again goes on where it ended.
 */
#include "runtime/definitions/private.h"

/* Updates that one publishing may cause: workflows that use each other could go on for ever. */
#define UPDATES_MAX 10000u

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

/* ---- those that use it ------------------------------------------------------------------- */

/* Points a use of a definition to one version of it. *changed: it did not. */
static int update_use(struct pawl_arena *arena, struct pawl_json *use,
                      const struct definition_published *to, bool *changed)
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
                       const struct definition_published *to, bool *changed)
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
                             const struct definition_published *to, bool *changed)
{
    int status;

    *changed = false;
    status = update_uses(call->arena, pawl__json_get_nocase(json, pawl__str("root")), to, changed);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(call->err, status);
}

struct updating {
    struct pawl_str version_id; /* of the one that uses it */
    const struct definition_published *to;
    struct pawl_arena *notes;
    bool is_planned;                       /* there is something to update */
    struct definition_published published; /* its new version; definition_id "": none was */
};

/* A new version of one that was published is published too, if it can be; else it stays a draft. */
static int publish_update(struct definition_change *change, struct pawl_definition_row *row,
                          struct updating *updating)
{
    struct pawl_problems problems = {.arena = &change->arena, .most = DEFINITION_PROBLEMS_MAX};
    struct pawl_graph *graph = NULL;
    bool succeeded = false, lost;
    int status;

    row->is_published = 1;
    status = pawl__definition_validate(change, row, &problems, &succeeded, &graph);
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
        status =
            pawl__definition_note_published(change, row, updating->notes, &updating->published);
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

    updating->published = (struct definition_published){0};
    updating->is_planned = false;
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
    updating->is_planned = status == PAWL_OK;
    if (status == PAWL_OK && there->is_published)
        status = publish_update(change, made, updating);
    return status;
}

/* What one publishing causes: versions that were published, and who was updated for which. */
struct cascade {
    struct pawl_audit *by;
    struct pawl_arena arena;
    struct definition_published *published;
    uint32_t published_count;
    struct pair {
        struct pawl_str used;
        struct pawl_str user;
    } * done;
    uint32_t done_count;
    uint32_t stored_count; /* of these, whose change is stored */
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
                       const struct definition_published *to, struct pawl_str version_id,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct updating updating = {.version_id = version_id, .to = to, .notes = &cascade->arena};
    struct definition_change change;
    int status;

    pawl__definition_change_open(&change, definitions, cascade->by, deadline_ns, err);
    status = pawl__definition_change(&change, attempt_update, &updating);
    pawl__definition_change_close(&change);
    cascade->stored_count += status == PAWL_OK && updating.is_planned;
    if (status == PAWL_OK && updating.published.updates)
        cascade->published[cascade->published_count++] = updating.published;
    return status;
}

/* ---- walking through the latest versions --------------------------------------------------- */

typedef int (*page_visit)(const struct definition_call *call, const struct pawl_rows *rows,
                          void *ctx);

/* Calls `visit` for each page of latest versions, in an arena of the page's own. */
static int walk_latest(const struct definition_call *call, page_visit visit, void *ctx)
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
    const struct definition_call page = {call->definitions, &arena, call->deadline_ns, call->err,
                                         NULL};
    int status;

    pawl__arena_init(&arena, &call->definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    do {
        pawl__arena_reset(&arena);
        status = pawl__definition_query(&page, &query, &rows);
        if (status == PAWL_OK)
            status = visit(&page, &rows, ctx);
        if (status == PAWL_OK && rows.count > 0) {
            last.id = pawl__arena_str(
                call->arena, ((const struct pawl_definition_row *)rows.rows)[rows.count - 1].id);
            query.after = &last;
            if (!last.id.ptr)
                status = pawl__error_code(call->err, pawl__arena_status(call->arena));
        }
    } while (status == PAWL_OK && rows.count == PAWL_STORE_ROWS_DEFAULT);
    pawl__arena_release(&arena);
    return status;
}

/* ---- updating all that use it -------------------------------------------------------------- */

struct update {
    struct cascade *cascade;
    const struct definition_published *to;
};

/* Of one page of latest versions: updates those that use it. */
static int update_page(const struct definition_call *call, const struct pawl_rows *rows, void *ctx)
{
    const struct pawl_definition_row *all = rows->rows;
    const struct update *update = ctx;
    const struct definition_published *to = update->to;
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
        if (update->cascade->done_count == UPDATES_MAX)
            return pawl__error_set(call->err, PAWL_ELIMIT,
                                   "more than %u definitions would be updated; turn off "
                                   "autoUpdateConsumingWorkflows where they use each other",
                                   UPDATES_MAX);
        if (note_pair(update->cascade, to->definition_id, all[i].definition_id))
            status = update_user(call->definitions, update->cascade, to, all[i].id,
                                 call->deadline_ns, call->err);
    }
    return status;
}

/*
 * Updates those that use it, then those that use these, and so on. One that uses several is updated
 * for each; but only once for the same one, since definitions that use each other would go on.
 */
static int update_all(struct pawl_definitions *definitions, struct cascade *cascade,
                      int64_t deadline_ns, struct pawl_error *err)
{
    const struct definition_call call = {definitions, &cascade->arena, deadline_ns, err, NULL};
    int status = PAWL_OK;

    for (uint32_t i = 0; i < cascade->published_count && status == PAWL_OK; i++) {
        struct update update = {cascade, &cascade->published[i]};

        status = walk_latest(&call, update_page, &update);
    }
    if (status == PAWL_OK && cascade->arena.status != PAWL_OK)
        status = pawl__error_code(err, cascade->arena.status);
    return status;
}

static int add_id(struct pawl_arena *arena, struct pawl_str id, struct pawl_definition_ids *ids)
{
    for (size_t i = 0; i < ids->count; i++) {
        if (pawl__str_equal(ids->items[i], id))
            return PAWL_OK;
    }
    if ((ids->count & (ids->count - 1)) == 0) {
        size_t cap = ids->count ? ids->count * 2 : 1;
        struct pawl_str *grown = pawl__arena_alloc_array(arena, cap, sizeof *grown);

        if (!grown)
            return pawl__arena_status(arena);
        for (size_t i = 0; i < ids->count; i++)
            grown[i] = ids->items[i];
        ids->items = grown;
    }
    ids->items[ids->count++] = pawl__arena_str(arena, id);
    return arena->status;
}

int pawl__definition_update_users(struct pawl_definitions *definitions, struct pawl_audit *by,
                                  const struct definition_published *published,
                                  struct pawl_arena *arena, struct pawl_definition_ids *updated,
                                  int64_t deadline_ns, struct pawl_error *err)
{
    struct cascade cascade = {.by = by};
    int status;

    pawl__arena_init(&cascade.arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
    cascade.published =
        pawl__arena_alloc_array(&cascade.arena, UPDATES_MAX + 1, sizeof *cascade.published);
    cascade.done = pawl__arena_alloc_array(&cascade.arena, UPDATES_MAX, sizeof *cascade.done);
    if (!cascade.published || !cascade.done) {
        status = pawl__error_code(err, pawl__arena_status(&cascade.arena));
    } else {
        cascade.published[cascade.published_count++] = *published;
        status = update_all(definitions, &cascade, deadline_ns, err);
    }
    for (uint32_t i = 0; updated && cascade.done && i < cascade.done_count && status == PAWL_OK;
         i++) {
        status = add_id(arena, cascade.done[i].user, updated);
        if (status != PAWL_OK)
            status = pawl__error_code(err, status);
    }
    if (cascade.stored_count > 0)
        status = pawl__error_after_commit(
            err, status, "%u updates of definitions that use %.*s were made", cascade.stored_count,
            PAWL_STR_ARG(published->definition_id));
    pawl__arena_release(&cascade.arena);
    return status;
}

int pawl__definitions_update_references(struct pawl_definitions *definitions, struct pawl_audit *by,
                                        struct pawl_str definition_id, struct pawl_arena *arena,
                                        struct pawl_definition_ids *updated, int64_t deadline_ns,
                                        struct pawl_error *err)
{
    const struct definition_call call = {definitions, arena, deadline_ns, err, NULL};
    const struct pawl_definition_row *row;
    struct definition_published published;
    int status = pawl__definition_published(&call, definition_id, &row);

    *updated = (struct pawl_definition_ids){NULL, 0};
    if (status != PAWL_OK || !row)
        return status;
    published = (struct definition_published){row->definition_id, row->id, row->version, true};
    return pawl__definition_update_users(definitions, by, &published, arena, updated, deadline_ns,
                                         err);
}

/* ---- finding ------------------------------------------------------------------------------- */

struct finding {
    struct pawl_str definition_id;
    struct pawl_str type; /* its name as an activity; "": it is not usable as one */
    struct pawl_arena *arena;
    struct pawl_definition_ids *found;
};

/* Whether something below a value is a use: by the definition's id, for want of it by the type. */
static bool has_use(const struct pawl_json *value, const struct finding *finding)
{
    if (pawl__json_is(value, PAWL_JSON_OBJECT) && member(value, "type")) {
        struct pawl_str id = pawl__json_str(member(value, "workflowDefinitionId"));

        if (id.len > 0 ? pawl__str_equal(id, finding->definition_id)
                       : finding->type.len > 0 &&
                             pawl__str_equal(pawl__json_str(member(value, "type")), finding->type))
            return true;
    }
    for (uint32_t i = 0; i < pawl__json_len(value); i++) {
        if (has_use(pawl__json_at(value, i), finding))
            return true;
    }
    return false;
}

static int find_page(const struct definition_call *call, const struct pawl_rows *rows, void *ctx)
{
    const struct pawl_definition_row *all = rows->rows;
    const struct finding *finding = ctx;
    int status = PAWL_OK;

    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++) {
        struct pawl_json json;

        if (pawl__str_equal(all[i].definition_id, finding->definition_id))
            continue;
        status = pawl__definition_read(call, &all[i], &json);
        if (status == PAWL_EPARSE) {
            status = PAWL_OK; /* nobody can say what it uses */
            continue;
        }
        if (status == PAWL_OK && has_use(member(&json, "root"), finding)) {
            status = add_id(finding->arena, all[i].definition_id, finding->found);
            if (status != PAWL_OK)
                status = pawl__error_code(call->err, status);
        }
    }
    return status;
}

int pawl__definitions_consumers(struct pawl_definitions *definitions, struct pawl_str definition_id,
                                struct pawl_arena *arena, struct pawl_definition_ids *out,
                                int64_t deadline_ns, struct pawl_error *err)
{
    const struct definition_call call = {definitions, arena, deadline_ns, err, NULL};
    const struct pawl_condition condition =
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", definition_id);
    struct pawl_definition_ids found = {NULL, 0};
    struct finding finding = {.definition_id = definition_id, .arena = arena, .found = &found};
    const struct pawl_definition_row *row;
    int status = pawl__definition_first(&call, &condition, 1, &row);

    if (status == PAWL_OK && !row)
        return pawl__error_set(err, PAWL_ENOTFOUND, "there is no definition %.*s",
                               PAWL_STR_ARG(definition_id));
    if (status == PAWL_OK && row->usable_as_activity)
        finding.type = pawl__workflow_type_name(arena, row->name);
    if (status == PAWL_OK)
        status = walk_latest(&call, find_page, &finding);
    if (status == PAWL_OK)
        *out = found;
    return status;
}
