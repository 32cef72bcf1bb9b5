/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the workload of whole runtimes: cluster.c is the run, cluster_node.c a node,
 * cluster_locks.c its locks, cluster_client.c its users, cluster_workflows.c what they run,
 * cluster_bugs.c what may be planted, cluster_check.c and cluster_look.c know what is right.
 *
 * One thread runs at a time (the baton), so what has no scheduling point inside needs no lock: the
 * checker, the stream of chance, the count of those who call a node.
 */
#ifndef PAWL_SIM_CLUSTER_PRIVATE_H
#define PAWL_SIM_CLUSTER_PRIVATE_H

#include "base/map.h"
#include "distributed/distributed.h"
#include "locks/providers.h"
#include "runtime/pack.h"
#include "runtime/pool.h"
#include "sim/cluster.h"
#include "sim/sim_private.h"

/* Leases of nodes; a pause may take longer. */
#define CLUSTER_LEASE_NS (INT64_C(4) * SECOND_NS)
#define CLUSTER_CLIENTS 2
#define CLUSTER_WORKERS 2u
/* How long an event that nobody waits for is kept. */
#define CLUSTER_STIMULUS_US INT64_C(40000000)
/* After the faults everything that is due is done within this. */
#define CLUSTER_SETTLE_NS (INT64_C(120) * SECOND_NS)
#define MINUTE_US INT64_C(60000000)

/* ---- cluster_workflows.c ----------------------------------------------------------------- */

enum flow {
    FLOW_COUNTER, /* waits for events and notes each one's key, for ever */
    FLOW_DELAY,   /* sleeps */
    FLOW_PARENT,  /* dispatches two children, one after the other, and waits for each */
    FLOW_CHILD,
    FLOW_INLINE, /* executes a child within its burst, twice */
    FLOW_LEAF,
    FLOW_PUBLISHER, /* publishes the event that starts the singleton */
    FLOW_SINGLE,
    FLOW_CRON,  /* every minute */
    FLOW_STEPS, /* commits after every activity */
    FLOW_COUNT
};

/* Seconds that FLOW_DELAY sleeps at the least. */
#define FLOW_DELAY_SECONDS 15

const char *pawl__flow_id(enum flow flow);
/* By id; FLOW_COUNT when it is none of these. */
enum flow pawl__flow_by_id(struct pawl_str id);
/* As JSON text, written with ' in place of ". */
const char *pawl__flow_text(enum flow flow);
/* What an instance that ran to its end has noted; NULL: it notes nothing, or no fixed text. */
const char *pawl__flow_notes(enum flow flow);
/* Publishes all of them. */
PAWL_MUST_CHECK int pawl__flows_publish(struct pawl_runtime *runtime, struct pawl_env *env,
                                        struct pawl_error *err);

/* ---- cluster_check.c --------------------------------------------------------------------- */

/* An instance, by what the server applied. Kept after it was deleted. */
struct known_instance {
    struct pawl_str id;
    struct pawl_str parent_id;
    enum flow flow;
    bool deleted;
    bool deleted_before; /* the present look */
    bool finished;
    bool cancelled; /* or asked to be */
    struct pawl_str sub_status;
    struct pawl_str notes; /* the newest that a state had */
    int64_t created_us;
    int64_t owner;
    int64_t fence;
    int64_t revision;
    int64_t seen_revision; /* by the last look */
    uint32_t child_ends;   /* told to its parent */
};

/* An event of a client, by key. */
struct known_event {
    struct pawl_str key;
    bool accepted; /* its sender was told so */
    bool reserved; /* its key is in the database */
    uint32_t matched;
    /* At the end: */
    uint32_t waiting; /* rows of work: not matched yet, or parked */
    uint32_t dead;
};

/* An event to an instance. */
struct delivery {
    struct known_instance *instance;
    struct known_event *event;
    /* At the end: */
    uint32_t applied;
    uint32_t waiting;
    uint32_t dead;
};

/* Work of a kind that is to be done once, by id. */
struct known_work {
    struct pawl_str id;
    int64_t tick_us; /* the minute that it stands for */
};

struct cluster_checker {
    struct pawl_env *env; /* the server's */
    const struct pawl_cluster_options *options;
    struct pawl_cluster_report *report;
    struct pawl_arena arena;
    struct pawl_packer packer;
    struct pawl_map instances;  /* struct known_instance by id */
    struct pawl_map events;     /* struct known_event by key */
    struct pawl_map deliveries; /* struct delivery by "instance key" */
    struct pawl_map ticks;      /* struct known_work by id */
    struct pawl_map keys;       /* of starts: struct known_instance by key */
    struct pawl_map nodes;      /* int64_t[2], incarnation and lease in µs, by id */
    int64_t newest_incarnation;
    int64_t last_tick_us;          /* that started an instance; 0: none yet */
    struct known_instance *single; /* that runs */
    int status;                    /* PAWL_ENOMEM: it is blind from then on */
};

void pawl__cluster_checker_init(struct cluster_checker *checker, struct pawl_env *env,
                                const struct pawl_cluster_options *options,
                                struct pawl_cluster_report *report);
void pawl__cluster_checker_release(struct cluster_checker *checker);
struct ledger_hooks pawl__cluster_checker_hooks(struct cluster_checker *checker);

void pawl__cluster_say(struct cluster_checker *checker, const char *who, const char *format, ...)
    PAWL_PRINTF(3, 4);
void pawl__cluster_violation(struct cluster_checker *checker, const char *format, ...)
    PAWL_PRINTF(2, 3);

/* What clients were told. */
void pawl__cluster_accepted(struct cluster_checker *checker, const char *key);
void pawl__cluster_started(struct cluster_checker *checker, const char *key,
                           const char *instance_id);
void pawl__cluster_deleted(struct cluster_checker *checker, const char *instance_id);

/* The event whose key is in this payload; NULL: none. */
struct known_event *pawl__cluster_event(struct cluster_checker *checker, struct pawl_str payload);
/* NULL: none. */
struct delivery *pawl__cluster_delivery(struct cluster_checker *checker,
                                        struct pawl_str instance_id,
                                        const struct known_event *event);
/* How often `notes` has "<key>". */
uint32_t pawl__cluster_noted(struct pawl_str notes, struct pawl_str key);

/* ---- cluster_look.c ---------------------------------------------------------------------- */

/* Reads the instances by `window` and compares: any time. */
PAWL_MUST_CHECK int pawl__cluster_look(struct cluster_checker *checker, struct pawl_store *window,
                                       struct pawl_error *err);
/* Whether nothing is left to do; if not, `why` has what (128 bytes). */
PAWL_MUST_CHECK int pawl__cluster_settled(struct cluster_checker *checker,
                                          struct pawl_store *window, char *why, bool *settled,
                                          struct pawl_error *err);
/* At the end: everything is accounted for. */
PAWL_MUST_CHECK int pawl__cluster_account(struct cluster_checker *checker,
                                          struct pawl_store *window, struct pawl_error *err);

/* ---- cluster_bugs.c ---------------------------------------------------------------------- */

/* Takes `inner`. For a node: EDGE_ONLY, SPLIT. For the server: TWICE, AGE. */
PAWL_MUST_CHECK int pawl__cluster_buggy_store_new(struct pawl_env *env, struct pawl_store *inner,
                                                  enum pawl_cluster_bug bug,
                                                  struct pawl_store **out, struct pawl_error *err);

/* ---- cluster_node.c ---------------------------------------------------------------------- */

struct cluster;

struct cluster_node {
    struct cluster *cluster;
    char name[24];
    uint32_t lives;
    struct pawl_env *baton_env; /* of this life; NULL: none yet */
    struct pawl_shifted_env env;
    struct pawl_store *store;
    struct pawl_locks *locks; /* this and what stands on it: NULL when not distributed */
    struct pawl_guard *guard;
    struct pawl_queue_worker *queue;
    struct pawl_runtime *runtime; /* NULL: down */
    struct pawl_pool *pool;
    bool is_up;       /* takes calls */
    uint32_t callers; /* clients who are in a call */
    int64_t paused_until_ns;
};

/* One life: boots it; PAWL_ESTOPPED when it crashed meanwhile. */
PAWL_MUST_CHECK int pawl__cluster_node_start(struct cluster_node *node, struct pawl_error *err);
void pawl__cluster_node_crash(struct cluster_node *node);
/* Waits for its callers and threads, after a crash or in order, and frees what it had. */
void pawl__cluster_node_end(struct cluster_node *node);

/* ---- cluster_locks.c --------------------------------------------------------------------- */

/* Nothing when the cluster is not distributed. After a failure they are closed all the same. */
PAWL_MUST_CHECK int pawl__cluster_locks_open(struct cluster_node *node, struct pawl_error *err);
void pawl__cluster_locks_close(struct cluster_node *node);

/* ---- cluster_client.c -------------------------------------------------------------------- */

/* Instances that clients know of: to cancel and to delete. */
#define CLIENT_INSTANCES_MAX 32

struct cluster_client {
    struct cluster *cluster;
    uint32_t number;
    uint32_t calls;
    char instances[CLIENT_INSTANCES_MAX][PAWL_INSTANCE_ID_MAX + 1];
    uint32_t instance_count;
};

/* The body of a client's thread, which is `arg`: until the faults end. */
void pawl__cluster_client_run(void *arg);

/* ---- cluster.c --------------------------------------------------------------------------- */

struct cluster {
    const struct pawl_allocator *alloc;
    struct pawl_cluster_options options; /* complete */
    struct pawl_cluster_report *report;
    struct pawl_baton *baton;
    struct pawl_env *server;
    struct pawl_env *users; /* the clients' environment */
    struct pawl_memory_database *database;
    struct pawl_store *ledger; /* the server's front */
    struct pawl_store *window; /* the checker's own handle on the database */
    struct pawl_lock_space *space;
    int64_t locks_away_ns; /* until then nobody reaches the lock service */
    struct cluster_checker checker;
    struct chance chance;
    int64_t quiet_ns; /* faults end then */
    bool over;        /* nodes are to end */
    struct cluster_node nodes[PAWL_CLUSTER_NODES_MAX];
    struct cluster_client clients[CLUSTER_CLIENTS];
    int status; /* of the first thing that failed and should not have */
    struct pawl_error err;
};

/* Notes a failure that is no finding: no memory, no threads. */
void pawl__cluster_fail(struct cluster *cluster, int status, const struct pawl_error *err);
bool pawl__cluster_is_quiet(struct cluster *cluster);

#endif
