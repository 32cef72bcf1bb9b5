/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the runtime share; see runtime.h. */
#ifndef PAWL_RUNTIME_RUNTIME_PRIVATE_H
#define PAWL_RUNTIME_RUNTIME_PRIVATE_H

#include "base/id.h"
#include "base/list.h"
#include "base/map.h"
#include "engine/builder.h"
#include "runtime/committer.h"
#include "runtime/guard.h"
#include "runtime/keeper.h"
#include "runtime/pack.h"
#include "runtime/queue_worker.h"
#include "runtime/runtime.h"

#include <stdatomic.h>

/* Of one state, one payload and all that a run holds at a time: far above what fits. */
#define RUNTIME_BYTES_MAX ((size_t)1 << 30)
/* Effects that are done and not yet deleted: so many go in one commit. */
#define RUNTIME_DONE_MAX 64u

struct pawl_runtime {
    struct pawl_env *env;
    const struct pawl_engine *engine;
    struct pawl_store *store;
    const struct pawl_log *log; /* NULL: none */
    struct pawl_runtime_options options;
    struct pawl_definitions *definitions;
    struct pawl_keeper *keeper;
    struct pawl_committer *committer;
    atomic_bool stopping;
    /* A pool with a worker to spare says so: then a burst that yields goes on at once. */
    atomic_bool has_spare;
    atomic_size_t yielded_count;        /* of `yielded` below */
    struct pawl_thread *http_thread;    /* NULL: there is no executor */
    struct pawl_thread *cancels_thread; /* NULL: not yet, or a runtime that only looks */

    _Atomic int64_t seen_fence; /* the greatest that this node was granted */
    struct pawl_mutex *mutex;   /* guards what follows */
    struct pawl_id_source ids;
    uint64_t seed;                 /* of ids, when they come from a seed */
    struct pawl_list done_effects; /* struct runtime_done */
    struct pawl_list packers;      /* struct runtime_packer, idle */
    struct pawl_list running; /* struct runtime_running: instances that a thread here has in hand */
    struct pawl_list given_up;           /* the same: their threads hang */
    struct pawl_cond *left;              /* one of them was let go */
    const struct runtime_running *alone; /* runs with nothing beside it; NULL: none */
    int64_t alone_until_ns;
    uint32_t stuck; /* how many are in `given_up` */
    atomic_flag
        unwinding; /* of threads that leave a stopped environment, where no mutex is locked */
    void (*replace)(void *ctx, uint32_t stuck); /* the pool's; NULL: none */
    void *replace_ctx;
    uint32_t replacing;        /* calls of it under way */
    struct pawl_list yielded;  /* struct runtime_yielded, in the order of their turns */
    struct pawl_cond *cancels; /* wakes the thread that looks for cancellations */
    bool cancels_sleep;        /* that thread waits until an instance is in hand */
    bool cancels_stop;
    size_t cancels_from;        /* of those in hand, the first that the next look names */
    struct pawl_map held;       /* struct runtime_held, by id */
    struct pawl_list requests;  /* struct runtime_request: under way */
    struct pawl_cond *answered; /* one of them has something for the thread to do */
    bool http_stop;
    uint32_t runnable_skip; /* instances that are named first, and that this node may not run */
    uint32_t refused;       /* of those that were named last */
    bool was_full;          /* as many were named as may be */
    int64_t stray_ns;       /* when to look for what is in nobody's hand; 0: nothing ever failed */
    int64_t clock_us;       /* the store's clock, as of */
    int64_t clock_ns;       /* this moment of ours; 0: not known */
};

/*
 * An instance that a thread of this process has in hand. Another thread that finds work for it
 * leaves a note and goes on: whoever has it looks again before letting go. So workers never wait
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
    /* Of the step that it is in (runtime_watch.c): when it last showed that it goes on; 0: it is in
     * none. The work that the step is about, with the mutex; "": the instance itself. */
    _Atomic int64_t since_ns;
    struct pawl_str work_id;
    int64_t look_ns;       /* with the mutex: when the watchdog last tried to give it up */
    bool was_seen;         /* in hand at the last look for cancellations */
    atomic_bool cancelled; /* somebody asked for its cancellation; its burst looks at this */
    const struct runtime_run *run; /* what its thread runs; for check_invariants alone */
};

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

/* zstd's working memory takes long to set up: it waits here for the next who needs it. */
struct runtime_packer {
    struct pawl_list_link link;
    struct pawl_packer packer;
};

/* An effect that was performed; its row is to be deleted. */
struct runtime_done {
    struct pawl_list_link link;
    struct pawl_str id; /* behind the struct */
};

/*
 * What one call, or one piece of work, has in hand. `urgent` is what must be done before the call
 * returns, last in first out: a child that a burst awaits, then the burst itself.
 */
struct runtime_task {
    struct pawl_runtime *runtime;
    int64_t deadline_ns;
    struct pawl_arena arena;      /* of this task as a whole */
    struct pawl_list urgent;      /* struct runtime_urgent, in the arena */
    struct pawl_request *request; /* NULL: none */
    struct pawl_json *altered;    /* where alterations are told; NULL: nobody asks */
    struct pawl_arena *altered_arena;
    bool waits;  /* somebody waits for it: it waits for requests too */
    bool yields; /* a worker's: a burst that yields ends it, and goes on in its turn */
    struct runtime_running *running; /* what is in hand; NULL: nothing */
    bool owned; /* the last claim was refused because a living node has the instance */
    bool gone;  /* the last claim found no such instance */
    /* An operator's command: also of an instance that is set aside. */
    bool is_event_committed; /* the caller's event has taken effect, at least its first commit */
    bool by_operator;
    bool given_up; /* what failed is not to be tried again */
    bool is_duty;  /* of the keeper, which must renew its lease: no commit exceeds the deadline */
    struct pawl_error *err;
};

struct runtime_urgent {
    struct pawl_list_link link;
    const struct pawl_work_row *start; /* NULL: run the instance */
    struct pawl_str instance_id;
    bool settles; /* when what its burst awaits is there */
};

void pawl__runtime_task_init(struct runtime_task *task, struct pawl_runtime *runtime,
                             int64_t deadline_ns, struct pawl_error *err);
/* `status` is what the task ended with. */
void pawl__runtime_task_release(struct runtime_task *task, int status);
/* Does what is urgent, until nothing is. */
PAWL_MUST_CHECK int pawl__runtime_task_finish(struct runtime_task *task);
PAWL_MUST_CHECK int pawl__runtime_task_urge(struct runtime_task *task,
                                            const struct pawl_work_row *start,
                                            struct pawl_str instance_id);
/* The instance's burst awaits a request: its end is waited for. */
PAWL_MUST_CHECK int pawl__runtime_task_await(struct runtime_task *task,
                                             struct pawl_str instance_id);

/* ---- runtime.c ----------------------------------------------------------------------------- */

static inline struct pawl_str runtime_text(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static inline struct pawl_json runtime_member(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_text(object, key);

    return value ? *value : pawl__json_null();
}

/* ---- runtime_hand.c ------------------------------------------------------------------------ */

/* Asserts that `to` may follow `from`. False: it was not in `from`, and stays what it is. */
bool pawl__hand_move(struct runtime_running *running, enum hand_state from, enum hand_state to);
bool pawl__hand_may_move(enum hand_state from, enum hand_state to);
/* With the mutex held: whether what is in hand fits together. */
bool pawl__hand_check(const struct pawl_runtime *runtime, char *why, size_t size);

/*
 * Takes an instance in hand: false when another thread has it, which is told to look again. Waits
 * while another instance is run alone.
 * `running` is the caller's until it left.
 */
bool pawl__runtime_enter(struct pawl_runtime *runtime, struct runtime_running *running,
                         struct pawl_str instance_id);
/* Lets go, or (true) keeps it because there is more to look at. */
bool pawl__runtime_leave(struct pawl_runtime *runtime, struct runtime_running *running);
/* Waits until some thread let go. PAWL_ETIMEDOUT, PAWL_ESTOPPED. */
PAWL_MUST_CHECK int pawl__runtime_wait_left(struct pawl_runtime *runtime, int64_t deadline_ns);

/* ---- runtime.c ----------------------------------------------------------------------------- */

/*
 * Before something is begun: PAWL_ESTOPPED when the node drains; an error of the store, or
 * PAWL_ECONFLICT, when its lease is over and cannot be renewed.
 */
PAWL_MUST_CHECK int pawl__runtime_may_begin(struct pawl_runtime *runtime, struct pawl_error *err);

/* The same in the middle of something: nothing is renewed. */
bool pawl__runtime_may_go_on(struct pawl_runtime *runtime);

static inline int64_t pawl__runtime_lease_us(const struct pawl_runtime *runtime)
{
    return runtime->options.lease_us > 0 ? runtime->options.lease_us : PAWL_LEASE_US_DEFAULT;
}

/* The store's clock, asked at most once a second. */
PAWL_MUST_CHECK int pawl__runtime_clock(struct pawl_runtime *runtime, int64_t *now_us,
                                        int64_t deadline_ns, struct pawl_error *err);
/* What it showed in an answer that has just come: what is reckoned from it is never ahead of it, so
 * that what is made due now is. */
void pawl__runtime_clock_seen(struct pawl_runtime *runtime, int64_t now_us);

/* The due time of what is to be done at once: not ahead of a store whose clock knows milliseconds.
 */
static inline int64_t runtime_at_once(int64_t now_us)
{
    return now_us - now_us % 1000;
}

/* A fresh id that sorts by time, in the arena; ptr NULL: the arena's status, or no entropy. */
struct pawl_str pawl__runtime_new_id(struct pawl_runtime *runtime, struct pawl_arena *arena);
/* The seed of a burst: the same for the same revision, so that a burst done again makes the same
 * ids, and effects and children of a try that a crash undid are the same ones. */
uint64_t pawl__runtime_burst_seed(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                  int64_t revision);
int64_t pawl__runtime_part(struct pawl_str text);
/* The value as JSON text in the arena; ptr NULL: the arena's status. */
struct pawl_str pawl__runtime_json_text(struct pawl_arena *arena, const struct pawl_json *value);
/* Reads JSON that a store kept, perhaps packed. "" is null. PAWL_ECORRUPT, PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__runtime_json_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                            struct pawl_str bytes, struct pawl_json *out,
                                            struct pawl_error *err);
/* The state of an instance's row. PAWL_ECORRUPT, also when its checksum says that it is damaged. */
PAWL_MUST_CHECK int pawl__runtime_state_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                             const struct pawl_instance_row *row,
                                             struct pawl_json *out, struct pawl_error *err);
/* What `state_sum` of a row is to be whose state is `bytes`. */
int64_t pawl__runtime_state_sum(struct pawl_str bytes);
/* Text as a store keeps it, in the arena or `text` itself. */
PAWL_MUST_CHECK int pawl__runtime_pack(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                       struct pawl_str text, struct pawl_str *out,
                                       struct pawl_error *err);
void pawl__runtime_forget_packers(struct pawl_runtime *runtime);
/* Hands a commit to the committer. */
PAWL_MUST_CHECK int pawl__runtime_commit(struct pawl_runtime *runtime, struct pawl_commit *commit,
                                         int64_t deadline_ns, struct pawl_error *err);
/* One commit that deletes the rows of effects that were performed. Failing to is no error. */
void pawl__runtime_flush_done(struct pawl_runtime *runtime, int64_t deadline_ns);
void pawl__runtime_add_done(struct pawl_runtime *runtime, struct pawl_str work_id);

/* ---- runtime_held.c ------------------------------------------------------------------------ */

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
/* Holds what was taken, and leaves out what others here have in hand. */
PAWL_MUST_CHECK int pawl__runtime_hold_taken(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                             struct pawl_taken *taken);
void pawl__runtime_forget_held(struct pawl_runtime *runtime);
/* A call ended with this status: it may have left something that is in nobody's hand. */
void pawl__runtime_note_failure(struct pawl_runtime *runtime, int status);
/* A note that was left with an instance in hand (see struct runtime_running) was not followed: the
 * work of whoever left it is this node's and in nobody's hand. */
void pawl__runtime_note_left(struct pawl_runtime *runtime);
/* Adds what such failures left to what was taken, held. Failing to puts it off. */
void pawl__runtime_add_strays(struct pawl_runtime *runtime, struct pawl_arena *arena,
                              struct pawl_taken *taken, int64_t deadline_ns);
/* The keeper's duty: where nobody takes work, what failures left is given back to all nodes. */
void pawl__runtime_return_strays(void *ctx, int64_t deadline_ns);

/* ---- runtime_turns.c ----------------------------------------------------------------------- */

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

/* ---- runtime_cancels.c --------------------------------------------------------------------- */

/* The thread that looks for cancellations of bursts that take long. */
PAWL_MUST_CHECK int pawl__runtime_cancels_open(struct pawl_runtime *runtime,
                                               struct pawl_error *err);
void pawl__runtime_cancels_close(struct pawl_runtime *runtime);
/* With the mutex held: an instance was taken in hand. */
void pawl__runtime_cancels_entered(struct pawl_runtime *runtime);
/* The cancellation of this instance was committed: a burst of it that runs here is told. */
void pawl__runtime_flag_cancelled(struct pawl_runtime *runtime, struct pawl_str instance_id);

/* ---- runtime_commit.c ---------------------------------------------------------------------- */

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

/* An instance in hand: claimed, or about to be created. */
struct runtime_run {
    struct runtime_task *task;
    struct pawl_runtime *runtime;
    struct pawl_arena arena; /* of what was loaded; reset when it is claimed again */
    /* Of the state that was stored last, and of the one before: they take turns. */
    struct pawl_arena state_arenas[2];
    unsigned state_turn;
    struct pawl_graph *graph;
    struct pawl_burst *burst;
    bool is_new;                  /* not in the store yet */
    bool is_known;                /* new, under an id that others may know */
    struct pawl_instance_row row; /* with owner, fence and revision as the store has them */
    struct pawl_json state;       /* as stored; null when new */
    /* `state` is all of what the store has. Until it was loaded, and after a copy that failed, no
     * commit may write it. */
    bool loaded;
    bool hindered; /* it cannot be run whatever comes for it: there is no graph */
    struct pawl_json counts;
    const struct pawl_work_row *mail; /* due mail, not looked at yet */
    size_t mail_count;
    bool is_given; /* the caller's event was taken up, at `given_revision` */
    int64_t given_revision;
    int64_t now_us;     /* the store's clock at the claim */
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
    enum burst_state at;          /* where its burst stands; moved by pawl__run_move() alone */
    struct pawl_event **event;    /* the caller's, NULL behind it once it ran; NULL: no caller */
    int64_t incarnation;          /* of this node when the claim was made */
    uint32_t polls;               /* of the stop flag */
    struct pawl_guard_pass pass;  /* under which it runs */
};

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

/* ---- runtime_guard.c ----------------------------------------------------------------------- */

/*
 * Asks the guard, before the claim. What is refused to a task for which nobody waits is looked at
 * again later: its work may be this node's, and in nobody's hand then.
 */
PAWL_MUST_CHECK int pawl__runtime_pass(struct runtime_task *task, struct pawl_str instance_id,
                                       enum pawl_guard_how how, struct pawl_guard_pass *out);
void pawl__runtime_unpass(struct runtime_task *task, struct pawl_str instance_id,
                          struct pawl_guard_pass pass);

/* ---- runtime_burst.c, runtime_run.c
 * ------------------------------------------------------------------------- */

/* runtime_burst.c. Asserts that `to` may follow. */
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
 * pawl_store_claim() with the greatest fence that this node was ever granted: what is granted now
 * is greater, so that what was sent under an earlier claim of this node is never taken for its own.
 * The node claims in no other way.
 */
PAWL_MUST_CHECK int pawl__runtime_store_claim(struct pawl_runtime *runtime, int64_t incarnation,
                                              struct pawl_claim *claims, size_t count,
                                              struct pawl_arena *arena, int64_t *now_us,
                                              int64_t deadline_ns, struct pawl_error *err);
/*
 * Claims one instance; run->row and mail are set. PAWL_ECONFLICT: it is put off or set aside, and
 * nobody's again.
 */
PAWL_MUST_CHECK int pawl__runtime_claim(struct runtime_run *run, struct pawl_str instance_id);
/* A commit that leaves the instance as it is but for changes of its mail. */
PAWL_MUST_CHECK int pawl__runtime_commit_kept(struct runtime_run *run,
                                              struct runtime_changes *changes, bool release);
/* What ends the mail that came with the claim of an instance that has ended, or ends with these
 * changes: what was sent to it becomes a dead letter. */
PAWL_MUST_CHECK int pawl__runtime_absorb_mail(struct runtime_run *run,
                                              struct runtime_changes *changes);
/* Ends an instance that is to be cancelled and whose state is damaged; task->err says how. The
 * state stays as it is, and the claim ends. PAWL_EIO: it is read differently each time. */
PAWL_MUST_CHECK int pawl__runtime_end_damaged(struct runtime_run *run);
/* The result of a request where nobody sends any. */
void pawl__runtime_refusal(struct pawl_builder *b, struct pawl_json *result);
/* What a commit in the middle of a burst may take, however long the burst computed. */
int64_t pawl__runtime_commit_deadline(const struct runtime_task *task);

/* ---- runtime_mail.c ------------------------------------------------------------------------ */

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

/* ---- runtime_bytes.c ----------------------------------------------------------------------- */

/* Whether what somebody brings along is within PAWL_INPUT_BYTES_MAX; `what` is "a start", … */
PAWL_MUST_CHECK int pawl__runtime_check_input(struct runtime_task *task, const char *what,
                                              const struct pawl_json *input);
PAWL_MUST_CHECK int pawl__runtime_check_bytes(struct runtime_task *task, const char *what,
                                              size_t bytes);

/* ---- runtime_client.c ---------------------------------------------------------------------- */

/* Runs `event` and what is urgent then; waits while another node has the instance. */
PAWL_MUST_CHECK int pawl__runtime_run_waiting(struct runtime_task *task,
                                              struct pawl_str instance_id, struct pawl_event *event,
                                              struct pawl_outcome *out);

/* Sleeps a little while another node has the instance. PAWL_ETIMEDOUT at the deadline. */
PAWL_MUST_CHECK int pawl__runtime_wait_busy(struct runtime_task *task, struct pawl_str instance_id);

/* ---- runtime_trouble.c --------------------------------------------------------------------- */

/* Whether trying again by itself could help, or what it was about is not ours to write. */
bool pawl__runtime_is_passing(int status);
/* Whether it says something of this node (memory, input and output) rather than of the work. */
bool pawl__runtime_is_of_node(int status);
/* The pause after so many failures in a row, 0 and more. */
int64_t pawl__runtime_backoff_us(int64_t failures);

/* What the row says of an instance that cannot be run. */
struct runtime_trouble {
    int64_t failures;
    int64_t retry_us;
    int64_t alone;       /* takeovers when it was last begun alone; 0: it was not */
    struct pawl_str why; /* borrowed: lives as long as the task */
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
/* A call could not finish with a claimed instance, for this reason: others may have it, at once,
 * later or when an operator says so. */
void pawl__runtime_let_go(struct runtime_run *run, int status);
/* An operator's decision: what stood in its way counts no more. Waits while another node has it. */
PAWL_MUST_CHECK int pawl__runtime_clear_trouble(struct runtime_task *task,
                                                struct pawl_str instance_id);

/* ---- runtime_alone.c ----------------------------------------------------------------------- */

/*
 * Before a claimed instance is run: what may have killed its nodes is run alone or set aside.
 * PAWL_ECONFLICT, PAWL_EBUSY: not now, and it is nobody's again.
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
/* Others may begin again, if this one was alone. */
void pawl__runtime_end_alone(struct pawl_runtime *runtime, const struct runtime_running *running);
/* Whether nothing may be begun now. With the mutex held. */
bool pawl__runtime_is_reserved(struct pawl_runtime *runtime);

/* ---- runtime_watch.c ----------------------------------------------------------------------- */

/* Around what may not come back: a step, or with `work_id` an effect. `running` NULL: nothing. */
void pawl__runtime_step_begin(struct pawl_runtime *runtime, struct runtime_running *running,
                              struct pawl_str work_id);
void pawl__runtime_step_goes_on(struct pawl_runtime *runtime, struct runtime_running *running);
void pawl__runtime_step_end(struct pawl_runtime *runtime, struct runtime_running *running);
/* Gives up the steps that are overdue. On the keeper's thread. */
void pawl__runtime_watch(struct pawl_runtime *runtime, int64_t deadline_ns);
/* The number of threads that hang has changed. */
void pawl__runtime_tell_stuck(struct pawl_runtime *runtime);
/* Who replaces threads that hang. NULL: nobody; whoever was asked before is not being called any
 * more when this returns. */
void pawl__runtime_set_replace(struct pawl_runtime *runtime,
                               void (*replace)(void *ctx, uint32_t stuck), void *ctx);
/* No thread is left: the node's incarnation ends, so that others do what it has taken. */
void pawl__runtime_renounce(struct pawl_runtime *runtime);

/* ---- runtime_journal.c --------------------------------------------------------------------- */

/*
 * Adds the changes that keep an instance's journal within its limit, when its next record has the
 * number `after` and had `before` until now: old pages go, a marker says so.
 */
PAWL_MUST_CHECK int pawl__runtime_trim_journal(struct runtime_task *task,
                                               struct runtime_changes *changes,
                                               struct pawl_str instance_id, int64_t before,
                                               int64_t after, int64_t now_us);

/* ---- runtime_alter.c ----------------------------------------------------------------------- */

/* The graph that alterations of an instance are applied on, with a reference for the caller. */
PAWL_MUST_CHECK int pawl__runtime_altered_graph(struct pawl_runtime *runtime,
                                                const struct pawl_instance_row *row,
                                                const struct pawl_json *alterations,
                                                struct pawl_graph **out, int64_t deadline_ns,
                                                struct pawl_error *err);
/* What a burst that was opened with alterations did, for whoever asks. */
PAWL_MUST_CHECK int pawl__runtime_tell_altered(struct runtime_task *task, struct pawl_burst *burst);

/* ---- runtime_start.c ----------------------------------------------------------------------- */

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

/* ---- runtime_stimulus.c -------------------------------------------------------------------- */

/* Matches a stimulus that is this node's (`owner`), and parks what matches nothing. */
PAWL_MUST_CHECK int pawl__runtime_match(struct runtime_task *task, const struct pawl_work_row *work,
                                        struct pawl_sent *sent);
/* The row of an event that a burst published: {"eventName", "payload", …}, see activities. */
PAWL_MUST_CHECK int pawl__runtime_event_row(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                            const struct pawl_json *event,
                                            struct pawl_work_row *row);
/* A parked row is looked at once more: a bookmark may have been committed at the same moment. */
PAWL_MUST_CHECK int pawl__runtime_recheck(struct runtime_task *task,
                                          const struct pawl_work_row *work);

/* ---- runtime_http.c, runtime_request.c ------------------------------------------------------ */

/* In the data of a request: the value of its Idempotency-Key, whatever becomes of the row's id. */
#define RUNTIME_HTTP_KEY "key"
/* And the id of the definition that asks, whose requests have connections of their own. */
#define RUNTIME_HTTP_SCOPE "scope"
/* How long a request is left to other nodes by one that sends none. */
#define RUNTIME_HTTP_ELSEWHERE_US INT64_C(1000000)

struct runtime_request;

/* The thread for answers, if there is an executor. */
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
/* The row has this owner now: if its request is under way, that answers for it. */
void pawl__runtime_adopt_request(struct pawl_runtime *runtime, const struct pawl_work_row *work);
/* A request that a node left behind. */
PAWL_MUST_CHECK int pawl__runtime_do_http(struct runtime_task *task,
                                          const struct pawl_work_row *work, int64_t now_us);
/* Waits until no request of the instance is under way and nobody here has it in hand. */
PAWL_MUST_CHECK int pawl__runtime_wait_answered(struct pawl_runtime *runtime,
                                                struct pawl_str instance_id, int64_t deadline_ns);
/* false: nothing is under way, or the deadline came. */
bool pawl__runtime_wait_any_answer(struct pawl_runtime *runtime, int64_t deadline_ns);
/* Waits for what the instance's burst awaits, and goes on with it until the burst has ended. */
PAWL_MUST_CHECK int pawl__runtime_settle(struct runtime_task *task, struct pawl_str instance_id);

/* ---- runtime_work.c ------------------------------------------------------------------------ */

/* What is due becomes this node's; rows in `arena`. `turn` NULL: of all parts. */
PAWL_MUST_CHECK int pawl__runtime_take(struct pawl_runtime *runtime, uint32_t limit,
                                       const struct pawl_queue_turn *turn, struct pawl_arena *arena,
                                       struct pawl_taken *taken, int64_t deadline_ns,
                                       struct pawl_error *err);
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
