/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the members of a batch that conflict, that is, change the same rows. Nothing of them is
 * deferred to the end of the batch, so they take effect in their order. All other members take
 * effect in some order, which is all that store.h promises. That includes those that meet in a
 * second unique key (two letters of one work) or in rows of an instance that they name by their
 * keys alone: those are not looked for.
 *
 * Members conflict over a row, by its key, or over all rows of an instance in a table: those who
 * add some do not conflict with each other, but with whoever deletes them all. Stamps are left out:
 * they are checked and written in the order of the members, and where it matters who comes first,
 * there is a row as well. Keys are compared by a hash; members that have the same one by chance
 * keep their order without need.
 */
#include "base/error.h"
#include "stores/postgres_apply.h"
#include "stores/sql_text.h"

#include <stdlib.h>

struct conflict_key {
    uint64_t hash;
    struct member *member;
    bool is_shared; /* no conflict between members for whom it is shared */
};

struct conflict_keys {
    struct conflict_key *all;
    size_t count;
};

/* FNV-1a. A NUL counts as what is stored for it (pawl__sql_clean). */
static uint64_t hash_bytes(uint64_t hash, struct pawl_str bytes)
{
    static const struct pawl_str nul = {"\xEF\xBF\xBD", 3};

    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.ptr[i] == '\0')
            hash = hash_bytes(hash, nul);
        else
            hash = (hash ^ (unsigned char)bytes.ptr[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (number >> shift & 0xFF)) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_of(enum pawl_table table, bool is_of_instance)
{
    return hash_number(UINT64_C(14695981039346656037), (uint64_t)table * 2 + is_of_instance);
}

static void add_key(struct conflict_keys *keys, struct member *m, uint64_t hash, bool is_shared)
{
    keys->all[keys->count++] = (struct conflict_key){hash, m, is_shared};
}

static struct pawl_str text_at(const void *row, const struct pawl_column *column)
{
    struct pawl_str text;

    memcpy(&text, (const char *)row + column->offset, sizeof text);
    return text;
}

static uint64_t hash_key(const struct pawl_change *change)
{
    const struct pawl_table_info *info = pawl_table_info(change->table);
    uint64_t hash = hash_of(change->table, false);

    for (uint32_t i = 0; i < info->key_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        int64_t number;

        if (column->type != PAWL_COLUMN_INT) {
            hash = hash_bytes(hash, text_at(change->row, column));
            continue;
        }
        memcpy(&number, (const char *)change->row + column->offset, sizeof number);
        hash = hash_number(hash, (uint64_t)number);
    }
    return hash;
}

static const struct pawl_column *instance_column(enum pawl_table table)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++)
        if (strcmp(info->columns[i].name, "instance_id") == 0)
            return &info->columns[i];
    return NULL;
}

/* Of rows that are deleted by their key nothing else is known; whoever deletes all rows of their
 * instance leaves the same, before and after. */
static void add_change(struct conflict_keys *keys, struct member *m,
                       const struct pawl_change *change)
{
    const struct pawl_column *column =
        change->kind != PAWL_CHANGE_DELETE ? instance_column(change->table) : NULL;
    struct pawl_str instance_id = column ? text_at(change->row, column) : pawl__str("");

    if (change->kind != PAWL_CHANGE_DELETE_OWNED)
        add_key(keys, m, hash_key(change), false);
    if (instance_id.len > 0)
        add_key(keys, m, hash_bytes(hash_of(change->table, true), instance_id),
                change->kind != PAWL_CHANGE_DELETE_OWNED);
}

static void add_keys_of(struct conflict_keys *keys, struct member *m)
{
    const struct pawl_commit *commit = m->commit;

    for (int table = 0; commit->kind == PAWL_COMMIT_DELETE && table < PAWL_TABLE_COUNT; table++)
        if (pawl_table_info((enum pawl_table)table)->goes_with_instance)
            add_key(keys, m,
                    hash_bytes(hash_of((enum pawl_table)table, true), commit->instance->id), false);
    for (size_t i = 0; i < commit->done_count; i++)
        add_key(keys, m, hash_bytes(hash_of(PAWL_TABLE_WORK, false), commit->done[i]), false);
    for (size_t i = 0; i < commit->change_count; i++)
        add_change(keys, m, &commit->changes[i]);
}

static size_t count_keys(const struct batch *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].open)
            count += PAWL_TABLE_COUNT + b->members[i].commit->done_count +
                     b->members[i].commit->change_count * 2;
    return count;
}

static int compare_keys(const void *a, const void *b)
{
    const struct conflict_key *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Of the members that have one of the first `count` keys, which are all the same. */
static void defer_none_of(const struct conflict_key *keys, size_t count)
{
    bool is_several = false, is_shared = true;

    for (size_t i = 0; i < count; i++) {
        is_several = is_several || keys[i].member != keys[0].member;
        is_shared = is_shared && keys[i].is_shared;
    }
    for (size_t i = 0; is_several && !is_shared && i < count; i++)
        keys[i].member->defers = false;
}

int pawl__pg_defer_none_in_conflict(struct batch *b)
{
    size_t most = count_keys(b), count;
    struct conflict_keys keys = {
        pawl__arena_alloc_array(&b->call.arena, most + 1, sizeof *keys.all), 0};

    if (!keys.all)
        return pawl__error_code(b->call.err, pawl__arena_status(&b->call.arena));
    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].open)
            add_keys_of(&keys, &b->members[i]);
    qsort(keys.all, keys.count, sizeof *keys.all, compare_keys);
    for (size_t from = 0; from < keys.count; from += count) {
        for (count = 1;
             from + count < keys.count && keys.all[from + count].hash == keys.all[from].hash;
             count++)
            ;
        defer_none_of(&keys.all[from], count);
    }
    return PAWL_OK;
}
