/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a command: from the command line, the environment variables and a file. A
 * command that wants one has these rows in its table of options.
 */
#ifndef PAWL_CLI_SESSION_CONFIGURE_H
#define PAWL_CLI_SESSION_CONFIGURE_H

#include "cli/command/command.h"
#include "host/configuration.h"

/* clang-format off */
/* For a command that stores nothing. */
#define PAWL_CLI_SETTINGS_OPTIONS                                                                  \
    {.name = "config",                                                                             \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "FILE",                                                                                \
     .help = "Read settings from FILE, not from ~/.config/pawl/pawl.conf and ./pawl.conf"},        \
    {.name = "set",                                                                                \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "NAME=VALUE",                                                                          \
     .help = "Set one of those that 'pawl help settings' lists",                                   \
     .repeatable = true}

/* For a command on a store. */
#define PAWL_CLI_CONFIGURE_OPTIONS                                                                 \
    PAWL_CLI_SETTINGS_OPTIONS,                                                                     \
    {.name = "store",                                                                              \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "URI",                                                                                 \
     .help = "The store: memory:, sqlite:PATH or postgres://... (default sqlite:pawl.db)"},        \
    {.name = "lock",                                                                               \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "URI",                                                                                 \
     .help = "The lock service of a cluster (default: the store's own)",                           \
     .may_be_empty = true},                                                                        \
    {.name = "distributed",                                                                        \
     .kind = PAWL_CLI_FLAG,                                                                        \
     .help = "Several nodes share the store"}

/* Of commands that run instances. */
#define PAWL_CLI_WORKERS_OPTION                                                                    \
    {.name = "workers",                                                                            \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "N",                                                                                   \
     .help = "Instances that run at a time (default auto: one per core)"}
/* clang-format on */

/*
 * Fills `out` (release it) from all sources, and sets the level and format of the log by it. On
 * failure there is nothing to release.
 */
PAWL_MUST_CHECK int pawl__cli_configure(struct pawl_cli *cli, struct pawl_configuration *out,
                                        struct pawl_error *err);

/* What to do about an error of it. */
const char *pawl__cli_configure_hint(int code);

#endif
