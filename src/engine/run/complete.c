/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How contexts end: completion with outcomes, cancellation, and the signals to ancestors.
 * Parents react inside the child's completion, before its remaining steps.
 */
#include "engine/run/instance.h"

#include "base/assert.h"

bool pawl__outcomes_have(const struct pawl_outcomes *outcomes, struct pawl_str port)
{
    if (!outcomes)
        return port.len == 0 || pawl__str_is(port, "Done");
    for (uint32_t i = 0; i < outcomes->count; i++) {
        if (port.len > 0 && pawl__str_equal(outcomes->names[i], port))
            return true;
    }
    return false;
}

/* ---- signals ----------------------------------------------------------------------------- */

/* The behaviour every activity has: a completed child's callback. */
static int run_callback(struct pawl_context *receiver, struct pawl_signal *signal)
{
    const struct pawl_completion_callback *callback;
    const struct pawl_callback_entry *entry;
    struct pawl_completion completion;
    int status = PAWL_OK;

    entry = pawl__callback_pop(receiver, signal->sender->node);
    if (!entry)
        return PAWL_OK;
    receiver->tag = entry->tag;
    callback = pawl__completion_named(receiver->node->activity, entry->method);
    if (!callback)
        return pawl__raise(receiver, "InvalidOperationException",
                           "Completion callback '%s' is not known to activity type '%s'.",
                           entry->method, receiver->node->activity->type);
    if (!receiver->inputs)
        status = pawl__inputs_evaluate(receiver);
    if (status != PAWL_OK)
        return status;
    completion = (struct pawl_completion){
        .child = signal->sender, .outcomes = signal->outcomes, .tag = entry->tag};
    return callback->run(receiver, &completion);
}

static int receive(struct pawl_context *receiver, struct pawl_signal *signal)
{
    const struct pawl_activity *activity = receiver->node->activity;
    int status = PAWL_OK;

    if (activity->signal)
        status = activity->signal(receiver, signal);
    if (status == PAWL_OK && signal->kind == PAWL_SIGNAL_COMPLETED)
        status = run_callback(receiver, signal);
    return status;
}

int pawl__signal_send(struct pawl_context *context, struct pawl_signal *signal)
{
    signal->sender = context;
    for (struct pawl_context *receiver = context; receiver; receiver = receiver->parent) {
        int status = receive(receiver, signal);

        if (status != PAWL_OK)
            return status;
        if (signal->stop)
            break;
    }
    return PAWL_OK;
}

void pawl__composite_signal_set(struct pawl_context *context, const struct pawl_outcomes *outcomes)
{
    context->burst->composite_set = true;
    context->burst->composite = outcomes ? *outcomes : (struct pawl_outcomes){0};
    context->burst->composite_default = outcomes == NULL;
}

bool pawl__composite_signal_take(struct pawl_context *context, const struct pawl_outcomes **out)
{
    struct pawl_burst *burst = context->burst;

    if (!burst->composite_set)
        return false;
    burst->composite_set = false;
    *out = burst->composite_default ? NULL : &burst->composite;
    return true;
}

/* ---- cancelling -------------------------------------------------------------------------- */

static int cancel_from_above(struct pawl_context *context);

static int mark_canceled(struct pawl_context *context)
{
    context->status = PAWL_ACTIVITY_CANCELED;
    pawl__context_touch(context);
    pawl__bookmarks_remove_context(context, true);
    pawl__callbacks_remove_owner(context);
    pawl__context_review(context);
    return pawl__log_entry(context, "Canceled", pawl__str(""), NULL);
}

static int send_cancel(struct pawl_context *context)
{
    struct pawl_signal signal = {.kind = PAWL_SIGNAL_CANCEL};

    return pawl__signal_send(context, &signal);
}

/*
 * The contexts under `context` that have not ended, by `cancel`. Cancelling may make new contexts
 * end but never makes new ones, so numbers stay valid.
 */
static int cancel_children(struct pawl_context *context,
                           int (*cancel)(struct pawl_context *context))
{
    struct pawl_context *child = NULL;

    while ((child = pawl__next_child(context, child))) {
        int status = pawl__context_ended(child) ? PAWL_OK : cancel(child);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* A child of a completing context: itself first, then those below it. */
static int cancel_from_above(struct pawl_context *context)
{
    int status;

    pawl__queue_withdraw_context(context);
    status = mark_canceled(context);
    if (status == PAWL_OK)
        status = send_cancel(context);
    if (status == PAWL_OK)
        status = cancel_children(context, cancel_from_above);
    return status;
}

/* On request: those below first. */
int pawl__cancel(struct pawl_context *context)
{
    int status;

    if (pawl__context_ended(context))
        return PAWL_OK;
    pawl__queue_withdraw_context(context);
    status = cancel_children(context, pawl__cancel);
    if (status == PAWL_OK)
        status = mark_canceled(context);
    if (status == PAWL_OK)
        status = send_cancel(context);
    return status;
}

int pawl__cancel_workflow(struct pawl_burst *burst)
{
    int status;

    if (pawl__sub_status_is_final(burst->sub_status))
        return PAWL_OK;
    pawl__bookmarks_clear(burst);
    pawl__callbacks_clear(burst);
    pawl__queue_clear(burst);
    status = pawl__log_workflow(burst, "Workflow cancelled", pawl__str(""), NULL);
    if (status == PAWL_OK)
        status = pawl__instance_move(NULL, burst, PAWL_SUB_CANCELLED);
    return status;
}

int pawl__finish_workflow(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;

    pawl__callbacks_clear(burst);
    pawl__bookmarks_clear(burst);
    pawl__queue_clear(burst);
    return pawl__instance_move(context, burst, PAWL_SUB_FINISHED);
}

/* ---- completing -------------------------------------------------------------------------- */

static int journal_outcomes(struct pawl_context *context, const struct pawl_outcomes *outcomes)
{
    struct pawl_json names = pawl__json_array();

    for (uint32_t i = 0; i < outcomes->count; i++) {
        int status = pawl__json_append(&context->burst->arena, &names,
                                       pawl__json_string(outcomes->names[i]));

        if (status != PAWL_OK)
            return status;
    }
    return pawl__journal_set(context, "Outcomes", names);
}

/* Outcomes outlive the caller's array: parents may remember them. */
static int keep_outcomes(struct pawl_burst *burst, const struct pawl_outcomes *outcomes,
                         const struct pawl_outcomes **out)
{
    struct pawl_outcomes *kept = pawl__arena_alloc(&burst->arena, sizeof *kept);
    struct pawl_str *names =
        pawl__arena_alloc_array(&burst->arena, outcomes->count + 1u, sizeof *names);

    if (!kept || !names)
        return pawl__arena_status(&burst->arena);
    for (uint32_t i = 0; i < outcomes->count; i++) {
        names[i] = pawl__arena_str(&burst->arena, outcomes->names[i]);
        if (!names[i].ptr)
            return pawl__arena_status(&burst->arena);
    }
    *kept = (struct pawl_outcomes){.names = names, .count = outcomes->count};
    *out = kept;
    return PAWL_OK;
}

/* The steps up to the log entry: those below end, the record is what it is now. */
static int complete_begin(struct pawl_context *context, const struct pawl_outcomes *outcomes)
{
    int status = cancel_children(context, cancel_from_above);

    if (status != PAWL_OK)
        return status;
    context->status = PAWL_ACTIVITY_COMPLETED;
    if (outcomes)
        status = journal_outcomes(context, outcomes);
    if (status == PAWL_OK && context->properties.len > 0) {
        status = pawl__json_copy(&context->burst->arena, &context->properties,
                                 &context->record_properties);
        context->record_taken = true;
    }
    if (status == PAWL_OK)
        status = pawl__log_entry(context, "Completed", pawl__str(""), NULL);
    return status;
}

int pawl__complete(struct pawl_context *context, const struct pawl_outcomes *outcomes)
{
    struct pawl_signal signal = {.kind = PAWL_SIGNAL_COMPLETED};
    int status = PAWL_OK;

    if (context->status != PAWL_ACTIVITY_RUNNING)
        return PAWL_OK;
    pawl__burst_look_at_clock(context->burst);
    if (outcomes)
        status = keep_outcomes(context->burst, outcomes, &signal.outcomes);
    if (status == PAWL_OK)
        status = complete_begin(context, signal.outcomes);
    if (status == PAWL_OK)
        status = pawl__signal_send(context, &signal);
    if (status != PAWL_OK)
        return status;
    pawl__bookmarks_remove_context(context, false);
    pawl__callbacks_remove_owner(context);
    if (context->parent)
        pawl__variables_forget(context);
    context->completed_at = context->burst->now;
    pawl__context_touch(context);
    pawl__context_review(context);
    return PAWL_OK;
}

int pawl__complete_with(struct pawl_context *context, const char *outcome)
{
    struct pawl_str name = pawl__str(outcome);
    struct pawl_outcomes outcomes = {.names = &name, .count = 1};

    return pawl__complete(context, &outcomes);
}
