/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this node can be given work: for probes of load balancers and supervisors. */
#ifndef PAWL_OPERATIONS_HEALTH_H
#define PAWL_OPERATIONS_HEALTH_H

#include "operations/operation.h"

/*
 * PAWL_OK: the node holds its lease, does not wind up, and its store responds. Otherwise why not,
 * in op->err: PAWL_ESTOPPED, it winds up; PAWL_ECONFLICT, another process has its name;
 * PAWL_EUNAVAILABLE, its lease is over; what the store said.
 */
PAWL_MUST_CHECK int pawl__op_ready(const struct pawl_op *op);
/* Whether it is paused: it responds, and begins nothing. As far as it knows. */
bool pawl__op_is_paused(const struct pawl_op *op);

#endif
