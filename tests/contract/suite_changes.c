/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit changes besides its instance: rows, done work, stamps, parked work, all or none. */
#include "contract/suite.h"

#include <stdlib.h>

/* ---- unique keys --------------------------------------------------------------------------- */

/* The commit's own change, and after it an INSERT of a row that is there. */
static void also_insert(struct pawl_commit *commit, enum pawl_table table, const void *row)
{
    static struct pawl_change changes[2];

    changes[0] = commit->changes[0];
    changes[1] = (struct pawl_change){PAWL_CHANGE_INSERT, table, row};
    commit->changes = changes;
    commit->change_count = 2;
}

static void same_reservation(struct contract *t, struct pawl_commit *commit,
                             struct pawl_instance_row *row)
{
    static struct pawl_reservation_row reservation;

    (void)row;
    reservation =
        (struct pawl_reservation_row){.key = pawl__str("once"), .expires_us = PAWL_TIME_NEVER};
    insert(t, PAWL_TABLE_RESERVATIONS, &reservation);
    also_insert(commit, PAWL_TABLE_RESERVATIONS, &reservation);
}

static void a_reservation_that_is_taken_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, same_reservation, PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_RESERVATIONS), 1);
}

static void same_version(struct contract *t, struct pawl_commit *commit,
                         struct pawl_instance_row *row)
{
    static struct pawl_definition_row definition;

    (void)row;
    definition = some_definition(t, "d1", "order", 3);
    insert(t, PAWL_TABLE_DEFINITIONS, &definition);
    definition.id = pawl__str("d2");
    also_insert(commit, PAWL_TABLE_DEFINITIONS, &definition);
}

static void a_second_definition_of_one_version_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, same_version, PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_DEFINITIONS), 1);
}

static void same_trigger(struct contract *t, struct pawl_commit *commit,
                         struct pawl_instance_row *row)
{
    static struct pawl_trigger_row trigger;

    (void)row;
    trigger = some_trigger(t, "t1", "hash");
    insert(t, PAWL_TABLE_TRIGGERS, &trigger);
    trigger.id = pawl__str("t2");
    also_insert(commit, PAWL_TABLE_TRIGGERS, &trigger);
}

static void a_second_trigger_of_one_activity_and_hash_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, same_trigger, PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_TRIGGERS), 1);
}

static void same_work(struct contract *t, struct pawl_commit *commit, struct pawl_instance_row *row)
{
    static struct pawl_dead_letter_row letter;

    (void)row;
    letter = some_dead_letter(t, "l1", "w");
    insert(t, PAWL_TABLE_DEAD_LETTERS, &letter);
    letter.id = pawl__str("l2");
    also_insert(commit, PAWL_TABLE_DEAD_LETTERS, &letter);
}

static void a_second_dead_letter_of_one_work_is_dropped_alone(struct contract *t)
{
    check_dropped_alone(t, same_work, PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_DEAD_LETTERS), 1);
}

static void a_bookmark_with_an_id_that_is_there_is_dropped(struct contract *t)
{
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), pawl__str("i"), "h");

    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    bookmark.name = pawl__str("other");
    assert_code(change_one(t, PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark), PAWL_EEXISTS);
    assert_int_equal(find_where(t, PAWL_TABLE_BOOKMARKS, "name", bookmark.name).count, 0);
}

static void of_two_members_that_insert_one_key_one_wins(struct contract *t)
{
    const struct pawl_reservation_row reservation = {.key = pawl__str("once"),
                                                     .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &reservation};
    struct pawl_instance_row rows[] = {some_instance(t, pawl__str("i1")),
                                       some_instance(t, pawl__str("i2"))};
    struct pawl_commit commits[2];
    struct pawl_commit *pointers[] = {&commits[0], &commits[1]};

    for (int i = 0; i < 2; i++)
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                          .instance = &rows[i],
                                          .changes = &change,
                                          .change_count = 1};
    assert_ok(pawl_store_apply(t->a, pointers, 2, soon_ns(t), &t->err), &t->err);
    assert_true((commits[0].status == PAWL_OK) != (commits[1].status == PAWL_OK));
    assert_code(commits[commits[0].status == PAWL_OK].status, PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_RESERVATIONS), 1);
    assert_int_equal(count_all(t, PAWL_TABLE_INSTANCES), 1);
}

static void poison(struct contract *t, struct pawl_commit *commit, struct pawl_instance_row *row)
{
    static struct pawl_reservation_row reservation;

    (void)row;
    if (t->backend->arm_poison)
        assert_ok(t->backend->arm_poison(t->backend->ctx, t->database, t->env, &t->err), &t->err);
    reservation =
        (struct pawl_reservation_row){.key = pawl__str("poison"), .expires_us = PAWL_TIME_NEVER};
    reservation.value = t->backend->poison;
    also_insert(commit, PAWL_TABLE_RESERVATIONS, &reservation);
}

static void what_the_database_refuses_fails_alone(struct contract *t)
{
    check_dropped_alone(t, poison, 1);
    assert_int_equal(count_all(t, PAWL_TABLE_RESERVATIONS), 0);
}

/* ---- kinds of changes ---------------------------------------------------------------------- */

static void adding_what_is_there_leaves_it(struct contract *t)
{
    const struct pawl_setting_row old = {.key = pawl__str("k"), .value = pawl__str("old")};
    const struct pawl_setting_row row = {.key = pawl__str("k"), .value = pawl__str("new")};
    struct pawl_dead_letter_row letter = some_dead_letter(t, "l1", "w");

    assert_code(change_one(t, PAWL_CHANGE_ADD, PAWL_TABLE_SETTINGS, &old), PAWL_OK);
    assert_code(change_one(t, PAWL_CHANGE_ADD, PAWL_TABLE_SETTINGS, &row), PAWL_OK);
    assert_same_row(PAWL_TABLE_SETTINGS, find_where(t, PAWL_TABLE_SETTINGS, "", row.key).rows,
                    &old);
    assert_code(change_one(t, PAWL_CHANGE_ADD, PAWL_TABLE_DEAD_LETTERS, &letter), PAWL_OK);
    letter.id = pawl__str("l2"); /* another key, the same work */
    assert_code(change_one(t, PAWL_CHANGE_ADD, PAWL_TABLE_DEAD_LETTERS, &letter), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_DEAD_LETTERS), 1);
}

static void putting_what_is_there_replaces_it(struct contract *t)
{
    struct pawl_definition_row row = some_definition(t, "d", "order", 1);

    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &row), PAWL_OK);
    row.name = pawl__str("another name");
    row.is_latest = 0;
    row.revision = 9;
    row.data = pawl__str("other data");
    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &row), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_DEFINITIONS), 1);
    assert_same_row(PAWL_TABLE_DEFINITIONS,
                    find_where(t, PAWL_TABLE_DEFINITIONS, "id", row.id).rows, &row);
}

static void putting_what_another_row_excludes_is_dropped(struct contract *t)
{
    struct pawl_definition_row row = some_definition(t, "d1", "order", 1), old = row;

    insert(t, PAWL_TABLE_DEFINITIONS, &row);
    row.id = pawl__str("d2"); /* another key, the same version */
    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &row), PAWL_EEXISTS);
    row.version = 2;
    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &row), PAWL_OK);
    row.version = 1;
    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &row), PAWL_EEXISTS);
    assert_same_row(PAWL_TABLE_DEFINITIONS,
                    find_where(t, PAWL_TABLE_DEFINITIONS, "id", old.id).rows, &old);
    assert_int_equal(count_all(t, PAWL_TABLE_DEFINITIONS), 2);
}

static void changes_are_made_in_their_order(struct contract *t)
{
    const struct pawl_setting_row first = {.key = pawl__str("k"), .value = pawl__str("1")};
    const struct pawl_setting_row second = {.key = pawl__str("k"), .value = pawl__str("2")};
    const struct pawl_change changes[] = {
        {PAWL_CHANGE_INSERT, PAWL_TABLE_SETTINGS, &first},
        {PAWL_CHANGE_DELETE, PAWL_TABLE_SETTINGS, &first},
        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &first},
        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &second},
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 4};

    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_same_row(PAWL_TABLE_SETTINGS, find_where(t, PAWL_TABLE_SETTINGS, "", first.key).rows,
                    &second);
}

/* So many rows may be written together, behind what deletes other rows. */
static void a_long_commit_keeps_the_order_of_what_has_one_key(struct contract *t)
{
    enum { COUNT = 12 };
    struct pawl_work_row rows[COUNT];
    struct pawl_change changes[COUNT + 3];
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = COUNT + 3};

    for (int i = 0; i < COUNT; i++)
        rows[i] = some_work(t, text(t, "w%d", i), 1);
    insert(t, PAWL_TABLE_WORK, &rows[0]);
    /* One that is there goes first, and comes again; one that comes goes. */
    changes[0] = (struct pawl_change){PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &rows[0]};
    for (int i = 0; i < COUNT; i++)
        changes[i + 1] = (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &rows[i]};
    changes[COUNT + 1] = (struct pawl_change){PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &rows[1]};
    changes[COUNT + 2] = (struct pawl_change){PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &rows[2]};
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_WORK), COUNT - 2);
    assert_int_equal(find_where(t, PAWL_TABLE_WORK, "id", rows[0].id).count, 1);
    assert_int_equal(find_where(t, PAWL_TABLE_WORK, "id", rows[1].id).count, 0);
}

static void deleting_is_by_key_and_what_is_not_there_is_fine(struct contract *t)
{
    struct pawl_journal_row one = some_journal(t, pawl__str("i"), 1);
    struct pawl_journal_row two = some_journal(t, pawl__str("i"), 2);
    const struct pawl_journal_row key = {.instance_id = one.instance_id, .first_sequence = 1};

    insert(t, PAWL_TABLE_JOURNAL, &one);
    insert(t, PAWL_TABLE_JOURNAL, &two);
    assert_code(change_one(t, PAWL_CHANGE_DELETE, PAWL_TABLE_JOURNAL, &key), PAWL_OK);
    assert_code(change_one(t, PAWL_CHANGE_DELETE, PAWL_TABLE_JOURNAL, &key), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_JOURNAL), 1);
    assert_same_row(PAWL_TABLE_JOURNAL, find_where(t, PAWL_TABLE_JOURNAL, "", one.data).rows, &two);
}

static void deleting_what_an_instance_owns_leaves_the_rest(struct contract *t)
{
    struct pawl_bookmark_row row = some_bookmark(t, pawl__str("b1"), pawl__str("mine"), "h");

    insert(t, PAWL_TABLE_BOOKMARKS, &row);
    row.id = pawl__str("b2");
    insert(t, PAWL_TABLE_BOOKMARKS, &row);
    row.id = pawl__str("b3");
    row.instance_id = pawl__str("other");
    insert(t, PAWL_TABLE_BOOKMARKS, &row);
    row.id = pawl__str("b4");
    row.instance_id = pawl__str("");
    insert(t, PAWL_TABLE_BOOKMARKS, &row);
    row = (struct pawl_bookmark_row){.instance_id = pawl__str("mine")};
    assert_code(change_one(t, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &row), PAWL_OK);
    row.instance_id = pawl__str(""); /* of no instance: what nobody owns is not deleted so */
    assert_code(change_one(t, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &row), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_BOOKMARKS), 2);
    assert_int_equal(find_where(t, PAWL_TABLE_BOOKMARKS, "id", pawl__str("b3")).count, 1);
    assert_int_equal(find_where(t, PAWL_TABLE_BOOKMARKS, "id", pawl__str("b4")).count, 1);
}

/* ---- done work, stamps --------------------------------------------------------------------- */

/* Inserts work `id`, due, that `owner` has. */
static struct pawl_work_row owned_work(struct contract *t, const char *id, int64_t owner)
{
    struct pawl_work_row work = some_work(t, text(t, "%s", id), now_us(t));

    work.owner = owner;
    insert(t, PAWL_TABLE_WORK, &work);
    return work;
}

static void done_work_is_deleted(struct contract *t)
{
    const struct pawl_str done[] = {pawl__str("w1"), pawl__str("w2")};
    struct pawl_commit commit = {.done = done, .done_count = 2, .done_owner = t->node_a};

    owned_work(t, "w1", t->node_a);
    owned_work(t, "w2", t->node_a);
    owned_work(t, "w3", t->node_a);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_WORK), 1);
}

static void done_work_of_another_drops_the_commit(struct contract *t)
{
    const struct pawl_str done[] = {pawl__str("mine"), pawl__str("taken")};
    struct pawl_commit commit = {.done = done, .done_count = 2, .done_owner = t->node_a};
    const char *before;

    owned_work(t, "mine", t->node_a);
    owned_work(t, "taken", t->node_b);
    before = dump(t, t->a);
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    assert_string_equal(dump(t, t->a), before);
}

static const struct pawl_str done_gone = PAWL_STR_LIT("gone");

static void done_already(struct contract *t, struct pawl_commit *commit,
                         struct pawl_instance_row *row)
{
    (void)row;
    commit->done = &done_gone;
    commit->done_count = 1;
    commit->done_owner = t->node_a;
}

static void done_work_that_is_gone_drops_the_commit_alone(struct contract *t)
{
    check_dropped_alone(t, done_already, PAWL_ECONFLICT);
}

static void done_work_may_be_put_back_for_another_time(struct contract *t)
{
    struct pawl_work_row work = owned_work(t, "w", t->node_a);
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work};
    struct pawl_commit commit = {.done = &work.id,
                                 .done_count = 1,
                                 .done_owner = t->node_a,
                                 .changes = &change,
                                 .change_count = 1};

    work.owner = 0;
    work.attempts++;
    work.due_us += HOUR_US;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", work.id).rows, &work);
}

static int64_t stamp_value(struct contract *t, const char *name)
{
    struct pawl_rows rows = find_where(t, PAWL_TABLE_STAMPS, "name", text(t, "%s", name));

    return rows.count ? ((const struct pawl_stamp_row *)rows.rows)->value : 0;
}

static void a_stamp_moves_by_one_and_guards(struct contract *t)
{
    const struct pawl_setting_row setting = {.key = pawl__str("k")};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_SETTINGS, &setting};
    struct pawl_commit commit = {.stamp = pawl__str("definitions"), .stamp_value = 0};

    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(stamp_value(t, "definitions"), 1);
    commit.changes = &change;
    commit.change_count = 1;
    assert_code(apply_one(t, t->b, &commit), PAWL_ECONFLICT);
    assert_int_equal(count_all(t, PAWL_TABLE_SETTINGS), 0);
    commit.stamp_value = 2;
    assert_code(apply_one(t, t->b, &commit), PAWL_ECONFLICT);
    commit.stamp_value = 1;
    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    assert_int_equal(stamp_value(t, "definitions"), 2);
    assert_int_equal(count_all(t, PAWL_TABLE_SETTINGS), 1);
}

static void stamp_moved(struct contract *t, struct pawl_commit *commit,
                        struct pawl_instance_row *row)
{
    (void)t;
    (void)row;
    commit->stamp = pawl__str("triggers");
    commit->stamp_value = 7;
}

static void a_stamp_that_has_moved_drops_the_commit_alone(struct contract *t)
{
    check_dropped_alone(t, stamp_moved, PAWL_ECONFLICT);
    assert_int_equal(stamp_value(t, "triggers"), 0);
}

/* ---- all or nothing ------------------------------------------------------------------------ */

/* Everything a commit can write, in every table, and one thing that must not be. */
static void check_nothing_is_left(struct contract *t,
                                  void (*spoil)(struct contract *t, struct pawl_commit *commit,
                                                struct pawl_instance_row *row),
                                  int status)
{
    struct pawl_instance_row instance = claimed_instance(t, "i");
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), instance.id, "wanted");
    struct pawl_bookmark_row old = some_bookmark(t, pawl__str("old"), instance.id, "h");
    struct pawl_work_row parked = some_work(t, pawl__str("parked"), PAWL_TIME_NEVER), work = parked;
    struct pawl_journal_row journal = some_journal(t, instance.id, 1);
    struct pawl_definition_row definition = some_definition(t, "d", "order", 1);
    struct pawl_trigger_row trigger = some_trigger(t, "t", "h");
    struct pawl_setting_row setting = {.key = pawl__str("k"), .value = pawl__str("old")};
    struct pawl_setting_row next = {.key = pawl__str("k"), .value = pawl__str("new")};
    struct pawl_dead_letter_row letter = some_dead_letter(t, "l", "w");
    struct pawl_reservation_row reservation = {.key = pawl__str("free"),
                                               .expires_us = PAWL_TIME_NEVER};
    struct pawl_reservation_row taken = {.key = pawl__str("taken"), .expires_us = PAWL_TIME_NEVER};
    struct pawl_str done = pawl__str("done");
    struct pawl_change changes[] = {
        {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark},
        {PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &old},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_JOURNAL, &journal},
        {PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &definition},
        {PAWL_CHANGE_ADD, PAWL_TABLE_TRIGGERS, &trigger},
        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &next},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_DEAD_LETTERS, &letter},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &reservation},
        {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &parked},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &taken},
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_RELEASE,
                                 .instance = &instance,
                                 .done = &done,
                                 .done_count = 1,
                                 .done_owner = t->node_a,
                                 .stamp = pawl__str("definitions"),
                                 .changes = changes,
                                 .change_count = sizeof changes / sizeof changes[0] - 1};
    const char *before;

    parked.hash = bookmark.hash;
    work.id = pawl__str("work");
    owned_work(t, "done", t->node_a);
    insert(t, PAWL_TABLE_BOOKMARKS, &old);
    insert(t, PAWL_TABLE_WORK, &parked);
    insert(t, PAWL_TABLE_SETTINGS, &setting);
    insert(t, PAWL_TABLE_RESERVATIONS, &taken);
    spoil(t, &commit, &instance);
    before = dump(t, t->a);
    assert_code(apply_one(t, t->a, &commit), status);
    assert_string_equal(dump(t, t->b), before);
}

static void spoil_key(struct contract *t, struct pawl_commit *commit, struct pawl_instance_row *row)
{
    (void)t;
    (void)row;
    commit->change_count++;
}

static void a_commit_dropped_for_a_key_leaves_nothing_in_any_table(struct contract *t)
{
    check_nothing_is_left(t, spoil_key, PAWL_EEXISTS);
}

static void spoil_revision(struct contract *t, struct pawl_commit *commit,
                           struct pawl_instance_row *row)
{
    (void)t;
    (void)commit;
    row->revision++;
}

static void a_commit_dropped_for_its_revision_leaves_nothing_in_any_table(struct contract *t)
{
    check_nothing_is_left(t, spoil_revision, PAWL_ECONFLICT);
}

static void spoil_done(struct contract *t, struct pawl_commit *commit,
                       struct pawl_instance_row *row)
{
    (void)row;
    commit->done_owner = t->node_b;
}

static void a_commit_dropped_for_its_work_leaves_nothing_in_any_table(struct contract *t)
{
    check_nothing_is_left(t, spoil_done, PAWL_ECONFLICT);
}

static void spoil_stamp(struct contract *t, struct pawl_commit *commit,
                        struct pawl_instance_row *row)
{
    (void)t;
    (void)row;
    commit->stamp_value = 5;
}

static void a_commit_dropped_for_its_stamp_leaves_no_row_behind(struct contract *t)
{
    struct pawl_commit first = {.stamp = pawl__str("definitions")};

    assert_code(apply_one(t, t->a, &first), PAWL_OK);
    check_nothing_is_left(t, spoil_stamp, PAWL_ECONFLICT);
}

static void deleting_an_instance_takes_everything_of_it(struct contract *t)
{
    struct pawl_instance_row mine = claimed_instance(t, "mine");
    const struct pawl_str ids[] = {mine.id, create_instance(t, "other")};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &mine};
    const enum pawl_table tables[] = {PAWL_TABLE_BOOKMARKS, PAWL_TABLE_WORK, PAWL_TABLE_JOURNAL,
                                      PAWL_TABLE_RESERVATIONS};
    struct pawl_dead_letter_row letter = some_dead_letter(t, "l", "w");

    for (int i = 0; i < 2; i++) {
        struct pawl_bookmark_row bookmark = some_bookmark(t, text(t, "b%d", i), ids[i], "h");
        struct pawl_work_row work = some_work(t, text(t, "w%d", i), now_us(t) + HOUR_US);
        struct pawl_journal_row journal = some_journal(t, ids[i], 1);
        struct pawl_reservation_row reservation = {
            .key = text(t, "r%d", i), .instance_id = ids[i], .expires_us = PAWL_TIME_NEVER};

        work.instance_id = ids[i];
        insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
        insert(t, PAWL_TABLE_WORK, &work);
        insert(t, PAWL_TABLE_JOURNAL, &journal);
        insert(t, PAWL_TABLE_RESERVATIONS, &reservation);
    }
    letter.instance_id = mine.id;
    insert(t, PAWL_TABLE_DEAD_LETTERS, &letter);
    mine.fence++;
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    mine.fence--;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        assert_int_equal(find_where(t, tables[i], "instance_id", ids[0]).count, 0);
        assert_int_equal(find_where(t, tables[i], "instance_id", ids[1]).count, 1);
    }
    assert_int_equal(count_all(t, PAWL_TABLE_INSTANCES), 1);
    assert_int_equal(count_all(t, PAWL_TABLE_DEAD_LETTERS), 1);
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
}

/* It may have been there and be gone: who comes so late does not learn whether he was here. */
static void a_reservation_that_has_expired_is_not_inserted(struct contract *t)
{
    struct pawl_reservation_row late = {.key = pawl__str("late"), .expires_us = now_us(t) - 1};
    struct pawl_work_row work = some_work(t, pawl__str("w"), now_us(t));
    const struct pawl_change changes[] = {
        {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &late},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work},
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 2};

    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT);
    assert_true(commit.has_expired);
    assert_non_null(strstr(commit.error.msg, "clock was set forward"));
    assert_int_equal(count_all(t, PAWL_TABLE_RESERVATIONS), 0);
    assert_int_equal(count_all(t, PAWL_TABLE_WORK), 0);
    late.expires_us = now_us(t) + HOUR_US;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_false(commit.has_expired);
    /* One that is there is there, also when it has expired. */
    assert_code(apply_one(t, t->a, &commit), PAWL_EEXISTS);
    late.expires_us = now_us(t) - 1;
    assert_true(apply_one(t, t->a, &commit) != PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_WORK), 1);
}

/* ---- cancel, mail, parked work ------------------------------------------------------------- */

static void a_cancel_needs_no_claim_and_is_seen_by_the_next_advance(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    const struct pawl_instance_row id = {.id = row.id};
    struct pawl_commit advance = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &id};

    assert_code(apply_one(t, t->a, &advance), PAWL_OK);
    assert_false(advance.cancel_requested);
    assert_code(apply_one(t, t->b, &cancel), PAWL_OK);
    row.revision++;
    assert_int_equal(instance_row(t, row.id)->revision, row.revision);
    assert_int_equal(instance_row(t, row.id)->owner, t->node_a);
    assert_code(apply_one(t, t->a, &advance), PAWL_OK);
    assert_true(advance.cancel_requested);
    row.revision++;
    advance.flags = PAWL_COMMIT_KEEP;
    assert_code(apply_one(t, t->a, &advance), PAWL_OK);
    assert_true(advance.cancel_requested);
    assert_int_equal(claim_one(t, t->a, t->node_a, row.id).row.cancel_requested, 1);
}

static void a_cancel_of_what_is_not_there_is_not_found(struct contract *t)
{
    const struct pawl_instance_row id = {.id = pawl__str("nobody")};
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &id};

    assert_code(apply_one(t, t->a, &cancel), PAWL_ENOTFOUND);
    assert_code(cancel.error.code, PAWL_ENOTFOUND);
}

static void an_advance_says_whether_mail_has_come(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_work_row mail = some_work(t, pawl__str("w"), now_us(t) + HOUR_US);
    struct pawl_work_row others = some_work(t, pawl__str("x"), now_us(t));
    struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &mail};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};

    mail.instance_id = row.id;
    others.instance_id = pawl__str("another");
    insert(t, PAWL_TABLE_WORK, &mail);
    insert(t, PAWL_TABLE_WORK, &others);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_false(commit.has_mail); /* not due yet */
    mail.due_us = now_us(t);
    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &mail), PAWL_OK);
    row.revision++;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.has_mail);
    row.revision++;
    commit.changes = &change;
    commit.change_count = 1;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_false(commit.has_mail);
}

static void an_advance_that_is_not_asked_for_mail_answers_the_rest(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_work_row mail = some_work(t, pawl__str("w"), now_us(t));
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_UNASKED, .instance = &row};
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};

    mail.instance_id = row.id;
    insert(t, PAWL_TABLE_WORK, &mail);
    assert_code(apply_one(t, t->a, &cancel), PAWL_OK);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.cancel_requested);
    assert_code(apply_one(t, t->a, &commit), PAWL_ECONFLICT); /* its revision has passed */
    row.revision++;
    commit.flags = 0;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.has_mail);
}

/* In one transaction: nobody sees the bookmark, and the work still parked. */
static void work_that_a_bookmark_wakes_is_mail_of_the_same_commit(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), row.id, "h");
    struct pawl_work_row parked = some_work(t, pawl__str("w"), PAWL_TIME_NEVER);
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .instance = &row, .changes = &change, .change_count = 1};

    parked.instance_id = row.id;
    parked.hash = bookmark.hash;
    insert(t, PAWL_TABLE_WORK, &parked);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_true(commit.has_mail);
}

static void a_new_bookmark_makes_parked_work_due(struct contract *t)
{
    const enum pawl_change_kind kinds[] = {PAWL_CHANGE_INSERT, PAWL_CHANGE_ADD, PAWL_CHANGE_PUT};

    for (int i = 0; i < 3; i++) {
        struct pawl_str hash = text(t, "hash-%d", i);
        struct pawl_bookmark_row bookmark =
            some_bookmark(t, text(t, "b%d", i), pawl__str("i"), hash.ptr);
        struct pawl_work_row parked = some_work(t, text(t, "w%d", i), PAWL_TIME_NEVER);
        struct pawl_work_row other = some_work(t, text(t, "x%d", i), PAWL_TIME_NEVER);
        struct pawl_taken taken;

        parked.hash = hash;
        other.hash = pawl__str("something else");
        insert(t, PAWL_TABLE_WORK, &parked);
        insert(t, PAWL_TABLE_WORK, &other);
        assert_int_equal(take_some(t, t->b, t->node_b, 10).work_count, 0);
        assert_code(change_one(t, kinds[i], PAWL_TABLE_BOOKMARKS, &bookmark), PAWL_OK);
        taken = take_some(t, t->b, t->node_b, 10);
        assert_int_equal(taken.work_count, 1);
        assert_same_str(taken.work[0].id, parked.id);
        assert_true(taken.work[0].due_us <= taken.now_us);
    }
}

/* Parked for another order, instance or activity: it is not for this bookmark. */
static void a_new_bookmark_wakes_nothing_that_does_not_match_it(struct contract *t)
{
    static const struct {
        const char *hash, *correlation, *instance, *activity;
        bool wakes;
    } cases[] = {
        {"h", "", "", "", true},        {"h", "c", "", "", true},
        {"h", "", "i", "", true},       {"h", "c", "i", "", true},
        {"h", "c", "i", "a", true},     {"h", "", "", "a", true},
        {"other", "", "", "", false},   {"h", "other", "", "", false},
        {"h", "", "other", "", false},  {"h", "", "", "other", false},
        {"h", "c", "other", "", false}, {"h", "other", "i", "", false},
        {"", "", "", "", false},        {"", "c", "i", "a", false},
    };
    const size_t case_count = sizeof cases / sizeof cases[0];
    struct pawl_bookmark_row bookmark =
        some_bookmark(t, pawl__str("b"), create_instance(t, "i"), "h");
    struct pawl_rows rows;

    for (size_t i = 0; i < case_count; i++) {
        struct pawl_work_row parked = some_work(t, text(t, "w%02zu", i), PAWL_TIME_NEVER);

        parked.hash = pawl__str(cases[i].hash);
        parked.correlation_id = pawl__str(cases[i].correlation);
        parked.instance_id = pawl__str(cases[i].instance);
        parked.activity_instance_id = pawl__str(cases[i].activity);
        insert(t, PAWL_TABLE_WORK, &parked);
    }
    bookmark.correlation_id = pawl__str("c");
    bookmark.activity_instance_id = pawl__str("a");
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    rows = find_where(t, PAWL_TABLE_WORK, "", pawl__str(""));
    assert_int_equal(rows.count, case_count);
    for (size_t i = 0; i < case_count; i++) {
        const struct pawl_work_row *row = &((const struct pawl_work_row *)rows.rows)[i];

        if ((row->due_us != PAWL_TIME_NEVER) != cases[i].wakes)
            fail_msg("case %zu: work of hash '%s', correlation '%s', instance '%s', activity '%s' "
                     "must %sbe due",
                     i, cases[i].hash, cases[i].correlation, cases[i].instance, cases[i].activity,
                     cases[i].wakes ? "" : "not ");
    }
}

/* Of a bookmark without a correlation: "" is that of any. */
static void a_bookmark_without_correlation_wakes_no_work_of_an_order(struct contract *t)
{
    struct pawl_bookmark_row bookmark =
        some_bookmark(t, pawl__str("b"), create_instance(t, "i"), "h");
    struct pawl_work_row parked = some_work(t, pawl__str("order"), PAWL_TIME_NEVER);

    parked.hash = pawl__str("h");
    parked.correlation_id = pawl__str("c");
    parked.activity_instance_id = pawl__str("");
    insert(t, PAWL_TABLE_WORK, &parked);
    parked.id = pawl__str("any");
    parked.correlation_id = pawl__str("");
    insert(t, PAWL_TABLE_WORK, &parked);
    bookmark.correlation_id = pawl__str("");
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    assert_int_equal(take_some(t, t->a, t->node_a, 10).work_count, 1);
}

/* Whoever has taken it because its time is over says so; nobody delivers it beside that. */
static void a_new_bookmark_leaves_expired_work_to_whom_took_it(struct contract *t)
{
    struct pawl_bookmark_row bookmark =
        some_bookmark(t, pawl__str("b"), create_instance(t, "i"), "h");
    struct pawl_work_row parked = some_work(t, pawl__str("w"), PAWL_TIME_NEVER);
    struct pawl_claim claim;

    parked.hash = pawl__str("h");
    parked.correlation_id = parked.activity_instance_id = pawl__str("");
    parked.instance_id = pawl__str("i");
    parked.expires_us = now_us(t) - 1;
    insert(t, PAWL_TABLE_WORK, &parked);
    assert_int_equal(take_some(t, t->a, t->node_a, 10).work_count, 1);
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    claim = claim_one(t, t->b, t->node_b, pawl__str("i"));
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(claim.mail_count, 0);
}

static void a_bookmark_changes_no_due_time_of_work_that_is_not_parked(struct contract *t)
{
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), pawl__str("i"), "h");
    struct pawl_work_row later = some_work(t, pawl__str("w"), now_us(t) + HOUR_US);

    later.hash = bookmark.hash;
    insert(t, PAWL_TABLE_WORK, &later);
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", later.id).rows, &later);
}

static void a_bookmark_without_a_hash_wakes_nothing(struct contract *t)
{
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), pawl__str("i"), "");
    struct pawl_work_row parked = some_work(t, pawl__str("w"), PAWL_TIME_NEVER);

    insert(t, PAWL_TABLE_WORK, &parked);
    insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
    assert_int_equal(take_some(t, t->a, t->node_a, 10).work_count, 0);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void an_empty_batch_is_fine_and_one_too_large_is_refused(struct contract *t)
{
    static struct pawl_commit commit;
    struct pawl_commit *commits[PAWL_STORE_BATCH_MAX + 1];

    for (int i = 0; i <= PAWL_STORE_BATCH_MAX; i++)
        commits[i] = &commit;
    assert_ok(pawl_store_apply(t->a, commits, 0, soon_ns(t), &t->err), &t->err);
    assert_code(pawl_store_apply(t->a, commits, PAWL_STORE_BATCH_MAX + 1, soon_ns(t), &t->err),
                PAWL_ELIMIT);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK); /* nothing in it either */
}

static void a_full_batch_is_applied(struct contract *t)
{
    static struct pawl_commit commits[PAWL_STORE_BATCH_MAX];
    static struct pawl_instance_row rows[PAWL_STORE_BATCH_MAX];
    struct pawl_commit *pointers[PAWL_STORE_BATCH_MAX];

    for (int i = 0; i < PAWL_STORE_BATCH_MAX; i++) {
        rows[i] = some_instance(t, text(t, "i%d", i));
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE, .instance = &rows[i]};
        pointers[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(t->a, pointers, PAWL_STORE_BATCH_MAX, soon_ns(t), &t->err), &t->err);
    for (int i = 0; i < PAWL_STORE_BATCH_MAX; i++)
        assert_code(commits[i].status, PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_INSTANCES), PAWL_STORE_BATCH_MAX);
}

static void ten_thousand_bookmarks_fit_in_one_commit(struct contract *t)
{
    enum { COUNT = 10000 };
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_bookmark_row *bookmarks = calloc(COUNT, sizeof *bookmarks);
    struct pawl_change *changes = calloc(COUNT, sizeof *changes);
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .instance = &row, .changes = changes, .change_count = COUNT};
    struct pawl_change all = {PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, bookmarks};

    assert_non_null(bookmarks);
    assert_non_null(changes);
    for (int i = 0; i < COUNT; i++) {
        bookmarks[i] = some_bookmark(t, text(t, "b%d", i), row.id, "h");
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmarks[i]};
    }
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_BOOKMARKS), COUNT);
    row.revision++;
    commit.changes = &all;
    commit.change_count = 1;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_BOOKMARKS), 0);
    free(changes);
    free(bookmarks);
}

const struct contract_test contract_changes[] = {
    CONTRACT_TEST(a_reservation_that_is_taken_is_dropped_alone),
    CONTRACT_TEST(a_second_definition_of_one_version_is_dropped_alone),
    CONTRACT_TEST(a_second_trigger_of_one_activity_and_hash_is_dropped_alone),
    CONTRACT_TEST(a_second_dead_letter_of_one_work_is_dropped_alone),
    CONTRACT_TEST(a_bookmark_with_an_id_that_is_there_is_dropped),
    CONTRACT_TEST(of_two_members_that_insert_one_key_one_wins),
    CONTRACT_TEST_IF(POISON, what_the_database_refuses_fails_alone),
    CONTRACT_TEST(adding_what_is_there_leaves_it),
    CONTRACT_TEST(putting_what_is_there_replaces_it),
    CONTRACT_TEST(putting_what_another_row_excludes_is_dropped),
    CONTRACT_TEST(changes_are_made_in_their_order),
    CONTRACT_TEST(a_long_commit_keeps_the_order_of_what_has_one_key),
    CONTRACT_TEST(deleting_is_by_key_and_what_is_not_there_is_fine),
    CONTRACT_TEST(deleting_what_an_instance_owns_leaves_the_rest),
    CONTRACT_TEST(done_work_is_deleted),
    CONTRACT_TEST(done_work_of_another_drops_the_commit),
    CONTRACT_TEST(done_work_that_is_gone_drops_the_commit_alone),
    CONTRACT_TEST(done_work_may_be_put_back_for_another_time),
    CONTRACT_TEST(a_stamp_moves_by_one_and_guards),
    CONTRACT_TEST(a_stamp_that_has_moved_drops_the_commit_alone),
    CONTRACT_TEST(a_commit_dropped_for_a_key_leaves_nothing_in_any_table),
    CONTRACT_TEST(a_commit_dropped_for_its_revision_leaves_nothing_in_any_table),
    CONTRACT_TEST(a_commit_dropped_for_its_work_leaves_nothing_in_any_table),
    CONTRACT_TEST(a_commit_dropped_for_its_stamp_leaves_no_row_behind),
    CONTRACT_TEST(deleting_an_instance_takes_everything_of_it),
    CONTRACT_TEST(a_cancel_needs_no_claim_and_is_seen_by_the_next_advance),
    CONTRACT_TEST(a_cancel_of_what_is_not_there_is_not_found),
    CONTRACT_TEST(an_advance_says_whether_mail_has_come),
    CONTRACT_TEST(an_advance_that_is_not_asked_for_mail_answers_the_rest),
    CONTRACT_TEST(work_that_a_bookmark_wakes_is_mail_of_the_same_commit),
    CONTRACT_TEST(a_new_bookmark_makes_parked_work_due),
    CONTRACT_TEST(a_new_bookmark_wakes_nothing_that_does_not_match_it),
    CONTRACT_TEST(a_bookmark_without_correlation_wakes_no_work_of_an_order),
    CONTRACT_TEST(a_new_bookmark_leaves_expired_work_to_whom_took_it),
    CONTRACT_TEST(a_reservation_that_has_expired_is_not_inserted),
    CONTRACT_TEST(a_bookmark_changes_no_due_time_of_work_that_is_not_parked),
    CONTRACT_TEST(a_bookmark_without_a_hash_wakes_nothing),
    CONTRACT_TEST(an_empty_batch_is_fine_and_one_too_large_is_refused),
    CONTRACT_TEST(a_full_batch_is_applied),
    CONTRACT_TEST(ten_thousand_bookmarks_fit_in_one_commit),
    {0},
};
