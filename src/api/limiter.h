/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often somebody may do something: a bucket per name that fills with time and loses one with
 * each use. The table has a fixed size; where it is full, the bucket that is nearest to full is
 * forgotten, which is the one that limits least.
 */
#ifndef PAWL_API_LIMITER_H
#define PAWL_API_LIMITER_H

#include "base/hash/siphash.h"
#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_limiter;

struct pawl_limit {
    uint32_t burst;      /* uses that a full bucket has */
    int64_t interval_ns; /* until there is another one; 0: no limit */
};

/* `places` is a power of two. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__limiter_new(struct pawl_env *env, uint32_t places,
                                      struct pawl_limiter **out, struct pawl_error *err);
void pawl__limiter_free(struct pawl_limiter *limiter); /* NULL allowed */

/*
 * Uses one: 0; or how many seconds to wait for the next, at least 1. Never waits for anything but
 * other callers of this function. Any thread.
 */
int64_t pawl__limiter_use(struct pawl_limiter *limiter, struct pawl_str name,
                          const struct pawl_limit *limit, int64_t now_ns);
/* Gives one back, because it did not count. */
void pawl__limiter_return(struct pawl_limiter *limiter, struct pawl_str name,
                          const struct pawl_limit *limit);

#endif
