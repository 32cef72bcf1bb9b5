/* SPDX-License-Identifier: Apache-2.0 */
/* States, and transitions between them that wait for triggers. */
#ifndef PAWL_ACTIVITIES_STATE_MACHINE_H
#define PAWL_ACTIVITIES_STATE_MACHINE_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_state_machine;

#endif
