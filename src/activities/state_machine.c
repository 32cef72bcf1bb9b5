/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StateMachine.
 *
 *     enter a state:  run its entry, then arm: schedule the trigger of each transition from it
 *     trigger done:   condition false -> the same trigger again
 *                     condition true  -> cancel the other triggers; run the action, then the exit
 * of the old state; enter the new one nothing to arm: the machine completes
 *
 * The tag of a scheduled trigger, action or exit is the key of its transition, "2:Close"; that of
 * an entry is "Entering". So a machine that was suspended anywhere in between knows where it
 * stands.
 */
#include "activities/state_machine.h"

#include "activities/children.h"
#include "activities/descriptor.h"
#include "engine/context.h"

#define CURRENT_STATE "CurrentState"

struct state {
    struct pawl_str name;
    const struct pawl_node *entry; /* or NULL, as the others */
    const struct pawl_node *exit;
};

struct transition {
    struct pawl_str key;
    struct pawl_str from;
    const struct state *to; /* NULL: there is no such state */
    const struct pawl_node *trigger;
    const struct pawl_node *action;
    struct pawl_expression condition;
    bool has_condition;
};

struct machine {
    struct state *states;
    uint32_t state_count;
    struct transition *transitions;
    uint32_t transition_count;
    struct pawl_str initial;
};

/* ---- loading ----------------------------------------------------------------------------- */

static struct pawl_str text_at(const struct pawl_json *json, const char *key)
{
    return pawl__json_str(pawl__json_get_nocase(json, pawl__str(key)));
}

/* Names are compared exactly; of several with one name the first counts. */
static const struct state *find_state(const struct machine *machine, struct pawl_str name)
{
    for (uint32_t i = 0; i < machine->state_count; i++) {
        if (pawl__str_equal(machine->states[i].name, name))
            return &machine->states[i];
    }
    return NULL;
}

/* The activity under `key` of the nth element of `list`. */
static int load_activity(struct pawl_loader *loader, struct pawl_node *node, const char *list,
                         uint32_t number, const struct pawl_json *json, const char *key,
                         const struct pawl_node **out)
{
    const char *pointer = pawl__arena_printf(pawl__loader_arena(loader), "%.*s/%s/%u/%s",
                                             PAWL_STR_ARG(node->pointer), list, number, key);
    struct pawl_node *child = NULL;
    int status;

    if (!pointer)
        return pawl__refused(pawl__loader_arena(loader));
    status = pawl__loader_child(loader, node, "Activities",
                                pawl__json_get_nocase(json, pawl__str(key)), pointer, &child);
    *out = child;
    return status;
}

static int load_states(struct pawl_loader *loader, struct pawl_node *node, struct machine *machine)
{
    const struct pawl_json *list = pawl__json_get_nocase(node->json, pawl__str("states"));
    uint32_t count = pawl__json_len(list);

    machine->states =
        pawl__arena_alloc_zeroed(pawl__loader_arena(loader), (count + 1u) * sizeof(struct state));
    if (!machine->states)
        return pawl__refused(pawl__loader_arena(loader));
    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_json *json = pawl__json_at(list, i);
        struct state *state = &machine->states[i];
        int status = load_activity(loader, node, "states", i, json, "entry", &state->entry);

        if (status == PAWL_OK)
            status = load_activity(loader, node, "states", i, json, "exit", &state->exit);
        if (status != PAWL_OK)
            return status;
        state->name = text_at(json, "name");
        machine->state_count++;
    }
    return PAWL_OK;
}

/* The condition is an input, so its expression is one level further down. */
static int load_condition(struct pawl_loader *loader, struct pawl_node *node, uint32_t number,
                          const struct pawl_json *json, struct transition *transition)
{
    const struct pawl_json *input = pawl__json_get_nocase(json, pawl__str("condition"));
    const struct pawl_json *expression = pawl__json_get_nocase(input, pawl__str("expression"));
    const char *pointer =
        pawl__arena_printf(pawl__loader_arena(loader), "%.*s/transitions/%u/condition/expression",
                           PAWL_STR_ARG(node->pointer), number);

    if (!pointer)
        return pawl__refused(pawl__loader_arena(loader));
    if (!pawl__json_is(expression, PAWL_JSON_OBJECT))
        return PAWL_OK;
    transition->has_condition = true;
    return pawl__loader_expression(loader, node, expression, pointer, &transition->condition);
}

static int load_transition(struct pawl_loader *loader, struct pawl_node *node,
                           const struct machine *machine, uint32_t number,
                           const struct pawl_json *json, struct transition *out)
{
    struct pawl_str name = text_at(json, "name");
    struct pawl_str to = text_at(json, "to");
    struct pawl_arena *arena = pawl__loader_arena(loader);
    const char *key;
    int status;

    out->from = text_at(json, "from");
    out->to = find_state(machine, to);
    key = name.len > 0 ? pawl__arena_printf(arena, "%u:%.*s", number, PAWL_STR_ARG(name))
                       : pawl__arena_printf(arena, "%u:%.*s->%.*s", number, PAWL_STR_ARG(out->from),
                                            PAWL_STR_ARG(to));
    if (!key)
        return pawl__refused(arena);
    out->key = pawl__str(key);
    if (!out->to || !find_state(machine, out->from))
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, NULL,
                             "transition '%s' leads from '%.*s' to '%.*s', but the machine has no "
                             "such state: it is never taken",
                             key, PAWL_STR_ARG(out->from), PAWL_STR_ARG(to));
    status = load_activity(loader, node, "transitions", number, json, "trigger", &out->trigger);
    if (status == PAWL_OK)
        status = load_activity(loader, node, "transitions", number, json, "action", &out->action);
    if (status == PAWL_OK)
        status = load_condition(loader, node, number, json, out);
    return status;
}

static int machine_load(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_json *list = pawl__json_get_nocase(node->json, pawl__str("transitions"));
    uint32_t count = pawl__json_len(list);
    struct pawl_arena *arena = pawl__loader_arena(loader);
    struct machine *machine = pawl__arena_alloc_zeroed(arena, sizeof *machine);
    struct pawl_str current = text_at(node->json, "currentState");
    int status;

    if (!machine)
        return pawl__refused(arena);
    machine->initial = current.len > 0 ? current : text_at(node->json, "initialState");
    status = load_states(loader, node, machine);
    if (status != PAWL_OK)
        return status;
    machine->transitions =
        pawl__arena_alloc_zeroed(arena, (count + 1u) * sizeof *machine->transitions);
    if (!machine->transitions)
        return pawl__refused(arena);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        status = load_transition(loader, node, machine, i, pawl__json_at(list, i),
                                 &machine->transitions[i]);
        machine->transition_count++;
    }
    node->data = machine;
    return status;
}

/* ---- running ----------------------------------------------------------------------------- */

static const struct machine *machine_of(const struct pawl_context *context)
{
    return context->node->data;
}

static struct pawl_str current_name(const struct pawl_context *context)
{
    const struct pawl_json *stored = pawl__property(context, CURRENT_STATE);

    return stored ? pawl__json_str(stored) : machine_of(context)->initial;
}

static int schedule(struct pawl_context *context, const struct pawl_node *node,
                    const char *callback, struct pawl_str tag)
{
    struct pawl_schedule order = {
        .node = node, .callback = callback, .tag = pawl__value_string(tag)};

    return pawl__schedule(context, &order);
}

static int arm(struct pawl_context *context)
{
    const struct machine *machine = machine_of(context);
    struct pawl_str current = current_name(context);
    uint32_t armed = 0;

    for (uint32_t i = 0; i < machine->transition_count; i++) {
        const struct transition *transition = &machine->transitions[i];
        int status;

        if (!pawl__str_equal(transition->from, current) || !transition->trigger || !transition->to)
            continue;
        status = schedule(context, transition->trigger, "OnTriggerCompletedAsync", transition->key);
        if (status != PAWL_OK)
            return status;
        armed++;
    }
    return armed > 0 ? PAWL_OK : pawl__complete(context, NULL);
}

static int enter(struct pawl_context *context, const struct state *state)
{
    int status = pawl__property_set(context, CURRENT_STATE, pawl__json_string(state->name));

    if (status != PAWL_OK)
        return status;
    if (state->entry)
        return schedule(context, state->entry, "OnStateEntryCompletedAsync", pawl__str("Entering"));
    return arm(context);
}

static int machine_execute(struct pawl_context *context)
{
    const struct state *state = find_state(machine_of(context), current_name(context));

    return state ? enter(context, state) : pawl__complete(context, NULL);
}

static int entry_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    (void)completion;
    return arm(context);
}

static const struct transition *transition_with_key(const struct pawl_context *context,
                                                    struct pawl_str key)
{
    const struct machine *machine = machine_of(context);

    for (uint32_t i = 0; i < machine->transition_count; i++) {
        if (pawl__str_equal(machine->transitions[i].key, key))
            return &machine->transitions[i];
    }
    return NULL;
}

/* By the tag of the trigger that completed, else by the trigger itself. */
static const struct transition *triggered(const struct pawl_context *context,
                                          const struct pawl_completion *completion)
{
    const struct machine *machine = machine_of(context);
    const struct transition *found =
        transition_with_key(context, pawl__json_str(&completion->child->tag.json));

    for (uint32_t i = 0; i < machine->transition_count && !found; i++) {
        if (machine->transitions[i].trigger == completion->child->node)
            found = &machine->transitions[i];
    }
    return found;
}

/* The other triggers of the state: those that wait are cancelled, those queued are taken back. */
static int cancel_competing(struct pawl_context *context, const struct transition *taken)
{
    const struct machine *machine = machine_of(context);

    for (uint32_t i = 0; i < machine->transition_count; i++) {
        const struct transition *other = &machine->transitions[i];
        struct pawl_context *child = NULL;

        if (other == taken || !other->trigger || !pawl__str_equal(other->from, taken->from))
            continue;
        pawl__withdraw(context, other->trigger);
        while ((child = pawl__next_child(context, child))) {
            int status = PAWL_OK;

            if (child->node == other->trigger && !pawl__context_ended(child))
                status = pawl__cancel(child);
            if (status != PAWL_OK)
                return status;
        }
    }
    return PAWL_OK;
}

static int exit_state(struct pawl_context *context, const struct transition *transition)
{
    const struct state *state = find_state(machine_of(context), transition->from);

    if (state && state->exit)
        return schedule(context, state->exit, "OnStateExitCompletedAsync", transition->key);
    return enter(context, transition->to);
}

static int take(struct pawl_context *context, const struct transition *transition)
{
    int status = cancel_competing(context, transition);

    if (status != PAWL_OK)
        return status;
    if (transition->action)
        return schedule(context, transition->action, "OnTransitionActionCompletedAsync",
                        transition->key);
    return exit_state(context, transition);
}

static int trigger_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    const struct transition *transition = triggered(context, completion);
    struct pawl_value holds = pawl__value_bool(true);
    int status = PAWL_OK;

    if (!transition || !transition->to || !pawl__str_equal(transition->from, current_name(context)))
        return PAWL_OK;
    if (transition->has_condition)
        status =
            pawl__expression_evaluate(context, &transition->condition, &pawl__type_boolean, &holds);
    if (status != PAWL_OK)
        return status;
    if (!pawl__json_true(&holds.json))
        return schedule(context, transition->trigger, "OnTriggerCompletedAsync", transition->key);
    return take(context, transition);
}

static int action_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    const struct transition *transition =
        transition_with_key(context, pawl__json_str(&completion->tag.json));

    return transition && transition->to ? exit_state(context, transition) : PAWL_OK;
}

static int exit_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    const struct transition *transition =
        transition_with_key(context, pawl__json_str(&completion->tag.json));

    return transition && transition->to ? enter(context, transition->to) : PAWL_OK;
}

static const struct pawl_completion_callback completions[] = {
    {"OnStateEntryCompletedAsync", entry_completed},
    {"OnTriggerCompletedAsync", trigger_completed},
    {"OnTransitionActionCompletedAsync", action_completed},
    {"OnStateExitCompletedAsync", exit_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_state_machine = {
    .type = "Elsa.StateMachine",
    .version = 1,
    .category = "Flow",
    .description = "Goes from state to state as events ask for it.",
    .load = machine_load,
    .execute = machine_execute,
    .completions = completions,
};
