/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP activities ask for, and what they make of the answers. */
#include "activities/http_client.h"

#include "running.h"

#include <stdio.h>

#define LITERAL(value) "{'typeName':'Object','expression':{'type':'Literal','value':" value "}}"
#define OBJECT(value) "{'typeName':'Object','expression':{'type':'Object','value':'" value "'}}"
#define BOUND(id) "{'typeName':'Object','memoryReference':{'id':'" id "'}}"
#define VARIABLE(id, type)                                                                         \
    "{'id':'" id "','name':'" id "','typeName':'" type                                             \
    "','storageDriverTypeName':'WorkflowInstanceStorageDriver'}"
#define VARIABLES "'variables':[" VARIABLE("v", "Object") "," VARIABLE("s", "String") "],"
#define FLOW(more)                                                                                 \
    "{'id':'r','type':'Elsa.FlowSendHttpRequest','url':" LITERAL("'http://h/a'") more "}"
#define WRITE(id, text) "{'id':'" id "','type':'Elsa.WriteLine','text':" LITERAL("'" text "'") "}"
/* clang-format off */
#define SEND                                                                                       \
    "{'id':'r','type':'Elsa.SendHttpRequest','url':" LITERAL("'http://h/a'")                       \
    ",'expectedStatusCodes':[{'statusCode':200,'activity':" WRITE("w1", "ok")                      \
    "},{'statusCode':204}],'unmatchedStatusCode':" WRITE("w2", "other")                            \
    ",'failedToConnect':" WRITE("w3", "failed") ",'timeout':" WRITE("w4", "late") "}"
/* clang-format on */

static const char *asked(struct running *running, const char *root)
{
    running_begin(running, root, VARIABLES);
    return running_text(running, &running->awaited);
}

static void a_request_is_what_the_inputs_say(void **state)
{
    /* clang-format off */
    static const struct {
        const char *root, *data;
    } cases[] = {
        {FLOW(""), "{'method':'GET','url':'http://h/a'}"},
        {FLOW(",'method':" LITERAL("'PUT'") ",'content':" LITERAL("'x'")),
         "{'method':'PUT','url':'http://h/a'}"},
        {FLOW(",'contentType':" LITERAL("'application/json'") ",'content':" LITERAL("{'a':[1]}")),
         "{'method':'GET','url':'http://h/a','content':'{\\'a\\':[1]}','contentType':"
         "'application/json'}"},
        {FLOW(",'contentType':" LITERAL("'application/x-www-form-urlencoded'")
              ",'content':" LITERAL("{'a b':'c&d','n':1}")),
         "{'method':'GET','url':'http://h/a','content':'a+b=c%26d&n=1','contentType':"
         "'application/x-www-form-urlencoded'}"},
        {FLOW(",'authorization':" LITERAL("'Bearer t'")
              ",'requestHeaders':" LITERAL("{'A':'1','B':['2','3']}")),
         "{'method':'GET','url':'http://h/a','headers':{'A':['1'],'B':['2','3']},'authorization':"
         "'Bearer t'}"},
        {FLOW(",'customProperties':{'onUnknown':'Fault','resilienceStrategy':{'strategyId':'x'}}"),
         "{'method':'GET','url':'http://h/a','onUnknown':'fault','retry':{'count':3,'delayMs':"
         "1000}}"},
        {"{'type':'Elsa.DownloadHttpFile','url':" LITERAL("'http://h/f'")
         ",'requestContent':" LITERAL("'q'") ",'requestContentType':" LITERAL("'text/plain'") "}",
         "{'method':'GET','url':'http://h/f','content':'q','contentType':'text/plain'}"},
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct running running;

        assert_string_equal(asked(&running, cases[i].root), cases[i].data);
        running_end(&running);
    }
}

static void what_is_no_request_faults(void **state)
{
    static const char *const roots[] = {
        "{'type':'Elsa.FlowSendHttpRequest'}",
        FLOW(",'authorization':" LITERAL("'(secret)'")),
    };

    (void)state;
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        struct running running;

        running_begin(&running, roots[i], "");
        assert_string_equal(running_sub_status(&running), "Faulted");
        assert_null(strstr(running_text(&running, running_find(&running, "/incidents/0/message")),
                           "secret"));
        running_end(&running);
    }
}

/* The variable after an answer with this type and body. */
static void check_parsed(const char *variable, const char *type, const char *body,
                         const char *wanted)
{
    struct running running;
    char root[512], fed[512];

    (void)snprintf(root, sizeof root,
                   FLOW(",'parsedContent':{'typeName':'Object','memoryReference':{'id':'%s'}}"),
                   variable);
    (void)snprintf(fed, sizeof fed,
                   "{'statusCode':200,'url':'http://h/a','headers':{'content-type':['%s']},%s}",
                   type, body);
    running_begin(&running, root, VARIABLES);
    assert_ok(running_feed(&running, fed), &running.err);
    assert_string_equal(running_sub_status(&running), "Finished");
    assert_string_equal(
        running_text(&running, pawl__json_get_text(
                                   running_property(&running, "Workflow1", "Variables"), variable)),
        wanted);
    running_end(&running);
}

static void a_body_is_read_by_its_type(void **state)
{
    (void)state;
    check_parsed("v", "application/json; charset=utf-8", "'content':'{\\'a\\':[1,true]}'",
                 "{'a':[1,true]}");
    check_parsed("s", "application/json", "'content':'{\\'a\\':1}'", "'{\\'a\\':1}'");
    check_parsed("v", "text/plain", "'content':'plain'", "'plain'");
    check_parsed("v", "text/plain; charset=iso-8859-1", "'contentBase64':'6Q=='", "'\xc3\xa9'");
    check_parsed("v", "text/plain", "'contentBase64':'6Q=='", "'\xef\xbf\xbd'");
}

static void a_body_that_is_not_what_it_says_faults(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running, FLOW(""), "");
    assert_ok(running_feed(&running, "{'statusCode':200,'headers':{'Content-Type':"
                                     "['application/json']},'content':'{'}"),
              &running.err);
    assert_string_equal(running_sub_status(&running), "Faulted");
    running_end(&running);
}

static void an_activity_runs_by_the_status(void **state)
{
    static const char *const cases[][2] = {
        {"{'statusCode':200,'headers':{}}", "[{'text':'ok'}]"},
        {"{'statusCode':204,'headers':{}}", "[]"},
        {"{'statusCode':404,'headers':{}}", "[{'text':'other'}]"},
        {"{'error':'no','reason':'connect'}", "[{'text':'failed'}]"},
        {"{'error':'no','reason':'lost'}", "[{'text':'failed'}]"},
        {"{'error':'no','reason':'timeout'}", "[{'text':'late'}]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct running running;

        running_begin(&running, SEND, "");
        assert_ok(running_feed(&running, cases[i][0]), &running.err);
        assert_string_equal(running_text(&running, &running.effects), cases[i][1]);
        assert_string_equal(running_sub_status(&running), "Finished");
        running_end(&running);
    }
}

static void what_nobody_knows_faults(void **state)
{
    static const char *const fed[] = {"{'error':'no','reason':'unknown'}",
                                      "{'error':'no','reason':'invalid'}",
                                      "{'error':'no','reason':'none'}", "{'error':'no'}"};

    (void)state;
    for (size_t i = 0; i < sizeof fed / sizeof fed[0]; i++) {
        struct running running;

        running_begin(&running, SEND, "");
        assert_ok(running_feed(&running, fed[i]), &running.err);
        assert_string_equal(running_sub_status(&running), "Faulted");
        running_end(&running);
    }
}

static void check_file_name(const char *disposition, const char *url, const char *wanted)
{
    struct test_allocator alloc;
    struct pawl_arena arena;

    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    assert_str(pawl__http_file_name(&arena, pawl__str(disposition), pawl__str(url)), wanted);
    pawl__arena_release(&arena);
}

static void a_file_has_the_name_that_the_server_says(void **state)
{
    (void)state;
    check_file_name("attachment; filename=document.pdf", "http://h/x", "document.pdf");
    check_file_name("attachment; filename=\"a; \\\"b\\\".txt\"", "http://h/x", "a; \"b\".txt");
    check_file_name("attachment; filename=x; filename*=UTF-8''%E2%82%AC.txt", "",
                    "\xe2\x82\xac.txt");
    check_file_name("", "http://h/downloads/image.png?a=b/c", "image.png");
    check_file_name("", "http://h/a%20b", "a b");
    check_file_name("", "http://h", "file.dat");
    check_file_name("", "http://h/", "file.dat");
    check_file_name("attachment; filename=\"../../etc/passwd\"", "", "passwd");
    check_file_name("attachment; filename=\"..\"", "http://h/%2e%2e", "file.dat");
}

static int send_and_read(struct test_allocator *alloc, void *arg)
{
    static const char *const fed =
        "{'statusCode':200,'url':'http://h/a.bin','headers':{'Content-Type':['image/png'],'X':['1'"
        "]},'contentBase64':'6Q=='}";
    struct running running;
    int status = running_init(&running, alloc);

    if (status == PAWL_OK)
        status = running_load(&running, arg, VARIABLES);
    if (status == PAWL_OK)
        status = running_start(&running);
    if (status == PAWL_OK)
        status = running_feed(&running, fed);
    running_release(&running);
    *alloc = running.alloc;
    return status;
}

static void memory_may_run_out_at_any_point(void **state)
{
    static char flow[] = FLOW(",'contentType':" LITERAL("'application/json'") ",'content':" LITERAL(
        "{'a':1}") ",'requestHeaders':" LITERAL("{'A':'1'}") ",'parsedContent':" BOUND("v"));
    static char download[] = "{'type':'Elsa.DownloadHttpFile','url':" LITERAL(
        "'http://h/f'") ",'result':" BOUND("v") ",'responseContentBytes':" BOUND("s") "}";

    (void)state;
    test_sweep_allocations(send_and_read, flow, 3000);
    test_sweep_allocations(send_and_read, download, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_what_the_inputs_say),
        cmocka_unit_test(what_is_no_request_faults),
        cmocka_unit_test(a_body_is_read_by_its_type),
        cmocka_unit_test(a_body_that_is_not_what_it_says_faults),
        cmocka_unit_test(an_activity_runs_by_the_status),
        cmocka_unit_test(what_nobody_knows_faults),
        cmocka_unit_test(a_file_has_the_name_that_the_server_says),
        cmocka_unit_test(memory_may_run_out_at_any_point),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
