/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on workflow instances.
 *
 *     instances_list.c    lists
 *     instances_start.c   starting, going on
 *     instances_one.c     looking at one, cancelling, deleting, exporting, importing
 *     instances_change.c  alterations, retries, variables
 *     instances_bulk.c    many: cancelling, deleting, altering
 *     waits.c             what is waited for: see waits.h
 *
 * What is done to one instance goes through the host's workflow runtime and a client of the
 * instance (runtime/node/client.h), so that a cluster's guard sees it.
 */
#ifndef PAWL_OPERATIONS_INSTANCES_H
#define PAWL_OPERATIONS_INSTANCES_H

#include "operations/operation.h"
#include "runtime/values.h"

#include <pawl/ext/store.h>

/* ---- lists ---------------------------------------------------------------------------------- */

/* Each usually goes from the newest, the latest or the last name downwards, but by name. */
enum pawl_instance_sort {
    PAWL_INSTANCES_BY_CREATED,
    PAWL_INSTANCES_BY_UPDATED,
    PAWL_INSTANCES_BY_FINISHED,
    PAWL_INSTANCES_BY_NAME, /* ascending */
};

/* A time that instances must have, in microseconds since 1970. */
struct pawl_instance_time {
    enum { PAWL_INSTANCE_CREATED, PAWL_INSTANCE_UPDATED, PAWL_INSTANCE_ENDED } which;
    enum pawl_compare compare;
    int64_t us;
    bool is_day; /* the whole day that begins then */
};

/* All that is given must hold; "", NULL, 0 and -1 are not given, as said at each. */
struct pawl_instance_query {
    struct pawl_str definition_id;
    struct pawl_str version_id;
    struct pawl_str correlation_id;
    struct pawl_str parent_id;
    struct pawl_str name;
    /* In its name, id, definition id, version id or correlation id; one whose id it is comes first,
     * however many rows may be looked at. */
    struct pawl_str search;
    struct pawl_str status; /* "Running", "Finished", in any case */
    /* One of these each; NULL: any. A list without members matches nothing. */
    const struct pawl_str *ids, *definition_ids;
    const struct pawl_str *statuses, *sub_statuses; /* names in any case */
    size_t id_count, definition_id_count, status_count, sub_status_count;
    /* With definition_id: these versions of it. LATEST, PUBLISHED, LATEST_OR_PUBLISHED and NUMBER
     * are one version; default: all. */
    struct pawl_version_options versions;
    int64_t version;                        /* 0: any */
    const struct pawl_instance_time *times; /* all of these */
    size_t time_count;                      /* PAWL_INSTANCE_TIMES_MAX at the most */
    int has_incidents;                      /* 1: it has, 0: it has none, -1: whichever */
    int is_system;                          /* 1: it is, 0: it is not, -1: whichever */
    bool is_put_off; /* it could not be run: set aside, or tried again later */
    bool all;        /* of bulk changes: all instances are meant if nothing else is given */
    enum pawl_instance_sort sort;
    struct pawl_page_request page;
};
#define PAWL_INSTANCE_TIMES_MAX 8

/* Everything that exists, in the usual order. */
#define PAWL_INSTANCE_QUERY_ALL ((struct pawl_instance_query){.has_incidents = -1, .is_system = -1})

struct pawl_instance_list {
    const struct pawl_instance_row *rows; /* without `state` and `counts` */
    size_t count;
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_instances_list(const struct pawl_op *op,
                                            const struct pawl_instance_query *query,
                                            struct pawl_instance_list *out);

/* ---- starting ------------------------------------------------------------------------------- */

/* Texts "" and values null when not given. */
struct pawl_instance_start {
    /* What, and with what. `definition_id` with `version`, or `version_id`. `judged`: the
     * definition's activation strategy may refuse it. */
    struct pawl_start what;
    struct pawl_version_options version; /* LATEST, PUBLISHED (default), NUMBER */
    bool detached;                       /* only stored: it runs when due work is done */
    bool with_state;                     /* return its row and its state, too */
};

/* How an operation left an instance. */
struct pawl_instance_result {
    struct pawl_outcome outcome; /* `refused`: it cannot start, and nothing was started */
    /* With state: as stored, in Elsa's form. Zero and null otherwise, and of one refused. */
    struct pawl_instance_row row;
    struct pawl_json state;
};

/*
 * Starts an instance. As pawl__runtime_start() and, detached, pawl__runtime_create() say. A second
 * start with the same idempotency key returns the instance of the first one as it is now;
 * PAWL_ECONFLICT: it asked for something else.
 */
PAWL_MUST_CHECK int pawl__op_instance_start(const struct pawl_op *op,
                                            const struct pawl_instance_start *request,
                                            struct pawl_instance_result *out);

/* Instances that one dispatch creates, at the most. */
#define PAWL_DISPATCH_MAX 10000u

/*
 * So many, detached, each with the same input; `instance_id` must be "". With an idempotency key a
 * second call returns the same ones, and makes those that the first one did not get to.
 * ids[] of those that were made: all of them, or an error and *count says how many there are.
 */
PAWL_MUST_CHECK int pawl__op_instances_dispatch(const struct pawl_op *op,
                                                const struct pawl_instance_start *request,
                                                uint32_t number, struct pawl_str **ids,
                                                uint32_t *count);

/* Runs an instance now, as pawl__runtime_run() says. */
PAWL_MUST_CHECK int pawl__op_instance_resume(const struct pawl_op *op, struct pawl_str instance_id,
                                             const struct pawl_run *request, bool with_state,
                                             struct pawl_instance_result *out);

/* ---- looking at one ------------------------------------------------------------------------- */

struct pawl_instance_shown {
    struct pawl_instance_row row; /* without `state` and `counts` */
    struct pawl_json state;       /* in Elsa's form; null: not asked for, or it cannot be read */
    struct pawl_error unreadable; /* why it cannot; code PAWL_OK: it can */
};

/* Also one whose state cannot be read. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_instance_show(const struct pawl_op *op, struct pawl_str instance_id,
                                           bool with_state, struct pawl_instance_shown *out);
PAWL_MUST_CHECK int pawl__op_instance_exists(const struct pawl_op *op, struct pawl_str instance_id,
                                             bool *out);
/* An array of {"id", "name", "value"?}; also of one that has ended. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_instance_variables(const struct pawl_op *op,
                                                struct pawl_str instance_id, struct pawl_json *out);

/* ---- changing one --------------------------------------------------------------------------- */

/*
 * Requests its cancellation, with its children unless `only_itself`; *row (NULL allowed) is its
 * state then: one that another node runs ends at its next activity. Cancelled or ended before: it
 * stays so. PAWL_ENOTFOUND; PAWL_EUNKNOWN: also if it was requested and the row could not be read.
 * waits.h has one that waits for the end.
 */
PAWL_MUST_CHECK int pawl__op_instance_cancel(const struct pawl_op *op, struct pawl_str instance_id,
                                             bool only_itself, struct pawl_instance_row *row);
/* With its journal and all that belongs to it. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_instance_delete(const struct pawl_op *op, struct pawl_str instance_id);

struct pawl_instance_altered {
    struct pawl_str instance_id;
    struct pawl_outcome outcome;
    struct pawl_json log;    /* array of {"message", "logLevel", "timestamp", "eventName"} */
    struct pawl_error error; /* of many: why this one was not altered; code PAWL_OK: it was */
};

/* `alterations` is an array of them, or one. As pawl__runtime_alter() says. */
PAWL_MUST_CHECK int pawl__op_instance_alter(const struct pawl_op *op, struct pawl_str instance_id,
                                            const struct pawl_json *alterations, bool dry_run,
                                            struct pawl_instance_altered *out);
/* Of these activities, or (`count` 0) all that have faulted. As pawl__runtime_retry() says. */
PAWL_MUST_CHECK int pawl__op_instance_retry(const struct pawl_op *op, struct pawl_str instance_id,
                                            const struct pawl_str *activity_ids, size_t count,
                                            struct pawl_outcome *out);
/*
 * `variables` is an array of {"id", "value"}; all are set by one alteration, or none. Ids that the
 * instance does not have are PAWL_ENOTFOUND, or left out (`lenient`). *out as
 * pawl__op_instance_variables() returns it, afterwards.
 */
PAWL_MUST_CHECK int pawl__op_instance_set_variables(const struct pawl_op *op,
                                                    struct pawl_str instance_id,
                                                    const struct pawl_json *variables, bool lenient,
                                                    struct pawl_json *out);

/* ---- moving one ----------------------------------------------------------------------------- */

/*
 * {"WorkflowState", "Bookmarks", "ActivityExecutionRecords", "WorkflowExecutionLogRecords"} with
 * Elsa's keys. `mail_left` (NULL allowed) counts what waits to be delivered to it and is not in it.
 * PAWL_ENOTFOUND; PAWL_EBUSY: it is in the middle of a burst; PAWL_ELIMIT: it is too large.
 */
PAWL_MUST_CHECK int pawl__op_instance_export(const struct pawl_op *op, struct pawl_str instance_id,
                                             const struct pawl_instance_export *parts,
                                             struct pawl_json *out, uint64_t *mail_left);
/* Whether a document is an instance that was exported. */
bool pawl__op_instance_is_export(const struct pawl_json *document);
/* Takes one over, as pawl__runtime_import() says. PAWL_EEXISTS. */
PAWL_MUST_CHECK int pawl__op_instance_import(const struct pawl_op *op,
                                             const struct pawl_json *exported,
                                             struct pawl_outcome *out);

/* ---- many ----------------------------------------------------------------------------------- */

/* As struct pawl_bulk_result says. There may be more ids than one query takes. */

/* Those that are running. If another node runs one, its cancellation is requested, and counts. */
PAWL_MUST_CHECK int pawl__op_instances_cancel(const struct pawl_op *op,
                                              const struct pawl_instance_query *query,
                                              struct pawl_bulk_result *out);
/*
 * Takes over those of an array. One that is no exported instance is PAWL_EPARSE, and none is taken
 * over then; one that cannot be taken over stops no other. One that is there already, exactly as
 * its document says, counts as taken over.
 */
PAWL_MUST_CHECK int pawl__op_instances_import(const struct pawl_op *op,
                                              const struct pawl_json *exported,
                                              struct pawl_bulk_result *out);
PAWL_MUST_CHECK int pawl__op_instances_delete(const struct pawl_op *op,
                                              const struct pawl_instance_query *query,
                                              struct pawl_bulk_result *out);

/* Instances that one call alters, at the most: more are PAWL_ELIMIT, and none is altered. */
#define PAWL_ALTER_MANY_MAX 5000u

/* Each by itself: one that fails (`error` of it) stops no other. */
PAWL_MUST_CHECK int pawl__op_instances_alter(const struct pawl_op *op,
                                             const struct pawl_instance_query *query,
                                             const struct pawl_json *alterations, bool dry_run,
                                             struct pawl_instance_altered **out, size_t *count);

/* ---- work ----------------------------------------------------------------------------------- */

/* Does up to `limit` pieces of work that are due (0: as many as one look finds). */
PAWL_MUST_CHECK int pawl__op_work(const struct pawl_op *op, uint32_t limit,
                                  struct pawl_worked *out);
/*
 * Does what is due, and what that sets off, until nothing is due and no request that an instance
 * awaits is under way: `done` counts all of it. No round is begun after the deadline:
 * PAWL_ETIMEDOUT, there was still work. A request is waited for until then. PAWL_EUNAVAILABLE with
 * out->is_paused, which is then set: this node is paused, and left work that is due.
 */
PAWL_MUST_CHECK int pawl__op_drain(const struct pawl_op *op, struct pawl_worked *out);
/*
 * Waits until there may be new work, or until the deadline: PAWL_ETIMEDOUT. `seen` is 0 at first
 * and then what the call before left there, so that nothing that came in between is missed.
 */
PAWL_MUST_CHECK int pawl__op_work_wait(const struct pawl_op *op, uint64_t *seen);

#endif
