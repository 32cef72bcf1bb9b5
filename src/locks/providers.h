/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock providers that come with Pawl, and what can be put around one. The interface that all of
 * them have is <pawl/ext/lock.h>; which one a node uses is decided in src/host.
 *
 *     memory     the reference, between threads of one process; several nodes of a simulation share
 *                a space
 *     file       flock() on a file per name, between processes of one host
 *     sqlite     a row per name with a lease, between processes of one host
 *     redis      a key with an expiry on one server, or on the majority of several
 *     postgres   an advisory lock of a session
 *     trace      decorator: counts calls
 *     fault      decorator: lets calls fail, also after they took effect
 */
#ifndef PAWL_LOCKS_PROVIDERS_H
#define PAWL_LOCKS_PROVIDERS_H

#include <pawl/ext/lock.h>
#include <pawl/ext/log.h>

/* The default duration of leases, and its bounds. */
#define PAWL_LOCK_TTL_MS_DEFAULT 30000
#define PAWL_LOCK_TTL_MS_MIN 100
#define PAWL_LOCK_TTL_MS_MAX (24 * 3600 * 1000)

struct pawl_lock_provider_options {
    int64_t ttl_ms;             /* of leases; 0: PAWL_LOCK_TTL_MS_DEFAULT */
    const struct pawl_log *log; /* NULL: none. Borrowed */
    bool is_shared;             /* lock files: of several users, see os/lock_file.h */
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

/* Takes a lock away from its holder, as an administrator or a failover would. Returns whether
 * anybody held it. The holder is not notified. */
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

/*
 * `folder` is copied, and made when it does not exist. Lock files are this user's alone unless
 * options->is_shared. A file or folder that is removed or moved while a lock is held loses it.
 */
PAWL_MUST_CHECK int pawl__file_locks_open(struct pawl_env *env, struct pawl_str folder,
                                          const struct pawl_lock_provider_options *options,
                                          struct pawl_lock_provider **out, struct pawl_error *err);

/* The file at `path`, which is copied, is made when it does not exist; other tables may be in it.
 */
PAWL_MUST_CHECK int pawl__sqlite_locks_open(struct pawl_env *env, struct pawl_str path,
                                            const struct pawl_lock_provider_options *options,
                                            struct pawl_lock_provider **out,
                                            struct pawl_error *err);

/* ---- redis ------------------------------------------------------------------------------- */

/*
 *     redis://[user:password@]host[:port][/database][,host[:port]…]
 *
 * On one server, or by the majority of several (15 at the most) that know nothing of each other.
 * Reads the URI, does not connect. PAWL_EINVAL: the URI or the lease; PAWL_EUNSUPPORTED: rediss://,
 * for there is no TLS; PAWL_EMISSING: the client library. A Redis Cluster is refused by status()
 * and when it returns MOVED.
 *
 * A lock is a key with the name's bytes, its value HOST_PID_GUID and an expiry, as .NET's library
 * has it. Tokens count in the key {NAME}:fence; a counter that is missing begins at the server's
 * time in microseconds, so that a server that restarted empty continues above its earlier tokens as
 * long as its clock was not set back. Releases are published on pawl:released:NAME, which those
 * listen to who were refused.
 *
 * Several servers are asked at the same time. A majority grants, within a tenth of the lease;
 * otherwise what was granted is released. A renewal sets the key again on servers that lost it,
 * so that one that came back empty counts at the next one; what a majority has lost is lost.
 */
PAWL_MUST_CHECK int pawl__redis_locks_open(struct pawl_env *env, struct pawl_str uri,
                                           const struct pawl_lock_provider_options *options,
                                           struct pawl_lock_provider **out, struct pawl_error *err);

/* ---- postgres ---------------------------------------------------------------------------- */

/*
 * `uri` as libpq has it: postgres://user:password@host:port/database?option=value. Reads it, does
 * not connect. PAWL_EINVAL: not readable; PAWL_EMISSING: the client library. What else is wrong
 * shows at the first call: a pooler that gives each transaction another session is
 * PAWL_EUNSUPPORTED.
 *
 * A lock is an advisory lock of a session, with the key that .NET's library derives from the name.
 * It has no lease: it ends with its connection, and its holder is notified. So that a holder that
 * is cut off knows, too, a grant is valid for 15 s after the last answer of the server; the server
 * gives up a client that is cut off after 30 s. One connection holds what was free when it was
 * asked for; up to 8 others wait at the server, each for one lock, and whoever finds no connection
 * to wait on polls. Tokens come from the sequence pawl_lock_token, which is made when the first is
 * wanted; they never repeat, also past a restart of the server.
 */
PAWL_MUST_CHECK int pawl__postgres_locks_open(struct pawl_env *env, struct pawl_str uri,
                                              const struct pawl_lock_provider_options *options,
                                              struct pawl_lock_provider **out,
                                              struct pawl_error *err);

/* ---- decorators: each takes the inner provider, and closes it with itself ------------------- */

enum pawl_lock_call {
    PAWL_LOCK_CALL_STATUS,
    PAWL_LOCK_CALL_TRY,
    PAWL_LOCK_CALL_WAIT,
    PAWL_LOCK_CALL_RENEW,
    PAWL_LOCK_CALL_RELEASE,
    PAWL_LOCK_CALL_INSPECT,
    PAWL_LOCK_CALL_LIST,
    PAWL_LOCK_CALL_TICKET,
    PAWL_LOCK_CALL_COUNT
};

/* "status", "try", … */
const char *pawl__lock_call_name(enum pawl_lock_call call);

/* Counted by calls that have returned. */
struct pawl_lock_counts {
    uint64_t calls[PAWL_LOCK_CALL_COUNT];
    uint64_t refused;                        /* try and wait: PAWL_EBUSY, PAWL_ETIMEDOUT */
    uint64_t failures[PAWL_LOCK_CALL_COUNT]; /* all other results that are not PAWL_OK */
    uint64_t renewed;                        /* grants of renew() that were */
    uint64_t wakes, losses;                  /* what the provider said by itself */
};

PAWL_MUST_CHECK int pawl__trace_locks_new(struct pawl_env *env, struct pawl_lock_provider *inner,
                                          struct pawl_lock_provider **out, struct pawl_error *err);
/* `provider` is one that pawl__trace_locks_new() made. */
void pawl__trace_locks_counts(struct pawl_lock_provider *provider, struct pawl_lock_counts *out);

enum pawl_lock_fault {
    PAWL_LOCK_FAULT_NONE,
    PAWL_LOCK_FAULT_BEFORE, /* `code`, and nothing was done */
    PAWL_LOCK_FAULT_AFTER,  /* done, but the result is PAWL_EUNKNOWN */
    PAWL_LOCK_FAULT_GRANT,  /* try: granted although somebody else holds it */
    PAWL_LOCK_FAULT_LOSE,   /* renew: each grant's status is PAWL_ENOTFOUND, and it is still held */
};

struct pawl_lock_fault_order {
    enum pawl_lock_fault kind;
    int code;         /* of BEFORE; 0: PAWL_EUNAVAILABLE */
    int64_t delay_ns; /* before the call, whatever the deadline */
};

/* Asked before every call. Must be safe to call from any thread. */
struct pawl_lock_fault_hooks {
    void (*decide)(void *ctx, enum pawl_lock_call call, struct pawl_lock_fault_order *order);
    void *ctx;
};

PAWL_MUST_CHECK int pawl__fault_locks_new(struct pawl_env *env, struct pawl_lock_provider *inner,
                                          const struct pawl_lock_fault_hooks *hooks,
                                          struct pawl_lock_provider **out, struct pawl_error *err);

#endif
