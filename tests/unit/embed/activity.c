/* SPDX-License-Identifier: Apache-2.0 */
/* Activities of a program's own: inputs, outputs, outcomes, faults, waits, calls. */
#include <pawl/pawl.h>

#include "lib/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define SHOW(id, expression)                                                                       \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.WriteLine','text':" RIG_INPUT("String", "Liquid", "'" expression "'") "}"

/* What the functions of the tests saw, and what they are to do. */
struct seen {
    char text[1024];
    int (*body)(struct seen *seen, struct pawl_context *context);
    int (*resume_body)(struct seen *seen, struct pawl_context *context, const char *input);
    int answer; /* of perform */
    char key[128];
    bool dies;
};

struct fixture {
    struct pawl *pawl;
    struct pawl_error err;
    struct seen seen;
    char lines[1024];
    struct pawl_activity_type types[2];
};

static void note(struct seen *seen, const char *text)
{
    size_t len = strlen(seen->text);

    snprintf(seen->text + len, sizeof seen->text - len, "%s;", text);
}

static int execute(void *ctx, struct pawl_context *context)
{
    struct fixture *f = ctx;

    return f->seen.body(&f->seen, context);
}

static int resume(void *ctx, struct pawl_context *context, const char *input)
{
    struct fixture *f = ctx;

    note(&f->seen, input);
    return f->seen.resume_body ? f->seen.resume_body(&f->seen, context, input) : PAWL_OK;
}

static int perform(void *ctx, struct pawl_call *call, struct pawl_error *err)
{
    struct fixture *f = ctx;

    if (f->seen.dies)
        _exit(7);
    note(&f->seen, pawl_call_data(call));
    snprintf(f->seen.key, sizeof f->seen.key, "%s", pawl_call_key(call));
    assert_true(strlen(pawl_call_instance_id(call)) > 0);
    assert_code(pawl_call_return(call, "{", err), PAWL_EPARSE);
    if (f->seen.answer == PAWL_OK)
        assert_ok(pawl_call_return(call, "{\"paid\":true}", err), err);
    else
        snprintf(err->msg, sizeof err->msg, "the bank is closed");
    return f->seen.answer;
}

static void on_line(void *ctx, const char *instance_id, const char *text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    (void)instance_id;
    snprintf(f->lines + len, sizeof f->lines - len, "%s\n", text);
}

static const struct pawl_activity_input inputs[] = {
    {"Amount", "Int64", "How much.", "7"}, {"Title", "String", NULL, NULL},
    {"Rate", "Double", NULL, NULL},        {"Ready", "Boolean", NULL, NULL},
    {"Anything", NULL, NULL, NULL},
};
static const struct pawl_activity_output outputs[] = {
    {"Result", NULL, NULL}, {"Count", "Int32", NULL}, {"Text", "String", NULL}};
static const char *const outcomes[] = {"Good", "Bad"};

static int open_at(struct fixture *f, const char *store)
{
    const struct pawl_activity_type type = {.type = "Test.Try",
                                            .display_name = "Try",
                                            .inputs = inputs,
                                            .input_count = 5,
                                            .outputs = outputs,
                                            .output_count = 3,
                                            .outcomes = outcomes,
                                            .outcome_count = 2,
                                            .execute = execute,
                                            .resume = resume,
                                            .perform = perform,
                                            .ctx = f};
    struct pawl_options options = {.store = store,
                                   .node_id = "n",
                                   .activities = f->types,
                                   .activity_count = 2,
                                   .line = on_line,
                                   .ctx = f};

    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    f->types[0] = f->types[1] = type;
    f->types[1].type = "Test.Bare";
    f->types[1].resume = NULL;
    f->types[1].perform = NULL;
    return pawl_open(&options, &f->pawl, &f->err);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(open_at(f, "memory:"), &f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl_close(f->pawl);
    free(f);
    return 0;
}

static char *quoted(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    for (char *c = copy; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    return copy;
}

static void publish(struct fixture *f, const char *text)
{
    char *json = quoted(text);

    assert_ok(pawl_definition_publish(f->pawl, json, NULL, NULL, NULL, &f->err), &f->err);
    free(json);
}

/* A sequence with Test.Try (`more`: its inputs) and what comes after it. */
#define TRY(more, after)                                                                           \
    "{'definitionId':'d','variables':[{'id':'v','name':'V','typeName':'Object'}],'root'"           \
    ":" RIG_SEQUENCE("seq", "{'id':'try','type':'Test.Try'" more "}" after) "}"
#define RESULT ",'result':{'typeName':'Object','memoryReference':{'id':'v'}}"

static struct pawl_instance_outcome run(struct fixture *f)
{
    const struct pawl_start_options options = {
        .definition_id = "d", .correlation_id = "corr", .input = "{\"Thing\":[1,{\"a\":null}]}"};
    struct pawl_instance_outcome outcome;

    assert_ok(pawl_instance_start(f->pawl, &options, &outcome, &f->err), &f->err);
    return outcome;
}

static struct pawl_instance_outcome drained(struct fixture *f, const char *instance_id)
{
    struct pawl_instance_outcome outcome;

    assert_ok(pawl_drain(f->pawl, 60000, NULL, &f->err), &f->err);
    assert_ok(pawl_instance_resume(f->pawl, instance_id, "none", NULL, &outcome, &f->err), &f->err);
    return outcome;
}

static void assert_state_has(struct fixture *f, const char *instance_id, const char *text)
{
    char *json = NULL;

    assert_ok(pawl_instance_show(f->pawl, instance_id, &json, &f->err), &f->err);
    if (!strstr(json, text))
        fail_msg("no %s in %s", text, json);
    pawl_text_free(f->pawl, json);
}

/* ---- inputs and outputs -------------------------------------------------------------------- */

static int read_all(struct seen *seen, struct pawl_context *context)
{
    const char *json, *text;
    char line[128];
    int64_t amount;
    double rate;
    int ready;

    assert_int_equal(pawl_context_input_int(context, "Amount", &amount), PAWL_OK);
    assert_int_equal(pawl_context_input_text(context, "Title", &text), PAWL_OK);
    assert_int_equal(pawl_context_input_double(context, "Rate", &rate), PAWL_OK);
    assert_int_equal(pawl_context_input_bool(context, "Ready", &ready), PAWL_OK);
    assert_int_equal(pawl_context_input(context, "Anything", &json), PAWL_OK);
    snprintf(line, sizeof line, "%lld %s %g %d %s", (long long)amount, text, rate, ready, json);
    note(seen, line);
    assert_int_equal(pawl_context_input(context, "Title", &json), PAWL_OK);
    note(seen, json);
    note(seen, pawl_context_activity_id(context));
    note(seen, pawl_context_correlation_id(context));
    assert_true(strlen(pawl_context_instance_id(context)) > 0);
    return PAWL_OK;
}

static void inputs_are_read_as_what_they_are(void **state)
{
    struct fixture *f = *state;

    f->seen.body = read_all;
    publish(
        f,
        TRY(",'title':" RIG_INPUT("String", "Literal", "'A \\u00e9'") ",'rate':" RIG_INPUT(
                "Double", "Literal",
                "'0.5'") ",'ready':" RIG_INPUT("Boolean", "Literal",
                                               "true") ",'anything':" RIG_INPUT("Object", "Input",
                                                                                "{'name':'Thing'}"),
            ""));
    assert_int_equal(run(f).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->seen.text,
                        "7 A \xc3\xa9 0.5 1 [1,{\"a\":null}];\"A \xc3\xa9\";try;corr;");
}

static void inputs_that_are_not_set_are_nothing(void **state)
{
    struct fixture *f = *state;

    f->seen.body = read_all;
    publish(f, TRY("", ""));
    assert_int_equal(run(f).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->seen.text, "7  0 0 null;null;try;corr;");
}

static int write_all(struct seen *seen, struct pawl_context *context)
{
    const char *json;

    assert_int_equal(pawl_context_output(context, "Result", "{\"x\":[1,2]}"), PAWL_OK);
    assert_int_equal(pawl_context_output_text(context, "Text", "t"), PAWL_OK);
    assert_int_equal(pawl_context_output_int(context, "Count", 3), PAWL_OK);
    assert_int_equal(pawl_context_output_double(context, "Result", 1.5), PAWL_OK);
    assert_int_equal(pawl_context_variable(context, "V", &json), PAWL_OK);
    note(seen, json);
    assert_int_equal(pawl_context_variable_set(context, "V", "[true]"), PAWL_OK);
    assert_int_equal(pawl_context_variable(context, "V", &json), PAWL_OK);
    note(seen, json);
    return PAWL_OK;
}

static void outputs_reach_variables(void **state)
{
    struct fixture *f = *state;

    f->seen.body = write_all;
    publish(f, TRY(RESULT, "," SHOW("s", "{{ Variables.V | json }}")));
    assert_int_equal(run(f).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->seen.text, "1.5;[true];");
    assert_string_equal(f->lines, "[true]\n");
}

/* ---- completing and faulting --------------------------------------------------------------- */

static int complete_badly(struct seen *seen, struct pawl_context *context)
{
    const char *outcome = "Bad";

    (void)seen;
    assert_int_equal(pawl_context_complete(context, &outcome, 1), PAWL_OK);
    /* Too late. */
    assert_int_equal(pawl_context_output_int(context, "Count", 1), PAWL_EINVAL);
    assert_int_equal(pawl_context_wait(context, NULL, NULL), PAWL_EINVAL);
    return PAWL_EINVAL;
}

static void outcomes_are_followed(void **state)
{
    struct fixture *f = *state;

    f->seen.body = complete_badly;
    publish(
        f,
        "{'definitionId':'d','root':{'type':'Elsa.Flowchart','activities':["
        "{'id':'try','type':'Test.Try'}," RIG_WRITE("g", "good") "," RIG_WRITE(
            "b", "bad") "],"
                        "'connections':[{'source':{'activity':'try','port':'Good'},'target':{'"
                        "activity':'g'}},"
                        "{'source':{'activity':'try','port':'Bad'},'target':{'activity':'b'}}]}}");
    assert_int_equal(run(f).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->lines, "bad\n");
}

static int fault(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_fault(context, "no %s today", "bread");
}

static int fault_quietly(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    assert_int_equal(pawl_context_fault(context, "no %s today", "bread"), PAWL_FAULTED);
    /* What failed once has failed. */
    assert_int_equal(pawl_context_output_int(context, "Count", 1), PAWL_FAULTED);
    return PAWL_OK;
}

static int ask_for_what_is_not(struct seen *seen, struct pawl_context *context)
{
    const char *json;

    (void)seen;
    return pawl_context_input(context, "Colour", &json);
}

static int say_what_is_not(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_output_int(context, "Colour", 1);
}

static int say_nonsense(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_output(context, "Result", "{]");
}

#define BAD "caf\xe9"

static int say_bad_text(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_output(context, "Result", "\"" BAD "\"");
}

static int wait_for_bad_text(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_wait(context, BAD, NULL);
}

static int remember_bad_text(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_memory_set(context, BAD, "1");
}

static int complete_with_bad_text(struct seen *seen, struct pawl_context *context)
{
    static const char *const bad[] = {BAD};

    (void)seen;
    return pawl_context_complete(context, bad, 1);
}

static int answer_a_code(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    (void)context;
    return PAWL_EPERM;
}

static int answer_a_number(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    (void)context;
    return 17;
}

static int answer_a_fault_that_is_none(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    (void)context;
    return PAWL_FAULTED;
}

static void what_goes_wrong_faults_the_activity(void **state)
{
    static const struct {
        int (*body)(struct seen *seen, struct pawl_context *context);
        const char *message;
    } cases[] = {
        {fault, "\"message\":\"no bread today\""},
        {fault_quietly, "\"message\":\"no bread today\""},
        {ask_for_what_is_not, "\"message\":\"Test.Try has no input 'Colour'\""},
        {say_what_is_not, "\"message\":\"Test.Try has no output 'Colour'\""},
        {say_nonsense, "\"message\":\"Test.Try: an output is not JSON: Result: "},
        {say_bad_text, "not UTF-8"},
        {wait_for_bad_text, "Test.Try: the name of what it waits for is not UTF-8"},
        {remember_bad_text, "Test.Try: a key or name is not UTF-8"},
        {complete_with_bad_text, "Test.Try: an outcome is not UTF-8"},
        {answer_a_code, "\"message\":\"Test.Try: permission denied\""},
        {answer_a_number, "\"message\":\"Test.Try: unknown error\""},
        {answer_a_fault_that_is_none, "\"message\":\"Test.Try: unknown error\""},
    };
    struct fixture *f = *state;

    publish(f, TRY("", ""));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_instance_outcome outcome;

        f->seen.body = cases[i].body;
        outcome = run(f);
        assert_int_equal(outcome.status, PAWL_INSTANCE_FAULTED);
        assert_int_equal(outcome.incident_count, 1);
        assert_state_has(f, outcome.instance_id, cases[i].message);
    }
}

static void without_a_function_that_runs_there_is_no_context(void **state)
{
    const char *json;

    (void)state;
    assert_int_equal(pawl_context_input(NULL, "Amount", &json), PAWL_EINVAL);
    assert_int_equal(pawl_context_complete(NULL, NULL, 0), PAWL_EINVAL);
    assert_string_equal(pawl_context_instance_id(NULL), "");
}

/* ---- waiting ------------------------------------------------------------------------------- */

static int wait_for_colour(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_wait(context, "Colour", "{\"name\":\"red\"}");
}

/* Three times, remembering. */
static int wait_again(struct seen *seen, struct pawl_context *context, const char *input)
{
    const char *memory;
    char next[16];
    int count;

    (void)input;
    assert_int_equal(pawl_context_memory(context, "count", &memory), PAWL_OK);
    note(seen, memory);
    count = strcmp(memory, "null") == 0 ? 1 : memory[0] - '0' + 1;
    snprintf(next, sizeof next, "%d", count);
    assert_int_equal(pawl_context_memory_set(context, "count", next), PAWL_OK);
    return count < 3 ? wait_for_colour(seen, context) : PAWL_OK;
}

static void a_stimulus_resumes_who_waits_for_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_outcome outcome;
    struct pawl_send_outcome sent;

    f->seen.body = wait_for_colour;
    publish(f, TRY("", "," RIG_WRITE("w", "after")));
    outcome = run(f);
    assert_int_equal(outcome.status, PAWL_INSTANCE_SUSPENDED);
    assert_ok(
        pawl_stimulus_send(f->pawl, "Colour", "{\"name\":\"blue\"}", NULL, NULL, &sent, &f->err),
        &f->err);
    assert_int_equal(sent.parked, 1);
    assert_ok(pawl_stimulus_send(f->pawl, "Colour", "{\"name\":\"red\"}", "{\"by\":[\"me\"]}", NULL,
                                 &sent, &f->err),
              &f->err);
    assert_int_equal(sent.resumed, 1);
    assert_int_equal(drained(f, outcome.instance_id).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->seen.text, "{\"by\":[\"me\"]};");
    assert_string_equal(f->lines, "after\n");
}

static void it_may_wait_again_and_remembers(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_outcome outcome;

    f->seen.body = wait_for_colour;
    f->seen.resume_body = wait_again;
    publish(f, TRY("", ""));
    outcome = run(f);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(drained(f, outcome.instance_id).status, PAWL_INSTANCE_SUSPENDED);
        assert_ok(
            pawl_stimulus_send(f->pawl, "Colour", "{\"name\":\"red\"}", NULL, NULL, NULL, &f->err),
            &f->err);
    }
    assert_int_equal(drained(f, outcome.instance_id).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->seen.text, "{};null;{};1;{};2;");
}

static int wait_for_its_own(struct seen *seen, struct pawl_context *context)
{
    (void)seen;
    return pawl_context_wait(context, NULL, NULL);
}

static void without_resume_it_completes(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_outcome outcome;

    f->seen.body = wait_for_its_own;
    publish(f, "{'definitionId':'d','root':{'id':'b','type':'Test.Bare'}}");
    outcome = run(f);
    assert_int_equal(outcome.status, PAWL_INSTANCE_SUSPENDED);
    assert_ok(pawl_stimulus_send(f->pawl, "Test.Bare", NULL, NULL, NULL, NULL, &f->err), &f->err);
    assert_int_equal(drained(f, outcome.instance_id).status, PAWL_INSTANCE_FINISHED);
}

/* ---- calls --------------------------------------------------------------------------------- */

static int call_out(struct seen *seen, struct pawl_context *context)
{
    note(seen, "execute");
    return pawl_context_call(context, "{\"to\":\"bank\"}");
}

static void a_call_is_performed_and_its_result_is_an_output(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_outcome outcome;

    f->seen.body = call_out;
    publish(f, TRY(RESULT, "," SHOW("s", "{{ Variables.V.paid }}")));
    outcome = run(f);
    assert_string_equal(f->seen.text, "execute;{\"to\":\"bank\"};");
    assert_true(strlen(f->seen.key) > 10);
    assert_int_equal(drained(f, outcome.instance_id).status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f->lines, "true\n");
    assert_string_equal(f->seen.text, "execute;{\"to\":\"bank\"};");
}

static void a_call_that_fails_faults_the_activity(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_outcome outcome;

    f->seen.body = call_out;
    f->seen.answer = PAWL_EUNAVAILABLE;
    publish(f, TRY("", ""));
    outcome = run(f);
    assert_int_equal(drained(f, outcome.instance_id).status, PAWL_INSTANCE_FAULTED);
    assert_state_has(f, outcome.instance_id, "the bank is closed");
}

static void a_type_that_performs_nothing_cannot_call(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_outcome outcome;

    f->seen.body = call_out;
    publish(f, "{'definitionId':'d','root':{'id':'b','type':'Test.Bare'}}");
    outcome = run(f);
    assert_int_equal(outcome.status, PAWL_INSTANCE_FAULTED);
    assert_state_has(f, outcome.instance_id, "Test.Bare has no function perform to call");
}

/* A process dies in the middle of perform; the next one, under the same name, does it. */
static void a_call_is_performed_again_after_a_crash(void **state)
{
    static const char *const files[] = {"db", "db-wal", "db-shm"};
    char folder[] = "/tmp/pawl-embed-XXXXXX", store[64];
    struct pawl_instance_outcome outcome;
    struct fixture f;
    pid_t child;
    int exit_status;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(store, sizeof store, "sqlite:%s/db", folder);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct pawl_start_options options = {.definition_id = "d", .instance_id = "i"};
        char *json = quoted(TRY(RESULT, "," SHOW("s", "{{ Variables.V.paid }}")));

        if (open_at(&f, store) != PAWL_OK ||
            pawl_definition_publish(f.pawl, json, NULL, NULL, NULL, NULL) != PAWL_OK)
            _exit(1);
        f.seen.body = call_out;
        f.seen.dies = true;
        (void)!pawl_instance_start(f.pawl, &options, NULL, NULL);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_true(WIFEXITED(exit_status));
    assert_int_equal(WEXITSTATUS(exit_status), 7);
    assert_ok(open_at(&f, store), &f.err);
    f.seen.body = call_out;
    assert_ok(pawl_instance_wait(f.pawl, "i", 600000, &outcome, &f.err), &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f.seen.text, "{\"to\":\"bank\"};");
    assert_string_equal(f.lines, "true\n");
    pawl_close(f.pawl);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(store, sizeof store, "%s/%s", folder, files[i]);
        (void)remove(store);
    }
    (void)remove(folder);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_performed_again_after_a_crash), /* forks: before any thread */
        TEST(inputs_are_read_as_what_they_are),
        TEST(inputs_that_are_not_set_are_nothing),
        TEST(outputs_reach_variables),
        TEST(outcomes_are_followed),
        TEST(what_goes_wrong_faults_the_activity),
        cmocka_unit_test(without_a_function_that_runs_there_is_no_context),
        TEST(a_stimulus_resumes_who_waits_for_it),
        TEST(it_may_wait_again_and_remembers),
        TEST(without_resume_it_completes),
        TEST(a_call_is_performed_and_its_result_is_an_output),
        TEST(a_call_that_fails_faults_the_activity),
        TEST(a_type_that_performs_nothing_cannot_call),
    };

    return cmocka_run_group_tests_name("embed/activity", tests, NULL, NULL);
}
