/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workflow runtime on a store: starts, resumes, cancels and deletes instances, delivers
 * stimuli, fires timers, runs children, and makes each burst durable in one commit.
 *
 * Level-triggered. Whatever is to be done is a row of the table of work that is due until a commit
 * deletes it: the commit that has its effect. So a crash at any point loses nothing and repeats
 * nothing; whoever is free takes what is due. Signals only shorten waits.
 *
 *     stimulus   a happening to be matched; what matches nothing is parked until it expires
 *     start      an instance to be created, by a stimulus, a parent or a caller who will not wait
 *     tick       the same, by time: the next occurrence is inserted by the commit that starts it
 *     mail       work of one instance: resume (a bookmark), timer, child (one has ended), feed (the
 *                result of an effect that its burst awaits), cancel. Only its owner delivers it
 *     effect     something outside, done after the commit that asked for it, at least once
 *     http       the same for a request that a burst awaits: its answer becomes a feed
 *
 * Every call may be made from any thread; each does its work on the caller's thread. A call that
 * runs an instance also does what that instance's burst waits for (a child executed inline), or
 * waits for it (a request), and nothing else; pawl__runtime_work() does what is due. `deadline_ns`
 * bounds how long a call waits for a busy instance and for the store, not how long a burst
 * computes.
 *
 *     runtime.c            opening and closing, clock, ids, commits
 *     task.c               what one call does before it returns
 *     bytes.c, pack.c      the bytes that a store keeps
 *     instance/trouble.c   what cannot be loaded or run: put off, set aside
 *     instance/alone.c     what kills its nodes: tried alone, then set aside
 *     node/watch.c         steps that do not come back
 *     node/waits.c         who waits for an instance without a thread
 *     node/changes.c       who is told of the commits of this node
 *     instance/hand.c      instances in hand
 *     work/held.c          rows of work in hand; what is in nobody's after a failure
 *     work/done.c          effects that were performed, whose rows are to be deleted
 *     instance/burst.c     the states of a burst under way
 *     instance/turns.c     bursts that yield, and their next turns
 *     instance/cancels.c   cancellations of bursts that take long
 *     node/pause.c         nodes that an operator has paused
 *     node/guard.c         who else is asked before an instance is touched
 *     instance/run.c       one claimed instance: from mail to events to bursts to commits
 *     instance/kept.c      variables of the Memory driver, between the bursts of one request
 *     instance/mail.c      what a piece of mail means; cancelling
 *     instance/commit.c    what a step handed out as one commit
 *     instance/start.c     new instances: callers, triggers, ticks, activation strategies
 *     work/stimulus.c      matching, parking
 *     work/send.c          sending: what it matched, and all of it in one commit
 *     instance/deliver.c   what is sent to an instance that nobody runs, delivered by its sender
 *     work/work.c          what is due; failures, dead letters
 *     work/http.c          requests that bursts await, and their answers
 *     work/request.c       what is sent, and what an answer says
 *     instance/alter.c     alterations and retries
 *     instance/variables.c what variables stand at
 *     instance/journal.c   the pages of a journal, and their limit
 *     instance/journal_page.c  a part of a log, without reading the rest
 *     instance/client.c    run, cancel, delete, look at one instance
 *     instance/import.c    taking over an instance, and
 *     instance/export.c    giving it away
 *     node/invariants.c    what must hold in between, for simulations
 *     work/letters.c       dead letters: replaying, removing
 *     work/tasks.c         reports of tasks that were done outside
 *     work/endpoint.c      requests to workflows: whom they are for
 *     instance/reply.c     replies to them, in commits
 *     node/replies.c       who waits for one
 *     node/routes.c        templates of paths
 */
#ifndef PAWL_RUNTIME_RUNTIME_H
#define PAWL_RUNTIME_RUNTIME_H

#include "base/id.h"
#include "base/map.h"
#include "base/trace_context.h"
#include "engine/run/burst.h"
#include "runtime/definitions/definitions.h"
#include "runtime/values.h"

#include <pawl/ext/env.h>
#include <pawl/ext/http.h>
#include <pawl/ext/log.h>
#include <pawl/ext/store.h>

struct pawl_runtime;
struct pawl_guard; /* runtime/node/guard.h */

/* The event of the log record that stands for records that were dropped. */
#define PAWL_LOG_TRUNCATED "Truncated"

/*
 * Bytes, about those of its JSON text, of what a start, a resume or a stimulus brings along: a
 * quarter of what the state of an instance, which keeps it, may have. More is PAWL_ELIMIT, and
 * nothing happened.
 */
#define PAWL_INPUT_BYTES_MAX ((size_t)16 << 20)

/* Kinds of work. */
#define PAWL_WORK_STIMULUS "stimulus"
#define PAWL_WORK_START "start"
#define PAWL_WORK_RESUME "resume"
#define PAWL_WORK_TIMER "timer"
#define PAWL_WORK_CHILD "child"
#define PAWL_WORK_FEED "feed"
#define PAWL_WORK_JOB "job" /* of an activity in the background; with what its effect came to */
#define PAWL_WORK_RUN "run" /* go on where the state stands: after a failure */
#define PAWL_WORK_CANCEL "cancel" /* with its children */
#define PAWL_WORK_CANCEL_ONE "cancel-one"
#define PAWL_WORK_RECHECK "recheck"
#define PAWL_WORK_CONSOLE "console"
#define PAWL_WORK_TASK "task"
#define PAWL_WORK_HTTP "http"
#define PAWL_WORK_CALL "call"

/* What the host does for the runtime. Each may be NULL; called on whichever thread runs a burst. */
struct pawl_runtime_hooks {
    /* A line of WriteLine, after its commit. Other than PAWL_OK: it is called again later. */
    int (*line)(void *ctx, struct pawl_str instance_id, struct pawl_str text);
    /* A task that somebody outside has to do; may come twice. */
    void (*task)(void *ctx, struct pawl_str instance_id, const struct pawl_json *task);
    /*
     * A function of the host's that an activity asked for: performs it and makes its result durable
     * (pawl__runtime_send). Returns other than PAWL_OK: it is called again later. May come twice.
     * NULL: this node has no such functions, and says so.
     */
    int (*call)(void *ctx, struct pawl_str instance_id, const struct pawl_json *call,
                struct pawl_error *err);
    /* Every log record of a burst, before its commit: for tracing. */
    void (*logged)(void *ctx, struct pawl_str instance_id, const struct pawl_workflow *workflow,
                   const struct pawl_log_record *record);
    /*
     * For traces and metrics; none of these may wait. A burst begins: `cause` is the traceparent of
     * what came for it, "" if that is not known; *span is its own from now on.
     */
    void (*burst_begun)(void *ctx, const struct pawl_instance_row *instance, struct pawl_str cause,
                        struct pawl_trace_context *span);
    /* It has ended, with its instance as it is now. */
    void (*burst)(void *ctx, const struct pawl_instance_row *instance,
                  const struct pawl_trace_context *span, struct pawl_str cause, int64_t begun_ns,
                  int64_t ended_ns, int status);
    /* A commit of it. */
    void (*committed)(void *ctx, const struct pawl_instance_row *instance,
                      const struct pawl_trace_context *span, int64_t begun_ns, int64_t ended_ns,
                      int status);
    /* A log record of it, before its commit. */
    void (*recorded)(void *ctx, const struct pawl_instance_row *instance,
                     const struct pawl_trace_context *span, const struct pawl_log_record *record);
    /* A request of a workflow: *span is what it is sent with, and what it is reported with. */
    void (*request_begun)(void *ctx, struct pawl_str instance_id, struct pawl_trace_context *span);
    void (*request_ended)(void *ctx, struct pawl_str instance_id,
                          const struct pawl_trace_context *span,
                          const struct pawl_http_request *request,
                          const struct pawl_http_answer *answer, int64_t begun_ns);
    /* Work that is begun for the first time, so long after it was due. */
    void (*begun)(void *ctx, const struct pawl_work_row *work, int64_t late_us);
    /* Somebody waited for an instance's lock. */
    void (*waited)(void *ctx, int64_t duration_ns);
    /* Work or a burst that failed: it will be tried again, or has become a dead letter. */
    void (*failed)(void *ctx, struct pawl_str instance_id, const struct pawl_error *why);
    /* Polled between activities: true ends the burst at the next boundary, committed as it is, and
     * pawl__runtime_drain(). */
    bool (*stop)(void *ctx);
    /* This node is over for good: pawl__runtime_check() says why. Called once, on a thread of the
     * runtime, which has begun to drain. */
    void (*ended)(void *ctx);
    void *ctx;
};

/* How what is sent reaches an instance that waits for it and that nobody runs. */
enum pawl_delivery {
    PAWL_DELIVERY_ROWS,   /* as a row of work: whoever does what is due delivers it */
    PAWL_DELIVERY_DIRECT, /* on the thread of whoever sends it, if it has just one target */
    PAWL_DELIVERY_MIXED,  /* one or the other, by chance: for tests */
};

struct pawl_runtime_options {
    /* What other processes and later ones know this node by: one that joins with it takes over what
     * the one before had, at once. "": none, it gets an id that nobody else has. */
    struct pawl_str node_id;
    struct pawl_str node_prefix; /* what an id that is made begins with; "": nothing */
    struct pawl_str info;        /* JSON for people who look at nodes; "": none */
    int64_t lease_us;            /* 0: 10 s */
    const struct pawl_log *log;
    struct pawl_runtime_hooks hooks;
    /* Sends what workflows ask for; borrowed. NULL: they learn that this host does not. */
    struct pawl_http_executor *http;
    /* Who is asked before an instance is touched; borrowed. NULL: nobody, this is one node. */
    struct pawl_guard *guard;
    struct pawl_definitions_options definitions;
    enum pawl_delivery delivery;
    /* Nothing runs before its instance is claimed (docs/design/0022-visits.md): where functions of
     * the host run within bursts, which may do or break anything. */
    bool claims_first;
    bool works_itself;     /* without a pool: whoever sends does due work, soon */
    uint32_t direct_max;   /* direct deliveries at a time; more become rows. 0: 128 */
    uint32_t committers;   /* threads; 0: 1 */
    uint32_t commit_batch; /* commits that go to the store together, at the most; 0: 128 */
    int64_t stimulus_us;   /* how long one that matches nothing waits; 0: 10 min */
    uint32_t attempts_max; /* of a piece of work before it is a dead letter; 0: 3 */
    uint32_t depth_max;    /* of children within children; 0: 100 */
    /* One activity, or one function of the host, that has not come back after this is given up: its
     * instance is set aside, its thread is left to itself (it cannot be ended). 0: 5 min. */
    int64_t step_us;
    /* Log records of an instance that are kept; 0: 100,000. When there are more the oldest pages
     * go, and the record "Truncated" stands in their place. */
    int64_t journal_max;
    /* It begins nothing while an operator has paused it, or all nodes (node/pause.h). */
    bool heeds_pauses;
    /* It reads, and is no node: nothing is joined, and calls that write or run something fail with
     * PAWL_EINVAL. */
    bool looks_only;
    uint64_t seed;     /* of ids, also of definitions; 0: from entropy */
    bool no_journal;   /* log and records go to the hook only */
    bool step_commits; /* commits and reopens after every step of a burst: for tests */
};

/* Joins the store as a node, unless it only looks. Borrows env, engine, store and log. `options`
 * NULL: the defaults. */
PAWL_MUST_CHECK int pawl__runtime_open(struct pawl_env *env, const struct pawl_engine *engine,
                                       struct pawl_store *store,
                                       const struct pawl_runtime_options *options,
                                       struct pawl_runtime **out, struct pawl_error *err);
/* When no call is in progress. Leaves the store. NULL allowed. */
void pawl__runtime_close(struct pawl_runtime *runtime);

/*
 * Drains: for good, from any thread. Bursts end at their next activity boundary, committed as they
 * are and released, so that another node goes on with them; nothing is begun any more, calls that
 * would run an instance return PAWL_ESTOPPED. What is started meanwhile is stored and left to
 * others. The same happens by itself, for as long as it lasts, to a node whose lease is over by its
 * own clock.
 */
void pawl__runtime_stop(struct pawl_runtime *runtime);
bool pawl__runtime_is_stopping(const struct pawl_runtime *runtime);

/*
 * Whether all that the node has in memory fits together (node/invariants.c); if not, `why` says
 * what does not. For simulations and tests, which know that nobody else runs: it takes no mutex.
 * What is guarded by one that is not free is left out: somebody is changing it.
 */
bool pawl__runtime_check_invariants(const struct pawl_runtime *runtime,
                                    bool (*is_free)(const struct pawl_mutex *mutex), char *why,
                                    size_t size);
/*
 * Before a runtime is closed, without a call under way and without workers: whether it has let go
 * of everything. Ends what its keeper does besides renewing the lease.
 */
bool pawl__runtime_check_idle(struct pawl_runtime *runtime, char *why, size_t size);

/*
 * PAWL_OK while this node may work, now or after its next lease. PAWL_ECONFLICT: another process
 * has joined under its `node_id` and lives; this one drains, and begins nothing more.
 */
PAWL_MUST_CHECK int pawl__runtime_check(struct pawl_runtime *runtime, struct pawl_error *err);

/* Whether the node's lease holds at this moment, by its own clock. */
bool pawl__runtime_has_lease(struct pawl_runtime *runtime);

struct pawl_definitions *pawl__runtime_definitions(struct pawl_runtime *runtime);
struct pawl_store *pawl__runtime_store(struct pawl_runtime *runtime);
/* The name of this node; "": it is none. */
const char *pawl__runtime_node_id(const struct pawl_runtime *runtime);
/* Which of the store's nodes this is; 0: none. */
int64_t pawl__runtime_incarnation(const struct pawl_runtime *runtime);

/*
 * Who is told of every commit of this node that changed an instance: after it, on the thread that
 * committed. It must be short and must not call the runtime. One at a time; NULL: nobody, and when
 * this returns nobody is being called any more. Nobody to tell costs a commit one load.
 */
void pawl__runtime_listen(struct pawl_runtime *runtime, pawl_changed_fn *changed, void *ctx);

/* ---- starting ------------------------------------------------------------------------------ */

/*
 * The instance as the last commit of a start stored it, so that its caller need not read it again:
 * its row, without the bytes of its state and counts, and its state.
 */
struct pawl_left {
    struct pawl_arena *arena; /* the caller's, where the texts are */
    bool is_known;            /* false: it has not come to rest, or has gone on since */
    struct pawl_instance_row row;
    struct pawl_json state;
};

/*
 * Creates an instance and runs its first burst: one transaction for a short workflow.
 * PAWL_ENOTFOUND: no such definition, or none published. PAWL_EEXISTS: an instance with this id is
 * there. PAWL_EPARSE: the definition cannot be loaded. PAWL_EUNKNOWN: it may have begun, and then
 * goes on with the work that is due, here or on another node; whatever fails behind its first
 * commit is that. A request that the burst awaits is waited for until the deadline: then the
 * instance goes on by itself and `out` shows it as executing.
 */
PAWL_MUST_CHECK int pawl__runtime_start(struct pawl_runtime *runtime,
                                        const struct pawl_start *start, struct pawl_outcome *out,
                                        int64_t deadline_ns, struct pawl_error *err);
/* Creates it, pending; it runs as soon as somebody does the work that is due. PAWL_EUNKNOWN: it may
 * be there. */
PAWL_MUST_CHECK int pawl__runtime_create(struct pawl_runtime *runtime,
                                         const struct pawl_start *start, struct pawl_outcome *out,
                                         int64_t deadline_ns, struct pawl_error *err);

/* ---- one instance -------------------------------------------------------------------------- */

/*
 * Calls that belong together. Variables of the Memory driver keep their values from one burst of an
 * instance to its next in the same request, and have their defaults again in the next request; a
 * burst that belongs to none is one of its own. Used by one call at a time.
 */
struct pawl_request {
    struct pawl_arena arena;
    struct pawl_map kept; /* struct pawl_json by instance id */
};

/* Borrows the allocator. Nothing fails until something is kept. */
void pawl__request_init(struct pawl_request *request, const struct pawl_allocator *alloc);
void pawl__request_release(struct pawl_request *request);

/*
 * Runs an instance now. A bookmark that is not there runs an empty burst; a finished instance is
 * left as it is: both return PAWL_OK. PAWL_ENOTFOUND; PAWL_ETIMEDOUT: another node ran it until the
 * deadline; PAWL_EUNKNOWN: it was resumed, and what came then failed.
 */
PAWL_MUST_CHECK int pawl__runtime_run(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                      const struct pawl_run *run, struct pawl_outcome *out,
                                      int64_t deadline_ns, struct pawl_error *err);
/*
 * Asks for the cancellation of an instance and of its children. It takes effect now if nobody runs
 * the instance, else at the next activity boundary. PAWL_ENOTFOUND. A finished one stays as it is.
 */
PAWL_MUST_CHECK int pawl__runtime_cancel(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                         int64_t deadline_ns, struct pawl_error *err);
/* The same without its children, which go on. */
PAWL_MUST_CHECK int pawl__runtime_cancel_one(struct pawl_runtime *runtime,
                                             struct pawl_str instance_id, int64_t deadline_ns,
                                             struct pawl_error *err);
/*
 * An operator's alterations (engine/run/alter.h), all or none, by whoever has the claim; then
 * what they scheduled runs. One commit says what was altered, before anything runs. `log` (NULL
 * allowed) gets {"message", "logLevel", "timestamp", "eventName"} of each, in `arena`. With
 * `dry_run` nothing is claimed or written: `log` says what they would do, `out` how the instance
 * stands.
 *
 * PAWL_EINVAL: not alterations; PAWL_ENOTFOUND: no such instance, version, activity or variable;
 * PAWL_ECONFLICT: not on an instance that stands where this one does; PAWL_ETIMEDOUT: another had
 * it until the deadline; PAWL_EUNKNOWN: they may have taken effect, or they have, as the message
 * says then, and what they began failed.
 */
PAWL_MUST_CHECK int pawl__runtime_alter(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                        const struct pawl_json *alterations, bool dry_run,
                                        struct pawl_arena *arena, struct pawl_json *log,
                                        struct pawl_outcome *out, int64_t deadline_ns,
                                        struct pawl_error *err);
/*
 * Runs activities that have faulted once more: those with these ids (of the activity or of its
 * execution), or all. What reopens a faulted instance; the journal says so. Without ids one that
 * was put off goes on. PAWL_ENOTFOUND; PAWL_ECONFLICT: nothing has faulted; PAWL_ETIMEDOUT;
 * PAWL_EUNKNOWN: as of pawl__runtime_alter(), or it is put off no more, and running it failed.
 */
PAWL_MUST_CHECK int pawl__runtime_retry(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                        const struct pawl_str *activity_ids, size_t count,
                                        struct pawl_outcome *out, int64_t deadline_ns,
                                        struct pawl_error *err);
/* With everything that belongs to it; nothing brings it back. PAWL_ENOTFOUND, PAWL_ETIMEDOUT. */
PAWL_MUST_CHECK int pawl__runtime_delete(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                         int64_t deadline_ns, struct pawl_error *err);

/* Whether the bytes of a row's state are those that were written, as far as its checksum says. */
bool pawl__runtime_is_state_sound(const struct pawl_instance_row *row);
/* Whether the counts of a row can be read: PAWL_ECORRUPT, PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__runtime_check_counts(const struct pawl_allocator *alloc,
                                               const struct pawl_instance_row *row);
/* Whether a page of the journal can be read and has as many records as its row counts:
 * PAWL_ECORRUPT, PAWL_ENOMEM. One that a newer Pawl has written is not looked into. */
PAWL_MUST_CHECK int pawl__runtime_check_page(const struct pawl_allocator *alloc,
                                             const struct pawl_journal_row *row);
/* Whether mail that finds the instance ended is kept until it is reopened: what its children and
 * jobs tell a faulted one, which is told once. */
bool pawl__runtime_keeps_mail(const struct pawl_instance_row *row,
                              const struct pawl_work_row *mail);
/* The row and its state as Elsa would show it, in `arena`; `state` NULL allowed. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__runtime_show(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                       struct pawl_arena *arena, struct pawl_instance_row *row,
                                       struct pawl_json *state, int64_t deadline_ns,
                                       struct pawl_error *err);
/*
 * The variables of the workflow that are declared or were given to its start, as an array of
 * {"id", "name", "value"?} in `arena`. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__runtime_variables(struct pawl_runtime *runtime,
                                            struct pawl_str instance_id, struct pawl_arena *arena,
                                            struct pawl_json *out, int64_t deadline_ns,
                                            struct pawl_error *err);
/* Log records and activity records, oldest first, as arrays. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__runtime_journal(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                          struct pawl_arena *arena, struct pawl_json *log,
                                          struct pawl_json *records, int64_t deadline_ns,
                                          struct pawl_error *err);
/* Which records of a log. A list that is NULL does not narrow; one without members matches nothing,
 * but for excluded_types. */
struct pawl_journal_request {
    uint64_t offset; /* records that match and are passed over */
    uint32_t limit;
    bool newest_first;
    bool with_total; /* with a filter: count all that match, else 0 or more is said */
    const struct pawl_str *activity_ids, *node_ids, *events, *excluded_types;
    size_t activity_id_count, node_id_count, event_count, excluded_type_count;
};
/*
 * A page of the log records, in `arena`. Without a filter it costs the same wherever it is, and
 * `total` is always that of all records; with one every record before the page is looked at.
 * An instance that is not there has no records.
 */
PAWL_MUST_CHECK int pawl__runtime_journal_page(struct pawl_runtime *runtime,
                                               struct pawl_str instance_id,
                                               const struct pawl_journal_request *request,
                                               struct pawl_arena *arena, struct pawl_json *log,
                                               uint64_t *total, int64_t deadline_ns,
                                               struct pawl_error *err);
/*
 * Takes over an instance that was exported: {"workflowState":…, "bookmarks":…, …} as Elsa or Pawl
 * write it. Starts nothing; overdue timers are due at once. PAWL_EEXISTS, PAWL_EPARSE,
 * PAWL_ENOTFOUND: the version of its definition is not here.
 */
PAWL_MUST_CHECK int pawl__runtime_import(struct pawl_runtime *runtime,
                                         const struct pawl_json *exported, struct pawl_outcome *out,
                                         int64_t deadline_ns, struct pawl_error *err);
/*
 * The counterpart, in `arena`: {"WorkflowState", "Bookmarks", "ActivityExecutionRecords",
 * "WorkflowExecutionLogRecords"} with Elsa's keys and nothing of Pawl's own. Timers are in it as
 * bookmarks; mail that has not been delivered is not. The instance stays. PAWL_ENOTFOUND;
 * PAWL_EBUSY: it is in the middle of a burst; PAWL_ELIMIT: it is larger than the arena may be.
 */
PAWL_MUST_CHECK int pawl__runtime_export(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                         struct pawl_arena *arena, struct pawl_json *out,
                                         int64_t deadline_ns, struct pawl_error *err);
/* The same with some parts. Without records of either kind its journal is not read at all. */
PAWL_MUST_CHECK int pawl__runtime_export_parts(struct pawl_runtime *runtime,
                                               struct pawl_str instance_id,
                                               const struct pawl_instance_export *parts,
                                               struct pawl_arena *arena, struct pawl_json *out,
                                               int64_t deadline_ns, struct pawl_error *err);

/* What `id_hash` of the row is that has the execution of this id; 0: the id tells nothing. */
int64_t pawl__runtime_hash_of_execution(struct pawl_str id);

/* ---- stimuli ------------------------------------------------------------------------------- */

/* What a stimulus starts or resumes, by the row of work that does it. */
struct pawl_reached {
    struct pawl_str instance_id;
    struct pawl_str work_id; /* gone: it was done, or given up */
    bool is_started;
    /* Delivered by the sender itself, and the instance came to rest: nobody need wait for it. */
    bool has_rested;
    enum pawl_sub_status sub_status; /* then */
    int64_t incident_count;
};

/* Of the first match: at most PAWL_REACH_MAX bookmarks, and all triggers. The caller's arena. */
struct pawl_reach {
    struct pawl_arena *arena;
    struct pawl_reached *items;
    size_t count, cap;
};
#define PAWL_REACH_MAX 500u

/* Texts "" when not given. Borrowed for the call. */
struct pawl_stimulus {
    struct pawl_str hash;
    struct pawl_str correlation_id; /* only instances with it; new ones get it */
    struct pawl_str instance_id;    /* only this instance: starts nothing */
    struct pawl_str activity_instance_id;
    /* A bookmark of that instance that matches all of this and that the caller has just found: it
     * is tried before anything is looked up. "": none. */
    struct pawl_str bookmark_id;
    int64_t bookmark_created_us;
    struct pawl_json input;
    struct pawl_str idempotency_key; /* a second one with the same key does nothing; of another
                                      * event it is refused with PAWL_ECONFLICT */
    bool detached;                   /* stored, and delivered by whoever does due work */
    struct pawl_str traceparent;     /* of whoever sends it, for traces; "": not known */
    bool first_wins;          /* with another input it is the same stimulus: the first one counts */
    bool is_request;          /* somebody waits for its reply: it is not parked. PAWL_ENOTFOUND */
    struct pawl_reach *reach; /* what it reached is added there; NULL: nobody asks */
};

struct pawl_sent {
    uint32_t started; /* instances that will be started */
    uint32_t resumed; /* bookmarks that will be resumed */
    bool parked;      /* nothing matched: it waits */
    bool was_sent;    /* before, with its key: nothing happened now */
    bool was_settled; /* it was delivered, by a commit whose outcome was learned afterwards */
};

/*
 * Accepts a stimulus: when this returns PAWL_OK it is durable. Matched at once; what it starts and
 * resumes is work that is due, or was delivered by this call (enum pawl_delivery): then the burst
 * has run up to its end, its first effect that blocks, or its first yield. `out` NULL allowed; all
 * 0 when it could not be matched yet. Of one that was sent before with its key, what that did.
 */
PAWL_MUST_CHECK int pawl__runtime_send(struct pawl_runtime *runtime,
                                       const struct pawl_stimulus *stimulus, struct pawl_sent *out,
                                       int64_t deadline_ns, struct pawl_error *err);
/* The stimulus of an event. `payload` NULL: none. The other members of `stimulus` count. */
PAWL_MUST_CHECK int pawl__runtime_send_event(struct pawl_runtime *runtime, struct pawl_str name,
                                             const struct pawl_json *payload,
                                             const struct pawl_stimulus *stimulus,
                                             struct pawl_sent *out, int64_t deadline_ns,
                                             struct pawl_error *err);
/*
 * A task of RunTask was done, with this result (NULL: none): durable when this returns PAWL_OK.
 * Reporting again does nothing and returns, for a day, what the first report did, also when the
 * instance has gone on or ended since. PAWL_ENOTFOUND: nobody waits for it, and nobody reported it.
 * Nothing is parked: a task's id is known only after the commit that made its bookmark. `detached`
 * as of a stimulus. `out` NULL allowed.
 */
PAWL_MUST_CHECK int pawl__runtime_report_task(struct pawl_runtime *runtime, struct pawl_str task_id,
                                              const struct pawl_json *result, bool detached,
                                              struct pawl_sent *out, int64_t deadline_ns,
                                              struct pawl_error *err);

/* ---- dead letters -------------------------------------------------------------------------- */

/*
 * Work that was given up becomes due again, with no attempts so far; its letter is marked. Once per
 * letter, however many try: PAWL_ECONFLICT otherwise, and for mail of an instance that is gone.
 * Should it fail again, that is another letter. `work_id` (NULL allowed) gets the id of the work.
 * PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__runtime_replay(struct pawl_runtime *runtime, struct pawl_str letter_id,
                                         char work_id[PAWL_UUID_HEX_SIZE], int64_t deadline_ns,
                                         struct pawl_error *err);
/* Nobody can replay it any more. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__runtime_drop_letter(struct pawl_runtime *runtime,
                                              struct pawl_str letter_id, int64_t deadline_ns,
                                              struct pawl_error *err);

/* ---- work that is due ---------------------------------------------------------------------- */

/*
 * Takes up to `limit` pieces of work that are due and does them, one after the other. What fails is
 * tried again later and then becomes a dead letter; an error here means that the store could not be
 * asked.
 */
PAWL_MUST_CHECK int pawl__runtime_work(struct pawl_runtime *runtime, uint32_t limit,
                                       struct pawl_worked *out, int64_t deadline_ns,
                                       struct pawl_error *err);
/*
 * The same until nothing is due and no request is under way, or until the hook says stop; `done`
 * counts all of it. No round is begun after the deadline (PAWL_ETIMEDOUT: there was still work);
 * one that has begun is finished, and a request is waited for until then.
 */
PAWL_MUST_CHECK int pawl__runtime_drain(struct pawl_runtime *runtime, struct pawl_worked *out,
                                        int64_t deadline_ns, struct pawl_error *err);

#endif
