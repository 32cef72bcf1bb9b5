/* SPDX-License-Identifier: Apache-2.0 */
/* Activities that wait for a time. */
#ifndef PAWL_ACTIVITIES_SCHEDULING_H
#define PAWL_ACTIVITIES_SCHEDULING_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_delay;
extern const struct pawl_activity pawl__activity_timer;
extern const struct pawl_activity pawl__activity_cron;
extern const struct pawl_activity pawl__activity_start_at;

#endif
