/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies that cross nodes: rows of the table `replies`; see replies.h. The node that ran the burst
 * inserts the row in the commit that recorded the reply, the one that has the connection delivers
 * and deletes it. Rows of a receiver that died expire and are purged (retention.c).
 */
#include "base/error.h"
#include "base/http_message.h"
#include "base/json/builder.h"
#include "base/log.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/private.h"
#include "runtime/node/replies.h"

#include <inttypes.h>
#include <stdio.h>

/* How long a receiver that stands still may take to find it. */
#define KEPT_US INT64_C(300000000)
/* One look, and the deletion of what it found. */
#define LOOK_NS_MAX INT64_C(5000000000)
/* What one query may bring into memory, which is more than the largest row has: replies that are
 * larger together come by several. */
#define LOOK_BYTES_MAX ((size_t)64 << 20)
/* One of them, unpacked. */
#define READ_BYTES_MAX ((size_t)256 << 20)

/* "12/345"; false: it is no address. */
static bool parse_address(struct pawl_str address, struct pawl_reply_row *row)
{
    int64_t parts[2] = {0, 0};
    size_t part = 0, digits = 0;

    for (size_t i = 0; i < address.len; i++) {
        char c = address.ptr[i];

        if (c == '/' && part == 0 && digits > 0) {
            part = 1;
            digits = 0;
        } else if (c >= '0' && c <= '9' && digits < 18) {
            parts[part] = parts[part] * 10 + (c - '0');
            digits++;
        } else {
            return false;
        }
    }
    row->incarnation = parts[0];
    row->number = parts[1];
    return part == 1 && digits > 0;
}

struct pawl_str pawl__reply_kept_key(struct pawl_arena *arena, struct pawl_str key)
{
    return pawl__str(pawl__arena_printf(arena, "replied:%.*s", PAWL_STR_ARG(key)));
}

/* ---- writing ------------------------------------------------------------------------------- */

/* In the place of one that is too large: its client learns why. */
static struct pawl_json too_large(struct pawl_builder *b, size_t bytes)
{
    struct pawl_json reply = pawl__json_object(), headers = pawl__json_array(),
                     header = pawl__json_array();
    const char *text = pawl__arena_printf(
        b->arena,
        "{\"message\":\"The reply is too large to cross from the node that ran the workflow: it "
        "has %zu bytes, the most are %zu.\"}",
        bytes, (size_t)PAWL_REPLY_ROW_BYTES_MAX);

    pawl__build_append(b, &header, pawl__json_string(pawl__str("Content-Type")));
    pawl__build_append(b, &header, pawl__json_string(pawl__str("application/json")));
    pawl__build_append(b, &headers, header);
    pawl__build_int(b, &reply, PAWL_HTTP_STATUS, 500);
    pawl__build(b, &reply, PAWL_HTTP_HEADERS, headers);
    pawl__build(b, &reply, PAWL_HTTP_CONTENT, pawl__json_string(pawl__str(text)));
    if (!text && b->status == PAWL_OK)
        b->status = pawl__arena_status(b->arena);
    return reply;
}

void pawl__reply_add_row(struct pawl_runtime *runtime, struct runtime_changes *changes,
                         struct pawl_str address, const struct pawl_json *reply, int64_t now_us)
{
    struct pawl_reply_row row = {.expires_us = now_us + KEPT_US};
    struct pawl_builder b = {.arena = changes->arena};
    int status;

    if (changes->status != PAWL_OK || !parse_address(address, &row))
        return;
    status = pawl__runtime_pack_value(runtime, changes->arena, reply, &row.data, NULL);
    if (status == PAWL_OK && row.data.len > PAWL_REPLY_ROW_BYTES_MAX) {
        const struct pawl_json instead = too_large(&b, row.data.len);

        status = b.status;
        if (status == PAWL_OK)
            status = pawl__runtime_pack_value(runtime, changes->arena, &instead, &row.data, NULL);
    }
    if (status != PAWL_OK)
        changes->status = status;
    else
        pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_REPLIES, &row);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The rows of addresses from *at that have the first one's incarnation. *at: behind them. */
static int find_rows(struct pawl_runtime *runtime, const struct pawl_str *addresses, size_t count,
                     size_t *at, struct pawl_arena *arena, struct pawl_rows *rows,
                     struct pawl_error *err)
{
    struct pawl_datum *numbers = pawl__arena_alloc_array(arena, count, sizeof *numbers);
    struct pawl_condition conditions[2] = {
        {.column = pawl_table_column(PAWL_TABLE_REPLIES, "incarnation")},
        {.column = pawl_table_column(PAWL_TABLE_REPLIES, "number"), .compare = PAWL_IN},
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_REPLIES,
        .conditions = conditions,
        .condition_count = 2,
        .limit = PAWL_STORE_VALUES_MAX,
    };
    struct pawl_reply_row row = {0};
    size_t found = 0;

    if (!numbers)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (; *at < count && found < PAWL_STORE_VALUES_MAX; (*at)++) {
        if (!parse_address(addresses[*at], &row))
            continue;
        if (found > 0 && row.incarnation != conditions[0].value.integer)
            break;
        conditions[0].value.integer = row.incarnation;
        numbers[found++] = (struct pawl_datum){.text = pawl__str(""), .integer = row.number};
    }
    conditions[1].values = numbers;
    conditions[1].value_count = found;
    *rows = (struct pawl_rows){0};
    if (found == 0)
        return PAWL_OK;
    return pawl_store_find(runtime->store, &query, arena, rows,
                           pawl_env_monotonic_ns(runtime->env) + LOOK_NS_MAX, err);
}

/* What cannot be read is told to the client as a fault of the server. */
static void deliver_row(struct pawl_runtime *runtime, const struct pawl_reply_row *row)
{
    struct pawl_builder b = {0};
    struct pawl_json reply;
    struct pawl_arena arena;
    char address[PAWL_REPLY_ADDRESS_SIZE];

    (void)snprintf(address, sizeof address, "%" PRId64 "/%" PRId64, row->incarnation, row->number);
    pawl__arena_init(&arena, &runtime->env->alloc, READ_BYTES_MAX);
    if (pawl__runtime_json_read(runtime, &arena, row->data, &reply, NULL) != PAWL_OK) {
        pawl__arena_reset(&arena);
        b.arena = &arena;
        reply = pawl__json_object();
        pawl__build_int(&b, &reply, PAWL_HTTP_STATUS, 500);
    }
    if (b.status == PAWL_OK)
        pawl__replies_deliver(runtime, pawl__str(address), &reply);
    pawl__arena_release(&arena);
}

/* Those that are not deleted now expire. */
static void delete_rows(struct pawl_runtime *runtime, const struct pawl_rows *rows,
                        struct pawl_arena *arena)
{
    struct runtime_changes changes = {.arena = arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    const struct pawl_reply_row *row = rows->rows;

    for (size_t i = 0; i < rows->count; i++)
        pawl__runtime_change(&changes, PAWL_CHANGE_DELETE, PAWL_TABLE_REPLIES, &row[i]);
    if (changes.status != PAWL_OK || changes.count == 0)
        return;
    commit.changes = changes.items;
    commit.change_count = changes.count;
    (void)!pawl__runtime_commit(runtime, &commit, pawl_env_monotonic_ns(runtime->env) + LOOK_NS_MAX,
                                NULL);
}

/* Of addresses from *at, `most` at once at the most. *at: behind them. */
static int look_for_some(struct pawl_runtime *runtime, const struct pawl_str *addresses,
                         size_t count, size_t most, size_t *at, struct pawl_error *err)
{
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &runtime->env->alloc, LOOK_BYTES_MAX);
    status = find_rows(runtime, addresses, count - *at > most ? *at + most : count, at, &arena,
                       &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        deliver_row(runtime, (const struct pawl_reply_row *)rows.rows + i);
    if (status == PAWL_OK)
        delete_rows(runtime, &rows, &arena);
    pawl__arena_release(&arena);
    return status;
}

void pawl__replies_look(struct pawl_runtime *runtime, const struct pawl_str *addresses,
                        size_t count)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    size_t most = count, at = 0;
    int status = PAWL_OK;

    while (status == PAWL_OK && at < count) {
        size_t from = at;

        status = look_for_some(runtime, addresses, count, most, &at, &err);
        /* All at once are too large. One that is by itself is left to its deadline. */
        if (status == PAWL_ELIMIT || status == PAWL_ENOMEM) {
            at = most > 1 ? from : from + 1;
            most = most > 1 ? most / 2 : 1;
            status = PAWL_OK;
        }
    }
    if (status != PAWL_OK && status != PAWL_ESTOPPED && runtime->log)
        pawl_log(runtime->log, PAWL_LOG_WARN, "replies of other nodes were not looked for",
                 pawl_log_error("error", &err));
}
