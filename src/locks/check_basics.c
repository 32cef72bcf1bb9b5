/* SPDX-License-Identifier: Apache-2.0 */
/* The cases about who holds a lock and what names are; see check.h. */
#include "base/error.h"
#include "locks/check_private.h"

#include <stdatomic.h>
#include <stdio.h>

#define MS INT64_C(1000000)

static int64_t in_ms(struct pawl_lock_check_case *c, int64_t ms)
{
    return pawl_env_monotonic_ns(c->env) + ms * MS;
}

/* Shorthands: what is expected of a try, an acquire, a release. */
static bool try_is(struct pawl_lock_check_case *c, struct pawl_locks *locks, struct pawl_str name,
                   struct pawl_lock *lock, int expected)
{
    return pawl__lock_check_is(c, "an attempt", pawl__locks_try(locks, name, 0, lock, &c->err),
                               expected);
}

static bool release_is(struct pawl_lock_check_case *c, struct pawl_locks *locks,
                       struct pawl_lock lock, int expected)
{
    return pawl__lock_check_is(c, "a release", pawl__locks_release(locks, lock, &c->err), expected);
}

static void says_what_it_is(struct pawl_lock_check_case *c)
{
    if (c->status.warning[0])
        pawl__lock_check_say(c, "%s; note: %s", c->status.server, c->status.warning);
    else
        pawl__lock_check_say(c, "%s", c->status.server);
}

static void one_holder_at_a_time(struct pawl_lock_check_case *c)
{
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock first = {0}, second = {0}, other = {0};
    char text[64];

    if (!try_is(c, c->a, name, &first, PAWL_OK) || !try_is(c, c->a, name, &second, PAWL_EBUSY) ||
        !try_is(c, c->b, name, &second, PAWL_EBUSY) ||
        !try_is(c, c->b, pawl__lock_check_name(c, "-other", text), &other, PAWL_OK))
        return;
    if (!pawl__lock_valid(c->a, first))
        (void)pawl__lock_check_fail(c, "a held lock is reported as not held");
    if (!release_is(c, c->a, first, PAWL_OK) || !try_is(c, c->b, name, &second, PAWL_OK) ||
        !try_is(c, c->a, name, &first, PAWL_EBUSY) || !release_is(c, c->b, second, PAWL_OK) ||
        !release_is(c, c->b, other, PAWL_OK))
        return;
    if (try_is(c, c->a, name, &first, PAWL_OK))
        (void)release_is(c, c->a, first, PAWL_OK);
}

static void a_second_release_frees_nobody_elses(struct pawl_lock_check_case *c)
{
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock first = {0}, second = {0}, third = {0};

    if (!try_is(c, c->a, name, &first, PAWL_OK) || !release_is(c, c->a, first, PAWL_OK) ||
        !try_is(c, c->b, name, &second, PAWL_OK) || !release_is(c, c->a, first, PAWL_OK) ||
        !try_is(c, c->a, name, &third, PAWL_EBUSY) || !release_is(c, c->b, second, PAWL_OK) ||
        !release_is(c, c->b, second, PAWL_OK))
        return;
    if (pawl__lock_state(c->b, second) != PAWL_LOCK_GONE)
        (void)pawl__lock_check_fail(c, "a released lock is still held");
}

/* What an attempt whose answer was lost is followed by, when it had not taken anything. */
static void giving_back_what_was_not_had_frees_nobody_elses(struct pawl_lock_check_case *c)
{
    struct pawl_lock_provider *provider = pawl__locks_provider(c->b);
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock first = {0}, second = {0};
    struct pawl_lock_grant grant;
    int status;

    if (!try_is(c, c->a, name, &first, PAWL_OK))
        return;
    pawl__lock_check_grant(c, name, 0, &grant);
    status = provider->ops->release(provider, &grant, pawl__lock_check_soon(c), &c->err);
    if (status != PAWL_ENOTFOUND)
        (void)pawl__lock_check_is(c, "releasing a lock that is not held", status, PAWL_OK);
    (void)try_is(c, c->b, name, &second, PAWL_EBUSY);
    (void)release_is(c, c->a, first, PAWL_OK);
}

/* How often a service that is slower than a deadline is asked again, with twice the time. */
#define SLOW_TRIES 8

/*
 * Acquires with a deadline `ms` from now. The last call to the service has little time left; a slow
 * service makes its outcome unknown, which says nothing about the deadline: again, with more time.
 */
static bool acquire_is(struct pawl_lock_check_case *c, const char *what, struct pawl_locks *locks,
                       int64_t ms, struct pawl_lock *lock, int expected)
{
    struct pawl_str name = pawl__str(c->name);
    int status = PAWL_EUNKNOWN;

    for (int tries = 0; tries < SLOW_TRIES && status == PAWL_EUNKNOWN; tries++) {
        status = pawl__locks_acquire(locks, name, 0, ms > 0 ? in_ms(c, ms << tries) : 0, NULL, lock,
                                     &c->err);
        /* What may have been granted is being released meanwhile, and blocks this attempt. */
        if (status == PAWL_ETIMEDOUT && expected == PAWL_OK && tries > 0)
            status = PAWL_EUNKNOWN;
    }
    return pawl__lock_check_is(c, what, status, expected);
}

static void a_wait_ends_at_its_deadline(struct pawl_lock_check_case *c)
{
    struct pawl_lock first = {0}, second = {0};

    if (!try_is(c, c->a, pawl__str(c->name), &first, PAWL_OK))
        return;
    (void)acquire_is(c, "a wait of 200 ms for another node's lock", c->b, 200, &second,
                     PAWL_ETIMEDOUT);
    (void)acquire_is(c, "a wait of 20 ms for a lock of the same node", c->a, 20, &second,
                     PAWL_ETIMEDOUT);
    (void)acquire_is(c, "a wait whose deadline has passed", c->b, 0, &second, PAWL_ETIMEDOUT);
    if (!release_is(c, c->a, first, PAWL_OK))
        return;
    if (acquire_is(c, "a wait whose deadline has passed, for a free lock", c->b, 0, &second,
                   PAWL_OK))
        (void)release_is(c, c->b, second, PAWL_OK);
}

/* ---- cancelling -------------------------------------------------------------------------- */

struct canceller {
    struct pawl_lock_check_case *c;
    struct pawl_lock_cancel cancel;
    _Atomic(bool) over; /* nobody waits any more */
};

static void cancel_soon(void *arg)
{
    struct canceller *canceller = arg;
    struct pawl_lock_check_case *c = canceller->c;
    struct pawl_locks_counts counts;

    /* Once it waits; then a little more, so that it waits at the service, too. */
    do {
        if (pawl_env_sleep_until(c->env, in_ms(c, 1)) != PAWL_OK)
            break;
        pawl__locks_counts(c->b, &counts);
    } while (counts.waiting == 0 && !atomic_load(&canceller->over));
    (void)!pawl_env_sleep_until(c->env, in_ms(c, 50));
    pawl__locks_cancel(c->b, &canceller->cancel);
}

static void a_wait_can_be_cancelled(struct pawl_lock_check_case *c)
{
    struct canceller canceller = {.c = c};
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock first = {0}, second = {0};
    struct pawl_thread *thread;

    if (!try_is(c, c->a, name, &first, PAWL_OK))
        return;
    if (pawl_thread_start(c->env, "canceller", cancel_soon, &canceller, &thread, &c->err) ==
        PAWL_OK) {
        (void)pawl__lock_check_is(
            c, "a wait that is cancelled",
            pawl__locks_acquire(c->b, name, 0, PAWL_FOREVER, &canceller.cancel, &second, &c->err),
            PAWL_ECANCELLED);
        atomic_store(&canceller.over, true);
        pawl_thread_join(c->env, thread);
        (void)!pawl__locks_release(c->b, second, NULL); /* of a service that granted it */
    }
    (void)release_is(c, c->a, first, PAWL_OK);
    (void)pawl__lock_check_is(
        c, "an attempt that was cancelled before",
        pawl__locks_acquire(c->b, name, 0, PAWL_FOREVER, &canceller.cancel, &second, &c->err),
        PAWL_ECANCELLED);
    if (try_is(c, c->b, name, &second, PAWL_OK))
        (void)release_is(c, c->b, second, PAWL_OK);
}

/* ---- crowds ------------------------------------------------------------------------------ */

#define CROWD_MAX 256

struct crowd {
    struct pawl_lock_check_case *c;
    _Atomic(int) inside, most, failed;
    _Atomic(uint32_t) next;
};

static void join_crowd(void *arg)
{
    struct crowd *crowd = arg;
    struct pawl_lock_check_case *c = crowd->c;
    struct pawl_locks *locks = atomic_fetch_add(&crowd->next, 1) % 2 ? c->a : c->b;
    struct pawl_error err = PAWL_ERROR_INIT;

    for (int round = 0; round < 5; round++) {
        struct pawl_lock lock = {0};
        int inside;

        if (pawl__locks_acquire(locks, pawl__str(c->name), 0, in_ms(c, 60000), NULL, &lock, &err) !=
            PAWL_OK) {
            atomic_fetch_add(&crowd->failed, 1);
            return;
        }
        inside = atomic_fetch_add(&crowd->inside, 1) + 1;
        if (inside > atomic_load(&crowd->most))
            atomic_store(&crowd->most, inside);
        if (pawl_env_sleep_until(c->env, pawl_env_monotonic_ns(c->env) + MS / 4) != PAWL_OK)
            atomic_fetch_add(&crowd->failed, 1);
        atomic_fetch_sub(&crowd->inside, 1);
        if (pawl__locks_release(locks, lock, &err) != PAWL_OK)
            atomic_fetch_add(&crowd->failed, 1);
    }
}

static void a_crowd_goes_through_one_by_one(struct pawl_lock_check_case *c)
{
    uint32_t workers = c->check->workers ? c->check->workers : 16, started = 0;
    struct pawl_thread *threads[CROWD_MAX];
    struct crowd crowd = {.c = c};

    if (workers > CROWD_MAX)
        workers = CROWD_MAX;
    while (started < workers && pawl_thread_start(c->env, "crowd", join_crowd, &crowd,
                                                  &threads[started], &c->err) == PAWL_OK)
        started++;
    for (uint32_t i = 0; i < started; i++)
        pawl_thread_join(c->env, threads[i]);
    if (started < workers)
        (void)pawl__lock_check_fail(c, "threads: %s", c->err.msg);
    if (atomic_load(&crowd.most) != 1)
        (void)pawl__lock_check_fail(c, "%d held one lock at a time", atomic_load(&crowd.most));
    if (atomic_load(&crowd.failed))
        (void)pawl__lock_check_fail(c, "%d of %u could not acquire or release",
                                    atomic_load(&crowd.failed), workers);
    pawl__lock_check_say(c, "%u threads of two nodes, 5 times each", workers);
}

/* ---- names ------------------------------------------------------------------------------- */

/* Takes all of them at once: no two may be the same lock. */
static void take_all(struct pawl_lock_check_case *c, const struct pawl_str *names, size_t count)
{
    struct pawl_lock locks[16] = {{0}}, refused;
    char key[PAWL_LOCK_KEY_MAX];
    struct pawl_lock_provider *provider = pawl__locks_provider(c->a);
    size_t taken = 0;

    while (taken < count &&
           pawl__lock_check_is(c, "a name's key",
                               provider->ops->map(provider, names[taken], key, sizeof key, &c->err),
                               PAWL_OK) &&
           try_is(c, c->a, names[taken], &locks[taken], PAWL_OK))
        taken++;
    for (size_t i = 0; i < taken; i++)
        (void)try_is(c, c->b, names[i], &refused, PAWL_EBUSY);
    while (taken > 0)
        (void)release_is(c, c->a, locks[--taken], PAWL_OK);
}

static void any_name_is_a_name(struct pawl_lock_check_case *c)
{
    static const char *const suffixes[] = {
        "", "/x", "\\y", " x ", "x.", "\xc3\xa9", "'\"", "%s%n", "\xf0\x9f\x98\x80"};
    enum { COUNT = sizeof suffixes / sizeof suffixes[0] };
    struct pawl_str names[COUNT + 1];
    char texts[COUNT][64], longest[1000];

    for (size_t i = 0; i < COUNT; i++)
        names[i] = pawl__lock_check_name(c, suffixes[i], texts[i]);
    memset(longest, 'a', sizeof longest);
    memcpy(longest, c->word, strlen(c->word));
    names[COUNT] = pawl__str_make(longest, sizeof longest);
    take_all(c, names, COUNT + 1);
}

static void case_matters_in_names(struct pawl_lock_check_case *c)
{
    char lower[600], upper[600], text[2][64];
    struct pawl_str names[4] = {
        pawl__lock_check_name(c, "x", text[0]), pawl__lock_check_name(c, "X", text[1]),
        pawl__str_make(lower, sizeof lower), pawl__str_make(upper, sizeof upper)};

    memset(lower, 'a', sizeof lower);
    memcpy(lower, c->word, strlen(c->word));
    memcpy(upper, lower, sizeof upper);
    upper[sizeof upper - 1] = 'A';
    take_all(c, names, 4);
}

/* ---- much -------------------------------------------------------------------------------- */

static void many_locks_at_once(struct pawl_lock_check_case *c)
{
    enum { MANY = 300 };
    struct pawl_lock locks[MANY];
    int taken = 0, lost = 0;

    for (; taken < MANY; taken++) {
        char suffix[16], text[64];

        (void)snprintf(suffix, sizeof suffix, "-%d", taken);
        if (!try_is(c, c->a, pawl__lock_check_name(c, suffix, text), &locks[taken], PAWL_OK))
            break;
    }
    for (int i = 0; i < taken; i++)
        lost += !pawl__lock_valid(c->a, locks[i]);
    if (lost > 0)
        (void)pawl__lock_check_fail(c, "%d of %d locks were lost while others were acquired", lost,
                                    taken);
    while (taken > 0)
        (void)release_is(c, c->a, locks[--taken], PAWL_OK);
    pawl__lock_check_say(c, "%d by one node", (int)MANY);
}

static void acquire_and_release_at_random(struct pawl_lock_check_case *c)
{
    enum { NAMES = 20 };
    struct pawl_lock locks[NAMES] = {{0}};
    uint32_t rounds = c->check->rounds ? c->check->rounds : 200;
    uint64_t random = 1;

    for (uint32_t i = 0; i < 5 * rounds; i++) {
        struct pawl_locks *holder;
        char suffix[16], text[64];
        struct pawl_lock none;
        size_t at;

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        at = (size_t)(random >> 33) % NAMES;
        holder = at % 2 ? c->a : c->b;
        (void)snprintf(suffix, sizeof suffix, "-%zu", at);
        (void)pawl__lock_check_name(c, suffix, text);
        if (locks[at].number) {
            if (!try_is(c, holder == c->a ? c->b : c->a, pawl__str(text), &none, PAWL_EBUSY) ||
                !release_is(c, holder, locks[at], PAWL_OK))
                return;
            locks[at].number = 0;
        } else if (!try_is(c, holder, pawl__str(text), &locks[at], PAWL_OK)) {
            return;
        }
    }
    for (size_t i = 0; i < NAMES; i++)
        if (locks[i].number)
            (void)release_is(c, i % 2 ? c->a : c->b, locks[i], PAWL_OK);
}

/* ---- tokens, looking --------------------------------------------------------------------- */

static void tokens_grow(struct pawl_lock_check_case *c)
{
    struct pawl_str name = pawl__str(c->name);
    uint64_t last = 0;

    for (int i = 0; i < 20; i++) {
        struct pawl_locks *locks = i % 3 ? c->a : c->b;
        struct pawl_lock lock = {0};
        uint64_t token;

        if (!pawl__lock_check_is(c, "an attempt with a token",
                                 pawl__locks_try(locks, name, PAWL_LOCK_WANT_TOKEN, &lock, &c->err),
                                 PAWL_OK))
            return;
        token = pawl__lock_token(locks, lock);
        if (token <= last)
            (void)pawl__lock_check_fail(c, "token %llu after %llu", (unsigned long long)token,
                                        (unsigned long long)last);
        last = token;
        if (!release_is(c, locks, lock, PAWL_OK))
            return;
    }
}

static void a_token_that_cannot_be_had_is_refused(struct pawl_lock_check_case *c)
{
    struct pawl_lock lock = {0};

    if (c->caps & PAWL_LOCK_CAP_TOKEN) {
        pawl__lock_check_skip(c, "this kind of service has tokens");
        return;
    }
    (void)pawl__lock_check_is(
        c, "an attempt with a token",
        pawl__locks_try(c->a, pawl__str(c->name), PAWL_LOCK_WANT_TOKEN, &lock, &c->err),
        PAWL_EUNSUPPORTED);
    if (try_is(c, c->a, pawl__str(c->name), &lock, PAWL_OK))
        (void)release_is(c, c->a, lock, PAWL_OK);
}

struct search {
    const char *key;
    bool found;
};

static int match_holder(void *ctx, const struct pawl_lock_holder *holder)
{
    struct search *search = ctx;

    search->found = search->found || (holder->held && strcmp(holder->key, search->key) == 0);
    return search->found;
}

static void shows_who_holds_it(struct pawl_lock_check_case *c)
{
    struct pawl_lock_provider *provider = pawl__locks_provider(c->b);
    struct pawl_str name = pawl__str(c->name);
    struct pawl_lock_holder holder;
    struct search search = {.key = holder.key};
    struct pawl_lock lock = {0};

    if (!pawl__lock_check_is(
            c, "inspecting a free lock",
            provider->ops->inspect(provider, name, &holder, pawl__lock_check_soon(c), &c->err),
            PAWL_OK))
        return;
    if (holder.held)
        (void)pawl__lock_check_fail(c, "a free lock is reported as held by %s", holder.owner);
    if (!try_is(c, c->a, name, &lock, PAWL_OK))
        return;
    if (pawl__lock_check_is(
            c, "inspecting a held lock",
            provider->ops->inspect(provider, name, &holder, pawl__lock_check_soon(c), &c->err),
            PAWL_OK) &&
        !holder.held)
        (void)pawl__lock_check_fail(c, "a held lock (%s) is reported as free", holder.key);
    (void)pawl__lock_check_is(c, "listing locks",
                              provider->ops->list(provider, SIZE_MAX, match_holder, &search,
                                                  pawl__lock_check_soon(c), &c->err),
                              PAWL_OK);
    if (!search.found)
        (void)pawl__lock_check_fail(c, "a held lock (%s) is not in the list", holder.key);
    pawl__lock_check_say(c, "%s held by %s", holder.key, holder.owner[0] ? holder.owner : "?");
    (void)release_is(c, c->a, lock, PAWL_OK);
}

const struct pawl_lock_check_row pawl__lock_check_basics[] = {
    {"the service is reachable and suitable for locks", 0, says_what_it_is},
    {"one holder at a time", 0, one_holder_at_a_time},
    {"a second release does not free another holder's lock", 0,
     a_second_release_frees_nobody_elses},
    {"releasing what is not held does not free another's lock", 0,
     giving_back_what_was_not_had_frees_nobody_elses},
    {"a wait ends at its deadline", 0, a_wait_ends_at_its_deadline},
    {"a wait can be cancelled", 0, a_wait_can_be_cancelled},
    {"many waiters acquire it one by one", 0, a_crowd_goes_through_one_by_one},
    {"any name can be locked", 0, any_name_is_a_name},
    {"case matters in names", 0, case_matters_in_names},
    {"many locks are held at once", 0, many_locks_at_once},
    {"random acquires and releases", 0, acquire_and_release_at_random},
    {"tokens grow", PAWL_LOCK_CAP_TOKEN, tokens_grow},
    {"an unsupported token is refused", 0, a_token_that_cannot_be_had_is_refused},
    {"reports who holds a lock", PAWL_LOCK_CAP_INSPECT, shows_who_holds_it},
    {NULL, 0, NULL},
};
