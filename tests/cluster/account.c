/* SPDX-License-Identifier: Apache-2.0 */
/* What the store has at the end of the scenario, in a form that two histories can be compared by.
 */
#include "cluster/scenario_private.h"

#include "base/error.h"
#include "base/map.h"

/* ---- reading ------------------------------------------------------------------------------- */

static int find(struct scenario *s, const struct pawl_query *query, struct pawl_rows *rows,
                struct pawl_error *err)
{
    unsigned tries = 0;
    int status;

    do {
        status = pawl_store_find(s->store, query, &s->arena, rows, scenario_later(s), err);
    } while (scenario_again(s, status, &tries));
    return status;
}

static int count(struct scenario *s, enum pawl_table table, const struct pawl_condition *condition,
                 uint64_t *out, struct pawl_error *err)
{
    const struct pawl_query query = {.table = table,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = condition,
                                     .condition_count = condition ? 1 : 0};
    struct pawl_rows rows = {0};
    int status = find(s, &query, &rows, err);

    *out = rows.total;
    return status;
}

/* One that was cancelled before somebody died is not cancelled from elsewhere. */
static bool is_idle(const struct pawl_instance_row *row)
{
    return pawl__str_is(row->sub_status, "Cancelled") ||
           (pawl__str_is(row->sub_status, "Suspended") && row->owner == 0);
}

int scenario_is_doomed(struct scenario *s, bool *doomed, struct pawl_error *err)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES};
    struct pawl_rows rows = {0};
    unsigned ready = 0;
    int status;

    pawl__arena_reset(&s->arena);
    status = find(s, &query, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows.rows)[i];

        if (pawl__str_is(row->definition_id, "doomed") ||
            pawl__str_is(row->definition_id, "patient"))
            ready += is_idle(row);
        else if (pawl__str_is(row->definition_id, "held"))
            ready += is_idle(row) || row->runnable == 2;
    }
    *doomed = ready == 3;
    return status;
}

int scenario_is_settled(struct scenario *s, bool *settled, struct pawl_error *err)
{
    const struct pawl_condition finished = {.column =
                                                pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
                                            .value = {.text = pawl__str("Finished")}};
    const struct pawl_condition owned = {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "owner"),
                                         .compare = PAWL_NE};
    /* A second look at something parked is no work that is left. */
    const struct pawl_condition left = {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
                                        .compare = PAWL_NE,
                                        .value = {.text = pawl__str(PAWL_WORK_RECHECK)}};
    uint64_t all = 0, ended = 0, held = 0, work = 0, expected = SCENARIO_INSTANCES;
    int status;

    pawl__arena_reset(&s->arena);
    status = count(s, PAWL_TABLE_INSTANCES, NULL, &all, err);
    if (status == PAWL_OK)
        status = count(s, PAWL_TABLE_INSTANCES, &finished, &ended, err);
    if (status == PAWL_OK)
        status = count(s, PAWL_TABLE_INSTANCES, &owned, &held, err);
    if (status == PAWL_OK)
        status = count(s, PAWL_TABLE_WORK, &left, &work, err);
    if (s->options.url)
        expected += SCENARIO_INSTANCES_OUTSIDE;
    *settled = status == PAWL_OK && all >= expected && ended == all && held == 0 && work == 0;
    return status;
}

int scenario_instance(struct scenario *scenario, const char *id, struct pawl_instance_row *out,
                      struct pawl_error *err)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = pawl__str(id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows = {0};
    int status = find(scenario, &query, &rows, err);

    if (status == PAWL_OK && rows.count == 0)
        return pawl__error_set(err, PAWL_ENOTFOUND, "there is no instance %s", id);
    if (status == PAWL_OK)
        *out = *(const struct pawl_instance_row *)rows.rows;
    return status;
}

/* ---- journals ------------------------------------------------------------------------------ */

static struct pawl_str member(const struct pawl_json *record, const char *key)
{
    return pawl__json_str(pawl__json_get_text(record, key));
}

/*
 * What runs beside something else comes in any order, each for itself in its own: the two branches
 * of forked, whose ids begin with a letter of theirs, and what caller does in the background.
 */
static unsigned branch_of(struct pawl_str definition_id, struct pawl_str line)
{
    if (pawl__str_is(definition_id, "forked"))
        return line.ptr[0] == 'l' ? 1 : line.ptr[0] == 'r' ? 2 : 0;
    if (pawl__str_is(definition_id, "caller"))
        return pawl__str_starts(line, pawl__str("a4 "));
    return 0;
}
#define BRANCHES 3u

/* One branch after the other. */
static void part_branches(struct pawl_str definition_id, struct pawl_str *lines, uint32_t total,
                          struct pawl_str *out)
{
    uint32_t count = 0;

    for (unsigned branch = 0; branch < BRANCHES; branch++)
        for (uint32_t i = 0; i < total; i++)
            if (branch_of(definition_id, lines[i]) == branch)
                out[count++] = lines[i];
}

/* "activity event" in the order in which it was logged, and how often in a row. */
static int add_journal(struct scenario *s, const struct pawl_instance_row *row,
                       struct pawl_buf *out, struct pawl_error *err)
{
    struct pawl_json log, records;
    struct pawl_str *logged, *lines;
    unsigned tries = 0;
    uint32_t total;
    int status;

    do {
        status = pawl__runtime_journal(s->runtime, row->id, &s->arena, &log, &records,
                                       scenario_later(s), err);
    } while (scenario_again(s, status, &tries));
    if (status != PAWL_OK)
        return status;
    total = pawl__json_len(&log);
    logged = pawl__arena_alloc_array(&s->arena, total + 1, sizeof *logged);
    lines = pawl__arena_alloc_array(&s->arena, total + 1, sizeof *lines);
    if (!logged || !lines)
        return pawl__error_code(err, pawl__arena_status(&s->arena));
    for (uint32_t i = 0; i < total; i++) {
        const struct pawl_json *record = pawl__json_at(&log, i);

        logged[i] = pawl__str(pawl__arena_printf(&s->arena, "%.*s %.*s",
                                                 PAWL_STR_ARG(member(record, "activityId")),
                                                 PAWL_STR_ARG(member(record, "eventName"))));
        if (logged[i].len == 0)
            return pawl__error_code(err, pawl__arena_status(&s->arena));
    }
    part_branches(row->definition_id, logged, total, lines);
    for (uint32_t i = 0, same; i < total; i += same) {
        for (same = 1; i + same < total && pawl__str_equal(lines[i], lines[i + same]);)
            same++;
        pawl__buf_printf(out, "    %.*s x%u\n", PAWL_STR_ARG(lines[i]), same);
    }
    pawl__buf_printf(out, "    records x%u\n", pawl__json_len(&records));
    return PAWL_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int add_instances(struct scenario *s, struct pawl_buf *out, struct pawl_error *err)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .order =
                                         pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id")};
    struct pawl_rows rows = {0};
    int status = find(s, &query, &rows, err);

    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows.rows)[i];

        pawl__buf_printf(out, "%.*s %.*s/%.*s counter %.*s incidents %d runnable %d owned %d\n",
                         PAWL_STR_ARG(row->definition_id), PAWL_STR_ARG(row->status),
                         PAWL_STR_ARG(row->sub_status), PAWL_STR_ARG(row->name),
                         (int)row->incident_count, (int)row->runnable, row->owner != 0);
        status = add_journal(s, row, out, err);
    }
    return status;
}

static int add_dead_letters(struct scenario *s, struct pawl_buf *out, struct pawl_error *err)
{
    const struct pawl_query query = {.table = PAWL_TABLE_DEAD_LETTERS};
    struct pawl_rows rows = {0};
    int status = find(s, &query, &rows, err);

    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_dead_letter_row *row =
            &((const struct pawl_dead_letter_row *)rows.rows)[i];

        pawl__buf_printf(out, "dead letter: %.*s %.*s: %.*s\n", PAWL_STR_ARG(row->kind),
                         PAWL_STR_ARG(row->reason), PAWL_STR_ARG(row->error));
    }
    return status;
}

static int add_work(struct scenario *s, struct pawl_buf *out, struct pawl_error *err)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK};
    struct pawl_rows rows = {0};
    int status = find(s, &query, &rows, err);

    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_work_row *row = &((const struct pawl_work_row *)rows.rows)[i];

        if (pawl__str_is(row->kind, PAWL_WORK_RECHECK))
            continue;
        pawl__buf_printf(out, "work: %.*s%s%s attempts %d%s%.*s\n", PAWL_STR_ARG(row->kind),
                         row->owner != 0 ? " owned" : "",
                         row->due_us == PAWL_TIME_NEVER ? " parked" : "", (int)row->attempts,
                         row->error.len > 0 ? " " : "", PAWL_STR_ARG(row->error));
    }
    return status;
}

/* Those of commits, of which one that is asked for again makes another, go by themselves. */
static int add_reservations(struct scenario *s, struct pawl_buf *out, struct pawl_error *err)
{
    const struct pawl_condition before = {.column =
                                              pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"),
                                          .compare = PAWL_LT,
                                          .value = {.text = pawl__str("commit:")}};
    const struct pawl_condition behind = {
        .column = before.column, .compare = PAWL_GE, .value = {.text = pawl__str("commit;")}};
    uint64_t first = 0, second = 0;
    int status = count(s, PAWL_TABLE_RESERVATIONS, &before, &first, err);

    if (status == PAWL_OK)
        status = count(s, PAWL_TABLE_RESERVATIONS, &behind, &second, err);
    pawl__buf_printf(out, "reservations %llu\n", (unsigned long long)(first + second));
    return status;
}

int scenario_account(struct scenario *scenario, struct pawl_buf *out, struct pawl_error *err)
{
    static const enum pawl_table counted[] = {PAWL_TABLE_BOOKMARKS, PAWL_TABLE_DEFINITIONS,
                                              PAWL_TABLE_TRIGGERS};
    struct scenario *s = scenario;
    int status;

    pawl__arena_reset(&s->arena);
    status = add_instances(s, out, err);
    if (status == PAWL_OK)
        status = add_work(s, out, err);
    if (status == PAWL_OK)
        status = add_dead_letters(s, out, err);
    if (status == PAWL_OK)
        status = add_reservations(s, out, err);
    for (size_t i = 0; i < sizeof counted / sizeof counted[0] && status == PAWL_OK; i++) {
        uint64_t total = 0;

        status = count(s, counted[i], NULL, &total, err);
        pawl__buf_printf(out, "%s %llu\n", pawl_table_info(counted[i])->name,
                         (unsigned long long)total);
    }
    return status;
}
