/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files postgres*.c share.
 *
 *     postgres.c           attempts, renewals, releases
 *     postgres_wait.c      waiting at the server
 *     postgres_session.c   connections: opening, sharing, what is left of calls that gave up; the
 *                          thread that sees their end
 *     postgres_look.c      status, inspect, list, tickets
 *
 * Session 0 holds everything that was free when it was asked for; the others wait, one lock each,
 * and keep what they got until it is released. A session has one user at a time (`in_use`). A call
 * that gives up leaves its statement under way (`left`), and the next user settles that first: no
 * deadline of one caller costs others their locks. Only the watcher closes connections, and it
 * alone tells of lost locks.
 */
#ifndef PAWL_LOCKS_POSTGRES_PRIVATE_H
#define PAWL_LOCKS_POSTGRES_PRIVATE_H

#include "base/list.h"
#include "base/map.h"
#include "drivers/libpq.h"
#include "locks/names.h"
#include "locks/notifier.h"
#include "locks/providers.h"

#define ADVISORY_WAITERS 8
#define ADVISORY_SESSIONS (1 + ADVISORY_WAITERS)
#define ADVISORY_NS_PER_MS INT64_C(1000000)
/* How long a holder trusts the last reply. The server releases the locks of a disconnected one
 * after 30 s.
 */
#define ADVISORY_VALID_NS INT64_C(15000000000)

enum advisory_left {
    ADVISORY_LEFT_NOTHING,
    ADVISORY_LEFT_TRY,    /* what it acquires is released */
    ADVISORY_LEFT_UNLOCK, /* of `left_key` */
    ADVISORY_LEFT_OTHER,
};

struct advisory_locks;

struct advisory_session {
    struct advisory_locks *pg;
    /* By the user; set and cleared under the lock: */
    struct pawl_pq_conn *conn;
    int fd; /* its socket */
    int backend_pid;
    bool is_pooled;
    enum advisory_left left;
    struct pawl_pg_lock_key left_key;
    /* Under the lock: */
    bool in_use;
    bool is_broken;                        /* for the watcher to close */
    bool is_hung_up;                       /* its other side has ended, as the watcher saw */
    struct pawl_list helds;                /* advisory_held */
    const struct pawl_lock_grant *waiting; /* in wait() */
    struct pawl_waker waker;               /* ends that */
};

enum advisory_state {
    ADVISORY_HELD,
    ADVISORY_TELLING,  /* the watcher is in lost() */
    ADVISORY_LOST,     /* with its connection */
    ADVISORY_RELEASED, /* by the thread that settled what a release had left */
};

/* A grant's `bound`. */
struct advisory_held {
    struct pawl_list_link link; /* in the session, while HELD */
    struct advisory_session *session;
    struct pawl_lock_grant *grant; /* NULL: abandoned; the session's end ends it */
    struct pawl_pg_lock_key key;
    enum advisory_state state;
    char id[16]; /* of the key, in the map */
};

struct advisory_locks {
    struct pawl_lock_provider base; /* first */
    struct pawl_env *env;
    struct pawl_pq *pq;
    char *uri; /* NUL-terminated */
    size_t uri_size;
    char application[64];
    struct pawl_lock_notifier notifier;

    struct pawl_mutex *lock; /* guards what says so */
    struct pawl_cond *changed;
    size_t waiting_count; /* for it */
    bool is_started, is_stopping;
    bool has_sequence;
    bool is_pooled; /* by a pooler that leaves sessions alone */
    int64_t retry_ns;
    uint32_t failures;    /* of opening a session, in a row */
    struct pawl_map keys; /* of session 0, by id: a session is granted again what it has */
    struct pawl_thread *watcher;
    struct pawl_waker waker; /* the watcher's */
    struct advisory_session sessions[ADVISORY_SESSIONS];
};

static inline struct advisory_locks *pawl__advisory_self(struct pawl_lock_provider *provider)
{
    return (struct advisory_locks *)provider;
}

/* ---- statements -------------------------------------------------------------------------- */

enum advisory_statement {
    ADVISORY_TRY,
    ADVISORY_TRY_TOKEN,
    ADVISORY_UNLOCK,
    ADVISORY_LOCK,
    ADVISORY_OWN, /* whether this session has it */
    ADVISORY_KEYED_COUNT,
    ADVISORY_PROBE = ADVISORY_KEYED_COUNT,
    ADVISORY_TOKEN,
    ADVISORY_TIMEOUT, /* for the transaction */
    ADVISORY_CANCEL,
    ADVISORY_COUNT,
};

/* Queues one; keyed ones take `key`, others `params`. */
PAWL_MUST_CHECK int pawl__advisory_queue(struct advisory_session *session,
                                         enum advisory_statement statement,
                                         const struct pawl_pg_lock_key *key,
                                         const struct pawl_pq_param *params, size_t param_count,
                                         struct pawl_error *err);
/*
 * One statement, one round trip; the answer is number 0 of the connection. PAWL_ETIMEDOUT and
 * PAWL_ESTOPPED: it is still under way, and the caller says in `left` what that means.
 */
PAWL_MUST_CHECK int pawl__advisory_run(struct advisory_session *session,
                                       enum advisory_statement statement,
                                       const struct pawl_pg_lock_key *key, int64_t deadline_ns,
                                       struct pawl_error *err);
PAWL_MUST_CHECK int pawl__advisory_text(struct advisory_session *session, const char *text,
                                        const struct pawl_pq_param *params, size_t param_count,
                                        int64_t deadline_ns, struct pawl_error *err);

/* ---- sessions ---------------------------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__advisory_start(struct advisory_locks *pg, struct pawl_error *err);
void pawl__advisory_stop(struct advisory_locks *pg);

/*
 * Makes the caller its user: connected, with nothing under way. PAWL_EUNAVAILABLE, also for one
 * that is in use until `deadline_ns`; what connecting returns.
 */
PAWL_MUST_CHECK int pawl__advisory_take(struct advisory_session *session, int64_t deadline_ns,
                                        struct pawl_error *err);
/* The same for one that the caller uses already: connects, settles. On failure it is given up. */
PAWL_MUST_CHECK int pawl__advisory_ready(struct advisory_session *session, int64_t deadline_ns,
                                         struct pawl_error *err);
void pawl__advisory_give(struct advisory_session *session);
/* The connection is of no use: the watcher closes it once it is given. */
void pawl__advisory_drop(struct advisory_session *session);

/* Under the lock: a wait for `changed`. */
PAWL_MUST_CHECK int pawl__advisory_await(struct advisory_locks *pg, int64_t deadline_ns);
void pawl__advisory_changed(struct advisory_locks *pg);

/* ---- grants ------------------------------------------------------------------------------ */

PAWL_MUST_CHECK int pawl__advisory_held_new(struct advisory_session *session,
                                            struct pawl_lock_grant *grant,
                                            const struct pawl_pg_lock_key *key,
                                            struct advisory_held **out, struct pawl_error *err);
void pawl__advisory_held_free(struct advisory_locks *pg, struct advisory_held *held);
/* It is held: from now on the loss of the grant is reported. PAWL_ENOMEM, PAWL_ESTOPPED. */
PAWL_MUST_CHECK int pawl__advisory_hold(struct advisory_held *held, int64_t valid_until_ns);
/* Under the lock. Out of its session. */
void pawl__advisory_unhold(struct advisory_held *held, enum advisory_state state);
void pawl__advisory_id(const struct pawl_pg_lock_key *key, char out[16]);
PAWL_MUST_CHECK int pawl__advisory_sequence(struct advisory_session *session, int64_t deadline_ns,
                                            struct pawl_error *err);

int pawl__advisory_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                       int64_t deadline_ns, struct pawl_error *err);
int pawl__advisory_wait(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                        int64_t deadline_ns, struct pawl_error *err);
void pawl__advisory_interrupt(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);

/* ---- looking ----------------------------------------------------------------------------- */

int pawl__advisory_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                          int64_t deadline_ns, struct pawl_error *err);
int pawl__advisory_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                           struct pawl_lock_holder *out, int64_t deadline_ns,
                           struct pawl_error *err);
int pawl__advisory_list(struct pawl_lock_provider *provider, size_t limit,
                        int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                        int64_t deadline_ns, struct pawl_error *err);
int pawl__advisory_ticket(struct pawl_lock_provider *provider, struct pawl_str name,
                          struct pawl_lock_ticket *out, struct pawl_error *err);

#endif
