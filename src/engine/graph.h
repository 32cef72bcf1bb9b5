/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A definition made ready to run: the tree of its activities, with ids, inputs and outputs bound to
 * descriptors, and the workflows it embeds. Immutable once loaded, shared by threads, counted.
 *
 * Loading is as lenient as Elsa where existing definitions need it (unknown activity
 * types become placeholders that fault when run, unknown expression types leave an input unset),
 * and every such leniency is a problem in the list, so that `pawl validate` and publishing can say
 * it. What cannot be loaded at all is an error with a JSON pointer.
 */
#ifndef PAWL_ENGINE_GRAPH_H
#define PAWL_ENGINE_GRAPH_H

#include "base/map.h"
#include "engine/activity.h"
#include "engine/problem.h"
#include "engine/value/value.h"

struct pawl_engine;
struct pawl_expression_ops;

/* The types that the loader itself asks the engine for. */
#define PAWL_ACTIVITY_WORKFLOW "Elsa.Workflow"
#define PAWL_ACTIVITY_SEQUENCE "Elsa.Sequence"          /* replaces a missing root */
#define PAWL_ACTIVITY_NOT_FOUND "Elsa.NotFoundActivity" /* replaces unknown types */
/*
 * The model of workflows used as activities: the descriptor that is made for each has its kind,
 * flags and functions, and the workflow's name, inputs, outputs and ports.
 */
#define PAWL_ACTIVITY_EMBEDDED "Elsa.WorkflowDefinitionActivity"

enum pawl_storage {
    PAWL_STORAGE_NONE,     /* not kept across suspensions */
    PAWL_STORAGE_INSTANCE, /* properties.Variables of the owning context */
    PAWL_STORAGE_WORKFLOW, /* properties.PersistentVariablesDictionary; obsolete */
    PAWL_STORAGE_MEMORY,   /* not stored: lost with the request, at the latest */
};

struct pawl_expression {
    const struct pawl_expression_ops *ops; /* NULL: no expression */
    struct pawl_json value;                /* as in the definition */
};

/*
 * Variables of one scope, declared or made by scripts. They are found by looking at each, and a
 * commit looks for each of them: ten thousand took 0.7 s of a burst.
 */
#define PAWL_SCOPE_VARIABLES_MAX 2000u

struct pawl_variable {
    struct pawl_str id;
    struct pawl_str name;
    const struct pawl_type *type;
    struct pawl_value initial; /* already converted; null: none */
    enum pawl_storage storage;
};

/* An input or output that a workflow declares. */
struct pawl_argument {
    struct pawl_str name;
    const struct pawl_type *type;
    enum pawl_storage storage; /* of inputs: only persisted with INSTANCE or WORKFLOW */
    const struct pawl_json *json;
};

enum pawl_incident_strategy {
    PAWL_INCIDENT_DEFAULT,
    PAWL_INCIDENT_FAULT,
    PAWL_INCIDENT_CONTINUE,
};

/* One definition version: the outermost, or one embedded as an activity. */
struct pawl_workflow {
    struct pawl_str definition_id;
    struct pawl_str version_id;
    int64_t version;
    struct pawl_str name;
    struct pawl_str tool_version;
    bool is_system;
    struct pawl_variable *variables;
    struct pawl_argument *inputs;
    struct pawl_argument *outputs;
    struct pawl_str *outcomes;
    uint32_t variable_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t outcome_count;
    enum pawl_incident_strategy incident_strategy;
    struct pawl_str commit_strategy;     /* "" none */
    struct pawl_str activation_strategy; /* short class name, "" none */
    const struct pawl_json *json;        /* the definition object */
};

struct pawl_input {
    const struct pawl_input_descriptor *descriptor;
    struct pawl_expression expression; /* ops NULL: not set, the default counts */
    struct pawl_value initial;         /* the descriptor's default, converted; null: none */
    const struct pawl_json *naked;     /* NAKED: the plain value, or NULL */
};

struct pawl_output {
    const struct pawl_output_descriptor *descriptor;
    struct pawl_str reference; /* variable id or workflow output name; "" not bound */
};

struct pawl_node {
    uint32_t index; /* place in graph->nodes, which is pre-order */
    struct pawl_str id;
    struct pawl_str node_id; /* ids from the root down, joined with ':' */
    struct pawl_str name;
    struct pawl_str type; /* the descriptor's; of a placeholder, the missing one */
    uint32_t version;     /* likewise; of a placeholder 0, whatever was written */
    const struct pawl_activity *activity;
    const struct pawl_json *json; /* the activity object, markers (`_type`) stripped */
    struct pawl_str pointer;      /* JSON pointer within its definition */

    struct pawl_node *parent; /* NULL for the root */
    struct pawl_str port;     /* of the parent */
    struct pawl_node **children;
    uint32_t child_count;

    struct pawl_input *inputs;   /* parallel to activity->inputs */
    struct pawl_output *outputs; /* parallel to activity->outputs */

    /*
     * Containers: their own; Elsa.Workflow: the workflow's; a workflow used as an activity: one for
     * each input and then each output, whose id and name are the argument's.
     */
    struct pawl_variable *variables;
    uint32_t variable_count;

    struct pawl_workflow *workflow; /* Elsa.Workflow nodes and workflow-as-activity; else NULL */

    bool can_start_workflow;
    bool run_asynchronously;
    struct pawl_str commit_strategy; /* "" none */
    struct pawl_str merge_mode;      /* as written, "" none */
    struct pawl_str source;          /* customProperties.source */

    void *data; /* what the type's load made of it */
};

/* A version that the graph embeds: publishing another one of that definition invalidates it. */
struct pawl_embedded {
    struct pawl_str definition_id;
    struct pawl_str version_id;
    int64_t version;
};

struct pawl_graph {
    struct pawl_arena arena;
    const struct pawl_engine *engine; /* borrowed: it outlives its graphs */
    struct pawl_workflow *workflow;   /* the outermost */
    struct pawl_node *root;           /* the Elsa.Workflow node */
    struct pawl_node **nodes;
    uint32_t node_count;
    struct pawl_embedded *embedded;
    uint32_t embedded_count;
    struct pawl_map by_node_id; /* -> struct pawl_node */
    struct pawl_map by_id;      /* activity id -> struct pawl_node; NULL when several have it */
    _Atomic uint32_t references;
};

/* ---- loading ---------------------------------------------------------------------------- */

/* How a workflow used as an activity is named in a definition. */
struct pawl_workflow_reference {
    struct pawl_str type;          /* "" when asked by id alone */
    uint32_t version;              /* 0: any, the highest */
    struct pawl_str definition_id; /* "" not given */
    struct pawl_str version_id;    /* "" not given */
};

/*
 * Finds the definition that a reference means, in Elsa's order: type and
 * version, then type alone, overridden by a known version id, else by definition id; unknown
 * versions fall back to the published, then to the latest. *out is borrowed until the graph is
 * loaded. PAWL_ENOTFOUND. NULL when there are no other definitions.
 */
struct pawl_workflow_resolver {
    int (*find)(void *ctx, const struct pawl_workflow_reference *reference,
                const struct pawl_json **out, struct pawl_error *err);
    void *ctx;
};

struct pawl_graph_limits {
    uint32_t nodes_max; /* 100,000 */
    uint32_t depth_max; /* of nested activities: 1,000 */
    uint32_t embed_max; /* of workflows within workflows: 32 */
    size_t bytes_max;   /* arena of the graph: 256 MB */
};

extern const struct pawl_graph_limits pawl__graph_limits_default;

/*
 * Loads `definition` (an object). Copies what it keeps. *out has one reference. `problems` and
 * `resolver` may be NULL, `limits` NULL means the default. PAWL_EPARSE: it cannot be loaded; the
 * message has the JSON pointer, what is there and what was expected. PAWL_ELIMIT, PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int
pawl__graph_load(const struct pawl_engine *engine, const struct pawl_allocator *alloc,
                 const struct pawl_json *definition, const struct pawl_workflow_resolver *resolver,
                 const struct pawl_graph_limits *limits, struct pawl_problems *problems,
                 struct pawl_graph **out, struct pawl_error *err);

struct pawl_graph *pawl__graph_ref(struct pawl_graph *graph);
void pawl__graph_unref(struct pawl_graph *graph); /* NULL allowed */

/* By exact node id; NULL when there is none. */
struct pawl_node *pawl__graph_node(const struct pawl_graph *graph, struct pawl_str node_id);
/*
 * By activity id: the node whose id it is when there is exactly one, else the one whose node id
 * ends with it. NULL when none or several match.
 */
struct pawl_node *pawl__graph_activity(const struct pawl_graph *graph, struct pawl_str id);

/*
 * The type name that a workflow has when it is used as an activity: "Grand Child" is GrandChild,
 * "Cache_Child" is CacheChild, other characters stay. ptr NULL when out of memory.
 */
struct pawl_str pawl__workflow_type_name(struct pawl_arena *arena, struct pawl_str name);

/* ---- for the load functions of activities ----------------------------------------------- */

/*
 * Loads the activity object `json` as a child of `parent` under `port`; NULL or a JSON null gives
 * *out NULL. `pointer` is that of the object. Copies the strings, borrows the JSON, which is that
 * of the node or lives in the loader's arena. Children made by a type's own load come before those
 * of its declared ports, as in Elsa (Switch: its cases, then the default).
 */
PAWL_MUST_CHECK int pawl__loader_child(struct pawl_loader *loader, struct pawl_node *parent,
                                       const char *port, const struct pawl_json *json,
                                       const char *pointer, struct pawl_node **out);
/* Reads {"type":…, "value":…}; an unknown type leaves ops NULL and is a problem. */
PAWL_MUST_CHECK int pawl__loader_expression(struct pawl_loader *loader, struct pawl_node *node,
                                            const struct pawl_json *json, const char *pointer,
                                            struct pawl_expression *out);
struct pawl_arena *pawl__loader_arena(struct pawl_loader *loader);
const struct pawl_engine *pawl__loader_engine(const struct pawl_loader *loader);
/*
 * Notes a problem of `node` at `pointer`, that of the node when NULL. Does nothing when nobody
 * asked for problems.
 */
void pawl__loader_problem(struct pawl_loader *loader, enum pawl_problem_level level,
                          const struct pawl_node *node, const char *pointer, const char *format,
                          ...) PAWL_PRINTF(5, 6);
/* Notes what the language of an expression, if it has one, finds wrong with it. */
void pawl__loader_check_expression(struct pawl_loader *loader, const struct pawl_node *node,
                                   const char *pointer, const struct pawl_expression *expression);
/* The definition cannot be loaded: the message for the user, behind the pointer. PAWL_EPARSE. */
int pawl__loader_fail(struct pawl_loader *loader, const char *pointer, const char *format, ...)
    PAWL_PRINTF(3, 4);
/* "/root" and "activities" -> "/root/activities", escaped; NULL when out of memory. */
const char *pawl__loader_pointer(struct pawl_loader *loader, const char *base, const char *key);
/* The same for an array's element. */
const char *pawl__loader_element(struct pawl_loader *loader, const char *base, uint32_t index);
/* "WriteLine" -> "writeLine", into the loader's arena. NULL when out of memory. */
const char *pawl__loader_camel(struct pawl_loader *loader, const char *name);

#endif
