/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands on a lock service share. */
#ifndef PAWL_CLI_CMD_LOCK_H
#define PAWL_CLI_CMD_LOCK_H

#include "cli/commands.h"
#include "cli/configure.h"
#include "locks/providers.h"

struct pawl_cli_lock {
    struct pawl_configuration configuration;
    const char *uri;
    struct pawl_lock_provider_options options;
    struct pawl_lock_provider *provider;
};

/* By `uri`, or NULL for the setting `lock`. On failure there is nothing to close. */
PAWL_MUST_CHECK int pawl__cli_lock_open(struct pawl_cli *cli, const char *uri,
                                        struct pawl_cli_lock *out, struct pawl_error *err);
void pawl__cli_lock_close(struct pawl_cli_lock *lock);

#endif
