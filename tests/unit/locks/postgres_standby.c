/* SPDX-License-Identifier: Apache-2.0 */
/* Advisory locks and a failover: whoever asks the primary does not see the locks of a standby. */
#include "lib/test.h"
#include "locks/providers.h"
#include "servers/postgres.h"

#include <string.h>

static int64_t soon(struct pawl_env *env)
{
    return pawl_env_monotonic_ns(env) + INT64_C(30000000000);
}

static struct pawl_lock_provider *provider_of(struct pawl_env *env,
                                              const struct test_postgres *server)
{
    struct pawl_lock_provider *provider = NULL;
    struct pawl_error err;
    char uri[128];

    (void)test_postgres_uri(server, "postgres", uri, sizeof uri);
    assert_ok(pawl__postgres_locks_open(env, pawl__str(uri), NULL, &provider, &err), &err);
    return provider;
}

static void a_standby_grants_nothing_until_it_is_promoted(void **state)
{
    struct test_postgres primary = {0}, standby = {0};
    struct pawl_env *env;
    struct pawl_lock_provider *tries, *waits;
    struct pawl_lock_grant tried = {.name = pawl__str("n"), .owner = "host_1_x"};
    struct pawl_lock_grant waited = {.name = pawl__str("m"), .owner = "host_1_y"};
    struct pawl_error err;

    (void)state;
    test_postgres_start(&primary, NULL);
    test_postgres_start_standby(&standby, &primary);
    assert_ok(pawl_system_env_open(&env, &err), &err);
    tries = provider_of(env, &standby);
    waits = provider_of(env, &standby);
    assert_code(tries->ops->try_(tries, &tried, soon(env), &err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "standby"));
    assert_code(waits->ops->wait(waits, &waited, soon(env), &err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "standby"));
    test_postgres_promote(&standby);
    while (tries->ops->try_(tries, &tried, soon(env), &err) == PAWL_EUNAVAILABLE)
        continue;
    assert_ok(waits->ops->wait(waits, &waited, soon(env), &err), &err);
    tries->ops->close(tries);
    waits->ops->close(waits);
    pawl_system_env_close(env);
    test_postgres_stop(&standby);
    test_postgres_stop(&primary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_standby_grants_nothing_until_it_is_promoted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
