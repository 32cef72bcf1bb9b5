/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that send: events, and stimuli by their name and payload. */
#ifndef PAWL_OPERATIONS_STIMULI_H
#define PAWL_OPERATIONS_STIMULI_H

#include "base/json/json.h"
#include "operations/operation.h"
#include "runtime/values.h"

/* Texts "" when not given. Borrowed for the call. */
struct pawl_send_request {
    struct pawl_str name;                 /* the event's, or the stimulus' */
    const struct pawl_json *payload;      /* of an event what goes with it, of a stimulus what it is
                                           * found by besides its name; NULL: nothing */
    struct pawl_json input;               /* of a stimulus: an object, what those it resumes get */
    struct pawl_str correlation_id;       /* only instances with it; new ones get it */
    struct pawl_str instance_id;          /* only this one: starts nothing */
    struct pawl_str activity_instance_id; /* only what this execution of an activity waits for */
    /* Sending again with the same key does nothing, and returns what the first one did, for a day.
     * PAWL_ECONFLICT: the first one was another. */
    struct pawl_str idempotency_key;
    bool detached; /* it is stored, and delivered by whoever does due work, not by this call */
};

struct pawl_send_result {
    uint32_t started; /* instances that will be started */
    uint32_t resumed; /* bookmarks that will be resumed */
    bool parked;      /* nobody waits for it yet: it waits, as long as `stimulus.ttl` says */
};

/*
 * Sends to all that wait for it and to definitions that start by it. PAWL_OK: it is durable. If it
 * is for one instance that nobody runs, that has been run (setting `delivery`); otherwise doing due
 * work does the rest. `out` all 0: it could not be matched yet, and will be.
 * PAWL_EINVAL: it has no name.
 */
PAWL_MUST_CHECK int pawl__op_event_send(const struct pawl_op *op,
                                        const struct pawl_send_request *request,
                                        struct pawl_send_result *out);
PAWL_MUST_CHECK int pawl__op_stimulus_send(const struct pawl_op *op,
                                           const struct pawl_send_request *request,
                                           struct pawl_send_result *out);

/* ---- and waits --------------------------------------------------------------------------------
 */

/* How an instance that the event started or resumed stands. */
struct pawl_event_outcome {
    char instance_id[PAWL_INSTANCE_ID_MAX + 1];
    bool is_started; /* else it was resumed */
    /* PAWL_OK: it waits for something, has ended or is set aside. PAWL_ENOTFOUND: it was not
     * started after all, or deleted. PAWL_ETIMEDOUT, PAWL_ESTOPPED, an error of the store: it goes
     * on, and nobody knows how far it is. */
    int status;
    enum pawl_sub_status sub_status;
    int64_t incident_count;
};

struct pawl_event_result {
    struct pawl_send_result sent;
    struct pawl_event_outcome *instances; /* one for each bookmark and trigger, PAWL_REACH_MAX */
    size_t count;                         /* bookmarks at the most: others are not waited for */
};

/* Called once, by any thread, also the caller's before the operation returns. `result` is borrowed
 * for the call. */
typedef void pawl_event_done_fn(void *ctx, const struct pawl_event_result *result);

/*
 * Sends an event, and completes when what it started or resumed has come to rest, or at
 * op->deadline_ns. Somebody must do the work that is due (host/duty.h). When it fails, nothing was
 * sent and `done` is not called. Of an event that was sent before with its key, or could not be
 * matched yet, or that nobody waits for, there are no instances.
 */
PAWL_MUST_CHECK int pawl__op_event_send_await(const struct pawl_op *op,
                                              const struct pawl_send_request *request,
                                              pawl_event_done_fn *done, void *ctx);
/* The same, and blocks until then. `works`: this host has no workers, and the caller's thread does
 * the work that is due meanwhile. *out is in op->arena. */
PAWL_MUST_CHECK int pawl__op_event_send_wait(const struct pawl_op *op,
                                             const struct pawl_send_request *request, bool works,
                                             struct pawl_event_result *out);

#endif
