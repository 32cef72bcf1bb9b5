/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that send HTTP requests, and the effect by which they do. It is always awaited.
 *
 * Data of the effect:
 *
 *     method          "GET"
 *     url             as it was given
 *     headers         absent: none; {name: [value, …]}
 *     authorization   absent: none; the value of that header
 *     content         absent: no body; text
 *     contentBase64   in its place, when the body is bytes
 *     contentType     of the body
 *     onUnknown       absent: not said; "retry", "fault": what becomes of a request of which nobody
 *                     knows whether it was done, because the node that sent it is gone
 *     retry           absent: none; {"count": 3, "delayMs": 1000}: how often, and how long before
 *                     the first; each later one waits twice as long
 *
 * The sender adds the header Idempotency-Key: the id of the effect.
 *
 * Result:
 *
 *     {"statusCode": 200, "url": "…", "headers": {name: [value, …]},
 *      "content": "…" or "contentBase64": "…"}
 *     {"error": "…", "reason": "…"}, where the reason is
 *         connect, lost, limit, denied    treated as a connection that failed
 *         timeout
 *         invalid, unknown, none          the activity faults
 */
#ifndef PAWL_ACTIVITIES_HTTP_CLIENT_H
#define PAWL_ACTIVITIES_HTTP_CLIENT_H

#include "engine/builder.h"
#include "engine/context.h"

extern const struct pawl_activity pawl__activity_send_http_request;
extern const struct pawl_activity pawl__activity_flow_send_http_request;
extern const struct pawl_activity pawl__activity_download_http_file;

/* ---- http_request.c ------------------------------------------------------------------------ */

/* The names of the inputs that differ between the types. */
struct pawl_http_inputs {
    const char *content;
    const char *content_type;
};

/* Awaits the request that the context's inputs describe. */
PAWL_MUST_CHECK int pawl__http_send(struct pawl_context *context,
                                    const struct pawl_http_inputs *inputs);

/* Adds a body to `data`: "content" or "contentBase64". Text is sent as it is, whatever it is said
 * to be; objects as JSON, or as a form. */
void pawl__http_build_content(struct pawl_builder *b, struct pawl_json *data,
                              struct pawl_value content, struct pawl_str content_type);
/* The values of one header, an array of texts: of a text, a list of them, or anything else. */
struct pawl_json pawl__http_header_values(struct pawl_builder *b, const struct pawl_json *given);

/* ---- http_response.c ----------------------------------------------------------------------- */

/* How a request ended, by which the outcome is chosen. */
enum pawl_http_path {
    PAWL_HTTP_PATH_STATUS,
    PAWL_HTTP_PATH_FAILED,
    PAWL_HTTP_PATH_TIMEOUT,
};

/* Notes a failure in log and journal. Raises what faults the activity. */
PAWL_MUST_CHECK int pawl__http_path(struct pawl_context *context, const struct pawl_json *result,
                                    enum pawl_http_path *out);
int64_t pawl__http_status(const struct pawl_json *result);

/* Values for outputs. */
struct pawl_value pawl__http_message(struct pawl_builder *b, const struct pawl_json *result);
/* Headers of the message, or those of .NET's "content headers". */
struct pawl_value pawl__http_headers(struct pawl_builder *b, const struct pawl_json *result,
                                     bool of_content);
/* The body as bytes. */
struct pawl_value pawl__http_bytes(struct pawl_builder *b, const struct pawl_json *result);
struct pawl_value pawl__http_file(struct pawl_builder *b, const struct pawl_json *result);
/* Whether the variable that the output `name` is bound to is text. */
bool pawl__http_wants_text(struct pawl_context *context, const char *name);
/* The body as text, without a byte order mark. */
PAWL_MUST_CHECK int pawl__http_text(struct pawl_arena *arena, const struct pawl_json *result,
                                    struct pawl_json *out);
bool pawl__http_has_body(const struct pawl_json *result);
/* The first value of a header, "" when there is none. */
struct pawl_str pawl__http_header(const struct pawl_json *result, const char *name);
/* By content type and by the variable that the output `name` is bound to. Null without a body. */
PAWL_MUST_CHECK int pawl__http_parsed(struct pawl_context *context, const char *name,
                                      const struct pawl_json *result, struct pawl_value *out);

/* ---- http_header.c ------------------------------------------------------------------------- */

/*
 * The value of a parameter of a header such as `text/plain; charset="utf-8"`, without its quotes;
 * in the arena. ptr NULL: there is none, or the arena refused.
 */
struct pawl_str pawl__http_parameter(struct pawl_arena *arena, struct pawl_str header,
                                     const char *name);
/*
 * What a downloaded file is called: by Content-Disposition, else by the last segment of the URL,
 * else "file.dat". Never with a folder. ptr NULL: the arena's status.
 */
struct pawl_str pawl__http_file_name(struct pawl_arena *arena, struct pawl_str disposition,
                                     struct pawl_str url);

#endif
