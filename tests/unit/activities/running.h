/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one activity (or a tree of them) on the real engine and shows what it asks of the outside:
 * effects, what it waits for, what is stored.
 */
#ifndef PAWL_TESTS_UNIT_ACTIVITIES_RUNNING_H
#define PAWL_TESTS_UNIT_ACTIVITIES_RUNNING_H

#include "activities/activities.h"
#include "engine/run/burst.h"
#include "expressions/expressions.h"
#include "lib/test.h"

#define RUNNING_NOW INT64_C(638000000000000000) /* 2022-09-27T14:13:20Z */

struct running {
    struct test_allocator alloc;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_graph *graph;
    struct pawl_burst *burst; /* open while an effect is awaited */
    struct pawl_json state;   /* null: not started */
    struct pawl_json effects; /* of the last call: array of data objects */
    struct pawl_json awaited; /* data; null: none */
    struct pawl_buf text;
    uint64_t seed;
    struct pawl_error err;
};

static inline int running_init(struct running *running, const struct test_allocator *alloc)
{
    struct pawl_hash_seed seed = {0};
    int status;

    *running = (struct running){.seed = 1};
    if (alloc)
        running->alloc = *alloc;
    else
        test_allocator_init(&running->alloc);
    running->alloc.base.ctx = &running->alloc;
    pawl__arena_init(&running->arena, &running->alloc.base, (size_t)1 << 30);
    pawl__buf_init(&running->text, &running->alloc.base, (size_t)1 << 24);
    pawl__engine_init(&running->engine, &running->alloc.base, seed);
    status = pawl__activities_register(&running->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&running->engine);
    return status;
}

static inline void running_release(struct running *running)
{
    pawl__burst_close(running->burst);
    pawl__graph_unref(running->graph);
    pawl__engine_release(&running->engine);
    pawl__buf_release(&running->text);
    pawl__arena_release(&running->arena);
}

/* Parses JSON text written with ' for ". */
static inline int running_parse(struct running *running, const char *text, struct pawl_json *out)
{
    struct pawl_str copy = pawl__arena_str(&running->arena, pawl__str(text));

    if (!copy.ptr)
        return running->arena.status;
    for (char *c = (char *)(uintptr_t)copy.ptr; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    return pawl__json_parse(&running->arena, copy, NULL, out, NULL, &running->err);
}

/* Loads a definition with this root and these further members. */
static inline int running_load(struct running *running, const char *root, const char *members)
{
    struct pawl_json definition;
    const char *text = pawl__arena_printf(
        &running->arena, "{'definitionId':'d','id':'d1','name':'D',%s'root':%s}", members, root);
    int status;

    if (!text)
        return running->arena.status;
    status = running_parse(running, text, &definition);
    if (status != PAWL_OK)
        return status;
    pawl__graph_unref(running->graph);
    running->graph = NULL;
    running->state = pawl__json_null();
    return pawl__graph_load(&running->engine, &running->alloc.base, &definition, NULL, NULL, NULL,
                            &running->graph, &running->err);
}

static inline int running_keep(struct running *running, const struct pawl_json *value,
                               struct pawl_json *out)
{
    return pawl__json_copy(&running->arena, value, out);
}

static inline int running_note(struct running *running, const struct pawl_batch *batch)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < batch->effect_count && status == PAWL_OK; i++) {
        struct pawl_json data;

        status = running_keep(running, &batch->effects[i].data, &data);
        if (status == PAWL_OK)
            status = pawl__json_append(&running->arena, &running->effects, data);
    }
    return status;
}

/* Steps until nothing is left to do or something is awaited. */
static inline int running_step(struct running *running)
{
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_json state;
    int status = PAWL_OK;

    running->awaited = pawl__json_null();
    while (step != PAWL_STEP_IDLE && step != PAWL_STEP_DONE && status == PAWL_OK) {
        struct pawl_batch batch;

        status = pawl__burst_step(running->burst, &step, &running->err);
        if (status != PAWL_OK)
            return status;
        pawl__burst_batch(running->burst, &batch);
        status = running_note(running, &batch);
        if (status == PAWL_OK && step == PAWL_STEP_EFFECT)
            return running_keep(running, &batch.awaited->data, &running->awaited);
    }
    if (status == PAWL_OK)
        status = pawl__burst_state(running->burst, &running->arena, false, &state);
    if (status == PAWL_OK)
        status = running_keep(running, &state, &running->state);
    if (status == PAWL_OK) {
        pawl__burst_close(running->burst);
        running->burst = NULL;
    }
    return status;
}

static inline int running_event(struct running *running, struct pawl_event *event)
{
    bool is_new = running->state.type == PAWL_JSON_NULL;
    int status;

    event->now = RUNNING_NOW;
    event->seed = running->seed++;
    running->effects = pawl__json_array();
    status = pawl__burst_open(running->graph, &running->alloc.base, is_new ? NULL : &running->state,
                              event, &running->burst, &running->err);
    return status == PAWL_OK ? running_step(running) : status;
}

static inline int running_start(struct running *running)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .instance_id = pawl__str("parent")};

    return running_event(running, &event);
}

/* Gives the result of what is awaited and goes on. */
static inline int running_feed(struct running *running, const char *result)
{
    struct pawl_json fed;
    int status = running_parse(running, result, &fed);

    running->effects = pawl__json_array();
    if (status == PAWL_OK)
        status = pawl__burst_feed(running->burst, &fed, RUNNING_NOW);
    return status == PAWL_OK ? running_step(running) : status;
}

/* Resumes the first bookmark of the stored state. */
static inline int running_resume(struct running *running, const char *input)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RESUME};
    int status = running_parse(running, input, &event.input);

    event.bookmark_id =
        pawl__json_str(pawl__json_find(&running->state, pawl__str("/bookmarks/0/id")));
    return status == PAWL_OK ? running_event(running, &event) : status;
}

static inline void running_begin(struct running *running, const char *root, const char *members)
{
    assert_code(running_init(running, NULL), PAWL_OK);
    assert_ok(running_load(running, root, members), &running->err);
    assert_ok(running_start(running), &running->err);
}

static inline void running_end(struct running *running)
{
    running_release(running);
    assert_int_equal(running->alloc.live_count, 0);
}

/* JSON as text with ' for "; valid until the next call. */
static inline const char *running_text(struct running *running, const struct pawl_json *value)
{
    pawl__buf_clear(&running->text);
    pawl__json_write(&running->text, value ? value : &(struct pawl_json){.type = PAWL_JSON_NULL},
                     PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(running->text.status, PAWL_OK);
    for (size_t i = 0; i < running->text.len; i++) {
        if (running->text.ptr[i] == '"')
            running->text.ptr[i] = '\'';
    }
    return pawl__buf_cstr(&running->text);
}

static inline const char *running_sub_status(const struct running *running)
{
    return pawl__json_str(pawl__json_get_text(&running->state, "subStatus")).ptr;
}

static inline const struct pawl_json *running_find(const struct running *running,
                                                   const char *pointer)
{
    return pawl__json_find(&running->state, pawl__str(pointer));
}

/* A property of the context of an activity, by its id. */
static inline struct pawl_json *running_property(const struct running *running, const char *id,
                                                 const char *key)
{
    const struct pawl_json *contexts =
        pawl__json_get_text(&running->state, "activityExecutionContexts");

    for (uint32_t i = 0; i < pawl__json_len(contexts); i++) {
        const struct pawl_json *context = pawl__json_at(contexts, i);
        struct pawl_str node =
            pawl__json_str(pawl__json_get_text(context, "scheduledActivityNodeId"));

        if (pawl__str_ends(node, pawl__str(id)))
            return pawl__json_get_text(pawl__json_get_text(context, "properties"), key);
    }
    return NULL;
}

#endif
