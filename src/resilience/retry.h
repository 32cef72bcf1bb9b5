/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trying again: how often, after which wait, and after which errors.
 *
 * The decision is separate from the waiting. struct pawl_retry is an iterator that never sleeps and
 * reads no clock: asked with the code of the attempt that failed, it returns whether to try again
 * and how long to wait before. The same policy and the same seed give the same waits.
 *
 *     pawl__retry_init(&retry, &pawl__retry_locks, seed, deadline_ns);
 *     for (;;) {
 *         status = attempt();
 *         if (!pawl__retry_next(&retry, status, now_ns, &delay_ns))
 *             break;
 *         … wait delay_ns …
 *     }
 *
 * It looks at the class of an error and never at the code (<pawl/error.h>). UNKNOWN is retried only
 * by a policy that names it: the first try may have happened, so the caller's request must be one
 * that takes effect once however often it is sent.
 */
#ifndef PAWL_RESILIENCE_RETRY_H
#define PAWL_RESILIENCE_RETRY_H

#include <pawl/error.h>
#include <pawl/ext/env.h>

#include <stdbool.h>
#include <stdint.h>

/* A set of classes: PAWL_RETRY_CLASS(PAWL_CLASS_TRANSIENT) | … */
#define PAWL_RETRY_CLASS(error_class) (1u << (unsigned)(error_class))

struct pawl_retry_policy {
    uint32_t retries_max;    /* attempts are one more */
    uint32_t classes;        /* those that are retried */
    int64_t delay_ns;        /* before the first retry; each further one waits twice as long */
    int64_t delay_ns_max;    /* the cap, jitter included */
    uint32_t jitter_percent; /* 0 to 100: a wait is up to this much shorter or longer */
};

/* Of acquiring locks: 3 retries, 0.5 s, 1 s, 2 s, a quarter more or less; TRANSIENT only. */
extern const struct pawl_retry_policy pawl__retry_locks;
/* None at all. */
extern const struct pawl_retry_policy pawl__retry_never;

struct pawl_retry {
    struct pawl_retry_policy policy;
    uint64_t random; /* state of the generator */
    int64_t deadline_ns;
    uint32_t retry_count; /* so far */
};

/* Copies the policy. No retry begins at or after `deadline_ns`; PAWL_FOREVER: none such. */
void pawl__retry_init(struct pawl_retry *retry, const struct pawl_retry_policy *policy,
                      uint64_t seed, int64_t deadline_ns);

/*
 * Whether an attempt that answered `code` is to be made again, `*delay_ns` from `now_ns`. False
 * leaves the output unwritten: success, another class, no more retries, or the deadline would come
 * first.
 */
bool pawl__retry_next(struct pawl_retry *retry, int code, int64_t now_ns, int64_t *delay_ns);

/* For pawl__retry_run(). */
struct pawl_retry_calls {
    /* One attempt; on failure `err` (never NULL) is filled in. */
    int (*attempt)(void *ctx, struct pawl_error *err);
    /* Before each wait, to log it: `retry_count` is 1 at the first. NULL: nobody listens. */
    void (*waiting)(void *ctx, uint32_t retry_count, int64_t delay_ns,
                    const struct pawl_error *err);
    void *ctx;
};

/*
 * The loop: attempts, waits in `env`, and returns what the last attempt did. PAWL_ESTOPPED when the
 * environment stops during a wait. The seed is drawn from the environment.
 */
PAWL_MUST_CHECK int pawl__retry_run(struct pawl_env *env, const struct pawl_retry_policy *policy,
                                    int64_t deadline_ns, const struct pawl_retry_calls *calls,
                                    struct pawl_error *err);

#endif
