/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities written in C: a type is a struct of texts and functions, given to pawl_open().
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
 * What happens to one execution of such an activity:
 *
 *     execute --returns--> completed
 *        |---pawl_context_complete()--> completed, with these outcomes
 *        |---pawl_context_fault()-----> faulted
 *        |---pawl_context_wait()------> suspended --pawl_stimulus_send()--> resume  --> as above
 *        '---pawl_context_call()------> suspended --perform, after the commit--> performed --> …
 *
 * execute, resume and performed run inside a burst: they compute, and do nothing that cannot be
 * undone, because when the process dies before the commit they run again. What has an effect
 * outside belongs into perform: it is called once the instance is stored, on whichever thread ran
 * it, may block, and is called at least once: again after a crash, with the same key, by which
 * whoever is at the other end recognises it. Its result is stored before it counts.
 *
 * Answers. These functions answer PAWL_OK or what a call below answered: PAWL_FAULTED once the
 * activity has faulted, a negative code when the burst cannot go on (memory), which nothing can
 * ignore. A negative code of their own faults the activity with the code's text.
 *
 * A struct pawl_context is valid until the function that got it returns; texts that come out of it
 * are too. It is used by the thread that the function was called on and by no other.
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

/* What the calls below answer when the activity has faulted: return it. */
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

/* Texts but `type` may be NULL, functions but `execute` too. */
struct pawl_activity_type {
    const char *type; /* "Acme.ChargeCard": words of letters, digits and '_', with dots between */
    const char *category;
    const char *display_name;
    const char *description;
    const struct pawl_activity_input *inputs;
    size_t input_count;
    const struct pawl_activity_output *outputs;
    size_t output_count;
    const char *const *outcomes; /* that it completes with; none: "Done" */
    size_t outcome_count;

    int (*execute)(void *ctx, struct pawl_context *context);
    /* What it waited for has come; `input` is the JSON object that came with it. NULL: completes.
     * With several waits any of them ends all, unless resume waits again. */
    int (*resume)(void *ctx, struct pawl_context *context, const char *input);
    /*
     * Outside of the burst; see above. Answers by pawl_call_answer(), or with a code of its own and
     * perhaps a message in `err`: then the activity faults with that. No struct pawl_context here.
     */
    int (*perform)(void *ctx, struct pawl_call *call, struct pawl_error *err);
    /* What perform answered, JSON. NULL: the result is set as the output "Result" when there is
     * one, and the activity completes. */
    int (*performed)(void *ctx, struct pawl_context *context, const char *result);
    void *ctx; /* of the functions above */
};

/* ---- inputs and outputs -------------------------------------------------------------------- */

/* An input as JSON, "null" when it is not set. A name that the type has not faults the activity. */
PAWL_API PAWL_MUST_CHECK int pawl_context_input(struct pawl_context *context, const char *name,
                                                const char **json);
/* As text ("" when not set), as an integer or a number (0), as 0 or 1: converted as workflows do.
 */
PAWL_API PAWL_MUST_CHECK int pawl_context_input_text(struct pawl_context *context, const char *name,
                                                     const char **text);
PAWL_API PAWL_MUST_CHECK int pawl_context_input_int(struct pawl_context *context, const char *name,
                                                    int64_t *value);
PAWL_API PAWL_MUST_CHECK int pawl_context_input_double(struct pawl_context *context,
                                                       const char *name, double *value);
PAWL_API PAWL_MUST_CHECK int pawl_context_input_bool(struct pawl_context *context, const char *name,
                                                     int *value);

/* Sets an output, converted to its type. What is not JSON, or a name that is none, is a fault. */
PAWL_API PAWL_MUST_CHECK int pawl_context_output(struct pawl_context *context, const char *name,
                                                 const char *json);
PAWL_API PAWL_MUST_CHECK int pawl_context_output_text(struct pawl_context *context,
                                                      const char *name, const char *text);
PAWL_API PAWL_MUST_CHECK int pawl_context_output_int(struct pawl_context *context, const char *name,
                                                     int64_t value);
PAWL_API PAWL_MUST_CHECK int pawl_context_output_double(struct pawl_context *context,
                                                        const char *name, double value);

/* ---- what becomes of it -------------------------------------------------------------------- */

/*
 * Completes with these outcomes; none (NULL, 0): "Done". The last thing to do: calls that would
 * change something answer PAWL_EINVAL afterwards and do nothing.
 */
PAWL_API PAWL_MUST_CHECK int pawl_context_complete(struct pawl_context *context,
                                                   const char *const *outcomes, size_t count);
/* Faults with a message. Answers PAWL_FAULTED, or a negative code. */
PAWL_API PAWL_MUST_CHECK int pawl_context_fault(struct pawl_context *context, const char *format,
                                                ...) PAWL_PRINTF(2, 3);
/*
 * Waits for a stimulus of this name (NULL: the type's) with the same payload (JSON; NULL: none);
 * objects match whatever the first letter's case of their keys is.
 */
PAWL_API PAWL_MUST_CHECK int pawl_context_wait(struct pawl_context *context, const char *name,
                                               const char *payload);
/* Waits for perform, which gets `data` (JSON; NULL: null). A type without perform faults. */
PAWL_API PAWL_MUST_CHECK int pawl_context_call(struct pawl_context *context, const char *data);

/* ---- what it knows ------------------------------------------------------------------------- */

/* What this execution remembers from one function to the next, JSON by key; "null": nothing. */
PAWL_API PAWL_MUST_CHECK int pawl_context_memory(struct pawl_context *context, const char *key,
                                                 const char **json);
PAWL_API PAWL_MUST_CHECK int pawl_context_memory_set(struct pawl_context *context, const char *key,
                                                     const char *json);
/* Variables of the workflow in scope, by name. One that is not there is "null"; set, it is made. */
PAWL_API PAWL_MUST_CHECK int pawl_context_variable(struct pawl_context *context, const char *name,
                                                   const char **json);
PAWL_API PAWL_MUST_CHECK int pawl_context_variable_set(struct pawl_context *context,
                                                       const char *name, const char *json);

PAWL_API const char *pawl_context_instance_id(struct pawl_context *context);
PAWL_API const char *pawl_context_correlation_id(struct pawl_context *context); /* "" none */
PAWL_API const char *pawl_context_activity_id(struct pawl_context *context);

/* ---- calls --------------------------------------------------------------------------------- */

/* The same however often this call is performed; unlike that of any other call. */
PAWL_API const char *pawl_call_key(const struct pawl_call *call);
PAWL_API const char *pawl_call_instance_id(const struct pawl_call *call);
/* What pawl_context_call() was given. */
PAWL_API const char *pawl_call_data(const struct pawl_call *call);
/* The result, JSON; the last one counts, "null" without any. PAWL_EPARSE. */
PAWL_API PAWL_MUST_CHECK int pawl_call_answer(struct pawl_call *call, const char *json,
                                              struct pawl_error *err);

#ifdef __cplusplus
}
#endif
#endif
