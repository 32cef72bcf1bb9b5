/* SPDX-License-Identifier: Apache-2.0 */
/* The queue: starts, resumptions, cancellations, stimuli and timers, one after the other. */
#include "runtime/memory_private.h"

#include "base/alloc.h"
#include "base/cron.h"
#include "base/datetime.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/stimulus.h"
#include "engine/builder.h"

/* ---- pieces of work ---------------------------------------------------------------------- */

struct pawl_memory_work *pawl__memory_work_new(struct pawl_memory *memory,
                                               enum memory_work_kind kind)
{
    struct pawl_memory_work *work = pawl__alloc_zeroed(memory->alloc, sizeof *work);

    if (work) {
        work->kind = kind;
        pawl__arena_init(&work->arena, memory->alloc, MEMORY_BYTES_MAX);
    }
    return work;
}

void pawl__memory_work_free(struct pawl_memory *memory, struct pawl_memory_work *work)
{
    if (!work)
        return;
    pawl__arena_release(&work->arena);
    pawl__free(memory->alloc, work, sizeof *work);
}

/* Work whose status is not PAWL_OK is freed instead. */
static int push(struct pawl_memory *memory, struct pawl_memory_work *work, int status)
{
    if (status == PAWL_OK)
        status = work->arena.status;
    if (status == PAWL_OK)
        pawl__list_push_back(&memory->queue, &work->link);
    else
        pawl__memory_work_free(memory, work);
    return status;
}

int pawl__memory_push_start(struct pawl_memory *memory, const struct pawl_memory_start *start)
{
    struct pawl_memory_work *work = pawl__memory_work_new(memory, MEMORY_START);
    struct pawl_arena *arena;
    int status;

    if (!work)
        return PAWL_ENOMEM;
    arena = &work->arena;
    work->start = (struct pawl_memory_start){
        .definition = start->definition,
        .instance_id = pawl__arena_str(arena, start->instance_id),
        .correlation_id = pawl__arena_str(arena, start->correlation_id),
        .name = pawl__arena_str(arena, start->name),
        .parent_instance_id = pawl__arena_str(arena, start->parent_instance_id),
        .trigger_activity_id = pawl__arena_str(arena, start->trigger_activity_id),
    };
    status = pawl__json_copy(arena, &start->input, &work->start.input);
    if (status == PAWL_OK)
        status = pawl__json_copy(arena, &start->properties, &work->start.properties);
    return push(memory, work, status);
}

int pawl__memory_push_resume(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                             struct pawl_str bookmark_id, const struct pawl_json *input,
                             bool only_if_there)
{
    struct pawl_memory_work *work = pawl__memory_work_new(memory, MEMORY_RESUME);
    int status = PAWL_OK;

    if (!work)
        return PAWL_ENOMEM;
    work->instance = instance;
    work->only_if_there = only_if_there;
    work->bookmark_id = pawl__arena_str(&work->arena, bookmark_id);
    if (input)
        status = pawl__json_copy(&work->arena, input, &work->input);
    return push(memory, work, status);
}

static int push_cancel(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                       bool with_children)
{
    struct pawl_memory_work *work = pawl__memory_work_new(memory, MEMORY_CANCEL);

    if (!work)
        return PAWL_ENOMEM;
    work->instance = instance;
    work->with_children = with_children;
    return push(memory, work, PAWL_OK);
}

int pawl__memory_push_stimulus(struct pawl_memory *memory,
                               const struct pawl_memory_stimulus *stimulus)
{
    struct pawl_memory_work *work = pawl__memory_work_new(memory, MEMORY_STIMULUS);
    struct pawl_arena *arena;

    if (!work)
        return PAWL_ENOMEM;
    arena = &work->arena;
    work->stimulus = (struct pawl_memory_stimulus){
        .hash = pawl__arena_str(arena, stimulus->hash),
        .correlation_id = pawl__arena_str(arena, stimulus->correlation_id),
        .instance_id = pawl__arena_str(arena, stimulus->instance_id),
    };
    return push(memory, work, pawl__json_copy(arena, &stimulus->input, &work->stimulus.input));
}

/* ---- beginning --------------------------------------------------------------------------- */

int pawl__memory_begin_start(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                             const struct pawl_memory_start *start, struct pawl_error *err)
{
    struct pawl_event event = {
        .kind = PAWL_EVENT_RUN,
        .input = start->input,
        .properties = start->properties,
        .correlation_id = start->correlation_id,
        .name = start->name,
        .parent_instance_id = start->parent_instance_id,
        .trigger_activity_id = start->trigger_activity_id,
    };

    return pawl__memory_begin(memory, instance, &event, err);
}

static int begin_start(struct pawl_memory *memory, const struct pawl_memory_work *work,
                       struct pawl_error *err)
{
    struct pawl_memory_instance *instance;
    int status = pawl__memory_new_instance(memory, &work->start, &instance, err);

    if (status == PAWL_OK)
        status = pawl__memory_begin_start(memory, instance, &work->start, err);
    return status;
}

static const struct pawl_json *find_bookmark(const struct pawl_memory_instance *instance,
                                             struct pawl_str id)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(&instance->state, "bookmarks");

    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__str_equal(memory_text(bookmark, "id"), id))
            return bookmark;
    }
    return NULL;
}

static int begin_resume(struct pawl_memory *memory, const struct pawl_memory_work *work,
                        struct pawl_error *err)
{
    struct pawl_event event = {
        .kind = PAWL_EVENT_RESUME, .bookmark_id = work->bookmark_id, .input = work->input};

    if (work->instance->is_final)
        return PAWL_OK;
    if (work->only_if_there && !find_bookmark(work->instance, work->bookmark_id))
        return PAWL_OK;
    return pawl__memory_begin(memory, work->instance, &event, err);
}

/* Cancels an instance and, if wanted, queues the same for its children, whatever became of it. */
static int begin_cancel(struct pawl_memory *memory, const struct pawl_memory_work *work,
                        struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_CANCEL};
    struct pawl_memory_instance *child;

    PAWL_MEMORY_FOR_EACH_INSTANCE(child, memory)
    {
        if (work->with_children &&
            pawl__str_equal(memory_text(&child->state, "parentWorkflowInstanceId"),
                            work->instance->id) &&
            push_cancel(memory, child, true) != PAWL_OK)
            return pawl__error_code(err, PAWL_ENOMEM);
    }
    return work->instance->is_final ? PAWL_OK
                                    : pawl__memory_begin(memory, work->instance, &event, err);
}

/* ---- stimuli ----------------------------------------------------------------------------- */

/* The activation strategies; only what a stimulus starts is judged by them. */
static bool may_start(const struct pawl_memory *memory,
                      const struct pawl_memory_definition *definition,
                      struct pawl_str correlation_id)
{
    struct pawl_str strategy =
        definition->graph ? definition->graph->workflow->activation_strategy : pawl__str("");
    bool any_definition = pawl__str_is(strategy, "CorrelationStrategy");
    bool correlated = any_definition || pawl__str_is(strategy, "CorrelatedSingletonStrategy");
    const struct pawl_memory_instance *other;

    if (!correlated && !pawl__str_is(strategy, "SingletonStrategy"))
        return true;
    PAWL_MEMORY_FOR_EACH_INSTANCE(other, memory)
    {
        if (other->is_final)
            continue;
        if (!any_definition &&
            !pawl__str_equal(other->definition->definition_id, definition->definition_id))
            continue;
        if (!correlated || correlation_id.len == 0 ||
            pawl__str_equal(memory_text(&other->state, "correlationId"), correlation_id))
            return false;
    }
    return true;
}

static int trigger_matches(struct pawl_memory *memory, const struct pawl_memory_stimulus *stimulus,
                           uint32_t *count)
{
    struct pawl_memory_definition *definition;
    int status = PAWL_OK;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        for (uint32_t i = 0; i < definition->trigger_count && status == PAWL_OK; i++) {
            const struct pawl_trigger *trigger = &definition->triggers[i].trigger;
            const struct pawl_memory_start start = {
                .definition = definition,
                .correlation_id = stimulus->correlation_id,
                .trigger_activity_id = trigger->activity_id,
                .input = stimulus->input,
            };

            if (!pawl__str_equal(trigger->hash, stimulus->hash) ||
                !may_start(memory, definition, stimulus->correlation_id))
                continue;
            ++*count;
            status = pawl__memory_push_start(memory, &start);
        }
    }
    return status;
}

static int resume_matches(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                          const struct pawl_memory_stimulus *stimulus, uint32_t *count)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(&instance->state, "bookmarks");
    int status = PAWL_OK;

    if (instance->is_final ||
        (stimulus->instance_id.len > 0 && !pawl__str_equal(stimulus->instance_id, instance->id)) ||
        (stimulus->correlation_id.len > 0 &&
         !pawl__str_equal(stimulus->correlation_id,
                          memory_text(&instance->state, "correlationId"))))
        return PAWL_OK;
    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && status == PAWL_OK; i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (!pawl__str_equal(memory_text(bookmark, "hash"), stimulus->hash))
            continue;
        ++*count;
        status = pawl__memory_push_resume(memory, instance, memory_text(bookmark, "id"),
                                          &stimulus->input, true);
    }
    return status;
}

/*
 * Queues what a stimulus starts and what it resumes. Both are found before anything runs, so that
 * an instance that it starts is not resumed by it as well.
 */
static int match(struct pawl_memory *memory, const struct pawl_memory_stimulus *stimulus,
                 uint32_t *count)
{
    struct pawl_memory_instance *instance;
    int status = PAWL_OK;

    *count = 0;
    if (stimulus->instance_id.len == 0)
        status = trigger_matches(memory, stimulus, count);
    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, memory)
    {
        if (status == PAWL_OK)
            status = resume_matches(memory, instance, stimulus, count);
    }
    return status;
}

/* One that matches nothing is parked: *parked says that the work is no longer the caller's. */
static int deliver(struct pawl_memory *memory, struct pawl_memory_work *work, bool *parked)
{
    uint32_t count;
    int status = match(memory, &work->stimulus, &count);

    *parked = status == PAWL_OK && count == 0;
    if (*parked) {
        work->expires = pawl__memory_time(memory) + PAWL_MEMORY_STIMULUS_TICKS;
        pawl__list_push_back(&memory->parked, &work->link);
    }
    return status;
}

/* Whether a parked stimulus has found its bookmark meanwhile. */
static int look_at_parked(struct pawl_memory *memory)
{
    struct pawl_list_link *link = pawl__list_first(&memory->parked);
    int64_t now = pawl__memory_time(memory);
    int status = PAWL_OK;

    memory->new_bookmarks = false;
    while (link && link != &memory->parked.head && status == PAWL_OK) {
        struct pawl_memory_work *work = PAWL_CONTAINER(link, struct pawl_memory_work, link);
        uint32_t count = 0;

        link = link->next;
        if (work->expires >= now)
            status = match(memory, &work->stimulus, &count);
        if (work->expires < now || count > 0) {
            pawl__list_remove(&work->link);
            pawl__memory_work_free(memory, work);
        }
        if (count > 0)
            break; /* what it resumes may end what others wait for */
    }
    memory->new_bookmarks = !pawl__list_empty(&memory->queue);
    return status;
}

/* ---- the queue --------------------------------------------------------------------------- */

int pawl__memory_work_next(struct pawl_memory *memory, bool *any, struct pawl_error *err)
{
    struct pawl_memory_work *work;
    bool parked = false;
    int status = PAWL_OK;

    if (pawl__list_empty(&memory->queue) && memory->new_bookmarks)
        status = look_at_parked(memory);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    work = PAWL_CONTAINER(pawl__list_pop_front(&memory->queue), struct pawl_memory_work, link);
    *any = work != NULL;
    if (!work)
        return PAWL_OK;
    switch (work->kind) {
    case MEMORY_START:
        status = begin_start(memory, work, err);
        break;
    case MEMORY_RESUME:
        status = begin_resume(memory, work, err);
        break;
    case MEMORY_CANCEL:
        status = begin_cancel(memory, work, err);
        break;
    case MEMORY_STIMULUS:
        status = deliver(memory, work, &parked);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
        break;
    }
    if (!parked)
        pawl__memory_work_free(memory, work);
    return status;
}

static int drain_after(struct pawl_memory *memory, int status, struct pawl_error *err)
{
    return status == PAWL_OK ? pawl__memory_drain(memory, err) : pawl__error_code(err, status);
}

int pawl__memory_start(struct pawl_memory *memory, const struct pawl_memory_start *start,
                       struct pawl_memory_instance **out, struct pawl_error *err)
{
    struct pawl_memory_instance *instance;
    int status = pawl__memory_new_instance(memory, start, &instance, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__memory_begin_start(memory, instance, start, err);
    if (status != PAWL_OK) {
        pawl__memory_free_instance(memory, instance);
        return status;
    }
    if (out)
        *out = instance;
    return pawl__memory_drain(memory, err);
}

int pawl__memory_resume(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                        struct pawl_str bookmark_id, const struct pawl_json *input,
                        struct pawl_error *err)
{
    return drain_after(memory,
                       pawl__memory_push_resume(memory, instance, bookmark_id, input, false), err);
}

int pawl__memory_cancel(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                        bool with_children, struct pawl_error *err)
{
    return drain_after(memory, push_cancel(memory, instance, with_children), err);
}

int pawl__memory_send(struct pawl_memory *memory, const struct pawl_memory_stimulus *stimulus,
                      struct pawl_error *err)
{
    return drain_after(memory, pawl__memory_push_stimulus(memory, stimulus), err);
}

int pawl__memory_send_event(struct pawl_memory *memory, struct pawl_str event_name,
                            struct pawl_str correlation_id, const struct pawl_json *payload,
                            struct pawl_error *err)
{
    struct pawl_json data = pawl__json_object();
    struct pawl_arena scratch;
    struct pawl_builder b = {.arena = &scratch};

    pawl__arena_init(&scratch, memory->alloc, MEMORY_BYTES_MAX);
    pawl__build(&b, &data, "eventName", pawl__json_string(event_name));
    pawl__build_text(&b, &data, "correlationId", correlation_id);
    if (payload)
        pawl__build(&b, &data, "payload", *payload);
    if (b.status == PAWL_OK)
        b.status = pawl__memory_push_event(memory, &data);
    pawl__arena_release(&scratch);
    return drain_after(memory, b.status, err);
}
