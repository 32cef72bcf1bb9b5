/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of `pawl store` share: opening the store that was named, sizes for people.
 */
#ifndef PAWL_CLI_STORE_H
#define PAWL_CLI_STORE_H

#include "cli/command.h"

#include <pawl/ext/store.h>

extern const struct pawl_cli_command pawl__cli_store_backup;
extern const struct pawl_cli_command pawl__cli_store_restore;

/*
 * Opens the store whose URI is operand number `operand`, or the configured one when there are not
 * so many. `flags` are PAWL_STORE_OPEN_…; *shown (in the arena) is its URI without passwords.
 */
PAWL_MUST_CHECK int pawl__cli_open_store(struct pawl_cli *cli, size_t operand, uint32_t flags,
                                         struct pawl_store **out, const char **shown,
                                         struct pawl_error *err);

/* The mode of files that are made: the setting file.mode. */
PAWL_MUST_CHECK int pawl__cli_file_mode(struct pawl_cli *cli, uint32_t *out,
                                        struct pawl_error *err);

/* What to do about an error of either. */
const char *pawl__cli_store_hint(int code);

#define PAWL_CLI_SIZE_TEXT 32
/* "12.3 MB" */
const char *pawl__cli_size_text(uint64_t size_bytes, char out[PAWL_CLI_SIZE_TEXT]);

#endif
