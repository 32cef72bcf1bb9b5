/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three nodes, as an operator runs them, that are killed, paused, cut off and lied to about the
 * time while they do a few hundred orders; database and lock service are restarted under them, or
 * the database fails over to its standby.
 * Afterwards the store must say that everything was done once (workload.h).
 *
 * Orders come as long as there are faults, and each kind of fault hits some of them. CHAOS_ORDERS,
 * CHAOS_SECONDS and CHAOS_FAULTS (of each kind) make it longer (`make chaos`), CHAOS_SEED repeats a
 * run, as far as real processes can be repeated.
 */
#include "chaos/keyless.h"
#include "chaos/monkey.h"
#include "chaos/workload.h"
#include "cluster/places.h"
#include "lib/proxy.h"
#include "lib/test.h"
#include "servers/redis.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEASE "1s"
#define LEASE_NS SECOND
#define PATIENCE_S 60
#define STALL_MS 300

struct ground {
    struct places *places;
    struct test_redis redis;
    /* The places' server and another: one is the primary, and the other one is its standby. */
    struct test_postgres second;
    bool second_is_primary;
    struct test_http *target; /* of requests; NULL: none are sent */
    /* Nodes reach servers through these; NULL: there is none, and they are not cut off. */
    struct test_proxy *store_proxies[NODES];
    struct test_proxy *lock_proxies[NODES];
    struct test_proxy *keyless_proxy;
    bool own_clocks; /* nodes are on machines of their own; a file of SQLite has one machine's */
    char store[PLACE_URI_MAX];
    char lock[NODE_URI_MAX];
};

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* What was committed in the last moments without waiting for the log is lost. */
static void restart_postgres(void *ctx)
{
    struct ground *ground = ctx;

    test_postgres_stall_writer(&ground->places->server);
    (void)poll(NULL, 0, STALL_MS);
    test_postgres_kill(&ground->places->server);
    test_postgres_restart(&ground->places->server);
}

/* Another one for each commit. */
static uint64_t seed(unsigned ground)
{
    return setting("CHAOS_SEED", (unsigned)(test_rotation() % 1000000) * 10 + ground);
}

static void restart_redis(void *ctx)
{
    struct ground *ground = ctx;

    test_redis_crash(&ground->redis);
    test_redis_restart(&ground->redis);
}

static struct test_postgres *primary_of(struct ground *ground)
{
    return ground->second_is_primary ? &ground->second : &ground->places->server;
}

static struct test_postgres *standby_of(struct ground *ground)
{
    return ground->second_is_primary ? &ground->places->server : &ground->second;
}

static void crash_primary(void *ctx)
{
    test_postgres_crash(primary_of(ctx));
}

static void promote_standby(void *ctx)
{
    struct ground *ground = ctx;

    test_postgres_promote(standby_of(ground));
    ground->second_is_primary = !ground->second_is_primary;
}

/* What was committed before anybody had to wait for the standby is there, too. */
static void rely_on_standby(const struct test_postgres *primary)
{
    test_postgres_require_standbys(primary, true);
    test_postgres_catch_up(primary);
}

static void add_standby(void *ctx)
{
    test_postgres_replace_by_standby(standby_of(ctx), primary_of(ctx));
    rely_on_standby(primary_of(ctx));
}

static void set_proxies(struct ground *ground, unsigned node, enum test_proxy_manner manner)
{
    if (ground->store_proxies[node])
        test_proxy_set(ground->store_proxies[node], manner);
    if (ground->lock_proxies[node])
        test_proxy_set(ground->lock_proxies[node], manner);
}

/* As by a firewall that drops what it sees: nobody is told that the other one is gone. */
static void cut(void *ctx, unsigned node)
{
    set_proxies(ctx, node, TEST_PROXY_HANG);
}

/* What was on its way arrives now, late: the other side must know that it is void. */
static void mend(void *ctx, unsigned node)
{
    struct ground *ground = ctx;

    set_proxies(ground, node, TEST_PROXY_PASS);
    test_proxy_limit(ground->store_proxies[node], SIZE_MAX);
}

/* A batch is sent in pieces; the server has begun with it, and has locked what it is about. */
static bool halve(void *ctx, unsigned node, size_t bytes)
{
    struct ground *ground = ctx;

    test_proxy_limit(ground->store_proxies[node], bytes);
    return test_proxy_holds_within(ground->store_proxies[node], 1000);
}

/* What it sends takes effect, and it does not hear of it. */
static void mute(void *ctx, bool muted)
{
    struct ground *ground = ctx;

    test_proxy_set(ground->keyless_proxy, muted ? TEST_PROXY_MUTE : TEST_PROXY_PASS);
}

static void open_proxies(struct test_proxy **proxies, uint16_t port)
{
    for (unsigned i = 0; i < NODES; i++)
        proxies[i] = test_proxy_start(port);
}

static void close_proxies(struct ground *ground)
{
    for (unsigned i = 0; i < NODES; i++) {
        test_proxy_stop(ground->store_proxies[i]);
        test_proxy_stop(ground->lock_proxies[i]);
    }
    test_proxy_stop(ground->keyless_proxy);
}

/* `uri` with the port of the proxy in place of the server's. */
static void through(const struct test_proxy *proxy, const char *uri, uint16_t port, char *out,
                    size_t size)
{
    char from[16];
    const char *at;
    int len;

    (void)snprintf(from, sizeof from, ":%u", (unsigned)port);
    at = proxy ? strstr(uri, from) : NULL;
    if (at)
        len = snprintf(out, size, "%.*s:%u%s", (int)(at - uri), uri,
                       (unsigned)test_proxy_port(proxy), at + strlen(from));
    else
        len = snprintf(out, size, "%s", uri);
    assert_true(len > 0 && (size_t)len < size);
}

static void name_nodes(const struct ground *ground, struct node *nodes)
{
    for (unsigned i = 0; i < NODES; i++) {
        struct node *node = &nodes[i];

        *node = (struct node){.lease = LEASE};
        (void)snprintf(node->name, sizeof node->name, "node-%u", i);
        through(ground->store_proxies[i], ground->store, ground->places->server.port, node->store,
                sizeof node->store);
        through(ground->lock_proxies[i] ? ground->lock_proxies[i] : ground->store_proxies[i],
                ground->lock,
                ground->lock_proxies[i] ? ground->redis.port : ground->places->server.port,
                node->lock, sizeof node->lock);
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

/* Long enough to have started and joined, also on a busy machine. */
static bool left_alone(void *ctx, unsigned node)
{
    return monkey_left_alone(ctx, node, 2 * LEASE_NS);
}

static bool was_disturbed(void *ctx, int64_t from_us, int64_t to_us)
{
    return monkey_has_disturbed(ctx, from_us, to_us);
}

struct sending {
    struct monkey *monkey;
    int64_t until_ns;
};

/* Ends the faults when the run has lasted long enough; the work ends after them. */
static void end_in_time(void *arg)
{
    struct sending *sending = arg;

    (void)!pawl_env_sleep_until(sending->monkey->env, sending->until_ns);
    sending->monkey->enough = true;
}

/*
 * Faults are injected on this thread: a process that is started by a thread and asked to end
 * with its parent would end when that thread ends.
 */
static void run_under_faults(struct ground *ground, struct monkey *monkey)
{
    const struct stage_options client_options = {.uri = ground->store, .node = "client"};
    const struct stage_options witness_options = {.uri = ground->store, .node = "witness"};
    struct workload load = {.orders = setting("CHAOS_ORDERS", 150), .target = ground->target};
    int64_t least_ns = (int64_t)setting("CHAOS_SECONDS", 10) * SECOND;
    struct sending sending = {.monkey = monkey};
    struct pawl_thread *sender, *timer, *watcher, *keyless_sender;
    char keyless_uri[NODE_URI_MAX];
    struct keyless keyless = {.uri = keyless_uri, .lease_us = LEASE_NS / 1000};
    struct stage client, looker;
    struct witness witness = {.load = &load, .left_alone = left_alone, .ctx = monkey};
    struct node nodes[NODES];

    print_message("# seed %llu, %u orders\n", (unsigned long long)monkey->random, load.orders);
    stage_open(&client, &client_options);
    stage_open(&looker, &witness_options);
    load.client = &client;
    witness.stage = &looker;
    load.was_disturbed = was_disturbed;
    load.ctx = monkey;
    load.orders_max = 20 * load.orders;
    load.pace_ns = least_ns / load.orders / 3;
    witness.revisions = calloc(load.orders_max, sizeof *witness.revisions);
    assert_non_null(witness.revisions);
    through(ground->keyless_proxy, ground->store, ground->places->server.port, keyless_uri,
            sizeof keyless_uri);
    keyless.client = &client;
    workload_publish(&load);
    keyless_publish(&keyless);
    name_nodes(ground, nodes);
    for (unsigned i = 0; i < NODES; i++)
        assert_true(node_start(&nodes[i]));
    monkey->env = client.env;
    for (unsigned i = 0; i < NODES; i++)
        monkey->calm_since_ns[i] = pawl_env_monotonic_ns(client.env);
    monkey->nodes = nodes;
    monkey->lease_ns = LEASE_NS;
    monkey->least = setting("CHAOS_FAULTS", monkey->least ? monkey->least : 1);
    monkey->is_busy = workload_is_busy;
    monkey->busy_ctx = &load;
    monkey->give_up_ns = pawl_env_monotonic_ns(client.env) + 10 * least_ns;
    sending.until_ns = pawl_env_monotonic_ns(client.env) + least_ns;
    assert_ok(pawl_thread_start(client.env, "watch", witness_watch, &witness, &watcher, NULL),
              NULL);
    assert_ok(pawl_thread_start(client.env, "send", workload_send, &load, &sender, NULL), NULL);
    assert_ok(pawl_thread_start(client.env, "timer", end_in_time, &sending, &timer, NULL), NULL);
    assert_ok(
        pawl_thread_start(client.env, "keyless", keyless_send, &keyless, &keyless_sender, NULL),
        NULL);
    monkey_run(monkey);
    load.enough = true;
    pawl_thread_join(client.env, timer);
    pawl_thread_join(client.env, sender);
    keyless.enough = true;
    pawl_thread_join(client.env, keyless_sender);
    monkey_report(monkey);
    assert_ok(load.failure.code, &load.failure);
    workload_await_end(&load, PATIENCE_S);
    keyless_check(&keyless, PATIENCE_S);
    witness.enough = true;
    pawl_thread_join(client.env, watcher);
    for (unsigned i = 0; i < NODES; i++)
        node_stop(&nodes[i]);
    for (unsigned i = 0; i < NODES; i++)
        assert_int_equal(nodes[i].surprises, 0);
    if (getenv("CHAOS_LOGS"))
        for (unsigned i = 0; i < NODES; i++)
            node_show_log(&nodes[i]);
    print_message("# all ended; handing in was repeated %u times; %u looks at all revisions\n",
                  load.retries, witness.looks);
    print_message("# %u looks at leases of nodes that were left alone, %u were over\n",
                  witness.lease_looks, witness.lapsed);
    assert_true(witness.looks > 0);
    /* Where the machine is busy with other things a lease of a second says little. And a process
     * that stands still in the middle of writing a file of SQLite holds up all others
     * (docs/clustering.md).
     */
    if (getenv("CHAOS_LEASES") && ground->own_clocks)
        assert_int_equal(witness.lapsed, 0);
    assert_int_equal(witness.gone_back, 0);
    workload_check(&load);
    stage_close(&looker);
    stage_close(&client);
    free(witness.revisions);
}

static void a_cluster_on_sqlite_with_file_locks_loses_and_repeats_nothing(void **state)
{
    struct ground ground = {.places = *state};
    struct monkey monkey = {.random = seed(1), .ctx = &ground};

    (void)place_fresh(&ground.places->sqlite, ground.store);
    (void)snprintf(ground.lock, sizeof ground.lock, "file:%s/locks", ground.places->folder);
    run_under_faults(&ground, &monkey);
}

static void a_cluster_on_postgres_with_its_locks_loses_and_repeats_nothing(void **state)
{
    struct ground ground = {.places = *state, .own_clocks = true};
    struct monkey monkey = {.random = seed(2),
                            .ctx = &ground,
                            .cut = cut,
                            .mend = mend,
                            .halve = halve,
                            .mute = mute,
                            .restart_store = restart_postgres};

    (void)place_fresh(&ground.places->postgres, ground.store);
    (void)snprintf(ground.lock, sizeof ground.lock, "%s", ground.store);
    open_proxies(ground.store_proxies, ground.places->server.port);
    ground.keyless_proxy = test_proxy_start(ground.places->server.port);
    run_under_faults(&ground, &monkey);
    close_proxies(&ground);
}

static void a_cluster_on_postgres_with_redis_locks_loses_and_repeats_nothing(void **state)
{
    struct ground ground = {.places = *state, .own_clocks = true};
    struct monkey monkey = {.random = seed(3),
                            .ctx = &ground,
                            .cut = cut,
                            .mend = mend,
                            .halve = halve,
                            .mute = mute,
                            .restart_store = restart_postgres,
                            .restart_locks = restart_redis};

    (void)place_fresh(&ground.places->postgres, ground.store);
    test_redis_start(&ground.redis, NULL, 0); /* it forgets everything when it is restarted */
    (void)test_redis_uri(&ground.redis, 1, NULL, ground.lock, sizeof ground.lock);
    open_proxies(ground.store_proxies, ground.places->server.port);
    ground.keyless_proxy = test_proxy_start(ground.places->server.port);
    open_proxies(ground.lock_proxies, ground.redis.port);
    run_under_faults(&ground, &monkey);
    close_proxies(&ground);
    test_redis_stop(&ground.redis);
}

/*
 * What is committed with synchronous_commit=on is on the standby's disk, too, or else a failover
 * would lose it and nobody could tell. Claims and leases are committed without waiting, and a
 * failover may forget them: that is what fences are for.
 */
static void a_cluster_on_a_postgres_that_fails_over_loses_and_repeats_nothing(void **state)
{
    struct ground ground = {.places = *state, .own_clocks = true};
    struct monkey monkey = {.random = seed(4),
                            .ctx = &ground,
                            .crash_primary = crash_primary,
                            .promote_standby = promote_standby,
                            .add_standby = add_standby,
                            .least = 2};
    const struct test_http_route route = {.path = PAWL_STR_LIT(CALLERS_PATH), .status = 200};
    char first[PLACE_URI_MAX];
    const char *query;

    query = strchr(place_fresh(&ground.places->postgres, first), '?');
    assert_non_null(query);
    test_postgres_start_standby(&ground.second, &ground.places->server);
    rely_on_standby(&ground.places->server);
    (void)snprintf(ground.store, sizeof ground.store,
                   "postgres://" TEST_POSTGRES_USER "@127.0.0.1:%u,127.0.0.1:%u/postgres%s"
                   "&target_session_attrs=read-write",
                   (unsigned)ground.places->server.port, (unsigned)ground.second.port, query);
    (void)snprintf(ground.lock, sizeof ground.lock, "%s", ground.store);
    ground.target = test_http_start(&route, 1);
    run_under_faults(&ground, &monkey);
    test_http_stop(ground.target);
    test_postgres_stop(&ground.second);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        struct CMUnitTest test;
    } grounds[] = {
        {"sqlite", cmocka_unit_test(a_cluster_on_sqlite_with_file_locks_loses_and_repeats_nothing)},
        {"postgres",
         cmocka_unit_test(a_cluster_on_postgres_with_its_locks_loses_and_repeats_nothing)},
        {"redis",
         cmocka_unit_test(a_cluster_on_postgres_with_redis_locks_loses_and_repeats_nothing)},
        {"failover",
         cmocka_unit_test(a_cluster_on_a_postgres_that_fails_over_loses_and_repeats_nothing)},
    };

    for (size_t i = 0; argc > 1 && i < sizeof grounds / sizeof *grounds; i++) {
        const struct CMUnitTest tests[] = {grounds[i].test};

        if (strcmp(argv[1], grounds[i].name) == 0)
            return cmocka_run_group_tests_name("chaos", tests, places_set_up, places_tear_down);
    }
    (void)fprintf(stderr, "usage: %s sqlite|postgres|redis|failover\n", argv[0]);
    return 2;
}
