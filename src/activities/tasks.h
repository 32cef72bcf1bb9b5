/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is done externally; the effect is described in tasks.c. */
#ifndef PAWL_ACTIVITIES_TASKS_H
#define PAWL_ACTIVITIES_TASKS_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_run_task;

#endif
