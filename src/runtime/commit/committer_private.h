/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the group committer, shared by committer.c (its users, its beginning and end),
 * committer_send.c (its threads) and committer_ticket.c (the life of a ticket).
 *
 * The life of one commit is that of its ticket:
 *
 *            handed in          picked by a thread          answered
 *     SPARE -----------> QUEUED ------------------> SENT ------------> ANSWERED --> SPARE
 *       ^                 |  ^                      |  |
 *       |                 |  \-- to be sent again --/  \-- its caller gave up --> ABANDONED
 *       \-- given up ------/                                                          |
 *       \-------------------------------------------- the thread is done with it ------/
 *
 * One that cannot be picked for want of memory is ANSWERED at once.
 *
 * Invariants, all under `mutex`:
 *   1. A QUEUED ticket is in `queue` and has a caller that waits. `doubtful` says that an earlier
 *      try may have taken effect; without it nothing has happened.
 *   2. The keys of SENT and ABANDONED tickets (their instance, their done rows) are in `busy`, each
 * once: commits of all batches on their way are about different things.
 *   3. A thread that waits for `work` will be woken: whoever makes a ticket sendable, by queueing
 *      it or by taking its keys out of `busy`, either signals or looks at the queue itself before
 *      it waits.
 *   4. The store is called, and looked up in, without the mutex.
 *   5. A ticket that the store was too busy for (somebody has its row locked) goes by itself and
 *      after a wait of its own: it holds up no other.
 *   6. Callers are woken without the mutex, which each of them needs first. A ticket that is about
 *      to be signalled is `lent` to the thread meanwhile; a caller that is faster leaves it to it.
 *   7. A caller who is alone leads: it is a sender without a thread for one batch, which has its
 * own ticket and no other. Threads of the committer send nothing meanwhile (`leading`), so that
 *      what comes in goes out together; the leader signals `work` if something was queued.
 * A ticket has a copy of its commit, so that a caller returns at its deadline or at a stop although
 * an apply() is on its way with it.
 */
#ifndef PAWL_RUNTIME_COMMIT_COMMITTER_PRIVATE_H
#define PAWL_RUNTIME_COMMIT_COMMITTER_PRIVATE_H

#include "base/list.h"
#include "base/map.h"
#include "runtime/commit/committer.h"

enum ticket_state {
    TICKET_SPARE, /* or just made, or about to be freed */
    TICKET_QUEUED,
    TICKET_SENT,
    TICKET_ABANDONED, /* on its way, and its caller has left: the thread frees it */
    TICKET_ANSWERED
};

struct ticket {
    struct pawl_list_link link; /* committer.queue or committer.spare */
    struct pawl_arena arena;    /* of `commit` */
    struct pawl_commit commit;
    struct pawl_cond *answered;
    int64_t deadline_ns;
    int64_t retry_ns;        /* QUEUED: not sent before; 0: at once */
    uint32_t busy_count;     /* tries in which the store could not apply this one alone, for now */
    enum ticket_state state; /* moved by pawl__ticket_move() alone */
    bool doubtful;           /* a try may have taken effect */
    bool again;              /* SENT, the thread's: to be queued once more */
    bool applied;            /* the status is the store's own, with all that goes with it */
    bool lent;               /* ANSWERED: a thread is about to signal it */
    bool left;               /* lent: the caller is done with it; the thread puts it away */
    int status; /* the result; before: why it was not sent successfully, if it was tried */
    struct pawl_error error;
};

struct sender {
    struct pawl_committer *committer;
    struct pawl_thread *thread;
    struct ticket **tickets; /* batch_max */
    struct pawl_commit **commits;
    size_t count;
    int64_t wake_ns;         /* the first retry_ns of those that were left; PAWL_FOREVER */
    bool landed;             /* one of the batch had been abandoned */
    struct pawl_arena arena; /* of lookups */
};

struct pawl_committer {
    struct pawl_env *env;
    struct pawl_store *store;
    struct pawl_committer_options options;
    struct sender *senders; /* options.threads, and one of the caller who leads */
    uint32_t started;
    struct pawl_mutex *mutex; /* guards all below, and tickets as said above */
    struct pawl_cond *work;   /* something can be sent, or it ends */
    struct pawl_cond *idle;   /* the last caller has left */
    struct pawl_list queue;
    struct pawl_list spare;
    struct pawl_map busy; /* keys of what is SENT -> their ticket */
    uint32_t spare_count;
    uint32_t callers; /* in pawl__committer_commit(), each with one ticket */
    size_t bytes;     /* that their tickets hold */
    bool ending;
    bool leading;        /* a caller is sending its own */
    uint32_t sending;    /* batches on their way */
    uint32_t failures;   /* in a row: how long to wait before the next try */
    int64_t retry_at_ns; /* nothing is sent before */
    struct pawl_committer_counts counts;
};

/* Asserts that `to` may follow. */
void pawl__ticket_move(struct ticket *ticket, enum ticket_state to);
bool pawl__ticket_may_move(enum ticket_state from, enum ticket_state to);
/* What batches may not share: the instance of its commit, and its done rows. */
size_t pawl__ticket_key_count(const struct ticket *ticket);
struct pawl_str pawl__ticket_key(const struct ticket *ticket, size_t i);

/* Holding the mutex: keeps it for reuse, or frees it. Nobody else knows of it any more. */
void pawl__ticket_put_away(struct pawl_committer *c, struct ticket *ticket);

/* The error of one that is given up while it waits, because of `code`: the deadline, a stop. */
int pawl__ticket_give_up(const struct ticket *ticket, int code, struct pawl_error *err);

/* A thread of the committer; `arg` is its struct sender. */
void pawl__sender_run(void *arg);

/* Holding the mutex, with the caller's ticket queued: whether it may send that itself. */
bool pawl__committer_may_lead(const struct pawl_committer *c, const struct ticket *ticket);
/*
 * Sends it: the ticket is ANSWERED afterwards, or QUEUED once more. False: the environment was
 * stopped meanwhile; the mutex is not held, and the ticket is freed with the committer.
 */
bool pawl__committer_lead(struct pawl_committer *c);

#endif
