/* SPDX-License-Identifier: Apache-2.0 */
/* Visits: an instance that is read, and claimed by the commit that advances it. */
#include "contract/suite.h"

static struct pawl_claim visit_by(struct contract *t, struct pawl_store *store, int64_t owner,
                                  struct pawl_str id, int64_t seen_fence)
{
    struct pawl_claim claim = {
        .id = id, .hash = pawl__str("h"), .visits = true, .seen_fence = seen_fence};
    int64_t before = now_us(t), now = 0;

    assert_ok(pawl_store_claim(store, owner, &claim, 1, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    assert_true(now >= before);
    return claim;
}

static struct pawl_claim visit(struct contract *t, struct pawl_str id)
{
    return visit_by(t, t->a, t->node_a, id, 0);
}

/* An idle instance that waits. */
static struct pawl_str idle(struct contract *t, const char *name,
                            void (*spoil)(struct pawl_instance_row *row))
{
    struct pawl_instance_row row = some_instance(t, text(t, "%s", name));
    struct pawl_bookmark_row bookmark = some_bookmark(t, text(t, "%s/b", name), row.id, "h");
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

    row.status = pawl__str("Running");
    row.sub_status = pawl__str("Suspended");
    row.runnable = row.takeovers = row.retry_us = row.cancel_requested = 0;
    if (spoil)
        spoil(&row);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    return row.id;
}

static struct pawl_commit entering(struct pawl_instance_row *row)
{
    return (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                .flags = PAWL_COMMIT_VISITED | PAWL_COMMIT_RELEASE,
                                .visited_us = row->updated_us,
                                .instance = row};
}

static void assert_refused(const struct pawl_claim *claim)
{
    assert_code(claim->status, PAWL_EBUSY);
    assert_int_equal(claim->row.owner, 0);
    assert_int_equal(claim->row.revision, 0);
    assert_int_equal(claim->mail_count, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void a_visit_reads_as_a_claim_does_and_changes_nothing(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row free = *instance_row(t, id), expected = free;
    struct pawl_claim claim = visit_by(t, t->a, t->node_a, id, 40);

    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.mail_count, 0);
    expected.owner = t->node_a;
    expected.fence = 41;
    assert_same_row(PAWL_TABLE_INSTANCES, &claim.row, &expected);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &free);
    assert_int_equal(visit(t, id).row.fence, free.fence + 1);
    /* It keeps nobody out, not even another visit. */
    assert_code(visit_by(t, t->b, t->node_b, id, 0).status, PAWL_OK);
    assert_code(claim_one(t, t->b, t->node_b, id).status, PAWL_OK);
}

static void runs(struct pawl_instance_row *row)
{
    row->runnable = 1;
}

static void was_taken_over(struct pawl_instance_row *row)
{
    row->takeovers = 1;
}

static void is_put_off(struct pawl_instance_row *row)
{
    row->retry_us = 1; /* also when that is over: whoever claims it looks at why */
}

static void is_to_be_cancelled(struct pawl_instance_row *row)
{
    row->cancel_requested = 1;
}

static void has_ended(struct pawl_instance_row *row)
{
    row->status = pawl__str("Finished");
}

static char bytes[PAWL_VISIT_BYTES_MAX + 1];

static void is_small_enough(struct pawl_instance_row *row)
{
    row->state = pawl__str_make(bytes, PAWL_VISIT_BYTES_MAX);
}

static void is_large(struct pawl_instance_row *row)
{
    row->state = pawl__str_make(bytes, sizeof bytes);
}

static void a_visit_is_of_an_idle_instance_only(struct contract *t)
{
    void (*const spoils[])(struct pawl_instance_row *) = {
        runs, was_taken_over, is_put_off, is_to_be_cancelled, has_ended, is_large};
    struct pawl_claim claim = visit(t, pawl__str("nobody"));

    assert_refused(&claim);
    assert_code(visit(t, idle(t, "small", is_small_enough)).status, PAWL_OK);
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        claim = visit(t, idle(t, text(t, "i%zu", i).ptr, spoils[i]));
        assert_refused(&claim);
    }
}

static void a_visit_is_refused_while_somebody_has_the_instance(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_claim claim;

    assert_code(claim_one(t, t->b, t->node_b, id).status, PAWL_OK);
    claim = visit(t, id);
    assert_refused(&claim);
    claim = visit_by(t, t->b, t->node_b, id, 0); /* also for its owner */
    assert_refused(&claim);
    leave(t, t->b, "node-b", t->node_b); /* and when that is dead: a claim takes it over */
    claim = visit(t, id);
    assert_refused(&claim);
}

static void a_visit_is_refused_without_the_bookmark_or_with_due_work(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL), other = create_instance(t, "j");
    struct pawl_work_row mail = some_work(t, pawl__str("m"), now_us(t) + HOUR_US);
    struct pawl_claim claim = visit(t, other);

    assert_refused(&claim);
    mail.instance_id = id;
    insert(t, PAWL_TABLE_WORK, &mail);
    assert_code(visit(t, id).status, PAWL_OK); /* it is not due */
    mail.id = pawl__str("n");
    mail.due_us = now_us(t) - 1;
    insert(t, PAWL_TABLE_WORK, &mail);
    claim = visit(t, id);
    assert_refused(&claim);
}

static void a_visit_needs_a_bookmark_and_goes_by_itself(struct contract *t)
{
    struct pawl_claim claims[2] = {{.id = idle(t, "i", NULL), .visits = true},
                                   {.id = idle(t, "j", NULL)}};
    int64_t now;

    assert_code(pawl_store_claim(t->a, t->node_a, claims, 1, &t->arena, &now, soon_ns(t), &t->err),
                PAWL_EINVAL);
    claims[0].hash = pawl__str("h");
    assert_code(pawl_store_claim(t->a, t->node_a, claims, 2, &t->arena, &now, soon_ns(t), &t->err),
                PAWL_EINVAL);
}

/* ---- its commit ------------------------------------------------------------------------------ */

static void its_commit_claims_and_advances(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit_by(t, t->a, t->node_a, id, 40).row, expected;
    struct pawl_commit commit = entering(&row);

    commit.flags = PAWL_COMMIT_VISITED;
    row.sub_status = pawl__str("Executing");
    row.state = pawl__str("the next");
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_false(commit.cancel_requested);
    expected = row;
    expected.revision = row.revision + 1;
    expected.revision_fence = 41;
    expected.revision_owner = t->node_a;
    expected.failures = expected.alone = 0;
    expected.trouble = pawl__str("");
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &expected);
    /* From now on it is claimed. */
    assert_code(claim_one(t, t->b, t->node_b, id).status, PAWL_EBUSY);
    row.revision++;
    commit.flags = PAWL_COMMIT_RELEASE;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(instance_row(t, id)->owner, 0);
}

static void its_commit_may_release_at_once(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit(t, id).row;
    struct pawl_commit commit = entering(&row);
    const struct pawl_instance_row *stored;

    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    stored = instance_row(t, id);
    assert_int_equal(stored->owner, 0);
    assert_int_equal(stored->fence, row.fence);
    assert_int_equal(stored->revision_fence, row.fence);
    assert_int_equal(stored->revision_owner, t->node_a);
    /* A copy of it that comes late finds another revision. */
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
}

static void its_commit_tells_of_a_cancellation_that_came_since(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit(t, id).row;
    struct pawl_commit commit = entering(&row),
                       cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};

    assert_code(apply_one(t, t->b, &cancel), PAWL_OK);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.cancel_requested);
    assert_int_equal(instance_row(t, id)->cancel_requested, 1);
}

/* Refused, with all that is in it. */
static void assert_dropped(struct contract *t, struct pawl_instance_row *row)
{
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("new"), row->id, "new");
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark};
    struct pawl_commit commit = entering(row);
    struct pawl_instance_row before = *instance_row(t, row->id);

    commit.changes = &change;
    commit.change_count = 1;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, row->id), &before);
    assert_int_equal(find_where(t, PAWL_TABLE_BOOKMARKS, "hash", pawl__str("new")).count, 0);
}

static void its_commit_is_refused_when_somebody_has_claimed_the_instance(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit_by(t, t->a, t->node_a, id, 40).row;
    struct pawl_claim claim = claim_one(t, t->b, t->node_b, id);

    assert_dropped(t, &row);
    leave(t, t->b, "node-b", t->node_b); /* nor is a dead owner passed over */
    assert_dropped(t, &row);
    claim = claim_one(t, t->a, t->node_a, id);
    assert_dropped(t, &row); /* nor a claim of its own node */
    assert_int_equal(claim.row.owner, t->node_a);
}

static void its_commit_is_refused_when_somebody_has_written_the_instance(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit_by(t, t->a, t->node_a, id, 40).row;
    struct pawl_instance_row other = visit_by(t, t->b, t->node_b, id, 0).row;
    struct pawl_commit commit = entering(&other);

    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    assert_dropped(t, &row);
    row.revision++; /* nor with the revision alone: whose fence is greater goes on */
    row.fence = other.fence;
    assert_dropped(t, &row);
}

static void its_commit_is_refused_by_another_instance_of_the_same_id(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit_by(t, t->a, t->node_a, id, 40).row;
    struct pawl_instance_row gone = claim_one(t, t->b, t->node_b, id).row, next = row;
    struct pawl_commit delete = {.kind = PAWL_COMMIT_DELETE, .instance = &gone},
                       create = {.kind = PAWL_COMMIT_CREATE,
                                 .flags = PAWL_COMMIT_RELEASE,
                                 .instance = &next};

    assert_code(apply_one(t, t->b, &delete), PAWL_OK);
    next.updated_us++;
    assert_code(apply_one(t, t->b, &create), PAWL_OK);
    assert_int_equal(instance_row(t, id)->revision, row.revision);
    assert_dropped(t, &row);
}

static void of_two_visits_one_commits(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row a = visit(t, id).row, b = visit_by(t, t->b, t->node_b, id, 0).row;
    struct pawl_commit first = entering(&b), second = entering(&a);

    assert_int_equal(a.fence, b.fence);
    assert_code(apply_one(t, t->b, &first), PAWL_OK);
    assert_code(apply_one(t, t->a, &second), PAWL_ECONFLICT);
    assert_int_equal(instance_row(t, id)->revision_owner, t->node_b);
}

/* A commit of a visit with one key, which is what an event that counts once becomes. */
struct once {
    struct pawl_instance_row row, before;
    struct pawl_reservation_row key;
    struct pawl_change change;
    struct pawl_commit commit;
};

static void visit_once(struct contract *t, struct once *o, struct pawl_str id, const char *key)
{
    o->row = visit(t, id).row;
    o->row.state = pawl__str("the next");
    o->before = *instance_row(t, id);
    o->key = (struct pawl_reservation_row){
        .key = pawl__str(key), .value = id, .expires_us = now_us(t) + 3600000000};
    o->change = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &o->key};
    o->commit = entering(&o->row);
    o->commit.changes = &o->change;
    o->commit.change_count = 1;
}

static void assert_not_once(struct contract *t, struct once *o, int status)
{
    size_t count = find_where(t, PAWL_TABLE_RESERVATIONS, "key", o->key.key).count;

    assert_code(apply_one(t, t->a, &o->commit), status);
    assert_false(o->commit.cancel_requested);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, o->row.id), &o->before);
    assert_int_equal(find_where(t, PAWL_TABLE_RESERVATIONS, "key", o->key.key).count, count);
}

static void its_commit_takes_a_key_once_and_says_why_not(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct once o;
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &o.row};

    visit_once(t, &o, id, "k");
    assert_code(apply_one(t, t->a, &o.commit), PAWL_OK);
    assert_false(o.commit.cancel_requested);
    assert_int_equal(instance_row(t, id)->revision, o.before.revision + 1);
    assert_int_equal(find_where(t, PAWL_TABLE_RESERVATIONS, "key", o.key.key).count, 1);

    visit_once(t, &o, id, "k");
    assert_not_once(t, &o, PAWL_EEXISTS);
    assert_false(o.commit.has_expired);
    visit_once(t, &o, id, "late");
    o.key.expires_us = 1;
    assert_not_once(t, &o, PAWL_ECONFLICT);
    assert_true(o.commit.has_expired);
    visit_once(t, &o, id, "other");
    o.row.revision++;
    assert_not_once(t, &o, PAWL_ECONFLICT);
    assert_false(o.commit.has_expired);

    visit_once(t, &o, id, "last");
    assert_code(apply_one(t, t->b, &cancel), PAWL_OK);
    assert_code(apply_one(t, t->a, &o.commit), PAWL_OK);
    assert_true(o.commit.cancel_requested);
    assert_int_equal(find_where(t, PAWL_TABLE_RESERVATIONS, "key", o.key.key).count, 1);
}

static void its_commit_has_no_other_flags(struct contract *t)
{
    static const uint32_t others[] = {PAWL_COMMIT_KEEP, PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE,
                                      PAWL_COMMIT_REOPEN, PAWL_COMMIT_END};
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit(t, id).row, before = *instance_row(t, id);
    struct pawl_commit commit = entering(&row);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        commit.flags = PAWL_COMMIT_VISITED | others[i];
        assert_code(apply_one(t, t->a, &commit), PAWL_EINVAL);
    }
    commit.flags = PAWL_COMMIT_VISITED;
    commit.kind = PAWL_COMMIT_DELETE;
    assert_code(apply_one(t, t->a, &commit), PAWL_EINVAL);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &before);
}

static void a_commit_of_a_visit_has_an_owner(struct contract *t)
{
    struct pawl_str id = idle(t, "i", NULL);
    struct pawl_instance_row row = visit(t, id).row;

    row.owner = 0;
    assert_dropped(t, &row);
}

/* Among others in one batch, it alone is dropped. */
static void spoil_by_entering(struct contract *t, struct pawl_commit *commit,
                              struct pawl_instance_row *row)
{
    (void)t;
    (void)row;
    commit->flags |= PAWL_COMMIT_VISITED; /* of one that is claimed */
}

static void a_refused_visit_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, spoil_by_entering, PAWL_ECONFLICT);
}

const struct contract_test contract_visits[] = {
    CONTRACT_TEST(a_visit_reads_as_a_claim_does_and_changes_nothing),
    CONTRACT_TEST(a_visit_is_of_an_idle_instance_only),
    CONTRACT_TEST(a_visit_is_refused_while_somebody_has_the_instance),
    CONTRACT_TEST(a_visit_is_refused_without_the_bookmark_or_with_due_work),
    CONTRACT_TEST(a_visit_needs_a_bookmark_and_goes_by_itself),
    CONTRACT_TEST(its_commit_claims_and_advances),
    CONTRACT_TEST(its_commit_may_release_at_once),
    CONTRACT_TEST(its_commit_tells_of_a_cancellation_that_came_since),
    CONTRACT_TEST(its_commit_is_refused_when_somebody_has_claimed_the_instance),
    CONTRACT_TEST(its_commit_is_refused_when_somebody_has_written_the_instance),
    CONTRACT_TEST(its_commit_is_refused_by_another_instance_of_the_same_id),
    CONTRACT_TEST(of_two_visits_one_commits),
    CONTRACT_TEST(its_commit_takes_a_key_once_and_says_why_not),
    CONTRACT_TEST(its_commit_has_no_other_flags),
    CONTRACT_TEST(a_commit_of_a_visit_has_an_owner),
    CONTRACT_TEST(a_refused_visit_is_dropped_alone),
    {0},
};
