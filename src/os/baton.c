/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler of the baton: who runs next, and how the baton changes hands.
 *
 * Invariants:
 *   1. Exactly one thread runs: `running`, or the caller outside when it is NULL. All others stand
 *      in pawl__baton_await() or in pawl__baton_step(), in a real wait on their own `turn`.
 *   2. Everything in the baton is touched only by who runs, so it needs no lock: the hand-over, by
 *      the semaphore of the next thread, orders what one thread did before what the next does. That
 *      is all a step does with the system, as there are very many.
 *   3. Whether a thread can run is never stored but computed from what it waits for
 *      (pawl__baton_runnable). So the baton itself cannot lose a wake-up.
 *   4. Choices depend on the seed, the threads' order of creation and their states; on nothing
 * else.
 *   5. `doomed` goes from false to true once per baton; every wait then ends, so all threads do.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "os/baton_core.h"

#define DEFAULT_MAX_STEPS UINT64_C(1000000)
#define DEFAULT_TRACE_BYTES ((size_t)128 << 10)
#define TRACE_BYTES_MIN ((size_t)1024) /* some lines, of which one half can be dropped */

/* A report line has about 100 bytes: enough for hundreds of threads. */
#define REPORT_BYTES_MAX ((size_t)64 << 10)

#define PPM 1000000u

uint64_t pawl__baton_splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The remainder's bias is below 2^-40 for any bound used here: it makes no schedule unreachable. */
uint64_t pawl__baton_random(struct pawl_baton *baton, uint64_t bound)
{
    return pawl__baton_splitmix(&baton->schedule_random) % bound;
}

static bool happens(struct pawl_baton *baton, uint32_t ppm)
{
    return ppm > 0 && pawl__baton_random(baton, PPM) < ppm;
}

/* ---- who can run ------------------------------------------------------------------------- */

struct pawl_thread *pawl__baton_self(struct pawl_baton *baton)
{
    struct pawl_thread *running = baton->running;

    if (!running)
        return &baton->outside;
    if (!pthread_equal(running->pthread, pthread_self()))
        pawl__baton_bug(baton, "a thread that does not hold the baton uses its environment");
    return running;
}

bool pawl__baton_stopped(const struct baton_env *env)
{
    return env->stopped || env->baton->doomed;
}

bool pawl__baton_runnable(const struct pawl_baton *baton, const struct pawl_thread *thread)
{
    bool due = thread->wake_ns <= baton->now_ns;

    switch (thread->state) {
    case BATON_READY:
        return due;
    case BATON_LOCKING:
        return !thread->mutex->owner || pawl__baton_stopped(thread->wait_env);
    case BATON_WAITING:
        return thread->signalled || due || pawl__baton_stopped(thread->wait_env);
    case BATON_RELOCKING:
        return !thread->mutex->owner;
    case BATON_SLEEPING:
        return due || pawl__baton_stopped(thread->wait_env);
    case BATON_JOINING:
        return thread->target->state == BATON_FINISHED;
    case BATON_FINISHED:
        return false;
    }
    return false;
}

static bool waits_for_time(const struct pawl_thread *thread)
{
    return thread->state == BATON_READY || thread->state == BATON_WAITING ||
           thread->state == BATON_SLEEPING;
}

/* Whom a thread that cannot run waits for, when that is a thread. */
static struct pawl_thread *blocker(const struct pawl_baton *baton, const struct pawl_thread *thread)
{
    if (pawl__baton_runnable(baton, thread))
        return NULL;
    if (thread->state == BATON_LOCKING || thread->state == BATON_RELOCKING)
        return thread->mutex->owner;
    return thread->state == BATON_JOINING ? thread->target : NULL;
}

/*
 * Whether `self`, about to wait, closes a circle. It must be the last of its circle to wait, so
 * looking from each thread that begins to wait finds every circle, while other threads may still
 * have work or timers; and the walk never enters a circle that `self` is not in.
 */
static bool closes_circle(const struct pawl_baton *baton, const struct pawl_thread *self)
{
    const struct pawl_thread *thread = blocker(baton, self);

    while (thread && thread != self)
        thread = blocker(baton, thread);
    return thread == self;
}

bool pawl__baton_mutex_is_free(const struct pawl_mutex *mutex)
{
    return !mutex->owner;
}

/* ---- choosing ---------------------------------------------------------------------------- */

static void doom(struct pawl_baton *baton, int code, const char *headline)
{
    pawl__baton_describe(baton, code, headline);
    pawl__baton_trace_step(baton, "-", "failed", "-", "-");
    baton->doomed = true;
}

/* The nth thread that can run; NULL when there are not as many, *count then says how many. */
static struct pawl_thread *nth_runnable(struct pawl_baton *baton, uint64_t nth, uint64_t *count)
{
    struct pawl_thread *thread;

    *count = 0;
    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (pawl__baton_runnable(baton, thread) && (*count)++ == nth)
            return thread;
    }
    return NULL;
}

static bool all_finished(struct pawl_baton *baton)
{
    struct pawl_thread *thread;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (thread->state != BATON_FINISHED)
            return false;
    }
    return true;
}

/* Moves the clock to the earliest wake-up. False: there is none. */
static bool jump(struct pawl_baton *baton)
{
    int64_t earliest_ns = PAWL_FOREVER;
    struct pawl_thread *thread;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (waits_for_time(thread) && thread->wake_ns < earliest_ns)
            earliest_ns = thread->wake_ns;
    }
    if (earliest_ns == PAWL_FOREVER)
        return false;
    PAWL_ASSERT(earliest_ns > baton->now_ns);
    baton->now_ns = earliest_ns;
    return true;
}

/* The next thread; NULL when all have finished. */
static struct pawl_thread *choose(struct pawl_baton *baton)
{
    uint64_t count;

    for (;;) {
        (void)nth_runnable(baton, UINT64_MAX, &count);
        if (count > 0)
            return nth_runnable(baton, count > 1 ? pawl__baton_random(baton, count) : 0, &count);
        if (all_finished(baton))
            return NULL;
        if (jump(baton))
            continue;
        if (baton->doomed)
            pawl__baton_bug(baton, "after a failed run, threads cannot unwind");
        doom(baton, PAWL_EDEADLOCK, "deadlock: no thread can run and none will wake");
    }
}

static void wake_one_for_no_reason(struct pawl_baton *baton)
{
    uint64_t count = 0, nth;
    struct pawl_thread *thread;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        count += thread->state == BATON_WAITING;
    }
    if (count == 0)
        return;
    nth = pawl__baton_random(baton, count);
    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (thread->state == BATON_WAITING && nth-- == 0)
            thread->signalled = true;
    }
}

/* Counts a step of `self` and does to it, and to others, what the options ask for. */
static void begin_step(struct pawl_baton *baton, struct pawl_thread *self)
{
    const struct pawl_baton_options *options = &baton->options;

    baton->step_count++;
    if (!baton->doomed && baton->step_count > options->max_steps)
        doom(baton, PAWL_ELIMIT, "livelock: the steps allowed were taken");
    /* Unwinding takes fewer steps than the work did, unless a thread ignores PAWL_ESTOPPED. */
    if (baton->doomed && baton->step_count > options->max_steps * 2)
        pawl__baton_bug(baton, "after a failed run, threads go on in spite of PAWL_ESTOPPED");
    if (!baton->doomed && closes_circle(baton, self))
        doom(baton, PAWL_EDEADLOCK, "deadlock: threads wait for each other");
    if (baton->doomed)
        return;
    if (happens(baton, options->spurious_ppm))
        wake_one_for_no_reason(baton);
    if (self->state == BATON_READY && happens(baton, options->pause_ppm))
        self->wake_ns =
            baton->now_ns + 1 + (int64_t)pawl__baton_random(baton, (uint64_t)options->pause_ns_max);
}

/* ---- handing over ------------------------------------------------------------------------ */

static void hand_over(struct pawl_baton *baton, struct pawl_thread *next)
{
    baton->running = next;
    (void)sem_post(next ? &next->turn : &baton->idle);
}

static void take(sem_t *turn)
{
    while (sem_wait(turn) != 0)
        continue; /* a signal came */
}

static struct pawl_thread *decide(struct pawl_baton *baton, struct pawl_thread *self,
                                  const char *op, const char *object)
{
    struct pawl_thread *next;

    if (baton->options.look && !baton->doomed)
        baton->options.look(baton->options.look_ctx);
    begin_step(baton, self);
    next = choose(baton);
    pawl__baton_trace_step(baton, self->label, op, object, next ? next->label : "-");
    return next;
}

void pawl__baton_step(struct pawl_baton *baton, const char *op, const char *object)
{
    struct pawl_thread *self = pawl__baton_self(baton);
    struct pawl_thread *next;

    if (self == &baton->outside)
        return;
    next = decide(baton, self, op, object);
    if (next != self) {
        hand_over(baton, next);
        take(&self->turn);
    }
    self->state = BATON_READY;
    self->wake_ns = 0;
}

bool pawl__baton_await(struct pawl_thread *self)
{
    take(&self->turn);
    return !self->abandoned;
}

void pawl__baton_leave(struct pawl_thread *self)
{
    struct pawl_baton *baton = self->env->baton;
    struct pawl_thread *next;

    self->state = BATON_FINISHED;
    next = decide(baton, self, "end", "-");
    hand_over(baton, next);
}

int pawl__baton_run(struct pawl_baton *baton, struct pawl_error *err)
{
    struct pawl_thread *first;

    PAWL_ASSERT(!baton->running);
    first = choose(baton);
    if (first) {
        hand_over(baton, first);
        take(&baton->idle);
    }
    if (!baton->doomed)
        return PAWL_OK;
    return pawl__error_set(err, baton->failure.code, "%s", baton->failure.msg);
}

/* ---- the baton itself -------------------------------------------------------------------- */

static struct pawl_baton_options complete(const struct pawl_baton_options *options)
{
    struct pawl_baton_options all = options ? *options : (struct pawl_baton_options){0};

    if (all.max_steps == 0)
        all.max_steps = DEFAULT_MAX_STEPS;
    if (all.trace_bytes == 0)
        all.trace_bytes = DEFAULT_TRACE_BYTES;
    PAWL_ASSERT(all.trace_bytes >= TRACE_BYTES_MIN);
    PAWL_ASSERT(all.max_steps <= UINT64_MAX / 2);
    PAWL_ASSERT(all.pause_ppm == 0 || all.pause_ns_max > 0);
    return all;
}

int pawl__baton_new(const struct pawl_allocator *alloc, uint64_t seed,
                    const struct pawl_baton_options *options, struct pawl_baton **out)
{
    struct pawl_baton *baton = pawl__alloc_zeroed(alloc, sizeof *baton);

    if (!baton)
        return PAWL_ENOMEM;
    baton->alloc = *alloc;
    baton->options = complete(options);
    baton->trace = pawl__alloc(alloc, baton->options.trace_bytes);
    if (!baton->trace)
        goto free_baton;
    if (sem_init(&baton->idle, 0, 0) != 0)
        goto free_trace;
    baton->seed = baton->schedule_random = seed;
    baton->entropy_random = pawl__baton_splitmix(&seed);
    baton->outside.state = BATON_READY;
    memcpy(baton->outside.label, "outside", sizeof "outside");
    pawl__list_init(&baton->envs);
    pawl__list_init(&baton->threads);
    pawl__buf_init(&baton->report, &baton->alloc, REPORT_BYTES_MAX);
    baton->now_ns = PAWL_BATON_MONOTONIC_START_NS;
    *out = baton;
    return PAWL_OK;

free_trace:
    pawl__free(alloc, baton->trace, baton->options.trace_bytes);
free_baton:
    pawl__free(alloc, baton, sizeof *baton);
    return PAWL_ENOMEM;
}

/* Ends the threads that never got a turn. Others have ended: no run is under way. */
static void abandon_threads(struct pawl_baton *baton)
{
    struct pawl_thread *thread;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        thread->abandoned = true;
        (void)sem_post(&thread->turn);
    }
}

void pawl__baton_free(struct pawl_baton *baton)
{
    struct pawl_list_link *link;
    struct pawl_allocator alloc;

    if (!baton)
        return;
    PAWL_ASSERT(!baton->running);
    abandon_threads(baton);
    while ((link = pawl__list_first(&baton->threads)))
        pawl__baton_thread_free(PAWL_CONTAINER(link, struct pawl_thread, link));
    while ((link = pawl__list_pop_front(&baton->envs))) {
        struct baton_env *env = PAWL_CONTAINER(link, struct baton_env, link);

        PAWL_ASSERT(env->object_count == 0);
        pawl__free(&baton->alloc, env, sizeof *env);
    }
    (void)sem_destroy(&baton->idle);
    pawl__buf_release(&baton->report);
    pawl__free(&baton->alloc, baton->trace, baton->options.trace_bytes);
    alloc = baton->alloc;
    pawl__free(&alloc, baton, sizeof *baton);
}
