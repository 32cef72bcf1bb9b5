/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request that a burst awaits: what http.c and request.c share. */
#ifndef PAWL_RUNTIME_WORK_REQUEST_H
#define PAWL_RUNTIME_WORK_REQUEST_H

#include "base/trace_context.h"
#include "runtime/runtime_private.h"

enum runtime_request_state {
    REQUEST_NEW, /* not begun: its commit is on its way */
    REQUEST_SENDING,
    REQUEST_ANSWERED,
    REQUEST_PAUSING,
    REQUEST_COMMITTING,
    REQUEST_CHECKING, /* whether its row is still this node's */
};

struct runtime_request {
    struct pawl_list_link link;
    struct pawl_runtime *runtime;
    struct pawl_arena arena;
    struct pawl_str id; /* of the row */
    struct pawl_str instance_id;
    struct pawl_str effect_id; /* whatever became of the row's */
    struct pawl_str job_id;    /* the bookmark of the job that asked for it; "": the burst did */
    int64_t owner;
    struct pawl_json data;

    struct pawl_http_request request;
    struct pawl_trace_context span; /* all zero: it is not traced */
    char traceparent[PAWL_TRACEPARENT_SIZE];
    int64_t begun_ns; /* traced: when it was sent */
    uint64_t ticket;

    /* Guarded by the runtime's mutex; moved by pawl__request_move() alone. */
    enum runtime_request_state state;
    /* In SENDING these are of whoever sends the request or, once it is submitted, of whoever
     * answers it; in CHECKING and COMMITTING of the thread of http.c; otherwise the mutex guards
     * them. */
    int64_t again_ns;  /* PAUSING; ANSWERED: not committed before */
    uint32_t failures; /* in a row: of this node to send it, or to commit the answer */
    int64_t attempts;  /* that got a response */
    enum pawl_http_end end;
    bool sent;
    int64_t status;
    struct pawl_arena answer_arena;
    struct pawl_str feed; /* what the instance gets */
};

/*
 * What the instance gets: the answer, or an error with its reason (activities/http_client.h). Out
 * of memory it says just that: the instance must not wait for ever.
 */
void pawl__runtime_request_set_answer(struct runtime_request *r,
                                      const struct pawl_http_answer *answer);
void pawl__runtime_request_set_failure(struct runtime_request *r, const char *reason,
                                       const char *message);

/* http.c, with the runtime's mutex held. Asserts that `to` may follow. */
void pawl__request_move(struct runtime_request *r, enum runtime_request_state to);
bool pawl__request_may_move(enum runtime_request_state from, enum runtime_request_state to);

#endif
