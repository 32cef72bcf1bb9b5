/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to Redis nodes and their answers, see redis_private.h.
 *
 * A node answers in the order it was asked in: `pending` has a request per answer to come. The
 * first who waits is the leader and polls the connections of all nodes, without the lock; everybody
 * else waits for `changed`. Only the leader, or whoever has the lock while there is none, closes a
 * connection: no thread polls a descriptor that was closed and reused.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/redis_private.h"

#define SPARE_MAX 1024
/* A node that has not replied for this long to a request gets a new connection. */
#define SILENT_NS_MIN INT64_C(5000000000)
/* A majority does without the others, but waits so long for those that are about to be there. */
#define GRACE_NS INT64_C(50000000)

struct redis_request {
    struct pawl_list_link link;
    struct redis_call *call; /* NULL: nothing waits for the reply */
    uint32_t item;
    int64_t sent_ns;
};

/* ---- requests ---------------------------------------------------------------------------- */

static struct redis_request *take_request(struct redis_locks *redis)
{
    struct pawl_list_link *link = pawl__list_pop_front(&redis->spare);

    if (!link)
        return pawl__alloc_zeroed(&redis->env->alloc, sizeof(struct redis_request));
    redis->spare_count--;
    return PAWL_CONTAINER(link, struct redis_request, link);
}

static void drop_request(struct redis_locks *redis, struct redis_request *request)
{
    request->call = NULL;
    if (redis->spare_count >= SPARE_MAX) {
        pawl__free(&redis->env->alloc, request, sizeof *request);
        return;
    }
    pawl__list_push_front(&redis->spare, &request->link);
    redis->spare_count++;
}

void pawl__redis_requests_free(struct redis_locks *redis)
{
    struct pawl_list_link *link;

    for (size_t i = 0; i < redis->node_count; i++)
        while ((link = pawl__list_pop_front(&redis->nodes[i].c.pending)))
            pawl__free(&redis->env->alloc, PAWL_CONTAINER(link, struct redis_request, link),
                       sizeof(struct redis_request));
    while ((link = pawl__list_pop_front(&redis->spare)))
        pawl__free(&redis->env->alloc, PAWL_CONTAINER(link, struct redis_request, link),
                   sizeof(struct redis_request));
}

static struct redis_request *pop_pending(struct redis_node *node)
{
    struct pawl_list_link *link = pawl__list_pop_front(&node->c.pending);

    if (link)
        node->c.pending_count--;
    return PAWL_CONTAINER(link, struct redis_request, link);
}

static void push_pending(struct redis_node *node, struct redis_request *request)
{
    pawl__list_push_back(&node->c.pending, &request->link);
    node->c.pending_count++;
    request->sent_ns = pawl_env_monotonic_ns(node->redis->env);
}

/* ---- the end of a connection ------------------------------------------------------------- */

/* By the leader, or while there is none. */
static void close_broken(struct redis_node *node)
{
    struct redis_locks *redis = node->redis;
    struct redis_request *request;

    pawl__redis_disconnect(node->c.conn);
    node->c.conn = NULL;
    node->c.is_broken = false;
    node->state = REDIS_CONNECTING;
    node->since_ns = pawl_env_monotonic_ns(redis->env);
    while ((request = pop_pending(node))) {
        struct redis_call *call = request->call;
        uint32_t item = request->item;

        drop_request(redis, request);
        if (!call)
            continue;
        call->open_count--;
        call->answer(call, node, item, NULL, PAWL_EUNKNOWN, &node->why);
    }
    pawl__waker_wake(&node->waker);
    if (redis->waiting_count > 0)
        pawl_cond_broadcast(redis->env, redis->changed);
}

void pawl__redis_break(struct redis_node *node, const struct pawl_error *why)
{
    if (!node->c.conn || node->c.is_broken)
        return;
    node->c.is_broken = true;
    node->why = *why;
    if (node->redis->is_led)
        pawl__waker_wake(&node->redis->kick);
    else
        close_broken(node);
}

void pawl__redis_changed(struct redis_locks *redis)
{
    if (redis->is_led)
        pawl__waker_wake(&redis->kick);
    pawl_cond_broadcast(redis->env, redis->changed);
}

/* ---- asking ------------------------------------------------------------------------------ */

int pawl__redis_lock(struct redis_locks *redis, struct pawl_error *err)
{
    int status = pawl_mutex_lock(redis->env, redis->lock);

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

void pawl__redis_unlock(struct redis_locks *redis)
{
    pawl_mutex_unlock(redis->env, redis->lock);
}

int pawl__redis_await_nodes(struct redis_locks *redis, int64_t deadline_ns)
{
    for (;;) {
        size_t up = 0, connecting = 0;
        int64_t grace_ns = INT64_MIN;
        int status;

        for (size_t i = 0; i < redis->node_count; i++) {
            const struct redis_node *node = &redis->nodes[i];

            up += node->state == REDIS_UP;
            if (node->state != REDIS_CONNECTING)
                continue;
            connecting++;
            if (node->since_ns + GRACE_NS > grace_ns)
                grace_ns = node->since_ns + GRACE_NS;
        }
        if (connecting == 0)
            return PAWL_OK;
        if (up < redis->quorum || grace_ns > deadline_ns)
            grace_ns = deadline_ns;
        redis->waiting_count++;
        status = pawl_cond_wait(redis->env, redis->changed, redis->lock, grace_ns);
        redis->waiting_count--;
        if (status == PAWL_ETIMEDOUT)
            return PAWL_OK; /* requests to nodes that are down have failed already */
        if (status != PAWL_OK) {
            pawl__redis_unlock(redis);
            return status;
        }
    }
}

/* Whether it has been asked for long and is silent. */
static bool is_stuck(const struct redis_node *node)
{
    struct redis_request *first =
        PAWL_CONTAINER(pawl__list_first(&node->c.pending), struct redis_request, link);
    int64_t ttl_ns = node->redis->ttl_ms * REDIS_NS_PER_MS;
    int64_t silent_ns = ttl_ns > SILENT_NS_MIN ? ttl_ns : SILENT_NS_MIN;

    return node->c.pending_count >= REDIS_PENDING_MAX ||
           (first && pawl_env_monotonic_ns(node->redis->env) - first->sent_ns > silent_ns);
}

static bool is_usable(struct redis_node *node)
{
    struct pawl_error err;

    if (node->c.conn && !node->c.is_broken && is_stuck(node)) {
        (void)pawl__error_set(&err, PAWL_EUNAVAILABLE, "Redis at %s port %u does not reply",
                              node->address.host, (unsigned)node->address.port);
        pawl__redis_break(node, &err);
    }
    return node->c.conn && !node->c.is_broken;
}

void pawl__redis_ask(struct redis_call *call, struct redis_node *node, uint32_t item)
{
    struct redis_request *request;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    if (!is_usable(node)) {
        err = node->why;
        if (err.code == PAWL_OK)
            (void)pawl__error_set(&err, PAWL_EUNAVAILABLE, "Redis at %s port %u: not connected yet",
                                  node->address.host, (unsigned)node->address.port);
        call->answer(call, node, item, NULL, PAWL_EUNAVAILABLE, &err);
        return;
    }
    request = take_request(node->redis);
    status = request ? call->send(call, node, item, false) : PAWL_ENOMEM;
    if (status != PAWL_OK) {
        if (request)
            drop_request(node->redis, request);
        (void)pawl__error_code(&err, status);
        call->answer(call, node, item, NULL, status, &err);
        return;
    }
    request->call = call;
    request->item = item;
    call->open_count++;
    push_pending(node, request);
}

void pawl__redis_tell(struct redis_node *node, const struct pawl_str *words, size_t count)
{
    struct redis_request *request;

    if (!is_usable(node))
        return;
    request = take_request(node->redis);
    if (!request)
        return;
    if (pawl__redis_queue(node->c.conn, words, count) == PAWL_OK)
        push_pending(node, request);
    else
        drop_request(node->redis, request);
}

int pawl__redis_queue_script(struct redis_node *node, enum redis_script script, bool full,
                             const struct pawl_str *keys, size_t key_count,
                             const struct pawl_str *args, size_t arg_count)
{
    struct pawl_str words[3 + 2 + 4];
    char number[2] = {(char)('0' + key_count), 0};
    size_t count = 0;

    PAWL_ASSERT(key_count <= 2 && arg_count <= 4);
    full = full || node->sha[script][0] == 0;
    words[count++] = pawl__str(full ? "EVAL" : "EVALSHA");
    words[count++] = pawl__str(full ? pawl__redis_scripts[script] : node->sha[script]);
    words[count++] = pawl__str(number);
    for (size_t i = 0; i < key_count; i++)
        words[count++] = keys[i];
    for (size_t i = 0; i < arg_count; i++)
        words[count++] = args[i];
    return pawl__redis_queue(node->c.conn, words, count);
}

static void flush_node(struct redis_node *node)
{
    const struct pawl_socket_wait now = {node->redis->env, NULL, INT64_MIN};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    if (!node->c.conn || node->c.is_broken || pawl__redis_is_flushed(node->c.conn))
        return;
    status = pawl__redis_flush(node->c.conn, &now, &err);
    if (status != PAWL_OK && status != PAWL_ETIMEDOUT && status != PAWL_ESTOPPED)
        pawl__redis_break(node, &err);
}

void pawl__redis_send(struct redis_locks *redis)
{
    for (size_t i = 0; i < redis->node_count; i++) {
        flush_node(&redis->nodes[i]);
        /* The socket buffer is full: the poller must also wait for POLLOUT. */
        if (redis->is_led && redis->nodes[i].c.conn &&
            !pawl__redis_is_flushed(redis->nodes[i].c.conn))
            pawl__waker_wake(&redis->kick);
    }
}

/* ---- answers ----------------------------------------------------------------------------- */

static bool is_unknown_script(const struct pawl_redis_reply *reply)
{
    return reply->type == PAWL_REDIS_ERROR && pawl__str_starts(reply->text, pawl__str("NOSCRIPT"));
}

static void deliver(struct redis_node *node, struct redis_request *request,
                    const struct pawl_redis_reply *reply)
{
    struct redis_call *call = request->call;
    uint32_t item = request->item;

    /* The server has forgotten its scripts: again, with the text. */
    if (call && is_unknown_script(reply) && call->send(call, node, item, true) == PAWL_OK) {
        push_pending(node, request);
        return;
    }
    drop_request(node->redis, request);
    if (!call)
        return;
    call->open_count--;
    call->answer(call, node, item, reply, PAWL_OK, NULL);
}

/* By the leader. */
static void receive(struct redis_node *node)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__redis_read(node->c.conn, node->redis->env, &err);

    while (status == PAWL_OK) {
        struct pawl_redis_reply reply;
        struct redis_request *request;

        status = pawl__redis_next(node->c.conn, &reply, &err);
        if (status != PAWL_OK)
            break;
        request = pop_pending(node);
        if (request)
            deliver(node, request, &reply);
        else
            status = pawl__error_set(&err, PAWL_EUNAVAILABLE, "Redis: an unexpected reply");
    }
    if (status != PAWL_EBUSY && status != PAWL_ESTOPPED)
        pawl__redis_break(node, &err);
}

/* One round of polling, for everybody. */
static int lead(struct redis_locks *redis, int64_t deadline_ns)
{
    const struct pawl_socket_wait wait = {redis->env, &redis->kick, deadline_ns};
    struct pawl_socket_poll polls[REDIS_NODES_MAX];
    int status;

    for (size_t i = 0; i < redis->node_count; i++) {
        struct pawl_redis_conn *conn = redis->nodes[i].c.conn;

        polls[i] = (struct pawl_socket_poll){
            .fd = conn ? pawl__redis_fd(conn) : -1,
            .events = conn && !pawl__redis_is_flushed(conn)
                          ? PAWL_SOCKET_READABLE | PAWL_SOCKET_WRITABLE
                          : PAWL_SOCKET_READABLE,
        };
    }
    redis->is_led = true;
    pawl__redis_unlock(redis);
    status = pawl__socket_wait_many(polls, redis->node_count, &wait);
    /* Stopped: is_led stays, so that nobody delivers to calls that have unwound. */
    if (pawl_mutex_lock(redis->env, redis->lock) != PAWL_OK)
        return PAWL_ESTOPPED;
    if (status == PAWL_ESTOPPED) {
        pawl__redis_unlock(redis);
        return status;
    }
    redis->is_led = false;
    if (status == PAWL_ECANCELLED)
        pawl__waker_reset(&redis->kick);
    for (size_t i = 0; i < redis->node_count; i++) {
        struct redis_node *node = &redis->nodes[i];

        if (node->c.is_broken)
            close_broken(node);
        else if (polls[i].ready)
            receive(node);
        flush_node(node);
    }
    /* Replies for other threads may have been among them. */
    if (redis->waiting_count > 0)
        pawl_cond_broadcast(redis->env, redis->changed);
    return status == PAWL_ECANCELLED ? PAWL_OK : status;
}

/* Nothing refers to the call afterwards. */
static void detach(struct redis_call *call, struct redis_locks *redis)
{
    bool was_done = call->is_done(call);
    struct pawl_error err;

    for (size_t i = 0; i < redis->node_count && call->open_count > 0; i++) {
        struct redis_request *request;

        PAWL_LIST_FOR_EACH (request, &redis->nodes[i].c.pending, link) {
            if (request->call != call)
                continue;
            request->call = NULL;
            call->open_count--;
            if (was_done)
                continue;
            (void)pawl__error_set(&err, PAWL_EUNKNOWN, "Redis at %s port %u: no reply in time",
                                  redis->nodes[i].address.host,
                                  (unsigned)redis->nodes[i].address.port);
            call->answer(call, &redis->nodes[i], request->item, NULL, PAWL_EUNKNOWN, &err);
        }
    }
}

int pawl__redis_await(struct redis_call *call, struct redis_locks *redis, int64_t deadline_ns)
{
    int status = PAWL_OK;

    while (status == PAWL_OK && call->open_count > 0 && !call->is_done(call)) {
        if (!redis->is_led) {
            status = lead(redis, deadline_ns);
        } else {
            redis->waiting_count++;
            status = pawl_cond_wait(redis->env, redis->changed, redis->lock, deadline_ns);
            redis->waiting_count--;
            if (status == PAWL_ESTOPPED) {
                detach(call, redis);
                pawl__redis_unlock(redis);
            }
        }
    }
    if (status == PAWL_ESTOPPED)
        return status;
    detach(call, redis);
    /* Another thread's reply may have arrived too, and another thread must lead. */
    if (redis->waiting_count > 0)
        pawl_cond_broadcast(redis->env, redis->changed);
    return PAWL_OK;
}
