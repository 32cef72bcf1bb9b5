/* SPDX-License-Identifier: Apache-2.0 */
/* Links: what somebody with a token may do without signing in; and making them. */
#include "operations/links.h"
#include "api/endpoint.h"
#include "api/private.h"

/* Of what comes without a credential. */
#define INPUT_BYTES_MAX ((uint64_t)1 << 20)
#define LIFE_MAX_S INT64_C(315360000)

struct link_request {
    struct pawl_str token, input;
    int is_async; /* accepted; a resume is durable before the response either way */
};

static const struct api_field event_fields[] = {
    API_FIELD(struct link_request, token, "t", API_TEXT, API_IN_QUERY),
};

static const struct api_field resume_fields[] = {
    API_FIELD(struct link_request, token, "t", API_TEXT, API_IN_QUERY),
    API_FIELD(struct link_request, input, "in", API_TEXT, API_IN_QUERY),
    API_FIELD(struct link_request, is_async, "async", API_BOOL, API_IN_QUERY),
};

/* Why a token is not valid is not said. */
static void finish(struct api_call *call, int status)
{
    if (status == PAWL_OK || status == PAWL_ENOTFOUND)
        api_respond_status(call, 200);
    else if (status == PAWL_EPERM)
        api_refuse(call, 400, "generalErrors", "Invalid token.");
    else
        api_fail(call, status);
}

static void send_event(struct api_call *call, const void *data)
{
    const struct link_request *request = data;
    struct pawl_send_result sent;

    if (!request->token.ptr) {
        api_refuse(call, 400, "t", "Query parameter was not found!");
        return;
    }
    finish(call, pawl__op_link_send(&call->op, request->token, &sent));
}

/* Parses an input; *out is null without one. false: it was refused. */
static bool read_input(struct api_call *call, struct pawl_str text, const char *member,
                       struct pawl_json *out)
{
    const struct pawl_json *value;
    struct pawl_json parsed;

    *out = pawl__json_null();
    if (text.len == 0)
        return true;
    if (text.len > INPUT_BYTES_MAX) {
        api_refuse(call, 400, "generalErrors", "Request body is too large.");
        return false;
    }
    if (pawl__json_parse(&call->arena, text, NULL, &parsed, NULL, &call->err) == PAWL_OK) {
        value = member ? api_member(&parsed, member) : &parsed;
        if (pawl__json_type(value) == PAWL_JSON_NULL)
            return true;
        if (pawl__json_is(value, PAWL_JSON_OBJECT)) {
            *out = *value;
            return true;
        }
    }
    api_refuse(call, 400, "generalErrors", "The input is not a JSON object.");
    return false;
}

static void resume(struct api_call *call, const struct link_request *request, struct pawl_str text,
                   const char *member)
{
    struct pawl_str token = api_given(request->token);
    struct pawl_json input;
    /* The token first: what else is wrong is for those who may use it. */
    int status = pawl__op_link_check(&call->op, token);

    if (status != PAWL_OK)
        finish(call, status);
    else if (read_input(call, text, member, &input))
        finish(call, pawl__op_link_resume(&call->op, token, &input));
}

static void resume_by_get(struct api_call *call, const void *data)
{
    const struct link_request *request = data;

    resume(call, request, request->input, NULL);
}

static void resume_by_post(struct api_call *call, const void *data)
{
    resume(call, data, pawl__exchange_body(call->exchange), "input");
}

/* ---- making --------------------------------------------------------------------------------- */

struct make_request {
    struct pawl_str event, bookmark_id, instance_id;
    struct api_number life;
};

static const struct api_field make_fields[] = {
    API_FIELD(struct make_request, event, "eventName", API_TEXT, 0),
    API_FIELD(struct make_request, bookmark_id, "bookmarkId", API_TEXT, 0),
    API_FIELD(struct make_request, instance_id, "workflowInstanceId", API_TEXT, 0),
    API_FIELD(struct make_request, life, "lifeSeconds", API_NUMBER, 0),
};

static void make_link(struct api_call *call, const void *data)
{
    const struct make_request *request = data;
    struct pawl_link_request link = {.event = api_given(request->event),
                                     .bookmark_id = api_given(request->bookmark_id),
                                     .instance_id = api_given(request->instance_id),
                                     .life_s = request->life.value};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();
    struct pawl_str token;
    int status;

    if (request->life.is_given && (link.life_s < 1 || link.life_s > LIFE_MAX_S)) {
        api_refuse(call, 400, "lifeSeconds", "A link lives for 1 second to 10 years.");
        return;
    }
    status = pawl__op_link_make(&call->op, &link, &token);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    pawl__build_text(&b, &out, "token", token);
    pawl__build_name(&b, &out, "path",
                     pawl__arena_printf(&call->arena, "%s?t=%.*s",
                                        link.event.len > 0 ? API_ELSA "/events/trigger"
                                                           : API_ELSA "/bookmarks/resume",
                                        PAWL_STR_ARG(token)));
    api_respond(call, &b, &out);
}

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = API_ELSA "/events/trigger",
     .handle = send_event,
     API_FIELDS(struct link_request, event_fields),
     .summary = "Sends the event of a token"},
    {.method = "GET",
     .path = API_ELSA "/bookmarks/resume",
     .handle = resume_by_get,
     API_FIELDS(struct link_request, resume_fields),
     .summary = "Resumes the bookmark of a token",
     .flags = PAWL_ROUTE_COMPUTES},
    {.method = "POST",
     .path = API_ELSA "/bookmarks/resume",
     .handle = resume_by_post,
     .body = API_BODY_RAW,
     .body_bytes_max = 2 * INPUT_BYTES_MAX,
     API_FIELDS(struct link_request, resume_fields),
     .summary = "Resumes the bookmark of a token, with an input",
     .flags = PAWL_ROUTE_COMPUTES},
    {.method = "POST",
     .path = API_PAWL "/links",
     .permission = "create:link",
     .handle = make_link,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct make_request, make_fields),
     .summary = "A token for an event or a bookmark",
     .result = "Link"},
};
const struct api_family api_links = API_FAMILY("Links", endpoints);
