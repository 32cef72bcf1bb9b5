/* SPDX-License-Identifier: Apache-2.0 */
/* What the files sqlserver*.c share. */
#ifndef PAWL_LOCKS_SQLSERVER_PRIVATE_H
#define PAWL_LOCKS_SQLSERVER_PRIVATE_H

#include "base/list.h"
#include "drivers/freetds.h"
#include "locks/names.h"
#include "locks/notifier.h"
#include "locks/sqlserver.h"

/* How long a holder trusts the last reply. A server releases the locks of a disconnected one when
 * its own keepalive fails, by default after 30 s. */
#define SQLSERVER_VALID_NS INT64_C(15000000000)

/* One session. `conn` is used by the thread that set `in_use`, without the mutex, which guards the
 * rest. */
struct sqlserver_session {
    struct pawl_list_link link;
    struct pawl_tds_conn *conn;
    bool in_use;
    bool is_waiting;       /* in use by a wait for a lock */
    bool broken;           /* its locks are to be reported, then it goes */
    uint32_t checked;      /* number of the renew() that last asked it */
    int64_t used_ns;       /* when it was last used */
    int64_t asked_ns;      /* when renew() sent the last question that was answered */
    struct pawl_list held; /* struct sqlserver_held */
};

/* A lock that is held; what a grant's `bound` points to. */
struct sqlserver_held {
    struct pawl_list_link link;        /* in its session, and then in `lost` */
    struct pawl_list_link among_link;  /* in all that are held */
    struct sqlserver_session *session; /* NULL: it was lost */
    struct pawl_lock_grant *grant;
    size_t key_len;
    char key[]; /* and a NUL */
};

/* A call of wait(), so that interrupt() finds it. */
struct sqlserver_waiter {
    struct pawl_list_link link;
    struct pawl_lock_grant *grant;
    struct pawl_waker waker;
};

struct sqlserver_locks {
    struct pawl_lock_provider base; /* first */
    struct pawl_env *env;
    struct pawl_tds *tds;
    struct pawl_lock_notifier notifier;
    char warning[160];
    size_t session_max;
    int64_t keepalive_ns, patience_ns;

    struct pawl_mutex *mutex;   /* guards what follows */
    struct pawl_cond *changed;  /* a session is free or gone, a report is over */
    struct pawl_cond *watch;    /* there is something to watch, or to report */
    struct pawl_thread *thread; /* NULL: listen() was not called */
    bool stop;
    uint32_t check_count;
    size_t session_count, waiting_count; /* sessions that there are or that are being made */
    struct pawl_list sessions;
    struct pawl_list held; /* all, by among_link */
    struct pawl_list lost; /* not yet reported */
    struct pawl_list waiters;
    struct sqlserver_held *reporting; /* the listener is being called */
};

/* Bit of a grant's `place`: interrupt() came before wait(). */
#define SQLSERVER_INTERRUPTED 1u

/* ---- sessions (sqlserver_session.c) ------------------------------------------------------- */

/*
 * A session for one call, made if need be. `to_wait`: one that holds nothing, to wait on;
 * PAWL_EBUSY when too many wait. Otherwise waits for one up to the deadline. To be given back.
 */
PAWL_MUST_CHECK int pawl__sqlserver_take(struct sqlserver_locks *locks, bool to_wait,
                                         int64_t deadline_ns, struct sqlserver_session **out,
                                         struct pawl_error *err);
/* The session that holds this; PAWL_ENOTFOUND: it was lost. */
PAWL_MUST_CHECK int pawl__sqlserver_take_holder(struct sqlserver_locks *locks,
                                                const struct sqlserver_held *held,
                                                int64_t deadline_ns, struct sqlserver_session **out,
                                                struct pawl_error *err);
/* Back. One whose connection broke is ended, and its locks are lost. */
void pawl__sqlserver_give(struct sqlserver_locks *locks, struct sqlserver_session *session);
/* It must not be used again, whatever its connection says. While it is taken. */
void pawl__sqlserver_doom(struct sqlserver_locks *locks, struct sqlserver_session *session);

PAWL_MUST_CHECK int pawl__sqlserver_watch_start(struct sqlserver_locks *locks,
                                                struct pawl_error *err);
/* Ends the thread and all sessions. */
void pawl__sqlserver_end(struct sqlserver_locks *locks);

/* ---- statements (sqlserver_call.c) -------------------------------------------------------- */

/*
 * sp_getapplock on a session that was taken. *code is its return code when PAWL_OK. Others as
 * pawl__tds_call.
 */
PAWL_MUST_CHECK int pawl__sqlserver_get(struct sqlserver_session *session, struct pawl_str key,
                                        int32_t timeout_ms, const struct pawl_socket_wait *wait,
                                        int32_t *code, struct pawl_error *err);
/* sp_releaseapplock. PAWL_ENOTFOUND: not held. */
PAWL_MUST_CHECK int pawl__sqlserver_release(struct sqlserver_session *session, struct pawl_str key,
                                            const struct pawl_socket_wait *wait,
                                            struct pawl_error *err);
/* Releases it if this session has it. */
PAWL_MUST_CHECK int pawl__sqlserver_release_if_held(struct sqlserver_session *session,
                                                    struct pawl_str key,
                                                    const struct pawl_socket_wait *wait,
                                                    struct pawl_error *err);
/* Whether this session could have it now. */
PAWL_MUST_CHECK int pawl__sqlserver_test(struct sqlserver_session *session, struct pawl_str key,
                                         const struct pawl_socket_wait *wait, bool *is_free,
                                         struct pawl_error *err);
/* The next token. */
PAWL_MUST_CHECK int pawl__sqlserver_token(struct sqlserver_session *session,
                                          const struct pawl_socket_wait *wait, uint64_t *out,
                                          struct pawl_error *err);
PAWL_MUST_CHECK int pawl__sqlserver_ping(struct sqlserver_session *session,
                                         const struct pawl_socket_wait *wait,
                                         struct pawl_error *err);

/* ---- attempts (sqlserver_attempt.c), looking (sqlserver_look.c): for the table --------------- */

int pawl__sqlserver_try_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                           int64_t deadline_ns, struct pawl_error *err);
int pawl__sqlserver_wait_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                            int64_t deadline_ns, struct pawl_error *err);
void pawl__sqlserver_interrupt_op(struct pawl_lock_provider *provider,
                                  struct pawl_lock_grant *grant);
int pawl__sqlserver_renew_op(struct pawl_lock_provider *provider,
                             struct pawl_lock_grant *const *grants, size_t count,
                             int64_t deadline_ns, struct pawl_error *err);
int pawl__sqlserver_release_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                               int64_t deadline_ns, struct pawl_error *err);
void pawl__sqlserver_abandon_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);
int pawl__sqlserver_inspect_op(struct pawl_lock_provider *provider, struct pawl_str name,
                               struct pawl_lock_holder *out, int64_t deadline_ns,
                               struct pawl_error *err);
int pawl__sqlserver_list_op(struct pawl_lock_provider *provider, size_t limit,
                            int (*each)(void *ctx, const struct pawl_lock_holder *holder),
                            void *ctx, int64_t deadline_ns, struct pawl_error *err);

#endif
