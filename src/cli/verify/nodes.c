/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of `pawl verify-cluster`: processes of this program; see verify.h. */
#include "cli/verify/verify.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "operations/nodes.h"

#include <stdio.h>

#define POLL_NS INT64_C(10000000)
#define ARGUMENTS_MAX 24

/* ---- waiting -------------------------------------------------------------------------------- */

static int pause_a_little(struct verify *verify, struct pawl_error *err)
{
    struct pawl_env *env = verify->session.cli->env;
    int64_t now_ns = pawl_env_monotonic_ns(env);
    int status = PAWL_OK;

    if (verify->meanwhile && now_ns >= verify->meanwhile_ns)
        status = verify->meanwhile(verify, err);
    if (status == PAWL_OK)
        status = pawl__interrupt_wait(verify->interrupt, now_ns + POLL_NS);
    if (status == PAWL_OK && pawl__interrupt_pending(verify->interrupt))
        status = pawl__error_set(err, PAWL_ECANCELLED, "it was interrupted");
    return status;
}

int verify_wait(struct verify *verify, const char *what, int64_t patience_ns,
                int (*is_done)(struct verify *verify, void *ctx, bool *done,
                               struct pawl_error *err),
                void *ctx, struct pawl_error *err)
{
    struct pawl_env *env = verify->session.cli->env;
    int64_t until_ns = pawl_env_monotonic_ns(env) + patience_ns;
    bool done = false;
    int status;

    for (;;) {
        pawl__arena_reset(&verify->arena);
        status = is_done(verify, ctx, &done, err);
        if (status != PAWL_OK || done)
            return status;
        if (pawl_env_monotonic_ns(env) >= until_ns)
            return pawl__error_set(err, PAWL_ETIMEDOUT, "%s did not happen within %lld s", what,
                                   (long long)(patience_ns / 1000000000));
        status = pause_a_little(verify, err);
        if (status != PAWL_OK)
            return status;
    }
}

/* ---- starting ------------------------------------------------------------------------------- */

static void add(const char **argv, size_t *count, const char *one, const char *two)
{
    argv[(*count)++] = one;
    if (two)
        argv[(*count)++] = two;
}

static int start_node(struct verify *verify, struct verify_node *node, struct pawl_error *err)
{
    struct pawl_cli *cli = verify->session.cli;
    const struct pawl_configuration *configuration = &verify->session.configuration;
    const char *config = pawl__cli_text(&cli->args, "config", NULL);
    const char *lock = pawl__configuration_text(configuration, PAWL_SETTING_ID_LOCK);
    const char *logs = pawl__cli_text(&cli->args, "logs", NULL), *pair, *argv[ARGUMENTS_MAX];
    const char *id = pawl__arena_printf(&cli->arena, "node.id=%s", node->id);
    const char *lease = pawl__arena_printf(&cli->arena, "node.lease=%lldms",
                                           (long long)(verify->lease_ns / 1000000));
    const char *output = logs ? pawl__arena_printf(&cli->arena, "%s/%s.log", logs, node->id) : NULL;
    size_t count = 0, at = 0;

    if (!id || !lease || (logs && !output))
        return pawl__error_code(err, pawl__arena_status(&cli->arena));
    add(argv, &count, verify->program, "worker");
    if (config)
        add(argv, &count, "--config", config);
    add(argv, &count, "--store", pawl__configuration_text(configuration, PAWL_SETTING_ID_STORE));
    if (lock[0])
        add(argv, &count, "--lock", lock);
    add(argv, &count, "--distributed", NULL);
    while ((pair = pawl__cli_next(&cli->args, "set", &at)) != NULL && count < ARGUMENTS_MAX - 8)
        add(argv, &count, "--set", pair);
    add(argv, &count, "--set", id);
    add(argv, &count, "--set", lease);
    argv[count] = NULL;
    node->incarnation = 0;
    node->paused = false;
    return pawl__program_start(argv, output, &node->child, err);
}

/* ---- alive ---------------------------------------------------------------------------------- */

/* NULL: it is no node of the store, or not any more. */
static int find_node(struct verify *verify, const struct verify_node *node, bool with_instances,
                     const struct pawl_node_shown **out, struct pawl_error *err)
{
    const struct pawl_node_query query = {.id = pawl__str(node->id),
                                          .with_instances = with_instances};
    struct pawl_op op = verify_op(verify, err);
    struct pawl_node_list list;
    int status = pawl__op_nodes_list(&op, &query, &list);

    *out = status == PAWL_OK && list.count > 0 ? list.nodes : NULL;
    return status;
}

int verify_node_runs(struct verify *verify, const struct verify_node *node, uint64_t *out,
                     struct pawl_error *err)
{
    const struct pawl_node_shown *info;
    int status = find_node(verify, node, false, &info, err);

    *out = info && info->row->incarnation == node->incarnation ? info->runs : 0;
    return status;
}

int verify_node_is_alive(struct verify *verify, const struct verify_node *node, bool *alive,
                         struct pawl_error *err)
{
    const struct pawl_node_shown *info;
    int status = find_node(verify, node, false, &info, err);

    *alive = info && info->left_us > 0 && info->row->incarnation == node->incarnation;
    return status;
}

struct starting {
    struct verify_node *node;
    int64_t before; /* its incarnation then */
};

static int has_joined(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    struct starting *starting = ctx;
    const struct pawl_node_shown *info;
    int code, status;

    if (pawl__program_has_ended(&starting->node->child, &code))
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "node %s ended with exit code %d when it was started: --logs FOLDER "
                               "keeps what nodes write",
                               starting->node->id, code);
    status = find_node(verify, starting->node, false, &info, err);
    *done = info && info->row->incarnation > starting->before && info->left_us > 0;
    if (*done)
        starting->node->incarnation = info->row->incarnation;
    return status;
}

int verify_nodes_start(struct verify *verify, struct pawl_error *err)
{
    struct starting started[VERIFY_NODES_MAX];
    uint32_t count = 0;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < verify->node_count && status == PAWL_OK; i++) {
        struct verify_node *node = &verify->nodes[i];

        if (!pawl__program_has_ended(&node->child, NULL))
            continue;
        started[count++] = (struct starting){node, node->incarnation};
        status = start_node(verify, node, err);
    }
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = verify_wait(verify, "the start of a node", VERIFY_PATIENCE_NS, has_joined,
                             &started[i], err);
    return status;
}

/* ---- ending --------------------------------------------------------------------------------- */

static int has_ended(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    struct verify_node *node = ctx;

    (void)verify;
    (void)err;
    *done = pawl__program_has_ended(&node->child, NULL);
    return PAWL_OK;
}

int verify_node_end(struct verify *verify, struct verify_node *node, enum pawl_program_signal how,
                    struct pawl_error *err)
{
    pawl__program_signal(&node->child, how);
    return verify_wait(verify, "the end of a node", VERIFY_PATIENCE_NS, has_ended, node, err);
}

void verify_nodes_end(struct verify *verify)
{
    struct pawl_env *env = verify->session.cli->env;
    int64_t until_ns = pawl_env_monotonic_ns(env) + VERIFY_PATIENCE_NS / 4;

    for (uint32_t i = 0; i < verify->node_count; i++) {
        pawl__program_signal(&verify->nodes[i].child, PAWL_PROGRAM_CONTINUE);
        pawl__program_signal(&verify->nodes[i].child, PAWL_PROGRAM_TERMINATE);
    }
    for (uint32_t i = 0; i < verify->node_count; i++) {
        struct pawl_program *child = &verify->nodes[i].child;

        while (!pawl__program_has_ended(child, NULL)) {
            if (pawl_env_monotonic_ns(env) >= until_ns)
                pawl__program_signal(child, PAWL_PROGRAM_KILL);
            if (pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + POLL_NS) != PAWL_OK)
                return;
        }
    }
}

/* ---- busy ----------------------------------------------------------------------------------- */

struct busiest {
    const char *definition_id;
    struct verify_node *node;
};

static int find_busiest(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    struct busiest *busiest = ctx;
    uint64_t most = 0;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < verify->node_count && status == PAWL_OK; i++) {
        struct verify_node *node = &verify->nodes[i];
        const struct pawl_node_shown *info;
        uint64_t count = 0;

        status = find_node(verify, node, true, &info, err);
        for (size_t k = 0; info && k < info->instance_count; k++)
            count += pawl__str_is(info->instances[k].definition_id, busiest->definition_id);
        if (count > most) {
            most = count;
            busiest->node = node;
        }
    }
    *done = most > 0;
    return status;
}

int verify_node_busiest(struct verify *verify, const char *flow, struct verify_node **out,
                        struct pawl_error *err)
{
    char id[VERIFY_ID_SIZE];
    struct busiest busiest = {.definition_id = id};
    int status;

    (void)snprintf(id, sizeof id, "%s-%s", verify->prefix, flow);
    status =
        verify_wait(verify, "a burst of a node", VERIFY_PATIENCE_NS, find_busiest, &busiest, err);
    if (status == PAWL_OK)
        *out = busiest.node;
    return status;
}
