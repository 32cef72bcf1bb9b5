/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is this node's in the store: rows of work that it took or made as its own, instances that it
 * claimed. Everybody else leaves them alone while this node lives.
 *
 * So what no thread here has in hand any more, because a call failed behind the one that got it, or
 * because the answer that gave it was lost, would wait until the node dies. Rows are therefore
 * noted while they are in hand (instances are, in runtime->running), and after a failure what is
 * this node's and in nobody's hand is looked up and given out with the work that is taken next. A
 * node that takes none (a program that only sends) gives it back for others to take.
 *
 * From then on it is looked up once per lease. What a failure left may come into the store after
 * the first look: a commit whose caller has gone arrives late, or a server that crashed forgets
 * that another node took over what this one had. To a node that never failed neither can happen.
 *
 * A row that the look has read may be done and deleted before it is in the hand of who looked: it
 * is read once more then, and nobody else here can end it any more.
 *
 * A row can be taken a second time by the node that has it: its lease was over, it has joined anew,
 * and what its earlier incarnation had is free. Who has the row goes on with it; what the store
 * refuses then, because the row is another incarnation's, is found by the next look.
 *
 * Invariants, whenever the mutex is free:
 *   1. What is held is TAKEN or DONE, under its own id.
 *   2. What waits for its row to be deleted (done_effects) is held, and DONE.
 *   3. What is held is dropped, or done, by who holds it, once.
 */
#include "runtime/work/private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"

#include <stdio.h>

/* Between a failure and the look for what it left. */
#define LOOK_NS INT64_C(50000000)
/* After which nobody here seems to take work. */
#define NOBODY_NS INT64_C(2000000000)
/* Rows that one query of the store returns. */
#define PAGE 256u

/* ---- the life of a hold -------------------------------------------------------------------- */

#define BIT(state) (1u << (unsigned)(state))

/* clang-format off */
static const unsigned allowed[] = {
    [HELD_FREE]  = BIT(HELD_TAKEN),
    [HELD_TAKEN] = BIT(HELD_DONE) | BIT(HELD_FREE),
    [HELD_DONE]  = BIT(HELD_FREE),
};
/* clang-format on */

bool pawl__held_may_move(enum held_state from, enum held_state to)
{
    return allowed[from] & BIT(to);
}

void pawl__held_move(struct runtime_held *held, enum held_state to)
{
    PAWL_ASSERT(pawl__held_may_move(held->state, to));
    held->state = to;
}

static bool report(char *why, size_t size, struct pawl_str id, const char *what)
{
    (void)snprintf(why, size, "work %.*s %s", PAWL_STR_ARG(id), what);
    return false;
}

bool pawl__held_check(const struct pawl_runtime *runtime, char *why, size_t size)
{
    const struct pawl_map_entry *entry;
    const struct runtime_done *done;

    PAWL_MAP_FOR_EACH (entry, &runtime->held) {
        const struct runtime_held *held = entry->value;

        if (!pawl__str_equal(held->id, entry->key))
            return report(why, size, held->id, "is held under another id");
        if (held->state == HELD_FREE)
            return report(why, size, held->id, "is in the map of what is held, and is free");
    }
    PAWL_LIST_FOR_EACH (done, &runtime->done_effects, link) {
        const struct runtime_held *held = pawl__map_get(&runtime->held, done->id);

        if (!held || held->state != HELD_DONE)
            return report(why, size, done->id, "waits to be deleted, and is not held as done");
    }
    return true;
}

/* ---- in hand ------------------------------------------------------------------------------- */

static void free_held(struct pawl_runtime *runtime, struct runtime_held *held)
{
    pawl__free(&runtime->env->alloc, held, sizeof *held + held->id.len);
}

/* With the mutex held. */
static int add_held(struct pawl_runtime *runtime, struct pawl_str id)
{
    struct runtime_held *held;

    if (pawl__map_has(&runtime->held, id) || pawl__runtime_is_requested(runtime, id))
        return PAWL_EBUSY;
    held = pawl__alloc_zeroed(&runtime->env->alloc, sizeof *held + id.len);
    if (!held)
        return PAWL_ENOMEM;
    memcpy(held + 1, id.ptr, id.len);
    held->id = pawl__str_make((const char *)(held + 1), id.len);
    if (pawl__map_put(&runtime->held, held->id, held) != PAWL_OK) {
        free_held(runtime, held);
        return PAWL_ENOMEM;
    }
    pawl__held_move(held, HELD_TAKEN);
    return PAWL_OK;
}

int pawl__runtime_hold(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    int status;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return PAWL_OK; /* stopped: whatever comes next will say so */
    status = add_held(runtime, work_id);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return status;
}

static void release_held(struct pawl_runtime *runtime, struct pawl_str work_id,
                         enum held_state from)
{
    struct runtime_held *held;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    held = pawl__map_remove(&runtime->held, work_id);
    PAWL_ASSERT(held && held->state == from); /* or it is another's */
    pawl__held_move(held, HELD_FREE);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    free_held(runtime, held);
}

void pawl__runtime_drop(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    release_held(runtime, work_id, HELD_TAKEN);
}

void pawl__runtime_drop_done(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    release_held(runtime, work_id, HELD_DONE);
}

void pawl__runtime_held_done(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    struct runtime_held *held = pawl__map_get(&runtime->held, work_id);

    PAWL_ASSERT(held);
    pawl__held_move(held, HELD_DONE);
}

void pawl__runtime_note_ended(struct pawl_runtime *runtime, const struct runtime_changes *changes)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    for (size_t i = 0; i < changes->count; i++) {
        const struct pawl_change *change = &changes->items[i];
        struct runtime_held *held;

        if (change->kind != PAWL_CHANGE_DELETE || change->table != PAWL_TABLE_WORK)
            continue;
        held = pawl__map_get(&runtime->held, ((const struct pawl_work_row *)change->row)->id);
        if (held)
            held->has_ended = true;
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

bool pawl__runtime_has_ended(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    const struct runtime_held *held;
    bool has_ended;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    held = pawl__map_get(&runtime->held, work_id);
    has_ended = held && held->has_ended;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return has_ended;
}

void pawl__runtime_forget_held(struct pawl_runtime *runtime)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &runtime->held)
        free_held(runtime, entry->value);
    pawl__map_release(&runtime->held);
}

/* False: somebody here has it; or there is no memory, and it is found later. */
static bool hold_row(struct pawl_runtime *runtime, const struct pawl_work_row *row)
{
    int status = pawl__runtime_hold(runtime, row->id);

    if (status == PAWL_EBUSY)
        pawl__runtime_adopt_request(runtime, row);
    else if (status != PAWL_OK)
        pawl__runtime_note_left(runtime);
    return status == PAWL_OK;
}

int pawl__runtime_hold_taken(struct pawl_runtime *runtime, struct pawl_arena *arena,
                             struct pawl_taken *taken)
{
    struct pawl_work_row *held =
        pawl__arena_alloc_array(arena, taken->work_count + 1, sizeof *held);
    size_t count = 0;

    if (!held) {
        pawl__runtime_note_left(runtime); /* all of it is this node's */
        *taken = (struct pawl_taken){.next_due_us = PAWL_TIME_NEVER};
        return pawl__arena_status(arena);
    }
    for (size_t i = 0; i < taken->work_count; i++)
        if (hold_row(runtime, &taken->work[i]))
            held[count++] = taken->work[i];
    /* Should who has it not come to end it, it is found. */
    if (count < taken->work_count)
        pawl__runtime_note_left(runtime);
    taken->work = held;
    taken->work_count = count;
    return PAWL_OK;
}

void pawl__runtime_note_failure(struct pawl_runtime *runtime, int status)
{
    enum pawl_error_class class = pawl_error_class(status);
    int64_t soon_ns;

    /* A conflict, too: what was lost to another node may be in its hand, and the row still ours. */
    if (status == PAWL_OK ||
        (class != PAWL_CLASS_TRANSIENT && class != PAWL_CLASS_UNKNOWN &&
         status != PAWL_ECONFLICT) ||
        pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    soon_ns = pawl_env_monotonic_ns(runtime->env) + LOOK_NS;
    if (runtime->stray_ns == 0 || runtime->stray_ns > soon_ns)
        runtime->stray_ns = soon_ns;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

void pawl__runtime_note_left(struct pawl_runtime *runtime)
{
    pawl__runtime_note_failure(runtime, PAWL_EBUSY);
}

void pawl__runtime_leave_to_workers(struct pawl_runtime *runtime)
{
    if (!atomic_load(&runtime->has_pool))
        pawl__runtime_note_left(runtime);
}

/* ---- in nobody's --------------------------------------------------------------------------- */

struct strays {
    int64_t now_us; /* the store's clock, after the failure */
    struct pawl_runtime *runtime;
    struct pawl_arena *arena;
    struct pawl_work_row *work;
    size_t work_count;
    size_t work_cap;
    struct pawl_str *ids;
    size_t id_count;
    size_t id_cap;
    int64_t deadline_ns;
};

/* Room for one more in an array of the arena; NULL: none. */
static void *grow(struct pawl_arena *arena, void *items, size_t count, size_t *cap, size_t size)
{
    size_t more = *cap ? *cap * 2 : 16;
    void *grown;

    if (count < *cap)
        return items;
    grown = pawl__arena_alloc_array(arena, more, size);
    if (grown && count > 0)
        memcpy(grown, items, count * size);
    if (grown)
        *cap = more;
    return grown;
}

/*
 * Whether a row that is in hand is still there. It was read before that: who had it then may have
 * done it, and deleted it, in between.
 */
static int is_still_there(struct strays *strays, const struct pawl_work_row *row, bool *is_there)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "id"),
                                             .value = {.text = row->id}};
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = 1};
    struct pawl_rows rows = {0};
    int status = pawl_store_find(strays->runtime->store, &query, strays->arena, &rows,
                                 strays->deadline_ns, NULL);

    *is_there = status == PAWL_OK && rows.count == 1 &&
                ((const struct pawl_work_row *)rows.rows)->owner == row->owner;
    return status;
}

static int add_work(struct strays *strays, const struct pawl_work_row *row)
{
    struct pawl_work_row *grown = grow(strays->arena, strays->work, strays->work_count,
                                       &strays->work_cap, sizeof *strays->work);
    bool is_there;
    int status;

    if (!grown)
        return pawl__arena_status(strays->arena);
    strays->work = grown;
    if (!hold_row(strays->runtime, row))
        return PAWL_OK;
    status = is_still_there(strays, row, &is_there);
    if (is_there)
        strays->work[strays->work_count++] = *row;
    else
        pawl__runtime_drop(strays->runtime, row->id);
    return status;
}

static bool is_running(struct pawl_runtime *runtime, struct pawl_str id)
{
    const struct runtime_running *running;
    bool found = false;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return true;
    found = pawl__runtime_has_yielded(runtime, id);
    PAWL_LIST_FOR_EACH (running, &runtime->running, link)
        found = found || pawl__str_equal(running->id, id);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return found;
}

static int add_instance(struct strays *strays, const struct pawl_instance_row *row)
{
    struct pawl_str *grown =
        grow(strays->arena, strays->ids, strays->id_count, &strays->id_cap, sizeof *strays->ids);

    if (!grown)
        return pawl__arena_status(strays->arena);
    strays->ids = grown;
    if (!is_running(strays->runtime, row->id))
        strays->ids[strays->id_count++] = row->id;
    return PAWL_OK;
}

/* All pages of a query on work or instances. */
static int add_found(struct strays *strays, struct pawl_query *query)
{
    struct pawl_rows rows;
    int status;

    do {
        status = pawl_store_find(strays->runtime->store, query, strays->arena, &rows,
                                 strays->deadline_ns, NULL);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            if (query->table == PAWL_TABLE_WORK) {
                query->after = &((const struct pawl_work_row *)rows.rows)[i];
                status = add_work(strays, query->after);
            } else {
                query->after = &((const struct pawl_instance_row *)rows.rows)[i];
                status = add_instance(strays, query->after);
            }
        }
    } while (status == PAWL_OK && rows.count == PAGE);
    return status;
}

/* Work is this node's only while it is due by this column. */
static int find_work(struct strays *strays, const char *column)
{
    const uint32_t late = pawl_table_column(PAWL_TABLE_WORK, column);
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_WORK, "owner"),
         .value = {.integer = pawl__keeper_incarnation(strays->runtime->keeper)}},
        {.column = late, .compare = PAWL_LE, .value = {.integer = strays->now_us}},
        {.column = late, .compare = PAWL_LT, .value = {.integer = PAWL_TIME_NEVER}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_WORK,
                               .conditions = conditions,
                               .condition_count = sizeof conditions / sizeof conditions[0],
                               .limit = PAGE};

    return add_found(strays, &query);
}

static int find_instances(struct strays *strays)
{
    const uint32_t owner = pawl_table_column(PAWL_TABLE_INSTANCES, "owner");
    const struct pawl_condition conditions[] = {
        {.column = owner, .value = {.integer = pawl__keeper_incarnation(strays->runtime->keeper)}},
        {.column = owner, .compare = PAWL_NE, .value = {.integer = 0}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = conditions,
                               .condition_count = sizeof conditions / sizeof conditions[0],
                               .limit = PAGE};

    return add_found(strays, &query);
}

/* Behind what was taken, in arrays of their own. */
static int append_strays(struct strays *strays, struct pawl_taken *taken)
{
    size_t work_count = taken->work_count + strays->work_count,
           id_count = taken->runnable_count + strays->id_count;
    struct pawl_work_row *work =
        pawl__arena_alloc_array(strays->arena, work_count + 1, sizeof *work);
    struct pawl_str *ids = pawl__arena_alloc_array(strays->arena, id_count + 1, sizeof *ids);

    if (!work || !ids)
        return pawl__arena_status(strays->arena);
    if (taken->work_count > 0)
        memcpy(work, taken->work, taken->work_count * sizeof *work);
    if (strays->work_count > 0)
        memcpy(work + taken->work_count, strays->work, strays->work_count * sizeof *work);
    if (taken->runnable_count > 0)
        memcpy(ids, taken->runnable, taken->runnable_count * sizeof *ids);
    if (strays->id_count > 0)
        memcpy(ids + taken->runnable_count, strays->ids, strays->id_count * sizeof *ids);
    taken->work = work;
    taken->work_count = work_count;
    taken->runnable = ids;
    taken->runnable_count = id_count;
    return PAWL_OK;
}

static bool is_time_to_look(struct pawl_runtime *runtime)
{
    int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
    bool look;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    look = runtime->stray_ns != 0 && now_ns >= runtime->stray_ns;
    if (look)
        runtime->stray_ns = now_ns + pawl__runtime_lease_us(runtime) * 1000;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return look;
}

void pawl__runtime_add_strays(struct pawl_runtime *runtime, struct pawl_arena *arena,
                              struct pawl_taken *taken, int64_t deadline_ns)
{
    struct strays strays = {.runtime = runtime, .arena = arena, .deadline_ns = deadline_ns};
    struct pawl_store_status seen;
    int status;

    if (!is_time_to_look(runtime))
        return;
    /* The take may have been answered long before this node heard of it. */
    status = pawl_store_status(runtime->store, &seen, deadline_ns, NULL);
    if (status == PAWL_OK) {
        strays.now_us = seen.now_us;
        status = find_work(&strays, "due_us");
    }
    if (status == PAWL_OK)
        status = find_work(&strays, "expires_us");
    if (status == PAWL_OK)
        status = find_instances(&strays);
    if (status == PAWL_OK)
        status = append_strays(&strays, taken);
    if (status == PAWL_OK)
        return;
    for (size_t i = 0; i < strays.work_count; i++)
        pawl__runtime_drop(runtime, strays.work[i].id);
    pawl__runtime_note_failure(runtime, status);
}

/* ---- given back ---------------------------------------------------------------------------- */

static bool is_nobody_taking(struct pawl_runtime *runtime)
{
    bool nobody;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    nobody = runtime->stray_ns != 0 &&
             pawl_env_monotonic_ns(runtime->env) >= runtime->stray_ns + NOBODY_NS;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return nobody;
}

/* The row as it is, but nobody's, and not begun. */
static int return_work(struct pawl_runtime *runtime, const struct pawl_work_row *work,
                       int64_t deadline_ns)
{
    struct pawl_work_row row = *work;
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN,
                                 .done = &work->id,
                                 .done_count = 1,
                                 .done_owner = work->owner,
                                 .changes = &change,
                                 .change_count = 1};
    struct pawl_commit *list = &commit;
    int status;

    row.owner = 0;
    pawl__runtime_unmark_work(&row);
    status = pawl_store_apply(runtime->store, &list, 1, deadline_ns, NULL);
    return status == PAWL_OK ? commit.status : status;
}

/* Claimed once more, in case it is in the middle of something, and let go as it is. */
static int return_instance(struct pawl_runtime *runtime, struct pawl_arena *arena,
                           struct pawl_str id, int64_t deadline_ns)
{
    struct pawl_claim claim = {.id = id};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row};
    struct pawl_commit *list = &commit;
    int64_t now_us;
    int status = pawl__runtime_store_claim(runtime, pawl__keeper_incarnation(runtime->keeper),
                                           &claim, 1, arena, &now_us, deadline_ns, NULL);

    if (status != PAWL_OK || claim.status != PAWL_OK)
        return status;
    status = pawl_store_apply(runtime->store, &list, 1, deadline_ns, NULL);
    return status == PAWL_OK ? commit.status : status;
}

void pawl__runtime_return_strays(void *ctx, int64_t deadline_ns)
{
    struct pawl_runtime *runtime = ctx;
    struct pawl_taken strays = {0};
    struct pawl_arena arena;

    /* Workers do it when they have nothing else to do. */
    if (!atomic_load(&runtime->has_pool))
        pawl__runtime_flush_done(runtime, deadline_ns);
    if (!is_nobody_taking(runtime))
        return;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    pawl__runtime_add_strays(runtime, &arena, &strays, deadline_ns);
    for (size_t i = 0; i < strays.work_count; i++) {
        int status = return_work(runtime, &strays.work[i], deadline_ns);

        pawl__runtime_drop(runtime, strays.work[i].id);
        pawl__runtime_note_failure(runtime, status);
    }
    for (size_t i = 0; i < strays.runnable_count; i++)
        pawl__runtime_note_failure(
            runtime, return_instance(runtime, &arena, strays.runnable[i], deadline_ns));
    pawl__arena_release(&arena);
}

void pawl__runtime_return_begun(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    struct strays strays = {.runtime = runtime, .deadline_ns = deadline_ns};
    struct pawl_store_status seen;
    struct pawl_arena arena;
    int status;

    if (!atomic_load(&runtime->has_marked))
        return;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    strays.arena = &arena;
    status = pawl_store_status(runtime->store, &seen, deadline_ns, NULL);
    if (status == PAWL_OK) {
        strays.now_us = seen.now_us;
        status = find_work(&strays, "due_us");
    }
    for (size_t i = 0; i < strays.work_count; i++) {
        if (status == PAWL_OK && strays.work[i].begun != 0)
            status = return_work(runtime, &strays.work[i], deadline_ns);
        pawl__runtime_drop(runtime, strays.work[i].id);
    }
    pawl__arena_release(&arena);
}
