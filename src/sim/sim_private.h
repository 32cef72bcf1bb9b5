/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the simulator: checker.c knows what is right, ledger.c tells it what the server did,
 * wire.c is a node's network and clock, node.c a node and its workers, bugs.c what may be planted,
 * sim.c the run.
 *
 * One thread runs at a time (the baton), so what has no scheduling point inside needs no lock: the
 * checker and the stream of chance.
 */
#ifndef PAWL_SIM_SIM_PRIVATE_H
#define PAWL_SIM_SIM_PRIVATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "os/baton.h"
#include "os/shifted_env.h"
#include "runtime/commit/committer.h"
#include "sim/sim.h"
#include "stores/stores.h"

#define MS_NS INT64_C(1000000)
#define SECOND_NS INT64_C(1000000000)
#define LEASE_NS SECOND_NS

/* Writes of one run: workers that find no number left stop writing. */
#define WRITES_MAX 4096
#define STATE_BYTES_MAX ((size_t)64 << 10)
#define ARENA_BYTES_MAX ((size_t)4 << 20)

/* ---- chance ------------------------------------------------------------------------------ */

struct chance {
    uint64_t state;
};

/* Uniform below `bound`, which is not 0. */
uint64_t pawl__sim_lot(struct chance *chance, uint64_t bound);
/* True in `in_ten_thousand` of 10,000 cases. */
bool pawl__sim_happens(struct chance *chance, uint32_t in_ten_thousand);

/* ---- checker.c --------------------------------------------------------------------------- */

enum write_outcome { WRITE_OPEN, WRITE_ACKNOWLEDGED, WRITE_REFUSED, WRITE_UNKNOWN };

/* One commit of a worker. Its number is in the state that it writes. */
struct write {
    uint32_t instance;
    enum write_outcome outcome;
    bool applied;     /* by the server, as the ledger saw it */
    int64_t revision; /* which it would become */
};

/* What must be in the database, by what the server granted and applied. */
struct checked_instance {
    char id[24];
    bool exists;
    int64_t owner;
    int64_t fence;
    int64_t revision;
    int64_t seen_revision; /* by the last look */
};

struct checked_node {
    char id[24];
    int64_t incarnation;
    int64_t lease_us;
};

struct checker {
    struct pawl_env *env; /* the server's: for the time of what is said */
    const struct pawl_sim_options *options;
    struct pawl_sim_report *report;
    uint32_t instance_count;
    struct checked_instance instances[PAWL_SIM_INSTANCES_MAX];
    struct checked_node nodes[PAWL_SIM_NODES_MAX + 1]; /* and the probe's */
    uint32_t node_count;
    int64_t newest_incarnation;
    struct write *writes; /* WRITES_MAX */
    uint32_t write_count;
};

PAWL_MUST_CHECK int pawl__checker_init(struct checker *checker, struct pawl_env *env,
                                       const struct pawl_sim_options *options,
                                       struct pawl_sim_report *report);
void pawl__checker_release(struct checker *checker);

void pawl__checker_say(struct checker *checker, const char *who, const char *format, ...)
    PAWL_PRINTF(3, 4);
void pawl__checker_violation(struct checker *checker, const char *format, ...) PAWL_PRINTF(2, 3);

/* A number for a new write; UINT32_MAX: there are no more. */
uint32_t pawl__checker_write(struct checker *checker, uint32_t instance, int64_t revision);
/* What its writer was told. */
void pawl__checker_told(struct checker *checker, const char *who, uint32_t number, int status);

struct ledger_hooks;
/* By which it hears what the server did. */
struct ledger_hooks pawl__checker_hooks(struct checker *checker);

/* Reads all instances by `store` and compares. */
PAWL_MUST_CHECK int pawl__checker_look(struct checker *checker, struct pawl_store *store,
                                       struct pawl_error *err);
/* At the end, when nobody writes. */
void pawl__checker_finish(struct checker *checker);

/* The state of an instance is the list of the writes that made it. PAWL_ECORRUPT. */
struct write_list {
    uint32_t count;
    uint32_t numbers[WRITES_MAX];
};
PAWL_MUST_CHECK int pawl__write_list_read(struct write_list *list, struct pawl_str state);
void pawl__write_list_print(const struct write_list *list, uint32_t last, struct pawl_buf *out);

/* ---- decorators -------------------------------------------------------------------------- */

/* A table that passes everything on but close, which it has not: for objects that change a few
 * calls and have their table inside. */
void pawl__sim_forward_init(struct pawl_store_ops *ops);

/* Who is told; all of these under the ledger's mutex. */
struct ledger_hooks {
    void (*leased)(void *ctx, const struct pawl_lease *lease);
    void (*claimed)(void *ctx, int64_t owner, const struct pawl_claim *claim, int64_t now_us);
    void (*applied)(void *ctx, const struct pawl_commit *commit);
    /* By a crash of the server: owner and fence (of instances) are what they were before. */
    void (*forgotten)(void *ctx, enum pawl_table table, struct pawl_str id, int64_t owner,
                      int64_t fence);
    void *ctx;
};

/* Tells what `inner` did, in the order in which it did it. Takes `inner`, copies the hooks. */
PAWL_MUST_CHECK int pawl__ledger_store_new(struct pawl_env *server, struct pawl_store *inner,
                                           const struct ledger_hooks *hooks,
                                           struct pawl_store **out, struct pawl_error *err);
/* The server behind the ledger crashes and forgets all claims and takes that no commit has
 * followed, but for the oldest `keep`. */
PAWL_MUST_CHECK int pawl__ledger_crash(struct pawl_store *store,
                                       struct pawl_memory_database *database, uint32_t keep);

/* A store that has the bug; takes `inner`. For the server: SKIP_REVISION, STEAL. For a node:
 * ACKNOWLEDGE_EARLY, FENCE_ALONE. */
PAWL_MUST_CHECK int pawl__buggy_store_new(struct pawl_env *env, struct pawl_store *inner,
                                          enum pawl_sim_bug bug, struct pawl_store **out,
                                          struct pawl_error *err);

/* ---- wire.c ------------------------------------------------------------------------------ */

/* How the server is, for all that are connected to it. */
struct server_health {
    uint64_t crashes;           /* a call that began before one gets no answer */
    int64_t away_until_ns;      /* nobody reaches it */
    int64_t read_only_until_ns; /* after a failover: whatever writes is refused */
    int read_only_code;         /* with this */
};

/* Between a node and the server: takes time, stands still while the node does, is dead when it is.
 * Borrows `server`, which other nodes use too, and the rest. */
PAWL_MUST_CHECK int pawl__wire_store_new(struct pawl_env *env, struct pawl_store *server,
                                         struct chance *chance, const int64_t *paused_until_ns,
                                         const struct server_health *health,
                                         struct pawl_store **out, struct pawl_error *err);

/* ---- node.c ------------------------------------------------------------------------------ */

struct node;

struct worker {
    struct node *node;
    struct pawl_thread *thread;
    struct pawl_arena arena;
    struct pawl_buf state;
    struct write_list *writes; /* of the claimed instance */
    char name[40];
};

struct node {
    struct sim *sim;
    char id[24];
    struct pawl_env *baton_env;  /* of this life; NULL: none yet */
    struct pawl_shifted_env env; /* the baton's, with a wall clock that is wrong */
    struct pawl_store *store;    /* NULL: down */
    struct pawl_committer *committer;
    int64_t incarnation;
    int64_t paused_until_ns;
    bool ending;  /* its threads shall end in order */
    bool passive; /* its workers have no threads: the referee's hand */
    uint32_t worker_count;
    struct pawl_thread *keeper;
    struct worker workers[PAWL_SIM_WORKERS_MAX];
};

struct sim {
    const struct pawl_allocator *alloc;
    struct pawl_sim_options options; /* complete */
    struct pawl_sim_report *report;
    struct pawl_baton *baton;
    struct pawl_env *server;
    struct pawl_memory_database *database;
    struct pawl_store *ledger; /* the server's front */
    struct pawl_store *window; /* the checker's own handle on the database */
    struct checker checker;
    struct chance chance;
    struct server_health health;
    int64_t quiet_ns; /* faults end then, and nodes too */
    struct node nodes[PAWL_SIM_NODES_MAX];
    struct node probe;
    int status; /* of the first thing that failed and should not have */
    struct pawl_error err;
};

/* Notes a failure that is no finding: no memory, no threads. */
void pawl__sim_fail(struct sim *sim, int status, const struct pawl_error *err);

/* One life of a node: boots it; PAWL_ESTOPPED when it crashed meanwhile. */
PAWL_MUST_CHECK int pawl__node_start(struct node *node, struct pawl_error *err);
void pawl__node_crash(struct node *node);
/* Waits for its threads, after a crash or after `ending` was set, and frees what it had. */
void pawl__node_end(struct node *node);
/* Waits until each instance could be claimed and advanced once; false: one could not. */
PAWL_MUST_CHECK bool pawl__node_advance_all(struct node *node);

#endif
