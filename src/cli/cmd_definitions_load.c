/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl definitions reload` and `refresh`. */
#include "base/error.h"
#include "cli/cmd_definitions.h"
#include "cli/command/output.h"
#include "views/definitions.h"

static int show_json(struct pawl_cli_session *session, const struct pawl_builder *b,
                     const struct pawl_json *object, bool is_failed, struct pawl_error *err)
{
    int code = pawl__cli_definitions_print(session, b, object, 0, err);

    return code == PAWL_CLI_EXIT_OK && is_failed ? PAWL_CLI_EXIT_FAILED : code;
}

/* ---- reload -------------------------------------------------------------------------------- */

static int reload(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_reloaded told;
    int status = pawl__op_definitions_reload(&op, &told);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND
                                  ? "the setting definitions.folder names it: 'pawl config'"
                                  : pawl__cli_session_hint(status));
    if (pawl__cli_flag(&cli->args, "json")) {
        struct pawl_json object = pawl__view_reloaded(&b, &told);

        return show_json(session, &b, &object, told.failed > 0, err);
    }
    if (told.in_progress)
        pawl__cli_print(&cli->out, "another node is reloading already\n");
    else
        pawl__cli_print(&cli->out, "reloaded %u definitions, %u failed\n", told.provided,
                        told.failed);
    return told.failed > 0 ? PAWL_CLI_EXIT_FAILED : PAWL_CLI_EXIT_OK;
}

static int run_reload(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, reload);
}

/* ---- refresh ------------------------------------------------------------------------------- */

static int show_refreshed(struct pawl_cli_session *session, const struct pawl_refreshed *told,
                          struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};

    if (pawl__cli_flag(&cli->args, "json")) {
        struct pawl_json object = pawl__view_refreshed(&b, told);

        return show_json(session, &b, &object, told->not_found_count > 0, err);
    }
    for (size_t i = 0; i < told->refreshed_count; i++) {
        pawl__cli_print(&cli->out, "refreshed ");
        pawl__cli_write_safe(&cli->out, told->refreshed[i]);
        pawl__cli_print(&cli->out, "\n");
    }
    for (size_t i = 0; i < told->not_found_count; i++) {
        pawl__cli_print(&cli->out, "not found ");
        pawl__cli_write_safe(&cli->out, told->not_found[i]);
        pawl__cli_print(&cli->out, "\n");
    }
    if (told->in_progress)
        pawl__cli_print(&cli->out, "another node is refreshing already\n");
    return told->not_found_count > 0 ? PAWL_CLI_EXIT_FAILED : PAWL_CLI_EXIT_OK;
}

static int refresh(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    size_t count = cli->args.operand_count;
    struct pawl_str *ids = pawl__arena_alloc_array(&cli->arena, count + 1, sizeof *ids);
    struct pawl_refreshed told = {0};
    struct pawl_op op;
    int status;

    if (!ids) {
        (void)pawl__error_code(err, pawl__arena_status(&cli->arena));
        return pawl__cli_fail(cli, err, NULL);
    }
    for (size_t i = 0; i < count; i++)
        ids[i] = pawl__str(cli->args.operands[i]);
    op = pawl__cli_session_op(session, err);
    status = pawl__op_definitions_refresh(&op, ids, count, &told);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    return show_refreshed(session, &told, err);
}

static int run_refresh(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, refresh);
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print what was done as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_definitions_reload = {
    .name = "reload",
    .summary = "Read the definitions of the folder that definitions.folder names",
    .help = "Versions and flags come from the files; an older version does not replace a newer\n"
            "one. A worker does this when it starts.\n",
    .options = options,
    .run = run_reload,
};

const struct pawl_cli_command pawl__cli_definitions_refresh = {
    .name = "refresh",
    .summary = "Recompute the triggers of published definitions",
    .operands = "[DEFINITION...]",
    .help = "Without a DEFINITION, for all published ones.\n",
    .options = options,
    .run = run_refresh,
};
