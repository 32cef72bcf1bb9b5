/* SPDX-License-Identifier: Apache-2.0 */
#include "os/socket.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    struct pawl_waker waker;
    struct pawl_error err;
    struct pawl_socket_wait wait; /* without end; the waker ends it */
    struct pawl_socket listener, client, server;
    char folder[64], path[96];
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct pawl_socket closed = PAWL_SOCKET_INIT;

    if (!f)
        return -1;
    *state = f;
    f->listener = f->client = f->server = closed;
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__waker_init(&f->waker, &f->err), &f->err);
    f->wait = (struct pawl_socket_wait){f->env, &f->waker, PAWL_FOREVER};
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/s", f->folder);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    pawl__socket_close(&f->client);
    pawl__socket_close(&f->server);
    pawl__socket_close(&f->listener);
    pawl__waker_release(&f->waker);
    (void)unlink(f->path);
    (void)rmdir(f->folder);
    pawl_system_env_close(f->env);
    free(f);
    return 0;
}

static uint16_t listen_anywhere(struct fixture *f)
{
    uint16_t port = 0;

    assert_ok(pawl__socket_listen("127.0.0.1", 0, &f->listener, &f->err), &f->err);
    assert_ok(pawl__socket_port(&f->listener, &port, &f->err), &f->err);
    assert_int_not_equal(port, 0);
    return port;
}

static void connect_tcp(struct fixture *f)
{
    uint16_t port = listen_anywhere(f);

    assert_ok(pawl__socket_connect("127.0.0.1", port, &f->wait, &f->client, &f->err), &f->err);
    assert_ok(pawl__socket_accept(&f->listener, &f->wait, &f->server, &f->err), &f->err);
}

/* Both directions, the end, and a write to who has gone. */
static void talk(struct fixture *f)
{
    char text[16];
    size_t count = 0;
    int status = PAWL_OK;

    assert_ok(pawl__socket_write(&f->client, "ping", 4, &f->wait, &count, &f->err), &f->err);
    assert_int_equal(count, 4);
    assert_ok(pawl__socket_read(&f->server, text, sizeof text, &f->wait, &count, &f->err), &f->err);
    assert_int_equal(count, 4);
    assert_memory_equal(text, "ping", 4);
    pawl__socket_shutdown(&f->client);
    assert_ok(pawl__socket_read(&f->server, text, sizeof text, &f->wait, &count, &f->err), &f->err);
    assert_int_equal(count, 0);
    assert_ok(pawl__socket_write(&f->server, "pong", 4, &f->wait, &count, &f->err), &f->err);
    assert_ok(pawl__socket_read(&f->client, text, 2, &f->wait, &count, &f->err), &f->err);
    assert_int_equal(count, 2);
    assert_memory_equal(text, "po", 2);
    pawl__socket_close(&f->client);
    for (int i = 0; i < 1000 && status == PAWL_OK; i++) /* the news of the close may take a while */
        status = pawl__socket_write(&f->server, "late", 4, &f->wait, &count, &f->err);
    assert_code(status, PAWL_EUNAVAILABLE); /* and no SIGPIPE */
}

static void tcp_carries_both_ways(void **state)
{
    connect_tcp(*state);
    talk(*state);
}

static void unix_carries_both_ways(void **state)
{
    struct fixture *f = *state;
    uint16_t port;

    assert_ok(pawl__socket_listen_unix(f->path, &f->listener, &f->err), &f->err);
    assert_ok(pawl__socket_connect_unix(f->path, &f->wait, &f->client, &f->err), &f->err);
    assert_ok(pawl__socket_accept(&f->listener, &f->wait, &f->server, &f->err), &f->err);
    assert_code(pawl__socket_port(&f->listener, &port, &f->err), PAWL_EINVAL);
    talk(f);
}

static void a_socket_file_left_over_is_replaced_and_one_in_use_is_not(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket second = PAWL_SOCKET_INIT;
    char deep[300];

    assert_ok(pawl__socket_listen_unix(f->path, &f->listener, &f->err), &f->err);
    assert_code(pawl__socket_listen_unix(f->path, &second, &f->err), PAWL_EBUSY);
    assert_int_equal(second.fd, -1);
    pawl__socket_close(&f->listener);
    assert_ok(pawl__socket_listen_unix(f->path, &f->listener, &f->err), &f->err);
    memset(deep, 'x', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    assert_code(pawl__socket_listen_unix(deep, &second, &f->err), PAWL_EINVAL);
    assert_code(pawl__socket_connect_unix(deep, &f->wait, &second, &f->err), PAWL_EINVAL);
}

static void a_port_in_use_and_a_port_nobody_listens_at(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket second = PAWL_SOCKET_INIT;
    uint16_t port = listen_anywhere(f);

    assert_code(pawl__socket_listen("127.0.0.1", port, &second, &f->err), PAWL_EBUSY);
    pawl__socket_close(&f->listener);
    assert_code(pawl__socket_connect("127.0.0.1", port, &f->wait, &second, &f->err),
                PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "127.0.0.1 port"));
    assert_non_null(strstr(f->err.msg, "refused"));
    assert_code(pawl__socket_connect_unix(f->path, &f->wait, &second, &f->err), PAWL_ENOTFOUND);
    assert_int_equal(second.fd, -1);
}

static void a_deadline_ends_each_wait(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket_wait past = f->wait, soon = f->wait;
    struct pawl_socket another = PAWL_SOCKET_INIT;
    static char block[1 << 20];
    char byte;
    size_t count = 77, sent = 0;
    int status = PAWL_OK;

    past.deadline_ns = 0;
    connect_tcp(f);
    soon.deadline_ns = pawl_env_monotonic_ns(f->env) + 1000000;
    assert_code(pawl__socket_accept(&f->listener, &past, &another, &f->err), PAWL_ETIMEDOUT);
    assert_code(pawl__socket_accept(&f->listener, &soon, &another, &f->err), PAWL_ETIMEDOUT);
    assert_true(pawl_env_monotonic_ns(f->env) >= soon.deadline_ns);
    assert_code(pawl__socket_read(&f->server, &byte, 1, &past, &count, &f->err), PAWL_ETIMEDOUT);
    assert_int_equal(count, 77);
    /* Nobody reads: sooner or later the system takes no more, and a part is reported. */
    for (int i = 0; i < 1000 && status == PAWL_OK; i++) {
        status = pawl__socket_write(&f->client, block, sizeof block, &past, &count, &f->err);
        sent += count;
    }
    assert_code(status, PAWL_ETIMEDOUT);
    assert_true(sent > 0 && count < sizeof block);
}

static void a_foreign_descriptor_is_waited_for(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket_wait past = f->wait;
    size_t count;

    past.deadline_ns = 0;
    connect_tcp(f);
    assert_code(pawl__socket_wait_foreign(f->server.fd, PAWL_SOCKET_READABLE, &past),
                PAWL_ETIMEDOUT);
    assert_code(pawl__socket_wait_foreign(f->server.fd, PAWL_SOCKET_READABLE | PAWL_SOCKET_WRITABLE,
                                          &f->wait),
                PAWL_OK);
    assert_ok(pawl__socket_write(&f->client, "x", 1, &f->wait, &count, &f->err), &f->err);
    assert_code(pawl__socket_wait_foreign(f->server.fd, PAWL_SOCKET_READABLE, &f->wait), PAWL_OK);
    pawl__waker_wake(&f->waker);
    assert_code(pawl__socket_wait_foreign(f->client.fd, PAWL_SOCKET_READABLE, &f->wait),
                PAWL_ECANCELLED);
}

static void several_descriptors_are_waited_for_at_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket_wait past = f->wait;
    struct pawl_socket_poll polls[3] = {{-1, PAWL_SOCKET_READABLE, true}};
    size_t count;

    past.deadline_ns = 0;
    connect_tcp(f);
    pawl__socket_keepalive(&f->client, 10000);
    polls[1] = (struct pawl_socket_poll){f->server.fd, PAWL_SOCKET_CLOSED, true};
    polls[2] = (struct pawl_socket_poll){f->server.fd, PAWL_SOCKET_READABLE, true};
    assert_code(pawl__socket_wait_many(polls, 3, &past), PAWL_ETIMEDOUT);
    assert_false(polls[0].ready || polls[1].ready || polls[2].ready);
    assert_ok(pawl__socket_write(&f->client, "x", 1, &f->wait, &count, &f->err), &f->err);
    assert_code(pawl__socket_wait_many(polls, 3, &f->wait), PAWL_OK);
    assert_true(!polls[0].ready && !polls[1].ready && polls[2].ready);
    /* The end is seen by who does not read. */
    pawl__socket_shutdown(&f->client);
    assert_code(pawl__socket_wait_many(polls, 2, &f->wait), PAWL_OK);
    assert_true(!polls[0].ready && polls[1].ready);
    pawl__waker_wake(&f->waker);
    assert_code(pawl__socket_wait_many(polls, 3, &f->wait), PAWL_ECANCELLED);
    assert_false(polls[1].ready || polls[2].ready);
}

/* ---- being woken from another thread ----------------------------------------------------- */

struct reader {
    struct fixture *f;
    int status;
};

static void read_one_byte(void *arg)
{
    struct reader *reader = arg;
    char byte;
    size_t count;

    reader->status =
        pawl__socket_read(&reader->f->server, &byte, 1, &reader->f->wait, &count, NULL);
}

static void a_waker_ends_waits_until_it_is_reset(void **state)
{
    struct fixture *f = *state;
    struct reader reader = {f, PAWL_OK};
    struct pawl_thread *thread = NULL;
    size_t count;

    connect_tcp(f);
    assert_ok(pawl_thread_start(f->env, "reader", read_one_byte, &reader, &thread, &f->err),
              &f->err);
    pawl__waker_wake(&f->waker);
    pawl__waker_wake(&f->waker);
    pawl_thread_join(f->env, thread);
    assert_code(reader.status, PAWL_ECANCELLED);
    read_one_byte(&reader);
    assert_code(reader.status, PAWL_ECANCELLED);
    pawl__waker_reset(&f->waker);
    pawl__waker_reset(&f->waker);
    assert_ok(pawl__socket_write(&f->client, "x", 1, &f->wait, &count, &f->err), &f->err);
    read_one_byte(&reader);
    assert_code(reader.status, PAWL_OK);
}

static void a_stopped_environment_ends_waits(void **state)
{
    struct fixture *f = *state;
    struct reader reader = {f, PAWL_OK};
    struct pawl_thread *thread = NULL;

    connect_tcp(f);
    assert_ok(pawl_thread_start(f->env, "reader", read_one_byte, &reader, &thread, &f->err),
              &f->err);
    pawl_system_env_stop(f->env);
    pawl__waker_wake(&f->waker);
    pawl_thread_join(f->env, thread);
    assert_code(reader.status, PAWL_ESTOPPED);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(tcp_carries_both_ways),
        with_fixture(unix_carries_both_ways),
        with_fixture(a_socket_file_left_over_is_replaced_and_one_in_use_is_not),
        with_fixture(a_port_in_use_and_a_port_nobody_listens_at),
        with_fixture(a_deadline_ends_each_wait),
        with_fixture(a_foreign_descriptor_is_waited_for),
        with_fixture(several_descriptors_are_waited_for_at_once),
        with_fixture(a_waker_ends_waits_until_it_is_reset),
        with_fixture(a_stopped_environment_ends_waits),
    };

    return cmocka_run_group_tests_name("os/socket", tests, NULL, NULL);
}
