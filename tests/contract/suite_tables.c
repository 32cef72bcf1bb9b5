/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every table that commits write: each row is found as it was written, replaced and
 * deleted by its key, and rows that are an instance's own go with it, others stay. Which tables
 * there are is pawl_table_info()'s to say.
 */
#include "contract/suite.h"

#include <string.h>

static bool is_changeable(enum pawl_table table)
{
    return table != PAWL_TABLE_INSTANCES && table != PAWL_TABLE_NODES && table != PAWL_TABLE_STAMPS;
}

static bool has_column(enum pawl_table table, const char *name)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++)
        if (strcmp(info->columns[i].name, name) == 0)
            return true;
    return false;
}

/* The row with the key of `row`; NULL. */
static const void *find_by_key(struct contract *t, enum pawl_table table, const void *row)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    struct pawl_condition conditions[8] = {0};
    const struct pawl_query query = {
        .table = table, .conditions = conditions, .condition_count = info->key_count};
    struct pawl_rows rows;

    for (uint32_t i = 0; i < info->key_count; i++) {
        const char *at = (const char *)row + info->columns[i].offset;

        conditions[i].column = i;
        if (info->columns[i].type == PAWL_COLUMN_INT)
            memcpy(&conditions[i].value.integer, at, sizeof(int64_t));
        else
            memcpy(&conditions[i].value.text, at, sizeof(struct pawl_str));
    }
    assert_ok(pawl_store_find(t->b, &query, &t->arena, &rows, soon_ns(t), &t->err), &t->err);
    assert_true(rows.count <= 1);
    return rows.count > 0 ? rows.rows : NULL;
}

/* The same key, other values. */
static void *replaced(struct contract *t, enum pawl_table table, const void *row, int number,
                      struct pawl_str instance_id)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    char *other = any_row(t, table, number, instance_id);

    for (uint32_t i = 0; i < info->key_count; i++)
        memcpy(other + info->columns[i].offset, (const char *)row + info->columns[i].offset,
               info->columns[i].type == PAWL_COLUMN_INT ? sizeof(int64_t)
                                                        : sizeof(struct pawl_str));
    return other;
}

static void rows_of_every_table_are_written_read_replaced_and_deleted(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i1");

    for (int i = 0; i < PAWL_TABLE_COUNT; i++) {
        enum pawl_table table = (enum pawl_table)i;
        void *row = any_row(t, table, 1, id), *other = any_row(t, table, 2, id), *next;

        if (!is_changeable(table))
            continue;
        insert(t, table, row);
        insert(t, table, other);
        assert_same_row(table, find_by_key(t, table, row), row);
        assert_code(change_one(t, PAWL_CHANGE_INSERT, table, row), PAWL_EEXISTS);
        next = replaced(t, table, row, 3, id);
        assert_code(change_one(t, PAWL_CHANGE_ADD, table, next), PAWL_OK);
        assert_same_row(table, find_by_key(t, table, row), row);
        assert_code(change_one(t, PAWL_CHANGE_PUT, table, next), PAWL_OK);
        assert_same_row(table, find_by_key(t, table, row), next);
        assert_code(change_one(t, PAWL_CHANGE_DELETE, table, row), PAWL_OK);
        assert_null(find_by_key(t, table, row));
        assert_same_row(table, find_by_key(t, table, other), other);
    }
}

/* An instance goes with what is its own; what is another's, nobody's or a record of it stays. */
static void what_is_an_instance_s_own_goes_with_it(struct contract *t)
{
    struct pawl_instance_row mine = claimed_instance(t, "i1");
    struct pawl_str other = create_instance(t, "i2");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &mine};

    for (int i = 0; i < PAWL_TABLE_COUNT; i++)
        if (is_changeable((enum pawl_table)i)) {
            insert(t, (enum pawl_table)i, any_row(t, (enum pawl_table)i, 1, mine.id));
            insert(t, (enum pawl_table)i, any_row(t, (enum pawl_table)i, 2, other));
        }
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    for (int i = 0; i < PAWL_TABLE_COUNT; i++) {
        bool goes = pawl_table_info((enum pawl_table)i)->goes_with_instance;

        if (!is_changeable((enum pawl_table)i))
            continue;
        if (count_all(t, (enum pawl_table)i) != (goes ? 1u : 2u))
            fail_msg("%s: %d rows", pawl_table_info((enum pawl_table)i)->name,
                     (int)count_all(t, (enum pawl_table)i));
        if (goes)
            assert_non_null(
                find_by_key(t, (enum pawl_table)i, any_row(t, (enum pawl_table)i, 2, other)));
    }
}

static void rows_of_an_instance_are_deleted_together(struct contract *t)
{
    struct pawl_str id = create_instance(t, "i1"), other = create_instance(t, "i2");

    for (int i = 0; i < PAWL_TABLE_COUNT; i++) {
        enum pawl_table table = (enum pawl_table)i;

        if (!is_changeable(table) || !has_column(table, "instance_id"))
            continue;
        insert(t, table, any_row(t, table, 1, id));
        insert(t, table, any_row(t, table, 2, id));
        insert(t, table, any_row(t, table, 3, other));
        assert_code(change_one(t, PAWL_CHANGE_DELETE_OWNED, table, any_row(t, table, 9, id)),
                    PAWL_OK);
        assert_int_equal(count_all(t, table), 1);
        assert_non_null(find_by_key(t, table, any_row(t, table, 3, other)));
    }
}

static void a_document_s_name_is_unique_in_its_kind(struct contract *t)
{
    struct pawl_document_row row = {.kind = pawl__str("user"),
                                    .id = pawl__str("1"),
                                    .name = pawl__str("ann"),
                                    .expires_us = PAWL_TIME_NEVER};

    insert(t, PAWL_TABLE_DOCUMENTS, &row);
    row.kind = pawl__str("role");
    insert(t, PAWL_TABLE_DOCUMENTS, &row);
    row.id = pawl__str("2");
    assert_code(change_one(t, PAWL_CHANGE_INSERT, PAWL_TABLE_DOCUMENTS, &row), PAWL_EEXISTS);
    assert_code(change_one(t, PAWL_CHANGE_PUT, PAWL_TABLE_DOCUMENTS, &row), PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_DOCUMENTS), 2);
}

/* However many bookmarks listen at a path, each path is found once by asking for the next. */
static void paths_are_told_apart_by_asking_for_the_next(struct contract *t)
{
    static const char *const paths[] = {"a", "orders/{id}", "z"};
    struct pawl_condition beyond = {.column = 0, .compare = PAWL_GT, .value = {.text = {"", 0}}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_ROUTES, .conditions = &beyond, .condition_count = 1, .limit = 1};

    for (int i = 0; i < 30; i++) {
        struct pawl_route_row row = {
            .path = pawl__str(paths[i % 3]), .method = pawl__str("get"), .id = text(t, "b%d", i)};

        insert(t, PAWL_TABLE_ROUTES, &row);
    }
    for (size_t i = 0; i < 3; i++) {
        struct pawl_rows rows;

        assert_ok(pawl_store_find(t->a, &query, &t->arena, &rows, soon_ns(t), &t->err), &t->err);
        assert_int_equal(rows.count, 1);
        beyond.value.text = ((const struct pawl_route_row *)rows.rows)->path;
        assert_string_equal(text(t, "%.*s", PAWL_STR_ARG(beyond.value.text)).ptr, paths[i]);
    }
}

const struct contract_test contract_tables[] = {
    CONTRACT_TEST(rows_of_every_table_are_written_read_replaced_and_deleted),
    CONTRACT_TEST(what_is_an_instance_s_own_goes_with_it),
    CONTRACT_TEST(rows_of_an_instance_are_deleted_together),
    CONTRACT_TEST(a_document_s_name_is_unique_in_its_kind),
    CONTRACT_TEST(paths_are_told_apart_by_asking_for_the_next),
    {NULL, NULL, CONTRACT_NEEDS_NOTHING},
};
