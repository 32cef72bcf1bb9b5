/* SPDX-License-Identifier: Apache-2.0 */
/* Names at servers against what .NET's library computed, and a few that need no recordings. */
#include "locks/names.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/json/json.h"
#include "lib/test.h"
#include "locks/names_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORDED TEST_RECORDINGS_DIR "/vectors/lock-names.json"

static const char *file_of(struct pawl_str name)
{
    static char out[PAWL_LOCK_FILE_NAME_SIZE];

    pawl__lock_name_file(name, out);
    return out;
}

static const char *postgres_of(struct pawl_str name)
{
    static char out[PAWL_PG_LOCK_KEY_TEXT_SIZE];
    struct pawl_pg_lock_key key;

    pawl__lock_name_postgres(name, &key);
    pawl__lock_name_postgres_text(&key, out);
    return out;
}

static const char *sqlserver_of(struct pawl_str name)
{
    static char out[PAWL_SQLSERVER_LOCK_NAME_SIZE];

    (void)pawl__lock_name_sqlserver_text(name, out);
    return out;
}

static const char *azure_of(struct pawl_str name)
{
    static char out[PAWL_AZURE_LOCK_NAME_SIZE];

    (void)pawl__lock_name_azure(name, PAWL_AZURE_LOCK_UNITS_MAX, out);
    return out;
}

static void maps_names_as_recorded_once(void **state)
{
    (void)state;
    assert_string_equal(file_of(pawl__str("lock")), "lockVG4WKV5RK26IFK3EQFSERM4ALSUOHWO4.lock");
    assert_string_equal(file_of(pawl__str("workflow-instance:3f2a9c1b7d4e8f06")),
                        "workflow_instance_3f2a9c1b7XOC3GZJF2YM5V56KGNGHORWPPTNTZ3C5.lock");
    assert_string_equal(postgres_of(pawl__str("")), "2147483647,-1");
    assert_string_equal(postgres_of(pawl__str("a")), "-1023410177,-1");
    assert_string_equal(postgres_of(pawl__str("lock")), "-641786185,-1");
    assert_string_equal(postgres_of(pawl__str("workflow-instance:abc")), "5341647807707390374");
    assert_string_equal(postgres_of(pawl__str("DistributedBookmarkQueueWorker")),
                        "-1592581690208470859");
    assert_string_equal(postgres_of(pawl__str("00000001,00000002")), "1,2");
    assert_string_equal(postgres_of(pawl__str("AAAAAAAAAAAAAAAA")), "-6148914691236517206");
    assert_string_equal(sqlserver_of(pawl__str("lock")), "lock");
    assert_string_equal(azure_of(pawl__str("a/b")), "a/b");
}

static void different_long_names_stay_different(void **state)
{
    char upper[2000], lower[2000], first[PAWL_SQLSERVER_LOCK_NAME_SIZE];

    (void)state;
    memset(lower, 'x', sizeof lower);
    memcpy(upper, lower, sizeof upper);
    upper[sizeof upper - 1] = 'X';
    (void)pawl__lock_name_sqlserver_text(pawl__str_make(upper, sizeof upper), first);
    assert_string_not_equal(first, sqlserver_of(pawl__str_make(lower, sizeof lower)));
    assert_int_equal(strlen(first), PAWL_SQLSERVER_LOCK_UNITS_MAX);
    assert_int_equal(strlen(azure_of(pawl__str_make(lower, sizeof lower))),
                     PAWL_AZURE_LOCK_UNITS_MAX);
}

/* .NET has no such names, so nothing is recorded; they must only not become each other's. */
static void malformed_names_stay_different(void **state)
{
    char first[PAWL_AZURE_LOCK_NAME_SIZE];

    (void)state;
    (void)pawl__lock_name_sqlserver_text(pawl__str("a\xff"), first);
    assert_string_not_equal(first, sqlserver_of(pawl__str("a\xfe")));
    assert_string_not_equal(first, sqlserver_of(pawl__str("a\xef\xbf\xbd")));
    (void)pawl__lock_name_azure(pawl__str("a\xff"), PAWL_AZURE_LOCK_UNITS_MAX, first);
    assert_string_not_equal(first, azure_of(pawl__str("a\xfe")));
}

static void names_that_leave_their_container_are_refused(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    char path[PAWL_AZURE_LOCK_PATH_SIZE];

    (void)state;
    assert_code(
        pawl__lock_name_azure_path(pawl__str("../up"), PAWL_AZURE_LOCK_UNITS_MAX, path, &err),
        PAWL_EINVAL);
    assert_code(
        pawl__lock_name_azure_path(pawl__str("a/../../b"), PAWL_AZURE_LOCK_UNITS_MAX, path, &err),
        PAWL_EINVAL);
    assert_ok(pawl__lock_name_azure_path(pawl__str("a/./b"), PAWL_AZURE_LOCK_UNITS_MAX, path, &err),
              &err);
    assert_string_equal(path, "a/b");
}

/* ---- recordings -------------------------------------------------------------------------- */

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_error err;
    char name[PAWL_AZURE_LOCK_NAME_SIZE * 32];
    size_t wrong;
};

static const struct pawl_json *get(const struct pawl_json *object, const char *key)
{
    return pawl__json_get_text(object, key);
}

static struct pawl_str from_hex(struct fixture *f, const struct pawl_json *text)
{
    struct pawl_str digits = pawl__json_str(text);

    assert_true(digits.len / 2 <= sizeof f->name);
    for (size_t i = 0; i < digits.len / 2; i++) {
        char two[3] = {digits.ptr[2 * i], digits.ptr[2 * i + 1], '\0'};

        f->name[i] = (char)strtoul(two, NULL, 16);
    }
    return pawl__str_make(f->name, digits.len / 2);
}

/* A string, or an object for what is no well-formed text, with its bytes. */
static void same(struct fixture *f, const char *what, const struct pawl_json *expected,
                 struct pawl_str got)
{
    const struct pawl_json *bytes = get(expected, "utf8Hex");
    struct pawl_str text = pawl__json_str(expected);
    char *buffer = NULL;

    if (bytes) {
        struct pawl_str digits = pawl__json_str(bytes);

        buffer = malloc(digits.len / 2 + 1);
        assert_non_null(buffer);
        text = pawl__str_make(buffer, digits.len / 2);
        for (size_t i = 0; i < text.len; i++) {
            char two[3] = {digits.ptr[2 * i], digits.ptr[2 * i + 1], '\0'};

            buffer[i] = (char)strtoul(two, NULL, 16);
        }
    }
    if (!pawl__str_equal(text, got)) {
        print_message("# %s: %.*s instead of %.*s\n", what, PAWL_STR_ARG(got), PAWL_STR_ARG(text));
        f->wrong++;
    }
    free(buffer);
}

static void check_postgres(struct fixture *f, const struct pawl_json *expected,
                           struct pawl_str name)
{
    const struct pawl_json *pair = get(expected, "int32Pair");
    struct pawl_pg_lock_key key;
    char text[64];

    pawl__lock_name_postgres(name, &key);
    if (pair) {
        (void)snprintf(text, sizeof text, "[%" PRId32 ",%" PRId32 "]", key.a, key.b);
        assert_true(key.pair);
    }
    if (!pair) {
        (void)snprintf(text, sizeof text, "%" PRId64, key.key);
        assert_false(key.pair);
        same(f, "postgres", get(expected, "int64"), pawl__str(text));
    } else {
        struct pawl_buf buf;

        pawl__buf_init(&buf, &f->alloc.base, 1000);
        pawl__json_write(&buf, pair, PAWL_JSON_ESCAPE_MINIMAL);
        assert_string_equal(pawl__buf_cstr(&buf), text);
        pawl__buf_release(&buf);
    }
}

static void check_azure(struct fixture *f, const struct pawl_json *expected, struct pawl_str name)
{
    char safe[PAWL_AZURE_LOCK_NAME_SIZE], path[PAWL_AZURE_LOCK_PATH_SIZE];
    char full[PAWL_AZURE_LOCK_PATH_SIZE + 8];
    size_t len = pawl__lock_name_azure(name, PAWL_AZURE_LOCK_UNITS_MAX, safe);
    int status = pawl__lock_name_azure_path(name, PAWL_AZURE_LOCK_UNITS_MAX, path, &f->err);

    same(f, "azure", get(expected, "safeName"), pawl__str_make(safe, len));
    if (!pawl__str_starts(pawl__json_str(get(expected, "requestPath")), pawl__str("/locks/"))) {
        assert_code(status, PAWL_EINVAL); /* it leaves the container */
        return;
    }
    assert_ok(status, &f->err);
    (void)snprintf(full, sizeof full, "/locks/%s", path);
    same(f, "azure path", get(expected, "requestPath"), pawl__str(full));
}

static void check_vector(struct fixture *f, const struct pawl_json *vector)
{
    struct pawl_str name = pawl__json_str(get(vector, "name"));
    char text[PAWL_AZURE_LOCK_NAME_SIZE];
    size_t len;

    same(f, "file", get(vector, "fileSystem"), pawl__str(file_of(name)));
    check_postgres(f, get(vector, "postgres"), name);
    len = pawl__lock_name_sqlserver_text(name, text);
    same(f, "sqlserver", get(vector, "sqlServer"), pawl__str_make(text, len));
    check_azure(f, get(vector, "azure"), name);
    len = pawl__lock_name_azure(name, PAWL_AZURE_LOCK_UNITS_MAX_EMULATOR, text);
    same(f, "azure emulator", get(vector, "azureEmulator"), pawl__str_make(text, len));
    if (pawl__json_is(get(vector, "utf8Hex"), PAWL_JSON_STRING)) /* short ones */
        assert_true(pawl__str_equal(from_hex(f, get(vector, "utf8Hex")), name));
    if (pawl__json_is(get(get(vector, "redis"), "keyHex"), PAWL_JSON_STRING))
        assert_true(pawl__str_equal(from_hex(f, get(get(vector, "redis"), "keyHex")),
                                    pawl__lock_name_redis(name)));
}

/* Of names that are not well-formed the recordings have the bytes too; their text would not be read
 * by our parser. */
static void replace_half_pairs(char *text)
{
    for (char *at = strstr(text, "\\u"); at; at = strstr(at + 6, "\\u")) {
        unsigned long unit = strtoul((char[]){at[2], at[3], at[4], at[5], '\0'}, NULL, 16);

        if (unit >= 0xd800 && unit < 0xdc00 && strncmp(at + 6, "\\ud", 3) == 0 &&
            strchr("cdef", at[9]))
            at += 6; /* a whole pair */
        else if (unit >= 0xd800 && unit < 0xe000)
            memcpy(at + 2, "fffd", 4);
    }
}

static void open_recorded(struct fixture *f, struct pawl_json *out)
{
    struct pawl_str text;

    if (access(RECORDED, R_OK) != 0)
        skip();
    text = test_read_file(RECORDED);
    replace_half_pairs((char *)(uintptr_t)text.ptr);
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, 64 << 20);
    assert_ok(pawl__json_parse(&f->arena, text, NULL, out, NULL, &f->err), &f->err);
    free((void *)(uintptr_t)text.ptr);
}

static void maps_every_recorded_name_as_the_library_does(void **state)
{
    static struct fixture f;
    const struct pawl_json *vectors;
    struct pawl_json json;
    uint32_t count;

    (void)state;
    open_recorded(&f, &json);
    vectors = get(&json, "vectors");
    count = pawl__json_len(vectors);
    for (uint32_t i = 0; i < count; i++)
        check_vector(&f, pawl__json_at(vectors, i));
    pawl__arena_release(&f.arena);
    print_message("# %u recorded names\n", count);
    assert_int_equal(f.wrong, 0);
    assert_true(count >= 336);
}

static void keeps_the_letters_that_the_library_keeps(void **state)
{
    static struct fixture f;
    static bool kept[0x10000];
    const struct pawl_json *ranges;
    struct pawl_json json;

    (void)state;
    open_recorded(&f, &json);
    ranges = get(&json, "fileKeptCodeUnits");
    for (uint32_t i = 0; i < pawl__json_len(ranges); i++) {
        const struct pawl_json *range = pawl__json_at(ranges, i);
        int64_t from, to;

        assert_true(pawl__json_to_int(pawl__json_at(range, 0), &from));
        assert_true(pawl__json_to_int(pawl__json_at(range, 1), &to));
        for (; from <= to; from++)
            kept[from] = true;
    }
    pawl__arena_release(&f.arena);
    for (uint32_t unit = 0; unit < 0x10000; unit++)
        assert_int_equal(pawl__lock_letter((uint16_t)unit), kept[unit]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_names_as_recorded_once),
        cmocka_unit_test(different_long_names_stay_different),
        cmocka_unit_test(malformed_names_stay_different),
        cmocka_unit_test(names_that_leave_their_container_are_refused),
        cmocka_unit_test(maps_every_recorded_name_as_the_library_does),
        cmocka_unit_test(keeps_the_letters_that_the_library_keeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
