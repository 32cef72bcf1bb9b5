/* SPDX-License-Identifier: Apache-2.0 */
/* The view of why an instance does not continue; its text needs no knowledge of how Pawl works. */
#ifndef PAWL_VIEWS_WHY_H
#define PAWL_VIEWS_WHY_H

#include "operations/why.h"
#include "views/view.h"

/*
 *     instanceId, definitionId, version, status, subStatus, createdAt, updatedAt, finishedAt,
 *     cancelRequested, isSetAside, trouble
 *     summary       one sentence
 *     waitsFor      [{"for", "text", "since", "dueAt", "activityId", "bookmarkId", "command", …}]
 *     mail          [{"kind", "since", "dueAt", "attempts", "error", "because"}]
 *     heldBy        {"nodeId", "incarnation", "isAlive", "leaseEndsAt", "text"}; null: nobody
 *     lastIncident  {"activityId", "message", "timestamp"}; null: none
 *     deadLetters   how many of its pieces of work were given up
 *     givenUp       those that were not replayed, [{"id", "kind", "text", "givenUpAt", "error"}]
 *     commands      what one may type next, [{"to", "command"}]
 *
 * "text" and "because" are for people. "command" is a line for a shell, with `suffix` at its end:
 * " --store URI" where that is needed, else "".
 */
struct pawl_json pawl__view_why(struct pawl_builder *b, const struct pawl_why *why,
                                const char *suffix);

#endif
