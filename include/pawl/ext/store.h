/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store: where instances, bookmarks, work and definitions are kept.
 *
 * The store is what makes Pawl safe. Locks say who probably owns an instance; only the store's own
 * check of owner, fence and revision, inside the transaction that writes, decides
 * (docs/design/0001). Everything durable is a row of one of the tables below; everything is written
 * by apply(), all or nothing per commit.
 *
 * The life of an instance in it:
 *
 *     claim   owner = my incarnation, a greater fence; returns the row with its state, and its mail
 *     apply   ADVANCE, where owner, fence and revision are mine; revision + 1
 *     apply   the last one of a burst has PAWL_COMMIT_RELEASE: the owner is cleared
 *
 * A claim does not steal: it answers PAWL_EBUSY while the owner's node lives, which is while its
 * row in the table of nodes has the owner's incarnation and a lease that is not over. Instances
 * carry no lease of their own. Work rows are due until a commit deletes them; whoever takes one
 * holds it no longer than its node lives.
 *
 * Time is the store's: due times and leases are compared with its clock inside the statement, never
 * with a node's. All times are microseconds since 1970-01-01 UTC.
 *
 * A backend is a const table of functions and an object that embeds struct pawl_store. Calls block,
 * on worker threads only, until `deadline_ns` of the environment's monotonic clock. All calls but
 * close may run at the same time on any number of threads. Each answers PAWL_OK or an error whose
 * class says what to do: after UNKNOWN the call may have taken effect. Rows that a call answers are
 * allocated in the caller's arena and live as long as that.
 *
 * Text columns hold UTF-8; a NUL in one is stored as U+FFFD, since not every database has NULs in
 * text, and filters are treated alike. Columns of bytes hold anything. There are no SQL NULLs: what
 * is not given is "" or 0.
 */
#ifndef PAWL_EXT_STORE_H
#define PAWL_EXT_STORE_H

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_STORE_VERSION 1u

/* Of due_us: not until something makes it due. Of expires_us: never. */
#define PAWL_TIME_NEVER INT64_MAX

/* Commits per apply() and ids per claim() at the most. */
#define PAWL_STORE_BATCH_MAX 256
/* Rows that one find() answers at the most, and what it means not to say how many. */
#define PAWL_STORE_ROWS_MAX 10000
#define PAWL_STORE_ROWS_DEFAULT 100
/* Conditions of one query, and values of one IN. */
#define PAWL_STORE_CONDITIONS_MAX 32
#define PAWL_STORE_VALUES_MAX 1000

/* What a store can do. Decorators pass these on. */
#define PAWL_STORE_CAP_DURABLE 1u   /* outlives the process */
#define PAWL_STORE_CAP_PROCESSES 2u /* several processes may open it */
#define PAWL_STORE_CAP_MACHINES 4u  /* processes on several machines */
#define PAWL_STORE_CAP_TICKETS 8u   /* takes locks of its server together with claims */

struct pawl_arena;

/* Memory of an arena for backends outside of the library; NULL when it has no more. */
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
    PAWL_TABLE_COUNT
};

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
    int64_t owner;            /* incarnation of the node that has claimed it; 0: nobody */
    int64_t fence;            /* counts claims */
    int64_t revision;         /* counts commits; the first is 1 */
    int64_t revision_fence;   /* the fence under which the last revision was written */
    int64_t cancel_requested; /* somebody wants it cancelled; its owner looks at this */
    int64_t runnable;         /* the stored state stands in the middle of a burst */
    struct pawl_str state;    /* bytes: the stored state, perhaps compressed; opaque here */
    struct pawl_str counts;   /* bytes: counts per activity; opaque here */
    int64_t revision_owner;   /* incarnation that wrote the last revision: with revision and fence
                               * it proves whose commit that was. A fence alone does not: a server
                               * that crashed may have forgotten a claim and issue it again. */
    int64_t takeovers; /* claims from a dead owner since the last ADVANCE without KEEP: the claim
                        * counts them. What kills its nodes again and again shows here. */
    int64_t failures;  /* runs in a row that ended without a step */
    int64_t retry_us;  /* take() does not name it before; PAWL_TIME_NEVER: set aside until an
                        * operator decides */
    struct pawl_str trouble; /* why; "": none */
    int64_t alone;     /* takeovers when a node last said that it runs it alone; 0: none did */
    int64_t state_sum; /* checksum of the bytes of `state`; 0: not known, of rows of version 1 */
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
 * timer, an effect. Due until a commit deletes it. One that matches nothing yet is parked: due_us
 * is PAWL_TIME_NEVER and its hash says for which bookmark it waits.
 */
struct pawl_work_row {
    struct pawl_str id;
    struct pawl_str kind;        /* a word; the runtime's */
    struct pawl_str instance_id; /* "": of no instance; else it is mail of that one */
    struct pawl_str bookmark_id;
    struct pawl_str hash;
    struct pawl_str correlation_id;
    struct pawl_str activity_instance_id;
    struct pawl_str name;
    int64_t part; /* 0 to 1023: who takes by partition takes by this */
    int64_t created_us;
    int64_t due_us;
    int64_t expires_us;
    int64_t attempts;
    int64_t attempted_us;
    int64_t owner; /* incarnation of the node that took it; 0: nobody */
    struct pawl_str error;
    struct pawl_str payload; /* bytes: JSON */
    int64_t takeovers;       /* takes from a node that had died or left: take() counts them */
    int64_t begun;  /* takeovers when a node said that it begins to do it; 0: none did, or it
                     * returned. Written by commits, as what follows */
    int64_t deaths; /* nodes in a row that died after they had said so */
};

/*
 * Something that exists once: an activation ("only one instance of this definition"), a caller's
 * idempotency key, a commit that may be sent again. Inserting one that is there drops the commit.
 * So does inserting one that has expired by the store's clock, with PAWL_ECONFLICT: whoever comes
 * so late can no longer be told whether he was here before, since expired ones are deleted.
 */
struct pawl_reservation_row {
    struct pawl_str key;
    struct pawl_str instance_id; /* "": of none; else it goes when that one is deleted */
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
    struct pawl_str data; /* bytes: JSON */
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

/* Work that was given up, kept for a person to look at and to replay. */
struct pawl_dead_letter_row {
    struct pawl_str id;
    struct pawl_str work_id; /* unique: given up once */
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

/* A node and its lease. Written by lease() alone. */
struct pawl_node_row {
    struct pawl_str id;
    int64_t incarnation; /* unique in the store; grows */
    int64_t joined_us;
    int64_t lease_us; /* the lease ends then */
    struct pawl_str info;
};

/* A number that changes whenever something does, so that caches need only look at it. */
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
    uint32_t key_count; /* the first so many columns are the primary key */
    size_t row_size;
};

/* The tables by enum pawl_table; columns in the order of the structs above. */
PAWL_API const struct pawl_table_info *pawl_table_info(enum pawl_table table);
/* The number of a column by name; asserts that there is one. */
PAWL_API uint32_t pawl_table_column(enum pawl_table table, const char *name);

/* ---- claims ------------------------------------------------------------------------------ */

/*
 * An advisory lock to be taken together with the claim, by a store whose server is the lock service
 * too: no round trip of its own. It is not needed for what such a store's claim is for, so it never
 * stands in the way of a takeover: an instance whose owner's node is dead is granted although the
 * dead node's connection still has the lock. Held until unlock(), or until the store's connection
 * breaks, which nobody is told.
 */
struct pawl_lock_ticket {
    int64_t key; /* not 0 */
};

struct pawl_claim {
    struct pawl_str id;
    const struct pawl_lock_ticket *ticket; /* NULL: none. Ignored without PAWL_STORE_CAP_TICKETS */
    int64_t seen_fence; /* the greatest that `owner` was granted before, of any instance; 0: none */
    /* Answers: */
    int status; /* PAWL_OK; PAWL_EBUSY: a living owner (in row.owner) has it, or, with owner 0,
                 * somebody else has the ticket's lock; PAWL_ENOTFOUND */
    struct pawl_instance_row row;     /* as claimed; of a busy one everything but state */
    const struct pawl_work_row *mail; /* its due work, oldest first, at most PAWL_CLAIM_MAIL_MAX */
    size_t mail_count;
};
#define PAWL_CLAIM_MAIL_MAX 64

/* ---- commits ----------------------------------------------------------------------------- */

enum pawl_change_kind {
    /* There already means: its primary key or another unique one. */
    PAWL_CHANGE_INSERT,       /* there already: the whole commit is dropped, PAWL_EEXISTS */
    PAWL_CHANGE_ADD,          /* there already: left as it is */
    PAWL_CHANGE_PUT,          /* its primary key is there already: replaced; else as INSERT */
    PAWL_CHANGE_DELETE,       /* by primary key; not there: fine */
    PAWL_CHANGE_DELETE_OWNED, /* all rows whose instance_id is the row's; none when that is "" */
};

/* Of any table but instances, nodes and stamps. */
struct pawl_change {
    enum pawl_change_kind kind;
    enum pawl_table table;
    const void *row; /* struct pawl_…_row of the table; DELETE needs its key only */
};

enum pawl_commit_kind {
    PAWL_COMMIT_PLAIN,   /* no instance of its own */
    PAWL_COMMIT_CREATE,  /* a new instance; there already: dropped, PAWL_EEXISTS */
    PAWL_COMMIT_ADVANCE, /* the next revision of a claimed one */
    PAWL_COMMIT_DELETE,  /* a claimed one goes, with its bookmarks, work, journal, reservations */
    /* Asks for its cancellation: no claim needed. PAWL_ENOTFOUND; PAWL_EBUSY: somebody writes the
     * instance at this moment. */
    PAWL_COMMIT_CANCEL,
};

/* ADVANCE: the owner is cleared. CREATE: it is never set. */
#define PAWL_COMMIT_RELEASE 1u
/* ADVANCE: the row's state, counts and everything else but owner and revision stay as they are. */
#define PAWL_COMMIT_KEEP 2u
/* ADVANCE without KEEP: what was asked for before does not count any more; cancel_requested is
 * cleared. Of an instance that had ended and goes on. */
#define PAWL_COMMIT_REOPEN 4u
/* ADVANCE with KEEP: of the row, failures, retry_us, trouble and alone are written all the same. Of
 * an instance that cannot be run now: its state is not touched. */
#define PAWL_COMMIT_SET_ASIDE 16u
/* ADVANCE with KEEP and SET_ASIDE: status, sub_status, runnable, updated_us and finished_us are
 * written too, and takeovers is cleared. Of an instance that ends although its state cannot be
 * read: the state stays as it is. */
#define PAWL_COMMIT_END 32u
/* CREATE, ADVANCE: nobody will look at has_mail, which may then be false for no reason; a server
 * need not be asked. */
#define PAWL_COMMIT_UNASKED 8u

/*
 * One commit: everything in it or nothing. Borrowed until apply() returns.
 *
 * CREATE: `instance` is the whole row. It is stored with fence 1, revision 1 and the row's owner (0
 * with RELEASE). ADVANCE: `instance` has id, owner, fence and revision as claimed or last committed
 * (they must match, else the commit is dropped with PAWL_ECONFLICT) and new values in all other
 * members but created_us, cancel_requested and parent_id, which stay. The caller's row is not
 * changed: after PAWL_OK its next revision is one more. DELETE: as ADVANCE, of which only the guard
 * is used. CANCEL: the id.
 *
 * Work that a commit finishes is named in `done`: each of these rows must still be there and be
 * owned by `done_owner`, else the commit is dropped with PAWL_ECONFLICT; it deletes them before it
 * makes its changes, one of which may put such a row back for another time. Mail needs no such
 * guard (the instance's own is enough): delete it by a change.
 *
 * `stamp` is a guard and a signal: with a name, the stamp must have `stamp_value` (else
 * PAWL_ECONFLICT) and becomes one more. A stamp that is not there yet has the value 0.
 *
 * New bookmarks make parked work that they match due in the same transaction: work of their hash
 * ("" is no hash) whose correlation_id, instance_id and activity_instance_id are "" or theirs, and
 * that no node has taken. What does not match them costs nothing.
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
    /* Answers: */
    int status;            /* PAWL_OK, or why this commit alone was dropped; TRANSIENT: for now,
                            * apply it again */
    bool cancel_requested; /* CREATE, ADVANCE: somebody wants the instance cancelled */
    bool has_mail; /* CREATE, ADVANCE, not UNASKED: due work for the instance that is not in this
                    * commit */
    struct pawl_error error; /* of a status that is neither PAWL_OK nor PAWL_ECONFLICT */
};

/* ---- due work ---------------------------------------------------------------------------- */

struct pawl_take {
    int64_t owner;      /* incarnation: the rows become this node's */
    uint32_t limit;     /* rows at the most */
    uint32_t part_from; /* parts [from, to) of 1024; 0 and 0: all */
    uint32_t part_to;
    struct pawl_str kind; /* "": any */
    /* So many of the instances that are runnable are left out, always the same ones while nothing
     * changes: who was refused those that were named sees others behind them. */
    uint32_t runnable_skip;
};

struct pawl_taken {
    const struct pawl_work_row *work; /* due, oldest due first, now owned; or expired: see below */
    size_t work_count;
    /* Instances that are runnable, not put off (retry_us) and have no living owner, at most
     * `limit`: not claimed yet. */
    const struct pawl_str *runnable;
    size_t runnable_count;
    int64_t now_us;
    int64_t next_due_us; /* of the work that is not due yet; PAWL_TIME_NEVER */
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
    PAWL_CONTAINS, /* text, ASCII letters without case */
};

struct pawl_datum {
    struct pawl_str text; /* TEXT, BYTES */
    int64_t integer;      /* INT */
};

struct pawl_condition {
    uint32_t column;
    enum pawl_compare compare;
    uint32_t any; /* not 0: of neighbours with the same number one must hold, else all must */
    struct pawl_datum value;
    const struct pawl_datum *values; /* IN */
    size_t value_count;
};

/* Bytes columns are not read: they come as "". */
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
    uint32_t order; /* a column; equal ones are in the order of the key. 0: the key. DESCENDING
                     * turns both around; text and bytes are compared by their bytes */
    uint64_t offset;
    uint32_t limit; /* 0: PAWL_STORE_ROWS_DEFAULT */
    /* Only what comes after this row of the same table in this order (its key and the order's
     * column are looked at). NULL: from the start. */
    const void *after;
};

struct pawl_rows {
    const void *rows; /* an array of the table's struct */
    size_t count;
    uint64_t total; /* with COUNT or TOTAL, of all that match, whatever after, offset and limit */
};

/* ---- nodes, state of the store ----------------------------------------------------------- */

/* Rows of nodes that did not leave, and whose lease has been over for so long, go when another node
 * joins. */
#define PAWL_NODE_FORGET_US INT64_C(86400000000)

enum pawl_lease_kind {
    /* By id: a new incarnation, also of a node that is there. No incarnation is given twice, also
     * when the rows of old ones are gone. */
    PAWL_LEASE_JOIN,
    PAWL_LEASE_RENEW, /* PAWL_ECONFLICT: another incarnation of this node has joined since */
    /* The lease ends now; what the node owned is free. Its row goes, unless an instance still has
     * its incarnation as owner. Nothing happens to a later incarnation. */
    PAWL_LEASE_LEAVE,
};

struct pawl_lease {
    enum pawl_lease_kind kind;
    struct pawl_str node_id;
    int64_t incarnation; /* JOIN: answered */
    int64_t ttl_us;
    struct pawl_str info; /* JOIN, RENEW: what `pawl nodes` shows; JSON */
    /* Answers: */
    int64_t now_us;
    bool lapsed; /* RENEW: the lease had been over in between */
};

struct pawl_store_status {
    int64_t now_us;
    int64_t schema;      /* version of the tables */
    int64_t round_trips; /* flush-and-wait to a server, by all calls of this object so far */
    int64_t syncs;       /* transactions that were made durable, likewise */
    char backend[32];    /* "memory", "sqlite", "postgres" */
    char server[128];    /* library or server version, for people */
    char location[256];  /* file or host and database, without secrets */
    int64_t size_bytes;  /* on disk; 0: unknown */
};

/* What wait() saw last. Zeroed at first. */
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

    /* After all other calls have returned. Joined nodes stay joined. NULL is not passed. */
    void (*close)(struct pawl_store *store);

    int (*status)(struct pawl_store *store, struct pawl_store_status *out, int64_t deadline_ns,
                  struct pawl_error *err);

    int (*lease)(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                 struct pawl_error *err);

    /*
     * Claims each id for the incarnation `owner`; ids are different. Answers per claim. What was
     * claimed need not be synced: a claim that a crash undoes was never acted upon, because every
     * act is a commit. An instance that `owner` has already is claimed again, with a new fence.
     * A fence that is granted is greater than the instance's and than the greatest `seen_fence` of
     * the call: so no two claims of an incarnation have the same one, also when a crash undid the
     * first, and a commit of the first that arrives late does not pass for one of the second.
     * PAWL_EBUSY for all of them: somebody has one of the rows locked for longer than a commit
     * takes; nothing was claimed.
     */
    int (*claim)(struct pawl_store *store, int64_t owner, struct pawl_claim *claims, size_t count,
                 struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                 struct pawl_error *err);

    /*
     * Applies each commit alone and makes all of them durable together. PAWL_OK: `status` of each
     * says what became of it. Any other answer is for all of them: TRANSIENT, none happened;
     * UNKNOWN, all or none did (or, after a fallback to one by one, each did or did not).
     * Commits of one call touch different instances and different done rows.
     */
    int (*apply)(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                 int64_t deadline_ns, struct pawl_error *err);

    /*
     * Takes due work: rows with due_us <= now that no living node has, and not mail of an instance
     * that another living node owns (that one finds its mail itself) or that is put off (retry_us).
     * And parked work with expires_us <= now that no living node has, whoever owns the instance
     * that it is for: claims do not return it.
     */
    int (*take)(struct pawl_store *store, const struct pawl_take *take, struct pawl_arena *arena,
                struct pawl_taken *out, int64_t deadline_ns, struct pawl_error *err);

    int (*find)(struct pawl_store *store, const struct pawl_query *query, struct pawl_arena *arena,
                struct pawl_rows *out, int64_t deadline_ns, struct pawl_error *err);

    /*
     * Waits until something was committed, here or by another process, that makes work due or moves
     * a stamp, since `wake` was last answered. PAWL_OK: look again, perhaps for no reason.
     * PAWL_ETIMEDOUT. It only shortens waits: nothing may depend on it.
     */
    int (*wait)(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                struct pawl_error *err);

    /* All rows of all tables as of one moment, table by table, while others go on writing. */
    int (*snapshot)(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                    int64_t deadline_ns, struct pawl_error *err);
    /* Inserts rows as they are: for restoring into a store that has none. PAWL_EEXISTS. */
    int (*load)(struct pawl_store *store, enum pawl_table table, const void *rows, size_t count,
                int64_t deadline_ns, struct pawl_error *err);
    /* Checks what the backend itself can check (damaged pages, indexes); tells each finding. */
    int (*check)(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                 int64_t deadline_ns, struct pawl_error *err);

    /*
     * With PAWL_STORE_CAP_TICKETS only, and never called on decorators: gives back what claims with
     * this ticket took. Sends, does not wait for an answer. Nothing was taken: fine.
     */
    void (*unlock)(struct pawl_store *store, const struct pawl_lock_ticket *ticket);
};

/* A backend embeds this as its first member. */
struct pawl_store {
    const struct pawl_store_ops *ops;
    uint32_t caps;            /* PAWL_STORE_CAP_… */
    struct pawl_store *inner; /* of a decorator; else NULL */
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

PAWL_MUST_CHECK static inline int pawl_store_check(struct pawl_store *store,
                                                   pawl_finding_visitor visit, void *ctx,
                                                   int64_t deadline_ns, struct pawl_error *err)
{
    return store->ops->check(store, visit, ctx, deadline_ns, err);
}

#ifdef __cplusplus
}
#endif
#endif
