/* SPDX-License-Identifier: Apache-2.0 */
/* The cases about leases, losses and hand-over, and the figures; see check.h. */
#include "base/error.h"
#include "locks/check_private.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
/* Leases longer than this are not waited for. */
#define LEASE_MS_MAX 5000
/* Attempts at what cannot be judged on a machine that stands still meanwhile. */
#define STILL_MAX 20

static int64_t now_of(struct pawl_lock_check_case *c)
{
    return pawl_env_monotonic_ns(c->env);
}

static bool wait_ms(struct pawl_lock_check_case *c, int64_t ms)
{
    return pawl_env_sleep_until(c->env, now_of(c) + ms * MS) == PAWL_OK;
}

static bool lease_is_short(struct pawl_lock_check_case *c)
{
    if (c->status.ttl_ms <= LEASE_MS_MAX)
        return true;
    pawl__lock_check_skip(c, "the lease is too long to wait for: check with --set lock.ttl=1s");
    return false;
}

/* ---- leases ------------------------------------------------------------------------------ */

static void count_loss(void *ctx)
{
    atomic_fetch_add((_Atomic(int) *)ctx, 1);
}

/*
 * Another node's attempts while a lock is held, for two and a half leases. Returns false when the
 * machine stood still for so long that nobody could have renewed it: that attempt is not judged.
 */
static bool attempts_are_refused(struct pawl_lock_check_case *c, struct pawl_str name)
{
    for (int i = 0; i < 5; i++) {
        int64_t begun_ns = now_of(c);
        struct pawl_lock other = {0};
        int status;

        if (!wait_ms(c, c->status.ttl_ms / 2))
            return true;
        status = pawl__locks_try(c->b, name, 0, &other, &c->err);
        if (now_of(c) - begun_ns > c->status.ttl_ms * MS) {
            if (status == PAWL_OK)
                (void)!pawl__locks_release(c->b, other, NULL);
            return false;
        }
        (void)pawl__lock_check_is(c, "an attempt while it is held", status, PAWL_EBUSY);
    }
    return true;
}

static void a_lease_is_renewed(struct pawl_lock_check_case *c)
{
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock lock = {0};
    struct pawl_locks_counts counts;
    _Atomic(int) losses;
    bool is_steady, is_valid;
    int tries = 0, status;

    if (!lease_is_short(c))
        return;
    do {
        atomic_store(&losses, 0);
        if (!pawl__lock_check_is(c, "an attempt", pawl__locks_try(c->a, name, 0, &lock, &c->err),
                                 PAWL_OK))
            return;
        (void)pawl__lock_check_is(c, "subscribing to losses",
                                  pawl__lock_on_lost(c->a, lock, count_loss, &losses, &c->err),
                                  PAWL_OK);
        is_steady = attempts_are_refused(c, name);
        is_valid = pawl__lock_valid(c->a, lock);
        status = pawl__locks_release(c->a, lock, &c->err);
    } while (!is_steady && ++tries < STILL_MAX);
    if (!is_valid)
        (void)pawl__lock_check_fail(c, "the lock was lost although it was renewed");
    (void)pawl__lock_check_is(c, "a release", status, PAWL_OK);
    if (atomic_load(&losses))
        (void)pawl__lock_check_fail(c, "a release or a renewal was reported as a loss");
    pawl__locks_counts(c->a, &counts);
    pawl__lock_check_say(c, "%llu renewals in two and a half leases",
                         (unsigned long long)counts.renewed);
}

/* As one of a process that died. */
static void a_lease_that_nobody_renews_ends(struct pawl_lock_check_case *c)
{
    struct pawl_lock_provider *provider = pawl__locks_provider(c->a);
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock lock = {0};
    struct pawl_lock_grant grant, *grants[1] = {&grant};
    int64_t deadline_ns;

    if (!lease_is_short(c))
        return;
    pawl__lock_check_grant(c, name, 0, &grant);
    if (!pawl__lock_check_is(
            c, "an attempt",
            provider->ops->try_(provider, &grant, pawl__lock_check_soon(c), &c->err), PAWL_OK))
        return;
    if (grant.valid_until_ns > now_of(c) + c->status.ttl_ms * MS)
        (void)pawl__lock_check_fail(c, "the lock is reported as held for longer than its lease");
    (void)pawl__lock_check_is(c, "an attempt while it is held",
                              pawl__locks_try(c->b, name, 0, &lock, &c->err), PAWL_EBUSY);
    deadline_ns = now_of(c) + (c->status.ttl_ms * 3 + 5000) * MS;
    if (!pawl__lock_check_is(c, "waiting for a lease to expire",
                             pawl__locks_acquire(c->b, name, 0, deadline_ns, NULL, &lock, &c->err),
                             PAWL_OK))
        return;
    if (now_of(c) < grant.valid_until_ns)
        (void)pawl__lock_check_fail(c, "the lock was given to another while it was held");
    (void)pawl__lock_check_is(
        c, "renewing an expired lock",
        provider->ops->renew(provider, grants, 1, pawl__lock_check_soon(c), &c->err), PAWL_OK);
    (void)pawl__lock_check_is(c, "the renewed grant", grant.status, PAWL_ENOTFOUND);
    (void)pawl__lock_check_is(
        c, "releasing an expired lock",
        provider->ops->release(provider, &grant, pawl__lock_check_soon(c), &c->err),
        PAWL_ENOTFOUND);
    if (!pawl__lock_valid(c->b, lock))
        (void)pawl__lock_check_fail(c, "releasing an expired lock freed another holder's");
    (void)pawl__lock_check_is(c, "a release", pawl__locks_release(c->b, lock, &c->err), PAWL_OK);
}

static void tokens_grow_over_the_end_of_a_lease(struct pawl_lock_check_case *c)
{
    struct pawl_lock_provider *provider = pawl__locks_provider(c->a);
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock lock = {0};
    struct pawl_lock_grant grant;

    if (!lease_is_short(c))
        return;
    pawl__lock_check_grant(c, name, PAWL_LOCK_WANT_TOKEN, &grant);
    if (!pawl__lock_check_is(
            c, "an attempt",
            provider->ops->try_(provider, &grant, pawl__lock_check_soon(c), &c->err), PAWL_OK) ||
        !pawl__lock_check_is(c, "waiting for a lease to expire",
                             pawl__locks_acquire(c->b, name, PAWL_LOCK_WANT_TOKEN,
                                                 now_of(c) + (c->status.ttl_ms * 3 + 5000) * MS,
                                                 NULL, &lock, &c->err),
                             PAWL_OK))
        return;
    provider->ops->abandon(provider, &grant);
    if (pawl__lock_token(c->b, lock) <= grant.token)
        (void)pawl__lock_check_fail(c, "token %llu after %llu",
                                    (unsigned long long)pawl__lock_token(c->b, lock),
                                    (unsigned long long)grant.token);
    (void)pawl__lock_check_is(c, "a release", pawl__locks_release(c->b, lock, &c->err), PAWL_OK);
}

static void a_release_is_no_loss(struct pawl_lock_check_case *c)
{
    _Atomic(int) losses = 0;

    for (int i = 0; i < 20; i++) {
        struct pawl_lock lock = {0};

        if (!pawl__lock_check_is(c, "an attempt",
                                 pawl__locks_try(c->a, pawl__str(c->name), 0, &lock, &c->err),
                                 PAWL_OK))
            return;
        (void)pawl__lock_check_is(c, "subscribing to losses",
                                  pawl__lock_on_lost(c->a, lock, count_loss, &losses, &c->err),
                                  PAWL_OK);
        (void)pawl__lock_check_is(c, "a release", pawl__locks_release(c->a, lock, &c->err),
                                  PAWL_OK);
        (void)pawl__lock_check_is(c, "checking a lost lock",
                                  pawl__lock_on_lost(c->a, lock, count_loss, &losses, &c->err),
                                  PAWL_ENOTFOUND);
    }
    if (atomic_load(&losses))
        (void)pawl__lock_check_fail(c, "%d releases were reported as losses", atomic_load(&losses));
}

/* Without a lease a lock ends with what it is bound to. */
static void what_is_abandoned_becomes_free(struct pawl_lock_check_case *c)
{
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock_provider *provider;
    struct pawl_lock lock = {0};
    struct pawl_lock_grant grant;

    if (c->caps & PAWL_LOCK_CAP_LEASE) {
        pawl__lock_check_skip(c, "locks are leases here");
        return;
    }
    if (!pawl__lock_check_is(c, "opening the service",
                             c->check->open(c->check->ctx, &provider, &c->err), PAWL_OK))
        return;
    pawl__lock_check_grant(c, name, 0, &grant);
    if (pawl__lock_check_is(
            c, "an attempt",
            provider->ops->try_(provider, &grant, pawl__lock_check_soon(c), &c->err), PAWL_OK))
        provider->ops->abandon(provider, &grant);
    provider->ops->close(provider);
    if (pawl__lock_check_is(
            c, "waiting for an abandoned lock",
            pawl__locks_acquire(c->b, name, 0, now_of(c) + 20000 * MS, NULL, &lock, &c->err),
            PAWL_OK))
        (void)pawl__lock_check_is(c, "a release", pawl__locks_release(c->b, lock, &c->err),
                                  PAWL_OK);
}

/* ---- figures ----------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void uncontended(struct pawl_lock_check_case *c)
{
    enum { MOST = 1000 };
    int64_t times[MOST];
    uint32_t rounds = c->check->rounds ? c->check->rounds : 200;

    if (rounds > MOST)
        rounds = MOST;
    for (uint32_t i = 0; i < rounds; i++) {
        struct pawl_lock lock = {0};
        int64_t begun = now_of(c);

        if (!pawl__lock_check_is(c, "an attempt",
                                 pawl__locks_try(c->a, pawl__str(c->name), 0, &lock, &c->err),
                                 PAWL_OK) ||
            !pawl__lock_check_is(c, "a release", pawl__locks_release(c->a, lock, &c->err), PAWL_OK))
            return;
        times[i] = now_of(c) - begun;
    }
    qsort(times, rounds, sizeof times[0], compare_times);
    pawl__lock_check_say(c, "p50 %lld us, p95 %lld us", (long long)(times[rounds / 2] / 1000),
                         (long long)(times[rounds * 95 / 100] / 1000));
}

/* One holds, the other waits, in turns; a time is from the call of release to the grant. */
struct baton {
    struct pawl_lock_check_case *c;
    _Atomic(int64_t) released_ns;
    _Atomic(bool) over, failed; /* the taker has ended; it could not acquire or release */
    int64_t *times;
    uint32_t count, rounds;
};

static void pass_lock(void *arg)
{
    struct baton *baton = arg;
    struct pawl_lock_check_case *c = baton->c;
    struct pawl_error err = PAWL_ERROR_INIT;

    for (uint32_t i = 0; i < baton->rounds && !atomic_load(&baton->failed); i++) {
        struct pawl_lock lock = {0};
        char suffix[16], text[64];

        (void)snprintf(suffix, sizeof suffix, "-%u", i);
        if (pawl__locks_acquire(c->b, pawl__lock_check_name(c, suffix, text), 0,
                                now_of(c) + 30000 * MS, NULL, &lock, &err) != PAWL_OK) {
            atomic_store(&baton->failed, true);
            break;
        }
        baton->times[baton->count++] = now_of(c) - atomic_load(&baton->released_ns);
        if (pawl__locks_release(c->b, lock, &err) != PAWL_OK)
            atomic_store(&baton->failed, true);
    }
    atomic_store(&baton->over, true);
}

static bool hand_over_once(struct pawl_lock_check_case *c, struct baton *baton,
                           struct pawl_lock *lock, uint32_t next)
{
    struct pawl_locks_counts counts;
    char suffix[16], text[64];

    do { /* until the other waits for it, and then long enough to be in a long pause */
        if (!wait_ms(c, 1))
            return false;
        pawl__locks_counts(c->b, &counts);
    } while (counts.waiting == 0 && !atomic_load(&baton->over));
    if (atomic_load(&baton->over) || !wait_ms(c, 30))
        return false;
    if (next < baton->rounds) { /* its next one is to be held before it asks for it */
        struct pawl_lock held = {0};

        (void)snprintf(suffix, sizeof suffix, "-%u", next);
        if (!pawl__lock_check_is(
                c, "an attempt",
                pawl__locks_try(c->a, pawl__lock_check_name(c, suffix, text), 0, &held, &c->err),
                PAWL_OK))
            return false;
        atomic_store(&baton->released_ns, now_of(c));
        (void)pawl__lock_check_is(c, "a release", pawl__locks_release(c->a, *lock, &c->err),
                                  PAWL_OK);
        *lock = held;
        return true;
    }
    atomic_store(&baton->released_ns, now_of(c));
    return pawl__lock_check_is(c, "a release", pawl__locks_release(c->a, *lock, &c->err), PAWL_OK);
}

static void hands_over_to_who_waits(struct pawl_lock_check_case *c)
{
    enum { ROUNDS = 20 };
    int64_t times[ROUNDS], middle, late;
    struct baton baton = {.c = c, .times = times, .rounds = ROUNDS};
    struct pawl_lock lock = {0};
    struct pawl_thread *thread;
    uint32_t handed = 0;
    char text[64];

    if (!pawl__lock_check_is(
            c, "an attempt",
            pawl__locks_try(c->a, pawl__lock_check_name(c, "-0", text), 0, &lock, &c->err),
            PAWL_OK) ||
        !pawl__lock_check_is(
            c, "a thread", pawl_thread_start(c->env, "taker", pass_lock, &baton, &thread, &c->err),
            PAWL_OK))
        return;
    while (handed < ROUNDS && hand_over_once(c, &baton, &lock, handed + 1))
        handed++;
    (void)!pawl__locks_release(c->a, lock, NULL);
    pawl_thread_join(c->env, thread);
    if (handed < ROUNDS || atomic_load(&baton.failed) || baton.count < ROUNDS) {
        (void)pawl__lock_check_fail(c, "the waiting node got the lock %u times of %d", baton.count,
                                    (int)ROUNDS);
        return;
    }
    qsort(times, baton.count, sizeof times[0], compare_times);
    middle = times[ROUNDS / 2];
    late = times[ROUNDS * 95 / 100];
    pawl__lock_check_say(c, "p50 %.2f ms, p95 %.2f ms%s", (double)middle / (double)MS,
                         (double)late / (double)MS,
                         c->caps & (PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_WAIT) ? "" : ", by polling");
}

const struct pawl_lock_check_row pawl__lock_check_times[] = {
    {"a release is not reported as a loss", 0, a_release_is_no_loss},
    {"a lease is renewed while it is held", PAWL_LOCK_CAP_LEASE, a_lease_is_renewed},
    {"a lease that is not renewed expires", PAWL_LOCK_CAP_LEASE, a_lease_that_nobody_renews_ends},
    {"tokens grow after a lease has expired", PAWL_LOCK_CAP_LEASE | PAWL_LOCK_CAP_TOKEN,
     tokens_grow_over_the_end_of_a_lease},
    {"an abandoned lock becomes free", 0, what_is_abandoned_becomes_free},
    {"hands over to a waiter", 0, hands_over_to_who_waits},
    {"acquire and release without contention", 0, uncontended},
    {NULL, 0, NULL},
};
