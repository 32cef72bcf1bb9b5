/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances in hand: which state may follow which, the one function that moves, taking in hand and
 * letting go, and what must hold whenever the runtime's mutex is free. The picture is in
 * runtime_private.h.
 *
 * Invariants:
 *   1. An instance is in the hand of one thread at a time.
 *   2. What is TAKEN or STEPPING is in `running`, what is GIVEN_UP in `given_up`, each once.
 *   3. `stuck` counts what is given up.
 *   4. What has the node to itself (`alone`) is in hand, and not given up.
 *   5. A hand is in a step exactly while `since_ns` says since when.
 * Fields are the caller's memory: nothing of it is touched after it left.
 */
#include "runtime/runtime_private.h"

#include "base/error.h"

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

bool pawl__runtime_enter(struct pawl_runtime *runtime, struct runtime_running *running,
                         struct pawl_str instance_id)
{
    struct runtime_running *other;
    bool entered = true, stopped = false;

    *running = (struct runtime_running){.id = instance_id, .work_id = pawl__str("")};
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return pawl__hand_move(running, HAND_FREE,
                               HAND_TAKEN); /* stopped: what comes next says so */
    do {
        PAWL_LIST_FOR_EACH (other, &runtime->running, link) {
            if (pawl__str_equal(other->id, instance_id)) {
                other->again = true;
                entered = false;
            }
        }
        if (!entered || !pawl__runtime_is_reserved(runtime))
            break;
        stopped = pawl_cond_wait(runtime->env, runtime->left, runtime->mutex,
                                 runtime->alone_until_ns) == PAWL_ESTOPPED;
    } while (!stopped);
    if (entered)
        entered = pawl__hand_move(running, HAND_FREE, HAND_TAKEN);
    if (entered && !stopped) { /* stopped: what comes next says so */
        pawl__list_push_back(&runtime->running, &running->link);
        pawl__runtime_cancels_entered(runtime);
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return entered;
}

/* In a stopped environment no mutex can be locked, and several threads unwind at a time. */
static void begin_unwinding(struct pawl_runtime *runtime)
{
    while (atomic_flag_test_and_set_explicit(&runtime->unwinding, memory_order_acquire))
        continue;
}

static void end_unwinding(struct pawl_runtime *runtime)
{
    atomic_flag_clear_explicit(&runtime->unwinding, memory_order_release);
}

/* With the mutex held, or while unwinding. False: it had been given up. */
static bool let_go(struct pawl_runtime *runtime, struct runtime_running *running)
{
    bool was_taken = pawl__hand_move(running, HAND_TAKEN, HAND_FREE);

    if (!was_taken) {
        bool was_given_up = pawl__hand_move(running, HAND_GIVEN_UP, HAND_FREE);

        PAWL_ASSERT(was_given_up && runtime->stuck > 0);
        runtime->stuck--;
    }
    if (pawl__list_linked(&running->link))
        pawl__list_remove(&running->link);
    return was_taken;
}

/* Also in a stopped environment: the entry is the caller's memory. */
bool pawl__runtime_leave(struct pawl_runtime *runtime, struct runtime_running *running)
{
    bool locked = pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK;
    bool has_returned = false;
    bool again = locked && running->again && atomic_load(&running->state) != HAND_GIVEN_UP;

    PAWL_ASSERT(!running->run);
    running->again = false;
    if (!again) {
        PAWL_ASSERT(!locked || runtime->alone != running);
        if (!locked)
            begin_unwinding(runtime);
        has_returned = !let_go(runtime, running);
        if (!locked)
            end_unwinding(runtime);
    }
    if (locked)
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

static bool says(char *why, size_t size, struct pawl_str id, const char *what)
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
        return says(why, size, running->id, "is in the hand of two threads");
    if (state != HAND_TAKEN && state != HAND_STEPPING)
        return says(why, size, running->id, "is in the list of those in hand, and is not in hand");
    if ((state == HAND_STEPPING) != (atomic_load(&running->since_ns) != 0))
        return says(why, size, running->id, "is in a step that began at no time, or in none");
    return !running->run || pawl__run_check(running, why, size);
}

bool pawl__hand_check(const struct pawl_runtime *runtime, char *why, size_t size)
{
    const struct runtime_running *running;
    bool has_alone = !runtime->alone;
    uint32_t stuck = 0;

    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        has_alone = has_alone || runtime->alone == running;
        if (!check_one(runtime, running, why, size))
            return false;
    }
    PAWL_LIST_FOR_EACH (running, &runtime->given_up, link) {
        stuck++;
        if (atomic_load(&running->state) != HAND_GIVEN_UP)
            return says(why, size, running->id, "is in the list of those given up, and is not");
    }
    if (!has_alone) {
        (void)snprintf(why, size, "what has the node to itself is not in hand");
        return false;
    }
    if (stuck != runtime->stuck) {
        (void)snprintf(why, size, "%u threads hang, and %u are counted", (unsigned)stuck,
                       (unsigned)runtime->stuck);
        return false;
    }
    return true;
}
