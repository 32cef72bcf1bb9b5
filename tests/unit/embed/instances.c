/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do with instances through the public API: the same as with the command line. */
#include <pawl/pawl.h>

#include "lib/rig.h"
#include "lib/test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAITS                                                                                      \
    "{'definitionId':'waits','variables':[{'id':'v1','name':'V1','typeName':'String','value':"     \
    "'abc','storageDriverTypeName':'WorkflowInstanceStorageDriver'}],'root':" RIG_SEQUENCE(        \
        "s", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")) "}"
#define SINGLE                                                                                     \
    "{'definitionId':'single','options':{'activationStrategyType':'SingletonStrategy'},"           \
    "'root':" RIG_EVENT("e", "Go") "}"
#define FAULTS "{'definitionId':'faults','root':{'id':'f','type':'Elsa.Fault'}}"

struct fixture {
    struct pawl *pawl;
    struct pawl_error err;
};

static void publish(struct fixture *f, const char *json)
{
    char *copy = strdup(json);

    assert_non_null(copy);
    for (char *c = copy; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    assert_ok(pawl_definition_publish(f->pawl, copy, NULL, NULL, NULL, &f->err), &f->err);
    free(copy);
}

static void open_fixture(struct fixture *f, uint32_t workers)
{
    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    assert_ok(pawl_open(&(struct pawl_options){.store = "memory:", .workers = workers}, &f->pawl,
                        &f->err),
              &f->err);
    publish(f, WAITS);
}

static struct pawl_instance_outcome start(struct fixture *f,
                                          const struct pawl_start_options *options)
{
    struct pawl_instance_outcome out;

    assert_ok(pawl_instance_start(f->pawl, options, &out, &f->err), &f->err);
    return out;
}

static void start_waiting(struct fixture *f, const char *id, const char *correlation_id)
{
    (void)start(f, &(struct pawl_start_options){.definition_id = "waits",
                                                .instance_id = id,
                                                .correlation_id = correlation_id});
}

static void assert_json_has(struct fixture *f, char *json, const char *part)
{
    if (!strstr(json, part))
        fail_msg("%s is not in %s", part, json);
    pawl_text_free(f->pawl, json);
}

static void a_start_takes_versions_variables_and_activities(void **state)
{
    struct pawl_start_options options = {.definition_id = "waits", .version = 1};
    struct pawl_instance_outcome out;
    struct fixture f;
    char *json;

    (void)state;
    open_fixture(&f, 0);
    publish(&f, SINGLE);
    assert_int_equal(start(&f, &options).status, PAWL_INSTANCE_SUSPENDED);
    options.version = 7;
    assert_code(pawl_instance_start(f.pawl, &options, &out, &f.err), PAWL_ENOTFOUND);
    options.version = PAWL_VERSION_LATEST;
    options.variables = "{\"Extra\": 5}";
    out = start(&f, &options);
    assert_ok(pawl_instance_variables(f.pawl, out.instance_id, &json, &f.err), &f.err);
    assert_json_has(&f, json, "\"Extra\",\"value\":5");
    options = (struct pawl_start_options){.definition_id = "waits", .activity_id = "w"};
    assert_int_equal(start(&f, &options).status, PAWL_INSTANCE_FINISHED);
    options = (struct pawl_start_options){.definition_id = "single", .judged = 1};
    assert_false(start(&f, &options).refused);
    assert_true(start(&f, &options).refused);
    pawl_close(f.pawl);
}

static void variables_are_changed_and_alterations_are_tried(void **state)
{
    struct fixture f;
    char *json;

    (void)state;
    open_fixture(&f, 0);
    start_waiting(&f, "i", NULL);
    assert_ok(
        pawl_instance_set_variables(f.pawl, "i", "[{\"id\":\"v1\",\"value\":\"new\"}]", &f.err),
        &f.err);
    assert_ok(pawl_instance_variables(f.pawl, "i", &json, &f.err), &f.err);
    assert_json_has(&f, json, "\"value\":\"new\"");
    assert_code(pawl_instance_set_variables(f.pawl, "i", "[{\"id\":\"no\",\"value\":1}]", &f.err),
                PAWL_ENOTFOUND);
    assert_code(pawl_instance_set_variables(f.pawl, "i", "{}", &f.err), PAWL_EINVAL);
    assert_ok(pawl_instance_alter(f.pawl, "i", "{\"type\":\"Cancel\"}", 1, &json, &f.err), &f.err);
    assert_json_has(&f, json, "\"message\"");
    assert_code(pawl_instance_alter(f.pawl, "i", "{\"type\":\"Nonsense\"}", 0, NULL, &f.err),
                PAWL_EINVAL);
    assert_ok(pawl_instance_alter(f.pawl, "i", "[{\"type\":\"Cancel\"}]", 0, NULL, &f.err), &f.err);
    assert_code(pawl_instance_wait(f.pawl, "i", 60000, NULL, &f.err), PAWL_OK);
    pawl_close(f.pawl);
}

static void what_faulted_is_retried(void **state)
{
    const char *const wrong[] = {"nope"};
    struct pawl_instance_outcome out;
    struct fixture f;

    (void)state;
    open_fixture(&f, 0);
    publish(&f, FAULTS);
    out = start(&f, &(struct pawl_start_options){.definition_id = "faults", .instance_id = "x"});
    assert_int_equal(out.status, PAWL_INSTANCE_FAULTED);
    assert_ok(pawl_instance_retry(f.pawl, "x", NULL, 0, &out, &f.err), &f.err);
    assert_int_equal(out.status, PAWL_INSTANCE_FAULTED);
    assert_int_equal(out.incident_count, 2);
    assert_true(pawl_instance_retry(f.pawl, "x", wrong, 1, &out, &f.err) != PAWL_OK);
    assert_code(pawl_instance_retry(f.pawl, "nope", NULL, 0, &out, &f.err), PAWL_ENOTFOUND);
    pawl_close(f.pawl);
}

static void an_instance_moves_by_export_and_import(void **state)
{
    struct pawl_instance_outcome out;
    struct fixture f;
    char *json;
    int exists;

    (void)state;
    open_fixture(&f, 0);
    start_waiting(&f, "i", NULL);
    assert_ok(pawl_instance_export(f.pawl, "i", &json, &f.err), &f.err);
    assert_code(pawl_instance_import(f.pawl, json, &out, &f.err), PAWL_EEXISTS);
    assert_ok(pawl_instance_delete(f.pawl, "i", &f.err), &f.err);
    assert_ok(pawl_instance_exists(f.pawl, "i", &exists, &f.err), &f.err);
    assert_int_equal(exists, 0);
    assert_ok(pawl_instance_import(f.pawl, json, &out, &f.err), &f.err);
    assert_string_equal(out.instance_id, "i");
    assert_ok(pawl_instance_exists(f.pawl, "i", &exists, &f.err), &f.err);
    assert_int_equal(exists, 1);
    assert_code(pawl_instance_import(f.pawl, "{}", &out, &f.err), PAWL_EPARSE);
    assert_code(pawl_instance_import(f.pawl,
                                     "{\"workflowState\":{\"id\":\"x\",\"tenantId\":\"acme\"}}",
                                     &out, &f.err),
                PAWL_EUNSUPPORTED);
    assert_code(pawl_definition_import(f.pawl,
                                       "{\"definitionId\":\"x\",\"root\":{},\"tenantId\":\"acme\"}",
                                       NULL, &f.err),
                PAWL_EUNSUPPORTED);
    pawl_text_free(f.pawl, json);
    pawl_close(f.pawl);
}

static void many_are_cancelled_and_deleted_by_a_filter_that_says_something(void **state)
{
    struct pawl_instance_filter filter = {0};
    struct pawl_list_end end;
    struct fixture f;
    uint64_t count;

    (void)state;
    open_fixture(&f, 0);
    start_waiting(&f, "a", "c1");
    start_waiting(&f, "b", "c1");
    start_waiting(&f, "c", "c2");
    assert_code(pawl_instances_delete(f.pawl, &filter, &count, &f.err), PAWL_EINVAL);
    assert_code(pawl_instances_cancel(f.pawl, NULL, NULL, &f.err), PAWL_EINVAL);
    filter.correlation_id = "c1";
    assert_ok(pawl_instances_cancel(f.pawl, &filter, &count, &f.err), &f.err);
    assert_int_equal(count, 2);
    assert_ok(pawl_instances_delete(f.pawl, &filter, &count, &f.err), &f.err);
    assert_int_equal(count, 2);
    assert_ok(pawl_instances_list(f.pawl, NULL, NULL, NULL, &end, &f.err), &f.err);
    assert_int_equal(end.total, 1);
    filter = (struct pawl_instance_filter){.all = 1};
    assert_ok(pawl_instances_delete(f.pawl, &filter, &count, &f.err), &f.err);
    assert_int_equal(count, 1);
    pawl_close(f.pawl);
}

struct seen {
    atomic_int calls, status, end;
};

static void note(void *ctx, int status, const struct pawl_instance_outcome *outcome,
                 const struct pawl_error *err)
{
    struct seen *seen = ctx;

    assert_non_null(err);
    atomic_store(&seen->status, status);
    atomic_store(&seen->end, outcome ? (int)outcome->status : -1);
    atomic_fetch_add(&seen->calls, 1);
}

static void an_end_is_told_without_a_thread_that_waits(void **state)
{
    struct seen seen = {0}, stopped = {0};
    struct fixture f;

    (void)state;
    open_fixture(&f, 1);
    start_waiting(&f, "i", NULL);
    start_waiting(&f, "j", NULL);
    assert_code(pawl_instance_await(f.pawl, "i", 60000, NULL, NULL, &f.err), PAWL_EINVAL);
    assert_ok(pawl_instance_await(f.pawl, "i", 60000, note, &seen, &f.err), &f.err);
    assert_ok(pawl_instance_await(f.pawl, "j", 60000, note, &stopped, &f.err), &f.err);
    assert_ok(pawl_event_send(f.pawl, "Go", NULL, &(struct pawl_send_options){.instance_id = "i"},
                              NULL, &f.err),
              &f.err);
    for (int i = 0; atomic_load(&seen.calls) == 0 && i < 60000; i++)
        (void)usleep(1000);
    pawl_close(f.pawl);
    assert_int_equal(atomic_load(&stopped.calls), 1);
    assert_int_equal(atomic_load(&stopped.status), PAWL_ESTOPPED);
    assert_int_equal(atomic_load(&seen.calls), 1);
    assert_int_equal(atomic_load(&seen.end), PAWL_INSTANCE_FINISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_takes_versions_variables_and_activities),
        cmocka_unit_test(variables_are_changed_and_alterations_are_tried),
        cmocka_unit_test(what_faulted_is_retried),
        cmocka_unit_test(an_instance_moves_by_export_and_import),
        cmocka_unit_test(many_are_cancelled_and_deleted_by_a_filter_that_says_something),
        cmocka_unit_test(an_end_is_told_without_a_thread_that_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
