/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write descriptors share. */
#ifndef PAWL_ENGINE_DESCRIPTOR_PRIVATE_H
#define PAWL_ENGINE_DESCRIPTOR_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DESCRIPTOR_WORKFLOW_SPACE "Elsa.Workflows.Management.Activities.WorkflowDefinitionActivity"
#define DESCRIPTOR_WORKFLOW_CLASS                                                                  \
    DESCRIPTOR_WORKFLOW_SPACE ".WorkflowDefinitionActivity, Elsa.Workflows.Management"

/* Elsa's class of a type, as descriptors name it; NULL: it has none. */
const char *descriptor_class(const char *type);
/* Where a designer shows an input among the others: a JSON number. */
const char *descriptor_order(const char *type, const char *input);
/* Whether designers offer strategies of retries for it. */
bool descriptor_is_resilient(const char *type);

#endif
