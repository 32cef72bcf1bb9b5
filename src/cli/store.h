/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of `pawl store` share: which store was named, sizes for people. */
#ifndef PAWL_CLI_STORE_H
#define PAWL_CLI_STORE_H

#include "cli/command/command.h"
#include "operations/operation.h"

extern const struct pawl_cli_command pawl__cli_store_backup;
extern const struct pawl_cli_command pawl__cli_store_restore;

/*
 * Calls `body` with an operation whose host is not started (operations/store.h) and the URI that is
 * operand number `operand`; "": not so many operands, so the setting `store`. Returns its exit
 * code, or that of a configuration that cannot be read.
 */
int pawl__cli_with_store(struct pawl_cli *cli, size_t operand,
                         int (*body)(struct pawl_cli *cli, const struct pawl_op *op,
                                     struct pawl_str uri));

/* What to do about an error of a store that was named. */
const char *pawl__cli_store_hint(int code);

#define PAWL_CLI_SIZE_TEXT 32
/* "12.3 MB" */
const char *pawl__cli_size_text(uint64_t size_bytes, char out[PAWL_CLI_SIZE_TEXT]);

#endif
