/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Elsa throws, the engine raises: a type, a message and perhaps an inner one. An
 * exception faults the activity in whose execution it is raised and is kept with the incident.
 *
 * Engine functions return PAWL_OK, ENGINE_RAISED (the burst holds the exception; unwind to the
 * activity's invocation) or a negative code (memory, limits: unwind out of the burst; nothing of
 * the step is kept).
 */
#ifndef PAWL_ENGINE_EXCEPTION_H
#define PAWL_ENGINE_EXCEPTION_H

#include "base/str.h"

#define ENGINE_RAISED 1

/*
 * Bytes of a message at the most; longer ones are cut. A message is stored with the context, the
 * incident and the journal, and is often made of data: a fault must always be small enough to be
 * stored, or its instance would never be.
 */
#define PAWL_EXCEPTION_MESSAGE_MAX ((size_t)16 << 10)
/* Exceptions inside one at the most; those further in are left out. */
#define PAWL_EXCEPTION_INNER_MAX 16

struct pawl_exception {
    struct pawl_str type; /* alias: "FaultException", "InvalidOperationException", … */
    struct pawl_str message;
    const struct pawl_exception *inner; /* or NULL */
};

#endif
