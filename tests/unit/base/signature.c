/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signature.h"
#include "lib/test.h"

#include <stdio.h>

static struct test_allocator alloc;
static struct pawl_arena arena;

static int set_up(void **state)
{
    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pawl__arena_release(&arena);
    return alloc.live_count == 0 ? 0 : -1;
}

/* A rule written with ' in place of ". */
static int read_rule(const char *text, struct pawl_signature_rule *rule, struct pawl_error *err)
{
    struct pawl_str copy = pawl__arena_str(&arena, pawl__str(text));
    struct pawl_json *json = pawl__arena_alloc(&arena, sizeof *json);

    for (size_t i = 0; i < copy.len; i++)
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    assert_ok(pawl__json_parse(&arena, copy, NULL, json, NULL, err), err);
    return pawl__signature_rule_read(json, rule, err);
}

static enum pawl_signature_result check(const char *text, const char *key, struct pawl_signed what)
{
    struct pawl_signature_rule rule;
    struct pawl_error err;

    assert_ok(read_rule(text, &rule, &err), &err);
    return pawl__signature_check(&rule, pawl__str(key), &what, &alloc.base);
}

#define CODE(text) .code = pawl__str(text)
#define BODY(text) .body = pawl__str(text)

#define GITHUB "{'header':'X-Hub-Signature-256','prefix':'sha256=','secret':'s'}"
#define GITHUB_CODE "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
#define GITHUB_KEY "It's a Secret to Everybody"

static void the_documented_signature_of_github_is_good(void **state)
{
    (void)state;
    assert_int_equal(
        check(GITHUB, GITHUB_KEY,
              (struct pawl_signed){CODE("sha256=" GITHUB_CODE), BODY("Hello, World!")}),
        PAWL_SIGNATURE_GOOD);
}

static void anything_that_differs_is_wrong(void **state)
{
    static const char *const codes[] = {
        "sha256=857107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17ff",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043eXX",
        "sha256=",
    };

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        assert_int_equal(
            check(GITHUB, GITHUB_KEY, (struct pawl_signed){CODE(codes[i]), BODY("Hello, World!")}),
            PAWL_SIGNATURE_WRONG);
    assert_int_equal(
        check(GITHUB, GITHUB_KEY,
              (struct pawl_signed){CODE("sha256=" GITHUB_CODE), BODY("Hello, World?")}),
        PAWL_SIGNATURE_WRONG);
    assert_int_equal(
        check(GITHUB, "another",
              (struct pawl_signed){CODE("sha256=" GITHUB_CODE), BODY("Hello, World!")}),
        PAWL_SIGNATURE_WRONG);
    assert_int_equal(check(GITHUB, GITHUB_KEY,
                           (struct pawl_signed){CODE("sha1=" GITHUB_CODE), BODY("Hello, World!")}),
                     PAWL_SIGNATURE_MISSING);
    assert_int_equal(
        check(GITHUB, GITHUB_KEY, (struct pawl_signed){CODE(""), BODY("Hello, World!")}),
        PAWL_SIGNATURE_MISSING);
}

#define SLACK                                                                                      \
    "{'header':'X-Slack-Signature','prefix':'v0=','timestampHeader':'X-Slack-Request-Timestamp',"  \
    "'payload':'v0:{timestamp}:{body}','secret':'s'}"
#define SLACK_CODE "v0=7d1e505747e16b2e9a5cb99318cbd784d12290a7129487637e0b023164e4aafb"

static enum pawl_signature_result slack(const char *timestamp, int64_t now_s)
{
    return check(SLACK, "8f742231b10e8888abcd99yyyzzz85a5",
                 (struct pawl_signed){CODE(SLACK_CODE), BODY("token=xyz"),
                                      .timestamp = pawl__str(timestamp), .now_s = now_s});
}

static void a_signed_time_must_be_near(void **state)
{
    (void)state;
    assert_int_equal(slack("1531420618", 1531420618), PAWL_SIGNATURE_GOOD);
    assert_int_equal(slack("1531420618", 1531420618 + 300), PAWL_SIGNATURE_GOOD);
    assert_int_equal(slack("1531420618", 1531420618 + 301), PAWL_SIGNATURE_STALE);
    assert_int_equal(slack("1531420618", 1531420618 - 301), PAWL_SIGNATURE_STALE);
    assert_int_equal(slack("1531420619", 1531420618), PAWL_SIGNATURE_WRONG);
    assert_int_equal(slack("", 1531420618), PAWL_SIGNATURE_MISSING);
    assert_int_equal(slack("never", 1531420618), PAWL_SIGNATURE_WRONG);
}

static void one_header_may_have_the_time_and_several_codes(void **state)
{
    static const char rule[] = "{'header':'Stripe-Signature','prefix':'v1=','timestampPrefix':'t=',"
                               "'payload':'{timestamp}.{body}','secret':'s','toleranceSeconds':10}";
    struct pawl_signed what = {
        CODE("t=1500000000, v1=00, v0=zz, "
             "v1=02ac6cc12d2b63fadd4f3e79cb871ded6bbd95e49de3e14e52b00f7b4fbe074b"),
        BODY("{\"a\":1}"), .now_s = 1500000010};

    (void)state;
    assert_int_equal(check(rule, "whsec", what), PAWL_SIGNATURE_GOOD);
    what.now_s++;
    assert_int_equal(check(rule, "whsec", what), PAWL_SIGNATURE_STALE);
}

static void other_algorithms_and_encodings(void **state)
{
    char bytes[256], key[201];
    struct pawl_signed what = {CODE("eESRnogGnl/gMTqFnlD1ZQ75JltF/oXL65P2KwIQN2E="),
                               .body = pawl__str_make(bytes, sizeof bytes)};

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    assert_int_equal(check("{'header':'H','encoding':'base64','secret':'s'}", "shop", what),
                     PAWL_SIGNATURE_GOOD);
    assert_int_equal(
        check("{'header':'H','algorithm':'sha1','secret':'s'}", "old",
              (struct pawl_signed){CODE("c65e88d58f5a3d5e31319e096ce1caf098979211"), BODY("x")}),
        PAWL_SIGNATURE_GOOD);
    memset(key, 'k', 200);
    key[200] = '\0';
    assert_int_equal(
        check("{'header':'H','algorithm':'SHA512','secret':'s'}", key,
              (struct pawl_signed){
                  CODE("3bea04514dec7eac85d846ec90cead0c22ff461ba7250c03635876766055b829"
                       "aac0109c567fa359e5f177a9e8c30233a682a33467845ac6f966813635668f7a"),
                  BODY("x")}),
        PAWL_SIGNATURE_GOOD);
}

static void a_rule_that_is_not_understood_is_refused(void **state)
{
    static const char *const wrong[] = {
        "{}",
        "{'header':'H'}",
        "{'secret':'s'}",
        "{'header':'H','secret':'s','algorithm':'md5'}",
        "{'header':'H','secret':'s','encoding':'rot13'}",
        "{'header':'H','secret':'s','payload':'constant'}",
        "{'header':'H','secret':'s','timestampHeader':'T'}",
        "{'header':'H','secret':'s','payload':'{timestamp}{body}'}",
        "{'header':'H','secret':'s','toleranceSeconds':'soon'}",
        "{'header':'H','secret':'s','toleranceSeconds':-1}",
    };
    struct pawl_signature_rule rule;
    struct pawl_error err;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (read_rule(wrong[i], &rule, &err) != PAWL_EINVAL)
            fail_msg("%s was taken", wrong[i]);
}

static void without_memory_nothing_is_good(void **state)
{
    struct test_allocator failing;
    struct pawl_signature_rule rule;
    struct pawl_error err;
    struct pawl_signed what = {CODE("sha256=" GITHUB_CODE), BODY("Hello, World!")};

    (void)state;
    assert_ok(read_rule(GITHUB, &rule, &err), &err);
    test_allocator_init(&failing);
    test_allocator_fail(&failing, 1, 1);
    assert_int_equal(pawl__signature_check(&rule, pawl__str(GITHUB_KEY), &what, &failing.base),
                     PAWL_SIGNATURE_NO_MEMORY);
    assert_int_equal(failing.live_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_signature_of_github_is_good),
        cmocka_unit_test(anything_that_differs_is_wrong),
        cmocka_unit_test(a_signed_time_must_be_near),
        cmocka_unit_test(one_header_may_have_the_time_and_several_codes),
        cmocka_unit_test(other_algorithms_and_encodings),
        cmocka_unit_test(a_rule_that_is_not_understood_is_refused),
        cmocka_unit_test(without_memory_nothing_is_good),
    };

    return cmocka_run_group_tests_name("base/signature", tests, set_up, tear_down);
}
