/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets; see limiter.h. A bucket is one number: the time at which it was empty, or will have been
 * if it filled for ever. `empty_ns + n * interval_ns` is when it has n uses; so nothing has to be
 * filled, and a bucket whose number is long past is as good as a new one.
 */
#include "api/limiter.h"

#include "base/alloc.h"
#include "base/error.h"

#define WAYS 4u
#define NS_PER_S INT64_C(1000000000)

struct bucket {
    uint64_t name; /* its hash; 0: nobody's */
    int64_t empty_ns;
    int64_t full_ns; /* when it is as good as a new one */
};

struct pawl_limiter {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards the buckets; nothing else is locked under it */
    struct pawl_hash_seed seed;
    uint32_t places;
    struct bucket *buckets;
};

int pawl__limiter_new(struct pawl_env *env, uint32_t places, struct pawl_limiter **out,
                      struct pawl_error *err)
{
    struct pawl_limiter *limiter = pawl__alloc_zeroed(&env->alloc, sizeof *limiter);
    int status;

    if (!limiter)
        return pawl__error_code(err, PAWL_ENOMEM);
    limiter->env = env;
    limiter->places = places;
    limiter->buckets = pawl__alloc_zeroed(&env->alloc, places * sizeof *limiter->buckets);
    status = limiter->buckets ? pawl_mutex_new(env, "limiter", &limiter->mutex) : PAWL_ENOMEM;
    if (status == PAWL_OK)
        status = pawl_env_entropy(env, &limiter->seed, sizeof limiter->seed, err);
    if (status == PAWL_OK) {
        *out = limiter;
        return PAWL_OK;
    }
    pawl__limiter_free(limiter);
    return pawl__error_code(err, status);
}

void pawl__limiter_free(struct pawl_limiter *limiter)
{
    if (!limiter)
        return;
    if (limiter->mutex)
        pawl_mutex_free(limiter->env, limiter->mutex);
    pawl__free(&limiter->env->alloc, limiter->buckets, limiter->places * sizeof *limiter->buckets);
    pawl__free(&limiter->env->alloc, limiter, sizeof *limiter);
}

/* Its own, or the one of the few it can have that is forgotten for it. */
static struct bucket *bucket_of(struct pawl_limiter *limiter, uint64_t name)
{
    struct bucket *set = &limiter->buckets[name & (limiter->places - 1) & ~(uint64_t)(WAYS - 1)];
    struct bucket *least = &set[0];

    for (uint32_t i = 0; i < WAYS; i++) {
        if (set[i].name == name)
            return &set[i];
        if (set[i].name == 0 || set[i].full_ns < least->full_ns)
            least = &set[i];
    }
    *least = (struct bucket){.name = name, .empty_ns = INT64_MIN};
    return least;
}

static uint64_t hash_of(const struct pawl_limiter *limiter, struct pawl_str name)
{
    uint64_t hash = pawl__siphash(limiter->seed, name);

    return hash == 0 ? 1 : hash;
}

int64_t pawl__limiter_use(struct pawl_limiter *limiter, struct pawl_str name,
                          const struct pawl_limit *limit, int64_t now_ns)
{
    int64_t full_ns = limit->burst * limit->interval_ns, wait_ns;
    struct bucket *bucket;

    if (limit->interval_ns == 0)
        return 0;
    pawl_mutex_lock_always(limiter->env, limiter->mutex);
    bucket = bucket_of(limiter, hash_of(limiter, name));
    if (bucket->empty_ns < now_ns - full_ns)
        bucket->empty_ns = now_ns - full_ns;
    wait_ns = bucket->empty_ns + limit->interval_ns - now_ns;
    if (wait_ns <= 0)
        bucket->empty_ns += limit->interval_ns;
    bucket->full_ns = bucket->empty_ns + full_ns;
    pawl_mutex_unlock(limiter->env, limiter->mutex);
    return wait_ns <= 0 ? 0 : (wait_ns + NS_PER_S - 1) / NS_PER_S;
}

void pawl__limiter_return(struct pawl_limiter *limiter, struct pawl_str name,
                          const struct pawl_limit *limit)
{
    struct bucket *bucket;

    if (limit->interval_ns == 0)
        return;
    pawl_mutex_lock_always(limiter->env, limiter->mutex);
    bucket = bucket_of(limiter, hash_of(limiter, name));
    if (bucket->empty_ns != INT64_MIN)
        bucket->empty_ns -= limit->interval_ns;
    pawl_mutex_unlock(limiter->env, limiter->mutex);
}
