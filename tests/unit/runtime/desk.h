/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A committer on a memory store, with something between the two that counts calls, holds them back
 * and lets them fail; and writers that commit through it. Runs on the baton or on real threads.
 * Threads record, the test checks afterwards: cmocka's checks belong to the main thread.
 */
#ifndef PAWL_TESTS_UNIT_RUNTIME_DESK_H
#define PAWL_TESTS_UNIT_RUNTIME_DESK_H

#include "base/arena.h"
#include "base/buf.h"
#include "lib/test.h"
#include "os/baton.h"
#include "runtime/commit/committer.h"
#include "stores/stores.h"

#include <stdio.h>

#define DESK_OWNER 7
#define DESK_WRITERS_MAX 16
#define DESK_WRITES_MAX 64
#define DESK_MS_NS INT64_C(1000000)

struct desk;

/* Commits `count` times to an instance of its own, one more number each time; stops at the first
 * answer that is not PAWL_OK. */
struct writer {
    struct desk *desk;
    char id[16];
    int count;
    int64_t deadline_ns; /* of each, from when it is handed in */
    int answers[DESK_WRITES_MAX];
    int answer_count;
    struct pawl_error err; /* of the last */
};

struct desk {
    struct test_allocator alloc; /* of the baton: one thread at a time */
    struct pawl_baton *baton;    /* NULL: real threads */
    struct pawl_env *env;
    struct pawl_memory_database *database;
    struct pawl_store *plain; /* the database without anything between */
    struct pawl_store *store; /* what the committer has */
    struct pawl_committer *committer;
    struct pawl_committer_counts counts; /* at its end */
    struct writer writers[DESK_WRITERS_MAX];
    int writer_count;
    struct pawl_thread *threads[64]; /* all that desk_run() waits for */
    int thread_count;
    struct pawl_arena arena;
    struct pawl_error err;

    /* The nth call of the committer to the store, from 1, and all up to `fail_to`, fail so. Changed
     * and read by the committer's one thread. */
    int calls, fail_from, fail_to;
    enum pawl_store_fault how;
    void (*before_call)(struct desk *desk, int call); /* NULL: nothing */
    int meddled;                                      /* the worst that before_call met */
};

static inline bool desk_decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct desk *desk = ctx;
    int number = ++desk->calls;

    (void)call;
    if (desk->before_call)
        desk->before_call(desk, number);
    *how = desk->how;
    return number >= desk->fail_from && number <= desk->fail_to;
}

static inline void desk_open_store(struct desk *desk)
{
    struct pawl_store_fault_hooks hooks = {desk_decide, NULL, desk};

    pawl__arena_init(&desk->arena, &desk->env->alloc, (size_t)4 << 20);
    assert_ok(pawl__memory_database_new(desk->env, &desk->database, &desk->err), &desk->err);
    assert_ok(pawl__memory_store_open(desk->database, desk->env, &desk->plain, &desk->err),
              &desk->err);
    assert_ok(pawl__memory_store_open(desk->database, desk->env, &desk->store, &desk->err),
              &desk->err);
    assert_ok(pawl__fault_store_new(desk->env, desk->store, &hooks, &desk->store, &desk->err),
              &desk->err);
}

static inline void desk_open(struct desk *desk, uint64_t seed,
                             const struct pawl_committer_options *options)
{
    *desk = (struct desk){0};
    test_allocator_init(&desk->alloc);
    assert_ok(pawl__baton_new(&desk->alloc.base, seed, NULL, &desk->baton), NULL);
    assert_ok(pawl__baton_env(desk->baton, "node", &desk->env), NULL);
    desk_open_store(desk);
    assert_ok(pawl__committer_new(desk->env, desk->store, options, &desk->committer, &desk->err),
              &desk->err);
}

static inline void desk_close(struct desk *desk)
{
    pawl__committer_free(desk->committer);
    pawl_store_close(desk->store);
    pawl_store_close(desk->plain);
    pawl__memory_database_free(desk->database);
    pawl__arena_release(&desk->arena);
    if (desk->baton) {
        pawl__baton_free(desk->baton);
        assert_int_equal(desk->alloc.live_count, 0);
    } else {
        pawl_system_env_close(desk->env);
    }
}

static inline struct pawl_instance_row desk_row(const char *id)
{
    return (struct pawl_instance_row){.id = pawl__str(id),
                                      .definition_id = pawl__str("definition"),
                                      .status = pawl__str("Running"),
                                      .created_us = 1,
                                      .owner = DESK_OWNER,
                                      .fence = 1,
                                      .revision = 1,
                                      .state = pawl__str("0")};
}

/* Past the committer. */
static inline void desk_put(struct desk *desk, struct pawl_commit *commit)
{
    struct pawl_commit *commits[] = {commit};

    assert_ok(pawl_store_apply(desk->plain, commits, 1, PAWL_FOREVER, &desk->err), &desk->err);
    assert_code(commit->status, PAWL_OK);
}

static inline void desk_create(struct desk *desk, const char *id)
{
    struct pawl_instance_row row = desk_row(id);
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};

    desk_put(desk, &commit);
}

/* Everything of a table, in the desk's arena. */
static inline struct pawl_rows desk_read(struct desk *desk, enum pawl_table table)
{
    struct pawl_query query = {.table = table, .limit = 1000};
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(desk->plain, &query, &desk->arena, &rows, PAWL_FOREVER, &desk->err),
              &desk->err);
    return rows;
}

static inline struct pawl_instance_row desk_instance(struct desk *desk, const char *id)
{
    struct pawl_rows rows = desk_read(desk, PAWL_TABLE_INSTANCES);
    const struct pawl_instance_row *all = rows.rows;

    for (size_t i = 0; i < rows.count; i++)
        if (pawl__str_is(all[i].id, id))
            return all[i];
    return (struct pawl_instance_row){.id = pawl__str("")};
}

static inline void run_writer(void *arg)
{
    struct writer *writer = arg;
    struct desk *desk = writer->desk;
    struct pawl_instance_row row = desk_row(writer->id);
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};
    char state[DESK_WRITES_MAX * 4];
    size_t used = 1;
    int status = PAWL_OK;

    state[0] = '0';
    for (int i = 0; i < writer->count && status == PAWL_OK; i++) {
        int64_t now_ns = pawl_env_monotonic_ns(desk->env);
        int printed = snprintf(state + used, sizeof state - used, ",%d", i + 1);

        row.state = pawl__str_make(state, used + (size_t)printed);
        status = pawl__committer_commit(
            desk->committer, &commit,
            writer->deadline_ns == PAWL_FOREVER ? PAWL_FOREVER : now_ns + writer->deadline_ns,
            &writer->err);
        writer->answers[writer->answer_count++] = status;
        /* The committer works on a copy: what becomes of ours now must not matter. */
        if (status != PAWL_OK)
            memset(state, 'x', sizeof state);
        used += (size_t)printed;
        row.revision++;
    }
}

static inline void desk_start(struct desk *desk, const char *name, void (*run)(void *arg),
                              void *arg)
{
    assert_ok(pawl_thread_start(desk->env, name, run, arg, &desk->threads[desk->thread_count],
                                &desk->err),
              &desk->err);
    desk->thread_count++;
}

static inline struct writer *desk_add_writer(struct desk *desk, int count, int64_t deadline_ns)
{
    struct writer *writer = &desk->writers[desk->writer_count];

    *writer = (struct writer){.desk = desk, .count = count, .deadline_ns = deadline_ns};
    (void)snprintf(writer->id, sizeof writer->id, "instance-%d", desk->writer_count++);
    desk_create(desk, writer->id);
    desk_start(desk, "writer", run_writer, writer);
    return writer;
}

static inline void end_committer(void *arg)
{
    struct desk *desk = arg;

    pawl__committer_counts(desk->committer, &desk->counts);
    pawl__committer_free(desk->committer);
    desk->committer = NULL;
}

static inline void join_and_end(void *arg)
{
    struct desk *desk = arg;

    for (int i = 0; i < desk->thread_count; i++)
        pawl_thread_join(desk->env, desk->threads[i]);
    end_committer(desk);
}

/* Lets all threads run to their ends, and then the committer. */
static inline void desk_run(struct desk *desk)
{
    struct pawl_thread *thread;

    assert_ok(pawl_thread_start(desk->env, "end", join_and_end, desk, &thread, &desk->err),
              &desk->err);
    assert_ok(pawl__baton_run(desk->baton, &desk->err), &desk->err);
    pawl_thread_join(desk->env, thread);
}

/* A commit by a thread of its own. */
struct request {
    struct desk *desk;
    struct pawl_commit commit;
    int64_t deadline_ns;
    int answer;
    struct pawl_error err;
};

static inline void run_request(void *arg)
{
    struct request *request = arg;

    request->answer = pawl__committer_commit(request->desk->committer, &request->commit,
                                             request->deadline_ns, &request->err);
}

static inline void start_request(struct desk *desk, struct request *request)
{
    request->desk = desk;
    if (request->deadline_ns == 0)
        request->deadline_ns = PAWL_FOREVER;
    desk_start(desk, "request", run_request, request);
}

/* What the writer was told is what is stored. */
static inline void desk_check_writer(struct desk *desk, const struct writer *writer)
{
    struct pawl_instance_row row = desk_instance(desk, writer->id);
    int64_t done = 0;
    bool unknown = false;
    char expected[DESK_WRITES_MAX * 4] = "0";
    size_t used = 1;

    for (int i = 0; i < writer->answer_count; i++) {
        done += writer->answers[i] == PAWL_OK;
        unknown = unknown || writer->answers[i] == PAWL_EUNKNOWN;
    }
    if (row.revision != 1 + done && !(unknown && row.revision == 2 + done))
        fail_msg("%s: %lld were acknowledged, the last answer is %s, and %lld are stored",
                 writer->id, (long long)done,
                 pawl_error_name(writer->answers[writer->answer_count - 1]),
                 (long long)row.revision - 1);
    for (int i = 1; i < row.revision; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, ",%d", i);
    assert_str(row.state, expected);
}

#endif
