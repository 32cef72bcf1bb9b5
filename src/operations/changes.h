/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of instances, for whoever watches them: commits of this node as they happen, those of
 * others by asking which revisions instances have.
 */
#ifndef PAWL_OPERATIONS_CHANGES_H
#define PAWL_OPERATIONS_CHANGES_H

#include "operations/operation.h"
#include "runtime/values.h"

/*
 * From now on `changed` is told of every commit of this node that changes an instance, on the
 * thread that committed: it must be short and call no operation. There is one listener of a host.
 * NULL: nobody is told; when this returns nobody is being told any more.
 */
void pawl__op_changes_listen(struct pawl_host *host, pawl_changed_fn *changed, void *ctx);

/* Instances that one call names, at the most. */
#define PAWL_REVISIONS_MAX 500u

/* The revision of each of these instances, in one query; 0: there is no such instance. */
PAWL_MUST_CHECK int pawl__op_instance_revisions(const struct pawl_op *op,
                                                const struct pawl_str *ids, size_t count,
                                                int64_t *revisions);

#endif
