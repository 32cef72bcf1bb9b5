/* SPDX-License-Identifier: Apache-2.0 */
/* What one call does before it returns: its arena, its deadline, what is urgent. See runtime.c. */
#ifndef PAWL_RUNTIME_TASK_H
#define PAWL_RUNTIME_TASK_H

#include "base/arena.h"
#include "base/list.h"
#include "runtime/runtime.h"

struct runtime_direct;
struct runtime_running;

/*
 * What one call, or one piece of work, has in hand. `urgent` is what must be done before the call
 * returns, last in first out: a child that a burst awaits, then the burst itself.
 */
struct runtime_task {
    struct pawl_runtime *runtime;
    int64_t deadline_ns;
    struct pawl_arena arena;      /* of this task as a whole */
    struct pawl_list urgent;      /* struct runtime_urgent, in the arena */
    struct pawl_request *request; /* NULL: none */
    struct pawl_json *altered;    /* where alterations are logged; NULL: nowhere */
    struct pawl_arena *altered_arena;
    struct pawl_reach *reach; /* of a stimulus: where what it reaches is added; NULL: nowhere */
    bool waits;               /* somebody waits for it: it waits for requests too */
    bool yields;              /* a worker's: a burst that yields ends it, and goes on in its turn */
    struct runtime_running *running; /* what is in hand; NULL: nothing */
    bool holds_no_claim; /* the refused claim needs no cleanup: another node owns the instance, or
                          * it was not the target */
    bool gone;           /* the last claim found no such instance */
    bool cancels;        /* the cancellation of the one that was last claimed is requested */
    bool is_event_committed; /* the caller's event has taken effect, at least its first commit */
    bool by_operator;        /* an operator's command: also of an instance that is set aside */
    struct pawl_audit *by;   /* its record, until a commit has written it; NULL: none (audit.h) */
    bool given_up;           /* what failed is not to be tried again */
    int64_t metered_ns;      /* a worker's: its processor time that was charged last */
    struct pawl_str metered_id; /* the definition that it is charged to; "": none yet */
    bool metered_failed;        /* the last burst of that definition */
    bool is_direct; /* a sender's (instance/deliver.c): it waits for nobody, and leaves to others
                     * what its burst begins */
    struct runtime_direct *direct; /* what it brings for the next instance that it runs; NULL */
    bool folds_not; /* events with a commit each, because one of several in a commit has failed */
    bool is_duty;   /* of the keeper, which must renew its lease: no commit exceeds the deadline */
    struct pawl_error *err;
};

void pawl__runtime_task_init(struct runtime_task *task, struct pawl_runtime *runtime,
                             int64_t deadline_ns, struct pawl_error *err);
/* `status` is what the task ended with. */
void pawl__runtime_task_release(struct runtime_task *task, int status);
/* Does what is urgent, until nothing is. */
PAWL_MUST_CHECK int pawl__runtime_task_finish(struct runtime_task *task);
PAWL_MUST_CHECK int pawl__runtime_task_urge(struct runtime_task *task,
                                            const struct pawl_work_row *start,
                                            struct pawl_str instance_id);
/* The instance's burst awaits a request: its end is waited for. */
PAWL_MUST_CHECK int pawl__runtime_task_await(struct runtime_task *task,
                                             struct pawl_str instance_id);

#endif
