/* SPDX-License-Identifier: Apache-2.0 */
/* Containers that run a list of activities. */
#ifndef PAWL_ACTIVITIES_SEQUENCE_H
#define PAWL_ACTIVITIES_SEQUENCE_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_sequence;
extern const struct pawl_activity pawl__activity_parallel;
extern const struct pawl_activity pawl__activity_fork;

#endif
