/* SPDX-License-Identifier: Apache-2.0 */
/* Views of alterations and of plans. */
#ifndef PAWL_VIEWS_ALTERATIONS_H
#define PAWL_VIEWS_ALTERATIONS_H

#include "operations/alterations.h"
#include "views/view.h"

/* {"results": [{workflowInstanceId, log{logEntries}, workflowHasScheduledWork, isSuccessful}]};
 * entries have message, logLevel, timestamp, eventName ("Alteration Cancel succeeded"). */
struct pawl_json pawl__view_alterations(struct pawl_builder *b,
                                        const struct pawl_alteration_results *results);
/*
 * {"plan": {alterations, workflowInstanceFilter, status, createdAt, startedAt?, completedAt?, id},
 * "jobs": [{planId, workflowInstanceId, status, log, createdAt, startedAt?, completedAt?, id,
 * tenantId}]}
 */
struct pawl_json pawl__view_plan(struct pawl_builder *b, const struct pawl_plan_shown *shown);

#endif
