/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring and releasing: the queues of local waiters for a name, and the one of each queue
 * that calls the service. See locks.h and locks_private.h.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/locks_private.h"

#include <inttypes.h>
#include <stdio.h>

/* The first wait after a refusal; doubled up to poll_ns_max. */
#define POLL_NS_MIN (2 * PAWL_LOCK_MS)
/* What a call to the service gets at the least, however near the deadline is. */
#define CALL_NS_MIN (100 * PAWL_LOCK_MS)

/* What acquire() and try() were asked for. */
struct request {
    struct pawl_str name;
    uint32_t flags;
    int64_t deadline_ns;
    struct pawl_lock_cancel *cancel;
    bool once; /* try(): one attempt, nobody is waited for */
};

static int64_t now_of(struct pawl_locks *locks)
{
    return pawl_env_monotonic_ns(locks->env);
}

/* ---- entries ----------------------------------------------------------------------------- */

static struct pawl_lock_hold *first_of(const struct pawl_lock_entry *entry)
{
    return PAWL_CONTAINER(pawl__list_first(&entry->waiters), struct pawl_lock_hold, turn_link);
}

static void signal_first(struct pawl_locks *locks, struct pawl_lock_entry *entry)
{
    struct pawl_lock_hold *first = first_of(entry);

    if (first && first->spot)
        pawl_cond_signal(locks->env, first->spot->cond);
}

static struct pawl_lock_entry *make_entry(struct pawl_locks *locks, struct pawl_str name)
{
    size_t size = sizeof(struct pawl_lock_entry) + name.len;
    struct pawl_lock_entry *entry = pawl__alloc_zeroed(&locks->env->alloc, size);

    if (!entry)
        return NULL;
    pawl__list_init(&entry->waiters);
    entry->name_len = name.len;
    if (name.len > 0)
        memcpy(entry->name, name.ptr, name.len);
    if (pawl__map_put(&locks->entries, pawl__str_make(entry->name, name.len), entry) != PAWL_OK) {
        pawl__free(&locks->env->alloc, entry, size);
        return NULL;
    }
    return entry;
}

/* The next one has its turn; an entry that nobody is interested in is forgotten. */
void pawl__lock_entry_leave(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    struct pawl_lock_entry *entry = hold->entry;

    if (!entry)
        return;
    hold->entry = NULL;
    if (pawl__list_linked(&hold->turn_link))
        pawl__list_remove(&hold->turn_link);
    if (entry->hold == hold)
        entry->hold = NULL;
    if (entry->hold)
        return;
    if (!pawl__list_empty(&entry->waiters)) {
        signal_first(locks, entry);
        return;
    }
    (void)pawl__map_remove(&locks->entries, pawl__str_make(entry->name, entry->name_len));
    pawl__free(&locks->env->alloc, entry, sizeof *entry + entry->name_len);
}

/* ---- holds ------------------------------------------------------------------------------- */

/* Unique among all processes: the random half is this object's, the rest counts. */
static void name_owner(struct pawl_locks *locks, struct pawl_lock_grant *grant)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t halves[2] = {locks->owner_base, ++locks->attempt_count};
    size_t len = strlen(locks->owner);

    PAWL_ASSERT(len + 33 <= sizeof grant->owner);
    memcpy(grant->owner, locks->owner, len);
    for (int i = 0; i < 32; i++)
        grant->owner[len++] = digits[halves[i / 16] >> (60 - 4 * (i % 16)) & 15];
    grant->owner[len] = '\0';
}

static int reserve(struct pawl_locks *locks, uint32_t *slot)
{
    const struct pawl_allocator *alloc = &locks->env->alloc;
    int status = pawl__lock_heap_reserve(&locks->ends, alloc, locks->hold_count + 1);

    if (status == PAWL_OK)
        status = pawl__lock_heap_reserve(&locks->renewals, alloc, locks->hold_count + 1);
    if (status == PAWL_OK)
        status = pawl__lock_heap_reserve(&locks->debts, alloc, locks->hold_count + 1);
    return status == PAWL_OK ? pawl__lock_slot_take(locks, slot) : status;
}

/* All memory is allocated before the service is called. */
static struct pawl_lock_hold *make_hold(struct pawl_locks *locks, const struct request *request)
{
    size_t size = sizeof(struct pawl_lock_hold) + request->name.len;
    struct pawl_lock_hold *hold = pawl__alloc_zeroed(&locks->env->alloc, size);

    if (!hold)
        return NULL;
    if (reserve(locks, &hold->slot) != PAWL_OK) {
        pawl__free(&locks->env->alloc, hold, size);
        return NULL;
    }
    hold->name_len = request->name.len;
    if (request->name.len > 0)
        memcpy(hold->name, request->name.ptr, request->name.len);
    hold->grant.name = pawl__str_make(hold->name, hold->name_len);
    hold->grant.flags = request->flags;
    name_owner(locks, &hold->grant);
    hold->cancel = request->cancel;
    pawl__list_push_back(&locks->holds, &hold->link);
    locks->hold_count++;
    return hold;
}

void pawl__lock_hold_free(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    if (hold->slot)
        pawl__lock_slot_give(locks, hold->slot);
    if (hold->spot) {
        hold->spot->next = locks->spots;
        locks->spots = hold->spot;
    }
    if (pawl__list_linked(&hold->link))
        pawl__list_remove(&hold->link);
    locks->hold_count--;
    pawl__free(&locks->env->alloc, hold, sizeof *hold + hold->name_len);
}

/* ---- waiting ----------------------------------------------------------------------------- */

static bool is_cancelled(const struct pawl_lock_hold *hold)
{
    return hold->cancel && atomic_load(&hold->cancel->asked);
}

static int make_spot(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    struct pawl_lock_spot *spot = locks->spots;
    int status;

    if (spot) {
        locks->spots = spot->next;
        hold->spot = spot;
        return PAWL_OK;
    }
    spot = pawl__alloc_zeroed(&locks->env->alloc, sizeof *spot);
    if (!spot)
        return PAWL_ENOMEM;
    status = pawl_cond_new(locks->env, "lock waiter", &spot->cond);
    if (status != PAWL_OK) {
        pawl__free(&locks->env->alloc, spot, sizeof *spot);
        return status;
    }
    hold->spot = spot;
    return PAWL_OK;
}

/* PAWL_OK: something changed; PAWL_ETIMEDOUT, PAWL_ESTOPPED, PAWL_ENOMEM. */
static int sleep_until(struct pawl_locks *locks, struct pawl_lock_hold *hold, int64_t until_ns)
{
    int status = hold->spot ? PAWL_OK : make_spot(locks, hold);

    return status == PAWL_OK ? pawl_cond_wait(locks->env, hold->spot->cond, locks->mutex, until_ns)
                             : status;
}

/* Until nobody here holds the name and nobody came before. */
static int wait_for_turn(struct pawl_locks *locks, struct pawl_lock_hold *hold, int64_t deadline_ns)
{
    int status = PAWL_OK;

    while (hold->entry->hold || first_of(hold->entry) != hold) {
        if (is_cancelled(hold))
            return PAWL_ECANCELLED;
        if (status != PAWL_OK)
            return status;
        status = sleep_until(locks, hold, deadline_ns);
    }
    return status == PAWL_ESTOPPED ? status : PAWL_OK;
}

/* After a refusal: for a while, or until the provider says that it is worth asking again. */
static int wait_for_chance(struct pawl_locks *locks, struct pawl_lock_hold *hold, uint64_t wakes,
                           int64_t until_ns)
{
    int status = PAWL_OK;

    while (status == PAWL_OK && hold->entry->wakes == wakes && !is_cancelled(hold))
        status = sleep_until(locks, hold, until_ns);
    if (is_cancelled(hold))
        return PAWL_ECANCELLED;
    return status == PAWL_ETIMEDOUT ? PAWL_OK : status;
}

/* ---- asking the service ------------------------------------------------------------------ */

static int64_t call_deadline(struct pawl_locks *locks, int64_t deadline_ns)
{
    int64_t now_ns = now_of(locks);
    int64_t most = now_ns + locks->call_ns, least = now_ns + CALL_NS_MIN;

    if (deadline_ns > most)
        return most;
    return deadline_ns > least ? deadline_ns : least;
}

/* One call without the mutex. *stopped: it is not held afterwards either. */
static int try_acquire(struct pawl_locks *locks, struct pawl_lock_hold *hold, int64_t deadline_ns,
                       bool wait, bool *stopped, struct pawl_error *err)
{
    const struct pawl_lock_provider_ops *ops = locks->provider->ops;
    int status;

    hold->in_wait = wait;
    hold->maybe = true;
    pawl_mutex_unlock(locks->env, locks->mutex);
    if (wait)
        status = ops->wait(locks->provider, &hold->grant, deadline_ns, err);
    else
        status = ops->try_(locks->provider, &hold->grant, call_deadline(locks, deadline_ns), err);
    if (status != PAWL_OK && status != PAWL_EUNKNOWN)
        hold->maybe = false;
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK) {
        *stopped = true;
        return PAWL_ESTOPPED;
    }
    hold->in_wait = false;
    return status;
}

/* The service granted it; is it of use? */
static int take(struct pawl_locks *locks, struct pawl_lock_hold *hold, struct pawl_lock *out,
                struct pawl_error *err)
{
    struct pawl_lock_slot *slot = pawl__lock_slot_at(locks, hold->slot);
    int64_t now_ns = now_of(locks);

    if (hold->broken || hold->grant.valid_until_ns <= now_ns)
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "the lock '%.*s' was lost as soon as it was granted; try again",
                               (int)(hold->name_len < 100 ? hold->name_len : 100), hold->name);
    pawl__list_remove(&hold->turn_link);
    hold->stage = PAWL_LOCK_STAGE_HELD;
    hold->entry->hold = hold;
    locks->counts.granted++;
    locks->counts.held++;
    slot->hold = hold;
    atomic_store(&slot->lost, false);
    atomic_store(&slot->token, hold->grant.token);
    pawl__lock_hold_keep(locks, hold, now_ns);
    out->number = (uint64_t)++slot->generation << 32 | hold->slot;
    atomic_store(&slot->number, out->number);
    return PAWL_OK;
}

/* Asks until it is granted or hopeless; called in its turn. */
static int compete(struct pawl_locks *locks, struct pawl_lock_hold *hold,
                   const struct request *request, bool *stopped, struct pawl_error *err)
{
    int64_t delay_ns = POLL_NS_MIN < locks->poll_ns_max ? POLL_NS_MIN : locks->poll_ns_max;

    for (;;) {
        uint64_t wakes = hold->entry->wakes;
        bool last = request->once || now_of(locks) >= request->deadline_ns;
        int64_t until_ns;
        int status = try_acquire(locks, hold, request->deadline_ns, false, stopped, err);

        if (status != PAWL_EBUSY)
            return status;
        locks->counts.refused++;
        if (last)
            return request->once ? PAWL_EBUSY : PAWL_ETIMEDOUT;
        if (locks->caps & PAWL_LOCK_CAP_WAIT && !is_cancelled(hold)) {
            status = try_acquire(locks, hold, request->deadline_ns, true, stopped, err);
            if (*stopped ||
                (status != PAWL_EBUSY && status != PAWL_ETIMEDOUT && status != PAWL_ECANCELLED))
                return status;
        }
        until_ns = now_of(locks) + pawl__lock_jitter(locks, delay_ns, 50);
        status = wait_for_chance(locks, hold, wakes,
                                 until_ns < request->deadline_ns ? until_ns : request->deadline_ns);
        if (status != PAWL_OK)
            return status;
        delay_ns = 2 * delay_ns < locks->poll_ns_max ? 2 * delay_ns : locks->poll_ns_max;
    }
}

/* ---- acquire ----------------------------------------------------------------------------- */

static int enter(struct pawl_locks *locks, const struct request *request,
                 struct pawl_lock_hold **out, struct pawl_error *err)
{
    struct pawl_lock_entry *entry = pawl__map_get(&locks->entries, request->name);
    struct pawl_lock_hold *hold;

    if (request->once && entry) {
        locks->counts.refused++;
        return PAWL_EBUSY;
    }
    if (locks->hold_count >= locks->held_max)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "%zu locks are already held or waited for, the maximum",
                               locks->held_max);
    hold = make_hold(locks, request);
    if (!hold)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (!entry)
        entry = make_entry(locks, request->name);
    if (!entry) {
        pawl__lock_hold_free(locks, hold);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    hold->entry = entry;
    pawl__list_push_back(&entry->waiters, &hold->turn_link);
    if (hold->cancel)
        pawl__list_push_back(&locks->cancellable, &hold->cancel_link);
    locks->counts.waiting++;
    *out = hold;
    return PAWL_OK;
}

/* Says what is not said yet. */
static int explain(const struct request *request, int status, struct pawl_error *err)
{
    int len = (int)(request->name.len < 100 ? request->name.len : 100);

    if (status == PAWL_EBUSY)
        return pawl__error_set(err, PAWL_EBUSY, "the lock '%.*s' is held by somebody else", len,
                               request->name.ptr);
    if (status == PAWL_ETIMEDOUT)
        return pawl__error_set(err, PAWL_ETIMEDOUT,
                               "the lock '%.*s' was held by others all the time", len,
                               request->name.ptr);
    if (status == PAWL_ECANCELLED || status == PAWL_ESTOPPED || status == PAWL_ENOMEM)
        return pawl__error_code(err, status);
    return status;
}

/* With the mutex; the hold is not held. */
static void unlink_hold(struct pawl_locks *locks, struct pawl_lock_hold *hold, int status)
{
    pawl__lock_entry_leave(locks, hold);
    if (status == PAWL_EUNKNOWN)
        locks->counts.unknown++;
    else if (status == PAWL_EUNAVAILABLE || status == PAWL_ENOMEM)
        locks->counts.unavailable++;
    if (hold->maybe)
        pawl__lock_hold_owe(locks, hold);
    else
        pawl__lock_hold_free(locks, hold);
}

static int acquire(struct pawl_locks *locks, const struct request *request, struct pawl_lock *out,
                   struct pawl_error *err)
{
    struct pawl_lock_hold *hold = NULL;
    bool stopped = false;
    int status;

    if (request->name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes, not %zu",
                               PAWL_LOCK_NAME_MAX, request->name.len);
    if (request->cancel && atomic_load(&request->cancel->asked))
        return explain(request, PAWL_ECANCELLED, err);
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return explain(request, PAWL_ESTOPPED, err);
    status = enter(locks, request, &hold, err);
    if (status != PAWL_OK) {
        pawl_mutex_unlock(locks->env, locks->mutex);
        return explain(request, status, err);
    }
    PAWL_ASSERT(hold);
    status = wait_for_turn(locks, hold, request->deadline_ns);
    if (status == PAWL_OK)
        status = compete(locks, hold, request, &stopped, err);
    if (stopped) /* the hold stays where it is, for pawl__locks_free() */
        return explain(request, PAWL_ESTOPPED, err);
    if (status == PAWL_OK)
        status = take(locks, hold, out, err);
    if (hold->cancel)
        pawl__list_remove(&hold->cancel_link);
    hold->cancel = NULL;
    locks->counts.waiting--;
    if (status != PAWL_OK)
        unlink_hold(locks, hold, status);
    pawl_mutex_unlock(locks->env, locks->mutex);
    return status == PAWL_OK ? PAWL_OK : explain(request, status, err);
}

int pawl__locks_acquire(struct pawl_locks *locks, struct pawl_str name, uint32_t flags,
                        int64_t deadline_ns, struct pawl_lock_cancel *cancel, struct pawl_lock *out,
                        struct pawl_error *err)
{
    struct request request = {name, flags, deadline_ns, cancel, false};

    return acquire(locks, &request, out, err);
}

int pawl__locks_try(struct pawl_locks *locks, struct pawl_str name, uint32_t flags,
                    struct pawl_lock *out, struct pawl_error *err)
{
    struct request request = {name, flags, PAWL_FOREVER, NULL, true};

    return acquire(locks, &request, out, err);
}

void pawl__locks_cancel(struct pawl_locks *locks, struct pawl_lock_cancel *cancel)
{
    struct pawl_lock_hold *hold;

    atomic_store(&cancel->asked, 1);
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    PAWL_LIST_FOR_EACH (hold, &locks->cancellable, cancel_link) {
        if (hold->cancel != cancel)
            continue;
        if (hold->spot)
            pawl_cond_signal(locks->env, hold->spot->cond);
        if (hold->in_wait)
            locks->provider->ops->interrupt(locks->provider, &hold->grant);
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
}

/* ---- release ----------------------------------------------------------------------------- */

/* From here on the handle is gone. Returns whether it was lost before. */
static bool free_handle(struct pawl_locks *locks, struct pawl_lock_hold *hold)
{
    struct pawl_lock_slot *slot = pawl__lock_slot_at(locks, hold->slot);
    bool lost = atomic_load(&slot->lost) || atomic_load(&slot->valid_until_ns) <= now_of(locks);

    locks->counts.held -= hold->stage == PAWL_LOCK_STAGE_HELD;
    hold->stage = PAWL_LOCK_STAGE_GOING;
    hold->lost = NULL;
    pawl__lock_heap_remove(&locks->renewals, &hold->renewal);
    pawl__lock_heap_remove(&locks->ends, &hold->end);
    pawl__lock_slot_give(locks, hold->slot);
    hold->slot = 0;
    return lost;
}

int pawl__locks_release(struct pawl_locks *locks, struct pawl_lock lock, struct pawl_error *err)
{
    const struct pawl_lock_provider_ops *ops = locks->provider->ops;
    struct pawl_lock_hold *hold;
    bool lost;
    int status;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return pawl__error_code(err, PAWL_ESTOPPED);
    hold = pawl__lock_find(locks, lock);
    if (!hold) {
        pawl_mutex_unlock(locks->env, locks->mutex);
        return PAWL_OK;
    }
    lost = free_handle(locks, hold);
    status = pawl__lock_hold_calm(locks, hold);
    pawl_mutex_unlock(locks->env, locks->mutex);
    if (status != PAWL_OK) /* the hold stays where it is, for pawl__locks_free() */
        return pawl__error_code(err, status);
    status = ops->release(locks->provider, &hold->grant, now_of(locks) + locks->call_ns, err);
    hold->maybe = status != PAWL_OK && status != PAWL_ENOTFOUND;
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return pawl__error_code(err, PAWL_ESTOPPED);
    pawl__lock_hold_detach(locks, hold);
    locks->counts.released++;
    if (hold->maybe)
        pawl__lock_hold_owe(locks, hold);
    else
        pawl__lock_hold_free(locks, hold);
    pawl_mutex_unlock(locks->env, locks->mutex);
    if (lost || status == PAWL_ENOTFOUND)
        return pawl__error_set(err, PAWL_ENOTFOUND,
                               "the lock was lost before it was released: check what was done "
                               "under it");
    return status;
}

/* ---- what the provider says ---------------------------------------------------------------- */

void pawl__lock_lost(void *ctx, struct pawl_lock_grant *grant)
{
    struct pawl_locks *locks = ctx;
    struct pawl_lock_hold *hold = pawl__lock_hold_of(grant);

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    hold->broken = true;
    if (hold->stage == PAWL_LOCK_STAGE_HELD)
        pawl__lock_hold_lose(locks, hold);
    pawl_mutex_unlock(locks->env, locks->mutex);
}

void pawl__lock_wake(void *ctx, struct pawl_str name)
{
    struct pawl_locks *locks = ctx;
    struct pawl_lock_entry *entry;
    struct pawl_map_entry *each;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    entry = pawl__map_get(&locks->entries, name);
    if (entry) {
        entry->wakes++;
        signal_first(locks, entry);
    }
    if (name.len == 0) {
        PAWL_MAP_FOR_EACH (each, &locks->entries) {
            entry = each->value;
            entry->wakes++;
            signal_first(locks, entry);
        }
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
}
