/* SPDX-License-Identifier: Apache-2.0 */
/* Renders templates over a fixed set of variables. */
#ifndef PAWL_TESTS_UNIT_EXPRESSIONS_LIQUID_RENDER_H
#define PAWL_TESTS_UNIT_EXPRESSIONS_LIQUID_RENDER_H

#include "expressions/liquid/liquid.h"
#include "lib/test.h"

#include <stdio.h>

/* 2026-01-02T03:04:05Z */
#define NOW_TICKS INT64_C(639029198450000000)

struct example {
    const char *text;
    const char *expected; /* what it renders to; with `raises` the type of the exception */
};

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf out;
    struct pawl_exception raised;
};

static const struct {
    const char *name;
    const struct pawl_type *type; /* NULL: as plain JSON */
    const char *json;
} fixture_variables[] = {
    {"Name", NULL, "\"Hello World\""},
    {"Count", NULL, "7"},
    {"Ratio", &pawl__type_double, "0.25"},
    {"Exact", &pawl__type_decimal, "1.10"},
    {"Huge", &pawl__type_double, "1e300"},
    {"Flag", NULL, "true"},
    {"Off", NULL, "false"},
    {"None", NULL, "null"},
    {"Nums", NULL, "[3,1,2]"},
    {"Words", NULL, "[\"b\",\"a\",\"C\"]"},
    {"Items", NULL, "[{\"a\":2,\"b\":\"q\"},{\"a\":1,\"b\":\"p\"},{\"b\":\"r\"}]"},
    {"Item", NULL, "{\"name\":\"Pen\",\"price\":12.5,\"tags\":[\"x\",\"y\"],\"deep\":{\"k\":1}}"},
    {"Empty", NULL, "[]"},
    {"When", &pawl__type_datetime, "\"2024-02-29T12:00:00Z\""},
    {"Offset", &pawl__type_datetimeoffset, "\"2024-02-29T12:30:15.1234567+02:00\""},
    {"Span", &pawl__type_timespan, "\"00:05:00\""},
    {"Bytes", &pawl__type_bytes, "\"AQI=\""},
    {"Node", &pawl__type_json_node, "{\"n\":5,\"s\":\"t\",\"l\":[1,true]}"},
};

static inline bool fixture_variable(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    struct fixture *fixture = ctx;

    for (size_t i = 0; i < sizeof fixture_variables / sizeof *fixture_variables; i++) {
        if (!pawl__str_is(name, fixture_variables[i].name))
            continue;
        if (pawl__json_parse(&fixture->arena, pawl__str(fixture_variables[i].json), NULL,
                             &out->json, NULL, NULL) != PAWL_OK)
            return false;
        out->type = fixture_variables[i].type;
        return true;
    }
    return false;
}

static inline bool fixture_root(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    (void)ctx;
    if (!pawl__str_is(name, "CorrelationId"))
        return false;
    *out = pawl__value_string(pawl__str("order-1"));
    return true;
}

static inline int fixture_timezone(const struct pawl_allocator *alloc, struct pawl_str name,
                                   struct pawl_timezone **out, struct pawl_error *err)
{
    if (pawl__str_is(name, "Europe/Berlin"))
        return pawl__timezone_new_posix(alloc, pawl__str("CET-1CEST,M3.5.0,M10.5.0/3"), out, err);
    if (!pawl__str_is(name, "Broken/Zone"))
        return PAWL_ENOTFOUND;
    (void)snprintf(err->msg, sizeof err->msg, "there is no time zone database");
    return err->code = PAWL_EMISSING;
}

static inline int fixture_render(struct fixture *fixture, struct pawl_str text)
{
    struct pawl_liquid_scope scope = {.variable = fixture_variable,
                                      .root = fixture_root,
                                      .ctx = fixture,
                                      .now_ticks = NOW_TICKS,
                                      .timezone = fixture_timezone};

    return pawl__liquid_render(&fixture->arena, text, &scope, &fixture->out, &fixture->raised);
}

static inline void fixture_open(struct fixture *fixture)
{
    test_allocator_init(&fixture->alloc);
    pawl__arena_init(&fixture->arena, &fixture->alloc.base, LIQUID_ARENA_BYTES_MAX);
    pawl__buf_init(&fixture->out, &fixture->alloc.base, LIQUID_OUTPUT_BYTES_MAX);
}

static inline void fixture_close(struct fixture *fixture)
{
    pawl__buf_release(&fixture->out);
    pawl__arena_release(&fixture->arena);
    assert_int_equal(fixture->alloc.live_count, 0);
}

static inline void assert_renders_at(const struct example *examples, size_t count, const char *file,
                                     int line)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture;
        int status;

        fixture_open(&fixture);
        status = fixture_render(&fixture, pawl__str(examples[i].text));
        if (status == ENGINE_RAISED)
            print_error("%s: raised %.*s\n", examples[i].text,
                        PAWL_STR_ARG(fixture.raised.message));
        if (strcmp(pawl__buf_cstr(&fixture.out), examples[i].expected) != 0)
            print_error("in %s\n", examples[i].text);
        test_assert_code(status, PAWL_OK, examples[i].text, file, line);
        test_assert_str(pawl__buf_peek(&fixture.out), examples[i].expected, file, line);
        fixture_close(&fixture);
    }
}

static inline void assert_raises_at(const struct example *examples, size_t count, const char *file,
                                    int line)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture;

        fixture_open(&fixture);
        test_assert_code(fixture_render(&fixture, pawl__str(examples[i].text)), ENGINE_RAISED,
                         examples[i].text, file, line);
        if (!strstr(fixture.raised.message.ptr, examples[i].expected) &&
            !pawl__str_is(fixture.raised.type, examples[i].expected))
            test_assert_str(fixture.raised.message, examples[i].expected, file, line);
        fixture_close(&fixture);
    }
}

#define assert_renders(examples)                                                                   \
    assert_renders_at((examples), sizeof(examples) / sizeof *(examples), __FILE__, __LINE__)
/* Each raises; `expected` is the exception's type or a part of its message. */
#define assert_raises(examples)                                                                    \
    assert_raises_at((examples), sizeof(examples) / sizeof *(examples), __FILE__, __LINE__)

#endif
