/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on locks in Redis: one server, or a majority of as many as the argument says. */
#include "contract/lock_suite.h"
#include "drivers/hiredis.h"
#include "servers/redis.h"

#include <stdio.h>
#include <stdlib.h>

#define NODES_MAX 5

struct nodes {
    struct test_redis servers[NODES_MAX];
    size_t count;
};

/* Deletes the key everywhere. */
static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    const struct pawl_socket_wait wait = {env, NULL, PAWL_FOREVER};
    const struct pawl_str words[] = {pawl__str("DEL"), name};
    struct nodes *nodes = ctx;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_hiredis *lib;

    assert_ok(pawl__hiredis_open(&env->alloc, &lib, &err), &err);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct pawl_redis_target target = {
            .host = "127.0.0.1", .port = nodes->servers[i].port, .silent_ms = 10000};
        struct pawl_redis_conn *conn;
        struct pawl_redis_reply reply;

        assert_ok(pawl__redis_connect(lib, &target, &wait, &conn, &err), &err);
        assert_int_equal(pawl__redis_queue(conn, words, 2), PAWL_OK);
        assert_ok(pawl__redis_flush(conn, &wait, &err), &err);
        assert_ok(pawl__redis_receive(conn, &wait, &reply, &err), &err);
        pawl__redis_disconnect(conn);
    }
    pawl__hiredis_close(lib);
}

int main(int argc, char **argv)
{
    struct nodes nodes = {.count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1};
    struct lock_contract contract = {.title = nodes.count == 1 ? "locks in Redis"
                                                               : "locks by a majority of Redis",
                                     .ttl_ms = 3000, /* a tenth of it is what an attempt may take */
                                     .take_away = take_away,
                                     .ctx = &nodes,
                                     .workers = 32};
    int failed;

    if (nodes.count == 0 || nodes.count > NODES_MAX)
        return 2;
    for (size_t i = 0; i < nodes.count; i++)
        test_redis_start(&nodes.servers[i], NULL, 0);
    (void)test_redis_uri(nodes.servers, nodes.count, NULL, contract.uri, sizeof contract.uri);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri, "redis://127.0.0.1:1");
    failed = lock_contract_main(&contract);
    for (size_t i = 0; i < nodes.count; i++)
        test_redis_stop(&nodes.servers[i]);
    return failed;
}
