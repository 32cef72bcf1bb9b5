/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl start DEFINITION`: starts an instance on a store. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/values.h"

static int read_input(struct pawl_cli *cli, struct pawl_json *input, struct pawl_error *err)
{
    const char *text;
    size_t at = 0;
    int status = PAWL_OK;

    *input = pawl__json_object();
    while (status == PAWL_OK && (text = pawl__cli_next(&cli->args, "input", &at)) != NULL)
        status = pawl__cli_add_value(cli, input, text, err);
    return status;
}

/* A file stands for the definition in it, published on the way. */
static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_cli_args *args = &cli->args;
    struct pawl_start start = {
        .definition_id = pawl__str(args->operands[0]),
        .instance_id = pawl__str(pawl__cli_text(args, "id", "")),
        .correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", "")),
        .name = pawl__str(pawl__cli_text(args, "name", "")),
        .idempotency_key = pawl__str(pawl__cli_text(args, "key", "")),
    };
    int64_t deadline_ns = pawl__cli_session_deadline(session);
    struct pawl_outcome outcome;
    int code, status = read_input(cli, &start.input, err);

    session->as_json = pawl__cli_flag(args, "json");
    if (status == PAWL_OK)
        status = pawl__cli_flag(args, "detach")
                     ? pawl__runtime_create(session->runtime, &start, &outcome, deadline_ns, err)
                     : pawl__runtime_start(session->runtime, &start, &outcome, deadline_ns, err);
    if (status == PAWL_OK && !pawl__cli_flag(args, "detach"))
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND
                                  ? "'pawl publish FILE' makes a definition known"
                                  : pawl__cli_session_hint(status));
    code = pawl__cli_show_instance(session, pawl__str(outcome.instance_id), err);
    /* Detached means accepted, whatever a worker has already made of it. */
    return code == PAWL_CLI_EXIT_FAILED && pawl__cli_flag(args, "detach") ? PAWL_CLI_EXIT_OK : code;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "input",
     .letter = 'i',
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME=VALUE",
     .help = "An input: JSON, else text; =@FILE reads it, @FILE has several",
     .repeatable = true},
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
        "Runs until the instance waits or ends, and does what it set off. Everything is stored\n"
        "before it counts: should this process die, another goes on where it stood.\n",
    .options = options,
    .run = run,
};
