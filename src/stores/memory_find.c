/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries on the memory store: every row is looked at, unless a condition names the key of an
 * index. Of those that match, only as many are kept as the answer wants; they are sorted at the
 * end.
 */
#include "base/error.h"
#include "stores/memory_private.h"

/* ---- the first n of many ------------------------------------------------------------------ */

/* A heap with the last one of those kept on top: it goes when a better one is offered. */
static bool is_later(const struct memdb_firsts *firsts, size_t a, size_t b)
{
    return firsts->compare(firsts->ctx, firsts->rows[a]->data, firsts->rows[b]->data) > 0;
}

static void swap(struct memdb_firsts *firsts, size_t a, size_t b)
{
    const struct memdb_row *row = firsts->rows[a];

    firsts->rows[a] = firsts->rows[b];
    firsts->rows[b] = row;
}

static void sink(struct memdb_firsts *firsts, size_t at, size_t count)
{
    for (;;) {
        size_t last = at, child = 2 * at + 1;

        for (size_t i = child; i < child + 2 && i < count; i++)
            if (is_later(firsts, i, last))
                last = i;
        if (last == at)
            return;
        swap(firsts, at, last);
        at = last;
    }
}

void pawl__memdb_firsts_offer(struct memdb_firsts *firsts, const struct memdb_row *row)
{
    size_t at = firsts->count;

    if (firsts->room == 0)
        return;
    if (firsts->count == firsts->room) {
        if (firsts->compare(firsts->ctx, row->data, firsts->rows[0]->data) >= 0)
            return;
        firsts->rows[0] = row;
        sink(firsts, 0, firsts->count);
        return;
    }
    firsts->rows[firsts->count++] = row;
    for (; at > 0 && is_later(firsts, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(firsts, at, (at - 1) / 2);
}

void pawl__memdb_firsts_sort(struct memdb_firsts *firsts)
{
    for (size_t count = firsts->count; count > 1;) {
        swap(firsts, 0, --count);
        sink(firsts, 0, count);
    }
}

/* ---- conditions --------------------------------------------------------------------------- */

struct finding {
    const struct pawl_memory_database *db;
    const struct memdb_table *table;
    const struct pawl_query *query;
    struct pawl_condition *conditions; /* with clean texts */
    const struct pawl_column *order;
    const void *after; /* with clean texts, or NULL */
    struct memdb_firsts firsts;
    uint64_t total;
};

static int compare_rows(const void *ctx, const void *a, const void *b)
{
    const struct finding *f = ctx;
    int order = pawl__memdb_compare(f->order, a, b);

    for (uint32_t i = 0; i < f->table->info->key_count && order == 0; i++)
        order = pawl__memdb_compare(&f->table->info->columns[i], a, b);
    return f->query->flags & PAWL_QUERY_DESCENDING ? -order : order;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(struct pawl_str text, struct pawl_str part)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        size_t i = 0;

        while (i < part.len && lower(text.ptr[at + i]) == lower(part.ptr[i]))
            i++;
        if (i == part.len)
            return true;
    }
    return false;
}

static int compare_datum(const struct pawl_column *column, const void *row,
                         const struct pawl_datum *datum)
{
    int64_t number;

    if (column->type != PAWL_COLUMN_INT)
        return pawl__str_compare(memdb_text(row, column), datum->text);
    number = memdb_int(row, column);
    return (number > datum->integer) - (number < datum->integer);
}

static bool holds(const struct finding *f, const struct pawl_condition *condition, const void *row)
{
    const struct pawl_column *column = &f->table->info->columns[condition->column];

    switch (condition->compare) {
    case PAWL_EQ:
        return compare_datum(column, row, &condition->value) == 0;
    case PAWL_NE:
        return compare_datum(column, row, &condition->value) != 0;
    case PAWL_LT:
        return compare_datum(column, row, &condition->value) < 0;
    case PAWL_LE:
        return compare_datum(column, row, &condition->value) <= 0;
    case PAWL_GT:
        return compare_datum(column, row, &condition->value) > 0;
    case PAWL_GE:
        return compare_datum(column, row, &condition->value) >= 0;
    case PAWL_IN:
        for (size_t i = 0; i < condition->value_count; i++)
            if (compare_datum(column, row, &condition->values[i]) == 0)
                return true;
        return false;
    case PAWL_CONTAINS:
        return contains(memdb_text(row, column), condition->value.text);
    }
    return false;
}

/* Neighbours with the same `any` are a group of which one must hold. */
static bool is_match(const struct finding *f, const void *row)
{
    for (size_t i = 0; i < f->query->condition_count;) {
        uint32_t any = f->conditions[i].any;
        bool held = holds(f, &f->conditions[i++], row);

        while (any != 0 && i < f->query->condition_count && f->conditions[i].any == any)
            held = holds(f, &f->conditions[i++], row) || held;
        if (!held)
            return false;
    }
    return true;
}

static void offer(struct finding *f, const struct memdb_row *row)
{
    if (!is_match(f, row->data))
        return;
    f->total++;
    if (!f->after || compare_rows(f, row->data, f->after) > 0)
        pawl__memdb_firsts_offer(&f->firsts, row);
}

/* ---- which rows to look at ---------------------------------------------------------------- */

/* The rows that one index has for one condition. */
struct candidate {
    uint32_t index;
    const void *probe;
    const struct memdb_row *at;
};

/* Whether the condition must hold and an index serves it. */
static bool is_indexed(const struct finding *f, const struct pawl_condition *condition,
                       uint32_t *index)
{
    if (condition->any != 0 || condition->compare != PAWL_EQ || condition->value.text.len == 0 ||
        f->table->info->columns[condition->column].type != PAWL_COLUMN_TEXT)
        return false;
    *index = pawl__memdb_index_of(f->table, condition->column);
    return *index < f->table->index_count;
}

static int add_candidate(const struct finding *f, const struct pawl_condition *condition,
                         uint32_t index, struct pawl_arena *scratch, struct candidate *out)
{
    void *probe = pawl__arena_alloc_zeroed(scratch, f->table->info->row_size);

    if (!probe)
        return pawl__arena_status(scratch);
    memcpy((char *)probe + f->table->info->columns[condition->column].offset,
           &condition->value.text, sizeof condition->value.text);
    *out =
        (struct candidate){index, probe, pawl__memdb_first(f->db, f->query->table, index, probe)};
    return PAWL_OK;
}

/*
 * The one with the fewest rows: all are walked in step, and the first to end has them. A hash that
 * very many wait for must not be what one of them is looked up by.
 */
static const struct candidate *shortest(const struct finding *f, struct candidate *list,
                                        size_t count)
{
    size_t i = 0;

    while (count > 1 && list[i].at) {
        list[i].at = pawl__memdb_next(f->db, list[i].at, list[i].index, list[i].probe);
        i = (i + 1) % count;
    }
    return &list[i];
}

static int find_matches(struct finding *f, struct pawl_arena *scratch)
{
    struct candidate list[PAWL_STORE_CONDITIONS_MAX];
    const struct candidate *from;
    const struct memdb_row *row;
    size_t count = 0;

    for (size_t i = 0; i < f->query->condition_count; i++) {
        uint32_t index;
        int status;

        if (!is_indexed(f, &f->conditions[i], &index))
            continue;
        status = add_candidate(f, &f->conditions[i], index, scratch, &list[count++]);
        if (status != PAWL_OK)
            return status;
    }
    if (count == 0) {
        PAWL_LIST_FOR_EACH (row, &f->table->rows, link)
            offer(f, row);
        return PAWL_OK;
    }
    from = shortest(f, list, count);
    for (row = pawl__memdb_first(f->db, f->query->table, from->index, from->probe); row;
         row = pawl__memdb_next(f->db, row, from->index, from->probe))
        offer(f, row);
    return PAWL_OK;
}

/* ---- the query ---------------------------------------------------------------------------- */

static int check_query(const struct pawl_query *query, struct pawl_error *err)
{
    const struct pawl_table_info *info;

    if ((unsigned)query->table >= PAWL_TABLE_COUNT)
        return pawl__error_set(err, PAWL_EINVAL, "there is no table %d", (int)query->table);
    info = pawl_table_info(query->table);
    if (query->order >= info->column_count)
        return pawl__error_set(err, PAWL_EINVAL, "table %s has no column %u to order by",
                               info->name, query->order);
    if (query->limit > PAWL_STORE_ROWS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%u rows at once; %d are allowed", query->limit,
                               PAWL_STORE_ROWS_MAX);
    if (query->condition_count > PAWL_STORE_CONDITIONS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu conditions; %d are allowed",
                               query->condition_count, PAWL_STORE_CONDITIONS_MAX);
    for (size_t i = 0; i < query->condition_count; i++) {
        const struct pawl_condition *condition = &query->conditions[i];

        if (condition->column >= info->column_count)
            return pawl__error_set(err, PAWL_EINVAL, "table %s has no column %u", info->name,
                                   condition->column);
        if ((unsigned)condition->compare > PAWL_CONTAINS ||
            (condition->compare == PAWL_CONTAINS &&
             info->columns[condition->column].type != PAWL_COLUMN_TEXT))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "column %s of table %s does not support this comparison",
                                   info->columns[condition->column].name, info->name);
        if (condition->value_count > PAWL_STORE_VALUES_MAX)
            return pawl__error_set(err, PAWL_ELIMIT, "%zu values in one list; %d are allowed",
                                   condition->value_count, PAWL_STORE_VALUES_MAX);
    }
    return PAWL_OK;
}

static int clean_condition(struct pawl_arena *scratch, const struct pawl_column *column,
                           struct pawl_condition *condition)
{
    struct pawl_datum *values;

    if (column->type != PAWL_COLUMN_TEXT)
        return PAWL_OK;
    condition->value.text = pawl__memdb_clean(scratch, condition->value.text);
    if (!condition->value.text.ptr)
        return pawl__arena_status(scratch);
    if (condition->compare != PAWL_IN)
        return PAWL_OK;
    values = pawl__arena_alloc_array(scratch, condition->value_count, sizeof *values);
    if (!values)
        return pawl__arena_status(scratch);
    for (size_t i = 0; i < condition->value_count; i++) {
        values[i].text = pawl__memdb_clean(scratch, condition->values[i].text);
        if (!values[i].text.ptr)
            return pawl__arena_status(scratch);
    }
    condition->values = values;
    return PAWL_OK;
}

/* The key's and the order's columns of the caller's row; nothing else of it is looked at. */
static int clean_after(struct finding *f, struct pawl_arena *scratch)
{
    const struct pawl_table_info *info = f->table->info;
    void *copy = pawl__arena_alloc_zeroed(scratch, info->row_size);

    if (!copy)
        return pawl__arena_status(scratch);
    for (uint32_t i = 0; i <= info->key_count; i++) {
        const struct pawl_column *column = i < info->key_count ? &info->columns[i] : f->order;
        const void *from = (const char *)f->query->after + column->offset;
        struct pawl_str text;

        if (column->type == PAWL_COLUMN_INT) {
            memcpy((char *)copy + column->offset, from, sizeof(int64_t));
            continue;
        }
        text = memdb_text(f->query->after, column);
        if (column->type == PAWL_COLUMN_TEXT) {
            text = pawl__memdb_clean(scratch, text);
            if (!text.ptr)
                return pawl__arena_status(scratch);
        }
        memcpy((char *)copy + column->offset, &text, sizeof text);
    }
    f->after = copy;
    return PAWL_OK;
}

static int prepare(struct finding *f, struct pawl_arena *scratch)
{
    const struct pawl_query *query = f->query;
    uint64_t room = query->limit ? query->limit : PAWL_STORE_ROWS_DEFAULT;
    int status = PAWL_OK;

    f->order = &f->table->info->columns[query->order];
    room = query->offset > UINT64_MAX - room ? UINT64_MAX : room + query->offset;
    if (room > f->table->row_count)
        room = f->table->row_count;
    if (query->flags & PAWL_QUERY_COUNT)
        room = 0;
    f->firsts = (struct memdb_firsts){.room = room, .compare = compare_rows, .ctx = f};
    f->firsts.rows = pawl__arena_alloc_array(scratch, room, sizeof f->firsts.rows[0]);
    f->conditions = pawl__arena_alloc_array(scratch, query->condition_count, sizeof *f->conditions);
    if (!f->firsts.rows || !f->conditions)
        return pawl__arena_status(scratch);
    for (size_t i = 0; i < query->condition_count && status == PAWL_OK; i++) {
        f->conditions[i] = query->conditions[i];
        status = clean_condition(scratch, &f->table->info->columns[query->conditions[i].column],
                                 &f->conditions[i]);
    }
    if (status == PAWL_OK && query->after)
        status = clean_after(f, scratch);
    return status;
}

static int fill_rows(struct finding *f, struct pawl_arena *arena, struct pawl_rows *out)
{
    size_t size = f->table->info->row_size;
    size_t skip = f->query->offset < f->firsts.count ? (size_t)f->query->offset : f->firsts.count;
    char *copies = pawl__arena_alloc_array(arena, f->firsts.count - skip, size);

    if (!copies)
        return pawl__arena_status(arena);
    pawl__memdb_firsts_sort(&f->firsts);
    for (size_t i = skip; i < f->firsts.count; i++) {
        int status = pawl__memdb_copy_out(arena, f->firsts.rows[i],
                                          (f->query->flags & PAWL_QUERY_BRIEF) != 0,
                                          copies + (i - skip) * size);

        if (status != PAWL_OK)
            return status;
    }
    *out = (struct pawl_rows){.rows = copies, .count = f->firsts.count - skip};
    if (f->query->flags & (PAWL_QUERY_COUNT | PAWL_QUERY_TOTAL))
        out->total = f->total;
    return PAWL_OK;
}

int pawl__memdb_find(struct pawl_store *base, const struct pawl_query *query,
                     struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct finding f = {.db = store->database, .query = query};
    struct pawl_arena scratch;
    struct pawl_rows answer = {0};
    int status = check_query(query, err);

    (void)deadline_ns;
    if (status == PAWL_OK)
        status = pawl__memdb_enter(store, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&scratch, &store->database->env->alloc, MEMDB_SCRATCH_BYTES_MAX);
    f.table = &store->database->tables[query->table];
    status = prepare(&f, &scratch);
    if (status == PAWL_OK)
        status = find_matches(&f, &scratch);
    if (status == PAWL_OK)
        status = fill_rows(&f, arena, &answer);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    pawl__arena_release(&scratch);
    status = pawl__memdb_leave(store, status, err);
    if (status == PAWL_OK)
        *out = answer;
    return status;
}
