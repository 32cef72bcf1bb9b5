/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis driver on a real server. */
#include "drivers/hiredis.h"
#include "lib/proxy.h"
#include "lib/test.h"
#include "servers/redis.h"

#include <stdlib.h>

#define SECRET "correct-horse"

struct fixture {
    struct test_redis server;
    struct test_proxy *proxy;
    struct pawl_env *env;
    struct pawl_socket_wait wait;
    struct pawl_hiredis *lib;
    struct pawl_redis_target target;
    struct pawl_error err;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_redis_start(&f->server, SECRET, 0);
    f->proxy = test_proxy_start(f->server.port);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    f->wait = (struct pawl_socket_wait){f->env, NULL, PAWL_FOREVER};
    assert_ok(pawl__hiredis_open(&f->env->alloc, &f->lib, &f->err), &f->err);
    f->target = (struct pawl_redis_target){.host = "127.0.0.1",
                                           .port = test_proxy_port(f->proxy),
                                           .database = 2,
                                           .user = pawl__str("default"),
                                           .password = pawl__str(SECRET),
                                           .client_name = "test",
                                           .silent_ms = 10000};
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    pawl__hiredis_close(f->lib);
    pawl_system_env_close(f->env);
    test_proxy_stop(f->proxy);
    test_redis_stop(&f->server);
    free(f);
    return 0;
}

static struct pawl_redis_conn *connect_to(struct fixture *f)
{
    struct pawl_redis_conn *conn = NULL;

    assert_ok(pawl__redis_connect(f->lib, &f->target, &f->wait, &conn, &f->err), &f->err);
    return conn;
}

#define queue(conn, ...)                                                                           \
    assert_int_equal(                                                                              \
        pawl__redis_queue((conn), (struct pawl_str[]){__VA_ARGS__},                                \
                          sizeof((struct pawl_str[]){__VA_ARGS__}) / sizeof(struct pawl_str)),     \
        PAWL_OK)
#define S(text) pawl__str(text)

static struct pawl_redis_reply receive(struct fixture *f, struct pawl_redis_conn *conn)
{
    struct pawl_redis_reply reply;

    assert_ok(pawl__redis_receive(conn, &f->wait, &reply, &f->err), &f->err);
    return reply;
}

static void values_go_there_and_back_in_order(void **state)
{
    struct fixture *f = *state;
    struct pawl_redis_conn *conn = connect_to(f);
    const struct pawl_str bytes = pawl__str_make("a\0\r\n\xFF", 5);
    struct pawl_redis_reply reply, element;

    queue(conn, S("SET"), bytes, S(""));
    queue(conn, S("GET"), bytes);
    queue(conn, S("GET"), S("nothing"));
    queue(conn, S("INCRBY"), S("n"), S("-9223372036854775807"));
    queue(conn, S("LRANGE"), bytes, S("0"), S("1"));
    queue(conn, S("MGET"), S("n"), S("nothing"), bytes);
    queue(conn, S("CLIENT"), S("GETNAME"));
    assert_false(pawl__redis_is_flushed(conn));
    assert_ok(pawl__redis_flush(conn, &f->wait, &f->err), &f->err);
    assert_true(pawl__redis_is_flushed(conn));
    reply = receive(f, conn);
    assert_int_equal(reply.type, PAWL_REDIS_STATUS);
    assert_str(reply.text, "OK");
    reply = receive(f, conn);
    assert_int_equal(reply.type, PAWL_REDIS_TEXT);
    assert_int_equal(reply.text.len, 0);
    assert_int_equal(receive(f, conn).type, PAWL_REDIS_NIL);
    reply = receive(f, conn);
    assert_int_equal(reply.type, PAWL_REDIS_INT);
    assert_true(reply.integer == -INT64_MAX);
    reply = receive(f, conn);
    assert_int_equal(reply.type, PAWL_REDIS_ERROR);
    assert_code(pawl__redis_reply_error(&reply, &f->err), PAWL_EINVAL);
    reply = receive(f, conn);
    assert_int_equal(reply.type, PAWL_REDIS_ARRAY);
    assert_int_equal(reply.count, 3);
    element = pawl__redis_element(&reply, 0);
    assert_str(element.text, "-9223372036854775807");
    assert_int_equal(pawl__redis_element(&reply, 1).type, PAWL_REDIS_NIL);
    assert_int_equal(pawl__redis_element(&reply, 3).type, PAWL_REDIS_NIL);
    assert_str(receive(f, conn).text, "test");
    pawl__redis_disconnect(conn);
}

static void what_has_come_is_taken_without_waiting(void **state)
{
    struct fixture *f = *state;
    struct pawl_redis_conn *conn = connect_to(f);
    struct pawl_socket_wait past = {f->env, NULL, 0};
    struct pawl_redis_reply reply;

    assert_ok(pawl__redis_read(conn, f->env, &f->err), &f->err);
    assert_code(pawl__redis_next(conn, &reply, &f->err), PAWL_EBUSY);
    assert_code(pawl__redis_receive(conn, &past, &reply, &f->err), PAWL_ETIMEDOUT);
    test_proxy_set(f->proxy, TEST_PROXY_MUTE);
    queue(conn, S("PING"));
    assert_ok(pawl__redis_flush(conn, &f->wait, &f->err), &f->err);
    assert_code(pawl__redis_receive(conn, &past, &reply, &f->err), PAWL_ETIMEDOUT);
    test_proxy_set(f->proxy, TEST_PROXY_PASS);
    assert_str(receive(f, conn).text, "PONG"); /* late, and still the answer to it */
    pawl__redis_disconnect(conn);
}

static void the_end_of_a_connection_is_seen(void **state)
{
    struct fixture *f = *state;
    struct pawl_redis_conn *conn = connect_to(f);
    struct pawl_redis_reply reply;

    test_proxy_cut_now(f->proxy);
    assert_code(pawl__redis_receive(conn, &f->wait, &reply, &f->err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "Redis"));
    pawl__redis_disconnect(conn);
}

static int fail_to_connect(struct fixture *f)
{
    const struct pawl_socket_wait wait = {f->env, NULL,
                                          pawl_env_monotonic_ns(f->env) + INT64_C(100000000)};
    struct pawl_redis_conn *conn = NULL;
    int status = pawl__redis_connect(f->lib, &f->target, &wait, &conn, &f->err);

    assert_null(conn);
    assert_null(strstr(f->err.msg, SECRET));
    return status;
}

static void refusals_say_what_to_do_and_no_secrets(void **state)
{
    struct fixture *f = *state;
    struct pawl_redis_target right = f->target;

    f->target.password = S("wrong-" SECRET);
    assert_code(fail_to_connect(f), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "check user and password"));
    f->target.user = f->target.password = S("");
    assert_code(fail_to_connect(f), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "redis://user:password@host"));
    f->target = right;
    f->target.database = 99;
    assert_code(fail_to_connect(f), PAWL_EINVAL);
    f->target = right;
    f->target.port = 1;
    assert_code(fail_to_connect(f), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "127.0.0.1 port 1"));
    f->target = right;
    test_proxy_set(f->proxy, TEST_PROXY_HANG);
    assert_code(fail_to_connect(f), PAWL_ETIMEDOUT);
    test_proxy_set(f->proxy, TEST_PROXY_PASS);
}

static int connect_and_ask(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_hiredis *lib = NULL;
    struct pawl_redis_conn *conn = NULL;
    struct pawl_redis_reply reply;
    int status = pawl__hiredis_open(&alloc->base, &lib, &f->err);

    if (status == PAWL_OK)
        status = pawl__redis_connect(lib, &f->target, &f->wait, &conn, &f->err);
    for (int i = 0; i < 100 && status == PAWL_OK; i++)
        status = pawl__redis_queue(conn, (struct pawl_str[]){S("PING")}, 1);
    if (status == PAWL_OK)
        status = pawl__redis_flush(conn, &f->wait, &f->err);
    for (int i = 0; i < 100 && status == PAWL_OK; i++)
        status = pawl__redis_receive(conn, &f->wait, &reply, &f->err);
    pawl__redis_disconnect(conn);
    pawl__hiredis_close(lib);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    test_sweep_allocations(connect_and_ask, *state, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_there_and_back_in_order),
        cmocka_unit_test(what_has_come_is_taken_without_waiting),
        cmocka_unit_test(the_end_of_a_connection_is_seen),
        cmocka_unit_test(refusals_say_what_to_do_and_no_secrets),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
