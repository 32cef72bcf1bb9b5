/* SPDX-License-Identifier: Apache-2.0 */
/* Two databases with a node on each, a clock that the test moves, and what tests do with them. */
#ifndef PAWL_TESTS_UNIT_RUNTIME_PLACES_H
#define PAWL_TESTS_UNIT_RUNTIME_PLACES_H

#include "runtime/runtime.h"

#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */

/* A database with one node on it. */
struct place {
    struct pawl_memory_database *database;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
};

struct fixture {
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct place here, there;
    struct pawl_arena arena;
    struct pawl_error err;
    char lines[4096];
};

static inline int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    (void)instance_id;
    snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
    return PAWL_OK;
}

static inline int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static inline void place_open(struct fixture *f, struct place *place)
{
    struct pawl_runtime_options options = {.node_id = pawl__str("a"),
                                           .hooks = {.line = on_line, .ctx = f}};

    assert_ok(pawl__memory_database_new(f->env, &place->database, &f->err), &f->err);
    assert_ok(pawl__memory_store_open(place->database, f->env, &place->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, place->store, &options, &place->runtime, &f->err),
        &f->err);
}

static inline void place_close(struct place *place)
{
    pawl__runtime_close(place->runtime);
    pawl_store_close(place->store);
    pawl__memory_database_free(place->database);
}

static inline int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    place_open(f, &f->here);
    place_open(f, &f->there);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    place_close(&f->there);
    place_close(&f->here);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    test_clock_close(f->clock);
    free(f);
    return 0;
}

/* ---- what all of them do ------------------------------------------------------------------- */

/* JSON written with ' in place of ". */
static inline struct pawl_json json(struct fixture *f, const char *text)
{
    struct pawl_str copy = pawl__arena_str(&f->arena, pawl__str(text));
    struct pawl_json value;

    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    assert_ok(pawl__json_parse(&f->arena, copy, NULL, &value, NULL, &f->err), &f->err);
    return value;
}

static inline void publish_json(struct fixture *f, struct place *place,
                                const struct pawl_json *definition)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(place->runtime);
    struct pawl_publication said;
    struct pawl_definition_row row;

    assert_ok(pawl__definitions_import(definitions, definition, &f->arena, &row, later(f), &f->err),
              &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static inline void publish(struct fixture *f, struct place *place, const char *text)
{
    struct pawl_json definition = json(f, text);

    publish_json(f, place, &definition);
}

static inline void drain(struct fixture *f, struct place *place)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(place->runtime, &worked, later(f), &f->err), &f->err);
}

static inline struct pawl_sent send(struct fixture *f, struct place *place, const char *event)
{
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(place->runtime, pawl__str(event), NULL, NULL, &sent,
                                       later(f), &f->err),
              &f->err);
    return sent;
}

static inline struct pawl_str sub_status(struct fixture *f, struct place *place, struct pawl_str id)
{
    struct pawl_instance_row row;

    assert_ok(pawl__runtime_show(place->runtime, id, &f->arena, &row, NULL, later(f), &f->err),
              &f->err);
    return row.sub_status;
}

static inline struct pawl_json exported(struct fixture *f, struct place *place, struct pawl_str id)
{
    struct pawl_json out;

    assert_ok(pawl__runtime_export(place->runtime, id, &f->arena, &out, later(f), &f->err),
              &f->err);
    return out;
}

/* As a file has it. */
static inline struct pawl_str text_of(struct fixture *f, const struct pawl_json *value)
{
    struct pawl_str text;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &f->env->alloc, (size_t)1 << 20);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(buf.status, PAWL_OK);
    text = pawl__arena_str(&f->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    return text;
}

static inline void take_over(struct fixture *f, struct place *place, struct pawl_str text)
{
    struct pawl_json value;

    assert_ok(pawl__json_parse(&f->arena, text, NULL, &value, NULL, &f->err), &f->err);
    assert_ok(pawl__runtime_import(place->runtime, &value, NULL, later(f), &f->err), &f->err);
}

#endif
