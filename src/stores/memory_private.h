/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory store's insides: rows, their indexes, and changes that can be taken back.
 *
 * Every row is one block of memory: this header, the table's struct, and the bytes of its strings.
 * Whatever a row is part of (its table, hash chains, the order of due times) is linked through the
 * row itself. So nothing but making a row and growing an index can fail, and taking changes back
 * never does: it only links and unlinks what is there.
 *
 * Everything here but the arena that rows are copied to is guarded by the database's mutex.
 */
#ifndef PAWL_STORES_MEMORY_PRIVATE_H
#define PAWL_STORES_MEMORY_PRIVATE_H

#include "base/arena.h"
#include "base/hash/siphash.h"
#include "base/list.h"
#include "stores/clock.h"
#include "stores/stores.h"

#define MEMDB_INDEXES_MAX 4
#define MEMDB_INDEX_COLUMNS_MAX 4
/* The index of work by all that a new bookmark is compared with. */
#define MEMDB_WORK_WAITING 1u
/* Levels of the skip lists: each has a quarter of the rows of the one below. */
#define MEMDB_LEVELS_MAX 12
/* Rows per table: chains have 32-bit counts, and memory ends earlier. */
#define MEMDB_ROWS_MAX ((uint32_t)1 << 28)
/* What a call may hold for the length of the call: a snapshot copies every row. */
#define MEMDB_SCRATCH_BYTES_MAX (SIZE_MAX / 2)

/* Two orders of the work rows. */
enum memdb_order { MEMDB_BY_DUE, MEMDB_BY_EXPIRY, MEMDB_ORDERS };

enum memdb_log {
    MEMDB_LOG_NONE,
    MEMDB_LOG_INSERTED, /* taking back: remove it */
    MEMDB_LOG_REMOVED,  /* taking back: link it again */
    MEMDB_LOG_PASSED,   /* inserted and removed by the same commit */
};

struct memdb_row {
    struct pawl_list_link link;                      /* in its table, oldest first */
    struct pawl_list_link chains[MEMDB_INDEXES_MAX]; /* in a bucket of each index */
    struct pawl_list_link active;                    /* instances: owned or runnable ones */
    struct memdb_row **next;                         /* work: [order * height + level] */
    uint32_t height;                                 /* work: levels it is in */
    enum pawl_table table;
    enum memdb_log log;
    struct memdb_row *log_next;
    void *data; /* struct pawl_…_row */
    size_t size_bytes;
};

/* A hash index. Not unique ones leave out rows whose column is "". */
struct memdb_index {
    uint32_t columns[MEMDB_INDEX_COLUMNS_MAX];
    uint32_t column_count;
    bool unique;
    struct pawl_list *buckets;
    uint32_t bucket_count; /* a power of two, or 0 */
    uint32_t row_count;
};

struct memdb_table {
    const struct pawl_table_info *info;
    struct pawl_list rows;
    uint32_t row_count;
    struct memdb_index indexes[MEMDB_INDEXES_MAX]; /* the first is the primary key */
    uint32_t index_count;
};

/* A claim or a take, as the row was before it. */
struct memdb_unsynced {
    struct pawl_list_link link;
    enum pawl_table table; /* of instances or of work */
    int64_t owner;
    int64_t takeovers;
    int64_t fence;      /* of instances */
    struct pawl_str id; /* behind the struct */
};

struct pawl_memory_database {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards everything below */
    struct pawl_cond *changed;
    struct pawl_hash_seed seed;
    struct memdb_table tables[PAWL_TABLE_COUNT];
    struct memdb_row *first[MEMDB_ORDERS][MEMDB_LEVELS_MAX];
    struct pawl_list active;
    int64_t incarnations; /* the newest that was given */
    struct pawl_store_clock clock;
    uint64_t signals; /* counts what wait() waits for */
    bool forgetful;
    struct pawl_list unsynced; /* struct memdb_unsynced, oldest first, since the last commit */
};

/* One connection. */
struct memdb_store {
    struct pawl_store base;
    struct pawl_memory_database *database;
    struct pawl_env *env; /* the node's */
    bool owns_database;
};

static inline struct memdb_store *memdb_cast(struct pawl_store *store)
{
    return (struct memdb_store *)(void *)store;
}

/* ---- calls (memory.c) --------------------------------------------------------------------- */

/*
 * Every call is between these two. Both ask whether the node was stopped: a node that crashed does
 * nothing any more and sees no answer. The mutex is the database's, so that it is never left held.
 */
PAWL_MUST_CHECK int pawl__memdb_enter(struct memdb_store *store, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__memdb_leave(struct memdb_store *store, int status,
                                      struct pawl_error *err);

int64_t pawl__memdb_now_us(const struct pawl_memory_database *db);
/* Moves what waits for a clock that was set back (memory_claim.c). */
void pawl__memdb_look_at_clock(struct pawl_memory_database *db);
/* Wakes those in wait(). */
void pawl__memdb_signal(struct pawl_memory_database *db);

/* ---- what a crash forgets (memory_sync.c) -------------------------------------------------- */

/* Before owner and fence of an instance, or the owner of work, change without a commit. Where
 * memory is short, nothing is noted: that one is not forgotten. */
void pawl__memdb_note_unsynced(struct pawl_memory_database *db, const struct memdb_row *row);
/* A commit was made durable, and everything before it. */
void pawl__memdb_synced(struct pawl_memory_database *db);

/* ---- tables (memory_tables.c) -------------------------------------------------------------- */

void pawl__memdb_tables_init(struct pawl_memory_database *db);
void pawl__memdb_tables_release(struct pawl_memory_database *db);

static inline struct pawl_str memdb_text(const void *row, const struct pawl_column *column)
{
    return *(const struct pawl_str *)(const void *)((const char *)row + column->offset);
}

static inline int64_t memdb_int(const void *row, const struct pawl_column *column)
{
    return *(const int64_t *)(const void *)((const char *)row + column->offset);
}

/* Negative, 0 or positive, by that column; text and bytes by their bytes. */
int pawl__memdb_compare(const struct pawl_column *column, const void *a, const void *b);

/* With U+FFFD for each NUL: `s` itself, or a copy in `scratch`. ptr is NULL on failure. */
struct pawl_str pawl__memdb_clean(struct pawl_arena *scratch, struct pawl_str s);

/* A copy of a caller's row, in no table yet; NULL when there is no memory. */
struct memdb_row *pawl__memdb_row_new(struct pawl_memory_database *db, enum pawl_table table,
                                      const void *data);
void pawl__memdb_row_free(struct pawl_memory_database *db, struct memdb_row *row);

/* Copies a row for a caller; a brief copy has "" in the columns of bytes. */
PAWL_MUST_CHECK int pawl__memdb_copy_out(struct pawl_arena *arena, const struct memdb_row *row,
                                         bool brief, void *out);

/* By the columns of an index, which `probe` has; texts without NULs. NULL: none (more). */
struct memdb_row *pawl__memdb_first(const struct pawl_memory_database *db, enum pawl_table which,
                                    uint32_t index, const void *probe);
struct memdb_row *pawl__memdb_next(const struct pawl_memory_database *db,
                                   const struct memdb_row *row, uint32_t index, const void *probe);
/* The number of the index of this column alone; index_count when there is none. */
uint32_t pawl__memdb_index_of(const struct memdb_table *table, uint32_t column);

/* The row of an instance by its clean id; NULL. */
struct memdb_row *pawl__memdb_instance(const struct pawl_memory_database *db, struct pawl_str id);
/* The row of work with that clean id; NULL. */
struct memdb_row *pawl__memdb_work(const struct pawl_memory_database *db, struct pawl_str id);
/* Is this the incarnation of a node whose lease is not over? */
bool pawl__memdb_is_alive(const struct pawl_memory_database *db, int64_t incarnation,
                          int64_t now_us);

static inline struct pawl_instance_row *memdb_instance_data(const struct memdb_row *row)
{
    return row->data;
}

static inline struct pawl_bookmark_row *memdb_bookmark_data(const struct memdb_row *row)
{
    return (struct pawl_bookmark_row *)(void *)row->data;
}

static inline struct pawl_work_row *memdb_work_data(const struct memdb_row *row)
{
    return row->data;
}

/* After owner or runnable of an instance that is in its table were changed in place. */
void pawl__memdb_instance_moved(struct pawl_memory_database *db, struct memdb_row *row);
/* Changes when work is due, in place. */
void pawl__memdb_set_due(struct pawl_memory_database *db, struct memdb_row *row, int64_t due_us);

/* In the order of due or expiry; NULL at the end. */
struct memdb_row *pawl__memdb_ordered_first(const struct pawl_memory_database *db,
                                            enum memdb_order order);
/* The first that is due later than `time_us`. */
struct memdb_row *pawl__memdb_ordered_after(const struct pawl_memory_database *db,
                                            enum memdb_order order, int64_t time_us);
static inline struct memdb_row *memdb_ordered_next(const struct memdb_row *row,
                                                   enum memdb_order order)
{
    return row->next[(uint32_t)order * row->height];
}

/* Reports internal inconsistencies: every row must be found where it belongs. */
void pawl__memdb_tables_check(const struct pawl_memory_database *db, pawl_finding_visitor visit,
                              void *ctx);

/* ---- changes that can be taken back (memory_tables.c) -------------------------------------- */

struct memdb_changes {
    struct pawl_memory_database *db;
    struct memdb_row *log; /* newest first */
};

/*
 * Puts `row` into its table and takes it. PAWL_EEXISTS: a unique index has another; PAWL_ENOMEM,
 * PAWL_ELIMIT. The row is then still the caller's.
 */
PAWL_MUST_CHECK int pawl__memdb_insert(struct memdb_changes *changes, struct memdb_row *row);
void pawl__memdb_remove(struct memdb_changes *changes, struct memdb_row *row);
void pawl__memdb_keep_changes(struct memdb_changes *changes);
void pawl__memdb_undo_changes(struct memdb_changes *changes);

/* ---- the first n of many (memory_find.c) --------------------------------------------------- */

/* Keeps the first `room` of the rows that are offered, by an order. */
struct memdb_firsts {
    const struct memdb_row **rows; /* room for `room`; the caller's */
    size_t room;
    size_t count;
    int (*compare)(const void *ctx, const void *a, const void *b); /* of the rows' data */
    const void *ctx;
};

void pawl__memdb_firsts_offer(struct memdb_firsts *firsts, const struct memdb_row *row);
/* Puts them in order. */
void pawl__memdb_firsts_sort(struct memdb_firsts *firsts);

/* ---- the operations ------------------------------------------------------------------------ */

int pawl__memdb_apply(struct pawl_store *base, struct pawl_commit *const *commits, size_t count,
                      int64_t deadline_ns, struct pawl_error *err);
int pawl__memdb_claim(struct pawl_store *base, int64_t owner, struct pawl_claim *claims,
                      size_t count, struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                      struct pawl_error *err);
int pawl__memdb_take(struct pawl_store *base, const struct pawl_take *take,
                     struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                     struct pawl_error *err);
int pawl__memdb_find(struct pawl_store *base, const struct pawl_query *query,
                     struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                     struct pawl_error *err);

#endif
