/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that wait for a time. Each makes a bookmark whose payload says when; whoever keeps the
 * timers resumes it then. None of them ever waits in the process.
 */
#include "activities/scheduling.h"

#include "activities/descriptor.h"
#include "activities/scheduling_load.h"
#include "base/stimuli.h"
#include "base/time/cron.h"
#include "base/time/duration.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "engine/engine.h"

/* A TimeSpan input in ticks; nothing is no time at all. */
static int64_t span_ticks(const struct pawl_context *context, const char *name)
{
    int64_t ticks;

    return pawl__duration_parse_constant(pawl__input_str(context, name), &ticks, NULL) == PAWL_OK
               ? ticks
               : 0;
}

/* now + span; a fault when that is no date any more. */
static int later(struct pawl_context *context, int64_t span, int64_t *out)
{
    int64_t at;

    if (__builtin_add_overflow(pawl__now(context), span, &at) || at < 0 ||
        at > PAWL_DATETIME_TICKS_MAX)
        return pawl__raise(context, "ArgumentOutOfRangeException",
                           "The added or subtracted value results in an un-representable "
                           "DateTime.");
    *out = at;
    return PAWL_OK;
}

static int wait_until(struct pawl_context *context, int64_t ticks, const char *payload_type,
                      const char *callback)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {.callback = callback, .payload = pawl__json_object()};

    pawl__build_time(&b, &args.payload, "resumeAt", ticks);
    pawl__build_name(&b, &args.payload, "_type", payload_type);
    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

/* ---- Delay ------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor delay_inputs[] = {
    {
        .name = "TimeSpan",
        .type = &pawl__type_timespan,
        .default_json = "\"00:01:00\"",
        .description = "How long to wait.",
        .ui_hint = "singleline",
    },
};

static int delay_execute(struct pawl_context *context)
{
    int64_t at = 0;
    int status = later(context, span_ticks(context, "TimeSpan"), &at);

    return status == PAWL_OK ? wait_until(context, at, "DelayPayload", NULL) : status;
}

const struct pawl_activity pawl__activity_delay = {
    .type = PAWL_STIMULUS_DELAY,
    .version = 1,
    .category = "Scheduling",
    .description = "Waits for some time.",
    PAWL_INPUTS(delay_inputs),
    .load = pawl__delay_load,
    .execute = delay_execute,
};

/* ---- Timer ------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor timer_inputs[] = {
    {
        .name = "Interval",
        .type = &pawl__type_timespan,
        .default_json = "\"00:01:00\"",
        .description = "How long from one time to the next.",
        .ui_hint = "singleline",
    },
};

/* An interval that is shorter than the least one (engine.h) is raised to it. */
static int after_interval(struct pawl_context *context, bool *raised, int64_t *at)
{
    int64_t least = pawl__context_engine(context)->timer_interval_min;
    int64_t span = span_ticks(context, "Interval");

    *raised = span < least;
    return later(context, *raised ? least : span, at);
}

static int timer_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    bool raised = false;
    int64_t at = 0;
    int status;

    if (pawl__is_trigger_of_run(context))
        return pawl__complete(context, NULL);
    status = after_interval(context, &raised, &at);
    if (status == PAWL_OK && raised) {
        pawl__build_name(&b, &context->journal, "Warning",
                         "The interval was raised to the least one (timer.interval.min).");
        status = b.status;
    }
    if (status == PAWL_OK)
        status = wait_until(context, at, "TimerBookmarkPayload", "TimerElapsedAsync");
    return status;
}

static int timer_elapsed(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    (void)bookmark;
    return pawl__complete(context, NULL);
}

static int timer_triggers(struct pawl_context *context, struct pawl_json *payloads)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json payload = pawl__json_object();
    struct pawl_value interval = pawl__input(context, "Interval");
    bool raised = false;
    int64_t at = 0;
    int status = after_interval(context, &raised, &at);

    if (status != PAWL_OK)
        return status;
    /* The interval as given: the code that fires the trigger raises it too. */
    pawl__build_time(&b, &payload, "startAt", at);
    pawl__build(&b, &payload, "interval", interval.json);
    pawl__build_name(&b, &payload, "_type", "TimerTriggerPayload");
    pawl__build_append(&b, payloads, payload);
    return b.status;
}

static const struct pawl_resume_callback timer_resumes[] = {
    {"TimerElapsedAsync", timer_elapsed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_timer = {
    .type = PAWL_STIMULUS_TIMER,
    .version = 1,
    .kind = PAWL_ACTIVITY_TRIGGER,
    .category = "Scheduling",
    .description = "Starts a workflow at intervals, or waits for one interval.",
    PAWL_INPUTS(timer_inputs),
    .load = pawl__timer_load,
    .execute = timer_execute,
    .triggers = timer_triggers,
    .trigger_name = PAWL_STIMULUS_TIMER,
    .resumes = timer_resumes,
};

/* ---- Cron -------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor cron_inputs[] = {
    {
        .name = "CronExpression",
        .type = &pawl__type_string,
        .description = "When, as second minute hour day month weekday, in UTC.",
        .ui_hint = "singleline",
    },
};

static int cron_next(struct pawl_context *context, struct pawl_str text, int64_t *at)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_cron cron;

    if (pawl__cron_parse(text, &cron, NULL, &err) != PAWL_OK)
        return pawl__raise(context, "CronFormatException", "%s", err.msg);
    if (!pawl__cron_next(&cron, NULL, pawl__now(context), at))
        return pawl__raise(context, "InvalidOperationException",
                           "The cron expression '%.*s' means a time that never comes.",
                           PAWL_STR_ARG(text));
    return PAWL_OK;
}

static int cron_execute(struct pawl_context *context)
{
    struct pawl_str text = pawl__input_str(context, "CronExpression");
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {.payload = pawl__json_object()};
    int64_t at = 0;
    int status;

    if (pawl__is_trigger_of_run(context))
        return pawl__complete(context, NULL);
    status = cron_next(context, text, &at);
    if (status != PAWL_OK)
        return status;
    pawl__build_time(&b, &args.payload, "executeAt", at);
    pawl__build_text(&b, &args.payload, "cronExpression", text);
    pawl__build_name(&b, &args.payload, "_type", "CronBookmarkPayload");
    pawl__build_time(&b, &context->journal, "ExecuteAt", at);
    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

static int cron_triggers(struct pawl_context *context, struct pawl_json *payloads)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json payload = pawl__json_object();

    pawl__build(&b, &payload, "cronExpression",
                pawl__json_string(pawl__input_str(context, "CronExpression")));
    pawl__build_name(&b, &payload, "_type", "CronTriggerPayload");
    pawl__build_append(&b, payloads, payload);
    return b.status;
}

const struct pawl_activity pawl__activity_cron = {
    .type = PAWL_STIMULUS_CRON,
    .version = 1,
    .kind = PAWL_ACTIVITY_TRIGGER,
    .category = "Scheduling",
    .description = "Starts a workflow, or goes on with it, at times given by a cron expression.",
    PAWL_INPUTS(cron_inputs),
    .load = pawl__cron_load,
    .execute = cron_execute,
    .triggers = cron_triggers,
};

/* ---- StartAt ----------------------------------------------------------------------------- */

static const struct pawl_input_descriptor start_at_inputs[] = {
    {.name = "DateTime", .type = &pawl__type_datetimeoffset, .ui_hint = "singleline"},
};

static struct pawl_json start_at_payload(struct pawl_builder *b, const struct pawl_context *context)
{
    struct pawl_json payload = pawl__json_object();

    /* As it was given, offset and all. */
    pawl__build(b, &payload, "executeAt", pawl__input(context, "DateTime").json);
    pawl__build_name(b, &payload, "_type", "StartAtPayload");
    return payload;
}

/* Nothing is long past. */
static bool is_past(const struct pawl_context *context)
{
    struct pawl_datetime at;

    return pawl__datetime_parse(pawl__input_str(context, "DateTime"), &at, NULL) != PAWL_OK ||
           pawl__datetime_utc_ticks(at) <= pawl__now(context);
}

static int start_at_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_bookmark_args args = {.name = NULL};

    if (pawl__is_trigger_of_run(context))
        return pawl__complete(context, NULL);
    pawl__build_time(&b, &context->journal, "Executed At", pawl__now(context));
    if (b.status == PAWL_OK && is_past(context))
        return pawl__complete(context, NULL);
    args.payload = start_at_payload(&b, context);
    return b.status == PAWL_OK ? pawl__bookmark_create(context, &args, NULL) : b.status;
}

static int start_at_triggers(struct pawl_context *context, struct pawl_json *payloads)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};

    pawl__build_append(&b, payloads, start_at_payload(&b, context));
    return b.status;
}

const struct pawl_activity pawl__activity_start_at = {
    .type = PAWL_STIMULUS_START_AT,
    .version = 1,
    .kind = PAWL_ACTIVITY_TRIGGER,
    .category = "Scheduling",
    .display_name = "Start at",
    .description = "Starts a workflow, or goes on with it, at a certain time.",
    PAWL_INPUTS(start_at_inputs),
    .load = pawl__start_at_load,
    .execute = start_at_execute,
    .triggers = start_at_triggers,
};
