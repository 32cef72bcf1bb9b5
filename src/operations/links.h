/* SPDX-License-Identifier: Apache-2.0 */
/* Operations by links: tokens that let whoever has them do one thing (host/links.h). */
#ifndef PAWL_OPERATIONS_LINKS_H
#define PAWL_OPERATIONS_LINKS_H

#include "operations/stimuli.h"

/* A token for an event, for an instance ("": any), or for one of its bookmarks; one of the two is
 * "". `life_s` 0: it does not expire. PAWL_EINVAL: neither is given, or both. */
struct pawl_link_request {
    struct pawl_str event, bookmark_id, instance_id;
    int64_t life_s;
};
PAWL_MUST_CHECK int pawl__op_link_make(const struct pawl_op *op,
                                       const struct pawl_link_request *request,
                                       struct pawl_str *token);

/* Sends the event of a token. PAWL_EPERM: it is not valid, or of another kind. */
PAWL_MUST_CHECK int pawl__op_link_send(const struct pawl_op *op, struct pawl_str token,
                                       struct pawl_send_result *out);
/* Checks a token of a bookmark, and does nothing. */
PAWL_MUST_CHECK int pawl__op_link_check(const struct pawl_op *op, struct pawl_str token);
/* Resumes the bookmark of a token with this input (null: none), until the instance waits or ends. A
 * bookmark that is gone was resumed before: PAWL_OK. */
PAWL_MUST_CHECK int pawl__op_link_resume(const struct pawl_op *op, struct pawl_str token,
                                         const struct pawl_json *input);

#endif
