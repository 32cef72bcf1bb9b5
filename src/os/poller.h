/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread that waits for many connections, and the calls on connections that never wait.
 *
 * Two implementations: the system's (epoll), and one in memory (os/memory_network.h) in which
 * connections are simulated, so that a server runs under the baton. A connection is a number; it is
 * the poller's from watch() or accept() until drop().
 *
 * Events are edges: an event says that something may have changed, once. After READABLE the caller
 * reads until PAWL_EBUSY (or fewer bytes than asked for), or remembers that there is more; the same
 * for WRITABLE. Nothing is ever changed about what is watched, so a connection costs one call to
 * the system when it comes and one when it goes. An event may come for no reason.
 *
 * wait() has one caller at a time; it and accept(), watch() and drop() are called by the thread
 * that owns the poller. read() and write() may be called by any thread, one at a time per
 * connection and direction, as long as it is not dropped. wake() is for any thread.
 */
#ifndef PAWL_OS_POLLER_H
#define PAWL_OS_POLLER_H

#include "base/str.h"

#include <pawl/ext/env.h>

#define PAWL_POLL_READABLE 1u
#define PAWL_POLL_WRITABLE 2u
#define PAWL_POLL_ENDED 4u  /* the other side sends no more; what it sent may be unread */
#define PAWL_POLL_BROKEN 8u /* nothing can be sent or read any more */

struct pawl_poll_event {
    void *key;
    uint32_t what; /* PAWL_POLL_… */
};

/* The address of the other end. */
struct pawl_peer {
    unsigned char address[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint16_t port;
    bool local; /* a Unix-domain socket: it has no address */
};

#define PAWL_PEER_TEXT_SIZE 56
/* "192.0.2.1:80", "[2001:db8::1]:80", "local". Returns `out`. */
const char *pawl__peer_text(const struct pawl_peer *peer, char out[PAWL_PEER_TEXT_SIZE]);

/* An address with or without a port: "192.0.2.1", "[2001:db8::1]:80", "::1". false: it is none. */
bool pawl__peer_parse(struct pawl_str text, struct pawl_peer *out);

struct pawl_poller;

struct pawl_poller_ops {
    /* Connections that were not dropped are the caller's. */
    void (*close)(struct pawl_poller *poller);
    /* Events of `fd` come with `key` from now on, one for what it is like now. PAWL_ENOMEM,
     * PAWL_EUNAVAILABLE. */
    int (*watch)(struct pawl_poller *poller, int fd, void *key, struct pawl_error *err);
    /*
     * Waits for events until the deadline or a wake(). PAWL_OK: *count of them, perhaps none.
     * PAWL_ESTOPPED.
     */
    int (*wait)(struct pawl_poller *poller, int64_t deadline_ns, struct pawl_poll_event *events,
                size_t max, size_t *count);
    /* Ends the present or the next wait(). */
    void (*wake)(struct pawl_poller *poller);
    /*
     * The next connection of a listener. PAWL_EBUSY: there is none. PAWL_EUNAVAILABLE or
     * PAWL_ENOMEM: the system has no descriptor left for it; it stays where it is, and no event
     * says when to try again.
     */
    int (*accept)(struct pawl_poller *poller, int listener, int *fd, struct pawl_peer *peer,
                  struct pawl_error *err);
    /* *got 0: the other side has ended. PAWL_EBUSY: nothing there. Others: it is broken. */
    int (*read)(struct pawl_poller *poller, int fd, void *to, size_t size_bytes, size_t *got);
    /* Hands over some of two pieces in a row. PAWL_EBUSY: nothing fits. Others: it is broken. */
    int (*write)(struct pawl_poller *poller, int fd, struct pawl_str first, struct pawl_str second,
                 size_t *written);
    /* The other side reads an end behind what was written. */
    void (*end)(struct pawl_poller *poller, int fd);
    /* `abort`: what was not sent is discarded, and the other side notices. */
    void (*drop)(struct pawl_poller *poller, int fd, bool abort);
};

/* An implementation embeds this as its first member. */
struct pawl_poller {
    const struct pawl_poller_ops *ops;
};

/* The system's. PAWL_EUNAVAILABLE, PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__poller_open(struct pawl_env *env, struct pawl_poller **out,
                                      struct pawl_error *err);

static inline void pawl__poller_close(struct pawl_poller *poller) /* NULL allowed */
{
    if (poller)
        poller->ops->close(poller);
}

PAWL_MUST_CHECK static inline int pawl__poller_watch(struct pawl_poller *poller, int fd, void *key,
                                                     struct pawl_error *err)
{
    return poller->ops->watch(poller, fd, key, err);
}

PAWL_MUST_CHECK static inline int pawl__poller_wait(struct pawl_poller *poller, int64_t deadline_ns,
                                                    struct pawl_poll_event *events, size_t max,
                                                    size_t *count)
{
    return poller->ops->wait(poller, deadline_ns, events, max, count);
}

static inline void pawl__poller_wake(struct pawl_poller *poller)
{
    poller->ops->wake(poller);
}

PAWL_MUST_CHECK static inline int pawl__poller_accept(struct pawl_poller *poller, int listener,
                                                      int *fd, struct pawl_peer *peer,
                                                      struct pawl_error *err)
{
    return poller->ops->accept(poller, listener, fd, peer, err);
}

PAWL_MUST_CHECK static inline int pawl__poller_read(struct pawl_poller *poller, int fd, void *to,
                                                    size_t size_bytes, size_t *got)
{
    return poller->ops->read(poller, fd, to, size_bytes, got);
}

PAWL_MUST_CHECK static inline int pawl__poller_write(struct pawl_poller *poller, int fd,
                                                     struct pawl_str first, struct pawl_str second,
                                                     size_t *written)
{
    return poller->ops->write(poller, fd, first, second, written);
}

static inline void pawl__poller_end(struct pawl_poller *poller, int fd)
{
    poller->ops->end(poller, fd);
}

static inline void pawl__poller_drop(struct pawl_poller *poller, int fd, bool abort)
{
    poller->ops->drop(poller, fd, abort);
}

#endif
