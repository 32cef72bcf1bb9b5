/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations without a host: definitions that are in no store are checked and drawn, and the types
 * of activities are listed. Nothing is run. An offline engine knows all that is built in;
 * JavaScript and Liquid by name even in a build that cannot run them.
 */
#ifndef PAWL_OPERATIONS_OFFLINE_H
#define PAWL_OPERATIONS_OFFLINE_H

#include "base/json/json.h"
#include "engine/problem.h"

#include <pawl/ext/env.h>

struct pawl_configuration;
struct pawl_offline;

/*
 * Borrows the environment and the arena, in which what it returns lives. Scripts are looked at, and
 * timers judged, within the limits of the configuration; NULL: the default ones. Used by one
 * thread.
 */
PAWL_MUST_CHECK int pawl__offline_open(struct pawl_env *env,
                                       const struct pawl_configuration *configuration,
                                       struct pawl_arena *arena, struct pawl_offline **out,
                                       struct pawl_error *err);
/* NULL allowed. */
void pawl__offline_close(struct pawl_offline *offline);

/* Whether expressions in JavaScript can be run by this build. */
bool pawl__offline_has_javascript(void);

/* ---- definitions ---------------------------------------------------------------------------- */

/* Offers a definition, which is borrowed, to the others: they may use it as an activity. */
PAWL_MUST_CHECK int pawl__offline_add(struct pawl_offline *offline,
                                      const struct pawl_json *definition, struct pawl_error *err);
/* What is wrong with one. PAWL_EPARSE: it cannot be loaded, and the last problem says why. */
PAWL_MUST_CHECK int pawl__offline_check(struct pawl_offline *offline,
                                        const struct pawl_json *definition,
                                        struct pawl_problems *problems, struct pawl_error *err);

/* ---- how a definition looks ----------------------------------------------------------------- */

struct pawl_outline_node;

/* A connection of a flowchart, as written. */
struct pawl_outline_link {
    struct pawl_str source, source_port, target; /* ids */
    const struct pawl_outline_node *from, *to;   /* NULL: there is no such activity */
};

struct pawl_outline_node {
    uint32_t index; /* among all, each before its children */
    struct pawl_str id, type, name;
    struct pawl_str port; /* of the parent */
    const struct pawl_outline_node *parent;
    const struct pawl_outline_node *const *children;
    uint32_t child_count;
    bool is_sequence, is_flowchart, is_start, is_unknown;
    /* Of a workflow itself. */
    bool is_workflow;
    struct pawl_str workflow_name;
    int64_t workflow_version;
    const struct pawl_outline_link *links; /* of a flowchart */
    uint32_t link_count;
};

struct pawl_outline {
    const struct pawl_outline_node *nodes;
    uint32_t count;
};

/* PAWL_EPARSE. It lives in the arena, but its texts until the close. */
PAWL_MUST_CHECK int pawl__offline_outline(struct pawl_offline *offline,
                                          const struct pawl_json *definition,
                                          struct pawl_outline *out, struct pawl_error *err);

struct pawl_graph;
/* The same of a graph, which it borrows. */
PAWL_MUST_CHECK int pawl__outline_make(const struct pawl_graph *graph, struct pawl_arena *arena,
                                       struct pawl_outline *out);

/* ---- types of activities -------------------------------------------------------------------- */

/* An input, an output or a port. Texts are NULL where there are none. */
struct pawl_type_member {
    const char *name, *type, *description, *default_json;
    bool is_required, is_naked; /* inputs */
    bool is_outcome, is_list;   /* ports */
};

struct pawl_type_info {
    const char *type, *category, *description, *kind;
    struct pawl_str name; /* the last part of the type */
    uint32_t version;
    bool is_action, is_browsable;
    const struct pawl_type_member *inputs, *outputs, *ports;
    uint32_t input_count, output_count, port_count;
    const struct pawl_activity *activity;
};

/* By category, then by type. */
PAWL_MUST_CHECK int pawl__offline_types(struct pawl_offline *offline,
                                        const struct pawl_type_info **out, size_t *count,
                                        struct pawl_error *err);
/* Writes its descriptor in the shape of the API. Failures are the buffer's status. */
void pawl__offline_type_write(struct pawl_json_writer *json, const struct pawl_type_info *info);

#endif
