/* SPDX-License-Identifier: Apache-2.0 */
/* Stores for the scenario, see places.h. */
#include "cluster/places.h"

#include "lib/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int places_set_up(void **state)
{
    struct places *places = calloc(1, sizeof *places);

    assert_non_null(places);
    (void)snprintf(places->folder, sizeof places->folder, "%s/pawl-cluster-XXXXXX",
                   test_fast_folder());
    assert_non_null(mkdtemp(places->folder));
    places->memory = (struct place){PLACE_MEMORY, "memory", places};
    places->sqlite = (struct place){PLACE_SQLITE, "sqlite", places};
    places->postgres = (struct place){PLACE_POSTGRES, "postgres", places};
    *state = places;
    return 0;
}

static void remove_file(const struct places *places)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[128];

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/store.db%s", places->folder, suffixes[i]);
        (void)unlink(path);
    }
}

/* Lock files stay when their locks are released. */
static void remove_locks(const struct places *places)
{
    char path[sizeof places->folder + sizeof "/locks"];
    const struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof path, "%s/locks", places->folder);
    folder = opendir(path);
    if (!folder)
        return;
    while ((entry = readdir(folder)) != NULL)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    (void)rmdir(path);
}

int places_tear_down(void **state)
{
    struct places *places = *state;

    test_postgres_stop(&places->server);
    remove_file(places);
    remove_locks(places);
    (void)rmdir(places->folder);
    free(places);
    return 0;
}

/* A schema is a database of its own as far as tables go. */
static void fresh_schema(struct places *places, char *out)
{
    char uri[256], sql[128];

    if (places->server.daemon.pid == 0)
        test_postgres_start(&places->server, NULL);
    places->schemas++;
    (void)snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS s%u CASCADE; CREATE SCHEMA s%u",
                   places->schemas - 1, places->schemas);
    test_postgres_sql(&places->server, sql);
    (void)test_postgres_uri(&places->server, "postgres", uri, sizeof uri);
    (void)snprintf(out, PLACE_URI_MAX, "%s?options=-csearch_path%%3Ds%u", uri, places->schemas);
}

const char *place_locks(const struct place *place, enum place_locks locks, const char *store,
                        char *out)
{
    if (locks == PLACE_UNLOCKED)
        return NULL;
    if (locks == PLACE_LOCKED_BY_FILES) {
        (void)snprintf(out, PLACE_URI_MAX, "file:%s/locks", place->places->folder);
        return out;
    }
    assert_int_equal(place->kind, PLACE_POSTGRES);
    (void)snprintf(out, PLACE_URI_MAX, "%s", store);
    if (locks == PLACE_LOCKED_BY_POSTGRES)
        out[strcspn(out, "?")] = '\0'; /* another URI than the store's: another service */
    return out;
}

const char *place_fresh(const struct place *place, char *out)
{
    switch (place->kind) {
    case PLACE_MEMORY:
        (void)snprintf(out, PLACE_URI_MAX, "memory:");
        break;
    case PLACE_SQLITE:
        remove_file(place->places);
        (void)snprintf(out, PLACE_URI_MAX, "sqlite:%s/store.db", place->places->folder);
        break;
    case PLACE_POSTGRES:
        fresh_schema(place->places, out);
        break;
    }
    return out;
}
