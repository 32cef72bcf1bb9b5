/* SPDX-License-Identifier: Apache-2.0 */
/* A reloader that lets one node at a time read definitions from their providers. */
#include "distributed/distributed.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

struct distributed_reloader {
    struct pawl_reloader base;
    struct pawl_reloader *inner;
    struct pawl_distribution distribution;
};

static int reload(struct pawl_reloader *base, struct pawl_reloaded *out, int64_t deadline_ns,
                  struct pawl_error *err)
{
    struct distributed_reloader *reloader = (struct distributed_reloader *)(void *)base;
    const struct pawl_distribution *d = &reloader->distribution;
    struct pawl_str name = pawl__str(PAWL_DISTRIBUTED_RELOADER_LOCK);
    struct pawl_lock lock;
    int status = pawl__locks_try(d->locks, name, 0, &lock, err);

    if (status == PAWL_EBUSY) {
        if (d->log)
            pawl_log(d->log, PAWL_LOG_INFO, "another node is reloading definitions",
                     pawl__log_str("lock", name));
        *out = (struct pawl_reloaded){.in_progress = true};
        return PAWL_OK;
    }
    if (status != PAWL_OK)
        return status;
    status = pawl__reloader_reload(reloader->inner, out, deadline_ns, err);
    pawl__distributed_release(d, name, lock);
    return status;
}

static void close_reloader(struct pawl_reloader *base)
{
    struct distributed_reloader *reloader = (struct distributed_reloader *)(void *)base;

    pawl__reloader_close(reloader->inner);
    pawl__free(&reloader->distribution.env->alloc, reloader, sizeof *reloader);
}

static const struct pawl_reloader_ops ops = {PAWL_RELOADER_VERSION, close_reloader, reload};

int pawl__distributed_reloader_new(const struct pawl_distribution *distribution,
                                   struct pawl_reloader *inner, struct pawl_reloader **out,
                                   struct pawl_error *err)
{
    struct distributed_reloader *reloader =
        pawl__alloc_zeroed(&distribution->env->alloc, sizeof *reloader);

    if (!reloader)
        return pawl__error_code(err, PAWL_ENOMEM);
    *reloader = (struct distributed_reloader){{&ops, "distributed"}, inner, *distribution};
    *out = &reloader->base;
    return PAWL_OK;
}
