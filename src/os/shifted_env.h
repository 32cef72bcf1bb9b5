/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An environment over another whose wall clock is wrong by as much as one says: a node whose clock
 * was never set. Everything else is the other's, what it can do too.
 */
#ifndef PAWL_OS_SHIFTED_ENV_H
#define PAWL_OS_SHIFTED_ENV_H

#include <pawl/ext/env.h>

struct pawl_shifted_env {
    struct pawl_env base; /* first: a pawl_env is cast to this */
    struct pawl_env_ops ops;
    struct pawl_env *inner;
    int64_t wall_shift_ns; /* the caller's to set */
    /* Likewise. For whoever compares the two clocks, a wall clock that is not its own was set back
     * by this. */
    int64_t monotonic_shift_ns;
};

/* Borrows `inner`. It must stay where it is: `base` points into it. */
void pawl__shifted_env_init(struct pawl_shifted_env *env, struct pawl_env *inner);

#endif
