/* SPDX-License-Identifier: Apache-2.0 */
/* From URIs and settings to lock services, and to locks in a host. */
#include "host/lock_uri.h"
#include "host/features.h"
#include "lib/test.h"
#include "locks/locks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void the_kind_is_known_by_the_scheme(void **state)
{
    static const struct {
        const char *uri, *kind, *message;
    } cases[] = {
        {"memory:", "memory", NULL},
        {"memory:x", NULL, "nothing may follow 'memory:'"},
        {"file:locks", "file", NULL},
        {"FILE:/var/locks", "file", NULL},
        {"file:///var/locks", "file", NULL},
        {"locks", "file", NULL},
        {"/var/locks", "file", NULL},
        {"file:", NULL, "has no path"},
        {"file://host/locks", NULL, "a path cannot have a host"},
        {"sqlite:l.db", "sqlite", NULL},
        {"sqlite:", NULL, "has no path"},
        {"telepathy:x", NULL, "there is no lock service 'telepathy:'; use file:DIR"},
    };
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *kind = NULL;
        int status = pawl__lock_uri_kind(pawl__str(cases[i].uri), &kind, &err);

        if (cases[i].kind) {
            assert_ok(status, &err);
            assert_string_equal(kind, cases[i].kind);
        } else {
            assert_code(status, PAWL_EINVAL);
            assert_non_null(strstr(err.msg, cases[i].message));
        }
    }
}

struct fixture {
    struct pawl_env *env;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_error err;
    char folder[64];
};

static void open_fixture(struct fixture *f, const char *before, const char *behind)
{
    char uri[128];

    *f = (struct fixture){.env = NULL};
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-lock-uri-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    pawl__configuration_init(&f->configuration, &f->env->alloc);
    (void)snprintf(uri, sizeof uri, "%s%s%s", before, f->folder, behind);
    assert_ok(pawl__configuration_set(&f->configuration, PAWL_SETTING_ID_LOCK, pawl__str(uri),
                                      PAWL_ORIGIN_OPTION, "--lock", &f->err),
              &f->err);
    assert_ok(pawl__host_new(f->env, &f->configuration, &f->host, &f->err), &f->err);
    assert_ok(pawl__host_use(f->host, &pawl__feature_environment, &f->err), &f->err);
    assert_ok(pawl__host_use(f->host, &pawl__feature_lock, &f->err), &f->err);
}

static void close_fixture(struct fixture *f)
{
    char command[96];

    pawl__host_free(f->host);
    pawl__configuration_release(&f->configuration);
    (void)snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    assert_int_equal(system(command), 0);
    pawl_system_env_close(f->env);
}

static void a_host_has_the_locks_that_are_configured(void **state)
{
    static const char *const uris[][2] = {{"file:", "/locks"}, {"sqlite:", "/l.db"}, {"", "/bare"}};

    (void)state;
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        struct pawl_locks *locks;
        struct pawl_lock lock;
        struct fixture f;

        open_fixture(&f, uris[i][0], uris[i][1]);
        assert_ok(pawl__host_start(f.host, &f.err), &f.err);
        locks = pawl__host_locks(f.host);
        assert_non_null(locks);
        assert_ptr_equal(pawl__locks_provider(locks), pawl__host_lock_provider(f.host));
        assert_ok(pawl__locks_try(locks, pawl__str("x"), 0, &lock, &f.err), &f.err);
        pawl__host_stop(f.host); /* gives it back */
        assert_ok(pawl__host_start(f.host, &f.err), &f.err);
        locks = pawl__host_locks(f.host);
        assert_ok(pawl__locks_try(locks, pawl__str("x"), 0, &lock, &f.err), &f.err);
        assert_ok(pawl__locks_release(locks, lock, &f.err), &f.err);
        close_fixture(&f);
    }
}

static int wrap(struct pawl_host *host, void *ctx, void *inner, void **outer,
                struct pawl_error *err)
{
    struct pawl_lock_provider *trace = NULL;
    int status = pawl__trace_locks_new(pawl__host_env(host), inner, &trace, err);

    (void)ctx;
    if (status == PAWL_OK)
        *outer = trace;
    return status;
}

static void unwrap(void *ctx, void *outer)
{
    struct pawl_lock_provider *provider = outer;

    (void)ctx;
    provider->ops->close(provider);
}

static void a_decorated_provider_shows_what_is_inside(void **state)
{
    static const struct pawl_service_decorator decorator = {"trace", wrap, unwrap, NULL};
    struct pawl_lock_provider *provider;
    struct pawl_lock_counts counts;
    struct pawl_lock lock;
    struct fixture f;

    (void)state;
    open_fixture(&f, "file:", "/locks");
    assert_ok(pawl__host_decorate(f.host, PAWL_SLOT_LOCK_PROVIDER, &decorator, &f.err), &f.err);
    assert_ok(pawl__host_start(f.host, &f.err), &f.err);
    provider = pawl__host_lock_provider(f.host);
    assert_true(pawl_lock_caps(provider) & PAWL_LOCK_CAP_HOST);
    assert_false(pawl_lock_caps(provider) & PAWL_LOCK_CAP_NETWORK);
    assert_ok(pawl__locks_try(pawl__host_locks(f.host), pawl__str("x"), 0, &lock, &f.err), &f.err);
    pawl__trace_locks_counts(provider, &counts);
    assert_int_equal(counts.calls[PAWL_LOCK_CALL_TRY], 1);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_is_known_by_the_scheme),
        cmocka_unit_test(a_host_has_the_locks_that_are_configured),
        cmocka_unit_test(a_decorated_provider_shows_what_is_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
