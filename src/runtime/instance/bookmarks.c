/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bookmarks of a commit: the rows of those that came since the last one, with their timers and
 * jobs, and the ends of those that went.
 *
 * A bookmark that came and went between two commits has no row, since several events can share a
 * commit (fold.c). But what was parked for it is still woken, as if its row had been there.
 */
#include "runtime/instance/making.h"

#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/node/routes.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* As the store has them. */
static const struct pawl_json *stored_bookmarks(const struct runtime_run *run)
{
    return pawl__json_get_text(run->fold.count > 0 ? &run->fold.state : &run->state, "bookmarks");
}

/* Bookmarks by their ids, so that telling new from old takes no time per pair. */
static int index_bookmarks(const struct pawl_json *bookmarks, struct pawl_map *ids)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && status == PAWL_OK; i++) {
        struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        status = pawl__map_put(ids, runtime_text(bookmark, "id"), bookmark);
    }
    return status;
}

void pawl__runtime_put_waker(struct runtime_changes *changes, struct pawl_str instance_id,
                             struct pawl_str bookmark_id, struct pawl_str name,
                             const struct pawl_json *payload, int64_t now_us)
{
    bool job = pawl__str_is(name, PAWL_BOOKMARK_BACKGROUND);
    int64_t due = pawl__bookmark_due(name, payload);
    const struct pawl_work_row row = {
        .id = bookmark_id,
        .kind = pawl__str(job ? PAWL_WORK_JOB : PAWL_WORK_TIMER),
        .instance_id = instance_id,
        .bookmark_id = bookmark_id,
        .part = pawl__runtime_part(instance_id),
        .created_us = now_us,
        .due_us = job ? runtime_at_once(now_us) : pawl__ticks_to_us(due),
        .expires_us = PAWL_TIME_NEVER,
    };

    if (job || due != INT64_MAX)
        pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
}

struct pawl_str pawl__making_job_request(struct making *m, struct pawl_str bookmark_id)
{
    const char *id = pawl__arena_printf(m->arena, "%.*s/request", PAWL_STR_ARG(bookmark_id));

    if (!id)
        pawl__making_fail(m, pawl__arena_status(m->arena));
    return pawl__str(id);
}

/* Those of one moment count on by microseconds: a stimulus resumes them in their order. */
static void put_bookmark(struct making *m, const struct pawl_bookmark *bookmark, uint32_t place)
{
    const struct pawl_bookmark_row row = {
        .id = bookmark->id,
        .instance_id = m->run->row.id,
        .name = bookmark->name,
        .hash = bookmark->hash,
        .activity_id = bookmark->activity_id,
        .activity_instance_id = bookmark->activity_instance_id,
        .correlation_id = m->row.correlation_id,
        .created_us = pawl__ticks_to_us(bookmark->created_at) + place,
        .payload = pawl__making_text(m, &bookmark->payload),
        .metadata = pawl__making_text(m, &bookmark->metadata),
    };

    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &row);
}

static void drop_bookmark(struct making *m, const struct pawl_json *bookmark)
{
    const struct pawl_bookmark_row row = {.id = runtime_text(bookmark, "id")};
    struct pawl_str name = runtime_text(bookmark, "name");
    bool job = pawl__str_is(name, PAWL_BOOKMARK_BACKGROUND);

    pawl__runtime_change(&m->changes, PAWL_CHANGE_DELETE, PAWL_TABLE_BOOKMARKS, &row);
    if (job)
        pawl__runtime_delete_work(&m->changes, pawl__making_job_request(m, row.id));
    if (job || pawl__bookmark_due(name, pawl__json_get_text(bookmark, "payload")) != INT64_MAX)
        pawl__runtime_delete_work(&m->changes, row.id);
}

/* A correlation id that changed is that of all bookmarks. */
static bool is_recorrelated(const struct making *m)
{
    return !pawl__str_equal(m->run->row.correlation_id, m->row.correlation_id);
}

/* What was sent to it while it had ended is gone, timers too: they come back with it. What its
 * children and jobs told was kept. */
bool pawl__making_reopens(const struct making *m)
{
    return pawl__str_is(m->run->row.status, "Finished") && !pawl__str_is(m->row.status, "Finished");
}

/* ---- mail that was kept ---------------------------------------------------------------------- */

#define PAGE 500

/* Makes due again what was kept. *jobs: the bookmarks of jobs whose result is there, kept or on its
 * way to be delivered. */
static int wake_page(struct making *m, const struct pawl_rows *rows, struct pawl_map *jobs)
{
    const struct pawl_work_row *work = rows->rows;
    int status = PAWL_OK;

    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++) {
        struct pawl_work_row row = work[i];
        bool is_job = pawl__str_is(row.kind, PAWL_WORK_JOB);

        if (is_job && (row.due_us == PAWL_TIME_NEVER || row.payload.len > 0))
            status = pawl__map_put(jobs, row.bookmark_id, m);
        if (row.due_us != PAWL_TIME_NEVER || !(is_job || pawl__str_is(row.kind, PAWL_WORK_CHILD)))
            continue;
        row.due_us = runtime_at_once(m->now_us);
        pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
    }
    return status;
}

/* What children and jobs told while it had ended (absorb() of run.c). Nobody else writes it: the
 * instance is claimed. */
static int wake_kept(struct making *m, struct pawl_map *jobs)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_WORK, "instance_id"),
                                             .value = {.text = m->run->row.id}};
    struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1, .limit = PAGE};
    struct runtime_task *task = m->run->task;
    struct pawl_rows rows;
    int status;

    do {
        status = pawl_store_find(m->run->runtime->store, &query, m->arena, &rows, task->deadline_ns,
                                 task->err);
        if (status == PAWL_OK)
            status = wake_page(m, &rows, jobs);
        if (status == PAWL_OK && rows.count > 0)
            query.after = (const struct pawl_work_row *)rows.rows + (rows.count - 1);
    } while (status == PAWL_OK && rows.count == PAGE);
    return status;
}

struct begun {
    struct making *making;
    struct pawl_map *jobs;
};

/* It is on its way, and will tell. */
static int note_request(void *ctx, const struct pawl_work_row *request)
{
    struct begun *begun = ctx;

    return request->bookmark_id.len > 0
               ? pawl__map_put(begun->jobs, request->bookmark_id, begun->making)
               : PAWL_OK;
}

/*
 * The jobs that do not begin again with their instance: their request is on its way, or they told
 * their result. A response replaces the one by the other: checking in this order cannot
 * miss it.
 */
static int find_begun(struct making *m, struct pawl_map *jobs)
{
    struct begun begun = {m, jobs};
    int status = pawl__runtime_each_named(m->run->task, m->arena, PAWL_WORK_HTTP, m->run->row.id,
                                          note_request, &begun);

    return status == PAWL_OK ? wake_kept(m, jobs) : status;
}

/* ---- within a fold --------------------------------------------------------------------------- */

/* The store wakes what waits for a row that is put, also when the same commit deletes it. */
static void wake_only(struct making *m, const struct pawl_bookmark_row *row)
{
    pawl__runtime_change(&m->changes, PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, row);
    pawl__runtime_change(&m->changes, PAWL_CHANGE_DELETE, PAWL_TABLE_BOOKMARKS, row);
}

static void forget_noted(struct runtime_fold *fold, struct pawl_str hash)
{
    for (size_t i = 0; i < fold->noted_count; i++)
        if (pawl__str_equal(fold->noted[i].hash, hash))
            fold->noted[i--] = fold->noted[--fold->noted_count];
}

static void note_bookmark(struct making *m, const struct pawl_bookmark *bookmark)
{
    struct runtime_fold *fold = &m->run->fold;
    struct pawl_bookmark_row row = {
        .id = pawl__arena_str(m->arena, bookmark->id),
        .instance_id = m->run->row.id,
        .name = pawl__arena_str(m->arena, bookmark->name),
        .hash = pawl__arena_str(m->arena, bookmark->hash),
        .activity_id = pawl__arena_str(m->arena, bookmark->activity_id),
        .activity_instance_id = pawl__arena_str(m->arena, bookmark->activity_instance_id),
        .correlation_id = pawl__arena_str(m->arena, m->run->row.correlation_id),
        .created_us = pawl__ticks_to_us(bookmark->created_at),
        .payload = pawl__str(""),
        .metadata = pawl__str(""),
    };

    pawl__making_fail(m, m->arena->status);
    if (m->changes.status != PAWL_OK)
        return;
    if (fold->noted_count == FOLD_NOTES_MAX)
        wake_only(m, &row);
    else
        fold->noted[fold->noted_count++] = row;
}

/* One of each hash: whatever waits for one waits for all. */
void pawl__making_note_bookmarks(struct making *m)
{
    const struct pawl_hash_seed seed = {(uint64_t)m->run->row.revision, 0x6e6f7465};
    struct pawl_map before;
    int status;

    pawl__map_init(&before, &m->run->runtime->env->alloc, seed);
    status = index_bookmarks(pawl__json_get_text(&m->run->state, "bookmarks"), &before);
    for (uint32_t i = 0; i < m->batch.bookmark_count && status == PAWL_OK; i++) {
        const struct pawl_bookmark *bookmark = &m->batch.bookmarks[i];

        if (bookmark->hash.len == 0 || pawl__map_has(&before, bookmark->id))
            continue;
        forget_noted(&m->run->fold, bookmark->hash);
        note_bookmark(m, bookmark);
    }
    pawl__making_fail(m, status);
    pawl__map_release(&before);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pawl__making_bookmarks(struct making *m)
{
    const struct pawl_hash_seed seed = {(uint64_t)m->run->row.revision, 0x626f6f6b};
    struct pawl_map_entry *entry;
    struct pawl_map stored, present, jobs;
    int status;

    pawl__map_init(&stored, &m->run->runtime->env->alloc, seed);
    pawl__map_init(&present, &m->run->runtime->env->alloc, seed);
    pawl__map_init(&jobs, &m->run->runtime->env->alloc, seed);
    status = index_bookmarks(stored_bookmarks(m->run), &stored);
    if (status == PAWL_OK && pawl__making_reopens(m))
        status = find_begun(m, &jobs);
    for (uint32_t i = 0; i < m->batch.bookmark_count && status == PAWL_OK; i++) {
        const struct pawl_bookmark *bookmark = &m->batch.bookmarks[i];

        status = pawl__map_put(&present, bookmark->id, m);
        if (!pawl__map_has(&stored, bookmark->id) || is_recorrelated(m) ||
            pawl__making_reopens(m)) {
            put_bookmark(m, bookmark, i);
            pawl__runtime_put_route(m->run->runtime, &m->changes, bookmark->name,
                                    &bookmark->payload, m->now_us);
            forget_noted(&m->run->fold, bookmark->hash);
        }
        if ((!pawl__map_has(&stored, bookmark->id) || pawl__making_reopens(m)) &&
            !pawl__map_has(&jobs, bookmark->id))
            pawl__runtime_put_waker(&m->changes, m->run->row.id, bookmark->id, bookmark->name,
                                    &bookmark->payload, m->now_us);
    }
    if (status == PAWL_OK) {
        PAWL_MAP_FOR_EACH (entry, &stored) {
            if (!pawl__map_has(&present, entry->key))
                drop_bookmark(m, entry->value);
        }
    }
    for (size_t i = 0; i < m->run->fold.noted_count; i++)
        wake_only(m, &m->run->fold.noted[i]);
    pawl__making_fail(m, status);
    pawl__map_release(&jobs);
    pawl__map_release(&present);
    pawl__map_release(&stored);
}
