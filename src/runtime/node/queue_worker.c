/* SPDX-License-Identifier: Apache-2.0 */
/* The queue worker of one node: every turn is its own. */
#include "runtime/node/queue_worker.h"

#include "base/alloc.h"
#include "base/error.h"

struct local_worker {
    struct pawl_queue_worker base;
    struct pawl_env *env;
};

static void close_local(struct pawl_queue_worker *worker)
{
    struct local_worker *local = (struct local_worker *)worker;

    pawl__free(&local->env->alloc, local, sizeof *local);
}

static int begin_local(struct pawl_queue_worker *worker, struct pawl_queue_turn *turn,
                       int64_t deadline_ns, struct pawl_error *err)
{
    (void)worker;
    (void)deadline_ns;
    (void)err;
    *turn = (struct pawl_queue_turn){0};
    return PAWL_OK;
}

static void end_local(struct pawl_queue_worker *worker, struct pawl_queue_turn *turn)
{
    (void)worker;
    (void)turn;
}

static const struct pawl_queue_worker_ops ops = {
    .version = PAWL_QUEUE_WORKER_VERSION,
    .close = close_local,
    .begin = begin_local,
    .end = end_local,
};

int pawl__local_queue_worker_new(struct pawl_env *env, struct pawl_queue_worker **out,
                                 struct pawl_error *err)
{
    struct local_worker *local = pawl__alloc_zeroed(&env->alloc, sizeof *local);

    if (!local)
        return pawl__error_code(err, PAWL_ENOMEM);
    local->base = (struct pawl_queue_worker){&ops, "local"};
    local->env = env;
    *out = &local->base;
    return PAWL_OK;
}
