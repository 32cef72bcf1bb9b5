/* SPDX-License-Identifier: Apache-2.0 */
/* Activities that do one thing to the instance, and placeholders. */
#ifndef PAWL_ACTIVITIES_PRIMITIVES_H
#define PAWL_ACTIVITIES_PRIMITIVES_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_set_variable;
extern const struct pawl_activity pawl__activity_set_name;
extern const struct pawl_activity pawl__activity_set_output;
extern const struct pawl_activity pawl__activity_correlate;
extern const struct pawl_activity pawl__activity_fault;
extern const struct pawl_activity pawl__activity_finish;
extern const struct pawl_activity pawl__activity_complete;
extern const struct pawl_activity pawl__activity_inline;
extern const struct pawl_activity pawl__activity_not_found;
extern const struct pawl_activity pawl__activity_dynamic;

#endif
