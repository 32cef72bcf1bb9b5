/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock provider: a service that lets one of many processes hold a name.
 *
 * A lock says who probably owns something, so that others do not even try; it makes nothing safe by
 * itself, since a holder can be paused past the end of its lock and go on. What must be safe is
 * checked where it is written: instances by the store's fence, users' own resources by the token of
 * the lock.
 *
 * Providers are small: one attempt, one renewal, one release. Everything that is common is done
 * once above them (src/locks): queues of local waiters, retries, deadlines, cancelling, renewing in
 * time, reporting losses. A provider is a const table of functions and an object that embeds struct
 * pawl_lock_provider. Calls block, up to `deadline_ns` of the environment's monotonic clock, and
 * may run at the same time on any number of threads, close excepted. Names are bytes, UTF-8 as a
 * rule; what a server is asked for is the provider's mapping of a name, the one that .NET's
 * DistributedLock library uses, so that nodes of either kind exclude each other.
 *
 * What an attempt answers, kept apart everywhere:
 *
 *     PAWL_OK            held
 *     PAWL_EBUSY         somebody else holds it
 *     PAWL_EUNAVAILABLE  and whatever else is TRANSIENT: the service cannot be asked; not held
 *     PAWL_EUNKNOWN      asked, no answer: perhaps held. The caller releases the grant to be sure
 *     others             wrong name, wrong configuration, no permission: the same fails again
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

/* Bytes of a name at the most, and of the text of what a server is asked for. */
#define PAWL_LOCK_NAME_MAX 65535
#define PAWL_LOCK_KEY_MAX 4096
/* Bytes of an owner with its NUL; grants per renew(). */
#define PAWL_LOCK_OWNER_SIZE 128
#define PAWL_LOCK_RENEW_MAX 256

/* ---- what a provider can do ---------------------------------------------------------------- */

/* Who contends: everybody with the same URI, all processes of a host, one process. Decorators pass
 * these on, so that a check for a provider that is too local sees through them. */
#define PAWL_LOCK_CAP_HOST 1u    /* at least between processes of one host */
#define PAWL_LOCK_CAP_NETWORK 2u /* between hosts */
/* A grant ends by itself unless it is renewed; without this it ends with a connection or process.
 */
#define PAWL_LOCK_CAP_LEASE 4u
/* wait() blocks at the server until the lock is granted. */
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
/* ticket() makes tickets that a store on the same server takes with its claim. */
#define PAWL_LOCK_CAP_TICKET 512u
/* A grant without a lease can be taken away, and renew() finds out at little cost: it is called
 * every second. */
#define PAWL_LOCK_CAP_PROBE 1024u

/* ---- grants ------------------------------------------------------------------------------- */

/* Also wants a token, greater than every token given for this name before. */
#define PAWL_LOCK_WANT_TOKEN 1u

/*
 * An attempt, and what came of it. The caller owns it, keeps it where it is until release() and
 * calls on it one at a time (interrupt() excepted).
 */
struct pawl_lock_grant {
    /* Given: */
    struct pawl_str name;             /* borrowed for the life of the grant */
    char owner[PAWL_LOCK_OWNER_SIZE]; /* unique per attempt: HOST_PID_32 hex digits */
    uint32_t flags;                   /* PAWL_LOCK_WANT_… */
    /* Answered: */
    uint64_t token; /* with WANT_TOKEN; never 0 */
    int64_t
        valid_until_ns; /* of the monotonic clock; PAWL_FOREVER: as long as what it is bound to */
    int status;         /* renew(): of this grant */
    /* The provider's own, 0 before the first attempt; where it keeps a connection's number, a file.
     */
    uint64_t place;
    void *bound;
};

/* Who holds a lock, as far as the service tells. Text in it is cut to fit. */
struct pawl_lock_holder {
    bool held;
    char key[PAWL_LOCK_KEY_MAX];          /* what the server knows the lock by */
    char owner[PAWL_LOCK_OWNER_SIZE * 2]; /* "": the service does not say */
    int64_t remaining_ms;                 /* of its lease; -1: no lease, or not known */
    int64_t since_us;                     /* wall clock of the service; 0: not known */
    uint64_t token; /* the last one given for this name; 0: none, or not known */
};

/* What status() tells of the service. */
struct pawl_lock_status {
    char server[128];  /* "Redis 7.0.15, 3 nodes" */
    char warning[256]; /* what an operator should know; "": nothing */
    int64_t ttl_ms;    /* of leases; 0: none */
};

struct pawl_lock_ticket; /* <pawl/ext/store.h> */
struct pawl_lock_provider;

/*
 * Called by a provider from threads of its own, never while it holds a lock of its own that one of
 * its calls takes. Neither may wait for long. Calls come until unlisten() or close() returns.
 */
struct pawl_lock_listener {
    /* This grant is not held any more: its connection broke. Not once release() or abandon() has
     * returned for it. */
    void (*lost)(void *ctx, struct pawl_lock_grant *grant);
    /* A lock may be free. `name` is "" when any may be. */
    void (*wake)(void *ctx, struct pawl_str name);
    void *ctx;
};

struct pawl_lock_provider_ops {
    uint32_t version; /* PAWL_LOCK_VERSION the table was written for */
    uint32_t caps;    /* PAWL_LOCK_CAP_…; decorators: see pawl_lock_caps() */

    /* Nothing is held and nobody is in a call. */
    void (*close)(struct pawl_lock_provider *provider);

    /* Called once before the first attempt, by providers with WAKE or LOST only. Copied. */
    int (*listen)(struct pawl_lock_provider *provider, const struct pawl_lock_listener *listener,
                  struct pawl_error *err);
    /*
     * Given by whoever gives listen(), and called after it at most once, for a listener that goes
     * before the provider is closed. No call to the listener is under way when it returns, and none
     * comes afterwards. Nothing is held and nobody is in a call; no attempt follows.
     */
    void (*unlisten)(struct pawl_lock_provider *provider);

    /* Connects if need be and looks at the service: is it there, is it fit for locks? */
    int (*status)(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                  int64_t deadline_ns, struct pawl_error *err);

    /*
     * The text of what the service is asked for, NUL-terminated. No I/O. PAWL_EINVAL: no lock can
     * have this name here; PAWL_ELIMIT: longer than `size`.
     */
    int (*map)(struct pawl_lock_provider *provider, struct pawl_str name, char *out, size_t size,
               struct pawl_error *err);

    /*
     * One attempt; never waits for a holder. On any answer but PAWL_OK and PAWL_EUNKNOWN nothing is
     * held. valid_until_ns is counted from before the request was sent, less a margin for clocks
     * that run at different speeds: ttl/100 + 2 ms. A grant that came too late to be of use is
     * given back and answered as PAWL_EUNAVAILABLE. WANT_TOKEN without CAP_TOKEN:
     * PAWL_EUNSUPPORTED. On PAWL_EUNKNOWN valid_until_ns is when it ends at the latest unless it is
     * renewed, or 0 when that is not known.
     */
    int (*try_)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                int64_t deadline_ns, struct pawl_error *err);

    /*
     * CAP_WAIT only: as try_, but waits for the holder. PAWL_ETIMEDOUT: not held, the deadline came
     * first; PAWL_ECANCELLED: not held, interrupt() came first.
     */
    int (*wait)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                int64_t deadline_ns, struct pawl_error *err);
    /* CAP_WAIT only: ends a wait() on this grant soon; without one, the next. Any thread. */
    void (*interrupt)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);

    /*
     * Renews leases; without CAP_LEASE asks whether the connection lives. Each grant's status:
     * PAWL_OK: held, valid_until_ns is new. PAWL_ENOTFOUND: certainly not held any more. Others,
     * and an answer of the call that is not PAWL_OK: nobody knows, valid_until_ns stands, to be
     * tried again. One call for many grants: providers send them together.
     */
    int (*renew)(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                 size_t count, int64_t deadline_ns, struct pawl_error *err);

    /*
     * Gives it back, also what an attempt with an unknown outcome may have taken. PAWL_OK: not held
     * by this grant now. PAWL_ENOTFOUND: it was not held any more. Others: perhaps held until its
     * lease or connection ends; to be tried again. Frees what `bound` stands for on PAWL_OK and
     * PAWL_ENOTFOUND. Never frees what another grant holds.
     */
    int (*release)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                   int64_t deadline_ns, struct pawl_error *err);
    /* Forgets a grant without asking the service, on the way out: it ends by itself. */
    void (*abandon)(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);

    /* CAP_INSPECT only. Not held is an answer, not an error. */
    int (*inspect)(struct pawl_lock_provider *provider, struct pawl_str name,
                   struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err);
    /* CAP_INSPECT only: calls `each` for what is held, at most `limit`, in no order. A result of
     * `each` other than 0 ends it. */
    int (*list)(struct pawl_lock_provider *provider, size_t limit,
                int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                int64_t deadline_ns, struct pawl_error *err);

    /*
     * CAP_TICKET only: what a store on the same server takes together with a claim, for `name`.
     */
    int (*ticket)(struct pawl_lock_provider *provider, struct pawl_str name,
                  struct pawl_lock_ticket *out, struct pawl_error *err);
};

/* An implementation embeds this as its first member. */
struct pawl_lock_provider {
    const struct pawl_lock_provider_ops *ops;
    const char *kind;                 /* "redis"; static */
    struct pawl_lock_provider *inner; /* of a decorator: what it is around; NULL otherwise */
};

/* The capabilities of a provider; of a decorator those of what it is around. */
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
