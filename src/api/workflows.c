/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflows as HTTP endpoints, below the path that the setting endpoints.path names: who may use
 * one, and the responses. What a request is to a workflow is in workflows_request.c.
 */
#include "api/workflows.h"

#include "api/endpoint.h"
#include "base/alloc.h"
#include "base/base64.h"
#include "base/http_message.h"
#include "base/log.h"
#include "operations/identity.h"

/* Studio has the origin of the server, or of a proxy before several: whichever node replies, what a
 * workflow replies must not act as its pages. */
#define SANDBOX "sandbox allow-scripts allow-forms allow-popups allow-downloads"
/* Who may choose the id of an instance elsewhere (execute.c) may do so here. */
#define CHOOSE_ID "exec:workflow-definitions"

/* ---- responses ------------------------------------------------------------------------------ */

/* Whether it acts on all of the origin, which is not the workflow's alone: its sessions, how it is
 * reached, where browsers report what they do there. */
static bool acts_on_origin(struct pawl_str name, struct pawl_str value)
{
    static const char *const names[] = {
        "Accept-CH",
        "Alt-Svc",
        "Clear-Site-Data",
        "NEL",
        "Public-Key-Pins",
        "Report-To",
        "Service-Worker-Allowed",
        "Set-Login",
        "Strict-Transport-Security",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pawl__str_equal_nocase(name, pawl__str(names[i])))
            return true;
    return pawl__str_equal_nocase(name, pawl__str("Set-Cookie")) && api_is_own_cookie(value);
}

static void add_headers(struct pawl_exchange *exchange, const struct pawl_json *headers)
{
    for (uint32_t i = 0; i < pawl__json_len(headers); i++) {
        const struct pawl_json *pair = pawl__json_at(headers, i);
        struct pawl_str name = pawl__json_str(pawl__json_at(pair, 0));
        struct pawl_str value = pawl__json_str(pawl__json_at(pair, 1));

        if (name.len > 0 && value.ptr && !acts_on_origin(name, value))
            pawl__exchange_add_field_str(exchange, name, value);
    }
}

void api_workflow_body(struct pawl_buf *out, const struct pawl_json *reply)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(reply, PAWL_HTTP_CONTENT));
    struct pawl_str encoded = pawl__json_str(pawl__json_get_text(reply, PAWL_HTTP_CONTENT_BASE64));
    unsigned char *bytes;
    size_t len;

    pawl__buf_append(out, text.ptr, text.len);
    if (encoded.len == 0)
        return;
    bytes = pawl__alloc(out->alloc, encoded.len);
    if (!bytes) {
        out->status = PAWL_ENOMEM;
        return;
    }
    len = pawl__base64_decode(encoded, bytes);
    if (len != SIZE_MAX)
        pawl__buf_append(out, (const char *)bytes, len);
    pawl__free(out->alloc, bytes, encoded.len);
}

/* The call was kept for it. */
static void on_reply(void *ctx, int status, const struct pawl_json *reply)
{
    struct api_call *call = ctx;
    int64_t code = 500;

    if (status == PAWL_OK) {
        (void)pawl__json_to_int(pawl__json_get_text(reply, PAWL_HTTP_STATUS), &code);
        add_headers(call->exchange, pawl__json_get_text(reply, PAWL_HTTP_HEADERS));
        pawl__exchange_add_field(call->exchange, "Content-Security-Policy", SANDBOX);
        if (pawl__json_true(pawl__json_get_text(reply, PAWL_HTTP_FILE)))
            code = api_workflow_file(call, reply);
        else
            api_workflow_body(pawl__exchange_out(call->exchange), reply);
        pawl__exchange_respond(call->exchange, code >= 200 && code <= 599 ? (int)code : 500);
    } else if (status == PAWL_ETIMEDOUT) {
        pawl__exchange_refuse(call->exchange, 504,
                              "The workflow has not replied in time; it goes on.");
    } else if (status == PAWL_EUNKNOWN) {
        pawl__exchange_refuse(call->exchange, 504,
                              "The request was not stored in time: it may still be, or never. Send "
                              "it again with the same Idempotency-Key, if it has one.");
    } else {
        pawl__exchange_add_field(call->exchange, "Retry-After", "5");
        pawl__exchange_refuse(call->exchange, 503,
                              "This node is ending; whether the workflow goes on is unknown.");
    }
    api_finish(call);
}

static void respond_ambiguous(struct api_call *call)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    /* Strangers do not learn the ids. */
    if (call->api->log)
        pawl_log(call->api->log, PAWL_LOG_WARN, "a request is for several workflows",
                 pawl_log_text("why", call->err.msg));
    pawl__build_name(&b, &out, "errorMessage",
                     "The call is ambiguous and matches multiple workflows.");
    api_respond_with(call, 500, &b, &out);
}

static void fail_request(struct api_call *call, int status)
{
    switch (status) {
    case PAWL_ENOTFOUND:
        api_respond_status(call, 404);
        break;
    case PAWL_ECONFLICT:
    case PAWL_EEXISTS:
        if (status == PAWL_ECONFLICT)
            pawl__exchange_add_field(call->exchange, "Retry-After", "1");
        pawl__exchange_refuse(call->exchange, 409, call->err.msg);
        break;
    case PAWL_EUNAVAILABLE:
        pawl__exchange_add_field(call->exchange, "Retry-After", "60");
        pawl__exchange_refuse(call->exchange, 503, "This node does not begin anything now.");
        break;
    case PAWL_ELIMIT:
        pawl__exchange_refuse(call->exchange, 413, call->err.msg);
        break;
    default:
        api_fail(call, status);
    }
}

/* ---- who may -------------------------------------------------------------------------------- */

/* false: it was refused. */
static bool authorize(struct api_call *call, const struct pawl_endpoint *endpoint)
{
    char policy[256];

    if (!endpoint->authorize && endpoint->policy.len == 0)
        return true;
    if (!call->caller) {
        pawl__exchange_add_field(call->exchange, "WWW-Authenticate", "Bearer");
        api_respond_status(call, 401);
        return false;
    }
    if (endpoint->policy.len == 0)
        return true;
    if (endpoint->policy.len < sizeof policy) {
        memcpy(policy, endpoint->policy.ptr, endpoint->policy.len);
        policy[endpoint->policy.len] = '\0';
        if (pawl__permissions_allow(&call->caller->permissions, policy))
            return true;
    }
    api_respond_status(call, 403);
    return false;
}

/* ---- the request ---------------------------------------------------------------------------- */

static struct pawl_str field_or(const struct api_call *call, const char *field,
                                struct pawl_str otherwise)
{
    struct pawl_str value = pawl__exchange_field(call->exchange, field);

    if (value.ptr && pawl__str_trim(value).len > 0)
        return pawl__str_trim(value);
    return otherwise.ptr ? otherwise : pawl__str("");
}

/* Others get one of the server's choice: they do not learn which ids there are. */
static bool may_choose_id(const struct api_call *call)
{
    return call->caller && pawl__permissions_allow(&call->caller->permissions, CHOOSE_ID);
}

/* Who sends a request again must still be allowed to, and sign it. */
static void respond_again(struct api_call *call, const struct pawl_kept_reply *kept)
{
    if (!authorize(call, &kept->demands) || !api_workflow_is_signed(call, &kept->demands))
        return;
    api_keep(call);
    on_reply(call, PAWL_OK, &kept->reply);
}

/* `endpoint` NULL: nobody waits for it, perhaps because it was sent before. */
static void deliver(struct api_call *call, const struct pawl_endpoint_question *question,
                    const struct pawl_endpoint *endpoint, const struct pawl_query *query)
{
    struct pawl_str key = api_idempotency_key(call);
    struct pawl_kept_reply kept;
    struct pawl_json request;
    int status =
        endpoint || key.len > 0 ? api_workflow_request(call, query, &request) : PAWL_ENOTFOUND;

    if (status == PAWL_OK && key.len > 0) {
        status = pawl__op_endpoint_kept(
            &call->op, question, endpoint ? endpoint->hash : pawl__str(""), &request, key, &kept);
        if (status == PAWL_OK) {
            respond_again(call, &kept);
            return;
        }
        status = endpoint && status == PAWL_ENOTFOUND ? PAWL_OK : status;
    }
    if (status != PAWL_OK) {
        fail_request(call, status);
        return;
    }
    api_keep(call);
    status = pawl__op_endpoint_request(&call->op, endpoint, &request, key, on_reply, call);
    if (status == PAWL_OK)
        return;
    fail_request(call, status);
    api_finish(call);
}

static void handle(struct api_call *call, const void *data)
{
    struct pawl_endpoint_question question = {
        .method = pawl__exchange_method(call->exchange),
        .path = api_workflow_path(call),
    };
    struct pawl_endpoint endpoint;
    struct pawl_query query;
    int status = pawl__query_parse(pawl__exchange_query(call->exchange), &call->arena, &query);

    (void)data;
    if (atomic_load(&call->api->draining)) {
        pawl__exchange_add_field(call->exchange, "Retry-After", "5");
        pawl__exchange_refuse(call->exchange, 503, "This node is ending; ask another one.");
        return;
    }
    if (status != PAWL_OK) {
        pawl__exchange_refuse(call->exchange, 400, "The query cannot be read.");
        return;
    }
    question.instance_id =
        field_or(call, "x-workflow-instance-id", pawl__query_value(&query, "workflowInstanceId"));
    question.correlation_id =
        field_or(call, "x-correlation-id", pawl__query_value(&query, "correlationId"));
    status = pawl__op_endpoint_find(&call->op, &question, &endpoint);
    if (status == PAWL_OK && endpoint.is_trigger && !may_choose_id(call))
        endpoint.instance_id = pawl__str("");
    if (status == PAWL_ECONFLICT)
        respond_ambiguous(call);
    else if (status == PAWL_ENOTFOUND)
        deliver(call, &question, NULL, &query);
    else if (status != PAWL_OK)
        fail_request(call, status);
    else if (authorize(call, &endpoint) && api_workflow_is_signed(call, &endpoint))
        deliver(call, &question, &endpoint, &query);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define ENDPOINT(method_, body_, content_)                                                         \
    {                                                                                              \
        .method = (method_), .path = API_WORKFLOWS, .permission = API_ENDPOINT, .handle = handle,  \
        .body = (body_), .content = (content_),                                                    \
        .summary = "Sends a request to a workflow that is an HTTP endpoint",                       \
        .flags = PAWL_ROUTE_NO_DEADLINE | PAWL_ROUTE_COMPUTES,                                     \
    }

/* Bodies that are not documented reach the workflow all the same. */
static const struct api_endpoint endpoints[] = {
    ENDPOINT("GET", API_BODY_IGNORED, NULL),
    ENDPOINT("POST", API_BODY_RAW, API_CONTENT_FILES),
    ENDPOINT("PUT", API_BODY_RAW, API_CONTENT_FILES),
    ENDPOINT("DELETE", API_BODY_IGNORED, NULL),
    ENDPOINT("PATCH", API_BODY_RAW, API_CONTENT_FILES),
    ENDPOINT("HEAD", API_BODY_IGNORED, NULL),
    ENDPOINT("OPTIONS", API_BODY_IGNORED, NULL),
};
const struct api_family api_workflows = API_FAMILY("Endpoints", endpoints);
