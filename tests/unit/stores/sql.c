/* SPDX-License-Identifier: Apache-2.0 */
/* The generator of SQL. That SQLite understands it and plans it well is tested in sqlite.c.
 */
#include "stores/sql.h"
#include "base/arena.h"
#include "base/hash/sha256.h"
#include "lib/test.h"
#include "stores/stores.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)16 << 20)

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_sql *sqlite, *postgres;
    struct pawl_error err;
};

static int set_up(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof f);
    test_allocator_init(&f.alloc);
    pawl__arena_init(&f.arena, &f.alloc.base, ARENA_MAX);
    assert_ok(pawl__sql_new(&f.alloc.base, PAWL_SQL_SQLITE, &f.sqlite, &f.err), &f.err);
    assert_ok(pawl__sql_new(&f.alloc.base, PAWL_SQL_POSTGRES, &f.postgres, &f.err), &f.err);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl__sql_free(f->sqlite);
    pawl__sql_free(f->postgres);
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
    return 0;
}

/* ---- statements -------------------------------------------------------------------------- */

static void each_dialect_writes_its_parameters(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(pawl__sql_change(f->sqlite, PAWL_CHANGE_DELETE, PAWL_TABLE_JOURNAL)->text,
                        "DELETE FROM pawl_journal WHERE tenant_id = '' AND instance_id = ?1 AND "
                        "first_sequence = ?2");
    assert_string_equal(pawl__sql_change(f->postgres, PAWL_CHANGE_DELETE, PAWL_TABLE_JOURNAL)->text,
                        "DELETE FROM pawl_journal WHERE tenant_id IS NOT DISTINCT FROM '' AND "
                        "instance_id = $1 AND "
                        "first_sequence = $2 AND current_setting('pawl.ok', true) = '1'");
}

static void a_parameter_that_occurs_twice_is_one(void **state)
{
    struct fixture *f = *state;
    const struct pawl_sql_statement *claim = pawl__sql_statement(f->sqlite, PAWL_SQL_CLAIM);

    assert_int_equal(claim->param_count, 4); /* owner, value, id, now */
    assert_non_null(strstr(claim->text, "SET owner = ?1"));
    assert_non_null(strstr(claim->text, "OR owner = ?1"));
}

static void puts_replace_all_but_the_key(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(pawl__sql_change(f->sqlite, PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS)->text,
                        "INSERT INTO pawl_settings (tenant_id, key, value) VALUES ('', ?1, ?2) ON "
                        "CONFLICT (tenant_id, key) DO UPDATE SET value = excluded.value");
    assert_string_equal(pawl__sql_change(f->postgres, PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS)->text,
                        "INSERT INTO pawl_settings (tenant_id, key, value) SELECT '', $1, $2 WHERE "
                        "current_setting('pawl.ok', true) = '1' ON CONFLICT (tenant_id, key) DO "
                        "UPDATE SET value = excluded.value");
}

static void there_are_changes_of_what_may_be_changed_only(void **state)
{
    struct fixture *f = *state;

    assert_null(pawl__sql_change(f->sqlite, PAWL_CHANGE_INSERT, PAWL_TABLE_INSTANCES));
    assert_null(pawl__sql_change(f->sqlite, PAWL_CHANGE_PUT, PAWL_TABLE_NODES));
    assert_null(pawl__sql_change(f->sqlite, PAWL_CHANGE_DELETE, PAWL_TABLE_STAMPS));
    assert_null(pawl__sql_change(f->sqlite, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_SETTINGS));
    assert_non_null(pawl__sql_change(f->sqlite, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS));
    for (int table = 0; table < PAWL_TABLE_COUNT; table++) {
        assert_non_null(pawl__sql_load(f->postgres, (enum pawl_table)table)->text);
        assert_non_null(pawl__sql_all(f->postgres, (enum pawl_table)table)->text);
        assert_non_null(pawl__sql_absent(f->postgres, (enum pawl_table)table)->text);
        assert_null(pawl__sql_absent(f->sqlite, (enum pawl_table)table)->text);
    }
}

/* Whether the statement sets this column to something. */
static bool sets(const struct pawl_sql_statement *statement, const char *column)
{
    char part[80];
    const char *set = strstr(statement->text, " SET "), *where = strstr(set, " WHERE ");

    (void)snprintf(part, sizeof part, " %s = ", column);
    set = strstr(set, part);
    return set && set < where;
}

static void advancing_leaves_what_is_not_the_burst_s(void **state)
{
    static const char *const kept[] = {"id",    "parent_id", "created_us",    "cancel_requested",
                                       "fence", "id_hash",   "definition_id", "is_system"};
    const struct pawl_table_info *info = pawl_table_info(PAWL_TABLE_INSTANCES);
    struct fixture *f = *state;
    struct pawl_sql *both[] = {f->sqlite, f->postgres};

    for (size_t d = 0; d < 2; d++)
        for (uint32_t i = 0; i < info->column_count; i++) {
            bool is_kept = false;

            for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
                is_kept |= strcmp(kept[k], info->columns[i].name) == 0;
            assert_int_equal(
                sets(pawl__sql_statement(both[d], PAWL_SQL_ADVANCE), info->columns[i].name),
                !is_kept);
        }
    assert_false(sets(pawl__sql_statement(f->sqlite, PAWL_SQL_KEEP), "state"));
    assert_true(sets(pawl__sql_statement(f->sqlite, PAWL_SQL_KEEP), "revision"));
}

static void looking_at_a_busy_one_leaves_out_its_state_alone(void **state)
{
    struct fixture *f = *state;
    const struct pawl_sql_statement *look = pawl__sql_statement(f->sqlite, PAWL_SQL_CLAIM_LOOK);
    uint64_t all = ((uint64_t)1 << pawl_table_info(PAWL_TABLE_INSTANCES)->column_count) - 1;
    uint64_t of_state = (uint64_t)1 << pawl_table_column(PAWL_TABLE_INSTANCES, "state");

    assert_true(look->columns == (all & ~of_state));
    assert_null(strstr(look->text, " state,"));
    assert_non_null(strstr(look->text, " counts"));
}

static void in_postgres_everything_behind_the_guards_asks_for_the_verdict(void **state)
{
    struct fixture *f = *state;

    assert_non_null(strstr(pawl__sql_statement(f->postgres, PAWL_SQL_DONE)->text,
                           "AND current_setting('pawl.ok', true) = '1'"));
    for (int table = 0; table < PAWL_TABLE_COUNT; table++)
        for (int kind = 0; kind <= PAWL_CHANGE_DELETE_OWNED; kind++) {
            const struct pawl_sql_statement *change =
                pawl__sql_change(f->postgres, (enum pawl_change_kind)kind, (enum pawl_table)table);

            if (change)
                assert_non_null(strstr(change->text, "current_setting('pawl.ok', true) = '1'"));
        }
}

/* ---- values ------------------------------------------------------------------------------ */

static void values_come_from_the_row_and_the_inputs(void **state)
{
    struct fixture *f = *state;
    const struct pawl_sql_statement *keep = pawl__sql_statement(f->sqlite, PAWL_SQL_KEEP);
    struct pawl_instance_row row = {.id = pawl__str("i"), .owner = 7, .fence = 8, .revision = 9};
    struct pawl_sql_inputs inputs = {.row = &row, .owner = 5};
    struct pawl_sql_value values[PAWL_SQL_PARAMS_MAX];

    assert_ok(pawl__sql_bind(keep, &inputs, &f->arena, values, &f->err), &f->err);
    assert_int_equal(keep->param_count, 5);
    assert_int_equal(values[0].integer, 5);
    assert_int_equal(values[1].integer, 7); /* also the revision's owner */
    assert_str(values[2].text, "i");
    assert_int_equal(values[3].integer, 8);
    assert_int_equal(values[4].integer, 9);
}

static void a_nul_in_text_becomes_a_replacement_character_and_stays_in_bytes(void **state)
{
    struct fixture *f = *state;
    const struct pawl_sql_statement *put =
        pawl__sql_change(f->sqlite, PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS);
    struct pawl_setting_row row = {pawl__str_make("a\0b\0", 4), pawl__str_make("a\0b", 3)};
    struct pawl_sql_inputs inputs = {.row = &row};
    struct pawl_sql_value values[2];

    assert_ok(pawl__sql_bind(put, &inputs, &f->arena, values, &f->err), &f->err);
    assert_str(values[0].text, "a\xEF\xBF\xBD"
                               "b\xEF\xBF\xBD");
    assert_ptr_equal(values[1].text.ptr, row.value.ptr);
    assert_int_equal(values[1].text.len, 3);
    row = (struct pawl_setting_row){{NULL, 0}, {NULL, 0}};
    assert_ok(pawl__sql_bind(put, &inputs, &f->arena, values, &f->err), &f->err);
    assert_non_null(values[0].text.ptr); /* "" and not a NULL to SQL */
    assert_non_null(values[1].text.ptr);
}

/* ---- schema ------------------------------------------------------------------------------ */

/*
 * Versions of which stores exist: whoever edits one makes tables that no store has. A version is
 * frozen when it is released, with what `test-stores-sql --schema-hashes` prints of it.
 */
static const struct {
    int version;
    int minimum_reader;
    const char *hashes[2];
} frozen[] = {
    {1,
     1,
     {[PAWL_SQL_SQLITE] = "1af12fc057af2c14193150dd9169fb5bfd6cfc443b19171817a2a3f738783936",
      [PAWL_SQL_POSTGRES] = "6967a930cc4162440701165683b885a20f8c32074b24145a5375ebabb8d5f23d"}},
    {2,
     2,
     {[PAWL_SQL_SQLITE] = "283a39f90cb170960561bfbd5b20f1df356fa5162a6c81f2494340e0854be28b",
      [PAWL_SQL_POSTGRES] = "7692ac95fdf083c7f89dc55a92cdf530b7e5de4456c6a95b1dfbb2623e76b192"}},
};
#define FROZEN_COUNT (sizeof frozen / sizeof frozen[0])

/* Of all statements of a version, each with its end. */
static void hash_schema(struct fixture *f, int dialect, int version,
                        char out[PAWL_SHA256_TEXT_SIZE], int *minimum_reader)
{
    const char *const *statements = NULL;
    unsigned char digest[PAWL_SHA256_BYTES];
    struct pawl_sha256 sha;
    size_t count = 0;

    assert_ok(pawl__sql_migration((enum pawl_sql_dialect)dialect, version, &f->arena, &statements,
                                  &count, minimum_reader, &f->err),
              &f->err);
    assert_true(count > 0);
    pawl__sha256_init(&sha);
    for (size_t i = 0; i < count; i++)
        pawl__sha256_update(&sha, statements[i], strlen(statements[i]) + 1);
    pawl__sha256_final(&sha, digest);
    pawl__hex_encode(digest, sizeof digest, PAWL_HEX_LOWER, out);
}

static void a_frozen_version_never_changes(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < FROZEN_COUNT; i++) {
        for (int dialect = 0; dialect < 2; dialect++) {
            char text[PAWL_SHA256_TEXT_SIZE] = "";
            int reader = 0;

            hash_schema(f, dialect, frozen[i].version, text, &reader);
            assert_string_equal(text, frozen[i].hashes[dialect]);
            assert_int_equal(reader, frozen[i].minimum_reader);
        }
    }
}

/* Nobody begins a version while the one before it can still change. */
static void only_the_newest_version_is_open(void **state)
{
    (void)state;
    for (size_t i = 0; i < FROZEN_COUNT; i++)
        assert_int_equal(frozen[i].version, i + 1);
    assert_in_range(FROZEN_COUNT, PAWL_STORE_SCHEMA - 1, PAWL_STORE_SCHEMA);
}

/* As `frozen` above has them. */
static int print_hashes(void)
{
    void *state;
    struct fixture *f;

    (void)set_up(&state);
    f = state;
    for (int version = 1; version <= PAWL_STORE_SCHEMA; version++) {
        char texts[2][PAWL_SHA256_TEXT_SIZE];
        int reader = 0;

        for (int dialect = 0; dialect < 2; dialect++)
            hash_schema(f, dialect, version, texts[dialect], &reader);
        printf("    {%d,\n     %d,\n     {[PAWL_SQL_SQLITE] = \"%s\",\n"
               "      [PAWL_SQL_POSTGRES] = \"%s\"}},\n",
               version, reader, texts[PAWL_SQL_SQLITE], texts[PAWL_SQL_POSTGRES]);
    }
    return tear_down(&state);
}

/* What keeps a row unique has the tenant: in SQLite in front, in PostgreSQL behind, where no other
 * index has it and it cannot choose one. */
static void check_tenant(int dialect, const char *text)
{
    bool is_table = strncmp(text, "CREATE TABLE", 12) == 0;
    bool is_unique = is_table || strncmp(text, "CREATE UNIQUE", 13) == 0;

    if (dialect == PAWL_SQL_SQLITE)
        assert_non_null(strstr(text, is_table ? "PRIMARY KEY (tenant_id, " : " (tenant_id, "));
    else if (is_unique)
        assert_non_null(strstr(text, ", tenant_id)"));
    else
        assert_null(strstr(text, "tenant_id"));
}

static void every_key_has_the_tenant(void **state)
{
    struct fixture *f = *state;

    for (int dialect = 0; dialect < 2; dialect++) {
        size_t tables = 0;

        for (int version = 1; version <= 2; version++) {
            const char *const *statements = NULL;
            size_t count = 0;
            int reader = 0;

            assert_ok(pawl__sql_migration((enum pawl_sql_dialect)dialect, version, &f->arena,
                                          &statements, &count, &reader, &f->err),
                      &f->err);
            assert_int_equal(reader, version);
            for (size_t i = 0; i < count; i++) {
                const char *text = statements[i];

                assert_null(strstr(text, "json"));
                if (strncmp(text, "CREATE TABLE pawl_schema ", 25) == 0 ||
                    strncmp(text, "CREATE ", 7) != 0)
                    continue;
                tables += strstr(text, "CREATE TABLE pawl_") == text;
                check_tenant(dialect, text);
            }
        }
        assert_int_equal(tables, PAWL_TABLE_COUNT);
    }
}

static void text_in_postgres_sorts_by_bytes(void **state)
{
    struct fixture *f = *state;

    for (int version = 1; version <= 2; version++) {
        const char *const *statements = NULL;
        size_t count = 0;
        int reader = 0;

        assert_ok(pawl__sql_migration(PAWL_SQL_POSTGRES, version, &f->arena, &statements, &count,
                                      &reader, &f->err),
                  &f->err);
        for (size_t i = 0; i < count; i++)
            for (const char *at = statements[i]; (at = strstr(at, " text ")); at++)
                assert_int_equal(strncmp(at, " text COLLATE \"C\" NOT NULL", 26), 0);
    }
}

/* ---- queries ----------------------------------------------------------------------------- */

static struct pawl_sql_select make(struct fixture *f, enum pawl_sql_dialect dialect,
                                   const struct pawl_query *query)
{
    struct pawl_sql_select select = {0};

    assert_ok(pawl__sql_query(dialect, query, &f->arena, &select, &f->err), &f->err);
    return select;
}

static void conditions_are_joined_and_groups_are_alternatives(void **state)
{
    struct fixture *f = *state;
    struct pawl_datum in[] = {{.integer = 4}, {.integer = 5}};
    struct pawl_condition conditions[] = {
        {.column = 0, .compare = PAWL_GE, .value = {.text = pawl__str("a")}},
        {.column = 0, .any = 1, .compare = PAWL_EQ, .value = {.text = pawl__str("b")}},
        {.column = 1, .any = 1, .compare = PAWL_IN, .values = in, .value_count = 2},
        {.column = 1, .any = 2, .compare = PAWL_LT, .value = {.integer = 6}},
        {.column = 1, .compare = PAWL_NE, .value = {.integer = 7}},
        {.column = 1, .compare = PAWL_IN},
    };
    struct pawl_query query = {
        .table = PAWL_TABLE_STAMPS, .conditions = conditions, .condition_count = 6};
    struct pawl_sql_select select = make(f, PAWL_SQL_SQLITE, &query);

    assert_string_equal(select.text,
                        "SELECT name, value FROM pawl_stamps WHERE tenant_id = '' AND name >= ?1 "
                        "AND (name = ?2 OR value IN (?3, ?4)) AND (value < ?5) AND value <> ?6 AND "
                        "1 = 0 ORDER BY name LIMIT ?7");
    assert_int_equal(select.value_count, 7);
    assert_str(select.values[1].text, "b");
    assert_int_equal(select.values[3].integer, 5);
    assert_int_equal(select.values[6].integer, PAWL_STORE_ROWS_DEFAULT);
    assert_null(select.count_text);
}

static void searching_in_text_ignores_the_case_of_ascii_letters(void **state)
{
    struct fixture *f = *state;
    struct pawl_condition condition = {
        .column = 0, .compare = PAWL_CONTAINS, .value = {.text = pawl__str("A\xC3\x84z")}};
    struct pawl_query query = {.table = PAWL_TABLE_STAMPS,
                               .flags = PAWL_QUERY_COUNT,
                               .conditions = &condition,
                               .condition_count = 1};
    struct pawl_sql_select select = make(f, PAWL_SQL_POSTGRES, &query);

    assert_null(select.text);
    assert_string_equal(select.count_text,
                        "SELECT count(*) FROM pawl_stamps WHERE tenant_id IS NOT DISTINCT FROM '' "
                        "AND strpos(lower(name), $1) > 0");
    assert_str(select.count_values[0].text, "a\xC3\x84z");
    assert_int_equal(select.count_value_count, 1);
}

static void pages_go_on_behind_a_row_in_order_and_key(void **state)
{
    struct fixture *f = *state;
    struct pawl_journal_row after = {
        .instance_id = pawl__str("i"), .first_sequence = 3, .to_us = 9};
    struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                               .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_DESCENDING | PAWL_QUERY_TOTAL,
                               .order = pawl_table_column(PAWL_TABLE_JOURNAL, "to_us"),
                               .offset = 4,
                               .limit = 5,
                               .after = &after};
    struct pawl_sql_select select = make(f, PAWL_SQL_SQLITE, &query);

    assert_string_equal(select.text,
                        "SELECT instance_id, first_sequence, count, from_us, to_us FROM "
                        "pawl_journal WHERE tenant_id = '' AND (to_us, instance_id, "
                        "first_sequence) < (?1, ?2, ?3) ORDER BY to_us DESC, instance_id DESC, "
                        "first_sequence DESC LIMIT ?4 OFFSET ?5");
    assert_string_equal(select.count_text,
                        "SELECT count(*) FROM pawl_journal WHERE tenant_id = ''");
    assert_int_equal(select.count_value_count, 0);
    assert_int_equal(select.values[0].integer, 9);
    assert_str(select.values[1].text, "i");
    assert_int_equal(select.columns, 0x1F);
    /* A column of the key that is the order stands once. */
    query.order = 1;
    query.flags = 0;
    assert_non_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text,
                           "(first_sequence, instance_id) > (?1, ?2) ORDER BY first_sequence, "
                           "instance_id LIMIT"));
}

static void what_a_condition_implies_of_a_partial_index_is_said(void **state)
{
    struct fixture *f = *state;
    struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "instance_id"),
                                       .compare = PAWL_EQ,
                                       .value = {.text = pawl__str("i")}};
    struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};

    assert_non_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text,
                           "instance_id = ?1 AND instance_id <> '' ORDER"));
    condition.value.text = pawl__str("");
    assert_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text, "<> ''"));
    condition.column = pawl_table_column(PAWL_TABLE_WORK, "due_us");
    condition.value.integer = PAWL_TIME_NEVER;
    assert_non_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text,
                           "due_us = ?1 AND due_us = 9223372036854775807 ORDER"));
    condition.compare = PAWL_LE;
    assert_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text, "9223372036854775807"));
    condition.value.integer--;
    assert_non_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text,
                           "due_us <= ?1 AND due_us < 9223372036854775807 ORDER"));
    condition.any = 1;
    assert_null(strstr(make(f, PAWL_SQL_SQLITE, &query).text, "9223372036854775807"));
}

static void queries_that_make_no_sense_are_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_condition condition = {.column = 99};
    struct pawl_query query = {
        .table = PAWL_TABLE_STAMPS, .conditions = &condition, .condition_count = 1};
    struct pawl_sql_select select = {0};
    enum pawl_sql_dialect dialect = PAWL_SQL_SQLITE;

    assert_code(pawl__sql_query(dialect, &query, &f->arena, &select, &f->err), PAWL_EINVAL);
    condition = (struct pawl_condition){.column = 1, .compare = PAWL_CONTAINS};
    assert_code(pawl__sql_query(dialect, &query, &f->arena, &select, &f->err), PAWL_EINVAL);
    assert_string_equal(f->err.msg, "query on stamps: value is not text to search in");
    condition = (struct pawl_condition){
        .column = 1, .compare = PAWL_IN, .value_count = PAWL_STORE_VALUES_MAX + 1};
    assert_code(pawl__sql_query(dialect, &query, &f->arena, &select, &f->err), PAWL_ELIMIT);
    query.condition_count = PAWL_STORE_CONDITIONS_MAX + 1;
    assert_code(pawl__sql_query(dialect, &query, &f->arena, &select, &f->err), PAWL_ELIMIT);
    query.condition_count = 0;
    query.limit = PAWL_STORE_ROWS_MAX + 1;
    assert_code(pawl__sql_query(dialect, &query, &f->arena, &select, &f->err), PAWL_ELIMIT);
    query.limit = 0;
    query.order = 2;
    assert_code(pawl__sql_query(dialect, &query, &f->arena, &select, &f->err), PAWL_EINVAL);
    assert_null(select.text);
}

/* ---- memory ------------------------------------------------------------------------------ */

static int make_everything(struct test_allocator *alloc, void *arg)
{
    struct pawl_condition condition = {
        .column = 0, .compare = PAWL_CONTAINS, .value = {.text = pawl__str_make("a\0", 2)}};
    struct pawl_query query = {.table = PAWL_TABLE_STAMPS,
                               .flags = PAWL_QUERY_TOTAL,
                               .conditions = &condition,
                               .condition_count = 1};
    struct pawl_sql_select select;
    struct pawl_arena arena;
    struct pawl_sql *sql = NULL;
    const char *const *statements = NULL;
    size_t count = 0;
    int reader = 0, status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, ARENA_MAX);
    status = pawl__sql_new(&alloc->base, PAWL_SQL_POSTGRES, &sql, NULL);
    if (status == PAWL_OK)
        status =
            pawl__sql_migration(PAWL_SQL_SQLITE, 1, &arena, &statements, &count, &reader, NULL);
    if (status == PAWL_OK)
        status = pawl__sql_query(PAWL_SQL_SQLITE, &query, &arena, &select, NULL);
    pawl__sql_free(sql);
    pawl__arena_release(&arena);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    test_sweep_allocations(make_everything, NULL, 5000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dialect_writes_its_parameters),
        cmocka_unit_test(a_parameter_that_occurs_twice_is_one),
        cmocka_unit_test(puts_replace_all_but_the_key),
        cmocka_unit_test(there_are_changes_of_what_may_be_changed_only),
        cmocka_unit_test(advancing_leaves_what_is_not_the_burst_s),
        cmocka_unit_test(looking_at_a_busy_one_leaves_out_its_state_alone),
        cmocka_unit_test(in_postgres_everything_behind_the_guards_asks_for_the_verdict),
        cmocka_unit_test(values_come_from_the_row_and_the_inputs),
        cmocka_unit_test(a_nul_in_text_becomes_a_replacement_character_and_stays_in_bytes),
        cmocka_unit_test(a_frozen_version_never_changes),
        cmocka_unit_test(only_the_newest_version_is_open),
        cmocka_unit_test(every_key_has_the_tenant),
        cmocka_unit_test(text_in_postgres_sorts_by_bytes),
        cmocka_unit_test(conditions_are_joined_and_groups_are_alternatives),
        cmocka_unit_test(searching_in_text_ignores_the_case_of_ascii_letters),
        cmocka_unit_test(pages_go_on_behind_a_row_in_order_and_key),
        cmocka_unit_test(what_a_condition_implies_of_a_partial_index_is_said),
        cmocka_unit_test(queries_that_make_no_sense_are_refused),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    if (argc == 2 && strcmp(argv[1], "--schema-hashes") == 0)
        return print_hashes();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
