/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share with each other and with the other rooms; see runtime.h. */
#ifndef PAWL_RUNTIME_NODE_PRIVATE_H
#define PAWL_RUNTIME_NODE_PRIVATE_H

#include "runtime/node/guard.h"
#include "runtime/runtime_private.h"

struct runtime_running;
struct runtime_task;

/* ---- guard.c ----------------------------------------------------------------------------- */

/*
 * Asks the guard, before the claim. What is refused to a task for which nobody waits is looked at
 * again later: its work may be this node's, and in nobody's hand then.
 */
PAWL_MUST_CHECK int pawl__runtime_pass(struct runtime_task *task, struct pawl_str instance_id,
                                       enum pawl_guard_how how, struct pawl_guard_pass *out);
void pawl__runtime_unpass(struct runtime_task *task, struct pawl_str instance_id,
                          struct pawl_guard_pass pass);

/* ---- watch.c ----------------------------------------------------------------------------- */

/* Around what may not come back: a step, or with `work_id` an effect. `running` NULL: nothing. */
void pawl__runtime_step_begin(struct pawl_runtime *runtime, struct runtime_running *running,
                              struct pawl_str work_id);
void pawl__runtime_step_goes_on(struct pawl_runtime *runtime, struct runtime_running *running);
void pawl__runtime_step_end(struct pawl_runtime *runtime, struct runtime_running *running);
/* Gives up the steps that are overdue. On the keeper's thread. */
void pawl__runtime_watch(struct pawl_runtime *runtime, int64_t deadline_ns);
/* The number of threads that hang has changed. */
void pawl__runtime_tell_stuck(struct pawl_runtime *runtime);
/* Who replaces threads that hang. NULL: nobody; whoever was asked before is not being called any
 * more when this returns. */
void pawl__runtime_set_replace(struct pawl_runtime *runtime,
                               void (*replace)(void *ctx, uint32_t stuck), void *ctx);
/* No thread is left: the node's incarnation ends, so that others do what it has taken. */
void pawl__runtime_renounce(struct pawl_runtime *runtime);

/* ---- replies.c --------------------------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__runtime_replies_open(struct pawl_runtime *runtime,
                                               struct pawl_error *err);
/* Ends all that wait, and lets nobody wait any more. */
void pawl__runtime_replies_end(struct pawl_runtime *runtime);
/* The same, and frees the table. NULL inside allowed. */
void pawl__runtime_replies_close(struct pawl_runtime *runtime);

/* ---- routes.c ---------------------------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__runtime_routes_open(struct pawl_runtime *runtime, struct pawl_error *err);
/* NULL inside allowed. */
void pawl__runtime_routes_close(struct pawl_runtime *runtime);

/* ---- waits.c ----------------------------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__runtime_waits_open(struct pawl_runtime *runtime, struct pawl_error *err);
/* Ends all that wait. NULL inside allowed. */
void pawl__runtime_waits_close(struct pawl_runtime *runtime);
/* A commit of this node's has left the instance idle, ended, set aside or deleted. */
void pawl__runtime_tell_waits(struct pawl_runtime *runtime, struct pawl_str instance_id);

/* ---- changes.c --------------------------------------------------------------------------- */

/* A commit of this node's was applied. */
void pawl__runtime_tell_change(struct pawl_runtime *runtime, const struct pawl_commit *commit);

#endif
