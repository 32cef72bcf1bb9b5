/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on the types of activities that definitions can use: those that are built in, and
 * published definitions that are usable as activities. Each is a descriptor, in Elsa's shape.
 * offline.h has the first of them without a host.
 */
#ifndef PAWL_OPERATIONS_TYPES_H
#define PAWL_OPERATIONS_TYPES_H

#include "base/json/json.h"
#include "operations/operation.h"

/* Definitions that are listed, at the most. */
#define PAWL_TYPE_WORKFLOWS_MAX 5000u

/* An array, by type. */
PAWL_MUST_CHECK int pawl__op_types_list(const struct pawl_op *op, struct pawl_json *out);
/* One, in this version (0: whichever there is). PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_type_show(const struct pawl_op *op, struct pawl_str type,
                                       int64_t version, struct pawl_json *out);
/* What a designer offers for an input (`uiSpecifications`). PAWL_ENOTFOUND: no such type or input,
 * whose name is written as in the descriptor. */
PAWL_MUST_CHECK int pawl__op_type_options(const struct pawl_op *op, struct pawl_str type,
                                          int64_t version, struct pawl_str input,
                                          struct pawl_json *out);

#endif
