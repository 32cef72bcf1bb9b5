/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a store again and again, until Ctrl-C. */
#ifndef PAWL_CLI_COMMAND_WATCH_H
#define PAWL_CLI_COMMAND_WATCH_H

#include "cli/session/session.h"

/* clang-format off */
#define PAWL_CLI_INTERVAL_OPTION                                                                   \
    {.name = "interval",                                                                           \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "TIME",                                                                                \
     .help = "Look again after TIME: 500ms, 2s (the default), 1m"}
/* clang-format on */

/*
 * Opens a session and calls `look` every --interval until SIGINT or SIGTERM, and once when `once`.
 * If the store is unavailable, that is reported and retried. Returns the exit code.
 */
int pawl__cli_watch(struct pawl_cli *cli, bool once,
                    int (*look)(struct pawl_cli_session *session, void *ctx,
                                struct pawl_error *err),
                    void *ctx);

/* Whether standard output is a terminal: what is shown replaces what was. */
bool pawl__cli_watch_in_place(const struct pawl_cli *cli);
/* Before each look that replaces the last. */
void pawl__cli_watch_clear(struct pawl_cli *cli);

#endif
