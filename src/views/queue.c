/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the queue, of faults and of settings; see queue.h. */
#include "views/queue.h"

struct pawl_json pawl__view_work(struct pawl_builder *b, const struct pawl_work_row *row,
                                 int64_t now_us)
{
    bool is_parked = row->due_us == PAWL_TIME_NEVER;
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", row->id);
    pawl__view_text(b, &out, "kind", row->kind);
    pawl__build_name(b, &out, "state",
                     is_parked              ? "parked"
                     : row->due_us > now_us ? "later"
                                            : "due");
    pawl__view_optional(b, &out, "name", row->name);
    pawl__view_optional(b, &out, "instanceId", row->instance_id);
    pawl__view_optional(b, &out, "definitionId", row->definition_id);
    pawl__view_optional(b, &out, "bookmarkId", row->bookmark_id);
    pawl__view_optional(b, &out, "correlationId", row->correlation_id);
    pawl__view_time(b, &out, "createdAt", row->created_us);
    pawl__view_time(b, &out, "dueAt", is_parked ? 0 : row->due_us);
    if (row->expires_us != 0 && row->expires_us != PAWL_TIME_NEVER)
        pawl__view_time(b, &out, "expiresAt", row->expires_us);
    pawl__build_int(b, &out, "attempts", row->attempts);
    if (row->attempted_us != 0)
        pawl__view_time(b, &out, "lastAttemptedAt", row->attempted_us);
    pawl__view_optional(b, &out, "error", row->error);
    pawl__build_bool(b, &out, "isTaken", row->owner != 0);
    return out;
}

struct pawl_json pawl__view_fault(struct pawl_builder *b, const struct pawl_fault_cause *cause)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "definitionId", cause->definition_id);
    pawl__view_text(b, &out, "activityId", cause->activity_id);
    pawl__view_text(b, &out, "activityType", cause->activity_type);
    pawl__view_optional(b, &out, "exceptionType", cause->exception_type);
    pawl__view_text(b, &out, "message", cause->message);
    pawl__build_int(b, &out, "incidents", (int64_t)cause->incidents);
    pawl__build_int(b, &out, "instances", (int64_t)cause->instances);
    pawl__view_text(b, &out, "lastInstanceId", cause->instance_id);
    pawl__view_time(b, &out, "lastAt", cause->last_us);
    return out;
}

struct pawl_json pawl__view_setting(struct pawl_builder *b,
                                    const struct pawl_setting_shown *setting)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_name(b, &out, "name", setting->name);
    pawl__view_text(b, &out, "value", setting->value);
    pawl__build_name(b, &out, "source", setting->source);
    pawl__view_text(b, &out, "place", pawl__str(setting->place ? setting->place : ""));
    return out;
}
