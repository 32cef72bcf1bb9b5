/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the loader share. Private to the files beside it and to graph.c;
 * load functions of activities use what graph.h offers.
 *
 *     loader.c           problems, errors, pointers, names
 *     activity.c         activity objects: types, common keys, ports, children
 *     input.c            inputs, outputs, expressions
 *     variable.c         variables and their storage
 *     workflow.c         the keys of a definition; workflows used as activities; pawl__graph_load
 *     ids.c              generated ids, node ids, pre-order
 *     check.c            problems that are seen only in a whole workflow
 *
 * Everything a graph keeps is in its arena. Functions return PAWL_OK or a negative code, and the
 * error is then already reported; pawl__graph_load reports only running out of memory, at its end.
 */
#ifndef PAWL_ENGINE_LOAD_LOADER_H
#define PAWL_ENGINE_LOAD_LOADER_H

#include "base/error.h"
#include "engine/engine.h"

/* A definition that is used as an activity, read once however often it is embedded. */
struct loader_source {
    const void *given; /* the resolver's JSON; its address is the key */
    struct pawl_workflow *workflow;
    const struct pawl_activity *activity;
    struct pawl_variable *variables; /* of the activity: one per argument */
    uint32_t variable_count;
    bool loaded; /* once: its problems are known */
};

/* The definition being read; the outermost has no outer one. */
struct loader_frame {
    const struct loader_frame *outer;
    const struct pawl_workflow *workflow;
    const char *at; /* pointer, in the outermost definition, of the activity that embeds; "" */
    uint32_t level;
};

/* What is worked out once per type and graph. */
struct loader_shape {
    const void *activity;              /* its address is the key */
    const struct pawl_value *defaults; /* of the inputs, converted */
    const char **input_keys;           /* as in JSON */
    const char **output_keys;
    const char **port_keys;
};

struct pawl_loader {
    struct pawl_graph *graph;
    struct pawl_arena *arena; /* the graph's */
    const struct pawl_engine *engine;
    const struct pawl_workflow_resolver *resolver; /* NULL: none */
    const struct pawl_graph_limits *limits;
    struct pawl_problems *problems; /* NULL: nobody asks */
    struct pawl_error *err;

    const struct loader_frame *frame;
    struct pawl_map sources; /* address -> struct loader_source */
    struct pawl_map shapes;  /* address -> struct loader_shape */
    struct pawl_buf scratch; /* for texts */
    struct pawl_buf place;   /* for pointers that nobody keeps */
    uint32_t depth;
    uint32_t node_count;
    uint32_t embedded_cap;
    uint32_t muted; /* > 0: problems were already reported */
    int problem_status;
};

/* ---- loader.c --------------------------------------------------------------------------- */

/* Returns the arena's failure, for after an allocation that gave NULL. */
static inline int loader_memory(const struct pawl_loader *loader)
{
    return loader->arena->status != PAWL_OK ? loader->arena->status : PAWL_ENOMEM;
}

/* At most that many bytes, and whole characters: for messages. */
struct pawl_str pawl__loader_cut(struct pawl_str text, size_t most);
/* "a string", "an array", …: for messages. */
const char *pawl__loader_found(const struct pawl_json *value);
/* The member under a key, letters compared without case; NULL when missing or null. */
const struct pawl_json *pawl__loader_get(const struct pawl_json *object, const char *key);
/*
 * A string under a key: "" when missing or null; anything else cannot be loaded. `pointer` is the
 * object's.
 */
PAWL_MUST_CHECK int pawl__loader_str(struct pawl_loader *loader, const struct pawl_json *object,
                                     const char *key, const char *pointer, struct pawl_str *out);
/* true for true and for the text "true". */
bool pawl__loader_true(const struct pawl_json *value);
/* The text that a scalar or a whole value has, in the graph's arena. */
PAWL_MUST_CHECK int pawl__loader_text(struct pawl_loader *loader, const struct pawl_json *value,
                                      struct pawl_str *out);
/* `alias`, or NULL when it names no type; PAWL_ENOMEM. An alias nested too deep names none. */
PAWL_MUST_CHECK int pawl__loader_type(struct pawl_loader *loader, struct pawl_str alias,
                                      const struct pawl_type **out);
/*
 * Removes `_type` marks at every level, in place; objects that only wrap an array become it.
 * Recursive: what was parsed or copied is no deeper than PAWL_JSON_DEPTH_MAX.
 */
void pawl__loader_strip(struct pawl_json *value);
/*
 * base/key or base/key/below (NULL: none), for a message: valid until the next call. NULL when out
 * of memory.
 */
const char *pawl__loader_place(struct pawl_loader *loader, const char *base, const char *key,
                               const char *below);
/* A map's key for an object that is found by its address. `of` points to the address. */
struct pawl_str pawl__loader_address(const void *const *of);

/* ---- activity.c ------------------------------------------------------------------------- */

/* A node of a type under `parent` (NULL: the root), counted, with nothing read yet. */
PAWL_MUST_CHECK int pawl__loader_node(struct pawl_loader *loader, struct pawl_node *parent,
                                      struct pawl_str port, const struct pawl_activity *activity,
                                      const struct pawl_json *json, const char *pointer,
                                      struct pawl_node **out);
/* Appends to the children of its parent. */
PAWL_MUST_CHECK int pawl__loader_attach(struct pawl_loader *loader, struct pawl_node *child);

/* ---- input.c ---------------------------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__loader_shape(struct pawl_loader *loader,
                                       const struct pawl_activity *activity,
                                       const struct loader_shape **out);
PAWL_MUST_CHECK int pawl__loader_inputs(struct pawl_loader *loader, struct pawl_node *node,
                                        const struct loader_shape *shape);
PAWL_MUST_CHECK int pawl__loader_outputs(struct pawl_loader *loader, struct pawl_node *node,
                                         const struct loader_shape *shape);

/* ---- variable.c ------------------------------------------------------------------------- */

/*
 * Reads an array of variables. Of a workflow (`node` NULL) those of unknown types are left out, of
 * an activity they become Object.
 */
PAWL_MUST_CHECK int pawl__loader_variables(struct pawl_loader *loader, struct pawl_node *node,
                                           const struct pawl_json *owner, const char *pointer,
                                           struct pawl_variable **out, uint32_t *count);
/* What a driver's name means; `loosely` also finds a class name within it. NONE when nothing. */
enum pawl_storage pawl__loader_storage(struct pawl_str name, bool loosely);

/* ---- workflow.c ------------------------------------------------------------------------- */

/* The workflow that a reference means, read; *out NULL when there is none. */
PAWL_MUST_CHECK int pawl__loader_source(struct pawl_loader *loader,
                                        const struct pawl_workflow_reference *reference,
                                        const char *pointer, struct loader_source **out);
/* All of pawl__graph_load but making the graph and giving it back. */
PAWL_MUST_CHECK int pawl__graph_read(struct pawl_graph *graph, const struct pawl_json *definition,
                                     const struct pawl_workflow_resolver *resolver,
                                     const struct pawl_graph_limits *limits,
                                     struct pawl_problems *problems, struct pawl_error *err);
/* Loads the workflow below the activity that embeds it. */
PAWL_MUST_CHECK int pawl__loader_embed(struct pawl_loader *loader, struct pawl_node *node,
                                       struct loader_source *source);

/* ---- ids.c ------------------------------------------------------------------------------ */

/*
 * For the `count` nodes at and below an Elsa.Workflow node: gives ids to those that have none, and
 * to their variables, then checks them. An embedded workflow has had its own before: so its
 * Workflow1 makes the outer one Workflow2, as in Elsa.
 */
PAWL_MUST_CHECK int pawl__loader_finish(struct pawl_loader *loader, struct pawl_node *top,
                                        uint32_t count);
/* Lists the nodes of the finished graph, with node ids, and makes them findable. */
PAWL_MUST_CHECK int pawl__loader_index(struct pawl_loader *loader);

/* ---- check.c ---------------------------------------------------------------------------- */

/*
 * Notes the problems that are seen only in a whole workflow: `list` has its nodes in pre-order, the
 * first is the Elsa.Workflow node. Workflows embedded in it were checked before. Does nothing when
 * nobody asks. Uses the nodes' `index`.
 */
PAWL_MUST_CHECK int pawl__loader_check(struct pawl_loader *loader, struct pawl_node **list,
                                       uint32_t count);

#endif
