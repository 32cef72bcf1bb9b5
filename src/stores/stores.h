/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stores that come with Pawl, and what can be put around one. The interface that all of them
 * have is <pawl/ext/store.h>; which one a node uses is decided in src/host.
 *
 *     memory     the reference: what the others must do, in the plainest way; for tests and `pawl
 *                run`; several nodes of a simulation share one database
 *     sqlite     one file, one machine, any number of processes
 *     postgres   a server, any number of machines
 *     trace      decorator: counts calls and round trips
 *     fault      decorator: lets calls fail, also after they took effect
 */
#ifndef PAWL_STORES_STORES_H
#define PAWL_STORES_STORES_H

/* Of a reservation that was to be inserted. */
#define PAWL_STORE_EXPIRED                                                                         \
    "nothing was stored: by the store's clock the time for this commit is over; it took too "      \
    "long, or the clock was set forward"

#include "base/str.h"

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

/* The stamp that counts incarnations: none is given twice, also when no node has a row. */
#define PAWL_STAMP_INCARNATIONS "incarnations"

/* The newest version of the tables that this library writes. */
#ifdef PAWL_NEXT_VERSION /* the version after this one, for tests of nodes of both */
#define PAWL_STORE_SCHEMA 3
#else
#define PAWL_STORE_SCHEMA 2
#endif

/* Make the tables when there are none, and bring older ones up to date. Without it a store that is
 * not as it should be is PAWL_ENOTFOUND (nothing there) or PAWL_ECONFLICT (older). A newer one is
 * always PAWL_EUNSUPPORTED, with a message that says which version of Pawl is needed. */
#define PAWL_STORE_OPEN_CREATE 1u
/* Nothing is written; calls that would are PAWL_EPERM. */
#define PAWL_STORE_OPEN_READ 2u

struct pawl_store_options {
    uint32_t flags;       /* PAWL_STORE_OPEN_… */
    uint32_t connections; /* to a server, at the most; 0: 9 */
    uint32_t file_mode;   /* of files that are made; 0: 0600 */
};

/* PAWL_ELIMIT: too many at once. */
PAWL_MUST_CHECK int pawl__store_check_queries(size_t count, struct pawl_error *err);
/* PAWL_ELIMIT: too many at once; PAWL_EINVAL: one with a hash is not alone, or has a ticket;
 * a visit has no hash. */
PAWL_MUST_CHECK int pawl__store_check_claims(const struct pawl_claim *claims, size_t count,
                                             struct pawl_error *err);
/* Fills in what a visit returns. `row` NULL: it is not granted. */
void pawl__store_fill_visit(struct pawl_claim *claim, int64_t owner,
                            const struct pawl_instance_row *row);
/* PAWL_EINVAL: its flags do not go together. */
PAWL_MUST_CHECK int pawl__store_check_commit(const struct pawl_commit *commit,
                                             struct pawl_error *err);

/* ---- memory ------------------------------------------------------------------------------ */

struct pawl_memory_database;

/*
 * The tables. Its clock is `env`'s, its mutexes too: in a simulation it is a machine of its own,
 * and the nodes' clocks do not matter. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__memory_database_new(struct pawl_env *env,
                                              struct pawl_memory_database **out,
                                              struct pawl_error *err);
void pawl__memory_database_free(struct pawl_memory_database *database); /* NULL allowed */

/* From now on a crash forgets. */
void pawl__memory_database_set_forgetful(struct pawl_memory_database *database);
/* Of a claim or take that was forgotten: what owner and fence (of instances) are again. */
typedef void (*pawl_forgotten_visitor)(void *ctx, enum pawl_table table, struct pawl_str id,
                                       int64_t owner, int64_t fence);
/*
 * The server crashes and starts again: the claims and takes that no commit has followed are undone,
 * the newest first, except the oldest `keep` of them. PAWL_ESTOPPED: nothing happened.
 */
PAWL_MUST_CHECK int pawl__memory_database_crash(struct pawl_memory_database *database,
                                                uint32_t keep, pawl_forgotten_visitor visit,
                                                void *ctx);

/* A connection to it, for a node whose environment is `env`. Close all before the database goes. */
PAWL_MUST_CHECK int pawl__memory_store_open(struct pawl_memory_database *database,
                                            struct pawl_env *env, struct pawl_store **out,
                                            struct pawl_error *err);
/* A store with a database of its own, which goes with it. */
PAWL_MUST_CHECK int pawl__memory_store_new(struct pawl_env *env, struct pawl_store **out,
                                           struct pawl_error *err);

/* ---- servers and files ------------------------------------------------------------------- */

/* `path` of the file; copied. */
PAWL_MUST_CHECK int pawl__sqlite_store_open(struct pawl_env *env, struct pawl_str path,
                                            const struct pawl_store_options *options,
                                            struct pawl_store **out, struct pawl_error *err);

/* `uri` as libpq has it: postgres://user:password@host:port/database?option=value; copied. */
PAWL_MUST_CHECK int pawl__postgres_store_open(struct pawl_env *env, struct pawl_str uri,
                                              const struct pawl_store_options *options,
                                              struct pawl_store **out, struct pawl_error *err);

/* ---- decorators: each takes the inner store, and closes it with itself --------------------- */

enum pawl_store_call {
    PAWL_STORE_CALL_STATUS,
    PAWL_STORE_CALL_LEASE,
    PAWL_STORE_CALL_CLAIM,
    PAWL_STORE_CALL_APPLY,
    PAWL_STORE_CALL_TAKE,
    PAWL_STORE_CALL_FIND,
    PAWL_STORE_CALL_WAIT,
    PAWL_STORE_CALL_SNAPSHOT,
    PAWL_STORE_CALL_LOAD,
    PAWL_STORE_CALL_CHECK,
    PAWL_STORE_CALL_COUNT
};

/* "status", "lease", … */
const char *pawl__store_call_name(enum pawl_store_call call);

/* Counted by calls that have returned; find_many() is one find. */
struct pawl_store_counts {
    uint64_t calls[PAWL_STORE_CALL_COUNT];
    uint64_t failures[PAWL_STORE_CALL_COUNT];
    uint64_t round_trips[PAWL_STORE_CALL_COUNT]; /* exact while one thread calls at a time */
    uint64_t commits;                            /* members of apply() that were applied */
    uint64_t dropped;                            /* members of apply() that were not */
    uint64_t claims;                             /* members of claim() that were granted */
    uint64_t rows;                               /* returned by find(), take() and claim() */
};

PAWL_MUST_CHECK int pawl__trace_store_new(struct pawl_env *env, struct pawl_store *inner,
                                          struct pawl_store **out, struct pawl_error *err);
/* `store` is one that pawl__trace_store_new() made. */
void pawl__trace_store_counts(struct pawl_store *store, struct pawl_store_counts *out);
void pawl__trace_store_reset(struct pawl_store *store);

/* What the measuring decorator reports of calls that have returned, on their threads; none of them
 * may wait. */
struct pawl_store_measures {
    void (*called)(void *ctx, enum pawl_store_call call, int status, int64_t duration_ns);
    void (*claimed)(void *ctx, const struct pawl_claim *claims, size_t count);
    void (*applied)(void *ctx, struct pawl_commit *const *commits, size_t count, int status,
                    int64_t duration_ns);
    void *ctx;
};

PAWL_MUST_CHECK int pawl__measure_store_new(struct pawl_env *env, struct pawl_store *inner,
                                            const struct pawl_store_measures *measures,
                                            struct pawl_store **out, struct pawl_error *err);

enum pawl_store_fault {
    PAWL_STORE_FAULT_BEFORE, /* PAWL_EUNAVAILABLE, and nothing was done */
    PAWL_STORE_FAULT_AFTER,  /* done, but the result is PAWL_EUNKNOWN and outputs are unwritten */
    PAWL_STORE_FAULT_CRASH,  /* `crash` is called before, and its status returned */
    PAWL_STORE_FAULT_CRASH_AFTER,
};

/*
 * Asked before every call; returns whether this one fails and how. Calls that only look may be
 * asked for AFTER too: then the reply is lost. The hook must be safe to call from any thread.
 */
struct pawl_store_fault_hooks {
    bool (*decide)(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how);
    int (*crash)(void *ctx, enum pawl_store_call call); /* NULL: PAWL_ESTOPPED */
    void *ctx;
};

PAWL_MUST_CHECK int pawl__fault_store_new(struct pawl_env *env, struct pawl_store *inner,
                                          const struct pawl_store_fault_hooks *hooks,
                                          struct pawl_store **out, struct pawl_error *err);

#endif
