/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups as files, and restoring. The format is in backup_write.c and backup_read.c.
 *
 * A restore goes over the file twice: first it only looks, so that a damaged file has changed
 * nothing; then it loads, between setting and removing a mark that makes the store unusable.
 */
#include "host/backup.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>

#define FILE_MODE_DEFAULT 0600 /* states and payloads are nobody else's business */

/* Rows per load(), and their bytes: one transaction of a size that every backend likes. */
#define LOAD_ROWS_MAX 1000
#define LOAD_BYTES ((size_t)4 << 20)

/* ---- writing ----------------------------------------------------------------------------- */

static int append(void *ctx, struct pawl_str bytes, struct pawl_error *err)
{
    return pawl__file_append(ctx, bytes, err);
}

static int remove_if_there(const char *path, struct pawl_error *err)
{
    struct pawl_error ignored;
    int status = pawl__file_remove(path, &ignored);

    if (status != PAWL_OK && status != PAWL_ENOTFOUND && err)
        *err = ignored;
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

/* SQLite takes a file of such a name beside a store for its own, and removes or overwrites it. */
static int check_companion(const char *path, struct pawl_error *err)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char store[PATH_MAX];
    bool is_there = false;

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t len = strlen(path), ending = strlen(endings[i]);
        int status;

        if (len <= ending || len >= sizeof store || strcmp(path + len - ending, endings[i]) != 0)
            continue;
        memcpy(store, path, len - ending);
        store[len - ending] = '\0';
        status = pawl__file_exists(store, &is_there, err);
        if (status != PAWL_OK)
            return status;
        if (is_there)
            return pawl__error_set(err, PAWL_EEXISTS,
                                   "%s is a file of the store %s; name another for the backup",
                                   path, store);
    }
    return PAWL_OK;
}

/*
 * A store may be named where the backup was meant: only a backup is replaced. An empty file, as
 * mktemp makes it, has nothing to lose.
 */
static int check_replaced(struct pawl_env *env, const char *path, struct pawl_error *err)
{
    char magic[sizeof PAWL_BACKUP_MAGIC - 1];
    struct pawl_file *file = NULL;
    size_t count = 0;
    int status = pawl__file_check_replaceable(path, err);

    if (status != PAWL_OK || !pawl__file_is_regular(path))
        return status;
    status = pawl__file_open_read(&env->alloc, path, &file, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__file_next(file, magic, sizeof magic, &count, err);
    pawl__file_close(file);
    if (status == PAWL_OK && count > 0 &&
        (count < sizeof magic || memcmp(magic, PAWL_BACKUP_MAGIC, sizeof magic) != 0))
        return pawl__error_set(err, PAWL_EEXISTS,
                               "%s exists and is not a backup, so it is not replaced; name another "
                               "file, or remove it first",
                               path);
    return status;
}

static int write_part(struct pawl_env *env, struct pawl_store *store, const char *part,
                      const struct pawl_backup_options *options, struct pawl_backup_counts *counts,
                      struct pawl_error *err)
{
    struct pawl_backup_sink sink = {append, NULL};
    struct pawl_file *file = NULL;
    uint32_t mode = options && options->file_mode ? options->file_mode : FILE_MODE_DEFAULT;
    int status = pawl__file_open(&env->alloc, part, mode, &file, err);

    if (status != PAWL_OK)
        return status;
    sink.ctx = file;
    status = pawl__backup_encode(&env->alloc, store, options, &sink, counts, PAWL_FOREVER, err);
    if (status == PAWL_OK)
        status = pawl__file_sync(file, err);
    pawl__file_close(file);
    return status;
}

/* Says first what is left of it all, with another code. */
static int restate(struct pawl_error *err, int status, int code, const char *left)
{
    (void)pawl__error_prefix(err, status, "%s", left);
    if (err)
        err->code = code;
    return code;
}

int pawl__backup_write(struct pawl_env *env, struct pawl_store *store, const char *path,
                       const struct pawl_backup_options *options, struct pawl_backup_counts *counts,
                       struct pawl_error *err)
{
    struct pawl_backup_counts done;
    char part[PATH_MAX];
    int status;

    if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
        return pawl__error_set(err, PAWL_EINVAL, "the name of the backup is too long");
    status = check_companion(path, err);
    if (status == PAWL_OK)
        status = check_replaced(env, path, err);
    if (status == PAWL_OK)
        status = pawl__backup_check_complete(env, store, err);
    if (status == PAWL_OK)
        status = remove_if_there(part, err);
    if (status != PAWL_OK)
        return status;
    status = write_part(env, store, part, options, &done, err);
    if (status != PAWL_OK) {
        (void)remove_if_there(part, NULL);
        /* How much of the part was written is all that was unknown, and that is gone. */
        return status == PAWL_EUNKNOWN
                   ? restate(err, status, PAWL_EUNAVAILABLE, "no backup was written")
                   : status;
    }
    status = pawl__file_rename(part, path, err);
    if (status == PAWL_OK)
        *counts = done;
    else if (status != PAWL_EUNKNOWN)
        (void)remove_if_there(part, NULL);
    return status;
}

/* ---- the mark of an unfinished restore ----------------------------------------------------- */

static int change_mark(struct pawl_store *store, enum pawl_change_kind kind, struct pawl_error *err)
{
    struct pawl_setting_row row = {.key = PAWL_STR_LIT(PAWL_RESTORE_MARK),
                                   .value = PAWL_STR_LIT("1")};
    struct pawl_change change = {kind, PAWL_TABLE_SETTINGS, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    int status = pawl_store_apply(store, commits, 1, PAWL_FOREVER, err);

    if (status != PAWL_OK)
        return status;
    if (commit.status != PAWL_OK)
        return pawl__error_set(err, commit.status, "the store refused a setting: %s",
                               commit.error.msg);
    return PAWL_OK;
}

int pawl__backup_check_complete(struct pawl_env *env, struct pawl_store *store,
                                struct pawl_error *err)
{
    struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_SETTINGS, "key"),
        .compare = PAWL_EQ,
        .value.text = PAWL_STR_LIT(PAWL_RESTORE_MARK),
    };
    struct pawl_query query = {.table = PAWL_TABLE_SETTINGS,
                               .flags = PAWL_QUERY_COUNT,
                               .conditions = &condition,
                               .condition_count = 1};
    struct pawl_rows rows = {.total = 0};
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &env->alloc, (size_t)1 << 20);
    status = pawl_store_find(store, &query, &arena, &rows, PAWL_FOREVER, err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK && rows.total > 0)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "a restore into this store was not finished, so its content is "
                               "incomplete; remove it and restore again into a new one");
    return status;
}

/* ---- restoring --------------------------------------------------------------------------- */

static int read_next(void *ctx, void *out, size_t size_bytes, size_t *count, struct pawl_error *err)
{
    return pawl__file_next(ctx, out, size_bytes, count, err);
}

/* Reads the whole file with or without a visitor. */
static int read_file(struct pawl_env *env, const char *path,
                     const struct pawl_backup_options *options, pawl_row_visitor visit, void *ctx,
                     struct pawl_backup_counts *counts, struct pawl_error *err)
{
    struct pawl_backup_source source = {read_next, NULL};
    struct pawl_file *file = NULL;
    int status = pawl__file_open_read(&env->alloc, path, &file, err);

    if (status != PAWL_OK)
        return status;
    source.ctx = file;
    status = pawl__backup_decode(&env->alloc, &source, options, visit, ctx, counts, err);
    pawl__file_close(file);
    return status;
}

int pawl__backup_verify(struct pawl_env *env, const char *path, struct pawl_error *err)
{
    int status = read_file(env, path, NULL, NULL, NULL, NULL, err);

    return status == PAWL_OK || status == PAWL_ENOTFOUND
               ? status
               : pawl__error_prefix(err, status, "%s", path);
}

static int check_empty(struct pawl_env *env, struct pawl_store *store, struct pawl_error *err)
{
    struct pawl_arena arena;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &env->alloc, (size_t)1 << 20);
    for (unsigned table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++) {
        struct pawl_query query = {.table = (enum pawl_table)table, .flags = PAWL_QUERY_COUNT};
        struct pawl_rows rows = {.total = 0};

        status = pawl_store_find(store, &query, &arena, &rows, PAWL_FOREVER, err);
        if (status == PAWL_OK && rows.total > 0)
            status = pawl__error_set(err, PAWL_ECONFLICT,
                                     "the store is not empty: its table %s has %ju row%s; restore "
                                     "into a new one",
                                     pawl_table_info(query.table)->name, (uintmax_t)rows.total,
                                     rows.total == 1 ? "" : "s");
    }
    pawl__arena_release(&arena);
    return status;
}

/* Rows of one table that wait to be loaded together. */
struct loader {
    struct pawl_store *store;
    struct pawl_arena arena; /* of the waiting rows' texts */
    enum pawl_table table;
    char *rows; /* LOAD_ROWS_MAX of the largest row */
    size_t count;
};

static int flush(struct loader *loader, struct pawl_error *err)
{
    int status = PAWL_OK;

    if (loader->count > 0)
        status = pawl_store_load(loader->store, loader->table, loader->rows, loader->count,
                                 PAWL_FOREVER, err);
    loader->count = 0;
    pawl__arena_reset(&loader->arena);
    return status;
}

static size_t largest_row(void)
{
    size_t largest = 0;

    for (unsigned table = 0; table < PAWL_TABLE_COUNT; table++) {
        size_t size = pawl_table_info((enum pawl_table)table)->row_size;

        largest = size > largest ? size : largest;
    }
    return largest;
}

/* Copies the row with its texts, which the decoder only lends. */
static int keep(struct loader *loader, const void *row, struct pawl_error *err)
{
    const struct pawl_table_info *info = pawl_table_info(loader->table);
    char *to = loader->rows + loader->count * info->row_size;

    memcpy(to, row, info->row_size);
    for (uint32_t i = 0; i < info->column_count; i++) {
        struct pawl_str text;

        if (info->columns[i].type == PAWL_COLUMN_INT)
            continue;
        memcpy(&text, to + info->columns[i].offset, sizeof text);
        text = pawl__arena_str(&loader->arena, text);
        if (!text.ptr)
            return pawl__error_code(err, pawl__arena_status(&loader->arena));
        memcpy(to + info->columns[i].offset, &text, sizeof text);
    }
    loader->count++;
    return PAWL_OK;
}

static int visit(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct loader *loader = ctx;
    int status = PAWL_OK;

    if (table != loader->table || loader->count == LOAD_ROWS_MAX ||
        loader->arena.held_bytes > LOAD_BYTES)
        status = flush(loader, err);
    loader->table = table;
    return status == PAWL_OK ? keep(loader, row, err) : status;
}

static int load_all(struct pawl_env *env, struct pawl_store *store, const char *path,
                    const struct pawl_backup_options *options, struct pawl_backup_counts *counts,
                    struct pawl_error *err)
{
    size_t rows_size = LOAD_ROWS_MAX * largest_row();
    struct loader loader = {.store = store, .rows = pawl__alloc(&env->alloc, rows_size)};
    int status;

    if (!loader.rows)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__arena_init(&loader.arena, &env->alloc, 2 * PAWL_BACKUP_BLOCK_MAX);
    status = read_file(env, path, options, visit, &loader, counts, err);
    if (status == PAWL_OK)
        status = flush(&loader, err);
    pawl__arena_release(&loader.arena);
    pawl__free(&env->alloc, loader.rows, rows_size);
    return status;
}

int pawl__backup_restore(struct pawl_env *env, struct pawl_store *store, const char *path,
                         const struct pawl_backup_options *options,
                         struct pawl_backup_counts *counts, struct pawl_error *err)
{
    struct pawl_backup_options quiet = {.plain = false};
    struct pawl_backup_counts seen, loaded;
    int status;

    if (options)
        quiet.block_bytes_max = options->block_bytes_max;
    status = read_file(env, path, &quiet, NULL, NULL, &seen, err);
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "%s", path);
    status = pawl__backup_check_complete(env, store, err);
    if (status == PAWL_OK)
        status = check_empty(env, store, err);
    if (status == PAWL_OK)
        status = change_mark(store, PAWL_CHANGE_INSERT, err);
    if (status != PAWL_OK)
        return status;
    status = load_all(env, store, path, options, &loaded, err);
    if (status == PAWL_OK && memcmp(loaded.digest, seen.digest, sizeof seen.digest) != 0)
        status = pawl__error_set(err, PAWL_ECONFLICT, "%s changed while it was read", path);
    if (status == PAWL_OK)
        status = change_mark(store, PAWL_CHANGE_DELETE, err);
    /* Not as if nothing had been changed: the same again is refused. */
    if (status != PAWL_OK)
        return restate(err, status, pawl__error_says_unchanged(status) ? PAWL_EUNKNOWN : status,
                       "the store is incomplete and marked so: remove it and restore again into a "
                       "new one");
    *counts = loaded;
    return PAWL_OK;
}
