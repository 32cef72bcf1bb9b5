/* SPDX-License-Identifier: Apache-2.0 */
/* What one does with one instance: run, cancel, delete, look at it, take it over. */
#include "runtime/runtime_private.h"

#include "base/datetime.h"
#include "base/error.h"

/* How often an instance that another node has is asked for again. */
#define BUSY_NS INT64_C(20000000)
/* Pages of a journal that are read at a time. */
#define PAGES 1000u

/* ---- running ------------------------------------------------------------------------------- */

static struct pawl_event run_event(const struct pawl_run *run)
{
    struct pawl_event event = {
        .kind = PAWL_EVENT_RUN,
        .bookmark_id = run->bookmark_id,
        .activity_id = run->activity_id,
        .activity_instance_id = run->activity_instance_id,
        .input = run->input,
        .properties = run->properties,
        .variables = run->variables,
    };

    if (run->bookmark_id.len > 0)
        event.kind = PAWL_EVENT_RESUME;
    else if (run->activity_id.len > 0 || run->activity_instance_id.len > 0)
        event.kind = PAWL_EVENT_ACTIVITY;
    return event;
}

/* Sleeps a little while another node has the instance. PAWL_ETIMEDOUT at the deadline. */
static int wait_busy(struct runtime_task *task, struct pawl_str instance_id)
{
    int64_t until = pawl_env_monotonic_ns(task->runtime->env) + BUSY_NS;
    int status;

    if (until >= task->deadline_ns)
        return pawl__error_set(task->err, PAWL_ETIMEDOUT,
                               "instance %.*s was busy until the time was up: try again later",
                               PAWL_STR_ARG(instance_id));
    status = pawl_env_sleep_until(task->runtime->env, until);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

int pawl__runtime_run_waiting(struct runtime_task *task, struct pawl_str instance_id,
                              struct pawl_event *event, struct pawl_outcome *out)
{
    int status;

    do {
        status = pawl__runtime_run_instance(task, instance_id, event, out);
        if (status == PAWL_EBUSY && wait_busy(task, instance_id) != PAWL_OK)
            status = PAWL_ETIMEDOUT;
    } while (status == PAWL_EBUSY);
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(task);
    if (status == PAWL_OK)
        status = pawl__runtime_renew_outcome(task, out);
    return status;
}

int pawl__runtime_run(struct pawl_runtime *runtime, struct pawl_str instance_id,
                      const struct pawl_run *run, struct pawl_outcome *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct pawl_event event = run_event(run);
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.request = run->request;
    if (out)
        *out = (struct pawl_outcome){0};
    status = pawl__runtime_run_waiting(&task, instance_id, &event, out);
    pawl__runtime_task_release(&task, status);
    return status;
}

/* ---- cancelling and deleting --------------------------------------------------------------- */

static int cancel(struct pawl_runtime *runtime, struct pawl_str instance_id, const char *kind,
                  int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    status = pawl__runtime_request_cancel(&task, instance_id, kind);
    if (status == PAWL_ENOTFOUND)
        (void)pawl__error_set(err, status, "there is no instance %.*s", PAWL_STR_ARG(instance_id));
    if (status == PAWL_OK)
        status = pawl__runtime_run_instance(&task, instance_id, NULL, NULL);
    if (status == PAWL_EBUSY)
        status = PAWL_OK; /* its owner sees the flag */
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(&task);
    pawl__runtime_task_release(&task, status);
    return status;
}

int pawl__runtime_cancel(struct pawl_runtime *runtime, struct pawl_str instance_id,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return cancel(runtime, instance_id, PAWL_WORK_CANCEL, deadline_ns, err);
}

int pawl__runtime_cancel_one(struct pawl_runtime *runtime, struct pawl_str instance_id,
                             int64_t deadline_ns, struct pawl_error *err)
{
    return cancel(runtime, instance_id, PAWL_WORK_CANCEL_ONE, deadline_ns, err);
}

static int delete_claimed(struct runtime_task *task, struct pawl_str instance_id)
{
    struct runtime_run run;
    int status;

    pawl__runtime_run_init(&run, task);
    status = pawl__runtime_claim(&run, instance_id);
    if (status == PAWL_OK || status == PAWL_ECORRUPT) {
        struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &run.row};

        status = pawl__runtime_commit(task->runtime, &commit, pawl__runtime_commit_deadline(task),
                                      task->err);
    }
    pawl__runtime_run_release(&run);
    return status;
}

int pawl__runtime_delete(struct pawl_runtime *runtime, struct pawl_str instance_id,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_running running;
    struct runtime_task task;
    int status = PAWL_EBUSY;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    while (status == PAWL_EBUSY) {
        if (pawl__runtime_enter(runtime, &running, instance_id)) {
            status = delete_claimed(&task, instance_id);
            while (pawl__runtime_leave(runtime, &running))
                continue; /* what others found for it is gone with it */
        }
        if (status == PAWL_EBUSY && wait_busy(&task, instance_id) != PAWL_OK)
            status = PAWL_ETIMEDOUT;
    }
    pawl__runtime_task_release(&task, status);
    return status;
}

/* ---- looking ------------------------------------------------------------------------------- */

static int find_row(struct pawl_runtime *runtime, struct pawl_str instance_id, uint32_t flags,
                    struct pawl_arena *arena, struct pawl_instance_row *row, int64_t deadline_ns,
                    struct pawl_error *err)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = instance_id}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = flags,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(runtime->store, &query, arena, &rows, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__error_set(err, PAWL_ENOTFOUND, "there is no instance %.*s",
                               PAWL_STR_ARG(instance_id));
    *row = *(const struct pawl_instance_row *)rows.rows;
    return PAWL_OK;
}

int pawl__runtime_renew_outcome(struct runtime_task *task, struct pawl_outcome *outcome)
{
    struct pawl_instance_row row;
    struct pawl_condition condition;
    const struct pawl_query bookmarks = {.table = PAWL_TABLE_BOOKMARKS,
                                         .flags = PAWL_QUERY_COUNT,
                                         .conditions = &condition,
                                         .condition_count = 1};
    struct pawl_rows rows;
    struct pawl_str id;
    int status;

    if (!outcome || outcome->existed || outcome->sub_status != PAWL_SUB_EXECUTING)
        return PAWL_OK;
    id = pawl__str(outcome->instance_id);
    condition = (struct pawl_condition){
        .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"), .value = {.text = id}};
    status = find_row(task->runtime, id, PAWL_QUERY_BRIEF, &task->arena, &row, task->deadline_ns,
                      task->err);
    if (status == PAWL_ENOTFOUND)
        return PAWL_OK;
    if (status == PAWL_OK)
        status = pawl_store_find(task->runtime->store, &bookmarks, &task->arena, &rows,
                                 task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    outcome->sub_status = pawl__runtime_sub_status(row.sub_status);
    outcome->incident_count = row.incident_count;
    outcome->bookmark_count = (int64_t)rows.total;
    return PAWL_OK;
}

int pawl__runtime_show(struct pawl_runtime *runtime, struct pawl_str instance_id,
                       struct pawl_arena *arena, struct pawl_instance_row *row,
                       struct pawl_json *state, int64_t deadline_ns, struct pawl_error *err)
{
    int status =
        find_row(runtime, instance_id, state ? 0 : PAWL_QUERY_BRIEF, arena, row, deadline_ns, err);

    if (status != PAWL_OK || !state)
        return status;
    return pawl__runtime_json_read(runtime, arena, row->state, state, err);
}

/* The newest form of each record counts, in the place of its first. */
static int merge_records(struct pawl_arena *arena, struct pawl_map *places,
                         struct pawl_json *records, const struct pawl_json *page)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(page) && status == PAWL_OK; i++) {
        struct pawl_json *record = pawl__json_at(page, i);
        struct pawl_str id = runtime_text(record, "id");
        uintptr_t place = (uintptr_t)pawl__map_get(places, id);

        if (place > 0) {
            *pawl__json_at(records, (uint32_t)(place - 1)) = *record;
            continue;
        }
        status = pawl__json_append(arena, records, *record);
        place = pawl__json_len(records);
        if (status == PAWL_OK)
            status = pawl__map_put(places, id,
                                   (void *)place); // NOLINT(performance-no-int-to-ptr)
    }
    return status;
}

/*
 * Pages with log come by their sequences, which are not negative. Those with records alone have
 * negative numbers, the newest the lowest, and say before which sequence they come; the history of
 * an imported instance has the lowest of all and comes first.
 */
struct journal {
    struct pawl_runtime *runtime;
    struct pawl_arena *arena;
    struct pawl_map places;
    struct pawl_json *log;
    struct pawl_json *records;
    struct pawl_json aside; /* pages with records alone, oldest first */
    uint32_t aside_done;
};

static int add_page(struct journal *journal, const struct pawl_json *page)
{
    const struct pawl_json *log = pawl__json_get_text(page, "log");
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(log) && status == PAWL_OK; i++)
        status = pawl__json_append(journal->arena, journal->log, *pawl__json_at(log, i));
    if (status == PAWL_OK)
        status = merge_records(journal->arena, &journal->places, journal->records,
                               pawl__json_get_text(page, "records"));
    return status;
}

/* What comes before the log's record of this sequence. */
static int add_aside(struct journal *journal, int64_t sequence)
{
    int status = PAWL_OK;

    while (status == PAWL_OK && journal->aside_done < pawl__json_len(&journal->aside)) {
        const struct pawl_json *page = pawl__json_at(&journal->aside, journal->aside_done);
        int64_t before = 0;

        (void)pawl__json_to_int(pawl__json_get_text(page, "before"), &before);
        if (before > sequence)
            break;
        journal->aside_done++;
        status = add_page(journal, page);
    }
    return status;
}

static int read_page(struct journal *journal, const struct pawl_journal_row *row,
                     struct pawl_error *err)
{
    struct pawl_json page;
    int status = pawl__runtime_json_read(journal->runtime, journal->arena, row->data, &page, err);

    if (status != PAWL_OK)
        return status;
    if (row->first_sequence < 0 && row->first_sequence != INT64_MIN) {
        status = pawl__json_append(journal->arena, &journal->aside, page);
    } else {
        status = add_aside(journal, row->first_sequence < 0 ? -1 : row->first_sequence);
        if (status == PAWL_OK)
            status = add_page(journal, &page);
    }
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* One half of the pages: those with negative numbers from the highest, or the others. */
static int read_pages(struct journal *journal, struct pawl_str instance_id, bool negative,
                      int64_t deadline_ns, struct pawl_error *err)
{
    const uint32_t sequence = pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence");
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id"),
         .value = {.text = instance_id}},
        {.column = sequence, .compare = negative ? PAWL_LT : PAWL_GE, .value = {.integer = 0}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                               .flags = negative ? PAWL_QUERY_DESCENDING : 0,
                               .conditions = conditions,
                               .condition_count = 2,
                               .order = sequence,
                               .limit = PAGES};
    struct pawl_rows rows;
    int status;

    do {
        status = pawl_store_find(journal->runtime->store, &query, journal->arena, &rows,
                                 deadline_ns, err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
            status = read_page(journal, &((const struct pawl_journal_row *)rows.rows)[i], err);
        if (status == PAWL_OK && rows.count > 0)
            query.after = &((const struct pawl_journal_row *)rows.rows)[rows.count - 1];
    } while (status == PAWL_OK && rows.count == PAGES);
    return status;
}

int pawl__runtime_journal(struct pawl_runtime *runtime, struct pawl_str instance_id,
                          struct pawl_arena *arena, struct pawl_json *log,
                          struct pawl_json *records, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_hash_seed seed = {1, 2};
    struct journal journal = {.runtime = runtime,
                              .arena = arena,
                              .log = log,
                              .records = records,
                              .aside = pawl__json_array()};
    int status;

    *log = *records = pawl__json_array();
    pawl__map_init(&journal.places, arena->alloc, seed);
    status = read_pages(&journal, instance_id, true, deadline_ns, err);
    if (status == PAWL_OK)
        status = read_pages(&journal, instance_id, false, deadline_ns, err);
    if (status == PAWL_OK && add_aside(&journal, INT64_MAX) != PAWL_OK)
        status = pawl__error_code(err, pawl__arena_status(arena));
    pawl__map_release(&journal.places);
    return status;
}
