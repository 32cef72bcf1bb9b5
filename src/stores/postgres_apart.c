/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which members of a batch have to do with the same things, and so keep their order: nothing of
 * them waits for the end of the batch. What of others does wait, and when the guards of others are
 * asked, makes no difference: whichever of two is first, both leave the same.
 *
 * A thing is a row by its key, or all rows of an instance in a table: whoever adds one has nothing
 * to do with others who add some, but with whoever deletes them all. Stamps, which may say who
 * comes first, are none: they are asked and written in the order of the members, and where it
 * matters who comes first, there is a row as well. Things are compared by a hash; two that have the
 * same by chance are sent in order without need.
 */
#include "base/error.h"
#include "stores/postgres_apply.h"
#include "stores/sql_text.h"

#include <stdlib.h>

struct thing {
    uint64_t hash;
    struct member *member;
    bool is_shared; /* with others for whom it is, too */
};

struct things {
    struct thing *all;
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

static void add_thing(struct things *things, struct member *m, uint64_t hash, bool is_shared)
{
    things->all[things->count++] = (struct thing){hash, m, is_shared};
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

static const struct pawl_column *owner_column(enum pawl_table table)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++)
        if (strcmp(info->columns[i].name, "instance_id") == 0)
            return &info->columns[i];
    return NULL;
}

/* Of rows that are deleted by their key nothing else is known; whoever deletes all rows of their
 * instance leaves the same, before and after. */
static void add_change(struct things *things, struct member *m, const struct pawl_change *change)
{
    const struct pawl_column *owner =
        change->kind != PAWL_CHANGE_DELETE ? owner_column(change->table) : NULL;
    struct pawl_str instance_id = owner ? text_at(change->row, owner) : pawl__str("");

    if (change->kind != PAWL_CHANGE_DELETE_OWNED)
        add_thing(things, m, hash_key(change), false);
    if (instance_id.len > 0)
        add_thing(things, m, hash_bytes(hash_of(change->table, true), instance_id),
                  change->kind != PAWL_CHANGE_DELETE_OWNED);
}

static void add_things(struct things *things, struct member *m)
{
    const struct pawl_commit *commit = m->commit;

    for (int table = 0; commit->kind == PAWL_COMMIT_DELETE && table < PAWL_TABLE_COUNT; table++)
        if (pawl_table_info((enum pawl_table)table)->goes_with_instance)
            add_thing(things, m,
                      hash_bytes(hash_of((enum pawl_table)table, true), commit->instance->id),
                      false);
    for (size_t i = 0; i < commit->done_count; i++)
        add_thing(things, m, hash_bytes(hash_of(PAWL_TABLE_WORK, false), commit->done[i]), false);
    for (size_t i = 0; i < commit->change_count; i++)
        add_change(things, m, &commit->changes[i]);
}

static size_t count_things(const struct batch *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].open)
            count += PAWL_TABLE_COUNT + b->members[i].commit->done_count +
                     b->members[i].commit->change_count * 2;
    return count;
}

static int compare_things(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The first `count` are one thing. */
static void keep_order(const struct thing *things, size_t count)
{
    bool is_several = false, is_shared = true;

    for (size_t i = 0; i < count; i++) {
        is_several = is_several || things[i].member != things[0].member;
        is_shared = is_shared && things[i].is_shared;
    }
    for (size_t i = 0; is_several && !is_shared && i < count; i++)
        things[i].member->waiting = 0;
}

int pawl__pg_keep_apart(struct batch *b)
{
    size_t most = count_things(b), count;
    struct things things = {pawl__arena_alloc_array(&b->call.arena, most + 1, sizeof *things.all),
                            0};

    if (!things.all)
        return pawl__error_code(b->call.err, pawl__arena_status(&b->call.arena));
    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].open)
            add_things(&things, &b->members[i]);
    qsort(things.all, things.count, sizeof *things.all, compare_things);
    for (size_t from = 0; from < things.count; from += count) {
        for (count = 1;
             from + count < things.count && things.all[from + count].hash == things.all[from].hash;
             count++)
            ;
        keep_order(&things.all[from], count);
    }
    return PAWL_OK;
}
