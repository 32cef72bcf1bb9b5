/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `pawl definitions` share. */
#ifndef PAWL_CLI_CMD_DEFINITIONS_H
#define PAWL_CLI_CMD_DEFINITIONS_H

#include "base/json/builder.h"
#include "cli/commands.h"
#include "cli/session/session.h"
#include "operations/definitions.h"

extern const struct pawl_cli_command pawl__cli_definitions_publish;
extern const struct pawl_cli_command pawl__cli_definitions_retract;
extern const struct pawl_cli_command pawl__cli_definitions_revert;
extern const struct pawl_cli_command pawl__cli_definitions_rm;
extern const struct pawl_cli_command pawl__cli_definitions_consumers;
extern const struct pawl_cli_command pawl__cli_definitions_update;

/* The first operand. */
struct pawl_str pawl__cli_definitions_id(const struct pawl_cli_session *session);
/* Reports; returns the exit code. */
int pawl__cli_definitions_failed(struct pawl_cli_session *session, struct pawl_error *err);
/* Prints what was built, or reports that it could not be. */
int pawl__cli_definitions_print(struct pawl_cli_session *session, const struct pawl_builder *b,
                                const struct pawl_json *value, uint8_t indent,
                                struct pawl_error *err);
/* Of a definition that is published: what is wrong with it, to standard error. */
void pawl__cli_definitions_problems(struct pawl_cli *cli, const char *name,
                                    const struct pawl_problems *problems);

/* Publishes the files that the operands name; reports what is wrong. Returns the exit code. */
int pawl__cli_publish_operands(struct pawl_cli_session *session, struct pawl_error *err);

#endif
