/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl verify-cluster`: real nodes, as processes of their own, put through what an operator would
 * try by hand.
 *
 *     cmd_verify.c        the command: options, the order of things, the report
 *     nodes.c             processes: starting, ending, killing, pausing; who is alive
 *     flows.c             what is run, and what became of it
 *     checks.c            checks on nodes that are left alone
 *     failures.c          checks on nodes that are not
 *
 * Everything it stores has one prefix in its id, and is removed at the end. It does all that by
 * operations, as an operator does: what it checks is what operators get.
 */
#ifndef PAWL_CLI_VERIFY_VERIFY_H
#define PAWL_CLI_VERIFY_VERIFY_H

#include "cli/session/session.h"
#include "operations/instances.h"
#include "os/interrupt.h"
#include "os/program.h"

#define VERIFY_NODES_MAX 16u
#define VERIFY_PREFIX_SIZE 48
#define VERIFY_ID_SIZE 96
#define VERIFY_TEXT_SIZE 512
/* Of one thing that is waited for, besides leases. */
#define VERIFY_PATIENCE_NS INT64_C(60000000000)
#define VERIFY_PATH_SIZE 4096

struct verify_node {
    char id[VERIFY_ID_SIZE];
    struct pawl_program child;
    int64_t incarnation; /* of its present life; 0: not seen yet */
    bool paused;
};

struct verify {
    struct pawl_cli_session session;
    struct pawl_interrupt *interrupt;
    char program[VERIFY_PATH_SIZE];
    char prefix[VERIFY_PREFIX_SIZE];
    struct verify_node nodes[VERIFY_NODES_MAX];
    uint32_t node_count;
    int64_t lease_ns;
    struct pawl_arena arena; /* of one look */
    uint32_t made;           /* instances so far: their numbers */
    int64_t began_us;        /* by the store's clock */
    /* Called while something is waited for; NULL: nothing is to be done. */
    int (*meanwhile)(struct verify *verify, struct pawl_error *err);
    int64_t meanwhile_ns; /* when it is due again */
};

/* What a check found: whether it holds, and in words. */
struct verify_finding {
    bool holds;
    char text[VERIFY_TEXT_SIZE];
};

struct verify_check {
    const char *name;
    /* Not PAWL_OK: it could not be determined. */
    int (*run)(struct verify *verify, struct verify_finding *finding, struct pawl_error *err);
};

extern const struct verify_check verify_resume, verify_timer, verify_publish;
extern const struct verify_check verify_failover, verify_restart, verify_pause;

void verify_say(struct verify_finding *finding, bool holds, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* An operation that begins now; its results live in verify->arena. */
struct pawl_op verify_op(struct verify *verify, struct pawl_error *err);
/* The store's clock. */
PAWL_MUST_CHECK int verify_now(struct verify *verify, int64_t *now_us, struct pawl_error *err);

/*
 * Polls `is_done` until it is or `patience_ns` are over. PAWL_ETIMEDOUT with "`what` did not
 * happen"; PAWL_ECANCELLED: Ctrl-C.
 */
PAWL_MUST_CHECK int verify_wait(struct verify *verify, const char *what, int64_t patience_ns,
                                int (*is_done)(struct verify *verify, void *ctx, bool *done,
                                               struct pawl_error *err),
                                void *ctx, struct pawl_error *err);

/* ---- nodes.c -------------------------------------------------------------------------------- */

/* Starts those that do not run, and waits until all are nodes of the store. */
PAWL_MUST_CHECK int verify_nodes_start(struct verify *verify, struct pawl_error *err);
/* To all at once; waits for their ends, and kills what does not. */
void verify_nodes_end(struct verify *verify);
/* Waits for its end. */
PAWL_MUST_CHECK int verify_node_end(struct verify *verify, struct verify_node *node,
                                    enum pawl_program_signal how, struct pawl_error *err);
/* The one that has most instances in hand; waits until one has any. */
PAWL_MUST_CHECK int verify_node_busiest(struct verify *verify, const char *flow,
                                        struct verify_node **out, struct pawl_error *err);
/* How many instances of its present life it has still claimed. */
PAWL_MUST_CHECK int verify_node_runs(struct verify *verify, const struct verify_node *node,
                                     uint64_t *out, struct pawl_error *err);
/* Whether its lease holds, of its present life. */
PAWL_MUST_CHECK int verify_node_is_alive(struct verify *verify, const struct verify_node *node,
                                         bool *alive, struct pawl_error *err);

/* ---- flows.c -------------------------------------------------------------------------------- */

/* Publishes a definition: JSON with ' for " and @ for the prefix. */
PAWL_MUST_CHECK int verify_define(struct verify *verify, const char *text, struct pawl_error *err);
/* Stores an instance of "prefix-flow" for the nodes to run; its id in `id` (NULL allowed). */
PAWL_MUST_CHECK int verify_create(struct verify *verify, const char *flow, char id[VERIFY_ID_SIZE],
                                  struct pawl_error *err);
/* All of the flow; `sub_status` NULL: whatever became of them. */
PAWL_MUST_CHECK int verify_count(struct verify *verify, const char *flow, const char *sub_status,
                                 uint64_t *out, struct pawl_error *err);
/* Until so many have it. */
PAWL_MUST_CHECK int verify_await(struct verify *verify, const char *flow, const char *sub_status,
                                 uint64_t count, struct pawl_error *err);
/* Calls `each` for every instance of the flow; the row lives for the call. */
PAWL_MUST_CHECK int verify_each(struct verify *verify, const char *flow,
                                int (*each)(struct verify *verify, void *ctx,
                                            const struct pawl_instance_row *row,
                                            struct pawl_error *err),
                                void *ctx, struct pawl_error *err);
/* Instances of the flow whose activity `body` has not completed exactly `times` times. */
PAWL_MUST_CHECK int verify_wrong(struct verify *verify, const char *flow, uint32_t times,
                                 uint64_t *out, struct pawl_error *err);
/* Everything with the prefix goes. */
PAWL_MUST_CHECK int verify_clean(struct verify *verify, struct pawl_error *err);

#endif
