/* SPDX-License-Identifier: Apache-2.0 */
/* Views of workflow instances. */
#ifndef PAWL_VIEWS_INSTANCES_H
#define PAWL_VIEWS_INSTANCES_H

#include "operations/instances.h"
#include "views/view.h"

#include <pawl/ext/store.h>

/*
 * InstanceSummary: id, definitionId, definitionVersionId, version, status, subStatus,
 * correlationId?, name?, incidentCount, createdAt, updatedAt, finishedAt?; and of Pawl's own, of an
 * instance that could not be run: isSetAside, retryAt?, trouble.
 */
struct pawl_json pawl__view_instance_summary(struct pawl_builder *b,
                                             const struct pawl_instance_row *row);

/*
 * State: what is stored, without what is Pawl's own and without the marks of types: `_type` goes,
 * lists are arrays, islands of JSON are what they hold. Shares no object with `stored`.
 */
struct pawl_json pawl__view_state(struct pawl_builder *b, const struct pawl_json *stored);
/*
 * Instance: the summary with parentWorkflowInstanceId?, workflowState, isExecuting and isSystem, in
 * Elsa's order; workflowState is null, and `unreadable` says why, of one whose state
 * cannot be read.
 */
struct pawl_json pawl__view_instance(struct pawl_builder *b,
                                     const struct pawl_instance_shown *shown);
/* {status, subStatus, updatedAt}. */
struct pawl_json pawl__view_execution_state(struct pawl_builder *b,
                                            const struct pawl_instance_row *row);
/* {items[{id, name, value?}], count} of what an operation returned. */
struct pawl_json pawl__view_variables(struct pawl_builder *b, const struct pawl_json *variables);
/* {workflowInstanceId, log{logEntries[]}, isSuccessful, error?}. */
struct pawl_json pawl__view_altered(struct pawl_builder *b,
                                    const struct pawl_instance_altered *altered);

#endif
