/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flowchart by counters, the default.
 *
 * When an activity ends, each of its outbound connections is passed: followed when its port is
 * among the outcomes, else dead. A connection that leads forward asks its target's join rule, which
 * lets it wait, run, or be skipped; a skipped activity passes all its own connections on as dead.
 * So a join downstream never waits for a branch that was not taken. A connection that leads back
 * runs its target again at once, without counting that visit, which keeps the counters of the
 * targets in step with those of the connections into them.
 */
#include "activities/flowchart.h"

#define SCOPE_PROPERTY "FlowScope"
#define BACKWARD_INPUT "BackwardConnection"

enum { BACKWARD_VALID = 1, BACKWARD_INVALID = 2 };

/* One activity that ended, and whatever follows from it. */
struct propagation {
    struct pawl_context *context;
    struct pawl_flow_run *run;
    const struct pawl_context *by;        /* the child that ended */
    const struct pawl_outcomes *outcomes; /* of it */
    uint32_t base;                        /* frames below are of a propagation around this one */
    bool scheduled;
};

static int open_scope(struct pawl_context *context, struct pawl_flow_run *run)
{
    int status = PAWL_OK;

    if (!pawl__json_is(pawl__property(context, SCOPE_PROPERTY), PAWL_JSON_OBJECT))
        status = pawl__property_set(context, SCOPE_PROPERTY, pawl__json_object());
    if (status == PAWL_OK)
        status =
            pawl__flow_scope_open(&run->scope, pawl__context_arena(context), run->graph, run->ids,
                                  &run->chart->keys, pawl__property(context, SCOPE_PROPERTY));
    run->scope_open = status == PAWL_OK;
    return status;
}

/* The stored counters change in place; this says that they did. */
static int touch_scope(struct pawl_context *context)
{
    return pawl__property_set(context, SCOPE_PROPERTY, *pawl__property(context, SCOPE_PROPERTY));
}

static int push(struct propagation *p, uint32_t activity)
{
    struct pawl_arena *arena = pawl__context_arena(p->context);
    struct pawl_flow_run *run = p->run;

    if (run->frame_count == run->frame_cap) {
        uint32_t cap = run->frame_cap ? run->frame_cap * 2 : 16;
        struct pawl_flow_frame *frames = pawl__arena_alloc_array(arena, cap, sizeof *frames);

        if (!frames)
            return pawl__flow_refused(arena);
        if (run->frame_count > 0)
            memcpy(frames, run->frames, run->frame_count * sizeof *frames);
        run->frames = frames;
        run->frame_cap = cap;
    }
    run->frames[run->frame_count++] = (struct pawl_flow_frame){.activity = activity};
    return PAWL_OK;
}

static int visit(struct propagation *p, uint32_t activity)
{
    struct pawl_str id = p->context->node->children[activity]->id;

    return pawl__flow_scope_visit(&p->run->scope, activity, id);
}

/* ---- connections that lead back ----------------------------------------------------------- */

static int check_backward(struct propagation *p, uint32_t connection)
{
    const struct pawl_flow_connection *c = &p->run->graph->connections[connection];
    struct pawl_node *const *activities = p->context->node->children;
    uint8_t *known = &p->run->backward[connection];
    bool valid = false;
    int status;

    if (*known == 0) {
        status = pawl__flow_graph_backward_valid(
            p->run->graph, pawl__context_arena(p->context)->alloc, connection, &valid);
        if (status != PAWL_OK)
            return status;
        *known = valid ? BACKWARD_VALID : BACKWARD_INVALID;
    }
    if (*known == BACKWARD_VALID)
        return PAWL_OK;
    return pawl__raise(p->context, "Exception",
                       "Invalid backward connection: Every path from the source ('%.*s') must go "
                       "through the target ('%.*s') when tracing back to the start.",
                       PAWL_STR_ARG(activities[c->source]->id),
                       PAWL_STR_ARG(activities[c->target]->id));
}

/*
 * The target learns from its input that it was reached by a way back, as in Elsa, where
 * that is lost when it suspends. The tag comes back with its completion, however long that takes.
 */
static int follow_back(struct propagation *p, uint32_t connection)
{
    uint32_t target = p->run->graph->connections[connection].target;
    struct pawl_schedule schedule = {
        .node = p->context->node->children[target],
        .callback = PAWL_FLOWCHART_CHILD_COMPLETED,
        .tag = pawl__value_bool(true),
        .input = pawl__json_object(),
        .scheduled_by = p->by->id,
    };
    int status = check_backward(p, connection);

    if (status == PAWL_OK)
        status = pawl__json_set_text(pawl__context_arena(p->context), &schedule.input,
                                     BACKWARD_INPUT, pawl__json_bool(true));
    if (status != PAWL_OK)
        return status;
    p->scheduled = true;
    return pawl__schedule(p->context, &schedule);
}

static bool came_back(const struct pawl_completion *completion)
{
    return pawl__json_true(pawl__json_get_text(&completion->child->input, BACKWARD_INPUT)) ||
           pawl__json_true(&completion->tag.json);
}

/* ---- connections that lead forward -------------------------------------------------------- */

static int run_target(struct propagation *p, uint32_t target, enum pawl_join_mode mode)
{
    int status =
        pawl__flowchart_schedule(p->context, target, PAWL_FLOWCHART_CHILD_COMPLETED, p->by);

    p->scheduled = true;
    /* Only then: with the join queued, the losers' end cannot take the flowchart for finished. */
    if (status == PAWL_OK && mode == PAWL_JOIN_WAIT_ANY)
        status = pawl__flowchart_cancel_ancestors(p->context, target);
    return status;
}

static int skip_target(struct propagation *p, uint32_t target)
{
    int status = visit(p, target);

    return status == PAWL_OK ? push(p, target) : status;
}

static int arrive(struct propagation *p, uint32_t connection)
{
    uint32_t target = p->run->graph->connections[connection].target;
    const struct pawl_node *node = p->context->node->children[target];
    enum pawl_join_mode mode = PAWL_JOIN_WAIT_ALL_ACTIVE;
    enum pawl_flow_verdict verdict;
    int status = PAWL_OK;

    if (node->activity == &pawl__activity_flow_join)
        status = pawl__flowchart_join_mode(p->context, node, &mode);
    if (status != PAWL_OK)
        return status;
    verdict = pawl__flow_scope_verdict(&p->run->scope, mode, connection);
    if (verdict == PAWL_FLOW_WAITS ||
        (mode == PAWL_JOIN_WAIT_ANY && pawl__is_queued(p->context, node)))
        return PAWL_OK;
    return verdict == PAWL_FLOW_RUNS ? run_target(p, target, mode) : skip_target(p, target);
}

/* ---- the propagation ---------------------------------------------------------------------- */

/* Passes the next connection of the topmost frame; drops the frame when there is none. */
static int step(struct propagation *p)
{
    struct pawl_flow_run *run = p->run;
    struct pawl_flow_frame *frame = &run->frames[run->frame_count - 1];
    struct pawl_flow_list outbound = pawl__flow_list(&run->graph->outbound, frame->activity);
    uint32_t connection;
    bool followed;
    int status;

    if (frame->next == outbound.count) {
        run->frame_count--;
        return PAWL_OK;
    }
    connection = outbound.items[frame->next++];
    /* Behind the activity that ended all is dead. */
    followed = run->frame_count == p->base + 1 &&
               pawl__outcomes_have(p->outcomes, run->graph->connections[connection].source_port);
    status = pawl__flow_scope_pass(&run->scope, connection, followed);
    if (status != PAWL_OK)
        return status;
    if (run->graph->forward[connection])
        return arrive(p, connection);
    return followed ? follow_back(p, connection) : PAWL_OK;
}

/*
 * A loop with frames of its own rather than a recursion: a dead path may be as long as the chart.
 * Cancelling inside it may bring the next propagation about, whose frames lie above.
 */
static int propagate(struct propagation *p, uint32_t activity, bool uncounted)
{
    int status = uncounted ? PAWL_OK : visit(p, activity);

    p->base = p->run->frame_count;
    if (status == PAWL_OK)
        status = push(p, activity);
    while (status == PAWL_OK && p->run->frame_count > p->base)
        status = step(p);
    p->run->frame_count = p->base;
    return status;
}

static int pass_on(struct propagation *p, const struct pawl_node *ended, bool uncounted)
{
    uint32_t activity = pawl__flowchart_place(p->run->chart, ended);
    int status = p->run->scope_open ? PAWL_OK : open_scope(p->context, p->run);

    if (status != PAWL_OK)
        return status;
    if (activity == PAWL_FLOW_NONE || pawl__flow_graph_is_dangling(p->run->graph, activity))
        return pawl__raise(p->context, "Exception",
                           "Activity %.*s is not reachable from the flowchart graph. Unable to "
                           "schedule it's outbound activities.",
                           PAWL_STR_ARG(ended->id));
    status = touch_scope(p->context);
    return status == PAWL_OK ? propagate(p, activity, uncounted) : status;
}

int pawl__flowchart_counter_completed(struct pawl_context *context,
                                      const struct pawl_completion *completion)
{
    struct pawl_context *child = completion->child;
    struct propagation p = {.context = context, .by = child, .outcomes = completion->outcomes};
    int status;

    if (child->status != PAWL_ACTIVITY_COMPLETED)
        return PAWL_OK;
    if (child->node->activity->flags & PAWL_ACTIVITY_TERMINAL)
        return pawl__complete(context, NULL);
    status = pawl__flow_run(context, &p.run);
    if (status == PAWL_OK)
        status = pass_on(&p, child->node, came_back(completion));
    if (status == PAWL_OK && !p.scheduled)
        status = pawl__flowchart_complete_if_idle(context);
    return status;
}

/* What was cancelled becomes a dead path. */
int pawl__flowchart_counter_canceled(struct pawl_context *context, struct pawl_context *sender)
{
    static const struct pawl_outcomes none = {NULL, 0};
    struct propagation p = {.context = context, .by = sender, .outcomes = &none};
    int status = pawl__flowchart_complete_if_idle(context);

    if (status == PAWL_OK)
        status = pawl__flow_run(context, &p.run);
    if (status == PAWL_OK)
        status = pass_on(&p, sender->node, false);
    return status;
}
