/* SPDX-License-Identifier: Apache-2.0 */
/* Views of what was sent, and of tasks. */
#ifndef PAWL_VIEWS_STIMULI_H
#define PAWL_VIEWS_STIMULI_H

#include "operations/tasks.h"
#include "views/view.h"

/* started, resumed, parked. */
struct pawl_json pawl__view_sent(struct pawl_builder *b, const struct pawl_send_result *sent);
/* taskId, taskName, instanceId, definitionId?, activityId, bookmarkId, correlationId?, since,
 * payload. */
struct pawl_json pawl__view_task(struct pawl_builder *b, const struct pawl_task *task);

#endif
