/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the workload of whole runtimes: cluster.c is the run, cluster_node.c a node,
 * cluster_session.c its sessions with the server, cluster_http.c whom it sends requests to,
 * cluster_locks.c its locks, cluster_client.c its users, cluster_operator.c who repairs things,
 * cluster_workflows.c what they run, cluster_bugs.c what may be planted, cluster_check.c and
 * cluster_look.c know what is right.
 *
 * One thread runs at a time (the baton), so what has no scheduling point inside needs no lock: the
 * checker, the stream of chance, the count of those who call a node.
 */
#ifndef PAWL_SIM_CLUSTER_PRIVATE_H
#define PAWL_SIM_CLUSTER_PRIVATE_H

#include "base/map.h"
#include "distributed/distributed.h"
#include "locks/providers.h"
#include "runtime/node/pool.h"
#include "runtime/pack.h"
#include "runtime/words.h"
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

/* What else goes on in the run of a seed: PAWL_CLUSTER_… */
uint32_t pawl__cluster_features(uint64_t seed);

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
    FLOW_ONCE,  /* waits for one event, notes its key, then sleeps for longer than events wait */
    FLOW_BIRTH, /* an event starts it; notes its key */
    FLOW_ORDER, /* waits for the event of its correlation id */
    FLOW_HTTP,  /* two requests, one after the other */
    FLOW_LOOP,  /* never ends by itself */
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
    bool bereft;    /* a start that it waited for was given up, since nodes died with it */
    struct pawl_str sub_status;
    struct pawl_str notes; /* the newest that a state had */
    int64_t created_us;
    int64_t owner;
    int64_t fence;
    int64_t revision;
    int64_t seen_revision; /* by the last look */
    uint32_t child_ends;   /* told to its parent */
    /* A commit held what was sent to it, and its burst stands before the note of that. */
    bool owes_note;
    uint32_t cut; /* events whose bursts its cancellation ended before they were noted */
    /* Of the present ten seconds: */
    int64_t window_us;
    uint32_t claims;
    int64_t cancel_us; /* when it was to be cancelled; 0: not yet */
};

/* An event of a client, by key. */
struct known_event {
    struct pawl_str key;
    bool accepted; /* its sender was told so */
    bool refused;  /* its sender was told that nothing happened, and sends it no more */
    bool reserved; /* its key or its row is in the database */
    bool is_order; /* for one correlation id */
    uint32_t matched;
    uint32_t parked;              /* times that it was put aside */
    struct known_instance *birth; /* the instance that it started */
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

struct cluster;

struct cluster_checker {
    struct pawl_env *env; /* the server's */
    const struct cluster *cluster;
    const struct pawl_cluster_options *options;
    struct pawl_cluster_report *report;
    struct pawl_arena arena;
    struct pawl_arena scratch; /* of one state */
    struct pawl_packer packer;
    struct pawl_words words;
    struct pawl_map instances;   /* struct known_instance by id */
    struct pawl_map events;      /* struct known_event by key */
    struct pawl_map deliveries;  /* struct delivery by "instance key" */
    struct pawl_map ticks;       /* struct known_work by id */
    struct pawl_map starts;      /* that ticks made: struct known_work by id */
    struct pawl_map dead_starts; /* of those: struct known_work by the id of the letter */
    struct pawl_map keys;        /* of starts: struct known_instance by key */
    struct pawl_map directs;     /* ids of events that were delivered without a row */
    bool is_direct;              /* the commit that is being looked at does that */
    struct pawl_map nodes;       /* int64_t[2], incarnation and lease in µs, by id */
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

/* What clients were told. Of an event `id` is what the runtime calls it, if it reached one waiting
 * instance; "": else. */
void pawl__cluster_accepted(struct cluster_checker *checker, const char *key, const char *id);
void pawl__cluster_started(struct cluster_checker *checker, const char *key,
                           const char *instance_id);
void pawl__cluster_deleted(struct cluster_checker *checker, const char *instance_id);

/* A client without a key was told that nothing happened. */
void pawl__cluster_refused(struct cluster_checker *checker, const char *key);
/* Before a client without a key sends an event. */
void pawl__cluster_sending(struct cluster_checker *checker, const char *key, bool is_order);
/* A start without a key was answered with this instance. */
void pawl__cluster_started_plain(struct cluster_checker *checker, const char *instance_id);
/* Whether the lease of this incarnation is not over, by the server's clock. */
bool pawl__cluster_lives(const struct cluster_checker *checker, int64_t incarnation);

/* The event whose key is in this payload; NULL: none. */
/* Work that was given up because nodes died while they did it. */
bool pawl__cluster_killed_nodes(const struct pawl_dead_letter_row *letter);
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
/* Of what is not settled, in words: room for two ids of work. */
#define CLUSTER_WHY_BYTES 320
/* Whether nothing is left to do; if not, `why` has what (CLUSTER_WHY_BYTES). */
PAWL_MUST_CHECK int pawl__cluster_settled(struct cluster_checker *checker,
                                          struct pawl_store *window, bool loops_run, char *why,
                                          bool *settled, struct pawl_error *err);
/* At the end: everything is accounted for. */
PAWL_MUST_CHECK int pawl__cluster_account(struct cluster_checker *checker,
                                          struct pawl_store *window, struct pawl_error *err);

/* ---- cluster_bugs.c ---------------------------------------------------------------------- */

/* Takes `inner`. For a node: EDGE_ONLY, SPLIT. For the server: TWICE, AGE. */
PAWL_MUST_CHECK int pawl__cluster_buggy_store_new(struct pawl_env *env, struct pawl_store *inner,
                                                  enum pawl_cluster_bug bug,
                                                  struct pawl_store **out, struct pawl_error *err);

/* ---- cluster_defects.c ------------------------------------------------------------------- */

/* For a node; takes `inner`. A bug that is none of these changes nothing. */
PAWL_MUST_CHECK int pawl__cluster_defect_store_new(struct pawl_env *env, struct pawl_store *inner,
                                                   enum pawl_cluster_bug bug,
                                                   struct pawl_store **out, struct pawl_error *err);

/* ---- cluster_session.c, cluster_http.c --------------------------------------------------- */

struct cluster_node;

/* The rows of a batch of which half was sent. */
struct row_locks {
    struct pawl_commit *const *commits;
    size_t count; /* 0: none */
    int64_t incarnation;
    bool broken; /* others have ended the session */
};

/* Takes `inner`. */
PAWL_MUST_CHECK int pawl__cluster_session_new(struct cluster_node *node, struct pawl_store *inner,
                                              struct pawl_store **out, struct pawl_error *err);
struct pawl_http_executor pawl__cluster_http(void);

/* ---- cluster_node.c ---------------------------------------------------------------------- */

struct cluster_node {
    struct cluster *cluster;
    uint32_t number;
    char name[24];
    uint32_t lives;
    bool superseded;            /* it has ended because another has its id */
    struct pawl_env *baton_env; /* of this life; NULL: none yet */
    struct pawl_shifted_env env;
    struct pawl_store *store;
    struct pawl_locks *locks; /* this and what stands on it: NULL when not distributed */
    struct pawl_guard *guard;
    struct pawl_queue_worker *queue;
    struct pawl_runtime *runtime; /* NULL: down */
    struct pawl_pool *pool;
    bool has_crashed; /* in this life, perhaps while it was starting */
    bool is_up;       /* takes calls */
    uint32_t callers; /* clients who are in a call */
    int64_t paused_until_ns;
    int64_t cut_until_ns; /* its network is away */
    int64_t troubled_ns;  /* something was done to it that may cost it its lease, until then */
    uint64_t faults;      /* that it has met */
    struct row_locks locks_held;
    uint32_t sessions_used;
    uint32_t starve;                           /* so many allocations fail */
    char damaged_id[PAWL_INSTANCE_ID_MAX + 1]; /* what it could not load last */
    int64_t damaged_fence;
    struct pawl_allocator alloc;
    struct pawl_http_executor http;
};

/* One life: boots it; PAWL_ESTOPPED when it crashed meanwhile. */
PAWL_MUST_CHECK int pawl__cluster_node_start(struct cluster_node *node, struct pawl_error *err);
void pawl__cluster_node_crash(struct cluster_node *node);
/* At every scheduling point: whether all that the node has in memory fits together. */
void pawl__cluster_node_check(struct cluster_node *node);
/* Something is done to it, until then, that may cost it its lease. */
void pawl__cluster_trouble(struct cluster_node *node, int64_t until_ns);
/* Waits for its callers and threads, after a crash or in order, and frees what it had. */
void pawl__cluster_node_end(struct cluster_node *node);

/* ---- cluster_locks.c --------------------------------------------------------------------- */

/* Nothing when the cluster is not distributed. After a failure they are closed all the same. */
PAWL_MUST_CHECK int pawl__cluster_locks_open(struct cluster_node *node, struct pawl_error *err);
void pawl__cluster_locks_close(struct cluster_node *node);

/* ---- cluster_client.c -------------------------------------------------------------------- */

/* Instances that clients know of: to cancel and to delete. */
#define CLIENT_INSTANCES_MAX 32
/* Loops that one client starts: together as many as one node has workers. */
#define CLIENT_LOOPS_MAX 2u

struct cluster_client {
    struct cluster *cluster;
    uint32_t number;
    uint32_t calls;
    uint32_t loops;
    char instances[CLIENT_INSTANCES_MAX][PAWL_INSTANCE_ID_MAX + 1];
    uint32_t instance_count;
};

/* A node that takes calls, whichever; NULL: none does. */
struct cluster_node *pawl__cluster_pick_node(struct cluster *cluster);

/* The body of a client's thread, which is `arg`: until the faults end. */
void pawl__cluster_client_run(void *arg);

/* ---- cluster_operator.c ------------------------------------------------------------------ */

/* The body of the operator's thread: until the faults end. `arg` is the cluster. */
void pawl__cluster_operator_run(void *arg);
/* Lets what was set aside or put off run again, at a node that is up. */
PAWL_MUST_CHECK int pawl__cluster_retry_set_aside(struct cluster *cluster);
/* Asks for the end of all loops, until each was asked. PAWL_ESTOPPED: the run is over. */
PAWL_MUST_CHECK int pawl__cluster_cancel_loops(struct cluster *cluster);

/* ---- cluster.c --------------------------------------------------------------------------- */

struct cluster {
    const struct pawl_allocator *alloc;
    struct pawl_cluster_options options; /* complete */
    struct pawl_cluster_report *report;
    uint32_t features;
    struct pawl_engine engine; /* the caller's, which yields sooner */
    int64_t starts_fail_until_ns;
    bool stalls_are_told; /* a node that says for no reason that it is ending is a finding */
    struct pawl_baton *baton;
    struct pawl_env *server;
    struct pawl_shifted_env clock; /* the server's, as the database sees it */
    struct pawl_env *users;        /* the clients' environment */
    struct pawl_memory_database *database;
    struct pawl_store *ledger; /* the server's front */
    struct pawl_store *window; /* the checker's own handle on the database */
    struct pawl_lock_space *space;
    int64_t locks_away_ns; /* until then nobody reaches the lock service */
    struct cluster_checker checker;
    struct chance chance;
    struct server_health health;
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
