/* SPDX-License-Identifier: Apache-2.0 */
/* Activities that run a body again and again, and the one that stops them. */
#ifndef PAWL_ACTIVITIES_LOOPING_H
#define PAWL_ACTIVITIES_LOOPING_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_while;
extern const struct pawl_activity pawl__activity_for;
extern const struct pawl_activity pawl__activity_for_each;
extern const struct pawl_activity pawl__activity_parallel_for_each; /* parallel_for_each.c */
extern const struct pawl_activity pawl__activity_break;

#endif
