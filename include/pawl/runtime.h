/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pawl in a program of yours: open a store, publish definitions, start instances, send events.
 *
 *     #include <pawl/pawl.h>
 *     #include <stdio.h>
 *
 *     static void print_line(void *ctx, const char *instance_id, const char *text)
 *     {
 *         printf("%s\n", text);
 *     }
 *
 *     static const char definition[] =
 *         "{\"definitionId\": \"hello\", \"root\": {\"type\": \"Elsa.WriteLine\", \"text\":"
 *         " {\"typeName\": \"String\", \"expression\":"
 *         "  {\"type\": \"Literal\", \"value\": \"Hello\"}}}}";
 *
 *     int main(void)
 *     {
 *         struct pawl_error err = PAWL_ERROR_INIT;
 *         struct pawl_options options = {.store = "sqlite:hello.db", .line = print_line};
 *         struct pawl_start_options start = {.definition_id = "hello"};
 *         struct pawl_instance_outcome outcome;
 *         struct pawl *pawl = NULL;
 *         int status = pawl_open(&options, &pawl, &err);
 *
 *         if (status == PAWL_OK)
 *             status = pawl_definition_publish(pawl, definition, NULL, NULL, NULL, &err);
 *         if (status == PAWL_OK)
 *             status = pawl_instance_start(pawl, &start, &outcome, &err);
 *         if (status == PAWL_OK)
 *             printf("%s: %s\n", outcome.instance_id, pawl_instance_status_name(outcome.status));
 *         else
 *             fprintf(stderr, "%s\n", err.msg);
 *         pawl_close(pawl);
 *         return status == PAWL_OK ? 0 : 1;
 *     }
 *
 * The composition is that of the program `pawl`: both may work on one store at the same time, and
 * so may any number of processes and of struct pawl within one process, which never meet but there.
 *
 * Who does the work. What is to be done later (an event that was delivered, a timer, a child) is a
 * row of the store that is due until somebody has done it. With `workers` in the options, threads
 * of the library do it, after they have loaded what is in the folder of the setting
 * `definitions.folder`, and drop what the settings `retention.*` do not keep; without, the program
 * does what is due, on its own threads: pawl_work(), pawl_drain().
 * Starting and resuming run the instance on the caller's thread until it waits or ends.
 *
 * Threads. Any call may be made from any thread at any time, but for pawl_close(), which comes
 * last. Callbacks come on whichever thread runs an instance; they may call what is declared here,
 * but pawl_close(), and see to their own locking. The instance that a callback is for is in hand
 * meanwhile: running or deleting it from there would wait for itself, and times out.
 *
 * Processes. After a fork a struct pawl is the parent's: in the child every call with it is
 * PAWL_EINVAL, and pawl_close() does nothing.
 *
 * Text is UTF-8 and NUL-terminated, JSON is text; what is not UTF-8 is PAWL_EINVAL, with which
 * argument it is. Arguments are borrowed for the call; NULL is "not
 * given" where that makes sense, "" is the same. What a callback is given is borrowed from the
 * library until it returns. A `char **` that is answered belongs to the caller: pawl_text_free().
 *
 * Errors. int: PAWL_OK or a negative code with a message in `err` (NULL allowed); see
 * <pawl/error.h> for the classes that say what to do next. Misuse (a NULL where there must be
 * something) is PAWL_EINVAL. On failure outputs are unwritten. When a call that changes something
 * answers PAWL_OK, the change is durable: nothing that dies undoes it. Calls that reach the store
 * may answer, besides what is said at each: PAWL_ETIMEDOUT, PAWL_EBUSY, PAWL_EUNAVAILABLE,
 * PAWL_ENOMEM (again later), PAWL_EUNKNOWN (look first), PAWL_EIO, PAWL_ECORRUPT.
 *
 * Activities written in C: <pawl/activity.h>.
 */
#ifndef PAWL_RUNTIME_H
#define PAWL_RUNTIME_H

#include <pawl/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pawl;
struct pawl_activity_type; /* <pawl/activity.h> */
struct pawl_distributed_options;
struct pawl_env; /* <pawl/ext/env.h> */
struct pawl_log; /* <pawl/ext/log.h> */

/* Bytes of an instance id, its NUL included; of the id of a definition or a version. */
#define PAWL_INSTANCE_ID_SIZE 128
#define PAWL_DEFINITION_ID_SIZE 256
#define PAWL_WORKER_COUNT_MAX 256

/* ---- opening ------------------------------------------------------------------------------- */

/* All zero: the defaults. Borrowed for the call, but for what says otherwise. */
struct pawl_options {
    /* Where instances are kept: "memory:", "sqlite:PATH" (or PATH), "postgres://…". NULL: what the
     * setting `store` says, "sqlite:pawl.db" by default. Tables are made when there are none. */
    const char *store;
    /* Name of this node, kept over restarts, unlike any other at the same time. NULL: a new one.
     * Of two processes that have the same name the later one stays: calls of the earlier one that
     * run something fail with PAWL_ECONFLICT, and its workers end. */
    const char *node_id;
    uint32_t workers;   /* threads that do what is due; 0: none, the program does it */
    int64_t lease_ms;   /* how long others wait for a node that died; 0: 10,000; at least 1,000 */
    int64_t timeout_ms; /* how long calls wait for the store or a busy instance; 0: 30,000 */

    /* Any setting that `pawl help settings` lists, as "name=value": limits of scripts, of memory,
     * of connections. Members above are stronger. */
    const char *const *settings;
    size_t setting_count;
    /* A file of settings; stronger are `settings`. NULL: none; variables are not looked at. */
    const char *config_file;

    /* Activities of the program's own. Borrowed with all they point to until pawl_close(). */
    const struct pawl_activity_type *activities;
    size_t activity_count;

    /* A line of WriteLine, after its commit. It may come twice after a crash. NULL: nowhere. */
    void (*line)(void *ctx, const char *instance_id, const char *text);
    /*
     * A task (RunTask) wants doing: note it and return; whoever did it calls pawl_task_report(),
     * here or in another process, days later if need be. `payload` is JSON, "null" when there is
     * none. It may come twice after a crash, with the same id. NULL: tasks are reported by whoever
     * finds their ids in the store.
     */
    void (*task)(void *ctx, const char *instance_id, const char *task_id, const char *task_name,
                 const char *payload);
    void *ctx; /* of the callbacks above */

    /* Both borrowed until pawl_close(). */
    struct pawl_env *env;       /* clocks, memory, threads; NULL: the operating system's */
    const struct pawl_log *log; /* NULL: no log */

    /* Several nodes share the store; see pawl_use_distributed_runtime(). NULL: as settings say. */
    const struct pawl_distributed_options *distributed;
};

/* All zero: the defaults. Each is a setting too, in brackets. */
struct pawl_distributed_options {
    const char *lock;           /* URI of the lock service; NULL: the store's own [lock] */
    int64_t acquire_timeout_ms; /* for an instance's lock; 0: 10,000 [lock.acquire_timeout] */
    int64_t retry_delay_ms;     /* doubled each time; 0: 500 [lock.retry_delay] */
    int retry_count;            /* 0: 3; negative: none [lock.retries] */
    uint32_t partitions;        /* of the work that is due; 0: 1 [queue.partitions] */
    int allow_local;            /* 1: locks need not reach all nodes [lock.allow_local] */
};

/*
 * Makes a node of a cluster of what is opened with these options: whatever touches an instance does
 * so under its lock, and nodes take turns where one is enough. What is safe without that stays so;
 * what the workflows do stays the same. `distributed` is borrowed until pawl_open() returns; NULL:
 * the defaults. Nothing is opened here.
 */
PAWL_API void pawl_use_distributed_runtime(struct pawl_options *options,
                                           const struct pawl_distributed_options *distributed);

/*
 * Joins the store as a node. `options` NULL: the defaults. PAWL_EINVAL: an option that is none, or
 * an activity that does not hang together; PAWL_EEXISTS: its type is taken; what the store answers.
 */
PAWL_API PAWL_MUST_CHECK int pawl_open(const struct pawl_options *options, struct pawl **out,
                                       struct pawl_error *err);
/*
 * When no other call is in progress. Workers finish what they have begun; what is due stays due for
 * others, and for next time. NULL allowed.
 */
PAWL_API void pawl_close(struct pawl *pawl);

/* A text that a call here answered. NULL allowed. */
PAWL_API void pawl_text_free(struct pawl *pawl, char *text);

/* ---- work ---------------------------------------------------------------------------------- */

struct pawl_work_done {
    uint32_t count;      /* pieces of work that were done, or tried */
    int64_t next_due_ms; /* from now until the next is due by its time; INT64_MAX: none is */
    uint64_t seen;       /* of pawl_work_wait(); 0 at first, then left alone */
};

/*
 * Does up to `limit` (0: a good many) pieces of work that are due and answers. `out` NULL allowed.
 * Work that fails is tried again later and then kept as a dead letter; that is no error here.
 */
PAWL_API PAWL_MUST_CHECK int pawl_work(struct pawl *pawl, uint32_t limit,
                                       struct pawl_work_done *out, struct pawl_error *err);
/*
 * The same until nothing is due; `out` counts all of it. PAWL_ETIMEDOUT: there was still something
 * after `timeout_ms`.
 */
PAWL_API PAWL_MUST_CHECK int pawl_drain(struct pawl *pawl, int64_t timeout_ms,
                                        struct pawl_work_done *out, struct pawl_error *err);
/*
 * Waits until work may be due, at most `timeout_ms`: for a thread that has nothing else to do.
 * `last` is what pawl_work() answered there before. PAWL_OK: look again; PAWL_ETIMEDOUT.
 *
 *     struct pawl_work_done done = {0, 0, 0};
 *
 *     while (status == PAWL_OK && !stop) {
 *         status = pawl_work(pawl, 0, &done, &err);
 *         if (status == PAWL_OK && done.count == 0) {
 *             status = pawl_work_wait(pawl, &done, 1000, &err);
 *             if (status == PAWL_ETIMEDOUT)
 *                 status = PAWL_OK;
 *         }
 *     }
 */
PAWL_API PAWL_MUST_CHECK int pawl_work_wait(struct pawl *pawl, struct pawl_work_done *last,
                                            int64_t timeout_ms, struct pawl_error *err);

/* ---- definitions --------------------------------------------------------------------------- */

enum pawl_definition_problem_level {
    PAWL_DEFINITION_WARNING = 0, /* it runs, but not as written */
    PAWL_DEFINITION_ERROR = 1,   /* an activity will fault, or do nothing */
    PAWL_DEFINITION_INVALID = 2  /* it is not published */
};

struct pawl_definition_problem {
    enum pawl_definition_problem_level level;
    const char *pointer;     /* JSON pointer into the definition; "" for the whole */
    const char *activity_id; /* "" when it is of none */
    const char *message;
};

struct pawl_published {
    char definition_id[PAWL_DEFINITION_ID_SIZE];
    char version_id[PAWL_DEFINITION_ID_SIZE];
    int64_t version;
};

/*
 * Stores a definition, JSON as Elsa Workflows 3 exports it, as a new version and publishes it: from
 * now on it is the one that is started. Instances that run keep theirs. What is wrong with it is
 * told to `problem` (NULL allowed), called with `ctx` before this returns. `out` NULL allowed.
 * PAWL_EPARSE: not JSON, or not a definition. PAWL_EINVAL: a problem that is INVALID; the version
 * is kept as a draft.
 */
PAWL_API PAWL_MUST_CHECK int
pawl_definition_publish(struct pawl *pawl, const char *json,
                        void (*problem)(void *ctx, const struct pawl_definition_problem *problem),
                        void *ctx, struct pawl_published *out, struct pawl_error *err);

/* ---- instances ----------------------------------------------------------------------------- */

enum pawl_instance_status {
    PAWL_INSTANCE_PENDING = 0, /* created, not begun */
    PAWL_INSTANCE_EXECUTING = 1,
    PAWL_INSTANCE_SUSPENDED = 2, /* waits for something */
    PAWL_INSTANCE_FINISHED = 3,
    PAWL_INSTANCE_CANCELLED = 4,
    PAWL_INSTANCE_FAULTED = 5,
    PAWL_INSTANCE_INTERRUPTED = 6 /* taken over from an Elsa that stopped it; it will go on */
};

/* "Suspended" and so on; "?" for a number that is none. */
PAWL_API const char *pawl_instance_status_name(enum pawl_instance_status status);
/* 1: finished, cancelled or faulted; else 0. */
PAWL_API int pawl_instance_status_is_final(enum pawl_instance_status status);

/* How a call left an instance. */
struct pawl_instance_outcome {
    char instance_id[PAWL_INSTANCE_ID_SIZE];
    enum pawl_instance_status status;
    int64_t incident_count; /* activities that faulted */
    int64_t bookmark_count; /* what it waits for */
    int existed;            /* start: the key was known, nothing was started */
};

struct pawl_start_options {
    const char *definition_id; /* the published version of it is started */
    const char *input;         /* a JSON object; NULL: {} */
    const char *instance_id;   /* NULL: a new one */
    const char *correlation_id;
    const char *name;
    /* Starting again with the same key answers the instance that the first one made. */
    const char *idempotency_key;
    int detached; /* 1: only creates it; it runs when somebody does what is due */
};

/*
 * PAWL_ENOTFOUND: no such definition, or none published. PAWL_EEXISTS: an instance with this id is
 * there. PAWL_EPARSE: the input is not JSON. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_start(struct pawl *pawl,
                                                 const struct pawl_start_options *start,
                                                 struct pawl_instance_outcome *out,
                                                 struct pawl_error *err);
/*
 * Runs an instance: resumes this bookmark (its ids are in the instance's state), or, with NULL, on
 * from where it stands. `input` is a JSON object or NULL. A bookmark that is not there, or a
 * finished instance, is left as it is: PAWL_OK. PAWL_ENOTFOUND. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_resume(struct pawl *pawl, const char *instance_id,
                                                  const char *bookmark_id, const char *input,
                                                  struct pawl_instance_outcome *out,
                                                  struct pawl_error *err);
/*
 * With its children. PAWL_OK: the request is durable. It takes effect now if nobody runs the
 * instance, else at its next activity, wherever it runs; pawl_instance_wait() waits for that. One
 * that has ended stays as it is. PAWL_ENOTFOUND.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_cancel(struct pawl *pawl, const char *instance_id,
                                                  struct pawl_error *err);
/* With its journal and everything else that belongs to it. PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_delete(struct pawl *pawl, const char *instance_id,
                                                  struct pawl_error *err);
/*
 * Waits until an instance has ended, at most `timeout_ms`; without workers it does meanwhile what
 * is due. PAWL_ETIMEDOUT, PAWL_ENOTFOUND. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_wait(struct pawl *pawl, const char *instance_id,
                                                int64_t timeout_ms,
                                                struct pawl_instance_outcome *out,
                                                struct pawl_error *err);

/* Its state as Elsa would show it: bookmarks, incidents, output, … *json is the caller's. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_state(struct pawl *pawl, const char *instance_id,
                                                 char **json, struct pawl_error *err);

enum pawl_instance_journal_kind {
    PAWL_JOURNAL_LOG = 0,       /* what happened, step by step */
    PAWL_JOURNAL_ACTIVITIES = 1 /* one record for each execution of an activity */
};

/* A JSON array, oldest first; *json is the caller's. PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_journal(struct pawl *pawl, const char *instance_id,
                                                   enum pawl_instance_journal_kind kind,
                                                   char **json, struct pawl_error *err);

/* One row of a list. Times are microseconds since 1970 UTC, 0: not yet. Texts "" when there are
 * none. */
struct pawl_instance_info {
    const char *id;
    const char *definition_id;
    const char *version_id;
    const char *parent_id;
    const char *correlation_id;
    const char *name;
    int64_t version;
    enum pawl_instance_status status;
    int64_t incident_count;
    int64_t created_us;
    int64_t updated_us;
    int64_t finished_us;
};

/* All that are given must hold. */
struct pawl_instance_filter {
    const char *definition_id;
    const char *correlation_id;
    const char *parent_id;
    const char *name;
    const enum pawl_instance_status *statuses; /* one of these */
    size_t status_count;                       /* 0: any */
    uint32_t limit;                            /* 0: 100; at most 10,000 */
    /* The page after this one, the last of the page before: its id and created_us count. */
    const struct pawl_instance_info *after;
};

/*
 * Tells each instance that matches to `row` (NULL: none), the newest first; `row` answers 0 to go
 * on, anything else to stop, which is no error. `filter` NULL: all. *total (NULL allowed) is how
 * many match, whatever limit and after say.
 */
PAWL_API PAWL_MUST_CHECK int
pawl_instances_list(struct pawl *pawl, const struct pawl_instance_filter *filter,
                    int (*row)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                    uint64_t *total, struct pawl_error *err);

/* ---- events, stimuli, tasks ---------------------------------------------------------------- */

/* To whom; all NULL: to everybody who waits. */
struct pawl_send_options {
    const char *correlation_id; /* only instances with it; new ones get it */
    const char *instance_id;    /* only this one; starts nothing */
    /* Sending again with the same key does nothing, and returns what the first one did. */
    const char *idempotency_key;
};

struct pawl_send_outcome {
    uint32_t started; /* instances that will be started */
    uint32_t resumed; /* bookmarks that will be resumed */
    int parked;       /* 1: nobody waits for it yet; it waits itself, for ten minutes */
};

/*
 * Sends an event to all that wait for it and to definitions that start by it. PAWL_OK: it is stored
 * and will be delivered by whoever does what is due. `payload` is JSON or NULL; `options` and `out`
 * NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_event_send(struct pawl *pawl, const char *name,
                                             const char *payload,
                                             const struct pawl_send_options *options,
                                             struct pawl_send_outcome *out, struct pawl_error *err);
/*
 * The same for activities of one's own that wait: `name` and `payload` are what was given to
 * pawl_context_wait(). `input` (a JSON object, or NULL) is what their resume function gets.
 */
PAWL_API PAWL_MUST_CHECK int pawl_stimulus_send(struct pawl *pawl, const char *name,
                                                const char *payload, const char *input,
                                                const struct pawl_send_options *options,
                                                struct pawl_send_outcome *out,
                                                struct pawl_error *err);
/*
 * A task was done. `result` is JSON or NULL. Reporting again does nothing, and
 * returns what the first report did. Reported before anybody
 * waits for it (`out` says parked), it waits ten minutes.
 */
PAWL_API PAWL_MUST_CHECK int pawl_task_report(struct pawl *pawl, const char *task_id,
                                              const char *result, struct pawl_send_outcome *out,
                                              struct pawl_error *err);

#ifdef __cplusplus
}
#endif
#endif
