/* SPDX-License-Identifier: Apache-2.0 */
/* Reading pages of the journal. That what is written is read as it was: tests/fuzz/state.c. */
#include "engine/state/page.h"
#include "lib/test.h"

#define HEAD "{'form':1,'of':['d','d:1','i',3],'at':639029342450000000,'from':7,"
#define WRITE "['write','Elsa.WriteLine',1,'Write','P:write','']"
#define ENTRIES                                                                                    \
    "'entries':[[[0,'w','',['P','Elsa.Parallel',1,'','d:1','']],0,'e1',0,0,'Started'],"            \
    "[[0,'a','w'," WRITE "],0,'e2',10,1,'Started','said',{'x':[1]}],"                              \
    "[[0,'b',0,1],0,'e3',null,2,'Started'],[1,1,'4',0,3,'Completed']],"
#define ACTIVITY                                                                                   \
    "'activities':[[1,7,{'Text':'t'},{},null,0,'Faulted',1,10000000,0,'P','',2,{'j':1},{},"        \
    "{'message':'m'}]]}"

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, 64 << 20);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
}

static void close_fixture(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

/* JSON with ' in place of ". */
static struct pawl_json parse(struct fixture *f, const char *text)
{
    size_t len = strlen(text);
    char *copy = pawl__arena_alloc(&f->arena, len);
    struct pawl_json json;

    assert_non_null(copy);
    for (size_t i = 0; i < len; i++)
        copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    assert_ok(pawl__json_parse(&f->arena, pawl__str_make(copy, len), NULL, &json, NULL, &f->err),
              &f->err);
    return json;
}

#define LOGGED(id, who, parent, activity, type, rest)                                              \
    "{'id':'" id "','workflowDefinitionId':'d','workflowDefinitionVersionId':'d:1',"               \
    "'workflowInstanceId':'i','workflowVersion':3,'activityInstanceId':'" who "'," parent          \
    "'activityId':'" activity "','activityType':'" type "','activityTypeVersion':1," rest "}"
#define WRITTEN(id, who, rest)                                                                     \
    LOGGED(id, who, "'parentActivityInstanceId':'w',", "write", "Elsa.WriteLine",                  \
           "'activityName':'Write','activityNodeId':'P:write'," rest)

#define E1                                                                                         \
    LOGGED("e1", "w", "", "P", "Elsa.Parallel",                                                    \
           "'activityNodeId':'d:1','timestamp':'2026-01-02T07:04:05+00:00','sequence':7,"          \
           "'eventName':'Started'")
#define E2                                                                                         \
    WRITTEN("e2", "a",                                                                             \
            "'timestamp':'2026-01-02T07:04:05.000001+00:00','sequence':8,"                         \
            "'eventName':'Started','message':'said','payload':{'x':[1]}")
#define E3 WRITTEN("e3", "b", "'sequence':9,'eventName':'Started'")
#define E4                                                                                         \
    WRITTEN("e4", "a",                                                                             \
            "'timestamp':'2026-01-02T07:04:05+00:00','sequence':10,'eventName':'Completed'")

static void what_stands_once_is_in_every_record(void **state)
{
    static const char *const records_text =
        "[{'id':'a','workflowInstanceId':'i','activityId':'write','activityNodeId':'P:write',"
        "'activityType':'Elsa.WriteLine','activityTypeVersion':1,'activityName':'Write',"
        "'activityState':{'Text':'t'},'outputs':{},'payload':{'j':1},'properties':{},"
        "'metadata':null,'exception':{'message':'m'},'startedAt':'2026-01-02T07:04:05+00:00',"
        "'hasBookmarks':true,'status':'Faulted','aggregateFaultCount':1,"
        "'completedAt':'2026-01-02T07:04:06+00:00','schedulingActivityExecutionId':'w',"
        "'schedulingActivityId':'P','callStackDepth':2}]";
    struct pawl_json page, log, records, expected;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    page = parse(&f, HEAD ENTRIES ACTIVITY);
    assert_int_equal(pawl__page_read(&f.arena, &page, &log, &records), PAWL_OK);
    expected = parse(&f, "[" E1 "," E2 "," E3 "," E4 "]");
    assert_true(pawl__json_equal(&log, &expected));
    expected = parse(&f, records_text);
    assert_true(pawl__json_equal(&records, &expected));
    close_fixture(&f);
}

static void pages_with_whole_objects_are_read_as_they_are(void **state)
{
    struct pawl_json page, log, records;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    page = parse(&f, "{'log':[{'id':'x'},5],'records':[{'id':'y'}]}");
    assert_int_equal(pawl__page_read(&f.arena, &page, &log, &records), PAWL_OK);
    assert_true(pawl__json_equal(&log, pawl__json_get_text(&page, "log")));
    assert_true(pawl__json_equal(&records, pawl__json_get_text(&page, "records")));
    page = parse(&f, "{'log':7}");
    assert_int_equal(pawl__page_read(&f.arena, &page, &log, &records), PAWL_OK);
    assert_int_equal(pawl__json_len(&log) + pawl__json_len(&records), 0);
    close_fixture(&f);
}

static void damaged_pages_and_those_of_newer_forms_are_refused(void **state)
{
#define ENTRY(items) HEAD "'entries':[" items "],'activities':[]}"
#define WHO "[0,'w','',['P','T',1,'','n','']]"
    static const char *const damaged[] = {
        "{'form':'1'}",
        "{'form':1}",
        "{'form':1,'of':['d','d:1','i'],'at':0,'from':0,'entries':[],'activities':[]}",
        "{'form':1,'of':['d','d:1',5,1],'at':0,'from':0,'entries':[],'activities':[]}",
        "{'form':1,'of':['d','d:1','i',1],'at':-1,'from':0,'entries':[],'activities':[]}",
        "{'form':1,'of':['d','d:1','i',1],'at':4000000000000000000,'from':0,'entries':[],"
        "'activities':[]}",
        "{'form':1,'of':['d','d:1','i',1],'at':0,'from':1.5,'entries':[],'activities':[]}",
        "{'form':1,'of':['d','d:1','i',1],'at':0,'from':9223372036854775807,"
        "'entries':[[" WHO ",0,'e',0,1,'E']],'activities':[]}",
        HEAD "'entries':{},'activities':[]}",
        HEAD "'entries':[]}",
        ENTRY("5"),
        ENTRY("[]"),
        ENTRY("[0,0,'e',0,0,'E']"),
        ENTRY("[" WHO ",0,'e',0,0,'E'],[1,0,'e',0,0,'E']"),
        ENTRY("[" WHO ",0,'e',0,0,'E'],[-1,0,'e',0,0,'E']"),
        ENTRY("[" WHO ",0,'e',0,0]"),
        ENTRY("[" WHO ",2,'e',0,0,'E']"),
        ENTRY("[" WHO ",-1,'e',0,0,'E']"),
        ENTRY("[" WHO ",0,'e',0,-1,'E']"),
        ENTRY("[" WHO ",0,'e','0',0,'E']"),
        ENTRY("[" WHO ",0,'e',9223372036854775807,0,'E']"),
        ENTRY("[" WHO ",0,'e',-9223372036854775808,0,'E']"),
        ENTRY("[" WHO ",0,'e',0,0,'E',null]"),
        ENTRY("[[0,'w',0,['P','T',1,'','n','']],0,'e',0,0,'E']"),
        ENTRY("[[0,'w','',0],0,'e',0,0,'E']"),
        ENTRY("[[0,'w','',['P','T',1,'','n']],0,'e',0,0,'E']"),
        ENTRY("[[0,'w','',['P','T',-1,'','n','']],0,'e',0,0,'E']"),
        ENTRY("[[0,'w','',['P','T',4294967296,'','n','']],0,'e',0,0,'E']"),
        HEAD "'entries':[],'activities':[[" WHO ",0,{},{},{},0,'S',0,0,'','','']]}",
        HEAD "'entries':[],'activities':[[" WHO ",1,{},{},{},0,'S',0,0,'','','',0,{}]]}",
        HEAD "'entries':[],'activities':[[" WHO ",2,{},{},{},0,'S',0,0,'','','',0]]}",
        HEAD "'entries':[],'activities':[[" WHO ",0,{},{},{},0,'S',0,0,5,'','',0]]}",
    };
    struct pawl_json page, log, records;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        page = parse(&f, damaged[i]);
        log = records = pawl__json_int(5);
        if (pawl__page_read(&f.arena, &page, &log, &records) != PAWL_ECORRUPT)
            fail_msg("read: %s", damaged[i]);
        assert_true(pawl__json_is(&log, PAWL_JSON_INT) && pawl__json_is(&records, PAWL_JSON_INT));
    }
    page = parse(&f, "{'form':2}");
    assert_int_equal(pawl__page_read(&f.arena, &page, &log, &records), PAWL_EUNSUPPORTED);
    close_fixture(&f);
}

static int read_over(struct test_allocator *alloc, void *arg)
{
    struct pawl_json log, records;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &alloc->base, 64 << 20);
    status = pawl__page_read(&arena, arg, &log, &records);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct pawl_json page;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    page = parse(&f, HEAD ENTRIES ACTIVITY);
    test_sweep_allocations(read_over, &page, 200);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_once_is_in_every_record),
        cmocka_unit_test(pages_with_whole_objects_are_read_as_they_are),
        cmocka_unit_test(damaged_pages_and_those_of_newer_forms_are_refused),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("engine/page", tests, NULL, NULL);
}
