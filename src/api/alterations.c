/* SPDX-License-Identifier: Apache-2.0 */
/* Alterations of instances: at once, by a plan, retries. */
#include "operations/alterations.h"
#include "api/endpoint.h"
#include "api/private.h"
#include "views/alterations.h"

#define ALTERATIONS API_ELSA "/alterations"
#define RUN "run:alterations"

struct alter_request {
    struct pawl_str id;
    struct pawl_texts ids, activity_ids;
    const struct pawl_json *alterations, *filter;
};

static const struct api_field run_fields[] = {
    API_FIELD(struct alter_request, alterations, "alterations", API_ARRAY, 0),
    API_FIELD(struct alter_request, ids, "workflowInstanceIds", API_TEXTS, 0),
};

static const struct api_field retry_fields[] = {
    API_FIELD(struct alter_request, ids, "workflowInstanceIds", API_TEXTS, API_IN_QUERY),
    API_FIELD(struct alter_request, activity_ids, "activityIds", API_TEXTS, API_IN_QUERY),
};

static const struct api_field submit_fields[] = {
    API_FIELD(struct alter_request, id, "id", API_TEXT, 0),
    API_FIELD(struct alter_request, alterations, "alterations", API_ARRAY, 0),
    API_FIELD(struct alter_request, filter, "filter", API_OBJECT, 0),
};

static const struct api_field plan_fields[] = {
    API_FIELD(struct alter_request, id, "id", API_TEXT, API_IN_PATH),
};

/* What is wrong with the request, at its place. */
static void refuse(struct api_call *call, int status, const char *place)
{
    if (status == PAWL_EINVAL && place[0])
        api_refuse(call, 400, place, call->err.msg);
    else
        api_fail(call, status);
}

static void respond_results(struct api_call *call, const struct pawl_alteration_results *results)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__view_alterations(&b, results);

    api_respond(call, &b, &out);
}

static void run_alterations(struct api_call *call, const void *data)
{
    const struct alter_request *request = data;
    const struct pawl_json none = pawl__json_array();
    char place[PAWL_ALTERATION_PLACE_MAX] = "";
    struct pawl_alteration_results results;
    int status =
        pawl__op_alterations_run(&call->op, request->alterations ? request->alterations : &none,
                                 request->ids.texts, request->ids.count, place, &results);

    if (status == PAWL_OK)
        respond_results(call, &results);
    else
        refuse(call, status, place);
}

static void retry_instances(struct api_call *call, const void *data)
{
    const struct alter_request *request = data;
    struct pawl_alteration_results results;
    int status = pawl__op_alterations_retry(&call->op, request->ids.texts, request->ids.count,
                                            request->activity_ids.texts,
                                            request->activity_ids.count, &results);

    if (status == PAWL_OK)
        respond_results(call, &results);
    else
        api_fail(call, status);
}

static void respond_ids(struct api_call *call, const struct pawl_str *ids, size_t count)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), list = pawl__json_array();

    for (size_t i = 0; i < count; i++)
        pawl__build_append(&b, &list, pawl__json_string(ids[i]));
    pawl__build(&b, &out, "workflowInstanceIds", list);
    api_respond(call, &b, &out);
}

/* The body is the filter itself. */
static void select_instances(struct api_call *call, const void *data)
{
    char place[PAWL_ALTERATION_PLACE_MAX] = "";
    const struct pawl_str *ids;
    struct pawl_json filter;
    size_t count;
    int status;

    (void)data;
    if (!api_body(call, false, &filter))
        return;
    status = pawl__op_alterations_select(&call->op, &filter, place, &ids, &count);
    if (status == PAWL_OK)
        respond_ids(call, ids, count);
    else
        refuse(call, status, place);
}

static void submit_plan(struct api_call *call, const void *data)
{
    const struct alter_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    char place[PAWL_ALTERATION_PLACE_MAX] = "";
    struct pawl_json out = pawl__json_object();
    struct pawl_str plan_id;
    int status = pawl__op_plan_submit(&call->op, api_given(request->id), request->alterations,
                                      request->filter, place, &plan_id);

    if (status != PAWL_OK) {
        refuse(call, status, place);
        return;
    }
    pawl__build_text(&b, &out, "planId", plan_id);
    api_respond(call, &b, &out);
}

static void show_plan(struct api_call *call, const void *data)
{
    const struct alter_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_plan_shown shown;
    struct pawl_json out;
    int status = pawl__op_plan_show(&call->op, request->id, &shown);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_plan(&b, &shown);
    api_respond(call, &b, &out);
}

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = ALTERATIONS "/run",
     .permission = RUN,
     .handle = run_alterations,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct alter_request, run_fields),
     .summary = "Alters instances now",
     .result = "AlterationResults",
     .flags = PAWL_ROUTE_COMPUTES},
    {.method = "POST",
     .path = ALTERATIONS "/dry-run",
     .permission = RUN,
     .handle = select_instances,
     .body = API_BODY_RAW,
     .summary = "Which instances a filter selects",
     .result = "InstanceIds"},
    {.method = "POST",
     .path = ALTERATIONS "/submit",
     .permission = RUN,
     .handle = submit_plan,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct alter_request, submit_fields),
     .summary = "Submits a plan that alters all instances that a filter selects",
     .result = "PlanId"},
    {.method = "GET",
     .path = ALTERATIONS "/workflows/retry",
     .permission = RUN,
     .handle = retry_instances,
     API_FIELDS(struct alter_request, retry_fields),
     .summary = "Runs what faulted once more",
     .result = "AlterationResults",
     .flags = PAWL_ROUTE_COMPUTES},
    {.method = "POST",
     .path = ALTERATIONS "/workflows/retry",
     .permission = RUN,
     .handle = retry_instances,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct alter_request, retry_fields),
     .summary = "Runs what faulted once more",
     .result = "AlterationResults",
     .flags = PAWL_ROUTE_COMPUTES},
    {.method = "GET",
     .path = ALTERATIONS "/{id}",
     .permission = "read:alterations",
     .handle = show_plan,
     API_FIELDS(struct alter_request, plan_fields),
     .summary = "A plan with its jobs",
     .result = "AlterationPlan"},
};
const struct api_family api_alterations = API_FAMILY("Alterations", endpoints);
