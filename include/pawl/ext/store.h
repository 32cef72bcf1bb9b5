/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store: where instances, bookmarks, work and definitions are kept.
 *
 * The store is what makes Pawl safe. A lock says who probably owns an instance; the decision is the
 * store's own check of owner, fence and revision, inside the transaction that writes
 * (docs/design/0001). Everything durable is a row of one of the tables below; everything is written
 * by apply(), all or nothing per commit.
 *
 * The life of an instance in it:
 *
 *     claim   owner = my incarnation, a greater fence; returns the row with its state, and its mail
 *     apply   ADVANCE, where owner, fence and revision are mine; revision + 1
 *     apply   the last one of a burst has PAWL_COMMIT_RELEASE: the owner is cleared
 *
 * A claim does not steal: it returns PAWL_EBUSY while the owner's node is alive, that is while the
 * node's row has the owner's incarnation and a lease that has not expired. Instances have no lease
 * of their own. Work rows are due until a commit deletes them; a node that takes one holds it no
 * longer than its lease.
 *
 * Only a node that is alive takes anything over: one whose own lease has expired gets what nobody
 * has, and instances that it owns. When the clock jumps, all leases expire at once. Without this
 * rule nodes would take the same instance from each other until they have renewed their leases, and
 * its takeovers would say that it kills nodes.
 *
 * Time is the store's: due times and leases are compared with its clock inside the statement, never
 * with a node's. All times are microseconds since 1970-01-01 UTC.
 *
 * A backend is a const table of functions and an object that embeds struct pawl_store. Calls block,
 * on worker threads only, until `deadline_ns` of the environment's monotonic clock. All calls but
 * close may run at the same time on any number of threads. Each returns PAWL_OK or an error whose
 * class says what to do: after UNKNOWN the call may have taken effect. Rows that a call returns are
 * allocated in the caller's arena and live as long as the arena.
 *
 * Text columns hold UTF-8; a NUL in one is stored as U+FFFD, because not every database allows NULs
 * in text, and the same is done to filters. Columns of bytes hold anything. There are no SQL NULLs:
 * what is not given is "" or 0.
 */
#ifndef PAWL_EXT_STORE_H
#define PAWL_EXT_STORE_H

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/ext/store_rows.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_STORE_VERSION 3u

/* As due_us: not until something makes it due. As expires_us: never. */
#define PAWL_TIME_NEVER INT64_MAX

/* Maximum commits per apply() and ids per claim(). */
#define PAWL_STORE_BATCH_MAX 256
/* Maximum rows that one find() returns, and the number when the query has no limit. */
#define PAWL_STORE_ROWS_MAX 10000
#define PAWL_STORE_ROWS_DEFAULT 100
/* Maximum conditions of one query, and values of one IN. */
#define PAWL_STORE_CONDITIONS_MAX 32
#define PAWL_STORE_VALUES_MAX 1000
/* Maximum queries of one find_many(). */
#define PAWL_STORE_QUERIES_MAX 8

/* What a store can do. Decorators pass these on. */
#define PAWL_STORE_CAP_DURABLE 1u   /* data outlives the process */
#define PAWL_STORE_CAP_PROCESSES 2u /* several processes may open it */
#define PAWL_STORE_CAP_MACHINES 4u  /* processes on several machines */
#define PAWL_STORE_CAP_TICKETS 8u   /* acquires locks of its server together with claims */
#define PAWL_STORE_CAP_VISITS 16u   /* knows visits, see struct pawl_claim */

struct pawl_arena;

/* Allocates from an arena, for backends outside the library; NULL when out of memory. */
PAWL_API void *pawl_arena_alloc(struct pawl_arena *arena, size_t size_bytes);

/* ---- tables ------------------------------------------------------------------------------ */

enum pawl_table {
    PAWL_TABLE_INSTANCES,
    PAWL_TABLE_BOOKMARKS,
    PAWL_TABLE_WORK,
    PAWL_TABLE_RESERVATIONS,
    PAWL_TABLE_JOURNAL,
    PAWL_TABLE_DEFINITIONS,
    PAWL_TABLE_TRIGGERS,
    PAWL_TABLE_SETTINGS,
    PAWL_TABLE_DEAD_LETTERS,
    PAWL_TABLE_NODES,
    PAWL_TABLE_STAMPS,
    /* Since version 2 of the schema; their rows are in <pawl/ext/store_rows.h>. */
    PAWL_TABLE_ROUTES,
    PAWL_TABLE_REPLIES,
    PAWL_TABLE_TASKS,
    PAWL_TABLE_PLANS,
    PAWL_TABLE_JOBS,
    PAWL_TABLE_CONSUMERS,
    PAWL_TABLE_INCIDENTS,
    PAWL_TABLE_HISTORY,
    PAWL_TABLE_AUDIT,
    PAWL_TABLE_DOCUMENTS,
    PAWL_TABLE_STATISTICS,
    PAWL_TABLE_EXECUTIONS,
    PAWL_TABLE_COUNT
};

/*
 * Maximum bytes of a name in a row of instances or definitions. Lists show it and are ordered by
 * it, and an index entry of PostgreSQL holds no more than a few thousand bytes. The code that makes
 * the row truncates longer names; the state or the definition has the full name.
 */
#define PAWL_ROW_NAME_MAX 1000

/* One workflow instance. */
struct pawl_instance_row {
    struct pawl_str id;
    struct pawl_str definition_id;
    struct pawl_str version_id; /* of the definition */
    int64_t version;
    struct pawl_str parent_id;
    struct pawl_str status;     /* "Running", "Finished" */
    struct pawl_str sub_status; /* "Pending", "Suspended", … as Elsa has them */
    struct pawl_str correlation_id;
    struct pawl_str name;
    int64_t incident_count;
    int64_t is_system;
    int64_t created_us;
    int64_t updated_us;
    int64_t finished_us;
    int64_t owner;            /* incarnation of the node that has claimed it; 0: none */
    int64_t fence;            /* grows with every claim, and every commit of a visit */
    int64_t revision;         /* counts commits; the first is 1 */
    int64_t revision_fence;   /* the fence under which the last revision was written */
    int64_t cancel_requested; /* its owner must cancel it */
    int64_t runnable;         /* the stored state is in the middle of a burst */
    struct pawl_str state;    /* bytes: the stored state, perhaps compressed; opaque here */
    struct pawl_str counts;   /* bytes: counts per activity; opaque here */
    int64_t revision_owner;   /* incarnation that wrote the last revision: with revision and fence
                               * it proves whose commit that was. A fence alone does not: a server
                               * that crashed may have forgotten a claim and issue it again. */
    int64_t takeovers; /* claims from a dead owner since the last ADVANCE without KEEP, counted by
                        * claim(). A high number marks an instance that crashes its nodes. */
    int64_t failures;  /* consecutive runs that ended without a step */
    int64_t retry_us;  /* take() does not return it before; PAWL_TIME_NEVER: set aside until an
                        * operator decides */
    struct pawl_str trouble; /* why; "": none */
    int64_t alone;     /* takeovers when a node last recorded that it runs it alone; 0: never */
    int64_t state_sum; /* checksum of the bytes of `state`; 0: unknown, rows of version 1 */
    /* A hash of the id that is part of the ids of its executions, so that such an id leads to the
     * few instances with this hash, each of which is then checked. Written by CREATE only. 0: the
     * ids of its executions do not lead to it: rows of version 1. Executions that an instance had
     * when it was imported are in a separate table. */
    int64_t id_hash;
};

/* What an instance waits for. */
struct pawl_bookmark_row {
    struct pawl_str id;
    struct pawl_str instance_id;
    struct pawl_str name; /* type of the activity */
    struct pawl_str hash; /* of the stimulus */
    struct pawl_str activity_id;
    struct pawl_str activity_instance_id;
    struct pawl_str correlation_id;
    int64_t created_us;
    struct pawl_str payload;  /* bytes: JSON */
    struct pawl_str metadata; /* bytes: JSON */
};

/*
 * Something to be done: a stimulus to match, a delivery to an instance, an instance to start, a
 * timer, an effect. Due until a commit deletes it. A stimulus that matches nothing yet is parked:
 * due_us is PAWL_TIME_NEVER, and its hash says which bookmark it waits for.
 */
struct pawl_work_row {
    struct pawl_str id;
    struct pawl_str kind;        /* a word that the runtime defines */
    struct pawl_str instance_id; /* "": of no instance; else it is mail of that instance */
    struct pawl_str bookmark_id;
    struct pawl_str hash;
    struct pawl_str correlation_id;
    struct pawl_str activity_instance_id;
    struct pawl_str name;
    int64_t part; /* 0 to 1023: the partition, for nodes that take by partition */
    int64_t created_us;
    int64_t due_us;
    int64_t expires_us;
    int64_t attempts;
    int64_t attempted_us;
    int64_t owner; /* incarnation of the node that took it; 0: none */
    struct pawl_str error;
    struct pawl_str payload; /* bytes: JSON */
    int64_t takeovers;       /* takes from a node that had died or left, counted by take() */
    int64_t begun;  /* takeovers when a node recorded that it begins this work; 0: none did, or the
                     * work returned. Commits write this and the next member. */
    int64_t deaths; /* consecutive nodes that died after they had recorded it */
    /* For a start: the definition of the instance to make. "" for all other work; mail belongs to
     * its instance's definition. */
    struct pawl_str definition_id;
};

/*
 * Something that exists once: an activation ("only one instance of this definition"), a caller's
 * idempotency key, a commit that may be sent again. Inserting one that exists drops the commit.
 * Inserting one that has expired by the store's clock drops it too, with PAWL_ECONFLICT: expired
 * reservations are deleted, so the store cannot tell whether it was there before. A store may look
 * before it makes the commit's changes: a commit does not insert what it has deleted itself.
 */
struct pawl_reservation_row {
    struct pawl_str key;
    struct pawl_str instance_id; /* "": none; else it is deleted with that instance */
    struct pawl_str value;
    int64_t expires_us;
};

/* The log records of one commit, packed. */
struct pawl_journal_row {
    struct pawl_str instance_id;
    int64_t first_sequence;
    int64_t count;
    int64_t from_us;
    int64_t to_us;
    struct pawl_str data; /* bytes; opaque here */
};

/* One version of a definition. */
struct pawl_definition_row {
    struct pawl_str id; /* of the version */
    struct pawl_str definition_id;
    int64_t version;
    struct pawl_str name;
    struct pawl_str description;
    struct pawl_str provider;
    int64_t is_latest;
    int64_t is_published;
    int64_t is_readonly;
    int64_t is_system;
    int64_t usable_as_activity;
    int64_t revision; /* of the content: drafts are saved in place */
    int64_t created_us;
    struct pawl_str data;         /* bytes: JSON */
    struct pawl_str tool_version; /* of the program that wrote the document; it is in `data` too */
};

/* A stimulus that starts instances of a published definition. */
struct pawl_trigger_row {
    struct pawl_str id;
    struct pawl_str definition_id;
    struct pawl_str version_id;
    struct pawl_str name;
    struct pawl_str activity_id;
    struct pawl_str hash;
    struct pawl_str payload; /* bytes: JSON */
};

/* A value by name. */
struct pawl_setting_row {
    struct pawl_str key;
    struct pawl_str value; /* bytes */
};

/* Work that was given up, kept for an operator to inspect and replay. */
struct pawl_dead_letter_row {
    struct pawl_str id;
    struct pawl_str work_id; /* unique: work is given up once */
    struct pawl_str kind;
    struct pawl_str instance_id;
    struct pawl_str bookmark_id;
    struct pawl_str hash;
    struct pawl_str correlation_id;
    struct pawl_str activity_instance_id;
    struct pawl_str name;
    struct pawl_str reason; /* "Expired", "Failed" */
    int64_t created_us;     /* of the work */
    int64_t dead_us;
    int64_t attempts;
    int64_t attempted_us;
    int64_t can_replay;
    int64_t replayed_us;
    struct pawl_str replayed_id;
    struct pawl_str error;
    struct pawl_str payload; /* bytes: JSON */
};

/* A node and its lease. Written by lease() only. */
struct pawl_node_row {
    struct pawl_str id;
    int64_t incarnation; /* unique in the store; grows */
    int64_t joined_us;
    int64_t lease_us; /* when the lease expires */
    struct pawl_str info;
};

/* A number that changes whenever something does, so that caches need to check only that number. */
struct pawl_stamp_row {
    struct pawl_str name; /* "definitions", "triggers"; "incarnations" counts those of nodes */
    int64_t value;
};

enum pawl_column_type { PAWL_COLUMN_TEXT, PAWL_COLUMN_BYTES, PAWL_COLUMN_INT };

struct pawl_column {
    const char *name;
    enum pawl_column_type type;
    uint32_t offset; /* in the row's struct */
    uint32_t since;  /* the version of the schema that added it; older rows have 0 or "" */
};

struct pawl_table_info {
    const char *name;
    const struct pawl_column *columns;
    uint32_t column_count;
    uint32_t key_count; /* how many columns, from the first, are the primary key */
    size_t row_size;
    uint32_t since;          /* the version of the schema that added the table */
    bool goes_with_instance; /* rows are deleted with the instance that instance_id names */
};

/* No row is larger. */
#define PAWL_ROW_SIZE_MAX 512

/* The tables by enum pawl_table; columns in the order of the structs above. */
PAWL_API const struct pawl_table_info *pawl_table_info(enum pawl_table table);
/* The number of a column by name; asserts that there is one. */
PAWL_API uint32_t pawl_table_column(enum pawl_table table, const char *name);

/* ---- claims ------------------------------------------------------------------------------ */

/*
 * An advisory lock to be acquired together with the claim, by a store whose server is also the lock
 * service: it costs no extra round trip. Safety does not depend on it, so it never prevents a
 * takeover: an instance whose owner's node is dead is granted even if the dead node's connection
 * still holds the lock. Held until unlock(), or until the store's connection breaks, which is not
 * reported.
 */
struct pawl_lock_ticket {
    int64_t key; /* not 0 */
};

struct pawl_claim {
    struct pawl_str id;
    const struct pawl_lock_ticket *ticket; /* NULL: none. Ignored without PAWL_STORE_CAP_TICKETS */
    int64_t seen_fence; /* the greatest that `owner` was granted before, of any instance, or made
                         * itself for a visit (docs/design/0022); 0: none */
    /* Not "": only if the instance has a bookmark with this hash. Such a claim is the only one of
     * its call, and has no ticket. */
    struct pawl_str hash;
    /* Output: */
    int status; /* PAWL_OK; PAWL_EBUSY: another node (row.owner) has it, and that one is alive or
                 * `owner` is not; or somebody else holds the ticket's lock (row.owner 0), or it has
                 * no such bookmark; PAWL_ENOTFOUND: there is none, or it is `owner`'s already and
                 * has no such bookmark */
    /*
     * Input. Here it moves no other member and adds no size: claims come in an array, also to
     * backends compiled against version 2. With a hash: a visit, which reads the instance as a
     * claim does, and claims nothing. It is granted if nobody owns the instance, it has the
     * bookmark and no due work, its state has at most PAWL_VISIT_BYTES_MAX as it is stored, and
     * nothing stands in its way: it has not ended, and runnable, takeovers, retry_us and
     * cancel_requested are 0. Otherwise PAWL_EBUSY, whatever the reason, and `row` has only its id.
     * The row has an owner and a fence as if it were claimed. Its next commit must be an ADVANCE
     * with PAWL_COMMIT_VISITED, which claims and advances the instance at once. A visit without a
     * commit leaves nothing behind.
     */
    bool visits;
    /* Output: */
    struct pawl_instance_row row;     /* as claimed; of a busy one everything except state */
    const struct pawl_work_row *mail; /* its due work, oldest first, at most PAWL_CLAIM_MAIL_MAX */
    size_t mail_count;
};
#define PAWL_CLAIM_MAIL_MAX 64
#define PAWL_VISIT_BYTES_MAX 65536

/* ---- commits ----------------------------------------------------------------------------- */

enum pawl_change_kind {
    /* "Exists" means a row with the same primary key or another unique key. */
    PAWL_CHANGE_INSERT,       /* exists: the whole commit is dropped, PAWL_EEXISTS */
    PAWL_CHANGE_ADD,          /* exists: unchanged */
    PAWL_CHANGE_PUT,          /* its primary key exists: replaced; else like INSERT */
    PAWL_CHANGE_DELETE,       /* by primary key; no such row: not an error */
    PAWL_CHANGE_DELETE_OWNED, /* all rows whose instance_id is the row's; none when that is "" */
};

/* Of any table except instances, nodes and stamps. */
struct pawl_change {
    enum pawl_change_kind kind;
    enum pawl_table table;
    const void *row; /* struct pawl_…_row of the table; DELETE needs its key only */
};

enum pawl_commit_kind {
    PAWL_COMMIT_PLAIN,   /* no instance of its own */
    PAWL_COMMIT_CREATE,  /* a new instance; exists: dropped, PAWL_EEXISTS */
    PAWL_COMMIT_ADVANCE, /* the next revision of a claimed instance */
    PAWL_COMMIT_DELETE,  /* deletes a claimed instance and its rows (see goes_with_instance) */
    /* Requests its cancellation; no claim needed. PAWL_ENOTFOUND; PAWL_EBUSY: another commit is
     * writing the instance. */
    PAWL_COMMIT_CANCEL,
};

/* ADVANCE: the owner is cleared. CREATE: it is never set. */
#define PAWL_COMMIT_RELEASE 1u
/* ADVANCE: state, counts and everything else in the row except owner and revision is unchanged. */
#define PAWL_COMMIT_KEEP 2u
/* ADVANCE without KEEP: clears cancel_requested, because earlier requests no longer apply. For an
 * instance that had ended and continues. */
#define PAWL_COMMIT_REOPEN 4u
/* ADVANCE with KEEP: failures, retry_us, trouble and alone of the row are still written. For an
 * instance that cannot run now: its state is not changed. */
#define PAWL_COMMIT_SET_ASIDE 16u
/* ADVANCE with KEEP and SET_ASIDE: status, sub_status, runnable, updated_us and finished_us are
 * written too, and takeovers is cleared. For an instance that ends although its state cannot be
 * read: the state is not changed. */
#define PAWL_COMMIT_END 32u
/* ADVANCE after a visit, without the flags above except RELEASE: the instance must have no owner, a
 * lesser fence, and the revision and updated_us (`visited_us`) that were read. Owner and fence of
 * the row become its own. */
#define PAWL_COMMIT_VISITED 64u
/* CREATE, ADVANCE: the caller does not use has_mail, so it may wrongly be false; this saves a
 * query.
 */
#define PAWL_COMMIT_UNASKED 8u

/*
 * One commit: everything in it or nothing. Borrowed until apply() returns.
 *
 * CREATE: `instance` is the whole row. It is stored with fence 1, revision 1 and the row's owner (0
 * with RELEASE). ADVANCE: `instance` has id, owner, fence and revision as claimed or last committed
 * (they must match, else the commit is dropped with PAWL_ECONFLICT; see VISITED) and new values in
 * all other members except created_us, cancel_requested, parent_id, definition_id, is_system and
 * id_hash, which do not change: so no index of a list that begins with them is touched. The
 * caller's row is not changed: after PAWL_OK its next revision is one more. DELETE: like ADVANCE,
 * but only id, owner, fence and revision are used. CANCEL: only the id.
 *
 * `done` names the work that a commit finishes: each row must still exist and be owned by
 * `done_owner`, else the commit is dropped with PAWL_ECONFLICT. They are deleted before the changes
 * are made, so a change may insert such a row again for later. Mail needs no such guard (the
 * instance's own is enough): delete it with a change.
 *
 * `stamp` is a guard and a signal: with a name, the stamp must have `stamp_value` (else
 * PAWL_ECONFLICT) and is incremented. A stamp that does not exist yet has the value 0.
 *
 * New bookmarks make parked work that they match due in the same transaction: work with their hash
 * ("" is no hash) whose correlation_id, instance_id and activity_instance_id are "" or theirs, and
 * that no node has taken. Work that does not match costs nothing. A store may wake work also for a
 * bookmark that was there before.
 */
struct pawl_commit {
    enum pawl_commit_kind kind;
    uint32_t flags; /* PAWL_COMMIT_… */
    const struct pawl_instance_row *instance;
    const struct pawl_str *done;
    size_t done_count;
    int64_t done_owner;
    struct pawl_str stamp; /* "": none */
    int64_t stamp_value;
    const struct pawl_change *changes; /* in this order */
    size_t change_count;
    /* Output: */
    int status;            /* PAWL_OK, or why this commit was dropped; TRANSIENT: apply it again;
                            * UNKNOWN: perhaps it was not dropped */
    bool cancel_requested; /* CREATE, ADVANCE: the instance's cancellation was requested */
    bool has_mail;    /* CREATE, ADVANCE, not UNASKED: due work for the instance that is not in this
                       * commit */
    bool has_expired; /* PAWL_ECONFLICT: by the store's clock a reservation that it inserts has */
    struct pawl_error error; /* set if status is not PAWL_OK */
    /* Input, since version 3; at the end for backends compiled against version 2: */
    int64_t visited_us; /* VISITED: updated_us of the row that was read. An instance that was
                         * deleted and made again, or imported, may be at the same revision */
};

/* ---- due work ---------------------------------------------------------------------------- */

struct pawl_take {
    int64_t owner;      /* incarnation of the node that takes the rows */
    uint32_t limit;     /* maximum rows */
    uint32_t part_from; /* parts [from, to) of 1024; 0 and 0: all */
    uint32_t part_to;
    struct pawl_str kind; /* "": any */
    /* Skips this many runnable instances, always the same ones while nothing changes: a node that
     * could not claim the first ones can see the ones behind them. */
    uint32_t runnable_skip;
    /*
     * Definitions whose due work and runnable instances are skipped; with `only`, nothing else is
     * taken. At most PAWL_TAKE_DEFINITIONS_MAX; 0: all work is taken. Expired work is always taken.
     * Not together with `kind`.
     */
    const struct pawl_str *definitions;
    size_t definition_count;
    bool only;
    /* With definitions: mail of these kinds is not of the definition of its instance, but of its
     * own `definition_id` alone. At most PAWL_TAKE_KINDS_MAX. */
    const struct pawl_str *unshared_kinds;
    size_t unshared_kind_count;
};
#define PAWL_TAKE_DEFINITIONS_MAX 1024
#define PAWL_TAKE_KINDS_MAX 16

struct pawl_taken {
    const struct pawl_work_row *work; /* due, oldest due first, now owned; or expired: see take() */
    size_t work_count;
    /* Instances that are runnable, not postponed (retry_us) and have no live owner, at most
     * `limit`; for a taker that is not alive itself, no owner. They are not claimed yet. */
    const struct pawl_str *runnable;
    size_t runnable_count;
    int64_t now_us;
    int64_t next_due_us; /* when the next work becomes due; PAWL_TIME_NEVER */
};

/* ---- queries ----------------------------------------------------------------------------- */

enum pawl_compare {
    PAWL_EQ,
    PAWL_NE,
    PAWL_LT,
    PAWL_LE,
    PAWL_GT,
    PAWL_GE,
    PAWL_IN,       /* one of `values` */
    PAWL_CONTAINS, /* text, ignoring the case of ASCII letters */
};

struct pawl_datum {
    struct pawl_str text; /* TEXT, BYTES */
    int64_t integer;      /* INT */
};

struct pawl_condition {
    uint32_t column;
    enum pawl_compare compare;
    uint32_t any; /* not 0: one of the adjacent conditions with the same number must hold; 0: must
                   * hold */
    struct pawl_datum value;
    const struct pawl_datum *values; /* IN */
    size_t value_count;
};

/* Columns of bytes are not read and are "". */
#define PAWL_QUERY_BRIEF 1u
/* No rows, only the total. */
#define PAWL_QUERY_COUNT 2u
/* The rows, and the total too. */
#define PAWL_QUERY_TOTAL 4u
#define PAWL_QUERY_DESCENDING 8u

struct pawl_query {
    enum pawl_table table;
    uint32_t flags;
    const struct pawl_condition *conditions;
    size_t condition_count;
    uint32_t order; /* a column, then the key; 0: the key. DESCENDING reverses both. Text and bytes
                     * are compared bytewise */
    uint64_t offset;
    uint32_t limit; /* 0: PAWL_STORE_ROWS_DEFAULT */
    /* Only rows after this one in this order (its key and the order's column are used). NULL: from
     * the start. */
    const void *after;
    /* If no index serves the conditions of a page or a total: how many rows a store needs to
     * examine, the first ones in the query's order (for a total of instances, the newest). A store
     * that can count by an index alone may go further. 0: all. */
    uint32_t scan_limit;
};
/* For interactive lists: a store examines this many well within 50 ms. */
#define PAWL_STORE_SCAN_DEFAULT 5000

struct pawl_rows {
    const void *rows; /* an array of the table's struct */
    size_t count;
    uint64_t total; /* with COUNT or TOTAL: how many match, regardless of after, offset and limit */
    /* The scan_limit was reached. The total is a lower bound. A page in the order of creation lacks
     * rows only if it is not full; in another order it may lack some. */
    bool cut;
};

/* ---- nodes, state of the store ----------------------------------------------------------- */

/* When a node joins, it deletes rows of nodes that did not leave and whose lease expired this long
 * ago. */
#define PAWL_NODE_FORGET_US INT64_C(86400000000)

enum pawl_lease_kind {
    /* By id: a new incarnation, even if the node has a row. No incarnation is used twice, even if
     * the rows of old ones are gone. */
    PAWL_LEASE_JOIN,
    PAWL_LEASE_RENEW, /* PAWL_ECONFLICT: another incarnation of this node has joined since */
    /* The lease ends now; what the node owned is free. Its row is deleted, unless an instance still
     * has its incarnation as owner. A later incarnation is not affected. */
    PAWL_LEASE_LEAVE,
};

struct pawl_lease {
    enum pawl_lease_kind kind;
    struct pawl_str node_id;
    int64_t incarnation; /* JOIN: output */
    int64_t ttl_us;
    struct pawl_str info; /* JOIN, RENEW: what `pawl nodes` shows; JSON */
    /* Output: */
    int64_t now_us;
    bool lapsed; /* RENEW: the lease had expired meanwhile */
};

struct pawl_store_status {
    int64_t now_us;
    int64_t schema;      /* version of the tables */
    int64_t round_trips; /* to a server, by all calls on this object so far */
    int64_t syncs;       /* transactions made durable, likewise */
    char backend[32];    /* "memory", "sqlite", "postgres" */
    char server[128];    /* library or server version, for people */
    char location[256];  /* file or host and database, without secrets */
    int64_t size_bytes;  /* on disk; 0: unknown, or pawl_store_size() tells */
};

/* What wait() saw last. Initialise it to zero. */
struct pawl_wake {
    uint64_t seen;
};

/* ---- the interface ----------------------------------------------------------------------- */

struct pawl_store;

typedef int (*pawl_row_visitor)(void *ctx, enum pawl_table table, const void *row,
                                struct pawl_error *err);
typedef void (*pawl_finding_visitor)(void *ctx, const char *finding);

struct pawl_store_ops {
    uint32_t version; /* PAWL_STORE_VERSION the table was written for */

    /* Called after all other calls have returned. Joined nodes stay joined. Never called with NULL.
     */
    void (*close)(struct pawl_store *store);

    int (*status)(struct pawl_store *store, struct pawl_store_status *out, int64_t deadline_ns,
                  struct pawl_error *err);

    int (*lease)(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                 struct pawl_error *err);

    /*
     * Claims each id for the incarnation `owner`; the ids are distinct. Each claim has its own
     * status. A claim need not be synced: one that a crash undoes had no effect, because every
     * effect is a commit. An instance that `owner` already has is claimed again, with a new fence.
     * A granted fence is greater than the instance's and than the greatest `seen_fence` of the
     * call. So no two claims of an incarnation have the same fence, even if a crash undid the
     * first, and a late commit of the first cannot pass for one of the second.
     * If the call returns PAWL_EBUSY, one of the rows was locked for longer than a commit takes;
     * nothing was claimed.
     */
    int (*claim)(struct pawl_store *store, int64_t owner, struct pawl_claim *claims, size_t count,
                 struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                 struct pawl_error *err);

    /*
     * Applies each commit on its own and makes all of them durable together. PAWL_OK: `status` of
     * each is its result, also UNKNOWN: this one happened or did not. Any other result is for all
     * of them: TRANSIENT, none happened; UNKNOWN, all or none did (or, after a fallback to one by
     * one, each did or did not). What is left, and what each commit is told, is as if they had been
     * applied in some order, one after the other; but has_mail may be of any moment since.
     * Commits of one call concern different instances and different done rows.
     */
    int (*apply)(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                 int64_t deadline_ns, struct pawl_error *err);

    /*
     * Takes due work: rows with due_us <= now that no live node has, except mail of an instance
     * that another live node owns (that node finds its mail itself) or that is postponed (retry_us)
     * and not to be cancelled. Also takes parked work with expires_us <= now that no live node has,
     * even if its instance has an owner, because claims do not return it. For a taker that is not
     * alive itself every other node counts as alive, and its own rows are not taken again.
     */
    int (*take)(struct pawl_store *store, const struct pawl_take *take, struct pawl_arena *arena,
                struct pawl_taken *out, int64_t deadline_ns, struct pawl_error *err);

    int (*find)(struct pawl_store *store, const struct pawl_query *query, struct pawl_arena *arena,
                struct pawl_rows *out, int64_t deadline_ns, struct pawl_error *err);

    /*
     * Waits until this or another process has committed something that makes work due, changes a
     * stamp or is a reply, since the last wait with `wake`. PAWL_OK: check again; it may be
     * spurious. PAWL_ETIMEDOUT. It only shortens waits: nothing may depend on it.
     */
    int (*wait)(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                struct pawl_error *err);

    /* All rows of all tables as of one moment, table by table, while others keep writing. */
    int (*snapshot)(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                    int64_t deadline_ns, struct pawl_error *err);
    /* Inserts rows unchanged, to restore into an empty store. PAWL_EEXISTS. */
    int (*load)(struct pawl_store *store, enum pawl_table table, const void *rows, size_t count,
                int64_t deadline_ns, struct pawl_error *err);
    /* Checks what the backend itself can check (damaged pages, indexes); calls `visit` for each
     * finding. */
    int (*check)(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                 int64_t deadline_ns, struct pawl_error *err);

    /*
     * With PAWL_STORE_CAP_TICKETS only, and never called on decorators: releases the lock that
     * claims with this ticket acquired. Sends the request and does not wait for a reply. Harmless
     * if nothing was acquired.
     */
    void (*unlock)(struct pawl_store *store, const struct pawl_lock_ticket *ticket);

    /*
     * Since version 2. Runs `count` queries, at most PAWL_STORE_QUERIES_MAX, in one round trip.
     * out[i] is what find() returns for queries[i], read during the call; the queries need not see
     * the same moment. On failure of any of them no `out` is written. NULL: the store gains nothing
     * by it, and pawl_store_find_many() calls find() for each.
     */
    int (*find_many)(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                     struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                     struct pawl_error *err);

    /* Since version 3; not called on decorators. Bytes on disk, where finding out takes too long
     * for status(), which is called every second. NULL: status() tells. */
    int (*size)(struct pawl_store *store, int64_t *size_bytes, int64_t deadline_ns,
                struct pawl_error *err);
};

/* A backend embeds this as its first member. */
struct pawl_store {
    const struct pawl_store_ops *ops;
    uint32_t caps;            /* PAWL_STORE_CAP_… */
    struct pawl_store *inner; /* what a decorator wraps; else NULL */
    const char *name;         /* of the backend or decorator, for `pawl config` */
};

/* ---- fronts ------------------------------------------------------------------------------ */

/* The backend below all decorators. */
static inline struct pawl_store *pawl_store_backend(struct pawl_store *store)
{
    while (store->inner)
        store = store->inner;
    return store;
}

static inline void pawl_store_unlock(struct pawl_store *store,
                                     const struct pawl_lock_ticket *ticket)
{
    store = pawl_store_backend(store);
    if (store->caps & PAWL_STORE_CAP_TICKETS)
        store->ops->unlock(store, ticket);
}

static inline void pawl_store_close(struct pawl_store *store)
{
    if (store)
        store->ops->close(store);
}

PAWL_MUST_CHECK static inline int pawl_store_status(struct pawl_store *store,
                                                    struct pawl_store_status *out,
                                                    int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->status(store, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_lease(struct pawl_store *store,
                                                   struct pawl_lease *lease, int64_t deadline_ns,
                                                   struct pawl_error *err)
{
    return store->ops->lease(store, lease, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_claim(struct pawl_store *store, int64_t owner,
                                                   struct pawl_claim *claims, size_t count,
                                                   struct pawl_arena *arena, int64_t *now_us,
                                                   int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->claim(store, owner, claims, count, arena, now_us, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_apply(struct pawl_store *store,
                                                   struct pawl_commit *const *commits, size_t count,
                                                   int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->apply(store, commits, count, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_take(struct pawl_store *store,
                                                  const struct pawl_take *take,
                                                  struct pawl_arena *arena, struct pawl_taken *out,
                                                  int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->take(store, take, arena, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_find(struct pawl_store *store,
                                                  const struct pawl_query *query,
                                                  struct pawl_arena *arena, struct pawl_rows *out,
                                                  int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->find(store, query, arena, out, deadline_ns, err);
}

/* find_many() of a store that has none: find() for each query, in their order. */
PAWL_MUST_CHECK PAWL_API int pawl_store_find_each(struct pawl_store *store,
                                                  const struct pawl_query *queries, size_t count,
                                                  struct pawl_arena *arena, struct pawl_rows *out,
                                                  int64_t deadline_ns, struct pawl_error *err);

PAWL_MUST_CHECK static inline int pawl_store_find_many(struct pawl_store *store,
                                                       const struct pawl_query *queries,
                                                       size_t count, struct pawl_arena *arena,
                                                       struct pawl_rows *out, int64_t deadline_ns,
                                                       struct pawl_error *err)
{
    if (store->ops->version >= 2 && store->ops->find_many)
        return store->ops->find_many(store, queries, count, arena, out, deadline_ns, err);
    return pawl_store_find_each(store, queries, count, arena, out, deadline_ns, err);
}

/* 0: unknown. */
PAWL_MUST_CHECK static inline int pawl_store_size(struct pawl_store *store, int64_t *size_bytes,
                                                  int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_store *backend = pawl_store_backend(store);
    struct pawl_store_status seen;
    int status;

    if (backend->ops->version >= 3 && backend->ops->size)
        return backend->ops->size(backend, size_bytes, deadline_ns, err);
    status = pawl_store_status(store, &seen, deadline_ns, err);
    if (status == PAWL_OK)
        *size_bytes = seen.size_bytes;
    return status;
}

PAWL_MUST_CHECK static inline int pawl_store_wait(struct pawl_store *store, struct pawl_wake *wake,
                                                  int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->wait(store, wake, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_snapshot(struct pawl_store *store,
                                                      pawl_row_visitor visit, void *ctx,
                                                      int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->snapshot(store, visit, ctx, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_load(struct pawl_store *store, enum pawl_table table,
                                                  const void *rows, size_t count,
                                                  int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->load(store, table, rows, count, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl_store_check_backend(struct pawl_store *store,
                                                           pawl_finding_visitor visit, void *ctx,
                                                           int64_t deadline_ns,
                                                           struct pawl_error *err)
{
    return store->ops->check(store, visit, ctx, deadline_ns, err);
}

#ifdef __cplusplus
}
#endif
#endif
