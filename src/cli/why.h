/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an instance stands where it stands, as a document that needs no knowledge of how Pawl works:
 *
 *     instanceId, definitionId, version, status, subStatus, createdAt, updatedAt, finishedAt,
 *     cancelRequested
 *     summary       one sentence
 *     waitsFor      [{"for", "text", "since", "dueAt", "activityId", "bookmarkId", "command", …}]
 *     mail          [{"kind", "since", "dueAt", "attempts", "error", "because"}]
 *     heldBy        {"nodeId", "incarnation", "isAlive", "leaseEndsAt", "text"}; null: nobody
 *     lastIncident  {"activityId", "message", "timestamp"}; null: none
 *     deadLetters   how many of its pieces of work were given up
 *     commands      what one may type next, [{"to", "command"}]
 *
 * "text" and "because" are for people. "command" is a line for a shell.
 */
#ifndef PAWL_CLI_WHY_H
#define PAWL_CLI_WHY_H

#include "cli/session.h"

/* *out lives in cli->arena. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__cli_why_tell(struct pawl_cli_session *session,
                                       struct pawl_str instance_id, struct pawl_json *out,
                                       struct pawl_error *err);

#endif
