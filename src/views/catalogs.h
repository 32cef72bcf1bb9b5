/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of what a designer may choose from and what does not change while Pawl runs: languages of
 * expressions, types of variables, storage drivers, strategies. Each is an array, in Elsa's order.
 */
#ifndef PAWL_VIEWS_CATALOGS_H
#define PAWL_VIEWS_CATALOGS_H

#include "views/view.h"

/* [{type, displayName, isSerializable, isBrowsable, properties{}}] */
struct pawl_json pawl__view_expression_types(struct pawl_builder *b);
/* [{typeName, displayName, category, description?}] */
struct pawl_json pawl__view_variable_types(struct pawl_builder *b);
/* [{typeName, displayName, priority, deprecated}] */
struct pawl_json pawl__view_storage_drivers(struct pawl_builder *b);
/* [{displayName, description, typeName}] */
struct pawl_json pawl__view_activation_strategies(struct pawl_builder *b);
struct pawl_json pawl__view_incident_strategies(struct pawl_builder *b);
struct pawl_json pawl__view_log_strategies(struct pawl_builder *b);
/* [{name, displayName, description}] */
struct pawl_json pawl__view_workflow_commit_strategies(struct pawl_builder *b);
struct pawl_json pawl__view_activity_commit_strategies(struct pawl_builder *b);
/* [{name, namespace, fullName, displayName, description}] */
struct pawl_json pawl__view_features(struct pawl_builder *b);

/* Whether a type of values has this name, in any case; also nullable, an array or a list of one. */
bool pawl__catalog_has_type(struct pawl_str name);

#endif
