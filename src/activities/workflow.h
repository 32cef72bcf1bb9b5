/* SPDX-License-Identifier: Apache-2.0 */
/* The root of every run, and workflows used as activities. */
#ifndef PAWL_ACTIVITIES_WORKFLOW_H
#define PAWL_ACTIVITIES_WORKFLOW_H

#include "engine/activity.h"

extern const struct pawl_activity pawl__activity_workflow;

/*
 * The model of workflows used as activities: the loader makes a descriptor for each definition from
 * it, with the functions of this one and the inputs, outputs and outcomes of the definition.
 */
extern const struct pawl_activity pawl__activity_workflow_definition;

#endif
