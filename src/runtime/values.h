/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node is asked and what it returns: values without a function. Of the runtime, doors see
 * this and nothing else (tools/layers.txt), by way of operations and the host.
 */
#ifndef PAWL_RUNTIME_VALUES_H
#define PAWL_RUNTIME_VALUES_H

#include "base/json/json.h"
#include "engine/problem.h"
#include "engine/status.h"

/* Bytes of an instance id that callers choose. */
#define PAWL_INSTANCE_ID_MAX 127
/* Of an id of a definition, or of one of its versions. */
#define PAWL_DEFINITION_ID_MAX 255
/* Of a name of a definition or an instance: lists show it. */
#define PAWL_NAME_MAX 1000
/* Of a description of a definition: lists show it, too. */
#define PAWL_DESCRIPTION_MAX 10000

/* ---- instances (runtime/runtime.h) ---------------------------------------------------------- */

struct pawl_audit;
struct pawl_left;
struct pawl_request;

/* Texts "" and values null when not given. Borrowed for the call. */
struct pawl_start {
    struct pawl_str definition_id; /* its published version; or */
    struct pawl_str version_id;    /* exactly this version */
    struct pawl_str instance_id;   /* "": a new one */
    struct pawl_str correlation_id;
    struct pawl_str name;
    struct pawl_str parent_id;
    struct pawl_str scheduled_by; /* the execution of the parent's activity that starts it */
    uint32_t scheduled_by_depth;  /* of its call stack */
    struct pawl_str trigger_activity_id;
    /* The activity that is run instead of the root; of one that is not there PAWL_ENOTFOUND. */
    struct pawl_str activity_id;
    struct pawl_json input;
    struct pawl_json properties;
    struct pawl_json variables; /* by name: variables of the root besides those it declares */
    /* A second start with the same key answers the instance that the first one made. */
    struct pawl_str idempotency_key;
    /* What tells this start from another one with the same key: of another one PAWL_ECONFLICT.
     * "": the key alone counts. */
    struct pawl_str fingerprint;
    /* The activation strategy of its definition decides, as it does for triggers. */
    bool judged;
    /* Its input has a request that the server received; of any other start that is dropped. */
    bool is_request;
    /* A request that its burst awaits is not waited for: it goes on by itself. */
    bool unattended;
    struct pawl_left *left; /* runtime/runtime.h; NULL: not asked for */
};

/* How a call left an instance. */
struct pawl_outcome {
    char instance_id[PAWL_INSTANCE_ID_MAX + 1];
    enum pawl_sub_status sub_status;
    int64_t incident_count;
    int64_t bookmark_count;
    bool existed; /* start: the idempotency key was known, nothing was started */
    bool refused; /* start: the activation strategy says no, nothing was started */
};

/* What to run; "" and null when not given. With none of the selectors it goes on where it stands.
 */
struct pawl_run {
    struct pawl_str bookmark_id;
    struct pawl_str activity_id;
    struct pawl_str activity_instance_id;
    struct pawl_json input;
    struct pawl_json properties;
    struct pawl_json variables;
    struct pawl_request *request; /* NULL: none but this call */
};

struct pawl_worked {
    uint32_t done;       /* pieces of work that were taken */
    int64_t now_us;      /* the store's clock */
    int64_t next_due_us; /* PAWL_TIME_NEVER */
    bool is_paused;      /* of a drain: work is due that this node leaves, because it is paused */
};

enum pawl_wait_until {
    /* It waits for something, has ended, or is set aside: it does not go on by itself now. */
    PAWL_WAIT_IDLE,
    PAWL_WAIT_ENDED, /* finished, cancelled or faulted */
};

/* ---- definitions (runtime/definitions/definitions.h, refresher.h) -----------------------------
 */

/* Which versions of a definition. */
enum pawl_version_pick {
    PAWL_VERSIONS_DEFAULT, /* not given: each function says which ones it uses */
    PAWL_VERSIONS_ALL,
    PAWL_VERSIONS_DRAFT, /* those that are not published */
    PAWL_VERSIONS_LATEST,
    PAWL_VERSIONS_PUBLISHED,
    PAWL_VERSIONS_LATEST_OR_PUBLISHED, /* of one: the latest, else the published one */
    PAWL_VERSIONS_LATEST_AND_PUBLISHED,
    PAWL_VERSIONS_NUMBER,
};

struct pawl_version_options {
    enum pawl_version_pick pick;
    int64_t number; /* of PAWL_VERSIONS_NUMBER */
};

struct pawl_definition_ids {
    struct pawl_str *items;
    size_t count;
};

/* What publishing said. */
struct pawl_publication {
    bool succeeded;
    struct pawl_problems problems;      /* all; those of level INVALID are the validation errors */
    struct pawl_definition_ids updated; /* those that use it and were pointed to it */
};

struct pawl_refreshed {
    struct pawl_str *refreshed; /* ids, in the caller's arena */
    size_t refreshed_count;
    struct pawl_str *not_found; /* asked for, and no version of them is published */
    size_t not_found_count;
    bool in_progress; /* another node is at it: nothing was refreshed, all that were asked for are
                       * in not_found */
};

struct pawl_reloaded {
    uint32_t provided; /* definitions that were stored, or were so already */
    uint32_t failed;   /* that could not be read, stored or loaded: each is logged */
    bool in_progress;  /* another node is at it: nothing was done */
};

/* ---- nodes (runtime/node) ---------------------------------------------------------------------
 */

struct pawl_pause {
    struct pawl_str node_id; /* "": of the cluster */
    struct pawl_str by;      /* who; "": nobody said */
    struct pawl_str reason;  /* "": nobody said */
    int64_t since_us;        /* of the store's clock */
};

struct pawl_pool_counts {
    uint64_t done;    /* pieces of work */
    uint64_t looks;   /* for work */
    uint64_t refused; /* looks that the store did not answer */
};

/* Ages in microseconds; 0: kept for ever. */
struct pawl_retention_policy {
    int64_t finished_us;
    int64_t cancelled_us;
    int64_t faulted_us;
    int64_t dead_letters_us;
    int64_t audit_us;
    uint32_t batch; /* rows of each kind that one call drops at the most; 0: 1,000 */
    bool dry_run;   /* only counts, and all there are */
    /* What records instances and dead letters that are dropped; NULL: nobody asked for it. */
    struct pawl_audit *by;
};

/*
 * Told of a change of an instance: its revision from now on; 0: it was deleted. Borrows the id for
 * the call.
 */
typedef void pawl_changed_fn(void *ctx, struct pawl_str instance_id, int64_t revision);

/* What an export has besides the state; what is left out is null in it. */
struct pawl_instance_export {
    bool bookmarks, activity_records, log_records;
};
#define PAWL_INSTANCE_EXPORT_ALL ((struct pawl_instance_export){true, true, true})

#endif
