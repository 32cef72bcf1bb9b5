/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this library. */
#include <pawl/version.h>

const char *pawl_version(void)
{
    return PAWL_VERSION;
}
