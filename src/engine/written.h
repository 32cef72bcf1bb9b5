/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as JSON, as Elsa's API writes definitions: of each activity what its type
 * declares (inputs, ports, outputs, null where nothing is set), then what every activity has.
 * Activities of unknown type are Elsa.NotFoundActivity with the original as text. What a definition
 * has beyond that is dropped, as there.
 *
 * What is made borrows texts from the graph.
 */
#ifndef PAWL_ENGINE_WRITTEN_H
#define PAWL_ENGINE_WRITTEN_H

#include "base/json/builder.h"
#include "engine/graph.h"

/* One activity with all below it, but what is inside of a workflow that is used as one. */
struct pawl_json pawl__written_activity(struct pawl_builder *b, const struct pawl_node *node);
/* {id, name, typeName, isArray, value?, storageDriverTypeName?} of each. `json`: as written. */
struct pawl_json pawl__written_variables(struct pawl_builder *b,
                                         const struct pawl_variable *variables, uint32_t count,
                                         const struct pawl_json *json);
/* Inputs or outputs of a workflow: {uiHint?, type, name, displayName, description, category}. */
struct pawl_json pawl__written_arguments(struct pawl_builder *b,
                                         const struct pawl_argument *arguments, uint32_t count,
                                         bool inputs);

#endif
