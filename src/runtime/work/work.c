/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is due: taking it, doing it, and what happens when that fails.
 *
 * A row that was taken is this node's until a commit ends it; if the node dies, others take it.
 * What fails is put off, longer each time, and after a few attempts becomes a dead letter with the
 * last error; but for ticks, which are tried for ever. A row is never rewritten in place without a
 * guard: it ends, and its successor has a new id, in one commit; so that of two nodes that both
 * believe to have it only one can.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/node/pause.h"
#include "runtime/node/private.h"
#include "runtime/task.h"
#include "runtime/work/plans.h"

/* What the store has for one round of draining, whatever is left until the deadline. */
#define ROUND_NS INT64_C(30000000000)
/* Rows that one take asks for at the most. */
#define TAKE_MAX 256u
/* Rows that one query returns. */
#define PAGE 500u
/* Before what failed for a reason of its own is tried again. */
#define AGAIN_US INT64_C(1000000)
/* Attempts beyond the usual that our own errors have: they may be of the work. */
#define INTERNAL_ATTEMPTS 8u
/* After a refusal of what no row of work puts off. */
#define REFUSED_NS INT64_C(50000000)
/* When another node has the instance just now. */
#define BUSY_US INT64_C(200000)

/* ---- failures ------------------------------------------------------------------------------ */

bool pawl__runtime_is_named_after_instance(struct pawl_str kind)
{
    static const char *const kinds[] = {PAWL_WORK_START, PAWL_WORK_CONSOLE, PAWL_WORK_TASK,
                                        PAWL_WORK_CALL, PAWL_WORK_HTTP};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (pawl__str_is(kind, kinds[i]))
            return true;
    return false;
}

void pawl__runtime_add_dead_letter(struct runtime_changes *changes,
                                   const struct pawl_work_row *work, const char *reason,
                                   struct pawl_str error, int64_t now_us)
{
    const struct pawl_dead_letter_row row = {
        .id = work->id,
        .work_id = work->id,
        .kind = work->kind,
        .instance_id =
            pawl__runtime_is_named_after_instance(work->kind) ? work->name : work->instance_id,
        .bookmark_id = work->bookmark_id,
        .hash = work->hash,
        .correlation_id = work->correlation_id,
        .activity_instance_id = work->activity_instance_id,
        .name = work->name,
        .reason = pawl__str(reason),
        .created_us = work->created_us,
        .dead_us = now_us,
        .attempts = work->attempts,
        .attempted_us = work->attempted_us,
        .can_replay = 1,
        .error = error,
        .payload = work->payload,
    };

    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_DEAD_LETTERS, &row);
}

void pawl__runtime_tell_failure(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                const struct pawl_error *why)
{
    const struct pawl_runtime_hooks *hooks = &runtime->options.hooks;

    if (hooks->failed)
        hooks->failed(hooks->ctx, instance_id, why);
}

/* What a spell of pressure on this node lets fail is no reason to give up work. */
static bool may_be_tried_again(const struct pawl_runtime *runtime, int status, int64_t attempts)
{
    if (pawl__runtime_is_of_node(status))
        return true;
    return attempts <
           runtime->options.attempts_max + (status == PAWL_EINTERNAL ? INTERNAL_ATTEMPTS : 0);
}

/* A tick that were given up would end its trigger for good. */
static bool gives_up(const struct pawl_runtime *runtime, const struct pawl_work_row *work,
                     int status)
{
    return !may_be_tried_again(runtime, status, pawl__runtime_one_more(work->attempts)) &&
           !pawl__str_is(work->kind, PAWL_WORK_TICK);
}

void pawl__runtime_add_failure(struct runtime_changes *changes, struct pawl_runtime *runtime,
                               const struct pawl_work_row *work, const struct pawl_error *why,
                               int64_t now_us)
{
    struct pawl_work_row row = *work;

    row.owner = 0;
    row.error = pawl__arena_str(changes->arena, pawl__str(why->msg));
    row.attempted_us = now_us;
    row.due_us = now_us + pawl__runtime_backoff_us(row.attempts);
    row.attempts = pawl__runtime_one_more(row.attempts);
    row.takeovers = row.begun = row.deaths = 0; /* it failed, and its node lives */
    if (!row.error.ptr) {
        changes->status = pawl__arena_status(changes->arena);
        return;
    }
    if (!gives_up(runtime, work, why->code)) {
        pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
        return;
    }
    pawl__runtime_delete_work(changes, work->id);
    pawl__runtime_add_dead_letter(changes, &row, "Failed", row.error, now_us);
}

int pawl__runtime_finish_work(struct runtime_task *task, const struct pawl_work_row *work,
                              const struct runtime_changes *changes)
{
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN,
        .done = &work->id,
        .done_count = 1,
        .done_owner = work->owner,
        .changes = changes->items,
        .change_count = changes->count,
    };

    if (changes->status != PAWL_OK)
        return pawl__error_code(task->err, changes->status);
    return pawl__runtime_commit(task->runtime, &commit, pawl__runtime_commit_deadline(task),
                                task->err);
}

int pawl__runtime_put_off(struct runtime_task *task, const struct pawl_work_row *work,
                          int64_t due_us)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_work_row row = *work;

    /* Mail keeps its id: an owner who has read it, or a commit that is on its way, deletes it by
     * that, and it must not come twice. */
    if (work->instance_id.len == 0)
        row.id = pawl__runtime_new_id(task->runtime, &task->arena);
    if (!row.id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    row.owner = row.begun = 0;
    row.due_us = due_us;
    pawl__runtime_change(&changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &row);
    return pawl__runtime_finish_work(task, work, &changes);
}

static int fail_work(struct runtime_task *task, const struct pawl_work_row *work,
                     const struct pawl_error *why, int64_t now_us)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_work_row renamed = *work;

    renamed.id = pawl__runtime_new_id(task->runtime, &task->arena);
    if (!renamed.id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    if (task->runtime->log)
        pawl_log(task->runtime->log, PAWL_LOG_WARN, "work failed", pawl__log_str("work", work->id),
                 pawl__log_str("kind", work->kind),
                 pawl_log_int("attempt", pawl__runtime_one_more(work->attempts)),
                 pawl_log_error("error", why));
    pawl__runtime_tell_failure(task->runtime, work->instance_id, why);
    if (task->given_up) {
        renamed.attempts = pawl__runtime_one_more(renamed.attempts);
        renamed.attempted_us = now_us;
        pawl__runtime_add_dead_letter(&changes, &renamed, "Failed", pawl__str(why->msg), now_us);
    } else {
        pawl__runtime_add_failure(&changes, task->runtime, &renamed, why, now_us);
    }
    if (task->given_up || gives_up(task->runtime, work, why->code))
        pawl__runtime_add_refusal(task, &changes, work, pawl__str(why->msg));
    return pawl__runtime_finish_work(task, work, &changes);
}

static int expire(struct runtime_task *task, const struct pawl_work_row *work, int64_t now_us)
{
    struct runtime_changes changes = {.arena = &task->arena};

    pawl__runtime_add_dead_letter(&changes, work, "Expired", work->error, now_us);
    return pawl__runtime_finish_work(task, work, &changes);
}

/* ---- of an instance -------------------------------------------------------------------------- */

int pawl__runtime_each_named(struct runtime_task *task, struct pawl_arena *arena, const char *kind,
                             struct pawl_str name,
                             int (*each)(void *ctx, const struct pawl_work_row *work), void *ctx)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"), .value = {.text = pawl__str(kind)}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "due_us"),
         .compare = PAWL_LT,
         .value = {.integer = PAWL_TIME_NEVER}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "name"), .value = {.text = name}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_WORK,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = conditions,
                               .condition_count = sizeof conditions / sizeof conditions[0],
                               .limit = PAGE};
    struct pawl_rows rows;
    int status;

    do {
        const struct pawl_work_row *work;

        status = pawl_store_find(task->runtime->store, &query, arena, &rows, task->deadline_ns,
                                 task->err);
        if (status != PAWL_OK)
            return status;
        work = rows.rows;
        for (size_t i = 0; i < rows.count && status == PAWL_OK; i++)
            status = each(ctx, &work[i]);
        if (rows.count > 0)
            query.after = &work[rows.count - 1];
    } while (status == PAWL_OK && rows.count == PAGE);
    return status;
}

/* ---- effects ------------------------------------------------------------------------------- */

static int perform_call(const struct pawl_runtime_hooks *hooks, const struct pawl_work_row *work,
                        const struct pawl_json *data, struct pawl_error *err)
{
    if (!hooks->call)
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "this node has no activity '%.*s', whose function instance %.*s "
                               "calls: all nodes of a store need the same activities",
                               PAWL_STR_ARG(runtime_text(data, "type")), PAWL_STR_ARG(work->name));
    return hooks->call(hooks->ctx, work->name, data, err);
}

static int perform_kind(struct pawl_runtime *runtime, const struct pawl_work_row *work,
                        const struct pawl_json *data, struct pawl_error *err)
{
    const struct pawl_runtime_hooks *hooks = &runtime->options.hooks;
    int status = PAWL_OK;

    if (pawl__str_is(work->kind, PAWL_WORK_CONSOLE) && hooks->line)
        status = hooks->line(hooks->ctx, work->name, runtime_text(data, "text"));
    if (status != PAWL_OK)
        return pawl__error_set(err, status, "a line of output could not be written");
    if (pawl__str_is(work->kind, PAWL_WORK_TASK) && hooks->task)
        hooks->task(hooks->ctx, work->name, data);
    if (pawl__str_is(work->kind, PAWL_WORK_CALL))
        status = perform_call(hooks, work, data, err);
    return status;
}

/* What is sent meanwhile is stored: it may be sent by that very function, within a burst. */
static int perform(struct pawl_runtime *runtime, const struct pawl_work_row *work,
                   const struct pawl_json *data, struct pawl_error *err)
{
    int status;

    atomic_fetch_add(&runtime->performing, 1);
    status = perform_kind(runtime, work, data, err);
    atomic_fetch_sub(&runtime->performing, 1);
    return status;
}

/* One that fails is put off; should that fail too, its row is found with what is in nobody's hand.
 */
void pawl__runtime_perform_own(struct runtime_task *task, struct runtime_running *running,
                               const struct pawl_work_row *work, const struct pawl_json *data,
                               int64_t now_us)
{
    struct pawl_error why = PAWL_ERROR_INIT, *err = task->err;
    int status;

    pawl__runtime_step_begin(task->runtime, running, work->id);
    status = perform(task->runtime, work, data, &why);
    pawl__runtime_step_end(task->runtime, running);
    if (status == PAWL_OK) {
        pawl__runtime_add_done(task->runtime, work->id);
        return;
    }
    if (task->runtime->log)
        pawl_log(task->runtime->log, PAWL_LOG_WARN, "effect put off",
                 pawl__log_str("work", work->id), pawl__log_str("kind", work->kind),
                 pawl_log_error("error", &why));
    task->err = NULL;
    status = pawl__runtime_put_off(task, work, now_us + AGAIN_US);
    task->err = err;
    pawl__runtime_drop(task->runtime, work->id);
    pawl__runtime_note_failure(task->runtime, status);
}

static bool is_effect(const struct pawl_work_row *work)
{
    return pawl__str_is(work->kind, PAWL_WORK_CONSOLE) ||
           pawl__str_is(work->kind, PAWL_WORK_TASK) || pawl__str_is(work->kind, PAWL_WORK_CALL);
}

/* What an effect does, for people. */
static const char *effect_text(struct runtime_task *task, const struct pawl_work_row *work,
                               const struct pawl_json *data)
{
    if (pawl__str_is(work->kind, PAWL_WORK_CALL))
        return pawl__arena_printf(&task->arena, "a call of activity %.*s",
                                  PAWL_STR_ARG(runtime_text(data, "type")));
    return pawl__str_is(work->kind, PAWL_WORK_TASK) ? "a task" : "a line of output";
}

/* Rows of effects go many at a time, later. What is marked as begun goes at once: whoever dies from
 * here on did not die of it. */
static bool ends_at_once(const struct pawl_work_row *work)
{
    return work->takeovers > 0;
}

static int end_effect(struct runtime_task *task, const struct pawl_work_row *work)
{
    struct runtime_changes none = {.arena = &task->arena};

    if (ends_at_once(work))
        return pawl__runtime_finish_work(task, work, &none);
    pawl__runtime_add_done(task->runtime, work->id);
    return PAWL_OK;
}

/* One that another node left behind. */
static int perform_taken(struct runtime_task *task, const struct pawl_work_row *work)
{
    struct runtime_about about = {.instance_id = work->name};
    struct runtime_running running;
    struct pawl_json data;
    int status =
        pawl__runtime_json_read(task->runtime, &task->arena, work->payload, &data, task->err);

    if (status != PAWL_OK)
        return status;
    about.what = effect_text(task, work, &data);
    if (!about.what)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    /* By its own id: the instance is not in hand, and may run meanwhile. */
    status = pawl__runtime_enter(task->runtime, &running, work->id, task->deadline_ns);
    if (status != PAWL_OK)
        return pawl__error_code(task->err, status);
    running.is_worker = task->yields;
    status = pawl__runtime_begin_work(task, work, &running, &about);
    if (status == PAWL_OK) {
        pawl__runtime_step_begin(task->runtime, &running, work->id);
        status = perform(task->runtime, work, &data, task->err);
        pawl__runtime_step_end(task->runtime, &running);
    }
    if (status == PAWL_OK)
        status = end_effect(task, work);
    pawl__runtime_end_alone(task->runtime, &running);
    while (pawl__runtime_leave(task->runtime, &running))
        continue;
    return status;
}

/* ---- doing --------------------------------------------------------------------------------- */

/* The store gives out mail of one that is to be cancelled also while that is put off, so that its
 * own pauses do not count. */
static int put_off_cancelled(struct runtime_task *task, const struct pawl_work_row *work,
                             int64_t now_us)
{
    struct pawl_work_row row = *work;

    row.attempts = pawl__runtime_one_more(work->attempts);
    row.attempted_us = now_us;
    return pawl__runtime_put_off(task, &row, now_us + pawl__runtime_backoff_us(work->attempts));
}

/*
 * What could not be delivered at all is free again, later: a row that is this node's is nobody
 * else's while it lives. One that was dealt with where it was delivered is not ours any more.
 */
static int do_mail(struct runtime_task *task, const struct pawl_work_row *work, int64_t now_us)
{
    struct runtime_changes none = {.arena = &task->arena};
    int status;

    if (pawl__runtime_has_ended(task->runtime, work->id))
        return PAWL_OK; /* it came with other mail of its instance */
    status = pawl__runtime_run_instance(task, work->instance_id, NULL, NULL);
    if (status == PAWL_ENOTFOUND && task->gone)
        return pawl__runtime_finish_work(task, work, &none); /* it went with its instance */
    if (status == PAWL_EBUSY)
        return pawl__runtime_put_off(task, work, now_us + BUSY_US);
    if (status != PAWL_OK && status != PAWL_ESTOPPED && task->cancels)
        return put_off_cancelled(task, work, now_us);
    if (status != PAWL_OK && status != PAWL_ESTOPPED)
        return pawl__runtime_put_off(task, work, now_us + AGAIN_US);
    return status;
}

static int do_kind(struct runtime_task *task, const struct pawl_work_row *work, int64_t now_us)
{
    /* Parked work is taken because it has expired, and no bookmark makes it due any more. */
    if (work->due_us == PAWL_TIME_NEVER)
        return expire(task, work, now_us);
    if (work->instance_id.len > 0)
        return do_mail(task, work, now_us);
    if (pawl__str_is(work->kind, PAWL_WORK_STIMULUS))
        return pawl__runtime_match(task, work);
    if (pawl__str_is(work->kind, PAWL_WORK_START))
        return pawl__runtime_do_start(task, work);
    if (pawl__str_is(work->kind, PAWL_WORK_TICK))
        return pawl__runtime_do_tick(task, work);
    if (pawl__str_is(work->kind, PAWL_WORK_RECHECK))
        return pawl__runtime_recheck(task, work);
    if (pawl__str_is(work->kind, PAWL_WORK_PLAN))
        return pawl__runtime_do_plan(task, work);
    if (is_effect(work))
        return perform_taken(task, work);
    if (pawl__str_is(work->kind, PAWL_WORK_HTTP))
        return pawl__runtime_do_http(task, work, now_us);
    return pawl__error_set(task->err, PAWL_EUNSUPPORTED,
                           "work of kind '%.*s' is not known to this version of Pawl",
                           PAWL_STR_ARG(work->kind));
}

static void tell_begun(struct pawl_runtime *runtime, const struct pawl_work_row *work,
                       int64_t deadline_ns)
{
    const struct pawl_runtime_hooks *hooks = &runtime->options.hooks;
    int64_t now_us;

    if (hooks->begun && work->attempts == 0 && work->due_us != PAWL_TIME_NEVER &&
        pawl__runtime_clock(runtime, &now_us, deadline_ns, NULL) == PAWL_OK)
        hooks->begun(hooks->ctx, work, now_us > work->due_us ? now_us - work->due_us : 0);
}

/*
 * Mail that fails is dealt with where it is delivered. Of other work: what a node that drains has
 * not begun is free when it has left; what is not ours any more is somebody else's; what the store
 * could not be asked for stays ours and is tried again.
 */
int pawl__runtime_do_work(struct pawl_runtime *runtime, const struct pawl_work_row *work,
                          int64_t now_us, int64_t deadline_ns)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct runtime_task task;
    bool performed;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, &err);
    pawl__runtime_meter_begin(&task);
    status = pawl__runtime_may_begin(runtime, &err);
    if (status == PAWL_OK)
        tell_begun(runtime, work, deadline_ns);
    if (status == PAWL_OK)
        status = do_kind(&task, work, now_us);
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(&task);
    performed = status == PAWL_OK && is_effect(work) && !ends_at_once(work);
    if (status != PAWL_OK && !pawl__runtime_is_passing(status) && work->instance_id.len == 0) {
        struct pawl_error why = err;

        status = fail_work(&task, work, &why, now_us);
    }
    /* An effect that was performed is in hand until its row is deleted. */
    if (!performed)
        pawl__runtime_drop(runtime, work->id);
    pawl__runtime_meter(&task);
    pawl__runtime_task_release(&task, status);
    return status;
}

static void note_refused(struct pawl_runtime *runtime)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    runtime->refused++;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

int pawl__runtime_do_runnable(struct pawl_runtime *runtime, struct pawl_str instance_id,
                              int64_t deadline_ns)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, &err);
    pawl__runtime_meter_begin(&task);
    status = pawl__runtime_run_instance(&task, instance_id, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(&task);
    pawl__runtime_meter(&task);
    /* The store goes on to name what has no owner: whoever was refused is not to ask for it all the
     * time. What another node has just taken is not named again. */
    if ((status == PAWL_EBUSY && !task.holds_no_claim) || instance_id.len > PAWL_INSTANCE_ID_MAX) {
        note_refused(runtime);
        (void)!pawl_env_sleep_until(runtime->env, pawl_env_monotonic_ns(runtime->env) + REFUSED_NS);
    }
    pawl__runtime_task_release(&task, status);
    return status;
}

/* ---- taking -------------------------------------------------------------------------------- */

/*
 * Runnable instances are named to every node that looks for work. Nodes of a cluster begin at
 * different places, so that they meet late; by the golden ratio, which spreads any few numbers in
 * a row.
 */
static void spread_runnable(const struct pawl_runtime *runtime, struct pawl_arena *arena,
                            struct pawl_taken *taken)
{
    uint32_t place =
        (uint32_t)pawl__keeper_incarnation(runtime->keeper) * UINT32_C(2654435769); /* of 2^32 */
    size_t count = taken->runnable_count;
    size_t from = (size_t)((uint64_t)place * count >> 32);
    struct pawl_str *ids;

    if (!runtime->options.guard || from == 0)
        return;
    ids = pawl__arena_alloc_array(arena, count, sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = taken->runnable[(from + i) % count];
    if (ids)
        taken->runnable = ids;
}

void pawl__runtime_leave_to_holders(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                    struct pawl_taken *taken)
{
    struct pawl_str *ids = NULL;
    size_t count = 0;

    if (taken->runnable_count > 0)
        ids = pawl__arena_alloc_array(arena, taken->runnable_count, sizeof *ids);
    if (!ids)
        return; /* they are found to be in hand when they are to be run */
    for (size_t i = 0; i < taken->runnable_count; i++) {
        if (!pawl__runtime_notify_holder(runtime, taken->runnable[i]))
            ids[count++] = taken->runnable[i];
    }
    if (count < taken->runnable_count && taken->next_due_us > taken->now_us + REFUSED_NS / 1000)
        taken->next_due_us = taken->now_us + REFUSED_NS / 1000;
    taken->runnable = ids;
    taken->runnable_count = count;
}

/*
 * What this node may not run (another's lock, a state of a newer version) is named again and again.
 * When it fills all that a take may name, the next one looks behind it; and begins anew when there
 * was less than that.
 */
static uint32_t skip_refused(struct pawl_runtime *runtime)
{
    uint32_t skip;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return 0;
    skip = runtime->was_full ? runtime->runnable_skip + runtime->refused : 0;
    runtime->runnable_skip = skip;
    runtime->refused = 0;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return skip;
}

static void note_full(struct pawl_runtime *runtime, bool full)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    runtime->was_full = full;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

/* Of a node that is paused: whoever waits for work looks again, whether it still is. */
static int take_nothing(struct pawl_runtime *runtime, struct pawl_taken *taken, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int64_t now_us = 0;
    int status = pawl__runtime_clock(runtime, &now_us, deadline_ns, err);

    if (status == PAWL_OK)
        *taken = (struct pawl_taken){.now_us = now_us,
                                     .next_due_us = now_us + PAWL_PAUSE_SEEN_NS / 1000};
    return status;
}

int pawl__runtime_take(struct pawl_runtime *runtime, uint32_t limit,
                       const struct pawl_queue_turn *turn, const struct runtime_choice *choice,
                       struct pawl_arena *arena, struct pawl_taken *taken, int64_t deadline_ns,
                       struct pawl_error *err)
{
    /* A cancellation does not wait for the share of its definition. */
    const struct pawl_str unshared[] = {pawl__str(PAWL_WORK_CANCEL),
                                        pawl__str(PAWL_WORK_CANCEL_ONE)};
    const struct pawl_take take = {
        .owner = pawl__keeper_incarnation(runtime->keeper),
        .limit = limit > 0 && limit < TAKE_MAX ? limit : TAKE_MAX,
        .part_from = turn ? turn->part_from : 0,
        .part_to = turn ? turn->part_to : 0,
        .runnable_skip = skip_refused(runtime),
        .kind = pawl__str(choice && choice->kind ? choice->kind : ""),
        .definitions = choice ? choice->definitions : NULL,
        .definition_count = choice ? choice->count : 0,
        .only = choice && choice->only,
        .unshared_kinds = unshared,
        .unshared_kind_count = sizeof unshared / sizeof unshared[0],
    };
    int status = pawl__runtime_may_begin(runtime, err);
    int64_t asked_ns;

    if (status == PAWL_OK && pawl__runtime_check_paused(runtime, deadline_ns, NULL) != PAWL_OK)
        return take_nothing(runtime, taken, deadline_ns, err);
    asked_ns = pawl_env_monotonic_ns(runtime->env);
    if (status == PAWL_OK)
        status = pawl_store_take(runtime->store, &take, arena, taken, deadline_ns, err);
    pawl__runtime_note_failure(runtime, status);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_clock_seen(runtime, asked_ns, taken->now_us);
    note_full(runtime, taken->runnable_count == take.limit);
    status = pawl__runtime_hold_taken(runtime, arena, taken);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (take.kind.len == 0)
        pawl__runtime_add_strays(runtime, arena, taken, deadline_ns);
    spread_runnable(runtime, arena, taken);
    return PAWL_OK;
}

int pawl__runtime_work(struct pawl_runtime *runtime, uint32_t limit, struct pawl_worked *out,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_taken taken;
    struct pawl_list yielded;
    struct pawl_list_link *link;
    struct pawl_arena arena;
    size_t turns, next = 0;
    int status;

    pawl__list_init(&yielded);
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    status = pawl__runtime_take(runtime, limit, NULL, NULL, &arena, &taken, deadline_ns, err);
    if (status == PAWL_OK) {
        turns = pawl__runtime_take_yielded(runtime, &yielded, limit > 0 ? limit : TAKE_MAX);
        *out = (struct pawl_worked){(uint32_t)(taken.work_count + taken.runnable_count + turns),
                                    taken.now_us, taken.next_due_us, false};
        for (size_t i = 0; i < taken.runnable_count && status != PAWL_ESTOPPED; i++)
            status = pawl__runtime_do_runnable(runtime, taken.runnable[i], deadline_ns);
        for (; next < taken.work_count && status != PAWL_ESTOPPED; next++)
            status = pawl__runtime_do_work(runtime, &taken.work[next], taken.now_us, deadline_ns);
        for (; next < taken.work_count; next++) {
            pawl__runtime_drop(runtime, taken.work[next].id);
            pawl__runtime_note_left(runtime);
        }
        while (status != PAWL_ESTOPPED && (link = pawl__list_pop_front(&yielded)) != NULL)
            status = pawl__runtime_do_yielded(
                runtime, PAWL_CONTAINER(link, struct runtime_yielded, link), deadline_ns);
        pawl__runtime_forget_yielded(runtime, &yielded);
        if (status == PAWL_ESTOPPED)
            (void)pawl__error_code(err, status);
        else
            status = PAWL_OK;
        pawl__runtime_flush_done(runtime, deadline_ns);
    }
    pawl__arena_release(&arena);
    return status;
}

int pawl__runtime_drain(struct pawl_runtime *runtime, struct pawl_worked *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    uint64_t ended;
    uint32_t done = 0;
    int status;

    do {
        int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
        bool is_late = now_ns > deadline_ns && done > 0;

        if (is_late)
            return pawl__error_set(err, PAWL_ETIMEDOUT,
                                   "there was still work when the time was up: drain again");
        ended = pawl__runtime_requests_ended(runtime);
        status = pawl__runtime_work(
            runtime, 0, out, deadline_ns < now_ns + ROUND_NS ? now_ns + ROUND_NS : deadline_ns,
            err);
        if (status == PAWL_OK)
            done += out->done;
    } while (status == PAWL_OK && !pawl__runtime_is_stopping(runtime) &&
             (out->done > 0 || pawl__runtime_wait_any_answer(runtime, ended, deadline_ns)));
    out->done = done;
    return status;
}
