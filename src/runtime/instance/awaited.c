/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a burst awaits and this node knows by itself: whether a definition is there, that nobody
 * here sends requests, that there is no console. The burst goes on at once, without a commit.
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
