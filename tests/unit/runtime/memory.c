/* SPDX-License-Identifier: Apache-2.0 */
/* The corners of the in-memory driver that conformance cases do not reach. */
#include "runtime/memory.h"

#include "activities/activities.h"
#include "base/datetime.h"
#include "engine/engine.h"
#include "expressions/expressions.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#define NOW INT64_C(639029342450000000)

/* ---- definitions from short texts ---------------------------------------------------------- */

#define TEXT(value)                                                                                \
    "{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":\"" value "\"}}"
#define TRUE_VALUE "{\"typeName\":\"Boolean\",\"expression\":{\"type\":\"Literal\",\"value\":true}}"
#define SEQUENCE(activities)                                                                       \
    "{\"id\":\"seq\",\"type\":\"Elsa.Sequence\",\"activities\":[" activities "]}"
#define LINE(text) "{\"type\":\"Elsa.WriteLine\",\"text\":" TEXT(text) "}"
#define EVENT(id, name) "{\"id\":\"" id "\",\"type\":\"Elsa.Event\",\"eventName\":" TEXT(name) "}"
#define START_EVENT(id, name)                                                                      \
    "{\"id\":\"" id "\",\"type\":\"Elsa.Event\",\"customProperties\":{\"canStartWorkflow\":true}," \
    "\"eventName\":" TEXT(name) "}"
#define DELAY(span) "{\"id\":\"delay\",\"type\":\"Elsa.Delay\",\"timeSpan\":" TEXT(span) "}"
#define EXECUTE(id, definition)                                                                    \
    "{\"id\":\"" id "\",\"type\":\"Elsa.ExecuteWorkflow\",\"waitForCompletion\":" TRUE_VALUE       \
    ",\"workflowDefinitionId\":" TEXT(definition) "}"

struct fixture {
    struct test_allocator alloc;
    struct pawl_engine engine;
    struct pawl_memory memory;
    struct pawl_arena arena;
    struct pawl_error err;
};

static int fixture_open(struct fixture *f)
{
    int status;

    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    pawl__engine_init(&f->engine, &f->alloc.base, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&f->arena, &f->alloc.base, (size_t)64 << 20);
    pawl__memory_init(&f->memory, &f->engine, &f->alloc.base, 42);
    f->memory.keep = true;
    f->memory.now = NOW;
    status = pawl__activities_register(&f->engine);
    return status == PAWL_OK ? pawl__expressions_register(&f->engine) : status;
}

static void fixture_close(struct fixture *f)
{
    pawl__memory_release(&f->memory);
    pawl__arena_release(&f->arena);
    pawl__engine_release(&f->engine);
}

static int set_up(void **state)
{
    static const struct fixture nothing;
    struct fixture *f = malloc(sizeof *f);

    assert_non_null(f);
    *f = nothing;
    test_allocator_init(&f->alloc);
    assert_int_equal(fixture_open(f), PAWL_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    assert_int_equal(f->alloc.live_count, 0);
    free(f);
    return 0;
}

static int parse_definition(struct fixture *f, const char *id, const char *root,
                            const char *options, struct pawl_json *out)
{
    const char *text = pawl__arena_printf(
        &f->arena, "{\"definitionId\":\"%s\",\"name\":\"%s\",\"options\":%s,\"root\":%s}", id, id,
        options, root);

    if (!text)
        return PAWL_ENOMEM;
    return pawl__json_parse(&f->arena, pawl__str(text), NULL, out, NULL, &f->err);
}

static int publish(struct fixture *f, const char *id, const char *root, const char *options,
                   struct pawl_memory_definition **out)
{
    struct pawl_json json;
    int status = parse_definition(f, id, root, options, &json);

    if (status == PAWL_OK)
        status = pawl__memory_import(&f->memory, &json, out, &f->err);
    if (status == PAWL_OK)
        status = pawl__memory_publish(&f->memory, *out, NULL, &f->err);
    return status;
}

static struct pawl_memory_definition *define(struct fixture *f, const char *id, const char *root)
{
    struct pawl_memory_definition *definition;

    assert_ok(publish(f, id, root, "{}", &definition), &f->err);
    return definition;
}

static struct pawl_memory_instance *start(struct fixture *f,
                                          struct pawl_memory_definition *definition)
{
    struct pawl_memory_start what = {.definition = definition};
    struct pawl_memory_instance *instance;

    assert_ok(pawl__memory_start(&f->memory, &what, &instance, &f->err), &f->err);
    return instance;
}

static void send(struct fixture *f, const char *event, const char *correlation_id)
{
    assert_ok(pawl__memory_send_event(&f->memory, pawl__str(event), pawl__str(correlation_id), NULL,
                                      &f->err),
              &f->err);
}

static struct pawl_str sub_status(const struct pawl_memory_instance *instance)
{
    return pawl__json_str(pawl__json_get_text(&instance->state, "subStatus"));
}

static uint32_t instance_count(const struct fixture *f)
{
    const struct pawl_memory_instance *instance;
    uint32_t count = 0;

    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, &f->memory)
    {
        count++;
    }
    return count;
}

static struct pawl_memory_instance *newest(const struct fixture *f)
{
    return PAWL_CONTAINER(f->memory.instances.head.prev, struct pawl_memory_instance, link);
}

/* ---- stimuli ------------------------------------------------------------------------------- */

static void an_event_that_nobody_waits_for_is_kept_for_ten_minutes(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_definition *waits = define(f, "waits", SEQUENCE(EVENT("e", "Go")));

    send(f, "Go", "");
    f->memory.now += PAWL_MEMORY_STIMULUS_TICKS;
    assert_str(sub_status(start(f, waits)), "Finished");
    /* It was given to one; the next waits for another. */
    assert_str(sub_status(start(f, waits)), "Suspended");
}

static void an_event_older_than_that_is_lost(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_definition *waits = define(f, "waits", SEQUENCE(EVENT("e", "Go")));

    send(f, "Go", "");
    f->memory.now += PAWL_MEMORY_STIMULUS_TICKS + 1;
    assert_str(sub_status(start(f, waits)), "Suspended");
}

static void what_an_event_starts_it_does_not_resume_as_well(void **state)
{
    struct fixture *f = *state;

    define(f, "both", SEQUENCE(START_EVENT("first", "Go") "," EVENT("second", "Go")));
    send(f, "Go", "order-1");
    assert_int_equal(instance_count(f), 1);
    assert_str(sub_status(newest(f)), "Suspended");
    assert_str(pawl__json_str(pawl__json_get_text(&newest(f)->state, "correlationId")), "order-1");
    /* The next one starts another and resumes the first. */
    send(f, "Go", "");
    assert_int_equal(instance_count(f), 2);
    assert_str(sub_status(pawl__list_element(f->memory.instances.head.next,
                                             offsetof(struct pawl_memory_instance, link))),
               "Finished");
}

static void an_event_with_a_correlation_id_reaches_only_its_own(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_start what = {
        .definition = define(f, "waits", SEQUENCE(EVENT("e", "Go"))),
        .correlation_id = pawl__str("a"),
    };
    struct pawl_memory_instance *a, *b;

    assert_ok(pawl__memory_start(&f->memory, &what, &a, &f->err), &f->err);
    what.correlation_id = pawl__str("b");
    assert_ok(pawl__memory_start(&f->memory, &what, &b, &f->err), &f->err);
    send(f, "Go", "b");
    assert_str(sub_status(a), "Suspended");
    assert_str(sub_status(b), "Finished");
}

static void a_singleton_is_not_started_while_one_runs(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_definition *definition;

    assert_ok(publish(f, "one", SEQUENCE(START_EVENT("s", "Go") "," EVENT("e", "End")),
                      "{\"activationStrategyType\":\"SingletonStrategy\"}", &definition),
              &f->err);
    send(f, "Go", "");
    send(f, "Go", "");
    assert_int_equal(instance_count(f), 1);
    send(f, "End", "");
    send(f, "Go", "");
    assert_int_equal(instance_count(f), 2);
}

/* ---- requests ------------------------------------------------------------------------------ */

#define SHORT_LIVED                                                                                \
    "{\"id\":\"v\",\"name\":\"V\",\"typeName\":\"String\",\"value\":\"initial\","                  \
    "\"storageDriverTypeName\":\"MemoryStorageDriver\"}"
#define SET_AFTER(event, text)                                                                     \
    EVENT(event, event)                                                                            \
    ",{\"type\":\"Elsa.WriteLine\",\"text\":{\"typeName\":\"String\",\"expression\":"              \
    "{\"type\":\"Variable\",\"value\":{\"id\":\"v\"}}}},"                                          \
    "{\"type\":\"Elsa.SetVariable\",\"variable\":{\"id\":\"v\"},\"value\":" TEXT(text) "}"

#define SHORT_LIVED_TWICE                                                                          \
    "{\"id\":\"seq\",\"type\":\"Elsa.Sequence\",\"variables\":[" SHORT_LIVED                       \
    "],\"activities\":[" SET_AFTER("A", "a") "," SET_AFTER("B", "b") "]}"

static void a_variable_of_the_memory_driver_lives_as_long_as_the_request(void **state)
{
    struct fixture *f = *state;

    start(f, define(f, "short",
                    "{\"id\":\"seq\",\"type\":\"Elsa.Sequence\",\"variables\":[" SHORT_LIVED
                    "],\"activities\":[" SET_AFTER("A", "a") "," SET_AFTER("B", "b") "," SET_AFTER(
                        "C", "c") "," SET_AFTER("D", "d") "]}"));
    pawl__memory_request_begin(&f->memory);
    send(f, "A", "");
    send(f, "B", "");
    pawl__memory_request_end(&f->memory);
    send(f, "C", "");
    send(f, "D", "");
    assert_int_equal(pawl__json_len(&f->memory.lines), 4);
    assert_str(pawl__json_str(pawl__json_at(&f->memory.lines, 0)), "initial");
    assert_str(pawl__json_str(pawl__json_at(&f->memory.lines, 1)), "a");
    assert_str(pawl__json_str(pawl__json_at(&f->memory.lines, 2)), "initial");
    assert_str(pawl__json_str(pawl__json_at(&f->memory.lines, 3)), "initial");
    assert_str(sub_status(newest(f)), "Finished");
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void a_final_instance_stays_as_it_is(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_instance *instance = start(f, define(f, "line", SEQUENCE(LINE("once"))));
    uint32_t entries = pawl__json_len(&instance->log);

    assert_true(instance->is_final);
    assert_ok(
        pawl__memory_resume(&f->memory, instance, pawl__str("no-such-bookmark"), NULL, &f->err),
        &f->err);
    assert_ok(pawl__memory_cancel(&f->memory, instance, true, &f->err), &f->err);
    assert_str(sub_status(instance), "Finished");
    assert_int_equal(pawl__json_len(&instance->log), entries);
}

static void cancelling_reaches_children(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_instance *parent, *child;

    define(f, "child", SEQUENCE(EVENT("e", "Go")));
    parent = start(f, define(f, "parent", SEQUENCE(EXECUTE("x", "child"))));
    child = newest(f);
    assert_ptr_not_equal(parent, child);
    assert_str(sub_status(child), "Suspended");
    assert_ok(pawl__memory_cancel(&f->memory, parent, true, &f->err), &f->err);
    assert_str(sub_status(parent), "Cancelled");
    assert_str(sub_status(child), "Cancelled");
    assert_int_equal(pawl__json_len(pawl__json_get_text(&child->state, "bookmarks")), 0);
}

static void children_within_children_need_no_stack(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_definition *top;
    char id[32], below[32];

    top = define(f, "level-0", SEQUENCE(LINE("the bottom")));
    for (int i = 1; i <= 300; i++) {
        const char *root;

        (void)snprintf(id, sizeof id, "level-%d", i);
        (void)snprintf(below, sizeof below, "level-%d", i - 1);
        root = pawl__arena_printf(&f->arena, SEQUENCE(EXECUTE("x", "%s")), below);
        assert_non_null(root);
        top = define(f, id, root);
    }
    assert_str(sub_status(start(f, top)), "Finished");
    assert_int_equal(instance_count(f), 301);
    assert_int_equal(pawl__json_len(&f->memory.lines), 1);
}

static bool stop_soon(void *ctx)
{
    int *left = ctx;

    return --*left < 0;
}

static void an_endless_loop_can_be_stopped_and_stays_small(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_instance *instance;
    int left = 200000;

    f->memory.keep = false;
    f->memory.hooks.stop = stop_soon;
    f->memory.hooks.ctx = &left;
    instance = start(f, define(f, "loop",
                               "{\"id\":\"w\",\"type\":\"Elsa.While\",\"condition\":" TRUE_VALUE
                               ",\"body\":{\"id\":\"b\",\"type\":\"Elsa.SetName\",\"value\":" TEXT(
                                   "round") "}}"));
    assert_str(sub_status(instance), "Cancelled");
    assert_true(f->alloc.live_bytes < (size_t)4 << 20);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void a_timer_fires_when_it_is_due_and_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_instance *instance =
        start(f, define(f, "slow", SEQUENCE(DELAY("00:05:00") "," EVENT("e", "Go"))));
    int64_t due;

    assert_true(pawl__memory_next_due(&f->memory, &due));
    assert_int_equal(due, NOW + 5 * PAWL_TICKS_PER_MINUTE);
    f->memory.now = due - 1;
    assert_ok(pawl__memory_run_due(&f->memory, &f->err), &f->err);
    assert_int_equal(pawl__json_len(&instance->log), 4);
    f->memory.now = due;
    assert_ok(pawl__memory_run_due(&f->memory, &f->err), &f->err);
    assert_false(pawl__memory_next_due(&f->memory, &due));
    assert_str(sub_status(instance), "Suspended");
}

static void a_timer_trigger_fires_again_and_again(void **state)
{
    struct fixture *f = *state;
    int64_t due;

    define(f, "clock",
           SEQUENCE("{\"id\":\"t\",\"type\":\"Elsa.Timer\",\"customProperties\":"
                    "{\"canStartWorkflow\":true},\"interval\":" TEXT("00:01:00") "}"));
    for (uint32_t i = 1; i <= 3; i++) {
        assert_true(pawl__memory_next_due(&f->memory, &due));
        assert_int_equal(due, NOW + (int64_t)i * PAWL_TICKS_PER_MINUTE);
        f->memory.now = due;
        assert_ok(pawl__memory_run_due(&f->memory, &f->err), &f->err);
        assert_int_equal(instance_count(f), i);
        assert_str(sub_status(newest(f)), "Finished");
    }
}

/* ---- definitions --------------------------------------------------------------------------- */

static void importing_what_is_published_makes_a_draft_of_the_next_version(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_definition *first = define(f, "d", SEQUENCE(LINE("one")));
    struct pawl_memory_definition *draft, *again;
    struct pawl_json json;

    assert_ok(parse_definition(f, "d", SEQUENCE(LINE("two")), "{}", &json), &f->err);
    assert_ok(pawl__memory_import(&f->memory, &json, &draft, &f->err), &f->err);
    assert_ptr_not_equal(first, draft);
    assert_int_equal(draft->version, 2);
    assert_true(draft->is_latest && !draft->is_published);
    assert_true(first->is_published && !first->is_latest);
    assert_ok(pawl__memory_import(&f->memory, &json, &again, &f->err), &f->err);
    assert_ptr_equal(again, draft);
    assert_ok(pawl__memory_publish(&f->memory, draft, NULL, &f->err), &f->err);
    assert_true(draft->is_published && !first->is_published);
    assert_ptr_equal(pawl__memory_definition(&f->memory, pawl__str("d"), PAWL_MEMORY_PUBLISHED, 0),
                     draft);
    assert_ptr_equal(pawl__memory_definition(&f->memory, pawl__str("d"), PAWL_MEMORY_LATEST, 1),
                     first);
}

/* Not dropped as by the reference: the run would go on without the input. */
static void an_expression_in_csharp_is_kept_reported_and_faults(void **state)
{
    static const char root[] =
        SEQUENCE("{\"id\":\"w\",\"type\":\"Elsa.WriteLine\",\"text\":{\"typeName\":\"String\","
                 "\"expression\":{\"type\":\"CSharp\",\"value\":\"1 + 1\"}}}");
    struct fixture *f = *state;
    struct pawl_memory_definition *definition;
    struct pawl_memory_publication said;
    struct pawl_memory_instance *instance;
    const struct pawl_json *kept, *inner;
    struct pawl_json json;

    assert_ok(parse_definition(f, "d", root, "{}", &json), &f->err);
    assert_ok(pawl__memory_import(&f->memory, &json, &definition, &f->err), &f->err);
    kept = pawl__json_find(&definition->json, pawl__str("/root/activities/0/text/expression"));
    assert_str(pawl__json_str(pawl__json_get_text(kept, "type")), "CSharp");
    assert_str(pawl__json_str(pawl__json_get_text(kept, "value")), "1 + 1");
    assert_ok(pawl__memory_publish(&f->memory, definition, &said, &f->err), &f->err);
    assert_int_equal(said.problems.count, 1);
    assert_int_equal(said.problems.items[0].level, PAWL_PROBLEM_ERROR);
    assert_string_equal(said.problems.items[0].activity_id, "w");
    assert_non_null(strstr(said.problems.items[0].message, "write it in JavaScript"));

    instance = start(f, definition);
    assert_str(sub_status(instance), "Faulted");
    assert_int_equal(pawl__json_len(&f->memory.lines), 0);
    inner = pawl__json_find(&instance->state, pawl__str("/incidents/0/exception/innerException"));
    assert_str(pawl__json_str(pawl__json_get_text(inner, "message")),
               "C# expressions are not supported: write it in JavaScript.");
}

static void an_older_version_no_longer_starts_by_trigger(void **state)
{
    struct fixture *f = *state;

    define(f, "d", SEQUENCE(START_EVENT("s", "Old")));
    define(f, "d", SEQUENCE(START_EVENT("s", "New")));
    send(f, "Old", "");
    assert_int_equal(instance_count(f), 0);
    send(f, "New", "");
    assert_int_equal(instance_count(f), 1);
}

static void an_instance_goes_on_with_the_version_it_began_with(void **state)
{
    struct fixture *f = *state;
    struct pawl_memory_instance *instance =
        start(f, define(f, "d", SEQUENCE(EVENT("e", "Go") "," LINE("old"))));

    define(f, "d", SEQUENCE(EVENT("e", "Go") "," LINE("new")));
    send(f, "Go", "");
    assert_str(sub_status(instance), "Finished");
    assert_str(pawl__json_str(pawl__json_at(&f->memory.lines, 0)), "old");
}

static void a_deleted_definition_takes_its_instances_along(void **state)
{
    struct fixture *f = *state;

    (void)start(f, define(f, "d", SEQUENCE(EVENT("e", "Go"))));
    pawl__memory_delete_definition(&f->memory, pawl__str("d"));
    assert_int_equal(instance_count(f), 0);
    assert_null(pawl__memory_definition(&f->memory, pawl__str("d"), PAWL_MEMORY_LATEST, 0));
    send(f, "Go", "");
}

/* ---- stored form --------------------------------------------------------------------------- */

/* A workflow that suspends, forks and starts children; answers what its journals say. */
static const char *journal_of(struct fixture *f, bool reopen)
{
    struct pawl_memory_instance *instance;
    struct pawl_buf text;
    struct pawl_str copy;

    f->memory.reopen = reopen;
    f->engine.yield_after = reopen ? 1 : 10000;
    define(f, "child", SEQUENCE(LINE("child") "," EVENT("ce", "Child")));
    (void)start(
        f, define(f, "parent",
                  SEQUENCE("{\"id\":\"p\",\"type\":\"Elsa.Parallel\",\"activities\":[" EXECUTE(
                      "x", "child") "," EVENT("e", "Go") "," DELAY("00:01:00") "]}," LINE("end"))));
    send(f, "Child", "");
    send(f, "Go", "");
    f->memory.now += PAWL_TICKS_PER_MINUTE;
    assert_ok(pawl__memory_run_due(&f->memory, &f->err), &f->err);
    pawl__buf_init(&text, &f->alloc.base, 1 << 20);
    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, &f->memory)
    {
        for (uint32_t i = 0; i < pawl__json_len(&instance->log); i++) {
            const struct pawl_json *record = pawl__json_at(&instance->log, i);

            pawl__buf_str(&text, pawl__json_str(pawl__json_get_text(record, "activityId")));
            pawl__buf_byte(&text, ' ');
            pawl__buf_str(&text, pawl__json_str(pawl__json_get_text(record, "eventName")));
            pawl__buf_byte(&text, '\n');
        }
        pawl__buf_str(&text, sub_status(instance));
        pawl__buf_byte(&text, '\n');
    }
    pawl__json_write(&text, &f->memory.lines, PAWL_JSON_ESCAPE_MINIMAL);
    copy = pawl__arena_str(&f->arena, pawl__buf_peek(&text));
    pawl__buf_release(&text);
    return copy.ptr;
}

static void reopening_after_every_activity_changes_nothing(void **state)
{
    struct fixture *f = *state;
    const char *plain = journal_of(f, false);
    struct fixture *other;
    void *other_state;

    assert_non_null(plain);
    assert_non_null(strstr(plain, "Finished"));
    assert_null(strstr(plain, "Suspended\nSuspended"));
    assert_int_equal(set_up(&other_state), 0);
    other = other_state;
    assert_string_equal(journal_of(other, true), plain);
    assert_int_equal(tear_down(&other_state), 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

static int run_everything(struct test_allocator *alloc, void *arg)
{
    struct fixture f = {.alloc = *alloc};
    struct pawl_memory_definition *child, *parent;
    struct pawl_memory_start what = {.definition = NULL};
    struct pawl_memory_instance *instance = NULL;
    int status;

    (void)arg;
    /* The fixture borrows the sweep's allocator, counters and all. */
    f.alloc.base = alloc->base;
    status = fixture_open(&f);
    if (status == PAWL_OK)
        status = publish(&f, "child", SEQUENCE(EVENT("e", "Go")), "{}", &child);
    if (status == PAWL_OK)
        status =
            publish(&f, "parent", SEQUENCE(EXECUTE("x", "child") "," LINE("end")), "{}", &parent);
    if (status == PAWL_OK) {
        what.definition = parent;
        status = pawl__memory_start(&f.memory, &what, &instance, &f.err);
    }
    if (status == PAWL_OK)
        status = pawl__memory_send_event(&f.memory, pawl__str("Go"), pawl__str(""), NULL, &f.err);
    if (status == PAWL_OK)
        assert_str(sub_status(instance), "Finished");
    if (status == PAWL_OK)
        status = publish(&f, "short", SHORT_LIVED_TWICE, "{}", &what.definition);
    if (status == PAWL_OK)
        status = pawl__memory_start(&f.memory, &what, &instance, &f.err);
    pawl__memory_request_begin(&f.memory);
    for (int i = 0; i < 2 && status == PAWL_OK; i++)
        status = pawl__memory_send_event(&f.memory, pawl__str(i == 0 ? "A" : "B"), pawl__str(""),
                                         NULL, &f.err);
    if (status == PAWL_OK)
        assert_str(sub_status(instance), "Finished");
    fixture_close(&f);
    return status;
}

static void running_out_of_memory_is_an_answer_and_leaks_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(run_everything, NULL, 2000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_event_that_nobody_waits_for_is_kept_for_ten_minutes),
        TEST(an_event_older_than_that_is_lost),
        TEST(what_an_event_starts_it_does_not_resume_as_well),
        TEST(an_event_with_a_correlation_id_reaches_only_its_own),
        TEST(a_singleton_is_not_started_while_one_runs),
        TEST(a_variable_of_the_memory_driver_lives_as_long_as_the_request),
        TEST(a_final_instance_stays_as_it_is),
        TEST(cancelling_reaches_children),
        TEST(children_within_children_need_no_stack),
        TEST(an_endless_loop_can_be_stopped_and_stays_small),
        TEST(a_timer_fires_when_it_is_due_and_once),
        TEST(a_timer_trigger_fires_again_and_again),
        TEST(importing_what_is_published_makes_a_draft_of_the_next_version),
        TEST(an_expression_in_csharp_is_kept_reported_and_faults),
        TEST(an_older_version_no_longer_starts_by_trigger),
        TEST(an_instance_goes_on_with_the_version_it_began_with),
        TEST(a_deleted_definition_takes_its_instances_along),
        TEST(reopening_after_every_activity_changes_nothing),
        cmocka_unit_test(running_out_of_memory_is_an_answer_and_leaks_nothing),
    };

    return cmocka_run_group_tests_name("runtime/memory", tests, NULL, NULL);
}
