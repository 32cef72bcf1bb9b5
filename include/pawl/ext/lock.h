/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock provider: a service that lets one of many processes hold a name.
 *
 * A lock says who probably owns something, so that others do not try. It makes nothing safe by
 * itself: a holder can be paused until its lock has expired, and then continue. Safety comes from a
 * check at the write: for instances the store's fence, for users' own resources the lock's token.
 *
 * Providers are small: one attempt, one renewal, one release. Everything common is done once above
 * them (src/locks): queues of local waiters, retries, deadlines, cancellation, renewal in time,
 * reports of lost locks. A provider is a const table of functions and an object that embeds struct
 * pawl_lock_provider. Calls block until `deadline_ns` of the environment's monotonic clock at most,
 * and any number of threads may call at the same time, except close. Names are bytes, normally
 * UTF-8. A provider maps a name to a key of its server in the same way as .NET's DistributedLock
 * library, so that nodes of both kinds exclude each other.
 *
 * Results of an attempt, which callers must keep apart:
 *
 *     PAWL_OK            acquired
 *     PAWL_EBUSY         somebody else holds it
 *     PAWL_EUNAVAILABLE  and other TRANSIENT codes: the service cannot be reached; not acquired
 *     PAWL_EUNKNOWN      no reply: perhaps acquired. The caller releases the grant to be sure
 *     others             wrong name, wrong configuration, no permission: trying again is useless
 */
#ifndef PAWL_EXT_LOCK_H
#define PAWL_EXT_LOCK_H

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_LOCK_VERSION 2u

/* Maximum bytes of a name, and of the server's key for it. */
#define PAWL_LOCK_NAME_MAX 65535
#define PAWL_LOCK_KEY_MAX 4096
/* Bytes of an owner with its NUL; maximum grants per renew(). */
#define PAWL_LOCK_OWNER_SIZE 128
#define PAWL_LOCK_RENEW_MAX 256

/* ---- what a provider can do ---------------------------------------------------------------- */

/* Which processes exclude each other. Without either flag: only threads of one process. Decorators
 * pass these on, so that a check for a provider that is too local works through them. */
#define PAWL_LOCK_CAP_HOST 1u    /* at least between processes of one host */
#define PAWL_LOCK_CAP_NETWORK 2u /* between hosts */
/* A grant expires unless it is renewed; without this it ends with a connection or process. */
#define PAWL_LOCK_CAP_LEASE 4u
/* wait() is supported: the server queues the request until the lock is granted. */
#define PAWL_LOCK_CAP_WAIT 8u
/* The listener's wake() is called when a lock that was refused may be free. */
#define PAWL_LOCK_CAP_WAKE 16u
/* Tokens, and tokens that no restart of the server repeats. */
#define PAWL_LOCK_CAP_TOKEN 32u
#define PAWL_LOCK_CAP_TOKEN_DURABLE 64u
/* The listener's lost() is called when a connection that holds locks breaks. */
#define PAWL_LOCK_CAP_LOST 128u
/* list() and inspect() find out who holds a lock. */
#define PAWL_LOCK_CAP_INSPECT 256u
/* ticket() makes tickets that a store on the same server acquires with its claim. */
#define PAWL_LOCK_CAP_TICKET 512u
/* A grant without a lease can be taken away, and renew() detects that cheaply: it is called every
 * second. */
#define PAWL_LOCK_CAP_PROBE 1024u

/* ---- grants ------------------------------------------------------------------------------- */

/* Also return a token, greater than every earlier token for this name. */
#define PAWL_LOCK_WANT_TOKEN 1u

/*
 * An attempt and its result. The caller owns it, does not move it before release(), and makes one
 * call on it at a time (except interrupt()).
 */
struct pawl_lock_grant {
    /* Input: */
    struct pawl_str name;             /* borrowed for the life of the grant */
    char owner[PAWL_LOCK_OWNER_SIZE]; /* unique per attempt: HOST_PID_32 hex digits */
    uint32_t flags;                   /* PAWL_LOCK_WANT_… */
    /* Output: */
    uint64_t token; /* with WANT_TOKEN; never 0 */
    /* Of the monotonic clock. PAWL_FOREVER: as long as its connection or file is open. */
    int64_t valid_until_ns;
    int status; /* renew(): of this grant */
    /* Private to the provider, 0 before the first attempt: a connection's number, a file. */
    uint64_t place;
    void *bound;
};

/* Who holds a lock, as far as the service reports it. Strings are truncated to fit. */
struct pawl_lock_holder {
    bool held;
    char key[PAWL_LOCK_KEY_MAX];          /* the lock's key on the server */
    char owner[PAWL_LOCK_OWNER_SIZE * 2]; /* "": the service does not say */
    int64_t remaining_ms;                 /* of its lease; -1: no lease, or not known */
    int64_t since_us;                     /* wall clock of the service; 0: not known */
    uint64_t token; /* the last one given for this name; 0: none, or not known */
};

/* What status() reports about the service. */
struct pawl_lock_status {
    char server[128];  /* "Redis 7.0.15, 3 nodes" */
    char warning[256]; /* what an operator should know; "": nothing */
    int64_t ttl_ms;    /* of leases; 0: none */
};

struct pawl_lock_ticket; /* <pawl/ext/store.h> */
struct pawl_lock_provider;

/*
 * Called by a provider on its own threads, never while it holds a mutex that one of its calls
 * locks. Neither function may block for long. Calls may come until unlisten() or close() returns.
 */
struct pawl_lock_listener {
    /* This grant is no longer held: its connection broke. Never called after release() or abandon()
     * has returned for it. */
    void (*lost)(void *ctx, struct pawl_lock_grant *grant);
    /* A lock may be free. `name` is "" when any may be. */
    void (*wake)(void *ctx, struct pawl_str name);
    void *ctx;
};

struct pawl_lock_provider_ops {
    uint32_t version; /* PAWL_LOCK_VERSION the table was written for */
    uint32_t caps;    /* PAWL_LOCK_CAP_…; decorators: see pawl_lock_caps() */

    /* Called when nothing is held and no other call is in progress. */
    void (*close)(struct pawl_lock_provider *provider);

    /* Only with CAP_WAKE or CAP_LOST. Called once, before the first attempt. Copies `listener`. */
    int (*listen)(struct pawl_lock_provider *provider, const struct pawl_lock_listener *listener,
                  struct pawl_error *err);
    /*
     * Every provider that has listen() has this too. Called at most once, when the listener ends
     * before the provider is closed. When it returns, no call to the listener is in progress and
     * none follows. Nothing is held and no other call is in progress; no attempt follows.
     */
    void (*unlisten)(struct pawl_lock_provider *provider);

    /* Connects if necessary and checks that the service is reachable and suitable for locks. */
    int (*status)(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                  int64_t deadline_ns, struct pawl_error *err);

    /*
     * The server's key for a name, NUL-terminated. No I/O. PAWL_EINVAL: this provider cannot lock
     * such a name; PAWL_ELIMIT: longer than `size`.
     */
    int (*map)(struct pawl_lock_provider *provider, struct pawl_str name, char *out, size_t size,
               struct pawl_error *err);

    /*
     * One attempt; never waits for a holder. Unless it returns PAWL_OK or PAWL_EUNKNOWN nothing is
     * held. valid_until_ns is counted from before the request was sent, less a margin for clock
     * drift: ttl/100 + 2 ms. A grant that arrives too late to be useful is released, and
     * PAWL_EUNAVAILABLE is returned. WANT_TOKEN without CAP_TOKEN: PAWL_EUNSUPPORTED. With
     * PAWL_EUNKNOWN valid_until_ns is the latest time at which the grant expires unless renewed, or
     * 0 if unknown.
     */
    int (*try_)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                int64_t deadline_ns, struct pawl_error *err);

    /*
     * CAP_WAIT only: like try_, but waits for the holder. PAWL_ETIMEDOUT: not acquired, the
     * deadline came first; PAWL_ECANCELLED: not acquired, interrupt() came first.
     */
    int (*wait)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                int64_t deadline_ns, struct pawl_error *err);
    /* CAP_WAIT only: ends the current wait() on this grant soon, or else the next one. Any thread.
     */
    void (*interrupt)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);

    /*
     * Renews leases; without CAP_LEASE checks that the connection is alive. Sets each grant's
     * status. PAWL_OK: held, valid_until_ns is new. PAWL_ENOTFOUND: certainly no longer held. Any
     * other status, or an error of the call itself: unknown; valid_until_ns is unchanged, and the
     * caller tries again. One call renews many grants: providers send them together.
     */
    int (*renew)(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                 size_t count, int64_t deadline_ns, struct pawl_error *err);

    /*
     * Releases the grant, also after an attempt with an unknown outcome. PAWL_OK: released.
     * PAWL_ENOTFOUND: it was no longer held. Others: perhaps held until its lease or connection
     * ends; the caller tries again. On PAWL_OK and PAWL_ENOTFOUND frees what `bound` refers to.
     * Never releases what another grant holds.
     */
    int (*release)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                   int64_t deadline_ns, struct pawl_error *err);
    /* Drops a grant during shutdown without a request to the service: it expires by itself. */
    void (*abandon)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);

    /* CAP_INSPECT only. A lock that is not held is not an error. */
    int (*inspect)(struct pawl_lock_provider *provider, struct pawl_str name,
                   struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err);
    /* CAP_INSPECT only: calls `each` for each held lock, at most `limit`, in no order. It ends when
     * `each` returns anything other than 0. */
    int (*list)(struct pawl_lock_provider *provider, size_t limit,
                int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                int64_t deadline_ns, struct pawl_error *err);

    /* CAP_TICKET only: the ticket for `name`, which a store on the same server acquires together
     * with a claim. */
    int (*ticket)(struct pawl_lock_provider *provider, struct pawl_str name,
                  struct pawl_lock_ticket *out, struct pawl_error *err);
};

/* An implementation embeds this as its first member. */
struct pawl_lock_provider {
    const struct pawl_lock_provider_ops *ops;
    const char *kind;                 /* "redis"; static */
    struct pawl_lock_provider *inner; /* what a decorator wraps; NULL otherwise */
};

/* The capabilities of a provider; for a decorator, those of what it wraps. */
static inline uint32_t pawl_lock_caps(const struct pawl_lock_provider *provider)
{
    while (provider->inner)
        provider = provider->inner;
    return provider->ops->caps;
}

#ifdef __cplusplus
}
#endif
#endif
