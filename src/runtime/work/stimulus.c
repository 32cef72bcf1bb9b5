/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stimuli: matched with triggers and bookmarks, expanded into a row per target, parked when nothing
 * matches. Who sends one is in send.c.
 *
 * Starts and resumptions are found together before any of them runs: what it starts is not also
 * resumed by it. Many targets are expanded page by page; each page is one commit that leaves a
 * stimulus row for the rest. Such a row goes in the commit that inserts what it became, so it acts
 * once.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/task.h"

/* In the row of one that was sent with a key. */
#define IS_KEYED "isKeyed"
/* Bookmarks that one commit turns into mail. */
#define TARGETS_PAGE PAWL_REACH_MAX
/* When a parked row is looked at again for the first time. */
#define RECHECK_US INT64_C(1000000)
/* And for the last, in leases: one until a node is dead, one for others to end its transactions. */
#define LAST_LEASES 2

static int parse(struct runtime_task *task, const struct pawl_work_row *work,
                 struct runtime_stimulus *out)
{
    struct pawl_json payload;
    int status =
        pawl__runtime_json_read(task->runtime, &task->arena, work->payload, &payload, task->err);

    if (status != PAWL_OK)
        return status;
    out->instance_id = runtime_text(&payload, "instanceId");
    out->after = runtime_text(&payload, "after");
    out->input = runtime_member(&payload, "input");
    out->is_keyed = pawl__json_true(pawl__json_get_text(&payload, IS_KEYED));
    out->is_request = pawl__json_true(pawl__json_get_text(&payload, RUNTIME_IS_REQUEST));
    out->traceparent = runtime_text(&payload, RUNTIME_TRACEPARENT);
    return PAWL_OK;
}

int pawl__runtime_stimulus_payload(struct pawl_arena *arena, const struct runtime_stimulus *parsed,
                                   struct pawl_str *text)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json payload = pawl__json_object();

    pawl__build_text(&b, &payload, "instanceId", parsed->instance_id);
    pawl__build_text(&b, &payload, "after", parsed->after);
    if (!pawl__json_is(&parsed->input, PAWL_JSON_NULL))
        pawl__build(&b, &payload, "input", parsed->input);
    if (parsed->is_keyed)
        pawl__build_bool(&b, &payload, IS_KEYED, true);
    if (parsed->is_request)
        pawl__build_bool(&b, &payload, RUNTIME_IS_REQUEST, true);
    /* The last one: what a key is compared by ends before it. */
    pawl__build_text(&b, &payload, RUNTIME_TRACEPARENT, parsed->traceparent);
    if (b.status != PAWL_OK)
        return b.status;
    *text = pawl__runtime_json_text(arena, &payload);
    return text->ptr ? PAWL_OK : pawl__arena_status(arena);
}

/* ---- for who waits for what it reaches ------------------------------------------------------ */

int pawl__runtime_note_reached(struct runtime_task *task, struct pawl_str instance_id,
                               struct pawl_str work_id, bool is_started)
{
    struct pawl_reach *reach = task->reach;

    if (!reach)
        return PAWL_OK;
    if (reach->count == reach->cap) {
        size_t cap = reach->cap ? reach->cap * 2 : 8;
        struct pawl_reached *grown = pawl__arena_alloc_array(reach->arena, cap, sizeof *grown);

        if (!grown)
            return pawl__error_code(task->err, pawl__arena_status(reach->arena));
        if (reach->count > 0)
            memcpy(grown, reach->items, reach->count * sizeof *grown);
        reach->items = grown;
        reach->cap = cap;
    }
    reach->items[reach->count++] =
        (struct pawl_reached){.instance_id = pawl__arena_str(reach->arena, instance_id),
                              .work_id = pawl__arena_str(reach->arena, work_id),
                              .is_started = is_started};
    return reach->arena->status == PAWL_OK ? PAWL_OK
                                           : pawl__error_code(task->err, reach->arena->status);
}

/* The id that the instance will have, where somebody waits for it; else "". */
static struct pawl_str choose_id(struct runtime_task *task)
{
    return task->reach ? pawl__runtime_new_id(task->runtime, &task->arena) : pawl__str("");
}

/* ---- starting ------------------------------------------------------------------------------ */

/* Rows that are due at the same time are taken in the order of their ids: starts come first. */
static int start_row(struct runtime_task *task, const struct pawl_work_row *stimulus,
                     const struct pawl_trigger_row *trigger, const struct runtime_stimulus *parsed,
                     struct pawl_str instance_id, struct pawl_work_row *out)
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_json data = pawl__json_object();

    pawl__build_text(&b, &data, "versionId", trigger->version_id);
    if (instance_id.len > 0)
        pawl__build_text(&b, &data, "instanceId", instance_id);
    pawl__build_text(&b, &data, "correlationId", stimulus->correlation_id);
    pawl__build_text(&b, &data, "triggerActivityId", trigger->activity_id);
    pawl__build(&b, &data, "input", parsed->input);
    pawl__build_text(&b, &data, RUNTIME_TRACEPARENT, parsed->traceparent);
    *out = (struct pawl_work_row){
        .kind = pawl__str(PAWL_WORK_START),
        .part = stimulus->part,
        .created_us = stimulus->created_us,
        .due_us = runtime_at_once(stimulus->created_us),
        .expires_us = PAWL_TIME_NEVER,
        .definition_id = trigger->definition_id,
        .id = pawl__str(pawl__arena_printf(&task->arena, "%.*s/0%.*s", PAWL_STR_ARG(stimulus->name),
                                           PAWL_STR_ARG(trigger->id))),
    };
    if (b.status == PAWL_OK)
        out->payload = pawl__runtime_json_text(&task->arena, &data);
    if (b.status == PAWL_OK && (!out->payload.ptr || out->id.len == 0))
        b.status = pawl__arena_status(&task->arena);
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, b.status);
}

static int add_start(struct runtime_task *task, const struct pawl_work_row *stimulus,
                     const struct pawl_trigger_row *trigger, const struct runtime_stimulus *parsed,
                     struct runtime_changes *changes, uint32_t *count)
{
    struct pawl_str instance_id = choose_id(task);
    struct pawl_graph *graph = NULL;
    struct pawl_work_row row;
    bool may = false;
    int status = pawl__definitions_graph(task->runtime->definitions, trigger->version_id, &graph,
                                         task->deadline_ns, task->err);

    if (status == PAWL_ENOTFOUND || status == PAWL_EPARSE)
        return PAWL_OK;
    if (status == PAWL_OK)
        status = pawl__runtime_may_start(task, graph, stimulus->correlation_id, &may);
    pawl__graph_unref(graph);
    if (status != PAWL_OK || !may)
        return status;
    status = start_row(task, stimulus, trigger, parsed, instance_id, &row);
    if (status == PAWL_OK)
        status = pawl__runtime_note_reached(task, instance_id, row.id, true);
    if (status == PAWL_OK) {
        pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &row);
        ++*count;
    }
    return status;
}

static int add_starts(struct runtime_task *task, const struct pawl_work_row *stimulus,
                      const struct runtime_stimulus *parsed, const struct pawl_rows *triggers,
                      struct runtime_match *match)
{
    int status = PAWL_OK;

    for (size_t i = 0; status == PAWL_OK && i < triggers->count; i++)
        status = add_start(task, stimulus, &((const struct pawl_trigger_row *)triggers->rows)[i],
                           parsed, &match->changes, &match->sent.started);
    return status;
}

/* ---- resuming ------------------------------------------------------------------------------ */

static void add_condition(struct pawl_query *query, struct pawl_condition *conditions,
                          const char *column, struct pawl_str value)
{
    if (value.len > 0)
        conditions[query->condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, column), .value = {.text = value}};
}

/* A query for bookmarks, with what it points to. */
struct bookmark_query {
    struct pawl_query query;
    struct pawl_condition conditions[4];
    struct pawl_bookmark_row after;
};

static void make_bookmark_query(struct bookmark_query *q, const struct pawl_work_row *stimulus,
                                const struct runtime_stimulus *parsed)
{
    q->after = (struct pawl_bookmark_row){.id = parsed->after};
    q->query = (struct pawl_query){.table = PAWL_TABLE_BOOKMARKS,
                                   .flags = PAWL_QUERY_BRIEF,
                                   .conditions = q->conditions,
                                   .limit = TARGETS_PAGE,
                                   .after = parsed->after.len > 0 ? &q->after : NULL};
    add_condition(&q->query, q->conditions, "hash", stimulus->hash);
    add_condition(&q->query, q->conditions, "instance_id", parsed->instance_id);
    add_condition(&q->query, q->conditions, "correlation_id", stimulus->correlation_id);
    add_condition(&q->query, q->conditions, "activity_instance_id", stimulus->activity_instance_id);
}

static int find_bookmarks(struct runtime_task *task, const struct pawl_work_row *stimulus,
                          const struct runtime_stimulus *parsed, struct pawl_rows *rows)
{
    struct bookmark_query q;

    make_bookmark_query(&q, stimulus, parsed);
    return pawl_store_find(task->runtime->store, &q.query, &task->arena, rows, task->deadline_ns,
                           task->err);
}

/* Both in one round trip. */
static int find_triggers_and_bookmarks(struct runtime_task *task,
                                       const struct pawl_work_row *stimulus,
                                       const struct runtime_stimulus *parsed,
                                       struct pawl_rows *triggers, struct pawl_rows *bookmarks)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_TRIGGERS, "hash"),
                                             .value = {.text = stimulus->hash}};
    struct pawl_query queries[2] = {{.table = PAWL_TABLE_TRIGGERS,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = PAWL_STORE_ROWS_MAX}};
    struct pawl_rows found[2];
    struct bookmark_query q;
    int status;

    make_bookmark_query(&q, stimulus, parsed);
    queries[1] = q.query;
    status = pawl_store_find_many(task->runtime->store, queries, 2, &task->arena, found,
                                  task->deadline_ns, task->err);
    if (status == PAWL_OK) {
        *triggers = found[0];
        *bookmarks = found[1];
    }
    return status;
}

/* ---- what becomes of the row --------------------------------------------------------------- */

/* The same stimulus under a new id, so that the old row's end and the new one's begin are one. */
static int renew_row(struct runtime_task *task, const struct pawl_work_row *stimulus,
                     const struct runtime_stimulus *parsed, struct pawl_work_row *out)
{
    int status;

    *out = *stimulus;
    out->id = pawl__runtime_new_id(task->runtime, &task->arena);
    if (!out->id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    status = pawl__runtime_stimulus_payload(&task->arena, parsed, &out->payload);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

static int add_rest(struct runtime_task *task, const struct pawl_work_row *stimulus,
                    const struct runtime_stimulus *parsed, struct pawl_str after,
                    struct runtime_changes *changes)
{
    struct runtime_stimulus from = *parsed;
    struct pawl_work_row rest;
    int status;

    from.after = after;
    status = renew_row(task, stimulus, &from, &rest);
    if (status == PAWL_OK) {
        rest.owner = 0;
        pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &rest);
    }
    return status;
}

/* Another look at what was parked at that time. */
static int add_recheck(struct runtime_task *task, struct runtime_changes *changes,
                       const struct pawl_work_row *parked, int64_t parked_us, int64_t due_us)
{
    const struct pawl_work_row again = {
        .kind = pawl__str(PAWL_WORK_RECHECK),
        .name = parked->id,
        .part = parked->part,
        .created_us = parked_us,
        .due_us = due_us,
        .expires_us = PAWL_TIME_NEVER,
        .id = pawl__str(pawl__arena_printf(&task->arena, "recheck:%lld:%.*s", (long long)due_us,
                                           PAWL_STR_ARG(parked->id))),
    };

    if (again.id.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &again);
    return PAWL_OK;
}

/*
 * One that is for a certain instance is parked as mail of that instance: the bookmarks of others do
 * not wake it, and what was delivered by mail is delivered by the instance's owner alone.
 *
 * A bookmark that is committed between the look for it and the commit that parks did not see the
 * parked row, and was not seen. So whoever parks looks once more; and should it die before it did,
 * or the two transactions have run side by side, a row that is due a second after the parking makes
 * another look. The last one is made when no transaction that was open at the parking can still be.
 */
static int park(struct runtime_task *task, const struct pawl_work_row *stimulus,
                const struct runtime_stimulus *parsed, struct runtime_changes *changes,
                struct pawl_work_row *row)
{
    int64_t now_us;
    int status = renew_row(task, stimulus, parsed, row);

    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    row->owner = 0;
    row->due_us = PAWL_TIME_NEVER;
    row->expires_us = row->created_us + task->runtime->options.stimulus_us;
    if (parsed->instance_id.len > 0) {
        row->kind = pawl__str(PAWL_WORK_RESUME);
        row->instance_id = parsed->instance_id;
        row->part = pawl__runtime_part(parsed->instance_id);
    }
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, row);
    return add_recheck(task, changes, row, now_us, now_us + RECHECK_US);
}

/*
 * Makes a parked row due if its bookmark is there: it ends, nobody's as it is, and its successor is
 * due. If somebody has taken it meanwhile, or it is gone, that was done already. Mail keeps its id:
 * an owner who has read it since deletes it by that.
 */
static int wake(struct runtime_task *task, const struct pawl_work_row *row,
                const struct runtime_stimulus *parsed, int64_t due_us)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .done = &row->id, .done_count = 1};
    struct pawl_work_row due;
    struct pawl_rows found = {0};
    int status = find_bookmarks(task, row, parsed, &found);

    if (status != PAWL_OK || found.count == 0 || row->due_us != PAWL_TIME_NEVER)
        return status;
    status = renew_row(task, row, parsed, &due);
    if (status != PAWL_OK)
        return status;
    if (row->instance_id.len > 0)
        due.id = row->id;
    due.due_us = due_us;
    pawl__runtime_change(&changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &due);
    if (changes.status != PAWL_OK)
        return pawl__error_code(task->err, changes.status);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    status = pawl__runtime_commit(task->runtime, &commit, pawl__runtime_commit_deadline(task),
                                  task->err);
    return status == PAWL_ECONFLICT ? PAWL_OK : status;
}

/* What cannot be looked at now will be in a second. */
void pawl__runtime_recheck_soon(struct runtime_task *task, const struct pawl_work_row *row,
                                const struct runtime_stimulus *parsed)
{
    struct pawl_error *err = task->err;

    task->err = NULL;
    (void)!wake(task, row, parsed, row->created_us);
    task->err = err;
}

/* ---- matching ------------------------------------------------------------------------------ */

int pawl__runtime_look(struct runtime_task *task, const struct pawl_work_row *work,
                       const struct runtime_stimulus *stimulus, struct runtime_match *match)
{
    struct pawl_rows triggers = {0};
    int status;

    *match = (struct runtime_match){.changes = {.arena = &task->arena},
                                    .is_first = stimulus->after.len == 0};
    if (stimulus->instance_id.len > 0 || !match->is_first)
        return find_bookmarks(task, work, stimulus, &match->bookmarks);
    status = find_triggers_and_bookmarks(task, work, stimulus, &triggers, &match->bookmarks);
    return status == PAWL_OK ? add_starts(task, work, stimulus, &triggers, match) : status;
}

const struct pawl_bookmark_row *pawl__runtime_only_target(const struct runtime_match *match)
{
    return match->sent.started == 0 && match->bookmarks.count == 1 ? match->bookmarks.rows : NULL;
}

struct pawl_work_row pawl__runtime_resume_row(struct runtime_task *task,
                                              const struct pawl_work_row *stimulus,
                                              const struct pawl_bookmark_row *bookmark)
{
    struct pawl_work_row row = {
        .kind = pawl__str(PAWL_WORK_RESUME),
        .instance_id = bookmark->instance_id,
        .bookmark_id = bookmark->id,
        .hash = stimulus->hash,
        .activity_instance_id = stimulus->activity_instance_id,
        .part = pawl__runtime_part(bookmark->instance_id),
        .created_us = stimulus->created_us,
        .due_us = runtime_at_once(stimulus->created_us),
        .expires_us = PAWL_TIME_NEVER,
    };

    /* In the order in which they were made. */
    row.id = pawl__str(
        pawl__arena_printf(&task->arena, "%.*s/1%016llx%.*s", PAWL_STR_ARG(stimulus->name),
                           (unsigned long long)bookmark->created_us, PAWL_STR_ARG(bookmark->id)));
    return row;
}

int pawl__runtime_expand(struct runtime_task *task, const struct pawl_work_row *work,
                         const struct runtime_stimulus *stimulus, struct runtime_match *match)
{
    const struct pawl_bookmark_row *bookmarks = match->bookmarks.rows;
    size_t count = match->bookmarks.count;
    struct pawl_str payload = pawl__str("");
    int status = count == 0 ? PAWL_OK
                            : pawl__runtime_stimulus_payload(
                                  &task->arena,
                                  &(struct runtime_stimulus){.instance_id = pawl__str(""),
                                                             .after = pawl__str(""),
                                                             .input = stimulus->input,
                                                             .is_request = stimulus->is_request,
                                                             .traceparent = stimulus->traceparent},
                                  &payload);

    if (status != PAWL_OK)
        return pawl__error_code(task->err, status);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        struct pawl_work_row row = pawl__runtime_resume_row(task, work, &bookmarks[i]);

        row.payload = payload;
        status = row.id.len > 0 ? pawl__runtime_note_reached(task, row.instance_id, row.id, false)
                                : pawl__error_code(task->err, pawl__arena_status(&task->arena));
        pawl__runtime_change(&match->changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &row);
        match->sent.resumed++;
    }
    if (status == PAWL_OK && count == TARGETS_PAGE)
        status = add_rest(task, work, stimulus, bookmarks[count - 1].id, &match->changes);
    match->sent.parked = match->sent.started + match->sent.resumed == 0 && match->is_first;
    if (status == PAWL_OK && match->sent.parked)
        status = park(task, work, stimulus, &match->changes, &match->parked);
    if (status == PAWL_OK && match->changes.status != PAWL_OK)
        status = pawl__error_code(task->err, match->changes.status);
    return status;
}

int pawl__runtime_match(struct runtime_task *task, const struct pawl_work_row *work)
{
    struct runtime_stimulus stimulus = {.instance_id = pawl__str(""), .after = pawl__str("")};
    struct runtime_match match;
    int status = parse(task, work, &stimulus);

    if (status == PAWL_OK)
        status = pawl__runtime_look(task, work, &stimulus, &match);
    if (status == PAWL_OK)
        status = pawl__runtime_expand(task, work, &stimulus, &match);
    if (status == PAWL_OK && stimulus.is_keyed && match.is_first)
        status = pawl__runtime_record_sent(task, work, &match);
    if (status == PAWL_OK)
        status = pawl__runtime_finish_work(task, work, &match.changes);
    if (status == PAWL_OK && match.sent.parked)
        pawl__runtime_recheck_soon(task, &match.parked, &stimulus);
    return status;
}

int pawl__runtime_recheck(struct runtime_task *task, const struct pawl_work_row *work)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "id"),
                                             .value = {.text = work->name}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};
    const int64_t last_us = work->created_us + LAST_LEASES * pawl__runtime_lease_us(task->runtime);
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_rows rows = {0};
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    if (status == PAWL_OK && rows.count > 0) {
        struct pawl_work_row row = *(const struct pawl_work_row *)rows.rows;
        struct runtime_stimulus parsed = {.instance_id = pawl__str(""), .after = pawl__str("")};

        status = parse(task, &row, &parsed);
        if (status == PAWL_OK)
            status = wake(task, &row, &parsed, work->due_us);
        if (status == PAWL_OK && row.due_us == PAWL_TIME_NEVER && work->due_us < last_us &&
            last_us < row.expires_us)
            status = add_recheck(task, &changes, &row, work->created_us, last_us);
    }
    return status == PAWL_OK ? pawl__runtime_finish_work(task, work, &changes) : status;
}
