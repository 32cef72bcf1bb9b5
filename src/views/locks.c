/* SPDX-License-Identifier: Apache-2.0 */
/* Views of locks; see locks.h. What a holder or a result has is copied: it lives in arrays. */
#include "views/locks.h"

struct pawl_json pawl__view_lock(struct pawl_builder *b, const struct pawl_lock_holder *holder)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "key", pawl__arena_str(b->arena, pawl__str(holder->key)));
    pawl__build_bool(b, &out, "isHeld", holder->held);
    pawl__view_text(b, &out, "owner", pawl__arena_str(b->arena, pawl__str(holder->owner)));
    pawl__view_time(b, &out, "since", holder->since_us);
    if (holder->remaining_ms >= 0)
        pawl__build_int(b, &out, "remainingMs", holder->remaining_ms);
    if (holder->token)
        pawl__build_int(b, &out, "token", (int64_t)holder->token);
    return out;
}

struct pawl_json pawl__view_lock_check(struct pawl_builder *b, const char *title,
                                       const struct pawl_lock_check_result *result)
{
    static const char *const words[] = {
        [PAWL_LOCK_CHECK_OK] = "ok",
        [PAWL_LOCK_CHECK_FAILED] = "failed",
        [PAWL_LOCK_CHECK_SKIPPED] = "skipped",
    };
    struct pawl_json out = pawl__json_object();

    pawl__build_name(b, &out, "title", title);
    pawl__build_name(b, &out, "outcome", words[result->outcome]);
    pawl__view_text(b, &out, "detail", pawl__arena_str(b->arena, pawl__str(result->detail)));
    return out;
}
