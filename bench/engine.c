/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine alone, in memory, one thread: what an activity costs in a loop, how that depends on
 * how much there is, what a burst allocates, and what storing and loading a state costs. Fails when
 * the cost of an activity grows with the number of those that ran before it.
 *
 *     bench-engine              all figures
 *     bench-engine loop N       a For of N rounds and nothing else, for profilers
 */
#include "activities/activities.h"
#include "engine/run/burst.h"
#include "expressions/expressions.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOW INT64_C(639029342450000000)
#define BYTES_MAX ((size_t)4 << 30)
#define ROUNDS 5
/*
 * A hundred times as many activities may cost at the most so much more per activity: they no longer
 * fit the caches. What is quadratic costs a hundred times as much.
 */
#define GROWTH_MAX 4.0

struct counter {
    struct pawl_allocator base;
    size_t count;
    size_t live_bytes;
    size_t most_bytes;
};

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    struct counter *counter = ctx;

    counter->live_bytes += new_size - old_size;
    if (counter->live_bytes > counter->most_bytes)
        counter->most_bytes = counter->live_bytes;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    counter->count++;
    return realloc(ptr, new_size);
}

/* Of this thread's processor: what else the machine does is not the engine's. */
static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void need(int status, const char *what)
{
    if (status == PAWL_OK)
        return;
    (void)fprintf(stderr, "%s: %s\n", what, pawl_error_text(status));
    exit(1);
}

/* ---- a world with one definition ---------------------------------------------------------- */

struct world {
    struct counter alloc;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_graph *graph;
    struct pawl_buf text;
};

static void open_world(struct world *world)
{
    memset(world, 0, sizeof *world);
    world->alloc.base = (struct pawl_allocator){.resize = resize, .ctx = &world->alloc};
    pawl__engine_init(&world->engine, &world->alloc.base, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&world->arena, &world->alloc.base, BYTES_MAX);
    pawl__buf_init(&world->text, &world->alloc.base, BYTES_MAX);
    need(pawl__activities_register(&world->engine), "activities");
    need(pawl__expressions_register(&world->engine), "expressions");
}

static void close_world(struct world *world)
{
    pawl__graph_unref(world->graph);
    pawl__buf_release(&world->text);
    pawl__arena_release(&world->arena);
    pawl__engine_release(&world->engine);
}

/* Loads what is in world->text; answers the seconds that took. */
static double load(struct world *world)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_json definition;
    struct pawl_error err = PAWL_ERROR_INIT;
    double start = seconds();

    need(world->text.status, "text");
    need(pawl__json_parse(&world->arena, pawl__buf_peek(&world->text), &limits, &definition, NULL,
                          &err),
         err.msg);
    need(pawl__graph_load(&world->engine, &world->alloc.base, &definition, NULL, NULL, NULL,
                          &world->graph, &err),
         err.msg);
    return seconds() - start;
}

/* Runs an instance to IDLE or DONE, reopening at YIELD as drivers do. */
struct outcome {
    double seconds;
    size_t allocations;
    size_t most_bytes;
    uint64_t log_count;
};

static int store(struct world *world, struct pawl_burst *burst, bool internal,
                 struct pawl_arena *arena, struct pawl_json *state, size_t *bytes)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_arena scratch;
    struct pawl_json built;
    int status;

    pawl__arena_init(&scratch, &world->alloc.base, BYTES_MAX);
    pawl__buf_clear(&world->text);
    status = pawl__burst_state(burst, &scratch, internal, &built);
    if (status == PAWL_OK)
        pawl__json_write(&world->text, &built, PAWL_JSON_ESCAPE_MINIMAL);
    pawl__arena_release(&scratch);
    *bytes = world->text.len;
    if (status == PAWL_OK)
        status = pawl__json_parse(arena, pawl__buf_peek(&world->text), &limits, state, NULL, NULL);
    return status;
}

static void run(struct world *world, struct outcome *out)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = NOW, .seed = 1};
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_burst *burst;
    struct pawl_arena arena;
    struct pawl_json state;
    struct pawl_batch batch;
    size_t bytes;
    double start = seconds();
    size_t allocations = world->alloc.count;
    size_t live = world->alloc.live_bytes;

    world->alloc.most_bytes = live;
    out->log_count = 0;
    need(pawl__burst_open(world->graph, &world->alloc.base, NULL, &event, &burst, &err), err.msg);
    for (;;) {
        need(pawl__burst_step(burst, &step, &err), err.msg);
        pawl__burst_batch(burst, &batch);
        out->log_count += batch.log_count;
        if (step == PAWL_STEP_IDLE || step == PAWL_STEP_DONE)
            break;
        pawl__arena_init(&arena, &world->alloc.base, BYTES_MAX);
        need(store(world, burst, true, &arena, &state, &bytes), "store");
        pawl__burst_close(burst);
        event.seed++;
        need(pawl__burst_open(world->graph, &world->alloc.base, &state, &event, &burst, &err),
             err.msg);
        pawl__arena_release(&arena);
    }
    pawl__burst_close(burst);
    out->seconds = seconds() - start;
    out->allocations = world->alloc.count - allocations;
    out->most_bytes = world->alloc.most_bytes - live;
}

/* ---- definitions -------------------------------------------------------------------------- */

#define LITERAL(value)                                                                             \
    "{\"typeName\":\"Object\",\"expression\":{\"type\":\"Literal\",\"value\":" value "}}"
#define WRITE "{\"type\":\"Elsa.WriteLine\",\"text\":" LITERAL("\"a line of text\"") "}"
#define HEAD "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,\"root\":"

static void write_loop(struct world *world, unsigned count)
{
    pawl__buf_printf(&world->text,
                     HEAD "{\"type\":\"Elsa.For\",\"start\":" LITERAL("1") ",\"end\":" LITERAL(
                         "%u") ",\"body\":" WRITE "}}",
                     count);
}

static void write_sequence(struct world *world, unsigned count)
{
    pawl__buf_printf(&world->text, HEAD "{\"type\":\"Elsa.Sequence\",\"activities\":[");
    for (unsigned i = 0; i < count; i++)
        pawl__buf_printf(&world->text, "%s" WRITE, i ? "," : "");
    pawl__buf_printf(&world->text, "]}}");
}

static void write_flowchart(struct world *world, unsigned count)
{
    pawl__buf_printf(&world->text, HEAD "{\"type\":\"Elsa.Flowchart\",\"activities\":[");
    for (unsigned i = 0; i < count; i++)
        pawl__buf_printf(
            &world->text,
            "%s{\"id\":\"a%u\",\"type\":\"Elsa.WriteLine\",\"text\":" LITERAL("\"line\"") "}",
            i ? "," : "", i);
    pawl__buf_printf(&world->text, "],\"connections\":[");
    for (unsigned i = 0; i + 1 < count; i++)
        pawl__buf_printf(&world->text,
                         "%s{\"source\":{\"activity\":\"a%u\",\"port\":\"Done\"},"
                         "\"target\":{\"activity\":\"a%u\",\"port\":\"In\"}}",
                         i ? "," : "", i, i + 1);
    pawl__buf_printf(&world->text, "]}}");
}

static void write_parallel(struct world *world, unsigned count)
{
    pawl__buf_printf(&world->text, HEAD "{\"type\":\"Elsa.Parallel\",\"activities\":[");
    for (unsigned i = 0; i < count; i++)
        pawl__buf_printf(&world->text, "%s" WRITE, i ? "," : "");
    pawl__buf_printf(&world->text, "]}}");
}

static void write_waiting(struct world *world, unsigned count)
{
    pawl__buf_printf(&world->text, HEAD "{\"type\":\"Elsa.Parallel\",\"activities\":[");
    for (unsigned i = 0; i < count; i++)
        pawl__buf_printf(&world->text,
                         "%s{\"type\":\"Elsa.Event\",\"eventName\":" LITERAL("\"e%u\"") "}",
                         i ? "," : "", i);
    pawl__buf_printf(&world->text, "]}}");
}

static void write_nested(struct world *world, unsigned count)
{
    pawl__buf_printf(&world->text, HEAD);
    for (unsigned i = 0; i < count; i++)
        pawl__buf_printf(&world->text, "{\"type\":\"Elsa.Sequence\",\"activities\":[");
    pawl__buf_printf(&world->text, WRITE);
    for (unsigned i = 0; i < count; i++)
        pawl__buf_printf(&world->text, "]}");
    pawl__buf_printf(&world->text, "}");
}

struct shape {
    const char *name;
    void (*write)(struct world *world, unsigned count);
    unsigned small;
    unsigned large;
    bool linear; /* the cost of one may not grow */
};

static const struct shape shapes[] = {
    {"For over WriteLine", write_loop, 1000, 100000, true},
    {"Sequence of WriteLine", write_sequence, 100, 10000, true},
    {"Flowchart chain", write_flowchart, 100, 10000, false},
    {"Parallel of WriteLine", write_parallel, 100, 10000, true},
    {"Parallel of Event", write_waiting, 100, 10000, true},
    {"nested Sequence", write_nested, 30, 300, false},
};

/* ---- measuring ---------------------------------------------------------------------------- */

static double measure(const struct shape *shape, unsigned count)
{
    struct outcome best = {.seconds = 1e9}, one;
    struct world world;
    double loading;

    open_world(&world);
    shape->write(&world, count);
    loading = load(&world);
    for (int i = 0; i < ROUNDS; i++) {
        run(&world, &one);
        if (one.seconds < best.seconds)
            best = one;
    }
    printf("%-24s %7u %9.2f %11.0f %9.0f %9.3f %9zu %9.1f\n", shape->name, count, loading * 1e3,
           (double)count / best.seconds, best.seconds * 1e9 / (double)count,
           (double)best.allocations / (double)count, best.allocations,
           (double)best.most_bytes / 1024);
    close_world(&world);
    return best.seconds / count;
}

/* What storing and opening a state of `count` waiting activities costs. */
static void measure_state(unsigned count)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = NOW, .seed = 1};
    double save = 1e9, open = 1e9, step_time = 1e9;
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_step step;
    struct pawl_burst *burst, *again;
    struct pawl_arena arena;
    struct pawl_json state;
    struct world world;
    size_t bytes = 0;

    open_world(&world);
    write_waiting(&world, count);
    (void)load(&world);
    need(pawl__burst_open(world.graph, &world.alloc.base, NULL, &event, &burst, &err), err.msg);
    need(pawl__burst_step(burst, &step, &err), err.msg);
    for (int i = 0; i < 20; i++) {
        struct pawl_arena scratch;
        double start = seconds();

        pawl__arena_init(&arena, &world.alloc.base, BYTES_MAX);
        pawl__arena_init(&scratch, &world.alloc.base, BYTES_MAX);
        pawl__buf_clear(&world.text);
        need(pawl__burst_state(burst, &scratch, false, &state), "state");
        pawl__json_write(&world.text, &state, PAWL_JSON_ESCAPE_MINIMAL);
        pawl__arena_release(&scratch);
        if (seconds() - start < save)
            save = seconds() - start;
        need(store(&world, burst, false, &arena, &state, &bytes), "store");
        event.kind = PAWL_EVENT_RESUME;
        event.bookmark_id = pawl__json_str(pawl__json_get_text(
            pawl__json_at(pawl__json_get_text(&state, "bookmarks"), count / 2), "id"));
        start = seconds();
        need(pawl__burst_open(world.graph, &world.alloc.base, &state, &event, &again, &err),
             err.msg);
        if (seconds() - start < open)
            open = seconds() - start;
        start = seconds();
        need(pawl__burst_step(again, &step, &err), err.msg);
        if (seconds() - start < step_time)
            step_time = seconds() - start;
        pawl__burst_close(again);
        pawl__arena_release(&arena);
    }
    printf("%7u %9zu %9.1f %9.1f %9.1f\n", count, bytes, save * 1e6, open * 1e6, step_time * 1e6);
    pawl__burst_close(burst);
    close_world(&world);
}

static int loop_only(unsigned count)
{
    struct outcome out;
    struct world world;

    open_world(&world);
    write_loop(&world, count);
    (void)load(&world);
    run(&world, &out);
    printf("%u activities, %llu log records\n", count, (unsigned long long)out.log_count);
    close_world(&world);
    return 0;
}

int main(int argc, char **argv)
{
    static const unsigned waiting[] = {1, 10, 100, 1000};
    int failed = 0;

    /* Memory stays with the process: the best round does not pay for fresh pages. */
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    if (argc == 3 && strcmp(argv[1], "loop") == 0)
        return loop_only((unsigned)strtoul(argv[2], NULL, 10));
    printf("%-24s %7s %9s %11s %9s %9s %9s %9s\n", "definition", "count", "load ms", "per second",
           "ns each", "allocs/1", "allocs", "KB most");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double small = measure(&shapes[i], shapes[i].small);
        double large = measure(&shapes[i], shapes[i].large);

        if (shapes[i].linear && large > small * GROWTH_MAX) {
            printf("  grows %.1f times, at most %.1f are allowed\n", large / small, GROWTH_MAX);
            failed = 1;
        }
    }
    printf("\n%7s %9s %9s %9s %9s\n", "waiting", "bytes", "save us", "open us", "step us");
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        measure_state(waiting[i]);
    return failed;
}
