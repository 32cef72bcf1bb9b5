/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands on a lock service share. */
#ifndef PAWL_CLI_CMD_LOCK_H
#define PAWL_CLI_CMD_LOCK_H

#include "cli/commands.h"
#include "cli/session/configure.h"
#include "operations/operation.h"

/*
 * Calls `body` with an operation whose host is not started (operations/locks.h) and which has so
 * long, and reports what fails before.
 */
int pawl__cli_with_locks(struct pawl_cli *cli, int64_t span_ns,
                         int (*body)(struct pawl_cli *cli, const struct pawl_op *op));

#endif
