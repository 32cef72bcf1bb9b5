/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of trial.h share. */
#ifndef PAWL_OPERATIONS_TRIAL_PRIVATE_H
#define PAWL_OPERATIONS_TRIAL_PRIVATE_H

#include "operations/operation.h"

/* PAWL_EINVAL where something is stored. */
PAWL_MUST_CHECK int op_trial_check(const struct pawl_op *op);

#endif
