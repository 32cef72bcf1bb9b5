/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jwt.h"

#include "lib/test.h"

/* The token of RFC 7515, A.1, whose key is 64 bytes. */
static const unsigned char rfc_key[] = {
    3,   35,  53, 75,  43,  15, 165, 188, 131, 126, 6,   101, 119, 123, 166, 143,
    90,  179, 40, 230, 240, 84, 201, 40,  169, 15,  132, 178, 210, 80,  46,  191,
    211, 251, 90, 146, 210, 6,  71,  239, 150, 138, 180, 195, 119, 98,  61,  34,
    61,  46,  33, 114, 5,   46, 79,  8,   192, 205, 154, 245, 103, 208, 128, 163};
static const char rfc_token[] = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
                                "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcG"
                                "xlLmNvbS9pc19yb290Ijp0cnVlfQ."
                                "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf buf;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, (size_t)1 << 20);
    pawl__buf_init(&f->buf, &f->alloc.base, PAWL_JWT_BYTES_MAX);
}

static void close_fixture(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    pawl__buf_release(&f->buf);
    assert_int_equal(f->alloc.live_count, 0);
}

static int read_with(struct fixture *f, const char *token, const char *id, const char *secret,
                     struct pawl_json *claims)
{
    const struct pawl_jwt_key key = {pawl__str(id), pawl__str(secret)};

    return pawl__jwt_read(pawl__str(token), &key, 1, &f->arena, claims);
}

static void the_token_of_the_standard_is_read(void **state)
{
    const struct pawl_jwt_key key = {pawl__str("any"),
                                     pawl__str_make((const char *)rfc_key, sizeof rfc_key)};
    struct pawl_json claims;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(pawl__jwt_read(pawl__str(rfc_token), &key, 1, &f.arena, &claims), PAWL_OK);
    assert_str(pawl__json_str(pawl__json_get_text(&claims, "iss")), "joe");
    close_fixture(&f);
}

static void what_is_written_is_read_by_the_key_that_it_names(void **state)
{
    const struct pawl_jwt_key keys[] = {{pawl__str("a"), pawl__str("secret of a")},
                                        {pawl__str("b"), pawl__str("secret of b")}};
    struct pawl_json claims;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    pawl__jwt_write(&f.buf, &keys[1], pawl__str("{\"sub\":\"x\"}"));
    assert_int_equal(f.buf.status, PAWL_OK);
    assert_int_equal(pawl__jwt_read(pawl__buf_peek(&f.buf), keys, 2, &f.arena, &claims), PAWL_OK);
    assert_str(pawl__json_str(pawl__json_get_text(&claims, "sub")), "x");
    assert_int_equal(pawl__jwt_read(pawl__buf_peek(&f.buf), keys, 1, &f.arena, &claims),
                     PAWL_ENOTFOUND);
    /* The right secret under another name. */
    assert_int_equal(read_with(&f, pawl__buf_cstr(&f.buf), "c", "secret of b", &claims),
                     PAWL_ENOTFOUND);
    close_fixture(&f);
}

static void no_byte_of_a_token_can_be_changed(void **state)
{
    const struct pawl_jwt_key key = {pawl__str("k"), pawl__str("secret")};
    struct pawl_json claims;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    pawl__jwt_write(&f.buf, &key, pawl__str("{\"sub\":\"x\",\"exp\":12345}"));
    for (size_t i = 0; i < f.buf.len; i++) {
        char *at = &f.buf.ptr[i], was = *at;

        *at = was == 'A' ? 'B' : 'A';
        assert_int_not_equal(pawl__jwt_read(pawl__buf_peek(&f.buf), &key, 1, &f.arena, &claims),
                             PAWL_OK);
        *at = was;
    }
    for (size_t len = 0; len < f.buf.len; len++)
        assert_int_not_equal(
            pawl__jwt_read(pawl__str_make(f.buf.ptr, len), &key, 1, &f.arena, &claims), PAWL_OK);
    close_fixture(&f);
}

static void what_is_no_token_is_refused(void **state)
{
    /* alg "none"; no object; too few parts; not base64; an extension that must be understood. */
    static const char *const bad[] = {"",
                                      "..",
                                      "a.b.c",
                                      "eyJhbGciOiJub25lIn0.e30.",
                                      "W10.e30.AAAA",
                                      "eyJhbGciOiJIUzI1NiJ9.e30",
                                      "eyJhbGciOiJIUzI1NiJ9=.e30.AAAA",
                                      "eyJhbGciOiJIUzI1NiIsImNyaXQiOlsieCJdfQ.e30.AAAA"};
    struct pawl_json claims;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_with(&f, bad[i], "k", "secret", &claims), PAWL_EPARSE);
    close_fixture(&f);
}

static int write_and_read(struct test_allocator *alloc, void *ctx)
{
    const struct pawl_jwt_key key = {pawl__str("k"), pawl__str("secret")};
    struct pawl_arena arena;
    struct pawl_json claims;
    struct pawl_buf buf;
    int status;

    (void)ctx;
    pawl__arena_init(&arena, &alloc->base, (size_t)1 << 20);
    pawl__buf_init(&buf, &alloc->base, PAWL_JWT_BYTES_MAX);
    pawl__jwt_write(&buf, &key, pawl__str("{\"sub\":\"x\"}"));
    status = buf.status;
    if (status == PAWL_OK)
        status = pawl__jwt_read(pawl__buf_peek(&buf), &key, 1, &arena, &claims);
    pawl__arena_release(&arena);
    pawl__buf_release(&buf);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_sweep_allocations(write_and_read, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_token_of_the_standard_is_read),
        cmocka_unit_test(what_is_written_is_read_by_the_key_that_it_names),
        cmocka_unit_test(no_byte_of_a_token_can_be_changed),
        cmocka_unit_test(what_is_no_token_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("base/jwt", tests, NULL, NULL);
}
