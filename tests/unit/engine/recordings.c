/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of all definitions that were recorded on a live system: they load, and every activity id
 * and node id that the system wrote into its logs and exports is there. Skipped where there are no
 * recordings beside the checkout.
 */
#include "lib/loading.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether `suite` has recordings; the test is skipped when not. */
static void need(const char *suite)
{
    char path[1024];
    FILE *file;

    assert_true(snprintf(path, sizeof path, "%s/%s/cases.json", TEST_RECORDINGS_DIR, suite) > 0);
    file = fopen(path, "rb");
    if (!file) {
        print_message("# skipped: there is no %s\n", path);
        skip();
    }
    assert_int_equal(fclose(file), 0);
}

static struct pawl_json *read_json(struct loading *l, const char *suite, const char *name)
{
    char path[1024];
    struct pawl_str text;
    struct pawl_json *json;

    assert_true(snprintf(path, sizeof path, "%s/%s/%s", TEST_RECORDINGS_DIR, suite, name) > 0);
    text = test_read_file(path);
    json = loading_parse(l, text);
    free((void *)(uintptr_t)text.ptr);
    return json;
}

static struct pawl_json *read_definition(struct loading *l, const char *suite,
                                         const struct pawl_json *name)
{
    char path[256];

    assert_true(snprintf(path, sizeof path, "definitions/%s", pawl__json_str(name).ptr) > 0);
    return read_json(l, suite, path);
}

static struct pawl_str text_at(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* ---- every definition loads -------------------------------------------------------------- */

static void load_file(const char *suite, const char *folder, const char *file, uint32_t *loaded)
{
    struct loading l;
    char name[300];
    const struct pawl_json *json, *inner;

    loading_init_built_in(&l);
    (void)snprintf(name, sizeof name, "%s/%.255s", folder, file);
    json = read_json(&l, suite, name);
    inner = pawl__json_get_text(json, "definitions"); /* crashes: several in one file */
    for (uint32_t i = 0; i < (inner ? pawl__json_len(inner) : 1); i++) {
        const struct pawl_json *definition = inner ? pawl__json_at(inner, i) : json;

        if (loading_try(&l, definition) != PAWL_OK)
            fail_msg("%s: %s", name, l.err.msg);
        assert_true(l.graph->node_count >= 2);
        (*loaded)++;
    }
    loading_release(&l);
}

static uint32_t load_folder(const char *suite, const char *folder)
{
    char path[1024];
    struct dirent *entry;
    uint32_t loaded = 0;
    DIR *dir;

    assert_true(snprintf(path, sizeof path, "%s/%s/%s", TEST_RECORDINGS_DIR, suite, folder) > 0);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        if (strstr(entry->d_name, ".json"))
            load_file(suite, folder, entry->d_name, &loaded);
    }
    assert_int_equal(closedir(dir), 0);
    return loaded;
}

static void every_recorded_definition_loads(void **state)
{
    (void)state;
    need("conformance");
    need("generated");
    need("migration");
    assert_true(load_folder("conformance", "definitions") >= 400);
    assert_true(load_folder("generated", "definitions") >= 2000);
    assert_true(load_folder("generated", "crashes") >= 13);
    assert_true(load_folder("migration", "definitions") >= 200);
}

/* ---- every id that was written is there -------------------------------------------------- */

/* Loads `definition_id` of a case, with the others as activities. */
static void load_case(struct loading *l, const char *suite, const struct pawl_json *one,
                      struct pawl_str definition_id)
{
    const struct pawl_json *names = pawl__json_get_text(one, "definitions");
    const struct pawl_json *entry = NULL;

    for (uint32_t i = 0; i < pawl__json_len(names); i++) {
        const struct pawl_json *definition = read_definition(l, suite, pawl__json_at(names, i));

        assert_code(pawl__catalog_add(&l->catalog, definition), PAWL_OK);
        if (pawl__str_equal(text_at(definition, "definitionId"), definition_id))
            entry = definition;
    }
    assert_non_null(entry);
    if (loading_try(l, entry) != PAWL_OK)
        fail_msg("%s: %s", text_at(one, "id").ptr, l->err.msg);
}

static void expect_ids(const struct loading *l, const struct pawl_json *one,
                       const struct pawl_json *journal)
{
    for (uint32_t i = 0; i < pawl__json_len(journal); i++) {
        struct pawl_str id = pawl__json_str(pawl__json_at(pawl__json_at(journal, i), 0));

        if (!pawl__map_has(&l->graph->by_id, id))
            fail_msg("%s: no activity '%s'", text_at(one, "id").ptr, id.ptr);
    }
}

/* What is said never to run must not have run. */
static void expect_warnings_true(const struct loading *l, const struct pawl_json *one,
                                 const struct pawl_json *journal, uint32_t *warnings)
{
    for (uint32_t p = 0; p < l->problems.count; p++) {
        const struct pawl_problem *problem = &l->problems.items[p];

        if (!strstr(problem->message, "it never runs"))
            continue;
        (*warnings)++;
        for (uint32_t i = 0; i < pawl__json_len(journal); i++) {
            struct pawl_str id = pawl__json_str(pawl__json_at(pawl__json_at(journal, i), 0));

            if (pawl__str_is(id, problem->activity_id))
                fail_msg("%s: %s, but it ran", text_at(one, "id").ptr, problem->message);
        }
    }
}

static void check_journals(const struct pawl_json *one, const struct pawl_json *journals,
                           uint32_t *warnings)
{
    const struct pawl_json *children = pawl__json_get_text(journals, "children");
    struct loading l;

    loading_init_built_in(&l);
    load_case(&l, "generated", one, text_at(one, "entry"));
    expect_ids(&l, one, pawl__json_get_text(journals, "entry"));
    expect_warnings_true(&l, one, pawl__json_get_text(journals, "entry"), warnings);
    loading_release(&l);
    for (uint32_t i = 0; i < pawl__json_len(children); i++) {
        const struct pawl_json *child = pawl__json_at(children, i);

        loading_init_built_in(&l);
        load_case(&l, "generated", one, text_at(child, "definitionId"));
        expect_ids(&l, one, pawl__json_get_text(child, "journal"));
        loading_release(&l);
    }
}

static void every_activity_of_the_journals_is_in_its_graph_and_may_run(void **state)
{
    struct loading l;
    const struct pawl_json *cases, *journals;
    uint32_t checked = 0, warnings = 0;

    (void)state;
    need("generated");
    loading_init_built_in(&l);
    cases = read_json(&l, "generated", "cases.json");
    journals = read_json(&l, "generated", "journals.json");
    for (uint32_t i = 0; i < pawl__json_len(cases); i++) {
        const struct pawl_json *one = pawl__json_at(cases, i);
        /* In the order of the cases, so that looking from the end of the object would be slow. */
        const struct pawl_json_member *next = pawl__json_member(journals, checked);

        if (!next || !pawl__str_equal(next->key, text_at(one, "id")))
            continue;
        check_journals(one, &next->value, &warnings);
        checked++;
    }
    print_message("# %u cases, %u activities that never run\n", checked, warnings);
    assert_int_equal(checked, pawl__json_len(journals));
    loading_release(&l);
}

/* An array, or the same in the reference format. */
static const struct pawl_json *values(const struct pawl_json *array)
{
    return pawl__json_is(array, PAWL_JSON_OBJECT) ? pawl__json_get_text(array, "$values") : array;
}

static uint32_t expect_node_ids(const struct loading *l, const struct pawl_json *one,
                                const struct pawl_json *array, const char *key)
{
    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        struct pawl_str id = text_at(pawl__json_at(array, i), key);
        const struct pawl_node *node = pawl__graph_node(l->graph, id);

        if (!node)
            fail_msg("%s: no node '%s'", text_at(one, "id").ptr, id.ptr);
        assert_str(node->node_id, id.ptr);
    }
    return pawl__json_len(array);
}

static uint32_t check_export(const struct pawl_json *one)
{
    struct loading l;
    char name[256];
    const struct pawl_json *export, *instance;
    uint32_t checked = 0;

    loading_init_built_in(&l);
    (void)snprintf(name, sizeof name, "exports/%s", text_at(one, "export").ptr);
    export = read_json(&l, "migration", name);
    instance = pawl__json_get_text(export, "WorkflowState");
    load_case(&l, "migration", one, text_at(instance, "definitionId"));
    checked +=
        expect_node_ids(&l, one, values(pawl__json_get_text(instance, "activityExecutionContexts")),
                        "scheduledActivityNodeId");
    checked += expect_node_ids(&l, one, values(pawl__json_get_text(instance, "bookmarks")),
                               "activityNodeId");
    checked += expect_node_ids(
        &l, one, values(pawl__json_get_text(instance, "completionCallbacks")), "childNodeId");
    checked += expect_node_ids(&l, one, pawl__json_get_text(export, "ActivityExecutionRecords"),
                               "activityNodeId");
    loading_release(&l);
    return checked;
}

static void every_node_id_of_the_exports_is_in_its_graph(void **state)
{
    struct loading l;
    const struct pawl_json *cases;
    uint32_t checked = 0;

    (void)state;
    need("migration");
    loading_init_built_in(&l);
    cases = read_json(&l, "migration", "cases.json");
    for (uint32_t i = 0; i < pawl__json_len(cases); i++)
        checked += check_export(pawl__json_at(cases, i));
    print_message("# %u node ids\n", checked);
    assert_true(checked > 1000);
    loading_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_definition_loads),
        cmocka_unit_test(every_activity_of_the_journals_is_in_its_graph_and_may_run),
        cmocka_unit_test(every_node_id_of_the_exports_is_in_its_graph),
    };

    return cmocka_run_group_tests_name("engine/recordings", tests, NULL, NULL);
}
