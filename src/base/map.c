/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries stand in an array in insertion order; a separate table of slots finds them by hash.
 *
 * Invariants:
 *   1. entry_count <= entries_max(slot_count) = 3/4 of the slots, so a probe always meets an empty
 *      slot and ends.
 *   2. Each entry, live or removed, has exactly one slot. A removed entry keeps its slot, so that
 *      probes run on past it; both go at the next rebuild.
 *   3. Among live entries no two keys are equal.
 */
#include "base/map.h"

#include "base/alloc.h"
#include "base/assert.h"

#define SLOTS_MIN 8u

static uint32_t entries_max(uint32_t slot_count)
{
    return slot_count / 4 * 3;
}

static uint32_t hash_key(const struct pawl_map *map, struct pawl_str key)
{
    uint64_t hash = pawl__siphash(map->seed, key);

    return (uint32_t)(hash ^ hash >> 32);
}

void pawl__map_init(struct pawl_map *map, const struct pawl_allocator *alloc,
                    struct pawl_hash_seed seed)
{
    *map = (struct pawl_map){.alloc = alloc, .seed = seed};
}

static void free_tables(struct pawl_map *map)
{
    pawl__free(map->alloc, map->slots, map->slot_count * sizeof *map->slots);
    pawl__free(map->alloc, map->entries, entries_max(map->slot_count) * sizeof *map->entries);
}

void pawl__map_release(struct pawl_map *map)
{
    if (!map->alloc)
        return;
    free_tables(map);
    pawl__map_init(map, map->alloc, map->seed);
}

void pawl__map_clear(struct pawl_map *map)
{
    if (map->slots)
        memset(map->slots, 0, map->slot_count * sizeof *map->slots);
    map->entry_count = map->live_count = 0;
}

static struct pawl_map_entry *find(const struct pawl_map *map, struct pawl_str key, uint32_t hash)
{
    uint32_t mask = map->slot_count - 1;

    if (map->slot_count == 0)
        return NULL;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        struct pawl_map_entry *entry;

        if (map->slots[at] == 0)
            return NULL;
        entry = &map->entries[map->slots[at] - 1];
        if (entry->live && entry->hash == hash && pawl__str_equal(entry->key, key))
            return entry;
    }
}

static void place(struct pawl_map *map, uint32_t hash, uint32_t entry_number)
{
    uint32_t mask = map->slot_count - 1;
    uint32_t at = hash & mask;

    while (map->slots[at] != 0)
        at = (at + 1) & mask;
    map->slots[at] = entry_number + 1;
}

/* New tables without the removed entries, twice as large if the live ones fill over half. */
static int rebuild(struct pawl_map *map)
{
    struct pawl_map old = *map;
    uint32_t slot_count = old.slot_count ? old.slot_count : SLOTS_MIN;

    if (old.live_count > entries_max(old.slot_count) / 2)
        slot_count = old.slot_count * 2;
    map->slots = pawl__alloc_zeroed(map->alloc, slot_count * sizeof *map->slots);
    map->entries = pawl__alloc(map->alloc, entries_max(slot_count) * sizeof *map->entries);
    if (!map->slots || !map->entries) {
        pawl__free(map->alloc, map->slots, slot_count * sizeof *map->slots);
        pawl__free(map->alloc, map->entries, entries_max(slot_count) * sizeof *map->entries);
        *map = old;
        return PAWL_ENOMEM;
    }
    map->slot_count = slot_count;
    map->entry_count = 0;
    for (uint32_t i = 0; i < old.entry_count; i++) {
        if (!old.entries[i].live)
            continue;
        map->entries[map->entry_count] = old.entries[i];
        place(map, old.entries[i].hash, map->entry_count++);
    }
    PAWL_ASSERT(map->entry_count == map->live_count);
    free_tables(&old);
    return PAWL_OK;
}

void *pawl__map_get(const struct pawl_map *map, struct pawl_str key)
{
    struct pawl_map_entry *entry = find(map, key, hash_key(map, key));

    return entry ? entry->value : NULL;
}

bool pawl__map_has(const struct pawl_map *map, struct pawl_str key)
{
    return find(map, key, hash_key(map, key)) != NULL;
}

int pawl__map_put(struct pawl_map *map, struct pawl_str key, void *value)
{
    uint32_t hash = hash_key(map, key);
    struct pawl_map_entry *entry = find(map, key, hash);

    if (entry) {
        entry->value = value;
        return PAWL_OK;
    }
    if (map->live_count >= PAWL_MAP_ENTRIES_MAX)
        return PAWL_ELIMIT;
    if (map->entry_count == entries_max(map->slot_count)) {
        int status = rebuild(map);

        if (status != PAWL_OK)
            return status;
    }
    map->entries[map->entry_count] =
        (struct pawl_map_entry){.key = key, .value = value, .hash = hash, .live = true};
    place(map, hash, map->entry_count++);
    map->live_count++;
    return PAWL_OK;
}

void *pawl__map_remove(struct pawl_map *map, struct pawl_str key)
{
    struct pawl_map_entry *entry = find(map, key, hash_key(map, key));

    if (!entry)
        return NULL;
    entry->live = false;
    map->live_count--;
    return entry->value;
}

struct pawl_map_entry *pawl__map_entry_from(const struct pawl_map *map, uint32_t from)
{
    for (uint32_t i = from; i < map->entry_count; i++) {
        if (map->entries[i].live)
            return &map->entries[i];
    }
    return NULL;
}
