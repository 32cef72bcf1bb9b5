/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspecting Redis: status, who holds a lock, which are held. Rare, and on separate
 * connections, so that a long list never delays a renewal.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/hex.h"
#include "locks/redis_private.h"

#include <stdio.h>

#define SCAN_COUNT "500"
/* Rounds of a SCAN at the most: a server may have many other keys. */
#define SCAN_ROUNDS_MAX 20000
#define LISTED_BYTES_MAX ((size_t)64 << 20)

static struct redis_locks *self(struct pawl_lock_provider *provider)
{
    return (struct redis_locks *)provider;
}

static int connect_one(struct redis_locks *redis, size_t index, int64_t deadline_ns,
                       struct pawl_redis_conn **out, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {redis->env, NULL, deadline_ns};
    struct pawl_redis_target target;

    pawl__redis_target(&redis->nodes[index], &target);
    return pawl__redis_connect(redis->lib, &target, &wait, out, err);
}

static int send_and_wait(struct redis_locks *redis, struct pawl_redis_conn *conn,
                         const struct pawl_str *words, size_t count, int64_t deadline_ns,
                         struct pawl_redis_reply *out, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {redis->env, NULL, deadline_ns};
    int status = pawl__redis_queue(conn, words, count);

    *out = (struct pawl_redis_reply){.type = PAWL_REDIS_NIL, .text = pawl__str("")};
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__redis_flush(conn, &wait, err);
    if (status == PAWL_OK)
        status = pawl__redis_receive(conn, &wait, out, err);
    if (status == PAWL_OK && out->type == PAWL_REDIS_ERROR)
        status = pawl__redis_reply_error(out, err);
    return status;
}

/* ---- status ------------------------------------------------------------------------------ */

/* The value of "field:value" in the answer to INFO; "" when there is none. */
static struct pawl_str info_field(struct pawl_str info, const char *field)
{
    struct pawl_str name = pawl__str(field);

    for (size_t from = 0; from < info.len;) {
        size_t end = pawl__str_find(info, '\n', from);
        struct pawl_str line = pawl__str_slice(info, from, end);

        if (line.len > name.len && line.ptr[name.len] == ':' && pawl__str_starts(line, name))
            return pawl__str_trim(pawl__str_slice(line, name.len + 1, line.len));
        if (end == SIZE_MAX)
            break;
        from = end + 1;
    }
    return pawl__str("");
}

/* What an operator should know of one server. */
static int check_server(const struct redis_node *node, struct pawl_str info,
                        struct pawl_lock_status *out, struct pawl_error *err)
{
    struct pawl_str policy = info_field(info, "maxmemory_policy");
    const char *host = node->address.host;
    unsigned port = node->address.port;

    if (pawl__str_is(info_field(info, "redis_mode"), "cluster"))
        return pawl__error_set(
            err, PAWL_EUNSUPPORTED,
            "%s port %u is part of a Redis Cluster, which is not supported for locks: "
            "name single servers",
            host, port);
    if (pawl__str_is(info_field(info, "role"), "slave"))
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "%s port %u is a replica; give the primary's address", host, port);
    if (*out->warning)
        return PAWL_OK;
    if (policy.len > 0 && !pawl__str_is(policy, "noeviction") &&
        !pawl__str_is(info_field(info, "maxmemory"), "0"))
        (void)snprintf(out->warning, sizeof out->warning,
                       "%s port %u may drop locks when its memory is full: set maxmemory-policy to "
                       "noeviction",
                       host, port);
    else if (node->redis->node_count == 1 && pawl__str_is(info_field(info, "aof_enabled"), "0"))
        (void)snprintf(out->warning, sizeof out->warning,
                       "%s port %u loses locks when it restarts: set appendonly to yes and "
                       "appendfsync to always, or name three servers",
                       host, port);
    return PAWL_OK;
}

int pawl__redis_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    struct pawl_error why = PAWL_ERROR_INIT;
    char version[32] = "";
    size_t good = 0;

    *out = (struct pawl_lock_status){.ttl_ms = redis->ttl_ms};
    for (size_t i = 0; i < redis->node_count; i++) {
        struct pawl_redis_conn *conn = NULL;
        struct pawl_redis_reply reply = {.type = PAWL_REDIS_NIL};
        struct pawl_error one = PAWL_ERROR_INIT;
        int status = connect_one(redis, i, deadline_ns, &conn, &one);

        if (status == PAWL_OK)
            status = send_and_wait(redis, conn, (struct pawl_str[]){pawl__str("INFO")}, 1,
                                   deadline_ns, &reply, &one);
        if (status == PAWL_OK)
            status = check_server(&redis->nodes[i], reply.text, out, &one);
        if (status == PAWL_OK) {
            (void)snprintf(version, sizeof version, "%.*s",
                           PAWL_STR_ARG(info_field(reply.text, "redis_version")));
            good++;
        } else if (why.code == PAWL_OK) {
            why = one;
        }
        pawl__redis_disconnect(conn);
        if (status == PAWL_EUNSUPPORTED || status == PAWL_ESTOPPED)
            return pawl__error_set(err, status, "%s", one.msg);
    }
    if (good < redis->quorum)
        return pawl__error_set(err, why.code, "%s", why.msg);
    if (redis->node_count == 1)
        (void)snprintf(out->server, sizeof out->server, "Redis %s", version);
    else
        (void)snprintf(out->server, sizeof out->server, "Redis %s, %zu of %zu nodes", version, good,
                       redis->node_count);
    if (good < redis->node_count)
        (void)snprintf(out->warning, sizeof out->warning, "%.200s", why.msg);
    return PAWL_OK;
}

/* ---- holders ----------------------------------------------------------------------------- */

static void copy(char *to, size_t size, struct pawl_str from)
{
    size_t count = from.len < size - 1 ? from.len : size - 1;

    if (count > 0)
        memcpy(to, from.ptr, count);
    to[count] = 0;
}

static int64_t read_int(struct pawl_str digits)
{
    int64_t value = 0;

    for (size_t i = 0; i < digits.len && i < 18 && digits.ptr[i] >= '0' && digits.ptr[i] <= '9';
         i++)
        value = value * 10 + (digits.ptr[i] - '0');
    return value;
}

/* What one server reports about a name. */
static int inspect_key(struct redis_locks *redis, struct pawl_redis_conn *conn,
                       struct pawl_str name, struct pawl_lock_holder *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct pawl_redis_reply reply;
    struct pawl_buf fence;
    int status = send_and_wait(redis, conn, (struct pawl_str[]){pawl__str("GET"), name}, 2,
                               deadline_ns, &reply, err);

    *out = (struct pawl_lock_holder){.remaining_ms = -1};
    copy(out->key, sizeof out->key, name);
    if (status != PAWL_OK)
        return status;
    out->held = reply.type == PAWL_REDIS_TEXT;
    copy(out->owner, sizeof out->owner, reply.text);
    status = send_and_wait(redis, conn, (struct pawl_str[]){pawl__str("PTTL"), name}, 2,
                           deadline_ns, &reply, err);
    if (status != PAWL_OK)
        return status;
    if (reply.type == PAWL_REDIS_INT && reply.integer >= 0)
        out->remaining_ms = reply.integer;
    else if (reply.type == PAWL_REDIS_INT && reply.integer == -2)
        out->held = false; /* it ended between the two questions */
    if (!out->held)
        *out->owner = 0;
    pawl__buf_init(&fence, &redis->env->alloc, PAWL_LOCK_NAME_MAX + 16);
    pawl__buf_byte(&fence, '{');
    pawl__buf_str(&fence, name);
    pawl__buf_text(&fence, "}:fence");
    status = fence.status == PAWL_OK
                 ? send_and_wait(redis, conn,
                                 (struct pawl_str[]){pawl__str("GET"), pawl__buf_peek(&fence)}, 2,
                                 deadline_ns, &reply, err)
                 : pawl__error_code(err, fence.status);
    pawl__buf_release(&fence);
    if (status == PAWL_OK && reply.type == PAWL_REDIS_TEXT)
        out->token = (uint64_t)read_int(reply.text);
    return status;
}

int pawl__redis_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                        struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    struct pawl_lock_holder *seen;
    char owners[REDIS_NODES_MAX][PAWL_LOCK_OWNER_SIZE * 2];
    struct pawl_lock_holder one;
    size_t good = 0;
    uint64_t token = 0;
    bool is_decided = false;
    int status = PAWL_OK;

    if (name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes",
                               PAWL_LOCK_NAME_MAX);
    seen = out;
    for (size_t i = 0; i < redis->node_count; i++) {
        struct pawl_redis_conn *conn = NULL;
        size_t same = 1;

        status = connect_one(redis, i, deadline_ns, &conn, err);
        if (status == PAWL_OK)
            status = inspect_key(redis, conn, name, &one, deadline_ns, err);
        pawl__redis_disconnect(conn);
        if (status == PAWL_ESTOPPED)
            return status;
        if (status != PAWL_OK)
            continue;
        token = one.token > token ? one.token : token;
        for (size_t j = 0; j < good; j++)
            same += strcmp(owners[j], one.owner) == 0;
        memcpy(owners[good++], one.owner, sizeof one.owner);
        if (same >= redis->quorum && !is_decided) {
            *seen = one;
            is_decided = true;
        }
    }
    if (good < redis->quorum)
        return status;
    if (!is_decided) { /* no majority has the same owner: nobody holds it */
        one.held = false;
        *one.owner = 0;
        one.remaining_ms = -1;
        *seen = one;
    }
    seen->token = token;
    return PAWL_OK;
}

/* ---- list -------------------------------------------------------------------------------- */

/* HOST_PID_ and 32 hexadecimal digits: other keys of the server are no locks. */
static bool is_owner(struct pawl_str value)
{
    size_t digits = 0;

    if (value.len < 36 || value.ptr[value.len - 33] != '_')
        return false;
    for (size_t i = value.len - 32; i < value.len; i++)
        if (pawl__hex_value(value.ptr[i]) < 0)
            return false;
    for (size_t i = value.len - 34; value.ptr[i] >= '0' && value.ptr[i] <= '9' && i > 0; i--)
        digits++;
    return digits > 0 && value.ptr[value.len - 34 - digits] == '_';
}

struct listing {
    struct redis_locks *redis;
    struct pawl_redis_conn *scan;
    struct pawl_redis_conn *looks[REDIS_NODES_MAX]; /* NULL: it cannot be asked */
    struct pawl_map seen;    /* keys that were reported, of several servers */
    struct pawl_arena arena; /* for them */
    size_t left;
    int (*each)(void *ctx, const struct pawl_lock_holder *holder);
    void *ctx;
    int64_t deadline_ns;
};

/* Who holds `key` as server `node` says, and whether a majority says the same. */
static int inspect_majority(struct listing *l, size_t node, struct pawl_str key,
                            struct pawl_lock_holder *out, bool *is_held, struct pawl_error *err)
{
    size_t same = 1;
    int status = inspect_key(l->redis, l->looks[node], key, out, l->deadline_ns, err);

    *is_held = false;
    if (status != PAWL_OK || !out->held || !is_owner(pawl__str(out->owner)))
        return status;
    for (size_t i = 0; i < l->redis->node_count && same < l->redis->quorum; i++) {
        struct pawl_lock_holder other;

        if (i == node || !l->looks[i])
            continue;
        status = inspect_key(l->redis, l->looks[i], key, &other, l->deadline_ns, err);
        if (status != PAWL_OK)
            return status;
        same += other.held && strcmp(other.owner, out->owner) == 0;
        out->token = other.token > out->token ? other.token : out->token;
    }
    *is_held = same >= l->redis->quorum;
    return PAWL_OK;
}

/* Whether it is the first time, on several servers. */
static int note_seen(struct listing *l, struct pawl_str key, bool *is_new)
{
    char *copied;

    *is_new = l->redis->node_count == 1 || !pawl__map_has(&l->seen, key);
    if (!*is_new || l->redis->node_count == 1)
        return PAWL_OK;
    copied = pawl__arena_alloc(&l->arena, key.len + 1);
    if (!copied)
        return PAWL_ENOMEM;
    memcpy(copied, key.ptr, key.len);
    return pawl__map_put(&l->seen, pawl__str_make(copied, key.len), copied);
}

/* PAWL_ECANCELLED: enough. */
static int list_keys(struct listing *l, size_t node, const struct pawl_redis_reply *keys,
                     struct pawl_error *err)
{
    for (size_t i = 0; i < keys->count; i++) {
        struct pawl_redis_reply key = pawl__redis_element(keys, i);
        struct pawl_lock_holder holder;
        bool is_held, is_new = false;
        int status = inspect_majority(l, node, key.text, &holder, &is_held, err);

        if (status == PAWL_EINVAL) /* it has become something else */
            continue;
        if (status == PAWL_OK && is_held)
            status = note_seen(l, key.text, &is_new);
        if (status != PAWL_OK)
            return pawl__error_prefix(err, status, "listing locks");
        if (is_new && (l->left-- == 0 || l->each(l->ctx, &holder) != 0))
            return PAWL_ECANCELLED;
    }
    return PAWL_OK;
}

static int list_node(struct listing *l, size_t node, struct pawl_error *err)
{
    char cursor[32] = "0";

    for (int round = 0; round < SCAN_ROUNDS_MAX; round++) {
        const struct pawl_str words[] = {pawl__str("SCAN"),  pawl__str(cursor),
                                         pawl__str("COUNT"), pawl__str(SCAN_COUNT),
                                         pawl__str("TYPE"),  pawl__str("string")};
        struct pawl_redis_reply reply, keys;
        int status = send_and_wait(l->redis, l->scan, words, 6, l->deadline_ns, &reply, err);

        if (status != PAWL_OK)
            return status;
        keys = pawl__redis_element(&reply, 1);
        (void)snprintf(cursor, sizeof cursor, "%.*s",
                       PAWL_STR_ARG(pawl__redis_element(&reply, 0).text));
        status = list_keys(l, node, &keys, err);
        if (status != PAWL_OK)
            return status;
        if (strcmp(cursor, "0") == 0)
            return PAWL_OK;
    }
    return pawl__error_set(err, PAWL_ELIMIT, "the server has too many keys to list");
}

/* A majority shares a server with every other: the first n - quorum + 1 know all that is held, but
 * one may be behind. All are looked through. */
static int list_all(struct listing *l, struct pawl_error *err)
{
    size_t good = 0;
    int status = PAWL_OK;

    for (size_t i = 0; i < l->redis->node_count; i++) {
        status = connect_one(l->redis, i, l->deadline_ns, &l->looks[i], err);
        if (status == PAWL_ESTOPPED)
            return status;
        good += status == PAWL_OK;
    }
    if (good < l->redis->quorum)
        return status != PAWL_OK ? status : PAWL_EUNAVAILABLE;
    for (size_t i = 0; i < l->redis->node_count; i++) {
        if (!l->looks[i])
            continue;
        status = connect_one(l->redis, i, l->deadline_ns, &l->scan, err);
        if (status == PAWL_OK)
            status = list_node(l, i, err);
        pawl__redis_disconnect(l->scan);
        l->scan = NULL;
        if (status != PAWL_OK)
            return status == PAWL_ECANCELLED ? PAWL_OK : status;
    }
    return PAWL_OK;
}

int pawl__redis_list(struct pawl_lock_provider *provider, size_t limit,
                     int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                     int64_t deadline_ns, struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    struct listing l = {
        .redis = redis, .left = limit, .each = each, .ctx = ctx, .deadline_ns = deadline_ns};
    int status;

    pawl__map_init(&l.seen, &redis->env->alloc, redis->watches.seed);
    pawl__arena_init(&l.arena, &redis->env->alloc, LISTED_BYTES_MAX);
    status = list_all(&l, err);
    for (size_t i = 0; i < redis->node_count; i++)
        pawl__redis_disconnect(l.looks[i]);
    pawl__map_release(&l.seen);
    pawl__arena_release(&l.arena);
    return status;
}
