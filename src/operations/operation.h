/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: what the command line, the C API and the server can do with a store, decided once.
 *
 * A door (src/cli, src/embed, src/api) reads a request, calls one operation, and writes what it
 * returns as a view (src/views). It decides nothing that another door would have to decide in the
 * same way: what may be deleted, what a list shows, what counts as found. So doors see this folder
 * and never the store, the runtime or the engine behind it.
 *
 * There is one header for each kind of thing:
 *
 *     operation.h     this: what every operation is given; pages of lists
 *     definitions.h   workflow definitions
 *     instances.h     workflow instances
 *     alterations.h   alterations of many instances, plans
 *     waits.h         what is waited for
 *     changes.h       changes of instances, as they happen
 *     journal.h       what happened in them
 *     why.h           why an instance does not continue
 *     stimuli.h       events and stimuli
 *     endpoints.h     workflows as HTTP endpoints
 *     tasks.h         tasks that workflows wait for
 *     routes.h        at which paths workflows take requests
 *     timers.h        what becomes due by time
 *     queue.h         work that is due, later or parked
 *     letters.h       dead letters
 *     audit.h         records of what operators changed
 *     identity.h      users, roles, applications, tokens
 *     directory.h     who may do what, in memory
 *     retention.h     what is not kept any longer
 *     nodes.h         nodes, and pauses
 *     metrics.h       metrics, as text
 *     statistics.h    counts: how a store is doing
 *     dashboard.h     what a dashboard shows: counts over a period
 *     faults.h        faults by cause
 *     settings.h      settings of this process
 *     types.h         types of activities
 *     store.h         whole stores: making, checking, backing up, restoring
 *     locks.h         lock services, and a lock that is held
 *     trial.h         definitions and expressions on a host that stores nothing
 *     offline.h       definitions without a host; types of activities
 *
 * How operations, C functions and commands are named: docs/design/0012-operations.md.
 *
 * Every operation takes a struct pawl_op first, then its request (borrowed for the call), then
 * where its results go. It returns PAWL_OK or a negative code with a message in op->err, and on
 * failure its outputs are unwritten. Rows, texts and JSON that it returns live in op->arena.
 * Operations may be called from any thread, each with a struct pawl_op of its own.
 *
 * Errors that any of them may return, besides what is said at each: PAWL_EINVAL (a request that
 * makes no sense, with what is wrong with it), PAWL_ETIMEDOUT, PAWL_EBUSY, PAWL_EUNAVAILABLE,
 * PAWL_ENOMEM (later again), PAWL_EUNKNOWN (it may have happened: look first), PAWL_EIO,
 * PAWL_ECORRUPT.
 */
#ifndef PAWL_OPERATIONS_OPERATION_H
#define PAWL_OPERATIONS_OPERATION_H

#include "base/arena.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/ext/log.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stdint.h>

struct pawl_audit;
struct pawl_host;

/* One request, from any door. Borrows everything. */
struct pawl_op {
    struct pawl_host *host;     /* started */
    struct pawl_arena *arena;   /* what is returned lives there */
    int64_t deadline_ns;        /* of the environment's monotonic clock */
    struct pawl_error *err;     /* NULL allowed */
    const struct pawl_log *log; /* NULL: none */
    struct pawl_str actor;      /* the caller, for operators: "cli:alice"; "": unknown */
    /* What its changes are recorded under (audit.h), unlike any other; "": one is made. At most
     * PAWL_REQUEST_ID_MAX bytes. */
    struct pawl_str request_id;
    struct pawl_str traceparent; /* of the trace it belongs to; "": none */
    struct pawl_str door;        /* it came through: "cli", "c", "http", "page" */
    /* Of operations that are part of a larger one: what that is recorded by. NULL: it is none. */
    struct pawl_audit *record;
};
#define PAWL_REQUEST_ID_MAX 200u

/* The same request with another deadline, so many milliseconds from now. */
struct pawl_op pawl__op_within(const struct pawl_op *op, int64_t timeout_ms);

/* ---- many things ---------------------------------------------------------------------------- */

/*
 * What became of a change of all things that a query matches; its page is ignored. The query must
 * say something: an empty one is PAWL_EINVAL unless its `all` is set, so that a filter that was
 * forgotten deletes nothing. A list of ids without members matches nothing. Each thing is changed
 * in a commit of its own, and all have one record (audit.h).
 */
struct pawl_bulk_result {
    uint64_t done;
    uint64_t skipped;        /* that somebody else changed or deleted meanwhile */
    uint64_t failed;         /* they are unchanged */
    struct pawl_error error; /* of the first of those; code PAWL_OK: none */
    /* The deadline passed or the store failed: there may be more, and calling again continues. */
    bool is_partial;
};

/* ---- pages ---------------------------------------------------------------------------------- */

/* Rows of one page: at the most, and when the request does not say. */
#define PAWL_PAGE_ROWS_MAX 10000u
#define PAWL_PAGE_ROWS_DEFAULT 100u

/* Which part of a list. All zero: the first rows, in the list's usual order. */
struct pawl_page_request {
    uint32_t limit;  /* 0: PAWL_PAGE_ROWS_DEFAULT; more than PAWL_PAGE_ROWS_MAX is PAWL_EINVAL */
    uint64_t offset; /* rows that are passed over; their number is its cost */
    /* `next` of the page before, whose sort and direction it has; costs nothing. "": from the
     * start. PAWL_EINVAL: not from such a list. */
    struct pawl_str after;
    bool reversed;   /* the other direction than the list's usual one */
    bool with_total; /* count all that match, too */
    bool total_only; /* count, and return no rows */
    /* How many rows may be scanned if no index serves the query; 0: all. Of lists that people look
     * at: PAWL_STORE_SCAN_DEFAULT, whatever is asked for then costs little, and says if it is cut.
     */
    uint32_t scan_limit;
};

struct pawl_page {
    uint64_t total;       /* with_total, total_only: of all that match, wherever the page is */
    struct pawl_str next; /* `after` of the next page; "": there is none */
    bool is_cut; /* with a scan_limit: there was more to look at. The total is a lower bound, and
                  * rows may be lacking (struct pawl_rows) */
};

#endif
