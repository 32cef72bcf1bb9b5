/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contexts of an instance: making them, finding them, and letting go of those that have ended.
 *
 * A context leaves the instance as soon as it has ended and nothing needs it: no child of it is
 * there, no work item has it as owner, and it is not the root. Elsa frees contexts at commits
 * only; leaving at once keeps the cost of an activity independent of how many ran before it, and
 * is the same whether a burst is reopened or not. Its memory stays in the arena, so that the batch
 * can still show its record.
 *
 * Contexts never leave while an activity is being invoked: a loop over children may cancel
 * them on the way. Contexts that may be freed are on a stack until pawl__contexts_sweep().
 */
#include "engine/run/instance.h"

void pawl__context_adopt(struct pawl_context *parent, struct pawl_context *child)
{
    child->parent = parent;
    pawl__list_push_back(&parent->children, &child->sibling);
}

int pawl__context_new(struct pawl_burst *burst, const struct pawl_node *node,
                      struct pawl_context *parent, struct pawl_context **out)
{
    struct pawl_context *context = pawl__arena_alloc_zeroed(&burst->arena, sizeof *context);

    if (!context)
        return pawl__arena_status(&burst->arena);
    context->burst = burst;
    context->node = node;
    context->id = pawl__str("");
    context->properties = pawl__json_object();
    context->metadata = pawl__json_object();
    context->activity_state = pawl__json_object();
    context->input = pawl__json_object();
    context->journal = pawl__json_object();
    context->outputs = pawl__json_object();
    context->tag = pawl__value_null();
    context->scheduled_by = context->scheduled_by_activity = context->scheduled_by_instance =
        pawl__str("");
    context->order = burst->context_order++;
    burst->context_count++;
    pawl__list_init(&context->children);
    pawl__list_init(&context->callbacks);
    pawl__list_push_back(&burst->contexts, &context->link);
    if (parent)
        pawl__context_adopt(parent, context);
    *out = context;
    return PAWL_OK;
}

struct pawl_context *pawl__context_by_id(const struct pawl_burst *burst, struct pawl_str id)
{
    struct pawl_context *context;

    PAWL_FOR_EACH_CONTEXT(context, burst)
    {
        if (pawl__str_equal(context->id, id))
            return context;
    }
    return NULL;
}

void pawl__context_touch(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;

    if (context->dirty)
        return;
    context->dirty = true;
    context->next_dirty = NULL;
    if (burst->dirty_last)
        burst->dirty_last->next_dirty = context;
    else
        burst->dirty_first = context;
    burst->dirty_last = context;
}

bool pawl__context_below(const struct pawl_context *context, const struct pawl_context *ancestor)
{
    for (; context; context = context->parent) {
        if (context == ancestor)
            return true;
    }
    return false;
}

struct pawl_context *pawl__next_child(const struct pawl_context *context,
                                      const struct pawl_context *after)
{
    struct pawl_list_link *next = after ? after->sibling.next : context->children.head.next;

    return next == &context->children.head ? NULL
                                           : PAWL_CONTAINER(next, struct pawl_context, sibling);
}

/* ---- letting go ------------------------------------------------------------------------- */

void pawl__context_review(struct pawl_context *context)
{
    if (!context || context->on_ended_stack || !pawl__context_ended(context))
        return;
    context->on_ended_stack = true;
    context->next_ended = context->burst->ended;
    context->burst->ended = context;
}

static bool is_needed(const struct pawl_context *context)
{
    return !context->parent || !pawl__context_ended(context) || context->queued > 0 ||
           !pawl__list_empty(&context->children);
}

static void free_context(struct pawl_context *context)
{
    pawl__callbacks_remove_owner(context);
    pawl__list_remove(&context->link);
    pawl__list_remove(&context->sibling);
    context->burst->context_count--;
    pawl__context_review(context->parent);
}

void pawl__contexts_sweep(struct pawl_burst *burst)
{
    struct pawl_context *context;

    while ((context = burst->ended) != NULL) {
        burst->ended = context->next_ended;
        context->on_ended_stack = false;
        if (pawl__list_linked(&context->link) && !is_needed(context))
            free_context(context);
    }
}
