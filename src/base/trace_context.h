/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W3C Trace Context: which trace something belongs to, as requests carry it in `traceparent`.
 *
 * All bursts of an instance, on whichever node, belong to one trace: its id is made from the
 * instance's. So nothing has to be stored for it, and nothing is lost when a node dies. What caused
 * a burst is another trace, and is linked.
 */
#ifndef PAWL_BASE_TRACE_CONTEXT_H
#define PAWL_BASE_TRACE_CONTEXT_H

#include "base/str.h"

#define PAWL_TRACEPARENT_SIZE 56 /* with a NUL */
#define PAWL_TRACE_ID_SIZE 33
#define PAWL_TRACE_SAMPLED 1u

/* All zero: none. */
struct pawl_trace_context {
    unsigned char trace_id[16];
    unsigned char span_id[8];
    unsigned char flags; /* PAWL_TRACE_… */
};

/* "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"; false, and none: not that. Of later
 * versions what is known of them counts. */
bool pawl__traceparent_read(struct pawl_str text, struct pawl_trace_context *out);
void pawl__traceparent_write(const struct pawl_trace_context *context,
                             char out[PAWL_TRACEPARENT_SIZE]);
/* The 32 digits. */
void pawl__trace_id_text(const struct pawl_trace_context *context, char out[PAWL_TRACE_ID_SIZE]);

bool pawl__trace_is_set(const struct pawl_trace_context *context);

/* The trace of an instance, and the span that all of its bursts are in. Sampled. */
void pawl__trace_of_instance(struct pawl_str instance_id, struct pawl_trace_context *out);

#endif
