/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims, due work and leases in SQLite. They write without a sync: what a crash undoes of them was
 * never acted upon, because every act is a commit, and a commit that is synced syncs them too.
 */
#include "base/error.h"
#include "stores/sqlite_private.h"

#include <stdlib.h>

#define PARTS 1024

static const struct pawl_sql_statement *named(const struct pawl_sqlite_session *session,
                                              enum pawl_sql_name name)
{
    return pawl__sql_statement(session->store->sql, name);
}

/* ---- claims ------------------------------------------------------------------------------ */

/* Most have none, and the list in its order needs a temporary table even then. */
static int has_mail(struct pawl_sqlite_session *session, const struct pawl_claim *claim, bool *has,
                    struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.id = claim->id, .limit = 1};
    struct pawl_sqlite_statement *statement = NULL;
    int status = pawl__sqlite_session_run(session, named(session, PAWL_SQL_CLAIM_HAS_MAIL), &inputs,
                                          &statement, has, err);

    if (status == PAWL_OK)
        pawl__sqlite_reset(statement);
    return status;
}

static int read_mail(struct pawl_sqlite_session *session, struct pawl_claim *claim,
                     struct pawl_arena *arena, struct pawl_error *err)
{
    const struct pawl_sql_statement *mail = named(session, PAWL_SQL_CLAIM_MAIL);
    struct pawl_sql_inputs inputs = {.id = claim->id, .limit = PAWL_CLAIM_MAIL_MAX};
    struct pawl_sqlite_statement *statement = NULL;
    void *rows = NULL;
    bool row = false;
    int status = pawl__sqlite_session_run(session, mail, &inputs, &statement, &row, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_rows_read(statement, row, PAWL_TABLE_WORK, mail->columns, arena,
                                        &rows, &claim->mail_count, err);
    claim->mail = rows;
    return status;
}

/* Runs CLAIMED or CLAIM_LOOK and reads the instance, if there is one. */
static int read_instance(struct pawl_sqlite_session *session, enum pawl_sql_name name,
                         struct pawl_claim *claim, struct pawl_arena *arena, bool *found,
                         struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.id = claim->id};
    struct pawl_sqlite_statement *statement = NULL;
    int status =
        pawl__sqlite_session_run(session, named(session, name), &inputs, &statement, found, err);

    if (status == PAWL_OK && *found)
        status = pawl__sqlite_row_read(statement, PAWL_TABLE_INSTANCES,
                                       named(session, name)->columns, arena, &claim->row, err);
    pawl__sqlite_reset(statement);
    return status;
}

/* Whether the instance has the bookmark that the claim asks for. */
static int find_bookmark(struct pawl_sqlite_session *session, const struct pawl_claim *claim,
                         bool *found, struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.id = claim->id, .text = claim->hash};
    struct pawl_sqlite_statement *statement = NULL;
    int status = pawl__sqlite_session_run(session, named(session, PAWL_SQL_CLAIM_MATCH), &inputs,
                                          &statement, found, err);

    if (status == PAWL_OK)
        pawl__sqlite_reset(statement);
    return status;
}

static int claim_one(struct pawl_sqlite_session *session, int64_t owner, struct pawl_claim *claim,
                     struct pawl_arena *arena, struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.id = claim->id, .owner = owner, .value = claim->seen_fence};
    bool found = false, claimed = false, matches = true, mail = false;
    int status = claim->hash.len > 0 ? find_bookmark(session, claim, &matches, err) : PAWL_OK;

    if (status == PAWL_OK && matches) {
        status = pawl__sqlite_session_run(session, named(session, PAWL_SQL_CLAIM), &inputs, NULL,
                                          NULL, err);
        claimed = status == PAWL_OK && pawl__sqlite_changes(session->db) == 1;
    }
    if (status != PAWL_OK)
        return status;
    status = read_instance(session, claimed ? PAWL_SQL_CLAIMED : PAWL_SQL_CLAIM_LOOK, claim, arena,
                           &found, err);
    if (status == PAWL_OK && claimed)
        status = has_mail(session, claim, &mail, err);
    if (status == PAWL_OK && mail)
        status = read_mail(session, claim, arena, err);
    claim->status = claimed ? PAWL_OK : found ? PAWL_EBUSY : PAWL_ENOTFOUND;
    return status;
}

static int visit(struct pawl_sqlite_store *store, int64_t owner, struct pawl_claim *claim,
                 struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                 struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {
        .id = claim->id, .text = claim->hash, .limit = PAWL_VISIT_BYTES_MAX};
    struct pawl_sqlite_statement *statement = NULL;
    struct pawl_sqlite_session session;
    struct pawl_instance_row row;
    bool found = false;
    int status;

    if (store->read_only)
        return pawl__error_set(err, PAWL_EPERM, "%s: was opened for reading only", store->path);
    status = pawl__sqlite_session_read_fast(store, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    /* The clock was set back: what was due before is due again once somebody writes. */
    if (!session.is_back)
        status = pawl__sqlite_session_run(&session, named(&session, PAWL_SQL_VISIT), &inputs,
                                          &statement, &found, err);
    if (status == PAWL_OK && found)
        status = pawl__sqlite_row_read(statement, PAWL_TABLE_INSTANCES,
                                       named(&session, PAWL_SQL_VISIT)->columns, arena, &row, err);
    if (statement)
        pawl__sqlite_reset(statement);
    pawl__sqlite_session_end(&session);
    if (status != PAWL_OK)
        return status;
    pawl__store_fill_visit(claim, owner, found ? &row : NULL);
    *now_us = session.now_us;
    return PAWL_OK;
}

int pawl__sqlite_store_claim(struct pawl_store *base, int64_t owner, struct pawl_claim *claims,
                             size_t count, struct pawl_arena *arena, int64_t *now_us,
                             int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sqlite_session session;
    struct pawl_claim *made;
    int status;

    status = pawl__store_check_claims(claims, count, err);
    if (status == PAWL_OK && count == 1 && claims[0].visits)
        return visit(store, owner, claims, arena, now_us, deadline_ns, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_session_write(store, false, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    made = pawl__arena_alloc_array(&session.scratch, count + 1, sizeof *made);
    if (!made) {
        status = pawl__error_code(err, pawl__arena_status(&session.scratch));
        goto out;
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        made[i] = (struct pawl_claim){.id = claims[i].id,
                                      .ticket = claims[i].ticket,
                                      .seen_fence = claims[i].seen_fence,
                                      .hash = claims[i].hash};
        status = claim_one(&session, owner, &made[i], arena, err);
    }
    if (status == PAWL_OK)
        status = pawl__sqlite_session_commit(&session, err);
    if (status == PAWL_OK) {
        memcpy(claims, made, count * sizeof *made);
        if (now_us)
            *now_us = session.now_us;
    }
out:
    pawl__sqlite_session_end(&session);
    return status;
}

/* ---- due work ---------------------------------------------------------------------------- */

static int compare_due(const void *a, const void *b)
{
    const struct pawl_work_row *x = a, *y = b;

    if (x->due_us != y->due_us)
        return x->due_us < y->due_us ? -1 : 1;
    return pawl__str_compare(x->id, y->id);
}

static enum pawl_sql_name take_name(const struct pawl_take *take)
{
    if (take->definition_count > 0)
        return PAWL_SQL_TAKE_SHARE;
    return take->kind.len > 0 ? PAWL_SQL_TAKE_KIND : PAWL_SQL_TAKE;
}

static int take_work(struct pawl_sqlite_session *session, const struct pawl_take *take,
                     struct pawl_sql_inputs *inputs, struct pawl_arena *arena,
                     struct pawl_taken *out, struct pawl_error *err)
{
    const struct pawl_sql_statement *statement = named(session, take_name(take));
    struct pawl_sqlite_statement *prepared = NULL;
    void *rows = NULL;
    bool row = false;
    int status = pawl__sqlite_session_run(session, statement, inputs, &prepared, &row, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_rows_read(prepared, row, PAWL_TABLE_WORK, statement->columns, arena,
                                        &rows, &out->work_count, err);
    if (status == PAWL_OK && out->work_count > 0)
        qsort(rows, out->work_count, sizeof(struct pawl_work_row), compare_due);
    out->work = rows;
    return status;
}

static int find_runnable(struct pawl_sqlite_session *session, const struct pawl_take *take,
                         struct pawl_sql_inputs *inputs, struct pawl_arena *arena,
                         struct pawl_taken *out, struct pawl_error *err)
{
    const enum pawl_sql_name name =
        take->definition_count > 0 ? PAWL_SQL_RUNNABLE_SHARE : PAWL_SQL_RUNNABLE;
    struct pawl_sqlite_statement *prepared = NULL;
    struct pawl_str *ids = NULL;
    bool row = false;
    int status =
        pawl__sqlite_session_run(session, named(session, name), inputs, &prepared, &row, err);

    if (status == PAWL_OK && row) {
        ids = pawl__arena_alloc_array(arena, (size_t)inputs->limit, sizeof *ids);
        if (!ids)
            status = pawl__error_code(err, pawl__arena_status(arena));
    }
    while (status == PAWL_OK && row && ids) {
        ids[out->runnable_count] = pawl__arena_str(arena, pawl__sqlite_column_str(prepared, 0));
        if (!ids[out->runnable_count++].ptr)
            status = pawl__error_code(err, pawl__arena_status(arena));
        else
            status = pawl__sqlite_step(prepared, &row, err);
    }
    pawl__sqlite_reset(prepared);
    out->runnable = ids;
    return status;
}

static int find_next_due(struct pawl_sqlite_session *session, const struct pawl_take *take,
                         struct pawl_sql_inputs *inputs, struct pawl_taken *out,
                         struct pawl_error *err)
{
    struct pawl_sqlite_statement *prepared = NULL;
    bool row = false;
    int status = pawl__sqlite_session_run(
        session, named(session, take->kind.len > 0 ? PAWL_SQL_NEXT_DUE_KIND : PAWL_SQL_NEXT_DUE),
        inputs, &prepared, &row, err);

    if (status == PAWL_OK && row)
        out->next_due_us = pawl__sqlite_column_int(prepared, 0);
    pawl__sqlite_reset(prepared);
    return status;
}

int pawl__sqlite_store_take(struct pawl_store *base, const struct pawl_take *take,
                            struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                            struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sql_inputs inputs = {
        .text = take->kind,
        .owner = take->owner,
        .limit = take->limit,
        .value = take->runnable_skip,
        .part_from = take->part_from,
        .part_to = take->part_from == 0 && take->part_to == 0 ? PARTS : take->part_to,
        .only = take->only};
    struct pawl_taken made = {.next_due_us = PAWL_TIME_NEVER};
    struct pawl_sqlite_session session;
    int status;

    if (take->limit > PAWL_STORE_ROWS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%u rows of work at once; at most %d",
                               (unsigned)take->limit, PAWL_STORE_ROWS_MAX);
    status = pawl__sqlite_session_write(store, false, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    made.now_us = session.now_us;
    if (take->definition_count > 0)
        status = pawl__sql_share(take, &session.scratch, &inputs, err);
    if (status == PAWL_OK)
        status = take_work(&session, take, &inputs, arena, &made, err);
    if (status == PAWL_OK)
        status = find_runnable(&session, take, &inputs, arena, &made, err);
    if (status == PAWL_OK)
        status = find_next_due(&session, take, &inputs, &made, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_session_commit(&session, err);
    if (status == PAWL_OK)
        *out = made;
    pawl__sqlite_session_end(&session);
    return status;
}

/* ---- leases ------------------------------------------------------------------------------ */

static int join(struct pawl_sqlite_session *session, struct pawl_sql_inputs *inputs,
                struct pawl_lease *made, struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status = pawl__sqlite_session_run(session, named(session, PAWL_SQL_INCARNATE), inputs, NULL,
                                          NULL, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_session_run(session, named(session, PAWL_SQL_JOIN), inputs,
                                          &statement, &row, err);
    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(row);
    made->incarnation = pawl__sqlite_column_int(statement, 0);
    pawl__sqlite_reset(statement);
    inputs->value = PAWL_NODE_FORGET_US;
    return pawl__sqlite_session_run(session, named(session, PAWL_SQL_FORGET), inputs, NULL, NULL,
                                    err);
}

static int renew(struct pawl_sqlite_session *session, struct pawl_sql_inputs *inputs,
                 struct pawl_lease *made, struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status = pawl__sqlite_session_run(session, named(session, PAWL_SQL_LEASE_LOOK), inputs,
                                          &statement, &row, err);

    if (status != PAWL_OK)
        return status;
    if (!row)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "node %.*s has joined again since, or never did; this incarnation "
                               "(%lld) has ended",
                               PAWL_STR_ARG(made->node_id), (long long)made->incarnation);
    made->lapsed = pawl__sqlite_column_int(statement, 0) <= session->now_us;
    pawl__sqlite_reset(statement);
    return pawl__sqlite_session_run(session, named(session, PAWL_SQL_RENEW), inputs, NULL, NULL,
                                    err);
}

int pawl__sqlite_store_lease(struct pawl_store *base, struct pawl_lease *lease, int64_t deadline_ns,
                             struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sql_inputs inputs = {.id = lease->node_id,
                                     .text = lease->info,
                                     .owner = lease->incarnation,
                                     .value = lease->ttl_us};
    struct pawl_lease made = *lease;
    struct pawl_sqlite_session session;
    int status = pawl__sqlite_session_write(store, false, deadline_ns, &session, err);

    if (status != PAWL_OK)
        return status;
    made.lapsed = false;
    made.now_us = session.now_us;
    if (inputs.value > PAWL_TIME_NEVER - session.now_us)
        inputs.value = PAWL_TIME_NEVER - session.now_us;
    switch (lease->kind) {
    case PAWL_LEASE_JOIN:
        status = join(&session, &inputs, &made, err);
        break;
    case PAWL_LEASE_RENEW:
        status = renew(&session, &inputs, &made, err);
        break;
    case PAWL_LEASE_LEAVE:
        status = pawl__sqlite_session_run(&session, named(&session, PAWL_SQL_LEAVE), &inputs, NULL,
                                          NULL, err);
        if (status == PAWL_OK)
            status = pawl__sqlite_session_run(&session, named(&session, PAWL_SQL_LEAVE_ROW),
                                              &inputs, NULL, NULL, err);
        break;
    default:
        status = pawl__error_code(err, PAWL_EINVAL);
        break;
    }
    if (status == PAWL_OK)
        status = pawl__sqlite_session_commit(&session, err);
    pawl__sqlite_session_end(&session);
    if (status != PAWL_OK)
        return status;
    *lease = made;
    /* What a node that has left owned is there to be taken. */
    if (lease->kind != PAWL_LEASE_RENEW)
        pawl__sqlite_store_notify(store);
    return PAWL_OK;
}
