/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard of a cluster: the lock workflow-instance:{id}. Callers wait for it and try again when
 * the lock service fails; workers hardly wait, since they have other work and their row stays due.
 */
#include "distributed/distributed.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "distributed/refusals.h"

#include <stdio.h>

#define NAME_SIZE (sizeof PAWL_DISTRIBUTED_INSTANCE_LOCK + PAWL_INSTANCE_ID_MAX)

struct distributed_guard {
    struct pawl_guard base;
    struct pawl_distribution distribution;
    struct pawl_refusals refusals;
};

static struct distributed_guard *cast(struct pawl_guard *guard)
{
    return (struct distributed_guard *)(void *)guard;
}

static int64_t sooner(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static int64_t after(int64_t now_ns, int64_t span_ns)
{
    return span_ns > PAWL_FOREVER - now_ns ? PAWL_FOREVER : now_ns + span_ns;
}

static struct pawl_str name_of(struct pawl_str instance_id, char text[NAME_SIZE])
{
    (void)snprintf(text, NAME_SIZE, PAWL_DISTRIBUTED_INSTANCE_LOCK "%.*s",
                   PAWL_STR_ARG(instance_id));
    return pawl__str(text);
}

static void log_overruled(const struct distributed_guard *guard, struct pawl_str name)
{
    if (guard->distribution.log)
        pawl_log(guard->distribution.log, PAWL_LOG_WARN,
                 "lock is held for too long, the store decides", pawl__log_str("lock", name),
                 pawl_log_duration_ns("patience", guard->distribution.patience_ns));
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* One attempt with a short wait. PAWL_ETIMEDOUT: held by another. */
static int try_once(const struct distributed_guard *guard, struct pawl_str name,
                    int64_t deadline_ns, struct pawl_lock *out, struct pawl_error *err)
{
    int status =
        guard->distribution.try_ns == 0
            ? pawl__locks_try(guard->distribution.locks, name, 0, out, err)
            : pawl__locks_acquire(guard->distribution.locks, name, 0, deadline_ns, NULL, out, err);

    if (status == PAWL_EBUSY)
        return PAWL_ETIMEDOUT;
    if (status == PAWL_EUNKNOWN)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the lock service did not reply");
    return status;
}

/*
 * Held by another all the time. Once that has lasted too long, the store alone
 * decides: its claim is refused while the owner's node lives, and granted when it does not.
 */
static int refused(struct distributed_guard *guard, struct pawl_str instance_id,
                   struct pawl_str name, enum pawl_guard_how how, int64_t since_ns,
                   struct pawl_error *err)
{
    bool first;

    if (pawl__refusals_note(&guard->refusals, name, since_ns, &first)) {
        if (first)
            log_overruled(guard, name);
        return PAWL_OK;
    }
    if (how == PAWL_GUARD_TRY)
        return pawl__error_set(err, PAWL_EBUSY, "instance %.*s is locked by another node",
                               PAWL_STR_ARG(instance_id));
    return pawl__error_set(err, PAWL_ETIMEDOUT,
                           "instance %.*s was locked by another node until the time was up: try "
                           "again later",
                           PAWL_STR_ARG(instance_id));
}

/* Callers get an error. Work continues without locks once the service has been unavailable for too
 * long. */
static int unavailable(struct distributed_guard *guard, int status, const struct pawl_error *err)
{
    const struct pawl_log *log = guard->distribution.log;
    bool first;

    if (!pawl__refusals_note_outage(&guard->refusals, status, &first))
        return status;
    if (first && log)
        pawl_log(log, PAWL_LOG_ERROR, "lock service is unavailable, continuing without locks",
                 pawl_log_error("error", err));
    return PAWL_OK;
}

/* ---- tickets: the claim takes the lock ------------------------------------------------------- */

/*
 * No lock is acquired here. One that blocked claims for too long is not acquired at
 * all: of an instance that nobody owns, it is the last thing a paused node may still have.
 */
static int make_ticket(struct distributed_guard *guard, struct pawl_str name,
                       struct pawl_guard_pass *out, struct pawl_error *err)
{
    struct pawl_lock_provider *provider = pawl__locks_provider(guard->distribution.locks);
    int64_t now_ns = pawl_env_monotonic_ns(guard->distribution.env);

    bool first;

    if (pawl__refusals_until(&guard->refusals, name, now_ns) <= now_ns) {
        if (pawl__refusals_note(&guard->refusals, name, now_ns, &first) && first)
            log_overruled(guard, name);
        return PAWL_OK;
    }
    return provider->ops->ticket(provider, name, &out->ticket, err);
}

static void claimed(struct pawl_guard *base, struct pawl_str instance_id, int status)
{
    struct distributed_guard *guard = cast(base);
    char text[NAME_SIZE];
    struct pawl_str name = name_of(instance_id, text);
    bool first;

    if (status == PAWL_OK)
        pawl__refusals_forget(&guard->refusals, name);
    else if (pawl__refusals_note(&guard->refusals, name,
                                 pawl_env_monotonic_ns(guard->distribution.env), &first) &&
             first)
        log_overruled(guard, name);
}

/* ---- entering and leaving -------------------------------------------------------------------- */

static int enter(struct pawl_guard *base, struct pawl_str instance_id, enum pawl_guard_how how,
                 int64_t deadline_ns, struct pawl_guard_pass *out, struct pawl_error *err)
{
    struct distributed_guard *guard = cast(base);
    const struct pawl_distribution *d = &guard->distribution;
    int64_t now_ns = pawl_env_monotonic_ns(d->env);
    int64_t most_ns = after(now_ns, how == PAWL_GUARD_TRY ? d->try_ns : d->acquire_ns);
    char text[NAME_SIZE];
    struct pawl_str name;
    struct pawl_lock lock;
    int status;

    if (instance_id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "an instance id has at most %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    name = name_of(instance_id, text);
    if (d->tickets)
        return make_ticket(guard, name, out, err);
    deadline_ns = sooner(deadline_ns, most_ns);
    deadline_ns = sooner(deadline_ns, pawl__refusals_until(&guard->refusals, name, now_ns));
    status = how == PAWL_GUARD_TRY ? try_once(guard, name, deadline_ns, &lock, err)
                                   : pawl__distributed_acquire(d, name, deadline_ns, &lock, err);
    if (status == PAWL_OK) {
        pawl__refusals_forget(&guard->refusals, name);
        out->number = lock.number;
    } else if (status == PAWL_ETIMEDOUT) {
        status = refused(guard, instance_id, name, how, now_ns, err);
    } else if (how == PAWL_GUARD_TRY) {
        status = unavailable(guard, status, err);
    }
    return status;
}

static bool is_valid(struct pawl_guard *base, struct pawl_guard_pass pass)
{
    return pass.number == 0 ||
           pawl__lock_valid(cast(base)->distribution.locks, (struct pawl_lock){pass.number});
}

static void leave(struct pawl_guard *base, struct pawl_str instance_id, struct pawl_guard_pass pass)
{
    char text[NAME_SIZE];

    if (pass.number != 0)
        pawl__distributed_release(&cast(base)->distribution, name_of(instance_id, text),
                                  (struct pawl_lock){pass.number});
}

static const struct pawl_guard_ops ops = {
    .version = PAWL_GUARD_VERSION,
    .enter = enter,
    .is_valid = is_valid,
    .claimed = claimed,
    .leave = leave,
};

/* ---- life ----------------------------------------------------------------------------------- */

int pawl__distributed_guard_new(const struct pawl_distribution *distribution,
                                struct pawl_guard **out, struct pawl_error *err)
{
    struct pawl_env *env = distribution->env;
    struct distributed_guard *guard = pawl__alloc_zeroed(&env->alloc, sizeof *guard);
    int status;

    if (!guard)
        return pawl__error_code(err, PAWL_ENOMEM);
    guard->base.ops = &ops;
    guard->distribution = *distribution;
    status = pawl__refusals_init(&guard->refusals, env, distribution->patience_ns);
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, guard, sizeof *guard);
        return pawl__error_code(err, status);
    }
    *out = &guard->base;
    return PAWL_OK;
}

void pawl__distributed_guard_free(struct pawl_guard *guard)
{
    struct distributed_guard *own = guard ? cast(guard) : NULL;

    if (!own)
        return;
    pawl__refusals_release(&own->refusals);
    pawl__free(&own->distribution.env->alloc, own, sizeof *own);
}
