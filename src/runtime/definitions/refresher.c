/* SPDX-License-Identifier: Apache-2.0 */
/* The refresher of one node; see refresher.h. */
#include "runtime/definitions/refresher.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

#define BATCH_DEFAULT 10u
#define BYTES_MAX ((size_t)1 << 28)

struct local_refresher {
    struct pawl_refresher base;
    struct pawl_env *env;
    struct pawl_store *store;
    struct pawl_definitions *definitions;
    const struct pawl_log *log;
};

/* Ids that grow in an arena. */
struct ids {
    struct pawl_str *items;
    size_t count;
    size_t cap;
};

static int add_id(struct pawl_arena *arena, struct ids *ids, struct pawl_str id)
{
    if (ids->count == ids->cap) {
        size_t cap = ids->cap ? ids->cap * 2 : 16;
        struct pawl_str *grown = pawl__arena_alloc_array(arena, cap, sizeof *grown);

        if (!grown)
            return pawl__arena_status(arena);
        if (ids->count > 0)
            memcpy(grown, ids->items, ids->count * sizeof *grown);
        ids->items = grown;
        ids->cap = cap;
    }
    ids->items[ids->count] = pawl__arena_str(arena, id);
    return ids->items[ids->count++].ptr ? PAWL_OK : pawl__arena_status(arena);
}

struct refreshing {
    struct local_refresher *refresher;
    struct pawl_arena *arena; /* of the answer */
    struct ids refreshed, not_found;
    int64_t deadline_ns;
    struct pawl_error *err;
};

/* One that cannot be loaded counts: its triggers are what they can be, none. */
static int refresh_one(struct refreshing *r, struct pawl_str id)
{
    struct local_refresher *local = r->refresher;
    int status = pawl__definitions_index(local->definitions, id, r->deadline_ns, r->err);

    if (status == PAWL_ENOTFOUND) {
        status = add_id(r->arena, &r->not_found, id);
        return status == PAWL_OK ? PAWL_OK : pawl__error_code(r->err, status);
    }
    if (status == PAWL_EPARSE && local->log)
        pawl_log(local->log, PAWL_LOG_WARN, "definition not refreshed",
                 pawl__log_str("definition", id), pawl_log_error("error", r->err));
    if (status != PAWL_OK && status != PAWL_EPARSE)
        return status;
    status = add_id(r->arena, &r->refreshed, id);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(r->err, status);
}

/* Page by page in the order of version ids, which does not change under it. */
static int refresh_all(struct refreshing *r, uint32_t batch)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_DEFINITIONS, "is_published"),
        .value = {.integer = 1}};
    struct pawl_query query = {.table = PAWL_TABLE_DEFINITIONS,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = &condition,
                               .condition_count = 1,
                               .limit = batch};
    struct pawl_definition_row last;
    struct pawl_arena pages;
    struct pawl_rows rows;
    int status;

    pawl__arena_init(&pages, &r->refresher->env->alloc, BYTES_MAX);
    do {
        const struct pawl_definition_row *all;

        status =
            pawl_store_find(r->refresher->store, &query, &pages, &rows, r->deadline_ns, r->err);
        all = rows.rows;
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
            status = refresh_one(r, all[i].definition_id);
        if (status == PAWL_OK && rows.count > 0) {
            last = all[rows.count - 1];
            query.after = &last;
        }
    } while (status == PAWL_OK && rows.count == batch);
    pawl__arena_release(&pages);
    return status;
}

static int refresh(struct pawl_refresher *base, const struct pawl_refresh *what,
                   struct pawl_arena *arena, struct pawl_refreshed *out, int64_t deadline_ns,
                   struct pawl_error *err)
{
    struct refreshing r = {.refresher = (struct local_refresher *)(void *)base,
                           .arena = arena,
                           .deadline_ns = deadline_ns,
                           .err = err};
    struct pawl_error own = PAWL_ERROR_INIT;
    uint32_t batch = what->batch ? what->batch : BATCH_DEFAULT;
    int status = PAWL_OK;

    if (!err)
        r.err = &own;
    if (batch > PAWL_STORE_ROWS_MAX)
        batch = PAWL_STORE_ROWS_MAX;
    if (what->count == 0)
        status = refresh_all(&r, batch);
    for (size_t i = 0; i < what->count && status == PAWL_OK; i++)
        status = refresh_one(&r, what->ids[i]);
    /* Graphs that were made of what has changed since go. */
    if (status == PAWL_OK)
        status = pawl__definitions_refresh(r.refresher->definitions, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    *out = (struct pawl_refreshed){.refreshed = r.refreshed.items,
                                   .refreshed_count = r.refreshed.count,
                                   .not_found = r.not_found.items,
                                   .not_found_count = r.not_found.count};
    return PAWL_OK;
}

static void close_local(struct pawl_refresher *base)
{
    struct local_refresher *local = (struct local_refresher *)(void *)base;

    pawl__free(&local->env->alloc, local, sizeof *local);
}

static const struct pawl_refresher_ops ops = {PAWL_REFRESHER_VERSION, close_local, refresh};

int pawl__local_refresher_new(struct pawl_env *env, struct pawl_store *store,
                              struct pawl_definitions *definitions, const struct pawl_log *log,
                              struct pawl_refresher **out, struct pawl_error *err)
{
    struct local_refresher *local = pawl__alloc_zeroed(&env->alloc, sizeof *local);

    if (!local)
        return pawl__error_code(err, PAWL_ENOMEM);
    *local = (struct local_refresher){{&ops, "local"}, env, store, definitions, log};
    *out = &local->base;
    return PAWL_OK;
}
