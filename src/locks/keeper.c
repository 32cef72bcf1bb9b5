/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two threads behind the locks: the keeper talks to the service (renewing leases, giving back
 * what is owed), the watcher does not and so is never late (it notes the end of a lease that was
 * not renewed, and notifies their holders). See locks_private.h.
 */
#include "base/error.h"
#include "locks/locks_private.h"

/* How often a connection without leases is asked whether it lives, and what costs less. */
#define PROBE_NS (10000 * PAWL_LOCK_MS)
#define CHEAP_PROBE_NS (1000 * PAWL_LOCK_MS)
/* A lease that failed to be renewed is tried again after a tenth of it, at most this. */
#define AGAIN_NS_MAX (1000 * PAWL_LOCK_MS)
/* What is owed: first wait, longest wait, longest call, and for how long when the end is not known.
 */
#define OWED_NS_MIN (20 * PAWL_LOCK_MS)
#define OWED_NS_MAX (2000 * PAWL_LOCK_MS)
#define OWED_CALL_NS (1000 * PAWL_LOCK_MS)
#define OWED_CALL_NS_MIN (50 * PAWL_LOCK_MS)
#define OWED_FOR_NS (INT64_C(300000) * PAWL_LOCK_MS)

#define HOLD_OF(due, member)                                                                       \
    ((struct pawl_lock_hold *)(void *)((char *)(due)-offsetof(struct pawl_lock_hold, member)))

static int64_t now_of(struct pawl_locks *locks)
{
    return pawl_env_monotonic_ns(locks->env);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- from stage to stage ------------------------------------------------------------------- */

int pawl__lock_hold_calm(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    int status = PAWL_OK;

    while (status == PAWL_OK && (hold->in_call || hold->telling))
        status = pawl_cond_wait(locks->env, locks->calmed, locks->mutex, PAWL_FOREVER);
    return status;
}

void pawl__lock_hold_detach(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    pawl__lock_heap_remove(&locks->renewals, &hold->renewal);
    pawl__lock_heap_remove(&locks->debts, &hold->debt);
    pawl__lock_heap_remove(&locks->ends, &hold->end);
    if (pawl__list_linked(&hold->tell_link))
        pawl__list_remove(&hold->tell_link);
    if (pawl__list_linked(&hold->cancel_link))
        pawl__list_remove(&hold->cancel_link);
    pawl__lock_entry_leave(locks, hold);
}

/*
 * Puts it into a heap and wakes the thread that looks after it, if that would sleep past it. What
 * was released meanwhile may let it wake for nothing, once; waking it for every lock that is taken
 * and soon given back would cost more than many a service does.
 */
static void schedule(struct pawl_locks *locks, struct pawl_lock_heap *heap,
                     struct pawl_lock_due *due, int64_t at_ns, struct pawl_cond *cond)
{
    int64_t until_ns =
        cond == locks->keeper_cond ? locks->keeper_until_ns : locks->watcher_until_ns;

    pawl__lock_heap_set(heap, due, at_ns);
    if (at_ns < until_ns)
        pawl_cond_signal(locks->env, cond);
}

/* Sleeps until something is due or a signal. */
static int sleep_until(struct pawl_locks *locks, struct pawl_cond *cond, int64_t *until_ns,
                       int64_t due_ns)
{
    int status;

    *until_ns = due_ns;
    status = pawl_cond_wait(locks->env, cond, locks->mutex, due_ns);
    *until_ns = INT64_MIN; /* awake: it looks at the heaps before it sleeps */
    return status;
}

static int64_t lease_of(struct pawl_locks *locks, const struct pawl_lock_hold *hold)
{
    return atomic_load(&pawl__lock_slot_at(locks, hold->slot)->lease_ns);
}

/* Of what has no lease. */
static int64_t probe_ns(const struct pawl_locks *locks)
{
    return locks->caps & PAWL_LOCK_CAP_PROBE ? CHEAP_PROBE_NS : PROBE_NS;
}

static void note_lease(struct pawl_locks *locks, struct pawl_lock_hold *hold, int64_t now_ns)
{
    struct pawl_lock_slot *slot = pawl__lock_slot_at(locks, hold->slot);
    int64_t until_ns = hold->grant.valid_until_ns;

    atomic_store(&slot->valid_until_ns, until_ns);
    atomic_store(&slot->lease_ns, until_ns == PAWL_FOREVER ? 0 : until_ns - now_ns);
}

void pawl__lock_hold_keep(struct pawl_locks *locks, struct pawl_lock_hold *hold, int64_t now_ns)
{
    int64_t period_ns = probe_ns(locks);

    note_lease(locks, hold, now_ns);
    if (hold->grant.valid_until_ns != PAWL_FOREVER) {
        period_ns = lease_of(locks, hold) / 3;
        schedule(locks, &locks->ends, &hold->end, hold->grant.valid_until_ns, locks->watcher_cond);
    } else if (!(locks->caps & (PAWL_LOCK_CAP_LOST | PAWL_LOCK_CAP_PROBE))) {
        return; /* bound to this process, or to something nobody can ask about */
    }
    schedule(locks, &locks->renewals, &hold->renewal,
             now_ns + pawl__lock_jitter(locks, period_ns, 10), locks->keeper_cond);
}

void pawl__lock_hold_lose(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    hold->stage = PAWL_LOCK_STAGE_LOST;
    atomic_store(&pawl__lock_slot_at(locks, hold->slot)->lost, true);
    pawl__lock_heap_remove(&locks->renewals, &hold->renewal);
    pawl__lock_heap_remove(&locks->ends, &hold->end);
    pawl__lock_entry_leave(locks, hold);
    locks->counts.lost++;
    locks->counts.held--;
    pawl_log(locks->log, PAWL_LOG_WARN, "lock lost",
             pawl_log_str("lock", hold->name, hold->name_len),
             pawl_log_text("owner", hold->grant.owner));
    if (hold->lost && !pawl__list_linked(&hold->tell_link)) {
        pawl__list_push_back(&locks->to_tell, &hold->tell_link);
        pawl_cond_signal(locks->env, locks->watcher_cond);
    }
}

void pawl__lock_hold_owe(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    int64_t now_ns = now_of(locks);
    int64_t end_ns = hold->grant.valid_until_ns;

    hold->stage = PAWL_LOCK_STAGE_OWED;
    hold->owed_until_ns = now_ns + OWED_FOR_NS;
    if (end_ns > now_ns && end_ns != PAWL_FOREVER) /* and what it was cut by, and a bit more */
        hold->owed_until_ns = end_ns + (end_ns - now_ns) / 50 + OWED_NS_MAX;
    hold->delay_ns = OWED_NS_MIN;
    schedule(locks, &locks->debts, &hold->debt, now_ns, locks->keeper_cond);
}

int pawl__lock_on_lost(struct pawl_locks *locks, struct pawl_lock lock, void (*lost)(void *ctx),
                       void *ctx, struct pawl_error *err)
{
    struct pawl_lock_hold *hold;
    int status = pawl_mutex_lock(locks->env, locks->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    hold = pawl__lock_find(locks, lock);
    if (hold) {
        hold->lost = lost;
        hold->lost_ctx = ctx;
        if (hold->stage == PAWL_LOCK_STAGE_LOST && !pawl__list_linked(&hold->tell_link)) {
            pawl__list_push_back(&locks->to_tell, &hold->tell_link);
            pawl_cond_signal(locks->env, locks->watcher_cond);
        }
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
    return hold ? PAWL_OK
                : pawl__error_set(err, PAWL_ENOTFOUND, "the lock is not held: it was released");
}

/* ---- the watcher --------------------------------------------------------------------------- */

static void call_lost(struct pawl_locks *locks, struct pawl_lock_hold *hold, bool *stopped)
{
    void (*lost)(void *ctx) = hold->lost;
    void *ctx = hold->lost_ctx;

    hold->lost = NULL;
    hold->telling = true;
    pawl_mutex_unlock(locks->env, locks->mutex);
    lost(ctx);
    *stopped = pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK;
    if (*stopped)
        return;
    hold->telling = false;
    pawl_cond_broadcast(locks->env, locks->calmed);
}

static void note_ends(struct pawl_locks *locks)
{
    int64_t now_ns = now_of(locks);
    struct pawl_lock_due *due;

    while ((due = pawl__lock_heap_top(&locks->ends)) && due->at_ns <= now_ns)
        pawl__lock_hold_lose(locks, HOLD_OF(due, end));
}

void pawl__lock_watch(void *arg)
{
    struct pawl_locks *locks = arg;
    bool stopped = pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK;

    if (stopped)
        return;
    while (!locks->stop) {
        struct pawl_lock_due *due;
        struct pawl_lock_hold *hold;

        note_ends(locks);
        hold =
            PAWL_CONTAINER(pawl__list_pop_front(&locks->to_tell), struct pawl_lock_hold, tell_link);
        if (hold && hold->lost)
            call_lost(locks, hold, &stopped);
        if (stopped)
            return;
        if (hold)
            continue;
        due = pawl__lock_heap_top(&locks->ends);
        if (sleep_until(locks, locks->watcher_cond, &locks->watcher_until_ns,
                        due ? due->at_ns : PAWL_FOREVER) == PAWL_ESTOPPED)
            break;
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
}

/* ---- the keeper ---------------------------------------------------------------------------- */

struct batch {
    struct pawl_lock_grant *grants[PAWL_LOCK_RENEW_MAX];
    size_t count;
    int64_t deadline_ns;
};

/* What is due, and what would be soon: one call for many costs little more than for one. */
static void collect(struct pawl_locks *locks, int64_t now_ns, struct batch *batch)
{
    struct pawl_lock_due *due;

    batch->count = 0;
    batch->deadline_ns = now_ns + locks->call_ns;
    while (batch->count < PAWL_LOCK_RENEW_MAX && (due = pawl__lock_heap_top(&locks->renewals))) {
        struct pawl_lock_hold *hold = HOLD_OF(due, renewal);

        if (due->at_ns > now_ns + (batch->count > 0 ? lease_of(locks, hold) / 30 : 0))
            break;
        pawl__lock_heap_remove(&locks->renewals, due);
        hold->in_call = true;
        batch->deadline_ns = least(batch->deadline_ns, hold->grant.valid_until_ns);
        batch->grants[batch->count++] = &hold->grant;
    }
}

static void apply_renewal(struct pawl_locks *locks, struct pawl_lock_hold *hold, int status,
                          int64_t sent_ns, int64_t now_ns)
{
    int64_t period_ns;

    hold->in_call = false;
    if (hold->stage != PAWL_LOCK_STAGE_HELD)
        return; /* lost or released meanwhile */
    if (status == PAWL_ENOTFOUND) {
        pawl__lock_hold_lose(locks, hold);
        return;
    }
    period_ns = lease_of(locks, hold);
    if (status == PAWL_OK) {
        locks->counts.renewed++;
        note_lease(locks, hold, sent_ns);
        if (hold->grant.valid_until_ns != PAWL_FOREVER)
            pawl__lock_heap_set(&locks->ends, &hold->end, hold->grant.valid_until_ns);
        period_ns = lease_of(locks, hold);
        period_ns = pawl__lock_jitter(locks, period_ns > 0 ? period_ns / 3 : probe_ns(locks), 10);
        pawl__lock_heap_set(&locks->renewals, &hold->renewal, sent_ns + period_ns);
        return;
    }
    period_ns = period_ns > 0 ? least(period_ns / 10, AGAIN_NS_MAX) : AGAIN_NS_MAX;
    pawl__lock_heap_set(&locks->renewals, &hold->renewal, now_ns + period_ns);
}

/* Returns false when the environment stopped: the mutex is not held then. */
static bool renew(struct pawl_locks *locks, struct batch *batch)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int64_t sent_ns = now_of(locks), now_ns;
    int status;

    collect(locks, sent_ns, batch);
    if (batch->count == 0)
        return true;
    pawl_mutex_unlock(locks->env, locks->mutex);
    status = locks->provider->ops->renew(locks->provider, batch->grants, batch->count,
                                         batch->deadline_ns, &err);
    if (status != PAWL_OK && status != PAWL_ESTOPPED)
        pawl_log(locks->log, PAWL_LOG_WARN, "locks not renewed; trying again",
                 pawl_log_uint("locks", batch->count), pawl_log_error("error", &err));
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return false;
    now_ns = now_of(locks);
    for (size_t i = 0; i < batch->count; i++)
        apply_renewal(locks, pawl__lock_hold_of(batch->grants[i]),
                      status == PAWL_OK ? batch->grants[i]->status : PAWL_EUNAVAILABLE, sent_ns,
                      now_ns);
    pawl_cond_broadcast(locks->env, locks->calmed);
    return true;
}

/* How long an owed release may take without delaying renewals. */
static int64_t debt_deadline(struct pawl_locks *locks, int64_t now_ns)
{
    struct pawl_lock_due *next = pawl__lock_heap_top(&locks->renewals);
    int64_t deadline_ns = now_ns + OWED_CALL_NS;

    if (next && next->at_ns < deadline_ns)
        deadline_ns = next->at_ns;
    return deadline_ns < now_ns + OWED_CALL_NS_MIN ? now_ns + OWED_CALL_NS_MIN : deadline_ns;
}

static bool release_owed(struct pawl_locks *locks)
{
    const struct pawl_lock_provider_ops *ops = locks->provider->ops;
    struct pawl_lock_due *due = pawl__lock_heap_top(&locks->debts);
    int64_t now_ns = now_of(locks), deadline_ns;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_hold *hold;
    int status;

    if (!due || due->at_ns > now_ns)
        return true;
    hold = HOLD_OF(due, debt);
    deadline_ns = debt_deadline(locks, now_ns);
    pawl__lock_heap_remove(&locks->debts, due);
    hold->in_call = true;
    pawl_mutex_unlock(locks->env, locks->mutex);
    status = ops->release(locks->provider, &hold->grant, deadline_ns, &err);
    hold->maybe = status != PAWL_OK && status != PAWL_ENOTFOUND;
    if (hold->maybe && now_of(locks) >= hold->owed_until_ns) {
        pawl_log(locks->log, PAWL_LOG_WARN, "lock not released; it will expire",
                 pawl_log_str("lock", hold->name, hold->name_len), pawl_log_error("error", &err));
        ops->abandon(locks->provider, &hold->grant);
        hold->maybe = false;
    }
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return false;
    hold->in_call = false;
    if (!hold->maybe) {
        pawl__lock_hold_free(locks, hold);
        return true;
    }
    pawl__lock_heap_set(&locks->debts, &hold->debt,
                        now_of(locks) + pawl__lock_jitter(locks, hold->delay_ns, 20));
    hold->delay_ns = least(2 * hold->delay_ns, OWED_NS_MAX);
    return true;
}

void pawl__lock_keep(void *arg)
{
    struct pawl_locks *locks = arg;
    struct batch batch;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    while (!locks->stop) {
        struct pawl_lock_due *renewal, *debt;
        int64_t until_ns = PAWL_FOREVER;

        if (!renew(locks, &batch) || !release_owed(locks))
            return;
        renewal = pawl__lock_heap_top(&locks->renewals);
        debt = pawl__lock_heap_top(&locks->debts);
        if (renewal)
            until_ns = renewal->at_ns;
        if (debt)
            until_ns = least(until_ns, debt->at_ns);
        if (until_ns > now_of(locks) && !locks->stop &&
            sleep_until(locks, locks->keeper_cond, &locks->keeper_until_ns, until_ns) ==
                PAWL_ESTOPPED)
            break;
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
}
