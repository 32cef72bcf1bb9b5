/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a graph, for `pawl graph`. Each is appended to a buffer, whose status tells. */
#ifndef PAWL_CLI_DRAW_H
#define PAWL_CLI_DRAW_H

#include "base/buf.h"
#include "engine/graph.h"

/* Graphviz: one cluster per container, connections and order as edges. */
void pawl__draw_dot(struct pawl_buf *out, const struct pawl_graph *graph);

/*
 * A picture of its own: containers are frames, sequences run down, branches stand side by side,
 * flowcharts are layered from their start. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__draw_svg(struct pawl_buf *out, const struct pawl_graph *graph);

/* The last part of a node's type. */
struct pawl_str pawl__draw_type(const struct pawl_node *node);
/* Whether the port is only the list of a container: not worth a label. */
bool pawl__draw_plain_port(const struct pawl_node *node);
/* A child by its activity id, NULL when there is none; `scratch` is used to build the node id. */
const struct pawl_node *pawl__draw_child(struct pawl_buf *scratch, const struct pawl_graph *graph,
                                         const struct pawl_node *parent, struct pawl_str id);

#endif
