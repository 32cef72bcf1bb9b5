/* SPDX-License-Identifier: Apache-2.0 */
/* What stimuli.c and events.c share; see stimuli.h. */
#ifndef PAWL_OPERATIONS_STIMULI_PRIVATE_H
#define PAWL_OPERATIONS_STIMULI_PRIVATE_H

#include "operations/stimuli.h"
#include "runtime/runtime.h"

/* pawl__op_event_send(); what the event reached is added to `reach`, NULL allowed. */
PAWL_MUST_CHECK int op_event_send(const struct pawl_op *op, const struct pawl_send_request *request,
                                  struct pawl_reach *reach, struct pawl_send_result *out);

#endif
