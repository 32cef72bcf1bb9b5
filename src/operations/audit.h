/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on the records of what operators changed: who (op->actor), through which door, what,
 * which, when. One record for one request, under the request's id (op->request_id; a random one if
 * there is none), written by the commit that makes the change; a request that touches many things
 * has one record that counts them. What workers do by themselves is not recorded, nor are requests
 * that changed nothing.
 *
 *     kind          action
 *     definition    save publish retract revert delete import update-references
 *     instance      cancel delete alter set-variables retry import
 *     letter        replay delete
 *     node          pause unpause            target "": the cluster
 *     store         retain
 *     plan          submit
 *
 * Requests that change something may be sent again with the same id. One that took effect before
 * does nothing then: it returns PAWL_OK if it is a deletion, a cancellation, `pause` or `unpause`,
 * and PAWL_ECONFLICT if its result is no longer known. PAWL_ECONFLICT too, when the id
 * is of another request. Of one whose outcome is unknown (PAWL_EUNKNOWN) the message names the id,
 * and pawl__op_audit_show() says whether it took effect: PAWL_ENOTFOUND, it has not.
 */
#ifndef PAWL_OPERATIONS_AUDIT_H
#define PAWL_OPERATIONS_AUDIT_H

#include "operations/operation.h"

#include <pawl/ext/store.h>

/* From the newest downwards, but by actor and target, which ascend. */
enum pawl_audit_sort {
    PAWL_AUDIT_BY_TIME,
    PAWL_AUDIT_BY_ACTOR,
    PAWL_AUDIT_BY_TARGET,
};

/* All that is given must hold; "" and 0 are not given. */
struct pawl_audit_query {
    struct pawl_str actor;
    struct pawl_str door;
    struct pawl_str action;
    struct pawl_str kind;
    struct pawl_str target;
    int64_t from_us;  /* at this time or later */
    int64_t until_us; /* before this time */
    enum pawl_audit_sort sort;
    struct pawl_page_request page;
};

struct pawl_audit_list {
    const struct pawl_audit_row *rows; /* without `data` */
    size_t count;
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_audit_list(const struct pawl_op *op,
                                        const struct pawl_audit_query *query,
                                        struct pawl_audit_list *out);
/* The record of one request. PAWL_ENOTFOUND: there is none, so that it has changed nothing. */
PAWL_MUST_CHECK int pawl__op_audit_show(const struct pawl_op *op, struct pawl_str request_id,
                                        struct pawl_audit_row *out);

#endif
