/* SPDX-License-Identifier: Apache-2.0 */
/* Readiness; see health.h. */
#include "operations/health.h"

#include "base/error.h"
#include "operations/query.h"
#include "runtime/node/pause.h"
#include "runtime/runtime.h"

bool pawl__op_is_paused(const struct pawl_op *op)
{
    return pawl__runtime_check_paused(op_runtime(op), op->deadline_ns, NULL) != PAWL_OK;
}

int pawl__op_ready(const struct pawl_op *op)
{
    struct pawl_runtime *runtime = op_runtime(op);
    struct pawl_store_status store;
    int status;

    if (pawl__runtime_is_stopping(runtime))
        return pawl__error_set(op->err, PAWL_ESTOPPED, "the node winds up");
    status = pawl__runtime_check(runtime, op->err);
    if (status == PAWL_OK && !pawl__runtime_has_lease(runtime))
        status = pawl__error_set(op->err, PAWL_EUNAVAILABLE,
                                 "the node's lease is over and was not renewed yet");
    if (status == PAWL_OK)
        status = pawl_store_status(op_store(op), &store, op->deadline_ns, op->err);
    return status;
}
