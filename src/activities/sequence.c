/* SPDX-License-Identifier: Apache-2.0 */
/* Containers that run a list of activities: one after the other, or all at once. */
#include "activities/sequence.h"

#include "activities/children.h"
#include "activities/descriptor.h"

static const struct pawl_port_descriptor activities_port[] = {
    {.name = "Activities", .many = true, .hidden = true},
};

/* ---- Sequence ---------------------------------------------------------------------------- */

#define NEXT_INDEX "CurrentIndex"

/*
 * The property is that of the next child: it moves on when a child is scheduled. In the call stack
 * a child follows the one `before` it, and the first follows the sequence.
 */
static int sequence_next(struct pawl_context *context, struct pawl_str before)
{
    const struct pawl_node *node = context->node;
    int64_t index = pawl__property_int(context, NEXT_INDEX, 0);
    struct pawl_schedule schedule = {.callback = "OnChildCompleted", .scheduled_by = before};
    int status;

    if (index < 0 || index >= node->child_count)
        return pawl__complete(context, NULL);
    schedule.node = node->children[index];
    status = pawl__schedule(context, &schedule);
    if (status == PAWL_OK)
        status = pawl__property_set(context, NEXT_INDEX, pawl__json_int(index + 1));
    return status;
}

static int sequence_child_completed(struct pawl_context *context,
                                    const struct pawl_completion *completion)
{
    bool ends = completion->child->node->activity->flags & PAWL_ACTIVITY_TERMINAL;

    if (ends || pawl__is_breaking(context))
        return pawl__complete(context, NULL);
    return sequence_next(context, completion->child->id);
}

static int sequence_execute(struct pawl_context *context)
{
    return sequence_next(context, pawl__str(""));
}

/* The break is passed to the loop around it; the sequence ends when its child has completed. */
static int note_break(struct pawl_context *context, struct pawl_signal *signal)
{
    return signal->kind == PAWL_SIGNAL_BREAK ? pawl__set_breaking(context) : PAWL_OK;
}

static const struct pawl_completion_callback sequence_completions[] = {
    {"OnChildCompleted", sequence_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_sequence = {
    .type = "Elsa.Sequence",
    .version = 1,
    .flags = PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Workflows",
    .description = "Runs its activities one after the other.",
    PAWL_PORTS(activities_port),
    .execute = sequence_execute,
    .signal = note_break,
    .completions = sequence_completions,
};

/* ---- Parallel ---------------------------------------------------------------------------- */

#define REMAINING "ScheduledChildren"

static int schedule_all(struct pawl_context *context, const char *callback)
{
    const struct pawl_node *node = context->node;
    int status = PAWL_OK;

    if (node->child_count == 0)
        return pawl__complete(context, NULL);
    for (uint32_t i = 0; i < node->child_count && status == PAWL_OK; i++)
        status = pawl__schedule_child(context, node->children[i], callback);
    return status;
}

static int parallel_execute(struct pawl_context *context)
{
    int status = pawl__property_set(context, REMAINING, pawl__json_int(context->node->child_count));

    return status == PAWL_OK ? schedule_all(context, "OnChildCompleted") : status;
}

static int parallel_child_completed(struct pawl_context *context,
                                    const struct pawl_completion *completion)
{
    int64_t remaining = pawl__property_int(context, REMAINING, 1) - 1;
    int status = pawl__property_set(context, REMAINING, pawl__json_int(remaining));

    (void)completion;
    if (status == PAWL_OK && remaining <= 0)
        status = pawl__complete(context, NULL);
    return status;
}

static const struct pawl_completion_callback parallel_completions[] = {
    {"OnChildCompleted", parallel_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_parallel = {
    .type = "Elsa.Parallel",
    .version = 1,
    .flags = PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Workflows",
    .description = "Runs its activities side by side and waits for all of them.",
    PAWL_PORTS(activities_port),
    .execute = parallel_execute,
    .completions = parallel_completions,
};

/* ---- Fork -------------------------------------------------------------------------------- */

#define COMPLETED "Completed"

static const char *const fork_join_modes[] = {"WaitAll", "WaitAny", NULL};

static const struct pawl_type fork_join_mode = {
    .kind = PAWL_TYPE_ENUM,
    .alias = PAWL_CLR_TYPE("Elsa.Workflows.ForkJoinMode, Elsa.Workflows.Core"),
    .names = fork_join_modes,
};

static const struct pawl_input_descriptor fork_inputs[] = {
    {
        .name = "JoinMode",
        .type = &fork_join_mode,
        .description = "Whether all branches must complete, or one is enough.",
        .ui_hint = "dropdown",
        .options_json = "{\"dropdown\":{\"selectList\":{\"items\":["
                        "{\"text\":\"WaitAll\",\"value\":\"WaitAll\"},"
                        "{\"text\":\"WaitAny\",\"value\":\"WaitAny\"}]}}}",
        .flags = PAWL_INPUT_NAKED,
    },
};

static const struct pawl_port_descriptor fork_ports[] = {
    {.name = "Branches", .many = true, .hidden = true},
};

/* By name or number; what is missing or unknown waits for all. */
static bool waits_for_any(const struct pawl_context *context)
{
    const struct pawl_json *mode = pawl__input_naked(context, "JoinMode");
    int64_t number;

    return pawl__str_equal_nocase(pawl__json_str(mode), pawl__str("WaitAny")) ||
           (pawl__json_to_int(mode, &number) && number == 1);
}

static bool all_completed(const struct pawl_context *context)
{
    const struct pawl_node *node = context->node;

    for (uint32_t i = 0; i < node->child_count; i++) {
        if (!pawl__text_set_has(context, COMPLETED, node->children[i]->id))
            return false;
    }
    return true;
}

static int fork_execute(struct pawl_context *context)
{
    return schedule_all(context, "CompleteChildAsync");
}

static int fork_child_completed(struct pawl_context *context,
                                const struct pawl_completion *completion)
{
    int status = pawl__text_set_add(context, COMPLETED, completion->child->node->id);

    if (status != PAWL_OK)
        return status;
    if (pawl__is_breaking(context) || waits_for_any(context) || all_completed(context))
        return pawl__complete(context, NULL);
    return PAWL_OK;
}

static const struct pawl_completion_callback fork_completions[] = {
    {"CompleteChildAsync", fork_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_fork = {
    .type = "Elsa.Fork",
    .version = 1,
    .flags = PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Control Flow",
    .description = "Runs its branches side by side, until all or one of them have completed.",
    PAWL_INPUTS(fork_inputs),
    PAWL_PORTS(fork_ports),
    .execute = fork_execute,
    .signal = note_break,
    .completions = fork_completions,
};
