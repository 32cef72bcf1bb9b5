/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans for an OpenTelemetry collector: OTLP over HTTP, as JSON. The variables of the environment
 * are those of OpenTelemetry (docs/internals/tracing.md); without an endpoint there is no tracer.
 *
 * A span is written when it has ended, into a queue that is bounded: one that does not fit is
 * dropped and counted. A thread sends what is queued; a collector that does not respond costs
 * spans, and nothing else.
 */
#ifndef PAWL_HOST_TRACER_H
#define PAWL_HOST_TRACER_H

#include "base/trace_context.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/ext/log.h>

struct pawl_meter;
struct pawl_tracer;

/* The numbers of OTLP. */
enum pawl_span_kind {
    PAWL_SPAN_INTERNAL = 1,
    PAWL_SPAN_SERVER = 2,
    PAWL_SPAN_CLIENT = 3,
    PAWL_SPAN_CONSUMER = 5,
};

struct pawl_span_attribute {
    const char *key; /* NULL: none */
    struct pawl_str text;
    int64_t number;
    bool is_number;
};
#define PAWL_SPAN_ATTRIBUTES_MAX 8
#define PAWL_SPAN_LINKS_MAX 2

/* Borrowed for the call. Times are of the environment's monotonic clock. */
struct pawl_span {
    const char *name;
    struct pawl_str more; /* behind the name, apart by a blank; "": nothing */
    enum pawl_span_kind kind;
    struct pawl_trace_context context; /* its own */
    unsigned char parent_id[8];        /* all zero: none */
    struct pawl_str state;             /* tracestate of the caller; "": none */
    struct pawl_trace_context links[PAWL_SPAN_LINKS_MAX];
    int64_t begun_ns, ended_ns;
    int64_t begun_unix_ns, ended_unix_ns; /* instead, if not 0 */
    bool failed;
    struct pawl_str message; /* failed: why */
    struct pawl_span_attribute attributes[PAWL_SPAN_ATTRIBUTES_MAX];
};

/*
 * *out NULL: the environment names no endpoint. `variable` returns one, or NULL. `meter` (NULL
 * allowed) counts what is dropped. PAWL_EINVAL: a variable makes no sense.
 */
PAWL_MUST_CHECK int pawl__tracer_open(struct pawl_env *env,
                                      const char *(*variable)(const char *name),
                                      struct pawl_meter *meter, const struct pawl_log *log,
                                      struct pawl_tracer **out, struct pawl_error *err);
/* Sends what is queued, once, within the timeout of a request. NULL allowed. */
void pawl__tracer_close(struct pawl_tracer *tracer);

/* Whether a trace of this id is recorded; the caller's decision counts if there is one. NULL: not.
 */
bool pawl__tracer_samples(const struct pawl_tracer *tracer,
                          const struct pawl_trace_context *context);
/* Random ids. */
void pawl__tracer_new_span(struct pawl_tracer *tracer, unsigned char span_id[8]);
void pawl__tracer_new_trace(struct pawl_tracer *tracer, struct pawl_trace_context *out);

/* Never waits. NULL as the tracer: nothing. Any thread. */
void pawl__tracer_end(struct pawl_tracer *tracer, const struct pawl_span *span);

#endif
