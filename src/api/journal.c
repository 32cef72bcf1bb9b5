/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of an instance, and the executions of its activities. */
#include "operations/journal.h"
#include "api/items.h"
#include "operations/instances.h"
#include "views/journal.h"

#include <stdio.h>

#define JOURNAL API_ELSA "/workflow-instances/{id}/journal"
#define EXECUTIONS API_ELSA "/activity-executions"
#define READ_INSTANCES "read:workflow-instances"
#define READ_EXECUTIONS "read:activity-execution"

/* ---- pages ----------------------------------------------------------------------------------- */

struct page_request {
    struct api_number page, page_size, skip, take;
};

#define PAGE_FIELDS(request, member)                                                               \
    API_FIELD(request, member.page, "page", API_NUMBER, API_IN_QUERY),                             \
        API_FIELD(request, member.page_size, "pageSize", API_NUMBER, API_IN_QUERY),                \
        API_FIELD(request, member.skip, "skip", API_NUMBER, API_IN_QUERY),                         \
        API_FIELD(request, member.take, "take", API_NUMBER, API_IN_QUERY)

#define TAKE_DEFAULT 100

/*
 * As Elsa: page and pageSize, else skip and take, each with the other or not at all; a negative
 * size is everything, as much as one response may have.
 */
static void read_page(const struct page_request *page, uint64_t *offset, uint32_t *limit)
{
    int64_t skip = 0, take = TAKE_DEFAULT;

    if (page->page.is_given && page->page_size.is_given) {
        take = page->page_size.value;
        skip = page->page.value > 0 && take > 0 ? page->page.value * take : 0;
    } else if (page->skip.is_given && page->take.is_given) {
        take = page->take.value;
        skip = page->skip.value > 0 ? page->skip.value : 0;
    }
    *offset = (uint64_t)skip;
    *limit = take < 0 || take > PAWL_PAGE_ROWS_MAX ? PAWL_PAGE_ROWS_MAX : (uint32_t)take;
}

/* ---- the journal ----------------------------------------------------------------------------- */

struct journal_request {
    struct pawl_str id, activity_id;
    struct page_request page;
    const struct pawl_json *filter;
};

static const struct api_field journal_fields[] = {
    API_FIELD(struct journal_request, id, "id", API_TEXT, API_IN_PATH),
    PAGE_FIELDS(struct journal_request, page),
};
static const struct api_field filtered_fields[] = {
    API_FIELD(struct journal_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct journal_request, filter, "filter", API_OBJECT, 0),
    PAGE_FIELDS(struct journal_request, page),
};
static const struct api_field last_fields[] = {
    API_FIELD(struct journal_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct journal_request, activity_id, "activityId", API_TEXT, API_IN_PATH),
};

/* A list of the filter; NULL: not given. */
static bool read_list(struct api_call *call, const struct pawl_json *filter, const char *key,
                      const struct pawl_str **texts, size_t *count)
{
    const struct pawl_json *value = api_member(filter, key);
    uint32_t len = pawl__json_len(value);
    struct pawl_str *list;
    char where[80];
    bool is_right = pawl__json_is(value, PAWL_JSON_ARRAY);

    if (pawl__json_type(value) == PAWL_JSON_NULL)
        return true;
    list = pawl__arena_alloc_array(&call->arena, (size_t)len + 1, sizeof *list);
    if (!list) {
        api_fail(call, PAWL_ENOMEM);
        return false;
    }
    for (uint32_t i = 0; i < len && is_right; i++) {
        is_right = pawl__json_is(pawl__json_at(value, i), PAWL_JSON_STRING);
        list[i] = pawl__json_str(pawl__json_at(value, i));
    }
    *texts = list;
    *count = len;
    if (is_right)
        return true;
    (void)snprintf(where, sizeof where, "filter.%s", key);
    api_refuse(call, 400, where, "An array of strings is expected.");
    return false;
}

static bool read_filter(struct api_call *call, const struct pawl_json *filter,
                        struct pawl_journal_query *query)
{
    return !filter ||
           (read_list(call, filter, "activityIds", &query->activity_ids,
                      &query->activity_id_count) &&
            read_list(call, filter, "activityNodeIds", &query->node_ids, &query->node_id_count) &&
            read_list(call, filter, "excludedActivityTypes", &query->excluded_types,
                      &query->excluded_type_count) &&
            read_list(call, filter, "eventNames", &query->events, &query->event_count));
}

static void list_journal(struct api_call *call, const void *data)
{
    const struct journal_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_journal_query query = {.instance_id = request->id, .must_exist = true};
    struct pawl_journal_list found;
    int status;

    if (!read_filter(call, request->filter, &query))
        return;
    read_page(&request->page, &query.offset, &query.limit);
    query.total_only = query.limit == 0;
    status = pawl__op_journal_list(&call->op, &query, &found);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (uint32_t i = 0; i < pawl__json_len(&found.records); i++)
        pawl__build_append(&b, &items,
                           pawl__view_journal_record(&b, pawl__json_at(&found.records, i)));
    api_respond_page(call, &b, items, found.total);
}

static void show_last(struct api_call *call, const void *data)
{
    const struct journal_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json record, out;
    int status = pawl__op_journal_last(&call->op, request->id, request->activity_id, &record);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_log_record(&b, &record);
    api_respond(call, &b, &out);
}

/* ---- executions ------------------------------------------------------------------------------ */

struct execution_request {
    struct pawl_str id, instance_id, node_id, activity_id;
    int is_completed, is_across;
    struct page_request page;
    struct pawl_texts node_ids;
};

#define EXECUTION_FIELD(member, name, type, flags)                                                 \
    API_FIELD(struct execution_request, member, name, type, flags)

static const struct api_field list_fields[] = {
    EXECUTION_FIELD(instance_id, "workflowInstanceId", API_TEXT, API_IN_QUERY),
    EXECUTION_FIELD(node_id, "activityNodeId", API_TEXT, API_IN_QUERY),
    EXECUTION_FIELD(is_completed, "completed", API_BOOL, API_IN_QUERY),
};
static const struct api_field count_fields[] = {
    EXECUTION_FIELD(instance_id, "workflowInstanceId", API_TEXT, API_IN_QUERY),
    EXECUTION_FIELD(activity_id, "activityId", API_TEXT, API_IN_QUERY),
    EXECUTION_FIELD(is_completed, "completed", API_BOOL, API_IN_QUERY),
};
static const struct api_field by_query_fields[] = {
    EXECUTION_FIELD(id, "id", API_TEXT, API_IN_QUERY),
};
static const struct api_field by_path_fields[] = {
    EXECUTION_FIELD(id, "id", API_TEXT, API_IN_PATH),
};
static const struct api_field stack_fields[] = {
    EXECUTION_FIELD(id, "id", API_TEXT, API_IN_PATH),
    EXECUTION_FIELD(is_across, "includeCrossWorkflowChain", API_BOOL, API_IN_QUERY),
    EXECUTION_FIELD(page.skip, "skip", API_NUMBER, API_IN_QUERY),
    EXECUTION_FIELD(page.take, "take", API_NUMBER, API_IN_QUERY),
};
static const struct api_field report_fields[] = {
    EXECUTION_FIELD(instance_id, "workflowInstanceId", API_TEXT, 0),
    EXECUTION_FIELD(node_ids, "activityNodeIds", API_TEXTS, 0),
};

typedef struct pawl_json view_fn(struct pawl_builder *b, const struct pawl_json *record);

static bool find_executions(struct api_call *call, const struct execution_request *request,
                            struct pawl_json *records)
{
    const struct pawl_execution_query query = {.instance_id = request->instance_id,
                                               .node_id = request->node_id,
                                               .activity_id = request->activity_id,
                                               .is_completed = request->is_completed};
    int status = pawl__op_executions_list(&call->op, &query, records);

    if (status != PAWL_OK)
        api_fail(call, status);
    return status == PAWL_OK;
}

static void respond_list(struct api_call *call, const struct execution_request *request,
                         view_fn *view)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array(), records;

    if (!find_executions(call, request, &records))
        return;
    for (uint32_t i = 0; i < pawl__json_len(&records); i++)
        pawl__build_append(&b, &items, view(&b, pawl__json_at(&records, i)));
    api_respond_items(call, &b, items);
}

static void list_executions(struct api_call *call, const void *data)
{
    respond_list(call, data, pawl__view_execution);
}

static void list_summaries(struct api_call *call, const void *data)
{
    respond_list(call, data, pawl__view_execution_summary);
}

static void count_executions(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), records;

    if (!find_executions(call, data, &records))
        return;
    pawl__build_int(&b, &out, "count", pawl__json_len(&records));
    api_respond(call, &b, &out);
}

static void show_execution(struct api_call *call, const void *data)
{
    const struct execution_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json record, out;
    int status;

    if (request->id.len == 0) {
        api_refuse(call, 400, "generalErrors", "The activity execution ID is required.");
        return;
    }
    status = pawl__op_execution_show(&call->op, pawl__str(""), request->id, &record);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_execution(&b, &record);
    api_respond(call, &b, &out);
}

#define STACK_TAKE_MAX 1000

static void show_stack(struct api_call *call, const void *data)
{
    const struct execution_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), items = pawl__json_array(), stack;
    int64_t skip = request->page.skip.value, take = request->page.take.value;
    int status = pawl__op_execution_stack(&call->op, pawl__str(""), request->id,
                                          request->is_across != 0, &stack);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    skip = skip > 0 ? skip : 0;
    take = take < 1 ? TAKE_DEFAULT : take > STACK_TAKE_MAX ? STACK_TAKE_MAX : take;
    for (int64_t i = skip; i < pawl__json_len(&stack) && i - skip < take; i++)
        pawl__build_append(&b, &items,
                           pawl__view_execution(&b, pawl__json_at(&stack, (uint32_t)i)));
    pawl__view_text(&b, &out, "activityExecutionId", request->id);
    pawl__build(&b, &out, "items", items);
    pawl__build_int(&b, &out, "totalCount", pawl__json_len(&stack));
    api_respond(call, &b, &out);
}

static void report(struct api_call *call, const void *data)
{
    const struct execution_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();
    const struct pawl_execution_stats *stats;
    size_t count;
    int status =
        pawl__op_executions_report(&call->op, request->instance_id, request->node_ids.texts,
                                   request->node_ids.count, &stats, &count);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < count; i++)
        pawl__build_append(&b, &items, pawl__view_execution_stats(&b, &stats[i]));
    pawl__build(&b, &out, "stats", items);
    api_respond(call, &b, &out);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = JOURNAL,
     .permission = READ_INSTANCES,
     .handle = list_journal,
     API_FIELDS(struct journal_request, journal_fields),
     .summary = "Lists the journal of an instance",
     .result = "Journal"},
    {.method = "POST",
     .path = JOURNAL,
     .permission = READ_INSTANCES,
     .handle = list_journal,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct journal_request, filtered_fields),
     .summary = "Lists records of the journal of an instance",
     .result = "Journal"},
    {.method = "GET",
     .path = JOURNAL "/{activityId}",
     .permission = READ_INSTANCES,
     .handle = show_last,
     API_FIELDS(struct journal_request, last_fields),
     .summary = "Shows the newest record of an activity",
     .result = "LogRecord"},
    {.method = "GET",
     .path = EXECUTIONS "/list",
     .permission = READ_EXECUTIONS,
     .handle = list_executions,
     API_FIELDS(struct execution_request, list_fields),
     .summary = "Lists executions of activities of an instance",
     .result = "Executions"},
    {.method = "GET",
     .path = API_ELSA "/activity-execution-summaries/list",
     .permission = READ_EXECUTIONS,
     .handle = list_summaries,
     API_FIELDS(struct execution_request, list_fields),
     .summary = "Lists executions of activities of an instance, in brief",
     .result = "ExecutionSummaries"},
    {.method = "GET",
     .path = EXECUTIONS "/count",
     .permission = READ_EXECUTIONS,
     .handle = count_executions,
     API_FIELDS(struct execution_request, count_fields),
     .summary = "Counts executions of activities of an instance",
     .result = "Count"},
    {.method = "GET",
     .path = EXECUTIONS "/by-id",
     .permission = READ_EXECUTIONS,
     .handle = show_execution,
     API_FIELDS(struct execution_request, by_query_fields),
     .summary = "Shows an execution of an activity",
     .result = "Execution"},
    {.method = "GET",
     .path = EXECUTIONS "/{id*}",
     .permission = READ_EXECUTIONS,
     .handle = show_execution,
     API_FIELDS(struct execution_request, by_path_fields),
     .summary = "Shows an execution of an activity",
     .result = "Execution"},
    {.method = "GET",
     .path = EXECUTIONS "/{id}/call-stack",
     .permission = READ_EXECUTIONS,
     .handle = show_stack,
     API_FIELDS(struct execution_request, stack_fields),
     .summary = "Shows the call stack of an execution of an activity",
     .result = "CallStack"},
    {.method = "POST",
     .path = EXECUTIONS "/report",
     .permission = READ_EXECUTIONS,
     .handle = report,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct execution_request, report_fields),
     .summary = "Counts executions by activity",
     .result = "ExecutionReport"},
};
const struct api_family api_journal = API_FAMILY("Journal", endpoints);
