/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map from strings to pointers that iterates in insertion order.
 *
 * The order never depends on the hash seed, so a map may feed a trace, a document or a schedule.
 * Keys are borrowed: they must live, unchanged, as long as their entry. Removing keeps the order
 * of the rest. Overwriting a value keeps its place.
 *
 *     PAWL_MAP_FOR_EACH(entry, &map) …       (struct pawl_map_entry *entry)
 * The body may overwrite entry->value and may remove entries, but not insert.
 */
#ifndef PAWL_BASE_MAP_H
#define PAWL_BASE_MAP_H

#include "base/hash/siphash.h"
#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_map_entry {
    struct pawl_str key;
    void *value;
    uint32_t hash;
    bool live; /* false: removed, skipped, dropped at the next growth */
};

struct pawl_map {
    const struct pawl_allocator *alloc; /* borrowed for the map's life */
    struct pawl_hash_seed seed;
    struct pawl_map_entry *entries; /* in insertion order */
    uint32_t *slots;                /* open addressing: entry number + 1; 0 empty */
    uint32_t slot_count;            /* a power of two, or 0 */
    uint32_t entry_count;           /* live and removed ones */
    uint32_t live_count;
};

/* Entries per map at the most: slots are 32-bit, and a map this large is a bug in its user. */
#define PAWL_MAP_ENTRIES_MAX ((uint32_t)1 << 28)

void pawl__map_init(struct pawl_map *map, const struct pawl_allocator *alloc,
                    struct pawl_hash_seed seed);
void pawl__map_release(struct pawl_map *map); /* values stay the caller's */
void pawl__map_clear(struct pawl_map *map);   /* empties it, keeps the memory */

/* The value, NULL when there is none (store no NULLs where the difference matters). */
void *pawl__map_get(const struct pawl_map *map, struct pawl_str key);
bool pawl__map_has(const struct pawl_map *map, struct pawl_str key);

/* Inserts, or overwrites the value and keeps the key that is there. PAWL_ENOMEM, PAWL_ELIMIT: the
 * map is as before. */
PAWL_MUST_CHECK int pawl__map_put(struct pawl_map *map, struct pawl_str key, void *value);

/* Removes and returns the value; NULL when there was none. */
void *pawl__map_remove(struct pawl_map *map, struct pawl_str key);

/* For PAWL_MAP_FOR_EACH: the first live entry at or behind number `from`; NULL at the end. */
struct pawl_map_entry *pawl__map_entry_from(const struct pawl_map *map, uint32_t from);
static inline struct pawl_map_entry *pawl__map_entry_after(const struct pawl_map *map,
                                                           const struct pawl_map_entry *entry)
{
    return pawl__map_entry_from(map, (uint32_t)(entry - map->entries) + 1);
}

#define PAWL_MAP_FOR_EACH(entry, map)                                                              \
    for ((entry) = pawl__map_entry_from((map), 0); (entry);                                        \
         (entry) = pawl__map_entry_after((map), (entry)))

#endif
