/* SPDX-License-Identifier: Apache-2.0 */
/* Activities that choose which activity runs. */
#ifndef PAWL_ACTIVITIES_BRANCHING_H
#define PAWL_ACTIVITIES_BRANCHING_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_if;
extern const struct pawl_activity pawl__activity_switch;

#endif
