/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a definition, for `pawl graph`. Each is appended to a buffer, which has the status.
 */
#ifndef PAWL_CLI_DRAW_DRAW_H
#define PAWL_CLI_DRAW_DRAW_H

#include "base/buf.h"
#include "operations/offline.h"

/* Graphviz: one cluster per container, connections and order as edges. */
void pawl__draw_dot(struct pawl_buf *out, const struct pawl_outline *outline);

/*
 * A picture of its own: containers are frames, sequences run down, branches stand side by side,
 * flowcharts are layered from their start. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__draw_svg(struct pawl_buf *out, const struct pawl_outline *outline);

/* The last part of a node's type. */
struct pawl_str pawl__draw_type(const struct pawl_outline_node *node);
/* Whether the port is only the list of a container: not worth a label. */
bool pawl__draw_plain_port(const struct pawl_outline_node *node);

#endif
