/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives: what was written is read again, and what nobody should read is refused. */
#include "http/zip.h"

#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_MAX ((size_t)80 << 20)
#define OUT_MAX ((size_t)64 << 20)

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf out;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, ARENA_MAX);
    pawl__buf_init(&f->out, &f->alloc.base, OUT_MAX);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
}

static void close_fixture(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    pawl__buf_release(&f->out);
    assert_int_equal(f->alloc.live_count, 0);
}

static struct pawl_str archive_of(struct fixture *f, const struct pawl_zip_file *files,
                                  size_t count)
{
    pawl__buf_clear(&f->out);
    assert_code(pawl__zip_write(files, count, &f->out, &f->err), PAWL_OK);
    return pawl__buf_peek(&f->out);
}

static int read_again(struct fixture *f, struct pawl_zip *zip)
{
    return pawl__zip_read(pawl__buf_peek(&f->out), &f->arena, zip, &f->err);
}

static void assert_refused(struct fixture *f, int code)
{
    struct pawl_zip zip = {NULL, 7};

    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    assert_code(read_again(f, &zip), code);
    assert_int_equal(zip.count, 7);
    assert_true(f->err.msg[0] != '\0');
}

static void files_come_back_as_they_were(void **state)
{
    static char noise[5000];
    struct fixture f;
    struct pawl_zip zip;
    struct pawl_zip_file files[] = {
        {pawl__str("a.json"), pawl__str("{\"a\": 1}")},
        {pawl__str("folder/\xc3\xa9.json"), pawl__str("")},
        {pawl__str("noise"), pawl__str_make(noise, sizeof noise)},
    };
    uint32_t seed = 1;

    (void)state;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)((seed = seed * 1664525u + 1013904223u) >> 24);
    open_fixture(&f);
    (void)archive_of(&f, files, 3);
    assert_code(read_again(&f, &zip), PAWL_OK);
    assert_int_equal(zip.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(pawl__str_equal(zip.files[i].name, files[i].name));
        assert_true(pawl__str_equal(zip.files[i].content, files[i].content));
    }
    (void)archive_of(&f, NULL, 0);
    assert_code(read_again(&f, &zip), PAWL_OK);
    assert_int_equal(zip.count, 0);
    close_fixture(&f);
}

static void every_shorter_archive_is_refused(void **state)
{
    struct fixture f;
    struct pawl_zip zip;
    const struct pawl_zip_file file = {pawl__str("a.json"), pawl__str("aaaaaaaaaaaaaaaaaaaaaaaaa")};
    struct pawl_str whole;

    (void)state;
    open_fixture(&f);
    whole = archive_of(&f, &file, 1);
    for (size_t len = 0; len < whole.len; len++)
        assert_code(pawl__zip_read(pawl__str_slice(whole, 0, len), &f.arena, &zip, &f.err),
                    PAWL_EPARSE);
    close_fixture(&f);
}

/* Whatever bit is turned: it is refused, or the content is what it was. */
static void no_damage_changes_a_content(void **state)
{
    struct fixture f;
    const struct pawl_zip_file file = {pawl__str("a.json"),
                                       pawl__str("aaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb")};
    size_t refused = 0;

    (void)state;
    open_fixture(&f);
    (void)archive_of(&f, &file, 1);
    for (size_t bit = 0; bit < f.out.len * 8; bit++) {
        struct pawl_zip zip;
        int status;

        f.out.ptr[bit / 8] ^= (char)(1 << bit % 8);
        status = read_again(&f, &zip);
        f.out.ptr[bit / 8] ^= (char)(1 << bit % 8);
        refused += status != PAWL_OK;
        if (status == PAWL_OK && zip.count > 0)
            assert_true(pawl__str_equal(zip.files[0].content, file.content));
        else if (status != PAWL_OK)
            assert_true(status == PAWL_EPARSE || status == PAWL_ELIMIT);
    }
    assert_true(refused > 100);
    close_fixture(&f);
}

static void names_that_lead_outside_are_refused(void **state)
{
    static const char *const names[] = {"../a", "/a",  "a/../b", "..",    "a/..",  "a\\b",
                                        "c:a",  "./a", "a\x01b", "a\xff", "a/./b", "//a"};
    struct fixture f;
    struct pawl_zip zip;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct pawl_zip_file file = {pawl__str(names[i]), pawl__str("x")};

        (void)archive_of(&f, &file, 1);
        assert_refused(&f, PAWL_EPARSE);
    }
    (void)archive_of(&f, &(struct pawl_zip_file){pawl__str("a/..b/c..json"), pawl__str("x")}, 1);
    assert_code(read_again(&f, &zip), PAWL_OK);
    (void)archive_of(&f, &(struct pawl_zip_file){pawl__str("folder/"), pawl__str("")}, 1);
    assert_code(read_again(&f, &zip), PAWL_OK);
    assert_int_equal(zip.count, 0);
    close_fixture(&f);
}

static void bombs_are_refused(void **state)
{
    static char zeros[(size_t)4 << 20];
    struct pawl_zip_file files[9];
    struct fixture f;
    size_t at;

    (void)state;
    memset(zeros, ' ', sizeof zeros);
    open_fixture(&f);
    /* By ratio: it says its size. */
    files[0] = (struct pawl_zip_file){pawl__str("a"), pawl__str_make(zeros, sizeof zeros)};
    (void)archive_of(&f, files, 1);
    assert_true(f.out.len < sizeof zeros / PAWL_ZIP_RATIO_MAX);
    assert_refused(&f, PAWL_ELIMIT);
    /* It says less than it becomes: the directory's size is 46 bytes and the name before the end,
     * and its member 24. */
    at = f.out.len - 22 - 1 - 46 + 24;
    memcpy(f.out.ptr + at, "\x10\x00\x00\x00", 4);
    assert_refused(&f, PAWL_EPARSE);
    /* By the sum: writing refuses it too. */
    for (size_t i = 0; i < 9; i++)
        files[i] = (struct pawl_zip_file){pawl__str("a"), pawl__str_make(zeros, sizeof zeros)};
    assert_code(pawl__zip_write(files, 9, &f.out, &f.err), PAWL_ELIMIT);
    close_fixture(&f);
}

static void the_number_of_files_is_bounded(void **state)
{
    static struct pawl_zip_file files[PAWL_ZIP_FILES_MAX + 1];
    static char names[PAWL_ZIP_FILES_MAX + 1][8];
    struct fixture f;
    struct pawl_zip zip;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i <= PAWL_ZIP_FILES_MAX; i++) {
        (void)snprintf(names[i], sizeof names[i], "%zu", i);
        files[i] = (struct pawl_zip_file){pawl__str(names[i]), pawl__str("")};
    }
    assert_code(pawl__zip_write(files, PAWL_ZIP_FILES_MAX + 1, &f.out, &f.err), PAWL_ELIMIT);
    assert_int_equal(f.out.len, 0);
    (void)archive_of(&f, files, PAWL_ZIP_FILES_MAX);
    assert_code(read_again(&f, &zip), PAWL_OK);
    assert_int_equal(zip.count, PAWL_ZIP_FILES_MAX);
    /* An end record that counts one more. */
    f.out.ptr[f.out.len - 22 + 8]++;
    f.out.ptr[f.out.len - 22 + 10]++;
    assert_refused(&f, PAWL_ELIMIT);
    /* Two of one name. */
    files[1].name = files[0].name;
    (void)archive_of(&f, files, 2);
    assert_refused(&f, PAWL_EPARSE);
    close_fixture(&f);
}

static void without_room_nothing_is_written(void **state)
{
    const struct pawl_zip_file file = {pawl__str("a.json"), pawl__str("some content")};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.out.max = 60;
    pawl__buf_text(&f.out, "before");
    assert_code(pawl__zip_write(&file, 1, &f.out, &f.err), PAWL_ELIMIT);
    assert_str(pawl__buf_peek(&f.out), "before");
    assert_int_equal(f.out.status, PAWL_OK);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back_as_they_were),
        cmocka_unit_test(every_shorter_archive_is_refused),
        cmocka_unit_test(no_damage_changes_a_content),
        cmocka_unit_test(names_that_lead_outside_are_refused),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(the_number_of_files_is_bounded),
        cmocka_unit_test(without_room_nothing_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
