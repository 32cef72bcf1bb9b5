/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in Redis, see providers.h: what nodes are asked and how their votes are counted. One server
 * is a majority of one, with two differences: its refusal to renew is the end of a lock also when
 * the key is simply gone, and an attempt without an answer is unknown.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/redis_private.h"
#include "os/process.h"

#include <inttypes.h>
#include <stdio.h>

/* An attempt may use a tenth of the lease, but a busy machine must have some time. */
#define BUDGET_NS_MIN INT64_C(50000000)

const char *const pawl__redis_scripts[REDIS_SCRIPT_COUNT] = {
    [REDIS_ACQUIRE] = "if not redis.call('set',KEYS[1],ARGV[1],'NX',ARGV[2],ARGV[3]) then "
                      "return 0 end "
                      "local f=redis.call('incr',KEYS[2]) "
                      "if f==1 then local t=redis.call('time') f=t[1]*1000000+t[2] "
                      "redis.call('set',KEYS[2],string.format('%.0f',f)) end "
                      "return f",
    [REDIS_EXTEND] = "if redis.call('get',KEYS[1])==ARGV[1] then "
                     "return redis.call('pexpire',KEYS[1],ARGV[2]) end "
                     "return 0",
    [REDIS_REJOIN] = "local v=redis.call('get',KEYS[1]) "
                     "if v==ARGV[1] then redis.call('pexpire',KEYS[1],ARGV[2]) return 1 end "
                     "if not v then redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 2 end "
                     "return 0",
    /* Publishing may be forbidden to this user, and is no reason to fail. */
    [REDIS_RELEASE] = "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('del',KEYS[1]) "
                      "redis.pcall('publish','" REDIS_CHANNEL "'..KEYS[1],'') return 1 end "
                      "return 0",
    [REDIS_RAISE] = "if tonumber(redis.call('get',KEYS[1]) or '0')<tonumber(ARGV[1]) then "
                    "redis.call('set',KEYS[1],ARGV[1]) end "
                    "return 1",
};

static struct redis_locks *self(struct pawl_lock_provider *provider)
{
    return (struct redis_locks *)provider;
}

static int64_t budget_ns(const struct redis_locks *redis)
{
    int64_t ttl_ns = redis->ttl_ms * REDIS_NS_PER_MS, budget = ttl_ns / 10;

    if (budget < BUDGET_NS_MIN)
        budget = BUDGET_NS_MIN < ttl_ns / 2 ? BUDGET_NS_MIN : ttl_ns / 2;
    return budget;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* ---- votes ------------------------------------------------------------------------------- */

struct votes {
    size_t yes, no, fault, unknown; /* unknown ones are faults too */
    uint32_t nodes_no;              /* bits */
    struct pawl_error err;          /* of the first fault */
};

static void count_fault(struct votes *votes, int code, const struct pawl_error *err)
{
    votes->fault++;
    votes->unknown += code == PAWL_EUNKNOWN;
    if (votes->err.code == PAWL_OK && err)
        votes->err = *err;
}

/* There is no reason to wait for more. */
static bool is_decided(const struct redis_locks *redis, const struct votes *votes)
{
    return votes->yes >= redis->quorum ||
           votes->no + votes->fault > redis->node_count - redis->quorum;
}

static int fault_error(const struct redis_locks *redis, const struct votes *votes, int code,
                       struct pawl_error *err)
{
    if (redis->node_count == 1)
        return pawl__error_set(err, code, "%s", votes->err.msg);
    return pawl__error_set(err, code, "%zu of %zu Redis nodes failed: %s", votes->fault,
                           redis->node_count, votes->err.msg);
}

/* ---- one question about one grant -------------------------------------------------------- */

struct grant_call {
    struct redis_call call; /* first */
    struct redis_locks *redis;
    struct pawl_lock_grant *grant;
    enum redis_script script; /* NONE: SET */
    struct pawl_str fence_key;
    struct votes votes;
    uint64_t token; /* the greatest */
    char ttl[24], token_text[24];
    bool is_seconds;
};

static void set_ttl(struct grant_call *g)
{
    int64_t ttl_ms = g->redis->ttl_ms;

    g->is_seconds = ttl_ms % 1000 == 0;
    (void)snprintf(g->ttl, sizeof g->ttl, "%" PRId64, g->is_seconds ? ttl_ms / 1000 : ttl_ms);
}

static int send_one(struct redis_call *call, struct redis_node *node, uint32_t item, bool full)
{
    struct grant_call *g = (struct grant_call *)call;
    const struct pawl_str owner = pawl__str(g->grant->owner);
    const struct pawl_str keys[2] = {g->grant->name, g->fence_key};
    const struct pawl_str unit = pawl__str(g->is_seconds ? "EX" : "PX"), ttl = pawl__str(g->ttl);

    (void)item;
    if (g->script == REDIS_SCRIPT_NONE)
        return pawl__redis_queue(node->c.conn,
                                 (struct pawl_str[]){pawl__str("SET"), g->grant->name, owner, unit,
                                                     ttl, pawl__str("NX")},
                                 6);
    if (g->script == REDIS_ACQUIRE)
        return pawl__redis_queue_script(node, g->script, full, keys, 2,
                                        (struct pawl_str[]){owner, unit, ttl}, 3);
    if (g->script == REDIS_RAISE)
        return pawl__redis_queue_script(node, g->script, full, &g->fence_key, 1,
                                        (struct pawl_str[]){pawl__str(g->token_text)}, 1);
    return pawl__redis_queue_script(node, g->script, full, keys, 1, &owner, 1);
}

static void note_reply(struct redis_call *call, struct redis_node *node, uint32_t item,
                       const struct pawl_redis_reply *reply, int code, const struct pawl_error *err)
{
    struct grant_call *g = (struct grant_call *)call;
    const uint32_t bit = (uint32_t)1 << node->index;
    struct pawl_error why = PAWL_ERROR_INIT;

    (void)item;
    if (!reply) {
        count_fault(&g->votes, code, err);
    } else if (reply->type == PAWL_REDIS_NIL ||
               (reply->type == PAWL_REDIS_INT && reply->integer == 0)) {
        g->votes.no++;
        g->votes.nodes_no |= bit;
    } else if (reply->type == PAWL_REDIS_INT || reply->type == PAWL_REDIS_STATUS) {
        g->votes.yes++;
        if (reply->type == PAWL_REDIS_INT && (uint64_t)reply->integer > g->token)
            g->token = (uint64_t)reply->integer;
    } else {
        code = pawl__redis_reply_error(reply, &why);
        count_fault(&g->votes, code, &why);
    }
}

static bool is_one_done(struct redis_call *call)
{
    struct grant_call *g = (struct grant_call *)call;

    /* A release is done where a majority knows of it, held or not. */
    if (g->script == REDIS_RELEASE)
        return g->votes.yes + g->votes.no >= g->redis->quorum ||
               g->votes.fault > g->redis->node_count - g->redis->quorum;
    return is_decided(g->redis, &g->votes);
}

/* Asks all nodes, under the lock. */
static int call_all_nodes(struct grant_call *g, enum redis_script script, int64_t deadline_ns)
{
    g->call = (struct redis_call){send_one, note_reply, is_one_done, 0};
    g->script = script;
    g->votes = (struct votes){0};
    for (size_t i = 0; i < g->redis->node_count; i++)
        pawl__redis_ask(&g->call, &g->redis->nodes[i], 0);
    pawl__redis_send(g->redis);
    return pawl__redis_await(&g->call, g->redis, deadline_ns);
}

/* Behind what was asked, in order, without waiting. With the text: nobody would try again. */
static void post_release(struct redis_locks *redis, const struct pawl_lock_grant *grant,
                         uint32_t nodes_no)
{
    const struct pawl_str words[] = {pawl__str("EVAL"),
                                     pawl__str(pawl__redis_scripts[REDIS_RELEASE]), pawl__str("1"),
                                     grant->name, pawl__str(grant->owner)};

    for (size_t i = 0; i < redis->node_count; i++)
        if (!(nodes_no & (uint32_t)1 << i)) /* these have said that it does not exist */
            pawl__redis_tell(&redis->nodes[i], words, 5);
    pawl__redis_send(redis);
}

/* ---- attempts ---------------------------------------------------------------------------- */

static int refused(struct grant_call *g, struct pawl_error *err)
{
    const struct redis_locks *redis = g->redis;
    const struct votes *votes = &g->votes;

    /* Also where nobody has waited for the answer. */
    post_release(g->redis, g->grant, votes->nodes_no);
    if (votes->fault <= redis->node_count - redis->quorum) {
        pawl__redis_watch(g->redis, g->grant->name);
        return pawl__error_code(err, PAWL_EBUSY);
    }
    if (votes->yes + votes->unknown >= redis->quorum) {
        g->grant->valid_until_ns = 0; /* it may take effect when the server continues */
        return fault_error(redis, votes, PAWL_EUNKNOWN, err);
    }
    return fault_error(redis, votes,
                       redis->node_count == 1 && votes->err.code != PAWL_OK ? votes->err.code
                                                                            : PAWL_EUNAVAILABLE,
                       err);
}

/*
 * Several nodes count separately: the next holder's majority shares a node with this one's, and
 * that node must have counted at least as far as the token that is handed out now.
 */
static int raise_fence(struct grant_call *g, int64_t deadline_ns, struct pawl_error *err)
{
    int status;

    (void)snprintf(g->token_text, sizeof g->token_text, "%" PRIu64, g->token);
    status = call_all_nodes(g, REDIS_RAISE, deadline_ns);
    if (status != PAWL_OK)
        return status;
    if (g->votes.yes >= g->redis->quorum)
        return PAWL_OK;
    post_release(g->redis, g->grant, 0);
    return fault_error(g->redis, &g->votes, PAWL_EUNAVAILABLE, err);
}

/* Under the lock; PAWL_ESTOPPED: not any more. */
static int attempt(struct grant_call *g, int64_t deadline_ns, struct pawl_error *err)
{
    bool wants_token = g->grant->flags & PAWL_LOCK_WANT_TOKEN;
    struct redis_locks *redis = g->redis;
    int64_t sent_ns, until_ns;
    uint64_t token;
    int status = pawl__redis_await_nodes(redis, deadline_ns);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    sent_ns = pawl_env_monotonic_ns(redis->env);
    deadline_ns = earlier(deadline_ns, sent_ns + budget_ns(redis));
    status = call_all_nodes(g, wants_token ? REDIS_ACQUIRE : REDIS_SCRIPT_NONE, deadline_ns);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (g->votes.yes < redis->quorum)
        return refused(g, err);
    token = g->token;
    if (wants_token && redis->node_count > 1)
        status = raise_fence(g, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    until_ns = pawl__lock_valid_until(sent_ns, redis->ttl_ms);
    if (pawl_env_monotonic_ns(redis->env) >= until_ns) {
        post_release(redis, g->grant, 0);
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "Redis granted the lock too late to be useful");
    }
    g->grant->token = wants_token ? token : 0;
    g->grant->valid_until_ns = until_ns;
    return PAWL_OK;
}

static int check_name(struct pawl_str name, struct pawl_error *err)
{
    if (name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes",
                               PAWL_LOCK_NAME_MAX);
    return PAWL_OK;
}

static int try_grant(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                     int64_t deadline_ns, struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    struct grant_call g = {.redis = redis, .grant = grant};
    struct pawl_buf fence;
    int status = check_name(grant->name, err);

    if (status != PAWL_OK)
        return status;
    set_ttl(&g);
    pawl__buf_init(&fence, &redis->env->alloc, PAWL_LOCK_NAME_MAX + 16);
    if (grant->flags & PAWL_LOCK_WANT_TOKEN) {
        pawl__buf_byte(&fence, '{');
        pawl__buf_str(&fence, grant->name);
        pawl__buf_text(&fence, "}:fence");
        status = fence.status;
        g.fence_key = pawl__buf_peek(&fence);
    }
    if (status == PAWL_OK)
        status = pawl__redis_lock(redis, err);
    else
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK) {
        status = pawl__redis_nodes_start(redis, err);
        if (status == PAWL_OK)
            status = attempt(&g, deadline_ns, err);
        if (status != PAWL_ESTOPPED)
            pawl__redis_unlock(redis);
    }
    pawl__buf_release(&fence);
    return status;
}

/* ---- release ----------------------------------------------------------------------------- */

static int release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                   int64_t deadline_ns, struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    struct grant_call g = {.redis = redis, .grant = grant};
    int status = pawl__redis_lock(redis, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__redis_nodes_start(redis, err);
    if (status != PAWL_OK) {
        pawl__redis_unlock(redis);
        return status;
    }
    status = pawl__redis_await_nodes(redis, deadline_ns);
    if (status == PAWL_OK)
        status = call_all_nodes(&g, REDIS_RELEASE, deadline_ns);
    if (status != PAWL_OK)
        return pawl__error_code(err, status); /* stopped: the lock is given up */
    pawl__redis_unlock(redis);
    /* Not found where nobody has it any more, or nobody ever had. */
    if (g.votes.yes >= redis->quorum)
        return PAWL_OK;
    if (g.votes.yes + g.votes.no >= redis->quorum)
        return g.votes.no >= redis->quorum ? pawl__error_code(err, PAWL_ENOTFOUND) : PAWL_OK;
    return fault_error(redis, &g.votes, g.votes.unknown > 0 ? PAWL_EUNKNOWN : PAWL_EUNAVAILABLE,
                       err);
}

static void abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    (void)provider;
    (void)grant;
}

/* ---- renewal ----------------------------------------------------------------------------- */

struct renew_vote {
    uint8_t yes, no, rejoined, fault;
};

struct renew_call {
    struct redis_call call; /* first */
    struct redis_locks *redis;
    struct pawl_lock_grant *const *grants;
    size_t count;
    int64_t now_ns;
    size_t undecided_count;
    char ttl[24];
    struct pawl_error err;
    struct renew_vote votes[PAWL_LOCK_RENEW_MAX];
};

static int send_renewal(struct redis_call *call, struct redis_node *node, uint32_t item, bool full)
{
    struct renew_call *r = (struct renew_call *)call;
    const struct pawl_lock_grant *grant = r->grants[item];
    /* An expired lease is not started again: another holder may have had it in between. */
    bool may_rejoin = r->redis->node_count > 1 && r->now_ns < grant->valid_until_ns;

    return pawl__redis_queue_script(
        node, may_rejoin ? REDIS_REJOIN : REDIS_EXTEND, full, &grant->name, 1,
        (struct pawl_str[]){pawl__str(grant->owner), pawl__str(r->ttl)}, 2);
}

/* Only those that still had it count: what is gone from a majority may have been somebody else's.
 */
static bool is_item_decided(const struct redis_locks *redis, const struct renew_vote *vote)
{
    return vote->yes >= redis->quorum ||
           (size_t)vote->no + vote->rejoined > redis->node_count - redis->quorum ||
           (size_t)vote->yes + vote->no + vote->rejoined + vote->fault == redis->node_count;
}

static void note_renewal(struct redis_call *call, struct redis_node *node, uint32_t item,
                         const struct pawl_redis_reply *reply, int code,
                         const struct pawl_error *err)
{
    struct renew_call *r = (struct renew_call *)call;
    struct renew_vote *vote = &r->votes[item];
    bool was_decided = is_item_decided(r->redis, vote);
    struct pawl_error why = PAWL_ERROR_INIT;

    (void)node;
    (void)code;
    if (reply && reply->type == PAWL_REDIS_INT && reply->integer == 1) {
        vote->yes++;
    } else if (reply && reply->type == PAWL_REDIS_INT && reply->integer == 2) {
        vote->rejoined++;
    } else if (reply && reply->type == PAWL_REDIS_INT) {
        vote->no++;
    } else {
        vote->fault++;
        if (reply)
            (void)pawl__redis_reply_error(reply, &why);
        else if (err)
            why = *err;
        if (r->err.code == PAWL_OK)
            r->err = why;
    }
    if (!was_decided && is_item_decided(r->redis, vote))
        r->undecided_count--;
}

static bool is_renewal_done(struct redis_call *call)
{
    return ((struct renew_call *)call)->undecided_count == 0;
}

static void count_renewal(struct renew_call *r, size_t item, int64_t until_ns)
{
    const struct renew_vote *vote = &r->votes[item];
    struct pawl_lock_grant *grant = r->grants[item];

    if (vote->yes >= r->redis->quorum) {
        grant->status = PAWL_OK;
        grant->valid_until_ns = until_ns;
    } else if ((size_t)vote->no + vote->rejoined > r->redis->node_count - r->redis->quorum) {
        grant->status = PAWL_ENOTFOUND;
        if (vote->yes + vote->rejoined + vote->fault > 0)
            post_release(r->redis, grant, 0);
    } else {
        grant->status = PAWL_EUNAVAILABLE;
    }
}

static int renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                 size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    struct renew_call r = {.redis = redis, .grants = grants, .count = count};
    bool has_answer = false;
    int status;

    PAWL_ASSERT(count <= PAWL_LOCK_RENEW_MAX);
    (void)snprintf(r.ttl, sizeof r.ttl, "%" PRId64, redis->ttl_ms);
    r.call = (struct redis_call){send_renewal, note_renewal, is_renewal_done, 0};
    r.undecided_count = count;
    status = pawl__redis_lock(redis, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__redis_nodes_start(redis, err);
    if (status != PAWL_OK) {
        pawl__redis_unlock(redis);
        return status;
    }
    status = pawl__redis_await_nodes(redis, deadline_ns);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    r.now_ns = pawl_env_monotonic_ns(redis->env);
    for (size_t i = 0; i < redis->node_count; i++)
        for (size_t item = 0; item < count; item++)
            pawl__redis_ask(&r.call, &redis->nodes[i], (uint32_t)item);
    pawl__redis_send(redis);
    status = pawl__redis_await(&r.call, redis, deadline_ns);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    for (size_t item = 0; item < count; item++) {
        count_renewal(&r, item, pawl__lock_valid_until(r.now_ns, redis->ttl_ms));
        has_answer = has_answer || grants[item]->status != PAWL_EUNAVAILABLE;
    }
    pawl__redis_unlock(redis);
    if (count == 0 || has_answer)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EUNAVAILABLE, "%s", r.err.msg);
}

/* ---- the rest ---------------------------------------------------------------------------- */

static int map_name(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                    size_t size, struct pawl_error *err)
{
    int status = check_name(name, err);

    (void)provider;
    if (status != PAWL_OK)
        return status;
    if (name.len >= size)
        return pawl__error_set(err, PAWL_ELIMIT, "the key has %zu bytes, more than fit", name.len);
    if (name.len > 0)
        memcpy(out, name.ptr, name.len);
    out[name.len] = 0;
    return PAWL_OK;
}

static int listen(struct pawl_lock_provider *provider, const struct pawl_lock_listener *listener,
                  struct pawl_error *err)
{
    struct redis_locks *redis = self(provider);
    int status = pawl__redis_lock(redis, err);

    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(!redis->is_started);
    redis->is_listened = true;
    status = pawl__lock_notifier_open(&redis->notifier, listener, err);
    if (status == PAWL_OK)
        status = pawl__redis_nodes_start(redis, err);
    pawl__redis_unlock(redis);
    return status;
}

static void unlisten(struct pawl_lock_provider *provider)
{
    pawl__lock_notifier_close(&self(provider)->notifier);
}

static void close_provider(struct pawl_lock_provider *provider)
{
    struct redis_locks *redis = self(provider);
    struct pawl_env *env = redis->env;

    pawl__redis_nodes_stop(redis);
    pawl__lock_notifier_release(&redis->notifier);
    pawl__redis_requests_free(redis);
    pawl__map_release(&redis->watches);
    pawl__waker_release(&redis->kick);
    pawl_cond_free(env, redis->changed);
    pawl_mutex_free(env, redis->lock);
    pawl__hiredis_close(redis->lib);
    pawl__free(&env->alloc, redis, sizeof *redis);
}

static const struct pawl_lock_provider_ops ops = {
    .version = PAWL_LOCK_VERSION,
    .caps = PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_NETWORK | PAWL_LOCK_CAP_LEASE | PAWL_LOCK_CAP_WAKE |
            PAWL_LOCK_CAP_TOKEN | PAWL_LOCK_CAP_INSPECT,
    .close = close_provider,
    .listen = listen,
    .unlisten = unlisten,
    .status = pawl__redis_status,
    .map = map_name,
    .try_ = try_grant,
    .renew = renew,
    .release = release,
    .abandon = abandon,
    .inspect = pawl__redis_inspect,
    .list = pawl__redis_list,
};

/* ---- opening ----------------------------------------------------------------------------- */

static int make(struct redis_locks *redis, struct pawl_error *err)
{
    struct pawl_hash_seed seed;
    char host[40];
    int status = pawl__hiredis_open(&redis->env->alloc, &redis->lib, err);

    if (status == PAWL_OK)
        status = pawl_env_entropy(redis->env, &seed, sizeof seed, err);
    if (status != PAWL_OK)
        return status;
    pawl__map_init(&redis->watches, &redis->env->alloc, seed);
    status = pawl_mutex_new(redis->env, "redis locks", &redis->lock);
    if (status == PAWL_OK)
        status = pawl_cond_new(redis->env, "redis changed", &redis->changed);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__lock_notifier_init(&redis->notifier, redis->env, err);
    if (status == PAWL_OK)
        status = pawl__waker_init(&redis->kick, err);
    for (size_t i = 0; i < redis->node_count && status == PAWL_OK; i++)
        status = pawl__waker_init(&redis->nodes[i].waker, err);
    pawl__process_host_name(host, sizeof host);
    (void)snprintf(redis->client_name, sizeof redis->client_name, "pawl-%s", host);
    return status;
}

int pawl__redis_locks_open(struct pawl_env *env, struct pawl_str uri,
                           const struct pawl_lock_provider_options *options,
                           struct pawl_lock_provider **out, struct pawl_error *err)
{
    int64_t ttl_ms = options && options->ttl_ms ? options->ttl_ms : PAWL_LOCK_TTL_MS_DEFAULT;
    struct redis_uri addresses;
    struct redis_locks *redis;
    int status = pawl__redis_uri_read(uri, &addresses, err);

    if (status != PAWL_OK)
        return status;
    if (ttl_ms < PAWL_LOCK_TTL_MS_MIN || ttl_ms > PAWL_LOCK_TTL_MS_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "a lock's lease in Redis has from %d ms to one day, not %" PRId64
                               " ms",
                               PAWL_LOCK_TTL_MS_MIN, ttl_ms);
    redis = pawl__alloc_zeroed(&env->alloc, sizeof *redis);
    if (!redis)
        return pawl__error_code(err, PAWL_ENOMEM);
    redis->base = (struct pawl_lock_provider){&ops, "redis", NULL};
    redis->env = env;
    redis->ttl_ms = ttl_ms;
    redis->node_count = addresses.node_count;
    redis->quorum = addresses.node_count / 2 + 1;
    redis->kick.fd = -1;
    pawl__list_init(&redis->spare);
    pawl__list_init(&redis->watch_order);
    for (size_t i = 0; i < redis->node_count; i++) {
        redis->nodes[i].redis = redis;
        redis->nodes[i].index = i;
        redis->nodes[i].address = addresses.nodes[i];
        redis->nodes[i].waker.fd = -1;
        pawl__list_init(&redis->nodes[i].c.pending);
    }
    status = make(redis, err);
    if (status == PAWL_OK)
        *out = &redis->base;
    else
        close_provider(&redis->base);
    return status;
}
