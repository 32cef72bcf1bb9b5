/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long to wait before the next try: spans that double, and chance in them, so that a cluster
 * that failed together does not come back all at once. retry.h decides whether there is a next try
 * at all; who tries for ever uses this alone.
 */
#ifndef PAWL_RESILIENCE_BACKOFF_H
#define PAWL_RESILIENCE_BACKOFF_H

#include <pawl/ext/env.h>

#include <stdint.h>

/* `first_ns` doubled `failures` times, `most_ns` at the most. */
int64_t pawl__backoff_span_ns(int64_t first_ns, int64_t most_ns, uint32_t failures);

/*
 * `span_ns`, made shorter or longer by up to `percent` (0 to 100) as `random` says, `most_ns` at
 * the most.
 */
int64_t pawl__backoff_spread_ns(int64_t span_ns, uint32_t percent, int64_t most_ns,
                                uint64_t random);

/*
 * The wait after `failures` (0 is the first) failed tries in a row: the span, of which the second
 * half is chance from the environment. Without chance it is merely not spread.
 */
int64_t pawl__backoff_ns(struct pawl_env *env, int64_t first_ns, int64_t most_ns,
                         uint32_t failures);

#endif
