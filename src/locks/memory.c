/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in memory: what the other providers must do, in the plainest way.
 *
 * One mutex, the space's, guards everything. Listeners are called without it; `calling` of a
 * provider keeps close() from returning meanwhile.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "locks/providers.h"

#include <stdio.h>

/* Nodes that listen on one space: more than any simulation has. */
#define LISTENERS_MAX 128
#define SPACE_CAPS (PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_TOKEN | PAWL_LOCK_CAP_INSPECT)

struct record {
    char owner[PAWL_LOCK_OWNER_SIZE];
    struct memory_locks *holder;
    int64_t expires_ns; /* of the space's clock; PAWL_FOREVER: no lease */
    int64_t since_us;
    uint64_t token; /* 0: none was asked for */
    bool wanted;    /* an attempt was refused while it is held */
    size_t name_len;
    char name[];
};

struct pawl_lock_space {
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *called;                      /* `calling` of a provider went down */
    struct pawl_map records;                       /* what is held */
    struct memory_locks *listeners[LISTENERS_MAX]; /* NULL: a free place */
    uint64_t token;
};

struct memory_locks {
    struct pawl_lock_provider base; /* first: a provider is cast to this */
    struct pawl_env *env;
    struct pawl_lock_space *space;
    bool own_space;
    int64_t ttl_ms;
    struct pawl_lock_listener listener;
    unsigned calling;
};

static struct memory_locks *cast(struct pawl_lock_provider *provider)
{
    return (struct memory_locks *)(void *)provider;
}

static int lock(struct pawl_lock_space *space, struct pawl_error *err)
{
    int status = pawl_mutex_lock(space->env, space->mutex);

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static void unlock(struct pawl_lock_space *space)
{
    pawl_mutex_unlock(space->env, space->mutex);
}

/* ---- records ----------------------------------------------------------------------------- */

static void drop(struct pawl_lock_space *space, struct record *record)
{
    (void)pawl__map_remove(&space->records, pawl__str_make(record->name, record->name_len));
    pawl__free(&space->env->alloc, record, sizeof *record + record->name_len);
}

/* What holds a name now; a lease that ended holds nothing. */
static struct record *find(struct pawl_lock_space *space, struct pawl_str name)
{
    struct record *record = pawl__map_get(&space->records, name);

    if (record && record->expires_ns <= pawl_env_monotonic_ns(space->env)) {
        drop(space, record);
        record = NULL;
    }
    return record;
}

static struct record *find_own(struct pawl_lock_space *space, const struct pawl_lock_grant *grant)
{
    struct record *record = find(space, grant->name);

    return record && strcmp(record->owner, grant->owner) == 0 ? record : NULL;
}

static int64_t expiry(struct memory_locks *locks)
{
    return locks->ttl_ms ? pawl_env_monotonic_ns(locks->space->env) + locks->ttl_ms * 1000000
                         : PAWL_FOREVER;
}

static struct record *insert(struct memory_locks *locks, const struct pawl_lock_grant *grant)
{
    struct pawl_lock_space *space = locks->space;
    size_t size = sizeof(struct record) + grant->name.len;
    struct record *record = pawl__alloc_zeroed(&space->env->alloc, size);

    if (!record)
        return NULL;
    record->name_len = grant->name.len;
    if (grant->name.len > 0)
        memcpy(record->name, grant->name.ptr, grant->name.len);
    if (pawl__map_put(&space->records, pawl__str_make(record->name, record->name_len), record) !=
        PAWL_OK) {
        pawl__free(&space->env->alloc, record, size);
        return NULL;
    }
    memcpy(record->owner, grant->owner, sizeof record->owner);
    record->holder = locks;
    record->expires_ns = expiry(locks);
    record->since_us = pawl_env_wall_ns(space->env) / 1000;
    if (grant->flags & PAWL_LOCK_WANT_TOKEN)
        record->token = ++space->token;
    return record;
}

/* ---- waking ------------------------------------------------------------------------------ */

/*
 * Says to all that listen that a lock is free. Called with the mutex, which is not held afterwards;
 * `name` is the caller's own.
 */
static void wake_all_and_unlock(struct pawl_lock_space *space, struct pawl_str name)
{
    for (size_t i = 0; i < LISTENERS_MAX; i++) {
        struct memory_locks *each = space->listeners[i];

        if (!each)
            continue;
        each->calling++;
        unlock(space);
        each->listener.wake(each->listener.ctx, name);
        if (pawl_mutex_lock(space->env, space->mutex) != PAWL_OK)
            return;
        each->calling--;
        pawl_cond_broadcast(space->env, space->called);
    }
    unlock(space);
}

static int memory_listen(struct pawl_lock_provider *provider,
                         const struct pawl_lock_listener *listener, struct pawl_error *err)
{
    struct memory_locks *locks = cast(provider);
    struct pawl_lock_space *space = locks->space;
    int status = lock(space, err);

    if (status != PAWL_OK)
        return status;
    locks->listener = *listener;
    status = PAWL_ELIMIT;
    for (size_t i = 0; i < LISTENERS_MAX && status != PAWL_OK; i++) {
        if (!space->listeners[i]) {
            space->listeners[i] = locks;
            status = PAWL_OK;
        }
    }
    unlock(space);
    return status == PAWL_OK ? PAWL_OK
                             : pawl__error_set(err, status, "%d nodes already listen to this space",
                                               LISTENERS_MAX);
}

/* With the mutex, unless stopped. Its listener is not called afterwards. */
static void stop_listening(struct memory_locks *locks, bool locked)
{
    struct pawl_lock_space *space = locks->space;

    for (size_t i = 0; i < LISTENERS_MAX; i++)
        if (space->listeners[i] == locks)
            space->listeners[i] = NULL;
    while (locked && locks->calling > 0)
        if (pawl_cond_wait(space->env, space->called, space->mutex, PAWL_FOREVER) == PAWL_ESTOPPED)
            break;
}

static void memory_unlisten(struct pawl_lock_provider *provider)
{
    struct memory_locks *locks = cast(provider);

    if (pawl_mutex_lock(locks->space->env, locks->space->mutex) != PAWL_OK)
        return;
    stop_listening(locks, true);
    unlock(locks->space);
}

/* ---- the interface ----------------------------------------------------------------------- */

static int memory_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                         int64_t deadline_ns, struct pawl_error *err)
{
    (void)deadline_ns;
    (void)err;
    *out = (struct pawl_lock_status){.ttl_ms = cast(provider)->ttl_ms};
    (void)snprintf(out->server, sizeof out->server, "memory of this process");
    return PAWL_OK;
}

static int memory_map(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                      size_t size, struct pawl_error *err)
{
    (void)provider;
    if (name.len >= size)
        return pawl__error_set(err, PAWL_ELIMIT, "a name of %zu bytes does not fit into %zu",
                               name.len, size);
    if (name.len > 0)
        memcpy(out, name.ptr, name.len);
    out[name.len] = '\0';
    return PAWL_OK;
}

static int memory_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct memory_locks *locks = cast(provider);
    int64_t sent_ns = pawl_env_monotonic_ns(locks->env);
    struct record *record;
    int status = lock(locks->space, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    record = find(locks->space, grant->name);
    if (record) {
        record->wanted = true;
        status = pawl__error_set(err, PAWL_EBUSY, "held by %s", record->owner);
        unlock(locks->space);
        return status;
    }
    record = insert(locks, grant);
    if (record) {
        grant->token = record->token;
        grant->valid_until_ns =
            locks->ttl_ms ? pawl__lock_valid_until(sent_ns, locks->ttl_ms) : PAWL_FOREVER;
    }
    unlock(locks->space);
    return record ? PAWL_OK : pawl__error_code(err, PAWL_ENOMEM);
}

static int memory_renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                        size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct memory_locks *locks = cast(provider);
    int64_t sent_ns = pawl_env_monotonic_ns(locks->env);
    int status = lock(locks->space, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct record *record = find_own(locks->space, grants[i]);

        grants[i]->status = record ? PAWL_OK : PAWL_ENOTFOUND;
        if (record)
            record->expires_ns = expiry(locks);
        if (record && locks->ttl_ms)
            grants[i]->valid_until_ns = pawl__lock_valid_until(sent_ns, locks->ttl_ms);
    }
    unlock(locks->space);
    return PAWL_OK;
}

static int memory_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_space *space = cast(provider)->space;
    struct record *record;
    bool wanted;
    int status = lock(space, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    record = find_own(space, grant);
    if (!record) {
        unlock(space);
        return pawl__error_set(err, PAWL_ENOTFOUND, "no longer held");
    }
    wanted = record->wanted;
    drop(space, record);
    if (wanted)
        wake_all_and_unlock(space, grant->name);
    else
        unlock(space);
    return PAWL_OK;
}

static void memory_abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    (void)provider;
    (void)grant; /* it ends with its lease, or when the provider is closed */
}

static void describe(struct pawl_lock_space *space, const struct record *record,
                     struct pawl_lock_holder *out)
{
    int64_t left_ns;

    *out = (struct pawl_lock_holder){.held = true, .remaining_ms = -1};
    (void)snprintf(out->key, sizeof out->key, "%.*s", (int)record->name_len, record->name);
    (void)snprintf(out->owner, sizeof out->owner, "%s", record->owner);
    out->since_us = record->since_us;
    out->token = record->token;
    if (record->expires_ns == PAWL_FOREVER)
        return;
    left_ns = record->expires_ns - pawl_env_monotonic_ns(space->env);
    out->remaining_ms = left_ns > 0 ? left_ns / 1000000 : 0;
}

static int memory_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                          struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_space *space = cast(provider)->space;
    struct record *record;
    int status = lock(space, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    record = find(space, name);
    *out = (struct pawl_lock_holder){.remaining_ms = -1};
    if (record)
        describe(space, record, out);
    else
        (void)snprintf(out->key, sizeof out->key, "%.*s", PAWL_STR_ARG(name));
    unlock(space);
    return PAWL_OK;
}

/* `each` is called under the mutex: it must not call back. */
static int memory_list(struct pawl_lock_provider *provider, size_t limit,
                       int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_space *space = cast(provider)->space;
    int64_t now_ns = pawl_env_monotonic_ns(space->env);
    struct pawl_lock_holder *holder = pawl__alloc(&space->env->alloc, sizeof *holder);
    struct pawl_map_entry *entry;
    int status;

    (void)deadline_ns;
    if (!holder)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = lock(space, err);
    if (status == PAWL_OK) {
        PAWL_MAP_FOR_EACH (entry, &space->records) {
            struct record *record = entry->value;

            if (record->expires_ns <= now_ns)
                continue;
            if (limit-- == 0)
                break;
            describe(space, record, holder);
            if (each(ctx, holder) != 0)
                break;
        }
        unlock(space);
    }
    pawl__free(&space->env->alloc, holder, sizeof *holder);
    return status;
}

/* Drops what its grants still hold, as the end of a process would. */
static void drop_grants(struct memory_locks *locks)
{
    struct pawl_lock_space *space = locks->space;
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &space->records) {
        struct record *record = entry->value;

        if (record->holder == locks && record->expires_ns == PAWL_FOREVER)
            drop(space, record);
    }
}

static void memory_close(struct pawl_lock_provider *provider)
{
    struct memory_locks *locks = cast(provider);
    struct pawl_lock_space *space = locks->space;
    bool locked = pawl_mutex_lock(space->env, space->mutex) == PAWL_OK;

    stop_listening(locks, locked);
    drop_grants(locks);
    if (locked)
        unlock(space);
    if (locks->own_space)
        pawl__lock_space_free(space);
    pawl__free(&locks->env->alloc, locks, sizeof *locks);
}

#define MEMORY_OPS                                                                                 \
    .version = PAWL_LOCK_VERSION, .close = memory_close, .listen = memory_listen,                  \
    .unlisten = memory_unlisten, .status = memory_status, .map = memory_map, .try_ = memory_try,   \
    .renew = memory_renew, .release = memory_release, .abandon = memory_abandon,                   \
    .inspect = memory_inspect, .list = memory_list

static const struct pawl_lock_provider_ops bound_ops = {.caps = SPACE_CAPS, MEMORY_OPS};
static const struct pawl_lock_provider_ops lease_ops = {.caps = SPACE_CAPS | PAWL_LOCK_CAP_LEASE,
                                                        MEMORY_OPS};

/* ---- making ------------------------------------------------------------------------------ */

int pawl__lock_space_new(struct pawl_env *env, struct pawl_lock_space **out, struct pawl_error *err)
{
    struct pawl_lock_space *space = pawl__alloc_zeroed(&env->alloc, sizeof *space);
    struct pawl_hash_seed seed;
    int status = space ? PAWL_OK : pawl__error_code(err, PAWL_ENOMEM);

    if (status != PAWL_OK)
        return status;
    space->env = env;
    status = pawl_env_entropy(env, &seed, sizeof seed, err);
    if (status == PAWL_OK) {
        pawl__map_init(&space->records, &env->alloc, seed);
        status = pawl_mutex_new(env, "lock space", &space->mutex);
        if (status == PAWL_OK)
            status = pawl_cond_new(env, "lock space", &space->called);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
    }
    if (status == PAWL_OK) {
        *out = space;
        return PAWL_OK;
    }
    pawl__lock_space_free(space);
    return status;
}

void pawl__lock_space_free(struct pawl_lock_space *space)
{
    struct pawl_map_entry *entry;

    if (!space)
        return;
    PAWL_MAP_FOR_EACH (entry, &space->records)
        drop(space, entry->value);
    pawl__map_release(&space->records);
    pawl_cond_free(space->env, space->called);
    pawl_mutex_free(space->env, space->mutex);
    pawl__free(&space->env->alloc, space, sizeof *space);
}

bool pawl__lock_space_break(struct pawl_lock_space *space, struct pawl_str name)
{
    struct record *record;

    if (pawl_mutex_lock(space->env, space->mutex) != PAWL_OK)
        return false;
    record = find(space, name);
    if (record)
        drop(space, record);
    unlock(space);
    return record != NULL;
}

static struct memory_locks *make(struct pawl_lock_space *space, struct pawl_env *env,
                                 int64_t ttl_ms, bool own_space)
{
    struct memory_locks *locks = pawl__alloc_zeroed(&env->alloc, sizeof *locks);

    if (!locks)
        return NULL;
    locks->env = env;
    locks->space = space;
    locks->own_space = own_space;
    locks->ttl_ms = ttl_ms;
    locks->base =
        (struct pawl_lock_provider){.ops = ttl_ms ? &lease_ops : &bound_ops, .kind = "memory"};
    return locks;
}

int pawl__memory_locks_open(struct pawl_lock_space *space, struct pawl_env *env, int64_t ttl_ms,
                            struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct memory_locks *locks = make(space, env, ttl_ms, false);

    if (!locks)
        return pawl__error_code(err, PAWL_ENOMEM);
    *out = &locks->base;
    return PAWL_OK;
}

int pawl__memory_locks_new(struct pawl_env *env, int64_t ttl_ms, struct pawl_lock_provider **out,
                           struct pawl_error *err)
{
    struct pawl_lock_space *space = NULL;
    struct memory_locks *locks;
    int status = pawl__lock_space_new(env, &space, err);

    if (status != PAWL_OK)
        return status;
    locks = make(space, env, ttl_ms, true);
    if (!locks) {
        pawl__lock_space_free(space);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    *out = &locks->base;
    return PAWL_OK;
}
