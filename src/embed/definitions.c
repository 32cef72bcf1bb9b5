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

/* Passes on all; returns the first that is INVALID, NULL when there is none. */
static const struct pawl_problem *
pass_problems(const struct pawl_problems *problems,
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

static void copy_version(const struct pawl_definition_row *row, struct pawl_published *out)
{
    if (!out)
        return;
    *out = (struct pawl_published){.version = row->version};
    (void)snprintf(out->definition_id, sizeof out->definition_id, "%.*s",
                   PAWL_STR_ARG(row->definition_id));
    (void)snprintf(out->version_id, sizeof out->version_id, "%.*s", PAWL_STR_ARG(row->id));
}

/* ---- one call ------------------------------------------------------------------------------ */

/* A call with a definition given as text. Not PAWL_OK: there is nothing to end. */
static int begin_with_json(struct embed_call *call, struct pawl *pawl, const char *json,
                           struct pawl_json *definition, struct pawl_error *err)
{
    int status = pawl__embed_check_text(pawl, json, "the definition", err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(call, pawl, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__embed_parse_object(&call->arena, json, "the definition", definition, err);
    if (status == PAWL_OK)
        status = check_ids(definition, err);
    return status == PAWL_OK ? PAWL_OK : pawl__embed_end(call, status);
}

/* A call on a definition that is named. Not PAWL_OK: there is nothing to end. */
static int begin_with_id(struct embed_call *call, struct pawl *pawl, const char *definition_id,
                         struct pawl_error *err)
{
    int status = pawl__embed_check_text(pawl, definition_id, "the definition's id", err);

    return status == PAWL_OK ? pawl__embed_begin(call, pawl, err) : status;
}

/* A version of it; 0: the latest. */
static int make_ref(const char *definition_id, int64_t version, struct pawl_definition_ref *out,
                    struct pawl_error *err)
{
    *out = (struct pawl_definition_ref){.definition_id = pawl__str(definition_id)};
    return pawl__embed_version(version, PAWL_VERSIONS_LATEST, &out->versions, err);
}

/* Its number. PAWL_ENOTFOUND. */
static int find_number(const struct pawl_op *op, const char *definition_id, int64_t version,
                       int64_t *out)
{
    struct pawl_definition_ref ref;
    struct pawl_definition_row row;
    int status = make_ref(definition_id, version, &ref, op->err);

    *out = version;
    if (status != PAWL_OK || version > 0)
        return status;
    status = pawl__op_definition_find(op, &ref, &row);
    if (status == PAWL_OK)
        *out = row.version;
    return status;
}

/* ---- saving, publishing -------------------------------------------------------------------- */

/* Passes on the problems; a refusal becomes the failure that callers know. */
static int conclude(const struct pawl_publication *said, struct pawl_str definition_id,
                    const char *what_of_it, pawl_definition_problem_fn problem, void *ctx,
                    struct pawl_error *err)
{
    const struct pawl_problem *invalid = pass_problems(&said->problems, problem, ctx);

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
    struct embed_call call;
    int status = begin_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_save(
        &call.op, &(struct pawl_definition_save){.definition = &definition, .publish = true},
        &saved);
    if (status == PAWL_OK)
        status = conclude(&saved.publication, saved.row.definition_id,
                          " and nothing is stored of it", problem, ctx, err);
    if (status == PAWL_OK)
        copy_version(&saved.row, out);
    return pawl__embed_end(&call, status);
}

int pawl_definition_save(struct pawl *pawl, const char *json, struct pawl_published *out,
                         struct pawl_error *err)
{
    struct pawl_definition_saved saved;
    struct pawl_json definition;
    struct embed_call call;
    int status = begin_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_save(
        &call.op, &(struct pawl_definition_save){.definition = &definition}, &saved);
    if (status == PAWL_OK)
        copy_version(&saved.row, out);
    return pawl__embed_end(&call, status);
}

int pawl_definition_validate(struct pawl *pawl, const char *json,
                             pawl_definition_problem_fn problem, void *ctx, struct pawl_error *err)
{
    struct pawl_publication said = {0};
    struct pawl_json definition;
    struct embed_call call;
    int status = begin_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_validate(&call.op, &definition, &said);
    if (status == PAWL_OK)
        status = conclude(
            &said, pawl__json_str(pawl__json_get_nocase(&definition, pawl__str("definitionId"))),
            "", problem, ctx, err);
    else if (status == PAWL_EPARSE)
        (void)pass_problems(&said.problems, problem, ctx);
    return pawl__embed_end(&call, status);
}

int pawl_definition_publish_version(struct pawl *pawl, const char *definition_id, int64_t version,
                                    pawl_definition_problem_fn problem, void *ctx,
                                    struct pawl_published *out, struct pawl_error *err)
{
    struct pawl_definition_saved saved;
    struct pawl_definition_ref ref;
    struct embed_call call;
    int status = begin_with_id(&call, pawl, definition_id, err);

    if (status != PAWL_OK)
        return status;
    status = make_ref(definition_id, version, &ref, err);
    if (status == PAWL_OK)
        status = pawl__op_definition_publish(&call.op, &ref, &saved);
    if (status == PAWL_OK)
        status = conclude(&saved.publication, saved.row.definition_id, "", problem, ctx, err);
    if (status == PAWL_OK)
        copy_version(&saved.row, out);
    return pawl__embed_end(&call, status);
}

int pawl_definition_import(struct pawl *pawl, const char *json, struct pawl_published *out,
                           struct pawl_error *err)
{
    struct pawl_definition_row row;
    struct pawl_json definition;
    struct embed_call call;
    int status = begin_with_json(&call, pawl, json, &definition, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_import(&call.op, &definition, &row);
    if (status == PAWL_OK)
        copy_version(&row, out);
    return pawl__embed_end(&call, status);
}

/* ---- changing ------------------------------------------------------------------------------ */

int pawl_definition_retract(struct pawl *pawl, const char *definition_id, struct pawl_error *err)
{
    struct pawl_definition_row row;
    bool was_published = true;
    struct embed_call call;
    int status = begin_with_id(&call, pawl, definition_id, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_definition_retract(&call.op, pawl__str(definition_id), &was_published, &row);
    if (status == PAWL_OK && !was_published)
        status = pawl__error_set(err, PAWL_ENOTFOUND,
                                 "no version of the definition %s is published", definition_id);
    return pawl__embed_end(&call, status);
}

int pawl_definition_revert(struct pawl *pawl, const char *definition_id, int64_t version,
                           struct pawl_published *out, struct pawl_error *err)
{
    struct pawl_definition_row row;
    struct embed_call call;
    int status = begin_with_id(&call, pawl, definition_id, err);

    if (status != PAWL_OK)
        return status;
    status = find_number(&call.op, definition_id, version, &version);
    if (status == PAWL_OK)
        status = pawl__op_definition_revert(&call.op, pawl__str(definition_id), version, &row);
    if (status == PAWL_OK)
        copy_version(&row, out);
    return pawl__embed_end(&call, status);
}

int pawl_definition_delete(struct pawl *pawl, const char *definition_id,
                           const struct pawl_definition_delete_options *options,
                           struct pawl_error *err)
{
    struct pawl_definition_delete request = {
        .definition_id = pawl__str(definition_id),
        .force = options && options->force,
        .with_instances = options && options->with_instances,
    };
    struct pawl_definition_deleted deleted;
    struct embed_call call;
    int status = begin_with_id(&call, pawl, definition_id, err);

    if (status != PAWL_OK)
        return status;
    if (options && options->version != 0)
        status = find_number(&call.op, definition_id, options->version, &request.version);
    if (status == PAWL_OK)
        status = pawl__op_definition_delete(&call.op, &request, &deleted);
    return pawl__embed_end(&call, status);
}

/* ---- reading ------------------------------------------------------------------------------- */

int pawl_definition_find(struct pawl *pawl, const char *definition_id, int64_t version, char **json,
                         struct pawl_error *err)
{
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_definition_ref ref;
    struct pawl_definition_row row;
    struct pawl_json value;
    struct embed_call call;
    int status = pawl__embed_check_json(json, err);

    if (status == PAWL_OK)
        status = begin_with_id(&call, pawl, definition_id, err);
    if (status != PAWL_OK)
        return status;
    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    status = make_ref(definition_id, version, &ref, err);
    if (status == PAWL_OK)
        status = pawl__op_definition_find(&call.op, &ref, &row);
    if (status == PAWL_OK)
        status = pawl__json_parse(&call.arena, row.data, &limits, &value, NULL, err);
    return pawl__embed_end_json(&call, status, NULL, &value, json);
}

int pawl_definition_export(struct pawl *pawl, const char *definition_id, int64_t version,
                           char **json, struct pawl_error *err)
{
    struct pawl_definition_shown shown = {.graph = NULL};
    struct pawl_json value = pawl__json_null();
    struct pawl_definition_ref ref;
    struct pawl_builder b;
    struct embed_call call;
    int status = pawl__embed_check_json(json, err);

    if (status == PAWL_OK)
        status = begin_with_id(&call, pawl, definition_id, err);
    if (status != PAWL_OK)
        return status;
    b = (struct pawl_builder){.arena = &call.arena};
    status = make_ref(definition_id, version, &ref, err);
    if (status == PAWL_OK)
        status = pawl__op_definition_show(&call.op, &ref, &shown);
    if (status != PAWL_OK)
        return pawl__embed_end(&call, status);
    value = pawl__view_definition_export(&b, &shown);
    status = pawl__embed_end_json(&call, PAWL_OK, &b, &value, json);
    pawl__op_definition_release(&shown);
    return status;
}

/* ---- listing ------------------------------------------------------------------------------- */

static int make_query(const struct pawl_definition_filter *filter, struct pawl_str *definition_id,
                      struct pawl_definition_query *query, struct pawl_error *err)
{
    const struct embed_text texts[] = {{filter->name, "the filter's name"},
                                       {filter->search, "the filter's search"},
                                       {filter->definition_id, "the filter's definition_id"},
                                       {filter->after, "the filter's after"}};
    int status = PAWL_OK;

    *query = PAWL_DEFINITION_QUERY_ALL;
    query->versions.pick = PAWL_VERSIONS_LATEST;
    if (filter->versions && *filter->versions)
        status = pawl__version_options_read(pawl__str(filter->versions), &query->versions, err);
    if (status == PAWL_OK)
        status = pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err);
    query->name = pawl__str(filter->name);
    query->search = pawl__str(filter->search);
    *definition_id = pawl__str(filter->definition_id);
    if (definition_id->len > 0) {
        query->definition_ids = definition_id;
        query->definition_id_count = 1;
    }
    return status;
}

static int pass_version(struct embed_call *call, const struct pawl_definition_row *version,
                        int (*row)(void *ctx, const struct pawl_definition_info *definition),
                        void *ctx)
{
    const struct pawl_definition_info info = {
        .id = pawl__embed_str(call, version->id),
        .definition_id = pawl__embed_str(call, version->definition_id),
        .name = pawl__embed_str(call, version->name),
        .description = pawl__embed_str(call, version->description),
        .version = version->version,
        .is_latest = version->is_latest != 0,
        .is_published = version->is_published != 0,
        .is_readonly = version->is_readonly != 0,
        .is_system = version->is_system != 0,
        .usable_as_activity = version->usable_as_activity != 0,
        .created_us = version->created_us,
    };
    int status = pawl__embed_check_memory(call);

    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_definitions_list(struct pawl *pawl, const struct pawl_definition_filter *filter,
                          int (*row)(void *ctx, const struct pawl_definition_info *definition),
                          void *ctx, struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_definition_filter latest = {0};
    struct pawl_str definition_id = pawl__str("");
    struct pawl_definition_list found = {.rows = NULL};
    struct pawl_definition_query query;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &latest;
    status = make_query(filter, &definition_id, &query, err);
    query.page = pawl__embed_page(filter->limit, filter->after, row != NULL, end);
    if (status == PAWL_OK)
        status = pawl__op_definitions_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_version(&call, &found.rows[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}
