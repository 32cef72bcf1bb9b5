/* SPDX-License-Identifier: Apache-2.0 */
/* The engine by itself: values, calls, limits, images, and a lack of memory. */
#include "drivers/quickjs.h"

#include "lib/test.h"

#include <math.h>
#include <stdio.h>

static const struct pawl_quickjs_limits limits = {
    .fuel = 1000, .memory_bytes = 16u << 20, .stack_bytes = PAWL_QUICKJS_STACK_DEFAULT};
static const struct pawl_quickjs_host no_host = {.call = NULL};

struct scene {
    struct test_allocator alloc;
    struct pawl_quickjs *js;
    struct pawl_arena arena;
    const char *source;
    char shown[256];
};

static void evaluate(struct pawl_quickjs *js, void *arg)
{
    struct scene *scene = arg;
    struct pawl_js value = pawl__js_evaluate(js, pawl__str(scene->source), "test");
    struct pawl_str text = {"", 0};
    bool threw = pawl__js_kind(value) == PAWL_JS_EXCEPTION;

    if (threw)
        value = pawl__js_caught(js);
    (void)pawl__js_text(js, value, &scene->arena, &text);
    (void)snprintf(scene->shown, sizeof scene->shown, "%s%.*s", threw ? "threw " : "",
                   PAWL_STR_ARG(text));
    pawl__js_free(js, value);
}

static enum pawl_quickjs_end run(struct scene *scene, const char *source)
{
    scene->source = source;
    scene->shown[0] = '\0';
    return pawl__quickjs_enter(scene->js, &no_host, &limits, evaluate, scene);
}

static void check(struct scene *scene, const char *source, const char *expected)
{
    assert_int_equal(run(scene, source), PAWL_QUICKJS_DONE);
    assert_string_equal(scene->shown, expected);
}

static void open_scene(struct scene *scene)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    *scene = (struct scene){.js = NULL};
    test_allocator_init(&scene->alloc);
    pawl__arena_init(&scene->arena, &scene->alloc.base, (size_t)1 << 24);
    assert_ok(pawl__quickjs_open(&scene->alloc.base, &scene->js, &err), &err);
}

static void close_scene(struct scene *scene)
{
    pawl__quickjs_close(scene->js);
    pawl__arena_release(&scene->arena);
    assert_int_equal(scene->alloc.live_count, 0);
}

static void scripts_run(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene);
    check(&scene, "1 + 1", "2");
    check(&scene, "[1, 2].map(x => `<${x}>`).join('')", "<1><2>");
    check(&scene, "throw new Error('boom')", "threw Error: boom");
    check(&scene, "1 +", "threw SyntaxError: unexpected token in expression: ''");
    close_scene(&scene);
}

static void numbers(struct pawl_quickjs *js, void *arg)
{
    static const double samples[] = {
        0, -0.0, 1, -1, 0.5, 2147483647, 2147483648.0, 1e21, 5e-324, 1e308, -1e9, -2147483648.0};

    (void)arg;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct pawl_js value = pawl__js_number(samples[i]);
        double back = pawl__js_to_double(value);

        assert_int_equal(pawl__js_kind(value), PAWL_JS_NUMBER);
        assert_memory_equal(&back, &samples[i], sizeof back);
    }
    assert_true(isnan(pawl__js_to_double(pawl__js_number((double)NAN))));
    assert_true(isinf(pawl__js_to_double(pawl__js_number((double)INFINITY))));
    assert_int_equal(pawl__js_kind(pawl__js_number((double)NAN)), PAWL_JS_NUMBER);
    assert_int_equal(pawl__js_kind(pawl__js_undefined()), PAWL_JS_UNDEFINED);
    assert_int_equal(pawl__js_kind(pawl__js_null()), PAWL_JS_NULL);
    assert_true(pawl__js_to_bool(pawl__js_bool(true)));
    assert_false(pawl__js_to_bool(pawl__js_bool(false)));
    (void)js;
}

static void texts(struct pawl_quickjs *js, void *arg)
{
    struct scene *scene = arg;
    static char large[10000];
    struct pawl_js value;
    struct pawl_str text;

    memset(large, 'x', sizeof large - 1);
    value = pawl__js_string(js, pawl__str(large));
    assert_true(pawl__js_text(js, value, &scene->arena, &text));
    assert_int_equal(text.len, sizeof large - 1);
    pawl__js_free(js, value);
    value = pawl__js_parse(js, pawl__str("{\"a\":[1,\"é\"]}"));
    assert_int_equal(pawl__js_kind(value), PAWL_JS_OBJECT);
    pawl__js_free(js, value);
    value = pawl__js_parse(js, pawl__str("{\"a\":"));
    assert_int_equal(pawl__js_kind(value), PAWL_JS_EXCEPTION);
    pawl__js_free(js, pawl__js_caught(js));
    value = pawl__js_bytes(js, pawl__str_make("\0\1\2", 3));
    assert_true(pawl__js_peek_bytes(js, value, &text));
    assert_memory_equal(text.ptr, "\0\1\2", 3);
    assert_false(pawl__js_peek_bytes(js, pawl__js_null(), &text));
    pawl__js_free(js, value);
}

static void values_go_in_and_out(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene);
    assert_int_equal(pawl__quickjs_enter(scene.js, &no_host, &limits, numbers, &scene),
                     PAWL_QUICKJS_DONE);
    assert_int_equal(pawl__quickjs_enter(scene.js, &no_host, &limits, texts, &scene),
                     PAWL_QUICKJS_DONE);
    close_scene(&scene);
}

static struct pawl_js answer(void *ctx, struct pawl_quickjs *js, uint32_t number,
                             const struct pawl_js *args, uint32_t count)
{
    unsigned *calls = ctx;

    ++*calls;
    if (number == 2)
        return pawl__js_throw(js, "host says no");
    if (number == 3)
        return pawl__js_abort(js);
    return pawl__js_number(count > 0 ? pawl__js_to_double(args[0]) * 2 : -1);
}

static void call_host(struct pawl_quickjs *js, void *arg)
{
    struct scene *scene = arg;
    struct pawl_js global = pawl__js_global(js);

    assert_true(pawl__js_set(js, global, "twice", pawl__js_function(js, "twice", 1)));
    assert_true(pawl__js_set(js, global, "refuse", pawl__js_function(js, "refuse", 2)));
    assert_true(pawl__js_set(js, global, "stop", pawl__js_function(js, "stop", 3)));
    pawl__js_free(js, global);
    scene->source = "let s = twice(21); try { refuse() } catch (e) { s += e.message } s";
    evaluate(js, scene);
}

static void the_host_is_called(void **state)
{
    struct pawl_quickjs_host host = {.call = answer};
    unsigned calls = 0;
    struct scene scene;

    (void)state;
    host.ctx = &calls;
    open_scene(&scene);
    assert_int_equal(pawl__quickjs_enter(scene.js, &host, &limits, call_host, &scene),
                     PAWL_QUICKJS_DONE);
    assert_string_equal(scene.shown, "42host says no");
    assert_int_equal(calls, 2);
    scene.source = "for (;;) { try { stop() } catch { } }";
    assert_int_equal(pawl__quickjs_enter(scene.js, &host, &limits, evaluate, &scene),
                     PAWL_QUICKJS_ABORTED);
    close_scene(&scene);
}

static void an_image_brings_everything_back(void **state)
{
    struct pawl_quickjs_image *image;
    struct scene scene;
    struct scene other;
    size_t before;

    (void)state;
    open_scene(&scene);
    check(&scene, "globalThis.kept = 1; kept", "1");
    assert_code(pawl__quickjs_image_take(scene.js, &scene.alloc.base, &image), PAWL_OK);
    before = pawl__quickjs_memory_bytes(scene.js);
    check(&scene, "kept = 2; Array.prototype.map = null; const big = 'x'.repeat(1e7); big.length",
          "10000000");
    assert_true(pawl__quickjs_memory_bytes(scene.js) > before);
    assert_int_equal(run(&scene, "for (;;);"), PAWL_QUICKJS_FUEL);
    assert_code(pawl__quickjs_restore(scene.js, image), PAWL_OK);
    assert_int_equal(pawl__quickjs_memory_bytes(scene.js), before);
    check(&scene, "kept + typeof big + typeof [].map", "1undefinedfunction");
    open_scene(&other);
    assert_code(pawl__quickjs_restore(other.js, image), PAWL_OK);
    check(&other, "kept", "1");
    close_scene(&other);
    pawl__quickjs_image_free(image);
    close_scene(&scene);
}

static void count_names(struct pawl_quickjs *js, void *arg)
{
    uint32_t *count = arg;

    *count = pawl__js_lexical_own(js);
}

static void names_declared_in_the_global_scope_are_counted(void **state)
{
    uint32_t before = 0;
    uint32_t after = 0;
    struct scene scene;

    (void)state;
    open_scene(&scene);
    assert_int_equal(pawl__quickjs_enter(scene.js, &no_host, &limits, count_names, &before),
                     PAWL_QUICKJS_DONE);
    check(&scene, "var a = 1; this.b = 2; (0, eval)('let c = 3'); 1", "1");
    assert_int_equal(pawl__quickjs_enter(scene.js, &no_host, &limits, count_names, &after),
                     PAWL_QUICKJS_DONE);
    assert_int_equal(after, before);
    check(&scene, "let d = 1; const e = 2; class f {}; 1", "1");
    assert_int_equal(pawl__quickjs_enter(scene.js, &no_host, &limits, count_names, &after),
                     PAWL_QUICKJS_DONE);
    assert_int_equal(after, before + 3);
    close_scene(&scene);
}

static void limits_end_scripts(void **state)
{
    struct pawl_quickjs_image *image;
    struct scene scene;

    (void)state;
    open_scene(&scene);
    assert_code(pawl__quickjs_image_take(scene.js, &scene.alloc.base, &image), PAWL_OK);
    assert_int_equal(run(&scene, "for (;;) try { for (;;); } catch { }"), PAWL_QUICKJS_FUEL);
    assert_code(pawl__quickjs_restore(scene.js, image), PAWL_OK);
    check(&scene, "1 + 1", "2");
    assert_int_equal(run(&scene, "[].reverse.call({ length: 2 ** 53 - 1 })"), PAWL_QUICKJS_FUEL);
    assert_code(pawl__quickjs_restore(scene.js, image), PAWL_OK);
    pawl__quickjs_image_free(image);
    check(&scene, "'x'.repeat(2 ** 29)", "threw InternalError: out of memory");
    check(&scene, "(function f() { f() })()", "threw RangeError: Maximum call stack size exceeded");
    check(&scene, "1 + 1", "2");
    close_scene(&scene);
}

struct asked {
    int count;
    bool may;
};

static bool may_grow(void *ctx)
{
    struct asked *asked = ctx;

    asked->count++;
    return asked->may;
}

static void a_large_engine_is_asked_for(void **state)
{
    struct asked asked = {.may = true};
    const struct pawl_quickjs_host host = {.grow = may_grow, .ctx = &asked};
    struct scene scene;

    (void)state;
    open_scene(&scene);
    scene.source = "new Uint8Array(1 << 20).length";
    assert_int_equal(pawl__quickjs_enter(scene.js, &host, &limits, evaluate, &scene),
                     PAWL_QUICKJS_DONE);
    assert_int_equal(asked.count, 0);
    scene.source = "new Uint8Array(10 << 20).length";
    assert_int_equal(pawl__quickjs_enter(scene.js, &host, &limits, evaluate, &scene),
                     PAWL_QUICKJS_DONE);
    assert_string_equal(scene.shown, "10485760");
    assert_true(asked.count > 0);
    assert_true(pawl__quickjs_memory_bytes(scene.js) > PAWL_QUICKJS_SMALL);
    close_scene(&scene);
    open_scene(&scene);
    asked.may = false;
    scene.source = "try { new Uint8Array(10 << 20).length } catch { 1 }";
    assert_int_equal(pawl__quickjs_enter(scene.js, &host, &limits, evaluate, &scene),
                     PAWL_QUICKJS_STOPPED);
    assert_true(pawl__quickjs_memory_bytes(scene.js) <= PAWL_QUICKJS_SMALL);
    close_scene(&scene);
}

static void the_same_script_needs_the_same_fuel(void **state)
{
    struct pawl_quickjs_limits tight = limits;
    struct scene scene;
    uint32_t needed[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_scene(&scene);
        scene.source = "let n = 0; for (let i = 0; i < 200000; i++) n += i; n";
        for (tight.fuel = 0; pawl__quickjs_enter(scene.js, &no_host, &tight, evaluate, &scene) !=
                             PAWL_QUICKJS_DONE;) {
            close_scene(&scene);
            open_scene(&scene);
            scene.source = "let n = 0; for (let i = 0; i < 200000; i++) n += i; n";
            tight.fuel++;
        }
        needed[i] = tight.fuel;
        close_scene(&scene);
    }
    assert_int_equal(needed[0], needed[1]);
    assert_true(needed[0] > 0);
}

static int open_and_close(struct test_allocator *alloc, void *arg)
{
    struct pawl_quickjs_image *image = NULL;
    struct pawl_quickjs *js = NULL;
    int status = pawl__quickjs_open(&alloc->base, &js, NULL);

    (void)arg;
    if (status == PAWL_OK)
        status = pawl__quickjs_image_take(js, &alloc->base, &image);
    pawl__quickjs_image_free(image);
    pawl__quickjs_close(js);
    return status;
}

static void a_lack_of_memory_is_reported(void **state)
{
    (void)state;
    test_sweep_allocations(open_and_close, NULL, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_run),
        cmocka_unit_test(values_go_in_and_out),
        cmocka_unit_test(the_host_is_called),
        cmocka_unit_test(an_image_brings_everything_back),
        cmocka_unit_test(names_declared_in_the_global_scope_are_counted),
        cmocka_unit_test(limits_end_scripts),
        cmocka_unit_test(a_large_engine_is_asked_for),
        cmocka_unit_test(the_same_script_needs_the_same_fuel),
        cmocka_unit_test(a_lack_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
