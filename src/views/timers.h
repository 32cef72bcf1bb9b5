/* SPDX-License-Identifier: Apache-2.0 */
/* Views of timers. */
#ifndef PAWL_VIEWS_TIMERS_H
#define PAWL_VIEWS_TIMERS_H

#include "operations/timers.h"
#include "views/view.h"

/*
 * dueAt, isOverdue, of ("instance", "trigger"), definitionId?, activityType?, activityId?,
 * payload?, attempts, error?; of an instance's instanceId, bookmarkId?; of a trigger's triggerId.
 */
struct pawl_json pawl__view_timer(struct pawl_builder *b, const struct pawl_timer *timer);

#endif
