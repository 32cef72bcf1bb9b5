/* SPDX-License-Identifier: Apache-2.0 */
#include "host/host.h"
#include "lib/test.h"

#include <stdio.h>

/* Services here are words; what is built and taken down is written into a trace. */
struct fixture {
    struct test_allocator alloc;
    struct pawl_env env;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_error err;
};

static char trace[512];

static void note(const char *what, const char *which)
{
    size_t len = strlen(trace);

    (void)snprintf(trace + len, sizeof trace - len, "%s%s%s", len > 0 ? " " : "", what, which);
}

/* Nothing here is locked. */
static int no_mutex(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    (void)env;
    (void)name;
    *out = NULL;
    return PAWL_OK;
}

static void open_fixture(struct fixture *f)
{
    static const struct pawl_env_ops no_ops = {.version = PAWL_ENV_VERSION, .mutex_new = no_mutex};

    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    test_allocator_init(&f->alloc);
    f->env = (struct pawl_env){&no_ops, f->alloc.base};
    pawl__configuration_init(&f->configuration, &f->alloc.base);
    assert_ok(pawl__host_new(&f->env, &f->configuration, &f->host, &f->err), &f->err);
    trace[0] = '\0';
}

static void close_fixture(struct fixture *f)
{
    pawl__host_free(f->host);
    pawl__configuration_release(&f->configuration);
    assert_int_equal(f->alloc.live_count, 0);
}

/* ctx: the word. */
static int build(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    (void)err;
    assert_non_null(pawl__host_env(host));
    note("+", ctx);
    *service = ctx;
    return PAWL_OK;
}

static int build_badly(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    (void)host;
    (void)service;
    note("!", ctx);
    err->code = PAWL_EUNAVAILABLE;
    (void)snprintf(err->msg, sizeof err->msg, "no luck");
    return PAWL_EUNAVAILABLE;
}

static void destroy(void *ctx, void *service)
{
    assert_ptr_equal(ctx, service);
    note("-", ctx);
}

static char store_word[] = "store", runtime_word[] = "runtime", other_word[] = "other";
static char lock_word[] = "lock", inner_word[] = "(inner)", outer_word[] = "(outer)";

static const struct pawl_service_factory store = {"words", build, destroy, store_word};
static const struct pawl_service_factory runtime = {"local", build, destroy, runtime_word};
static const struct pawl_service_factory other = {"distributed", build, destroy, other_word};
static const struct pawl_service_factory lock = {"file", build, destroy, lock_word};
static const struct pawl_service_factory bad = {"bad", build_badly, destroy, other_word};

/* Decorators remember what they took, to demand that it is the service below. */
static void *taken[2];

static int wrap(struct pawl_host *host, void *ctx, void *inner, void **outer,
                struct pawl_error *err)
{
    (void)host;
    (void)err;
    note("+", ctx);
    taken[ctx == outer_word] = inner;
    *outer = ctx;
    return PAWL_OK;
}

static void unwrap(void *ctx, void *outer)
{
    assert_ptr_equal(ctx, outer);
    note("-", ctx);
    if (ctx == outer_word)
        unwrap(inner_word, taken[1]);
    else
        note("-", taken[0]);
}

static int wrap_badly(struct pawl_host *host, void *ctx, void *inner, void **outer,
                      struct pawl_error *err)
{
    (void)inner;
    return build_badly(host, ctx, outer, err);
}

static const struct pawl_service_decorator inner_one = {"inner", wrap, unwrap, inner_word};
static const struct pawl_service_decorator outer_one = {"outer", wrap, unwrap, outer_word};
static const struct pawl_service_decorator bad_one = {"bad", wrap_badly, unwrap, outer_word};

static int apply_local(struct pawl_host *host, struct pawl_error *err)
{
    int status = pawl__host_fill(host, PAWL_SLOT_RUNTIME, &runtime, err);

    if (status == PAWL_OK)
        status = pawl__host_fill(host, PAWL_SLOT_STORE, &store, err);
    return status;
}

static int apply_distributed(struct pawl_host *host, struct pawl_error *err)
{
    int status = pawl__host_replace(host, PAWL_SLOT_RUNTIME, &other, err);

    if (status == PAWL_OK)
        status = pawl__host_fill(host, PAWL_SLOT_LOCK, &lock, err);
    if (status == PAWL_OK)
        status = pawl__host_decorate(host, PAWL_SLOT_STORE, &inner_one, err);
    if (status == PAWL_OK)
        status = pawl__host_decorate(host, PAWL_SLOT_STORE, &outer_one, err);
    return status;
}

static int apply_half(struct pawl_host *host, struct pawl_error *err)
{
    int status = pawl__host_replace(host, PAWL_SLOT_RUNTIME, &other, err);

    assert_int_equal(status, PAWL_OK);
    return pawl__host_fill(host, PAWL_SLOT_STORE, &other, err);
}

static const struct pawl_feature local = {"local", apply_local};
static const struct pawl_feature distributed = {"distributed", apply_distributed};
static const struct pawl_feature half = {"half", apply_half};

static void builds_in_the_order_of_dependencies_and_stops_in_reverse(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__host_use(f.host, &local, &f.err), &f.err);
    assert_string_equal(trace, "");
    assert_null(pawl__host_get(f.host, PAWL_SLOT_STORE));
    assert_ok(pawl__host_start(f.host, &f.err), &f.err);
    assert_string_equal(trace, "+store +runtime");
    assert_ptr_equal(pawl__host_get(f.host, PAWL_SLOT_STORE), store_word);
    assert_ptr_equal(pawl__host_get(f.host, PAWL_SLOT_RUNTIME), runtime_word);
    assert_null(pawl__host_get(f.host, PAWL_SLOT_LOCK));
    assert_code(pawl__host_start(f.host, &f.err), PAWL_ECONFLICT);
    assert_code(pawl__host_fill(f.host, PAWL_SLOT_LOCK, &lock, &f.err), PAWL_ECONFLICT);
    pawl__host_stop(f.host);
    assert_string_equal(trace, "+store +runtime -runtime -store");
    assert_null(pawl__host_get(f.host, PAWL_SLOT_STORE));
    assert_ok(pawl__host_start(f.host, &f.err), &f.err); /* and again; free stops it */
    trace[0] = '\0';
    close_fixture(&f);
    assert_string_equal(trace, "-runtime -store");
}

static void a_feature_replaces_and_decorates_and_the_rest_stays(void **state)
{
    struct pawl_slot_view view;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__host_use(f.host, &local, &f.err), &f.err);
    assert_ok(pawl__host_use(f.host, &distributed, &f.err), &f.err);
    pawl__host_view(f.host, PAWL_SLOT_RUNTIME, &view);
    assert_string_equal(view.service.name, "distributed");
    assert_string_equal(view.service.feature, "distributed");
    assert_string_equal(view.replaced.name, "local");
    assert_string_equal(view.replaced.feature, "local");
    pawl__host_view(f.host, PAWL_SLOT_STORE, &view);
    assert_string_equal(view.service.name, "words");
    assert_string_equal(view.service.feature, "local");
    assert_null(view.replaced.name);
    assert_int_equal(view.decorator_count, 2);
    assert_string_equal(view.decorators[1].name, "outer");
    assert_string_equal(view.decorators[1].feature, "distributed");
    pawl__host_view(f.host, PAWL_SLOT_RELOADER, &view);
    assert_null(view.service.name);

    assert_ok(pawl__host_start(f.host, &f.err), &f.err);
    assert_string_equal(trace, "+store +(inner) +(outer) +lock +other");
    assert_ptr_equal(pawl__host_get(f.host, PAWL_SLOT_STORE), outer_word);
    assert_ptr_equal(taken[0], store_word);
    assert_ptr_equal(taken[1], inner_word);
    trace[0] = '\0';
    pawl__host_stop(f.host);
    assert_string_equal(trace, "-other -lock -(outer) -(inner) -store");
    close_fixture(&f);
}

static void a_feature_that_fails_leaves_no_trace(void **state)
{
    struct pawl_slot_view view;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__host_use(f.host, &local, &f.err), &f.err);
    assert_code(pawl__host_use(f.host, &half, &f.err), PAWL_EEXISTS);
    assert_string_equal(f.err.msg, "feature 'half': the service 'store' is already 'words', by the "
                                   "feature 'local'; replace it");
    pawl__host_view(f.host, PAWL_SLOT_RUNTIME, &view);
    assert_string_equal(view.service.name, "local");
    assert_null(view.replaced.name);
    assert_code(pawl__host_use(f.host, &local, &f.err), PAWL_EEXISTS);
    assert_string_equal(f.err.msg, "the feature 'local' is already applied");
    close_fixture(&f);
}

static void mistakes_of_composition_are_named(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_code(pawl__host_replace(f.host, PAWL_SLOT_RUNTIME, &other, &f.err), PAWL_ENOTFOUND);
    assert_string_equal(f.err.msg,
                        "there is no service 'runtime' that 'distributed' could replace; fill it");
    assert_ok(pawl__host_decorate(f.host, PAWL_SLOT_RELOADER, &inner_one, &f.err), &f.err);
    assert_code(pawl__host_start(f.host, &f.err), PAWL_ENOTFOUND);
    assert_string_equal(f.err.msg, "the decorator 'inner' of the feature '-' has no service "
                                   "'definitions-reloader' to go around");
    for (int i = 1; i < PAWL_DECORATORS_MAX; i++)
        assert_ok(pawl__host_decorate(f.host, PAWL_SLOT_RELOADER, &inner_one, &f.err), &f.err);
    assert_code(pawl__host_decorate(f.host, PAWL_SLOT_RELOADER, &inner_one, &f.err), PAWL_ELIMIT);
    close_fixture(&f);
}

static void what_was_built_is_taken_down_when_a_later_one_fails(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__host_use(f.host, &local, &f.err), &f.err);
    assert_ok(pawl__host_replace(f.host, PAWL_SLOT_RUNTIME, &bad, &f.err), &f.err);
    assert_code(pawl__host_start(f.host, &f.err), PAWL_EUNAVAILABLE);
    assert_string_equal(f.err.msg, "runtime 'bad': no luck");
    assert_string_equal(trace, "+store !other -store");
    assert_null(pawl__host_get(f.host, PAWL_SLOT_STORE));

    trace[0] = '\0';
    assert_ok(pawl__host_decorate(f.host, PAWL_SLOT_STORE, &inner_one, &f.err), &f.err);
    assert_ok(pawl__host_decorate(f.host, PAWL_SLOT_STORE, &bad_one, &f.err), &f.err);
    assert_code(pawl__host_start(f.host, &f.err), PAWL_EUNAVAILABLE);
    assert_string_equal(f.err.msg, "store decorator 'bad': no luck");
    assert_string_equal(trace, "+store +(inner) !(outer) -(inner) -store");
    close_fixture(&f);
}

static void every_slot_has_a_key_of_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PAWL_SLOT_COUNT; i++) {
        assert_true(pawl__slot_text((enum pawl_slot)i)[0] != '\0');
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(pawl__slot_key((enum pawl_slot)i),
                                    pawl__slot_key((enum pawl_slot)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_in_the_order_of_dependencies_and_stops_in_reverse),
        cmocka_unit_test(a_feature_replaces_and_decorates_and_the_rest_stays),
        cmocka_unit_test(a_feature_that_fails_leaves_no_trace),
        cmocka_unit_test(mistakes_of_composition_are_named),
        cmocka_unit_test(what_was_built_is_taken_down_when_a_later_one_fails),
        cmocka_unit_test(every_slot_has_a_key_of_its_own),
    };

    return cmocka_run_group_tests_name("host/host", tests, NULL, NULL);
}
