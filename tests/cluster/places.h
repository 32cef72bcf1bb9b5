/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the scenario can be kept: in memory, in a file of SQLite, on a private PostgreSQL server,
 * which is started when it is first asked for.
 */
#ifndef PAWL_TESTS_CLUSTER_PLACES_H
#define PAWL_TESTS_CLUSTER_PLACES_H

#include "servers/postgres.h"

#define PLACE_URI_MAX 384

enum place_kind { PLACE_MEMORY, PLACE_SQLITE, PLACE_POSTGRES };

struct places;

struct place {
    enum place_kind kind;
    const char *name;
    struct places *places;
};

struct places {
    char folder[64];
    struct test_postgres server;
    unsigned schemas; /* made so far; the last one is there */
    struct place memory;
    struct place sqlite;
    struct place postgres;
};

/* For cmocka's groups: *state is the struct places. */
int places_set_up(void **state);
int places_tear_down(void **state);

enum place_locks {
    PLACE_UNLOCKED,
    PLACE_LOCKED_BY_FILES,
    PLACE_LOCKED_BY_POSTGRES, /* on sessions of their own */
    PLACE_LOCKED_BY_CLAIMS,   /* the store's server is the lock service: claims acquire the locks */
};

/*
 * The URI of locks for nodes of a store that place_fresh() made, in `out` of PLACE_URI_MAX bytes.
 * Those of PostgreSQL and of claims are of the store's server, which must be one. Unlocked: NULL.
 */
const char *place_locks(const struct place *place, enum place_locks locks, const char *store,
                        char *out);

/* The URI of an empty store, in `out` of PLACE_URI_MAX bytes; what was there before is gone. */
const char *place_fresh(const struct place *place, char *out);

#endif
