/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl store init|info|check`, and what all of `pawl store` shares. */
#include "cli/store.h"

#include "base/error.h"
#include "base/time/duration.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/commands.h"
#include "cli/session/configure.h"
#include "host/host.h"
#include "operations/store.h"
#include "views/store.h"

/* For calls that are quick if the server responds at all. */
#define QUICK_NS_MAX INT64_C(30000000000)

/* ---- which store ------------------------------------------------------------------------- */

int pawl__cli_with_store(struct pawl_cli *cli, size_t operand,
                         int (*body)(struct pawl_cli *cli, const struct pawl_op *op,
                                     struct pawl_str uri))
{
    struct pawl_str uri =
        operand < cli->args.operand_count ? pawl__str(cli->args.operands[operand]) : pawl__str("");
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op op = {.arena = &cli->arena,
                         .deadline_ns = pawl_env_monotonic_ns(cli->env) + QUICK_NS_MAX,
                         .err = &err,
                         .log = &cli->log,
                         .actor = pawl__str("cli")};
    struct pawl_configuration configuration;
    int code, status = pawl__cli_configure(cli, &configuration, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_store_hint(status));
    status = pawl__host_new(cli->env, &configuration, &op.host, &err);
    code = status == PAWL_OK ? body(cli, &op, uri) : pawl__cli_fail(cli, &err, NULL);
    pawl__host_free(op.host);
    pawl__configuration_release(&configuration);
    return code;
}

const char *pawl__cli_store_hint(int code)
{
    switch (code) {
    case PAWL_ENOTFOUND:
        return "'pawl store init URI' makes a store";
    case PAWL_EINVAL:
        return "'pawl store --help' shows what a URI looks like";
    case PAWL_EPARSE:
        return "'pawl help settings' lists the settings and what they may be";
    default:
        return NULL;
    }
}

const char *pawl__cli_size_text(uint64_t size_bytes, char out[PAWL_CLI_SIZE_TEXT])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double size = (double)size_bytes;
    size_t unit = 0;

    while (size >= 1024 && unit < sizeof units / sizeof units[0] - 1) {
        size /= 1024;
        unit++;
    }
    (void)snprintf(out, PAWL_CLI_SIZE_TEXT, "%.*f %s", unit > 0 ? 1 : 0, size, units[unit]);
    return out;
}

/* ---- init -------------------------------------------------------------------------------- */

static const char *init_hint(int code)
{
    return code == PAWL_ENOTFOUND ? "check the path, and that its folder or database is there"
                                  : pawl__cli_store_hint(code);
}

static int init_body(struct pawl_cli *cli, const struct pawl_op *op, struct pawl_str uri)
{
    static const char *const did[] = {
        [PAWL_STORE_WAS_THERE] = "is initialised already",
        [PAWL_STORE_MADE] = "initialised",
        [PAWL_STORE_UPDATED] = "brought up to date",
    };
    struct pawl_store_init made;
    int status = pawl__op_store_init(op, uri, &made);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, op->err, init_hint(status));
    pawl__cli_write_safe(&cli->out, made.shown);
    pawl__cli_print(&cli->out, "  %s, schema %jd\n", did[made.made], (intmax_t)made.schema);
    cli->changed = true;
    return PAWL_CLI_EXIT_OK;
}

static int run_init(struct pawl_cli *cli)
{
    return pawl__cli_with_store(cli, 0, init_body);
}

static const struct pawl_cli_command init = {
    .name = "init",
    .summary = "Make the tables of a store, or bring them up to date",
    .operands = "[URI]",
    .help = "Says what it did; running it again changes nothing.\n",
    .run = run_init,
};

/* ---- info -------------------------------------------------------------------------------- */

static void put_field(struct pawl_cli_stream *to, const char *name, const char *value)
{
    pawl__cli_print(to, "%-16s", name);
    pawl__cli_write_safe(to, pawl__str(value));
    pawl__cli_print(to, "\n");
}

static void print_nodes(struct pawl_cli_stream *to, const struct pawl_store_info *info)
{
    for (size_t i = 0; i < info->node_count; i++) {
        const struct pawl_node_row *node = &info->nodes[i];
        int64_t left_us = node->lease_us - info->status.now_us;
        char text[PAWL_DURATION_TEXT_SIZE];

        (void)pawl__duration_format_human((left_us < 0 ? -left_us : left_us) * 10, text);
        pawl__cli_print(to, "%-16s", "node");
        pawl__cli_write_safe(to, node->id);
        pawl__cli_print(to, "  incarnation %jd, lease %s %s\n", (intmax_t)node->incarnation,
                        left_us > 0 ? "for another" : "over since", text);
    }
}

static void print_info(struct pawl_cli *cli, const struct pawl_store_info *info)
{
    struct pawl_cli_stream *to = &cli->out;
    char size[PAWL_CLI_SIZE_TEXT];

    put_field(to, "store", info->shown.ptr);
    put_field(to, "backend", info->status.backend);
    put_field(to, "server", info->status.server);
    put_field(to, "location", info->status.location);
    pawl__cli_print(to, "%-16s%jd\n", "schema", (intmax_t)info->status.schema);
    put_field(to, "size",
              info->status.size_bytes > 0
                  ? pawl__cli_size_text((uint64_t)info->status.size_bytes, size)
                  : "-");
    if (!info->is_complete)
        put_field(to, "restore", "not finished: the content is incomplete");
    pawl__cli_print(to, "rows\n");
    for (size_t i = 0; i < info->count_count; i++)
        pawl__cli_print(to, "  %-14s%ju\n", info->counts[i].table, (uintmax_t)info->counts[i].rows);
    print_nodes(to, info);
}

static int info_body(struct pawl_cli *cli, const struct pawl_op *op, struct pawl_str uri)
{
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_store_info info;
    struct pawl_json view;
    int status = pawl__op_store_info(op, uri, &info);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, op->err, pawl__cli_store_hint(status));
    if (!pawl__cli_flag(&cli->args, "json")) {
        print_info(cli, &info);
        return PAWL_CLI_EXIT_OK;
    }
    view = pawl__view_store_info(&b, &info);
    if (b.status != PAWL_OK) {
        (void)pawl__error_code(op->err, b.status);
        return pawl__cli_fail(cli, op->err, NULL);
    }
    return pawl__cli_print_json(cli, &view, 2);
}

static int run_info(struct pawl_cli *cli)
{
    return pawl__cli_with_store(cli, 0, info_body);
}

static const struct pawl_cli_option info_options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print one JSON object"},
    {.name = NULL},
};

static const struct pawl_cli_command info_command = {
    .name = "info",
    .summary = "Show what a store is, how much is in it, and its nodes",
    .operands = "[URI]",
    .options = info_options,
    .run = run_info,
};

/* ---- check ------------------------------------------------------------------------------- */

static void print_finding(void *ctx, const char *text)
{
    struct pawl_cli *cli = ctx;

    pawl__cli_write_safe(&cli->out, pawl__str(text));
    pawl__cli_print(&cli->out, "\n");
}

static int check_body(struct pawl_cli *cli, const struct pawl_op *op, struct pawl_str uri)
{
    struct pawl_store_checked checked;
    int status = pawl__op_store_check(op, uri, print_finding, cli, &checked);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, op->err, pawl__cli_store_hint(status));
    pawl__cli_flush(&cli->out);
    pawl__cli_write_safe(&cli->err, checked.shown);
    pawl__cli_print(&cli->err, "  %ju row%s, %ju finding%s\n", (uintmax_t)checked.rows,
                    checked.rows == 1 ? "" : "s", (uintmax_t)checked.findings,
                    checked.findings == 1 ? "" : "s");
    return checked.findings == 0 ? PAWL_CLI_EXIT_OK : PAWL_CLI_EXIT_FAILED;
}

static int run_check(struct pawl_cli *cli)
{
    return pawl__cli_with_store(cli, 0, check_body);
}

static const struct pawl_cli_command check = {
    .name = "check",
    .summary = "Check a store: its files, and what must hold between its rows",
    .operands = "[URI]",
    .help = "Prints a line per finding; the exit code is 1 when there is any. Nodes may go on\n"
            "working meanwhile.\n",
    .run = run_check,
};

static const struct pawl_cli_command *const commands[] = {
    &init, &info_command, &check, &pawl__cli_store_backup, &pawl__cli_store_restore, NULL,
};

static const struct pawl_cli_option options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_store = {
    .name = "store",
    .summary = "Make, look at, check, back up and restore stores",
    .help = "URI is memory:, sqlite:PATH (a PATH alone is the same) or\n"
            "postgres://user:password@host:port/database. Where it may be left out it is the\n"
            "setting 'store'.\n",
    .options = options,
    .commands = commands,
};
