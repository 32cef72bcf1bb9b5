/* SPDX-License-Identifier: Apache-2.0 */
/* Retention; see retention.h. */
#include "runtime/node/retention.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/node/private.h"
#include "runtime/node/routes.h"
#include "runtime/task.h"

#define BATCH_DEFAULT 1000u
/* Rows of one commit, and instances of one apply(). */
#define ROWS_PER_COMMIT 100u
#define GROUP_MAX 32u
/* Between two of those. */
#define PAUSE_NS_MAX INT64_C(20000000)
/* Every pass that deletes reservations moves it: of two that found the same row, one acts. */
#define STAMP_RETENTION "retention"

struct retaining {
    struct pawl_runtime *runtime;
    const struct pawl_retention_policy *policy;
    struct pawl_retained *out;
    struct pawl_arena arena; /* of one find */
    uint32_t batch;
    int64_t now_us;
    bool is_miscounted; /* the record counts deletions that were dropped */
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

/* What is dropped together: one claim, one apply(). Small, so that others are not held up. */
struct group {
    struct runtime_task task;
    struct pawl_str ids[GROUP_MAX];
    struct pawl_guard_pass passes[GROUP_MAX];
    struct runtime_running running[GROUP_MAX];
    struct pawl_claim claims[GROUP_MAX];
    struct pawl_commit commits[GROUP_MAX];
    struct pawl_commit *list[GROUP_MAX];
    struct pawl_change changes[GROUP_MAX];
    struct pawl_audit_row records[GROUP_MAX];
    size_t count;
};

/* Under the claim: whether it still is what was found. Else it is let go of. */
static void check_claimed(const struct pawl_claim *claim, struct pawl_str sub_status,
                          int64_t before_us, struct pawl_commit *commit)
{
    const struct pawl_instance_row *row = &claim->row;
    bool goes = pawl__str_equal(row->sub_status, sub_status) && row->finished_us > 0 &&
                row->finished_us < before_us;

    *commit = (struct pawl_commit){
        .kind = goes ? PAWL_COMMIT_DELETE : PAWL_COMMIT_ADVANCE,
        .flags = goes ? 0 : PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE,
        .instance = row,
    };
}

/* Each deletion of the group has the record with it, which counts as if those before it took
 * effect; settle_count() puts it right. */
static void record(struct retaining *r, struct group *group, size_t claimed)
{
    struct pawl_audit counting;

    if (!r->policy->by)
        return;
    counting = *r->policy->by;
    for (size_t i = 0; i < claimed; i++) {
        if (group->commits[i].kind != PAWL_COMMIT_DELETE)
            continue;
        group->changes[i] = pawl__audit_change(&counting, 1, r->now_us, &group->records[i]);
        group->commits[i].changes = &group->changes[i];
        group->commits[i].change_count = 1;
        pawl__audit_settle(&counting, &group->records[i], PAWL_OK);
    }
}

static void settle_record(struct retaining *r, const struct pawl_commit *commit)
{
    struct pawl_audit_row row;

    if (!r->policy->by || commit->change_count == 0)
        return;
    (void)pawl__audit_change(r->policy->by, 1, r->now_us, &row);
    pawl__audit_settle(r->policy->by, &row, commit->status);
    r->is_miscounted |= commit->status != PAWL_OK;
}

/* Those that are gone already, or another node's, are left; also when that shows only now. */
static int drop_claimed(struct retaining *r, struct group *group, struct pawl_str sub_status,
                        int64_t before_us, uint64_t *count)
{
    size_t claimed = 0;
    int status;

    for (size_t i = 0; i < group->count; i++) {
        if (group->claims[i].status != PAWL_OK)
            continue;
        check_claimed(&group->claims[i], sub_status, before_us, &group->commits[claimed]);
        group->list[claimed] = &group->commits[claimed];
        claimed++;
    }
    if (claimed == 0)
        return PAWL_OK;
    record(r, group, claimed);
    status = pawl_store_apply(r->runtime->store, group->list, claimed, r->deadline_ns, r->err);
    for (size_t i = 0; i < claimed && status == PAWL_OK; i++) {
        const struct pawl_commit *commit = &group->commits[i];

        settle_record(r, commit);
        if (commit->status == PAWL_OK)
            *count += commit->kind == PAWL_COMMIT_DELETE;
        else if (commit->status != PAWL_ECONFLICT && commit->status != PAWL_ENOTFOUND)
            status = commit->error.code
                         ? pawl__error_set(r->err, commit->status, "%s", commit->error.msg)
                         : pawl__error_code(r->err, commit->status);
    }
    return status;
}

/* As long as that took: a file has one writer at a time, and those who wait must find a gap. */
static int leave_room(struct retaining *r, int64_t begun_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(r->runtime->env), pause_ns = now_ns - begun_ns;

    if (pause_ns > PAUSE_NS_MAX)
        pause_ns = PAUSE_NS_MAX;
    if (pause_ns <= 0)
        return PAWL_OK;
    return pawl_env_sleep_until(r->runtime->env, now_ns + pause_ns);
}

static void leave_hand(struct retaining *r, struct runtime_running *running)
{
    while (pawl__runtime_leave(r->runtime, running))
        continue;
}

static void release_group(struct retaining *r, struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        pawl__runtime_unpass(&group->task, group->ids[i], group->passes[i]);
        leave_hand(r, &group->running[i]);
    }
    group->count = 0;
}

/* What somebody has in hand, here or elsewhere, is left. */
static int add_to_group(struct retaining *r, struct group *group, struct pawl_str id)
{
    size_t at = group->count;
    int status;

    PAWL_ASSERT(at < GROUP_MAX);
    if (pawl__runtime_enter(r->runtime, &group->running[at], id, group->task.deadline_ns) !=
        PAWL_OK)
        return PAWL_OK;
    status = pawl__runtime_pass(&group->task, id, PAWL_GUARD_TRY, &group->passes[at]);
    if (status == PAWL_OK) {
        group->ids[at] = id;
        group->count++;
        return PAWL_OK;
    }
    leave_hand(r, &group->running[at]);
    return status == PAWL_EBUSY || status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

static int drop_group(struct retaining *r, struct group *group, struct pawl_str sub_status,
                      int64_t before_us, uint64_t *count)
{
    int64_t begun_ns = pawl_env_monotonic_ns(r->runtime->env);
    struct pawl_arena arena;
    int64_t now_us;
    int status = PAWL_OK;

    if (group->count == 0)
        return PAWL_OK;
    pawl__arena_init(&arena, &r->runtime->env->alloc, RUNTIME_BYTES_MAX);
    for (size_t i = 0; i < group->count; i++) {
        group->claims[i] = (struct pawl_claim){.id = group->ids[i]};
        if (group->passes[i].ticket.key != 0)
            group->claims[i].ticket = &group->passes[i].ticket;
    }
    status = pawl__runtime_store_claim(r->runtime, pawl__keeper_incarnation(r->runtime->keeper),
                                       group->claims, group->count, &arena, &now_us, r->deadline_ns,
                                       r->err);
    for (size_t i = 0; i < group->count && status == PAWL_OK; i++)
        pawl__guard_claimed(r->runtime->options.guard, group->ids[i], group->passes[i],
                            group->claims[i].status);
    if (status == PAWL_OK)
        status = drop_claimed(r, group, sub_status, before_us, count);
    pawl__arena_release(&arena);
    release_group(r, group);
    if (status == PAWL_OK)
        status = leave_room(r, begun_ns);
    return status;
}

/* In the order of their beginning, which an index has; none that began later can be old enough. */
static int find_ended(struct retaining *r, const char *sub_status, int64_t before_us,
                      struct pawl_rows *rows)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "sub_status"),
         .value = {.text = pawl__str(sub_status)}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
         .compare = PAWL_LT,
         .value = {.integer = before_us}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "finished_us"),
         .compare = PAWL_LT,
         .value = {.integer = before_us}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "finished_us"),
         .compare = PAWL_GT,
         .value = {.integer = 0}},
    };

    return find(r, PAWL_TABLE_INSTANCES, conditions, sizeof conditions / sizeof conditions[0],
                "created_us", rows);
}

static int drop_instances(struct retaining *r, const char *sub_status, int64_t age_us,
                          uint64_t *count)
{
    /* With locks, one at a time: a node must not hold many for this. */
    const size_t most = r->runtime->options.guard ? 1 : GROUP_MAX;
    int64_t before_us = r->now_us - age_us;
    struct group group = {.count = 0};
    struct pawl_rows rows;
    int status;

    if (age_us == 0)
        return PAWL_OK;
    pawl__runtime_task_init(&group.task, r->runtime, r->deadline_ns, r->err);
    status = find_ended(r, sub_status, before_us, &rows);
    if (status == PAWL_OK && r->policy->dry_run)
        *count = rows.total;
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        status = add_to_group(r, &group, ((const struct pawl_instance_row *)rows.rows)[i].id);
        if (status == PAWL_OK && group.count == most)
            status = drop_group(r, &group, pawl__str(sub_status), before_us, count);
    }
    if (status == PAWL_OK)
        status = drop_group(r, &group, pawl__str(sub_status), before_us, count);
    else
        release_group(r, &group);
    pawl__runtime_task_release(&group.task, status);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Deletes rows by their keys, a hundred per commit, each guarded by `stamp` if there is one. */
static int drop_rows(struct retaining *r, enum pawl_table table, const struct pawl_rows *rows,
                     const char *stamp, int64_t stamp_value, uint64_t *count)
{
    struct pawl_audit *by = table == PAWL_TABLE_DEAD_LETTERS ? r->policy->by : NULL;
    size_t row_size = pawl_table_info(table)->row_size;
    int status = PAWL_OK;

    for (size_t at = 0; at < rows->count && status == PAWL_OK;) {
        struct runtime_changes changes = {.arena = &r->arena};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .stamp = pawl__str(stamp), .stamp_value = stamp_value++};
        struct pawl_audit_row record;
        size_t from = at;

        for (; at < rows->count && changes.count < ROWS_PER_COMMIT && changes.status == PAWL_OK;
             at++)
            pawl__runtime_change(&changes, PAWL_CHANGE_DELETE, table,
                                 (const char *)rows->rows + at * row_size);
        if (by) {
            struct pawl_change change =
                pawl__audit_change(by, (int64_t)(at - from), r->now_us, &record);

            pawl__runtime_change(&changes, change.kind, change.table, &record);
        }
        if (changes.status != PAWL_OK)
            return pawl__error_code(r->err, changes.status);
        commit.changes = changes.items;
        commit.change_count = changes.count;
        status = pawl__runtime_commit(r->runtime, &commit, r->deadline_ns, r->err);
        if (by)
            pawl__audit_settle(by, &record, status);
        if (status == PAWL_OK)
            *count += at - from;
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

/* Records are made in the order of their time, which an index has. */
static int drop_audit(struct retaining *r)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_AUDIT, "created_us"),
                                             .compare = PAWL_LT,
                                             .value = {.integer = r->now_us - r->policy->audit_us}};
    struct pawl_rows rows;
    int status;

    if (r->policy->audit_us == 0)
        return PAWL_OK;
    status = find(r, PAWL_TABLE_AUDIT, &condition, 1, "created_us", &rows);
    if (status == PAWL_OK && r->policy->dry_run)
        r->out->audit = rows.total;
    return status == PAWL_OK ? drop_rows(r, PAWL_TABLE_AUDIT, &rows, "", 0, &r->out->audit)
                             : status;
}

static int settle_count(struct retaining *r)
{
    struct pawl_audit *by = r->policy->by;
    struct pawl_audit_row record;
    struct pawl_change change;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};

    if (!by || !by->is_stored || !r->is_miscounted)
        return PAWL_OK;
    change = pawl__audit_change(by, 0, r->now_us, &record);
    return pawl__runtime_commit(r->runtime, &commit, r->deadline_ns, r->err);
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

/* Replies for nodes that have not asked for them: their clients are gone. */
static int drop_replies(struct retaining *r)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_REPLIES, "expires_us"),
        .compare = PAWL_LE,
        .value = {.integer = r->now_us}};
    struct pawl_rows rows;
    uint64_t count = 0;
    int status;

    if (r->policy->dry_run)
        return PAWL_OK;
    status = find(r, PAWL_TABLE_REPLIES, &condition, 1, "expires_us", &rows);
    return status == PAWL_OK ? drop_rows(r, PAWL_TABLE_REPLIES, &rows, "", 0, &count) : status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void log_dropped(const struct retaining *r)
{
    const struct pawl_retained *out = r->out;

    if (!r->runtime->log || r->policy->dry_run ||
        out->finished + out->cancelled + out->faulted + out->dead_letters + out->reservations +
                out->audit ==
            0)
        return;
    pawl_log(r->runtime->log, PAWL_LOG_INFO, "retention dropped",
             pawl_log_uint("finished", out->finished), pawl_log_uint("cancelled", out->cancelled),
             pawl_log_uint("faulted", out->faulted),
             pawl_log_uint("dead_letters", out->dead_letters),
             pawl_log_uint("reservations", out->reservations), pawl_log_uint("audit", out->audit));
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
        status = drop_audit(&r);
    if (status == PAWL_OK)
        status = drop_reservations(&r);
    if (status == PAWL_OK)
        status = drop_replies(&r);
    if (status == PAWL_OK && !policy->dry_run)
        status = pawl__routes_retain(runtime, r.now_us, deadline_ns, err);
    if (status == PAWL_OK)
        status = settle_count(&r);
    log_dropped(&r);
    pawl__arena_release(&r.arena);
    return status;
}
