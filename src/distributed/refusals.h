/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when locks have been refused, by name: a few, and only while that lasts. A lock that is
 * refused for too long is ignored, and the store decides (distributed.h).
 */
#ifndef PAWL_DISTRIBUTED_REFUSALS_H
#define PAWL_DISTRIBUTED_REFUSALS_H

#include "base/map.h"

#include <pawl/ext/env.h>

/* Names that are remembered at a time; more are refused as if for the first time. */
#define PAWL_REFUSALS_MAX 4096u

struct pawl_refusals {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards the map */
    struct pawl_map map;      /* struct refusal by name */
    int64_t patience_ns;
};

PAWL_MUST_CHECK int pawl__refusals_init(struct pawl_refusals *refusals, struct pawl_env *env,
                                        int64_t patience_ns);
void pawl__refusals_release(struct pawl_refusals *refusals);

/* Until when a lock of this name, asked for from `now_ns` on, counts. */
int64_t pawl__refusals_until(struct pawl_refusals *refusals, struct pawl_str name, int64_t now_ns);
/*
 * It was refused, from `since_ns` until now. True: for longer than it may be; *first when this has
 * not been said of it before.
 */
bool pawl__refusals_note(struct pawl_refusals *refusals, struct pawl_str name, int64_t since_ns,
                         bool *first);
/* The same of the lock service as a whole: `status` is what it answered, an error that passes. */
bool pawl__refusals_note_outage(struct pawl_refusals *refusals, int status, bool *first);
/* It was granted, so that there is no outage either. */
void pawl__refusals_forget(struct pawl_refusals *refusals, struct pawl_str name);

#endif
