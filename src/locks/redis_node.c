/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread per node, see redis_private.h: it connects, connects again with growing pauses, and
 * listens on a separate connection for releases of names that were refused here.
 *
 * Releases are published per name, so that nobody hears of names he does not wait for. A name is
 * listened for from its first refusal until 30 s after its last. What was released before the
 * subscription stood is not missed: its confirmation wakes too.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/redis_private.h"
#include "resilience/backoff.h"

#include <stdio.h>

#define CONNECT_NS INT64_C(5000000000)
#define BACKOFF_NS_MIN INT64_C(20000000)
#define BACKOFF_NS_MAX INT64_C(1000000000)
#define SWEEP_NS INT64_C(10000000000)
#define WATCH_NS INT64_C(30000000000)
#define WATCHES_MAX 4096
/* Commands between two flushes of a new subscriber. */
#define SUBSCRIBE_BATCH 256

/* ---- what both do ------------------------------------------------------------------------ */

void pawl__redis_target(const struct redis_node *node, struct pawl_redis_target *out)
{
    *out = (struct pawl_redis_target){
        .host = node->address.host,
        .port = node->address.port,
        .database = node->address.database,
        .user = pawl__str(node->address.user),
        .password = pawl__str(node->address.password),
        .client_name = node->redis->client_name,
        /* A connection that is cut off must not outlive the leases that it should renew. */
        .silent_ms = node->redis->ttl_ms > 2000 ? node->redis->ttl_ms / 2 : 1000,
    };
}

static bool is_stopping(struct redis_locks *redis)
{
    bool stopping;

    if (pawl__redis_lock(redis, NULL) != PAWL_OK)
        return true;
    stopping = redis->is_stopping;
    pawl__redis_unlock(redis);
    return stopping;
}

/* ---- commands ---------------------------------------------------------------------------- */

static int load_scripts(struct redis_node *node, struct pawl_redis_conn *conn,
                        const struct pawl_socket_wait *wait, char sha[][41], struct pawl_error *err)
{
    int status = PAWL_OK;

    for (int i = REDIS_SCRIPT_NONE + 1; i < REDIS_SCRIPT_COUNT && status == PAWL_OK; i++)
        status = pawl__redis_queue(conn,
                                   (struct pawl_str[]){pawl__str("SCRIPT"), pawl__str("LOAD"),
                                                       pawl__str(pawl__redis_scripts[i])},
                                   3);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__redis_flush(conn, wait, err);
    for (int i = REDIS_SCRIPT_NONE + 1; i < REDIS_SCRIPT_COUNT && status == PAWL_OK; i++) {
        struct pawl_redis_reply reply;

        status = pawl__redis_receive(conn, wait, &reply, err);
        if (status != PAWL_OK)
            break;
        sha[i][0] = 0; /* EVAL will do */
        if (reply.type == PAWL_REDIS_TEXT && reply.text.len == 40)
            (void)snprintf(sha[i], 41, "%.*s", PAWL_STR_ARG(reply.text));
        else
            status = pawl__redis_reply_error(&reply, err);
    }
    if (status != PAWL_OK)
        (void)pawl__error_prefix(err, status, "%s port %u", node->address.host,
                                 (unsigned)node->address.port);
    return status;
}

/* PAWL_OK: the node is up. */
static int connect_node(struct redis_node *node)
{
    struct redis_locks *redis = node->redis;
    const struct pawl_socket_wait wait = {redis->env, &node->waker,
                                          pawl_env_monotonic_ns(redis->env) + CONNECT_NS};
    struct pawl_redis_conn *conn = NULL;
    struct pawl_redis_target target;
    struct pawl_error err = PAWL_ERROR_INIT;
    char sha[REDIS_SCRIPT_COUNT][41] = {{0}};
    int status;

    pawl__redis_target(node, &target);
    status = pawl__redis_connect(redis->lib, &target, &wait, &conn, &err);
    if (status == PAWL_OK)
        status = load_scripts(node, conn, &wait, sha, &err);
    if (pawl__redis_lock(redis, NULL) != PAWL_OK) {
        pawl__redis_disconnect(conn);
        return PAWL_ESTOPPED;
    }
    if (status == PAWL_OK) {
        node->state = REDIS_UP;
        node->c.conn = conn;
        node->why.code = PAWL_OK;
        memcpy(node->sha, sha, sizeof sha);
        conn = NULL;
    } else {
        node->state = REDIS_DOWN;
        node->why = err;
    }
    pawl__redis_changed(redis);
    pawl__redis_unlock(redis);
    pawl__redis_disconnect(conn);
    return status;
}

/* A thread that waits for replies sees it; if there is none, it is checked here. */
static void check_alive(struct redis_node *node)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    if (pawl__redis_lock(node->redis, NULL) != PAWL_OK)
        return;
    if (!node->redis->is_led && node->c.conn && node->c.pending_count == 0 &&
        pawl__redis_read(node->c.conn, node->redis->env, &err) != PAWL_OK)
        pawl__redis_break(node, &err);
    pawl__redis_unlock(node->redis);
}

/* ---- watches ----------------------------------------------------------------------------- */

static void free_watch(struct redis_locks *redis, struct redis_watch *watch)
{
    (void)pawl__map_remove(&redis->watches, pawl__str_make(watch->name, watch->size));
    pawl__list_remove(&watch->link);
    pawl__free(&redis->env->alloc, watch, sizeof *watch + watch->size);
}

void pawl__redis_watch(struct redis_locks *redis, struct pawl_str name)
{
    struct redis_watch *watch = pawl__map_get(&redis->watches, name);
    bool is_new = !watch;

    if (!redis->is_listened)
        return;
    if (is_new && redis->watches.live_count < WATCHES_MAX) {
        watch = pawl__alloc_zeroed(&redis->env->alloc, sizeof *watch + name.len);
        if (!watch)
            return;
        watch->size = name.len;
        if (name.len > 0)
            memcpy(watch->name, name.ptr, name.len);
        if (pawl__map_put(&redis->watches, pawl__str_make(watch->name, watch->size), watch) !=
            PAWL_OK) {
            pawl__free(&redis->env->alloc, watch, sizeof *watch + name.len);
            return;
        }
    } else if (is_new) {
        return;
    } else {
        pawl__list_remove(&watch->link);
    }
    watch->refused_ns = pawl_env_monotonic_ns(redis->env);
    pawl__list_push_back(&redis->watch_order, &watch->link);
    for (size_t i = 0; i < redis->node_count && is_new; i++)
        if (redis->nodes[i].state == REDIS_UP)
            pawl__waker_wake(&redis->nodes[i].waker);
}

static int queue_subscription(struct redis_node *node, const char *verb, struct redis_watch *watch)
{
    struct pawl_buf channel;
    int status;

    pawl__buf_init(&channel, &node->redis->env->alloc, PAWL_LOCK_NAME_MAX + sizeof REDIS_CHANNEL);
    pawl__buf_text(&channel, REDIS_CHANNEL);
    pawl__buf_append(&channel, watch->name, watch->size);
    status = channel.status;
    if (status == PAWL_OK)
        status = pawl__redis_queue(
            node->subscriber, (struct pawl_str[]){pawl__str(verb), pawl__buf_peek(&channel)}, 2);
    pawl__buf_release(&channel);
    return status;
}

/* Under the lock: queues what this node's subscriber lacks or has no more use for. */
static size_t queue_subscriptions(struct redis_node *node)
{
    struct redis_locks *redis = node->redis;
    const uint32_t bit = (uint32_t)1 << node->index;
    int64_t old_ns = pawl_env_monotonic_ns(redis->env) - WATCH_NS;
    struct pawl_list_link *link = redis->watch_order.head.next, *next;
    size_t count = 0;

    for (; link != &redis->watch_order.head && count < SUBSCRIBE_BATCH; link = next) {
        struct redis_watch *watch = PAWL_CONTAINER(link, struct redis_watch, link);
        bool is_old = watch->refused_ns < old_ns, has_it = watch->nodes & bit;

        next = link->next;
        if (is_old && has_it && queue_subscription(node, "UNSUBSCRIBE", watch) == PAWL_OK) {
            watch->nodes &= ~bit;
            count++;
        } else if (!is_old && !has_it && queue_subscription(node, "SUBSCRIBE", watch) == PAWL_OK) {
            watch->nodes |= bit;
            count++;
        }
        if (is_old && watch->nodes == 0)
            free_watch(redis, watch);
    }
    return count;
}

static void forget_subscriptions(struct redis_node *node)
{
    struct redis_watch *watch;

    if (pawl__redis_lock(node->redis, NULL) != PAWL_OK)
        return;
    PAWL_LIST_FOR_EACH (watch, &node->redis->watch_order, link)
        watch->nodes &= ~((uint32_t)1 << node->index);
    pawl__redis_unlock(node->redis);
}

/* ---- listening --------------------------------------------------------------------------- */

static void handle_message(struct redis_node *node, const struct pawl_redis_reply *reply)
{
    struct pawl_redis_reply kind = pawl__redis_element(reply, 0),
                            channel = pawl__redis_element(reply, 1);

    if (!pawl__str_is(kind.text, "message") && !pawl__str_is(kind.text, "subscribe"))
        return;
    if (!pawl__str_starts(channel.text, pawl__str(REDIS_CHANNEL)))
        return;
    pawl__lock_notifier_wake(
        &node->redis->notifier,
        pawl__str_slice(channel.text, strlen(REDIS_CHANNEL), channel.text.len));
}

/* Subscribes as others asked for, until there is nothing left to do. */
static int sync_subscriptions(struct redis_node *node)
{
    struct redis_locks *redis = node->redis;

    for (;;) {
        const struct pawl_socket_wait wait = {redis->env, NULL,
                                              pawl_env_monotonic_ns(redis->env) + CONNECT_NS};
        size_t count;
        int status = pawl__redis_lock(redis, NULL);

        if (status != PAWL_OK)
            return status;
        count = queue_subscriptions(node);
        pawl__redis_unlock(redis);
        if (count == 0)
            return PAWL_OK;
        status = pawl__redis_flush(node->subscriber, &wait, NULL);
        if (status != PAWL_OK)
            return status;
    }
}

static int take_messages(struct redis_node *node)
{
    int status = pawl__redis_read(node->subscriber, node->redis->env, NULL);

    while (status == PAWL_OK) {
        struct pawl_redis_reply reply;

        status = pawl__redis_next(node->subscriber, &reply, NULL);
        if (status == PAWL_OK)
            handle_message(node, &reply);
    }
    return status == PAWL_EBUSY ? PAWL_OK : status;
}

static void drop_subscriber(struct redis_node *node)
{
    if (!node->subscriber)
        return;
    pawl__redis_disconnect(node->subscriber);
    node->subscriber = NULL;
    forget_subscriptions(node);
}

/* Waits for messages, for work of this thread, or for a while. */
static int wait_for_news(struct redis_node *node)
{
    struct redis_locks *redis = node->redis;
    int64_t now_ns = pawl_env_monotonic_ns(redis->env);
    const struct pawl_socket_wait wait = {redis->env, &node->waker,
                                          now_ns + (node->subscriber ? SWEEP_NS : BACKOFF_NS_MAX)};
    int fd = node->subscriber ? pawl__redis_fd(node->subscriber) : -1;
    int status = pawl__socket_wait_foreign(fd, PAWL_SOCKET_READABLE, &wait);

    if (status == PAWL_ECANCELLED)
        pawl__waker_reset(&node->waker);
    if (status == PAWL_OK)
        status = take_messages(node);
    return status == PAWL_ETIMEDOUT || status == PAWL_ECANCELLED ? PAWL_OK : status;
}

/* Whether there still is a connection for commands. */
static bool is_connected(struct redis_node *node)
{
    bool connected;

    if (pawl__redis_lock(node->redis, NULL) != PAWL_OK)
        return false;
    connected = node->c.conn && !node->redis->is_stopping;
    pawl__redis_unlock(node->redis);
    return connected;
}

static void listen_while_connected(struct redis_node *node)
{
    while (is_connected(node)) {
        int status = PAWL_OK;

        if (!node->subscriber && node->redis->is_listened) {
            const struct pawl_socket_wait wait = {
                node->redis->env, NULL, pawl_env_monotonic_ns(node->redis->env) + CONNECT_NS};
            struct pawl_redis_target target;

            pawl__redis_target(node, &target);
            /* Without it releases are found by polling, and the next round tries again. */
            if (pawl__redis_connect(node->redis->lib, &target, &wait, &node->subscriber, NULL) !=
                PAWL_OK)
                node->subscriber = NULL;
        }
        if (node->subscriber)
            status = sync_subscriptions(node);
        if (status == PAWL_OK)
            status = wait_for_news(node);
        if (status == PAWL_ESTOPPED)
            break;
        if (status != PAWL_OK) {
            drop_subscriber(node);
            check_alive(node);
        }
    }
    drop_subscriber(node);
}

static void run_node(void *arg)
{
    struct redis_node *node = arg;
    struct pawl_env *env = node->redis->env;
    uint32_t failures = 0;

    while (!is_stopping(node->redis)) {
        pawl__waker_reset(&node->waker);
        if (is_stopping(node->redis)) /* its wake may have been before the reset */
            break;
        if (connect_node(node) == PAWL_OK) {
            failures = 0;
            listen_while_connected(node);
        } else {
            const struct pawl_socket_wait wait = {
                env, &node->waker,
                pawl_env_monotonic_ns(env) +
                    pawl__backoff_ns(env, BACKOFF_NS_MIN, BACKOFF_NS_MAX, failures)};

            if (pawl__socket_wait_foreign(-1, PAWL_SOCKET_READABLE, &wait) == PAWL_ESTOPPED)
                break;
            failures += failures < UINT32_MAX;
        }
    }
}

/* ---- life -------------------------------------------------------------------------------- */

int pawl__redis_nodes_start(struct redis_locks *redis, struct pawl_error *err)
{
    if (redis->is_started)
        return PAWL_OK;
    for (size_t i = 0; i < redis->node_count; i++) {
        int status;

        if (redis->nodes[i].thread)
            continue;
        redis->nodes[i].since_ns = pawl_env_monotonic_ns(redis->env);
        status = pawl_thread_start(redis->env, "redis node", run_node, &redis->nodes[i],
                                   &redis->nodes[i].thread, err);
        if (status != PAWL_OK)
            return status;
    }
    redis->is_started = true;
    return PAWL_OK;
}

void pawl__redis_nodes_stop(struct redis_locks *redis)
{
    struct pawl_list_link *link;

    if (redis->lock && pawl__redis_lock(redis, NULL) == PAWL_OK) {
        redis->is_stopping = true;
        pawl__redis_unlock(redis);
    }
    for (size_t i = 0; i < redis->node_count; i++) {
        struct redis_node *node = &redis->nodes[i];

        if (node->thread) {
            pawl__waker_wake(&node->waker);
            pawl_thread_join(redis->env, node->thread);
        }
        pawl__redis_disconnect(node->c.conn);
        pawl__redis_disconnect(node->subscriber);
        pawl__waker_release(&node->waker);
    }
    while ((link = pawl__list_first(&redis->watch_order)))
        free_watch(redis, PAWL_CONTAINER(link, struct redis_watch, link));
}
