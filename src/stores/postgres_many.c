/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the members of a batch send together: one statement for many rows, where each would have its
 * own. Half of what a small statement costs the server is beginning and ending it: opening a table
 * with fifteen indexes takes as long as inserting a row.
 *
 *     creates      of members that are nothing but a new instance and rows of the third kind
 *     guards       of the other members, and their other changes, one by one (postgres_apply.c)
 *     rows         that members insert or put, a statement for each table
 *     bookmarks    of all members wake what is parked for them
 *     mail         of all members
 *
 * Which members have held is known to the server alone at that time: 'pawl.held' (sql.h) has their
 * numbers. Updates are not sent together: they would be joins, whose plan depends on what the
 * tables had when it was made. What goes wrong is an error of the statement, and then the members
 * are sent one by one, as without all this.
 */
#include "base/error.h"
#include "stores/postgres_apply.h"
#include "stores/sql_text.h"

/* Larger rows are sent by themselves: an array is copied twice before it is sent. */
#define MANY_BYTES_MAX ((size_t)64 << 10)
/* A commit with more changes has statements enough of its own. */
#define MANY_CHANGES_MAX 64u
/* Of what waits in a batch. */
#define BATCH_BYTES_MAX ((size_t)64 << 20)

/* ---- which ------------------------------------------------------------------------------- */

static bool is_small_row(const struct batch *b, const struct pawl_commit *commit,
                         const struct pawl_change *change)
{
    const struct pawl_work_row *work = pawl__pg_new_work(change);

    return pawl__sql_change_many(b->call.pg->sql, change->kind, change->table) &&
           !(work && pawl__pg_finishes(commit, work->id)) &&
           pawl__pg_row_bytes(change->table, change->row) <= MANY_BYTES_MAX;
}

/*
 * Whether a change may wait for the end of the batch although its commit does `other` to the same
 * table as well. Either both wait, in one statement, or `other` comes before it anyway, and no
 * other member has to do with the rows of both: they are their instance's.
 */
static bool may_wait_beside(const struct batch *b, const struct pawl_commit *commit, size_t at,
                            size_t other)
{
    const struct pawl_change *change = &commit->changes[at], *beside = &commit->changes[other];

    if (beside->table != change->table)
        return true;
    if (beside->kind == change->kind)
        return is_small_row(b, commit, beside);
    return other < at && !pawl__pg_adds_rows(beside) &&
           pawl_table_info(change->table)->goes_with_instance;
}

/* Bit n: its change n may wait. */
static uint64_t find_waiting(const struct batch *b, const struct pawl_commit *commit)
{
    uint64_t waiting = 0;

    if (commit->change_count > MANY_CHANGES_MAX)
        return 0;
    for (size_t i = 0; i < commit->change_count; i++) {
        bool waits = is_small_row(b, commit, &commit->changes[i]);

        for (size_t k = 0; k < commit->change_count && waits; k++)
            waits = may_wait_beside(b, commit, i, k);
        if (waits)
            waiting |= UINT64_C(1) << i;
    }
    return waiting;
}

bool pawl__pg_is_together(const struct member *m, size_t change)
{
    return change < MANY_CHANGES_MAX && (m->waiting >> change & 1);
}

/* What waits is copied, and a call has only so much memory. */
static bool is_too_large(const struct batch *b)
{
    size_t bytes = 0;

    for (size_t i = 0; i < b->count; i++) {
        const struct pawl_commit *commit = b->members[i].commit;

        for (size_t c = 0; b->members[i].open && c < commit->change_count; c++)
            if (pawl__pg_is_together(&b->members[i], c))
                bytes += pawl__pg_row_bytes(commit->changes[c].table, commit->changes[c].row);
    }
    return bytes > BATCH_BYTES_MAX;
}

void pawl__pg_begin_together(struct batch *b, size_t open_count)
{
    b->is_many = open_count > 1;
    for (size_t i = 0; i < b->count; i++)
        b->members[i].waiting =
            b->is_many && b->members[i].open ? find_waiting(b, b->members[i].commit) : 0;
    if (!b->is_many || !is_too_large(b))
        return;
    b->is_many = false;
    for (size_t i = 0; i < b->count; i++)
        b->members[i].waiting = 0;
}

static bool is_same_instance(const struct pawl_commit *a, const struct pawl_commit *b)
{
    return a->instance && b->instance && pawl__str_equal(a->instance->id, b->instance->id);
}

/* Nothing but new: no guard besides, and no change that cannot wait. No other member is about the
 * same instance: which of them was first would matter. */
static bool is_new_alone(const struct batch *b, const struct member *m)
{
    const struct pawl_commit *commit = m->commit;

    /* An id with a NUL is stored as another one (pawl__sql_clean). */
    if (commit->kind != PAWL_COMMIT_CREATE || commit->done_count > 0 || commit->stamp.len > 0 ||
        memchr(commit->instance->id.ptr, '\0', commit->instance->id.len) ||
        pawl__pg_row_bytes(PAWL_TABLE_INSTANCES, commit->instance) > MANY_BYTES_MAX)
        return false;
    for (size_t i = 0; i < commit->change_count; i++)
        if (pawl__pg_is_guarded_insert(&commit->changes[i]) || !pawl__pg_is_together(m, i))
            return false;
    for (size_t i = 0; i < b->count; i++)
        if (&b->members[i] != m && b->members[i].open &&
            is_same_instance(b->members[i].commit, commit))
            return false;
    return true;
}

/* ---- creating ---------------------------------------------------------------------------- */

/* ",1,2" */
static int list_members(struct batch *b, const struct pawl_sql_inputs *inputs, size_t count,
                        struct pawl_pq_param *out)
{
    struct pawl_buf buf;
    struct pawl_str text = {NULL, 0};
    int status;

    pawl__buf_init(&buf, &b->call.pg->env->alloc, (size_t)8 * (PAWL_STORE_BATCH_MAX + 1));
    for (size_t i = 0; i < count; i++) {
        pawl__buf_byte(&buf, ',');
        pawl__buf_int(&buf, inputs[i].member);
    }
    status = buf.status;
    if (status == PAWL_OK) {
        text = pawl__arena_str(&b->call.arena, pawl__buf_peek(&buf));
        status = text.ptr ? PAWL_OK : pawl__arena_status(&b->call.arena);
    }
    pawl__buf_release(&buf);
    *out = (struct pawl_pq_param){PAWL_PQ_TEXT, text, 0};
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(b->call.err, status);
}

static struct pawl_sql_inputs *make_inputs(struct batch *b, size_t count)
{
    struct pawl_sql_inputs *inputs =
        pawl__arena_alloc_zeroed(&b->call.arena, (count + 1) * sizeof *inputs);

    if (!inputs)
        (void)pawl__error_code(b->call.err, pawl__arena_status(&b->call.arena));
    return inputs;
}

int pawl__pg_create_together(struct batch *b)
{
    struct pawl_sql_inputs *inputs = make_inputs(b, b->count);
    struct pawl_pq_param listed;
    struct member *last = NULL;
    size_t count = 0;
    int status;

    b->created = SIZE_MAX;
    if (!inputs)
        return pawl__arena_status(&b->call.arena);
    for (size_t i = 0; i < b->count; i++) {
        struct member *m = &b->members[i];
        const struct pawl_commit *commit = m->commit;

        m->is_together = m->open && is_new_alone(b, m);
        if (!m->is_together)
            continue;
        last = m;
        inputs[count].row = commit->instance;
        inputs[count].owner = commit->flags & PAWL_COMMIT_RELEASE ? 0 : commit->instance->owner;
        inputs[count++].member = m->number;
    }
    if (count == 1) {
        last->is_together = false;
        return PAWL_OK;
    }
    if (count == 0)
        return PAWL_OK;
    b->created = b->call.count;
    status = list_members(b, inputs, count, &listed);
    return status == PAWL_OK ? pawl__pg_statement_many(&b->call, PG_NUMBER_CREATE_MANY,
                                                       pawl__sql_create_many(b->call.pg->sql),
                                                       inputs, count, &listed, 1)
                             : status;
}

bool pawl__pg_is_created(const struct batch *b, const struct member *m)
{
    struct pawl_str held = pawl__pq_bytes(b->call.conn, b->created, 0, 0);
    int64_t number = 0;

    for (size_t i = 0; i <= held.len; i++)
        if (i < held.len && held.ptr[i] != ',') {
            number = number * 10 + (held.ptr[i] - '0');
        } else {
            if (number == m->number)
                return true;
            number = 0;
        }
    return false;
}

/* ---- inserting --------------------------------------------------------------------------- */

static bool is_of(const struct pawl_change *change, enum pawl_table table,
                  enum pawl_change_kind kind)
{
    return change->table == table && change->kind == kind;
}

static int insert_rows(struct batch *b, enum pawl_table table, enum pawl_change_kind kind,
                       struct pawl_sql_inputs *inputs)
{
    uint32_t number = PG_NUMBER_MANY + (uint32_t)table * PAWL_SQL_MANY_KINDS + (uint32_t)kind;
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++) {
        const struct pawl_commit *commit = b->members[i].commit;

        for (size_t c = 0; b->members[i].open && c < commit->change_count; c++)
            if (is_of(&commit->changes[c], table, kind) &&
                pawl__pg_is_together(&b->members[i], c)) {
                inputs[count].row = commit->changes[c].row;
                inputs[count++].member = b->members[i].number;
            }
    }
    if (count == 0)
        return PAWL_OK;
    return pawl__pg_statement_many(&b->call, number,
                                   pawl__sql_change_many(b->call.pg->sql, kind, table), inputs,
                                   count, NULL, 0);
}

static int insert_together(struct batch *b)
{
    bool used[PAWL_TABLE_COUNT] = {false};
    struct pawl_sql_inputs *inputs;
    size_t count = 0;
    int status = PAWL_OK;

    for (size_t i = 0; i < b->count; i++)
        for (size_t c = 0; b->members[i].open && c < b->members[i].commit->change_count; c++) {
            used[b->members[i].commit->changes[c].table] = true;
            count++;
        }
    inputs = make_inputs(b, count);
    if (!inputs)
        return pawl__arena_status(&b->call.arena);
    for (int table = 0; table < PAWL_TABLE_COUNT; table++)
        for (unsigned kind = 0; kind < PAWL_SQL_MANY_KINDS && used[table] && status == PAWL_OK;
             kind++)
            status = insert_rows(b, (enum pawl_table)table, (enum pawl_change_kind)kind, inputs);
    return status;
}

/* ---- mail -------------------------------------------------------------------------------- */

static int ask_for_mail(struct batch *b)
{
    int64_t *members = pawl__arena_alloc_array(&b->call.arena, b->count, sizeof *members);
    int64_t *limits = pawl__arena_alloc_array(&b->call.arena, b->count, sizeof *limits);
    struct pawl_str *ids = pawl__arena_alloc_array(&b->call.arena, b->count, sizeof *ids);
    struct pawl_pq_param params[3];
    size_t count = 0;
    int status;

    b->mail = SIZE_MAX;
    if (!members || !limits || !ids)
        return pawl__error_code(b->call.err, pawl__arena_status(&b->call.arena));
    for (size_t i = 0; i < b->count; i++) {
        const struct pawl_commit *commit = b->members[i].commit;

        if (!b->members[i].open || !pawl__pg_asks_for_mail(commit))
            continue;
        members[count] = b->members[i].number;
        limits[count] = pawl__pg_mail_limit(commit);
        ids[count++] = commit->instance->id;
    }
    if (count == 0)
        return PAWL_OK;
    status = pawl__pg_ints(&b->call, members, count, &params[0]);
    if (status == PAWL_OK)
        status = pawl__pg_texts(&b->call, ids, count, &params[1]);
    if (status == PAWL_OK)
        status = pawl__pg_ints(&b->call, limits, count, &params[2]);
    b->mail = b->call.count;
    return status == PAWL_OK ? pawl__pg_own(&b->call, PG_MAIL_LEFT, params, 3) : status;
}

int pawl__pg_finish_together(struct batch *b)
{
    int status = insert_together(b);

    if (status == PAWL_OK)
        status = pawl__pg_send_wake(b, PG_WAKE, 0);
    return status == PAWL_OK ? ask_for_mail(b) : status;
}
