/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming instances and taking due work: one transaction, one round trip each, not synced.
 *
 * Claims lock their instances in the order of the ids first, as commits do. A claim waits a little
 * for a commit of the same instance that is on its way; whether its owner lives is looked at
 * afterwards. A row that stays locked makes the whole call PAWL_EBUSY.
 * Takes pass over what others are taking at this moment.
 *
 * Tickets: before the claim, in the same batch, the locks that are free are taken; what has no
 * owner is claimed only with its lock. Locks whose claim failed are released at once.
 */
#include "base/assert.h"
#include "base/error.h"
#include "stores/postgres.h"
#include "stores/sql_text.h"

#include <stdlib.h>

/* Maximum rows of one take. */
#define TAKE_MAX 10000

/* ---- claims ------------------------------------------------------------------------------ */

enum { CLAIM_AT_TRY, CLAIM_AT_LOCK, CLAIM_AT_CLAIM, CLAIM_AT_BUSY, CLAIM_AT_MAIL, CLAIM_AT_NOW };

/* A claim by its id as the database has it, which may not be the caller's: NULs. */
struct sorted_claim {
    struct pawl_str id;
    struct pawl_claim *claim;
    int64_t key; /* of the lock to take; 0: none, or it is ours already */
};

/* The position of a result: without tickets nothing is tried. */
static size_t at(const struct pg_call *call, size_t answer)
{
    return call->has_tickets ? answer : answer - 1;
}

static int compare_claims(const void *a, const void *b)
{
    const struct sorted_claim *x = a, *y = b;

    return pawl__str_compare(x->id, y->id);
}

static int64_t key_to_take(struct pg_call *call, const struct pawl_lock_ticket *ticket)
{
    if (!ticket || ticket->key == 0)
        return 0;
    call->has_tickets = true;
    return pawl__pg_holds(call->pg, ticket->key) ? 0 : ticket->key;
}

/* NULL: the arena says why. */
static struct sorted_claim *sort_claims(struct pg_call *call, struct pawl_claim *claims,
                                        size_t count)
{
    struct sorted_claim *sorted = pawl__arena_alloc_array(&call->arena, count + 1, sizeof *sorted);

    if (!sorted)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct sorted_claim){.id = pawl__sql_clean(claims[i].id, &call->arena),
                                          .claim = &claims[i],
                                          .key = key_to_take(call, claims[i].ticket)};
    if (call->arena.status != PAWL_OK)
        return NULL;
    qsort(sorted, count, sizeof *sorted, compare_claims);
    return sorted;
}

static struct pawl_claim *find_claim(const struct sorted_claim *sorted, size_t count,
                                     struct pawl_str id)
{
    const struct sorted_claim key = {.id = id};
    const struct sorted_claim *found = bsearch(&key, sorted, count, sizeof key, compare_claims);

    return found ? found->claim : NULL;
}

static int send_tries(struct pg_call *call, const struct sorted_claim *sorted, size_t count)
{
    int64_t *keys = pawl__arena_alloc_array(&call->arena, count + 1, sizeof *keys);
    struct pawl_pq_param param;
    int status;

    if (!keys)
        return pawl__error_code(call->err, pawl__arena_status(&call->arena));
    for (size_t i = 0; i < count; i++)
        keys[i] = sorted[i].key;
    status = pawl__pg_ints(call, keys, count, &param);
    return status == PAWL_OK ? pawl__pg_own(call, PG_TRY_LOCKS, &param, 1) : status;
}

static int send_claims(struct pg_call *call, int64_t owner, const struct sorted_claim *sorted,
                       size_t count)
{
    const struct pawl_sql_inputs none = {.row = NULL};
    struct pawl_pq_param params[] = {{PAWL_PQ_TEXT_ARRAY, {"", 0}, 0},
                                     {PAWL_PQ_INT, {"", 0}, owner},
                                     {PAWL_PQ_INT, {"", 0}, 0},
                                     {PAWL_PQ_TEXT, {"", 0}, 0}};
    bool by_bookmark = count == 1 && sorted[0].claim->hash.len > 0;
    struct pawl_str *ids = pawl__arena_alloc_array(&call->arena, count + 1, sizeof *ids);
    int status;

    if (!ids)
        return pawl__error_code(call->err, pawl__arena_status(&call->arena));
    for (size_t i = 0; i < count; i++) {
        ids[i] = sorted[i].id;
        if (sorted[i].claim->seen_fence > params[2].integer)
            params[2].integer = sorted[i].claim->seen_fence;
    }
    if (by_bookmark) {
        params[3].bytes = pawl__sql_clean(sorted[0].claim->hash, &call->arena);
        if (!params[3].bytes.ptr)
            return pawl__error_code(call->err, pawl__arena_status(&call->arena));
    }
    status = pawl__pg_texts(call, ids, count, &params[0]);
    if (status == PAWL_OK && call->has_tickets)
        status = send_tries(call, sorted, count);
    if (status == PAWL_OK)
        status = pawl__pg_own(call, PG_LOCK_INSTANCES, params, 1);
    if (status == PAWL_OK && by_bookmark)
        status = pawl__pg_own(call, PG_CLAIM_MATCH, params, 4);
    else if (status == PAWL_OK)
        status = pawl__pg_own(call, call->has_tickets ? PG_CLAIM_LOCKED : PG_CLAIM, params, 3);
    if (status == PAWL_OK)
        status = pawl__pg_own(call, PG_CLAIM_BUSY, params, 2);
    params[2].integer = PAWL_CLAIM_MAIL_MAX;
    if (status == PAWL_OK)
        status = pawl__pg_own(call, PG_CLAIM_MAIL, params, 3);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_NOW, &none);
    if (status == PAWL_OK)
        status = pawl__pg_sync(call);
    return status;
}

/* Assigns the returned rows to their claims. */
struct claim_answers {
    struct pawl_instance_row *granted, *busy;
    struct pawl_work_row *mail;
    size_t granted_count, busy_count, mail_count;
};

static int read_claims(struct pg_call *call, struct pawl_arena *arena, struct claim_answers *out)
{
    const uint64_t *columns = call->pg->own_columns;
    void *granted = NULL, *busy = NULL, *mail = NULL;
    int status = pawl__pg_rows(call, at(call, CLAIM_AT_CLAIM), PAWL_TABLE_INSTANCES,
                               columns[PG_CLAIM], arena, &granted, &out->granted_count);

    if (status == PAWL_OK)
        status = pawl__pg_rows(call, at(call, CLAIM_AT_BUSY), PAWL_TABLE_INSTANCES,
                               columns[PG_CLAIM_BUSY], arena, &busy, &out->busy_count);
    if (status == PAWL_OK)
        status = pawl__pg_rows(call, at(call, CLAIM_AT_MAIL), PAWL_TABLE_WORK,
                               columns[PG_CLAIM_MAIL], arena, &mail, &out->mail_count);
    out->granted = granted;
    out->busy = busy;
    out->mail = mail;
    return status;
}

static void fill_claims(const struct claim_answers *in, const struct sorted_claim *sorted,
                        size_t count)
{
    struct pawl_claim *claim;

    for (size_t i = 0; i < count; i++) {
        claim = sorted[i].claim;
        claim->status = PAWL_ENOTFOUND;
        claim->row = (struct pawl_instance_row){.id = claim->id};
        claim->mail = NULL;
        claim->mail_count = 0;
    }
    for (size_t i = 0; i < in->granted_count; i++)
        if ((claim = find_claim(sorted, count, in->granted[i].id))) {
            claim->status = PAWL_OK;
            claim->row = in->granted[i];
        }
    for (size_t i = 0; i < in->busy_count; i++)
        if ((claim = find_claim(sorted, count, in->busy[i].id))) {
            claim->status = PAWL_EBUSY;
            claim->row = in->busy[i];
        }
    /* Sorted by instance: each one's are in a row. */
    for (size_t i = 0; i < in->mail_count; i++) {
        claim = find_claim(sorted, count, in->mail[i].instance_id);
        if (!claim || claim->status != PAWL_OK)
            continue;
        if (claim->mail_count++ == 0)
            claim->mail = &in->mail[i];
    }
}

/* "{1,3}": the locks of the first and the third were taken; others lose their key here. */
static void read_tries(const struct pg_call *call, struct sorted_claim *sorted, size_t count)
{
    struct pawl_str text = pawl__pq_bytes(call->conn, CLAIM_AT_TRY, 0, 0);
    size_t number = 0, next = 0; /* they come in their order */

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= '0' && text.ptr[i] <= '9') {
            number = number * 10 + (size_t)(text.ptr[i] - '0');
            continue;
        }
        for (; number > 0 && next < count && next + 1 < number; next++)
            sorted[next].key = 0;
        next = number > 0 ? number : next;
        number = 0;
    }
    for (; next < count; next++)
        sorted[next].key = 0;
}

/* Notes the locks of granted claims, and releases the others. */
static void keep_or_release_locks(struct pg_call *call, struct sorted_claim *sorted, size_t count)
{
    int64_t *back = pawl__arena_alloc_array(&call->arena, count + 1, sizeof *back);
    size_t back_count = 0;

    for (size_t i = 0; i < count && back; i++)
        if (sorted[i].key != 0 &&
            (sorted[i].claim->status != PAWL_OK ||
             pawl__pg_note_held(call->pg, sorted[i].key, call->conn) != PAWL_OK))
            back[back_count++] = sorted[i].key;
    if (!back)
        pawl__pq_break(call->conn); /* its locks go with it */
    else if (back_count > 0)
        pawl__pg_post_unlock(call->pg, call->conn, back, back_count);
}

/* Of a claim that failed: locks of the session stay when a transaction is taken back. */
static void return_locks(struct pg_call *call, struct sorted_claim *sorted, size_t count)
{
    int64_t *back = pawl__arena_alloc_array(&call->arena, count + 1, sizeof *back);
    size_t back_count = 0;

    if (!back || !sorted || pawl__pq_is_broken(call->conn) || !call->is_answered ||
        pawl__pq_status(call->conn, CLAIM_AT_TRY, NULL) != PAWL_OK) {
        pawl__pq_break(call->conn);
        return;
    }
    read_tries(call, sorted, count);
    for (size_t i = 0; i < count; i++)
        if (sorted[i].key != 0)
            back[back_count++] = sorted[i].key;
    if (back_count > 0)
        pawl__pg_post_unlock(call->pg, call->conn, back, back_count);
}

/* It reads, for a commit that writes: no row is locked. */
static int visit(struct pawl_store *store, int64_t owner, struct pawl_claim *claim,
                 struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                 struct pawl_error *err)
{
    const struct pawl_sql_inputs inputs = {
        .id = claim->id, .text = claim->hash, .limit = PAWL_VISIT_BYTES_MAX};
    struct pawl_instance_row row;
    struct pg_call call;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, true, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__pg_named(&call, PAWL_SQL_VISIT, &inputs);
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, false);
    if (status == PAWL_OK)
        status =
            pawl__pg_row(&call, 0, 0, PAWL_TABLE_INSTANCES,
                         pawl__sql_statement(call.pg->sql, PAWL_SQL_VISIT)->columns, arena, &row);
    if (status == PAWL_OK) { /* without an id it was not granted */
        pawl__store_fill_visit(claim, owner, row.id.len > 0 ? &row : NULL);
        *now_us = pawl__pq_int(call.conn, 0, 0, pawl__pq_columns(call.conn, 0) - 1);
    }
    pawl__pg_call_end(&call);
    return status;
}

/* Which connection is best for several would be a compromise: they go by any. */
static int64_t one_key(const struct pawl_claim *claims, size_t count)
{
    return count == 1 && claims[0].ticket ? claims[0].ticket->key : 0;
}

int pawl__pg_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims, size_t count,
                   struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                   struct pawl_error *err)
{
    struct claim_answers answers = {0};
    struct sorted_claim *sorted;
    struct pg_call call;
    int status;

    status = pawl__store_check_claims(claims, count, err);
    if (status != PAWL_OK)
        return status;
    if (count == 1 && claims[0].visits)
        return visit(store, owner, claims, arena, now_us, deadline_ns, err);
    status = pawl__pg_call_begin_lock(&call, store, PG_FAST, true, one_key(claims, count),
                                      deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    sorted = sort_claims(&call, claims, count);
    status = sorted ? send_claims(&call, owner, sorted, count)
                    : pawl__error_code(err, pawl__arena_status(&call.arena));
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, true);
    if (status == PAWL_OK)
        status = read_claims(&call, arena, &answers);
    if (status != PAWL_OK)
        goto out;
    fill_claims(&answers, sorted, count);
    *now_us = pawl__pq_int(call.conn, at(&call, CLAIM_AT_NOW), 0, 0);
    if (call.has_tickets) {
        PAWL_ASSERT(sorted); /* or nothing was sent */
        read_tries(&call, sorted, count);
        keep_or_release_locks(&call, sorted, count);
    }
out:
    if (status != PAWL_OK && call.has_tickets)
        return_locks(&call, sorted, count);
    pawl__pg_call_end(&call);
    return status;
}

/* ---- takes ------------------------------------------------------------------------------- */

enum { TAKE_AT_TAKE, TAKE_AT_RUNNABLE, TAKE_AT_NEXT, TAKE_AT_NOW };

static int send_take(struct pg_call *call, const struct pawl_take *take)
{
    bool all = take->part_from == 0 && take->part_to == 0, any = take->kind.len == 0;
    bool shares = take->definition_count > 0;
    struct pawl_sql_inputs inputs = {
        .owner = take->owner,
        .limit = take->limit < TAKE_MAX ? take->limit : TAKE_MAX,
        .part_from = take->part_from,
        .part_to = all ? 1024 : take->part_to,
        .text = take->kind,
        .value = take->runnable_skip,
        .only = take->only,
    };
    int status = PAWL_OK;

    if (shares)
        status = pawl__sql_share(take, &call->arena, &inputs, call->err);
    if (status == PAWL_OK)
        status = pawl__pg_named(call,
                                shares ? PAWL_SQL_TAKE_SHARE
                                : any  ? PAWL_SQL_TAKE
                                       : PAWL_SQL_TAKE_KIND,
                                &inputs);
    if (status == PAWL_OK)
        status =
            pawl__pg_named(call, shares ? PAWL_SQL_RUNNABLE_SHARE : PAWL_SQL_RUNNABLE, &inputs);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, any ? PAWL_SQL_NEXT_DUE : PAWL_SQL_NEXT_DUE_KIND, &inputs);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_NOW, &inputs);
    return status == PAWL_OK ? pawl__pg_sync(call) : status;
}

static int compare_due(const void *a, const void *b)
{
    const struct pawl_work_row *x = a, *y = b;

    if (x->due_us != y->due_us)
        return x->due_us < y->due_us ? -1 : 1;
    return pawl__str_compare(x->id, y->id);
}

static int read_take(struct pg_call *call, struct pawl_arena *arena, struct pawl_taken *out)
{
    size_t count = pawl__pq_rows(call->conn, TAKE_AT_RUNNABLE), work_count = 0;
    struct pawl_str *ids = pawl__arena_alloc_array(arena, count + 1, sizeof *ids);
    void *work = NULL;
    int status;

    if (!ids)
        return pawl__error_code(call->err, pawl__arena_status(arena));
    status = pawl__pg_rows(call, TAKE_AT_TAKE, PAWL_TABLE_WORK,
                           pawl__sql_statement(call->pg->sql, PAWL_SQL_TAKE)->columns, arena, &work,
                           &work_count);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        ids[i] = pawl__arena_str(arena, pawl__pq_bytes(call->conn, TAKE_AT_RUNNABLE, i, 0));
        if (!ids[i].ptr)
            return pawl__error_code(call->err, pawl__arena_status(arena));
    }
    if (work_count > 1)
        qsort(work, work_count, sizeof(struct pawl_work_row), compare_due);
    *out = (struct pawl_taken){
        .work = work,
        .work_count = work_count,
        .runnable = ids,
        .runnable_count = count,
        .now_us = pawl__pq_int(call->conn, TAKE_AT_NOW, 0, 0),
        .next_due_us = pawl__pq_rows(call->conn, TAKE_AT_NEXT) > 0
                           ? pawl__pq_int(call->conn, TAKE_AT_NEXT, 0, 0)
                           : PAWL_TIME_NEVER,
    };
    return PAWL_OK;
}

/* Moves what waits for a clock that was set back. If that fails, the next take finds it again. */
static int move_back(struct pg_call *call, int64_t before_us)
{
    const struct pawl_sql_inputs work = {.value = before_us},
                                 nodes = {.value = PAWL_CLOCK_LEASE_US};
    int status = pawl__pg_again(call);

    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_BACK_WORK, &work);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_BACK_INSTANCES, &work);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_BACK_NODES, &nodes);
    if (status == PAWL_OK)
        status = pawl__pg_own(call, PG_NOTIFY, NULL, 0);
    if (status == PAWL_OK)
        status = pawl__pg_sync(call);
    return status == PAWL_OK ? pawl__pg_run(call, true) : status;
}

static void look_at_clock(struct pg_call *call, int64_t now_us, int64_t before_ns)
{
    struct pawl_postgres *pg = call->pg;
    struct pawl_error *err = call->err, why = PAWL_ERROR_INIT;
    int64_t before_us = 0, after_ns = pawl_env_monotonic_ns(pg->env);
    bool is_back;

    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    is_back = pawl__store_clock_is_back(&pg->clock, now_us, before_ns);
    if (is_back)
        before_us = pawl__store_clock_before_us(&pg->clock, now_us, before_ns);
    else
        pawl__store_clock_saw(&pg->clock, now_us, after_ns);
    pawl_mutex_unlock(pg->env, pg->lock);
    if (!is_back)
        return;
    call->err = &why;
    is_back = move_back(call, before_us) != PAWL_OK;
    call->err = err;
    if (is_back || pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    pawl__store_clock_saw(&pg->clock, now_us, after_ns);
    pawl_mutex_unlock(pg->env, pg->lock);
}

int pawl__pg_take(struct pawl_store *store, const struct pawl_take *take, struct pawl_arena *arena,
                  struct pawl_taken *out, int64_t deadline_ns, struct pawl_error *err)
{
    int64_t before_ns;
    struct pg_call call;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, true, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    before_ns = pawl_env_monotonic_ns(call.pg->env);
    status = send_take(&call, take);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, true);
    if (status == PAWL_OK)
        status = read_take(&call, arena, out);
    if (status == PAWL_OK)
        look_at_clock(&call, out->now_us, before_ns);
    pawl__pg_call_end(&call);
    return status;
}
