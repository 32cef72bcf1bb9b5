/* SPDX-License-Identifier: Apache-2.0 */
#include "os/file.h"
#include "lib/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fresh folder per test, removed with what is in it. */
struct folder {
    char path[64];
    char name[128]; /* the last path asked for */
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);

    if (!folder)
        return -1;
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/pawl-test-XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    char command[128];
    int rc;

    (void)snprintf(command, sizeof command, "rm -r %s", folder->path);
    rc = system(command);
    free(folder);
    return rc;
}

static const char *in(struct folder *folder, const char *name)
{
    (void)snprintf(folder->name, sizeof folder->name, "%s/%s", folder->path, name);
    return folder->name;
}

static void write_file(struct folder *folder, const char *name, const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl__file_write(in(folder, name), pawl__str(text), 0644, &err), &err);
}

static size_t count_names(struct folder *folder)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_str *names;
    size_t count = 0;

    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    assert_ok(pawl__folder_list(folder->path, &arena, &names, &count, &err), &err);
    pawl__arena_release(&arena);
    return count;
}

static void what_was_written_is_read(void **state)
{
    struct folder *folder = *state;
    struct test_allocator alloc;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_buf buf;
    struct stat info;
    size_t large_bytes = 300000;
    char *large = malloc(large_bytes);

    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 1 << 20);
    assert_non_null(large);
    memset(large, 'x', large_bytes);
    write_file(folder, "f", "old");
    assert_ok(pawl__file_write(in(folder, "f"), pawl__str_make(large, large_bytes), 0600, &err),
              &err);
    assert_int_equal(stat(in(folder, "f"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_ok(pawl__file_read(in(folder, "f"), &buf, &err), &err);
    assert_int_equal(buf.len, large_bytes);
    assert_memory_equal(buf.ptr, large, large_bytes);
    pawl__buf_clear(&buf);
    pawl__buf_text(&buf, "before ");
    write_file(folder, "f", "");
    assert_ok(pawl__file_read(in(folder, "f"), &buf, &err), &err);
    write_file(folder, "f", "after");
    assert_ok(pawl__file_read(in(folder, "f"), &buf, &err), &err);
    assert_str(pawl__buf_peek(&buf), "before after");
    assert_int_equal(count_names(folder), 1); /* no temporary file stays */
    pawl__buf_release(&buf);
    free(large);
}

static void reading_fails_clearly_and_leaves_the_buffer(void **state)
{
    struct folder *folder = *state;
    struct test_allocator alloc;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_buf buf;

    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 10);
    pawl__buf_text(&buf, "12");
    assert_code(pawl__file_read(in(folder, "none"), &buf, &err), PAWL_ENOTFOUND);
    assert_non_null(strstr(err.msg, "/none: No such file"));
    assert_code(pawl__file_read(folder->path, &buf, &err), PAWL_EINVAL);
    assert_non_null(strstr(err.msg, folder->path));
    assert_non_null(strstr(err.msg, "Is a directory"));
    write_file(folder, "f", "123456789");
    assert_code(pawl__file_read(in(folder, "f"), &buf, &err), PAWL_ELIMIT);
    assert_non_null(strstr(err.msg, "/f is larger than the 8 bytes allowed"));
    assert_str(pawl__buf_peek(&buf), "12");
    write_file(folder, "f", "12345678");
    assert_ok(pawl__file_read(in(folder, "f"), &buf, &err), &err);
    assert_str(pawl__buf_peek(&buf), "1212345678");
    pawl__buf_release(&buf);
}

static void a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl__folder_make(in(folder, "is-a-folder"), 0777, &err), &err);
    write_file(folder, "is-a-folder/f", "x");
    assert_code(pawl__file_write(in(folder, "is-a-folder"), pawl__str("x"), 0644, &err),
                PAWL_EINVAL);
    assert_int_equal(count_names(folder), 1);
    assert_code(pawl__file_write(in(folder, "none/f"), pawl__str("x"), 0644, &err), PAWL_ENOTFOUND);
    assert_non_null(strstr(err.msg, "none/f"));
}

/* An administrator who writes to /dev/null would take it from everybody. */
static void what_is_no_ordinary_file_is_not_replaced(void **state)
{
    static const char *const names[] = {"pipe", "link-to-pipe", "link-to-output"};
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;
    char target[PATH_MAX];
    struct stat before, after;

    assert_int_equal(mkfifo(in(folder, "pipe"), 0600), 0);
    (void)snprintf(target, sizeof target, "%s", in(folder, "pipe"));
    assert_int_equal(symlink(target, in(folder, "link-to-pipe")), 0);
    assert_int_equal(symlink("/proc/self/fd/1", in(folder, "link-to-output")), 0);
    write_file(folder, "new", "x");
    (void)snprintf(target, sizeof target, "%s", in(folder, "new"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(lstat(in(folder, names[i]), &before), 0);
        assert_code(pawl__file_write(in(folder, names[i]), pawl__str("x"), 0644, &err),
                    PAWL_EINVAL);
        assert_non_null(strstr(err.msg, names[i]));
        assert_code(pawl__file_rename(target, in(folder, names[i]), &err), PAWL_EINVAL);
        assert_int_equal(lstat(in(folder, names[i]), &after), 0);
        assert_int_equal(after.st_ino, before.st_ino);
    }
    assert_int_equal(count_names(folder), 4);
    assert_int_equal(symlink(target, in(folder, "link-to-file")), 0);
    assert_ok(pawl__file_write(in(folder, "link-to-file"), pawl__str("y"), 0644, &err), &err);
}

static void exists_and_remove(void **state)
{
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;
    bool exists = false;

    write_file(folder, "f", "x");
    assert_ok(pawl__file_exists(in(folder, "f"), &exists, &err), &err);
    assert_true(exists);
    assert_ok(pawl__file_exists(folder->path, &exists, &err), &err);
    assert_true(exists);
    assert_ok(pawl__file_exists(in(folder, "f/below-a-file"), &exists, &err), &err);
    assert_false(exists);
    assert_ok(pawl__file_remove(in(folder, "f"), &err), &err);
    assert_ok(pawl__file_exists(in(folder, "f"), &exists, &err), &err);
    assert_false(exists);
    assert_code(pawl__file_remove(in(folder, "f"), &err), PAWL_ENOTFOUND);
    assert_code(pawl__file_remove(folder->path, &err), PAWL_EINVAL);
}

static void makes_folders_with_those_above(void **state)
{
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;
    bool exists = false;

    assert_ok(pawl__folder_make(in(folder, "a//b/c/"), 0777, &err), &err);
    assert_ok(pawl__folder_make(in(folder, "a/b/c"), 0777, &err), &err);
    assert_ok(pawl__file_exists(in(folder, "a/b/c"), &exists, &err), &err);
    assert_true(exists);
    write_file(folder, "file", "x");
    assert_code(pawl__folder_make(in(folder, "file"), 0777, &err), PAWL_EINVAL);
    assert_code(pawl__folder_make(in(folder, "file/x"), 0777, &err), PAWL_EINVAL);
    assert_code(pawl__folder_make("", 0777, &err), PAWL_EINVAL);
    assert_ok(pawl__folder_make("/", 0777, &err), &err);
    assert_ok(pawl__folder_make(".", 0777, &err), &err);
}

static void lists_names_in_order(void **state)
{
    struct folder *folder = *state;
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_str *names = NULL;
    size_t count = 77;

    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    assert_ok(pawl__folder_list(folder->path, &arena, &names, &count, &err), &err);
    assert_int_equal(count, 0);
    for (int i = 49; i >= 0; i--) {
        char name[16];

        (void)snprintf(name, sizeof name, "n%02d", i);
        write_file(folder, name, "x");
    }
    write_file(folder, ".hidden", "x");
    write_file(folder, "Z", "x");
    assert_ok(pawl__folder_list(folder->path, &arena, &names, &count, &err), &err);
    assert_int_equal(count, 52);
    assert_str(names[0], ".hidden");
    assert_str(names[1], "Z");
    assert_str(names[2], "n00");
    assert_str(names[51], "n49");
    assert_int_equal(names[51].ptr[3], '\0');
    assert_code(pawl__folder_list(in(folder, "none"), &arena, &names, &count, &err),
                PAWL_ENOTFOUND);
    assert_code(pawl__folder_list(in(folder, "Z"), &arena, &names, &count, &err), PAWL_EINVAL);
    pawl__arena_release(&arena);
}

static void appends_and_syncs(void **state)
{
    struct folder *folder = *state;
    struct test_allocator alloc;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_file *file = NULL;
    struct pawl_buf buf;

    test_allocator_init(&alloc);
    for (int i = 0; i < 2; i++) {
        assert_ok(pawl__file_open(&alloc.base, in(folder, "log"), 0644, &file, &err), &err);
        assert_ok(pawl__file_append(file, pawl__str("one "), &err), &err);
        assert_ok(pawl__file_append(file, pawl__str(""), &err), &err);
        assert_ok(pawl__file_append(file, pawl__str("two "), &err), &err);
        assert_ok(pawl__file_sync(file, &err), &err);
        pawl__file_close(file);
    }
    pawl__buf_init(&buf, &alloc.base, 100);
    assert_ok(pawl__file_read(in(folder, "log"), &buf, &err), &err);
    assert_str(pawl__buf_peek(&buf), "one two one two ");
    pawl__buf_release(&buf);
    assert_code(pawl__file_open(&alloc.base, folder->path, 0644, &file, &err), PAWL_EINVAL);
    pawl__file_close(NULL);
    assert_int_equal(alloc.live_count, 0);
}

static void is_read_piece_by_piece(void **state)
{
    struct folder *folder = *state;
    struct test_allocator alloc;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_file *file = NULL;
    size_t count = 9;
    char bytes[4];

    test_allocator_init(&alloc);
    write_file(folder, "f", "sixsix");
    assert_ok(pawl__file_open_read(&alloc.base, in(folder, "f"), &file, &err), &err);
    assert_ok(pawl__file_next(file, bytes, 4, &count, &err), &err);
    assert_int_equal(count, 4);
    assert_memory_equal(bytes, "sixs", 4);
    assert_ok(pawl__file_next(file, bytes, 4, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_memory_equal(bytes, "ix", 2);
    assert_ok(pawl__file_next(file, bytes, 4, &count, &err), &err);
    assert_int_equal(count, 0);
    pawl__file_close(file);
    assert_code(pawl__file_open_read(&alloc.base, folder->path, &file, &err), PAWL_EINVAL);
    assert_code(pawl__file_open_read(&alloc.base, in(folder, "none"), &file, &err), PAWL_ENOTFOUND);
    assert_int_equal(alloc.live_count, 0);
}

static void is_renamed_over_another(void **state)
{
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;
    char from[128];
    struct pawl_str text;

    write_file(folder, "old", "old");
    write_file(folder, "new", "new");
    (void)snprintf(from, sizeof from, "%s/new", folder->path);
    assert_ok(pawl__file_rename(from, in(folder, "old"), &err), &err);
    assert_int_equal(count_names(folder), 1);
    text = test_read_file(in(folder, "old"));
    assert_str(text, "new");
    free((void *)(uintptr_t)text.ptr);
    assert_code(pawl__file_rename(from, in(folder, "old"), &err), PAWL_ENOTFOUND);
}

static void a_full_disk_is_said_to_be_full(void **state)
{
    struct test_allocator alloc;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_file *file = NULL;

    (void)state;
    test_allocator_init(&alloc);
    assert_ok(pawl__file_open(&alloc.base, "/dev/full", 0644, &file, &err), &err);
    assert_code(pawl__file_append(file, pawl__str("x"), &err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "/dev/full: No space left"));
    pawl__file_close(file);
}

static int use_everything(struct test_allocator *alloc, void *arg)
{
    struct folder *folder = arg;
    struct pawl_file *file = NULL;
    struct pawl_arena arena;
    struct pawl_buf buf;
    struct pawl_str *names;
    size_t count;
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    pawl__buf_init(&buf, &alloc->base, 1 << 20);
    status = pawl__file_open(&alloc->base, in(folder, "f"), 0644, &file, NULL);
    if (status == PAWL_OK)
        status = pawl__file_read(in(folder, "f"), &buf, NULL);
    if (status == PAWL_OK)
        status = pawl__folder_list(folder->path, &arena, &names, &count, NULL);
    pawl__file_close(file);
    pawl__buf_release(&buf);
    pawl__arena_release(&arena);
    return status;
}

static void only_regular_files_are_read_where_others_chose_them(void **state)
{
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct test_allocator alloc;
    struct pawl_buf buf;

    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 16);
    write_file(folder, "f", "text");
    assert_ok(pawl__file_read_regular(in(folder, "f"), &buf, &err), &err);
    assert_string_equal(pawl__buf_cstr(&buf), "text");
    assert_int_equal(mkfifo(in(folder, "p"), 0600), 0);
    assert_code(pawl__file_read_regular(in(folder, "p"), &buf, &err), PAWL_EINVAL);
    assert_non_null(strstr(err.msg, "is a pipe"));
    assert_code(pawl__file_read_regular(folder->path, &buf, &err), PAWL_EINVAL);
    assert_code(pawl__file_read_regular("/dev/zero", &buf, &err), PAWL_EINVAL);
    assert_code(pawl__file_read_regular(in(folder, "none"), &buf, &err), PAWL_ENOTFOUND);
    write_file(folder, "f", "more than sixteen bytes of it");
    assert_code(pawl__file_read_regular(in(folder, "f"), &buf, &err), PAWL_ELIMIT);
    pawl__buf_release(&buf);
    assert_int_equal(unlink(in(folder, "p")), 0);
}

static void a_file_is_made_with_its_mode_and_never_through_a_link(void **state)
{
    struct folder *folder = *state;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct stat info;
    char target[512];

    assert_ok(pawl__file_make(in(folder, "f"), 0640, &err), &err);
    assert_int_equal(stat(in(folder, "f"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_ok(pawl__file_make(in(folder, "f"), 0600, &err), &err);
    assert_int_equal(stat(in(folder, "f"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    (void)snprintf(target, sizeof target, "%s", in(folder, "target"));
    assert_int_equal(symlink(target, in(folder, "link")), 0);
    assert_code(pawl__file_make(in(folder, "link"), 0600, &err), PAWL_EINVAL);
    assert_int_not_equal(stat(target, &info), 0);
    assert_int_equal(unlink(in(folder, "link")), 0);
}

static void survives_refused_allocations(void **state)
{
    struct folder *folder = *state;

    write_file(folder, "f", "some text");
    test_sweep_allocations(use_everything, folder, 20);
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(what_was_written_is_read),
        in_folder(reading_fails_clearly_and_leaves_the_buffer),
        in_folder(a_failed_write_leaves_the_old_file_and_nothing_else),
        in_folder(what_is_no_ordinary_file_is_not_replaced),
        in_folder(exists_and_remove),
        in_folder(makes_folders_with_those_above),
        in_folder(lists_names_in_order),
        in_folder(appends_and_syncs),
        in_folder(is_read_piece_by_piece),
        in_folder(is_renamed_over_another),
        in_folder(only_regular_files_are_read_where_others_chose_them),
        in_folder(a_file_is_made_with_its_mode_and_never_through_a_link),
        cmocka_unit_test(a_full_disk_is_said_to_be_full),
        in_folder(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("os/file", tests, NULL, NULL);
}
