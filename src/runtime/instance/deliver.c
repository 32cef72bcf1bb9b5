/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct delivery: what is sent to one instance that nobody runs goes to it on the thread of its
 * sender, in one commit that holds its effect and its id. See docs/design/0015-direct-delivery.md.
 *
 *     visit -> the burst of what was sent -> a commit that claims, and releases if it is over
 *     claim -> older mail -> the burst of what was sent -> release     where a visit is refused
 *
 * It is an attempt. It waits neither for the instance nor for its lock. What is not delivered
 * becomes a row, and the reservation of its id, which both commits insert, lets only one
 * of the two take effect, whatever becomes of a commit whose outcome is unknown.
 *
 * What a burst begins and others can go on with is left to the workers: the caller came to deliver
 * one thing. So a burst that yields is released, and functions of the host are rows: one of them
 * that sends something again would otherwise run a burst within a burst.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/bytes.h"
#include "runtime/node/pause.h"
#include "runtime/node/shares.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

#define DIRECT_MAX_DEFAULT 128u
/* Looks at what others found for the instance meanwhile; then it is theirs. */
#define LOOKS_MAX 4u

/* Whether the pool should decide when it runs. */
static bool is_for_workers(const struct runtime_run *run)
{
    return pawl__shares_matter(run->runtime->shares) &&
           pawl__shares_rank(run->runtime->shares, run->row.definition_id) >= PAWL_RANK_HEAVY;
}

/*
 * Before anything runs: what a sender brought comes after all mail, and there may be more than the
 * claim returned; and it does not wait until what may have killed its nodes can be run alone.
 */
int pawl__runtime_check_direct(struct runtime_run *run)
{
    struct runtime_task *task = run->task;

    if (!task->is_direct)
        return PAWL_OK;
    /* It awaits its turn or a result, under a claim of this node, or somebody died in the middle
     * of a burst: the claim stays, and a worker goes on. */
    if (run->row.runnable != 0)
        return pawl__error_set(task->err, PAWL_ECONFLICT,
                               "instance %.*s is in the middle of a burst",
                               PAWL_STR_ARG(run->row.id));
    if (run->row.takeovers > 0 || run->mail_count >= PAWL_CLAIM_MAIL_MAX || is_for_workers(run)) {
        task->holds_no_claim = run->is_visiting;
        return pawl__error_set(task->err, PAWL_EBUSY, "instance %.*s is left to a worker",
                               PAWL_STR_ARG(run->row.id));
    }
    run->direct = task->direct;
    task->direct = NULL;
    return PAWL_OK;
}

/* Somebody has it, or it does not wait for this, or is not there: nothing was claimed, and nothing
 * is left behind. The look tells which. */
int pawl__runtime_refuse_blind(struct runtime_run *run, const struct pawl_claim *claim)
{
    run->task->holds_no_claim = true;
    return pawl__error_set(run->task->err, PAWL_EBUSY,
                           "instance %.*s is being run, or does not wait for this event",
                           PAWL_STR_ARG(claim->id));
}

/* Older mail may take as long as its sender waits: then it is stored. */
bool pawl__runtime_is_direct_late(const struct runtime_task *task)
{
    return task->is_direct && pawl_env_monotonic_ns(task->runtime->env) >= task->deadline_ns;
}

/* As those who wait for it would find it (node/waits.c). */
static void note_rest(const struct runtime_run *run, struct pawl_reached *reached)
{
    enum pawl_sub_status status = pawl__runtime_sub_status(run->row.sub_status);

    if (!pawl__sub_status_is_final(status) &&
        (run->row.runnable != 0 || status == PAWL_SUB_PENDING || status == PAWL_SUB_EXECUTING))
        return;
    reached->has_rested = true;
    reached->sub_status = status;
    reached->incident_count = run->row.incident_count;
}

/* Of a blind one it is the only bookmark that waits for it: if there are more, each is resumed. */
static const struct pawl_json *find_target(const struct runtime_run *run,
                                           const struct runtime_direct *direct)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(&run->state, "bookmarks");
    uint32_t count = 0;

    for (uint32_t i = 0; direct->is_blind && i < pawl__json_len(bookmarks); i++)
        count +=
            pawl__str_equal(runtime_text(pawl__json_at(bookmarks, i), "hash"), direct->mail.hash);
    return count > 1 ? NULL : pawl__runtime_wanted_bookmark(run, &direct->mail);
}

int pawl__runtime_run_direct(struct runtime_run *run)
{
    struct runtime_direct *direct = run->direct;
    const struct pawl_json *bookmark = find_target(run, direct);
    struct pawl_event event = {
        .kind = PAWL_EVENT_RESUME, .input = direct->input, .is_request = direct->is_request};
    int64_t revision = run->row.revision;
    int status;

    run->direct = NULL;
    if (!bookmark || (direct->is_request && !pawl__runtime_takes_request(bookmark, &direct->input)))
        return PAWL_OK;
    event.bookmark_id = runtime_text(bookmark, "id");
    run->reservations = direct->reservations;
    run->reservation_count = direct->reservation_count;
    run->cause = direct->traceparent;
    status = pawl__runtime_run_burst(run, &event);
    run->cause = pawl__str_make(NULL, 0);
    direct->is_delivered = run->row.revision > revision;
    direct->is_unsure = !direct->is_delivered && pawl_error_class(status) == PAWL_CLASS_UNKNOWN;
    run->reservation_count = 0;
    /* Somebody has claimed or written what was visited: nothing is left behind. */
    if (status == PAWL_ECONFLICT && run->is_visiting) {
        run->task->holds_no_claim = true;
        status = PAWL_EBUSY;
    }
    if (status == PAWL_OK && direct->is_delivered && direct->reached)
        note_rest(run, direct->reached);
    /* Its key was used meanwhile: the commit was dropped, and the instance is as it was. */
    return status == PAWL_EEXISTS && !direct->is_delivered ? PAWL_OK : status;
}

static int run_in_hand(struct runtime_task *task, struct pawl_str instance_id,
                       struct runtime_running *running)
{
    bool again = true, more = false, yielded = false;
    int status = PAWL_OK;

    for (unsigned i = 0;
         again && status == PAWL_OK && i < LOOKS_MAX && !pawl__runtime_is_direct_late(task); i++) {
        status = pawl__runtime_run_once(task, instance_id, NULL, NULL, &more, &yielded);
        again = more || pawl__runtime_leave(task->runtime, running);
    }
    task->running = NULL;
    while (again && pawl__runtime_leave(task->runtime, running))
        continue;
    if (again)
        pawl__runtime_note_left(task->runtime);
    return status;
}

bool pawl__runtime_may_deliver(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    uint8_t chance = 0;

    /* What a burst leaves to workers needs some here: its claim may stay this node's. And who is
     * called by the runtime may be in the middle of a burst already. */
    if (!(atomic_load(&runtime->has_pool) || runtime->options.works_itself) ||
        atomic_load(&runtime->performing) > 0)
        return false;
    switch (runtime->options.delivery) {
    case PAWL_DELIVERY_ROWS:
        return false;
    case PAWL_DELIVERY_MIXED:
        if (pawl_env_entropy(runtime->env, &chance, sizeof chance, NULL) != PAWL_OK || chance % 2)
            return false;
        break;
    case PAWL_DELIVERY_DIRECT:
        break;
    }
    return pawl__runtime_may_begin(runtime, NULL) == PAWL_OK &&
           pawl__runtime_check_paused(runtime, deadline_ns, NULL) == PAWL_OK;
}

int pawl__runtime_deliver(struct runtime_task *task, struct runtime_direct *direct)
{
    struct pawl_runtime *runtime = task->runtime;
    uint32_t max =
        runtime->options.direct_max > 0 ? runtime->options.direct_max : DIRECT_MAX_DEFAULT;
    struct pawl_str instance_id = direct->mail.instance_id;
    struct runtime_running running;
    int status = PAWL_EBUSY;

    PAWL_ASSERT(!task->running);
    if (atomic_fetch_add(&runtime->direct_count, 1) < max)
        status = pawl__runtime_try_enter(runtime, &running, instance_id);
    if (status == PAWL_OK) {
        task->is_direct = true;
        task->direct = direct;
        task->running = &running;
        pawl__runtime_meter_begin(task);
        status = run_in_hand(task, instance_id, &running);
        pawl__runtime_meter(task);
        /* Also when it was delivered: what became of the claim may be unknown. */
        if (status != PAWL_EBUSY || !task->holds_no_claim)
            pawl__runtime_note_failure(runtime, status);
        task->direct = NULL;
        task->is_direct = false;
    }
    atomic_fetch_sub(&runtime->direct_count, 1);
    return direct->is_delivered ? PAWL_OK : status == PAWL_OK ? PAWL_EBUSY : status;
}
