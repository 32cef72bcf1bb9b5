/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the tests of operations on one kind of store: test-operations memory|sqlite|postgres. With
 * "recordings": those that compare with what a live Elsa said, on a store in memory; skipped where
 * there are no recordings.
 */
#include "operations/desk.h"

#include "host/features.h"
#include "host/host.h"
#include "os/file.h"
#include "runtime/runtime.h"
#include "servers/postgres.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TESTS_MAX 256
#define ARENA_BYTES_MAX ((size_t)512 << 20)
#define DEADLINE_NS INT64_C(600000000000)

const char desk_waits[] =
    "{\"definitionId\":\"waits\",\"name\":\"Waits\",\"root\":{\"id\":\"e\",\"type\":\"Elsa.Event\","
    "\"eventName\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":\"Go\"}}"
    "}}";
const char desk_ends[] =
    "{\"definitionId\":\"ends\",\"name\":\"Ends\",\"root\":{\"id\":\"w\",\"type\":\"Elsa."
    "WriteLine\",\"text\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":"
    "\"hello\"}}}}";
const char desk_faults[] =
    "{\"definitionId\":\"faults\",\"name\":\"Faults\",\"root\":{\"id\":\"f\",\"type\":\"Elsa."
    "Fault\",\"message\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":"
    "\"broken\"}}}}";

/* ---- stores --------------------------------------------------------------------------------- */

static const char *kind;
static struct test_postgres server;
static unsigned stores_made;

static void new_store(char *uri, size_t size, char *folder)
{
    char base[256], sql[64];

    folder[0] = '\0';
    if (strcmp(kind, "memory") == 0 || strcmp(kind, "recordings") == 0) {
        (void)snprintf(uri, size, "memory:");
    } else if (strcmp(kind, "sqlite") == 0) {
        (void)snprintf(folder, 64, "%s/pawl-operations-XXXXXX", test_fast_folder());
        assert_non_null(mkdtemp(folder));
        (void)snprintf(uri, size, "sqlite:%s/store.db", folder);
    } else {
        if (server.daemon.pid == 0)
            test_postgres_start(&server, NULL);
        (void)snprintf(sql, sizeof sql, "CREATE SCHEMA t%u", stores_made);
        test_postgres_sql(&server, sql);
        (void)snprintf(uri, size, "%s?options=-csearch_path%%3Dt%u",
                       test_postgres_uri(&server, "postgres", base, sizeof base), stores_made);
    }
    stores_made++;
}

static void remove_store(const char *folder)
{
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm"};
    char path[128];

    if (!*folder)
        return;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* ---- a store that fails ------------------------------------------------------------------ */

static bool loses_answer(struct desk *desk, enum pawl_store_fault *how)
{
    if (atomic_load(&desk->lost_applies) <= 0)
        return false;
    atomic_fetch_sub(&desk->lost_applies, 1);
    if (desk->losing)
        desk->losing(desk);
    *how = atomic_load(&desk->is_dropped) ? PAWL_STORE_FAULT_CRASH : PAWL_STORE_FAULT_AFTER;
    return true;
}

/* Commits pass: they would be tried again for seconds. */
static bool fails_on(struct desk *desk, enum pawl_store_call call)
{
    return call != PAWL_STORE_CALL_APPLY && !atomic_load(&desk->fault_is_once);
}

/* Calls of the node's other threads do not count, but fail too; its commits are made by one. */
static bool has_fault(struct desk *desk, enum pawl_store_call call, enum pawl_store_fault *how)
{
    int left = atomic_load(&desk->calls_before_fault);

    *how = PAWL_STORE_FAULT_BEFORE;
    if (left == DESK_NO_FAULT || call == PAWL_STORE_CALL_LEASE || call == PAWL_STORE_CALL_WAIT)
        return false;
    if (!pthread_equal(pthread_self(), desk->thread) && call != PAWL_STORE_CALL_APPLY)
        return left < 0 && fails_on(desk, call);
    left = atomic_fetch_sub(&desk->calls_before_fault, 1);
    if (left == 0 && atomic_load(&desk->fault_is_lost))
        *how = PAWL_STORE_FAULT_AFTER;
    return left == 0 || (left < 0 && fails_on(desk, call));
}

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct desk *desk = ctx;
    int left = atomic_load(&desk->commits_before_failure);

    if (has_fault(desk, call, how))
        return true;
    *how = PAWL_STORE_FAULT_BEFORE;
    if (call == PAWL_STORE_CALL_APPLY) {
        if (left > 0)
            atomic_fetch_sub(&desk->commits_before_failure, 1);
        return loses_answer(desk, how);
    }
    if (call != PAWL_STORE_CALL_FIND)
        return false;
    if (!pthread_equal(pthread_self(), desk->thread))
        return left == 0;
    atomic_fetch_add(&desk->finds, 1);
    if (desk->clock)
        pawl__clock_env_advance(desk->clock, desk->find_ns);
    if (atomic_load(&desk->finds_failed) > 0) {
        atomic_fetch_sub(&desk->finds_failed, 1);
        return true;
    }
    return left == 0;
}

static int drop(void *ctx, enum pawl_store_call call)
{
    (void)ctx;
    (void)call;
    return PAWL_EUNKNOWN;
}

static int wrap_store(struct pawl_host *host, void *ctx, void *inner, void **outer,
                      struct pawl_error *err)
{
    struct desk *desk = ctx;
    const struct pawl_store_fault_hooks hooks = {decide, drop, desk};
    struct pawl_store *store = NULL;
    int status = pawl__fault_store_new(pawl__host_env(host), inner, &hooks, &store, err);

    desk->store = inner;
    *outer = store;
    return status;
}

static void close_store(void *ctx, void *outer)
{
    (void)ctx;
    pawl_store_close(outer);
}

/* ---- one test ------------------------------------------------------------------------------- */

static void use_own_clock(struct desk *desk)
{
    assert_int_equal(
        pawl__clock_env_open(desk->system, NULL, pawl_env_wall_ns(desk->system), &desk->clock),
        PAWL_OK);
    desk->env = pawl__clock_env(desk->clock);
}

static void open_desk(struct desk *desk, const char *uri, const struct desk_test *test)
{
    memset(desk, 0, sizeof *desk);
    atomic_init(&desk->commits_before_failure, -1);
    atomic_init(&desk->calls_before_fault, DESK_NO_FAULT);
    atomic_init(&desk->finds_failed, 0);
    atomic_init(&desk->finds, 0);
    desk->thread = pthread_self();
    assert_ok(pawl_system_env_open(&desk->system, &desk->err), &desk->err);
    desk->env = desk->system;
    if (test->own_clock)
        use_own_clock(desk);
    pawl__arena_init(&desk->arena, &desk->env->alloc, ARENA_BYTES_MAX);
    pawl__configuration_init(&desk->configuration, &desk->env->alloc);
    assert_ok(pawl__configuration_set(&desk->configuration, PAWL_SETTING_ID_STORE, pawl__str(uri),
                                      PAWL_ORIGIN_OPTION, "test", &desk->err),
              &desk->err);
    if (test->setting)
        assert_ok(
            pawl__configuration_set_pair(&desk->configuration, test->setting, "test", &desk->err),
            &desk->err);
    assert_ok(pawl__host_new(desk->env, &desk->configuration, &desk->host, &desk->err), &desk->err);
    pawl__host_set_surroundings(desk->host, &(struct pawl_surroundings){.transient = true});
    assert_ok(pawl__host_compose(desk->host, &desk->err), &desk->err);
    desk->faults = (struct pawl_service_decorator){"fault", wrap_store, close_store, desk};
    assert_ok(pawl__host_decorate(desk->host, PAWL_SLOT_STORE, &desk->faults, &desk->err),
              &desk->err);
    assert_ok(pawl__host_start(desk->host, &desk->err), &desk->err);
    desk->op = (struct pawl_op){.host = desk->host,
                                .arena = &desk->arena,
                                .deadline_ns = pawl_env_monotonic_ns(desk->env) + DEADLINE_NS,
                                .err = &desk->err,
                                .actor = pawl__str("test"),
                                .door = pawl__str("test")};
}

static void close_desk(struct desk *desk)
{
    pawl__host_free(desk->host);
    pawl__configuration_release(&desk->configuration);
    pawl__arena_release(&desk->arena);
    pawl__clock_env_close(desk->clock);
    pawl_system_env_close(desk->system);
}

static void run_one(void **state)
{
    const struct desk_test *test = *state;
    char uri[320], folder[64];
    struct desk desk;

    if (test->memory_only && strcmp(kind, "memory") != 0)
        skip();
    new_store(uri, sizeof uri, folder);
    open_desk(&desk, uri, test);
    test->run(&desk);
    close_desk(&desk);
    remove_store(folder);
}

void desk_publish(struct desk *desk, const char *json)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(pawl__host_node(desk->host));
    struct pawl_publication said;
    struct pawl_definition_row row;
    struct pawl_json parsed;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(json), NULL, &parsed, NULL, &desk->err),
              &desk->err);
    assert_ok(pawl__definitions_import(definitions, &parsed, &desk->arena, &row,
                                       desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &desk->arena, &said,
                                        desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_true(said.succeeded);
}

struct pawl_str desk_start(struct desk *desk, const char *definition_id, const char *instance_id,
                           const char *correlation_id, const char *name)
{
    const struct pawl_start start = {.definition_id = pawl__str(definition_id),
                                     .instance_id = pawl__str(instance_id),
                                     .correlation_id = pawl__str(correlation_id),
                                     .name = pawl__str(name)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(pawl__host_node(desk->host), &start, &outcome,
                                  desk->op.deadline_ns, &desk->err),
              &desk->err);
    return pawl__arena_str(&desk->arena, pawl__str(outcome.instance_id));
}

void desk_damage(struct desk *desk, const char *instance_id)
{
    struct pawl_store *store = pawl__host_store(desk->host);
    struct pawl_claim claim = {.id = pawl__str(instance_id)};
    struct pawl_instance_row row;
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .instance = &row, .flags = PAWL_COMMIT_RELEASE};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    assert_ok(pawl_store_claim(store, pawl__runtime_incarnation(pawl__host_node(desk->host)),
                               &claim, 1, &desk->arena, &now_us, desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_code(claim.status, PAWL_OK);
    row = claim.row;
    row.state = pawl__str("damaged");
    assert_ok(pawl_store_apply(store, commits, 1, desk->op.deadline_ns, &desk->err), &desk->err);
    assert_code(commit.status, PAWL_OK);
}

void desk_drain(struct desk *desk)
{
    struct pawl_worked worked;

    assert_ok(
        pawl__runtime_drain(pawl__host_node(desk->host), &worked, desk->op.deadline_ns, &desk->err),
        &desk->err);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const struct desk_test *const lists[] = {definition_tests,
                                                definition_change_tests,
                                                definition_model_tests,
                                                instance_tests,
                                                instance_one_tests,
                                                audit_tests,
                                                identity_tests,
                                                journal_tests,
                                                node_tests,
                                                trial_tests,
                                                work_tests,
                                                operator_tests,
                                                stored_tests,
                                                wait_tests};
static const struct desk_test *const recordings[] = {definition_recording_tests};

static size_t add_tests(const struct desk_test *list, struct CMUnitTest *tests, size_t count)
{
    for (const struct desk_test *test = list; test->name; test++) {
        assert_true(count < TESTS_MAX);
        tests[count++] = (struct CMUnitTest){
            .name = test->name, .test_func = run_one, .initial_state = (void *)(uintptr_t)test};
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[TESTS_MAX];
    size_t count = 0;
    int failures;

    kind = argc > 1 ? argv[1] : "memory";
    if (strcmp(kind, "recordings") == 0) {
        if (access(TEST_RECORDINGS_DIR "/golden/api", R_OK) != 0) {
            (void)printf("1..0 # SKIP no recordings at %s/golden/api\n", TEST_RECORDINGS_DIR);
            return 0;
        }
        for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++)
            count = add_tests(recordings[i], tests, count);
    } else {
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
            count = add_tests(lists[i], tests, count);
    }
    failures = _cmocka_run_group_tests(kind, tests, count, NULL, NULL);
    test_postgres_stop(&server);
    return failures;
}
