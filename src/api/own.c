/* SPDX-License-Identifier: Apache-2.0 */
/* Pawl's own API: what Elsa's has not, for operators and their tools. */
#include "api/items.h"
#include "operations/tasks.h"
#include "operations/timers.h"
#include "operations/why.h"
#include "views/journal.h"
#include "views/queue.h"
#include "views/stimuli.h"
#include "views/timers.h"
#include "views/why.h"

struct id_request {
    struct pawl_str id;
};

static const struct api_field id_fields[] = {
    API_FIELD(struct id_request, id, "id", API_TEXT, API_IN_PATH),
};

/* ---- instances ------------------------------------------------------------------------------ */

static void show_why(struct api_call *call, const void *data)
{
    const struct id_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_why why;
    struct pawl_json out;
    int status = pawl__op_instance_why(&call->op, request->id, &why);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_why(&b, &why, "");
    api_respond(call, &b, &out);
}

struct history_request {
    struct pawl_str id;
    struct api_number offset, limit;
    int newest_first;
};

static const struct api_field history_fields[] = {
    API_FIELD(struct history_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct history_request, offset, "offset", API_NUMBER, API_IN_QUERY),
    API_FIELD(struct history_request, limit, "limit", API_NUMBER, API_IN_QUERY),
    API_FIELD(struct history_request, newest_first, "newestFirst", API_BOOL, API_IN_QUERY),
};

static void list_history(struct api_call *call, const void *data)
{
    const struct history_request *request = data;
    struct pawl_journal_query query = {
        .instance_id = request->id, .must_exist = true, .newest_first = request->newest_first == 1};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_journal_list list;
    int status;

    if (request->offset.value < 0 || request->limit.value < 0 ||
        request->limit.value > (int64_t)PAWL_PAGE_ROWS_MAX) {
        api_refuse(call, 400, request->offset.value < 0 ? "offset" : "limit",
                   "The offset is 0 or more, and a page has 1 to 10000 rows.");
        return;
    }
    query.offset = (uint64_t)request->offset.value;
    query.limit = (uint32_t)request->limit.value;
    status = pawl__op_journal_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (uint32_t i = 0; i < pawl__json_len(&list.records); i++)
        pawl__build_append(&b, &items,
                           pawl__view_journal_record(&b, pawl__json_at(&list.records, i)));
    api_respond_page(call, &b, items, list.total);
}

struct fault_request {
    struct pawl_str definition_id;
    struct api_number limit;
};

static const struct api_field fault_fields[] = {
    API_FIELD(struct fault_request, definition_id, "definitionId", API_TEXT, API_IN_QUERY),
    API_FIELD(struct fault_request, limit, "instances", API_NUMBER, API_IN_QUERY),
};

static void list_faults(struct api_call *call, const void *data)
{
    const struct fault_request *request = data;
    struct pawl_fault_query query = {.definition_id = api_given(request->definition_id)};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();
    struct pawl_fault_list list;
    int status;

    if (request->limit.value < 0 || request->limit.value > (int64_t)PAWL_FAULT_INSTANCES_MAX) {
        api_refuse(call, 400, "instances", "1 to 500 instances are looked at.");
        return;
    }
    query.instance_limit = (uint32_t)request->limit.value;
    status = pawl__op_faults_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_fault(&b, &list.causes[i]));
    pawl__build(&b, &out, "items", items);
    pawl__build_int(&b, &out, "instances", (int64_t)list.looked_at);
    pawl__build_bool(&b, &out, "hasMore", list.has_more);
    api_respond(call, &b, &out);
}

/* ---- work ----------------------------------------------------------------------------------- */

static const char *const parts[] = {"all", "due", "later", "parked", NULL};

struct work_request {
    struct pawl_str instance_id, correlation_id, kind;
    int part, is_overdue;
    struct api_cursor cursor;
};

static const struct api_field work_fields[] = {
    API_FIELD_CHOICE(struct work_request, part, "state", parts, "state of work"),
    API_FIELD(struct work_request, instance_id, "instanceId", API_TEXT, API_IN_QUERY),
    API_FIELD(struct work_request, kind, "kind", API_TEXT, API_IN_QUERY),
    API_CURSOR_FIELDS(struct work_request),
};

static const struct api_field timer_fields[] = {
    API_FIELD(struct work_request, instance_id, "instanceId", API_TEXT, API_IN_QUERY),
    API_FIELD(struct work_request, is_overdue, "overdue", API_BOOL, API_IN_QUERY),
    API_CURSOR_FIELDS(struct work_request),
};

static const struct api_field task_fields[] = {
    API_FIELD(struct work_request, instance_id, "instanceId", API_TEXT, API_IN_QUERY),
    API_FIELD(struct work_request, correlation_id, "correlationId", API_TEXT, API_IN_QUERY),
    API_CURSOR_FIELDS(struct work_request),
};

static void list_queue(struct api_call *call, const void *data)
{
    const struct work_request *request = data;
    struct pawl_queue_query query = {
        .part = (enum pawl_queue_part)(request->part < 0 ? 0 : request->part),
        .instance_id = api_given(request->instance_id),
        .kind = api_given(request->kind)};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_queue_list list;
    int status;

    if (!api_cursor_page(call, &request->cursor, &query.page))
        return;
    status = pawl__op_queue_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_work(&b, &list.rows[i], list.now_us));
    api_respond_cursor(call, &b, items, &query.page, &list.page);
}

static void list_timers(struct api_call *call, const void *data)
{
    const struct work_request *request = data;
    struct pawl_timer_query query = {.instance_id = api_given(request->instance_id),
                                     .is_overdue = request->is_overdue == 1};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_timer_list list;
    int status;

    if (!api_cursor_page(call, &request->cursor, &query.page))
        return;
    status = pawl__op_timers_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_timer(&b, &list.timers[i]));
    api_respond_cursor(call, &b, items, &query.page, &list.page);
}

static void list_tasks(struct api_call *call, const void *data)
{
    const struct work_request *request = data;
    struct pawl_task_query query = {.instance_id = api_given(request->instance_id),
                                    .correlation_id = api_given(request->correlation_id)};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_task_list list;
    int status;

    if (!api_cursor_page(call, &request->cursor, &query.page))
        return;
    status = pawl__op_tasks_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_task(&b, &list.tasks[i]));
    api_respond_cursor(call, &b, items, &query.page, &list.page);
}

struct report_request {
    struct pawl_str id;
    const struct pawl_json *result;
};

static const struct api_field report_fields[] = {
    API_FIELD(struct report_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct report_request, result, "result", API_ANY, 0),
};

/* Unlike Elsa's, it says when nobody waits for the task. */
static void complete_task(struct api_call *call, const void *data)
{
    const struct report_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_send_result sent;
    struct pawl_json out;
    int status = pawl__op_task_complete(&call->op, request->id, request->result, true, &sent);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_sent(&b, &sent);
    api_respond(call, &b, &out);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define LIST(path_, permission_, handle_, request_, fields_, summary_, result_)                    \
    {                                                                                              \
        .method = "GET", .path = API_PAWL path_, .permission = (permission_), .handle = (handle_), \
        API_FIELDS(request_, fields_), .summary = (summary_), .result = (result_)                  \
    }

static const struct api_endpoint endpoints[] = {
    LIST("/instances/{id}/why", "read:workflow-instances", show_why, struct id_request, id_fields,
         "Why an instance does not continue, and what would resume it", "Why"),
    LIST("/instances/{id}/history", "read:workflow-instances", list_history, struct history_request,
         history_fields, "What happened in an instance", "History"),
    LIST("/faults", "read:workflow-instances", list_faults, struct fault_request, fault_fields,
         "Faults by cause", "Faults"),
    LIST("/queue", "read:queue", list_queue, struct work_request, work_fields,
         "Work that is due, later or parked", "Queue"),
    LIST("/timers", "read:queue", list_timers, struct work_request, timer_fields,
         "What becomes due by time", "Timers"),
    LIST("/tasks", "read:tasks", list_tasks, struct work_request, task_fields,
         "Tasks that workflows wait for", "Tasks"),
    {.method = "POST",
     .path = API_PAWL "/tasks/{id}/complete",
     .permission = "tasks:complete",
     .handle = complete_task,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct report_request, report_fields),
     .summary = "Reports that a task was done, and says what came of it",
     .result = "Sent"},
};
const struct api_family api_own = API_FAMILY("Pawl: work", endpoints);
