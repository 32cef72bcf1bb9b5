/* SPDX-License-Identifier: Apache-2.0 */
/* Which libpawl this is: at compile time by macro, at run time by call. */
#ifndef PAWL_VERSION_H
#define PAWL_VERSION_H

#include <pawl/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 1
#define PAWL_VERSION_PATCH 0
#define PAWL_VERSION "0.1.0"

/* PAWL_VERSION of the loaded library, which may be newer than this header. */
PAWL_API const char *pawl_version(void);

#ifdef __cplusplus
}
#endif
#endif
