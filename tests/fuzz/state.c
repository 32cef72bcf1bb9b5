/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored states: whatever the text is, opening a burst on it either fails with a message or gives a
 * burst that can be stepped, exported and stored, and what it stores can be opened again. The first
 * byte chooses the event, the rest is the state of an instance of one fixed definition.
 */
#include "activities/activities.h"
#include "engine/state/page.h"
#include "expressions/expressions.h"
#include "fuzz/fuzz.h"
#include "runtime/words.h"

#define STEPS_MAX 40
#define YIELD_AFTER 8
/* Not those of saved inputs: a burst that is given the seed of an earlier one repeats its ids. */
#define SEEDS (UINT64_C(1) << 40)
/* From here on the first byte means a job. */
#define JOBS 128u
#define NOW INT64_C(639029342450000000)
#define BYTES_MAX ((size_t)64 << 20)

#define LITERAL(value)                                                                             \
    "{\"typeName\":\"Object\",\"expression\":{\"type\":\"Literal\",\"value\":" value "}}"
#define VARIABLE(value)                                                                            \
    "{\"typeName\":\"Object\",\"expression\":{\"type\":\"Variable\",\"value\":" value "}}"
#define NODE(id, type) "{\"id\":\"" id "\",\"type\":\"Elsa." type "\""
#define EVENT(id) NODE(id, "Event") ",\"eventName\":" LITERAL("\"" id "\"") "}"
#define WRITE(id) NODE(id, "WriteLine") ",\"text\":" VARIABLE("{\"id\":\"v\",\"name\":\"V\"}") "}"
#define LINK(from, to)                                                                             \
    "{\"source\":{\"activity\":\"" from "\"},\"target\":{\"activity\":\"" to "\"}}"

#define ASIDE(id)                                                                                  \
    NODE(id, "ExecuteWorkflow")                                                                    \
    ",\"customProperties\":{\"runAsynchronously\":true},"                                          \
    "\"workflowDefinitionId\":" LITERAL("\"c\"") "}"

/* One of each kind of activity that keeps something in the state. */
static const char definition_text[] =
    "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,"
    "\"options\":{\"commitStrategyName\":\"ActivityExecuted\"},"
    "\"variables\":[{\"id\":\"v\",\"name\":\"V\",\"typeName\":\"Object\","
    "\"storageDriverTypeName\":\"WorkflowInstanceStorageDriver\"},"
    "{\"id\":\"n\",\"name\":\"N\",\"typeName\":\"Int32\",\"value\":\"3\","
    "\"storageDriverTypeName\":\"WorkflowStorageDriver\"}],"
    "\"outputs\":[{\"type\":\"String\",\"name\":\"Out\"}],"
    "\"inputs\":[{\"type\":\"String\",\"name\":\"In\","
    "\"storageDriverType\":\"WorkflowInstanceStorageDriver\"}],"
    "\"root\":" NODE("P", "Parallel") ",\"activities\":[" /**/
    NODE("S", "Sequence") ",\"variables\":[{\"id\":\"s\",\"name\":\"L\",\"typeName\":\"String\","
                          "\"storageDriverTypeName\":\"WorkflowInstanceStorageDriver\"}],"
                          "\"activities\":[" /**/
    EVENT("e1") "," NODE("set",
                         "SetVariable") ",\"variable\":{\"id\":\"v\",\"name\":\"V\"},"
                                        "\"value\":" LITERAL("\"x\"") "}," WRITE("w1") "]}," /**/
    NODE("for", "For") ",\"start\":" LITERAL("1") ",\"end\":" LITERAL("3") ",\"body\":" NODE(
        "d", "Delay") ",\"timeSpan\":" LITERAL("\"00:00:01\"") "}}," /**/
    NODE("each", "ParallelForEach") ",\"items\":" LITERAL("[\"a\",\"b\"]") ",\"body\":" NODE(
        "body", "Sequence") ",\"activities\":[" EVENT("e2") "," WRITE("w2") "]}}," /**/
    NODE("fork", "Fork") ",\"joinMode\":\"WaitAny\",\"branches\":[" EVENT("e3") "," NODE(
        "task", "RunTask") ",\"taskName\":" LITERAL("\"t\"") "}]}," /**/
    NODE("flow", "Flowchart") ",\"activities\":[" NODE("start", "Start") "}," EVENT("e4") "," EVENT(
        "e5") "," NODE("join", "FlowJoin") "}," WRITE("w3") "],\"connections\":[" /**/
    LINK("start", "e4") "," LINK("start", "e5") "," LINK("e4", "join") "," LINK(
        "e5", "join") "," LINK("join", "w3") "," LINK("w3", "e4") "]},"           /**/
    NODE("read", "ReadLine") ",\"result\":{\"memoryReference\":{\"id\":\"v\"}}}," /**/
    NODE("while", "While") ",\"condition\":" LITERAL("true") ",\"body\":" NODE(
        "name", "SetName") ",\"value\":" LITERAL("\"n\"") "}}," /**/
    NODE("call", "ExecuteWorkflow") ",\"workflowDefinitionId\":" LITERAL("\"c\"") "}," NODE(
        "fault", "Fault") ",\"message\":" LITERAL("\"m\"") "}," ASIDE("aside") /**/
    "]}}";

struct world {
    struct pawl_allocator alloc;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_graph *graph;
};

static void open_world(struct world *world)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_json definition;

    world->alloc = fuzz_allocator();
    pawl__engine_init(&world->engine, &world->alloc, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&world->arena, &world->alloc, BYTES_MAX);
    FUZZ_DEMAND(pawl__activities_register(&world->engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__expressions_register(&world->engine) == PAWL_OK);
    world->engine.yield_after = YIELD_AFTER;
    world->engine.commit_strategies = true;
    FUZZ_DEMAND(pawl__json_parse(&world->arena, pawl__str(definition_text), &limits, &definition,
                                 NULL, NULL) == PAWL_OK);
    FUZZ_DEMAND(pawl__graph_load(&world->engine, &world->alloc, &definition, NULL, NULL, NULL,
                                 &world->graph, NULL) == PAWL_OK);
}

static void close_world(struct world *world)
{
    pawl__graph_unref(world->graph);
    pawl__engine_release(&world->engine);
    pawl__arena_release(&world->arena);
}

/* Stores the burst; what was stored can be opened, unless the instance has ended. */
static void check_stored(struct world *world, struct pawl_burst *burst, bool internal)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = NOW, .seed = 9};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_burst *again = NULL;
    struct pawl_arena arena;
    struct pawl_json state;
    struct pawl_buf text;
    int status;

    pawl__arena_init(&arena, &world->alloc, BYTES_MAX);
    pawl__buf_init(&text, &world->alloc, BYTES_MAX);
    FUZZ_DEMAND(pawl__burst_state(burst, &arena, internal, &state) == PAWL_OK);
    pawl__json_write(&text, &state, PAWL_JSON_ESCAPE_MINIMAL);
    FUZZ_DEMAND(text.status == PAWL_OK);
    FUZZ_DEMAND(pawl__json_parse(&arena, pawl__buf_peek(&text), &limits, &state, NULL, &err) ==
                PAWL_OK);
    status = pawl__burst_open(world->graph, &world->alloc, &state, &event, &again, &err);
    if (status != PAWL_OK && status != PAWL_ECONFLICT)
        (void)fprintf(stderr, "%s\n%.*s\n", err.msg, PAWL_STR_ARG(pawl__buf_peek(&text)));
    FUZZ_DEMAND(status == PAWL_OK || status == PAWL_ECONFLICT);
    FUZZ_DEMAND((status == PAWL_ECONFLICT) ==
                    pawl__sub_status_is_final(pawl__burst_sub_status(burst)) ||
                internal);
    pawl__burst_close(again);
    pawl__buf_release(&text);
    pawl__arena_release(&arena);
}

/* The records of a batch, as they are shown. */
static void show_batch(struct pawl_burst *burst, const struct pawl_batch *batch,
                       struct pawl_arena *arena, struct pawl_json *log, struct pawl_json *records)
{
    const struct pawl_record_owner owner = pawl__record_owner(burst);
    struct pawl_activity_record record;
    struct pawl_json json;

    *log = *records = pawl__json_array();
    for (uint32_t i = 0; i < batch->log_count; i++) {
        FUZZ_DEMAND(pawl__log_record_json(&owner, &batch->log[i], arena, &json) == PAWL_OK);
        FUZZ_DEMAND(pawl__json_append(arena, log, json) == PAWL_OK);
    }
    for (uint32_t i = 0; i < batch->record_count; i++) {
        FUZZ_DEMAND(pawl__activity_record_take(batch->records[i], arena, &record) == PAWL_OK);
        FUZZ_DEMAND(pawl__activity_record_json(&owner, &record, arena, &json) == PAWL_OK);
        FUZZ_DEMAND(pawl__json_append(arena, records, json) == PAWL_OK);
    }
}

/* Written as a page and read again they are the same. */
static void check_batch(struct world *world, struct pawl_burst *burst)
{
    struct pawl_json log, records, page, log_read, records_read;
    struct pawl_batch batch;
    struct pawl_words words;
    struct pawl_arena arena;
    struct pawl_buf bytes;

    pawl__arena_init(&arena, &world->alloc, BYTES_MAX);
    pawl__buf_init(&bytes, &world->alloc, BYTES_MAX);
    pawl__stored_words(&words);
    pawl__burst_batch(burst, &batch);
    show_batch(burst, &batch, &arena, &log, &records);
    pawl__page_write(burst, &batch, NULL, &words, &arena, &bytes);
    if (bytes.status == PAWL_OK) {
        FUZZ_DEMAND(pawl__brief_read(&arena, pawl__buf_peek(&bytes), &words, &page) == PAWL_OK);
        FUZZ_DEMAND(pawl__page_read(&arena, &page, &log_read, &records_read) == PAWL_OK);
        FUZZ_DEMAND(pawl__json_equal(&log, &log_read));
        FUZZ_DEMAND(pawl__json_equal(&records, &records_read));
    } else {
        FUZZ_DEMAND(bytes.status == PAWL_ELIMIT);
    }
    pawl__buf_release(&bytes);
    pawl__arena_release(&arena);
}

static void run(struct world *world, struct pawl_burst *burst)
{
    const struct pawl_json nothing = {.type = PAWL_JSON_NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_step step = PAWL_STEP_YIELD;

    for (int i = 0; i < STEPS_MAX; i++) {
        int status = pawl__burst_step(burst, &step, &err);
        bool over = step == PAWL_STEP_IDLE || step == PAWL_STEP_DONE;

        if (status == PAWL_ELIMIT)
            return;
        FUZZ_DEMAND(status == PAWL_OK);
        check_batch(world, burst);
        if (i < 3 || over)
            check_stored(world, burst, !over);
        if (over)
            return;
        if (step == PAWL_STEP_EFFECT)
            FUZZ_DEMAND(pawl__burst_feed(burst, &nothing, NOW) == PAWL_OK);
    }
    pawl__burst_cancel(burst);
    FUZZ_DEMAND(pawl__burst_step(burst, &step, &err) == PAWL_OK);
    FUZZ_DEMAND(step == PAWL_STEP_DONE);
}

/* Resumes the bookmark that the byte chooses, retries the context, runs on, or cancels; or goes on
 * with a job, with a result or without. */
static struct pawl_event make_event(uint8_t choice, const struct pawl_json *state)
{
    struct pawl_event event = {
        .kind = (enum pawl_event_kind)(choice % 4), .now = NOW, .seed = SEEDS + choice};
    const struct pawl_json *bookmark =
        pawl__json_at(pawl__json_get_text(state, "bookmarks"), choice % JOBS / 4);
    const struct pawl_json *context =
        pawl__json_at(pawl__json_get_text(state, "activityExecutionContexts"), choice / 4);

    if (choice >= JOBS) {
        event.kind = PAWL_EVENT_JOB;
        event.result = choice % 2 ? pawl__json_object() : pawl__json_null();
    }
    event.bookmark_id = pawl__json_str(pawl__json_get_text(bookmark, "id"));
    event.activity_instance_id = pawl__json_str(pawl__json_get_text(context, "id"));
    return event;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pawl_json_limits limits = {BYTES_MAX, 100};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_burst *burst = NULL;
    struct pawl_event event;
    struct pawl_json state;
    struct world world;
    int status;

    if (size < 2)
        return 0;
    open_world(&world);
    status = pawl__json_parse(&world.arena, pawl__str_make((const char *)data + 1, size - 1),
                              &limits, &state, NULL, NULL);
    if (status == PAWL_OK) {
        event = make_event(data[0], &state);
        status = pawl__burst_open(world.graph, &world.alloc, &state, &event, &burst, &err);
        FUZZ_DEMAND(status == PAWL_OK || err.msg[0] != '\0');
        if (status == PAWL_OK)
            run(&world, burst);
        pawl__burst_close(burst);
    }
    close_world(&world);
    return 0;
}
