/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of this process, with where each comes from. Secrets are not shown. */
#ifndef PAWL_OPERATIONS_SETTINGS_H
#define PAWL_OPERATIONS_SETTINGS_H

#include "operations/operation.h"

struct pawl_setting_shown {
    const char *name;
    struct pawl_str value; /* as it may be shown; "": not set */
    const char *source;    /* "default", "file", "variable", "option" */
    const char *place;     /* "pawl.conf:3", "PAWL_STORE", "--store"; "" of a default */
};

/* All of them, in the order of the table. */
PAWL_MUST_CHECK int pawl__op_settings_list(const struct pawl_op *op,
                                           const struct pawl_setting_shown **out, size_t *count);

#endif
