/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of rows of routes; routes.h says which are needed. A bookmark or trigger that is found is
 * none that relied on the row, perhaps, but on one of a later period: the row is kept for longer
 * than needed then, never for less.
 */
#include "runtime/node/routes.h"

#include "base/error.h"
#include "base/http_message.h"
#include "base/json/builder.h"
#include "base/stimuli.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/private.h"

/* Rows that one call looks at: each costs up to three queries. */
#define ROWS_MAX 200u
#define BYTES_MAX ((size_t)64 << 20)

/* What requests may have; a bookmark for another method is never reached. */
static const char *const methods[] = {"get", "post", "put", "delete", "patch", "head", "options"};
#define METHOD_COUNT (sizeof methods / sizeof methods[0])

struct retaining {
    struct pawl_runtime *runtime;
    struct pawl_arena arena;
    struct runtime_changes changes;
    int64_t deadline_ns;
    struct pawl_error *err;
};

static int is_any(struct retaining *r, enum pawl_table table,
                  const struct pawl_condition *conditions, size_t count, bool *any)
{
    const struct pawl_query query = {.table = table,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = count,
                                     .limit = 1};
    struct pawl_rows rows = {0};
    int status =
        pawl_store_find(r->runtime->store, &query, &r->arena, &rows, r->deadline_ns, r->err);

    *any = status == PAWL_OK && rows.count > 0;
    return status;
}

/* Whether a later period has a row of its template. */
static int is_superseded(struct retaining *r, const struct pawl_route_row *row, bool *superseded)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_ROUTES, "path"), .value = {.text = row->path}},
        {.column = pawl_table_column(PAWL_TABLE_ROUTES, "id"),
         .compare = PAWL_GT,
         .value = {.text = row->id}},
    };

    return is_any(r, PAWL_TABLE_ROUTES, conditions, 2, superseded);
}

static int make_hashes(struct retaining *r, struct pawl_str path,
                       struct pawl_datum hashes[METHOD_COUNT])
{
    struct pawl_builder b = {.arena = &r->arena};

    for (size_t i = 0; i < METHOD_COUNT; i++) {
        struct pawl_json stimulus = pawl__http_stimulus(&b, path, pawl__str(methods[i]));
        char hash[PAWL_SHA256_TEXT_SIZE];

        pawl__http_stimulus_end(&b, &stimulus);
        b.status = pawl__built_stimulus_hash(&b, &r->runtime->env->alloc,
                                             PAWL_STIMULUS_HTTP_ENDPOINT, &stimulus, hash);
        if (b.status != PAWL_OK)
            return pawl__error_code(r->err, b.status);
        hashes[i] = (struct pawl_datum){.text = pawl__arena_str(&r->arena, pawl__str(hash))};
    }
    return r->arena.status == PAWL_OK ? PAWL_OK : pawl__error_code(r->err, r->arena.status);
}

static int is_used(struct retaining *r, const struct pawl_route_row *row, bool *used)
{
    static const enum pawl_table tables[] = {PAWL_TABLE_TRIGGERS, PAWL_TABLE_BOOKMARKS};
    struct pawl_datum hashes[METHOD_COUNT];
    int status = make_hashes(r, row->path, hashes);

    *used = false;
    for (size_t i = 0; i < 2 && status == PAWL_OK && !*used; i++) {
        const struct pawl_condition condition = {.column = pawl_table_column(tables[i], "hash"),
                                                 .compare = PAWL_IN,
                                                 .values = hashes,
                                                 .value_count = METHOD_COUNT};

        status = is_any(r, tables[i], &condition, 1, used);
    }
    return status;
}

static int judge(struct retaining *r, const struct pawl_route_row *row)
{
    bool superseded = false, used = false;
    int status = is_superseded(r, row, &superseded);

    if (status == PAWL_OK && !superseded)
        status = is_used(r, row, &used);
    if (status == PAWL_OK && !used)
        pawl__runtime_change(&r->changes, PAWL_CHANGE_DELETE, PAWL_TABLE_ROUTES, row);
    return status;
}

/* Those of periods long past, behind the ones that were looked at last. */
static int find_old(struct retaining *r, int64_t now_us, struct pawl_rows *rows)
{
    struct pawl_str end =
        pawl__route_period_text(&r->arena, pawl__route_period(now_us) - PAWL_ROUTE_PERIODS_KEPT);
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_ROUTES, "id"),
         .compare = PAWL_LE,
         .value = {.text = end}},
        /* Of a version that had no periods: its nodes may still rely on it. */
        {.column = pawl_table_column(PAWL_TABLE_ROUTES, "id"),
         .compare = PAWL_NE,
         .value = {.text = pawl__str("")}},
    };
    struct pawl_route_row cursor;
    const struct pawl_query query = {
        .table = PAWL_TABLE_ROUTES,
        .flags = PAWL_QUERY_BRIEF,
        .conditions = conditions,
        .condition_count = 2,
        .after = pawl__routes_cursor(r->runtime, &r->arena, &cursor) ? &cursor : NULL,
        .limit = ROWS_MAX,
    };

    if (!end.ptr || r->arena.status != PAWL_OK)
        return pawl__error_code(r->err, pawl__arena_status(&r->arena));
    return pawl_store_find(r->runtime->store, &query, &r->arena, rows, r->deadline_ns, r->err);
}

static int commit_changes(struct retaining *r)
{
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = r->changes.items, .change_count = r->changes.count};

    if (r->changes.status != PAWL_OK)
        return pawl__error_code(r->err, r->changes.status);
    return r->changes.count > 0 ? pawl__runtime_commit(r->runtime, &commit, r->deadline_ns, r->err)
                                : PAWL_OK;
}

int pawl__routes_retain(struct pawl_runtime *runtime, int64_t now_us, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct retaining r = {.runtime = runtime, .deadline_ns = deadline_ns, .err = err};
    struct pawl_rows rows = {0};
    const struct pawl_route_row *row;
    int status;

    pawl__arena_init(&r.arena, &runtime->env->alloc, BYTES_MAX);
    r.changes.arena = &r.arena;
    status = find_old(&r, now_us, &rows);
    row = rows.rows;
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        status = judge(&r, &row[i]);
    if (status == PAWL_OK)
        status = commit_changes(&r);
    if (status == PAWL_OK)
        pawl__routes_set_cursor(runtime, rows.count == ROWS_MAX ? &row[rows.count - 1] : NULL);
    pawl__arena_release(&r.arena);
    return status;
}
