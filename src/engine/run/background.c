/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that run in the background: those of kind Job, and those of kind Task whose definition
 * says so. In three parts, each of them durable before the next begins:
 *
 *     wait     in the foreground: a bookmark, nothing else; the rest of the workflow continues
 *     begin    an event for that bookmark: execute, up to an effect that takes time. That is handed
 *              out with the bookmark's id, and the instance is free for whatever comes meanwhile
 *     answer   an event with its result: effect_done, and the activity ends
 *
 * One that needs no such effect ends with "begin". The log shows what Elsa's shows:
 * Started, Suspended, Resumed and how it ended; that a job began and asked for something is not in
 * it.
 */
#include "engine/run/instance.h"

#include "base/assert.h"
#include "base/stimuli.h"

bool pawl__is_background(const struct pawl_node *node)
{
    return node->activity->kind == PAWL_ACTIVITY_JOB ||
           (node->activity->kind == PAWL_ACTIVITY_TASK && node->run_asynchronously);
}

int pawl__background_wait(struct pawl_context *context)
{
    struct pawl_bookmark_args args = {
        .name = PAWL_BOOKMARK_BACKGROUND, .payload = pawl__json_object(), .no_auto_complete = true};
    struct pawl_arena *arena = &context->burst->arena;
    struct pawl_str job_id = pawl__new_guid(context);
    int status = job_id.len > 0 ? PAWL_OK : pawl__arena_status(arena);

    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, &args.payload, "jobId", pawl__json_string(job_id));
    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, &args.payload, "_type",
                                     pawl__json_string(pawl__str(PAWL_STIMULUS_JOB_TYPE)));
    return status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : status;
}

int pawl__background_run(struct pawl_context *context)
{
    const struct pawl_activity *activity = context->node->activity;
    struct pawl_burst *burst = context->burst;

    if (burst->job_answered) {
        burst->job_answered = false;
        /* A result for a type that has no use for one: of another version of the definition. */
        return activity->effect_done ? activity->effect_done(context, &burst->fed) : PAWL_OK;
    }
    return activity->execute ? activity->execute(context) : PAWL_OK;
}

/* Looking whether a definition is there takes none: that is awaited as elsewhere. */
bool pawl__background_detaches(const struct pawl_context *context)
{
    const struct pawl_burst *burst = context->burst;
    const struct pawl_effect *effect = &burst->awaited;

    if (!burst->job || !burst->resumed ||
        !pawl__str_equal(burst->resumed->activity_instance_id, context->id))
        return false;
    return effect->kind == PAWL_EFFECT_HTTP ||
           (effect->kind == PAWL_EFFECT_CHILD &&
            pawl__str_is(pawl__json_str(pawl__json_get_text(&effect->data, "mode")), "execute"));
}

/* "Resumed" comes with the result: the entry of now goes, and those behind it move up. */
static void forget_resumed(struct pawl_burst *burst)
{
    uint32_t at = burst->job_logged - 1;

    if (burst->job_logged == 0 || at >= burst->log.count)
        return;
    memmove(burst->log.items + at, burst->log.items + at + 1,
            (burst->log.count - at - 1) * sizeof *burst->log.items);
    burst->log.count--;
    burst->log_sequence--;
    for (uint32_t i = at; i < burst->log.count; i++)
        burst->log.items[i].sequence--;
}

int pawl__background_detach(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;
    int status = VECTOR_GROW(burst, &burst->effects);

    if (status != PAWL_OK)
        return status;
    burst->awaited.job_id = burst->resumed->id;
    burst->effects.items[burst->effects.count++] = burst->awaited;
    burst->awaiting = false;
    /* The bookmark stays: nothing of this burst has resumed it. */
    burst->resumed = NULL;
    burst->job = false;
    forget_resumed(burst);
    return PAWL_OK;
}
