/* SPDX-License-Identifier: Apache-2.0 */
/* One activity of a definition, tried out by a designer: nothing is stored. */
#ifndef PAWL_OPERATIONS_PROBE_H
#define PAWL_OPERATIONS_PROBE_H

#include "operations/definitions.h"

/* One of the two names it; "" is not given. */
struct pawl_probe {
    struct pawl_definition_ref definition;
    struct pawl_str node_id;
    struct pawl_str activity_id;
};

/* What became of it; objects. */
struct pawl_probed {
    struct pawl_json state, outputs, payload;
    struct pawl_json exception; /* null: none */
    struct pawl_str status;     /* "Completed", "Faulted", "Running": it waits for something */
};

/*
 * Runs the activity by itself, as an instance that is stored nowhere; a container with what is in
 * it. Its effects are not performed: no line is written and no request is sent, and an activity
 * that awaits one is left running. PAWL_ENOTFOUND: no such definition; PAWL_EINVAL: it has no such
 * activity, or none is named.
 */
PAWL_MUST_CHECK int pawl__op_activity_probe(const struct pawl_op *op,
                                            const struct pawl_probe *request,
                                            struct pawl_probed *out);

#endif
