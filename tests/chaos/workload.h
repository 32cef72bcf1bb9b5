/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a cluster under faults, and how to check afterwards that it was done.
 *
 * Orders: each waits for three events, one after the other, counts them, waits for a timer, has a
 * child do something and counts again; its name is the count. A ticker is started by cron every
 * second. Callers, where there is a server for them, send one HTTP request each and count its
 * answer; they are started one by one while events are sent. Orders come one after the other, each
 * event of one behind those of earlier ones, so that there are always some under way, until there
 * are enough of them and the faults have ended. The client accepts nothing on its own:
 * it hands in starts and events with keys until the store has said yes, as a caller would that
 * retries.
 *
 * The check reads rows of the store and nothing else: it does not ask the runtime.
 */
#ifndef PAWL_TESTS_CHAOS_WORKLOAD_H
#define PAWL_TESTS_CHAOS_WORKLOAD_H

#include "pains/stage.h"
#include "servers/http.h"

#define ORDER_EVENTS 3
/* Three events, the timer, the child. */
#define ORDER_COUNT "5"
/* Far less than what the server of the test takes: whoever dies has its requests sent again. */
#define CALLERS 100
#define CALLERS_PATH "/call"

struct workload {
    struct stage *client;
    unsigned orders;           /* at least so many; when it has ended, how many there are */
    unsigned orders_max;       /* there is room for so many */
    int64_t pace_ns;           /* between one order and the next */
    _Atomic(bool) enough;      /* no more than `orders` are needed */
    _Atomic(unsigned) running; /* as the witness saw them last */
    struct test_http *target;  /* of callers; NULL: there are none */
    unsigned callers;          /* started so far */
    int64_t published_us;      /* the store's clock when the ticker was published */
    /* Whether faults explain that a tick between these times is missing. */
    bool (*was_disturbed)(void *ctx, int64_t from_us, int64_t to_us);
    void *ctx;
    /* Counted by the sender, read by others when it has ended. */
    unsigned retries;
    struct pawl_error failure; /* the first that no retry can mend */
};

void workload_publish(struct workload *load);
/* Starts orders and sends all their events. For a thread: failures are left in `failure`. */
void workload_send(void *arg);
/* Whether orders are under way: some have been started and have not ended. */
bool workload_is_busy(void *arg);

/* Rows seen so far, to notice a revision that goes back. */
struct witness {
    struct workload *load;
    struct stage *stage; /* a connection of its own */
    int64_t *revisions;  /* by order; 0: not seen */
    unsigned looks;
    unsigned running; /* of the look that is under way */
    unsigned gone_back;
    /* Whether node-N has been left alone for a while; leases of those that have not are not looked
     * at. */
    bool (*left_alone)(void *ctx, unsigned node);
    void *ctx;
    unsigned lease_looks;
    unsigned lapsed; /* leases that were over although the node was left alone */
    _Atomic(bool) enough;
};

/* For a thread: looks at all orders again and again. */
void witness_watch(void *arg);

/* Waits until every order has ended; fails the test after `patience_s`, showing what hangs. */
void workload_await_end(struct workload *load, unsigned patience_s);
/* Fails the test when something was lost, done twice, or is left. */
void workload_check(struct workload *load);

#endif
