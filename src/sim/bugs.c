/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores with a bug in them, to see that the checker finds it. The bug is built around a sound
 * store, by lying to it or to its user, so that no sound code has a switch for it.
 */
#include "sim/sim_private.h"

#include "base/alloc.h"
#include "base/error.h"

/* A stolen instance: the store still thinks that it is the owner's. */
struct theft {
    char id[24];
    int64_t fence;
    int64_t thief;
    int64_t owner;
};

struct buggy_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_store_ops ops;
    struct pawl_env *env;
    struct theft thefts[PAWL_SIM_INSTANCES_MAX]; /* the newest of each instance */
    uint32_t theft_count;
    int64_t incarnation; /* FENCE_ALONE: of who claims */
};

/* Copies of commits, with instances that can be changed. */
struct lie {
    struct pawl_commit *members[PAWL_STORE_BATCH_MAX];
    struct pawl_commit commits[PAWL_STORE_BATCH_MAX];
    struct pawl_instance_row rows[PAWL_STORE_BATCH_MAX];
};

static struct buggy_store *cast(struct pawl_store *store)
{
    return (struct buggy_store *)(void *)store;
}

static struct lie *lie_new(struct buggy_store *buggy, struct pawl_commit *const *commits,
                           size_t count)
{
    struct lie *lie = pawl__alloc_zeroed(&buggy->env->alloc, sizeof *lie);

    for (size_t i = 0; lie && i < count; i++) {
        lie->commits[i] = *commits[i];
        lie->rows[i] = *commits[i]->instance;
        lie->commits[i].instance = &lie->rows[i];
        lie->members[i] = &lie->commits[i];
    }
    return lie;
}

static void lie_free(struct buggy_store *buggy, struct lie *lie)
{
    pawl__free(&buggy->env->alloc, lie, sizeof *lie);
}

static void copy_answers(const struct lie *lie, struct pawl_commit *const *commits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        commits[i]->status = lie->commits[i].status;
        commits[i]->cancel_requested = lie->commits[i].cancel_requested;
        commits[i]->has_mail = lie->commits[i].has_mail;
        commits[i]->has_expired = lie->commits[i].has_expired;
        commits[i]->error = lie->commits[i].error;
    }
}

/* ---- the revision is not looked at ------------------------------------------------------- */

static int set_stored_revision(struct pawl_store *store, struct pawl_instance_row *row,
                               int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_condition condition = {.compare = PAWL_EQ, .value = {.text = row->id}};
    struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_arena arena;
    struct pawl_rows rows;
    int status;

    pawl__arena_init(&arena, &cast(store)->env->alloc, ARENA_BYTES_MAX);
    status = pawl_store_find(store->inner, &query, &arena, &rows, deadline_ns, err);
    if (status == PAWL_OK && rows.count > 0)
        row->revision = ((const struct pawl_instance_row *)rows.rows)->revision;
    pawl__arena_release(&arena);
    return status;
}

static int apply_any_revision(struct pawl_store *store, struct pawl_commit *const *commits,
                              size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct buggy_store *buggy = cast(store);
    struct lie *lie = lie_new(buggy, commits, count);
    int status = PAWL_OK;

    if (!lie)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (lie->commits[i].kind == PAWL_COMMIT_ADVANCE)
            status = set_stored_revision(store, &lie->rows[i], deadline_ns, err);
    if (status == PAWL_OK)
        status = pawl_store_apply(store->inner, lie->members, count, deadline_ns, err);
    if (status == PAWL_OK)
        copy_answers(lie, commits, count);
    lie_free(buggy, lie);
    return status;
}

/* ---- claims that steal ------------------------------------------------------------------- */

static struct theft *find_theft(struct buggy_store *buggy, struct pawl_str id)
{
    for (uint32_t i = 0; i < buggy->theft_count; i++)
        if (pawl__str_is(id, buggy->thefts[i].id))
            return &buggy->thefts[i];
    return NULL;
}

/* Claims it again in the owner's name, and says that it is the thief's. */
static int steal(struct pawl_store *store, int64_t thief, struct pawl_claim *claim,
                 struct pawl_arena *arena, int64_t deadline_ns, struct pawl_error *err)
{
    struct buggy_store *buggy = cast(store);
    struct theft *theft = find_theft(buggy, claim->id);
    int64_t owner = claim->row.owner, now_us;
    int status = pawl_store_claim(store->inner, owner, claim, 1, arena, &now_us, deadline_ns, err);

    if (status != PAWL_OK || claim->status != PAWL_OK)
        return status;
    if (!theft) {
        theft = &buggy->thefts[buggy->theft_count++];
        PAWL_ASSERT(claim->id.len < sizeof theft->id);
        memcpy(theft->id, claim->id.ptr, claim->id.len);
    }
    theft->fence = claim->row.fence;
    theft->thief = claim->row.owner = thief;
    theft->owner = owner;
    return PAWL_OK;
}

static int claim_by_stealing(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                             size_t count, struct pawl_arena *arena, int64_t *now_us,
                             int64_t deadline_ns, struct pawl_error *err)
{
    int status =
        pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (claims[i].status == PAWL_EBUSY && !claims[i].visits)
            status = steal(store, owner, &claims[i], arena, deadline_ns, err);
    return status;
}

static int apply_of_thief(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct buggy_store *buggy = cast(store);
    struct lie *lie = lie_new(buggy, commits, count);
    int status = PAWL_OK;

    if (!lie)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct theft *theft = find_theft(buggy, lie->rows[i].id);

        if (theft && theft->fence == lie->rows[i].fence && theft->thief == lie->rows[i].owner)
            lie->rows[i].owner = theft->owner;
    }
    if (status == PAWL_OK)
        status = pawl_store_apply(store->inner, lie->members, count, deadline_ns, err);
    if (status == PAWL_OK)
        copy_answers(lie, commits, count);
    lie_free(buggy, lie);
    return status;
}

/* ---- commits that are answered early ----------------------------------------------------- */

static int apply_unseen(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct buggy_store *buggy = cast(store);
    struct lie *lie = lie_new(buggy, commits, count);
    int unseen;

    if (!lie)
        return pawl__error_code(err, PAWL_ENOMEM);
    unseen = pawl_store_apply(store->inner, lie->members, count, deadline_ns, NULL);
    (void)unseen;
    lie_free(buggy, lie);
    for (size_t i = 0; i < count; i++)
        commits[i]->status = PAWL_OK;
    return PAWL_OK;
}

/* ---- who wrote a revision is not looked at ------------------------------------------------ */

static int claim_and_note(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                          size_t count, struct pawl_arena *arena, int64_t *now_us,
                          int64_t deadline_ns, struct pawl_error *err)
{
    cast(store)->incarnation = owner;
    return pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);
}

/* Every revision was written by whoever asks. */
static int find_as_mine(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct pawl_instance_row *rows;
    int status = pawl_store_find(store->inner, query, arena, out, deadline_ns, err);

    if (status != PAWL_OK || query->table != PAWL_TABLE_INSTANCES || out->count == 0)
        return status;
    rows = pawl__arena_alloc_array(arena, out->count, sizeof *rows);
    if (!rows)
        return pawl__error_code(err, PAWL_ENOMEM);
    memcpy(rows, out->rows, out->count * sizeof *rows);
    for (size_t i = 0; i < out->count; i++)
        rows[i].revision_owner = cast(store)->incarnation;
    out->rows = rows;
    return PAWL_OK;
}

/* ------------------------------------------------------------------------------------------ */

static void buggy_close(struct pawl_store *store)
{
    struct buggy_store *buggy = cast(store);
    struct pawl_env *env = buggy->env;

    pawl_store_close(store->inner);
    pawl__free(&env->alloc, buggy, sizeof *buggy);
}

int pawl__buggy_store_new(struct pawl_env *env, struct pawl_store *inner, enum pawl_sim_bug bug,
                          struct pawl_store **out, struct pawl_error *err)
{
    struct buggy_store *buggy = pawl__alloc_zeroed(&env->alloc, sizeof *buggy);

    if (!buggy)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__sim_forward_init(&buggy->ops);
    buggy->ops.close = buggy_close;
    switch (bug) {
    case PAWL_SIM_BUG_NONE:
        break;
    case PAWL_SIM_BUG_SKIP_REVISION:
        buggy->ops.apply = apply_any_revision;
        break;
    case PAWL_SIM_BUG_STEAL:
        buggy->ops.claim = claim_by_stealing;
        buggy->ops.apply = apply_of_thief;
        break;
    case PAWL_SIM_BUG_ACKNOWLEDGE_EARLY:
        buggy->ops.apply = apply_unseen;
        break;
    case PAWL_SIM_BUG_FENCE_ALONE:
        buggy->ops.claim = claim_and_note;
        buggy->ops.find = find_as_mine;
        break;
    }
    buggy->env = env;
    buggy->base = (struct pawl_store){
        .ops = &buggy->ops, .caps = inner->caps, .inner = inner, .name = "buggy"};
    *out = &buggy->base;
    return PAWL_OK;
}
