/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three nodes, as an operator runs them, that are killed, paused, cut off and lied to about the
 * time while they do a few hundred orders; database and lock service are restarted under them.
 * Afterwards the store must say that everything was done once (workload.h).
 *
 * CHAOS_ORDERS and CHAOS_SECONDS make it longer (`make chaos`), CHAOS_SEED repeats a run, as far as
 * real processes can be repeated.
 */
#include "chaos/monkey.h"
#include "chaos/workload.h"
#include "cluster/places.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEASE "1s"
#define LEASE_NS SECOND
#define PATIENCE_S 60

struct ground {
    struct places *places;
    bool own_clocks; /* nodes are on machines of their own; a file of SQLite has one machine's */
    char store[PLACE_URI_MAX];
    char lock[NODE_URI_MAX];
};

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void restart_postgres(void *ctx)
{
    struct ground *ground = ctx;

    test_postgres_crash(&ground->places->server);
    test_postgres_restart(&ground->places->server);
}

static void name_nodes(const struct ground *ground, struct node *nodes)
{
    for (unsigned i = 0; i < NODES; i++) {
        struct node *node = &nodes[i];

        *node = (struct node){.lease = LEASE};
        (void)snprintf(node->name, sizeof node->name, "node-%u", i);
        (void)snprintf(node->store, sizeof node->store, "%s", ground->store);
        (void)snprintf(node->lock, sizeof node->lock, "%s", ground->lock);
        (void)snprintf(node->log, sizeof node->log, "%s/node-%u.log", ground->places->folder, i);
        (void)snprintf(node->clock, sizeof node->clock, "%s/node-%u.clock", ground->places->folder,
                       i);
        (void)unlink(node->log);
        if (!ground->own_clocks) {
            node->clock[0] = '\0';
            continue;
        }
        assert_true(node_set_clock(node, 0));
    }
}

struct sending {
    struct workload *load;
    struct monkey *monkey;
    int64_t until_ns;
};

/* Hands in the work; then, when it has lasted long enough, the torment ends. */
static void send_all(void *arg)
{
    struct sending *sending = arg;

    workload_send(sending->load);
    (void)!pawl_env_sleep_until(sending->monkey->env, sending->until_ns);
    sending->monkey->enough = true;
}

/*
 * The torment is this thread's: a process that was made by a thread which ends, and asked to end
 * with its parent, ends with the thread.
 */
static void torment(struct ground *ground, struct monkey *monkey)
{
    const struct stage_options client_options = {.uri = ground->store, .node = "client"};
    const struct stage_options witness_options = {.uri = ground->store, .node = "witness"};
    struct workload load = {.orders = setting("CHAOS_ORDERS", 150)};
    int64_t least_ns = (int64_t)setting("CHAOS_SECONDS", 12) * SECOND;
    struct sending sending = {.load = &load, .monkey = monkey};
    struct pawl_thread *sender, *watcher;
    struct stage client, looker;
    struct witness witness = {.load = &load};
    struct node nodes[NODES];

    print_message("# seed %llu, %u orders\n", (unsigned long long)monkey->random, load.orders);
    stage_open(&client, &client_options);
    stage_open(&looker, &witness_options);
    load.client = &client;
    witness.stage = &looker;
    witness.revisions = calloc(load.orders, sizeof *witness.revisions);
    assert_non_null(witness.revisions);
    workload_publish(&load);
    name_nodes(ground, nodes);
    for (unsigned i = 0; i < NODES; i++)
        assert_true(node_start(&nodes[i]));
    monkey->env = client.env;
    monkey->nodes = nodes;
    monkey->lease_ns = LEASE_NS;
    sending.until_ns = pawl_env_monotonic_ns(client.env) + least_ns;
    assert_ok(pawl_thread_start(client.env, "watch", witness_watch, &witness, &watcher, NULL),
              NULL);
    assert_ok(pawl_thread_start(client.env, "send", send_all, &sending, &sender, NULL), NULL);
    monkey_run(monkey);
    pawl_thread_join(client.env, sender);
    monkey_report(monkey);
    assert_ok(load.failure.code, &load.failure);
    workload_await_end(&load, PATIENCE_S);
    witness.enough = true;
    pawl_thread_join(client.env, watcher);
    for (unsigned i = 0; i < NODES; i++)
        node_stop(&nodes[i]);
    if (getenv("CHAOS_LOGS"))
        for (unsigned i = 0; i < NODES; i++)
            node_show_log(&nodes[i]);
    print_message("# all ended; handing in was repeated %u times; %u looks at all revisions\n",
                  load.retries, witness.looks);
    assert_true(witness.looks > 0);
    assert_int_equal(witness.gone_back, 0);
    workload_check(&load);
    stage_close(&looker);
    stage_close(&client);
    free(witness.revisions);
}

static void a_cluster_on_sqlite_with_file_locks_loses_and_repeats_nothing(void **state)
{
    struct ground ground = {.places = *state};
    struct monkey monkey = {.random = setting("CHAOS_SEED", 1), .ctx = &ground};

    (void)place_fresh(&ground.places->sqlite, ground.store);
    (void)snprintf(ground.lock, sizeof ground.lock, "file:%s/locks", ground.places->folder);
    torment(&ground, &monkey);
}

static void a_cluster_on_postgres_with_its_locks_loses_and_repeats_nothing(void **state)
{
    struct ground ground = {.places = *state};
    struct monkey monkey = {
        .random = setting("CHAOS_SEED", 2), .ctx = &ground, .restart_store = restart_postgres};

    ground.own_clocks = true;
    (void)place_fresh(&ground.places->postgres, ground.store);
    (void)snprintf(ground.lock, sizeof ground.lock, "%s", ground.store);
    torment(&ground, &monkey);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest sqlite[] = {
        cmocka_unit_test(a_cluster_on_sqlite_with_file_locks_loses_and_repeats_nothing)};
    const struct CMUnitTest postgres[] = {
        cmocka_unit_test(a_cluster_on_postgres_with_its_locks_loses_and_repeats_nothing)};
    const char *where = argc > 1 ? argv[1] : "";

    if (strcmp(where, "sqlite") == 0)
        return cmocka_run_group_tests_name("chaos/sqlite", sqlite, places_set_up, places_tear_down);
    if (strcmp(where, "postgres") == 0)
        return cmocka_run_group_tests_name("chaos/postgres", postgres, places_set_up,
                                           places_tear_down);
    (void)fprintf(stderr, "usage: %s sqlite|postgres\n", argv[0]);
    return 2;
}
