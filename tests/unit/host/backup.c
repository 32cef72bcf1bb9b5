/* SPDX-License-Identifier: Apache-2.0 */
#include "host/backup.h"
#include "base/buf.h"
#include "base/error.h"
#include "host/store_check.h"
#include "runtime/runtime.h"
#include "unit/stores/shelf.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILE_MAX ((size_t)64 << 20)

/* ---- rows -------------------------------------------------------------------------------- */

/* Something in every column of a row, different for each `number`, and awkward. */
static void make_row(struct shelf *shelf, enum pawl_table table, unsigned number, char *row)
{
    static const int64_t integers[] = {0, 1, -1, 63, 64, -64, -65, INT64_MAX, INT64_MIN, 1 << 20};
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++) {
        char *at = row + info->columns[i].offset;

        if (info->columns[i].type == PAWL_COLUMN_INT) {
            int64_t value = integers[(number + i) % (sizeof integers / sizeof integers[0])];

            if (i < info->key_count || strcmp(info->columns[i].name, "incarnation") == 0)
                value = number + 1; /* unique */
            memcpy(at, &value, sizeof value);
        } else {
            bool bytes = info->columns[i].type == PAWL_COLUMN_BYTES;
            struct pawl_str text = pawl__str(
                pawl__arena_printf(&shelf->arena, "%s %u §", info->columns[i].name, number));

            if (bytes)
                text = pawl__str_make("\0\xFF bytes\n", number % 10);
            else if (strcmp(info->columns[i].name, "correlation_id") == 0 && number % 3 == 0)
                text = pawl__str("");
            memcpy(at, &text, sizeof text);
        }
    }
}

static void add_row(struct shelf *shelf, enum pawl_table table, const void *row)
{
    assert_ok(pawl_store_load(shelf->plain, table, row, 1, PAWL_FOREVER, &shelf->err), &shelf->err);
}

static void fill(struct shelf *shelf, unsigned rows)
{
    for (unsigned table = 0; table < PAWL_TABLE_COUNT; table++) {
        for (unsigned number = 0; number < rows; number++) {
            char row[512] __attribute__((aligned(16))) = {0};

            make_row(shelf, (enum pawl_table)table, number, row);
            add_row(shelf, (enum pawl_table)table, row);
            pawl__arena_reset(&shelf->arena);
        }
    }
}

/* ---- bytes in memory --------------------------------------------------------------------- */

static int append(void *ctx, struct pawl_str bytes, struct pawl_error *err)
{
    struct pawl_buf *buf = ctx;

    (void)err;
    pawl__buf_str(buf, bytes);
    return buf->status;
}

struct reading {
    struct pawl_str bytes;
    size_t at;
};

static int read_bytes(void *ctx, void *out, size_t size_bytes, size_t *count,
                      struct pawl_error *err)
{
    struct reading *reading = ctx;
    struct pawl_str piece = pawl__str_slice(reading->bytes, reading->at, reading->at + size_bytes);

    (void)err;
    if (piece.len > 0)
        memcpy(out, piece.ptr, piece.len);
    reading->at += piece.len;
    *count = piece.len;
    return PAWL_OK;
}

static void encode(struct shelf *shelf, bool plain, struct pawl_buf *out)
{
    struct pawl_backup_options options = {.plain = plain};
    struct pawl_backup_sink sink = {append, out};
    struct pawl_backup_counts counts;

    assert_ok(pawl__backup_encode(&shelf->alloc.base, shelf->plain, &options, &sink, &counts,
                                  PAWL_FOREVER, &shelf->err),
              &shelf->err);
    assert_int_equal(counts.size_bytes, out->len);
}

static int decode(struct shelf *shelf, struct pawl_str bytes, pawl_row_visitor visit, void *ctx,
                  struct pawl_backup_counts *counts)
{
    struct reading reading = {bytes, 0};
    struct pawl_backup_source source = {read_bytes, &reading};

    return pawl__backup_decode(&shelf->alloc.base, &source, NULL, visit, ctx, counts, &shelf->err);
}

/* ---- files ------------------------------------------------------------------------------- */

struct folder {
    char path[64];
    char file[80];
    char part[80];
};

static void make_folder(struct folder *folder)
{
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/pawl-backup-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->file, sizeof folder->file, "%s/b", folder->path);
    (void)snprintf(folder->part, sizeof folder->part, "%s/b.part", folder->path);
}

static void remove_folder(struct folder *folder)
{
    (void)unlink(folder->file);
    (void)unlink(folder->part);
    assert_int_equal(rmdir(folder->path), 0);
}

static void write_file(const char *path, struct pawl_str bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static void check_restore(struct shelf *shelf, const char *path, int expected)
{
    struct pawl_backup_counts counts;

    assert_code(pawl__backup_restore(shelf->env, shelf->plain, path, NULL, &counts, &shelf->err),
                expected);
}

static uint64_t count_rows(struct shelf *shelf)
{
    uint64_t total = 0;

    for (unsigned table = 0; table < PAWL_TABLE_COUNT; table++) {
        struct pawl_query query = {.table = (enum pawl_table)table, .flags = PAWL_QUERY_COUNT};
        struct pawl_rows rows = {0};

        assert_ok(
            pawl_store_find(shelf->plain, &query, &shelf->arena, &rows, PAWL_FOREVER, &shelf->err),
            &shelf->err);
        total += rows.total;
    }
    return total;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void round_trip(bool plain, unsigned rows)
{
    struct pawl_backup_options options = {.plain = plain};
    struct pawl_backup_counts written, restored;
    struct shelf from, to;
    struct folder folder;
    struct pawl_buf before, after;

    shelf_open(&from);
    shelf_open(&to);
    make_folder(&folder);
    fill(&from, rows);
    assert_ok(pawl__backup_write(from.env, from.plain, folder.file, &options, &written, &from.err),
              &from.err);
    assert_int_equal(access(folder.part, F_OK), -1);
    assert_ok(pawl__backup_restore(to.env, to.plain, folder.file, NULL, &restored, &to.err),
              &to.err);
    assert_int_equal(written.row_count, (uint64_t)rows * PAWL_TABLE_COUNT);
    assert_memory_equal(&written, &restored, sizeof written);
    assert_int_equal(count_rows(&to), written.row_count);
    pawl__buf_init(&before, &from.alloc.base, FILE_MAX);
    pawl__buf_init(&after, &to.alloc.base, FILE_MAX);
    encode(&from, plain, &before);
    encode(&to, plain, &after);
    assert_true(pawl__str_equal(pawl__buf_peek(&before), pawl__buf_peek(&after)));
    pawl__buf_release(&before);
    pawl__buf_release(&after);
    remove_folder(&folder);
    shelf_close(&from);
    shelf_close(&to);
}

static void what_was_backed_up_is_restored_to_the_byte(void **state)
{
    (void)state;
    round_trip(false, 0);
    round_trip(false, 7);
    round_trip(true, 7);
    round_trip(false, 1500);
}

static void large_rows_have_blocks_of_their_own(void **state)
{
    struct pawl_str state_bytes = {calloc(1, 5 << 20), 5 << 20};
    struct pawl_instance_row row = shelf_instance("large");
    struct shelf from, to;
    struct folder folder;
    struct pawl_backup_counts counts;

    (void)state;
    assert_non_null(state_bytes.ptr);
    shelf_open(&from);
    shelf_open(&to);
    make_folder(&folder);
    row.state = state_bytes;
    add_row(&from, PAWL_TABLE_INSTANCES, &row);
    row.id = pawl__str("larger");
    add_row(&from, PAWL_TABLE_INSTANCES, &row);
    assert_ok(pawl__backup_write(from.env, from.plain, folder.file, NULL, &counts, &from.err),
              &from.err);
    assert_true(counts.size_bytes < 100000);
    assert_ok(pawl__backup_restore(to.env, to.plain, folder.file, NULL, &counts, &to.err), &to.err);
    assert_int_equal(counts.rows[PAWL_TABLE_INSTANCES], 2);
    free((void *)(uintptr_t)state_bytes.ptr);
    remove_folder(&folder);
    shelf_close(&from);
    shelf_close(&to);
}

static void a_restored_store_gives_new_incarnations(void **state)
{
    struct shelf from, to;
    struct folder folder;
    struct pawl_backup_counts counts;

    (void)state;
    shelf_open(&from);
    shelf_open(&to);
    make_folder(&folder);
    assert_int_equal(shelf_join(&from, "a"), 1);
    assert_int_equal(shelf_join(&from, "a"), 2);
    assert_ok(pawl__backup_write(from.env, from.plain, folder.file, NULL, &counts, &from.err),
              &from.err);
    assert_ok(pawl__backup_restore(to.env, to.plain, folder.file, NULL, &counts, &to.err), &to.err);
    assert_int_equal(shelf_join(&to, "b"), 3);
    remove_folder(&folder);
    shelf_close(&from);
    shelf_close(&to);
}

static void is_refused_when_cut_at_any_byte(void **state)
{
    (void)state;
    for (int plain = 0; plain <= 1; plain++) {
        struct shelf shelf;
        struct pawl_buf bytes;

        shelf_open(&shelf);
        fill(&shelf, 1);
        pawl__buf_init(&bytes, &shelf.alloc.base, FILE_MAX);
        encode(&shelf, plain, &bytes);
        assert_ok(decode(&shelf, pawl__buf_peek(&bytes), NULL, NULL, NULL), &shelf.err);
        for (size_t len = 0; len < bytes.len; len++) {
            int status = decode(&shelf, pawl__str_make(bytes.ptr, len), NULL, NULL, NULL);

            assert_code(status, len < sizeof "pawl-backup " - 1 ? PAWL_EPARSE : PAWL_ECORRUPT);
            assert_int_equal(shelf.err.code, status);
        }
        pawl__buf_byte(&bytes, 'x');
        assert_code(decode(&shelf, pawl__buf_peek(&bytes), NULL, NULL, NULL), PAWL_ECORRUPT);
        pawl__buf_release(&bytes);
        shelf_close(&shelf);
    }
}

static void is_refused_when_any_bit_is_changed(void **state)
{
    (void)state;
    for (int plain = 0; plain <= 1; plain++) {
        struct shelf shelf;
        struct pawl_buf bytes;

        shelf_open(&shelf);
        fill(&shelf, 1);
        pawl__buf_init(&bytes, &shelf.alloc.base, FILE_MAX);
        encode(&shelf, plain, &bytes);
        for (size_t bit = 0; bit < bytes.len * 8; bit++) {
            int status;

            bytes.ptr[bit / 8] = (char)(bytes.ptr[bit / 8] ^ 1 << bit % 8);
            status = decode(&shelf, pawl__buf_peek(&bytes), NULL, NULL, NULL);
            if (status != PAWL_ECORRUPT && status != PAWL_EPARSE)
                assert_code(status, PAWL_EUNSUPPORTED);
            bytes.ptr[bit / 8] = (char)(bytes.ptr[bit / 8] ^ 1 << bit % 8);
        }
        pawl__buf_release(&bytes);
        shelf_close(&shelf);
    }
}

/* A plain backup made by hand: records, and how many rows are in them. */
static void build(struct pawl_buf *out, const char *header, const char *records, size_t size,
                  unsigned rows)
{
    char head[8] = {(char)size, (char)(size >> 8), 0, 0, (char)size, (char)(size >> 8), 0, 0};
    char tail[12] = {0, 0, 0, 0, (char)rows};
    unsigned char digest[PAWL_SHA256_BYTES];

    pawl__buf_text(out, header);
    pawl__buf_append(out, head, size > 0 ? sizeof head : 0);
    pawl__buf_append(out, records, size);
    pawl__buf_append(out, tail, sizeof tail);
    pawl__sha256(pawl__buf_peek(out), digest);
    pawl__buf_append(out, (const char *)digest, sizeof digest);
}

static int keep_stamp(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct pawl_stamp_row *stamp = ctx;

    (void)err;
    assert_int_equal(table, PAWL_TABLE_STAMPS);
    *stamp = *(const struct pawl_stamp_row *)row;
    assert_str(stamp->name, "ab");
    return PAWL_OK;
}

#define HEADER "pawl-backup 1 schema 1 plain\n"
#define STAMPS "T\x05\x06stamps"

static void other_versions_are_read_or_refused_clearly(void **state)
{
    static const struct {
        const char *what, *header, *records;
        size_t size;
        unsigned rows;
        int expected;
    } cases[] = {
#define RECORDS(text) text, sizeof(text) - 1
        {"as it is now", HEADER,
         RECORDS(STAMPS "\x02\x04nameti\x05valueiR\x05\x02"
                        "ab\x03"),
         0, PAWL_ECORRUPT},
        {"both columns", HEADER,
         RECORDS(STAMPS "\x02\x04namet\x05valueiR\x05\x02"
                        "ab\x03"),
         1, PAWL_OK},
        {"other order", HEADER,
         RECORDS(STAMPS "\x02\x05valuei\x04nametR\x05\x03\x02"
                        "ab"),
         1, PAWL_OK},
        {"a column less", HEADER,
         RECORDS(STAMPS "\x01\x04nametR\x05\x02"
                        "ab"),
         1, PAWL_OK},
        {"a column more", HEADER, RECORDS(STAMPS "\x02\x04namet\x05otheri"), 0, PAWL_EUNSUPPORTED},
        {"another table", HEADER, RECORDS("T\x05\x06stumps\x00"), 0, PAWL_EUNSUPPORTED},
        {"another type", HEADER, RECORDS(STAMPS "\x02\x04namet\x05valuet"), 0, PAWL_ECORRUPT},
        {"no key", HEADER, RECORDS(STAMPS "\x01\x05valuei"), 0, PAWL_ECORRUPT},
        {"a column twice", HEADER, RECORDS(STAMPS "\x02\x04namet\x04namet"), 0, PAWL_ECORRUPT},
        {"a table twice", HEADER, RECORDS(STAMPS "\x01\x04nametT\x06\x06stamps\x01\x04namet"), 0,
         PAWL_ECORRUPT},
        {"a number twice", HEADER, RECORDS(STAMPS "\x01\x04nametT\x05\x05nodes\x01\x02idt"), 0,
         PAWL_ECORRUPT},
        {"a row without table", HEADER,
         RECORDS("R\x05\x02"
                 "ab\x03"),
         1, PAWL_ECORRUPT},
        {"a row too short", HEADER,
         RECORDS(STAMPS "\x01\x04nametR\x05\x03"
                        "ab"),
         1, PAWL_ECORRUPT},
        {"a number too long", HEADER, RECORDS("R\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), 1,
         PAWL_ECORRUPT},
        {"another count", HEADER,
         RECORDS(STAMPS "\x01\x04nametR\x05\x02"
                        "ab"),
         2, PAWL_ECORRUPT},
        {"another record", HEADER, RECORDS("X"), 0, PAWL_ECORRUPT},
        {"another format", "pawl-backup 2 schema 1 plain\n", RECORDS(""), 0, PAWL_EUNSUPPORTED},
        {"no format", "pawl-backup x schema 1 plain\n", RECORDS(""), 0, PAWL_ECORRUPT},
        {"no schema", "pawl-backup 1 shema 1 plain\n", RECORDS(""), 0, PAWL_ECORRUPT},
        {"another compression", "pawl-backup 1 schema 1 gzip\n", RECORDS(""), 0, PAWL_ECORRUPT},
        {"a longer line", "pawl-backup 1 schema 1 plain and more\n", RECORDS(""), 0, PAWL_ECORRUPT},
        {"nothing in it", HEADER, RECORDS(""), 0, PAWL_OK},
        {"something else", "SQLite format 3", RECORDS(""), 0, PAWL_EPARSE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_stamp_row stamp = {.value = -7};
        struct shelf shelf;
        struct pawl_buf bytes;
        int status;

        shelf_open(&shelf);
        pawl__buf_init(&bytes, &shelf.alloc.base, FILE_MAX);
        build(&bytes, cases[i].header, cases[i].records, cases[i].size, cases[i].rows);
        status = decode(&shelf, pawl__buf_peek(&bytes), keep_stamp, &stamp, NULL);
        if (status != cases[i].expected)
            print_error("%s: %s\n", cases[i].what, shelf.err.msg);
        assert_code(status, cases[i].expected);
        if (status == PAWL_OK && cases[i].rows == 1)
            assert_int_equal(stamp.value, strcmp(cases[i].what, "a column less") == 0 ? 0 : -2);
        pawl__buf_release(&bytes);
        shelf_close(&shelf);
    }
}

static void only_an_empty_store_is_restored_into(void **state)
{
    struct shelf from, to;
    struct folder folder;
    struct pawl_backup_counts counts;

    (void)state;
    shelf_open(&from);
    shelf_open(&to);
    make_folder(&folder);
    fill(&from, 2);
    shelf_create(&to, "there already");
    assert_ok(pawl__backup_write(from.env, from.plain, folder.file, NULL, &counts, &from.err),
              &from.err);
    check_restore(&to, folder.file, PAWL_ECONFLICT);
    assert_string_equal(to.err.msg, "the store is not empty: its table instances has 1 row; "
                                    "restore into a new one");
    assert_int_equal(count_rows(&to), 1);
    remove_folder(&folder);
    shelf_close(&from);
    shelf_close(&to);
}

static void a_damaged_file_changes_nothing(void **state)
{
    struct shelf from, to;
    struct folder folder;
    struct pawl_buf bytes;

    (void)state;
    shelf_open(&from);
    shelf_open(&to);
    make_folder(&folder);
    fill(&from, 3);
    pawl__buf_init(&bytes, &from.alloc.base, FILE_MAX);
    encode(&from, false, &bytes);
    check_restore(&to, folder.file, PAWL_ENOTFOUND);
    write_file(folder.file, pawl__str_make(bytes.ptr, bytes.len - 1));
    check_restore(&to, folder.file, PAWL_ECORRUPT);
    assert_int_equal(count_rows(&to), 0);
    assert_code(pawl__backup_verify(to.env, folder.file, &to.err), PAWL_ECORRUPT);
    pawl__buf_release(&bytes);
    remove_folder(&folder);
    shelf_close(&from);
    shelf_close(&to);
}

static void an_instance_id_that_no_node_could_claim_is_refused(void **state)
{
    char id[PAWL_INSTANCE_ID_MAX + 1];
    struct pawl_instance_row row = {.id = pawl__str_make(id, sizeof id)};
    struct pawl_backup_counts counts;
    struct folder folder;
    struct shelf from, to;

    (void)state;
    shelf_open(&from);
    shelf_open(&to);
    make_folder(&folder);
    memset(id, 'x', sizeof id);
    add_row(&from, PAWL_TABLE_INSTANCES, &row);
    assert_ok(pawl__backup_write(from.env, from.plain, folder.file, NULL, &counts, &from.err),
              &from.err);
    check_restore(&to, folder.file, PAWL_ECORRUPT);
    assert_non_null(strstr(to.err.msg, "an id that is too long"));
    assert_int_equal(count_rows(&to), 0);
    remove_folder(&folder);
    shelf_close(&from);
    shelf_close(&to);
}

static void count_finding(void *ctx, const char *text)
{
    *(bool *)ctx = strstr(text, "was not finished") != NULL;
}

static void a_restore_cut_short_stays_marked(void **state)
{
    /* The same key twice: whole and sound, but no store can hold it. */
    static const char records[] = STAMPS "\x02\x04namet\x05valueiR\x05\x02"
                                         "ab\x03R\x05\x02"
                                         "ab\x03";
    struct pawl_backup_counts counts;
    uint64_t findings = 0;
    bool told = false;
    struct shelf to;
    struct folder folder;
    struct pawl_buf bytes;

    (void)state;
    shelf_open(&to);
    make_folder(&folder);
    pawl__buf_init(&bytes, &to.alloc.base, FILE_MAX);
    build(&bytes, HEADER, records, sizeof records - 1, 2);
    write_file(folder.file, pawl__buf_peek(&bytes));
    assert_ok(pawl__backup_check_complete(to.env, to.plain, &to.err), &to.err);
    check_restore(&to, folder.file, PAWL_EUNKNOWN);
    assert_non_null(strstr(to.err.msg, "the store is incomplete and marked so"));
    assert_code(pawl__backup_check_complete(to.env, to.plain, &to.err), PAWL_ECONFLICT);
    assert_code(pawl__backup_write(to.env, to.plain, folder.file, NULL, &counts, &to.err),
                PAWL_ECONFLICT);
    assert_ok(pawl__store_check(to.env, to.plain, count_finding, &told, &findings, NULL, &to.err),
              &to.err);
    assert_int_equal(findings, 1);
    assert_true(told);
    check_restore(&to, folder.file, PAWL_ECONFLICT);
    assert_non_null(strstr(to.err.msg, "a restore into this store was not finished"));
    pawl__buf_release(&bytes);
    remove_folder(&folder);
    shelf_close(&to);
}

/* Lets the nth call of the store fail. */
static bool fail_snapshot(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    (void)ctx;
    *how = PAWL_STORE_FAULT_AFTER;
    return call == PAWL_STORE_CALL_SNAPSHOT;
}

/* With what is loaded, once the mark is there. */
static bool fail_load(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    *how = *(const enum pawl_store_fault *)ctx;
    return call == PAWL_STORE_CALL_LOAD;
}

static void a_restore_that_the_store_fails_says_what_is_left(void **state)
{
    static enum pawl_store_fault ways[] = {PAWL_STORE_FAULT_BEFORE, PAWL_STORE_FAULT_AFTER};
    struct pawl_backup_counts counts;
    struct folder folder;
    struct shelf from;

    (void)state;
    shelf_open(&from);
    make_folder(&folder);
    fill(&from, 2);
    assert_ok(pawl__backup_write(from.env, from.plain, folder.file, NULL, &counts, &from.err),
              &from.err);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const struct pawl_store_fault_hooks hooks = {.decide = fail_load, .ctx = &ways[i]};
        struct pawl_store *faulty = NULL;
        struct shelf to;

        shelf_open(&to);
        assert_ok(pawl__fault_store_new(to.env, to.store, &hooks, &faulty, &to.err), &to.err);
        to.store = faulty;
        assert_code(pawl__backup_restore(to.env, faulty, folder.file, NULL, &counts, &to.err),
                    PAWL_EUNKNOWN);
        assert_int_equal(to.err.code, PAWL_EUNKNOWN);
        assert_non_null(strstr(to.err.msg, "the store is incomplete and marked so"));
        shelf_close(&to);
    }
    remove_folder(&folder);
    shelf_close(&from);
}

static void a_backup_that_fails_leaves_the_old_one(void **state)
{
    const struct pawl_store_fault_hooks hooks = {.decide = fail_snapshot};
    struct pawl_backup_counts counts;
    struct pawl_store *faulty = NULL;
    struct shelf shelf;
    struct folder folder;
    struct pawl_str text;

    (void)state;
    shelf_open(&shelf);
    make_folder(&folder);
    fill(&shelf, 2);
    write_file(folder.file, pawl__str("pawl-backup old"));
    write_file(folder.part, pawl__str("left over"));
    assert_ok(pawl__fault_store_new(shelf.env, shelf.store, &hooks, &faulty, &shelf.err),
              &shelf.err);
    shelf.store = faulty;
    assert_code(pawl__backup_write(shelf.env, faulty, folder.file, NULL, &counts, &shelf.err),
                PAWL_EUNAVAILABLE);
    assert_int_equal(access(folder.part, F_OK), -1);
    text = test_read_file(folder.file);
    assert_str(text, "pawl-backup old");
    free((void *)(uintptr_t)text.ptr);
    assert_code(pawl__backup_write(shelf.env, shelf.plain, "/nowhere/b", NULL, &counts, &shelf.err),
                PAWL_ENOTFOUND);
    remove_folder(&folder);
    shelf_close(&shelf);
}

/* The first limit leaves room for a part of what is written at once, the second for nothing. */
static void a_backup_without_room_is_known_not_to_be_there(void **state)
{
    static const rlim_t limits[] = {100, 0};
    struct pawl_backup_counts counts;
    struct rlimit before, less;
    struct folder folder;
    struct shelf from;

    (void)state;
    shelf_open(&from);
    make_folder(&folder);
    fill(&from, 20);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int status;

        less = before;
        less.rlim_cur = limits[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
        status = pawl__backup_write(from.env, from.plain, folder.file, NULL, &counts, &from.err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_true(pawl__error_says_unchanged(status));
        assert_int_equal(from.err.code, status);
        assert_int_not_equal(access(folder.part, F_OK), 0);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    remove_folder(&folder);
    shelf_close(&from);
}

static void only_a_backup_is_replaced(void **state)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    struct pawl_backup_counts counts;
    struct shelf shelf;
    struct folder folder;
    struct pawl_str text;
    char beside[96];

    (void)state;
    shelf_open(&shelf);
    make_folder(&folder);
    fill(&shelf, 2);
    write_file(folder.file, pawl__str("SQLite format 3"));
    assert_code(pawl__backup_write(shelf.env, shelf.plain, folder.file, NULL, &counts, &shelf.err),
                PAWL_EEXISTS);
    assert_non_null(strstr(shelf.err.msg, "is not a backup"));
    write_file(folder.file, pawl__str("pawl"));
    assert_code(pawl__backup_write(shelf.env, shelf.plain, folder.file, NULL, &counts, &shelf.err),
                PAWL_EEXISTS);
    text = test_read_file(folder.file);
    assert_str(text, "pawl");
    free((void *)(uintptr_t)text.ptr);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        (void)snprintf(beside, sizeof beside, "%s%s", folder.file, endings[i]);
        assert_code(pawl__backup_write(shelf.env, shelf.plain, beside, NULL, &counts, &shelf.err),
                    PAWL_EEXISTS);
        assert_int_equal(access(beside, F_OK), -1);
    }
    assert_int_equal(access(folder.part, F_OK), -1);
    write_file(folder.file, pawl__str(""));
    assert_ok(pawl__backup_write(shelf.env, shelf.plain, folder.file, NULL, &counts, &shelf.err),
              &shelf.err);
    assert_ok(pawl__backup_write(shelf.env, shelf.plain, folder.file, NULL, &counts, &shelf.err),
              &shelf.err);
    remove_folder(&folder);
    shelf_close(&shelf);
}

static void watch(void *ctx, const struct pawl_backup_counts *so_far)
{
    uint64_t *last = ctx;

    assert_true(so_far->size_bytes > *last);
    *last = so_far->size_bytes;
}

static void progress_is_told(void **state)
{
    uint64_t last = 0;
    struct pawl_backup_options options = {.progress = watch, .progress_ctx = &last};
    struct pawl_backup_counts counts;
    struct shelf shelf;
    struct folder folder;

    (void)state;
    shelf_open(&shelf);
    make_folder(&folder);
    fill(&shelf, 3);
    assert_ok(
        pawl__backup_write(shelf.env, shelf.plain, folder.file, &options, &counts, &shelf.err),
        &shelf.err);
    assert_true(last > 0 && last < counts.size_bytes);
    remove_folder(&folder);
    shelf_close(&shelf);
}

struct sweep {
    struct shelf shelf;
    struct pawl_str bytes;
    bool reads;
};

/* Only the codec allocates from the failing allocator; the store has its own. */
static int sweep_once(struct test_allocator *alloc, void *arg)
{
    struct sweep *sweep = arg;
    struct reading reading = {sweep->bytes, 0};
    struct pawl_backup_source source = {read_bytes, &reading};
    struct pawl_backup_counts counts;
    struct pawl_buf out;
    struct pawl_backup_sink sink = {append, &out};
    int status;

    if (sweep->reads)
        return pawl__backup_decode(&alloc->base, &source, NULL, NULL, NULL, &counts, NULL);
    pawl__buf_init(&out, &sweep->shelf.alloc.base, FILE_MAX);
    status = pawl__backup_encode(&alloc->base, sweep->shelf.plain, NULL, &sink, &counts,
                                 PAWL_FOREVER, NULL);
    pawl__buf_release(&out);
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct sweep sweep = {.reads = false};
    struct pawl_buf bytes;

    (void)state;
    shelf_open(&sweep.shelf);
    fill(&sweep.shelf, 40);
    pawl__buf_init(&bytes, &sweep.shelf.alloc.base, FILE_MAX);
    encode(&sweep.shelf, false, &bytes);
    sweep.bytes = pawl__buf_peek(&bytes);
    test_sweep_allocations(sweep_once, &sweep, 200);
    sweep.reads = true;
    test_sweep_allocations(sweep_once, &sweep, 200);
    pawl__buf_release(&bytes);
    shelf_close(&sweep.shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_backed_up_is_restored_to_the_byte),
        cmocka_unit_test(large_rows_have_blocks_of_their_own),
        cmocka_unit_test(a_restored_store_gives_new_incarnations),
        cmocka_unit_test(is_refused_when_cut_at_any_byte),
        cmocka_unit_test(is_refused_when_any_bit_is_changed),
        cmocka_unit_test(other_versions_are_read_or_refused_clearly),
        cmocka_unit_test(only_an_empty_store_is_restored_into),
        cmocka_unit_test(a_damaged_file_changes_nothing),
        cmocka_unit_test(an_instance_id_that_no_node_could_claim_is_refused),
        cmocka_unit_test(a_restore_cut_short_stays_marked),
        cmocka_unit_test(a_restore_that_the_store_fails_says_what_is_left),
        cmocka_unit_test(a_backup_that_fails_leaves_the_old_one),
        cmocka_unit_test(a_backup_without_room_is_known_not_to_be_there),
        cmocka_unit_test(only_a_backup_is_replaced),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("host/backup", tests, NULL, NULL);
}
