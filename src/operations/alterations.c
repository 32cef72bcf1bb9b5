/* SPDX-License-Identifier: Apache-2.0 */
/* Alterations of many instances, and plans; see alterations.h. */
#include "operations/alterations.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json/builder.h"
#include "engine/run/alter.h"
#include "operations/instances.h"
#include "operations/query.h"
#include "operations/record.h"
#include "runtime/runtime.h"
#include "runtime/work/plans.h"

#include <stdio.h>

#define PLAN_BYTES_MAX ((size_t)4 << 20)

/* ---- checking ------------------------------------------------------------------------------- */

/* Each by itself, so that it is known which one is wrong. */
static int check_alterations(const struct pawl_op *op, const struct pawl_json *alterations,
                             char *place)
{
    int64_t version;

    place[0] = '\0';
    for (uint32_t i = 0; i < pawl__json_len(alterations); i++) {
        struct pawl_json one = pawl__json_array();
        int status = pawl__json_append(op->arena, &one, *pawl__json_at(alterations, i));

        if (status != PAWL_OK)
            return pawl__error_code(op->err, status);
        status = pawl__alterations_target(&one, &version, op->err);
        if (status == PAWL_OK)
            continue;
        (void)snprintf(place, PAWL_ALTERATION_PLACE_MAX, "alterations[%u]", i);
        return status;
    }
    return pawl__json_len(alterations) > 0
               ? pawl__alterations_target(alterations, &version, op->err)
               : PAWL_OK;
}

static struct pawl_str type_of(const struct pawl_json *alterations, uint32_t index)
{
    return pawl__json_str(pawl__json_get_text(pawl__json_at(alterations, index), "type"));
}

static bool schedules(const struct pawl_json *alterations)
{
    for (uint32_t i = 0; i < pawl__json_len(alterations); i++) {
        if (pawl__str_is(type_of(alterations, i), "ScheduleActivity"))
            return true;
    }
    return false;
}

/* ---- now ------------------------------------------------------------------------------------ */

/* The results of a request, one instance after another. */
struct altering {
    const struct pawl_op *op;
    struct pawl_str type; /* of the first alteration: entries are named after it */
    int64_t now_us;
    struct pawl_alteration_result *results;
    size_t count;
    bool has_changed; /* an instance */
};

static int begin_altering(const struct pawl_op *op, struct pawl_str type, size_t count,
                          struct altering *out)
{
    *out = (struct altering){
        .op = op,
        .type = type,
        .results = pawl__arena_alloc_array(op->arena, count + 1, sizeof *out->results)};
    return out->results ? op_now(op, &out->now_us)
                        : pawl__error_code(op->err, pawl__arena_status(op->arena));
}

/* An entry of what became of an instance; `why` NULL: it was done. */
static int add_entry(const struct altering *altering, struct pawl_json *log,
                     const struct pawl_error *why)
{
    const struct pawl_op *op = altering->op;
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json entry = pawl__json_object();
    struct pawl_str message =
        pawl__arena_str(op->arena, pawl__str(why ? why->msg : "It was done."));

    if (!message.ptr)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    pawl__build_text(&b, &entry, "message", message);
    pawl__build_name(&b, &entry, "logLevel", why ? "Error" : "Information");
    pawl__build_time(&b, &entry, "timestamp", pawl__us_to_ticks(altering->now_us));
    pawl__build_text(&b, &entry, "eventName", altering->type);
    pawl__build_append(&b, log, entry);
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, b.status);
}

/* What says something of the instance is its result; the rest ends the request. */
static bool is_of_instance(int status)
{
    return pawl_error_class(status) == PAWL_CLASS_CALLER || status == PAWL_ENOTFOUND ||
           status == PAWL_ECONFLICT || status == PAWL_ELIMIT;
}

/*
 * Adds the result of one instance, with its log if it was altered. *ends: no other is tried. After
 * a change a failure is the last result, not that of the request: that would read as if nothing had
 * happened.
 */
static int add_result(struct altering *altering, struct pawl_str id, int status,
                      const struct pawl_error *why, const struct pawl_json *log, bool *ends)
{
    struct pawl_alteration_result *result = &altering->results[altering->count];

    *ends = status != PAWL_OK && !is_of_instance(status);
    if (*ends && !altering->has_changed) {
        if (altering->op->err)
            *altering->op->err = *why;
        return status;
    }
    *result = (struct pawl_alteration_result){
        .instance_id = id, .log = pawl__json_array(), .is_successful = status == PAWL_OK};
    altering->has_changed |= status == PAWL_OK;
    altering->count++;
    if (log && status == PAWL_OK) {
        result->log = *log;
        return PAWL_OK;
    }
    return add_entry(altering, &result->log, status == PAWL_OK ? NULL : why);
}

static int alter_one(struct altering *altering, const struct pawl_op *op, struct pawl_str id,
                     const struct pawl_json *alterations, bool *ends)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_instance_altered altered;
    struct pawl_op part = *op;
    int status;

    part.err = &why;
    status = pawl__op_instance_alter(&part, id, alterations, false, &altered);
    status = add_result(altering, id, status, &why, &altered.log, ends);
    if (status == PAWL_OK && altering->results[altering->count - 1].is_successful)
        altering->results[altering->count - 1].has_scheduled = schedules(alterations);
    return status;
}

static int check_there(const struct pawl_op *op, const struct pawl_str *ids, size_t count)
{
    int status = PAWL_OK;

    if (count > PAWL_ALTER_MANY_MAX)
        return pawl__error_set(op->err, PAWL_ELIMIT, "at most %u instances are altered at a time",
                               PAWL_ALTER_MANY_MAX);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        bool exists;

        status = pawl__op_instance_exists(op, ids[i], &exists);
        if (status == PAWL_OK && !exists)
            status = pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no instance %.*s",
                                     PAWL_STR_ARG(ids[i]));
    }
    return status;
}

int pawl__op_alterations_run(const struct pawl_op *op, const struct pawl_json *alterations,
                             const struct pawl_str *ids, size_t count, char *place,
                             struct pawl_alteration_results *out)
{
    struct altering altering;
    struct pawl_op recorded = *op;
    struct op_record record;
    bool ends = false;
    int status = check_alterations(op, alterations, place);

    if (status == PAWL_OK)
        status = check_there(op, ids, count);
    if (status == PAWL_OK)
        status = begin_altering(op, type_of(alterations, 0), count, &altering);
    if (status == PAWL_OK)
        status = op_record_begin_many(op, &record, "alter", "instance");
    if (status != PAWL_OK)
        return status;
    recorded.record = record.by;
    for (size_t i = 0; i < count && status == PAWL_OK && !ends; i++) {
        if (pawl__json_len(alterations) > 0)
            status = alter_one(&altering, &recorded, ids[i], alterations, &ends);
        else
            altering.results[altering.count++] =
                (struct pawl_alteration_result){.instance_id = ids[i], .log = pawl__json_array()};
    }
    if (status == PAWL_OK)
        *out = (struct pawl_alteration_results){altering.results, altering.count};
    return status;
}

static int retry_one(struct altering *altering, struct pawl_str id,
                     const struct pawl_str *activity_ids, size_t activity_count, bool *ends)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_op part = *altering->op;
    struct pawl_outcome outcome;
    bool exists = false;
    int status;

    part.err = &why;
    status = pawl__op_instance_exists(&part, id, &exists);
    if (status == PAWL_OK && !exists)
        return PAWL_OK;
    if (status == PAWL_OK)
        status = pawl__op_instance_retry(&part, id, activity_ids, activity_count, &outcome);
    return add_result(altering, id, status, &why, NULL, ends);
}

int pawl__op_alterations_retry(const struct pawl_op *op, const struct pawl_str *ids, size_t count,
                               const struct pawl_str *activity_ids, size_t activity_count,
                               struct pawl_alteration_results *out)
{
    struct altering altering;
    bool ends = false;
    int status;

    if (count > PAWL_ALTER_MANY_MAX)
        return pawl__error_set(op->err, PAWL_ELIMIT, "at most %u instances are retried at a time",
                               PAWL_ALTER_MANY_MAX);
    status = begin_altering(op, pawl__str("ScheduleActivity"), count, &altering);
    for (size_t i = 0; i < count && status == PAWL_OK && !ends; i++)
        status = retry_one(&altering, ids[i], activity_ids, activity_count, &ends);
    if (status == PAWL_OK)
        *out = (struct pawl_alteration_results){altering.results, altering.count};
    return status;
}

/* ---- selecting ------------------------------------------------------------------------------ */

static int keep_text(const struct pawl_op *op, struct pawl_str *text)
{
    *text = pawl__arena_str(op->arena, *text);
    return text->ptr ? PAWL_OK : pawl__error_code(op->err, pawl__arena_status(op->arena));
}

/* One batch: its rows are needed no longer than it takes to copy their ids. */
static int select_batch(const struct pawl_op *op, const struct pawl_selection *selection,
                        struct pawl_selection_cursor *cursor, struct pawl_str *all, size_t *used)
{
    const struct pawl_instance_row **found;
    struct pawl_arena rows;
    size_t count = 0;
    int status;

    pawl__arena_init(&rows, op->arena->alloc, op->arena->max_bytes);
    status = pawl__selection_next(op_runtime(op), selection, cursor, PAWL_PAGE_ROWS_MAX - *used,
                                  &rows, &found, &count, op->deadline_ns, op->err);
    if (status == PAWL_OK)
        status = keep_text(op, &cursor->after_id);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        all[*used] = found[i]->id;
        status = keep_text(op, &all[(*used)++]);
    }
    pawl__arena_release(&rows);
    return status;
}

int pawl__op_alterations_select(const struct pawl_op *op, const struct pawl_json *filter,
                                char *place, const struct pawl_str **ids, size_t *count)
{
    struct pawl_selection_cursor cursor = {.after_id = pawl__str("")};
    struct pawl_selection selection;
    struct pawl_str *all;
    size_t used = 0;
    int status = pawl__selection_read(filter, &selection, place, op->err);

    if (status != PAWL_OK)
        return status;
    all = pawl__arena_alloc_array(op->arena, PAWL_PAGE_ROWS_MAX, sizeof *all);
    if (!all)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    while (status == PAWL_OK && !cursor.is_done && used < PAWL_PAGE_ROWS_MAX)
        status = select_batch(op, &selection, &cursor, all, &used);
    if (status == PAWL_OK) {
        *ids = all;
        *count = used;
    }
    return status;
}

/* ---- plans ---------------------------------------------------------------------------------- */

static int write_plan(const struct pawl_op *op, const struct pawl_json *alterations,
                      const struct pawl_json *filter, struct pawl_str *out)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json plan = pawl__json_object();
    struct pawl_buf text;

    pawl__build(&b, &plan, "alterations", *alterations);
    pawl__build(&b, &plan, "filter", *filter);
    pawl__buf_init(&text, &op_env(op)->alloc, PLAN_BYTES_MAX);
    pawl__json_write(&text, &plan, PAWL_JSON_ESCAPE_MINIMAL);
    if (b.status == PAWL_OK)
        b.status = text.status;
    if (b.status == PAWL_OK) {
        *out = pawl__arena_str(op->arena, pawl__buf_peek(&text));
        b.status = out->ptr ? PAWL_OK : pawl__arena_status(op->arena);
    }
    pawl__buf_release(&text);
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, b.status);
}

static int choose_id(const struct pawl_op *op, struct pawl_str id, struct pawl_str *out)
{
    unsigned char bytes[8];
    unsigned long long number = 0;
    int status;

    if (id.len > PAWL_PLAN_ID_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "the id of a plan has at most %u bytes",
                               PAWL_PLAN_ID_MAX);
    *out = id;
    if (id.len > 0)
        return PAWL_OK;
    status = pawl_env_entropy(op_env(op), bytes, sizeof bytes, op->err);
    for (size_t i = 0; i < sizeof bytes; i++)
        number = number << 8 | bytes[i];
    if (status == PAWL_OK)
        *out = pawl__str(pawl__arena_printf(op->arena, "%llx", number));
    return status == PAWL_OK && out->len == 0
               ? pawl__error_code(op->err, pawl__arena_status(op->arena))
               : status;
}

int pawl__op_plan_submit(const struct pawl_op *op, struct pawl_str id,
                         const struct pawl_json *alterations, const struct pawl_json *filter,
                         char *place, struct pawl_str *plan_id)
{
    const struct pawl_json none = pawl__json_array(), nothing = pawl__json_object();
    struct pawl_selection selection;
    struct pawl_str chosen, data = pawl__str("");
    struct op_record record;
    bool existed = false;
    int status;

    place[0] = '\0';
    alterations = alterations ? alterations : &none;
    filter = filter ? filter : &nothing;
    status = check_alterations(op, alterations, place);
    if (status == PAWL_OK)
        status = pawl__selection_read(filter, &selection, place, op->err);
    if (status == PAWL_OK)
        status = choose_id(op, id, &chosen);
    if (status == PAWL_OK)
        status = write_plan(op, alterations, filter, &data);
    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "submit", "plan", chosen);
    if (status != PAWL_OK)
        return status;
    status = pawl__runtime_submit_plan_by(op_runtime(op), record.by, chosen, data, &existed,
                                          op->deadline_ns, op->err);
    status = op_record_end(op, &record, true, status);
    if (status == PAWL_OK)
        *plan_id = chosen;
    return status;
}

int pawl__op_plan_show(const struct pawl_op *op, struct pawl_str id, struct pawl_plan_shown *out)
{
    struct pawl_plan_shown shown = {.job_count = 0};
    const struct pawl_json *alterations, *filter;
    struct pawl_rows rows = {0};
    struct pawl_json data;
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_PLANS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "id", PAWL_EQ, id);
    status = op_find_all(op, &query, 1, &rows);
    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no plan %.*s", PAWL_STR_ARG(id));
    shown.row = *(const struct pawl_plan_row *)rows.rows;
    op_query_init(&query, PAWL_TABLE_JOBS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "plan_id", PAWL_EQ, id);
    status = op_find_all(op, &query, 0, &rows);
    if (status == PAWL_OK)
        status = pawl__json_parse(op->arena, shown.row.data, NULL, &data, NULL, op->err);
    if (status != PAWL_OK)
        return status;
    alterations = pawl__json_get_text(&data, "alterations");
    filter = pawl__json_get_text(&data, "filter");
    shown.alterations = alterations ? *alterations : pawl__json_array();
    shown.filter = filter ? *filter : pawl__json_object();
    shown.jobs = rows.rows;
    shown.job_count = rows.count;
    *out = shown;
    return PAWL_OK;
}
