/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"
#include "lib/test.h"

/* Entropy from a seed that can be made to fail, to be constant, and that counts. */
struct fake {
    uint64_t random;
    int fill_count;
    int fail;
    int constant; /* 0: random; else this byte */
};

static int fill(void *ctx, void *out, size_t size_bytes, struct pawl_error *err)
{
    struct fake *fake = ctx;
    unsigned char *to = out;

    (void)err;
    if (fake->fail)
        return PAWL_EIO;
    fake->fill_count++;
    for (size_t i = 0; i < size_bytes; i++)
        to[i] = fake->constant ? (unsigned char)fake->constant
                               : (unsigned char)test_random(&fake->random);
    return PAWL_OK;
}

static struct pawl_id_source make_source(struct fake *fake, uint32_t node)
{
    struct pawl_id_source source;

    pawl__id_source_init(&source, node, (struct pawl_id_entropy){fill, fake});
    return source;
}

static void uuids_have_the_form_of_version_7(void **state)
{
    struct fake fake = {.constant = 0xFF};
    struct pawl_id_source source = make_source(&fake, 0);
    struct pawl_uuid uuid;
    char text[PAWL_UUID_TEXT_SIZE], hex[PAWL_UUID_HEX_SIZE];

    (void)state;
    /* The time of RFC 9562's own example, all random bits set: the counter starts in its lower
       half, so that its first bit is 0. */
    assert_ok(pawl__id_uuid(&source, INT64_C(0x017F22E279B0), &uuid, NULL), NULL);
    pawl__uuid_format(&uuid, text);
    assert_string_equal(text, "017f22e2-79b0-77ff-bfff-ffffffffffff");
    pawl__uuid_format_hex(&uuid, hex);
    assert_string_equal(hex, "017f22e279b077ffbfffffffffffffff");
    assert_int_equal(pawl__uuid_version(&uuid), 7);
    assert_true(pawl__uuid_unix_ms(&uuid) == INT64_C(0x017F22E279B0));
    assert_ok(pawl__id_uuid(&source, INT64_C(0x017F22E279B0), &uuid, NULL), NULL);
    pawl__uuid_format(&uuid, text);
    assert_string_equal(text, "017f22e2-79b0-7800-8000-ffffffffffff");
}

/* Both forms, under a clock that does what it likes. */
static void ids_increase_whatever_the_clock_does(void **state)
{
    struct fake fake = {.random = 5};
    struct pawl_id_source source = make_source(&fake, 3);
    struct pawl_uuid last = {{0}}, uuid;
    char last_short[PAWL_ID_SHORT_SIZE] = "", text[PAWL_ID_SHORT_SIZE];
    int64_t now = INT64_C(1767322800000);
    uint64_t random = 9;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t what = test_random(&random) % 100;

        if (what < 5)
            now += (int64_t)(test_random(&random) % 100);
        else if (what < 8)
            now -= (int64_t)(test_random(&random) % 5000);
        assert_ok(pawl__id_uuid(&source, now, &uuid, NULL), NULL);
        assert_true(memcmp(&last, &uuid, sizeof uuid) < 0);
        assert_int_equal(uuid.bytes[6] >> 4, 7);
        assert_int_equal(uuid.bytes[8] >> 6, 2);
        last = uuid;
        assert_ok(pawl__id_short(&source, now, text, NULL), NULL);
        assert_int_equal(strlen(text), 16);
        assert_true(strcmp(last_short, text) < 0);
        memcpy(last_short, text, sizeof text);
    }
}

static void a_used_up_counter_moves_the_time_ahead(void **state)
{
    struct fake fake = {.random = 5};
    struct pawl_id_source source = make_source(&fake, 0);
    struct pawl_uuid before, after;
    char text[PAWL_ID_SHORT_SIZE];

    (void)state;
    assert_ok(pawl__id_uuid(&source, 1000, &before, NULL), NULL);
    source.uuids.counter = (1u << 26) - 1;
    assert_ok(pawl__id_uuid(&source, 1000, &after, NULL), NULL);
    assert_true(memcmp(&before, &after, sizeof after) < 0);
    assert_int_equal(pawl__uuid_unix_ms(&after), 1001);
    assert_true(source.uuids.counter < 1u << 25);
    /* More short ids than a millisecond holds; each millisecond gives at least half its range. */
    for (int i = 0; i < 10000; i++)
        assert_ok(pawl__id_short(&source, INT64_C(1767322800000), text, NULL), NULL);
    assert_in_range(pawl__id_short_unix_ms(pawl__str(text)) - INT64_C(1767322800000), 2, 5);
}

static void times_out_of_range_are_clamped_or_refused(void **state)
{
    struct fake fake = {.random = 5};
    struct pawl_id_source source = make_source(&fake, 0);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_uuid uuid, untouched;
    char text[PAWL_ID_SHORT_SIZE] = "untouched";

    (void)state;
    memset(&untouched, 0xEE, sizeof untouched);
    uuid = untouched;
    assert_code(pawl__id_uuid(&source, (int64_t)1 << 48, &uuid, &err), PAWL_ELIMIT);
    assert_memory_equal(&uuid, &untouched, sizeof uuid);
    assert_ok(pawl__id_uuid(&source, INT64_MIN, &uuid, NULL), NULL);
    assert_int_equal(pawl__uuid_unix_ms(&uuid), 0);
    assert_ok(pawl__id_uuid(&source, ((int64_t)1 << 48) - 1, &uuid, NULL), NULL);
    source.uuids.counter = (1u << 26) - 1;
    assert_code(pawl__id_uuid(&source, 0, &uuid, &err), PAWL_ELIMIT);

    assert_code(pawl__id_short(&source, INT64_C(1577836800000) + ((int64_t)1 << 41), text, &err),
                PAWL_ELIMIT);
    assert_string_equal(text, "untouched");
    assert_non_null(strstr(err.msg, "2089"));
    assert_ok(pawl__id_short(&source, -5, text, NULL), NULL);
    assert_true(pawl__id_short_unix_ms(pawl__str(text)) == INT64_C(1577836800000));
    /* 2089-09-06T15:47:35.551Z */
    assert_ok(pawl__id_short(&source, INT64_C(3776860055551), text, NULL), NULL);
    assert_memory_equal(text, "7fffffffff", 10);
    assert_code(pawl__id_short(&source, INT64_MAX, text, NULL), PAWL_ELIMIT);
}

static void short_ids_carry_time_node_and_counter(void **state)
{
    struct fake fake = {.constant = 0xFF};
    struct pawl_id_source source = make_source(&fake, 0x155);
    char text[PAWL_ID_SHORT_SIZE];

    (void)state;
    /* 2020-01-01 and 5 ms: 5 << 22 | 0x155 << 12 | 0x7FF */
    assert_ok(pawl__id_short(&source, INT64_C(1577836800005), text, NULL), NULL);
    assert_string_equal(text, "00000000015557ff");
    assert_ok(pawl__id_short(&source, INT64_C(1577836800005), text, NULL), NULL);
    assert_string_equal(text, "0000000001555800");
    assert_true(pawl__id_short_unix_ms(pawl__str(text)) == INT64_C(1577836800005));
    assert_int_equal(pawl__id_short_unix_ms(pawl__str("0000000001555f8")), -1);
    assert_int_equal(pawl__id_short_unix_ms(pawl__str("8000000001555f80")), -1);
    assert_int_equal(pawl__id_short_unix_ms(pawl__str("000000000155F800")), -1);
    assert_int_equal(pawl__id_short_unix_ms(pawl__str("000000000155x800")), -1);
}

static void random_ids_look_like_elsas(void **state)
{
    struct fake fake = {.random = 5};
    struct pawl_id_source source = make_source(&fake, 0);
    char text[PAWL_ID_SHORT_SIZE];
    int shorter = 0;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        assert_ok(pawl__id_random(&source, text, NULL), NULL);
        assert_int_equal(strspn(text, "0123456789abcdef"), strlen(text));
        assert_in_range(strlen(text), 1, 16);
        assert_true(text[0] != '0' || text[1] == '\0');
        shorter += strlen(text) < 16;
    }
    assert_in_range(shorter, 200, 450); /* one in 16 */
    /* Zero itself. */
    pawl__id_source_init(&source, 0, (struct pawl_id_entropy){fill, &fake});
    source.pool_left = 8;
    memset(source.pool, 0, sizeof source.pool);
    assert_ok(pawl__id_random(&source, text, NULL), NULL);
    assert_string_equal(text, "0");
}

static void entropy_is_drawn_in_pools_and_its_failure_is_passed_on(void **state)
{
    struct fake fake = {.random = 5};
    struct pawl_id_source source = make_source(&fake, 0);
    struct pawl_uuid uuid;
    char text[PAWL_ID_SHORT_SIZE];
    unsigned char many[1000];

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_ok(pawl__id_uuid(&source, 1000, &uuid, NULL), NULL);
    assert_in_range(fake.fill_count, 23, 26); /* 1000 ids of 6 bytes from pools of 256 */
    assert_ok(pawl__id_random_bytes(&source, many, sizeof many, NULL), NULL);

    source = make_source(&fake, 0);
    fake.fail = 1;
    assert_code(pawl__id_uuid(&source, 1000, &uuid, NULL), PAWL_EIO);
    assert_code(pawl__id_short(&source, 1000, text, NULL), PAWL_EIO);
    assert_code(pawl__id_random(&source, text, NULL), PAWL_EIO);
    assert_code(pawl__id_random_bytes(&source, many, sizeof many, NULL), PAWL_EIO);
    assert_int_equal(source.uuids.last_ms, -1);
    fake.fail = 0;
    assert_ok(pawl__id_uuid(&source, 1000, &uuid, NULL), NULL);
}

static void no_byte_of_entropy_is_used_twice(void **state)
{
    struct fake fake = {.random = 5};
    struct pawl_id_source source = make_source(&fake, 0);
    uint64_t seen[4000];

    (void)state;
    for (size_t i = 0; i < 4000; i++) {
        assert_ok(pawl__id_random_bytes(&source, &seen[i], 8, NULL), NULL);
        assert_true(seen[i] != 0);
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
}

static void a_seed_decides_all_ids(void **state)
{
    struct pawl_id_source a, b, c;
    struct pawl_uuid ua, ub, uc;
    char sa[PAWL_ID_SHORT_SIZE], sb[PAWL_ID_SHORT_SIZE], text[PAWL_UUID_TEXT_SIZE];

    (void)state;
    pawl__id_source_init_seeded(&a, 1, 42);
    pawl__id_source_init_seeded(&b, 1, 42);
    pawl__id_source_init_seeded(&c, 1, 43);
    for (int i = 0; i < 1000; i++) {
        int64_t now = INT64_C(1767322800000) + i / 10;

        assert_ok(pawl__id_uuid(&a, now, &ua, NULL), NULL);
        assert_ok(pawl__id_uuid(&b, now, &ub, NULL), NULL);
        assert_ok(pawl__id_uuid(&c, now, &uc, NULL), NULL);
        assert_memory_equal(&ua, &ub, sizeof ua);
        assert_memory_not_equal(&ua, &uc, sizeof ua);
        assert_ok(pawl__id_short(&a, now, sa, NULL), NULL);
        assert_ok(pawl__id_short(&b, now, sb, NULL), NULL);
        assert_string_equal(sa, sb);
        assert_ok(pawl__id_random(&a, sa, NULL), NULL);
        assert_ok(pawl__id_random(&b, sb, NULL), NULL);
        assert_string_equal(sa, sb);
    }
    /* Written down, so that a change of machine or compiler that changes them shows. */
    pawl__id_source_init_seeded(&a, 1, 42);
    assert_ok(pawl__id_uuid(&a, INT64_C(1767322800000), &ua, NULL), NULL);
    pawl__uuid_format(&ua, text);
    assert_string_equal(text, "019b7ca5-cf80-76bb-ae41-c013ac8b31be");
    assert_ok(pawl__id_random(&a, sa, NULL), NULL);
    assert_string_equal(sa, "4f4a1c678b7d62b5");
}

static void reads_both_forms_of_a_uuid(void **state)
{
    struct pawl_uuid uuid, again;

    (void)state;
    assert_ok(pawl__uuid_parse(pawl__str("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), &uuid, NULL),
              NULL);
    assert_ok(pawl__uuid_parse(pawl__str("017F22E279B07CC398C4DC0C0C07398F"), &again, NULL), NULL);
    assert_memory_equal(&uuid, &again, sizeof uuid);
    assert_true(pawl__uuid_unix_ms(&uuid) == INT64_C(1645557742000));
    assert_ok(pawl__uuid_parse(pawl__str("919108f7-52d1-4320-9bac-f847db4148a8"), &uuid, NULL),
              NULL);
    assert_int_equal(pawl__uuid_version(&uuid), 4);
    assert_int_equal(pawl__uuid_unix_ms(&uuid), -1);
}

static void says_what_is_wrong_with_a_uuid(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "not a UUID: expected 32 or 36 characters, got 0"},
        {"017f22e2-79b0-7cc3-98c4-dc0c0c07398", "not a UUID: expected 32 or 36 characters, got 35"},
        {"017f22e2 79b0-7cc3-98c4-dc0c0c07398f", "not a UUID: expected '-' at character 9"},
        {"017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
         "not a UUID: expected a hexadecimal digit at character 36"},
        {"017f22e279b07cc398c4dc0c0c07398-",
         "not a UUID: expected a hexadecimal digit at character 32"},
        {"017f22e27-9b0-7cc3-98c4-dc0c0c07398f", "not a UUID: expected '-' at character 9"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_uuid uuid;

        assert_code(pawl__uuid_parse(pawl__str(cases[i].text), &uuid, &err), PAWL_EPARSE);
        assert_string_equal(err.msg, cases[i].message);
    }
}

static void a_uuid_tells_its_time(void **state)
{
    struct fake fake = {.random = 7};
    struct pawl_id_source source = make_source(&fake, 0);
    struct pawl_uuid uuid;
    char text[PAWL_UUID_HEX_SIZE];
    uint64_t ms = 0;

    (void)state;
    assert_int_equal(pawl__id_uuid(&source, INT64_C(1763390000123), &uuid, NULL), PAWL_OK);
    pawl__uuid_format_hex(&uuid, text);
    assert_true(pawl__id_time(pawl__str(text), &ms));
    assert_true(ms == UINT64_C(1763390000123));
    text[12] = '4'; /* another version: no time in it */
    assert_false(pawl__id_time(pawl__str(text), &ms));
    assert_false(pawl__id_time(pawl__str("order-17"), &ms));
    assert_false(pawl__id_time(pawl__str("zz9dbb2f00007000800000000000000z"), &ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuids_have_the_form_of_version_7),
        cmocka_unit_test(ids_increase_whatever_the_clock_does),
        cmocka_unit_test(a_used_up_counter_moves_the_time_ahead),
        cmocka_unit_test(times_out_of_range_are_clamped_or_refused),
        cmocka_unit_test(short_ids_carry_time_node_and_counter),
        cmocka_unit_test(random_ids_look_like_elsas),
        cmocka_unit_test(entropy_is_drawn_in_pools_and_its_failure_is_passed_on),
        cmocka_unit_test(no_byte_of_entropy_is_used_twice),
        cmocka_unit_test(a_seed_decides_all_ids),
        cmocka_unit_test(a_uuid_tells_its_time),
        cmocka_unit_test(reads_both_forms_of_a_uuid),
        cmocka_unit_test(says_what_is_wrong_with_a_uuid),
    };

    return cmocka_run_group_tests_name("base/id", tests, NULL, NULL);
}
