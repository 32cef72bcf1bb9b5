/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several events in one commit. What a burst did for a piece of mail is kept, and the next event
 * runs on it; the commit of that one has it all: the state, the ends of all the mail, the pages of
 * the journal, the lines to write. See docs/design/0017-folds.md.
 *
 *     claim -> burst, kept -> burst, kept -> … -> burst -> one commit
 *
 * Invariants:
 *   1. Nothing of what is kept is seen outside, or done, before the commit.
 *   2. What is kept is committed by the next burst, as a whole, or dropped as a whole: its mail is
 *      deleted by that commit and by nothing else. After it was dropped the run is what it was
 *      before.
 *   3. Something is kept only if the next event is known to open a burst.
 */
#include "base/error.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/instance/making.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* So that the first of the events, and whoever waits for it, does not wait long for the others. */
#define FOLD_NS_MAX INT64_C(10000000)
/* Of memory that is kept: a commit of a few such is still a small one. */
#define FOLD_BYTES_MAX ((size_t)1 << 20)

/* ---- what can wait --------------------------------------------------------------------------- */

/* Lines of output need nothing but to come after the commit, in their order. All else that a burst
 * asks for has somebody who waits for it. */
static bool has_only_lines(const struct pawl_batch *batch)
{
    for (uint32_t i = 0; i < batch->effect_count; i++)
        if (batch->effects[i].kind != PAWL_EFFECT_CONSOLE || batch->effects[i].job_id.len > 0)
            return false;
    return !batch->awaited;
}

/* A page without log is numbered by the revision, of which there is one per commit. And the ids of
 * the next burst differ from those of this one by the length of the log, as nothing else does. */
static bool has_log(const struct pawl_batch *batch)
{
    return batch->log_count > 0;
}

/*
 * Whether what comes next is mail that opens a burst on the state that was made. What a sender
 * brings has a commit of its own: were its outcome unknown, that of older mail would be, too. What
 * an operator asks for comes before mail, and may be refused.
 */
static bool has_next(const struct making *m)
{
    const struct runtime_run *run = m->run;

    return run->mail_count > 0 && !(run->event && *run->event) &&
           pawl__runtime_may_go_on(run->runtime) && !pawl__runtime_is_direct_late(run->task) &&
           (pawl__str_is(run->mail->kind, PAWL_WORK_RESUME) ||
            pawl__str_is(run->mail->kind, PAWL_WORK_TIMER)) &&
           pawl__runtime_bookmark_for(&m->state, m->row.correlation_id, run->mail);
}

/* What tests that choose by chance have chosen. */
static bool is_chosen(struct pawl_runtime *runtime)
{
    uint8_t chance = 1;

    if (runtime->options.delivery == PAWL_DELIVERY_MIXED)
        (void)!pawl_env_entropy(runtime->env, &chance, sizeof chance, NULL);
    return chance % 4 != 0;
}

/* Nodes that die, and instances that fail, do so with as little at stake as possible. And what a
 * request remembers of a burst (kept.c) cannot be taken back. */
static bool is_sound(const struct runtime_run *run)
{
    return run->row.takeovers == 0 && run->row.failures == 0 && !run->task->folds_not &&
           !run->task->request;
}

bool pawl__making_may_fold(const struct making *m, enum pawl_step step)
{
    const struct runtime_run *run = m->run;
    const struct runtime_fold *fold = &run->fold;

    return step == PAWL_STEP_IDLE && run->consumed && !run->is_new &&
           !pawl__str_is(run->consumed->kind, PAWL_WORK_JOB) && run->feeds.len == 0 &&
           !run->row.cancel_requested && !run->runtime->options.step_commits && is_sound(run) &&
           !pawl__making_has_request(m) && !m->batch.is_asked && has_only_lines(&m->batch) &&
           has_log(&m->batch) && pawl__str_equal(run->row.correlation_id, m->row.correlation_id) &&
           fold->arena.held_bytes < FOLD_BYTES_MAX &&
           (fold->count == 0 ||
            pawl_env_monotonic_ns(run->runtime->env) - fold->begun_ns < FOLD_NS_MAX) &&
           has_next(m) && is_chosen(run->runtime);
}

/* ---- keeping it ------------------------------------------------------------------------------ */

static int begin(struct making *m)
{
    struct runtime_run *run = m->run;
    struct runtime_fold *fold = &run->fold;
    struct pawl_json counts;
    int status;

    m->arena = m->changes.arena = &fold->arena;
    fold->begun_ns = pawl_env_monotonic_ns(run->runtime->env);
    fold->first_sequence = -1;
    fold->row = run->row;
    fold->state = run->state;
    fold->state_turn = run->state_turn;
    fold->mail = run->consumed;
    fold->mail_count = run->mail_count + 1;
    fold->counts = pawl__json_null();
    fold->noted = pawl__arena_alloc_array(&fold->arena, FOLD_NOTES_MAX, sizeof *fold->noted);
    if (!fold->noted)
        return pawl__arena_status(&fold->arena);
    status = pawl__json_copy(&fold->arena, &run->counts, &counts);
    if (status == PAWL_OK)
        fold->counts = counts;
    return status;
}

/* What they say is borrowed from the burst, which is about to be closed. */
static void keep_effects(struct making *m)
{
    struct pawl_effect *effects =
        pawl__arena_alloc_array(m->arena, m->batch.effect_count + 1, sizeof *effects);

    if (!effects) {
        pawl__making_fail(m, pawl__arena_status(m->arena));
        return;
    }
    for (uint32_t i = 0; i < m->batch.effect_count; i++) {
        effects[i] = m->batch.effects[i];
        effects[i].id = pawl__arena_str(m->arena, m->batch.effects[i].id);
        pawl__making_fail(m,
                          pawl__json_copy(m->arena, &m->batch.effects[i].data, &effects[i].data));
        if (!effects[i].id.ptr)
            pawl__making_fail(m, pawl__arena_status(m->arena));
    }
    m->batch.effects = effects;
    if (m->changes.status == PAWL_OK)
        pawl__making_effects(m);
}

int pawl__making_fold(struct making *m)
{
    struct runtime_fold *fold = &m->run->fold;
    int status = fold->count == 0 ? begin(m) : PAWL_OK;

    PAWL_ASSERT(m->run->at == BURST_STEPPED && m->run->consumed);
    m->folds = true;
    pawl__making_fail(m, status);
    if (status == PAWL_OK)
        pawl__making_note_bookmarks(m);
    pawl__making_journal(m);
    keep_effects(m);
    pawl__making_end_cause(m);
    status = m->changes.status;
    fold->count++;
    fold->changes = m->changes;
    fold->effects = m->effects;
    fold->effect_count = m->effect_count;
    fold->effect_cap = m->effect_cap;
    if (status == PAWL_OK)
        return pawl__making_keep_state(m);
    return m->run->task->err && m->run->task->err->code == status
               ? status
               : pawl__error_code(m->run->task->err, status);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

static void clear(struct runtime_fold *fold)
{
    pawl__arena_reset(&fold->arena);
    fold->count = 0;
    fold->noted_count = 0;
    fold->changes = (struct runtime_changes){.arena = &fold->arena};
    fold->effects = NULL;
    fold->effect_count = fold->effect_cap = 0;
}

void pawl__fold_end(struct runtime_run *run)
{
    if (run->fold.count > 0)
        clear(&run->fold);
}

void pawl__fold_drop(struct runtime_run *run)
{
    struct runtime_fold *fold = &run->fold;

    if (fold->count == 0)
        return;
    run->row = fold->row;
    run->state = fold->state;
    run->state_turn = fold->state_turn;
    run->loaded = true;
    run->mail = fold->mail;
    run->mail_count = fold->mail_count;
    /* Null: there was no memory to keep them, and nothing was counted since. */
    if (fold->counts.type == PAWL_JSON_OBJECT &&
        pawl__json_copy(&run->arena, &fold->counts, &run->counts) != PAWL_OK)
        run->counts = pawl__json_object(); /* they are only statistics */
    clear(fold);
    fold->is_dropped = true;
    /* This node may have taken some of the mail, which nobody has in hand if this run ends. */
    pawl__runtime_note_left(run->runtime);
}

int pawl__fold_unfold(struct runtime_run *run, int status)
{
    if (status != PAWL_OK)
        pawl__fold_drop(run);
    if (!run->fold.is_dropped || run->row.owner == 0)
        return status;
    run->fold.is_dropped = false;
    run->task->folds_not = true;
    if (status == PAWL_ECONFLICT || status == PAWL_ESTOPPED ||
        pawl_error_class(status) == PAWL_CLASS_UNKNOWN)
        return status;
    run->consumed = NULL;
    return PAWL_OK;
}
