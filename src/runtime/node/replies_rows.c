/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that cross nodes: a row for each, which its receiver looks for; see replies.h. */
#include "base/error.h"
#include "base/http_message.h"
#include "base/log.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/replies.h"

/* How long a row waits for its receiver. */
#define ROW_US INT64_C(60000000)
/* Of a reply in a row. */
#define ROW_BYTES_MAX ((size_t)4 << 20)
#define LOOK_NS_MAX INT64_C(5000000000)

static struct pawl_str row_key(struct pawl_arena *arena, struct pawl_str address)
{
    return pawl__str(pawl__arena_printf(arena, "reply:%.*s", PAWL_STR_ARG(address)));
}

struct pawl_str pawl__reply_kept_key(struct pawl_arena *arena, struct pawl_str key)
{
    return pawl__str(pawl__arena_printf(arena, "replied:%.*s", PAWL_STR_ARG(key)));
}

/* In place of one that is too large. */
static struct pawl_str too_large(struct pawl_arena *arena)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json reply = pawl__json_object();

    pawl__build_int(&b, &reply, PAWL_HTTP_STATUS, 500);
    pawl__build_name(&b, &reply, PAWL_HTTP_CONTENT,
                     "The reply is too large for another node to send.");
    return b.status == PAWL_OK ? pawl__runtime_json_text(arena, &reply) : pawl__str_make(NULL, 0);
}

void pawl__reply_add_row(struct pawl_runtime *runtime, struct runtime_changes *changes,
                         struct pawl_str address, const struct pawl_json *reply, int64_t now_us)
{
    struct pawl_reservation_row row = {
        .key = row_key(changes->arena, address),
        .value = pawl__runtime_json_text(changes->arena, reply),
        .expires_us = now_us + ROW_US,
    };

    (void)runtime;
    if (row.value.len > ROW_BYTES_MAX)
        row.value = too_large(changes->arena);
    if ((row.key.len == 0 || !row.value.ptr) && changes->status == PAWL_OK)
        changes->status = pawl__arena_status(changes->arena);
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_RESERVATIONS, &row);
}

/* What was delivered is deleted; what cannot be now expires. */
static void delete_rows(struct pawl_runtime *runtime, const struct pawl_rows *rows,
                        struct pawl_arena *arena, int64_t deadline_ns)
{
    struct runtime_changes changes = {.arena = arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};

    for (size_t i = 0; i < rows->count; i++)
        pawl__runtime_change(&changes, PAWL_CHANGE_DELETE, PAWL_TABLE_RESERVATIONS,
                             &((const struct pawl_reservation_row *)rows->rows)[i]);
    if (changes.status != PAWL_OK || changes.count == 0)
        return;
    commit.changes = changes.items;
    commit.change_count = changes.count;
    (void)!pawl__runtime_commit(runtime, &commit, deadline_ns, NULL);
}

void pawl__replies_look(struct pawl_runtime *runtime, const struct pawl_str *addresses,
                        size_t count)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(runtime->env) + LOOK_NS_MAX;
    struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"),
                                       .compare = PAWL_IN};
    struct pawl_query query = {.table = PAWL_TABLE_RESERVATIONS,
                               .conditions = &condition,
                               .condition_count = 1,
                               .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    struct pawl_datum *keys;
    int status;

    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    keys = pawl__arena_alloc_array(&arena, count, sizeof *keys);
    for (size_t i = 0; keys && i < count; i++)
        keys[i] = (struct pawl_datum){.text = row_key(&arena, addresses[i])};
    condition.values = keys;
    condition.value_count = count;
    status = arena.status == PAWL_OK
                 ? pawl_store_find(runtime->store, &query, &arena, &rows, deadline_ns, &err)
                 : pawl__error_code(&err, arena.status);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_reservation_row *row =
            &((const struct pawl_reservation_row *)rows.rows)[i];
        struct pawl_json reply;

        if (pawl__runtime_json_read(runtime, &arena, row->value, &reply, NULL) == PAWL_OK)
            pawl__replies_deliver(
                runtime, pawl__str_slice(row->key, strlen("reply:"), row->key.len), &reply);
    }
    if (status == PAWL_OK)
        delete_rows(runtime, &rows, &arena, deadline_ns);
    else if (status != PAWL_ESTOPPED && runtime->log)
        pawl_log(runtime->log, PAWL_LOG_DEBUG, "replies not looked for",
                 pawl_log_error("error", &err));
    pawl__arena_release(&arena);
}
