/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups: a whole store, as of one moment, in one file that any store can be restored from.
 *
 * The file says what is in it, so that a backup of an older or another backend's store can be read:
 *
 *     header   one line of text: "pawl-backup 1 schema 1 zstd\n" (or "plain")
 *     blocks   u32 stored size (not 0), u32 plain size, then so many stored bytes: one zstd frame,
 *              or the records themselves. About 1 MB of records each
 *     end      u32 0, u64 number of rows, 32 bytes SHA-256 of all bytes before these
 *
 *     record   'T' number name column_count (name type)…    a table; before its first row
 *              'R' number value…                            a row, a value per declared column
 *     number   7 bits a byte, the lowest first, the top bit on all but the last
 *     name     number of bytes, bytes; texts and byte columns alike
 *     type     't', 'b', 'i'; values of 'i' are zigzag numbers
 *
 * Sizes are little-endian; no record crosses blocks. Columns are known by name: one that this
 * library has and the file has not is "" or 0; one that it does not know is PAWL_EUNSUPPORTED (made
 * by a newer Pawl). Whatever is cut off or changed is PAWL_ECORRUPT.
 */
#ifndef PAWL_HOST_BACKUP_H
#define PAWL_HOST_BACKUP_H

#include "base/hash/sha256.h"

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

#define PAWL_BACKUP_FORMAT 1
/* What every backup begins with, whatever its format. */
#define PAWL_BACKUP_MAGIC "pawl-backup "

/* Records in one block, and so one row, at the most: twice the largest state. */
#define PAWL_BACKUP_BLOCK_MAX ((size_t)512 << 20)
/* A block is written when it has this much. */
#define PAWL_BACKUP_BLOCK_BYTES ((size_t)1 << 20)
/* Tables and columns that a file may declare. */
#define PAWL_BACKUP_TABLES_MAX 64
#define PAWL_BACKUP_COLUMNS_MAX 64

/* The setting that a restored store has until the restore is complete. */
#define PAWL_RESTORE_MARK "pawl.restore.incomplete"

struct pawl_backup_counts {
    uint64_t rows[PAWL_TABLE_COUNT];
    uint64_t row_count;
    uint64_t size_bytes; /* of the file */
    int64_t schema;      /* of the store that was backed up */
    unsigned char digest[PAWL_SHA256_BYTES];
};

/* ---- the format -------------------------------------------------------------------------- */

/* Takes the next bytes of a backup, all of them. */
struct pawl_backup_sink {
    int (*write)(void *ctx, struct pawl_str bytes, struct pawl_error *err);
    void *ctx;
};

/* Gives the next bytes; *count is fewer than asked for only at the end. */
struct pawl_backup_source {
    int (*read)(void *ctx, void *out, size_t size_bytes, size_t *count, struct pawl_error *err);
    void *ctx;
};

struct pawl_backup_options {
    bool plain;             /* not compressed */
    uint32_t file_mode;     /* of a file that is written; 0: 0600 */
    size_t block_bytes_max; /* reading: refuses larger blocks; 0: PAWL_BACKUP_BLOCK_MAX */
    /* Called now and then with what was done so far. NULL: nobody watches. */
    void (*progress)(void *ctx, const struct pawl_backup_counts *so_far);
    void *progress_ctx;
};

/* Writes a snapshot of the store. `options` NULL: compressed. */
PAWL_MUST_CHECK int
pawl__backup_encode(const struct pawl_allocator *alloc, struct pawl_store *store,
                    const struct pawl_backup_options *options, const struct pawl_backup_sink *sink,
                    struct pawl_backup_counts *counts, int64_t deadline_ns, struct pawl_error *err);

/*
 * Reads a backup to its end and shows each row (borrowed for the call) to `visit`, unless that is
 * NULL. Rows come before anything is known of the checksum: read it once without a visitor. Errors
 * of `visit` end it. PAWL_EPARSE: this is no backup; PAWL_ECORRUPT; PAWL_EUNSUPPORTED; PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__backup_decode(const struct pawl_allocator *alloc,
                                        const struct pawl_backup_source *source,
                                        const struct pawl_backup_options *options,
                                        pawl_row_visitor visit, void *ctx,
                                        struct pawl_backup_counts *counts, struct pawl_error *err);

/* ---- files ------------------------------------------------------------------------------- */

/*
 * Backs a store up into the file `path`: written to PATH.part, synced and renamed, so that a file
 * of that name is a whole backup. PATH.part is removed on failure.
 * A backup that is there is replaced. PAWL_EEXISTS, and nothing is touched: something else that is
 * not empty is there, or PATH is where SQLite keeps the -wal, -shm or -journal of a file.
 */
PAWL_MUST_CHECK int pawl__backup_write(struct pawl_env *env, struct pawl_store *store,
                                       const char *path, const struct pawl_backup_options *options,
                                       struct pawl_backup_counts *counts, struct pawl_error *err);

/* Reads the whole file and changes nothing. PAWL_EPARSE, PAWL_ECORRUPT, PAWL_EUNSUPPORTED… */
PAWL_MUST_CHECK int pawl__backup_verify(struct pawl_env *env, const char *path,
                                        struct pawl_error *err);

/*
 * Restores an empty store from the file. The whole file is checked first. While rows are loaded the
 * store has the setting PAWL_RESTORE_MARK, with which it is refused by others, so that a restore
 * that was cut short is never taken for a whole one. PAWL_ECONFLICT: the store is not empty.
 */
PAWL_MUST_CHECK int pawl__backup_restore(struct pawl_env *env, struct pawl_store *store,
                                         const char *path,
                                         const struct pawl_backup_options *options,
                                         struct pawl_backup_counts *counts, struct pawl_error *err);

/* PAWL_ECONFLICT when a restore into this store did not come to its end. */
PAWL_MUST_CHECK int pawl__backup_check_complete(struct pawl_env *env, struct pawl_store *store,
                                                struct pawl_error *err);

#endif
