/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that apply commits in PostgreSQL share: postgres_apply.c, postgres_many.c,
 * postgres_conflicts.c. */
#ifndef PAWL_STORES_POSTGRES_APPLY_H
#define PAWL_STORES_POSTGRES_APPLY_H

#include "stores/postgres.h"

/* A commit with more changes has statements enough of its own. Those of a fold have fewer. */
#define PG_MANY_CHANGES_MAX 256u

/* One member, and where its results are in the batch. */
struct member {
    struct pawl_commit *commit;
    int64_t number;          /* from 1 on, by which the server knows it */
    bool open;               /* no result yet */
    bool is_guarded_in_bulk; /* in one statement with others': it has none of its own */
    bool is_once;            /* its only guard is PAWL_SQL_ADVANCE_VISITED_ONCE */
    bool defers;             /* some of its changes are sent at the end, together with others */
    size_t from, to;         /* statements */
    size_t guard; /* the first guard; the others follow it. Or that of all that are in bulk */
    size_t mail;  /* MAIL_LEFT; SIZE_MAX: not asked, or together with others */
    uint64_t deferred[PG_MANY_CHANGES_MAX / 64]; /* with `defers`: a bit for each change */
};

struct batch {
    struct pg_call call;
    struct member *members;
    size_t count;
    /* All new ones, member by member, with the numbers of these. */
    const struct pawl_bookmark_row **bookmarks;
    int64_t *bookmark_members;
    size_t bookmark_count;
    bool notify;
    bool is_sent; /* a transaction with changes, whose outcome was not received */
    /* Members were answered one by one: what fails then is the answer of the others alone. */
    bool is_divided;
    /* What can be is sent for all members at once. */
    bool is_many;
    bool asks_why;         /* a guard for two things did not hold: each is asked by itself */
    size_t deferred_count; /* changes that are deferred, or were at first */
    size_t absent;         /* ABSENT_MANY; SIZE_MAX: not asked */
    size_t mail;           /* PG_MAIL_LEFT; SIZE_MAX: not asked */
};

static inline bool pawl__pg_adds_rows(const struct pawl_change *change)
{
    return change->kind == PAWL_CHANGE_INSERT || change->kind == PAWL_CHANGE_ADD ||
           change->kind == PAWL_CHANGE_PUT;
}

static inline bool pawl__pg_is_bookmark(const struct pawl_change *change)
{
    return change->table == PAWL_TABLE_BOOKMARKS && pawl__pg_adds_rows(change);
}

static inline const struct pawl_work_row *pawl__pg_new_work(const struct pawl_change *change)
{
    return change->table == PAWL_TABLE_WORK && pawl__pg_adds_rows(change) ? change->row : NULL;
}

static inline bool pawl__pg_is_guarded_insert(const struct pawl_change *change)
{
    /* Of other tables a row that is there already is rare: the error of the insert is enough. */
    return change->kind == PAWL_CHANGE_INSERT && change->table == PAWL_TABLE_RESERVATIONS;
}

/* Work that the commit itself adds for its instance does not count as mail that is left. */
static inline bool pawl__pg_is_own_mail(const struct pawl_commit *commit,
                                        const struct pawl_change *change)
{
    const struct pawl_work_row *work = pawl__pg_new_work(change);

    return work && pawl__str_equal(work->instance_id, commit->instance->id);
}

static inline bool pawl__pg_asks_for_mail(const struct pawl_commit *commit)
{
    return (commit->kind == PAWL_COMMIT_CREATE || commit->kind == PAWL_COMMIT_ADVANCE) &&
           !(commit->flags & PAWL_COMMIT_UNASKED);
}

/* How many rows of mail are asked for, so that one is there that is not the commit's own. */
int64_t pawl__pg_mail_limit(const struct pawl_commit *commit);
bool pawl__pg_finishes(const struct pawl_commit *commit, struct pawl_str work_id);
size_t pawl__pg_row_bytes(enum pawl_table table, const void *row);
/* Of the bookmarks noted so far, those from `from` on wake what is parked for them. */
PAWL_MUST_CHECK int pawl__pg_send_wake(struct batch *b, enum pg_own own, size_t from);

/* ---- in bulk (postgres_many.c) ---------------------------------------------------------- */

/* Decides whether the batch sends anything in bulk (is_many), and which changes it defers. */
PAWL_MUST_CHECK int pawl__pg_choose_deferred(struct batch *b, size_t open_count);
/* Of members that change the same rows (postgres_conflicts.c). */
PAWL_MUST_CHECK int pawl__pg_defer_none_in_conflict(struct batch *b);
/* Before all members: the guards of those that have no statement of their own. */
PAWL_MUST_CHECK int pawl__pg_guard_in_bulk(struct batch *b);
/* Whether this change of the member is sent by pawl__pg_send_deferred(). */
bool pawl__pg_is_deferred(const struct member *m, size_t change);
/* Behind all members: their rows, what their bookmarks wake, their mail. */
PAWL_MUST_CHECK int pawl__pg_send_deferred(struct batch *b);
/* Of a member that is guarded in bulk: whether its guards have held; if not, whether its
 * reservation was in the way, or too late (has_expired); if so, whether its instance is to be
 * cancelled. */
bool pawl__pg_has_held(const struct batch *b, const struct member *m);
bool pawl__pg_is_barred(const struct batch *b, const struct member *m, bool *has_expired);
bool pawl__pg_is_to_cancel(const struct batch *b, const struct member *m);

#endif
