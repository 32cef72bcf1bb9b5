/* SPDX-License-Identifier: Apache-2.0 */
/* Taking due work: which rows, in which order, for whom, and what else comes with it. */
#include "contract/suite.h"

/* "w1,w2" */
static const char *ids_of(struct contract *t, const struct pawl_taken *taken)
{
    const char *ids = "";

    for (size_t i = 0; i < taken->work_count; i++)
        ids = pawl__arena_printf(&t->arena, "%s%s%.*s", ids, i ? "," : "",
                                 PAWL_STR_ARG(taken->work[i].id));
    return ids;
}

static const char *taken_ids(struct contract *t, uint32_t limit)
{
    struct pawl_taken taken = take_some(t, t->a, t->node_a, limit);

    return ids_of(t, &taken);
}

static void add_work(struct contract *t, const char *id, int64_t due_us)
{
    struct pawl_work_row row = some_work(t, text(t, "%s", id), due_us);

    insert(t, PAWL_TABLE_WORK, &row);
}

static void due_work_is_taken_oldest_first(struct contract *t)
{
    int64_t now = now_us(t);

    add_work(t, "c", now - 1);
    add_work(t, "a", now - 3);
    add_work(t, "never", PAWL_TIME_NEVER);
    add_work(t, "later", now + HOUR_US);
    add_work(t, "b", now - 2);
    assert_string_equal(taken_ids(t, 10), "a,b,c");
}

static void taken_work_is_the_takers_and_otherwise_as_it_was(struct contract *t)
{
    struct pawl_work_row row = some_work(t, pawl__str("w"), now_us(t));
    struct pawl_taken taken;

    insert(t, PAWL_TABLE_WORK, &row);
    taken = take_some(t, t->a, t->node_a, 1);
    assert_int_equal(taken.work_count, 1);
    row.owner = t->node_a;
    assert_same_row(PAWL_TABLE_WORK, &taken.work[0], &row);
    assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", row.id).rows, &row);
}

static void no_more_is_taken_than_was_asked_for(struct contract *t)
{
    int64_t now = now_us(t);

    for (int i = 0; i < 5; i++)
        add_work(t, text(t, "w%d", i).ptr, now - 10 + i);
    assert_string_equal(taken_ids(t, 2), "w0,w1");
    assert_string_equal(taken_ids(t, 2), "w2,w3");
    assert_string_equal(taken_ids(t, 0), "");
    assert_string_equal(taken_ids(t, 2), "w4");
}

static void work_is_not_taken_twice(struct contract *t)
{
    add_work(t, "w", now_us(t));
    assert_string_equal(taken_ids(t, 10), "w");
    assert_int_equal(take_some(t, t->b, t->node_b, 10).work_count, 0);
    assert_string_equal(taken_ids(t, 10), "");
}

static void work_is_taken_over_from_a_dead_node(struct contract *t)
{
    struct pawl_taken taken;

    add_work(t, "w", now_us(t));
    assert_string_equal(taken_ids(t, 10), "w");
    leave(t, t->a, "node-a", t->node_a);
    taken = take_some(t, t->b, t->node_b, 10);
    assert_int_equal(taken.work_count, 1);
    assert_int_equal(taken.work[0].owner, t->node_b);
}

static void work_is_taken_over_from_an_earlier_incarnation_at_once(struct contract *t)
{
    add_work(t, "w", now_us(t));
    assert_string_equal(taken_ids(t, 10), "w");
    t->node_a = join(t, t->a, "node-a", HOUR_US);
    assert_string_equal(taken_ids(t, 10), "w");
}

/* What kills its nodes shows; work that was given back, or is taken first, does not count. */
static void takes_from_a_dead_node_are_counted(struct contract *t)
{
    struct pawl_work_row row = some_work(t, pawl__str("w"), now_us(t)), *back = &row;
    struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, back};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN,
                                 .done = &row.id,
                                 .done_count = 1,
                                 .changes = &change,
                                 .change_count = 1};

    row.takeovers = row.begun = row.deaths = 0;
    insert(t, PAWL_TABLE_WORK, &row);
    row = take_some(t, t->a, t->node_a, 1).work[0];
    assert_int_equal(row.takeovers, 0);
    for (int i = 1; i <= 3; i++) {
        t->node_a = join(t, t->a, "node-a", HOUR_US);
        row = take_some(t, t->a, t->node_a, 1).work[0];
        assert_int_equal(row.takeovers, i);
        assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", row.id).rows, &row);
    }
    /* Marked, in place, by who has it; and given back. */
    commit.done_owner = row.owner;
    row.begun = row.takeovers;
    row.deaths = 2;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", row.id).rows, &row);
    row.owner = 0;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    row = take_some(t, t->b, t->node_b, 1).work[0];
    assert_int_equal(row.takeovers, 3);
    assert_int_equal(row.begun, 3);
    assert_int_equal(row.deaths, 2);
}

static void mail_of_an_owned_instance_is_left_to_its_owner(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_work_row mail = some_work(t, pawl__str("mail"), now_us(t));
    struct pawl_work_row orphan = some_work(t, pawl__str("orphan"), now_us(t));
    struct pawl_commit release = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct pawl_taken taken;

    mail.instance_id = row.id;
    orphan.instance_id = pawl__str("gone");
    insert(t, PAWL_TABLE_WORK, &mail);
    taken = take_some(t, t->b, t->node_b, 10);
    assert_int_equal(taken.work_count, 0);
    insert(t, PAWL_TABLE_WORK, &orphan); /* its instance is not there: nobody will find it */
    taken = take_some(t, t->b, t->node_b, 10);
    assert_string_equal(ids_of(t, &taken), "orphan");
    assert_code(apply_one(t, t->a, &release), PAWL_OK);
    assert_true(release.has_mail);
    taken = take_some(t, t->b, t->node_b, 10);
    assert_string_equal(ids_of(t, &taken), "mail");
}

static void the_owner_of_an_instance_may_take_its_mail(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_work_row mail = some_work(t, pawl__str("mail"), now_us(t));

    mail.instance_id = row.id;
    insert(t, PAWL_TABLE_WORK, &mail);
    assert_string_equal(taken_ids(t, 10), "mail");
}

static void mail_of_an_instance_whose_owner_died_is_taken(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_work_row mail = some_work(t, pawl__str("mail"), now_us(t));
    struct pawl_taken taken;

    mail.instance_id = row.id;
    insert(t, PAWL_TABLE_WORK, &mail);
    leave(t, t->a, "node-a", t->node_a);
    taken = take_some(t, t->b, t->node_b, 10);
    assert_string_equal(ids_of(t, &taken), "mail");
}

static void parts_and_kinds_are_taken_by_those_who_ask_for_them(struct contract *t)
{
    int64_t now = now_us(t);
    struct pawl_take take = {.owner = t->node_a, .limit = 10};
    struct pawl_taken taken;

    for (int i = 0; i < 8; i++) {
        struct pawl_work_row row = some_work(t, text(t, "w%d", i), now - 10 + i);

        row.part = i / 2;
        row.kind = pawl__str(i % 2 ? "stimulus" : "timer");
        insert(t, PAWL_TABLE_WORK, &row);
    }
    take.part_from = 1;
    take.part_to = 3;
    take.kind = pawl__str("timer");
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_string_equal(ids_of(t, &taken), "w2,w4");
    take.kind = pawl__str("");
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_string_equal(ids_of(t, &taken), "w3,w5");
    take.part_from = take.part_to = 0;
    take.kind = pawl__str("stimulus");
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_string_equal(ids_of(t, &taken), "w1,w7");
    take.part_from = 1023;
    take.part_to = 1024;
    take.kind = pawl__str("");
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_string_equal(ids_of(t, &taken), "");
    assert_string_equal(taken_ids(t, 10), "w0,w6");
}

static void expired_work_is_taken_though_it_is_not_due(struct contract *t)
{
    int64_t now = now_us(t);
    struct pawl_work_row parked = some_work(t, pawl__str("parked"), PAWL_TIME_NEVER);
    struct pawl_work_row waiting = some_work(t, pawl__str("waiting"), PAWL_TIME_NEVER);

    parked.expires_us = now - 1;
    waiting.expires_us = now + HOUR_US;
    insert(t, PAWL_TABLE_WORK, &parked);
    insert(t, PAWL_TABLE_WORK, &waiting);
    add_work(t, "due", now - 5);
    assert_string_equal(taken_ids(t, 10), "due,parked");
    assert_string_equal(taken_ids(t, 10), "");
}

/* Its owner does not find it: claims tell of due mail. */
static void expired_mail_is_taken_though_another_node_owns_its_instance(struct contract *t)
{
    struct pawl_work_row mail = some_work(t, pawl__str("mail"), PAWL_TIME_NEVER);

    mail.instance_id = create_instance(t, "i");
    mail.expires_us = now_us(t) - 1;
    assert_code(claim_one(t, t->b, t->node_b, mail.instance_id).status, PAWL_OK);
    insert(t, PAWL_TABLE_WORK, &mail);
    assert_string_equal(taken_ids(t, 10), "mail");
}

/* What was made due has its turn then, and is not given up before. */
static void work_that_is_due_later_does_not_expire(struct contract *t)
{
    struct pawl_work_row later = some_work(t, pawl__str("later"), now_us(t) + HOUR_US);

    later.expires_us = now_us(t) - 1;
    insert(t, PAWL_TABLE_WORK, &later);
    assert_string_equal(taken_ids(t, 10), "");
}

static const char *ids_of_share(struct contract *t, const char *definition, bool only)
{
    const struct pawl_str listed[] = {pawl__str("nobody's"), pawl__str(definition)};
    const struct pawl_str kinds[] = {pawl__str("urgent"), pawl__str("more \"urgent\"")};
    const struct pawl_take take = {.owner = t->node_a,
                                   .limit = 10,
                                   .definitions = listed,
                                   .definition_count = 2,
                                   .only = only,
                                   .unshared_kinds = kinds,
                                   .unshared_kind_count = 2};
    struct pawl_taken taken;
    const char *ids;

    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    ids = ids_of(t, &taken);
    for (size_t i = 0; i < taken.runnable_count; i++)
        ids = pawl__arena_printf(&t->arena, "%s+%.*s", ids, PAWL_STR_ARG(taken.runnable[i]));
    return ids;
}

static void add_start(struct contract *t, const char *id, const char *definition, int64_t due_us)
{
    struct pawl_work_row row = some_work(t, text(t, "%s", id), due_us);

    row.definition_id = text(t, "%s", definition);
    insert(t, PAWL_TABLE_WORK, &row);
}

static void starts_are_taken_by_definition(struct contract *t)
{
    int64_t now = now_us(t);

    add_start(t, "a", "heavy \"one\"", now - 5);
    add_start(t, "b", "light", now - 4);
    add_start(t, "c", "heavy \"one\"", now - 3);
    add_start(t, "d", "", now - 2);
    add_start(t, "e", "light", now + HOUR_US);
    assert_string_equal(ids_of_share(t, "heavy \"one\"", false), "b,d");
    assert_string_equal(ids_of_share(t, "light", true), "");
    assert_string_equal(ids_of_share(t, "heavy \"one\"", true), "a,c");
}

/* But for the kinds that the take names; a store knows of none itself. */
static void mail_is_taken_by_the_definition_of_its_instance(struct contract *t)
{
    const char *const ids[] = {"heavy", "light"};
    int64_t now = now_us(t);

    for (int i = 0; i < 2; i++) {
        struct pawl_instance_row row = some_instance(t, pawl__str(ids[i]));
        struct pawl_work_row mail = some_work(t, text(t, "mail-%s", ids[i]), now - 4 + i);
        struct pawl_work_row urgent = some_work(t, text(t, "urgent-%s", ids[i]), now - 2 + i);
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

        row.definition_id = row.id;
        mail.instance_id = urgent.instance_id = row.id;
        mail.definition_id = urgent.definition_id = pawl__str("");
        mail.kind = pawl__str("cancel");
        urgent.kind = pawl__str(i ? "more \"urgent\"" : "urgent");
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
        insert(t, PAWL_TABLE_WORK, &mail);
        insert(t, PAWL_TABLE_WORK, &urgent);
    }
    assert_string_equal(ids_of_share(t, "heavy", false), "mail-light,urgent-heavy,urgent-light");
    assert_string_equal(ids_of_share(t, "heavy", true), "mail-heavy");
}

static void runnable_instances_are_told_by_definition(struct contract *t)
{
    const char *const ids[] = {"heavy", "light", "heavy", "light"};

    for (int i = 0; i < 4; i++) {
        struct pawl_instance_row row = some_instance(t, text(t, "%s-%d", ids[i], i));
        struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};

        row.definition_id = pawl__str(ids[i]);
        row.runnable = 1;
        row.owner = i < 2 ? 0 : join(t, t->a, "dead", 0);
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    }
    assert_string_equal(ids_of_share(t, "heavy", false), "+light-1+light-3");
    assert_string_equal(ids_of_share(t, "heavy", true), "+heavy-0+heavy-2");
    assert_string_equal(ids_of_share(t, "other", true), "");
}

/* "i1,i2", sorted: their order is not promised. */
static const char *runnable_ids(struct contract *t, uint32_t limit)
{
    struct pawl_taken taken = take_some(t, t->b, t->node_b, limit);
    struct pawl_str last = pawl__str("");
    const char *ids = "";

    for (size_t i = 0; i < taken.runnable_count; i++) {
        struct pawl_str next = pawl__str("~"); /* behind all of them */

        for (size_t n = 0; n < taken.runnable_count; n++)
            if (pawl__str_compare(taken.runnable[n], last) > 0 &&
                pawl__str_compare(taken.runnable[n], next) < 0)
                next = taken.runnable[n];
        last = next;
        ids = pawl__arena_printf(&t->arena, "%s%s%.*s", ids, i ? "," : "", PAWL_STR_ARG(next));
    }
    return ids;
}

static void what_is_set_aside_is_not_told(struct contract *t)
{
    const struct {
        const char *id;
        int64_t retry_us;
    } rows[] = {{"before", 1}, {"never", PAWL_TIME_NEVER}, {"later", now_us(t) + HOUR_US}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_instance_row row = some_instance(t, pawl__str(rows[i].id));
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

        row.runnable = 1;
        row.retry_us = rows[i].retry_us;
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    }
    assert_string_equal(runnable_ids(t, 10), "before");
    assert_code(claim_one(t, t->b, t->node_b, pawl__str("never")).status, PAWL_OK);
}

static void mail_of_what_is_set_aside_is_not_taken(struct contract *t)
{
    const struct {
        const char *id;
        int64_t retry_us;
    } rows[] = {{"before", 1}, {"never", PAWL_TIME_NEVER}, {"later", now_us(t) + HOUR_US}};
    struct pawl_taken taken;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_instance_row row = some_instance(t, pawl__str(rows[i].id));
        struct pawl_work_row mail = some_work(t, text(t, "mail-%s", rows[i].id), 1);
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

        row.retry_us = rows[i].retry_us;
        mail.instance_id = row.id;
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
        insert(t, PAWL_TABLE_WORK, &mail);
    }
    taken = take_some(t, t->a, t->node_a, 10);
    assert_int_equal(taken.work_count, 1);
    assert_str(taken.work[0].id, "mail-before");
    assert_int_equal(claim_one(t, t->b, t->node_b, pawl__str("never")).mail_count, 1);
}

static void mail_of_what_is_set_aside_is_taken_when_that_is_to_be_cancelled(struct contract *t)
{
    struct pawl_instance_row row = some_instance(t, pawl__str("never"));
    struct pawl_work_row mail = some_work(t, pawl__str("mail"), 1);
    struct pawl_commit create = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};
    struct pawl_taken taken;

    row.retry_us = PAWL_TIME_NEVER;
    row.runnable = 1;
    mail.instance_id = row.id;
    assert_code(apply_one(t, t->a, &create), PAWL_OK);
    insert(t, PAWL_TABLE_WORK, &mail);
    assert_int_equal(take_some(t, t->a, t->node_a, 10).work_count, 0);
    assert_code(apply_one(t, t->a, &cancel), PAWL_OK);
    taken = take_some(t, t->a, t->node_a, 10);
    assert_int_equal(taken.work_count, 1);
    assert_str(taken.work[0].id, "mail");
    /* The instance itself is not named: its mail says it. */
    assert_int_equal(taken.runnable_count, 0);
}

/* One that a node may not run hides no other one from it. */
static void runnable_instances_can_be_skipped(struct contract *t)
{
    struct pawl_take take = {.owner = t->node_a, .limit = 2};
    bool seen[5] = {false};

    for (int i = 0; i < 5; i++) {
        struct pawl_instance_row row = some_instance(t, text(t, "%d", i));
        struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};

        row.runnable = i < 3;
        row.owner = i < 3 ? 0 : join(t, t->a, "dead", 0);
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    }
    for (; take.runnable_skip < 6; take.runnable_skip += 2) {
        struct pawl_taken taken;

        assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
        assert_int_equal(taken.runnable_count, take.runnable_skip < 4 ? 2 : 1);
        for (size_t i = 0; i < taken.runnable_count; i++) {
            assert_false(seen[taken.runnable[i].ptr[0] - '0']);
            seen[taken.runnable[i].ptr[0] - '0'] = true;
        }
    }
}

static void runnable_instances_without_a_living_owner_are_told(struct contract *t)
{
    struct pawl_instance_row idle = some_instance(t, pawl__str("idle"));
    struct pawl_instance_row runnable = some_instance(t, pawl__str("runnable"));
    struct pawl_instance_row orphan = some_instance(t, pawl__str("orphan"));
    struct pawl_instance_row owned = some_instance(t, pawl__str("owned"));
    struct pawl_instance_row *rows[] = {&idle, &runnable, &orphan, &owned};

    runnable.runnable = 1;
    owned.runnable = 1;
    owned.owner = t->node_a;
    orphan.owner = join(t, t->a, "dead", 0);
    for (int i = 0; i < 4; i++) {
        struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = rows[i]};

        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    }
    assert_string_equal(runnable_ids(t, 10), "orphan,runnable");
    assert_int_equal(take_some(t, t->b, t->node_b, 1).runnable_count, 1);
    assert_string_equal(runnable_ids(t, 10), "orphan,runnable"); /* told, not claimed */
    leave(t, t->a, "node-a", t->node_a);
    assert_string_equal(runnable_ids(t, 10), "orphan,owned,runnable");
    assert_code(claim_one(t, t->b, t->node_b, runnable.id).status, PAWL_OK);
    assert_string_equal(runnable_ids(t, 10), "orphan,owned");
}

static const char *all_ids(struct contract *t, int64_t owner)
{
    struct pawl_taken taken = take_some(t, t->b, owner, 10);
    const char *ids = ids_of(t, &taken);

    for (size_t i = 0; i < taken.runnable_count; i++)
        ids = pawl__arena_printf(&t->arena, "%s+%.*s", ids, PAWL_STR_ARG(taken.runnable[i]));
    return ids;
}

/* As with claims: nodes whose clock has jumped would take from each other what they do. */
static void a_node_whose_lease_is_over_takes_only_what_nobody_has(struct contract *t)
{
    int64_t now = now_us(t), first = join(t, t->a, "first", 0), second = join(t, t->b, "second", 0);
    struct pawl_work_row expired = some_work(t, pawl__str("expired"), PAWL_TIME_NEVER);
    struct pawl_work_row begun = some_work(t, pawl__str("begun"), now - 9);
    struct pawl_instance_row busy = some_instance(t, pawl__str("busy"));
    struct pawl_instance_row own = some_instance(t, pawl__str("own"));
    struct pawl_instance_row ready = some_instance(t, pawl__str("ready"));
    struct pawl_instance_row *instances[] = {&busy, &own, &ready};
    struct pawl_taken taken;

    begun.owner = expired.owner = busy.owner = first;
    begun.takeovers = expired.takeovers = 0;
    expired.expires_us = now - 1;
    own.owner = second;
    ready.owner = 0;
    for (size_t i = 0; i < 3; i++) {
        struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = instances[i]};
        struct pawl_work_row mail =
            some_work(t, text(t, "mail-%.*s", PAWL_STR_ARG(instances[i]->id)), now - 5 + (int)i);

        instances[i]->runnable = 1;
        instances[i]->retry_us = 0;
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
        mail.instance_id = instances[i]->id;
        insert(t, PAWL_TABLE_WORK, &mail);
    }
    insert(t, PAWL_TABLE_WORK, &begun);
    insert(t, PAWL_TABLE_WORK, &expired);
    assert_string_equal(all_ids(t, second), "mail-own,mail-ready+ready");
    assert_string_equal(all_ids(t, second), "+ready"); /* nor what it has already */
    assert_same_row(PAWL_TABLE_WORK, find_where(t, PAWL_TABLE_WORK, "id", begun.id).rows, &begun);
    assert_string_equal(all_ids(t, INT64_C(1) << 50), "+ready");
    taken = take_some(t, t->b, t->node_b, 10);
    assert_string_equal(ids_of(t, &taken), "begun,mail-busy,mail-own,mail-ready,expired");
    assert_int_equal(taken.runnable_count, 3);
    assert_int_equal(taken.work[0].takeovers, 1);
    assert_int_equal(taken.work[4].takeovers, 1);
}

static void the_next_due_time_is_told_of_the_same_part_and_kind(struct contract *t)
{
    int64_t now = now_us(t);
    struct pawl_work_row row = some_work(t, pawl__str("w1"), now + 3 * HOUR_US);
    struct pawl_take take = {.owner = t->node_a, .limit = 10};
    struct pawl_taken taken = take_some(t, t->a, t->node_a, 10);

    assert_true(taken.next_due_us == PAWL_TIME_NEVER);
    insert(t, PAWL_TABLE_WORK, &row);
    row.id = pawl__str("w2");
    row.due_us = now + 2 * HOUR_US;
    row.part = 900;
    insert(t, PAWL_TABLE_WORK, &row);
    row.id = pawl__str("w3");
    row.due_us = now + HOUR_US;
    row.kind = pawl__str("timer");
    insert(t, PAWL_TABLE_WORK, &row);
    add_work(t, "due", now - 1);
    add_work(t, "parked", PAWL_TIME_NEVER);

    taken = take_some(t, t->a, t->node_a, 10);
    assert_int_equal(taken.next_due_us, now + HOUR_US);
    assert_true(taken.now_us >= now);
    take.kind = pawl__str("start");
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_int_equal(taken.next_due_us, now + 2 * HOUR_US);
    take.part_to = 100;
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_int_equal(taken.next_due_us, now + 3 * HOUR_US);
    take.kind = pawl__str("effect");
    assert_ok(pawl_store_take(t->a, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    assert_true(taken.next_due_us == PAWL_TIME_NEVER);
}

const struct contract_test contract_takes[] = {
    CONTRACT_TEST(due_work_is_taken_oldest_first),
    CONTRACT_TEST(taken_work_is_the_takers_and_otherwise_as_it_was),
    CONTRACT_TEST(no_more_is_taken_than_was_asked_for),
    CONTRACT_TEST(work_is_not_taken_twice),
    CONTRACT_TEST(work_is_taken_over_from_a_dead_node),
    CONTRACT_TEST(work_is_taken_over_from_an_earlier_incarnation_at_once),
    CONTRACT_TEST(takes_from_a_dead_node_are_counted),
    CONTRACT_TEST(mail_of_an_owned_instance_is_left_to_its_owner),
    CONTRACT_TEST(the_owner_of_an_instance_may_take_its_mail),
    CONTRACT_TEST(mail_of_an_instance_whose_owner_died_is_taken),
    CONTRACT_TEST(parts_and_kinds_are_taken_by_those_who_ask_for_them),
    CONTRACT_TEST(starts_are_taken_by_definition),
    CONTRACT_TEST(mail_is_taken_by_the_definition_of_its_instance),
    CONTRACT_TEST(runnable_instances_are_told_by_definition),
    CONTRACT_TEST(expired_work_is_taken_though_it_is_not_due),
    CONTRACT_TEST(expired_mail_is_taken_though_another_node_owns_its_instance),
    CONTRACT_TEST(work_that_is_due_later_does_not_expire),
    CONTRACT_TEST(what_is_set_aside_is_not_told),
    CONTRACT_TEST(mail_of_what_is_set_aside_is_not_taken),
    CONTRACT_TEST(mail_of_what_is_set_aside_is_taken_when_that_is_to_be_cancelled),
    CONTRACT_TEST(runnable_instances_can_be_skipped),
    CONTRACT_TEST(runnable_instances_without_a_living_owner_are_told),
    CONTRACT_TEST(a_node_whose_lease_is_over_takes_only_what_nobody_has),
    CONTRACT_TEST(the_next_due_time_is_told_of_the_same_part_and_kind),
    {0},
};
