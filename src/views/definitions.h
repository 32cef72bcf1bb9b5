/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of workflow definitions. Whether a definition may be changed decides which links it has;
 * `readonly` says that the caller may not change it, whatever the definition says.
 */
#ifndef PAWL_VIEWS_DEFINITIONS_H
#define PAWL_VIEWS_DEFINITIONS_H

#include "operations/definitions.h"
#include "views/view.h"

/*
 * Definition: links, id, definitionId, name?, description?, createdAt, version, toolVersion?,
 * variables, inputs, outputs, outcomes, customProperties, isReadonly, isSystem, isLatest,
 * isPublished, options, root.
 */
struct pawl_json pawl__view_definition(struct pawl_builder *b,
                                       const struct pawl_definition_shown *shown, bool readonly);
/* The same as an exported file: $schema instead of links. */
struct pawl_json pawl__view_definition_export(struct pawl_builder *b,
                                              const struct pawl_definition_shown *shown);
/*
 * Summary: id, definitionId, name?, description?, version, toolVersion?, isLatest, isPublished,
 * providerName?, materializerName, createdAt, isReadonly.
 */
struct pawl_json pawl__view_definition_summary(struct pawl_builder *b,
                                               const struct pawl_definition_row *row);
/* One row of a list: links, isMaterializerAvailable, then the summary. */
struct pawl_json pawl__view_definition_item(struct pawl_builder *b,
                                            const struct pawl_definition_row *row, bool readonly);
/* {items, totalCount, links} */
struct pawl_json pawl__view_definition_list(struct pawl_builder *b,
                                            const struct pawl_definition_list *list, uint64_t total,
                                            bool readonly);
/* {items[Definition], count} */
struct pawl_json pawl__view_definitions(struct pawl_builder *b,
                                        const struct pawl_definitions_shown *shown, bool readonly);
/*
 * Rows with their data as the store has them: an array of definitionId, name?, description?,
 * toolVersion?, options, variables, inputs, outputs, outcomes, customProperties, providerName?,
 * materializerName, stringData (the root as JSON text), isReadonly, isSystem, createdAt, version,
 * isLatest, isPublished, id.
 */
struct pawl_json pawl__view_definitions_stored(struct pawl_builder *b,
                                               const struct pawl_definition_list *list);
/* A definition as people list it: its latest and its published version; Pawl's own. */
struct pawl_json pawl__view_definition_pair(struct pawl_builder *b,
                                            const struct pawl_definition_pair *pair);
/* SaveResult: workflowDefinition, alreadyPublished, consumingWorkflowCount, validationErrors. */
struct pawl_json pawl__view_definition_saved(struct pawl_builder *b,
                                             const struct pawl_definition_saved *saved,
                                             const struct pawl_definition_shown *shown);
/* {level, pointer, activityId, message} of each; Pawl's own. */
struct pawl_json pawl__view_problems(struct pawl_builder *b, const struct pawl_problems *problems);

/* {nodeId, port, activity} */
struct pawl_json pawl__view_graph_node(struct pawl_builder *b,
                                       const struct pawl_definition_node *node);
/* {childNode, container, pathSegments[{activityNodeId, activityId, activityType, portName,
 * activityName?}]} */
struct pawl_json pawl__view_path(struct pawl_builder *b, const struct pawl_definition_path *path);

/* Results of the bulk forms, and of refresh and reload. */
struct pawl_json pawl__view_ids(struct pawl_builder *b, const struct pawl_str *ids, size_t count);
struct pawl_json pawl__view_definitions_published(struct pawl_builder *b,
                                                  const struct pawl_definitions_published *done);
struct pawl_json pawl__view_definitions_retracted(struct pawl_builder *b,
                                                  const struct pawl_definitions_retracted *done);
struct pawl_json pawl__view_refreshed(struct pawl_builder *b, const struct pawl_refreshed *done);
struct pawl_json pawl__view_reloaded(struct pawl_builder *b, const struct pawl_reloaded *done);

#endif
