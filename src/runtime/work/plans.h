/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: alterations of all instances that a filter selects, carried out by whoever does due work.
 *
 *     Pending -> Generating -> Running -> Completed
 *
 * A plan is a row, and one row of work (PAWL_WORK_PLAN) that is taken step after step; each step is
 * one commit that ends the row of work and makes the next. Generating adds jobs, one for each
 * instance, PLAN_JOBS at a time; instances that are created after the plan are not in it. Running
 * alters a few instances, each in a commit of its own with a record under the job's name
 * (runtime/audit.h), so that a node that dies in between leaves nothing to be altered twice.
 */
#ifndef PAWL_RUNTIME_WORK_PLANS_H
#define PAWL_RUNTIME_WORK_PLANS_H

#include "runtime/runtime.h"
#include "runtime/work/selection.h"

struct pawl_audit;
struct runtime_task;

#define PAWL_WORK_PLAN "plan"
#define PAWL_PLAN_ID_MAX 200u

/*
 * Stores a plan and makes it due. `data` is {"alterations": […], "filter": {…}}, checked before.
 * A plan of this id that is there already stays as it is, and *existed is set.
 */
PAWL_MUST_CHECK int pawl__runtime_submit_plan_by(struct pawl_runtime *runtime,
                                                 struct pawl_audit *by, struct pawl_str plan_id,
                                                 struct pawl_str data, bool *existed,
                                                 int64_t deadline_ns, struct pawl_error *err);

/* One step of a plan. */
PAWL_MUST_CHECK int pawl__runtime_do_plan(struct runtime_task *task,
                                          const struct pawl_work_row *work);

#endif
