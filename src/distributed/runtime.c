/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workflow runtime of a cluster: the local one, whose node asks the guard. The lock is taken
 * where a burst begins and not in the client, so that everybody who runs an instance takes it:
 * clients, workers, timers, children.
 */
#include "distributed/distributed.h"

#include "base/alloc.h"
#include "base/error.h"

struct distributed_runtime {
    struct pawl_workflow_runtime base;
    struct pawl_env *env;
    struct pawl_workflow_runtime *local;
    struct pawl_guard *guard;
};

static struct distributed_runtime *cast(struct pawl_workflow_runtime *runtime)
{
    return (struct distributed_runtime *)(void *)runtime;
}

static int make_client(struct pawl_workflow_runtime *base, struct pawl_str instance_id,
                       struct pawl_workflow_client **out, struct pawl_error *err)
{
    return pawl__workflow_runtime_client(cast(base)->local, instance_id, out, err);
}

/* The node first: it may still be asking. */
static void close_runtime(struct pawl_workflow_runtime *base)
{
    struct distributed_runtime *runtime = cast(base);

    pawl__workflow_runtime_close(runtime->local);
    pawl__distributed_guard_free(runtime->guard);
    pawl__free(&runtime->env->alloc, runtime, sizeof *runtime);
}

static const struct pawl_workflow_runtime_ops ops = {
    .version = PAWL_WORKFLOW_RUNTIME_VERSION,
    .close = close_runtime,
    .client = make_client,
};

int pawl__distributed_workflow_runtime_new(struct pawl_env *env,
                                           struct pawl_workflow_runtime *local,
                                           struct pawl_guard *guard,
                                           struct pawl_workflow_runtime **out,
                                           struct pawl_error *err)
{
    struct distributed_runtime *runtime = pawl__alloc_zeroed(&env->alloc, sizeof *runtime);

    if (!runtime)
        return pawl__error_code(err, PAWL_ENOMEM);
    *runtime = (struct distributed_runtime){
        .base = {&ops, "distributed", local->node},
        .env = env,
        .local = local,
        .guard = guard,
    };
    *out = &runtime->base;
    return PAWL_OK;
}
