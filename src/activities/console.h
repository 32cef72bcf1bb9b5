/* SPDX-License-Identifier: Apache-2.0 */
/* Lines written to and read from the console; the effects are described in console.c. */
#ifndef PAWL_ACTIVITIES_CONSOLE_H
#define PAWL_ACTIVITIES_CONSOLE_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_write_line;
extern const struct pawl_activity pawl__activity_read_line;

#endif
