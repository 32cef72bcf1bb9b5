/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same cases on the system's poller and on the network in memory: what holds for one must hold
 * for the other, or a simulation shows nothing.
 */
#include "os/poller.h"
#include "lib/test.h"
#include "os/activation.h"
#include "os/memory_network.h"
#include "os/socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct bench {
    struct pawl_env *env;
    struct pawl_poller *poller;
    struct pawl_memory_network *network; /* NULL: the system's */
    struct pawl_socket listener_socket, client_socket;
    struct pawl_error err;
    uint16_t port;
    int listener, client, server;
    int64_t hang_ns; /* only a hang comes so far */
    struct pawl_thread *thread;
};

static int64_t hang(struct bench *b)
{
    return pawl_env_monotonic_ns(b->env) + INT64_C(60000000000);
}

static void open_bench(struct bench *b, bool memory)
{
    memset(b, 0, sizeof *b);
    b->listener_socket.fd = b->client_socket.fd = -1;
    assert_ok(pawl_system_env_open(&b->env, &b->err), &b->err);
    if (memory) {
        assert_code(pawl__memory_network_new(b->env, &b->network), PAWL_OK);
        b->poller = pawl__memory_network_poller(b->network);
        assert_code(pawl__memory_network_listen(b->network, &b->listener), PAWL_OK);
    } else {
        assert_ok(pawl__poller_open(b->env, &b->poller, &b->err), &b->err);
        assert_ok(pawl__socket_listen("127.0.0.1", 0, &b->listener_socket, &b->err), &b->err);
        assert_ok(pawl__socket_port(&b->listener_socket, &b->port, &b->err), &b->err);
        b->listener = b->listener_socket.fd;
    }
    assert_ok(pawl__poller_watch(b->poller, b->listener, &b->listener, &b->err), &b->err);
    b->server = -1;
}

static void close_bench(struct bench *b)
{
    if (b->server >= 0)
        pawl__poller_drop(b->poller, b->server, false);
    pawl__socket_close(&b->client_socket);
    pawl__socket_close(&b->listener_socket);
    pawl__poller_close(b->poller);
    pawl__memory_network_free(b->network);
    pawl_system_env_close(b->env);
}

/* Waits until `key` has had an event with all of `what`. */
static void await(struct bench *b, const void *key, uint32_t what)
{
    uint32_t seen = 0;

    while ((seen & what) != what) {
        struct pawl_poll_event events[4];
        size_t count = 0;

        assert_true(pawl_env_monotonic_ns(b->env) < b->hang_ns);
        assert_code(pawl__poller_wait(b->poller, b->hang_ns, events, 4, &count), PAWL_OK);
        for (size_t i = 0; i < count; i++)
            seen |= events[i].key == key ? events[i].what : 0;
    }
}

static void client_connect(struct bench *b)
{
    const struct pawl_socket_wait wait = {b->env, NULL, hang(b)};

    if (b->network)
        assert_code(pawl__memory_network_connect(b->network, b->listener, &b->client), PAWL_OK);
    else
        assert_ok(pawl__socket_connect("127.0.0.1", b->port, &wait, &b->client_socket, &b->err),
                  &b->err);
}

static void client_send(struct bench *b, const char *text)
{
    const struct pawl_socket_wait wait = {b->env, NULL, hang(b)};
    size_t written;

    if (b->network)
        assert_code(pawl__memory_network_send(b->network, b->client, pawl__str(text), hang(b)),
                    PAWL_OK);
    else
        assert_ok(
            pawl__socket_write(&b->client_socket, text, strlen(text), &wait, &written, &b->err),
            &b->err);
}

static size_t client_receive(struct bench *b, char *to, size_t size)
{
    const struct pawl_socket_wait wait = {b->env, NULL, hang(b)};
    size_t got = 0;

    if (b->network)
        assert_code(pawl__memory_network_receive(b->network, b->client, to, size, hang(b), &got),
                    PAWL_OK);
    else
        assert_ok(pawl__socket_read(&b->client_socket, to, size, &wait, &got, &b->err), &b->err);
    return got;
}

static void client_end(struct bench *b)
{
    if (b->network)
        pawl__memory_network_end(b->network, b->client);
    else
        pawl__socket_shutdown(&b->client_socket);
}

static void client_hang_up(struct bench *b, bool abort)
{
    const struct linger now = {.l_onoff = 1};

    if (b->network) {
        pawl__memory_network_hang_up(b->network, b->client, abort);
        return;
    }
    if (abort)
        (void)setsockopt(b->client_socket.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    pawl__socket_close(&b->client_socket);
}

static void accept_one(struct bench *b)
{
    struct pawl_peer peer;
    char text[PAWL_PEER_TEXT_SIZE];

    b->hang_ns = hang(b);
    client_connect(b);
    await(b, &b->listener, PAWL_POLL_READABLE);
    assert_ok(pawl__poller_accept(b->poller, b->listener, &b->server, &peer, &b->err), &b->err);
    assert_false(peer.local);
    assert_non_null(strchr(pawl__peer_text(&peer, text), ':'));
    assert_ok(pawl__poller_watch(b->poller, b->server, &b->server, &b->err), &b->err);
    await(b, &b->server, PAWL_POLL_WRITABLE);
}

static void both_directions_and_both_ends(struct bench *b)
{
    char text[64];
    struct pawl_peer peer;
    size_t got = 0, written = 0;
    int fd;

    accept_one(b);
    assert_code(pawl__poller_accept(b->poller, b->listener, &fd, &peer, &b->err), PAWL_EBUSY);
    assert_code(pawl__poller_read(b->poller, b->server, text, sizeof text, &got), PAWL_EBUSY);
    client_send(b, "ping");
    await(b, &b->server, PAWL_POLL_READABLE);
    assert_code(pawl__poller_read(b->poller, b->server, text, sizeof text, &got), PAWL_OK);
    assert_str(pawl__str_make(text, got), "ping");
    assert_code(
        pawl__poller_write(b->poller, b->server, pawl__str("po"), pawl__str("ng"), &written),
        PAWL_OK);
    assert_int_equal(written, 4);
    assert_int_equal(client_receive(b, text, sizeof text), 4);
    assert_memory_equal(text, "pong", 4);
    /* The client ends its side and still reads. */
    client_end(b);
    await(b, &b->server, PAWL_POLL_ENDED);
    assert_code(pawl__poller_read(b->poller, b->server, text, sizeof text, &got), PAWL_OK);
    assert_int_equal(got, 0);
    assert_code(pawl__poller_write(b->poller, b->server, pawl__str("x"), pawl__str(""), &written),
                PAWL_OK);
    pawl__poller_end(b->poller, b->server);
    assert_int_equal(client_receive(b, text, sizeof text), 1);
    assert_int_equal(client_receive(b, text, sizeof text), 0);
    client_hang_up(b, false);
}

static void an_aborted_connection_is_broken(struct bench *b)
{
    char text[8];
    size_t got = 1;
    int status = PAWL_OK;

    accept_one(b);
    client_send(b, "lost");
    client_hang_up(b, true);
    await(b, &b->server, PAWL_POLL_BROKEN);
    while (status == PAWL_OK && got > 0) /* what came before may be read */
        status = pawl__poller_read(b->poller, b->server, text, sizeof text, &got);
    assert_code(status, PAWL_EUNAVAILABLE);
}

static void a_full_window_opens_with_an_event(struct bench *b)
{
    static char block[65536];
    size_t total = 0, received = 0;
    int status = PAWL_OK;

    accept_one(b);
    while (status == PAWL_OK) {
        size_t written = 0;

        status = pawl__poller_write(b->poller, b->server, pawl__str_make(block, sizeof block),
                                    pawl__str(""), &written);
        total += written;
    }
    assert_code(status, PAWL_EBUSY);
    assert_code(pawl__poller_write(b->poller, b->server, pawl__str(""), pawl__str("x"), &received),
                PAWL_EBUSY);
    while (received < total)
        received += client_receive(b, block, sizeof block);
    await(b, &b->server, PAWL_POLL_WRITABLE);
    client_hang_up(b, false);
}

static void wake_soon(void *arg)
{
    struct bench *b = arg;

    pawl__poller_wake(b->poller);
}

static void a_wait_ends_when_woken(struct bench *b)
{
    struct pawl_poll_event events[4];
    size_t count = 1;

    b->hang_ns = hang(b);
    while (count > 0) /* the listener's first events */
        assert_code(pawl__poller_wait(b->poller, INT64_MIN, events, 4, &count), PAWL_OK);
    /* Before the wait, and during it. */
    pawl__poller_wake(b->poller);
    assert_code(pawl__poller_wait(b->poller, b->hang_ns, events, 4, &count), PAWL_OK);
    assert_ok(pawl_thread_start(b->env, "waker", wake_soon, b, &b->thread, &b->err), &b->err);
    assert_code(pawl__poller_wait(b->poller, b->hang_ns, events, 4, &count), PAWL_OK);
    pawl_thread_join(b->env, b->thread);
    assert_true(pawl_env_monotonic_ns(b->env) < b->hang_ns);
    assert_code(pawl__poller_wait(b->poller, INT64_MIN, events, 4, &count), PAWL_OK);
    assert_int_equal(count, 0);
}

static void a_wait_ends_when_the_environment_does(struct bench *b)
{
    struct pawl_poll_event events[4];
    size_t count;
    int status = PAWL_OK;

    pawl_system_env_stop(b->env);
    for (int round = 0; round < 3 && status == PAWL_OK; round++)
        status = pawl__poller_wait(b->poller, PAWL_FOREVER, events, 4, &count);
    assert_code(status, PAWL_ESTOPPED);
}

static void run_on_both(void (*body)(struct bench *))
{
    for (int memory = 0; memory < 2; memory++) {
        struct bench b;

        open_bench(&b, memory != 0);
        body(&b);
        close_bench(&b);
    }
}

#define ON_BOTH(name)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        run_on_both(name);                                                                         \
    }
ON_BOTH(both_directions_and_both_ends)
ON_BOTH(an_aborted_connection_is_broken)
ON_BOTH(a_full_window_opens_with_an_event)
ON_BOTH(a_wait_ends_when_woken)
ON_BOTH(a_wait_ends_when_the_environment_does)

static void sockets_of_a_service_manager_are_taken(void **state)
{
    int out[2];
    size_t count = 9;
    char text[32];
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_ok(pawl__activation_sockets(out, 2, &count, &err), &err);
    assert_int_equal(count, 0);
    (void)snprintf(text, sizeof text, "%ld", (long)getpid());
    (void)setenv("LISTEN_PID", text, 1);
    (void)setenv("LISTEN_FDS", "3", 1);
    assert_code(pawl__activation_sockets(out, 2, &count, &err), PAWL_ELIMIT);
    (void)setenv("LISTEN_PID", "1", 1); /* meant for another */
    assert_ok(pawl__activation_sockets(out, 2, &count, &err), &err);
    assert_int_equal(count, 0);
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    assert_false(pawl__activation_notify("READY=1"));
    assert_true(pawl__activation_raise_descriptors() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions_and_both_ends),
        cmocka_unit_test(test_an_aborted_connection_is_broken),
        cmocka_unit_test(test_a_full_window_opens_with_an_event),
        cmocka_unit_test(test_a_wait_ends_when_woken),
        cmocka_unit_test(test_a_wait_ends_when_the_environment_does),
        cmocka_unit_test(sockets_of_a_service_manager_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
