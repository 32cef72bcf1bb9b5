/* SPDX-License-Identifier: Apache-2.0 */
/* RunJavaScript. */
#ifndef PAWL_ACTIVITIES_JAVASCRIPT_H
#define PAWL_ACTIVITIES_JAVASCRIPT_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_run_javascript;

#endif
