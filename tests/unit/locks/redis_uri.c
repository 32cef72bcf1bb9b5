/* SPDX-License-Identifier: Apache-2.0 */
/* The URI of locks in Redis. */
#include "lib/test.h"
#include "locks/redis_private.h"

static int read_it(const char *uri, struct redis_uri *out, struct pawl_error *err)
{
    return pawl__redis_uri_read(pawl__str(uri), out, err);
}

static void a_uri_names_servers_logins_and_databases(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct redis_uri uri;

    (void)state;
    assert_ok(read_it("redis://host", &uri, &err), &err);
    assert_int_equal(uri.node_count, 1);
    assert_string_equal(uri.nodes[0].host, "host");
    assert_int_equal(uri.nodes[0].port, 6379);
    assert_int_equal(uri.nodes[0].database, 0);
    assert_string_equal(uri.nodes[0].password, "");
    assert_ok(read_it("REDIS://u:p%40%2C@[::1]:7000/3,host,a:b@other:1/4", &uri, &err), &err);
    assert_int_equal(uri.node_count, 3);
    assert_string_equal(uri.nodes[0].host, "::1");
    assert_int_equal(uri.nodes[0].port, 7000);
    assert_string_equal(uri.nodes[0].user, "u");
    assert_string_equal(uri.nodes[0].password, "p@,");
    /* What is not said is as for the first that says it. */
    assert_string_equal(uri.nodes[1].password, "p@,");
    assert_int_equal(uri.nodes[1].database, 3);
    assert_string_equal(uri.nodes[2].user, "a");
    assert_int_equal(uri.nodes[2].database, 4);
    assert_ok(read_it("redis://:secret@a:1,b:2,c:3/7", &uri, &err), &err);
    assert_string_equal(uri.nodes[2].password, "secret");
    assert_string_equal(uri.nodes[2].user, "");
    assert_int_equal(uri.nodes[0].database, 7);
}

static void what_cannot_be_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "redis://",
        "redis:host",
        "http://host",
        "redis://host:0",
        "redis://host:65536",
        "redis://host:x",
        "redis://host:",
        "redis://user@host",
        "redis://:p%4@host",
        "redis://:p%00@host",
        "redis://host/x",
        "redis://[::1",
        "redis://[::1]x",
        "redis://a,,b",
        "redis://a,b,c,",
        "redis://a,a",
        "redis://a:6379,a",
        "redis://host?x=1",
        "redis://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
    };
    struct pawl_error err = PAWL_ERROR_INIT;
    struct redis_uri uri;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_code(read_it(wrong[i], &uri, &err), PAWL_EINVAL);
    assert_code(read_it("rediss://host", &uri, &err), PAWL_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "stunnel"));
    assert_code(read_it("redis://:geheim@a@b:x", &uri, &err), PAWL_EINVAL);
    assert_null(strstr(err.msg, "geheim"));
}

static void a_lease_has_bounds(void **state)
{
    static const int64_t wrong[] = {-1, 99, 24 * 3600 * 1000 + 1, INT64_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider;
    struct pawl_env *env;

    (void)state;
    assert_ok(pawl_system_env_open(&env, &err), &err);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct pawl_lock_provider_options options = {.ttl_ms = wrong[i]};

        assert_code(
            pawl__redis_locks_open(env, pawl__str("redis://host"), &options, &provider, &err),
            PAWL_EINVAL);
    }
    pawl_system_env_close(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uri_names_servers_logins_and_databases),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_lease_has_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
