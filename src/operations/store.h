/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on a whole store: making, looking at, checking, backing up and restoring it.
 *
 * Each is about the store that `uri` names. "": that of op->host when it is started, else the one
 * of its setting `store`. So these, unlike other operations, need no started host: a store that is
 * damaged, empty or half restored can be worked on. They open what they need and close it again.
 * Texts that name a store have no password in them. Errors besides the usual: PAWL_ENOTFOUND, there
 * is no such store; PAWL_ECONFLICT, its schema is of another version.
 */
#ifndef PAWL_OPERATIONS_STORE_H
#define PAWL_OPERATIONS_STORE_H

#include "host/backup.h"
#include "operations/operation.h"

#include <pawl/ext/store.h>

enum pawl_store_made {
    PAWL_STORE_WAS_THERE,
    PAWL_STORE_MADE,
    PAWL_STORE_UPDATED, /* it was of an earlier schema */
};

struct pawl_store_init {
    enum pawl_store_made made;
    int64_t schema;
    struct pawl_str shown; /* the URI */
};

/* Makes its tables, or brings them up to date; again changes nothing. */
PAWL_MUST_CHECK int pawl__op_store_init(const struct pawl_op *op, struct pawl_str uri,
                                        struct pawl_store_init *out);

struct pawl_store_count {
    const char *table;
    uint64_t rows;
};

struct pawl_store_info {
    struct pawl_str shown; /* the URI */
    struct pawl_store_status status;
    const struct pawl_store_count *counts; /* of each table */
    size_t count_count;
    const struct pawl_node_row *nodes; /* the first PAWL_STORE_INFO_NODES_MAX */
    size_t node_count;
    bool is_complete; /* no restore was cut short */
};
#define PAWL_STORE_INFO_NODES_MAX 1000u

/* Counts all rows: its cost grows with the store. */
PAWL_MUST_CHECK int pawl__op_store_info(const struct pawl_op *op, struct pawl_str uri,
                                        struct pawl_store_info *out);

struct pawl_store_checked {
    struct pawl_str shown;
    uint64_t rows;
    uint64_t findings;
};

/* host/store_check.h. Each finding is reported when found; findings are not an error. */
PAWL_MUST_CHECK int pawl__op_store_check(const struct pawl_op *op, struct pawl_str uri,
                                         pawl_finding_visitor visit, void *ctx,
                                         struct pawl_store_checked *out);

struct pawl_store_copied {
    struct pawl_str shown;
    struct pawl_backup_counts counts;
};

/* A consistent copy into the file `path` (host/backup.h). Nodes may keep working. `options` NULL:
 * compressed, with the mode of the setting `file.mode`, as where its file_mode is 0. */
PAWL_MUST_CHECK int pawl__op_store_backup(const struct pawl_op *op, struct pawl_str uri,
                                          const char *path,
                                          const struct pawl_backup_options *options,
                                          struct pawl_store_copied *out);
/*
 * Into a store that is empty or not there yet, which is made; the file is checked first.
 * PAWL_ECONFLICT: it is not empty; PAWL_EPARSE: that is no backup. With "" it is the setting's,
 * never the started host's own.
 */
PAWL_MUST_CHECK int pawl__op_store_restore(const struct pawl_op *op, struct pawl_str uri,
                                           const char *path,
                                           const struct pawl_backup_options *options,
                                           struct pawl_store_copied *out);

#endif
