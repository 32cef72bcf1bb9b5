/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SendHttpRequest, FlowSendHttpRequest and DownloadHttpFile: one request, and an outcome by how it
 * ended. Each is split in two by the effect that it awaits, see http_client.h.
 */
#include "activities/http_client.h"

#include "activities/children.h"
#include "activities/descriptor.h"

#define CHILD_COMPLETED "OnChildActivityCompletedAsync"

/* ---- descriptors ------------------------------------------------------------------------- */

/* Text to us; descriptors have Elsa's name for it. */
static const struct pawl_type uri = {
    .kind = PAWL_TYPE_STRING,
    .alias = PAWL_CLR_TYPE("System.Uri, System.Private.Uri"),
};
static const struct pawl_type case_list = {
    .kind = PAWL_TYPE_NAMED,
    .alias = PAWL_CLR_TYPE("System.Collections.Generic.ICollection`1[[Elsa.Http.HttpStatusCodeCase,"
                           " Elsa.Http]], System.Private.CoreLib"),
};
static const struct pawl_type code_list = {.kind = PAWL_TYPE_ICOLLECTION,
                                           .element = &pawl__type_int32};
static const struct pawl_type headers_type = {.kind = PAWL_TYPE_NAMED, .alias = "HttpHeaders"};
static const struct pawl_type message_type = {.kind = PAWL_TYPE_NAMED,
                                              .alias = "HttpResponseMessage"};
static const struct pawl_type file_type = {.kind = PAWL_TYPE_NAMED, .alias = "HttpFile"};

#define ITEM(text) "{\"text\":\"" text "\",\"value\":\"" text "\"}"
#define DROPDOWN(items) "{\"dropdown\":{\"selectList\":{\"items\":[" items "]}}}"
#define COMMON_METHODS ITEM("GET") "," ITEM("POST") "," ITEM("PUT")
/* clang-format off */
#define CONTENT_TYPES                                                                              \
    DROPDOWN(ITEM("") "," ITEM("application/json") "," ITEM("application/soap+xml") ","            \
             ITEM("application/x-www-form-urlencoded") "," ITEM("application/xml") ","             \
             ITEM("text/html") "," ITEM("text/json") "," ITEM("text/plain") ","                    \
             ITEM("text/richtext") "," ITEM("text/xml"))
/* clang-format on */

#define URL_INPUT(title)                                                                           \
    {                                                                                              \
        .name = "Url", .type = &uri, .display_name = (title),                                      \
        .description = "Where the request goes: http or https.", .ui_hint = "singleline",          \
    }
#define METHOD_INPUT(methods)                                                                      \
    {                                                                                              \
        .name = "Method", .type = &pawl__type_string, .default_json = "\"GET\"",                   \
        .description = "The method of the request.", .ui_hint = "dropdown",                        \
        .options_json = DROPDOWN(methods),                                                         \
    }
#define CODES_INPUT                                                                                \
    {                                                                                              \
        .name = "ExpectedStatusCodes", .type = &code_list, .default_json = "[200]",                \
        .description = "Statuses that have a way on of their own.", .ui_hint = "multitext",        \
    }
#define CONTENT_TYPE_INPUT(name_, title)                                                           \
    {                                                                                              \
        .name = (name_), .type = &pawl__type_string, .display_name = (title),                      \
        .description = "What the content is; without it none is sent.", .ui_hint = "dropdown",     \
        .options_json = CONTENT_TYPES,                                                             \
    }
#define AUTHORIZATION_INPUT(flags_)                                                                \
    {                                                                                              \
        .name = "Authorization", .type = &pawl__type_string, .category = "Security",               \
        .description = "The value of the Authorization header: a scheme and what goes with it.",   \
        .ui_hint = "singleline", .flags = (flags_),                                                \
    }
#define NO_VALIDATION_INPUT                                                                        \
    {                                                                                              \
        .name = "DisableAuthorizationHeaderValidation", .type = &pawl__type_boolean,               \
        .category = "Security", .description = "Sends the authorization as it is written.",        \
        .ui_hint = "checkbox",                                                                     \
    }
#define HEADERS_INPUT                                                                              \
    {                                                                                              \
        .name = "RequestHeaders", .type = &headers_type, .category = "Advanced",                   \
        .description = "Further headers: a value or a list of values by name.",                    \
        .ui_hint = "json-editor", .options_json = "{\"code-editor\":{\"language\":\"json\"}}",     \
    }
/* The last inputs of both kinds of SendHttpRequest. */
#define SEND_INPUTS                                                                                \
    URL_INPUT(NULL),                                                                               \
        METHOD_INPUT(COMMON_METHODS                                                                \
                     "," ITEM("DELETE") "," ITEM("PATCH") "," ITEM("OPTIONS") "," ITEM("HEAD")),   \
        {                                                                                          \
            .name = "Content",                                                                     \
            .type = &pawl__type_object,                                                            \
            .description = "The body of the request.",                                             \
            .ui_hint = "singleline",                                                               \
        },                                                                                         \
        CONTENT_TYPE_INPUT("ContentType", NULL), AUTHORIZATION_INPUT(PAWL_INPUT_SENSITIVE),        \
        NO_VALIDATION_INPUT, HEADERS_INPUT,                                                        \
    {                                                                                              \
        .name = "EnableResiliency", .type = &pawl__type_boolean,                                   \
        .description = "Not used any more: name a resilience strategy instead.",                   \
        .ui_hint = "checkbox",                                                                     \
    }

static const struct pawl_output_descriptor send_outputs[] = {
    {.name = "StatusCode", .type = &pawl__type_int32, .description = "The status of the answer."},
    {.name = "ParsedContent", .type = &pawl__type_object, .description = "The body of the answer."},
    {.name = "ResponseHeaders", .type = &headers_type, .description = "Headers of the answer."},
    {.name = "Result", .type = &message_type, .not_serializable = true},
};

/* ---- both kinds of SendHttpRequest ------------------------------------------------------- */

static const struct pawl_http_inputs send_names = {"Content", "ContentType"};

static int send_execute(struct pawl_context *context)
{
    return pawl__http_send(context, &send_names);
}

static int send_set_outputs(struct pawl_context *context, const struct pawl_json *result)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_value message = pawl__http_message(&b, result);
    struct pawl_value headers = pawl__http_headers(&b, result, false);
    struct pawl_value parsed;

    if (b.status == PAWL_OK)
        b.status = pawl__http_parsed(context, "ParsedContent", result, &parsed);
    if (b.status == PAWL_OK)
        b.status = pawl__output_set(context, "Result", message);
    if (b.status == PAWL_OK)
        b.status = pawl__output_set(context, "ParsedContent", parsed);
    if (b.status == PAWL_OK)
        b.status =
            pawl__output_set(context, "StatusCode", pawl__value_int(pawl__http_status(result)));
    if (b.status == PAWL_OK)
        b.status = pawl__output_set(context, "ResponseHeaders", headers);
    return b.status;
}

/* ---- SendHttpRequest --------------------------------------------------------------------- */

struct status_case {
    int64_t status;
    const struct pawl_node *node; /* NULL: nothing runs */
};

struct status_cases {
    struct status_case *items;
    uint32_t count;
};

static const struct pawl_input_descriptor send_inputs[] = {
    {
        .name = "ExpectedStatusCodes",
        .type = &case_list,
        .description = "Statuses, each with the activity to run when the answer has it.",
        .ui_hint = "http-status-codes",
        .flags = PAWL_INPUT_NAKED,
    },
    SEND_INPUTS,
};

static const struct pawl_port_descriptor send_ports[] = {
    {.name = "UnmatchedStatusCode"},
    {.name = "FailedToConnect"},
    {.name = "Timeout"},
};

static int load_case(struct pawl_loader *loader, struct pawl_node *node,
                     const struct pawl_json *json, uint32_t number, struct status_case *out)
{
    struct pawl_arena *arena = pawl__loader_arena(loader);
    struct pawl_node *child = NULL;
    const char *at, *port;
    int status;

    (void)pawl__json_to_int(pawl__json_get_nocase(json, pawl__str("statusCode")), &out->status);
    at = pawl__arena_printf(arena, "%.*s/expectedStatusCodes/%u/activity",
                            PAWL_STR_ARG(node->pointer), number);
    port = pawl__arena_printf(arena, "%lld", (long long)out->status);
    if (!at || !port)
        return pawl__refused(arena);
    status = pawl__loader_child(loader, node, port,
                                pawl__json_get_nocase(json, pawl__str("activity")), at, &child);
    out->node = child;
    return status;
}

static int send_load(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_json *list =
        pawl__json_get_nocase(node->json, pawl__str("expectedStatusCodes"));
    struct pawl_arena *arena = pawl__loader_arena(loader);
    struct status_cases *cases = pawl__arena_alloc_zeroed(arena, sizeof *cases);
    uint32_t count = pawl__json_is(list, PAWL_JSON_ARRAY) ? pawl__json_len(list) : 0;

    if (!cases)
        return pawl__refused(arena);
    node->data = cases;
    if (count == 0)
        return PAWL_OK;
    cases->items = pawl__arena_alloc_zeroed(arena, count * sizeof *cases->items);
    if (!cases->items)
        return pawl__refused(arena);
    for (uint32_t i = 0; i < count; i++) {
        int status = load_case(loader, node, pawl__json_at(list, i), i, &cases->items[i]);

        if (status != PAWL_OK)
            return status;
        cases->count++;
    }
    return PAWL_OK;
}

static const struct pawl_node *by_status(const struct pawl_node *node, int64_t status)
{
    const struct status_cases *cases = node->data;

    for (uint32_t i = 0; i < cases->count; i++) {
        if (cases->items[i].status == status)
            return cases->items[i].node;
    }
    return pawl__port_child(node, "UnmatchedStatusCode");
}

static int send_done(struct pawl_context *context, const struct pawl_json *result)
{
    const struct pawl_node *next = NULL;
    enum pawl_http_path path;
    int status = pawl__http_path(context, result, &path);

    if (status == PAWL_OK && path == PAWL_HTTP_PATH_STATUS)
        status = send_set_outputs(context, result);
    if (status != PAWL_OK)
        return status;
    if (path == PAWL_HTTP_PATH_STATUS)
        next = by_status(context->node, pawl__http_status(result));
    else
        next = pawl__port_child(context->node,
                                path == PAWL_HTTP_PATH_TIMEOUT ? "Timeout" : "FailedToConnect");
    if (!next)
        return pawl__complete(context, NULL);
    return pawl__schedule_child(context, next, CHILD_COMPLETED);
}

static int send_child_completed(struct pawl_context *context,
                                const struct pawl_completion *completion)
{
    (void)completion;
    return pawl__complete(context, NULL);
}

static const struct pawl_completion_callback send_completions[] = {
    {CHILD_COMPLETED, send_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_send_http_request = {
    .type = "Elsa.SendHttpRequest",
    .version = 1,
    .kind = PAWL_ACTIVITY_TASK,
    .category = "HTTP",
    .display_name = "HTTP Request",
    .description = "Sends an HTTP request and runs an activity by the status of the answer.",
    PAWL_INPUTS(send_inputs),
    PAWL_OUTPUTS(send_outputs),
    PAWL_PORTS(send_ports),
    .load = send_load,
    .execute = send_execute,
    .effect_done = send_done,
    .completions = send_completions,
};

/* ---- outcomes by status ------------------------------------------------------------------ */

static bool is_expected(const struct pawl_json *codes, int64_t status)
{
    for (uint32_t i = 0; i < pawl__json_len(codes); i++) {
        int64_t code;

        if (pawl__json_to_int(pawl__json_at(codes, i), &code) && code == status)
            return true;
    }
    return false;
}

static int complete_by(struct pawl_context *context, enum pawl_http_path path, int64_t status)
{
    struct pawl_value codes = pawl__input(context, "ExpectedStatusCodes");
    struct pawl_str names[2];
    struct pawl_outcomes outcomes = {names, 2};

    if (path == PAWL_HTTP_PATH_TIMEOUT)
        return pawl__complete_with(context, "Timeout");
    if (path == PAWL_HTTP_PATH_FAILED)
        return pawl__complete_with(context, "Failed to connect");
    if (pawl__json_len(&codes.json) == 0)
        return pawl__complete_with(context, "Done");
    names[0] = pawl__str("Unmatched status code");
    if (is_expected(&codes.json, status))
        names[0] =
            pawl__str(pawl__arena_printf(pawl__context_arena(context), "%lld", (long long)status));
    if (names[0].len == 0)
        return pawl__refused(pawl__context_arena(context));
    names[1] = pawl__str("Done");
    return pawl__complete(context, &outcomes);
}

/* ---- FlowSendHttpRequest ----------------------------------------------------------------- */

static const struct pawl_input_descriptor flow_inputs[] = {
    CODES_INPUT,
    SEND_INPUTS,
};

static int flow_done(struct pawl_context *context, const struct pawl_json *result)
{
    enum pawl_http_path path;
    int status = pawl__http_path(context, result, &path);

    if (status == PAWL_OK && path == PAWL_HTTP_PATH_STATUS)
        status = send_set_outputs(context, result);
    return status == PAWL_OK ? complete_by(context, path, pawl__http_status(result)) : status;
}

const struct pawl_activity pawl__activity_flow_send_http_request = {
    .type = "Elsa.FlowSendHttpRequest",
    .version = 1,
    .kind = PAWL_ACTIVITY_TASK,
    .category = "HTTP",
    .display_name = "HTTP Request (flow)",
    .description = "Sends an HTTP request and goes on by the status of the answer.",
    PAWL_INPUTS(flow_inputs),
    PAWL_OUTPUTS(send_outputs),
    .execute = send_execute,
    .effect_done = flow_done,
};

/* ---- DownloadHttpFile -------------------------------------------------------------------- */

static const struct pawl_input_descriptor download_inputs[] = {
    URL_INPUT("URL"),
    METHOD_INPUT(COMMON_METHODS),
    CODES_INPUT,
    {
        .name = "Content",
        .key = "requestContent",
        .type = &pawl__type_object,
        .display_name = "Request Content",
        .description = "The body of the request.",
        .ui_hint = "singleline",
    },
    CONTENT_TYPE_INPUT("RequestContentType", "Content Type"),
    AUTHORIZATION_INPUT(0),
    NO_VALIDATION_INPUT,
    HEADERS_INPUT,
};

static const struct pawl_output_descriptor download_outputs[] = {
    {.name = "Response", .type = &message_type, .not_serializable = true},
    {.name = "StatusCode", .type = &pawl__type_int32, .description = "The status of the answer."},
    {
        .name = "ResponseContentStream",
        .type = &pawl__type_stream,
        .description = "The body of the answer.",
        .not_serializable = true,
    },
    {
        .name = "ResponseContentBytes",
        .type = &pawl__type_bytes,
        .description = "The body of the answer.",
        .not_serializable = true,
    },
    {.name = "ResponseHeaders", .type = &headers_type, .description = "Headers of the answer."},
    {
        .name = "ResponseContentHeaders",
        .type = &headers_type,
        .display_name = "Content Headers",
        .description = "Headers of the answer that describe its body.",
    },
    {.name = "Result", .type = &file_type, .not_serializable = true},
};

static const struct pawl_http_inputs download_names = {"Content", "RequestContentType"};

static int download_execute(struct pawl_context *context)
{
    return pawl__http_send(context, &download_names);
}

static int set(struct pawl_context *context, struct pawl_builder *b, const char *name,
               struct pawl_value value)
{
    if (b->status == PAWL_OK)
        b->status = pawl__output_set(context, name, value);
    return b->status;
}

/* Whether something reads it: a body is large, and can be output in three ways. */
static bool is_bound(const struct pawl_context *context, const char *name)
{
    const struct pawl_activity *activity = context->node->activity;

    for (uint32_t i = 0; i < activity->output_count; i++) {
        if (strcmp(activity->outputs[i].name, name) == 0)
            return context->node->outputs[i].reference.len > 0;
    }
    return false;
}

static int download_set_outputs(struct pawl_context *context, const struct pawl_json *result)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_value bytes;

    (void)set(context, &b, "Response", pawl__http_message(&b, result));
    (void)set(context, &b, "StatusCode", pawl__value_int(pawl__http_status(result)));
    (void)set(context, &b, "ResponseHeaders", pawl__http_headers(&b, result, false));
    (void)set(context, &b, "ResponseContentHeaders", pawl__http_headers(&b, result, true));
    if (is_bound(context, "ResponseContentBytes") || is_bound(context, "ResponseContentStream")) {
        bytes = pawl__http_bytes(&b, result);
        (void)set(context, &b, "ResponseContentBytes", bytes);
        (void)set(context, &b, "ResponseContentStream", bytes);
    }
    return set(context, &b, "Result", pawl__http_file(&b, result));
}

static int download_done(struct pawl_context *context, const struct pawl_json *result)
{
    enum pawl_http_path path;
    int status = pawl__http_path(context, result, &path);

    if (status == PAWL_OK && path == PAWL_HTTP_PATH_STATUS)
        status = download_set_outputs(context, result);
    return status == PAWL_OK ? complete_by(context, path, pawl__http_status(result)) : status;
}

const struct pawl_activity pawl__activity_download_http_file = {
    .type = "Elsa.DownloadHttpFile",
    .version = 1,
    .kind = PAWL_ACTIVITY_TASK,
    .category = "HTTP",
    .display_name = "Download File",
    .description = "Fetches a file by HTTP.",
    PAWL_INPUTS(download_inputs),
    PAWL_OUTPUTS(download_outputs),
    .execute = download_execute,
    .effect_done = download_done,
};
