/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on a host that stores nothing (`ephemeral` in struct pawl_surroundings): definitions
 * and expressions are tried out, as `pawl run` and `pawl eval` do. On any other host each of them
 * is PAWL_EINVAL.
 */
#ifndef PAWL_OPERATIONS_TRIAL_H
#define PAWL_OPERATIONS_TRIAL_H

#include "operations/definitions.h"

struct pawl_engine;

struct pawl_trial_definition {
    const struct pawl_json *json;
    struct pawl_definition_row row; /* filled in */
    struct pawl_problems problems;  /* filled in: where it will not do what it says */
};

/*
 * Takes them in and publishes them, the last one first: each may use all others. Nothing is started
 * by time: only what is asked for runs. On failure *at says with which one.
 */
PAWL_MUST_CHECK int pawl__op_trial_load(const struct pawl_op *op,
                                        struct pawl_trial_definition *definitions, size_t count,
                                        size_t *at);
/* Whether an instance waits for the event. */
PAWL_MUST_CHECK int pawl__op_trial_awaits(const struct pawl_op *op, struct pawl_str event,
                                          bool *out);

/* ---- expressions ---------------------------------------------------------------------------- */

struct pawl_evaluation {
    const char *language; /* "JavaScript", "Liquid" */
    struct pawl_json source;
    struct pawl_json variables; /* objects by name */
    struct pawl_json inputs;
};

struct pawl_evaluated {
    struct pawl_json value;
    struct pawl_str type; /* "": none */
    /* It was not evaluated: the exception's message is in `failure`, and what kind it is. */
    bool is_raised;
    struct pawl_str failure, exception;
};

/*
 * Evaluates an expression as a workflow would. It is one: a definition made here declares the
 * variables and inputs and has one activity, of a type that only this host knows, whose input is
 * the expression. So scope, functions, limits and messages are those of a run. The host has
 * pawl__op_trial_extend() as `extend`.
 */
PAWL_MUST_CHECK int pawl__op_trial_evaluate(const struct pawl_op *op,
                                            const struct pawl_evaluation *request,
                                            struct pawl_evaluated *out);
/* Adds the activity that evaluates. */
PAWL_MUST_CHECK int pawl__op_trial_extend(void *ctx, struct pawl_engine *engine,
                                          struct pawl_error *err);

#endif
