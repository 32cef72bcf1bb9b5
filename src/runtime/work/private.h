/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share with each other and with the other rooms; see runtime.h. */
#ifndef PAWL_RUNTIME_WORK_PRIVATE_H
#define PAWL_RUNTIME_WORK_PRIVATE_H

#include "runtime/instance/private.h"
#include "runtime/node/queue_worker.h"
#include "runtime/node/shares.h"
#include "runtime/runtime_private.h"

struct runtime_task;

/*
 * A row of work that is this node's, or is about to be, and in somebody's hand.
 *
 *                hold                 its effect was performed
 *     HELD_FREE ------> HELD_TAKEN -----------------------> HELD_DONE
 *       ^  '--- drop -----'                                    |
 *       '------------------- its row is deleted ---------------'
 *
 * What is TAKEN or DONE is in runtime->held; what is DONE and not being deleted just now is in
 * runtime->done_effects, too. All with the mutex.
 */
enum held_state { HELD_FREE, HELD_TAKEN, HELD_DONE };

struct runtime_held {
    struct pawl_str id;    /* behind the struct */
    enum held_state state; /* moved by pawl__held_move() alone */
    bool has_ended;        /* a commit of this node has deleted the row: there is nothing to do */
};

/* An effect that was performed; its row is to be deleted. */
struct runtime_done {
    struct pawl_list_link link;
    struct pawl_str id; /* behind the struct */
};

/* ---- held.c ------------------------------------------------------------------------------ */

/* Asserts that `to` may follow. */
void pawl__held_move(struct runtime_held *held, enum held_state to);
bool pawl__held_may_move(enum held_state from, enum held_state to);
/* With the mutex held. */
bool pawl__held_check(const struct pawl_runtime *runtime, char *why, size_t size);

/*
 * A row of work that is this node's, or is about to be, is in the caller's hand until it is dropped
 * or done. PAWL_EBUSY: it is in another's. PAWL_ENOMEM. Whoever fails to hold a row leaves it
 * alone.
 */
PAWL_MUST_CHECK int pawl__runtime_hold(struct pawl_runtime *runtime, struct pawl_str work_id);
/* By who holds it and has not done it. */
void pawl__runtime_drop(struct pawl_runtime *runtime, struct pawl_str work_id);
/* With the mutex held, by who holds it: its effect was performed. */
void pawl__runtime_held_done(struct pawl_runtime *runtime, struct pawl_str work_id);
/* The row of one that is done is deleted, or will be found anew. */
void pawl__runtime_drop_done(struct pawl_runtime *runtime, struct pawl_str work_id);
/* These changes were committed: whoever here holds a row that they deleted need not do it. */
void pawl__runtime_note_ended(struct pawl_runtime *runtime, const struct runtime_changes *changes);
/* By who holds it: whether the row is known to be gone. */
bool pawl__runtime_has_ended(struct pawl_runtime *runtime, struct pawl_str work_id);
/* Holds what was taken, and leaves out what others here have in hand. */
PAWL_MUST_CHECK int pawl__runtime_hold_taken(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                             struct pawl_taken *taken);
void pawl__runtime_forget_held(struct pawl_runtime *runtime);
/* A call ended with this status: it may have left something that is in nobody's hand. */
void pawl__runtime_note_failure(struct pawl_runtime *runtime, int status);
/* A note that was left with an instance in hand (see struct runtime_running) was not followed: the
 * work of whoever left it is this node's and in nobody's hand. */
void pawl__runtime_note_left(struct pawl_runtime *runtime);
/* Nobody waits for an instance that this node has claimed and that awaits something: the workers go
 * on with it. Where there are none nobody would, and no other node may as long as this one lives:
 * it is given back. */
void pawl__runtime_leave_to_workers(struct pawl_runtime *runtime);
/* Adds what such failures left to what was taken, held. Failing to puts it off. */
void pawl__runtime_add_strays(struct pawl_runtime *runtime, struct pawl_arena *arena,
                              struct pawl_taken *taken, int64_t deadline_ns);
/* The keeper's duty: where nobody takes work, what failures left is given back to all nodes, and
 * the rows of effects that were performed are deleted. */
void pawl__runtime_return_strays(void *ctx, int64_t deadline_ns);
/* Of a node that leaves: rows of work that it has begun, and that are not done, are nobody's. */
void pawl__runtime_return_begun(struct pawl_runtime *runtime, int64_t deadline_ns);

/* ---- done.c ------------------------------------------------------------------------------ */

/* One commit that deletes the rows of effects that were performed. Failing to is no error. */
void pawl__runtime_flush_done(struct pawl_runtime *runtime, int64_t deadline_ns);
void pawl__runtime_add_done(struct pawl_runtime *runtime, struct pawl_str work_id);
/* When the node is closed: what was not deleted is performed again. */
void pawl__runtime_forget_done(struct pawl_runtime *runtime);

/* ---- stimulus.c, send.c ------------------------------------------------------------------ */

/* What a stimulus has beside the columns of its row. Borrowed. */
struct runtime_stimulus {
    struct pawl_str instance_id; /* only this one; "": any */
    struct pawl_str after;       /* the bookmark up to which it was expanded already */
    struct pawl_json input;
    bool is_keyed;               /* sending it again with its key returns what it did */
    bool is_request;             /* see struct pawl_stimulus */
    struct pawl_str traceparent; /* of whoever sent it; "": not known */
};

/* What a stimulus meets, and what becomes of it; nothing is written yet. In the task's arena. */
struct runtime_match {
    bool is_first;              /* no page of it was expanded before */
    struct pawl_rows bookmarks; /* the next page of them, brief */
    struct runtime_changes changes;
    struct pawl_sent sent;
    struct pawl_work_row parked; /* with sent.parked */
};

/* Finds what it starts and what it resumes. Changes are those of the starts, and sent.started. */
PAWL_MUST_CHECK int pawl__runtime_look(struct runtime_task *task, const struct pawl_work_row *work,
                                       const struct runtime_stimulus *stimulus,
                                       struct runtime_match *match);
/* The bookmark that is all that it meets; NULL: nothing, or more. */
const struct pawl_bookmark_row *pawl__runtime_only_target(const struct runtime_match *match);
/* Adds a row for each bookmark; or the one that parks it. */
PAWL_MUST_CHECK int pawl__runtime_expand(struct runtime_task *task,
                                         const struct pawl_work_row *work,
                                         const struct runtime_stimulus *stimulus,
                                         struct runtime_match *match);
/* The mail for a bookmark, without its payload. id "": the arena's status. */
struct pawl_work_row pawl__runtime_resume_row(struct runtime_task *task,
                                              const struct pawl_work_row *stimulus,
                                              const struct pawl_bookmark_row *bookmark);
/* For who waits for what it reaches, if somebody does. */
PAWL_MUST_CHECK int pawl__runtime_note_reached(struct runtime_task *task,
                                               struct pawl_str instance_id, struct pawl_str work_id,
                                               bool is_started);
PAWL_MUST_CHECK int pawl__runtime_stimulus_payload(struct pawl_arena *arena,
                                                   const struct runtime_stimulus *parsed,
                                                   struct pawl_str *text);
/* When the row that parks it is committed: looks once more. What cannot be looked at now will be in
 * a second. */
void pawl__runtime_recheck_soon(struct runtime_task *task, const struct pawl_work_row *row,
                                const struct runtime_stimulus *parsed);
/* Matches a stimulus that is this node's (`owner`), and parks what matches nothing. */
PAWL_MUST_CHECK int pawl__runtime_match(struct runtime_task *task,
                                        const struct pawl_work_row *work);
/* Adds what a keyed one did, for those who send it again: that of its first match, which is what
 * its sender got. */
PAWL_MUST_CHECK int pawl__runtime_record_sent(struct runtime_task *task,
                                              const struct pawl_work_row *stimulus,
                                              struct runtime_match *match);
/* The row of an event that a burst published: {"eventName", "payload", …}, see activities. */
PAWL_MUST_CHECK int pawl__runtime_event_row(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                            const struct pawl_json *event,
                                            struct pawl_work_row *row);
/* What the first stimulus with this one's key did: nothing yet, while it is not matched.
 * PAWL_ENOTFOUND: none was sent with it, or it is forgotten. PAWL_ECONFLICT: it was another one. */
PAWL_MUST_CHECK int pawl__runtime_sent_before(struct runtime_task *task,
                                              const struct pawl_stimulus *stimulus,
                                              struct pawl_sent *sent);
/* A parked row is looked at once more: a bookmark may have been committed at the same moment. */
PAWL_MUST_CHECK int pawl__runtime_recheck(struct runtime_task *task,
                                          const struct pawl_work_row *work);

/* ---- http.c, request.c ------------------------------------------------------------------- */

/* In the data of a request: the value of its Idempotency-Key, whatever becomes of the row's id. */
#define RUNTIME_HTTP_KEY "key"
/* And the id of the definition that asks, whose requests have connections of their own. */
#define RUNTIME_HTTP_SCOPE "scope"
/* How long a request is left to other nodes by one that sends none. */
#define RUNTIME_HTTP_ELSEWHERE_US INT64_C(1000000)

struct runtime_request;

/* The thread that commits responses, if there is an executor. */
PAWL_MUST_CHECK int pawl__runtime_http_open(struct pawl_runtime *runtime, struct pawl_error *err);
void pawl__runtime_http_close(struct pawl_runtime *runtime);
/* What a row of work asks for, which is `data`. Nothing happens yet. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__runtime_request_new(struct pawl_runtime *runtime,
                                              const struct pawl_work_row *row,
                                              const struct pawl_json *data,
                                              struct runtime_request **out, struct pawl_error *err);
void pawl__runtime_request_free(struct runtime_request *request); /* NULL allowed */
/* Sends it. Takes it. */
void pawl__runtime_request_begin(struct runtime_request *request);
/* Whether the request of this row is under way. With the mutex held. */
bool pawl__runtime_is_requested(const struct pawl_runtime *runtime, struct pawl_str work_id);
/* Rows of requests of this instance may be gone: those that were put off are checked at once. */
void pawl__runtime_check_requests(struct pawl_runtime *runtime, struct pawl_str instance_id);
/* The row has this owner now: if its request is under way, that one completes it. */
void pawl__runtime_adopt_request(struct pawl_runtime *runtime, const struct pawl_work_row *work);
/* A request that a node left behind. */
PAWL_MUST_CHECK int pawl__runtime_do_http(struct runtime_task *task,
                                          const struct pawl_work_row *work, int64_t now_us);
/* Waits until no request of the instance is under way and nobody here has it in hand. */
PAWL_MUST_CHECK int pawl__runtime_wait_answered(struct pawl_runtime *runtime,
                                                struct pawl_str instance_id, int64_t deadline_ns);
/*
 * Waits until a request has ended since pawl__runtime_requests_ended() returned `ended`, which is
 * read before work is taken: the response may be stored behind that, and its request be gone.
 * false: none has, and nothing is under way or the deadline came.
 */
uint64_t pawl__runtime_requests_ended(struct pawl_runtime *runtime);
bool pawl__runtime_wait_any_answer(struct pawl_runtime *runtime, uint64_t ended,
                                   int64_t deadline_ns);
/* Waits for what the instance's burst awaits, and goes on with it until the burst has ended. */
PAWL_MUST_CHECK int pawl__runtime_settle(struct runtime_task *task, struct pawl_str instance_id);

/* ---- shares.c ---------------------------------------------------------------------------- */

/* Of a pool: when a look that found nothing is worth repeating, by rank. */
struct runtime_looks {
    int64_t again_ns[PAWL_RANK_GREEDY];
    int64_t cancels_ns; /* when to look for cancellations */
};

struct runtime_look {
    uint32_t limit;       /* pieces of work at the most, */
    uint32_t heavy_limit; /* and of heavy definitions */
    bool has_heavy;       /* heavy definitions have their part of the workers already */
    const struct pawl_queue_turn *turn;
    /* Results: */
    bool is_heavy;       /* what was taken may be of heavy definitions */
    enum pawl_rank rank; /* which it had at the most when it was taken */
    uint32_t changes;    /* pawl__shares_changes() before it was taken */
};

/* As pawl__runtime_take(), of the definitions whose turn it is. */
PAWL_MUST_CHECK int pawl__runtime_take_share(struct pawl_runtime *runtime,
                                             struct runtime_looks *looks, struct runtime_look *look,
                                             struct pawl_arena *arena, struct pawl_taken *taken,
                                             int64_t deadline_ns, struct pawl_error *err);
/* Whether a row that was taken has turned out to be of a failing or heavy definition since. */
bool pawl__runtime_is_outranked(struct pawl_runtime *runtime, const struct runtime_look *look,
                                const struct pawl_work_row *work);
/* Rows that were taken and not begun are nobody's again, as they were. Drops them. */
void pawl__runtime_give_back(struct pawl_runtime *runtime, const struct pawl_work_row *const *rows,
                             size_t count, struct pawl_arena *arena, int64_t deadline_ns);
/*
 * What a worker does for a piece of work, with all that is urgent then, is charged to the
 * definition of its first burst. Begins a piece; says whose burst it runs, and what became of the
 * burst; charges what it used.
 */
void pawl__runtime_meter_begin(struct runtime_task *task);
void pawl__runtime_meter_burst(struct runtime_run *run);
void pawl__runtime_meter_end(const struct runtime_run *run, int status);
void pawl__runtime_meter(struct runtime_task *task);

/* ---- work.c ------------------------------------------------------------------------------ */

/* Which work is to be taken: of all definitions but these, or with `only` of these. Or of a kind.
 */
struct runtime_choice {
    const char *kind; /* NULL: any */
    const struct pawl_str *definitions;
    size_t count;
    bool only;
};

/* What is due becomes this node's; rows in `arena`. `turn` NULL: of all parts. `choice` NULL: of
 * all definitions. */
PAWL_MUST_CHECK int pawl__runtime_take(struct pawl_runtime *runtime, uint32_t limit,
                                       const struct pawl_queue_turn *turn,
                                       const struct runtime_choice *choice,
                                       struct pawl_arena *arena, struct pawl_taken *taken,
                                       int64_t deadline_ns, struct pawl_error *err);
/*
 * For workers: what another thread of this node has in hand is left to that thread. The store goes
 * on to name it until it is claimed, which takes time while a lock is waited for: whoever looks for
 * work meanwhile looks again a little later, not at once. Whoever drains a node needs all of it: an
 * instance that is in hand is not done.
 */
void pawl__runtime_leave_to_holders(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                    struct pawl_taken *taken);
/*
 * Does a piece of work that was taken. What fails is dealt with; only PAWL_ESTOPPED is worth
 * looking at.
 */
int pawl__runtime_do_work(struct pawl_runtime *runtime, const struct pawl_work_row *work,
                          int64_t now_us, int64_t deadline_ns);
int pawl__runtime_do_runnable(struct pawl_runtime *runtime, struct pawl_str instance_id,
                              int64_t deadline_ns);

/*
 * A piece of work failed: it is tried again later, or given up as a dead letter. Adds the changes
 * that say so; deleting or guarding the row as it is now is the caller's part.
 */
void pawl__runtime_add_failure(struct runtime_changes *changes, struct pawl_runtime *runtime,
                               const struct pawl_work_row *work, const struct pawl_error *why,
                               int64_t now_us);
/* For the hook. */
void pawl__runtime_tell_failure(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                const struct pawl_error *why);
/* Work of this kind is no mail, and its name is the id of the instance that it is of: of a start,
 * the parent's; "": of none. */
bool pawl__runtime_is_named_after_instance(struct pawl_str kind);
/* Calls `each` for all work of such a kind that has this name and will be done, also what was
 * renamed since it was added, until it fails. The rows are in `arena`, without payload. */
PAWL_MUST_CHECK int
pawl__runtime_each_named(struct runtime_task *task, struct pawl_arena *arena, const char *kind,
                         struct pawl_str name,
                         int (*each)(void *ctx, const struct pawl_work_row *work), void *ctx);
/* It is given up at once. `reason` is "Expired" or "Failed". */
void pawl__runtime_add_dead_letter(struct runtime_changes *changes,
                                   const struct pawl_work_row *work, const char *reason,
                                   struct pawl_str error, int64_t now_us);
/* A commit that finishes `work`, which is this node's, with these changes. */
PAWL_MUST_CHECK int pawl__runtime_finish_work(struct runtime_task *task,
                                              const struct pawl_work_row *work,
                                              const struct runtime_changes *changes);
/* Work that is this node's ends; its successor is nobody's and due then. */
PAWL_MUST_CHECK int pawl__runtime_put_off(struct runtime_task *task,
                                          const struct pawl_work_row *work, int64_t due_us);
/* Performs an effect that the commit just made brought, this node's, and notes it as done. */
void pawl__runtime_perform_own(struct runtime_task *task, struct runtime_running *running,
                               const struct pawl_work_row *work, const struct pawl_json *data,
                               int64_t now_us);

#endif
