/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step of a burst handed out, as one commit: the instance's row with its state, bookmarks
 * that came and went with their timers, the log as one journal row, effects as work that is due,
 * and the end of the mail, start or tick that caused it all.
 *
 * Invariant: the bookmarks of run->state, which is the state as last stored, are the instance's
 * rows in the table of bookmarks.
 */
#include "runtime/instance/making.h"

#include "base/error.h"
#include "base/time/datetime.h"
#include "engine/builder.h"
#include "engine/state/page.h"
#include "runtime/audit.h"
#include "runtime/bytes.h"
#include "runtime/node/keeper.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* Most pages of the journal fit: larger ones grow. */
#define PAGE_BYTES_USUAL ((size_t)1500)

/* ---- changes ------------------------------------------------------------------------------- */

void pawl__runtime_change(struct runtime_changes *changes, enum pawl_change_kind kind,
                          enum pawl_table table, const void *row)
{
    size_t row_size = pawl_table_info(table)->row_size;
    void *copy;

    if (changes->status != PAWL_OK)
        return;
    if (changes->count == changes->cap) {
        size_t cap = changes->cap ? changes->cap * 2 : 16;
        struct pawl_change *grown =
            pawl__arena_alloc_array(changes->arena, cap, sizeof *changes->items);

        if (!grown) {
            changes->status = pawl__arena_status(changes->arena);
            return;
        }
        if (changes->count > 0)
            memcpy(grown, changes->items, changes->count * sizeof *grown);
        changes->items = grown;
        changes->cap = cap;
    }
    copy = pawl__arena_alloc(changes->arena, row_size);
    if (!copy) {
        changes->status = pawl__arena_status(changes->arena);
        return;
    }
    memcpy(copy, row, row_size);
    changes->items[changes->count++] = (struct pawl_change){kind, table, copy};
}

void pawl__runtime_delete_work(struct runtime_changes *changes, struct pawl_str id)
{
    const struct pawl_work_row row = {.id = id};

    if (!id.ptr && changes->status == PAWL_OK)
        changes->status = pawl__arena_status(changes->arena);
    pawl__runtime_change(changes, PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &row);
}

void pawl__making_fail(struct making *m, int status)
{
    if (m->changes.status == PAWL_OK && status != PAWL_OK)
        m->changes.status = status;
}

struct pawl_str pawl__making_text(struct making *m, const struct pawl_json *value)
{
    struct pawl_str text = {"", 0};

    if (pawl__json_is(value, PAWL_JSON_NULL))
        return text;
    text = pawl__runtime_json_text(m->arena, value);
    if (!text.ptr)
        pawl__making_fail(m, pawl__arena_status(m->arena));
    return text;
}

/* ---- journal and counts -------------------------------------------------------------------- */

static void count_event(struct making *m, const struct pawl_log_record *record)
{
    struct pawl_json *counts = &m->run->counts, *of;
    int64_t before = 0;

    if (record->activity_node_id.len == 0 || m->changes.status != PAWL_OK)
        return;
    of = pawl__json_get(counts, record->activity_node_id);
    if (!of) {
        pawl__making_fail(m, pawl__json_set(&m->run->arena, counts, record->activity_node_id,
                                            pawl__json_object()));
        of = pawl__json_get(counts, record->activity_node_id);
    }
    if (!of)
        return;
    (void)pawl__json_to_int(pawl__json_get(of, record->event), &before);
    pawl__making_fail(
        m, pawl__json_set(&m->run->arena, of, record->event, pawl__json_int(before + 1)));
}

static void count_events(struct making *m)
{
    const struct pawl_runtime_hooks *hooks = &m->run->runtime->options.hooks;

    for (uint32_t i = 0; i < m->batch.log_count && m->changes.status == PAWL_OK; i++) {
        if (hooks->recorded)
            hooks->recorded(hooks->ctx, &m->run->row, &m->run->span, &m->batch.log[i]);
        if (hooks->logged)
            hooks->logged(hooks->ctx, m->run->row.id, m->run->graph->workflow, &m->batch.log[i]);
        count_event(m, &m->batch.log[i]);
    }
}

static void write_page(struct making *m, const int64_t *before, struct pawl_str *out)
{
    struct pawl_runtime *runtime = m->run->runtime;
    struct pawl_buf page;

    pawl__buf_init(&page, m->arena->alloc, RUNTIME_BYTES_MAX);
    (void)pawl__buf_reserve(&page, PAGE_BYTES_USUAL);
    pawl__page_write(m->run->burst, &m->batch, before, &runtime->words, m->arena, &page);
    pawl__making_fail(m, pawl__runtime_pack_buf(runtime, m->arena, &page, out, m->run->task->err));
    pawl__buf_release(&page);
}

/* Once per commit, for all its pages. */
static void trim_journal(struct making *m, const struct pawl_journal_row *row)
{
    struct runtime_fold *fold = &m->run->fold;
    int64_t first =
        fold->count > 0 && fold->first_sequence >= 0 ? fold->first_sequence : row->first_sequence;

    if (row->count == 0 || m->changes.status != PAWL_OK)
        return;
    if (m->folds)
        fold->first_sequence = first;
    else
        pawl__making_fail(m, pawl__runtime_trim_journal(m->run->task, &m->changes, row->instance_id,
                                                        first, row->first_sequence + row->count));
}

void pawl__making_journal(struct making *m)
{
    struct pawl_journal_row row = {.instance_id = m->run->row.id, .count = m->batch.log_count};
    int64_t before = 0;

    count_events(m);
    if ((m->batch.log_count == 0 && m->batch.record_count == 0) ||
        m->run->runtime->options.no_journal || m->changes.status != PAWL_OK)
        return;
    if (row.count > 0) {
        row.first_sequence = m->batch.log[0].sequence;
        row.from_us = pawl__ticks_to_us(m->batch.log[0].timestamp);
        row.to_us = pawl__ticks_to_us(m->batch.log[row.count - 1].timestamp);
    } else {
        /* Records without log have a number by revision, below all sequences; the page says before
         * which of those it comes. */
        (void)pawl__json_to_int(pawl__json_get_text(&m->state, "executionLogSequence"), &before);
        row.first_sequence = -m->run->row.revision - 1;
        row.from_us = row.to_us = m->now_us;
    }
    write_page(m, row.count > 0 ? NULL : &before, &row.data);
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_JOURNAL, &row);
    trim_journal(m, &row);
}

/* ---- effects ------------------------------------------------------------------------------- */

static struct pawl_work_row effect_row(struct making *m, const char *kind,
                                       const struct pawl_effect *effect)
{
    return (struct pawl_work_row){
        .id = effect->id,
        .kind = pawl__str(kind),
        .part = pawl__runtime_part(effect->id),
        .created_us = m->now_us,
        .due_us = runtime_at_once(m->now_us),
        .expires_us = PAWL_TIME_NEVER,
        .payload = pawl__making_text(m, &effect->data),
    };
}

/* Its name is the parent's id: who cancels that finds it. */
static struct pawl_work_row start_row(struct making *m, const struct pawl_effect *effect)
{
    struct pawl_work_row row = effect_row(m, PAWL_WORK_START, effect);

    row.name = runtime_text(&effect->data, "parentInstanceId");
    row.definition_id = runtime_text(&effect->data, "definitionId");
    return row;
}

/* What somebody performs who is not in the middle of a delivery. */
static void add_free_effect(struct making *m, const char *kind, const struct pawl_effect *effect)
{
    struct pawl_work_row row = effect_row(m, kind, effect);

    row.name = m->run->row.id;
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/* What this node performs as soon as it is durable; should the node die first, another does. */
static void add_own_effect(struct making *m, const char *kind, const struct pawl_effect *effect)
{
    struct runtime_effect *own = &m->effects[m->effect_count++];
    struct pawl_work_row *row = &own->row;

    *own = (struct runtime_effect){.data = &effect->data};
    *row = effect_row(m, kind, effect);
    row->name = m->run->row.id; /* not mail: it does not wait for the instance */
    row->owner = pawl__keeper_incarnation(m->run->runtime->keeper);
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, row);
}

/* A request: this node sends it, with the key that stays the same however often it is sent. */
static void add_request(struct making *m, const struct pawl_effect *asked)
{
    struct pawl_effect effect = *asked;
    struct pawl_work_row row;

    effect.data = pawl__json_null();
    pawl__making_fail(m, pawl__json_copy(m->arena, &asked->data, &effect.data));
    if (m->changes.status == PAWL_OK)
        pawl__making_fail(m, pawl__json_set_text(m->arena, &effect.data, RUNTIME_HTTP_KEY,
                                                 pawl__json_string(asked->id)));
    if (m->changes.status == PAWL_OK)
        pawl__making_fail(
            m, pawl__json_set_text(m->arena, &effect.data, RUNTIME_HTTP_SCOPE,
                                   pawl__json_string(m->run->graph->workflow->definition_id)));
    if (m->changes.status != PAWL_OK)
        return;
    row = effect_row(m, PAWL_WORK_HTTP, &effect);
    row.name = m->run->row.id;
    row.owner = pawl__keeper_incarnation(m->run->runtime->keeper);
    if (asked->job_id.len > 0) {
        row.id = pawl__making_job_request(m, asked->job_id);
        row.bookmark_id = asked->job_id;
    }
    pawl__making_fail(m, pawl__runtime_request_new(m->run->runtime, &row, &effect.data, &m->request,
                                                   m->run->task->err));
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/* Nobody here sends requests: the job learns that at once. */
static void refuse_job(struct making *m, struct pawl_str job_id)
{
    struct pawl_builder b = {.arena = m->arena};
    struct pawl_json result = pawl__json_object();
    struct pawl_work_row row = {
        .kind = pawl__str(PAWL_WORK_JOB),
        .instance_id = m->run->row.id,
        .bookmark_id = job_id,
        .part = pawl__runtime_part(m->run->row.id),
        .created_us = m->now_us,
        .due_us = runtime_at_once(m->now_us),
        .expires_us = PAWL_TIME_NEVER,
    };

    pawl__runtime_refusal(&b, &result);
    pawl__making_fail(m, b.status);
    row.id = pawl__str(pawl__arena_printf(m->arena, "%.*s/feed", PAWL_STR_ARG(job_id)));
    row.payload = pawl__making_text(m, &result);
    if (row.id.len == 0)
        pawl__making_fail(m, pawl__arena_status(m->arena));
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/* What a job asks for and the instance does not stand still for. */
static void add_job_effect(struct making *m, const struct pawl_effect *effect)
{
    struct pawl_effect start = *effect;
    struct pawl_work_row row;

    if (effect->kind == PAWL_EFFECT_HTTP && m->run->runtime->options.http) {
        add_request(m, effect);
        return;
    }
    if (effect->kind == PAWL_EFFECT_HTTP) {
        refuse_job(m, effect->job_id);
        return;
    }
    pawl__making_fail(m, pawl__json_copy(m->arena, &effect->data, &start.data));
    if (m->changes.status == PAWL_OK)
        pawl__making_fail(m, pawl__json_set_text(m->arena, &start.data, RUNTIME_JOB,
                                                 pawl__json_string(effect->job_id)));
    row = start_row(m, &start);
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/* Stimuli and starts have ids that sort by time, so that they are done in their order. */
static void add_effect(struct making *m, const struct pawl_effect *effect)
{
    struct pawl_work_row row;

    if (effect->job_id.len > 0) {
        add_job_effect(m, effect);
        return;
    }
    switch (effect->kind) {
    case PAWL_EFFECT_CONSOLE:
        add_own_effect(m, PAWL_WORK_CONSOLE, effect);
        return;
    case PAWL_EFFECT_TASK:
    case PAWL_EFFECT_CALL: {
        const char *kind = effect->kind == PAWL_EFFECT_TASK ? PAWL_WORK_TASK : PAWL_WORK_CALL;

        /* Functions of the host, which may take long or send something. */
        if (m->run->task->is_direct)
            add_free_effect(m, kind, effect);
        else
            add_own_effect(m, kind, effect);
        return;
    }
    case PAWL_EFFECT_STIMULUS:
        pawl__making_fail(m,
                          pawl__runtime_event_row(m->run->runtime, m->arena, &effect->data, &row));
        row.created_us = m->now_us;
        row.due_us = runtime_at_once(m->now_us);
        break;
    case PAWL_EFFECT_CHILD:
        row = start_row(m, effect);
        row.id = pawl__runtime_new_id(m->run->runtime, m->arena);
        if (!row.id.ptr)
            pawl__making_fail(m, pawl__arena_status(m->arena));
        break;
    case PAWL_EFFECT_REPLY:
        pawl__making_reply(m, &effect->data);
        return;
    case PAWL_EFFECT_HTTP:
    default:
        pawl__making_fail(
            m, pawl__error_set(m->run->task->err, PAWL_EUNSUPPORTED,
                               "instance %.*s asks for an effect that only a server performs",
                               PAWL_STR_ARG(m->run->row.id)));
        return;
    }
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

/* A child that is executed inline: this call starts it next. Other awaited effects are not rows. */
static void add_awaited(struct making *m)
{
    const struct pawl_effect *awaited = m->batch.awaited;

    if (awaited && awaited->kind == PAWL_EFFECT_HTTP)
        add_request(m, awaited);
    if (!awaited || awaited->kind != PAWL_EFFECT_CHILD)
        return;
    if (m->run->task->is_direct) {
        struct pawl_work_row start = start_row(m, awaited);

        pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &start);
        return;
    }
    m->inline_start = pawl__arena_alloc(&m->run->task->arena, sizeof *m->inline_start);
    if (!m->inline_start) {
        pawl__making_fail(m, pawl__arena_status(&m->run->task->arena));
        return;
    }
    *m->inline_start = start_row(m, awaited);
    m->inline_start->owner = pawl__keeper_incarnation(m->run->runtime->keeper);
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, m->inline_start);
}

void pawl__making_effects(struct making *m)
{
    size_t need = m->effect_count + m->batch.effect_count;

    if (need > m->effect_cap) {
        size_t cap = m->effect_count > 0 ? need * 2 : need;
        struct runtime_effect *grown = pawl__arena_alloc_array(m->arena, cap, sizeof *grown);

        if (!grown) {
            pawl__making_fail(m, pawl__arena_status(m->arena));
            return;
        }
        if (m->effect_count > 0)
            memcpy(grown, m->effects, m->effect_count * sizeof *grown);
        m->effects = grown;
        m->effect_cap = cap;
    }
    for (uint32_t i = 0; i < m->batch.effect_count; i++)
        add_effect(m, &m->batch.effects[i]);
    add_awaited(m);
}

/* ---- mail for others ----------------------------------------------------------------------- */

static void remember_feeds(struct making *m, struct pawl_json *section)
{
    pawl__making_fail(
        m, pawl__json_set_text(m->arena, section, RUNTIME_FEEDS, pawl__json_string(m->run->feeds)));
    if (m->run->feeds_job.len > 0 && m->changes.status == PAWL_OK)
        pawl__making_fail(m, pawl__json_set_text(m->arena, section, RUNTIME_FEEDS_JOB,
                                                 pawl__json_string(m->run->feeds_job)));
}

/* At the end of its first burst, and at its end. */
static void notify_parent(struct making *m)
{
    struct pawl_json *section = pawl__json_get_text(&m->state, "pawl");

    if (m->over)
        pawl__runtime_notify_parent(&m->changes, &m->row, &m->state, m->run->feeds,
                                    m->run->feeds_job, m->now_us);
    else if (m->run->feeds.len > 0 && section)
        remember_feeds(m, section);
}

/* ---- the row ------------------------------------------------------------------------------- */

static int64_t state_time(const struct pawl_json *state, const char *key)
{
    struct pawl_datetime at;

    if (pawl__datetime_parse(runtime_text(state, key), &at, NULL) != PAWL_OK)
        return 0;
    return pawl__ticks_to_us(pawl__datetime_utc_ticks(at));
}

void pawl__runtime_fill_row(struct pawl_instance_row *row, const struct pawl_json *state,
                            const struct pawl_workflow *workflow)
{
    row->definition_id = workflow->definition_id;
    row->version_id = workflow->version_id;
    row->version = workflow->version;
    row->is_system = workflow->is_system;
    row->parent_id = runtime_text(state, "parentWorkflowInstanceId");
    row->status = runtime_text(state, "status");
    row->sub_status = runtime_text(state, "subStatus");
    row->correlation_id = runtime_text(state, "correlationId");
    row->name = pawl__utf8_cut(runtime_text(state, "name"), PAWL_ROW_NAME_MAX);
    row->incident_count = pawl__json_len(pawl__json_get_text(state, "incidents"));
    row->created_us = state_time(state, "createdAt");
    row->finished_us = state_time(state, "finishedAt");
}

static void fill_row(struct making *m, enum pawl_step step)
{
    m->row = m->run->row;
    pawl__runtime_fill_row(&m->row, &m->state, m->run->graph->workflow);
    m->row.id_hash = pawl__runtime_id_mark(m->row.id);
    m->row.updated_us = m->now_us;
    m->row.runnable = m->over ? 0 : step == PAWL_STEP_EFFECT ? 2 : 1;
}

static void pack_row(struct making *m)
{
    if (m->changes.status == PAWL_OK)
        pawl__making_fail(m, pawl__runtime_pack_value(m->run->runtime, m->arena, &m->state,
                                                      &m->row.state, m->run->task->err));
    if (m->changes.status == PAWL_OK)
        m->row.state_sum = pawl__runtime_state_sum(m->row.state);
    if (m->changes.status == PAWL_OK)
        pawl__making_fail(m, pawl__runtime_pack_value(m->run->runtime, m->arena, &m->run->counts,
                                                      &m->row.counts, m->run->task->err));
}

/* All bookmarks of the instance go: no single one need. */
static void delete_bookmarks(struct making *m)
{
    const struct pawl_bookmark_row owned = {.instance_id = m->run->row.id};
    struct runtime_changes *changes = &m->changes;
    size_t kept = 0;

    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].table != PAWL_TABLE_BOOKMARKS ||
            changes->items[i].kind != PAWL_CHANGE_DELETE)
            changes->items[kept++] = changes->items[i];
    changes->count = kept;
    pawl__runtime_change(changes, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &owned);
}

/* Cancelled while it awaited a request. */
static bool is_cancelled_awaiting(const struct making *m)
{
    return m->over && m->run->row.runnable == 2 && m->run->row.cancel_requested;
}

/* Whether the instance is to hold a reservation that this commit inserts. */
static bool reserves_for_it(const struct runtime_run *run)
{
    for (size_t i = 0; i < run->reservation_count; i++)
        if (pawl__str_equal(run->reservations[i].instance_id, run->row.id))
            return true;
    return false;
}

/* An instance that has ended holds no reservations. What its last commit inserts for it goes, too:
 * one that ends in its first burst keeps nothing. Otherwise the deletion comes first, so that
 * stores may add the keys of several commits together. */
static void let_go(struct making *m)
{
    const struct pawl_reservation_row owned = {.instance_id = m->run->row.id};

    pawl__runtime_change(&m->changes, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_RESERVATIONS, &owned);
}

/* What caused the commit ends with it. */
void pawl__making_end_cause(struct making *m)
{
    const struct runtime_run *run = m->run;
    bool ends = m->over && pawl__str_is(m->row.status, "Finished"), holds = reserves_for_it(run);

    if (run->consumed)
        pawl__runtime_delete_work(&m->changes, run->consumed->id);
    /* The result is not needed. */
    if (is_cancelled_awaiting(m))
        pawl__runtime_delete_work(
            &m->changes,
            runtime_text(pawl__json_get_text(pawl__json_get_text(&run->state, "pawl"), "awaited"),
                         "id"));
    /* Of one that was imported also those that its state does not name, or still names: one that is
     * reopened has them again. */
    if (ends && !run->is_new)
        delete_bookmarks(m);
    if (ends && !run->is_new && !holds)
        let_go(m);
    for (size_t i = 0; i < run->reservation_count; i++) {
        struct pawl_reservation_row row = run->reservations[i];

        /* That this commit was made is remembered for as long as it may be sent. */
        if (row.expires_us == 0)
            row.expires_us = pawl__runtime_last_try_us(run->runtime, m->now_us,
                                                       pawl__runtime_commit_deadline(run->task));
        pawl__runtime_change(&m->changes, PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &row);
    }
    if (ends && holds)
        let_go(m);
}

/* ---- afterwards ---------------------------------------------------------------------------- */

/* Of the state what a commit is compared with, and what callers learn of it. */
static int copy_part(struct making *m, struct pawl_arena *arena, struct pawl_json *out)
{
    static const char *const keys[] = {"id", "status", "subStatus", "correlationId", "bookmarks"};
    struct pawl_builder b = {.arena = arena, .fresh = true};
    struct pawl_json value;

    *out = pawl__json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys && b.status == PAWL_OK; i++) {
        const struct pawl_json *member = pawl__json_get_text(&m->state, keys[i]);

        if (!member)
            continue;
        b.status = pawl__json_copy(arena, member, &value);
        pawl__build(&b, out, keys[i], value);
    }
    return b.status;
}

/* Not that of the state as it is, nor of one that the run may go back to. */
static struct pawl_arena *next_arena(struct runtime_run *run)
{
    do
        run->state_turn = (run->state_turn + 1) % RUNTIME_STATES;
    while (run->fold.count > 0 && run->state_turn == run->fold.state_turn);
    return &run->state_arenas[run->state_turn];
}

/*
 * The stored state is what the next commit is compared with. All of it is needed to open a burst
 * on it: not while this one goes on, nor once the instance is released.
 */
int pawl__making_keep_state(struct making *m)
{
    struct runtime_run *run = m->run;
    struct pawl_arena *arena = next_arena(run);
    bool goes_on = m->goes_on && !run->runtime->options.step_commits;
    int status;

    pawl__arena_reset(arena);
    status = goes_on || run->row.owner == 0 ? copy_part(m, arena, &run->state)
                                            : pawl__json_copy(arena, &m->state, &run->state);
    run->loaded = status == PAWL_OK;
    run->is_new = false;
    run->consumed = NULL;
    run->started = NULL;
    run->reservation_count = 0;
    run->row.status = runtime_text(&run->state, "status");
    run->row.sub_status = runtime_text(&run->state, "subStatus");
    run->row.correlation_id = runtime_text(&run->state, "correlationId");
    run->row.incident_count = m->row.incident_count;
    run->row.runnable = m->row.runnable;
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(run->task->err, status);
}

/* The child that the burst awaits is started next; should that fail, by whoever finds its row. */
static int urge_child(struct making *m, struct pawl_work_row *start)
{
    struct runtime_task *task = m->run->task;
    struct pawl_str id = start->id;
    int status = PAWL_ENOMEM;

    PAWL_ASSERT(m->holds_start);
    start->id = pawl__arena_str(&task->arena, id);
    start->name = pawl__arena_str(&task->arena, start->name);
    start->payload = pawl__arena_str(&task->arena, start->payload);
    if (start->id.ptr && start->name.ptr && start->payload.ptr)
        status = pawl__runtime_task_urge(task, start, pawl__str(""));
    else
        (void)pawl__error_code(task->err, status);
    if (status != PAWL_OK)
        pawl__runtime_drop(m->run->runtime, id);
    return status;
}

static int after_commit(struct making *m, const struct pawl_commit *commit)
{
    struct runtime_run *run = m->run;
    int status;

    if (is_cancelled_awaiting(m))
        pawl__runtime_check_requests(run->runtime, run->row.id);
    if (run->is_new)
        run->row.fence = run->row.revision = 1;
    else
        run->row.revision++;
    run->is_visiting = false;
    if (commit->flags & PAWL_COMMIT_RELEASE)
        run->row.owner = 0;
    run->row.cancel_requested = commit->cancel_requested;
    pawl__run_move(run, BURST_COMMITTED);
    pawl__making_send_reply(m);
    if (run->consumed || run->fold.count > 0)
        pawl__runtime_note_ended(run->runtime, &m->changes);
    for (size_t i = 0; i < m->effect_count; i++)
        if (m->effects[i].is_held)
            pawl__runtime_perform_own(run->task, run->task->running, &m->effects[i].row,
                                      m->effects[i].data, m->now_us);
    pawl__making_leave(m);
    status = pawl__making_keep_state(m);
    if (m->request) {
        pawl__runtime_request_begin(m->request);
        m->request = NULL;
        if (status == PAWL_OK && run->task->waits && m->batch.awaited)
            status = pawl__runtime_task_await(run->task, run->row.id);
        else
            pawl__runtime_leave_to_workers(run->runtime);
    }
    PAWL_ASSERT(!m->holds_start || m->inline_start);
    if (status == PAWL_OK && m->holds_start)
        status = urge_child(m, m->inline_start);
    else if (m->holds_start)
        pawl__runtime_drop(run->runtime, m->inline_start->id);
    if (status == PAWL_OK && m->over && run->feeds.len > 0) {
        if (!run->task->is_direct)
            status = pawl__runtime_task_urge(run->task, NULL, run->feeds);
        run->feeds = run->feeds_job = pawl__str("");
    }
    return status;
}

static void drop_rows(struct making *m)
{
    for (size_t i = 0; i < m->effect_count; i++)
        if (m->effects[i].is_held)
            pawl__runtime_drop(m->run->runtime, m->effects[i].row.id);
    PAWL_ASSERT(!m->holds_start || m->inline_start);
    if (m->holds_start)
        pawl__runtime_drop(m->run->runtime, m->inline_start->id);
}

static int hold_row(struct making *m, struct pawl_str id, bool *holds)
{
    int status = pawl__runtime_hold(m->run->runtime, id);

    *holds = status == PAWL_OK;
    return status == PAWL_EBUSY ? PAWL_OK : status;
}

/*
 * The rows of the commit that are this node's are in this thread's hand; but for what another
 * thread has already: then an earlier commit from the same revision took effect, and the store will
 * refuse this one.
 */
static int hold_rows(struct making *m)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < m->effect_count && status == PAWL_OK; i++)
        status = hold_row(m, m->effects[i].row.id, &m->effects[i].is_held);
    if (m->inline_start && status == PAWL_OK)
        status = hold_row(m, m->inline_start->id, &m->holds_start);
    if (status == PAWL_OK)
        return PAWL_OK;
    drop_rows(m);
    return pawl__error_code(m->run->task->err, status);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int read_burst(struct making *m, enum pawl_step step)
{
    int status = pawl__burst_state(m->run->burst, &m->own, !m->over, &m->state);

    if (status != PAWL_OK)
        return pawl__error_code(m->run->task->err, status);
    pawl__burst_batch(m->run->burst, &m->batch);
    fill_row(m, step);
    return PAWL_OK;
}

static int make_changes(struct making *m)
{
    int status;

    pawl__making_bookmarks(m);
    pawl__making_journal(m);
    pawl__making_effects(m);
    pawl__making_end_request(m);
    notify_parent(m);
    pawl__making_end_cause(m);
    pack_row(m);
    status = m->changes.status;
    if (status != PAWL_OK && m->run->task->err && m->run->task->err->code != status)
        (void)pawl__error_code(m->run->task->err, status);
    return status;
}

/* An operator's event is recorded by the first commit of its burst. */
static int hand_in(struct runtime_run *run, struct pawl_commit *commit)
{
    const struct pawl_runtime_hooks *hooks = &run->runtime->options.hooks;
    int64_t begun_ns = hooks->committed ? pawl_env_monotonic_ns(run->runtime->env) : 0;
    int64_t deadline_ns = pawl__runtime_commit_deadline(run->task);
    int status = run->is_given && run->row.revision == run->given_revision
                     ? pawl__runtime_commit_by(run->task, commit, deadline_ns, run->task->err)
                     : pawl__runtime_commit(run->runtime, commit, deadline_ns, run->task->err);

    if (hooks->committed)
        hooks->committed(hooks->ctx, &run->row, &run->span, begun_ns,
                         pawl_env_monotonic_ns(run->runtime->env), status);
    return status;
}

static int commit_changes(struct making *m, bool release)
{
    struct runtime_run *run = m->run;
    struct pawl_commit commit = {
        .kind = run->is_new ? PAWL_COMMIT_CREATE : PAWL_COMMIT_ADVANCE,
        /* What comes meanwhile is found by those who look for work. */
        .flags = PAWL_COMMIT_UNASKED | (release ? PAWL_COMMIT_RELEASE : 0),
        .instance = &m->row,
        .changes = m->changes.items,
        .change_count = m->changes.count,
    };
    int status = hold_rows(m);

    if (status != PAWL_OK)
        return status;
    if (run->is_visiting) {
        commit.flags |= PAWL_COMMIT_VISITED;
        commit.visited_us = run->row.updated_us;
    }
    /* A cancellation that came since has its mail, too. */
    if (pawl__making_reopens(m))
        commit.flags |= PAWL_COMMIT_REOPEN;
    if (run->started) {
        commit.done = &run->started->id;
        commit.done_count = 1;
        commit.done_owner = run->started->owner;
    }
    status = hand_in(run, &commit);
    if (status != PAWL_OK) {
        drop_rows(m);
        return status;
    }
    status = after_commit(m, &commit);
    pawl__fold_end(run);
    return status;
}

/* What events before this one did, and was not committed. */
static void begin_making(struct making *m)
{
    struct runtime_fold *fold = &m->run->fold;

    pawl__arena_init(&m->own, &m->run->runtime->env->alloc, RUNTIME_BYTES_MAX);
    m->arena = m->changes.arena = &m->own;
    if (fold->count == 0)
        return;
    m->arena = &fold->arena;
    m->changes = fold->changes;
    m->effects = fold->effects;
    m->effect_count = fold->effect_count;
    m->effect_cap = fold->effect_cap;
}

int pawl__runtime_commit_step(struct runtime_run *run, enum pawl_step step, bool release)
{
    struct making m = {.run = run, .now_us = pawl__runtime_now_us(run)};
    int status;

    PAWL_ASSERT(run->is_new || run->loaded); /* what was not loaded is never written */
    PAWL_ASSERT(run->row.owner != 0);        /* nor what is not claimed, or visited */
    PAWL_ASSERT(run->at == BURST_OPEN || run->at == BURST_STEPPED);
    m.over = step == PAWL_STEP_IDLE || step == PAWL_STEP_DONE;
    m.goes_on = step == PAWL_STEP_COMMIT;
    begin_making(&m);
    status = read_burst(&m, step);
    if (status == PAWL_OK && pawl__making_may_fold(&m, step)) {
        status = pawl__making_fold(&m);
    } else if (status == PAWL_OK) {
        status = make_changes(&m);
        if (status == PAWL_OK)
            status = commit_changes(&m, release);
    }
    if (status != PAWL_OK)
        pawl__fold_drop(run);
    pawl__runtime_request_free(m.request);
    pawl__arena_release(&m.own);
    return status;
}
