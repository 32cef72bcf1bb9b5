/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAWL_ACTIVITIES_CONSOLE_H
#define PAWL_ACTIVITIES_CONSOLE_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_write_line;
extern const struct pawl_activity pawl__activity_read_line;

#endif
