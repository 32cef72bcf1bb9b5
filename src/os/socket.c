/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets, see socket.h. Every descriptor here is non-blocking; the only place that waits is
 * wait_for().
 */
#include "os/socket.h"

#include "base/assert.h"
#include "base/error.h"
#include "os/errno.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)

/*
 * The longest single poll: after each the environment's clock and stop are looked at, for poll
 * knows neither (it counts CLOCK_MONOTONIC, which stands still while the machine is suspended).
 */
#define SLICE_MS INT64_C(1000)

/* Connections that wait to be accepted; the system lowers it to net.core.somaxconn. */
#define BACKLOG 1024

/* ---- waker ------------------------------------------------------------------------------- */

int pawl__waker_init(struct pawl_waker *waker, struct pawl_error *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0)
        return pawl__os_error(err, errno, "cannot make a waker");
    waker->fd = fd;
    return PAWL_OK;
}

void pawl__waker_release(struct pawl_waker *waker)
{
    if (waker->fd >= 0)
        (void)close(waker->fd);
    waker->fd = -1;
}

void pawl__waker_wake(struct pawl_waker *waker)
{
    const uint64_t one = 1;
    ssize_t rc;

    do {
        rc = write(waker->fd, &one, sizeof one);
    } while (rc < 0 && errno == EINTR);
    PAWL_ASSERT(rc == sizeof one || errno == EAGAIN); /* full: it is awake */
}

void pawl__waker_reset(struct pawl_waker *waker)
{
    uint64_t count;
    ssize_t rc;

    do {
        rc = read(waker->fd, &count, sizeof count);
    } while (rc < 0 && errno == EINTR);
    PAWL_ASSERT(rc == sizeof count || errno == EAGAIN); /* empty: it was not awake */
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* A sleep until a time long past is over at once, unless the environment is stopped. */
static bool is_stopped(struct pawl_env *env)
{
    return pawl_env_sleep_until(env, INT64_MIN) == PAWL_ESTOPPED;
}

/* Rounded up, so that the last slice does not end before the deadline. */
static int slice_ms(int64_t left_ns)
{
    int64_t left_ms = left_ns / NS_PER_MS;

    return (int)(left_ms < SLICE_MS ? left_ms + 1 : SLICE_MS);
}

/* PAWL_OK when one of `fds` may be ready, or why the waiting ended. fds[count] is the waker's. */
static int wait_for_any(struct pollfd *fds, size_t count, const struct pawl_socket_wait *wait)
{
    fds[count] = (struct pollfd){.fd = wait->waker ? wait->waker->fd : -1, .events = POLLIN};
    for (;;) {
        int64_t now_ns = pawl_env_monotonic_ns(wait->env);
        int timeout_ms = now_ns < wait->deadline_ns ? slice_ms(wait->deadline_ns - now_ns) : 0;
        int ready = poll(fds, (nfds_t)count + 1, timeout_ms);

        if (ready < 0 && errno != EINTR)
            return pawl__os_code(errno);
        if (is_stopped(wait->env))
            return PAWL_ESTOPPED;
        if (ready > 0 && fds[count].revents)
            return PAWL_ECANCELLED;
        if (ready > 0)
            return PAWL_OK;
        if (timeout_ms == 0)
            return PAWL_ETIMEDOUT;
    }
}

/* PAWL_OK when `fd` may be ready for `events` (POLLIN, POLLOUT), or why the waiting ended. */
static int wait_for(int fd, short events, const struct pawl_socket_wait *wait)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events}};

    return wait_for_any(fds, 1, wait);
}

static short poll_events(uint32_t events)
{
    return (short)((events & PAWL_SOCKET_READABLE ? POLLIN : 0) |
                   (events & PAWL_SOCKET_WRITABLE ? POLLOUT : 0) |
                   (events & PAWL_SOCKET_CLOSED ? POLLRDHUP : 0));
}

int pawl__socket_wait_foreign(int fd, uint32_t events, const struct pawl_socket_wait *wait)
{
    return wait_for(fd, poll_events(events), wait);
}

int pawl__socket_wait_many(struct pawl_socket_poll *polls, size_t count,
                           const struct pawl_socket_wait *wait)
{
    struct pollfd fds[PAWL_SOCKET_MANY_MAX + 1];
    int status;

    PAWL_ASSERT(count <= PAWL_SOCKET_MANY_MAX);
    for (size_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = polls[i].fd, .events = poll_events(polls[i].events)};
    status = wait_for_any(fds, count, wait);
    for (size_t i = 0; i < count; i++)
        polls[i].ready = status == PAWL_OK && fds[i].revents != 0;
    return status;
}

static int wait_failed(struct pawl_error *err, int status, const char *what)
{
    return pawl__error_set(err, status, "%s: %s", what, pawl_error_text(status));
}

/* ---- addresses --------------------------------------------------------------------------- */

static int resolve_error(struct pawl_error *err, int rc, const char *host)
{
    int code = rc == EAI_NONAME   ? PAWL_ENOTFOUND
               : rc == EAI_MEMORY ? PAWL_ENOMEM
                                  : PAWL_EUNAVAILABLE;

    if (rc == EAI_SYSTEM)
        return pawl__os_error(err, errno, "cannot resolve \"%s\"", host);
    return pawl__error_set(err, code, "cannot resolve \"%s\": %s", host, gai_strerror(rc));
}

static int resolve(const char *host, uint16_t port, int flags, struct addrinfo **out,
                   struct pawl_error *err)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    char service[8];
    int rc;

    if (host && !*host)
        host = NULL;
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    rc = getaddrinfo(host, service, &hints, out);
    return rc == 0 ? PAWL_OK : resolve_error(err, rc, host ? host : "");
}

static int unix_address(const char *path, struct sockaddr_un *out, struct pawl_error *err)
{
    size_t length = strlen(path);

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (length == 0 || length >= sizeof out->sun_path)
        return pawl__error_set(err, PAWL_EINVAL,
                               "a socket's path has 1 to %zu bytes: \"%s\" has %zu; choose a "
                               "shorter folder",
                               sizeof out->sun_path - 1, path, length);
    memcpy(out->sun_path, path, length);
    return PAWL_OK;
}

static int open_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void close_keeping_errno(int fd)
{
    int saved = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = saved;
}

/* Small messages go out at once; fails harmlessly on Unix-domain sockets. */
static void set_no_delay(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* ---- listening --------------------------------------------------------------------------- */

/* The descriptor, or -1 with errno. */
static int listen_at(int family, const struct sockaddr *address, socklen_t length)
{
    const int on = 1;
    int fd = open_socket(family);

    if (fd < 0)
        return -1;
    /* A restarted server must not wait for the old one's connections to time out. */
    if (family != AF_UNIX)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address, length) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close_keeping_errno(fd);
    return -1;
}

int pawl__socket_listen(const char *host, uint16_t port, struct pawl_socket *out,
                        struct pawl_error *err)
{
    struct addrinfo *addresses;
    int status = resolve(host, port, AI_PASSIVE, &addresses, err);
    int fd = -1;

    if (status != PAWL_OK)
        return status;
    for (struct addrinfo *a = addresses; a && fd < 0; a = a->ai_next)
        fd = listen_at(a->ai_family, a->ai_addr, a->ai_addrlen);
    if (fd < 0)
        status = pawl__os_error(err, errno, "cannot listen at %s port %u",
                                host && *host ? host : "all addresses,", (unsigned)port);
    else
        out->fd = fd;
    freeaddrinfo(addresses);
    return status;
}

/* Whether this is a socket file at which nobody listens any more. */
static bool is_left_over(const struct sockaddr_un *address)
{
    struct stat info;
    int fd = open_socket(AF_UNIX);
    bool refused = lstat(address->sun_path, &info) == 0 && S_ISSOCK(info.st_mode) && fd >= 0 &&
                   connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                   errno == ECONNREFUSED;

    close_keeping_errno(fd);
    return refused;
}

int pawl__socket_listen_unix(const char *path, struct pawl_socket *out, struct pawl_error *err)
{
    struct sockaddr_un address;
    int status = unix_address(path, &address, err);
    int fd, problem;

    if (status != PAWL_OK)
        return status;
    fd = listen_at(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
    problem = errno;
    if (fd < 0 && problem == EADDRINUSE && is_left_over(&address) && unlink(path) == 0)
        fd = listen_at(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
    if (fd < 0)
        return pawl__os_error(err, problem, "cannot listen at %s", path);
    out->fd = fd;
    return PAWL_OK;
}

int pawl__socket_port(const struct pawl_socket *socket, uint16_t *out, struct pawl_error *err)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char port[8];
    int rc;

    if (getsockname(socket->fd, (struct sockaddr *)&address, &length) != 0)
        return pawl__os_error(err, errno, "cannot read a socket's address");
    if (address.ss_family != AF_INET && address.ss_family != AF_INET6)
        return pawl__error_set(err, PAWL_EINVAL, "only a TCP socket has a port");
    rc = getnameinfo((const struct sockaddr *)&address, length, NULL, 0, port, sizeof port,
                     NI_NUMERICSERV);
    if (rc != 0)
        return resolve_error(err, rc, "a socket's own address");
    *out = (uint16_t)strtoul(port, NULL, 10);
    return PAWL_OK;
}

int pawl__socket_accept(const struct pawl_socket *listener, const struct pawl_socket_wait *wait,
                        struct pawl_socket *out, struct pawl_error *err)
{
    for (;;) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        int status;

        if (fd >= 0) {
            set_no_delay(fd);
            out->fd = fd;
            return PAWL_OK;
        }
        /* The first two: this one went away again; the next may be there. */
        if (errno == ECONNABORTED || errno == EPROTO || errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return pawl__os_error(err, errno, "cannot accept a connection");
        status = wait_for(listener->fd, POLLIN, wait);
        if (status != PAWL_OK)
            return wait_failed(err, status, "waiting for a connection");
    }
}

/* ---- connecting -------------------------------------------------------------------------- */

/*
 * One address, until wait->deadline_ns. `what` names it in messages. EINTR leaves the attempt
 * under way, as EINPROGRESS does. EAGAIN is a Unix-domain listener whose backlog is full.
 */
static int connect_to(int family, const struct sockaddr *address, socklen_t length,
                      const struct pawl_socket_wait *wait, const char *what, int *out,
                      struct pawl_error *err)
{
    int fd = open_socket(family);
    int failure = 0, status = PAWL_OK;
    socklen_t size = sizeof failure;

    if (fd < 0 || (connect(fd, address, length) != 0 && errno != EINPROGRESS && errno != EINTR)) {
        status = pawl__os_error(err, errno, "cannot connect to %s", what);
        goto out;
    }
    status = wait_for(fd, POLLOUT, wait);
    if (status != PAWL_OK) {
        status =
            pawl__error_set(err, status, "connecting to %s: %s", what, pawl_error_text(status));
        goto out;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
        failure = errno;
    if (failure != 0)
        status = pawl__os_error(err, failure, "cannot connect to %s", what);
out:
    if (status == PAWL_OK)
        *out = fd;
    else
        close_keeping_errno(fd);
    return status;
}

/* The deadline of the next of `count` addresses: an equal share of what is left. */
static int64_t share_deadline(const struct pawl_socket_wait *wait, int64_t count)
{
    int64_t now_ns = pawl_env_monotonic_ns(wait->env);

    if (wait->deadline_ns == PAWL_FOREVER || wait->deadline_ns <= now_ns)
        return wait->deadline_ns;
    return now_ns + (wait->deadline_ns - now_ns) / count;
}

int pawl__socket_connect(const char *host, uint16_t port, const struct pawl_socket_wait *wait,
                         struct pawl_socket *out, struct pawl_error *err)
{
    struct addrinfo *addresses;
    int status = resolve(host, port, 0, &addresses, err);
    char what[256];
    int64_t count = 0;
    int fd = -1;

    if (status != PAWL_OK)
        return status;
    (void)snprintf(what, sizeof what, "%s port %u", host, (unsigned)port);
    for (struct addrinfo *a = addresses; a; a = a->ai_next)
        count++;
    for (struct addrinfo *a = addresses; a; a = a->ai_next) {
        struct pawl_socket_wait one = *wait;

        one.deadline_ns = share_deadline(wait, count--);
        status = connect_to(a->ai_family, a->ai_addr, a->ai_addrlen, &one, what, &fd, err);
        if (status == PAWL_OK || status == PAWL_ESTOPPED || status == PAWL_ECANCELLED)
            break;
    }
    freeaddrinfo(addresses);
    if (status != PAWL_OK)
        return status;
    set_no_delay(fd);
    out->fd = fd;
    return PAWL_OK;
}

int pawl__socket_connect_unix(const char *path, const struct pawl_socket_wait *wait,
                              struct pawl_socket *out, struct pawl_error *err)
{
    struct sockaddr_un address;
    int status = unix_address(path, &address, err);

    if (status != PAWL_OK)
        return status;
    return connect_to(AF_UNIX, (const struct sockaddr *)&address, sizeof address, wait, path,
                      &out->fd, err);
}

/* ---- reading, writing -------------------------------------------------------------------- */

int pawl__socket_read(const struct pawl_socket *socket, void *to, size_t size_bytes,
                      const struct pawl_socket_wait *wait, size_t *got, struct pawl_error *err)
{
    for (;;) {
        ssize_t count = recv(socket->fd, to, size_bytes, 0);
        int status;

        if (count >= 0) {
            *got = (size_t)count;
            return PAWL_OK;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return pawl__os_error(err, errno, "cannot read from a connection");
        status = wait_for(socket->fd, POLLIN, wait);
        if (status != PAWL_OK)
            return wait_failed(err, status, "reading from a connection");
    }
}

int pawl__socket_write(const struct pawl_socket *socket, const void *from, size_t size_bytes,
                       const struct pawl_socket_wait *wait, size_t *written, struct pawl_error *err)
{
    const char *bytes = from;

    *written = 0;
    while (*written < size_bytes) {
        ssize_t count = send(socket->fd, bytes + *written, size_bytes - *written, MSG_NOSIGNAL);
        int status;

        if (count >= 0) {
            *written += (size_t)count;
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return pawl__os_error(err, errno, "cannot write to a connection");
        status = wait_for(socket->fd, POLLOUT, wait);
        if (status != PAWL_OK)
            return wait_failed(err, status, "writing to a connection");
    }
    return PAWL_OK;
}

void pawl__socket_keepalive(const struct pawl_socket *socket, int64_t silent_ms)
{
    /* Half of the time without a word, then three questions in the other half. */
    const int on = 1, count = 3, user_ms = (int)silent_ms;
    const int idle_s = silent_ms >= 2000 ? (int)(silent_ms / 2000) : 1;
    const int interval_s = silent_ms >= 6000 ? (int)(silent_ms / 6000) : 1;

    if (setsockopt(socket->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) != 0)
        return;
    (void)setsockopt(socket->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(socket->fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    (void)setsockopt(socket->fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    (void)setsockopt(socket->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_ms, sizeof user_ms);
}

void pawl__socket_shutdown(const struct pawl_socket *socket)
{
    (void)shutdown(socket->fd, SHUT_WR);
}

void pawl__socket_close(struct pawl_socket *socket)
{
    if (socket->fd >= 0)
        (void)close(socket->fd);
    socket->fd = -1;
}

/* ---- descriptors that a client library has ------------------------------------------------- */

bool pawl__socket_descriptor_has_input(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) != 0;
}

static bool is_at(const struct sockaddr_storage *name, const char *address, int port)
{
    struct sockaddr_in v4 = {0};
    struct sockaddr_in6 v6 = {0};
    struct in6_addr parsed = {0}; /* the larger one */

    if ((name->ss_family != AF_INET && name->ss_family != AF_INET6) ||
        inet_pton(name->ss_family, address, &parsed) != 1)
        return false;
    memcpy(&v4, name, sizeof v4);
    memcpy(&v6, name, sizeof v6);
    if (name->ss_family == AF_INET)
        return ntohs(v4.sin_port) == port && memcmp(&v4.sin_addr, &parsed, sizeof v4.sin_addr) == 0;
    return ntohs(v6.sin6_port) == port && memcmp(&v6.sin6_addr, &parsed, sizeof parsed) == 0;
}

bool pawl__socket_descriptor_has_ends(int fd, const struct pawl_socket_ends *ends)
{
    struct sockaddr_storage local = {0}, remote = {0};
    socklen_t local_size = sizeof local, remote_size = sizeof remote;

    return getsockname(fd, (struct sockaddr *)&local, &local_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&remote, &remote_size) == 0 &&
           is_at(&local, ends->local, ends->local_port) &&
           is_at(&remote, ends->remote, ends->remote_port);
}

void pawl__socket_close_descriptor(int fd)
{
    (void)close(fd);
}
