/* SPDX-License-Identifier: Apache-2.0 */
/* Events waited for and sent; the effect is described in events.c. */
#ifndef PAWL_ACTIVITIES_EVENTS_H
#define PAWL_ACTIVITIES_EVENTS_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_event;
extern const struct pawl_activity pawl__activity_publish_event;

#endif
