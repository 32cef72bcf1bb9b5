/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a burst on an event, stepping it to its end, handing out what to commit. */
#include "engine/run/burst.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/http_message.h"
#include "engine/run/alter.h"
#include "engine/run/instance.h"

/* With fewer, storing a burst costs little, whatever it has done. */
#define CONTEXTS_MANY 1000u
/* So many times as long as another one a burst with many contexts may run. */
#define TURNS_MAX 10u

/* ---- opening ----------------------------------------------------------------------------- */

static int copy_text(struct pawl_burst *burst, struct pawl_str text, struct pawl_str *out)
{
    *out = pawl__arena_str(&burst->arena, text);
    return out->ptr ? PAWL_OK : pawl__arena_status(&burst->arena);
}

static int copy_object(struct pawl_burst *burst, const struct pawl_json *from,
                       struct pawl_json *out)
{
    *out = pawl__json_object();
    if (from->type != PAWL_JSON_OBJECT)
        return PAWL_OK;
    return pawl__json_copy(&burst->arena, from, out);
}

static int new_instance(struct pawl_burst *burst, const struct pawl_event *event)
{
    const struct pawl_workflow *workflow = burst->graph->workflow;
    int status = copy_text(burst, event->instance_id, &burst->id);

    if (status == PAWL_OK && burst->id.len == 0) {
        burst->id = pawl__burst_new_id(burst);
        status = burst->id.len > 0 ? PAWL_OK : pawl__arena_status(&burst->arena);
    }
    if (status == PAWL_OK)
        status = copy_text(burst, event->correlation_id, &burst->correlation_id);
    if (status == PAWL_OK && event->name.len > 0)
        status = copy_text(burst, event->name, &burst->name);
    if (status == PAWL_OK)
        status = copy_text(burst, event->parent_instance_id, &burst->parent_instance_id);
    burst->definition_id = workflow->definition_id;
    burst->definition_version_id = workflow->version_id;
    burst->definition_version = workflow->version;
    burst->is_system = workflow->is_system;
    burst->sub_status = PAWL_SUB_PENDING;
    burst->created_at = burst->updated_at = event->now;
    burst->input = burst->output = burst->properties = pawl__json_object();
    return status;
}

/* Adds members of `from` that `to` does not have. */
static int merge(struct pawl_burst *burst, struct pawl_json *to, const struct pawl_json *from)
{
    struct pawl_json copy;
    int status = copy_object(burst, from, &copy);

    if (status == PAWL_OK)
        status = pawl__json_merge(&burst->arena, to, &copy, PAWL_JSON_MERGE_MISSING);
    return status;
}

static int enqueue_root(struct pawl_burst *burst, const struct pawl_event *event)
{
    struct pawl_work_item item = {.node = burst->graph->root};
    struct pawl_json variables;
    int status = copy_object(burst, &event->variables, &variables);

    if (status == PAWL_OK && event->scheduled_by.len > 0) {
        status = copy_text(burst, event->scheduled_by, &item.scheduled_by);
        item.scheduled_by_instance = burst->parent_instance_id;
        item.depth = event->scheduled_by_depth + 1;
    }

    if (status == PAWL_OK && variables.len > 0) {
        item.variable_count = variables.len;
        item.variables =
            pawl__arena_alloc_array(&burst->arena, variables.len, sizeof *item.variables);
        if (!item.variables)
            return pawl__arena_status(&burst->arena);
    }
    for (uint32_t i = 0; i < variables.len && status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(&variables, i);

        status = pawl__variable_make(&burst->arena, member->key,
                                     pawl__value_from_json(member->value), &item.variables[i]);
    }
    if (status == PAWL_OK)
        status = pawl__queue_push(burst, &item);
    return status;
}

static int enqueue_existing(struct pawl_burst *burst, struct pawl_context *context)
{
    struct pawl_work_item item = {
        .node = context->node, .owner = context->parent, .existing = context};

    return pawl__queue_push(burst, &item);
}

static int enqueue_bookmark(struct pawl_burst *burst, struct pawl_str id)
{
    struct pawl_bookmark *resumed;
    struct pawl_context *context;

    for (uint32_t i = 0; i < burst->bookmarks.count; i++) {
        if (!pawl__str_equal(burst->bookmarks.items[i].id, id))
            continue;
        context = burst->bookmarks.items[i].context;
        /* Of one in the background only the job knows when it has ended. */
        if (!context ||
            (!burst->job && pawl__str_is(burst->bookmarks.items[i].name, PAWL_BOOKMARK_BACKGROUND)))
            return PAWL_OK;
        resumed = pawl__arena_alloc(&burst->arena, sizeof *resumed);
        if (!resumed)
            return pawl__arena_status(&burst->arena);
        *resumed = burst->bookmarks.items[i];
        burst->resumed = resumed;
        burst->resume_pending = true;
        return enqueue_existing(burst, context);
    }
    return PAWL_OK; /* not there: an empty burst */
}

static int enqueue_job(struct pawl_burst *burst, const struct pawl_event *event)
{
    burst->job = true;
    burst->job_answered = !pawl__json_is(&event->result, PAWL_JSON_NULL);
    if (pawl__json_copy(&burst->arena, &event->result, &burst->fed) != PAWL_OK)
        return pawl__arena_status(&burst->arena);
    return enqueue_bookmark(burst, event->bookmark_id);
}

static int enqueue_activity(struct pawl_burst *burst, const struct pawl_event *event,
                            struct pawl_error *err)
{
    struct pawl_work_item item = {0};
    struct pawl_context *context;

    if (event->activity_instance_id.len > 0) {
        context = pawl__context_by_id(burst, event->activity_instance_id);
        if (!context)
            return pawl__error_set(
                err, PAWL_ENOTFOUND, "instance %.*s has no activity execution %.*s",
                PAWL_STR_ARG(burst->id), PAWL_STR_ARG(event->activity_instance_id));
        return enqueue_existing(burst, context);
    }
    item.node = pawl__graph_activity(burst->graph, event->activity_id);
    return item.node ? pawl__queue_push(burst, &item) : PAWL_OK;
}

/* Continues from the state: queued work, interrupted activities, or the very start. */
static int enqueue_rest(struct pawl_burst *burst, const struct pawl_event *event)
{
    struct pawl_context *context;
    int status = PAWL_OK;

    if (burst->queue.count > 0)
        return PAWL_OK;
    PAWL_FOR_EACH_CONTEXT(context, burst)
    {
        if (context->is_executing && status == PAWL_OK)
            status = enqueue_existing(burst, context);
    }
    if (status == PAWL_OK && burst->queue.count == 0 && burst->sub_status == PAWL_SUB_PENDING)
        status = enqueue_root(burst, event);
    return status;
}

/* An operator's word is kept whatever comes of what it set off. */
static int apply_alterations(struct pawl_burst *burst, const struct pawl_json *state,
                             const struct pawl_event *event, struct pawl_error *err)
{
    int status;

    if (!state)
        return pawl__error_set(err, PAWL_EINVAL, "a new instance cannot be altered");
    status = pawl__alter(burst, state, &event->alterations, err);
    burst->commit_first = burst->queue.count > burst->queue_head;
    return status;
}

static int enqueue_event(struct pawl_burst *burst, const struct pawl_json *state,
                         const struct pawl_event *event, struct pawl_error *err)
{
    switch (event->kind) {
    case PAWL_EVENT_RUN:
        return enqueue_rest(burst, event);
    case PAWL_EVENT_RESUME:
        return enqueue_bookmark(burst, event->bookmark_id);
    case PAWL_EVENT_ACTIVITY:
        return enqueue_activity(burst, event, err);
    case PAWL_EVENT_CANCEL:
        burst->cancel_requested = true;
        break;
    case PAWL_EVENT_ALTER:
        return apply_alterations(burst, state, event, err);
    case PAWL_EVENT_JOB:
        return enqueue_job(burst, event);
    }
    return PAWL_OK;
}

/* A finished instance stays finished; only an operator's retry reopens a faulted one. */
static int check_open(struct pawl_burst *burst, const struct pawl_event *event,
                      struct pawl_error *err)
{
    if (!pawl__sub_status_is_final(burst->sub_status) || event->kind == PAWL_EVENT_ALTER)
        return PAWL_OK;
    if (event->kind == PAWL_EVENT_ACTIVITY && burst->sub_status == PAWL_SUB_FAULTED) {
        burst->sub_status = PAWL_SUB_SUSPENDED;
        burst->finished_at = 0;
        return PAWL_OK;
    }
    return pawl__error_set(err, PAWL_ECONFLICT, "instance %.*s is %s already",
                           PAWL_STR_ARG(burst->id), pawl__sub_status_name(burst->sub_status));
}

/* Whoever gives inputs must not make up a request: it says who gets the reply. */
static void drop_request(const struct pawl_event *event, struct pawl_json *input)
{
    if (!event->is_request)
        while (pawl__json_remove(input, pawl__str(PAWL_HTTP_REQUEST_INPUT)))
            ;
}

static int apply_event(struct pawl_burst *burst, const struct pawl_json *state,
                       const struct pawl_event *event, struct pawl_error *err)
{
    struct pawl_json given;
    int status = check_open(burst, event, err);

    if (status == PAWL_OK)
        status = copy_object(burst, &event->input, &given);
    if (status == PAWL_OK) {
        drop_request(event, &given);
        status = merge(burst, &given, &burst->input);
    }
    if (status != PAWL_OK)
        return status;
    burst->input = given;
    status = merge(burst, &burst->properties, &event->properties);
    if (status == PAWL_OK)
        status = copy_text(burst, event->trigger_activity_id, &burst->trigger_activity_id);
    if (status == PAWL_OK)
        status = enqueue_event(burst, state, event, err);
    return status;
}

/* splitmix64 of both. */
static uint64_t later_seed(uint64_t seed, int64_t sequence)
{
    uint64_t z = seed + (uint64_t)sequence * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int fill(struct pawl_burst *burst, const struct pawl_json *state,
                const struct pawl_event *event, struct pawl_error *err)
{
    int status;

    burst->id = burst->correlation_id = burst->parent_instance_id = burst->trigger_activity_id =
        pawl__str("");
    pawl__id_source_init_seeded(&burst->ids, 0, event->seed);
    status = copy_object(burst, &event->kept, &burst->kept);
    if (status == PAWL_OK)
        status = state ? pawl__state_load(burst, state, err) : new_instance(burst, event);
    /* The same seed at a later point of an instance must not make the same ids once more. */
    if (burst->log_sequence > 0)
        pawl__id_source_init_seeded(&burst->ids, 0, later_seed(event->seed, burst->log_sequence));
    pawl__id_source_mark(&burst->ids, event->mark);
    if (status != PAWL_OK)
        return status;
    if (burst->phase != PAWL_PHASE_NEXT || burst->in_progress) {
        /* An interrupted burst continues; the event adds only time, seed and cancellation. */
        burst->cancel_requested = event->kind == PAWL_EVENT_CANCEL;
        if (event->kind == PAWL_EVENT_ALTER)
            return pawl__error_set(err, PAWL_ECONFLICT,
                                   "instance %.*s is in the middle of a burst: run it first",
                                   PAWL_STR_ARG(burst->id));
        return PAWL_OK;
    }
    return apply_event(burst, state, event, err);
}

/* The arena's is the only limit of memory that a burst has. */
static int describe_failure(const struct pawl_burst *burst, int status, struct pawl_error *err)
{
    if (status == PAWL_ELIMIT && burst->arena.status == PAWL_ELIMIT)
        return pawl__error_set(err, status,
                               "instance %.*s: its burst needs more than %zu bytes of memory, that "
                               "is the limit (engine.memory)",
                               PAWL_STR_ARG(burst->id), burst->engine->burst_bytes_max);
    return pawl__error_set(err, status, "instance %.*s: %s", PAWL_STR_ARG(burst->id),
                           pawl_error_text(status));
}

int pawl__burst_open(struct pawl_graph *graph, const struct pawl_allocator *alloc,
                     const struct pawl_json *state, const struct pawl_event *event,
                     struct pawl_burst **out, struct pawl_error *err)
{
    struct pawl_burst *burst = pawl__alloc_zeroed(alloc, sizeof *burst);
    int status;

    if (!burst)
        return pawl__error_code(err, PAWL_ENOMEM);
    burst->alloc = *alloc;
    burst->graph = pawl__graph_ref(graph);
    burst->engine = graph->engine;
    burst->now = event->now;
    pawl__arena_init(&burst->arena, &burst->alloc, burst->engine->burst_bytes_max);
    pawl__list_init(&burst->contexts);
    pawl__list_init(&burst->callbacks);
    status = fill(burst, state, event, err);
    if (status == PAWL_OK) {
        *out = burst;
        return PAWL_OK;
    }
    if (status == PAWL_ENOMEM || status == PAWL_ELIMIT)
        (void)describe_failure(burst, status, err);
    pawl__burst_close(burst);
    return status;
}

const struct pawl_json *pawl__burst_input(const struct pawl_burst *burst, const char *name)
{
    return pawl__json_get_text(&burst->input, name);
}

const struct pawl_json *pawl__burst_kept(const struct pawl_burst *burst)
{
    return &burst->kept;
}

void pawl__burst_close(struct pawl_burst *burst)
{
    struct pawl_allocator alloc;

    if (!burst)
        return;
    alloc = burst->alloc;
    pawl__arena_release(&burst->arena);
    pawl__graph_unref(burst->graph);
    pawl__free(&alloc, burst, sizeof *burst);
}

/* ---- stepping ---------------------------------------------------------------------------- */

void pawl__burst_set_stop(struct pawl_burst *burst, bool (*stop)(void *ctx), void *ctx)
{
    burst->stop = stop;
    burst->stop_ctx = ctx;
}

void pawl__burst_set_patience(struct pawl_burst *burst, bool (*late)(void *ctx), void *ctx)
{
    burst->late = late;
    burst->late_ctx = ctx;
}

void pawl__burst_set_clock(struct pawl_burst *burst, int64_t (*now)(void *ctx), void *ctx)
{
    burst->clock = now;
    burst->clock_ctx = ctx;
}

void pawl__burst_look_at_clock(struct pawl_burst *burst)
{
    int64_t now = burst->clock ? burst->clock(burst->clock_ctx) : burst->now;

    if (now > burst->now)
        burst->now = now;
}

void pawl__burst_cancel(struct pawl_burst *burst)
{
    burst->cancel_requested = true;
}

int pawl__burst_feed(struct pawl_burst *burst, const struct pawl_json *result, int64_t now)
{
    int status;

    PAWL_ASSERT(burst->phase == PAWL_PHASE_AWAIT);
    status = pawl__json_copy(&burst->arena, result, &burst->fed);
    if (status == PAWL_OK) {
        burst->phase = PAWL_PHASE_DELIVER;
        if (now > burst->now)
            burst->now = now;
    }
    return status;
}

/* What the last step handed out counts as committed. */
static void forget_batch(struct pawl_burst *burst)
{
    if (!burst->batch_ready)
        return;
    burst->batch_ready = false;
    burst->due = PAWL_DUE_NONE;
    burst->log.count = 0;
    burst->effects.count = 0;
    burst->has_reply = false;
    for (uint32_t i = 0; i < burst->dirty.count; i++)
        burst->dirty.items[i]->dirty = false;
    burst->dirty.count = 0;
    burst->dirty_first = burst->dirty_last = NULL;
}

void pawl__burst_keep_batch(struct pawl_burst *burst)
{
    if (!burst->batch_ready)
        return;
    burst->batch_ready = false;
    burst->dirty.count = 0; /* the contexts are still linked, and are collected again */
}

static int prepare_batch(struct pawl_burst *burst)
{
    int status = pawl__variables_save(burst);

    for (struct pawl_context *context = burst->dirty_first; context && status == PAWL_OK;
         context = context->next_dirty) {
        if (!context->log_modes_known)
            status = pawl__log_modes_evaluate(context);
        if (status == PAWL_OK)
            status = VECTOR_GROW(burst, &burst->dirty);
        if (status == PAWL_OK)
            burst->dirty.items[burst->dirty.count++] = context;
    }
    burst->batch_ready = true;
    return status;
}

static bool all_ended(const struct pawl_burst *burst)
{
    const struct pawl_context *context;

    PAWL_FOR_EACH_CONTEXT(context, burst)
    {
        if (!pawl__context_ended(context))
            return false;
    }
    return true;
}

static int conclude(struct pawl_burst *burst, enum pawl_step *step)
{
    int status = PAWL_OK;

    pawl__burst_look_at_clock(burst);
    if (!pawl__sub_status_is_final(burst->sub_status))
        status = pawl__instance_move(NULL, burst,
                                     all_ended(burst) ? PAWL_SUB_FINISHED : PAWL_SUB_SUSPENDED);
    burst->is_executing = false;
    burst->in_progress = false;
    *step = pawl__sub_status_is_final(burst->sub_status) ? PAWL_STEP_DONE : PAWL_STEP_IDLE;
    return status;
}

/* Whether what is next in the queue must not begin before a commit. */
static bool is_commit_due(const struct pawl_burst *burst)
{
    if (burst->has_reply && burst->phase == PAWL_PHASE_NEXT &&
        burst->queue_head < burst->queue.count && burst->late && burst->late(burst->late_ctx))
        return true;
    return burst->due == PAWL_DUE_BEFORE_NEXT && burst->phase == PAWL_PHASE_NEXT &&
           burst->queue_head < burst->queue.count &&
           !pawl__only_schedules(burst->queue.items[burst->queue_head].node);
}

/*
 * Whether it has run for as long as one step may. Whoever yields is stored and opened again, at the
 * cost of every context that it has: with many of them it runs twice as many activities first, so
 * that an activity costs the same however many wait. Up to a point: others want their turn, too.
 */
static bool is_turn_over(const struct pawl_burst *burst, uint32_t count)
{
    uint32_t after = burst->engine->yield_after;

    if (count < after)
        return false;
    return burst->context_count < CONTEXTS_MANY || count / 2 >= burst->context_count ||
           count / TURNS_MAX >= after;
}

/* Runs activities until something stops it. */
static int run(struct pawl_burst *burst, enum pawl_step *step)
{
    struct pawl_work_item item;
    bool stopped = false;

    for (uint32_t count = 0;; count++) {
        int status;

        if (burst->phase == PAWL_PHASE_NEXT)
            pawl__contexts_sweep(burst);
        if (burst->cancel_requested) {
            status = pawl__cancel_workflow(burst);
            burst->phase = PAWL_PHASE_NEXT;
            burst->current = NULL;
            return status == PAWL_OK ? conclude(burst, step) : status;
        }
        /* What was fed is delivered first: it is never stored, and must not be lost. */
        if (burst->phase != PAWL_PHASE_DELIVER &&
            (is_turn_over(burst, count) || (burst->stop && burst->stop(burst->stop_ctx)))) {
            *step = PAWL_STEP_YIELD;
            return PAWL_OK;
        }
        if (is_commit_due(burst)) {
            *step = PAWL_STEP_COMMIT;
            return PAWL_OK;
        }
        if (burst->phase != PAWL_PHASE_NEXT)
            status = pawl__invoke_continue(burst, step, &stopped);
        else if (pawl__queue_pop(burst, &item))
            status = pawl__invoke(burst, &item, step, &stopped);
        else
            return conclude(burst, step);
        if (status != PAWL_OK || stopped)
            return status;
    }
}

/* Whether the workflow's strategy commits the start of a burst. */
static bool wants_start_commit(struct pawl_burst *burst)
{
    if (burst->in_progress)
        return false;
    if (burst->commit_first)
        return true;
    return burst->engine->commit_strategies &&
           pawl__str_is(burst->graph->workflow->commit_strategy, "WorkflowExecuting");
}

int pawl__burst_step(struct pawl_burst *burst, enum pawl_step *step, struct pawl_error *err)
{
    bool start_commit = wants_start_commit(burst);
    int status = PAWL_OK;

    forget_batch(burst);
    if (!pawl__sub_status_is_final(burst->sub_status) && !burst->in_progress)
        status = pawl__instance_move(NULL, burst, PAWL_SUB_EXECUTING);
    burst->in_progress = true;
    if (status == PAWL_OK && start_commit)
        *step = PAWL_STEP_COMMIT;
    else if (status == PAWL_OK)
        status = run(burst, step);
    if (status == PAWL_OK)
        status = prepare_batch(burst);
    return status == PAWL_OK ? PAWL_OK : describe_failure(burst, status, err);
}

void pawl__burst_batch(struct pawl_burst *burst, struct pawl_batch *batch)
{
    *batch = (struct pawl_batch){
        .log = burst->log.items,
        .log_count = burst->log.count,
        .records = burst->dirty.items,
        .record_count = burst->dirty.count,
        .bookmarks = burst->bookmarks.items,
        .bookmark_count = burst->bookmarks.count,
        .effects = burst->effects.items,
        .effect_count = burst->effects.count,
        .awaited = burst->phase == PAWL_PHASE_AWAIT ? &burst->awaited : NULL,
        .is_asked =
            burst->engine->commit_strategies &&
            (burst->due != PAWL_DUE_NONE || burst->graph->workflow->commit_strategy.len > 0),
    };
}
