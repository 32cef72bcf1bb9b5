/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: who gets an instance, what comes with it, and when it can be had from another. */
#include "contract/suite.h"

static void a_claim_sets_owner_and_fence_and_answers_the_row(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i");
    struct pawl_instance_row expected = *instance_row(t, id);
    struct pawl_claim claim = claim_one(t, t->a, t->node_a, id);

    expected.owner = t->node_a;
    expected.fence++;
    assert_code(claim.status, PAWL_OK);
    assert_same_row(PAWL_TABLE_INSTANCES, &claim.row, &expected);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &expected);
    assert_int_equal(claim.mail_count, 0);
}

static void a_claim_of_what_is_not_there_is_not_found(struct contract *t)
{
    assert_code(claim_one(t, t->a, t->node_a, pawl__str("nobody")).status, PAWL_ENOTFOUND);
}

static void a_claim_does_not_steal_from_a_living_owner(struct contract *t)
{
    struct pawl_instance_row held = claimed_instance(t, "i"), expected = held;
    struct pawl_claim claim = claim_one(t, t->b, t->node_b, held.id);

    assert_code(claim.status, PAWL_EBUSY);
    assert_int_equal(claim.row.owner, t->node_a);
    expected.state = pawl__str("");
    assert_same_row(PAWL_TABLE_INSTANCES, &claim.row, &expected);
    assert_int_equal(claim.mail_count, 0);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, held.id), &held);
}

static void an_owner_may_claim_again_and_gets_a_new_fence(struct contract *t)
{
    struct pawl_instance_row held = claimed_instance(t, "i");
    struct pawl_claim claim = claim_one(t, t->a, t->node_a, held.id);
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &held};

    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.row.fence, held.fence + 1);
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    commit.instance = &claim.row;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
}

/* A server that crashed may have forgotten the claim that a commit on its way was made under. */
static void a_claim_gets_a_greater_fence_than_its_owner_has_seen(struct contract *t)
{
    struct pawl_claim claims[2] = {{.id = create_instance(t, "i"), .seen_fence = 7},
                                   {.id = create_instance(t, "j"), .seen_fence = 5}};
    const struct pawl_lock_ticket ticket = {.key = 4711};
    struct pawl_instance_row late = *instance_row(t, claims[0].id);
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &late};
    int64_t now;

    late.owner = t->node_a;
    late.fence = 7;
    assert_ok(pawl_store_claim(t->a, t->node_a, claims, 2, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    for (int i = 0; i < 2; i++) {
        assert_code(claims[i].status, PAWL_OK);
        assert_true(claims[i].row.fence > claims[i].seen_fence);
        assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, claims[i].id), &claims[i].row);
    }
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    commit.instance = &claims[0].row;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    /* Together with a lock, and where the instance has the greater one. */
    claims[0].ticket = &ticket;
    claims[0].seen_fence = claims[0].row.fence + 3;
    late.fence = claims[0].row.fence;
    assert_ok(pawl_store_claim(t->a, t->node_a, claims, 1, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    assert_true(claims[0].row.fence > late.fence + 3);
    pawl_store_unlock(t->a, &ticket);
    claims[0].ticket = NULL;
    claims[0].seen_fence = 1;
    late.fence = claims[0].row.fence;
    assert_ok(pawl_store_claim(t->a, t->node_a, claims, 1, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    assert_true(claims[0].row.fence > late.fence);
}

static void an_instance_is_free_when_its_owner_has_left(struct contract *t)
{
    struct pawl_instance_row held = claimed_instance(t, "i");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &held};
    struct pawl_claim claim;

    leave(t, t->a, "node-a", t->node_a);
    claim = claim_one(t, t->b, t->node_b, held.id);
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.row.owner, t->node_b);
    assert_int_equal(claim.row.fence, held.fence + 1);
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT); /* whatever the old owner thinks */
}

static void an_instance_is_free_when_its_owners_lease_is_over(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i");
    int64_t brief = join(t, t->a, "brief", 1);
    int status = PAWL_EBUSY;

    assert_code(claim_one(t, t->a, brief, id).status, PAWL_OK);
    while (status == PAWL_EBUSY)
        status = claim_one(t, t->b, t->node_b, id).status;
    assert_code(status, PAWL_OK);
}

static void a_node_that_joined_anew_has_at_once_what_it_held_before(struct contract *t)
{
    struct pawl_instance_row held = claimed_instance(t, "i");
    int64_t again = join(t, t->a, "node-a", HOUR_US);
    struct pawl_claim claim = claim_one(t, t->a, again, held.id);

    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.row.owner, again);
}

/* What kills its nodes shows; who gives back, or claims again, does not count. */
static void claims_from_a_dead_owner_are_counted_until_a_step_is_taken(struct contract *t)
{
    struct pawl_instance_row held = claimed_instance(t, "i");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &held};
    int64_t again = t->node_a;

    held = claim_one(t, t->a, again, held.id).row;
    assert_int_equal(held.takeovers, 0);
    for (int i = 1; i <= 3; i++) {
        again = join(t, t->a, "node-a", HOUR_US);
        held = claim_one(t, t->a, again, held.id).row;
        assert_int_equal(held.takeovers, i);
        assert_int_equal(instance_row(t, held.id)->takeovers, i);
    }
    commit.flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    held = claim_one(t, t->a, again, held.id).row;
    assert_int_equal(held.takeovers, 3);
    commit.flags = 0;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(instance_row(t, held.id)->takeovers, 0);
}

static void an_unknown_owner_is_not_alive(struct contract *t)
{
    struct pawl_instance_row row = some_instance(t, pawl__str("i"));
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};

    row.owner = INT64_C(1) << 50; /* of a node that never was */
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_code(claim_one(t, t->a, t->node_a, row.id).status, PAWL_OK);
}

static void many_are_claimed_in_one_call_each_with_its_answer(struct contract *t)
{
    static struct pawl_claim claims[PAWL_STORE_BATCH_MAX];
    int64_t now = 0, before = now_us(t);

    for (int i = 0; i < PAWL_STORE_BATCH_MAX; i++) {
        claims[i] = (struct pawl_claim){.id = text(t, "i%03d", i)};
        if (i % 3 == 0)
            (void)create_instance(t, claims[i].id.ptr);
        else if (i % 3 == 1)
            (void)claimed_instance(t, claims[i].id.ptr);
    }
    assert_ok(pawl_store_claim(t->b, t->node_b, claims, PAWL_STORE_BATCH_MAX, &t->arena, &now,
                               soon_ns(t), &t->err),
              &t->err);
    assert_true(now >= before);
    for (int i = 0; i < PAWL_STORE_BATCH_MAX; i++) {
        const int expected[] = {PAWL_OK, PAWL_EBUSY, PAWL_ENOTFOUND};

        assert_code(claims[i].status, expected[i % 3]);
        if (i % 3 != 2)
            assert_same_str(claims[i].row.id, claims[i].id);
    }
}

static void no_claims_are_fine_and_too_many_are_refused(struct contract *t)
{
    static struct pawl_claim claims[PAWL_STORE_BATCH_MAX + 1];
    int64_t now;

    assert_ok(pawl_store_claim(t->a, t->node_a, claims, 0, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    assert_code(pawl_store_claim(t->a, t->node_a, claims, PAWL_STORE_BATCH_MAX + 1, &t->arena, &now,
                                 soon_ns(t), &t->err),
                PAWL_ELIMIT);
}

static void a_claim_brings_the_mail_that_is_due_oldest_first(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i");
    int64_t now = now_us(t);
    struct pawl_work_row rows[] = {
        some_work(t, pawl__str("second"), now - 10),     some_work(t, pawl__str("first"), now - 20),
        some_work(t, pawl__str("later"), now + HOUR_US), some_work(t, pawl__str("other"), now - 5),
        some_work(t, pawl__str("third"), now - 1),
    };
    struct pawl_claim claim;

    for (int i = 0; i < 5; i++) {
        rows[i].instance_id = i == 3 ? pawl__str("another") : id;
        rows[i].owner = i == 4 ? t->node_b : 0; /* taken before the claim: it comes all the same */
        insert(t, PAWL_TABLE_WORK, &rows[i]);
    }
    claim = claim_one(t, t->a, t->node_a, id);
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.mail_count, 3);
    assert_same_row(PAWL_TABLE_WORK, &claim.mail[0], &rows[1]);
    assert_same_row(PAWL_TABLE_WORK, &claim.mail[1], &rows[0]);
    assert_same_row(PAWL_TABLE_WORK, &claim.mail[2], &rows[4]);
    assert_int_equal(claim_one(t, t->b, t->node_b, id).mail_count, 0); /* busy */
}

static void a_claim_brings_no_more_mail_than_it_may(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i");
    int64_t now = now_us(t);
    struct pawl_claim claim;

    for (int i = 0; i < PAWL_CLAIM_MAIL_MAX + 10; i++) {
        struct pawl_work_row row = some_work(t, text(t, "w%03d", i), now - i);

        row.instance_id = id;
        insert(t, PAWL_TABLE_WORK, &row);
    }
    claim = claim_one(t, t->a, t->node_a, id);
    assert_int_equal(claim.mail_count, PAWL_CLAIM_MAIL_MAX);
    for (int i = 0; i < PAWL_CLAIM_MAIL_MAX; i++)
        assert_int_equal(claim.mail[i].due_us, now - (PAWL_CLAIM_MAIL_MAX + 9 - i));
}

static struct pawl_claim claim_by_hash(struct contract *t, struct pawl_store *store, int64_t owner,
                                       struct pawl_str id, const char *hash)
{
    struct pawl_claim claim = {.id = id, .hash = pawl__str(hash)};
    int64_t now;

    assert_ok(pawl_store_claim(store, owner, &claim, 1, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    return claim;
}

static void a_claim_by_a_bookmark_is_granted_if_the_instance_has_it(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i"), other = create_instance(t, "j");
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), id, "h");
    struct pawl_instance_row free = *instance_row(t, id);
    struct pawl_claim claim;

    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    claim = claim_by_hash(t, t->a, t->node_a, id, "another");
    assert_code(claim.status, PAWL_EBUSY);
    assert_int_equal(claim.row.owner, 0);
    assert_int_equal(claim.mail_count, 0);
    /* Nothing was claimed, of the one or of the other. */
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &free);
    assert_code(claim_by_hash(t, t->a, t->node_a, other, "h").status, PAWL_EBUSY);
    assert_int_equal(instance_row(t, other)->owner, 0);
    assert_code(claim_by_hash(t, t->a, t->node_a, pawl__str("nobody"), "h").status, PAWL_ENOTFOUND);
    claim = claim_by_hash(t, t->a, t->node_a, id, "h");
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.row.owner, t->node_a);
    assert_int_equal(claim.row.fence, free.fence + 1);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &claim.row);
    claim = claim_by_hash(t, t->b, t->node_b, id, "h");
    assert_code(claim.status, PAWL_EBUSY);
    assert_int_equal(claim.row.owner, t->node_a);
}

/*
 * When the clock has jumped, all leases are over until they are renewed. Nodes that live would take
 * what they run from each other, again and again, and it would look as if it killed them.
 */
static void a_node_whose_lease_is_over_claims_nothing_from_another(struct contract *t)
{
    const struct pawl_lock_ticket ticket = {.key = 4712};
    struct pawl_str id = create_instance(t, "i"), free = create_instance(t, "j");
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), id, "h");
    int64_t first = join(t, t->a, "first", 0), second = join(t, t->b, "second", 0), now;
    int64_t nodes[] = {second, t->node_b, INT64_C(1) << 50 /* never joined */};
    struct pawl_instance_row held = claim_one(t, t->a, first, id).row, expected;
    struct pawl_claim locked = {.id = id, .ticket = &ticket};

    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    assert_int_equal(held.owner, first); /* it was nobody's */
    t->node_b = join(t, t->b, "node-b", HOUR_US);
    expected = held;
    expected.state = pawl__str("");
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        struct pawl_claim claim = claim_one(t, t->b, nodes[i], id);

        assert_code(claim.status, PAWL_EBUSY);
        assert_same_row(PAWL_TABLE_INSTANCES, &claim.row, &expected);
        assert_code(claim_by_hash(t, t->b, nodes[i], id, "h").status, PAWL_EBUSY);
    }
    assert_ok(pawl_store_claim(t->b, second, &locked, 1, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    assert_code(locked.status, PAWL_EBUSY);
    assert_int_equal(locked.row.owner, first);
    assert_same_row(PAWL_TABLE_INSTANCES, instance_row(t, id), &held);
    /* What is its own or nobody's is there to be claimed all the same. */
    assert_code(claim_one(t, t->a, first, id).status, PAWL_OK);
    assert_code(claim_one(t, t->b, second, free).status, PAWL_OK);
    held = claim_one(t, t->b, t->node_b, id).row;
    assert_int_equal(held.owner, t->node_b);
    assert_int_equal(held.takeovers, expected.takeovers + 1);
}

static void a_claim_by_a_bookmark_brings_its_mail(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i");
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), id, "h");
    struct pawl_work_row mail = some_work(t, pawl__str("m"), now_us(t) - 1);
    struct pawl_claim claim;

    mail.instance_id = id;
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    insert(t, PAWL_TABLE_WORK, &mail);
    claim = claim_by_hash(t, t->a, t->node_a, id, "h");
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.mail_count, 1);
    assert_same_row(PAWL_TABLE_WORK, &claim.mail[0], &mail);
}

static void a_claim_by_a_bookmark_goes_by_itself(struct contract *t)
{
    const struct pawl_lock_ticket ticket = {.key = 4711};
    struct pawl_claim claims[2] = {{.id = create_instance(t, "i"), .hash = pawl__str("h")},
                                   {.id = create_instance(t, "j")}};
    int64_t now;

    assert_code(pawl_store_claim(t->a, t->node_a, claims, 2, &t->arena, &now, soon_ns(t), &t->err),
                PAWL_EINVAL);
    claims[0].ticket = &ticket;
    assert_code(pawl_store_claim(t->a, t->node_a, claims, 1, &t->arena, &now, soon_ns(t), &t->err),
                PAWL_EINVAL);
}

const struct contract_test contract_claims[] = {
    CONTRACT_TEST(a_claim_sets_owner_and_fence_and_answers_the_row),
    CONTRACT_TEST(a_claim_of_what_is_not_there_is_not_found),
    CONTRACT_TEST(a_claim_does_not_steal_from_a_living_owner),
    CONTRACT_TEST(an_owner_may_claim_again_and_gets_a_new_fence),
    CONTRACT_TEST(a_claim_gets_a_greater_fence_than_its_owner_has_seen),
    CONTRACT_TEST(an_instance_is_free_when_its_owner_has_left),
    CONTRACT_TEST(an_instance_is_free_when_its_owners_lease_is_over),
    CONTRACT_TEST(a_node_that_joined_anew_has_at_once_what_it_held_before),
    CONTRACT_TEST(claims_from_a_dead_owner_are_counted_until_a_step_is_taken),
    CONTRACT_TEST(an_unknown_owner_is_not_alive),
    CONTRACT_TEST(many_are_claimed_in_one_call_each_with_its_answer),
    CONTRACT_TEST(no_claims_are_fine_and_too_many_are_refused),
    CONTRACT_TEST(a_claim_brings_the_mail_that_is_due_oldest_first),
    CONTRACT_TEST(a_claim_brings_no_more_mail_than_it_may),
    CONTRACT_TEST(a_claim_by_a_bookmark_is_granted_if_the_instance_has_it),
    CONTRACT_TEST(a_node_whose_lease_is_over_claims_nothing_from_another),
    CONTRACT_TEST(a_claim_by_a_bookmark_brings_its_mail),
    CONTRACT_TEST(a_claim_by_a_bookmark_goes_by_itself),
    {0},
};
