/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that are kept, one pool for each scope (<pawl/ext/http.h>): a share handle of libcurl
 * with a cache of connections of its own. Everything here is the thread's.
 *
 * Three limits: pools, idle connections of all pools together, and how long a pool without requests
 * is kept. A scope for which there is no room gets a connection that is used once.
 */
#include "drivers/curl_private.h"

#include "base/alloc.h"
#include "os/socket.h"

#include <string.h>

/*
 * A socket that libcurl was given for the pool. It calls back when it closes a connection, but the
 * losers of a race of addresses (IPv6 against IPv4) it closes without a word: an entry may outlive
 * its socket, and its number may be another's by then.
 */
struct curl_socket {
    struct pawl_list_link link;
    curl_socket_t fd;
    const struct curl_transfer *opener; /* NULL: a request was sent on it */
};

struct curl_pool {
    struct pawl_list_link link; /* of the driver's pools: the least recently used first */
    struct curl_driver *driver;
    CURLSH *share;
    uint32_t users;           /* requests that have its share */
    int64_t used_ns;          /* when it was used last */
    struct pawl_list sockets; /* struct curl_socket */
    size_t size_bytes;
    size_t scope_len;
    char scope[];
};

static bool is_of(const struct curl_pool *pool, struct pawl_str scope)
{
    return pool->scope_len == scope.len && memcmp(pool->scope, scope.ptr, scope.len) == 0;
}

static void remove_socket(struct curl_pool *pool, struct curl_socket *socket)
{
    pawl__list_remove(&socket->link);
    pool->driver->sockets--;
    pawl__free(&pool->driver->env->alloc, socket, sizeof *socket);
}

/* Nobody uses it. Its connections are closed. */
static void free_pool(struct curl_pool *pool)
{
    struct curl_driver *driver = pool->driver;

    PAWL_ASSERT(pool->users == 0);
    (void)driver->call.curl_share_cleanup(pool->share);
    while (!pawl__list_empty(&pool->sockets)) /* of sockets that were closed unseen */
        remove_socket(pool, PAWL_CONTAINER(pool->sockets.head.next, struct curl_socket, link));
    pawl__list_remove(&pool->link);
    driver->pool_count--;
    pawl__free(&driver->env->alloc, pool, pool->size_bytes);
}

static struct curl_pool *new_pool(struct curl_driver *driver, struct pawl_str scope)
{
    size_t size = sizeof(struct curl_pool) + scope.len;
    struct curl_pool *pool = pawl__alloc_zeroed(&driver->env->alloc, size);
    CURLSH *share = pool ? driver->call.curl_share_init() : NULL;

    if (!share || driver->call.curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) !=
                      CURLSHE_OK) {
        if (share)
            (void)driver->call.curl_share_cleanup(share);
        pawl__free(&driver->env->alloc, pool, size);
        return NULL;
    }
    pool->driver = driver;
    pool->share = share;
    pool->size_bytes = size;
    pawl__list_init(&pool->sockets);
    pool->scope_len = scope.len;
    if (scope.len > 0)
        memcpy(pool->scope, scope.ptr, scope.len);
    driver->pool_count++;
    pawl__list_push_back(&driver->pools, &pool->link);
    return pool;
}

/* The least recently used one without requests; NULL. */
static struct curl_pool *find_unused(struct curl_driver *driver)
{
    struct curl_pool *pool;

    PAWL_LIST_FOR_EACH (pool, &driver->pools, link) {
        if (pool->users == 0)
            return pool;
    }
    return NULL;
}

static struct curl_pool *find(struct curl_driver *driver, struct pawl_str scope)
{
    struct curl_pool *pool;

    PAWL_LIST_FOR_EACH (pool, &driver->pools, link) {
        if (is_of(pool, scope))
            return pool;
    }
    return NULL;
}

static void mark_used(struct curl_pool *pool)
{
    pool->used_ns = pawl_env_monotonic_ns(pool->driver->env);
    pawl__list_remove(&pool->link);
    pawl__list_push_back(&pool->driver->pools, &pool->link);
}

struct curl_pool *pawl__curl_pool_acquire(struct curl_driver *driver, struct pawl_str scope)
{
    struct curl_pool *pool = find(driver, scope);

    if (!pool && driver->pool_count >= driver->options.pools_max) {
        struct curl_pool *unused = find_unused(driver);

        if (!unused)
            return NULL;
        free_pool(unused);
    }
    if (!pool)
        pool = new_pool(driver, scope);
    if (pool) {
        pool->users++;
        mark_used(pool);
    }
    return pool;
}

void pawl__curl_pool_release(struct curl_pool *pool)
{
    if (!pool)
        return;
    pool->users--;
    mark_used(pool);
}

CURLSH *pawl__curl_pool_share(const struct curl_pool *pool)
{
    return pool->share;
}

void pawl__curl_pools_trim(struct curl_driver *driver)
{
    const struct pawl_curl_options *options = &driver->options;
    int64_t now_ns = pawl_env_monotonic_ns(driver->env);
    struct curl_pool *pool;
    bool is_full;

    while ((pool = find_unused(driver)) != NULL &&
           (now_ns - pool->used_ns >= options->idle_ns ||
            driver->sockets > driver->active + options->connections_max))
        free_pool(pool);
    /*
     * When no pool can be spared, a connection that becomes idle closes the oldest idle one of its
     * pool: libcurl compares this number with all connections of the pool.
     */
    is_full = driver->sockets >= driver->active + options->connections_max;
    (void)driver->call.curl_multi_setopt(
        driver->multi, CURLMOPT_MAXCONNECTS,
        is_full ? 1L : (long)options->connections_max + (long)options->requests_max);
}

void pawl__curl_pools_free(struct curl_driver *driver)
{
    while (!pawl__list_empty(&driver->pools))
        free_pool(PAWL_CONTAINER(driver->pools.head.next, struct curl_pool, link));
}

/* ---- sockets ------------------------------------------------------------------------------- */

bool pawl__curl_pool_add_socket(struct curl_pool *pool, const struct curl_transfer *opener,
                                curl_socket_t fd)
{
    struct curl_socket *socket = pawl__alloc_zeroed(&pool->driver->env->alloc, sizeof *socket);

    if (!socket)
        return false;
    pawl__curl_pools_remove_socket(pool->driver, fd); /* one of that number was closed unseen */
    socket->fd = fd;
    socket->opener = opener;
    pawl__list_push_back(&pool->sockets, &socket->link);
    pool->driver->sockets++;
    return true;
}

static void remove_number(struct curl_pool *pool, curl_socket_t fd)
{
    struct curl_socket *socket;

    PAWL_LIST_FOR_EACH (socket, &pool->sockets, link) {
        if (socket->fd == fd) {
            remove_socket(pool, socket);
            return;
        }
    }
}

void pawl__curl_pools_remove_socket(struct curl_driver *driver, curl_socket_t fd)
{
    struct curl_pool *pool;

    PAWL_LIST_FOR_EACH (pool, &driver->pools, link)
        remove_number(pool, fd);
}

void pawl__curl_pool_forget_sockets(struct curl_pool *pool, const struct curl_transfer *opener)
{
    struct pawl_list_link *link = pool->sockets.head.next;

    while (link != &pool->sockets.head) {
        struct curl_socket *socket = PAWL_CONTAINER(link, struct curl_socket, link);

        link = link->next;
        if (socket->opener == opener)
            remove_socket(pool, socket);
    }
}

/*
 * libcurl tells the two ends of the connection, not its socket (CURLINFO_ACTIVESOCKET is that of
 * the request before until this one is done). The system knows which of the sockets has them, and
 * no two have.
 */
static struct curl_socket *find_socket(const struct curl_pool *pool,
                                       const struct pawl_socket_ends *ends)
{
    struct curl_socket *socket;

    PAWL_LIST_FOR_EACH (socket, &pool->sockets, link) {
        if (pawl__socket_descriptor_has_ends(socket->fd, ends))
            return socket;
    }
    return NULL;
}

bool pawl__curl_pool_is_clean(struct curl_pool *pool, const struct curl_transfer *user,
                              const struct pawl_socket_ends *ends)
{
    struct curl_socket *socket = find_socket(pool, ends);
    bool is_new = socket && socket->opener == user;

    if (is_new)
        socket->opener = NULL;
    pawl__curl_pool_forget_sockets(pool, user); /* the race has ended: what is left has lost it */
    return is_new || (socket && !pawl__socket_descriptor_has_input(socket->fd));
}
