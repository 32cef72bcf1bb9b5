/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: conditions, order, pages, totals. */
#include "contract/suite.h"

#include <stdlib.h>

static struct pawl_rows find(struct contract *t, const struct pawl_query *query)
{
    struct pawl_rows rows;

    assert_ok(pawl_store_find(t->a, query, &t->arena, &rows, soon_ns(t), &t->err), &t->err);
    return rows;
}

/* "w1,w2" of a query on work. */
static const char *found(struct contract *t, const struct pawl_query *query)
{
    struct pawl_rows rows = find(t, query);
    const struct pawl_work_row *work = rows.rows;
    const char *ids = "";

    for (size_t i = 0; i < rows.count; i++)
        ids =
            pawl__arena_printf(&t->arena, "%s%s%.*s", ids, i ? "," : "", PAWL_STR_ARG(work[i].id));
    return ids;
}

static uint32_t column(const char *name)
{
    return pawl_table_column(PAWL_TABLE_WORK, name);
}

/* Six rows: names as below, part 10, 20, 20, 30, 40, -5. */
static void add_six(struct contract *t)
{
    static const char *const names[] = {"Alpha", "beta",   "ALPHABET",
                                        "",      "al%ha_", "\xC3\x89t\xC3\xA9"};
    static const int parts[] = {10, 20, 20, 30, 40, -5};

    for (int i = 0; i < 6; i++) {
        struct pawl_work_row row = some_work(t, text(t, "w%d", i + 1), PAWL_TIME_NEVER);

        row.name = pawl__str(names[i]);
        row.part = parts[i];
        insert(t, PAWL_TABLE_WORK, &row);
    }
}

static const char *found_one(struct contract *t, const char *name, enum pawl_compare compare,
                             const char *word, int64_t number)
{
    const struct pawl_condition condition = {.column = column(name),
                                             .compare = compare,
                                             .value = {.text = pawl__str(word), .integer = number}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};

    return found(t, &query);
}

static void each_comparison_holds_for_numbers(struct contract *t)
{
    add_six(t);
    assert_string_equal(found_one(t, "part", PAWL_EQ, "", 20), "w2,w3");
    assert_string_equal(found_one(t, "part", PAWL_NE, "", 20), "w1,w4,w5,w6");
    assert_string_equal(found_one(t, "part", PAWL_LT, "", 20), "w1,w6");
    assert_string_equal(found_one(t, "part", PAWL_LE, "", 20), "w1,w2,w3,w6");
    assert_string_equal(found_one(t, "part", PAWL_GT, "", 20), "w4,w5");
    assert_string_equal(found_one(t, "part", PAWL_GE, "", 20), "w2,w3,w4,w5");
    assert_string_equal(found_one(t, "due_us", PAWL_EQ, "", INT64_MAX), "w1,w2,w3,w4,w5,w6");
    assert_string_equal(found_one(t, "part", PAWL_GT, "", INT64_MIN), "w1,w2,w3,w4,w5,w6");
}

static void each_comparison_holds_for_text_by_its_bytes(struct contract *t)
{
    add_six(t);
    assert_string_equal(found_one(t, "name", PAWL_EQ, "Alpha", 0), "w1");
    assert_string_equal(found_one(t, "name", PAWL_EQ, "alpha", 0), "");
    assert_string_equal(found_one(t, "name", PAWL_EQ, "", 0), "w4");
    assert_string_equal(found_one(t, "name", PAWL_NE, "", 0), "w1,w2,w3,w5,w6");
    assert_string_equal(found_one(t, "name", PAWL_LT, "Alpha", 0), "w3,w4");
    assert_string_equal(found_one(t, "name", PAWL_LE, "Alpha", 0), "w1,w3,w4");
    assert_string_equal(found_one(t, "name", PAWL_GT, "al%ha_", 0), "w2,w6");
    assert_string_equal(found_one(t, "name", PAWL_GE, "al%ha_", 0), "w2,w5,w6");
}

static void text_is_searched_without_case_of_ascii_and_without_wildcards(struct contract *t)
{
    add_six(t);
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "alPHa", 0), "w1,w3");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "ET", 0), "w2,w3");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "%", 0), "w5");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "_", 0), "w5");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "\\", 0), "");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "", 0), "w1,w2,w3,w4,w5,w6");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "\xC3\x89", 0), "w6");
    assert_string_equal(found_one(t, "name", PAWL_CONTAINS, "\xC3\xA9T", 0), "");
}

static void one_of_a_list_is_found_by_text_and_by_number(struct contract *t)
{
    const struct pawl_datum words[] = {{.text = pawl__str("beta")},
                                       {.text = pawl__str("none")},
                                       {.text = pawl__str("Alpha")},
                                       {.text = pawl__str("beta")},
                                       {.text = pawl__str("")}};
    const struct pawl_datum numbers[] = {{.integer = 20}, {.integer = -5}};
    struct pawl_condition condition = {
        .column = column("name"), .compare = PAWL_IN, .values = words, .value_count = 5};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};

    add_six(t);
    assert_string_equal(found(t, &query), "w1,w2,w4");
    condition.column = column("part");
    condition.values = numbers;
    condition.value_count = 2;
    assert_string_equal(found(t, &query), "w2,w3,w6");
    condition.value_count = 0;
    assert_string_equal(found(t, &query), "");
}

static void a_list_may_have_a_thousand_values(struct contract *t)
{
    static struct pawl_datum values[PAWL_STORE_VALUES_MAX + 1];
    struct pawl_condition condition = {.column = column("id"),
                                       .compare = PAWL_IN,
                                       .values = values,
                                       .value_count = PAWL_STORE_VALUES_MAX};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;

    add_six(t);
    for (int i = 0; i <= PAWL_STORE_VALUES_MAX; i++)
        values[i].text = text(t, "w%d", i);
    assert_string_equal(found(t, &query), "w1,w2,w3,w4,w5,w6");
    condition.value_count++;
    assert_code(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), PAWL_ELIMIT);
}

static void conditions_must_all_hold_and_of_a_group_one(struct contract *t)
{
    struct pawl_condition conditions[] = {
        {.column = column("part"), .compare = PAWL_GE, .value = {.integer = 10}},
        {.column = column("name"),
         .compare = PAWL_EQ,
         .any = 1,
         .value = {.text = pawl__str("beta")}},
        {.column = column("part"), .compare = PAWL_EQ, .any = 1, .value = {.integer = 40}},
        {.column = column("id"), .compare = PAWL_NE, .any = 2, .value = {.text = pawl__str("w5")}},
        {.column = column("part"), .compare = PAWL_LT, .any = 2, .value = {.integer = 0}},
        {.column = column("kind"), .compare = PAWL_EQ, .value = {.text = pawl__str("start")}},
    };
    struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = conditions, .condition_count = 3};

    add_six(t);
    assert_string_equal(found(t, &query), "w2,w5");
    query.condition_count = 6;
    assert_string_equal(found(t, &query), "w2");
    conditions[5].value.text = pawl__str("other");
    assert_string_equal(found(t, &query), "");
}

static void rows_come_in_the_order_asked_for_and_then_by_key(struct contract *t)
{
    struct pawl_query query = {.table = PAWL_TABLE_WORK};

    add_six(t);
    assert_string_equal(found(t, &query), "w1,w2,w3,w4,w5,w6");
    query.flags = PAWL_QUERY_DESCENDING;
    assert_string_equal(found(t, &query), "w6,w5,w4,w3,w2,w1");
    query.order = column("part");
    assert_string_equal(found(t, &query), "w5,w4,w3,w2,w1,w6");
    query.flags = 0;
    assert_string_equal(found(t, &query), "w6,w1,w2,w3,w4,w5");
    query.order = column("name");
    assert_string_equal(found(t, &query), "w4,w3,w1,w5,w2,w6");
}

static void offset_and_limit_cut_a_page(struct contract *t)
{
    struct pawl_query query = {.table = PAWL_TABLE_WORK, .limit = 2};

    add_six(t);
    assert_string_equal(found(t, &query), "w1,w2");
    query.offset = 3;
    assert_string_equal(found(t, &query), "w4,w5");
    query.offset = 5;
    assert_string_equal(found(t, &query), "w6");
    query.offset = 6;
    assert_string_equal(found(t, &query), "");
    query.offset = INT64_MAX;
    assert_string_equal(found(t, &query), "");
}

static void without_a_limit_there_are_a_hundred_rows_and_too_many_are_refused(struct contract *t)
{
    struct pawl_query query = {.table = PAWL_TABLE_SETTINGS};
    struct pawl_rows rows;

    for (int i = 0; i < PAWL_STORE_ROWS_DEFAULT + 5; i++) {
        const struct pawl_setting_row row = {.key = text(t, "%03d", i)};

        insert(t, PAWL_TABLE_SETTINGS, &row);
    }
    assert_int_equal(find(t, &query).count, PAWL_STORE_ROWS_DEFAULT);
    query.limit = PAWL_STORE_ROWS_MAX;
    assert_int_equal(find(t, &query).count, PAWL_STORE_ROWS_DEFAULT + 5);
    query.limit++;
    assert_code(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), PAWL_ELIMIT);
}

static void counts_and_totals_are_of_all_that_match(struct contract *t)
{
    const struct pawl_condition condition = {
        .column = column("part"), .compare = PAWL_GE, .value = {.integer = 10}};
    const struct pawl_work_row after = {.id = pawl__str("w1")};
    struct pawl_query query = {.table = PAWL_TABLE_WORK,
                               .conditions = &condition,
                               .condition_count = 1,
                               .limit = 2,
                               .offset = 1,
                               .after = &after};
    struct pawl_rows rows;

    add_six(t);
    query.flags = PAWL_QUERY_TOTAL;
    rows = find(t, &query);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.total, 5);
    query.flags = PAWL_QUERY_COUNT;
    rows = find(t, &query);
    assert_int_equal(rows.count, 0);
    assert_int_equal(rows.total, 5);
}

static void a_brief_answer_has_no_bytes(struct contract *t)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES, .flags = PAWL_QUERY_BRIEF};
    struct pawl_str id = create_instance(t, "i");
    struct pawl_instance_row expected = *instance_row(t, id);
    struct pawl_rows rows = find(t, &query);

    assert_int_equal(rows.count, 1);
    expected.state = expected.counts = pawl__str("");
    assert_same_row(PAWL_TABLE_INSTANCES, rows.rows, &expected);
}

/* Walks a query page by page behind the last row seen; each row must come once, in order. */
static void check_walk(struct contract *t, struct pawl_query query, size_t expected)
{
    size_t size = pawl_table_info(query.table)->row_size, count = 0;
    struct pawl_query whole = query;
    struct pawl_rows all, page;

    whole.limit = PAWL_STORE_ROWS_MAX;
    all = find(t, &whole);
    assert_int_equal(all.count, expected);
    query.limit = 13;
    for (;;) {
        page = find(t, &query);
        for (size_t i = 0; i < page.count; i++, count++) {
            assert_true(count < all.count);
            assert_same_row(query.table, (const char *)page.rows + i * size,
                            (const char *)all.rows + count * size);
        }
        if (page.count == 0)
            break;
        query.after = (const char *)page.rows + (page.count - 1) * size;
    }
    assert_int_equal(count, all.count);
}

static void a_walk_behind_the_last_row_meets_each_once(struct contract *t)
{
    static const char *const orders[] = {"id", "part", "name", "due_us", "payload"};
    const struct pawl_condition condition = {
        .column = column("part"), .compare = PAWL_LT, .value = {.integer = 4}};
    struct pawl_query query = {.table = PAWL_TABLE_WORK};
    uint64_t seed = 5;

    for (int i = 0; i < 150; i++) {
        struct pawl_work_row row = some_work(t, text(t, "w%08x", (unsigned)test_random(&seed)),
                                             (int64_t)(test_random(&seed) % 5));

        row.part = (int64_t)(test_random(&seed) % 7);
        row.name = text(t, "%c", (char)('a' + test_random(&seed) % 4));
        row.payload = text(t, "%c", (char)('a' + test_random(&seed) % 4));
        insert(t, PAWL_TABLE_WORK, &row);
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        query.order = column(orders[i]);
        query.flags = 0;
        check_walk(t, query, 150);
        query.flags = PAWL_QUERY_DESCENDING;
        check_walk(t, query, 150);
    }
    query.conditions = &condition;
    query.condition_count = 1;
    query.order = column("part");
    check_walk(t, query,
               (size_t)(find(t, &(struct pawl_query){.table = PAWL_TABLE_WORK,
                                                     .flags = PAWL_QUERY_COUNT,
                                                     .conditions = &condition,
                                                     .condition_count = 1})
                            .total));
}

static void a_walk_goes_by_all_columns_of_a_key(struct contract *t)
{
    struct pawl_query query = {.table = PAWL_TABLE_JOURNAL};

    for (int i = 0; i < 60; i++) {
        struct pawl_journal_row row = some_journal(t, text(t, "i%d", i % 3), 100 - i);

        row.count = i % 2;
        insert(t, PAWL_TABLE_JOURNAL, &row);
    }
    check_walk(t, query, 60);
    query.flags = PAWL_QUERY_DESCENDING;
    check_walk(t, query, 60);
    query.order = pawl_table_column(PAWL_TABLE_JOURNAL, "count");
    check_walk(t, query, 60);
}

static void a_query_that_makes_no_sense_is_refused(struct contract *t)
{
    struct pawl_condition conditions[PAWL_STORE_CONDITIONS_MAX + 1] = {
        {.column = column("part"), .compare = PAWL_CONTAINS}};
    struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = conditions, .condition_count = 1};
    struct pawl_rows rows;

    assert_code(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), PAWL_EINVAL);
    conditions[0] = (struct pawl_condition){.column = 1000};
    assert_code(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), PAWL_EINVAL);
    query.condition_count = 0;
    query.order = 1000;
    assert_code(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), PAWL_EINVAL);
    query.order = 0;
    query.condition_count = PAWL_STORE_CONDITIONS_MAX + 1;
    for (int i = 0; i <= PAWL_STORE_CONDITIONS_MAX; i++)
        conditions[i] = (struct pawl_condition){.column = 0};
    assert_code(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), PAWL_ELIMIT);
}

/* ---- several at once ----------------------------------------------------------------------- */

static void assert_same_rows(enum pawl_table table, const struct pawl_rows *a,
                             const struct pawl_rows *b)
{
    size_t size = pawl_table_info(table)->row_size;

    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->cut, b->cut);
    for (size_t i = 0; i < a->count; i++)
        assert_same_row(table, (const char *)a->rows + i * size, (const char *)b->rows + i * size);
}

/* Of several tables, rows alone, totals alone, both, none that match, a scan that is cut. */
static void queries_at_once_return_what_each_returns_alone(struct contract *t)
{
    const struct pawl_condition some = {.column = column("part"), .value = {.integer = 20}};
    const struct pawl_condition none = {.column = column("name"),
                                        .value = {.text = pawl__str("nobody")}};
    const struct pawl_condition scanned = {
        .column = column("name"), .compare = PAWL_CONTAINS, .value = {.text = pawl__str("alpha")}};
    const struct pawl_query queries[PAWL_STORE_QUERIES_MAX] = {
        {.table = PAWL_TABLE_WORK, .conditions = &some, .condition_count = 1},
        {.table = PAWL_TABLE_SETTINGS},
        {.table = PAWL_TABLE_WORK, .flags = PAWL_QUERY_COUNT},
        {.table = PAWL_TABLE_WORK, .flags = PAWL_QUERY_TOTAL, .limit = 2},
        {.table = PAWL_TABLE_WORK, .conditions = &none, .condition_count = 1},
        {.table = PAWL_TABLE_WORK,
         .flags = PAWL_QUERY_TOTAL,
         .conditions = &scanned,
         .condition_count = 1,
         .scan_limit = 3},
        {.table = PAWL_TABLE_WORK, .flags = PAWL_QUERY_DESCENDING | PAWL_QUERY_BRIEF},
        {.table = PAWL_TABLE_BOOKMARKS},
    };
    const struct pawl_setting_row setting = {.key = pawl__str("k"), .value = pawl__str("v")};
    struct pawl_rows rows[PAWL_STORE_QUERIES_MAX];

    add_six(t);
    insert(t, PAWL_TABLE_SETTINGS, &setting);
    for (size_t count = 1; count <= PAWL_STORE_QUERIES_MAX; count++) {
        assert_ok(pawl_store_find_many(t->a, queries, count, &t->arena, rows, soon_ns(t), &t->err),
                  &t->err);
        for (size_t i = 0; i < count; i++) {
            struct pawl_rows alone = find(t, &queries[i]);

            assert_same_rows(queries[i].table, &rows[i], &alone);
        }
    }
    assert_int_equal(rows[0].count, 2);
    assert_int_equal(rows[1].count, 1);
    assert_int_equal(rows[2].total, 6);
    assert_int_equal(rows[3].count, 2);
    assert_int_equal(rows[3].total, 6);
    assert_int_equal(rows[4].count, 0);
    assert_int_equal(rows[6].count, 6);
    assert_int_equal(rows[7].count, 0);
    /* No query is no work. */
    assert_ok(pawl_store_find_many(t->a, NULL, 0, &t->arena, NULL, soon_ns(t), &t->err), &t->err);
}

static void one_that_fails_among_several_leaves_all_unwritten(struct contract *t)
{
    const struct pawl_condition wrong = {.column = 1000};
    const struct pawl_query good = {.table = PAWL_TABLE_WORK};
    const struct pawl_query bad = {
        .table = PAWL_TABLE_WORK, .conditions = &wrong, .condition_count = 1};
    struct pawl_query queries[PAWL_STORE_QUERIES_MAX + 1] = {good, bad, good};
    struct pawl_rows rows[PAWL_STORE_QUERIES_MAX + 1] = {
        {.count = 77}, {.count = 77}, {.count = 77}};

    add_six(t);
    assert_code(pawl_store_find_many(t->a, queries, 3, &t->arena, rows, soon_ns(t), &t->err),
                PAWL_EINVAL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rows[i].count, 77);
    for (size_t i = 0; i <= PAWL_STORE_QUERIES_MAX; i++)
        queries[i] = good;
    assert_code(pawl_store_find_many(t->a, queries, PAWL_STORE_QUERIES_MAX + 1, &t->arena, rows,
                                     soon_ns(t), &t->err),
                PAWL_ELIMIT);
    assert_int_equal(rows[0].count, 77);
    /* The store goes on. */
    assert_ok(pawl_store_find_many(t->a, queries, 2, &t->arena, rows, soon_ns(t), &t->err),
              &t->err);
    assert_int_equal(rows[1].count, 6);
}

const struct contract_test contract_queries[] = {
    CONTRACT_TEST(each_comparison_holds_for_numbers),
    CONTRACT_TEST(each_comparison_holds_for_text_by_its_bytes),
    CONTRACT_TEST(text_is_searched_without_case_of_ascii_and_without_wildcards),
    CONTRACT_TEST(one_of_a_list_is_found_by_text_and_by_number),
    CONTRACT_TEST(a_list_may_have_a_thousand_values),
    CONTRACT_TEST(conditions_must_all_hold_and_of_a_group_one),
    CONTRACT_TEST(rows_come_in_the_order_asked_for_and_then_by_key),
    CONTRACT_TEST(offset_and_limit_cut_a_page),
    CONTRACT_TEST(without_a_limit_there_are_a_hundred_rows_and_too_many_are_refused),
    CONTRACT_TEST(counts_and_totals_are_of_all_that_match),
    CONTRACT_TEST(a_brief_answer_has_no_bytes),
    CONTRACT_TEST(a_walk_behind_the_last_row_meets_each_once),
    CONTRACT_TEST(a_walk_goes_by_all_columns_of_a_key),
    CONTRACT_TEST(a_query_that_makes_no_sense_is_refused),
    CONTRACT_TEST(queries_at_once_return_what_each_returns_alone),
    CONTRACT_TEST(one_that_fails_among_several_leaves_all_unwritten),
    {0},
};
