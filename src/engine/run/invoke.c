/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invocation of one activity, from the queue to its end, in phases so that a burst may stop in
 * the middle (a commit that a strategy asks for, an effect that is awaited) and continue, even in
 * another process:
 *
 *     begin --[commit]--> execute --[effect]--> deliver --> finish
 *
 * An exception anywhere faults the context and ends the invocation.
 *
 * A commit that a strategy asks for is due, not made at once: it is made before the next activity
 * begins, or with the commit that ends the burst. What only schedules is no activity in this sense
 * (pawl__only_schedules()): it evaluates nothing, so that running it again gives the same.
 */
#include "engine/run/instance.h"

#include "base/assert.h"

/* ---- commit strategies ------------------------------------------------------------------- */

enum moment { EXECUTING, EXECUTED };

/* 1 commit, -1 do not, 0 ask the workflow's strategy. */
static int activity_strategy(struct pawl_str name, enum moment moment)
{
    if (pawl__str_is(name, "CommitAlways"))
        return 1;
    if (pawl__str_is(name, "CommitNever"))
        return -1;
    if (pawl__str_is(name, moment == EXECUTING ? "Executing" : "Executed"))
        return 1;
    return 0;
}

static bool wants_commit(const struct pawl_context *context, enum moment moment)
{
    const struct pawl_burst *burst = context->burst;
    int answer;

    if (!burst->engine->commit_strategies)
        return false;
    answer = activity_strategy(context->node->commit_strategy, moment);
    if (answer != 0)
        return answer > 0;
    return pawl__str_is(burst->graph->workflow->commit_strategy,
                        moment == EXECUTING ? "ActivityExecuting" : "ActivityExecuted");
}

bool pawl__only_schedules(const struct pawl_node *node)
{
    return (node->activity->flags & PAWL_ACTIVITY_CONTAINER) && node->activity->input_count == 0 &&
           !pawl__is_background(node);
}

/* Whether a commit comes before what has begun executes. */
static bool commits_first(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;
    bool wanted = wants_commit(context, EXECUTING);

    if (!pawl__only_schedules(context->node))
        return wanted || burst->due != PAWL_DUE_NONE;
    if (wanted && burst->due == PAWL_DUE_NONE)
        burst->due = PAWL_DUE_BEFORE_EXECUTE;
    return false;
}

/* ---- the phases -------------------------------------------------------------------------- */

static void end_invocation(struct pawl_context *context)
{
    context->is_executing = false;
    context->burst->is_executing = false;
    context->burst->current = NULL;
    context->burst->phase = PAWL_PHASE_NEXT;
    context->burst->awaiting = false;
    pawl__context_touch(context);
}

static int log_fault(struct pawl_context *context)
{
    const struct pawl_exception *exception = context->burst->exception;
    struct pawl_json payload;
    int status = pawl__exception_json(exception, &context->burst->arena, &payload);

    if (status == PAWL_OK)
        status = pawl__log_entry(context, "Faulted", exception->message, &payload);
    return status;
}

/* Ends the invocation of a context that raised; other statuses pass through. */
static int fault_if_raised(struct pawl_context *context, int status)
{
    if (status != ENGINE_RAISED)
        return status;
    context->burst->resume_pending = false;
    pawl__burst_look_at_clock(context->burst);
    status = log_fault(context);
    if (status == PAWL_OK)
        status = pawl__fault(context);
    end_invocation(context);
    return status;
}

static int finish(struct pawl_context *context)
{
    int status = PAWL_OK;

    if (context->status == PAWL_ACTIVITY_RUNNING &&
        pawl__node_has_bookmark(context->burst, context->node))
        status = pawl__log_entry(context, "Suspended", pawl__str(""), NULL);
    end_invocation(context);
    return status;
}

static int stop_at(struct pawl_burst *burst, enum pawl_phase phase, enum pawl_step at,
                   enum pawl_step *step, bool *stopped)
{
    burst->phase = phase;
    *step = at;
    *stopped = true;
    return PAWL_OK;
}

static int executed(struct pawl_context *context, enum pawl_step *step, bool *stopped)
{
    struct pawl_burst *burst = context->burst;
    int status = pawl__log_modes_evaluate(context);

    if (status != PAWL_OK)
        return status;
    if (burst->awaiting && pawl__background_detaches(context)) {
        status = pawl__background_detach(context);
        end_invocation(context);
        return status;
    }
    if (burst->awaiting)
        return stop_at(burst, PAWL_PHASE_AWAIT, PAWL_STEP_EFFECT, step, stopped);
    if (burst->resumed && burst->resumed->auto_burn)
        pawl__bookmark_burn(burst, burst->resumed->id);
    if (wants_commit(context, EXECUTED))
        burst->due = PAWL_DUE_BEFORE_NEXT;
    return finish(context);
}

static int auto_complete(struct pawl_context *context)
{
    if (!(context->node->activity->flags & PAWL_ACTIVITY_AUTO_COMPLETE) || context->made_bookmark ||
        context->burst->awaiting)
        return PAWL_OK;
    return pawl__complete(context, NULL);
}

static int run_body(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;
    const struct pawl_activity *activity = context->node->activity;
    int status = PAWL_OK;

    if (burst->resume_pending && !burst->job) {
        burst->resume_pending = false;
        burst->current_resumed = true;
        return pawl__resume_run(context);
    }
    burst->current_resumed = false;
    if (burst->resume_pending) {
        burst->resume_pending = false;
        status = pawl__background_run(context);
        return status == PAWL_OK ? auto_complete(context) : status;
    }
    if (pawl__is_background(context->node))
        return pawl__background_wait(context);
    if (activity->flags & PAWL_ACTIVITY_CONTAINER)
        status = pawl__variables_declare(context);
    if (status == PAWL_OK && activity->execute)
        status = activity->execute(context);
    if (status == PAWL_OK)
        status = auto_complete(context);
    return status;
}

static int execute(struct pawl_context *context, enum pawl_step *step, bool *stopped)
{
    int status;

    context->status = PAWL_ACTIVITY_RUNNING;
    status = run_body(context);
    if (status == PAWL_OK)
        status = executed(context, step, stopped);
    return status;
}

/* Up to the point where a strategy may ask for a commit. */
static int begin(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;
    bool waits = pawl__node_has_bookmark(burst, context->node);
    int status = pawl__log_entry(context, waits ? "Resumed" : "Started", pawl__str(""), NULL);

    burst->job_logged = burst->job && burst->resume_pending ? burst->log.count : 0;
    if (status == PAWL_OK)
        status = pawl__composite_inputs_evaluate(context);
    if (status == PAWL_OK)
        status = pawl__inputs_evaluate(context);
    if (status == PAWL_OK) {
        context->is_executing = true;
        burst->is_executing = true;
    }
    return status;
}

static int deliver(struct pawl_context *context, enum pawl_step *step, bool *stopped)
{
    struct pawl_burst *burst = context->burst;
    int status;

    burst->awaiting = false;
    PAWL_ASSERT(context->node->activity->effect_done);
    status = context->node->activity->effect_done(context, &burst->fed);
    if (status == PAWL_OK && !burst->current_resumed)
        status = auto_complete(context);
    if (status == PAWL_OK)
        status = executed(context, step, stopped);
    return status;
}

/* ---- contexts for work items ------------------------------------------------------------- */

static int merge_input(struct pawl_context *context, const struct pawl_json *input)
{
    return pawl__json_merge(&context->burst->arena, &context->input, input, PAWL_JSON_MERGE_OVER);
}

static int make_context(struct pawl_burst *burst, const struct pawl_work_item *item,
                        struct pawl_context **out)
{
    struct pawl_context *context;
    int status = pawl__context_new(burst, item->node, item->owner, &context);

    if (status != PAWL_OK)
        return status;
    context->id = pawl__burst_new_id(burst);
    if (context->id.len == 0)
        return pawl__arena_status(&burst->arena);
    context->started_at = burst->now;
    context->tag = item->tag;
    context->scheduled_by = item->scheduled_by;
    context->scheduled_by_activity = item->scheduled_by_activity;
    context->scheduled_by_instance = item->scheduled_by_instance;
    context->depth = item->depth;
    *out = context;
    return PAWL_OK;
}

int pawl__invoke(struct pawl_burst *burst, const struct pawl_work_item *item, enum pawl_step *step,
                 bool *stopped)
{
    struct pawl_context *context = item->existing;
    int status;

    pawl__burst_look_at_clock(burst);
    status = context ? PAWL_OK : make_context(burst, item, &context);
    if (status != PAWL_OK)
        return status;
    if (item->variable_count > 0)
        status = pawl__dynamic_declare(context, item->variables, item->variable_count);
    if (status == PAWL_OK)
        status = merge_input(context, &item->input);
    if (status != PAWL_OK)
        return status;
    burst->current = context;
    pawl__context_touch(context);
    status = begin(context);
    /* Of a job that begins it is not known yet whether its log says so: see background.c. */
    if (status == PAWL_OK && burst->job_logged == 0 && commits_first(context))
        return stop_at(burst, PAWL_PHASE_EXECUTE, PAWL_STEP_COMMIT, step, stopped);
    if (status == PAWL_OK)
        status = execute(context, step, stopped);
    return fault_if_raised(context, status);
}

int pawl__invoke_continue(struct pawl_burst *burst, enum pawl_step *step, bool *stopped)
{
    struct pawl_context *context = burst->current;
    int status = PAWL_OK;

    PAWL_ASSERT(context);
    switch (burst->phase) {
    case PAWL_PHASE_EXECUTE:
        status = execute(context, step, stopped);
        break;
    case PAWL_PHASE_AWAIT: /* stepped again without a result: it is still awaited */
        return stop_at(burst, PAWL_PHASE_AWAIT, PAWL_STEP_EFFECT, step, stopped);
    case PAWL_PHASE_DELIVER:
        status = deliver(context, step, stopped);
        break;
    case PAWL_PHASE_EXECUTED: /* stored by 0.1 and before */
        status = finish(context);
        break;
    case PAWL_PHASE_NEXT:
        PAWL_ASSERT(false && "no invocation to continue");
    }
    return fault_if_raised(context, status);
}
