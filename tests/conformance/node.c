/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a case; see node.h. */
#include "conformance/node.h"

#include "base/time/datetime.h"
#include "conformance/expect.h"
#include "distributed/distributed.h"
#include "locks/providers.h"
#include "os/file.h"
#include "stores/stores.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 30)
/* 2026-01-02T03:04:05Z: the case's clock stands still but for waiting. */
#define START_NS INT64_C(1767323045000000000)
#define HOUR_NS INT64_C(3600000000000)
/* Ten years: the clock jumps, the lease holds. */
#define LEASE_US INT64_C(315360000000000)

/* ---- opening ----------------------------------------------------------------------------- */

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct running *run = ctx;
    struct pawl_json line;

    (void)instance_id;
    if (pawl__json_string_copy(&run->arena, text, &line) != PAWL_OK ||
        pawl__json_append(&run->arena, &run->printed, line) != PAWL_OK)
        (void)differs(run, "out of memory");
    return PAWL_OK;
}

static int open_store(struct running *run, struct pawl_error *err)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};

    if (run->manner->store_file)
        return pawl__sqlite_store_open(run->env, pawl__str(run->manner->store_file), &options,
                                       &run->store, err);
    if (run->manner->postgres) {
        run->manner->postgres->has_tables = true;
        return pawl__postgres_store_open(run->env, pawl__str(run->manner->postgres->uri), &options,
                                         &run->store, err);
    }
    return pawl__memory_store_open(run->database, run->env, &run->store, err);
}

static int open_runtime(struct running *run, struct pawl_error *err)
{
    const struct pawl_runtime_options options = {
        .node_id = pawl__str("conformance"),
        .lease_us = LEASE_US,
        .hooks = {.line = on_line, .ctx = run},
        .guard = run->guard,
        .http = run->http,
        .definitions = {.keep_invalid = run->keep_invalid},
        .seed = ++run->seed,
        .step_commits = run->manner->reopen,
    };

    return pawl__runtime_open(run->env, &run->engine, run->store, &options, &run->runtime, err);
}

static int open_guard(struct running *run, struct pawl_error *err)
{
    struct pawl_lock_provider *provider = NULL;
    struct pawl_distribution distribution;
    int status = pawl__memory_locks_new(run->env, 0, &provider, err);

    if (status == PAWL_OK) {
        status = pawl__locks_new(run->env, provider, NULL, &run->locks, err);
        if (status != PAWL_OK)
            provider->ops->close(provider);
    }
    if (status != PAWL_OK)
        return status;
    pawl__distribution_init(&distribution, run->env, run->locks);
    return pawl__distributed_guard_new(&distribution, &run->guard, err);
}

static bool open_both(struct running *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = open_store(run, &err);

    if (status == PAWL_OK && run->manner->distributed)
        status = open_guard(run, &err);
    if (status == PAWL_OK)
        status = open_runtime(run, &err);
    return status == PAWL_OK || differs(run, "the node does not open: %s", err.msg);
}

static void close_both(struct running *run)
{
    pawl__runtime_close(run->runtime);
    run->runtime = NULL;
    pawl_store_close(run->store);
    run->store = NULL;
    pawl__distributed_guard_free(run->guard);
    run->guard = NULL;
    pawl__locks_free(run->locks);
    run->locks = NULL;
}

/* A file of an earlier case goes, with what SQLite keeps beside it. */
static void remove_file(struct running *run)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *path =
            pawl__arena_printf(&run->arena, "%s%s", run->manner->store_file, endings[i]);

        if (path)
            (void)!pawl__file_remove(path, NULL);
    }
}

/* A server has a clock of its own. */
static int tell_time(struct running *run, struct pawl_error *err)
{
    if (!run->manner->postgres)
        return PAWL_OK;
    return case_postgres_tell(run->manner->postgres, pawl_env_wall_ns(run->env) / 1000, err);
}

static int make_database(struct running *run, struct pawl_error *err)
{
    int status;

    if (run->manner->store_file) {
        remove_file(run);
        return PAWL_OK;
    }
    if (!run->manner->postgres)
        return pawl__memory_database_new(run->env, &run->database, err);
    status = case_postgres_clear(run->manner->postgres, err);
    return status == PAWL_OK ? tell_time(run, err) : status;
}

bool node_open(struct running *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = test_clock_open(run->suite->alloc, START_NS, &run->clock);

    if (status != PAWL_OK)
        return differs(run, "no clock: %s", pawl_error_text(status));
    run->env = test_clock_env(run->clock);
    run->next_due_us = PAWL_TIME_NEVER;
    pawl__arena_init(&run->seen_arena, run->suite->alloc, BYTES_MAX);
    run->stale = true;
    status = make_database(run, &err);
    if (status != PAWL_OK)
        return differs(run, "no database: %s", err.msg);
    return open_both(run);
}

void node_close(struct running *run)
{
    pawl__graph_unref(run->entry_graph);
    close_both(run);
    pawl__memory_database_free(run->database);
    if (run->env) {
        if (run->manner->store_file)
            remove_file(run);
        pawl__arena_release(&run->seen_arena);
    }
    test_clock_close(run->clock);
}

bool node_restart(struct running *run)
{
    close_both(run);
    return open_both(run);
}

bool node_between(struct running *run)
{
    return !run->manner->reopen_node || node_restart(run);
}

int64_t deadline(const struct running *run)
{
    return pawl_env_monotonic_ns(run->env) + HOUR_NS;
}

struct pawl_definitions *definitions_of(const struct running *run)
{
    return pawl__runtime_definitions(run->runtime);
}

/* ---- going on ---------------------------------------------------------------------------- */

bool node_drain(struct running *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_worked worked = {.next_due_us = PAWL_TIME_NEVER};
    int status = pawl__runtime_drain(run->runtime, &worked, deadline(run), &err);

    run->stale = true;
    run->next_due_us = worked.next_due_us;
    return status == PAWL_OK || differs(run, "work that is due: %s", err.msg);
}

int64_t now_ticks(const struct running *run)
{
    return pawl__datetime_utc_ticks(pawl__datetime_from_unix_ns(pawl_env_wall_ns(run->env)));
}

void set_now_us(struct running *run, int64_t now_us)
{
    int64_t ns = now_us * 1000 - pawl_env_wall_ns(run->env);

    struct pawl_error err = PAWL_ERROR_INIT;

    if (ns <= 0)
        return;
    test_clock_advance(run->clock, ns);
    if (tell_time(run, &err) != PAWL_OK)
        (void)differs(run, "the clock of the store: %s", err.msg);
}

/* ---- what the store has ------------------------------------------------------------------ */

bool all_rows(struct running *run, enum pawl_table table, struct pawl_rows *out)
{
    const struct pawl_query query = {.table = table, .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;

    *out = (struct pawl_rows){0};
    return pawl_store_find(run->store, &query, &run->arena, out, deadline(run), &err) == PAWL_OK ||
           differs(run, "%s: %s", pawl_table_info(table)->name, err.msg);
}

struct pawl_json parsed(struct running *run, struct pawl_str text)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_json out;

    if (pawl__json_parse(&run->arena, text, &limits, &out, NULL, NULL) != PAWL_OK)
        return pawl__json_null();
    return out;
}

static bool see_one(struct running *run, struct pawl_str id, struct seen *seen,
                    struct pawl_error *err)
{
    struct pawl_instance_row row;

    if (pawl__runtime_show(run->runtime, id, &run->seen_arena, &row, &seen->state, deadline(run),
                           err) != PAWL_OK)
        return false;
    seen->id = row.id;
    seen->definition_id = row.definition_id;
    seen->version_id = row.version_id;
    seen->is_final = pawl__str_is(row.status, "Finished");
    return true;
}

static void look(struct running *run)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                                     .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows;

    if (!run->stale)
        return;
    run->stale = false;
    pawl__arena_reset(&run->seen_arena);
    run->seen_count = 0;
    if (pawl_store_find(run->store, &query, &run->seen_arena, &rows, deadline(run), &err) !=
        PAWL_OK) {
        (void)differs(run, "instances: %s", err.msg);
        return;
    }
    run->seen = pawl__arena_alloc_zeroed(&run->seen_arena, (rows.count + 1) * sizeof *run->seen);
    for (size_t i = 0; run->seen && i < rows.count; i++) {
        struct pawl_str id = ((const struct pawl_instance_row *)rows.rows)[i].id;

        if (!see_one(run, id, &run->seen[run->seen_count++], &err))
            (void)differs(run, "instance %.*s: %s", PAWL_STR_ARG(id), err.msg);
    }
}

const struct seen *seen_first(struct running *run)
{
    look(run);
    return run->seen_count > 0 ? run->seen : NULL;
}

const struct seen *seen_next(struct running *run, const struct seen *instance)
{
    return instance + 1 < run->seen + run->seen_count ? instance + 1 : NULL;
}

const struct seen *seen_entry(struct running *run)
{
    const struct seen *instance;

    FOR_EACH_SEEN(instance, run)
    {
        if (pawl__str_is(instance->id, run->entry_id))
            return instance;
    }
    return NULL;
}

/* The same wherever the case's server happens to listen. */
static void write_placeless(const struct running *run, struct pawl_str text, struct pawl_buf *out)
{
    const char *url = run->stub ? test_http_url(run->stub) : NULL;
    size_t len = url ? strlen(url) : 0;

    for (size_t i = 0; i < text.len;) {
        if (len > 0 && text.len - i >= len && memcmp(text.ptr + i, url, len) == 0) {
            pawl__buf_text(out, "http://stub");
            i += len;
        } else {
            pawl__buf_byte(out, text.ptr[i++]);
        }
    }
}

static void write_states(struct running *run, struct pawl_buf *out)
{
    const struct seen *instance;

    FOR_EACH_SEEN(instance, run)
    {
        struct pawl_json exported;

        pawl__buf_str(out, instance->id);
        pawl__buf_byte(out, '\n');
        if (pawl__runtime_export(run->runtime, instance->id, &run->seen_arena, &exported,
                                 deadline(run), NULL) != PAWL_OK)
            exported = instance->state; /* in the middle of a burst */
        pawl__json_write(out, &exported, PAWL_JSON_ESCAPE_MINIMAL);
        pawl__buf_byte(out, '\n');
        pawl__json_write(out, seen_log(run, instance), PAWL_JSON_ESCAPE_MINIMAL);
        pawl__buf_byte(out, '\n');
    }
}

void node_write_states(struct running *run, struct pawl_buf *out)
{
    struct pawl_buf raw;

    pawl__buf_init(&raw, run->suite->alloc, out->max);
    write_states(run, &raw);
    if (raw.status == PAWL_OK)
        write_placeless(run, pawl__buf_peek(&raw), out);
    else
        out->status = raw.status;
    pawl__buf_release(&raw);
}

/* Journals are read when somebody looks at one. */
static const struct seen *with_journal(struct running *run, const struct seen *instance)
{
    struct seen *seen = &run->seen[instance - run->seen];
    struct pawl_error err = PAWL_ERROR_INIT;

    if (seen->has_journal)
        return seen;
    seen->has_journal = true;
    seen->log = seen->records = pawl__json_array();
    if (pawl__runtime_journal(run->runtime, seen->id, &run->seen_arena, &seen->log, &seen->records,
                              deadline(run), &err) != PAWL_OK)
        (void)differs(run, "journal of %.*s: %s", PAWL_STR_ARG(seen->id), err.msg);
    return seen;
}

const struct pawl_json *seen_log(struct running *run, const struct seen *instance)
{
    return &with_journal(run, instance)->log;
}

const struct pawl_json *seen_records(struct running *run, const struct seen *instance)
{
    return &with_journal(run, instance)->records;
}
