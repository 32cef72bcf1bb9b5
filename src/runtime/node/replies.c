/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for replies; see replies.h. All with the mutex, but for looks at rows and calls. A
 * waiter that is taken out of the table is its taker's: it is called once and freed.
 */
#include "runtime/node/replies.h"

#include "base/alloc.h"
#include "base/error.h"
#include "runtime/node/private.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_MS INT64_C(1000000)
/* Between two looks for the row of a reply: at first, and at the most. */
#define PAUSE_NS_MIN NS_PER_MS
#define PAUSE_NS_MAX (500 * NS_PER_MS)
/* The first look of one whose request is still being delivered: another node may take the burst
 * from this one meanwhile. Most are replied to before. */
#define FIRST_LOOK_NS (100 * NS_PER_MS)
/* While somebody waits, how late the thread may learn that the node ends. */
#define SLEEP_NS_MAX (100 * NS_PER_MS)
/* Rows that one look asks for. */
#define LOOK_MAX 200u
/* Numbers of addresses are below this: as many digits as replies_rows.c reads. */
#define NUMBER_END UINT64_C(1000000000000000000)

struct waiter {
    struct pawl_list_link link;
    struct pawl_str address;
    char address_text[PAWL_REPLY_ADDRESS_SIZE];
    int64_t deadline_ns;
    int64_t look_ns;  /* when to look for its row */
    int64_t pause_ns; /* until the look after that */
    bool is_stored;   /* its request */
    pawl_reply_fn *done;
    void *ctx;
};

struct pawl_replies {
    struct pawl_env *env;
    struct pawl_runtime *runtime;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *wake;
    struct pawl_list waiting; /* struct waiter, the oldest first */
    struct pawl_map by_address;
    uint32_t count;
    int64_t wakes_ns; /* when the thread wakes by itself; 0: it is awake */
    bool stop;
    struct pawl_thread *thread; /* NULL: not yet */
};

/* ---- the table ----------------------------------------------------------------------------- */

/* With the mutex. */
static void take_out(struct pawl_replies *replies, struct waiter *waiter)
{
    (void)pawl__map_remove(&replies->by_address, waiter->address);
    pawl__list_remove(&waiter->link);
    replies->count--;
}

static void call(struct pawl_replies *replies, struct waiter *waiter, int status,
                 const struct pawl_json *reply)
{
    waiter->done(waiter->ctx, status, reply);
    pawl__free(&replies->env->alloc, waiter, sizeof *waiter);
}

static void call_all(struct pawl_replies *replies, struct pawl_list *called, int status)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(called)) != NULL) {
        struct waiter *waiter = PAWL_CONTAINER(link, struct waiter, link);

        call(replies, waiter,
             status == PAWL_ETIMEDOUT && !waiter->is_stored ? PAWL_EUNKNOWN : status, NULL);
    }
}

/* Everybody who is left learns that the node ends. */
static void end_all(struct pawl_replies *replies)
{
    struct pawl_list called;
    struct pawl_list_link *link;

    pawl__list_init(&called);
    pawl_mutex_lock_always(replies->env, replies->mutex);
    replies->stop = true;
    while ((link = pawl__list_first(&replies->waiting)) != NULL) {
        take_out(replies, PAWL_CONTAINER(link, struct waiter, link));
        pawl__list_push_back(&called, link);
    }
    pawl_mutex_unlock(replies->env, replies->mutex);
    call_all(replies, &called, PAWL_ESTOPPED);
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* With the mutex: those whose time is up go to `called`. */
static void collect_late(struct pawl_replies *replies, int64_t now_ns, struct pawl_list *called)
{
    struct waiter *waiter, *late;

    do {
        late = NULL;
        PAWL_LIST_FOR_EACH (waiter, &replies->waiting, link) {
            if (!late && waiter->deadline_ns <= now_ns)
                late = waiter;
        }
        if (late) {
            take_out(replies, late);
            pawl__list_push_back(called, &late->link);
        }
    } while (late);
}

/* The addresses whose rows are to be looked for, as texts of their own. */
struct look {
    char texts[LOOK_MAX][PAWL_REPLY_ADDRESS_SIZE];
    struct pawl_str addresses[LOOK_MAX];
    size_t count;
};

/* The first of them, which is the last now; NULL: there is none. */
static struct waiter *rotate(struct pawl_list *waiting)
{
    struct pawl_list_link *link = pawl__list_pop_front(waiting);

    if (!link)
        return NULL;
    pawl__list_push_back(waiting, link);
    return PAWL_CONTAINER(link, struct waiter, link);
}

/* With the mutex. Those that are looked for go to the back, so that all have their turn. */
static void collect_watched(struct pawl_replies *replies, int64_t now_ns, struct look *look)
{
    uint32_t left = replies->count;

    look->count = 0;
    for (; left > 0 && look->count < LOOK_MAX; left--) {
        struct waiter *waiter = rotate(&replies->waiting);

        if (!waiter || waiter->look_ns > now_ns)
            continue;
        memcpy(look->texts[look->count], waiter->address_text, sizeof waiter->address_text);
        look->addresses[look->count] = pawl__str(look->texts[look->count]);
        look->count++;
        waiter->look_ns = now_ns + waiter->pause_ns;
        if (waiter->pause_ns < PAUSE_NS_MAX)
            waiter->pause_ns *= 2;
    }
}

/* With the mutex. When there is something to do. */
static int64_t next_ns(const struct pawl_replies *replies, int64_t now_ns)
{
    int64_t next = replies->count > 0 ? now_ns + SLEEP_NS_MAX : PAWL_FOREVER;
    const struct waiter *waiter;

    PAWL_LIST_FOR_EACH (waiter, &replies->waiting, link) {
        if (waiter->deadline_ns < next)
            next = waiter->deadline_ns;
        if (waiter->look_ns < next)
            next = waiter->look_ns;
    }
    return next;
}

static bool is_ending(struct pawl_replies *replies)
{
    return replies->stop || atomic_load(&replies->runtime->stopping);
}

static void look_after_waiters(void *arg)
{
    struct pawl_replies *replies = arg;
    struct pawl_list called;
    struct look look;
    int status = pawl_mutex_lock(replies->env, replies->mutex);

    pawl__list_init(&called);
    while (status == PAWL_OK && !is_ending(replies)) {
        int64_t now_ns = pawl_env_monotonic_ns(replies->env);

        replies->wakes_ns = next_ns(replies, now_ns);
        if (replies->wakes_ns > now_ns) {
            status = pawl_cond_wait(replies->env, replies->wake, replies->mutex, replies->wakes_ns);
            if (status == PAWL_ETIMEDOUT)
                status = PAWL_OK;
            if (status != PAWL_OK)
                break;
        }
        replies->wakes_ns = 0;
        now_ns = pawl_env_monotonic_ns(replies->env);
        collect_late(replies, now_ns, &called);
        collect_watched(replies, now_ns, &look);
        if (pawl__list_first(&called) || look.count > 0) {
            pawl_mutex_unlock(replies->env, replies->mutex);
            call_all(replies, &called, PAWL_ETIMEDOUT);
            if (look.count > 0)
                pawl__replies_look(replies->runtime, look.addresses, look.count);
            status = pawl_mutex_lock(replies->env, replies->mutex);
        }
    }
    if (status == PAWL_OK)
        pawl_mutex_unlock(replies->env, replies->mutex);
}

/* With the mutex: whether the thread sleeps past this. */
static bool must_wake(const struct pawl_replies *replies, int64_t at_ns)
{
    return replies->wakes_ns != 0 && at_ns < replies->wakes_ns;
}

/* ---- who waits ----------------------------------------------------------------------------- */

/* With the mutex. */
static int check_room(struct pawl_replies *replies, struct pawl_error *err)
{
    if (is_ending(replies))
        return pawl__error_set(err, PAWL_ESTOPPED, "this node is ending: ask another one");
    if (replies->count >= PAWL_REPLIES_MAX)
        return pawl__error_set(err, PAWL_EBUSY,
                               "%u requests wait for replies already: try again later",
                               PAWL_REPLIES_MAX);
    return PAWL_OK;
}

/* With the mutex. Nobody guesses the number: a state that somebody imports may say which request it
 * replies to. */
static int make_address(struct pawl_replies *replies, struct waiter *waiter, struct pawl_error *err)
{
    uint64_t number;
    int status;

    do {
        status = pawl_env_entropy(replies->env, &number, sizeof number, err);
        if (status != PAWL_OK)
            return status;
        (void)snprintf(waiter->address_text, sizeof waiter->address_text, "%" PRId64 "/%" PRIu64,
                       pawl__runtime_incarnation(replies->runtime), number % NUMBER_END);
        waiter->address = pawl__str(waiter->address_text);
    } while (pawl__map_get(&replies->by_address, waiter->address));
    return PAWL_OK;
}

/* With the mutex. */
static int add(struct pawl_replies *replies, struct waiter *waiter, struct pawl_error *err)
{
    int status = check_room(replies, err);

    if (status != PAWL_OK)
        return status;
    if (!replies->thread)
        status = pawl_thread_start(replies->env, "pawl-replies", look_after_waiters, replies,
                                   &replies->thread, err);
    if (status != PAWL_OK)
        return status;
    status = make_address(replies, waiter, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__map_put(&replies->by_address, waiter->address, waiter);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    pawl__list_push_back(&replies->waiting, &waiter->link);
    replies->count++;
    return PAWL_OK;
}

int pawl__replies_expect(struct pawl_runtime *runtime, const struct pawl_reply_wait *wait,
                         char address[PAWL_REPLY_ADDRESS_SIZE], struct pawl_error *err)
{
    struct pawl_replies *replies = runtime->replies;
    struct waiter *waiter = pawl__alloc_zeroed(&replies->env->alloc, sizeof *waiter);
    bool wakes;
    int status;

    if (!waiter)
        return pawl__error_code(err, PAWL_ENOMEM);
    waiter->deadline_ns = wait->deadline_ns;
    waiter->look_ns = pawl_env_monotonic_ns(replies->env) + FIRST_LOOK_NS;
    waiter->pause_ns = FIRST_LOOK_NS;
    waiter->done = wait->done;
    waiter->ctx = wait->ctx;
    status = pawl_mutex_lock(replies->env, replies->mutex);
    if (status != PAWL_OK) {
        pawl__free(&replies->env->alloc, waiter, sizeof *waiter);
        return pawl__error_code(err, status);
    }
    status = add(replies, waiter, err);
    wakes = status == PAWL_OK && must_wake(replies, waiter->deadline_ns);
    if (status == PAWL_OK)
        memcpy(address, waiter->address_text, PAWL_REPLY_ADDRESS_SIZE);
    pawl_mutex_unlock(replies->env, replies->mutex);
    if (status != PAWL_OK)
        pawl__free(&replies->env->alloc, waiter, sizeof *waiter);
    else if (wakes)
        pawl_cond_signal(replies->env, replies->wake);
    return status;
}

void pawl__replies_watch(struct pawl_runtime *runtime, struct pawl_str address)
{
    struct pawl_replies *replies = runtime->replies;
    struct waiter *waiter;

    pawl_mutex_lock_always(replies->env, replies->mutex);
    waiter = pawl__map_get(&replies->by_address, address);
    if (waiter) {
        waiter->is_stored = true;
        waiter->pause_ns = PAUSE_NS_MIN;
        waiter->look_ns = pawl_env_monotonic_ns(replies->env) + waiter->pause_ns;
    }
    pawl_mutex_unlock(replies->env, replies->mutex);
    if (waiter)
        pawl_cond_signal(replies->env, replies->wake);
}

void pawl__replies_woken(struct pawl_runtime *runtime)
{
    struct pawl_replies *replies = runtime->replies;
    struct waiter *waiter;
    bool wakes = false;
    int64_t now_ns;

    if (!replies || pawl_mutex_lock(replies->env, replies->mutex) != PAWL_OK)
        return;
    now_ns = pawl_env_monotonic_ns(replies->env);
    /* Those whose requests are just being delivered are not looked for yet. */
    PAWL_LIST_FOR_EACH (waiter, &replies->waiting, link) {
        if (waiter->pause_ns != FIRST_LOOK_NS && waiter->look_ns > now_ns) {
            waiter->look_ns = now_ns;
            wakes = true;
        }
    }
    pawl_mutex_unlock(replies->env, replies->mutex);
    if (wakes)
        pawl_cond_signal(replies->env, replies->wake);
}

/* NULL: nobody waits there. What is returned is the caller's. */
static struct waiter *take(struct pawl_replies *replies, struct pawl_str address)
{
    struct waiter *waiter;

    pawl_mutex_lock_always(replies->env, replies->mutex);
    waiter = pawl__map_get(&replies->by_address, address);
    if (waiter)
        take_out(replies, waiter);
    pawl_mutex_unlock(replies->env, replies->mutex);
    return waiter;
}

bool pawl__replies_forget(struct pawl_runtime *runtime, struct pawl_str address)
{
    struct pawl_replies *replies = runtime->replies;
    struct waiter *waiter = take(replies, address);

    if (waiter)
        pawl__free(&replies->env->alloc, waiter, sizeof *waiter);
    return waiter != NULL;
}

void pawl__replies_deliver(struct pawl_runtime *runtime, struct pawl_str address,
                           const struct pawl_json *reply)
{
    struct waiter *waiter = take(runtime->replies, address);

    if (waiter)
        call(runtime->replies, waiter, PAWL_OK, reply);
}

enum pawl_reply_way pawl__replies_way(struct pawl_runtime *runtime, struct pawl_str address)
{
    struct pawl_replies *replies = runtime->replies;
    char own[PAWL_REPLY_ADDRESS_SIZE];
    bool waits;

    if (address.len == 0)
        return PAWL_REPLY_NOBODY;
    pawl_mutex_lock_always(replies->env, replies->mutex);
    waits = pawl__map_get(&replies->by_address, address) != NULL;
    pawl_mutex_unlock(replies->env, replies->mutex);
    if (waits)
        return PAWL_REPLY_HERE;
    (void)snprintf(own, sizeof own, "%" PRId64 "/", pawl__runtime_incarnation(runtime));
    return pawl__str_starts(address, pawl__str(own)) ? PAWL_REPLY_NOBODY : PAWL_REPLY_ELSEWHERE;
}

/* ---- life ---------------------------------------------------------------------------------- */

int pawl__runtime_replies_open(struct pawl_runtime *runtime, struct pawl_error *err)
{
    struct pawl_env *env = runtime->env;
    struct pawl_replies *replies = pawl__alloc_zeroed(&env->alloc, sizeof *replies);
    int status;

    if (!replies)
        return pawl__error_code(err, PAWL_ENOMEM);
    replies->env = env;
    replies->runtime = runtime;
    pawl__list_init(&replies->waiting);
    pawl__map_init(&replies->by_address, &env->alloc, (struct pawl_hash_seed){0x7265706c, 0});
    runtime->replies = replies;
    status = pawl_mutex_new(env, "replies", &replies->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "replies", &replies->wake);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

void pawl__runtime_replies_end(struct pawl_runtime *runtime)
{
    if (runtime->replies)
        end_all(runtime->replies);
}

void pawl__runtime_replies_close(struct pawl_runtime *runtime)
{
    struct pawl_replies *replies = runtime->replies;

    if (!replies)
        return;
    if (replies->thread) {
        pawl_mutex_lock_always(replies->env, replies->mutex);
        replies->stop = true;
        pawl_mutex_unlock(replies->env, replies->mutex);
        pawl_cond_broadcast(replies->env, replies->wake);
        pawl_thread_join(replies->env, replies->thread);
        end_all(replies);
    }
    if (replies->wake)
        pawl_cond_free(replies->env, replies->wake);
    if (replies->mutex)
        pawl_mutex_free(replies->env, replies->mutex);
    pawl__map_release(&replies->by_address);
    runtime->replies = NULL;
    pawl__free(&replies->env->alloc, replies, sizeof *replies);
}
