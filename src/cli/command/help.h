/* SPDX-License-Identifier: Apache-2.0 */
/* Help made from the descriptors, and topics beside the commands. */
#ifndef PAWL_CLI_COMMAND_HELP_H
#define PAWL_CLI_COMMAND_HELP_H

#include "cli/command/command.h"

struct pawl_cli_topic {
    const char *name; /* NULL ends the list */
    const char *summary;
    const char *text;                        /* or, where it is made from a table: */
    void (*write)(struct pawl_cli_stream *); /* (NULL otherwise) */
};
extern const struct pawl_cli_topic pawl__cli_topics[];

/* The usage line: "usage: pawl run [OPTIONS] FILE". */
void pawl__cli_help_usage(struct pawl_cli *cli, struct pawl_cli_stream *stream,
                          const struct pawl_cli_command *const *path, size_t path_len);

/* The whole help of the last command of the path. */
void pawl__cli_help_command(struct pawl_cli *cli, struct pawl_cli_stream *stream,
                            const struct pawl_cli_command *const *path, size_t path_len);

#endif
