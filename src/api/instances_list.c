/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of workflow instances: filters, orders and pages as Elsa has them. */
#include "api/items.h"
#include "base/time/datetime.h"
#include "operations/instances.h"
#include "views/instances.h"

#include <stdio.h>

struct list_request {
    struct api_number page, page_size, version;
    struct pawl_str search, definition_id, correlation_id, name;
    struct pawl_texts definition_ids, statuses, sub_statuses;
    int has_incidents, is_system;
    int status, sub_status, order, direction;
    const struct pawl_json *times;
};

static const char *const status_words[] = {"Running", "Finished", NULL};
static const char *const sub_status_words[] = {"Pending",   "Executing", "Suspended",   "Finished",
                                               "Cancelled", "Faulted",   "Interrupted", NULL};
/* Studio says LastExecuted for UpdatedAt. */
static const char *const order_words[] = {"Created", "UpdatedAt",    "Finished",
                                          "Name",    "LastExecuted", NULL};
static const enum pawl_instance_sort sorts[] = {
    PAWL_INSTANCES_BY_CREATED, PAWL_INSTANCES_BY_UPDATED, PAWL_INSTANCES_BY_FINISHED,
    PAWL_INSTANCES_BY_NAME, PAWL_INSTANCES_BY_UPDATED};
static const char *const direction_words[] = {"Ascending", "Descending", NULL};

#define LIST_FIELD(member, name, type) API_FIELD(struct list_request, member, name, type, 0)

static const struct api_field list_fields[] = {
    LIST_FIELD(page, "page", API_NUMBER),
    LIST_FIELD(page_size, "pageSize", API_NUMBER),
    LIST_FIELD(search, "searchTerm", API_TEXT),
    LIST_FIELD(definition_id, "definitionId", API_TEXT),
    LIST_FIELD(definition_ids, "definitionIds", API_TEXTS),
    LIST_FIELD(correlation_id, "correlationId", API_TEXT),
    LIST_FIELD(name, "name", API_TEXT),
    LIST_FIELD(version, "version", API_NUMBER),
    LIST_FIELD(has_incidents, "hasIncidents", API_BOOL),
    LIST_FIELD(is_system, "isSystem", API_BOOL),
    API_FIELD_CHOICE(struct list_request, status, "status", status_words, "WorkflowStatus"),
    LIST_FIELD(statuses, "statuses", API_TEXTS),
    API_FIELD_CHOICE(struct list_request, sub_status, "subStatus", sub_status_words,
                     "WorkflowSubStatus"),
    LIST_FIELD(sub_statuses, "subStatuses", API_TEXTS),
    API_FIELD_CHOICE(struct list_request, order, "orderBy", order_words, "OrderByWorkflowInstance"),
    API_FIELD_CHOICE(struct list_request, direction, "orderDirection", direction_words,
                     "OrderDirection"),
    LIST_FIELD(times, "timestampFilters", API_ARRAY),
};

/* ---- times ----------------------------------------------------------------------------------- */

#define US_PER_DAY INT64_C(86400000000)
#define TICKS_PER_US 10
/* Of 1970-01-01, in ticks since the year 1. */
#define EPOCH_TICKS INT64_C(621355968000000000)

static bool refuse_time(struct api_call *call, uint32_t index, const char *member,
                        const char *detail)
{
    char key[64];

    (void)snprintf(key, sizeof key, "timestampFilters[%u]%s", index, member);
    api_refuse(call, 400, key, detail);
    return false;
}

static bool refuse_column(struct api_call *call, uint32_t index, const char *what)
{
    char detail[200];

    (void)snprintf(detail, sizeof detail, "Timestamp filter at index %u: %s", index, what);
    api_refuse(call, 400, "generalErrors", detail);
    return false;
}

static bool read_operator(struct api_call *call, uint32_t index, const struct pawl_json *value,
                          enum pawl_compare *out)
{
    static const char *const words[] = {"Is",          "IsNot",           "LessThan",
                                        "GreaterThan", "LessThanOrEqual", "GreaterThanOrEqual"};
    static const enum pawl_compare compares[] = {PAWL_EQ, PAWL_NE, PAWL_LT,
                                                 PAWL_GT, PAWL_LE, PAWL_GE};
    int64_t number = -1;

    for (int i = 0; i < 6; i++) {
        bool is_it = pawl__json_is(value, PAWL_JSON_STRING)
                         ? pawl__str_equal_nocase(pawl__json_str(value), pawl__str(words[i]))
                         : pawl__json_to_int(value, &number) && number == i;

        if (is_it) {
            *out = compares[i];
            return true;
        }
    }
    return refuse_time(call, index, ".operator",
                       "Is, IsNot, LessThan, GreaterThan, LessThanOrEqual or GreaterThanOrEqual is "
                       "expected.");
}

static bool read_column(struct api_call *call, uint32_t index, struct pawl_str column,
                        struct pawl_instance_time *out)
{
    if (column.len == 0)
        return refuse_column(call, index, "Timestamp filter column must be specified.");
    if (pawl__str_equal_nocase(column, pawl__str("CreatedAt")))
        out->which = PAWL_INSTANCE_CREATED;
    else if (pawl__str_equal_nocase(column, pawl__str("UpdatedAt")))
        out->which = PAWL_INSTANCE_UPDATED;
    else if (pawl__str_equal_nocase(column, pawl__str("FinishedAt")))
        out->which = PAWL_INSTANCE_ENDED;
    else
        return refuse_column(call, index,
                             "Invalid timestamp filter column. Allowed columns are: CreatedAt, "
                             "UpdatedAt, FinishedAt.");
    return true;
}

static bool read_time(struct api_call *call, uint32_t index, const struct pawl_json *filter,
                      struct pawl_instance_time *out)
{
    const struct pawl_json *column = api_member(filter, "column");
    const struct pawl_json *operator_ = api_member(filter, "operator");
    const struct pawl_json *timestamp = api_member(filter, "timestamp");
    struct pawl_datetime time;
    int64_t us;

    *out = (struct pawl_instance_time){.compare = PAWL_EQ};
    if (!column || !operator_ || !timestamp)
        return refuse_time(call, index, "", "It must have a column, an operator and a timestamp.");
    if (!pawl__json_is(timestamp, PAWL_JSON_STRING) ||
        pawl__datetime_parse(pawl__json_str(timestamp), &time, NULL) != PAWL_OK)
        return refuse_time(call, index, ".timestamp", "A time in ISO 8601 is expected.");
    if (!read_operator(call, index, operator_, &out->compare) ||
        !read_column(call, index, pawl__json_str(column), out))
        return false;
    us = (pawl__datetime_utc_ticks(time) - EPOCH_TICKS) / TICKS_PER_US;
    out->us = us;
    out->is_day = us % US_PER_DAY == 0;
    return true;
}

static bool read_times(struct api_call *call, const struct pawl_json *filters,
                       struct pawl_instance_query *query)
{
    uint32_t count = pawl__json_len(filters);
    struct pawl_instance_time *times =
        pawl__arena_alloc_array(&call->arena, (size_t)count + 1, sizeof *times);

    if (!times) {
        api_fail(call, PAWL_ENOMEM);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!read_time(call, i, pawl__json_at(filters, i), &times[i]))
            return false;
    }
    query->times = times;
    query->time_count = count;
    return true;
}

/* ---- statuses -------------------------------------------------------------------------------- */

/* Names, in which a digit stands for the name at its place; none: any. */
static bool read_names(struct api_call *call, struct pawl_texts given, const char *const *words,
                       size_t word_count, const struct pawl_str **out, size_t *count)
{
    struct pawl_str *names = pawl__arena_alloc_array(&call->arena, given.count + 1, sizeof *names);

    if (!names) {
        api_fail(call, PAWL_ENOMEM);
        return false;
    }
    for (size_t i = 0; i < given.count; i++) {
        struct pawl_str name = given.texts[i];
        size_t digit = name.len == 1 ? (size_t)(unsigned char)name.ptr[0] - '0' : SIZE_MAX;

        names[i] = digit < word_count ? pawl__str(words[digit]) : name;
    }
    *out = given.count > 0 ? names : NULL;
    *count = given.count;
    return true;
}

/* One and several: those of the several that are the one. */
static void narrow(struct pawl_instance_query *query, struct pawl_str *one)
{
    size_t kept = query->sub_statuses ? 0 : 1;

    for (size_t i = 0; query->sub_statuses && i < query->sub_status_count; i++)
        kept |= pawl__str_equal_nocase(query->sub_statuses[i], *one);
    query->sub_statuses = one;
    query->sub_status_count = kept;
}

static bool read_statuses(struct api_call *call, const struct list_request *request,
                          struct pawl_instance_query *query, struct pawl_str *sub_status)
{
    if (request->status >= 0)
        query->status = pawl__str(status_words[request->status]);
    if (!read_names(call, request->statuses, status_words, 2, &query->statuses,
                    &query->status_count) ||
        !read_names(call, request->sub_statuses, sub_status_words, 7, &query->sub_statuses,
                    &query->sub_status_count))
        return false;
    if (request->sub_status >= 0) {
        *sub_status = pawl__str(sub_status_words[request->sub_status]);
        narrow(query, sub_status);
    }
    return true;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* A page without a size is everything, as much of it as one response may have. */
static bool read_page(struct api_call *call, const struct list_request *request,
                      struct pawl_page_request *page)
{
    int64_t number = request->page.value, size = request->page_size.value;

    page->limit = PAWL_PAGE_ROWS_MAX;
    page->with_total = true;
    if (number < 0) {
        api_refuse(call, 400, "generalErrors", "Page must be greater than or equal to 0.");
        return false;
    }
    if (!request->page_size.is_given)
        return true;
    if (size < 1) {
        api_refuse(call, 400, "generalErrors", "Page size must be greater than or equal to 1.");
        return false;
    }
    page->offset = (uint64_t)number * (uint64_t)size;
    if (size < PAWL_PAGE_ROWS_MAX)
        page->limit = (uint32_t)size;
    return true;
}

/* The direction is each order's usual one unless the other is asked for. */
static void read_order(const struct list_request *request, struct pawl_instance_query *query)
{
    bool is_ascending;

    query->sort = request->order >= 0 ? sorts[request->order] : PAWL_INSTANCES_BY_CREATED;
    is_ascending = query->sort == PAWL_INSTANCES_BY_NAME;
    if (request->direction >= 0)
        query->page.reversed = (request->direction == 0) != is_ascending;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* `sub_status` is a place for the one that is asked for. */
static bool read_query(struct api_call *call, const struct list_request *request,
                       struct pawl_instance_query *query, struct pawl_str *sub_status)
{
    *query = PAWL_INSTANCE_QUERY_ALL;
    query->search = request->search;
    query->definition_id = request->definition_id;
    query->correlation_id = request->correlation_id;
    query->name = request->name;
    if (request->definition_ids.count > 0) {
        query->definition_ids = request->definition_ids.texts;
        query->definition_id_count = request->definition_ids.count;
    }
    query->version = request->version.value;
    query->has_incidents = request->has_incidents;
    query->is_system = request->is_system;
    if (!read_page(call, request, &query->page) || !read_statuses(call, request, query, sub_status))
        return false;
    read_order(request, query);
    return read_times(call, request->times, query);
}

static void list(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_instance_query query;
    struct pawl_instance_list found;
    struct pawl_str sub_status;
    int status;

    if (!read_query(call, data, &query, &sub_status))
        return;
    status = pawl__op_instances_list(&call->op, &query, &found);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < found.count; i++)
        pawl__build_append(&b, &items, pawl__view_instance_summary(&b, &found.rows[i]));
    api_respond_page(call, &b, items, found.page.total);
}

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = API_ELSA "/workflow-instances",
     .permission = "read:workflow-instances",
     .handle = list,
     API_FIELDS(struct list_request, list_fields),
     .summary = "Lists instances",
     .result = "WorkflowInstances"},
    {.method = "POST",
     .path = API_ELSA "/workflow-instances",
     .permission = "read:workflow-instances",
     .handle = list,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct list_request, list_fields),
     .summary = "Lists instances",
     .result = "WorkflowInstances"},
};
const struct api_family api_instances_list = API_FAMILY("Instances", endpoints);
