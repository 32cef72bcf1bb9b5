/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions: saving, publishing, changing, reading and listing them; each is one operation. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/definitions.h"
#include "views/definitions.h"

#include <stdio.h>

_Static_assert((int)PAWL_DEFINITION_WARNING == (int)PAWL_PROBLEM_WARNING &&
                   (int)PAWL_DEFINITION_ERROR == (int)PAWL_PROBLEM_ERROR &&
                   (int)PAWL_DEFINITION_INVALID == (int)PAWL_PROBLEM_INVALID,
               "levels are told as they are");
_Static_assert(PAWL_DEFINITION_ID_SIZE == PAWL_DEFINITION_ID_MAX + 1, "ids fit");

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* Tells all; returns the first that is INVALID, NULL when there is none. */
static const struct pawl_problem *
tell(const struct pawl_problems *problems,
     void (*problem)(void *ctx, const struct pawl_definition_problem *problem), void *ctx)
{
    const struct pawl_problem *invalid = NULL;

    for (uint32_t i = 0; i < problems->count; i++) {
        const struct pawl_problem *item = &problems->items[i];
        const struct pawl_definition_problem told = {
            .level = (enum pawl_definition_problem_level)item->level,
            .pointer = or_empty(item->pointer),
            .activity_id = or_empty(item->activity_id),
            .message = or_empty(item->message),
        };

        if (!invalid && item->level == PAWL_PROBLEM_INVALID)
            invalid = item;
        if (problem)
            problem(ctx, &told);
    }
    return invalid;
}

static int check_ids(const struct pawl_json *definition, struct pawl_error *err)
{
    static const char *const keys[] = {"definitionId", "id"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct pawl_str id = pawl__json_str(pawl__json_get_nocase(definition, pawl__str(keys[i])));

        if (id.len >= PAWL_DEFINITION_ID_SIZE)
            return pawl__error_set(err, PAWL_EINVAL,
                                   "the definition's '%s' is longer than %d bytes", keys[i],
                                   PAWL_DEFINITION_ID_SIZE - 1);
    }
    return PAWL_OK;
}

static void answer(const struct pawl_definition_row *row, struct pawl_published *out)
{
    if (!out)
        return;
    *out = (struct pawl_published){.version = row->version};
    (void)snprintf(out->definition_id, sizeof out->definition_id, "%.*s",
                   PAWL_STR_ARG(row->definition_id));
    (void)snprintf(out->version_id, sizeof out->version_id, "%.*s", PAWL_STR_ARG(row->id));
}

/* ---- one call ------------------------------------------------------------------------------ */

/* A call: the operation, and the arena of what it returns. */
struct call {
    struct pawl_op op;
    struct pawl_arena arena;
};

static void open_call(struct call *call, struct pawl *pawl, struct pawl_error *err)
{
    call->op = pawl__embed_begin(pawl, &call->arena, err);
}

static void close_call(struct call *call)
{
    pawl__arena_release(&call->arena);
}

/* A call with a definition given as text. On failure there is nothing to close. */
static int open_with_json(struct call *call, struct pawl *pawl, const char *json,
                          struct pawl_json *definition, struct pawl_error *err)
{
    int status = pawl__embed_check_text(pawl, json, "the definition", err);

    if (status != PAWL_OK)
        return status;
    open_call(call, pawl, err);
    status = pawl__embed_parse_object(&call->arena, json, "the definition", definition, err);
    if (status == PAWL_OK)
        status = check_ids(definition, err);
    if (status != PAWL_OK)
        close_call(call);
    return status;
}

/* A call on a version of a definition that is named. On failure there is nothing to close. */
static int open_with_id(struct call *call, struct pawl *pawl, const char *definition_id,
                        int64_t version, struct pawl_error *err)
{
    int status = pawl__embed_check_text(pawl, definition_id, "the definition's id", err);

    if (status == PAWL_OK && version < 0)
        status = pawl__error_set(err, PAWL_EINVAL, "versions are numbered from 1, and %jd is none",
                                 (intmax_t)version);
    if (status == PAWL_OK)
        open_call(call, pawl, err);
    return status;
}

static struct pawl_definition_ref ref_of(const char *definition_id, int64_t version)
{
    return (struct pawl_definition_ref){
        .definition_id = pawl__str(definition_id),
        .versions = {version > 0 ? PAWL_VERSIONS_NUMBER : PAWL_VERSIONS_LATEST, version},
    };
}

/* ---- saving, publishing -------------------------------------------------------------------- */

/* Tells the problems; a refusal becomes the failure that callers know. */
static int conclude(const struct pawl_publication *said, struct pawl_str definition_id,
                    const char *what_of_it, pawl_definition_problem_fn problem, void *ctx,
                    struct pawl_error *err)
{
    const struct pawl_problem *invalid = tell(&said->problems, problem, ctx);

    if (said->succeeded)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EINVAL, "definition %.*s is not published%s: %s%s%s",
                           PAWL_STR_ARG(definition_id), what_of_it,
                           invalid ? or_empty(invalid->activity_id) : "", invalid ? ": " : "",
                           invalid ? or_empty(invalid->message) : "it is invalid");
}

int pawl_definition_publish(struct pawl *pawl, const char *json,
                            void (*problem)(void *ctx,
                                            const struct pawl_definition_problem *problem),
                            void *ctx, struct pawl_published *out, struct pawl_error *err)
{
    struct pawl_definition_saved saved;
    struct pawl_json definition;
    struct call call;
    int status = open_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_save(
        &call.op, &(struct pawl_definition_save){.definition = &definition, .publish = true},
        &saved);
    if (status == PAWL_OK)
        status = conclude(&saved.publication, saved.row.definition_id,
                          " and nothing is stored of it", problem, ctx, err);
    if (status == PAWL_OK)
        answer(&saved.row, out);
    close_call(&call);
    return status;
}

int pawl_definition_save(struct pawl *pawl, const char *json, struct pawl_published *out,
                         struct pawl_error *err)
{
    struct pawl_definition_saved saved;
    struct pawl_json definition;
    struct call call;
    int status = open_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_save(
        &call.op, &(struct pawl_definition_save){.definition = &definition}, &saved);
    if (status == PAWL_OK)
        answer(&saved.row, out);
    close_call(&call);
    return status;
}

int pawl_definition_validate(struct pawl *pawl, const char *json,
                             pawl_definition_problem_fn problem, void *ctx, struct pawl_error *err)
{
    struct pawl_publication said = {0};
    struct pawl_json definition;
    struct call call;
    int status = open_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_validate(&call.op, &definition, &said);
    if (status == PAWL_OK)
        status = conclude(
            &said, pawl__json_str(pawl__json_get_nocase(&definition, pawl__str("definitionId"))),
            "", problem, ctx, err);
    else if (status == PAWL_EPARSE)
        (void)tell(&said.problems, problem, ctx);
    close_call(&call);
    return status;
}

int pawl_definition_publish_version(struct pawl *pawl, const char *definition_id, int64_t version,
                                    pawl_definition_problem_fn problem, void *ctx,
                                    struct pawl_published *out, struct pawl_error *err)
{
    struct pawl_definition_saved saved;
    struct pawl_definition_ref ref;
    struct call call;
    int status = open_with_id(&call, pawl, definition_id, version, err);

    if (status != PAWL_OK)
        return status;
    ref = ref_of(definition_id, version);
    status = pawl__op_definition_publish(&call.op, &ref, &saved);
    if (status == PAWL_OK)
        status = conclude(&saved.publication, saved.row.definition_id, "", problem, ctx, err);
    if (status == PAWL_OK)
        answer(&saved.row, out);
    close_call(&call);
    return status;
}

int pawl_definition_import(struct pawl *pawl, const char *json, struct pawl_published *out,
                           struct pawl_error *err)
{
    struct pawl_definition_row row;
    struct pawl_json definition;
    struct call call;
    int status = open_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_import(&call.op, &definition, &row);
    if (status == PAWL_OK)
        answer(&row, out);
    close_call(&call);
    return status;
}

/* ---- changing ------------------------------------------------------------------------------ */

int pawl_definition_retract(struct pawl *pawl, const char *definition_id, struct pawl_error *err)
{
    struct pawl_definition_row row;
    bool was_published = true;
    struct call call;
    int status = open_with_id(&call, pawl, definition_id, 0, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_retract(&call.op, pawl__str(definition_id), &was_published, &row);
    if (status == PAWL_OK && !was_published)
        status = pawl__error_set(err, PAWL_ENOTFOUND,
                                 "no version of the definition %s is published", definition_id);
    close_call(&call);
    return status;
}

int pawl_definition_revert(struct pawl *pawl, const char *definition_id, int64_t version,
                           struct pawl_published *out, struct pawl_error *err)
{
    struct pawl_definition_row row;
    struct call call;
    int status = open_with_id(&call, pawl, definition_id, version, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_revert(&call.op, pawl__str(definition_id), version, &row);
    if (status == PAWL_OK)
        answer(&row, out);
    close_call(&call);
    return status;
}

int pawl_definition_delete(struct pawl *pawl, const char *definition_id,
                           const struct pawl_definition_delete_options *options,
                           struct pawl_error *err)
{
    struct pawl_definition_deleted deleted;
    struct call call;
    int status = open_with_id(&call, pawl, definition_id, options ? options->version : 0, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_delete(
        &call.op,
        &(struct pawl_definition_delete){.definition_id = pawl__str(definition_id),
                                         .version = options ? options->version : 0,
                                         .force = options && options->force,
                                         .with_instances = options && options->with_instances},
        &deleted);
    close_call(&call);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

int pawl_definition_find(struct pawl *pawl, const char *definition_id, int64_t version, char **json,
                         struct pawl_error *err)
{
    struct pawl_definition_row row;
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_definition_ref ref;
    struct pawl_json value;
    struct call call;
    int status = pawl__embed_check_answer(json, err);

    if (status == PAWL_OK)
        status = open_with_id(&call, pawl, definition_id, version, err);
    if (status != PAWL_OK)
        return status;
    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    ref = ref_of(definition_id, version);
    status = pawl__op_definition_find(&call.op, &ref, &row);
    if (status == PAWL_OK)
        status = pawl__json_parse(&call.arena, row.data, &limits, &value, NULL, err);
    if (status == PAWL_OK)
        status = pawl__embed_text(pawl, &value, json, err);
    close_call(&call);
    return status;
}

int pawl_definition_export(struct pawl *pawl, const char *definition_id, int64_t version,
                           char **json, struct pawl_error *err)
{
    struct pawl_definition_shown shown;
    struct pawl_definition_ref ref;
    struct call call;
    int status = pawl__embed_check_answer(json, err);

    if (status == PAWL_OK)
        status = open_with_id(&call, pawl, definition_id, version, err);
    if (status != PAWL_OK)
        return status;
    ref = ref_of(definition_id, version);
    status = pawl__op_definition_show(&call.op, &ref, &shown);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json value = pawl__view_definition_export(&b, &shown);

        status = b.status == PAWL_OK ? pawl__embed_text(pawl, &value, json, err)
                                     : pawl__error_code(err, b.status);
        pawl__op_definition_release(&shown);
    }
    close_call(&call);
    return status;
}

/* ---- listing ------------------------------------------------------------------------------- */

static int make_query(const struct pawl_definition_filter *filter, struct pawl_str *definition_id,
                      struct pawl_definition_query *query, struct pawl_error *err)
{
    int status = PAWL_OK;

    *query = PAWL_DEFINITION_QUERY_ALL;
    query->versions.pick = PAWL_VERSIONS_LATEST;
    if (!filter)
        return PAWL_OK;
    if (filter->versions && *filter->versions)
        status = pawl__version_options_read(pawl__str(filter->versions), &query->versions, err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->name, "the name", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->search, "the text that is searched", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->definition_id, "the definition's id", err);
    query->name = pawl__str(or_empty(filter->name));
    query->search = pawl__str(or_empty(filter->search));
    *definition_id = pawl__str(or_empty(filter->definition_id));
    if (definition_id->len > 0) {
        query->definition_ids = definition_id;
        query->definition_id_count = 1;
    }
    query->page.limit = filter->limit;
    query->page.offset = filter->offset;
    return status;
}

static int tell_row(struct pawl_arena *arena, const struct pawl_definition_row *row,
                    int (*told)(void *ctx, const struct pawl_definition_info *definition),
                    void *ctx, bool *stop, struct pawl_error *err)
{
    const struct pawl_definition_info info = {
        .id = pawl__arena_str(arena, row->id).ptr,
        .definition_id = pawl__arena_str(arena, row->definition_id).ptr,
        .name = pawl__arena_str(arena, row->name).ptr,
        .description = pawl__arena_str(arena, row->description).ptr,
        .version = row->version,
        .is_latest = row->is_latest != 0,
        .is_published = row->is_published != 0,
        .is_readonly = row->is_readonly != 0,
        .is_system = row->is_system != 0,
        .usable_as_activity = row->usable_as_activity != 0,
        .created_us = row->created_us,
    };

    if (arena->status != PAWL_OK)
        return pawl__error_code(err, arena->status);
    *stop = told(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_definitions_list(struct pawl *pawl, const struct pawl_definition_filter *filter,
                          int (*row)(void *ctx, const struct pawl_definition_info *definition),
                          void *ctx, uint64_t *total, struct pawl_error *err)
{
    struct pawl_str definition_id = pawl__str("");
    struct pawl_definition_list list = {.rows = NULL};
    struct pawl_definition_query query;
    bool stop = false;
    struct call call;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK)
        status = make_query(filter, &definition_id, &query, err);
    if (status != PAWL_OK)
        return status;
    query.page.with_total = total != NULL;
    query.page.total_only = row == NULL;
    open_call(&call, pawl, err);
    status = pawl__op_definitions_list(&call.op, &query, &list);
    for (size_t i = 0; status == PAWL_OK && row && i < list.count && !stop; i++)
        status = tell_row(&call.arena, &list.rows[i], row, ctx, &stop, err);
    close_call(&call);
    if (status == PAWL_OK && total)
        *total = list.page.total;
    return status;
}
