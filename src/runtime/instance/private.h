/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share with each other and with the other rooms; see runtime.h. */
#ifndef PAWL_RUNTIME_INSTANCE_PRIVATE_H
#define PAWL_RUNTIME_INSTANCE_PRIVATE_H

#include "base/trace_context.h"
#include "runtime/node/guard.h"
#include "runtime/runtime_private.h"

struct pawl_builder;
struct runtime_task;

/*
 * An instance that a thread of this process has in hand. Another thread that finds work for it
 * leaves a note and goes on: the holder looks again before it lets go. So workers never wait
 * for an instance, and nothing that was taken is forgotten.
 *
 *               enters            a step begins
 *     HAND_FREE -------> HAND_TAKEN ----------> HAND_STEPPING
 *       ^  ^               |    ^                 |      |
 *       |  '--- leaves ----'    '--- it ends -----'      | the watchdog gives it up
 *       '---------------- leaves ---------------- HAND_GIVEN_UP
 *
 * What is TAKEN or STEPPING is in runtime->running, what is GIVEN_UP in runtime->given_up. Its own
 * thread begins and ends steps without the mutex; all other moves are made with it.
 */
enum hand_state { HAND_FREE, HAND_TAKEN, HAND_STEPPING, HAND_GIVEN_UP };

struct runtime_running {
    struct pawl_list_link link;
    struct pawl_str id;
    _Atomic(enum hand_state) state; /* moved by pawl__hand_move() alone */
    bool again;
    bool is_worker; /* its thread does work, and is not a caller's; set before its first step */
    /* Of the step that it is in (node/watch.c): when it last showed that it goes on; 0: it is in
     * none. The work that the step is about, with the mutex; "": the instance itself. */
    _Atomic int64_t since_ns;
    struct pawl_str work_id;
    _Atomic int64_t visited; /* the revision that the step runs on without a claim; 0: claimed */
    int64_t look_ns;         /* with the mutex: when the watchdog last tried to give it up */
    bool was_seen;           /* in hand at the last look for cancellations */
    atomic_bool cancelled;   /* somebody asked for its cancellation; its burst looks at this */
    const struct runtime_run *run; /* what its thread runs; for check_invariants alone */
};

/*
 * A burst under way, within one claim of its instance (or before the first commit of a new one).
 *
 *     BURST_NONE --open--> BURST_OPEN --step--> BURST_STEPPED --commit--> BURST_COMMITTED
 *      |  ^                  |     ^-- answered here --'                    |   |    |
 *      |  |                  |     ^------------- goes on ------------------'   |    |
 *      |  |                  '-- stored before its first step --> COMMITTED     |    |
 *      |  '-- closed: it is over, or a call failed, from any of these ----------'    |
 *      '---- what it awaits is not there --> BURST_PARKED <-- awaits an effect ------'
 *                                            BURST_YIELDED <-- awaits its turn ------'
 *
 * A burst that is kept for the commit of the next event (fold.c) is closed when it is STEPPED.
 * PARKED and YIELDED absorb: the claim stays, and nothing more is written under it by this run.
 */
enum burst_state {
    BURST_NONE,
    BURST_OPEN,
    BURST_STEPPED, /* there is a batch that is to be committed */
    BURST_COMMITTED,
    BURST_PARKED,
    BURST_YIELDED
};

/* An instance whose burst has yielded: this node's, runnable, and nobody runs it now. */
struct runtime_yielded {
    struct pawl_list_link link;
    struct pawl_str id; /* behind the struct */
};

/* Changes that grow in an arena; the first failure sticks. */
struct runtime_changes {
    struct pawl_arena *arena;
    struct pawl_change *items;
    size_t count;
    size_t cap;
    int status;
};

/* Copies the row's struct, borrows what it points to. */
void pawl__runtime_change(struct runtime_changes *changes, enum pawl_change_kind kind,
                          enum pawl_table table, const void *row);
void pawl__runtime_delete_work(struct runtime_changes *changes, struct pawl_str id);

/* What is sent to one instance and is no row yet (deliver.c). Borrowed for one delivery. */
struct runtime_direct {
    struct pawl_work_row mail; /* as the row would be, without a payload */
    struct pawl_json input;
    bool is_request; /* the input has one that the server received */
    /* Inserted by the commit that gives it its effect: of its id first. expires_us 0: as long as
     * that commit may be sent. */
    const struct pawl_reservation_row *reservations;
    size_t reservation_count;
    bool is_blind;                /* whether it waits for this is not known: the claim finds out */
    bool is_delivered;            /* at least the first commit of its burst was made */
    bool is_unsure;               /* whether that was made is unknown: its reservation tells */
    struct pawl_str traceparent;  /* of its sender; "": not known */
    struct pawl_reached *reached; /* where it is noted that the instance came to rest; NULL */
};

/* Hashes of bookmarks that a fold remembers; more are woken one by one. */
#define FOLD_NOTES_MAX 32u

struct runtime_effect;
struct runtime_refusal; /* reply.c */

/*
 * Events whose effects are not committed yet: the commit of the next event has them, too (fold.c).
 * Of a claimed instance, between two of its bursts. Either all of it is committed or nothing.
 */
struct runtime_fold {
    struct pawl_arena arena;        /* of all that is kept until that commit */
    uint32_t count;                 /* of events; 0: nothing is kept */
    bool is_dropped;                /* what was kept was not committed, and is to be run again */
    int64_t begun_ns;               /* when its first event had run */
    struct runtime_changes changes; /* pages of the journal, ends of mail, effects */
    struct runtime_effect *effects;
    size_t effect_count;
    size_t effect_cap;
    int64_t first_sequence; /* of its first record in the log; -1: it has none */
    /* New bookmarks that have no row, one for each hash: what is parked for them is woken. */
    struct pawl_bookmark_row *noted;
    size_t noted_count;
    /* What the run goes back to if it is dropped: as it was before its first event. */
    struct pawl_instance_row row;
    struct pawl_json state; /* as the store has it */
    unsigned state_turn;
    struct pawl_json counts;
    const struct pawl_work_row *mail;
    size_t mail_count;
};

/* See struct runtime_run. */
#define RUNTIME_STATES 3u

/* An instance in hand: claimed, visited, or about to be created. */
struct runtime_run {
    struct runtime_task *task;
    struct pawl_runtime *runtime;
    struct pawl_arena arena; /* of what was loaded; reset when it is claimed again */
    /* Of the state as it is, and of the one before: they take turns. A fold keeps a third. */
    struct pawl_arena state_arenas[RUNTIME_STATES];
    unsigned state_turn;
    struct pawl_graph *graph;
    struct pawl_burst *burst;
    bool is_new;      /* not in the store yet */
    bool is_visiting; /* nothing is claimed: its first commit does that, too */
    bool is_known;    /* new, under an id that whoever asked for it chose */
    /* With owner, fence and revision as the store has them; of a visit, owner and fence as its
     * commit will write them. */
    struct pawl_instance_row row;
    struct pawl_json state; /* as stored, or as the fold left it; null when new */
    struct runtime_fold fold;
    /* `state` is all of what the store has. Until it was loaded, and after a copy that failed, no
     * commit may write it. */
    bool loaded;
    bool hindered; /* it cannot be run whatever comes for it: there is no graph */
    struct pawl_json counts;
    const struct pawl_work_row *mail; /* due mail, not looked at yet */
    size_t mail_count;
    struct runtime_direct *direct; /* what its sender brought along, for after the mail; NULL */
    bool is_given;                 /* the caller's event was taken up, at `given_revision` */
    int64_t given_revision;
    int64_t now_us;     /* the store's clock at the claim or the visit; of a new one, about */
    int64_t claimed_ns; /* the node's at that moment */
    /* For the next commit: */
    const struct pawl_work_row *consumed; /* the mail that the event came from */
    const struct pawl_work_row *started;  /* the start that this instance comes from */
    const struct pawl_reservation_row *reservations;
    size_t reservation_count;
    /* The parent whose burst awaits the end of this one's first; "": none. While that is in
     * progress the stored state says so too. Lives in the task's arena. */
    struct pawl_str feeds;
    struct pawl_str feeds_job;    /* what it feeds is a job: its bookmark; "": the burst itself */
    struct pawl_outcome *outcome; /* NULL: nobody asks */
    struct pawl_left *left;       /* likewise */
    enum burst_state at;          /* where its burst stands; moved by pawl__run_move() alone */
    struct pawl_event **event;    /* the caller's, NULL behind it once it ran; NULL: no caller */
    int64_t incarnation;          /* of this node when the claim was made, or the visit */
    uint32_t polls;               /* of the stop flag */
    struct pawl_guard_pass pass;  /* under which it runs */
    int64_t replied_ns; /* processor time when its burst was first asked about a reply; 0: not */
    struct runtime_refusal *refusals; /* of requests that nobody takes; for the next commit */
    struct pawl_str cause; /* the traceparent of what was delivered; ptr NULL: see the rows */
    struct pawl_trace_context span; /* of its burst; all zero: it is not traced */
};

/* ---- hand.c ------------------------------------------------------------------------------ */

/* Asserts that `to` may follow `from`. False: it was not in `from`, and stays what it is. */
bool pawl__hand_move(struct runtime_running *running, enum hand_state from, enum hand_state to);
bool pawl__hand_may_move(enum hand_state from, enum hand_state to);
/* With the mutex held: whether what is in hand fits together. */
bool pawl__hand_check(const struct pawl_runtime *runtime, char *why, size_t size);

/*
 * Takes an instance in hand. PAWL_EBUSY: another thread has it, and will look again. Waits
 * while another instance is run alone; PAWL_ETIMEDOUT: until the deadline. `running` is the
 * caller's until it left.
 */
PAWL_MUST_CHECK int pawl__runtime_enter(struct pawl_runtime *runtime,
                                        struct runtime_running *running,
                                        struct pawl_str instance_id, int64_t deadline_ns);
/* The same without waiting, and without a note for who has it: PAWL_EBUSY. */
PAWL_MUST_CHECK int pawl__runtime_try_enter(struct pawl_runtime *runtime,
                                            struct runtime_running *running,
                                            struct pawl_str instance_id);
/* Whether another thread has it: that one will look again. */
bool pawl__runtime_notify_holder(struct pawl_runtime *runtime, struct pawl_str instance_id);
/* What was not entered, for the caller to read. Returns `status`. */
int pawl__runtime_refuse_entry(struct runtime_task *task, struct pawl_str instance_id, int status);
/* Lets go, or (true) keeps it because there is more to look at. */
bool pawl__runtime_leave(struct pawl_runtime *runtime, struct runtime_running *running);
/* Waits until some thread let go. PAWL_ETIMEDOUT, PAWL_ESTOPPED. */
PAWL_MUST_CHECK int pawl__runtime_wait_left(struct pawl_runtime *runtime, int64_t deadline_ns);

/* ---- burst.c, run.c ---------------------------------------------------------------------- */

/* For traces and metrics: what came for a burst, and when it began. */
struct burst_watch {
    struct pawl_str cause; /* a traceparent, or "" */
    int64_t begun_ns;
};
struct burst_watch pawl__run_watch(struct runtime_run *run);
void pawl__run_watched(const struct runtime_run *run, const struct burst_watch *watch, int status);

/* Asserts that `to` may follow. */
void pawl__run_move(struct runtime_run *run, enum burst_state to);
bool pawl__run_may_move(enum burst_state from, enum burst_state to);
/* Whether its burst awaits something, for which the claim stays. */
bool pawl__run_is_waiting(const struct runtime_run *run);
/* What the thread that has `running` in hand runs; NULL: nothing any more. `running` NULL: none. */
void pawl__run_set(struct runtime_running *running, const struct runtime_run *run);
/* Whether the run of an instance in hand fits together. */
bool pawl__run_check(const struct runtime_running *running, char *why, size_t size);

void pawl__runtime_run_init(struct runtime_run *run, struct runtime_task *task);
void pawl__runtime_run_release(struct runtime_run *run);
/* Stores a new instance before its first step: somebody else runs it. */
PAWL_MUST_CHECK int pawl__runtime_commit_pending(struct runtime_run *run, struct pawl_event *event);
/*
 * Runs the first event of an instance that the store does not have yet, to the end of its burst or
 * until the burst awaits something. What fails after its first commit is let go of: it goes on
 * later.
 */
PAWL_MUST_CHECK int pawl__runtime_run_new(struct runtime_run *run, struct pawl_event *event);
/*
 * Claims an instance, runs `event` (NULL: only what is due) and its mail, and releases it.
 * PAWL_EBUSY: another node has it.
 */
PAWL_MUST_CHECK int pawl__runtime_run_instance(struct runtime_task *task,
                                               struct pawl_str instance_id,
                                               struct pawl_event *event,
                                               struct pawl_outcome *outcome);
/*
 * One claim of an instance in hand, and the mail that came with it; `event` as above. *more: as
 * much as a claim returns, and all of it was delivered, so that there may be more; left as it is
 * when the claim fails. *yielded: it is still this node's, and waits for its next turn.
 */
PAWL_MUST_CHECK int pawl__runtime_run_once(struct runtime_task *task, struct pawl_str instance_id,
                                           struct pawl_event **event, struct pawl_outcome *outcome,
                                           bool *more, bool *yielded);
/* Opens a burst of a claimed instance with this event and runs it to its end, or until it waits. */
PAWL_MUST_CHECK int pawl__runtime_run_burst(struct runtime_run *run, struct pawl_event *event);
/*
 * pawl_store_claim() with the greatest fence that this node was ever granted: what is granted now
 * is greater, so that what was sent under an earlier claim or visit of this node is never taken for
 * its own. The node claims and visits in no other way.
 */
PAWL_MUST_CHECK int pawl__runtime_store_claim(struct pawl_runtime *runtime, int64_t incarnation,
                                              struct pawl_claim *claims, size_t count,
                                              struct pawl_arena *arena, int64_t *now_us,
                                              int64_t deadline_ns, struct pawl_error *err);
/*
 * Claims one instance, or visits it (run->is_visiting): then nothing is written before its first
 * commit. run->row and mail are set. PAWL_ECONFLICT: it is put off or set aside, and nobody's
 * again.
 */
PAWL_MUST_CHECK int pawl__runtime_claim(struct runtime_run *run, struct pawl_str instance_id);
/* Of a run that visits, without a commit: the store knows nothing of it. */
void pawl__runtime_end_visit(struct runtime_run *run);
/* A commit that leaves the instance as it is but for changes of its mail. */
PAWL_MUST_CHECK int pawl__runtime_commit_kept(struct runtime_run *run,
                                              struct runtime_changes *changes, bool release);
/* What ends the mail that came with the claim of an instance that has ended, or ends with these
 * changes: what was sent to it becomes a dead letter. */
PAWL_MUST_CHECK int pawl__runtime_absorb_mail(struct runtime_run *run,
                                              struct runtime_changes *changes);
/* Ends an instance that is to be cancelled without its state: "whose", or "which", and why. The
 * state stays as it is, and the claim ends. PAWL_EIO: it is read differently each time. */
PAWL_MUST_CHECK int pawl__runtime_end_without_state(struct runtime_run *run, const char *why);
/* Deletes its requests, whose results are not needed; behind the commit those that were put off are
 * to be checked (pawl__runtime_check_requests()). */
PAWL_MUST_CHECK int pawl__runtime_drop_requests(struct runtime_run *run,
                                                struct runtime_changes *changes);
/* As it is in the store, in run->arena. */
PAWL_MUST_CHECK int pawl__runtime_find_instance(struct runtime_run *run, struct pawl_str id,
                                                struct pawl_instance_row *out, bool *found);
/* The result of a request where nobody sends any. */
void pawl__runtime_refusal(struct pawl_builder *b, struct pawl_json *result);
/*
 * What the burst awaits, when that needs no effect (awaited.c). *answered false: it must be done
 * outside, after a commit.
 */
PAWL_MUST_CHECK int pawl__runtime_resolve_awaited(struct runtime_run *run,
                                                  const struct pawl_effect *awaited,
                                                  bool *answered);
/* In results.c. Puts a result before the rest of the mail of an instance that awaits one, however
 * much that is: mail_count may be one more than a claim returns. Whether it is the awaited one, the
 * state says.
 */
PAWL_MUST_CHECK int pawl__runtime_put_feed_first(struct runtime_run *run);
/* The same once the state was loaded, with what is awaited alone; *found: it has come. */
PAWL_MUST_CHECK int pawl__runtime_put_result_first(struct runtime_run *run, bool *found);
/* Gives the burst what it awaits. */
PAWL_MUST_CHECK int pawl__runtime_feed(struct runtime_run *run, const struct pawl_json *result);
/* What a commit in the middle of a burst may take, however long the burst computed. */
int64_t pawl__runtime_commit_deadline(const struct runtime_task *task);

/* ---- parent.c ---------------------------------------------------------------------------- */

/* Mail for the parent of an instance whose burst is over: `feeds` and `feeds_job` are of a run
 * whose first one it was, "" otherwise. */
void pawl__runtime_notify_parent(struct runtime_changes *changes,
                                 const struct pawl_instance_row *child,
                                 const struct pawl_json *state, struct pawl_str feeds,
                                 struct pawl_str feeds_job, int64_t now_us);
/* The same for one that was claimed and ends as `child` says, without a burst. */
PAWL_MUST_CHECK int pawl__runtime_notify_parent_of_end(struct runtime_run *run,
                                                       struct runtime_changes *changes,
                                                       const struct pawl_instance_row *child);
/* The same for children that the instance of this state waits for by name, and that have ended
 * while it was not here: nobody was there to be told. */
PAWL_MUST_CHECK int pawl__runtime_tell_imported(struct runtime_task *task,
                                                struct pawl_str parent_id,
                                                const struct pawl_json *state,
                                                struct runtime_changes *changes);

/* ---- commit.c ---------------------------------------------------------------------------- */

/* In the stored state's section of a burst in progress: see feeds. */
#define RUNTIME_FEEDS "feeds"
#define RUNTIME_FEEDS_JOB "feedsJob"
/* In the data of a start: the bookmark of the parent's job that the start's result is for. */
#define RUNTIME_JOB "jobBookmarkId"

/* The store's time now, as far as this node can tell. */
int64_t pawl__runtime_now_us(const struct runtime_run *run);

/*
 * Commits what the burst's last step handed out; with `release` the claim ends too.
 * PAWL_ECONFLICT: the instance is not ours any more (or exists already, PAWL_EEXISTS), and nothing
 * was written.
 */
PAWL_MUST_CHECK int pawl__runtime_commit_step(struct runtime_run *run, enum pawl_step step,
                                              bool release);
/* The columns of an instance that its state tells; borrowed from the state and the workflow. */
void pawl__runtime_fill_row(struct pawl_instance_row *row, const struct pawl_json *state,
                            const struct pawl_workflow *workflow);
/*
 * The rows of work that come with a bookmark and go with it: the timer of one that is due, the job
 * of one in the background.
 */
void pawl__runtime_put_waker(struct runtime_changes *changes, struct pawl_str instance_id,
                             struct pawl_str bookmark_id, struct pawl_str name,
                             const struct pawl_json *payload, int64_t now_us);
/* By name; one that nobody knows counts as executing. */
enum pawl_sub_status pawl__runtime_sub_status(struct pawl_str name);
/* What run->outcome, when somebody asks, learns of the instance as it is now. */
void pawl__runtime_tell_outcome(const struct runtime_run *run);
/*
 * After pawl__runtime_task_finish(): one that awaited a child has gone on since. `outcome` NULL
 * allowed.
 */
PAWL_MUST_CHECK int pawl__runtime_renew_outcome(struct runtime_task *task,
                                                struct pawl_outcome *outcome);

/* ---- deliver.c --------------------------------------------------------------------------- */

/* Whether this node delivers, and may begin something now. */
bool pawl__runtime_may_deliver(struct pawl_runtime *runtime, int64_t deadline_ns);
/* Tries to deliver it now, on this thread. PAWL_OK: it took effect. Otherwise see is_unsure. */
PAWL_MUST_CHECK int pawl__runtime_deliver(struct runtime_task *task, struct runtime_direct *direct);
/* What a run does of it: when the instance is claimed, between two bursts, when the mail is done.
 */
PAWL_MUST_CHECK int pawl__runtime_check_direct(struct runtime_run *run);
/* What became of a claim that asked for a bookmark, and was not granted. */
PAWL_MUST_CHECK int pawl__runtime_refuse_blind(struct runtime_run *run,
                                               const struct pawl_claim *claim);
bool pawl__runtime_is_direct_late(const struct runtime_task *task);
PAWL_MUST_CHECK int pawl__runtime_run_direct(struct runtime_run *run);

/* ---- reply.c ----------------------------------------------------------------------------- */

/*
 * Whether a piece of mail is a request. If so, it ends with these changes, and its client gets a
 * 404: by a row, or from this node when pawl__runtime_send_refusals() is called after the commit.
 */
PAWL_MUST_CHECK int pawl__runtime_refuse_request(struct runtime_run *run,
                                                 struct runtime_changes *changes,
                                                 const struct pawl_work_row *mail,
                                                 bool *is_request);
void pawl__runtime_send_refusals(struct runtime_run *run);
/* pawl__burst_set_patience(): `ctx` is the run. */
bool pawl__run_is_reply_late(void *ctx);

/* ---- fold.c ------------------------------------------------------------------------------ */

/* What was kept is committed. */
void pawl__fold_end(struct runtime_run *run);
/* What was kept is not, and will not be by this burst. */
void pawl__fold_drop(struct runtime_run *run);
/*
 * After a failure, or a commit that was refused: the run goes back to where it was before what was
 * kept, so that each event is run again and committed by itself, and only the one that failed is to
 * suffer. The claim stays, and its mail counts: others may have put it off meanwhile, because the
 * instance was not theirs, and what is younger must not be run before it. Returns what remains of
 * the failure.
 */
PAWL_MUST_CHECK int pawl__fold_unfold(struct runtime_run *run, int status);

/* ---- mail.c ------------------------------------------------------------------------------ */

/* The bookmark of an instance in this state that a stimulus is for; NULL: none waits for it. */
const struct pawl_json *pawl__runtime_bookmark_for(const struct pawl_json *state,
                                                   struct pawl_str correlation_id,
                                                   const struct pawl_work_row *mail);
/* The same of a claimed instance. */
const struct pawl_json *pawl__runtime_wanted_bookmark(const struct runtime_run *run,
                                                      const struct pawl_work_row *mail);
/* Whether a bookmark demands of a request just what was judged when it was let in. */
bool pawl__runtime_takes_request(const struct pawl_json *bookmark, const struct pawl_json *input);

/*
 * The event that a piece of mail means. *means false: none, nothing waits for it any more; then
 * *park says whether it may still find its bookmark later.
 */
PAWL_MUST_CHECK int pawl__runtime_mail_event(struct runtime_run *run,
                                             const struct pawl_work_row *mail,
                                             struct pawl_event *event, bool *means, bool *park);
/* A timer is dropped whose bookmark the state lacks: said in the log, unless a burst since the
 * claim has ended both. */
void pawl__runtime_warn_of_timer(const struct runtime_run *run, const struct pawl_work_row *mail);
/* Asks for the cancellation of all running children of an instance. */
PAWL_MUST_CHECK int pawl__runtime_cancel_children(struct runtime_task *task,
                                                  struct pawl_str instance_id);
/* Commits that an instance is to be cancelled: the flag, and mail of this kind that wakes it. */
PAWL_MUST_CHECK int pawl__runtime_request_cancel(struct runtime_task *task,
                                                 struct pawl_str instance_id, const char *kind);

/* ---- turns.c ----------------------------------------------------------------------------- */

/* Whether other work waits for a worker, as far as one knows. */
bool pawl__runtime_is_crowded(struct pawl_runtime *runtime);
void pawl__runtime_set_spare(struct pawl_runtime *runtime, bool spare);
/* The instance, which is claimed and in nobody's hand, goes behind all others that wait. */
void pawl__runtime_add_yielded(struct pawl_runtime *runtime, struct pawl_str instance_id);
/* Whether there are any; nothing is locked. */
bool pawl__runtime_has_turns(struct pawl_runtime *runtime);
/* Moves the first of them, `most` at the most, to the end of `out`; returns how many. */
size_t pawl__runtime_take_yielded(struct pawl_runtime *runtime, struct pawl_list *out, size_t most);
/* Runs the next turn of one of them and frees it. */
int pawl__runtime_do_yielded(struct pawl_runtime *runtime, struct runtime_yielded *yielded,
                             int64_t deadline_ns);
/* Those that were taken and not run: they are this node's, and in nobody's hand. */
void pawl__runtime_forget_yielded(struct pawl_runtime *runtime, struct pawl_list *list);
/* With the mutex held. */
bool pawl__runtime_has_yielded(struct pawl_runtime *runtime, struct pawl_str instance_id);

/* ---- cancels.c --------------------------------------------------------------------------- */

/* The thread that looks for cancellations of bursts that take long. */
PAWL_MUST_CHECK int pawl__runtime_cancels_open(struct pawl_runtime *runtime,
                                               struct pawl_error *err);
void pawl__runtime_cancels_close(struct pawl_runtime *runtime);
/* With the mutex held: an instance was taken in hand. */
void pawl__runtime_cancels_entered(struct pawl_runtime *runtime);
/* The cancellation of this instance was committed: flags a burst of it that runs here. */
void pawl__runtime_flag_cancelled(struct pawl_runtime *runtime, struct pawl_str instance_id);

/* ---- client.c ---------------------------------------------------------------------------- */

/* Runs `event` and what is urgent then; waits while another node has the instance. PAWL_EUNKNOWN:
 * `event` has taken effect, and what came then failed. No error behind its first commit says that
 * nothing was changed. */
PAWL_MUST_CHECK int pawl__runtime_run_waiting(struct runtime_task *task,
                                              struct pawl_str instance_id, struct pawl_event *event,
                                              struct pawl_outcome *out);

/* Sleeps a little while another node has the instance. PAWL_ETIMEDOUT at the deadline. */
PAWL_MUST_CHECK int pawl__runtime_wait_busy(struct runtime_task *task, struct pawl_str instance_id);

/* ---- trouble.c --------------------------------------------------------------------------- */

/* Whether trying again by itself could help, or what it was about is not ours to write. */
bool pawl__runtime_is_passing(int status);
/* Whether it says something of this node (memory, input and output) rather than of the work. */
bool pawl__runtime_is_of_node(int status);
/* One more than a count that is stored: that may be any number. */
int64_t pawl__runtime_one_more(int64_t count);
/* The pause after so many failures in a row, as stored: any number. */
int64_t pawl__runtime_backoff_us(int64_t failures);

/* What the row says of an instance that cannot be run. */
struct runtime_trouble {
    int64_t failures;
    int64_t retry_us;
    int64_t alone;       /* takeovers when it was last begun alone; 0: it was not */
    struct pawl_str why; /* borrowed: lives as long as the task */
    bool is_recorded;    /* by the task's record (audit.h) */
};

/* Writes this and nothing else of the instance; with `release` the claim ends. */
PAWL_MUST_CHECK int pawl__runtime_commit_trouble(struct runtime_run *run,
                                                 const struct runtime_trouble *trouble,
                                                 bool release, struct pawl_error *err);
/* Whether a claimed instance is not to be run by itself now. */
bool pawl__runtime_is_put_off(const struct runtime_run *run);
/* Ends the claim of such a one; returns PAWL_ECONFLICT and says why. */
PAWL_MUST_CHECK int pawl__runtime_refuse_put_off(struct runtime_run *run);
/* Whether its state could not be loaded, and never will. */
bool pawl__runtime_is_damaged(const struct runtime_run *run, int status);
/* A call could not finish with a claimed instance, for this reason: others may run it, at once,
 * later or when an operator says so. */
void pawl__runtime_let_go(struct runtime_run *run, int status);
/* An operator's decision: what stood in its way counts no more. Waits while another node has it. */
PAWL_MUST_CHECK int pawl__runtime_clear_trouble(struct runtime_task *task,
                                                struct pawl_str instance_id);

/* ---- alone.c ----------------------------------------------------------------------------- */

/*
 * Before a claimed instance is run: what may have killed its nodes is run alone or set aside; or
 * has ended, if it was to be cancelled, and the claim with it. PAWL_ECONFLICT, PAWL_EBUSY: not now,
 * and it is nobody's again.
 */
PAWL_MUST_CHECK int pawl__runtime_suspect(struct runtime_run *run, struct runtime_running *running);
/* What a row of work runs, for people. */
struct runtime_about {
    const char *what;              /* "the start" */
    struct pawl_str instance_id;   /* "": it has none yet */
    struct pawl_str definition_id; /* "": not said */
};

/*
 * Before a row of work that is this node's runs code of a definition or of the host: what may have
 * killed its nodes is done alone. PAWL_EBUSY: not now, and the row is put off. PAWL_ELIMIT with
 * task->given_up: never again.
 */
PAWL_MUST_CHECK int pawl__runtime_begin_work(struct runtime_task *task,
                                             const struct pawl_work_row *work,
                                             struct runtime_running *running,
                                             const struct runtime_about *about);
/* The row will say that nobody has begun it, and still how many of those who had died. */
void pawl__runtime_unmark_work(struct pawl_work_row *work);
/* Waits until nothing else is in hand, and lets nothing begin. false: others stayed in hand until
 * the deadline or for long, or another one is alone. */
bool pawl__runtime_begin_alone(struct pawl_runtime *runtime, struct runtime_running *running,
                               int64_t deadline_ns);
/* Others may begin again, if this one was alone. */
void pawl__runtime_end_alone(struct pawl_runtime *runtime, const struct runtime_running *running);
/* Whether nothing may be begun now. With the mutex held. */
bool pawl__runtime_is_reserved(struct pawl_runtime *runtime);

/* ---- journal.c --------------------------------------------------------------------------- */

/*
 * Adds the changes that keep an instance's journal within its limit, when its next record has the
 * number `after` and had `before` until now: old pages go, a marker says so.
 */
PAWL_MUST_CHECK int pawl__runtime_trim_journal(struct runtime_task *task,
                                               struct runtime_changes *changes,
                                               struct pawl_str instance_id, int64_t before,
                                               int64_t after);

/* ---- alter.c ----------------------------------------------------------------------------- */

/* The graph that alterations of an instance are applied on, with a reference for the caller. */
PAWL_MUST_CHECK int pawl__runtime_altered_graph(struct pawl_runtime *runtime,
                                                const struct pawl_instance_row *row,
                                                const struct pawl_json *alterations,
                                                struct pawl_graph **out, int64_t deadline_ns,
                                                struct pawl_error *err);
/* What a burst that was opened with alterations did, for whoever asks. */
PAWL_MUST_CHECK int pawl__runtime_tell_altered(struct runtime_task *task, struct pawl_burst *burst);

/* ---- start.c ----------------------------------------------------------------------------- */

/* Of a start that is given up: tells the parent that executes it inline, if one does, that there
 * will be no child. Part of the commit that makes it a dead letter. */
void pawl__runtime_add_refusal(struct runtime_task *task, struct runtime_changes *changes,
                               const struct pawl_work_row *work, struct pawl_str why);

/* Does a start that is this node's; the row is deleted by the commit that creates. */
PAWL_MUST_CHECK int pawl__runtime_do_start(struct runtime_task *task,
                                           const struct pawl_work_row *work);
/* Does a tick that is this node's: it becomes a start, and the next tick. */
PAWL_MUST_CHECK int pawl__runtime_do_tick(struct runtime_task *task,
                                          const struct pawl_work_row *work);
/* The start that a tick of this trigger means, to be inserted. PAWL_ENOTFOUND: it is gone. */
PAWL_MUST_CHECK int pawl__runtime_start_of_tick(struct runtime_task *task,
                                                struct pawl_str trigger_id, int64_t now_us,
                                                struct pawl_work_row *out);

/* Whether the activation strategy of a definition lets an instance start now. */
PAWL_MUST_CHECK int pawl__runtime_may_start(struct runtime_task *task, struct pawl_graph *graph,
                                            struct pawl_str correlation_id, bool *may);

/* ---- kept.c -------------------------------------------------------------------------------- */

/* What variables of the Memory driver had at the end of the request's last burst of the instance;
 * null. `request` NULL allowed. */
struct pawl_json pawl__runtime_find_kept(const struct pawl_request *request,
                                         struct pawl_str instance_id);
/* Keeps what they have now. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__runtime_store_kept(struct runtime_run *run);

#endif
