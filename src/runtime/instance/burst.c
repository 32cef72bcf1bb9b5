/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a burst under way: which state may follow which, the one function that moves it, and
 * what must hold of it. The picture is in private.h, what happens in run.c.
 *
 * Invariants:
 *   1. There is an engine's burst, and a graph, while it is OPEN, STEPPED or COMMITTED.
 *   2. What is OPEN or STEPPED may be written: its instance is new, or loaded by a claim or visit.
 *   3. What is PARKED or YIELDED is claimed, by the incarnation that claimed it.
 *   4. It is the instance that its thread has in hand.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/bytes.h"

#include <stdio.h>

#define BIT(state) (1u << (unsigned)(state))

/* clang-format off */
static const unsigned allowed[] = {
    [BURST_NONE]      = BIT(BURST_OPEN) | BIT(BURST_PARKED),
    [BURST_OPEN]      = BIT(BURST_STEPPED) | BIT(BURST_COMMITTED) | BIT(BURST_NONE),
    [BURST_STEPPED]   = BIT(BURST_OPEN) | BIT(BURST_COMMITTED) | BIT(BURST_NONE),
    [BURST_COMMITTED] = BIT(BURST_OPEN) | BIT(BURST_PARKED) | BIT(BURST_YIELDED) | BIT(BURST_NONE),
    [BURST_PARKED]    = 0,
    [BURST_YIELDED]   = 0,
};
/* clang-format on */

bool pawl__run_may_move(enum burst_state from, enum burst_state to)
{
    return allowed[from] & BIT(to);
}

void pawl__run_move(struct runtime_run *run, enum burst_state to)
{
    PAWL_ASSERT(pawl__run_may_move(run->at, to));
    run->at = to;
}

bool pawl__run_is_waiting(const struct runtime_run *run)
{
    return run->at == BURST_PARKED || run->at == BURST_YIELDED;
}

void pawl__run_set(struct runtime_running *running, const struct runtime_run *run)
{
    if (!running)
        return;
    PAWL_ASSERT(!running->run != !run);
    running->run = run;
}

/* ---- who watches ---------------------------------------------------------------------------- */

/* The traceparent of what came for the instance; "": it has none. */
static struct pawl_str cause_of(struct runtime_run *run)
{
    const struct pawl_work_row *came = run->consumed ? run->consumed : run->started;
    struct pawl_json payload;

    if (run->cause.ptr)
        return run->cause;
    if (!came || came->payload.len == 0 ||
        pawl__runtime_json_read(run->runtime, &run->arena, came->payload, &payload, NULL) !=
            PAWL_OK)
        return pawl__str("");
    return runtime_text(&payload, RUNTIME_TRACEPARENT);
}

struct burst_watch pawl__run_watch(struct runtime_run *run)
{
    const struct pawl_runtime_hooks *hooks = &run->runtime->options.hooks;
    struct burst_watch watch = {.cause = pawl__str("")};

    run->span = (struct pawl_trace_context){0};
    if (hooks->burst)
        watch.begun_ns = pawl_env_monotonic_ns(run->runtime->env);
    if (!hooks->burst_begun)
        return watch;
    watch.cause = cause_of(run);
    hooks->burst_begun(hooks->ctx, &run->row, watch.cause, &run->span);
    return watch;
}

void pawl__run_watched(const struct runtime_run *run, const struct burst_watch *watch, int status)
{
    const struct pawl_runtime_hooks *hooks = &run->runtime->options.hooks;

    if (hooks->burst)
        hooks->burst(hooks->ctx, &run->row, &run->span, watch->cause, watch->begun_ns,
                     pawl_env_monotonic_ns(run->runtime->env), status);
}

/* ---- what must hold ------------------------------------------------------------------------- */

static bool report(char *why, size_t size, struct pawl_str id, const char *what)
{
    (void)snprintf(why, size, "the burst of instance %.*s %s", PAWL_STR_ARG(id), what);
    return false;
}

bool pawl__run_check(const struct runtime_running *running, char *why, size_t size)
{
    const struct runtime_run *run = running->run;
    bool is_open = run->at == BURST_OPEN || run->at == BURST_STEPPED || run->at == BURST_COMMITTED;

    if (run->row.id.len > 0 && !pawl__str_equal(run->row.id, running->id))
        return report(why, size, running->id, "is of another instance than its thread has in hand");
    if (is_open && (!run->burst || !run->graph))
        return report(why, size, running->id, "is open without an engine's burst");
    if (run->at == BURST_NONE && run->burst)
        return report(why, size, running->id, "is closed and has an engine's burst");
    if ((run->at == BURST_OPEN || run->at == BURST_STEPPED) && !run->is_new && !run->loaded)
        return report(why, size, running->id, "is about to write a state that was not loaded");
    if ((run->at == BURST_OPEN || run->at == BURST_STEPPED) && !run->is_new && run->row.owner == 0)
        return report(why, size, running->id, "goes on without a claim or a visit");
    if (pawl__run_is_waiting(run) && run->row.owner == 0)
        return report(why, size, running->id, "waits without a claim");
    if (run->row.owner != 0 && run->row.owner != run->incarnation)
        return report(why, size, running->id, "is under a claim of another incarnation");
    return true;
}
