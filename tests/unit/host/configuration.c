/* SPDX-License-Identifier: Apache-2.0 */
#include "host/configuration.h"
#include "host/uri.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_configuration configuration;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__configuration_init(&f->configuration, &f->alloc.base);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
}

static void close_fixture(struct fixture *f)
{
    pawl__configuration_release(&f->configuration);
    assert_int_equal(f->alloc.live_count, 0);
}

static int parse(struct fixture *f, const char *text)
{
    return pawl__configuration_parse(&f->configuration, pawl__str(text), "a.conf", &f->err);
}

static void every_setting_has_a_sound_row(void **state)
{
    (void)state;
    for (unsigned id = 0; id < PAWL_SETTING_COUNT; id++) {
        const struct pawl_setting *setting = pawl__setting((enum pawl_setting_id)id);
        char variable[64] = "PAWL_";

        assert_int_equal(pawl__setting_find(setting->name), id);
        for (size_t i = 0; i <= strlen(setting->name); i++) {
            char c = setting->name[i];

            variable[5 + i] = (char)(c == '.' ? '_' : c >= 'a' && c <= 'z' ? c - 32 : c);
        }
        assert_string_equal(setting->variable, variable);
        assert_true(setting->help[0] != '\0' && setting->min <= setting->max);
        assert_int_equal(setting->choices != NULL, setting->type == PAWL_SETTING_CHOICE);
    }
    assert_int_equal(pawl__setting_find("nothing"), PAWL_SETTING_COUNT);
}

static void defaults_are_there_without_any_source(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_string_equal(pawl__configuration_text(&f.configuration, PAWL_SETTING_ID_STORE),
                        "sqlite:pawl.db");
    assert_string_equal(pawl__configuration_text(&f.configuration, PAWL_SETTING_ID_NODE_ID), "");
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_NODE_LEASE),
                     INT64_C(10000000000));
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_ENGINE_MEMORY),
                     256 << 20);
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_DISTRIBUTED), 0);
    assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_STORE),
                        "default");
    close_fixture(&f);
}

static void a_file_is_read_line_by_line(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(parse(&f, "# a comment\n"
                        "\n"
                        "store=postgres://h/db?x=#1\r\n"
                        "  node.lease =\t1.5s  \n"
                        "node.id = \" two words \"\n"
                        "   # another\n"
                        "distributed = YES\n"
                        "engine.memory = 2 GiB\n"
                        "workers = 4"),
              &f.err);
    assert_string_equal(pawl__configuration_text(&f.configuration, PAWL_SETTING_ID_STORE),
                        "postgres://h/db?x=#1");
    assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_STORE),
                        "a.conf:3");
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_NODE_LEASE),
                     INT64_C(1500000000));
    assert_string_equal(pawl__configuration_text(&f.configuration, PAWL_SETTING_ID_NODE_ID),
                        " two words ");
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_DISTRIBUTED), 1);
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_ENGINE_MEMORY),
                     INT64_C(2) << 30);
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_WORKERS), 4);
    assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_WORKERS),
                        "a.conf:9");
    close_fixture(&f);
}

static void a_wrong_line_is_named_and_nothing_is_set(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"workers = 4\nstoer = x\n",
         "a.conf:2: there is no setting 'stoer'; did you mean 'store'?"},
        {"completely.wrong = x",
         "a.conf:1: there is no setting 'completely.wrong'; 'pawl config' lists them"},
        {"workers", "a.conf:1: expected 'key = value', or '#' before a comment"},
        {"= 3", "a.conf:1: there is no setting ''; 'pawl config' lists them"},
        {"workers = 4\n\nworkers = 5", "a.conf:3: workers is already set in line 1; remove one of "
                                       "them"},
        {"workers = many",
         "a.conf:1: workers cannot be 'many': it must be auto or a number from 0 to 256"},
        {"workers = 257",
         "a.conf:1: workers cannot be '257': it must be auto or a number from 0 to 256"},
        {"workers = -1",
         "a.conf:1: workers cannot be '-1': it must be auto or a number from 0 to 256"},
        {"workers = 99999999999999999999", "a.conf:1: workers cannot be '99999999999999999999': it "
                                           "must be auto or a number from 0 to 256"},
        {"workers =", "a.conf:1: workers cannot be '': it must be auto or a number from 0 to 256"},
        {"node.lease = 10",
         "a.conf:1: node.lease cannot be '10': it must be a time with a unit such as 500ms or 10s, "
         "from 1s to 1h"},
        {"node.lease = 999ms", "a.conf:1: node.lease cannot be '999ms': it must be a time with a "
                               "unit such as 500ms or 10s, "
                               "from 1s to 1h"},
        {"node.lease = 2h",
         "a.conf:1: node.lease cannot be '2h': it must be a time with a unit such as 500ms or 10s, "
         "from 1s to 1h"},
        {"distributed = perhaps",
         "a.conf:1: distributed cannot be 'perhaps': it must be true or false"},
        {"log.level = loud",
         "a.conf:1: log.level cannot be 'loud': it must be off, error, warn, info, "
         "debug, trace"},
        {"engine.memory = 5X",
         "a.conf:1: engine.memory cannot be '5X': it must be a size such as 64M, "
         "from 1024K to 1073741824K"},
        {"engine.memory = 9999999999G", "a.conf:1: engine.memory cannot be '9999999999G': it must "
                                        "be a size such as 64M, from 1024K to "
                                        "1073741824K"},
        {"node.id = \"open", "a.conf:1: the value of node.id has no closing quote"},
        {"node.id = \"", "a.conf:1: the value of node.id has no closing quote"},
        {"node.id = a\tb", "a.conf:1: node.id cannot be 'a\tb': it must be text without control "
                           "characters"},
        {"store = postgres://u:geheim\x01@h/", "a.conf:1: store cannot be 'postgres://u:***@h/': "
                                               "it must be text without control characters"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;

        open_fixture(&f);
        assert_code(parse(&f, cases[i].text), PAWL_EPARSE);
        assert_int_equal(f.err.code, PAWL_EPARSE);
        assert_string_equal(f.err.msg, cases[i].message);
        assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_WORKERS),
                            "default");
        close_fixture(&f);
    }
}

static const char *fake_variable(void *ctx, const char *name)
{
    const char *const *pairs = ctx;

    for (; *pairs; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return pairs[1];
    return NULL;
}

static void stronger_sources_win_in_any_order(void **state)
{
    const char *pairs[] = {"PAWL_WORKERS", "3", "PAWL_NODE_LEASE", "", "PAWL_LOCK", "file:x", NULL};
    struct pawl_configuration_sources sources = {
        .variable = fake_variable, .ctx = pairs, .no_search = true};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__configuration_set_pair(&f.configuration, "lock=redis://r", "--set", &f.err),
              &f.err);
    assert_ok(pawl__configuration_read(&f.configuration, &sources, &f.err), &f.err);
    assert_ok(parse(&f, "workers = 2\nlock = file:y\nnode.lease = 4s"), &f.err);
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_WORKERS), 3);
    assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_WORKERS),
                        "PAWL_WORKERS");
    assert_string_equal(pawl__configuration_text(&f.configuration, PAWL_SETTING_ID_LOCK),
                        "redis://r");
    assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_LOCK), "--set");
    assert_string_equal(pawl__configuration_place(&f.configuration, PAWL_SETTING_ID_NODE_LEASE),
                        "a.conf:3");
    close_fixture(&f);
}

static void wrong_variables_and_options_are_named(void **state)
{
    const char *pairs[] = {"PAWL_WORKERS", "x", NULL};
    struct pawl_configuration_sources sources = {
        .variable = fake_variable, .ctx = pairs, .no_search = true};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_code(pawl__configuration_read(&f.configuration, &sources, &f.err), PAWL_EINVAL);
    assert_string_equal(
        f.err.msg,
        "PAWL_WORKERS: workers cannot be 'x': it must be auto or a number from 0 to 256");
    assert_code(pawl__configuration_set_pair(&f.configuration, "workers", "--set", &f.err),
                PAWL_EINVAL);
    assert_string_equal(f.err.msg, "--set: 'workers' is not NAME=VALUE");
    assert_code(pawl__configuration_set_pair(&f.configuration, "worker=1", "--set", &f.err),
                PAWL_EINVAL);
    assert_string_equal(f.err.msg, "--set: there is no setting 'worker'; did you mean 'workers'?");
    close_fixture(&f);
}

static void a_named_file_must_be_there(void **state)
{
    char folder[] = "/tmp/pawl-configuration-XXXXXX", path[64];
    const char *pairs[] = {"PAWL_CONFIG", path, NULL};
    struct pawl_configuration_sources sources = {
        .variable = fake_variable, .ctx = pairs, .no_search = true};
    struct fixture f;
    FILE *file;

    (void)state;
    open_fixture(&f);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/pawl.conf", folder);
    assert_code(pawl__configuration_read(&f.configuration, &sources, &f.err), PAWL_ENOTFOUND);
    assert_int_equal(f.configuration.file_count, 0);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("workers = 7\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_ok(pawl__configuration_read(&f.configuration, &sources, &f.err), &f.err);
    assert_int_equal(f.configuration.file_count, 1);
    assert_string_equal(f.configuration.files[0], path);
    assert_int_equal(pawl__configuration_number(&f.configuration, PAWL_SETTING_ID_WORKERS), 7);
    sources.file = "/nowhere/pawl.conf"; /* the option is stronger than the variable */
    assert_code(pawl__configuration_read(&f.configuration, &sources, &f.err), PAWL_ENOTFOUND);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    close_fixture(&f);
}

static void passwords_are_not_shown(void **state)
{
    static const struct {
        const char *uri, *shown;
    } cases[] = {
        {"postgres://me:geheim@host:5432/db", "postgres://me:***@host:5432/db"},
        {"postgres://me:ge:h@eim@host/db?sslmode=off", "postgres://me:***@host/db?sslmode=off"},
        {"postgres://me:g/e?h@host/db", "postgres://me:***@host/db"},
        {"postgres://me@host:5432/db", "postgres://me@host:5432/db"},
        {"postgres://host:5432/db", "postgres://host:5432/db"},
        {"postgres://h/db?user=a&password=b&sslpassword=c&x=d",
         "postgres://h/db?user=a&password=***&sslpassword=***&x=d"},
        {"azure://acc/box?AccountKey=b64==&sas_token=t",
         "azure://acc/box?AccountKey=***&sas_token=***"},
        {"redis://:pw@a,b,c", "redis://:***@a,b,c"},
        {"sqlite:/a/b:c@d.db", "sqlite:/a/b:c@d.db"},
        {"host=h password=p dbname=d", "host=h password=*** dbname=d"},
        {"host=h password = 'a \\'b c' dbname=d", "host=h password = *** dbname=d"},
        {"Server=h;Pwd=p;Database=d", "Server=h;Pwd=***;Database=d"},
        {"password=", "password=***"},
        {"a=b.db", "a=b.db"},
        {"pawl.db", "pawl.db"},
        {"x?", "x?"},
        {"", ""},
    };
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_buf buf;

        pawl__buf_init(&buf, &alloc.base, 1000);
        pawl__uri_mask(&buf, pawl__str(cases[i].uri));
        assert_string_equal(pawl__buf_cstr(&buf), cases[i].shown);
        pawl__buf_release(&buf);
    }
}

static void schemes(void **state)
{
    (void)state;
    assert_str(pawl__uri_scheme(pawl__str("sqlite:x")), "sqlite");
    assert_str(pawl__uri_scheme(pawl__str("a+b-c.1://x")), "a+b-c.1");
    assert_str(pawl__uri_scheme(pawl__str("c:/windows")), "");
    assert_str(pawl__uri_scheme(pawl__str("./a:b")), "");
    assert_str(pawl__uri_scheme(pawl__str("1a:b")), "");
    assert_str(pawl__uri_scheme(pawl__str("plain")), "");
    assert_str(pawl__uri_scheme(pawl__str("")), "");
}

static int sweep(struct test_allocator *alloc, void *arg)
{
    struct pawl_configuration configuration;
    int status;

    (void)arg;
    pawl__configuration_init(&configuration, &alloc->base);
    status = pawl__configuration_parse(&configuration, pawl__str("store = memory:\nworkers = 3"),
                                       "a.conf", NULL);
    if (status != PAWL_OK)
        assert_string_equal(pawl__configuration_place(&configuration, PAWL_SETTING_ID_STORE),
                            "default");
    pawl__configuration_release(&configuration);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(sweep, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_has_a_sound_row),
        cmocka_unit_test(defaults_are_there_without_any_source),
        cmocka_unit_test(a_file_is_read_line_by_line),
        cmocka_unit_test(a_wrong_line_is_named_and_nothing_is_set),
        cmocka_unit_test(stronger_sources_win_in_any_order),
        cmocka_unit_test(wrong_variables_and_options_are_named),
        cmocka_unit_test(a_named_file_must_be_there),
        cmocka_unit_test(passwords_are_not_shown),
        cmocka_unit_test(schemes),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("host/configuration", tests, NULL, NULL);
}
