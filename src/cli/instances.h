/* SPDX-License-Identifier: Apache-2.0 */
/* How commands show instances. */
#ifndef PAWL_CLI_INSTANCES_H
#define PAWL_CLI_INSTANCES_H

#include "cli/session.h"

/*
 * One instance: a line, what it waits for and what went wrong; with session->as_json its state.
 * Answers the exit code: EXIT_FAILED when it has faulted.
 */
int pawl__cli_show_instance(struct pawl_cli_session *session, struct pawl_str instance_id,
                            struct pawl_error *err);

/* Of one that cannot be run: whether it is set aside or tried again, and why; after `before`.
 * Nothing of others. */
void pawl__cli_show_trouble(struct pawl_cli *cli, const char *before,
                            const struct pawl_instance_row *row);

#endif
