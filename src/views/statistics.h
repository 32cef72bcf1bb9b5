/* SPDX-License-Identifier: Apache-2.0 */
/* Views of counts. */
#ifndef PAWL_VIEWS_STATISTICS_H
#define PAWL_VIEWS_STATISTICS_H

#include "operations/statistics.h"
#include "views/view.h"

/*
 * {"now", "instances": {"Pending": …, …}, "setAside", "work": {due, oldestDueAt, nextDueAt, later,
 * parked, deadLetters}, "rates": {startedPerSecond, changedPerSecond} or null, "pause"?, "nodes":
 * [Node]}
 */
struct pawl_json pawl__view_overview(struct pawl_builder *b, const struct pawl_overview *seen);
/* {"definitionId", "name", "instances": {"Pending": …, …}} */
struct pawl_json pawl__view_definition_counts(struct pawl_builder *b,
                                              const struct pawl_definition_counts *counts);

#endif
