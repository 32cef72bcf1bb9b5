/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl verify-cluster`: starts nodes and checks what a cluster promises; see verify.h. */
#include "cli/commands.h"

#include "base/error.h"
#include "base/id.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/verify/verify.h"
#include "operations/nodes.h"

#include <stdio.h>

#define NODES_DEFAULT 3
#define LOOK_BYTES_MAX ((size_t)1 << 28)
#define LEASE_DEFAULT "2s"

static const struct verify_check *const checks[] = {
    &verify_resume,   &verify_timer,   &verify_publish,
    &verify_failover, &verify_restart, &verify_pause,
};
#define CHECK_COUNT (sizeof checks / sizeof checks[0])

/* ---- opening --------------------------------------------------------------------------------- */

static int set(struct verify *verify, enum pawl_setting_id id, const char *text, const char *place,
               struct pawl_error *err)
{
    return pawl__configuration_set(&verify->session.configuration, id, pawl__str(text),
                                   PAWL_ORIGIN_OPTION, place, err);
}

static int name_it(struct verify *verify, struct pawl_error *err)
{
    struct pawl_env *env = verify->session.cli->env;
    uint32_t number = 0;
    int status = pawl_env_entropy(env, &number, sizeof number, err);

    (void)snprintf(verify->prefix, sizeof verify->prefix, "pawl-verify-%08x", number);
    for (uint32_t i = 0; i < verify->node_count; i++)
        (void)snprintf(verify->nodes[i].id, sizeof verify->nodes[i].id, "%s-node-%u",
                       verify->prefix, i + 1);
    return status;
}

/* A node for the time of the command, as distributed as those that it starts. */
static int open_session(struct verify *verify, struct pawl_error *err)
{
    struct pawl_cli_session *session = &verify->session;
    const char *lease = pawl__cli_text(&session->cli->args, "lease", LEASE_DEFAULT);
    struct pawl_cluster_status about;
    struct pawl_op op;
    int status = pawl__cli_configure(session->cli, &session->configuration, err);

    if (status != PAWL_OK)
        return status;
    status = set(verify, PAWL_SETTING_ID_DISTRIBUTED, "true", "verify-cluster", err);
    if (status == PAWL_OK)
        status = set(verify, PAWL_SETTING_ID_NODE_LEASE, lease, "--lease", err);
    if (status != PAWL_OK) {
        pawl__configuration_release(&session->configuration);
        return status;
    }
    verify->lease_ns =
        pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_NODE_LEASE);
    status = pawl__cli_session_start(session, false, err);
    if (status != PAWL_OK)
        return status;
    op = pawl__cli_session_op(session, err);
    status = pawl__op_cluster_status(&op, &about);
    if (status == PAWL_OK && !about.spans_processes)
        status = pawl__error_set(err, PAWL_EINVAL,
                                 "processes cannot share this store: give --store sqlite:PATH or "
                                 "postgres://...");
    if (status != PAWL_OK)
        pawl__cli_session_close(session);
    else
        verify->began_us = about.now_us;
    return status;
}

/* ---- report ---------------------------------------------------------------------------------- */

struct report {
    struct pawl_json rows;
    uint32_t failed;
    uint32_t done;
    bool as_json;
};

static void print_check(struct pawl_cli_stream *to, const char *name, bool holds, const char *text,
                        double seconds)
{
    pawl__cli_print(to, "  %s%-7s%s %-24s ", pawl__cli_style(to, PAWL_CLI_BOLD),
                    holds ? "ok" : "FAILED", pawl__cli_style(to, PAWL_CLI_PLAIN), name);
    pawl__cli_write_safe(to, pawl__str(text));
    pawl__cli_print(to, " (%.1f s)\n", seconds);
    pawl__cli_flush(to);
}

static int add_check(struct verify *verify, struct report *report, const char *name,
                     const struct verify_finding *finding, double seconds, struct pawl_error *err)
{
    struct pawl_cli *cli = verify->session.cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json row = pawl__json_object();

    report->done++;
    report->failed += !finding->holds;
    if (!report->as_json)
        print_check(&cli->out, name, finding->holds, finding->text, seconds);
    pawl__build_name(&b, &row, "check", name);
    pawl__build(&b, &row, "holds", pawl__json_bool(finding->holds));
    pawl__build_text(&b, &row, "found", pawl__arena_str(&cli->arena, pawl__str(finding->text)));
    pawl__build(&b, &row, "seconds", pawl__json_double(seconds));
    pawl__build_append(&b, &report->rows, row);
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(err, b.status);
}

static int print_report(struct verify *verify, struct report *report)
{
    struct pawl_cli *cli = verify->session.cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json all = pawl__json_object();

    if (!report->as_json) {
        pawl__cli_print(&cli->out, "%u checks, %u failed\n", report->done, report->failed);
        return report->failed == 0 ? PAWL_CLI_EXIT_OK : PAWL_CLI_EXIT_FAILED;
    }
    pawl__build_int(&b, &all, "nodes", verify->node_count);
    pawl__build_int(&b, &all, "leaseMilliseconds", verify->lease_ns / 1000000);
    pawl__build(&b, &all, "checks", report->rows);
    pawl__build(&b, &all, "holds", pawl__json_bool(report->failed == 0));
    if (pawl__cli_print_json(cli, &all, 2) != PAWL_CLI_EXIT_OK || b.status != PAWL_OK)
        return PAWL_CLI_EXIT_FATAL;
    return report->failed == 0 ? PAWL_CLI_EXIT_OK : PAWL_CLI_EXIT_FAILED;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* One that could not be told is a failure, and stops no other but for Ctrl-C. */
static int run_check(struct verify *verify, const struct verify_check *check, struct report *report,
                     struct pawl_error *err)
{
    struct pawl_env *env = verify->session.cli->env;
    int64_t since_ns = pawl_env_monotonic_ns(env);
    struct verify_finding finding = {.holds = false};
    struct pawl_error why = PAWL_ERROR_INIT;
    int status = check->run(verify, &finding, &why);
    double seconds = (double)(pawl_env_monotonic_ns(env) - since_ns) / 1e9;

    verify->meanwhile = NULL;
    if (status == PAWL_ECANCELLED || status == PAWL_ESTOPPED) {
        *err = why;
        return status;
    }
    if (status != PAWL_OK)
        verify_say(&finding, false, "%s", why.msg);
    return add_check(verify, report, check->name, &finding, seconds, err);
}

static int run_checks(struct verify *verify, struct report *report, struct pawl_error *err)
{
    struct pawl_env *env = verify->session.cli->env;
    int64_t since_ns = pawl_env_monotonic_ns(env);
    struct verify_finding finding;
    int status = verify_nodes_start(verify, err);

    if (status != PAWL_OK)
        return status;
    verify_say(&finding, true, "%u processes are nodes of the store", verify->node_count);
    status = add_check(verify, report, "nodes start", &finding,
                       (double)(pawl_env_monotonic_ns(env) - since_ns) / 1e9, err);
    for (size_t i = 0; i < CHECK_COUNT && status == PAWL_OK; i++)
        status = run_check(verify, checks[i], report, err);
    return status;
}

static void tell_what(struct verify *verify)
{
    struct pawl_cli *cli = verify->session.cli;
    struct pawl_buf store, lock;

    pawl__buf_init(&store, &cli->env->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__buf_init(&lock, &cli->env->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__configuration_show(&verify->session.configuration, PAWL_SETTING_ID_STORE, &store);
    pawl__configuration_show(&verify->session.configuration, PAWL_SETTING_ID_LOCK, &lock);
    pawl__cli_print(&cli->out, "%u nodes on ", verify->node_count);
    pawl__cli_write_safe(&cli->out, pawl__buf_peek(&store));
    pawl__cli_print(&cli->out, ", locks: ");
    pawl__cli_write_safe(&cli->out,
                         lock.len > 0 ? pawl__buf_peek(&lock) : pawl__str("the store's own"));
    pawl__cli_print(&cli->out, ", lease %.1f s, everything named %s\n",
                    (double)verify->lease_ns / 1e9, verify->prefix);
    pawl__cli_flush(&cli->out);
    pawl__buf_release(&store);
    pawl__buf_release(&lock);
}

static int verify_all(struct verify *verify, struct pawl_error *err)
{
    struct pawl_cli *cli = verify->session.cli;
    struct report report = {.rows = pawl__json_array(),
                            .as_json = pawl__cli_flag(&cli->args, "json")};
    struct pawl_error dirt = PAWL_ERROR_INIT;
    int status, cleaned;

    if (!report.as_json)
        tell_what(verify);
    status = run_checks(verify, &report, err);
    verify_nodes_end(verify);
    cleaned = verify_clean(verify, &dirt);
    if (cleaned != PAWL_OK)
        (void)pawl__cli_fail(cli, &dirt,
                             "instances that are left have this prefix in their ids: delete them");
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    status = print_report(verify, &report);
    return status == PAWL_CLI_EXIT_OK && cleaned != PAWL_OK ? PAWL_CLI_EXIT_FAILED : status;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct verify *verify = pawl__arena_alloc_zeroed(&cli->arena, sizeof *verify);
    int code, status;

    if (!verify) {
        (void)pawl__error_code(&err, pawl__arena_status(&cli->arena));
        return pawl__cli_fail(cli, &err, NULL);
    }
    verify->session.cli = cli;
    verify->node_count = (uint32_t)pawl__cli_number(&cli->args, "nodes", NODES_DEFAULT);
    status = pawl__program_own_path(verify->program, sizeof verify->program, &err);
    if (status == PAWL_OK)
        status = name_it(verify, &err);
    if (status == PAWL_OK)
        status = pawl__interrupt_open(cli->env, &verify->interrupt, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    status = open_session(verify, &err);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_session_hint(status));
    } else {
        pawl__arena_init(&verify->arena, &cli->env->alloc, LOOK_BYTES_MAX);
        code = verify_all(verify, &err);
        pawl__arena_release(&verify->arena);
        pawl__cli_session_close(&verify->session);
    }
    pawl__interrupt_close(verify->interrupt);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "nodes",
     .letter = 'n',
     .kind = PAWL_CLI_NUMBER,
     .arg = "COUNT",
     .help = "Number of nodes to start (default 3)",
     .min = 2,
     .max = VERIFY_NODES_MAX},
    {.name = "lease",
     .kind = PAWL_CLI_TEXT,
     .arg = "TIME",
     .help = "The lease of the nodes: at least 1s (default " LEASE_DEFAULT ")"},
    {.name = "logs",
     .kind = PAWL_CLI_TEXT,
     .arg = "FOLDER",
     .help = "Keep the output of nodes in FOLDER/NODE.log"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the report as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_verify_cluster = {
    .name = "verify-cluster",
    .summary = "Start nodes on a store and check the guarantees of a cluster",
    .help =
        "Starts nodes as separate processes and does to them what an operator would try by\n"
        "hand: concurrent resumes, timers, a new version, kill -9, a rolling restart, a\n"
        "pause longer than the lease. What it stores has one prefix and is deleted. Other nodes\n"
        "may work on the store meanwhile. The exit code is 0 only if all checks pass.\n",
    .options = options,
    .run = run,
};
