/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAWL_ACTIVITIES_EVENTS_H
#define PAWL_ACTIVITIES_EVENTS_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_event;
extern const struct pawl_activity pawl__activity_publish_event;

#endif
