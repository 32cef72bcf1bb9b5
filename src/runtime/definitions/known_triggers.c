/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers in memory, by hash: those that requests to endpoints start instances by.
 *
 * The invariant is that of the graphs (graphs.c): `stamp` was read from the store before any
 * trigger that is kept was. Every change of a trigger moves the stamp, and a stamp that has moved
 * drops all of them. So one that is found after a look at the stamp is what the store had at that
 * look. That there is no trigger with a hash is never kept: who finds none here asks the store.
 */
#include "runtime/definitions/private.h"

#include "base/alloc.h"

/* Triggers that are kept, and bytes of one: 16 MB at the most. With more, all are dropped. */
#define TRIGGERS_MAX 4096u
#define TRIGGER_BYTES_MAX 4096u

struct known_trigger {
    size_t size;
    struct pawl_trigger_row row; /* its texts follow */
};

static struct pawl_str *text_at(struct pawl_trigger_row *row, uint32_t column)
{
    return (
        struct pawl_str *)(void *)((char *)row +
                                   pawl_table_info(PAWL_TABLE_TRIGGERS)->columns[column].offset);
}

/* NULL: it is too large, or there is no memory: then it is not kept. */
static struct known_trigger *copy_trigger(struct pawl_definitions *definitions,
                                          const struct pawl_trigger_row *row)
{
    uint32_t columns = pawl_table_info(PAWL_TABLE_TRIGGERS)->column_count;
    struct pawl_trigger_row copy = *row;
    struct known_trigger *known;
    size_t size = sizeof *known;
    char *to;

    for (uint32_t i = 0; i < columns; i++)
        size += text_at(&copy, i)->len;
    known = size <= TRIGGER_BYTES_MAX ? pawl__alloc(&definitions->env->alloc, size) : NULL;
    if (!known)
        return NULL;
    to = (char *)(known + 1);
    for (uint32_t i = 0; i < columns; i++) {
        struct pawl_str *text = text_at(&copy, i);

        if (text->len > 0)
            memcpy(to, text->ptr, text->len);
        *text = pawl__str_make(to, text->len);
        to += text->len;
    }
    *known = (struct known_trigger){.size = size, .row = copy};
    return known;
}

void pawl__definitions_drop_triggers(struct pawl_definitions *definitions)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &definitions->triggers) {
        struct known_trigger *known = entry->value;

        (void)pawl__map_remove(&definitions->triggers, known->row.hash);
        pawl__free(&definitions->env->alloc, known, known->size);
    }
}

/* Whether it is known and was so at `since_ns`. *stale: nothing was. */
static bool look_up(struct pawl_definitions *definitions, struct pawl_str hash, int64_t since_ns,
                    struct pawl_arena *arena, struct pawl_trigger_row *out, int64_t *stamp,
                    bool *stale)
{
    const struct known_trigger *known = NULL;

    *stale = false;
    if (pawl__definitions_lock(definitions, NULL) != PAWL_OK)
        return false;
    *stamp = definitions->stamp;
    *stale = definitions->seen_ns < since_ns;
    if (!*stale)
        known = pawl__map_get(&definitions->triggers, hash);
    if (known) {
        *out = known->row;
        for (uint32_t i = 0; i < pawl_table_info(PAWL_TABLE_TRIGGERS)->column_count; i++)
            *text_at(out, i) = pawl__arena_str(arena, *text_at(out, i));
    }
    pawl__definitions_unlock(definitions);
    return known && arena->status == PAWL_OK;
}

bool pawl__definitions_known_trigger(struct pawl_definitions *definitions, struct pawl_str hash,
                                     struct pawl_arena *arena, struct pawl_trigger_row *out,
                                     int64_t *stamp, int64_t deadline_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(definitions->env);
    bool stale, found;

    *stamp = 0;
    found = look_up(definitions, hash, now_ns - definitions->options.stale_ns_max, arena, out,
                    stamp, &stale);
    /* What cannot be looked at now is asked of the store by the caller. */
    if (stale && pawl__definitions_refresh(definitions, deadline_ns, NULL) == PAWL_OK)
        found = look_up(definitions, hash, now_ns, arena, out, stamp, &stale);
    return found;
}

void pawl__definitions_keep_trigger(struct pawl_definitions *definitions,
                                    const struct pawl_trigger_row *row, int64_t stamp)
{
    struct known_trigger *known = copy_trigger(definitions, row);
    bool kept = false;

    if (!known)
        return;
    if (pawl__definitions_lock(definitions, NULL) == PAWL_OK) {
        if (definitions->triggers.live_count >= TRIGGERS_MAX)
            pawl__definitions_drop_triggers(definitions);
        kept = definitions->stamp == stamp && !pawl__map_get(&definitions->triggers, row->hash) &&
               pawl__map_put(&definitions->triggers, known->row.hash, known) == PAWL_OK;
        pawl__definitions_unlock(definitions);
    }
    if (!kept)
        pawl__free(&definitions->env->alloc, known, known->size);
}
