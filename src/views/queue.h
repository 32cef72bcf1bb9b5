/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the queue, of faults by cause and of settings; Pawl's own. */
#ifndef PAWL_VIEWS_QUEUE_H
#define PAWL_VIEWS_QUEUE_H

#include "operations/faults.h"
#include "operations/queue.h"
#include "operations/settings.h"
#include "views/view.h"

/*
 * id, kind, state ("due", "later", "parked"), name?, instanceId?, definitionId?, bookmarkId?,
 * correlationId?, createdAt, dueAt (null: parked), expiresAt?, attempts, lastAttemptedAt?, error?,
 * isTaken.
 */
struct pawl_json pawl__view_work(struct pawl_builder *b, const struct pawl_work_row *row,
                                 int64_t now_us);
/* definitionId, activityId, activityType, exceptionType?, message, incidents, instances,
 * lastInstanceId, lastAt. */
struct pawl_json pawl__view_fault(struct pawl_builder *b, const struct pawl_fault_cause *cause);
/* name, value, source, place. */
struct pawl_json pawl__view_setting(struct pawl_builder *b,
                                    const struct pawl_setting_shown *setting);

#endif
