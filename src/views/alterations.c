/* SPDX-License-Identifier: Apache-2.0 */
/* Views of alterations; see alterations.h. */
#include "views/alterations.h"

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(object, key));

    return text.ptr ? text : pawl__str("");
}

/* An entry as it is kept names the alteration as its event. */
static struct pawl_json view_entry(struct pawl_builder *b, const struct pawl_json *kept)
{
    struct pawl_str type = text_of(kept, "eventName"), message = text_of(kept, "message");
    struct pawl_json out = pawl__json_object();
    bool failed = pawl__str_is(text_of(kept, "logLevel"), "Error");
    const char *event = pawl__arena_printf(b->arena, "Alteration %.*s %s", PAWL_STR_ARG(type),
                                           failed ? "failed" : "succeeded");
    const char *done =
        failed ? NULL : pawl__arena_printf(b->arena, "%.*s succeeded", PAWL_STR_ARG(type));

    pawl__view_text(b, &out, "message", failed ? message : pawl__str(done));
    pawl__view_text(b, &out, "logLevel", text_of(kept, "logLevel"));
    pawl__view_text(b, &out, "timestamp", text_of(kept, "timestamp"));
    pawl__view_text(b, &out, "eventName", pawl__str(event));
    return out;
}

static struct pawl_json view_entries(struct pawl_builder *b, const struct pawl_json *log)
{
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(log); i++)
        pawl__build_append(b, &out, view_entry(b, pawl__json_at(log, i)));
    return out;
}

struct pawl_json pawl__view_alterations(struct pawl_builder *b,
                                        const struct pawl_alteration_results *results)
{
    struct pawl_json out = pawl__json_object(), list = pawl__json_array();

    for (size_t i = 0; i < results->count; i++) {
        const struct pawl_alteration_result *result = &results->results[i];
        struct pawl_json one = pawl__json_object(), log = pawl__json_object();

        pawl__view_text(b, &one, "workflowInstanceId", result->instance_id);
        pawl__build(b, &log, "logEntries", view_entries(b, &result->log));
        pawl__build(b, &one, "log", log);
        pawl__build_bool(b, &one, "workflowHasScheduledWork", result->has_scheduled);
        pawl__build_bool(b, &one, "isSuccessful", result->is_successful);
        pawl__build_append(b, &list, one);
    }
    pawl__build(b, &out, "results", list);
    return out;
}

/* ---- plans ---------------------------------------------------------------------------------- */

static struct pawl_json view_filter(struct pawl_builder *b, const struct pawl_json *filter)
{
    static const char *const keys[] = {"workflowInstanceIds",  "correlationIds",   "names",
                                       "searchTerm",           "timestampFilters", "definitionIds",
                                       "definitionVersionIds", "hasIncidents"};
    static const char *const last[] = {"statuses", "subStatuses", "activityFilters"};
    const struct pawl_str all = pawl__str("emptyFilterSelectsAll"), system = pawl__str("isSystem");
    struct pawl_json out = pawl__json_object();

    pawl__build_bool(b, &out, "emptyFilterSelectsAll",
                     pawl__json_true(pawl__json_get_nocase(filter, all)));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct pawl_json *value = pawl__json_get_nocase(filter, pawl__str(keys[i]));

        if (pawl__json_type(value) != PAWL_JSON_NULL)
            pawl__build(b, &out, keys[i], *value);
    }
    pawl__build_bool(b, &out, "isSystem", pawl__json_true(pawl__json_get_nocase(filter, system)));
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++) {
        const struct pawl_json *value = pawl__json_get_nocase(filter, pawl__str(last[i]));

        if (pawl__json_type(value) != PAWL_JSON_NULL)
            pawl__build(b, &out, last[i], *value);
    }
    return out;
}

static void put_times(struct pawl_builder *b, struct pawl_json *to, int64_t created_us,
                      int64_t started_us, int64_t completed_us)
{
    pawl__view_time(b, to, "createdAt", created_us);
    if (started_us != 0)
        pawl__view_time(b, to, "startedAt", started_us);
    if (completed_us != 0)
        pawl__view_time(b, to, "completedAt", completed_us);
}

static struct pawl_json view_job(struct pawl_builder *b, const struct pawl_job_row *row)
{
    struct pawl_json out = pawl__json_object(), log = pawl__json_array();

    if (b->status == PAWL_OK && row->log.len > 0 &&
        pawl__json_parse(b->arena, row->log, NULL, &log, NULL, NULL) != PAWL_OK)
        log = pawl__json_array();
    pawl__view_text(b, &out, "planId", row->plan_id);
    pawl__view_text(b, &out, "workflowInstanceId", row->instance_id);
    pawl__view_text(b, &out, "status", row->status);
    pawl__build(b, &out, "log", view_entries(b, &log));
    put_times(b, &out, row->created_us, row->started_us, row->completed_us);
    pawl__view_text(b, &out, "id", row->id);
    pawl__view_text(b, &out, "tenantId", pawl__str(""));
    return out;
}

struct pawl_json pawl__view_plan(struct pawl_builder *b, const struct pawl_plan_shown *shown)
{
    struct pawl_json out = pawl__json_object(), plan = pawl__json_object();
    struct pawl_json jobs = pawl__json_array();

    pawl__build(b, &plan, "alterations", shown->alterations);
    pawl__build(b, &plan, "workflowInstanceFilter", view_filter(b, &shown->filter));
    pawl__view_text(b, &plan, "status", shown->row.status);
    put_times(b, &plan, shown->row.created_us, 0, shown->row.completed_us);
    pawl__view_text(b, &plan, "id", shown->row.id);
    for (size_t i = 0; i < shown->job_count; i++)
        pawl__build_append(b, &jobs, view_job(b, &shown->jobs[i]));
    pawl__build(b, &out, "plan", plan);
    pawl__build(b, &out, "jobs", jobs);
    return out;
}
