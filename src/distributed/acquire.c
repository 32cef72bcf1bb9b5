/* SPDX-License-Identifier: Apache-2.0 */
/* Acquiring with retries, releasing without fuss; see distributed.h. */
#include "distributed/distributed.h"

#include "base/error.h"
#include "base/log.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

void pawl__distribution_init(struct pawl_distribution *distribution, struct pawl_env *env,
                             struct pawl_locks *locks)
{
    *distribution = (struct pawl_distribution){
        .env = env,
        .locks = locks,
        .retry = pawl__retry_locks,
        .acquire_ns = 10 * SECOND_NS,
        .try_ns = 50 * MS_NS,
        .patience_ns = 10 * SECOND_NS,
        .partitions = 1,
    };
}

struct acquiring {
    const struct pawl_distribution *distribution;
    struct pawl_str name;
    int64_t deadline_ns;
    struct pawl_lock lock;
};

/* After an unknown outcome the front end releases what may be held: here it is not held. */
static int attempt(void *ctx, struct pawl_error *err)
{
    struct acquiring *a = ctx;
    int status = pawl__locks_acquire(a->distribution->locks, a->name, 0, a->deadline_ns, NULL,
                                     &a->lock, err);

    if (status == PAWL_EUNKNOWN)
        status = err->code = PAWL_EUNAVAILABLE;
    return status;
}

static void waiting(void *ctx, uint32_t retry_count, int64_t delay_ns, const struct pawl_error *err)
{
    const struct acquiring *a = ctx;

    if (a->distribution->log)
        pawl_log(a->distribution->log, PAWL_LOG_WARN, "lock not acquired, trying again",
                 pawl__log_str("lock", a->name), pawl_log_uint("attempt", retry_count),
                 pawl_log_duration_ns("wait", delay_ns), pawl_log_error("error", err));
}

int pawl__distributed_acquire(const struct pawl_distribution *distribution, struct pawl_str name,
                              int64_t deadline_ns, struct pawl_lock *out, struct pawl_error *err)
{
    struct acquiring a = {.distribution = distribution, .name = name, .deadline_ns = deadline_ns};
    const struct pawl_retry_calls calls = {attempt, waiting, &a};
    int status = pawl__retry_run(distribution->env, &distribution->retry, deadline_ns, &calls, err);

    if (status == PAWL_OK)
        *out = a.lock;
    return status;
}

void pawl__distributed_release(const struct pawl_distribution *distribution, struct pawl_str name,
                               struct pawl_lock lock)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__locks_release(distribution->locks, lock, &err);

    if (status != PAWL_OK && distribution->log)
        pawl_log(distribution->log, PAWL_LOG_WARN, "lock not released, it will expire",
                 pawl__log_str("lock", name), pawl_log_error("error", &err));
}
