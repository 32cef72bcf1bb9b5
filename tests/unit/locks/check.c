/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of lock providers under the baton: on locks in memory, with and without leases; on a
 * provider that waits at the service; and on one that breaks the contract, which must be found.
 */
#include "locks/check.h"
#include "base/alloc.h"
#include "lib/test.h"
#include "locks/providers.h"
#include "os/baton.h"

#define MS INT64_C(1000000)

/* ---- a provider that waits ----------------------------------------------------------------- */

/* Around locks in memory; wait() asks again and again. place of a grant: interrupted. */
struct patient {
    struct pawl_lock_provider base;
    struct pawl_env *env;
};

static struct patient *cast(struct pawl_lock_provider *provider)
{
    return (struct patient *)(void *)provider;
}

static int patient_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    return provider->inner->ops->status(provider->inner, out, deadline_ns, err);
}

static int patient_map(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                       size_t size, struct pawl_error *err)
{
    return provider->inner->ops->map(provider->inner, name, out, size, err);
}

static int patient_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                       int64_t deadline_ns, struct pawl_error *err)
{
    return provider->inner->ops->try_(provider->inner, grant, deadline_ns, err);
}

static int patient_wait(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_env *env = cast(provider)->env;

    for (;;) {
        int status;

        if (grant->place) {
            grant->place = 0;
            return PAWL_ECANCELLED;
        }
        status = patient_try(provider, grant, deadline_ns, err);
        if (status != PAWL_EBUSY)
            return status;
        if (pawl_env_monotonic_ns(env) >= deadline_ns)
            return PAWL_ETIMEDOUT;
        if (pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + MS) != PAWL_OK)
            return PAWL_ESTOPPED;
    }
}

static void patient_interrupt(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    (void)provider;
    grant->place = 1;
}

static int patient_renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                         size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    return provider->inner->ops->renew(provider->inner, grants, count, deadline_ns, err);
}

static int patient_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                           int64_t deadline_ns, struct pawl_error *err)
{
    return provider->inner->ops->release(provider->inner, grant, deadline_ns, err);
}

static void patient_abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    provider->inner->ops->abandon(provider->inner, grant);
}

static void patient_close(struct pawl_lock_provider *provider)
{
    struct pawl_env *env = cast(provider)->env;

    provider->inner->ops->close(provider->inner);
    pawl__free(&env->alloc, provider, sizeof(struct patient));
}

/* ---- under the baton ----------------------------------------------------------------------- */

struct stage {
    struct test_allocator alloc;
    struct pawl_env *env, *world;
    struct pawl_lock_space *space;
    int64_t ttl_ms;
    bool patient, treacherous;
    struct pawl_lock_provider_ops ops; /* of what is inside a patient one */
    struct pawl_lock_check_result results[64];
};

static void betray(void *ctx, enum pawl_lock_call call, struct pawl_lock_fault_order *order)
{
    (void)ctx;
    if (call == PAWL_LOCK_CALL_TRY)
        order->kind = PAWL_LOCK_FAULT_GRANT;
}

/* Capabilities are looked up in the innermost, so that one has to say that it waits. */
static int open_patient(struct stage *stage, struct pawl_lock_provider *inner,
                        struct pawl_lock_provider **out)
{
    static const struct pawl_lock_provider_ops ops = {
        .version = PAWL_LOCK_VERSION,
        .close = patient_close,
        .status = patient_status,
        .map = patient_map,
        .try_ = patient_try,
        .wait = patient_wait,
        .interrupt = patient_interrupt,
        .renew = patient_renew,
        .release = patient_release,
        .abandon = patient_abandon,
    };
    struct patient *patient = pawl__alloc_zeroed(&stage->env->alloc, sizeof *patient);

    assert_non_null(patient);
    stage->ops = *inner->ops;
    stage->ops.caps |= PAWL_LOCK_CAP_WAIT;
    stage->ops.caps &= ~(PAWL_LOCK_CAP_INSPECT | PAWL_LOCK_CAP_WAKE);
    inner->ops = &stage->ops;
    patient->env = stage->env;
    patient->base = (struct pawl_lock_provider){.ops = &ops, .kind = "patient", .inner = inner};
    *out = &patient->base;
    return PAWL_OK;
}

static int open_one(void *ctx, struct pawl_lock_provider **out, struct pawl_error *err)
{
    static const struct pawl_lock_fault_hooks hooks = {betray, NULL};
    struct stage *stage = ctx;
    struct pawl_lock_provider *memory;
    int status = pawl__memory_locks_open(stage->space, stage->env, stage->ttl_ms, &memory, err);

    if (status != PAWL_OK)
        return status;
    if (stage->treacherous)
        return pawl__fault_locks_new(stage->env, memory, &hooks, out, err);
    if (stage->patient)
        return open_patient(stage, memory, out);
    *out = memory;
    return PAWL_OK;
}

static void check_all(void *arg)
{
    struct stage *stage = arg;
    struct pawl_lock_check check = {
        .env = stage->env, .open = open_one, .ctx = stage, .workers = 6, .rounds = 10};

    for (size_t i = 0; i < pawl__lock_check_count(); i++)
        pawl__lock_check_run(&check, i, &stage->results[i]);
}

static void run(struct stage *stage, uint64_t seed)
{
    struct pawl_baton_options options = {.max_steps = 20000000};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *thread;
    struct pawl_baton *baton;

    test_allocator_init(&stage->alloc);
    assert_ok(pawl__baton_new(&stage->alloc.base, seed, &options, &baton), NULL);
    assert_ok(pawl__baton_env(baton, "node", &stage->env), NULL);
    assert_ok(pawl__baton_env(baton, "world", &stage->world), NULL);
    assert_ok(pawl__lock_space_new(stage->world, &stage->space, &err), &err);
    assert_ok(pawl_thread_start(stage->env, "main", check_all, stage, &thread, &err), &err);
    if (pawl__baton_run(baton, &err) != PAWL_OK)
        fail_msg("seed %llu: %s\n%.*s", (unsigned long long)seed, err.msg,
                 PAWL_STR_ARG(pawl__baton_report(baton)));
    pawl__lock_space_free(stage->space);
    pawl__baton_free(baton);
    assert_int_equal(stage->alloc.live_count, 0);
}

static void all_hold(struct stage *stage)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        run(stage, seed);
        for (size_t i = 0; i < pawl__lock_check_count(); i++)
            if (stage->results[i].outcome == PAWL_LOCK_CHECK_FAILED)
                fail_msg("seed %llu: %s: %s", (unsigned long long)seed, pawl__lock_check_title(i),
                         stage->results[i].detail);
    }
}

static void locks_in_memory_keep_the_contract(void **state)
{
    struct stage stage = {.ttl_ms = 0};

    (void)state;
    all_hold(&stage);
}

static void leases_in_memory_keep_the_contract(void **state)
{
    struct stage stage = {.ttl_ms = 1000};

    (void)state;
    all_hold(&stage);
}

static void a_provider_that_waits_keeps_the_contract(void **state)
{
    struct stage stage = {.ttl_ms = 1000, .patient = true};

    (void)state;
    all_hold(&stage);
}

/* ---- a check that cannot fail shows nothing ---------------------------------------------- */

static void a_service_that_grants_twice_is_found(void **state)
{
    struct stage stage = {.treacherous = true};
    size_t failed = 0;

    (void)state;
    run(&stage, 1);
    for (size_t i = 0; i < pawl__lock_check_count(); i++)
        failed += stage.results[i].outcome == PAWL_LOCK_CHECK_FAILED;
    assert_true(failed >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_in_memory_keep_the_contract),
        cmocka_unit_test(leases_in_memory_keep_the_contract),
        cmocka_unit_test(a_provider_that_waits_keeps_the_contract),
        cmocka_unit_test(a_service_that_grants_twice_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
