/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares; see shares.h. The mutex guards everything but the two atomics; nothing else is taken
 * under it.
 *
 * Times are halved every HALF_NS: what was long ago counts for nothing, and nobody who once had the
 * node to himself pays for that later. The cost of a piece is not halved, it is learned: each one
 * moves it a quarter of the way, the first one half of the way from nothing, so that one slow piece
 * of a fast definition makes no difference.
 *
 * What part of its pieces failed is learned in the same way. Five failures in a row make a
 * definition a failing one. Each HALF_NS takes an eighth away: after 15 s it has another try, and
 * if that fails too it has had only that one.
 *
 * Invariants, whenever the mutex is free:
 *   1. The totals are the sums over what is known, as far as halving rounds.
 *   2. heavy_count and failing_count are the numbers of such ones; `busy` is known and not heavy,
 * or NULL.
 */
#include "runtime/node/shares.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/map.h"

#include <stdatomic.h>
#include <string.h>

#define HALF_NS INT64_C(5000000000)
/* Under this a node has no lack of processors. */
#define BUSY_NS INT64_C(1000000000)
/* The part that heavy definitions have in any case: one in so many. */
#define HEAVY_PART 4
/* What they are owed: below this it is not worth a look, above the other it is not kept. What they
 * had while nothing else was due is hardly held against them. */
#define OWED_NS_MIN INT64_C(25000000)
#define OWED_NS_MAX INT64_C(2000000000)
#define AHEAD_NS_MAX INT64_C(1000000000)
/* Pieces that failed, of so many: from which part on a definition is a failing one. */
#define FAILED_ALL 1024
#define FAILED_MOST (FAILED_ALL / 4 * 3)

struct share {
    struct pawl_list_link link; /* the least recently run first */
    struct pawl_str id;         /* behind the struct */
    int64_t cost_ns;            /* of a piece */
    int64_t used_ns;            /* lately */
    int failed;                 /* of FAILED_ALL pieces, lately */
    bool is_heavy;
};

struct pawl_shares {
    struct pawl_env *env;
    atomic_bool matter;
    atomic_uint changes;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_map known;    /* struct share */
    struct pawl_list order;
    struct share *busy; /* has used most of the time; NULL: none */
    uint32_t heavy_count;
    uint32_t failing_count; /* heavy ones too */
    int64_t used_ns[2];     /* lately: by light ones, by heavy ones */
    int64_t halved_ns;
    int64_t owed_ns; /* to heavy ones; below 0: they are ahead */
};

int pawl__shares_new(struct pawl_env *env, struct pawl_shares **out)
{
    struct pawl_shares *shares = pawl__alloc_zeroed(&env->alloc, sizeof *shares);
    int status;

    if (!shares)
        return PAWL_ENOMEM;
    shares->env = env;
    pawl__map_init(&shares->known, &env->alloc, (struct pawl_hash_seed){0x73686172, 0x6573});
    pawl__list_init(&shares->order);
    shares->halved_ns = pawl_env_monotonic_ns(env);
    status = pawl_mutex_new(env, "shares", &shares->mutex);
    if (status != PAWL_OK) {
        pawl__shares_free(shares);
        return status;
    }
    *out = shares;
    return PAWL_OK;
}

static void free_share(struct pawl_shares *shares, struct share *share)
{
    pawl__free(&shares->env->alloc, share, sizeof *share + share->id.len);
}

void pawl__shares_free(struct pawl_shares *shares)
{
    struct pawl_list_link *link;

    if (!shares)
        return;
    while ((link = pawl__list_pop_front(&shares->order)) != NULL)
        free_share(shares, PAWL_CONTAINER(link, struct share, link));
    pawl__map_release(&shares->known);
    pawl_mutex_free(shares->env, shares->mutex);
    pawl__free(&shares->env->alloc, shares, sizeof *shares);
}

/* ---- with the mutex held ------------------------------------------------------------------- */

static int64_t total_ns(const struct pawl_shares *shares)
{
    return shares->used_ns[0] + shares->used_ns[1];
}

static bool is_failing(const struct share *share)
{
    return share->failed >= FAILED_MOST;
}

static void set_failed(struct pawl_shares *shares, struct share *share, int failed)
{
    bool was_failing = is_failing(share);

    share->failed = failed;
    shares->failing_count += is_failing(share);
    shares->failing_count -= was_failing;
    if (is_failing(share) && !was_failing)
        atomic_fetch_add(&shares->changes, 1);
}

static void halve(struct pawl_shares *shares)
{
    int64_t now_ns = pawl_env_monotonic_ns(shares->env);
    int64_t times = (now_ns - shares->halved_ns) / HALF_NS;
    struct share *share;

    if (times <= 0)
        return;
    shares->halved_ns += times * HALF_NS;
    if (times > 62)
        times = 62;
    PAWL_LIST_FOR_EACH (share, &shares->order, link) {
        share->used_ns >>= times;
        for (int64_t i = 0; i < times; i++)
            set_failed(shares, share, share->failed - share->failed / 8);
    }
    shares->used_ns[0] >>= times;
    shares->used_ns[1] >>= times;
}

/* Three quarters of all, while others ran too: at most one is that. */
static bool is_busy(const struct pawl_shares *shares, const struct share *share)
{
    int64_t all_ns = total_ns(shares);

    return !share->is_heavy && all_ns > BUSY_NS && share->used_ns < all_ns &&
           share->used_ns > all_ns / 4 * 3;
}

/* Whether ranks make a difference, for readers without the mutex. */
static void update_matter(struct pawl_shares *shares)
{
    atomic_store_explicit(&shares->matter,
                          shares->heavy_count > 0 || shares->failing_count > 0 || shares->busy,
                          memory_order_relaxed);
}

static void forget_oldest(struct pawl_shares *shares)
{
    struct share *share = PAWL_CONTAINER(pawl__list_first(&shares->order), struct share, link);

    if (!share)
        return;
    shares->used_ns[share->is_heavy] -= share->used_ns;
    shares->heavy_count -= share->is_heavy;
    shares->failing_count -= is_failing(share);
    if (shares->busy == share)
        shares->busy = NULL;
    (void)pawl__map_remove(&shares->known, share->id);
    pawl__list_remove(&share->link);
    free_share(shares, share);
}

static struct share *find(struct pawl_shares *shares, struct pawl_str id)
{
    struct share *share = pawl__map_get(&shares->known, id);

    if (share) {
        pawl__list_remove(&share->link);
        pawl__list_push_back(&shares->order, &share->link);
        return share;
    }
    if (shares->known.live_count >= PAWL_SHARES_MAX)
        forget_oldest(shares);
    share = pawl__alloc_zeroed(&shares->env->alloc, sizeof *share + id.len);
    if (!share)
        return NULL;
    memcpy(share + 1, id.ptr, id.len);
    share->id = pawl__str_make((const char *)(share + 1), id.len);
    if (pawl__map_put(&shares->known, share->id, share) != PAWL_OK) {
        free_share(shares, share);
        return NULL;
    }
    pawl__list_push_back(&shares->order, &share->link);
    return share;
}

static void update_weight(struct pawl_shares *shares, struct share *share)
{
    bool is_heavy = share->cost_ns >= PAWL_SHARES_HEAVY_NS;

    if (is_heavy != share->is_heavy) {
        shares->used_ns[share->is_heavy] -= share->used_ns;
        shares->used_ns[is_heavy] += share->used_ns;
        shares->heavy_count += is_heavy;
        shares->heavy_count -= share->is_heavy;
        share->is_heavy = is_heavy;
        if (is_heavy)
            atomic_fetch_add(&shares->changes, 1);
    }
    if (is_busy(shares, share))
        shares->busy = share;
    else if (shares->busy && !is_busy(shares, shares->busy))
        shares->busy = NULL;
}

static void add_debt(struct pawl_shares *shares, bool to_heavy, int64_t ns)
{
    if (to_heavy)
        shares->owed_ns += ns / (HEAVY_PART - 1);
    else
        shares->owed_ns -= ns;
    if (shares->owed_ns > OWED_NS_MAX)
        shares->owed_ns = OWED_NS_MAX;
    if (shares->owed_ns < -AHEAD_NS_MAX)
        shares->owed_ns = -AHEAD_NS_MAX;
}

static enum pawl_rank rank_of(const struct pawl_shares *shares, const struct share *share)
{
    if (share->is_heavy)
        return share->used_ns > shares->used_ns[1] / shares->heavy_count ? PAWL_RANK_GREEDY
                                                                         : PAWL_RANK_HEAVY;
    if (is_failing(share))
        return PAWL_RANK_FAILING;
    return share == shares->busy ? PAWL_RANK_BUSY : PAWL_RANK_NEW;
}

/* ---- for others ---------------------------------------------------------------------------- */

void pawl__shares_charge(struct pawl_shares *shares, struct pawl_str definition_id, int64_t ns,
                         bool failed)
{
    struct share *share;

    if (ns < 0 || pawl_mutex_lock(shares->env, shares->mutex) != PAWL_OK)
        return;
    halve(shares);
    share = find(shares, definition_id);
    if (share) {
        share->cost_ns += (ns - share->cost_ns) / (share->cost_ns == 0 ? 2 : 4);
        share->used_ns += ns;
        set_failed(shares, share, share->failed + ((failed ? FAILED_ALL : 0) - share->failed) / 4);
        shares->used_ns[share->is_heavy] += ns;
        update_weight(shares, share);
        add_debt(shares, !share->is_heavy, ns);
    }
    update_matter(shares);
    pawl_mutex_unlock(shares->env, shares->mutex);
}

bool pawl__shares_matter(const struct pawl_shares *shares)
{
    return atomic_load_explicit(&shares->matter, memory_order_relaxed);
}

uint32_t pawl__shares_changes(const struct pawl_shares *shares)
{
    return atomic_load(&shares->changes);
}

enum pawl_rank pawl__shares_rank(struct pawl_shares *shares, struct pawl_str definition_id)
{
    enum pawl_rank rank = PAWL_RANK_NEW;
    const struct share *share;

    if (pawl_mutex_lock(shares->env, shares->mutex) != PAWL_OK)
        return rank;
    share = pawl__map_get(&shares->known, definition_id);
    if (share)
        rank = rank_of(shares, share);
    pawl_mutex_unlock(shares->env, shares->mutex);
    return rank;
}

int pawl__shares_list(struct pawl_shares *shares, enum pawl_rank from, enum pawl_rank to,
                      struct pawl_arena *arena, const struct pawl_str **out, size_t *count)
{
    struct pawl_str *ids = pawl__arena_alloc_array(arena, PAWL_SHARES_MAX, sizeof *ids);
    const struct share *share;
    size_t found = 0;
    int status;

    if (!ids)
        return pawl__arena_status(arena);
    status = pawl_mutex_lock(shares->env, shares->mutex);
    if (status != PAWL_OK)
        return status;
    halve(shares);
    update_matter(shares);
    PAWL_LIST_FOR_EACH (share, &shares->order, link) {
        enum pawl_rank rank = rank_of(shares, share);

        if (rank < from || rank > to)
            continue;
        ids[found] = pawl__arena_str(arena, share->id);
        if (!ids[found++].ptr)
            status = pawl__arena_status(arena);
    }
    pawl_mutex_unlock(shares->env, shares->mutex);
    *out = ids;
    *count = found;
    return status;
}

bool pawl__shares_owe(struct pawl_shares *shares)
{
    bool owed;

    if (pawl_mutex_lock(shares->env, shares->mutex) != PAWL_OK)
        return false;
    owed = shares->heavy_count > 0 && shares->owed_ns >= OWED_NS_MIN;
    pawl_mutex_unlock(shares->env, shares->mutex);
    return owed;
}

void pawl__shares_settle(struct pawl_shares *shares)
{
    if (pawl_mutex_lock(shares->env, shares->mutex) != PAWL_OK)
        return;
    shares->owed_ns = 0;
    pawl_mutex_unlock(shares->env, shares->mutex);
}
