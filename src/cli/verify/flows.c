/* SPDX-License-Identifier: Apache-2.0 */
/* What `pawl verify-cluster` runs, what became of it, and removing it; see verify.h. */
#include "cli/verify/verify.h"

#include "base/error.h"
#include "operations/definitions.h"
#include "operations/journal.h"
#include "operations/letters.h"
#include "operations/nodes.h"

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

/* ---- operations ------------------------------------------------------------------------------ */

struct pawl_op verify_op(struct verify *verify, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(&verify->session, err);

    op.arena = &verify->arena;
    return op;
}

int verify_now(struct verify *verify, int64_t *now_us, struct pawl_error *err)
{
    struct pawl_op op = verify_op(verify, err);
    struct pawl_cluster_status about;
    int status = pawl__op_cluster_status(&op, &about);

    if (status == PAWL_OK)
        *now_us = about.now_us;
    return status;
}

/* ---- defining and creating ------------------------------------------------------------------ */

int verify_define(struct verify *verify, const char *text, struct pawl_error *err)
{
    struct pawl_op op = verify_op(verify, err);
    struct pawl_definition_saved saved;
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
        status = pawl__op_definition_save(
            &op, &(struct pawl_definition_save){.definition = &definition, .publish = true},
            &saved);
    pawl__buf_release(&buf);
    return status;
}

int verify_create(struct verify *verify, const char *flow, char id[VERIFY_ID_SIZE],
                  struct pawl_error *err)
{
    char definition_id[VERIFY_ID_SIZE], instance_id[VERIFY_ID_SIZE];
    struct pawl_op op = verify_op(verify, err);
    struct pawl_instance_start start = {.detached = true};
    struct pawl_instance_result result;

    (void)snprintf(definition_id, sizeof definition_id, "%s-%s", verify->prefix, flow);
    (void)snprintf(instance_id, sizeof instance_id, "%s-%s-%u", verify->prefix, flow,
                   ++verify->made);
    start.what.definition_id = pawl__str(definition_id);
    start.what.instance_id = pawl__str(instance_id);
    if (id)
        (void)snprintf(id, VERIFY_ID_SIZE, "%s", instance_id);
    return pawl__op_instance_start(&op, &start, &result);
}

/* ---- looking -------------------------------------------------------------------------------- */

/* All instances of the flow; its definition's id is kept in `id`. */
static struct pawl_instance_query flow_query(struct verify *verify, const char *flow,
                                             char id[VERIFY_ID_SIZE])
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    (void)snprintf(id, VERIFY_ID_SIZE, "%s-%s", verify->prefix, flow);
    query.definition_id = pawl__str(id);
    return query;
}

int verify_count(struct verify *verify, const char *flow, const char *sub_status, uint64_t *out,
                 struct pawl_error *err)
{
    char id[VERIFY_ID_SIZE];
    struct pawl_op op = verify_op(verify, err);
    struct pawl_instance_query query = flow_query(verify, flow, id);
    struct pawl_str wanted = pawl__str(sub_status ? sub_status : "");
    struct pawl_instance_list list;
    int status;

    query.page.total_only = true;
    query.sub_statuses = sub_status ? &wanted : NULL;
    query.sub_status_count = sub_status ? 1 : 0;
    status = pawl__op_instances_list(&op, &query, &list);
    if (status == PAWL_OK)
        *out = list.page.total;
    return status;
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
    char id[VERIFY_ID_SIZE];
    struct pawl_instance_query query = flow_query(verify, flow, id);
    struct pawl_instance_list list = {.page = {.next = pawl__str("")}};
    struct pawl_arena pages;
    int status;

    pawl__arena_init(&pages, &verify->session.cli->env->alloc, (size_t)1 << 28);
    query.page.limit = PAGE;
    do {
        struct pawl_op op = pawl__cli_session_op(&verify->session, err);

        op.arena = &pages;
        query.page.after = list.page.next;
        status = pawl__op_instances_list(&op, &query, &list);
        for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
            pawl__arena_reset(&verify->arena);
            status = each(verify, ctx, &list.rows[i], err);
        }
    } while (status == PAWL_OK && list.page.next.len > 0);
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
    static const struct pawl_str body = {"body", 4}, completed = {"Completed", 9};
    const struct pawl_journal_query query = {.instance_id = row->id,
                                             .activity_ids = &body,
                                             .activity_id_count = 1,
                                             .events = &completed,
                                             .event_count = 1,
                                             .limit = 1};
    struct pawl_op op = verify_op(verify, err);
    struct wrong *wrong = ctx;
    struct pawl_journal_list found;
    int status = pawl__op_journal_list(&op, &query, &found);

    wrong->count += status == PAWL_OK && found.total != wrong->times;
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

/* Ids of all definitions that checks publish, in `ids`. */
#define FLOW_COUNT 7u

static size_t list_definitions(struct verify *verify, char ids[FLOW_COUNT][VERIFY_ID_SIZE],
                               struct pawl_str out[FLOW_COUNT])
{
    static const char *const flows[FLOW_COUNT] = {"resume", "timer",   "child", "parent",
                                                  "kill",   "restart", "pause"};

    for (size_t i = 0; i < FLOW_COUNT; i++) {
        (void)snprintf(ids[i], VERIFY_ID_SIZE, "%s-%s", verify->prefix, flows[i]);
        out[i] = pawl__str(ids[i]);
    }
    return FLOW_COUNT;
}

static int remove_definitions(struct verify *verify, struct pawl_error *err)
{
    char ids[FLOW_COUNT][VERIFY_ID_SIZE];
    struct pawl_str list[FLOW_COUNT];
    struct pawl_definitions_delete request = {.definition_ids = list, .force = true};
    struct pawl_op op = verify_op(verify, err);
    struct pawl_definitions_deleted deleted;

    pawl__arena_reset(&verify->arena);
    request.definition_id_count = list_definitions(verify, ids, list);
    return pawl__op_definitions_delete(&op, &request, &deleted);
}

static int remove_instances(struct verify *verify, bool *any, struct pawl_error *err)
{
    char ids[FLOW_COUNT][VERIFY_ID_SIZE];
    struct pawl_str list[FLOW_COUNT];
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_op op = verify_op(verify, err);
    struct pawl_bulk_result deleted = {.done = 0};
    int status;

    pawl__arena_reset(&verify->arena);
    query.definition_ids = list;
    query.definition_id_count = list_definitions(verify, ids, list);
    status = pawl__op_instances_delete(&op, &query, &deleted);
    *any = deleted.done + deleted.failed > 0 || deleted.is_partial;
    return status;
}

/* The newest first: those from before this began are others'. */
static int remove_letters(struct verify *verify, struct pawl_error *err)
{
    struct pawl_letter_query query = {.page = {.limit = PAGE}};
    struct pawl_letter_list list;
    bool done = false;
    int status = PAWL_OK;

    pawl__arena_reset(&verify->arena);
    do {
        struct pawl_op op = verify_op(verify, err);

        status = pawl__op_letters_list(&op, &query, &list);
        for (size_t i = 0; status == PAWL_OK && i < list.count && !done; i++) {
            const struct pawl_dead_letter_row *row = &list.rows[i];

            done = row->dead_us < verify->began_us;
            if (done || !pawl__str_starts(row->instance_id, pawl__str(verify->prefix)))
                continue;
            status = pawl__op_letter_delete(&op, row->id);
            if (status == PAWL_ENOTFOUND)
                status = PAWL_OK;
        }
        if (status == PAWL_OK)
            query.page.after = list.page.next;
    } while (status == PAWL_OK && !done && list.page.next.len > 0);
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
