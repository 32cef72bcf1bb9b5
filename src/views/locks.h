/* SPDX-License-Identifier: Apache-2.0 */
/* Views of locks. */
#ifndef PAWL_VIEWS_LOCKS_H
#define PAWL_VIEWS_LOCKS_H

#include "operations/locks.h"
#include "views/view.h"

/* {"key", "isHeld", "owner", "since", "remainingMs"?, "token"?} */
struct pawl_json pawl__view_lock(struct pawl_builder *b, const struct pawl_lock_holder *holder);
/* {"title", "outcome": "ok", "failed" or "skipped", "detail"} */
struct pawl_json pawl__view_lock_check(struct pawl_builder *b, const char *title,
                                       const struct pawl_lock_check_result *result);

#endif
