/* SPDX-License-Identifier: Apache-2.0 */
/* Views of nodes; see nodes.h. */
#include "views/nodes.h"

static struct pawl_json view_instances(struct pawl_builder *b, const struct pawl_node_shown *node)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < node->instance_count; i++) {
        const struct pawl_instance_row *row = &node->instances[i];
        struct pawl_json one = pawl__json_object();

        pawl__view_text(b, &one, "id", row->id);
        pawl__view_text(b, &one, "definitionId", row->definition_id);
        pawl__view_text(b, &one, "subStatus", row->sub_status);
        pawl__view_time(b, &one, "updatedAt", row->updated_us);
        pawl__build_append(b, &out, one);
    }
    return out;
}

struct pawl_json pawl__view_node(struct pawl_builder *b, const struct pawl_node_shown *node,
                                 bool with_instances)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", node->row->id);
    pawl__build_name(b, &out, "state", pawl__node_state_name(node->state));
    pawl__build_int(b, &out, "incarnation", node->row->incarnation);
    pawl__view_time(b, &out, "joinedAt", node->row->joined_us);
    pawl__view_time(b, &out, "leaseEndsAt", node->row->lease_us);
    pawl__build_int(b, &out, "leaseRemainingMs", node->left_us / 1000);
    pawl__view_text(b, &out, "host", node->host);
    pawl__view_text(b, &out, "version", node->version);
    pawl__view_text(b, &out, "runtime", node->runtime);
    pawl__view_text(b, &out, "locks", node->locks);
    pawl__build(b, &out, "pid", node->pid > 0 ? pawl__json_int(node->pid) : pawl__json_null());
    pawl__build_int(b, &out, "stuck", node->stuck);
    pawl__build_int(b, &out, "work", (int64_t)node->work);
    pawl__build_int(b, &out, "runs", (int64_t)node->runs);
    if (node->pause)
        pawl__build(b, &out, "pause", pawl__view_pause(b, node->pause));
    if (with_instances)
        pawl__build(b, &out, "instances", view_instances(b, node));
    return out;
}

static void put_pause(struct pawl_builder *b, struct pawl_json *to, const struct pawl_pause *pause)
{
    pawl__view_time(b, to, "pausedAt", pause->since_us);
    pawl__view_optional(b, to, "pauseReasonText", pause->reason);
    pawl__view_optional(b, to, "pauseRequestedBy", pause->by);
}

struct pawl_json pawl__view_pause(struct pawl_builder *b, const struct pawl_pause *pause)
{
    struct pawl_json out = pawl__json_object();

    if (!pause)
        return pawl__json_null();
    pawl__view_optional(b, &out, "nodeId", pause->node_id);
    put_pause(b, &out, pause);
    return out;
}

static struct pawl_json view_state(struct pawl_builder *b, const struct pawl_cluster_status *status)
{
    struct pawl_json out = pawl__json_object();
    const char *reason = "None";

    if (status->pause && status->is_ending)
        reason = "AdministrativePause, Drain";
    else if (status->pause || status->is_ending)
        reason = status->pause ? "AdministrativePause" : "Drain";
    pawl__build_name(b, &out, "reason", reason);
    pawl__build_bool(b, &out, "isAcceptingNewWork", status->is_accepting);
    if (status->pause)
        put_pause(b, &out, status->pause);
    pawl__view_text(
        b, &out, "generationId",
        pawl__str(pawl__arena_printf(b->arena, "%lld", (long long)status->incarnation)));
    return out;
}

/* Where work comes from, as Elsa names it. */
static struct pawl_json view_sources(struct pawl_builder *b, const char *state)
{
    static const char *const names[] = {"scheduling.trigger", "internal.bookmark-queue-worker",
                                        "http.trigger"};
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_json one = pawl__json_object();

        pawl__build_name(b, &one, "name", names[i]);
        pawl__build_name(b, &one, "state", state);
        pawl__build_append(b, &out, one);
    }
    return out;
}

struct pawl_json pawl__view_drained(struct pawl_builder *b, const struct pawl_drained *drained)
{
    struct pawl_json out = pawl__json_object(), outcome = pawl__json_object();

    pawl__build_name(b, &outcome, "overallResult",
                     drained->left == 0 ? "Forced" : "DeadlineExceeded");
    pawl__view_time(b, &outcome, "startedAt", drained->started_us);
    pawl__view_time(b, &outcome, "completedAt", drained->completed_us);
    pawl__view_span(b, &outcome, "pausePhaseDuration", drained->paused_us - drained->started_us);
    pawl__view_span(b, &outcome, "waitPhaseDuration", drained->completed_us - drained->paused_us);
    pawl__build(b, &outcome, "sources", view_sources(b, "Paused"));
    pawl__build_int(b, &outcome, "executionCyclesForceCancelledCount", 0);
    pawl__build(b, &outcome, "forceCancelledInstanceIds", pawl__json_array());
    pawl__build(b, &out, "outcome", outcome);
    return out;
}

struct pawl_json pawl__view_status(struct pawl_builder *b, const struct pawl_cluster_status *status)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "state", view_state(b, status));
    pawl__build(b, &out, "sources", view_sources(b, status->is_accepting ? "Running" : "Paused"));
    pawl__build_int(b, &out, "activeExecutionCycleCount", (int64_t)status->runs);
    return out;
}
