/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities written in C: a type is a struct of strings and functions that is passed to
 * pawl_open().
 *
 *     static int add(void *ctx, struct pawl_context *context)
 *     {
 *         int64_t a, b;
 *         int status = pawl_context_input_int(context, "A", &a);
 *
 *         if (status == PAWL_OK)
 *             status = pawl_context_input_int(context, "B", &b);
 *         if (status == PAWL_OK && (a > 1000 || b > 1000))
 *             status = pawl_context_fault(context, "too large to add");
 *         if (status == PAWL_OK)
 *             status = pawl_context_output_int(context, "Sum", a + b);
 *         return status;
 *     }
 *
 *     static const struct pawl_activity_input inputs[] = {{"A", "Int64", NULL, NULL},
 *                                                         {"B", "Int64", NULL, NULL}};
 *     static const struct pawl_activity_output outputs[] = {{"Sum", "Int64", NULL}};
 *     static const struct pawl_activity_type type = {
 *         .type = "Demo.Add", .inputs = inputs, .input_count = 2,
 *         .outputs = outputs, .output_count = 1, .execute = add};
 *     …
 *     struct pawl_options options = {.activities = &type, .activity_count = 1, …};
 *
 * The life of one execution of such an activity:
 *
 *     execute --returns--> completed
 *        |---pawl_context_complete()--> completed, with these outcomes
 *        |---pawl_context_fault()-----> faulted
 *        |---pawl_context_wait()------> suspended --pawl_stimulus_send()--> resume  --> as above
 *        '---pawl_context_call()------> suspended --perform, after the commit--> performed --> …
 *
 * execute, resume and performed run inside a burst. They must not have side effects outside the
 * instance, because they run again when the process dies before the commit. Side effects belong in
 * perform: it is called after the instance is stored, on the thread that ran the instance or on a
 * worker's, and may block. It is called at least once: after a crash it is called again with the
 * same key, so that the receiver can recognise the repetition. Its result is stored before the
 * activity continues.
 *
 * Return values. These functions return PAWL_OK or what a call below returned: PAWL_FAULTED once
 * the activity has faulted, or a negative code when the burst cannot continue (out of memory),
 * which the runtime acts on even if the function ignores it. Any other negative code faults the
 * activity with the code's text.
 *
 * A struct pawl_context, and every string obtained from it, is valid until the function that
 * received it returns. Only the thread that the function was called on may use it.
 */
#ifndef PAWL_ACTIVITY_H
#define PAWL_ACTIVITY_H

#include <pawl/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pawl_context;
struct pawl_call;

/* Returned by the calls below when the activity has faulted; pass it on. */
#define PAWL_FAULTED 1

/*
 * Types are named as definitions name them: "String", "Boolean", "Int32", "Int64", "Double",
 * "Decimal", "DateTimeOffset", "TimeSpan", "Guid", "Object" (anything), "String[]", …
 */
struct pawl_activity_input {
    const char *name; /* PascalCase: "Amount"; definitions write "amount" */
    const char *type; /* NULL: "Object" */
    const char *description;
    const char *default_json; /* NULL: null */
};

struct pawl_activity_output {
    const char *name;
    const char *type; /* NULL: "Object" */
    const char *description;
};

/* `type` and `execute` are required; every other string and function may be NULL. */
struct pawl_activity_type {
    const char *type; /* "Acme.ChargeCard": words of letters, digits and '_', with dots between */
    const char *category;
    const char *display_name;
    const char *description;
    const struct pawl_activity_input *inputs;
    size_t input_count;
    const struct pawl_activity_output *outputs;
    size_t output_count;
    const char *const *outcomes; /* that it can complete with; none: "Done" */
    size_t outcome_count;

    int (*execute)(void *ctx, struct pawl_context *context);
    /* What it waited for has arrived, with the JSON object `input`. NULL: the activity completes.
     * If it waits for several things, the first one ends all waits, unless resume waits again. */
    int (*resume)(void *ctx, struct pawl_context *context, const char *input);
    /*
     * Runs outside the burst (see above), so there is no struct pawl_context. Sets its result with
     * pawl_call_return(). If it returns an error, the activity faults with the message in `err`, or
     * with the code's text.
     */
    int (*perform)(void *ctx, struct pawl_call *call, struct pawl_error *err);
    /* `result` is the JSON that perform set. NULL: it becomes the output "Result" if the type has
     * one, and the activity completes. */
    int (*performed)(void *ctx, struct pawl_context *context, const char *result);
    void *ctx; /* passed to the functions above */
};

/* ---- inputs and outputs -------------------------------------------------------------------- */

/* An input as JSON, "null" when it is not set. A name that the type does not declare faults the
 * activity. */
PAWL_API PAWL_MUST_CHECK int pawl_context_input(struct pawl_context *context, const char *name,
                                                const char **json);
/* Converted as in workflows: to text ("" when not set), to an integer or a double (0 when not set),
 * to 0 or 1. */
PAWL_API PAWL_MUST_CHECK int pawl_context_input_text(struct pawl_context *context, const char *name,
                                                     const char **text);
PAWL_API PAWL_MUST_CHECK int pawl_context_input_int(struct pawl_context *context, const char *name,
                                                    int64_t *value);
PAWL_API PAWL_MUST_CHECK int pawl_context_input_double(struct pawl_context *context,
                                                       const char *name, double *value);
PAWL_API PAWL_MUST_CHECK int pawl_context_input_bool(struct pawl_context *context, const char *name,
                                                     int *value);

/* Sets an output, converted to its type. Invalid JSON or an undeclared name faults the activity. */
PAWL_API PAWL_MUST_CHECK int pawl_context_output(struct pawl_context *context, const char *name,
                                                 const char *json);
PAWL_API PAWL_MUST_CHECK int pawl_context_output_text(struct pawl_context *context,
                                                      const char *name, const char *text);
PAWL_API PAWL_MUST_CHECK int pawl_context_output_int(struct pawl_context *context, const char *name,
                                                     int64_t value);
PAWL_API PAWL_MUST_CHECK int pawl_context_output_double(struct pawl_context *context,
                                                        const char *name, double value);

/* ---- completing, faulting, waiting --------------------------------------------------------- */

/*
 * Completes with these outcomes; none (NULL, 0): "Done". Call it last: later calls that would
 * change something return PAWL_EINVAL and do nothing.
 */
PAWL_API PAWL_MUST_CHECK int pawl_context_complete(struct pawl_context *context,
                                                   const char *const *outcomes, size_t count);
/* Faults with a message. Returns PAWL_FAULTED, or a negative code. */
PAWL_API PAWL_MUST_CHECK int pawl_context_fault(struct pawl_context *context, const char *format,
                                                ...) PAWL_PRINTF(2, 3);
/*
 * Waits for a stimulus of this name (NULL: the type's) with the same payload (JSON; NULL: none).
 * The case of the first letter of a key does not matter.
 */
PAWL_API PAWL_MUST_CHECK int pawl_context_wait(struct pawl_context *context, const char *name,
                                               const char *payload);
/* Waits for perform, which is given `data` (JSON; NULL: null). A type without perform faults. */
PAWL_API PAWL_MUST_CHECK int pawl_context_call(struct pawl_context *context, const char *data);

/* ---- memory, variables, ids ---------------------------------------------------------------- */

/* JSON by key that this execution keeps from one function to the next; "null": not set. */
PAWL_API PAWL_MUST_CHECK int pawl_context_memory(struct pawl_context *context, const char *key,
                                                 const char **json);
PAWL_API PAWL_MUST_CHECK int pawl_context_memory_set(struct pawl_context *context, const char *key,
                                                     const char *json);
/* Workflow variables in scope, by name. An unknown one is "null"; setting it creates it. */
PAWL_API PAWL_MUST_CHECK int pawl_context_variable(struct pawl_context *context, const char *name,
                                                   const char **json);
PAWL_API PAWL_MUST_CHECK int pawl_context_variable_set(struct pawl_context *context,
                                                       const char *name, const char *json);

PAWL_API const char *pawl_context_instance_id(struct pawl_context *context);
PAWL_API const char *pawl_context_correlation_id(struct pawl_context *context); /* "" none */
PAWL_API const char *pawl_context_activity_id(struct pawl_context *context);

/* ---- calls --------------------------------------------------------------------------------- */

/* Identifies the call: the same each time it is performed, different from every other call. */
PAWL_API const char *pawl_call_key(const struct pawl_call *call);
PAWL_API const char *pawl_call_instance_id(const struct pawl_call *call);
/* What pawl_context_call() was given. */
PAWL_API const char *pawl_call_data(const struct pawl_call *call);
/* Sets the result, JSON. The last one set counts; "null" if none was. PAWL_EPARSE. */
PAWL_API PAWL_MUST_CHECK int pawl_call_return(struct pawl_call *call, const char *json,
                                              struct pawl_error *err);

#ifdef __cplusplus
}
#endif
#endif
