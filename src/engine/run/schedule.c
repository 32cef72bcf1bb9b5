/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of work and the table of completion callbacks. First in, first out, always. */
#include "engine/run/instance.h"

#include "base/assert.h"

/* ---- the queue --------------------------------------------------------------------------- */

/* Work items hold on to their contexts. */
static void hold(const struct pawl_work_item *item)
{
    if (item->owner)
        item->owner->queued++;
    if (item->existing)
        item->existing->queued++;
}

static void release_context(struct pawl_context *context)
{
    if (!context)
        return;
    context->queued--;
    pawl__context_review(context);
}

static void release(const struct pawl_work_item *item)
{
    release_context(item->owner);
    release_context(item->existing);
}

/* Room at the end: from what was taken out at the front when that is worth moving the rest. */
static int make_room(struct pawl_burst *burst)
{
    uint32_t left = burst->queue.count - burst->queue_head;

    if (burst->queue.count == burst->queue.cap && burst->queue_head > left) {
        memcpy(burst->queue.items, burst->queue.items + burst->queue_head,
               left * sizeof *burst->queue.items);
        burst->queue_head = 0;
        burst->queue.count = left;
    }
    return VECTOR_GROW(burst, &burst->queue);
}

int pawl__queue_push(struct pawl_burst *burst, const struct pawl_work_item *item)
{
    int status = make_room(burst);

    if (status != PAWL_OK)
        return status;
    burst->queue.items[burst->queue.count++] = *item;
    hold(item);
    return PAWL_OK;
}

bool pawl__queue_pop(struct pawl_burst *burst, struct pawl_work_item *item)
{
    if (burst->queue_head == burst->queue.count)
        return false;
    *item = burst->queue.items[burst->queue_head++];
    release(item);
    if (burst->queue_head == burst->queue.count)
        burst->queue_head = burst->queue.count = 0;
    return true;
}

void pawl__queue_clear(struct pawl_burst *burst)
{
    for (uint32_t i = burst->queue_head; i < burst->queue.count; i++)
        release(&burst->queue.items[i]);
    burst->queue_head = burst->queue.count = 0;
}

/* Removes item number `at`, keeping the order of the rest. */
static void remove_item(struct pawl_burst *burst, uint32_t at)
{
    release(&burst->queue.items[at]);
    memmove(burst->queue.items + at, burst->queue.items + at + 1,
            (burst->queue.count - at - 1) * sizeof *burst->queue.items);
    burst->queue.count--;
}

void pawl__queue_withdraw_context(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;

    for (uint32_t i = burst->queue.count; context->queued > 0 && i-- > burst->queue_head;) {
        const struct pawl_work_item *item = &burst->queue.items[i];

        if (item->owner == context || item->existing == context)
            remove_item(burst, i);
    }
}

/* ---- completion callbacks ---------------------------------------------------------------- */

int pawl__callback_add(struct pawl_context *owner, const struct pawl_node *child,
                       const char *method, struct pawl_value tag)
{
    struct pawl_callback_entry *entry =
        pawl__arena_alloc_zeroed(&owner->burst->arena, sizeof *entry);

    if (!entry)
        return pawl__arena_status(&owner->burst->arena);
    entry->owner = owner;
    entry->child = child;
    entry->method = method;
    entry->tag = tag;
    pawl__list_push_back(&owner->burst->callbacks, &entry->link);
    pawl__list_push_back(&owner->callbacks, &entry->own);
    return PAWL_OK;
}

static void remove_callback(struct pawl_callback_entry *entry)
{
    pawl__list_remove(&entry->link);
    pawl__list_remove(&entry->own);
}

void pawl__callbacks_remove_owner(struct pawl_context *owner)
{
    struct pawl_list_link *first;

    while ((first = pawl__list_first(&owner->callbacks)) != NULL)
        remove_callback(PAWL_CONTAINER(first, struct pawl_callback_entry, own));
}

void pawl__callbacks_clear(struct pawl_burst *burst)
{
    struct pawl_list_link *first;

    while ((first = pawl__list_first(&burst->callbacks)) != NULL)
        remove_callback(PAWL_CONTAINER(first, struct pawl_callback_entry, link));
}

const struct pawl_callback_entry *pawl__callback_pop(struct pawl_context *owner,
                                                     const struct pawl_node *child)
{
    struct pawl_callback_entry *entry;

    PAWL_LIST_FOR_EACH (entry, &owner->callbacks, own) {
        if (entry->child == child) {
            remove_callback(entry);
            return entry;
        }
    }
    return NULL;
}

/* ---- both -------------------------------------------------------------------------------- */

void pawl__withdraw(struct pawl_context *owner, const struct pawl_node *node)
{
    struct pawl_burst *burst = owner->burst;

    for (uint32_t i = burst->queue.count; i-- > burst->queue_head;) {
        if (burst->queue.items[i].owner == owner && burst->queue.items[i].node == node)
            remove_item(burst, i);
    }
    while (pawl__callback_pop(owner, node))
        continue;
}

bool pawl__is_queued(const struct pawl_context *owner, const struct pawl_node *node)
{
    const struct pawl_burst *burst = owner->burst;

    if (owner->queued == 0)
        return false;
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

static int make_variables(struct pawl_context *context, const struct pawl_schedule *schedule,
                          struct pawl_work_item *item)
{
    if (schedule->variable_count == 0)
        return PAWL_OK;
    item->variables = pawl__arena_alloc_array(&context->burst->arena, schedule->variable_count,
                                              sizeof *item->variables);
    if (!item->variables)
        return pawl__arena_status(&context->burst->arena);
    item->variable_count = schedule->variable_count;
    for (uint32_t i = 0; i < schedule->variable_count; i++) {
        struct pawl_str name = pawl__str(schedule->variables[i].name);
        struct pawl_value value = schedule->variables[i].value;
        int status = PAWL_OK;

        if (!pawl__value_is_null(value))
            status = pawl__demand_storable(context, value, "Variable", name);
        if (status == PAWL_OK)
            status = pawl__variable_make(&context->burst->arena, name, value, &item->variables[i]);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* Who scheduled it: said now, because that context may be gone when the item is invoked. */
static void set_caller(struct pawl_context *context, const struct pawl_schedule *schedule,
                       struct pawl_work_item *item)
{
    struct pawl_burst *burst = context->burst;
    const struct pawl_context *by = context;

    if (schedule->scheduled_by.len > 0 && !pawl__str_equal(schedule->scheduled_by, context->id)) {
        item->scheduled_by = schedule->scheduled_by;
        by = burst->current;
        if (!by || !pawl__str_equal(by->id, schedule->scheduled_by))
            by = pawl__context_by_id(burst, schedule->scheduled_by);
    }
    if (!by)
        return;
    item->scheduled_by = by->id;
    item->scheduled_by_activity = by->node->id;
    item->depth = by->depth + 1;
}

int pawl__schedule(struct pawl_context *context, const struct pawl_schedule *schedule)
{
    struct pawl_work_item item = {.node = schedule->node,
                                  .owner = context,
                                  .existing = schedule->existing,
                                  .tag = schedule->tag,
                                  .input = schedule->input};
    int status;

    if (!schedule->node)
        return schedule_nothing(context, schedule);
    if (schedule->prevent_duplicates && pawl__is_queued(context, schedule->node))
        return PAWL_OK;
    set_caller(context, schedule, &item);
    status = make_variables(context, schedule, &item);
    if (status == PAWL_OK && schedule->callback)
        status = pawl__callback_add(context, schedule->node, schedule->callback, schedule->tag);
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
