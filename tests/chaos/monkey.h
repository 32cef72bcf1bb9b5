/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong, one thing after the other, by a seed: nodes are killed and come back, are paused
 * past their lease, are cut off, have their clock set; the database and the lock service are
 * restarted, the database fails over to its standby. Two nodes at the most are away at a time, and
 * in the end everything is well again. A fault counts when there was work under way that it could
 * hit, and there are so many of each kind at least.
 */
#ifndef PAWL_TESTS_CHAOS_MONKEY_H
#define PAWL_TESTS_CHAOS_MONKEY_H

#include "chaos/nodes.h"

#include <pawl/ext/env.h>

#include <stdatomic.h>
#include <stdint.h>

#define NODES 3
#define MONKEY_SPANS_MAX 4096

enum mischief {
    MISCHIEF_KILL,     /* kill -9; it starts again a little later */
    MISCHIEF_STOP,     /* SIGTERM; it starts again at once: a rolling restart */
    MISCHIEF_PAUSE,    /* SIGSTOP for longer than its lease */
    MISCHIEF_HALF,     /* SIGSTOP with half of a request sent: what it has locked stays locked */
    MISCHIEF_MUTE,     /* answers to the sender without keys get lost, for longer than its lease */
    MISCHIEF_CUT,      /* off its servers for longer than its lease */
    MISCHIEF_CLOCK,    /* an hour forwards, or back, or right again */
    MISCHIEF_STORE,    /* the database crashes and is started again */
    MISCHIEF_LOCKS,    /* the lock service likewise */
    MISCHIEF_FAILOVER, /* the primary crashes, its standby is promoted and gets a new standby */
    MISCHIEF_COUNT
};

struct monkey {
    struct pawl_env *env;
    struct node *nodes; /* NODES of them */
    uint64_t random;
    int64_t lease_ns;
    void *ctx; /* of the calls below; those that are NULL do not happen */
    void (*cut)(void *ctx, unsigned node);
    void (*mend)(void *ctx, unsigned node);
    /* Passes `bytes` more of what each connection of a node sends; returns whether one had more. */
    bool (*halve)(void *ctx, unsigned node, size_t bytes);
    void (*mute)(void *ctx, bool muted);
    void (*restart_store)(void *ctx);
    void (*restart_locks)(void *ctx);
    /* A failover; between its steps nobody writes, and after them there is a standby again. */
    void (*crash_primary)(void *ctx);
    void (*promote_standby)(void *ctx);
    void (*add_standby)(void *ctx);
    bool (*is_busy)(void *busy_ctx); /* whether work is under way */
    void *busy_ctx;
    unsigned least; /* of each kind, `enough` or not */
    int64_t give_up_ns;
    _Atomic(bool) enough;
    /* Since when a node has been left in peace, and what all of them depend on; INT64_MAX: it is
     * not. */
    _Atomic(int64_t) calm_since_ns[NODES];
    /* What was done, for the report: while work was under way, and while none was. */
    unsigned done[MISCHIEF_COUNT];
    unsigned idle[MISCHIEF_COUNT];
    unsigned failed_starts;
    /* When something was wrong, by the wall clock. */
    struct {
        int64_t from_us, to_us;
    } spans[MONKEY_SPANS_MAX];
    size_t span_count;
};

/* Until `enough` and `least`; then all nodes run and everything is mended. */
void monkey_run(struct monkey *monkey);
/* Fails the test when there were too few of a kind that can happen. */
void monkey_report(const struct monkey *monkey);
/* Whether something was wrong between these times, or had been until shortly before. */
bool monkey_has_disturbed(const struct monkey *monkey, int64_t from_us, int64_t to_us);
/* Whether nothing has been done to the node for so long, so that all is to be well with it. */
bool monkey_left_alone(const struct monkey *monkey, unsigned node, int64_t span_ns);

#endif
