/* SPDX-License-Identifier: Apache-2.0 */
#include "host/store_check.h"
#include "base/buf.h"
#include "unit/stores/shelf.h"

#include <stdio.h>

struct fixture {
    struct shelf shelf;
    struct pawl_buf findings; /* a line each */
    uint64_t rows;
};

static void open_fixture(struct fixture *f)
{
    shelf_open(&f->shelf);
    pawl__buf_init(&f->findings, &f->shelf.alloc.base, 1 << 20);
    f->rows = 0;
}

static void close_fixture(struct fixture *f)
{
    pawl__buf_release(&f->findings);
    shelf_close(&f->shelf);
}

static void load(struct fixture *f, enum pawl_table table, const void *row)
{
    struct shelf *shelf = &f->shelf;

    assert_ok(pawl_store_load(shelf->plain, table, row, 1, PAWL_FOREVER, &shelf->err), &shelf->err);
}

static void note(void *ctx, const char *text)
{
    struct pawl_buf *findings = ctx;

    pawl__buf_text(findings, text);
    pawl__buf_byte(findings, '\n');
}

static void expect(struct fixture *f, uint64_t expected_count, const char *expected)
{
    struct shelf *shelf = &f->shelf;
    uint64_t count = 99;

    assert_ok(pawl__store_check(shelf->env, shelf->plain, note, &f->findings, &count, &f->rows,
                                &shelf->err),
              &shelf->err);
    assert_string_equal(pawl__buf_cstr(&f->findings), expected);
    assert_int_equal(count, expected_count);
}

static struct pawl_instance_row instance(const char *id, const char *status)
{
    struct pawl_instance_row row = shelf_instance(id);

    row.status = pawl__str(status);
    row.fence = row.revision = row.revision_fence = 1;
    return row;
}

static void load_instance(struct fixture *f, struct pawl_instance_row row)
{
    load(f, PAWL_TABLE_INSTANCES, &row);
}

static void load_bookmark(struct fixture *f, const char *id, const char *instance_id)
{
    struct pawl_bookmark_row row = {.id = pawl__str(id), .instance_id = pawl__str(instance_id)};

    load(f, PAWL_TABLE_BOOKMARKS, &row);
}

static void load_page(struct fixture *f, const char *instance_id, int64_t first, int64_t count,
                      const char *data)
{
    struct pawl_journal_row row = {.instance_id = pawl__str(instance_id),
                                   .first_sequence = first,
                                   .count = count,
                                   .data = pawl__str(data)};

    load(f, PAWL_TABLE_JOURNAL, &row);
}

/* A page with as many records. */
static void load_journal(struct fixture *f, const char *instance_id, int64_t first, int64_t count)
{
    char data[512] = "{\"log\":[";
    size_t len = strlen(data);

    for (int64_t i = 0; i < count; i++)
        len += (size_t)snprintf(data + len, sizeof data - len, "%s{}", i > 0 ? "," : "");
    (void)snprintf(data + len, sizeof data - len, "],\"records\":[]}");
    load_page(f, instance_id, first, count, data);
}

static void load_definition(struct fixture *f, const char *id, const char *definition_id,
                            int64_t version, bool latest, bool published)
{
    struct pawl_definition_row row = {.id = pawl__str(id),
                                      .definition_id = pawl__str(definition_id),
                                      .version = version,
                                      .is_latest = latest,
                                      .is_published = published};

    load(f, PAWL_TABLE_DEFINITIONS, &row);
}

static void a_sound_store_has_no_findings(void **state)
{
    struct pawl_node_row node = {.id = pawl__str("n"), .incarnation = 5};
    struct pawl_trigger_row trigger = {.id = pawl__str("t"), .version_id = pawl__str("d:1")};
    struct pawl_work_row work = {.id = pawl__str("w"), .instance_id = pawl__str("a"), .part = 1023};
    struct pawl_work_row free_work = {.id = pawl__str("free")};
    struct pawl_reservation_row reservation = {.key = pawl__str("r")};
    struct pawl_instance_row owned = instance("b", "Running");
    struct fixture f;

    (void)state;
    open_fixture(&f);
    expect(&f, 0, "");
    assert_int_equal(f.rows, 0);
    load_instance(&f, instance("a", "Running"));
    load_instance(&f, instance("z", "Finished"));
    owned.owner = 3; /* an earlier incarnation of a node that joined again */
    load_instance(&f, owned);
    load(&f, PAWL_TABLE_NODES, &node);
    load_bookmark(&f, "k", "a");
    load(&f, PAWL_TABLE_WORK, &work);
    load(&f, PAWL_TABLE_WORK, &free_work);
    load(&f, PAWL_TABLE_RESERVATIONS, &reservation);
    load_journal(&f, "a", 4, 2);
    load_journal(&f, "a", 1, 3);
    load_journal(&f, "z", 1, 3);
    load_definition(&f, "d:1", "d", 1, false, true);
    load_definition(&f, "d:2", "d", 2, true, false);
    load(&f, PAWL_TABLE_TRIGGERS, &trigger);
    expect(&f, 0, "");
    assert_int_equal(f.rows, 14);
    close_fixture(&f);
}

static void damaged_counts_are_found(void **state)
{
    struct pawl_instance_row sound = instance("a", "Running"), damaged = instance("b", "Finished");
    struct fixture f;

    (void)state;
    open_fixture(&f);
    sound.counts = pawl__str("{\"root\":{\"Started\":1}}");
    load_instance(&f, sound);
    expect(&f, 0, "");
    damaged.counts = pawl__str("{\"root\":{\"Started\":");
    load_instance(&f, damaged);
    expect(&f, 1,
           "the counts of instance b are damaged: its next step resets them; 'pawl rm' deletes one "
           "that has ended\n");
    close_fixture(&f);
}

static void rows_of_missing_instances_are_found(void **state)
{
    struct pawl_work_row work = {.id = pawl__str("w"), .instance_id = pawl__str("x")};
    struct pawl_reservation_row reservation = {.key = pawl__str("r"),
                                               .instance_id = pawl__str("x")};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    load_bookmark(&f, "k", "x");
    load(&f, PAWL_TABLE_WORK, &work);
    load(&f, PAWL_TABLE_RESERVATIONS, &reservation);
    load_journal(&f, "y", 1, 1);
    load_journal(&f, "y", 2, 1);
    expect(&f, 4,
           "reservation r belongs to instance x, which does not exist\n"
           "work w belongs to instance x, which does not exist\n"
           "bookmark k belongs to instance x, which does not exist\n"
           "the journal has records of instance y, which does not exist\n");
    close_fixture(&f);
}

static void bookmarks_of_finished_instances_are_found(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    load_instance(&f, instance("a", "Finished"));
    load_bookmark(&f, "k", "a");
    expect(&f, 1, "bookmark k belongs to instance a, which is finished\n");
    close_fixture(&f);
}

static void wrong_numbers_are_found(void **state)
{
    struct pawl_instance_row row = instance("a", "Running");
    struct pawl_work_row work = {.id = pawl__str("w"), .part = 1024};
    struct pawl_node_row node = {.id = pawl__str("n"), .incarnation = 2};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    row.revision = 0;
    row.fence = 0;
    load_instance(&f, row);
    row = instance("b", "Running");
    row.owner = 3;
    row.revision_fence = 2;
    load_instance(&f, row);
    load(&f, PAWL_TABLE_WORK, &work);
    load(&f, PAWL_TABLE_NODES, &node);
    expect(&f, 6,
           "instance a has revision 0\n"
           "instance a has fence 0\n"
           "instance a was written under fence 1, but its fence is 0\n"
           "instance b was written under fence 2, but its fence is 1\n"
           "work w has part 1024\n"
           "instance b has owner 3, but the last incarnation of a node is 2\n");
    close_fixture(&f);
}

static void damaged_journals_are_found(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    load_instance(&f, instance("a", "Running"));
    load_page(&f, "a", 1, 1, "");
    load_page(&f, "a", 2, 2, "{\"log\":[{}],\"records\":[]}");
    load_page(&f, "a", 4, 1, "{\"log\":[{}");
    load_journal(&f, "a", 5, 1);
    expect(&f, 3,
           "the journal of instance a is damaged: its row 1 has not the 1 records that were "
           "written; what it did before and after that can be read\n"
           "the journal of instance a is damaged: its row 2 has not the 2 records that were "
           "written; what it did before and after that can be read\n"
           "the journal of instance a is damaged: its row 4 has not the 1 records that were "
           "written; what it did before and after that can be read\n");
    close_fixture(&f);
}

static void journals_that_overlap_are_found(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    load_instance(&f, instance("a", "Running"));
    load_instance(&f, instance("b", "Running"));
    load_journal(&f, "a", 3, 2);
    load_journal(&f, "b", 1, 100);
    load_journal(&f, "a", 1, 3);
    load_journal(&f, "b", 101, 0); /* activity records alone */
    load_journal(&f, "b", 102, -1);
    expect(&f, 2,
           "journal row 102 of instance b counts -1 records\n"
           "the journal of instance a overlaps: 3 records from 1, and others from 3\n");
    close_fixture(&f);
}

static void definitions_with_too_many_or_too_few_versions_are_found(void **state)
{
    struct pawl_trigger_row trigger = {.id = pawl__str("t"), .version_id = pawl__str("e:1")};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    load_definition(&f, "d:1", "d", 1, true, true);
    load_definition(&f, "d:2", "d", 2, true, true);
    load_definition(&f, "e:1", "e", 1, false, false);
    load(&f, PAWL_TABLE_TRIGGERS, &trigger);
    expect(&f, 4,
           "definition d has 2 latest versions of 2\n"
           "definition d has 2 published versions\n"
           "definition e has 0 latest versions of 1\n"
           "trigger t belongs to version e:1, which is not published\n");
    close_fixture(&f);
}

static void drop(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

/* What the check and the snapshot hold comes from the failing allocator, the rows do not. */
static int sweep_once(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_allocator usual = f->shelf.env->alloc;
    uint64_t count;
    int status;

    f->shelf.env->alloc = alloc->base;
    status = pawl__store_check(f->shelf.env, f->shelf.plain, drop, NULL, &count, NULL, NULL);
    f->shelf.env->alloc = usual;
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    load_instance(&f, instance("a", "Finished"));
    load_bookmark(&f, "k", "a");
    load_journal(&f, "a", 1, 3);
    load_definition(&f, "d:1", "d", 1, true, true);
    test_sweep_allocations(sweep_once, &f, 500);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_store_has_no_findings),
        cmocka_unit_test(damaged_counts_are_found),
        cmocka_unit_test(rows_of_missing_instances_are_found),
        cmocka_unit_test(bookmarks_of_finished_instances_are_found),
        cmocka_unit_test(wrong_numbers_are_found),
        cmocka_unit_test(damaged_journals_are_found),
        cmocka_unit_test(journals_that_overlap_are_found),
        cmocka_unit_test(definitions_with_too_many_or_too_few_versions_are_found),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("host/store_check", tests, NULL, NULL);
}
