/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP proxy, see proxy.h. Its thread owns all connections; others write the manner under the
 * mutex, wake it, and wait until it has said that it goes by it.
 */
#include "lib/proxy.h"

#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX 64
#define BYTES_MAX 65536

/* Bytes on their way in one direction. */
struct flow {
    char bytes[BYTES_MAX];
    size_t count;
    int64_t due_ms; /* of what is held */
    bool ended;
};

struct link {
    int client, server; /* -1: free */
    struct flow up, down;
    size_t up_left; /* bytes that may still pass from the client */
};

struct test_proxy {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t told;
    int listener, kick;
    uint16_t port, server_port;
    /* Under the mutex: */
    enum test_proxy_manner manner;
    int delay_ms;
    bool stop, cut_now;
    uint64_t asked, done;
    size_t count;
    size_t limit;      /* of bytes from a client; SIZE_MAX: none */
    bool is_limit_new; /* the connections do not know of it yet */
    bool is_held;      /* one has reached it */
    /* The thread's: */
    struct link links[LINKS_MAX];
};

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void set_up(int fd)
{
    const int on = 1;

    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void close_link(struct link *link)
{
    if (link->client >= 0)
        (void)close(link->client);
    if (link->server >= 0)
        (void)close(link->server);
    link->client = link->server = -1;
}

static void accept_one(struct test_proxy *proxy, bool cut)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(proxy->server_port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC), server;
    struct link *link = NULL;

    if (client < 0)
        return;
    for (size_t i = 0; i < LINKS_MAX && !link; i++)
        if (proxy->links[i].client < 0 && proxy->links[i].server < 0)
            link = &proxy->links[i];
    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (cut || !link || connect(server, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(client);
        (void)close(server);
        return;
    }
    set_up(client);
    set_up(server);
    link->client = client;
    link->server = server;
    link->up.count = link->down.count = 0;
    link->up.ended = link->down.ended = false;
    (void)pthread_mutex_lock(&proxy->mutex);
    link->up_left = proxy->limit;
    proxy->count++;
    (void)pthread_mutex_unlock(&proxy->mutex);
}

/* Reads when there is room. */
static void fill(struct flow *flow, int from, int delay_ms)
{
    ssize_t got;

    if (flow->count > 0 || flow->ended)
        return;
    got = recv(from, flow->bytes, sizeof flow->bytes, 0);
    if (got > 0) {
        flow->count = (size_t)got;
        flow->due_ms = now_ms() + delay_ms;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        flow->ended = true;
    }
}

/* At most `*left` bytes, which it counts down; SIZE_MAX is no limit. */
static void drain(struct flow *flow, int to, size_t *left)
{
    size_t count = flow->count < *left ? flow->count : *left;
    ssize_t sent;

    if (count == 0 || now_ms() < flow->due_ms)
        return;
    sent = send(to, flow->bytes, count, MSG_NOSIGNAL);
    if (sent > 0) {
        *left -= *left != SIZE_MAX ? (size_t)sent : 0;
        memmove(flow->bytes, flow->bytes + sent, flow->count - (size_t)sent);
        flow->count -= (size_t)sent;
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        flow->ended = true;
        flow->count = 0;
    }
}

static void move(struct link *link, enum test_proxy_manner manner, int delay_ms)
{
    size_t unlimited = SIZE_MAX;
    bool up = manner == TEST_PROXY_PASS || manner == TEST_PROXY_MUTE;
    bool down = manner == TEST_PROXY_PASS;

    if (up) {
        fill(&link->up, link->client, 0);
        drain(&link->up, link->server, &link->up_left);
    }
    if (down) {
        fill(&link->down, link->server, delay_ms);
        drain(&link->down, link->client, &unlimited);
    }
    if ((link->up.ended && link->up.count == 0) || (link->down.ended && link->down.count == 0))
        close_link(link);
}

/* What to wait for on one side of a link. */
static short wanted(const struct flow *out_of, const struct flow *into, bool reads, bool writes)
{
    short events = 0;

    if (reads && out_of->count == 0 && !out_of->ended)
        events |= POLLIN;
    if (writes && into->count > 0 && now_ms() >= into->due_ms)
        events |= POLLOUT;
    return events;
}

static void wait_for_work(struct test_proxy *proxy, enum test_proxy_manner manner)
{
    struct pollfd fds[2 + 2 * LINKS_MAX] = {{.fd = proxy->kick, .events = POLLIN},
                                            {.fd = proxy->listener, .events = POLLIN}};
    bool up = manner == TEST_PROXY_PASS || manner == TEST_PROXY_MUTE;
    bool down = manner == TEST_PROXY_PASS;
    int timeout_ms = -1;
    uint64_t count;

    for (size_t i = 0; i < LINKS_MAX; i++) {
        struct link *link = &proxy->links[i];
        short client = wanted(&link->up, &link->down, up, down);
        short server = wanted(&link->down, &link->up, down, up && link->up_left > 0);

        /* Without events poll would still report the end of a side, again and again. */
        fds[2 + 2 * i] = (struct pollfd){.fd = client ? link->client : -1, .events = client};
        fds[3 + 2 * i] = (struct pollfd){.fd = server ? link->server : -1, .events = server};
        if (link->client >= 0 && down && link->down.count > 0) {
            int64_t left = link->down.due_ms - now_ms();

            if (left > 0 && (timeout_ms < 0 || left < timeout_ms))
                timeout_ms = (int)left;
        }
    }
    (void)poll(fds, 2 + 2 * LINKS_MAX, timeout_ms);
    if (fds[0].revents)
        (void)!read(proxy->kick, &count, sizeof count);
    if (fds[1].revents)
        accept_one(proxy, manner == TEST_PROXY_CUT);
}

static void note_held(struct test_proxy *proxy)
{
    for (size_t i = 0; i < LINKS_MAX; i++) {
        const struct link *link = &proxy->links[i];

        if (link->client < 0 || link->up_left > 0 || link->up.count == 0)
            continue;
        (void)pthread_mutex_lock(&proxy->mutex);
        proxy->is_held = true;
        (void)pthread_cond_broadcast(&proxy->told);
        (void)pthread_mutex_unlock(&proxy->mutex);
    }
}

static void *run(void *arg)
{
    struct test_proxy *proxy = arg;

    for (;;) {
        enum test_proxy_manner manner;
        bool cut;
        int delay_ms;

        (void)pthread_mutex_lock(&proxy->mutex);
        manner = proxy->manner;
        delay_ms = proxy->delay_ms;
        cut = proxy->cut_now || manner == TEST_PROXY_CUT;
        proxy->cut_now = false;
        if (proxy->stop) {
            (void)pthread_mutex_unlock(&proxy->mutex);
            return NULL;
        }
        for (size_t i = 0; i < LINKS_MAX && cut; i++)
            close_link(&proxy->links[i]);
        for (size_t i = 0; i < LINKS_MAX && proxy->is_limit_new; i++)
            proxy->links[i].up_left = proxy->limit;
        proxy->is_limit_new = false;
        proxy->done = proxy->asked;
        (void)pthread_cond_broadcast(&proxy->told);
        (void)pthread_mutex_unlock(&proxy->mutex);
        for (size_t i = 0; i < LINKS_MAX; i++)
            if (proxy->links[i].client >= 0)
                move(&proxy->links[i], manner, delay_ms);
        note_held(proxy);
        wait_for_work(proxy, manner);
    }
}

struct test_proxy *test_proxy_start(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct test_proxy *proxy = calloc(1, sizeof *proxy);
    socklen_t length = sizeof address;

    assert_non_null(proxy);
    for (size_t i = 0; i < LINKS_MAX; i++)
        proxy->links[i].client = proxy->links[i].server = -1;
    proxy->server_port = port;
    proxy->limit = SIZE_MAX;
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    proxy->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(proxy->listener >= 0 && proxy->kick >= 0);
    assert_int_equal(bind(proxy->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(proxy->listener, 64), 0);
    assert_int_equal(getsockname(proxy->listener, (struct sockaddr *)&address, &length), 0);
    proxy->port = ntohs(address.sin_port);
    assert_int_equal(pthread_mutex_init(&proxy->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&proxy->told, NULL), 0);
    assert_int_equal(pthread_create(&proxy->thread, NULL, run, proxy), 0);
    return proxy;
}

static void kick(struct test_proxy *proxy)
{
    const uint64_t one = 1;

    (void)!write(proxy->kick, &one, sizeof one);
}

void test_proxy_stop(struct test_proxy *proxy)
{
    if (!proxy)
        return;
    (void)pthread_mutex_lock(&proxy->mutex);
    proxy->stop = true;
    kick(proxy);
    (void)pthread_mutex_unlock(&proxy->mutex);
    (void)pthread_join(proxy->thread, NULL);
    for (size_t i = 0; i < LINKS_MAX; i++)
        close_link(&proxy->links[i]);
    (void)close(proxy->listener);
    (void)close(proxy->kick);
    (void)pthread_cond_destroy(&proxy->told);
    (void)pthread_mutex_destroy(&proxy->mutex);
    free(proxy);
}

uint16_t test_proxy_port(const struct test_proxy *proxy)
{
    return proxy->port;
}

/* With the mutex: until the thread has looked. */
static void tell(struct test_proxy *proxy)
{
    uint64_t mine = ++proxy->asked;

    kick(proxy);
    while (proxy->done < mine)
        (void)pthread_cond_wait(&proxy->told, &proxy->mutex);
    (void)pthread_mutex_unlock(&proxy->mutex);
}

void test_proxy_set(struct test_proxy *proxy, enum test_proxy_manner manner)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    proxy->manner = manner;
    tell(proxy);
}

void test_proxy_delay(struct test_proxy *proxy, int delay_ms)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    proxy->delay_ms = delay_ms;
    tell(proxy);
}

void test_proxy_limit(struct test_proxy *proxy, size_t bytes)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    proxy->limit = bytes;
    proxy->is_limit_new = true;
    proxy->is_held = false;
    tell(proxy);
}

bool test_proxy_holds_within(struct test_proxy *proxy, int timeout_ms)
{
    struct timespec until;
    bool is_held;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&proxy->mutex);
    while (!proxy->is_held &&
           pthread_cond_timedwait(&proxy->told, &proxy->mutex, &until) != ETIMEDOUT)
        continue;
    is_held = proxy->is_held;
    (void)pthread_mutex_unlock(&proxy->mutex);
    return is_held;
}

void test_proxy_await_held(struct test_proxy *proxy)
{
    assert_true(test_proxy_holds_within(proxy, 30000));
}

void test_proxy_cut_now(struct test_proxy *proxy)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    proxy->cut_now = true;
    tell(proxy);
}

size_t test_proxy_count(struct test_proxy *proxy)
{
    size_t count;

    (void)pthread_mutex_lock(&proxy->mutex);
    count = proxy->count;
    (void)pthread_mutex_unlock(&proxy->mutex);
    return count;
}
