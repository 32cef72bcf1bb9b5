/* SPDX-License-Identifier: Apache-2.0 */
/* Between type.c and type_clr.c: the lists of names, and lookups that both need. */
#ifndef PAWL_ENGINE_VALUE_TYPE_NAMES_H
#define PAWL_ENGINE_VALUE_TYPE_NAMES_H

#include "engine/value/type.h"

/* Aliases without meaning to the engine: X(alias) */
#define PAWL_NAMED_TYPE_LIST(X)                                                                    \
    /* core */                                                                                     \
    X("FlowScope")                                                                                 \
    X("Token")                                                                                     \
    X("VariablesDictionary")                                                                       \
    X("ExceptionState")                                                                            \
    X("FaultException")                                                                            \
    X("Exception")                                                                                 \
    X("ArgumentException")                                                                         \
    X("ArgumentNullException")                                                                     \
    X("InvalidOperationException")                                                                 \
    X("NullReferenceException")                                                                    \
    X("OperationCanceledException")                                                                \
    X("TaskCanceledException")                                                                     \
    X("TimeoutException")                                                                          \
    X("NotSupportedException")                                                                     \
    X("JObject")                                                                                   \
    X("JArray")                                                                                    \
    X("FaultStrategy")                                                                             \
    X("ContinueWithIncidentsStrategy")                                                             \
    X("WorkflowStorageDriver")                                                                     \
    X("WorkflowInstanceStorageDriver")                                                             \
    X("MemoryStorageDriver")                                                                       \
    /* runtime */                                                                                  \
    X("EventStimulus")                                                                             \
    X("RunTaskStimulus")                                                                           \
    X("DispatchWorkflowStimulus")                                                                  \
    X("BulkDispatchWorkflowsStimulus")                                                             \
    X("ExecuteWorkflowStimulus")                                                                   \
    X("BackgroundActivityStimulus")                                                                \
    X("EventBookmarkPayload")                                                                      \
    X("ExecuteWorkflowPayload")                                                                    \
    X("RunTaskBookmarkPayload")                                                                    \
    X("BookmarkTokenPayload")                                                                      \
    X("EventTokenPayload")                                                                         \
    X("ExecuteWorkflowResult")                                                                     \
    X("WorkflowInterruptedPayload")                                                                \
    /* scheduling */                                                                               \
    X("CronBookmarkPayload")                                                                       \
    X("CronTriggerPayload")                                                                        \
    X("DelayPayload")                                                                              \
    X("StartAtPayload")                                                                            \
    X("TimerBookmarkPayload")                                                                      \
    X("TimerTriggerPayload")                                                                       \
    /* HTTP */                                                                                     \
    X("HttpRequest")                                                                               \
    X("HttpResponse")                                                                              \
    X("HttpResponseMessage")                                                                       \
    X("HttpHeaders")                                                                               \
    X("RouteData")                                                                                 \
    X("FormFile")                                                                                  \
    X("HttpFile")                                                                                  \
    X("Downloadable")                                                                              \
    X("HttpRequestException")                                                                      \
    X("HttpEndpointBookmarkPayload")                                                               \
    /* JavaScript */                                                                               \
    X("ScriptPreparationException")                                                                \
    X("JavaScriptException")                                                                       \
    X("SyntaxErrorException")                                                                      \
    X("Jint.JavaScriptErrorWrapperException")

/* Members of .NET's HttpStatusCode: X(name, number). Of equal numbers the first is written. */
#define PAWL_HTTP_STATUS_LIST(X)                                                                   \
    X(Continue, 100)                                                                               \
    X(SwitchingProtocols, 101)                                                                     \
    X(Processing, 102)                                                                             \
    X(EarlyHints, 103)                                                                             \
    X(OK, 200)                                                                                     \
    X(Created, 201)                                                                                \
    X(Accepted, 202)                                                                               \
    X(NonAuthoritativeInformation, 203)                                                            \
    X(NoContent, 204)                                                                              \
    X(ResetContent, 205)                                                                           \
    X(PartialContent, 206)                                                                         \
    X(MultiStatus, 207)                                                                            \
    X(AlreadyReported, 208)                                                                        \
    X(IMUsed, 226)                                                                                 \
    X(MultipleChoices, 300)                                                                        \
    X(Ambiguous, 300)                                                                              \
    X(MovedPermanently, 301)                                                                       \
    X(Moved, 301)                                                                                  \
    X(Found, 302)                                                                                  \
    X(Redirect, 302)                                                                               \
    X(SeeOther, 303)                                                                               \
    X(RedirectMethod, 303)                                                                         \
    X(NotModified, 304)                                                                            \
    X(UseProxy, 305)                                                                               \
    X(Unused, 306)                                                                                 \
    X(RedirectKeepVerb, 307)                                                                       \
    X(TemporaryRedirect, 307)                                                                      \
    X(PermanentRedirect, 308)                                                                      \
    X(BadRequest, 400)                                                                             \
    X(Unauthorized, 401)                                                                           \
    X(PaymentRequired, 402)                                                                        \
    X(Forbidden, 403)                                                                              \
    X(NotFound, 404)                                                                               \
    X(MethodNotAllowed, 405)                                                                       \
    X(NotAcceptable, 406)                                                                          \
    X(ProxyAuthenticationRequired, 407)                                                            \
    X(RequestTimeout, 408)                                                                         \
    X(Conflict, 409)                                                                               \
    X(Gone, 410)                                                                                   \
    X(LengthRequired, 411)                                                                         \
    X(PreconditionFailed, 412)                                                                     \
    X(RequestEntityTooLarge, 413)                                                                  \
    X(RequestUriTooLong, 414)                                                                      \
    X(UnsupportedMediaType, 415)                                                                   \
    X(RequestedRangeNotSatisfiable, 416)                                                           \
    X(ExpectationFailed, 417)                                                                      \
    X(MisdirectedRequest, 421)                                                                     \
    X(UnprocessableEntity, 422)                                                                    \
    X(UnprocessableContent, 422)                                                                   \
    X(Locked, 423)                                                                                 \
    X(FailedDependency, 424)                                                                       \
    X(UpgradeRequired, 426)                                                                        \
    X(PreconditionRequired, 428)                                                                   \
    X(TooManyRequests, 429)                                                                        \
    X(RequestHeaderFieldsTooLarge, 431)                                                            \
    X(UnavailableForLegalReasons, 451)                                                             \
    X(InternalServerError, 500)                                                                    \
    X(NotImplemented, 501)                                                                         \
    X(BadGateway, 502)                                                                             \
    X(ServiceUnavailable, 503)                                                                     \
    X(GatewayTimeout, 504)                                                                         \
    X(HttpVersionNotSupported, 505)                                                                \
    X(VariantAlsoNegotiates, 506)                                                                  \
    X(InsufficientStorage, 507)                                                                    \
    X(LoopDetected, 508)                                                                           \
    X(NotExtended, 510)                                                                            \
    X(NetworkAuthenticationRequired, 511)

/* A scalar, dictionary, enum or named type by alias, without regard to case; NULL. */
const struct pawl_type *pawl__type_find_plain(struct pawl_str alias);
/* "List", "IEnumerable", …: without regard to case. */
bool pawl__type_collection_kind(struct pawl_str name, enum pawl_type_kind *kind);

PAWL_MUST_CHECK int pawl__type_compound(struct pawl_arena *arena, enum pawl_type_kind kind,
                                        const struct pawl_type *element,
                                        const struct pawl_type **out);
/* PAWL_ENOTFOUND: `base` is not a value type. */
PAWL_MUST_CHECK int pawl__type_nullable(struct pawl_arena *arena, const struct pawl_type *base,
                                        const struct pawl_type **out);

/* pawl__type_find() at a depth of nesting. */
PAWL_MUST_CHECK int pawl__type_find_nested(struct pawl_arena *arena, struct pawl_str alias,
                                           unsigned depth, const struct pawl_type **out);

/* Whether a name is Elsa's own, with namespace or assembly, rather than an alias. */
bool pawl__type_looks_clr(struct pawl_str name);
PAWL_MUST_CHECK int pawl__type_find_clr(struct pawl_arena *arena, struct pawl_str name,
                                        unsigned depth, const struct pawl_type **out);

#endif
