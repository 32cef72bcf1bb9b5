/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stimuli: accepted as a row, matched with triggers and bookmarks, expanded into a row per target,
 * parked when nothing matches.
 *
 * A stimulus row goes in the commit that inserts what it became, so it acts once. Starts and
 * resumptions are found together before any of them runs: what it starts is not also resumed by it.
 * Many targets are expanded page by page; each page is one commit that leaves a row for the rest.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "base/hash/checksum.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/task.h"

#include <inttypes.h>

/* In the row of one that was sent with a key. */
#define IS_KEYED "isKeyed"
/* Bookmarks that one commit turns into mail. */
#define TARGETS_PAGE PAWL_REACH_MAX
/* How long a caller's idempotency key is remembered: a day. */
#define KEY_US INT64_C(86400000000)
/* When a parked row is looked at again for the first time. */
#define RECHECK_US INT64_C(1000000)
/* And for the last, in leases: one until a node is dead, one for others to end its transactions. */
#define LAST_LEASES 2

/* A stimulus as its row has it. `after` is the bookmark up to which it was expanded already. */
struct parsed {
    struct pawl_str instance_id;
    struct pawl_str after;
    struct pawl_json input;
    bool is_keyed; /* sending it again with its key returns what it did */
};

static int parse(struct runtime_task *task, const struct pawl_work_row *work, struct parsed *out)
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
    return PAWL_OK;
}

static int payload_text(struct pawl_arena *arena, const struct parsed *parsed,
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
    if (b.status != PAWL_OK)
        return b.status;
    *text = pawl__runtime_json_text(arena, &payload);
    return text->ptr ? PAWL_OK : pawl__arena_status(arena);
}

/* ---- for who waits for what it reaches ------------------------------------------------------ */

static int note_reached(struct runtime_task *task, struct pawl_str instance_id,
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
        (struct pawl_reached){pawl__arena_str(reach->arena, instance_id),
                              pawl__arena_str(reach->arena, work_id), is_started};
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
                     const struct pawl_trigger_row *trigger, const struct parsed *parsed,
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
                     const struct pawl_trigger_row *trigger, const struct parsed *parsed,
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
        status = note_reached(task, instance_id, row.id, true);
    if (status == PAWL_OK) {
        pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &row);
        ++*count;
    }
    return status;
}

static int match_triggers(struct runtime_task *task, const struct pawl_work_row *stimulus,
                          const struct parsed *parsed, struct runtime_changes *changes,
                          uint32_t *count)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_TRIGGERS, "hash"),
                                             .value = {.text = stimulus->hash}};
    const struct pawl_query query = {.table = PAWL_TABLE_TRIGGERS,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_rows rows = {0};
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        status = add_start(task, stimulus, &((const struct pawl_trigger_row *)rows.rows)[i], parsed,
                           changes, count);
    return status;
}

/* ---- resuming ------------------------------------------------------------------------------ */

static void add_resume(struct runtime_task *task, const struct pawl_work_row *stimulus,
                       const struct pawl_bookmark_row *bookmark, struct pawl_str payload,
                       struct runtime_changes *changes)
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
        .payload = payload,
    };

    /* In the order in which they were made. */
    row.id = pawl__str(
        pawl__arena_printf(&task->arena, "%.*s/1%016llx%.*s", PAWL_STR_ARG(stimulus->name),
                           (unsigned long long)bookmark->created_us, PAWL_STR_ARG(bookmark->id)));
    if (row.id.len == 0)
        changes->status = pawl__arena_status(&task->arena);
    else if (note_reached(task, row.instance_id, row.id, false) != PAWL_OK)
        changes->status = PAWL_ENOMEM;
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &row);
}

static void add_condition(struct pawl_query *query, struct pawl_condition *conditions,
                          const char *column, struct pawl_str value)
{
    if (value.len > 0)
        conditions[query->condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, column), .value = {.text = value}};
}

static int find_bookmarks(struct runtime_task *task, const struct pawl_work_row *stimulus,
                          const struct parsed *parsed, struct pawl_rows *rows)
{
    const struct pawl_bookmark_row after = {.id = parsed->after};
    struct pawl_condition conditions[4];
    struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = conditions,
                               .limit = TARGETS_PAGE,
                               .after = parsed->after.len > 0 ? &after : NULL};

    add_condition(&query, conditions, "hash", stimulus->hash);
    add_condition(&query, conditions, "instance_id", parsed->instance_id);
    add_condition(&query, conditions, "correlation_id", stimulus->correlation_id);
    add_condition(&query, conditions, "activity_instance_id", stimulus->activity_instance_id);
    return pawl_store_find(task->runtime->store, &query, &task->arena, rows, task->deadline_ns,
                           task->err);
}

/* ---- what becomes of the row --------------------------------------------------------------- */

/* The same stimulus under a new id, so that the old row's end and the new one's begin are one. */
static int renew_row(struct runtime_task *task, const struct pawl_work_row *stimulus,
                     const struct parsed *parsed, struct pawl_work_row *out)
{
    int status;

    *out = *stimulus;
    out->id = pawl__runtime_new_id(task->runtime, &task->arena);
    if (!out->id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    status = payload_text(&task->arena, parsed, &out->payload);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

static int add_rest(struct runtime_task *task, const struct pawl_work_row *stimulus,
                    struct parsed *parsed, struct pawl_str after, struct runtime_changes *changes)
{
    struct pawl_work_row rest;
    int status;

    parsed->after = after;
    status = renew_row(task, stimulus, parsed, &rest);
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
                const struct parsed *parsed, struct runtime_changes *changes,
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
                const struct parsed *parsed, int64_t due_us)
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
static void recheck_soon(struct runtime_task *task, const struct pawl_work_row *row,
                         const struct parsed *parsed)
{
    struct pawl_error *err = task->err;

    task->err = NULL;
    (void)!wake(task, row, parsed, row->created_us);
    task->err = err;
}

/* ---- what a keyed one did ------------------------------------------------------------------- */

/* A reservation of its own: that of the key is never changed, which tells whose commit made it. */
static struct pawl_str record_key(struct runtime_task *task, struct pawl_str stimulus_id)
{
    return pawl__str(pawl__arena_printf(&task->arena, "sent:%.*s", PAWL_STR_ARG(stimulus_id)));
}

/* Of the first match alone: that is what its sender got. */
static void record_sent(struct runtime_task *task, const struct pawl_work_row *stimulus,
                        const struct pawl_sent *sent, struct runtime_changes *changes)
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_json did = pawl__json_object();
    struct pawl_reservation_row record = {
        .key = record_key(task, stimulus->name),
        .expires_us = stimulus->created_us + KEY_US,
    };

    pawl__build_int(&b, &did, "started", sent->started);
    pawl__build_int(&b, &did, "resumed", sent->resumed);
    pawl__build_bool(&b, &did, "parked", sent->parked);
    if (b.status == PAWL_OK)
        record.value = pawl__runtime_json_text(&task->arena, &did);
    if (b.status != PAWL_OK || record.key.len == 0 || !record.value.ptr)
        changes->status = pawl__arena_status(&task->arena);
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_RESERVATIONS, &record);
}

static int find_reservation(struct runtime_task *task, struct pawl_str key, struct pawl_str *value)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"), .value = {.text = key}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_RESERVATIONS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status;

    *value = pawl__str("");
    if (key.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows, task->deadline_ns,
                             task->err);
    if (status == PAWL_OK && rows.count > 0)
        *value = ((const struct pawl_reservation_row *)rows.rows)->value;
    return status;
}

/* What the reservation of a key says: the stimulus by its id, and a checksum of all that was sent
 * with it. ptr NULL: the arena's status. */
static struct pawl_str key_value(struct runtime_task *task, const struct pawl_work_row *row)
{
    const struct pawl_str parts[] = {row->hash, row->correlation_id, row->activity_instance_id,
                                     row->payload};
    const char *value;
    size_t len = 0;
    char *all;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        len += parts[i].len + 1;
    all = pawl__arena_alloc(&task->arena, len);
    if (!all)
        return pawl__str_make(NULL, 0);
    len = 0;
    /* As text, never packed: what one version of a library packs another may pack differently. */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].len > 0)
            memcpy(all + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
        all[len++] = '\n';
    }
    value = pawl__arena_printf(&task->arena, "%.*s %016" PRIx64, PAWL_STR_ARG(row->id),
                               pawl__checksum(pawl__str_make(all, len)));
    return value ? pawl__str(value) : pawl__str_make(NULL, 0);
}

/* `before` and `now` are such values; one where the first wins, or of an older version, has no
 * checksum. */
static bool is_same_event(struct pawl_str before, struct pawl_str now, struct pawl_str *id)
{
    size_t at = 0, sum = 0;

    while (at < before.len && before.ptr[at] != ' ')
        at++;
    while (sum < now.len && now.ptr[sum] != ' ')
        sum++;
    *id = pawl__str_slice(before, 0, at);
    return at == before.len || pawl__str_equal(pawl__str_slice(before, at, before.len),
                                               pawl__str_slice(now, sum, now.len));
}

/* What the stimulus with this id did; nothing yet, while it is not matched. */
static int read_record(struct runtime_task *task, struct pawl_str id, struct pawl_sent *sent)
{
    struct pawl_str value = pawl__str("");
    struct pawl_json did;
    int64_t started = 0, resumed = 0;
    int status = PAWL_OK;

    if (id.len > 0)
        status = find_reservation(task, record_key(task, id), &value);
    if (status == PAWL_OK)
        status = pawl__runtime_json_read(task->runtime, &task->arena, value, &did, task->err);
    if (status != PAWL_OK)
        return status;
    (void)pawl__json_to_int(pawl__json_get_text(&did, "started"), &started);
    (void)pawl__json_to_int(pawl__json_get_text(&did, "resumed"), &resumed);
    *sent = (struct pawl_sent){
        .started = (uint32_t)started,
        .resumed = (uint32_t)resumed,
        .parked = pawl__json_true(pawl__json_get_text(&did, "parked")),
    };
    return PAWL_OK;
}

/* Of one that was sent with this key before. */
static int read_sent(struct runtime_task *task, const struct pawl_reservation_row *key,
                     struct pawl_sent *sent)
{
    struct pawl_str before, id;
    int status = find_reservation(task, key->key, &before);

    if (status == PAWL_OK && !is_same_event(before, key->value, &id))
        return pawl__error_set(task->err, PAWL_ECONFLICT,
                               "another event was sent with this key within the last day: this one "
                               "was not sent. Use a key for one event alone");
    return status == PAWL_OK ? read_record(task, id, sent) : status;
}

static struct pawl_str reserved_key(struct runtime_task *task, struct pawl_str key)
{
    return pawl__str(pawl__arena_printf(&task->arena, "stimulus:%.*s", PAWL_STR_ARG(key)));
}

/* A stimulus as a row of work, which is not due yet. */
static int make_row(struct runtime_task *task, const struct pawl_stimulus *stimulus,
                    struct pawl_work_row *out)
{
    const struct parsed parsed = {.instance_id = stimulus->instance_id,
                                  .input = stimulus->input,
                                  .is_keyed = stimulus->idempotency_key.len > 0};
    int status;

    *out = (struct pawl_work_row){
        .kind = pawl__str(PAWL_WORK_STIMULUS),
        .hash = stimulus->hash,
        .correlation_id = stimulus->correlation_id,
        .activity_instance_id = stimulus->activity_instance_id,
        .part = pawl__runtime_part(stimulus->hash),
        .expires_us = PAWL_TIME_NEVER,
    };
    out->id = out->name = pawl__runtime_new_id(task->runtime, &task->arena);
    status = out->id.ptr ? payload_text(&task->arena, &parsed, &out->payload)
                         : pawl__arena_status(&task->arena);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

int pawl__runtime_sent_before(struct runtime_task *task, const struct pawl_stimulus *stimulus,
                              struct pawl_sent *sent)
{
    struct pawl_reservation_row key = {.key = reserved_key(task, stimulus->idempotency_key)};
    struct pawl_str before = pawl__str("");
    struct pawl_work_row row;
    int status = make_row(task, stimulus, &row);

    if (status == PAWL_OK)
        status = find_reservation(task, key.key, &before);
    if (status != PAWL_OK)
        return status;
    if (before.len == 0)
        return pawl__error_set(task->err, PAWL_ENOTFOUND, "nothing was sent with the key %.*s",
                               PAWL_STR_ARG(stimulus->idempotency_key));
    key.value = key_value(task, &row);
    if (!key.value.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    return read_sent(task, &key, sent);
}

int pawl__runtime_match(struct runtime_task *task, const struct pawl_work_row *work,
                        struct pawl_sent *sent)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct parsed parsed = {.instance_id = pawl__str(""), .after = pawl__str("")};
    struct pawl_rows rows = {0};
    struct pawl_work_row parked;
    struct pawl_str payload = pawl__str("");
    int status = parse(task, work, &parsed);
    bool is_first = parsed.after.len == 0;

    if (status == PAWL_OK && parsed.instance_id.len == 0 && is_first)
        status = match_triggers(task, work, &parsed, &changes, &sent->started);
    if (status == PAWL_OK)
        status = find_bookmarks(task, work, &parsed, &rows);
    if (status == PAWL_OK)
        status = payload_text(&task->arena, &(struct parsed){.input = parsed.input}, &payload);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        add_resume(task, work, &((const struct pawl_bookmark_row *)rows.rows)[i], payload,
                   &changes);
        sent->resumed++;
    }
    if (status == PAWL_OK && rows.count == TARGETS_PAGE)
        status =
            add_rest(task, work, &parsed,
                     ((const struct pawl_bookmark_row *)rows.rows)[rows.count - 1].id, &changes);
    sent->parked = sent->started + sent->resumed == 0 && is_first;
    if (status == PAWL_OK && sent->parked)
        status = park(task, work, &parsed, &changes, &parked);
    if (status == PAWL_OK && parsed.is_keyed && is_first)
        record_sent(task, work, sent, &changes);
    if (status == PAWL_OK)
        status = pawl__runtime_finish_work(task, work, &changes);
    if (status == PAWL_OK && sent->parked)
        recheck_soon(task, &parked, &parsed);
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
        struct parsed parsed = {.instance_id = pawl__str(""), .after = pawl__str("")};

        status = parse(task, &row, &parsed);
        if (status == PAWL_OK)
            status = wake(task, &row, &parsed, work->due_us);
        if (status == PAWL_OK && row.due_us == PAWL_TIME_NEVER && work->due_us < last_us &&
            last_us < row.expires_us)
            status = add_recheck(task, &changes, &row, work->created_us, last_us);
    }
    return status == PAWL_OK ? pawl__runtime_finish_work(task, work, &changes) : status;
}

/* ---- sending ------------------------------------------------------------------------------- */

int pawl__runtime_event_row(struct pawl_runtime *runtime, struct pawl_arena *arena,
                            const struct pawl_json *event, struct pawl_work_row *row)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json payload = runtime_member(event, "payload"), stimulus;
    struct parsed parsed = {.instance_id = runtime_text(event, "instanceId"),
                            .input = pawl__json_object(),
                            .is_keyed = pawl__json_true(pawl__json_get_text(event, IS_KEYED))};
    char hash[PAWL_SHA256_TEXT_SIZE];

    stimulus = pawl__event_stimulus(&b, runtime_text(event, PAWL_STIMULUS_EVENT_NAME));
    if (pawl__json_is(&payload, PAWL_JSON_NULL))
        payload = pawl__json_object();
    pawl__build(&b, &parsed.input, PAWL_STIMULUS_EVENT_INPUT, payload);
    b.status =
        pawl__built_stimulus_hash(&b, &runtime->env->alloc, PAWL_STIMULUS_EVENT, &stimulus, hash);
    if (b.status != PAWL_OK)
        return b.status;
    *row = (struct pawl_work_row){
        .id = pawl__runtime_new_id(runtime, arena),
        .kind = pawl__str(PAWL_WORK_STIMULUS),
        .hash = pawl__arena_str(arena, pawl__str(hash)),
        .correlation_id = runtime_text(event, "correlationId"),
        .expires_us = PAWL_TIME_NEVER,
    };
    if (!row->id.ptr || !row->hash.ptr)
        return pawl__arena_status(arena);
    row->name = row->id;
    row->part = pawl__runtime_part(row->hash);
    return payload_text(arena, &parsed, &row->payload);
}

/* Makes the row durable, this node's, and then matches it. */
static int accept(struct runtime_task *task, struct pawl_work_row *row,
                  const struct pawl_stimulus *stimulus, struct pawl_sent *sent)
{
    struct pawl_runtime *runtime = task->runtime;
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    int64_t now_us;
    struct pawl_reservation_row reservation = {0};
    bool has_key = stimulus && stimulus->idempotency_key.len > 0;
    int matched = PAWL_OK;
    int status;

    if (row->correlation_id.len > PAWL_CORRELATION_ID_MAX)
        return pawl__error_set(task->err, PAWL_EINVAL,
                               "a correlation id has at most %u bytes, not %zu",
                               PAWL_CORRELATION_ID_MAX, row->correlation_id.len);
    if (stimulus && stimulus->instance_id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(task->err, PAWL_EINVAL, "an instance id has at most %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    status = pawl__runtime_check_bytes(task, "an event", row->payload.len);
    if (status == PAWL_OK && has_key)
        status = pawl__runtime_check_key(task, stimulus->idempotency_key);
    if (status == PAWL_OK)
        status = pawl__runtime_clock(runtime, &now_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    task->reach = stimulus ? stimulus->reach : NULL;
    row->created_us = row->due_us = now_us;
    row->owner = pawl__keeper_incarnation(runtime->keeper);
    if (has_key) {
        reservation = (struct pawl_reservation_row){
            .key = reserved_key(task, stimulus->idempotency_key),
            .value = stimulus->first_wins ? row->id : key_value(task, row),
            .expires_us = now_us + KEY_US,
        };
        if (!reservation.value.ptr)
            return pawl__error_code(task->err, pawl__arena_status(&task->arena));
        pawl__runtime_change(&changes, PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &reservation);
    }
    pawl__runtime_change(&changes, PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, row);
    if (changes.status != PAWL_OK)
        return pawl__error_code(task->err, changes.status);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    status = pawl__runtime_hold(runtime, row->id);
    if (status != PAWL_OK)
        return pawl__error_code(task->err, status);
    status = pawl__runtime_commit(runtime, &commit, task->deadline_ns, task->err);
    if (status == PAWL_OK)
        matched = pawl__runtime_match(task, row, sent);
    else if (status == PAWL_EEXISTS && has_key)
        status = read_sent(task, &reservation, sent); /* sent before */
    /* Before it is noted: who looks for strays in between would find it in hand, and not again. */
    pawl__runtime_drop(runtime, row->id);
    if (matched != PAWL_OK) {
        /* It is accepted all the same: whoever does what is due matches it. */
        *sent = (struct pawl_sent){0};
        if (task->reach)
            task->reach->count = 0;
        pawl__runtime_note_failure(runtime, PAWL_EUNAVAILABLE);
    }
    return status;
}

int pawl__runtime_send(struct pawl_runtime *runtime, const struct pawl_stimulus *stimulus,
                       struct pawl_sent *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sent sent = {0};
    struct runtime_task task;
    struct pawl_work_row row;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    status = make_row(&task, stimulus, &row);
    if (status == PAWL_OK)
        status = accept(&task, &row, stimulus, &sent);
    pawl__runtime_task_release(&task, status);
    if (status == PAWL_OK && out)
        *out = sent;
    return status;
}

int pawl__runtime_send_event(struct pawl_runtime *runtime, struct pawl_str name,
                             const struct pawl_json *payload, const struct pawl_stimulus *stimulus,
                             struct pawl_sent *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_json event = pawl__json_object();
    struct pawl_sent sent = {0};
    struct runtime_task task;
    struct pawl_builder b;
    struct pawl_work_row row;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    b = (struct pawl_builder){.arena = &task.arena};
    pawl__build_text(&b, &event, PAWL_STIMULUS_EVENT_NAME, pawl__arena_str(&task.arena, name));
    if (stimulus) {
        pawl__build_text(&b, &event, "correlationId",
                         pawl__arena_str(&task.arena, stimulus->correlation_id));
        pawl__build_text(&b, &event, "instanceId",
                         pawl__arena_str(&task.arena, stimulus->instance_id));
        if (stimulus->idempotency_key.len > 0)
            pawl__build_bool(&b, &event, IS_KEYED, true);
    }
    if (payload)
        pawl__build(&b, &event, "payload", *payload);
    if (b.status == PAWL_OK)
        b.status = task.arena.status; /* of the copies: an empty name is another event */
    if (b.status == PAWL_OK)
        b.status = pawl__runtime_event_row(runtime, &task.arena, &event, &row);
    if (b.status == PAWL_OK && stimulus)
        row.activity_instance_id = stimulus->activity_instance_id;
    if (b.status != PAWL_OK)
        (void)pawl__error_code(err, b.status);
    else
        b.status = accept(&task, &row, stimulus, &sent);
    pawl__runtime_task_release(&task, b.status);
    if (b.status == PAWL_OK && out)
        *out = sent;
    return b.status;
}
