/* SPDX-License-Identifier: Apache-2.0 */
/* Files in memory. */
#include "os/memory_file.h"
#include "lib/test.h"

#include <stdio.h>

static void what_was_appended_is_read_by_its_path(void **state)
{
    char path[PAWL_MEMORY_FILE_PATH_SIZE], line[32];
    struct pawl_error err = PAWL_ERROR_INIT;
    struct test_allocator alloc;
    struct pawl_buf content;
    int fd = -1;
    FILE *file;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&content, &alloc.base, 100);
    assert_ok(pawl__memory_file_open("test", &fd, &err), &err);
    assert_ok(pawl__memory_file_append(fd, pawl__str("one\n"), &err), &err);
    pawl__memory_file_path(fd, path);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "one\n");
    /* Another reader, and somebody who read already: both see what came later. */
    assert_ok(pawl__memory_file_append(fd, pawl__str("two\n"), &err), &err);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "two\n");
    assert_ok(pawl__memory_file_read(fd, &content, &err), &err);
    assert_str(pawl__buf_peek(&content), "one\ntwo\n");
    (void)fclose(file);
    pawl__buf_release(&content);
    pawl__memory_file_close(fd);
    pawl__memory_file_close(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_appended_is_read_by_its_path)};

    return cmocka_run_group_tests_name("os/memory_file", tests, NULL, NULL);
}
