/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of stimuli: by which names and payloads what the built-in activities wait for is known,
 * and under which names they expect what comes. Elsa's names, defined once for the code that waits
 * (activities), who send (runtime, operations) and who show (views, commands). The hash that they
 * are found by is in base/hash/stimulus.h.
 *
 * Each constructor returns a payload in the builder's arena, in stored form; it borrows texts.
 */
#ifndef PAWL_BASE_STIMULI_H
#define PAWL_BASE_STIMULI_H

#include "base/hash/sha256.h"
#include "base/json/builder.h"

#define PAWL_STIMULUS_TYPE "_type" /* of a payload, in stored form */

/* ---- events --------------------------------------------------------------------------------- */

#define PAWL_STIMULUS_EVENT "Elsa.Event"
#define PAWL_STIMULUS_EVENT_TYPE "EventStimulus"
#define PAWL_STIMULUS_EVENT_NAME "eventName"
/* The input with what came with the event; an empty object when nothing did. */
#define PAWL_STIMULUS_EVENT_INPUT "__EventPayloadWorkflowInput"

struct pawl_json pawl__event_stimulus(struct pawl_builder *b, struct pawl_str event_name);

/* ---- tasks ---------------------------------------------------------------------------------- */

#define PAWL_STIMULUS_TASK "Elsa.RunTask"
#define PAWL_STIMULUS_TASK_TYPE "RunTaskStimulus"
#define PAWL_STIMULUS_TASK_ID "taskId"
#define PAWL_STIMULUS_TASK_NAME "taskName"
#define PAWL_STIMULUS_TASK_INPUT "RunTaskInput" /* the input with the task's result */

/* Of a report, which knows the id alone: the name is no part of the hash. */
struct pawl_json pawl__task_stimulus(struct pawl_builder *b, struct pawl_str task_id);
/* Of the bookmark; the name may be "" or null. */
struct pawl_json pawl__named_task_stimulus(struct pawl_builder *b, struct pawl_str task_id,
                                           struct pawl_str task_name);

/* ---- children ------------------------------------------------------------------------------- */

#define PAWL_STIMULUS_DISPATCH "Elsa.DispatchWorkflow"
#define PAWL_STIMULUS_DISPATCH_TYPE "DispatchWorkflowStimulus"
#define PAWL_STIMULUS_EXECUTE "Elsa.ExecuteWorkflow"
#define PAWL_STIMULUS_EXECUTE_TYPE "ExecuteWorkflowStimulus"
#define PAWL_STIMULUS_CHILD_ID "childInstanceId" /* of both */
#define PAWL_STIMULUS_BULK "Elsa.BulkDispatchWorkflows"
#define PAWL_STIMULUS_BULK_TYPE "BulkDispatchWorkflowsStimulus"
#define PAWL_STIMULUS_PARENT_ID "parentInstanceId"

/* ---- times, requests, jobs ------------------------------------------------------------------ */

#define PAWL_STIMULUS_DELAY "Elsa.Delay"
#define PAWL_STIMULUS_TIMER "Elsa.Timer"
#define PAWL_STIMULUS_CRON "Elsa.Cron"
#define PAWL_STIMULUS_START_AT "Elsa.StartAt"
#define PAWL_STIMULUS_HTTP_ENDPOINT "Elsa.HttpEndpoint"
#define PAWL_STIMULUS_HTTP_ENDPOINT_TYPE "HttpEndpointBookmarkPayload"
/* {"path", "method"} of a request: a template and a method as an endpoint has them. Both in lower
 * case, the path with one slash before it and none behind. Members that are not hashed may be
 * added before its type, which pawl__http_stimulus_end() adds. */
struct pawl_json pawl__http_stimulus(struct pawl_builder *b, struct pawl_str path,
                                     struct pawl_str method);
void pawl__http_stimulus_end(struct pawl_builder *b, struct pawl_json *payload);
#define PAWL_STIMULUS_JOB_TYPE "BackgroundActivityStimulus"

/* The hash of a stimulus without an activity instance; a builder that has failed is returned as it
 * is. Otherwise what pawl__stimulus_hash() returns. */
PAWL_MUST_CHECK int pawl__built_stimulus_hash(const struct pawl_builder *b,
                                              const struct pawl_allocator *alloc, const char *name,
                                              const struct pawl_json *payload,
                                              char out[PAWL_SHA256_TEXT_SIZE]);

#endif
