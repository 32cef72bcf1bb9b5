/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions in memory that can be used as activities of each other: the resolver for commands
 * and tests that have files and no store.
 */
#ifndef PAWL_ENGINE_LOAD_CATALOG_H
#define PAWL_ENGINE_LOAD_CATALOG_H

#include "engine/graph.h"

struct pawl_catalog_entry {
    struct pawl_str type; /* its name as an activity */
    struct pawl_str definition_id;
    struct pawl_str version_id;
    int64_t version;
    bool published;
    const struct pawl_json *definition;
};

struct pawl_catalog {
    struct pawl_arena *arena; /* borrowed */
    struct pawl_catalog_entry *entries;
    uint32_t count;
    uint32_t cap;
    struct pawl_workflow_resolver resolver; /* for pawl__graph_load; valid while this stays put */
};

void pawl__catalog_init(struct pawl_catalog *catalog, struct pawl_arena *arena);

/* options.usableAsActivity; the same key at the top only where that is not said. */
bool pawl__catalog_usable(const struct pawl_json *definition);

/*
 * Borrows a definition for the life of the catalog. One that is not usable as an activity, by its
 * own word, is left out. PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__catalog_add(struct pawl_catalog *catalog,
                                      const struct pawl_json *definition);

#endif
