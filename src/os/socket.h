/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte streams over TCP and Unix-domain sockets, with deadlines.
 *
 * Every call that may wait takes a struct pawl_socket_wait: until when, in which environment, and
 * which waker ends it early. Waits return PAWL_ETIMEDOUT at the deadline, PAWL_ECANCELLED
 * when the waker was woken, and PAWL_ESTOPPED within a second of the environment's stop (who wants
 * that sooner wakes the waker too).
 *
 * No call raises SIGPIPE; no descriptor is inherited by programs that are executed. One thread may
 * read while another writes; otherwise a socket has one user at a time.
 */
#ifndef PAWL_OS_SOCKET_H
#define PAWL_OS_SOCKET_H

#include <pawl/ext/env.h>

#include <stdbool.h>

/* ---- waker ------------------------------------------------------------------------------- */

struct pawl_waker {
    int fd;
};

/* PAWL_EUNAVAILABLE: no descriptor left. */
PAWL_MUST_CHECK int pawl__waker_init(struct pawl_waker *waker, struct pawl_error *err);
void pawl__waker_release(struct pawl_waker *waker);

/* Ends present and future waits with this waker, until it is reset. From any thread, any time. */
void pawl__waker_wake(struct pawl_waker *waker);
void pawl__waker_reset(struct pawl_waker *waker);

/* ---- sockets ----------------------------------------------------------------------------- */

struct pawl_socket {
    int fd; /* -1: closed */
};

#define PAWL_SOCKET_INIT                                                                           \
    {                                                                                              \
        -1                                                                                         \
    }

struct pawl_socket_wait {
    struct pawl_env *env;           /* its monotonic clock, its stop */
    const struct pawl_waker *waker; /* NULL: none */
    int64_t deadline_ns;
};

/*
 * Listens at a host's address ("" or NULL: all of this machine's) and port (0: any free one, which
 * pawl__socket_port() tells). Names are resolved without a deadline. PAWL_EBUSY: in use.
 */
PAWL_MUST_CHECK int pawl__socket_listen(const char *host, uint16_t port, struct pawl_socket *out,
                                        struct pawl_error *err);

/*
 * Listens at a path of at most 107 bytes. A socket file left by a process that is gone is replaced;
 * one that another process listens on is
 * PAWL_EBUSY, and so is a file that is no socket. The file stays after the close: remove it.
 */
PAWL_MUST_CHECK int pawl__socket_listen_unix(const char *path, struct pawl_socket *out,
                                             struct pawl_error *err);

/* The local port of a TCP socket. */
PAWL_MUST_CHECK int pawl__socket_port(const struct pawl_socket *socket, uint16_t *out,
                                      struct pawl_error *err);

PAWL_MUST_CHECK int pawl__socket_accept(const struct pawl_socket *listener,
                                        const struct pawl_socket_wait *wait,
                                        struct pawl_socket *out, struct pawl_error *err);

/*
 * Tries the host's addresses one after the other; each gets its share of the time left, so that one
 * that is silent does not use up all of it. The result is that of the last. Resolving the name has
 * no deadline: where that matters, give a numeric address.
 */
PAWL_MUST_CHECK int pawl__socket_connect(const char *host, uint16_t port,
                                         const struct pawl_socket_wait *wait,
                                         struct pawl_socket *out, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__socket_connect_unix(const char *path, const struct pawl_socket_wait *wait,
                                              struct pawl_socket *out, struct pawl_error *err);

/* Waits for at least one byte and reads what is there. *got 0: the other side has ended. */
PAWL_MUST_CHECK int pawl__socket_read(const struct pawl_socket *socket, void *to, size_t size_bytes,
                                      const struct pawl_socket_wait *wait, size_t *got,
                                      struct pawl_error *err);

/*
 * Hands all bytes to the system. *written is set on failure too: so many were handed over before,
 * and the other side may have them.
 */
PAWL_MUST_CHECK int pawl__socket_write(const struct pawl_socket *socket, const void *from,
                                       size_t size_bytes, const struct pawl_socket_wait *wait,
                                       size_t *written, struct pawl_error *err);

/*
 * Waits for a descriptor of other code, such as a client library's connection. PAWL_OK:
 * it may be ready for one of `events`, or broken; its owner finds out by using it.
 */
#define PAWL_SOCKET_READABLE 1u
#define PAWL_SOCKET_WRITABLE 2u
PAWL_MUST_CHECK int pawl__socket_wait_foreign(int fd, uint32_t events,
                                              const struct pawl_socket_wait *wait);

/*
 * The same for several descriptors, at most PAWL_SOCKET_MANY_MAX: PAWL_OK when one of them may be
 * ready; those have `ready` set. A descriptor of -1 is never ready.
 */
#define PAWL_SOCKET_CLOSED 4u /* the other side has ended; what it sent before may be unread */
#define PAWL_SOCKET_MANY_MAX 64
struct pawl_socket_poll {
    int fd;
    uint32_t events; /* PAWL_SOCKET_… */
    bool ready;
};
PAWL_MUST_CHECK int pawl__socket_wait_many(struct pawl_socket_poll *polls, size_t count,
                                           const struct pawl_socket_wait *wait);

/* Lets the system notice within about `silent_ms` that the other side is cut off. No-op for
 * Unix-domain sockets. */
void pawl__socket_keepalive(const struct pawl_socket *socket, int64_t silent_ms);

/* The peer reads end-of-file after what was written; reading still works. */
void pawl__socket_shutdown(const struct pawl_socket *socket);

/* Closing a closed one does nothing. */
void pawl__socket_close(struct pawl_socket *socket);

/* ---- descriptors that a client library has ----------------------------------------------- */

/* Whether bytes, the other side's end or an error wait to be read. Never waits. */
bool pawl__socket_descriptor_has_input(int fd);

/* The two ends of a TCP connection; numeric addresses, IPv4 or IPv6. */
struct pawl_socket_ends {
    const char *local, *remote;
    int local_port, remote_port;
};
/* false too for what is no socket, is not connected, or is closed. */
bool pawl__socket_descriptor_has_ends(int fd, const struct pawl_socket_ends *ends);
void pawl__socket_close_descriptor(int fd);

#endif
