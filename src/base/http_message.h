/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to a workflow and its reply, as JSON: what the server, the runtime and the activities
 * hand to each other (docs/design/0018-http-endpoints.md). Members that are not said to be there
 * always are absent when there is nothing to say.
 *
 * A request, the run's input PAWL_HTTP_REQUEST_INPUT:
 *
 *     method         "POST"; always
 *     path           behind the base path, decoded: "/orders/42"; always
 *     url            all of it, as the client sees it: "https://a.example/workflows/orders"
 *     template       that matched, in lower case: "/orders/{id}"; always
 *     route          {"id": "42"}: values of its parameters, decoded; always
 *     query          {name: [value, …]}, decoded; always
 *     headers        {name: [value, …]}, names as the client wrote them first; always
 *     content        the body, if it is UTF-8; else contentBase64
 *     size           bytes of the body; always. -1: more than the server reads
 *     form           {name: [value, …]} of a form, without its files
 *     files          [{"name", "fileName", "contentType", "size", "content" or "contentBase64"}]
 *     caller         who sent it, if that is known
 *     demands        {"authorize", "policy", "signature"} of the endpoint that it was let in by
 *     replyTo        the address of who waits (runtime/node/replies.h); always
 *     key            its Idempotency-Key, with what it is for
 *     fingerprint    what tells it from another request with its key
 *     replied        true: a reply was recorded
 *
 * A reply, the data of PAWL_EFFECT_REPLY:
 *
 *     statusCode     200 to 599; always
 *     headers        [[name, value], …], checked: no line ends, no names that are not tokens
 *     content        the body, if it is UTF-8; else contentBase64
 *     file           true: a file. A client that has it, by ETag, gets 304; with the header
 *                    Accept-Ranges it may ask for a part
 *     fileName       of the file, by which its Content-Type is chosen if there is none
 *     files          [{"fileName", "content" or "contentBase64"}]: sent as a zip archive
 */
#ifndef PAWL_BASE_HTTP_MESSAGE_H
#define PAWL_BASE_HTTP_MESSAGE_H

/* Inputs of a run that a request began. */
#define PAWL_HTTP_REQUEST_INPUT "__HttpRequest"
#define PAWL_HTTP_CONTEXT_INPUT "HttpContext" /* true */
#define PAWL_HTTP_PATH_INPUT "Path"

#define PAWL_HTTP_METHOD "method"
#define PAWL_HTTP_PATH "path"
#define PAWL_HTTP_URL "url"
#define PAWL_HTTP_TEMPLATE "template"
#define PAWL_HTTP_ROUTE "route"
#define PAWL_HTTP_QUERY "query"
#define PAWL_HTTP_HEADERS "headers" /* of both */
#define PAWL_HTTP_CONTENT "content" /* of both, and of files */
#define PAWL_HTTP_CONTENT_BASE64 "contentBase64"
#define PAWL_HTTP_SIZE "size"
#define PAWL_HTTP_FORM "form"
#define PAWL_HTTP_FILES "files"
#define PAWL_HTTP_FILE_NAME "fileName"
#define PAWL_HTTP_CONTENT_TYPE "contentType"
#define PAWL_HTTP_CALLER "caller"
#define PAWL_HTTP_REPLY_TO "replyTo"
#define PAWL_HTTP_KEY "key"
#define PAWL_HTTP_FINGERPRINT "fingerprint"
#define PAWL_HTTP_REPLIED "replied"
#define PAWL_HTTP_DEMANDS "demands"

/* In what is kept for a key: {"fingerprint", "demands", "reply"}; of one too large no reply. */
#define PAWL_HTTP_REPLY "reply"
#define PAWL_HTTP_STATUS "statusCode"
#define PAWL_HTTP_FILE "file"

/* Members of the payload of a trigger or bookmark, besides path and method. */
#define PAWL_HTTP_AUTHORIZE "authorize"
#define PAWL_HTTP_POLICY "policy"
#define PAWL_HTTP_REQUEST_TIMEOUT "requestTimeout"
#define PAWL_HTTP_REQUEST_SIZE_LIMIT "requestSizeLimit"
#define PAWL_HTTP_SIGNATURE "signature"
#define PAWL_HTTP_LIMITS "limits" /* base/http_limits.h */

#endif
