/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first step, to be replaced by the engine proper: runs a definition whose activities are
 * Elsa.WriteLine with literal text and Elsa.Sequence of such, nested as deeply as one likes, from
 * the start to the end in memory. Everything else is refused before anything runs.
 *
 * Pure: no I/O, no clock; what would be printed goes to a callback.
 */
#ifndef PAWL_ENGINE_FIRST_STEP_H
#define PAWL_ENGINE_FIRST_STEP_H

#include "base/json.h"
#include "base/str.h"

#include <pawl/error.h>

/* What first_step can run, for messages. */
#define PAWL_FIRST_STEP_SUPPORTED "Elsa.WriteLine with Literal text, and Elsa.Sequence of those"

/* Either may be NULL. Strings are borrowed for the call. */
struct pawl_first_step_hooks {
    /* An activity begins. `id` is empty when the definition gives none. */
    void (*activity)(void *ctx, struct pawl_str type, struct pawl_str id, const char *pointer);
    /* A WriteLine writes `text` and a newline. */
    void (*line)(void *ctx, struct pawl_str text);
    void *ctx;
};

/* Room for 128 nested sequences, which is as deep as a document may be. */
#define PAWL_FIRST_STEP_POINTER_SIZE 2560

struct pawl_first_step {
    size_t activity_count;                      /* begun, sequences included */
    char pointer[PAWL_FIRST_STEP_POINTER_SIZE]; /* on failure: JSON pointer of what is wrong */
};

/*
 * Checks the whole definition, then runs it. PAWL_EPARSE when it is no definition (the message
 * says what was expected), PAWL_EUNSUPPORTED when it needs what is not there yet (the message
 * names activity type and id). *step is written in both cases, and no hook was called after a
 * failure.
 */
PAWL_MUST_CHECK int pawl__first_step_run(const struct pawl_json *definition,
                                         const struct pawl_first_step_hooks *hooks,
                                         struct pawl_first_step *step, struct pawl_error *err);

#endif
