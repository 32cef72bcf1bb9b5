/* SPDX-License-Identifier: Apache-2.0 */
/* Pawl's own API: the cluster, its locks, settings, records and counts. */
#include "api/items.h"
#include "operations/audit.h"
#include "operations/locks.h"
#include "operations/nodes.h"
#include "operations/statistics.h"
#include "views/audit.h"
#include "views/locks.h"
#include "views/nodes.h"
#include "views/queue.h"
#include "views/statistics.h"

#define READ "read:workflow-runtime"
#define MANAGE "ManageWorkflowRuntime"

/* ---- nodes ---------------------------------------------------------------------------------- */

struct node_request {
    struct pawl_str id, reason;
    int with_gone, with_instances;
    struct api_cursor cursor;
};

static const struct api_field cluster_fields[] = {
    API_FIELD(struct node_request, with_gone, "gone", API_BOOL, API_IN_QUERY),
    API_FIELD(struct node_request, with_instances, "instances", API_BOOL, API_IN_QUERY),
    API_CURSOR_FIELDS(struct node_request),
};

static const struct api_field pause_fields[] = {
    API_FIELD(struct node_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct node_request, reason, "reason", API_TEXT, 0),
};

static void show_cluster(struct api_call *call, const void *data)
{
    const struct node_request *request = data;
    struct pawl_node_query query = {.with_gone = request->with_gone == 1,
                                    .with_instances = request->with_instances == 1};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), nodes = pawl__json_array();
    struct pawl_json pauses = pawl__json_array();
    struct pawl_node_list list;
    int status;

    if (!api_cursor_page(call, &request->cursor, &query.page))
        return;
    status = pawl__op_nodes_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &nodes, pawl__view_node(&b, &list.nodes[i], query.with_instances));
    for (size_t i = 0; i < list.pause_count; i++)
        pawl__build_append(&b, &pauses, pawl__view_pause(&b, &list.pauses[i]));
    pawl__view_time(&b, &out, "now", list.now_us);
    pawl__build(&b, &out, "nodes", nodes);
    pawl__build(&b, &out, "pauses", pauses);
    pawl__build_text(&b, &out, "next", list.page.next);
    api_respond(call, &b, &out);
}

static void pause_node(struct api_call *call, const void *data)
{
    const struct node_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_pause pause;
    struct pawl_json out;
    int status = pawl__op_node_pause(&call->op, request->id, api_given(request->reason), &pause);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_pause(&b, &pause);
    api_respond(call, &b, &out);
}

static void unpause_node(struct api_call *call, const void *data)
{
    const struct node_request *request = data;
    int status = pawl__op_node_unpause(&call->op, request->id);

    if (status == PAWL_OK)
        api_respond_status(call, 204);
    else
        api_fail(call, status);
}

/* ---- locks, settings ------------------------------------------------------------------------ */

struct lock_request {
    struct api_number limit;
};

static const struct api_field lock_fields[] = {
    API_FIELD(struct lock_request, limit, "limit", API_NUMBER, API_IN_QUERY),
};

/* A service that does not say who holds what, and no service at all, are no mistake of a client. */
static void respond_no_locks(struct api_call *call)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    pawl__build(&b, &out, "items", pawl__json_array());
    pawl__build_bool(&b, &out, "isSupported", false);
    pawl__build(&b, &out, "reason", pawl__json_string(pawl__str(call->err.msg)));
    api_respond(call, &b, &out);
}

static void list_locks(struct api_call *call, const void *data)
{
    const struct lock_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), items = pawl__json_array();
    struct pawl_lock_list list;
    int status;

    if (request->limit.value < 0 || request->limit.value > (int64_t)PAWL_PAGE_ROWS_MAX) {
        api_refuse(call, 400, "limit", "A page has 1 to 10000 rows.");
        return;
    }
    status = pawl__op_locks_list(&call->op, pawl__str(""), (uint32_t)request->limit.value, &list);
    if (status == PAWL_EUNSUPPORTED || status == PAWL_EINVAL) {
        respond_no_locks(call);
        return;
    }
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_lock(&b, &list.holders[i]));
    pawl__build(&b, &out, "items", items);
    pawl__build_bool(&b, &out, "isSupported", true);
    pawl__build_bool(&b, &out, "hasMore", list.has_more);
    api_respond(call, &b, &out);
}

static void list_settings(struct api_call *call, const void *request)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    const struct pawl_setting_shown *list;
    size_t count;
    int status = pawl__op_settings_list(&call->op, &list, &count);

    (void)request;
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < count; i++)
        pawl__build_append(&b, &items, pawl__view_setting(&b, &list[i]));
    api_respond_items(call, &b, items);
}

/* ---- records -------------------------------------------------------------------------------- */

struct audit_request {
    struct pawl_str id, actor, door, action, kind, target;
    struct api_cursor cursor;
};

static const struct api_field audit_fields[] = {
    API_FIELD(struct audit_request, actor, "actor", API_TEXT, API_IN_QUERY),
    API_FIELD(struct audit_request, door, "door", API_TEXT, API_IN_QUERY),
    API_FIELD(struct audit_request, action, "action", API_TEXT, API_IN_QUERY),
    API_FIELD(struct audit_request, kind, "kind", API_TEXT, API_IN_QUERY),
    API_FIELD(struct audit_request, target, "target", API_TEXT, API_IN_QUERY),
    API_CURSOR_FIELDS(struct audit_request),
};

static const struct api_field record_fields[] = {
    API_FIELD(struct audit_request, id, "id", API_TEXT, API_IN_PATH),
};

static void list_audit(struct api_call *call, const void *data)
{
    const struct audit_request *request = data;
    struct pawl_audit_query query = {.actor = api_given(request->actor),
                                     .door = api_given(request->door),
                                     .action = api_given(request->action),
                                     .kind = api_given(request->kind),
                                     .target = api_given(request->target)};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_audit_list list;
    int status;

    if (!api_cursor_page(call, &request->cursor, &query.page))
        return;
    status = pawl__op_audit_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_audit(&b, &list.rows[i]));
    api_respond_cursor(call, &b, items, &query.page, &list.page);
}

static void show_record(struct api_call *call, const void *data)
{
    const struct audit_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_audit_row row;
    struct pawl_json out;
    int status = pawl__op_audit_show(&call->op, request->id, &row);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_audit(&b, &row);
    api_respond(call, &b, &out);
}

/* ---- counts --------------------------------------------------------------------------------- */

static void show_overview(struct api_call *call, const void *request)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_overview seen;
    struct pawl_json out;
    int status = pawl__op_overview(&call->op, 0, &seen);

    (void)request;
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_overview(&b, &seen);
    api_respond(call, &b, &out);
}

struct counts_request {
    struct api_cursor cursor;
};

static const struct api_field counts_fields[] = {
    API_CURSOR_FIELDS(struct counts_request),
};

static void list_counts(struct api_call *call, const void *data)
{
    const struct counts_request *request = data;
    struct pawl_count_query query = {.from_us = 0};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_definition_counts_list list;
    int status;

    if (!api_cursor_page(call, &request->cursor, &query.page))
        return;
    status = pawl__op_count_by_definition(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &items, pawl__view_definition_counts(&b, &list.rows[i]));
    api_respond_cursor(call, &b, items, &query.page, &list.page);
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = API_PAWL "/overview",
     .permission = READ,
     .handle = show_overview,
     .summary = "How the store and its nodes are doing",
     .result = "Overview"},
    {.method = "GET",
     .path = API_PAWL "/statistics/definitions",
     .permission = READ,
     .handle = list_counts,
     API_FIELDS(struct counts_request, counts_fields),
     .summary = "Counts of instances by definition",
     .result = "DefinitionCounts"},
    {.method = "GET",
     .path = API_PAWL "/cluster",
     .permission = READ,
     .handle = show_cluster,
     API_FIELDS(struct node_request, cluster_fields),
     .summary = "Nodes and pauses",
     .result = "Cluster"},
    {.method = "POST",
     .path = API_PAWL "/nodes/{id}/pause",
     .permission = MANAGE,
     .handle = pause_node,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct node_request, pause_fields),
     .summary = "Pauses one node",
     .result = "Pause"},
    {.method = "POST",
     .path = API_PAWL "/nodes/{id}/unpause",
     .permission = MANAGE,
     .handle = unpause_node,
     API_FIELDS(struct node_request, pause_fields),
     .summary = "Ends the pause of one node"},
    {.method = "GET",
     .path = API_PAWL "/locks",
     .permission = READ,
     .handle = list_locks,
     API_FIELDS(struct lock_request, lock_fields),
     .summary = "Locks that are held",
     .result = "Locks"},
    {.method = "GET",
     .path = API_PAWL "/settings",
     .permission = "read:settings",
     .handle = list_settings,
     .summary = "Settings of this node with their origins; secrets are not shown",
     .result = "Settings"},
    {.method = "GET",
     .path = API_PAWL "/audit",
     .permission = "read:audit",
     .handle = list_audit,
     API_FIELDS(struct audit_request, audit_fields),
     .summary = "What operators changed",
     .result = "AuditRecords"},
    {.method = "GET",
     .path = API_PAWL "/audit/{id}",
     .permission = "read:audit",
     .handle = show_record,
     API_FIELDS(struct audit_request, record_fields),
     .summary = "The record of one request",
     .result = "AuditRecord"},
};
const struct api_family api_own_cluster = API_FAMILY("Pawl: cluster", endpoints);
