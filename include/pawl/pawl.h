/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one header for users of libpawl. People who write backends include what they implement from
 * pawl/ext/ besides. All headers are C99 and C++ clean.
 */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include <pawl/activity.h>
#include <pawl/error.h>
#include <pawl/runtime.h>
#include <pawl/version.h>

#endif
