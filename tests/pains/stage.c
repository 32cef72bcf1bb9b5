/* SPDX-License-Identifier: Apache-2.0 */
/* A node on a store, see stage.h. */
#include "pains/stage.h"

#include "activities/activities.h"
#include "base/error.h"
#include "expressions/expressions.h"

#include <stdlib.h>

/* Between looks when nothing is due yet. */
#define LOOK_NS INT64_C(20000000)
#define PATIENCE_NS ((int64_t)stage_size(60, 3600) * SECOND)
#define ARENA_BYTES_MAX ((size_t)1 << 30)

static int open_inner(struct stage *s, const struct stage_options *options)
{
    const struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE, .connections = 4};
    const char *uri = options->uri;

    if (options->database)
        return pawl__memory_store_open(options->database, s->env, &s->store, &s->err);
    if (!uri)
        return pawl__memory_store_new(s->env, &s->store, &s->err);
    if (strncmp(uri, "sqlite:", 7) == 0)
        return pawl__sqlite_store_open(s->env, pawl__str(uri + 7), &create, &s->store, &s->err);
    return pawl__postgres_store_open(s->env, pawl__str(uri), &create, &s->store, &s->err);
}

static int open_store(struct stage *s, const struct stage_options *options)
{
    int status = open_inner(s, options);

    if (status == PAWL_OK && options->faults.decide)
        status = pawl__fault_store_new(s->env, s->store, &options->faults, &s->store, &s->err);
    if (status == PAWL_OK && options->trace)
        status = pawl__trace_store_new(s->env, s->store, &s->store, &s->err);
    return status;
}

int stage_try_open(struct stage *stage, const struct stage_options *options)
{
    struct stage *s = stage;
    const struct pawl_runtime_options runtime = {
        .node_id = pawl__str(options->node ? options->node : "a"),
        .lease_us = options->lease_us,
        .hooks = options->hooks,
    };
    int status = PAWL_OK;

    *s = (struct stage){.env = options->env, .owns_env = !options->env};
    if (s->owns_env)
        status = pawl_system_env_open(&s->env, &s->err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&s->arena, &s->env->alloc, ARENA_BYTES_MAX);
    pawl__engine_init(&s->engine, &s->env->alloc, (struct pawl_hash_seed){1, 2});
    if (options->yield_after > 0)
        s->engine.yield_after = options->yield_after;
    status = pawl__activities_register(&s->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&s->engine);
    if (status == PAWL_OK)
        status = open_store(s, options);
    if (status == PAWL_OK)
        status = pawl__runtime_open(s->env, &s->engine, s->store, &runtime, &s->runtime, &s->err);
    return status;
}

void stage_open(struct stage *stage, const struct stage_options *options)
{
    assert_ok(stage_try_open(stage, options), &stage->err);
}

void stage_close(struct stage *stage)
{
    pawl__runtime_close(stage->runtime);
    pawl_store_close(stage->store);
    pawl__engine_release(&stage->engine);
    pawl__arena_release(&stage->arena);
    if (stage->owns_env)
        pawl_system_env_close(stage->env);
}

int64_t stage_later(const struct stage *stage)
{
    return pawl_env_monotonic_ns(stage->env) + 120 * SECOND;
}

unsigned stage_size(unsigned few, unsigned many)
{
    return getenv("PAINS_LONG") ? many : few;
}

struct pawl_json stage_json(struct stage *stage, const char *text)
{
    struct pawl_str copy = pawl__arena_str(&stage->arena, pawl__str(text));
    struct pawl_json value;

    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    assert_ok(pawl__json_parse(&stage->arena, copy, NULL, &value, NULL, &stage->err), &stage->err);
    return value;
}

void stage_publish(struct stage *stage, const char *text)
{
    struct pawl_definitions *all = pawl__runtime_definitions(stage->runtime);
    struct pawl_json definition = stage_json(stage, text);
    struct pawl_publication said;
    struct pawl_definition_row row;

    assert_ok(pawl__definitions_import(all, &definition, &stage->arena, &row, stage_later(stage),
                                       &stage->err),
              &stage->err);
    assert_ok(pawl__definitions_publish(all, row.id, &stage->arena, &said, stage_later(stage),
                                        &stage->err),
              &stage->err);
    assert_true(said.succeeded);
}

void stage_start(struct stage *stage, const char *definition_id, const char *instance_id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id),
                                    .instance_id = pawl__str(instance_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(stage->runtime, &what, &outcome, stage_later(stage), &stage->err),
              &stage->err);
}

int stage_send(struct stage *stage, const char *event, const char *key, struct pawl_sent *sent)
{
    const struct pawl_stimulus stimulus = {.idempotency_key = pawl__str(key ? key : "")};

    return pawl__runtime_send_event(stage->runtime, pawl__str(event), NULL, &stimulus, sent,
                                    stage_later(stage), NULL);
}

void stage_drain(struct stage *stage)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(stage->runtime, &worked, stage_later(stage), &stage->err),
              &stage->err);
}

void stage_show_work(struct stage *stage)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK, .limit = 5};
    const struct pawl_work_row *work;
    struct pawl_store_status now;
    struct pawl_rows rows;

    assert_ok(pawl_store_status(stage->store, &now, stage_later(stage), &stage->err), &stage->err);
    assert_ok(pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage),
                              &stage->err),
              &stage->err);
    work = rows.rows;
    for (size_t i = 0; i < rows.count; i++)
        print_message("# %.*s of '%.*s', owner %lld, attempts %lld, due in %lld us, error '%.*s'\n",
                      PAWL_STR_ARG(work[i].kind), PAWL_STR_ARG(work[i].instance_id),
                      (long long)work[i].owner, (long long)work[i].attempts,
                      (long long)(work[i].due_us - now.now_us), PAWL_STR_ARG(work[i].error));
}

/* In the middle of a burst: somebody has it, or its node is gone and the lease is not over yet. */
static uint64_t count_runnable(struct stage *stage)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "runnable"), .compare = PAWL_NE};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage),
                              &stage->err),
              &stage->err);
    return rows.total;
}

void stage_settle(struct stage *stage, bool work)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(stage->env) + PATIENCE_NS;
    struct pawl_wake wake = {0};

    for (;;) {
        struct pawl_worked worked;
        uint64_t left;

        /* A store that refuses is asked again. */
        if (work)
            (void)!pawl__runtime_drain(stage->runtime, &worked, stage_later(stage), NULL);
        pawl__arena_reset(&stage->arena);
        left = stage_count(stage, PAWL_TABLE_WORK);
        if (left == 0)
            left = count_runnable(stage);
        if (left == 0)
            return;
        if (pawl_env_monotonic_ns(stage->env) > give_up_ns)
            stage_show_work(stage);
        if (pawl_env_monotonic_ns(stage->env) > give_up_ns)
            fail_msg("%llu pieces of work are left", (unsigned long long)left);
        (void)!pawl_store_wait(stage->store, &wake, pawl_env_monotonic_ns(stage->env) + LOOK_NS,
                               NULL);
    }
}

static bool find(struct stage *stage, const char *instance_id, struct pawl_instance_row *row)
{
    int status = pawl__runtime_show(stage->runtime, pawl__str(instance_id), &stage->arena, row,
                                    NULL, stage_later(stage), &stage->err);

    if (status != PAWL_ENOTFOUND)
        assert_ok(status, &stage->err);
    return status == PAWL_OK;
}

const char *stage_sub_status(struct stage *stage, const char *instance_id)
{
    struct pawl_instance_row row;

    return find(stage, instance_id, &row) ? pawl__arena_str(&stage->arena, row.sub_status).ptr
                                          : "gone";
}

const char *stage_name(struct stage *stage, const char *instance_id)
{
    struct pawl_instance_row row;

    return find(stage, instance_id, &row) ? pawl__arena_str(&stage->arena, row.name).ptr : "gone";
}

uint64_t stage_count(struct stage *stage, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage),
                              &stage->err),
              &stage->err);
    return rows.total;
}
