/* SPDX-License-Identifier: Apache-2.0 */
/* Making a struct pawl_locks, and its handles; see locks.h and locks_private.h. */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/locks_private.h"
#include "os/process.h"

#include <inttypes.h>
#include <stdio.h>

#define HELD_MAX_DEFAULT 100000u
#define POLL_MS_MAX_DEFAULT 800
#define CALL_MS_DEFAULT 5000

/* ---- slots ------------------------------------------------------------------------------- */

/* NULL: there is none of that number. */
static struct pawl_lock_slot *peek_slot(struct pawl_locks *locks, uint32_t slot)
{
    size_t index = slot - 1u;
    struct pawl_lock_slot *chunk;

    if (slot == 0 || index / PAWL_LOCK_SLOTS_PER_CHUNK >= locks->chunk_max)
        return NULL;
    chunk = atomic_load(&locks->chunks[index / PAWL_LOCK_SLOTS_PER_CHUNK]);
    return chunk ? &chunk[index % PAWL_LOCK_SLOTS_PER_CHUNK] : NULL;
}

struct pawl_lock_slot *pawl__lock_slot_at(struct pawl_locks *locks, uint32_t slot)
{
    struct pawl_lock_slot *at = peek_slot(locks, slot);

    PAWL_ASSERT(at);
    return at;
}

int pawl__lock_slot_take(struct pawl_locks *locks, uint32_t *out)
{
    size_t chunk = locks->slot_count / PAWL_LOCK_SLOTS_PER_CHUNK;

    if (!locks->free_slot) {
        struct pawl_lock_slot *slots;

        PAWL_ASSERT(chunk < locks->chunk_max);
        slots = pawl__alloc_zeroed(&locks->env->alloc,
                                   PAWL_LOCK_SLOTS_PER_CHUNK * sizeof(struct pawl_lock_slot));
        if (!slots)
            return PAWL_ENOMEM;
        for (uint32_t i = 0; i < PAWL_LOCK_SLOTS_PER_CHUNK; i++)
            slots[i].next_free =
                i + 1 < PAWL_LOCK_SLOTS_PER_CHUNK ? (uint32_t)locks->slot_count + i + 2 : 0;
        locks->free_slot = (uint32_t)locks->slot_count + 1;
        locks->slot_count += PAWL_LOCK_SLOTS_PER_CHUNK;
        atomic_store(&locks->chunks[chunk], slots);
    }
    *out = locks->free_slot;
    locks->free_slot = pawl__lock_slot_at(locks, *out)->next_free;
    return PAWL_OK;
}

void pawl__lock_slot_give(struct pawl_locks *locks, uint32_t slot)
{
    struct pawl_lock_slot *at = pawl__lock_slot_at(locks, slot);

    atomic_store(&at->number, 0);
    at->hold = NULL;
    at->next_free = locks->free_slot;
    locks->free_slot = slot;
}

struct pawl_lock_hold *pawl__lock_find(struct pawl_locks *locks, struct pawl_lock lock)
{
    struct pawl_lock_slot *slot = peek_slot(locks, (uint32_t)lock.number);

    return slot && lock.number && atomic_load(&slot->number) == lock.number ? slot->hold : NULL;
}

int64_t pawl__lock_jitter(struct pawl_locks *locks, int64_t base, int percent)
{
    uint64_t z = locks->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return base - base / 100 * percent + (int64_t)(z % (uint64_t)(base / 50 * percent + 1));
}

/* ---- looking at a handle ----------------------------------------------------------------- */

/* What a slot says of a handle at one time. */
struct slot_state {
    int64_t valid_until_ns, lease_ns;
    uint64_t token;
    bool lost;
};

static bool read_slot(struct pawl_locks *locks, struct pawl_lock lock, struct slot_state *out)
{
    struct pawl_lock_slot *slot = peek_slot(locks, (uint32_t)lock.number);

    if (!slot || !lock.number || atomic_load(&slot->number) != lock.number)
        return false;
    out->valid_until_ns = atomic_load(&slot->valid_until_ns);
    out->lease_ns = atomic_load(&slot->lease_ns);
    out->token = atomic_load(&slot->token);
    out->lost = atomic_load(&slot->lost);
    return atomic_load(&slot->number) == lock.number;
}

static int64_t remaining(struct pawl_locks *locks, const struct slot_state *at)
{
    int64_t now_ns;

    if (at->lost)
        return 0;
    if (at->valid_until_ns == PAWL_FOREVER)
        return PAWL_FOREVER;
    now_ns = pawl_env_monotonic_ns(locks->env);
    return at->valid_until_ns > now_ns ? at->valid_until_ns - now_ns : 0;
}

enum pawl_lock_state pawl__lock_state(struct pawl_locks *locks, struct pawl_lock lock)
{
    struct slot_state at;
    int64_t left;

    if (!read_slot(locks, lock, &at))
        return PAWL_LOCK_GONE;
    left = remaining(locks, &at);
    if (left == 0)
        return PAWL_LOCK_LOST;
    return left < at.lease_ns / 3 ? PAWL_LOCK_SUSPECT : PAWL_LOCK_HELD;
}

int64_t pawl__lock_remaining_ns(struct pawl_locks *locks, struct pawl_lock lock)
{
    struct slot_state at;

    return read_slot(locks, lock, &at) ? remaining(locks, &at) : 0;
}

uint64_t pawl__lock_token(struct pawl_locks *locks, struct pawl_lock lock)
{
    struct slot_state at;

    return read_slot(locks, lock, &at) ? at.token : 0;
}

void pawl__locks_counts(struct pawl_locks *locks, struct pawl_locks_counts *out)
{
    *out = (struct pawl_locks_counts){0};
    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    *out = locks->counts;
    pawl_mutex_unlock(locks->env, locks->mutex);
}

struct pawl_lock_provider *pawl__locks_provider(struct pawl_locks *locks)
{
    return locks->provider;
}

/* ---- making and unmaking ------------------------------------------------------------------- */

static void discard(struct pawl_locks *locks)
{
    const struct pawl_allocator *alloc = &locks->env->alloc;
    struct pawl_env *env = locks->env;

    while (locks->spots) {
        struct pawl_lock_spot *spot = locks->spots;

        locks->spots = spot->next;
        pawl_cond_free(env, spot->cond);
        pawl__free(alloc, spot, sizeof *spot);
    }
    pawl__lock_heap_release(&locks->renewals, alloc);
    pawl__lock_heap_release(&locks->debts, alloc);
    pawl__lock_heap_release(&locks->ends, alloc);
    pawl__map_release(&locks->entries);
    for (size_t i = 0; locks->chunks && i < locks->chunk_max; i++)
        pawl__free(alloc, atomic_load(&locks->chunks[i]),
                   PAWL_LOCK_SLOTS_PER_CHUNK * sizeof(struct pawl_lock_slot));
    pawl__free(alloc, locks->chunks, locks->chunk_max * sizeof locks->chunks[0]);
    pawl_cond_free(env, locks->calmed);
    pawl_cond_free(env, locks->watcher_cond);
    pawl_cond_free(env, locks->keeper_cond);
    pawl_mutex_free(env, locks->mutex);
    pawl__free(alloc, locks, sizeof *locks);
}

static int make_parts(struct pawl_locks *locks, struct pawl_error *err)
{
    struct pawl_env *env = locks->env;
    uint64_t chance[4];
    char host[64];
    int status = pawl_env_entropy(env, chance, sizeof chance, err);

    if (status != PAWL_OK)
        return status;
    pawl__process_host_name(host, sizeof host);
    (void)snprintf(locks->owner, sizeof locks->owner, "%s_%ld_", host, pawl__process_id());
    locks->owner_base = chance[0];
    locks->random = chance[1];
    pawl__map_init(&locks->entries, &env->alloc, (struct pawl_hash_seed){chance[2], chance[3]});
    pawl__list_init(&locks->holds);
    pawl__list_init(&locks->to_tell);
    pawl__list_init(&locks->cancellable);
    locks->chunk_max = locks->held_max / PAWL_LOCK_SLOTS_PER_CHUNK + 1;
    locks->chunks = pawl__alloc_zeroed(&env->alloc, locks->chunk_max * sizeof locks->chunks[0]);
    if (!locks->chunks)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = pawl_mutex_new(env, "locks", &locks->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "lock keeper", &locks->keeper_cond);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "lock watcher", &locks->watcher_cond);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "lock calmed", &locks->calmed);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static void stop_threads(struct pawl_locks *locks)
{
    if (pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK) {
        locks->stop = true;
        pawl_mutex_unlock(locks->env, locks->mutex);
    }
    pawl_cond_broadcast(locks->env, locks->keeper_cond);
    pawl_cond_broadcast(locks->env, locks->watcher_cond);
    if (locks->keeper)
        pawl_thread_join(locks->env, locks->keeper);
    if (locks->watcher)
        pawl_thread_join(locks->env, locks->watcher);
}

int pawl__locks_new(struct pawl_env *env, struct pawl_lock_provider *provider,
                    const struct pawl_locks_options *options, struct pawl_locks **out,
                    struct pawl_error *err)
{
    static const struct pawl_locks_options usual = {0};
    struct pawl_locks *locks = pawl__alloc_zeroed(&env->alloc, sizeof *locks);
    int status;

    if (!locks)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (!options)
        options = &usual;
    locks->env = env;
    locks->provider = provider;
    locks->caps = pawl_lock_caps(provider);
    locks->log = options->log;
    locks->poll_ns_max =
        (options->poll_ms_max ? options->poll_ms_max : POLL_MS_MAX_DEFAULT) * PAWL_LOCK_MS;
    locks->call_ns = (options->call_ms ? options->call_ms : CALL_MS_DEFAULT) * PAWL_LOCK_MS;
    locks->held_max = options->held_max ? options->held_max : HELD_MAX_DEFAULT;
    locks->borrowed = options->borrow;
    status = make_parts(locks, err);
    if (status == PAWL_OK)
        status = pawl_thread_start(env, "lock-keeper", pawl__lock_keep, locks, &locks->keeper, err);
    if (status == PAWL_OK)
        status =
            pawl_thread_start(env, "lock-watcher", pawl__lock_watch, locks, &locks->watcher, err);
    if (status == PAWL_OK && (locks->caps & (PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_LOST))) {
        struct pawl_lock_listener listener = {pawl__lock_lost, pawl__lock_wake, locks};

        status = provider->ops->listen(provider, &listener, err);
    }
    if (status == PAWL_OK) {
        *out = locks;
        return PAWL_OK;
    }
    if (locks->calmed)
        stop_threads(locks);
    discard(locks);
    return status;
}

/* Takes a hold out of everything, so that calls of the provider's threads meet it no more. */
static struct pawl_lock_hold *pop(struct pawl_locks *locks)
{
    struct pawl_lock_hold *hold;
    bool locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;

    hold = PAWL_CONTAINER(pawl__list_first(&locks->holds), struct pawl_lock_hold, link);
    if (hold) {
        pawl__lock_hold_detach(locks, hold);
        hold->stage = PAWL_LOCK_STAGE_GOING;
    }
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
    return hold;
}

/* Gives back what is held and owed, as far as the time goes; the rest ends by itself. */
static void release_all(struct pawl_locks *locks, int64_t deadline_ns)
{
    const struct pawl_lock_provider_ops *ops = locks->provider->ops;
    struct pawl_lock_hold *hold;

    while ((hold = pop(locks))) {
        struct pawl_error err = PAWL_ERROR_INIT;
        int status = PAWL_OK;

        if (hold->maybe)
            status = ops->release(locks->provider, &hold->grant, deadline_ns, &err);
        if (status != PAWL_OK && status != PAWL_ENOTFOUND) {
            if (status != PAWL_ESTOPPED)
                pawl_log(locks->log, PAWL_LOG_WARN, "lock not released; it will expire",
                         pawl_log_str("lock", hold->name, hold->name_len),
                         pawl_log_error("error", &err));
            ops->abandon(locks->provider, &hold->grant);
        }
        pawl__lock_hold_free(locks, hold);
    }
}

void pawl__locks_free(struct pawl_locks *locks)
{
    if (!locks)
        return;
    stop_threads(locks);
    release_all(locks, pawl_env_monotonic_ns(locks->env) + locks->call_ns);
    /* Either way no thread of the provider calls into what is freed next. */
    if (!locks->borrowed)
        locks->provider->ops->close(locks->provider);
    else if (locks->caps & (PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_LOST))
        locks->provider->ops->unlisten(locks->provider);
    discard(locks);
}
