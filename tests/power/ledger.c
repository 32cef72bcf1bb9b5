/* SPDX-License-Identifier: Apache-2.0 */
/* What a store has acknowledged, see ledger.h. */
#include "power/ledger.h"

#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BYTES_MAX ((size_t)64 << 20)
#define TTL_US INT64_C(3600000000)
/* Of a state: several pages. */
#define STATE_BYTES 9000
#define AT_ONCE_MAX 3

static int64_t later(struct ledger *l)
{
    return pawl_env_monotonic_ns(l->env) + INT64_C(60000000000);
}

void ledger_open(struct ledger *l, uint64_t seed)
{
    memset(l, 0, sizeof *l);
    l->random = seed;
    assert_ok(pawl_system_env_open(&l->env, &l->err), &l->err);
    pawl__arena_init(&l->arena, &l->env->alloc, ARENA_BYTES_MAX);
}

void ledger_close(struct ledger *l)
{
    pawl__arena_release(&l->arena);
    pawl_system_env_close(l->env);
}

/* PREFIX NUMBER / REVISION */
static struct pawl_str mark_of(struct ledger *l, const char *prefix, int number, int64_t revision)
{
    const char *made =
        pawl__arena_printf(&l->arena, "%s%d/%lld", prefix, number, (long long)revision);

    assert_non_null(made);
    return pawl__str(made);
}

static struct pawl_str id_of(struct ledger *l, int number)
{
    const char *made = pawl__arena_printf(&l->arena, "i%d", number);

    assert_non_null(made);
    return pawl__str(made);
}

/* Says which revision of which instance it is of, from its first byte to its last. */
static struct pawl_str state_of(struct ledger *l, int number, int64_t revision)
{
    char *bytes = pawl__arena_alloc(&l->arena, STATE_BYTES);
    struct pawl_str mark = mark_of(l, "<", number, revision);

    assert_non_null(bytes);
    for (size_t i = 0; i < STATE_BYTES; i++)
        bytes[i] = mark.ptr[i % (mark.len ? mark.len : 1)];
    return pawl__str_make(bytes, STATE_BYTES);
}

/* ---- writing --------------------------------------------------------------------------------- */

int ledger_join(struct ledger *l)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("ledger"), .ttl_us = TTL_US};
    int status = pawl_store_lease(l->store, &lease, later(l), &l->err);

    if (status != PAWL_OK)
        return status;
    if (lease.incarnation <= l->nodes_max)
        fail_msg("incarnation %lld was issued again", (long long)lease.incarnation);
    l->node = l->nodes_max = lease.incarnation;
    return PAWL_OK;
}

/* One commit and all that it is made of. */
struct entry {
    int number;
    struct pawl_commit commit;
    struct pawl_instance_row row;
    struct pawl_bookmark_row bookmark, old_bookmark;
    struct pawl_work_row work, old_work;
    struct pawl_journal_row page;
    struct pawl_change changes[5];
};

static void add(struct entry *e, enum pawl_change_kind kind, enum pawl_table table, const void *row)
{
    e->changes[e->commit.change_count++] = (struct pawl_change){kind, table, row};
}

static void fill(struct ledger *l, struct entry *e, int64_t revision)
{
    int number = e->number;

    e->row.id = id_of(l, number);
    e->row.definition_id = e->row.version_id = pawl__str("d");
    e->row.status = pawl__str("Running");
    e->row.sub_status = pawl__str("Suspended");
    e->row.name = mark_of(l, "", number, revision);
    e->row.state = state_of(l, number, revision);
    e->bookmark = (struct pawl_bookmark_row){.id = mark_of(l, "b", number, revision),
                                             .instance_id = e->row.id,
                                             .hash = mark_of(l, "h", number, revision)};
    e->work = (struct pawl_work_row){.id = mark_of(l, "w", number, revision),
                                     .kind = pawl__str("timer"),
                                     .instance_id = e->row.id,
                                     .due_us = INT64_C(9000000000000000),
                                     .expires_us = PAWL_TIME_NEVER};
    e->page = (struct pawl_journal_row){.instance_id = e->row.id,
                                        .first_sequence = revision,
                                        .count = 1,
                                        .data = mark_of(l, "p", number, revision)};
    e->old_bookmark.id = mark_of(l, "b", number, revision - 1);
    e->old_work.id = mark_of(l, "w", number, revision - 1);
    e->commit.instance = &e->row;
    e->commit.changes = e->changes;
    e->commit.flags = PAWL_COMMIT_RELEASE;
    add(e, PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &e->bookmark);
    add(e, PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &e->work);
    add(e, PAWL_CHANGE_INSERT, PAWL_TABLE_JOURNAL, &e->page);
    if (revision == 1)
        return;
    add(e, PAWL_CHANGE_DELETE, PAWL_TABLE_BOOKMARKS, &e->old_bookmark);
    add(e, PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &e->old_work);
}

static int claim(struct ledger *l, struct entry *e)
{
    struct pawl_claim claim = {.id = id_of(l, e->number), .seen_fence = l->seen_fence};
    int64_t now_us;
    int status =
        pawl_store_claim(l->store, l->node, &claim, 1, &l->arena, &now_us, later(l), &l->err);

    if (status != PAWL_OK)
        return status;
    assert_code(claim.status, PAWL_OK);
    if (claim.row.fence <= l->seen_fence)
        fail_msg("fence %lld was issued after %lld", (long long)claim.row.fence,
                 (long long)l->seen_fence);
    l->seen_fence = claim.row.fence;
    e->row = claim.row;
    return PAWL_OK;
}

int ledger_write(struct ledger *l)
{
    struct entry entries[AT_ONCE_MAX];
    struct pawl_commit *commits[AT_ONCE_MAX];
    size_t count = 1 + test_random(&l->random) % AT_ONCE_MAX;
    int first = (int)(test_random(&l->random) % LEDGER_INSTANCES), status = PAWL_OK;

    memset(entries, 0, sizeof entries);
    pawl__arena_reset(&l->arena);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct entry *e = &entries[i];

        e->number = (first + (int)i) % LEDGER_INSTANCES;
        e->commit.kind = l->acknowledged[e->number] ? PAWL_COMMIT_ADVANCE : PAWL_COMMIT_CREATE;
        e->row.owner = l->node;
        if (l->acknowledged[e->number])
            status = claim(l, e);
        fill(l, e, l->acknowledged[e->number] + 1);
        commits[i] = &e->commit;
    }
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        l->tried[entries[i].number] = l->acknowledged[entries[i].number] + 1;
    status = pawl_store_apply(l->store, commits, count, later(l), &l->err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        assert_ok(entries[i].commit.status, &entries[i].commit.error);
        l->acknowledged[entries[i].number]++;
    }
    l->writes += status == PAWL_OK;
    return status;
}

/* ---- checking -------------------------------------------------------------------------------- */

static void find(struct ledger *l, enum pawl_table table, const char *column, struct pawl_str value,
                 struct pawl_rows *rows)
{
    const struct pawl_condition condition = {.column = pawl_table_column(table, column),
                                             .value = {.text = value}};
    const struct pawl_query query = {
        .table = table, .conditions = &condition, .condition_count = 1, .limit = 1000};

    assert_ok(pawl_store_find(l->store, &query, &l->arena, rows, later(l), &l->err), &l->err);
}

static void check_journal(struct ledger *l, int number, int64_t revision, const char *what)
{
    struct pawl_rows rows;
    const struct pawl_journal_row *page;

    find(l, PAWL_TABLE_JOURNAL, "instance_id", id_of(l, number), &rows);
    page = rows.rows;
    if ((int64_t)rows.count != revision)
        fail_msg("%s: instance %d at revision %lld has %zu pages of its journal", what, number,
                 (long long)revision, rows.count);
    for (size_t i = 0; i < rows.count; i++)
        if (page[i].first_sequence != (int64_t)i + 1 ||
            !pawl__str_equal(page[i].data, mark_of(l, "p", number, (int64_t)i + 1)))
            fail_msg("%s: page %zu of instance %d is another one", what, i, number);
}

/* Of bookmarks and work there is the one of this revision. */
static void check_one(struct ledger *l, enum pawl_table table, int number, struct pawl_str id,
                      const char *what)
{
    struct pawl_rows rows;

    find(l, table, "instance_id", id_of(l, number), &rows);
    /* The id is the first column of both. */
    if (rows.count != 1 || !pawl__str_equal(*(const struct pawl_str *)rows.rows, id))
        fail_msg("%s: instance %d has %zu rows of %s, and not %.*s alone", what, number, rows.count,
                 pawl_table_info(table)->name, PAWL_STR_ARG(id));
}

static void check_instance(struct ledger *l, int number, const char *what)
{
    const struct pawl_instance_row *row;
    struct pawl_rows rows;
    int64_t revision;

    find(l, PAWL_TABLE_INSTANCES, "id", id_of(l, number), &rows);
    row = rows.rows;
    revision = rows.count > 0 ? row->revision : 0;
    if (revision < l->acknowledged[number] || revision > l->tried[number])
        fail_msg("%s: instance %d is at revision %lld; %lld was acknowledged, %lld was tried", what,
                 number, (long long)revision, (long long)l->acknowledged[number],
                 (long long)l->tried[number]);
    if (revision > 0) {
        if (!pawl__str_equal(row->state, state_of(l, number, revision)) ||
            !pawl__str_equal(row->name, mark_of(l, "", number, revision)))
            fail_msg("%s: the state of instance %d is not that of revision %lld", what, number,
                     (long long)revision);
        check_one(l, PAWL_TABLE_BOOKMARKS, number, mark_of(l, "b", number, revision), what);
        check_one(l, PAWL_TABLE_WORK, number, mark_of(l, "w", number, revision), what);
    }
    check_journal(l, number, revision, what);
    l->acknowledged[number] = l->tried[number] = revision;
}

static void on_finding(void *ctx, const char *finding)
{
    fail_msg("%s: the store is damaged: %s", (const char *)ctx, finding);
}

void ledger_check(struct ledger *l, const char *what)
{
    char where[128];

    (void)snprintf(where, sizeof where, "%s", what);
    assert_ok(pawl_store_check_backend(l->store, on_finding, where, later(l), &l->err), &l->err);
    for (int number = 0; number < LEDGER_INSTANCES; number++) {
        pawl__arena_reset(&l->arena);
        check_instance(l, number, what);
    }
}
