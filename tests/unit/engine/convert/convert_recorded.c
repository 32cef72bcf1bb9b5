/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion against what a live Elsa did, as far as it shows without running workflows: default
 * values of variables that nothing sets, values that a SetVariable set from a constant expression,
 * and what a WriteLine printed of them. Skipped where the recordings are not there.
 */
#include "base/time/datetime.h"
#include "engine/convert/convert.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena; /* the cases */
    struct pawl_arena work;  /* one case */
    struct pawl_error err;
    size_t checked;
    size_t wrong;
};

static struct pawl_json parse_file(struct fixture *f, struct pawl_arena *arena, const char *path)
{
    struct pawl_str text = test_read_file(path);
    struct pawl_json json;

    assert_ok(pawl__json_parse(arena, text, NULL, &json, NULL, &f->err), &f->err);
    free((void *)(uintptr_t)text.ptr);
    return json;
}

static const char *text_of(struct fixture *f, const struct pawl_json *json)
{
    struct pawl_buf text;
    const char *copy;

    pawl__buf_init(&text, &f->alloc.base, 1 << 20);
    pawl__json_write(&text, json, PAWL_JSON_ESCAPE_MINIMAL);
    copy = pawl__arena_printf(&f->work, "%s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return copy;
}

static struct pawl_str get_str(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* ---- what is in a definition ------------------------------------------------------------- */

/* Whether any string below `json` names the variable: by id, or as a script or template would. */
static bool mentions(const struct pawl_json *json, struct pawl_str id, struct pawl_str name)
{
    struct pawl_str text = pawl__json_str(json);

    if (text.len > 0) {
        return pawl__str_equal(text, id) || strcasestr(text.ptr, name.ptr) != NULL ||
               strstr(text.ptr, "setVariable") != NULL;
    }
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        if (mentions(pawl__json_at(json, i), id, name))
            return true;
    }
    return false;
}

/* The SetVariable activities on this variable: how many, and the last. */
static int count_sets(const struct pawl_json *json, struct pawl_str id,
                      const struct pawl_json **last)
{
    int count = 0;

    if (pawl__str_is(get_str(json, "type"), "Elsa.SetVariable") &&
        pawl__str_equal(get_str(pawl__json_get_text(json, "variable"), "id"), id)) {
        *last = json;
        count++;
    }
    for (uint32_t i = 0; i < pawl__json_len(json); i++)
        count += count_sets(pawl__json_at(json, i), id, last);
    return count;
}

static const struct pawl_type *variable_type(struct fixture *f, const struct pawl_json *variable)
{
    const struct pawl_type *type = NULL;

    if (pawl__type_find(&f->work, get_str(variable, "typeName"), &type) != PAWL_OK)
        return NULL;
    if (pawl__json_true(pawl__json_get_text(variable, "isArray")))
        assert_code(pawl__type_array_of(&f->work, type, &type), PAWL_OK);
    return type;
}

/* ---- comparing --------------------------------------------------------------------------- */

static bool same_value(const struct pawl_json *got, const struct pawl_json *recorded,
                       const struct pawl_type *type)
{
    struct pawl_datetime a, b;
    bool date = type->kind == PAWL_TYPE_DATETIME || type->kind == PAWL_TYPE_DATETIMEOFFSET;

    if (pawl__json_equal(got, recorded))
        return true;
    /* Recorded with seven digits behind the seconds. */
    return date && pawl__datetime_parse(pawl__json_str(got), &a, NULL) == PAWL_OK &&
           pawl__datetime_parse(pawl__json_str(recorded), &b, NULL) == PAWL_OK &&
           a.ticks == b.ticks && a.kind == b.kind && a.offset_minutes == b.offset_minutes;
}

static void check_value(struct fixture *f, const char *what, const struct pawl_value *got,
                        const struct pawl_json *recorded, const struct pawl_type *type)
{
    f->checked++;
    if (same_value(&got->json, recorded, type))
        return;
    f->wrong++;
    print_error("%s: %s, recorded %s\n", what, text_of(f, &got->json), text_of(f, recorded));
}

/* A default that does not convert is none. */
static struct pawl_value default_value(struct fixture *f, const struct pawl_json *variable,
                                       const struct pawl_type *type)
{
    struct pawl_conversion how = {.arena = &f->work};
    struct pawl_exception raised;
    struct pawl_str text = get_str(variable, "value");
    struct pawl_value out = pawl__value_null();

    if (pawl__str_trim(text).len == 0 ||
        pawl__convert(&how, pawl__value_string(text), type, &out, &raised) != PAWL_OK)
        return pawl__value_null();
    return out;
}

/* ---- constant expressions ---------------------------------------------------------------- */

static const struct {
    const char *script;
    const char *type;
    const char *json;
} scripts[] = {
    {"undefined", "Object", "null"},
    {"1 > 0", "Boolean", "true"},
    {"true", "Boolean", "true"},
    {"({})", "JSON", "{}"},
    {"({ a: 1, b: 'two', c: [true] })", "JSON", "{\"a\":1,\"b\":\"two\",\"c\":[true]}"},
    {"JSON.stringify({ q: 1 })", "String", "\"{\\\"q\\\":1}\""},
    {"new Date(Date.UTC(2024, 0, 2, 3, 4, 5))", "DateTime", "\"2024-01-02T03:04:05Z\""},
    {"bytesFromString('hi')", "ByteArray", "\"aGk=\""},
    {"parseGuid('6f9619ff-8b86-d011-b42d-00c04fc964ff')", "Guid",
     "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\""},
    {"9007199254740993", "Double", "9007199254740992"},
};

static bool script_value(struct fixture *f, struct pawl_str script, struct pawl_value *out)
{
    char *quoted = pawl__arena_alloc(&f->work, script.len + 1);

    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        if (!pawl__str_is(script, scripts[i].script))
            continue;
        assert_ok(
            pawl__json_parse(&f->work, pawl__str(scripts[i].json), NULL, &out->json, NULL, &f->err),
            &f->err);
        assert_code(pawl__type_find(&f->work, pawl__str(scripts[i].type), &out->type), PAWL_OK);
        if (pawl__value_is_null(*out))
            *out = pawl__value_null();
        return true;
    }
    if (pawl__str_is(script, "Infinity")) {
        *out = pawl__value_double(1e300 * 1e300);
        return true;
    }
    assert_non_null(quoted);
    for (size_t i = 0; i < script.len; i++)
        quoted[i] = script.ptr[i] == '\'' ? '"' : script.ptr[i];
    if (pawl__json_parse(&f->work, pawl__str_make(quoted, script.len), NULL, &out->json, NULL,
                         NULL) != PAWL_OK)
        return false;
    *out = pawl__value_from_json(out->json);
    if (pawl__json_is_number(&out->json))
        out->type = &pawl__type_double;
    return true;
}

/* What the expression gives where any type will do; false when this test cannot tell. */
static bool constant(struct fixture *f, const struct pawl_json *expression, struct pawl_value *out)
{
    const struct pawl_json *value = pawl__json_get_text(expression, "value");
    struct pawl_str type = get_str(expression, "type");
    struct pawl_str text = pawl__json_str(value);

    if (pawl__str_is(type, "JavaScript"))
        return script_value(f, text, out);
    if (pawl__str_is(type, "Literal")) {
        struct pawl_conversion how = {.arena = &f->work};
        struct pawl_exception raised;

        *out = pawl__value_from_json(*value);
        if (!pawl__json_is_number(value))
            return true;
        out->type = &pawl__type_json_element;
        return pawl__convert(&how, *out, &pawl__type_decimal, out, &raised) == PAWL_OK;
    }
    if (pawl__str_is(type, "Liquid")) {
        if (pawl__str_is(text, "{{ 5 }}"))
            text = pawl__str("5");
        else if (pawl__str_is(text, "{{ 'x' }}"))
            text = pawl__str("x");
    } else if (!pawl__str_is(type, "Object")) {
        return false;
    }
    if (strstr(text.ptr, "{{") || strstr(text.ptr, "{%"))
        return false;
    *out = pawl__str_trim(text).len ? pawl__value_string(text) : pawl__value_null();
    return true;
}

/* ---- one case ---------------------------------------------------------------------------- */

static const struct pawl_json *activity_record(const struct pawl_json *expect, struct pawl_str id)
{
    return pawl__json_get(pawl__json_get_text(expect, "activities"), id);
}

static void check_default(struct fixture *f, const char *what, const struct pawl_json *variable,
                          const struct pawl_type *type, const struct pawl_json *expect)
{
    const struct pawl_json *recorded =
        pawl__json_get(pawl__json_get_text(expect, "variables"), get_str(variable, "name"));
    struct pawl_value value;

    if (!recorded || pawl__json_get_text(recorded, "$bytes"))
        return;
    value = default_value(f, variable, type);
    check_value(f, what, &value, recorded, type);
}

/* The status of the activity that prints the variable as it is; "" when there is none. */
static struct pawl_str print_status(const struct pawl_json *json, const struct pawl_json *expect,
                                    struct pawl_str id)
{
    const struct pawl_json *expression =
        pawl__json_get_text(pawl__json_get_text(json, "text"), "expression");
    struct pawl_str status = {NULL, 0};

    if (pawl__str_is(get_str(expression, "type"), "Variable") &&
        pawl__str_equal(get_str(pawl__json_get_text(expression, "value"), "id"), id))
        return get_str(activity_record(expect, get_str(json, "id")), "status");
    for (uint32_t i = 0; i < pawl__json_len(json) && status.len == 0; i++)
        status = print_status(pawl__json_at(json, i), expect, id);
    return status;
}

/* What WriteLine prints of it is among the lines, or it faults. */
static void check_print(struct fixture *f, const char *what, const struct pawl_json *root,
                        const struct pawl_json *expect, struct pawl_str id,
                        const struct pawl_value *value)
{
    const struct pawl_json *lines = pawl__json_get_text(expect, "lines");
    struct pawl_str status = print_status(root, expect, id);
    struct pawl_conversion how = {.arena = &f->work};
    struct pawl_exception raised;
    struct pawl_value text = pawl__value_null();
    bool printed = false;
    struct pawl_str line;
    int code;

    if (status.len == 0)
        return;
    f->checked++;
    code = pawl__convert(&how, *value, &pawl__type_string, &text, &raised);
    line = pawl__json_str(&text.json);
    line = pawl__str_slice(line, 0, pawl__str_find(line, '\n', 0));
    for (uint32_t i = 0; i < pawl__json_len(lines); i++)
        printed = printed || pawl__str_equal(pawl__json_str(pawl__json_at(lines, i)), line);
    if (pawl__str_is(status, "Faulted") ? code == ENGINE_RAISED : code == PAWL_OK && printed)
        return;
    f->wrong++;
    print_error("%s prints \"%.*s\" (%d), which was not recorded\n", what, PAWL_STR_ARG(line),
                code);
}

static void check_set(struct fixture *f, const char *what, const struct pawl_json *set,
                      const struct pawl_json *variable, const struct pawl_type *type,
                      const struct pawl_json *expect, struct pawl_value *result)
{
    struct pawl_str name = get_str(variable, "name");
    const struct pawl_json *recorded =
        pawl__json_get(pawl__json_get_text(expect, "variables"), name);
    struct pawl_str status = get_str(activity_record(expect, get_str(set, "id")), "status");
    struct pawl_conversion how = {.arena = &f->work};
    struct pawl_exception raised = {.type = {NULL, 0}};
    struct pawl_value value = pawl__value_null();
    bool faulted = pawl__str_is(status, "Faulted");
    int code;

    *result = pawl__value_null();
    if (status.len == 0 ||
        !constant(f, pawl__json_get_text(pawl__json_get_text(set, "value"), "expression"), &value))
        return;
    f->checked++;
    code = pawl__convert(&how, value, type, result, &raised);
    if (code != (faulted ? ENGINE_RAISED : PAWL_OK)) {
        f->wrong++;
        print_error("%s: answers %d %.*s, recorded %.*s\n", what, code,
                    PAWL_STR_ARG(raised.message), PAWL_STR_ARG(status));
        return;
    }
    if (faulted)
        *result = default_value(f, variable, type);
    if (recorded)
        check_value(f, what, result, recorded, type);
}

static void check_variable(struct fixture *f, struct pawl_str case_id,
                           const struct pawl_json *variable, const struct pawl_json *root,
                           const struct pawl_json *expect, bool constants)
{
    const struct pawl_type *type = variable_type(f, variable);
    struct pawl_str id = get_str(variable, "id");
    const struct pawl_json *set = NULL;
    struct pawl_value value;
    const char *what;
    int sets = count_sets(root, id, &set);

    if (!type)
        return;
    what = pawl__arena_printf(&f->work, "%.*s %s", PAWL_STR_ARG(case_id), text_of(f, variable));
    if (sets == 0 && (constants || !mentions(root, id, get_str(variable, "name"))))
        check_default(f, what, variable, type, expect);
    value = default_value(f, variable, type);
    if (sets > 1 || !constants)
        return;
    if (sets == 0) {
        check_print(f, what, root, expect, id, &value);
        return;
    }
    what =
        pawl__arena_printf(&f->work, "%s %s", what, text_of(f, pawl__json_get_text(set, "value")));
    check_set(f, what, set, variable, type, expect, &value);
    check_print(f, what, root, expect, id, &value);
}

static void check_suite(struct fixture *f, const char *suite)
{
    char path[512];
    struct pawl_json cases;

    (void)snprintf(path, sizeof path, "%s/%s/cases.json", TEST_RECORDINGS_DIR, suite);
    cases = parse_file(f, &f->arena, path);
    for (uint32_t i = 0; i < pawl__json_len(&cases); i++) {
        const struct pawl_json *one = pawl__json_at(&cases, i);
        const struct pawl_json *files = pawl__json_get_text(one, "definitions");
        struct pawl_str area = get_str(one, "area");
        struct pawl_json definition;
        const struct pawl_json *variables;

        if (pawl__json_len(files) != 1)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s/definitions/%.*s", TEST_RECORDINGS_DIR, suite,
                       PAWL_STR_ARG(pawl__json_str(pawl__json_at(files, 0))));
        pawl__arena_reset(&f->work);
        definition = parse_file(f, &f->work, path);
        variables = pawl__json_get_text(&definition, "variables");
        for (uint32_t k = 0; k < pawl__json_len(variables); k++)
            check_variable(f, get_str(one, "id"), pawl__json_at(variables, k),
                           pawl__json_get_text(&definition, "root"),
                           pawl__json_get_text(one, "expect"),
                           pawl__str_is(area, "generated-convert"));
    }
}

static void converts_as_a_live_elsa_did(void **state)
{
    static const char *const suites[] = {"conformance", "generated", "migration"};
    struct fixture f = {.checked = 0};

    (void)state;
    if (access(TEST_RECORDINGS_DIR "/generated/cases.json", R_OK) != 0)
        skip();
    test_allocator_init(&f.alloc);
    pawl__arena_init(&f.arena, &f.alloc.base, 1 << 30);
    pawl__arena_init(&f.work, &f.alloc.base, 64 << 20);
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        check_suite(&f, suites[i]);
        pawl__arena_reset(&f.arena);
    }
    pawl__arena_release(&f.work);
    pawl__arena_release(&f.arena);
    print_message("# %zu recorded conversions\n", f.checked);
    assert_int_equal(f.wrong, 0);
    assert_true(f.checked > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_as_a_live_elsa_did),
    };

    return cmocka_run_group_tests_name("engine/convert_recorded", tests, NULL, NULL);
}
