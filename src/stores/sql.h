/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL for the stores that speak it: the schema, the statements of every call, and queries, made
 * from pawl_table_info() for two dialects. It talks to no database.
 *
 * A statement is a text with numbered parameters (?1 in SQLite, $1 in PostgreSQL) and a list that
 * says where each value comes from: a column of a row, or a member of struct pawl_sql_inputs.
 * pawl__sql_bind() turns both into an array of values that a driver binds in order. Values are
 * never in the text. In PostgreSQL the types of the parameters must be given when a statement is
 * prepared: text (25) for PAWL_COLUMN_TEXT, bytea (17) for BYTES, bigint (20) for INT.
 *
 * How a commit is applied.
 *
 * In SQLite statements run in the order: the instance's (CREATE to CANCEL of enum pawl_sql_name),
 * DONE (each), STAMP_ENSURE and STAMP, the changes, WAKE for each new bookmark, AFTERWARDS. One
 * that should have met a row and did not ends the member: roll back to a savepoint.
 *
 * In PostgreSQL the whole batch is sent as one pipeline without waiting, so a member's later
 * statements must know by themselves whether its earlier ones held. They do by a verdict, a setting
 * of the transaction ('pawl.ok'), which a member's guards set and everything after them requires:
 *
 *     guards     MEMBER (a member without another guard), DONE_CHECK (each), its stamp
 *                (postgres_text.c), ABSENT (each reservation that it inserts), and last the
 *                instance's. Each returns one row whose
 *                first column is '1' (held, as did all before) or '0'; ABSENT of a reservation
 *                that has expired returns '2'. The first guard of a member has `first` 1, the
 *                others 0.
 *     the rest   DONE (each), its stamp, the changes: they do nothing after another verdict. What
 *                its bookmarks wake, by 'pawl.held'. MAIL_LEFT, which only asks.
 *
 * In a batch of several members most rows are not sent member by member, but as one statement for
 * all of them (postgres_many.c): it asks which of them have held, by their numbers, another setting
 * of the transaction ('pawl.held'), to which the instance's guard adds its member. Members that
 * have few guards and nothing but such rows are guarded together, too.
 *
 * The first guard that does not return '1' says why the member was dropped. Guards lock the rows
 * they look at. What they cannot see, such as a row with the same key that another transaction
 * inserts at the same time, is an error of the statement: roll back and apply the members one by
 * one.
 */
#ifndef PAWL_STORES_SQL_H
#define PAWL_STORES_SQL_H

#include "base/arena.h"

#include <pawl/ext/store.h>

enum pawl_sql_dialect { PAWL_SQL_SQLITE, PAWL_SQL_POSTGRES };

/* Parameters of one fixed statement at the most: the widest table and what guards it. */
#define PAWL_SQL_PARAMS_MAX 48

enum pawl_sql_source {
    PAWL_SQL_ROW,    /* `offset` is in the row */
    PAWL_SQL_INPUTS, /* `offset` is in struct pawl_sql_inputs */
};

struct pawl_sql_param {
    enum pawl_sql_source source;
    enum pawl_column_type type;
    uint32_t offset;
};

struct pawl_sql_statement {
    const char *text; /* NULL: this dialect has no such statement */
    const struct pawl_sql_param *params;
    uint32_t param_count;
    /* Of those that return rows of `table`: which columns, in the table's order; bit n is the
     * column n. 0: it returns something else, said at its name. */
    enum pawl_table table;
    uint64_t columns;
};

/* What is not in a row. Each statement says at its name what it reads of this. */
struct pawl_sql_inputs {
    const void *row;       /* struct pawl_…_row of the statement's table */
    struct pawl_str id;    /* of an instance, work or node */
    struct pawl_str text;  /* see the statement */
    struct pawl_str kinds; /* of work: a JSON array */
    int64_t now_us;        /* SQLite only; PostgreSQL looks at its clock itself */
    int64_t first;         /* PostgreSQL guards: 1 when it is the member's first */
    int64_t owner;
    int64_t value;
    int64_t limit;
    int64_t part_from;
    int64_t part_to;
    int64_t only;   /* 0 or 1 */
    int64_t member; /* PostgreSQL guards of instances: its number in the batch, from 1 on */
};

struct pawl_sql_value {
    enum pawl_column_type type;
    struct pawl_str text; /* TEXT, BYTES */
    int64_t integer;      /* INT */
};

/* "guard" is what the head of this file says. `row` is of the table in brackets. */
enum pawl_sql_name {
    PAWL_SQL_NOW,        /* PostgreSQL: returns the clock in microseconds */
    PAWL_SQL_SCHEMA,     /* returns version, minimum_reader, written_by of the newest, or nothing */
    PAWL_SQL_LIVING,     /* returns the id of a node with a valid lease, or nothing */
    PAWL_SQL_SCHEMA_ADD, /* value: version; limit: minimum_reader; text: written_by */

    PAWL_SQL_MEMBER,       /* PostgreSQL: guard that always holds */
    PAWL_SQL_DONE_CHECK,   /* PostgreSQL: guard. id: of the work; owner */
    PAWL_SQL_DONE,         /* id: of the work; owner. Must delete one row */
    PAWL_SQL_STAMP_ENSURE, /* SQLite. text: the stamp's name; makes one of value 0 when there is
                              none */
    PAWL_SQL_STAMP,        /* SQLite. text; value. Must change one row */
    /* [instances] Guards; in SQLite they must change one row. */
    PAWL_SQL_CREATE,          /* owner: the new one's */
    PAWL_SQL_ADVANCE,         /* owner: the next, 0 to release. In PostgreSQL the second column is
                               * cancel_requested; in SQLite a result would cost copies of pages */
    PAWL_SQL_ADVANCE_VISITED, /* as ADVANCE, with PAWL_COMMIT_VISITED */
    /* PostgreSQL: as ADVANCE_VISITED and ABSENT of a reservation in one, the member's only guard:
     * '0' does not say which of them. text: the key; limit: expires_us */
    PAWL_SQL_ADVANCE_VISITED_ONCE,
    PAWL_SQL_KEEP,      /* as ADVANCE, with PAWL_COMMIT_KEEP */
    PAWL_SQL_SET_ASIDE, /* as ADVANCE, with PAWL_COMMIT_KEEP and PAWL_COMMIT_SET_ASIDE */
    PAWL_SQL_END,       /* as SET_ASIDE, with PAWL_COMMIT_END */
    PAWL_SQL_REOPEN,    /* as ADVANCE, with PAWL_COMMIT_REOPEN */
    PAWL_SQL_REMOVE,    /* the instance alone; then DELETE_OWNED of what goes with it */
    PAWL_SQL_CANCEL,
    /* PostgreSQL [reservations] The guards of many members, with their rows as arrays
     * (pawl__sql_change_many): nothing with that key is there, and it has not expired. Returns
     * whose does not hold, "0,1,2", which is the setting 'pawl.barred'; and who of them is too
     * late, ",1,2". */
    PAWL_SQL_ABSENT_MANY,
    /* PostgreSQL [instances] The last guards of many members, behind ABSENT_MANY. They return
     * 'pawl.held', to which those that hold are added; those that advance also return who is to be
     * cancelled, as ",1,2". */
    PAWL_SQL_PLAIN_MANY,  /* nothing but members, which have no instance */
    PAWL_SQL_CREATE_MANY, /* as CREATE. Behind the members, one more: all of them, as ",1,2" */
    PAWL_SQL_ADVANCE_MANY,
    PAWL_SQL_ADVANCE_VISITED_MANY,
    /* SQLite [bookmarks]: returns a row if there is parked work with its hash. Costs a tenth of
     * WAKE, for which SQLite makes temporary tables even if there is nothing to change. */
    PAWL_SQL_PARKED,
    PAWL_SQL_WAKE,       /* SQLite [bookmarks]: makes parked work due that it matches */
    PAWL_SQL_MAIL_LEFT,  /* PostgreSQL. id: of the instance; limit. Returns ids of due work */
    PAWL_SQL_AFTERWARDS, /* SQLite [instances]: returns cancel_requested, and whether work is due */

    /* id; owner; value: seen_fence. In PostgreSQL it returns the instance as claimed, or nothing;
     * in SQLite it changes one row or none, and CLAIMED returns it (id): a result of an UPDATE
     * would cost a temporary table. */
    PAWL_SQL_CLAIM,
    PAWL_SQL_CLAIMED,
    PAWL_SQL_VISIT,       /* id; text: a hash; limit: bytes of the state. Returns the instance, or
                           * nothing: a visit is not granted. In PostgreSQL a row: the instance,
                           * or nulls, and behind it the time */
    PAWL_SQL_CLAIM_MATCH, /* SQLite. id; text: a hash. Returns a row if it has such a bookmark */
    PAWL_SQL_CLAIM_LOOK,  /* id. Returns the instance without its state */
    PAWL_SQL_CLAIM_HAS_MAIL, /* SQLite. id. Returns a row if work is due for it */
    PAWL_SQL_CLAIM_MAIL,     /* id; limit. Returns due work, oldest first */

    /* PostgreSQL: queries that are made so often that they have a plan which is kept. Both return
     * rows without bytes; limit. */
    PAWL_SQL_FIND_WORK,    /* id: of the work */
    PAWL_SQL_FIND_WAITING, /* id: of the instance; text: a hash. Returns bookmarks by their ids */

    /* id is not used; owner; limit; part_from and part_to: 0 and 1024 for all; text: the kind. */
    PAWL_SQL_TAKE,       /* of any kind; returns work in no order */
    PAWL_SQL_TAKE_KIND,  /* of one */
    PAWL_SQL_TAKE_SHARE, /* text: a JSON array of definitions; only: of those, or of others; kinds:
                          * whose instance does not count */
    PAWL_SQL_RUNNABLE,   /* owner; limit; value: how many are skipped. Returns ids of instances */
    PAWL_SQL_RUNNABLE_SHARE, /* and text and only, as TAKE_SHARE */
    PAWL_SQL_NEXT_DUE,       /* part_from, part_to; returns due_us, or nothing */
    PAWL_SQL_NEXT_DUE_KIND,  /* and text */

    PAWL_SQL_INCARNATE,  /* SQLite: counts the next incarnation; before JOIN in its transaction */
    PAWL_SQL_JOIN,       /* SQLite: id; text: info; value: ttl, at most PAWL_TIME_NEVER / 2. Returns
                          * incarnation and now */
    PAWL_SQL_LEASE_LOOK, /* id; owner: incarnation. Returns lease_us and now; nothing: another's */
    PAWL_SQL_RENEW,  /* id; owner: incarnation; text: info; value: ttl, likewise. Changes one row */
    PAWL_SQL_FORGET, /* id: the node that stays; value: how long others are kept */
    PAWL_SQL_LEAVE,  /* id; owner: incarnation. Changes one row or none */
    PAWL_SQL_LEAVE_ROW, /* likewise: deletes it if no instance is its own */

    /* The clock was set back (clock.h). */
    PAWL_SQL_BACK_WORK,      /* value: the latest due time of work that is moved */
    PAWL_SQL_BACK_INSTANCES, /* those that are put off */
    PAWL_SQL_BACK_NODES,     /* value: the longest lease that is left */
    PAWL_SQL_NAME_COUNT
};

/* Of a commit of kind ADVANCE. */
static inline enum pawl_sql_name pawl__sql_advance(const struct pawl_commit *commit)
{
    if (commit->flags & PAWL_COMMIT_VISITED)
        return PAWL_SQL_ADVANCE_VISITED;
    if ((commit->flags & PAWL_COMMIT_KEEP) && !(commit->flags & PAWL_COMMIT_SET_ASIDE))
        return PAWL_SQL_KEEP;
    if (commit->flags & PAWL_COMMIT_KEEP)
        return commit->flags & PAWL_COMMIT_END ? PAWL_SQL_END : PAWL_SQL_SET_ASIDE;
    return commit->flags & PAWL_COMMIT_REOPEN ? PAWL_SQL_REOPEN : PAWL_SQL_ADVANCE;
}

struct pawl_sql;

/* All statements of a dialect, in memory that goes with it; shared by any number of threads. */
PAWL_MUST_CHECK int pawl__sql_new(const struct pawl_allocator *alloc, enum pawl_sql_dialect dialect,
                                  struct pawl_sql **out, struct pawl_error *err);
void pawl__sql_free(struct pawl_sql *sql); /* NULL allowed */

/* Borrowed for the life of `sql`, as are the answers of those below. */
const struct pawl_sql_statement *pawl__sql_statement(const struct pawl_sql *sql,
                                                     enum pawl_sql_name name);
/*
 * A change of [table]; NULL when there is no such: of instances, nodes and stamps, and
 * DELETE_OWNED of tables without instance_id (of instance "" it deletes nothing). INSERT that meets
 * a row with its key or another unique one is an error of the statement.
 */
const struct pawl_sql_statement *
pawl__sql_change(const struct pawl_sql *sql, enum pawl_change_kind kind, enum pawl_table table);
/* A row that names an instance and nothing else, for DELETE_OWNED; false: rows of that table do not
 * go with an instance. */
struct pawl_owned_row {
    _Alignas(max_align_t) char bytes[PAWL_ROW_SIZE_MAX];
};
bool pawl__sql_owned_row(enum pawl_table table, struct pawl_str instance_id,
                         struct pawl_owned_row *out);
/* PostgreSQL: guard of a PAWL_CHANGE_INSERT of [table]: nothing with its key is there. */
const struct pawl_sql_statement *pawl__sql_absent(const struct pawl_sql *sql,
                                                  enum pawl_table table);
/*
 * PostgreSQL: rows of [table] of many members, by a change of that kind. Each parameter is
 * an array, with an element for each row, and behind the last is that of their members. NULL where
 * there is no such change.
 */
const struct pawl_sql_statement *pawl__sql_change_many(const struct pawl_sql *sql,
                                                       enum pawl_change_kind kind,
                                                       enum pawl_table table);
/* A row of [table], any of them, as it is. */
const struct pawl_sql_statement *pawl__sql_load(const struct pawl_sql *sql, enum pawl_table table);
/* All rows of a table in the order of the key. */
const struct pawl_sql_statement *pawl__sql_all(const struct pawl_sql *sql, enum pawl_table table);

/*
 * The values of a statement's parameters into `out`, which has room for param_count. They borrow
 * from `inputs` and its row, but text with a NUL is copied into `arena` with U+FFFD for it.
 * PAWL_ENOMEM, PAWL_ELIMIT: of the arena.
 */
PAWL_MUST_CHECK int pawl__sql_bind(const struct pawl_sql_statement *statement,
                                   const struct pawl_sql_inputs *inputs, struct pawl_arena *arena,
                                   struct pawl_sql_value *out, struct pawl_error *err);

/* What a take says of definitions, as the JSON arrays that TAKE_SHARE reads: sets `text` and
 * `kinds`. PAWL_ELIMIT: more than there may be, or together with a kind. */
PAWL_MUST_CHECK int pawl__sql_share(const struct pawl_take *take, struct pawl_arena *arena,
                                    struct pawl_sql_inputs *out, struct pawl_error *err);

/* Writes a column of a row; the text is borrowed. */
void pawl__sql_row_set(enum pawl_table table, void *row, uint32_t column,
                       const struct pawl_sql_value *value);

/* ---- schema ------------------------------------------------------------------------------ */

/*
 * Whether bringing a schema from `version` up to date keeps out nodes of that version: then none
 * may be running. They look at the version only when they open the store.
 */
bool pawl__sql_locks_out(int64_t version);

/*
 * What brings a schema from `version` - 1 to `version`, 1 to PAWL_STORE_SCHEMA, to be run in order
 * in one transaction and followed by PAWL_SQL_SCHEMA_ADD with `minimum_reader`, the oldest version
 * of the schema whose programs can still work with it. Texts and list are in the arena.
 */
PAWL_MUST_CHECK int pawl__sql_migration(enum pawl_sql_dialect dialect, int version,
                                        struct pawl_arena *arena, const char *const **statements,
                                        size_t *count, int *minimum_reader, struct pawl_error *err);

/* What a check says of rows that nobody reads: a store is one tenant's, the one named ''. */
#define PAWL_SQL_OTHER_TENANT(rows)                                                                \
    rows " of another tenant, which no node runs: each tenant has a store of its own"

/* The columns that a query with PAWL_QUERY_BRIEF returns, or without: bit n is the column n. */
uint64_t pawl__sql_columns(enum pawl_table table, bool brief);

/* "pawl_instances"; valid for ever. */
const char *pawl__sql_table_name(enum pawl_table table);

/* ---- queries ----------------------------------------------------------------------------- */

struct pawl_sql_select {
    const char *text; /* NULL with PAWL_QUERY_COUNT */
    /* NULL without COUNT, TOTAL and a scan_limit. Returns how many match and, where `scan_limit` is
     * not 0, how many were looked at: as many as that, and there was more. */
    const char *count_text;
    uint32_t scan_limit;
    const struct pawl_sql_value *values, *count_values;
    uint32_t value_count;       /* of text */
    uint32_t count_value_count; /* of count_text */
    enum pawl_table table;
    uint64_t columns; /* that the text returns, as in struct pawl_sql_statement */
};

/*
 * Everything is in the arena or borrowed from the query. PAWL_EINVAL: a column that there is not,
 * CONTAINS on a column that is not text. PAWL_ELIMIT: more conditions, values or rows than
 * <pawl/ext/store.h> allows.
 */
PAWL_MUST_CHECK int pawl__sql_query(enum pawl_sql_dialect dialect, const struct pawl_query *query,
                                    struct pawl_arena *arena, struct pawl_sql_select *out,
                                    struct pawl_error *err);

#endif
