/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: bookmarks and triggers that time alone resumes or fires. */
#include "runtime/memory_private.h"

#include "base/cron.h"
#include "base/datetime.h"
#include "base/duration.h"
#include "base/error.h"

/* The instant in a payload; INT64_MAX when there is none. */
static int64_t instant(const struct pawl_json *payload, const char *key)
{
    const struct pawl_json *text = pawl__json_get_nocase(payload, pawl__str(key));
    struct pawl_datetime at;

    if (pawl__datetime_parse(pawl__json_str(text), &at, NULL) != PAWL_OK)
        return INT64_MAX;
    return pawl__datetime_utc_ticks(at);
}

int64_t pawl__memory_bookmark_due(const struct pawl_json *bookmark)
{
    struct pawl_str name = memory_text(bookmark, "name");
    const struct pawl_json *payload = pawl__json_get_text(bookmark, "payload");

    if (pawl__str_is(name, "Elsa.Delay") || pawl__str_is(name, "Elsa.Timer"))
        return instant(payload, "resumeAt");
    if (pawl__str_is(name, "Elsa.StartAt") || pawl__str_is(name, "Elsa.Cron"))
        return instant(payload, "executeAt");
    return INT64_MAX;
}

static int64_t cron_next(const struct pawl_json *payload, int64_t now)
{
    struct pawl_str text =
        pawl__json_str(pawl__json_get_nocase(payload, pawl__str("cronExpression")));
    struct pawl_cron cron;
    int64_t next;

    if (pawl__cron_parse(text, &cron, NULL, NULL) != PAWL_OK ||
        !pawl__cron_next(&cron, NULL, now, &next))
        return INT64_MAX;
    return next;
}

int64_t pawl__memory_trigger_due(const struct pawl_trigger *trigger, int64_t now)
{
    if (pawl__str_is(trigger->name, "Elsa.Timer"))
        return instant(&trigger->payload, "startAt");
    if (pawl__str_is(trigger->name, "Elsa.StartAt"))
        return instant(&trigger->payload, "executeAt");
    if (pawl__str_is(trigger->name, "Elsa.Cron"))
        return cron_next(&trigger->payload, now);
    return INT64_MAX;
}

/* When it fires again after it fired at `now`. */
static int64_t due_again(const struct pawl_trigger *trigger, int64_t now)
{
    const struct pawl_json *text = pawl__json_get_nocase(&trigger->payload, pawl__str("interval"));
    int64_t interval;

    if (pawl__str_is(trigger->name, "Elsa.Cron"))
        return cron_next(&trigger->payload, now);
    if (!pawl__str_is(trigger->name, "Elsa.Timer") ||
        pawl__duration_parse_constant(pawl__json_str(text), &interval, NULL) != PAWL_OK ||
        interval <= 0 || interval > PAWL_DATETIME_TICKS_MAX - now)
        return INT64_MAX;
    return now + interval;
}

static void sooner(int64_t *due, int64_t other)
{
    if (other < *due)
        *due = other;
}

bool pawl__memory_next_due(const struct pawl_memory *memory, int64_t *due)
{
    const struct pawl_memory_definition *definition;
    const struct pawl_memory_instance *instance;
    int64_t next = INT64_MAX;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        for (uint32_t i = 0; i < definition->trigger_count; i++)
            sooner(&next, definition->triggers[i].due);
    }
    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, memory)
    {
        const struct pawl_json *bookmarks = pawl__json_get_text(&instance->state, "bookmarks");

        for (uint32_t i = 0; !instance->is_final && i < pawl__json_len(bookmarks); i++)
            sooner(&next, pawl__memory_bookmark_due(pawl__json_at(bookmarks, i)));
    }
    if (next != INT64_MAX)
        *due = next;
    return next != INT64_MAX;
}

static int fire_triggers(struct pawl_memory *memory, struct pawl_memory_definition *definition,
                         int64_t now)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < definition->trigger_count && status == PAWL_OK; i++) {
        struct pawl_memory_trigger *trigger = &definition->triggers[i];
        const struct pawl_memory_start start = {
            .definition = definition,
            .trigger_activity_id = trigger->trigger.activity_id,
            .input = trigger->trigger.payload,
        };

        if (trigger->due > now)
            continue;
        status = pawl__memory_push_start(memory, &start);
        trigger->due = due_again(&trigger->trigger, now);
    }
    return status;
}

static int fire_bookmarks(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                          int64_t now)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(&instance->state, "bookmarks");
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && status == PAWL_OK; i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__memory_bookmark_due(bookmark) <= now)
            status =
                pawl__memory_push_resume(memory, instance, memory_text(bookmark, "id"), NULL, true);
    }
    return status;
}

/* All that is due is queued before anything runs: a timer set again for the past comes later. */
int pawl__memory_run_due(struct pawl_memory *memory, struct pawl_error *err)
{
    int64_t now = pawl__memory_time(memory);
    struct pawl_memory_definition *definition;
    struct pawl_memory_instance *instance;
    int status = PAWL_OK;

    PAWL_LIST_FOR_EACH (definition, &memory->definitions, link) {
        if (status == PAWL_OK)
            status = fire_triggers(memory, definition, now);
    }
    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, memory)
    {
        if (status == PAWL_OK && !instance->is_final)
            status = fire_bookmarks(memory, instance, now);
    }
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    return pawl__memory_drain(memory, err);
}
