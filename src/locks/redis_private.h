/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files redis*.c share.
 *
 *     redis.c            attempts, renewals, releases: what is asked and how votes are counted
 *     redis_call.c       requests to nodes and their answers
 *     redis_node.c       one thread per node: connects, connects again, listens for releases
 *     redis_look.c       status, inspect, list: on connections of their own
 *     redis_uri.c        the URI
 *
 * All callers share one connection per node. That keeps what is asked about a lock in order, also
 * when nobody waits for an answer any more: a release that is sent behind an attempt without an
 * answer is done after it. A thread that waits for replies (the leader) reads those of all threads;
 * there is no thread in between.
 */
#ifndef PAWL_LOCKS_REDIS_PRIVATE_H
#define PAWL_LOCKS_REDIS_PRIVATE_H

#include "base/list.h"
#include "base/map.h"
#include "drivers/hiredis.h"
#include "locks/notifier.h"
#include "locks/providers.h"

#define REDIS_NODES_MAX 15
/* Maximum requests of a node without a reply. One that has more counts as down. */
#define REDIS_PENDING_MAX 16384
#define REDIS_NS_PER_MS INT64_C(1000000)
#define REDIS_CHANNEL "pawl:released:"

/* ---- URI --------------------------------------------------------------------------------- */

struct redis_address {
    char host[256];
    uint16_t port;
    uint32_t database;
    char user[128], password[256];
};

struct redis_uri {
    struct redis_address nodes[REDIS_NODES_MAX];
    size_t node_count;
};

PAWL_MUST_CHECK int pawl__redis_uri_read(struct pawl_str uri, struct redis_uri *out,
                                         struct pawl_error *err);

/* ---- scripts ----------------------------------------------------------------------------- */

enum redis_script {
    REDIS_SCRIPT_NONE, /* a plain command */
    REDIS_ACQUIRE,     /* with a token */
    REDIS_EXTEND,
    REDIS_REJOIN, /* extends, or sets when there is none */
    REDIS_RELEASE,
    REDIS_RAISE, /* the counter of tokens */
    REDIS_SCRIPT_COUNT,
};
extern const char *const pawl__redis_scripts[REDIS_SCRIPT_COUNT];

/* ---- nodes ------------------------------------------------------------------------------- */

enum redis_node_state {
    REDIS_CONNECTING, /* callers wait for it */
    REDIS_UP,
    REDIS_DOWN, /* tried again from time to time; `why` */
};

struct redis_locks;

struct redis_node {
    struct redis_locks *redis;
    struct redis_address address;
    size_t index;
    enum redis_node_state state;
    int64_t since_ns; /* CONNECTING: from when on */
    struct redis_conn_state {
        struct pawl_redis_conn *conn; /* while UP */
        bool is_broken;               /* to be closed by who may: see redis_call.c */
        struct pawl_list pending;     /* redis_request, as they were sent */
        size_t pending_count;
    } c;
    struct pawl_error why;
    char sha[REDIS_SCRIPT_COUNT][41]; /* "": not known */
    struct pawl_thread *thread;
    struct pawl_waker waker;            /* for the thread: something has changed */
    struct pawl_redis_conn *subscriber; /* the thread's own */
};

/* A name that was refused: its releases are subscribed to. */
struct redis_watch {
    struct pawl_list_link link; /* the one refused last is last */
    int64_t refused_ns;
    uint32_t nodes; /* bits: subscribed at these */
    size_t size;    /* of `name` */
    char name[];
};

struct redis_locks {
    struct pawl_lock_provider base; /* first */
    struct pawl_env *env;
    struct pawl_hiredis *lib;
    int64_t ttl_ms;
    size_t quorum;
    char client_name[64];
    struct pawl_lock_notifier notifier;
    bool is_listened; /* listen() was called; set before the threads start */

    struct pawl_mutex *lock; /* guards all below */
    struct pawl_cond *changed;
    bool is_led; /* a thread waits in poll() */
    bool is_started, is_stopping;
    size_t waiting_count; /* in `changed` */
    struct pawl_waker kick;
    struct pawl_list spare; /* requests for the next ones */
    size_t spare_count;
    struct pawl_map watches; /* name -> redis_watch */
    struct pawl_list watch_order;

    size_t node_count;
    struct redis_node nodes[REDIS_NODES_MAX];
};

/* Under the lock; does nothing the second time. */
PAWL_MUST_CHECK int pawl__redis_nodes_start(struct redis_locks *redis, struct pawl_error *err);
void pawl__redis_nodes_stop(struct redis_locks *redis);
/* Under the lock. Its releases are listened for from soon on. Failing is no failure: polling helps.
 */
void pawl__redis_watch(struct redis_locks *redis, struct pawl_str name);
void pawl__redis_target(const struct redis_node *node, struct pawl_redis_target *out);

/* ---- calls ------------------------------------------------------------------------------- */

struct redis_call;
struct redis_request;

/* What a caller on the stack asks of several nodes, for one grant or many. */
struct redis_call {
    /* Queues what item `item` asks of `node`; `full`: the script's text, it is not known there. */
    int (*send)(struct redis_call *call, struct redis_node *node, uint32_t item, bool full);
    /* A reply, or NULL with a code: PAWL_EUNAVAILABLE not sent, PAWL_EUNKNOWN sent without a reply.
     */
    void (*answer)(struct redis_call *call, struct redis_node *node, uint32_t item,
                   const struct pawl_redis_reply *reply, int code, const struct pawl_error *err);
    /* Whether the caller has what it wants. */
    bool (*is_done)(struct redis_call *call);
    size_t open_count; /* sent and without a reply; kept by redis_call.c */
};

/* All under the lock. Those that return PAWL_ESTOPPED have given it up. */
PAWL_MUST_CHECK int pawl__redis_lock(struct redis_locks *redis, struct pawl_error *err);
void pawl__redis_unlock(struct redis_locks *redis);

/* Until enough nodes are connected or known to be down; `deadline_ns`. PAWL_ESTOPPED. */
PAWL_MUST_CHECK int pawl__redis_await_nodes(struct redis_locks *redis, int64_t deadline_ns);
/* Sends to `node`, or fails at once when it is down. */
void pawl__redis_ask(struct redis_call *call, struct redis_node *node, uint32_t item);
/* Sends what was queued by asks. */
void pawl__redis_send(struct redis_locks *redis);
/* Until the call is done, all have answered, or `deadline_ns`. Then nothing refers to the call any
 * more: what was not answered was answered with PAWL_EUNKNOWN, unless the call was done. */
PAWL_MUST_CHECK int pawl__redis_await(struct redis_call *call, struct redis_locks *redis,
                                      int64_t deadline_ns);
/* Queues a command without waiting for its reply. */
void pawl__redis_tell(struct redis_node *node, const struct pawl_str *words, size_t count);

/* Queues a script's call on `node`. */
PAWL_MUST_CHECK int pawl__redis_queue_script(struct redis_node *node, enum redis_script script,
                                             bool full, const struct pawl_str *keys,
                                             size_t key_count, const struct pawl_str *args,
                                             size_t arg_count);

/* The node's connection is of no use; it is closed as soon as nobody waits for it. */
void pawl__redis_break(struct redis_node *node, const struct pawl_error *why);
/* A new one, or none: the leader must look at it. */
void pawl__redis_changed(struct redis_locks *redis);
void pawl__redis_requests_free(struct redis_locks *redis);

/* ---- looking ----------------------------------------------------------------------------- */

int pawl__redis_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                       int64_t deadline_ns, struct pawl_error *err);
int pawl__redis_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                        struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err);
int pawl__redis_list(struct pawl_lock_provider *provider, size_t limit,
                     int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                     int64_t deadline_ns, struct pawl_error *err);

#endif
