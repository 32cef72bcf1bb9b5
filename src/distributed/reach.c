/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether locks reach as far as the store does. Locks that some node of the store cannot see
 * coordinate nothing with it; since nothing but time is lost then, one could go on for months
 * without noticing. So it is refused at the start.
 */
#include "distributed/distributed.h"

#include "base/error.h"
#include "base/log.h"

static const struct pawl_lock_provider *innermost(const struct pawl_lock_provider *provider)
{
    while (provider->inner)
        provider = provider->inner;
    return provider;
}

int pawl__distributed_check_reach(const struct pawl_lock_provider *provider,
                                  const struct pawl_store *store, bool allow_local,
                                  const struct pawl_log *log, struct pawl_error *err)
{
    const char *kind = innermost(provider)->kind;
    uint32_t locks = pawl_lock_caps(provider), stores = store->caps;
    const char *reach = NULL;

    if ((stores & PAWL_STORE_CAP_MACHINES) && !(locks & PAWL_LOCK_CAP_NETWORK))
        reach = "machines";
    else if ((stores & PAWL_STORE_CAP_PROCESSES) &&
             !(locks & (PAWL_LOCK_CAP_NETWORK | PAWL_LOCK_CAP_HOST)))
        reach = "processes";
    if (!reach)
        return PAWL_OK;
    if (!allow_local)
        return pawl__error_set(
            err, PAWL_EINVAL,
            "locks of kind '%s' are not visible to the other %s that may share this "
            "store: give --lock a service that they all see, leave it out to "
            "use the store's own, or allow it by --set lock.allow_local=true",
            kind, reach);
    if (log)
        pawl_log(log, PAWL_LOG_WARN, "not all nodes see these locks, which is allowed",
                 pawl_log_text("locks", kind), pawl_log_text("store_is_shared_by", reach));
    return PAWL_OK;
}
