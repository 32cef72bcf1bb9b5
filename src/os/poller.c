/* SPDX-License-Identifier: Apache-2.0 */
/* The system's poller: epoll, edge-triggered, and an eventfd to be woken by; see poller.h. */
#include "os/poller.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "os/address.h"
#include "os/errno.h"
#include "os/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
/* The longest single wait: epoll knows neither the environment's clock nor its stop. */
#define SLICE_MS INT64_C(1000)
#define EVENTS_MAX 256

struct system_poller {
    struct pawl_poller base;
    struct pawl_env *env;
    struct pawl_waker waker;
    atomic_bool woken; /* since the last wait: no need to write to the waker again */
    int epoll_fd;
};

static struct system_poller *cast(struct pawl_poller *poller)
{
    return (struct system_poller *)(void *)poller;
}

static void system_close(struct pawl_poller *poller)
{
    struct system_poller *self = cast(poller);

    if (self->epoll_fd >= 0)
        (void)close(self->epoll_fd);
    pawl__waker_release(&self->waker);
    pawl__free(&self->env->alloc, self, sizeof *self);
}

/* ---- waiting ----------------------------------------------------------------------------- */

static int system_watch(struct pawl_poller *poller, int fd, void *key, struct pawl_error *err)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data = {.ptr = key}};

    if (epoll_ctl(cast(poller)->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return pawl__os_error(err, errno, "cannot watch a connection");
    return PAWL_OK;
}

static bool is_stopped(struct pawl_env *env)
{
    return pawl_env_sleep_until(env, INT64_MIN) == PAWL_ESTOPPED;
}

/* Rounded up, so that the last slice does not end before the deadline. */
static int slice_ms(int64_t left_ns)
{
    int64_t left_ms = left_ns / NS_PER_MS;

    if (left_ns <= 0)
        return 0;
    return (int)(left_ms < SLICE_MS ? left_ms + 1 : SLICE_MS);
}

static uint32_t translate(uint32_t events)
{
    return (events & EPOLLIN ? PAWL_POLL_READABLE : 0) |
           (events & EPOLLOUT ? PAWL_POLL_WRITABLE : 0) |
           (events & EPOLLRDHUP ? PAWL_POLL_ENDED : 0) |
           (events & (EPOLLHUP | EPOLLERR) ? PAWL_POLL_BROKEN : 0);
}

/* Copies what is the caller's. Whether somebody woke us. */
static bool collect(struct system_poller *self, const struct epoll_event *from, int ready,
                    struct pawl_poll_event *events, size_t *count)
{
    bool woken = false;

    *count = 0;
    for (int i = 0; i < ready; i++) {
        if (from[i].data.ptr == self) {
            woken = true;
            continue;
        }
        events[*count].key = from[i].data.ptr;
        events[(*count)++].what = translate(from[i].events);
    }
    if (!woken)
        return false;
    /* In this order: whoever wakes from now on writes again. */
    pawl__waker_reset(&self->waker);
    atomic_store(&self->woken, false);
    return true;
}

static int system_wait(struct pawl_poller *poller, int64_t deadline_ns,
                       struct pawl_poll_event *events, size_t max, size_t *count)
{
    struct system_poller *self = cast(poller);
    struct epoll_event raw[EVENTS_MAX];
    int most = (int)(max < EVENTS_MAX ? max : EVENTS_MAX);

    for (;;) {
        int64_t now_ns = deadline_ns == INT64_MIN ? 0 : pawl_env_monotonic_ns(self->env);
        int timeout_ms = deadline_ns > now_ns ? slice_ms(deadline_ns - now_ns) : 0;
        int ready = epoll_wait(self->epoll_fd, raw, most, timeout_ms);

        if (ready < 0 && errno != EINTR)
            return pawl__os_code(errno);
        if (is_stopped(self->env))
            return PAWL_ESTOPPED;
        if (collect(self, raw, ready, events, count) || *count > 0 || timeout_ms == 0)
            return PAWL_OK;
    }
}

static void system_wake(struct pawl_poller *poller)
{
    struct system_poller *self = cast(poller);

    if (!atomic_exchange(&self->woken, true))
        pawl__waker_wake(&self->waker);
}

/* ---- connections ------------------------------------------------------------------------- */

static void set_peer(struct pawl_peer *peer, const struct sockaddr_storage *address)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    memset(peer, 0, sizeof *peer);
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)address;

        memcpy(peer->address, &in6->sin6_addr, sizeof peer->address);
        peer->port = ntohs(in6->sin6_port);
    } else if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;

        memcpy(peer->address, mapped, sizeof mapped);
        memcpy(peer->address + sizeof mapped, &in->sin_addr, 4);
        peer->port = ntohs(in->sin_port);
    } else {
        peer->local = true;
    }
}

const char *pawl__peer_text(const struct pawl_peer *peer, char out[PAWL_PEER_TEXT_SIZE])
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN] = "?";

    memcpy(&address, peer->address, sizeof address);
    if (peer->local) {
        (void)snprintf(out, PAWL_PEER_TEXT_SIZE, "local");
    } else if (IN6_IS_ADDR_V4MAPPED(&address)) {
        (void)inet_ntop(AF_INET, peer->address + 12, text, sizeof text);
        (void)snprintf(out, PAWL_PEER_TEXT_SIZE, "%s:%u", text, (unsigned)peer->port);
    } else {
        (void)inet_ntop(AF_INET6, &address, text, sizeof text);
        (void)snprintf(out, PAWL_PEER_TEXT_SIZE, "[%s]:%u", text, (unsigned)peer->port);
    }
    return out;
}

/* false: not up to five digits that make a port. */
static bool read_port(struct pawl_str digits, uint16_t *out)
{
    uint32_t value = 0;

    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || i >= 5)
            return false;
        value = value * 10 + (uint32_t)(digits.ptr[i] - '0');
    }
    *out = (uint16_t)value;
    return digits.len > 0 && value <= UINT16_MAX;
}

bool pawl__peer_parse(struct pawl_str text, struct pawl_peer *out)
{
    struct pawl_peer peer = {.port = 0};
    struct pawl_str address = text;
    size_t close = text.len > 0 && text.ptr[0] == '[' ? pawl__str_find(text, ']', 0) : SIZE_MAX;
    size_t colon = pawl__str_find(text, ':', close == SIZE_MAX ? 0 : close);
    bool has_port = colon != SIZE_MAX &&
                    (close != SIZE_MAX || pawl__str_find(text, ':', colon + 1) == SIZE_MAX);

    if (has_port && !read_port(pawl__str_slice(text, colon + 1, text.len), &peer.port))
        return false;
    if (has_port)
        address = pawl__str_slice(text, 0, colon);
    if (close != SIZE_MAX) {
        if (address.ptr[address.len - 1] != ']')
            return false;
        address = pawl__str_slice(address, 1, address.len - 1);
    }
    if (!pawl__address_parse(address, peer.address))
        return false;
    *out = peer;
    return true;
}

static int system_accept(struct pawl_poller *poller, int listener, int *out, struct pawl_peer *peer,
                         struct pawl_error *err)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    const int on = 1;
    int fd;

    (void)poller;
    do {
        fd = accept4(listener, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (fd < 0 && (errno == ECONNABORTED || errno == EPROTO || errno == EINTR));
    if (fd < 0 && errno == EAGAIN)
        return PAWL_EBUSY;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "no descriptor left for a connection; raise RLIMIT_NOFILE");
    if (fd < 0)
        return pawl__os_error(err, errno, "cannot accept a connection");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails for AF_UNIX */
    set_peer(peer, &address);
    *out = fd;
    return PAWL_OK;
}

static int system_read(struct pawl_poller *poller, int fd, void *to, size_t size_bytes, size_t *got)
{
    ssize_t rc;

    (void)poller;
    do {
        rc = recv(fd, to, size_bytes, 0);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return errno == EAGAIN ? PAWL_EBUSY : PAWL_EUNAVAILABLE;
    *got = (size_t)rc;
    return PAWL_OK;
}

static struct iovec piece(struct pawl_str s)
{
    union {
        const char *from;
        void *to;
    } cast_away = {.from = s.ptr};

    return (struct iovec){.iov_base = cast_away.to, .iov_len = s.len};
}

static int system_write(struct pawl_poller *poller, int fd, struct pawl_str first,
                        struct pawl_str second, size_t *written)
{
    struct iovec pieces[2] = {piece(first), piece(second)};
    const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    ssize_t rc;

    (void)poller;
    do {
        rc = sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return errno == EAGAIN ? PAWL_EBUSY : PAWL_EUNAVAILABLE;
    *written = (size_t)rc;
    return PAWL_OK;
}

static void system_end(struct pawl_poller *poller, int fd)
{
    (void)poller;
    (void)shutdown(fd, SHUT_WR);
}

static void system_drop(struct pawl_poller *poller, int fd, bool abort)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};

    (void)poller;
    if (abort)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)close(fd); /* which also ends the watching */
}

static const struct pawl_poller_ops system_ops = {
    .close = system_close,
    .watch = system_watch,
    .wait = system_wait,
    .wake = system_wake,
    .accept = system_accept,
    .read = system_read,
    .write = system_write,
    .end = system_end,
    .drop = system_drop,
};

int pawl__poller_open(struct pawl_env *env, struct pawl_poller **out, struct pawl_error *err)
{
    struct system_poller *self = pawl__alloc_zeroed(&env->alloc, sizeof *self);
    int status;

    if (!self)
        return pawl__error_code(err, PAWL_ENOMEM);
    self->base.ops = &system_ops;
    self->env = env;
    self->waker.fd = -1;
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    status = self->epoll_fd < 0 ? pawl__os_error(err, errno, "cannot wait for connections")
                                : pawl__waker_init(&self->waker, err);
    if (status == PAWL_OK)
        status = system_watch(&self->base, self->waker.fd, self, err);
    if (status != PAWL_OK) {
        system_close(&self->base);
        return status;
    }
    *out = &self->base;
    return PAWL_OK;
}
