/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the times that a definition gives, when it is loaded. */
#ifndef PAWL_ACTIVITIES_SCHEDULING_LOAD_H
#define PAWL_ACTIVITIES_SCHEDULING_LOAD_H

#include "engine/activity.h"

/* Load functions of the activities in scheduling.c; each has one input. PAWL_OK, PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__delay_load(struct pawl_loader *loader, struct pawl_node *node);
PAWL_MUST_CHECK int pawl__timer_load(struct pawl_loader *loader, struct pawl_node *node);
PAWL_MUST_CHECK int pawl__cron_load(struct pawl_loader *loader, struct pawl_node *node);
PAWL_MUST_CHECK int pawl__start_at_load(struct pawl_loader *loader, struct pawl_node *node);

#endif
