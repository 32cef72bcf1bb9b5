/* SPDX-License-Identifier: Apache-2.0 */
/* What other files of this folder need to know of nodes; see nodes.h. */
#ifndef PAWL_OPERATIONS_NODES_PRIVATE_H
#define PAWL_OPERATIONS_NODES_PRIVATE_H

#include "base/json/json.h"

/* Whether a node that told this does what is due until it is stopped. One that did not say does. */
bool op_node_stays(const struct pawl_json *told);

#endif
