/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of `pawl verify-cluster` on nodes that are killed, restarted, paused; see verify.h. */
#include "cli/verify/verify.h"

#include "base/error.h"
#include "cli/verify/text.h"
#include "operations/nodes.h"

#include <stdio.h>

/* Steps of an instance, each a commit of its own: bursts that last. */
#define STEPS 400u
#define STEPS_TEXT "400"
#define TRAFFIC_NS INT64_C(20000000)
/* Under load, between two restarts. */
#define BETWEEN_NS INT64_C(500000000)
/* A pause that does not stop everybody, see stand_still(). */
#define PAUSES_MAX 100
#define WRITE_NS INT64_C(300000000)

static int64_t now_ns(struct verify *verify)
{
    return pawl_env_monotonic_ns(verify->session.cli->env);
}

/* ---- long bursts ----------------------------------------------------------------------------- */

/* No more than one for each node: takeover is to be seen, not waiting for a free worker. */
static int start_steps(struct verify *verify, const char *flow, struct pawl_error *err)
{
    const char *text =
        VERIFY_DEFINITION("kill", VERIFY_STEPS, VERIFY_TIMES("loop", STEPS_TEXT, VERIFY_BODY));
    uint32_t count = verify->node_count;
    int status;

    if (flow[0] == 'p')
        text =
            VERIFY_DEFINITION("pause", VERIFY_STEPS, VERIFY_TIMES("loop", STEPS_TEXT, VERIFY_BODY));
    status = verify_define(verify, text, err);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = verify_create(verify, flow, NULL, err);
    return status;
}

/* Nobody's, or another's: claimed since, or ended. */
static int is_taken_over(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    uint64_t left = 0;
    int status = verify_node_runs(verify, ctx, &left, err);

    *done = left == 0;
    return status;
}

static int await_takeover(struct verify *verify, struct verify_node *node, int64_t *span_ns,
                          struct pawl_error *err)
{
    int64_t since_ns = now_ns(verify);
    int status = verify_wait(verify, "takeover of a node's instances",
                             VERIFY_PATIENCE_NS + 2 * verify->lease_ns, is_taken_over, node, err);

    *span_ns = now_ns(verify) - since_ns;
    return status;
}

/* ---- failover -------------------------------------------------------------------------------- */

static int check_failover(struct verify *verify, struct verify_finding *finding,
                          struct pawl_error *err)
{
    uint32_t count = verify->node_count;
    struct verify_node *node = NULL;
    int64_t span_ns = 0;
    uint64_t wrong = 0;
    int status = start_steps(verify, "kill", err);

    if (status == PAWL_OK)
        status = verify_node_busiest(verify, "kill", &node, err);
    if (status == PAWL_OK)
        status = verify_node_end(verify, node, PAWL_PROGRAM_KILL, err);
    if (status == PAWL_OK)
        status = await_takeover(verify, node, &span_ns, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "kill", "Finished", count, err);
    if (status == PAWL_OK)
        status = verify_wrong(verify, "kill", STEPS, &wrong, err);
    verify_say(finding, wrong == 0,
               "a node was killed with kill -9: its instances went on elsewhere after %.1f s, %.1f "
               "leases; %llu of %u did not take each of %u steps once",
               (double)span_ns / 1e9, (double)span_ns / (double)verify->lease_ns,
               (unsigned long long)wrong, count, STEPS);
    if (status == PAWL_OK)
        status = verify_nodes_start(verify, err);
    return status;
}

const struct verify_check verify_failover = {"failover", check_failover};

/* ---- rolling restart ------------------------------------------------------------------------- */

static int start_sleeper(struct verify *verify, struct pawl_error *err)
{
    verify->meanwhile_ns = now_ns(verify) + TRAFFIC_NS;
    return verify_create(verify, "restart", NULL, err);
}

static int is_past(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    (void)err;
    *done = now_ns(verify) >= *(const int64_t *)ctx;
    return PAWL_OK;
}

static int wait_for(struct verify *verify, int64_t span_ns, struct pawl_error *err)
{
    int64_t until_ns = now_ns(verify) + span_ns;

    return verify_wait(verify, "time", VERIFY_PATIENCE_NS, is_past, &until_ns, err);
}

static int restart_all(struct verify *verify, int64_t *most_ns, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < verify->node_count && status == PAWL_OK; i++) {
        int64_t since_ns = now_ns(verify), span_ns;

        status = verify_node_end(verify, &verify->nodes[i], PAWL_PROGRAM_TERMINATE, err);
        if (status == PAWL_OK)
            status = verify_nodes_start(verify, err);
        span_ns = now_ns(verify) - since_ns;
        if (span_ns > *most_ns)
            *most_ns = span_ns;
        if (status == PAWL_OK)
            status = wait_for(verify, BETWEEN_NS, err);
    }
    return status;
}

static int check_restart(struct verify *verify, struct verify_finding *finding,
                         struct pawl_error *err)
{
    int64_t most_ns = 0;
    uint64_t count = 0, wrong = 0;
    int status = verify_define(
        verify, VERIFY_DEFINITION("restart", "", VERIFY_SLEEP("d") "," VERIFY_BODY), err);

    verify->meanwhile = start_sleeper;
    if (status == PAWL_OK)
        status = restart_all(verify, &most_ns, err);
    verify->meanwhile = NULL;
    if (status == PAWL_OK)
        status = verify_count(verify, "restart", NULL, &count, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "restart", "Finished", count, err);
    if (status == PAWL_OK)
        status = verify_wrong(verify, "restart", 1, &wrong, err);
    verify_say(finding, wrong == 0 && count > 0,
               "each node was ended and started again, the longest in %.1f s, under a load of %llu "
               "instances: %llu did not run exactly once",
               (double)most_ns / 1e9, (unsigned long long)count, (unsigned long long)wrong);
    return status;
}

const struct verify_check verify_restart = {"rolling restart", check_restart};

/* ---- pause ----------------------------------------------------------------------------------- */

/* A node may look at what has ended, claim it even; what it says must stay. */
struct states {
    uint64_t sum; /* of the times at which they were made */
};

static int add_state(struct verify *verify, void *ctx, const struct pawl_instance_row *row,
                     struct pawl_error *err)
{
    struct states *states = ctx;

    (void)verify;
    (void)err;
    states->sum += (uint64_t)row->updated_us + (uint64_t)row->finished_us;
    return PAWL_OK;
}

static int is_back(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    return verify_node_is_alive(verify, ctx, done, err);
}

/* Behind the pause it goes on where it stood: with commits that nobody may accept. */
static int go_on(struct verify *verify, struct verify_node *node, struct pawl_error *err)
{
    pawl__program_signal(&node->child, PAWL_PROGRAM_CONTINUE);
    return verify_wait(verify, "the return of a paused node",
                       VERIFY_PATIENCE_NS + 2 * verify->lease_ns, is_back, node, err);
}

static int can_write(struct verify *verify, struct pawl_error *err)
{
    struct pawl_op op = verify_op(verify, err);

    op.deadline_ns = now_ns(verify) + WRITE_NS;
    return pawl__op_cluster_probe(&op, pawl__str(verify->prefix));
}

/*
 * A process that stands still within a transaction keeps everybody from writing to a store, or to
 * locks, that are a file: nothing can be done about that, and it is not what is looked for here. So
 * it is paused between two of them.
 */
static int stand_still(struct verify *verify, struct verify_node *node, struct pawl_error *err)
{
    struct pawl_op op = verify_op(verify, err);
    struct pawl_cluster_status about;
    int status = pawl__op_cluster_status(&op, &about);

    if (status != PAWL_OK)
        return status;
    status = PAWL_ETIMEDOUT;
    for (int i = 0; i < PAUSES_MAX && status != PAWL_OK; i++) {
        if (!pawl__program_pause(&node->child))
            return pawl__error_set(err, PAWL_ESTOPPED, "node %s ended", node->id);
        if (about.spans_machines)
            return PAWL_OK;
        status = can_write(verify, err);
        if (status != PAWL_OK)
            pawl__program_signal(&node->child, PAWL_PROGRAM_CONTINUE);
    }
    return status;
}

static int check_pause(struct verify *verify, struct verify_finding *finding,
                       struct pawl_error *err)
{
    uint32_t count = verify->node_count;
    struct states before = {0}, after = {0};
    struct verify_node *node = NULL;
    int64_t span_ns = 0;
    uint64_t wrong = 0;
    int status = start_steps(verify, "pause", err);

    if (status == PAWL_OK)
        status = verify_node_busiest(verify, "pause", &node, err);
    if (status == PAWL_OK)
        status = stand_still(verify, node, err);
    if (status == PAWL_OK)
        status = await_takeover(verify, node, &span_ns, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "pause", "Finished", count, err);
    if (status == PAWL_OK)
        status = verify_each(verify, "pause", add_state, &before, err);
    if (node) {
        struct pawl_error own = PAWL_ERROR_INIT;
        int back = go_on(verify, node, status == PAWL_OK ? err : &own);

        status = status == PAWL_OK ? back : status;
    }
    if (status == PAWL_OK)
        status = verify_wrong(verify, "pause", STEPS, &wrong, err);
    if (status == PAWL_OK)
        status = verify_each(verify, "pause", add_state, &after, err);
    verify_say(finding, wrong == 0 && before.sum == after.sum,
               "a node stood still past its lease: its instances went on elsewhere after %.1f s, "
               "%.1f leases; when it went on it changed %s; %llu of %u did not take each of %u "
               "steps once",
               (double)span_ns / 1e9, (double)span_ns / (double)verify->lease_ns,
               before.sum == after.sum ? "nothing" : "SOMETHING", (unsigned long long)wrong, count,
               STEPS);
    return status;
}

const struct verify_check verify_pause = {"pause past the lease", check_pause};
