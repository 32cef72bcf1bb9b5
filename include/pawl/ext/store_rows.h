/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the tables added by version 2 of the schema. Part of <pawl/ext/store.h>, which says what
 * a store, a table and a commit are. Times are microseconds since 1970-01-01 UTC.
 *
 * Tables that a commit does not write cost it nothing. Rows of routes, tasks, incidents, history
 * and executions belong to an instance and are deleted with it; those of the other tables stay.
 */
#ifndef PAWL_EXT_STORE_ROWS_H
#define PAWL_EXT_STORE_ROWS_H

#include <pawl/str.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A template of HTTP paths with parameters that a trigger or a bookmark listens on, added by the
 * commit that writes the first of these on a day, which is its id (runtime/node/routes.h). However
 * many wait, that is one row per template and day. The other members are "" for now.
 */
struct pawl_route_row {
    struct pawl_str path; /* "/orders/{id}"; lower case */
    struct pawl_str method;
    struct pawl_str id;
    struct pawl_str instance_id;
    struct pawl_str definition_id;
    struct pawl_str hash;
    struct pawl_str options; /* bytes */
};

/*
 * The response to a request that another node received: written by the commit of the node that ran
 * the instance, read and deleted by the node that has the connection. It does not belong to the
 * instance: it must arrive even if the instance is gone.
 */
struct pawl_reply_row {
    int64_t incarnation;  /* of the node that waits for it */
    int64_t number;       /* of the request, chosen by that node */
    int64_t expires_us;   /* the node waits no longer than this */
    struct pawl_str data; /* bytes: status, headers, body; opaque here */
};

/*
 * A task that external workers may lease. due_us is also when its lease expires, so that one index
 * of name and time finds every task that can be leased now: never leased, to be retried, or leased
 * by a worker that died. `worker` tells a lease from a retry.
 */
struct pawl_task_row {
    struct pawl_str id;
    struct pawl_str instance_id;
    struct pawl_str bookmark_id; /* the bookmark that its result resumes */
    struct pawl_str name;        /* of the task: workers ask for tasks by name */
    struct pawl_str correlation_id;
    int64_t created_us;
    int64_t due_us;         /* can be leased from then on; PAWL_TIME_NEVER: an operator must act */
    int64_t expires_us;     /* given up then; PAWL_TIME_NEVER */
    int64_t token;          /* counts leases; a report must carry the latest */
    int64_t attempts;       /* that were begun */
    struct pawl_str worker; /* that has it; "": none, due_us is when it is retried */
    struct pawl_str error;  /* of the last attempt */
    struct pawl_str progress; /* bytes: JSON; the worker's latest report */
    struct pawl_str payload;  /* bytes: JSON */
};

/* Alterations of many instances, as submitted. */
struct pawl_plan_row {
    struct pawl_str id;
    struct pawl_str status; /* "Pending", "Generating", "Dispatching", "Running", … */
    int64_t created_us;
    int64_t started_us;
    int64_t completed_us;
    int64_t job_count;      /* jobs created so far */
    struct pawl_str cursor; /* where creating jobs continues */
    struct pawl_str data;   /* bytes: JSON; alterations and filter */
};

/* What a plan does to one instance. It outlives the instance, as a record of what was done. */
struct pawl_job_row {
    struct pawl_str id;
    struct pawl_str plan_id;
    struct pawl_str instance_id;
    struct pawl_str status; /* "Pending", "Running", "Completed", "Failed" */
    int64_t created_us;
    int64_t started_us;
    int64_t completed_us;
    struct pawl_str log; /* bytes: JSON */
};

/* A version of a definition that uses another definition. Written with that version. */
struct pawl_consumer_row {
    struct pawl_str version_id;      /* of the definition that uses it */
    struct pawl_str used_id;         /* definition id of the one used */
    struct pawl_str definition_id;   /* of the definition that uses it */
    struct pawl_str used_version_id; /* "": whichever is published */
    int64_t used_version;            /* 0: whichever is published */
    int64_t is_latest;               /* copied from the row of version_id */
    int64_t is_published;
};

/* A fault, so that faults can be grouped by cause. The full text is in the instance's state. */
struct pawl_incident_row {
    struct pawl_str instance_id;
    int64_t number; /* within the instance */
    int64_t created_us;
    struct pawl_str fingerprint; /* the same for faults with the same cause */
    struct pawl_str definition_id;
    struct pawl_str activity_id;
    struct pawl_str activity_type;
    struct pawl_str exception_type;
    struct pawl_str message; /* shortened */
};

/* How to get from the state of a revision to that of the previous one. */
struct pawl_history_row {
    struct pawl_str instance_id;
    int64_t revision; /* whose state is computed from the next one's */
    int64_t created_us;
    int64_t expires_us;   /* purged then; PAWL_TIME_NEVER */
    int64_t format;       /* of `data`; 0: the whole state; the runtime defines the others */
    struct pawl_str data; /* bytes; opaque here */
};

/* Who changed what. One row per request, however many objects it changed. */
struct pawl_audit_row {
    struct pawl_str id; /* of the request: a request sent again is recorded once */
    int64_t created_us;
    struct pawl_str actor;  /* who; "": not signed in */
    struct pawl_str door;   /* "http", "cli", "c", "page" */
    struct pawl_str action; /* "cancel", "publish", … */
    struct pawl_str kind;   /* of what was changed: "instance", "definition", … */
    struct pawl_str target; /* its id; "": many */
    int64_t count;          /* objects changed */
    struct pawl_str result; /* "ok", or the name of the error */
    struct pawl_str data;   /* bytes: JSON; details */
};

/*
 * A document by kind and name: users, roles, applications, labels, secrets, webhook sinks and other
 * small collections. They share one table because each is found by id or name, listed by name, and
 * changed by hand.
 */
struct pawl_document_row {
    struct pawl_str kind; /* "user", "role", "application", "label", "secret", "sink", … */
    struct pawl_str id;
    struct pawl_str name;   /* unique within its kind */
    struct pawl_str lookup; /* another way to find it, such as the hash of a key; "": none */
    int64_t revision;       /* counts changes */
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us;   /* PAWL_TIME_NEVER */
    struct pawl_str data; /* bytes: JSON, or encrypted */
};

/*
 * Counts. A node writes its own rows (`source` is its incarnation), with what it has counted in
 * that minute so far: writing a row again does not change the sum, and no two nodes share a row. A
 * duty folds rows of past minutes: in one commit it adds them to the row of that minute with source
 * 0 and to the row of minute 0 (the sum of all folded rows), and deletes them. So the total is the
 * row of minute 0 plus the few rows whose source is not 0.
 */
struct pawl_statistic_row {
    struct pawl_str kind; /* "instances", "incidents", … */
    int64_t minute_us;    /* its beginning; 0: the sum of all folded rows */
    struct pawl_str name; /* what was counted, such as "Suspended" or a fingerprint */
    int64_t source;       /* incarnation; 0: folded */
    int64_t count;        /* may be negative: what was added minus what was removed */
    int64_t total;        /* sum of a measure, such as microseconds */
    int64_t largest;
};

/*
 * An activity execution of an imported instance: its id was made elsewhere and does not lead to the
 * instance (see id_hash of instances).
 */
struct pawl_execution_row {
    struct pawl_str id;
    struct pawl_str instance_id;
};

#ifdef __cplusplus
}
#endif
#endif
