/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flowchart by tokens.
 *
 * When an activity ends, each connection that its outcomes follow gets a token; the tokens that
 * brought the activity about are consumed; then each target's merge mode says whether it runs now.
 * Nothing is known of paths that are not taken: a target that waits for one waits for ever.
 */
#include "activities/flowchart.h"

#define TOKENS_PROPERTY "Flowchart.Tokens"

/* ---- tokens of a context ------------------------------------------------------------------ */

/* Stored states write the list in several ways; ours is an object around it. */
static int normalise(struct pawl_context *context)
{
    struct pawl_json *stored = pawl__property(context, TOKENS_PROPERTY);
    const struct pawl_json *values = pawl__json_get_text(stored, "$values");
    struct pawl_json object = pawl__json_object();
    int status = PAWL_OK;

    if (pawl__json_is(pawl__json_get_text(stored, "_items"), PAWL_JSON_ARRAY))
        return PAWL_OK;
    if (pawl__json_is(stored, PAWL_JSON_ARRAY))
        values = stored;
    if (pawl__json_is(values, PAWL_JSON_ARRAY))
        status = pawl__json_set_text(pawl__context_arena(context), &object, "_items", *values);
    if (status == PAWL_OK)
        status = pawl__property_set(context, TOKENS_PROPERTY, object);
    return status;
}

static int open_tokens(struct pawl_context *context, struct pawl_flow_run **out)
{
    struct pawl_flow_run *run;
    int status = pawl__flow_run(context, &run);

    if (status == PAWL_OK && !run->tokens_open) {
        status = normalise(context);
        if (status == PAWL_OK)
            status = pawl__flow_tokens_open(&run->tokens, pawl__context_arena(context), run->graph,
                                            run->ids, pawl__property(context, TOKENS_PROPERTY));
        run->tokens_open = status == PAWL_OK;
    }
    /* The list changes in place; this says that it did. */
    if (status == PAWL_OK)
        status =
            pawl__property_set(context, TOKENS_PROPERTY, *pawl__property(context, TOKENS_PROPERTY));
    if (status == PAWL_OK)
        *out = run;
    return status;
}

static int add_token(struct pawl_context *context, struct pawl_flow_run *run, uint32_t connection,
                     bool blocked)
{
    const struct pawl_flow_connection *c = &run->graph->connections[connection];
    const struct pawl_node *from = context->node->children[c->source];
    const struct pawl_node *to = context->node->children[c->target];

    return pawl__flow_tokens_add(&run->tokens, connection,
                                 (struct pawl_flow_party){from->id, from->name},
                                 (struct pawl_flow_party){to->id, to->name}, blocked);
}

/* ---- the target of a connection that got a token ------------------------------------------- */

static int merge_mode(struct pawl_context *context, const struct pawl_node *node,
                      enum pawl_merge_mode *out)
{
    enum pawl_join_mode join;
    int status;

    if (node->activity != &pawl__activity_flow_join) {
        *out = pawl__merge_mode_named(node->merge_mode);
        return PAWL_OK;
    }
    status = pawl__flowchart_join_mode(context, node, &join);
    if (status == PAWL_OK)
        *out = join == PAWL_JOIN_WAIT_ANY ? PAWL_MERGE_RACE : PAWL_MERGE_MERGE;
    return status;
}

static int schedule(struct pawl_context *context, uint32_t target, const struct pawl_context *by)
{
    return pawl__flowchart_schedule(context, target, PAWL_FLOWCHART_CHILD_COMPLETED_TOKEN, by);
}

/* The first to arrive runs the target and blocks the other ways to it. */
static int arrive_first(struct pawl_context *context, struct pawl_flow_run *run,
                        uint32_t connection, const struct pawl_context *by)
{
    const struct pawl_flow_connection *c = &run->graph->connections[connection];
    struct pawl_flow_list inbound = pawl__flow_list(&run->graph->forward_inbound, c->target);
    bool found;
    int status = pawl__flow_tokens_unblock(&run->tokens, connection, &found);

    if (status != PAWL_OK || found)
        return status;
    status = schedule(context, c->target, by);
    for (uint32_t i = 0; i < inbound.count && status == PAWL_OK; i++) {
        if (run->graph->connections[inbound.items[i]].source != c->source)
            status = add_token(context, run, inbound.items[i], true);
    }
    return status;
}

static int arrive(struct pawl_context *context, struct pawl_flow_run *run, uint32_t connection,
                  const struct pawl_context *by)
{
    uint32_t target = run->graph->connections[connection].target;
    enum pawl_merge_mode mode;
    int status = merge_mode(context, context->node->children[target], &mode);

    if (status != PAWL_OK)
        return status;
    if (mode == PAWL_MERGE_RACE)
        status = pawl__flowchart_cancel_ancestors(context, target);
    if (status != PAWL_OK)
        return status;
    if (mode == PAWL_MERGE_RACE || mode == PAWL_MERGE_CASCADE)
        return arrive_first(context, run, connection, by);
    if (pawl__flow_tokens_ready(&run->tokens, mode, connection))
        return schedule(context, target, by);
    return PAWL_OK;
}

/* ---- the activity that ended --------------------------------------------------------------- */

static int emit(struct pawl_context *context, struct pawl_flow_run *run,
                const struct pawl_completion *completion, uint32_t activity)
{
    struct pawl_flow_list outbound = pawl__flow_list(&run->graph->outbound, activity);
    int status = PAWL_OK;

    for (uint32_t i = 0; i < outbound.count && status == PAWL_OK; i++) {
        const struct pawl_flow_connection *c = &run->graph->connections[outbound.items[i]];

        if (pawl__outcomes_have(completion->outcomes, c->source_port))
            status = add_token(context, run, outbound.items[i], false);
    }
    if (status == PAWL_OK)
        status = pawl__flow_tokens_consume(&run->tokens, activity);
    for (uint32_t i = 0; i < outbound.count && status == PAWL_OK; i++) {
        const struct pawl_flow_connection *c = &run->graph->connections[outbound.items[i]];

        if (pawl__outcomes_have(completion->outcomes, c->source_port))
            status = arrive(context, run, outbound.items[i], completion->child);
    }
    return status;
}

static int complete_if_done(struct pawl_context *context, struct pawl_flow_run *run)
{
    bool faulted;

    if (pawl__flowchart_has_work(context, &faulted) || faulted || run->tokens.live_count > 0)
        return PAWL_OK;
    pawl__flow_tokens_clear(&run->tokens);
    return pawl__complete(context, NULL);
}

int pawl__flowchart_token_completed(struct pawl_context *context,
                                    const struct pawl_completion *completion)
{
    struct pawl_context *child = completion->child;
    struct pawl_flow_run *run;
    uint32_t activity;
    int status = open_tokens(context, &run);

    if (status != PAWL_OK)
        return status;
    if (child->node->activity->flags & PAWL_ACTIVITY_TERMINAL) {
        pawl__flow_tokens_clear(&run->tokens);
        return pawl__complete(context, NULL);
    }
    activity = pawl__flowchart_place(run->chart, child->node);
    if (activity == PAWL_FLOW_NONE)
        return PAWL_OK;
    status = emit(context, run, completion, activity);
    if (status == PAWL_OK)
        status = complete_if_done(context, run);
    if (status == PAWL_OK)
        pawl__flow_tokens_purge(&run->tokens, activity);
    return status;
}

int pawl__flowchart_token_canceled(struct pawl_context *context, struct pawl_context *sender)
{
    struct pawl_flow_run *run;
    uint32_t activity;
    int status = open_tokens(context, &run);

    if (status != PAWL_OK)
        return status;
    activity = pawl__flowchart_place(run->chart, sender->node);
    if (activity != PAWL_FLOW_NONE)
        pawl__flow_tokens_forget(&run->tokens, activity);
    return pawl__flowchart_complete_if_idle(context);
}
