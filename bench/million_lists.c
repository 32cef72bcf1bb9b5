/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists beside a great many instances: the first page and the total of every order and filter that
 * the HTTP API has, as a page of Studio asks for them. Each is asked once before it is timed, and
 * then a few times, of which the least counts, as of the other times here. A "+" behind the total
 * says that the store stopped looking and said so.
 */
#include "million_lists.h"

#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE 25u
#define TIMES 7u
#define MS_MAX 50.0
#define CONDITIONS_MAX 5

struct filter {
    const char *column;
    enum pawl_compare compare;
    const char *text; /* NULL: a number */
    int64_t number;
    bool any;
};

struct list {
    const char *name;
    const char *order; /* NULL: created_us */
    bool up;
    struct filter filters[CONDITIONS_MAX + 1];
};

#define OWN                                                                                        \
    {                                                                                              \
        "is_system", PAWL_EQ, NULL, 0, false                                                       \
    }
#define TEXT(column, value)                                                                        \
    {                                                                                              \
        column, PAWL_EQ, value, 0, false                                                           \
    }
#define SEARCH(text)                                                                               \
    {"name", PAWL_CONTAINS, text, 0, true}, {"id", PAWL_CONTAINS, text, 0, true},                  \
        {"definition_id", PAWL_CONTAINS, text, 0, true},                                           \
        {"version_id", PAWL_CONTAINS, text, 0, true},                                              \
    {                                                                                              \
        "correlation_id", PAWL_CONTAINS, text, 0, true                                             \
    }

static const struct list lists[] = {
    {"newest", NULL, false, {OWN}},
    {"oldest", NULL, true, {OWN}},
    {"last changed", "updated_us", false, {OWN}},
    {"last ended", "finished_us", false, {OWN}},
    {"by end, ascending", "finished_us", true, {OWN}},
    {"by name", "name", true, {OWN}},
    {"by name, descending", "name", false, {OWN}},
    {"running", NULL, false, {TEXT("status", "Running"), OWN}},
    {"ended", NULL, false, {TEXT("status", "Finished"), OWN}},
    {"suspended", NULL, false, {TEXT("sub_status", "Suspended"), OWN}},
    {"faulted", NULL, false, {TEXT("sub_status", "Faulted"), OWN}},
    {"finished", NULL, false, {TEXT("status", "Finished"), TEXT("sub_status", "Finished"), OWN}},
    {"cancelled: none", NULL, false, {TEXT("sub_status", "Cancelled"), OWN}},
    {"of a definition", NULL, false, {TEXT("definition_id", "event"), OWN}},
    {"of a definition, by name", "name", true, {TEXT("definition_id", "event"), OWN}},
    {"of a definition, running",
     NULL,
     false,
     {TEXT("definition_id", "event"), TEXT("status", "Running"), OWN}},
    {"of no definition", NULL, false, {TEXT("definition_id", "none"), OWN}},
    {"of a version, running",
     NULL,
     false,
     {TEXT("version_id", "event:1"), TEXT("status", "Running"), OWN}},
    {"of a version", NULL, false, {TEXT("version_id", "delay:1"), OWN}},
    {"of version 1", NULL, false, {{"version", PAWL_EQ, NULL, 1, false}, OWN}},
    {"of version 9: none", NULL, false, {{"version", PAWL_EQ, NULL, 9, false}, OWN}},
    {"of a correlation id", NULL, false, {TEXT("correlation_id", "order-000000042"), OWN}},
    {"with incidents", NULL, false, {{"incident_count", PAWL_NE, NULL, 0, false}, OWN}},
    {"without incidents", NULL, false, {{"incident_count", PAWL_EQ, NULL, 0, false}, OWN}},
    {"the system's own", NULL, false, {{"is_system", PAWL_NE, NULL, 0, false}}},
    {"of a name", NULL, false, {TEXT("name", "order 49"), OWN}},
    {"created since", NULL, false, {{"created_us", PAWL_GT, NULL, 1000000, false}, OWN}},
    {"ended since",
     "finished_us",
     false,
     {{"finished_us", PAWL_GT, NULL, 1000000, false},
      {"finished_us", PAWL_NE, NULL, 0, false},
      OWN}},
    {"set aside: none", NULL, false, {{"retry_us", PAWL_GT, NULL, 0, false}}},
    {"search, many found", NULL, false, {SEARCH("event")}},
    {"search, nothing found", NULL, false, {SEARCH("no such text")}},
    {"an id", NULL, false, {TEXT("id", "01900000003170008000000000000031")}},
    {"an execution's hash: none", NULL, false, {{"id_hash", PAWL_EQ, NULL, 77, false}}},
};

bool lists_mix(struct pawl_instance_row *row, unsigned number)
{
    row->created_us += (int64_t)number * 1000;
    row->updated_us += (int64_t)number * 1000;
    if (number % 2 == 0)
        return true;
    row->is_system = number % 64 == 3;
    row->incident_count = number % 32 == 15;
    if (number % 8 != 7)
        return true;
    row->status = pawl__str("Finished");
    row->sub_status = pawl__str(number % 32 == 15 ? "Faulted" : "Finished");
    row->finished_us = row->updated_us + number % 1000;
    return false;
}

static unsigned make_conditions(const struct list *list, struct pawl_condition *out)
{
    unsigned count = 0;

    for (; count <= CONDITIONS_MAX && list->filters[count].column; count++) {
        const struct filter *f = &list->filters[count];

        out[count] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_INSTANCES, f->column),
            .compare = f->compare,
            .any = f->any ? 1 : 0,
            .value = {.text = pawl__str(f->text ? f->text : ""), .integer = f->number}};
    }
    return count;
}

static void ask(struct pawl_env *env, struct pawl_store *store, const struct pawl_query *query,
                struct pawl_rows *rows, double *ms)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    double begin = bench_seconds();

    pawl__arena_init(&arena, &env->alloc, (size_t)64 << 20);
    bench_need(pawl_store_find(store, query, &arena, rows, bench_later(env), &err), &err, "find");
    *ms = (bench_seconds() - begin) * 1e3;
    pawl__arena_release(&arena);
}

static double least_of(const double *times)
{
    double least = times[0];

    for (unsigned i = 1; i < TIMES; i++)
        least = times[i] < least ? times[i] : least;
    return least;
}

static bool measure(struct pawl_env *env, struct pawl_store *store, const struct list *list)
{
    struct pawl_condition conditions[CONDITIONS_MAX + 1];
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES,
        .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_TOTAL | (list->up ? 0 : PAWL_QUERY_DESCENDING),
        .conditions = conditions,
        .condition_count = make_conditions(list, conditions),
        .order = pawl_table_column(PAWL_TABLE_INSTANCES, list->order ? list->order : "created_us"),
        .limit = PAGE,
        .scan_limit = PAWL_STORE_SCAN_DEFAULT};
    struct pawl_rows rows;
    double times[TIMES], first, least, cpu;

    ask(env, store, &query, &rows, &first);
    cpu = bench_cpu_seconds();
    for (unsigned i = 0; i < TIMES; i++)
        ask(env, store, &query, &rows, &times[i]);
    cpu = (bench_cpu_seconds() - cpu) * 1e3 / TIMES;
    least = least_of(times);
    (void)printf("    %-28s %7.1f %7.1f %7.1f %7.1f ms  %3zu of %" PRIu64 "%s%s\n", list->name,
                 least, bench_median(times, TIMES), first, cpu, rows.count, rows.total,
                 rows.cut ? "+" : "", least <= MS_MAX ? "" : "  MISSED");
    return least <= MS_MAX;
}

bool lists_measure(struct pawl_env *env, struct pawl_store *store)
{
    bool met = true;

    (void)printf(
        "  lists: the first page of %u and the total: least and middle of %u, the first, our "
        "processor\n",
        PAGE, TIMES);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        met &= measure(env, store, &lists[i]);
    (void)printf("  every list within %.0f ms: %s\n", MS_MAX, met ? "met" : "MISSED");
    return met;
}
