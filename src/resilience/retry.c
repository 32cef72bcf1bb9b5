/* SPDX-License-Identifier: Apache-2.0 */
/* The retry iterator and the loop around it; see retry.h. */
#include "resilience/retry.h"

#include "base/assert.h"
#include "base/error.h"
#include "resilience/backoff.h"

#define MS ((int64_t)1000000)
#define TRANSIENT PAWL_RETRY_CLASS(PAWL_CLASS_TRANSIENT)

const struct pawl_retry_policy pawl__retry_locks = {
    .retries_max = 3,
    .classes = TRANSIENT,
    .delay_ns = 500 * MS,
    .delay_ns_max = 30000 * MS,
    .jitter_percent = 25,
};

const struct pawl_retry_policy pawl__retry_never = {.retries_max = 0};

void pawl__retry_init(struct pawl_retry *retry, const struct pawl_retry_policy *policy,
                      uint64_t seed, int64_t deadline_ns)
{
    PAWL_ASSERT(policy->delay_ns >= 0 && policy->delay_ns_max >= 0);
    PAWL_ASSERT(policy->jitter_percent <= 100);
    *retry = (struct pawl_retry){.policy = *policy, .random = seed, .deadline_ns = deadline_ns};
}

/* splitmix64: waits need no better chance than this, and tests know what comes. */
static uint64_t draw(struct pawl_retry *retry)
{
    uint64_t mixed = retry->random += UINT64_C(0x9E3779B97F4A7C15);

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

bool pawl__retry_next(struct pawl_retry *retry, int code, int64_t now_ns, int64_t *delay_ns)
{
    int64_t wait_ns;

    if (code == PAWL_OK || retry->retry_count >= retry->policy.retries_max)
        return false;
    if (!(retry->policy.classes & PAWL_RETRY_CLASS(pawl_error_class(code))))
        return false;
    wait_ns = pawl__backoff_span_ns(retry->policy.delay_ns, retry->policy.delay_ns_max,
                                    retry->retry_count);
    if (retry->policy.jitter_percent > 0)
        wait_ns = pawl__backoff_spread_ns(wait_ns, retry->policy.jitter_percent,
                                          retry->policy.delay_ns_max, draw(retry));
    if (retry->deadline_ns != PAWL_FOREVER &&
        (now_ns >= retry->deadline_ns || wait_ns >= retry->deadline_ns - now_ns))
        return false;
    retry->retry_count++;
    *delay_ns = wait_ns;
    return true;
}

int pawl__retry_run(struct pawl_env *env, const struct pawl_retry_policy *policy,
                    int64_t deadline_ns, const struct pawl_retry_calls *calls,
                    struct pawl_error *err)
{
    struct pawl_error last = PAWL_ERROR_INIT;
    struct pawl_retry retry;
    uint64_t seed = 0;
    int status = pawl_env_entropy(env, &seed, sizeof seed, err);

    if (status != PAWL_OK)
        return status;
    pawl__retry_init(&retry, policy, seed, deadline_ns);
    for (;;) {
        int64_t now_ns, delay_ns;

        status = calls->attempt(calls->ctx, &last);
        now_ns = pawl_env_monotonic_ns(env);
        if (!pawl__retry_next(&retry, status, now_ns, &delay_ns))
            break;
        if (calls->waiting)
            calls->waiting(calls->ctx, retry.retry_count, delay_ns, &last);
        status = pawl_env_sleep_until(env, delay_ns > INT64_MAX - now_ns ? PAWL_FOREVER
                                                                         : now_ns + delay_ns);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
    }
    if (status != PAWL_OK && err)
        *err = last;
    return status;
}
