/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's head parser against a second one (lib/second_head.h), on heads that are put together
 * from parts which are right, odd or wrong.
 */
#include "lib/second_head.h"
#include "lib/test.h"

#define HEADS 300000
/* ---- heads ------------------------------------------------------------------------------- */

static uint64_t random_state = 20;

static const char *pick(const char *const *from, size_t count)
{
    return from[test_random(&random_state) % count];
}

#define PICK(list) pick(list, sizeof(list) / sizeof(list)[0])

/* Mostly what is right; now and then something else. */
static const char *mostly(const char *right, const char *const *odd, size_t count)
{
    return test_random(&random_state) % 6 ? right : pick(odd, count);
}

#define MOSTLY(right, list) mostly(right, list, sizeof(list) / sizeof(list)[0])

static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"};
static const char *const odd_methods[] = {"get", "G ET", "", "GE\tT", "FOO", "G(T", "\x01"};
static const char *const targets[] = {"/", "/a/b?c=d", "/%41", "http://h/x", "*", "/a;b"};
static const char *const odd_targets[] = {"", "/a b", "/\xc3\xa4", "/\x01", "/a\tb", "//", "/<>"};
static const char *const odd_versions[] = {"HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1",
                                           "HTTP/1.",  "HTTP/11",  "HTTQ/1.1", "HTTP/1.1 ",
                                           "",         "HTTP/1.1x"};
static const char *const ends[] = {"\n", "\r", "\r\r\n", "\n\r", "", "\r\n\r\n", " \r\n"};
static const char *const names[] = {
    "Host", "X", "Accept", "content-length", "Transfer-Encoding", "Connection", "Cookie"};
static const char *const odd_names[] = {"",     "X ",  " X",  "X\t",   "X\x7f", "X\xc3\xa4",
                                        "X(Y)", "X:Y", "\tX", "X\x01", "x_y"};
static const char *const colons[] = {" : ", "", "::", ":\t", ":  \t ", "\t:"};
static const char *const values[] = {"x", "0", "5", "chunked", "keep-alive", "a, b", "", "close"};
static const char *const odd_values[] = {"+5",
                                         "5,5",
                                         "0x5",
                                         "5 5",
                                         "-1",
                                         "99999999999999999999",
                                         "gzip, chunked",
                                         "chunked, gzip",
                                         "\"chunked\"",
                                         "chunked\t",
                                         "a\x01",
                                         "a\x7f",
                                         "\xff\xfe",
                                         "a\tb",
                                         "\013chunked",
                                         "chunkedx"};

static void make_head(struct pawl_buf *out)
{
    size_t fields = test_random(&random_state) % 5;

    pawl__buf_clear(out);
    pawl__buf_text(out, MOSTLY(PICK(methods), odd_methods));
    pawl__buf_text(out, test_random(&random_state) % 40 ? " " : "  ");
    pawl__buf_text(out, MOSTLY(PICK(targets), odd_targets));
    pawl__buf_text(out, test_random(&random_state) % 40 ? " " : "\t");
    pawl__buf_text(out, MOSTLY("HTTP/1.1", odd_versions));
    pawl__buf_text(out, MOSTLY("\r\n", ends));
    for (size_t i = 0; i < fields; i++) {
        pawl__buf_text(out, MOSTLY(PICK(names), odd_names));
        pawl__buf_text(out, MOSTLY(": ", colons));
        pawl__buf_text(out, MOSTLY(PICK(values), odd_values));
        pawl__buf_text(out, test_random(&random_state) % 8 ? "\r\n" : PICK(ends));
    }
    pawl__buf_text(out, test_random(&random_state) % 20 ? "\r\n" : PICK(ends));
}

static void show_and_fail(struct pawl_str head, const char *what)
{
    struct test_allocator alloc;
    struct pawl_buf shown;

    test_allocator_init(&alloc);
    pawl__buf_init(&shown, &alloc.base, 65536);
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];

        if (c >= 0x20 && c < 0x7f)
            pawl__buf_byte(&shown, (char)c);
        else
            pawl__buf_printf(&shown, "\\x%02x", c);
    }
    fail_msg("%s: %s", what, pawl__buf_cstr(&shown));
}

static void two_parsers_agree_on_every_head(void **state)
{
    struct test_allocator alloc;
    struct pawl_buf text;
    int taken_count = 0;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&text, &alloc.base, 65536);
    for (int i = 0; i < HEADS; i++) {
        const char *problem;
        bool taken;

        make_head(&text);
        problem = compare_heads(pawl__buf_peek(&text), 1 + test_random(&random_state) % 64,
                                &alloc.base, &taken);
        if (problem)
            show_and_fail(pawl__buf_peek(&text), problem);
        taken_count += taken;
    }
    print_message("# %d of %d heads were taken\n", taken_count, HEADS);
    assert_in_range(taken_count, HEADS / 20, HEADS - HEADS / 20); /* both ways were tried */
    pawl__buf_release(&text);
    assert_int_equal(alloc.live_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parsers_agree_on_every_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
