/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of a node whenever nobody is in the middle of changing it: for simulations, which
 * ask after every call to the store. Production code asserts on moves only.
 *
 *   1. An instance is in the hand of one thread at a time.
 *   2. A request is under way once.
 *   3. The tickets of the committer are as committer_ticket.c says.
 */
#include "runtime/runtime_private.h"
#include "runtime/runtime_request.h"

#include <stdio.h>

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
    const struct runtime_running *running;
    const struct runtime_request *request;

    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        if (is_twice_in_hand(runtime, running)) {
            (void)snprintf(why, size, "instance %.*s is in the hand of two threads",
                           PAWL_STR_ARG(running->id));
            return false;
        }
    }
    PAWL_LIST_FOR_EACH (request, &runtime->requests, link) {
        if (is_twice_requested(runtime, request)) {
            (void)snprintf(why, size, "request %.*s is under way twice", PAWL_STR_ARG(request->id));
            return false;
        }
    }
    return true;
}

bool pawl__runtime_check_invariants(struct pawl_runtime *runtime, char *why, size_t size)
{
    bool holds;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return true; /* stopped: its threads unwind */
    holds = check(runtime, why, size);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return holds && pawl__committer_check_invariants(runtime->committer, why, size);
}
