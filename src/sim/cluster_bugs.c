/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores with a bug in them, for the simulated cluster, to see that its checker finds it. The bug
 * is built around a sound store, by lying to it or to its user, so that no sound code has a switch
 * for it.
 */
#include "sim/cluster_private.h"

#include "base/alloc.h"
#include "base/error.h"

#define BUSY_MAX 64
#define SPLIT_BYTES_MAX ((size_t)16 << 20)
/* AGE: how long an instance may be busy before it is thought abandoned. */
#define AGE_NS (SECOND_NS / 2)

/* AGE: an instance that was found busy, or stolen then. */
struct busy {
    char id[PAWL_INSTANCE_ID_MAX + 1];
    int64_t fence;
    int64_t since_ns;
    int64_t owner; /* as the store has it */
    int64_t thief; /* 0: not stolen */
};

struct buggy_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_store_ops ops;
    struct pawl_env *env;
    bool woken;                 /* EDGE_ONLY */
    struct busy busy[BUSY_MAX]; /* AGE: the oldest goes first */
    uint32_t busy_next;
};

static struct buggy_store *cast(struct pawl_store *store)
{
    return (struct buggy_store *)(void *)store;
}

/* ---- woken by signals only --------------------------------------------------------------- */

static int take_if_woken(struct pawl_store *store, const struct pawl_take *take,
                         struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    struct pawl_store_status seen;
    int status;

    if (cast(store)->woken) {
        status = pawl_store_take(store->inner, take, arena, out, deadline_ns, err);
        if (status == PAWL_OK && out->work_count + out->runnable_count == 0)
            cast(store)->woken = false;
        return status;
    }
    status = pawl_store_status(store->inner, &seen, deadline_ns, err);
    if (status == PAWL_OK)
        *out = (struct pawl_taken){.now_us = seen.now_us, .next_due_us = PAWL_TIME_NEVER};
    return status;
}

static int wait_for_signal(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                           struct pawl_error *err)
{
    int status = pawl_store_wait(store->inner, wake, deadline_ns, err);

    if (status == PAWL_OK)
        cast(store)->woken = true;
    return status;
}

/* ---- commits in two ---------------------------------------------------------------------- */

static bool is_mail_deleted(const struct pawl_commit *commit, const struct pawl_change *change)
{
    return commit->kind == PAWL_COMMIT_ADVANCE && change->table == PAWL_TABLE_WORK &&
           change->kind == PAWL_CHANGE_DELETE;
}

/* Copies of commits whose changes can be chosen; `rest` gets those that were left out. */
static int split(const struct pawl_commit *commit, struct pawl_arena *arena,
                 struct pawl_commit *first, struct pawl_commit *rest)
{
    struct pawl_change *changes =
        pawl__arena_alloc_array(arena, 2 * commit->change_count + 1, sizeof *changes);
    struct pawl_change *left = changes + commit->change_count;

    if (!changes)
        return PAWL_ENOMEM;
    *first = *commit;
    *rest = (struct pawl_commit){.kind = PAWL_COMMIT_PLAIN, .changes = left};
    first->changes = changes;
    first->change_count = 0;
    for (size_t i = 0; i < commit->change_count; i++) {
        if (is_mail_deleted(commit, &commit->changes[i]))
            left[rest->change_count++] = commit->changes[i];
        else
            changes[first->change_count++] = commit->changes[i];
    }
    return PAWL_OK;
}

static void copy_answer(const struct pawl_commit *from, struct pawl_commit *to)
{
    to->status = from->status;
    to->cancel_requested = from->cancel_requested;
    to->has_mail = from->has_mail;
    to->has_expired = from->has_expired;
    to->error = from->error;
}

static int apply_one_in_two(struct pawl_store *store, struct pawl_commit *commit,
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_commit first, rest;
    struct pawl_commit *member = &first;
    struct pawl_arena arena;
    int unseen, status;

    pawl__arena_init(&arena, &cast(store)->env->alloc, SPLIT_BYTES_MAX);
    status = split(commit, &arena, &first, &rest);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = pawl_store_apply(store->inner, &member, 1, deadline_ns, err);
    if (status == PAWL_OK) {
        copy_answer(&first, commit);
        member = &rest;
        if (first.status == PAWL_OK && rest.change_count > 0) {
            unseen = pawl_store_apply(store->inner, &member, 1, deadline_ns, NULL);
            (void)unseen;
        }
    }
    pawl__arena_release(&arena);
    return status;
}

static int apply_in_two(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                        int64_t deadline_ns, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = apply_one_in_two(store, commits[i], deadline_ns, err);
    return status;
}

/* ---- work that is nobody's --------------------------------------------------------------- */

/* The rows are answered as the taker's, and stay free. */
static int take_unmarked(struct pawl_store *store, const struct pawl_take *take,
                         struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    int status = pawl_store_take(store->inner, take, arena, out, deadline_ns, err);

    for (size_t i = 0; status == PAWL_OK && i < out->work_count; i++) {
        struct pawl_work_row row = out->work[i];
        const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
        struct pawl_commit *member = &commit;

        row.owner = 0;
        status = pawl_store_apply(store->inner, &member, 1, deadline_ns, err);
    }
    return status;
}

/* Nothing is marked, so nothing can be looked at: what is done is deleted. */
static int apply_one_unguarded(struct pawl_store *store, struct pawl_commit *commit,
                               int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_commit copy = *commit, *member = &copy;
    struct pawl_work_row *rows;
    struct pawl_change *changes;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &cast(store)->env->alloc, SPLIT_BYTES_MAX);
    rows = pawl__arena_alloc_array(&arena, commit->done_count + 1, sizeof *rows);
    changes = pawl__arena_alloc_array(&arena, commit->done_count + commit->change_count + 1,
                                      sizeof *changes);
    if (!rows || !changes) {
        pawl__arena_release(&arena);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    for (size_t i = 0; i < commit->done_count; i++) {
        rows[i] = (struct pawl_work_row){.id = commit->done[i]};
        changes[i] = (struct pawl_change){PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &rows[i]};
    }
    if (commit->change_count > 0)
        memcpy(changes + commit->done_count, commit->changes,
               commit->change_count * sizeof *changes);
    copy.changes = changes;
    copy.change_count += commit->done_count;
    copy.done_count = 0;
    status = pawl_store_apply(store->inner, &member, 1, deadline_ns, err);
    if (status == PAWL_OK)
        copy_answer(&copy, commit);
    pawl__arena_release(&arena);
    return status;
}

static int apply_unguarded(struct pawl_store *store, struct pawl_commit *const *commits,
                           size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = apply_one_unguarded(store, commits[i], deadline_ns, err);
    return status;
}

/* ---- recovery by age --------------------------------------------------------------------- */

static struct busy *find_busy(struct buggy_store *buggy, struct pawl_str id)
{
    for (uint32_t i = 0; i < BUSY_MAX; i++)
        if (pawl__str_is(id, buggy->busy[i].id))
            return &buggy->busy[i];
    return NULL;
}

static struct busy *note_busy(struct buggy_store *buggy, const struct pawl_claim *claim)
{
    struct busy *busy = find_busy(buggy, claim->id);

    if (busy && busy->fence == claim->row.fence)
        return busy;
    if (!busy)
        busy = &buggy->busy[buggy->busy_next++ % BUSY_MAX];
    *busy = (struct busy){.fence = claim->row.fence,
                          .owner = claim->row.owner,
                          .since_ns = pawl_env_monotonic_ns(buggy->env)};
    PAWL_ASSERT(claim->id.len < sizeof busy->id);
    memcpy(busy->id, claim->id.ptr, claim->id.len);
    return busy;
}

/* Claims it again in the owner's name, and says that it is the thief's. */
static int claim_old(struct pawl_store *store, int64_t thief, struct pawl_claim *claim,
                     struct pawl_arena *arena, int64_t deadline_ns, struct pawl_error *err)
{
    struct buggy_store *buggy = cast(store);
    struct busy *busy = note_busy(buggy, claim);
    int64_t now_us;
    int status;

    if (pawl_env_monotonic_ns(buggy->env) - busy->since_ns < AGE_NS)
        return PAWL_OK;
    status =
        pawl_store_claim(store->inner, busy->owner, claim, 1, arena, &now_us, deadline_ns, err);
    if (status == PAWL_OK && claim->status == PAWL_OK) {
        busy->fence = claim->row.fence;
        busy->thief = claim->row.owner = thief;
    }
    return status;
}

static int claim_by_age(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                        size_t count, struct pawl_arena *arena, int64_t *now_us,
                        int64_t deadline_ns, struct pawl_error *err)
{
    int status =
        pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (claims[i].status == PAWL_EBUSY && !claims[i].visits)
            status = claim_old(store, owner, &claims[i], arena, deadline_ns, err);
    return status;
}

static int apply_of_thief(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_commit copy = *commits[i], *member = &copy;
        struct pawl_instance_row row;
        const struct busy *busy = NULL;

        if (copy.instance) {
            row = *copy.instance;
            busy = find_busy(cast(store), row.id);
            if (busy && busy->thief == row.owner && busy->fence == row.fence)
                row.owner = busy->owner;
            copy.instance = &row;
        }
        status = pawl_store_apply(store->inner, &member, 1, deadline_ns, err);
        if (status == PAWL_OK)
            copy_answer(&copy, commits[i]);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------ */

static void buggy_close(struct pawl_store *store)
{
    struct buggy_store *buggy = cast(store);
    struct pawl_env *env = buggy->env;

    pawl_store_close(store->inner);
    pawl__free(&env->alloc, buggy, sizeof *buggy);
}

int pawl__cluster_buggy_store_new(struct pawl_env *env, struct pawl_store *inner,
                                  enum pawl_cluster_bug bug, struct pawl_store **out,
                                  struct pawl_error *err)
{
    struct buggy_store *buggy = pawl__alloc_zeroed(&env->alloc, sizeof *buggy);

    if (!buggy)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__sim_forward_init(&buggy->ops);
    buggy->ops.close = buggy_close;
    if (bug == PAWL_CLUSTER_BUG_EDGE_ONLY) {
        buggy->ops.take = take_if_woken;
        buggy->ops.wait = wait_for_signal;
    } else if (bug == PAWL_CLUSTER_BUG_SPLIT) {
        buggy->ops.apply = apply_in_two;
    } else if (bug == PAWL_CLUSTER_BUG_TWICE) {
        buggy->ops.take = take_unmarked;
        buggy->ops.apply = apply_unguarded;
    } else if (bug == PAWL_CLUSTER_BUG_AGE) {
        buggy->ops.claim = claim_by_age;
        buggy->ops.apply = apply_of_thief;
    }
    buggy->woken = true;
    buggy->env = env;
    buggy->base = (struct pawl_store){
        .ops = &buggy->ops, .caps = inner->caps, .inner = inner, .name = "buggy"};
    *out = &buggy->base;
    return PAWL_OK;
}
