/* SPDX-License-Identifier: Apache-2.0 */
/* Whole stores; see store.h. */
#include "operations/store.h"

#include "base/buf.h"
#include "base/error.h"
#include "host/host.h"
#include "host/store_check.h"
#include "host/store_uri.h"
#include "host/uri.h"
#include "operations/query.h"

/* ---- opening -------------------------------------------------------------------------------- */

struct opened {
    struct pawl_store *store;
    struct pawl_str shown;
    bool is_own; /* opened here: to be closed */
};

static int show_uri(const struct pawl_op *op, struct pawl_str uri, struct pawl_str *out)
{
    struct pawl_str copy = {NULL, 0};
    struct pawl_buf masked;

    pawl__buf_init(&masked, &op_env(op)->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__uri_mask(&masked, uri);
    if (masked.status == PAWL_OK)
        copy = pawl__arena_str(op->arena, pawl__buf_peek(&masked));
    pawl__buf_release(&masked);
    if (!copy.ptr)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    *out = copy;
    return PAWL_OK;
}

/* `borrow`: the started host's own will do. */
static int open_store(const struct pawl_op *op, struct pawl_str uri, uint32_t flags, bool borrow,
                      struct opened *out)
{
    const struct pawl_configuration *settings = pawl__host_configuration(op->host);
    const struct pawl_store_options options = {
        .flags = flags,
        .connections =
            (uint32_t)pawl__configuration_number(settings, PAWL_SETTING_ID_STORE_CONNECTIONS),
        .file_mode = (uint32_t)pawl__configuration_number(settings, PAWL_SETTING_ID_FILE_MODE),
    };
    struct pawl_store *own = pawl__host_store(op->host);
    int status;

    *out = (struct opened){.is_own = true};
    borrow = borrow && uri.len == 0 && own;
    if (uri.len == 0)
        uri = pawl__str(pawl__configuration_text(settings, PAWL_SETTING_ID_STORE));
    status = show_uri(op, uri, &out->shown);
    if (status != PAWL_OK)
        return status;
    if (borrow) {
        out->store = own;
        out->is_own = false;
        return PAWL_OK;
    }
    return pawl__host_open_store(op_env(op), uri, &options, &out->store, op->err);
}

static void close_store(struct opened *opened)
{
    if (opened->is_own)
        pawl_store_close(opened->store);
}

/* ---- making --------------------------------------------------------------------------------- */

int pawl__op_store_init(const struct pawl_op *op, struct pawl_str uri, struct pawl_store_init *out)
{
    struct pawl_store_init made = {.made = PAWL_STORE_WAS_THERE};
    struct pawl_store_status about;
    struct opened opened;
    int status = open_store(op, uri, 0, false, &opened);

    if (status == PAWL_ENOTFOUND || status == PAWL_ECONFLICT) {
        made.made = status == PAWL_ENOTFOUND ? PAWL_STORE_MADE : PAWL_STORE_UPDATED;
        if (op->err)
            *op->err = (struct pawl_error)PAWL_ERROR_INIT;
        status = open_store(op, uri, PAWL_STORE_OPEN_CREATE, false, &opened);
    }
    if (status == PAWL_OK)
        status = pawl_store_status(opened.store, &about, op->deadline_ns, op->err);
    if (status == PAWL_OK) {
        made.schema = about.schema;
        made.shown = opened.shown;
        *out = made;
    }
    close_store(&opened);
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

static int count_rows(const struct pawl_op *op, struct pawl_store *store,
                      struct pawl_store_info *info)
{
    struct pawl_store_count *counts =
        pawl__arena_alloc_array(op->arena, PAWL_TABLE_COUNT, sizeof *counts);
    struct pawl_rows rows;
    int status = PAWL_OK;

    if (!counts)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (unsigned i = 0; i < PAWL_TABLE_COUNT && status == PAWL_OK; i++) {
        const struct pawl_query query = {.table = (enum pawl_table)i, .flags = PAWL_QUERY_COUNT};

        status = pawl_store_find(store, &query, op->arena, &rows, op->deadline_ns, op->err);
        if (status == PAWL_OK)
            counts[i] =
                (struct pawl_store_count){pawl_table_info((enum pawl_table)i)->name, rows.total};
    }
    info->counts = counts;
    info->count_count = PAWL_TABLE_COUNT;
    return status;
}

static int collect(const struct pawl_op *op, struct pawl_store *store, struct pawl_store_info *info)
{
    const struct pawl_query nodes = {.table = PAWL_TABLE_NODES, .limit = PAWL_STORE_INFO_NODES_MAX};
    struct pawl_rows rows = {0};
    int status = pawl_store_status(store, &info->status, op->deadline_ns, op->err);

    if (status == PAWL_OK)
        status = pawl_store_size(store, &info->status.size_bytes, op->deadline_ns, op->err);
    if (status == PAWL_OK)
        status = count_rows(op, store, info);
    if (status == PAWL_OK)
        status = pawl_store_find(store, &nodes, op->arena, &rows, op->deadline_ns, op->err);
    if (status != PAWL_OK)
        return status;
    info->nodes = rows.rows;
    info->node_count = rows.count;
    status = pawl__backup_check_complete(op_env(op), store, op->err);
    info->is_complete = status == PAWL_OK;
    return status == PAWL_ECONFLICT ? PAWL_OK : status;
}

int pawl__op_store_info(const struct pawl_op *op, struct pawl_str uri, struct pawl_store_info *out)
{
    struct pawl_store_info info = {.node_count = 0};
    struct opened opened;
    int status = open_store(op, uri, PAWL_STORE_OPEN_READ, true, &opened);

    if (status == PAWL_OK)
        status = collect(op, opened.store, &info);
    if (status == PAWL_OK) {
        info.shown = opened.shown;
        *out = info;
    }
    close_store(&opened);
    return status;
}

int pawl__op_store_check(const struct pawl_op *op, struct pawl_str uri, pawl_finding_visitor visit,
                         void *ctx, struct pawl_store_checked *out)
{
    struct pawl_store_checked checked = {.rows = 0};
    struct opened opened;
    int status = open_store(op, uri, PAWL_STORE_OPEN_READ, true, &opened);

    if (status == PAWL_OK)
        status = pawl__store_check(op_env(op), opened.store, visit, ctx, &checked.findings,
                                   &checked.rows, op->err);
    if (status == PAWL_OK) {
        checked.shown = opened.shown;
        *out = checked;
    }
    close_store(&opened);
    return status;
}

/* ---- copying -------------------------------------------------------------------------------- */

static int check_path(const struct pawl_op *op, const char *path)
{
    return path && *path ? PAWL_OK
                         : pawl__error_set(op->err, PAWL_EINVAL, "no file for the backup is given");
}

int pawl__op_store_backup(const struct pawl_op *op, struct pawl_str uri, const char *path,
                          const struct pawl_backup_options *options, struct pawl_store_copied *out)
{
    struct pawl_backup_options how = {.plain = false};
    struct pawl_store_copied copied;
    struct opened opened = {.store = NULL};
    int status = check_path(op, path);

    if (options)
        how = *options;
    if (how.file_mode == 0)
        how.file_mode = (uint32_t)pawl__configuration_number(pawl__host_configuration(op->host),
                                                             PAWL_SETTING_ID_FILE_MODE);
    if (status == PAWL_OK)
        status = open_store(op, uri, PAWL_STORE_OPEN_READ, true, &opened);
    if (status == PAWL_OK)
        status = pawl__backup_write(op_env(op), opened.store, path, &how, &copied.counts, op->err);
    if (status == PAWL_OK) {
        copied.shown = opened.shown;
        *out = copied;
    }
    close_store(&opened);
    return status;
}

int pawl__op_store_restore(const struct pawl_op *op, struct pawl_str uri, const char *path,
                           const struct pawl_backup_options *options, struct pawl_store_copied *out)
{
    struct pawl_store_copied copied;
    struct opened opened = {.store = NULL};
    int status = check_path(op, path);

    /* A file that is no backup must not leave a new store behind. */
    if (status == PAWL_OK)
        status = pawl__backup_verify(op_env(op), path, op->err);
    if (status == PAWL_OK)
        status = open_store(op, uri, PAWL_STORE_OPEN_CREATE, false, &opened);
    if (status == PAWL_OK)
        status =
            pawl__backup_restore(op_env(op), opened.store, path, options, &copied.counts, op->err);
    if (status == PAWL_OK) {
        copied.shown = opened.shown;
        *out = copied;
    }
    close_store(&opened);
    return status;
}
