/* SPDX-License-Identifier: Apache-2.0 */
/* Locks in Redis on a server whose replies are late. */
#include "lib/test.h"
#include "locks/providers.h"
#include "servers/redis.h"

#include <stdio.h>

#define MS INT64_C(1000000)
#define LONG_MS 20000
#define TRIES 10

struct fixture {
    struct test_redis server;
    struct pawl_env *env;
    struct pawl_error err;
    struct pawl_lock_provider *provider;
};

static struct fixture fixture;

static int open_fixture(void **state)
{
    const struct pawl_lock_provider_options options = {.ttl_ms = LONG_MS};
    struct fixture *f = &fixture;
    char uri[128];

    *state = f;
    test_redis_start(&f->server, NULL, 0);
    (void)test_redis_uri(&f->server, 1, NULL, uri, sizeof uri);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__redis_locks_open(f->env, pawl__str(uri), &options, &f->provider, &f->err),
              &f->err);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    f->provider->ops->close(f->provider);
    pawl_system_env_close(f->env);
    test_redis_stop(&f->server);
    return 0;
}

/* A reply that does not come in time is asked for again. */
static struct pawl_lock_grant get_it(struct fixture *f)
{
    struct pawl_lock_grant grant = {.name = pawl__str("n"), .owner = "host_1_x"};
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + 60000 * MS;
    int status = PAWL_EBUSY;

    while (status != PAWL_OK && pawl_env_monotonic_ns(f->env) < give_up_ns) {
        status = f->provider->ops->try_(f->provider, &grant,
                                        pawl_env_monotonic_ns(f->env) + 60000 * MS, &f->err);
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + MS), NULL);
    }
    assert_ok(status, &f->err);
    return grant;
}

static void release_it(struct fixture *f, struct pawl_lock_grant *grant)
{
    assert_ok(f->provider->ops->release(f->provider, grant, PAWL_FOREVER, &f->err), &f->err);
}

/* Lets the server go on after half a second. */
static void continue_late(void *arg)
{
    struct fixture *f = arg;

    (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 500 * MS);
    test_redis_continue(&f->server);
}

/*
 * The reply takes half a second, and the margin for clocks is a fifth. On a busy machine the
 * request itself may be late; not every time.
 */
static void a_lease_counts_from_the_request_however_late_the_reply_is(void **state)
{
    struct fixture *f = *state;
    bool counts_from_request = false;

    for (int i = 0; i < TRIES && !counts_from_request; i++) {
        struct pawl_lock_grant grant = get_it(f); /* it is connected */
        struct pawl_thread *thread;
        int64_t before_ns;

        release_it(f, &grant);
        test_redis_pause(&f->server);
        before_ns = pawl_env_monotonic_ns(f->env);
        assert_ok(pawl_thread_start(f->env, "late", continue_late, f, &thread, &f->err), &f->err);
        grant = get_it(f);
        pawl_thread_join(f->env, thread);
        counts_from_request = grant.valid_until_ns <= before_ns + LONG_MS * MS;
        release_it(f, &grant);
    }
    assert_true(counts_from_request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_counts_from_the_request_however_late_the_reply_is),
    };

    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
