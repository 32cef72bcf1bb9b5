/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections as pairs of ends in a table; see memory_network.h.
 *
 * One mutex guards everything. `polled` wakes the poller's owner, `moved` the clients. An end's
 * number is free again once both ends of its pair were dropped, so that nobody meets a stranger.
 */
#include "os/memory_network.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/error.h"

#define ENDS_MAX 65536
#define WINDOW_MAX ((size_t)1 << 30)

struct end {
    struct pawl_buf in; /* sent by the other end, unread */
    size_t read;        /* of it */
    size_t window;
    void *key;
    int other;     /* -1: a listener */
    int listener;  /* of an end that waits to be accepted; -1: it does not */
    uint32_t what; /* PAWL_POLL_… not yet reported */
    bool used, watched, accepted;
    bool ended;   /* sends no more */
    bool dropped; /* its owner has closed it */
    bool aborted; /* both directions are broken */
};

struct pawl_memory_network {
    struct pawl_poller base;
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *polled, *moved;
    struct end **ends;
    int count, room;
    int next; /* events are reported in turn */
    uint32_t accepted, accepted_max;
    bool woken;
};

static struct pawl_memory_network *cast(struct pawl_poller *poller)
{
    return (struct pawl_memory_network *)(void *)poller;
}

/* Calls that cannot fail lock even in a stopped environment: who unwinds drops what it has. */
static void lock(struct pawl_memory_network *network)
{
    pawl_mutex_lock_always(network->env, network->mutex);
}

static void unlock(struct pawl_memory_network *network)
{
    pawl_mutex_unlock(network->env, network->mutex);
}

static struct end *end_at(struct pawl_memory_network *network, int number)
{
    PAWL_ASSERT(number >= 0 && number < network->count && network->ends[number]->used);
    return network->ends[number];
}

static void tell(struct pawl_memory_network *network, struct end *end, uint32_t what)
{
    end->what |= what;
    if (end->watched)
        pawl_cond_signal(network->env, network->polled);
    pawl_cond_broadcast(network->env, network->moved);
}

/* ---- the table --------------------------------------------------------------------------- */

static int make_room(struct pawl_memory_network *network)
{
    int room = network->room > 0 ? network->room * 2 : 16;
    struct end **ends;

    if (network->count < network->room)
        return PAWL_OK;
    if (room > ENDS_MAX)
        return PAWL_ELIMIT;
    ends = pawl__realloc(&network->env->alloc, network->ends,
                         (size_t)network->room * sizeof *network->ends,
                         (size_t)room * sizeof *network->ends);
    if (!ends)
        return PAWL_ENOMEM;
    network->ends = ends;
    network->room = room;
    return PAWL_OK;
}

static int find_free(const struct pawl_memory_network *network)
{
    for (int i = 0; i < network->count; i++) {
        if (!network->ends[i]->used)
            return i;
    }
    return -1;
}

static int new_end(struct pawl_memory_network *network, int *out)
{
    int number = find_free(network), status;

    if (number < 0) {
        status = make_room(network);
        if (status != PAWL_OK)
            return status;
        network->ends[network->count] =
            pawl__alloc_zeroed(&network->env->alloc, sizeof *network->ends[0]);
        if (!network->ends[network->count])
            return PAWL_ENOMEM;
        number = network->count++;
    }
    *network->ends[number] =
        (struct end){.used = true, .other = -1, .listener = -1, .window = PAWL_MEMORY_WINDOW};
    pawl__buf_init(&network->ends[number]->in, &network->env->alloc, WINDOW_MAX);
    *out = number;
    return PAWL_OK;
}

static void free_end(struct end *end)
{
    pawl__buf_release(&end->in);
    end->used = false;
}

/* Both are kept until both were dropped. */
static void drop_end(struct pawl_memory_network *network, int number, bool abort)
{
    struct end *end = end_at(network, number);
    struct end *other = end->other >= 0 ? end_at(network, end->other) : NULL;

    PAWL_ASSERT(!end->dropped);
    end->dropped = end->ended = true;
    end->watched = false;
    if (end->accepted)
        network->accepted--;
    if (!other || other->dropped) {
        if (other)
            free_end(other);
        free_end(end);
        return;
    }
    if (abort)
        other->aborted = true;
    tell(network, other, PAWL_POLL_ENDED | PAWL_POLL_READABLE | (abort ? PAWL_POLL_BROKEN : 0));
}

/* ---- streams ----------------------------------------------------------------------------- */

static size_t unread(const struct end *end)
{
    return end->in.len - end->read;
}

/* PAWL_EBUSY: nothing is there. */
static int take_bytes(struct pawl_memory_network *network, struct end *end, void *to,
                      size_t size_bytes, size_t *got)
{
    struct end *other = end_at(network, end->other);
    size_t count = unread(end) < size_bytes ? unread(end) : size_bytes;

    if (end->aborted)
        return PAWL_EUNAVAILABLE;
    if (count == 0) {
        *got = 0;
        return other->ended ? PAWL_OK : PAWL_EBUSY;
    }
    memcpy(to, end->in.ptr + end->read, count);
    end->read += count;
    if (unread(end) == 0) {
        pawl__buf_clear(&end->in);
        end->read = 0;
    }
    tell(network, other, PAWL_POLL_WRITABLE);
    *got = count;
    return PAWL_OK;
}

/* PAWL_EBUSY: nothing fits. */
static int put_bytes(struct pawl_memory_network *network, struct end *end, struct pawl_str bytes,
                     size_t *written)
{
    struct end *other = end_at(network, end->other);
    size_t room = other->window > unread(other) ? other->window - unread(other) : 0;
    size_t count = bytes.len < room ? bytes.len : room;

    if (end->aborted || other->dropped || end->ended)
        return PAWL_EUNAVAILABLE;
    if (count == 0 && bytes.len > 0)
        return PAWL_EBUSY;
    pawl__buf_append(&other->in, bytes.ptr, count);
    if (other->in.status != PAWL_OK) {
        end->aborted = other->aborted = true;
        return PAWL_EUNAVAILABLE;
    }
    tell(network, other, PAWL_POLL_READABLE);
    *written = count;
    return PAWL_OK;
}

/* ---- the poller -------------------------------------------------------------------------- */

static void memory_close(struct pawl_poller *poller)
{
    (void)poller; /* with the network */
}

static int memory_watch(struct pawl_poller *poller, int fd, void *key, struct pawl_error *err)
{
    struct pawl_memory_network *network = cast(poller);
    struct end *end;

    (void)err;
    lock(network);
    end = end_at(network, fd);
    end->watched = true;
    end->key = key;
    tell(network, end, PAWL_POLL_WRITABLE);
    unlock(network);
    return PAWL_OK;
}

static size_t collect(struct pawl_memory_network *network, struct pawl_poll_event *events,
                      size_t max)
{
    size_t count = 0;

    for (int looked = 0; looked < network->count && count < max; looked++) {
        struct end *end = network->ends[network->next++ % network->count];

        network->next %= network->count;
        if (!end->used || !end->watched || end->what == 0)
            continue;
        events[count].key = end->key;
        events[count++].what = end->what;
        end->what = 0;
    }
    return count;
}

static int memory_wait(struct pawl_poller *poller, int64_t deadline_ns,
                       struct pawl_poll_event *events, size_t max, size_t *count)
{
    struct pawl_memory_network *network = cast(poller);
    int status = pawl_mutex_lock(network->env, network->mutex);

    if (status != PAWL_OK)
        return status;
    *count = collect(network, events, max);
    while (*count == 0 && !network->woken && status == PAWL_OK && deadline_ns != INT64_MIN) {
        status = pawl_cond_wait(network->env, network->polled, network->mutex, deadline_ns);
        *count = collect(network, events, max);
    }
    network->woken = false;
    unlock(network);
    return status == PAWL_ESTOPPED ? status : PAWL_OK;
}

static void memory_wake(struct pawl_poller *poller)
{
    struct pawl_memory_network *network = cast(poller);

    lock(network);
    network->woken = true;
    pawl_cond_signal(network->env, network->polled);
    unlock(network);
}

static int accept_locked(struct pawl_memory_network *network, int listener, int *out,
                         struct pawl_error *err)
{
    for (int i = 0; i < network->count; i++) {
        struct end *end = network->ends[i];

        if (!end->used || end->listener != listener)
            continue;
        if (network->accepted_max > 0 && network->accepted >= network->accepted_max)
            return pawl__error_set(err, PAWL_EUNAVAILABLE, "no descriptor left for a connection");
        end->listener = -1;
        end->accepted = true;
        network->accepted++;
        *out = i;
        return PAWL_OK;
    }
    return PAWL_EBUSY;
}

static int memory_accept(struct pawl_poller *poller, int listener, int *fd, struct pawl_peer *peer,
                         struct pawl_error *err)
{
    struct pawl_memory_network *network = cast(poller);
    int status;

    lock(network);
    status = accept_locked(network, listener, fd, err);
    unlock(network);
    if (status == PAWL_OK)
        *peer = (struct pawl_peer){.address = {[15] = 1}, .port = (uint16_t)*fd};
    return status;
}

static int memory_read(struct pawl_poller *poller, int fd, void *to, size_t size_bytes, size_t *got)
{
    struct pawl_memory_network *network = cast(poller);
    int status;

    lock(network);
    status = take_bytes(network, end_at(network, fd), to, size_bytes, got);
    unlock(network);
    return status;
}

static int memory_write(struct pawl_poller *poller, int fd, struct pawl_str first,
                        struct pawl_str second, size_t *written)
{
    struct pawl_memory_network *network = cast(poller);
    size_t more = 0;
    int status;

    if (first.len == 0) {
        first = second;
        second = pawl__str("");
    }
    lock(network);
    status = put_bytes(network, end_at(network, fd), first, written);
    if (status == PAWL_OK && *written == first.len && second.len > 0 &&
        put_bytes(network, end_at(network, fd), second, &more) == PAWL_OK)
        *written += more;
    unlock(network);
    return status;
}

static void end_stream(struct pawl_memory_network *network, int number)
{
    struct end *end;

    lock(network);
    end = end_at(network, number);
    end->ended = true;
    tell(network, end_at(network, end->other), PAWL_POLL_ENDED | PAWL_POLL_READABLE);
    unlock(network);
}

static void memory_end(struct pawl_poller *poller, int fd)
{
    end_stream(cast(poller), fd);
}

static void memory_drop(struct pawl_poller *poller, int fd, bool abort)
{
    struct pawl_memory_network *network = cast(poller);

    lock(network);
    for (int i = 0; i < network->count; i++) { /* a listener: those who wait are refused */
        if (network->ends[i]->used && network->ends[i]->listener == fd)
            drop_end(network, i, true);
    }
    drop_end(network, fd, abort);
    unlock(network);
}

static const struct pawl_poller_ops memory_ops = {
    .close = memory_close,
    .watch = memory_watch,
    .wait = memory_wait,
    .wake = memory_wake,
    .accept = memory_accept,
    .read = memory_read,
    .write = memory_write,
    .end = memory_end,
    .drop = memory_drop,
};

/* ---- the network ------------------------------------------------------------------------- */

int pawl__memory_network_new(struct pawl_env *env, struct pawl_memory_network **out)
{
    struct pawl_memory_network *network = pawl__alloc_zeroed(&env->alloc, sizeof *network);
    int status;

    if (!network)
        return PAWL_ENOMEM;
    network->base.ops = &memory_ops;
    network->env = env;
    status = pawl_mutex_new(env, "network", &network->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "polled", &network->polled);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "moved", &network->moved);
    if (status == PAWL_OK)
        *out = network;
    else
        pawl__memory_network_free(network);
    return status;
}

void pawl__memory_network_free(struct pawl_memory_network *network)
{
    if (!network)
        return;
    for (int i = 0; i < network->count; i++) {
        if (network->ends[i]->used)
            free_end(network->ends[i]);
        pawl__free(&network->env->alloc, network->ends[i], sizeof *network->ends[i]);
    }
    pawl__free(&network->env->alloc, network->ends, (size_t)network->room * sizeof *network->ends);
    pawl_cond_free(network->env, network->moved);
    pawl_cond_free(network->env, network->polled);
    pawl_mutex_free(network->env, network->mutex);
    pawl__free(&network->env->alloc, network, sizeof *network);
}

struct pawl_poller *pawl__memory_network_poller(struct pawl_memory_network *network)
{
    return &network->base;
}

int pawl__memory_network_listen(struct pawl_memory_network *network, int *out)
{
    int status;

    lock(network);
    status = new_end(network, out);
    unlock(network);
    return status;
}

void pawl__memory_network_limit(struct pawl_memory_network *network, uint32_t accepted_max)
{
    lock(network);
    network->accepted_max = accepted_max;
    unlock(network);
}

static bool is_listening(const struct pawl_memory_network *network, int listener)
{
    return listener >= 0 && listener < network->count && network->ends[listener]->used &&
           network->ends[listener]->other < 0;
}

static int connect_locked(struct pawl_memory_network *network, int listener, int *out)
{
    int client, server, status;

    if (!is_listening(network, listener))
        return PAWL_EUNAVAILABLE;
    status = new_end(network, &client);
    if (status != PAWL_OK)
        return status;
    status = new_end(network, &server);
    if (status != PAWL_OK) {
        free_end(network->ends[client]);
        return status;
    }
    network->ends[client]->other = server;
    network->ends[server]->other = client;
    network->ends[server]->listener = listener;
    tell(network, network->ends[listener], PAWL_POLL_READABLE);
    *out = client;
    return PAWL_OK;
}

int pawl__memory_network_connect(struct pawl_memory_network *network, int listener, int *out)
{
    int status;

    lock(network);
    status = connect_locked(network, listener, out);
    unlock(network);
    return status;
}

void pawl__memory_network_window(struct pawl_memory_network *network, int client, size_t bytes)
{
    struct end *end;

    lock(network);
    end = end_at(network, client);
    end->window = bytes;
    tell(network, end_at(network, end->other), PAWL_POLL_WRITABLE);
    unlock(network);
}

/* Waits for somebody to read or write, after a call that was PAWL_EBUSY. */
static int await_move(struct pawl_memory_network *network, int64_t deadline_ns)
{
    if (deadline_ns == INT64_MIN)
        return PAWL_ETIMEDOUT;
    return pawl_cond_wait(network->env, network->moved, network->mutex, deadline_ns);
}

int pawl__memory_network_send(struct pawl_memory_network *network, int client,
                              struct pawl_str bytes, int64_t deadline_ns)
{
    int status = PAWL_OK;

    lock(network);
    while (bytes.len > 0 && status == PAWL_OK) {
        size_t count = 0;

        status = put_bytes(network, end_at(network, client), bytes, &count);
        if (status == PAWL_EBUSY)
            status = await_move(network, deadline_ns);
        bytes = pawl__str_slice(bytes, count, bytes.len);
    }
    unlock(network);
    return status;
}

int pawl__memory_network_receive(struct pawl_memory_network *network, int client, void *to,
                                 size_t size_bytes, int64_t deadline_ns, size_t *got)
{
    int status;

    lock(network);
    do {
        status = take_bytes(network, end_at(network, client), to, size_bytes, got);
        if (status != PAWL_EBUSY)
            break;
        status = await_move(network, deadline_ns);
    } while (status == PAWL_OK);
    unlock(network);
    return status;
}

void pawl__memory_network_end(struct pawl_memory_network *network, int client)
{
    end_stream(network, client);
}

void pawl__memory_network_hang_up(struct pawl_memory_network *network, int client, bool abort)
{
    lock(network);
    drop_end(network, client, abort);
    unlock(network);
}
