/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the members of a batch send together, or one that has many rows: one statement for many
 * rows, where each would have its own. Half of what a small statement costs the server is beginning
 * and ending it: opening a table with fifteen indexes takes as long as inserting a row.
 *
 *     guards       of members that have few and change nothing but rows of the third kind: their
 *                  reservations, then those that have no instance, that create one, that advance
 *                  it, that advance it after a visit
 *     others       guards of the other members, and their other changes, one by one
 *                  (postgres_apply.c)
 *     rows         that members delete, insert or put, a statement for each table
 *     bookmarks    of all members wake what is parked for them
 *     mail         of all members
 *
 * Which members have held is known to the server alone at that time: 'pawl.held' (sql.h) has their
 * numbers. Advances and deletions are joins of arrays with a table. Each says twice which rows it
 * means, also by its array alone: a plan that was made while the table was empty would else read
 * all of it, which nothing forbids, when it has grown. What goes wrong is an error of the
 * statement, and then the members are sent one by one, as without all this.
 */
#include "base/error.h"
#include "stores/postgres_apply.h"
#include "stores/sql_text.h"

/* Larger rows are sent by themselves: an array is copied twice before it is sent. */
#define MANY_BYTES_MAX ((size_t)64 << 10)
/* A member that is alone defers its changes if so many can be: several events of one instance. */
#define ALONE_MIN 8u
/* Of what a batch defers. */
#define BATCH_BYTES_MAX ((size_t)64 << 20)

/* ---- which ------------------------------------------------------------------------------- */

/* Whether the row is known to belong to an instance, whose owner alone changes it. Two batches may
 * delete other rows, which are sent one by one. Work and reservations may belong to none; of those
 * that are deleted by their key it is not known. */
static bool is_of_instance(const struct pawl_change *change)
{
    struct pawl_str instance_id = {"", 0};

    if (!pawl_table_info(change->table)->goes_with_instance)
        return false;
    if (change->table != PAWL_TABLE_WORK && change->table != PAWL_TABLE_RESERVATIONS)
        return true;
    if (change->kind != PAWL_CHANGE_DELETE)
        memcpy(&instance_id,
               (const char *)change->row +
                   pawl_table_info(change->table)
                       ->columns[pawl_table_column(change->table, "instance_id")]
                       .offset,
               sizeof instance_id);
    return instance_id.len > 0;
}

static bool is_deletion(const struct pawl_change *change)
{
    return change->kind == PAWL_CHANGE_DELETE || change->kind == PAWL_CHANGE_DELETE_OWNED;
}

static bool is_small_row(const struct batch *b, const struct pawl_commit *commit,
                         const struct pawl_change *change)
{
    const struct pawl_work_row *work = pawl__pg_new_work(change);

    return pawl__sql_change_many(b->call.pg->sql, change->kind, change->table) &&
           !(work && pawl__pg_finishes(commit, work->id)) &&
           pawl__pg_row_bytes(change->table, change->row) <= MANY_BYTES_MAX;
}

/* An id with a NUL is stored as another one (pawl__sql_clean). */
static bool may_be_same_work(const struct pawl_work_row *a, const struct pawl_work_row *b)
{
    return pawl__str_equal(a->id, b->id) || memchr(a->id.ptr, '\0', a->id.len) ||
           memchr(b->id.ptr, '\0', b->id.len);
}

/*
 * Whether a row that is added may be deferred to the end of the batch although its commit does
 * `other` to the same table as well: it adds a row in the same way, which may be sent in an array,
 * too (`small`), so that of two rows with one key both are deferred or none; it deletes rows of an
 * instance before it; or it deletes another row of work. Members that conflict with others defer
 * nothing (postgres_conflicts.c).
 */
static bool may_defer_beside(const struct pawl_commit *commit, const bool *small, size_t at,
                             size_t other)
{
    const struct pawl_change *change = &commit->changes[at], *beside = &commit->changes[other];

    if (beside->table != change->table)
        return true;
    if (beside->kind == change->kind)
        return small[other];
    if (!is_deletion(beside))
        return false;
    if (is_of_instance(beside))
        return other < at;
    return beside->kind == PAWL_CHANGE_DELETE && change->table == PAWL_TABLE_WORK &&
           !may_be_same_work(change->row, beside->row);
}

static bool may_add_later(const struct pawl_commit *commit, const bool *small, size_t at)
{
    for (size_t other = 0; small[at] && other < commit->change_count; other++)
        if (!may_defer_beside(commit, small, at, other))
            return false;
    return small[at];
}

bool pawl__pg_is_deferred(const struct member *m, size_t change)
{
    return m->defers && change < PG_MANY_CHANGES_MAX &&
           (m->deferred[change / 64] >> change % 64 & 1);
}

static void defer(struct member *m, size_t change)
{
    m->deferred[change / 64] |= UINT64_C(1) << change % 64;
}

/* Rows of an instance: if all that its commit adds to their table is deferred, too, and is sent
 * later. */
static bool may_delete_later(const struct member *m, size_t at)
{
    const struct pawl_commit *commit = m->commit;
    const struct pawl_change *change = &commit->changes[at];

    if (!is_deletion(change) || !is_of_instance(change))
        return false;
    for (size_t other = 0; other < commit->change_count; other++)
        if (commit->changes[other].table == change->table &&
            pawl__pg_adds_rows(&commit->changes[other]) && !pawl__pg_is_deferred(m, other))
            return false;
    return true;
}

/* Decides which changes of the member may be deferred. Returns how many. */
static size_t find_deferred(const struct batch *b, struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    bool small[PG_MANY_CHANGES_MAX];
    size_t count = 0;

    memset(m->deferred, 0, sizeof m->deferred);
    m->defers = commit->change_count <= PG_MANY_CHANGES_MAX;
    if (!m->defers)
        return 0;
    for (size_t i = 0; i < commit->change_count; i++)
        small[i] =
            pawl__pg_adds_rows(&commit->changes[i]) && is_small_row(b, commit, &commit->changes[i]);
    for (size_t i = 0; i < commit->change_count; i++)
        if (may_add_later(commit, small, i))
            defer(m, i);
    for (size_t i = 0; i < commit->change_count; i++)
        if (may_delete_later(m, i))
            defer(m, i);
    for (size_t i = 0; i < commit->change_count; i++)
        count += pawl__pg_is_deferred(m, i);
    m->defers = count > 0;
    return count;
}

/* What is deferred is copied, and a call has only so much memory. */
static void count_deferred(struct batch *b, size_t *bytes)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct member *m = &b->members[i];

        for (size_t c = 0; m->defers && c < m->commit->change_count; c++) {
            const struct pawl_change *change = &m->commit->changes[c];

            if (!pawl__pg_is_deferred(m, c))
                continue;
            b->deferred_count++;
            if (pawl__pg_adds_rows(change))
                *bytes += pawl__pg_row_bytes(change->table, change->row);
        }
    }
}

static void defer_nothing(struct batch *b)
{
    b->is_many = false;
    b->deferred_count = 0;
    for (size_t i = 0; i < b->count; i++)
        b->members[i].defers = false;
}

int pawl__pg_choose_deferred(struct batch *b, size_t open_count)
{
    size_t bytes = 0, found = 0;

    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].open)
            found += find_deferred(b, &b->members[i]);
    b->is_many = open_count > 1 || found >= ALONE_MIN;
    count_deferred(b, &bytes);
    if (!b->is_many || bytes > BATCH_BYTES_MAX)
        defer_nothing(b);
    return b->is_many && open_count > 1 ? pawl__pg_defer_none_in_conflict(b) : PAWL_OK;
}

/* ---- guards ------------------------------------------------------------------------------ */

static const enum pawl_sql_name guards[] = {PAWL_SQL_PLAIN_MANY, PAWL_SQL_CREATE_MANY,
                                            PAWL_SQL_ADVANCE_MANY, PAWL_SQL_ADVANCE_VISITED_MANY};

/* PAWL_SQL_NAME_COUNT: the guard of its instance has no form for many. */
static enum pawl_sql_name guard_for_many(const struct pawl_commit *commit)
{
    enum pawl_sql_name one =
        commit->kind == PAWL_COMMIT_ADVANCE ? pawl__sql_advance(commit) : PAWL_SQL_NAME_COUNT;

    if (commit->kind == PAWL_COMMIT_PLAIN)
        return PAWL_SQL_PLAIN_MANY;
    if (commit->kind == PAWL_COMMIT_CREATE)
        return PAWL_SQL_CREATE_MANY;
    if (one == PAWL_SQL_ADVANCE)
        return PAWL_SQL_ADVANCE_MANY;
    return one == PAWL_SQL_ADVANCE_VISITED ? PAWL_SQL_ADVANCE_VISITED_MANY : PAWL_SQL_NAME_COUNT;
}

static bool is_same_instance(const struct pawl_commit *a, const struct pawl_commit *b)
{
    return a->instance && b->instance && pawl__str_equal(a->instance->id, b->instance->id);
}

/* Its instance, if it has one, can be sent in an array, and no other member is about it: which of
 * them was first would matter. */
static bool has_instance_for_many(const struct batch *b, const struct member *m)
{
    const struct pawl_commit *commit = m->commit;

    if (commit->kind == PAWL_COMMIT_PLAIN)
        return true;
    /* An id with a NUL is stored as another one (pawl__sql_clean). */
    if (memchr(commit->instance->id.ptr, '\0', commit->instance->id.len) ||
        pawl__pg_row_bytes(PAWL_TABLE_INSTANCES, commit->instance) > MANY_BYTES_MAX)
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (&b->members[i] != m && b->members[i].open &&
            is_same_instance(b->members[i].commit, commit))
            return false;
    return true;
}

/* Whether it needs no statement of its own: all its changes are deferred, and it has no guards but
 * that of its instance and of one reservation (of several the first that is in the way counts). */
static bool may_be_guarded_in_bulk(const struct batch *b, const struct member *m)
{
    const struct pawl_commit *commit = m->commit;
    size_t reserved = 0;

    if (commit->done_count > 0 || commit->stamp.len > 0 || !has_instance_for_many(b, m))
        return false;
    for (size_t i = 0; i < commit->change_count; i++) {
        reserved += pawl__pg_is_guarded_insert(&commit->changes[i]);
        if (!pawl__pg_is_deferred(m, i))
            return false;
    }
    return reserved <= 1;
}

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

/* Decides which members have their guards sent together: all but one that would be alone in it. */
static void choose_guarded_in_bulk(struct batch *b)
{
    for (size_t kind = 0; kind < sizeof guards / sizeof guards[0]; kind++) {
        struct member *last = NULL;
        size_t count = 0;

        for (size_t i = 0; i < b->count; i++) {
            struct member *m = &b->members[i];

            if (!m->open || guard_for_many(m->commit) != guards[kind] ||
                !may_be_guarded_in_bulk(b, m))
                continue;
            m->is_guarded_in_bulk = true;
            last = m;
            count++;
        }
        if (count == 1)
            last->is_guarded_in_bulk = false;
    }
}

static int send_many(struct batch *b, enum pawl_sql_name name, const struct pawl_sql_inputs *inputs,
                     size_t count, const struct pawl_pq_param *more, size_t more_count)
{
    return pawl__pg_statement_many(&b->call, PG_NUMBER_NAMED + (uint32_t)name,
                                   pawl__sql_statement(b->call.pg->sql, name), inputs, count, more,
                                   more_count);
}

static int send_absent(struct batch *b, struct pawl_sql_inputs *inputs)
{
    size_t count = 0;

    b->absent = SIZE_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const struct member *m = &b->members[i];

        for (size_t c = 0; m->is_guarded_in_bulk && c < m->commit->change_count; c++)
            if (pawl__pg_is_guarded_insert(&m->commit->changes[c])) {
                inputs[count].row = m->commit->changes[c].row;
                inputs[count++].member = m->number;
            }
    }
    if (count == 0)
        return PAWL_OK;
    b->absent = b->call.count;
    return send_many(b, PAWL_SQL_ABSENT_MANY, inputs, count, NULL, 0);
}

static int send_guards_of(struct batch *b, enum pawl_sql_name name, struct pawl_sql_inputs *inputs)
{
    struct pawl_pq_param listed;
    size_t count = 0, more_count = name == PAWL_SQL_CREATE_MANY;
    int status = PAWL_OK;

    for (size_t i = 0; i < b->count; i++) {
        struct member *m = &b->members[i];
        const struct pawl_commit *commit = m->commit;
        bool keeps = commit->instance && !(commit->flags & PAWL_COMMIT_RELEASE);

        if (!m->is_guarded_in_bulk || guard_for_many(commit) != name)
            continue;
        m->guard = b->call.count;
        inputs[count++] = (struct pawl_sql_inputs){.row = commit->instance,
                                                   .owner = keeps ? commit->instance->owner : 0,
                                                   .value = commit->visited_us,
                                                   .member = m->number};
    }
    if (count == 0)
        return PAWL_OK;
    if (more_count > 0)
        status = list_members(b, inputs, count, &listed);
    return status == PAWL_OK ? send_many(b, name, inputs, count, &listed, more_count) : status;
}

int pawl__pg_guard_in_bulk(struct batch *b)
{
    struct pawl_sql_inputs *inputs = make_inputs(b, b->count);
    int status;

    if (!inputs)
        return pawl__arena_status(&b->call.arena);
    choose_guarded_in_bulk(b);
    status = send_absent(b, inputs);
    for (size_t i = 0; i < sizeof guards / sizeof guards[0] && status == PAWL_OK; i++)
        status = send_guards_of(b, guards[i], inputs);
    return status;
}

/* Whether a list such as ",1,2" or "0,1,2" has it. */
static bool lists_member(struct pawl_str list, const struct member *m)
{
    int64_t number = 0;

    for (size_t i = 0; i <= list.len; i++)
        if (i < list.len && list.ptr[i] != ',') {
            number = number * 10 + (list.ptr[i] - '0');
        } else {
            if (number == m->number)
                return true;
            number = 0;
        }
    return false;
}

bool pawl__pg_has_held(const struct batch *b, const struct member *m)
{
    return lists_member(pawl__pq_bytes(b->call.conn, m->guard, 0, 0), m);
}

bool pawl__pg_is_barred(const struct batch *b, const struct member *m, bool *has_expired)
{
    bool is_barred =
        b->absent != SIZE_MAX && lists_member(pawl__pq_bytes(b->call.conn, b->absent, 0, 0), m);

    *has_expired = is_barred && lists_member(pawl__pq_bytes(b->call.conn, b->absent, 0, 1), m);
    return is_barred;
}

bool pawl__pg_is_to_cancel(const struct batch *b, const struct member *m)
{
    switch (m->commit->kind) {
    case PAWL_COMMIT_CREATE:
        return m->commit->instance->cancel_requested != 0;
    case PAWL_COMMIT_ADVANCE:
        return lists_member(pawl__pq_bytes(b->call.conn, m->guard, 0, 1), m);
    case PAWL_COMMIT_PLAIN:
    case PAWL_COMMIT_DELETE:
    case PAWL_COMMIT_CANCEL:
        break;
    }
    return false;
}

/* ---- changing ---------------------------------------------------------------------------- */

static bool is_of(const struct pawl_change *change, enum pawl_table table,
                  enum pawl_change_kind kind)
{
    return change->table == table && change->kind == kind;
}

static int change_rows(struct batch *b, enum pawl_table table, enum pawl_change_kind kind,
                       struct pawl_sql_inputs *inputs)
{
    uint32_t number =
        PG_NUMBER_MANY + (uint32_t)table * (PAWL_CHANGE_DELETE_OWNED + 1u) + (uint32_t)kind;
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++) {
        const struct pawl_commit *commit = b->members[i].commit;

        for (size_t c = 0; b->members[i].open && c < commit->change_count; c++)
            if (is_of(&commit->changes[c], table, kind) &&
                pawl__pg_is_deferred(&b->members[i], c)) {
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

static int send_deferred_changes(struct batch *b)
{
    static const enum pawl_change_kind kinds[] = {PAWL_CHANGE_DELETE_OWNED, PAWL_CHANGE_DELETE,
                                                  PAWL_CHANGE_INSERT, PAWL_CHANGE_ADD,
                                                  PAWL_CHANGE_PUT};
    bool used[PAWL_TABLE_COUNT] = {false};
    struct pawl_sql_inputs *inputs = make_inputs(b, b->deferred_count);
    int status = PAWL_OK;

    if (!inputs)
        return pawl__arena_status(&b->call.arena);
    for (size_t i = 0; i < b->count; i++)
        for (size_t c = 0; b->members[i].defers && c < b->members[i].commit->change_count; c++)
            used[b->members[i].commit->changes[c].table] = true;
    /* Keys last, as in the commits of instances: a member that is sent alone waits for no key while
     * it has a row that this batch waits for. */
    for (int n = 1; n <= PAWL_TABLE_COUNT; n++) {
        enum pawl_table table = (enum pawl_table)((PAWL_TABLE_RESERVATIONS + n) % PAWL_TABLE_COUNT);

        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && used[table] && status == PAWL_OK;
             i++)
            status = change_rows(b, table, kinds[i], inputs);
    }
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

int pawl__pg_send_deferred(struct batch *b)
{
    int status = send_deferred_changes(b);

    if (status == PAWL_OK)
        status = pawl__pg_send_wake(b, PG_WAKE, 0);
    return status == PAWL_OK ? ask_for_mail(b) : status;
}
