/* SPDX-License-Identifier: Apache-2.0 */
/* Running one instance in tests; see rig.h. */
#include "lib/rig.h"

#include "activities/activities.h"
#include "expressions/expressions.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 31)

static const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};

int rig_init_over(struct rig *rig, const struct pawl_allocator *alloc)
{
    struct pawl_hash_seed seed = {1, 2};
    int status;

    rig->alloc = alloc;
    pawl__engine_init(&rig->engine, alloc, seed);
    pawl__arena_init(&rig->arena, alloc, BYTES_MAX);
    pawl__arena_init(&rig->state_arena, alloc, BYTES_MAX);
    pawl__buf_init(&rig->journal, alloc, BYTES_MAX);
    pawl__buf_init(&rig->lines, alloc, BYTES_MAX);
    rig->graph = NULL;
    rig->burst = NULL;
    rig->state = pawl__json_null();
    rig->seed = 7;
    rig->now = RIG_NOW;
    rig->err = (struct pawl_error)PAWL_ERROR_INIT;
    status = pawl__activities_register(&rig->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&rig->engine);
    if (status != PAWL_OK)
        rig_release(rig);
    return status;
}

void rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    test_allocator_init(&rig->own);
    assert_code(rig_init_over(rig, &rig->own.base), PAWL_OK);
}

void rig_release(struct rig *rig)
{
    rig_close(rig);
    pawl__graph_unref(rig->graph);
    rig->graph = NULL;
    pawl__engine_release(&rig->engine);
    pawl__arena_release(&rig->arena);
    pawl__arena_release(&rig->state_arena);
    pawl__buf_release(&rig->journal);
    pawl__buf_release(&rig->lines);
    if (rig->alloc == &rig->own.base)
        assert_int_equal(rig->own.live_count, 0);
}

int rig_parse(struct rig *rig, struct pawl_str text, struct pawl_json *out)
{
    struct pawl_str copy = pawl__arena_str(&rig->arena, text);
    char *quote;

    if (!copy.ptr)
        return rig->arena.status;
    quote = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; i < copy.len; i++) {
        if (quote[i] == '\'')
            quote[i] = '"';
    }
    return pawl__json_parse(&rig->arena, copy, &limits, out, NULL, &rig->err);
}

void rig_forget(struct rig *rig)
{
    rig_close(rig);
    pawl__arena_release(&rig->state_arena);
    rig->state = pawl__json_null();
    pawl__buf_clear(&rig->journal);
    pawl__buf_clear(&rig->lines);
}

int rig_try_load(struct rig *rig, struct pawl_str text)
{
    struct pawl_json definition;
    int status = rig_parse(rig, text, &definition);

    rig_forget(rig);
    pawl__graph_unref(rig->graph);
    rig->graph = NULL;
    if (status == PAWL_OK)
        status = pawl__graph_load(&rig->engine, rig->alloc, &definition, NULL, NULL, NULL,
                                  &rig->graph, &rig->err);
    return status;
}

void rig_load(struct rig *rig, const char *text)
{
    assert_ok(rig_try_load(rig, pawl__str(text)), &rig->err);
}

/* ---- bursts ------------------------------------------------------------------------------ */

int rig_open(struct rig *rig, const struct pawl_event *event)
{
    struct pawl_event stamped = *event;

    stamped.now = rig->now;
    stamped.seed = rig->seed++;
    if (stamped.instance_id.len == 0)
        stamped.instance_id = pawl__str("i1");
    return pawl__burst_open(rig->graph, rig->alloc,
                            rig->state.type == PAWL_JSON_NULL ? NULL : &rig->state, &stamped,
                            &rig->burst, &rig->err);
}

void rig_close(struct rig *rig)
{
    pawl__burst_close(rig->burst);
    rig->burst = NULL;
}

static int store(struct rig *rig, bool internal)
{
    struct pawl_arena fresh, scratch;
    struct pawl_json state;
    struct pawl_buf text;
    int status;

    pawl__arena_init(&fresh, rig->alloc, BYTES_MAX);
    pawl__arena_init(&scratch, rig->alloc, BYTES_MAX);
    pawl__buf_init(&text, rig->alloc, BYTES_MAX);
    status = pawl__burst_state(rig->burst, &scratch, internal, &state);
    if (status == PAWL_OK)
        pawl__json_write(&text, &state, PAWL_JSON_ESCAPE_MINIMAL);
    if (status == PAWL_OK)
        status = text.status;
    if (status == PAWL_OK)
        status = pawl__json_parse(&fresh, pawl__buf_peek(&text), &limits, &state, NULL, &rig->err);
    if (status == PAWL_OK) {
        pawl__arena_release(&rig->state_arena);
        rig->state_arena = fresh;
        rig->state = state;
    } else {
        pawl__arena_release(&fresh);
    }
    pawl__buf_release(&text);
    pawl__arena_release(&scratch);
    return status;
}

static int collect(struct rig *rig, const struct pawl_batch *batch)
{
    for (uint32_t i = 0; i < batch->log_count; i++)
        pawl__buf_printf(&rig->journal, "%.*s %.*s\n", PAWL_STR_ARG(batch->log[i].activity_id),
                         PAWL_STR_ARG(batch->log[i].event));
    for (uint32_t i = 0; i < batch->effect_count; i++) {
        struct pawl_str text = pawl__json_str(pawl__json_get_text(&batch->effects[i].data, "text"));

        if (batch->effects[i].kind == PAWL_EFFECT_CONSOLE)
            pawl__buf_printf(&rig->lines, "%.*s\n", PAWL_STR_ARG(text));
    }
    rig->record_count = batch->record_count;
    return rig->journal.status != PAWL_OK ? rig->journal.status : rig->lines.status;
}

int rig_try_step(struct rig *rig, enum pawl_step *step)
{
    struct pawl_batch batch;
    int status = pawl__burst_step(rig->burst, step, &rig->err);

    if (status != PAWL_OK)
        return status;
    pawl__burst_batch(rig->burst, &batch);
    status = collect(rig, &batch);
    if (status == PAWL_OK)
        status = store(rig, *step != PAWL_STEP_IDLE && *step != PAWL_STEP_DONE);
    return status;
}

enum pawl_step rig_step(struct rig *rig)
{
    enum pawl_step step = PAWL_STEP_DONE;

    assert_ok(rig_try_step(rig, &step), &rig->err);
    return step;
}

int rig_try_finish(struct rig *rig, enum pawl_step *last)
{
    int status;

    do
        status = rig_try_step(rig, last);
    while (status == PAWL_OK && (*last == PAWL_STEP_COMMIT || *last == PAWL_STEP_YIELD));
    rig_close(rig);
    return status;
}

enum pawl_step rig_finish(struct rig *rig)
{
    enum pawl_step last = PAWL_STEP_DONE;

    assert_ok(rig_try_finish(rig, &last), &rig->err);
    return last;
}

static enum pawl_step open_and_finish(struct rig *rig, const struct pawl_event *event)
{
    assert_ok(rig_open(rig, event), &rig->err);
    return rig_finish(rig);
}

enum pawl_step rig_run(struct rig *rig)
{
    return open_and_finish(rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN});
}

enum pawl_step rig_resume(struct rig *rig, const char *activity_id)
{
    struct pawl_str id = rig_bookmark(rig, activity_id);

    if (id.len == 0)
        fail_msg("%s has no bookmark", activity_id);
    return open_and_finish(rig, &(struct pawl_event){.kind = PAWL_EVENT_RESUME, .bookmark_id = id});
}

enum pawl_step rig_cancel(struct rig *rig)
{
    return open_and_finish(rig, &(struct pawl_event){.kind = PAWL_EVENT_CANCEL});
}

/* ---- looking at the state ----------------------------------------------------------------- */

struct pawl_str rig_export(struct rig *rig)
{
    struct pawl_json state;
    struct pawl_buf text;
    struct pawl_str copy;

    pawl__buf_init(&text, rig->alloc, BYTES_MAX);
    assert_ok(pawl__burst_state(rig->burst, &rig->arena, false, &state), NULL);
    pawl__json_write(&text, &state, PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(text.status, PAWL_OK);
    copy = pawl__arena_str(&rig->arena, pawl__buf_peek(&text));
    pawl__buf_release(&text);
    assert_non_null(copy.ptr);
    return copy;
}

const struct pawl_json *rig_at(const struct rig *rig, const char *path)
{
    const struct pawl_json *at = &rig->state;

    while (at && *path) {
        size_t len = strcspn(path, "/");
        struct pawl_str key = pawl__str_make(path, len);

        at = pawl__json_is(at, PAWL_JSON_ARRAY)
                 ? pawl__json_at(at, (uint32_t)strtoul(path, NULL, 10))
                 : pawl__json_get(at, key);
        path += len + (path[len] == '/');
    }
    return at;
}

struct pawl_str rig_bookmark(const struct rig *rig, const char *activity_id)
{
    const struct pawl_json *all = rig_at(rig, "bookmarks");

    for (uint32_t i = 0; i < pawl__json_len(all); i++) {
        const struct pawl_json *one = pawl__json_at(all, i);

        if (pawl__str_is(pawl__json_str(pawl__json_get_text(one, "activityId")), activity_id))
            return pawl__json_str(pawl__json_get_text(one, "id"));
    }
    return pawl__str("");
}

const struct pawl_json *rig_context(const struct rig *rig, const char *activity_id)
{
    const struct pawl_json *all = rig_at(rig, "activityExecutionContexts");

    for (uint32_t i = 0; i < pawl__json_len(all); i++) {
        const struct pawl_json *one = pawl__json_at(all, i);
        const struct pawl_node *node = pawl__graph_node(
            rig->graph, pawl__json_str(pawl__json_get_text(one, "scheduledActivityNodeId")));

        if (node && pawl__str_is(node->id, activity_id))
            return one;
    }
    return NULL;
}
