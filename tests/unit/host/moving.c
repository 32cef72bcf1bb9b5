/* SPDX-License-Identifier: Apache-2.0 */
/* Backups between backends: memory, an SQLite file and a PostgreSQL server, and back again. */
#include "base/arena.h"
#include "host/backup.h"
#include "host/store_check.h"
#include "host/store_uri.h"
#include "lib/test.h"
#include "servers/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INSTANCES 1200

struct fixture {
    struct pawl_env *env;
    struct pawl_error err;
    struct test_postgres server;
    char folder[64];
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.env = NULL};
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-moving-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    test_postgres_start(&f->server, "geheim");
}

static void close_fixture(struct fixture *f)
{
    char command[96];

    test_postgres_stop(&f->server);
    (void)snprintf(command, sizeof command, "rm -r %s", f->folder);
    assert_int_equal(system(command), 0);
    pawl_system_env_close(f->env);
}

static struct pawl_store *open_store(struct fixture *f, const char *uri)
{
    struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_store *store = NULL;

    assert_ok(pawl__host_open_store(f->env, pawl__str(uri), &options, &store, &f->err), &f->err);
    return store;
}

/* ---- content ----------------------------------------------------------------------------- */

static void load(struct fixture *f, struct pawl_store *store, enum pawl_table table,
                 const void *rows, size_t count)
{
    assert_ok(pawl_store_load(store, table, rows, count, PAWL_FOREVER, &f->err), &f->err);
}

static void fill_instances(struct fixture *f, struct pawl_store *store)
{
    struct pawl_arena arena;

    pawl__arena_init(&arena, &f->env->alloc, (size_t)64 << 20);
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct pawl_str id = pawl__str(pawl__arena_printf(&arena, "instance-%05u", i));
        struct pawl_instance_row instance = {.id = id,
                                             .definition_id = PAWL_STR_LIT("d"),
                                             .status = PAWL_STR_LIT("Running"),
                                             .name = PAWL_STR_LIT("Größe ✓ 'quoted' \\x"),
                                             .created_us = i,
                                             .updated_us = INT64_MAX,
                                             .owner = i % 2,
                                             .fence = 1 + i,
                                             .revision = 3,
                                             .revision_fence = 1,
                                             .state = PAWL_STR_LIT("\0\1\xFF\\000state\n")};
        struct pawl_bookmark_row bookmark = {
            .id = id, .instance_id = id, .hash = id, .payload = PAWL_STR_LIT("{}")};
        struct pawl_journal_row journal = {.instance_id = id,
                                           .first_sequence = 1,
                                           .count = 2,
                                           .data =
                                               PAWL_STR_LIT("{\"log\":[{},{}],\"records\":[]}")};
        struct pawl_work_row work = {.id = id,
                                     .kind = PAWL_STR_LIT("timer"),
                                     .instance_id = id,
                                     .part = i % 1024,
                                     .due_us = PAWL_TIME_NEVER,
                                     .expires_us = PAWL_TIME_NEVER};

        assert_non_null(id.ptr);
        load(f, store, PAWL_TABLE_INSTANCES, &instance, 1);
        load(f, store, PAWL_TABLE_BOOKMARKS, &bookmark, 1);
        load(f, store, PAWL_TABLE_JOURNAL, &journal, 1);
        load(f, store, PAWL_TABLE_WORK, &work, 1);
    }
    pawl__arena_release(&arena);
}

/* One row in each table that came with version 2: its columns' names, and numbers. */
static void fill_later(struct fixture *f, struct pawl_store *store)
{
    for (int table = PAWL_TABLE_STAMPS + 1; table < PAWL_TABLE_COUNT; table++) {
        const struct pawl_table_info *info = pawl_table_info((enum pawl_table)table);
        _Alignas(max_align_t) char row[PAWL_ROW_SIZE_MAX] = {0};

        for (uint32_t i = 0; i < info->column_count; i++) {
            struct pawl_str text = pawl__str(info->columns[i].name);
            int64_t number = -(int64_t)i;

            if (strcmp(info->columns[i].name, "instance_id") == 0)
                text = pawl__str("instance-00000");
            if (info->columns[i].type == PAWL_COLUMN_INT)
                memcpy(row + info->columns[i].offset, &number, sizeof number);
            else
                memcpy(row + info->columns[i].offset, &text, sizeof text);
        }
        load(f, store, (enum pawl_table)table, row, 1);
    }
}

static void fill(struct fixture *f, struct pawl_store *store)
{
    struct pawl_definition_row definition = {.id = PAWL_STR_LIT("d:1"),
                                             .definition_id = PAWL_STR_LIT("d"),
                                             .version = 1,
                                             .is_latest = 1,
                                             .is_published = 1,
                                             .data = PAWL_STR_LIT("{}")};
    struct pawl_trigger_row trigger = {.id = PAWL_STR_LIT("t"),
                                       .definition_id = PAWL_STR_LIT("d"),
                                       .version_id = PAWL_STR_LIT("d:1")};
    struct pawl_setting_row setting = {PAWL_STR_LIT("key"), PAWL_STR_LIT("\0value")};
    struct pawl_dead_letter_row letter = {.id = PAWL_STR_LIT("l"), .work_id = PAWL_STR_LIT("w")};
    struct pawl_reservation_row reservation = {.key = PAWL_STR_LIT("r"), .expires_us = INT64_MIN};
    struct pawl_node_row node = {.id = PAWL_STR_LIT("n"), .incarnation = 9};
    struct pawl_stamp_row stamp = {PAWL_STR_LIT("definitions"), 4};

    fill_instances(f, store);
    load(f, store, PAWL_TABLE_DEFINITIONS, &definition, 1);
    load(f, store, PAWL_TABLE_TRIGGERS, &trigger, 1);
    load(f, store, PAWL_TABLE_SETTINGS, &setting, 1);
    load(f, store, PAWL_TABLE_DEAD_LETTERS, &letter, 1);
    load(f, store, PAWL_TABLE_RESERVATIONS, &reservation, 1);
    load(f, store, PAWL_TABLE_NODES, &node, 1);
    load(f, store, PAWL_TABLE_STAMPS, &stamp, 1);
    fill_later(f, store);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Backends may show rows in different orders: the sum of their hashes does not depend on it. */
struct sums {
    uint64_t sum[PAWL_TABLE_COUNT];
    uint64_t count[PAWL_TABLE_COUNT];
};

static int add(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    struct sums *sums = ctx;
    unsigned char digest[PAWL_SHA256_BYTES];
    struct pawl_sha256 sha;
    uint64_t part;

    (void)err;
    pawl__sha256_init(&sha);
    for (uint32_t i = 0; i < info->column_count; i++) {
        const char *at = (const char *)row + info->columns[i].offset;
        struct pawl_str text;

        if (info->columns[i].type == PAWL_COLUMN_INT) {
            pawl__sha256_update(&sha, at, sizeof(int64_t));
            continue;
        }
        memcpy(&text, at, sizeof text);
        pawl__sha256_update(&sha, &text.len, sizeof text.len);
        pawl__sha256_update(&sha, text.ptr, text.len);
    }
    pawl__sha256_final(&sha, digest);
    memcpy(&part, digest, sizeof part);
    sums->sum[table] += part;
    sums->count[table]++;
    return PAWL_OK;
}

static void sum_up(struct fixture *f, struct pawl_store *store, struct sums *out)
{
    *out = (struct sums){.sum = {0}};
    assert_ok(pawl_store_snapshot(store, add, out, PAWL_FOREVER, &f->err), &f->err);
}

static void print_finding(void *ctx, const char *text)
{
    (void)ctx;
    print_error("%s\n", text);
}

static void expect_sound(struct fixture *f, struct pawl_store *store)
{
    uint64_t count = 1, rows = 0;

    assert_ok(pawl__store_check(f->env, store, print_finding, NULL, &count, &rows, &f->err),
              &f->err);
    assert_int_equal(count, 0);
    assert_int_equal(rows, 4 * INSTANCES + PAWL_TABLE_COUNT - 4);
}

static int64_t join(struct fixture *f, struct pawl_store *store)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = PAWL_STR_LIT("new"), .ttl_us = 1000000};

    assert_ok(pawl_store_lease(store, &lease, PAWL_FOREVER, &f->err), &f->err);
    return lease.incarnation;
}

/* Backs `from` up and restores it into what `uri` names, which it answers. */
static struct pawl_store *move(struct fixture *f, struct pawl_store *from, const char *uri)
{
    struct pawl_backup_counts written, restored;
    struct pawl_store *to = open_store(f, uri);
    struct sums before, after;
    char path[96];

    (void)snprintf(path, sizeof path, "%s/backup", f->folder);
    assert_ok(pawl__backup_write(f->env, from, path, NULL, &written, &f->err), &f->err);
    assert_ok(pawl__backup_restore(f->env, to, path, NULL, &restored, &f->err), &f->err);
    assert_memory_equal(written.digest, restored.digest, sizeof written.digest);
    sum_up(f, from, &before);
    sum_up(f, to, &after);
    for (unsigned table = 0; table < PAWL_TABLE_COUNT; table++) {
        assert_int_equal(after.count[table], before.count[table]);
        assert_true(after.count[table] > 0);
        assert_true(after.sum[table] == before.sum[table]);
    }
    expect_sound(f, to);
    assert_code(pawl__backup_restore(f->env, to, path, NULL, &restored, &f->err), PAWL_ECONFLICT);
    return to;
}

static void every_backend_restores_what_another_backed_up(void **state)
{
    struct pawl_store *memory, *sqlite, *postgres, *back;
    char sqlite_uri[96], postgres_uri[256], back_uri[96];
    struct fixture f;

    (void)state;
    open_fixture(&f);
    (void)snprintf(sqlite_uri, sizeof sqlite_uri, "sqlite:%s/a.db", f.folder);
    (void)snprintf(back_uri, sizeof back_uri, "sqlite:%s/b.db", f.folder);
    (void)test_postgres_uri(&f.server, "postgres", postgres_uri, sizeof postgres_uri);
    memory = open_store(&f, "memory:");
    fill(&f, memory);
    sqlite = move(&f, memory, sqlite_uri);
    postgres = move(&f, sqlite, postgres_uri);
    back = move(&f, postgres, back_uri);
    /* None gives an incarnation a second time. */
    assert_int_equal(join(&f, sqlite), 10);
    assert_int_equal(join(&f, postgres), 10);
    pawl_store_close(memory);
    pawl_store_close(sqlite);
    pawl_store_close(postgres);
    pawl_store_close(back);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_restores_what_another_backed_up),
    };

    return cmocka_run_group_tests_name("host/moving", tests, NULL, NULL);
}
