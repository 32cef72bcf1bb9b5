/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that cannot be loaded or run, and what is done about them.
 *
 * Whatever went wrong, the stored state is not touched: a commit that keeps it writes how often a
 * run has failed in a row (failures), when it is tried again (retry_us) and why (trouble), and ends
 * the claim. Errors that may pass (of this node: memory, input and output) are tried again with
 * growing delays, for ever. Errors that cannot pass set the instance aside: retry_us is
 * PAWL_TIME_NEVER until an operator decides. Meanwhile neither it nor its mail is named by the
 * store, and callers are refused; the mail waits. A step that is committed ends all of it.
 *
 * A failure that belongs to a piece of mail (it cannot be read, its event asks for more than there
 * is) is that mail's: it is tried again and then a dead letter, and the instance goes on.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/audit.h"
#include "runtime/node/private.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* First pause after a failure; doubled each time, up to 17 minutes. */
#define BACKOFF_US INT64_C(1000000)
#define BACKOFF_DOUBLINGS_MAX 10
/* Counted no further. */
#define COUNT_MAX INT64_C(1000000)

/* ---- kinds of failures --------------------------------------------------------------------- */

bool pawl__runtime_is_passing(int status)
{
    enum pawl_error_class class = pawl_error_class(status);

    return class == PAWL_CLASS_UNKNOWN || status == PAWL_ECONFLICT || status == PAWL_ESTOPPED ||
           (class == PAWL_CLASS_TRANSIENT && status != PAWL_ENOMEM);
}

bool pawl__runtime_is_of_node(int status)
{
    return status == PAWL_ENOMEM || status == PAWL_EIO || status == PAWL_EPERM;
}

int64_t pawl__runtime_one_more(int64_t count)
{
    if (count < 0)
        return 1;
    return count < COUNT_MAX ? count + 1 : COUNT_MAX;
}

int64_t pawl__runtime_backoff_us(int64_t failures)
{
    if (failures < 0)
        failures = 0;
    return BACKOFF_US << (failures < BACKOFF_DOUBLINGS_MAX ? failures : BACKOFF_DOUBLINGS_MAX);
}

/* ---- setting aside ------------------------------------------------------------------------- */

bool pawl__runtime_is_put_off(const struct runtime_run *run)
{
    return run->row.retry_us > run->now_us;
}

int pawl__runtime_commit_trouble(struct runtime_run *run, const struct runtime_trouble *trouble,
                                 bool release, struct pawl_error *err)
{
    struct pawl_instance_row row = run->row;
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE,
        .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_UNASKED |
                 (release ? PAWL_COMMIT_RELEASE : 0),
        .instance = &row,
    };
    int status;

    PAWL_ASSERT(run->at == BURST_NONE && run->row.owner != 0 && !run->is_visiting);
    row.failures = trouble->failures;
    row.retry_us = trouble->retry_us;
    row.trouble = trouble->why;
    row.alone = trouble->alone;
    status = trouble->is_recorded
                 ? pawl__runtime_commit_by(run->task, &commit,
                                           pawl__runtime_commit_deadline(run->task), err)
                 : pawl__runtime_commit(run->runtime, &commit,
                                        pawl__runtime_commit_deadline(run->task), err);
    if (status != PAWL_OK)
        return status;
    run->row.revision++;
    run->row.failures = trouble->failures;
    run->row.retry_us = trouble->retry_us;
    run->row.trouble = trouble->why;
    run->row.alone = trouble->alone;
    if (release)
        run->row.owner = 0;
    return PAWL_OK;
}

int pawl__runtime_refuse_put_off(struct runtime_run *run)
{
    struct runtime_changes none = {.arena = &run->arena};
    struct pawl_error *err = run->task->err;
    struct pawl_str why = pawl__arena_str(&run->task->arena, run->row.trouble);
    bool waits = run->row.retry_us != PAWL_TIME_NEVER;

    run->task->err = NULL;
    (void)!pawl__runtime_commit_kept(run, &none, true);
    run->task->err = err;
    return pawl__error_set(err, PAWL_ECONFLICT,
                           "instance %.*s is %s: %.*s. Once the reason is gone, 'pawl retry %.*s' "
                           "runs it again",
                           PAWL_STR_ARG(run->row.id),
                           waits ? "tried again later by itself" : "set aside",
                           PAWL_STR_ARG(why.ptr ? why : pawl__str("")), PAWL_STR_ARG(run->row.id));
}

/* What stands in the store cannot be read: reading it again does not help. */
bool pawl__runtime_is_damaged(const struct runtime_run *run, int status)
{
    return !run->loaded && (status == PAWL_ECORRUPT || status == PAWL_EPARSE);
}

/* Logged when it begins and when it is given up, not at each try in between. */
static void log_trouble(const struct runtime_run *run, const struct runtime_trouble *trouble,
                        const struct pawl_error *why)
{
    bool aside = trouble->retry_us == PAWL_TIME_NEVER;

    if (!run->runtime->log)
        return;
    pawl_log(run->runtime->log, aside || trouble->failures == 1 ? PAWL_LOG_WARN : PAWL_LOG_DEBUG,
             aside ? "instance set aside for an operator" : "instance put off",
             pawl__log_str("instance", run->row.id), pawl_log_int("failures", trouble->failures),
             pawl_log_error("error", why));
}

/* Beside the instance its id need not be said. */
static struct pawl_str reason(const struct runtime_run *run, const struct pawl_error *why)
{
    static const struct pawl_str before = PAWL_STR_LIT("instance "), between = PAWL_STR_LIT(": ");
    struct pawl_str text = pawl__str(why->msg), rest = text;

    if (!pawl__str_starts(rest, before))
        return text;
    rest = pawl__str_slice(rest, before.len, rest.len);
    if (!pawl__str_starts(rest, run->row.id))
        return text;
    rest = pawl__str_slice(rest, run->row.id.len, rest.len);
    return pawl__str_starts(rest, between) ? pawl__str_slice(rest, between.len, rest.len) : text;
}

static void put_aside(struct runtime_run *run, int status, const struct pawl_error *why)
{
    int64_t before = run->row.failures;
    struct runtime_trouble trouble = {
        .failures = pawl__runtime_one_more(before),
        .retry_us = pawl__runtime_now_us(run) + pawl__runtime_backoff_us(before),
        .why = reason(run, why),
    };
    struct pawl_error err = PAWL_ERROR_INIT;

    if (pawl__runtime_is_damaged(run, status) ||
        (!pawl__runtime_is_of_node(status) &&
         trouble.failures >= run->runtime->options.attempts_max))
        trouble.retry_us = PAWL_TIME_NEVER;
    status = pawl__runtime_commit_trouble(run, &trouble, true, &err);
    if (status == PAWL_OK)
        log_trouble(run, &trouble, why);
    else if (status != PAWL_ECONFLICT && run->runtime->log)
        pawl_log(run->runtime->log, PAWL_LOG_ERROR, "claim not given back",
                 pawl__log_str("instance", run->row.id), pawl_log_error("error", &err));
}

/* ---- letting go ---------------------------------------------------------------------------- */

/* The mail that could not be delivered is tried again later, or given up; the claim ends. */
static void fail_mail(struct runtime_run *run, const struct pawl_error *why)
{
    struct runtime_changes changes = {.arena = &run->task->arena};
    struct pawl_error err = PAWL_ERROR_INIT, *told = run->task->err;

    if (run->consumed)
        pawl__runtime_add_failure(&changes, run->runtime, run->consumed, why,
                                  pawl__runtime_now_us(run));
    run->task->err = &err;
    if (pawl__runtime_commit_kept(run, &changes, true) != PAWL_OK && err.code != PAWL_ECONFLICT &&
        run->runtime->log)
        pawl_log(run->runtime->log, PAWL_LOG_ERROR, "claim not given back",
                 pawl__log_str("instance", run->row.id), pawl_log_error("error", &err));
    run->task->err = told;
}

/* Whether the instance itself cannot be run, whatever comes for it. */
static bool is_of_instance(const struct runtime_run *run)
{
    if (!run->loaded)
        return true;
    return run->consumed ? run->hindered : run->row.runnable != 0;
}

void pawl__runtime_let_go(struct runtime_run *run, int status)
{
    struct pawl_error why = PAWL_ERROR_INIT, *err = run->task->err;
    struct runtime_changes none = {.arena = &run->arena};

    if (run->is_new || run->row.owner == 0 || run->row.revision == 0)
        return;
    /* What it came with becomes a row: whoever claims the instance for that says what is wrong. */
    if (run->is_visiting) {
        pawl__runtime_end_visit(run);
        return;
    }
    if (pawl__runtime_is_passing(status)) {
        run->task->err = NULL;
        /* After an unknown outcome, what would end the claim could not be told from the commit
         * whose outcome that is: the instance stays this node's, and is found as a stray. */
        if (status != PAWL_ECONFLICT && status != PAWL_ESTOPPED &&
            pawl_error_class(status) != PAWL_CLASS_UNKNOWN)
            (void)!pawl__runtime_commit_kept(run, &none, true);
        run->task->err = err;
        return;
    }
    if (err && err->code == status)
        why = *err;
    else
        (void)pawl__error_code(&why, status);
    pawl__runtime_tell_failure(run->runtime, run->row.id, &why);
    if (is_of_instance(run)) {
        put_aside(run, status, &why);
        return;
    }
    if (run->runtime->log)
        pawl_log(run->runtime->log, PAWL_LOG_WARN, "burst failed",
                 pawl__log_str("instance", run->row.id), pawl_log_error("error", &why));
    fail_mail(run, &why);
}

/* ---- an operator's decision ---------------------------------------------------------------- */

static int clear(struct runtime_task *task, struct pawl_str instance_id)
{
    const struct runtime_trouble none = {.why = pawl__str(""), .is_recorded = true};
    struct pawl_guard_pass pass;
    struct runtime_run run;
    int status = pawl__runtime_pass(task, instance_id, PAWL_GUARD_WAIT, &pass);

    if (status != PAWL_OK)
        return status;
    pawl__runtime_run_init(&run, task);
    run.pass = pass;
    status = pawl__runtime_claim(&run, instance_id);
    if (status == PAWL_OK)
        status = pawl__runtime_commit_trouble(&run, &none, true, task->err);
    pawl__runtime_run_release(&run);
    pawl__runtime_unpass(task, instance_id, pass);
    return status;
}

int pawl__runtime_clear_trouble(struct runtime_task *task, struct pawl_str instance_id)
{
    struct runtime_running running;
    int status = PAWL_EBUSY, waited;

    while (status == PAWL_EBUSY) {
        status = pawl__runtime_may_begin(task->runtime, task->err);
        if (status != PAWL_OK)
            break;
        status = pawl__runtime_enter(task->runtime, &running, instance_id, task->deadline_ns);
        if (status == PAWL_OK) {
            status = clear(task, instance_id);
            while (pawl__runtime_leave(task->runtime, &running))
                continue; /* the caller runs it next, with all that has come for it */
        } else if (status != PAWL_EBUSY) {
            status = pawl__runtime_refuse_entry(task, instance_id, status);
        }
        waited = status == PAWL_EBUSY ? pawl__runtime_wait_busy(task, instance_id) : PAWL_OK;
        if (waited != PAWL_OK)
            status = waited;
    }
    return status;
}
