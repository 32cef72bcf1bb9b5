/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the memory store, the tables and indexes they are in, and changes that can be taken back.
 * Knows the columns of a table, not what they mean, except for three things that are kept in order:
 * work by due time and by expiry, and the instances that have an owner or are runnable.
 *
 * Invariants, checked by pawl__memdb_tables_check():
 *   1. A row that is in its table is in each index of it once (in a sparse one only if its column
 *      is not ""), and in nothing else once it has left.
 *   2. Two rows are never equal in the columns of a unique index.
 *   3. An index has at least as many buckets as rows.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "stores/memory_private.h"

#include <stdio.h>

#define BUCKETS_MIN 16u

/* Besides the primary key. */
static const struct {
    enum pawl_table table;
    bool unique;
    const char *columns[MEMDB_INDEX_COLUMNS_MAX];
} definitions[] = {
    {PAWL_TABLE_BOOKMARKS, false, {"hash"}},
    {PAWL_TABLE_BOOKMARKS, false, {"instance_id"}},
    {PAWL_TABLE_WORK, false, {"hash", "correlation_id", "instance_id"}}, /* MEMDB_WORK_WAITING */
    {PAWL_TABLE_WORK, false, {"hash"}},
    {PAWL_TABLE_WORK, false, {"instance_id"}},
    {PAWL_TABLE_RESERVATIONS, false, {"instance_id"}},
    {PAWL_TABLE_JOURNAL, false, {"instance_id"}},
    {PAWL_TABLE_DEFINITIONS, true, {"definition_id", "version"}},
    {PAWL_TABLE_TRIGGERS, true, {"definition_id", "hash", "activity_id"}},
    {PAWL_TABLE_TRIGGERS, false, {"hash"}},
    {PAWL_TABLE_DEAD_LETTERS, true, {"work_id"}},
    {PAWL_TABLE_DEAD_LETTERS, false, {"instance_id"}},
    {PAWL_TABLE_NODES, true, {"incarnation"}},
    {PAWL_TABLE_ROUTES, false, {"instance_id"}},
    {PAWL_TABLE_ROUTES, false, {"path"}},
    {PAWL_TABLE_TASKS, false, {"instance_id"}},
    {PAWL_TABLE_TASKS, false, {"name"}},
    {PAWL_TABLE_JOBS, false, {"instance_id"}},
    {PAWL_TABLE_JOBS, false, {"plan_id"}},
    {PAWL_TABLE_CONSUMERS, false, {"used_id"}},
    {PAWL_TABLE_INCIDENTS, false, {"instance_id"}},
    {PAWL_TABLE_INCIDENTS, false, {"fingerprint"}},
    {PAWL_TABLE_HISTORY, false, {"instance_id"}},
    {PAWL_TABLE_DOCUMENTS, true, {"kind", "name"}},
    {PAWL_TABLE_EXECUTIONS, false, {"instance_id"}},
};

void pawl__memdb_tables_init(struct pawl_memory_database *db)
{
    pawl__list_init(&db->active);
    for (uint32_t i = 0; i < PAWL_TABLE_COUNT; i++) {
        struct memdb_table *table = &db->tables[i];
        struct memdb_index *primary = &table->indexes[0];

        table->info = pawl_table_info((enum pawl_table)i);
        pawl__list_init(&table->rows);
        table->index_count = 1;
        primary->unique = true;
        primary->column_count = table->info->key_count;
        for (uint32_t c = 0; c < primary->column_count; c++)
            primary->columns[c] = c;
    }
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        struct memdb_table *table = &db->tables[definitions[i].table];
        struct memdb_index *index = &table->indexes[table->index_count++];

        PAWL_ASSERT(table->index_count <= MEMDB_INDEXES_MAX);
        index->unique = definitions[i].unique;
        while (index->column_count < MEMDB_INDEX_COLUMNS_MAX &&
               definitions[i].columns[index->column_count]) {
            index->columns[index->column_count] = pawl_table_column(
                definitions[i].table, definitions[i].columns[index->column_count]);
            index->column_count++;
        }
    }
}

void pawl__memdb_tables_release(struct pawl_memory_database *db)
{
    for (uint32_t i = 0; i < PAWL_TABLE_COUNT; i++) {
        struct memdb_table *table = &db->tables[i];
        struct pawl_list_link *link;

        while ((link = pawl__list_pop_front(&table->rows)))
            pawl__memdb_row_free(db, PAWL_CONTAINER(link, struct memdb_row, link));
        for (uint32_t n = 0; n < table->index_count; n++)
            pawl__free(&db->env->alloc, table->indexes[n].buckets,
                       table->indexes[n].bucket_count * sizeof(struct pawl_list));
    }
}

/* ---- columns ------------------------------------------------------------------------------ */

int pawl__memdb_compare(const struct pawl_column *column, const void *a, const void *b)
{
    int64_t x, y;

    if (column->type != PAWL_COLUMN_INT)
        return pawl__str_compare(memdb_text(a, column), memdb_text(b, column));
    x = memdb_int(a, column);
    y = memdb_int(b, column);
    return (x > y) - (x < y);
}

static size_t count_nuls(struct pawl_str s)
{
    size_t count = 0;

    for (size_t at = pawl__str_find(s, '\0', 0); at != SIZE_MAX;
         at = pawl__str_find(s, '\0', at + 1))
        count++;
    return count;
}

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define REPLACEMENT_LEN (sizeof REPLACEMENT - 1)

static size_t clean_len(struct pawl_str s)
{
    return s.len + count_nuls(s) * (REPLACEMENT_LEN - 1);
}

/* Returns the end of what was written. */
static char *write_clean(char *to, struct pawl_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '\0') {
            *to++ = s.ptr[i];
            continue;
        }
        memcpy(to, REPLACEMENT, REPLACEMENT_LEN);
        to += REPLACEMENT_LEN;
    }
    return to;
}

struct pawl_str pawl__memdb_clean(struct pawl_arena *scratch, struct pawl_str s)
{
    size_t len = clean_len(s);
    char *copy;

    if (len == s.len)
        return pawl__str_make(s.len ? s.ptr : "", s.len);
    copy = pawl__arena_alloc_aligned(scratch, len, 1);
    if (copy)
        (void)write_clean(copy, s);
    return pawl__str_make(copy, copy ? len : 0);
}

/* ---- rows --------------------------------------------------------------------------------- */

static uint32_t choose_height(const struct pawl_memory_database *db, struct pawl_str id)
{
    uint64_t chance = pawl__siphash(db->seed, id);
    uint32_t height = 1;

    while (height < MEMDB_LEVELS_MAX && (chance & 3) == 0) {
        chance >>= 2;
        height++;
    }
    return height;
}

/* Bytes of all strings of a row as they will be stored. */
static size_t strings_size(const struct pawl_table_info *info, const void *data)
{
    size_t size = 0;

    for (uint32_t i = 0; i < info->column_count; i++) {
        const struct pawl_column *column = &info->columns[i];

        if (column->type == PAWL_COLUMN_TEXT)
            size += clean_len(memdb_text(data, column));
        else if (column->type == PAWL_COLUMN_BYTES)
            size += memdb_text(data, column).len;
    }
    return size;
}

static void copy_columns(const struct pawl_table_info *info, const void *from, void *to,
                         char *strings)
{
    for (uint32_t i = 0; i < info->column_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        void *member = (char *)to + column->offset;
        struct pawl_str text, copy = {strings, 0};

        if (column->type == PAWL_COLUMN_INT) {
            int64_t value = memdb_int(from, column);

            memcpy(member, &value, sizeof value);
            continue;
        }
        text = memdb_text(from, column);
        if (column->type == PAWL_COLUMN_TEXT) {
            strings = write_clean(strings, text);
        } else if (text.len > 0) {
            memcpy(strings, text.ptr, text.len);
            strings += text.len;
        }
        copy.len = (size_t)(strings - copy.ptr);
        memcpy(member, &copy, sizeof copy);
    }
}

struct memdb_row *pawl__memdb_row_new(struct pawl_memory_database *db, enum pawl_table table,
                                      const void *data)
{
    const struct pawl_table_info *info = db->tables[table].info;
    uint32_t height = 0;
    size_t links_size, size;
    struct memdb_row *row;

    if (table == PAWL_TABLE_WORK)
        height = choose_height(db, ((const struct pawl_work_row *)data)->id);
    links_size = height * MEMDB_ORDERS * sizeof row->next[0];
    size = sizeof *row + links_size + info->row_size + strings_size(info, data);
    row = pawl__alloc(&db->env->alloc, size);
    if (!row)
        return NULL;
    memset(row, 0, sizeof *row + links_size + info->row_size);
    row->table = table;
    row->height = height;
    row->size_bytes = size;
    row->next = (struct memdb_row **)(void *)(row + 1);
    row->data = (char *)(row + 1) + links_size;
    copy_columns(info, data, row->data, (char *)row->data + info->row_size);
    return row;
}

void pawl__memdb_row_free(struct pawl_memory_database *db, struct memdb_row *row)
{
    if (row)
        pawl__free(&db->env->alloc, row, row->size_bytes);
}

int pawl__memdb_copy_out(struct pawl_arena *arena, const struct memdb_row *row, bool brief,
                         void *out)
{
    const struct pawl_table_info *info = pawl_table_info(row->table);

    memcpy(out, row->data, info->row_size);
    for (uint32_t i = 0; i < info->column_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        struct pawl_str copy = {"", 0};

        if (column->type == PAWL_COLUMN_INT)
            continue;
        if (column->type != PAWL_COLUMN_BYTES || !brief)
            copy = pawl__arena_str(arena, memdb_text(row->data, column));
        if (!copy.ptr)
            return pawl__arena_status(arena);
        memcpy((char *)out + column->offset, &copy, sizeof copy);
    }
    return PAWL_OK;
}

/* ---- hash indexes ------------------------------------------------------------------------- */

static struct memdb_row *chained(struct pawl_list_link *link, uint32_t index)
{
    return (struct memdb_row *)(void *)((char *)link - offsetof(struct memdb_row, chains) -
                                        index * sizeof *link);
}

/* A row that an index leaves out. */
static bool is_left_out(const struct memdb_table *table, const struct memdb_index *index,
                        const void *data)
{
    return !index->unique && memdb_text(data, &table->info->columns[index->columns[0]]).len == 0;
}

static uint64_t hash_of(const struct pawl_memory_database *db, const struct memdb_table *table,
                        const struct memdb_index *index, const void *data)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < index->column_count; i++) {
        const struct pawl_column *column = &table->info->columns[index->columns[i]];
        int64_t number;
        struct pawl_str bytes = {(const char *)&number, sizeof number};

        if (column->type == PAWL_COLUMN_INT)
            number = memdb_int(data, column);
        else
            bytes = memdb_text(data, column);
        hash = hash * 31 + pawl__siphash(db->seed, bytes);
    }
    return hash;
}

static struct pawl_list *bucket_of(const struct pawl_memory_database *db,
                                   const struct memdb_table *table, const struct memdb_index *index,
                                   const void *data)
{
    return &index->buckets[hash_of(db, table, index, data) & (index->bucket_count - 1)];
}

static bool is_match(const struct memdb_table *table, const struct memdb_index *index,
                     const void *a, const void *b)
{
    for (uint32_t i = 0; i < index->column_count; i++)
        if (pawl__memdb_compare(&table->info->columns[index->columns[i]], a, b) != 0)
            return false;
    return true;
}

static struct memdb_row *match_from(const struct memdb_table *table, uint32_t index,
                                    const struct pawl_list *bucket, struct pawl_list_link *link,
                                    const void *probe)
{
    for (; link != &bucket->head; link = link->next) {
        struct memdb_row *row = chained(link, index);

        if (is_match(table, &table->indexes[index], row->data, probe))
            return row;
    }
    return NULL;
}

struct memdb_row *pawl__memdb_first(const struct pawl_memory_database *db, enum pawl_table which,
                                    uint32_t index, const void *probe)
{
    const struct memdb_table *table = &db->tables[which];
    struct pawl_list *bucket;

    if (table->indexes[index].bucket_count == 0)
        return NULL;
    bucket = bucket_of(db, table, &table->indexes[index], probe);
    return match_from(table, index, bucket, bucket->head.next, probe);
}

struct memdb_row *pawl__memdb_next(const struct pawl_memory_database *db,
                                   const struct memdb_row *row, uint32_t index, const void *probe)
{
    const struct memdb_table *table = &db->tables[row->table];

    return match_from(table, index, bucket_of(db, table, &table->indexes[index], probe),
                      row->chains[index].next, probe);
}

uint32_t pawl__memdb_index_of(const struct memdb_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->index_count; i++)
        if (table->indexes[i].column_count == 1 && table->indexes[i].columns[0] == column)
            return i;
    return table->index_count;
}

/* Makes room for one more row. */
static int grow(struct pawl_memory_database *db, struct memdb_table *table, uint32_t number)
{
    struct memdb_index *index = &table->indexes[number];
    uint32_t old_count = index->bucket_count, count = old_count ? old_count * 2 : BUCKETS_MIN;
    struct pawl_list *old = index->buckets, *buckets;
    struct memdb_row *row;

    if (index->row_count < old_count)
        return PAWL_OK;
    buckets = pawl__alloc(&db->env->alloc, count * sizeof *buckets);
    if (!buckets)
        return PAWL_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        pawl__list_init(&buckets[i]);
    index->buckets = buckets;
    index->bucket_count = count;
    PAWL_LIST_FOR_EACH (row, &table->rows, link) {
        struct pawl_list_link *chain = &row->chains[number];

        if (!pawl__list_linked(chain))
            continue;
        pawl__list_remove(chain);
        pawl__list_push_back(bucket_of(db, table, index, row->data), chain);
    }
    pawl__free(&db->env->alloc, old, old_count * sizeof *old);
    return PAWL_OK;
}

/* ---- order of work ------------------------------------------------------------------------ */

static int64_t time_of(const struct memdb_row *row, enum memdb_order order)
{
    const struct pawl_work_row *work = memdb_work_data(row);

    return order == MEMDB_BY_DUE ? work->due_us : work->expires_us;
}

static bool is_before(const struct memdb_row *row, enum memdb_order order, int64_t time_us,
                      struct pawl_str id)
{
    int64_t mine = time_of(row, order);

    return mine < time_us ||
           (mine == time_us && pawl__str_compare(memdb_work_data(row)->id, id) < 0);
}

/* For each level the place that refers to the first row that is not before (time, id). */
static void seek(struct pawl_memory_database *db, enum memdb_order order, int64_t time_us,
                 struct pawl_str id, struct memdb_row **places[MEMDB_LEVELS_MAX])
{
    struct memdb_row *at = NULL;

    for (uint32_t level = MEMDB_LEVELS_MAX; level-- > 0;) {
        struct memdb_row **place =
            at ? &at->next[(uint32_t)order * at->height + level] : &db->first[order][level];

        while (*place && is_before(*place, order, time_us, id)) {
            at = *place;
            place = &at->next[(uint32_t)order * at->height + level];
        }
        places[level] = place;
    }
}

static void link_order(struct pawl_memory_database *db, struct memdb_row *row,
                       enum memdb_order order)
{
    struct memdb_row **places[MEMDB_LEVELS_MAX];

    seek(db, order, time_of(row, order), memdb_work_data(row)->id, places);
    for (uint32_t level = 0; level < row->height; level++) {
        row->next[(uint32_t)order * row->height + level] = *places[level];
        *places[level] = row;
    }
}

static void unlink_order(struct pawl_memory_database *db, struct memdb_row *row,
                         enum memdb_order order)
{
    struct memdb_row **places[MEMDB_LEVELS_MAX];

    seek(db, order, time_of(row, order), memdb_work_data(row)->id, places);
    for (uint32_t level = 0; level < row->height; level++) {
        PAWL_ASSERT(*places[level] == row);
        *places[level] = row->next[(uint32_t)order * row->height + level];
    }
}

struct memdb_row *pawl__memdb_ordered_first(const struct pawl_memory_database *db,
                                            enum memdb_order order)
{
    return db->first[order][0];
}

struct memdb_row *pawl__memdb_ordered_after(const struct pawl_memory_database *db,
                                            enum memdb_order order, int64_t time_us)
{
    struct memdb_row *const *place = &db->first[order][MEMDB_LEVELS_MAX - 1];
    struct memdb_row *at = NULL;

    for (uint32_t level = MEMDB_LEVELS_MAX; level-- > 0;) {
        place = at ? &at->next[(uint32_t)order * at->height + level] : &db->first[order][level];
        while (*place && time_of(*place, order) <= time_us) {
            at = *place;
            place = &at->next[(uint32_t)order * at->height + level];
        }
    }
    return *place;
}

void pawl__memdb_set_due(struct pawl_memory_database *db, struct memdb_row *row, int64_t due_us)
{
    unlink_order(db, row, MEMDB_BY_DUE);
    memdb_work_data(row)->due_us = due_us;
    link_order(db, row, MEMDB_BY_DUE);
}

/* ---- in and out of a table ---------------------------------------------------------------- */

void pawl__memdb_instance_moved(struct pawl_memory_database *db, struct memdb_row *row)
{
    const struct pawl_instance_row *instance = memdb_instance_data(row);
    bool wanted = instance->owner != 0 || instance->runnable != 0;

    if (wanted && !pawl__list_linked(&row->active))
        pawl__list_push_back(&db->active, &row->active);
    else if (!wanted && pawl__list_linked(&row->active))
        pawl__list_remove(&row->active);
}

static void link_row(struct pawl_memory_database *db, struct memdb_row *row)
{
    struct memdb_table *table = &db->tables[row->table];

    pawl__list_push_back(&table->rows, &row->link);
    table->row_count++;
    for (uint32_t i = 0; i < table->index_count; i++) {
        struct memdb_index *index = &table->indexes[i];

        if (is_left_out(table, index, row->data))
            continue;
        pawl__list_push_back(bucket_of(db, table, index, row->data), &row->chains[i]);
        index->row_count++;
    }
    if (row->table == PAWL_TABLE_INSTANCES)
        pawl__memdb_instance_moved(db, row);
    if (row->table == PAWL_TABLE_WORK) {
        link_order(db, row, MEMDB_BY_DUE);
        link_order(db, row, MEMDB_BY_EXPIRY);
    }
}

static void unlink_row(struct pawl_memory_database *db, struct memdb_row *row)
{
    struct memdb_table *table = &db->tables[row->table];

    pawl__list_remove(&row->link);
    table->row_count--;
    for (uint32_t i = 0; i < table->index_count; i++) {
        if (!pawl__list_linked(&row->chains[i]))
            continue;
        pawl__list_remove(&row->chains[i]);
        table->indexes[i].row_count--;
    }
    if (pawl__list_linked(&row->active))
        pawl__list_remove(&row->active);
    if (row->table == PAWL_TABLE_WORK) {
        unlink_order(db, row, MEMDB_BY_DUE);
        unlink_order(db, row, MEMDB_BY_EXPIRY);
    }
}

/* ---- changes ------------------------------------------------------------------------------ */

int pawl__memdb_insert(struct memdb_changes *changes, struct memdb_row *row)
{
    struct pawl_memory_database *db = changes->db;
    struct memdb_table *table = &db->tables[row->table];
    int status;

    for (uint32_t i = 0; i < table->index_count; i++)
        if (table->indexes[i].unique && pawl__memdb_first(db, row->table, i, row->data))
            return PAWL_EEXISTS;
    if (table->row_count >= MEMDB_ROWS_MAX)
        return PAWL_ELIMIT;
    for (uint32_t i = 0; i < table->index_count; i++) {
        status = grow(db, table, i);
        if (status != PAWL_OK)
            return status;
    }
    link_row(db, row);
    row->log = MEMDB_LOG_INSERTED;
    row->log_next = changes->log;
    changes->log = row;
    return PAWL_OK;
}

void pawl__memdb_remove(struct memdb_changes *changes, struct memdb_row *row)
{
    unlink_row(changes->db, row);
    if (row->log == MEMDB_LOG_INSERTED) {
        row->log = MEMDB_LOG_PASSED;
        return;
    }
    row->log = MEMDB_LOG_REMOVED;
    row->log_next = changes->log;
    changes->log = row;
}

void pawl__memdb_keep_changes(struct memdb_changes *changes)
{
    while (changes->log) {
        struct memdb_row *row = changes->log;

        changes->log = row->log_next;
        if (row->log != MEMDB_LOG_INSERTED)
            pawl__memdb_row_free(changes->db, row);
        else
            row->log = MEMDB_LOG_NONE;
    }
}

/* Newest first: what stood in a row's place has left when the row comes back. */
void pawl__memdb_undo_changes(struct memdb_changes *changes)
{
    while (changes->log) {
        struct memdb_row *row = changes->log;

        changes->log = row->log_next;
        if (row->log == MEMDB_LOG_REMOVED) {
            row->log = MEMDB_LOG_NONE;
            link_row(changes->db, row);
            continue;
        }
        if (row->log == MEMDB_LOG_INSERTED)
            unlink_row(changes->db, row);
        pawl__memdb_row_free(changes->db, row);
    }
}

/* ---- who is who --------------------------------------------------------------------------- */

struct memdb_row *pawl__memdb_instance(const struct pawl_memory_database *db, struct pawl_str id)
{
    const struct pawl_instance_row probe = {.id = id};

    return pawl__memdb_first(db, PAWL_TABLE_INSTANCES, 0, &probe);
}

struct memdb_row *pawl__memdb_work(const struct pawl_memory_database *db, struct pawl_str id)
{
    const struct pawl_work_row probe = {.id = id};

    return pawl__memdb_first(db, PAWL_TABLE_WORK, 0, &probe);
}

bool pawl__memdb_is_alive(const struct pawl_memory_database *db, int64_t incarnation,
                          int64_t now_us)
{
    const struct pawl_node_row probe = {.incarnation = incarnation};
    uint32_t column = pawl_table_column(PAWL_TABLE_NODES, "incarnation");
    const struct memdb_row *row;

    if (incarnation == 0)
        return false;
    row = pawl__memdb_first(db, PAWL_TABLE_NODES,
                            pawl__memdb_index_of(&db->tables[PAWL_TABLE_NODES], column), &probe);
    return row && ((const struct pawl_node_row *)row->data)->lease_us > now_us;
}

/* ---- checking ----------------------------------------------------------------------------- */

static bool is_row_whole(const struct pawl_memory_database *db, const struct memdb_table *table,
                         const struct memdb_row *row)
{
    for (uint32_t i = 0; i < table->index_count; i++) {
        const struct memdb_index *index = &table->indexes[i];

        if (pawl__list_linked(&row->chains[i]) == is_left_out(table, index, row->data))
            return false;
        if (index->unique && pawl__memdb_first(db, row->table, i, row->data) != row)
            return false;
    }
    return row->log == MEMDB_LOG_NONE;
}

static void check_order(const struct pawl_memory_database *db, enum memdb_order order,
                        pawl_finding_visitor visit, void *ctx)
{
    const struct memdb_row *row = pawl__memdb_ordered_first(db, order), *next;
    uint32_t count = 0;

    for (; row; row = next, count++) {
        next = memdb_ordered_next(row, order);
        if (next && !is_before(row, order, time_of(next, order), memdb_work_data(next)->id))
            visit(ctx, "the work rows are not in order");
    }
    if (count != db->tables[PAWL_TABLE_WORK].row_count)
        visit(ctx, "the order of work lacks rows");
}

void pawl__memdb_tables_check(const struct pawl_memory_database *db, pawl_finding_visitor visit,
                              void *ctx)
{
    for (uint32_t i = 0; i < PAWL_TABLE_COUNT; i++) {
        const struct memdb_table *table = &db->tables[i];
        const struct memdb_row *row;
        uint32_t count = 0;
        char finding[128];

        PAWL_LIST_FOR_EACH (row, &table->rows, link) {
            count++;
            if (is_row_whole(db, table, row))
                continue;
            (void)snprintf(finding, sizeof finding, "%s: a row is not in its indexes",
                           table->info->name);
            visit(ctx, finding);
        }
        if (count == table->row_count)
            continue;
        (void)snprintf(finding, sizeof finding, "%s: %u rows where %u were counted",
                       table->info->name, count, table->row_count);
        visit(ctx, finding);
    }
    check_order(db, MEMDB_BY_DUE, visit, ctx);
    check_order(db, MEMDB_BY_EXPIRY, visit, ctx);
}
