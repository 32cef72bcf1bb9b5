/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pawl in your own program: open a store, publish definitions, start instances, send events.
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
 * A struct pawl is put together like the program `pawl`. Both may use one store at the same time,
 * and so may any number of processes, and of struct pawl within one process; they share nothing but
 * the store.
 *
 * Work. What is to be done later (an event that was sent, a timer, a child) is a row of the
 * store that stays due until somebody has done it. With `workers` in the options, threads of the
 * library do it, after they have loaded the definitions in the folder `definitions.folder` (a
 * setting), and they delete what the settings `retention.*` do not keep. Without workers the
 * program does due work on its own threads: pawl_work(), pawl_drain(). Starting or resuming an
 * instance runs it on the caller's thread until it waits or ends; and with workers so does sending
 * an event to an instance that nobody runs.
 *
 * Threads. Any call may be made from any thread at any time, except pawl_close(), which comes last.
 * Callbacks run on the thread that runs the instance, which may be one that sends an event: do not
 * hold a lock that they need while you call. They may call anything declared here except
 * pawl_close(), and do their own locking. The instance that a callback is for is busy while the
 * callback runs: running or deleting it from there would wait for itself, and times out.
 *
 * Processes. After a fork a struct pawl belongs to the parent: in the child every call with it
 * returns PAWL_EINVAL, and pawl_close() does nothing.
 *
 * Strings are UTF-8 and NUL-terminated, JSON included; an argument that is not UTF-8 is
 * PAWL_EINVAL, and the message names it. Arguments are borrowed for the call. NULL means "not
 * given" where that makes sense, and so does "". What a callback is given is borrowed from the
 * library until it returns. A string returned through a `char **` belongs to the caller, who frees
 * it with pawl_text_free().
 *
 * Names. A call is pawl_NOUN_VERB(): the singular for one thing, the plural for many. The same act
 * has the same verb here and on the command line, where `rm` deletes and the plural alone lists:
 * pawl_letter_delete() is `pawl deadletters rm`, pawl_letters_list() is `pawl deadletters`.
 *
 * Lists, pawl_…s_list(), all work alike. `filter` NULL: all; members NULL, "" or 0: any; all that
 * are given must match. `row` (NULL allowed) is called for each row, and returns 0 to continue,
 * anything else to stop, which is not an error. Strings of a row are valid until `row` returns;
 * missing ones are "". Times are microseconds since 1970 UTC; 0: none. A page has `limit` rows (0:
 * 100; at most 10,000) from the place `after` on, which is `next` of the page before (NULL: from
 * the first); `end` (NULL allowed) says how the page ended. PAWL_EINVAL: `limit` or `after` is not
 * valid.
 *
 * Bulk changes, such as pawl_instances_delete(), take the same filter, but it must say something:
 * `all` set to 1 where everything is meant, else an empty one is PAWL_EINVAL. `limit` and `after`
 * are ignored. *count (NULL allowed) is how many were changed, also when the call fails: the rest
 * is unchanged then, and calling again continues.
 *
 * Versions of a definition are numbered from 1. Where a version is asked for, PAWL_VERSION_LATEST
 * and PAWL_VERSION_PUBLISHED are those; 0 is the default that the call names.
 *
 * Errors. Calls return PAWL_OK or a negative code, with a message in `err` (NULL allowed); the
 * classes in <pawl/error.h> say what to do next. Misuse (NULL for a required argument) is
 * PAWL_EINVAL. On failure outputs are unwritten. When a call that changes something returns
 * PAWL_OK, the change is durable: no crash undoes it. Calls that reach the store may also return
 * PAWL_ETIMEDOUT, PAWL_EBUSY, PAWL_EUNAVAILABLE, PAWL_ENOMEM (try again later), PAWL_EUNKNOWN
 * (check first), PAWL_EIO and PAWL_ECORRUPT.
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

/* Bytes of an id with its NUL: of an instance; of a definition or a version. */
#define PAWL_INSTANCE_ID_SIZE 128
#define PAWL_DEFINITION_ID_SIZE 256
#define PAWL_WORKER_COUNT_MAX 256

/* In place of a version's number. */
#define PAWL_VERSION_LATEST (-1)
#define PAWL_VERSION_PUBLISHED (-2)

/* ---- opening ------------------------------------------------------------------------------- */

/* All zero: the defaults. Borrowed for the call unless a member says otherwise. */
struct pawl_options {
    /* Where instances are kept: "memory:", "sqlite:PATH" (or PATH), "postgres://…". NULL: what the
     * setting `store` says, "sqlite:pawl.db" by default. Missing tables are created. */
    const char *store;
    /* Name of this node: the same after a restart, and no other running node has it. NULL: a new
     * name. If two processes use one name, the later one wins: calls of the earlier one that run
     * something fail with PAWL_ECONFLICT, and its workers end. */
    const char *node_id;
    uint32_t workers;   /* threads that do due work; 0: none, the program does it */
    int64_t lease_ms;   /* how long others wait for a node that died; 0: 10,000; at least 1,000 */
    int64_t timeout_ms; /* how long calls wait for the store or a busy instance; 0: 30,000 */

    /* Any setting that `pawl help settings` lists, as "name=value": limits of scripts, of memory,
     * of connections. The members above override them. */
    const char *const *settings;
    size_t setting_count;
    /* A file of settings, which `settings` override. NULL: none. The environment is not read. */
    const char *config_file;

    /* The program's own activities. Borrowed, with all they point to, until pawl_close(). */
    const struct pawl_activity_type *activities;
    size_t activity_count;

    /* Called for a line of WriteLine after its commit; after a crash perhaps twice. NULL: dropped.
     */
    void (*line)(void *ctx, const char *instance_id, const char *text);
    /*
     * A workflow asks for a task (RunTask). Note it and return. When it is done, call
     * pawl_task_complete(), in this process or another, days later if need be. `payload` is JSON,
     * "null" when there is none. After a crash it may be called twice, with the same id. NULL: find
     * tasks with pawl_tasks_list().
     */
    void (*task)(void *ctx, const char *instance_id, const char *task_id, const char *task_name,
                 const char *payload);
    void *ctx; /* passed to the callbacks above */

    /* Both borrowed until pawl_close(). */
    struct pawl_env *env;       /* clocks, memory, threads; NULL: the operating system's */
    const struct pawl_log *log; /* NULL: no log */

    /* Several nodes share the store; see pawl_use_distributed_runtime(). NULL: as the settings say.
     */
    const struct pawl_distributed_options *distributed;

    /* Who the program's changes are recorded for (pawl_audit_list()), at most 200 bytes; copied.
     * NULL: "embed". */
    const char *actor;
};

/* All zero: the defaults. The setting of each member is in brackets. */
struct pawl_distributed_options {
    const char *lock;           /* URI of the lock service; NULL: the store's own [lock] */
    int64_t acquire_timeout_ms; /* for an instance's lock; 0: 10,000 [lock.acquire_timeout] */
    int64_t retry_delay_ms;     /* doubled each time; 0: 500 [lock.retry_delay] */
    int retry_count;            /* 0: 3; negative: none [lock.retries] */
    uint32_t partitions;        /* of the work that is due; 0: 1 [queue.partitions] */
    int allow_local;            /* 1: accept a lock that not all nodes see [lock.allow_local] */
};

/*
 * Makes what is opened with these options a node of a cluster: everything that changes an instance
 * holds its lock, and duties that one node is enough for are done by one node at a time. Safety
 * does not depend on it, and workflows behave the same. `distributed` is borrowed until pawl_open()
 * returns; NULL: the defaults. Nothing is opened here.
 */
PAWL_API void pawl_use_distributed_runtime(struct pawl_options *options,
                                           const struct pawl_distributed_options *distributed);

/*
 * Joins the store as a node. `options` NULL: the defaults. PAWL_EINVAL: an unknown or invalid
 * option, or an inconsistent activity; PAWL_EEXISTS: an activity type with that name exists; or an
 * error of the store.
 */
PAWL_API PAWL_MUST_CHECK int pawl_open(const struct pawl_options *options, struct pawl **out,
                                       struct pawl_error *err);
/*
 * No other call may be in progress. Workers finish what they have begun; what is due stays due, for
 * other nodes and for next time. NULL allowed.
 */
PAWL_API void pawl_close(struct pawl *pawl);

/* On whose behalf calls are made. Copied. */
struct pawl_caller {
    const char *actor; /* who, at most 200 bytes; NULL: the actor of the options */
    /*
     * The id under which a change is recorded, at most 200 bytes; NULL: each call gets a new one.
     * One id is one request. Made again, a request that took effect changes nothing: deletions,
     * cancellations and pauses return PAWL_OK, others PAWL_ECONFLICT; a bulk change continues.
     * PAWL_ECONFLICT too if the id belongs to another request.
     */
    const char *request_id;
};

/*
 * The same runtime, for one caller: what is changed through *out is recorded as the caller's. It
 * is cheap, opens nothing and may be used in every call. Close it with pawl_close() before `pawl`.
 */
PAWL_API PAWL_MUST_CHECK int pawl_open_for(struct pawl *pawl, const struct pawl_caller *caller,
                                           struct pawl **out, struct pawl_error *err);

/* Frees a string that a call here returned. NULL allowed. */
PAWL_API void pawl_text_free(struct pawl *pawl, char *text);

/* How a page of a list ended. */
struct pawl_list_end {
    uint64_t total; /* how many match, regardless of limit and after */
    char *next;     /* `after` of the next page; the caller frees it. NULL: this was the last */
};

/* ---- work ---------------------------------------------------------------------------------- */

struct pawl_work_done {
    uint32_t count;      /* pieces of work that were done, or tried */
    int64_t next_due_ms; /* from now until the next piece is due; INT64_MAX: none */
    uint64_t seen;       /* used by pawl_work_wait(); set it to 0 once, then leave it alone */
};

/*
 * Does up to `limit` (0: the default batch) pieces of due work. `out` NULL allowed. Work that fails
 * is tried again later and finally kept as a dead letter; that is not an error here.
 */
PAWL_API PAWL_MUST_CHECK int pawl_work(struct pawl *pawl, uint32_t limit,
                                       struct pawl_work_done *out, struct pawl_error *err);
/*
 * The same until nothing is due and no HTTP request of an instance is in progress; `out` counts all
 * of it. PAWL_ETIMEDOUT: there was still work after `timeout_ms`. PAWL_EUNAVAILABLE: work is due,
 * and this node is paused.
 */
PAWL_API PAWL_MUST_CHECK int pawl_drain(struct pawl *pawl, int64_t timeout_ms,
                                        struct pawl_work_done *out, struct pawl_error *err);
/*
 * Waits until work may be due, at most `timeout_ms`: for a thread that has nothing else to do.
 * `last` is what the last pawl_work() filled in. PAWL_OK: there may be work; PAWL_ETIMEDOUT.
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
    PAWL_DEFINITION_INVALID = 2  /* it cannot be published */
};

struct pawl_definition_problem {
    enum pawl_definition_problem_level level;
    const char *pointer;     /* JSON pointer into the definition; "" for the whole */
    const char *activity_id; /* "": not about an activity */
    const char *message;
};

struct pawl_published {
    char definition_id[PAWL_DEFINITION_ID_SIZE];
    char version_id[PAWL_DEFINITION_ID_SIZE];
    int64_t version;
};

typedef void (*pawl_definition_problem_fn)(void *ctx,
                                           const struct pawl_definition_problem *problem);

/*
 * Stores a definition, JSON as Elsa Workflows 3 exports it, as a new version and publishes it: from
 * now on new instances use it. Running instances keep their version. `problem` (NULL allowed) is
 * called with `ctx` for each problem found, before this returns. `out` NULL allowed. PAWL_EPARSE:
 * not JSON, or not a definition. PAWL_EINVAL: a problem is INVALID; nothing is stored.
 */
PAWL_API PAWL_MUST_CHECK int
pawl_definition_publish(struct pawl *pawl, const char *json,
                        void (*problem)(void *ctx, const struct pawl_definition_problem *problem),
                        void *ctx, struct pawl_published *out, struct pawl_error *err);
/*
 * Stores it as a draft. An existing draft is replaced; after a published version it becomes the
 * next version. `out` NULL allowed. PAWL_EPARSE.
 */
PAWL_API PAWL_MUST_CHECK int pawl_definition_save(struct pawl *pawl, const char *json,
                                                  struct pawl_published *out,
                                                  struct pawl_error *err);
/* Reports the problems that publishing would report, and fails as it would, but stores nothing. */
PAWL_API PAWL_MUST_CHECK int pawl_definition_validate(struct pawl *pawl, const char *json,
                                                      pawl_definition_problem_fn problem, void *ctx,
                                                      struct pawl_error *err);
/*
 * Publishes a stored version; 0: the latest. PAWL_ENOTFOUND. PAWL_EINVAL: a problem is INVALID;
 * nothing is changed.
 */
PAWL_API PAWL_MUST_CHECK int
pawl_definition_publish_version(struct pawl *pawl, const char *definition_id, int64_t version,
                                pawl_definition_problem_fn problem, void *ctx,
                                struct pawl_published *out, struct pawl_error *err);
/* Unpublishes it; running instances go on. PAWL_ENOTFOUND: no version was published. */
PAWL_API PAWL_MUST_CHECK int pawl_definition_retract(struct pawl *pawl, const char *definition_id,
                                                     struct pawl_error *err);
/* Makes a new draft that is a copy of a version; 0: the latest. `out` NULL allowed. PAWL_ENOTFOUND.
 */
PAWL_API PAWL_MUST_CHECK int pawl_definition_revert(struct pawl *pawl, const char *definition_id,
                                                    int64_t version, struct pawl_published *out,
                                                    struct pawl_error *err);

struct pawl_definition_delete_options {
    int64_t version;    /* only this one; 0: all */
    int force;          /* 1: even if instances of it are running; they cannot continue */
    int with_instances; /* 1: also its instances, in whatever state */
};

/* `options` NULL: all versions. PAWL_ENOTFOUND. PAWL_ECONFLICT: instances of it are running. */
PAWL_API PAWL_MUST_CHECK int
pawl_definition_delete(struct pawl *pawl, const char *definition_id,
                       const struct pawl_definition_delete_options *options,
                       struct pawl_error *err);
/* A version as JSON, as it was saved; 0: the latest. The caller frees *json. PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_definition_find(struct pawl *pawl, const char *definition_id,
                                                  int64_t version, char **json,
                                                  struct pawl_error *err);
/* The same, written as Elsa exports it. PAWL_EPARSE: it cannot be loaded. */
PAWL_API PAWL_MUST_CHECK int pawl_definition_export(struct pawl *pawl, const char *definition_id,
                                                    int64_t version, char **json,
                                                    struct pawl_error *err);
/*
 * Imports an exported definition with its ids, version and flags; it is published unless it says
 * otherwise. `out` NULL allowed. PAWL_EEXISTS: that version exists. PAWL_EPARSE: it is not a
 * definition, cannot be loaded, or was kept as a draft because it is not valid. PAWL_EUNSUPPORTED:
 * its tenantId names a tenant; a store belongs to the default tenant.
 */
PAWL_API PAWL_MUST_CHECK int pawl_definition_import(struct pawl *pawl, const char *json,
                                                    struct pawl_published *out,
                                                    struct pawl_error *err);

/* One version. */
struct pawl_definition_info {
    const char *id; /* of the version */
    const char *definition_id;
    const char *name;
    const char *description;
    int64_t version;
    int is_latest;
    int is_published;
    int is_readonly;
    int is_system;
    int usable_as_activity;
    int64_t created_us;
};

struct pawl_definition_filter {
    /* "AllVersions", "Draft", "Latest", "Published", "LatestOrPublished", "LatestAndPublished" or a
     * number; NULL: "Latest". */
    const char *versions;
    const char *definition_id;
    const char *name;   /* exactly this */
    const char *search; /* in its name, description, id or definition id */
    uint32_t limit;
    const char *after;
};

/* By name. `filter` NULL: the latest version of each definition. */
PAWL_API PAWL_MUST_CHECK int
pawl_definitions_list(struct pawl *pawl, const struct pawl_definition_filter *filter,
                      int (*row)(void *ctx, const struct pawl_definition_info *definition),
                      void *ctx, struct pawl_list_end *end, struct pawl_error *err);

/* ---- instances ----------------------------------------------------------------------------- */

enum pawl_instance_status {
    PAWL_INSTANCE_PENDING = 0, /* created, not begun */
    PAWL_INSTANCE_EXECUTING = 1,
    PAWL_INSTANCE_SUSPENDED = 2, /* waits for something */
    PAWL_INSTANCE_FINISHED = 3,
    PAWL_INSTANCE_CANCELLED = 4,
    PAWL_INSTANCE_FAULTED = 5,
    PAWL_INSTANCE_INTERRUPTED = 6 /* imported from an Elsa that stopped it; it will continue */
};

/* "Suspended" and so on; "?" for an unknown value. */
PAWL_API const char *pawl_instance_status_name(enum pawl_instance_status status);
/* 1: finished, cancelled or faulted; else 0. */
PAWL_API int pawl_instance_status_is_final(enum pawl_instance_status status);

/* How a call left an instance. */
struct pawl_instance_outcome {
    char instance_id[PAWL_INSTANCE_ID_SIZE];
    enum pawl_instance_status status;
    int64_t incident_count; /* activities that faulted */
    int64_t bookmark_count; /* what it waits for */
    int existed;            /* start: the key was used before; nothing was started */
    int refused;            /* start with `judged`: the strategy refused it; nothing was started */
};

struct pawl_start_options {
    const char *definition_id; /* its published version is started */
    const char *input;         /* a JSON object; NULL: {} */
    const char *instance_id;   /* NULL: a new one */
    const char *correlation_id;
    const char *name;
    /* Starting again with the same key (at most 1,000 bytes) returns the instance that the first
     * call made. PAWL_ECONFLICT: the first call asked for something else. */
    const char *idempotency_key;
    int detached;            /* 1: only creates it; it runs when somebody does due work */
    int64_t version;         /* 0: the published one */
    const char *version_id;  /* exactly this version, instead of definition_id */
    const char *variables;   /* a JSON object: variables in addition to the declared ones */
    const char *activity_id; /* the activity to run instead of the root */
    const char *parent_id;   /* the instance that it is a child of */
    int judged;              /* 1: the definition's activation strategy may refuse it */
};

/*
 * PAWL_ENOTFOUND: no such definition or activity, or no published version. PAWL_EEXISTS: an
 * instance with this id exists. PAWL_EPARSE: the input is not JSON. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_start(struct pawl *pawl,
                                                 const struct pawl_start_options *start,
                                                 struct pawl_instance_outcome *out,
                                                 struct pawl_error *err);
/*
 * Runs an instance: resumes this bookmark (the instance's state has their ids), or, with NULL,
 * continues from where it stopped. `input` is a JSON object or NULL. If there is no such bookmark,
 * or the instance has ended, nothing happens: PAWL_OK. PAWL_ENOTFOUND. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_resume(struct pawl *pawl, const char *instance_id,
                                                  const char *bookmark_id, const char *input,
                                                  struct pawl_instance_outcome *out,
                                                  struct pawl_error *err);
/*
 * Cancels it with its children. PAWL_OK: the request is durable. It takes effect now if no node
 * runs the instance, else at its next activity, wherever it runs; pawl_instance_wait() waits for
 * that. An instance that has ended is not changed. PAWL_ENOTFOUND.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_cancel(struct pawl *pawl, const char *instance_id,
                                                  struct pawl_error *err);
/* Deletes it with its journal and everything else that belongs to it. PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_delete(struct pawl *pawl, const char *instance_id,
                                                  struct pawl_error *err);
/*
 * Waits until an instance has ended, at most `timeout_ms`; without workers it does due work
 * meanwhile. PAWL_ETIMEDOUT, PAWL_ENOTFOUND. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_wait(struct pawl *pawl, const char *instance_id,
                                                int64_t timeout_ms,
                                                struct pawl_instance_outcome *out,
                                                struct pawl_error *err);

/*
 * The same without a thread that waits: `done` is called once, with PAWL_OK and how it ended, or
 * with a negative code and `outcome` NULL: PAWL_ETIMEDOUT, PAWL_ENOTFOUND, PAWL_ESTOPPED
 * (pawl_close is called), or what the store returned. It is called on a thread of the library, or
 * on this one before the call returns, and must not wait for others of its kind. Somebody must do
 * what is due. When this fails `done` is not called. PAWL_EBUSY: too many wait.
 */
PAWL_API PAWL_MUST_CHECK int
pawl_instance_await(struct pawl *pawl, const char *instance_id, int64_t timeout_ms,
                    void (*done)(void *ctx, int status, const struct pawl_instance_outcome *outcome,
                                 const struct pawl_error *err),
                    void *ctx, struct pawl_error *err);

/* *exists is 1 or 0. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_exists(struct pawl *pawl, const char *instance_id,
                                                  int *exists, struct pawl_error *err);

/*
 * Changes an instance by hand. `alterations` is a JSON array of them, or one, as `pawl alter` takes
 * them: all are applied or none, and then what they scheduled runs. *log (NULL allowed) is a JSON
 * array that says what was done; with `dry_run` what would be, and nothing is. PAWL_EINVAL: not
 * alterations; PAWL_ENOTFOUND: no such instance, version, activity or variable; PAWL_ECONFLICT: not
 * on an instance that stands where this one does; PAWL_EUNKNOWN: they may have taken effect, or
 * they have, as the message says then, and what they began failed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_alter(struct pawl *pawl, const char *instance_id,
                                                 const char *alterations, int dry_run, char **log,
                                                 struct pawl_error *err);
/*
 * Runs activities that have faulted once more: those with these ids, or (`count` 0) all; or goes on
 * with an instance that was set aside. PAWL_ENOTFOUND; PAWL_ECONFLICT: nothing has faulted;
 * PAWL_EUNKNOWN: as of pawl_instance_alter(), or it is set aside no more, and running it failed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_retry(struct pawl *pawl, const char *instance_id,
                                                 const char *const *activity_ids, size_t count,
                                                 struct pawl_instance_outcome *out,
                                                 struct pawl_error *err);

/* A JSON array of {"id", "name", "value"}; empty if it has ended. The caller frees *json. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_variables(struct pawl *pawl, const char *instance_id,
                                                     char **json, struct pawl_error *err);
/* `variables` is a JSON array of {"id", "value"}; all are set or none. PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_set_variables(struct pawl *pawl, const char *instance_id,
                                                         const char *variables,
                                                         struct pawl_error *err);

/*
 * An instance in the form in which Elsa exports one, and back. The instance stays where it is; its
 * definition is needed where it goes. PAWL_ENOTFOUND; export: PAWL_EBUSY, it is in the middle of a
 * burst; import: PAWL_EEXISTS, PAWL_EPARSE; PAWL_EUNSUPPORTED: it is of another tenant;
 * PAWL_ECONFLICT: it is a copy of another instance here and has its bookmarks.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_export(struct pawl *pawl, const char *instance_id,
                                                  char **json, struct pawl_error *err);
PAWL_API PAWL_MUST_CHECK int pawl_instance_import(struct pawl *pawl, const char *json,
                                                  struct pawl_instance_outcome *out,
                                                  struct pawl_error *err);

/* Its state as Elsa would show it: bookmarks, incidents, output, … The caller frees *json. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_show(struct pawl *pawl, const char *instance_id,
                                                char **json, struct pawl_error *err);

enum pawl_instance_journal_kind {
    PAWL_JOURNAL_LOG = 0,       /* what happened, step by step */
    PAWL_JOURNAL_ACTIVITIES = 1 /* one record for each execution of an activity */
};

/*
 * The record of one execution of an activity, by its id alone, as JSON: "workflowInstanceId" says
 * whose. The caller frees *json. PAWL_ENOTFOUND: also if the instance was created by schema version
 * 1.
 */
PAWL_API PAWL_MUST_CHECK int pawl_execution_show(struct pawl *pawl, const char *execution_id,
                                                 char **json, struct pawl_error *err);
/* A JSON array, oldest first: what `pawl journal --json` prints. The caller frees *json.
 * PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_instance_journal(struct pawl *pawl, const char *instance_id,
                                                   enum pawl_instance_journal_kind kind,
                                                   char **json, struct pawl_error *err);

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

struct pawl_instance_filter {
    const char *definition_id;
    const char *correlation_id;
    const char *parent_id;
    const char *name;
    const enum pawl_instance_status *statuses; /* one of these */
    size_t status_count;                       /* 0: any */
    uint32_t limit;
    const char *after;
    int all; /* of bulk changes: 1: an empty filter means all instances */
};

/* The newest first. */
PAWL_API PAWL_MUST_CHECK int
pawl_instances_list(struct pawl *pawl, const struct pawl_instance_filter *filter,
                    int (*row)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                    struct pawl_list_end *end, struct pawl_error *err);

/* Cancels the running instances that match; deletes all that match. */
PAWL_API PAWL_MUST_CHECK int pawl_instances_cancel(struct pawl *pawl,
                                                   const struct pawl_instance_filter *filter,
                                                   uint64_t *count, struct pawl_error *err);
PAWL_API PAWL_MUST_CHECK int pawl_instances_delete(struct pawl *pawl,
                                                   const struct pawl_instance_filter *filter,
                                                   uint64_t *count, struct pawl_error *err);

/* ---- events, stimuli, tasks ---------------------------------------------------------------- */

/* Who receives it; all NULL: every instance that waits for it. */
struct pawl_send_options {
    const char *correlation_id; /* only instances with it; new ones get it */
    const char *instance_id;    /* only this one; starts nothing */
    /* Sending again with the same key does nothing and returns the first outcome. A different event
     * with a key that was used within a day is refused with PAWL_ECONFLICT. */
    const char *idempotency_key;
    int detached; /* 1: only stores it; whoever does due work delivers it */
};

struct pawl_send_outcome {
    uint32_t started; /* instances that will be started */
    uint32_t resumed; /* bookmarks that will be resumed */
    int parked;       /* 1: nothing waits for it yet; it is kept for ten minutes */
};

/*
 * Sends an event to all instances that wait for it and to definitions that it starts. PAWL_OK: it
 * is stored, and delivered when due work is done. An event for one instance that nobody runs is
 * delivered by this call, which runs the workflow on the caller's thread up to where it waits again
 * (unless it is detached, or the setting `delivery` is `rows`). `payload` is JSON or NULL;
 * `options` and `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_event_send(struct pawl *pawl, const char *name,
                                             const char *payload,
                                             const struct pawl_send_options *options,
                                             struct pawl_send_outcome *out, struct pawl_error *err);

/* How an instance that an event started or resumed stands. */
struct pawl_event_instance {
    const char *instance_id;
    int is_started; /* 0: it was resumed */
    /* PAWL_OK: it waits for something, has ended or is set aside; PAWL_ENOTFOUND: it was not
     * started after all, or deleted; PAWL_ETIMEDOUT and others: it goes on, nobody knows how far it
     * is. */
    int result;
    enum pawl_instance_status status; /* where `result` is PAWL_OK */
    int64_t incident_count;
};

/*
 * The same, and waits until what it started or resumed has come to rest, for `timeout_ms` at the
 * most; without workers the caller's thread does the work that is due meanwhile. `each` (NULL
 * allowed) is called for every bookmark and definition that it reached, 500 bookmarks at the most.
 */
PAWL_API PAWL_MUST_CHECK int
pawl_event_send_wait(struct pawl *pawl, const char *name, const char *payload,
                     const struct pawl_send_options *options, int64_t timeout_ms,
                     void (*each)(void *ctx, const struct pawl_event_instance *instance), void *ctx,
                     struct pawl_send_outcome *out, struct pawl_error *err);
/*
 * The same for activities written in C: `name` and `payload` are what was passed to
 * pawl_context_wait(). `input` (a JSON object, or NULL) is passed to their resume function.
 */
PAWL_API PAWL_MUST_CHECK int pawl_stimulus_send(struct pawl *pawl, const char *name,
                                                const char *payload, const char *input,
                                                const struct pawl_send_options *options,
                                                struct pawl_send_outcome *out,
                                                struct pawl_error *err);
/*
 * Reports that a task was done. `result` is JSON or NULL. Reporting again does nothing; for a day
 * it returns the first outcome, even if the workflow has continued since, or PAWL_ECONFLICT if the
 * first report had another result. PAWL_ENOTFOUND: no instance waits for this task, and it was not
 * reported in the last day. A report is never too early: a task's id becomes known only after the
 * commit that waits for it.
 */
PAWL_API PAWL_MUST_CHECK int pawl_task_complete(struct pawl *pawl, const char *task_id,
                                                const char *result, struct pawl_send_outcome *out,
                                                struct pawl_error *err);

/* ---- nodes and the store ------------------------------------------------------------------- */

struct pawl_node_filter {
    const char *node_id; /* also if it is gone */
    int with_gone;       /* 1: also nodes that are gone and have left no work */
    uint32_t limit;
    const char *after;
};

struct pawl_node_info {
    const char *id;
    const char *state;      /* "alive", "paused", "stuck", "gone" */
    int64_t incarnation;    /* a number for each start of its process */
    int64_t lease_left_us;  /* negative: it expired that long ago */
    const char *host;       /* what it reported about itself: */
    int64_t pid;            /* */
    const char *version;    /* */
    int64_t instance_count; /* that it is running */
    int64_t work_count;     /* pieces of work that it has taken and not done */
    const char *paused_by;  /* "": it is not paused, or nobody said */
    const char *reason;     /* of the pause */
    int64_t paused_us;      /* since when; 0: it is not paused */
};

/* By id. */
PAWL_API PAWL_MUST_CHECK int
pawl_nodes_list(struct pawl *pawl, const struct pawl_node_filter *filter,
                int (*row)(void *ctx, const struct pawl_node_info *node), void *ctx,
                struct pawl_list_end *end, struct pawl_error *err);

/*
 * Documents for operators, as JSON. The caller frees *json.
 *
 *     pawl_overview()         instances by status, work, nodes, rates since `since_us` (0: none):
 *                             what `pawl top` shows
 *     pawl_cluster_status()   whether this process takes new work, and who paused it
 *     pawl_store_info()       what the store is, and how many rows each table has: what `pawl store
 *                             info` prints
 */
PAWL_API PAWL_MUST_CHECK int pawl_overview(struct pawl *pawl, int64_t since_us, char **json,
                                           struct pawl_error *err);
PAWL_API PAWL_MUST_CHECK int pawl_cluster_status(struct pawl *pawl, char **json,
                                                 struct pawl_error *err);
PAWL_API PAWL_MUST_CHECK int pawl_store_info(struct pawl *pawl, char **json,
                                             struct pawl_error *err);

/*
 * Pauses a node, or with NULL every node of the store. Within a second it begins nothing new, until
 * pawl_node_unpause(), even after a restart. What is running is finished; what is sent is kept.
 * Starting, resuming and retrying on a paused node return PAWL_EUNAVAILABLE, unless detached. The
 * actor and `reason` (NULL allowed) are shown to operators. Pausing again keeps the first pause.
 * PAWL_ENOTFOUND: there is no such node.
 */
PAWL_API PAWL_MUST_CHECK int pawl_node_pause(struct pawl *pawl, const char *node_id,
                                             const char *reason, struct pawl_error *err);
/* PAWL_ENOTFOUND: it is not paused. */
PAWL_API PAWL_MUST_CHECK int pawl_node_unpause(struct pawl *pawl, const char *node_id,
                                               struct pawl_error *err);

/*
 * Writes a consistent copy of the whole store into the file `path`, which appears only when it is
 * complete. Nodes keep working meanwhile. `pawl store restore` fills an empty store from it.
 */
PAWL_API PAWL_MUST_CHECK int pawl_store_backup(struct pawl *pawl, const char *path,
                                               struct pawl_error *err);
/*
 * Checks that the rows of the store are consistent, and calls `visit` (NULL allowed) for each
 * finding. *count (NULL allowed) is how many; findings are not an error.
 */
PAWL_API PAWL_MUST_CHECK int pawl_store_check(struct pawl *pawl,
                                              void (*visit)(void *ctx, const char *finding),
                                              void *ctx, uint64_t *count, struct pawl_error *err);

/* ---- tasks, timers -------------------------------------------------------------------------- */

struct pawl_task_filter {
    const char *instance_id;
    const char *correlation_id;
    uint32_t limit;
    const char *after;
};

/* A task that a workflow waits for. */
struct pawl_task_info {
    const char *id;      /* for pawl_task_complete() */
    const char *name;    /* what is to be done */
    const char *payload; /* JSON, "null" when there is none */
    const char *instance_id;
    const char *definition_id;
    const char *activity_id;
    const char *correlation_id;
    int64_t since_us;
};

/* The oldest first. */
PAWL_API PAWL_MUST_CHECK int
pawl_tasks_list(struct pawl *pawl, const struct pawl_task_filter *filter,
                int (*row)(void *ctx, const struct pawl_task_info *task), void *ctx,
                struct pawl_list_end *end, struct pawl_error *err);

struct pawl_timer_filter {
    const char *instance_id; /* only its timers, not those of triggers */
    int is_overdue;          /* 1: only those whose time has come */
    uint32_t limit;
    const char *after;
};

/* A timer of an instance that waits, or of a trigger that starts one. */
struct pawl_timer_info {
    int64_t due_us;
    int is_overdue;
    const char *instance_id; /* "": of a trigger */
    const char *trigger_id;  /* "": of an instance */
    const char *bookmark_id;
    const char *definition_id;
    const char *activity_type;
    const char *activity_id;
    int64_t attempts; /* that failed */
    const char *error;
};

/* The soonest first. */
PAWL_API PAWL_MUST_CHECK int
pawl_timers_list(struct pawl *pawl, const struct pawl_timer_filter *filter,
                 int (*row)(void *ctx, const struct pawl_timer_info *timer), void *ctx,
                 struct pawl_list_end *end, struct pawl_error *err);

/*
 * Why an instance does not continue and what would resume it: what `pawl why --json` prints. The
 * caller frees *json. PAWL_ENOTFOUND.
 */
PAWL_API PAWL_MUST_CHECK int pawl_instance_why(struct pawl *pawl, const char *instance_id,
                                               char **json, struct pawl_error *err);

/* ---- dead letters, retention ---------------------------------------------------------------- */

struct pawl_letter_filter {
    const char *instance_id;
    const char *kind;   /* of the work: "stimulus", "timer", … */
    const char *reason; /* "Expired", "Failed" */
    int is_open;        /* 1: only letters that were not replayed */
    uint32_t limit;
    const char *after;
    int all; /* of bulk changes: 1: an empty filter means all letters */
};

/* Work that was given up. */
struct pawl_letter_info {
    const char *id;
    const char *kind;
    const char *reason;
    const char *error; /* the last one */
    const char *instance_id;
    const char *bookmark_id;
    const char *correlation_id;
    int64_t created_us; /* when the work was created */
    int64_t dead_us;    /* when it was given up */
    int64_t attempts;
    int can_replay;
    int64_t replayed_us;
    const char *replayed_id; /* id of the work that replays it */
};

/* The newest first. */
PAWL_API PAWL_MUST_CHECK int
pawl_letters_list(struct pawl *pawl, const struct pawl_letter_filter *filter,
                  int (*row)(void *ctx, const struct pawl_letter_info *letter), void *ctx,
                  struct pawl_list_end *end, struct pawl_error *err);
/* With its payload, as JSON: what `pawl deadletters show` prints. The caller frees *json.
 * PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_letter_show(struct pawl *pawl, const char *letter_id, char **json,
                                              struct pawl_error *err);
/*
 * Makes its work due again as if it were new; once per letter. Work that fails again becomes a new
 * letter. PAWL_ECONFLICT: it was replayed already, or cannot be. PAWL_ENOTFOUND.
 */
PAWL_API PAWL_MUST_CHECK int pawl_letter_replay(struct pawl *pawl, const char *letter_id,
                                                struct pawl_error *err);
/* PAWL_ENOTFOUND. */
PAWL_API PAWL_MUST_CHECK int pawl_letter_delete(struct pawl *pawl, const char *letter_id,
                                                struct pawl_error *err);

/*
 * Replays those of the letters that match which can be replayed; deletes all that match. The oldest
 * first, each in a commit of its own.
 */
PAWL_API PAWL_MUST_CHECK int pawl_letters_replay(struct pawl *pawl,
                                                 const struct pawl_letter_filter *filter,
                                                 uint64_t *count, struct pawl_error *err);
PAWL_API PAWL_MUST_CHECK int pawl_letters_delete(struct pawl *pawl,
                                                 const struct pawl_letter_filter *filter,
                                                 uint64_t *count, struct pawl_error *err);

struct pawl_retention_counts {
    uint64_t finished; /* instances, by how they ended */
    uint64_t cancelled;
    uint64_t faulted;
    uint64_t dead_letters;
    uint64_t reservations; /* expired idempotency keys */
    int more;              /* 1: there is more, call again */
    uint64_t audit;        /* records of what operators changed */
};

/*
 * Deletes a batch of what the settings retention.* no longer keep, as workers do every minute.
 * `dry_run` 1: only counts. `out` NULL allowed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_retain(struct pawl *pawl, int dry_run,
                                         struct pawl_retention_counts *out, struct pawl_error *err);

/* ---- records of what operators changed ------------------------------------------------------- */

struct pawl_audit_filter {
    const char *actor;
    const char *action;
    const char *kind;
    const char *target;
    int64_t from_us;  /* at this time or later */
    int64_t until_us; /* before this time */
    uint32_t limit;
    const char *after;
};

/*
 * One request that changed something. It is written by the commit that makes the change; what
 * workers do by themselves, starts, resumes and events are not recorded.
 */
struct pawl_audit_info {
    const char *request_id;
    int64_t created_us;
    const char *actor;
    const char *door;   /* "cli", "c", "http", "page" */
    const char *action; /* "cancel", "delete", "publish", … */
    const char *kind;   /* "instance", "definition", "letter", "node", "store" */
    const char *target; /* its id; "": many */
    int64_t count;      /* things that it touched */
};

/* The newest first. */
PAWL_API PAWL_MUST_CHECK int
pawl_audit_list(struct pawl *pawl, const struct pawl_audit_filter *filter,
                int (*row)(void *ctx, const struct pawl_audit_info *record), void *ctx,
                struct pawl_list_end *end, struct pawl_error *err);
/*
 * The record of one request, as JSON: what `pawl audit show` prints. The caller frees *json. When a
 * call ends with PAWL_EUNKNOWN, its message names the request. PAWL_ENOTFOUND: the request has
 * changed nothing.
 */
PAWL_API PAWL_MUST_CHECK int pawl_audit_show(struct pawl *pawl, const char *request_id, char **json,
                                             struct pawl_error *err);

#ifdef __cplusplus
}
#endif
#endif
