/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node itself, for the files of src/runtime; see runtime.h. What its rooms share is in the
 * private.h of each room, what one call does in task.h, stored bytes in bytes.h.
 */
#ifndef PAWL_RUNTIME_RUNTIME_PRIVATE_H
#define PAWL_RUNTIME_RUNTIME_PRIVATE_H

#include "base/id.h"
#include "base/list.h"
#include "base/map.h"
#include "runtime/node/keeper.h"
#include "runtime/runtime.h"
#include "runtime/words.h"

#include <stdatomic.h>

struct pawl_committer;
struct pawl_shares;
struct pawl_replies;
struct pawl_routes_known;
struct pawl_waits;
struct runtime_running;

/* Of one state, one payload and all that a run holds at a time: far above what fits. */
#define RUNTIME_BYTES_MAX ((size_t)1 << 30)

/* What this node knows of pauses (node/pause.h). */
struct runtime_pause {
    int64_t looked_ns; /* 0: never */
    bool is_looking;   /* a thread is */
    bool is_paused;
    struct pawl_error why;
};

struct pawl_runtime {
    struct pawl_env *env;
    const struct pawl_engine *engine;
    struct pawl_store *store;
    const struct pawl_log *log; /* NULL: none */
    struct pawl_runtime_options options;
    struct pawl_definitions *definitions;
    struct pawl_keeper *keeper;
    struct pawl_committer *committer;
    struct pawl_shares *shares;
    atomic_bool stopping;
    /* A pool with a worker to spare says so: then a burst that yields goes on at once. */
    atomic_bool has_spare;
    atomic_bool has_marked;             /* some row of work as begun, ever */
    atomic_size_t yielded_count;        /* of `yielded` below */
    struct pawl_thread *http_thread;    /* NULL: there is no executor */
    struct pawl_thread *cancels_thread; /* NULL: not yet, or a runtime that only looks */
    struct pawl_waits *waits;           /* node/waits.c */
    struct pawl_replies *replies;       /* node/replies.c */
    struct pawl_routes_known *routes;   /* node/routes.c; NULL: none yet */
    atomic_uint direct_count;           /* direct deliveries under way */
    atomic_uint performing;             /* functions of the host that are being called */
    atomic_bool has_pool;               /* of workers */
    atomic_uint waiter_count;           /* of its waiters; 0: nobody is notified */

    /* node/changes.c */
    atomic_bool has_listener;
    struct pawl_mutex *changes_mutex; /* guards what follows; held while it is called */
    pawl_changed_fn *changed;
    void *changed_ctx;

    struct pawl_words words; /* of stored states; set once */

    _Atomic int64_t seen_fence; /* the greatest that this node was granted */
    struct pawl_mutex *mutex;   /* guards what follows */
    struct pawl_id_source ids;
    uint64_t seed;                 /* of ids, when they come from a seed */
    struct pawl_list done_effects; /* struct runtime_done */
    struct pawl_list packers;      /* struct runtime_packer, idle */
    struct pawl_list running; /* struct runtime_running: instances that a thread here has in hand */
    struct pawl_list given_up;           /* the same: their threads hang */
    struct pawl_cond *left;              /* one of them was let go */
    const struct runtime_running *alone; /* runs with nothing beside it; NULL: none */
    int64_t alone_until_ns;
    uint32_t stuck;         /* how many are in `given_up` */
    uint32_t stuck_workers; /* and of them, how many are of threads that do work */
    void (*replace)(void *ctx, uint32_t stuck); /* the pool's; NULL: none */
    void *replace_ctx;
    uint32_t replacing;        /* calls of it under way */
    struct pawl_list yielded;  /* struct runtime_yielded, in the order of their turns */
    struct pawl_cond *cancels; /* wakes the thread that looks for cancellations */
    bool cancels_sleep;        /* that thread waits until an instance is in hand */
    bool cancels_stop;
    size_t cancels_from;        /* of those in hand, the first that the next look names */
    struct pawl_map held;       /* struct runtime_held, by id */
    struct pawl_list requests;  /* struct runtime_request: under way */
    struct pawl_cond *answered; /* one of them has something for the thread to do */
    uint64_t requests_ended;    /* how many have left the list above */
    bool http_stop;
    uint32_t runnable_skip; /* instances that are named first, and that this node may not run */
    uint32_t refused;       /* of those that were named last */
    bool was_full;          /* as many were named as may be */
    int64_t stray_ns;       /* when to look for what is in nobody's hand; 0: nothing ever failed */
    int64_t clock_us;       /* the store's clock, as of */
    int64_t clock_ns;       /* this moment of ours; 0: not known */
    int64_t forgot_ns;      /* looks at it from before are not believed; 0: all are */
    int64_t clock_last_us;  /* the last that pawl__runtime_clock() returned */
    struct runtime_pause pause;
};

/*
 * Before something is begun: PAWL_ESTOPPED when the node drains; an error of the store, or
 * PAWL_ECONFLICT, when its lease is over and cannot be renewed.
 */
PAWL_MUST_CHECK int pawl__runtime_may_begin(struct pawl_runtime *runtime, struct pawl_error *err);

/* The same in the middle of something: nothing is renewed. */
bool pawl__runtime_may_go_on(struct pawl_runtime *runtime);

static inline int64_t pawl__runtime_lease_us(const struct pawl_runtime *runtime)
{
    return runtime->options.lease_us > 0 ? runtime->options.lease_us : PAWL_LEASE_US_DEFAULT;
}

/* Times that go back by less come from a look that took long, and are raised. By more: the clock
 * was set back. */
#define RUNTIME_CLOCK_STEP_US INT64_C(1000000)

/* The store's clock, asked at most once a second. Each time is later than the one before, unless
 * the clock was set back. */
PAWL_MUST_CHECK int pawl__runtime_clock(struct pawl_runtime *runtime, int64_t *now_us,
                                        int64_t deadline_ns, struct pawl_error *err);
/* What the store's clock showed at some time between `asked_ns` and now. If our reckoning may be
 * right it stays: a look that took up to a second does not set it back, nor one that took longer
 * and began before our reckoning did. What is computed from it is at most a second ahead of that
 * clock; of what is due at once the store limits the times (stores/clock.h). */
void pawl__runtime_clock_seen(struct pawl_runtime *runtime, int64_t asked_ns, int64_t now_us);

/* The due time of what is to be done at once: not ahead of a store whose clock knows milliseconds.
 */
static inline int64_t runtime_at_once(int64_t now_us)
{
    return now_us - now_us % 1000;
}

/* A fresh id that sorts by time, in the arena; ptr NULL: the arena's status, or no entropy. */
struct pawl_str pawl__runtime_new_id(struct pawl_runtime *runtime, struct pawl_arena *arena);
/* The seed of a burst: the same for the same revision, so that a burst done again makes the same
 * ids, and effects and children of a try that a crash undid are the same ones. */
uint64_t pawl__runtime_burst_seed(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                  int64_t revision);
/* The mark of the ids that bursts of this instance make; never 0. `id_hash` of its row. */
uint32_t pawl__runtime_id_mark(struct pawl_str instance_id);
int64_t pawl__runtime_part(struct pawl_str text);
/* Until when a commit with this deadline may be sent, by the store's clock; within an hour. So long
 * a reservation that makes it take effect once is to be kept. */
int64_t pawl__runtime_last_try_us(struct pawl_runtime *runtime, int64_t now_us,
                                  int64_t deadline_ns);
/* Hands a commit to the committer. */
PAWL_MUST_CHECK int pawl__runtime_commit(struct pawl_runtime *runtime, struct pawl_commit *commit,
                                         int64_t deadline_ns, struct pawl_error *err);

#endif
