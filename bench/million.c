/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node that has a great many suspended instances: how long it takes to open the store and be
 * ready, what that costs in memory, and how long a resume takes, beside the same with a hundred.
 *
 *     bench-million [COUNT [sqlite|postgres]]     COUNT instances; 10,000 unless told
 *
 * Half of the instances wait for an event of one name, each with a correlation id of its own; of
 * the others a quarter has ended and the rest waits for a time ten years away. They are copies of
 * two that were really run, loaded with load(). Each figure is taken in a process of its own, which
 * this program starts: a node has just begun then, and its memory holds nothing else. The files
 * were just written, so that they are in the system's cache as far as that has room. Few and many
 * take turns, a few times, and of times the least counts: the one in which others disturbed the
 * least.
 */
#include "harness.h"
#include "million_lists.h"
#include "runtime/bytes.h"
#include "servers/postgres.h"
#include "stores/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_DEFAULT 10000u
#define COUNT_SMALL 100u
#define PAGE 1000u
#define RESUMES 100u
#define TURNS 3u
#define READY_MS_MAX 50.0
#define SLOWER_MAX 1.3
/* What memory may differ by without being the instances' doing, in a process of a few MB. */
#define MB_MAX 1.0

#define TEXT(type, value)                                                                          \
    "{'typeName':'" type "','expression':{'type':'Literal','value':'" value "'}}"
#define DEFINITION(id, activity)                                                                   \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "',"                        \
    "'root':{'id':'seq','type':'Elsa.Sequence','activities':[" activity "]}}"

static const char *const definitions[] = {
    DEFINITION("event", "{'id':'wait','type':'Elsa.Event','eventName':" TEXT("String", "paid") "}"),
    DEFINITION("delay", "{'id':'wait','type':'Elsa.Delay','timeSpan':" TEXT("TimeSpan",
                                                                            "3650.00:00:00") "}"),
};
static const char *const definition_ids[] = {"event", "delay"};

#define ID_LENGTH 32 /* of instances and bookmarks */
#define ORDER "order-000000000"

/* ---- stores -------------------------------------------------------------------------------- */

static struct pawl_store *open_store(struct pawl_env *env, const char *uri)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store *store = NULL;

    if (strncmp(uri, "postgres:", 9) == 0)
        bench_need(pawl__postgres_store_open(env, pawl__str(uri), &options, &store, &err), &err,
                   uri);
    else
        bench_need(pawl__sqlite_store_open(env, pawl__str(uri), &options, &store, &err), &err, uri);
    return store;
}

/* ---- loading ------------------------------------------------------------------------------- */

/* One that was run, with all that is its own. */
struct original {
    struct pawl_instance_row instance;
    struct pawl_str state; /* of it, as JSON text */
    struct pawl_bookmark_row bookmark;
    struct pawl_work_row timer; /* id "": none */
};

static const void *find_one(struct bench_node *node, enum pawl_table table, const char *column,
                            const char *value, struct pawl_arena *arena)
{
    const struct pawl_condition condition = {.column = pawl_table_column(table, column),
                                             .value = {.text = pawl__str(value)}};
    const struct pawl_query query = {
        .table = table, .conditions = &condition, .condition_count = 1};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows;

    bench_need(pawl_store_find(node->store, &query, arena, &rows, bench_later(node->env), &err),
               &err, "find");
    return rows.count > 0 ? rows.rows : NULL;
}

static void run_original(struct bench_node *node, unsigned which, struct pawl_arena *arena,
                         struct original *out)
{
    const struct pawl_start start = {.definition_id = pawl__str(definition_ids[which]),
                                     .correlation_id = pawl__str(ORDER)};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;
    struct pawl_json state;
    const void *instance, *bookmark, *timer;

    bench_publish(node, definitions[which]);
    bench_need(pawl__runtime_start(node->runtime, &start, &outcome, bench_later(node->env), &err),
               &err, "start");
    instance = find_one(node, PAWL_TABLE_INSTANCES, "id", outcome.instance_id, arena);
    bookmark = find_one(node, PAWL_TABLE_BOOKMARKS, "instance_id", outcome.instance_id, arena);
    timer = find_one(node, PAWL_TABLE_WORK, "instance_id", outcome.instance_id, arena);
    if (outcome.sub_status != PAWL_SUB_SUSPENDED || !instance || !bookmark)
        bench_fail("start", "the instance does not wait");
    *out = (struct original){.timer = {.id = pawl__str("")}};
    memcpy(&out->instance, instance, sizeof out->instance);
    bench_need(pawl__runtime_state_read(node->runtime, arena, &out->instance, &state, &err), &err,
               "state");
    out->state = pawl__runtime_json_text(arena, &state);
    memcpy(&out->bookmark, bookmark, sizeof out->bookmark);
    if (timer)
        memcpy(&out->timer, timer, sizeof out->timer);
    if (out->instance.id.len != ID_LENGTH || out->bookmark.id.len > ID_LENGTH)
        bench_fail("start", "ids are not as long as expected");
}

/* The text with every `from` replaced by `to`, which is as long. */
static struct pawl_str replaced(struct pawl_arena *arena, struct pawl_str text,
                                struct pawl_str from, const char *to)
{
    struct pawl_str copy = pawl__arena_str(arena, text);
    char *at = (char *)(uintptr_t)copy.ptr, *end = at + copy.len;

    if (!copy.ptr)
        bench_fail("load", "no memory");
    while ((at = memmem(at, (size_t)(end - at), from.ptr, from.len))) {
        memcpy(at, to, from.len);
        at += from.len;
    }
    return copy;
}

struct page {
    struct pawl_instance_row instances[PAGE];
    struct pawl_bookmark_row bookmarks[PAGE];
    struct pawl_work_row timers[PAGE];
    size_t count, bookmark_count, timer_count;
};

/* The state of a copy, as a node stores it. */
static struct pawl_str copied_state(struct bench_node *node, const struct original *o,
                                    const char *id, const char *bookmark_id, const char *order,
                                    struct pawl_arena *arena)
{
    struct pawl_str text = replaced(arena, o->state, o->instance.id, id), stored;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json state;

    text = replaced(arena, text, o->bookmark.id, bookmark_id);
    text = replaced(arena, text, pawl__str(ORDER), order);
    bench_need(pawl__json_parse(arena, text, NULL, &state, NULL, &err), &err, "state");
    bench_need(pawl__runtime_pack_value(node->runtime, arena, &state, &stored, &err), &err,
               "state");
    return stored;
}

static void copy_original(struct bench_node *node, const struct original *o, unsigned number,
                          struct pawl_arena *arena, struct page *page)
{
    char id[ID_LENGTH + 1], bookmark_id[ID_LENGTH + 1], order[sizeof ORDER];
    struct pawl_instance_row *instance = &page->instances[page->count++];
    struct pawl_bookmark_row *bookmark = &page->bookmarks[page->bookmark_count++];

    /* As ids are made: by time, so that later ones are greater. */
    (void)snprintf(id, sizeof id, "0190%08x7000800000000000%04x", number, number & 0xffff);
    (void)snprintf(bookmark_id, sizeof bookmark_id, "%08xb00000000000000000000000", number);
    (void)snprintf(order, sizeof order, "order-%09u", number);
    *instance = o->instance;
    instance->state = copied_state(node, o, id, bookmark_id, order, arena);
    instance->state_sum = pawl__runtime_state_sum(instance->state);
    instance->id = pawl__arena_str(arena, pawl__str(id));
    instance->correlation_id = pawl__arena_str(arena, pawl__str(order));
    if (number % 4 == 1) {
        char name[32];

        (void)snprintf(name, sizeof name, "order %u", number);
        instance->name = pawl__arena_str(arena, pawl__str(name));
    }
    *bookmark = o->bookmark;
    bookmark->id = pawl__arena_str(arena, pawl__str_make(bookmark_id, o->bookmark.id.len));
    bookmark->instance_id = instance->id;
    bookmark->correlation_id = instance->correlation_id;
    if (!lists_mix(instance, number)) {
        page->bookmark_count--;
        return;
    }
    if (o->timer.id.len > 0) {
        struct pawl_work_row *timer = &page->timers[page->timer_count++];

        *timer = o->timer;
        timer->id = timer->bookmark_id = bookmark->id;
        timer->instance_id = instance->id;
        timer->due_us += (int64_t)number * 1000000;
        timer->part = number % 1024;
    }
}

static void load_page(struct bench_node *node, const struct page *page)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int64_t deadline_ns = bench_later(node->env);

    bench_need(pawl_store_load(node->store, PAWL_TABLE_INSTANCES, page->instances, page->count,
                               deadline_ns, &err),
               &err, "load");
    bench_need(pawl_store_load(node->store, PAWL_TABLE_BOOKMARKS, page->bookmarks,
                               page->bookmark_count, deadline_ns, &err),
               &err, "load");
    if (page->timer_count > 0)
        bench_need(pawl_store_load(node->store, PAWL_TABLE_WORK, page->timers, page->timer_count,
                                   deadline_ns, &err),
                   &err, "load");
}

/* Even ones wait for the event, odd ones for their time. */
static void fill(struct pawl_env *env, const char *uri, unsigned count)
{
    struct page *page = calloc(1, sizeof *page);
    struct original originals[2];
    struct pawl_arena keep, arena;
    struct bench_node node;
    double begin = bench_seconds();

    if (!page)
        bench_fail("load", "no memory");
    pawl__arena_init(&keep, &env->alloc, (size_t)64 << 20);
    pawl__arena_init(&arena, &env->alloc, (size_t)256 << 20);
    bench_node_open(&node, env, open_store(env, uri), 1);
    for (unsigned i = 0; i < 2; i++)
        run_original(&node, i, &keep, &originals[i]);
    for (unsigned i = 0; i < count;) {
        page->count = page->bookmark_count = page->timer_count = 0;
        pawl__arena_reset(&arena);
        for (; i < count && page->count < PAGE; i++)
            copy_original(&node, &originals[i % 2], i, &arena, page);
        load_page(&node, page);
    }
    (void)printf("  %u instances with states of %zu and %zu bytes, loaded in %.1f s\n", count,
                 originals[0].instance.state.len, originals[1].instance.state.len,
                 bench_seconds() - begin);
    bench_node_close(&node);
    pawl__arena_release(&keep);
    pawl__arena_release(&arena);
    free(page);
}

/* ---- in a process of its own --------------------------------------------------------------- */

struct found {
    double ready_ms;              /* store and runtime */
    double begun_mb, ready_mb;    /* before and after opening */
    double resumed_mb;            /* after the resumes */
    double instance_us, order_us; /* of a resume: to an instance, by correlation id */
    double look_us;               /* for work, when there is none */
};

static void resume(struct bench_node *node, unsigned number, bool by_order)
{
    char id[ID_LENGTH + 1], order[sizeof ORDER];
    struct pawl_stimulus to = {.hash = pawl__str("")};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_sent sent;

    (void)snprintf(id, sizeof id, "0190%08x7000800000000000%04x", number, number & 0xffff);
    (void)snprintf(order, sizeof order, "order-%09u", number);
    if (by_order)
        to.correlation_id = pawl__str(order);
    else
        to.instance_id = pawl__str(id);
    bench_need(pawl__runtime_send_event(node->runtime, pawl__str("paid"), NULL, &to, &sent,
                                        bench_later(node->env), &err),
               &err, "event");
    if (sent.resumed != 1)
        bench_fail("event", "it met no bookmark, or several");
    (void)bench_work_for_event(node);
}

/* The middle of the times of some resumes, spread over all instances; each turn has its own. */
static double time_resumes(struct bench_node *node, unsigned count, unsigned turn, bool by_order)
{
    unsigned groups = count / 4 / TURNS, resumes = groups < RESUMES ? groups : RESUMES;
    double times[RESUMES];

    for (unsigned i = 0; i < resumes; i++) {
        unsigned group = (unsigned)((uint64_t)i * groups / resumes) * TURNS + turn;
        unsigned number = group * 4 + (by_order ? 2 : 0);
        double begin = bench_seconds();

        resume(node, number, by_order);
        times[i] = (bench_seconds() - begin) * 1e6;
    }
    return bench_median(times, resumes);
}

static double time_looks(struct bench_node *node)
{
    double times[RESUMES];

    for (unsigned i = 0; i < RESUMES; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_worked worked;
        double begin = bench_seconds();

        bench_need(pawl__runtime_work(node->runtime, 1, &worked, bench_later(node->env), &err),
                   &err, "work");
        times[i] = (bench_seconds() - begin) * 1e6;
    }
    return bench_median(times, RESUMES);
}

/* An instance that could not be resumed would have been set aside, in no time. */
static void check_resumed(struct bench_node *node)
{
    const struct pawl_condition put_off = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "retry_us"), .compare = PAWL_NE};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &put_off,
                                     .condition_count = 1};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    struct pawl_rows rows;

    pawl__arena_init(&arena, &node->env->alloc, (size_t)1 << 20);
    bench_need(pawl_store_find(node->store, &query, &arena, &rows, bench_later(node->env), &err),
               &err, "find");
    pawl__arena_release(&arena);
    if (rows.total > 0)
        bench_fail("resume", "instances were set aside");
}

static int be_node(const char *uri, unsigned count, unsigned turn)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env = NULL;
    struct bench_node node;
    struct found f = {0};
    double begin;

    bench_need(pawl_system_env_open(&env, &err), &err, "environment");
    f.begun_mb = bench_anonymous_mb();
    begin = bench_seconds();
    bench_node_open(&node, env, open_store(env, uri), 1);
    f.ready_ms = (bench_seconds() - begin) * 1e3;
    f.ready_mb = bench_anonymous_mb();
    f.look_us = time_looks(&node);
    f.instance_us = time_resumes(&node, count, turn, false);
    f.order_us = time_resumes(&node, count, turn, true);
    f.resumed_mb = bench_anonymous_mb();
    check_resumed(&node);
    (void)printf("%f %f %f %f %f %f %f\n", f.ready_ms, f.begun_mb, f.ready_mb, f.resumed_mb,
                 f.look_us, f.instance_us, f.order_us);
    bench_node_close(&node);
    pawl_system_env_close(env);
    return 0;
}

static struct found ask_node(const char *uri, unsigned count, unsigned turn)
{
    struct found f = {0};
    char command[700], self[300];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    FILE *pipe;

    if (length <= 0)
        bench_fail("/proc/self/exe", "cannot be read");
    self[length] = '\0';
    (void)snprintf(command, sizeof command, "'%s' --node '%s' %u %u", self, uri, count, turn);
    pipe = popen(command, "r"); // NOLINT(cert-env33-c): our own path and our own words
    if (!pipe || fscanf(pipe, "%lf %lf %lf %lf %lf %lf %lf", &f.ready_ms, &f.begun_mb, &f.ready_mb,
                        &f.resumed_mb, &f.look_us, &f.instance_us, &f.order_us) != 7)
        bench_fail("node", "it did not tell its figures");
    if (pclose(pipe) != 0)
        bench_fail("node", "it did not end well");
    return f;
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

/* Times are the least of both, memory the newer. */
static void merge(struct found *best, const struct found *next)
{
    struct found f = *next;

    f.ready_ms = less(best->ready_ms, next->ready_ms);
    f.instance_us = less(best->instance_us, next->instance_us);
    f.order_us = less(best->order_us, next->order_us);
    f.look_us = less(best->look_us, next->look_us);
    *best = f;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static bool told(const char *name, const char *unit, double few, double many, double most)
{
    bool met = most <= 0 || many <= most;

    (void)printf("  %-34s %10.2f %10.2f %-3s", name, few, many, unit);
    if (most > 0)
        (void)printf("  <= %.0f %s", most, met ? "met" : "MISSED");
    (void)printf("\n");
    return met;
}

/* Few cannot take much longer than many: then the machine was busier, and nothing is shown. */
static bool told_ratio(const char *name, double few, double many)
{
    double ratio = few > 0 ? many / few : 0;
    const char *verdict = ratio > SLOWER_MAX ? "MISSED" : ratio * SLOWER_MAX < 1 ? "open" : "met";

    (void)printf("  %-34s %10.0f %10.0f us   %.2f times, <= %.1f %s\n", name, few, many, ratio,
                 SLOWER_MAX, verdict);
    return ratio <= SLOWER_MAX;
}

static bool measure_lists(struct pawl_env *env, const char *uri)
{
    struct pawl_store *store = open_store(env, uri);
    bool met = lists_measure(env, store);

    pawl_store_close(store);
    return met;
}

static bool compare(struct pawl_env *env, const char *few_uri, const char *many_uri, unsigned count)
{
    struct found few, many;
    bool met;

    fill(env, few_uri, COUNT_SMALL);
    fill(env, many_uri, count);
    few = ask_node(few_uri, COUNT_SMALL, 0);
    many = ask_node(many_uri, count, 0);
    for (unsigned turn = 1; turn < TURNS; turn++) {
        struct found next = ask_node(few_uri, COUNT_SMALL, turn);

        merge(&few, &next);
        next = ask_node(many_uri, count, turn);
        merge(&many, &next);
    }
    (void)printf("  %-34s %10u %10u\n", "instances", COUNT_SMALL, count);
    met = told("store and runtime ready", "ms", few.ready_ms, many.ready_ms, READY_MS_MAX);
    (void)told("memory before", "MB", few.begun_mb, many.begun_mb, 0);
    met &= told("memory when ready", "MB", few.ready_mb, many.ready_mb, few.ready_mb + MB_MAX);
    (void)told("memory after the resumes", "MB", few.resumed_mb, many.resumed_mb, 0);
    met &= told_ratio("a look for work, nothing due", few.look_us, many.look_us);
    met &= told_ratio("resume, sent to the instance", few.instance_us, many.instance_us);
    met &= told_ratio("resume, by correlation id", few.order_us, many.order_us);
    return measure_lists(env, many_uri) && met;
}

static bool run_sqlite(struct pawl_env *env, unsigned count)
{
    struct bench_folder few, many;
    char few_path[300], many_path[300];
    bool met;

    bench_folder_make(&few);
    bench_folder_make(&many);
    (void)snprintf(few_path, sizeof few_path, "%s/pawl.db", few.path);
    (void)snprintf(many_path, sizeof many_path, "%s/pawl.db", many.path);
    (void)printf("SQLite\n");
    met = compare(env, few_path, many_path, count);
    (void)printf("  %-34s %10.1f %10.1f MB\n", "on disk", bench_folder_mb(&few),
                 bench_folder_mb(&many));
    bench_folder_remove(&few);
    bench_folder_remove(&many);
    return met;
}

static bool run_postgres(struct pawl_env *env, unsigned count)
{
    struct test_postgres server;
    char few[256], many[256];
    bool met;

    test_postgres_start(&server, NULL);
    test_postgres_sql(&server, "CREATE DATABASE few");
    test_postgres_sql(&server, "CREATE DATABASE many");
    (void)printf("PostgreSQL\n");
    met = compare(env, test_postgres_uri(&server, "few", few, sizeof few),
                  test_postgres_uri(&server, "many", many, sizeof many), count);
    test_postgres_stop(&server);
    return met;
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : COUNT_DEFAULT;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env = NULL;
    bool met = true;

    if (argc == 5 && strcmp(argv[1], "--node") == 0)
        return be_node(argv[2], (unsigned)strtoul(argv[3], NULL, 10),
                       (unsigned)strtoul(argv[4], NULL, 10));
    if (count < COUNT_SMALL)
        bench_fail("usage", "bench-million [COUNT [sqlite|postgres]], at least 100");
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    bench_need(pawl_system_env_open(&env, &err), &err, "environment");
    if (argc < 3 || strcmp(argv[2], "sqlite") == 0)
        met &= run_sqlite(env, count);
    if (argc < 3 || strcmp(argv[2], "postgres") == 0)
        met &= run_postgres(env, count);
    pawl_system_env_close(env);
    return met ? 0 : 1;
}
