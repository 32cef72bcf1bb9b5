/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' allocator, checks and files; see test.h. */
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* For the files of some servers. */
#define ROOM_BYTES (UINT64_C(2) << 30)

/* What was said before an abort must be seen: the first failure is often the cause of it. */
__attribute__((constructor)) static void write_lines_at_once(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
}

static int refuse(struct test_allocator *alloc)
{
    size_t number = ++alloc->request_count;

    if (alloc->fail_at == 0)
        return 0;
    return number == alloc->fail_at || (alloc->fail_on && number > alloc->fail_at);
}

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    struct test_allocator *alloc = ctx;
    void *moved;

    assert_true((ptr == NULL) == (old_size == 0));
    if (new_size == 0) {
        assert_non_null(ptr);
        alloc->live_bytes -= old_size;
        alloc->live_count--;
        memset(ptr, 0xa5, old_size); /* whoever still reads it notices */
        free(ptr);
        return NULL;
    }
    if (new_size > old_size && refuse(alloc))
        return NULL;
    moved = realloc(ptr, new_size);
    assert_non_null(moved);
    alloc->live_bytes += new_size - old_size;
    alloc->live_count += ptr == NULL;
    return moved;
}

void test_allocator_init(struct test_allocator *alloc)
{
    memset(alloc, 0, sizeof *alloc);
    alloc->base.resize = resize;
    alloc->base.ctx = alloc;
}

void test_allocator_fail(struct test_allocator *alloc, size_t nth, int also_all_later)
{
    alloc->fail_at = nth ? alloc->request_count + nth : 0;
    alloc->fail_on = also_all_later;
}

void test_sweep_allocations(int (*body)(struct test_allocator *alloc, void *arg), void *arg,
                            size_t most)
{
    for (int persistent = 0; persistent <= 1; persistent++) {
        for (size_t nth = 1;; nth++) {
            struct test_allocator alloc;
            int status;

            if (nth > most)
                fail_msg("allocation sweep: still failing after %zu rounds", most);
            test_allocator_init(&alloc);
            test_allocator_fail(&alloc, nth, persistent);
            status = body(&alloc, arg);
            if (alloc.live_count != 0)
                fail_msg("allocation sweep: refusing number %zu leaks %zu blocks", nth,
                         alloc.live_count);
            if (alloc.request_count < nth) {
                assert_code(status, PAWL_OK);
                break;
            }
            /* A transient refusal may be survived, a wrong code may not be answered. */
            if (status != PAWL_OK)
                assert_code(status, PAWL_ENOMEM);
            else if (persistent)
                fail_msg("allocation sweep: number %zu and all later refused, yet success", nth);
        }
    }
}

void test_assert_ok(int code, const struct pawl_error *err, const char *call, const char *file,
                    int line)
{
    if (code == PAWL_OK)
        return;
    print_error("%s: %s (%s)\n", call, pawl_error_name(code), err ? err->msg : "no message");
    _fail(file, line);
}

void test_assert_code(int code, int expected, const char *call, const char *file, int line)
{
    if (code == expected)
        return;
    print_error("%s: %s, expected %s\n", call, pawl_error_name(code), pawl_error_name(expected));
    _fail(file, line);
}

void test_assert_str(struct pawl_str s, const char *text, const char *file, int line)
{
    if (pawl__str_is(s, text))
        return;
    print_error("\"%.*s\", expected \"%s\"\n", PAWL_STR_ARG(s), text);
    _fail(file, line);
}

const char *test_data_path(char *buffer, size_t size, const char *name)
{
    assert_true((size_t)snprintf(buffer, size, "%s/%s", TEST_DATA_DIR, name) < size);
    return buffer;
}

struct pawl_str test_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    long size;

    if (!file)
        fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
    bytes[size] = '\0';
    assert_int_equal(fclose(file), 0);
    return pawl__str_make(bytes, (size_t)size);
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

const char *test_fast_folder(void)
{
    static const char memory[] = "/dev/shm";
    const char *chosen = getenv("PAWL_TEST_FOLDER");
    struct statvfs room;

    if (chosen)
        return chosen;
    if (access(memory, W_OK) != 0 || statvfs(memory, &room) != 0 ||
        room.f_bavail * room.f_frsize < ROOM_BYTES)
        return "/tmp";
    return memory;
}

uint64_t test_rotation(void)
{
    const char *text = getenv("PAWL_TEST_ROTATION");

    return text ? strtoull(text, NULL, 10) : 0;
}
