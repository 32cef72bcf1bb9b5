/* SPDX-License-Identifier: Apache-2.0 */
/* Advisory locks where a connection may lead to something else than the primary: a standby, whose
 * locks nobody else sees, or a pooler. */
#include "lib/test.h"
#include "locks/providers.h"
#include "servers/pgbouncer.h"
#include "servers/postgres.h"

#include <pawl/ext/store.h>

#include <string.h>

static int64_t soon(struct pawl_env *env)
{
    return pawl_env_monotonic_ns(env) + INT64_C(30000000000);
}

static struct pawl_lock_provider *provider_at(struct pawl_env *env, const char *uri)
{
    struct pawl_lock_provider *provider = NULL;
    struct pawl_error err;

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
    char uri[128];

    (void)state;
    test_postgres_start(&primary, NULL);
    test_postgres_start_standby(&standby, &primary);
    assert_ok(pawl_system_env_open(&env, &err), &err);
    (void)test_postgres_uri(&standby, "postgres", uri, sizeof uri);
    tries = provider_at(env, uri);
    waits = provider_at(env, uri);
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

static void a_pooler_of_transactions_is_refused_and_one_of_sessions_is_not(void **state)
{
    static const struct {
        const char *mode;
        int size, code;
    } cases[] = {{"transaction", 20, PAWL_EUNSUPPORTED},
                 {"transaction", 1, PAWL_EUNSUPPORTED},
                 {"statement", 20, PAWL_EUNSUPPORTED},
                 {"session", 20, PAWL_OK}};
    struct test_postgres server = {0};
    struct pawl_error err;
    struct pawl_env *env;

    (void)state;
    test_postgres_start(&server, NULL);
    assert_ok(pawl_system_env_open(&env, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_lock_grant grant = {.name = pawl__str("n"), .owner = "host_1_x"};
        struct pawl_lock_status status;
        struct pawl_lock_provider *p;
        struct test_pgbouncer pooler;
        char uri[128];

        test_pgbouncer_start(&pooler, &server, cases[i].mode, cases[i].size);
        p = provider_at(env, test_pgbouncer_uri(&pooler, uri, sizeof uri));
        assert_code(p->ops->try_(p, &grant, soon(env), &err), cases[i].code);
        if (cases[i].code == PAWL_OK) {
            assert_ok(p->ops->status(p, &status, soon(env), &err), &err);
            assert_non_null(strstr(status.warning, "pooler"));
            assert_ok(p->ops->release(p, &grant, soon(env), &err), &err);
        } else {
            assert_non_null(strstr(err.msg, "pool_mode = session"));
        }
        p->ops->close(p);
        test_pgbouncer_stop(&pooler);
    }
    pawl_system_env_close(env);
    test_postgres_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pooler_of_transactions_is_refused_and_one_of_sessions_is_not),
        cmocka_unit_test(a_standby_grants_nothing_until_it_is_promoted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
