/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the PostgreSQL store share: the store, its connections, and one call on one
 * connection. postgres.c says how it works.
 */
#ifndef PAWL_STORES_POSTGRES_H
#define PAWL_STORES_POSTGRES_H

#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "drivers/libpq.h"
#include "stores/clock.h"
#include "stores/sql.h"
#include "stores/stores.h"

/* What connections are for. */
enum pg_role {
    PG_COMMIT, /* synchronous_commit on: apply, load, joining */
    PG_FAST,   /* off: claims, takes; and reading */
    PG_LEASE,  /* off: renewing and leaving alone, which nothing else may hold up */
    PG_ROLE_COUNT
};

#define PG_CONNECTIONS_MAX 256
#define PG_CONNECTIONS_DEFAULT 9
#define PG_CONNECTIONS_MIN 4 /* one of each role, and the listener */

/* Nodes that join by one store: one in a program, a few in tests. */
#define PG_JOINED_MAX 4
/* Their incarnations, as a session is named by them; a session's name has 63 bytes. */
#define PG_JOINED_TEXT_MAX 40

/* Bytes of one row at the most; the server's own limit for a value is 1 GB. */
#define PG_ROW_BYTES_MAX ((size_t)256 << 20)
/* What one call keeps besides its rows: texts that are not as they were, arrays of ids. */
#define PG_CALL_BYTES_MAX ((size_t)512 << 20)

/* Statements of our own, beside those of sql.h: for many rows at once, which SQLite has no use for.
 * Parameters are in the order of the brackets. */
enum pg_own {
    PG_LOCK_INSTANCES, /* [ids] in their order */
    PG_LOCK_WORK,      /* [ids] */
    PG_LOCK_KEYS,      /* [keys of reservations, names of stamps], until the transaction ends */
    PG_STAMP_CHECK,    /* [name, value, first] guard; a stamp that does not exist has the value 0 */
    PG_STAMP,          /* [name, value] in a member */
    PG_HOLD,           /* [member] a member without an instance's guard holds if its guards do */
    PG_WAKE,           /* [ids, hashes, correlations, instances, activity instances, members of
                        * bookmarks] makes parked work due that they match, if the members hold */
    PG_WAKE_LATE,      /* the same for bookmarks that are committed */
    PG_MAIL_LEFT,      /* [members, ids of instances, limits] returns members, ids of due work */
    PG_NOTIFY,         /* wakes the waiters */
    PG_MAY_SCAN,       /* before a query: it may read a whole table, which others may not, and is
                        * planned for the values it has */
    PG_PATIENT,        /* waits for locks until the deadline, in this transaction */
    PG_NAME_SESSION,   /* [incarnations] for which the session works; see PG_END_DEAD */
    PG_END_DEAD,       /* [age] ends sessions in a transaction of that age whose nodes are dead */
    PG_JOIN_LOCK,      /* one node joins at a time */
    PG_JOIN,           /* [id, info, ttl] returns incarnation and now */
    PG_RENEW,          /* [id, incarnation, info, ttl] returns the lease before and now */
    PG_CLAIM,          /* [ids, owner] returns instances */
    PG_CLAIM_MATCH,    /* [ids, owner, fence, hash] as PG_CLAIM, if it has a bookmark with it */
    PG_TRY_LOCKS,      /* [keys] takes what is free; returns which, "{1,3}"; 0 is always free */
    PG_CLAIM_LOCKED,   /* [ids, owner] as PG_CLAIM, of those without an owner only the locked */
    PG_UNLOCK,         /* [keys] */
    PG_CLAIM_BUSY,     /* [ids, owner] returns instances without state */
    PG_CLAIM_MAIL,     /* [ids, owner, limit] returns work */
    PG_OWN_COUNT
};

/* Numbers of prepared statements. Of MANY: as of CHANGE, in the same order. */
#define PG_NUMBER_NAMED 0u
#define PG_NUMBER_CHANGE (PG_NUMBER_NAMED + PAWL_SQL_NAME_COUNT)
#define PG_NUMBER_ABSENT (PG_NUMBER_CHANGE + PAWL_TABLE_COUNT * (PAWL_CHANGE_DELETE_OWNED + 1u))
#define PG_NUMBER_LOAD (PG_NUMBER_ABSENT + PAWL_TABLE_COUNT)
#define PG_NUMBER_OWN (PG_NUMBER_LOAD + PAWL_TABLE_COUNT)
#define PG_NUMBER_MANY (PG_NUMBER_OWN + PG_OWN_COUNT)

struct pg_pool {
    struct pawl_cond *freed; /* a connection came back, or may be opened */
    struct pawl_pq_conn *idle[PG_CONNECTIONS_MAX];
    size_t idle_count;
    size_t open_count; /* idle and in use, or being opened */
    size_t max_count;
};

struct pawl_postgres {
    struct pawl_store base;
    struct pawl_env *env;
    struct pawl_pq *pq;
    struct pawl_sql *sql;
    char *uri;
    size_t uri_size;
    uint32_t flags;
    const char *own[PG_OWN_COUNT]; /* texts, in the arena */
    uint64_t own_columns[PG_OWN_COUNT];
    struct pawl_arena texts;

    struct pawl_mutex *lock; /* guards everything below */
    struct pg_pool pools[PG_ROLE_COUNT];
    struct pawl_store_clock clock;
    int64_t round_trips;
    int64_t syncs;
    int64_t retry_ns;  /* no connection is tried before, except for leases */
    uint32_t failures; /* of connecting, in a row */
    /* Nodes that have joined and not left, and how their sessions are named. */
    struct {
        uint64_t id_hash;
        int64_t incarnation;
    } joined[PG_JOINED_MAX];
    size_t joined_count;
    bool is_open;         /* its database was there: if it is not now, it may be back */
    bool is_crowded;      /* more have joined: their sessions are nobody's */
    uint64_t joined_mark; /* counts the changes: of a connection that is named by the last one */
    char joined_text[PG_JOINED_TEXT_MAX];
    /* One of the waiters reads the listening connection, the others wait for it. */
    struct pawl_pq_conn *listener;
    struct pawl_cond *woken;
    bool is_led;
    uint64_t wakes;
    /* Locks that came with claims (postgres_tickets.c). */
    struct pawl_map held;     /* struct pg_held by key */
    struct pawl_list leaving; /* to be unlocked when their connection is free */
    struct pawl_list posted;  /* unlocking was sent, and nothing was read since */
    size_t unlocked_waiters;  /* for one certain connection */
};

/* ---- connections (postgres_pool.c) ------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__pg_pools_init(struct pawl_postgres *pg, uint32_t connections);
void pawl__pg_pools_release(struct pawl_postgres *pg);
/* `key` not 0: of a lock to acquire, which one of our connections may be about to release. */
PAWL_MUST_CHECK int pawl__pg_acquire(struct pawl_postgres *pg, enum pg_role role, int64_t key,
                                     int64_t deadline_ns, struct pawl_pq_conn **out,
                                     struct pawl_error *err);
void pawl__pg_give_back(struct pawl_postgres *pg, enum pg_role role, struct pawl_pq_conn *conn);
void pawl__pg_count(struct pawl_postgres *pg, int64_t round_trips, int64_t syncs);
/* Sessions are named by the nodes that joined: who ends dead ones' knows them by that. */
void pawl__pg_note_joined(struct pawl_postgres *pg, struct pawl_str node_id, int64_t incarnation);
void pawl__pg_note_left(struct pawl_postgres *pg, int64_t incarnation);
int pawl__pg_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                  struct pawl_error *err);

/* ---- locks that come with claims (postgres_tickets.c) ------------------------------------- */

PAWL_MUST_CHECK int pawl__pg_tickets_init(struct pawl_postgres *pg);
void pawl__pg_tickets_release(struct pawl_postgres *pg);
void pawl__pg_unlock(struct pawl_store *store, const struct pawl_lock_ticket *ticket);
/* Whether one of our connections has it, which then keeps it until the next unlock(). */
bool pawl__pg_holds(struct pawl_postgres *pg, int64_t key);
/* `conn` holds it. PAWL_ENOMEM: the caller releases it. */
PAWL_MUST_CHECK int pawl__pg_note_held(struct pawl_postgres *pg, int64_t key,
                                       struct pawl_pq_conn *conn);
/* Sends the unlocking of `keys` on a connection that is the caller's; a failure breaks it. */
void pawl__pg_post_unlock(struct pawl_postgres *pg, struct pawl_pq_conn *conn, const int64_t *keys,
                          size_t count);
/* Under the lock: the next key that waits for this connection; false: none. */
bool pawl__pg_next_leaving(struct pawl_postgres *pg, struct pawl_pq_conn *conn, int64_t *key);
/* Under the lock: checks whether everything that was posted on it has been replied to. */
void pawl__pg_note_answered(struct pawl_postgres *pg, const struct pawl_pq_conn *conn);
/* Under the lock, which it gives up while it waits: takes the connection that is to unlock the key
 * first. NULL: there is none, or it is in use for long. A lock that is still ours is kept. */
struct pawl_pq_conn *pawl__pg_await_unlocked(struct pawl_postgres *pg, int64_t key,
                                             int64_t deadline_ns);
/* Under the lock: the connection ends, and with it its locks. */
void pawl__pg_forget_held(struct pawl_postgres *pg, const struct pawl_pq_conn *conn);

/* ---- one call on one connection (postgres_call.c) ---------------------------------------- */

struct pg_call {
    struct pawl_postgres *pg;
    struct pawl_pq_conn *conn;
    enum pg_role role;
    struct pawl_arena arena; /* until the end of the call */
    struct pawl_socket_wait wait;
    struct pawl_error *err;
    size_t count;     /* statements queued: the next one's number in the batch */
    bool prepare;     /* nothing is queued: what would be is prepared */
    bool has_tickets; /* of a claim */
    bool is_answered; /* there are results of the last batch */
};

/* Takes a connection and begins a batch; `writes` is refused on a store that only reads. */
PAWL_MUST_CHECK int pawl__pg_call_begin(struct pg_call *call, struct pawl_store *store,
                                        enum pg_role role, bool writes, int64_t deadline_ns,
                                        struct pawl_error *err);
/* The same for a call that takes the lock `key`, see pawl__pg_acquire(). */
PAWL_MUST_CHECK int pawl__pg_call_begin_lock(struct pg_call *call, struct pawl_store *store,
                                             enum pg_role role, bool writes, int64_t key,
                                             int64_t deadline_ns, struct pawl_error *err);
void pawl__pg_call_end(struct pg_call *call);
/* The next batch on the same connection. */
PAWL_MUST_CHECK int pawl__pg_again(struct pg_call *call);

/* Each queues one statement; its number in the batch is call->count before. */
PAWL_MUST_CHECK int pawl__pg_named(struct pg_call *call, enum pawl_sql_name name,
                                   const struct pawl_sql_inputs *inputs);
PAWL_MUST_CHECK int pawl__pg_statement(struct pg_call *call, uint32_t number,
                                       const struct pawl_sql_statement *statement,
                                       const struct pawl_sql_inputs *inputs);
/* One of those for many rows (sql.h): `inputs` has `count`, each with its member; behind these come
 * `more` parameters. */
PAWL_MUST_CHECK int pawl__pg_statement_many(struct pg_call *call, uint32_t number,
                                            const struct pawl_sql_statement *statement,
                                            const struct pawl_sql_inputs *inputs, size_t count,
                                            const struct pawl_pq_param *more, size_t more_count);
PAWL_MUST_CHECK int pawl__pg_own(struct pg_call *call, enum pg_own own,
                                 const struct pawl_pq_param *params, size_t count);
/* A text that comes once and has no parameters. */
PAWL_MUST_CHECK int pawl__pg_text(struct pg_call *call, const char *text);
PAWL_MUST_CHECK int pawl__pg_sync(struct pg_call *call);
/* Runs the batch; PAWL_OK: all statements succeeded. Else the first one's error. */
PAWL_MUST_CHECK int pawl__pg_run(struct pg_call *call, bool writes);
/* The first error of the statements [from, to). */
PAWL_MUST_CHECK int pawl__pg_first_error(struct pg_call *call, size_t from, size_t to,
                                         struct pawl_error *err);

/* Array parameters, in the call's arena; texts are cleaned of NULs. */
PAWL_MUST_CHECK int pawl__pg_ints(struct pg_call *call, const int64_t *integers, size_t count,
                                  struct pawl_pq_param *out);
PAWL_MUST_CHECK int pawl__pg_texts(struct pg_call *call, const struct pawl_str *texts, size_t count,
                                   struct pawl_pq_param *out);
/* Reads a row of a result into a table's struct; what it points to is in `arena`. */
PAWL_MUST_CHECK int pawl__pg_row(const struct pg_call *call, size_t at, size_t row,
                                 enum pawl_table table, uint64_t columns, struct pawl_arena *arena,
                                 void *out);
/* All rows of a result. */
PAWL_MUST_CHECK int pawl__pg_rows(const struct pg_call *call, size_t at, enum pawl_table table,
                                  uint64_t columns, struct pawl_arena *arena, void **out,
                                  size_t *count);

/* ---- operations -------------------------------------------------------------------------- */

/* postgres_text.c */
PAWL_MUST_CHECK int pawl__pg_texts_make(struct pawl_postgres *pg);
/* postgres_schema.c */
PAWL_MUST_CHECK int pawl__pg_schema_open(struct pawl_postgres *pg, int64_t deadline_ns,
                                         struct pawl_error *err);
/* postgres_apply.c */
int pawl__pg_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                   int64_t deadline_ns, struct pawl_error *err);
/* postgres_claim.c */
int pawl__pg_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims, size_t count,
                   struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                   struct pawl_error *err);
int pawl__pg_take(struct pawl_store *store, const struct pawl_take *take, struct pawl_arena *arena,
                  struct pawl_taken *out, int64_t deadline_ns, struct pawl_error *err);
/* postgres_find.c */
int pawl__pg_find(struct pawl_store *store, const struct pawl_query *query,
                  struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                  struct pawl_error *err);
int pawl__pg_find_many(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                       struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                       struct pawl_error *err);
int pawl__pg_snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                      int64_t deadline_ns, struct pawl_error *err);
int pawl__pg_load(struct pawl_store *store, enum pawl_table table, const void *rows, size_t count,
                  int64_t deadline_ns, struct pawl_error *err);

#endif
