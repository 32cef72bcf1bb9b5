/* SPDX-License-Identifier: Apache-2.0 */
/* Views of dead letters. */
#ifndef PAWL_VIEWS_LETTERS_H
#define PAWL_VIEWS_LETTERS_H

#include "operations/letters.h"
#include "operations/retention.h"
#include "views/view.h"

/*
 * A dead letter of the bookmark queue: id, tenantId, originalQueueItemId, workflowInstanceId?,
 * correlationId?, bookmarkId?, stimulusHash?, activityInstanceId?, originalCreatedAt,
 * deadLetteredAt, reason, deliveryAttempts, lastAttemptedAt?, lastErrorMessage?, canReplay,
 * replayedAt?, replayedQueueItemId?; and of Pawl's own: kind. Pawl keeps no type of the last error
 * and of activities.
 */
struct pawl_json pawl__view_letter(struct pawl_builder *b, const struct pawl_dead_letter_row *row);
/* The same with its payload. */
struct pawl_json pawl__view_letter_whole(struct pawl_builder *b,
                                         const struct pawl_dead_letter_row *row);
/*
 * What came of replaying one: replayed, queueItemId?, reason?. `work_id` of one that was replayed
 * before is that of the first time; "": it never was.
 */
struct pawl_json pawl__view_letter_replay(struct pawl_builder *b, bool replayed,
                                          struct pawl_str work_id);
/* finished, cancelled, faulted, deadLetters, reservations, audit. */
struct pawl_json pawl__view_retention(struct pawl_builder *b,
                                      const struct pawl_retention_result *gone);

#endif
