/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races that only a database with READ COMMITTED has: an instance commits a bookmark, and an event
 * that matches it is parked, side by side. Each looks for the other before the other is visible.
 *
 * Two nodes are on one PostgreSQL, one has the instance and the other one sends the event. Gates
 * let their transactions run up to the end and hold them there, uncommitted, until the test opens
 * the gate. A gate is a deferred trigger, which runs when everything else of the transaction has
 * run.
 *
 * What would hide a lost wake-up is out of reach: pools do not look by time, and the second look at
 * a parked event, a second later, is put off for an hour. So an event is delivered only by who
 * commits last and finds what the other one has written, and by a listener that is told of it.
 */
#include "cluster/places.h"
#include "lib/rig.h"
#include "lib/test.h"
#include "runtime/node/pool.h"
#include "runtime/runtime.h"
#include "stores/stores.h"

#include "activities/activities.h"
#include "expressions/expressions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
/* Only what hangs takes so long. */
#define PATIENCE_NS (60 * SECOND_NS)
/* Between looks of a pool that nothing wakes: never, as far as this test goes. */
#define IDLE_NS (3600 * SECOND_NS)
#define LOOK_NS (SECOND_NS / 100)

/* Who comes to a gate; also the key of the advisory lock that shows that somebody is there. */
enum gate { GATE_BOOKMARK = 71001, GATE_PARKED = 71002 };

#define GATES                                                                                      \
    "CREATE TABLE gates (id bigint);"                                                              \
    "CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "                 \
    "IF EXISTS (SELECT FROM gates WHERE id = TG_ARGV[0]::bigint) THEN "                            \
    "PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint); "                                   \
    "WHILE EXISTS (SELECT FROM gates WHERE id = TG_ARGV[0]::bigint) LOOP "                         \
    "PERFORM pg_sleep(0.005); END LOOP; END IF; RETURN NULL; END $$;"                              \
    "CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON pawl_bookmarks DEFERRABLE INITIALLY DEFERRED " \
    "FOR EACH ROW EXECUTE FUNCTION wait_at_gate('71001');"                                         \
    "CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON pawl_work DEFERRABLE INITIALLY DEFERRED "      \
    "FOR EACH ROW WHEN (NEW.due_us = 9223372036854775807) "                                        \
    "EXECUTE FUNCTION wait_at_gate('71002');"                                                      \
    "CREATE FUNCTION put_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "                      \
    "NEW.due_us := NEW.due_us + 3600000000; RETURN NEW; END $$;"                                   \
    "CREATE TRIGGER put_off BEFORE INSERT ON pawl_work "                                           \
    "FOR EACH ROW WHEN (NEW.kind = '" PAWL_WORK_RECHECK "') EXECUTE FUNCTION put_off();"

#define WAITER                                                                                     \
    "{'definitionId':'waiter','id':'waiter:1','version':1,'root':" RIG_SEQUENCE(                   \
        "s", RIG_EVENT("e", "Go")) "}"

enum node_number { OWNER, SENDER, NODES };

struct member {
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_pool *pool;
};

/* To whom the event goes. */
enum address { TO_ANY, TO_CORRELATED, TO_INSTANCE, ADDRESSES };

struct fixture {
    struct places *places;
    char uri[PLACE_URI_MAX];
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_error err;
    struct member nodes[NODES];
    /* Of one race: */
    char id[32];
    enum address address;
    int started, sent;
    bool parked;
};

static int64_t later(const struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + PATIENCE_NS;
}

/* ---- gates ----------------------------------------------------------------------------------- */

static void run_sql(struct fixture *f, const char *sql)
{
    char text[4096];

    (void)snprintf(text, sizeof text, "SET search_path = s%u; %s", f->places->schemas, sql);
    test_postgres_sql(&f->places->server, text);
}

static void close_gate(struct fixture *f, enum gate gate)
{
    char sql[64];

    (void)snprintf(sql, sizeof sql, "INSERT INTO gates VALUES (%d)", (int)gate);
    run_sql(f, sql);
}

static void open_gate(struct fixture *f, enum gate gate)
{
    char sql[64];

    (void)snprintf(sql, sizeof sql, "DELETE FROM gates WHERE id = %d", (int)gate);
    run_sql(f, sql);
}

/* Until `condition` holds at the server; fails after a minute. */
static void await_sql(struct fixture *f, const char *condition)
{
    char sql[512];

    (void)snprintf(sql, sizeof sql,
                   "DO $$ BEGIN FOR i IN 1..6000 LOOP IF %s THEN RETURN; END IF; "
                   "PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; "
                   "RAISE 'it does not come to that'; END $$",
                   condition);
    run_sql(f, sql);
}

static void await_at_gate(struct fixture *f, enum gate gate)
{
    char condition[160];

    (void)snprintf(condition, sizeof condition,
                   "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %d)",
                   (int)gate);
    await_sql(f, condition);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void open_node(struct fixture *f, enum node_number number)
{
    static const char *const names[NODES] = {"owner", "sender"};
    const struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE, .connections = 3};
    const struct pawl_runtime_options options = {.node_id = pawl__str(names[number])};
    const struct pawl_pool_options pool = {.workers = 1, .idle_ns_max = IDLE_NS};
    struct member *node = &f->nodes[number];

    assert_ok(pawl__postgres_store_open(f->env, pawl__str(f->uri), &create, &node->store, &f->err),
              &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, node->store, &options, &node->runtime, &f->err),
        &f->err);
    assert_ok(pawl__pool_open(f->env, node->runtime, &pool, &node->pool, &f->err), &f->err);
}

static void publish(struct fixture *f)
{
    struct pawl_definitions *all = pawl__runtime_definitions(f->nodes[OWNER].runtime);
    struct pawl_str text = pawl__arena_str(&f->arena, pawl__str(WAITER));
    struct pawl_definition_row row;
    struct pawl_publication said;
    struct pawl_json json;

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\'')
            ((char *)(uintptr_t)text.ptr)[i] = '"';
    assert_ok(pawl__json_parse(&f->arena, text, NULL, &json, NULL, &f->err), &f->err);
    assert_ok(pawl__definitions_import(all, &json, &f->arena, &row, later(f), &f->err), &f->err);
    assert_ok(pawl__definitions_publish(all, row.id, &f->arena, &said, later(f), &f->err), &f->err);
    assert_true(said.succeeded);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    void *places = NULL;

    assert_non_null(f);
    assert_int_equal(places_set_up(&places), 0);
    f->places = places;
    (void)place_fresh(&f->places->postgres, f->uri);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_ok(pawl__activities_register(&f->engine), NULL);
    assert_ok(pawl__expressions_register(&f->engine), NULL);
    for (int i = 0; i < NODES; i++)
        open_node(f, (enum node_number)i);
    publish(f);
    run_sql(f, GATES);
    /* A listener that is connected during a race looks for all it may have missed. */
    await_sql(f, "(SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN pawl') >= 2");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    void *places = f->places;

    for (int i = 0; i < NODES; i++)
        pawl__pool_stop(f->nodes[i].pool);
    run_sql(f, "NOTIFY pawl"); /* nothing else wakes them */
    for (int i = 0; i < NODES; i++) {
        pawl__pool_close(f->nodes[i].pool);
        pawl__runtime_close(f->nodes[i].runtime);
        pawl_store_close(f->nodes[i].store);
    }
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    assert_int_equal(places_tear_down(&places), 0);
    free(f);
    return 0;
}

/* ---- one race -------------------------------------------------------------------------------- */

static void start_instance(void *arg)
{
    struct fixture *f = arg;
    const struct pawl_start start = {.definition_id = pawl__str("waiter"),
                                     .instance_id = pawl__str(f->id),
                                     .correlation_id = pawl__str(f->id)};
    struct pawl_outcome outcome;

    f->started = pawl__runtime_start(f->nodes[OWNER].runtime, &start, &outcome, later(f), NULL);
}

static void send_event(void *arg)
{
    struct fixture *f = arg;
    struct pawl_stimulus stimulus = {0};
    struct pawl_sent sent = {0};

    if (f->address == TO_CORRELATED)
        stimulus.correlation_id = pawl__str(f->id);
    if (f->address == TO_INSTANCE)
        stimulus.instance_id = pawl__str(f->id);
    f->sent = pawl__runtime_send_event(f->nodes[SENDER].runtime, pawl__str("Go"), NULL, &stimulus,
                                       &sent, later(f), NULL);
    f->parked = sent.parked;
}

static struct pawl_thread *begin(struct fixture *f, const char *name, void (*body)(void *))
{
    struct pawl_thread *thread;

    assert_ok(pawl_thread_start(f->env, name, body, f, &thread, &f->err), &f->err);
    return thread;
}

/* The event was parked, and has reached the instance all the same. */
static void await_delivery(struct fixture *f, const char *order)
{
    int64_t give_up_ns = later(f);
    bool finished = false;

    assert_ok(f->started, NULL);
    assert_ok(f->sent, NULL);
    assert_true(f->parked);
    while (!finished) {
        struct pawl_instance_row row;

        pawl__arena_reset(&f->arena);
        assert_ok(pawl__runtime_show(f->nodes[SENDER].runtime, pawl__str(f->id), &f->arena, &row,
                                     NULL, later(f), &f->err),
                  &f->err);
        finished = pawl__str_is(row.status, "Finished");
        if (!finished && pawl_env_monotonic_ns(f->env) > give_up_ns)
            fail_msg("%s: the event to %s is parked for ever", order, f->id);
        if (!finished)
            assert_code(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + LOOK_NS),
                        PAWL_OK);
    }
}

static void prepare(struct fixture *f, const char *order, enum address address)
{
    f->address = address;
    f->started = f->sent = PAWL_EINTERNAL;
    f->parked = false;
    (void)snprintf(f->id, sizeof f->id, "%s-%d", order, (int)address);
}

/* ---- the orders ------------------------------------------------------------------------------ */

static void an_event_parked_before_its_bookmark_is_visible_is_delivered(void **state)
{
    struct fixture *f = *state;

    for (int address = 0; address < ADDRESSES; address++) {
        struct pawl_thread *owner;

        prepare(f, "bookmark-last", (enum address)address);
        close_gate(f, GATE_BOOKMARK);
        owner = begin(f, "owner", start_instance);
        await_at_gate(f, GATE_BOOKMARK);
        send_event(f); /* from the first look to the last */
        open_gate(f, GATE_BOOKMARK);
        pawl_thread_join(f->env, owner);
        await_delivery(f, "bookmark last");
    }
}

static void an_event_that_is_parked_after_its_bookmark_was_committed_is_delivered(void **state)
{
    struct fixture *f = *state;

    for (int address = 0; address < ADDRESSES; address++) {
        struct pawl_thread *sender;

        prepare(f, "parked-last", (enum address)address);
        close_gate(f, GATE_PARKED);
        sender = begin(f, "sender", send_event);
        await_at_gate(f, GATE_PARKED);
        start_instance(f); /* to its end, with all that wakes others */
        open_gate(f, GATE_PARKED);
        pawl_thread_join(f->env, sender);
        await_delivery(f, "parked last");
    }
}

static void race_both(struct fixture *f, enum gate first, const char *order)
{
    for (int address = 0; address < ADDRESSES; address++) {
        struct pawl_thread *owner, *sender;
        bool bookmark_first = first == GATE_BOOKMARK;

        prepare(f, order, (enum address)address);
        close_gate(f, GATE_BOOKMARK);
        close_gate(f, GATE_PARKED);
        owner = begin(f, "owner", start_instance);
        sender = begin(f, "sender", send_event);
        await_at_gate(f, GATE_BOOKMARK);
        await_at_gate(f, GATE_PARKED);
        open_gate(f, first);
        pawl_thread_join(f->env, bookmark_first ? owner : sender);
        open_gate(f, bookmark_first ? GATE_PARKED : GATE_BOOKMARK);
        pawl_thread_join(f->env, bookmark_first ? sender : owner);
        await_delivery(f, order);
    }
}

static void of_two_that_cannot_see_each_other_the_second_to_commit_finds_the_first(void **state)
{
    race_both(*state, GATE_BOOKMARK, "both-bookmark-first");
    race_both(*state, GATE_PARKED, "both-parked-first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_parked_before_its_bookmark_is_visible_is_delivered),
        cmocka_unit_test(an_event_that_is_parked_after_its_bookmark_was_committed_is_delivered),
        cmocka_unit_test(of_two_that_cannot_see_each_other_the_second_to_commit_finds_the_first),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
