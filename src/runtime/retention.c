/* SPDX-License-Identifier: Apache-2.0 */
/* Retention; see retention.h. */
#include "runtime/retention.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/runtime_private.h"

#define BATCH_DEFAULT 1000u
/* Rows of one commit. */
#define ROWS_PER_COMMIT 100u
/* Every pass that deletes reservations moves it: of two that found the same row, one acts. */
#define STAMP_RETENTION "retention"

struct retaining {
    struct pawl_runtime *runtime;
    const struct pawl_retention_policy *policy;
    struct pawl_retained *out;
    struct pawl_arena arena; /* of one find */
    uint32_t batch;
    int64_t now_us;
    int64_t deadline_ns;
    struct pawl_error *err;
};

static int find(struct retaining *r, enum pawl_table table, const struct pawl_condition *conditions,
                size_t count, const char *order, struct pawl_rows *rows)
{
    const struct pawl_query query = {
        .table = table,
        .flags = r->policy->dry_run ? PAWL_QUERY_COUNT : PAWL_QUERY_BRIEF,
        .conditions = conditions,
        .condition_count = count,
        .order = pawl_table_column(table, order),
        .limit = r->batch,
    };
    int status;

    pawl__arena_reset(&r->arena);
    *rows = (struct pawl_rows){0};
    status = pawl_store_find(r->runtime->store, &query, &r->arena, rows, r->deadline_ns, r->err);
    if (status == PAWL_OK && rows->count == r->batch)
        r->out->more = true;
    return status;
}

/* ---- instances ----------------------------------------------------------------------------- */

/* Under the claim: whether it still is what was found. */
static int drop_claimed(struct retaining *r, struct runtime_task *task, struct pawl_str id,
                        struct pawl_str sub_status, int64_t before_us, bool *dropped)
{
    struct pawl_guard_pass pass;
    struct runtime_run run;
    int status = pawl__runtime_pass(task, id, PAWL_GUARD_TRY, &pass);

    if (status != PAWL_OK)
        return status;
    pawl__runtime_run_init(&run, task);
    run.pass = pass;
    status = pawl__runtime_claim(&run, id);
    if (status == PAWL_OK || status == PAWL_ECORRUPT) {
        struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &run.row};

        if (!pawl__str_equal(run.row.sub_status, sub_status) || run.row.finished_us == 0 ||
            run.row.finished_us >= before_us)
            commit = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                          .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE,
                                          .instance = &run.row};
        *dropped = commit.kind == PAWL_COMMIT_DELETE;
        status = pawl__runtime_commit(r->runtime, &commit, r->deadline_ns, r->err);
    }
    pawl__runtime_run_release(&run);
    pawl__runtime_unpass(task, id, pass);
    return status;
}

static int drop_instance(struct retaining *r, struct pawl_str id, struct pawl_str sub_status,
                         int64_t before_us, uint64_t *count)
{
    struct runtime_running running;
    struct runtime_task task;
    bool dropped = false;
    int status;

    if (!pawl__runtime_enter(r->runtime, &running, id))
        return PAWL_OK; /* somebody here has it in hand */
    pawl__runtime_task_init(&task, r->runtime, r->deadline_ns, r->err);
    status = drop_claimed(r, &task, id, sub_status, before_us, &dropped);
    pawl__runtime_task_release(&task, status);
    while (pawl__runtime_leave(r->runtime, &running))
        continue;
    if (status == PAWL_OK && dropped)
        (*count)++;
    /* Gone already, or another node's. */
    return status == PAWL_ENOTFOUND || status == PAWL_EBUSY || status == PAWL_ECONFLICT ? PAWL_OK
                                                                                        : status;
}

static int drop_instances(struct retaining *r, const char *sub_status, int64_t age_us,
                          uint64_t *count)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
         .value = {.text = pawl__str("Finished")}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "sub_status"),
         .value = {.text = pawl__str(sub_status)}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "finished_us"),
         .compare = PAWL_LT,
         .value = {.integer = r->now_us - age_us}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "finished_us"),
         .compare = PAWL_GT,
         .value = {.integer = 0}},
    };
    struct pawl_rows rows;
    int status;

    if (age_us == 0)
        return PAWL_OK;
    status = find(r, PAWL_TABLE_INSTANCES, conditions, sizeof conditions / sizeof conditions[0],
                  "finished_us", &rows);
    if (status == PAWL_OK && r->policy->dry_run)
        *count = rows.total;
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        status = drop_instance(r, ((const struct pawl_instance_row *)rows.rows)[i].id,
                               pawl__str(sub_status), r->now_us - age_us, count);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Deletes rows by their keys, a hundred per commit, each guarded by `stamp` if there is one. */
static int drop_rows(struct retaining *r, enum pawl_table table, const struct pawl_rows *rows,
                     const char *stamp, int64_t stamp_value, uint64_t *count)
{
    size_t row_size = pawl_table_info(table)->row_size;
    int status = PAWL_OK;

    for (size_t at = 0; at < rows->count && status == PAWL_OK;) {
        struct runtime_changes changes = {.arena = &r->arena};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .stamp = pawl__str(stamp), .stamp_value = stamp_value++};

        for (; at < rows->count && changes.count < ROWS_PER_COMMIT && changes.status == PAWL_OK;
             at++)
            pawl__runtime_change(&changes, PAWL_CHANGE_DELETE, table,
                                 (const char *)rows->rows + at * row_size);
        if (changes.status != PAWL_OK)
            return pawl__error_code(r->err, changes.status);
        commit.changes = changes.items;
        commit.change_count = changes.count;
        status = pawl__runtime_commit(r->runtime, &commit, r->deadline_ns, r->err);
        if (status == PAWL_OK)
            *count += changes.count;
    }
    return status;
}

static int drop_dead_letters(struct retaining *r)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_DEAD_LETTERS, "dead_us"),
        .compare = PAWL_LT,
        .value = {.integer = r->now_us - r->policy->dead_letters_us}};
    struct pawl_rows rows;
    int status;

    if (r->policy->dead_letters_us == 0)
        return PAWL_OK;
    status = find(r, PAWL_TABLE_DEAD_LETTERS, &condition, 1, "dead_us", &rows);
    if (status == PAWL_OK && r->policy->dry_run)
        r->out->dead_letters = rows.total;
    return status == PAWL_OK
               ? drop_rows(r, PAWL_TABLE_DEAD_LETTERS, &rows, "", 0, &r->out->dead_letters)
               : status;
}

static int read_stamp(struct retaining *r, int64_t *value)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_STAMPS, "name"),
                                             .value = {.text = pawl__str(STAMP_RETENTION)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_STAMPS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status =
        pawl_store_find(r->runtime->store, &query, &r->arena, &rows, r->deadline_ns, r->err);

    if (status == PAWL_OK)
        *value = rows.count > 0 ? ((const struct pawl_stamp_row *)rows.rows)->value : 0;
    return status;
}

/*
 * A key that has expired stops its next use until it is gone; then the key may be there again. So
 * one that was found is deleted only if nobody has deleted any since.
 */
static int drop_reservations(struct retaining *r)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_RESERVATIONS, "expires_us"),
        .compare = PAWL_LE,
        .value = {.integer = r->now_us}};
    struct pawl_rows rows;
    int64_t stamp = 0;
    int status = read_stamp(r, &stamp);

    if (status == PAWL_OK)
        status = find(r, PAWL_TABLE_RESERVATIONS, &condition, 1, "expires_us", &rows);
    if (status == PAWL_OK && r->policy->dry_run)
        r->out->reservations = rows.total;
    if (status == PAWL_OK)
        status = drop_rows(r, PAWL_TABLE_RESERVATIONS, &rows, STAMP_RETENTION, stamp,
                           &r->out->reservations);
    return status == PAWL_ECONFLICT ? PAWL_OK : status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void tell(const struct retaining *r)
{
    const struct pawl_retained *out = r->out;

    if (!r->runtime->log || r->policy->dry_run ||
        out->finished + out->cancelled + out->faulted + out->dead_letters + out->reservations == 0)
        return;
    pawl_log(r->runtime->log, PAWL_LOG_INFO, "retention dropped",
             pawl_log_uint("finished", out->finished), pawl_log_uint("cancelled", out->cancelled),
             pawl_log_uint("faulted", out->faulted),
             pawl_log_uint("dead_letters", out->dead_letters),
             pawl_log_uint("reservations", out->reservations));
}

int pawl__runtime_retain(struct pawl_runtime *runtime, const struct pawl_retention_policy *policy,
                         struct pawl_retained *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct retaining r = {.runtime = runtime,
                          .policy = policy,
                          .out = out,
                          .batch = policy->batch ? policy->batch : BATCH_DEFAULT,
                          .deadline_ns = deadline_ns,
                          .err = err};
    int status;

    *out = (struct pawl_retained){0};
    if (r.batch > PAWL_STORE_ROWS_MAX)
        r.batch = PAWL_STORE_ROWS_MAX;
    status = pawl__runtime_may_begin(runtime, err);
    if (status == PAWL_OK)
        status = pawl__runtime_clock(runtime, &r.now_us, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&r.arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    status = drop_instances(&r, "Finished", policy->finished_us, &out->finished);
    if (status == PAWL_OK)
        status = drop_instances(&r, "Cancelled", policy->cancelled_us, &out->cancelled);
    if (status == PAWL_OK)
        status = drop_instances(&r, "Faulted", policy->faulted_us, &out->faulted);
    if (status == PAWL_OK)
        status = drop_dead_letters(&r);
    if (status == PAWL_OK)
        status = drop_reservations(&r);
    tell(&r);
    pawl__arena_release(&r.arena);
    return status;
}
