/* SPDX-License-Identifier: Apache-2.0 */
/* Publishing from text: import as a draft, then publish, telling every problem. */
#include "embed/embed.h"

#include "base/error.h"

#include <stdio.h>

_Static_assert((int)PAWL_DEFINITION_WARNING == (int)PAWL_PROBLEM_WARNING &&
                   (int)PAWL_DEFINITION_ERROR == (int)PAWL_PROBLEM_ERROR &&
                   (int)PAWL_DEFINITION_INVALID == (int)PAWL_PROBLEM_INVALID,
               "levels are told as they are");

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* Tells all; answers the first that is INVALID, NULL when there is none. */
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

static int publish(struct pawl *pawl, struct pawl_arena *arena, const struct pawl_json *definition,
                   struct pawl_publication *said, struct pawl_definition_row *row,
                   struct pawl_error *err)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(pawl->runtime);
    int64_t deadline_ns = pawl__embed_deadline(pawl);
    int status = pawl__definitions_import(definitions, definition, arena, row, deadline_ns, err);

    if (status == PAWL_OK)
        status = pawl__definitions_publish(definitions, row->id, arena, said, deadline_ns, err);
    return status;
}

int pawl_definition_publish(struct pawl *pawl, const char *json,
                            void (*problem)(void *ctx,
                                            const struct pawl_definition_problem *problem),
                            void *ctx, struct pawl_published *out, struct pawl_error *err)
{
    const struct pawl_problem *invalid;
    struct pawl_publication said = {0};
    struct pawl_definition_row row;
    struct pawl_json definition;
    struct pawl_arena arena;
    int status = pawl__embed_check_text(pawl, json, "the definition", err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__embed_parse_object(&arena, json, "the definition", &definition, err);
    if (status == PAWL_OK)
        status = check_ids(&definition, err);
    if (status == PAWL_OK)
        status = publish(pawl, &arena, &definition, &said, &row, err);
    if (status == PAWL_OK) {
        invalid = tell(&said.problems, problem, ctx);
        if (said.succeeded)
            answer(&row, out);
        else
            status = pawl__error_set(
                err, PAWL_EINVAL, "definition %.*s is not published but kept as a draft: %s%s%s",
                PAWL_STR_ARG(row.definition_id), invalid ? or_empty(invalid->activity_id) : "",
                invalid ? ": " : "", invalid ? or_empty(invalid->message) : "it is invalid");
    }
    pawl__arena_release(&arena);
    return status;
}
