/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that wait for an instance. Each has a form with a completion, which holds no thread
 * (runtime/node/waits.h has the table and its one thread), and one that blocks until then.
 *
 * A completion is called once, by any thread: also by the caller's own, before the operation
 * returns. It must be short and wait for nobody. It is called when the operation returned PAWL_OK,
 * and not when it failed. `result` is borrowed for the call; NULL unless `status` is PAWL_OK. Its
 * status may be PAWL_ETIMEDOUT (op->deadline_ns), PAWL_ENOTFOUND (deleted), PAWL_ESTOPPED (the host
 * stops) or an error of the store. The operation itself may return PAWL_EBUSY: too many wait.
 */
#ifndef PAWL_OPERATIONS_WAITS_H
#define PAWL_OPERATIONS_WAITS_H

#include "operations/instances.h"
#include "runtime/values.h"

typedef void pawl_instance_done_fn(void *ctx, int status, const struct pawl_instance_result *result,
                                   const struct pawl_error *err);

/* Names a wait; 0: it has ended already. */
typedef uint64_t pawl_wait_ticket;

/*
 * Starts an instance on the caller's thread and waits for its first rest: until it waits for
 * something, or has ended. The caller's thread computes; it waits for no request and for no other
 * node. Due work must be done meanwhile (host/duty.h). One that has not come to rest at the
 * deadline or when the host stops goes on, and completes as it is then: that is no failure.
 */
PAWL_MUST_CHECK int pawl__op_instance_execute(const struct pawl_op *op,
                                              const struct pawl_instance_start *request,
                                              pawl_instance_done_fn *done, void *ctx,
                                              pawl_wait_ticket *ticket);
/* Waits until it is idle or has ended. `with_state` as in struct pawl_instance_start. */
PAWL_MUST_CHECK int pawl__op_instance_await(const struct pawl_op *op, struct pawl_str instance_id,
                                            enum pawl_wait_until until, bool with_state,
                                            pawl_instance_done_fn *done, void *ctx,
                                            pawl_wait_ticket *ticket);
/* Ends a wait. True: its completion is not called. False: it was, or is being called. */
bool pawl__op_wait_forget(const struct pawl_op *op, pawl_wait_ticket ticket);

/* ---- that block ----------------------------------------------------------------------------- */

/*
 * The same until op->deadline_ns. `works`: this host has no workers, and the caller's thread does
 * due work meanwhile. *row is its state then.
 */
PAWL_MUST_CHECK int pawl__op_instance_wait(const struct pawl_op *op, struct pawl_str instance_id,
                                           enum pawl_wait_until until, bool works,
                                           struct pawl_instance_row *row);

#endif
