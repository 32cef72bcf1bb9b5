/* SPDX-License-Identifier: Apache-2.0 */
/* What `pawl verify-cluster` runs, what became of it, and removing it; see verify.h. */
#include "cli/verify.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

#define PAGE 500u
#define CLEAN_ROUNDS_MAX 200

void verify_say(struct verify_finding *finding, bool holds, const char *format, ...)
{
    va_list args;

    finding->holds = holds;
    va_start(args, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
}

/* ---- defining and creating ------------------------------------------------------------------ */

int verify_define(struct verify *verify, const char *text, struct pawl_error *err)
{
    struct pawl_definitions *definitions = verify->session.definitions;
    int64_t deadline_ns = pawl__cli_session_deadline(&verify->session);
    struct pawl_publication said = {0};
    struct pawl_definition_row row;
    struct pawl_json definition;
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, &verify->session.cli->env->alloc, (size_t)1 << 20);
    for (const char *at = text; *at; at++) {
        if (*at == '@')
            pawl__buf_str(&buf, pawl__str(verify->prefix));
        else
            pawl__buf_byte(&buf, (char)(*at == '\'' ? '"' : *at));
    }
    pawl__arena_reset(&verify->arena);
    status = buf.status == PAWL_OK ? pawl__json_parse(&verify->arena, pawl__buf_peek(&buf), NULL,
                                                      &definition, NULL, err)
                                   : pawl__error_code(err, buf.status);
    if (status == PAWL_OK)
        status = pawl__definitions_import(definitions, &definition, &verify->arena, &row,
                                          deadline_ns, err);
    if (status == PAWL_OK)
        status =
            pawl__definitions_publish(definitions, row.id, &verify->arena, &said, deadline_ns, err);
    pawl__buf_release(&buf);
    return status;
}

int verify_create(struct verify *verify, const char *flow, char id[VERIFY_ID_SIZE],
                  struct pawl_error *err)
{
    char definition_id[VERIFY_ID_SIZE], instance_id[VERIFY_ID_SIZE];
    struct pawl_start start = {.definition_id = pawl__str("")};
    struct pawl_outcome outcome;

    (void)snprintf(definition_id, sizeof definition_id, "%s-%s", verify->prefix, flow);
    (void)snprintf(instance_id, sizeof instance_id, "%s-%s-%u", verify->prefix, flow,
                   ++verify->made);
    start.definition_id = pawl__str(definition_id);
    start.instance_id = pawl__str(instance_id);
    if (id)
        (void)snprintf(id, VERIFY_ID_SIZE, "%s", instance_id);
    return pawl__runtime_create(verify->session.runtime, &start, &outcome,
                                pawl__cli_session_deadline(&verify->session), err);
}

/* ---- looking -------------------------------------------------------------------------------- */

static void list_flow(struct verify *verify, const char *flow, uint32_t flags,
                      char definition_id[VERIFY_ID_SIZE], struct pawl_cli_list *list)
{
    (void)snprintf(definition_id, VERIFY_ID_SIZE, "%s-%s", verify->prefix, flow);
    pawl__cli_list_all(list, PAWL_TABLE_INSTANCES, NULL, flags);
    pawl__cli_list_text(list, "definition_id", definition_id);
}

int verify_count(struct verify *verify, const char *flow, const char *sub_status, uint64_t *out,
                 struct pawl_error *err)
{
    char definition_id[VERIFY_ID_SIZE];
    struct pawl_cli_list list;

    list_flow(verify, flow, 0, definition_id, &list);
    pawl__cli_list_text(&list, "sub_status", sub_status);
    return pawl__cli_list_count(&verify->session, &list, &verify->arena, out, err);
}

struct awaited {
    const char *flow;
    const char *sub_status;
    uint64_t count;
};

static int have_it(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    const struct awaited *awaited = ctx;
    uint64_t count = 0;
    int status = verify_count(verify, awaited->flow, awaited->sub_status, &count, err);

    *done = count >= awaited->count;
    return status;
}

int verify_await(struct verify *verify, const char *flow, const char *sub_status, uint64_t count,
                 struct pawl_error *err)
{
    struct awaited awaited = {flow, sub_status, count};
    char what[128];

    (void)snprintf(what, sizeof what, "%llu instances that are %s", (unsigned long long)count,
                   sub_status);
    return verify_wait(verify, what, VERIFY_PATIENCE_NS + 2 * verify->lease_ns, have_it, &awaited,
                       err);
}

int verify_each(struct verify *verify, const char *flow,
                int (*each)(struct verify *verify, void *ctx, const struct pawl_instance_row *row,
                            struct pawl_error *err),
                void *ctx, struct pawl_error *err)
{
    char definition_id[VERIFY_ID_SIZE];
    struct pawl_arena pages;
    struct pawl_cli_list list;
    struct pawl_rows rows;
    int status;

    pawl__arena_init(&pages, &verify->session.cli->env->alloc, (size_t)1 << 28);
    list_flow(verify, flow, PAWL_QUERY_BRIEF, definition_id, &list);
    list.query.limit = PAGE;
    do {
        const struct pawl_instance_row *all;

        status = pawl__cli_list_find(&verify->session, &list, &pages, &rows, err);
        all = status == PAWL_OK ? rows.rows : NULL;
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            pawl__arena_reset(&verify->arena);
            status = each(verify, ctx, &all[i], err);
            list.query.after = &all[i];
        }
    } while (status == PAWL_OK && rows.count == PAGE);
    pawl__arena_release(&pages);
    return status;
}

struct wrong {
    uint32_t times;
    uint64_t count;
};

static int count_body(struct verify *verify, void *ctx, const struct pawl_instance_row *row,
                      struct pawl_error *err)
{
    struct wrong *wrong = ctx;
    struct pawl_json log, records;
    uint32_t times = 0;
    int status = pawl__runtime_journal(verify->session.runtime, row->id, &verify->arena, &log,
                                       &records, pawl__cli_session_deadline(&verify->session), err);

    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&log); i++) {
        const struct pawl_json *one = pawl__json_at(&log, i);

        times += pawl__str_is(pawl__json_str(pawl__json_get_text(one, "activityId")), "body") &&
                 pawl__str_is(pawl__json_str(pawl__json_get_text(one, "eventName")), "Completed");
    }
    wrong->count += status == PAWL_OK && times != wrong->times;
    return status;
}

int verify_wrong(struct verify *verify, const char *flow, uint32_t times, uint64_t *out,
                 struct pawl_error *err)
{
    struct wrong wrong = {.times = times};
    int status = verify_each(verify, flow, count_body, &wrong, err);

    *out = wrong.count;
    return status;
}

/* ---- removing ------------------------------------------------------------------------------- */

static int remove_instances(struct verify *verify, bool *any, struct pawl_error *err)
{
    struct pawl_cli_list list;
    struct pawl_rows rows;
    int status;

    pawl__arena_reset(&verify->arena);
    pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, PAWL_QUERY_BRIEF);
    list.query.limit = PAGE;
    list.conditions[list.query.condition_count++] =
        (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
                                .compare = PAWL_CONTAINS,
                                .value = {.text = pawl__str(verify->prefix)}};
    status = pawl__cli_list_find(&verify->session, &list, &verify->arena, &rows, err);
    *any = status == PAWL_OK && rows.count > 0;
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        status = pawl__runtime_delete(verify->session.runtime,
                                      ((const struct pawl_instance_row *)rows.rows)[i].id,
                                      pawl__cli_session_deadline(&verify->session), err);
        if (status == PAWL_ENOTFOUND)
            status = PAWL_OK;
    }
    return status;
}

static int remove_letters(struct verify *verify, struct pawl_error *err)
{
    struct pawl_cli_list list;
    struct pawl_rows rows;
    int status;

    pawl__arena_reset(&verify->arena);
    pawl__cli_list_all(&list, PAWL_TABLE_DEAD_LETTERS, NULL, PAWL_QUERY_BRIEF);
    list.conditions[list.query.condition_count++] =
        (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_DEAD_LETTERS, "instance_id"),
                                .compare = PAWL_CONTAINS,
                                .value = {.text = pawl__str(verify->prefix)}};
    status = pawl__cli_list_find(&verify->session, &list, &verify->arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        status = pawl__runtime_drop_letter(verify->session.runtime,
                                           ((const struct pawl_dead_letter_row *)rows.rows)[i].id,
                                           pawl__cli_session_deadline(&verify->session), err);
        if (status == PAWL_ENOTFOUND)
            status = PAWL_OK;
    }
    return status;
}

static int remove_definitions(struct verify *verify, struct pawl_error *err)
{
    struct pawl_cli_list list;
    struct pawl_rows rows;
    int status;

    pawl__arena_reset(&verify->arena);
    pawl__cli_list_all(&list, PAWL_TABLE_DEFINITIONS, NULL, PAWL_QUERY_BRIEF);
    list.conditions[list.query.condition_count++] = (struct pawl_condition){
        .column = pawl_table_column(PAWL_TABLE_DEFINITIONS, "definition_id"),
        .compare = PAWL_CONTAINS,
        .value = {.text = pawl__str(verify->prefix)}};
    status = pawl__cli_list_find(&verify->session, &list, &verify->arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        status = pawl__definitions_delete(
            verify->session.definitions,
            ((const struct pawl_definition_row *)rows.rows)[i].definition_id,
            pawl__cli_session_deadline(&verify->session), err);
        if (status == PAWL_ENOTFOUND)
            status = PAWL_OK; /* another version of the same */
    }
    return status;
}

/* Children may still be made by instances that are there: until a round finds nothing. */
int verify_clean(struct verify *verify, struct pawl_error *err)
{
    bool any = true;
    int status = remove_definitions(verify, err);

    for (int round = 0; status == PAWL_OK && any && round < CLEAN_ROUNDS_MAX; round++)
        status = remove_instances(verify, &any, err);
    if (status == PAWL_OK)
        status = remove_letters(verify, err);
    return status;
}
