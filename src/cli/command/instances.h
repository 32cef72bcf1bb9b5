/* SPDX-License-Identifier: Apache-2.0 */
/* How commands show instances. */
#ifndef PAWL_CLI_COMMAND_INSTANCES_H
#define PAWL_CLI_COMMAND_INSTANCES_H

#include "base/json/builder.h"
#include "cli/session/session.h"

struct pawl_instance_row;

/*
 * One instance: a line, what it waits for and what went wrong; with session->as_json its state.
 * Returns the exit code: EXIT_FAILED when it has faulted.
 */
int pawl__cli_show_instance(struct pawl_cli_session *session, struct pawl_str instance_id,
                            struct pawl_error *err);

/*
 * The same behind a change of it that is stored: if it cannot be read, its id is printed (with
 * session->as_json an object with the id alone), a note says why, and the exit code is that of what
 * is done.
 */
int pawl__cli_show_changed(struct pawl_cli_session *session, struct pawl_str instance_id,
                           struct pawl_error *err);

/* A document that was built, and a newline; returns the exit code. */
int pawl__cli_print_view(struct pawl_cli *cli, const struct pawl_builder *b,
                         const struct pawl_json *view);

/* Of one that cannot be run: whether it is set aside or tried again, and why; after `before`.
 * Nothing of others. */
void pawl__cli_show_trouble(struct pawl_cli *cli, const char *before,
                            const struct pawl_instance_row *row);

#endif
