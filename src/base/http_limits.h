/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an endpoint accepts of requests and of their files. The server checks it before it delivers
 * a request, the activity when it takes one. As JSON, in the payload of a trigger or bookmark
 * (PAWL_HTTP_LIMITS); a member that is absent limits nothing:
 *
 *     requestSize          bytes of a request, at the most
 *     fileSize             bytes of each file
 *     allowedExtensions    [text, …] with or without the dot; empty: any
 *     blockedExtensions    the same
 *     allowedTypes         [text, …], MIME types; empty: any
 *     outcomes             [text, …]: what the workflow deals with, by outcomes
 */
#ifndef PAWL_BASE_HTTP_LIMITS_H
#define PAWL_BASE_HTTP_LIMITS_H

#include "base/json/json.h"

#define PAWL_HTTP_LIMIT_REQUEST_SIZE "requestSize"
#define PAWL_HTTP_LIMIT_FILE_SIZE "fileSize"
#define PAWL_HTTP_LIMIT_ALLOWED "allowedExtensions"
#define PAWL_HTTP_LIMIT_BLOCKED "blockedExtensions"
#define PAWL_HTTP_LIMIT_TYPES "allowedTypes"
#define PAWL_HTTP_LIMIT_OUTCOMES "outcomes"

/* How a request exceeds the limits. */
struct pawl_http_excess {
    int64_t status;      /* of the reply: 413, 415 */
    const char *flag;    /* the input of HttpEndpoint that exposes its outcome */
    const char *outcome; /* "File too large" */
    const char *message;
};

/* All that there are, up to one whose status is 0. */
extern const struct pawl_http_excess pawl__http_excesses[];

/* The first one; NULL: the request (base/http_message.h) is within its limits. */
const struct pawl_http_excess *pawl__http_exceeds(const struct pawl_json *request,
                                                  const struct pawl_json *limits);
/* Whether the workflow itself deals with it. */
bool pawl__http_has_outcome(const struct pawl_json *limits, const struct pawl_http_excess *excess);

#endif
