/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/commit/commit.h"

#include "unit/runtime/desk.h"

/* ---- copies ------------------------------------------------------------------------------ */

static void a_copy_has_all_that_is_read_and_nothing_else(void **state)
{
    struct pawl_instance_row row = desk_row("a");
    struct pawl_bookmark_row bookmark = {.id = pawl__str("b"), .payload = pawl__str("{}")};
    /* Of what is deleted only the key is looked at: the rest may be anything. */
    struct pawl_work_row gone = {.id = pawl__str("w"), .kind = {.ptr = NULL, .len = 99}};
    struct pawl_journal_row owned = {.instance_id = pawl__str("a"), .data = {NULL, 99}};
    struct pawl_change changes[] = {
        {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark},
        {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &gone},
        {PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_JOURNAL, &owned},
    };
    struct pawl_str done[] = {PAWL_STR_LIT("one"), PAWL_STR_LIT("two")};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_RELEASE,
                                 .instance = &row,
                                 .done = done,
                                 .done_count = 2,
                                 .done_owner = 3,
                                 .stamp = pawl__str("definitions"),
                                 .stamp_value = 4,
                                 .changes = changes,
                                 .change_count = 3,
                                 .status = 77};
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_commit copy;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, (size_t)1 << 20);
    assert_ok(pawl__commit_copy(&commit, &arena, &copy), NULL);
    /* The originals may go. */
    row = (struct pawl_instance_row){0};
    bookmark = (struct pawl_bookmark_row){0};
    gone = (struct pawl_work_row){0};
    owned = (struct pawl_journal_row){0};
    memset(changes, 0, sizeof changes);
    memset(done, 0, sizeof done);
    assert_int_equal(copy.kind, PAWL_COMMIT_ADVANCE);
    assert_int_equal(copy.flags, PAWL_COMMIT_RELEASE);
    assert_int_equal(copy.status, PAWL_OK);
    assert_str(copy.instance->id, "a");
    assert_str(copy.instance->state, "0");
    assert_int_equal(copy.instance->owner, DESK_OWNER);
    assert_int_equal(copy.done_count, 2);
    assert_str(copy.done[1], "two");
    assert_int_equal(copy.done_owner, 3);
    assert_str(copy.stamp, "definitions");
    assert_int_equal(copy.stamp_value, 4);
    assert_int_equal(copy.change_count, 3);
    assert_str(((const struct pawl_bookmark_row *)copy.changes[0].row)->payload, "{}");
    assert_str(((const struct pawl_work_row *)copy.changes[1].row)->id, "w");
    assert_int_equal(((const struct pawl_work_row *)copy.changes[1].row)->kind.len, 0);
    assert_str(((const struct pawl_journal_row *)copy.changes[2].row)->instance_id, "a");
    assert_int_equal(((const struct pawl_journal_row *)copy.changes[2].row)->data.len, 0);
    pawl__arena_release(&arena);
}

static void what_keeps_the_row_copies_its_guard_alone(void **state)
{
    struct pawl_instance_row row = desk_row("a");
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_KEEP, .instance = &row};
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_commit copy;

    (void)state;
    row.updated_us = 9;
    row.failures = 2;
    row.retry_us = PAWL_TIME_NEVER;
    row.trouble = pawl__str("damaged");
    row.alone = 3;
    row.state = (struct pawl_str){NULL, 99};
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, (size_t)1 << 20);
    assert_ok(pawl__commit_copy(&commit, &arena, &copy), NULL);
    assert_int_equal(copy.instance->state.len, 0);
    assert_int_equal(copy.instance->fence, 1);
    assert_int_equal(copy.instance->revision, 1);
    assert_int_equal(copy.instance->updated_us, 9);
    assert_int_equal(copy.instance->failures, 2);
    assert_true(copy.instance->retry_us == PAWL_TIME_NEVER);
    assert_str(copy.instance->trouble, "damaged");
    assert_int_equal(copy.instance->alone, 3);
    pawl__arena_release(&arena);
}

/* ---- which of two tries it was ----------------------------------------------------------- */

/* The first answer is lost; `meddle` happens before the second try; what is told? */
static int told_after(struct desk *desk, struct request *request,
                      void (*meddle)(struct desk *desk, int call))
{
    desk->fail_from = desk->fail_to = 1;
    desk->how = PAWL_STORE_FAULT_AFTER;
    desk->before_call = meddle;
    start_request(desk, request);
    desk_run(desk);
    assert_code(desk->meddled, PAWL_OK);
    assert_int_equal(desk->counts.unknown, 1);
    return request->answer;
}

static void note(struct desk *desk, int status)
{
    if (status != PAWL_OK)
        desk->meddled = status;
}

/* Another node claims "a" and writes to it as often as said. */
static void write_elsewhere(struct desk *desk, int times)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("elsewhere"), .ttl_us = 1000000};
    struct pawl_claim claim = {.id = pawl__str("a")};
    struct pawl_instance_row row;
    int64_t now_us;

    note(desk, pawl_store_lease(desk->plain, &lease, PAWL_FOREVER, NULL));
    note(desk, pawl_store_claim(desk->plain, lease.incarnation, &claim, 1, &desk->arena, &now_us,
                                PAWL_FOREVER, NULL));
    note(desk, claim.status);
    row = claim.row;
    for (int i = 0; i < times; i++) {
        struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};
        struct pawl_commit *commits[] = {&commit};

        note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
        note(desk, commit.status);
        row.revision++;
    }
}

static void claim_elsewhere(struct desk *desk, int call)
{
    if (call == 2)
        write_elsewhere(desk, 0);
}

static void write_once_elsewhere(struct desk *desk, int call)
{
    if (call == 2)
        write_elsewhere(desk, 1);
}

static void write_once_before(struct desk *desk, int call)
{
    if (call == 1)
        write_elsewhere(desk, 1);
}

static void write_twice_before(struct desk *desk, int call)
{
    if (call == 1)
        write_elsewhere(desk, 2);
}

/*
 * The server crashes and has forgotten the claim, which was not synced: it gives the same fence to
 * another node, which writes.
 */
static void forget_the_claim_and_write_elsewhere(struct desk *desk, int call)
{
    struct pawl_instance_row row = desk_instance(desk, "a");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &row};
    struct pawl_commit *commits[] = {&commit};

    if (call != 1)
        return;
    note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
    note(desk, commit.status);
    row.owner = 0;
    row.fence--;
    note(desk, pawl_store_load(desk->plain, PAWL_TABLE_INSTANCES, &row, 1, PAWL_FOREVER, NULL));
    write_elsewhere(desk, 1);
}

static int advance_and_meddle(void (*meddle)(struct desk *desk, int call), int64_t *revision)
{
    struct pawl_instance_row row = desk_row("a");
    struct request request = {
        .commit = {.kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_RELEASE, .instance = &row}};
    struct desk desk;
    int answer;

    row.state = pawl__str("1");
    desk_open(&desk, 1, NULL);
    desk_create(&desk, "a");
    answer = told_after(&desk, &request, meddle);
    *revision = desk_instance(&desk, "a").revision;
    if (answer == PAWL_OK)
        assert_true(request.commit.has_mail);
    desk_close(&desk);
    return answer;
}

static void an_advance_is_known_by_its_fence_and_revision(void **state)
{
    int64_t revision;

    (void)state;
    assert_code(advance_and_meddle(NULL, &revision), PAWL_OK);
    assert_int_equal(revision, 2);
    assert_code(advance_and_meddle(claim_elsewhere, &revision), PAWL_OK);
    assert_int_equal(revision, 2);
    /* It took, and another one since: what is stored no longer tells. */
    assert_code(advance_and_meddle(write_once_elsewhere, &revision), PAWL_EUNKNOWN);
    assert_int_equal(revision, 3);
    /* It did not, as the other one was first: one revision is theirs, two might be. */
    assert_code(advance_and_meddle(write_once_before, &revision), PAWL_ECONFLICT);
    assert_int_equal(revision, 2);
    assert_code(advance_and_meddle(write_twice_before, &revision), PAWL_EUNKNOWN);
    assert_int_equal(revision, 3);
}

static void a_fence_that_was_issued_twice_proves_nothing(void **state)
{
    int64_t revision;

    (void)state;
    assert_code(advance_and_meddle(forget_the_claim_and_write_elsewhere, &revision),
                PAWL_ECONFLICT);
    assert_int_equal(revision, 2);
}

/* ---- visits ------------------------------------------------------------------------------ */

/* Of the node that visits, which is the desk's first, and the fence of its visit. */
#define VISITOR 1
#define VISIT_FENCE 5

static void join(struct desk *desk)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("visitor"), .ttl_us = 1000000};

    note(desk, pawl_store_lease(desk->plain, &lease, PAWL_FOREVER, NULL));
    if (lease.incarnation != VISITOR)
        desk->meddled = PAWL_ECORRUPT;
}

/* A claim of the same node that was on its way: it is granted the visit's fence, and released. */
static void claim_and_release_before(struct desk *desk, int call)
{
    struct pawl_claim claim = {.id = pawl__str("a"), .seen_fence = VISIT_FENCE - 1};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    if (call != 1)
        return;
    note(desk, pawl_store_claim(desk->plain, VISITOR, &claim, 1, &desk->arena, &now_us,
                                PAWL_FOREVER, NULL));
    note(desk, claim.status);
    if (claim.row.fence != VISIT_FENCE)
        desk->meddled = PAWL_ECORRUPT;
    note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
    note(desk, commit.status);
}

static void cancel_elsewhere(struct desk *desk, int call)
{
    struct pawl_instance_row row = {.id = pawl__str("a")};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};
    struct pawl_commit *commits[] = {&commit};

    if (call != 2)
        return;
    note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
    note(desk, commit.status);
}

static int visit_and_meddle(void (*meddle)(struct desk *desk, int call), bool *cancels)
{
    struct pawl_instance_row row = desk_row("a");
    struct pawl_reservation_row reservation = {.key = pawl__str("commit:event"),
                                               .value = pawl__str("direct"),
                                               .expires_us = PAWL_TIME_NEVER};
    struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &reservation};
    struct pawl_commit create = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct request request = {.commit = {.kind = PAWL_COMMIT_ADVANCE,
                                         .flags = PAWL_COMMIT_VISITED | PAWL_COMMIT_RELEASE,
                                         .instance = &row,
                                         .changes = &change,
                                         .change_count = 1}};
    struct desk desk;
    int answer;

    desk_open(&desk, 1, NULL);
    join(&desk);
    desk_put(&desk, &create);
    row.owner = VISITOR;
    row.fence = VISIT_FENCE;
    row.state = pawl__str("1");
    answer = told_after(&desk, &request, meddle);
    if (answer == PAWL_OK) {
        assert_true(request.commit.has_mail);
        assert_true(desk_instance(&desk, "a").revision >= 2);
    } else {
        assert_str(desk_instance(&desk, "a").state, "0");
    }
    *cancels = request.commit.cancel_requested;
    desk_close(&desk);
    return answer;
}

static void a_visit_is_known_by_its_reservation(void **state)
{
    bool cancels;

    (void)state;
    assert_code(visit_and_meddle(NULL, &cancels), PAWL_OK);
    assert_false(cancels);
    assert_code(visit_and_meddle(cancel_elsewhere, &cancels), PAWL_OK);
    assert_true(cancels);
    /* Whoever has written since. */
    assert_code(visit_and_meddle(write_once_elsewhere, &cancels), PAWL_OK);
    assert_code(visit_and_meddle(write_once_before, &cancels), PAWL_ECONFLICT);
}

static void a_claim_of_the_same_fence_is_not_taken_for_a_visit(void **state)
{
    bool cancels;

    (void)state;
    assert_code(visit_and_meddle(claim_and_release_before, &cancels), PAWL_EUNKNOWN);
}

static void create_another(struct desk *desk, int call)
{
    struct pawl_instance_row row = desk_row("a");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};
    struct pawl_commit *commits[] = {&commit};

    if (call != 1)
        return;
    row.state = pawl__str("another");
    note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
}

static void a_creation_is_known_by_what_it_stored(void **state)
{
    struct pawl_instance_row row = desk_row("a");
    struct request mine = {.commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row}}, theirs = mine;
    struct desk desk;

    (void)state;
    row.name = (struct pawl_str)PAWL_STR_LIT("with\0a NUL");
    desk_open(&desk, 1, NULL);
    assert_code(told_after(&desk, &mine, NULL), PAWL_OK);
    assert_code(mine.commit.status, PAWL_OK);
    desk_close(&desk);
    desk_open(&desk, 1, NULL);
    assert_code(told_after(&desk, &theirs, create_another), PAWL_EEXISTS);
    assert_str(desk_instance(&desk, "a").state, "another");
    desk_close(&desk);
}

static void reserve_another(struct desk *desk, int call)
{
    struct pawl_reservation_row row = {
        .key = pawl__str("key"), .value = pawl__str("theirs"), .expires_us = PAWL_TIME_NEVER};
    struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    if (call == 1)
        note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
}

static void an_insertion_is_known_by_its_row(void **state)
{
    struct pawl_reservation_row row = {
        .key = pawl__str("key"), .value = pawl__str("mine"), .expires_us = PAWL_TIME_NEVER};
    struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &row};
    struct request mine = {.commit = {.changes = &change, .change_count = 1}}, theirs = mine;
    struct desk desk;

    (void)state;
    desk_open(&desk, 1, NULL);
    assert_code(told_after(&desk, &mine, NULL), PAWL_OK);
    desk_close(&desk);
    desk_open(&desk, 1, NULL);
    assert_code(told_after(&desk, &theirs, reserve_another), PAWL_EEXISTS);
    desk_close(&desk);
}

static void add_work(struct desk *desk, const char *id, int64_t owner)
{
    struct pawl_work_row row = {.id = pawl__str(id), .kind = pawl__str("test"), .owner = owner};
    struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    note(desk, pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, NULL));
}

static void take_work_away(struct desk *desk, int call)
{
    if (call == 1)
        add_work(desk, "work", DESK_OWNER + 1);
}

static void finished_work_is_known_by_what_is_left(void **state)
{
    static const struct pawl_str done = PAWL_STR_LIT("work");
    struct pawl_work_row next = {.id = pawl__str("next"), .kind = pawl__str("test")};
    struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &next};
    struct request plain = {.commit = {.done = &done, .done_count = 1, .done_owner = DESK_OWNER}};
    struct request inserts = plain, theirs = plain;
    struct desk desk;

    (void)state;
    /* With a row of its own in the same commit it can be told, without it cannot. */
    inserts.commit.changes = &change;
    inserts.commit.change_count = 1;
    desk_open(&desk, 1, NULL);
    add_work(&desk, "work", DESK_OWNER);
    assert_code(told_after(&desk, &inserts, NULL), PAWL_OK);
    desk_close(&desk);
    desk_open(&desk, 1, NULL);
    add_work(&desk, "work", DESK_OWNER);
    assert_code(told_after(&desk, &plain, NULL), PAWL_EUNKNOWN);
    desk_close(&desk);
    desk_open(&desk, 1, NULL);
    add_work(&desk, "work", DESK_OWNER);
    assert_code(told_after(&desk, &theirs, take_work_away), PAWL_ECONFLICT);
    assert_int_equal(desk_read(&desk, PAWL_TABLE_WORK).count, 1);
    desk_close(&desk);
}

/* Others have taken it since it was put back: it is there, and not as it was given. */
static void take_what_was_put_back(struct desk *desk, int call)
{
    if (call == 2)
        add_work(desk, "work", DESK_OWNER + 1);
}

static void work_that_was_put_back_is_not_taken_for_unfinished(void **state)
{
    static const struct pawl_str done = PAWL_STR_LIT("work");
    struct pawl_work_row later = {
        .id = done, .kind = pawl__str("test"), .due_us = PAWL_TIME_NEVER, .attempts = 1};
    struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &later};
    struct request left = {.commit = {.done = &done,
                                      .done_count = 1,
                                      .done_owner = DESK_OWNER,
                                      .changes = &change,
                                      .change_count = 1}};
    struct request taken = left;
    struct desk desk;

    (void)state;
    desk_open(&desk, 1, NULL);
    add_work(&desk, "work", DESK_OWNER);
    assert_code(told_after(&desk, &left, NULL), PAWL_OK);
    desk_close(&desk);
    desk_open(&desk, 1, NULL);
    add_work(&desk, "work", DESK_OWNER);
    assert_code(told_after(&desk, &taken, take_what_was_put_back), PAWL_EUNKNOWN);
    desk_close(&desk);
}

static void a_deletion_is_known_by_the_absence(void **state)
{
    struct pawl_instance_row row = desk_row("a");
    struct request mine = {.commit = {.kind = PAWL_COMMIT_DELETE, .instance = &row}}, theirs = mine;
    struct desk desk;

    (void)state;
    desk_open(&desk, 1, NULL);
    desk_create(&desk, "a");
    assert_code(told_after(&desk, &mine, NULL), PAWL_OK);
    assert_str(desk_instance(&desk, "a").id, "");
    desk_close(&desk);
    desk_open(&desk, 1, NULL);
    desk_create(&desk, "a");
    assert_code(told_after(&desk, &theirs, write_once_before), PAWL_ECONFLICT);
    assert_str(desk_instance(&desk, "a").id, "a");
    desk_close(&desk);
}

/* ---- repetitions ------------------------------------------------------------------------- */

/* Work that was done is gone: a second try would add it again, and it would be done twice. */
static void what_adds_work_and_is_not_guarded_may_repeat(void **state)
{
    struct pawl_work_row work = {.id = pawl__str("w")};
    struct pawl_reservation_row reservation = {.key = pawl__str("k")};
    struct pawl_change changes[] = {
        {PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &work},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &reservation},
    };
    struct pawl_str done[] = {PAWL_STR_LIT("one")};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 1, .done = done};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const enum pawl_change_kind kinds[] = {PAWL_CHANGE_INSERT, PAWL_CHANGE_ADD,
                                               PAWL_CHANGE_PUT};

        changes[0].kind = kinds[i];
        assert_true(pawl__commit_may_repeat(&commit));
    }
    commit.change_count = 2; /* a key that exists once */
    assert_false(pawl__commit_may_repeat(&commit));
    commit.change_count = 1;
    commit.done_count = 1;
    assert_false(pawl__commit_may_repeat(&commit));
    commit.done_count = 0;
    commit.stamp = pawl__str("definitions");
    assert_false(pawl__commit_may_repeat(&commit));
    commit.stamp = pawl__str("");
    commit.kind = PAWL_COMMIT_ADVANCE; /* known by its revision */
    assert_false(pawl__commit_may_repeat(&commit));
    commit.kind = PAWL_COMMIT_PLAIN;
    changes[0].kind = PAWL_CHANGE_DELETE;
    assert_false(pawl__commit_may_repeat(&commit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_adds_work_and_is_not_guarded_may_repeat),
        cmocka_unit_test(a_copy_has_all_that_is_read_and_nothing_else),
        cmocka_unit_test(what_keeps_the_row_copies_its_guard_alone),
        cmocka_unit_test(an_advance_is_known_by_its_fence_and_revision),
        cmocka_unit_test(a_fence_that_was_issued_twice_proves_nothing),
        cmocka_unit_test(a_visit_is_known_by_its_reservation),
        cmocka_unit_test(a_claim_of_the_same_fence_is_not_taken_for_a_visit),
        cmocka_unit_test(a_creation_is_known_by_what_it_stored),
        cmocka_unit_test(an_insertion_is_known_by_its_row),
        cmocka_unit_test(finished_work_is_known_by_what_is_left),
        cmocka_unit_test(work_that_was_put_back_is_not_taken_for_unfinished),
        cmocka_unit_test(a_deletion_is_known_by_the_absence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
