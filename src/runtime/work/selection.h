/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instances an operator means, as Elsa's filter of alterations says it: a JSON object with
 *
 *     workflowInstanceIds, correlationIds, names, definitionIds, definitionVersionIds,
 *     statuses, subStatuses    arrays of texts, one of which must hold; [] holds for none
 *     searchTerm               in the name, whatever its case, or in an id
 *     hasIncidents, isSystem   booleans; isSystem is false unless it is given
 *     timestampFilters         [{column, operator, timestamp}], all of which must hold
 *     activityFilters          [{activityId?, nodeId?, name?}], one of which an execution has
 *     emptyFilterSelectsAll    what a filter that says nothing else means: all, or none
 *
 * They are found in the order of their creation, in batches, so that a store of any size can be
 * gone through.
 */
#ifndef PAWL_RUNTIME_WORK_SELECTION_H
#define PAWL_RUNTIME_WORK_SELECTION_H

#include "base/arena.h"
#include "base/json/json.h"

#include <pawl/ext/store.h>

struct pawl_runtime;

#define PAWL_SELECTION_TIMES_MAX 16u
#define PAWL_SELECTION_PLACE_MAX 64u

enum pawl_selection_list {
    PAWL_SELECT_IDS,
    PAWL_SELECT_CORRELATIONS,
    PAWL_SELECT_NAMES,
    PAWL_SELECT_DEFINITIONS,
    PAWL_SELECT_VERSIONS,
    PAWL_SELECT_STATUSES,
    PAWL_SELECT_SUB_STATUSES,
    PAWL_SELECT_COUNT
};

struct pawl_selection_time {
    size_t offset; /* of the row's member */
    enum pawl_compare compare;
    int64_t from_us, to_us; /* the instant, or the day that is meant */
};

/* Borrows the JSON it was read from. */
struct pawl_selection {
    const struct pawl_json *lists[PAWL_SELECT_COUNT]; /* NULL: not given */
    struct pawl_str search;                           /* "": not given */
    int has_incidents;                                /* -1: whichever */
    bool is_system;
    struct pawl_selection_time times[PAWL_SELECTION_TIMES_MAX];
    size_t time_count;
    const struct pawl_json *activities; /* NULL: not given */
    bool selects_none;
};

/* PAWL_EINVAL: not such a filter; `place` says where ("statuses[0]"), "": as a whole. */
PAWL_MUST_CHECK int pawl__selection_read(const struct pawl_json *filter, struct pawl_selection *out,
                                         char place[PAWL_SELECTION_PLACE_MAX],
                                         struct pawl_error *err);

/* Where a search through the store stands. */
struct pawl_selection_cursor {
    struct pawl_str after_id; /* "": at the start */
    int64_t after_us;
    int64_t until_us; /* instances that were created later are left out; 0: none are */
    bool is_done;
};

/* Rows that one call looks at, at the most, and what it finds. */
#define PAWL_SELECTION_BATCH 500u

/*
 * The next of those that match, at most `limit`, without their states, in the arena; moves the
 * cursor. There may be more although *count is less, until the cursor is done.
 */
PAWL_MUST_CHECK int pawl__selection_next(struct pawl_runtime *runtime,
                                         const struct pawl_selection *selection,
                                         struct pawl_selection_cursor *cursor, size_t limit,
                                         struct pawl_arena *arena,
                                         const struct pawl_instance_row ***out, size_t *count,
                                         int64_t deadline_ns, struct pawl_error *err);

#endif
