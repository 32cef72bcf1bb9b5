/* SPDX-License-Identifier: Apache-2.0 */
/* What why.c and why_waits.c share; see why.h. */
#ifndef PAWL_OPERATIONS_WHY_PRIVATE_H
#define PAWL_OPERATIONS_WHY_PRIVATE_H

#include "operations/why.h"

struct why {
    const struct pawl_op *op;
    struct pawl_why out; /* as far as it is known */
    struct pawl_json state;
    struct pawl_rows bookmarks; /* oldest first */
    struct pawl_rows work;      /* its mail, soonest due first */
    struct pawl_rows letters;   /* oldest first */
    struct pawl_rows nodes;
};

/* Sets out.waits. */
PAWL_MUST_CHECK int op_why_waits(struct why *why);

#endif
