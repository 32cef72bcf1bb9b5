/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that take requests and reply to them. Request and reply are data, see
 * base/http_message.h; the reply is an effect, which leaves after the commit that has it.
 */
#ifndef PAWL_ACTIVITIES_HTTP_ENDPOINT_H
#define PAWL_ACTIVITIES_HTTP_ENDPOINT_H

#include "engine/builder.h"
#include "engine/context.h"

/* What stands before a path in designers. */
#define PAWL_HTTP_ADORNMENT "/workflows/"

extern const struct pawl_activity pawl__activity_http_endpoint;            /* http_endpoint.c */
extern const struct pawl_activity pawl__activity_write_http_response;      /* http_reply.c */
extern const struct pawl_activity pawl__activity_write_file_http_response; /* http_reply_file.c */

/* ---- http_reply.c -------------------------------------------------------------------------- */

/*
 * The request that this burst is to reply to. Raises when there is none (NoHttpContext), or when it
 * was replied to already.
 */
PAWL_MUST_CHECK int pawl__http_request_of(struct pawl_context *context, struct pawl_json **out);
/* Records the reply: an object as in base/http_message.h. After this there is no request any more.
 */
PAWL_MUST_CHECK int pawl__http_reply(struct pawl_context *context, struct pawl_json *request,
                                     struct pawl_json reply);
/*
 * Adds a header to a reply; borrows both texts. Raises for a name that is not a token and for a
 * value with a control character, such as a line end. Those of the connection (Content-Length,
 * Transfer-Encoding, …), which the server writes, are left out.
 */
PAWL_MUST_CHECK int pawl__http_reply_header(struct pawl_context *context, struct pawl_json *reply,
                                            struct pawl_str name, struct pawl_str value);
/* An input that is the value of a header, without blanks around it. "": nothing but white space. */
struct pawl_str pawl__http_reply_input(const struct pawl_context *context, const char *name);

#endif
