/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stimulus on a cluster of two nodes, as a trace: every lock, claim, run and commit in the
 * order in which they happen. docs/internals/distributed.md has the same chains in words.
 *
 * A line is written when the thing has happened; a release, when it is asked for. So a release in
 * front of a commit, a commit without the lock, or a lock that nobody takes is another trace.
 */
#include "engine/context.h"
#include "runtime/node/pool.h"
#include "unit/distributed/members.h"

#define QUEUE PAWL_DISTRIBUTED_QUEUE_LOCK

/* ---- the trace ------------------------------------------------------------------------------- */

/* Activities have no context of the test's; one test runs at a time. */
static struct {
    pthread_mutex_t mutex;
    char text[16384];
    unsigned refused; /* attempts at a lock */
} trace = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The last line; "" if there is none. With the mutex held. */
static char *last_line(void)
{
    char *end = trace.text + strlen(trace.text), *at = end;

    if (at > trace.text)
        at--; /* its own end */
    while (at > trace.text && at[-1] != '\n')
        at--;
    return at;
}

static void note(const char *node, const char *what, struct pawl_str which)
{
    char line[256], unused[256];
    char *last;

    (void)snprintf(line, sizeof line, "%s %s %.*s\n", node, what, PAWL_STR_ARG(which));
    (void)snprintf(unused, sizeof unused, "%s lock %.*s\n", node, PAWL_STR_ARG(which));
    (void)pthread_mutex_lock(&trace.mutex);
    last = last_line();
    if (strcmp(what, "refused") == 0)
        trace.refused++;
    /* A turn that found nothing leaves no line, and a refusal that is repeated only one. */
    if (strcmp(what, "release") == 0 && strcmp(last, unused) == 0)
        *last = '\0';
    else if (strcmp(what, "refused") != 0 || trace.refused == 1)
        (void)snprintf(trace.text + strlen(trace.text), sizeof trace.text - strlen(trace.text),
                       "%s", line);
    (void)pthread_mutex_unlock(&trace.mutex);
}

static void trace_reset(void)
{
    (void)pthread_mutex_lock(&trace.mutex);
    trace.text[0] = '\0';
    trace.refused = 0;
    (void)pthread_mutex_unlock(&trace.mutex);
}

static unsigned refusals(void)
{
    unsigned count;

    (void)pthread_mutex_lock(&trace.mutex);
    count = trace.refused;
    (void)pthread_mutex_unlock(&trace.mutex);
    return count;
}

static int mark_execute(struct pawl_context *context)
{
    note("-", "run", pawl__instance_id(context));
    return PAWL_OK;
}

static const struct pawl_activity mark_activity = {
    .type = "Test.Mark",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Test",
    .description = "Writes a line of the trace.",
    .execute = mark_execute,
};

/* ---- what is traced -------------------------------------------------------------------------- */

/* Tables of functions with some of them replaced; they are found by the table that was called. */
struct traced_locks {
    struct pawl_lock_provider_ops ops; /* first */
    const struct pawl_lock_provider_ops *real;
    const char *node;
};

struct traced_store {
    struct pawl_store_ops ops; /* first */
    const struct pawl_store_ops *real;
    const char *node;
};

static const struct traced_locks *locks_of(const struct pawl_lock_provider *provider)
{
    return (const struct traced_locks *)(const void *)provider->ops;
}

static const struct traced_store *store_of(const struct pawl_store *store)
{
    return (const struct traced_store *)(const void *)store->ops;
}

static int traced_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                      int64_t deadline_ns, struct pawl_error *err)
{
    const struct traced_locks *traced = locks_of(provider);
    int status = traced->real->try_(provider, grant, deadline_ns, err);

    note(traced->node, status == PAWL_OK ? "lock" : "refused", grant->name);
    return status;
}

static int traced_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                          int64_t deadline_ns, struct pawl_error *err)
{
    const struct traced_locks *traced = locks_of(provider);

    note(traced->node, "release", grant->name);
    return traced->real->release(provider, grant, deadline_ns, err);
}

static int traced_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                        size_t count, struct pawl_arena *arena, int64_t *now_us,
                        int64_t deadline_ns, struct pawl_error *err)
{
    const struct traced_store *traced = store_of(store);
    int status = traced->real->claim(store, owner, claims, count, arena, now_us, deadline_ns, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        note(traced->node, claims[i].status == PAWL_OK ? "claim" : "claim refused", claims[i].id);
    return status;
}

/* The instance's row, and each piece of work that is left for later. */
static void note_commit(const char *node, const struct pawl_commit *commit)
{
    if (commit->kind == PAWL_COMMIT_CREATE)
        note(node, "create", commit->instance->id);
    else if (commit->kind == PAWL_COMMIT_ADVANCE)
        note(node, "commit", commit->instance->id);
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];

        if (change->table == PAWL_TABLE_WORK && change->kind != PAWL_CHANGE_DELETE)
            note(node, "leave", ((const struct pawl_work_row *)change->row)->kind);
    }
}

static int traced_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                        int64_t deadline_ns, struct pawl_error *err)
{
    const struct traced_store *traced = store_of(store);
    int status = traced->real->apply(store, commits, count, deadline_ns, err);

    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        if (commits[i]->status == PAWL_OK)
            note_commit(traced->node, commits[i]);
    }
    return status;
}

static int traced_take(struct pawl_store *store, const struct pawl_take *take,
                       struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    const struct traced_store *traced = store_of(store);
    int status = traced->real->take(store, take, arena, out, deadline_ns, err);

    for (size_t i = 0; status == PAWL_OK && i < out->work_count; i++)
        note(traced->node, "take", out->work[i].kind);
    return status;
}

/* ---- a cluster ------------------------------------------------------------------------------- */

/* A node as the host composes it: distributed runtime, guard and queue worker, one lock service. */
struct traced_node {
    struct traced_locks traced_locks;
    struct traced_store traced_store;
    struct pawl_locks *locks;
    struct pawl_store *store;
    struct pawl_workflow_runtime *runtime;
    struct pawl_queue_worker *queue;
    struct pawl_pool *pool;
};

struct stage {
    struct fixture *f;
    struct pawl_lock_space *space;
    struct traced_node one, two;
};

static void open_locks(struct stage *s, struct traced_node *node, const char *id)
{
    struct pawl_lock_provider *provider;

    assert_ok(pawl__memory_locks_open(s->space, s->f->env, 0, &provider, &s->f->err), &s->f->err);
    node->traced_locks = (struct traced_locks){*provider->ops, provider->ops, id};
    node->traced_locks.ops.try_ = traced_try;
    node->traced_locks.ops.release = traced_release;
    provider->ops = &node->traced_locks.ops;
    assert_ok(pawl__locks_new(s->f->env, provider, NULL, &node->locks, &s->f->err), &s->f->err);
}

static void open_store(struct stage *s, struct traced_node *node, const char *id)
{
    assert_ok(pawl__memory_store_open(s->f->database, s->f->env, &node->store, &s->f->err),
              &s->f->err);
    node->traced_store = (struct traced_store){*node->store->ops, node->store->ops, id};
    node->traced_store.ops.claim = traced_claim;
    node->traced_store.ops.apply = traced_apply;
    node->traced_store.ops.take = traced_take;
    node->store->ops = &node->traced_store.ops;
}

static void open_node(struct stage *s, struct traced_node *node, const char *id)
{
    struct pawl_runtime_options options = {.node_id = pawl__str(id)};
    struct pawl_distribution distribution;
    struct pawl_workflow_runtime *local;
    struct pawl_runtime *inner;
    struct fixture *f = s->f;

    open_locks(s, node, id);
    open_store(s, node, id);
    pawl__distribution_init(&distribution, f->env, node->locks);
    distribution.patience_ns = PAWL_FOREVER; /* nobody loses it however long a test takes */
    assert_ok(pawl__distributed_guard_new(&distribution, &options.guard, &f->err), &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, node->store, &options, &inner, &f->err),
              &f->err);
    assert_ok(pawl__local_workflow_runtime_new(f->env, inner, &local, &f->err), &f->err);
    assert_ok(pawl__distributed_workflow_runtime_new(f->env, local, options.guard, &node->runtime,
                                                     &f->err),
              &f->err);
    assert_ok(pawl__distributed_queue_worker_new(&distribution, &node->queue, &f->err), &f->err);
}

static void close_node(struct traced_node *node)
{
    pawl__pool_close(node->pool);
    pawl__queue_worker_close(node->queue);
    pawl__workflow_runtime_close(node->runtime);
    pawl_store_close(node->store);
    pawl__locks_free(node->locks);
}

static int open_stage(void **state)
{
    struct stage *s = calloc(1, sizeof *s);
    void *fixture;

    assert_non_null(s);
    assert_int_equal(set_up_running(&fixture), 0);
    s->f = fixture;
    assert_int_equal(pawl__engine_add_activity(&s->f->engine, &mark_activity), PAWL_OK);
    assert_ok(pawl__lock_space_new(s->f->env, &s->space, &s->f->err), &s->f->err);
    open_node(s, &s->one, "one");
    open_node(s, &s->two, "two");
    *state = s;
    return 0;
}

static int close_stage(void **state)
{
    struct stage *s = *state;
    void *fixture = s->f;

    close_node(&s->one);
    close_node(&s->two);
    pawl__lock_space_free(s->space);
    assert_int_equal(tear_down(&fixture), 0);
    free(s);
    return 0;
}

/* One thread, so that pieces of work are done in the order in which they are taken. */
static void put_to_work(struct stage *s, struct traced_node *node)
{
    const struct pawl_pool_options options = {.workers = 1, .queue = node->queue};

    assert_ok(pawl__pool_open(s->f->env, node->runtime->node, &options, &node->pool, &s->f->err),
              &s->f->err);
}

static void send_go(struct stage *s, struct traced_node *node)
{
    assert_ok(pawl__runtime_send_event(node->runtime->node, pawl__str("Go"), NULL, NULL, NULL,
                                       later(s->f), &s->f->err),
              &s->f->err);
}

static struct pawl_workflow_client *make_client(struct stage *s, struct traced_node *node,
                                                const char *id)
{
    struct pawl_workflow_client *client;

    assert_ok(pawl__workflow_runtime_client(node->runtime, pawl__str(id), &client, &s->f->err),
              &s->f->err);
    return client;
}

/* Only a hang exceeds the minute. */
static void wait_a_little(struct stage *s, int64_t until_ns)
{
    assert_true(pawl_env_monotonic_ns(s->f->env) < until_ns);
    assert_ok(pawl_env_sleep_until(s->f->env, pawl_env_monotonic_ns(s->f->env) + MS), NULL);
}

static void wait_finished(struct stage *s, uint64_t many)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "sub_status"),
        .value = {.text = pawl__str("Finished")}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    const int64_t until_ns = later(s->f);
    struct pawl_rows rows = {0};

    for (;;) {
        assert_ok(pawl_store_find(s->f->a.store, &query, &s->f->arena, &rows, until_ns, &s->f->err),
                  &s->f->err);
        if (rows.total == many)
            return;
        wait_a_little(s, until_ns);
    }
}

static void wait_refused(struct stage *s, unsigned many)
{
    const int64_t until_ns = later(s->f);

    while (refusals() < many)
        wait_a_little(s, until_ns);
}

/* The instance of a definition, which has one. */
static const char *instance_of(struct stage *s, const char *definition_id)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
        .value = {.text = pawl__str(definition_id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1, .limit = 2};
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(s->f->a.store, &query, &s->f->arena, &rows, later(s->f), &s->f->err),
              &s->f->err);
    assert_int_equal(rows.count, 1);
    return pawl__arena_str(&s->f->arena, ((const struct pawl_instance_row *)rows.rows)->id).ptr;
}

/* All of it, in this order. `expected` has $ where the instance's id is. */
static void assert_trace(const char *expected, const char *id)
{
    static char text[sizeof trace.text], seen[sizeof trace.text];
    size_t len = 0;

    for (const char *at = expected; *at; at++) {
        if (*at == '$')
            len += (size_t)snprintf(text + len, sizeof text - len, "%s", id);
        else
            text[len++] = *at;
        assert_true(len < sizeof text);
    }
    text[len] = '\0';
    (void)pthread_mutex_lock(&trace.mutex);
    memcpy(seen, trace.text, sizeof seen);
    (void)pthread_mutex_unlock(&trace.mutex);
    assert_string_equal(seen, text);
}

/* ---- chains ---------------------------------------------------------------------------------- */

#define MARK "{'id':'m','type':'Test.Mark'}"
#define PLAIN DEFINITION("plain", "", MARK)
#define STARTED DEFINITION("started", "", TRIGGER("t", "Go") "," MARK)
#define WAITING DEFINITION("waiting", "", RIG_EVENT("e", "Go") "," MARK)

static void by_trigger_the_new_instance_runs_under_its_lock(void **state)
{
    struct stage *s = *state;

    publish(s->f, STARTED);
    trace_reset();
    send_go(s, &s->one);
    put_to_work(s, &s->two);
    wait_finished(s, 1);
    pawl__pool_close(s->two.pool);
    s->two.pool = NULL;
    assert_trace("one leave start\n" /* accepted and matched: from here on nothing is lost */
                 "two lock " QUEUE "\n"
                 "two take start\n"
                 "two release " QUEUE "\n" /* before anything runs */
                 "two lock workflow-instance:$\n"
                 "- run $\n"
                 "two create $\n" /* the first commit: the row and the end of the start */
                 "two release workflow-instance:$\n",
                 instance_of(s, "started"));
}

static void by_bookmark_the_instance_is_claimed_and_runs_under_its_lock(void **state)
{
    struct stage *s = *state;
    struct pawl_workflow_client *client;
    const struct pawl_start start = {.definition_id = pawl__str("waiting")};
    struct pawl_outcome outcome;

    publish(s->f, WAITING);
    client = make_client(s, &s->one, "");
    assert_ok(
        pawl__workflow_client_create_and_run(client, &start, &outcome, later(s->f), &s->f->err),
        &s->f->err);
    pawl__workflow_client_close(client);
    trace_reset();
    send_go(s, &s->one);
    put_to_work(s, &s->two); /* not the node that ran it before */
    wait_finished(s, 1);
    pawl__pool_close(s->two.pool);
    s->two.pool = NULL;
    assert_trace("one leave resume\n" /* mail for the instance with the bookmark */
                 "two lock " QUEUE "\n"
                 "two take resume\n"
                 "two release " QUEUE "\n"
                 "two lock workflow-instance:$\n"
                 "two claim $\n"
                 "- run $\n"
                 "two commit $\n" /* and the claim is released with it */
                 "two release workflow-instance:$\n",
                 outcome.instance_id);
}

/* ---- clients --------------------------------------------------------------------------------- */

static void a_client_creates_without_the_lock_and_runs_under_it(void **state)
{
    struct stage *s = *state;
    const struct pawl_start start = {.definition_id = pawl__str("plain")};
    const struct pawl_run run = {0};
    struct pawl_workflow_client *client;
    struct pawl_outcome outcome;

    publish(s->f, PLAIN);
    trace_reset();
    client = make_client(s, &s->one, "");
    note("one", "client", pawl__str(client->instance_id));
    assert_ok(pawl__workflow_client_create(client, &start, &outcome, later(s->f), &s->f->err),
              &s->f->err);
    assert_ok(pawl__workflow_client_run(client, &run, &outcome, later(s->f), &s->f->err),
              &s->f->err);
    assert_trace("one client $\n"
                 "one create $\n"
                 "one lock workflow-instance:$\n"
                 "one claim $\n"
                 "- run $\n"
                 "one commit $\n"
                 "one release workflow-instance:$\n",
                 client->instance_id);
    pawl__workflow_client_close(client);
}

/* As the reference: the row appears with the first commit of the burst. */
static void a_client_that_creates_and_runs_locks_around_the_run(void **state)
{
    struct stage *s = *state;
    const struct pawl_start start = {.definition_id = pawl__str("started"),
                                     .trigger_activity_id = pawl__str("t")};
    struct pawl_workflow_client *client;
    struct pawl_outcome outcome;

    publish(s->f, STARTED);
    trace_reset();
    client = make_client(s, &s->one, "");
    note("one", "client", pawl__str(client->instance_id));
    assert_ok(
        pawl__workflow_client_create_and_run(client, &start, &outcome, later(s->f), &s->f->err),
        &s->f->err);
    assert_trace("one client $\n"
                 "one lock workflow-instance:$\n"
                 "- run $\n"
                 "one create $\n"
                 "one release workflow-instance:$\n",
                 client->instance_id);
    pawl__workflow_client_close(client);
}

/* ---- the queue worker ------------------------------------------------------------------------ */

static void a_queue_worker_skips_while_another_node_has_the_lock(void **state)
{
    struct stage *s = *state;
    struct pawl_queue_turn turn;

    publish(s->f, STARTED);
    trace_reset();
    assert_ok(pawl__queue_worker_begin(s->one.queue, &turn, later(s->f), &s->f->err), &s->f->err);
    send_go(s, &s->one);
    put_to_work(s, &s->two);
    wait_refused(s, 3); /* it asks again, and takes nothing */
    assert_trace("one lock " QUEUE "\n"
                 "one leave start\n"
                 "two refused " QUEUE "\n",
                 "");
    assert_int_equal(count(s->f, PAWL_TABLE_INSTANCES), 0);
    pawl__queue_worker_end(s->one.queue, &turn);
    wait_finished(s, 1);
    pawl__pool_close(s->two.pool);
    s->two.pool = NULL;
    assert_trace("one lock " QUEUE "\n"
                 "one leave start\n"
                 "two refused " QUEUE "\n"
                 "one release " QUEUE "\n"
                 "two lock " QUEUE "\n"
                 "two take start\n"
                 "two release " QUEUE "\n"
                 "two lock workflow-instance:$\n"
                 "- run $\n"
                 "two create $\n"
                 "two release workflow-instance:$\n",
                 instance_of(s, "started"));
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(by_trigger_the_new_instance_runs_under_its_lock),
        STAGE_TEST(by_bookmark_the_instance_is_claimed_and_runs_under_its_lock),
        STAGE_TEST(a_client_creates_without_the_lock_and_runs_under_it),
        STAGE_TEST(a_client_that_creates_and_runs_locks_around_the_run),
        STAGE_TEST(a_queue_worker_skips_while_another_node_has_the_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
