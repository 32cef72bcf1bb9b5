/* SPDX-License-Identifier: Apache-2.0 */
/* The root of the command tree, the options of every command, and one run of the program. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/help.h"
#include "cli/command/output.h"

/* Commands read whole files: what they hold is bounded. */
#define ARENA_MAX ((size_t)1 << 30)

static const char *const color_choices[] = {"auto", "always", "never", NULL};
static const char *const level_choices[] = {"off", "error", "warn", "info", "debug", "trace", NULL};
static const char *const format_choices[] = {"text", "json", NULL};

static const struct pawl_cli_option options[] = {
    {.name = "color",
     .kind = PAWL_CLI_CHOICE,
     .arg = "WHEN",
     .help = "Colours: auto (the default), always or never",
     .choices = color_choices},
    {.name = "log-level",
     .kind = PAWL_CLI_CHOICE,
     .arg = "LEVEL",
     .help = "Log lines to show: off, error, warn (the default), info, debug, trace",
     .choices = level_choices},
    {.name = "log-format",
     .kind = PAWL_CLI_CHOICE,
     .arg = "FORMAT",
     .help = "Log lines as text (the default) or json",
     .choices = format_choices},
    {.name = "version", .kind = PAWL_CLI_FLAG, .help = "Show the version"},
    {.name = NULL},
};

static const struct pawl_cli_command *const commands[] = {
    &pawl__cli_run,
    &pawl__cli_eval,
    &pawl__cli_validate,
    &pawl__cli_graph,
    &pawl__cli_activities,
    &pawl__cli_json,
    &pawl__cli_publish,
    &pawl__cli_definitions,
    &pawl__cli_start,
    &pawl__cli_send,
    &pawl__cli_ps,
    &pawl__cli_show,
    &pawl__cli_why,
    &pawl__cli_journal,
    &pawl__cli_resume,
    &pawl__cli_retry,
    &pawl__cli_alter,
    &pawl__cli_retain,
    &pawl__cli_cancel,
    &pawl__cli_rm,
    &pawl__cli_tasks,
    &pawl__cli_timers,
    &pawl__cli_routes,
    &pawl__cli_deadletters,
    &pawl__cli_audit,
    &pawl__cli_import,
    &pawl__cli_export,
    &pawl__cli_worker,
    &pawl__cli_serve,
    &pawl__cli_open,
    &pawl__cli_api,
    &pawl__cli_users,
    &pawl__cli_roles,
    &pawl__cli_keys,
    &pawl__cli_nodes,
    &pawl__cli_pause,
    &pawl__cli_unpause,
    &pawl__cli_top,
    &pawl__cli_lock,
    &pawl__cli_store,
    &pawl__cli_verify_cluster,
    &pawl__cli_config,
    &pawl__cli_version,
    &pawl__cli_completion,
    &pawl__cli_help,
    NULL,
};

/* `pawl` without a command: the help, where a usage error goes. */
static int run_root(struct pawl_cli *cli)
{
    pawl__cli_help_command(cli, &cli->err, cli->args.path, cli->args.path_len);
    return PAWL_CLI_EXIT_USAGE;
}

const struct pawl_cli_command pawl__cli_root = {
    .name = "pawl",
    .summary = "Pawl runs workflows",
    .help = "'pawl COMMAND --help' explains a command, 'pawl help topics' lists further topics.\n",
    .options = options,
    .commands = commands,
    .run = run_root,
};

static void start_log(struct pawl_cli *cli)
{
    struct pawl_log_config config = {.env = cli->env, .color = cli->err.color};

    pawl__log_fd_init(&cli->log_fd, fileno(cli->err.file));
    config.sink = pawl__log_fd_sink(&cli->log_fd);
    (void)pawl_log_level_parse(pawl__cli_text(&cli->args, "log-level", "warn"), &config.level);
    if (strcmp(pawl__cli_text(&cli->args, "log-format", "text"), "json") == 0)
        config.format = PAWL_LOG_FORMAT_JSON;
    pawl_log_init(&cli->log, &config);
}

/* The root's flag, not an option of that name that a command has. */
static bool asks_version(const struct pawl_cli_args *args)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const struct pawl_cli_option *option = args->given[i].option;

        if (option->kind == PAWL_CLI_FLAG && strcmp(option->name, "version") == 0)
            return true;
    }
    return false;
}

static int run_named(struct pawl_cli *cli)
{
    const struct pawl_cli_command *command = pawl__cli_named(&cli->args);

    if (cli->args.help) {
        pawl__cli_help_command(cli, &cli->out, cli->args.path, cli->args.path_len);
        return PAWL_CLI_EXIT_OK;
    }
    if (asks_version(&cli->args))
        command = &pawl__cli_version;
    return command->run(cli);
}

int pawl__cli_main(struct pawl_env *env, FILE *out, FILE *err, int argc, char *const *argv)
{
    struct pawl_cli cli = {.env = env, .out.file = out, .err.file = err};
    struct pawl_error error = PAWL_ERROR_INIT;
    int status, code;

    pawl__arena_init(&cli.arena, &env->alloc, ARENA_MAX);
    status = pawl__cli_parse(&cli.arena, &pawl__cli_root, argc, argv, &cli.args, &error);
    pawl__cli_colors(&cli.out, pawl__cli_text(&cli.args, "color", "auto"));
    pawl__cli_colors(&cli.err, pawl__cli_text(&cli.args, "color", "auto"));
    start_log(&cli);
    code = status == PAWL_OK ? run_named(&cli) : pawl__cli_fail_usage(&cli, &error);
    code = pawl__cli_finish(&cli, code);
    pawl__arena_release(&cli.arena);
    return code;
}
