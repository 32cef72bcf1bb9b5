/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker pool. Its mutex guards the batch being shared out, who leads, the counts and the stop;
 * it is never held during a call to the store or a burst.
 */
#include "runtime/node/pool.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "runtime/instance/private.h"
#include "runtime/node/pause.h"
#include "runtime/node/private.h"
#include "runtime/node/replies.h"
#include "runtime/work/private.h"

#define WORKERS_DEFAULT 4u
#define TAKE_DEFAULT 64u
#define IDLE_NS_DEFAULT INT64_C(1000000000)
/* How long one piece of work may wait for the store, or for an instance. */
#define WORK_NS_MAX INT64_C(30000000000)
/* After a turn that others had: a turn is short. */
#define REFUSED_NS INT64_C(100000000)
/* After a call of the store that failed. */
#define RETRY_NS INT64_C(500000000)

/* What one take brought: parts of it are done by different threads; the last one frees it. */
struct batch {
    struct pawl_list_link link; /* in the pool's, until it is done */
    struct pawl_arena arena;
    struct pawl_taken taken;
    struct pawl_list yielded; /* struct runtime_yielded: this node's, whose turn it is again */
    size_t yielded_count;
    struct runtime_look look; /* how it was taken */
    /* Work that is to be given back unbegun, when all pieces were given out and finished. */
    const struct pawl_work_row **back; /* in the arena, with room for all */
    size_t back_count;
    size_t next;   /* runnable instances first, then work, then those that yielded */
    size_t in_use; /* pieces given out and not finished */
};

struct pawl_pool {
    struct pawl_env *env;
    struct pawl_runtime *runtime;
    struct pawl_pool_options options;
    struct pawl_thread *threads[PAWL_POOL_WORKERS_MAX];
    uint32_t thread_count;

    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    struct batch *batch;      /* with pieces not yet given out; NULL: none */
    struct pawl_list batches; /* not done yet: a thread that is stopped leaves its part to close */
    /* The leader's, without the mutex. What an earlier one saw of the store's news is no reason for
     * the next to look once more. */
    struct pawl_wake wake;
    struct runtime_looks looks; /* likewise */
    bool is_led;
    bool is_waiting; /* who leads has found nothing */
    bool was_turn;   /* what heavy definitions were owed was a turn last time */
    bool stop;
    uint32_t busy;  /* threads that do a piece */
    uint32_t heavy; /* of them: of a heavy definition, or a turn */
    uint32_t ended; /* threads */
    struct pawl_pool_counts counts;
};

static size_t batch_count(const struct batch *batch)
{
    return batch->taken.runnable_count + batch->taken.work_count + batch->yielded_count;
}

/* With the mutex held. Whether whatever becomes due finds a thread: a burst that yields then need
 * not give up its own. */
static void update_spare(struct pawl_pool *pool)
{
    pawl__runtime_set_spare(pool->runtime, !pool->batch && pool->busy < pool->thread_count);
}

/* What of it was not begun is this node's all the same, and in nobody's hand any more. */
static void free_batch(struct pawl_pool *pool, struct batch *batch)
{
    const struct pawl_taken *taken = &batch->taken;

    for (size_t i = batch->next; i < batch_count(batch); i++) {
        if (i >= taken->runnable_count && i - taken->runnable_count < taken->work_count)
            pawl__runtime_drop(pool->runtime, taken->work[i - taken->runnable_count].id);
    }
    for (size_t i = 0; i < batch->back_count; i++)
        pawl__runtime_drop(pool->runtime, batch->back[i]->id);
    if (batch->next < batch_count(batch) || batch->back_count > 0)
        pawl__runtime_note_failure(pool->runtime, PAWL_EUNAVAILABLE);
    pawl__runtime_forget_yielded(pool->runtime, &batch->yielded);
    pawl__arena_release(&batch->arena);
    pawl__free(&pool->env->alloc, batch, sizeof *batch);
}

/* ---- turns --------------------------------------------------------------------------------- */

static int begin_turn(struct pawl_pool *pool, struct pawl_queue_turn *turn, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct pawl_queue_worker *queue = pool->options.queue;

    *turn = (struct pawl_queue_turn){0};
    return queue ? pawl__queue_worker_begin(queue, turn, deadline_ns, err) : PAWL_OK;
}

static void end_turn(struct pawl_pool *pool, struct pawl_queue_turn *turn)
{
    if (pool->options.queue)
        pawl__queue_worker_end(pool->options.queue, turn);
}

/* ---- leading ------------------------------------------------------------------------------- */

static bool is_stopped(struct pawl_pool *pool)
{
    bool stop = true;

    if (pawl_mutex_lock(pool->env, pool->mutex) == PAWL_OK) {
        stop = pool->stop;
        pawl_mutex_unlock(pool->env, pool->mutex);
    }
    return stop;
}

/* A thread that yielded a burst just now waits for this, to have its turn. */
static void set_waiting(struct pawl_pool *pool, bool waits)
{
    if (pawl_mutex_lock(pool->env, pool->mutex) != PAWL_OK)
        return;
    pool->is_waiting = waits;
    pawl_mutex_unlock(pool->env, pool->mutex);
    if (waits && pawl__runtime_has_turns(pool->runtime))
        pawl_cond_broadcast(pool->env, pool->cond);
}

/* Until something is due or was committed, at most as long as an idle pool sleeps. Who was refused
 * its turn knows nothing of what is due, and asks again soon. */
static void wait_for_work(struct pawl_pool *pool, const struct pawl_taken *taken, bool was_refused)
{
    int64_t now_ns = pawl_env_monotonic_ns(pool->env), wait_ns = pool->options.idle_ns_max;

    if (was_refused && wait_ns > REFUSED_NS)
        wait_ns = REFUSED_NS;
    if (taken->next_due_us != PAWL_TIME_NEVER &&
        (taken->next_due_us - taken->now_us) < wait_ns / 1000)
        wait_ns = (taken->next_due_us - taken->now_us) * 1000;
    if (wait_ns <= 0)
        return;
    set_waiting(pool, true);
    if (pawl_store_wait(pool->runtime->store, &pool->wake, now_ns + wait_ns, NULL) == PAWL_OK)
        pawl__replies_woken(pool->runtime);
    set_waiting(pool, false);
}

static void wait_after_failure(struct pawl_pool *pool, const struct pawl_error *err)
{
    if (pool->runtime->log && err->code != PAWL_ESTOPPED)
        pawl_log(pool->runtime->log, PAWL_LOG_WARN, "no work from the store",
                 pawl_log_error("error", err));
    if (pawl_mutex_lock(pool->env, pool->mutex) != PAWL_OK)
        return;
    pool->counts.refused++;
    if (!pool->stop)
        (void)!pawl_cond_wait(pool->env, pool->cond, pool->mutex,
                              pawl_env_monotonic_ns(pool->env) + RETRY_NS);
    pawl_mutex_unlock(pool->env, pool->mutex);
}

/* Takes work into the batch, with a turn for as long as that takes. PAWL_EBUSY: another node has
 * the turn. */
static int take_batch(struct pawl_pool *pool, struct batch *batch, bool *more,
                      struct pawl_error *err)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(pool->env) + WORK_NS_MAX;
    struct pawl_queue_turn turn;
    int status;

    /* Who takes nothing does not ask for its turn either. */
    if (pawl__runtime_check_paused(pool->runtime, deadline_ns, NULL) != PAWL_OK)
        return PAWL_OK;
    status = begin_turn(pool, &turn, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    batch->look.turn = &turn;
    status = pawl__runtime_take_share(pool->runtime, &pool->looks, &batch->look, &batch->arena,
                                      &batch->taken, deadline_ns, err);
    /* Without room nothing is given back: it is done. */
    if (status == PAWL_OK)
        batch->back = pawl__arena_alloc_array(&batch->arena, batch->taken.work_count + 1,
                                              sizeof *batch->back);
    *more = turn.more;
    batch->look.turn = NULL; /* the turn is over, the batch goes on */
    end_turn(pool, &turn);
    return status == PAWL_EBUSY ? PAWL_EUNAVAILABLE : status; /* of the store, not of the queue */
}

/* Of so many workers heavy definitions, and turns, have a quarter while others have work. */
static uint32_t heavy_part(const struct pawl_pool *pool)
{
    return (pool->options.workers + 3) / 4;
}

/*
 * Turns behind what was taken. A turn is long: beside work of light definitions there is one when
 * heavy ones are owed it, or when none is known to be heavy.
 */
static void add_turns(struct pawl_pool *pool, struct batch *batch, bool owes_turn)
{
    uint32_t most = pool->options.workers;

    if (batch_count(batch) > 0 && !batch->look.is_heavy &&
        pawl__shares_matter(pool->runtime->shares))
        most = owes_turn ? 1 : 0;
    batch->yielded_count = pawl__runtime_take_yielded(pool->runtime, &batch->yielded, most);
}

/* What to look for. True: heavy definitions are owed a turn; what they are owed is a turn and a
 * piece of work alternately. */
static bool plan_look(struct pawl_pool *pool, struct runtime_look *look)
{
    bool owes_turn =
        pawl__runtime_has_turns(pool->runtime) && pawl__shares_owe(pool->runtime->shares);

    *look = (struct runtime_look){.limit = pool->options.take_max,
                                  .heavy_limit = pool->options.workers};
    if (pawl_mutex_lock(pool->env, pool->mutex) != PAWL_OK)
        return false;
    look->has_heavy = pool->heavy >= heavy_part(pool);
    owes_turn = owes_turn && !look->has_heavy && !pool->was_turn;
    look->has_heavy = look->has_heavy || owes_turn;
    pool->was_turn = owes_turn;
    pawl_mutex_unlock(pool->env, pool->mutex);
    return owes_turn;
}

/* Waits for memory as for a store that fails; NULL when the pool is to stop. */
static struct batch *new_batch(struct pawl_pool *pool)
{
    struct batch *batch = NULL;

    while (!is_stopped(pool) && !(batch = pawl__alloc_zeroed(&pool->env->alloc, sizeof *batch))) {
        struct pawl_error err = PAWL_ERROR_INIT;

        (void)pawl__error_code(&err, PAWL_ENOMEM);
        wait_after_failure(pool, &err);
    }
    if (batch) {
        pawl__arena_init(&batch->arena, &pool->env->alloc, RUNTIME_BYTES_MAX);
        pawl__list_init(&batch->yielded);
    }
    return batch;
}

/* Looks until there is work; NULL when the pool is to stop. */
static struct batch *find_batch(struct pawl_pool *pool)
{
    struct batch *batch = new_batch(pool);
    int64_t due_us = PAWL_TIME_NEVER; /* of all parts since it waited */

    if (!batch)
        return NULL;
    while (!is_stopped(pool)) {
        struct pawl_error err = PAWL_ERROR_INIT;
        bool more = false, owes_turn;
        int status;

        pawl__arena_reset(&batch->arena);
        batch->taken = (struct pawl_taken){.next_due_us = PAWL_TIME_NEVER};
        batch->back = NULL;
        owes_turn = plan_look(pool, &batch->look);
        status = take_batch(pool, batch, &more, &err);
        if (status == PAWL_OK || status == PAWL_EBUSY)
            add_turns(pool, batch, owes_turn);
        if (batch_count(batch) > 0)
            return batch;
        if (status == PAWL_ESTOPPED || atomic_load(&pool->runtime->stopping))
            break;
        if (batch->taken.next_due_us < due_us)
            due_us = batch->taken.next_due_us;
        if (status == PAWL_OK && more)
            continue;
        /* Effects of bursts that ran outside of the pool are done, too. */
        if (status == PAWL_OK)
            pawl__runtime_flush_done(pool->runtime, pawl_env_monotonic_ns(pool->env) + WORK_NS_MAX);
        batch->taken.next_due_us = due_us;
        due_us = PAWL_TIME_NEVER;
        if (status == PAWL_OK || status == PAWL_EBUSY)
            wait_for_work(pool, &batch->taken, status == PAWL_EBUSY);
        else
            wait_after_failure(pool, &err);
    }
    free_batch(pool, batch);
    return NULL;
}

/* ---- working ------------------------------------------------------------------------------- */

static int do_piece(struct pawl_pool *pool, const struct batch *batch, size_t piece,
                    struct runtime_yielded *yielded)
{
    const struct pawl_taken *taken = &batch->taken;
    int64_t deadline_ns = pawl_env_monotonic_ns(pool->env) + WORK_NS_MAX;

    if (piece < taken->runnable_count)
        return pawl__runtime_do_runnable(pool->runtime, taken->runnable[piece], deadline_ns);
    if (yielded)
        return pawl__runtime_do_yielded(pool->runtime, yielded, deadline_ns);
    return pawl__runtime_do_work(pool->runtime, &taken->work[piece - taken->runnable_count],
                                 taken->now_us, deadline_ns);
}

/* The next piece of the batch; whoever gets the last forgets the batch. With the mutex held. */
static size_t next_piece(struct pawl_pool *pool, struct batch *batch,
                         struct runtime_yielded **yielded)
{
    size_t piece = batch->next++;

    PAWL_ASSERT(piece < batch_count(batch));
    *yielded = NULL;
    if (piece >= batch->taken.runnable_count + batch->taken.work_count)
        *yielded =
            PAWL_CONTAINER(pawl__list_pop_front(&batch->yielded), struct runtime_yielded, link);
    if (batch->next == batch_count(batch))
        pool->batch = NULL;
    return piece;
}

/* Work that is not to be begun now, since it is of a definition that turned out to be heavy or
 * failing; NULL: it is done. */
static const struct pawl_work_row *put_off(struct pawl_pool *pool, const struct batch *batch,
                                           size_t piece)
{
    const struct pawl_taken *taken = &batch->taken;
    const struct pawl_work_row *work;

    if (!batch->back || piece < taken->runnable_count ||
        piece >= taken->runnable_count + taken->work_count)
        return NULL;
    work = &taken->work[piece - taken->runnable_count];
    return pawl__runtime_is_outranked(pool->runtime, &batch->look, work) ? work : NULL;
}

/* All pieces are finished. Without the mutex: nobody else has the batch. */
static void end_batch(struct pawl_pool *pool, struct batch *batch)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(pool->env) + WORK_NS_MAX;

    if (batch->back_count > 0)
        pawl__runtime_give_back(pool->runtime, batch->back, batch->back_count, &batch->arena,
                                deadline_ns);
    batch->back_count = 0;
    free_batch(pool, batch);
    pawl__runtime_flush_done(pool->runtime, deadline_ns);
}

/* With the mutex held, which it gives up for the time of the work. */
static int work_on(struct pawl_pool *pool)
{
    struct batch *batch = pool->batch;
    struct runtime_yielded *yielded;
    size_t piece = next_piece(pool, batch, &yielded);
    bool is_heavy = yielded || batch->look.is_heavy;
    const struct pawl_work_row *back;
    int status;

    batch->in_use++;
    pool->busy++;
    pool->heavy += is_heavy;
    update_spare(pool);
    pawl_mutex_unlock(pool->env, pool->mutex);
    back = put_off(pool, batch, piece);
    if (!back)
        (void)do_piece(pool, batch, piece, yielded);
    status = pawl_mutex_lock(pool->env, pool->mutex);
    if (status != PAWL_OK)
        return status;
    if (back)
        batch->back[batch->back_count++] = back;
    else if (!yielded)
        pool->counts.done++;
    PAWL_ASSERT(pool->busy > 0 && batch->in_use > 0);
    pool->busy--;
    pool->heavy -= is_heavy;
    update_spare(pool);
    if (--batch->in_use == 0 && batch->next == batch_count(batch)) {
        pawl__list_remove(&batch->link);
        pawl_mutex_unlock(pool->env, pool->mutex);
        end_batch(pool, batch);
        status = pawl_mutex_lock(pool->env, pool->mutex);
    }
    return status;
}

/* With the mutex held. */
static int look_for_work(struct pawl_pool *pool)
{
    struct batch *batch;
    int status;

    pool->is_led = true;
    pool->counts.looks++;
    pawl_mutex_unlock(pool->env, pool->mutex);
    batch = find_batch(pool);
    status = pawl_mutex_lock(pool->env, pool->mutex);
    if (status != PAWL_OK) {
        if (batch)
            free_batch(pool, batch);
        return status;
    }
    PAWL_ASSERT(pool->is_led && !pool->batch); /* one thread leads, when nothing is left to do */
    pool->is_led = false;
    pool->batch = batch;
    update_spare(pool);
    if (batch)
        pawl__list_push_back(&pool->batches, &batch->link);
    else
        pool->stop = true;
    pawl_cond_broadcast(pool->env, pool->cond);
    return PAWL_OK;
}

/*
 * While another thread waits for work: the next turn of an instance that yielded. False: there is
 * none, or there may be light work in a moment. With the mutex held, which it gives up for the time
 * of the turn.
 */
static bool take_turn(struct pawl_pool *pool, int *status)
{
    struct pawl_list turns;
    struct pawl_list_link *link;

    if (!pawl__runtime_has_turns(pool->runtime) ||
        (!pool->is_waiting && pawl__shares_matter(pool->runtime->shares)))
        return false;
    pawl__list_init(&turns);
    pool->busy++;
    pool->heavy++;
    update_spare(pool);
    pawl_mutex_unlock(pool->env, pool->mutex);
    (void)pawl__runtime_take_yielded(pool->runtime, &turns, 1);
    if ((link = pawl__list_pop_front(&turns)) != NULL)
        (void)pawl__runtime_do_yielded(pool->runtime,
                                       PAWL_CONTAINER(link, struct runtime_yielded, link),
                                       pawl_env_monotonic_ns(pool->env) + WORK_NS_MAX);
    *status = pawl_mutex_lock(pool->env, pool->mutex);
    if (*status == PAWL_OK) {
        pool->busy--;
        pool->heavy--;
        update_spare(pool);
    }
    return true;
}

static void worker_main(void *arg)
{
    struct pawl_pool *pool = arg;
    int status = pawl_mutex_lock(pool->env, pool->mutex);

    if (status != PAWL_OK)
        return;
    while (status == PAWL_OK && !pool->stop) {
        if (pool->batch)
            status = work_on(pool);
        else if (!pool->is_led)
            status = look_for_work(pool);
        else if (take_turn(pool, &status))
            continue;
        else if (pawl_cond_wait(pool->env, pool->cond, pool->mutex, PAWL_FOREVER) == PAWL_ESTOPPED)
            break; /* the mutex is held all the same */
    }
    if (status == PAWL_OK) {
        pool->ended++;
        pawl_mutex_unlock(pool->env, pool->mutex);
    }
    pawl_cond_broadcast(pool->env, pool->cond);
}

/* ---- replacing ----------------------------------------------------------------------------- */

/* With the mutex held. Threads that hang cannot be ended; so many more than usual there may be. */
static bool needs_another(const struct pawl_pool *pool, uint32_t stuck)
{
    uint32_t most = 2 * pool->options.workers;

    if (most > PAWL_POOL_WORKERS_MAX)
        most = PAWL_POOL_WORKERS_MAX;
    return !pool->stop && pool->thread_count < most &&
           pool->thread_count < pool->options.workers + stuck;
}

/*
 * Threads that do work, of this pool or of whoever calls pawl__runtime_work(). When all that there
 * may be hang, nobody is left to do what was taken, and nobody else may while this incarnation
 * lives.
 */
static void replace(void *ctx, uint32_t stuck)
{
    struct pawl_pool *pool = ctx;
    bool all_hang;

    if (pawl_mutex_lock(pool->env, pool->mutex) != PAWL_OK)
        return;
    while (needs_another(pool, stuck) &&
           pawl_thread_start(pool->env, "pawl-worker", worker_main, pool,
                             &pool->threads[pool->thread_count], NULL) == PAWL_OK)
        pool->thread_count++;
    all_hang = !pool->stop && stuck >= pool->thread_count;
    pawl_mutex_unlock(pool->env, pool->mutex);
    if (all_hang)
        pawl__runtime_renounce(pool->runtime);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void set_options(struct pawl_pool *pool, const struct pawl_pool_options *options)
{
    if (options)
        pool->options = *options;
    if (pool->options.workers == 0)
        pool->options.workers = WORKERS_DEFAULT;
    if (pool->options.workers > PAWL_POOL_WORKERS_MAX)
        pool->options.workers = PAWL_POOL_WORKERS_MAX;
    if (pool->options.take_max == 0)
        pool->options.take_max = TAKE_DEFAULT;
    if (pool->options.idle_ns_max == 0) {
        int64_t lease_us = pool->runtime->options.lease_us;

        pool->options.idle_ns_max = IDLE_NS_DEFAULT;
        if (lease_us > 0 && lease_us * 1000 / 4 < IDLE_NS_DEFAULT)
            pool->options.idle_ns_max = lease_us * 1000 / 4;
    }
}

/* The first of them begin, and look at how many there are, before the last has started. */
static int start_workers(struct pawl_pool *pool, struct pawl_error *err)
{
    int status = pawl_mutex_lock(pool->env, pool->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    while (status == PAWL_OK && pool->thread_count < pool->options.workers) {
        status = pawl_thread_start(pool->env, "pawl-worker", worker_main, pool,
                                   &pool->threads[pool->thread_count], err);
        if (status == PAWL_OK)
            pool->thread_count++;
    }
    pawl_mutex_unlock(pool->env, pool->mutex);
    return status;
}

int pawl__pool_open(struct pawl_env *env, struct pawl_runtime *runtime,
                    const struct pawl_pool_options *options, struct pawl_pool **out,
                    struct pawl_error *err)
{
    struct pawl_pool *pool = pawl__alloc_zeroed(&env->alloc, sizeof *pool);
    int status;

    if (!pool)
        return pawl__error_code(err, PAWL_ENOMEM);
    pool->env = env;
    pool->runtime = runtime;
    pawl__list_init(&pool->batches);
    set_options(pool, options);
    status = pawl_mutex_new(env, "pool", &pool->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "pool", &pool->cond);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK)
        status = start_workers(pool, err);
    if (status == PAWL_OK)
        pawl__runtime_set_replace(runtime, replace, pool);
    if (status != PAWL_OK) {
        pawl__pool_close(pool);
        return status;
    }
    *out = pool;
    return PAWL_OK;
}

void pawl__pool_stop(struct pawl_pool *pool)
{
    if (pool->mutex && pawl_mutex_lock(pool->env, pool->mutex) == PAWL_OK) {
        pool->stop = true;
        pawl_mutex_unlock(pool->env, pool->mutex);
    }
    if (pool->cond)
        pawl_cond_broadcast(pool->env, pool->cond);
}

int pawl__pool_wait(struct pawl_pool *pool, int64_t deadline_ns)
{
    int status = pawl_mutex_lock(pool->env, pool->mutex);

    if (status != PAWL_OK)
        return status;
    while (status == PAWL_OK && pool->ended < pool->thread_count)
        status = pawl_cond_wait(pool->env, pool->cond, pool->mutex, deadline_ns);
    pawl_mutex_unlock(pool->env, pool->mutex);
    return status;
}

void pawl__pool_close(struct pawl_pool *pool)
{
    struct pawl_list_link *link;

    if (!pool)
        return;
    pawl__runtime_set_replace(pool->runtime, NULL, NULL);
    pawl__pool_stop(pool);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        pawl_thread_join(pool->env, pool->threads[i]);
    while ((link = pawl__list_pop_front(&pool->batches)) != NULL)
        free_batch(pool, PAWL_CONTAINER(link, struct batch, link));
    pawl_cond_free(pool->env, pool->cond);
    pawl_mutex_free(pool->env, pool->mutex);
    pawl__free(&pool->env->alloc, pool, sizeof *pool);
}

uint32_t pawl__pool_workers(const struct pawl_pool *pool)
{
    return pool->options.workers;
}

void pawl__pool_counts(struct pawl_pool *pool, struct pawl_pool_counts *out)
{
    *out = (struct pawl_pool_counts){0};
    if (pawl_mutex_lock(pool->env, pool->mutex) != PAWL_OK)
        return;
    *out = pool->counts;
    pawl_mutex_unlock(pool->env, pool->mutex);
}
