/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of instances as people look at them: every order, both ways, page by page, beside filters,
 * and with a bound on how many rows may be looked at. What a list must be is computed here, from
 * all rows.
 */
#include "contract/suite.h"

#include <stdlib.h>
#include <string.h>

#define COUNT 60
#define PAGE 12

static const char *const orders[] = {"id", "created_us", "updated_us", "finished_us", "name"};

/* Most have no name, or have not ended; some end before 1970. */
static void fill(struct contract *t)
{
    static const char *const names[] = {"", "", "b", "a", "", "\xC3\x89", "a"};
    static const int64_t ends[] = {0, 500, 0, -3, 0, 400, 500, 0};

    for (int i = 0; i < COUNT; i++) {
        struct pawl_instance_row row = some_instance(t, text(t, "i%02d", i * 37 % COUNT));
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

        row.name = pawl__str(names[i % 7]);
        row.finished_us = ends[i % 8];
        row.status = pawl__str(row.finished_us ? "Finished" : "Running");
        row.sub_status = pawl__str(i % 8 == 1 ? "Faulted" : i % 8 % 2 ? "Finished" : "Suspended");
        row.definition_id = pawl__str(i % 3 ? "order" : "invoice");
        row.version_id = pawl__str(i % 3 ? "order:1" : "invoice:1");
        row.is_system = i % 5 == 0;
        row.incident_count = i % 8 == 1;
        row.created_us = 1000 + i / 2;
        row.updated_us = 5000 - i / 4;
        row.id_hash = i % 4;
        assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    }
}

/* ---- what it must be ------------------------------------------------------------------------ */

struct wanted {
    uint32_t order;
    bool down;
};

static int compare_column(uint32_t column, const void *a, const void *b)
{
    const struct pawl_column *c = &pawl_table_info(PAWL_TABLE_INSTANCES)->columns[column];
    struct pawl_str x, y;
    int64_t n, m;

    if (c->type == PAWL_COLUMN_INT) {
        memcpy(&n, (const char *)a + c->offset, sizeof n);
        memcpy(&m, (const char *)b + c->offset, sizeof m);
        return (n > m) - (n < m);
    }
    memcpy(&x, (const char *)a + c->offset, sizeof x);
    memcpy(&y, (const char *)b + c->offset, sizeof y);
    return pawl__str_compare(x, y);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct wanted *wanted = ctx;
    int order = compare_column(wanted->order, a, b);

    if (order == 0)
        order = compare_column(0, a, b);
    return wanted->down ? -order : order;
}

static bool holds(const struct pawl_condition *c, const void *row)
{
    const struct pawl_column *column = &pawl_table_info(PAWL_TABLE_INSTANCES)->columns[c->column];
    struct pawl_str value;
    int64_t n;

    if (column->type == PAWL_COLUMN_INT) {
        memcpy(&n, (const char *)row + column->offset, sizeof n);
        return (n == c->value.integer) == (c->compare == PAWL_EQ);
    }
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return pawl__str_equal(value, c->value.text) == (c->compare == PAWL_EQ);
}

static size_t make_wanted(struct contract *t, const struct pawl_query *query,
                          struct pawl_instance_row *out)
{
    struct pawl_rows all = find_where(t, PAWL_TABLE_INSTANCES, "", pawl__str(""));
    struct wanted wanted = {query->order, (query->flags & PAWL_QUERY_DESCENDING) != 0};
    size_t count = 0;

    assert_int_equal(all.count, COUNT);
    for (size_t i = 0; i < all.count; i++) {
        const struct pawl_instance_row *row = (const struct pawl_instance_row *)all.rows + i;
        bool match = true;

        for (size_t c = 0; c < query->condition_count; c++)
            match = match && holds(&query->conditions[c], row);
        if (match)
            out[count++] = *row;
    }
    qsort_r(out, count, sizeof *out, compare_rows, &wanted);
    return count;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static struct pawl_rows ask(struct contract *t, const struct pawl_query *query)
{
    struct pawl_rows rows;

    assert_ok(pawl_store_find(t->a, query, &t->arena, &rows, soon_ns(t), &t->err), &t->err);
    return rows;
}

/* Page by page to the end, by the last row and by offset. */
static void check_list(struct contract *t, struct pawl_query query)
{
    struct pawl_instance_row wanted[COUNT];
    size_t count = make_wanted(t, &query, wanted), at = 0;

    query.flags |= PAWL_QUERY_TOTAL;
    query.limit = PAGE;
    for (;;) {
        struct pawl_rows rows = ask(t, &query), skipped;
        struct pawl_query by_offset = query;

        by_offset.after = NULL;
        by_offset.offset = at;
        skipped = ask(t, &by_offset);
        assert_false(rows.cut);
        assert_int_equal(rows.total, count);
        assert_int_equal(rows.count, count - at < PAGE ? count - at : PAGE);
        assert_int_equal(skipped.count, rows.count);
        for (size_t i = 0; i < rows.count; i++) {
            const struct pawl_instance_row *row = (const struct pawl_instance_row *)rows.rows + i;

            assert_same_str(row->id, wanted[at + i].id);
            assert_same_str(((const struct pawl_instance_row *)skipped.rows)[i].id, row->id);
        }
        at += rows.count;
        if (rows.count < PAGE)
            break;
        query.after = (const struct pawl_instance_row *)rows.rows + rows.count - 1;
    }
    assert_int_equal(at, count);
}

static struct pawl_condition is_text(const char *column, const char *value)
{
    return (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, column),
                                   .value = {.text = pawl__str(value)}};
}

static struct pawl_condition is_number(const char *column, enum pawl_compare compare, int64_t value)
{
    return (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, column),
                                   .compare = compare,
                                   .value = {.integer = value}};
}

static void check_every_order(struct contract *t, const struct pawl_condition *conditions,
                              size_t count)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        for (uint32_t scan = 0; scan <= 2 * COUNT; scan += 2 * COUNT)
            for (int down = 0; down < 2; down++) {
                const struct pawl_query query = {
                    .table = PAWL_TABLE_INSTANCES,
                    .flags = PAWL_QUERY_BRIEF | (down ? PAWL_QUERY_DESCENDING : 0),
                    .conditions = conditions,
                    .condition_count = count,
                    .order = pawl_table_column(PAWL_TABLE_INSTANCES, orders[i]),
                    .scan_limit = scan};

                check_list(t, query);
            }
}

static void lists_are_in_every_order(struct contract *t)
{
    fill(t);
    check_every_order(t, NULL, 0);
}

static void lists_have_what_every_filter_says(struct contract *t)
{
    const struct pawl_condition filters[][3] = {
        {is_number("is_system", PAWL_EQ, 0)},
        {is_text("status", "Running"), is_number("is_system", PAWL_EQ, 0)},
        {is_text("status", "Finished"), is_text("sub_status", "Finished")},
        {is_text("sub_status", "Faulted")},
        {is_text("sub_status", "Finished")},
        {is_text("definition_id", "order"), is_number("is_system", PAWL_EQ, 0)},
        {is_text("version_id", "order:1")},
        {is_text("version_id", "order:1"), is_text("status", "Running")},
        {is_number("incident_count", PAWL_NE, 0), is_number("is_system", PAWL_EQ, 0)},
        {is_number("finished_us", PAWL_NE, 0)},
        {is_number("finished_us", PAWL_EQ, 0)},
        {is_text("name", "a")},
        {is_text("name", "")},
        {is_number("id_hash", PAWL_EQ, 3)},
        {is_number("id_hash", PAWL_EQ, 0)},
    };

    fill(t);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        size_t count = 1;

        while (count < 3 && (filters[i][count].column != 0 || filters[i][count].value.text.ptr))
            count++;
        check_every_order(t, filters[i], count);
    }
}

/* A store that looks at fewer rows says so, and what it returns is what a list begins with. */
static void a_list_that_ends_early_says_so(struct contract *t)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "name"),
         .compare = PAWL_CONTAINS,
         .any = 1,
         .value = {.text = pawl__str("nothing has this")}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"),
         .compare = PAWL_CONTAINS,
         .any = 1,
         .value = {.text = pawl__str("I")}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                               .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_TOTAL | PAWL_QUERY_DESCENDING,
                               .conditions = conditions,
                               .condition_count = 2,
                               .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                               .limit = COUNT};
    struct pawl_rows all, some;

    fill(t);
    all = ask(t, &query);
    assert_int_equal(all.count, COUNT);
    query.scan_limit = 10;
    some = ask(t, &query);
    assert_int_equal(some.cut, some.total < COUNT);
    assert_true(some.total >= 10 && some.count >= 10);
    for (size_t i = 0; i < some.count; i++)
        assert_same_str(((const struct pawl_instance_row *)some.rows)[i].id,
                        ((const struct pawl_instance_row *)all.rows)[i].id);
    query.condition_count = 1; /* finds nothing */
    some = ask(t, &query);
    assert_int_equal(some.count, 0);
    query.scan_limit = COUNT + 1;
    assert_false(ask(t, &query).cut);
    query.condition_count = 0;
    assert_int_equal(ask(t, &query).total, COUNT);
}

const struct contract_test contract_lists[] = {
    CONTRACT_TEST(lists_are_in_every_order),
    CONTRACT_TEST(lists_have_what_every_filter_says),
    CONTRACT_TEST(a_list_that_ends_early_says_so),
    {NULL, NULL, CONTRACT_NEEDS_NOTHING},
};
