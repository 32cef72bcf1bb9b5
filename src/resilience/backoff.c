/* SPDX-License-Identifier: Apache-2.0 */
/* Waits between tries; see backoff.h. */
#include "resilience/backoff.h"

#include "base/assert.h"

int64_t pawl__backoff_span_ns(int64_t first_ns, int64_t most_ns, uint32_t failures)
{
    int64_t span_ns = first_ns;

    for (uint32_t i = 0; i < failures && span_ns > 0 && span_ns < most_ns; i++)
        span_ns = span_ns > INT64_MAX / 2 ? INT64_MAX : span_ns * 2;
    return span_ns < most_ns ? span_ns : most_ns;
}

int64_t pawl__backoff_spread_ns(int64_t span_ns, uint32_t percent, int64_t most_ns, uint64_t random)
{
    /* Divided first: a span of centuries must not overflow. */
    int64_t spread_ns = span_ns / 100 * (int64_t)percent;
    uint64_t offset;

    PAWL_ASSERT(percent <= 100);
    if (spread_ns <= 0)
        return span_ns;
    offset = random % ((uint64_t)spread_ns * 2 + 1);
    span_ns -= spread_ns; /* at least 0: the spread is 100 % at the most */
    if ((uint64_t)(most_ns - span_ns) < offset)
        return most_ns;
    return span_ns + (int64_t)offset;
}

int64_t pawl__backoff_ns(struct pawl_env *env, int64_t first_ns, int64_t most_ns, uint32_t failures)
{
    int64_t span_ns = pawl__backoff_span_ns(first_ns, most_ns, failures);
    uint32_t chance = 0;

    if (pawl_env_entropy(env, &chance, sizeof chance, NULL) != PAWL_OK)
        chance = 0;
    /* Divided first here too. */
    return span_ns / 2 + (int64_t)((uint64_t)(span_ns / 2) / UINT32_MAX * chance +
                                   (uint64_t)(span_ns / 2) % UINT32_MAX * chance / UINT32_MAX);
}
