/* SPDX-License-Identifier: Apache-2.0 */
/* How an instance stands. */
#ifndef PAWL_ENGINE_STATUS_H
#define PAWL_ENGINE_STATUS_H

#include "base/str.h"

enum pawl_sub_status {
    PAWL_SUB_PENDING,
    PAWL_SUB_EXECUTING,
    PAWL_SUB_SUSPENDED,
    PAWL_SUB_FINISHED,
    PAWL_SUB_CANCELLED,
    PAWL_SUB_FAULTED,
    PAWL_SUB_INTERRUPTED, /* only read: counts as running */
};

/* The names, by value, ended by NULL. */
extern const char *const pawl__sub_status_names[];
const char *pawl__sub_status_name(enum pawl_sub_status status);
/* The one parser of these names, in any case. False: it is none, and *out is unwritten. */
bool pawl__sub_status_parse(struct pawl_str name, enum pawl_sub_status *out);
/* Finished, cancelled or faulted. */
bool pawl__sub_status_is_final(enum pawl_sub_status status);

#endif
