/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock providers that come with Pawl, and what can be put around one. The interface that all of
 * them have is <pawl/ext/lock.h>; which one a node uses is decided in src/host.
 *
 *     memory     the reference, between threads of one process; several nodes of a simulation share
 *                a space
 *     file       flock() on a file per name, between processes of one host
 *     sqlite     a row per name with a lease, between processes of one host
 *     trace      decorator: counts calls
 *     fault      decorator: lets calls fail, also after they took effect
 */
#ifndef PAWL_LOCKS_PROVIDERS_H
#define PAWL_LOCKS_PROVIDERS_H

#include <pawl/ext/lock.h>
#include <pawl/ext/log.h>

/* How long a lease lasts where one is had and none was asked for, and its bounds. */
#define PAWL_LOCK_TTL_MS_DEFAULT 30000
#define PAWL_LOCK_TTL_MS_MIN 100
#define PAWL_LOCK_TTL_MS_MAX (24 * 3600 * 1000)

struct pawl_lock_provider_options {
    int64_t ttl_ms;             /* of leases; 0: PAWL_LOCK_TTL_MS_DEFAULT */
    const struct pawl_log *log; /* NULL: none. Borrowed */
};

/* valid_until_ns of a lease that was asked for at `sent_ns`: less a margin for clocks that run at
 * different speeds. */
static inline int64_t pawl__lock_valid_until(int64_t sent_ns, int64_t ttl_ms)
{
    return sent_ns + ttl_ms * INT64_C(1000000) - (ttl_ms * INT64_C(10000) + INT64_C(2000000));
}

/* ---- memory ------------------------------------------------------------------------------ */

struct pawl_lock_space;

/* Where the locks are. Its clock and its mutex are `env`'s: in a simulation it is a machine of its
 * own. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__lock_space_new(struct pawl_env *env, struct pawl_lock_space **out,
                                         struct pawl_error *err);
void pawl__lock_space_free(struct pawl_lock_space *space); /* after its providers; NULL allowed */

/* Takes a lock away from whoever holds it, as an administrator or a failover would. Answers whether
 * anybody held it. Nobody is told. */
bool pawl__lock_space_break(struct pawl_lock_space *space, struct pawl_str name);

/*
 * A provider on it, for a node whose environment is `env`. `ttl_ms` 0: no lease, a lock is held
 * until it is released or the provider is closed. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__memory_locks_open(struct pawl_lock_space *space, struct pawl_env *env,
                                            int64_t ttl_ms, struct pawl_lock_provider **out,
                                            struct pawl_error *err);
/* A provider with a space of its own, which goes with it. */
PAWL_MUST_CHECK int pawl__memory_locks_new(struct pawl_env *env, int64_t ttl_ms,
                                           struct pawl_lock_provider **out, struct pawl_error *err);

/* ---- files ------------------------------------------------------------------------------- */

/* `folder` is copied, and made when it is not there. */
PAWL_MUST_CHECK int pawl__file_locks_open(struct pawl_env *env, struct pawl_str folder,
                                          const struct pawl_lock_provider_options *options,
                                          struct pawl_lock_provider **out, struct pawl_error *err);

#endif
