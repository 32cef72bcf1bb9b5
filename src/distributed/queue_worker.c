/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue worker of a cluster: a turn is the lock of a partition, for as long as taking from it
 * takes. Partitions come round one after the other; those that another node is at are skipped.
 *
 * A holder that is paused would keep everybody from all work, and so would a lock service that is
 * away: when that has lasted longer than it may, partitions are looked at without locks. Two nodes
 * that look at once take different rows, or one of them does: the store sees to that.
 */
#include "distributed/distributed.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "distributed/refusals.h"

#include <stdatomic.h>
#include <stdio.h>

#define NAME_SIZE (sizeof PAWL_DISTRIBUTED_QUEUE_LOCK + 12)

struct distributed_worker {
    struct pawl_queue_worker base;
    struct pawl_distribution distribution;
    struct pawl_refusals refusals;
    atomic_uint next; /* turn */
};

struct turn {
    struct pawl_lock lock; /* all zero: without */
    uint32_t partition;
};

static struct distributed_worker *cast(struct pawl_queue_worker *worker)
{
    return (struct distributed_worker *)(void *)worker;
}

static struct pawl_str name_of(const struct distributed_worker *worker, uint32_t partition,
                               char text[NAME_SIZE])
{
    if (worker->distribution.partitions == 1)
        return pawl__str(PAWL_DISTRIBUTED_QUEUE_LOCK);
    (void)snprintf(text, NAME_SIZE, PAWL_DISTRIBUTED_QUEUE_LOCK ":%u", partition);
    return pawl__str(text);
}

/* Never waits for a holder. */
static int acquire_partition(struct distributed_worker *worker, uint32_t partition,
                             struct pawl_lock *out, struct pawl_error *err)
{
    const struct pawl_distribution *d = &worker->distribution;
    int64_t now_ns = pawl_env_monotonic_ns(d->env);
    char text[NAME_SIZE];
    struct pawl_str name = name_of(worker, partition, text);
    bool first;
    int status = pawl__locks_try(d->locks, name, 0, out, err);

    if (status == PAWL_OK)
        pawl__refusals_forget(&worker->refusals, name);
    else if (status == PAWL_EUNKNOWN)
        status = pawl__error_set(err, PAWL_EUNAVAILABLE, "the lock service did not reply");
    if (status == PAWL_OK)
        return status;
    if (status == PAWL_EBUSY ? !pawl__refusals_note(&worker->refusals, name, now_ns, &first)
                             : !pawl__refusals_note_outage(&worker->refusals, status, &first))
        return status;
    if (first && d->log && status != PAWL_EBUSY)
        pawl_log(d->log, PAWL_LOG_ERROR, "lock service is unavailable, continuing without",
                 pawl__log_str("lock", name), pawl_log_error("error", err));
    else if (first && d->log)
        pawl_log(d->log, PAWL_LOG_WARN, "lock is held for too long, continuing without",
                 pawl__log_str("lock", name), pawl_log_duration_ns("patience", d->patience_ns));
    *out = (struct pawl_lock){0};
    return PAWL_OK;
}

static void fill_turn(const struct distributed_worker *worker, uint32_t partition,
                      struct pawl_queue_turn *turn)
{
    uint32_t count = worker->distribution.partitions;

    turn->part_from = count == 1 ? 0 : PAWL_QUEUE_PARTS * partition / count;
    turn->part_to = count == 1 ? 0 : PAWL_QUEUE_PARTS * (partition + 1) / count;
}

static int begin(struct pawl_queue_worker *base, struct pawl_queue_turn *out, int64_t deadline_ns,
                 struct pawl_error *err)
{
    struct distributed_worker *worker = cast(base);
    struct pawl_env *env = worker->distribution.env;
    uint32_t count = worker->distribution.partitions;
    struct turn *turn = pawl__alloc_zeroed(&env->alloc, sizeof *turn);
    bool round_ends = false;
    int status = PAWL_EBUSY;

    (void)deadline_ns;
    if (!turn)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (uint32_t i = 0; i < count && status == PAWL_EBUSY; i++) {
        turn->partition = atomic_fetch_add(&worker->next, 1) % count;
        round_ends = round_ends || turn->partition == count - 1;
        status = acquire_partition(worker, turn->partition, &turn->lock, err);
    }
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, turn, sizeof *turn);
        return status;
    }
    *out = (struct pawl_queue_turn){.more = !round_ends, .ticket = turn};
    fill_turn(worker, turn->partition, out);
    return PAWL_OK;
}

static void end(struct pawl_queue_worker *base, struct pawl_queue_turn *out)
{
    struct distributed_worker *worker = cast(base);
    struct turn *turn = out->ticket;
    char text[NAME_SIZE];

    if (turn->lock.number != 0)
        pawl__distributed_release(&worker->distribution, name_of(worker, turn->partition, text),
                                  turn->lock);
    pawl__free(&worker->distribution.env->alloc, turn, sizeof *turn);
    out->ticket = NULL;
}

static void close_worker(struct pawl_queue_worker *base)
{
    struct distributed_worker *worker = cast(base);

    pawl__refusals_release(&worker->refusals);
    pawl__free(&worker->distribution.env->alloc, worker, sizeof *worker);
}

static const struct pawl_queue_worker_ops ops = {
    .version = PAWL_QUEUE_WORKER_VERSION,
    .close = close_worker,
    .begin = begin,
    .end = end,
};

int pawl__distributed_queue_worker_new(const struct pawl_distribution *distribution,
                                       struct pawl_queue_worker **out, struct pawl_error *err)
{
    struct pawl_env *env = distribution->env;
    struct distributed_worker *worker;
    int status;

    if (distribution->partitions > PAWL_DISTRIBUTED_PARTITIONS_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "%u partitions are too many: at most %u",
                               distribution->partitions, PAWL_DISTRIBUTED_PARTITIONS_MAX);
    worker = pawl__alloc_zeroed(&env->alloc, sizeof *worker);
    if (!worker)
        return pawl__error_code(err, PAWL_ENOMEM);
    worker->base = (struct pawl_queue_worker){&ops, "distributed"};
    worker->distribution = *distribution;
    if (worker->distribution.partitions == 0)
        worker->distribution.partitions = 1;
    status = pawl__refusals_init(&worker->refusals, env, distribution->patience_ns);
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, worker, sizeof *worker);
        return pawl__error_code(err, status);
    }
    *out = &worker->base;
    return PAWL_OK;
}
