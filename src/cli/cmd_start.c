/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl start DEFINITION`: starts an instance on a store. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/instances.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "cli/session/session.h"
#include "operations/instances.h"

static int fail(struct pawl_cli *cli, struct pawl_error *err)
{
    return pawl__cli_fail(cli, err,
                          err->code == PAWL_ENOTFOUND
                              ? "'pawl publish FILE' makes a definition known"
                              : pawl__cli_session_hint(err->code));
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_cli_args *args = &cli->args;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_instance_start request = {
        .what = {.definition_id = pawl__str(args->operands[0]),
                 .instance_id = pawl__str(pawl__cli_text(args, "id", "")),
                 .correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", "")),
                 .name = pawl__str(pawl__cli_text(args, "name", "")),
                 .idempotency_key = pawl__str(pawl__cli_text(args, "key", "")),
                 .activity_id = pawl__str(pawl__cli_text(args, "activity", "")),
                 .properties = pawl__json_null(),
                 .judged = pawl__cli_flag(args, "if-allowed")},
        .detached = pawl__cli_flag(args, "detach"),
    };
    struct pawl_instance_result result;
    int code, status = pawl__cli_values(cli, "input", &request.what.input, err);

    session->as_json = pawl__cli_flag(args, "json");
    if (status == PAWL_OK)
        status = pawl__cli_values(cli, "variable", &request.what.variables, err);
    if (status == PAWL_OK)
        status = pawl__cli_pick_version(args, PAWL_VERSIONS_PUBLISHED, &request.version, err);
    if (status == PAWL_OK)
        status = pawl__op_instance_start(&op, &request, &result);
    if (status == PAWL_OK && !request.detached)
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        return fail(cli, err);
    if (result.outcome.refused) {
        pawl__cli_print(&cli->err, "nothing started: the activation strategy of %s refused it\n",
                        args->operands[0]);
        return PAWL_CLI_EXIT_FAILED;
    }
    code = pawl__cli_show_changed(session, pawl__str(result.outcome.instance_id), err);
    /* A detached start was accepted; its exit code does not depend on what a worker did since. */
    return code == PAWL_CLI_EXIT_FAILED && request.detached ? PAWL_CLI_EXIT_OK : code;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_INPUT_OPTION,
    {.name = "correlation-id",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "The correlation id of the instance"},
    {.name = "name", .kind = PAWL_CLI_TEXT, .arg = "NAME", .help = "The name of the instance"},
    {.name = "id", .kind = PAWL_CLI_TEXT, .arg = "ID", .help = "The id of the instance"},
    {.name = "key",
     .kind = PAWL_CLI_TEXT,
     .arg = "KEY",
     .help = "Starting again with the same KEY returns the first instance"},
    {.name = "variable",
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME=VALUE",
     .help = "A variable in addition to the declared ones; same form as --input",
     .repeatable = true},
    PAWL_CLI_VERSION_OPTION("published"),
    {.name = "activity",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Run this activity instead of the root"},
    {.name = "if-allowed",
     .kind = PAWL_CLI_FLAG,
     .help = "Only if the definition's activation strategy allows it, as for triggers"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only create it; a worker runs it"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the instance as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_start = {
    .name = "start",
    .summary = "Start an instance of a published definition",
    .operands = "DEFINITION",
    .help =
        "Runs until the instance waits or ends, and does the work it caused. Every step is stored\n"
        "before it takes effect: if this process dies, another continues from there.\n",
    .options = options,
    .run = run,
};
