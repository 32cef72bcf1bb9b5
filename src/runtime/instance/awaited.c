/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a burst awaits and this node knows by itself: whether a definition is there, that nobody
 * here sends requests, that there is no console. The burst goes on at once, without a commit. And
 * finding what came for an instance that awaits something else.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/task.h"

void pawl__runtime_refusal(struct pawl_builder *b, struct pawl_json *result)
{
    pawl__build_name(b, result, "error", "this host sends no HTTP requests");
    pawl__build_name(b, result, "reason", "none");
}

/* Nobody here sends requests: the activity learns that at once. */
static int refuse_request(struct runtime_run *run, bool *answered)
{
    struct pawl_builder b = {.arena = &run->arena};
    struct pawl_json result = pawl__json_object();

    pawl__runtime_refusal(&b, &result);
    if (b.status != PAWL_OK)
        return pawl__error_code(run->task->err, b.status);
    *answered = true;
    pawl__burst_keep_batch(run->burst);
    return pawl__runtime_feed(run, &result);
}

/* A node has no console: whoever reads from it is at the end of the input. */
static int end_input(struct runtime_run *run, bool *answered)
{
    const struct pawl_json nothing = pawl__json_object();

    *answered = true;
    pawl__burst_keep_batch(run->burst);
    return pawl__runtime_feed(run, &nothing);
}

int pawl__runtime_resolve_awaited(struct runtime_run *run, const struct pawl_effect *awaited,
                                  bool *answered)
{
    struct runtime_task *task = run->task;
    struct pawl_graph *graph = NULL;
    struct pawl_json result = pawl__json_object();
    struct pawl_error why = PAWL_ERROR_INIT;
    bool execute, found;
    int status;

    *answered = false;
    if (awaited->kind == PAWL_EFFECT_HTTP)
        return run->runtime->options.http ? PAWL_OK : refuse_request(run, answered);
    if (awaited->kind == PAWL_EFFECT_CONSOLE)
        return end_input(run, answered);
    if (awaited->kind != PAWL_EFFECT_CHILD)
        return pawl__error_set(task->err, PAWL_EUNSUPPORTED,
                               "instance %.*s asks for an effect that only a server performs",
                               PAWL_STR_ARG(run->row.id));
    execute = pawl__str_is(runtime_text(&awaited->data, "mode"), "execute");
    status = pawl__definitions_published(run->runtime->definitions,
                                         runtime_text(&awaited->data, "definitionId"), &graph,
                                         task->deadline_ns, &why);
    found = status == PAWL_OK;
    pawl__graph_unref(graph);
    if (!found && status != PAWL_ENOTFOUND && status != PAWL_EPARSE) {
        if (task->err)
            *task->err = why;
        return status;
    }
    if (found && execute)
        return PAWL_OK;
    *answered = true;
    status = pawl__json_set_text(&run->arena, &result, "found", pawl__json_bool(found));
    if (status != PAWL_OK)
        return pawl__error_code(task->err, status);
    pawl__burst_keep_batch(run->burst);
    return pawl__runtime_feed(run, &result);
}

/* ---- what came for it ---------------------------------------------------------------------- */

static const struct pawl_work_row *find_feed(const struct runtime_run *run)
{
    for (size_t i = 0; i < run->mail_count; i++)
        if (pawl__str_is(run->mail[i].kind, PAWL_WORK_FEED))
            return &run->mail[i];
    return NULL;
}

/* Behind more mail than a claim returns. NULL: it is not there yet. */
static int find_feed_behind(struct runtime_run *run, const struct pawl_work_row **out)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_WORK, "instance_id"),
         .value = {.text = run->row.id}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
         .value = {.text = pawl__str(PAWL_WORK_FEED)}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "due_us"),
         .compare = PAWL_LE,
         .value = {.integer = run->now_us}},
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = conditions, .condition_count = 3, .limit = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(run->runtime->store, &query, &run->arena, &rows,
                                 run->task->deadline_ns, run->task->err);

    *out = status == PAWL_OK && rows.count > 0 ? rows.rows : NULL;
    return status;
}

/* What an instance awaits is the first of its mail: the rest waits for it, however much that is. */
int pawl__runtime_put_feed_first(struct runtime_run *run)
{
    const struct pawl_work_row *feed = find_feed(run);
    struct pawl_work_row *mail;
    size_t count = 0;
    int status = PAWL_OK;

    if (run->row.runnable != 2)
        return PAWL_OK;
    if (!feed && run->mail_count == PAWL_CLAIM_MAIL_MAX)
        status = find_feed_behind(run, &feed);
    if (status != PAWL_OK || !feed)
        return status;
    mail = pawl__arena_alloc_array(&run->arena, run->mail_count + 1, sizeof *mail);
    if (!mail)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    mail[count++] = *feed;
    for (size_t i = 0; i < run->mail_count; i++)
        if (&run->mail[i] != feed)
            mail[count++] = run->mail[i];
    run->mail = mail;
    run->mail_count = count;
    return PAWL_OK;
}
