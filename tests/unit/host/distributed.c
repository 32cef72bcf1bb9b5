/* SPDX-License-Identifier: Apache-2.0 */
/* What the feature `distributed` changes of a composition, and which locks it is given. */
#include "host/features.h"
#include "lib/test.h"
#include "locks/locks.h"
#include "runtime/definitions/refresher.h"
#include "runtime/node/client.h"

struct fixture {
    struct pawl_env *env;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_error err;
};

static void set(struct fixture *f, enum pawl_setting_id id, const char *text)
{
    assert_ok(pawl__configuration_set(&f->configuration, id, pawl__str(text), PAWL_ORIGIN_OPTION,
                                      "test", &f->err),
              &f->err);
}

static void open_fixture(struct fixture *f, const char *store, bool distributed)
{
    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__configuration_init(&f->configuration, &f->env->alloc);
    set(f, PAWL_SETTING_ID_STORE, store);
    set(f, PAWL_SETTING_ID_DISTRIBUTED, distributed ? "true" : "false");
}

static void compose(struct fixture *f)
{
    assert_ok(pawl__host_new(f->env, &f->configuration, &f->host, &f->err), &f->err);
    assert_ok(pawl__host_compose(f->host, &f->err), &f->err);
}

static void close_fixture(struct fixture *f)
{
    pawl__host_free(f->host);
    pawl__configuration_release(&f->configuration);
    pawl_system_env_close(f->env);
}

static bool is_same(struct pawl_slot_part a, struct pawl_slot_part b)
{
    return (!a.name && !b.name) ||
           (a.name && b.name && strcmp(a.name, b.name) == 0 && strcmp(a.feature, b.feature) == 0);
}

/* Two replaced, two decorated; locks are the lock feature's. */
static void it_replaces_two_services_decorates_two_and_touches_nothing_else(void **state)
{
    struct fixture local, cluster;

    (void)state;
    open_fixture(&local, "memory:", false);
    set(&local, PAWL_SETTING_ID_LOCK, "memory:");
    compose(&local);
    open_fixture(&cluster, "memory:", true);
    compose(&cluster);
    for (unsigned i = 0; i < PAWL_SLOT_COUNT; i++) {
        enum pawl_slot slot = (enum pawl_slot)i;
        struct pawl_slot_view before, after;
        bool replaced = slot == PAWL_SLOT_RUNTIME || slot == PAWL_SLOT_QUEUE_WORKER;
        bool decorated = slot == PAWL_SLOT_REFRESHER || slot == PAWL_SLOT_RELOADER;

        pawl__host_view(local.host, slot, &before);
        pawl__host_view(cluster.host, slot, &after);
        assert_true(is_same(replaced ? after.replaced : after.service, before.service));
        if (replaced) {
            assert_string_equal(after.service.name, "distributed");
            assert_string_equal(after.service.feature, "distributed");
        } else {
            assert_null(after.replaced.name);
        }
        assert_int_equal(after.decorator_count, before.decorator_count + decorated);
        if (decorated)
            assert_string_equal(after.decorators[after.decorator_count - 1].feature, "distributed");
    }
    close_fixture(&local);
    close_fixture(&cluster);
}

static void what_it_composes_starts_and_runs(void **state)
{
    const struct pawl_refresh all = {.count = 0};
    struct pawl_workflow_runtime *runtime;
    struct pawl_workflow_client *client;
    struct pawl_refreshed refreshed;
    struct pawl_reloaded reloaded;
    struct pawl_arena arena;
    struct fixture f;
    bool exists = true;

    (void)state;
    open_fixture(&f, "memory:", true);
    compose(&f);
    assert_ok(pawl__host_start(f.host, &f.err), &f.err);
    runtime = pawl__host_runtime(f.host);
    assert_string_equal(runtime->name, "distributed");
    assert_ptr_equal(runtime->node, pawl__host_node(f.host));
    assert_ok(pawl__workflow_runtime_client(runtime, pawl__str("i"), &client, &f.err), &f.err);
    assert_ok(pawl__workflow_client_exists(client, &exists, PAWL_FOREVER, &f.err), &f.err);
    assert_false(exists);
    assert_code(pawl__workflow_client_delete(client, PAWL_FOREVER, &f.err), PAWL_ENOTFOUND);
    pawl__workflow_client_close(client);
    pawl__arena_init(&arena, &f.env->alloc, (size_t)1 << 20);
    assert_ok(pawl__refresher_refresh(pawl__host_refresher(f.host), &all, &arena, &refreshed,
                                      PAWL_FOREVER, &f.err),
              &f.err);
    assert_ok(pawl__reloader_reload(pawl__host_reloader(f.host), &reloaded, PAWL_FOREVER, &f.err),
              &f.err);
    assert_false(reloaded.in_progress);
    pawl__arena_release(&arena);
    close_fixture(&f);
}

static void locks_follow_the_store_unless_they_are_named(void **state)
{
    static const struct {
        const char *store, *lock, *expected;
    } cases[] = {
        {"memory:", "", "memory:"},
        {"sqlite:a.db", "", "sqlite:a.db.locks"},
        {"/var/a.db", "", "sqlite:/var/a.db.locks"},
        {"sqlite:///var/a.db", "", "sqlite:/var/a.db.locks"},
        {"postgres://u:p@h/db", "", "postgres://u:p@h/db"},
        {"postgres://u:p@h/db", "file:/x", "file:/x"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char uri[PAWL_LOCK_URI_SIZE];
        struct fixture f;

        open_fixture(&f, cases[i].store, true);
        if (cases[i].lock[0])
            set(&f, PAWL_SETTING_ID_LOCK, cases[i].lock);
        assert_ok(pawl__host_lock_uri(&f.configuration, uri, &f.err), &f.err);
        assert_string_equal(uri, cases[i].expected);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_replaces_two_services_decorates_two_and_touches_nothing_else),
        cmocka_unit_test(what_it_composes_starts_and_runs),
        cmocka_unit_test(locks_follow_the_store_unless_they_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
