/* SPDX-License-Identifier: Apache-2.0 */
/* Views of what was sent, and of tasks; see stimuli.h. */
#include "views/stimuli.h"

#include "base/stimuli.h"

struct pawl_json pawl__view_sent(struct pawl_builder *b, const struct pawl_send_result *sent)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_int(b, &out, "started", sent->started);
    pawl__build_int(b, &out, "resumed", sent->resumed);
    pawl__build_bool(b, &out, "parked", sent->parked);
    return out;
}

struct pawl_json pawl__view_task(struct pawl_builder *b, const struct pawl_task *task)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, PAWL_STIMULUS_TASK_ID, task->id);
    pawl__view_text(b, &out, PAWL_STIMULUS_TASK_NAME, task->name);
    pawl__view_text(b, &out, "instanceId", task->instance_id);
    pawl__view_optional(b, &out, "definitionId", task->definition_id);
    pawl__view_text(b, &out, "activityId", task->activity_id);
    pawl__view_text(b, &out, "bookmarkId", task->bookmark_id);
    pawl__view_optional(b, &out, "correlationId", task->correlation_id);
    pawl__view_time(b, &out, "since", task->since_us);
    pawl__build(b, &out, "payload", task->payload);
    return out;
}
