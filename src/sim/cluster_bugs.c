/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "sim/cluster_private.h"
int pawl__cluster_buggy_store_new(struct pawl_env *env, struct pawl_store *inner,
                                  enum pawl_cluster_bug bug, struct pawl_store **out,
                                  struct pawl_error *err)
{
    (void)env;
    (void)bug;
    (void)err;
    *out = inner;
    return PAWL_OK;
}
