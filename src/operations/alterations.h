/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that alter many instances: at once, or by a plan that the nodes carry out. Alterations
 * are those of engine/run/alter.h; filters those of runtime/work/selection.h.
 *
 * Where a request is wrong, PAWL_EINVAL, `place` says where: "alterations[0]", "statuses[1]"; "":
 * as a whole.
 */
#ifndef PAWL_OPERATIONS_ALTERATIONS_H
#define PAWL_OPERATIONS_ALTERATIONS_H

#include "base/json/json.h"
#include "operations/operation.h"

#include <pawl/ext/store.h>

#define PAWL_ALTERATION_PLACE_MAX 64u

/* What became of one instance. */
struct pawl_alteration_result {
    struct pawl_str instance_id;
    /* An array of {message, logLevel, timestamp, eventName: the type of the alteration}. */
    struct pawl_json log;
    bool has_scheduled; /* activities */
    bool is_successful;
};

struct pawl_alteration_results {
    const struct pawl_alteration_result *results;
    size_t count;
};

/*
 * Alters these instances now, each by itself; one that cannot be altered stops no other. Without
 * alterations nothing is done, and nothing is successful. If the store fails after the first
 * change, that is the last result, and those behind it have none. PAWL_ENOTFOUND: one of them is
 * not there, and none was altered; PAWL_ELIMIT: they are more than PAWL_ALTER_MANY_MAX.
 */
PAWL_MUST_CHECK int pawl__op_alterations_run(const struct pawl_op *op,
                                             const struct pawl_json *alterations,
                                             const struct pawl_str *ids, size_t count, char *place,
                                             struct pawl_alteration_results *out);
/* Runs what faulted in them once more: these activities, or (none given) all. Those that are not
 * there are left out; a failure of the store as above. */
PAWL_MUST_CHECK int pawl__op_alterations_retry(const struct pawl_op *op, const struct pawl_str *ids,
                                               size_t count, const struct pawl_str *activity_ids,
                                               size_t activity_count,
                                               struct pawl_alteration_results *out);
/* Ids of those that a filter selects, in the order of their creation, PAWL_PAGE_ROWS_MAX at the
 * most. */
PAWL_MUST_CHECK int pawl__op_alterations_select(const struct pawl_op *op,
                                                const struct pawl_json *filter, char *place,
                                                const struct pawl_str **ids, size_t *count);

/* ---- plans ---------------------------------------------------------------------------------- */

/*
 * Stores a plan, which is carried out as due work; *plan_id is its id, a new one if `id` is "". A
 * plan of that id that is there already stays as it is. `filter` NULL: it selects none.
 */
PAWL_MUST_CHECK int pawl__op_plan_submit(const struct pawl_op *op, struct pawl_str id,
                                         const struct pawl_json *alterations,
                                         const struct pawl_json *filter, char *place,
                                         struct pawl_str *plan_id);

struct pawl_plan_shown {
    struct pawl_plan_row row;
    struct pawl_json alterations, filter;
    const struct pawl_job_row *jobs; /* by number, PAWL_PAGE_ROWS_MAX at the most */
    size_t job_count;
};

/* PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_plan_show(const struct pawl_op *op, struct pawl_str id,
                                       struct pawl_plan_shown *out);

#endif
