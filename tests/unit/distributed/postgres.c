/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster on one PostgreSQL, composed as a user would: locks come with claims and cost no round
 * trip, and they are seen by whoever asks the server.
 */
#include "servers/postgres.h"
#include "host/features.h"
#include "lib/rig.h"
#include "locks/locks.h"
#include "runtime/node/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOW                                                                                       \
    "{\"definitionId\":\"d\",\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\",\"activities\":["   \
    "{\"id\":\"e\",\"type\":\"Elsa.Event\",\"eventName\":{\"typeName\":\"String\",\"expression\":" \
    "{\"type\":\"Literal\",\"value\":\"Go\"}}},"                                                   \
    "{\"id\":\"f\",\"type\":\"Elsa.Event\",\"eventName\":{\"typeName\":\"String\",\"expression\":" \
    "{\"type\":\"Literal\",\"value\":\"On\"}}}]}}"

struct fixture {
    struct test_postgres server;
    char uri[256];
    struct pawl_env *env;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_arena arena;
    struct pawl_error err;
};

static void set(struct fixture *f, enum pawl_setting_id id, const char *text)
{
    assert_ok(pawl__configuration_set(&f->configuration, id, pawl__str(text), PAWL_ORIGIN_OPTION,
                                      "test", &f->err),
              &f->err);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    test_postgres_start(&f->server, NULL);
    (void)test_postgres_uri(&f->server, "postgres", f->uri, sizeof f->uri);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)16 << 20);
    pawl__configuration_init(&f->configuration, &f->env->alloc);
    set(f, PAWL_SETTING_ID_STORE, f->uri);
    set(f, PAWL_SETTING_ID_DISTRIBUTED, "true");
    /* Also how long a refused lock is respected: nothing here outlasts it. */
    set(f, PAWL_SETTING_ID_NODE_LEASE, "1h");
    assert_ok(pawl__host_new(f->env, &f->configuration, &f->host, &f->err), &f->err);
    pawl__host_set_surroundings(f->host, &(struct pawl_surroundings){.works_itself = true});
    assert_ok(pawl__host_compose(f->host, &f->err), &f->err);
    assert_ok(pawl__host_start(f->host, &f->err), &f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl__host_free(f->host);
    pawl__configuration_release(&f->configuration);
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + INT64_C(30000000000);
}

static void publish(struct fixture *f)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(pawl__host_node(f->host));
    struct pawl_definition_row row;
    struct pawl_publication said;
    struct pawl_json json;

    assert_ok(pawl__json_parse(&f->arena, pawl__str(FLOW), NULL, &json, NULL, &f->err), &f->err);
    assert_ok(pawl__definitions_import(definitions, &json, &f->arena, &row, soon(f), &f->err),
              &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, soon(f), &f->err),
              &f->err);
}

static struct pawl_str bookmark(struct fixture *f, const char *instance_id)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"),
        .value = {.text = pawl__str(instance_id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_BOOKMARKS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(
        pawl_store_find(pawl__host_store(f->host), &query, &f->arena, &rows, soon(f), &f->err),
        &f->err);
    assert_int_equal(rows.count, 1);
    return ((const struct pawl_bookmark_row *)rows.rows)->id;
}

static int64_t round_trips(struct fixture *f)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(pawl__host_store(f->host), &status, soon(f), &f->err), &f->err);
    return status.round_trips;
}

static void start(struct fixture *f, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(pawl__host_node(f->host), &what, &outcome, soon(f), &f->err),
              &f->err);
}

static void resume(struct fixture *f, const char *id, struct pawl_str bookmark_id)
{
    const struct pawl_run run = {.bookmark_id = bookmark_id};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_run(pawl__host_node(f->host), pawl__str(id), &run, &outcome, soon(f),
                                &f->err),
              &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_SUSPENDED);
}

/* Asking for the status is one; this node may do other things meanwhile: the fewest of several. */
static void a_resume_costs_two_round_trips_lock_included(void **state)
{
    struct fixture *f = *state;
    struct pawl_locks *locks = pawl__host_locks(f->host);
    struct pawl_locks_counts counts;
    int64_t fewest = INT64_MAX;

    publish(f);
    for (int i = 0; i < 100 && (i < 5 || fewest > 2); i++) {
        struct pawl_str at;
        int64_t before;
        char id[16];

        (void)snprintf(id, sizeof id, "i%d", i);
        start(f, id);
        at = bookmark(f, id);
        before = round_trips(f);
        resume(f, id, at);
        before = round_trips(f) - before - 1;
        fewest = before < fewest ? before : fewest;
    }
    print_message("# %lld round trips for a resume\n", (long long)fewest);
    assert_true(fewest <= 2);
    pawl__locks_counts(locks, &counts);
    assert_int_equal(counts.granted, 0); /* the claims took them */
}

/* The look for triggers and bookmarks is one, then the claim and the commit; before that, the start
 * of the instance is one. Counted as above. */
static void an_event_by_name_costs_three_round_trips_lock_included(void **state)
{
    struct fixture *f = *state;
    int64_t fewest = INT64_MAX, fewest_whole = INT64_MAX;

    publish(f);
    for (int i = 0; i < 100 && (i < 5 || fewest > 3 || fewest_whole > 4); i++) {
        struct pawl_sent sent;
        int64_t begin = round_trips(f), before, whole;

        start(f, "");
        before = round_trips(f);
        assert_ok(pawl__runtime_send_event(pawl__host_node(f->host), pawl__str("Go"), NULL, NULL,
                                           &sent, soon(f), &f->err),
                  &f->err);
        whole = round_trips(f);
        before = whole - before - 1;
        fewest = before < fewest ? before : fewest;
        whole -= begin + 2;
        fewest_whole = whole < fewest_whole ? whole : fewest_whole;
        assert_int_equal(sent.started, 0);
        assert_int_equal(sent.resumed, 1);
    }
    print_message("# %lld round trips for an event by name, %lld with the start\n",
                  (long long)fewest, (long long)fewest_whole);
    assert_int_equal(fewest, 3);
    assert_int_equal(fewest_whole, 4);
}

/* Somebody who locks the same name elsewhere is heard: as a node of the other kind would be. */
static void the_lock_of_a_ticket_is_the_one_that_others_take(void **state)
{
    struct fixture *f = *state;
    struct pawl_locks *locks = pawl__host_locks(f->host);
    const struct pawl_run on = {.bookmark_id = pawl__str("none")};
    struct pawl_outcome outcome;
    struct pawl_lock lock;
    int64_t ms = 200;
    int status;

    start(f, "held");
    assert_ok(pawl__locks_try(locks, pawl__str("workflow-instance:held"), 0, &lock, &f->err),
              &f->err);
    do { /* a server that is slower than that leaves it open: then with more time */
        status = pawl__runtime_run(pawl__host_node(f->host), pawl__str("held"), &on, &outcome,
                                   pawl_env_monotonic_ns(f->env) + ms * 1000000, &f->err);
        ms *= 2;
    } while (status == PAWL_EUNKNOWN);
    assert_code(status, PAWL_ETIMEDOUT);
    assert_ok(pawl__locks_release(locks, lock, &f->err), &f->err);
    assert_ok(pawl__runtime_run(pawl__host_node(f->host), pawl__str("held"), &on, &outcome, soon(f),
                                &f->err),
              &f->err);
}

static void locks_of_one_host_are_refused_on_a_store_of_many(void **state)
{
    struct fixture *f = *state;
    struct pawl_host *host;

    pawl__host_stop(f->host);
    set(f, PAWL_SETTING_ID_LOCK, "file:/tmp");
    assert_ok(pawl__host_new(f->env, &f->configuration, &host, &f->err), &f->err);
    assert_ok(pawl__host_compose(host, &f->err), &f->err);
    assert_code(pawl__host_start(host, &f->err), PAWL_EINVAL);
    assert_non_null(
        strstr(f->err.msg, "locks of kind 'file' are not visible to the other machines"));
    pawl__host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resume_costs_two_round_trips_lock_included),
        cmocka_unit_test(an_event_by_name_costs_three_round_trips_lock_included),
        cmocka_unit_test(the_lock_of_a_ticket_is_the_one_that_others_take),
        cmocka_unit_test(locks_of_one_host_are_refused_on_a_store_of_many),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
