/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charts of tests are written as text: "a>b b>c c:Yes>b". Each letter is an activity; the start is
 * a. A port stands behind a colon. The key of a connection is its text.
 */
#ifndef PAWL_TESTS_UNIT_ACTIVITIES_CHART_H
#define PAWL_TESTS_UNIT_ACTIVITIES_CHART_H

#include "activities/flow_scope.h"
#include "lib/test.h"

struct chart {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_flow_connection connections[64];
    uint32_t count;
    struct pawl_flow_graph graph;
    struct pawl_str ids[26];
    struct pawl_flow_name id_names[26];
    struct pawl_flow_name key_names[64];
    struct pawl_flow_names id_list;
    struct pawl_flow_names key_list;
};

static inline void chart_name(struct chart *chart)
{
    for (uint32_t i = 0; i < chart->graph.activity_count; i++) {
        char letter = (char)('a' + i);

        chart->ids[i] = pawl__arena_str(&chart->arena, pawl__str_make(&letter, 1));
        chart->id_names[i] = (struct pawl_flow_name){chart->ids[i], i};
    }
    for (uint32_t i = 0; i < chart->count; i++) {
        chart->connections[i].key = pawl__arena_str(&chart->arena, chart->connections[i].key);
        chart->key_names[i] = (struct pawl_flow_name){chart->connections[i].key, i};
    }
    chart->id_list = (struct pawl_flow_names){chart->id_names, chart->graph.activity_count};
    chart->key_list = (struct pawl_flow_names){chart->key_names, chart->count};
    pawl__flow_names_sort(&chart->id_list);
    pawl__flow_names_sort(&chart->key_list);
}

static inline void chart_parse(struct chart *chart, const char *text)
{
    uint32_t activities = 1;

    chart->count = 0;
    while (*text) {
        struct pawl_flow_connection *c = &chart->connections[chart->count++];
        const char *key = text;
        size_t port = 0;

        *c = (struct pawl_flow_connection){.source = (uint32_t)(*text++ - 'a')};
        if (*text == ':') {
            port = strcspn(++text, ">");
            c->source_port = pawl__str_make(text, port);
            text += port;
        }
        text++;
        c->target = (uint32_t)(*text++ - 'a');
        c->key = pawl__str_make(key, (size_t)(text - key));
        activities = c->source >= activities ? c->source + 1 : activities;
        activities = c->target >= activities ? c->target + 1 : activities;
        while (*text == ' ')
            text++;
    }
    assert_code(pawl__flow_graph_build(&chart->arena, chart->connections, chart->count, activities,
                                       0, &chart->graph),
                PAWL_OK);
    chart_name(chart);
}

static inline void chart_init(struct chart *chart, const char *text)
{
    test_allocator_init(&chart->alloc);
    pawl__arena_init(&chart->arena, &chart->alloc.base, 1 << 20);
    chart_parse(chart, text);
}

static inline void chart_release(struct chart *chart)
{
    pawl__arena_release(&chart->arena);
    assert_int_equal(chart->alloc.live_bytes, 0);
}

#endif
