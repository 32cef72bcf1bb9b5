/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One claimed instance: its event and its mail, one after the other, each to the end of its burst.
 *
 *     claim -> [event -> burst: step, commit, step, commit …] -> … -> release
 *
 * The last commit of the last burst releases the claim: a resume is one claim and one commit, and
 * several events can share it (fold.c). Mail that came meanwhile is reported by that commit, and
 * the instance is claimed again. A burst that awaits a child keeps the claim, and nothing of it
 * stays in memory. What is delivered directly to an idle instance claims with its commit (a visit).
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/log.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/node/keeper.h"
#include "runtime/node/private.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* A look at the lease takes a lock: once in so many activities. */
#define LEASE_POLLS 32u

void pawl__runtime_run_init(struct runtime_run *run, struct runtime_task *task)
{
    *run = (struct runtime_run){.task = task, .runtime = task->runtime};
    pawl__arena_init(&run->arena, &task->runtime->env->alloc, RUNTIME_BYTES_MAX);
    for (unsigned i = 0; i < RUNTIME_STATES; i++)
        pawl__arena_init(&run->state_arenas[i], &task->runtime->env->alloc, RUNTIME_BYTES_MAX);
    pawl__arena_init(&run->fold.arena, &task->runtime->env->alloc, RUNTIME_BYTES_MAX);
    run->counts = pawl__json_object();
    run->feeds = run->feeds_job = pawl__str("");
    run->incarnation = pawl__runtime_incarnation(task->runtime);
}

static void close_burst(struct runtime_run *run)
{
    pawl__burst_close(run->burst);
    run->burst = NULL;
    if (run->at != BURST_NONE && !pawl__run_is_waiting(run))
        pawl__run_move(run, BURST_NONE);
}

void pawl__runtime_run_release(struct runtime_run *run)
{
    close_burst(run);
    pawl__graph_unref(run->graph);
    run->graph = NULL;
    for (unsigned i = 0; i < RUNTIME_STATES; i++)
        pawl__arena_release(&run->state_arenas[i]);
    pawl__arena_release(&run->fold.arena);
    pawl__arena_release(&run->arena);
}

int64_t pawl__runtime_now_us(const struct runtime_run *run)
{
    return run->now_us + (pawl_env_monotonic_ns(run->runtime->env) - run->claimed_ns) / 1000;
}

int64_t pawl__runtime_commit_deadline(const struct runtime_task *task)
{
    int64_t at_least = pawl_env_monotonic_ns(task->runtime->env) + INT64_C(10000000000);

    return task->is_duty || task->deadline_ns > at_least ? task->deadline_ns : at_least;
}

/* ---- loading ------------------------------------------------------------------------------- */

/* What is stored is the state of this instance, also of one that has not begun. Anything else would
 * pass for a state without bookmarks, whose timers nobody awaits. */
static bool is_own_state(const struct runtime_run *run)
{
    return pawl__json_is(&run->state, PAWL_JSON_OBJECT) &&
           pawl__str_equal(runtime_text(&run->state, "id"), run->row.id);
}

/*
 * Counts are statistics, of which nothing depends: damaged ones begin anew, and do not stop the
 * instance. They have no checksum: a number that was changed passes for one.
 */
static int load_counts(struct runtime_run *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status =
        pawl__runtime_counts_read(run->runtime, &run->arena, &run->row, &run->counts, &err);

    if (status == PAWL_ENOMEM || run->arena.status != PAWL_OK)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    if (status != PAWL_OK && run->runtime->log)
        pawl_log(run->runtime->log, PAWL_LOG_WARN, "damaged counts begin anew",
                 pawl__log_str("instance", run->row.id), pawl_log_error("error", &err));
    if (status != PAWL_OK || !pawl__json_is(&run->counts, PAWL_JSON_OBJECT))
        run->counts = pawl__json_object();
    return PAWL_OK;
}

static bool is_final(const struct runtime_run *run)
{
    return pawl__str_is(run->row.status, "Finished");
}

/* What ends again, after a retry, has told its parent of its end: a bulk would count it twice. */
static int forget_who_waited(struct runtime_run *run)
{
    struct pawl_json *properties = pawl__json_get_text(&run->state, "properties");
    int status = PAWL_OK;

    if (is_final(run) && run->row.runnable == 0 &&
        pawl__json_true(pawl__json_get_text(properties, "WaitForCompletion")))
        status = pawl__json_set_text(&run->arena, properties, "WaitForCompletion",
                                     pawl__json_bool(false));
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(run->task->err, status);
}

static int load(struct runtime_run *run)
{
    struct runtime_task *task = run->task;
    int status =
        pawl__runtime_state_read(run->runtime, &run->arena, &run->row, &run->state, task->err);

    if (status == PAWL_OK && !is_own_state(run))
        status = pawl__error_set(task->err, PAWL_ECORRUPT,
                                 "what is stored as its state is not the state of this instance");
    if (status == PAWL_OK)
        status = load_counts(run);
    if (status == PAWL_OK)
        status = forget_who_waited(run);
    /* In a cluster of two versions: nothing is wrong with it, a newer node goes on with it. */
    if (status == PAWL_OK && pawl__state_is_newer(&run->state)) {
        if (run->runtime->log)
            pawl_log(run->runtime->log, PAWL_LOG_DEBUG, "state of a newer version left to others",
                     pawl__log_str("instance", run->row.id));
        status = pawl__error_set(task->err, PAWL_EBUSY,
                                 "its state was written by a newer Pawl: a node of that version "
                                 "goes on with it");
    }
    if (status == PAWL_OK) {
        const struct pawl_json *section = pawl__json_get_text(&run->state, "pawl");

        run->feeds = pawl__arena_str(&task->arena, runtime_text(section, RUNTIME_FEEDS));
        run->feeds_job = pawl__arena_str(&task->arena, runtime_text(section, RUNTIME_FEEDS_JOB));
        if (!run->feeds.ptr || !run->feeds_job.ptr)
            status = pawl__error_code(task->err, pawl__arena_status(&task->arena));
    }
    if (status != PAWL_OK)
        return pawl__error_prefix(task->err, status, "instance %.*s", PAWL_STR_ARG(run->row.id));
    run->loaded = true;
    return PAWL_OK;
}

/* ---- small commits ------------------------------------------------------------------------- */

int pawl__runtime_commit_kept(struct runtime_run *run, struct runtime_changes *changes,
                              bool release)
{
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE,
        .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_UNASKED | (release ? PAWL_COMMIT_RELEASE : 0),
        .instance = &run->row,
        .changes = changes->items,
        .change_count = changes->count,
    };
    int status = changes->status;

    PAWL_ASSERT(run->at == BURST_NONE && run->fold.count == 0); /* bursts commit what they did */
    PAWL_ASSERT(!run->is_new && run->row.owner != 0);
    if (run->is_visiting) {
        PAWL_ASSERT(release && changes->count == 0);
        pawl__runtime_end_visit(run);
        return PAWL_OK;
    }
    if (status == PAWL_OK)
        status = pawl__runtime_commit(run->runtime, &commit,
                                      pawl__runtime_commit_deadline(run->task), run->task->err);
    else
        status = pawl__error_code(run->task->err, status);
    if (status == PAWL_OK) {
        run->row.revision++;
        if (release)
            run->row.owner = 0;
        pawl__runtime_send_refusals(run);
    }
    run->refusals = NULL;
    return status;
}

bool pawl__runtime_keeps_mail(const struct pawl_instance_row *row, const struct pawl_work_row *mail)
{
    return pawl__str_is(row->sub_status, pawl__sub_status_name(PAWL_SUB_FAULTED)) &&
           (pawl__str_is(mail->kind, PAWL_WORK_CHILD) || pawl__str_is(mail->kind, PAWL_WORK_JOB));
}

/* Until it is reopened (wake_kept() of bookmarks.c). */
static void keep_mail(struct runtime_changes *changes, const struct pawl_work_row *mail)
{
    struct pawl_work_row row = *mail;

    row.owner = 0;
    row.due_us = PAWL_TIME_NEVER;
    pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/*
 * Mail reopens no instance that has ended. What was sent to it is visible as a dead letter; a
 * cancellation is still one of its children, also when the flag has reached a burst before it.
 */
static int absorb(struct runtime_run *run, struct runtime_changes *changes,
                  const struct pawl_work_row *mail)
{
    bool is_request;
    int status = pawl__runtime_refuse_request(run, changes, mail, &is_request);

    if (status != PAWL_OK || is_request)
        return status;
    if (pawl__runtime_keeps_mail(&run->row, mail)) {
        keep_mail(changes, mail);
        return PAWL_OK;
    }
    pawl__runtime_delete_work(changes, mail->id);
    if (mail->hash.len > 0)
        pawl__runtime_add_dead_letter(changes, mail, "Failed", pawl__str("the instance has ended"),
                                      pawl__runtime_now_us(run));
    return pawl__str_is(mail->kind, PAWL_WORK_CANCEL)
               ? pawl__runtime_cancel_children(run->task, run->row.id)
               : PAWL_OK;
}

/* It may still find its bookmark: the row stays, and a bookmark with its hash makes it due. */
static void park_mail(struct runtime_run *run, struct runtime_changes *changes,
                      const struct pawl_work_row *mail)
{
    struct pawl_work_row row = *mail;

    row.owner = 0;
    row.due_us = PAWL_TIME_NEVER;
    row.expires_us = row.created_us + run->runtime->options.stimulus_us;
    row.bookmark_id = pawl__str("");
    pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/* Nothing waits for it. What somebody sent becomes a dead letter. */
static void drop_mail(struct runtime_run *run, struct runtime_changes *changes,
                      const struct pawl_work_row *mail)
{
    pawl__runtime_delete_work(changes, mail->id);
    if (mail->hash.len > 0)
        pawl__runtime_add_dead_letter(changes, mail, "Expired", mail->error,
                                      pawl__runtime_now_us(run));
    if (pawl__str_is(mail->kind, PAWL_WORK_TIMER))
        pawl__runtime_warn_of_timer(run, mail);
}

int pawl__runtime_absorb_mail(struct runtime_run *run, struct runtime_changes *changes)
{
    int status = PAWL_OK;

    for (; run->mail_count > 0 && status == PAWL_OK; run->mail_count--, run->mail++)
        status = absorb(run, changes, run->mail);
    return status;
}

/* Without a burst: all mail of an ended instance goes, and the claim ends. */
static int absorb_all(struct runtime_run *run)
{
    struct runtime_changes changes = {.arena = &run->arena};
    int status = pawl__runtime_absorb_mail(run, &changes);

    return status == PAWL_OK ? pawl__runtime_commit_kept(run, &changes, true) : status;
}

/* ---- bursts -------------------------------------------------------------------------------- */

static bool has_lost_pass(const struct runtime_run *run)
{
    return !pawl__guard_is_valid(run->runtime->options.guard, run->pass);
}

/* The node's lease is over, or the claim was made by an earlier incarnation of it. */
static bool has_lost_lease(const struct runtime_run *run)
{
    return run->incarnation != pawl__keeper_incarnation(run->runtime->keeper) ||
           !pawl__keeper_is_alive(run->runtime->keeper);
}

/* The node drains, or has lost its lease or its pass: others may go on with what it has. */
static bool must_stop(const struct runtime_run *run)
{
    return pawl__runtime_is_stopping(run->runtime) || has_lost_pass(run) || has_lost_lease(run);
}

/* Between activities: whether the burst is to commit what it did, because it must stop or because
 * its cancellation seems to be requested, which that commit then reports. */
static bool is_stopping(void *ctx)
{
    struct runtime_run *run = ctx;
    struct runtime_running *running = run->task->running;

    if (running && atomic_load_explicit(&running->cancelled, memory_order_relaxed)) {
        atomic_store(&running->cancelled, false);
        return true;
    }
    if (pawl__runtime_is_stopping(run->runtime) || has_lost_pass(run))
        return true;
    pawl__runtime_step_goes_on(run->runtime, running);
    return run->polls++ % LEASE_POLLS == 0 && has_lost_lease(run);
}

static int64_t burst_now(void *ctx)
{
    return pawl__us_to_ticks(pawl__runtime_now_us(ctx));
}

static int open_burst(struct runtime_run *run, struct pawl_event *event)
{
    struct runtime_task *task = run->task;
    bool fresh = pawl__json_is(&run->state, PAWL_JSON_NULL);
    int status = PAWL_OK;

    if (!run->graph)
        status = pawl__definitions_graph(run->runtime->definitions, run->row.version_id,
                                         &run->graph, task->deadline_ns, task->err);
    if (status != PAWL_OK) {
        run->hindered = true;
        return pawl__error_prefix(task->err, status, "instance %.*s", PAWL_STR_ARG(run->row.id));
    }
    event->now = burst_now(run);
    event->seed = pawl__runtime_burst_seed(run->runtime, run->row.id, run->row.revision);
    event->mark = pawl__runtime_id_mark(run->row.id);
    event->instance_id = run->row.id;
    event->kept = pawl__runtime_find_kept(task->request, run->row.id);
    status = pawl__burst_open(run->graph, &run->runtime->env->alloc, fresh ? NULL : &run->state,
                              event, &run->burst, task->err);
    if (status == PAWL_OK) {
        pawl__burst_set_stop(run->burst, is_stopping, run);
        pawl__burst_set_clock(run->burst, burst_now, run);
        pawl__burst_set_patience(run->burst, pawl__run_is_reply_late, run);
        run->replied_ns = 0;
        pawl__run_move(run, BURST_OPEN);
    }
    return status;
}

static int reopen_burst(struct runtime_run *run)
{
    struct pawl_event event = {.kind =
                                   run->row.cancel_requested ? PAWL_EVENT_CANCEL : PAWL_EVENT_RUN};

    close_burst(run);
    return open_burst(run, &event);
}

int pawl__runtime_feed(struct runtime_run *run, const struct pawl_json *result)
{
    int status = pawl__burst_feed(run->burst, result, burst_now(run));

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(run->task->err, status);
}

/* Whether nothing is left to do once this step is committed, as far as one knows. */
static bool may_release(struct runtime_run *run, enum pawl_step step)
{
    if (step == PAWL_STEP_IDLE || step == PAWL_STEP_DONE)
        return run->mail_count == 0 && !run->direct && !(run->event && *run->event);
    return step == PAWL_STEP_YIELD && (run->task->is_direct || must_stop(run));
}

/* After a commit: *over when the burst is done with, here. */
static int continue_burst(struct runtime_run *run, enum pawl_step step, bool *over)
{
    *over = true;
    if (step == PAWL_STEP_IDLE || step == PAWL_STEP_DONE)
        return pawl__runtime_store_kept(run);
    if (run->row.owner == 0)
        return PAWL_OK;
    if (step == PAWL_STEP_EFFECT) {
        pawl__run_move(run, BURST_PARKED);
        return PAWL_OK;
    }
    if (step == PAWL_STEP_YIELD && run->task->yields && !run->row.cancel_requested &&
        pawl__runtime_is_crowded(run->runtime)) {
        pawl__run_move(run, BURST_YIELDED);
        return PAWL_OK;
    }
    *over = false;
    if (step == PAWL_STEP_YIELD)
        pawl__runtime_meter(run->task);
    /* A burst that yields is reopened: that keeps an endless loop's memory small. */
    if (step == PAWL_STEP_YIELD || run->runtime->options.step_commits)
        return reopen_burst(run);
    if (run->row.cancel_requested)
        pawl__burst_cancel(run->burst);
    pawl__run_move(run, BURST_OPEN);
    return PAWL_OK;
}

/* The row that a first step comes from: there is nothing else yet by which to give it up. */
static struct pawl_str first_work(const struct runtime_run *run)
{
    return run->is_new && run->started ? run->started->id : pawl__str("");
}

static int step_burst(struct runtime_run *run, bool *over)
{
    enum pawl_step step = PAWL_STEP_DONE;
    struct pawl_batch batch;
    int status;

    if (run->task->running)
        atomic_store(&run->task->running->visited, run->is_visiting ? run->row.revision : 0);
    pawl__runtime_step_begin(run->runtime, run->task->running, first_work(run));
    status = pawl__burst_step(run->burst, &step, run->task->err);
    pawl__runtime_step_end(run->runtime, run->task->running);
    if (status == PAWL_OK)
        pawl__run_move(run, BURST_STEPPED);
    if (status == PAWL_OK && step == PAWL_STEP_EFFECT) {
        bool answered;

        pawl__burst_batch(run->burst, &batch);
        status = pawl__runtime_resolve_awaited(run, batch.awaited, &answered);
        if (status == PAWL_OK && answered) {
            pawl__run_move(run, BURST_OPEN);
            return PAWL_OK;
        }
    }
    if (status == PAWL_OK)
        status = pawl__runtime_commit_step(run, step, may_release(run, step));
    return status == PAWL_OK ? continue_burst(run, step, over) : status;
}

/* A feed goes to the burst as it stands; everything else is an event that opens one. */
static int begin(struct runtime_run *run, struct pawl_event *event, const struct pawl_json *fed)
{
    int status = open_burst(run, event);

    return status == PAWL_OK && fed ? pawl__runtime_feed(run, fed) : status;
}

static int run_burst(struct runtime_run *run, struct pawl_event *event, const struct pawl_json *fed)
{
    struct burst_watch watch = pawl__run_watch(run);
    bool over = false;
    int status = begin(run, event, fed);

    pawl__runtime_meter_burst(run);
    while (status == PAWL_OK && !over)
        status = step_burst(run, &over);
    pawl__runtime_meter_end(run, status);
    close_burst(run);
    pawl__run_watched(run, &watch, status);
    return status;
}

int pawl__runtime_run_burst(struct runtime_run *run, struct pawl_event *event)
{
    return run_burst(run, event, NULL);
}

enum pawl_sub_status pawl__runtime_sub_status(struct pawl_str name)
{
    enum pawl_sub_status status = PAWL_SUB_EXECUTING;

    (void)pawl__sub_status_parse(name, &status);
    return status;
}

void pawl__runtime_tell_outcome(const struct runtime_run *run)
{
    struct pawl_outcome *outcome = run->outcome;

    if (!outcome)
        return;
    PAWL_ASSERT(run->row.id.len < sizeof outcome->instance_id);
    memcpy(outcome->instance_id, run->row.id.ptr, run->row.id.len);
    outcome->instance_id[run->row.id.len] = '\0';
    outcome->sub_status = pawl__runtime_sub_status(run->row.sub_status);
    outcome->incident_count = run->row.incident_count;
    outcome->bookmark_count = pawl__json_len(pawl__json_get_text(&run->state, "bookmarks"));
}

int pawl__runtime_commit_pending(struct runtime_run *run, struct pawl_event *event)
{
    int status;

    PAWL_ASSERT(run->is_new);
    status = open_burst(run, event);
    if (status == PAWL_OK)
        status = pawl__runtime_commit_step(run, PAWL_STEP_COMMIT, true);
    close_burst(run);
    return status;
}

/* ---- what comes next ----------------------------------------------------------------------- */

static const struct pawl_work_row *pop_mail(struct runtime_run *run)
{
    PAWL_ASSERT(run->mail_count > 0);
    run->mail_count--;
    return run->mail++;
}

/* The awaited result, if it is there: other mail follows when the burst has ended. */
static int resume_awaiting(struct runtime_run *run, bool *any)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN};
    struct pawl_json result;
    int status = pawl__runtime_put_result_first(run, any);

    if (status != PAWL_OK)
        return status;
    if (!*any) {
        pawl__run_move(run, BURST_PARKED);
        return PAWL_OK;
    }
    run->consumed = pop_mail(run);
    status = pawl__runtime_json_read(run->runtime, &run->arena, run->consumed->payload, &result,
                                     run->task->err);
    return status == PAWL_OK ? run_burst(run, &event, &result) : status;
}

static int run_mail(struct runtime_run *run)
{
    const struct pawl_work_row *mail = pop_mail(run);
    struct runtime_changes changes = {.arena = &run->arena};
    struct pawl_event event = {0};
    bool means, park, is_request;
    int status;

    run->consumed = mail;
    status = pawl__runtime_mail_event(run, mail, &event, &means, &park);
    if (status != PAWL_OK)
        return status;
    if (means)
        return run_burst(run, &event, NULL);
    status = pawl__runtime_refuse_request(run, &changes, mail, &is_request);
    if (status != PAWL_OK)
        return status;
    if (!is_request && park)
        park_mail(run, &changes, mail);
    else if (!is_request)
        drop_mail(run, &changes, mail);
    run->consumed = NULL;
    return pawl__runtime_commit_kept(run, &changes, run->mail_count == 0);
}

/*
 * An operator's alterations, on the graph of the version that they migrate to. What is refused has
 * changed nothing, and is no failure of the instance: the claim ends.
 */
static int run_alterations(struct runtime_run *run, struct pawl_event *event)
{
    struct runtime_changes none = {.arena = &run->arena};
    struct runtime_task *task = run->task;
    struct pawl_graph *graph = NULL;
    struct pawl_error *err = task->err;
    bool over = false;
    int status = pawl__runtime_altered_graph(run->runtime, &run->row, &event->alterations, &graph,
                                             task->deadline_ns, err);

    if (status == PAWL_OK) {
        pawl__graph_unref(run->graph);
        run->graph = graph;
        status = open_burst(run, event);
    }
    if (status != PAWL_OK) {
        run->is_given = false; /* the commit that ends the claim is no effect of the event */
        task->err = NULL;
        (void)!pawl__runtime_commit_kept(run, &none, true);
        task->err = err;
        return status;
    }
    status = pawl__runtime_tell_altered(task, run->burst);
    while (status == PAWL_OK && !over)
        status = step_burst(run, &over);
    close_burst(run);
    return status;
}

/* What reaches an instance that has ended: an operator's command, which may reopen it. */
static bool may_reopen(const struct pawl_event *event)
{
    return event && (event->kind == PAWL_EVENT_ACTIVITY || event->kind == PAWL_EVENT_ALTER);
}

/* One event: the caller's, what the state is in the middle of, a cancellation, mail. */
static int run_next(struct runtime_run *run, struct pawl_event **event, bool *any)
{
    struct pawl_event own = {.kind = PAWL_EVENT_RUN};

    *any = true;
    /* One that has faulted in the middle of a burst still drains its queue: that burst ends first.
     */
    if (is_final(run) && !run->row.runnable && !may_reopen(*event)) {
        *event = NULL;
        *any = false;
        return run->row.owner ? absorb_all(run) : PAWL_OK;
    }
    if (run->row.cancel_requested && !is_final(run)) {
        own.kind = PAWL_EVENT_CANCEL;
        return run_burst(run, &own, NULL);
    }
    if (run->row.runnable == 2)
        return resume_awaiting(run, any);
    if (run->row.runnable) {
        /* "Go on" asks for no more than this. */
        if (*event && (*event)->kind == PAWL_EVENT_RUN)
            *event = NULL;
        return run_burst(run, &own, NULL);
    }
    if (*event) {
        struct pawl_event *given = *event;

        *event = NULL;
        run->is_given = true;
        run->given_revision = run->row.revision;
        if (given->kind == PAWL_EVENT_ALTER)
            return run_alterations(run, given);
        /* "Go on": it stands in the middle of nothing; the root never runs twice. */
        return given->kind == PAWL_EVENT_RUN ? PAWL_OK : run_burst(run, given, NULL);
    }
    if (run->mail_count > 0)
        return run_mail(run);
    if (run->direct)
        return pawl__runtime_run_direct(run);
    *any = false;
    return PAWL_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The row that asks for the instance may have killed those who tried before. */
static int begin_start(struct runtime_run *run, struct runtime_running *running)
{
    const struct runtime_about about = {"the start", run->is_known ? run->row.id : pawl__str(""),
                                        run->graph->workflow->definition_id};

    return run->started ? pawl__runtime_begin_work(run->task, run->started, running, &about)
                        : PAWL_OK;
}

int pawl__runtime_refuse_entry(struct runtime_task *task, struct pawl_str instance_id, int status)
{
    return pawl__error_set(task->err, status,
                           "instance %.*s waited until the time was up for one that this node runs "
                           "alone: try again later",
                           PAWL_STR_ARG(instance_id));
}

/*
 * Others of this node that find work for it between its commits leave a note, as for any other
 * instance. Somebody who has the id in hand has made one under it, which the store will say. The
 * guard is entered before the row exists: from its first commit on, other nodes can find it.
 */
int pawl__runtime_run_new(struct runtime_run *run, struct pawl_event *event)
{
    struct runtime_running running;
    int status = pawl__runtime_enter(run->runtime, &running, run->row.id, run->task->deadline_ns);
    bool entered = status == PAWL_OK, again = false;

    PAWL_ASSERT(run->is_new && !run->task->running);
    if (!entered && status != PAWL_EBUSY)
        return pawl__runtime_refuse_entry(run->task, run->row.id, status);
    running.is_worker = run->task->yields;
    run->task->running = entered ? &running : NULL;
    pawl__run_set(run->task->running, run);
    status = pawl__runtime_pass(run->task, run->row.id,
                                run->task->waits ? PAWL_GUARD_WAIT : PAWL_GUARD_TRY, &run->pass);
    if (status == PAWL_OK) {
        status = entered ? begin_start(run, &running) : PAWL_OK;
        if (status == PAWL_OK)
            status = run_burst(run, event, NULL);
        pawl__runtime_end_alone(run->runtime, &running);
        if (status != PAWL_OK)
            pawl__runtime_let_go(run, status);
        pawl__runtime_unpass(run->task, run->row.id, run->pass);
    }
    pawl__run_set(run->task->running, NULL);
    run->task->running = NULL;
    while (entered && pawl__runtime_leave(run->runtime, &running))
        again = true;
    if (run->at == BURST_YIELDED) {
        pawl__runtime_add_yielded(run->runtime, run->row.id);
    } else if (again && status == PAWL_OK) {
        struct pawl_str id = pawl__arena_str(&run->task->arena, run->row.id);

        status = id.ptr ? pawl__runtime_task_urge(run->task, NULL, id)
                        : pawl__error_code(run->task->err, pawl__arena_status(&run->task->arena));
    } else if (again) {
        pawl__runtime_note_left(run->runtime);
    }
    return status;
}

static bool may_begin_next(const struct runtime_run *run)
{
    return pawl__runtime_may_go_on(run->runtime) && !pawl__runtime_is_direct_late(run->task);
}

/* With everything that is due for it; returns when it is released, parked or not ours. */
static int run_claimed(struct runtime_run *run, struct pawl_event **event)
{
    struct runtime_changes none = {.arena = &run->arena};
    bool any = true;
    int status = PAWL_OK;

    PAWL_ASSERT(run->loaded && run->row.owner != 0);
    run->event = event;
    while (status == PAWL_OK && any && !pawl__run_is_waiting(run) && run->row.owner != 0 &&
           !has_lost_pass(run) && !has_lost_lease(run) &&
           (run->fold.count > 0 || may_begin_next(run)))
        status = pawl__fold_unfold(run, run_next(run, event, &any));
    pawl__fold_drop(run); /* others go on */
    /* What it was claimed for is still this node's, and in nobody's hand now. */
    if (status == PAWL_OK && any && !pawl__run_is_waiting(run) && run->row.owner != 0 &&
        !run->is_visiting)
        pawl__runtime_note_left(run->runtime);
    if (status == PAWL_OK && !pawl__run_is_waiting(run) && run->row.owner != 0)
        status = pawl__runtime_commit_kept(run, &none, true);
    return status;
}

/* The claim of an instance that has ended and cannot be reopened ends. */
static int refuse_reopening(struct runtime_run *run, int status)
{
    struct runtime_changes none = {.arena = &run->arena};
    struct pawl_error *err = run->task->err;

    run->task->err = NULL;
    (void)!pawl__runtime_commit_kept(run, &none, true);
    run->task->err = err;
    return pawl__error_set(err, status,
                           "instance %.*s has ended as %.*s, without its state: it does "
                           "not go on. Start another one; 'pawl rm %.*s' removes this one",
                           PAWL_STR_ARG(run->row.id), PAWL_STR_ARG(run->row.sub_status),
                           PAWL_STR_ARG(run->row.id));
}

static int end_damaged(struct runtime_run *run)
{
    const char *why = pawl__arena_printf(&run->task->arena, "which cannot be read: %s",
                                         run->task->err ? run->task->err->msg : "");

    return why ? pawl__runtime_end_without_state(run, why)
               : pawl__error_code(run->task->err, pawl__arena_status(&run->task->arena));
}

/* One that has ended needs no state to drop its mail, nor one that is to be cancelled to end. */
static int handle_damaged(struct runtime_run *run, struct pawl_event **event, int status)
{
    bool has_ended = is_final(run) && !run->row.runnable;

    if (has_ended && may_reopen(*event))
        return refuse_reopening(run, status);
    if (has_ended)
        status = absorb_all(run);
    else if (run->row.cancel_requested)
        status = end_damaged(run);
    if (status == PAWL_OK)
        *event = NULL;
    return status;
}

/*
 * One that is to be cancelled, and whose definition is gone: there is nothing to run a cancellation
 * with, and there never will be, so it ends without. Other failures to find it are told by whoever
 * needs it.
 */
static int end_undefined(struct runtime_run *run)
{
    struct runtime_task *task = run->task;
    bool has_ended = is_final(run) && !run->row.runnable;
    const char *why;

    if (run->row.owner == 0 || !run->row.cancel_requested || has_ended ||
        pawl__definitions_graph(run->runtime->definitions, run->row.version_id, &run->graph,
                                task->deadline_ns, NULL) != PAWL_ENOTFOUND)
        return PAWL_OK;
    why = pawl__arena_printf(&task->arena, "because its definition version %.*s is gone",
                             PAWL_STR_ARG(run->row.version_id));
    return why ? pawl__runtime_end_without_state(run, why)
               : pawl__error_code(task->err, pawl__arena_status(&task->arena));
}

/* One that was ended without its state says in its row how, and never goes on; also when what is
 * stored can be read again. */
static bool was_ended_beside(const struct runtime_run *run)
{
    return is_final(run) && !run->row.runnable &&
           !pawl__str_is(runtime_text(&run->state, "status"), "Finished");
}

int pawl__runtime_run_once(struct runtime_task *task, struct pawl_str instance_id,
                           struct pawl_event **event, struct pawl_outcome *outcome, bool *more,
                           bool *yielded)
{
    struct pawl_event *no_event = NULL;
    struct runtime_run run;
    struct pawl_guard_pass pass;
    int status;

    event = event ? event : &no_event;
    status = pawl__runtime_pass(task, instance_id,
                                *event || task->waits ? PAWL_GUARD_WAIT : PAWL_GUARD_TRY, &pass);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_run_init(&run, task);
    run.outcome = outcome;
    run.pass = pass;
    pawl__run_set(task->running, &run);
    status = pawl__runtime_claim(&run, instance_id);
    if (status == PAWL_OK)
        status = pawl__runtime_put_feed_first(&run);
    if (status == PAWL_OK)
        status = pawl__runtime_check_direct(&run);
    if (status == PAWL_OK)
        status = pawl__runtime_suspect(&run, task->running);
    if (status == PAWL_OK)
        status = end_undefined(&run);
    if (status == PAWL_OK && run.row.owner != 0)
        status = load(&run);
    if (pawl__runtime_is_damaged(&run, status))
        status = handle_damaged(&run, event, status);
    if (status == PAWL_OK && run.loaded && may_reopen(*event) && was_ended_beside(&run))
        status = refuse_reopening(&run, PAWL_ECORRUPT);
    if (status == PAWL_OK && run.loaded) {
        *more = run.mail_count >= PAWL_CLAIM_MAIL_MAX;
        status = run_claimed(&run, event);
    }
    if (status == PAWL_OK && (pawl__run_is_waiting(&run) || run.mail_count > 0))
        *more = false;
    /* This node may have taken some of it, while the instance awaited something. */
    if (status != PAWL_OK && run.mail_count > 0)
        pawl__runtime_note_left(task->runtime);
    /* Before it is let go, which may commit for itself. */
    task->is_event_committed |= run.is_given && run.row.revision > run.given_revision;
    if (status == PAWL_OK && *event && pawl__run_is_waiting(&run))
        status = pawl__error_set(task->err, PAWL_EBUSY, "instance %.*s awaits a child or a request",
                                 PAWL_STR_ARG(instance_id));
    else if (status == PAWL_OK && *event && has_lost_pass(&run))
        status = pawl__error_set(task->err, PAWL_EBUSY, "the lock of instance %.*s was lost",
                                 PAWL_STR_ARG(instance_id));
    else if (status == PAWL_OK && *event)
        status = pawl__error_set(task->err, PAWL_ESTOPPED,
                                 "this node is ending, or has lost its lease; instance %.*s is as "
                                 "it was",
                                 PAWL_STR_ARG(instance_id));
    else if (status == PAWL_OK)
        pawl__runtime_tell_outcome(&run);
    else
        pawl__runtime_let_go(&run, status);
    pawl__runtime_end_alone(task->runtime, task->running);
    pawl__run_set(task->running, NULL);
    *yielded = run.at == BURST_YIELDED;
    pawl__runtime_run_release(&run);
    pawl__runtime_unpass(task, instance_id, pass);
    return status;
}

int pawl__runtime_run_instance(struct runtime_task *task, struct pawl_str instance_id,
                               struct pawl_event *event, struct pawl_outcome *outcome)
{
    struct runtime_running running;
    bool again, more = false, yielded = false;
    int status = pawl__runtime_may_begin(task->runtime, task->err);

    PAWL_ASSERT(!task->running); /* one instance at a time */
    if (status != PAWL_OK)
        return status;
    while ((status = pawl__runtime_enter(task->runtime, &running, instance_id,
                                         task->deadline_ns)) == PAWL_EBUSY) {
        if (!event)
            return PAWL_OK; /* the thread that has it looks again */
        status = pawl__runtime_wait_left(task->runtime, task->deadline_ns);
        if (status != PAWL_OK)
            return pawl__error_set(task->err, status, "instance %.*s is being run",
                                   PAWL_STR_ARG(instance_id));
    }
    if (status != PAWL_OK)
        return pawl__runtime_refuse_entry(task, instance_id, status);
    /* The work that others left to this thread may be more than one claim returns. */
    running.is_worker = task->yields;
    task->running = &running;
    do {
        status = pawl__runtime_run_once(task, instance_id, &event, outcome, &more, &yielded);
        again = (more && status == PAWL_OK) || pawl__runtime_leave(task->runtime, &running);
    } while (again && status == PAWL_OK && !yielded);
    task->running = NULL;
    while (again && pawl__runtime_leave(task->runtime, &running))
        continue;
    /* What others found for it is read by the claim of its next turn. */
    if (yielded)
        pawl__runtime_add_yielded(task->runtime, instance_id);
    else if (again || more)
        pawl__runtime_note_left(task->runtime);
    return status;
}
