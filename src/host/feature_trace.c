/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime does, as spans. All of an instance is one trace (base/trace_context.h):
 *
 *     workflow DEFINITION            from its creation to its end; written when it has ended
 *       burst                        linked to the trace that caused it, and to the parent's
 *         activity TYPE
 *         commit
 *       METHOD                       a request of the workflow; its server gets the traceparent
 */
#include "base/time/datetime.h"
#include "host/features.h"
#include "host/tracer.h"
#include "os/process.h"
#include "runtime/runtime.h"

int pawl__host_trace(struct pawl_host *host, struct pawl_error *err)
{
    return pawl__tracer_open(pawl__host_env(host), pawl__process_variable, pawl__host_meter(host),
                             pawl__host_surroundings(host)->log, pawl__host_tracer_place(host),
                             err);
}

static struct pawl_span_attribute text(const char *key, struct pawl_str value)
{
    return (struct pawl_span_attribute){.key = value.len > 0 ? key : NULL, .text = value};
}

/* Of a row after a burst the sub-status is certain. */
static bool has_ended(const struct pawl_instance_row *instance)
{
    return pawl__str_is(instance->sub_status, "Finished") ||
           pawl__str_is(instance->sub_status, "Faulted") ||
           pawl__str_is(instance->sub_status, "Cancelled");
}

/* The span that all others of the instance are in. */
static void write_workflow(struct pawl_tracer *tracer, const struct pawl_instance_row *instance,
                           int64_t ended_ns)
{
    struct pawl_span span = {
        .name = "workflow",
        .more = instance->definition_id,
        .kind = PAWL_SPAN_INTERNAL,
        .begun_unix_ns = instance->created_us * 1000,
        .ended_ns = ended_ns,
        .failed = pawl__str_is(instance->sub_status, "Faulted"),
        .message = pawl__str("the workflow faulted"),
        .attributes = {text("workflow.instance.id", instance->id),
                       text("workflow.definition.id", instance->definition_id),
                       text("workflow.sub_status", instance->sub_status),
                       text("workflow.correlation.id", instance->correlation_id)},
    };

    pawl__trace_of_instance(instance->id, &span.context);
    if (instance->parent_id.len > 0)
        pawl__trace_of_instance(instance->parent_id, &span.links[0]);
    pawl__tracer_end(tracer, &span);
}

void pawl__trace_burst_begun(struct pawl_tracer *tracer, const struct pawl_instance_row *instance,
                             struct pawl_trace_context *span)
{
    pawl__trace_of_instance(instance->id, span);
    pawl__tracer_new_span(tracer, span->span_id);
}

void pawl__trace_burst(struct pawl_tracer *tracer, const char *node_id,
                       const struct pawl_instance_row *instance,
                       const struct pawl_trace_context *context, struct pawl_str cause,
                       int64_t begun_ns, int64_t ended_ns, int status)
{
    struct pawl_trace_context whole;
    struct pawl_span span = {
        .name = "burst",
        .kind = PAWL_SPAN_CONSUMER,
        .context = *context,
        .begun_ns = begun_ns,
        .ended_ns = ended_ns,
        .failed = status != PAWL_OK,
        .message = pawl__str(pawl_error_name(status)),
        .attributes = {text("workflow.instance.id", instance->id),
                       text("workflow.definition.id", instance->definition_id),
                       text("pawl.node.id", pawl__str(node_id)),
                       text("workflow.sub_status", instance->sub_status)},
    };

    if (!tracer)
        return;
    pawl__trace_of_instance(instance->id, &whole);
    memcpy(span.parent_id, whole.span_id, sizeof span.parent_id);
    (void)pawl__traceparent_read(cause, &span.links[0]);
    pawl__tracer_end(tracer, &span);
    if (has_ended(instance))
        write_workflow(tracer, instance, ended_ns);
}

void pawl__trace_commit(struct pawl_tracer *tracer, const struct pawl_trace_context *burst,
                        int64_t begun_ns, int64_t ended_ns, int status)
{
    struct pawl_span span = {.name = "commit",
                             .kind = PAWL_SPAN_INTERNAL,
                             .context = *burst,
                             .begun_ns = begun_ns,
                             .ended_ns = ended_ns,
                             .failed = status != PAWL_OK,
                             .message = pawl__str(pawl_error_name(status))};

    if (!tracer || !pawl__trace_is_set(burst))
        return;
    memcpy(span.parent_id, burst->span_id, sizeof span.parent_id);
    pawl__tracer_new_span(tracer, span.context.span_id);
    pawl__tracer_end(tracer, &span);
}

static int64_t unix_ns(int64_t ticks)
{
    return (ticks - PAWL_DATETIME_UNIX_EPOCH_TICKS) * 100;
}

/* An execution that has ended; its other records are its course. */
void pawl__trace_record(struct pawl_tracer *tracer, const struct pawl_trace_context *burst,
                        const struct pawl_log_record *record)
{
    bool faulted = pawl__str_is(record->event, "Faulted");
    struct pawl_span span = {
        .name = "activity",
        .more = record->activity_type,
        .kind = PAWL_SPAN_INTERNAL,
        .context = *burst,
        .ended_unix_ns = unix_ns(record->timestamp),
        .failed = faulted,
        .message = record->message,
        .attributes = {text("activity.type", record->activity_type),
                       text("activity.id", record->activity_id),
                       text("activity.node.id", record->activity_node_id),
                       text("activity.instance.id", record->activity_instance_id)},
    };

    if (!tracer || !pawl__trace_is_set(burst) || !record->context ||
        (!faulted && !pawl__str_is(record->event, "Completed") &&
         !pawl__str_is(record->event, "Canceled")))
        return;
    span.begun_unix_ns = unix_ns(record->context->started_at);
    memcpy(span.parent_id, burst->span_id, sizeof span.parent_id);
    pawl__tracer_new_span(tracer, span.context.span_id);
    pawl__tracer_end(tracer, &span);
}

void pawl__trace_request(struct pawl_tracer *tracer, struct pawl_str instance_id,
                         const struct pawl_trace_context *context,
                         const struct pawl_http_request *request,
                         const struct pawl_http_answer *answer, int64_t begun_ns, int64_t ended_ns)
{
    bool answered = answer->end == PAWL_HTTP_ANSWERED;
    /* Without the query, which may have secrets in it. */
    struct pawl_str url = pawl__str_slice(request->url, 0, pawl__str_find(request->url, '?', 0));
    struct pawl_trace_context whole;
    struct pawl_span span = {
        .name = "HTTP",
        .more = request->method,
        .kind = PAWL_SPAN_CLIENT,
        .context = *context,
        .begun_ns = begun_ns,
        .ended_ns = ended_ns,
        .failed = !answered || answer->status >= 400,
        .message = pawl__str(answered ? "" : answer->error.msg),
        .attributes = {text("http.request.method", request->method),
                       text("url.full", url),
                       text("workflow.instance.id", instance_id),
                       {.key = answered ? "http.response.status_code" : NULL,
                        .number = answer->status,
                        .is_number = true}},
    };

    if (!tracer)
        return;
    pawl__trace_of_instance(instance_id, &whole);
    memcpy(span.parent_id, whole.span_id, sizeof span.parent_id);
    pawl__tracer_end(tracer, &span);
}
