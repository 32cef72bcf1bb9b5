/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates that this node knows; see routes.h.
 *
 * A template with parameters has a row for each period in which somebody relied on it (routes.h).
 * Of this period and the one before it none is deleted: as many as before are the same rows, and a
 * look is one count. With each new period all rows are read again, and templates whose rows are
 * gone are forgotten; until then they are found and lead nowhere. Looks do not overlap: who needs
 * one that begins after now waits for the one under way and then makes its own, or shares one that
 * another has begun since.
 */
#include "runtime/node/routes.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/http_message.h"
#include "base/json/builder.h"
#include "base/route/table.h"
#include "base/stimuli.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/private.h"

#include <inttypes.h>

/* How old what is known may be when a request comes. */
#define AGE_NS_MAX INT64_C(500000000)
/* Templates that match one path and are tried, at the most. */
#define HITS_MAX 32u
#define LOOK_BYTES_MAX ((size_t)256 << 20)
#define CURSOR_BYTES_MAX ((size_t)16 << 20)

struct pawl_routes_known {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *looked; /* a look has ended */
    struct pawl_route_table *table;
    struct pawl_route_table *current; /* those of it that have a row of the period */
    int64_t period;                   /* in which all rows were read; -1: they were not yet */
    uint64_t row_count;               /* rows of that period and the one before it */
    struct pawl_arena cursor_arena;
    struct pawl_route_row cursor; /* path.ptr NULL: none */
    uint64_t begun, ended;        /* looks */
    uint64_t good;                /* the last look that succeeded, */
    int64_t looked_ns;            /* and when it began; 0: none did */
};

/* ---- looking ------------------------------------------------------------------------------- */

/* What a look reads into. */
struct looking {
    struct pawl_runtime *runtime;
    struct pawl_arena arena;
    struct pawl_str since, now; /* the period before this one, and this one */
    bool all;                   /* all rows; else those since then */
    struct pawl_route_table *table, *current;
    uint64_t count; /* of rows since then */
    int64_t deadline_ns;
    struct pawl_error *err;
};

static int find(struct looking *l, const struct pawl_route_row *after, uint32_t flags,
                struct pawl_rows *rows)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_ROUTES, "id"),
                                             .compare = PAWL_GE,
                                             .value = {.text = l->since}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_ROUTES,
        .flags = flags,
        .conditions = &condition,
        .condition_count = l->all ? 0 : 1,
        .after = after,
        .limit = PAWL_STORE_ROWS_MAX,
    };

    return pawl_store_find(l->runtime->store, &query, &l->arena, rows, l->deadline_ns, l->err);
}

/* A row that is no template is not ours: it is left out. */
static int add_row(struct looking *l, const struct pawl_route_row *row)
{
    int status = pawl__route_table_add(l->table, row->path, NULL, NULL);

    if (status == PAWL_OK && pawl__str_equal(row->id, l->now))
        status = pawl__route_table_add(l->current, row->path, NULL, NULL);
    if (l->all && pawl__str_compare(row->id, l->since) < 0)
        return status == PAWL_EINVAL ? PAWL_OK : status;
    l->count++;
    return status == PAWL_EINVAL ? PAWL_OK : status;
}

static int add_rows(struct looking *l, const struct pawl_rows *rows)
{
    struct pawl_routes_known *routes = l->runtime->routes;
    int status = PAWL_OK;

    pawl_mutex_lock_always(routes->env, routes->mutex);
    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++)
        status = add_row(l, (const struct pawl_route_row *)rows->rows + i);
    pawl_mutex_unlock(routes->env, routes->mutex);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(l->err, status);
}

static int read_rows(struct looking *l)
{
    const struct pawl_route_row *last = NULL;
    struct pawl_rows rows;
    int status;

    l->count = 0;
    do {
        status = find(l, last, PAWL_QUERY_BRIEF, &rows);
        if (status == PAWL_OK)
            status = add_rows(l, &rows);
        if (status == PAWL_OK && rows.count > 0)
            last = (const struct pawl_route_row *)rows.rows + rows.count - 1;
    } while (status == PAWL_OK && rows.count == PAWL_STORE_ROWS_MAX);
    return status;
}

/* What was added since the last look, which knew of `known` rows. */
static int read_new(struct looking *l, uint64_t known)
{
    struct pawl_rows rows = {0};
    int status = find(l, NULL, PAWL_QUERY_COUNT, &rows);

    l->count = known;
    return status == PAWL_OK && rows.total != known ? read_rows(l) : status;
}

static int new_table(struct pawl_env *env, struct pawl_route_table **out)
{
    return pawl__route_table_new(&env->alloc, (struct pawl_hash_seed){0x726f757465, 0}, out);
}

/* All rows, into tables of their own, which replace the others. */
static int read_all(struct looking *l, int64_t period)
{
    struct pawl_routes_known *routes = l->runtime->routes;
    struct pawl_route_table *old = NULL, *old_current = NULL;
    int status;

    l->all = true;
    l->table = l->current = NULL;
    status = new_table(routes->env, &l->table);
    if (status == PAWL_OK)
        status = new_table(routes->env, &l->current);
    status = status == PAWL_OK ? read_rows(l) : pawl__error_code(l->err, status);
    if (status != PAWL_OK) {
        pawl__route_table_free(l->table);
        pawl__route_table_free(l->current);
        return status;
    }
    pawl_mutex_lock_always(routes->env, routes->mutex);
    old = routes->table;
    old_current = routes->current;
    routes->table = l->table;
    routes->current = l->current;
    routes->period = period;
    pawl_mutex_unlock(routes->env, routes->mutex);
    pawl__route_table_free(old);
    pawl__route_table_free(old_current);
    return PAWL_OK;
}

/* By the thread whose look this is: nobody else replaces the tables. */
static int look(struct pawl_runtime *runtime, uint64_t known, uint64_t *count, int64_t deadline_ns,
                struct pawl_error *err)
{
    struct pawl_routes_known *routes = runtime->routes;
    struct looking l = {.runtime = runtime,
                        .table = routes->table,
                        .current = routes->current,
                        .deadline_ns = deadline_ns,
                        .err = err};
    int64_t now_us = 0, period;
    int status = pawl__runtime_clock(runtime, &now_us, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    period = pawl__route_period(now_us);
    pawl__arena_init(&l.arena, &runtime->env->alloc, LOOK_BYTES_MAX);
    l.since = pawl__route_period_text(&l.arena, period - 1);
    l.now = pawl__route_period_text(&l.arena, period);
    if (!l.since.ptr || !l.now.ptr)
        status = pawl__error_code(err, pawl__arena_status(&l.arena));
    else
        status = period == routes->period ? read_new(&l, known) : read_all(&l, period);
    *count = l.count;
    pawl__arena_release(&l.arena);
    return status;
}

/* With the mutex, which is let go of meanwhile. */
static int begin_look(struct pawl_runtime *runtime, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_routes_known *routes = runtime->routes;
    uint64_t known = routes->row_count, count = 0;
    int64_t begun_ns = pawl_env_monotonic_ns(routes->env);
    int status;

    routes->begun++;
    pawl_mutex_unlock(routes->env, routes->mutex);
    status = look(runtime, known, &count, deadline_ns, err);
    pawl_mutex_lock_always(routes->env, routes->mutex);
    routes->ended = routes->begun;
    if (status == PAWL_OK) {
        routes->row_count = count;
        routes->looked_ns = begun_ns;
        routes->good = routes->begun;
    }
    pawl_cond_broadcast(routes->env, routes->looked);
    return status;
}

/* With the mutex: a look that began after this was called has ended well. */
static int look_freshly(struct pawl_runtime *runtime, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_routes_known *routes = runtime->routes;
    uint64_t wanted = routes->begun + 1;
    int status = PAWL_OK;

    while (status == PAWL_OK && routes->good < wanted) {
        if (routes->begun == routes->ended)
            return begin_look(runtime, deadline_ns, err);
        status = pawl_cond_wait(routes->env, routes->looked, routes->mutex, deadline_ns);
        if (status != PAWL_OK)
            return pawl__error_set(err, status, "the routes could not be read in time");
    }
    return status;
}

/* With the mutex. What is known is good enough if the store cannot be asked. */
static int look_if_old(struct pawl_runtime *runtime, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_routes_known *routes = runtime->routes;
    int status;

    if (routes->looked_ns == 0)
        return look_freshly(runtime, deadline_ns, err);
    if (routes->begun != routes->ended ||
        pawl_env_monotonic_ns(routes->env) - routes->looked_ns < AGE_NS_MAX)
        return PAWL_OK;
    status = begin_look(runtime, deadline_ns, NULL);
    return status == PAWL_ESTOPPED ? pawl__error_code(err, status) : PAWL_OK;
}

/* ---- matching ------------------------------------------------------------------------------ */

struct hits {
    struct pawl_arena *arena;
    struct pawl_str templates[HITS_MAX];
    size_t count;
};

static bool add_hit(struct pawl_str template, void *ctx)
{
    struct hits *hits = ctx;

    hits->templates[hits->count++] = pawl__arena_str(hits->arena, template);
    return hits->count == HITS_MAX;
}

/* A path is a template that has no parameters, unless it looks as if it had some. */
static void add_literal(const struct pawl_route_path *path, struct hits *hits)
{
    size_t len = path->text.len > 0 && path->text.ptr[path->text.len - 1] == '/'
                     ? path->text.len - 1
                     : path->text.len;
    char *text;

    if (pawl__str_find(path->text, '{', 0) != SIZE_MAX ||
        pawl__str_find(path->text, '}', 0) != SIZE_MAX)
        return;
    text = pawl__arena_alloc_aligned(hits->arena, len + 2, 1);
    if (!text)
        return;
    text[0] = '/';
    for (size_t i = 0; i < len; i++) {
        char c = path->text.ptr[i];

        text[i + 1] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    text[len + 1] = '\0';
    hits->templates[hits->count++] = pawl__str_make(text, len + 1);
}

static struct pawl_json values_of(struct pawl_builder *b, struct pawl_str text,
                                  const struct pawl_route_path *path)
{
    struct pawl_json object = pawl__json_object();
    struct pawl_route_template template;
    struct pawl_route_values values = {.count = 0};

    if (pawl__route_template_parse(text, &template, NULL) != PAWL_OK ||
        !pawl__route_template_match(&template, path, &values))
        return object;
    for (size_t i = 0; i < values.count; i++) {
        struct pawl_route_value value = values.items[i];

        pawl__build_member(b, &object, value.name,
                           value.value.ptr
                               ? pawl__json_string(pawl__arena_str(b->arena, value.value))
                               : pawl__json_null());
    }
    return object;
}

static int make_hits(const struct hits *hits, const struct pawl_route_path *path,
                     struct pawl_route_hits *out, struct pawl_error *err)
{
    struct pawl_builder b = {.arena = hits->arena};

    out->items = pawl__arena_alloc(hits->arena, (hits->count + 1) * sizeof *out->items);
    out->count = hits->count;
    for (size_t i = 0; i < hits->count && out->items; i++) {
        out->items[i].template = hits->templates[i];
        out->items[i].values = values_of(&b, hits->templates[i], path);
    }
    if (hits->arena->status != PAWL_OK || b.status != PAWL_OK)
        return pawl__error_code(err, b.status != PAWL_OK ? b.status : hits->arena->status);
    return PAWL_OK;
}

static int match_known(struct pawl_runtime *runtime, const struct pawl_route_path *path, bool fresh,
                       struct hits *hits, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_routes_known *routes = runtime->routes;
    int status = pawl_mutex_lock(routes->env, routes->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status =
        fresh ? look_freshly(runtime, deadline_ns, err) : look_if_old(runtime, deadline_ns, err);
    if (status == PAWL_OK)
        (void)pawl__route_table_match(routes->table, path, add_hit, hits);
    pawl_mutex_unlock(routes->env, routes->mutex);
    return status;
}

int pawl__runtime_match_routes(struct pawl_runtime *runtime, struct pawl_str path, bool fresh,
                               struct pawl_arena *arena, struct pawl_route_hits *out,
                               int64_t deadline_ns, struct pawl_error *err)
{
    struct hits hits = {.arena = arena};
    struct pawl_route_path read;
    int status;

    *out = (struct pawl_route_hits){0};
    switch (pawl__route_path_read(path, arena, &read)) {
    case PAWL_ROUTE_PATH_OK:
        break;
    case PAWL_ROUTE_PATH_MALFORMED:
        return pawl__error_set(err, PAWL_EINVAL,
                               "the path has an escape or a character that is not well formed");
    case PAWL_ROUTE_PATH_NO_MEMORY:
        return pawl__error_code(err, pawl__arena_status(arena));
    case PAWL_ROUTE_PATH_EMPTY_SEGMENT:
    case PAWL_ROUTE_PATH_DOTS:
    case PAWL_ROUTE_PATH_TOO_LONG:
        return PAWL_OK;
    }
    add_literal(&read, &hits);
    status = match_known(runtime, &read, fresh, &hits, deadline_ns, err);
    return status == PAWL_OK ? make_hits(&hits, &read, out, err) : status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

bool pawl__route_needs_row(struct pawl_str name, const struct pawl_json *payload,
                           struct pawl_route_row *row)
{
    struct pawl_str path;

    if (!pawl__str_is(name, PAWL_STIMULUS_HTTP_ENDPOINT))
        return false;
    path = runtime_text(payload, PAWL_HTTP_PATH);
    *row = (struct pawl_route_row){.path = path};
    return pawl__str_find(path, '{', 0) != SIZE_MAX;
}

int64_t pawl__route_period(int64_t now_us)
{
    return now_us / PAWL_ROUTE_PERIOD_US;
}

struct pawl_str pawl__route_period_text(struct pawl_arena *arena, int64_t period)
{
    const char *text = pawl__arena_printf(arena, "%012" PRId64, period);

    return text ? pawl__str(text) : pawl__str_make(NULL, 0);
}

/* Whether its row of this period was read: then it stays for long enough. */
static bool is_known(struct pawl_runtime *runtime, struct pawl_str path, int64_t period)
{
    struct pawl_routes_known *routes = runtime->routes;
    bool known;

    pawl_mutex_lock_always(routes->env, routes->mutex);
    known = routes->period == period && pawl__route_table_has(routes->current, path);
    pawl_mutex_unlock(routes->env, routes->mutex);
    return known;
}

void pawl__runtime_put_route(struct pawl_runtime *runtime, struct runtime_changes *changes,
                             struct pawl_str name, const struct pawl_json *payload, int64_t now_us)
{
    int64_t period = pawl__route_period(now_us);
    struct pawl_route_row row;

    if (!pawl__route_needs_row(name, payload, &row) || is_known(runtime, row.path, period))
        return;
    row.id = pawl__route_period_text(changes->arena, period);
    if (row.id.ptr)
        pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_ROUTES, &row);
    else
        changes->status = pawl__arena_status(changes->arena);
}

bool pawl__routes_cursor(struct pawl_runtime *runtime, struct pawl_arena *arena,
                         struct pawl_route_row *out)
{
    struct pawl_routes_known *routes = runtime->routes;

    pawl_mutex_lock_always(routes->env, routes->mutex);
    *out = (struct pawl_route_row){.path = pawl__str_make(NULL, 0)};
    if (routes->cursor.path.ptr)
        *out = (struct pawl_route_row){
            .path = pawl__arena_str(arena, routes->cursor.path),
            .method = pawl__arena_str(arena, routes->cursor.method),
            .id = pawl__arena_str(arena, routes->cursor.id),
        };
    pawl_mutex_unlock(routes->env, routes->mutex);
    return out->path.ptr && out->method.ptr && out->id.ptr;
}

void pawl__routes_set_cursor(struct pawl_runtime *runtime, const struct pawl_route_row *row)
{
    struct pawl_routes_known *routes = runtime->routes;

    pawl_mutex_lock_always(routes->env, routes->mutex);
    pawl__arena_reset(&routes->cursor_arena);
    routes->cursor.path = pawl__str_make(NULL, 0);
    if (row)
        routes->cursor = (struct pawl_route_row){
            .path = pawl__arena_str(&routes->cursor_arena, row->path),
            .method = pawl__arena_str(&routes->cursor_arena, row->method),
            .id = pawl__arena_str(&routes->cursor_arena, row->id),
        };
    pawl_mutex_unlock(routes->env, routes->mutex);
}

/* ---- life ---------------------------------------------------------------------------------- */

int pawl__runtime_routes_open(struct pawl_runtime *runtime, struct pawl_error *err)
{
    struct pawl_env *env = runtime->env;
    struct pawl_routes_known *routes = pawl__alloc_zeroed(&env->alloc, sizeof *routes);
    int status;

    if (!routes)
        return pawl__error_code(err, PAWL_ENOMEM);
    routes->env = env;
    routes->period = -1;
    pawl__arena_init(&routes->cursor_arena, &env->alloc, CURSOR_BYTES_MAX);
    runtime->routes = routes;
    status = pawl_mutex_new(env, "routes", &routes->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "routes", &routes->looked);
    if (status == PAWL_OK)
        status = new_table(env, &routes->table);
    if (status == PAWL_OK)
        status = new_table(env, &routes->current);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

void pawl__runtime_routes_close(struct pawl_runtime *runtime)
{
    struct pawl_routes_known *routes = runtime->routes;

    if (!routes)
        return;
    pawl__route_table_free(routes->table);
    pawl__route_table_free(routes->current);
    pawl__arena_release(&routes->cursor_arena);
    pawl_cond_free(routes->env, routes->looked);
    pawl_mutex_free(routes->env, routes->mutex);
    runtime->routes = NULL;
    pawl__free(&routes->env->alloc, routes, sizeof *routes);
}
