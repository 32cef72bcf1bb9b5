/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of a node whenever nobody is in the middle of changing it: for simulations, which
 * ask at every scheduling point of the baton. Production code asserts on moves only.
 *
 *   1. Instances in hand are as instance/hand.c says, and bursts under way as instance/burst.c.
 *   2. Rows of work in hand are as work/held.c says.
 *   3. A request is under way once, from its beginning on (work/http.c has its states).
 *   4. Turns that wait are counted.
 *   5. The tickets of the committer are as committer_ticket.c says.
 */
#include "runtime/commit/committer.h"

#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/work/private.h"
#include "runtime/work/request.h"

#include <stdio.h>

static bool is_twice_requested(const struct pawl_runtime *runtime,
                               const struct runtime_request *request)
{
    const struct runtime_request *other;

    /* An answer that is being committed for an earlier owner of the row will be refused. */
    PAWL_LIST_FOR_EACH (other, &runtime->requests, link) {
        if (other != request && pawl__str_equal(other->id, request->id) &&
            other->owner == request->owner)
            return true;
    }
    return false;
}

static bool check(const struct pawl_runtime *runtime, char *why, size_t size)
{
    const struct runtime_request *request;
    const struct runtime_yielded *yielded;
    size_t turns = 0;

    if (!pawl__hand_check(runtime, why, size) || !pawl__held_check(runtime, why, size))
        return false;
    PAWL_LIST_FOR_EACH (request, &runtime->requests, link) {
        if (request->state == REQUEST_NEW) {
            (void)snprintf(why, size, "request %.*s is under way and was not begun",
                           PAWL_STR_ARG(request->id));
            return false;
        }
        if (is_twice_requested(runtime, request)) {
            (void)snprintf(why, size, "request %.*s is under way twice", PAWL_STR_ARG(request->id));
            return false;
        }
    }
    PAWL_LIST_FOR_EACH (yielded, &runtime->yielded, link)
        turns++;
    if (turns != atomic_load(&runtime->yielded_count)) {
        (void)snprintf(why, size, "%zu turns wait, and another number is counted", turns);
        return false;
    }
    return true;
}

bool pawl__runtime_check_invariants(const struct pawl_runtime *runtime,
                                    bool (*is_free)(const struct pawl_mutex *mutex), char *why,
                                    size_t size)
{
    if (is_free(runtime->mutex) && !check(runtime, why, size))
        return false;
    return pawl__committer_check_invariants(runtime->committer, is_free, why, size);
}

static bool check_idle(const struct pawl_runtime *runtime, char *why, size_t size)
{
    struct pawl_list_link *first = pawl__list_first(&runtime->running);
    const struct pawl_map_entry *entry;

    if (first) {
        const struct runtime_running *running = PAWL_CONTAINER(first, struct runtime_running, link);

        (void)snprintf(why, size, "instance %.*s is in nobody's hand, and was not let go",
                       PAWL_STR_ARG(running->id));
        return false;
    }
    PAWL_MAP_FOR_EACH (entry, &runtime->held) {
        const struct runtime_held *held = entry->value;

        /* What is done waits for its row to be deleted. */
        if (held->state != HELD_DONE) {
            (void)snprintf(why, size, "work %.*s is in nobody's hand, and was not dropped",
                           PAWL_STR_ARG(held->id));
            return false;
        }
    }
    return true;
}

bool pawl__runtime_check_idle(struct pawl_runtime *runtime, char *why, size_t size)
{
    bool holds;

    if (runtime->keeper)
        pawl__keeper_set_duty(runtime->keeper, NULL, NULL); /* which holds what it gives back */
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return true; /* stopped: whatever it had is another's */
    holds = check_idle(runtime, why, size);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return holds;
}
