/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alterations: what an operator changes in an instance by hand. A JSON array of objects, each with
 * a `type`, as Elsa has them:
 *
 *     {"type":"Migrate","targetVersion":2}
 *     {"type":"ModifyVariable","variableId":"…","value":…}
 *     {"type":"ScheduleActivity","activityId":"…"}      or "activityInstanceId"
 *     {"type":"CancelActivity","activityId":"…"}        or "activityInstanceId"
 *     {"type":"Cancel"}
 *     {"type":"Retry","activityIds":["…"]}              ours: faulted activities, all without ids
 *
 * They are applied in their order when a burst is opened with PAWL_EVENT_ALTER, all or none: where
 * one cannot be, the burst is not opened and nothing has changed. Each leaves a record in the log.
 * A migration applies from the start, wherever it is in the array: the burst is opened on the graph
 * of the target version (pawl__alterations_target says which that is).
 *
 * Only scheduling and retrying reopen an instance, and only one that has faulted. Incidents stay,
 * as in Elsa: they say what happened.
 */
#ifndef PAWL_ENGINE_RUN_ALTER_H
#define PAWL_ENGINE_RUN_ALTER_H

#include "engine/run/burst.h"

/* Of one call; operators write them by hand. */
#define PAWL_ALTERATIONS_MAX 1000u

/* What the log calls them: the event of the record, whose payload is the alteration. */
#define PAWL_LOG_ALTERED "Altered"

/*
 * Checks their form, and returns the version that one of them migrates to; 0: none does.
 * PAWL_EINVAL: not an array of alterations, one of an unknown type, one that lacks a member, two
 * migrations.
 */
PAWL_MUST_CHECK int pawl__alterations_target(const struct pawl_json *alterations, int64_t *version,
                                             struct pawl_error *err);

/*
 * The engine's own: applies them to an instance that was just loaded. PAWL_EINVAL; PAWL_ENOTFOUND:
 * there is no such activity, execution or variable; PAWL_ECONFLICT: the instance has ended, or
 * stands where the target version has nothing; PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__alter(struct pawl_burst *burst, const struct pawl_json *state,
                                const struct pawl_json *alterations, struct pawl_error *err);

#endif
