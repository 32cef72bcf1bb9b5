/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an activity type is: a descriptor that a designer can show, plus functions.
 *
 * One constant per type, in src/activities, in a file by family. Workflows used as activities get
 * one made for them when a graph is loaded.
 *
 * Functions return PAWL_OK, ENGINE_RAISED (pawl__raise() was called: the activity faults) or a
 * negative code (memory: the step fails as a whole). They see the world only through the context
 * API, context.h.
 */
#ifndef PAWL_ENGINE_ACTIVITY_H
#define PAWL_ENGINE_ACTIVITY_H

#include "engine/value/value.h"

struct pawl_context;
struct pawl_node;
struct pawl_loader;
struct pawl_completion;
struct pawl_signal;
struct pawl_bookmark;

enum pawl_activity_kind {
    PAWL_ACTIVITY_ACTION,
    PAWL_ACTIVITY_TRIGGER,
    PAWL_ACTIVITY_JOB,
    PAWL_ACTIVITY_TASK,
};

/* What the engine does with a type besides calling its functions. */
enum pawl_activity_flags {
    /* Completes after execute unless a bookmark was made ("code activity"). */
    PAWL_ACTIVITY_AUTO_COMPLETE = 1 << 0,
    /* Declares `variables` for those below it: Sequence, Flowchart, Parallel, composites. */
    PAWL_ACTIVITY_CONTAINER = 1 << 1,
    /* Workflow and workflow-as-activity: completes on CompleteCompositeSignal. */
    PAWL_ACTIVITY_COMPOSITE = 1 << 2,
    /* Ends the Sequence or Flowchart around it: Break, Complete, End, Finish. */
    PAWL_ACTIVITY_TERMINAL = 1 << 3,
    PAWL_ACTIVITY_START = 1 << 4,
    /* For, ForEach, While: BreakSignal sets IsBreaking and stops here. */
    PAWL_ACTIVITY_BREAKS = 1 << 5,
    PAWL_ACTIVITY_NOT_BROWSABLE = 1 << 6,
};

enum pawl_input_flags {
    PAWL_INPUT_NAKED = 1 << 0,            /* a plain JSON value, no wrapper, not evaluated */
    PAWL_INPUT_NO_AUTO_EVALUATE = 1 << 1, /* the activity evaluates it itself */
    PAWL_INPUT_SENSITIVE = 1 << 2,        /* kept out of activityState */
    PAWL_INPUT_NOT_SERIALIZABLE = 1 << 3,
    PAWL_INPUT_REQUIRED = 1 << 4,
    PAWL_INPUT_NOT_BROWSABLE = 1 << 5,
    PAWL_INPUT_READ_ONLY = 1 << 6,
    PAWL_INPUT_DEFAULT_HIDDEN = 1 << 7, /* the default counts, but descriptors do not show it */
};

struct pawl_input_descriptor {
    const char *name; /* PascalCase */
    const char *key;  /* in JSON; NULL: the name's camelCase form */
    const struct pawl_type *type;
    const char *default_json; /* JSON text, NULL: none */
    const char *display_name; /* NULL: the name with spaces */
    const char *description;
    const char *category;       /* NULL: none */
    const char *ui_hint;        /* NULL: by type */
    const char *default_syntax; /* NULL: none */
    const char *options_json;   /* uiSpecifications as JSON text, NULL: none */
    uint32_t flags;
};

struct pawl_output_descriptor {
    const char *name;
    const struct pawl_type *type;
    const char *display_name;
    const char *description;
    bool not_serializable;
};

struct pawl_port_descriptor {
    const char *name; /* PascalCase */
    bool flow;        /* an outcome; else an embedded activity (or list) under its camelCase key */
    bool many;        /* embedded: an array of activities */
    bool hidden;      /* not browsable */
};

/* Completion of a scheduled child, by the method name that stored state uses. */
struct pawl_completion_callback {
    const char *method;
    int (*run)(struct pawl_context *owner, const struct pawl_completion *completion);
};

/* Resumption of a bookmark, likewise. */
struct pawl_resume_callback {
    const char *method;
    int (*run)(struct pawl_context *context, const struct pawl_bookmark *bookmark);
};

struct pawl_activity {
    const char *type; /* "Elsa.WriteLine" */
    uint32_t version;
    enum pawl_activity_kind kind;
    uint32_t flags;
    const char *category;
    const char *display_name; /* NULL: the last part of the type with spaces */
    const char *description;
    const struct pawl_input_descriptor *inputs;
    const struct pawl_output_descriptor *outputs;
    const struct pawl_port_descriptor *ports;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t port_count;

    /*
     * Reads what the generic loader does not: naked inputs and children in places of their own
     * (Switch cases, StateMachine). Embedded ports of the descriptor are read before it is called.
     * Sets node->data (in the graph's arena). NULL: nothing to read.
     */
    int (*load)(struct pawl_loader *loader, struct pawl_node *node);

    /* Begins the work. NULL: nothing to do. */
    int (*execute)(struct pawl_context *context);

    /* Called for each signal that reaches a context of this type. NULL: ignores all. */
    int (*signal)(struct pawl_context *context, struct pawl_signal *signal);

    /* The result of an effect that execute or a callback waits for. */
    int (*effect_done)(struct pawl_context *context, const struct pawl_json *result);

    /*
     * Trigger types: the payloads to index, an array of objects as stored (camelCase, `_type`),
     * with the context's inputs evaluated as far as they can be without an instance.
     * NULL: one empty object.
     */
    int (*triggers)(struct pawl_context *context, struct pawl_json *payloads);
    const char *trigger_name; /* NULL: the type */

    const struct pawl_completion_callback *completions; /* ends with method NULL; or NULL */
    const struct pawl_resume_callback *resumes;         /* ends with method NULL; or NULL */
};

#endif
