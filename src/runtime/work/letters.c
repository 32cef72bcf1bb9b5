/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: work that was given up, until a person replays or removes it.
 *
 * A letter is replayed once. The commit that does it inserts the work anew, marks the letter and
 * makes a reservation in the letter's name, so of two at once one is refused; removing leaves such
 * a reservation too, so that nobody who read the letter before brings it back. What is marked stays
 * refused by its mark; the reservation only has to outlive calls that are under way.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "runtime/audit.h"
#include "runtime/instance/private.h"
#include "runtime/task.h"

#include <stdio.h>

/* How long the reservation of a letter stays: a day. */
#define REPLAYED_US INT64_C(86400000000)

static int find_letter(struct runtime_task *task, struct pawl_str id,
                       struct pawl_dead_letter_row *out)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_DEAD_LETTERS, "id"), .value = {.text = id}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_DEAD_LETTERS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__error_set(task->err, PAWL_ENOTFOUND, "there is no dead letter %.*s",
                               PAWL_STR_ARG(id));
    *out = *(const struct pawl_dead_letter_row *)rows.rows;
    return PAWL_OK;
}

static int make_reservation(struct runtime_task *task, struct pawl_str id, struct pawl_str value,
                            int64_t now_us, struct pawl_reservation_row *out)
{
    *out = (struct pawl_reservation_row){
        .key = pawl__str(pawl__arena_printf(&task->arena, "replay:%.*s", PAWL_STR_ARG(id))),
        .value = value,
        .expires_us = now_us + REPLAYED_US,
    };
    return out->key.len > 0 ? PAWL_OK
                            : pawl__error_code(task->err, pawl__arena_status(&task->arena));
}

/* ---- replaying ----------------------------------------------------------------------------- */

/* The instance that the work is mail of; "": none. What is no mail says whose it is all the same.
 */
static struct pawl_str receiver(const struct pawl_dead_letter_row *letter)
{
    return pawl__runtime_is_named_after_instance(letter->kind) ? pawl__str("")
                                                               : letter->instance_id;
}

/* Mail of an instance that is gone would be dropped without a trace. */
static int check_receiver(struct runtime_task *task, const struct pawl_dead_letter_row *letter)
{
    struct pawl_instance_row row;
    int status;

    if (receiver(letter).len == 0)
        return PAWL_OK;
    status = pawl__runtime_show(task->runtime, letter->instance_id, &task->arena, &row, NULL,
                                task->deadline_ns, task->err);
    if (status == PAWL_ENOTFOUND)
        return pawl__error_set(task->err, PAWL_ECONFLICT,
                               "dead letter %.*s is for instance %.*s, which is gone: remove it",
                               PAWL_STR_ARG(letter->id), PAWL_STR_ARG(letter->instance_id));
    return status;
}

static int check_letter(struct runtime_task *task, const struct pawl_dead_letter_row *letter)
{
    if (letter->replayed_us != 0)
        return pawl__error_set(task->err, PAWL_ECONFLICT,
                               "dead letter %.*s was replayed already, as work %.*s",
                               PAWL_STR_ARG(letter->id), PAWL_STR_ARG(letter->replayed_id));
    if (!letter->can_replay)
        return pawl__error_set(task->err, PAWL_ECONFLICT, "dead letter %.*s cannot be replayed",
                               PAWL_STR_ARG(letter->id));
    return check_receiver(task, letter);
}

static struct pawl_work_row work_of(const struct pawl_dead_letter_row *letter, struct pawl_str id,
                                    int64_t now_us)
{
    struct pawl_str to = receiver(letter), by = to.len > 0 ? to : letter->hash;

    return (struct pawl_work_row){
        .id = id,
        .kind = letter->kind,
        .instance_id = to,
        .bookmark_id = letter->bookmark_id,
        .hash = letter->hash,
        .correlation_id = letter->correlation_id,
        .activity_instance_id = letter->activity_instance_id,
        .name = letter->name,
        .part = pawl__runtime_part(by.len > 0 ? by : id),
        .created_us = now_us,
        .due_us = now_us,
        .expires_us = PAWL_TIME_NEVER,
        .payload = letter->payload,
    };
}

/*
 * Of a tick that an earlier version gave up: the start that it would have made. Ticks are made by
 * ticks, and where a definition is indexed, so that a trigger has one at a time.
 */
static int start_of_tick(struct runtime_task *task, const struct pawl_dead_letter_row *letter,
                         int64_t now_us, struct pawl_work_row *out)
{
    int status = pawl__runtime_start_of_tick(task, letter->name, now_us, out);

    if (status == PAWL_ENOTFOUND)
        return pawl__error_set(task->err, PAWL_ECONFLICT,
                               "dead letter %.*s is of a trigger that is gone: remove it",
                               PAWL_STR_ARG(letter->id));
    return status;
}

/* The reservation is there: by this very call, whose first answer was lost, or by another. */
static int was_reserved(struct runtime_task *task, struct pawl_str id,
                        const struct pawl_reservation_row *ours)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"), .value = {.text = ours->key}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_RESERVATIONS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    if (status != PAWL_OK)
        return status;
    if (rows.count > 0 &&
        pawl__str_equal(((const struct pawl_reservation_row *)rows.rows)->value, ours->value))
        return PAWL_OK;
    return pawl__error_set(task->err, PAWL_ECONFLICT,
                           "dead letter %.*s was replayed or removed by somebody else just now",
                           PAWL_STR_ARG(id));
}

static int replay(struct runtime_task *task, struct pawl_str letter_id,
                  char out[PAWL_UUID_HEX_SIZE])
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    struct pawl_str work_id = pawl__runtime_new_id(task->runtime, &task->arena);
    struct pawl_reservation_row reservation;
    struct pawl_dead_letter_row letter;
    struct pawl_work_row work;
    int64_t now_us;
    int status = find_letter(task, letter_id, &letter);

    if (status == PAWL_OK)
        status = check_letter(task, &letter);
    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);
    if (status == PAWL_OK)
        status = make_reservation(task, letter_id, work_id, now_us, &reservation);
    if (status != PAWL_OK)
        return status;
    if (!work_id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    if (pawl__str_is(letter.kind, PAWL_WORK_TICK)) {
        status = start_of_tick(task, &letter, now_us, &work);
        if (status != PAWL_OK)
            return status;
        work.id = work_id;
    } else {
        work = work_of(&letter, work_id, now_us);
    }
    letter.replayed_us = now_us;
    letter.replayed_id = work_id;
    pawl__runtime_change(&changes, PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &reservation);
    pawl__runtime_change(&changes, PAWL_CHANGE_PUT, PAWL_TABLE_DEAD_LETTERS, &letter);
    pawl__runtime_change(&changes, PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work);
    if (changes.status != PAWL_OK)
        return pawl__error_code(task->err, changes.status);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    status = pawl__runtime_commit_by(task, &commit, task->deadline_ns, task->err);
    if (status == PAWL_EEXISTS)
        status = was_reserved(task, letter_id, &reservation);
    if (status == PAWL_OK && out)
        (void)snprintf(out, PAWL_UUID_HEX_SIZE, "%.*s", PAWL_STR_ARG(work_id));
    return status;
}

int pawl__runtime_replay_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                            struct pawl_str letter_id, char work_id[PAWL_UUID_HEX_SIZE],
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by = by;
    status = replay(&task, letter_id, work_id);
    pawl__runtime_task_release(&task, status);
    return status;
}

int pawl__runtime_replay(struct pawl_runtime *runtime, struct pawl_str letter_id,
                         char work_id[PAWL_UUID_HEX_SIZE], int64_t deadline_ns,
                         struct pawl_error *err)
{
    return pawl__runtime_replay_by(runtime, NULL, letter_id, work_id, deadline_ns, err);
}

/* ---- removing ------------------------------------------------------------------------------ */

static int drop(struct runtime_task *task, struct pawl_str letter_id)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    struct pawl_reservation_row reservation;
    struct pawl_dead_letter_row letter;
    int64_t now_us;
    int status = find_letter(task, letter_id, &letter);

    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);
    if (status == PAWL_OK)
        status = make_reservation(task, letter_id, pawl__str("removed"), now_us, &reservation);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_change(&changes, PAWL_CHANGE_PUT, PAWL_TABLE_RESERVATIONS, &reservation);
    pawl__runtime_change(&changes, PAWL_CHANGE_DELETE, PAWL_TABLE_DEAD_LETTERS, &letter);
    if (changes.status != PAWL_OK)
        return pawl__error_code(task->err, changes.status);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    return pawl__runtime_commit_by(task, &commit, task->deadline_ns, task->err);
}

int pawl__runtime_drop_letter(struct pawl_runtime *runtime, struct pawl_str letter_id,
                              int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_drop_letter_by(runtime, NULL, letter_id, deadline_ns, err);
}

int pawl__runtime_drop_letter_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                 struct pawl_str letter_id, int64_t deadline_ns,
                                 struct pawl_error *err)
{
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by = by;
    status = drop(&task, letter_id);
    pawl__runtime_task_release(&task, status);
    return status;
}
