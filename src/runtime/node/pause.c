/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses; see pause.h. What a node knows of them is guarded by the runtime's mutex. */
#include "runtime/node/pause.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "runtime/audit.h"
#include "runtime/node/keeper.h"
#include "runtime/runtime_private.h"

/* "pause" is the cluster's; "pause/ID" a node's. */
#define KEY "pause"
#define KEY_NODE KEY "/"
#define LOOK_BYTES_MAX ((size_t)16 << 20)
#define VALUE_BYTES_MAX ((size_t)64 << 10)

static struct pawl_str key_of(struct pawl_arena *arena, struct pawl_str node_id)
{
    if (node_id.len == 0)
        return pawl__str(KEY);
    return pawl__str(pawl__arena_printf(arena, KEY_NODE "%.*s", PAWL_STR_ARG(node_id)));
}

/* ---- reading ------------------------------------------------------------------------------- */

static int find_rows(struct pawl_store *store, struct pawl_arena *arena,
                     const struct pawl_condition *conditions, size_t count, struct pawl_rows *rows,
                     int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_query query = {.table = PAWL_TABLE_SETTINGS,
                                     .conditions = conditions,
                                     .condition_count = (uint32_t)count,
                                     .limit = PAWL_STORE_ROWS_MAX};

    return pawl_store_find(store, &query, arena, rows, deadline_ns, err);
}

static void read_row(struct pawl_arena *arena, const struct pawl_setting_row *row,
                     struct pawl_pause *out)
{
    struct pawl_json value;

    *out = (struct pawl_pause){.node_id = pawl__str(""), .by = pawl__str("")};
    if (row->key.len > sizeof KEY_NODE - 1)
        out->node_id = pawl__str_make(row->key.ptr + sizeof KEY_NODE - 1,
                                      row->key.len - (sizeof KEY_NODE - 1));
    /* Whatever it says: the row is there. */
    if (pawl__json_parse(arena, row->value, NULL, &value, NULL, NULL) != PAWL_OK)
        value = pawl__json_null();
    out->by = pawl__json_str(pawl__json_get_text(&value, "by"));
    out->reason = pawl__json_str(pawl__json_get_text(&value, "reason"));
    (void)pawl__json_to_int(pawl__json_get_text(&value, "sinceUs"), &out->since_us);
}

/* "pause" and all that begins with "pause/": '0' follows '/'. */
int pawl__pauses_find(struct pawl_store *store, struct pawl_arena *arena,
                      const struct pawl_pause **out, size_t *count, int64_t deadline_ns,
                      struct pawl_error *err)
{
    uint32_t key = pawl_table_column(PAWL_TABLE_SETTINGS, "key");
    const struct pawl_condition conditions[] = {
        {.column = key, .compare = PAWL_GE, .value.text = PAWL_STR_LIT(KEY)},
        {.column = key, .compare = PAWL_LT, .value.text = PAWL_STR_LIT(KEY "0")},
    };
    struct pawl_pause *pauses;
    struct pawl_rows rows;
    size_t found = 0;
    int status = find_rows(store, arena, conditions, 2, &rows, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    pauses = pawl__arena_alloc_array(arena, rows.count + 1, sizeof *pauses);
    if (!pauses)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_setting_row *row = &((const struct pawl_setting_row *)rows.rows)[i];

        if (pawl__str_is(row->key, KEY) || pawl__str_starts(row->key, pawl__str(KEY_NODE)))
            read_row(arena, row, &pauses[found++]);
    }
    *out = pauses;
    *count = found;
    return PAWL_OK;
}

const struct pawl_pause *pawl__pause_of(const struct pawl_pause *pauses, size_t count,
                                        struct pawl_str node_id)
{
    for (size_t i = 0; i < count; i++)
        if (pauses[i].node_id.len == 0 || pawl__str_equal(pauses[i].node_id, node_id))
            return &pauses[i];
    return NULL;
}

/* The row of exactly this key; *found false: there is none. */
static int find_one(struct pawl_store *store, struct pawl_arena *arena, struct pawl_str key,
                    struct pawl_pause *out, bool *found, int64_t deadline_ns,
                    struct pawl_error *err)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_SETTINGS, "key"), .value.text = key};
    struct pawl_rows rows;
    int status = find_rows(store, arena, &condition, 1, &rows, deadline_ns, err);

    *found = status == PAWL_OK && rows.count > 0;
    if (*found)
        read_row(arena, rows.rows, out);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int apply(struct pawl_store *store, struct pawl_audit *by, int64_t now_us,
                 enum pawl_change_kind kind, const struct pawl_setting_row *row,
                 int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_change changes[2] = {{kind, PAWL_TABLE_SETTINGS, row}};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    struct pawl_audit_row record;
    int status;

    if (by)
        changes[commit.change_count++] = pawl__audit_change(by, 1, now_us, &record);
    status = pawl_store_apply(store, commits, 1, deadline_ns, err);
    if (by)
        pawl__audit_settle(by, &record, status == PAWL_OK ? commit.status : status);
    if (status == PAWL_OK && commit.status != PAWL_OK)
        status =
            pawl__error_set(err, commit.status, "the store refused a pause: %s", commit.error.msg);
    return status;
}

static int write_value(const struct pawl_pause *pause, struct pawl_arena *arena,
                       struct pawl_str *out)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, arena->alloc, VALUE_BYTES_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "by");
    pawl__json_write_string(&json, pause->by);
    pawl__json_write_key_text(&json, "reason");
    pawl__json_write_string(&json, pause->reason);
    pawl__json_write_key_text(&json, "sinceUs");
    pawl__json_write_int(&json, pause->since_us);
    pawl__json_write_end_object(&json);
    status = buf.status;
    if (status == PAWL_OK) {
        *out = pawl__arena_str(arena, pawl__buf_peek(&buf));
        status = out->ptr ? PAWL_OK : pawl__arena_status(arena);
    }
    pawl__buf_release(&buf);
    return status;
}

int pawl__pause_begin(struct pawl_store *store, struct pawl_audit *by,
                      const struct pawl_pause *pause, struct pawl_arena *arena,
                      struct pawl_pause *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_str key = key_of(arena, pause->node_id), value = {NULL, 0};
    struct pawl_store_status seen;
    struct pawl_pause now = *pause;
    bool found = false;
    int status;

    if (pause->by.len > PAWL_PAUSE_TEXT_MAX || pause->reason.len > PAWL_PAUSE_TEXT_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "who pauses, and why, have at most %u bytes each",
                               PAWL_PAUSE_TEXT_MAX);
    status = key.ptr ? pawl_store_status(store, &seen, deadline_ns, err)
                     : pawl__error_code(err, pawl__arena_status(arena));
    if (status == PAWL_OK)
        status = find_one(store, arena, key, out, &found, deadline_ns, err);
    if (status != PAWL_OK || found)
        return status;
    now.since_us = seen.now_us;
    status = write_value(&now, arena, &value);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = apply(store, by, seen.now_us, PAWL_CHANGE_ADD,
                   &(struct pawl_setting_row){.key = key, .value = value}, deadline_ns, err);
    if (status == PAWL_OK)
        status = find_one(store, arena, key, &now, &found, deadline_ns, err);
    if (status == PAWL_OK)
        *out = now; /* also when it was ended meanwhile: it was so */
    return status;
}

int pawl__pause_end(struct pawl_store *store, struct pawl_audit *by, struct pawl_str node_id,
                    struct pawl_arena *arena, bool *ended, int64_t deadline_ns,
                    struct pawl_error *err)
{
    struct pawl_str key = key_of(arena, node_id);
    struct pawl_store_status seen;
    struct pawl_pause before;
    bool found = false;
    int status = key.ptr ? find_one(store, arena, key, &before, &found, deadline_ns, err)
                         : pawl__error_code(err, pawl__arena_status(arena));

    if (status == PAWL_OK && found)
        status = pawl_store_status(store, &seen, deadline_ns, err);
    if (status == PAWL_OK && found)
        status = apply(store, by, seen.now_us, PAWL_CHANGE_DELETE,
                       &(struct pawl_setting_row){.key = key}, deadline_ns, err);
    if (status == PAWL_OK)
        *ended = found;
    return status;
}

/* ---- what a node knows of it ---------------------------------------------------------------- */

/* Whether to look now. One thread does; the others go by what is known. */
static bool begin_look(struct pawl_runtime *runtime)
{
    int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
    bool look = false;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    look = runtime->pause.looked_ns == 0 ||
           (!runtime->pause.is_looking && now_ns - runtime->pause.looked_ns > PAWL_PAUSE_SEEN_NS);
    if (look)
        runtime->pause.is_looking = true;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return look;
}

static void describe(struct runtime_pause *to, const struct pawl_pause *pause)
{
    to->is_paused = pause != NULL;
    if (pause)
        (void)pawl__error_set(&to->why, PAWL_EUNAVAILABLE,
                              "%s is paused%s%.*s%s%.*s: 'pawl unpause' ends that",
                              pause->node_id.len > 0 ? "this node" : "the cluster",
                              pause->by.len > 0 ? " by " : "", PAWL_STR_ARG(pause->by),
                              pause->reason.len > 0 ? ", " : "", PAWL_STR_ARG(pause->reason));
}

static void read_pause(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    int64_t begun_ns = pawl_env_monotonic_ns(runtime->env);
    struct runtime_pause seen = {.looked_ns = begun_ns};
    const struct pawl_pause *pauses = NULL;
    struct pawl_arena arena;
    size_t count = 0;
    int status;

    pawl__arena_init(&arena, &runtime->env->alloc, LOOK_BYTES_MAX);
    status = pawl__pauses_find(runtime->store, &arena, &pauses, &count, deadline_ns, NULL);
    if (status == PAWL_OK)
        describe(&seen,
                 pawl__pause_of(pauses, count, pawl__str(pawl__keeper_node_id(runtime->keeper))));
    pawl__arena_release(&arena);
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    if (status == PAWL_OK)
        runtime->pause = seen;
    runtime->pause.is_looking = false;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

void pawl__runtime_look_for_pauses(struct pawl_runtime *runtime)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    runtime->pause.looked_ns = 0;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

int pawl__runtime_check_paused(struct pawl_runtime *runtime, int64_t deadline_ns,
                               struct pawl_error *err)
{
    int status = PAWL_OK;

    if (!runtime->options.heeds_pauses || !runtime->keeper)
        return PAWL_OK;
    if (begin_look(runtime))
        read_pause(runtime, deadline_ns);
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return PAWL_OK;
    if (runtime->pause.is_paused) {
        status = PAWL_EUNAVAILABLE;
        if (err)
            *err = runtime->pause.why;
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return status;
}
