/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of all built-in types: well formed, and as a live Elsa describes them. */
#include "activities/activities.h"

#include "engine/convert/convert.h"
#include "engine/descriptor.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>

struct registry {
    struct test_allocator alloc;
    struct pawl_engine engine;
    struct pawl_arena arena;
};

static int open_registry(void **state)
{
    static struct registry registry;
    struct pawl_hash_seed seed = {0};

    test_allocator_init(&registry.alloc);
    pawl__engine_init(&registry.engine, &registry.alloc.base, seed);
    pawl__arena_init(&registry.arena, &registry.alloc.base, (size_t)1 << 28);
    *state = &registry;
    return pawl__activities_register(&registry.engine);
}

static int close_registry(void **state)
{
    struct registry *registry = *state;

    pawl__engine_release(&registry->engine);
    pawl__arena_release(&registry->arena);
    return registry->alloc.live_count == 0 ? 0 : -1;
}

static struct pawl_json parse(struct registry *registry, const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json value;

    assert_ok(pawl__json_parse(&registry->arena, pawl__str(text), NULL, &value, NULL, &err), &err);
    return value;
}

/* ---- well formed ------------------------------------------------------------------------- */

static void check_input(struct registry *registry, const struct pawl_input_descriptor *input)
{
    assert_non_null(input->name);
    assert_non_null(input->type);
    assert_true(input->name[0] >= 'A' && input->name[0] <= 'Z');
    if (input->default_json) {
        struct pawl_json initial = parse(registry, input->default_json);
        struct pawl_conversion how = {.arena = &registry->arena, .strict = true};
        struct pawl_exception raised;
        struct pawl_value value;

        assert_code(
            pawl__convert(&how, pawl__value_from_json(initial), input->type, &value, &raised),
            PAWL_OK);
        assert_int_equal(pawl__value_is_null(value), strcmp(input->default_json, "null") == 0);
    }
    if (input->options_json)
        assert_true(pawl__json_len(&(struct pawl_json[]){parse(registry, input->options_json)}[0]));
    if (input->flags & PAWL_INPUT_DEFAULT_HIDDEN)
        assert_non_null(input->default_json);
}

static void every_descriptor_is_well_formed(void **state)
{
    struct registry *registry = *state;
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &registry->engine.activities) {
        const struct pawl_activity *activity = entry->value;

        assert_str(entry->key, activity->type);
        assert_true(activity->version > 0);
        assert_non_null(activity->category);
        assert_true(activity->execute || activity->flags & PAWL_ACTIVITY_AUTO_COMPLETE);
        assert_true(!activity->triggers || activity->kind == PAWL_ACTIVITY_TRIGGER);
        for (uint32_t i = 0; i < activity->input_count; i++)
            check_input(registry, &activity->inputs[i]);
        for (uint32_t i = 0; i < activity->output_count; i++)
            assert_non_null(activity->outputs[i].type);
    }
    assert_int_equal(registry->engine.activities.live_count, 50);
}

/* ---- as recorded ------------------------------------------------------------------------- */

static struct pawl_json recorded(struct registry *registry)
{
    const char *path = TEST_RECORDINGS_DIR "/golden/api/41-descriptors-activities.json";
    FILE *file = fopen(path, "rb");
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json value;
    struct pawl_str text;

    if (!file)
        skip();
    (void)fclose(file);
    text = test_read_file(path);
    assert_ok(pawl__json_parse(&registry->arena, text, NULL, &value, NULL, &err), &err);
    free((void *)(uintptr_t)text.ptr);
    return *pawl__json_find(&value, pawl__str("/0/response/body/items"));
}

static struct pawl_json described(struct registry *registry, const struct pawl_activity *activity)
{
    struct pawl_json_writer writer;
    struct pawl_buf text;
    struct pawl_json value;

    pawl__buf_init(&text, &registry->alloc.base, 1 << 20);
    pawl__json_writer_init(&writer, &text, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__descriptor_write(&writer, activity);
    assert_int_equal(text.status, PAWL_OK);
    value = parse(registry, pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return value;
}

/* Members of `wanted` named in `keys` are the same in `given`. */
static void check_members(const char *type, const struct pawl_json *wanted,
                          const struct pawl_json *given, const char *const *keys)
{
    const char *name = pawl__json_str(pawl__json_get_text(wanted, "name")).ptr;

    for (; *keys; keys++) {
        const struct pawl_json *a = pawl__json_get_text(wanted, *keys);
        const struct pawl_json *b = pawl__json_get_text(given, *keys);

        /* Where endpoints are is the server's to say, in front of their paths. */
        if (strcmp(type, "Elsa.HttpEndpoint") == 0 && strcmp(name, "Path") == 0 &&
            strcmp(*keys, "uiSpecifications") == 0)
            continue;
        a = pawl__json_is(a, PAWL_JSON_NULL) ? NULL : a;
        if ((a == NULL) != (b == NULL) || (a && !pawl__json_equal(a, b)))
            fail_msg("%s, %s: %s is not as recorded", type, name, *keys);
    }
    /* Words are our own, but what is described there is described here. */
    if (pawl__json_get_text(wanted, "description") && !pawl__json_get_text(given, "description"))
        fail_msg("%s, %s: no description", type, name);
}

static void check_list(const char *type, const struct pawl_json *wanted,
                       const struct pawl_json *given, const char *key, const char *const *keys)
{
    const struct pawl_json *list = pawl__json_get_text(wanted, key);
    const struct pawl_json *ours = pawl__json_get_text(given, key);

    if (pawl__json_len(list) != pawl__json_len(ours))
        fail_msg("%s: %u %s, not %u as recorded", type, pawl__json_len(ours), key,
                 pawl__json_len(list));
    for (uint32_t i = 0; i < pawl__json_len(list); i++)
        check_members(type, pawl__json_at(list, i), pawl__json_at(ours, i), keys);
}

static void check_descriptor(struct registry *registry, const struct pawl_json *wanted)
{
    static const char *const own[] = {
        "typeName", "namespace",   "name",        "version", "category",   "displayName",
        "kind",     "isContainer", "isBrowsable", "isStart", "isTerminal", NULL,
    };
    static const char *const inputs[] = {
        "name",         "typeName",      "displayName",  "isWrapped",        "uiHint", "category",
        "defaultValue", "defaultSyntax", "autoEvaluate", "uiSpecifications", NULL,
    };
    static const char *const outputs[] = {"name", "typeName", "displayName", NULL};
    static const char *const ports[] = {"name", "displayName", "type", "isBrowsable", NULL};
    struct pawl_str type = pawl__json_str(pawl__json_get_text(wanted, "typeName"));
    const struct pawl_activity *activity = pawl__engine_activity(&registry->engine, type);
    struct pawl_json given = described(registry, activity);

    check_members(type.ptr, wanted, &given, own);
    check_list(type.ptr, wanted, &given, "inputs", inputs);
    check_list(type.ptr, wanted, &given, "outputs", outputs);
    check_list(type.ptr, wanted, &given, "ports", ports);
}

static void descriptors_are_as_a_live_elsa_shows_them(void **state)
{
    struct registry *registry = *state;
    struct pawl_json list = recorded(registry);
    uint32_t checked = 0;

    for (uint32_t i = 0; i < pawl__json_len(&list); i++) {
        const struct pawl_json *wanted = pawl__json_at(&list, i);
        struct pawl_str type = pawl__json_str(pawl__json_get_text(wanted, "typeName"));

        /* Flowcharts differ where only code can say something: the port of their start. */
        if (!pawl__engine_activity(&registry->engine, type) ||
            (pawl__str_starts(type, pawl__str("Elsa.Flow")) &&
             !pawl__str_is(type, "Elsa.FlowSendHttpRequest")))
            continue;
        check_descriptor(registry, wanted);
        checked++;
    }
    assert_int_equal(checked, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_descriptor_is_well_formed),
        cmocka_unit_test(descriptors_are_as_a_live_elsa_shows_them),
    };

    return cmocka_run_group_tests_name("activities/activities", tests, open_registry,
                                       close_registry);
}
