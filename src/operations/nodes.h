/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the nodes of a store: who they are, what they do, and pauses. */
#ifndef PAWL_OPERATIONS_NODES_H
#define PAWL_OPERATIONS_NODES_H

#include "operations/operation.h"
#include "runtime/values.h"

#include <pawl/ext/store.h>

enum pawl_node_state {
    PAWL_NODE_ALIVE,
    PAWL_NODE_PAUSED, /* it takes no work, and is alive */
    PAWL_NODE_STUCK,  /* alive, with threads whose step does not return: it needs a restart */
    PAWL_NODE_GONE,   /* its lease is over */
};

/* "alive", "paused", "stuck", "gone". */
const char *pawl__node_state_name(enum pawl_node_state state);

struct pawl_node_shown {
    const struct pawl_node_row *row;
    enum pawl_node_state state;
    const struct pawl_pause *pause; /* its own, or the cluster's; NULL: none */
    int64_t left_us;                /* of its lease; negative: over for so long */
    /* What it reported about itself; "" and 0: nothing. */
    struct pawl_str host, version, runtime, locks;
    int64_t pid;
    int64_t stuck; /* threads */
    bool stays;    /* it does what is due until it is stopped; else it is a command, or a look */
    uint64_t runs; /* instances that it has claimed */
    uint64_t work; /* rows of work that it has taken and not done */
    /* with_instances: the first PAWL_NODE_INSTANCES_MAX of them, brief. */
    const struct pawl_instance_row *instances;
    size_t instance_count;
};
#define PAWL_NODE_INSTANCES_MAX 100u

struct pawl_node_query {
    struct pawl_str id;  /* only this one; "": all */
    bool with_gone;      /* also those that are gone and have left nothing */
    bool without_gone;   /* only those that live, whatever the others have left */
    bool with_instances; /* what each runs */
    struct pawl_page_request page;
};

struct pawl_node_list {
    const struct pawl_node_shown *nodes;
    size_t count;
    const struct pawl_pause *pauses; /* all that there are, that of the cluster first */
    size_t pause_count;
    int64_t now_us; /* of the store */
    struct pawl_page page;
};

/*
 * By id. A node that is gone and left something is there in any case: somebody should have taken
 * it. Costs two counts for each node of the page. A page may have fewer than its limit, and more
 * behind it.
 */
PAWL_MUST_CHECK int pawl__op_nodes_list(const struct pawl_op *op,
                                        const struct pawl_node_query *query,
                                        struct pawl_node_list *out);

/* Nodes that live, stay, are not paused, and so will do what is due; this process if it is one. */
PAWL_MUST_CHECK int pawl__op_nodes_working(const struct pawl_op *op, size_t *count);

/* ---- pauses --------------------------------------------------------------------------------- */

/*
 * Pauses a node, or with "" all nodes that there are and will be (runtime/node/pause.h says what
 * that means). Who is op->actor. It takes effect within a second. Of a pause that is there already,
 * `out` is that, unchanged. PAWL_ENOTFOUND: no such node.
 */
PAWL_MUST_CHECK int pawl__op_node_pause(const struct pawl_op *op, struct pawl_str node_id,
                                        struct pawl_str reason, struct pawl_pause *out);
/* Ends it. PAWL_ENOTFOUND: it is not paused. A node stays paused while the cluster is. */
PAWL_MUST_CHECK int pawl__op_node_unpause(const struct pawl_op *op, struct pawl_str node_id);

/* Ends the cluster's pause and that of this process as a node, whichever there is; none is fine. */
PAWL_MUST_CHECK int pawl__op_runtime_resume(const struct pawl_op *op);

/* How a drain went. Times are of the store's clock. */
struct pawl_drained {
    int64_t started_us, paused_us, completed_us;
    uint64_t left; /* instances that it still runs: they go on to their next commit */
};

/*
 * Pauses this process as a node, and waits until it runs no instance any more, or until
 * op->deadline_ns. Nothing is cancelled: what is left is no failure. It stays paused until it is
 * resumed. PAWL_EINVAL: this process is no node.
 */
PAWL_MUST_CHECK int pawl__op_node_drain(const struct pawl_op *op, struct pawl_str reason,
                                        struct pawl_drained *out);

/* The status of the cluster, and of this process as a node. */
struct pawl_cluster_status {
    const struct pawl_pause *pause; /* of the cluster, or of this node; NULL: none */
    const struct pawl_pause *pauses;
    size_t pause_count;
    /* This process takes new work. It does not while it is paused, while it ends, and where it is
     * no node at all. */
    bool is_accepting;
    bool is_ending;
    int64_t incarnation; /* of this process; 0: it is no node */
    uint64_t runs;       /* instances that this process has claimed */
    int64_t now_us;
    /* Whether several processes may share the store, and whether on several machines. */
    bool spans_processes, spans_machines;
};
PAWL_MUST_CHECK int pawl__op_cluster_status(const struct pawl_op *op,
                                            struct pawl_cluster_status *out);
/* Writes to the store, and takes and gives back the lock of this name, where there are locks:
 * whether both can be done before the deadline. Changes nothing. */
PAWL_MUST_CHECK int pawl__op_cluster_probe(const struct pawl_op *op, struct pawl_str lock_name);

#endif
