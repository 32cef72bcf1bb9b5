/* SPDX-License-Identifier: Apache-2.0 */
/* Views of timers; see timers.h. */
#include "views/timers.h"

static void put_trigger(struct pawl_builder *b, const struct pawl_timer *timer,
                        struct pawl_json *out)
{
    pawl__view_text(b, out, "triggerId", timer->work->name);
    if (!timer->trigger)
        return;
    pawl__view_text(b, out, "definitionId", timer->trigger->definition_id);
    pawl__view_text(b, out, "activityType", timer->trigger->name);
    pawl__view_text(b, out, "activityId", timer->trigger->activity_id);
    pawl__view_bytes(b, out, "payload", timer->trigger->payload);
}

static void put_bookmark(struct pawl_builder *b, const struct pawl_timer *timer,
                         struct pawl_json *out)
{
    pawl__view_text(b, out, "instanceId", timer->work->instance_id);
    if (timer->instance)
        pawl__view_text(b, out, "definitionId", timer->instance->definition_id);
    if (timer->bookmark) {
        pawl__view_text(b, out, "activityType", timer->bookmark->name);
        pawl__view_text(b, out, "activityId", timer->bookmark->activity_id);
        pawl__view_bytes(b, out, "payload", timer->bookmark->payload);
    }
    pawl__view_optional(b, out, "bookmarkId", timer->work->bookmark_id);
}

struct pawl_json pawl__view_timer(struct pawl_builder *b, const struct pawl_timer *timer)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_time(b, &out, "dueAt", timer->work->due_us);
    pawl__build_bool(b, &out, "isOverdue", timer->is_overdue);
    pawl__build_name(b, &out, "of", timer->is_tick ? "trigger" : "instance");
    if (timer->is_tick)
        put_trigger(b, timer, &out);
    else
        put_bookmark(b, timer, &out);
    pawl__build_int(b, &out, "attempts", timer->work->attempts);
    pawl__view_optional(b, &out, "error", timer->work->error);
    return out;
}
