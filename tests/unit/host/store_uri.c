/* SPDX-License-Identifier: Apache-2.0 */
/* From URIs and settings to open stores: SQLite files and the memory; servers are in moving.c. */
#include "host/store_uri.h"
#include "host/backup.h"
#include "host/features.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_error err;
    char folder[64];
    char path[80];
    char uri[96];
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.env = NULL};
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__configuration_init(&f->configuration, &f->env->alloc);
    assert_ok(pawl__host_new(f->env, &f->configuration, &f->host, &f->err), &f->err);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-uri-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/a.db", f->folder);
    (void)snprintf(f->uri, sizeof f->uri, "sqlite:%s", f->path);
}

static void close_fixture(struct fixture *f)
{
    char command[96];

    pawl__host_free(f->host);
    pawl__configuration_release(&f->configuration);
    (void)snprintf(command, sizeof command, "rm -r %s", f->folder);
    assert_int_equal(system(command), 0);
    pawl_system_env_close(f->env);
}

static void set(struct fixture *f, enum pawl_setting_id id, const char *text)
{
    assert_ok(pawl__configuration_set(&f->configuration, id, pawl__str(text), PAWL_ORIGIN_OPTION,
                                      "--set", &f->err),
              &f->err);
}

static void the_backend_is_known_by_the_scheme(void **state)
{
    static const struct {
        const char *uri, *backend, *message;
    } cases[] = {
        {"memory:", "memory", NULL},
        {"MEMORY:", "memory", NULL},
        {"memory:x", NULL, "nothing may follow 'memory:'"},
        {"sqlite:pawl.db", "sqlite", NULL},
        {"sqlite:/var/pawl.db", "sqlite", NULL},
        {"sqlite:///var/pawl.db", "sqlite", NULL},
        {"sqlite://host/pawl.db", NULL, "a file cannot have a host"},
        {"sqlite:", NULL, "the store's URI has no file"},
        {"", NULL, "the store's URI has no file"},
        {"pawl.db", "sqlite", NULL},
        {"./some:where/pawl", "sqlite", NULL},
        {"postgres://h/db", "postgres", NULL},
        {"postgresql://h/db", "postgres", NULL},
        {"postgres:db", NULL, "the store's URI has no host"},
        {"mysql://u:geheim@h/db", NULL,
         "there is no store 'mysql:'; use memory:, sqlite:PATH (a PATH alone is the same) or "
         "postgres://"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        const char *backend = NULL;
        int status = pawl__host_store_backend(pawl__str(cases[i].uri), &backend, &err);

        if (cases[i].backend) {
            assert_ok(status, &err);
            assert_string_equal(backend, cases[i].backend);
        } else {
            assert_code(status, PAWL_EINVAL);
            assert_non_null(strstr(err.msg, cases[i].message));
            assert_null(strstr(err.msg, "geheim"));
        }
    }
}

static void a_file_is_made_only_when_asked_for(void **state)
{
    struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_store_status about;
    struct pawl_store *store = NULL;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_code(pawl__host_open_store(f.env, pawl__str(f.uri), NULL, &store, &f.err),
                PAWL_ENOTFOUND);
    assert_int_equal(access(f.path, F_OK), -1);
    assert_ok(pawl__host_open_store(f.env, pawl__str(f.uri), &create, &store, &f.err), &f.err);
    pawl_store_close(store);
    assert_ok(pawl__host_open_store(f.env, pawl__str(f.path), NULL, &store, &f.err), &f.err);
    assert_ok(pawl_store_status(store, &about, PAWL_FOREVER, &f.err), &f.err);
    assert_string_equal(about.backend, "sqlite");
    pawl_store_close(store);
    assert_ok(pawl__host_open_store(f.env, pawl__str("memory:"), NULL, &store, &f.err), &f.err);
    pawl_store_close(store);
    close_fixture(&f);
}

static void a_host_opens_the_store_of_its_configuration(void **state)
{
    struct pawl_store_status about;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    set(&f, PAWL_SETTING_ID_STORE, f.uri);
    set(&f, PAWL_SETTING_ID_STORE_TRACE, "true");
    assert_ok(pawl__host_compose(f.host, &f.err), &f.err);
    assert_int_equal(access(f.path, F_OK), -1); /* composing opens nothing */
    assert_ok(pawl__host_start(f.host, &f.err), &f.err);
    assert_ptr_equal(pawl__host_get(f.host, PAWL_SLOT_ENV), f.env);
    assert_string_equal(pawl__host_store(f.host)->name, "trace");
    assert_ok(pawl_store_status(pawl__host_store(f.host), &about, PAWL_FOREVER, &f.err), &f.err);
    assert_string_equal(about.backend, "sqlite");
    pawl__host_stop(f.host);
    close_fixture(&f);
}

static void a_host_refuses_a_store_that_was_half_restored(void **state)
{
    struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_setting_row mark = {.key = PAWL_STR_LIT(PAWL_RESTORE_MARK)};
    struct pawl_store *store = NULL;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__host_open_store(f.env, pawl__str(f.uri), &create, &store, &f.err), &f.err);
    assert_ok(pawl_store_load(store, PAWL_TABLE_SETTINGS, &mark, 1, PAWL_FOREVER, &f.err), &f.err);
    pawl_store_close(store);
    set(&f, PAWL_SETTING_ID_STORE, f.uri);
    assert_ok(pawl__host_compose(f.host, &f.err), &f.err);
    assert_code(pawl__host_start(f.host, &f.err), PAWL_ECONFLICT);
    assert_non_null(strstr(f.err.msg, "a restore into this store was not finished"));
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_backend_is_known_by_the_scheme),
        cmocka_unit_test(a_file_is_made_only_when_asked_for),
        cmocka_unit_test(a_host_opens_the_store_of_its_configuration),
        cmocka_unit_test(a_host_refuses_a_store_that_was_half_restored),
    };

    return cmocka_run_group_tests_name("host/store_uri", tests, NULL, NULL);
}
