/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances in hand: which state may follow which, the one function that moves, taking in hand and
 * letting go, and what must hold whenever the runtime's mutex is free. The picture is in
 * private.h.
 *
 * Invariants:
 *   1. An instance is in the hand of one thread at a time.
 *   2. What is TAKEN or STEPPING is in `running`, what is GIVEN_UP in `given_up`, each once.
 *   3. `stuck` counts what is given up, `stuck_workers` what of it is of threads that do work.
 *   4. What has the node to itself (`alone`) is in hand, and not given up.
 *   5. A hand is in a step exactly while `since_ns` says since when.
 * Fields are the caller's memory: nothing of it is touched after it left.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/node/private.h"

#include <stdio.h>

#define BIT(state) (1u << (unsigned)(state))

/* clang-format off */
static const unsigned allowed[] = {
    [HAND_FREE]     = BIT(HAND_TAKEN),
    [HAND_TAKEN]    = BIT(HAND_STEPPING) | BIT(HAND_FREE),
    [HAND_STEPPING] = BIT(HAND_TAKEN) | BIT(HAND_GIVEN_UP),
    [HAND_GIVEN_UP] = BIT(HAND_FREE),
};
/* clang-format on */

bool pawl__hand_may_move(enum hand_state from, enum hand_state to)
{
    return allowed[from] & BIT(to);
}

bool pawl__hand_move(struct runtime_running *running, enum hand_state from, enum hand_state to)
{
    PAWL_ASSERT(pawl__hand_may_move(from, to));
    return atomic_compare_exchange_strong(&running->state, &from, to);
}

/* ---- taking, letting go ---------------------------------------------------------------------- */

/* With the mutex held. Whether some thread has it: it will look again. */
static bool notify_holder(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    struct runtime_running *other;
    bool is_held = false;

    PAWL_LIST_FOR_EACH (other, &runtime->running, link) {
        if (pawl__str_equal(other->id, instance_id))
            other->again = is_held = true;
    }
    return is_held;
}

bool pawl__runtime_notify_holder(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    bool is_held;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    is_held = notify_holder(runtime, instance_id);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return is_held;
}

/* With the mutex held. Waits while the node is reserved for another instance. */
static int wait_to_enter(struct pawl_runtime *runtime, struct pawl_str instance_id,
                         int64_t deadline_ns)
{
    int status = PAWL_OK;

    while (!notify_holder(runtime, instance_id)) {
        int64_t until_ns = runtime->alone_until_ns;

        if (!pawl__runtime_is_reserved(runtime) || status == PAWL_ESTOPPED)
            return status == PAWL_ESTOPPED ? status : PAWL_OK;
        if (pawl_env_monotonic_ns(runtime->env) >= deadline_ns)
            return PAWL_ETIMEDOUT;
        status = pawl_cond_wait(runtime->env, runtime->left, runtime->mutex,
                                until_ns < deadline_ns ? until_ns : deadline_ns);
    }
    return PAWL_EBUSY;
}

/* With the mutex held. */
static void take_hand(struct pawl_runtime *runtime, struct runtime_running *running)
{
    (void)!pawl__hand_move(running, HAND_FREE, HAND_TAKEN);
    pawl__list_push_back(&runtime->running, &running->link);
    pawl__runtime_cancels_entered(runtime);
}

int pawl__runtime_try_enter(struct pawl_runtime *runtime, struct runtime_running *running,
                            struct pawl_str instance_id)
{
    const struct runtime_running *other;
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);

    if (status != PAWL_OK)
        return status;
    *running = (struct runtime_running){.id = instance_id, .work_id = pawl__str("")};
    if (pawl__runtime_is_reserved(runtime))
        status = PAWL_EBUSY;
    PAWL_LIST_FOR_EACH (other, &runtime->running, link) {
        if (pawl__str_equal(other->id, instance_id))
            status = PAWL_EBUSY;
    }
    if (status == PAWL_OK)
        take_hand(runtime, running);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return status;
}

/* In a stopped environment it is in hand, and in no list: what comes next says that it stopped. */
int pawl__runtime_enter(struct pawl_runtime *runtime, struct runtime_running *running,
                        struct pawl_str instance_id, int64_t deadline_ns)
{
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);
    bool locked = status == PAWL_OK;

    *running = (struct runtime_running){.id = instance_id, .work_id = pawl__str("")};
    if (locked)
        status = wait_to_enter(runtime, instance_id, deadline_ns);
    if (status == PAWL_OK)
        take_hand(runtime, running);
    else if (status == PAWL_ESTOPPED)
        (void)!pawl__hand_move(running, HAND_FREE, HAND_TAKEN);
    if (locked)
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    return status == PAWL_ESTOPPED ? PAWL_OK : status;
}

/* With the mutex held. False: it had been given up. */
static bool release_hand(struct pawl_runtime *runtime, struct runtime_running *running)
{
    bool was_taken = pawl__hand_move(running, HAND_TAKEN, HAND_FREE);

    if (!was_taken) {
        bool was_given_up = pawl__hand_move(running, HAND_GIVEN_UP, HAND_FREE);

        PAWL_ASSERT(was_given_up && runtime->stuck > 0);
        runtime->stuck--;
        runtime->stuck_workers -= running->is_worker;
    }
    if (pawl__list_linked(&running->link))
        pawl__list_remove(&running->link);
    return was_taken;
}

/* Also in a stopped environment: the entry is the caller's memory, and others walk the list. */
bool pawl__runtime_leave(struct pawl_runtime *runtime, struct runtime_running *running)
{
    bool is_stopped = pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK;
    bool has_returned = false;
    bool again;

    if (is_stopped)
        pawl_mutex_lock_always(runtime->env, runtime->mutex);
    again = !is_stopped && running->again && atomic_load(&running->state) != HAND_GIVEN_UP;
    PAWL_ASSERT(!running->run);
    running->again = false;
    if (!again) {
        PAWL_ASSERT(is_stopped || runtime->alone != running);
        has_returned = !release_hand(runtime, running);
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (has_returned)
        pawl__runtime_tell_stuck(runtime);
    if (!again)
        pawl_cond_broadcast(runtime->env, runtime->left);
    return again;
}

int pawl__runtime_wait_left(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);

    if (status != PAWL_OK)
        return status;
    if (!pawl__list_empty(&runtime->running))
        status = pawl_cond_wait(runtime->env, runtime->left, runtime->mutex, deadline_ns);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return status;
}

/* ---- what must hold ------------------------------------------------------------------------- */

static bool report(char *why, size_t size, struct pawl_str id, const char *what)
{
    (void)snprintf(why, size, "instance %.*s %s", PAWL_STR_ARG(id), what);
    return false;
}

static bool is_twice_in_hand(const struct pawl_runtime *runtime,
                             const struct runtime_running *running)
{
    const struct runtime_running *other;

    PAWL_LIST_FOR_EACH (other, &runtime->running, link) {
        if (other != running && pawl__str_equal(other->id, running->id))
            return true;
    }
    return false;
}

static bool check_one(const struct pawl_runtime *runtime, const struct runtime_running *running,
                      char *why, size_t size)
{
    enum hand_state state = atomic_load(&running->state);

    if (is_twice_in_hand(runtime, running))
        return report(why, size, running->id, "is in the hand of two threads");
    if (state != HAND_TAKEN && state != HAND_STEPPING)
        return report(why, size, running->id,
                      "is in the list of those in hand, and is not in hand");
    if ((state == HAND_STEPPING) != (atomic_load(&running->since_ns) != 0))
        return report(why, size, running->id, "is in a step that began at no time, or in none");
    return !running->run || pawl__run_check(running, why, size);
}

bool pawl__hand_check(const struct pawl_runtime *runtime, char *why, size_t size)
{
    const struct runtime_running *running;
    bool has_alone = !runtime->alone;
    uint32_t stuck = 0, workers = 0;

    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        has_alone = has_alone || runtime->alone == running;
        if (!check_one(runtime, running, why, size))
            return false;
    }
    PAWL_LIST_FOR_EACH (running, &runtime->given_up, link) {
        stuck++;
        workers += running->is_worker;
        if (atomic_load(&running->state) != HAND_GIVEN_UP)
            return report(why, size, running->id, "is in the list of those given up, and is not");
    }
    if (!has_alone) {
        (void)snprintf(why, size, "what has the node to itself is not in hand");
        return false;
    }
    if (stuck != runtime->stuck || workers != runtime->stuck_workers) {
        (void)snprintf(why, size, "%u threads hang, and %u are counted", (unsigned)stuck,
                       (unsigned)runtime->stuck);
        return false;
    }
    return true;
}
