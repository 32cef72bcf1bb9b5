/* SPDX-License-Identifier: Apache-2.0 */
/* Views of dead letters; see letters.h. */
#include "views/letters.h"

struct pawl_json pawl__view_letter(struct pawl_builder *b, const struct pawl_dead_letter_row *row)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", row->id);
    pawl__view_text(b, &out, "tenantId", pawl__str(""));
    pawl__view_text(b, &out, "originalQueueItemId", row->work_id);
    pawl__view_optional(b, &out, "workflowInstanceId", row->instance_id);
    pawl__view_optional(b, &out, "correlationId", row->correlation_id);
    pawl__view_optional(b, &out, "bookmarkId", row->bookmark_id);
    pawl__view_optional(b, &out, "stimulusHash", row->hash);
    pawl__view_optional(b, &out, "activityInstanceId", row->activity_instance_id);
    pawl__view_time(b, &out, "originalCreatedAt", row->created_us);
    pawl__view_time(b, &out, "deadLetteredAt", row->dead_us);
    pawl__view_text(b, &out, "reason", row->reason);
    pawl__build_int(b, &out, "deliveryAttempts", row->attempts);
    if (row->attempted_us != 0)
        pawl__view_time(b, &out, "lastAttemptedAt", row->attempted_us);
    pawl__view_optional(b, &out, "lastErrorMessage", row->error);
    pawl__build_bool(b, &out, "canReplay", row->can_replay && row->replayed_us == 0);
    if (row->replayed_us != 0)
        pawl__view_time(b, &out, "replayedAt", row->replayed_us);
    pawl__view_optional(b, &out, "replayedQueueItemId", row->replayed_id);
    pawl__view_text(b, &out, "kind", row->kind);
    return out;
}

struct pawl_json pawl__view_letter_whole(struct pawl_builder *b,
                                         const struct pawl_dead_letter_row *row)
{
    struct pawl_json out = pawl__view_letter(b, row);

    pawl__view_bytes(b, &out, "payload", row->payload);
    return out;
}

struct pawl_json pawl__view_letter_replay(struct pawl_builder *b, bool replayed,
                                          struct pawl_str work_id)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_bool(b, &out, "replayed", replayed);
    pawl__view_optional(b, &out, "queueItemId", work_id);
    if (!replayed)
        pawl__build_name(b, &out, "reason", "NotReplayable");
    return out;
}

struct pawl_json pawl__view_retention(struct pawl_builder *b,
                                      const struct pawl_retention_result *gone)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_int(b, &out, "finished", (int64_t)gone->finished);
    pawl__build_int(b, &out, "cancelled", (int64_t)gone->cancelled);
    pawl__build_int(b, &out, "faulted", (int64_t)gone->faulted);
    pawl__build_int(b, &out, "deadLetters", (int64_t)gone->dead_letters);
    pawl__build_int(b, &out, "reservations", (int64_t)gone->reservations);
    pawl__build_int(b, &out, "audit", (int64_t)gone->audit);
    return out;
}
