/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of work and the table of completion callbacks. First in, first out, always. */
#include "engine/instance.h"

#include "base/assert.h"

int pawl__queue_push(struct pawl_burst *burst, const struct pawl_work_item *item)
{
    int status = VECTOR_GROW(burst, &burst->queue);

    if (status == PAWL_OK)
        burst->queue.items[burst->queue.count++] = *item;
    return status;
}

bool pawl__queue_pop(struct pawl_burst *burst, struct pawl_work_item *item)
{
    if (burst->queue_head == burst->queue.count)
        return false;
    *item = burst->queue.items[burst->queue_head++];
    if (burst->queue_head == burst->queue.count)
        pawl__queue_clear(burst);
    return true;
}

void pawl__queue_clear(struct pawl_burst *burst)
{
    burst->queue_head = burst->queue.count = 0;
}

/* Removes item number `at`, keeping the order of the rest. */
static void remove_item(struct pawl_burst *burst, uint32_t at)
{
    memmove(burst->queue.items + at, burst->queue.items + at + 1,
            (burst->queue.count - at - 1) * sizeof *burst->queue.items);
    burst->queue.count--;
}

void pawl__queue_withdraw_context(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;

    for (uint32_t i = burst->queue.count; i-- > burst->queue_head;) {
        const struct pawl_work_item *item = &burst->queue.items[i];

        if (item->owner == context || item->existing == context)
            remove_item(burst, i);
    }
}

static void remove_callback(struct pawl_burst *burst, uint32_t at)
{
    memmove(burst->callbacks.items + at, burst->callbacks.items + at + 1,
            (burst->callbacks.count - at - 1) * sizeof *burst->callbacks.items);
    burst->callbacks.count--;
}

void pawl__callbacks_remove_owner(struct pawl_context *owner)
{
    struct pawl_burst *burst = owner->burst;

    for (uint32_t i = burst->callbacks.count; i-- > 0;) {
        if (burst->callbacks.items[i].owner == owner)
            remove_callback(burst, i);
    }
}

bool pawl__callback_pop(struct pawl_context *owner, const struct pawl_node *child,
                        struct pawl_callback_entry *entry)
{
    struct pawl_burst *burst = owner->burst;

    for (uint32_t i = 0; i < burst->callbacks.count; i++) {
        if (burst->callbacks.items[i].owner == owner && burst->callbacks.items[i].child == child) {
            *entry = burst->callbacks.items[i];
            remove_callback(burst, i);
            return true;
        }
    }
    return false;
}

void pawl__withdraw(struct pawl_context *owner, const struct pawl_node *node)
{
    struct pawl_burst *burst = owner->burst;

    for (uint32_t i = burst->queue.count; i-- > burst->queue_head;) {
        if (burst->queue.items[i].owner == owner && burst->queue.items[i].node == node)
            remove_item(burst, i);
    }
    for (uint32_t i = burst->callbacks.count; i-- > 0;) {
        if (burst->callbacks.items[i].owner == owner && burst->callbacks.items[i].child == node)
            remove_callback(burst, i);
    }
}

bool pawl__is_queued(const struct pawl_context *owner, const struct pawl_node *node)
{
    const struct pawl_burst *burst = owner->burst;

    for (uint32_t i = burst->queue_head; i < burst->queue.count; i++) {
        const struct pawl_work_item *item = &burst->queue.items[i];

        if (item->owner == owner && (!node || item->node == node))
            return true;
    }
    return false;
}

bool pawl__has_queued_below(const struct pawl_context *ancestor)
{
    const struct pawl_burst *burst = ancestor->burst;

    for (uint32_t i = burst->queue_head; i < burst->queue.count; i++) {
        if (pawl__context_below(burst->queue.items[i].owner, ancestor))
            return true;
    }
    return false;
}

static int add_callback(struct pawl_context *owner, const struct pawl_schedule *schedule)
{
    struct pawl_burst *burst = owner->burst;
    int status = VECTOR_GROW(burst, &burst->callbacks);

    if (status == PAWL_OK)
        burst->callbacks.items[burst->callbacks.count++] =
            (struct pawl_callback_entry){.owner = owner,
                                         .child = schedule->node,
                                         .method = schedule->callback,
                                         .tag = schedule->tag};
    return status;
}

const struct pawl_completion_callback *pawl__completion_named(const struct pawl_activity *activity,
                                                              const char *method)
{
    for (const struct pawl_completion_callback *callback = activity->completions;
         callback && callback->method; callback++) {
        if (strcmp(callback->method, method) == 0)
            return callback;
    }
    return NULL;
}

/* Nothing to schedule: the callback runs at once, as if an empty child had completed. */
static int schedule_nothing(struct pawl_context *context, const struct pawl_schedule *schedule)
{
    const struct pawl_completion_callback *callback;
    struct pawl_completion completion = {.child = context, .tag = schedule->tag};

    if (!schedule->callback)
        return pawl__complete(context, NULL);
    callback = pawl__completion_named(context->node->activity, schedule->callback);
    PAWL_ASSERT(callback);
    context->tag = schedule->tag;
    return callback->run(context, &completion);
}

static int make_variables(struct pawl_burst *burst, const struct pawl_schedule *schedule,
                          struct pawl_work_item *item)
{
    if (schedule->variable_count == 0)
        return PAWL_OK;
    item->variables =
        pawl__arena_alloc_array(&burst->arena, schedule->variable_count, sizeof *item->variables);
    if (!item->variables)
        return pawl__arena_status(&burst->arena);
    item->variable_count = schedule->variable_count;
    for (uint32_t i = 0; i < schedule->variable_count; i++) {
        int status = pawl__variable_make(&burst->arena, pawl__str(schedule->variables[i].name),
                                         schedule->variables[i].value, &item->variables[i]);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

int pawl__schedule(struct pawl_context *context, const struct pawl_schedule *schedule)
{
    struct pawl_work_item item = {
        .node = schedule->node,
        .owner = context,
        .tag = schedule->tag,
        .input = schedule->input,
        .scheduled_by = schedule->scheduled_by.len > 0 ? schedule->scheduled_by : context->id};
    int status;

    if (!schedule->node)
        return schedule_nothing(context, schedule);
    if (schedule->prevent_duplicates && pawl__is_queued(context, schedule->node))
        return PAWL_OK;
    status = make_variables(context->burst, schedule, &item);
    if (status == PAWL_OK && schedule->callback)
        status = add_callback(context, schedule);
    if (status == PAWL_OK)
        status = pawl__queue_push(context->burst, &item);
    return status;
}

int pawl__schedule_child(struct pawl_context *context, const struct pawl_node *node,
                         const char *callback)
{
    struct pawl_schedule schedule = {.node = node, .callback = callback};

    return pawl__schedule(context, &schedule);
}
