/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions from a folder: every *.json in it, by name. */
#ifndef PAWL_HOST_FOLDER_PROVIDER_H
#define PAWL_HOST_FOLDER_PROVIDER_H

#include "runtime/definitions/refresher.h"

/* Of one file. */
#define PAWL_FOLDER_FILE_MAX ((size_t)64 << 20)

/* Borrows env, copies the path. Reads nothing yet. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__folder_provider_new(struct pawl_env *env, const char *path,
                                              struct pawl_definition_provider **out,
                                              struct pawl_error *err);

#endif
