/* SPDX-License-Identifier: Apache-2.0 */
/* Commits of instances: who may write, what is written, and what is dropped alone. */
#include "contract/suite.h"

/* ---- what each kind writes ---------------------------------------------------------------- */

static void a_created_instance_begins_with_fence_and_revision_one(struct contract *t)
{
    struct pawl_instance_row row = some_instance(t, pawl__str("i"));
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};
    struct pawl_instance_row expected;

    row.owner = t->node_a;
    row.fence = 77; /* not the caller's to choose */
    row.revision = 88;
    row.revision_fence = 99;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_false(commit.cancel_requested);
    assert_false(commit.has_mail);
    expected = row;
    expected.fence = expected.revision = expected.revision_fence = 1;
    expected.revision_owner = row.owner;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);
}

static void an_instance_created_with_release_has_no_owner(struct contract *t)
{
    struct pawl_instance_row row = some_instance(t, pawl__str("i"));
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

    row.owner = t->node_a;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(instance_row(t, row.id)->owner, 0);
}

static void the_creator_may_advance_without_a_claim(struct contract *t)
{
    struct pawl_instance_row row = some_instance(t, pawl__str("i"));
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};

    row.owner = t->node_a;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    row.fence = row.revision = 1;
    commit.kind = PAWL_COMMIT_ADVANCE;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(instance_row(t, row.id)->revision, 2);
}

static void an_advance_writes_everything_but_what_stays(struct contract *t)
{
    struct pawl_instance_row old = claimed_instance(t, "i"), row = old, expected;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};

    row.definition_id = pawl__str("definition-2");
    row.version_id = pawl__str("version-2");
    row.version = 5;
    row.parent_id = pawl__str("another parent");
    row.status = pawl__str("Finished");
    row.sub_status = pawl__str("Cancelled");
    row.correlation_id = pawl__str("correlation-2");
    row.name = pawl__str("name-2");
    row.incident_count = 6;
    row.is_system = !old.is_system;
    row.id_hash = 97;
    row.created_us = 1;
    row.updated_us = 70;
    row.finished_us = 80;
    row.revision_fence = 90;
    row.cancel_requested = 1;
    row.runnable = 1;
    row.state = pawl__str("state-2");
    row.counts = pawl__str("counts-2");
    row.revision_owner = 91;
    row.takeovers = 92;
    row.failures = 93;
    row.retry_us = 94;
    row.trouble = pawl__str("trouble-2");
    row.alone = 95;
    row.state_sum = 96;
    expected = row;
    expected.revision_owner = old.owner;
    expected.takeovers = expected.failures = expected.retry_us = expected.alone = 0;
    expected.trouble = pawl__str("");
    expected.parent_id = old.parent_id;
    expected.definition_id = old.definition_id;
    expected.is_system = old.is_system;
    expected.id_hash = old.id_hash;
    expected.created_us = old.created_us;
    expected.cancel_requested = 0;
    expected.revision = old.revision + 1;
    expected.revision_fence = old.fence;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);
}

static void an_advance_that_keeps_writes_the_revision_alone(struct contract *t)
{
    struct pawl_instance_row old = claimed_instance(t, "i"), row = {0}, expected = old;
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_KEEP, .instance = &row};

    row.id = old.id;
    row.owner = old.owner;
    row.fence = old.fence;
    row.revision = old.revision;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    expected.revision++;
    expected.revision_fence = old.fence;
    expected.revision_owner = old.owner;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);

    row.revision++;
    commit.flags |= PAWL_COMMIT_RELEASE;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    expected.revision++;
    expected.owner = 0;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);
}

static void setting_aside_keeps_the_state_and_says_why_until_a_step_is_taken(struct contract *t)
{
    struct pawl_instance_row old = claimed_instance(t, "i"), row = {0}, expected = old;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE,
                                 .instance = &row};

    row.id = old.id;
    row.owner = old.owner;
    row.fence = old.fence;
    row.revision = old.revision;
    row.failures = 3;
    row.retry_us = PAWL_TIME_NEVER;
    row.trouble = pawl__str("a damaged byte");
    row.alone = 4;
    row.state_sum = 5;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    expected.revision++;
    expected.revision_fence = old.fence;
    expected.revision_owner = old.owner;
    expected.failures = 3;
    expected.retry_us = PAWL_TIME_NEVER;
    expected.trouble = row.trouble;
    expected.alone = 4;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);

    row.revision++;
    commit.flags = PAWL_COMMIT_KEEP;
    row.failures = row.retry_us = 0;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    expected.revision++;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);

    row = expected;
    commit.flags = 0;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    expected.revision++;
    expected.failures = expected.retry_us = expected.alone = 0;
    expected.trouble = pawl__str("");
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);
}

static void ending_beside_the_state_keeps_the_state_and_writes_the_status(struct contract *t)
{
    struct pawl_instance_row old = claimed_instance(t, "i"), row = {0}, expected = old;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE |
                                          PAWL_COMMIT_END | PAWL_COMMIT_RELEASE,
                                 .instance = &row};

    row.id = old.id;
    row.owner = old.owner;
    row.fence = old.fence;
    row.revision = old.revision;
    row.status = pawl__str("Finished");
    row.sub_status = pawl__str("Cancelled");
    row.updated_us = 77;
    row.finished_us = 78;
    row.trouble = pawl__str("a damaged byte");
    row.state = pawl__str("never written");
    row.state_sum = 5;
    row.counts = pawl__str("nor this");
    row.name = pawl__str("nor this");
    row.revision++;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    row.revision--;
    row.fence++;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    row.fence--;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    expected.revision++;
    expected.revision_fence = old.fence;
    expected.revision_owner = old.owner;
    expected.owner = 0;
    expected.status = row.status;
    expected.sub_status = row.sub_status;
    expected.runnable = 0;
    expected.updated_us = 77;
    expected.finished_us = 78;
    expected.takeovers = expected.failures = expected.retry_us = expected.alone = 0;
    expected.trouble = row.trouble;
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row.id), &expected);
}

static void reopening_clears_a_cancellation_and_nothing_else_does(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};

    assert_code(apply_one(t, t->a, &cancel), PAWL_OK);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.cancel_requested);
    row.revision++;
    commit.flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_REOPEN;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.cancel_requested);
    row.revision++;
    commit.flags = PAWL_COMMIT_REOPEN;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_false(commit.cancel_requested);
    row.revision++;
    commit.flags = PAWL_COMMIT_REOPEN;
    row.fence++;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    row.fence--;
    assert_code(apply_one(t, t->a, &cancel), PAWL_OK);
    assert_true(instance_row(t, row.id)->cancel_requested != 0);
}

static void a_released_instance_must_be_claimed_before_it_is_written_again(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct pawl_claim claim;

    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(instance_row(t, row.id)->owner, 0);
    row.revision++;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    claim = claim_one(t, t->b, t->node_b, row.id);
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.row.fence, row.fence + 1);
    commit.instance = &claim.row;
    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
}

static void what_nobody_owns_cannot_be_advanced_by_nobody(struct contract *t)
{
    struct pawl_instance_row row = *instance_row(t, create_instance(t, "i"));
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};

    assert_int_equal(row.owner, 0);
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    assert_int_equal(instance_row(t, row.id)->revision, 1);
}

static void an_instance_that_is_not_there_cannot_be_advanced(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};

    row.id = pawl__str("another");
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    assert_int_equal(count_all(t, PAWL_TABLE_INSTANCES), 1);
}

/* ---- dropped alone ------------------------------------------------------------------------ */

#define MANY 64
#define BAD 31

void check_dropped_alone(struct contract *t,
                         void (*spoil)(struct contract *t, struct pawl_commit *commit,
                                       struct pawl_instance_row *row),
                         int status)
{
    static struct pawl_instance_row rows[MANY];
    static struct pawl_bookmark_row bookmarks[MANY];
    static struct pawl_change changes[MANY];
    static struct pawl_commit commits[MANY];
    struct pawl_commit *pointers[MANY];
    struct pawl_instance_row before;
    struct pawl_str id;

    for (int i = 0; i < MANY; i++) {
        rows[i] = claimed_instance(t, text(t, "i%02d", i).ptr);
        bookmarks[i] = some_bookmark(t, text(t, "b%02d", i), rows[i].id, "hash");
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmarks[i]};
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                          .instance = &rows[i],
                                          .changes = &changes[i],
                                          .change_count = 1};
        pointers[i] = &commits[i];
    }
    id = rows[BAD].id;
    spoil(t, &commits[BAD], &rows[BAD]);
    before = *instance_row(t, id);
    assert_ok(pawl_store_apply(t->a, pointers, MANY, soon_ns(t), &t->err), &t->err);
    for (int i = 0; i < MANY; i++) {
        if (i != BAD)
            assert_code(commits[i].status, PAWL_OK);
        if (i != BAD)
            assert_int_equal(instance_row(t, rows[i].id)->revision, rows[i].revision + 1);
        assert_int_equal(
            find_where(t, PAWL_TABLE_BOOKMARKS, "instance_id", text(t, "i%02d", i)).count,
            i == BAD ? 0 : 1);
    }
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &before);
    assert_int_not_equal(commits[BAD].status, PAWL_OK);
    if (status <= 0)
        assert_code(commits[BAD].status, status);
    if (status != PAWL_ECONFLICT) {
        assert_code(commits[BAD].error.code, commits[BAD].status);
        assert_true(commits[BAD].error.msg[0] != '\0');
    }
}

static void wrong_owner(struct contract *t, struct pawl_commit *commit,
                        struct pawl_instance_row *row)
{
    (void)commit;
    row->owner = t->node_b;
}

static void a_stale_owner_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, wrong_owner, PAWL_ECONFLICT);
}

static void claimed_since(struct contract *t, struct pawl_commit *commit,
                          struct pawl_instance_row *row)
{
    (void)commit;
    assert_code(claim_one(t, t->a, t->node_a, row->id).status, PAWL_OK);
}

static void a_stale_fence_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, claimed_since, PAWL_ECONFLICT);
}

static void advanced_since(struct contract *t, struct pawl_commit *commit,
                           struct pawl_instance_row *row)
{
    struct pawl_commit other = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_KEEP, .instance = row};

    (void)commit;
    assert_code(apply_one(t, t->a, &other), PAWL_OK);
}

static void a_stale_revision_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, advanced_since, PAWL_ECONFLICT);
}

static void not_yet_written(struct contract *t, struct pawl_commit *commit,
                            struct pawl_instance_row *row)
{
    (void)t;
    (void)commit;
    row->revision++;
}

static void a_revision_ahead_of_the_row_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, not_yet_written, PAWL_ECONFLICT);
}

static void create_again(struct contract *t, struct pawl_commit *commit,
                         struct pawl_instance_row *row)
{
    (void)t;
    (void)row;
    commit->kind = PAWL_COMMIT_CREATE;
}

static void creating_an_instance_that_is_there_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, create_again, PAWL_EEXISTS);
}

/* ---- many in one batch -------------------------------------------------------------------- */

struct newcomer {
    struct pawl_instance_row row;
    struct pawl_bookmark_row bookmark;
    struct pawl_journal_row page;
    struct pawl_change changes[2];
    struct pawl_commit commit;
};

/* A new instance with a bookmark, for which an event is parked. Every third is released at once,
 * and every second does not ask for mail. */
static void make_newcomer(struct contract *t, struct newcomer *n, int number)
{
    struct pawl_work_row parked = some_work(t, text(t, "w%02d", number), PAWL_TIME_NEVER);

    n->row = some_instance(t, text(t, "i%02d", number));
    n->row.owner = t->node_a;
    n->row.cancel_requested = 0;
    n->bookmark = some_bookmark(t, text(t, "b%02d", number), n->row.id, "hash");
    n->page = some_journal(t, n->row.id, 0);
    n->changes[0] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &n->bookmark};
    n->changes[1] = (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_JOURNAL, &n->page};
    n->commit = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                     .flags = (number % 3 == 0 ? PAWL_COMMIT_RELEASE : 0u) |
                                              (number % 2 == 0 ? PAWL_COMMIT_UNASKED : 0u),
                                     .instance = &n->row,
                                     .changes = n->changes,
                                     .change_count = 2};
    parked.instance_id = n->row.id;
    parked.hash = n->bookmark.hash;
    insert(t, PAWL_TABLE_WORK, &parked);
}

static void new_instances_of_one_batch_are_created_each_for_itself(struct contract *t)
{
    static struct newcomer all[MANY];
    struct pawl_commit *pointers[MANY];
    struct pawl_instance_row before;

    for (int i = 0; i < MANY; i++) {
        make_newcomer(t, &all[i], i);
        pointers[i] = &all[i].commit;
    }
    (void)create_instance(t, "i31");
    before = *instance_row(t, pawl__str("i31"));
    assert_ok(pawl_store_apply(t->a, pointers, MANY, soon_ns(t), &t->err), &t->err);
    for (int i = 0; i < MANY; i++) {
        struct newcomer *n = &all[i];
        struct pawl_str id = n->row.id;
        const struct pawl_work_row *parked = find_where(t, PAWL_TABLE_WORK, "instance_id", id).rows;

        assert_code(n->commit.status, i == BAD ? PAWL_EEXISTS : PAWL_OK);
        if (i % 2 == 1) /* others did not ask */
            assert_int_equal(n->commit.has_mail, i != BAD);
        assert_int_equal(find_where(t, PAWL_TABLE_BOOKMARKS, "instance_id", id).count, i != BAD);
        assert_int_equal(find_where(t, PAWL_TABLE_JOURNAL, "instance_id", id).count, i != BAD);
        assert_int_equal(parked->due_us == PAWL_TIME_NEVER, i == BAD);
        n->row.owner = i % 3 == 0 ? 0 : t->node_a;
        n->row.revision_owner = t->node_a;
        n->row.fence = n->row.revision = n->row.revision_fence = 1;
        assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), i == BAD ? &before : &n->row);
    }
}

/* Of an instance that was there before: claimed, or visited. Some of them must be refused. */
struct advancing {
    struct pawl_instance_row row;
    struct pawl_journal_row page;
    struct pawl_change change;
    struct pawl_commit commit;
};

/* The same for both forms of an instance but for its id. */
static void make_advancing(struct contract *t, struct advancing *a, const char *form, int number)
{
    const char *id = text(t, "%s%02d", form, number).ptr;
    bool is_visit = number % 4 == 0;

    if (is_visit)
        a->row = *instance_row(t, create_instance(t, id));
    else
        a->row = claimed_instance(t, id);
    if (number % 5 == 0)
        assert_code(
            apply_one(t, t->b,
                      &(struct pawl_commit){.kind = PAWL_COMMIT_CANCEL, .instance = &a->row}),
            PAWL_OK);
    if (number % 7 == 0) {
        struct pawl_work_row mail = some_work(t, text(t, "mail-%s", id), 0);

        mail.instance_id = a->row.id;
        insert(t, PAWL_TABLE_WORK, &mail);
    }
    a->page = some_journal(t, a->row.id, 0);
    a->change = (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_JOURNAL, &a->page};
    a->commit = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                     .flags = (number % 3 == 0 ? PAWL_COMMIT_RELEASE : 0u) |
                                              (number % 2 == 0 ? PAWL_COMMIT_UNASKED : 0u) |
                                              (is_visit ? PAWL_COMMIT_VISITED : 0u),
                                     .visited_us = a->row.updated_us,
                                     .instance = &a->row,
                                     .changes = &a->change,
                                     .change_count = 1};
    if (is_visit) {
        a->row.owner = t->node_a;
        a->row.fence++;
    }
    a->commit.visited_us += number % 16 == 0;
    a->row.revision += number % 16 == 1;
    a->row.fence += number % 16 == 2;
    a->row.status = pawl__str("Finished");
    a->row.sub_status = text(t, "Done %d", number);
    a->row.incident_count = number;
    a->row.updated_us = 7000 + number;
    a->row.state = text(t, "state %d", number);
}

static void instances_of_one_batch_advance_as_each_would_alone(struct contract *t)
{
    static struct advancing batch[MANY], alone[MANY];
    struct pawl_commit *pointers[MANY];
    int refused = 0;

    for (int i = 0; i < MANY; i++) {
        make_advancing(t, &batch[i], "batch", i);
        make_advancing(t, &alone[i], "alone", i);
        pointers[i] = &batch[i].commit;
    }
    assert_ok(pawl_store_apply(t->a, pointers, MANY, soon_ns(t), &t->err), &t->err);
    for (int i = 0; i < MANY; i++) {
        struct pawl_instance_row found = *instance_row(t, batch[i].row.id), expected;

        assert_code(apply_one(t, t->a, &alone[i].commit), batch[i].commit.status);
        assert_code(batch[i].commit.status, i % 16 <= 2 ? PAWL_ECONFLICT : PAWL_OK);
        assert_int_equal(batch[i].commit.cancel_requested, alone[i].commit.cancel_requested);
        assert_int_equal(batch[i].commit.has_mail, alone[i].commit.has_mail);
        assert_int_equal(find_where(t, PAWL_TABLE_JOURNAL, "instance_id", batch[i].row.id).count,
                         batch[i].commit.status == PAWL_OK);
        expected = *instance_row(t, alone[i].row.id);
        found.id = expected.id;
        found.correlation_id = expected.correlation_id;
        found.name = expected.name;
        if (batch[i].commit.status != PAWL_OK)
            found.state = expected.state; /* it has the id in it */
        refused += batch[i].commit.status != PAWL_OK;
        assert_same_row(PAWL_TABLE_INSTANCES, &found, &expected);
    }
    assert_int_equal(refused, MANY / 16 * 3);
}

static struct pawl_setting_row some_setting(struct contract *t, const char *key, size_t bytes)
{
    char *value = pawl__arena_alloc(&t->arena, bytes);

    assert_non_null(value);
    memset(value, 'v', bytes);
    return (struct pawl_setting_row){.key = pawl__str(key), .value = pawl__str_make(value, bytes)};
}

/* A commit of any kind with a reservation, every fourth of which is wrong. It deletes a bookmark
 * and adds another one. */
struct reserving {
    struct pawl_instance_row row;
    struct pawl_reservation_row reservation;
    struct pawl_bookmark_row old, new;
    struct pawl_change changes[3];
    struct pawl_commit commit;
};

static void make_reserving(struct contract *t, struct reserving *r, const char *form, int number,
                           int wrong)
{
    static const enum pawl_commit_kind kinds[] = {PAWL_COMMIT_PLAIN, PAWL_COMMIT_CREATE,
                                                  PAWL_COMMIT_ADVANCE};
    const char *id = text(t, "%s%02d", form, number).ptr;
    enum pawl_commit_kind kind = kinds[number % 3];

    r->row =
        kind == PAWL_COMMIT_ADVANCE ? claimed_instance(t, id) : some_instance(t, pawl__str(id));
    if (kind == PAWL_COMMIT_CREATE)
        r->row.owner = t->node_a;
    r->reservation =
        (struct pawl_reservation_row){.key = text(t, "key-%s", id), .expires_us = PAWL_TIME_NEVER};
    if (number % 4 == 0 && wrong == PAWL_EEXISTS)
        insert(t, PAWL_TABLE_RESERVATIONS, &r->reservation);
    if (number % 4 == 0 && wrong == PAWL_ECONFLICT)
        r->reservation.expires_us = 1;
    r->old = some_bookmark(t, text(t, "old-%s", id), r->row.id, "hash");
    r->new = some_bookmark(t, text(t, "new-%s", id), r->row.id, "hash");
    insert(t, PAWL_TABLE_BOOKMARKS, &r->old);
    r->changes[0] = (struct pawl_change){number % 2 ? PAWL_CHANGE_DELETE : PAWL_CHANGE_DELETE_OWNED,
                                         PAWL_TABLE_BOOKMARKS, &r->old};
    r->changes[1] =
        (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &r->reservation};
    r->changes[2] = (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &r->new};
    r->commit = (struct pawl_commit){.kind = kind,
                                     .instance = kind == PAWL_COMMIT_PLAIN ? NULL : &r->row,
                                     .changes = r->changes,
                                     .change_count = 3};
}

/* In front of them a commit that may be sent in another way, and holds. */
static void check_barred(struct contract *t, const char *form, int wrong)
{
    static struct reserving batch[MANY], alone[MANY];
    struct pawl_commit front = {.kind = PAWL_COMMIT_PLAIN, .stamp = pawl__str(form)};
    struct pawl_commit *pointers[1 + MANY] = {&front};

    for (int i = 0; i < MANY; i++) {
        make_reserving(t, &batch[i], form, i, wrong);
        make_reserving(t, &alone[i], text(t, "%s-alone", form).ptr, i, wrong);
        pointers[1 + i] = &batch[i].commit;
    }
    assert_ok(pawl_store_apply(t->a, pointers, 1 + MANY, soon_ns(t), &t->err), &t->err);
    assert_code(front.status, PAWL_OK);
    for (int i = 0; i < MANY; i++) {
        bool is_good = i % 4 > 0, is_late = !is_good && wrong == PAWL_ECONFLICT;
        struct reserving *r = &batch[i];
        const struct pawl_bookmark_row *left;

        assert_code(apply_one(t, t->a, &alone[i].commit), r->commit.status);
        assert_code(r->commit.status, is_good ? PAWL_OK : wrong);
        assert_int_equal(r->commit.has_expired, is_late);
        assert_int_equal(alone[i].commit.has_expired, is_late);
        left = find_where(t, PAWL_TABLE_BOOKMARKS, "instance_id", r->row.id).rows;
        assert_same_row(PAWL_TABLE_BOOKMARKS, left, is_good ? &r->new : &r->old);
        assert_int_equal(find_where(t, PAWL_TABLE_RESERVATIONS, "key", r->reservation.key).count,
                         !is_late);
        if (i % 3 == 1)
            assert_int_equal(find_where(t, PAWL_TABLE_INSTANCES, "id", r->row.id).count, is_good);
        if (i % 3 == 2)
            assert_int_equal(instance_row(t, r->row.id)->revision, r->row.revision + is_good);
    }
}

static void reservations_bar_members_of_one_batch_as_each_would_be_alone(struct contract *t)
{
    check_barred(t, "there", PAWL_EEXISTS);
    check_barred(t, "late", PAWL_ECONFLICT);
}

/* A key that is reserved and given back by one commit was never there for others. */
static void a_key_that_goes_with_its_commit_bars_nobody_else(struct contract *t)
{
    struct pawl_instance_row rows[2];
    struct pawl_reservation_row keys[2];
    struct pawl_change changes[2][2];
    struct pawl_commit commits[2], *pointers[2];

    for (int i = 0; i < 2; i++) {
        rows[i] = some_instance(t, text(t, "i%d", i));
        keys[i] = (struct pawl_reservation_row){
            .key = pawl__str("one"), .instance_id = rows[i].id, .expires_us = PAWL_TIME_NEVER};
        changes[i][0] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &keys[i]};
        changes[i][1] =
            (struct pawl_change){PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_RESERVATIONS, &keys[i]};
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                          .instance = &rows[i],
                                          .changes = changes[i],
                                          .change_count = 2};
        pointers[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    assert_code(commits[0].status, PAWL_OK);
    assert_code(commits[1].status, PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_RESERVATIONS), 0);
}

/* One writes the key as it is now and deletes a setting; the other one takes the key and writes the
 * setting: it is refused, or what it wrote is deleted. */
static void a_key_of_no_instance_is_not_half_of_two_commits(struct contract *t)
{
    struct pawl_setting_row setting = some_setting(t, "s", 5);
    struct pawl_reservation_row first = {.key = pawl__str("k"),
                                         .value = pawl__str("first"),
                                         .expires_us = PAWL_TIME_NEVER},
                                second = first;
    const struct pawl_change one[] = {{PAWL_CHANGE_PUT, PAWL_TABLE_RESERVATIONS, &first},
                                      {PAWL_CHANGE_DELETE, PAWL_TABLE_SETTINGS, &setting}},
                             other[] = {{PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &second},
                                        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &setting}};
    struct pawl_commit commits[] = {
        {.kind = PAWL_COMMIT_PLAIN, .changes = one, .change_count = 2},
        {.kind = PAWL_COMMIT_PLAIN, .changes = other, .change_count = 2},
    };
    struct pawl_commit *pointers[] = {&commits[0], &commits[1]};

    second.value = pawl__str("second");
    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    assert_code(commits[0].status, PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_SETTINGS), 0);
    assert_same_row(PAWL_TABLE_RESERVATIONS,
                    find_where(t, PAWL_TABLE_RESERVATIONS, "key", first.key).rows, &first);
}

/* What each of them says of one row last is what counts. */
static void changes_of_one_row_keep_their_order_in_a_batch(struct contract *t)
{
    static const enum pawl_change_kind orders[][2] = {
        {PAWL_CHANGE_INSERT, PAWL_CHANGE_DELETE}, {PAWL_CHANGE_DELETE, PAWL_CHANGE_INSERT},
        {PAWL_CHANGE_INSERT, PAWL_CHANGE_PUT},    {PAWL_CHANGE_PUT, PAWL_CHANGE_ADD},
        {PAWL_CHANGE_ADD, PAWL_CHANGE_PUT},       {PAWL_CHANGE_INSERT, PAWL_CHANGE_DELETE_OWNED},
        {PAWL_CHANGE_DELETE, PAWL_CHANGE_PUT},    {PAWL_CHANGE_DELETE_OWNED, PAWL_CHANGE_ADD},
    };
    /* Large rows may be sent in another way than small ones: all of them once more, the second
     * row large. */
    enum { ORDERS = sizeof orders / sizeof orders[0], COUNT = 2 * ORDERS };
    static const char *const left[ORDERS] = {NULL,     "second", "second", "first",
                                             "second", NULL,     "second", "second"};
    const struct pawl_str large = some_setting(t, "", 70000).value;
    struct pawl_instance_row rows[COUNT];
    struct pawl_bookmark_row bookmarks[COUNT][2];
    struct pawl_change changes[COUNT][2];
    struct pawl_commit commits[COUNT], *pointers[COUNT];

    for (int i = 0; i < COUNT; i++) {
        rows[i] = claimed_instance(t, text(t, "i%d", i).ptr);
        for (int k = 0; k < 2; k++) {
            bookmarks[i][k] = some_bookmark(t, text(t, "b%d", i), rows[i].id, "hash");
            bookmarks[i][k].name = pawl__str(k == 0 ? "first" : "second");
            if (k == 1 && i >= ORDERS)
                bookmarks[i][k].payload = large;
            changes[i][k] =
                (struct pawl_change){orders[i % ORDERS][k], PAWL_TABLE_BOOKMARKS, &bookmarks[i][k]};
        }
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                          .instance = &rows[i],
                                          .changes = changes[i],
                                          .change_count = 2};
        pointers[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(t->a, pointers, COUNT, soon_ns(t), &t->err), &t->err);
    for (int i = 0; i < COUNT; i++) {
        struct pawl_rows found = find_where(t, PAWL_TABLE_BOOKMARKS, "instance_id", rows[i].id);

        assert_code(commits[i].status, PAWL_OK);
        assert_int_equal(found.count, left[i % ORDERS] != NULL);
        if (left[i % ORDERS])
            assert_true(pawl__str_is(((const struct pawl_bookmark_row *)found.rows)->name,
                                     left[i % ORDERS]));
    }
}

/* Large rows may be sent in another way than small ones. */
static void changes_of_one_row_keep_their_order_whatever_their_size(struct contract *t)
{
    static const enum pawl_change_kind kinds[] = {PAWL_CHANGE_PUT, PAWL_CHANGE_ADD};
    struct pawl_setting_row rows[2][2], found;
    struct pawl_change changes[2][2];
    struct pawl_commit commits[2], *pointers[2];

    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            rows[i][k] = some_setting(t, text(t, "s%d", i).ptr, k == 0 ? 5 : 70000);
            changes[i][k] = (struct pawl_change){kinds[i], PAWL_TABLE_SETTINGS, &rows[i][k]};
        }
        commits[i] = (struct pawl_commit){
            .kind = PAWL_COMMIT_PLAIN, .changes = changes[i], .change_count = 2};
        pointers[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    for (int i = 0; i < 2; i++) {
        assert_code(commits[i].status, PAWL_OK);
        found = *(const struct pawl_setting_row *)find_where(t, PAWL_TABLE_SETTINGS, "key",
                                                             rows[i][0].key)
                     .rows;
        assert_int_equal(found.value.len, kinds[i] == PAWL_CHANGE_PUT ? 70000 : 5);
    }
}

static uint64_t apply_two_to_settings(struct contract *t, const struct pawl_change *first,
                                      size_t first_count, const struct pawl_change *second,
                                      size_t second_count)
{
    struct pawl_commit commits[] = {
        {.kind = PAWL_COMMIT_PLAIN, .changes = first, .change_count = first_count},
        {.kind = PAWL_COMMIT_PLAIN, .changes = second, .change_count = second_count},
    };
    struct pawl_commit *pointers[] = {&commits[0], &commits[1]};

    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    assert_code(commits[0].status, PAWL_OK);
    assert_code(commits[1].status, PAWL_OK);
    return count_all(t, PAWL_TABLE_SETTINGS);
}

#define SETTING(kind, number)                                                                      \
    {                                                                                              \
        PAWL_CHANGE_##kind, PAWL_TABLE_SETTINGS, &rows[number]                                     \
    }

/* Whichever of two came first: what is there is what the other one left. */
static void commits_of_a_batch_come_one_after_the_other(struct contract *t)
{
    struct pawl_setting_row rows[] = {some_setting(t, "s0", 5), some_setting(t, "s1", 5),
                                      some_setting(t, "s2", 5)};
    const struct pawl_change adds[] = {SETTING(INSERT, 0), SETTING(ADD, 1), SETTING(ADD, 2)},
                             deletes[] = {SETTING(DELETE, 2), SETTING(DELETE, 0)},
                             one[] = {SETTING(DELETE, 0), SETTING(PUT, 2)},
                             other[] = {SETTING(DELETE, 2), SETTING(PUT, 0)};
    uint64_t left = apply_two_to_settings(t, adds, 3, deletes, 2);

    assert_true(left == 1 || left == 3);
    assert_code(change_one(t, PAWL_CHANGE_DELETE, PAWL_TABLE_SETTINGS, &rows[1]), PAWL_OK);
    assert_int_equal(apply_two_to_settings(t, one, 2, other, 2), 1);
}

static void commits_of_a_batch_that_change_two_tables_come_one_after_the_other(struct contract *t)
{
    struct pawl_setting_row setting = some_setting(t, "s", 5);
    const struct pawl_document_row *document = any_row(t, PAWL_TABLE_DOCUMENTS, 1, pawl__str(""));
    const struct pawl_change one[] = {{PAWL_CHANGE_DELETE, PAWL_TABLE_SETTINGS, &setting},
                                      {PAWL_CHANGE_PUT, PAWL_TABLE_DOCUMENTS, document}},
                             other[] = {{PAWL_CHANGE_DELETE, PAWL_TABLE_DOCUMENTS, document},
                                        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &setting}};
    uint64_t settings = apply_two_to_settings(t, one, 2, other, 2);

    assert_int_equal(settings + count_all(t, PAWL_TABLE_DOCUMENTS), 1);
}

/* The second is only there when the first has been, so it has the last word. */
static void what_stamps_put_in_order_writes_in_that_order(struct contract *t)
{
    struct pawl_setting_row setting = some_setting(t, "s", 5);
    const struct pawl_change put = {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &setting},
                             delete = {PAWL_CHANGE_DELETE, PAWL_TABLE_SETTINGS, &setting};
    struct pawl_commit commits[] = {
        {.kind = PAWL_COMMIT_PLAIN,
         .stamp = pawl__str("definitions"),
         .changes = &put,
         .change_count = 1},
        {.kind = PAWL_COMMIT_PLAIN,
         .stamp = pawl__str("definitions"),
         .stamp_value = 1,
         .changes = &delete,
         .change_count = 1},
    };
    struct pawl_commit *pointers[] = {&commits[0], &commits[1]};

    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    assert_code(commits[0].status, PAWL_OK);
    assert_code(commits[1].status, PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_SETTINGS), 0);
}

/* One adds two rows to an instance, one of them a large one, the other one deletes the instance. */
static void a_deletion_is_not_half_before_what_is_added_to_its_instance(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), row.id, "hash");
    struct pawl_work_row mail = some_work(t, pawl__str("w"), PAWL_TIME_NEVER);
    const struct pawl_change adds[] = {{PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark},
                                       {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &mail}};
    struct pawl_commit commits[] = {
        {.kind = PAWL_COMMIT_PLAIN, .changes = adds, .change_count = 2},
        {.kind = PAWL_COMMIT_DELETE, .instance = &row},
    };
    struct pawl_commit *pointers[] = {&commits[0], &commits[1]};

    mail.instance_id = row.id;
    mail.payload = some_setting(t, "", 70000).value;
    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    assert_code(commits[0].status, PAWL_OK);
    assert_code(commits[1].status, PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_WORK), count_all(t, PAWL_TABLE_BOOKMARKS));
}

/* One with its id is there, for something else. */
static void a_bookmark_that_is_refused_wakes_nothing(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_bookmark_row there = some_bookmark(t, pawl__str("b"), row.id, "there"),
                             refused = some_bookmark(t, pawl__str("b"), row.id, "refused");
    struct pawl_work_row parked = some_work(t, pawl__str("w"), PAWL_TIME_NEVER);
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &refused};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .instance = &row, .changes = &change, .change_count = 1};

    parked.hash = refused.hash;
    insert(t, PAWL_TABLE_BOOKMARKS, &there);
    insert(t, PAWL_TABLE_WORK, &parked);
    row.revision++;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", parked.id).rows, &parked);
}

/* Both write the key and the setting, one of them a large one. */
static void a_key_that_two_commits_write_is_not_half_of_each(struct contract *t)
{
    struct pawl_setting_row small = some_setting(t, "s", 5), large = some_setting(t, "s", 70000);
    struct pawl_reservation_row first = {.key = pawl__str("k"),
                                         .value = pawl__str("first"),
                                         .expires_us = PAWL_TIME_NEVER},
                                second = first;
    const struct pawl_change one[] = {{PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &first},
                                      {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &small}},
                             other[] = {{PAWL_CHANGE_PUT, PAWL_TABLE_RESERVATIONS, &second},
                                        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &large}};
    const struct pawl_reservation_row *key;
    const struct pawl_setting_row *setting;

    second.value = pawl__str("second");
    assert_int_equal(apply_two_to_settings(t, one, 2, other, 2), 1);
    key = find_where(t, PAWL_TABLE_RESERVATIONS, "key", first.key).rows;
    setting = find_where(t, PAWL_TABLE_SETTINGS, "key", small.key).rows;
    assert_int_equal(pawl__str_is(key->value, "second"), setting->value.len == large.value.len);
}

/* One takes the key and writes a large setting, the other one gives the key back and writes a small
 * one. */
static void a_key_of_no_instance_is_given_back_with_all_of_its_commit(struct contract *t)
{
    struct pawl_setting_row large = some_setting(t, "s", 70000), small = some_setting(t, "s", 5);
    struct pawl_reservation_row key = {.key = pawl__str("k"), .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change one[] = {{PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &key},
                                      {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &large}},
                             other[] = {{PAWL_CHANGE_DELETE, PAWL_TABLE_RESERVATIONS, &key},
                                        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &small}};
    const struct pawl_setting_row *found;

    assert_int_equal(apply_two_to_settings(t, one, 2, other, 2), 1);
    found = find_where(t, PAWL_TABLE_SETTINGS, "key", large.key).rows;
    assert_int_equal(found->value.len == large.value.len, count_all(t, PAWL_TABLE_RESERVATIONS));
}

/* What is stored has no NUL. */
static void ids_that_are_stored_alike_are_one_instance_in_a_batch(struct contract *t)
{
    struct pawl_instance_row rows[] = {some_instance(t, pawl__str_make("nul\0", 4)),
                                       some_instance(t, pawl__str("nul\xEF\xBF\xBD")),
                                       some_instance(t, pawl__str("other"))};
    struct pawl_commit commits[3], *pointers[3];

    for (int i = 0; i < 3; i++) {
        rows[i].owner = t->node_a;
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE, .instance = &rows[i]};
        pointers[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(t->a, pointers, 3, soon_ns(t), &t->err), &t->err);
    assert_int_equal((commits[0].status == PAWL_OK) + (commits[1].status == PAWL_OK) + 1,
                     count_all(t, PAWL_TABLE_INSTANCES));
    assert_code(commits[2].status, PAWL_OK);
}

const struct contract_test contract_commits[] = {
    CONTRACT_TEST(changes_of_one_row_keep_their_order_whatever_their_size),
    CONTRACT_TEST(commits_of_a_batch_come_one_after_the_other),
    CONTRACT_TEST(commits_of_a_batch_that_change_two_tables_come_one_after_the_other),
    CONTRACT_TEST(ids_that_are_stored_alike_are_one_instance_in_a_batch),
    CONTRACT_TEST(new_instances_of_one_batch_are_created_each_for_itself),
    CONTRACT_TEST(instances_of_one_batch_advance_as_each_would_alone),
    CONTRACT_TEST(reservations_bar_members_of_one_batch_as_each_would_be_alone),
    CONTRACT_TEST(a_key_that_goes_with_its_commit_bars_nobody_else),
    CONTRACT_TEST(a_key_of_no_instance_is_not_half_of_two_commits),
    CONTRACT_TEST(a_key_of_no_instance_is_given_back_with_all_of_its_commit),
    CONTRACT_TEST(a_key_that_two_commits_write_is_not_half_of_each),
    CONTRACT_TEST(what_stamps_put_in_order_writes_in_that_order),
    CONTRACT_TEST(a_deletion_is_not_half_before_what_is_added_to_its_instance),
    CONTRACT_TEST(a_bookmark_that_is_refused_wakes_nothing),
    CONTRACT_TEST(changes_of_one_row_keep_their_order_in_a_batch),
    CONTRACT_TEST(a_created_instance_begins_with_fence_and_revision_one),
    CONTRACT_TEST(an_instance_created_with_release_has_no_owner),
    CONTRACT_TEST(the_creator_may_advance_without_a_claim),
    CONTRACT_TEST(an_advance_writes_everything_but_what_stays),
    CONTRACT_TEST(an_advance_that_keeps_writes_the_revision_alone),
    CONTRACT_TEST(setting_aside_keeps_the_state_and_says_why_until_a_step_is_taken),
    CONTRACT_TEST(ending_beside_the_state_keeps_the_state_and_writes_the_status),
    CONTRACT_TEST(reopening_clears_a_cancellation_and_nothing_else_does),
    CONTRACT_TEST(a_released_instance_must_be_claimed_before_it_is_written_again),
    CONTRACT_TEST(what_nobody_owns_cannot_be_advanced_by_nobody),
    CONTRACT_TEST(an_instance_that_is_not_there_cannot_be_advanced),
    CONTRACT_TEST(a_stale_owner_is_dropped_alone),
    CONTRACT_TEST(a_stale_fence_is_dropped_alone),
    CONTRACT_TEST(a_stale_revision_is_dropped_alone),
    CONTRACT_TEST(a_revision_ahead_of_the_row_is_dropped_alone),
    CONTRACT_TEST(creating_an_instance_that_is_there_is_dropped_alone),
    {0},
};
